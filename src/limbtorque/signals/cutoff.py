"""Cut-off from the data by several criteria, and its effect on acceleration."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.smoothers import (
    HIGHEST,
    Smoother,
    degrees_of_freedom,
    second_gains,
    smooth_values,
    smoother_reach,
)
from limbtorque.signals.spectrum import find_noise, find_plateau, frequencies, spectrum

Criterion = Literal["residual", "autocorrelation", "gcv", "expected_error"]

LOWEST_HZ = 0.5
STEPS = 40
TAIL_R2 = 0.95  # of the residual analysis' line
CAUTION = 1.15  # times the estimated noise: a cut-off too high costs more than one too low
RESTING = 0.05  # of the highest speed: slower, nothing moves but noise
TAIL_FROM = 0.6  # of the cut-off or bandwidth: above, the signal only falls
FEWEST_FRAMES = 20
FEWEST_CUTOFFS = 5
FREQUENCIES = 300  # largest number to which a model of the noise is fitted for a bandwidth
NUMBERS = 2**20  # of a matrix of cut-offs and frequencies that is computed at once: 8 MB


@dataclass(frozen=True)
class CutoffChoice:
    """A cut-off with its criterion curve.

    Attributes
    ----------
    cutoff_hz : float
        The cut-off, Hz.
    by : {"residual", "autocorrelation", "gcv", "expected_error"}
        Criterion of the choice.
    grid_hz : ndarray of shape (n_cutoffs,)
        Tested cut-offs, Hz.
    residual : ndarray of shape (n_cutoffs,)
        Root mean square difference between the signal and the smoothed one, in the unit of the signal; for
        `expected_error` from the spectrum, without the ends.
    criterion : ndarray of shape (n_cutoffs,)
        Minimised quantity: the residual's distance from its line's intercept, the sum of the residual's autocorrelation,
        the cross-validation, or the expected mean squared error of the second derivative (up to a constant).
    line : tuple of float
        Intercept and slope, per Hz, of the line through the residual of the noise; NaN but for the residual analysis.
    noise : float
        Standard deviation of the noise, in the unit of the signal; for `expected_error` that of its white part.
    corner_hz : float
        Below it, noise that rises towards low frequencies is stronger than the white part, Hz; 0 where it is white or not
        looked for.
    at_limit : bool
        True if the choice is the lowest or highest tested cut-off.
    """

    cutoff_hz: float
    by: Criterion
    grid_hz: FloatArray
    residual: FloatArray
    criterion: FloatArray
    line: tuple[float, float]
    noise: float
    corner_hz: float
    at_limit: bool


def choose_cutoff(
    values: ArrayLike,
    *,
    rate_hz: float,
    smoother: Smoother,
    by: Criterion = "expected_error",
    power: FloatArray | None = None,
    noise_share: float = CAUTION,
) -> CutoffChoice:
    """Choose one cut-off for all channels of a signal.

    Parameters
    ----------
    values : array_like of shape (n_frames, ...)
        Signal without missing samples; its channels should have one unit and about the same noise.
    rate_hz : float
        Samples per second.
    smoother : Smoother
        The method the cut-off is for.
    by : {"residual", "autocorrelation", "gcv", "expected_error"}, optional
        Criterion.
    power : ndarray of shape (n_frequencies,), optional
        Its `spectrum`, where it is known already.
    noise_share : float, optional
        Noise that counts beside the signal that is lost, over all noise, for `expected_error`.

    Returns
    -------
    CutoffChoice
        The cut-off with the curve it was chosen from.

    Raises
    ------
    SignalError
        Fewer than 20 frames, or no cut-off that the method can have with so few.

    Notes
    -----
    40 cut-offs from 0.5 Hz, or two periods in the recording, to 0.4 of the rate, in equal ratios; the least value is
    refined by a parabola through its neighbours.

    `residual` (Winter 2009, section 3.4.4.3, automated): a straight line is fitted to the residual over the longest upper
    part of the range in which it explains 95 % of the variance; the cut-off is where the residual equals the line's
    intercept at 0 Hz, an estimate of the noise.

    `autocorrelation` (Challis 1999): least sum of the absolute autocorrelation of the residual over all lags, mean
    of the channels.

    `gcv` (Craven and Wahba 1979, Woltring 1986): least ``mean square residual / (1 - trace / n)^2``, with the trace from
    `smoothers.degrees_of_freedom`. It assumes white noise and chooses too high a cut-off otherwise.

    `expected_error`: least expected error of the **second derivative**. With P the power of the signal, N that of its
    noise (`spectrum.find_noise`) and H the gain of the second derivative, the error at a frequency is
    ``(1 - H)^2 (P - N) + H^2 N`` times its fourth power (Wiener's trade-off, estimated without bias as by Mallows 1973).
    The noise may rise towards low frequencies as that of cameras does; N is multiplied by `noise_share`, 1.15 by default,
    because a cut-off too high costs more than one too low, but where that is below 1, in ``H^2 N`` alone; and N is at least the level of a plateau of the spectrum below the frequencies of
    the noise (`spectrum.find_plateau`). Unreliable with local polynomials, whose gain has lobes.
    """
    samples = np.asarray(values, dtype=float)
    samples = samples.reshape(len(samples), -1)
    if len(samples) < FEWEST_FRAMES:
        raise SignalError(f"{len(samples)} frames are fewer than the {FEWEST_FRAMES} that an automatic cut-off needs")
    grid_hz = _grid(len(samples), rate_hz, smoother)
    if by == "expected_error":
        return _by_expected_error(samples, rate_hz, smoother, grid_hz, power, noise_share)
    squares, correlations = [], []
    for cutoff_hz in grid_hz.tolist():  # one after the other: in long trials all of them would need several GB
        difference = samples - smooth_values(samples, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
        squares.append(np.mean(difference**2))
        correlations += [_autocorrelation(difference)] if by == "autocorrelation" else []
    residual = np.sqrt(np.array(squares))
    if by == "residual":
        return _by_residual(grid_hz, residual)
    if by == "autocorrelation":
        criterion = np.array(correlations)
        k = int(np.argmin(criterion))
        return _least(by, grid_hz, residual, criterion, k, (float(residual[k]), 0.0))
    freedom = [degrees_of_freedom(len(samples), rate_hz=rate_hz, cutoff_hz=f, smoother=smoother) for f in grid_hz]
    free = np.maximum(1.0 - np.array(freedom) / len(samples), 1e-9)
    validation = (residual / free) ** 2
    k = int(np.argmin(validation))
    return _least(by, grid_hz, residual, validation, k, (float(residual[k] / np.sqrt(free[k])), 0.0))


def _grid(n_frames: int, rate_hz: float, smoother: Smoother) -> FloatArray:
    """Candidate cut-offs for a given number of frames."""
    lowest = min(max(LOWEST_HZ, 2.0 * rate_hz / n_frames), 0.2 * rate_hz)
    usable, last = [], ""
    for cutoff_hz in np.geomspace(lowest, HIGHEST * rate_hz, STEPS):
        try:
            reach = smoother_reach(float(cutoff_hz), rate_hz=rate_hz, smoother=smoother)
        except SignalError as error:
            last = str(error)
            continue
        if 2 * reach < n_frames:
            usable.append(cutoff_hz)
    if len(usable) < FEWEST_CUTOFFS:
        why = f" ({last})" if last else ""
        raise SignalError(
            f"no cut-off can be chosen from {n_frames} frames at {rate_hz:g} Hz; set filter.cutoff_hz to a number{why}"
        )
    return np.array(usable)


def _least(
    by: Criterion, grid_hz: FloatArray, residual: FloatArray, criterion: FloatArray, k: int, noise: tuple[float, float]
) -> CutoffChoice:
    """Cut-off at the minimum of the criterion on a grid, refined."""
    at_limit = k in (0, len(grid_hz) - 1)
    cutoff_hz = float(grid_hz[k])
    if not at_limit and criterion[k] <= criterion[k - 1 : k + 2].min():
        # parabola through three values over the log of the cut-off
        before, here, after = criterion[k - 1 : k + 2]
        curvature = before - 2.0 * here + after
        shift = 0.5 * (before - after) / curvature if curvature > 0.0 else 0.0
        cutoff_hz = float(cutoff_hz * (grid_hz[k + 1] / grid_hz[k]) ** shift)
    line = (float("nan"), float("nan"))
    return CutoffChoice(cutoff_hz, by, grid_hz, residual, criterion, line, *noise, at_limit)


def _autocorrelation(residual: FloatArray) -> float:
    """Sum of the absolute one-sided autocorrelation without lag 0, channels averaged."""
    power = np.abs(np.fft.rfft(residual, 2 * len(residual), axis=0)) ** 2
    products = np.fft.irfft(power, axis=0)[: len(residual)]
    moving = products[0] > 0.0
    return float(np.mean(np.abs(products[1:, moving]).sum(axis=0) / products[0, moving])) if moving.any() else 0.0


def _by_residual(grid_hz: FloatArray, residual: FloatArray) -> CutoffChoice:
    even_hz = np.linspace(grid_hz[0], grid_hz[-1], 4 * STEPS)
    curve = np.interp(even_hz, grid_hz, residual)

    def is_line(k: int) -> bool:
        """Return True if a line explains enough of the variance from here on."""
        level = np.ptp(curve[k:]) == 0.0
        return bool(level or np.corrcoef(even_hz[k:], curve[k:])[0, 1] ** 2 >= TAIL_R2)

    start = next((k for k in range(3 * STEPS) if is_line(k)), 3 * STEPS)
    slope, intercept = (float(value) for value in np.polyfit(even_hz[start:], curve[start:], 1))
    below = np.flatnonzero(residual <= intercept)
    k = int(below[0]) if below.size else len(grid_hz) - 1
    at_limit = k == 0 or not below.size
    cutoff_hz = grid_hz[k] if at_limit else np.interp(intercept, residual[[k, k - 1]], grid_hz[[k, k - 1]])
    criterion, line = np.abs(residual - intercept), (intercept, slope)
    return CutoffChoice(
        float(cutoff_hz), "residual", grid_hz, residual, criterion, line, intercept, corner_hz=0.0, at_limit=at_limit
    )


def _by_expected_error(
    samples: FloatArray,
    rate_hz: float,
    smoother: Smoother,
    grid_hz: FloatArray,
    power: FloatArray | None,
    noise_share: float,
) -> CutoffChoice:
    """Cut-off of least expected error of the second derivative.

    Not above that by cross-validation, which assumes white noise.
    """
    frequency_hz = frequencies(len(samples), rate_hz)
    power = spectrum(samples, rate_hz=rate_hz)[1] if power is None else power
    blocks = np.array_split(grid_hz, -(-len(grid_hz) * len(frequency_hz) // NUMBERS))

    @functools.lru_cache(maxsize=1)  # all cut-offs of a short trial are one block
    def gains(block: int) -> tuple[FloatArray, FloatArray]:
        return second_gains(frequency_hz, rate_hz=rate_hz, cutoffs_hz=blocks[block].tolist(), smoother=smoother)

    def each_block(measure: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """Value of a function of the gains at every cut-off."""
        return np.concatenate([measure(*gains(block)) for block in range(len(blocks))])

    def noise_error(counted: FloatArray, whole: FloatArray) -> FloatArray:
        """Part of the error that depends on the noise, for every cut-off."""
        return each_block(lambda _, second: second**2 @ counted - (1.0 - second) ** 2 @ whole)

    residual = each_block(lambda passed, _: np.sqrt((1.0 - passed) ** 2 @ power / len(power)))
    removed_share = each_block(lambda passed, _: (1.0 - passed).mean(axis=1))
    weight = (2.0 * np.pi * frequency_hz) ** 4 / len(frequency_hz)
    # (1 - H)^2 (P - N) + H^2 s N = (1 - H)^2 P + H^2 s N - (1 - H)^2 N
    removed = each_block(lambda _, second: (1.0 - second) ** 2 @ (power * weight))
    k = highest = int(np.argmin(residual / removed_share))
    plateau_hz, plateau = find_plateau(frequency_hz, power)
    # a tremble is no noise of which a share could be known
    trembles = noise_share < 1.0 and plateau_hz < TAIL_FROM * grid_hz[highest]
    noise_share = max(noise_share, CAUTION) if trembles else noise_share
    for _ in range(2):
        above_hz = TAIL_FROM * float(grid_hz[k])
        noise = find_noise(frequency_hz, power, above_hz=above_hz, n_channels=samples.shape[1])
        levels = [share * noise.power(frequency_hz) for share in (noise_share, max(noise_share, 1.0))]
        if trembles or plateau_hz < above_hz:
            levels = [np.maximum(level, plateau) for level in levels]
        error = removed + noise_error(*(level * weight for level in levels))
        before, k = k, min(int(np.argmin(error)), highest)
        if k == before:  # the noise would be sought above the same frequency again
            break
    return _least("expected_error", grid_hz, residual, error, k, (noise.floor, noise.corner_hz))


def moving_share(values: ArrayLike, *, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> float:
    """Share of the frames in which a signal changes.

    Parameters
    ----------
    values : array_like of shape (n_frames, ...)
        Signal without missing samples.
    rate_hz, cutoff_hz, smoother
        As in `smooth_values`.

    Returns
    -------
    float
        Share of the frames faster than `RESTING` of the highest speed; 1 where nothing moves.
    """
    smooth = smooth_values(np.asarray(values, dtype=float), rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    speed = np.linalg.norm(np.diff(smooth.reshape(len(smooth), -1), axis=0), axis=1)
    return float(np.mean(speed >= RESTING * speed.max()))


@dataclass(frozen=True)
class Bandwidth:
    """Noise of a recorded movement, and the acceleration that a filter removes.

    Attributes
    ----------
    noise : float
        Standard deviation of the white part of the noise, in the unit of the signal.
    bandwidth_hz : float
        Frequency above which the acceleration holds more noise than signal.
    lost_share : float
        Root mean square of the removed acceleration over that of the whole, up to the bandwidth; 0: nothing, 1: all.
    """

    noise: float
    bandwidth_hz: float
    lost_share: float


def judge_cutoff(
    values: ArrayLike,
    *,
    rate_hz: float,
    smoother: Smoother | None = None,
    cutoff_hz: float | None = None,
    power: FloatArray | None = None,
) -> Bandwidth:
    """Judge a cut-off from the spectrum of the signal.

    Parameters
    ----------
    values : array_like of shape (n_frames, ...)
        Unfiltered signal without missing samples; its channels should have one unit and about the same noise.
    rate_hz : float
        Samples per second.
    smoother : Smoother, optional
        The method; None where nothing is filtered.
    cutoff_hz : float, optional
        Its cut-off, Hz.
    power : ndarray of shape (n_frequencies,), optional
        Its `spectrum`, where it is known already.

    Returns
    -------
    Bandwidth
        Noise, bandwidth and lost share; NaN for fewer than 20 frames.

    Notes
    -----
    With P the power of the signal, N that of its noise (`spectrum.find_noise`) and H the gain of the second derivative,
    the lost share is the root of ``sum (1 - H)^2 (P - N) f^4 / sum (P - N) f^4`` over the frequencies f up to the
    bandwidth, where ``sum (P - 2 N) f^4`` is largest: the best cut-off of a filter with a sharp edge. In long
    recordings neighbouring frequencies are averaged. Signal below the noise does not count: no filter can recover it.

    Examples
    --------
    >>> time_s = np.arange(400) / 100.0
    >>> slow = np.sin(2.0 * np.pi * time_s) + 1e-4 * np.random.default_rng(0).normal(size=400)
    >>> judge_cutoff(slow, rate_hz=100.0, smoother=Smoother(), cutoff_hz=6.0).lost_share < 0.02
    True
    """
    samples = np.asarray(values, dtype=float)
    samples = samples.reshape(len(samples), -1)
    if len(samples) < FEWEST_FRAMES:
        return Bandwidth(float("nan"), float("nan"), float("nan"))
    frequency_hz = frequencies(len(samples), rate_hz)
    power = spectrum(samples, rate_hz=rate_hz)[1] if power is None else power
    if not power.any():  # nothing moves
        return Bandwidth(0.0, 0.0, 0.0)
    weight = frequency_hz**4
    together = -(-len(power) // FREQUENCIES)
    whole = len(power) // together * together
    coarse_hz, coarse = (each[:whole].reshape(-1, together).mean(axis=1) for each in (frequency_hz, power))
    # first guess: sharp cut-off by cross-validation, as if the noise were white
    removed = np.cumsum(power[::-1])[::-1] / (1.0 - np.arange(len(power)) / len(power)) ** 2
    usable = frequency_hz < 0.8 * frequency_hz[-1]
    above_hz = TAIL_FROM * float(frequency_hz[np.argmin(np.where(usable, removed, np.inf))])
    noise = find_noise(coarse_hz, coarse, above_hz=above_hz, n_channels=samples.shape[1] * together)
    level = noise.power(frequency_hz)
    end_hz, plateau = find_plateau(frequency_hz, power)
    level = np.maximum(level, plateau)
    top = int(np.argmax(np.cumsum(np.where(frequency_hz < end_hz, (power - 2.0 * level) * weight, 0.0))))
    signal = np.maximum(power - level, 0.0)[: top + 1] * weight[: top + 1]
    lost = 0.0
    if smoother is not None and cutoff_hz is not None and signal.any():
        _, gains = second_gains(frequency_hz[: top + 1], rate_hz=rate_hz, cutoffs_hz=[cutoff_hz], smoother=smoother)
        lost = float(np.sqrt((1.0 - gains[0]) ** 2 @ signal / signal.sum()))
    return Bandwidth(noise.floor, float(frequency_hz[top]), lost)
