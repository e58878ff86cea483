"""Check a study before its run: analyse every trial, write nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from limbtorque.analysis.chain_motion import without_spikes
from limbtorque.errors import LimbtorqueError
from limbtorque.motion.joint_centres import place_joints
from limbtorque.muscles.force_report import whole_report
from limbtorque.muscles.forces import stretch_forces
from limbtorque.quality.trial_metrics import judged_metrics
from limbtorque.quality.verdict import Flag, Verdict, judge
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.statistics.by_condition import included
from limbtorque.statistics.trial_window import find_window
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.trial_record import Window
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.workflow.clock import refuse_future
from limbtorque.workflow.layout import cutoff_group, shares_cutoff
from limbtorque.workflow.memory import refuse_too_long
from limbtorque.workflow.stages.cutoffs import cutoffs_without_workflow
from limbtorque.workflow.stages.kinematics import lightened, limb_of, read_trial, trial_motion
from limbtorque.workflow.stages.muscles import muscle_set_of

_KEPT_BYTES = 64 * 2**20


class _KeepingReader(GuardedReader):
    """Reader that keeps small recordings for their other trials.

    Both limbs of a walk are in one file, and shared cut-offs are found before the trials are analysed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[tuple[Any, ...], Recording] = {}
        self._left = _KEPT_BYTES

    def read(self, path: Path, **options: Any) -> Recording:
        """Recording as of `GuardedReader.read`."""
        asked = (path, *sorted(options.items()))
        if asked in self._kept:
            return self._kept[asked]
        found = super().read(path, **options)
        size = found.markers_m.nbytes + found.analog.nbytes
        if size <= self._left:
            self._kept[asked] = found
            self._left -= size
        return found


def check_study(study: Study) -> Iterator[tuple[str, str, Sequence[Flag], str]]:
    """Analyse every trial up to its muscle forces, and find the window of its curves.

    Parameters
    ----------
    study : Study
        The study, from `checked_study`.

    Yields
    ------
    trial, fault : str
        Name of the trial, and the reason why it would fail, or nothing.
    flags : sequence of Flag
        Its quality flags.
    no_curve : str
        Reason why it would have no time-normalised curve, or nothing.
    """
    refuse_future(study)
    with _KeepingReader() as reader:
        shared_hz = cutoffs_without_workflow(study, reader)
        for trial in study.trials:
            study_hz = shared_hz.get(cutoff_group(trial)) if shares_cutoff(trial, study) else None
            yield trial.name, *_tried(trial, reader, study.folder, study_hz)


def _tried(
    trial: Trial, reader: GuardedReader, folder: Path, study_cutoff_hz: float | None
) -> tuple[str, Sequence[Flag], str]:
    try:
        limb, settings = limb_of(trial), trial.settings
        recording = read_trial(trial, reader)
        refuse_too_long(recording)
        placed = place_joints(recording, limb, settings)
        events = recording.events
        if not placed.prepared.spike.any():  # its markers are not needed again, and those of a long trial are large
            recording = lightened(trial, recording)
        motion = trial_motion(trial, recording, study_cutoff_hz, placed=placed)
        del placed
        torques = joint_torques(motion)
        used = used_frames(motion, torques)
        window = find_window(motion, used, events=events, side=trial.side, settings=settings)
        judged = judged_metrics(
            motion,
            torques,
            window,
            model=limb.model(settings),
            body_mass_kg=limb.body_mass_kg,
            filled=lambda: without_spikes(recording, limb, settings, study_cutoff_hz=study_cutoff_hz),
        )
        metrics = {**motion.metrics, **judged.metrics}
        chosen = muscle_set_of(trial, folder)
        if chosen:
            parts = stretch_forces(
                motion,
                torques.terms.net,
                chosen,
                options=trial.settings.muscles,
                body_mass_kg=trial.subject.mass_kg,
                reaction_n=torques.wrenches.reaction_n,
                frames=window.judged(motion.time_s, used),
            )
            metrics |= whole_report([forces.report for _, forces in parts]).metrics
    except LimbtorqueError as error:
        return str(error), [], ""
    verdict = judge(metrics, settings.quality, judged.by_joint, joints=motion.joints, notes=motion.notes)
    return "", verdict.flags, _no_curve(trial, window, verdict)


def _no_curve(trial: Trial, window: Window, verdict: Verdict) -> str:
    """Reason why a trial would have no curve; empty where it has one."""
    options = trial.settings.ensembles
    if not options.enabled or window.note:
        return window.note if options.enabled else ""
    if any(included(status, options.include) for status in verdict.joints.values()):
        return ""
    return f"its torques are {verdict.torques}, and ensembles.include is {options.include}"
