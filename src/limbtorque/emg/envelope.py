"""Linear envelope of electromyograms: band-pass, rectification, low-pass, delay."""

from __future__ import annotations

import functools
import math
from typing import cast

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.filters import both_ways, design_cutoff, filter_reach, low_pass

ORDER = 2  # of one pass of each filter
HIGHEST = 0.45  # of the sampling rate: above it a low-pass has no effect that the sampling has not


def band_pass(values: FloatArray, *, rate_hz: float, high_pass_hz: float, low_pass_hz: float) -> FloatArray:
    """Zero-lag band-pass of second-order Butterworth filters.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_channels)
        Electromyograms, any unit; a channel with NaN becomes NaN.
    rate_hz : float
        Samples per second.
    high_pass_hz, low_pass_hz : float
        Frequencies at which the gain of both passes together is 1/sqrt(2), Hz. A low-pass above 0.45 of the sampling rate
        is left out.

    Returns
    -------
    ndarray of the shape of `values`
        Band-passed signal, mean near zero.

    Raises
    ------
    SignalError
        The sampling rate is too low for the high-pass, or there are too few samples.

    Notes
    -----
    Limits of 10 to 20 Hz and 400 to 500 Hz are those of SENIAM (Hermens et al. 2000) and of De Luca et al. (2010, J Biomech),
    who find 20 Hz best against motion artefacts.
    """
    if high_pass_hz >= HIGHEST * rate_hz:
        raise SignalError(
            f"a high-pass at {high_pass_hz:g} Hz needs more than {high_pass_hz / HIGHEST:.0f} samples per second, the channels have "
            f"{rate_hz:g}; record faster, or lower emg.band_hz"
        )
    reach = filter_reach(high_pass_hz, rate_hz=rate_hz, order=ORDER)
    _check_length(len(values), reach, rate_hz, "emg.band_hz", high_pass_hz)
    upper_hz = low_pass_hz if low_pass_hz < HIGHEST * rate_hz else None
    return both_ways(_sections(high_pass_hz, upper_hz, rate_hz), values, rate_hz, high_pass_hz, reach, "reflect")


@functools.lru_cache(maxsize=16)
def _sections(high_pass_hz: float, low_pass_hz: float | None, rate_hz: float) -> FloatArray:
    """Second-order sections of one pass, corrected for two."""
    from scipy import signal

    mirrored = rate_hz / 2.0 - high_pass_hz  # tan(pi/2 - x) = 1/tan(x): a high-pass is a mirrored low-pass
    design_hz = rate_hz / 2.0 - design_cutoff(mirrored, rate_hz=rate_hz, order=ORDER)
    parts = [signal.butter(ORDER, design_hz, "highpass", fs=rate_hz, output="sos")]
    if low_pass_hz is not None:
        design_hz = design_cutoff(low_pass_hz, rate_hz=rate_hz, order=ORDER)
        parts.append(signal.butter(ORDER, design_hz, fs=rate_hz, output="sos"))
    return cast(FloatArray, np.concatenate(parts))


def linear_envelope(values: FloatArray, *, rate_hz: float, cutoff_hz: float) -> FloatArray:
    """Full-wave rectified signal through a zero-lag low-pass; never negative.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_channels)
        Band-passed electromyograms (`band_pass`).
    rate_hz : float
        Samples per second.
    cutoff_hz : float
        Frequency at which the gain of both passes together is 1/sqrt(2), Hz.

    Returns
    -------
    ndarray of the shape of `values`
        Envelope in the unit of `values`.

    Raises
    ------
    SignalError
        Too few samples.

    Notes
    -----
    Of Gaussian noise with standard deviation s it is ``s sqrt(2 / pi)`` in the mean (Winter 2009, chapter 10).
    """
    _check_length(
        len(values),
        filter_reach(cutoff_hz, rate_hz=rate_hz, order=ORDER),
        rate_hz,
        "emg.envelope_cutoff_hz",
        cutoff_hz,
    )
    smooth = low_pass(np.abs(values), rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=ORDER)
    return np.maximum(smooth, 0.0)


def _check_length(n_samples: int, reach: int, rate_hz: float, option: str, cutoff_hz: float) -> None:
    if n_samples <= reach:
        raise SignalError(
            f"{n_samples} samples ({n_samples / rate_hz:.3g} s) of electromyography are fewer than {option}: {cutoff_hz:g} needs "
            f"({reach + 1}); raise {option}, or leave emg.channels empty for this trial"
        )


def at_times(values: FloatArray, times_s: FloatArray, *, rate_hz: float, start_s: float, delay_s: float) -> FloatArray:
    """Values at given times, delayed; NaN outside of the samples.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_channels)
        Envelopes.
    times_s : ndarray of shape (n_frames,)
        Times, s.
    rate_hz, start_s : float
        Samples per second and time of the first sample, s.
    delay_s : float
        Electromechanical delay, s: the value at time t is that of the muscle's signal at t - delay_s.

    Returns
    -------
    ndarray of shape (n_frames, n_channels)
    """
    position = (times_s - delay_s - start_s) * rate_hz
    last = len(values) - 1
    inside = (position > -1e-6) & (position < last + 1e-6)
    below = np.clip(np.floor(position), 0, max(last - 1, 0)).astype(int)
    part = np.clip(position - below, 0.0, 1.0)[:, np.newaxis]
    above = np.minimum(below + 1, last)
    return np.where(inside[:, np.newaxis], (1.0 - part) * values[below] + part * values[above], math.nan)
