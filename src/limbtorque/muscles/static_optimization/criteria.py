"""Solutions of each criterion with their optimality certificates.

Arrays have the frames on the last axis, as in `limbtorque.muscles.static_optimization.dual`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.dual import (
    Frames,
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
RESERVE = 1  #: the muscles cannot reach the torque: a reserve torque adds the rest
INVALID = 2  #: a torque, moment arm or strength of the frame is not a finite number
FAILED = 3  #: no solution passed its optimality certificate; no forces

OPTIMAL = 1e-9  # largest duality gap, as a part of the cost, that counts as optimal
CLOSES = 1e-11  # largest residual, as a part of the capacity of all muscles, that counts as closed
SMALL = 0.01  # activations below this part of the largest possible are scaled by their own size ...
SMALLEST = 1e-200  # ... down to this
NO_CHOICE = 1e-9  # least and greatest activation that differ by less are the same


@dataclass(frozen=True)
class Criterion:
    """Exponent of the cost; `patient` adds slower methods for hard frames."""

    exponent: float
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
    answer = _answer(block, bare, criterion)
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
    found, cost, gap = among_muscles(replace(frames, torque=frames.torque - first.reserve), first, criterion)
    missing = np.where(bare, torque, first.reserve)
    distance = norm(missing)
    status = np.where(distance > 0, RESERVE, OK)
    reserve = np.where(bare, torque, found.reserve)
    proof = missing / np.where(distance > 0, distance, 1.0)
    rest = torque - torques(frames.reach, found.share) - reserve
    open_torque = (np.abs(rest) > CLOSES * (1.0 / frames.scale + np.abs(torque))).any(axis=0)
    status[first.failed | open_torque | ~(np.abs(gap) <= OPTIMAL)] = FAILED
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
    answer |= {"certificate": proof, "shortfall_nm": distance}
    for values in answer.values():
        values[..., status == FAILED] = np.nan
    return {**answer, "status": status.astype(np.int8), "iterations": found.iterations}


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
    """Solve for the free muscles with exponent 3 or inf from `start`."""
    scaled = frames.over(frames.scale)
    own = np.where(held, 0.0, start.share)
    if math.isinf(criterion.exponent):
        y, iterations = np.zeros_like(scaled.torque), np.zeros_like(start.iterations)
        among, crossed = frames.crossed()
        share, y[crossed] = least_largest(among)
    else:
        solved = share_power(scaled, exponent=criterion.exponent, start=own, patient=criterion.patient)
        share, y, iterations = solved.activation, solved.multiplier, solved.iterations
        if (failed := np.flatnonzero(solved.failed)).size:  # the optimality certificate shows if they are near enough
            share[:, failed] = mended(scaled.at(failed), share[:, failed])
    return Answer(np.where(held, start.share, share), y * frames.scale, start.reserve, start.iterations + iterations)


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
    cost, own = each.sum(axis=0), (each * free).sum(axis=0)
    pull = pulls(frames.reach, y)
    best = response(pull, frames.low, frames.high, p)
    bound = (y * torques(frames.reach, b)).sum(axis=0) - ((pull * best - _powers(best, p)) * free).sum(axis=0)
    return cost, (own - bound) / np.where(own > 0, own, 1.0)


def _powers(share: FloatArray, exponent: float) -> FloatArray:
    """Cost of each activation, exponent 2 or 3."""
    return share * share if exponent == 2.0 else share * share * share
