"""Quintic smoothing spline, with a penalty on the third derivative."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.filters import check_cutoff

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
