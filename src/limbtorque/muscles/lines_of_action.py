r"""Lines of action of muscles: directions of pull and implied moment arms.

Axes. A line is given in a frame of each segment: along its axis, and across it towards flexion.
For elbow, wrist and knee that axis is the line between the joints; the foot's is parallel to the sole, and that of the
body proximal to the first joint is the direction of the first segment at zero flexion (`segment_axes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.sets.moment_arm_curves import EVERYWHERE
from limbtorque.muscles.sets.muscle import LineOfAction, Muscle

PARALLEL_TO = {"proximal": (1.0, 0.0, 0.0, 0.0), "distal": (0.0, 0.0, 1.0, 0.0)}  # in place of the two points


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of action of muscles over joints, as arrays.

    Attributes
    ----------
    crosses : ndarray of bool, shape (n_joints, n_muscles)
        True where a muscle crosses a joint, with a known moment arm or not.
    points_m : ndarray of shape (n_joints, n_muscles, 4)
        Proximal point along and across, distal point along and across, m. A line parallel to a segment has its point
        there at 1 along, and zeros otherwise. NaN without a known line.
    checked : ndarray of bool, shape (n_joints, n_muscles)
        True for a line between two points, which can be compared with the moment arm.
    coefficients_rad : ndarray of shape (n_joints, n_muscles, n_powers)
        Directions by flexion: coefficients of rising powers. NaN for lines of another form.
    range_rad : ndarray of shape (n_joints, n_muscles, 2)
        Range of flexion of these directions.
    in_plane_part : ndarray of shape (n_joints, n_muscles)
        Part of the tension in the plane: 1 but for directions.
    """

    crosses: BoolArray
    points_m: FloatArray
    checked: BoolArray
    coefficients_rad: FloatArray
    range_rad: FloatArray
    in_plane_part: FloatArray

    @property
    def directed(self) -> BoolArray:
        """Mask of lines given as a direction by flexion, shape (n_joints, n_muscles)."""
        return np.asarray(~np.isnan(self.coefficients_rad[..., 0]))

    @property
    def known(self) -> BoolArray:
        """Mask of known lines, shape (n_joints, n_muscles)."""
        return np.asarray(self.directed | ~np.isnan(self.points_m[..., 0]))


def segment_axes(angle_rad: ArrayLike, flexion_zero_rad: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Orientations of the axes of lines of action.

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
    At zero flexion two axes are in line or at a right angle. Where the line between a segment's ends differs from that,
    as the line from the ankle to the toes does from the sole, the axis is turned back by the difference. The orientation
    of the segment proximal of the first joint is not measured; its axis is the first segment's at zero flexion.

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
        For `contact_force`. A muscle crosses a joint also where its arm was not sampled.
    """
    lines = [[muscle.lines_of_action.get(joint) for muscle in muscles] for joint in joints]
    return line_arrays(lines, [[joint in muscle.crosses for muscle in muscles] for joint in joints])


def line_arrays(lines: Sequence[Sequence[LineOfAction | None]], crosses: ArrayLike) -> Lines:
    """Lines of action as arrays.

    Parameters
    ----------
    lines : sequence of sequences of LineOfAction or None
        Line of each muscle at each joint; None where unknown or absent.
    crosses : array_like of bool, shape (n_joints, n_muscles)
        True where the muscle crosses the joint.

    Returns
    -------
    Lines
        For `contact_force`.
    """
    across = np.asarray(crosses, dtype=bool)
    points = np.full((*across.shape, 4), np.nan)
    checked = np.zeros(across.shape, dtype=bool)
    given = [line.direction_deg for of_joint in lines for line in of_joint if line and line.direction_deg]
    n_powers = max(map(len, given), default=1)
    coefficients, limits = np.full((*across.shape, n_powers), np.nan), np.full((*across.shape, 2), np.nan)
    part = np.ones(across.shape)
    for j, of_joint in enumerate(lines):
        for m, line in enumerate(of_joint):
            if line is None:
                continue
            if line.direction_deg:
                powers = np.radians(line.direction_deg)
                coefficients[j, m] = np.pad(powers, (0, n_powers - len(powers)))
                limits[j, m], part[j, m] = np.radians(line.range_deg or EVERYWHERE), line.in_plane_part or 1.0
            elif line.parallel_to:
                points[j, m] = PARALLEL_TO[line.parallel_to]
            else:
                points[j, m], checked[j, m] = (*(line.proximal_m or ()), *(line.distal_m or ())), True
    return Lines(across, points, checked, coefficients, limits, part)


def unit_pulls(
    lines: Lines, joint: int, muscles: ArrayLike, between_rad: FloatArray, flexion_rad: FloatArray | None = None
) -> FloatArray:
    """Force of given muscles across a joint at unit tension, in distal axes.

    Parameters
    ----------
    lines : Lines
        Lines of action.
    joint : int
        Index of the joint.
    muscles : array_like of int, shape (n_muscles,)
        Indices of the muscles.
    between_rad : ndarray of shape (n_frames,)
        Angle from the proximal to the distal axis, positive in the sense of flexion.
    flexion_rad : ndarray of shape (n_frames,), optional
        Flexion of the joint, for directions: `between_rad` by default, which is another where the axes are at a right angle
        at zero flexion (ankle). Beyond the range of a direction, the direction is that of the range's end.

    Returns
    -------
    ndarray of shape (2, n_muscles, n_frames)
        Along the distal segment's axis (towards its distal end) and to its flexor side; NaN without a line.
    """
    which = np.asarray(muscles, dtype=int)
    stretch = free_stretch(lines.points_m[joint, which], between_rad)
    pull = stretch / stretch_length(stretch)
    some = np.flatnonzero(lines.directed[joint, which])
    if some.size:
        low, high = lines.range_rad[joint, which[some]].T[..., None]
        held = np.clip(between_rad if flexion_rad is None else flexion_rad, low, high)
        direction = np.zeros_like(held)
        for coefficient in lines.coefficients_rad[joint, which[some]].T[::-1]:
            direction = direction * held + coefficient[:, None]
        pull[:, some] = lines.in_plane_part[joint, which[some], None] * np.stack(
            [-np.cos(direction), np.sin(direction)]
        )
    return np.asarray(pull)


def along_and_across(force_n: ArrayLike, axis_rad: ArrayLike, *, flexion_sign: float) -> tuple[FloatArray, FloatArray]:
    """Components of a force along and across an axis.

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
        Part towards the distal end, and part towards the flexor side, N. The compression of the ankle is the part along
        the shank, not along its distal segment, the foot.
    """
    force, axis = np.asarray(force_n, dtype=float), np.asarray(axis_rad, dtype=float)
    cosine, sine = np.cos(axis), np.sin(axis)
    return (force[:, 0] * cosine + force[:, 1] * sine, flexion_sign * (force[:, 1] * cosine - force[:, 0] * sine))


def free_stretch(points: FloatArray, flexion: FloatArray) -> FloatArray:
    """Vector from distal to proximal point, in distal axes: (2, n_muscles, n_frames).

    The proximal axis, seen from the distal one and with the flexor side to its left, is at minus the flexion.
    """
    along, across, distal_along, distal_across = points.T
    turning = np.array([np.cos(flexion), np.sin(flexion), np.ones_like(flexion)])
    coefficients = np.array([[-along, across, -distal_along], [across, along, -distal_across]])
    return np.asarray(np.swapaxes(coefficients, 1, 2) @ turning)


def stretch_length(stretch: FloatArray) -> FloatArray:
    """Length of the free part; NaN where its ends coincide."""
    length = np.sqrt(stretch[0] ** 2 + stretch[1] ** 2)
    return np.where(length > 0.0, length, np.nan)


def stretch_moment(points: FloatArray, flexion: FloatArray) -> FloatArray:
    """Moment of the free part about the joint, flexion positive.

    Shape (n_muscles, n_frames); the moment over the length is the moment arm.
    """
    along, across, distal_along, distal_across = points.T
    coefficients = np.array(
        [distal_along * across + distal_across * along, distal_along * along - distal_across * across]
    )
    return np.asarray(coefficients.T @ np.array([np.cos(flexion), np.sin(flexion)]))


def in_plane(parts: FloatArray, axis: FloatArray, *, flexion_sign: float) -> FloatArray:
    """In-plane vectors, (n_frames, 2), from components along and across an axis.

    Across points to the flexor side; components have shape (2, n_frames).
    """
    cosine, sine = np.cos(axis), np.sin(axis)
    along, left = parts[0], flexion_sign * parts[1]
    return np.stack([along * cosine - left * sine, along * sine + left * cosine], axis=1)
