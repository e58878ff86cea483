"""Smoothing with a higher cut-off around impacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, runs, widened
from limbtorque.signals.smoothers import Smoother, smooth_values, smoother_reach

BEFORE_S, AFTER_S = 0.03, 0.07  # of an impact, with the higher cut-off alone
RAMP_S = 0.03  # from one cut-off to the other
HIGHEST = 0.4  # of the rate
MARGIN = 4  # times the smoother's reach: frames on both sides from which the higher cut-off is computed


def smooth_with_impacts(
    values: FloatArray, *, rate_hz: float, cutoff_hz: float, smoother: Smoother, impact_hz: float, impacts_s: ArrayLike
) -> FloatArray:
    """Smooth a signal with a higher cut-off around impacts.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples; all channels are smoothed alike.
    rate_hz, cutoff_hz, smoother
        As in `smoothers.smooth_values`.
    impact_hz : float
        Cut-off around impacts, Hz, at most 0.4 of the rate; no effect where it is not above `cutoff_hz`.
    impacts_s : array_like of shape (n_impacts,)
        Times of the impacts from the first frame, s.

    Returns
    -------
    ndarray of the shape of `values`
        Smoothed signal.

    Notes
    -----
    The mean of the signal at both cut-offs, weighted over time: the higher one alone from `BEFORE_S` before an impact to
    `AFTER_S` after it, with ramps of `RAMP_S` whose first two derivatives vanish at their ends. Cut-offs that vary with
    time are the idea of Davis and Challis (2020) and of Augustus et al. (2020), both Journal of Biomechanics 101.
    """
    slow = smooth_values(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    times = np.asarray(impacts_s, dtype=float)
    impact_hz = min(impact_hz, HIGHEST * rate_hz)
    if not times.size or impact_hz <= cutoff_hz:
        return slow
    weight = impact_weight(len(values), rate_hz, times)
    reach = MARGIN * smoother_reach(impact_hz, rate_hz=rate_hz, smoother=smoother)
    found = slow.copy()
    for start, stop in runs(widened(weight > 0.0, reach)):
        part = slice(start, stop)
        fast = smooth_values(values[part], rate_hz=rate_hz, cutoff_hz=impact_hz, smoother=smoother)
        found[part] += weight[part].reshape(-1, *[1] * (slow.ndim - 1)) * (fast - slow[part])
    return found


def impact_weight(n_frames: int, rate_hz: float, impacts_s: FloatArray) -> FloatArray:
    """Weight of the higher cut-off, 0 to 1, shape (n_frames,)."""
    since = np.arange(n_frames)[:, None] / rate_hz - impacts_s
    outside = np.maximum(np.maximum(-BEFORE_S - since, since - AFTER_S), 0.0).min(axis=1)
    u = np.clip(1.0 - outside / RAMP_S, 0.0, 1.0)
    return np.asarray(u**3 * (10.0 - 15.0 * u + 6.0 * u**2))
