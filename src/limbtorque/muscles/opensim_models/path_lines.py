"""Lines of action from path points, in segment axes at a joint."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from limbtorque.arrays import FloatArray
from limbtorque.muscles.lines_of_action import free_stretch, stretch_length, stretch_moment
from limbtorque.muscles.opensim_models.joints import RIGHT, RULES, UP, ModelJoint, moving_as_one
from limbtorque.muscles.opensim_models.model import OpenSimModel

N_POSTURES = 13
AGREES_M = 3e-3  # as `joint_contact` allows
SAME_M = 2e-4
TURNED_RAD = math.radians(3.0)
HOLD_PER_M = 0.1  # keeps points along the line where the path leaves them
OBLIQUE_DEG = 20.0
HIGHEST_POWER = 5  # of a direction
STEEP_DEG = 45.0  # of a line to the plane: in the plane its direction says little
GOOD_DEG, WORST_DEG = 1.0, 10.0  # departure of a direction: a higher power is tried; no line
LEAST_SEGMENT_M = 0.01
FARTHEST_M = 0.6  # of a point from the joint, in a muscle set


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes of the two segments at a joint, fixed to its bodies at flexion 0.

    Parameters
    ----------
    proximal, distal : ndarray of shape (3, 3)
        Rows: along the segment from its proximal to its distal end, to the flexor side, and the normal of the plane.
    bodies : tuple of two str
        The bodies.
    between_rad : float
        Angle between the segments at flexion 0 as `lines_of_action.segment_axes` has it: none, or a right angle.
    """

    proximal: FloatArray
    distal: FloatArray
    bodies: tuple[str, str]
    between_rad: float


@dataclass(frozen=True, eq=False)
class Seen:
    """Muscle path across a joint in a posture.

    Parameters
    ----------
    flexion_deg : float
        Flexion of the joint.
    arm_m : float
        Moment arm, flexion positive.
    points_m : ndarray of shape (4,)
        Proximal point along and across, distal point along and across.
    oblique_deg : float
        Angle of the line with the plane.
    """

    flexion_deg: float
    arm_m: float
    points_m: FloatArray
    oblique_deg: float


def lines_of_action(
    model: OpenSimModel, crossed: Mapping[str, Sequence[ModelJoint]], joints: Sequence[ModelJoint], chain: str
) -> dict[str, dict[str, dict[str, Any]]]:
    """Line of action of each muscle at each joint that it crosses, as in a muscle set.

    Parameters
    ----------
    model : OpenSimModel
        The model; it is left in its default posture.
    crossed : mapping of str to sequence of ModelJoint
        Joints that each muscle crosses.
    joints : sequence of ModelJoint
        Joints of the chain, proximal first.
    chain : str
        arm or leg.

    Returns
    -------
    dict of str to dict of str to dict
        For each muscle and joint the entry; without those of unknown line.

    Notes
    -----
    The line runs from the last point of the path on the proximal side to the next one, on the distal side, projected into the
    sagittal plane. Where these points are fixed to the segments it is exact. Points on a wrapping surface, and those on the
    segment before the proximal one, move: the two points are then those of the line whose moment arm and direction are nearest
    to the path's by least squares (1 mm as much as 3 degrees), over 13 postures of the joint with the others at flexion 0
    and 13 with them at the middle of their range. Where such a line has another arm than the path by more than 3 mm, or another direction
    by more than 3 degrees, as iliacus and psoas over the brim of the pelvis, the entry is the direction of the straight piece, the
    tangent to the surface, by flexion, with the part of the tension in the plane; its moment about the joint is the model's arm, and the entry has
    the rms difference. A muscle that reaches the distal segment from a
    body between the two, as the quadriceps does from the patella, or that ends on such a body, pulls parallel to the distal
    segment.
    """
    neutral = {one.coordinate: 0.0 for one in joints}
    model.pose(neutral)
    centres = [model.joint_centre(one.coordinate) for one in joints]
    sides = [_axes(model, j, joints, centres, chain) for j in range(len(joints))]
    every = {name for data in model.muscles.values() for name in data.bodies}
    lines: dict[str, dict[str, dict[str, Any]]] = {muscle: {} for muscle in crossed}
    for joint, axes in zip(joints, sides, strict=True):
        muscles = [muscle for muscle, of in crossed.items() if joint in of]
        seen: dict[str, list[Seen]] = {muscle: [] for muscle in muscles}
        sides_of = [moving_as_one(model, joint, body, every) for body in axes.bodies]
        middle = {one.coordinate: one.value_rad(sum(one.range_deg) / 2) for one in joints}
        for others in (neutral, middle):
            for flexion in np.linspace(*joint.range_deg, N_POSTURES):
                model.pose({**others, joint.coordinate: joint.value_rad(float(flexion))})
                centre = model.joint_centre(joint.coordinate)
                for muscle in muscles:
                    if ends := _ends(model.path(muscle), *sides_of):
                        arm = joint.sign * model.arm(muscle, joint.coordinate)
                        seen[muscle].append(Seen(float(flexion), arm, *_in_axes(model, axes, ends, centre)))
        for muscle in muscles:
            if entry := line_entry(seen[muscle], axes, model.file):
                lines[muscle][joint.name] = entry
    model.pose({})
    return lines


def _axes(model: OpenSimModel, j: int, joints: Sequence[ModelJoint], centres: Sequence[FloatArray], chain: str) -> Axes:
    """Axes at a joint in the posture of zero flexion."""
    rule = RULES[chain][joints[j].name]
    one = model.coordinates[joints[j].coordinate]
    before = RULES[chain][joints[j - 1].name].distal_axis if j else -UP
    proximal = _between(centres[j - 1 : j + 1], before) if j else before
    distal = _between(centres[j : j + 2], rule.distal_axis)
    rows = [_rows(axis, rule.flexes) for axis in (proximal, distal)]
    turned = [row @ model.place(body)[0] for row, body in zip(rows, (one.parent, one.child), strict=True)]
    right = round(math.degrees(math.atan2(float(rows[0][1] @ distal), float(rows[0][0] @ distal))) / 90.0)
    return Axes(turned[0], turned[1], (one.parent, one.child), math.radians(90.0 * right))


def _between(centres: Sequence[FloatArray], otherwise: FloatArray) -> FloatArray:
    """Direction in the plane from a joint to the next, if any."""
    if len(centres) < 2:
        return otherwise
    span = (centres[1] - centres[0]) * (1.0 - RIGHT)
    return span if np.linalg.norm(span) > LEAST_SEGMENT_M else otherwise


def _rows(axis: FloatArray, flexes: float) -> FloatArray:
    along = axis / np.linalg.norm(axis)
    return np.array([along, flexes * np.cross(RIGHT, along), RIGHT])


def _ends(
    points: Sequence[tuple[str, FloatArray]], proximal: set[str], distal: set[str]
) -> tuple[FloatArray, FloatArray] | None:
    """Last proximal and first distal point; None if another body lies between."""
    if points[0][0] in distal:
        points = points[::-1]
    before = [i for i, (body, _) in enumerate(points) if body in proximal]
    if not before or before[-1] + 1 == len(points) or points[before[-1] + 1][0] not in distal:
        return None
    return points[before[-1]][1], points[before[-1] + 1][1]


def _in_axes(
    model: OpenSimModel, axes: Axes, ends: tuple[FloatArray, FloatArray], centre: FloatArray
) -> tuple[FloatArray, float]:
    """Both points along and across the axes, and the angle between line and plane."""
    turns = [row @ model.place(body)[0].T for row, body in zip((axes.proximal, axes.distal), axes.bodies, strict=True)]
    proximal, distal = (turn @ (end - centre) for turn, end in zip(turns, ends, strict=True))
    pull = ends[1] - ends[0]
    oblique = math.degrees(math.atan2(abs(float(turns[0][2] @ pull)), float(np.hypot(*(turns[0][:2] @ pull)))))
    return np.array([-proximal[0], proximal[1], distal[0], distal[1]]), oblique


def line_entry(seen: Sequence[Seen], axes: Axes, file: str) -> dict[str, Any] | None:
    """Line of action of a muscle at a joint, as in a muscle set.

    Parameters
    ----------
    seen : sequence of Seen
        Its path in several postures; empty for one that runs over a body between the segments.
    axes : Axes
        Axes of the segments.
    file : str
        Name of the model's file.

    Returns
    -------
    dict or None
        None without a line.
    """
    if not seen:
        return {
            "parallel_to": "distal",
            "source": f"no straight part of the path in {file} spans the joint",
            "note": "The path runs over a body between the segments, such as the patella: the force is assumed parallel to the distal "
            "segment, and not checked.",
        }
    if not np.isfinite([one.points_m for one in seen]).all():
        return None
    points = _nearest_points(seen, axes)
    if float(np.abs(points).max()) >= FARTHEST_M:
        return None
    arm_m, turned_rad = _errors(points, seen, axes)
    if np.abs(arm_m).max() > AGREES_M or np.abs(turned_rad).max() > TURNED_RAD:
        return _direction(seen, axes, file)
    notes = []
    if np.abs(arm_m).max() > SAME_M:
        notes.append(
            f"The path is not one straight line: the moment arm is within {1e3 * np.abs(arm_m).max():.1f} mm of the model's in the "
            f"sampled postures, and the direction within {np.degrees(np.abs(turned_rad)).max():.0f} deg."
        )
    oblique = float(np.mean([one.oblique_deg for one in seen]))
    if oblique > OBLIQUE_DEG:
        notes.append(f"It is {oblique:.0f} deg oblique to the plane.")
    rounded = [round(float(x), 4) for x in points]
    return {
        "proximal_m": rounded[:2],
        "distal_m": rounded[2:],
        "source": f"path points of {file}, projected into the plane",
        **({"note": " ".join(notes)} if notes else {}),
    }


def _direction(seen: Sequence[Seen], axes: Axes, file: str) -> dict[str, Any] | None:
    """Entry with the direction of the straight piece by flexion; None if it jumps."""
    in_the_plane = [one for one in seen if one.oblique_deg <= STEEP_DEG]
    steep = len(in_the_plane) < len(seen)
    seen = in_the_plane if 2 * len(in_the_plane) >= len(seen) else seen
    flexion_deg = np.array([one.flexion_deg for one in seen])
    stretch = _stretches(seen, axes)
    order = np.argsort(flexion_deg, kind="stable")
    direction = np.empty(len(seen))
    direction[order] = np.unwrap(np.arctan2(stretch[1], -stretch[0])[order])
    for power in range(1, HIGHEST_POWER + 1):
        coefficients = np.polynomial.polynomial.polyfit(np.radians(flexion_deg), np.degrees(direction), power)
        fitted_deg = np.polynomial.polynomial.polyval(np.radians(flexion_deg), coefficients)
        departure_deg = float(np.abs(fitted_deg - np.degrees(direction)).max())
        if departure_deg <= GOOD_DEG:
            break
    if departure_deg > WORST_DEG:
        return None
    in_plane = np.cos(np.radians([one.oblique_deg for one in seen]))
    distal_m = np.array([one.points_m[2:] for one in seen]).T
    arm_m = in_plane * (distal_m[0] * stretch[1] - distal_m[1] * stretch[0]) / np.hypot(*stretch)
    difference_m = arm_m - [one.arm_m for one in seen]
    low_deg, high_deg = float(flexion_deg.min()), float(flexion_deg.max())
    note = (
        f"Elsewhere it is more than {STEEP_DEG:.0f} deg oblique to the plane, and has the direction of the range's end."
    )
    return {
        "direction_deg": [round(float(c), 2) for c in coefficients],
        "in_plane_part": round(float(in_plane.mean()), 3),
        "range_deg": [round(low_deg, 1), round(high_deg, 1)],
        "max_departure_deg": round(departure_deg, 1),
        "arm_difference_m": round(float(np.sqrt(np.mean(difference_m**2))), 4),
        "source": f"straight piece of the path in {file} across the joint, projected into the plane",
        **({"note": note} if steep and seen is in_the_plane else {}),
    }


def _nearest_points(seen: Sequence[Seen], axes: Axes) -> FloatArray:
    """Two points that best represent the path, starting from its mean points."""
    start = np.mean([one.points_m for one in seen], axis=0)

    def errors(points: FloatArray) -> FloatArray:
        arm_m, turned_rad = _errors(points, seen, axes)
        far = np.maximum(np.abs(points) - 0.9 * FARTHEST_M, 0.0)
        return np.concatenate([arm_m / 1e-3, turned_rad / math.radians(3.0), far / 1e-3, (points - start) * HOLD_PER_M])

    return np.asarray(least_squares(errors, start).x)


def _errors(points: FloatArray, seen: Sequence[Seen], axes: Axes) -> tuple[FloatArray, FloatArray]:
    """Errors of a line's moment arm, m, and of its direction, rad, in every posture."""
    angle = np.radians([one.flexion_deg for one in seen]) + axes.between_rad
    stretch = free_stretch(points[None], angle)[:, 0]
    arm = stretch_moment(points[None], angle)[0] / stretch_length(stretch)
    own = _stretches(seen, axes)
    turned = np.arctan2(stretch[0] * own[1] - stretch[1] * own[0], (stretch * own).sum(axis=0))
    return np.nan_to_num(arm - [one.arm_m for one in seen], nan=1.0), np.nan_to_num(turned, nan=1.0)


def _stretches(seen: Sequence[Seen], axes: Axes) -> FloatArray:
    """Vector from distal to proximal point of each posture, in distal axes: (2, n)."""
    angle = np.radians([one.flexion_deg for one in seen]) + axes.between_rad
    return np.array([free_stretch(one.points_m[None], angle[k : k + 1])[:, 0, 0] for k, one in enumerate(seen)]).T
