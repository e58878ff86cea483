"""Metrics of the muscle forces of a trial."""

from __future__ import annotations

import math

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.muscles.static_optimization.solve import FAILED
from limbtorque.study.options.muscles import Muscles

NEGLIGIBLE_NM = 1e-6


def force_metrics(
    net_nm: FloatArray, found: MuscleForces, strength: FloatArray, options: Muscles, frames: BoolArray | None = None
) -> dict[str, float]:
    """Metrics of muscle forces.

    Parameters
    ----------
    net_nm : ndarray of shape (n_frames, n_joints)
        Net joint torques, N m.
    found : MuscleForces
        The muscle forces.
    strength : ndarray of shape (n_frames, n_muscles)
        Strength of each muscle, N.
    options : Muscles
        Section `muscles` of the settings.
    frames : ndarray of bool, shape (n_frames,), optional
        Judged frames, for the metrics with a threshold; all by default.
    """
    solved = ~np.isnan(net_nm).any(axis=1)
    valid = solved & (True if frames is None else frames)
    known = found.arm_known
    count = max(int(valid.sum()), 1)
    metrics = {
        "reserve_share": float(((found.optimized.shortfall_nm > NEGLIGIBLE_NM) & valid).sum()) / count,
        "arm_range_deg": float(np.degrees(found.beyond_range_rad[valid]).max(initial=0.0)),
        "arm_range_share": float(found.out_of_range[valid].sum()) / count,
        "joints_without_moment_arms": float((~known).sum()),
        "optimization_failed_share": float(((found.optimized.status == FAILED) & valid).sum()) / count,
    }
    if options.reserve == "priced" and valid.any():
        peaks = np.abs(net_nm[valid]).max(axis=0)
        reserves = np.nan_to_num(np.abs(found.reserve_nm[valid])).max(axis=0, initial=0.0)
        part = (reserves / np.where(peaks > 0, peaks, 1.0))[known]
        metrics["reserve_part"] = float(part.max(initial=0.0))
    if found.limits is not None:
        metrics["fibre_range_share"] = float(found.fibres_out_of_range[valid].sum()) / count
        passive = np.nan_to_num(found.limits.passive_n[valid]) / found.muscle_set.max_force_n
        metrics["passive_part"] = float(passive.max(initial=0.0))
    if options.ranges:
        width = (found.greatest_n - found.least_n) / np.where(strength > 0, strength, np.nan)
        given = np.isfinite(width)
        metrics["force_range_share"] = float(width[given].mean()) if given.any() else math.nan
    if options.co_contraction > 0.0:
        added, cost = found.co_contraction_cost, found.optimized.cost
        counted = solved & np.isfinite(added) & np.isfinite(cost)
        without = float((cost - added)[counted].sum())
        metrics["co_contraction_cost_share"] = float(added[counted].sum()) / without if without > 0 else math.nan
        metrics["co_contraction_reduced_share"] = float((found.co_contraction_part[solved] < 1.0).sum()) / max(
            int(solved.sum()), 1
        )
    return metrics
