"""`results/torques` -> `results/muscles`: the muscle forces of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.motion.table import motion_from_table
from limbtorque.muscles.force_summary import muscle_summary
from limbtorque.muscles.force_table import muscle_table, table_entries
from limbtorque.muscles.forces import muscle_forces
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import column_array, empty_table
from limbtorque.tables.muscles import muscle_columns
from limbtorque.workflow.batch import run_batch, upstream


def muscle_set_of(trial: Trial, folder: Path) -> MuscleSet | None:
    """Muscle set of a trial's chain; None where it has none or muscles are switched off."""
    name = trial.settings.muscle_set(trial.chain, folder)
    return load_muscle_set(name) if name else None


def columns(trial: Trial, folder: Path) -> Sequence[Column]:
    """Columns of a trial's table."""
    model = trial.settings.chain(trial.chain)
    joints, segments = [joint.name for joint in model.joints], [segment.name for segment in model.segments]
    return muscle_columns(joints, segments, table_entries(muscle_set_of(trial, folder), joints), trial.settings.muscles)


def run(*, folder: Path, batch: str, key: str) -> None:
    """Make the muscle tables of a batch; a trial without a muscle set gets an empty one."""

    def step(_: Study, trial: Trial, meta: dict[str, Any]) -> pa.Table:
        kinematics = upstream("kinematics", trial, folder, meta)
        found = upstream("torques", trial, folder, meta)
        chosen = muscle_set_of(trial, folder)
        if kinematics is None or found is None or chosen is None:
            return empty_table(columns(trial, folder), meta=meta)
        motion = motion_from_table(*kinematics)
        net = column_array(found[0], *(f"{joint}_torque_nm" for joint in motion.joints))
        reaction = [column_array(found[0], *(f"{joint}_reaction_{axis}_n" for axis in "xy")) for joint in motion.joints]
        options = trial.settings.muscles
        forces = muscle_forces(
            motion,
            net,
            chosen,
            options=options,
            body_mass_kg=trial.subject.mass_kg,
            reaction_n=np.stack(reaction, axis=1),
        )
        meta["quality"] = forces.metrics
        meta["notes"] = list(forces.notes)
        meta["summary"] = muscle_summary(motion, forces, options)
        return muscle_table(motion, forces, options=options, meta=meta)

    run_batch("muscles", step, folder=folder, batch=batch, key=key, columns=lambda trial: columns(trial, folder))
