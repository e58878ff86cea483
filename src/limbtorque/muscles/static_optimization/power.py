"""Static optimization with any exponent above 1, by Newton's method on the dual.

The problem of a frame: minimise sum_i a_i^p subject to B a = torque and low <= a <= high. As for p = 2, the dual has one
unknown per joint, and a multiplier y gives every activation in closed form,
a_i = clip((B_i . y / p)^(1 / (p - 1)), low, high); but the gradient torque - B a(y) is no longer piecewise linear.
For p > 2 its slope is unbounded where a muscle begins to pull, and for p near 1 it is flat there. So the solution for
p = 2 is the start, activations are scaled by the largest of the frame, the line search is safeguarded, and the last step
is along the tangent, in activations rather than multipliers: the torque then closes to rounding even where the multiplier
does not resolve a small activation. Frames that do not converge may be solved again, with the exponent changed from 2 to
p in small steps.

Arrays have the frames on the last axis, as in `limbtorque.muscles.static_optimization.dual`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.muscles.static_optimization.dual import Counts, at_frames, clipped, newton_step, pulls, torques
from limbtorque.muscles.static_optimization.nearest import mended

NOISE = 4e-15  # rounding of a pull, as a part of the sizes it is added up from
CLOSURE = 1e-12  # the torque closes to this part of the capacity of all muscles
AGREES = 1e-9  # the tangent step and the closed form differ by less than this part of the largest activation
MOST_ITERATIONS = 40
SEARCHES = 30
FLOOR = 0.02  # least part of the largest activation for a muscle's stiffness in the start
SINGULAR = 1e-13
STEEPEST = (1e12, 1e9)  # largest change of an activation with its pull, first and with `patient`
IDLE = 1e-14  # part of the largest activation below which a muscle has no effect
DIRECT = 4.0  # exponents up to this are solved without intermediate ones
LEAD = 1.25  # largest ratio of successive exponents beyond it, or of successive p - 1 below 2


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


@dataclass(frozen=True, eq=False)
class _Frames:
    """Frames in parts of their largest activation."""

    reach: FloatArray
    torque: FloatArray
    low: FloatArray
    high: FloatArray
    weight: FloatArray

    def some(self, at: Counts) -> _Frames:
        return _Frames(*at_frames(at, self.reach, self.torque, self.low, self.high, self.weight))


def share_power(
    reach: FloatArray,
    torque: FloatArray,
    low: FloatArray,
    high: FloatArray,
    *,
    exponent: float,
    start: FloatArray,
    weight: FloatArray | None = None,
    patient: bool = False,
) -> Power:
    """Activations that make torques within reach with the least sum of powers.

    Parameters
    ----------
    reach : ndarray of shape (n_joints, n_muscles, n_frames)
        Torque of each fully active muscle, scaled so that all together make about 1 at each joint.
    torque : ndarray of shape (n_joints, n_frames)
        Wanted; within reach, unless there is a weight.
    low, high : ndarray of shape (n_muscles, n_frames) or (n_muscles, 1)
        Bounds of the activations.
    exponent : float
        Above 1.
    start : ndarray of shape (n_muscles, n_frames)
        Activations that make the torque, for instance those of least squares.
    weight : ndarray of shape (n_joints, n_frames) or (n_joints, 1), optional
        A reserve torque weight * y is part of the answer.
    patient : bool, optional
        Change the exponent from 2 in small steps.

    Returns
    -------
    Power
    """
    size = start.max(axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    n_joints, n_frames = torque.shape
    spread = np.zeros((n_joints, n_frames)) if weight is None else weight * size ** (exponent - 2.0)
    frames = _Frames(reach, torque / size, low / size, high / size, spread)
    found = _lead(frames, start / size, _small_steps(exponent) if patient else _path(exponent), STEEPEST[patient])
    failed = np.flatnonzero(found.failed)
    if failed.size and weight is None:  # the optimality certificate shows if they are near enough
        some = frames.some(failed)
        found.activation[:, failed] = mended(some.reach, some.torque, some.low, some.high, found.activation[:, failed])
    activation = clipped(found.activation * size, low, high)
    return Power(activation, found.multiplier * size ** (exponent - 1.0), found.failed, found.iterations)


def _path(exponent: float) -> list[float]:
    """Successive exponents from the start to the wanted one."""
    path = [exponent]
    while path[0] > DIRECT:
        path.insert(0, max(path[0] / LEAD, 3.0))
    return path


def _small_steps(exponent: float) -> list[float]:
    """Successive exponents in small steps, for frames that did not converge."""
    steps = max(int(np.ceil(abs(np.log(exponent - 1.0)) / np.log(np.sqrt(LEAD)))), 1)
    return [1.0 + (exponent - 1.0) ** (k / steps) for k in range(1, steps + 1)]


def _lead(frames: _Frames, start: FloatArray, path: list[float], steepest: float) -> Power:
    """Follow exponents one by one; failed frames do not converge at the last."""
    activation, iterations = start, np.zeros(start.shape[1], dtype=np.int64)
    for exponent in path:
        found = _climb(frames, exponent, _start(frames, exponent, activation), steepest)
        activation = clipped(found.activation, frames.low, frames.high)
        iterations += found.iterations
    return Power(activation, found.multiplier, found.failed, iterations)


def _start(frames: _Frames, exponent: float, activation: FloatArray) -> FloatArray:
    """Multiplier of the torque with the stiffness of given activations."""
    pulling = (activation > np.maximum(frames.low, 1e-9)) & (activation < frames.high)
    a = np.maximum(activation, 1e-12)
    slope = pulling / (exponent * (exponent - 1.0) * np.maximum(a, FLOOR) ** (exponent - 2.0))
    tangent = np.where(pulling, a - exponent * a ** (exponent - 1.0) * slope, activation)
    return _newton(frames, slope, frames.torque - torques(frames.reach, tangent))


def _climb(frames: _Frames, exponent: float, start: FloatArray, steepest: float) -> Power:
    """Newton steps until the tangent and the closed form agree."""
    n_muscles, n_frames = frames.reach.shape[1:]
    found = Power(
        np.zeros((n_muscles, n_frames)), start.copy(), np.ones(n_frames, dtype=bool), np.zeros(n_frames, dtype=np.int64)
    )
    at, y = np.arange(n_frames), start
    pull = pulls(frames.reach, y)
    activation = response(pull, frames.low, frames.high, exponent)
    for count in range(1, MOST_ITERATIONS + 1):
        gradient = frames.torque - torques(frames.reach, activation) - frames.weight * y
        slope = _slope(frames, exponent, pull, activation, steepest)
        step = _newton(frames, slope, gradient)
        change = pulls(frames.reach, step)
        tangent = clipped(activation + slope * change, frames.low, frames.high)
        ahead = response(pull + change, frames.low, frames.high, exponent)
        done = _agree(frames, exponent, tangent, ahead, pull + change, y + step)
        if done.any() or count == MOST_ITERATIONS:
            found.activation[:, at], found.multiplier[:, at] = tangent, y + step
            found.iterations[at], found.failed[at] = count, ~done
            go = np.flatnonzero(~done)
            if not go.size or count == MOST_ITERATIONS:
                break
            at, frames = at[go], frames.some(go)
            y, pull, step, change, ahead, gradient = at_frames(go, y, pull, step, change, ahead, gradient)
        length, activation = _line_search(frames, exponent, y, pull, step, change, ahead, gradient)
        y = y + length * step
        pull = pull + length * change
    return found


def _agree(
    frames: _Frames, exponent: float, tangent: FloatArray, ahead: FloatArray, pull: FloatArray, y: FloatArray
) -> NDArray[np.bool_]:
    """Frames whose tangent closes the torque with the multiplier's activations.

    Where an activation is small against rounding of the pull, the powers are compared instead.
    """
    done: NDArray[np.bool_] = np.asarray((np.abs(tangent - ahead) <= AGREES).all(axis=0))
    at = np.flatnonzero(~done) if exponent > 2.0 else np.zeros(0, dtype=np.int64)
    if at.size:
        some, a, other, u, multiplier = frames.some(at), *at_frames(at, tangent, ahead, pull, y)
        marginal = exponent * a ** (exponent - 1.0)
        noise = NOISE * pulls(np.abs(some.reach), np.abs(multiplier))
        near = (np.abs(marginal - np.maximum(u, 0.0)) <= noise) | (np.abs(a - other) <= AGREES)
        done[at] = near.all(axis=0)
    at = np.flatnonzero(done)
    if at.size:
        some, a, multiplier = frames.some(at), *at_frames(at, tangent, y)
        rest = some.torque - torques(some.reach, a) - some.weight * multiplier
        done[at] = (np.abs(rest) <= CLOSURE * (1.0 + np.abs(some.torque))).all(axis=0)
    return done


def response(pull: FloatArray, low: FloatArray, high: FloatArray, exponent: float) -> FloatArray:
    """Activations of least cost a^p for pulls, shape (n_muscles, n_frames)."""
    if exponent == 2.0:
        return clipped(pull / 2.0, low, high)  # bounds may be negative
    part = np.maximum(pull, 0.0) / exponent
    with np.errstate(over="ignore", under="ignore"):  # far beyond the upper bound for p near 1
        root = np.sqrt(part) if exponent == 3.0 else part ** (1.0 / (exponent - 1.0))
    return clipped(root, low, high)


def _slope(frames: _Frames, exponent: float, pull: FloatArray, activation: FloatArray, steepest: float) -> FloatArray:
    """Change of the activations with the pull; 0 at a bound."""
    free = (activation > np.maximum(frames.low, IDLE)) & (activation < frames.high)
    slope = activation / ((exponent - 1.0) * np.maximum(pull, 1e-300))
    return np.asarray(np.where(free, np.minimum(slope, steepest), 0.0))


def _line_search(
    frames: _Frames,
    exponent: float,
    y: FloatArray,
    pull: FloatArray,
    step: FloatArray,
    change: FloatArray,
    ahead: FloatArray,
    gradient: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Step lengths by the dual's slope, and their activations.

    The slope has fallen to between half and minus a tenth.
    """
    rise = (step * (frames.torque - frames.weight * y)).sum(axis=0)
    bend = (frames.weight * step * step).sum(axis=0)
    first = (step * gradient).sum(axis=0)
    length = np.ones_like(first)
    last = rise - bend - (change * ahead).sum(axis=0)
    at = np.flatnonzero((last < -0.1 * first) | (last > 0.5 * first))
    if not at.size:
        return length, ahead
    some, (pull, change, rise, bend, first, p) = (frames.some(at), at_frames(at, pull, change, rise, bend, first, last))
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
        p = rise - bend * s - (change * activation).sum(axis=0)
    length[at] = s
    ahead = ahead.copy()
    ahead[:, at] = activation
    return length, ahead


def _newton(frames: _Frames, slope: FloatArray, gradient: FloatArray) -> FloatArray:
    """Newton step of frames; pivots are judged by their own joint's stiffness."""
    return newton_step(frames.reach, slope, gradient, frames.weight, singular=SINGULAR)
