"""Smooth curves over the flexion of one joint or several: piecewise polynomials.

A curve is stored in powers of flexion minus the origin of its piece, for several joints as a tensor product, so that
value, derivative and integral are exact. Its values may be moment arms or lengths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray

Range: TypeAlias = tuple[float, float]

EVERYWHERE: Range = (-math.inf, math.inf)


@dataclass(frozen=True, eq=False)
class Curve:
    """Piecewise polynomial of the flexion of one joint or several.

    Parameters
    ----------
    joints : tuple of str
        Joints whose flexion it depends on.
    range_rad : tuple of pairs of float
        Range of flexion for each joint; may be infinite.
    breaks_rad : tuple of ndarray of shape (n_pieces - 1,)
        For each joint, the flexion between one piece and the next.
    origins_rad : tuple of ndarray of shape (n_pieces,)
        For each joint, the origin of each piece's powers.
    coefficients : ndarray of shape (n_pieces of each joint ..., n_powers of each joint ...)
        Coefficients of rising powers of flexion minus origin; [i, j, k, l] for two joints is the coefficient of
        (q1 - o1_i)^k (q2 - o2_j)^l.
    """

    joints: tuple[str, ...]
    range_rad: tuple[Range, ...]
    breaks_rad: tuple[FloatArray, ...]
    origins_rad: tuple[FloatArray, ...]
    coefficients: FloatArray

    @property
    def is_zero(self) -> bool:
        """True if the curve is zero everywhere."""
        return not self.coefficients.any()


def constant(value: float, *, joint: str) -> Curve:
    """Build a constant curve of a joint."""
    return polynomial([value], joints=[joint], range_rad=[EVERYWHERE])


def polynomial(coefficients: ArrayLike, *, joints: Sequence[str], range_rad: Sequence[Range]) -> Curve:
    """Build a curve of one polynomial.

    Parameters
    ----------
    coefficients : array_like with one axis a joint
        [i, j, ...] is the coefficient of q1^i q2^j ..., flexion in radians.
    joints : sequence of str
        Joints whose flexion it depends on.
    range_rad : sequence of pairs of float
        Range of flexion for each joint.

    Returns
    -------
    Curve
    """
    powers = np.array(coefficients, dtype=float)
    n = len(joints)
    return Curve(
        tuple(joints), tuple(range_rad), (np.zeros(0),) * n, (np.zeros(1),) * n, powers.reshape((1,) * n + powers.shape)
    )


def shape_preserving_spline(knots_rad: ArrayLike, values: ArrayLike, *, joint: str, range_rad: Range) -> Curve:
    """Build a cubic spline of one joint without overshoot between its knots.

    Parameters
    ----------
    knots_rad : array_like of shape (n_knots,)
        Flexion at the knots, rising; at least two.
    values : array_like of shape (n_knots,)
        Value at each knot.
    joint : str
        Joint whose flexion it depends on.
    range_rad : pair of float
        Range of flexion, within the knots.

    Returns
    -------
    Curve

    Notes
    -----
    Slopes after Fritsch F.N., Carlson R.E. (1980) SIAM J Numer Anal 17:238-246, with the weighted harmonic mean of
    Fritsch and Butland (1984). The slope is continuous, the bend is not. SciPy's ``PchipInterpolator`` gives the same, but
    its import takes longer than all else that the start of a run needs.
    """
    knots, value = np.array(knots_rad, dtype=float), np.array(values, dtype=float)
    width = np.diff(knots)
    chord = np.diff(value) / width
    slope = _knot_slopes(width, chord) if len(chord) > 1 else np.repeat(chord, 2)
    # each piece: value + slope t + bend t^2 + twist t^3
    bend = (3.0 * chord - 2.0 * slope[:-1] - slope[1:]) / width
    twist = (slope[:-1] + slope[1:] - 2.0 * chord) / width**2
    powers = np.stack([value[:-1], slope[:-1], bend, twist], axis=1)
    return Curve((joint,), (range_rad,), (knots[1:-1],), (knots[:-1],), powers)


def _knot_slopes(width: FloatArray, chord: FloatArray) -> FloatArray:
    """Slopes at three or more knots, from widths and slopes of the pieces."""
    slope = np.zeros(len(chord) + 1)
    # weighted harmonic mean of both chords; 0 at a turning point
    before, after = 2.0 * width[1:] + width[:-1], width[1:] + 2.0 * width[:-1]
    rising = np.flatnonzero(chord[:-1] * chord[1:] > 0.0)
    mean = before[rising] / chord[:-1][rising] + after[rising] / chord[1:][rising]
    slope[1:-1][rising] = (before + after)[rising] / mean
    # at the ends the slope of a parabola through three points, limited to preserve the shape
    for end, order in ((0, slice(None)), (-1, slice(None, None, -1))):
        (near, far), (first, second) = width[order][:2], chord[order][:2]
        steep = ((2.0 * near + far) * first - near * second) / (near + far)
        limited = np.sign(first) * min(abs(steep), 3.0 * abs(first)) if first * second < 0.0 else steep
        slope[end] = limited if steep * first > 0.0 else 0.0
    return slope


def interpolating_spline(knots_rad: Sequence[ArrayLike], values: ArrayLike, *, joints: Sequence[str]) -> Curve:
    """Build a cubic spline through values on a grid, smooth to the second derivative.

    Parameters
    ----------
    knots_rad : sequence of array_like of shape (n_knots,)
        For each joint, the flexion of the grid's lines, rising; at least two.
    values : array_like of shape (n_knots of the first joint, n_knots of the second, ...)
        Value at each point of the grid.
    joints : sequence of str
        Joints whose flexion it depends on.

    Returns
    -------
    Curve
        Its range is the grid's.

    Notes
    -----
    Tensor product of SciPy's ``CubicSpline`` with the not-a-knot condition; a straight line through two and a parabola
    through three points. Unlike `shape_preserving_spline` it may overshoot where the values turn sharply.
    """
    from scipy.interpolate import CubicSpline  # a slow import that most stages do not need

    n = len(joints)
    knots = [np.array(line, dtype=float) for line in knots_rad]
    powers = np.array(values, dtype=float)
    for line in knots:  # finished joints are the last axes, each as (piece, power)
        powers = np.moveaxis(CubicSpline(line, powers, axis=0).c[::-1], (0, 1), (-1, -2))
    pieces_first = [*range(0, 2 * n, 2), *range(1, 2 * n, 2)]
    return Curve(
        tuple(joints),
        tuple((float(line[0]), float(line[-1])) for line in knots),
        tuple(line[1:-1] for line in knots),
        tuple(line[:-1] for line in knots),
        np.ascontiguousarray(np.transpose(powers, pieces_first)),
    )


def evaluate(curve: Curve, flexion_rad: Sequence[ArrayLike]) -> FloatArray:
    """Evaluate a curve; constant outside its range.

    Parameters
    ----------
    curve : Curve
        The curve.
    flexion_rad : sequence of array_like of the same shape, one for each of the curve's joints
        Flexion.

    Returns
    -------
    ndarray
        Value at each flexion; NaN where one of them is NaN.

    Examples
    --------
    >>> curve = polynomial([0.02, 0.01], joints=["elbow"], range_rad=[(0.0, 1.5)])
    >>> evaluate(curve, [[0.5, 9.0]]).round(4).tolist()
    [0.025, 0.035]
    """
    angles = [np.clip(np.asarray(q, dtype=float), *ends) for q, ends in zip(flexion_rad, curve.range_rad, strict=True)]
    pieces = tuple(np.searchsorted(breaks, q) for breaks, q in zip(curve.breaks_rad, angles, strict=True))
    value = curve.coefficients[pieces]
    for q, piece, origins in zip(angles[::-1], pieces[::-1], curve.origins_rad[::-1], strict=True):
        value = _horner(value, q - origins[piece])
    gaps = np.isnan(np.sum(angles, axis=0))
    return np.where(gaps, np.nan, value)


def _horner(powers: FloatArray, offset: FloatArray) -> FloatArray:
    """Sum powers [..., k] offset^k over the last axis, which the offset lacks."""
    along = offset.reshape(offset.shape + (1,) * (powers.ndim - 1 - offset.ndim))
    value = powers[..., -1]
    for k in range(powers.shape[-1] - 2, -1, -1):
        value = value * along + powers[..., k]
    return value


def evaluate_linear(curve: Curve, flexion_rad: Sequence[ArrayLike]) -> FloatArray:
    """Evaluate a curve, extrapolated linearly outside its range.

    Parameters
    ----------
    curve, flexion_rad
        As for `evaluate`.

    Returns
    -------
    ndarray
        Value at each flexion; NaN where one of them is NaN.
    """
    value = evaluate(curve, flexion_rad)
    for joint, q, ends in zip(curve.joints, flexion_rad, curve.range_rad, strict=True):
        beyond = np.asarray(q, dtype=float) - np.clip(q, *ends)
        if beyond.any():
            value = value + np.where(beyond == 0, 0.0, beyond) * evaluate(derivative(curve, joint), flexion_rad)
    return value


def derivative(curve: Curve, joint: str) -> Curve:
    """Derivative of a curve with respect to the flexion of one of its joints, exact.

    Parameters
    ----------
    curve : Curve
        The curve.
    joint : str
        One of its joints; for any other the derivative is zero.

    Returns
    -------
    Curve
        [unit of the curve / rad]
    """
    if joint not in curve.joints:
        return replace(curve, coefficients=np.zeros_like(curve.coefficients))
    axis = len(curve.joints) + curve.joints.index(joint)
    powers = np.moveaxis(curve.coefficients, axis, -1)
    n = powers.shape[-1]
    slopes = powers[..., 1:] * np.arange(1.0, n) if n > 1 else np.zeros_like(powers)
    return replace(curve, coefficients=np.moveaxis(slopes, -1, axis))


def times(curve: Curve, factor: float) -> Curve:
    """Curve scaled by a factor."""
    return replace(curve, coefficients=factor * curve.coefficients)


def extended(curve: Curve, *, linear: bool = False) -> Curve:
    """Curve of one joint, extended beyond its range by added pieces.

    Parameters
    ----------
    curve : Curve
        Curve of one joint.
    linear : bool, optional
        Continue linearly with the slope of the range's end; otherwise with its value.

    Returns
    -------
    Curve
        With an infinite range.
    """
    (low, high), breaks, origins = curve.range_rad[0], curve.breaks_rad[0], curve.origins_rad[0]
    first, last = int(np.searchsorted(breaks, low, side="right")), int(np.searchsorted(breaks, high, side="left"))
    new_breaks, new_origins = list(breaks[first:last]), list(origins[first : last + 1])
    n_powers = max(curve.coefficients.shape[1], 2 if linear else 1)
    rows = [_padded(row, n_powers) for row in curve.coefficients[first : last + 1]]
    slope = derivative(curve, curve.joints[0])
    for end, at in ((low, 0), (high, len(rows))):
        if math.isfinite(end):
            line = [float(evaluate(curve, [end])), float(evaluate(slope, [end]))]
            rows.insert(at if at == 0 else len(rows), _padded(np.array(line[: 2 if linear else 1]), n_powers))
            new_breaks.insert(0 if at == 0 else len(new_breaks), end)
            new_origins.insert(0 if at == 0 else len(new_origins), end)
    return Curve(curve.joints, (EVERYWHERE,), (np.array(new_breaks),), (np.array(new_origins),), np.array(rows))


def _padded(powers: FloatArray, n_powers: int) -> FloatArray:
    return np.concatenate([powers, np.zeros(n_powers - len(powers))])


def integral(curve: Curve) -> Curve:
    """Exact integral of a one-joint curve from flexion 0; constant beyond the range.

    Parameters
    ----------
    curve : Curve
        Curve of one joint.

    Returns
    -------
    Curve
        [unit of the curve times rad], with an infinite range.
    """
    whole = extended(curve)
    breaks, origins = whole.breaks_rad[0], whole.origins_rad[0]
    n_powers = whole.coefficients.shape[1]
    powers = np.hstack([np.zeros((len(origins), 1)), whole.coefficients / np.arange(1.0, n_powers + 1)])
    for i, at in enumerate(breaks):  # each piece starts where the one before ends
        ends = _horner(powers[i : i + 2], at - origins[i : i + 2])
        powers[i + 1, 0] += ends[0] - ends[1]
    zero = int(np.searchsorted(breaks, 0.0))
    powers[:, 0] -= _horner(powers[zero], -origins[zero])
    return replace(whole, coefficients=powers)


@dataclass(frozen=True, eq=False)
class Bundle:
    """Curves of the same joint on common pieces, evaluated together.

    Parameters
    ----------
    breaks_rad : ndarray of shape (n_pieces - 1,)
        Flexion between one piece and the next.
    origins_rad : ndarray of shape (n_pieces,)
        Origin of each piece's powers.
    coefficients : ndarray of shape (n_powers, n_curves, n_pieces)
        Coefficients of rising powers of flexion minus origin.
    """

    breaks_rad: FloatArray
    origins_rad: FloatArray
    coefficients: FloatArray


def bundle(curves: Sequence[Curve]) -> Bundle:
    """Put curves of one joint on common pieces.

    Parameters
    ----------
    curves : sequence of Curve
        Curves of the same joint, with infinite ranges (see `extended`); at least one.

    Returns
    -------
    Bundle
    """
    breaks = np.unique(np.concatenate([curve.breaks_rad[0] for curve in curves]))
    origins = np.concatenate([breaks[:1], breaks]) if breaks.size else np.zeros(1)
    inside = np.concatenate([origins[:1] - 1.0, (breaks[:-1] + breaks[1:]) / 2, breaks[-1:] + 1.0])[: len(origins)]
    n_powers = max(curve.coefficients.shape[1] for curve in curves)
    powers = np.zeros((n_powers, len(curves), len(origins)))
    for c, curve in enumerate(curves):
        piece = np.searchsorted(curve.breaks_rad[0], inside)
        rows = _moved(curve.coefficients[piece].T, origins - curve.origins_rad[0][piece])
        powers[: len(rows), c] = rows
    return Bundle(breaks, origins, powers)


def _moved(powers: FloatArray, by: FloatArray) -> FloatArray:
    """Polynomial coefficients (n_powers, n_pieces) about origins moved up by `by`."""
    n = len(powers)
    moved = np.zeros_like(powers)
    for j in range(n):
        for k in range(n - 1, j - 1, -1):
            moved[j] = moved[j] * by + math.comb(k, j) * powers[k]
    return moved


def evaluate_bundle(curves: Bundle, flexion_rad: FloatArray) -> FloatArray:
    """Evaluate all curves of a bundle.

    Parameters
    ----------
    curves : Bundle
        The curves.
    flexion_rad : ndarray of shape (n_frames,)
        Flexion of their joint.

    Returns
    -------
    ndarray of shape (n_curves, n_frames)
        Values; NaN where the flexion is not finite.
    """
    piece = np.searchsorted(curves.breaks_rad, flexion_rad)
    if piece.size and (piece == piece[0]).all():
        powers, offset = curves.coefficients[..., piece[0], None], flexion_rad - curves.origins_rad[piece[0]]
    else:
        powers, offset = np.take(curves.coefficients, piece, axis=-1), flexion_rad - curves.origins_rad[piece]
    value = np.empty((powers.shape[1], len(flexion_rad)))
    value[...] = powers[-1]
    for power in powers[-2::-1]:
        value *= offset
        value += power
    if len(powers) == 1:
        value[:, ~np.isfinite(flexion_rad)] = np.nan
    return value
