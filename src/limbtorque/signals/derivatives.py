"""First and second derivative by central differences of the same polynomial."""

from __future__ import annotations

import functools
import math

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError


def differentiate(values: FloatArray, *, rate_hz: float, accuracy: int = 4) -> tuple[FloatArray, FloatArray]:
    """First and second derivative by central differences.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Evenly sampled signal.
    rate_hz : float
        Samples per second.
    accuracy : {2, 4, 6, 8}, optional
        Order of accuracy.

    Returns
    -------
    first, second : ndarray of the shape of `values`
        Derivatives per second and per second squared, at the frames of `values`.

    Raises
    ------
    SignalError
        Fewer frames than the stencil has points.

    Notes
    -----
    Both derivatives are those of one polynomial, through ``accuracy + 1`` neighbouring samples, so they agree with
    each other. The leading errors at accuracy 4 are ``h^4 y^(5) / 30`` and ``h^4 y^(6) / 90``. The first and last
    ``accuracy / 2`` frames (`differentiation_reach`) use the polynomial of the outermost samples and are less accurate.

    Examples
    --------
    >>> t = np.arange(6) / 10.0
    >>> first, second = differentiate(t**3, rate_hz=10.0)
    >>> bool(np.allclose(first, 3 * t**2)), bool(np.allclose(second, 6 * t))
    (True, True)
    """
    samples = np.asarray(values, dtype=float)
    return _derivative(samples, 1, rate_hz, accuracy), _derivative(samples, 2, rate_hz, accuracy)


def first_derivative(values: FloatArray, *, rate_hz: float, accuracy: int = 4) -> FloatArray:
    """First derivative by central differences, the same as from `differentiate`.

    Parameters
    ----------
    values, rate_hz, accuracy
        As in `differentiate`.

    Returns
    -------
    ndarray of the shape of `values`
        Derivative per second.

    Raises
    ------
    SignalError
        Fewer frames than the stencil has points.
    """
    return _derivative(np.asarray(values, dtype=float), 1, rate_hz, accuracy)


def _derivative(samples: FloatArray, order: int, rate_hz: float, accuracy: int) -> FloatArray:
    """First or second derivative by a stencil of ``accuracy + 1`` samples."""
    points, half = accuracy + 1, accuracy // 2
    if len(samples) < points:
        raise SignalError(
            f"{len(samples)} frames are fewer than the {points} a derivative of accuracy {accuracy} needs"
        )
    weights = _stencils(accuracy, order) * rate_hz**order
    rows, result = samples.reshape(len(samples), -1), np.empty_like(samples)
    inner = result[half : len(samples) - half]
    np.multiply(weights[half, 0], samples[: len(samples) - accuracy], out=inner)
    for k in range(1, points):
        inner += weights[half, k] * samples[k : len(samples) - accuracy + k]
    ends = result[:half], result[len(samples) - half :]
    ends[0][...] = (weights[:half] @ rows[:points]).reshape(ends[0].shape)
    ends[1][...] = (weights[half + 1 :] @ rows[-points:]).reshape(ends[1].shape)
    return result


def differentiation_reach(accuracy: int) -> int:
    """Frames at each end whose derivatives are one-sided."""
    return accuracy // 2


def second_derivative_gain(cycles: FloatArray, *, accuracy: int) -> FloatArray:
    """Ratio of second difference to second derivative of a wave, far from the ends."""
    angle, half = 2.0 * np.pi * cycles, accuracy // 2
    weights = _stencils(accuracy, 2)[half, half:]
    waves = np.cos(np.multiply.outer(angle, np.arange(1, half + 1)))
    return np.asarray(-(weights[0] + 2.0 * waves @ weights[1:]) / angle**2)


@functools.cache
def _stencils(accuracy: int, derivative: int) -> FloatArray:
    """Weights for unit spacing, exact for polynomials; row k: derivative at sample k."""
    offsets = np.arange(accuracy + 1)
    factorial = math.factorial(derivative)
    rows = []
    for k in offsets:
        powers = np.vander(offsets - float(k), increasing=True).T
        rows.append(np.linalg.solve(powers, np.eye(accuracy + 1)[derivative] * factorial))
    return np.array(rows)
