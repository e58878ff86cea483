"""Minimum-jerk movements of endpoint or joints (Flash and Hogan 1985)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, row


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
