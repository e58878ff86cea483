"""Peak and mean of the contact force in every joint of a trial."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.muscles.contact_range import ContactRange
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.tables.study_columns import CONTACT_STATISTICS

UNKNOWN = {column.name: math.nan for column in CONTACT_STATISTICS}


@dataclass(frozen=True, eq=False)
class ContactSeries:
    """Contact forces over time, as the summary needs them; NaN where unknown.

    Attributes
    ----------
    size, least, greatest, effort_least, effort_greatest : ndarray of shape (n_frames, n_joints)
        Size of the contact force, and the ends of its two ranges, over body weight.
    """

    size: FloatArray
    least: FloatArray
    greatest: FloatArray
    effort_least: FloatArray
    effort_greatest: FloatArray


def contact_series(found: MuscleForces) -> ContactSeries | None:
    """Contact forces over time of all joints; None where they were not asked for."""
    if found.contact is None:
        return None
    size = np.linalg.norm(found.contact.contact_n, axis=2)
    ends = [*_ends(found.contact.possible, size), *_ends(found.contact.limited, size)]
    return ContactSeries(*(values / found.body_weight_n for values in (size, *ends)))


def _ends(found: ContactRange | None, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    unknown = np.full_like(size, np.nan)
    return (found.least_n, found.greatest_n) if found else (unknown, unknown)


def contact_summary(
    motion: ChainMotion, found: ContactSeries, *, windows: Mapping[str, BoolArray], min_known_share: float
) -> list[dict[str, Any]]:
    """Peak and mean of the contact force of every joint over every window.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : ContactSeries
        Its contact forces.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    min_known_share : float
        Least share of a window's frames with a known contact force; with less, the statistics are NaN.

    Returns
    -------
    list of dict
        Rows of `results/contact_summary.csv` without the trial's own columns. Frames with edge effects are left out.
    """
    rows = []
    for window, inside in windows.items():
        for j, joint in enumerate(motion.joints):
            used = inside & ~motion.edge & np.isfinite(found.size[:, j])
            share = float(used.sum() / inside.sum()) if inside.any() else 0.0
            enough = bool(used.any()) and share >= min_known_share
            about = {"window": window, "joint": joint, "n_frames": int(used.sum()), "used_share": share}
            rows.append({**about, **(_statistics(motion, found, j, used) if enough else UNKNOWN)})
    return rows


def _statistics(motion: ChainMotion, found: ContactSeries, j: int, used: BoolArray) -> dict[str, float]:
    """Statistics of one joint over some frames, one at least."""
    size = found.size[used, j]
    top = int(size.argmax())
    numbers = {
        "peak_bw": size[top],
        "peak_time_s": motion.time_s[used][top],
        "min_peak_bw": found.least[used, j].max(),
        "max_peak_bw": found.greatest[used, j].max(),
        "effort_min_peak_bw": found.effort_least[used, j].max(),
        "effort_max_peak_bw": found.effort_greatest[used, j].max(),
        "mean_bw": size.mean(),
        "effort_range_bw": np.median(found.effort_greatest[used, j] - found.effort_least[used, j]),
    }
    return {name: float(number) for name, number in numbers.items()}
