"""Part of the recorded movement's acceleration that a filter passes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray
from limbtorque.signals.smoothers import Smoother, second_gain
from limbtorque.signals.spectrum import find_noise, find_plateau, frequencies, spectrum

FEWEST_FRAMES = 20
TAIL_FROM = 0.6  # of the bandwidth: above, the signal only falls
FREQUENCIES = 300  # largest number to which a model is fitted


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
    coarse_hz, coarse = (_means(each, together) for each in (frequency_hz, power))
    above_hz = TAIL_FROM * _first_guess(frequency_hz, power)
    noise = find_noise(coarse_hz, coarse, above_hz=above_hz, n_channels=samples.shape[1] * together)
    level = noise.power(frequency_hz)
    end_hz, plateau = find_plateau(frequency_hz, power)
    level = np.maximum(level, plateau)
    top = int(np.argmax(np.cumsum(np.where(frequency_hz < end_hz, (power - 2.0 * level) * weight, 0.0))))
    signal = np.maximum(power - level, 0.0)[: top + 1] * weight[: top + 1]
    lost = 0.0
    if smoother is not None and cutoff_hz is not None and signal.any():
        gain = second_gain(frequency_hz[: top + 1], rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
        lost = float(np.sqrt((1.0 - gain) ** 2 @ signal / signal.sum()))
    return Bandwidth(noise.floor, float(frequency_hz[top]), lost)


def _means(values: FloatArray, together: int) -> FloatArray:
    whole = len(values) // together * together
    return np.asarray(values[:whole].reshape(-1, together).mean(axis=1))


def _first_guess(frequency_hz: FloatArray, power: FloatArray) -> float:
    """Sharp cut-off by cross-validation, as if the noise were white."""
    above = np.cumsum(power[::-1])[::-1]
    left = 1.0 - np.arange(len(power)) / len(power)
    usable = frequency_hz < 0.8 * frequency_hz[-1]
    return float(frequency_hz[np.argmin(np.where(usable, above / left**2, np.inf))])
