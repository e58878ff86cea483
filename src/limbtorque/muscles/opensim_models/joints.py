"""Joints of a chain in an OpenSim model: coordinate, direction of flexion, range."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import ModelError, did_you_mean
from limbtorque.muscles.opensim_models.model import Coordinate, OpenSimModel

FORWARD, UP, RIGHT = np.eye(3)  # axes of OpenSim's pelvis and thorax
LARGEST_TILT_DEG = 25.0  # of a joint's axis from the plane's normal; the ankle's is 12 deg in Rajagopal et al. (2016)
STEP_RAD = 0.01
LEAST_RANGE_DEG = 10.0
NO_JOINT = "none"


@dataclass(frozen=True)
class JointRule:
    """A joint of a chain, with the names that identify it in a model.

    Parameters
    ----------
    coordinates : tuple of str
        Names of its coordinate in published models, without the side.
    flexes : float
        +1 where the distal segment flexes forwards and up (counter-clockwise seen from the right), -1 backwards.
    range_deg : pair of float
        Range of flexion that people have; the model's range is cut to it.
    distal_axis : ndarray of shape (3,)
        Direction of the distal segment at flexion 0.
    about : str
        Flexion in words.
    """

    coordinates: tuple[str, ...]
    flexes: float
    range_deg: tuple[float, float]
    distal_axis: FloatArray
    about: str


RULES: dict[str, dict[str, JointRule]] = {
    "leg": {
        "hip": JointRule(
            ("hip_flexion",), 1.0, (-30.0, 120.0), -UP, "Flexion of the thigh on the pelvis, forwards positive"
        ),
        "knee": JointRule(
            ("knee_angle", "knee_flexion"),
            -1.0,
            (-10.0, 140.0),
            -UP,
            "Flexion of the shank on the thigh, heel towards the buttock positive",
        ),
        "ankle": JointRule(
            ("ankle_angle", "ankle_flexion", "ankle_dorsiflexion"),
            1.0,
            (-50.0, 40.0),
            FORWARD,
            "Dorsiflexion of the foot on the shank, toes upwards positive",
        ),
    },
    "arm": {
        "shoulder": JointRule(
            ("shoulder_elev", "arm_flex", "shoulder_flexion", "shoulder_elv"),
            1.0,
            (-60.0, 150.0),
            -UP,
            "Elevation of the upper arm in the sagittal plane, forwards positive",
        ),
        "elbow": JointRule(
            ("elbow_flex", "elbow_flexion"), 1.0, (0.0, 150.0), -UP, "Flexion of the forearm on the upper arm, positive"
        ),
        "wrist": JointRule(
            ("wrist_flex", "wrist_flexion", "flexion"),
            1.0,
            (-80.0, 80.0),
            -UP,
            "Palmar flexion of the hand on the forearm, positive",
        ),
    },
}


@dataclass(frozen=True)
class ModelJoint:
    """A joint of the chain in a model.

    Parameters
    ----------
    name : str
        hip, knee, ...
    coordinate : str
        Coordinate of the model.
    sign : float
        Flexion is this times the coordinate.
    range_deg : pair of float
        Range of flexion to sample.
    tilt_deg : float
        Angle between the joint's axis and the normal of the plane.
    """

    name: str
    coordinate: str
    sign: float
    range_deg: tuple[float, float]
    tilt_deg: float

    def value_rad(self, flexion_deg: float) -> float:
        """Value of the coordinate at a flexion."""
        return self.sign * math.radians(flexion_deg)


@dataclass(frozen=True)
class JointChoice:
    """Coordinates and ranges given by the user; empty for the model's.

    Parameters
    ----------
    coordinates : mapping of str to str
        Coordinate of a joint; ``none`` to leave the joint out.
    range_deg : mapping of str to pair of float
        Range of flexion of a joint.
    """

    coordinates: Mapping[str, str]
    range_deg: Mapping[str, tuple[float, float]]


def chain_joints(model: OpenSimModel, chain: str, *, side: str, choice: JointChoice) -> tuple[ModelJoint, ...]:
    """Joints of a chain that a model has.

    Parameters
    ----------
    model : OpenSimModel
        The model; it is left in its default posture.
    chain : str
        arm or leg.
    side : str
        left or right.
    choice : JointChoice
        Names and ranges that the user gives.

    Returns
    -------
    tuple of ModelJoint
        Proximal first; without those of which the model has no coordinate, none if it has none of this limb.

    Raises
    ------
    ModelError
        A joint does not turn in the sagittal plane, depends on another coordinate, is no part of the chain, or a name or
        a range does not fit.
    """
    rules = RULES[chain]
    for joint in [*choice.coordinates, *choice.range_deg]:
        if joint not in rules:
            raise ModelError(
                f"{model.file}: the {chain} has no joint '{joint}', expected {', '.join(rules)}{did_you_mean(joint, rules)}"
            )
    named = {joint: _coordinate(model, joint, rule, side, choice) for joint, rule in rules.items()}
    model.pose({})
    joints = tuple(
        _joint(model, joint, coordinate, rules[joint], choice) for joint, coordinate in named.items() if coordinate
    )
    _check_order(model, joints)
    return joints


def _coordinate(model: OpenSimModel, joint: str, rule: JointRule, side: str, choice: JointChoice) -> Coordinate | None:
    if joint in choice.coordinates:
        name = choice.coordinates[joint]
        if name == NO_JOINT:
            return None
        return model.named(name, f"for the {joint} (--coordinate)")
    forms = ("{0}_{1}", "{1}_{0}", "{0}_{2}", "{2}_{0}", "{0}")
    names = [form.format(name, side[0], side) for form in forms for name in rule.coordinates]
    lower = {name.lower(): one for name, one in model.coordinates.items()}
    return next((lower[name] for name in names if name in lower), None)


def _joint(model: OpenSimModel, name: str, one: Coordinate, rule: JointRule, choice: JointChoice) -> ModelJoint:
    where = f"{model.file}: the {name}'s coordinate {one.name}"
    if not one.rotates:
        raise ModelError(f"{where} is a distance, expected an angle; name another coordinate: --coordinate {name}=NAME")
    if one.driven:
        raise ModelError(
            f"{where} is a function of another or prescribed; name the coordinate that drives it: --coordinate {name}=NAME"
        )
    axis = _axis(model, one)
    if axis is None:
        raise ModelError(
            f"{where} does not turn {one.child} against {one.parent}; check its joint in OpenSim, or name another coordinate: --coordinate "
            f"{name}=NAME"
        )
    along = float(axis @ RIGHT)
    tilt = math.degrees(math.acos(min(abs(along), 1.0)))
    if tilt > LARGEST_TILT_DEG:
        raise ModelError(
            f"{where} turns about an axis {tilt:.0f} deg from the normal of the sagittal plane, expected {LARGEST_TILT_DEG:g} "
            f"at most; hold the coordinates before it at other angles (--hold NAME=DEGREES), name another (--coordinate {name}=NAME), or leave it out ({name}={NO_JOINT})"
        )
    sign = math.copysign(rule.flexes, rule.flexes * along)
    ends = sorted(round(sign * math.degrees(end), 1) for end in one.range_rad)
    common = max(ends[0], rule.range_deg[0]), min(ends[1], rule.range_deg[1])
    low, high = choice.range_deg.get(name, common)
    if not (math.isfinite(low) and math.isfinite(high) and high - low >= LEAST_RANGE_DEG):
        raise ModelError(
            f"{where} has a range of flexion of {low:g} to {high:g} deg, expected {LEAST_RANGE_DEG:g} deg at least; give one: "
            f"--range {name}=LOW:HIGH"
        )
    return ModelJoint(name, one.name, sign, (low, high), tilt)


def _axis(model: OpenSimModel, one: Coordinate) -> FloatArray | None:
    """Axis, in ground, about which a coordinate turns its distal body, or None."""
    start = model.held.get(one.name, one.default)
    turns = []
    for value in (start, start + STEP_RAD):
        model.pose({one.name: value})
        turns.append(model.place(one.child)[0] @ model.place(one.parent)[0].T)
    model.pose({})
    change = turns[1] @ turns[0].T
    axis = np.array([change[2, 1] - change[1, 2], change[0, 2] - change[2, 0], change[1, 0] - change[0, 1]])
    length = float(np.linalg.norm(axis))
    return axis / length if length > 0.1 * STEP_RAD else None


def _check_order(model: OpenSimModel, joints: tuple[ModelJoint, ...]) -> None:
    """Check that each joint moves the bodies of those after it."""
    for proximal, distal in itertools.pairwise(joints):
        body = model.coordinates[distal.coordinate].child
        places = []
        for flexion in proximal.range_deg:
            model.pose({proximal.coordinate: proximal.value_rad(flexion)})
            places.append(model.place(body)[0])
        model.pose({})
        if np.allclose(places[0], places[1], atol=1e-6):
            raise ModelError(
                f"{model.file}: {proximal.coordinate} ({proximal.name}) does not move {body}, the body of {distal.coordinate} "
                f"({distal.name}); expected joints of one limb: name them, --coordinate {distal.name}=NAME"
            )


def moving_as_one(model: OpenSimModel, joint: ModelJoint, body: str, bodies: Iterable[str]) -> set[str]:
    """Bodies that do not move relative to a given body when a joint moves.

    Parameters
    ----------
    model : OpenSimModel
        The model; it is left in another posture.
    joint : ModelJoint
        The joint.
    body : str
        The one body.
    bodies : iterable of str
        The bodies to be looked at.

    Returns
    -------
    set of str
    """
    names, seen = list(dict.fromkeys(bodies)), []
    for flexion in (*joint.range_deg, sum(joint.range_deg) / 2):
        model.pose({joint.coordinate: joint.value_rad(flexion)})
        turn, origin = model.place(body)
        placed = [model.place(name) for name in names]
        seen.append(np.array([np.column_stack([turn.T @ of, turn.T @ (at - origin)]) for of, at in placed]))
    still: BoolArray = np.asarray(np.isclose(seen[0], seen[1:], rtol=0.0, atol=1e-9).all(axis=(0, 2, 3)))
    return {name for name, stays in zip(names, still, strict=True) if stays}
