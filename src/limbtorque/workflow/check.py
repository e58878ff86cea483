"""Check a study before its run: analyse every trial, write nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from limbtorque.errors import LimbtorqueError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.table import kinematics_table
from limbtorque.muscles.forces import muscle_forces
from limbtorque.recordings.recording import Event
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.trials import Trial
from limbtorque.tables.quality_flags import assess
from limbtorque.torques.joint_torques import Torques, joint_torques, torque_metrics, used_frames
from limbtorque.workflow.layout import cutoff_group, shares_cutoff
from limbtorque.workflow.load_checked import checked_study
from limbtorque.workflow.stages.curves import find_window
from limbtorque.workflow.stages.cutoffs import cutoffs_without_workflow
from limbtorque.workflow.stages.kinematics import read_trial, trial_motion
from limbtorque.workflow.stages.muscles import muscle_set_of


def check_study(folder: Path) -> Iterator[tuple[str, str, list[str], str]]:
    """Analyse every trial up to its muscle forces, and find the window of its curves.

    Parameters
    ----------
    folder : Path
        The study's folder.

    Yields
    ------
    trial, fault : str
        Name of the trial, and the reason why it would fail, or nothing.
    flags : list of str
        Its quality flags.
    no_curve : str
        Reason why it would have no time-normalised curve, or nothing.
    """
    study = checked_study(folder)
    with GuardedReader() as reader:
        shared_hz = cutoffs_without_workflow(study, reader)
        for trial in study.trials:
            study_hz = shared_hz.get(cutoff_group(trial)) if shares_cutoff(trial, study) else None
            yield trial.name, *_tried(trial, reader, folder, study_hz)


def _tried(
    trial: Trial, reader: GuardedReader, folder: Path, study_cutoff_hz: float | None
) -> tuple[str, list[str], str]:
    try:
        recording = read_trial(trial, reader)
        motion = trial_motion(trial, recording, study_cutoff_hz)
        torques = joint_torques(motion)
        metrics = {**motion.metrics, **torque_metrics(motion, torques)}
        no_curve = _no_curve(
            trial, motion, torques, recording.events, flagged=bool(assess(metrics, trial.settings.quality))
        )
        chosen = muscle_set_of(trial, folder)
        if chosen:
            found = muscle_forces(
                motion,
                torques.terms.net,
                chosen,
                options=trial.settings.muscles,
                body_mass_kg=trial.subject.mass_kg,
                reaction_n=torques.wrenches.reaction_n,
            )
            metrics |= found.metrics
    except LimbtorqueError as error:
        return str(error), [], ""
    return "", [flag.sentence for flag in assess(metrics, trial.settings.quality)], no_curve


def _no_curve(trial: Trial, motion: ChainMotion, torques: Torques, events: Sequence[Event], *, flagged: bool) -> str:
    """Reason why a trial would have no curve; empty where it has one."""
    options = trial.settings.ensembles
    if not options.enabled:
        return ""
    table = kinematics_table(motion)
    window = find_window(trial, table, used_frames(motion, torques), events=events, rate_hz=motion.rate_hz)
    if not window.note and flagged and options.include == "ok":
        return "it is flagged, and ensembles.include is ok"
    return window.note
