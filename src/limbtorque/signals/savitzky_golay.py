"""Local polynomials (Savitzky and Golay 1964) with a window set by the cut-off."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.ends import Ends, extend


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
    if not 0.0 < cutoff_hz < rate_hz / 2.0:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz is not below the Nyquist frequency {rate_hz / 2.0:g} Hz of a recording at "
            f"{rate_hz:g} Hz; lower filter.cutoff_hz"
        )
    share = cutoff_hz / rate_hz
    known = 20 * degree + 1
    guess = max(shortest, int(_gain_cutoff(known, degree) * known / share) // 2 * 2 + 1)
    near = [window for window in range(guess - 8, guess + 10, 2) if window >= shortest]
    found = min(near, key=lambda window: abs(np.log(_gain_cutoff(window, degree) / share)))
    if found == shortest and share > 1.2 * _gain_cutoff(shortest, degree):
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz, expected at most {_gain_cutoff(shortest, degree) * rate_hz:.3g} Hz, that of the shortest window "
            f"({shortest} frames); lower filter.cutoff_hz or filter.order"
        )
    return found


@functools.lru_cache(maxsize=512)
def _gain_cutoff(window: int, degree: int) -> float:
    """Cycles per frame at which the gain of a window first falls to 1/sqrt(2)."""
    from scipy import optimize

    grid = np.linspace(0.0, 0.5, 8 * window)
    below = np.flatnonzero(_gain(grid, window, degree) < np.sqrt(0.5))
    if not below.size:
        return 0.5
    first = int(below[0])
    return float(
        optimize.brentq(
            lambda cycles: float(_gain(np.array([cycles]), window, degree)[0]) - np.sqrt(0.5),
            grid[first - 1],
            grid[first],
        )
    )


def local_gain(frequency_hz: FloatArray, *, rate_hz: float, cutoff_hz: float, degree: int) -> FloatArray:
    """Gain of the local polynomials far from the ends; negative in the stop band."""
    return _gain(frequency_hz / rate_hz, window_frames(cutoff_hz, rate_hz=rate_hz, degree=degree), degree)


def local_second_gain(frequency_hz: FloatArray, *, rate_hz: float, cutoff_hz: float, degree: int) -> FloatArray:
    """Second derivative of the polynomials of a wave over that of the wave."""
    window = window_frames(cutoff_hz, rate_hz=rate_hz, degree=degree)
    weights, half = _middle(window, degree, 2), window // 2
    angle = 2.0 * np.pi * frequency_hz / rate_hz
    waves = np.cos(np.multiply.outer(angle, np.arange(1, half + 1)))
    return np.asarray(-(weights[half] + 2.0 * waves @ weights[half + 1 :]) / angle**2)


def _gain(cycles: FloatArray, window: int, degree: int) -> FloatArray:
    weights, half = _middle(window, degree, 0), window // 2
    waves = np.cos(2.0 * np.pi * np.multiply.outer(cycles, np.arange(1, half + 1)))
    return np.asarray(weights[half] + 2.0 * waves @ weights[half + 1 :])


def local_polynomials(
    values: FloatArray, *, rate_hz: float, cutoff_hz: float, degree: int, ends: Ends = "none", derivatives: bool = True
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Signal and two derivatives by least-squares polynomials in a sliding window.

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
    ends : {"reflect", "linear", "none"}, optional
        Extension beyond the ends; `none` uses the polynomial of the outermost whole window.
    derivatives : bool, optional
        Compute the derivatives; otherwise the signal stands in their places.

    Returns
    -------
    smoothed, first, second : ndarray of the shape of `values`
        Value and derivatives, per s and s^2, of the polynomial of each frame.

    Raises
    ------
    SignalError
        Cut-off too high, or fewer frames than the window has.
    """
    window = window_frames(cutoff_hz, rate_hz=rate_hz, degree=degree)
    if len(values) < window:
        raise SignalError(
            f"{len(values)} frames are fewer than a {cutoff_hz:g} Hz window at {rate_hz:g} Hz has ({window}); "
            "raise filter.cutoff_hz, or leave the trial out"
        )
    padding = 0 if ends == "none" else window // 2
    longer = extend(values, frames=padding, ends=ends, trend_frames=max(2, window // 4))
    inner = slice(padding, len(longer) - padding)
    results = [_slide(longer, window, degree, k)[inner] * rate_hz**k for k in (range(3) if derivatives else range(1))]
    return results[0], results[-2 if derivatives else 0], results[-1]


def _slide(values: FloatArray, window: int, degree: int, derivative: int) -> FloatArray:
    """Local polynomial at each frame; the outermost windows serve the ends."""
    from scipy import ndimage

    half = window // 2
    result = np.asarray(ndimage.correlate1d(values, _middle(window, degree, derivative), axis=0))
    weights = _weights(np.arange(half), window, degree, derivative)
    result[:half] = np.tensordot(weights, values[:window], axes=1)
    mirrored = (-1.0) ** derivative * weights[::-1, ::-1]
    result[len(values) - half :] = np.tensordot(mirrored, values[-window:], axes=1)
    return result


@functools.lru_cache(maxsize=1024)
def _middle(window: int, degree: int, derivative: int) -> FloatArray:
    return np.asarray(_weights(np.array([window // 2]), window, degree, derivative)[0])


def _weights(frames: NDArray[np.int64], window: int, degree: int, derivative: int) -> FloatArray:
    """Weights of a window's samples in a derivative of their polynomial.

    By Legendre polynomials: powers of the frame number, as in SciPy's savgol_coeffs, lose all digits in long windows.
    """
    legendre = np.polynomial.legendre
    at = np.linspace(-1.0, 1.0, window)
    left, right = np.linalg.qr(legendre.legvander(at, degree))
    basis = legendre.legval(at[frames], legendre.legder(np.eye(degree + 1), derivative)).T
    return np.asarray(basis @ np.linalg.solve(right, left.T) * (2.0 / (window - 1)) ** derivative)
