"""Muscle forces with a cost of change: the frames of a run are solved together.

The problem of a run of frames k, with the activations a_k near targets c_k, is

    minimise sum_k sum_i w_ki (a_ki - c_ki)^2 + g_i (a_ki - a_(k-1)i)^2
    subject to   B_k a_k = torque_k,   low_k <= a_k <= high_k   in every frame.

With its neighbours held, a frame is a problem of `near`: the weight w + 2 g, and the mean of its own target and its
neighbours as target. Where no frame changes when all others are held, the whole is optimal, since the terms that couple
them are smooth. So the steps of all frames at once lead there, but slowly where g is large. Each is followed by a step of
Newton's method, which solves the whole with the muscles at a bound held there, and which `near` brings back inside the
bounds and to the torques. The better of the two, with the best length, is taken: the cost falls with every step.

The duality gap of a run bounds its cost from below: the coupling terms are convex, hence above their tangent, and what is
left has its minimum in closed form for each muscle and frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.muscles.static_optimization.arguments import (
    activation_bounds,
    arm_and_torque,
    per_muscle,
    strengths,
    weights,
)
from limbtorque.muscles.static_optimization.near import share_torques_near
from limbtorque.muscles.static_optimization.problem import OPTIMAL
from limbtorque.muscles.static_optimization.solve import FAILED, RESERVE, StaticOptimization

RUN = 2048  # frames solved together; a longer run is solved in parts, each of which begins at the end of the last
MOST_STEPS = 200
AT_BOUND = 1e-12  # distance from a bound that counts as none
HELD = 1e-7  # torque along a reserve, as a part of its own, of a muscle that the reserve holds at its bound
REGULAR = 1e-12  # against singular systems where too few muscles are free


def share_torques_smoothly(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    max_force_n: ArrayLike,
    target: ArrayLike,
    *,
    change_weight: ArrayLike,
    weight: ArrayLike = 1.0,
    min_activation: ArrayLike = 0.0,
    max_activation: ArrayLike = 1.0,
    reserve: Literal["least", "none"] = "least",
) -> StaticOptimization:
    """Find the muscle forces near targets that change little from frame to frame.

    Parameters
    ----------
    moment_arm_m, torque_nm, max_force_n, target, weight, min_activation, max_activation
        As for `limbtorque.muscles.static_optimization.near.share_torques_near`.
    change_weight : array_like of shape (), (n_muscles,) or (n_frames, n_muscles)
        Weight of the squared change of an activation from the frame before, above zero: for a term
        w (time x rate)^2 in the cost it is w (time x frames per second)^2.
    reserve : {"least", "none"}, optional
        As there; without a price.

    Returns
    -------
    StaticOptimization
        `cost` has the frame's part, with the change from the frame before it; `duality_gap` is that of the run over the
        run's cost; `iterations` the steps of the run. Frames without forces end a run.
    """
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    shape = (n_frames, n_muscles)
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    whole = _Run(
        arm,
        torque,
        np.broadcast_to(strengths(max_force_n, n_frames, n_muscles), shape),
        np.broadcast_to(per_muscle("target", target, n_frames, n_muscles), shape),
        np.broadcast_to(weights("weight", weight, n_frames, n_muscles), shape),
        np.broadcast_to(weights("change_weight", change_weight, n_frames, n_muscles), shape),
        np.broadcast_to(low, shape),
        np.broadcast_to(high, shape),
        reserve,
    )
    found = whole.nearest(whole.target, whole.weight)
    for start, stop in runs(np.isfinite(found.activation).all(axis=1)):
        for first in range(start, stop, RUN):
            some = slice(first, min(first + RUN, stop))
            before = found.activation[first - 1] if first > start else None
            part = _smooth(whole.part(some), _of(found, some), before)
            for name in vars(found):
                getattr(found, name)[some] = getattr(part, name)
    return found


@dataclass(frozen=True, eq=False)
class _Run:
    """Problem of successive frames; all arrays have the frames first."""

    arm: FloatArray
    torque: FloatArray
    strength: FloatArray
    target: FloatArray
    weight: FloatArray
    change: FloatArray
    low: FloatArray
    high: FloatArray
    reserve: Literal["least", "none"]

    def part(self, some: slice) -> _Run:
        return replace(self, **{name: values[some] for name, values in vars(self).items() if name != "reserve"})

    def nearest(self, target: FloatArray, weight: FloatArray) -> StaticOptimization:
        """Activations nearest to targets, frame by frame."""
        return share_torques_near(
            self.arm,
            self.torque,
            self.strength,
            target,
            weight=weight,
            min_activation=self.low,
            max_activation=self.high,
            reserve=self.reserve,
        )


def _of(found: StaticOptimization, some: slice) -> StaticOptimization:
    return StaticOptimization(**{name: values[some] for name, values in vars(found).items()})


def _smooth(run: _Run, start: StaticOptimization, before: FloatArray | None) -> StaticOptimization:
    """Solution of a run from that without coupling; `before` is held."""
    change = np.concatenate([run.change, np.zeros_like(run.change[:1])])
    if before is None:
        change[0], before = 0.0, start.activation[0]
    links = _Links(run, before, change)
    own, a = run.weight + change[:-1] + change[1:], start.activation
    for count in range(1, MOST_STEPS + 1):
        found = replace(run.nearest(links.target(a), own), iterations=np.full(len(a), count, dtype=np.int64))
        cost, gap = links.cost(found.activation), links.gap(found)
        relative = gap / max(float(cost.sum()), np.finfo(float).tiny)
        if relative <= OPTIMAL:
            break
        step = run.nearest(links.newton(found), own)
        ways = [links.towards(a, one.activation) for one in (found, step) if np.isfinite(one.activation).all()]
        a = min(ways, key=lambda way: float(links.cost(way).sum()), default=a)
    found = replace(found, cost=cost, duality_gap=np.full(len(a), relative))
    return found if relative <= OPTIMAL else _failed(found)


def _failed(found: StaticOptimization) -> StaticOptimization:
    """Frames without forces, as no solution passed its certificate."""
    numbers = [name for name, values in vars(found).items() if values.dtype.kind == "f"]
    blank = replace(found, **{name: np.full_like(getattr(found, name), np.nan) for name in numbers})
    return replace(blank, status=np.full_like(found.status, FAILED))


@dataclass(frozen=True, eq=False)
class _Links:
    """Coupling of the frames of a run with their neighbours.

    `change` has the weight of the link before each frame and, zero, of one after the last.
    """

    run: _Run
    before: FloatArray
    change: FloatArray

    def previous(self, a: FloatArray) -> FloatArray:
        """Activations of the frame before each."""
        return np.concatenate([self.before[None], a[:-1]])

    def target(self, a: FloatArray) -> FloatArray:
        """Target of each frame with its neighbours held."""
        run, change = self.run, self.change
        following = np.concatenate([a[1:], a[-1:]])
        sides = change[:-1] * self.previous(a) + change[1:] * following
        return np.asarray((run.weight * run.target + sides) / (run.weight + change[:-1] + change[1:]))

    def cost(self, a: FloatArray) -> FloatArray:
        """Cost of each frame, shape (n_frames,)."""
        run, rise = self.run, a - self.previous(a)
        return np.asarray((run.weight * (a - run.target) ** 2 + self.change[:-1] * rise**2).sum(axis=1))

    def slope(self, a: FloatArray) -> FloatArray:
        """Half the derivative of the cost with each activation."""
        rise = self.change[:-1] * (a - self.previous(a))
        left = np.concatenate([rise[1:], np.zeros_like(rise[:1])])
        return np.asarray(self.run.weight * (a - self.run.target) + rise - left)

    def towards(self, a: FloatArray, other: FloatArray) -> FloatArray:
        """Activations of least cost on the way from one solution to another."""
        way = other - a
        change = np.concatenate([way[:1], np.diff(way, axis=0)])
        bend = float((self.run.weight * way**2 + self.change[:-1] * change**2).sum())
        length = -float((self.slope(a) * way).sum()) / bend if bend > 0.0 else 0.0
        return np.asarray(a + min(max(length, 0.0), 1.0) * way)

    def gap(self, found: StaticOptimization) -> float:
        """Upper bound of the excess of the run's cost over its minimum."""
        run, a = self.run, found.activation
        reach = run.arm * run.strength[:, None]
        slope = 2.0 * self.slope(a) - np.einsum("fjm,fj->fm", reach, found.multiplier)
        best = np.minimum(np.maximum(a - slope / (2.0 * run.weight), run.low), run.high) - a
        excess = -(slope * best + run.weight * best**2)
        return float(excess[~_held(reach, found)].sum())

    def newton(self, found: StaticOptimization) -> FloatArray:
        """Activations that solve the whole with the muscles at their bounds held there."""
        from scipy.linalg import solve_banded  # a slow import that few trials need

        run, a = self.run, found.activation
        (n_frames, n_muscles), n_joints = a.shape, run.arm.shape[1]
        free = (a > run.low + AT_BOUND) & (a < run.high - AT_BOUND)
        reach = run.arm * run.strength[:, None]
        capacity = np.abs(reach).sum(axis=2)
        scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
        reach = reach * scale[..., None]
        size = n_muscles + n_joints  # unknowns of a frame: activations, multipliers
        band = np.zeros((2 * size + 1, n_frames, size))
        own = run.weight + self.change[:-1] + self.change[1:]
        band[size, :, :n_muscles] = np.where(free, own, 1.0)
        band[size, :, n_muscles:] = REGULAR
        link = self.change[1:-1]
        band[0, 1:, :n_muscles] = -link * free[:-1]
        band[2 * size, :-1, :n_muscles] = -link * free[1:]
        joint, muscle = np.indices((n_joints, n_muscles))
        off = n_muscles + joint - muscle
        band[size - off, :, n_muscles + joint] = np.transpose(-reach * free[:, None], (1, 2, 0))
        band[size + off, :, muscle] = np.transpose(reach, (1, 2, 0))
        right = np.zeros((n_frames, size))
        aims = run.weight * run.target
        aims[0] += self.change[0] * self.before
        right[:, :n_muscles] = np.where(free, aims, a)
        right[:, n_muscles:] = np.einsum("fjm,fm->fj", reach, a)
        solved = solve_banded((size, size), band.reshape(2 * size + 1, -1), right.ravel(), check_finite=False)
        return np.asarray(solved.reshape(n_frames, size)[:, :n_muscles])


def _held(reach: FloatArray, found: StaticOptimization) -> BoolArray:
    """Muscles without a choice, which a reserve holds at a bound."""
    along = np.abs(np.einsum("fjm,fj->fm", reach, found.certificate))
    length = np.sqrt((reach * reach).sum(axis=1))
    return np.asarray((found.status == RESERVE)[:, None] & (along > HELD * length))
