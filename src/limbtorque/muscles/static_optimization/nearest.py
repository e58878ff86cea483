"""Least-squares activations for a torque, or for the nearest reachable torque.

For an unreachable torque the shortest reserve comes from a proximal method, whose multipliers drift from step to step
[1]_; where that does not converge, from projection on the facets of the reachable torques; and for the few remaining
frames, one by one, from bounded least squares. Each gives a candidate, which is then refined and checked in the same way:
a muscle that pulls along the reserve is at its bound, and the reserve is perpendicular to all others. So the reserve is
its own proof: no activations make as much torque in its direction as required.

Arrays have the frames on the last axis, as in `limbtorque.muscles.static_optimization.dual`.

References
----------
.. [1] Rockafellar R.T. (1976) Augmented Lagrangians and applications of the proximal point algorithm in convex
   programming. Math Oper Res 1:97-116.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.dual import (
    Counts,
    at_frames,
    climb,
    clipped,
    norm,
    pulls,
    torque_capacity,
    torques,
)
from limbtorque.muscles.static_optimization.reachable import projected

TOUCH = 1e-3  # largest change of an activation by `mended`
REACH = 1e-11  # a reserve below this part of the capacity of all muscles is rounding, not weakness
PROXIMAL = (1e-7, 1e-5, 1e-9)  # weights of the proximal term, against B scaled to 1, in the order tried
PROXIMAL_STEPS = 12
PARALLEL = 1e-9  # sine of the angle below which muscles count as parallel
SETTLED = 1e-14  # change of the reserve at which the proximal steps end
ALONG = 2e-8  # largest torque along the reserve, as a part of its own, of a muscle across it


@dataclass(frozen=True, eq=False)
class Nearest:
    """Activations that make the torque, or the nearest reachable one.

    Attributes
    ----------
    activation : ndarray of shape (n_muscles, n_frames)
        Within the bounds.
    multiplier, reserve : ndarray of shape (n_joints, n_frames)
        Dual variable, and residual torque.
    bound : ndarray of bool of shape (n_muscles, n_frames)
        Muscles that a reserve holds at a bound, where they bring the torque nearest.
    failed : ndarray of bool of shape (n_frames,)
        Frames without a solution.
    iterations : ndarray of int of shape (n_frames,)
        Newton steps.
    """

    activation: FloatArray
    multiplier: FloatArray
    reserve: FloatArray
    bound: BoolArray
    failed: BoolArray
    iterations: Counts


def nearest(reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray) -> Nearest:
    """Make the torque, or the nearest reachable one, with the least sum of squares.

    Parameters
    ----------
    reach : ndarray of shape (n_joints, n_muscles, n_frames)
        Torque of each fully active muscle.
    torque : ndarray of shape (n_joints, n_frames)
        Wanted.
    low, high : ndarray of shape (n_muscles, n_frames) or (n_muscles, 1)
        Bounds of the activations.

    Returns
    -------
    Nearest
        First by the muscles alone, every joint scaled by its own capacity; the frames that do not close are solved again
        with a reserve.
    """
    capacity = torque_capacity(reach)
    scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
    scaled = reach * scale[:, None]
    solved = climb(scaled, torque * scale, low, high)
    activation = clipped(pulls(scaled, solved.multiplier), low, high)
    found = Nearest(
        activation,
        solved.multiplier * scale,
        np.zeros_like(torque),
        np.zeros(activation.shape, dtype=bool),
        np.zeros(torque.shape[1], dtype=bool),
        solved.iterations,
    )
    rest = np.abs(torque - torques(reach, activation)) * scale
    short = np.flatnonzero(~solved.closed | (rest > REACH).any(axis=0))
    if short.size:
        some_reach, some_torque, some_low, some_high, some_capacity = at_frames(
            short, reach, torque, low, high, capacity
        )
        most = some_capacity.max(axis=0, initial=0.0)
        even = 1.0 / np.where(most > 0, most, 1.0)
        again = _with_reserve(some_reach * even, some_torque * even, some_low, some_high)
        _put(found, short, again)
        found.multiplier[:, short] *= even
        found.reserve[:, short] /= even
    return found


def mended(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, activation: FloatArray
) -> FloatArray:
    """Smallest change of activations after which their torque closes.

    Parameters
    ----------
    reach, torque, low, high
        As for `nearest`, with activations of the order of 1.
    activation : ndarray of shape (n_muscles, n_frames)
        Within the bounds; their torque nearly closes.

    Returns
    -------
    ndarray of shape (n_muscles, n_frames)
    """
    below, above = np.maximum(low - activation, -TOUCH), np.minimum(high - activation, TOUCH)
    change = nearest(reach, torque - torques(reach, activation), below, above)
    return clipped(activation + change.activation, low, high)


def _put(found: Nearest, at: Counts, again: Nearest) -> None:
    """Replace frames by those that were solved again."""
    for name in ("activation", "multiplier", "reserve", "bound", "failed"):
        getattr(found, name)[..., at] = getattr(again, name)
    found.iterations[at] += again.iterations


Candidate = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray, Counts]]


def _with_reserve(reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray) -> Nearest:
    """Solve frames with possibly unreachable torques by every method in turn."""
    first, *others = (_by_proximal_steps(weight) for weight in PROXIMAL)
    ways: list[Candidate] = [first, _by_facets, *others, _one_by_one]
    found = _settled(reach, torque, low, high, *ways[0](reach, torque, low, high))
    for way in ways[1:]:
        at = np.flatnonzero(found.failed)
        if at.size:
            some_reach, some_torque, some_low, some_high = at_frames(at, reach, torque, low, high)
            candidate = way(some_reach, some_torque, some_low, some_high)
            _put(found, at, _settled(some_reach, some_torque, some_low, some_high, *candidate))
    return found


def _by_facets(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, Counts]:
    """Reserve by projection on the facets; NaN where the search failed."""
    return projected(reach, torque, low, high), np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)


def _by_proximal_steps(proximal: float) -> Candidate:
    """Reserve and multiplier by proximal steps with this weight."""

    def candidate(
        reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray, Counts]:
        weight = proximal * np.maximum(1.0, norm(torque))
        return _proximal(reach, torque, low, high, weight, np.zeros_like(torque))

    return candidate


def _one_by_one(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, Counts]:
    """Reserve by SciPy's bounded least squares, frame by frame."""
    from scipy.optimize import lsq_linear  # a slow import that few trials need

    low, high = (np.broadcast_to(v, reach.shape[1:]) for v in (low, high))
    reserve, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    for f in range(torque.shape[1]):
        free = high[:, f] > low[:, f]
        base = torque[:, f] - reach[:, ~free, f] @ low[~free, f]
        answer = lsq_linear(reach[:, free, f], base, (low[free, f], high[free, f]), method="bvls", tol=1e-15)
        reserve[:, f], iterations[f] = base - reach[:, free, f] @ answer.x, answer.nit
    return reserve, np.zeros_like(torque), iterations


def _settled(
    reach: FloatArray,
    torque: FloatArray,
    low: FloatArray,
    high: FloatArray,
    reserve: FloatArray,
    y: FloatArray,
    iterations: Counts,
) -> Nearest:
    """Refine a candidate for the shortest reserve, and check it.

    Muscles with a torque along the reserve are at their bound; the others (the face of the reachable set with the nearest
    torque) make the rest, which they can reach. A frame fails if its reserve is not the shortest, which is perpendicular
    to every muscle of the face.
    """
    unknown = np.isnan(reserve).any(axis=0)
    reserve = np.where(unknown, 0.0, reserve)
    size, length = norm(reserve), norm(reach)
    along = pulls(reach, reserve)
    across = (size <= REACH) | (np.abs(along) <= (ALONG * size + 1e-13) * length)
    held = np.where(across, 0.0, np.where(along > 0, high, low))
    face = reach * across
    left = torque - torques(reach, held)
    reserve = np.where(size > REACH, _outside(face, left), 0.0)
    drift = (y * reserve).sum(axis=0) / np.maximum((reserve * reserve).sum(axis=0), 1e-30)
    row = np.abs(face).sum(axis=1)
    joint = 1.0 / np.where(row > 0, row, 1.0)
    start = (y - drift * reserve) / joint
    weight = PROXIMAL[0] * np.maximum(1.0, norm(torque))
    _, multiplier, more = _proximal(face * joint[:, None], (left - reserve) * joint, low, high, weight, start)
    multiplier *= joint
    activation = np.where(across, clipped(pulls(face, multiplier), low, high), held)
    slack = REACH * (1.0 + norm(torque))
    reserve = np.where(norm(reserve) > slack, reserve, 0.0)
    rest = torque - torques(reach, activation) - reserve
    along = pulls(reach, reserve)
    wrong = np.where(across, np.abs(along) > slack * length, np.where(along > 0, high, low) != held).any(axis=0)
    failed = wrong | (norm(rest) > slack) | unknown
    return Nearest(activation, multiplier, reserve, ~across, np.asarray(failed), iterations + more)


def _proximal(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, weight: FloatArray, centre: FloatArray
) -> tuple[FloatArray, FloatArray, Counts]:
    """Shortest reserve and multiplier by proximal steps.

    Each solves B a(y) + weight (y - centre) = torque, then sets centre = y.

    The reserve is weight (y - centre); where the torque is reachable it converges to zero, and y to the multiplier.
    """
    y, reserve = centre.copy(), np.zeros_like(centre)
    iterations = np.zeros(torque.shape[1], dtype=np.int64)
    at = np.arange(torque.shape[1])
    for _ in range(PROXIMAL_STEPS):
        some_reach, some_torque, some_low, some_high, w = at_frames(at, reach, torque, low, high, weight)
        start, about = y[:, at] + reserve[:, at] / w, y[:, at]
        solved = climb(some_reach, some_torque, some_low, some_high, start=start, weight=w[None], centre=about)
        before, reserve[:, at] = reserve[:, at], w * (solved.multiplier - y[:, at])
        y[:, at] = solved.multiplier
        iterations[at] += solved.iterations
        at = at[(np.abs(reserve[:, at] - before) > SETTLED * (1.0 + np.abs(before))).any(axis=0)]
        if not at.size:
            break
    return reserve, y, iterations


def _outside(face: FloatArray, torque: FloatArray) -> FloatArray:
    """Part of the torque outside the span of the face's muscles.

    Gram-Schmidt with the largest remaining column first, so that weak muscles and joints count like strong ones.
    """
    length = norm(face)
    column = face / np.where(length > 0, length, 1.0)
    frames = np.arange(torque.shape[1])
    rest = torque
    for _ in range(len(face)):
        left = norm(column)
        largest = left.argmax(axis=0)
        size = left[largest, frames]
        unit = np.where(size > PARALLEL, column[:, largest, frames] / np.where(size > 0, size, 1.0), 0.0)
        column = column - unit[:, None] * pulls(column, unit)
        rest = rest - unit * (unit * rest).sum(axis=0)
    return rest
