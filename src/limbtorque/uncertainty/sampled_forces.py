"""Samples of muscle forces, by static optimization of sampled torques."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.objective import Problem, least_cost_forces
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.study.options.muscles import Muscles
from limbtorque.tables.study_columns import SAMPLED_FORCES
from limbtorque.uncertainty.propagation import TrialErrors
from limbtorque.uncertainty.sampled import QUANTILES, Draw, sampled_torques, sobol_normal


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
        By window and column of `tables.study_columns.SAMPLED_FORCES`, N and N s; windows without a frame are left out.

    Notes
    -----
    Moment arms of a sample are those at the angles of the trial times a factor.
    """
    chosen = np.flatnonzero(np.any([inside & used for inside in windows.values()], axis=0)) if windows else np.arange(0)
    inside = {name: (each & used)[chosen] for name, each in windows.items() if (each & used).any()}
    if not inside:
        return {}
    motion, sizes = errors.analysed.motion, errors.analysed.sizes
    sign, n_muscles = motion.flexion.sign * known, len(muscle_set.names)
    flexion = motion.flexion.of(motion.kinematics.angle_rad)
    arm_m = (musculotendon(muscle_set, flexion, joints=motion.joints).moment_arm_m * known[:, None])[chosen]
    # errors of a moment arm for each muscle and joint; strengths have a lognormal distribution, so that none is negative
    of_arms = draw.generator("moment_arm", "subject", [*motion.joints, *muscle_set.names])
    arm_factor = 1.0 + sizes["moment_arm"] * sobol_normal(of_arms, draw.n_samples, len(sign) * n_muscles)
    of_strengths = draw.generator("muscle_strength", "subject", muscle_set.names)
    strong = np.exp(sizes["muscle_strength"] * sobol_normal(of_strengths, draw.n_samples, n_muscles))
    parts: list[dict[str, dict[str, FloatArray]]] = []
    first = 0
    for samples in sampled_torques(errors, draw):
        net_nm = samples.rows[:, 0][..., chosen]
        some = slice(first, first + net_nm.shape[1])
        first = some.stop
        torque = np.moveaxis(net_nm, 0, -1).reshape(-1, len(sign)) * sign
        arm = (arm_m * arm_factor[some].reshape(-1, 1, len(sign), n_muscles)).reshape(-1, len(sign), n_muscles)
        problem = Problem.of_set(arm, torque, muscle_set, options)
        problem = replace(problem, strength_n=np.repeat(muscle_set.max_force_n * strong[some], len(chosen), axis=0))
        forces = least_cost_forces(problem, options)
        force_n = np.asarray(forces.force_n).reshape(-1, len(chosen), n_muscles)
        parts.append({name: _of_forces(force_n, each, chosen, motion.rate_hz) for name, each in inside.items()})
    return {
        name: {column: np.concatenate([part[name][column] for part in parts], axis=1) for column in parts[0][name]}
        for name in parts[0]
    }


def not_sampled(options: Muscles) -> list[str]:
    """Options that prevent computing forces of samples; empty if there are none.

    Frames must be optimized separately, with strengths independent of motion.
    """
    given = {
        "force_length_velocity": options.force_length_velocity,
        "passive_moments": options.passive_moments != "none",
        "emg_weight": options.emg_weight,
    }
    return [f"muscles.{name}" for name, used in given.items() if used]


def with_force_samples(
    rows: Sequence[Mapping[str, Any]], statistics: Mapping[str, Mapping[str, FloatArray]], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows of the muscle summary with the uncertainty of the samples.

    Parameters
    ----------
    rows : sequence of dict
        From `muscles.force_table.muscle_summary`.
    statistics : mapping
        From `force_statistics`; empty without samples.
    names : sequence of str
        The muscles.
    """
    return [{**row, **_of_muscle(row, statistics.get(row["window"], {}), names)} for row in rows]


def _of_forces(force: FloatArray, inside: BoolArray, frames: Any, rate_hz: float) -> dict[str, FloatArray]:
    """Peak, mean and impulse of each muscle, shape (n_muscles, n_samples)."""
    used, near = force[:, inside], 0.5 / rate_hz * (np.diff(frames[inside]) == 1)
    weight = np.pad(near, (1, 0)) + np.pad(near, (0, 1))
    return {
        "peak_n": used.max(axis=1).T,
        "mean_n": used.mean(axis=1).T,
        "impulse_ns": np.einsum("sfm,f->ms", used, weight),
    }


def _of_muscle(row: Mapping[str, Any], of_window: Mapping[str, FloatArray], names: Sequence[str]) -> dict[str, float]:
    """Columns of the uncertainty of a muscle; NaN where a statistic is not known."""
    columns: dict[str, float] = {}
    for name in SAMPLED_FORCES:
        start, unit = name.rsplit("_", 1)
        limits = [float("nan")] * 3
        if name in of_window and not np.isnan(row[name]):
            values = of_window[name][names.index(row["muscle"])]
            limits = [float(np.nanstd(values, ddof=1)), *np.nanquantile(values, QUANTILES).tolist()]
        columns |= dict(zip((f"{start}_sd_{unit}", f"{start}_low_{unit}", f"{start}_high_{unit}"), limits, strict=True))
    return columns
