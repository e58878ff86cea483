"""Torques that muscles can make together, and the least largest activation.

With activations between bounds, the torques B a fill a zonotope: a convex body with facets spanned by n_joints - 1 of the
muscles' directions. A torque is reachable where it is on the inner side of every facet, that is
c . torque <= sum_i max(c . B_i low_i, c . B_i high_i) for every facet's normal c. The slack of these inequalities gives in
closed form the least and greatest activation of each muscle at the same torque (two linear programmes for each muscle),
and the least activation of the most active muscle.

Muscles of one joint all have that joint's direction, so that the directions to be combined are those of the joints and
of the muscles that cross several. The joints' directions without a muscle add valid inequalities, and complete the list
for flat bodies.

Arrays have the frames on the last axis, as in `limbtorque.muscles.static_optimization.dual`.

References
----------
Ziegler G.M. (1995) Lectures on Polytopes, section 7.3 (zonotopes); Rasmussen J., Damsgaard M., Voigt M. (2001) Muscle
recruitment by the min/max criterion. J Biomech 34:409-415.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.static_optimization.dual import at_frames, clipped, norm, pulls, top, torques

SPAN = 1e-6  # sine below which directions count as parallel: they span no facet
INSIDE = 1e-12  # largest excess over a facet, as a part of the capacity of all muscles, of a reachable torque
ACROSS = 1e-9  # largest torque along a normal, as a part of its own, of a muscle in the facet


def activation_range(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest activation of every muscle at the same joint torque.

    Parameters
    ----------
    reach : ndarray of shape (n_joints, n_muscles, n_frames)
        Torque of each fully active muscle.
    torque : ndarray of shape (n_joints, n_frames)
        A torque within reach.
    low, high : ndarray of shape (n_muscles, n_frames) or (n_muscles, 1)
        Bounds of the activations.

    Returns
    -------
    least, greatest : ndarray of shape (n_muscles, n_frames)
    """
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


def largest_part(
    reach: FloatArray, torque: FloatArray, low: FloatArray, floor: FloatArray, high: FloatArray
) -> FloatArray:
    """Largest part, 0 to 1, of a rise of lower bounds that leaves a torque reachable.

    Parameters
    ----------
    reach, torque, low, high
        As for `activation_range`: the torque is within reach.
    floor : ndarray of shape (n_muscles, n_frames)
        Wanted lower bounds, from `low` to `high`.

    Returns
    -------
    ndarray of shape (n_frames,)
    """
    part, rounding = np.ones(torque.shape[1]), _rounding(reach)
    for normal in _both_ways(reach):
        along = _along(reach, normal, rounding)
        room = np.maximum(along * high, along * low).sum(axis=0) - (normal * torque).sum(axis=0)
        taken = (np.maximum(-along, 0.0) * (floor - low)).sum(axis=0)
        part = np.where(taken > room, np.minimum(part, np.maximum(room, 0.0) / np.where(taken > 0, taken, 1.0)), part)
    return part


def projected(reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Shortest reserve of possibly unreachable torques, projected on facets.

    Parameters
    ----------
    reach, torque, low, high
        As for `activation_range`, with any torque; B scaled so that all muscles together make about 1.

    Returns
    -------
    ndarray of shape (n_joints, n_frames)
        Torque minus the nearest reachable one; NaN where the search failed.

    Notes
    -----
    The facet of the largest excess of the torque is chosen, then that of its projection, and so on: as many as joints.
    Where all of them push inwards, the projection on their common part is the nearest point.
    """
    n_joints, n_frames = torque.shape
    reserve, found = np.zeros_like(torque), np.zeros(n_frames, dtype=bool)
    normals, levels = np.zeros((n_frames, 0, n_joints)), np.zeros((n_frames, 0))
    for _ in range(n_joints + 1):
        excess, normal, level = _outermost_facet(reach, torque - reserve, low, high)
        found = excess <= INSIDE * (1.0 + norm(torque))
        if found.all() or normals.shape[1] == n_joints:
            break
        normals = np.concatenate([normals, np.where(found, 0.0, normal).T[:, None]], axis=1)
        levels = np.concatenate([levels, np.where(found, 0.0, level)[:, None]], axis=1)
        over = np.einsum("fkj,jf->fk", normals, torque) - levels
        push = np.einsum("fkl,fl->fk", np.linalg.pinv(normals @ normals.transpose(0, 2, 1), hermitian=True), over)
        more = np.einsum("fk,fkj->jf", push, normals)
        reserve = np.where(found | (push < 0).any(axis=1), reserve, more)
    return np.where(found, reserve, np.nan)


def _outermost_facet(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Largest excess of torques over a facet, with its normal and level."""
    excess = np.full(torque.shape[1], -np.inf)
    best, level, rounding = np.zeros_like(torque), np.zeros(torque.shape[1]), _rounding(reach)
    for normal in _both_ways(reach):
        along = _along(reach, normal, rounding)
        most = np.maximum(along * high, along * low).sum(axis=0)
        over = (normal * torque).sum(axis=0) - most
        more = over > excess
        excess, level = np.where(more, over, excess), np.where(more, most, level)
        best = np.where(more, normal, best)
    return excess, best, level


def least_largest(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Activations with the least largest value, then the next largest, and so on.

    Parameters
    ----------
    reach, torque, low, high
        As for `activation_range`.

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
    shape = reach.shape[1:]
    low, high = (np.broadcast_to(v, shape) for v in (low, high))
    activation, free, first_normal = low.copy(), np.ones(shape, dtype=bool), np.zeros_like(torque)
    for step in range(len(reach)):
        left = torque - torques(reach, np.where(free, 0.0, activation))
        largest, normal = _most_demanding(reach * free, left, low, high)
        first_normal = normal if step == 0 else first_normal
        along = _along(reach, normal, _rounding(reach)) * free
        activation = np.where(along > 0, clipped(np.broadcast_to(largest, shape), low, high), activation)
        free &= along == 0
    return activation, first_normal


def _most_demanding(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Largest activation that the torque requires, and the facet's normal."""
    largest, best, rounding = np.zeros(torque.shape[1]), np.zeros_like(torque), _rounding(reach)
    for normal in _both_ways(reach):
        level = _level(_along(reach, normal, rounding), (normal * torque).sum(axis=0), low, high)
        more = level > largest
        largest, best = np.where(more, level, largest), np.where(more, normal, best)
    return largest, best


def _level(along: FloatArray, required: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Least level of muscles along a normal that makes a torque.

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
    """Torque of every muscle along a normal that is rounding, (n_muscles, n_frames)."""
    return ACROSS * norm(reach)


def _along(reach: FloatArray, normal: FloatArray, rounding: FloatArray) -> FloatArray:
    """Torque of every muscle along a normal of unit length; zero where it is rounding."""
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


def _both_ways(reach: FloatArray) -> Iterator[FloatArray]:
    """Outward normals of all facets: every facet has its twin on the other side."""
    for normal in _normals(reach):
        yield normal
        yield -normal


def _across(chosen: tuple[FloatArray, ...], n_joints: int, n_frames: int) -> FloatArray:
    """Vector perpendicular to n_joints - 1 others: their cofactors."""
    if n_joints == 1:
        return np.ones((1, n_frames))
    if n_joints == 2:
        return np.stack([-chosen[0][1], chosen[0][0]])
    if n_joints == 3:
        return np.asarray(np.cross(chosen[0], chosen[1], axis=0))
    matrix = np.moveaxis(np.stack(chosen), 2, 0)  # (n_frames, n_joints - 1, n_joints)
    minors = [np.linalg.det(np.delete(matrix, j, axis=2)) * (-1.0) ** j for j in range(n_joints)]
    return np.asarray(np.stack(minors))
