r"""Bands that hold a whole curve, by the Kac-Rice formula.

The error of a curve over its standard deviation leaves ``-c .. c`` with a probability of at most

.. math::

    2 \Phi(-c) + \frac{1}{\pi} e^{-c^2 / 2} \int \tau(t) \, dt

with the standard deviation tau of its rate of change: the first part at the first frame, the second the expected number of
crossings (Rice 1945; Liebl and Reimherr 2023, Journal of the Royal Statistical Society B 85, 842-868). Nothing is sampled.
"""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.uncertainty.bands import LEVEL, LIMITS, TorqueBands

HIGHEST = 40.0  # standard deviations
STEPS = 60  # halvings
MOST_LOSS = 0.25  # of the variance in a frame, by the filter


def simultaneous_limits(
    bands: TorqueBands, used: BoolArray, rate_hz: float, *, level: float = LEVEL, least_nm: FloatArray | None = None
) -> FloatArray:
    """Half-widths of simultaneous bands, in standard deviations.

    Parameters
    ----------
    bands : TorqueBands
        Bands of a trial, with the rates of change of the errors.
    used : ndarray of bool, shape (n_frames,)
        Frames of the curve.
    rate_hz : float
        Frames per second.
    level : float, optional
        Probability with which the whole curve is held.
    least_nm : ndarray of shape (n_joints,), optional
        Torque below which limits are not judged (`bands.resolution_nm`).

    Returns
    -------
    ndarray of shape (n_joints, n_terms)
        Of every net torque and term: `bands.LIMITS` for an error that all frames share, more for one that changes; NaN
        where a frame has no band, and where the filter's loss has more than `MOST_LOSS` of the variance in a frame whose limits
        are judged.

    Raises
    ------
    ValueError
        Bands without the rates of change.

    Notes
    -----
    Every run of frames begins anew, as if the runs before told nothing about it. The bound is close for a high level, and for
    normal errors. The filter's loss is not normal: where the jerk jumps it is a wave of known height, a frame or two wide,
    at an instant that is known less well. A standard deviation spreads its height over these frames, and a curve that
    is held in all others leaves its band there.
    """
    from scipy.special import ndtr  # a slow import that most studies do not need

    if bands.rate_nm2_s2 is None:
        raise ValueError("the bands have no rates of change; compute them by torque_bands(..., whole_curves=True)")
    turned, n_runs = np.zeros(bands.variance_nm2.shape[:2]), 0
    for start, stop in runs(used):
        turned += _turned(bands.variance_nm2[..., start:stop], bands.rate_nm2_s2[..., start:stop], rate_hz)
        n_runs += 1
    low, high = np.zeros_like(turned), np.full_like(turned, HIGHEST)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        outside = 2.0 * max(n_runs, 1) * ndtr(-middle) + turned / np.pi * np.exp(-(middle**2) / 2.0)
        low, high = np.where(outside > 1.0 - level, middle, low), np.where(outside > 1.0 - level, high, middle)
    return np.where(np.isnan(turned) | _mostly_loss(bands, used, least_nm), np.nan, high)


def _mostly_loss(bands: TorqueBands, used: BoolArray, least_nm: FloatArray | None) -> BoolArray:
    """Rows with a frame in which the filter's loss has most of the variance."""
    variance = bands.variance_nm2[..., used]
    if "filter" not in bands.by_source:
        return np.zeros(variance.shape[:2], dtype=bool)
    least = np.zeros(len(variance)) if least_nm is None else least_nm
    judged = variance > (least[:, None, None] / LIMITS) ** 2
    return np.asarray((judged & (bands.by_source["filter"][..., used] > MOST_LOSS * variance)).any(axis=-1))


def _turned(variance: FloatArray, rate: FloatArray, rate_hz: float) -> FloatArray:
    """Integral of tau over a run of frames.

    With the variance V of an error and that of its rate of change R, ``tau^2 = R / V - (V' / 2 V)^2``.
    """
    if variance.shape[-1] < 2:
        return np.zeros(variance.shape[:-1])
    own = np.maximum(variance, np.finfo(float).tiny)
    drift = np.gradient(np.log(own), 1.0 / rate_hz, axis=-1) / 2.0
    tau = np.sqrt(np.maximum(np.where(variance > 0.0, rate / own - drift**2, 0.0), 0.0))
    return np.asarray(np.trapezoid(np.where(np.isnan(variance), np.nan, tau), dx=1.0 / rate_hz, axis=-1))
