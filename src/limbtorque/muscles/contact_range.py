r"""Least and greatest contact force of a joint at the same joint torques.

The contact force is linear in the muscle forces: with a* the activations found and a any others that make the same torques,

.. math::

    C(a) = C(a^*) - \sum_m F_m (a_m - a^*_m) u_m

All possible contact forces fill a convex polygon. Its support ``h(d) = max d . C`` in a direction d is a linear programme,
solved exactly (`ranges.greatest_sums`). Over `N_DIRECTIONS` directions, one of which is the distal segment's axis:

* parts along the axis are exact;
* the greatest magnitude is between ``max h`` and ``max h / cos(pi / N_DIRECTIONS)``: the latter is given, at most 0.9 % too much;
* the least magnitude is at least ``max(0, -min h)``, which is given: the distance of the nearest of the supporting lines.

Most of that range is muscles that work against each other without limit. The second range allows only activations up to a
stated factor times the least possible largest activation: the torques themselves demand that some muscle is as active as
that (the min/max solution, Rasmussen et al. 2001), whatever the criterion. A small activation is always allowed, as muscles
are seldom silent. The activations found stay possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.lines_of_action import Lines, unit_pulls
from limbtorque.muscles.static_optimization.dual import torque_capacity, torques
from limbtorque.muscles.static_optimization.ranges import greatest_sums
from limbtorque.muscles.static_optimization.reachable import least_largest

N_DIRECTIONS = 24


@dataclass(frozen=True, eq=False)
class ContactRange:
    """Ranges of the contact force of each joint; NaN where it is not known.

    Attributes
    ----------
    least_n, greatest_n : ndarray of shape (n_frames, n_joints)
        Bounds of the magnitude, N.
    least_along_n, greatest_along_n : ndarray of shape (n_frames, n_joints)
        Exact bounds of the part along the axis of the distal segment, N.
    """

    least_n: FloatArray
    greatest_n: FloatArray
    least_along_n: FloatArray
    greatest_along_n: FloatArray


def contact_range(
    own_n: FloatArray,
    lines: Lines,
    *,
    moment_arm_m: FloatArray,
    activation: FloatArray,
    strength_n: FloatArray,
    limits: tuple[FloatArray, FloatArray],
    between_rad: FloatArray,
    flexion_rad: FloatArray,
) -> ContactRange:
    """Least and greatest contact force of each joint.

    Parameters
    ----------
    own_n : ndarray of shape (n_frames, n_joints, 2)
        Contact force found: along the axis of the distal segment and to its flexor side, N; NaN where unknown.
    lines : Lines
        Lines of action. A joint with a muscle without a line has no range.
    moment_arm_m : ndarray of shape (n_frames, n_joints, n_muscles)
        Moment arms of the static optimization, m.
    activation : ndarray of shape (n_frames, n_muscles)
        Activations found.
    strength_n : ndarray of shape (n_frames, n_muscles)
        Force at full activation, N.
    limits : pair of ndarray of shape (n_frames, n_muscles)
        Least and largest activation allowed.
    between_rad, flexion_rad : ndarray of shape (n_frames, n_joints)
        Angle between the axes, and flexion, as for `unit_pulls`.

    Returns
    -------
    ContactRange
        The found force is always inside.
    """
    n_frames, n_joints = between_rad.shape
    ranges = np.full((4, n_frames, n_joints), np.nan)
    reach = np.transpose(moment_arm_m, (1, 2, 0)) * strength_n.T
    capacity = torque_capacity(reach)
    crossed = (capacity > 0).any(axis=1)
    scaled = (reach / np.where(capacity > 0, capacity, 1.0)[:, None])[crossed]
    low, high = (np.broadcast_to(v, activation.shape).T for v in limits)
    for j in range(n_joints):
        across = np.flatnonzero(lines.crosses[j])
        some = np.flatnonzero(np.isfinite(own_n[:, j]).all(axis=1) & np.isfinite(activation).all(axis=1))
        if not some.size or not lines.known[j, across].all():
            continue
        pull = np.zeros((2, len(low), some.size))
        pull[:, across] = unit_pulls(lines, j, across, between_rad[some, j], flexion_rad[some, j])
        pull *= strength_n[some].T
        found = activation[some].T
        bounds = np.minimum(low[:, some], found), np.maximum(high[:, some], found)
        ranges[:, some, j] = _bounds(own_n[some, j].T, -pull, scaled[..., some], found, bounds)
    return ContactRange(*ranges)


def within_effort(
    moment_arm_m: FloatArray,
    activation: FloatArray,
    strength_n: FloatArray,
    limits: tuple[FloatArray, FloatArray],
    factor: float,
    rest: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Bounds of activations with limited effort.

    No muscle is more active than a factor times the least possible largest activation.

    Parameters
    ----------
    moment_arm_m, activation, strength_n, limits
        As for `contact_range`.
    factor : float
        Factor, at least 1.
    rest : float, optional
        Activation that is always allowed.

    Returns
    -------
    low, high : ndarray of shape (n_frames, n_muscles)
    """
    low, high = (np.broadcast_to(v, activation.shape) for v in limits)
    reach = np.transpose(moment_arm_m, (1, 2, 0)) * strength_n.T
    capacity = torque_capacity(reach)
    crossed = (capacity > 0).any(axis=1)
    scaled = (reach / np.where(capacity > 0, capacity, 1.0)[:, None])[crossed]
    found = np.nan_to_num(activation.T)
    least, _ = least_largest(np.nan_to_num(scaled), torques(np.nan_to_num(scaled), found), low.T, high.T)
    most = np.maximum(factor * least.max(axis=0), rest)[:, None]
    return low, np.maximum(low, np.minimum(high, most))


def _bounds(
    own: FloatArray, pull: FloatArray, reach: FloatArray, found: FloatArray, bounds: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Least and greatest magnitude and part along the axis, (4, n_frames)."""
    angles = 2.0 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    towards = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    weights = np.einsum("ki,imn->kmn", towards, pull)
    more = greatest_sums(reach, torques(reach, found), *bounds, weights) - (weights * found).sum(axis=1)
    support = towards @ own + np.maximum(more, 0.0)
    size = np.hypot(*own)
    least = np.minimum(np.maximum(-support.min(axis=0), 0.0), size)
    greatest = np.maximum(support.max(axis=0) / np.cos(np.pi / N_DIRECTIONS), size)
    return np.array([least, greatest, -support[N_DIRECTIONS // 2], support[0]])
