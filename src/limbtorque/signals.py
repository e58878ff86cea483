"""Gaps, low-pass filter and derivatives: arrays with time along axis 0 in, arrays of the same shape out."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.errors import SignalError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

NEIGHBOURS = 30


@dataclass(frozen=True)
class Filled:
    """Markers after short gaps were filled.

    Attributes
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; still NaN in longer gaps and before the first and after the last sample of a marker.
    filled : ndarray of shape (n_frames, n_markers)
        True where a sample was filled.
    longest_gap_frames : int
        Length of the longest gap between two samples of a marker that was **not** filled; 0 where there is none.
    """

    markers_m: FloatArray
    filled: BoolArray
    longest_gap_frames: int


def runs(mask: ArrayLike) -> list[tuple[int, int]]:
    """Start and end (exclusive) of every run of true values.

    >>> runs([False, True, True, False, True])
    [(1, 3), (4, 5)]
    """
    steps = np.diff(np.concatenate([[False], np.asarray(mask, dtype=bool), [False]]).astype(np.int8))
    return [(int(a), int(b)) for a, b in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)]


def missing_samples(positions_m: FloatArray) -> BoolArray:
    """Where any coordinate is missing, shape (..., 3) -> (...); adding is much faster than looking along a short axis."""
    return np.isnan(positions_m[..., 0] + positions_m[..., 1] + positions_m[..., 2])


def lengths(vectors: FloatArray) -> FloatArray:
    """Lengths of vectors along the last axis, shape (..., k) -> (...)."""
    return np.asarray(np.sqrt(np.einsum("...i,...i", vectors, vectors)))


def fill_gaps(markers_m: FloatArray, *, rate_hz: float, max_gap_s: float, method: str = "cubic") -> Filled:
    """Fill gaps that have samples on both sides and are short enough; nothing is extrapolated.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where missing.
    rate_hz : float
        Frames per second.
    max_gap_s : float
        Longest gap that is filled, s: the missing frames over the rate.
    method : {"cubic", "pchip"}, optional
        Interpolation in time through the samples of the marker: cubic spline, or the shape-preserving one.

    Returns
    -------
    Filled
        Positions, which samples were filled, and the longest gap that was not.

    Notes
    -----
    The interpolation goes through the `NEIGHBOURS` nearest samples on both sides: what lies farther acts on a cubic
    spline by less than rounding, for its influence falls by 2 - sqrt(3) with every sample.
    """
    from scipy import interpolate  # here: its import takes longer than the work of a stage that does not need it

    positions = np.array(markers_m, dtype=float)
    missing = missing_samples(positions)
    filled = np.zeros_like(missing)
    longest = 0
    limit = max_gap_s * rate_hz + 1e-9
    for marker in np.flatnonzero(missing.any(axis=0) & ~missing.all(axis=0)):
        inner = [(a, b) for a, b in runs(missing[:, marker]) if a > 0 and b < len(positions)]
        gaps = [(a, b) for a, b in inner if b - a <= limit]
        longest = max([longest, *(b - a for a, b in inner if b - a > limit)])
        if not gaps:
            continue
        known = np.flatnonzero(~missing[:, marker])
        for start, stop in gaps:
            first, last = np.searchsorted(known, (start, stop))
            near = known[max(first - NEIGHBOURS, 0) : last + NEIGHBOURS]
            kind = interpolate.CubicSpline if method == "cubic" and near.size > 3 else interpolate.PchipInterpolator
            frames = np.arange(start, stop)
            positions[frames, marker] = kind(near, positions[near, marker], axis=0)(frames)
            filled[frames, marker] = True
    return Filled(positions, filled, longest)


def design_cutoff(cutoff_hz: float, *, rate_hz: float, order: int) -> float:
    """Cut-off at which one pass is designed so that two passes have a gain of 1/sqrt(2) at the stated one.

    Parameters
    ----------
    cutoff_hz : float
        Cut-off of the dual-pass filter, Hz.
    rate_hz : float
        Samples per second.
    order : int
        Order of one pass.

    Returns
    -------
    float
        Design cut-off of one pass, Hz.

    Raises
    ------
    SignalError
        The stated cut-off, or the design cut-off, is not below the Nyquist frequency.

    Notes
    -----
    ``tan(pi fd / fs) = tan(pi fc / fs) / (sqrt(2) - 1)^(1 / 2n)``, exact for the bilinear transform; the familiar
    factor 0.802 (Winter 2009, n = 2) applied to the frequency itself is its limit where fc is small against fs.

    Examples
    --------
    >>> round(design_cutoff(6.0, rate_hz=100.0, order=2), 4)
    7.4309
    """
    nyquist = rate_hz / 2.0
    if not 0.0 < cutoff_hz < nyquist:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz is not below the Nyquist frequency {nyquist:g} Hz of a recording at {rate_hz:g} Hz; "
            "lower filter.cutoff_hz"
        )
    warped = math.tan(math.pi * cutoff_hz / rate_hz) / (math.sqrt(2.0) - 1.0) ** (1.0 / (2 * order))
    design = math.atan(warped) * rate_hz / math.pi
    if design >= 0.999 * nyquist:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz needs a design cut-off of {design:.4g} Hz, too near the Nyquist frequency "
            f"{nyquist:g} Hz; lower filter.cutoff_hz or set filter.method to none"
        )
    return design


def filter_reach(cutoff_hz: float, *, rate_hz: float, order: int) -> int:
    """Frames over which the filter's answer to an end decays to a hundredth.

    Parameters
    ----------
    cutoff_hz, rate_hz, order
        As in `design_cutoff`.

    Notes
    -----
    The slowest pole of a Butterworth filter of order n decays as ``exp(-2 pi fd sin(pi / 2n) t)``.
    """
    slowest = 2.0 * math.pi * design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order) * math.sin(math.pi / (2 * order))
    return math.ceil(math.log(100.0) / slowest * rate_hz)


def low_pass(values: FloatArray, *, rate_hz: float, cutoff_hz: float, order: int = 2) -> FloatArray:
    """Zero-lag Butterworth low-pass filter, run forwards and backwards.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples.
    rate_hz : float
        Samples per second.
    cutoff_hz : float
        Frequency at which the gain of both passes together is 1/sqrt(2), Hz.
    order : int, optional
        Order of one pass.

    Returns
    -------
    ndarray of the shape of `values`
        Filtered signal.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist, or fewer frames than the filter needs.

    Notes
    -----
    Second-order sections; the ends are extended by point reflection over three times `filter_reach` frames, less
    where the signal is shorter. So the start of the filter has died down to 1e-6 where the signal begins, and a steady
    trend passes unchanged up to the ends.
    """
    from scipy import signal  # here for the same reason as in `fill_gaps`

    reach = filter_reach(cutoff_hz, rate_hz=rate_hz, order=order)
    if len(values) <= reach:
        raise SignalError(
            f"{len(values)} frames are fewer than a {cutoff_hz:g} Hz filter at {rate_hz:g} Hz needs ({reach + 1}); "
            "raise filter.cutoff_hz, or leave the trial out"
        )
    padding = min(3 * reach, len(values) - 1)
    return cast(FloatArray, signal.sosfiltfilt(_sections(cutoff_hz, rate_hz, order), values, axis=0, padlen=padding))


@functools.lru_cache(maxsize=64)
def _sections(cutoff_hz: float, rate_hz: float, order: int) -> FloatArray:
    from scipy import signal

    design = design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order)
    return cast(FloatArray, signal.butter(order, design, fs=rate_hz, output="sos"))


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
    ``accuracy / 2`` frames take the polynomial of the outermost samples and are less accurate; `differentiation_reach`
    tells how many they are.

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


@functools.cache
def _stencils(accuracy: int, derivative: int) -> FloatArray:
    """Weights for unit spacing: row k gives the derivative at sample k of ``accuracy + 1``, exact for polynomials."""
    offsets = np.arange(accuracy + 1)
    factorial = math.factorial(derivative)
    rows = []
    for k in offsets:
        powers = np.vander(offsets - float(k), increasing=True).T
        rows.append(np.linalg.solve(powers, np.eye(accuracy + 1)[derivative] * factorial))
    return np.array(rows)
