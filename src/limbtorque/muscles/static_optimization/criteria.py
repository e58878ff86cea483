"""Solutions of each criterion with their optimality certificates.

Arrays have the frames on the last axis, as in `limbtorque.muscles.static_optimization.dual`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.dual import (
    Frames,
    climb,
    clipped,
    least_change,
    norm,
    pulls,
    response,
    share_power,
    torque_capacity,
    torques,
)
from limbtorque.muscles.static_optimization.reachable import (
    Nearest,
    activation_range,
    least_largest,
    least_level,
    mended,
    nearest,
)

OK = 0  #: the muscles alone can make the torque
RESERVE = 1  #: the muscles cannot reach the torque: a reserve torque adds the rest, or there are no forces
INVALID = 2  #: a torque, moment arm or strength of the frame is not a finite number
FAILED = 3  #: no solution passed its optimality certificate; no forces

OPTIMAL = 1e-9  # largest duality gap, as a part of the cost, that counts as optimal
OPTIMAL_LINEAR = 1e-6  # ... with p = 1
CLOSES = 1e-11  # largest residual, as a part of the capacity of all muscles, that counts as closed
SMALL = 0.01  # activations below this part of the largest possible are scaled by their own size ...
SMALLEST = 1e-200  # ... down to this
LINEAR = (1e-2, 1e-4, 1e-6)  # weights of the squares in the cost that lead to the solution for p = 1 ...
PRICED_LINEAR = (*LINEAR, 1e-8)  # ... with a priced reserve
BASIC = 1e-9  # largest gain at which a muscle is as good as any other
NO_CHOICE = 1e-9  # least and greatest activation that differ by less are the same


@dataclass(frozen=True)
class Criterion:
    """Cost of forces and reserves; `patient` adds slower methods for difficult frames."""

    exponent: float
    reserve: Literal["least", "priced", "none"]
    reserve_nm: float | FloatArray  # reserve torque that costs 1, where it has a price
    patient: bool = False


@dataclass(frozen=True, eq=False)
class Block(Frames):
    """Valid frames, with the inverse torque capacity at each joint."""

    scale: FloatArray

    def without(self, held: BoolArray, share: FloatArray) -> Block:
        """Frames without the held muscles and their torque."""
        left = self.torque - torques(self.reach, np.where(held, share, 0.0))
        return replace(self, reach=self.reach * ~held, torque=left)

    def crossed(self) -> tuple[Frames, BoolArray]:
        """Scaled frames of the joints with muscles, and these joints."""
        scaled, crossed = self.over(self.scale), np.asarray((self.reach != 0).any(axis=(1, 2)))
        return Frames(scaled.reach[crossed], scaled.torque[crossed], self.low, self.high), crossed


@dataclass(frozen=True, eq=False)
class Answer:
    """Solution of a block, frames last, before its optimality certificate."""

    share: FloatArray
    multiplier: FloatArray
    reserve: FloatArray
    iterations: NDArray[np.int64]


def solve_frames(frames: Frames, criterion: Criterion) -> dict[str, FloatArray]:
    """Solution and optimality certificate of valid frames (last axis), in parts."""
    power = criterion.exponent if math.isfinite(criterion.exponent) else 1.0
    capacity = torque_capacity(frames.reach)
    bare = capacity == 0  # joints without a muscle: their torque is all reserve
    scale = 1.0 / np.where(bare, 1.0, capacity)
    size = _sizes(frames, (np.abs(frames.torque) * scale * ~bare).max(axis=0, initial=0.0))
    if (size == 1.0).all():
        return _answer(Block(frames.reach, frames.torque, frames.low, frames.high, scale), bare, criterion)
    block = Block(frames.reach, frames.torque / size, frames.low / size, frames.high / size, scale)
    answer = _answer(block, bare, replace(criterion, reserve_nm=criterion.reserve_nm * size ** (power / 2.0 - 1.0)))
    for name in ("activation", "reserve_nm", "residual_nm", "shortfall_nm"):
        answer[name] *= size
    answer["cost"] *= size**power
    answer["multiplier"] *= size ** (power - 1.0)
    return answer


def _sizes(frames: Frames, part: FloatArray) -> FloatArray:
    """Scale of the activations, a power of two; 1 unless torques are small.

    `part` is the torque over the capacity. Where it is small, a first solution decides. Activations and bounds below zero
    count by their size.
    """
    low, high = frames.low, frames.high
    size = np.broadcast_to(np.maximum(high, -low).max(axis=0, initial=0.0), part.shape).copy()
    at = np.flatnonzero((part > 0) & (part < SMALL * size))
    if at.size:
        few = np.abs(nearest(frames.at(at)).activation).max(axis=0, initial=0.0)
        size[at] = np.where(few < SMALL * size[at], few, size[at])
    size = np.maximum(size, np.maximum(low, -high).max(axis=0, initial=0.0))
    return np.asarray(np.exp2(np.floor(np.log2(np.where(size > 0, np.maximum(size, SMALLEST), 1.0)))))


def _answer(frames: Block, bare: BoolArray, criterion: Criterion) -> dict[str, FloatArray]:
    """Solution and optimality certificate; reserve at joints without muscles."""
    torque = frames.torque
    if bare.any():
        frames = replace(frames, torque=np.where(bare, 0.0, torque))
    first = nearest(frames)
    if criterion.reserve == "priced":
        found = priced(frames, first, criterion)
        cost, gap = certify(frames, found, criterion)
    else:
        found, cost, gap = among_muscles(replace(frames, torque=frames.torque - first.reserve), first, criterion)
    missing = np.where(bare, torque, first.reserve)
    distance = norm(missing)
    status = np.where(distance > 0, RESERVE, OK)
    reserve = np.where(bare, torque, found.reserve)
    proof = missing / np.where(distance > 0, distance, 1.0)
    rest = torque - torques(frames.reach, found.share) - reserve
    open_torque = (np.abs(rest) > CLOSES * (1.0 / frames.scale + np.abs(torque))).any(axis=0)
    largest_gap = OPTIMAL_LINEAR if criterion.exponent == 1.0 else OPTIMAL
    status[first.failed | open_torque | ~(np.abs(gap) <= largest_gap)] = FAILED
    if (status == RESERVE).any():
        along = pulls(frames.reach, proof)
        excess = (proof * torque).sum(axis=0) - np.maximum(along * frames.low, along * frames.high).sum(axis=0)
        status[(status == RESERVE) & ~(excess > 0.5 * distance)] = FAILED
    answer = {
        "activation": found.share,
        "reserve_nm": reserve,
        "residual_nm": np.abs(rest).max(axis=0, initial=0.0),
        "cost": cost,
        "duality_gap": gap,
        "multiplier": found.multiplier,
    }
    proofs = {"certificate": proof, "shortfall_nm": distance}
    lacks = status == FAILED if criterion.reserve != "none" else status != OK
    for values in answer.values():
        values[..., lacks] = np.nan
    for values in proofs.values():
        values[..., status == FAILED] = np.nan
    return {**answer, **proofs, "status": status.astype(np.int8), "iterations": found.iterations}


def among_muscles(frames: Block, first: Nearest, criterion: Criterion) -> tuple[Answer, FloatArray, FloatArray]:
    """Solve reachable torques with the muscles not held at a bound, and certify.

    At the limit of the reachable torques more muscles are fixed, and multipliers diverge: with `patient`, muscles with
    equal least and greatest activation are also held.
    """
    held, start = first.bound, first.activation
    if criterion.patient:
        least, greatest = activation_range(frames.crossed()[0])
        stuck = ~held & (greatest - least <= NO_CHOICE)
        held, start = held | stuck, np.where(stuck, (least + greatest) / 2.0, start)
    left = frames.without(held, start) if held.any() else frames
    found = Answer(start, first.multiplier * 2.0, first.reserve, first.iterations)  # of b^2, not b^2 / 2
    if criterion.exponent != 2.0:
        found = _other_criterion(left, found, held, criterion)
    elif criterion.patient:
        again = nearest(left)
        found = replace(found, share=np.where(held, start, again.activation), multiplier=again.multiplier * 2.0)
    return found, *certify(left, found, criterion, held=held)


def _other_criterion(frames: Block, start: Answer, held: BoolArray, criterion: Criterion) -> Answer:
    """Solve for the free muscles with an exponent other than 2, starting from `start`."""
    scaled = frames.over(frames.scale)
    own = np.where(held, 0.0, start.share)
    if math.isinf(criterion.exponent):
        y, iterations = np.zeros_like(scaled.torque), np.zeros_like(start.iterations)
        among, crossed = frames.crossed()
        share, y[crossed] = least_largest(among)
    elif criterion.exponent == 1.0:
        solve = _linear_one_by_one if criterion.patient else _linear
        share, y, iterations = solve(scaled, own)
    else:
        solved = share_power(scaled, exponent=criterion.exponent, start=own, patient=criterion.patient)
        share, y, iterations = solved.activation, solved.multiplier, solved.iterations
        if (failed := np.flatnonzero(solved.failed)).size:  # the optimality certificate shows if they are near enough
            share[:, failed] = mended(scaled.at(failed), share[:, failed])
    return Answer(np.where(held, start.share, share), y * frames.scale, start.reserve, start.iterations + iterations)


def _linear(
    frames: Frames, start: FloatArray, weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Least sum of activations; ties broken by a small quadratic term in the cost.

    Where that term is small enough the solution is exact (Mangasarian and Meyer 1979, SIAM J Control Optim 17:745-752).
    """
    size = start.max(axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    reach, low, high, torque = frames.reach, frames.low / size, frames.high / size, frames.torque / size
    spread = None if weight is None else weight / size
    y, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    for part in LINEAR if weight is None else PRICED_LINEAR:
        root = math.sqrt(part)
        solved = climb(
            Frames(reach / root, torque, root * low, root * high),
            offset=np.full_like(start, 1.0 / root),
            start=y,
            weight=spread,
            closure=1e-9,
        )
        y, iterations = solved.multiplier, iterations + solved.iterations
    pull = pulls(reach / root, y) - 1.0 / root
    share = clipped(clipped(pull, root * low, root * high) / root, low, high)
    if weight is None:  # rounding of the multiplier, divided by the small weight, leaves a little torque
        share = mended(Frames(reach, torque, low, high), share)
    y = y + least_change(reach, 1.0 - pulls(reach, y), (pull > root * low) & (pull < root * high))
    return share * size, y, iterations


def _linear_one_by_one(frames: Frames, start: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Least sum of activations by linear programming, frame by frame.

    SciPy solves it; ties are broken by the least squares.
    """
    from scipy.optimize import linprog  # a slow import that few trials need

    reach, torque = frames.reach, frames.torque
    low, high = (np.broadcast_to(v, start.shape) for v in (frames.low, frames.high))
    y, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    rows = (reach != 0).any(axis=(1, 2))
    for f in range(torque.shape[1]):
        bounds = np.stack([low[:, f], high[:, f]], axis=1)
        answer = linprog(np.ones(len(start)), A_eq=reach[rows, :, f], b_eq=torque[rows, f], bounds=bounds)
        if answer.status == 0:
            y[rows, f], iterations[f] = answer.eqlin.marginals, answer.nit
    gain = pulls(reach, y) - 1.0
    low, high = np.where(gain > BASIC, high, low), np.where(gain < -BASIC, low, high)
    return nearest(Frames(reach, torque, low, high)).activation, y, iterations


def priced(frames: Block, first: Nearest, criterion: Criterion) -> Answer:
    """Solve for muscles and reserves that cost (reserve / price)^2."""
    scaled = frames.over(frames.scale)
    weight = (frames.scale * criterion.reserve_nm) ** 2
    solved = climb(scaled, weight=weight)  # of b^2 / 2 and (reserve / price)^2 / 2
    share = clipped(pulls(scaled.reach, solved.multiplier), frames.low, frames.high)
    y, iterations = 2.0 * solved.multiplier, solved.iterations
    if criterion.exponent == 1.0:
        share, y, more = _linear(scaled, share, weight / 2.0)
        iterations = iterations + more
    elif criterion.exponent != 2.0:
        power = share_power(
            scaled,
            exponent=criterion.exponent,
            start=share,
            weight=weight / 2.0,
            patient=criterion.patient,
        )
        share, y, iterations = power.activation, power.multiplier, iterations + power.iterations
    reserve = frames.torque - torques(frames.reach, share)
    return Answer(share, y * frames.scale, reserve, first.iterations + iterations)


def certify(
    frames: Block, found: Answer, criterion: Criterion, *, held: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Cost of all muscles, and the relative duality gap of those not held.

    The gap refers to the torque produced; the rest of the required torque is the residual.
    """
    b, y, p = found.share, found.multiplier, criterion.exponent
    free = np.ones(b.shape) if held is None else ~held
    if math.isinf(p):
        cost, own = b.max(axis=0, initial=0.0), (b * free).max(axis=0, initial=0.0)
        low = (np.broadcast_to(frames.low, b.shape) * free).max(axis=0, initial=0.0)
        required = (y * frames.torque).sum(axis=0)
        bound = np.maximum(least_level(pulls(frames.reach, y), required, frames.low, frames.high), low)
        return cost, (own - bound) / np.where(own > 0, own, 1.0)
    each = _powers(b, p)
    reserves = np.zeros(len(y.T))
    if criterion.reserve == "priced":
        reserves = ((found.reserve / criterion.reserve_nm) ** 2).sum(axis=0)
    cost, own = each.sum(axis=0) + reserves, (each * free).sum(axis=0) + reserves
    high = frames.high
    if p == 1.0:  # no muscle of the optimum costs more than this whole solution; the bound limits rounding
        high = np.maximum(np.minimum(high, 2.0 * own), frames.low)
    pull = pulls(frames.reach, y)
    best = np.where(pull > 1.0, high, frames.low) if p == 1.0 else response(pull, frames.low, high, p)
    made = torques(frames.reach, b) + (found.reserve if criterion.reserve == "priced" else 0.0)
    bound = (y * made).sum(axis=0) - ((pull * best - _powers(best, p)) * free).sum(axis=0)
    if criterion.reserve == "priced":
        bound = bound - ((y * criterion.reserve_nm) ** 2).sum(axis=0) / 4.0
    return cost, (own - bound) / np.where(own > 0, own, 1.0)


def _powers(share: FloatArray, exponent: float) -> FloatArray:
    if exponent == 2.0:
        return share * share
    return share * share * share if exponent == 3.0 else share**exponent
