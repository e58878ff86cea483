"""`results/torques` -> `results/muscles`: the muscle forces of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from limbtorque.motion.table import motion_from_table
from limbtorque.muscles.force_summary import muscle_summary
from limbtorque.muscles.force_table import muscle_table, table_entries
from limbtorque.muscles.forces import muscle_forces
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set
from limbtorque.statistics.summary_windows import summary_windows
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import column_array
from limbtorque.tables.muscle_columns import muscle_columns
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow.run_session import TrialTables, planned_study, run_session


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

    def step(trial: Trial, record: TrialRecord) -> tuple[pa.Table | None, TrialRecord]:
        (moving, kinematics), (torques, earlier) = (tables.read(stage, trial) for stage in ("kinematics", "torques"))
        record = record.after(kinematics, earlier)
        chosen = muscle_set_of(trial, folder)
        if record.failed or chosen is None:
            return None, record
        motion = motion_from_table(moving, kinematics)
        reaction = [column_array(torques, *(f"{joint}_reaction_{axis}_n" for axis in "xy")) for joint in motion.joints]
        options = trial.settings.muscles
        net_nm = column_array(torques, *(f"{joint}_torque_nm" for joint in motion.joints))
        used = ~motion.edge & ~np.isnan(net_nm).any(axis=1)
        frames = earlier.window.judged(motion.time_s, used) if earlier.window else used
        forces = muscle_forces(
            motion,
            net_nm,
            chosen,
            options=options,
            body_mass_kg=trial.subject.mass_kg,
            reaction_n=np.stack(reaction, axis=1),
            frames=frames,
        )
        done = replace(
            record,
            metrics=forces.metrics,
            notes=tuple(forces.notes),
            summary=tuple(
                muscle_summary(
                    motion,
                    forces,
                    options,
                    windows=summary_windows(trial, motion, earlier.window),
                    min_known_share=trial.settings.ensembles.min_known_share,
                )
            ),
        )
        return muscle_table(motion, forces, options=options), done

    run_session("muscles", step, study=study, session=session, columns=lambda trial: columns(trial, folder))
