"""Peak, mean and impulse of every muscle of a trial."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.study.options.muscles import Muscles
from limbtorque.tables.muscle_columns import criterion_text
from limbtorque.tables.study_columns import MUSCLE_STATISTICS


@dataclass(frozen=True, eq=False)
class ForceSeries:
    """Muscle forces over time, as the summary needs them.

    Attributes
    ----------
    force_n, activation, least_n, greatest_n : ndarray of shape (n_frames, n_muscles)
        As in `MuscleForces`.
    known : ndarray of bool, shape (n_frames,)
        Frames with forces, inside the range of all moment arms and fibres.
    """

    force_n: FloatArray
    activation: FloatArray
    least_n: FloatArray
    greatest_n: FloatArray
    known: BoolArray


def force_series(found: MuscleForces) -> ForceSeries:
    """Forces over time of all muscles."""
    outside = found.out_of_range | found.fibres_out_of_range
    known = np.asarray(~outside & np.isfinite(found.force_n).all(axis=1))
    return ForceSeries(found.force_n, found.activation, found.least_n, found.greatest_n, known)


UNKNOWN = {column.name: math.nan for column in MUSCLE_STATISTICS}


def muscle_summary(
    motion: ChainMotion,
    found: ForceSeries,
    muscle_set: MuscleSet,
    options: Muscles,
    *,
    windows: Mapping[str, BoolArray],
    min_known_share: float,
) -> list[dict[str, Any]]:
    """Peak, mean and impulse of every muscle over every window.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : ForceSeries
        Its muscle forces.
    muscle_set : MuscleSet
        The muscles, as in `MuscleForces`.
    options : Muscles
        Section `muscles` of the settings.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    min_known_share : float
        Least share of a window's frames with known forces; with less, its statistics are NaN.

    Returns
    -------
    list of dict
        Rows of `results/muscle_summary.csv` without the trial's own columns.

    Notes
    -----
    Frames with edge effects, without forces, or outside the range of a moment arm or a fibre's curve are left out;
    integrals are trapezoids between neighbouring used frames.
    """
    known = found.known & ~motion.edge
    rows = []
    for window, inside in windows.items():
        used = inside & known
        share = float(used.sum() / inside.sum()) if inside.any() else 0.0
        enough = bool(used.any()) and share >= min_known_share
        for k, name in enumerate(muscle_set.names):
            about = {
                "window": window,
                "muscle_set": muscle_set.name,
                "criterion": criterion_text(options),
                "muscle": name,
                "strength_n": muscle_set.muscles[k].max_isometric_force_n,
                "n_frames": int(used.sum()),
                "used_share": share,
            }
            rows.append({**about, **(_statistics(motion, found, k, used) if enough else UNKNOWN)})
    return rows


def _statistics(motion: ChainMotion, found: ForceSeries, k: int, used: BoolArray) -> dict[str, float]:
    """Statistics of one muscle over some frames, one at least."""
    force = found.force_n[used, k]
    top = int(force.argmax())
    numbers = {
        "peak_n": force[top],
        "peak_time_s": motion.time_s[used][top] if force[top] > 0 else math.nan,
        "peak_activation": found.activation[used, k].max(),
        "mean_n": force.mean(),
        "impulse_ns": _impulse(found.force_n[:, k], used, motion.rate_hz),
        "min_impulse_ns": _impulse(found.least_n[:, k], used, motion.rate_hz),
        "max_impulse_ns": _impulse(found.greatest_n[:, k], used, motion.rate_hz),
    }
    return {name: float(number) for name, number in numbers.items()}


def _impulse(values: FloatArray, used: BoolArray, rate_hz: float) -> float:
    both = used[1:] & used[:-1]
    return float(((values[1:] + values[:-1])[both] / 2.0).sum() / rate_hz)
