"""Static optimization of one frame per call, for muscles checked once.

For exponent 2 the method of `limbtorque.muscles.static_optimization.dual` in small arrays, with a simpler line search. It
ends when the torque is met, which makes the solution optimal; the optimality certificate is computed as for many frames.
All other frames (torques at or beyond the limit of reach, another exponent, a priced reserve) go to `share_torques`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray
from limbtorque.muscles.static_optimization.criteria import CLOSES, OK, OPTIMAL
from limbtorque.muscles.static_optimization.solve import StaticOptimization, share_torques

CLOSURE = 2e-13  # a frame is solved when its torque closes to this part of the capacity that it needs
MOST_ITERATIONS = 10
SEARCHES = 4  # step lengths tried for each step
OVERSHOOT = 0.1  # part of its first slope by which the dual may fall at the end of a step
STAND_IN = 0.05  # of the diagonal with all muscles free, added where too few muscles are free


@dataclass(frozen=True, eq=False)
class PreparedMuscles:
    """Strengths, bounds and cost of muscles checked once, for one frame per call.

    Attributes
    ----------
    max_force_n : array_like of shape (n_muscles,)
        Strength of each muscle, 0 or more.
    exponent, weight, norm_n, min_activation, max_activation, reserve
        As for the function `share_torques`; arrays of shape (n_muscles,).

    Raises
    ------
    ValueError
        As from `share_torques`.

    Notes
    -----
    `share_torques` takes all frames of a recording at once and is faster there. Frames within reach with exponent 2 and no
    priced reserve are solved here, all others by `share_torques`.

    Examples
    --------
    Two flexors and an extensor of one joint:

    >>> muscles = PreparedMuscles([500.0, 500.0, 800.0])
    >>> muscles.share_torques([[0.02, 0.04, -0.02]], [10.0]).force_n.round(3).tolist()
    [100.0, 200.0, 0.0]
    """

    max_force_n: ArrayLike
    exponent: float | Literal["min_max"] = 2.0
    weight: ArrayLike = 1.0
    norm_n: ArrayLike | None = None
    min_activation: ArrayLike = 0.0
    max_activation: ArrayLike = 1.0
    reserve: Literal["least", "none"] | float = "least"

    def __post_init__(self) -> None:
        strength = np.asarray(self.max_force_n, dtype=float)
        if strength.ndim != 1:
            raise ValueError(f"max_force_n has shape {strength.shape}, expected (n_muscles,)")
        object.__setattr__(self, "max_force_n", strength)
        self._many(np.empty((0, 1, strength.size)), np.empty((0, 1)))  # checks everything else

    def share_torques(self, moment_arm_m: ArrayLike, torque_nm: ArrayLike) -> StaticOptimization:
        """Find the muscle forces of least cost for the joint torques of one frame.

        Parameters
        ----------
        moment_arm_m : array_like of shape (n_joints, n_muscles)
            Moment arms, positive where tension makes a positive torque.
        torque_nm : array_like of shape (n_joints,)
            Net torques required of the muscles, with the moment arms' sign.

        Returns
        -------
        StaticOptimization
            That of the function `share_torques` for one frame, to 1e-9 of the strengths, without the axis of time.

        Raises
        ------
        ValueError
            Mismatched shapes.
        """
        arm, torque = np.asarray(moment_arm_m, dtype=float), np.asarray(torque_nm, dtype=float)
        n_muscles = np.size(self.max_force_n)
        if torque.ndim != 1 or arm.shape != (torque.size, n_muscles):
            raise ValueError(
                f"moment arms have shape {arm.shape}, torques shape {torque.shape}; expected (n_joints, {n_muscles}) and "
                "(n_joints,)"
            )
        found = None if self._quadratic is None else self._quadratic.within_reach(arm, torque)
        if found is not None:
            return found
        one = self._many(arm[None], torque[None])
        return StaticOptimization(*(getattr(one, field.name)[0] for field in fields(one)))

    def _many(self, arm: FloatArray, torque: FloatArray) -> StaticOptimization:
        """Solve with the function for many frames."""
        return share_torques(
            arm,
            torque,
            self.max_force_n,
            exponent=self.exponent,
            weight=self.weight,
            norm_n=self.norm_n,
            min_activation=self.min_activation,
            max_activation=self.max_activation,
            reserve=self.reserve,
        )

    @cached_property
    def _quadratic(self) -> _Quadratic | None:
        """Constants of the fast method; None if it does not apply."""
        strength = np.asarray(self.max_force_n)
        ratio = np.broadcast_to(np.sqrt(np.asarray(self.weight, dtype=float)), strength.shape)
        if self.norm_n is not None:
            ratio = ratio * strength / np.asarray(self.norm_n, dtype=float)
        bounds = (self.min_activation, self.max_activation)
        low, high = (np.broadcast_to(np.asarray(bound, dtype=float), strength.shape) for bound in bounds)
        known = all(np.isfinite(values).all() for values in (strength, ratio, low, high))
        if self.exponent != 2.0 or self.reserve not in ("least", "none") or not known or not (ratio > 0.0).all():
            return None
        return _Quadratic(strength, ratio, low, high)


@dataclass(frozen=True, eq=False)
class _Quadratic:
    """Muscles with a cost of b^2, b = ratio times activation."""

    strength: FloatArray
    ratio: FloatArray
    low: FloatArray
    high: FloatArray

    @cached_property
    def scaled(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Force at b = 1, bounds of b, and the largest lower bound."""
        low = self.ratio * self.low
        return self.strength / self.ratio, low, self.ratio * self.high, float(low.max(initial=0.0))

    def within_reach(self, arm: FloatArray, torque: FloatArray) -> StaticOptimization | None:
        """Solution with its certificate; None if not certain."""
        unit, low, high, lowest = self.scaled
        reach = arm * unit
        capacity = np.add.reduce(np.abs(reach), axis=1)
        sizes, wanted = capacity.tolist(), torque.tolist()
        if not (min(sizes, default=0.0) > 0.0 and math.isfinite(sum(sizes) + sum(wanted))):
            return None
        part = max(abs(t) / size for t, size in zip(wanted, sizes, strict=True))
        scaled, target = reach / capacity[:, None], torque / capacity
        solved = _newton(scaled, target, low, high, CLOSURE * max(part, lowest))
        if solved is None:
            return None
        multiplier, b, steps = 2.0 * solved[0] / capacity, *solved[1:]
        activation = np.minimum(np.maximum(b / self.ratio, self.low), self.high)
        force = activation * self.strength
        pull, cost = multiplier @ reach, float(b @ b)
        best = np.minimum(np.maximum(0.5 * pull, low), high)
        bound = multiplier @ (reach @ b) - (pull @ best - best @ best)
        gap = (cost - float(bound)) / cost if cost > 0.0 else 0.0
        rest = list(map(abs, (torque - arm @ force).tolist()))
        if not abs(gap) <= OPTIMAL or any(
            off > CLOSES * (size + abs(t)) for off, size, t in zip(rest, sizes, wanted, strict=True)
        ):
            return None
        zero = np.zeros_like(torque)
        numbers: list[Any] = [np.int8(OK), np.int64(steps), np.float64(max(rest)), np.float64(cost), np.float64(gap)]
        values = [force, activation, zero, *numbers, multiplier, zero.copy(), np.float64(0.0)]
        return StaticOptimization(*values)


def _newton(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, closure: float
) -> tuple[FloatArray, FloatArray, int] | None:
    """Multiplier, activations and steps; None if the torque is not met."""
    from scipy.linalg.lapack import dposv  # a slow import that most stages do not need

    y, gradient, full = np.zeros_like(torque), torque, reach @ reach.T
    matrix = full
    for count in range(1, MOST_ITERATIONS + 1):
        _, step, singular = dposv(matrix, gradient)
        if singular:
            _, step, singular = dposv(matrix + np.diag(STAND_IN * full.diagonal()), gradient)
        first = step @ gradient
        for _ in range(SEARCHES):
            ahead = y + step
            pull = ahead @ reach
            b = np.minimum(np.maximum(pull, low), high)
            gradient = torque - reach @ b
            after = step @ gradient
            if after >= -OVERSHOOT * first:
                break
            shorter = max(first / (first - after), 0.1)
            step, first = shorter * step, shorter * first
        y = ahead
        if max(map(abs, gradient.tolist())) <= closure:
            return y, b, count
        matrix = (reach * (pull == b)) @ reach.T
    return None
