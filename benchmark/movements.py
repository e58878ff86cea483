"""Runs, jumps, squats and reaches in space.

Centre of mass and feet follow the planar movements of `planar_movements`; the pelvis is where the centre of mass asks for it. The ground
pushes under the feet where the planar movement says. What the balance of moments leaves over is in the trunk, as the residual of a
recording is; a squat's pressure follows from the balance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from paths import ComplexArray, FloatArray, constant, heading, in_space, smooth, waves

from bodies import Person
from limbtorque.simulation.gait import Walker, path_at
from planar_movements import FootCourse, Movement, ankle_path
from space import Load, Motion, State, centre_of_mass, states_of, whole
from walks import RIGHT, Moved, pose, shared, with_legs

ROUNDS = 9  # towards the place of the pelvis: each leaves a quarter of the distance
LOWER_M = np.arange(-0.1, 0.25, 0.005)  # by which a body is lowered until its knees stay as bent as this
LEAST_RAD = 0.3


@dataclass(frozen=True)
class Stance:
    """Properties of a movement in space.

    Attributes
    ----------
    width_m, toe_out_deg : float
        Between the feet, and their direction.
    tilt, coupled
        Part of the trunk's lean that the pelvis takes; abduction and rotation of the knee as shares of its flexion.
    sway_deg, stride_s : float
        Amplitude of the pelvis' rotation and list with the strides of a run.
    direction_deg : float
        Direction of the movement in the laboratory.
    hip_rotation_deg : float, optional
        Of both hips; where it is left out, the feet do not rotate against the shanks.
    balanced : bool
        True if the pressure follows from the balance of moments.
    """

    width_m: float = 0.25
    toe_out_deg: float = 10.0
    tilt: float = 0.6
    coupled: tuple[float, float] = (0.04, 0.1)
    sway_deg: float = 0.0
    stride_s: float = 1.0
    direction_deg: float = 0.0
    hip_rotation_deg: float | None = None
    balanced: bool = False


def movement_in_space(person: Person, movement: Movement, stance: Stance, time_s: FloatArray) -> Moved:
    """Exact motion and loads of a planar movement of both legs, in space.

    Raises
    ------
    ValueError
        Feet out of the legs' reach.
    """
    coarse, (x, y) = np.linspace(time_s[0], time_s[-1], 80), movement.centre_m
    for lower in LOWER_M:
        lowered = replace(movement, centre_m=(x, type(y)(y.c - lower, y.x)))
        try:
            angles = _legs(person, lowered, stance, coarse).motion.angle_rad
        except ValueError:
            continue
        if min(angles[limb[1]][0, :, 0].min() for limb in person.limbs.values()) > LEAST_RAD:
            return _legs(person, lowered, stance, time_s)
    raise ValueError(f"{person.name}, {movement.name}: the feet are out of reach")


def _legs(person: Person, movement: Movement, stance: Stance, time_s: FloatArray) -> Moved:
    front = heading(constant(np.radians(stance.direction_deg), time_s))[0]
    feet, pressure, share, events = {}, {}, {}, []
    for side, foot in movement.feet.items():
        feet[side], pressure[side] = _foot(person, foot, stance, side, time_s)
        down = sum((time_s >= start) & (time_s < end) for start, end in foot.contacts_s)
        share[side] = foot.share * np.asarray(down, dtype=float)
        for name, times in zip(("Foot Strike", "Foot Off"), zip(*foot.contacts_s, strict=True), strict=True):
            events += [(float(at), side, name) for at in times if time_s[0] < at < time_s[-1]]
    centre, upwards = (path_at(path, time_s) for path in movement.centre_m)
    goal, lean = in_space(centre * front, upwards), path_at(movement.lean_rad, time_s)
    sway, strides, per_s = np.radians(stance.sway_deg), time_s / stance.stride_s, 1.0 / stance.stride_s
    turned, listed = waves({1: sway}, strides, per_s), waves({1: -1j * sway}, strides, per_s)
    pelvis = (turned + constant(np.angle(front[0]), time_s), listed, -stance.tilt * lean)
    trunk = (-2.0 * turned, 0.0 * lean, (stance.tilt - 1.0) * lean)
    angles = {"pelvis": np.stack(pelvis, axis=-1), "trunk": np.stack(trunk, axis=-1)}
    for side, right in RIGHT.items():
        swing = constant(0.1, time_s) + 0.5 * lean - right * 5.0 * turned
        angles[f"{side}_whole_arm"] = np.stack([swing, constant(0.12, time_s), 0.0 * lean], axis=-1)
    place = goal - in_space(0.0 * goal[..., 0], constant(0.05 * person.height_m, time_s))
    hips = None if stance.hip_rotation_deg is None else np.radians(stance.hip_rotation_deg)
    for _ in range(ROUNDS):
        motion, states = with_legs(person, Motion(angles, {"pelvis": place}), feet, stance.coupled, hips)
        place = place + goal - centre_of_mass(person.body, states)
    force, moment = whole(person.body, states)
    if stance.balanced:
        loads = shared(person, force, moment, pressure, share)
    else:
        parts = {side: (share[side][:, None] * force, in_space(at, 0.0 * time_s)) for side, at in pressure.items()}
        loads = tuple(Load(f"{side}_foot", *part, 0.0 * force) for side, part in parts.items())
    return Moved(time_s, motion, states, loads, tuple(sorted(events)))


def _foot(
    person: Person, foot: FootCourse, stance: Stance, side: str, time_s: FloatArray
) -> tuple[State, ComplexArray]:
    """Motion of a foot, and its centre of pressure."""
    front = heading(constant(np.radians(stance.direction_deg), time_s))[0]
    ball, pitch = path_at(foot.ball_m[0], time_s), path_at(foot.pitch_rad, time_s)
    ankle = ankle_path(Walker(person.mass_kg, person.height_m), foot, time_s)
    out = np.exp(-1j * RIGHT[side] * np.radians(stance.toe_out_deg))
    aside = -0.5j * RIGHT[side] * _width(person, stance, foot, time_s)
    yaw = constant(np.angle(front[0] * out), time_s)
    place = in_space((ball + (ankle.real - ball) * out + aside) * front, ankle.imag)
    pressure = (ball[0] + foot.pressure_m(time_s) * out + aside[0]) * front
    return pose(place, np.stack([yaw, 0.0 * yaw, pitch], axis=-1)), pressure


def _width(person: Person, stance: Stance, foot: FootCourse, time_s: FloatArray) -> FloatArray:
    """Distance between the feet's lines; in the swing of a run that of the hips."""
    width = constant(0.0, time_s)
    if len(foot.contacts_s) > 2:
        (start, end), (after, _) = foot.contacts_s[:2]
        half = 0.5 * (after - end)
        phase_s = (time_s - end) % (after - start)
        width += smooth(phase_s / half, 1.0 / half) - smooth(phase_s / half - 1.0, 1.0 / half)
    wider = 2.0 * person.body["right_thigh"].centre_m[2] - stance.width_m
    return wider * width + constant(stance.width_m, time_s)


def reach_in_space(person: Person, course: Sequence[tuple[float, Sequence[float]]], time_s: FloatArray) -> Moved:
    """Exact motion of a trunk and an arm that goes through postures, at rest in each.

    Parameters
    ----------
    person : Person
        With an arm.
    course : sequence of (float, sequence of 12 floats)
        Times, and degrees of the trunk, shoulder, elbow and wrist then, three angles each.
    time_s : ndarray of shape (n_frames,)
        Times, s.
    """
    (limb,) = person.limbs.values()
    angles = np.zeros((3, time_s.size, 12))
    angles[0] = np.radians(course[0][1])
    for (start, before), (end, after) in pairwise(course):
        way = smooth((time_s - start) / (end - start), 1.0 / (end - start))
        angles += way[..., None] * np.radians(np.subtract(after, before))
    still = constant(0.0, time_s)
    height = constant(0.35 * person.height_m, time_s)
    angle_rad = {name: angles[..., 3 * k : 3 * k + 3] for k, name in enumerate(("trunk", *limb))}
    angle_rad |= {name: np.zeros_like(angles[..., :3]) for name in person.body if name.endswith("whole_arm")}
    motion = Motion(angle_rad, {"trunk": in_space(still + 0j, height)})
    return Moved(time_s, motion, states_of(person.body, motion), ())
