"""One interface to all smoothers: signal, derivatives, reach and gains."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, runs, widened
from limbtorque.errors import SignalError
from limbtorque.signals import derivatives
from limbtorque.signals.derivatives import differentiate, differentiation_reach
from limbtorque.signals.filters import check_cutoff, filter_gains, filter_reach, low_pass

BEFORE_S, AFTER_S = 0.03, 0.07  # of an impact, with the higher cut-off alone
RAMP_S = 0.03  # from one cut-off to the other
HIGHEST = 0.4  # of the rate: highest cut-off that is chosen, or used around impacts
MARGIN = 4  # times the smoother's reach: frames on both sides from which the higher cut-off is computed

Method = Literal["butterworth", "critically_damped", "quintic_spline"]


@dataclass(frozen=True)
class Design:
    """Design of a smoother: rate and cut-off (Hz), order, accuracy."""

    rate_hz: float
    cutoff_hz: float
    order: int
    accuracy: int


class SmoothingMethod:
    """Base of the methods: central differences follow the smoothing.

    Attributes
    ----------
    has_order : bool
        False where the degree of the spline sets the order.
    """

    has_order: bool = True

    def smooth(self, values: FloatArray, at: Design) -> FloatArray:
        """Smoothed signal."""
        raise NotImplementedError

    def reach(self, at: Design) -> int:
        """Frames at each end with edge effects in the signal and its derivatives."""
        raise NotImplementedError

    def gains(self, frequency_hz: FloatArray, designs: Sequence[Design]) -> FloatArray:
        """Gains far from the ends, (n_designs, n_frequencies); only cut-offs differ."""
        raise NotImplementedError

    def second_gains(self, frequency_hz: FloatArray, gains: FloatArray, designs: Sequence[Design]) -> FloatArray:
        """Gains of the second derivative, from those of the signal."""
        at = designs[0]
        return gains * derivatives.second_derivative_gain(frequency_hz / at.rate_hz, accuracy=at.accuracy)

    def derivatives(self, values: FloatArray, rate_hz: float, accuracy: int) -> tuple[FloatArray, FloatArray]:
        """First two derivatives of smoothed values, or of functions of them."""
        return differentiate(values, rate_hz=rate_hz, accuracy=accuracy)


@dataclass(frozen=True)
class _Recursive(SmoothingMethod):
    """Recursive filter run both ways."""

    critical: bool

    def smooth(self, values: FloatArray, at: Design) -> FloatArray:
        order, critical = at.order, self.critical
        return low_pass(values, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, order=order, critical=critical)

    def reach(self, at: Design) -> int:
        frames = filter_reach(at.cutoff_hz, rate_hz=at.rate_hz, order=at.order, critical=self.critical)
        return frames + differentiation_reach(at.accuracy)

    def gains(self, frequency_hz: FloatArray, designs: Sequence[Design]) -> FloatArray:
        at, cutoffs_hz = designs[0], np.array([design.cutoff_hz for design in designs])
        return filter_gains(frequency_hz, cutoffs_hz, rate_hz=at.rate_hz, order=at.order, critical=self.critical)


class _QuinticSpline(SmoothingMethod):
    """Quintic smoothing spline, which is differentiated itself."""

    has_order = False

    def smooth(self, values: FloatArray, at: Design) -> FloatArray:
        return spline_smooth(values, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz)

    def reach(self, at: Design) -> int:
        return spline_reach(at.cutoff_hz, rate_hz=at.rate_hz)

    def gains(self, frequency_hz: FloatArray, designs: Sequence[Design]) -> FloatArray:
        weights = [penalty(at.cutoff_hz, rate_hz=at.rate_hz) for at in designs]
        return np.asarray(1.0 / (1.0 + np.multiply.outer(weights, stiffness(frequency_hz / designs[0].rate_hz))))

    def second_gains(self, frequency_hz: FloatArray, gains: FloatArray, designs: Sequence[Design]) -> FloatArray:
        return gains * spline_second_derivative_gain(frequency_hz / designs[0].rate_hz)

    def derivatives(self, values: FloatArray, rate_hz: float, accuracy: int) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        return spline_derivatives(values, rate_hz=rate_hz)


METHODS: dict[str, SmoothingMethod] = {
    "butterworth": _Recursive(critical=False),
    "critically_damped": _Recursive(critical=True),
    "quintic_spline": _QuinticSpline(),
}


@dataclass(frozen=True)
class Smoother:
    """A smoothing method with its order, without a cut-off.

    Attributes
    ----------
    method : {"butterworth", "critically_damped", "quintic_spline"}
        Dual-pass recursive filters, or the smoothing spline.
    order : int
        Recursive filters: order of one pass. The spline has the flatness of order 3.
    accuracy : {2, 4, 6, 8}
        Order of accuracy of the central differences that follow a recursive filter; see `derivatives.differentiate`.
    """

    method: Method = "butterworth"
    order: int = 3
    accuracy: int = 4

    @property
    def strategy(self) -> SmoothingMethod:
        """The method itself."""
        return METHODS[self.method]

    def at(self, cutoff_hz: float, *, rate_hz: float) -> Design:
        """Return the numbers of the smoother at a cut-off."""
        return Design(rate_hz, cutoff_hz, self.order, self.accuracy)


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
        Gain as from `smoother_gain`, and smoothed over true second derivative; 1 where the wave is slow.

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
    The diagonal is taken from the responses to rows of unit impulses too far
    apart to overlap (to 1e-4 of an impulse), over so many frames that the middle is free of edge effects; beyond, the
    diagonal is constant.
    """
    apart = 2 * smoother_reach(cutoff_hz, rate_hz=rate_hz, smoother=smoother) + 1
    size = min(n_frames, 4 * apart)
    total, middle = _read_diagonal(size, min(apart, size), rate_hz, cutoff_hz, smoother)
    return total + (n_frames - size) * middle


@functools.lru_cache(maxsize=1024)
def _read_diagonal(size: int, apart: int, rate_hz: float, cutoff_hz: float, smoother: Smoother) -> tuple[float, float]:
    """Sum of the diagonal of a smoother of `size` frames, and its central value."""
    frames = np.arange(size)
    combs = (frames[:, None] % apart == np.arange(apart)).astype(float)
    answers = smooth_values(combs, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    diagonal = answers[frames, frames % apart]
    return float(diagonal.sum()), float(diagonal[size // 2])


def smooth_with_impacts(
    values: FloatArray, *, rate_hz: float, cutoff_hz: float, smoother: Smoother, impact_hz: float, impacts_s: ArrayLike
) -> FloatArray:
    """Smooth a signal with a higher cut-off around impacts.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples; all channels are smoothed alike.
    rate_hz, cutoff_hz, smoother
        As in `smooth_values`.
    impact_hz : float
        Cut-off around impacts, Hz, at most 0.4 of the rate; no effect where it is not above `cutoff_hz`.
    impacts_s : array_like of shape (n_impacts,)
        Times of the impacts from the first frame, s.

    Returns
    -------
    ndarray of the shape of `values`
        Smoothed signal.

    Notes
    -----
    The mean of the signal at both cut-offs, weighted over time: the higher one alone from `BEFORE_S` before an impact to
    `AFTER_S` after it, with ramps of `RAMP_S` whose first two derivatives vanish at their ends. Cut-offs that vary with
    time are the idea of Davis and Challis (2020) and of Augustus et al. (2020), both Journal of Biomechanics 101.
    """
    slow = smooth_values(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    times = np.asarray(impacts_s, dtype=float)
    impact_hz = min(impact_hz, HIGHEST * rate_hz)
    if not times.size or impact_hz <= cutoff_hz:
        return slow
    weight = impact_weight(len(values), rate_hz, times)
    reach = MARGIN * smoother_reach(impact_hz, rate_hz=rate_hz, smoother=smoother)
    smoothed = slow.copy()
    for start, stop in runs(widened(weight > 0.0, reach)):
        part = slice(start, stop)
        fast = smooth_values(values[part], rate_hz=rate_hz, cutoff_hz=impact_hz, smoother=smoother)
        smoothed[part] += weight[part].reshape(-1, *[1] * (slow.ndim - 1)) * (fast - slow[part])
    return smoothed


def impact_weight(n_frames: int, rate_hz: float, impacts_s: FloatArray) -> FloatArray:
    """Weight of the higher cut-off, 0 to 1, shape (n_frames,)."""
    since = np.arange(n_frames)[:, None] / rate_hz - impacts_s
    outside = np.maximum(np.maximum(-BEFORE_S - since, since - AFTER_S), 0.0).min(axis=1)
    u = np.clip(1.0 - outside / RAMP_S, 0.0, 1.0)
    return np.asarray(u**3 * (10.0 - 15.0 * u + 6.0 * u**2))


def impact_share(n_frames: int, rate_hz: float, impacts: Sequence[tuple[float, float]]) -> FloatArray:
    """Share of a load that passes the markers' filter, 0 to 1, shape (n_frames,).

    Parameters
    ----------
    n_frames : int
        Number of frames.
    rate_hz : float
        Frames per second.
    impacts : sequence of (float, float)
        Time of each impact from the first frame, s, and the share there.
    """
    weights = [share * impact_weight(n_frames, rate_hz, np.array([time_s])) for time_s, share in impacts]
    return np.asarray(np.max([np.zeros(n_frames), *weights], axis=0))


# ---- the quintic smoothing spline, with a penalty on the third derivative ----

# values of the uniform B-splines of degree 3 and 5 at their inner knots, from the middle one: products of two of degree 2
_CUBIC, _QUINTIC = (4.0 / 6.0, 1.0 / 6.0), (66.0 / 120.0, 26.0 / 120.0, 1.0 / 120.0)


def penalty(cutoff_hz: float, *, rate_hz: float) -> float:
    """Penalty weight for a gain of 1/sqrt(2) at the stated cut-off.

    Parameters
    ----------
    cutoff_hz : float
        Cut-off, Hz.
    rate_hz : float
        Samples per second.

    Returns
    -------
    float
        Penalty for unit spacing of the samples.

    Raises
    ------
    SignalError
        The cut-off is not below the Nyquist frequency.

    Notes
    -----
    Far from the ends a smoothing spline is a linear filter of gain ``1 / (1 + p / S(w))``, with
    ``S(w) = sum over k of (w + 2 pi k)^-6`` and w in radians per sample (Unser and Blu 2005); for w small against pi it is
    ``1 / (1 + p w^6)``, the gain of a dual-pass Butterworth filter of order 3.

    Examples
    --------
    >>> round(penalty(6.0, rate_hz=100.0), 1)
    144.3
    """
    check_cutoff(cutoff_hz, rate_hz)
    return (math.sqrt(2.0) - 1.0) / float(stiffness(np.array(cutoff_hz / rate_hz)))


def spline_second_derivative_gain(cycles: FloatArray) -> FloatArray:
    """Second derivative of a wave's spline over that of the wave."""
    angle = 2.0 * np.pi * cycles
    return np.asarray((2.0 * np.sin(angle / 2.0) / angle) ** 2 * _symbol(angle, _CUBIC) / _symbol(angle, _QUINTIC))


def stiffness(cycles: FloatArray) -> FloatArray:
    """Stiffness ``1 / S(w)``, w = 2 pi cycles per frame.

    Squared differences over products of B-splines.
    """
    angle = 2.0 * np.pi * cycles
    return np.asarray((2.0 * np.sin(angle / 2.0)) ** 6 / _symbol(angle, _QUINTIC))


def _symbol(angle: FloatArray, values: tuple[float, ...]) -> FloatArray:
    """Fourier series of a symmetric sequence that is given from its middle on."""
    return np.asarray(values[0] + 2.0 * sum(value * np.cos(k * angle) for k, value in enumerate(values[1:], start=1)))


def spline_reach(cutoff_hz: float, *, rate_hz: float) -> int:
    """Frames over which the spline's response to an end decays to a hundredth.

    The poles are those of a Butterworth filter.
    """
    penalty(cutoff_hz, rate_hz=rate_hz)  # raises if not below Nyquist
    design = cutoff_hz / math.pow(math.sqrt(2.0) - 1.0, 1.0 / 6)
    slowest = 2.0 * math.pi * design * math.sin(math.pi / 6)
    return math.ceil(math.log(100.0) / slowest * rate_hz)


def spline_smooth(values: FloatArray, *, rate_hz: float, cutoff_hz: float) -> FloatArray:
    """Values of the natural smoothing spline at the samples.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples.
    rate_hz : float
        Samples per second.
    cutoff_hz : float
        Frequency at which the gain is 1/sqrt(2) far from the ends, Hz; see `penalty`.

    Returns
    -------
    ndarray of the shape of `values`
        The function that has the least ``sum (y - g)^2 + p integral (g''')^2``, at the samples.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist, or too few frames.

    Notes
    -----
    The third derivative is a B-spline of degree 2 with coefficients c (Reinsch 1967, de Hoog and Hutchinson 1987):
    ``(R + p D D') c = D y`` and ``g = y - p D' c``, with D the third differences and R the products of the B-splines. Both
    matrices are banded; all channels are solved at once in a time proportional to the frames.
    """
    from scipy import linalg

    reach = spline_reach(cutoff_hz, rate_hz=rate_hz)
    if len(values) <= max(reach, 6):
        raise SignalError(
            f"{len(values)} frames are fewer than a {cutoff_hz:g} Hz spline at {rate_hz:g} Hz needs "
            f"({max(reach, 6) + 1}); raise filter.cutoff_hz, or leave the trial out"
        )
    samples = values.reshape(len(values), -1)
    weight = penalty(cutoff_hz, rate_hz=rate_hz)
    # lower bands of R + p D D'
    gram = np.array([*_QUINTIC, 0.0]) + weight * np.array([20.0, -15.0, 6.0, -1.0])
    bands = np.repeat(gram[:, None], len(samples) - 3, axis=1)
    coefficients = linalg.solveh_banded(bands, np.diff(samples, 3, axis=0), lower=True, check_finite=False)
    # D' c: up to the sign the differences of c with zeros around it
    padded = np.pad(coefficients, ((3, 3), (0, 0)))
    fitted = samples + weight * np.diff(padded, 3, axis=0)
    return cast(FloatArray, fitted.reshape(values.shape))


def spline_derivatives(values: FloatArray, *, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """First and second derivative of the natural spline through the samples.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Values of a natural spline, as from `spline_smooth`.
    rate_hz : float
        Samples per second.

    Returns
    -------
    first, second : ndarray of the shape of `values`
        Derivatives per second and per second squared.
    """
    from scipy import interpolate

    zeros = np.zeros(values.shape[1:])
    natural = [(k, zeros) for k in (3, 4)]
    frames = np.arange(len(values), dtype=float)
    spline = interpolate.make_interp_spline(frames, values, k=5, bc_type=(natural, natural), check_finite=False)
    first, second = (spline(frames, nu) * rate_hz**nu for nu in (1, 2))
    return np.asarray(first), np.asarray(second)
