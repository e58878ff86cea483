"""Muscle forces near given activations: least weighted squares of the distance.

The problem of a frame is that of `solve` with exponent 2 in the distances d = a - c of the activations from targets c:

    minimise sum_i w_i (a_i - c_i)^2   subject to   B a = torque,   low <= a <= high,

so that it is solved there, with the torque of the targets subtracted and the bounds shifted. With c = 0 it is the usual
sum of squares. A cost of several squares is one of these: w a^2 + k (a - e)^2 has the weight w + k and the target
k e / (w + k), plus a constant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.muscles.static_optimization.arguments import (
    activation_bounds,
    arm_and_torque,
    per_muscle,
    reserve_of,
    strengths,
    weights,
)
from limbtorque.muscles.static_optimization.dual import clipped
from limbtorque.muscles.static_optimization.problem import Criterion
from limbtorque.muscles.static_optimization.solve import StaticOptimization, least_cost


def share_torques_near(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    max_force_n: ArrayLike,
    target: ArrayLike,
    *,
    weight: ArrayLike = 1.0,
    min_activation: ArrayLike = 0.0,
    max_activation: ArrayLike = 1.0,
    reserve: Literal["least", "none"] | float = "least",
) -> StaticOptimization:
    """Find the forces nearest to target activations that make the joint torques.

    Parameters
    ----------
    moment_arm_m, torque_nm, max_force_n, min_activation, max_activation, reserve
        As for `limbtorque.muscles.static_optimization.solve.share_torques`.
    target : array_like of shape (n_muscles,) or (n_frames, n_muscles)
        Target of each activation, inside the bounds or not.
    weight : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        Weight of the squared distance, above zero.

    Returns
    -------
    StaticOptimization
        Its cost is the weighted sum of squared distances, and so is the cost of its duality gap. The targets affect neither
        which torques can be made nor the least reserve.

    Examples
    --------
    Two equal flexors; one is wanted at 0.3, and the torque decides the rest:

    >>> near = share_torques_near([[[0.02, 0.02]]], [[10.0]], [1000.0, 1000.0], [0.3, 0.0])
    >>> near.activation.round(3).tolist(), near.cost.round(4).tolist()
    ([[0.4, 0.1]], [0.02])
    """
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    strength = strengths(max_force_n, n_frames, n_muscles)
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    centre = per_muscle("target", target, n_frames, n_muscles)
    ratio = np.sqrt(weights("weight", weight, n_frames, n_muscles))
    left = torque - np.einsum("fjm,fm->fj", arm, np.broadcast_to(strength * centre, (n_frames, n_muscles)))
    rows = [strength, ratio, low - centre, high - centre]
    found = least_cost(arm, left, rows, Criterion(2.0, *reserve_of(reserve)))
    activation = clipped(found.activation + centre, low, high)
    return replace(found, activation=activation, force_n=activation * strength)
