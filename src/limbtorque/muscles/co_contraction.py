"""Static optimization of a muscle set by the settings, with co-contraction."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.envelopes import Envelopes, measured_activation
from limbtorque.muscles.objective import Problem, least_cost_forces
from limbtorque.muscles.static_optimization.ranges import reachable_part
from limbtorque.muscles.static_optimization.solve import StaticOptimization
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
    notes : tuple of str
        Notes on the envelopes that the activations stay near.
    """

    optimized: StaticOptimization
    floor: FloatArray
    part: FloatArray
    added_cost: FloatArray
    notes: tuple[str, ...] = ()


def optimize_forces(problem: Problem, options: Muscles, envelopes: Envelopes | None = None) -> CoContraction:
    """Static optimization of a set's muscles, with set co-contraction as lower bounds.

    Parameters
    ----------
    problem : Problem
        Torques and muscles.
    options : Muscles
        Section `muscles` of the settings.
    envelopes : Envelopes, optional
        Measured envelopes, for `muscles.emg_weight`.
    """
    low, high = problem.bounds
    arm, torque_nm, strength_n = problem.arm, problem.torque_nm, problem.strength_n
    envelope, notes = measured_activation(problem, options, envelopes)
    first = least_cost_forces(problem, options, low, envelope=envelope)
    n_frames = len(torque_nm)
    if options.co_contraction == 0.0:
        floor = np.broadcast_to(low, first.activation.shape).copy()
        return CoContraction(first, floor, np.ones(n_frames), np.zeros(n_frames), notes)
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
    second = least_cost_forces(problem, options, floor, envelope=envelope)
    for field in fields(StaticOptimization):
        getattr(second, field.name)[~held] = getattr(first, field.name)[~held]
    return CoContraction(second, floor, part, second.cost - first.cost, notes)
