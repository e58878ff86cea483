"""Smoothing splines of degree 3 and 5 (Reinsch 1967, Woltring 1986)."""

from __future__ import annotations

import functools
import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.ends import Ends, extend

# values of the uniform B-spline of degree 2m - 1 at its inner knots, from the middle one: products of two of degree m - 1
_GRAM = {2: (4.0 / 6.0, 1.0 / 6.0), 3: (66.0 / 120.0, 26.0 / 120.0, 1.0 / 120.0)}


def penalty(cutoff_hz: float, *, rate_hz: float, half_order: int) -> float:
    """Penalty weight for a gain of 1/sqrt(2) at the stated cut-off.

    Parameters
    ----------
    cutoff_hz : float
        Cut-off, Hz.
    rate_hz : float
        Samples per second.
    half_order : {2, 3}
        Derivative that is penalised: 2 for a cubic spline, 3 for a quintic one.

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
    ``S(w) = sum over k of (w + 2 pi k)^(-2m)`` and w in radians per sample (Unser and Blu 2005); for w small against pi it is
    ``1 / (1 + p w^2m)``, the gain of a dual-pass Butterworth filter of order m.

    Examples
    --------
    >>> round(penalty(6.0, rate_hz=100.0, half_order=3), 1)
    144.3
    """
    if not 0.0 < cutoff_hz < rate_hz / 2.0:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz is not below the Nyquist frequency {rate_hz / 2.0:g} Hz of a recording at "
            f"{rate_hz:g} Hz; lower filter.cutoff_hz"
        )
    return (math.sqrt(2.0) - 1.0) / float(_stiffness(np.array(cutoff_hz / rate_hz), half_order))


def spline_gain(frequency_hz: FloatArray, *, rate_hz: float, cutoff_hz: float, half_order: int) -> FloatArray:
    """Gain of a smoothing spline far from its ends; arguments as in `penalty`."""
    weight = penalty(cutoff_hz, rate_hz=rate_hz, half_order=half_order)
    return np.asarray(1.0 / (1.0 + weight * _stiffness(frequency_hz / rate_hz, half_order)))


def second_derivative_gain(cycles: FloatArray, *, half_order: int) -> FloatArray:
    """Second derivative of a wave's spline over that of the wave."""
    angle = 2.0 * np.pi * cycles
    bend = 1.0 if half_order == 2 else _symbol(angle, _GRAM[2])
    return np.asarray((2.0 * np.sin(angle / 2.0) / angle) ** 2 * bend / _symbol(angle, _GRAM[half_order]))


def _stiffness(cycles: FloatArray, half_order: int) -> FloatArray:
    """Stiffness ``1 / S(w)``, w = 2 pi cycles per frame.

    Squared differences over products of B-splines.
    """
    angle = 2.0 * np.pi * cycles
    return np.asarray((2.0 * np.sin(angle / 2.0)) ** (2 * half_order) / _symbol(angle, _GRAM[half_order]))


def _symbol(angle: FloatArray, values: tuple[float, ...]) -> FloatArray:
    """Fourier series of a symmetric sequence that is given from its middle on."""
    return np.asarray(values[0] + 2.0 * sum(value * np.cos(k * angle) for k, value in enumerate(values[1:], start=1)))


def spline_reach(cutoff_hz: float, *, rate_hz: float, half_order: int) -> int:
    """Frames over which the spline's response to an end decays to a hundredth.

    The poles are those of a Butterworth filter.
    """
    penalty(cutoff_hz, rate_hz=rate_hz, half_order=half_order)  # raises if not below Nyquist
    design = cutoff_hz / math.pow(math.sqrt(2.0) - 1.0, 1.0 / (2 * half_order))
    slowest = 2.0 * math.pi * design * math.sin(math.pi / (2 * half_order))
    return math.ceil(math.log(100.0) / slowest * rate_hz)


def spline_smooth(
    values: FloatArray, *, rate_hz: float, cutoff_hz: float, half_order: int = 3, ends: Ends = "none"
) -> FloatArray:
    """Values of the natural smoothing spline at the samples.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples.
    rate_hz : float
        Samples per second.
    cutoff_hz : float
        Frequency at which the gain is 1/sqrt(2) far from the ends, Hz; see `penalty`.
    half_order : {2, 3}, optional
        Derivative that is penalised: 2 for a cubic spline, 3 for a quintic one.
    ends : {"reflect", "linear", "none"}, optional
        Extension beyond the ends; `none` is the natural spline of the samples alone.

    Returns
    -------
    ndarray of the shape of `values`
        The function that has the least ``sum (y - g)^2 + p integral (g^(m))^2``, at the samples.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist, or too few frames.

    Notes
    -----
    The m-th derivative is a B-spline of degree m - 1 with coefficients c (Reinsch 1967, de Hoog and Hutchinson 1987):
    ``(R + p D D') c = D y`` and ``g = y - p D' c``, with D the m-th differences and R the products of the B-splines. Both
    matrices are banded; all channels are solved at once in a time proportional to the frames.
    """
    from scipy import linalg

    reach = spline_reach(cutoff_hz, rate_hz=rate_hz, half_order=half_order)
    if len(values) <= max(reach, 2 * half_order):
        raise SignalError(
            f"{len(values)} frames are fewer than a {cutoff_hz:g} Hz spline at {rate_hz:g} Hz needs "
            f"({max(reach, 2 * half_order) + 1}); raise filter.cutoff_hz, or leave the trial out"
        )
    padding = 0 if ends == "none" else min(3 * reach, len(values) - 1)
    longer = extend(values, frames=padding, ends=ends, trend_frames=max(2, reach // 2)).reshape(
        len(values) + 2 * padding, -1
    )
    weight = penalty(cutoff_hz, rate_hz=rate_hz, half_order=half_order)
    bands = _bands(len(longer) - half_order, half_order, weight)
    coefficients = linalg.solveh_banded(bands, np.diff(longer, half_order, axis=0), lower=True, check_finite=False)
    fitted = longer - weight * _transposed_differences(coefficients, half_order)
    return cast(FloatArray, fitted[padding : len(longer) - padding].reshape(values.shape))


def spline_derivatives(values: FloatArray, *, rate_hz: float, half_order: int = 3) -> tuple[FloatArray, FloatArray]:
    """First and second derivative of the natural spline through the samples.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Values of a natural spline, as from `spline_smooth`.
    rate_hz : float
        Samples per second.
    half_order : {2, 3}, optional
        2 for a cubic spline, 3 for a quintic one.

    Returns
    -------
    first, second : ndarray of the shape of `values`
        Derivatives per second and per second squared.
    """
    from scipy import interpolate

    zeros = np.zeros(values.shape[1:])
    natural = [(k, zeros) for k in range(half_order, 2 * half_order - 1)]
    frames = np.arange(len(values), dtype=float)
    spline = interpolate.make_interp_spline(
        frames, values, k=2 * half_order - 1, bc_type=(natural, natural), check_finite=False
    )
    first, second = (spline(frames, nu) * rate_hz**nu for nu in (1, 2))
    return np.asarray(first), np.asarray(second)


def spline_freedom(n_frames: int, *, rate_hz: float, cutoff_hz: float, half_order: int) -> float:
    """Degrees of freedom of a natural smoothing spline.

    Parameters
    ----------
    n_frames : int
        Number of samples.
    rate_hz, cutoff_hz, half_order
        As in `spline_smooth`.

    Returns
    -------
    float
        Between `half_order` (a polynomial) and `n_frames` (no smoothing).

    Notes
    -----
    ``n - p d/dp log det(R + p D D')``, exact: the derivative of the logarithms on the diagonal of the banded LU factors
    by a step into the complex plane (Squire and Trapp 1998), which loses no digits. Time proportional to the frames.
    """
    return _freedom(n_frames, penalty(cutoff_hz, rate_hz=rate_hz, half_order=half_order), half_order)


@functools.lru_cache(maxsize=4096)
def _freedom(n_frames: int, weight: float, half_order: int) -> float:
    from scipy.linalg import lapack

    step = 1e-20
    lower = _bands(n_frames - half_order, half_order, complex(weight, weight * step))
    width, size = half_order, n_frames - half_order
    bands = np.zeros((3 * width + 1, size), dtype=complex)
    bands[2 * width :] = lower
    for k in range(1, width + 1):
        bands[2 * width - k, k:] = lower[k, : size - k]
    factors, _, _ = lapack.zgbtrf(bands, width, width)
    diagonal = factors[2 * width]
    return n_frames - float((diagonal.imag / diagonal.real).sum()) / step


def _bands(size: int, half_order: int, weight: complex) -> NDArray[np.generic]:
    """Lower bands of ``R + weight D D'``."""
    differences = np.array([math.comb(2 * half_order, half_order + k) * (-1.0) ** k for k in range(half_order + 1)])
    gram = np.array([*_GRAM[half_order], 0.0])[: half_order + 1]
    return np.repeat((gram + weight * differences)[:, None], size, axis=1)


def _transposed_differences(coefficients: FloatArray, half_order: int) -> FloatArray:
    """``D' c``: up to the sign the differences of c with zeros around it."""
    padded = np.pad(coefficients, ((half_order, half_order), (0, 0)))
    return np.asarray((-1.0) ** half_order * np.diff(padded, half_order, axis=0))
