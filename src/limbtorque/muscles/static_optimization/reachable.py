"""Reachable torques, the nearest reachable torque, smallest peak activation.

With activations between bounds, the torques B a fill a zonotope: a convex body with facets spanned by n_joints - 1 of the
muscles' directions. A torque is reachable where it is on the inner side of every facet, that is
c . torque <= sum_i max(c . B_i low_i, c . B_i high_i) for every facet's normal c. The slack of these inequalities gives in
closed form the least and greatest activation of each muscle at the same torque (two linear programmes for each muscle),
and the least activation of the most active muscle.

Muscles of one joint all have that joint's direction, so that the directions to be combined are those of the joints and
of the muscles that cross several. The joints' directions without a muscle add valid inequalities, and complete the list
for flat bodies.

For an unreachable torque the shortest reserve comes from a proximal method [1]_, or, for the few
frames where that does not converge, from bounded least squares, one frame at a time. Each gives a candidate, which is
then refined and checked in the same way: a muscle that pulls along the reserve is at its bound, and the reserve is
perpendicular to all others. So the reserve proves itself: no activations produce the required torque in its direction.

Arrays have the frames on the last axis, as in `limbtorque.muscles.static_optimization.dual`.

References
----------
Ziegler G.M. (1995) Lectures on Polytopes, section 7.3 (zonotopes); Rasmussen J., Damsgaard M., Voigt M. (2001) Muscle
recruitment by the min/max criterion. J Biomech 34:409-415.

.. [1] Rockafellar R.T. (1976) Augmented Lagrangians and applications of the proximal point algorithm in convex
   programming. Math Oper Res 1:97-116.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.dual import (
    Counts,
    Frames,
    at_frames,
    climb,
    clipped,
    norm,
    pulls,
    top,
    torque_capacity,
    torques,
)

SPAN = 1e-6  # sine below which directions count as parallel: they span no facet
ACROSS = 1e-9  # largest torque along a normal, as a part of its own, of a muscle in the facet
TOUCH = 1e-3  # largest change of an activation by `mended`
REACH = 1e-11  # a reserve below this part of the capacity of all muscles is rounding, not weakness
PROXIMAL = 1e-7  # weight of the proximal term, against B scaled to 1
PROXIMAL_STEPS = 12
PARALLEL = 1e-9  # sine of the angle below which muscles count as parallel
SETTLED = 1e-14  # change of the reserve at which the proximal steps end
ALONG = 2e-8  # largest torque along the reserve, as a part of its own, of a muscle across it


def activation_range(frames: Frames) -> tuple[FloatArray, FloatArray]:
    """Least and greatest activation of every muscle at the same joint torque.

    Parameters
    ----------
    frames : Frames
        Torques within reach.

    Returns
    -------
    least, greatest : ndarray of shape (n_muscles, n_frames)
    """
    reach, torque, low, high = frames.reach, frames.torque, frames.low, frames.high
    middle, half = (high + low) / 2.0, (high - low) / 2.0
    below, above = np.full(reach.shape[1:], np.inf), np.full(reach.shape[1:], np.inf)  # room from high and from low
    rounding, crossing = _rounding(reach), (reach != 0).any(axis=2)
    for normal in _normals(reach):
        rows = np.flatnonzero(crossing[(normal != 0).any(axis=1)].any(axis=0))
        along = _along(reach[:, rows], normal, rounding[rows])
        size = np.abs(along)
        width = (size * half[rows]).sum(axis=0)
        beyond = np.clip((along * middle[rows]).sum(axis=0) - (normal * torque).sum(axis=0), -width, width)
        facet = along == 0  # no effect along the normal: any activation
        along[facet] = 1.0
        part, size = beyond / along, np.abs(along, out=size)
        size = np.divide(width, size, out=size)
        size[facet] = np.inf
        below[rows] = np.minimum(below[rows], size + part)
        above[rows] = np.minimum(above[rows], size - part)
    least, greatest = np.maximum(low, high - below), np.minimum(high, low + above)
    return np.minimum(least, greatest), greatest


def least_largest(frames: Frames) -> tuple[FloatArray, FloatArray]:
    """Activations with the smallest maximum, then the smallest next value, and so on.

    Parameters
    ----------
    frames : Frames
        Torques within reach.

    Returns
    -------
    activation : ndarray of shape (n_muscles, n_frames)
        The limit of the least sum of p-th powers for p without end.
    normal : ndarray of shape (n_joints, n_frames)
        The direction in which the torque requires the largest of them.

    Notes
    -----
    The facet of the largest requirement sets every muscle that pulls along its normal or against it; the others lie in
    the facet and make the rest in the same way, in one dimension less.
    """
    reach, torque, shape = frames.reach, frames.torque, frames.reach.shape[1:]
    low, high = (np.broadcast_to(v, shape) for v in (frames.low, frames.high))
    activation, free, first_normal = low.copy(), np.ones(shape, dtype=bool), np.zeros_like(torque)
    for step in range(len(reach)):
        left = torque - torques(reach, np.where(free, 0.0, activation))
        largest, normal = _most_demanding(Frames(reach * free, left, low, high))
        first_normal = normal if step == 0 else first_normal
        along = _along(reach, normal, _rounding(reach)) * free
        activation = np.where(along > 0, clipped(np.broadcast_to(largest, shape), low, high), activation)
        free &= along == 0
    return activation, first_normal


def _most_demanding(frames: Frames) -> tuple[FloatArray, FloatArray]:
    """Largest activation that the torque requires, and the facet's normal."""
    reach, torque = frames.reach, frames.torque
    largest, best, rounding = np.zeros(torque.shape[1]), np.zeros_like(torque), _rounding(reach)
    for normal in (way for each in _normals(reach) for way in (each, -each)):  # facets occur in opposite pairs
        level = least_level(_along(reach, normal, rounding), (normal * torque).sum(axis=0), frames.low, frames.high)
        more = level > largest
        largest, best = np.where(more, level, largest), np.where(more, normal, best)
    return largest, best


def least_level(along: FloatArray, required: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Least level of activation along a normal that produces a torque.

    Those along it are at clip(level, low, high), those against it at low.
    """
    rise = required - (np.minimum(along, 0.0) * low).sum(axis=0)
    first = rise - (np.maximum(along, 0.0) * low).sum(axis=0)
    level: FloatArray = np.zeros_like(rise)
    at = np.flatnonzero((first > ACROSS * np.abs(required)) & (along > 0).any(axis=0))
    if at.size:
        some, low, high, rise, first = at_frames(at, np.maximum(along, 0.0), low, high, rise, first)
        stretch = np.sqrt(some)
        level[at] = top(np.zeros_like(some), stretch, stretch * low, stretch * high, first, rise, np.zeros_like(rise))
    return level


def _rounding(reach: FloatArray) -> FloatArray:
    """Rounding error of every muscle's torque along a normal, (n_muscles, n_frames)."""
    return ACROSS * norm(reach)


def _along(reach: FloatArray, normal: FloatArray, rounding: FloatArray) -> FloatArray:
    """Torque of every muscle along a unit normal; zero if only rounding."""
    along = pulls(reach, normal)
    along[np.abs(along) <= rounding] = 0.0
    return along


def _normals(reach: FloatArray) -> Iterator[FloatArray]:
    """Unit normals of all facets, (n_joints, n_frames); zero without a facet."""
    n_joints, _, n_frames = reach.shape
    if n_joints == 0:
        return
    several = (reach != 0).sum(axis=0).max(axis=1, initial=0) > 1
    directions = [np.repeat(row[:, None], n_frames, axis=1) for row in np.eye(n_joints)]
    length = norm(reach)
    directions += [reach[:, i] / np.where(length[i] > 0, length[i], 1.0) for i in np.flatnonzero(several)]
    alone: set[int] = set()
    for chosen in itertools.combinations(directions, n_joints - 1):
        normal: FloatArray = _across(chosen, n_joints, n_frames)
        joints = np.flatnonzero((normal != 0).any(axis=1)).tolist()
        if not joints or (len(joints) == 1 and joints[0] in alone):  # joints that no muscle connects
            continue
        alone |= set(joints) if len(joints) == 1 else set()
        size = norm(normal)
        yield np.where(size > SPAN, normal / np.where(size > 0, size, 1.0), 0.0)


def _across(chosen: tuple[FloatArray, ...], n_joints: int, n_frames: int) -> FloatArray:
    """Vector perpendicular to n_joints - 1 others, from their cofactors."""
    if n_joints == 1:
        return np.ones((1, n_frames))
    if n_joints == 2:
        return np.stack([-chosen[0][1], chosen[0][0]])
    if n_joints == 3:
        return np.asarray(np.cross(chosen[0], chosen[1], axis=0))
    matrix = np.moveaxis(np.stack(chosen), 2, 0)  # (n_frames, n_joints - 1, n_joints)
    minors = [np.linalg.det(np.delete(matrix, j, axis=2)) * (-1.0) ** j for j in range(n_joints)]
    return np.asarray(np.stack(minors))


@dataclass(frozen=True, eq=False)
class Nearest:
    """Activations for the torque, or for the nearest reachable torque.

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


def nearest(frames: Frames) -> Nearest:
    """Find least-squares activations for the torque, or the nearest reachable torque.

    Parameters
    ----------
    frames : Frames
        Any torques.

    Returns
    -------
    Nearest
        First by the muscles alone, every joint scaled by its own capacity; the frames that do not close are solved again
        with a reserve.
    """
    capacity = torque_capacity(frames.reach)
    scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
    scaled = frames.over(scale)
    solved = climb(scaled)
    activation = clipped(pulls(scaled.reach, solved.multiplier), frames.low, frames.high)
    found = Nearest(
        activation,
        solved.multiplier * scale,
        np.zeros_like(frames.torque),
        np.zeros(activation.shape, dtype=bool),
        np.zeros(activation.shape[1], dtype=bool),
        solved.iterations,
    )
    rest = np.abs(frames.torque - torques(frames.reach, activation)) * scale
    short = np.flatnonzero(~solved.closed | (rest > REACH).any(axis=0))
    if short.size:
        most = capacity[:, short].max(axis=0, keepdims=True, initial=0.0)
        even = 1.0 / np.where(most > 0, most, 1.0)
        _put(found, short, _with_reserve(frames.at(short).over(even)))
        found.multiplier[:, short] *= even
        found.reserve[:, short] /= even
    return found


def mended(frames: Frames, activation: FloatArray) -> FloatArray:
    """Smallest change of activations with which the torque is met.

    Parameters
    ----------
    frames : Frames
        With activations of the order of 1.
    activation : ndarray of shape (n_muscles, n_frames)
        Within the bounds; their torque nearly closes.

    Returns
    -------
    ndarray of shape (n_muscles, n_frames)
    """
    below, above = np.maximum(frames.low - activation, -TOUCH), np.minimum(frames.high - activation, TOUCH)
    change = nearest(Frames(frames.reach, frames.torque - torques(frames.reach, activation), below, above))
    return clipped(activation + change.activation, frames.low, frames.high)


def _put(found: Nearest, at: Counts, again: Nearest) -> None:
    """Replace frames that were solved again."""
    for name in ("activation", "multiplier", "reserve", "bound", "failed"):
        getattr(found, name)[..., at] = getattr(again, name)
    found.iterations[at] += again.iterations


def _with_reserve(frames: Frames) -> Nearest:
    """Solve frames with unreachable torques by proximal steps, then one by one."""
    weight = PROXIMAL * np.maximum(1.0, norm(frames.torque))
    solved = _settled(frames, *_proximal(frames, weight, np.zeros_like(frames.torque)))
    failed = np.flatnonzero(solved.failed)
    if failed.size:
        hard = frames.at(failed)
        _put(solved, failed, _settled(hard, *_one_by_one(hard)))
    return solved


def _one_by_one(frames: Frames) -> tuple[FloatArray, FloatArray, Counts]:
    """Reserve by SciPy's bounded least squares, frame by frame."""
    from scipy.optimize import lsq_linear  # a slow import that few trials need

    reach, torque = frames.reach, frames.torque
    low, high = (np.broadcast_to(v, reach.shape[1:]) for v in (frames.low, frames.high))
    reserve, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    for f in range(torque.shape[1]):
        free = high[:, f] > low[:, f]
        base = torque[:, f] - reach[:, ~free, f] @ low[~free, f]
        answer = lsq_linear(reach[:, free, f], base, (low[free, f], high[free, f]), method="bvls", tol=1e-15)
        reserve[:, f], iterations[f] = base - reach[:, free, f] @ answer.x, answer.nit
    return reserve, np.zeros_like(torque), iterations


def _settled(frames: Frames, reserve: FloatArray, y: FloatArray, iterations: Counts) -> Nearest:
    """Refine a candidate for the shortest reserve, and check it.

    Muscles with a torque along the reserve are at their bound; the others (the face of the reachable set with the nearest
    torque) make the rest, which they can reach. A frame fails if its reserve is not the shortest, which is perpendicular
    to every muscle of the face.
    """
    reach, torque, low, high = frames.reach, frames.torque, frames.low, frames.high
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
    weight = PROXIMAL * np.maximum(1.0, norm(torque))
    _, multiplier, more = _proximal(Frames(face, left - reserve, low, high).over(joint), weight, start)
    multiplier *= joint
    activation = np.where(across, clipped(pulls(face, multiplier), low, high), held)
    slack = REACH * (1.0 + norm(torque))
    reserve = np.where(norm(reserve) > slack, reserve, 0.0)
    rest = torque - torques(reach, activation) - reserve
    along = pulls(reach, reserve)
    wrong = np.where(across, np.abs(along) > slack * length, np.where(along > 0, high, low) != held).any(axis=0)
    failed = wrong | (norm(rest) > slack)
    return Nearest(activation, multiplier, reserve, ~across, np.asarray(failed), iterations + more)


def _proximal(frames: Frames, weight: FloatArray, centre: FloatArray) -> tuple[FloatArray, FloatArray, Counts]:
    """Shortest reserve and multiplier by proximal steps.

    Each solves B a(y) + weight (y - centre) = torque, then sets centre = y.

    The reserve is weight (y - centre); where the torque is reachable it converges to zero, and y to the multiplier.
    """
    y, reserve = centre.copy(), np.zeros_like(centre)
    at = np.arange(y.shape[1])
    iterations = np.zeros_like(at)
    for _ in range(PROXIMAL_STEPS):
        w, about = weight[at], y[:, at]
        solved = climb(frames.at(at), start=about + reserve[:, at] / w, weight=w[None], centre=about)
        before, reserve[:, at] = reserve[:, at], w * (solved.multiplier - y[:, at])
        y[:, at] = solved.multiplier
        iterations[at] += solved.iterations
        at = at[(np.abs(reserve[:, at] - before) > SETTLED * (1.0 + np.abs(before))).any(axis=0)]
        if not at.size:
            break
    return reserve, y, iterations


def _outside(face: FloatArray, torque: FloatArray) -> FloatArray:
    """Component of the torque outside the span of the face's muscles.

    Gram-Schmidt with the largest remaining column first, so that weak muscles and joints have the same weight.
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
