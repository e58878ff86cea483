"""Level walking on force plates with known joint torques.

A planar gait is defined by the paths of feet and pelvis. The foot rolls over its heel and then over its toes without slipping, the
pelvis rises and falls twice a stride, hip and knee follow by inverse kinematics; all paths are polynomials and sines of time, so that
their derivatives are exact. Their coefficients were fitted by least squares to typical angles, torques and ground reaction forces of
adults at comfortable speed. The ground reaction force follows from the accelerations of all segments (vertically Newton's second law;
horizontally it points to a pivot above the hip). While both feet are on the ground it shifts smoothly from one to the other, as in Ren,
Jones and Howard (2008), Journal of Biomechanics 41, 2750-2759.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BPoly

from limbtorque.arrays import BoolArray, ComplexArray, FloatArray
from limbtorque.chain.inverse import joint_motion, two_link_angles
from limbtorque.chain.kinematics import in_plane
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.recordings.recording import Event, ForcePlate, Recording
from limbtorque.simulation.reach import dempster_chain

SIDES = ("right", "left")
ROWS = ("thigh", "shank", "foot")
# Shares of the cycle, which begins when the heel strikes: Perry and Burnfield (2010), Gait Analysis, 2nd ed.
FOOT_FLAT, HEEL_OFF, TOE_OFF = 0.133, 0.285, 0.62
DOUBLE_SUPPORT = TOE_OFF - 0.5
REACH = 0.999  # of the leg's length, between hip and ankle at the most: the knee stays bent by 5 degrees
# A comfortable walk by shares of the cycle and of the body's height. Paths: value, rate and acceleration where the phases join, and the
# Bernstein coefficients between these.
STRIDE = 0.72  # length of a stride; longer ones have larger angles, ripples (power 0.9) and rises (power 2)
STRIKE_DEG, TOE_OFF_DEG = (15.3, -355.7, 6708.3), (-54.5, -523.7, -5713.2)  # pitch of the foot, toes up
RISING_DEG, SWINGING_DEG = (1.09, 1.2, 2.25, -5.98, -0.58), (74.2, 33.9, 14.0, -10.1, -100.9)
FORWARD, LIFT = (-0.0212, -0.06, -0.0856, -0.0423, -0.0341), (0.0022, -0.0038, -0.0163, -0.0698, -0.0054)
TOES = 0.04  # radius of the arc on which the toes roll
# Centre of pressure from heel to ball, Bernstein coefficients over the stance
PRESSURE = (0.0, 0.514, 0.319, 0.75, 1.053, 1.031, 1.381)
HIP_BEHIND = 0.1928  # of a stride: how far the hip is behind the heel that strikes
# Amplitudes of the hip's waves up and forward, twice and four times a stride
RISES = (-0.0064 + 0.0027j, 0.0004 - 0.0005j)
RIPPLES = (0.0093 + 0.0002j, 0.0032 + 0.0009j)
PIVOT = 0.307  # above the hip: ground reaction forces point there (Maus et al. 2010, Nature Communications 1, 70)
APPROACH_S = 0.16  # before the strike: the time in which the heel gains its speed towards the ground


@dataclass(frozen=True)
class Walker:
    """A simulated person who walks.

    Attributes
    ----------
    mass_kg, height_m : float
        Body mass and height; lengths of the segments are shares of the height (Winter 2009, Figure 4.1).
    stride_s, speed_m_s : float
        Duration of a stride, and walking speed.
    strike_m_s, strike_s : float
        Vertical speed with which the heel meets the ground, m/s (0: without an impact), and the time in which it stops, s.
    """

    mass_kg: float = 70.0
    height_m: float = 1.75
    stride_s: float = 1.1
    speed_m_s: float = 1.15
    strike_m_s: float = 0.0
    strike_s: float = 0.04

    @property
    def stride_m(self) -> float:
        """Length of a stride, m."""
        return self.speed_m_s * self.stride_s

    @property
    def longer(self) -> float:
        """Length of a stride over that of a comfortable walk."""
        return self.stride_m / (STRIDE * self.height_m)

    @property
    def leg_m(self) -> FloatArray:
        """Length of thigh and shank, m."""
        return self.height_m * np.array([0.245, 0.246])

    @property
    def foot_m(self) -> FloatArray:
        """Heel, ball and head of metatarsal 2 from the ankle of a flat foot, m."""
        return self.height_m * np.array([[-0.030, -0.039], [0.075, -0.039], [0.075, -0.027]])

    @cached_property
    def chain(self) -> Chain:
        """Thigh, shank and foot by Dempster's table."""
        lengths = (*self.leg_m.tolist(), float(np.hypot(*self.foot_m[2])))
        return dempster_chain(ROWS, lengths, lengths, body_mass_kg=self.mass_kg)


@dataclass(frozen=True)
class WalkingLeg:
    """Exact motion and load of one leg in the plane of progression: x forward, y up.

    Attributes
    ----------
    joint_m : ndarray of shape (n_frames, 4, 2)
        Hip, knee, ankle and head of metatarsal 2, m.
    heel_m : ndarray of shape (n_frames, 2)
        Heel, m.
    kinematics : Kinematics
        Angles of hip, knee and ankle (each segment against the one before, the thigh against the x axis), counter-clockwise
        positive, and the position of the hip, with derivatives.
    force_n, pressure_m : ndarray of shape (n_frames, 2)
        Ground reaction force on the foot, 0 in swing, and the point where it acts.
    contact : ndarray of bool, shape (n_frames,)
        Frames in which the foot is on the ground.
    """

    joint_m: FloatArray
    heel_m: FloatArray
    kinematics: Kinematics
    force_n: FloatArray
    pressure_m: FloatArray
    contact: BoolArray


def walk(
    walker: Walker, time_s: FloatArray, *, first_strike_s: float = 0.0, gravity_m_s2: float = 9.80665
) -> dict[str, WalkingLeg]:
    """Exact motion and loads of both legs of a walking person.

    Parameters
    ----------
    walker : Walker
        The person.
    time_s : ndarray of shape (n_frames,)
        Times, s.
    first_strike_s : float
        When the right heel strikes the ground at x = 0; the left one strikes half a stride later.
    gravity_m_s2 : float
        Acceleration of gravity.

    Returns
    -------
    dict of str to WalkingLeg
        The legs, by side.
    """
    cycles = (time_s - first_strike_s) / walker.stride_s
    hip = _hip(walker, cycles)
    feet = {side: _foot(walker, cycles - shift, shift) for side, shift in zip(SIDES, (0.0, 0.5), strict=True)}
    moving = {side: joint_angles(walker, hip, foot.ankle, foot.pitch) for side, foot in feet.items()}
    soft_n = {
        side: legs_first_moment(walker, hip, joint_angles(walker, hip, foot.soft_ankle, foot.pitch))[2]
        for side, foot in feet.items()
    }
    forces = _forces(walker, hip, feet, soft_n["right"] + soft_n["left"], gravity_m_s2)
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        # the ground, or the other foot, stops a landing foot
        impact = 1j * (legs_first_moment(walker, hip, moving[side])[2] - soft_n[side]).imag
        down = feet[side].phase < 0.5
        forces[side][down] += impact[down]
        forces[other][~down] += impact[~down]
    return {side: _leg(walker, hip, feet[side], moving[side], forces[side]) for side in SIDES}


@dataclass(frozen=True)
class _Foot:
    """Path of one foot; x + i y in the plane of progression.

    Attributes
    ----------
    phase, strike_m : ndarray of shape (n_frames,)
        Share of the cycle, and place of its heel strike.
    ankle, soft_ankle : ndarray of complex, shape (3, n_frames)
        Ankle with its derivatives; and without the impact of the landing.
    pitch : ndarray of shape (3, n_frames)
        Pitch, toes up positive, with its derivatives.
    """

    phase: FloatArray
    strike_m: FloatArray
    ankle: ComplexArray
    soft_ankle: ComplexArray
    pitch: FloatArray


def _foot(walker: Walker, cycles: FloatArray, shift: float) -> _Foot:
    """Path of a foot whose heel strikes at integer cycles, `shift` strides ahead."""
    number, by_time = np.floor(cycles), walker.stride_s ** np.arange(3.0)[:, None]
    phase, strike_m = cycles - number, (number + shift) * walker.stride_m
    ankle = _ankle(walker, phase) / by_time
    ankle[0] += strike_m
    return _Foot(phase, strike_m, ankle + 1j * _landing(walker, phase), ankle, _pitch(walker, phase) / by_time)


def _pitch(walker: Walker, phase: FloatArray) -> FloatArray:
    """Pitch of the foot over the cycle, toes up, rad, with derivatives by phase."""
    knots, flat = [0.0, FOOT_FLAT, HEEL_OFF, TOE_OFF, 1.0], (0.0, 0.0, 0.0)
    straight = (0.0,) * len(RISING_DEG)
    ends = [STRIKE_DEG, flat, flat, TOE_OFF_DEG, STRIKE_DEG]
    degrees = _course(knots, ends, [straight, straight, RISING_DEG, SWINGING_DEG], phase)
    return np.asarray(np.radians(degrees) * walker.longer**0.9)


def _course(knots: Sequence[float], ends: ArrayLike, between: ArrayLike, at: FloatArray) -> Any:
    """Path by value, rate and acceleration at its knots and coefficients between.

    The coefficients belong to Bernstein polynomials that vanish at the knots with their first and second derivatives.
    """
    bends = np.pad(np.transpose(between), ((3, 3), (0, 0)))
    return path_at(BPoly.from_derivatives(knots, np.asarray(ends)), at) + path_at(BPoly(bends, knots), at)


def path_at(path: BPoly, at: FloatArray) -> FloatArray:
    """Value, first and second derivative of a path, shape (3, n_frames)."""
    return np.stack([path(at, order) for order in range(3)])


def _ankle(walker: Walker, phase: FloatArray) -> ComplexArray:
    """Ankle over a cycle from the strike at x = 0, with derivatives by phase."""
    start, end = _rolling(walker, np.array([TOE_OFF, 0.0])).T
    end[0] += walker.stride_m
    bend = walker.stride_m * np.array(FORWARD) + 1j * walker.height_m * walker.longer**0.5 * np.array(LIFT)
    swinging = _course([TOE_OFF, 1.0], [start, end], [bend], phase)
    return np.where(phase < TOE_OFF, _rolling(walker, phase), swinging)


def _rolling(walker: Walker, phase: FloatArray) -> ComplexArray:
    """Ankle while the foot turns about its heel, stands, or rolls on its toes."""
    heel, ball, _ = walker.foot_m @ [1.0, 1.0j]
    radius = np.where(phase < HEEL_OFF, 0.0, TOES * walker.height_m)
    centre = np.where(phase < HEEL_OFF, heel, ball + 1j * radius)  # of the arc, from the ankle
    angle, rate, growth = _pitch(walker, phase)
    turned = -centre * np.exp(1j * angle)
    place = (centre - heel).real + 1j * radius - radius * angle + turned
    return np.stack([place, (1j * turned - radius) * rate, (1j * turned - radius) * growth - rate**2 * turned])


def _landing(walker: Walker, phase: FloatArray) -> FloatArray:
    """Height of the foot that lands with `strike_m_s` and stops within `strike_s`."""
    speed, end = walker.strike_m_s, walker.strike_s
    time_s = np.where(phase > 0.5, phase - 1.0, phase) * walker.stride_s
    knots = [-APPROACH_S, 0.0, end]
    path = BPoly.from_derivatives(knots, [[0.0, 0.0, 0.0], [0.5 * speed * end, -speed, 0.0], [0.0, 0.0, 0.0]])
    return np.where((time_s > -APPROACH_S) & (time_s < end), path_at(path, time_s), 0.0)


def _hip(walker: Walker, cycles: FloatArray) -> ComplexArray:
    """Hip with its derivatives, as high as the leg's reach allows."""
    phase = np.linspace(0.0, 1.0, 2001)[:-1]
    away = _ankle(walker, phase)[0] - _hip_path(walker, phase)[0]
    hip = _hip_path(walker, cycles) / walker.stride_s ** np.arange(3.0)[:, None]
    hip[0] += 1j * (away.imag + np.sqrt((REACH * walker.leg_m.sum()) ** 2 - away.real**2)).min()
    return hip


def _hip_path(walker: Walker, cycles: FloatArray) -> ComplexArray:
    """Hip from its mean height, with derivatives by cycles: a ripple, a rise."""
    ripples, rises = (
        size * walker.height_m * np.array(waves)
        for size, waves in ((walker.longer**0.9, RIPPLES), (walker.longer**2, RISES))
    )
    turn = 4j * np.pi * np.arange(1, len(RISES) + 1)[:, None]
    waves = [np.exp(turn * cycles) * turn**order for order in range(3)]
    way = [walker.stride_m * (cycles - HIP_BEHIND), walker.stride_m, 0.0]
    return np.stack([way[k] + (ripples @ waves[k]).real + 1j * (rises @ waves[k]).real for k in range(3)])


def joint_angles(walker: Walker, hip: ComplexArray, ankle: ComplexArray, pitch: FloatArray) -> FloatArray:
    """Joint angles of hip, knee and ankle with derivatives, shape (3, n_frames, 3)."""
    links = Chain(walker.leg_m, np.ones(2), np.zeros(2), np.zeros(2))
    offset, velocity, acceleration = in_plane(ankle - hip)
    angle = two_link_angles(links.length_m, offset, bend="negative").angle_rad
    leg = joint_motion(
        links, angle, velocity_m_s=velocity, acceleration_m_s2=acceleration, jerk_m_s3=np.zeros_like(angle)
    )
    joints = np.stack([angle, leg.velocity_rad_s, leg.acceleration_rad_s2])
    orientation = pitch + np.array([[np.arctan2(*walker.foot_m[2, ::-1])], [0.0], [0.0]])
    return np.concatenate([joints, (orientation - joints.sum(axis=2))[..., None]], axis=2)


def legs_first_moment(walker: Walker, hip: ComplexArray, moving: FloatArray) -> ComplexArray:
    """Mass times position, summed over a leg, with derivatives, (3, n_frames)."""
    chain = walker.chain
    theta, omega, spin = np.cumsum(moving, axis=2)
    turned = np.stack([np.ones_like(theta), 1j * omega, 1j * spin - omega**2]) * np.exp(1j * theta)
    distal = hip[..., None] + np.cumsum(chain.length_m * turned, axis=2)
    return np.asarray((distal + (chain.com_m - chain.length_m) * turned) @ chain.mass_kg)


def _forces(
    walker: Walker, hip: ComplexArray, feet: dict[str, _Foot], legs_n: ComplexArray, gravity_m_s2: float
) -> dict[str, ComplexArray]:
    """Ground reaction force on each foot without impacts, shape (n_frames,)."""
    trunk_kg = walker.mass_kg - 2.0 * float(walker.chain.mass_kg.sum())
    upwards = (trunk_kg * hip[2] + legs_n).imag + walker.mass_kg * gravity_m_s2
    share = {side: _share(foot.phase) for side, foot in feet.items()}
    whole = share["right"] + share["left"]  # 1 but for rounding: the shares of the two feet add up
    forces = {}
    for side, foot in feet.items():
        away = hip[0] + 1j * PIVOT * walker.height_m - _pressure(walker, foot)
        forces[side] = share[side] / whole * upwards * (away.real / away.imag + 1j)
    return forces


def _pressure(walker: Walker, foot: _Foot) -> FloatArray:
    """Forward centre of pressure: from the heel to the toes."""
    heel, ball, _ = walker.foot_m
    course = BPoly(np.array(PRESSURE)[:, None], [0.0, TOE_OFF])
    return np.asarray(foot.strike_m + (ball[0] - heel[0]) * course(np.minimum(foot.phase, TOE_OFF)))


def _share(phase: FloatArray) -> FloatArray:
    """Fraction of the total force on a foot, with ramps in double support."""
    return _smoothstep(phase / DOUBLE_SUPPORT) * (1.0 - _smoothstep((phase - 0.5) / DOUBLE_SUPPORT))


def _smoothstep(x: FloatArray) -> FloatArray:
    """From 0 to 1, with vanishing first and second derivatives at both ends."""
    x = np.clip(x, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x**2))


def _leg(walker: Walker, hip: ComplexArray, foot: _Foot, moving: FloatArray, force: ComplexArray) -> WalkingLeg:
    contact = foot.phase < TOE_OFF
    return leg_of(walker, hip, foot.ankle, foot.pitch, moving, force, _pressure(walker, foot), contact)


def leg_of(
    walker: Walker,
    hip: ComplexArray,
    ankle: ComplexArray,
    pitch: FloatArray,
    moving: FloatArray,
    force_n: ComplexArray,
    pressure_m: FloatArray,
    contact: BoolArray,
) -> WalkingLeg:
    """Leg of hip, ankle, pitch and joint angles with derivatives, and its load."""
    links = walker.chain.length_m * np.exp(1j * np.cumsum(moving[0], axis=1))
    heel, _, _ = walker.foot_m @ [1.0, 1.0j]
    return WalkingLeg(
        joint_m=in_plane(np.cumsum(np.column_stack([hip[0], links]), axis=1)),
        heel_m=in_plane(ankle[0] + heel * np.exp(1j * pitch[0])),
        kinematics=Kinematics(*moving, *in_plane(hip)),
        force_n=in_plane(force_n),
        pressure_m=in_plane(pressure_m.astype(complex)),
        contact=contact,
    )


HALF_WIDTH_M = 0.09  # between the midline and each leg
LEG_MARKERS = ("HJC", "KJC", "AJC", "TOE", "HEE", "MT1", "MT5", "ASI", "PSI")
# Shares of the height: heads of metatarsals 1 and 5 from that of metatarsal 2 (forward of the foot, to the side), spines of the
# pelvis from the hip (forward, up, to the side)
METATARSALS = ((0.003, -0.012), (-0.008, 0.026))
SPINES = ((0.033, 0.039, 0.018), (-0.056, 0.055, -0.021))
PLATE_M = (0.6, 0.4)  # length along the way, width


@dataclass(frozen=True)
class Walkway:
    """Laboratory of a simulated walk: x forward, y to the left, z up.

    Attributes
    ----------
    plates_m : tuple of (float, float)
        Middle of each plate, along the way and across it, m; each is `PLATE_M` in size.
    rate_hz, plate_rate_hz : float
        Rates of markers and plates.
    heel_height_m : float
        Height of the heel's marker above the sole, m.
    noise_m, noise_n : float
        Standard deviation of the noise of markers and forces.
    seed : int
        Seed of the noise.
    """

    plates_m: tuple[tuple[float, float], ...] = ()
    rate_hz: float = 100.0
    plate_rate_hz: float = 1000.0
    heel_height_m: float = 0.0
    noise_m: float = 0.0
    noise_n: float = 0.0
    seed: int = 0


def walk_recording(walker: Walker, walkway: Walkway, *, duration_s: float, first_strike_s: float = 0.0) -> Recording:
    """Markers, force plates and events of a simulated walk.

    Parameters
    ----------
    walker : Walker
        The person.
    walkway : Walkway
        Plates, rates and noise.
    duration_s : float
        Length of the recording, s.
    first_strike_s : float
        As in `walk`.

    Returns
    -------
    Recording
        Markers RHJC, RKJC, RAJC and the left ones at the joint centres, RTOE, RMT1 and RMT5 at the heads of the metatarsals, RHEE
        `heel_height_m` above the sole, RASI and RPSI at the spines of the pelvis; events of both feet.
    """
    return recording_of(
        walker,
        walkway,
        lambda time_s: walk(walker, time_s, first_strike_s=first_strike_s),
        duration_s=duration_s,
        events=_events(walker, duration_s, first_strike_s),
        source="simulated walk",
    )


def recording_of(
    walker: Walker,
    walkway: Walkway,
    legs_at: Callable[[FloatArray], dict[str, WalkingLeg]],
    *,
    duration_s: float,
    events: Sequence[Event],
    source: str,
) -> Recording:
    """Markers and force plates of legs, as in `walk_recording`.

    Parameters
    ----------
    walker : Walker
        The person.
    walkway : Walkway
        Plates, rates and noise.
    legs_at : callable
        Returns both legs at given times, s.
    duration_s : float
        Length of the recording, s.
    events : sequence of Event
        Its events.
    source : str
        Name of the movement.
    """
    rng = np.random.default_rng(walkway.seed)
    time_s = np.arange(round(duration_s * walkway.rate_hz) + 1) / walkway.rate_hz
    legs = legs_at(time_s)
    markers = np.concatenate(
        [_markers(walker, legs[side], _across(side), walkway.heel_height_m) for side in SIDES],
        axis=1,
    )
    markers += walkway.noise_m * rng.standard_normal(markers.shape)
    fine_s = np.arange(round(len(time_s) * walkway.plate_rate_hz / walkway.rate_hz)) / walkway.plate_rate_hz
    loads = legs_at(fine_s)
    plates = [_plate(number, middle, loads, walkway, rng) for number, middle in enumerate(walkway.plates_m, start=1)]
    return Recording(
        source=source,
        sha256="",
        reader="limbtorque.simulation",
        labels=tuple(f"{side[0].upper()}{name}" for side in SIDES for name in LEG_MARKERS),
        markers_m=markers,
        rate_hz=walkway.rate_hz,
        first_frame=1,
        events=tuple(events),
        force_plates=tuple(plates),
    )


def _across(side: str) -> float:
    return HALF_WIDTH_M if side == "left" else -HALF_WIDTH_M


def _markers(walker: Walker, leg: WalkingLeg, across_m: float, heel_height_m: float) -> FloatArray:
    """Joint centres, foot and pelvis of a side in space, (n_frames, 9, 3)."""
    toe, outwards = complex(*walker.foot_m[2]), np.sign(across_m) * walker.height_m
    foot = (leg.joint_m[:, 3] - leg.joint_m[:, 2]) @ [1.0, 1.0j]
    along = in_plane(np.asarray(foot * np.conj(toe) / abs(toe) ** 2))
    above = along[:, ::-1] * [-1.0, 1.0]
    markers = [(joint, 0.0) for joint in leg.joint_m.swapaxes(0, 1)]
    markers.append((leg.heel_m + heel_height_m * above, 0.0))
    markers += [(leg.joint_m[:, 3] + ahead * walker.height_m * along, aside) for ahead, aside in METATARSALS]
    markers += [(leg.joint_m[:, 0] + walker.height_m * np.array([ahead, up]), aside) for ahead, up, aside in SPINES]
    return np.stack(
        [np.insert(place, 1, across_m + aside * outwards, axis=1) for place, aside in markers],
        axis=1,
    )


def _plate(
    number: int, middle_m: tuple[float, float], legs: dict[str, WalkingLeg], walkway: Walkway, rng: np.random.Generator
) -> ForcePlate:
    """Plate with the forces of all steps whose centre of pressure is on it throughout."""
    (x, y), (length, width) = middle_m, PLATE_M
    corners = np.array([[x + a * length / 2, y + b * width / 2, 0.0] for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))])
    n = len(legs["right"].force_n)
    force, moment = np.zeros((n, 3)), np.zeros((n, 3))
    for side in SIDES:
        leg, across = legs[side], _across(side)
        on = leg.contact & (abs(across - y) < width / 2) & (np.abs(leg.pressure_m[:, 0] - x) < length / 2)
        wrench = np.where(on[:, None], np.stack([leg.force_n[:, 0], np.zeros(n), leg.force_n[:, 1]], axis=1), 0.0)
        point = np.stack([leg.pressure_m[:, 0], np.full(n, across), np.zeros(n)], axis=1)
        force += wrench
        moment += np.cross(point, wrench)
    noise = walkway.noise_n * rng.standard_normal(force.shape)
    force, moment = force + noise, moment + np.cross([x, y, 0.0], noise)  # it acts in the middle of the plate
    return ForcePlate(number, 2, corners, walkway.plate_rate_hz, force, moment)


def _events(walker: Walker, duration_s: float, first_strike_s: float) -> list[Event]:
    """Foot strikes and foot offs of both feet within the recording."""
    found = []
    for side, shift in zip(SIDES, (0.0, 0.5), strict=True):
        for label, phase in (("Foot Strike", 0.0), ("Foot Off", TOE_OFF)):
            first = first_strike_s + (shift + phase) * walker.stride_s
            numbers = np.arange(np.ceil(-first / walker.stride_s), np.floor((duration_s - first) / walker.stride_s) + 1)
            found += [Event(label, side.capitalize(), float(first + k * walker.stride_s)) for k in numbers]
    return sorted(found, key=lambda event: event.time_s)
