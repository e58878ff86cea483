"""Peak, mean and impulse of every muscle of a trial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.study.options.muscles import Muscles
from limbtorque.tables.muscle_columns import criterion_text


def muscle_summary(motion: ChainMotion, found: MuscleForces, options: Muscles) -> list[dict[str, Any]]:
    """Peak, mean and impulse of every muscle.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : MuscleForces
        Its muscle forces.
    options : Muscles
        Section `muscles` of the settings.

    Returns
    -------
    list of dict
        Rows of `results/muscle_summary.csv` without the trial's own columns.

    Notes
    -----
    Frames with edge effects, without forces, or outside the range of a moment arm or a fibre's curve are left out;
    integrals are trapezoids between neighbouring used frames.
    """
    used = ~(motion.edge | found.out_of_range | found.fibres_out_of_range) & np.isfinite(found.force_n).all(axis=1)
    rows = []
    for k, name in enumerate(found.muscle_set.names):
        force = found.force_n[used, k]
        top = int(force.argmax()) if force.size else 0
        rows.append(
            {
                "muscle_set": found.muscle_set.name,
                "criterion": criterion_text(options),
                "muscle": name,
                "strength_n": found.muscle_set.muscles[k].max_isometric_force_n,
                "n_frames": int(force.size),
                "used_share": float(used.mean()) if used.size else 0.0,
                "peak_n": float(force[top]) if force.size else math.nan,
                "peak_time_s": float(motion.time_s[used][top]) if force.size and force[top] > 0 else math.nan,
                "peak_activation": float(found.optimized.activation[used, k].max()) if force.size else math.nan,
                "mean_n": float(force.mean()) if force.size else math.nan,
                **{
                    f"{which}impulse_ns": _impulse(values[:, k], used, motion.rate_hz)
                    for which, values in (("", found.force_n), ("min_", found.least_n), ("max_", found.greatest_n))
                },
            }
        )
    return rows


def _impulse(values: FloatArray, used: BoolArray, rate_hz: float) -> float:
    if not used.any():
        return math.nan
    both = used[1:] & used[:-1]
    return float(((values[1:] + values[:-1])[both] / 2.0).sum() / rate_hz)
