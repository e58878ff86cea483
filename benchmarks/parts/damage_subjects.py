"""Simulated subjects whose exact torques are known, for `damages.py`.

Walks of `limbtorque.simulation.gait` and reaches of `limbtorque.simulation.reach`, with the imperfections of a good
laboratory: noise, skin that slides a little, a leg that swings slightly out of the plane, directions of the way that differ.
The torques come from the exact motion by Newton's second law, written out here once more, without the package's own inverse dynamics.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.motion.limb import Limb
from limbtorque.recordings.recording import Event, Recording
from limbtorque.simulation.gait import SIDES, Walker, WalkingLeg, Walkway, recording_of, walk, walk_recording
from limbtorque.simulation.reach import Arm, Reach, reach_motion, reach_recording
from limbtorque.study.settings import Settings, make_settings

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmark"))
from planar_movements import Movement, jump, move, on_the_spot, run, sit_to_stand, within_reach

G = 9.80665
FIRST_STRIKE_S = 0.35
SHARES = {"walk": 16, "sagittal reach": 16, "horizontal reach": 16}  # subjects of each task
MOVEMENTS = {
    "run": "R",
    "jump": "J",
    "drop jump": "D",
    "squat": "Q",
    "sit-to-stand": "T",
    "lift": "L",
}  # letters of their subjects
LETTERS = {"walk": "W", "sagittal reach": "S", "horizontal reach": "H", **MOVEMENTS}
IN_OTHERS = 8  # subjects of each of the other movements
FORWARD = ("+x", "+y", "-x", "-y")
LEG = {
    "hip_axis": "{S}HJC",
    "knee_axis": "{S}KJC",
    "ankle_axis": "{S}AJC",
    "head_of_metatarsal_2": "{S}TOE",
    "heel": "{S}HEE",
}
LEG_SUBSTITUTES = {
    "greater_trochanter": "hip_axis",
    "femoral_condyles": "knee_axis",
    "medial_malleolus": "ankle_axis",
    "lateral_malleolus": "ankle_axis",
}
ARM = {
    "glenohumeral_axis": "SHO",
    "elbow_axis": ["ELBL", "ELBM"],
    "wrist_axis": ["WRR", "WRU"],
    "ulnar_styloid": "WRU",
    "knuckle_2_middle_finger": "KNU",
}


@dataclass(frozen=True)
class Trial:
    """A simulated recording and what is known about it.

    Attributes
    ----------
    subject, task : str
        Simulated subject; ``walk``, ``sagittal reach``, ``horizontal reach``, or one of `MOVEMENTS`.
    recording : Recording
        Markers, plates and events.
    limb : Limb
        Limb and body mass, as a table of trials gives them.
    settings : Settings
        All options.
    torque_nm : ndarray of shape (n_frames, n_joints)
        Exact net torques, flexion and dorsiflexion positive, N m.
    window_s : tuple of float
        The stride or the reach, s from the first frame.
    """

    subject: str
    task: str
    recording: Recording
    limb: Limb
    settings: Settings
    torque_nm: FloatArray
    window_s: tuple[float, float]

    @property
    def seed(self) -> int:
        """A number that is the subject's own."""
        return int.from_bytes(self.subject.encode(), "little") % 2**31


def subjects(task: str, *, count: int | None = None, first: int = 0) -> list[str]:
    """Names of the simulated subjects of a task."""
    return [f"{LETTERS[task]}{first + number:02d}" for number in range(count or SHARES.get(task, IN_OTHERS))]


def make_trial(task: str, subject: str, *, repetition: int = 0) -> Trial:
    """Make one recording of a subject; each repetition differs in speed and noise."""
    number = int(subject[1:])
    person = np.random.default_rng([number, ord(subject[0])])
    once = np.random.default_rng([number, ord(subject[0]), repetition])
    if task == "walk":
        return _walk(subject, number, person, once)
    if task in MOVEMENTS:
        return _whole_body(task, subject, number, person, once)
    return _reach(subject, number, person, once, horizontal=task == "horizontal reach")


def _walk(subject: str, number: int, person: np.random.Generator, once: np.random.Generator) -> Trial:
    """Stride of a leg over four plates, in one of four directions of the laboratory."""
    height, side = person.uniform(1.2, 1.95), SIDES[number % 2]
    mass = person.uniform(16.0, 30.0) * height**2
    pace = person.uniform(0.85, 1.1) * once.uniform(0.96, 1.04)
    walker = Walker(
        mass_kg=mass,
        height_m=height,
        stride_s=1.1 * np.sqrt(height / 1.75) / np.sqrt(pace),
        speed_m_s=1.2 * pace * np.sqrt(height / 1.75),
        strike_m_s=float(person.choice([0.0, 0.1, 0.25])),
    )
    steps = [(walker.stride_m * half / 2.0 + 0.06 * height, -0.25 if half % 2 == 0 else 0.25) for half in range(4)]
    walkway = Walkway(
        plates_m=tuple(steps),
        rate_hz=float((100.0, 120.0, 200.0)[number % 3]),
        plate_rate_hz=float((1000.0, 1200.0, 1000.0)[number % 3]),
        noise_m=once.uniform(0.0001, 0.0006),
        noise_n=once.uniform(0.3, 3.0),
        seed=int(once.integers(2**31)),
    )
    first = FIRST_STRIKE_S + once.uniform(0.0, 0.1)
    made = walk_recording(walker, walkway, duration_s=first + 2.2 * walker.stride_s, first_strike_s=first)
    leg = walk(walker, made.time_s, first_strike_s=first)[side]
    torque = net_torques(walker.chain, leg.kinematics, gravity=(0.0, -G), loads=[(leg.pressure_m, leg.force_n)])
    start = first + 0.5 * walker.stride_s * (side == "left")
    legs = walk(walker, made.time_s, first_strike_s=first)
    markers = _sliding(made, leg_flexion=_flexion(legs), size_m=once.uniform(0.0, 0.004), rng=once)
    markers = _swinging(replace(made, markers_m=markers), once.uniform(0.0, 3.0), walker.stride_s, once)
    made = turned(replace(made, markers_m=markers), degrees=90.0 * (number % 4))
    settings = make_settings(
        {
            "marker_sets": {"leg": LEG},
            "substitutes": {"leg": LEG_SUBSTITUTES},
            "plane": {"up_axis": "+z"},
            "muscles": {"enabled": False},
            "ensembles": {
                "window": "events",
                "start_event": f"Foot Strike {side.capitalize()}",
                "end_event": f"Foot Strike {side.capitalize()}",
                "cycle": "first",
            },
        }
    )
    return Trial(
        subject=subject,
        task="walk",
        recording=made,
        limb=Limb("leg", side=side, body_mass_kg=mass),
        settings=settings,
        torque_nm=torque * np.array([1.0, -1.0, 1.0]),
        window_s=(start, start + walker.stride_s),
    )


def _whole_body(task: str, subject: str, number: int, person: np.random.Generator, once: np.random.Generator) -> Trial:
    """Leg in a movement other than walking, in one of four directions of the laboratory."""
    height = person.uniform(1.2, 1.95)
    mass = person.uniform(16.0, 30.0) * height**2
    walker = Walker(
        mass, height, speed_m_s=person.uniform(2.5, 4.5) * np.sqrt(height / 1.75) * once.uniform(0.96, 1.04)
    )
    side = "right" if task == "drop jump" else SIDES[number % 2]
    movement = within_reach(walker, moved(task, walker, person, once))
    at_m = [
        (
            movement.feet[foot].ball_m[0](0.5 * (contact[0] + contact[1])) - 0.05 * height,
            0.25 if foot == "left" else -0.25,
        )
        for foot in movement.feet
        for contact in (movement.feet[foot].contacts_s if task == "run" else ((0.0, movement.duration_s),))
    ]
    walkway = Walkway(
        plates_m=tuple((float(x), y) for x, y in at_m),
        rate_hz=float((100.0, 120.0, 200.0)[number % 3]),
        plate_rate_hz=float((1000.0, 1200.0, 1000.0)[number % 3]),
        noise_m=once.uniform(0.0001, 0.0006),
        noise_n=once.uniform(0.3, 3.0),
        seed=int(once.integers(2**31)),
    )
    made = movement_recording(walker, walkway, movement, events=task == "run")
    legs = move(walker, movement, made.time_s)
    leg = legs[side]
    torque = net_torques(walker.chain, leg.kinematics, gravity=(0.0, -G), loads=[(leg.pressure_m, leg.force_n)])
    markers = _sliding(made, leg_flexion=_flexion(legs), size_m=once.uniform(0.0, 0.004), rng=once)
    markers = _swinging(replace(made, markers_m=markers), once.uniform(0.0, 3.0), movement.duration_s, once)
    made = turned(replace(made, markers_m=markers), degrees=90.0 * (number % 4))
    strike = f"Foot Strike {side.capitalize()}"
    window = {"window": "events", "start_event": strike, "end_event": strike, "cycle": 1 + (side == "right")}
    settings = make_settings(
        {
            "marker_sets": {"leg": LEG},
            "substitutes": {"leg": LEG_SUBSTITUTES},
            "plane": {"up_axis": "+z"} if task == "run" else {"up_axis": "+z", "forward_axis": FORWARD[number % 4]},
            "muscles": {"enabled": False},
            "ensembles": window if task == "run" else {"window": "trial"},
        }
    )
    strikes = [start for start, _ in movement.feet[side].contacts_s]
    return Trial(
        subject=subject,
        task=task,
        recording=made,
        limb=Limb("leg", side=side, body_mass_kg=mass),
        settings=settings,
        torque_nm=torque * np.array([1.0, -1.0, 1.0]),
        window_s=(strikes[side == "right"], strikes[1 + (side == "right")])
        if task == "run"
        else (0.0, movement.duration_s),
    )


def movement_recording(walker: Walker, walkway: Walkway, movement: Movement, *, events: bool = False) -> Recording:
    """Markers and force plates of a movement, labelled as by `walk_recording`.

    Parameters
    ----------
    walker : Walker
        The person.
    walkway : Walkway
        Plates, rates and noise.
    movement : Movement
        The movement.
    events : bool, optional
        True for events where a foot lands or leaves the ground.
    """
    times = [
        Event(label, side.capitalize(), at)
        for side, foot in movement.feet.items()
        for contact in foot.contacts_s
        for label, at in zip(("Foot Strike", "Foot Off"), contact, strict=True)
        if events and 0.0 < at < movement.duration_s
    ]
    return recording_of(
        walker,
        walkway,
        lambda time_s: move(walker, movement, time_s),
        duration_s=movement.duration_s,
        events=sorted(times, key=lambda event: event.time_s),
        source=f"simulated {movement.name}",
    )


def moved(task: str, walker: Walker, person: np.random.Generator, once: np.random.Generator) -> Movement:
    """A movement of a person, each time a little different."""
    height, own, now = walker.height_m, person.uniform(0.0, 1.0, 3), once.uniform(0.95, 1.05, 3)
    pace, share = np.sqrt(height / 1.75), 0.5 + 0.05 * (2.0 * own[2] - 1.0) + 0.02 * (now[2] - 1.0)
    if task == "run":
        contact = (0.30 - 0.025 * walker.speed_m_s + 0.02 * own[0]) * now[0] * pace
        return run(
            walker, contact_s=contact, flight_s=(0.08 + 0.07 * own[1]) * now[1] * pace, braking=0.03 + 0.04 * own[2]
        )
    if task == "jump":
        flight, down = (0.35 + 0.2 * own[0]) * now[0] * pace, (0.35 + 0.2 * own[1]) * now[1] * pace
        return jump(walker, flight_s=flight, down_s=down, arms_m=0.05 * own[2] * height, share=share)
    if task == "drop jump":
        flight, drop = (0.18 + 0.15 * own[0]) * now[0] * pace, 0.17 + 0.1 * own[1]
        return jump(walker, flight_s=flight, down_s=(0.15 + 0.1 * own[2]) * now[1] * pace, drop_s=drop, share=1.0)
    if task == "sit-to-stand":
        return sit_to_stand(
            walker, way_s=(1.1 + 0.9 * own[0]) * now[0], lean_deg=(30.0 + 20.0 * own[1]) * now[1], share=share
        )
    down, way = (0.08 + 0.12 * own[0]) * now[0] * height, (0.6 + 0.6 * own[1]) * now[1]
    if task == "squat":
        return on_the_spot("squat", walker, down_m=down, way_s=way, lean_deg=20.0 + 25.0 * own[2], share=share)
    return on_the_spot(
        "lift", walker, down_m=down, way_s=way, lean_deg=45.0 + 25.0 * own[2], share=share, held=0.02 + 0.06 * own[2]
    )


def _reach(
    subject: str, number: int, person: np.random.Generator, once: np.random.Generator, *, horizontal: bool
) -> Trial:
    """Reach out and back, every other subject against a spring."""
    size, side = person.uniform(0.85, 1.12), ("right", "left")[number % 2]
    arm = Arm(float(person.uniform(48.0, 95.0)), tuple(size * np.array([0.31, 0.26, 0.085])))
    start = (-45.0, 100.0, 15.0) if horizontal else (-80.0, 95.0, 10.0)
    target = (5.0, 45.0, -5.0) if horizontal else (-25.0, 40.0, -10.0)
    target = tuple(np.add(target, person.uniform(-10.0, 10.0, 3)) + once.uniform(-3.0, 3.0, 3))
    mirror = -1.0 if horizontal and side == "left" else 1.0
    base = (0.0, mirror * -0.2) if horizontal else (0.0, 1.4)
    reach = Reach(
        tuple(mirror * np.array(start)),
        tuple(mirror * np.array(target)),
        float(np.exp(person.uniform(np.log(0.4), np.log(1.2))) * once.uniform(0.95, 1.05)),
        base,
        (0.06, mirror * 0.015),
    )
    rate_hz = float((100.0, 200.0)[number % 2])
    made = reach_recording(
        arm,
        reach,
        horizontal=horizontal,
        rate_hz=rate_hz,
        noise_m=once.uniform(0.0001, 0.0005),
        seed=int(once.integers(2**31)),
    )
    motion = reach_motion(reach, rate_hz=rate_hz)
    stiffness, anchor = 40.0, np.array([-0.2, 0.0, 1.1])
    loaded = number % 4 >= 2
    ends = joints(arm.chain, motion)[:, -1]
    pulls = stiffness * (anchor[[0, 1 if horizontal else 2]] - ends)
    gravity = (0.0, 0.0 if horizontal else -G)
    torque = net_torques(arm.chain, motion, gravity=gravity, loads=[(ends, pulls)] if loaded else [])
    made = replace(made, markers_m=made.markers_m + _skin(made, once.uniform(0.0, 0.002), once))
    settings = make_settings(
        {
            "marker_sets": {"arm": ARM},
            "plane": {
                "up_axis": "+z",
                "forward_axis": "+x",
                "kind": "horizontal" if horizontal else "sagittal",
            },
            "muscles": {"enabled": False},
            "loads": {"spring": {"type": "spring", "stiffness_n_m": stiffness, "anchor_m": anchor.tolist()}},
        }
    )
    return Trial(
        subject=subject,
        task="horizontal reach" if horizontal else "sagittal reach",
        recording=made,
        limb=Limb("arm", side=side, body_mass_kg=arm.body_mass_kg, load="spring" if loaded else ""),
        settings=settings,
        torque_nm=torque * mirror,
        window_s=(reach.onsets_s[0], reach.onsets_s[1] + reach.duration_s),
    )


def joints(chain: Chain, motion: Kinematics) -> FloatArray:
    """Joints and end of a chain, shape (n_frames, n_joints + 1, 2)."""
    theta = np.cumsum(motion.angle_rad, axis=1)
    steps = chain.length_m[:, None] * np.stack([np.cos(theta), np.sin(theta)], axis=2)
    return motion.base_m[:, None] + np.concatenate([np.zeros((len(theta), 1, 2)), np.cumsum(steps, axis=1)], axis=1)


def net_torques(
    chain: Chain,
    motion: Kinematics,
    *,
    gravity: Sequence[float],
    loads: Sequence[tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """Net torques of a planar chain: moments of inertia, weight and loads about each joint, counter-clockwise positive."""
    theta, omega, spin = (
        np.cumsum(values, axis=1) for values in (motion.angle_rad, motion.velocity_rad_s, motion.acceleration_rad_s2)
    )
    along = np.stack([np.cos(theta), np.sin(theta)], axis=2)
    across = np.stack([-np.sin(theta), np.cos(theta)], axis=2)
    bent = spin[..., None] * across - omega[..., None] ** 2 * along
    at = joints(chain, motion)
    torque, acceleration = np.zeros_like(theta), motion.base_acceleration_m_s2
    for k in range(chain.n_links):
        force = chain.mass_kg[k] * (acceleration + chain.com_m[k] * bent[:, k] - np.array(gravity))
        centre = at[:, k] + chain.com_m[k] * along[:, k]
        for i in range(k + 1):
            torque[:, i] += _cross(centre - at[:, i], force) + chain.inertia_kgm2[k] * spin[:, k]
        acceleration = acceleration + chain.length_m[k] * bent[:, k]
    for point, force in loads:
        for i in range(chain.n_links):
            torque[:, i] -= _cross(point - at[:, i], force)
    return torque


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def turned(recording: Recording, *, degrees: float, axis: str = "z") -> Recording:
    """Turn the markers and plates of a recording about an axis of the laboratory."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = {
        "z": np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]),
        "x": np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]),
        "y": np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]),
    }[axis]
    plates = [
        replace(p, corners_m=p.corners_m @ turn.T, force_n=p.force_n @ turn.T, moment_nm=p.moment_nm @ turn.T)
        for p in recording.force_plates
    ]
    return replace(recording, markers_m=recording.markers_m @ turn.T, force_plates=tuple(plates))


def _flexion(legs: dict[str, WalkingLeg]) -> FloatArray:
    """Knee angles of the right and the left leg, shape (n_frames, 2)."""
    return np.stack([legs[side].kinematics.angle_rad[:, 1] for side in SIDES], axis=1)


def _sliding(made: Recording, *, leg_flexion: FloatArray, size_m: float, rng: np.random.Generator) -> FloatArray:
    """Markers of knees and hips that slide with the angle of the knee."""
    markers = made.markers_m.copy()
    for index, side in enumerate("RL"):
        course = leg_flexion[:, index] / np.ptp(leg_flexion[:, index])
        for name in ("HJC", "KJC"):
            way = rng.standard_normal(3) * np.array([1.0, 0.5, 1.0])
            markers[:, made.labels.index(side + name)] += size_m * course[:, None] * way / np.linalg.norm(way)
    return markers


def _swinging(made: Recording, degrees: float, period_s: float, rng: np.random.Generator) -> FloatArray:
    """Markers of legs that swing about the forward axis through the hip once a stride."""
    markers = made.markers_m.copy()
    angle = np.radians(degrees) * np.sin(2.0 * np.pi * made.time_s / period_s + rng.uniform(0.0, 6.28))
    for side in "RL":
        columns = [made.labels.index(side + name) for name in ("HJC", "KJC", "AJC", "TOE", "HEE", "MT1", "MT5")]
        markers[:, columns] = swung(markers[:, columns], angle)
    return markers


def swung(points_m: FloatArray, angle_rad: FloatArray) -> FloatArray:
    """Points turned about the x axis through the first of them."""
    offset = points_m - points_m[:, :1]
    c, s = np.cos(angle_rad)[:, None], np.sin(angle_rad)[:, None]
    y, z = offset[..., 1], offset[..., 2]
    return points_m[:, :1] + np.stack([offset[..., 0], c * y - s * z, s * y + c * z], axis=2)


def _skin(made: Recording, size_m: float, rng: np.random.Generator) -> FloatArray:
    """Slow displacement of every marker, by the way of the hand."""
    hand = made.markers_m[:, made.labels.index("KNU")]
    course = np.linalg.norm(hand - hand[0], axis=1)
    course = course / max(float(np.ptp(course)), 1e-9)
    return size_m * course[:, None, None] * rng.standard_normal((1, made.markers_m.shape[1], 3)) / np.sqrt(3.0)
