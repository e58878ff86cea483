"""Counts, sums and largest values of muscle forces, for their metrics and notes."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.muscles.static_optimization.criteria import FAILED
from limbtorque.muscles.strength import SETTLED
from limbtorque.muscles.tally import Tally
from limbtorque.study.options.muscles import Muscles

NEGLIGIBLE_NM = 1e-6


def force_tally(
    net_nm: FloatArray,
    found: MuscleForces,
    strength: FloatArray,
    out_of_range: BoolArray,
    *,
    options: Muscles,
    frames: BoolArray | None = None,
) -> Tally:
    """Counts, sums and largest values of muscle forces over some frames.

    Parameters
    ----------
    net_nm : ndarray of shape (n_frames, n_joints)
        Net joint torques, N m.
    found : MuscleForces
        The muscle forces.
    strength : ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, N.
    out_of_range : ndarray of bool, shape (n_frames, n_joints)
        Frames outside the range of a moment arm, by joint.
    options : Muscles
        Section `muscles` of the settings.
    frames : ndarray of bool, shape (n_frames,), optional
        Judged frames, for the metrics with a threshold; all by default.
    """
    solved = ~np.isnan(net_nm).any(axis=1)
    valid = solved & (True if frames is None else frames)
    optimized, limits = found.optimized, found.limits
    sums = {
        "solved": solved.sum(),
        "valid": valid.sum(),
        "short": ((optimized.shortfall_nm > NEGLIGIBLE_NM) & valid).sum(),
        "out_of_range": found.out_of_range[valid].sum(),
        "failed": ((optimized.status == FAILED) & valid).sum(),
        "fibres_out": found.fibres_out_of_range[valid].sum(),
        "reduced": (found.co_contraction_part[solved] < 1.0).sum(),
        "out_by_joint": out_of_range[solved].sum(axis=0),
        "out_by_muscle": np.zeros(len(found.muscle_set.names), dtype=int),
    }
    largest = {
        "beyond_range_rad": found.beyond_range_rad[valid].max(initial=0.0),
        "net_nm": np.abs(net_nm[valid]).max(axis=0, initial=0.0),
        "reserve_nm": np.nan_to_num(np.abs(found.reserve_nm[valid])).max(axis=0, initial=0.0),
    }
    if limits is not None:
        sums["out_by_muscle"] = (~limits.possible[solved]).sum(axis=0)
        passive = np.nan_to_num(limits.passive_n[valid]) / found.muscle_set.max_force_n
        largest["passive_part"] = passive.max(initial=0.0)
    if found.stretch is not None:
        sums["unsettled"] = (found.stretch.change[solved] > SETTLED).sum()
        largest["tendon_change"] = found.stretch.change[solved].max(initial=0.0)
    if options.ranges:
        width = (found.greatest_n - found.least_n) / np.where(strength > 0, strength, np.nan)
        given = np.isfinite(width)
        sums |= {"width": width[given].sum(), "widths": given.sum()}
    if options.co_contraction > 0.0:
        added, cost = found.co_contraction_cost, optimized.cost
        counted = solved & np.isfinite(added) & np.isfinite(cost)
        sums |= {"cost_without": (cost - added)[counted].sum(), "added_cost": added[counted].sum()}
    return Tally(sums, largest)
