"""Lines of action from the points of a muscle's path, in the axes of the segments on either side of a joint."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.opensim_models.joints import RIGHT, RULES, UP, ModelJoint
from limbtorque.muscles.opensim_models.model import OpenSimModel, PathPoint

N_POSTURES = 7
OBLIQUE_DEG = 20.0
MOVED_M = 2e-3
FARTHEST_M = 0.6  # of a point from the joint, in a muscle set


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes of the segments on either side of a joint at flexion 0, seen from the bodies that the joint connects.

    Parameters
    ----------
    proximal, distal : ndarray of shape (3, 3)
        Rows: along the segment from its proximal to its distal end, to the flexor side, and the normal of the plane.
    bodies : tuple of two str
        The bodies.
    """

    proximal: FloatArray
    distal: FloatArray
    bodies: tuple[str, str]


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
    The line runs from the last point of the path before the first one that moves with the distal segment. Both are means
    over seven postures of the joint with the others at flexion 0: exact where the points are fixed to the segments, while a
    point on a wrapping surface moves. It is projected into the sagittal plane. A muscle without a point that moves with the
    distal segment, as one that ends on the patella, pulls parallel to that segment.
    """
    neutral = {one.coordinate: 0.0 for one in joints}
    model.pose(neutral)
    centres = [model.joint_centre(one.coordinate) for one in joints]
    sides = [_axes(model, j, joints, centres, chain) for j in range(len(joints))]
    lines: dict[str, dict[str, dict[str, Any]]] = {muscle: {} for muscle in crossed}
    for joint, axes in zip(joints, sides, strict=True):
        muscles = [muscle for muscle, of in crossed.items() if joint in of]
        seen: dict[str, list[FloatArray]] = {muscle: [] for muscle in muscles}
        distal = _distal_bodies(model, joint, axes.bodies)
        for flexion in np.linspace(*joint.range_deg, N_POSTURES):
            model.pose({**neutral, joint.coordinate: joint.value_rad(float(flexion))})
            centre = model.joint_centre(joint.coordinate)
            for muscle in muscles:
                if ends := _ends(model.path(muscle), distal):
                    seen[muscle].append(_in_axes(model, axes, ends, centre))
        for muscle in muscles:
            if entry := _entry(seen[muscle], model.file):
                lines[muscle][joint.name] = entry
    model.pose({})
    return lines


def _axes(model: OpenSimModel, j: int, joints: Sequence[ModelJoint], centres: Sequence[FloatArray], chain: str) -> Axes:
    """Axes at a joint in the posture, which is that of flexion 0."""
    rule = RULES[chain][joints[j].name]
    one = model.coordinates[joints[j].coordinate]
    proximal = centres[j] - centres[j - 1] if j else -UP
    distal = centres[j + 1] - centres[j] if j + 1 < len(joints) else rule.distal_axis
    rows = [_rows(axis, rule.flexes) for axis in (proximal, distal)]
    turned = [row @ model.place(body)[0] for row, body in zip(rows, (one.parent, one.child), strict=True)]
    return Axes(turned[0], turned[1], (one.parent, one.child))


def _rows(axis: FloatArray, flexes: float) -> FloatArray:
    along = axis - (axis @ RIGHT) * RIGHT
    along = along / np.linalg.norm(along)
    return np.array([along, flexes * np.cross(RIGHT, along), RIGHT])


def _distal_bodies(model: OpenSimModel, joint: ModelJoint, bodies: tuple[str, str]) -> set[str]:
    """Bodies that the joint moves as one with its distal body."""
    seen: list[dict[str, FloatArray]] = []
    every = {body for data in model.muscles.values() for body in data.bodies}
    for flexion in joint.range_deg:
        model.pose({joint.coordinate: joint.value_rad(flexion)})
        turn, origin = model.place(bodies[1])
        placed = {body: model.place(body) for body in every}
        seen.append({name: np.column_stack([turn.T @ of, turn.T @ (at - origin)]) for name, (of, at) in placed.items()})
    return {body for body in every if np.allclose(seen[0][body], seen[1][body], rtol=0.0, atol=1e-9)}


def _ends(points: Sequence[PathPoint], distal: set[str]) -> tuple[FloatArray, FloatArray] | None:
    """Last point before those that move with the distal segment, and the first of these; None without such points."""
    far = [point.body in distal for point in points]
    if far[0]:
        points, far = points[::-1], far[::-1]
    if not any(far) or all(far):
        return None
    first = far.index(True)
    return points[first - 1].place_m, points[first].place_m


def _in_axes(model: OpenSimModel, axes: Axes, ends: tuple[FloatArray, FloatArray], centre: FloatArray) -> FloatArray:
    """Proximal point along and across, distal point along and across, and the angle of the line with the plane."""
    turns = [row @ model.place(body)[0].T for row, body in zip((axes.proximal, axes.distal), axes.bodies, strict=True)]
    proximal, distal = (turn @ (end - centre) for turn, end in zip(turns, ends, strict=True))
    pull = ends[1] - ends[0]
    oblique = math.degrees(math.asin(min(abs(float(turns[0][2] @ pull)) / float(np.linalg.norm(pull)), 1.0)))
    return np.array([-proximal[0], proximal[1], distal[0], distal[1], oblique])


def _entry(seen: Sequence[FloatArray], file: str) -> dict[str, Any] | None:
    source = f"path points of {file}, projected into the plane"
    if not seen:
        return {
            "parallel_to": "distal",
            "source": f"{file} has no path point on the distal segment",
            "note": "The path ends on a body that moves against the distal segment, such as the patella.",
        }
    *ends, oblique = np.mean(seen, axis=0)
    if max(map(abs, ends)) >= FARTHEST_M:
        return None
    moved = float(np.ptp(np.array(seen)[:, :4], axis=0).max())
    notes = [f"Mean of points that move by up to {1e3 * moved:.0f} mm."] if moved > MOVED_M else []
    notes += [f"The line is {oblique:.0f} deg oblique to the plane."] if oblique > OBLIQUE_DEG else []
    points = {"proximal_m": [round(float(x), 4) for x in ends[:2]], "distal_m": [round(float(x), 4) for x in ends[2:]]}
    return {**points, "source": source, **({"note": " ".join(notes)} if notes else {})}
