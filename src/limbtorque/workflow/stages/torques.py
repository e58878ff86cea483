"""`results/kinematics` -> `results/torques`: the torque component table of every trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from limbtorque.motion.table import motion_from_table
from limbtorque.simulate.replay import replay
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import empty_table
from limbtorque.tables.torques import torque_columns
from limbtorque.torques.joint_torques import joint_torques, torque_metrics, torque_table
from limbtorque.torques.summary import torque_summary
from limbtorque.workflow.batch import run_batch, upstream


def columns(trial: Trial) -> Sequence[Column]:
    """Columns of a trial's table."""
    model = trial.settings.chain(trial.chain)
    return torque_columns([j.name for j in model.joints], [s.name for s in model.segments], trial.settings.torques)


def run(*, folder: Path, batch: str, key: str) -> None:
    """Make the torque component tables of a batch."""

    def step(_: Study, trial: Trial, meta: dict[str, Any]) -> pa.Table:
        found = upstream("kinematics", trial, folder, meta)
        if found is None:
            return empty_table(columns(trial), meta=meta)
        motion = motion_from_table(*found)
        torques = joint_torques(motion)
        meta["quality"] = torque_metrics(motion, torques)
        if trial.settings.replay.enabled:
            options = trial.settings.replay
            replayed = replay(motion, torques, stop_deg=options.stop_deg, integration=trial.settings.integration)
            if replayed is None:
                meta["notes"] = ["no replay: no three neighbouring frames have a known torque"]
            else:
                meta["quality"] |= replayed.metrics(options.tolerance_deg)
                ended = f"replay: the integration failed at {replayed.time_s[-1]:.3f} s: {replayed.message}"
                meta["notes"] = [] if replayed.success else [ended]
        meta["summary"] = torque_summary(motion, torques, trial.settings.chain(trial.chain))
        return torque_table(motion, torques, options=trial.settings.torques, meta=meta)

    run_batch("torques", step, folder=folder, batch=batch, key=key, columns=columns)
