"""`results/torques` -> `results/muscles`: the muscle forces of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from limbtorque.analysis.muscles import analyse_muscles, muscle_set_of
from limbtorque.analysis.reading import limb_of
from limbtorque.motion.table import motion_from_table
from limbtorque.muscles.force_table import table_entries
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import Write
from limbtorque.tables.muscle_columns import envelope_columns, muscle_columns
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.workflow.run_session import Sources, run_session


def columns(trial: Trial, folder: Path) -> Sequence[Column]:
    """Columns of a trial's table."""
    settings, model = trial.settings, trial.settings.chain(trial.chain)
    joints, segments = [joint.name for joint in model.joints], [segment.name for segment in model.segments]
    entries = table_entries(muscle_set_of(limb_of(trial), settings, folder), joints)
    return [*muscle_columns(joints, segments, entries, settings.muscles), *envelope_columns(settings.emg.muscles)]


def step(trial: Trial, sources: Sources, record: TrialRecord, write: Write) -> TrialRecord:
    """Muscle forces of a trial; no rows if there is no muscle set or channel."""
    tables = sources.tables
    (table, moved), torqued = tables.read("kinematics", trial), tables.read_record("torques", trial)
    record, limb = record.after(moved, torqued), limb_of(trial)
    muscle_set = muscle_set_of(limb, trial.settings, sources.study.folder)
    if record.failed or (muscle_set is None and not trial.settings.emg.channels):
        return record
    motion = motion_from_table(table, moved)
    acting = joint_torques(motion)  # rounded in the table of torques
    net_nm, reaction_n = acting.terms.net, acting.wrenches.reaction_n
    del table, acting  # of a long trial
    return analyse_muscles(
        motion,
        net_nm,
        reaction_n,
        torqued,
        limb,
        trial.settings,
        muscle_set=muscle_set,
        emg=sources.reader.emg(trial, motion.time_s),
        record=record,
        write=write,
    )[1]


def run(*, folder: Path, session: str, key: str) -> None:
    """Make a session's muscle tables."""
    run_session("muscles", step, folder=folder, session=session, key=key, columns=columns)
