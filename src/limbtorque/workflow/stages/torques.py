"""`results/kinematics` -> `results/torques`: torque terms of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from limbtorque.analysis.chain_motion import without_spikes
from limbtorque.analysis.memory import keep_freed_memory
from limbtorque.analysis.reading import limb_of
from limbtorque.analysis.torques import analyse_torques
from limbtorque.motion.table import motion_from_table
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import Write
from limbtorque.tables.frame_columns import file_columns, torque_columns
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow.run_session import Sources, run_session
from limbtorque.workflow.stages.kinematics import study_cutoff_of


def columns(trial: Trial, _folder: Path) -> Sequence[Column]:
    """Columns of a trial's table."""
    model = trial.settings.chain(trial.chain)
    return torque_columns([j.name for j in model.joints], [s.name for s in model.segments], trial.settings.torques)


def step(trial: Trial, sources: Sources, record: TrialRecord, write: Write) -> TrialRecord:
    """Torques of a trial from its table of kinematics."""
    table, moved = sources.tables.read("kinematics", trial)
    record = record.after(moved)
    if record.failed:
        return record
    motion, limb, settings = motion_from_table(table, moved), limb_of(trial), trial.settings
    outputs = moved.recording.outputs if moved.recording else ()
    table = table.select([column.name for column in file_columns([output.joint for output in outputs])])
    return analyse_torques(
        motion,
        moved,
        table,  # the motion has the other columns
        limb,
        settings,
        filled=lambda: without_spikes(
            sources.reader.recording(trial), limb, settings, study_cutoff_hz=study_cutoff_of(trial, sources.study)
        ),
        record=record,
        write=write,
    ).record


def run(*, folder: Path, session: str, key: str) -> None:
    """Make the torque component tables of a session."""
    keep_freed_memory()
    run_session("torques", step, folder=folder, session=session, key=key, columns=columns)
