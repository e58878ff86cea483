"""Quadratic static optimization by Newton's method on the dual, all frames.

The problem of a frame: minimise sum_i (a_i^2 / 2 + o_i a_i) subject to B a = torque and low <= a <= high. Its Lagrangian
dual has one unknown per joint. A multiplier y gives every activation in closed form, a_i = clip(B_i . y - o_i, low, high),
and the solution y is the zero of the piecewise linear gradient torque - B a(y): a Newton method with an exact line search
converges in a few steps [1]_. The result is optimal as soon as the torque closes, because the clipped form satisfies every
other condition of Karush, Kuhn and Tucker.

All arrays have the frames on the last axis: B (n_joints, n_muscles, n_frames), torques and multipliers
(n_joints, n_frames), activations and their bounds (n_muscles, n_frames), or (n_muscles, 1) where a bound is constant.

References
----------
.. [1] Li W., Swetits J. (1997) A new algorithm for solving strictly convex quadratic programs. SIAM J Optim 7:595-619
   (Newton on the piecewise quadratic dual).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray

Counts: TypeAlias = NDArray[np.int64]

CLOSURE = 2e-13  # a frame is solved when its torque closes to this part of the capacity of all muscles
SINGULAR = 1e-10  # a pivot below this part of the one with all muscles free counts as zero ...
STAND_IN = 0.05  # ... and is replaced by this part of it; the line search corrects the length
MOST_ITERATIONS = 60
ENDLESS = 1e-13  # rounding: a larger excess along a direction proves a torque unreachable
MANY = 0.7  # share of unfinished frames below which the finished ones are removed


@dataclass(frozen=True, eq=False)
class Climb:
    """Result of `climb`.

    Attributes
    ----------
    multiplier : ndarray of shape (n_joints, n_frames)
        Dual variable.
    closed : ndarray of bool of shape (n_frames,)
        True where the torque closes.
    iterations : ndarray of int of shape (n_frames,)
        Newton steps.
    """

    multiplier: FloatArray
    closed: BoolArray
    iterations: Counts


def torque_capacity(reach: FloatArray) -> FloatArray:
    """Torque of all fully active muscles by joint, (n_joints, n_frames), unsigned."""
    return np.asarray(np.abs(reach).sum(axis=1))


def at_frames(at: Counts, *arrays: FloatArray) -> list[FloatArray]:
    """Some frames of arrays; arrays constant over frames are returned unchanged."""
    return [v if v.ndim > 1 and v.shape[-1] == 1 else np.take(v, at, axis=-1) for v in arrays]


def climb(
    reach: FloatArray,
    torque: FloatArray,
    low: FloatArray,
    high: FloatArray,
    *,
    offset: FloatArray | None = None,
    start: FloatArray | None = None,
    weight: FloatArray | None = None,
    centre: FloatArray | None = None,
    closure: float = CLOSURE,
) -> Climb:
    """Climb the dual by Newton steps with a line search until the torque closes.

    Maximises y . torque - sum_i h_i(B_i . y - o_i) - weight/2 |y - centre|^2, where h_i' = clip(., low, high). Without a
    start, all muscles are free in the first step. A frame with an unbounded dual is returned as not closed.

    Parameters
    ----------
    reach : ndarray of shape (n_joints, n_muscles, n_frames)
        B, scaled so that all muscles together make about 1 at each joint.
    torque : ndarray of shape (n_joints, n_frames)
        Wanted.
    low, high : ndarray of shape (n_muscles, n_frames) or (n_muscles, 1)
        Bounds of the activations.
    offset : ndarray of shape (n_muscles, n_frames), optional
        Linear cost o.
    start : ndarray of shape (n_joints, n_frames), optional
        First multiplier.
    weight : ndarray of shape (n_joints, n_frames) or (1, n_frames), optional
        Of the proximal term: a reserve torque weight (y - centre) is part of the answer.
    centre : ndarray of shape (n_joints, n_frames), optional
        Centre of the proximal term; 0 by default.
    closure : float, optional
        Largest residual torque that counts as closed.

    Returns
    -------
    Climb
    """
    n_frames = torque.shape[1]
    rounding = 0.0 if weight is None else 1e-15  # of B' y, where y grows large
    found = np.zeros_like(torque)
    closed = np.zeros(n_frames, dtype=bool)
    iterations = np.zeros(n_frames, dtype=np.int64)
    weight = np.zeros((1, n_frames)) if weight is None else weight
    centre = np.zeros_like(torque) if centre is None else centre
    full = (reach * reach).sum(axis=1) + weight
    full[full == 0] = 1.0
    at = np.arange(n_frames)
    y = newton_step(reach, np.ones_like(reach[0]), torque, weight, full=full) if start is None else start
    pull = pulls(reach, y) if offset is None else pulls(reach, y) - offset
    endless = np.zeros(n_frames, dtype=bool)
    for count in range(MOST_ITERATIONS):
        gradient = torque - torques(reach, clipped(pull, low, high)) - weight * (y - centre)
        done = np.asarray((np.abs(gradient) <= closure + rounding * np.abs(y)).all(axis=0))
        stop = done | endless
        if stop.any():
            new = stop & ~closed[at]
            found[:, at[new]], closed[at[new]], iterations[at[new]] = y[:, new], done[new], count
            go = np.flatnonzero(~stop)
            if not go.size:
                return Climb(found, closed, iterations)
            gradient[:, stop] = 0.0  # finished frames do not move; they are removed, by a copy, when there are many
            if go.size < MANY * at.size or endless.any():
                at = at[go]
                reach, pull, gradient, torque, y, centre, full, low, high, weight = at_frames(
                    go, reach, pull, gradient, torque, y, centre, full, low, high, weight
                )
        free = ((pull > low) & (pull < high)).astype(float)
        step = newton_step(reach, free, gradient, weight, full=full)
        change = pulls(reach, step)
        rise = (step * (torque - weight * (y - centre))).sum(axis=0)
        first = (step * gradient).sum(axis=0)
        bend = (weight * step * step).sum(axis=0)
        length, endless = _line_search(pull, change, low, high, first, rise, bend)
        y = y + length * step
        pull = pull + length * change
    left = ~closed[at]
    found[:, at[left]], iterations[at[left]] = y[:, left], MOST_ITERATIONS
    return Climb(found, closed, iterations)


def _line_search(
    pull: FloatArray,
    change: FloatArray,
    low: FloatArray,
    high: FloatArray,
    first: FloatArray,
    rise: FloatArray,
    bend: FloatArray,
) -> tuple[FloatArray, BoolArray]:
    """Step lengths to the top of the dual, and frames of unbounded dual.

    The slope p(s) = rise - bend s - sum_i change_i clip(pull_i + s change_i, low, high) never grows with s. Length 1 is
    accepted where it does not overshoot and the slope has fallen to half.
    """
    length = np.ones_like(rise)
    last = rise - bend - (change * clipped(pull + change, low, high)).sum(axis=0)
    least = rise - np.maximum(change * high, change * low).sum(axis=0)
    endless = (bend == 0) & (least > ENDLESS * (np.abs(rise) + np.abs(change).sum(axis=0)))
    at = np.flatnonzero(((last < -0.01 * first) | (last > 0.5 * first)) & (first > 0) & ~endless)
    if at.size:
        length[at] = top(*at_frames(at, pull, change, low, high, first, rise, bend))
    return length, endless


def top(
    pull: FloatArray,
    change: FloatArray,
    low: FloatArray,
    high: FloatArray,
    first: FloatArray,
    rise: FloatArray,
    bend: FloatArray,
) -> FloatArray:
    """Exact zero of the slope, by bisection over the bounds and interpolation."""
    frames = np.arange(rise.size)
    moving = np.where(change == 0, np.inf, change)
    kinks = np.sort(np.maximum(np.concatenate([(low - pull) / moving, (high - pull) / moving]), 0.0), axis=0)
    below, above = np.full(rise.size, -1), np.full(rise.size, len(kinks))  # slope above zero at below, not at above
    s_low, p_low, s_high, p_high = np.zeros_like(rise), first, np.zeros_like(rise), np.zeros_like(rise)
    for _ in range(len(kinks).bit_length()):
        middle = np.clip((below + above) // 2, 0, len(kinks) - 1)
        s = kinks[middle, frames]
        p = rise - bend * s - (change * clipped(pull + s * change, low, high)).sum(axis=0)
        rises = p > 0
        below, above = np.where(rises, middle, below), np.where(rises, above, middle)
        s_low, p_low = np.where(rises, s, s_low), np.where(rises, p, p_low)
        s_high, p_high = np.where(rises, s_high, s), np.where(rises, p_high, p)
    inside = s_low + (s_high - s_low) * p_low / (p_low - p_high)
    beyond = s_low + np.where(bend > 0, p_low / np.where(bend > 0, bend, 1.0), 0.0)
    return np.where(above < len(kinks), inside, beyond)


def newton_step(
    reach: FloatArray,
    slope: FloatArray,
    gradient: FloatArray,
    weight: FloatArray,
    *,
    full: FloatArray | None = None,
    singular: float = SINGULAR,
) -> FloatArray:
    """Solve (B diag(slope) B' + weight) step = gradient, singular directions too.

    Parameters
    ----------
    reach, gradient, weight
        As for `climb`.
    slope : ndarray of shape (n_muscles, n_frames)
        Change of the activations with their pull; 1 for a free muscle of a quadratic cost, 0 at a bound.
    full : ndarray of shape (n_joints, n_frames), optional
        Reference of the diagonal; the diagonal itself by default.
    singular : float, optional
        Part of the reference below which a pivot counts as zero.

    Returns
    -------
    ndarray of shape (n_joints, n_frames)
    """
    n_joints = len(reach)
    curvature: list[list[FloatArray]] = [[gradient[0]] * n_joints for _ in range(n_joints)]
    for j in range(n_joints):
        steep = slope * reach[j]
        for k in range(j + 1):
            curvature[j][k] = np.einsum("mn,mn->n", steep, reach[k])
        curvature[j][j] = curvature[j][j] + weight[j if len(weight) > 1 else 0]
    if full is None:
        diagonal = np.array([curvature[j][j] for j in range(n_joints)])
        full = np.where(diagonal > 0, diagonal, 1.0 / STAND_IN)
    return _solve_definite(curvature, gradient, full, singular)


def least_change(reach: FloatArray, missing: FloatArray, chosen: BoolArray) -> FloatArray:
    """Least change of the multiplier that adds `missing` to chosen muscles' pulls."""
    full = (reach * reach).sum(axis=1)
    full[full == 0] = 1.0
    wanted = torques(reach, np.where(chosen, missing, 0.0))
    return newton_step(reach, chosen.astype(float), wanted, np.zeros((1, reach.shape[2])), full=full)


def _solve_definite(matrix: list[list[FloatArray]], right: FloatArray, full: FloatArray, singular: float) -> FloatArray:
    """Solve symmetric systems by L D L'; only the lower triangle is read.

    A pivot below a small part of `full` is replaced by a larger part of it.
    """
    n = len(matrix)
    lower: list[list[FloatArray]] = []
    pivots: list[FloatArray] = []
    solution: list[FloatArray] = []
    for j in range(n):
        row: list[FloatArray] = []  # L_jk D_k
        for k in range(j):
            row.append(matrix[j][k] - sum((row[i] * lower[k][i] for i in range(k)), start=np.float64(0.0)))
        factors = [row[k] / pivots[k] for k in range(j)]
        pivot = matrix[j][j] - sum((row[k] * factors[k] for k in range(j)), start=np.float64(0.0))
        pivots.append(np.where(pivot > singular * full[j], pivot, STAND_IN * full[j]))
        lower.append(factors)
        solution.append(right[j] - sum((factors[k] * solution[k] for k in range(j)), start=np.float64(0.0)))
    for j in range(n - 1, -1, -1):
        later = sum((lower[k][j] * solution[k] for k in range(j + 1, n)), start=np.float64(0.0))
        solution[j] = solution[j] / pivots[j] - later
    return np.array(solution)


def clipped(pull: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Activations of a multiplier (np.clip takes twice as long)."""
    activation = np.maximum(pull, low)
    return np.minimum(activation, high, out=activation)


def pulls(reach: FloatArray, y: FloatArray) -> FloatArray:
    """B' y, shape (n_muscles, n_frames)."""
    return np.asarray(np.einsum("jmn,jn->mn", reach, y))


def torques(reach: FloatArray, activation: FloatArray) -> FloatArray:
    """B a, shape (n_joints, n_frames)."""
    return np.asarray(np.einsum("jmn,mn->jn", reach, activation))


def norm(vectors: FloatArray) -> FloatArray:
    """Euclidean norm over the first axis (for B: over the joints)."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=0)))
