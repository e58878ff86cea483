"""Walks in space: pelvis and feet on given paths, ground forces from the motion of the whole body.

Feet follow the planar walk of `limbtorque.simulation.gait`, each in the direction of its own step; hip, knee and ankle follow. The
pelvis sways as the balance over a wanted centre of pressure asks for (an inverted pendulum, solved by waves of the stride), so that the
moments about the ground are those of the motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from paths import ComplexArray, FloatArray, constant, heading, in_space, product, rotating, smooth, waves

from bodies import FREE_AXES, SIDES, Person
from limbtorque.simulation.gait import TOE_OFF, Walker, WalkingLeg, walk
from space import UP, G, Load, Motion, Segment, State, States, cross, follow, laboratory, states_of, step, whole

SAMPLES, ROUNDS, WAVES = 100, 14, 24  # in a stride, towards the sway, and its waves
REACH = 0.9970  # of the leg's length, between hip and ankle
RIGHT = {"right": 1.0, "left": -1.0}
BySide = Mapping[str, NDArray]


@dataclass(frozen=True)
class Style:
    """Properties of a walk.

    Attributes
    ----------
    stride_s, speed_m_s : float
        Duration of a stride, speed.
    width_m : float
        Between the lines of the heels.
    toe_out_deg, list_deg, rotation_deg : float
        Foot progression; amplitudes of the pelvis' list and rotation.
    tilt_deg, lean_deg, nod_deg : float
        Forward tilt of the pelvis, lean of the trunk, and amplitude of the latter.
    knee_rotation, knee_abduction : float
        Of the knee, as shares of its flexion.
    direction_deg, radius_m : float
        Direction of travel in the laboratory, and radius of the arc (left positive; infinite: straight).
    first_strike_s : float
        When the right heel strikes the ground at the origin; the left one follows half a stride later.
    """

    stride_s: float = 1.1
    speed_m_s: float = 1.15
    width_m: float = 0.11
    toe_out_deg: float = 7.0
    list_deg: float = 4.5
    rotation_deg: float = 4.0
    tilt_deg: float = 8.0
    lean_deg: float = -1.0
    nod_deg: float = 2.5
    knee_rotation: float = 0.12
    knee_abduction: float = 0.04
    direction_deg: float = 0.0
    radius_m: float = np.inf
    first_strike_s: float = 0.0


@dataclass(frozen=True)
class Moved:
    """A movement with its loads.

    Attributes
    ----------
    time_s : ndarray of shape (n_frames,)
        Times.
    motion : Motion
        Coordinates.
    states : dict of str to State
        Motion of the segments.
    loads : tuple of Load
        Ground forces, of each foot.
    events : tuple of (float, str, str)
        Time, side and name of foot strikes and foot offs.
    """

    time_s: FloatArray
    motion: Motion
    states: States
    loads: tuple[Load, ...]
    events: tuple[tuple[float, str, str], ...] = ()


@dataclass(frozen=True)
class _Course:
    """Prescribed motion of a walk at given times."""

    cycles: FloatArray
    legs: Mapping[str, WalkingLeg]
    feet: States
    pressure: BySide
    share: BySide
    way: FloatArray
    front: ComplexArray


def walk_in_space(person: Person, style: Style, time_s: FloatArray) -> Moved:
    """Exact motion and loads of a walk."""
    walker = Walker(person.mass_kg, person.height_m, style.stride_s, style.speed_m_s)
    lower, sway = _sway(person, style, walker)
    course = _course(style, walker, time_s)
    motion, states = _motion(person, style, course, sway, lower)
    force, moment = whole(person.body, states)
    loads = shared(person, force, moment, course.pressure, course.share)
    events = []
    for side, shift in zip(SIDES, (0.0, 0.5), strict=True):
        for name, phase in (("Foot Strike", 0.0), ("Foot Off", TOE_OFF)):
            times = style.first_strike_s + style.stride_s * (np.arange(-20, 40) + shift + phase)
            events += [(float(at), side, name) for at in times if time_s[0] <= at <= time_s[-1]]
    return Moved(time_s, motion, states, loads, tuple(sorted(events)))


def shared(person: Person, force: FloatArray, moment: FloatArray, pressure: BySide, share: BySide) -> tuple[Load, ...]:
    """Loads of the feet that balance the body, by the wanted centres of pressure and their shares.

    The pressures are moved together to where the balance of moments asks for; the feet push against each other along the line between
    them, which has no moment, so that each force points above the body.
    """
    wanted = sum(share[side] * pressure[side] for side in SIDES)
    actual = zero_moment(force, moment)
    height = 0.62 * person.height_m
    twist = moment[:, 1] - cross(in_space(actual, 0.0 * force[:, 0]), force)[:, 1]
    loads = []
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        apart = share[side] * share[other] * (pressure[other] - pressure[side]) / height
        pushed = share[side][:, None] * force + in_space(apart * force[:, 1], 0.0 * twist)
        place = in_space(pressure[side] + actual - wanted, 0.0 * twist)
        loads.append(Load(f"{side}_foot", pushed, place, (share[side] * twist)[:, None] * UP))
    return tuple(loads)


def zero_moment(force: FloatArray, moment: FloatArray) -> ComplexArray:
    """Point of the ground about which the moment is vertical, forward + i left."""
    return (moment[:, 2] + 1j * moment[:, 0]) / force[:, 1]


def _sway(person: Person, style: Style, walker: Walker) -> tuple[float, Mapping[int, complex]]:
    """Drop of the pelvis below its planar path, and the waves of its sway (complex exponentials of the stride)."""
    time_s = style.first_strike_s + style.stride_s * np.arange(SAMPLES) / SAMPLES
    course = _course(style, walker, time_s)
    number = np.fft.fftfreq(SAMPLES, 1.0 / SAMPLES)
    pendulum = 1.0 + 0.56 * person.height_m / G * (2.0 * np.pi * number / style.stride_s) ** 2
    sway = np.zeros(SAMPLES, dtype=complex)
    sway[0] = (course.legs["right"].kinematics.base_m[:, 0] - course.way[0]).mean()
    for _ in range(ROUNDS):
        waves_of = {int(k): sway[int(k)] for k in number if abs(k) <= WAVES}
        lower = _lowered(person, style, course, waves_of)
        _, states = _motion(person, style, course, waves_of, lower)
        wanted = sum(course.share[side] * course.pressure[side] for side in SIDES)
        apart = (wanted - zero_moment(*whole(person.body, states))) / course.front[0]
        sway = sway + np.fft.fft(apart) / SAMPLES / pendulum
    return lower, waves_of


def _lowered(person: Person, style: Style, course: _Course, sway: Mapping[int, complex]) -> float:
    """Way down of the pelvis after which both legs reach the feet."""
    base, excess = pose(*_pelvis(style, course, sway, 0.0)), []
    for side, limb in person.limbs.items():
        away = base.point(person.body[limb[0]].centre_m) - course.feet[side].at
        length = REACH * sum(person.body[name].length_m for name in limb[:2])
        excess.append(away[:, 1] - np.sqrt(length**2 - (away[:, [0, 2]] ** 2).sum(axis=1)))
    return float(np.max(excess))


def _course(style: Style, walker: Walker, time_s: FloatArray) -> _Course:
    legs = walk(walker, time_s, first_strike_s=style.first_strike_s)
    cycles = (time_s - style.first_strike_s) / style.stride_s
    total = sum(leg.force_n[:, 1] for leg in legs.values())
    start = np.radians(style.direction_deg)
    way = np.stack([cycles * walker.stride_m, np.full(time_s.size, style.speed_m_s), np.zeros(time_s.size)])
    feet, pressure = {}, {}
    for side, shift in zip(SIDES, (0.0, 0.5), strict=True):
        feet[side], pressure[side] = _foot(style, walker, legs[side], cycles - shift, shift, RIGHT[side])
    front = heading(way / style.radius_m + constant(start, time_s))
    share = {side: leg.force_n[:, 1] / total for side, leg in legs.items()}
    return _Course(cycles, legs, feet, pressure, share, way, front)


def _foot(
    style: Style, walker: Walker, leg: WalkingLeg, cycles: FloatArray, shift: float, right: float
) -> tuple[State, ComplexArray]:
    """Motion of a foot, and the wanted centre of pressure, from those of the planar walk."""
    number = np.floor(cycles)
    turning, start = walker.stride_m / style.radius_m, np.radians(style.direction_deg)
    out = -right * np.radians(style.toe_out_deg)
    ankle, pitch = planar_foot(walker, leg)
    planar = ankle.real.copy()
    planar[0] -= (number + shift) * walker.stride_m
    swung = smooth((cycles - number - TOE_OFF) / (1.0 - TOE_OFF), 1.0 / (style.stride_s * (1.0 - TOE_OFF)))
    ends, directions = [], []
    for later in (0.0, 1.0):
        angle = (number + shift + later) * turning + start
        aside = 0.5j * right * style.width_m * np.exp(1j * angle)
        at = arc((number + shift + later) * walker.stride_m, style) - aside
        directions.append(np.exp(1j * (angle + out)))
        along = planar - later * constant(walker.stride_m, cycles)
        ends.append(constant(0.0, cycles) + along * directions[-1] + np.stack([at, 0.0 * at, 0.0 * at]))
    ground = ends[0] + product(swung, ends[1] - ends[0])
    yaw = constant(start + out, cycles) + turning * swung
    yaw[0] += (number + shift) * turning
    pressed = leg.pressure_m[:, 0] - (number + shift) * walker.stride_m - planar[0]
    pressure = ends[0][0] + pressed * directions[0]
    return pose(in_space(ground, ankle.imag), np.stack([yaw, 0.0 * yaw, pitch], axis=-1)), pressure


def planar_foot(walker: Walker, leg: WalkingLeg) -> tuple[ComplexArray, FloatArray]:
    """Ankle, forward + i up, and pitch of a leg in the plane, with their derivatives."""
    motion = leg.kinematics
    base = np.stack([motion.base_m, motion.base_velocity_m_s, motion.base_acceleration_m_s2]) @ [1.0, 1.0j]
    joints = np.stack([motion.angle_rad, motion.velocity_rad_s, motion.acceleration_rad_s2])
    theta = np.cumsum(joints, axis=2)
    ankle = base + sum(length * heading(theta[..., k]) for k, length in enumerate(walker.leg_m))
    pitch = theta[..., 2].copy()
    pitch[0] -= np.arctan2(*walker.foot_m[2, ::-1])
    return ankle, pitch


def pose(place: FloatArray, angles: FloatArray) -> State:
    """State of a body at a place, turned by rotation, list and tilt; each (3, n_frames, 3)."""
    body = Segment("", "", "", np.zeros(3), FREE_AXES, 0.0, 0.0, np.zeros(3), np.zeros((3, 3)))
    return step(laboratory(place.shape[1]), body, angles, place)


def arc(way: NDArray, style: Style) -> NDArray:
    """Place in the ground plane after a way along the path."""
    start = np.exp(1j * np.radians(style.direction_deg))
    if np.isinf(style.radius_m):
        return way * start
    return 1j * style.radius_m * (1.0 - np.exp(1j * way / style.radius_m)) * start


def _pelvis(style: Style, course: _Course, sway: Mapping[int, complex], lower: float) -> tuple[FloatArray, FloatArray]:
    """Place and angles of the pelvis, each (3, n_frames, 3)."""
    by_s, cycles = 1.0 / style.stride_s, course.cycles
    hip = course.legs["right"].kinematics
    height = np.stack([hip.base_m[:, 1] - lower, hip.base_velocity_m_s[:, 1], hip.base_acceleration_m_s2[:, 1]])
    path = np.stack([arc(course.way[0], style), course.front[0] * style.speed_m_s, course.front[1] * style.speed_m_s])
    ground = path + product(course.front, rotating(sway, cycles, by_s))
    turn, angles = course.way / style.radius_m, np.radians([style.rotation_deg, style.list_deg, style.tilt_deg])
    rotation = constant(np.radians(style.direction_deg), cycles) + turn + waves({1: angles[0]}, cycles, by_s)
    listed = waves({1: -angles[1] * np.exp(-2j * np.pi * 0.17), 3: 0.12 * angles[1]}, cycles, by_s)
    tilt = waves({2: -0.1 * angles[2]}, cycles, by_s) - constant(angles[2], cycles)
    return in_space(ground, height), np.stack([rotation, listed, tilt], axis=-1)


def _motion(
    person: Person, style: Style, course: _Course, sway: Mapping[int, complex], lower: float
) -> tuple[Motion, dict[str, State]]:
    """Coordinates and states of the whole body."""
    by_s, cycles = 1.0 / style.stride_s, course.cycles
    place, angles = _pelvis(style, course, sway, lower)
    upright = -angles * np.array([0.0, 0.8, 1.0])
    upright[0, :, 2] -= np.radians(style.lean_deg)
    upright[..., 2] += waves({2: np.radians(style.nod_deg)}, cycles, by_s)
    upright[..., 0] = waves({1: -np.radians(style.rotation_deg + 4.0)}, cycles, by_s)
    angle_rad = {"pelvis": angles, "trunk": upright}
    for side, right in RIGHT.items():
        swing = waves({1: -right * 0.35}, cycles, by_s) + constant(0.1, cycles)
        angle_rad[f"{side}_whole_arm"] = np.stack([swing, constant(0.1, cycles), 0.0 * swing], axis=-1)
    knee = (style.knee_abduction, style.knee_rotation)
    return with_legs(person, Motion(angle_rad, {"pelvis": place}), course.feet, knee)


def with_legs(
    person: Person, motion: Motion, feet: States, coupled: Sequence[float], hip_rotation_rad: float | None = None
) -> tuple[Motion, dict[str, State]]:
    """Motion and states with legs that reach from the pelvis to the feet; knees as in `follow`."""
    base = states_of({"pelvis": person.body["pelvis"]}, motion)["pelvis"]
    angle_rad, shift_m = dict(motion.angle_rad), dict(motion.shift_m)
    way = np.array([-1.0, 0.5, 0.0]) * person.moving / (0.5 * np.pi)
    knee = {"coupled": coupled, "way_m": way, "hip_rotation_rad": hip_rotation_rad}
    for side, limb in person.limbs.items():
        angles, shift = follow(person.body, base, limb, feet[side], **knee)
        angle_rad |= angles
        if person.moving:
            shift_m[limb[1]] = shift
    motion = Motion(angle_rad, shift_m)
    return motion, states_of(person.body, motion)
