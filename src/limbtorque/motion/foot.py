"""A foot over time: contact with the ground, and its place on a force plate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, ignore_short
from limbtorque.recordings.recording import ForcePlate
from limbtorque.signals.derivatives import differentiate
from limbtorque.study.options.loads import Plates


@dataclass(frozen=True)
class Foot:
    """One foot over time, in the laboratory frame.

    Attributes
    ----------
    back_m, front_m : ndarray of shape (n_frames, 3)
        Ends of the line of the foot: heel (or ankle) and front, m.
    contact : ndarray of bool, shape (n_frames,)
        True where it may stand on the ground, by its speed.
    side : str
        Side of the body, for the notes.
    """

    back_m: FloatArray
    front_m: FloatArray
    contact: BoolArray
    side: str = ""

    @property
    def unseen(self) -> BoolArray:
        """Frames in which neither end of the foot is known."""
        return np.asarray(np.isnan(self.front_m).any(axis=1) & np.isnan(self.back_m).any(axis=1))


def find_foot(
    contact_m: Mapping[str, FloatArray],
    *,
    ends: tuple[FloatArray, FloatArray],
    settings: Plates,
    rate_hz: float,
    belt_m_s: FloatArray,
    side: str = "",
) -> Foot:
    """Find the frames in which a foot may stand on the ground: a landmark is slow.

    Parameters
    ----------
    contact_m : mapping of str to ndarray of shape (n_frames, 3)
        Positions of the landmarks that show contact, m; a missing sample shows none.
    ends : pair of ndarray of shape (n_frames, 3)
        Back and front of the foot's line, m.
    settings : Plates
        Thresholds.
    rate_hz : float
        Frames per second.
    belt_m_s : ndarray of shape (3,)
        Velocity of the ground: zero, or that of a treadmill's belt, m/s.
    side : str, optional
        Side of the body, for the notes.

    Returns
    -------
    Foot
        The foot and its contacts.

    Notes
    -----
    Height is not used: stairs, kerbs and ramps differ in it. A foot held still in the air counts as standing, and its
    torques are left empty rather than computed without the ground; `plates.assignment: none` excludes the ground.
    """
    contact = np.zeros(len(ends[1]), dtype=bool)
    for positions in contact_m.values():
        velocity, _ = differentiate(positions, rate_hz=rate_hz, accuracy=2)
        contact |= np.linalg.norm(velocity - belt_m_s, axis=1) < settings.max_contact_speed_m_s
    return Foot(ends[0], ends[1], ignore_short(contact, round(settings.min_contact_s * rate_hz)), side)


def centre_of_pressure(wrench: FloatArray, *, up: FloatArray, level_m: float) -> FloatArray:
    """Point at the height `level_m` about which a wrench has no horizontal moment.

    Parameters
    ----------
    wrench : ndarray of shape (n, 6)
        Force in N and moment about the laboratory's origin in N m.
    up : ndarray of shape (3,)
        Unit vector upwards.
    level_m : float
        Height of the working surface along `up`, m.

    Returns
    -------
    ndarray of shape (n, 3)
        Centre of pressure, m; NaN without vertical force.
    """
    force, moment = wrench[:, :3], wrench[:, 3:]
    vertical = force @ up
    loaded = np.abs(vertical) > 1e-9
    per_newton = np.divide(1.0, vertical, where=loaded, out=np.full(len(vertical), np.nan))[:, None]
    horizontal = np.cross(up, moment) * per_newton
    slope = (force - vertical[:, None] * up) * per_newton
    return np.asarray(horizontal + level_m * (up + slope))


def distance_m(pressure_m: FloatArray, foot: Foot, part: slice, up: FloatArray) -> float:
    """Median horizontal distance of the centre of pressure from the line of the foot."""
    flat = np.eye(3) - np.outer(up, up)
    back, front = foot.back_m[part] @ flat, foot.front_m[part] @ flat
    line, point = front - back, pressure_m @ flat - back
    along = np.clip((point * line).sum(axis=1) / np.maximum((line**2).sum(axis=1), 1e-12), 0.0, 1.0)
    distance = np.linalg.norm(point - along[:, None] * line, axis=1)
    known = distance[~np.isnan(distance)]
    return float(np.median(known)) if len(known) else np.nan


def inside(
    plate: ForcePlate, foot: Foot, part: slice, settings: Plates, up: FloatArray, *, anywhere: bool = False
) -> BoolArray:
    """Return True where the foot's standing ends (or any end) are above the plate.

    A lifted end (heel-off, toe-down) does not count: it may be beyond the edge.
    """
    over, standing = [], []
    for points in (foot.back_m, foot.front_m):
        height = points[part] @ up
        lowest = np.nanmin(height) if not np.isnan(height).all() else np.nan
        standing.append(height < lowest + settings.max_contact_height_m)
        over.append(_in_quadrilateral(points[part], plate.corners_m, up, 0.0 if anywhere else settings.edge_margin_m))
    if anywhere:
        return over[0] | over[1]
    return (over[0] | ~standing[0]) & (over[1] | ~standing[1])


def _in_quadrilateral(points_m: FloatArray, corners_m: FloatArray, up: FloatArray, margin_m: float) -> BoolArray:
    centre = corners_m.mean(axis=0)
    inside = np.ones(len(points_m), dtype=bool)
    for corner, following in zip(corners_m, np.roll(corners_m, -1, axis=0), strict=True):
        outward = np.cross(following - corner, up)
        outward = outward * np.sign(outward @ (corner - centre)) / max(float(np.linalg.norm(outward)), 1e-12)
        inside &= (points_m - corner) @ outward < margin_m
    return inside
