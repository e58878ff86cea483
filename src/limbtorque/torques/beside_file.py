"""Angles, torques and powers beside those that another program stored in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.tables.files import column_values
from limbtorque.tables.trial_record import SAME_TIME_S, FileOutput, Window
from limbtorque.torques.joint_torques import Torques

UNITS = {"angle": "deg", "torque": "N m/kg", "power": "W/kg"}
KINDS = {"angle": "angle", "torque": "moment", "power": "power"}  # words for them in the file
LEAST_FRAMES = 10


def beside_file(
    motion: ChainMotion,
    torques: Torques,
    table: pa.Table,
    outputs: Sequence[FileOutput],
    *,
    window: Window,
    mass_kg: float,
) -> list[dict[str, Any]]:
    """Compare each joint with the results in the file, over the same frames.

    Parameters
    ----------
    motion, torques
        The trial.
    table : pyarrow.Table
        Its table of kinematics, with the columns of `tables.kinematics_columns.file_columns`.
    outputs : sequence of FileOutput
        The joints that the file has results for.
    window : Window
        Window of the trial; where there is none, all frames count.
    mass_kg : float
        Body mass, kg.

    Returns
    -------
    list of dict
        Rows of `tables.beside_file_columns` without the columns of the trial: angle, torque and power of each joint, over the
        frames of the window where both are known and no end of the trial is near.

    Notes
    -----
    Ours is a, theirs b, both flexion positive: r is their correlation, rms that of a - b, ``peak_ratio`` the extreme of a
    in the direction of the largest value of b over that value.
    """
    inside = ~motion.edge
    if not window.note:
        inside &= (motion.time_s >= window.start_s - SAME_TIME_S) & (motion.time_s <= window.end_s + SAME_TIME_S)
    return [
        row for output in outputs for row in _of_joint(motion, torques, table, output, inside=inside, mass_kg=mass_kg)
    ]


def _of_joint(
    motion: ChainMotion, torques: Torques, table: pa.Table, output: FileOutput, *, inside: BoolArray, mass_kg: float
) -> Iterator[dict[str, Any]]:
    k = motion.joints.index(output.joint)
    sign, zero_rad = motion.flexion.sign[k], motion.flexion.zero_rad[k]
    ours = {
        "angle": np.degrees(sign * (motion.kinematics.angle_rad[:, k] - zero_rad)),
        "torque": sign * torques.terms.net[:, k] / mass_kg,
        "power": torques.powers.joint[:, k] / mass_kg,
    }
    name = f"{output.joint}_file"
    theirs = {
        "angle": np.degrees(sign * (column_values(table, f"{name}_angle_rad") - zero_rad)),
        "torque": sign * column_values(table, f"{name}_torque_nm") / mass_kg,
        "power": column_values(table, f"{name}_power_w") / mass_kg,
    }
    signs = {"angle": output.angle_sign, "torque": output.moment_sign, "power": 1}
    for quantity, unit in UNITS.items():
        kind = KINDS[quantity]
        used = inside & np.isfinite(ours[quantity]) & np.isfinite(theirs[quantity])
        yield {
            "joint": output.joint,
            "quantity": quantity,
            "unit": unit,
            **_agreement(ours[quantity][used], theirs[quantity][used], motion.time_s[used]),
            "file_label": output.labels[kind],
            "file_unit": output.units[kind],
            "file_per_kg": int(output.per_kg and quantity != "angle"),
            "file_sign": signs[quantity],
            "file_convention": output.convention(kind),
        }


def _agreement(ours: FloatArray, theirs: FloatArray, time_s: FloatArray) -> dict[str, float]:
    """Numbers of the comparison; empty for fewer than ten frames."""
    names = ("start_s", "end_s", "r", "rms", "mean_difference", "peak", "file_peak", "peak_ratio")
    if len(ours) < LEAST_FRAMES:
        return {"n_frames": len(ours), **dict.fromkeys(names, float("nan"))}
    file_peak = float(theirs[np.abs(theirs).argmax()])
    peak = float(ours.max() if file_peak > 0.0 else ours.min())
    moving = min(np.ptp(ours), np.ptp(theirs)) > 0.0
    found = (
        float(time_s[0]),
        float(time_s[-1]),
        float(np.corrcoef(ours, theirs)[0, 1]) if moving else float("nan"),
        float(np.sqrt(np.mean((ours - theirs) ** 2))),
        float(np.mean(ours - theirs)),
        peak,
        file_peak,
        peak / file_peak if file_peak else float("nan"),
    )
    return {"n_frames": len(ours), **dict(zip(names, found, strict=True))}
