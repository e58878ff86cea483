"""Runs, jumps, squats, sit-to-stand and lifts with known joint torques.

A movement is given by smooth paths: centre of mass of the body, lean of the trunk, and feet that stand, roll over the ball or swing.
The rest of the body (head, arms, trunk, and what is held) is a point on the trunk. The hips are where the centre of mass asks for
them; hip and knee follow by inverse kinematics. The ground reaction force is the mass times the acceleration of the centre of mass,
less gravity, so that force and motion agree; in flight it vanishes because the path is that of a free fall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly

from limbtorque.simulation.gait import (
    SIDES,
    Walker,
    WalkingLeg,
    joint_angles,
    leg_of,
    legs_first_moment,
    path_at,
)

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

G = 9.80665
STEPS, FEW_STEPS = 22, 6  # towards the hips: each leaves less than a quarter of the distance
REACH = 0.985  # of the leg's length, between hip and ankle at the most
TRUNK = 0.288 * 0.626  # of the height: from the hips to the centre of head, arms and trunk (Winter 2009)
HIGH, MIDFOOT = 0.57, 0.045  # of the height: centre of mass of a body that stands, and how far it is behind the balls
BRAKING = (
    (0.0, 0.0),
    (0.25, -1.0),
    (0.75, 1.0),
    (1.0, 0.0),
)  # course of the force along the way over a contact of a run
STOP_S, IMPACT_S = 0.025, 0.03  # a foot that lands stops, and the force has a first peak


@dataclass(frozen=True)
class FootCourse:
    """Course of a foot.

    Attributes
    ----------
    ball_m : tuple of BPoly
        Ball of the foot, forward and upwards, m.
    pitch_rad : BPoly
        Pitch, toes up positive, rad.
    pressure_m : BPoly
        Centre of pressure ahead of the ball, m.
    share : float
        Of the force on the feet that stand.
    contacts_s : tuple of (float, float)
        Times in which the foot is on the ground.
    """

    ball_m: tuple[BPoly, BPoly]
    pitch_rad: BPoly
    pressure_m: BPoly
    share: float
    contacts_s: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Movement:
    """Course of a body.

    Attributes
    ----------
    name : str
        Name of the movement.
    duration_s : float
        Its length, s.
    centre_m : tuple of BPoly
        Centre of mass of the body and what it holds, forward and upwards, m.
    lean_rad, trunk_m : BPoly
        Lean of the trunk, forward positive, and distance of the centre of head, arms, trunk and what is held from the hips.
    feet : dict of str to FootCourse
        Feet, by side.
    seat : BPoly
        Share of the force that a seat carries.
    held : float
        Mass in the hands, as a share of the body's.
    """

    name: str
    duration_s: float
    centre_m: tuple[BPoly, BPoly]
    lean_rad: BPoly
    trunk_m: BPoly
    feet: Mapping[str, FootCourse]
    seat: BPoly
    held: float = 0.0


def keys(*rows: tuple[float, ...]) -> BPoly:
    """Path through rows of time, value, speed and acceleration (0 where left out)."""
    return BPoly.from_derivatives([row[0] for row in rows], [(*row[1:], 0.0, 0.0)[:3] for row in rows])


def driven(
    rows: Sequence[tuple[float, float | None]],
    start: tuple[float, float],
    ends: Sequence[tuple[float, float, float]],
) -> BPoly:
    """Path by its acceleration; rows without a value follow from the way to go.

    Parameters
    ----------
    rows : sequence of (float, float or None)
        Times and accelerations, with no slope there.
    start : tuple of float
        Value and speed at the first time.
    ends : sequence of (float, float, float)
        Times, and value and speed at these; two for each row without a value.
    """
    times, given = np.array([at for at, _ in rows]), np.array([0.0 if value is None else value for _, value in rows])
    free = [index for index, (_, value) in enumerate(rows) if value is None]

    def path(acceleration: FloatArray) -> BPoly:
        return BPoly.from_derivatives(times, np.stack([acceleration, 0.0 * acceleration], axis=1)).antiderivative(2)

    def ways(acceleration: FloatArray) -> FloatArray:
        bent = path(acceleration)
        return np.array([bent(at, order) for at, *_ in ends for order in (0, 1)])

    if free:
        unit = np.eye(len(rows))[free]
        goal = [
            left
            for at, value, speed in ends
            for left in (value - start[0] - start[1] * (at - times[0]), speed - start[1])
        ]
        given[free] = np.linalg.solve(np.stack([ways(row) for row in unit], axis=1), goal - ways(given))
    bent = path(given)
    straight = start[0] + start[1] * (times - times[0])
    return BPoly(bent.c + np.linspace(straight[:-1], straight[1:], len(bent.c)), bent.x)


def still(value: float) -> BPoly:
    """Path of a value that stays."""
    return keys((-10.0, value), (60.0, value))


def move(walker: Walker, movement: Movement, time_s: FloatArray, *, steps: int = STEPS) -> dict[str, WalkingLeg]:
    """Exact motion and loads of both legs.

    Parameters
    ----------
    walker : Walker
        The person: mass, height and segments.
    movement : Movement
        The movement.
    time_s : ndarray of shape (n_frames,)
        Times within it, s.
    steps : int, optional
        Number of steps to the place of the hips; the default leaves rounding errors only.

    Returns
    -------
    dict of str to WalkingLeg
        The legs, by side.

    Raises
    ------
    ValueError
        A foot out of the leg's reach.
    """
    centre = _complex(movement.centre_m, time_s)
    ankles = {side: ankle_path(walker, foot, time_s) for side, foot in movement.feet.items()}
    pitches = {side: path_at(foot.pitch_rad, time_s) for side, foot in movement.feet.items()}
    mass, trunk = walker.mass_kg * (1.0 + movement.held), _trunk(movement, time_s)
    trunk_kg = mass - 2.0 * float(walker.chain.mass_kg.sum())
    hip = centre - np.array([[0.12j * walker.height_m], [0.0], [0.0]])
    for _ in range(steps):
        moving = {side: joint_angles(walker, hip, ankles[side], pitches[side]) for side in SIDES}
        moment = sum((legs_first_moment(walker, hip, moving[side]) for side in SIDES), trunk_kg * (hip + trunk))
        hip = hip + centre - moment / mass
    moving = {side: joint_angles(walker, hip, ankles[side], pitches[side]) for side in SIDES}
    force = mass * (centre[2] + 1j * G) * (1.0 - movement.seat(time_s))
    legs = {}
    for side, foot in movement.feet.items():
        down = sum(
            ((time_s >= start) & (time_s < end) for start, end in foot.contacts_s), np.zeros(len(time_s), dtype=bool)
        )
        pressure = foot.ball_m[0](time_s) + foot.pressure_m(time_s)
        load = np.where(down, foot.share * force, 0.0)
        legs[side] = leg_of(walker, hip, ankles[side], pitches[side], moving[side], load, pressure, down)
    return legs


def _complex(paths: tuple[BPoly, BPoly], time_s: FloatArray) -> ComplexArray:
    """Path in the plane with its derivatives, x + i y, shape (3, n_frames)."""
    return path_at(paths[0], time_s) + 1j * path_at(paths[1], time_s)


def ankle_path(walker: Walker, foot: FootCourse, time_s: FloatArray) -> ComplexArray:
    """Ankle with its derivatives, shape (3, n_frames)."""
    return _complex(foot.ball_m, time_s) - _turned(path_at(foot.pitch_rad, time_s)) * complex(*walker.foot_m[1])


def _turned(angle: FloatArray) -> ComplexArray:
    """exp(i angle) with its derivatives, from the angle's, shape (3, n_frames)."""
    value, rate, growth = angle
    return np.asarray(np.stack([np.ones_like(value), 1j * rate, 1j * growth - rate**2]) * np.exp(1j * value))


def _trunk(movement: Movement, time_s: FloatArray) -> ComplexArray:
    """Head, arms and trunk from the hips, with derivatives, (3, n_frames)."""
    along, turn = path_at(movement.trunk_m, time_s), 1j * _turned(-path_at(movement.lean_rad, time_s))
    return np.stack(
        [
            along[0] * turn[0],
            along[1] * turn[0] + along[0] * turn[1],
            along[2] * turn[0] + 2.0 * along[1] * turn[1] + along[0] * turn[2],
        ]
    )


def within_reach(walker: Walker, movement: Movement) -> Movement:
    """The movement as high as the legs' reach allows."""
    time_s = np.linspace(0.0, movement.duration_s, 150)
    for lower_m in np.arange(0.0, 0.4, 0.01) * walker.height_m:
        x, y = movement.centre_m
        lowered = replace(movement, centre_m=(x, BPoly(y.c - lower_m, y.x)))
        try:
            legs = move(walker, lowered, time_s, steps=FEW_STEPS)
        except ValueError:
            continue
        reach = max(np.hypot(*(leg.joint_m[:, 2] - leg.joint_m[:, 0]).T).max() for leg in legs.values())
        if reach < REACH * walker.leg_m.sum():
            return lowered
    raise ValueError(f"{movement.name}: the feet are out of reach of legs of {walker.leg_m.sum():.2f} m")


def on_the_spot(
    name: str, walker: Walker, *, down_m: float, way_s: float, lean_deg: float, share: float = 0.5, held: float = 0.0
) -> Movement:
    """Squat, or lift of what is held: down, half a second of rest, and up.

    Parameters
    ----------
    name : str
        Name of the movement.
    walker : Walker
        The person.
    down_m, way_s, lean_deg : float
        Way down (and up), its duration, and lean of the trunk at the bottom.
    share : float, optional
        Of the force on the right foot.
    held : float, optional
        Mass in the hands, as a share of the body's.
    """
    low, up, end = 0.8 + way_s, 1.3 + way_s, 2.1 + 2.0 * way_s
    course = ((0.0, 0.0), (0.8, 0.0), (low, 1.0), (up, 1.0), (end - 0.8, 0.0), (end, 0.0))

    def along(start: float, change: float) -> BPoly:
        return keys(*((at, start + change * part) for at, part in course))

    middle, high = -MIDFOOT * walker.height_m, HIGH * walker.height_m
    centre = (along(walker.foot_m[1, 0] + middle, 0.01), along(high, -down_m))
    feet = _flat_feet(walker, along(middle, 0.01), share, end)
    trunk = still(TRUNK * walker.height_m)
    return Movement(name, end, centre, along(0.05, np.radians(lean_deg)), trunk, feet, still(0.0), held)


def sit_to_stand(walker: Walker, *, way_s: float, lean_deg: float, share: float = 0.5) -> Movement:
    """Rise from a seat that carries most of the weight at first.

    Parameters
    ----------
    walker : Walker
        The person.
    way_s, lean_deg : float
        Time of the way up, and lean of the trunk when the seat is left.
    share : float, optional
        Of the force on the right foot.
    """
    begin, off, top, end = 0.6, 0.6 + 0.4 * way_s, 0.6 + way_s, 1.6 + way_s
    height, middle = walker.height_m, -MIDFOOT * walker.height_m
    ball, low, high = walker.foot_m[1, 0], 0.38 * height, HIGH * height
    x = [(0.0, -0.17 * height), (begin, -0.17 * height), (off, middle - 0.01, 0.25), (top, middle), (end, middle)]
    y = keys((0.0, low), (begin, low), (off, low, 0.1, 0.8), (top, high), (end, high))
    lean = keys((0.0, 0.1), (begin, 0.1), (off, np.radians(lean_deg)), (top, 0.05), (end, 0.05))
    pressure = keys((0.0, -0.08 * height), (begin, -0.08 * height), (off, middle - 0.02), (top, middle), (end, middle))
    centre = (keys(*((at, ball + value, *more) for at, value, *more in x)), y)
    feet = _flat_feet(walker, pressure, share, end)
    seat = keys((0.0, 0.5), (begin, 0.5), (off, 0.0), (end, 0.0))
    return Movement("sit-to-stand", end, centre, lean, still(TRUNK * height), feet, seat)


def _flat_feet(walker: Walker, pressure: BPoly, share: float, end: float) -> dict[str, FootCourse]:
    """Both feet flat on the ground throughout."""
    ball = (still(walker.foot_m[1, 0]), still(0.0))
    contact = ((-1.0, end + 1.0),)
    return {
        side: FootCourse(ball, still(0.0), pressure, part, contact)
        for side, part in zip(SIDES, (share, 1.0 - share), strict=True)
    }


def jump(
    walker: Walker, *, flight_s: float, down_s: float, drop_s: float = 0.0, arms_m: float = 0.05, share: float = 0.5
) -> Movement:
    """Countermovement jump, or drop jump, on both legs or the right one.

    Parameters
    ----------
    walker : Walker
        The person.
    flight_s, down_s : float
        Duration of the flight, and of the way down before the push.
    drop_s : float, optional
        Duration of the fall before a drop jump, s; 0 for a jump from standing.
    arms_m : float, optional
        Rise of the centre of head, arms and trunk by the arms.
    share : float, optional
        Of the force on the right foot: 1 for a jump on this leg.
    """
    height, ball, middle = walker.height_m, walker.foot_m[1, 0], -MIDFOOT * walker.height_m
    high, rise, depth = HIGH * height, 0.02 * height, (0.05 if share == 1.0 else 0.09) * height
    speed, fall = 0.5 * G * flight_s, G * drop_s
    landed = 0.1 + drop_s if drop_s else 0.5
    least, top = landed + down_s, high + rise
    off = least + (depth + rise) / (0.55 * speed)
    land, end = off + flight_s, off + flight_s + 1.6
    soft_s = min(0.25 * height / speed, 0.2)  # until the force is largest
    begin = [(0.0, -G), (landed, -G), (landed + IMPACT_S, 1.0 * G)] if drop_s else [(0.0, 0.0), (landed, 0.0)]
    pushed = [*begin, (0.5 * (landed + least), None), (0.5 * (least + off), None), (off, -G)]
    stopped = [
        (off + flight_s, -G),
        (land + IMPACT_S, 1.5 * G),
        (land + soft_s, None),
        (land + 2.5 * soft_s, None),
        (land + 1.1, 0.0),
    ]
    y = driven(
        (*pushed, *stopped, (end, 0.0)),
        (high + fall * landed - 0.5 * G * landed**2 + 0.0 if drop_s else high, G * landed - fall if drop_s else 0.0),
        ((off, top, speed), (end, high, 0.0)),
    )
    x = keys(
        (0.0, ball + middle),
        (landed, ball + middle),
        (off, ball + 0.4 * middle),
        (land, ball + 0.4 * middle),
        (end, ball + middle),
    )
    lean = keys(
        (0.0, 0.05),
        (landed, 0.05),
        (least, 0.6),
        (off, 0.05),
        (land, 0.1),
        (land + 0.4, 0.65),
        (land + 1.2, 0.05),
        (end, 0.05),
    )
    above = TRUNK * height
    trunk = keys(
        (0.0, above), (0.5 * (landed + least), above), (off, above + arms_m), (land + 0.4, above), (end, above)
    )
    foot = _jumping(walker, drop_s, landed, least, off, land, end, share)
    if share < 1.0:
        return Movement(
            "jump", end, (x, y), lean, trunk, {"right": foot, "left": replace(foot, share=1.0 - share)}, still(0.0)
        )
    held_up = (still(ball - 0.22 * height), BPoly(y.c - 0.36 * height, y.x))
    feet = {"right": foot, "left": FootCourse(held_up, still(np.radians(-40.0)), still(0.0), 0.0, ())}
    return Movement("drop jump", end, (x, y), lean, trunk, feet, still(0.0))


def _jumping(
    walker: Walker, drop_s: float, landed: float, least: float, off: float, land: float, end: float, share: float
) -> FootCourse:
    """Foot that pushes off over its ball, and lands on it."""
    middle, heel_up = -MIDFOOT * walker.height_m, off - 0.5 * (off - least)
    speed, fall, toes = 0.42 * G * (land - off), 0.85 * G * drop_s, np.radians(-20.0)
    start: list[tuple[float, ...]] = [(0.0, 0.0), (landed, 0.0)]
    flat, path = [(0.0, 0.0), (landed, 0.0)], [(0.0, middle), (landed, middle)]
    contacts = [(-1.0, off), (land, end + 1.0)]
    if drop_s:
        start = [
            (0.0, 0.5 * STOP_S * fall + G * drop_s * landed - 0.5 * G * landed**2 + 0.04 * walker.height_m),
            (landed, 0.5 * STOP_S * fall, -fall),
            (landed + STOP_S, 0.0),
        ]
        flat = [(0.0, toes), (landed, toes), (landed + 0.1, 0.0)]
        path = [(0.0, 0.0), (landed, 0.0), (landed + 0.1, middle)]
        contacts[0] = (landed, off)
    up = (0.5 * (off + land), 0.28 * speed * (land - off))
    lifted = (off + 2.0 * STOP_S, STOP_S * speed, speed)
    height = keys(
        *start, (off, 0.0), lifted, up, (land, 0.5 * STOP_S * speed, -speed), (land + STOP_S, 0.0), (end, 0.0)
    )
    pitch = keys(*flat, (heel_up, 0.0), (off, 2.0 * toes, -2.0), (land, toes), (land + 0.1, 0.0), (end, 0.0))
    pressure = keys(*path, (heel_up, 0.0), (land, 0.0), (land + 0.12, middle), (end, middle))
    return FootCourse((still(walker.foot_m[1, 0]), height), pitch, pressure, share, tuple(contacts))


def run(walker: Walker, *, contact_s: float, flight_s: float, braking: float = 0.05, steps: int = 6) -> Movement:
    """Steps of a run; the feet land flat, the right one first.

    Parameters
    ----------
    walker : Walker
        The person, with the speed.
    contact_s, flight_s : float
        Duration of each contact and flight.
    braking : float, optional
        Loss of speed in the middle of a contact, as a share.
    steps : int, optional
        Number of contacts, of which a flight precedes the first.
    """
    height, speed, step = walker.height_m, walker.speed_m_s, contact_s + flight_s
    travel, up = speed * contact_s * (1.0 - 0.5 * braking), 0.5 * G * flight_s
    length, high = travel + speed * flight_s, 0.56 * height
    lands = [((number + 1) * step - contact_s, number * length) for number in range(steps)]
    x: list[tuple[float, float | None]] = [(0.0, 0.0)]
    y: list[tuple[float, float | None]] = [(0.0, -G)]
    slowing = braking * speed / (0.25 * contact_s)  # takes this share of the speed in half of the contact
    for at, _ in lands:
        x += [(at + part * contact_s, value * slowing) for part, value in BRAKING]
        y += [
            (at, -G),
            (at + IMPACT_S, 0.6 * G),
            (at + 0.4 * contact_s, None),
            (at + 0.7 * contact_s, None),
            (at + contact_s, -G),
        ]
    offs = [at + contact_s for at, _ in lands]
    centre = (driven(x, (-speed * flight_s, speed), ()), driven(y, (high, up), [(off, high, up) for off in offs]))
    feet = {
        side: _running(walker, lands[index::2], contact_s, 2.0 * length, travel) for index, side in enumerate(SIDES)
    }
    above, end = TRUNK * height, lands[-1][0] + contact_s
    return Movement("run", end, centre, still(0.12), still(above), feet, still(0.0))


def _running(
    walker: Walker, lands: Sequence[tuple[float, float]], contact_s: float, stride_m: float, travel_m: float
) -> FootCourse:
    """Foot of a run: lands flat, rolls over its ball, swings bent."""
    height, stride_s = walker.height_m, lands[1][0] - lands[0][0]
    ahead, swing = 0.5 * travel_m + 0.05 * height, stride_s - contact_s
    x: list[tuple[float, ...]] = []
    y: list[tuple[float, ...]] = []
    pitch: list[tuple[float, ...]] = []
    pressure: list[tuple[float, ...]] = []
    before = (lands[0][0] - stride_s, lands[0][1] - stride_m)
    after = (lands[-1][0] + stride_s, lands[-1][1] + stride_m)
    for at, place in (before, *lands, after):
        ball, off = place + ahead, at + contact_s
        x += [
            (at, ball - 0.5 * STOP_S, 1.0),
            (at + STOP_S, ball),
            (off, ball),
            (off + 0.45 * swing, ball + 0.42 * stride_m, 1.1 * stride_m / swing),
        ]
        y += [(at, 0.35 * STOP_S, -0.7), (at + STOP_S, 0.0), (off, 0.0), (off + 0.5 * swing, 0.10 * height)]
        turn = (
            (at, 0.05),
            (at + 0.04, 0.0),
            (at + 0.35 * contact_s, 0.0),
            (off, -0.8, -4.0),
            (off + 0.35 * swing, -1.2),
            (off + 0.85 * swing, 0.1),
        )
        pitch += turn
        pressure += [(at, -0.07 * height), (at + 0.45 * contact_s, -0.005), (off, 0.005)]
    contacts = tuple((at, at + contact_s) for at, _ in lands)
    return FootCourse((keys(*x), keys(*y)), keys(*pitch), keys(*pressure), 1.0, contacts)
