"""Static optimization of a muscle set by the settings, with co-contraction."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.options import own_options
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.ranges import reachable_part
from limbtorque.muscles.static_optimization.solve import StaticOptimization, share_torques
from limbtorque.study.options.muscles import Muscles

SAFE = 1e-9  # part by which co-contraction stays below the largest reachable one


@dataclass(frozen=True)
class CoContraction:
    """Static optimization with co-contraction.

    Attributes
    ----------
    optimized : StaticOptimization
        Forces with the co-contraction.
    floor : ndarray of shape (n_frames, n_muscles)
        Lower bound of each activation.
    part : ndarray of shape (n_frames,)
        Part of the wanted co-contraction that the torque allows, 0 to 1.
    added_cost : ndarray of shape (n_frames,)
        Added cost.
    """

    optimized: StaticOptimization
    floor: FloatArray
    part: FloatArray
    added_cost: FloatArray


def optimize_forces(
    arm: FloatArray,
    torque_nm: FloatArray,
    strength_n: FloatArray,
    muscle_set: MuscleSet,
    options: Muscles,
    *,
    bounds: tuple[FloatArray, FloatArray],
    unit_n: FloatArray | None = None,
) -> CoContraction:
    """Static optimization of a set's muscles, with set co-contraction as lower bounds.

    Parameters
    ----------
    arm : ndarray of shape (n_frames, n_joints, n_muscles)
        Moment arms, m, flexion positive.
    torque_nm : ndarray of shape (n_frames, n_joints)
        Torque required of the muscles, flexion positive, N m.
    strength_n : ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, N.
    muscle_set : MuscleSet
        The muscles.
    options : Muscles
        Section `muscles` of the settings.
    bounds : pair of ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Least and largest activation of each muscle.
    unit_n : ndarray of shape (n_frames, n_muscles), optional
        Force that counts as 1 in the criterion; the strength, or for stress the cross-section, by default.
    """
    low, high = bounds
    weights = own_options(options.weights, muscle_set)
    pcsa = [math.nan if muscle.pcsa_cm2 is None else muscle.pcsa_cm2 for muscle in muscle_set.muscles]

    def optimum(least: FloatArray) -> StaticOptimization:
        return share_torques(
            arm,
            torque_nm,
            strength_n,
            exponent=options.exponent,
            weight=np.array([weights.get(name, 1.0) for name in muscle_set.names]),
            norm_n=np.array(pcsa) if options.criterion == "stress" else unit_n,
            min_activation=least,
            max_activation=high,
            reserve=options.reserve_nm if options.reserve == "priced" else options.reserve,
        )

    first = optimum(low)
    n_frames = len(torque_nm)
    if options.co_contraction == 0.0:
        floor = np.broadcast_to(low, first.activation.shape).copy()
        return CoContraction(first, floor, np.ones(n_frames), np.zeros(n_frames))
    crosses = arm != 0
    most = np.where(crosses, first.activation[:, None, :], 0.0).max(axis=2, initial=0.0)  # of a joint
    wanted = options.co_contraction * np.where(crosses, most[:, :, None], 0.0).max(axis=1, initial=0.0)
    wanted = np.minimum(np.maximum(np.nan_to_num(wanted), low), high)
    held = first.success  # elsewhere there is nothing to add to
    part = reachable_part(
        arm, torque_nm, max_force_n=strength_n, min_activation=low, wanted_activation=wanted, max_activation=high
    )
    part = np.where(held, np.where(part < 1.0, part * (1.0 - SAFE), 1.0), 0.0)
    floor = low + np.nan_to_num(part)[:, None] * (wanted - low)
    second = optimum(floor)
    for field in fields(StaticOptimization):
        getattr(second, field.name)[~held] = getattr(first, field.name)[~held]
    return CoContraction(second, floor, part, second.cost - first.cost)
