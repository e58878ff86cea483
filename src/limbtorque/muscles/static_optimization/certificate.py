"""Cost of an answer, and its duality gap to a proven lower bound."""

from __future__ import annotations

import math

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.dual import clipped, pulls, torques
from limbtorque.muscles.static_optimization.power import response
from limbtorque.muscles.static_optimization.problem import Answer, Criterion, Frames


def certify(
    frames: Frames, found: Answer, criterion: Criterion, *, held: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Cost of all muscles, and the relative duality gap of those not held.

    The gap refers to the torque that they make; the rest of the required torque is the residual.
    """
    b, y, p = found.share, found.multiplier, criterion.exponent
    free = np.ones(b.shape) if held is None else ~held
    if math.isinf(p):
        cost, own = b.max(axis=0, initial=0.0), (b * free).max(axis=0, initial=0.0)
        low = (np.broadcast_to(frames.low, b.shape) * free).max(axis=0, initial=0.0)
        bound = np.maximum(_least_level(frames, y, own), low)
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
    best = _best_answer(pull, frames.low, high, p)
    made = torques(frames.reach, b) + (found.reserve if criterion.reserve == "priced" else 0.0)
    bound = (y * made).sum(axis=0) - ((pull * best - _powers(best, p)) * free).sum(axis=0)
    if criterion.reserve == "priced":
        bound = bound - ((y * criterion.reserve_nm) ** 2).sum(axis=0) / 4.0
    return cost, (own - bound) / np.where(own > 0, own, 1.0)


def _powers(share: FloatArray, exponent: float) -> FloatArray:
    if exponent == 2.0:
        return share * share
    return share * share * share if exponent == 3.0 else share**exponent


def _best_answer(pull: FloatArray, low: FloatArray, high: FloatArray, exponent: float) -> FloatArray:
    """Shares of greatest gain where a unit of share earns `pull`."""
    if exponent == 1.0:
        return np.where(pull > 1.0, high, low)
    return response(pull, low, high, exponent)


def _least_level(frames: Frames, normal: FloatArray, level: FloatArray) -> FloatArray:
    """Least bound on activations that allows the torque along a normal, by bisection.

    The search begins at a level that is enough.
    """
    along = pulls(frames.reach, normal)
    required = (normal * frames.torque).sum(axis=0)
    against = (np.minimum(along, 0.0) * frames.low).sum(axis=0)
    below, above = np.zeros(required.shape), level.copy()
    for _ in range(60):
        middle = (below + above) / 2.0
        share = clipped(np.broadcast_to(middle, along.shape), frames.low, frames.high)
        short = (np.maximum(along, 0.0) * share).sum(axis=0) + against < required
        below, above = np.where(short, middle, below), np.where(short, above, middle)
    return below
