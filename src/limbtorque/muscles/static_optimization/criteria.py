"""Solutions for powers, linear sum, min-max criterion and priced reserve."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.certificate import certify
from limbtorque.muscles.static_optimization.dual import climb, clipped, least_change, pulls, torques
from limbtorque.muscles.static_optimization.nearest import Nearest, mended, nearest
from limbtorque.muscles.static_optimization.power import share_power
from limbtorque.muscles.static_optimization.problem import Answer, Criterion, Frames
from limbtorque.muscles.static_optimization.reachable import activation_range, least_largest

LINEAR = (1e-2, 1e-4, 1e-6)  # weights of the squares in the cost that lead to the solution for p = 1 ...
PRICED_LINEAR = (*LINEAR, 1e-8)  # ... with a priced reserve
BASIC = 1e-9  # largest gain at which a muscle is as good as any other
NO_CHOICE = 1e-9  # least and greatest activation that differ by less are the same


def among_muscles(frames: Frames, first: Nearest, criterion: Criterion) -> tuple[Answer, FloatArray, FloatArray]:
    """Solve reachable torques with the muscles not held at a bound, and certify.

    At the limit of the reachable torques more muscles have no choice, and multipliers diverge: with `patient`, muscles of
    equal least and greatest share are held, too.
    """
    held, start = first.bound, first.activation
    if criterion.patient:
        crossed = (frames.reach != 0).any(axis=(1, 2))
        scaled, target = frames.scaled
        least, greatest = activation_range(scaled[crossed], target[crossed], frames.low, frames.high)
        stuck = ~held & (greatest - least <= NO_CHOICE)
        held, start = held | stuck, np.where(stuck, (least + greatest) / 2.0, start)
    left = frames.without(held, start) if held.any() else frames
    found = Answer(start, first.multiplier * 2.0, first.reserve, first.iterations)  # of b^2, not b^2 / 2
    if criterion.exponent != 2.0:
        found = _other_criterion(left, found, held, criterion)
    elif criterion.patient:
        again = nearest(left.reach, left.torque, left.low, left.high)
        found = replace(found, share=np.where(held, start, again.activation), multiplier=again.multiplier * 2.0)
    return found, *certify(left, found, criterion, held=held)


def _other_criterion(frames: Frames, start: Answer, held: BoolArray, criterion: Criterion) -> Answer:
    """Solve for the free muscles with an exponent other than 2 from `start`."""
    scaled, target = frames.scaled
    bounds = (frames.low, frames.high)
    own = np.where(held, 0.0, start.share)
    if math.isinf(criterion.exponent):
        free = (frames.reach != 0).any(axis=(1, 2))
        share, normal = least_largest(scaled[free], target[free], *bounds)
        y, iterations = np.zeros_like(target), np.zeros_like(start.iterations)
        y[free] = normal
    elif criterion.exponent == 1.0:
        solve = _linear_one_by_one if criterion.patient else _linear
        share, y, iterations = solve(scaled, target, *bounds, own)
    else:
        solved = share_power(scaled, target, *bounds, exponent=criterion.exponent, start=own, patient=criterion.patient)
        share, y, iterations = solved.activation, solved.multiplier, solved.iterations
    return Answer(np.where(held, start.share, share), y * frames.scale, start.reserve, start.iterations + iterations)


def _linear(
    reach: FloatArray,
    torque: FloatArray,
    low: FloatArray,
    high: FloatArray,
    start: FloatArray,
    weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Least sum of activations; ties by least squares, a small term in the cost.

    Where that term is small enough the solution is exact (Mangasarian and Meyer 1979, SIAM J Control Optim 17:745-752).
    """
    size = start.max(axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    low, high, torque = low / size, high / size, torque / size
    spread = None if weight is None else weight / size
    y, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    for part in LINEAR if weight is None else PRICED_LINEAR:
        root = math.sqrt(part)
        solved = climb(
            reach / root,
            torque,
            root * low,
            root * high,
            offset=np.full_like(start, 1.0 / root),
            start=y,
            weight=spread,
            closure=1e-9,
        )
        y, iterations = solved.multiplier, iterations + solved.iterations
    pull = pulls(reach / root, y) - 1.0 / root
    share = clipped(clipped(pull, root * low, root * high) / root, low, high)
    if weight is None:  # rounding of the multiplier, divided by the small weight, leaves a little torque
        share = mended(reach, torque, low, high, share)
    y = y + least_change(reach, 1.0 - pulls(reach, y), (pull > root * low) & (pull < root * high))
    return share * size, y, iterations


def _linear_one_by_one(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Least sum of activations by linear programming, frame by frame.

    SciPy solves it; ties are broken by the least squares.
    """
    from scipy.optimize import linprog  # a slow import that few trials need

    low, high = (np.broadcast_to(v, start.shape).copy() for v in (low, high))
    y, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    rows = (reach != 0).any(axis=(1, 2))
    for f in range(torque.shape[1]):
        bounds = np.stack([low[:, f], high[:, f]], axis=1)
        answer = linprog(np.ones(len(start)), A_eq=reach[rows, :, f], b_eq=torque[rows, f], bounds=bounds)
        if answer.status == 0:
            y[rows, f], iterations[f] = answer.eqlin.marginals, answer.nit
    gain = pulls(reach, y) - 1.0
    low, high = np.where(gain > BASIC, high, low), np.where(gain < -BASIC, low, high)
    return nearest(reach, torque, low, high).activation, y, iterations


def priced(frames: Frames, first: Nearest, criterion: Criterion) -> Answer:
    """Solve for muscles and reserves that cost (reserve / price)^2."""
    scaled, target = frames.scaled
    bounds = (frames.low, frames.high)
    weight = (frames.scale * criterion.reserve_nm) ** 2
    solved = climb(scaled, target, *bounds, weight=weight)  # of b^2 / 2 and (reserve / price)^2 / 2
    share = clipped(pulls(scaled, solved.multiplier), *bounds)
    y, iterations = 2.0 * solved.multiplier, solved.iterations
    if criterion.exponent == 1.0:
        share, y, more = _linear(scaled, target, *bounds, share, weight / 2.0)
        iterations = iterations + more
    elif criterion.exponent != 2.0:
        power = share_power(
            scaled,
            target,
            *bounds,
            exponent=criterion.exponent,
            start=share,
            weight=weight / 2.0,
            patient=criterion.patient,
        )
        share, y, iterations = power.activation, power.multiplier, iterations + power.iterations
    reserve = frames.torque - torques(frames.reach, share)
    return Answer(share, y * frames.scale, reserve, first.iterations + iterations)
