"""Fit a muscle's length over several joints to sampled lengths and moment arms.

The length is a cubic spline through values on a coarse grid, the form ``sampled`` of a muscle set; the moment arms are
minus its slopes, so that lengths and arms agree exactly. The values come from linear least squares on the samples of
both. The grid is the coarsest that leaves an error of at most 0.1 mm rms in the arms at samples that it was not fitted
to, every other point of the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import lstsq

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.opensim_models.sampling import Samples

SPACINGS_DEG = (60.0, 45.0, 30.0, 20.0, 15.0, 10.0, 7.5)
GOOD_RMS_M = 1e-4
LENGTH_WEIGHT_PER_RAD = 0.1  # of an error of length beside one of a moment arm


@dataclass(frozen=True, eq=False)
class LengthFit:
    """Fitted length of a muscle, and the errors of the fit.

    Parameters
    ----------
    joints : tuple of str
        Joints that the length depends on.
    flexion_deg : tuple of ndarray of shape (n,)
        For each joint, the flexion of the lines of values.
    lengths_m : ndarray of shape (n of the first joint, ...)
        Values.
    arm_rms_m, arm_max_m : dict of str to float
        Error of the moment arm at each joint over all samples, root of the mean square and largest.
    arm_max_at_deg : dict of str to tuple of float
        Flexion of the joints at the largest error.
    length_max_m : float
        Largest error of the length.
    length_max_at_deg : tuple of float
        Flexion of the joints there.
    left_out_rms_m : float
        Largest rms error of an arm at samples that the fit to the others did not have.
    """

    joints: tuple[str, ...]
    flexion_deg: tuple[FloatArray, ...]
    lengths_m: FloatArray
    arm_rms_m: dict[str, float]
    arm_max_m: dict[str, float]
    arm_max_at_deg: dict[str, tuple[float, ...]]
    length_max_m: float
    length_max_at_deg: tuple[float, ...]
    left_out_rms_m: float


def fit_lengths(samples: Samples) -> dict[str, LengthFit]:
    """Fit the length of every muscle of a group.

    Parameters
    ----------
    samples : Samples
        Lengths and moment arms on a grid, all finite.

    Returns
    -------
    dict of str to LengthFit
        For each muscle.
    """
    n_muscles, n_joints = samples.arm_m.shape[:2]
    shape = samples.length_m.shape[1:]
    target = np.concatenate([LENGTH_WEIGHT_PER_RAD * samples.length_m[:, None], samples.arm_m], axis=1).reshape(
        n_muscles, -1
    )
    half = np.broadcast_to(np.indices(shape).sum(axis=0) % 2 == 0, (n_joints + 1, *shape)).reshape(-1)
    chosen: dict[str, LengthFit] = {}
    best = np.full(n_muscles, np.inf)
    for knots in knot_grids(samples.flexion_deg):
        design = design_matrix(knots, samples.flexion_deg)
        left_out = _left_out_rms(design, target, half, n_joints)
        values = _least_squares(design, target.T).T
        for m in np.flatnonzero((best > GOOD_RMS_M) & (left_out < best)):
            best[m] = left_out[m]
            off = ((design @ values[m]) - target[m]).reshape(n_joints + 1, *shape)
            chosen[samples.muscles[m]] = _described(samples, knots, values[m], off, float(left_out[m]))
        if (best <= GOOD_RMS_M).all():
            break
    return chosen


def knot_grids(flexion_deg: Sequence[FloatArray]) -> list[tuple[FloatArray, ...]]:
    """Grids of knots, coarse ones first, none finer than half of the samples."""
    grids: list[tuple[FloatArray, ...]] = []
    for spacing in SPACINGS_DEG:
        counts = [max(int(np.ceil((line[-1] - line[0]) / spacing)) + 1, 3) for line in flexion_deg]
        counts = [min(n, max((len(line) + 1) // 2, 2)) for n, line in zip(counts, flexion_deg, strict=True)]
        if not grids or counts != [len(line) for line in grids[-1]]:
            grids.append(tuple(np.linspace(line[0], line[-1], n) for n, line in zip(counts, flexion_deg, strict=True)))
    return grids


def design_matrix(knots_deg: Sequence[FloatArray], flexion_deg: Sequence[FloatArray]) -> FloatArray:
    """Weighted length, and arms, at a grid's points from values at the knots.

    Parameters
    ----------
    knots_deg, flexion_deg : sequence of ndarray of shape (n,)
        For each joint, the lines of both grids.

    Returns
    -------
    ndarray of shape ((1 + n_joints) * n_points, n_values)
        One block of rows for the length, then one for the arm at each joint.
    """
    splines = [CubicSpline(np.radians(line), np.eye(len(line))) for line in knots_deg]
    at = [np.radians(line) for line in flexion_deg]
    value = [spline(q) for spline, q in zip(splines, at, strict=True)]
    slope = [spline(q, 1) for spline, q in zip(splines, at, strict=True)]
    blocks = [LENGTH_WEIGHT_PER_RAD * _product(value)]
    blocks += [-_product([*value[:j], slope[j], *value[j + 1 :]]) for j in range(len(splines))]
    return np.concatenate(blocks)


def _product(factors: Sequence[FloatArray]) -> FloatArray:
    whole = factors[0]
    for factor in factors[1:]:
        whole = np.asarray(np.kron(whole, factor), dtype=float)
    return whole


def _least_squares(design: FloatArray, target: FloatArray) -> FloatArray:
    return np.asarray(lstsq(design, target, lapack_driver="gelsy", check_finite=False)[0])


def _left_out_rms(design: FloatArray, target: FloatArray, half: BoolArray, n_joints: int) -> FloatArray:
    """Largest rms error of an arm of each muscle at the samples left out."""
    values = _least_squares(design[half], target[:, half].T)
    off = np.where(half[:, None], np.nan, design @ values - target.T).reshape(n_joints + 1, -1, len(target))
    return np.asarray(np.sqrt(np.nanmean(off[1:] ** 2, axis=1)).max(axis=0))


def _described(
    samples: Samples, knots: tuple[FloatArray, ...], values: FloatArray, off: FloatArray, left_out: float
) -> LengthFit:
    arms = dict(zip(samples.joints, off[1:], strict=True))
    length = off[0] / LENGTH_WEIGHT_PER_RAD
    return LengthFit(
        joints=samples.joints,
        flexion_deg=knots,
        lengths_m=values.reshape([len(line) for line in knots]),
        arm_rms_m={joint: float(np.sqrt(np.mean(error**2))) for joint, error in arms.items()},
        arm_max_m={joint: float(np.abs(error).max()) for joint, error in arms.items()},
        arm_max_at_deg={joint: _place(samples, error) for joint, error in arms.items()},
        length_max_m=float(np.abs(length).max()),
        length_max_at_deg=_place(samples, length),
        left_out_rms_m=left_out,
    )


def _place(samples: Samples, error: FloatArray) -> tuple[float, ...]:
    index = np.unravel_index(int(np.abs(error).argmax()), error.shape)
    return tuple(float(line[i]) for line, i in zip(samples.flexion_deg, index, strict=True))
