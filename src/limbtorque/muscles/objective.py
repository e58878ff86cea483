"""Cost of the activations of a muscle set by the settings, and its minimum."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.options import activation_limits, own_options
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.solve import StaticOptimization, share_torques, share_torques_near
from limbtorque.study.options.muscles import Muscles


@dataclass(frozen=True, eq=False)
class Problem:
    """Torques, and the muscles that make them.

    Attributes
    ----------
    arm : ndarray of shape (n_frames, n_joints, n_muscles)
        Moment arms, m, flexion positive.
    torque_nm : ndarray of shape (n_frames, n_joints)
        Torque required of the muscles, flexion positive, N m.
    strength_n : ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, N.
    muscle_set : MuscleSet
        The muscles.
    rate_hz : float
        Frames per second.
    bounds : pair of ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Least and largest part of the strength of each muscle.
    unit_n : ndarray of shape (n_frames, n_muscles), optional
        Force that counts as 1 in the cost; the strength, or for stress the cross-section, by default.
    """

    arm: FloatArray
    torque_nm: FloatArray
    strength_n: FloatArray
    muscle_set: MuscleSet
    rate_hz: float
    bounds: tuple[FloatArray, FloatArray]
    unit_n: FloatArray | None = None

    @classmethod
    def of_set(
        cls, arm: FloatArray, torque_nm: FloatArray, muscle_set: MuscleSet, rate_hz: float, options: Muscles
    ) -> Problem:
        """Problem of muscles with the constant strengths of their set."""
        bounds = activation_limits(muscle_set, options)
        return cls(arm, torque_nm, muscle_set.max_force_n, muscle_set, rate_hz, bounds)


def volumes(muscle_set: MuscleSet) -> FloatArray:
    """Strength times optimal fibre length of each muscle, over their mean.

    Proportional to muscle volume where the strengths are of one specific tension. The sum of volumes times powers of the
    activations does not depend on the number of equal parts that a muscle is cut into.
    """
    lengths = np.array([muscle.optimal_fibre_length_m for muscle in muscle_set.muscles], dtype=float)
    products = muscle_set.max_force_n * lengths
    return np.asarray(products / products.mean()) if products.size else products


def muscle_weights(muscle_set: MuscleSet, options: Muscles) -> FloatArray:
    """Weight of each muscle in the cost, shape (n_muscles,)."""
    given = own_options(options.weights, muscle_set)
    weights = np.array([given.get(name, 1.0) for name in muscle_set.names])
    return weights * volumes(muscle_set) if options.criterion == "volume" else weights


def least_cost_forces(
    problem: Problem, options: Muscles, least: FloatArray, *, envelope: FloatArray | None = None
) -> StaticOptimization:
    """Minimise the cost that the settings ask for.

    Parameters
    ----------
    problem : Problem
        Torques and muscles.
    options : Muscles
        Section `muscles` of the settings.
    least : ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Least activations.
    envelope : ndarray of shape (n_frames, n_muscles), optional
        Measured activations; NaN where there are none.

    Returns
    -------
    StaticOptimization
        Its cost has every term, and the duality gap refers to the squares of the distances from their target.
    """
    muscle_set, strength = problem.muscle_set, problem.strength_n
    weight = muscle_weights(muscle_set, options)
    pcsa = np.array([muscle.pcsa_cm2 for muscle in muscle_set.muscles], dtype=float)  # NaN where unknown
    if options.change_time_s == 0.0 and envelope is None:
        return share_torques(
            problem.arm,
            problem.torque_nm,
            strength,
            exponent=options.exponent,
            weight=weight,
            norm_n=pcsa if options.criterion == "stress" else problem.unit_n,
            min_activation=least,
            max_activation=problem.bounds[1],
            reserve=options.reserve,
        )
    if options.criterion == "stress":
        weight = np.where(strength > 0.0, weight * (strength / pcsa) ** 2, weight)
    # w a^2 + k w (a - e)^2 = w (1 + k) (a - k e / (1 + k))^2 + w k / (1 + k) e^2
    shape = (len(problem.torque_nm), len(muscle_set.names))
    measured = np.full(shape, np.nan) if envelope is None else envelope
    tracking, level = options.emg_weight * np.isfinite(measured), np.nan_to_num(measured)
    optimized = share_torques_near(
        problem.arm,
        problem.torque_nm,
        strength,
        tracking * level / (1.0 + tracking),
        weight=weight * (1.0 + tracking),
        change_weight=weight * (options.change_time_s * problem.rate_hz) ** 2 if options.change_time_s > 0.0 else None,
        min_activation=least,
        max_activation=problem.bounds[1],
        reserve=options.reserve,
    )
    constant = (weight * tracking / (1.0 + tracking) * level**2).sum(axis=1)
    return replace(optimized, cost=optimized.cost + constant)
