r"""Joint contact force: joint reaction force minus the pulls of the muscles.

Cut the limb through joint j. On the distal part act its weight and loads, the contact force ``C_j``, and the tension
``F_m`` of every cut muscle along its line of action ``u_jm``. Newton's law for the distal part is

.. math::

    C_j + \sum_{m\ across\ j} F_m u_{jm} = \sum_{k \ge j} m_k (a_k - g) - loads = R_j

The right side is the joint reaction force of inverse dynamics, which does not depend on the muscles:

.. math::

    C_j = R_j - \sum_{m\ across\ j} F_m u_{jm}

A biarticular muscle is cut at both joints, with a line of action at each; a muscle that ends before
the cut does not act across it. The force on one segment is the difference of two such cuts. A muscle that
passes a segment without attachment loads it with ``F (u_j - u_j+1)``, the pressure on the bone that deflects it: zero
where it runs straight. The moment of the pulls about the joint is ``sum F_m r_m``, the net torque without a reserve.

A moment arm gives the distance of a muscle's pull from the joint, not its direction. Two points give both, and their arm
is compared with the one in use; where they differ, the muscle does not run straight between them (it bends round a bone)
or the points are those of another limb. The comparison detects a wrong direction only by its effect on the arm, which is
small where the muscle inserts near the foot of its own moment arm, as the triceps does. A line parallel to a segment has
the arm in use by construction and is not checked; an error of 10 degrees in its direction changes the contact force by
17 % of the muscle's. A direction by flexion, too, acts at the distance of the arm in use; the set states how far its own
arm is from that one.

Range. The contact force is linear in the muscle forces: with a* the optimized activations and a any others with the same torques,

.. math::

    C(a) = C(a^*) - \sum_m F_m (a_m - a^*_m) u_m

All possible contact forces fill a convex polygon. Its support ``h(d) = max d . C`` in a direction d is a linear programme,
solved exactly (`ranges.greatest_sums`). Over `N_DIRECTIONS` directions, one of which is the distal segment's axis:

* components along the axis are exact;
* the greatest magnitude is between ``max h`` and ``max h / cos(pi / N_DIRECTIONS)``: the latter is given, at most 0.9 % too much;
* the least magnitude is at least ``max(0, -min h)``, which is given: the distance of the nearest of the supporting lines.

Most of that range comes from unlimited co-contraction. The second range allows only activations up to
a factor times the smallest possible peak activation (the min/max solution, Rasmussen et al. 2001), which the torques require under any criterion. A small activation is always allowed, as muscles are seldom silent. The optimized activations stay possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.lines_of_action import (
    Lines,
    free_stretch,
    in_plane,
    stretch_length,
    stretch_moment,
    unit_pulls,
)
from limbtorque.muscles.static_optimization.dual import Frames, torque_capacity, torques
from limbtorque.muscles.static_optimization.ranges import greatest_sums
from limbtorque.muscles.static_optimization.reachable import least_largest

N_DIRECTIONS = 24
BY_MUSCLE, BY_JOINT = ("without_line", "disagreeing", "parallel"), ("reserve",)
TOLERANCE_M = 0.003
"""Largest difference between the moment arm in use and the one that two points imply, m.

The fits of the built-in sets differ from their tables by up to 1 mm, and the path of a muscle oblique to the plane by up
to 1.5 mm from its projection (biceps); 3 mm allow for both. With 5 mm the triceps, bent round the humerus from 75 deg of
flexion on, would still pass at 95 deg with an error of 16 deg in its direction.
"""
NEGLIGIBLE_N = 1e-6
NEGLIGIBLE_NM = 1e-6
STANDARD_GRAVITY_M_S2 = 9.80665
"""Acceleration by which body mass becomes body weight."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts, sums and largest values over a part of the frames.

    Attributes
    ----------
    sums : mapping of str to ndarray
        Counts and sums, of any shape.
    largest : mapping of str to ndarray
        Largest values, of any shape.
    """

    sums: Mapping[str, Any]
    largest: Mapping[str, Any]

    def __getitem__(self, name: str) -> FloatArray:
        """Return a sum or a largest value."""
        return np.asarray(self.sums[name] if name in self.sums else self.largest[name])


def total(parts: Sequence[Tally]) -> Tally:
    """Tally of all parts of a trial."""
    return Tally(
        {name: sum(part.sums[name] for part in parts[1:]) + parts[0].sums[name] for name in parts[0].sums},
        {name: np.max([part.largest[name] for part in parts], axis=0) for name in parts[0].largest},
    )


@dataclass(frozen=True, eq=False)
class ContactRange:
    """Range of the contact force of each joint; NaN where unknown.

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
    scaled = _scaled_reach(moment_arm_m, strength_n)
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
    scaled = np.nan_to_num(_scaled_reach(moment_arm_m, strength_n))
    found = np.nan_to_num(activation.T)
    least, _ = least_largest(Frames(scaled, torques(scaled, found), low.T, high.T))
    most = np.maximum(factor * least.max(axis=0), rest)[:, None]
    return low, np.maximum(low, np.minimum(high, most))


def _scaled_reach(moment_arm_m: FloatArray, strength_n: FloatArray) -> FloatArray:
    """Torque of each muscle relative to the capacity of all, at joints with muscles."""
    reach = np.transpose(moment_arm_m, (1, 2, 0)) * strength_n.T
    capacity = torque_capacity(reach)
    return (reach / np.where(capacity > 0, capacity, 1.0)[:, None])[(capacity > 0).any(axis=1)]


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


@dataclass(frozen=True, eq=False)
class ContactForce:
    """Joint contact forces of a limb; NaN where unknown.

    Attributes
    ----------
    contact_n : ndarray of shape (n_frames, n_joints, 2)
        Force of the proximal bone on the distal one, x forward and y up in the plane, N.
    known : ndarray of bool, shape (n_frames, n_joints)
        True where the lines of all pulling muscles are valid.
    reasons : ContactReasons
        Reasons why it is not known everywhere.
    possible, limited : ContactRange or None
        Range with any activations that make the same torques, and with limited ones (`within_effort`).
    """

    contact_n: FloatArray
    known: BoolArray
    reasons: ContactReasons
    possible: ContactRange | None = None
    limited: ContactRange | None = None


@dataclass(frozen=True, eq=False)
class ContactReasons:
    """Counts of frames with unknown contact forces, by reason.

    Attributes
    ----------
    tally : Tally
        Frames by joint and muscle: without a line, disagreeing, parallel; by joint: reserve.
    joints, muscles : tuple of str
        Names.
    """

    tally: Tally
    joints: tuple[str, ...]
    muscles: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """The reasons in sentences."""
        return tuple(note for j in range(len(self.joints)) for note in self._notes(j))

    def shares(self, reason: str, j: int) -> dict[str, float]:
        """Share of frames, 0 to 1, for each muscle counted at a joint."""
        counts = zip(self.muscles, self.tally[reason][j].tolist(), strict=True)
        return {muscle: count / int(self.tally["frames"]) for muscle, count in counts if count}

    def _notes(self, j: int) -> list[str]:
        """Notes on unknown contact forces and their accuracy."""
        where = f"{self.joints[j]}: contact force unknown"
        difference_mm = dict(zip(self.muscles, (1e3 * self.tally["difference_m"][j]).tolist(), strict=True))
        notes = [
            f"{where} in {100 * share:.0f} % of the frames, where {muscle} pulls without a line of action"
            for muscle, share in self.shares("without_line", j).items()
        ]
        notes += [
            f"{where} in {100 * share:.0f} % of the frames, where the moment arm of {muscle} differs from that of its two points "
            f"by up to {difference_mm[muscle]:.1f} mm (at most {1e3 * TOLERANCE_M:g} mm allowed)"
            for muscle, share in self.shares("disagreeing", j).items()
        ]
        if reserved := int(self.tally["reserve"][j]):
            share = reserved / int(self.tally["frames"])
            notes.append(f"{where} in {100 * share:.0f} % of the frames, with a reserve torque")
        if parallel := self.shares("parallel", j):
            notes.append(
                f"{self.joints[j]}: contact force approximate, with the pull of {', '.join(parallel)} assumed parallel to a "
                "segment; 10 deg of error of direction error are 17 % of a muscle's force"
            )
        return notes


def contact_force(
    reaction_n: ArrayLike,
    force_n: ArrayLike,
    moment_arm_m: ArrayLike,
    lines: Lines,
    *,
    axes_rad: tuple[ArrayLike, ArrayLike],
    flexion_sign: ArrayLike,
    joints: Sequence[str],
    muscles: Sequence[str],
    flexion_rad: ArrayLike | None = None,
    reserve_nm: ArrayLike | None = None,
) -> ContactForce:
    """Contact force in each joint whose muscles have known lines of action.

    Parameters
    ----------
    reaction_n : array_like of shape (n_frames, n_joints, 2)
        Joint reaction force on the distal segment, from inverse dynamics, N.
    force_n : array_like of shape (n_frames, n_muscles)
        Muscle forces, tension positive, N.
    moment_arm_m : array_like of shape (n_frames, n_joints, n_muscles)
        Moment arms of the static optimization, m, positive flexes.
    lines : Lines
        Lines of action of the muscles across the joints.
    axes_rad : pair of array_like of shape (n_frames, n_joints)
        Axes of the segments proximal and distal of each joint, from `segment_axes`, rad.
    flexion_sign : array_like of shape (n_joints,)
        +1 where counter-clockwise flexes, -1 where clockwise does.
    joints, muscles : sequence of str
        Names, in the order of the arrays.
    flexion_rad : array_like of shape (n_frames, n_joints), optional
        Flexion of the joints, for directions by flexion: the angle between the axes by default.
    reserve_nm : array_like of shape (n_frames, n_joints), optional
        Reserve torque, N m: the contact force is unknown where there is one.

    Returns
    -------
    ContactForce
        Forces, NaN where unknown, with the reasons.

    Notes
    -----
    A muscle without force needs no line. A NaN in a reaction, an orientation or the force of a muscle across the joint
    makes the contact force NaN. Co-contraction that the criterion does not predict, and muscles that the set lacks, would
    add to it. The pull of ligaments and other passive structures is part of the contact force, as their lines of action
    are unknown: where `muscles.passive_moments` gives their moment, the muscles have less to do, but bone presses on bone
    by more than this force.

    Examples
    --------
    A forearm held level with 2 N m of flexing torque by one vertical muscle 4 cm from the elbow: it pulls with 50 N,
    and the reaction of 10 N upwards becomes a contact force of 40 N downwards.

    >>> from limbtorque.muscles.lines_of_action import line_arrays
    >>> from limbtorque.muscles.sets.muscle import LineOfAction
    >>> lines = line_arrays([[LineOfAction(parallel_to="proximal", source="by hand")]], [[True]])
    >>> held = contact_force(
    ...     [[[0.0, 10.0]]], [[50.0]], [[[0.04]]], lines, axes_rad=([[-np.pi / 2]], [[0.0]]),
    ...     flexion_sign=[1.0], joints=["elbow"], muscles=["biceps"]
    ... )
    >>> held.contact_n.round(9).tolist()
    [[[0.0, -40.0]]]
    """
    force, reaction, sign = (np.asarray(values, dtype=float) for values in (force_n, reaction_n, flexion_sign))
    proximal, distal = (np.asarray(axis, dtype=float) for axis in axes_rad)
    between = sign * (distal - proximal)
    bend = between if flexion_rad is None else np.asarray(flexion_rad, dtype=float)
    reserve = np.zeros(between.shape) if reserve_nm is None else np.asarray(reserve_nm, dtype=float)
    tension = np.ascontiguousarray(force.T)
    arm = np.ascontiguousarray(np.transpose(np.asarray(moment_arm_m, dtype=float), (1, 2, 0)))
    pulling, idle = tension > NEGLIGIBLE_N, (tension <= NEGLIGIBLE_N).all(axis=1)
    contact, known = np.full(reaction.shape, np.nan), np.zeros(between.shape, dtype=bool)
    n_joints, n_muscles = len(joints), len(muscles)
    counts: dict[str, NDArray[np.int64]] = {name: np.zeros((n_joints, n_muscles), dtype=int) for name in BY_MUSCLE}
    counts |= {name: np.zeros(n_joints, dtype=int) for name in BY_JOINT}
    difference_m = np.zeros((n_joints, n_muscles))
    for j in range(n_joints):
        severed = np.flatnonzero(lines.crosses[j] & ~idle)
        tensions, pulls, has = tension[severed], pulling[severed], lines.known[j, severed, None]
        given = ~(np.isnan(reaction[:, j]).any(axis=1) | np.isnan(between[:, j]) | np.isnan(tensions).any(axis=0))
        reserved = given & ~(np.abs(reserve[:, j]) <= NEGLIGIBLE_NM)
        difference = np.where(pulls, np.abs(_difference(lines, j, severed, between[:, j], arm[j, severed])), 0.0)
        without_line, disagrees = pulls & ~has & given, pulls & ~(difference <= TOLERANCE_M) & given
        known[:, j] = here = given & ~reserved & ~(without_line | disagrees).any(axis=0)
        # C_j = R_j - sum over the muscles of F_m u_jm
        unit = unit_pulls(lines, j, severed, between[:, j], bend[:, j])
        pull = in_plane(np.where(pulls & has, tensions * unit, 0.0).sum(axis=1), distal[:, j], flexion_sign=sign[j])
        contact[here, j] = (reaction[:, j] - pull)[here]
        parallel = (lines.known & ~lines.checked & ~lines.directed)[j, severed, None]
        counts["without_line"][j, severed] = without_line.sum(axis=1)
        counts["disagreeing"][j, severed] = disagrees.sum(axis=1)
        counts["parallel"][j, severed] = (pulls & parallel & here).sum(axis=1)
        counts["reserve"][j] = reserved.sum()
        difference_m[j, severed] = np.where(disagrees, difference, 0.0).max(axis=1, initial=0.0)
    tally = Tally({**counts, "frames": len(force)}, {"difference_m": difference_m})
    return ContactForce(contact, known, ContactReasons(tally, tuple(joints), tuple(muscles)))


def _difference(lines: Lines, j: int, muscles: NDArray[np.int64], between: FloatArray, arm: FloatArray) -> FloatArray:
    """Moment arm of lines between two points minus that in use, m; else 0."""
    difference = np.zeros_like(arm)
    some = np.flatnonzero(lines.checked[j, muscles])
    points = lines.points_m[j, muscles[some]]
    difference[some] = stretch_moment(points, between) / stretch_length(free_stretch(points, between)) - arm[some]
    return difference
