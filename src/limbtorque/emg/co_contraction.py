"""Co-contraction indices of two antagonists from their envelopes."""

from __future__ import annotations

import math

import numpy as np

from limbtorque.arrays import FloatArray


def falconer_winter(first: FloatArray, second: FloatArray) -> float:
    """Co-contraction index of Falconer and Winter (1985).

    Parameters
    ----------
    first, second : ndarray of shape (n_frames,)
        Normalised envelopes, never negative; frames with NaN in either are left out.

    Returns
    -------
    float
        Twice the common area over the sum of both areas, 0 to 1; NaN without activity. One where both are alike, zero where
        they take turns.

    Notes
    -----
    Electromyogr Clin Neurophysiol 25: the antagonist is, at each time, the muscle with the smaller envelope. They give per cent.

    Examples
    --------
    >>> falconer_winter(np.array([1.0, 0.5]), np.array([0.0, 0.5]))
    0.5
    """
    low, high = _sorted(first, second)
    total = float((low + high).sum())
    return float(2.0 * low.sum() / total) if total > 0.0 else math.nan


def rudolph(first: FloatArray, second: FloatArray) -> float:
    """Co-contraction index of Rudolph et al. (2000).

    Parameters
    ----------
    first, second : ndarray of shape (n_frames,)
        As for `falconer_winter`.

    Returns
    -------
    float
        Mean over the frames of (smaller / larger) times (smaller + larger), 0 to 2; frames without activity count as zero.

    Notes
    -----
    Knee Surg Sports Traumatol Arthrosc 8(5). Unlike that of Falconer and Winter it grows with the amplitude.

    Examples
    --------
    >>> rudolph(np.array([1.0, 0.5]), np.array([0.0, 0.5]))
    0.5
    """
    low, high = _sorted(first, second)
    if not len(low):
        return math.nan
    ratio = np.divide(low, high, out=np.zeros_like(low), where=high > 0.0)
    return float(np.mean(ratio * (low + high)))


def _sorted(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smaller and larger envelope of the frames where both are known."""
    known = np.isfinite(first) & np.isfinite(second)
    return np.minimum(first, second)[known], np.maximum(first, second)[known]
