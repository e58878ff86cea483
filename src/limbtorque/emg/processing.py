"""Linear envelopes of electromyograms, and onset and offset by published methods."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Literal, cast

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, ignore_short
from limbtorque.errors import SignalError
from limbtorque.signals.filters import both_ways, design_cutoff, filter_reach, low_pass

ORDER = 2  # of one pass of each filter
HIGHEST = 0.45  # of the sampling rate: above it a low-pass has no effect that the sampling has not
Method = Literal["hodges_bui", "bonato"]
SHORTEST_S = 0.03  # bursts and pauses below it have no effect on joint motion (Bonato et al. 1998)
SMOOTH_HZ, DEVIATIONS, WINDOW_S = 50.0, 3.0, 0.025  # Hodges and Bui (1996): 50 Hz, 3 SD, 25 ms
OF, FALSE_ALARM = 5, 0.05  # Bonato et al. (1998): m, and the probability of a false alarm; their r0 is 1
SINGLE = 1.0 - (1.0 - FALSE_ALARM) ** (1.0 / OF)  # probability that one pair exceeds the threshold
SAMPLES_HZ = 900.0  # Bonato et al. sample 1000 times a second; twice the upper limit of the band-pass
OVERLAPPING = 8.0  # stretches of a moving mean to one of separate ones
AUTOREGRESSION = 4  # order of the whitening filter


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
    return both_ways(_sections(high_pass_hz, upper_hz, rate_hz), values, rate_hz, high_pass_hz, reach)


@functools.lru_cache(maxsize=16)
def _sections(high_pass_hz: float, low_pass_hz: float | None, rate_hz: float) -> FloatArray:
    """Second-order sections of one pass, with the cut-off corrected for two passes."""
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
        len(values), filter_reach(cutoff_hz, rate_hz=rate_hz, order=ORDER), rate_hz, "emg.envelope_cutoff_hz", cutoff_hz
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
    """Delayed values at given times; NaN outside the samples.

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


# --- onsets and offsets ------------------------------------------------------------------------------------------------


def quietest(values: FloatArray, *, rate_hz: float, length_s: float) -> list[slice]:
    """Part of every channel with the least mean square.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_channels)
        Band-passed electromyograms.
    rate_hz, length_s : float
        Samples per second and length of the stretch, s; the whole signal where it is shorter.

    Returns
    -------
    list of slice
        Samples, for each channel. With a stretch that is not at rest, activity is missed, never invented; the least of
        many stretches of equal noise is below their mean, which `bonato` corrects.
    """
    size = min(max(round(length_s * rate_hz), 2), len(values))
    starts = _moving_sums(values**2, size).argmin(axis=0)
    return [slice(int(start), int(start) + size) for start in starts]


def hodges_bui(values: FloatArray, *, rate_hz: float, baselines: list[slice]) -> BoolArray:
    """Activity by the threshold of Hodges and Bui (1996).

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_channels)
        Band-passed electromyograms.
    rate_hz : float
        Samples per second.
    baselines : list of slice
        Samples at rest, for each channel.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_channels)
        Active samples. Onset: the first sample from which the mean over 25 ms of the rectified and smoothed (50 Hz) signal
        is above the mean of the rest plus three standard deviations; offset: the last sample of the last such 25 ms.

    Notes
    -----
    Hodges and Bui (1996), Electroencephalogr Clin Neurophysiol 101. Since the mean looks 25 ms ahead, a strong burst is found up to
    25 ms early, and its end as late.
    """
    cutoff_hz = min(SMOOTH_HZ, 0.2 * rate_hz)
    smooth = low_pass(np.abs(values), rate_hz=rate_hz, cutoff_hz=cutoff_hz)
    size = max(round(WINDOW_S * rate_hz), 1)
    means = _moving_sums(smooth, size) / size
    limits = [smooth[rest, k].mean() + DEVIATIONS * smooth[rest, k].std() for k, rest in enumerate(baselines)]
    return _without_short(_spread(means > np.array(limits), size, len(values)), rate_hz, widened_s=WINDOW_S)


def bonato(values: FloatArray, *, rate_hz: float, baselines: list[slice]) -> BoolArray:
    """Activity by the double threshold of Bonato, D'Alessio and Knaflitz (1998).

    Parameters
    ----------
    values, rate_hz, baselines
        As for `hodges_bui`.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_channels)
        Active samples: the middle of `OF` successive pairs of samples of which one at least exceeds the first threshold.

    Notes
    -----
    IEEE Trans Biomed Eng 45(3). Sums of squares of two samples of white Gaussian noise of variance v exceed z with the probability
    ``exp(-z / 2v)``; the threshold z follows from the probability of a false alarm, 0.05. The signal is whitened by an autoregression
    fitted to the rest. Bursts, then pauses, below 30 ms are removed, as there. The method is for samples of about 1 ms:
    of faster ones every second, or third, is taken, as neighbours of a signal below 450 Hz are not independent.
    """
    step = max(int(rate_hz / SAMPLES_HZ), 1)
    slower, rests = values[::step], [slice(rest.start // step, -(-rest.stop // step)) for rest in baselines]
    white = np.stack([_whitened(slower[:, k], rest) for k, rest in enumerate(rests)], axis=1)
    variance = np.array([_variance(white[:, k], rest) for k, rest in enumerate(rests)])
    pairs = white[: len(white) // 2 * 2].reshape(-1, 2, white.shape[1])
    above = (pairs**2).sum(axis=1) > -2.0 * variance * math.log(SINGLE)
    pairs_active = np.zeros(above.shape, dtype=bool)
    pairs_active[OF // 2 : len(above) - OF // 2] = _moving_sums(above.astype(float), OF) > 0.5
    active = np.zeros(values.shape, dtype=bool)
    active[: len(pairs_active) * 2 * step] = np.repeat(pairs_active, 2 * step, axis=0)[: len(values)]
    return _without_short(active, rate_hz)


METHODS: dict[Method, Callable[..., BoolArray]] = {"hodges_bui": hodges_bui, "bonato": bonato}


def _moving_sums(values: FloatArray, size: int) -> FloatArray:
    """Sums over `size` samples, shape (n - size + 1, n_channels)."""
    if len(values) < size:
        raise SignalError(
            f"{len(values)} samples of electromyography are fewer than the {size} of a window; give a longer trial"
        )
    sums = np.zeros((values.shape[1], len(values) + 1))  # a channel in a row: along it memory is read in order
    np.cumsum(values.T, axis=1, out=sums[:, 1:])
    return np.asarray((sums[:, size:] - sums[:, :-size]).T)


def _spread(starts: BoolArray, size: int, n_samples: int) -> BoolArray:
    """Mask of samples in any window, given the windows' first samples."""
    changes = np.zeros((starts.shape[1], n_samples + 1), dtype=np.int32)
    changes[:, : len(starts)] += starts.T
    changes[:, size : size + len(starts)] -= starts.T
    return np.asarray(np.cumsum(changes, axis=1)[:, :-1].T > 0)


def _without_short(activity: BoolArray, rate_hz: float, *, widened_s: float = 0.0) -> BoolArray:
    """Activity after removing bursts, then pauses, shorter than 30 ms.

    In the reverse order false detections in noisy rest would merge into bursts. `widened_s` is the time by which a method
    widens every burst.
    """
    burst, pause = (max(math.ceil(shortest_s * rate_hz), 1) for shortest_s in (SHORTEST_S + widened_s, SHORTEST_S))
    kept = [ignore_short(channel, burst, close=False) for channel in activity.T]
    return np.stack([ignore_short(channel, pause) for channel in kept], axis=1)


def _variance(white: FloatArray, rest: slice) -> float:
    """Variance at rest, from the quietest of many parts.

    The least of n mean squares of m samples of white noise is below the variance, by Wilson and Hilferty's approximation of
    the chi-square distribution and Blom's of the least of n; the mean square of the stretch is divided by that part.
    Stretches that overlap count `OVERLAPPING` times: at u standard deviations the extremes of a moving mean are u^2 times as
    frequent as those of separate means, and u is about 2.8 for seconds of signal.
    """
    m = rest.stop - rest.start
    n = 1.0 + OVERLAPPING * max(len(white) / m - 1.0, 0.0)
    below = NormalDist().inv_cdf((n - 0.375) / (n + 0.25))
    part = 1.0 - 2.0 / (9.0 * m) - below * math.sqrt(2.0 / (9.0 * m))
    return float(np.mean(white[rest] ** 2)) / math.pow(part, 3.0)


def _whitened(signal: FloatArray, rest: slice) -> FloatArray:
    """Residual of an autoregression fitted to the samples at rest."""
    from scipy.linalg import solve_toeplitz

    quiet = signal[rest]
    lags = np.array([quiet[: len(quiet) - k] @ quiet[k:] for k in range(AUTOREGRESSION + 1)])
    if not lags[0] > 0.0 or len(quiet) <= 4 * AUTOREGRESSION:
        return signal
    lags[0] *= 1.0 + 1e-6  # keeps the equations solvable where the rest is one sine
    weights = solve_toeplitz(lags[:-1], lags[1:])
    white = signal.copy()
    for k, weight in enumerate(weights, start=1):
        white[k:] -= weight * signal[:-k]
    return white
