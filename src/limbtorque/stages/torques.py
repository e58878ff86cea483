"""`results/kinematics` -> `results/torques`: the torque component table of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from limbtorque.motion_table import motion_from_table
from limbtorque.stages.batch import run_batch, upstream
from limbtorque.study import Study, Trial
from limbtorque.summary import torque_summary
from limbtorque.tables import Column, empty_table, torque_columns
from limbtorque.torques import joint_torques, torque_quality, torque_table


def columns(trial: Trial) -> Sequence[Column]:
    """Columns of a trial's table."""
    return torque_columns([joint.name for joint in trial.settings.chain(trial.chain).joints])


def run(*, folder: Path, batch: str, key: str) -> None:
    """Make the torque component tables of a batch."""

    def step(_: Study, trial: Trial, meta: dict[str, Any]) -> pa.Table:
        found = upstream("kinematics", trial, folder, meta)
        if found is None:
            return empty_table(columns(trial), meta=meta)
        motion = motion_from_table(*found)
        torques = joint_torques(motion)
        meta["quality"] = torque_quality(motion, torques)
        meta["summary"] = torque_summary(motion, torques, trial.settings.chain(trial.chain))
        return torque_table(motion, torques, meta=meta)

    run_batch("torques", step, folder=folder, batch=batch, key=key, columns=columns)
