"""Moment arms, lengths and velocities of muscles over the frames of a trial."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.muscles.sets.moment_arm_curves import (
    EVERYWHERE,
    Bundle,
    Curve,
    bundle,
    evaluate,
    evaluate_bundle,
    evaluate_linear,
    extended,
)
from limbtorque.muscles.sets.muscle_set import MuscleSet

Counts = NDArray[np.intp]
_Placed: TypeAlias = tuple[int | None, int, Curve]  # column of the arm's joint, or None for a length; muscle; curve


@dataclass(frozen=True, eq=False)
class Musculotendon:
    """Moment arms, lengths and velocities over the frames of a trial.

    Parameters
    ----------
    moment_arm_m : ndarray of shape (n_frames, n_joints, n_muscles)
        Positive flexes. NaN where the joint's angle is NaN, or that of another joint on which the arm depends.
    length_m : ndarray of shape (n_frames, n_muscles)
        Length of muscle and tendon. NaN where the source does not give it, or the angle of a joint that it depends on
        is NaN.
    velocity_m_s : ndarray of shape (n_frames, n_muscles)
        Positive lengthens. NaN where an angle or a velocity that it depends on is NaN, for a muscle that crosses a joint
        that was not sampled, and everywhere without velocities.
    out_of_range : ndarray of bool of shape (n_frames, n_joints)
        Frames with a muscle's arm outside its sampled range, held at the value of the range's end.
    muscle_out_of_range : ndarray of bool of shape (n_frames, n_muscles)
        Frames with an arm of the muscle outside its sampled range.
    """

    moment_arm_m: FloatArray
    length_m: FloatArray
    velocity_m_s: FloatArray
    out_of_range: BoolArray
    muscle_out_of_range: BoolArray


def musculotendon(
    muscle_set: MuscleSet,
    flexion_rad: ArrayLike,
    *,
    velocity_rad_s: ArrayLike | None = None,
    joints: Sequence[str] | None = None,
) -> Musculotendon:
    """Moment arms, lengths and velocities of every muscle at every frame.

    Parameters
    ----------
    muscle_set : MuscleSet
        The muscles.
    flexion_rad : array_like of shape (n_frames, n_joints)
        Flexion of each joint, as the set defines it.
    velocity_rad_s : array_like of shape (n_frames, n_joints), optional
        Its rate of change; without it the velocities of the muscles are NaN.
    joints : sequence of str, optional
        Joints of the columns of `flexion_rad`; the set's own by default. The set's other joints are at flexion 0.

    Returns
    -------
    Musculotendon

    Raises
    ------
    SettingsError
        A joint that the set does not have.
    ValueError
        Arrays that do not fit the joints.

    Notes
    -----
    v = dL/dt = -sum over the joints of r_j dq_j/dt, since r_j = -dL/dq_j. Outside the range of its samples a moment arm
    has the value of the range's end, and the length continues linearly with that slope; such frames are marked.

    Examples
    --------
    >>> from limbtorque.muscles.sets.muscle_set import load_muscle_set
    >>> muscles = musculotendon(load_muscle_set("arm"), [[0.3, 1.5]], joints=["shoulder", "elbow"])
    >>> muscles.moment_arm_m.shape, muscles.length_m.shape, muscles.out_of_range.tolist()
    ((1, 2, 19), (1, 19), [[False, False]])
    """
    names = muscle_set.joints if joints is None else tuple(joints)
    flexion = _columns("flexion_rad", flexion_rad, names)
    plan = _plan(muscle_set, names)
    n_frames = len(flexion)
    arm = np.repeat(plan.fixed_arm_m[..., None], n_frames, axis=2)
    length = np.repeat(plan.fixed_length_m[:, None], n_frames, axis=1)
    for alone in plan.alone:
        values = evaluate_bundle(alone.curves, np.ascontiguousarray(flexion[:, alone.column]))
        n_arms = len(alone.arm_muscle)
        arm[alone.arm_joint, alone.arm_muscle] = values[:n_arms]
        length[alone.length_muscle] += values[n_arms:]
    for mixed in plan.mixed:
        angles = [np.zeros(n_frames) if column is None else flexion[:, column] for column in mixed.columns]
        if mixed.joint is None:
            length[mixed.muscle] += evaluate_linear(mixed.curve, angles)
        else:
            arm[mixed.joint, mixed.muscle] = evaluate(mixed.curve, angles)
    velocity = _velocity(plan, arm, velocity_rad_s, names, n_frames)
    for j, gaps in enumerate(np.isnan(flexion).T):
        if gaps.any():
            arm[j][:, gaps] = np.nan
    outside, muscle_outside = _out_of_range(plan, flexion)
    return Musculotendon(np.transpose(arm, (2, 0, 1)), length.T, velocity.T, outside, muscle_outside.T)


def _columns(argument: str, values: ArrayLike, names: tuple[str, ...]) -> FloatArray:
    columns = np.asarray(values, dtype=float)
    if columns.ndim != 2 or columns.shape[1] != len(names):
        raise ValueError(
            f"{argument} has shape {columns.shape}, expected (n_frames, {len(names)}): one column for each joint"
        )
    return columns


def _velocity(
    plan: _Plan, arm: FloatArray, velocity_rad_s: ArrayLike | None, names: tuple[str, ...], n_frames: int
) -> FloatArray:
    """Velocity of each muscle, shape (n_muscles, n_frames)."""
    if velocity_rad_s is None:
        return np.full((len(plan.velocity_known), n_frames), np.nan)
    rate = np.ascontiguousarray(_columns("velocity_rad_s", velocity_rad_s, names).T)
    if rate.shape[1] != n_frames:
        raise ValueError(f"velocity_rad_s has {rate.shape[1]} frames, flexion_rad {n_frames}; expected the same")
    gaps = np.isnan(rate)
    has_gaps = bool(gaps.any())
    if has_gaps:
        rate = np.where(gaps, 0.0, rate)
    velocity = np.asarray(-np.einsum("jmf,jf->mf", arm, rate))
    if has_gaps:
        velocity[(plan.crosses[..., None] & gaps[:, None]).any(axis=0)] = np.nan
    velocity[~plan.velocity_known] = np.nan
    return velocity


def _out_of_range(plan: _Plan, flexion: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Masks of frames outside a range: (n_frames, n_joints) and (n_muscles, n_frames)."""
    low, high = plan.narrowest_rad
    outside = (flexion < low) | (flexion > high)
    muscles = np.repeat(plan.always_out[:, None], len(flexion), axis=1)
    for j in np.flatnonzero(outside.any(axis=0)):
        angle = flexion[:, j]
        muscles |= (angle < plan.low_rad[j, :, None]) | (angle > plan.high_rad[j, :, None])
    return outside, muscles


@dataclass(frozen=True, eq=False)
class _Alone:
    """Curves that depend on a single joint: moment arms, then lengths."""

    column: int
    curves: Bundle
    arm_joint: Counts
    arm_muscle: Counts
    length_muscle: Counts


@dataclass(frozen=True, eq=False)
class _Mixed:
    """Curve of several joints; joint None means a length, column None flexion 0."""

    curve: Curve
    columns: tuple[int | None, ...]
    joint: int | None
    muscle: int


@dataclass(frozen=True, eq=False)
class _Plan:
    """Curves and ranges of a set for given joints; axes are joints, then muscles."""

    fixed_arm_m: FloatArray
    fixed_length_m: FloatArray
    alone: tuple[_Alone, ...]
    mixed: tuple[_Mixed, ...]
    low_rad: FloatArray
    high_rad: FloatArray
    always_out: BoolArray
    crosses: BoolArray
    velocity_known: BoolArray

    @functools.cached_property
    def narrowest_rad(self) -> tuple[FloatArray, FloatArray]:
        """Flexion range of each joint that is valid for all its muscles."""
        return self.low_rad.max(axis=1, initial=-np.inf), self.high_rad.min(axis=1, initial=np.inf)


@functools.lru_cache(maxsize=64)
def _plan(muscle_set: MuscleSet, names: tuple[str, ...]) -> _Plan:
    for name in names:
        if name not in muscle_set.joints:
            known = ", ".join(muscle_set.joints)
            near = did_you_mean(name, muscle_set.joints)
            raise SettingsError(f"muscle set '{muscle_set.name}' has no joint '{name}'{near}; it has {known}")
    column = {name: j for j, name in enumerate(names)}
    curves: list[_Placed] = [
        (column[name], m, muscle.moment_arms[name].curve)
        for m, muscle in enumerate(muscle_set.muscles)
        for name in names
        if not muscle.moment_arms[name].is_zero
    ]
    for m, muscle in enumerate(muscle_set.muscles):
        curves += [(None, m, curve) for curve in (muscle.length.curves if muscle.length else ())]
    # offsets of lengths, and curves of one joint that is held at flexion 0
    fixed_arm = np.zeros((len(column), len(muscle_set.muscles)))
    fixed_length = np.array([muscle.length.offset_m if muscle.length else np.nan for muscle in muscle_set.muscles])
    for j, m, curve in curves:
        if len(curve.joints) == 1 and curve.joints[0] not in column:
            if j is None:
                fixed_length[m] += evaluate_linear(curve, [0.0])
            else:
                fixed_arm[j, m] = evaluate(curve, [0.0])
    low, high, always = _limits(muscle_set, names)
    return _Plan(
        fixed_arm,
        fixed_length,
        tuple(alone for name, j in column.items() if (alone := _alone(name, j, curves))),
        tuple(_Mixed(c, tuple(column.get(q) for q in c.joints), j, m) for j, m, c in curves if len(c.joints) > 1),
        low,
        high,
        always,
        np.array([[name in muscle.crosses for muscle in muscle_set.muscles] for name in names], dtype=bool),
        np.array([muscle.velocity_known for muscle in muscle_set.muscles], dtype=bool),
    )


def _alone(name: str, column: int, curves: list[_Placed]) -> _Alone | None:
    here = [(j, m, extended(curve, linear=j is None)) for j, m, curve in curves if curve.joints == (name,)]
    if not here:
        return None
    return _Alone(
        column,
        bundle([curve for _, _, curve in here]),
        np.array([j for j, _, _ in here if j is not None], dtype=np.intp),
        np.array([m for j, m, _ in here if j is not None], dtype=np.intp),
        np.array([m for j, m, _ in here if j is None], dtype=np.intp),
    )


def _limits(muscle_set: MuscleSet, names: tuple[str, ...]) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Range limits of joints and muscles; muscles invalid at another joint's zero."""
    ranges = [muscle.range_rad for muscle in muscle_set.muscles]
    ends = np.array([[found.get(name, EVERYWHERE) for found in ranges] for name in names], dtype=float)
    ends = ends.reshape(len(names), len(ranges), 2)
    always = [
        any(not low <= 0.0 <= high for name, (low, high) in found.items() if name not in names) for found in ranges
    ]
    return ends[..., 0], ends[..., 1], np.array(always, dtype=bool)
