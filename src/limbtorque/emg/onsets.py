"""Onset and offset of muscle activity by published methods."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, ignore_short, runs
from limbtorque.errors import SignalError
from limbtorque.signals.filters import low_pass

Method = Literal["hodges_bui", "bonato"]
METHODS: tuple[Method, ...] = ("hodges_bui", "bonato")
SHORTEST_S = 0.03  # bursts and pauses below it have no effect on joint motion (Bonato et al. 1998)
SMOOTH_HZ, DEVIATIONS, WINDOW_S = 50.0, 3.0, 0.025  # Hodges and Bui (1996): 50 Hz, 3 SD, 25 ms
OF, AT_LEAST, FALSE_ALARM = 5, 1, 0.05  # Bonato et al. (1998): m, r0, probability of a false alarm
SAMPLES_HZ = 900.0  # Bonato et al. sample 1000 times a second; twice the upper limit of the band-pass
OVERLAPPING = 8.0  # stretches of a moving mean to one of separate ones
AUTOREGRESSION = 4  # order of the whitening filter


def quietest(values: FloatArray, *, rate_hz: float, length_s: float) -> list[slice]:
    """Stretch with the least mean square of every channel.

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
        Active samples: the middle of `OF` successive pairs of samples of which `AT_LEAST` exceed the first threshold.

    Notes
    -----
    IEEE Trans Biomed Eng 45(3). Sums of squares of two samples of white Gaussian noise of variance v exceed z with the probability
    ``exp(-z / 2v)``; the threshold z follows from the probability of a false alarm, 0.05. The signal is whitened by an autoregression
    fitted to the rest. Bursts, then pauses, below 30 ms are removed, as there. The method is for samples of about 1 ms:
    of faster ones every second, or third, is taken, as neighbours of a signal below 450 Hz are not independent.
    """
    step = max(int(rate_hz / SAMPLES_HZ), 1)
    some, rests = values[::step], [slice(rest.start // step, -(-rest.stop // step)) for rest in baselines]
    white = np.stack([_whitened(some[:, k], rest) for k, rest in enumerate(rests)], axis=1)
    variance = np.array([_variance(white[:, k], rest) for k, rest in enumerate(rests)])
    pairs = white[: len(white) // 2 * 2].reshape(-1, 2, white.shape[1])
    above = (pairs**2).sum(axis=1) > -2.0 * variance * math.log(single_probability(FALSE_ALARM))
    found = np.zeros(above.shape, dtype=bool)
    found[OF // 2 : len(above) - OF // 2] = _moving_sums(above.astype(float), OF) >= AT_LEAST - 0.5
    active = np.zeros(values.shape, dtype=bool)
    active[: len(found) * 2 * step] = np.repeat(found, 2 * step, axis=0)[: len(values)]
    return _without_short(active, rate_hz)


def single_probability(false_alarm: float, *, at_least: int = AT_LEAST, of: int = OF) -> float:
    """Probability of one exceedance, from that of a false alarm.

    Examples
    --------
    >>> round(single_probability(0.05), 5), 1 - (1 - 0.01) ** 5 < 0.05
    (0.01021, True)
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        chance = sum(math.comb(of, k) * middle**k * (1.0 - middle) ** (of - k) for k in range(at_least, of + 1))
        low, high = (middle, high) if chance < false_alarm else (low, middle)
    return (low + high) / 2.0


def active(values: FloatArray, method: Method, *, rate_hz: float, baselines: list[slice]) -> BoolArray:
    """Activity by a method of `METHODS`."""
    by_name = {"hodges_bui": hodges_bui, "bonato": bonato}
    return by_name[method](values, rate_hz=rate_hz, baselines=baselines)


def bursts(activity: BoolArray, *, rate_hz: float, start_s: float = 0.0) -> list[tuple[float, float]]:
    """Onset and offset of every burst of a channel, s."""
    return [(start_s + first / rate_hz, start_s + stop / rate_hz) for first, stop in runs(activity)]


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
    """Samples that are in any of the windows, given those at which one begins."""
    changes = np.zeros((starts.shape[1], n_samples + 1), dtype=np.int32)
    changes[:, : len(starts)] += starts.T
    changes[:, size : size + len(starts)] -= starts.T
    return np.asarray(np.cumsum(changes, axis=1)[:, :-1].T > 0)


def _without_short(activity: BoolArray, rate_hz: float, *, widened_s: float = 0.0) -> BoolArray:
    """Activity without bursts, then without pauses, below 30 ms.

    In the other order single false alarms of a noisy rest would join to bursts. `widened_s` is the time by which a method
    widens every burst.
    """
    burst, pause = (max(math.ceil(shortest_s * rate_hz), 1) for shortest_s in (SHORTEST_S + widened_s, SHORTEST_S))
    kept = [ignore_short(channel, burst, close=False) for channel in activity.T]
    return np.stack([ignore_short(channel, pause) for channel in kept], axis=1)


def _variance(white: FloatArray, rest: slice) -> float:
    """Variance at rest, given the quietest of many stretches.

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
