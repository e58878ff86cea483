"""Smoothing splines (Reinsch, Woltring), local polynomials (Savitzky, Golay)."""

from __future__ import annotations

import functools
import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.filters import check_cutoff

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
    check_cutoff(cutoff_hz, rate_hz)
    return (math.sqrt(2.0) - 1.0) / float(stiffness(np.array(cutoff_hz / rate_hz), half_order))


def spline_second_derivative_gain(cycles: FloatArray, *, half_order: int) -> FloatArray:
    """Second derivative of a wave's spline over that of the wave."""
    angle = 2.0 * np.pi * cycles
    bend = 1.0 if half_order == 2 else _symbol(angle, _GRAM[2])
    return np.asarray((2.0 * np.sin(angle / 2.0) / angle) ** 2 * bend / _symbol(angle, _GRAM[half_order]))


def stiffness(cycles: FloatArray, half_order: int) -> FloatArray:
    """Stiffness ``1 / S(w)``, w = 2 pi cycles per frame.

    Squared differences over products of B-splines.
    """
    angle = 2.0 * np.pi * cycles
    return np.asarray((2.0 * np.sin(angle / 2.0)) ** (2 * half_order) / _symbol(angle, _GRAM[half_order]))


def _symbol(angle: FloatArray, values: tuple[float, ...]) -> FloatArray:
    """Fourier series of a symmetric sequence, given from its centre."""
    return np.asarray(values[0] + 2.0 * sum(value * np.cos(k * angle) for k, value in enumerate(values[1:], start=1)))


def spline_reach(cutoff_hz: float, *, rate_hz: float, half_order: int) -> int:
    """Frames over which the spline's response to an end decays to a hundredth.

    The poles are those of a Butterworth filter.
    """
    penalty(cutoff_hz, rate_hz=rate_hz, half_order=half_order)  # raises if not below Nyquist
    design = cutoff_hz / math.pow(math.sqrt(2.0) - 1.0, 1.0 / (2 * half_order))
    slowest = 2.0 * math.pi * design * math.sin(math.pi / (2 * half_order))
    return math.ceil(math.log(100.0) / slowest * rate_hz)


def spline_smooth(values: FloatArray, *, rate_hz: float, cutoff_hz: float, half_order: int = 3) -> FloatArray:
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
            f"({max(reach, 2 * half_order) + 1}); raise filter.cutoff_hz, or exclude the trial"
        )
    samples = values.reshape(len(values), -1)
    weight = penalty(cutoff_hz, rate_hz=rate_hz, half_order=half_order)
    # lower bands of R + p D D'
    differences = np.array([math.comb(2 * half_order, half_order + k) * (-1.0) ** k for k in range(half_order + 1)])
    gram = np.array([*_GRAM[half_order], 0.0])[: half_order + 1]
    bands = np.repeat((gram + weight * differences)[:, None], len(samples) - half_order, axis=1)
    coefficients = linalg.solveh_banded(bands, np.diff(samples, half_order, axis=0), lower=True, check_finite=False)
    # D' c: up to the sign the differences of c with zeros around it
    padded = np.pad(coefficients, ((half_order, half_order), (0, 0)))
    fitted = samples - weight * ((-1.0) ** half_order * np.diff(padded, half_order, axis=0))
    return cast(FloatArray, fitted.reshape(values.shape))


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


# --- local polynomials with a window set by the cut-off --------------------------------------------------------------


def window_frames(cutoff_hz: float, *, rate_hz: float, degree: int) -> int:
    """Frames of the window whose gain is nearest to 1/sqrt(2) at the stated cut-off.

    Parameters
    ----------
    cutoff_hz : float
        Cut-off, Hz.
    rate_hz : float
        Samples per second.
    degree : int
        Degree of the polynomials.

    Returns
    -------
    int
        Odd number of frames, at least ``degree + 2``.

    Raises
    ------
    SignalError
        The cut-off is above that of the shortest window.

    Notes
    -----
    Windows are whole frames, so the cut-off is accurate to about one part in their number. Cut-off and length of a window
    are nearly in inverse proportion, where the search starts.
    """
    shortest = degree + 2 + (degree + 1) % 2
    check_cutoff(cutoff_hz, rate_hz)
    share = cutoff_hz / rate_hz
    known = 20 * degree + 1
    guess = max(shortest, int(_gain_cutoff(known, degree) * known / share) // 2 * 2 + 1)
    near = [window for window in range(guess - 8, guess + 10, 2) if window >= shortest]
    nearest = min(near, key=lambda window: abs(np.log(_gain_cutoff(window, degree) / share)))
    if nearest == shortest and share > 1.2 * _gain_cutoff(shortest, degree):
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz, expected at most {_gain_cutoff(shortest, degree) * rate_hz:.3g} Hz, that of the shortest window "
            f"({shortest} frames); lower filter.cutoff_hz or filter.order"
        )
    return nearest


@functools.lru_cache(maxsize=512)
def _gain_cutoff(window: int, degree: int) -> float:
    """Frequency, cycles per frame, where the gain of a window falls to 1/sqrt(2)."""
    from scipy import optimize

    def above(cycles: FloatArray) -> FloatArray:
        return np.asarray(window_gain(cycles, window, degree) - np.sqrt(0.5))

    grid = np.linspace(0.0, 0.5, 8 * window)
    below = np.flatnonzero(above(grid) < 0.0)
    if not below.size:
        return 0.5
    first = int(below[0])
    return float(optimize.brentq(lambda cycles: float(above(np.array([cycles]))[0]), grid[first - 1], grid[first]))


def window_gain(cycles: FloatArray, window: int, degree: int) -> FloatArray:
    """Gain of local polynomials at frequencies in cycles per frame.

    Far from the ends; negative in some of the stop band.
    """
    half = window // 2
    weights = _window_weights(np.array([half]), window, degree)[0]
    waves = np.cos(2.0 * np.pi * np.multiply.outer(cycles, np.arange(1, half + 1)))
    return np.asarray(weights[half] + 2.0 * waves @ weights[half + 1 :])


def local_polynomials(values: FloatArray, *, rate_hz: float, cutoff_hz: float, degree: int) -> FloatArray:
    """Smooth a signal by least-squares polynomials in a sliding window.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples.
    rate_hz : float
        Samples per second.
    cutoff_hz : float
        Frequency at which the gain is 1/sqrt(2), Hz; see `window_frames`.
    degree : int
        Degree of the polynomials, at least 2.

    Returns
    -------
    ndarray of the shape of `values`
        Value of the polynomial of each frame; at the ends that of the outermost whole window.

    Raises
    ------
    SignalError
        Cut-off too high, or fewer frames than the window has.
    """
    from scipy import ndimage

    window = window_frames(cutoff_hz, rate_hz=rate_hz, degree=degree)
    if len(values) < window:
        raise SignalError(
            f"{len(values)} frames are fewer than a {cutoff_hz:g} Hz window at {rate_hz:g} Hz has ({window}); "
            "raise filter.cutoff_hz, or exclude the trial"
        )
    half = window // 2
    weights = _window_weights(np.arange(half + 1), window, degree)
    result = np.asarray(ndimage.correlate1d(values, weights[half], axis=0))
    result[:half] = np.tensordot(weights[:half], values[:window], axes=1)
    result[len(values) - half :] = np.tensordot(weights[:half][::-1, ::-1], values[-window:], axes=1)
    return result


def _window_weights(frames: NDArray[np.int64], window: int, degree: int) -> FloatArray:
    """Weights of a window's samples in the polynomial's value at given frames.

    By Legendre polynomials: powers of the frame number, as in SciPy's savgol_coeffs, lose all precision in long windows.
    """
    left, _ = np.linalg.qr(np.polynomial.legendre.legvander(np.linspace(-1.0, 1.0, window), degree))
    return np.asarray(left[frames] @ left.T)
