"""Force ranges at the same torques, and the reachable part of co-contraction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import FloatArray
from limbtorque.muscles.static_optimization.arguments import activation_bounds, arm_and_torque, per_muscle
from limbtorque.muscles.static_optimization.dual import torque_capacity, torques
from limbtorque.muscles.static_optimization.reachable import activation_range, largest_part
from limbtorque.muscles.static_optimization.solve import BLOCK, StaticOptimization

WITHIN = 1e-9  # rounding of a bound


def force_range(
    moment_arm_m: ArrayLike,
    optimized: StaticOptimization,
    *,
    max_force_n: ArrayLike,
    min_activation: ArrayLike = 0.0,
    max_activation: ArrayLike = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest force of every muscle at the same joint torques.

    Parameters
    ----------
    moment_arm_m, max_force_n, min_activation, max_activation
        As for `share_torques`.
    optimized : StaticOptimization
        Result of `share_torques`: the torque is that of its muscles.

    Returns
    -------
    least_n, greatest_n : ndarray of shape (n_frames, n_muscles)
        Exact, by the facets of the reachable torques. NaN without forces. Within this range the criterion determines
        the force, not the mechanics.
    """
    arm, _ = arm_and_torque(moment_arm_m, optimized.reserve_nm)
    n_frames, _, n_muscles = arm.shape
    strength = per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    if ((optimized.activation < low - WITHIN) | (optimized.activation > high + WITHIN)).any():
        raise ValueError("optimized has activations outside these bounds; give the bounds of its optimization")
    least, greatest = np.full((n_frames, n_muscles), np.nan), np.full((n_frames, n_muscles), np.nan)
    known = np.flatnonzero(np.isfinite(optimized.force_n).all(axis=1)) if n_muscles else np.zeros(0, dtype=int)
    for at, scaled, _, (force, lo, hi) in _scaled_blocks(arm, optimized.reserve_nm, [strength, low, high], known):
        activation = optimized.activation[at].T
        below, above = activation_range(scaled, torques(scaled, activation), lo, hi)
        least[at] = (np.minimum(below, activation) * force).T
        greatest[at] = (np.maximum(above, activation) * force).T
    return least, greatest


def reachable_part(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    *,
    max_force_n: ArrayLike,
    min_activation: ArrayLike,
    wanted_activation: ArrayLike,
    max_activation: ArrayLike = 1.0,
) -> FloatArray:
    """Largest reachable part of the way from least to wanted activations.

    Parameters
    ----------
    moment_arm_m, torque_nm, max_force_n, min_activation, max_activation
        As for `share_torques`, the torques within reach with the least activations.
    wanted_activation : array_like of shape (n_muscles,) or (n_frames, n_muscles)
        Wanted lower bounds, from the least to the largest.

    Returns
    -------
    ndarray of shape (n_frames,)
        From 0 to 1; NaN where a number is not finite.
    """
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    strength = per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    wanted = per_muscle("wanted_activation", wanted_activation, n_frames, n_muscles)
    part = np.full(n_frames, np.nan)
    finite = np.isfinite(arm).all(axis=(1, 2)) & np.isfinite(torque).all(axis=1)
    for values in (strength, low, high, wanted):
        finite = finite & np.isfinite(values).all(axis=1)
    rows = [strength, low, wanted, high]
    for at, scaled, target, (_, *bounds) in _scaled_blocks(arm, torque, rows, np.flatnonzero(finite)):
        part[at] = largest_part(scaled, target, *bounds)
    return part


def _scaled_blocks(
    arm: FloatArray, torque: FloatArray, rows: list[FloatArray], known: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], FloatArray, FloatArray, list[FloatArray]]]:
    """Yield known frames by blocks: indices, reach, torque, rows (strength first).

    Only joints that a muscle crosses, each over the capacity of all muscles.
    """
    for start in range(0, known.size, BLOCK):
        at = known[start : start + BLOCK]
        some = [np.ascontiguousarray(v[at if len(v) > 1 else slice(None)].T) for v in rows]
        reach = np.multiply(np.transpose(arm[at], (1, 2, 0)), some[0], order="C")
        capacity = torque_capacity(reach)
        crossed = (capacity > 0).any(axis=1)
        scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
        yield at, (reach * scale[:, None])[crossed], (torque[at].T * scale)[crossed], some
