"""`results/torques` -> `results/muscles`: the muscle forces of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray, joined
from limbtorque.motion.table import motion_from_table
from limbtorque.muscles.contact_summary import contact_series, contact_summary
from limbtorque.muscles.force_report import whole_report
from limbtorque.muscles.force_summary import force_series, muscle_summary
from limbtorque.muscles.force_table import muscle_table, table_entries
from limbtorque.muscles.forces import stretch_forces
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set
from limbtorque.statistics.summary_windows import summary_windows
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import column_array
from limbtorque.tables.muscle_columns import muscle_columns
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow.run_session import TrialTables, Write, planned_study, run_session


def muscle_set_of(trial: Trial, folder: Path) -> MuscleSet | None:
    """Muscle set of a trial's chain; None without one or with muscles off."""
    name = trial.settings.muscle_set(trial.chain, folder)
    return load_muscle_set(name) if name else None


def columns(trial: Trial, folder: Path) -> Sequence[Column]:
    """Columns of a trial's table."""
    model = trial.settings.chain(trial.chain)
    joints, segments = [joint.name for joint in model.joints], [segment.name for segment in model.segments]
    return muscle_columns(joints, segments, table_entries(muscle_set_of(trial, folder), joints), trial.settings.muscles)


def run(*, folder: Path, session: str, key: str) -> None:
    """Make a session's muscle tables; empty for trials without a muscle set."""
    study = planned_study("muscles", folder=folder, session=session, key=key)
    tables = TrialTables(study)

    def step(trial: Trial, record: TrialRecord, write: Write) -> TrialRecord:
        (moving, kinematics), earlier = tables.read("kinematics", trial), tables.read_record("torques", trial)
        record = record.after(kinematics, earlier)
        chosen = muscle_set_of(trial, folder)
        if record.failed or chosen is None:
            return record
        motion, options = motion_from_table(moving, kinematics), trial.settings.muscles
        del moving
        net_nm, reaction_n = _of_torques(tables, trial, motion.joints)
        used = ~motion.edge & ~np.isnan(net_nm).any(axis=1)
        judged = earlier.window.judged(motion.time_s, used) if earlier.window else used
        reports, series, contacts = [], [], []
        parts = stretch_forces(
            motion,
            net_nm,
            chosen,
            options=options,
            body_mass_kg=trial.subject.mass_kg,
            reaction_n=reaction_n,
            frames=judged,
        )
        for part, forces in parts:
            write(muscle_table(part, forces, options=options))
            reports.append(forces.report)
            series.append(force_series(forces))
            contacts.append(contact_series(forces))
        report = whole_report(reports)
        windows = summary_windows(trial, motion, earlier.window)
        min_share = trial.settings.ensembles.min_known_share
        summary = muscle_summary(
            motion,
            joined(series),
            report.muscle_set,
            options,
            windows=windows,
            min_known_share=min_share,
        )
        given = [part for part in contacts if part]
        contact = contact_summary(motion, joined(given), windows=windows, min_known_share=min_share) if given else ()
        return replace(
            record,
            metrics=report.metrics,
            notes=report.notes,
            summary=tuple(summary),
            contact_summary=tuple(contact),
        )

    run_session("muscles", step, study=study, session=session, columns=lambda trial: columns(trial, folder))


def _of_torques(tables: TrialTables, trial: Trial, joints: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Net torques, and reaction forces of shape (n_frames, n_joints, 2)."""
    names = [f"{joint}_torque_nm" for joint in joints]
    reactions = [f"{joint}_reaction_{axis}_n" for joint in joints for axis in "xy"]
    table, _ = tables.read("torques", trial, columns=[*names, *reactions])
    return column_array(table, *names), column_array(table, *reactions).reshape(len(table), -1, 2)
