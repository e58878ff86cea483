r"""Force in a joint: the joint reaction force without the pulls of the muscles that cross the joint.

Cut the limb through joint j and leave the muscles in. What is distal of the cut is moved by its weight and loads, by
the force ``C_j`` of bone on bone, and by the tension ``F_m`` of every muscle that the cut severs, along the line
``u_jm`` on which the muscle runs there. Newton's law for all of it is

.. math::

    C_j + \sum_{m\ across\ j} F_m u_{jm} = \sum_{k \ge j} m_k (a_k - g) - loads = R_j

The right side is the joint reaction force of inverse dynamics. No muscle is in it, so muscles leave it as it is:

.. math::

    C_j = R_j - \sum_{m\ across\ j} F_m u_{jm}

A muscle over two joints is severed at both, and counts at both with its own line at each; one that ends before the cut
pulls only between parts of the same side, and does not count. What acts on one segment is the difference of two such
cuts. A muscle that passes a segment without a hold on it gives it ``F (u_j - u_j+1)``, the pressure on the bone that
turns it: nothing where it runs straight. About the joint the pulls turn with ``sum F_m r_m``, the net torque where
there is no reserve.

Axes. A line is told in a frame of each segment: along its axis, and across it to the side to which the joint flexes.
For elbow, wrist and knee that axis is the line between the joints; the foot's is parallel to the sole, and that of the
body before the first joint is the direction of the first segment at zero flexion (`segment_axes`).

What can be known. A moment arm says how far from the joint a muscle pulls, not in which direction. Two points say
both, and their arm is compared with the one in use; where they differ the muscle does not run straight between them
(it bends round a bone) or the points are those of another limb. The comparison sees a wrong direction only so far as it
changes the arm: little where the muscle inserts near the foot of its own moment arm, as the triceps does. A line
parallel to a segment has the arm in use by construction, so nothing checks it; a direction that errs by 10 degrees
moves the contact force by 17 % of the muscle's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.sets.muscle import LineOfAction, Muscle

TOLERANCE_M = 0.003
"""Largest difference between the moment arm in use and the one that two points imply, m.

The fits of the built-in sets depart from their tables by up to 1 mm, and the path of a muscle that runs aslant to the
plane by up to 1.5 mm from its picture in it (biceps); 3 mm leave room for both. At 5 mm the triceps, bent round the
humerus from 75 deg of flexion on, would still pass at 95 deg, some 16 deg off its direction.
"""
NEGLIGIBLE_N = 1e-6
NEGLIGIBLE_NM = 1e-6

PARALLEL_TO = {"proximal": (1.0, 0.0, 0.0, 0.0), "distal": (0.0, 0.0, 1.0, 0.0)}  # what stands for the two points

POINTS = "points"
PARALLEL = "parallel"
UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of action of muscles over joints, as arrays.

    Attributes
    ----------
    crosses : ndarray of bool, shape (n_joints, n_muscles)
        Whether a muscle crosses a joint, with a moment arm or without a known one.
    points_m : ndarray of shape (n_joints, n_muscles, 4)
        Proximal point along and across, distal point along and across, m. A line parallel to a segment has its point
        there at 1 along, and zeros else. NaN where no line is known.
    checked : ndarray of bool, shape (n_joints, n_muscles)
        Whether the line is between two points, which the moment arm can be compared with.
    """

    crosses: BoolArray
    points_m: FloatArray
    checked: BoolArray


@dataclass(frozen=True)
class WhyNot:
    """Why the force in a joint is not known in some frames; shares of all frames, from 0 to 1.

    Attributes
    ----------
    without_line : dict of str to float
        Muscles that pull across the joint without a line of action, and in what share of the frames.
    disagreeing : dict of str to float
        Muscles whose two points imply another moment arm than the one in use, and in what share of the frames.
    largest_difference_m : dict of str to float
        By how much at most, m, for the muscles of `disagreeing`.
    reserve : float
        Share of the frames with a reserve torque at the joint: the muscles are not all of it.
    undetermined : float
        Share of the frames without a reaction force, an orientation or the force of a muscle.
    """

    without_line: dict[str, float]
    disagreeing: dict[str, float]
    largest_difference_m: dict[str, float]
    reserve: float
    undetermined: float


@dataclass(frozen=True, eq=False)
class ContactForce:
    """Forces in the joints of a limb; NaN where they are not known.

    Attributes
    ----------
    contact_n : ndarray of shape (n_frames, n_joints, 2)
        Force of the proximal bone on the distal one, x forward and y up in the plane, N.
    known : ndarray of bool, shape (n_frames, n_joints)
        Whether all that crosses the joint is known well enough.
    basis : tuple of str
        For each joint ``points`` (all muscles that pull in its known frames run between two points that agree with
        their moment arms, or none pulls), ``parallel`` (some are taken as parallel to a segment: an approximation that nothing here
        checks) or ``unknown`` (in no frame).
    why_not : tuple of WhyNot
        For each joint.
    notes : tuple of str
        The same in sentences.
    """

    contact_n: FloatArray
    known: BoolArray
    basis: tuple[str, ...]
    why_not: tuple[WhyNot, ...]
    notes: tuple[str, ...]


def segment_axes(angle_rad: ArrayLike, flexion_zero_rad: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Orientations of the axes in which lines of action are told.

    Parameters
    ----------
    angle_rad : array_like of shape (n_frames, n_joints)
        Joint angles of a chain, rad; the first against the plane's x axis.
    flexion_zero_rad : array_like of shape (n_joints,)
        Joint angle at zero flexion, rad.

    Returns
    -------
    proximal_rad, distal_rad : ndarray of shape (n_frames, n_joints)
        Orientation of the axis on either side of each joint, from its proximal to its distal end, counter-clockwise
        from the plane's x axis.

    Notes
    -----
    At zero flexion two axes are in line or at a right angle. Where the line between a segment's ends departs from that,
    as the line from the ankle to the toes does from the sole, the axis does not: it is turned back by as much. The
    orientation of what the first joint hangs from is not measured; its axis is the first segment's at zero flexion.

    Examples
    --------
    A foot whose toes are 20 degrees below its ankle, with the sole on the ground under an upright shank:

    >>> proximal, distal = segment_axes(np.radians([[-90.0, 70.0]]), np.radians([-90.0, 70.0]))
    >>> [[round(float(x)) for x in np.degrees(axes[0])] for axes in (proximal, distal)]
    [[-90, -90], [-90, 0]]
    """
    angle = np.asarray(angle_rad, dtype=float)
    zero = np.asarray(flexion_zero_rad, dtype=float)
    if angle.ndim != 2 or zero.shape != angle.shape[1:]:
        raise ValueError(f"angle_rad has shape {angle.shape}, flexion_zero_rad {zero.shape}: one zero for each joint")
    orientation = np.cumsum(angle, axis=1)
    proximal = orientation - angle
    proximal[:, 0] = zero[0]
    slope = zero - np.radians(90.0) * np.round(zero / np.radians(90.0))
    slope[0] = 0.0
    return proximal, orientation - slope


def pull_direction(
    line: LineOfAction, *, proximal_rad: ArrayLike, distal_rad: ArrayLike, flexion_sign: float
) -> FloatArray:
    """Direction in which a muscle pulls the distal segment.

    Parameters
    ----------
    line : LineOfAction
        Its line of action across the joint.
    proximal_rad, distal_rad : array_like of shape (n_frames,)
        Orientation of the axis of the segment on either side, rad, from its proximal to its distal end,
        counter-clockwise from the plane's x axis.
    flexion_sign : float
        +1 where the joint flexes counter-clockwise, -1 where clockwise.

    Returns
    -------
    ndarray of shape (n_frames, 2)
        Vectors of length 1 in the plane; NaN where an orientation is, or where the two points meet.

    Examples
    --------
    The biceps of an arm bent to a right angle, its forearm forward; the muscle comes from high on the upper arm:

    >>> biceps = LineOfAction(None, (0.3, 0.04), (0.04, 0.0), source="by hand")
    >>> pull_direction(biceps, proximal_rad=[-np.pi / 2], distal_rad=[0.0], flexion_sign=1.0).round(3) + 0.0
    array([[0., 1.]])
    """
    distal, flexion, points = _one(line, proximal_rad, distal_rad, flexion_sign)
    stretch = _stretch(points, flexion)[:, 0]
    return _in_plane(stretch / _length(stretch), distal, flexion_sign=flexion_sign)


def implied_arm(
    line: LineOfAction, *, proximal_rad: ArrayLike, distal_rad: ArrayLike, flexion_sign: float
) -> FloatArray:
    """Moment arm of a muscle that runs straight between two points.

    Parameters
    ----------
    line, proximal_rad, distal_rad, flexion_sign
        As in `pull_direction`.

    Returns
    -------
    ndarray of shape (n_frames,)
        Moment arm, m, positive where the muscle flexes the joint.

    Raises
    ------
    ValueError
        A line that is parallel to a segment: it has the arm that it is given.

    Notes
    -----
    With d the distal point seen from the joint and u the direction of the pull, the arm is the moment ``d x u`` of a
    pull of 1, counted in the sense of flexion.
    """
    if line.parallel_to:
        raise ValueError(f"the line is parallel to the {line.parallel_to} segment and implies no moment arm")
    _, flexion, points = _one(line, proximal_rad, distal_rad, flexion_sign)
    return np.asarray((_moment(points, flexion) / _length(_stretch(points, flexion)))[0])


def lines_of_action(muscles: Sequence[Muscle], joints: Sequence[str]) -> Lines:
    """Lines of action of the muscles of a set at the joints of a chain.

    Parameters
    ----------
    muscles : sequence of Muscle
        Muscles of a set.
    joints : sequence of str
        Joints of the chain, proximal first.

    Returns
    -------
    Lines
        For `contact_force`. A muscle crosses a joint, and is severed there, also where nobody sampled its arm.
    """
    lines = [[muscle.lines_of_action.get(joint) for muscle in muscles] for joint in joints]
    return line_arrays(lines, [[joint in muscle.crosses for muscle in muscles] for joint in joints])


def line_arrays(lines: Sequence[Sequence[LineOfAction | None]], crosses: ArrayLike) -> Lines:
    """Lines of action as arrays.

    Parameters
    ----------
    lines : sequence of sequences of LineOfAction or None
        For each joint that of each muscle; None where it is not known or there is none.
    crosses : array_like of bool, shape (n_joints, n_muscles)
        Whether each muscle crosses each joint.

    Returns
    -------
    Lines
        For `contact_force`.

    Raises
    ------
    ValueError
        A line that is not said in one of the two ways.
    """
    across = np.asarray(crosses, dtype=bool)
    points = np.full((*across.shape, 4), np.nan)
    checked = np.zeros(across.shape, dtype=bool)
    for j, of_joint in enumerate(lines):
        for m, line in enumerate(of_joint):
            if line is not None:
                points[j, m] = _numbers(line)
                checked[j, m] = not line.parallel_to
    return Lines(across, points, checked)


def contact_force(
    reaction_n: ArrayLike,
    force_n: ArrayLike,
    moment_arm_m: ArrayLike,
    lines: Lines,
    *,
    proximal_rad: ArrayLike,
    distal_rad: ArrayLike,
    flexion_sign: ArrayLike,
    joints: Sequence[str],
    muscles: Sequence[str],
    reserve_nm: ArrayLike | None = None,
    tolerance_m: float = TOLERANCE_M,
) -> ContactForce:
    """Force in each joint, where the line of action of every muscle that pulls across it is known well enough.

    Parameters
    ----------
    reaction_n : array_like of shape (n_frames, n_joints, 2)
        Joint reaction force on the distal segment, from inverse dynamics, N.
    force_n : array_like of shape (n_frames, n_muscles)
        Muscle forces, tension positive, N.
    moment_arm_m : array_like of shape (n_frames, n_joints, n_muscles)
        Moment arms that the forces were found with, m, positive flexes.
    lines : Lines
        Which muscle crosses which joint, and how.
    proximal_rad, distal_rad : array_like of shape (n_frames, n_joints)
        Axes of the segments on either side of each joint, as `segment_axes` gives them, rad.
    flexion_sign : array_like of shape (n_joints,)
        +1 where counter-clockwise flexes, -1 where clockwise does.
    joints, muscles : sequence of str
        Names, in the order of the arrays.
    reserve_nm : array_like of shape (n_frames, n_joints), optional
        Torque that no muscle makes, N m: the joint is not known where there is one.
    tolerance_m : float, optional
        Largest difference between the moment arm in use and that of a line between two points, m.

    Returns
    -------
    ContactForce
        Forces with NaN where they are not known, and why they are not.

    Raises
    ------
    ValueError
        Shapes that do not agree.

    Notes
    -----
    A muscle without force needs no line. Where a reaction, an orientation or the force of a muscle across the joint is
    NaN, so is the force in the joint. Muscles that brace a joint against each other press it: where a sharing lets them
    rest, expect more; muscles that the set does not have are missing from it. Ligaments and other
    passive parts are not told apart from the bone: what they pull is in the contact force, too.

    Examples
    --------
    A forearm held level with 2 N m of flexing torque by one vertical muscle 4 cm from the elbow: it pulls with 50 N,
    and the reaction of 10 N upwards becomes a contact force of 40 N downwards.

    >>> lines = line_arrays([[LineOfAction("proximal", None, None, source="by hand")]], [[True]])
    >>> held = contact_force(
    ...     [[[0.0, 10.0]]], [[50.0]], [[[0.04]]], lines, proximal_rad=[[-np.pi / 2]], distal_rad=[[0.0]],
    ...     flexion_sign=[1.0], joints=["elbow"], muscles=["biceps"]
    ... )
    >>> held.contact_n.round(9).tolist(), held.basis
    ([[[0.0, -40.0]]], ('parallel',))
    """
    force = np.asarray(force_n, dtype=float)
    shape = (len(force), len(joints))
    _shaped("force_n", force, (len(force), len(muscles)))
    _shaped("lines.points_m", lines.points_m, (len(joints), len(muscles), 4))
    sign = _shaped("flexion_sign", flexion_sign, (len(joints),))
    reaction = _shaped("reaction_n", reaction_n, (*shape, 2))
    arm = _shaped("moment_arm_m", moment_arm_m, (*shape, len(muscles)))
    proximal = _shaped("proximal_rad", proximal_rad, shape)
    distal = _shaped("distal_rad", distal_rad, shape)
    reserve = np.zeros(shape) if reserve_nm is None else _shaped("reserve_nm", reserve_nm, shape)
    tension = np.ascontiguousarray(force.T)
    arm = np.ascontiguousarray(np.transpose(arm, (1, 2, 0)))  # as they come from moment_arm_matrix: no copy
    contact = np.empty((*shape, 2))
    known = np.empty(shape, dtype=bool)
    idle = (tension <= NEGLIGIBLE_N).all(axis=1)
    cuts = []
    for j in range(len(joints)):
        flexion = sign[j] * (distal[:, j] - proximal[:, j])
        severed = np.flatnonzero(lines.crosses[j] & ~idle)
        cut = _cut(
            tension[severed],
            arm[j, severed],
            lines.points_m[j, severed],
            lines.checked[j, severed],
            [muscles[m] for m in severed.tolist()],
            flexion=flexion,
            given=~(np.isnan(reaction[:, j]).any(axis=1) | np.isnan(flexion)),
            reserved=~(np.abs(reserve[:, j]) <= NEGLIGIBLE_NM),
            tolerance_m=tolerance_m,
        )
        pull = _in_plane(cut.pull_n, distal[:, j], flexion_sign=sign[j])
        known[:, j] = cut.known
        contact[:, j] = np.where(cut.known[:, None], reaction[:, j] - pull, np.nan)
        cuts.append(cut)
    why = tuple(_why_not(cut) for cut in cuts)
    basis = tuple(_basis(cut) for cut in cuts)
    notes = [
        note
        for joint, cut, reasons in zip(joints, cuts, why, strict=True)
        for note in _notes(joint, cut, reasons, tolerance_m)
    ]
    return ContactForce(contact, known, basis, why, tuple(notes))


def along_and_across(force_n: ArrayLike, axis_rad: ArrayLike, *, flexion_sign: float) -> tuple[FloatArray, FloatArray]:
    """Parts of a force along an axis and across it.

    Parameters
    ----------
    force_n : array_like of shape (n_frames, 2)
        Force in the plane, N.
    axis_rad : array_like of shape (n_frames,)
        Orientation of the axis, from its proximal to its distal end, rad.
    flexion_sign : float
        +1 where counter-clockwise flexes, -1 where clockwise does.

    Returns
    -------
    along_n, across_n : ndarray of shape (n_frames,)
        Part towards the distal end, and part towards the flexor side, N. Along the shank is what presses the ankle:
        its distal segment, the foot, lies across that.
    """
    force, axis = np.asarray(force_n, dtype=float), np.asarray(axis_rad, dtype=float)
    cosine, sine = np.cos(axis), np.sin(axis)
    return (
        force[:, 0] * cosine + force[:, 1] * sine,
        flexion_sign * (force[:, 1] * cosine - force[:, 0] * sine),
    )


@dataclass(frozen=True, eq=False)
class _Cut:
    """What a cut through one joint severs: the muscles that cross it and pull in some frame.

    Attributes
    ----------
    pull_n : ndarray of shape (2, n_frames)
        Sum of the pulls of the muscles with a line, along the distal segment's axis and to its flexor side.
    muscles : list of str
        Names of the muscles.
    without_line, disagrees, parallel : ndarray of bool, shape (n_muscles, n_frames)
        Muscles that pull: without a line; with one that the moment arm denies; with one that nothing checks.
    difference_m : ndarray of shape (n_muscles, n_frames)
        Moment arm of the line less that in use, where a muscle between two points pulls.
    given, reserved : ndarray of bool, shape (n_frames,)
        Frames in which all that is needed is a number; frames with a reserve torque.
    """

    pull_n: FloatArray
    muscles: list[str]
    without_line: BoolArray
    disagrees: BoolArray
    parallel: BoolArray
    difference_m: FloatArray
    given: BoolArray
    reserved: BoolArray

    @cached_property
    def known(self) -> BoolArray:
        """Frames in which every muscle that pulls has a line that agrees, and nothing else turns the joint."""
        return np.asarray(self.given & ~self.reserved & ~(self.without_line | self.disagrees).any(axis=0))


def _cut(
    tension: FloatArray,
    arm: FloatArray,
    points: FloatArray,
    checked: BoolArray,
    muscles: list[str],
    *,
    flexion: FloatArray,
    given: BoolArray,
    reserved: BoolArray,
    tolerance_m: float,
) -> _Cut:
    """Pulls across one joint; `tension` and `arm` are of shape (n_muscles, n_frames)."""
    pulls = tension > NEGLIGIBLE_N
    has = ~np.isnan(points[:, 0])
    lined: Any = slice(None) if has.all() else has  # a mask copies
    stretch = _stretch(points[lined], flexion)
    per_metre = pulls[lined] / _length(stretch)
    difference = np.zeros_like(tension)
    difference[lined] = _moment(points[lined], flexion) * per_metre - arm[lined]
    difference[~checked] = 0.0
    per_metre *= tension[lined]
    per_metre[~pulls[lined]] = 0.0  # it is NaN where the ends of the stretch meet
    return _Cut(
        pull_n=np.einsum("mn,imn->in", per_metre, stretch),
        muscles=muscles,
        without_line=pulls & ~has[:, None],
        disagrees=pulls & ~(np.abs(difference) <= tolerance_m),
        parallel=pulls & (has & ~checked)[:, None],
        difference_m=difference,
        given=given & ~np.isnan(tension).any(axis=0),
        reserved=reserved,
    )


def _numbers(line: LineOfAction) -> tuple[float, ...]:
    """Proximal point along and across, distal point along and across."""
    proximal, distal = line.proximal_m or (), line.distal_m or ()
    if not line.parallel_to and len(proximal) == len(distal) == 2:
        return (*proximal, *distal)
    if line.parallel_to in PARALLEL_TO and not proximal and not distal:
        return PARALLEL_TO[line.parallel_to]
    raise ValueError(
        f"a line of action has parallel_to {line.parallel_to!r}, proximal_m {line.proximal_m!r} and distal_m "
        f"{line.distal_m!r}; expected either parallel_to 'proximal' or 'distal', or both points, two numbers each"
    )


def _stretch(points: FloatArray, flexion: FloatArray) -> FloatArray:
    """From the distal point to the proximal one, along the distal axis and across it, shape (2, n_muscles, n_frames).

    The proximal axis, seen from the distal one and with the flexor side to its left, is at minus the flexion.
    """
    along, across, distal_along, distal_across = points.T
    turning = np.array([np.cos(flexion), np.sin(flexion), np.ones_like(flexion)])
    coefficients = np.array([[-along, across, -distal_along], [across, along, -distal_across]])
    return np.asarray(np.swapaxes(coefficients, 1, 2) @ turning)


def _length(stretch: FloatArray) -> FloatArray:
    """Length of the free stretch; NaN where its ends meet, for there it has no direction."""
    length = np.sqrt(stretch[0] ** 2 + stretch[1] ** 2)
    return np.where(length > 0.0, length, np.nan)


def _moment(points: FloatArray, flexion: FloatArray) -> FloatArray:
    """Moment of the stretch about the joint, positive flexes, shape (n_muscles, n_frames); by its length it is the arm."""
    along, across, distal_along, distal_across = points.T
    coefficients = np.array(
        [distal_along * across + distal_across * along, distal_along * along - distal_across * across]
    )
    return np.asarray(coefficients.T @ np.array([np.cos(flexion), np.sin(flexion)]))


def _one(
    line: LineOfAction, proximal_rad: ArrayLike, distal_rad: ArrayLike, flexion_sign: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distal axis and flexion of the axes, shape (n_frames,), and points of shape (1, 4) of one muscle."""
    proximal, distal = np.asarray(proximal_rad, dtype=float), np.asarray(distal_rad, dtype=float)
    if proximal.ndim != 1 or proximal.shape != distal.shape:
        raise ValueError(
            f"proximal_rad has shape {proximal.shape}, distal_rad {distal.shape}; expected (n_frames,) twice"
        )
    return distal, flexion_sign * (distal - proximal), np.array([_numbers(line)])


def _in_plane(parts: FloatArray, axis: FloatArray, *, flexion_sign: float) -> FloatArray:
    """Vectors of the plane, shape (n_frames, 2), from their parts along an axis and to its flexor side, (2, n_frames)."""
    cosine, sine = np.cos(axis), np.sin(axis)
    along, left = parts[0], flexion_sign * parts[1]
    return np.stack([along * cosine - left * sine, along * sine + left * cosine], axis=1)


def _shaped(name: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(value, dtype=float)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    return array


def _basis(cut: _Cut) -> str:
    if not cut.known.any():
        return UNKNOWN
    return PARALLEL if (cut.parallel & cut.known).any() else POINTS


def _why_not(cut: _Cut) -> WhyNot:
    n_frames = max(len(cut.given), 1)
    disagreeing = _shares(cut.disagrees & cut.given, cut.muscles)
    largest = {}
    if disagreeing:
        differences = np.where(cut.disagrees & cut.given, np.abs(cut.difference_m), 0.0).max(axis=1)
        largest = dict(zip(cut.muscles, differences.tolist(), strict=True))
    return WhyNot(
        without_line=_shares(cut.without_line & cut.given, cut.muscles),
        disagreeing=disagreeing,
        largest_difference_m={muscle: largest[muscle] for muscle in disagreeing},
        reserve=float((cut.reserved & cut.given).sum()) / n_frames,
        undetermined=float((~cut.given).sum()) / n_frames,
    )


def _shares(found: BoolArray, muscles: Sequence[str]) -> dict[str, float]:
    """Share of the frames in which each muscle is found, of those that are."""
    counts = found.sum(axis=1)
    return {m: float(count) / found.shape[1] for m, count in zip(muscles, counts, strict=True) if count}


def _notes(joint: str, cut: _Cut, why: WhyNot, tolerance_m: float) -> list[str]:
    """Sentences on where and why the force in a joint is not known, and on how well it is."""
    where = f"{joint}: the force in the joint is not known"
    notes = [
        f"{where} while {muscle} pulls ({100 * share:.0f} % of the frames), which has no line of action there"
        for muscle, share in why.without_line.items()
    ]
    notes += [
        f"{where} in {100 * share:.0f} % of the frames, where {muscle} is not straight between its two points: their "
        f"moment arm differs by up to {1e3 * why.largest_difference_m[muscle]:.1f} mm ({1e3 * tolerance_m:g} mm are let pass)"
        for muscle, share in why.disagreeing.items()
    ]
    if why.reserve:
        notes.append(f"{where} in {100 * why.reserve:.0f} % of the frames, which have a reserve torque")
    parallel = _shares(cut.parallel & cut.known, cut.muscles)
    if parallel:
        notes.append(
            f"{joint}: the force in the joint is an approximation, as the pull of {', '.join(parallel)} is taken as "
            "parallel to a segment; 10 deg off its direction are 17 % of a muscle's force"
        )
    return notes
