"""Centre of pressure of the ground in the plane of motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.motion.plane import PlaneFrame
from limbtorque.recordings.recording import ForcePlate


def pressure_in_plane(
    force_n: FloatArray,
    couple_nm: FloatArray,
    ankle_m: FloatArray,
    *,
    plates: Sequence[ForcePlate],
    frame: PlaneFrame,
    threshold_n: float,
) -> FloatArray:
    """Point at the height of the plates where a force acts without a couple.

    Parameters
    ----------
    force_n, ankle_m : ndarray of shape (n_frames, 2)
        Force on the foot, N, and ankle, m, in the plane.
    couple_nm : ndarray of shape (n_frames,)
        Couple about the ankle, N m.
    plates : sequence of ForcePlate
        Plates, for their mean height.
    frame : PlaneFrame
        The plane; there is no such point in a horizontal one.
    threshold_n : float
        Least upward force.

    Returns
    -------
    ndarray of shape (n_frames, 2)
        Point in the plane, m; NaN where it does not exist.
    """
    upward = np.where(force_n[:, 1] > threshold_n, force_n[:, 1], np.nan)
    heights = [frame.project(plate.corners_m)[:, 1].mean() for plate in plates if frame.view != "horizontal"]
    level = np.mean(heights or [np.nan])
    below = level - ankle_m[:, 1]
    return np.stack([ankle_m[:, 0] + (couple_nm + below * force_n[:, 0]) / upward, below + ankle_m[:, 1]], axis=1)
