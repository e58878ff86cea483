"""Least sum of powers of the activations by Newton's method on the dual.

The problem of a frame: minimise sum_i (a_i^2 / 2 + o_i a_i) subject to B a = torque and low <= a <= high. Its Lagrangian
dual has one unknown per joint. A multiplier y gives every activation in closed form, a_i = clip(B_i . y - o_i, low, high),
and the solution y is the zero of the piecewise linear gradient torque - B a(y): a Newton method with an exact line search
converges in a few steps [1]_. The result is optimal once the torque is met, because the clipped form
satisfies all other Karush-Kuhn-Tucker conditions.

All arrays have the frames on the last axis: B (n_joints, n_muscles, n_frames), torques and multipliers
(n_joints, n_frames), activations and their bounds (n_muscles, n_frames), or (n_muscles, 1) where a bound is constant.

With a cost of sum_i a_i^p, p above 2, a multiplier gives a_i = clip((B_i . y / p)^(1 / (p - 1)), low, high), but the gradient is
no longer piecewise linear: its slope is unbounded where a muscle begins to pull. So the solution for p = 2 is the start,
activations are scaled by the largest of the frame, the line search is safeguarded, and the last step is along the tangent, in
activations rather than multipliers: the torque then closes to rounding even where the multiplier does not resolve a small
activation. Frames that do not converge may be solved again, with the exponent changed from 2 to p in small steps.

References
----------
.. [1] Li W., Swetits J. (1997) A new algorithm for solving strictly convex quadratic programs. SIAM J Optim 7:595-619
   (Newton on the piecewise quadratic dual).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeAlias

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

# of other powers than squares
NOISE = 4e-15  # rounding of a pull, as a part of the sizes it is added up from
POWER_CLOSURE = 1e-12  # the torque closes to this part of the capacity of all muscles
AGREES = 1e-9  # the tangent step and the closed form differ by less than this part of the largest activation
MOST_POWER_STEPS = 40
SEARCHES = 30
FLOOR = 0.02  # least part of the largest activation for a muscle's stiffness in the start
POWER_SINGULAR = 1e-13
STEEPEST = (1e12, 1e9)  # largest change of an activation with its pull, first and with `patient`
IDLE = 1e-14  # part of the largest activation below which a muscle has no effect
LEAD = 1.12  # ratio of successive p - 1 on the way from exponent 2


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
    """Torque of all muscles at full activation, unsigned, (n_joints, n_frames)."""
    return np.asarray(np.abs(reach).sum(axis=1))


def at_frames(at: Counts, *arrays: FloatArray) -> list[FloatArray]:
    """Selected frames of arrays; arrays constant over frames are returned unchanged."""
    return [v if v.ndim > 1 and v.shape[-1] == 1 else np.take(v, at, axis=-1) for v in arrays]


@dataclass(frozen=True, eq=False)
class Frames:
    """Problem of several frames: ``reach a = torque``, ``low <= a <= high``.

    Attributes
    ----------
    reach : ndarray of shape (n_joints, n_muscles, n_frames)
        B, the torque of each fully active muscle.
    torque : ndarray of shape (n_joints, n_frames)
        Wanted.
    low, high : ndarray of shape (n_muscles, n_frames) or (n_muscles, 1)
        Bounds of the activations.
    """

    reach: FloatArray
    torque: FloatArray
    low: FloatArray
    high: FloatArray

    def at(self, some: Counts) -> Self:
        """Selected frames."""
        return type(self)(*at_frames(some, *vars(self).values()))

    def over(self, scale: FloatArray) -> Frames:
        """Torques scaled by a factor for each joint, shape (n_joints, n_frames)."""
        return Frames(self.reach * scale[:, None], self.torque * scale, self.low, self.high)


def climb(
    frames: Frames,
    *,
    start: FloatArray | None = None,
    weight: FloatArray | None = None,
    centre: FloatArray | None = None,
) -> Climb:
    """Maximise the dual by Newton steps with line search until the torque is met.

    Maximises y . torque - sum_i h_i(B_i . y) - weight/2 |y - centre|^2, where h_i' = clip(., low, high). Without a
    start, all muscles are free in the first step. A frame with an unbounded dual is returned as not closed.

    Parameters
    ----------
    frames : Frames
        The problem, scaled so that all muscles together make about 1 at each joint.
    start : ndarray of shape (n_joints, n_frames), optional
        First multiplier.
    weight : ndarray of shape (n_joints, n_frames) or (1, n_frames), optional
        Of the proximal term: a reserve torque weight (y - centre) is part of the answer.
    centre : ndarray of shape (n_joints, n_frames), optional
        Centre of the proximal term; 0 by default.

    Returns
    -------
    Climb
    """
    reach, torque, low, high = frames.reach, frames.torque, frames.low, frames.high
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
    pull = pulls(reach, y)
    endless = np.zeros(n_frames, dtype=bool)
    for count in range(MOST_ITERATIONS):
        gradient = torque - torques(reach, clipped(pull, low, high)) - weight * (y - centre)
        done = np.asarray((np.abs(gradient) <= CLOSURE + rounding * np.abs(y)).all(axis=0))
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
    """Step lengths to the maximum of the dual, and frames with unbounded dual.

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


def _solve_definite(matrix: list[list[FloatArray]], right: FloatArray, full: FloatArray, singular: float) -> FloatArray:
    """Solve symmetric systems by L D L'; only the lower triangle is read.

    Pivots below a small fraction of `full` are replaced by a larger fraction.
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
    """Activations from a multiplier."""
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


@dataclass(frozen=True, eq=False)
class Power:
    """Result of `share_power`.

    Attributes
    ----------
    activation : ndarray of shape (n_muscles, n_frames)
    multiplier : ndarray of shape (n_joints, n_frames)
    failed : ndarray of bool of shape (n_frames,)
    iterations : ndarray of int of shape (n_frames,)
    """

    activation: FloatArray
    multiplier: FloatArray
    failed: NDArray[np.bool_]
    iterations: Counts


def share_power(
    frames: Frames,
    *,
    exponent: float,
    start: FloatArray,
    patient: bool = False,
) -> Power:
    """Activations that produce reachable torques with the least sum of powers.

    Parameters
    ----------
    frames : Frames
        Scaled so that all muscles together make about 1 at each joint; torques within reach.
    exponent : float
        Above 2.
    start : ndarray of shape (n_muscles, n_frames)
        Activations that make the torque, for instance those of least squares.
    patient : bool, optional
        Change the exponent from 2 in small steps.

    Returns
    -------
    Power
    """
    size = start.max(axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    low, high = frames.low, frames.high
    parts = Frames(frames.reach, frames.torque / size, low / size, high / size)
    path = [exponent]
    if patient:  # exponents that lead to the wanted one
        steps = max(int(np.ceil(np.log(exponent - 1.0) / np.log(LEAD))), 1)
        path = [1.0 + (exponent - 1.0) ** (k / steps) for k in range(1, steps + 1)]
    found = _lead(parts, start / size, path, STEEPEST[patient])
    activation = clipped(found.activation * size, low, high)
    return Power(activation, found.multiplier * size ** (exponent - 1.0), found.failed, found.iterations)


def _lead(frames: Frames, start: FloatArray, path: list[float], steepest: float) -> Power:
    """Follow exponents one by one; failed frames do not converge at the last."""
    activation, iterations = start, np.zeros(start.shape[1], dtype=np.int64)
    for exponent in path:
        found = _climb_power(frames, exponent, _first_multiplier(frames, exponent, activation), steepest)
        activation = clipped(found.activation, frames.low, frames.high)
        iterations += found.iterations
    return Power(activation, found.multiplier, found.failed, iterations)


def _first_multiplier(frames: Frames, exponent: float, activation: FloatArray) -> FloatArray:
    """Multiplier of the torque with the stiffness of given activations."""
    pulling = (activation > np.maximum(frames.low, 1e-9)) & (activation < frames.high)
    a = np.maximum(activation, 1e-12)
    slope = pulling / (exponent * (exponent - 1.0) * np.maximum(a, FLOOR) ** (exponent - 2.0))
    tangent = np.where(pulling, a - exponent * a ** (exponent - 1.0) * slope, activation)
    return _newton(frames, slope, frames.torque - torques(frames.reach, tangent))


def _climb_power(frames: Frames, exponent: float, start: FloatArray, steepest: float) -> Power:
    """Newton steps until the tangent and the closed form agree."""
    n_muscles, n_frames = frames.reach.shape[1:]
    found = Power(
        np.zeros((n_muscles, n_frames)), start.copy(), np.ones(n_frames, dtype=bool), np.zeros(n_frames, dtype=np.int64)
    )
    at, y = np.arange(n_frames), start
    pull = pulls(frames.reach, y)
    activation = response(pull, frames.low, frames.high, exponent)
    for count in range(1, MOST_POWER_STEPS + 1):
        gradient = frames.torque - torques(frames.reach, activation)
        slope = _slope(frames, exponent, pull, activation, steepest)
        step = _newton(frames, slope, gradient)
        change = pulls(frames.reach, step)
        tangent = clipped(activation + slope * change, frames.low, frames.high)
        ahead = response(pull + change, frames.low, frames.high, exponent)
        done = _agree(frames, exponent, tangent, ahead, pull + change, y + step)
        if done.any() or count == MOST_POWER_STEPS:
            found.activation[:, at], found.multiplier[:, at] = tangent, y + step
            found.iterations[at], found.failed[at] = count, ~done
            go = np.flatnonzero(~done)
            if not go.size or count == MOST_POWER_STEPS:
                break
            at, frames = at[go], frames.at(go)
            y, pull, step, change, ahead, gradient = at_frames(go, y, pull, step, change, ahead, gradient)
        length, activation = _power_search(frames, exponent, pull, step, change, ahead, gradient)
        y = y + length * step
        pull = pull + length * change
    return found


def _agree(
    frames: Frames, exponent: float, tangent: FloatArray, ahead: FloatArray, pull: FloatArray, y: FloatArray
) -> NDArray[np.bool_]:
    """Mask of frames where tangent and multiplier give the same activations.

    Where rounding dominates a small activation, the powers are compared instead.
    """
    done: NDArray[np.bool_] = np.asarray((np.abs(tangent - ahead) <= AGREES).all(axis=0))
    at = np.flatnonzero(~done)
    if at.size:
        some, a, other, u, multiplier = frames.at(at), *at_frames(at, tangent, ahead, pull, y)
        marginal = exponent * a ** (exponent - 1.0)
        noise = NOISE * pulls(np.abs(some.reach), np.abs(multiplier))
        near = (np.abs(marginal - np.maximum(u, 0.0)) <= noise) | (np.abs(a - other) <= AGREES)
        done[at] = near.all(axis=0)
    at = np.flatnonzero(done)
    if at.size:
        some, a = frames.at(at), tangent[:, at]
        rest = some.torque - torques(some.reach, a)
        done[at] = (np.abs(rest) <= POWER_CLOSURE * (1.0 + np.abs(some.torque))).all(axis=0)
    return done


def response(pull: FloatArray, low: FloatArray, high: FloatArray, exponent: float) -> FloatArray:
    """Activations of least cost a^p for given B' y, shape (n_muscles, n_frames)."""
    if exponent == 2.0:
        return clipped(pull / 2.0, low, high)  # bounds may be negative
    part = np.maximum(pull, 0.0) / exponent
    return clipped(np.sqrt(part) if exponent == 3.0 else part ** (1.0 / (exponent - 1.0)), low, high)


def _slope(frames: Frames, exponent: float, pull: FloatArray, activation: FloatArray, steepest: float) -> FloatArray:
    """Change of the activations with the pull; 0 at a bound."""
    free = (activation > np.maximum(frames.low, IDLE)) & (activation < frames.high)
    slope = activation / ((exponent - 1.0) * np.maximum(pull, 1e-300))
    return np.asarray(np.where(free, np.minimum(slope, steepest), 0.0))


def _power_search(
    frames: Frames,
    exponent: float,
    pull: FloatArray,
    step: FloatArray,
    change: FloatArray,
    ahead: FloatArray,
    gradient: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Step lengths by the dual's slope, and their activations.

    The slope has fallen to between half and minus a tenth.
    """
    rise = (step * frames.torque).sum(axis=0)
    first = (step * gradient).sum(axis=0)
    length = np.ones_like(first)
    last = rise - (change * ahead).sum(axis=0)
    at = np.flatnonzero((last < -0.1 * first) | (last > 0.5 * first))
    if not at.size:
        return length, ahead
    some, (pull, change, rise, first, p) = frames.at(at), at_frames(at, pull, change, rise, first, last)
    s, low, high = np.ones(at.size), np.zeros(at.size), np.full(at.size, np.inf)
    p_low, p_high = first, np.zeros(at.size)
    activation = ahead[:, at]
    for _ in range(SEARCHES):
        over = p < 0
        low, p_low = np.where(over, low, s), np.where(over, p_low, p)
        high, p_high = np.where(over, s, high), np.where(over, p, p_high)
        well = (p >= -0.1 * first) & (p <= 0.5 * first)
        if well.all():
            break
        bounded = np.isfinite(high)
        part = np.clip(p_low / np.where(bounded & (p_low > p_high), p_low - p_high, 1.0), 0.1, 0.9)
        s = np.where(well, s, np.where(bounded, low + part * (np.where(bounded, high, 0.0) - low), 4.0 * s))
        activation = response(pull + s * change, some.low, some.high, exponent)
        p = rise - (change * activation).sum(axis=0)
    length[at] = s
    ahead = ahead.copy()
    ahead[:, at] = activation
    return length, ahead


def _newton(frames: Frames, slope: FloatArray, gradient: FloatArray) -> FloatArray:
    """Newton step of frames; pivots are judged by their own joint's stiffness."""
    return newton_step(frames.reach, slope, gradient, np.zeros((1, gradient.shape[1])), singular=POWER_SINGULAR)
