"""`results/kinematics` -> `results/torques`: torque terms of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from limbtorque.analysis.chain_motion import without_spikes
from limbtorque.arrays import part_of, stretches
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.table import motion_from_table
from limbtorque.quality.trial_metrics import judged_metrics
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.simulation.replay import replay
from limbtorque.statistics.summary_windows import summary_windows
from limbtorque.statistics.trial_window import find_window
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.kinematics_columns import file_columns
from limbtorque.tables.torque_columns import torque_columns
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.torques.beside_file import beside_file
from limbtorque.torques.joint_torques import Torques, joint_torques, torque_table, used_frames
from limbtorque.torques.summary import torque_summary
from limbtorque.uncertainty.of_trial import trial_uncertainty
from limbtorque.workflow.memory import keep_freed_memory
from limbtorque.workflow.run_session import TrialTables, Write, planned_study, run_session
from limbtorque.workflow.stages.kinematics import limb_of, read_trial, study_cutoff_of


def columns(trial: Trial) -> Sequence[Column]:
    """Columns of a trial's table."""
    model = trial.settings.chain(trial.chain)
    return torque_columns([j.name for j in model.joints], [s.name for s in model.segments], trial.settings.torques)


def run(*, folder: Path, session: str, key: str) -> None:
    """Make the torque component tables of a session."""
    study = planned_study("torques", folder=folder, session=session, key=key)
    tables = TrialTables(study)
    keep_freed_memory()

    def step(trial: Trial, record: TrialRecord, write: Write) -> TrialRecord:
        table, earlier = tables.read("kinematics", trial)
        record = record.after(earlier)
        if record.failed:
            return record
        motion = motion_from_table(table, earlier)
        outputs = earlier.recording.outputs if earlier.recording else ()
        table = table.select(
            [column.name for column in file_columns([output.joint for output in outputs])]
        )  # the motion has the others
        torques = joint_torques(motion)
        metrics, notes = _replayed(trial, motion, torques)
        events = earlier.recording.events if earlier.recording else ()
        used = used_frames(motion, torques)
        window = find_window(motion, used, events=events, side=trial.side, settings=trial.settings)
        model = trial.settings.chain(trial.chain)
        judged = judged_metrics(
            motion,
            torques,
            window,
            model=model,
            body_mass_kg=trial.subject.mass_kg,
            filled=lambda: _without_spikes(trial, reader, study),
        )
        windows = summary_windows(trial, motion, window)
        min_share = trial.settings.ensembles.min_known_share
        summary = torque_summary(motion, torques, model, windows=windows, min_known_share=min_share)
        uncertain = trial_uncertainty(
            motion,
            torques,
            limb_of(trial),
            trial.settings,
            summary=summary,
            windows=windows,
            judged=window.judged(motion.time_s, used),
            names=(trial.subject.name, trial.name),
        )
        done = replace(
            record,
            metrics={**judged.metrics, **metrics},
            joint_metrics={**judged.by_joint, **uncertain.by_joint},
            notes=(*judged.notes, *notes, *uncertain.notes),
            window=window,
            summary=tuple(uncertain.summary),
        )
        rows = beside_file(motion, torques, table, outputs, window=window, mass_kg=trial.subject.mass_kg)
        for some in stretches(len(motion.time_s)):
            own = {name: values[some] for name, values in uncertain.columns.items()}
            write(torque_table(motion.part(some), part_of(torques, some), options=trial.settings.torques, bands=own))
        return replace(done, beside_file=tuple(rows))

    with GuardedReader() as reader:
        run_session("torques", step, study=study, session=session, columns=columns)


def _replayed(trial: Trial, motion: ChainMotion, torques: Torques) -> tuple[dict[str, float], tuple[str, ...]]:
    """Metrics and notes of the replay; none where it is switched off."""
    options = trial.settings.replay
    if not options.enabled:
        return {}, ()
    found = replay(motion, torques, stop_deg=options.stop_deg, integration=trial.settings.integration)
    if found is None:
        return {}, ("no replay: no three neighbouring frames have a known torque",)
    ended = f"replay: the integration failed at {found.time_s[-1]:.3f} s: {found.message}"
    return found.metrics(options.tolerance_deg), () if found.success else (ended,)


def _without_spikes(trial: Trial, reader: GuardedReader, study: Study) -> ChainMotion | None:
    """Motion of a trial's chain with spikes filled; None where they cannot be."""
    recording = read_trial(trial, reader)
    return without_spikes(recording, limb_of(trial), trial.settings, study_cutoff_hz=study_cutoff_of(trial, study))
