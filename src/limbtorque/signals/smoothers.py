"""One interface to all smoothers: signal in, signal and two derivatives out."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.signals.ends import Ends
from limbtorque.signals.methods import METHODS, Design
from limbtorque.signals.methods import Method as SmoothingMethod

Method = Literal["butterworth", "critically_damped", "savitzky_golay", "cubic_spline", "quintic_spline"]


@dataclass(frozen=True)
class Smoother:
    """A smoothing method with its order and ends, without a cut-off.

    Attributes
    ----------
    method : {"butterworth", "critically_damped", "savitzky_golay", "cubic_spline", "quintic_spline"}
        Dual-pass recursive filters, local polynomials, or smoothing splines.
    order : int
        Recursive filters: order of one pass. Local polynomials: half of the even number above their degree, so that an
        order means the same flatness of the gain in all of them. Splines have that of their degree.
    accuracy : {2, 4, 6, 8}
        Order of accuracy of the central differences that follow a recursive filter; see `derivatives.differentiate`.
    ends : {"reflect", "linear", "none"} or None
        Extension beyond the ends; None: the best one for the method.
    """

    method: Method = "butterworth"
    order: int = 3
    accuracy: int = 4
    ends: Ends | None = None

    @property
    def strategy(self) -> SmoothingMethod:
        """The method itself."""
        return METHODS[self.method]

    @property
    def beyond(self) -> Ends:
        """Extension of the signal beyond its ends."""
        return self.ends or self.strategy.ends

    def at(self, cutoff_hz: float, *, rate_hz: float) -> Design:
        """Return the numbers of the smoother at a cut-off."""
        return Design(rate_hz, cutoff_hz, self.order, self.accuracy, self.beyond)


@dataclass(frozen=True)
class Smoothed:
    """A smoothed signal and its derivatives, from one model.

    Attributes
    ----------
    values, first, second : ndarray of shape (n_frames, ...)
        Signal and derivatives, per s and s^2.
    reach : int
        Frames at each end affected by the extension beyond it by more than a hundredth.
    """

    values: FloatArray
    first: FloatArray
    second: FloatArray
    reach: int


def smooth_values(values: FloatArray, *, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> FloatArray:
    """Smoothed signal without its derivatives.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples; all channels are smoothed alike.
    rate_hz : float
        Samples per second.
    cutoff_hz : float
        Frequency at which the gain, of both passes where there are two, is 1/sqrt(2), Hz.
    smoother : Smoother
        The method.

    Returns
    -------
    ndarray of the shape of `values`
        Smoothed signal.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist, or fewer frames than the method needs.
    """
    design = smoother.at(cutoff_hz, rate_hz=rate_hz)
    return smoother.strategy.smooth(np.asarray(values, dtype=float), design)


def smooth_at(values: FloatArray, *, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> Smoothed:
    """Smoothed signal and its first two derivatives.

    Parameters
    ----------
    values, rate_hz, cutoff_hz, smoother
        As in `smooth_values`.

    Returns
    -------
    Smoothed
        Signal, derivatives and the reach of the ends.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist, or fewer frames than the method needs.

    Notes
    -----
    Recursive filters are followed by central differences; local polynomials and splines are differentiated themselves.

    Examples
    --------
    >>> t = np.arange(200) / 100.0
    >>> found = smooth_at(t**2, rate_hz=100.0, cutoff_hz=6.0, smoother=Smoother("quintic_spline"))
    >>> bool(np.allclose(found.second, 2.0, atol=1e-6))
    True
    """
    design = smoother.at(cutoff_hz, rate_hz=rate_hz)
    reach = smoother.strategy.reach(design)
    return Smoothed(*smoother.strategy.fit(np.asarray(values, dtype=float), design), reach)


def smoother_reach(cutoff_hz: float, *, rate_hz: float, smoother: Smoother) -> int:
    """Frames at each end affected by the extension beyond it.

    Parameters
    ----------
    cutoff_hz, rate_hz, smoother
        As in `smooth_values`.

    Returns
    -------
    int
        Frames until the smoother's response has decayed to a hundredth, and those of one-sided differences.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist.
    """
    return smoother.strategy.reach(smoother.at(cutoff_hz, rate_hz=rate_hz))


def smoother_gain(frequency_hz: FloatArray, *, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> FloatArray:
    """Gain far from the ends.

    Parameters
    ----------
    frequency_hz : ndarray of shape (n_frequencies,)
        Frequencies below the Nyquist frequency, Hz.
    rate_hz, cutoff_hz, smoother
        As in `smooth_values`.

    Returns
    -------
    ndarray of shape (n_frequencies,)
        Gain, of both passes where there are two; 1/sqrt(2) at the cut-off.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist.
    """
    return np.asarray(smoother.strategy.gains(frequency_hz, [smoother.at(cutoff_hz, rate_hz=rate_hz)])[0])


def second_gain(frequency_hz: FloatArray, *, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> FloatArray:
    """Gain of the second derivative: smoothed over true, for a wave.

    Parameters
    ----------
    frequency_hz, rate_hz, cutoff_hz, smoother
        As in `smoother_gain`; frequencies above zero.

    Returns
    -------
    ndarray of shape (n_frequencies,)
        Gain far from the ends; 1 where the wave is slow.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist.
    """
    _, second = second_gains(frequency_hz, rate_hz=rate_hz, cutoffs_hz=[cutoff_hz], smoother=smoother)
    return np.asarray(second[0])


def second_gains(
    frequency_hz: FloatArray, *, rate_hz: float, cutoffs_hz: Sequence[float], smoother: Smoother
) -> tuple[FloatArray, FloatArray]:
    """Gains of the signal and of its second derivative at several cut-offs.

    Parameters
    ----------
    frequency_hz, rate_hz, smoother
        As in `smoother_gain`; frequencies above zero.
    cutoffs_hz : sequence of float
        Cut-offs, Hz.

    Returns
    -------
    first, second : ndarray of shape (n_cutoffs, n_frequencies)
        As from `smoother_gain` and `second_gain`.

    Raises
    ------
    SignalError
        A cut-off is not below Nyquist.
    """
    designs = [smoother.at(cutoff_hz, rate_hz=rate_hz) for cutoff_hz in cutoffs_hz]
    gains = smoother.strategy.gains(frequency_hz, designs)
    return gains, smoother.strategy.second_gains(frequency_hz, gains, designs)


def degrees_of_freedom(n_frames: int, *, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> float:
    """Degrees of freedom: trace of the matrix from samples to smoothed values.

    Parameters
    ----------
    n_frames : int
        Number of samples.
    rate_hz, cutoff_hz, smoother
        As in `smooth_values`.

    Returns
    -------
    float
        Between the few of a heavy smoothing and `n_frames`.

    Notes
    -----
    Exact for natural splines. For the others the diagonal is taken from the responses to rows of unit impulses too far
    apart to overlap (to 1e-4 of an impulse), over so many frames that the middle is free of edge effects; beyond, the
    diagonal is constant.
    """
    if smoother.strategy.freedom is not None and smoother.beyond == "none":
        return smoother.strategy.freedom(n_frames, smoother.at(cutoff_hz, rate_hz=rate_hz))
    apart = 2 * smoother_reach(cutoff_hz, rate_hz=rate_hz, smoother=smoother) + 1
    size = min(n_frames, 4 * apart)
    total, middle = _read_diagonal(size, min(apart, size), rate_hz, cutoff_hz, smoother)
    return total + (n_frames - size) * middle


@functools.lru_cache(maxsize=1024)
def _read_diagonal(size: int, apart: int, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> tuple[float, float]:
    """Sum of the diagonal of a smoother of `size` frames, and its middle."""
    frames = np.arange(size)
    combs = (frames[:, None] % apart == np.arange(apart)).astype(float)
    answers = smooth_values(combs, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    diagonal = answers[frames, frames % apart]
    return float(diagonal.sum()), float(diagonal[size // 2])
