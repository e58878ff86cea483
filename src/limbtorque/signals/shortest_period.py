"""Shortest period in a recording, a sign of smoothing before the export."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.signals.spectrum import frequencies, spectrum

FLOOR_M = 2e-5  # less than any camera's noise: optical systems err by 0.15 mm at rest (Merriaux et al. 2017), a rigid box by 0.03 mm
FEWEST_FRAMES = 40


def shortest_period_s(positions_m: FloatArray, *, rate_hz: float, power: FloatArray | None = None) -> float:
    """Period of the highest frequency above the noise of cameras.

    Parameters
    ----------
    positions_m : ndarray of shape (n_frames, ...)
        Unfiltered positions without missing samples, m.
    rate_hz : float
        Frames per second.
    power : ndarray of shape (n_frequencies,), optional
        Its `spectrum`, where it is known already.

    Returns
    -------
    float
        Seconds; near two frames where the positions have the noise of cameras, longer where a filter removed noise and
        movement alike. NaN with fewer than `FEWEST_FRAMES` frames.
    """
    if len(positions_m) < FEWEST_FRAMES:
        return float("nan")
    if power is None:
        power = spectrum(positions_m, rate_hz=rate_hz)[1]
    level = np.convolve(power, np.ones(3) / 3.0, mode="same")
    above = np.flatnonzero(level > FLOOR_M**2)
    return float(1.0 / frequencies(len(positions_m), rate_hz)[above[-1]]) if len(above) else float("nan")
