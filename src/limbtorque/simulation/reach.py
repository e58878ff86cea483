"""Minimum-jerk movements, and reaches of a three-link arm whose torques are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, row
from limbtorque.chain.body_segments import segment_chain
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.chain.segments import DEMPSTER_WINTER
from limbtorque.recordings.recording import Recording

HALF_WIDTH_M = 0.03


@dataclass(frozen=True)
class MinimumJerk:
    """A minimum-jerk movement from one point to another; at rest before and after.

    Attributes
    ----------
    position, velocity, acceleration, jerk : ndarray of shape (n_frames, n_coordinates)
        In the unit of the points, and per s, s^2 and s^3.
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    jerk: FloatArray


def minimum_jerk(time_s: ArrayLike, *, start: ArrayLike, end: ArrayLike, duration_s: float) -> MinimumJerk:
    """Minimum-jerk movement between two points.

    Parameters
    ----------
    time_s : array_like of shape (n_frames,)
        Time from the onset, s.
    start, end : array_like of shape (n_coordinates,)
        Start and end: positions of the endpoint in m, joint angles in rad, or any other coordinates.
    duration_s : float
        Duration of the movement, s.

    Returns
    -------
    MinimumJerk
        ``start + (end - start) (10 u^3 - 15 u^4 + 6 u^5)`` with ``u = t / duration``, and its derivatives.

    Raises
    ------
    ValueError
        A duration that is not positive, or mismatched shapes.

    Notes
    -----
    The jerk jumps from 0 to ``60 / duration^3`` of the way at the onset, and back at the end; these two instants have the
    jerk inside the movement.

    Examples
    --------
    >>> reach = minimum_jerk([0.0, 1.0, 2.0], start=[0.0, 0.0], end=[0.2, 0.4], duration_s=2.0)
    >>> reach.position.tolist(), reach.velocity[1].tolist()
    ([[0.0, 0.0], [0.1, 0.2], [0.2, 0.4]], [0.1875, 0.375])
    """
    time, first = row("time_s", time_s), row("start", start)
    last = row("end", end, first.size, like="start")
    if np.ndim(duration_s) or not (np.isfinite(duration_s) and duration_s > 0.0):
        raise ValueError(f"duration_s is {duration_s}; expected one positive number")
    inside = (time >= 0.0) & (time <= duration_s)
    u = np.clip(time / duration_s, 0.0, 1.0)
    share = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    speed = 30.0 * u**2 * (1.0 - u) ** 2 / duration_s
    acceleration = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / duration_s**2
    jerk = np.where(inside, 60.0 * (1.0 - 6.0 * u + 6.0 * u**2) / duration_s**3, 0.0)
    way = last - first
    return MinimumJerk(first + np.outer(share, way), *(np.outer(x, way) for x in (speed, acceleration, jerk)))


@dataclass(frozen=True)
class Reach:
    """A reach to a target and back, with rests of half a second.

    Attributes
    ----------
    start_deg, target_deg : tuple of float
        Joint angles (shoulder, elbow, wrist) at the start and at the target, degrees.
    duration_s : float
        Duration of each way, s.
    base_m : tuple of float
        Position of the shoulder at the start, in the plane, m.
    base_shift_m : tuple of float
        Displacement of the shoulder with the reach, m.
    rest_s : float
        Duration of each rest, s.
    """

    start_deg: tuple[float, ...]
    target_deg: tuple[float, ...]
    duration_s: float
    base_m: tuple[float, float]
    base_shift_m: tuple[float, float] = (0.06, 0.015)
    rest_s: float = 0.5

    @property
    def onsets_s(self) -> tuple[float, float]:
        """Onsets of the outward and return movements, s."""
        return self.rest_s, 2.0 * self.rest_s + self.duration_s

    @property
    def length_s(self) -> float:
        """Duration of the whole trial, s."""
        return 3.0 * self.rest_s + 2.0 * self.duration_s


def reach_motion(reach: Reach, *, rate_hz: float) -> Kinematics:
    """Exact movement of a reach, sampled.

    Parameters
    ----------
    reach : Reach
        The movement.
    rate_hz : float
        Frames per second.
    """
    time_s = np.arange(round(reach.length_s * rate_hz) + 1) / rate_hz
    there, back = (
        minimum_jerk(time_s - onset, start=[0.0], end=[1.0], duration_s=reach.duration_s) for onset in reach.onsets_s
    )
    speed, acceleration = there.velocity - back.velocity, there.acceleration - back.acceleration
    share = there.position - back.position
    start, way = np.radians(reach.start_deg), np.radians(np.subtract(reach.target_deg, reach.start_deg))
    shift = np.array(reach.base_shift_m)
    return Kinematics(
        angle_rad=start + share * way,
        velocity_rad_s=speed * way,
        acceleration_rad_s2=acceleration * way,
        base_m=np.array(reach.base_m) + share * shift,
        base_velocity_m_s=speed * shift,
        base_acceleration_m_s2=acceleration * shift,
    )


def dempster_chain(
    rows: Sequence[str], link_length_m: Sequence[float], length_m: Sequence[float], *, body_mass_kg: float
) -> Chain:
    """Chain of a simulated person by Dempster's table (Winter 2009).

    Parameters
    ----------
    rows : sequence of str
        Rows of the table, proximal first.
    link_length_m, length_m : sequence of float
        Of each segment: from joint to joint, and between the landmarks of its row, m.
    body_mass_kg : float
        Body mass, kg.
    """
    between = {
        row: (DEMPSTER_WINTER[row].proximal, DEMPSTER_WINTER[row].distal, length)
        for row, length in zip(rows, length_m, strict=True)
    }
    return segment_chain(
        rows,
        table=DEMPSTER_WINTER,
        body_mass_kg=body_mass_kg,
        link_length_m=link_length_m,
        measured_between=between,
        measured={},
    )


@dataclass(frozen=True)
class Arm:
    """The arm of a simulated subject.

    Attributes
    ----------
    body_mass_kg : float
        Body mass, kg.
    length_m : tuple of float
        Shoulder to elbow, elbow to wrist, wrist to knuckle, m.
    """

    body_mass_kg: float
    length_m: tuple[float, float, float]

    @property
    def chain(self) -> Chain:
        """Inertial constants by Dempster's table; the forearm ends at the ulnar styloid."""
        rows = ("upper_arm", "forearm", "hand")
        lengths = (self.length_m[0], float(np.hypot(self.length_m[1], HALF_WIDTH_M)), self.length_m[2])
        return dempster_chain(rows, self.length_m, lengths, body_mass_kg=self.body_mass_kg)


LABELS = ("SHO", "ELBL", "ELBM", "WRR", "WRU", "KNU", "C7", "CLAV")


def reach_recording(
    arm: Arm,
    reach: Reach,
    *,
    horizontal: bool,
    rate_hz: float,
    prefix: str = "",
    noise_m: float = 0.0,
    gaps: tuple[tuple[str, int, int], ...] = (),
    seed: int = 0,
) -> Recording:
    """Markers of a simulated reach.

    Parameters
    ----------
    arm : Arm
        The subject's arm.
    reach : Reach
        The movement in the plane: x forward, y up, or y to the left where `horizontal`.
    horizontal : bool
        True for the horizontal plane 1.1 m above the floor.
    rate_hz : float
        Frames per second.
    prefix : str, optional
        Subject prefix of the labels, with its colon.
    noise_m : float, optional
        Standard deviation of the noise of every coordinate, m.
    gaps : tuple of (label, first, last), optional
        Frames in which a marker is missing.
    seed : int, optional
        Seed of the noise.

    Returns
    -------
    Recording
        Laboratory frame: x forward, y to the left, z up.
    """
    kinematics = reach_motion(reach, rate_hz=rate_hz)
    planar = joint_positions(arm.chain, kinematics.angle_rad, base_m=kinematics.base_m)
    left, up = np.eye(3)[1:]
    normal, second, origin = (up, left, 1.1 * up) if horizontal else (-left, up, np.zeros(3))
    joints = origin + planar[..., :1] * np.array([1.0, 0.0, 0.0]) + planar[..., 1:] * second
    shoulder, elbow, wrist, knuckle = np.moveaxis(joints, 1, 0)
    side = HALF_WIDTH_M * normal
    trunk = shoulder[:, None] + np.array([[-0.10, 0.2, 0.1], [0.05, 0.2, 0.0]])
    markers = np.concatenate(
        [np.stack([shoulder, elbow + side, elbow - side, wrist + side, wrist - side, knuckle], axis=1), trunk], axis=1
    )
    markers = markers + noise_m * np.random.default_rng(seed).standard_normal(markers.shape)
    for label, first, last in gaps:
        markers[first : last + 1, LABELS.index(label)] = np.nan
    return Recording(
        source="simulated reach",
        sha256="",
        reader="limbtorque.simulation",
        labels=tuple(prefix + label for label in LABELS),
        markers_m=markers,
        rate_hz=rate_hz,
        first_frame=1,
    )
