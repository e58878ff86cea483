"""One interface to all ways of smoothing: a signal in, the signal and its first two derivatives out."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.signals import derivatives, splines
from limbtorque.signals.butterworth import design_cutoff, filter_reach, low_pass
from limbtorque.signals.critically_damped import critical_design_cutoff, critical_low_pass, critical_reach
from limbtorque.signals.derivatives import differentiate, differentiation_reach
from limbtorque.signals.ends import Ends
from limbtorque.signals.savitzky_golay import local_gain, local_polynomials, local_second_gain, window_frames
from limbtorque.signals.splines import spline_derivatives, spline_freedom, spline_gain, spline_reach, spline_smooth

Method = Literal["butterworth", "critically_damped", "savitzky_golay", "cubic_spline", "quintic_spline"]

HALF_ORDER = {"cubic_spline": 2, "quintic_spline": 3}
ENDS: dict[str, Ends] = {
    "butterworth": "reflect",
    "critically_damped": "reflect",
    "savitzky_golay": "none",
    "cubic_spline": "none",
    "quintic_spline": "none",
}


@dataclass(frozen=True)
class Smoother:
    """A way of smoothing, all but its cut-off.

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
        What the signal is taken to be beyond its ends; None: what is best for the method.
    """

    method: Method = "butterworth"
    order: int = 3
    accuracy: int = 4
    ends: Ends | None = None

    @property
    def beyond(self) -> Ends:
        """What the signal is taken to be beyond its ends."""
        return self.ends or ENDS[self.method]


@dataclass(frozen=True)
class Smoothed:
    """A smoothed signal and its derivatives, from one model.

    Attributes
    ----------
    values, first, second : ndarray of shape (n_frames, ...)
        Signal and derivatives, per s and s^2.
    reach : int
        Frames at each end within which what was taken to be beyond the end is felt by more than a hundredth.
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
    method, order, ends = smoother.method, smoother.order, smoother.beyond
    samples = np.asarray(values, dtype=float)
    if method == "butterworth":
        return low_pass(samples, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order, ends=ends)
    if method == "critically_damped":
        return critical_low_pass(samples, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order, ends=ends)
    if method == "savitzky_golay":
        degree = 2 * order - 1
        return local_polynomials(
            samples, rate_hz=rate_hz, cutoff_hz=cutoff_hz, degree=degree, ends=ends, derivatives=False
        )[0]
    return spline_smooth(samples, rate_hz=rate_hz, cutoff_hz=cutoff_hz, half_order=HALF_ORDER[method], ends=ends)


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
    samples = np.asarray(values, dtype=float)
    reach = smoother_reach(cutoff_hz, rate_hz=rate_hz, smoother=smoother)
    if smoother.method == "savitzky_golay":
        degree = 2 * smoother.order - 1
        ends = smoother.beyond
        polynomials = local_polynomials(samples, rate_hz=rate_hz, cutoff_hz=cutoff_hz, degree=degree, ends=ends)
        return Smoothed(*polynomials, reach)
    smoothed = smooth_values(samples, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    if smoother.method in HALF_ORDER:
        derivatives = spline_derivatives(smoothed, rate_hz=rate_hz, half_order=HALF_ORDER[smoother.method])
        return Smoothed(smoothed, *derivatives, reach)
    return Smoothed(smoothed, *differentiate(smoothed, rate_hz=rate_hz, accuracy=smoother.accuracy), reach)


def smoother_reach(cutoff_hz: float, *, rate_hz: float, smoother: Smoother) -> int:
    """Frames at each end within which what was taken to be beyond the end is felt.

    Parameters
    ----------
    cutoff_hz, rate_hz, smoother
        As in `smooth_values`.

    Returns
    -------
    int
        Frames: where the smoother's answer has decayed to a hundredth, and those of one-sided differences.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist.
    """
    if smoother.method == "butterworth":
        reach = filter_reach(cutoff_hz, rate_hz=rate_hz, order=smoother.order)
        return reach + differentiation_reach(smoother.accuracy)
    if smoother.method == "critically_damped":
        reach = critical_reach(cutoff_hz, rate_hz=rate_hz, order=smoother.order)
        return reach + differentiation_reach(smoother.accuracy)
    if smoother.method == "savitzky_golay":
        return window_frames(cutoff_hz, rate_hz=rate_hz, degree=2 * smoother.order - 1) // 2
    return spline_reach(cutoff_hz, rate_hz=rate_hz, half_order=HALF_ORDER[smoother.method])


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
    method, order = smoother.method, smoother.order
    if method in HALF_ORDER:
        return spline_gain(frequency_hz, rate_hz=rate_hz, cutoff_hz=cutoff_hz, half_order=HALF_ORDER[method])
    if method == "savitzky_golay":
        return local_gain(frequency_hz, rate_hz=rate_hz, cutoff_hz=cutoff_hz, degree=2 * order - 1)
    warped = np.tan(np.pi * frequency_hz / rate_hz)
    if method == "butterworth":
        pole = math.tan(math.pi * design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order) / rate_hz)
        return np.asarray(1.0 / (1.0 + (warped / pole) ** (2 * order)))
    pole = math.tan(math.pi * critical_design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order) / rate_hz)
    return np.asarray((1.0 + (warped / pole) ** 2) ** -order)


def second_gain(frequency_hz: FloatArray, *, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> FloatArray:
    """Gain of the second derivative: what `smooth_at` gives for a wave over the second derivative of the wave.

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
    first = np.stack([smoother_gain(frequency_hz, rate_hz=rate_hz, cutoff_hz=f, smoother=smoother) for f in cutoffs_hz])
    cycles = frequency_hz / rate_hz
    if smoother.method == "savitzky_golay":
        degree = 2 * smoother.order - 1
        own = [local_second_gain(frequency_hz, rate_hz=rate_hz, cutoff_hz=f, degree=degree) for f in cutoffs_hz]
        return first, np.stack(own)
    if smoother.method in HALF_ORDER:
        return first, first * splines.second_derivative_gain(cycles, half_order=HALF_ORDER[smoother.method])
    return first, first * derivatives.second_derivative_gain(cycles, accuracy=smoother.accuracy)


def degrees_of_freedom(n_frames: int, *, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> float:
    """Trace of the matrix that takes samples to smoothed values: how many numbers of the samples are left.

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
    Exact for natural splines. For the others the diagonal is read off the answers to rows of unit impulses so far apart
    that they do not meet (to 1e-4 of an impulse), over so many frames that the middle does not feel the ends; beyond, the
    diagonal is constant.
    """
    if smoother.method in HALF_ORDER and smoother.beyond == "none":
        half_order = HALF_ORDER[smoother.method]
        return spline_freedom(n_frames, rate_hz=rate_hz, cutoff_hz=cutoff_hz, half_order=half_order)
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
