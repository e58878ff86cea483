"""Cut-off from the data: residual analysis, autocorrelation and other criteria."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.smoothers import Smoother, degrees_of_freedom, second_gains, smooth_values, smoother_reach
from limbtorque.signals.spectrum import find_noise, find_plateau, frequencies, spectrum

Criterion = Literal["residual", "autocorrelation", "gcv", "expected_error"]

LOWEST_HZ = 0.5
HIGHEST = 0.4  # of the rate
STEPS = 40
TAIL_R2 = 0.95  # of the residual analysis' line
CAUTION = 1.15  # times the estimated noise: a cut-off too high costs more than one too low
TAIL_FROM = 0.6  # of the cut-off: above, the signal only falls
FEWEST_FRAMES = 20
FEWEST_CUTOFFS = 5
STUDY_STEP_HZ = 0.5
NUMBERS = 2**20  # of a matrix of cut-offs and frequencies that is computed at once: 8 MB


@dataclass(frozen=True)
class CutoffChoice:
    """A cut-off with the curve it was chosen from.

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

    `gcv` (Craven and Wahba 1979, Woltring 1986): least ``mean square residual / (1 - trace / n)^2``, with the exact trace
    of natural splines. It assumes white noise and chooses too high a cut-off otherwise.

    `expected_error`: least expected error of the **second derivative**. With P the power of the signal, N that of its
    noise (`spectrum.find_noise`) and H the gain of the second derivative, the error at a frequency is
    ``(1 - H)^2 (P - N) + H^2 N`` times its fourth power (Wiener's trade-off, estimated without bias as by Mallows 1973).
    The noise may rise towards low frequencies as that of cameras does; it is multiplied by 1.15, because a cut-off too
    high costs more than one too low; and it is at least the level of a plateau of the spectrum below the frequencies of
    the noise (`spectrum.find_plateau`). Unreliable with local polynomials, whose gain has lobes.
    """
    samples = np.asarray(values, dtype=float)
    samples = samples.reshape(len(samples), -1)
    if len(samples) < FEWEST_FRAMES:
        raise SignalError(f"{len(samples)} frames are fewer than the {FEWEST_FRAMES} an automatic cut-off needs")
    grid_hz = _grid(len(samples), rate_hz, smoother)
    if by == "expected_error":
        return _by_expected_error(samples, rate_hz, smoother, grid_hz, power)
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
    free = _left_over(len(samples), grid_hz, rate_hz, smoother)
    validation = (residual / free) ** 2
    k = int(np.argmin(validation))
    return _least(by, grid_hz, residual, validation, k, (float(residual[k] / np.sqrt(free[k])), 0.0))


def _grid(n_frames: int, rate_hz: float, smoother: Smoother) -> FloatArray:
    """Cut-offs that the method allows in so many frames."""
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


def _left_over(n_frames: int, grid_hz: FloatArray, rate_hz: float, smoother: Smoother) -> FloatArray:
    """``1 - trace / n`` for every cut-off."""
    freedom = [degrees_of_freedom(n_frames, rate_hz=rate_hz, cutoff_hz=float(f), smoother=smoother) for f in grid_hz]
    return np.maximum(1.0 - np.array(freedom) / n_frames, 1e-9)


def _least(
    by: Criterion, grid_hz: FloatArray, residual: FloatArray, criterion: FloatArray, k: int, noise: tuple[float, float]
) -> CutoffChoice:
    """Choice of a cut-off of the grid, refined where the criterion is least there."""
    at_limit = k in (0, len(grid_hz) - 1)
    inside = not at_limit and criterion[k] <= criterion[k - 1 : k + 2].min()
    cutoff_hz = _between(grid_hz, criterion, k) if inside else float(grid_hz[k])
    line = (float("nan"), float("nan"))
    return CutoffChoice(cutoff_hz, by, grid_hz, residual, criterion, line, *noise, at_limit)


def _between(grid_hz: FloatArray, criterion: FloatArray, k: int) -> float:
    """Minimum of the parabola through three values over the log of the cut-off."""
    before, here, after = criterion[k - 1 : k + 2]
    curvature = before - 2.0 * here + after
    shift = 0.5 * (before - after) / curvature if curvature > 0.0 else 0.0
    ratio = grid_hz[k + 1] / grid_hz[k]
    return float(grid_hz[k] * ratio**shift)


def _autocorrelation(residual: FloatArray) -> float:
    """Sum of the absolute one-sided autocorrelation without lag 0, channels averaged."""
    spectrum = np.abs(np.fft.rfft(residual, 2 * len(residual), axis=0)) ** 2
    products = np.fft.irfft(spectrum, axis=0)[: len(residual)]
    own = products[0]
    return float(np.mean(np.abs(products[1:]).sum(axis=0)[own > 0.0] / own[own > 0.0])) if (own > 0.0).any() else 0.0


def _by_residual(grid_hz: FloatArray, residual: FloatArray) -> CutoffChoice:
    even_hz = np.linspace(grid_hz[0], grid_hz[-1], 4 * STEPS)
    curve = np.interp(even_hz, grid_hz, residual)
    start = next((k for k in range(3 * STEPS) if _explained(even_hz[k:], curve[k:]) >= TAIL_R2), 3 * STEPS)
    slope, intercept = (float(value) for value in np.polyfit(even_hz[start:], curve[start:], 1))
    above = np.flatnonzero(residual <= intercept)
    k = int(above[0]) if above.size else len(grid_hz) - 1
    cutoff_hz = float(grid_hz[k])
    if k > 0 and above.size:
        cutoff_hz = float(np.interp(intercept, residual[[k, k - 1]], grid_hz[[k, k - 1]]))
    return CutoffChoice(
        cutoff_hz,
        "residual",
        grid_hz,
        residual,
        np.abs(residual - intercept),
        (intercept, slope),
        intercept,
        0.0,
        k == 0 or not above.size,
    )


def _explained(at: FloatArray, curve: FloatArray) -> float:
    """Share of a curve's variance that a straight line explains."""
    if np.ptp(curve) == 0.0:
        return 1.0
    return float(np.corrcoef(at, curve)[0, 1] ** 2)


def _by_expected_error(
    samples: FloatArray, rate_hz: float, smoother: Smoother, grid_hz: FloatArray, power: FloatArray | None
) -> CutoffChoice:
    """Cut-off of least expected error of the second derivative.

    No higher than by cross-validation, which takes all noise for white.
    """
    frequency_hz = frequencies(len(samples), rate_hz)
    power = spectrum(samples, rate_hz=rate_hz)[1] if power is None else power
    cutoffs_hz = [float(f) for f in grid_hz]
    together = max(1, NUMBERS // len(frequency_hz))
    blocks = [cutoffs_hz[k : k + together] for k in range(0, len(cutoffs_hz), together)]

    @functools.lru_cache(maxsize=1)  # all cut-offs of a short trial are one block
    def shares(block: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares left of the samples, power removed, factors of the noise."""
        passed, gains = second_gains(frequency_hz, rate_hz=rate_hz, cutoffs_hz=blocks[block], smoother=smoother)
        return 1.0 - passed, (1.0 - gains) ** 2 * power, 2.0 * gains - 1.0

    residuals, means = [], []
    for block in range(len(blocks)):
        left = shares(block)[0]
        residuals.append(np.sqrt(left**2 @ power / len(power)))
        means.append(left.mean(axis=1))
    residual = np.concatenate(residuals)
    weight = (2.0 * np.pi * frequency_hz) ** 4
    k = highest = int(np.argmin(residual / np.concatenate(means)))
    plateau_hz, plateau = find_plateau(frequency_hz, power)
    for _ in range(2):
        above_hz = TAIL_FROM * float(grid_hz[k])
        noise = find_noise(frequency_hz, power, above_hz=above_hz, n_channels=samples.shape[1])
        level = CAUTION * noise.power(frequency_hz)
        if plateau_hz < above_hz:
            level = np.maximum(level, plateau)
        errors = []
        for block in range(len(blocks)):
            _, removed, passed_more = shares(block)
            errors.append((removed + passed_more * level) @ weight / len(weight))
        error = np.concatenate(errors)
        before, k = k, min(int(np.argmin(error)), highest)
        if k == before:  # the noise would be sought above the same frequency again
            break
    return _least("expected_error", grid_hz, residual, error, k, (noise.floor, noise.corner_hz))


def study_cutoff(own_hz: Sequence[float]) -> float:
    """One cut-off for trials that are compared: the median of their own, to 0.5 Hz.

    Parameters
    ----------
    own_hz : sequence of float
        Cut-off of each trial by its own data, Hz; at least one.

    Returns
    -------
    float
        The cut-off, Hz, at least 0.5.

    Notes
    -----
    A trial with an unusual noise moves a median by at most half of the distance to its neighbour, and a trial that is
    added seldom moves it to another multiple of `STUDY_STEP_HZ`.

    Examples
    --------
    >>> study_cutoff([6.1, 6.3, 5.9, 12.0])
    6.0
    """
    if not len(own_hz):
        raise SignalError("no trial has a cut-off of its own")
    steps = round(float(np.median(own_hz)) / STUDY_STEP_HZ)
    return max(steps, 1) * STUDY_STEP_HZ
