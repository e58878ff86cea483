"""Uncertainty of muscle forces: static optimization of every sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.objective import Problem, least_cost_forces
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.study.options.muscles import Muscles
from limbtorque.study.options.uncertainty import Uncertainty
from limbtorque.tables.summary_columns import SAMPLED_FORCES
from limbtorque.uncertainty.propagation import TrialErrors
from limbtorque.uncertainty.random_numbers import Draw, sobol_normal
from limbtorque.uncertainty.sampled import SampledTorques, sampled_torques
from limbtorque.uncertainty.sampled_summary import QUANTILES


@dataclass(frozen=True)
class SampledMuscles:
    """Muscles of every sample.

    Attributes
    ----------
    arm_m : ndarray of shape (n_frames, n_joints, n_muscles)
        Moment arms of the trial, flexion positive; 0 where they are not known.
    arm_factor : ndarray of shape (n_samples, n_joints, n_muscles)
        Factor of each moment arm.
    strength_n : ndarray of shape (n_samples, n_muscles)
        Strength of each muscle.
    """

    arm_m: FloatArray
    arm_factor: FloatArray
    strength_n: FloatArray

    @classmethod
    def of(
        cls, errors: TrialErrors, muscle_set: MuscleSet, known: BoolArray, options: Uncertainty, draw: Draw
    ) -> SampledMuscles:
        """Draw moment arms and strengths; `known`: joints of known moment arms.

        Strengths have a lognormal distribution, so that none is negative.
        """
        motion, names = errors.motion, muscle_set.names
        flexion = motion.flexion.of(motion.kinematics.angle_rad)
        arm = musculotendon(muscle_set, flexion, joints=motion.joints).moment_arm_m * known[:, None]
        shape = (len(motion.joints), len(names))
        arms = sobol_normal(
            draw.generator("moment_arm", "subject", [*motion.joints, *names]), draw.n_samples, shape[0] * shape[1]
        )
        strong = sobol_normal(draw.generator("muscle_strength", "subject", names), draw.n_samples, shape[1])
        return cls(
            arm,
            1.0 + options.sizes["moment_arm"] * arms.reshape(-1, *shape),
            muscle_set.max_force_n * np.exp(options.sizes["muscle_strength"] * strong),
        )


def force_statistics(
    errors: TrialErrors,
    draw: Draw,
    muscle_set: MuscleSet,
    options: Muscles,
    *,
    known: BoolArray,
    windows: Mapping[str, BoolArray],
    used: BoolArray,
) -> dict[str, dict[str, FloatArray]]:
    """Statistics of every muscle's force in every sample, over every window.

    Parameters
    ----------
    errors : TrialErrors
        Errors of the inputs of a trial.
    draw : Draw
        Number of samples, seed and owners.
    muscle_set : MuscleSet
        The muscles, scaled to the subject.
    options : Muscles
        Section `muscles` of the settings; see `not_sampled`.
    known : ndarray of bool, shape (n_joints,)
        Joints of known moment arms.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    used : ndarray of bool, shape (n_frames,)
        Frames of known force that the summary uses.

    Returns
    -------
    dict of str to dict of str to ndarray of shape (n_muscles, n_samples)
        By window and column of `tables.summary_columns.SAMPLED_FORCES`, N and N s; windows without a frame are left out.

    Notes
    -----
    Moment arms of a sample are those at the angles of the trial times a factor.
    """
    muscles = SampledMuscles.of(errors, muscle_set, known, errors.settings.uncertainty, draw)
    chosen = np.flatnonzero(np.any([inside & used for inside in windows.values()], axis=0)) if windows else np.arange(0)
    parts: list[dict[str, dict[str, FloatArray]]] = []
    done = 0
    for some in sampled_torques(errors, draw) if chosen.size else ():
        n = some.rows.shape[2]
        own = replace(
            muscles, arm_factor=muscles.arm_factor[done : done + n], strength_n=muscles.strength_n[done : done + n]
        )
        done += n
        force = _forces(errors, some, own, muscle_set, options, known, chosen)
        inside = {name: (each & used)[chosen] for name, each in windows.items()}
        parts.append(
            {
                name: _statistics(force, each, chosen, errors.motion.rate_hz)
                for name, each in inside.items()
                if each.any()
            }
        )
    return {
        name: {column: np.concatenate([part[name][column] for part in parts], axis=1) for column in parts[0][name]}
        for name in (parts[0] if parts else ())
    }


def not_sampled(options: Muscles) -> list[str]:
    """Options with which the forces of samples are not computed; empty where they are.

    Each frame has to have an optimization of its own, and strengths that do not depend on the motion.
    """
    given = {
        "force_length_velocity": options.force_length_velocity,
        "passive_moments": options.passive_moments != "none",
        "co_contraction": options.co_contraction,
        "change_time_s": options.change_time_s,
        "emg_weight": options.emg_weight,
    }
    return [f"muscles.{name}" for name, used in given.items() if used]


def with_force_samples(
    rows: Sequence[Mapping[str, Any]], found: Mapping[str, Mapping[str, FloatArray]], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows of the muscle summary with the uncertainty of the samples.

    Parameters
    ----------
    rows : sequence of dict
        From `muscles.force_summary.muscle_summary`.
    found : mapping
        From `force_statistics`; empty without samples.
    names : sequence of str
        The muscles.
    """
    return [{**row, **_columns(row, found.get(row["window"], {}), names)} for row in rows]


def _forces(
    errors: TrialErrors,
    some: SampledTorques,
    muscles: SampledMuscles,
    muscle_set: MuscleSet,
    options: Muscles,
    known: BoolArray,
    chosen: Any,
) -> FloatArray:
    """Forces of some samples, shape (n_samples, n_frames, n_muscles), N."""
    n_samples, n_frames = some.rows.shape[2], len(chosen)
    sign = errors.motion.flexion.sign * known
    torque = np.moveaxis(some.rows[:, 0][..., chosen], 0, -1).reshape(-1, len(sign)) * sign
    arm = (muscles.arm_m[chosen] * muscles.arm_factor[:, None]).reshape(len(torque), *muscles.arm_m.shape[1:])
    strength = np.repeat(muscles.strength_n, n_frames, axis=0)
    problem = Problem.of_set(arm, torque, muscle_set, errors.motion.rate_hz, options)
    found = least_cost_forces(replace(problem, strength_n=strength), options, problem.bounds[0])
    return np.asarray(found.force_n).reshape(n_samples, n_frames, -1)


def _statistics(force: FloatArray, inside: BoolArray, frames: Any, rate_hz: float) -> dict[str, FloatArray]:
    """Peak, mean and impulse of each muscle, shape (n_muscles, n_samples)."""
    own, near = force[:, inside], 0.5 / rate_hz * (np.diff(frames[inside]) == 1)
    weight = np.pad(near, (1, 0)) + np.pad(near, (0, 1))
    return {
        "peak_n": own.max(axis=1).T,
        "mean_n": own.mean(axis=1).T,
        "impulse_ns": np.einsum("sfm,f->ms", own, weight),
    }


def _columns(row: Mapping[str, Any], found: Mapping[str, FloatArray], names: Sequence[str]) -> dict[str, float]:
    """Columns of the uncertainty of a muscle; NaN where a statistic is not known."""
    columns: dict[str, float] = {}
    for name in SAMPLED_FORCES:
        start, unit = name.rsplit("_", 1)
        limits = [float("nan")] * 3
        if name in found and not np.isnan(row[name]):
            values = found[name][names.index(row["muscle"])]
            limits = [float(np.nanstd(values, ddof=1)), *np.nanquantile(values, QUANTILES).tolist()]
        columns |= dict(zip((f"{start}_sd_{unit}", f"{start}_low_{unit}", f"{start}_high_{unit}"), limits, strict=True))
    return columns
