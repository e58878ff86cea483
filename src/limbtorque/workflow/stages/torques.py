"""`results/kinematics` -> `results/torques`: torque terms of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from limbtorque.analysis.chain_motion import space_motion, without_spikes
from limbtorque.analysis.memory import keep_freed_memory
from limbtorque.analysis.reading import limb_of
from limbtorque.analysis.torques import analyse_torques
from limbtorque.motion.table import motion_from_table
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import BANDS, SPACE, Write, added_to, empty_table, write_table
from limbtorque.tables.frame_columns import band_columns, file_columns, space_columns, torque_columns
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.uncertainty.effects import TrialEffects, effects_table
from limbtorque.workflow.layout import effects_path, trial_files
from limbtorque.workflow.run_session import Sources, run_session


def columns(trial: Trial, _folder: Path) -> Sequence[Column]:
    """Columns of a trial's table."""
    model, settings = trial.settings.chain(trial.chain), trial.settings
    joints, segments = ([part.name for part in parts] for parts in (model.joints, model.segments))
    return torque_columns(joints, segments, settings.torques, limits=settings.uncertainty.enabled)


def added_columns(trial: Trial) -> dict[str, Sequence[Column]]:
    """Columns of the tables beside a trial's table, by the end of their names."""
    joints = [joint.name for joint in trial.settings.chain(trial.chain).joints]
    return {BANDS: band_columns(joints), SPACE: space_columns(joints)}


def step(
    trial: Trial, sources: Sources, record: TrialRecord, write: Write, *, effects: dict[str, TrialEffects]
) -> TrialRecord:
    """Torques of a trial from its table of kinematics; its effects go into a mapping."""
    table, moved = sources.tables.read("kinematics", trial)
    record = record.after(moved)
    if record.failed:
        return record
    motion, limb, settings = motion_from_table(table, moved), limb_of(trial), trial.settings
    outputs = moved.recording.outputs if moved.recording else ()
    table = table.select([column.name for column in file_columns([output.joint for output in outputs])])
    analysed = analyse_torques(
        motion,
        moved,
        table,  # the motion has the other columns
        limb,
        settings,
        filled=lambda: without_spikes(sources.reader.recording(trial), limb, settings, find=sources.find),
        in_space=lambda: space_motion(sources.reader.recording(trial), limb, settings),
        record=record,
        write=write,
    )
    parquet = sources.tables.path("torques", trial)
    tables = {BANDS: analysed.band_table, SPACE: analysed.space_table}
    for path in (parquet.with_name(path.name) for path in trial_files("torques", "", trial)):
        if end := added_to(path):
            write_table(tables[end] or empty_table(added_columns(trial)[end]), path, rounded=True)
    effects[trial.name] = analysed.effects
    return analysed.record


def run(*, folder: Path, session: str, key: str) -> None:
    """Make the torque component tables of a session."""
    keep_freed_memory()
    effects: dict[str, TrialEffects] = {}

    def write_effects() -> None:
        write_table(effects_table(effects), folder / effects_path(session))

    run_session(
        "torques",
        partial(step, effects=effects),
        folder=folder,
        session=session,
        key=key,
        columns=columns,
        added_columns=added_columns,
        at_end=write_effects,
    )
