"""Lengths and moment arms of muscles: sampled, cut at discontinuities, fitted.

A muscle is sampled over the joints that it crosses. In published models a path may slip off a wrapping surface, and its moment
arm jumps, even to the opposite sign: the range of the muscle ends there. Or the length jumps while the moment arm is continuous: the moment arm is used, and the jump is reported. The length is then a cubic spline through values on a coarse grid, the form
``sampled`` of a muscle set; the moment arms are minus its slopes, so that lengths and arms agree exactly. The values come
from linear least squares on the samples of both. The grid is the coarsest that leaves an error of at most 0.1 mm rms in
the arms at samples that it was not fitted to, every other point of the grid.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import lstsq

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.opensim_models.joints import ModelJoint, moving_as_one
from limbtorque.muscles.opensim_models.model import OpenSimModel

STEP_DEG = 5.0
LINE_STEP_DEG = 2.5  # over one joint
MOST_POSTURES = 1200
NEGLIGIBLE_M = 1e-4
N_TRIED = 7
STEP_M = 8e-3  # of a moment arm between neighbours; arms that only bend step by 5 mm in Rajagopal et al. (2016)
STEEPEST_M = 0.1  # for a radian, where neighbours are more than 5 deg apart
JUMP_M = 5e-4
SPACINGS_DEG = (60.0, 45.0, 30.0, 20.0, 15.0, 10.0, 7.5)
GOOD_RMS_M = 1e-4
LENGTH_WEIGHT_PER_RAD = 0.1  # of an error of length beside one of a moment arm


@dataclass(frozen=True, eq=False)
class Samples:
    """Muscles that cross the same joints, sampled on a grid over these joints.

    Parameters
    ----------
    muscles : tuple of str
        The muscles.
    joints : tuple of str
        Joints that they cross, proximal first; the chain's others are at flexion 0.
    flexion_deg : tuple of ndarray of shape (n,)
        For each joint, the flexion of the grid's lines, rising.
    length_m : ndarray of shape (n_muscles, n of the first joint, ...)
        Length of muscle and tendon.
    arm_m : ndarray of shape (n_muscles, n_joints, n of the first joint, ...)
        Moment arms, positive where the muscle flexes the joint.
    """

    muscles: tuple[str, ...]
    joints: tuple[str, ...]
    flexion_deg: tuple[FloatArray, ...]
    length_m: FloatArray
    arm_m: FloatArray


def crossed_joints(model: OpenSimModel, joints: Sequence[ModelJoint]) -> dict[str, tuple[ModelJoint, ...]]:
    """Joints that each muscle crosses, with an arm above 0.1 mm somewhere.

    Parameters
    ----------
    model : OpenSimModel
        The model.
    joints : sequence of ModelJoint
        Joints of the chain.

    Returns
    -------
    dict of str to tuple of ModelJoint
        Only of muscles that cross one at least.

    Notes
    -----
    A muscle crosses a joint whose coordinate moves bodies of its path against each other. Its moment arm alone does not
    tell: OpenSim's iteration over a wrapping surface may leave an arm of a millimetre at a joint far from the muscle.
    """
    pairs = [
        (muscle, joint)
        for joint in joints
        for muscle, data in model.muscles.items()
        if not moving_as_one(model, joint, data.bodies[0], data.bodies).issuperset(data.bodies)
    ]
    largest = dict.fromkeys(((muscle, joint.name) for muscle, joint in pairs), 0.0)
    for k in range(N_TRIED):
        part = [(k / (N_TRIED - 1) + j / 3.0) % 1.0 if k else 0.5 for j in range(len(joints))]
        flexion = [low + p * (high - low) for p, (low, high) in zip(part, (q.range_deg for q in joints), strict=True)]
        model.pose(_values(joints, flexion))
        for muscle, joint in pairs:
            arm = abs(model.arm(muscle, joint.coordinate))
            largest[muscle, joint.name] = max(largest[muscle, joint.name], arm if np.isfinite(arm) else 1.0)
    crossed = {
        muscle: tuple(joint for of, joint in pairs if of == muscle and largest[of, joint.name] > NEGLIGIBLE_M)
        for muscle in model.muscles
    }
    return {muscle: of_muscle for muscle, of_muscle in crossed.items() if of_muscle}


def sample(model: OpenSimModel, crossed: Mapping[str, tuple[ModelJoint, ...]]) -> Iterator[Samples]:
    """Sample muscles over the joints that they cross.

    Parameters
    ----------
    model : OpenSimModel
        The model.
    crossed : mapping of str to tuple of ModelJoint
        From `crossed_joints`.

    Yields
    ------
    Samples
        For each combination of joints.

    Notes
    -----
    The grid is passed line by line, back and forth, so that a posture follows a near one: a path over a wrapping surface
    may depend on the one before.
    """
    for joints in dict.fromkeys(crossed.values()):
        muscles = tuple(muscle for muscle, of in crossed.items() if of == joints)
        lines = grid_lines(joints)
        shape = tuple(len(line) for line in lines)
        length, arm = np.empty((len(muscles), *shape)), np.empty((len(muscles), len(joints), *shape))
        for index in back_and_forth(shape):
            model.pose(_values(joints, [line[i] for line, i in zip(lines, index, strict=True)]))
            for m, muscle in enumerate(muscles):
                length[(m, *index)] = model.length(muscle)
                for j, joint in enumerate(joints):
                    arm[(m, j, *index)] = joint.sign * model.arm(muscle, joint.coordinate)
        yield Samples(muscles, tuple(joint.name for joint in joints), lines, length, arm)


def _values(joints: Sequence[ModelJoint], flexion_deg: Sequence[float]) -> dict[str, float]:
    return {joint.coordinate: joint.value_rad(float(q)) for joint, q in zip(joints, flexion_deg, strict=True)}


def grid_lines(joints: Sequence[ModelJoint]) -> tuple[FloatArray, ...]:
    """Grid values for each joint, at most 1200 points for two or more joints."""
    step = LINE_STEP_DEG if len(joints) == 1 else STEP_DEG
    while True:
        counts = [int(np.ceil((joint.range_deg[1] - joint.range_deg[0]) / step)) + 1 for joint in joints]
        if len(joints) == 1 or np.prod(counts) <= MOST_POSTURES:
            return tuple(np.linspace(*joint.range_deg, n) for joint, n in zip(joints, counts, strict=True))
        step *= 1.1


def back_and_forth(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Indices of a grid in an order in which successive points are neighbours.

    >>> list(back_and_forth((2, 3)))
    [(0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0)]
    """
    for outer in itertools.product(*(range(n) for n in shape[:-1])):
        position = int(np.ravel_multi_index(outer, shape[:-1])) if outer else 0
        line = range(shape[-1])
        yield from ((*outer, i) for i in (line[::-1] if position % 2 else line))


# --- breaks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Break:
    """A discontinuity of a muscle's path between two neighbouring samples.

    Parameters
    ----------
    muscle, joint : str
        Muscle, and the joint along which it breaks.
    size_m : float
        Step of the moment arm, or jump of the length.
    between_deg : pair of float
        Flexion of the joint before and after.
    """

    muscle: str
    joint: str
    size_m: float
    between_deg: tuple[float, float]


def unbroken(samples: Samples) -> Iterator[tuple[Samples, tuple[Break, ...]]]:
    """Divide a group of muscles: those without discontinuities, and the others, cut.

    Parameters
    ----------
    samples : Samples
        Muscles on a common grid.

    Yields
    ------
    samples : Samples
        Muscles on a common grid, which is smaller for one with a break: the part around flexion 0.
    breaks : tuple of Break
        Ends of its range that are breaks.
    """
    breaks = [_breaks(samples, m) for m in range(len(samples.muscles))]
    whole = [m for m, found in enumerate(breaks) if not found]
    if whole:
        yield _part(samples, whole, tuple(slice(None) for _ in samples.joints)), ()
    for m, found in enumerate(breaks):
        if found:
            yield _part(samples, [m], _inside(samples, found)), tuple(found)


def largest_jump(samples: Samples, m: int) -> Break | None:
    """Largest change of length between samples not explained by the moment arms.

    Parameters
    ----------
    samples : Samples
        The samples.
    m : int
        Index of the muscle.

    Returns
    -------
    Break or None
        None where it is 0.5 mm or less.
    """
    largest: Break | None = None
    for j, (joint, line) in enumerate(zip(samples.joints, samples.flexion_deg, strict=True)):
        length, arm = np.moveaxis(samples.length_m[m], j, -1), np.moveaxis(samples.arm_m[m, j], j, -1)
        off = np.diff(length) + (arm[..., 1:] + arm[..., :-1]) / 2 * np.diff(np.radians(line))
        by_pair = np.abs(off).reshape(-1, off.shape[-1]).max(axis=0)
        i, size = int(by_pair.argmax()), float(by_pair.max())
        if size > max(JUMP_M, largest.size_m if largest else 0.0):
            largest = Break(samples.muscles[m], joint, size, (float(line[i]), float(line[i + 1])))
    return largest


def _breaks(samples: Samples, m: int) -> list[Break]:
    """Cuts of a muscle's range until moment arms are continuous, least loss first."""
    found: list[Break] = []
    while True:
        part = _part(samples, [m], _inside(samples, found))
        cuts = [cut for j in range(len(part.joints)) for cut in _cuts(part, j)]
        if not cuts:
            return found
        found.append(min(cuts, key=lambda cut: cut[0])[1])


def _cuts(part: Samples, j: int) -> list[tuple[float, Break]]:
    """Cuts along a joint, each with the lost part of the range."""
    line = part.flexion_deg[j]
    change = np.abs(np.diff(np.moveaxis(part.arm_m[0], j + 1, -1), axis=-1))
    step = change.reshape(-1, len(line) - 1).max(axis=0) if len(line) > 1 else np.zeros(0)
    steep = np.flatnonzero(~(step <= np.maximum(STEP_M, STEEPEST_M * np.diff(np.radians(line)))))
    zero = int(np.abs(line).argmin())
    below, above = steep[steep < zero][-1:], steep[steep >= zero][:1]
    lost = [(i + 1) / len(line) for i in below] + [(len(line) - 1 - i) / len(line) for i in above]
    ends = [
        Break(part.muscles[0], part.joints[j], float(step[i]), (float(line[i]), float(line[i + 1])))
        for i in (*below, *above)
    ]
    return list(zip(lost, ends, strict=True))


def _inside(samples: Samples, breaks: list[Break]) -> tuple[slice, ...]:
    """Part of the grid between discontinuities."""
    parts = []
    for joint, line in zip(samples.joints, samples.flexion_deg, strict=True):
        between = [cut.between_deg for cut in breaks if cut.joint == joint]
        zero = float(line[np.abs(line).argmin()])
        low = max((after for _, after in between if after <= zero), default=float(line[0]))
        high = min((before for before, _ in between if before >= zero), default=float(line[-1]))
        parts.append(slice(int(np.searchsorted(line, low)), int(np.searchsorted(line, high)) + 1))
    return tuple(parts)


def _part(samples: Samples, muscles: list[int], inside: tuple[slice, ...]) -> Samples:
    return Samples(
        tuple(samples.muscles[m] for m in muscles),
        samples.joints,
        tuple(line[part] for line, part in zip(samples.flexion_deg, inside, strict=True)),
        samples.length_m[muscles][(slice(None), *inside)],
        samples.arm_m[muscles][(slice(None), slice(None), *inside)],
    )


# --- fits --------------------------------------------------------------------------------------------------------------


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
        values = lstsq(design, target.T, lapack_driver="gelsy", check_finite=False)[0].T
        for m in np.flatnonzero((best > GOOD_RMS_M) & (left_out < best)):
            best[m] = left_out[m]
            off = ((design @ values[m]) - target[m]).reshape(n_joints + 1, *shape)
            arms, length = dict(zip(samples.joints, off[1:], strict=True)), off[0] / LENGTH_WEIGHT_PER_RAD
            chosen[samples.muscles[m]] = LengthFit(
                joints=samples.joints,
                flexion_deg=knots,
                lengths_m=values[m].reshape([len(line) for line in knots]),
                arm_rms_m={joint: float(np.sqrt(np.mean(error**2))) for joint, error in arms.items()},
                arm_max_m={joint: float(np.abs(error).max()) for joint, error in arms.items()},
                arm_max_at_deg={joint: _place(samples, error) for joint, error in arms.items()},
                length_max_m=float(np.abs(length).max()),
                length_max_at_deg=_place(samples, length),
                left_out_rms_m=float(left_out[m]),
            )
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
    """Matrix from values at the knots to weighted lengths and moment arms on a grid.

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
    blocks = [LENGTH_WEIGHT_PER_RAD * functools.reduce(np.kron, value)]
    blocks += [-functools.reduce(np.kron, [*value[:j], slope[j], *value[j + 1 :]]) for j in range(len(splines))]
    return np.concatenate(blocks)


def _left_out_rms(design: FloatArray, target: FloatArray, half: BoolArray, n_joints: int) -> FloatArray:
    """Largest rms moment-arm error of each muscle at the samples left out."""
    values = lstsq(design[half], target[:, half].T, lapack_driver="gelsy", check_finite=False)[0]
    off = np.where(half[:, None], np.nan, design @ values - target.T).reshape(n_joints + 1, -1, len(target))
    return np.asarray(np.sqrt(np.nanmean(off[1:] ** 2, axis=1)).max(axis=0))


def _place(samples: Samples, error: FloatArray) -> tuple[float, ...]:
    index = np.unravel_index(int(np.abs(error).argmax()), error.shape)
    return tuple(float(line[i]) for line, i in zip(samples.flexion_deg, index, strict=True))
