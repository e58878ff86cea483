"""Agreement of predicted activations with envelopes: r, rms and lag."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray

FEWEST = 10  # frames for a correlation


@dataclass(frozen=True)
class Agreement:
    """Agreement of an activation with an envelope.

    Attributes
    ----------
    r : float
        Pearson's correlation at the delay of the envelope; NaN where one of the two is constant or too short.
    rms : float
        Root mean square difference.
    scale : float
        Factor of the envelope, at least zero, with the least rms; it says how the two amplitudes compare.
    scaled_rms : float
        Root mean square difference with that factor.
    lag_s : float
        Shift with the largest r, s: positive where the activation comes after the (delayed) envelope. NaN where that is the
        largest shift tried: r then rises beyond it, and the shift is a limit of the search, not a lag.
    lag_r : float
        That r; NaN with it.
    """

    r: float = math.nan
    rms: float = math.nan
    scale: float = math.nan
    scaled_rms: float = math.nan
    lag_s: float = math.nan
    lag_r: float = math.nan


def correlations(activations: FloatArray, envelopes: FloatArray) -> FloatArray:
    """Correlation of every activation with every envelope.

    Parameters
    ----------
    activations, envelopes : ndarray of shape (n_frames, n)
        Columns of any number; all values are known.

    Returns
    -------
    ndarray of shape (n_activations, n_envelopes)
        NaN for columns that are constant to rounding, and with fewer than ten frames.
    """
    if len(activations) < FEWEST:
        return np.full((activations.shape[1], envelopes.shape[1]), math.nan)
    return np.asarray(_standard(activations).T @ _standard(envelopes) / len(activations))


def _standard(values: FloatArray) -> FloatArray:
    """Columns of mean 0 and standard deviation 1; NaN where they are constant."""
    size = np.abs(values).max(axis=0, initial=0.0)
    spread = values.std(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray((values - values.mean(axis=0)) / np.where(spread > 1e-9 * size, spread, math.nan))


def agreement(
    activation: FloatArray, envelope: FloatArray, used: BoolArray, *, rate_hz: float, max_lag_s: float
) -> Agreement:
    """Agreement of an activation with an envelope over some frames.

    Parameters
    ----------
    activation, envelope : ndarray of shape (n_frames,)
        At the same times; NaN where unknown.
    used : ndarray of bool, shape (n_frames,)
        Frames that are compared.
    rate_hz : float
        Frames per second.
    max_lag_s : float
        Largest shift that is tried, s; a lag is smaller.
    """
    known = used & np.isfinite(activation) & np.isfinite(envelope)
    if np.count_nonzero(known) < FEWEST:
        return Agreement()
    ours, theirs = activation[known], envelope[known]
    power = float(theirs @ theirs)
    scale = max(float(ours @ theirs) / power, 0.0) if power > 0.0 else math.nan
    by_lag = {lag: _shifted(activation, envelope, used, lag) for lag in _lags(max_lag_s, rate_hz)}
    best = max(by_lag, key=lambda lag: -math.inf if math.isnan(by_lag[lag]) else by_lag[lag])
    found = abs(best) < max(by_lag) and not math.isnan(by_lag[best])
    return Agreement(
        r=by_lag[0],
        rms=_rms(ours - theirs),
        scale=scale,
        scaled_rms=_rms(ours - scale * theirs),
        lag_s=best / rate_hz if found else math.nan,
        lag_r=by_lag[best] if found else math.nan,
    )


def _lags(max_lag_s: float, rate_hz: float) -> list[int]:
    """Shifts in frames, the smallest first: equals are settled for it."""
    most = int(max_lag_s * rate_hz + 1e-9)
    return sorted(range(-most, most + 1), key=abs)


def _shifted(activation: FloatArray, envelope: FloatArray, used: BoolArray, lag: int) -> float:
    """Correlation of the activation with the envelope `lag` frames earlier."""
    theirs = np.full_like(envelope, math.nan)
    stop = len(envelope) - abs(lag)
    if stop > 0:
        theirs[max(lag, 0) : max(lag, 0) + stop] = envelope[max(-lag, 0) : max(-lag, 0) + stop]
    known = used & np.isfinite(activation) & np.isfinite(theirs)
    return float(correlations(activation[known, np.newaxis], theirs[known, np.newaxis])[0, 0])


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))
