"""Rigid segments in space: motion of a tree, the forces that it needs, and the net moments of its joints.

Frames follow OpenSim: x forward, y up, z to the right; a segment's origin is its proximal joint. A time function is an array whose
first axis holds value, first and second derivative. Every joint turns about three axes in turn: the first is fixed in the parent, the
last in the segment, and the positive sense is that of flexion, abduction and internal rotation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

G = 9.80665
UP = np.array([0.0, 1.0, 0.0])
MOTIONS = ("flexion", "abduction", "rotation")
NEXT, LAST = [1, 2, 0], [2, 0, 1]
STEPS = 12  # of Newton's method towards the pose of a foot
CLOSE = 1e-6  # m and rad: its last step, whose square is the error


@dataclass(frozen=True)
class Segment:
    """Rigid segment with the joint that holds it.

    Attributes
    ----------
    name, parent, joint : str
        Its name, the segment that holds it (empty: the laboratory), and the joint between them.
    centre_m : ndarray of shape (3,)
        Joint centre in the parent's frame.
    axes : ndarray of shape (3, 3)
        Axes of the joint, one in each row, in the order in which they turn.
    mass_kg, length_m : float
        Mass, and distance to the next joint.
    com_m, inertia_kgm2 : ndarray of shape (3,) and (3, 3)
        Centre of mass, and inertia about it, in the segment's frame.
    markers_m : mapping of str to ndarray of shape (3,)
        Markers in the segment's frame.
    """

    name: str
    parent: str
    joint: str
    centre_m: FloatArray
    axes: FloatArray
    mass_kg: float
    length_m: float
    com_m: FloatArray
    inertia_kgm2: FloatArray
    markers_m: Mapping[str, FloatArray] = field(default_factory=dict)


Body = Mapping[str, Segment]  # parents before children; the first is held by the laboratory


@dataclass(frozen=True)
class Motion:
    """Coordinates of a body.

    Attributes
    ----------
    angle_rad : dict of str to ndarray of shape (3, n_frames, 3)
        Angles of each segment's joint by derivative, frame and axis.
    shift_m : dict of str to ndarray of shape (3, n_frames, 3)
        Displacement of a joint's centre in the parent's frame: of the first segment its place, of others a moving axis.
    """

    angle_rad: dict[str, FloatArray]
    shift_m: dict[str, FloatArray]


@dataclass(frozen=True)
class State:
    """Motion of a segment in the laboratory.

    Attributes
    ----------
    turn : ndarray of shape (n_frames, 3, 3)
        Rotation from the segment's frame to the laboratory's.
    spin, spin_rate : ndarray of shape (n_frames, 3)
        Angular velocity and acceleration.
    at, speed, acceleration : ndarray of shape (n_frames, 3)
        Position of the proximal joint, with derivatives.
    axes : ndarray of shape (n_frames, 3, 3)
        Axes of the joint, one in each row.
    """

    turn: FloatArray
    spin: FloatArray
    spin_rate: FloatArray
    at: FloatArray
    speed: FloatArray
    acceleration: FloatArray
    axes: FloatArray

    def point(self, place: FloatArray) -> FloatArray:
        """Place of a point of the segment in the laboratory, (n_frames, 3)."""
        return np.asarray(self.at + self.turn @ place)

    def moving(self, arm: FloatArray) -> FloatArray:
        """Place, speed and acceleration of a point, by its distance from the joint in the laboratory, (3, n_frames, 3)."""
        drag = cross(self.spin, arm)
        bent = cross(self.spin_rate, arm) + cross(self.spin, drag)
        return np.stack([self.at + arm, self.speed + drag, self.acceleration + bent])


States = Mapping[str, State]  # by segment


@dataclass(frozen=True)
class Load:
    """Force on a segment, the point where it acts, and a free moment; each (n_frames, 3)."""

    segment: str
    force_n: FloatArray
    point_m: FloatArray
    moment_nm: FloatArray


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross product over the last axis; for short arrays three times as fast as NumPy's."""
    return np.asarray(a[..., NEXT] * b[..., LAST] - a[..., LAST] * b[..., NEXT])


def turned(axis: FloatArray, angle: FloatArray) -> FloatArray:
    """Rotation matrices about an axis, shape (n_frames, 3, 3)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.asarray(np.eye(3) + sine * skew + (1.0 - cosine) * (skew @ skew))


def laboratory(n_frames: int) -> State:
    """State of the laboratory, which rests."""
    rest, unit = np.zeros((n_frames, 3)), np.tile(np.eye(3), (n_frames, 1, 1))
    return State(unit, rest, rest, rest, rest, rest, unit)


def step(parent: State, segment: Segment, angle_rad: FloatArray, shift_m: FloatArray | None = None) -> State:
    """State of a segment from its parent's and the coordinates of its joint."""
    arm, moving, pushed = np.zeros((3, *parent.at.shape)) if shift_m is None else shift_m
    arm, moving, pushed = (
        np.einsum("nij,nj->ni", parent.turn, part) for part in (arm + segment.centre_m, moving, pushed)
    )
    spin, rate, turn, axes = parent.spin, parent.spin_rate, parent.turn, []
    for k, axis in enumerate(segment.axes):
        along = turn @ axis
        rate = rate + angle_rad[2][:, k, None] * along + cross(spin, along) * angle_rad[1][:, k, None]
        spin = spin + angle_rad[1][:, k, None] * along
        turn = turn @ turned(axis, angle_rad[0][:, k])
        axes.append(along)
    at, speed, acceleration = parent.moving(arm)
    acceleration = acceleration + 2.0 * cross(parent.spin, moving) + pushed
    return State(turn, spin, rate, at, speed + moving, acceleration, np.stack(axes, axis=1))


def states_of(body: Body, motion: Motion) -> dict[str, State]:
    """States of all segments."""
    n_frames = next(iter(motion.angle_rad.values())).shape[1]
    states = {"": laboratory(n_frames)}
    for name, segment in body.items():
        states[name] = step(states[segment.parent], segment, motion.angle_rad[name], motion.shift_m.get(name))
    return states


def effort(segment: Segment, state: State, field_m_s2: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Force and moment about the laboratory's origin that a segment's motion needs, in a field of acceleration."""
    centre, _, acceleration = state.moving(state.turn @ segment.com_m)
    force = segment.mass_kg * (acceleration - field_m_s2)
    inertia = state.turn @ segment.inertia_kgm2 @ state.turn.swapaxes(1, 2)
    momentum = np.einsum("nij,nj->ni", inertia, state.spin)
    moment = np.einsum("nij,nj->ni", inertia, state.spin_rate) + cross(state.spin, momentum)
    return force, moment + cross(centre, force)


def whole(body: Body, states: States) -> tuple[FloatArray, FloatArray]:
    """External force that the whole body needs, and its moment about the origin of the laboratory."""
    efforts = [effort(segment, states[name], -G * UP) for name, segment in body.items()]
    return sum(force for force, _ in efforts), sum(moment for _, moment in efforts)


def centre_of_mass(body: Body, states: States) -> FloatArray:
    """Centre of mass of the body with its derivatives, shape (3, n_frames, 3)."""
    moving = {name: states[name].moving(states[name].turn @ segment.com_m) for name, segment in body.items()}
    total = sum(body[name].mass_kg * motion for name, motion in moving.items())
    return total / sum(segment.mass_kg for segment in body.values())


def net_moments(
    body: Body, states: States, loads: Sequence[Load] = (), field_m_s2: FloatArray = -G * UP
) -> dict[str, FloatArray]:
    """Net moment of each segment's joint, proximal on distal, about its three axes.

    Parameters
    ----------
    body : Body
        The segments.
    states : mapping of str to State
        Their motion.
    loads : sequence of Load, optional
        External forces.
    field_m_s2 : ndarray of shape (3,) or (n_frames, 3), optional
        Acceleration of a free body: gravity.

    Returns
    -------
    dict of str to ndarray of shape (n_frames, 3)
        Generalised forces of the joint's angles, by segment.
    """
    efforts = {name: np.stack(effort(segment, states[name], field_m_s2)) for name, segment in body.items()}
    for load in loads:
        efforts[load.segment] -= load.force_n, cross(load.point_m, load.force_n) + load.moment_nm
    moments = {}
    for name, segment in reversed(body.items()):
        force, moment = efforts[name]
        about = moment - cross(states[name].at, force)
        moments[name] = np.einsum("nki,ni->nk", states[name].axes, about)
        if segment.parent:
            efforts[segment.parent] += efforts[name]
    return moments


def flexion_terms(
    body: Body, motion: Motion, loads: Sequence[Load], limb: Sequence[str], *, planar: bool
) -> dict[str, FloatArray]:
    """Terms of the moments about the first axes of a limb, each (n_frames, n_joints).

    Parameters
    ----------
    body, motion, loads
        As in `net_moments`.
    limb : sequence of str
        Segments of the limb, from proximal to distal.
    planar : bool
        True separates centripetal from Coriolis terms, which needs a motion in a plane.

    Returns
    -------
    dict of str to ndarray
        `base` holds the linear acceleration of the limb's first joint; the angular motion of its parent is counted with the limb's.
    """

    def moments(part: Motion) -> FloatArray:
        states = states_of(body, part)
        return first_axes(states, (), states[limb[0]].acceleration)

    def first_axes(states: States, loads: Sequence[Load], field_m_s2: FloatArray) -> FloatArray:
        about = net_moments(body, states, loads, field_m_s2)
        return np.stack([about[name][:, 0] for name in limb], axis=1)

    acceleration = states_of(body, motion)[limb[0]].acceleration
    still, velocity = states_of(body, only(motion, (0,))), moments(only(motion, (0, 1)))
    terms = {
        "inertial": moments(only(motion, (0, 2))),
        "gravity": first_axes(still, (), -G * UP),
        "base": first_axes(still, (), -acceleration),
        "external": first_axes(still, loads, np.zeros(3)),
    }
    if not planar:
        return terms | {"velocity": velocity}
    groups = ([name for name in body if name not in limb[1:]], *([name] for name in limb[1:]))
    centripetal = sum(moments(only(motion, (0, 1), group)) for group in groups)
    return terms | {"centripetal": centripetal, "coriolis": velocity - centripetal}


def only(motion: Motion, orders: Sequence[int], names: Sequence[str] | None = None) -> Motion:
    """The motion with some derivatives only, and those of some segments."""

    def part(values: FloatArray, name: str) -> FloatArray:
        kept = [order in orders and (order == 0 or names is None or name in names) for order in range(3)]
        return values * np.array(kept)[:, None, None]

    return Motion(
        *({name: part(values, name) for name, values in group.items()} for group in (motion.angle_rad, motion.shift_m))
    )


def follow(
    body: Body, parent: State, leg: Sequence[str], foot: State, *, coupled: Sequence[float], way_m: FloatArray,
    hip_rotation_rad: float | None = None,
) -> tuple[dict[str, FloatArray], FloatArray]:  # fmt: skip
    """Angles of a leg that holds its foot at a pose, with exact derivatives.

    The hip is free, the knee has one degree of freedom, and the foot does not rotate against the shank; or the hip's rotation is given,
    and the foot rotates.

    Parameters
    ----------
    body : Body
        The segments.
    parent, foot : State
        Motion of the pelvis and of the foot.
    leg : sequence of str
        Thigh, shank and foot.
    coupled : sequence of float
        Abduction and rotation of the knee as shares of its flexion.
    way_m : ndarray of shape (3,)
        Displacement of the knee's centre in the thigh per radian of flexion.
    hip_rotation_rad : float, optional
        Rotation of the hip, where it is given.

    Returns
    -------
    angle_rad, shift_m
        Angles by segment, and displacement of the knee's centre.

    Raises
    ------
    ValueError
        A foot out of reach.
    """
    free = np.zeros((6, 9))  # degrees of freedom by angle: hip, knee and ankle
    free[[0, 1, 2, 4, 5], [0, 1, 2, 6, 7]] = 1.0
    free[3, 3:6] = 1.0, *coupled
    if hip_rotation_rad is not None:
        free[2] = np.eye(9)[8]
    angles = np.zeros((3, len(foot.at), 9))
    angles[0] = _guess(body, parent, leg, foot) @ free[[0, 3, 4]]
    angles[0, :, 2] = hip_rotation_rad or 0.0

    def states() -> list[State]:
        thigh = step(parent, body[leg[0]], angles[..., :3])
        shank = step(thigh, body[leg[1]], angles[..., 3:6], angles[..., 3:4] * way_m)
        return [thigh, shank, step(shank, body[leg[2]], angles[..., 6:])]

    def change(order: int, chain: Sequence[State], apart: FloatArray) -> float:
        axes = np.concatenate([state.axes for state in chain], axis=1)
        arms = np.repeat(np.stack([chain[2].at - state.at for state in chain], axis=1), 3, axis=1)
        columns = free @ np.concatenate([cross(axes, arms), axes], axis=2)
        columns[:, 3, :3] += chain[0].turn @ way_m
        steps = np.linalg.solve(columns.swapaxes(1, 2), apart[..., None])[..., 0]
        angles[order] += steps @ free
        return float(np.abs(steps).max())

    largest, rounds = np.inf, 0
    while largest > CLOSE:
        rounds += 1
        if rounds > STEPS:
            raise ValueError(f"{leg[-1]} is out of reach")
        chain = states()
        turn = rotation_vector(foot.turn @ chain[2].turn.swapaxes(1, 2))
        largest = change(0, chain, np.concatenate([foot.at - chain[2].at, turn], axis=1))
    for order, place, turning in ((1, "speed", "spin"), (2, "acceleration", "spin_rate")):
        end = (chain := states())[2]
        apart = [getattr(foot, name) - getattr(end, name) for name in (place, turning)]
        change(order, chain, np.concatenate(apart, axis=1))
    return {name: angles[..., 3 * k : 3 * k + 3] for k, name in enumerate(leg)}, angles[..., 3:4] * way_m


def _guess(body: Body, base: State, leg: Sequence[str], foot: State) -> FloatArray:
    """Flexion of hip, knee and ankle by a planar leg, shape (n_frames, 3)."""
    thigh, shank = (body[name].length_m for name in leg[:2])
    away = np.einsum("nji,nj->ni", base.turn, foot.at - base.point(body[leg[0]].centre_m))
    long = np.minimum(np.linalg.norm(away, axis=1), 0.9999 * (thigh + shank))
    knee = np.pi - np.arccos((thigh**2 + shank**2 - long**2) / (2.0 * thigh * shank))
    hip = np.arctan2(away[:, 0], -away[:, 1]) + np.arccos((thigh**2 + long**2 - shank**2) / (2.0 * thigh * long))
    tilt, pitch = (np.arcsin(state.turn[:, 1, 0]) for state in (base, foot))
    return np.stack([hip, knee, pitch - tilt - hip + knee], axis=1)


def rotation_vector(turn: FloatArray) -> FloatArray:
    """Rotation vectors of matrices by their skew part, exact for small angles."""
    skew = turn - turn.swapaxes(1, 2)
    return 0.5 * np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
