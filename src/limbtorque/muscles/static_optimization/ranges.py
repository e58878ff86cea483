r"""Least and greatest forces, and sums of activations, at the same torques.

The greatest weighted sum of activations, the linear programme

.. math:: \max_a\; g \cdot a \quad\text{with}\quad B a = t,\; l \le a \le h

has the dual :math:`\min_y\; y \cdot t + \sum_i \max(l_i d_i, h_i d_i)` with :math:`d = g - B^T y`. Every y bounds the maximum from
above (weak duality), so the result is an outer bound even if the search ends early; at the optimum as many muscles
as torques have d = 0. The search goes from one such vertex along its steepest edge to the edge's lowest point: the
dual simplex method with bound flipping, for all frames at once.

References
----------
Maros I. (2003) A generalized dual phase-2 simplex algorithm. European Journal of Operational Research 149:1-16.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.dual import Frames, torque_capacity, torques
from limbtorque.muscles.static_optimization.reachable import activation_range
from limbtorque.muscles.static_optimization.solve import (
    BLOCK,
    StaticOptimization,
    activation_bounds,
    arm_and_torque,
    per_muscle,
)

Indices: TypeAlias = NDArray[np.int64]
Programme: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
"""Columns of torques, torque, least and greatest activation, and weights: the frames on the first axis."""

LEVEL = 1e-11  # slope of an edge, or change along it, as a part of the capacity of all muscles, that counts as none
STEPS_PER_MUSCLE = 4
APART = 1e-10  # tiny differences of the weights, against ties
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
        raise ValueError("optimized has activations outside these bounds; pass the bounds used in its optimization")
    least, greatest = np.full((n_frames, n_muscles), np.nan), np.full((n_frames, n_muscles), np.nan)
    known = np.flatnonzero(np.isfinite(optimized.force_n).all(axis=1)) if n_muscles else np.zeros(0, dtype=int)
    for start in range(0, known.size, BLOCK):
        at = known[start : start + BLOCK]
        force, lo, hi = (np.ascontiguousarray(v[at if len(v) > 1 else slice(None)].T) for v in (strength, low, high))
        reach = np.multiply(np.transpose(arm[at], (1, 2, 0)), force, order="C")
        capacity = torque_capacity(reach)
        scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
        scaled = (reach * scale[:, None])[(capacity > 0).any(axis=1)]  # joints with muscles
        activation = optimized.activation[at].T
        below, above = activation_range(Frames(scaled, torques(scaled, activation), lo, hi))
        least[at] = (np.minimum(below, activation) * force).T
        greatest[at] = (np.maximum(above, activation) * force).T
    return least, greatest


def greatest_sums(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, weights: FloatArray
) -> FloatArray:
    """Greatest weighted sums of activations that make a torque.

    Parameters
    ----------
    reach : ndarray of shape (n_joints, n_muscles, n_frames)
        Torque of each fully active muscle, scaled to about 1.
    torque : ndarray of shape (n_joints, n_frames)
        A torque within reach.
    low, high : ndarray of shape (n_muscles, n_frames)
        Bounds of the activations.
    weights : ndarray of shape (n_sums, n_muscles, n_frames)
        Weights of the activations in each sum. The search for a sum starts at the end of that before: put like weights in turn.

    Returns
    -------
    ndarray of shape (n_sums, n_frames)
        Never below the true maximum; above it by rounding, by parts in 1e9 and where the search did not end.
    """
    n_joints, n_muscles, n_frames = reach.shape
    unit = np.broadcast_to(np.eye(n_joints), (n_frames, n_joints, n_joints))
    columns = np.concatenate([np.moveaxis(reach, 2, 0), unit], axis=2)  # the muscles, and the start: one zero a joint
    zero = np.zeros((n_frames, n_joints))
    lower, upper = (np.concatenate([np.broadcast_to(v, reach.shape[1:]).T, zero], axis=1) for v in (low, high))
    basis = np.tile(np.arange(n_muscles, n_muscles + n_joints), (n_frames, 1))
    found = np.empty((len(weights), n_frames))
    spread = (np.arange(1, n_muscles + 1) * 0.6180339887498949) % 1.0 - 0.5  # different numbers, the same every time
    for k, weight in enumerate(weights):
        size = np.abs(weight).max(axis=0)
        gain = (weight / np.where(size > 0, size, 1.0)).T + APART * spread
        programme = (columns, torque.T, lower, upper, np.concatenate([gain, zero], axis=1))
        found[k], basis = _search(programme, basis)
        found[k] *= size
    return found


def _search(programme: Programme, start: Indices) -> tuple[FloatArray, Indices]:
    """Least upper bound of each frame's maximum, and the final basis."""
    n_frames, n_joints, n_columns = programme[0].shape
    own = slice(n_columns - n_joints)
    best, basis = np.full(n_frames, np.inf), start.copy()
    left = np.arange(n_frames)
    some, chosen = programme, start
    for _ in range(STEPS_PER_MUSCLE * n_columns):
        dual, chosen, ended = _step(*some, chosen)
        columns, torque, low, high, gain = some
        # upper bound of the weighted sum by weak duality
        rest = gain[:, own] - np.einsum("njm,nj->nm", columns[..., own], dual)
        bound = (dual * torque).sum(axis=1) + np.maximum(rest * low[:, own], rest * high[:, own]).sum(axis=1)
        best[left] = np.minimum(best[left], bound)
        basis[left] = chosen
        some = (columns[~ended], torque[~ended], low[~ended], high[~ended], gain[~ended])
        chosen, left = chosen[~ended], left[~ended]
        if not left.size:
            break
    return best, basis


def _step(
    columns: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, gain: FloatArray, basis: Indices
) -> tuple[FloatArray, Indices, BoolArray]:
    """Dual variables of a basis, the next basis, and the frames at an end.

    Arrays have the frames on the first axis.
    """
    at = np.arange(len(torque))
    chosen = np.take_along_axis(columns, basis[:, None, :], axis=2)
    inverse = np.linalg.inv(np.swapaxes(chosen, 1, 2))  # y = inverse g; its columns are the edges
    dual = np.einsum("njk,nk->nj", inverse, np.take_along_axis(gain, basis, axis=1))
    rest = gain - np.einsum("njm,nj->nm", columns, dual)
    np.put_along_axis(rest, basis, 0.0, axis=1)
    active = np.where(rest > 0, high, low)
    np.put_along_axis(active, basis, 0.0, axis=1)
    needed = np.einsum(
        "njk,nj->nk", inverse, torque - np.einsum("njm,nm->nj", columns, active)
    )  # what the basis has to do
    own_low, own_high = np.take_along_axis(low, basis, axis=1), np.take_along_axis(high, basis, axis=1)
    over, under = needed - own_high, own_low - needed
    excess = np.maximum(over, under)
    leaves = excess.argmax(axis=1)
    ended = excess[at, leaves] <= LEVEL * np.maximum(1.0, np.abs(needed).max(axis=1))
    sense = np.where(over[at, leaves] > under[at, leaves], -1.0, 1.0)
    edge = inverse[at, :, leaves] * sense[:, None]
    change = -np.einsum("njm,nj->nm", columns, edge)
    np.put_along_axis(change, basis, 0.0, axis=1)
    change[np.abs(change) < LEVEL] = 0.0  # it cannot take a place in the basis
    meets = np.where(rest > 0, change < 0, change > 0)
    distance = np.where(meets, -rest / np.where(meets, change, 1.0), np.inf)
    order = np.argsort(distance, axis=1)
    rise = np.where(meets, (high - low) * np.abs(change), 0.0)
    slope = -excess[at, leaves][:, None] + np.cumsum(np.take_along_axis(rise, order, axis=1), axis=1)
    turns = (slope >= -LEVEL) & np.take_along_axis(meets, order, axis=1)
    enters = order[at, turns.argmax(axis=1)]
    ended = ended | ~turns.any(axis=1)
    moved = basis.copy()
    moved[at, leaves] = np.where(ended, basis[at, leaves], enters)
    return dual, moved, ended
