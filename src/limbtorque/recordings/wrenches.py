"""Force plates whose wrench is in a file: force, point of action, couple."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.force_plates import finite_wrench
from limbtorque.recordings.recording import ForcePlate

LOADED_N = 50.0


class Wrench(NamedTuple):
    """Force of a plate on the foot, its point of action and the couple there.

    Attributes
    ----------
    force_n, point_m, couple_nm : ndarray of shape (n_samples, 3)
        In the laboratory frame, N, m and N m.
    """

    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray


def plate_of(wrench: Wrench, number: int, rate_hz: float, *, corners_m: FloatArray | None = None) -> ForcePlate:
    """Force plate of kind 0, which holds the wrench itself.

    Parameters
    ----------
    wrench : Wrench
        The wrench.
    number : int
        Number of the plate, from 1.
    rate_hz : float
        Samples per second.
    corners_m : ndarray of shape (4, 3), optional
        Corners of the surface, m; four times the mean point of action where they are not known.

    Returns
    -------
    ForcePlate
        With the moment about the origin of the laboratory, point x force + couple; NaN where a number is not finite.
    """
    force, point, couple = wrench
    loaded = (force != 0.0).any(axis=1)
    point = np.where(loaded[:, np.newaxis], point, 0.0)  # without force its point is often not a number
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is not known, and noted
        force_n, moment_nm = finite_wrench(force, np.cross(point, force) + couple)
    known = loaded & np.isfinite(force_n).all(axis=1)
    centre_m = point[known].mean(axis=0) if known.any() else np.zeros(3)
    return ForcePlate(
        number=number,
        kind=0,
        corners_m=np.tile(np.nan_to_num(centre_m, posinf=0.0, neginf=0.0), (4, 1)) if corners_m is None else corners_m,
        rate_hz=rate_hz,
        force_n=force_n,
        moment_nm=moment_nm,
    )


def pushing(wrench: Wrench, towards: FloatArray) -> tuple[Wrench, bool]:
    """Wrench of the plate on the foot, whichever of the two forces the file holds.

    Parameters
    ----------
    wrench : Wrench
        The wrench.
    towards : ndarray of shape (3,)
        Direction from the plate to the body: a plate cannot pull.

    Returns
    -------
    wrench : Wrench
        With the opposite force and couple where the mean force of more than 50 N points away from the body.
    turned : bool
        True where it does.
    """
    size = np.linalg.norm(np.nan_to_num(wrench.force_n), axis=1)
    mean = np.nan_to_num(wrench.force_n[size > LOADED_N]).sum(axis=0)
    turned = bool(mean @ towards < 0.0)
    return (Wrench(-wrench.force_n, wrench.point_m, -wrench.couple_nm) if turned else wrench), turned
