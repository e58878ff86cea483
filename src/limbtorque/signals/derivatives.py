"""First and second derivative by central differences of one polynomial."""

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
    points = accuracy + 1
    if len(values) < points:
        raise SignalError(f"{len(values)} frames are fewer than the {points} a derivative of accuracy {accuracy} needs")
    half = accuracy // 2
    samples = np.asarray(values, dtype=float)
    results = []
    for derivative in (1, 2):
        weights = _stencils(accuracy, derivative) * rate_hz**derivative
        result = np.empty_like(samples)
        inner = sum(weights[half, k] * samples[k : len(samples) - accuracy + k] for k in range(points))
        result[half : len(samples) - half] = inner
        result[:half] = np.tensordot(weights[:half], samples[:points], axes=1)
        result[len(samples) - half :] = np.tensordot(weights[half + 1 :], samples[-points:], axes=1)
        results.append(result)
    return results[0], results[1]


def differentiation_reach(accuracy: int) -> int:
    """Frames at each end whose derivatives are one-sided."""
    return accuracy // 2


def second_derivative_gain(cycles: FloatArray, *, accuracy: int) -> FloatArray:
    """Second difference of a wave over its second derivative, far from the ends."""
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
