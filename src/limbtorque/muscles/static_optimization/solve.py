"""Exact static optimization of muscle forces with optimality certificates.

With moment arms R (joints x muscles, positive flexes), strengths F_max and B = R diag(F_max), the problem of a frame is

    minimise sum_i w_i (F_i / N_i)^p   subject to   B a = torque,   low <= a <= high,   F = a F_max,

where N is the strength [1]_, the physiological cross-section [2]_, or any other unit, and p any exponent from 1; the limit
of large p is the least activation of the most active muscle [3]_. `dual` solves powers and `reachable` the limit; all have
as many unknowns as joints.

With p = 2 the activations can have targets c: the cost is then sum_i w_i (a_i - c_i)^2, the same problem in a - c, with the
torque of the targets subtracted and the bounds shifted. A cost of several squares is one of these: w a^2 + k (a - e)^2 has
the weight w + k and the target k e / (w + k), plus a constant.

With a cost of change, the frames k of a run are solved together:

    minimise sum_k sum_i w_ki (a_ki - c_ki)^2 + g_i (a_ki - a_(k-1)i)^2.

With its neighbours held, a frame is a problem with the weight w + 2 g and the mean of its own target and its neighbours as
target. Where no frame changes when all others are held, the whole is optimal, since the terms that couple them are smooth.
So the steps of all frames at once lead there, but slowly where g is large. Each is followed by a step of Newton's method,
which solves the whole with the muscles at a bound held there, and which is then brought back inside the bounds and to the
torques. The better of the two, with the best length, is taken: the cost falls with every step. The duality gap of a run
bounds its cost from below: the coupling terms are convex, hence above their tangent, and the remaining terms have a closed-form
minimum for each muscle and frame.

The optimality certificate of a frame is its multiplier with two verifiable numbers: the residual, the torque not made by
forces and reserve, and the duality gap, the cost minus a lower bound for all admissible forces that follows from the
multiplier. Where both vanish, no other forces produce the torque at a lower cost. A frame that fails the check has no
forces, whatever the iteration reports.

References
----------
.. [1] Anderson F.C., Pandy M.G. (2001) Static and dynamic optimization solutions for gait are practically equivalent.
   J Biomech 34:153-161 (squared activations).
.. [2] Crowninshield R.D., Brand R.A. (1981) A physiologically based criterion of muscle force prediction in locomotion.
   J Biomech 14:793-801 (p = 3, stress).
.. [3] Rasmussen J., Damsgaard M., Voigt M. (2001) Muscle recruitment by the min/max criterion. J Biomech 34:409-415.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.muscles.static_optimization.criteria import (
    FAILED,
    INVALID,
    OK,
    OPTIMAL,
    RESERVE,
    Criterion,
    solve_frames,
)
from limbtorque.muscles.static_optimization.dual import Frames, clipped

BLOCK = 2048  # frames solved together, so that they fit in the processor's cache
RUN = 2048  # frames solved together; a longer run is solved in parts, each of which begins at the end of the last
MOST_STEPS = 200
AT_BOUND = 1e-12  # distance from a bound that counts as none
HELD = 1e-7  # torque along a reserve, as a part of its own, of a muscle that the reserve holds at its bound
ROWS = ("strength", "ratio", "low", "high")  # of a problem, by muscle
REGULAR = 1e-12  # against singular systems where too few muscles are free

LARGEST_EXPONENT = 10.0


@dataclass(frozen=True, eq=False)
class StaticOptimization:
    """Muscle forces of least cost for joint torques, with optimality certificate.

    Results of `PreparedMuscles`, for one frame, have no frame axis.

    Parameters
    ----------
    force_n : ndarray of shape (n_frames, n_muscles)
        Tension of each muscle. NaN where `status` is INVALID or FAILED, or RESERVE without a reserve.
    activation : ndarray of shape (n_frames, n_muscles)
        Force over strength.
    reserve_nm : ndarray of shape (n_frames, n_joints)
        Torque that the muscles do not make, with the sign of the torque: the least in Euclidean norm, and zero where
        `status` is OK; or, with a price, the one of least cost together with the muscles. NaN where the forces are.
    status : ndarray of int8 of shape (n_frames,)
        OK, RESERVE, INVALID or FAILED.
    iterations : ndarray of int of shape (n_frames,)
        Number of Newton steps.
    residual_nm : ndarray of shape (n_frames,)
        Largest absolute of moment arms times force + reserve - torque over the joints.
    cost : ndarray of shape (n_frames,)
        The least sum of weighted powers, with that of a priced reserve; for the min-max criterion the largest ratio.
    duality_gap : ndarray of shape (n_frames,)
        Duality gap over the cost: the cost minus the lower bound by the multiplier, of the muscles with a choice. At the
        limit of the reachable torques, and beyond, some have none: only one force of theirs makes the torque, or the
        nearest one.
    multiplier : ndarray of shape (n_frames, n_joints)
        The multiplier y: change of the least cost with the torque [1/(N m)]. For the min-max criterion the normal of
        the facet that determines the largest ratio.
    certificate : ndarray of shape (n_frames, n_joints)
        Where `status` is RESERVE, a direction c of unit length that proves it: c . torque is more than
        sum over the muscles of max(c . B_i low_i, c . B_i high_i). Zero elsewhere.
    shortfall_nm : ndarray of shape (n_frames,)
        Euclidean distance of the torque from the nearest one that the muscles can make.
    """

    force_n: FloatArray
    activation: FloatArray
    reserve_nm: FloatArray
    status: NDArray[np.int8]
    iterations: NDArray[np.int64]
    residual_nm: FloatArray
    cost: FloatArray
    duality_gap: FloatArray
    multiplier: FloatArray
    certificate: FloatArray
    shortfall_nm: FloatArray

    @property
    def success(self) -> BoolArray:
        """Mask of frames whose torque the muscles alone can produce, shape (n_frames,)."""
        return np.asarray(self.status == OK)


def share_torques(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    max_force_n: ArrayLike,
    *,
    exponent: float | Literal["min_max"] = 2.0,
    weight: ArrayLike = 1.0,
    norm_n: ArrayLike | None = None,
    min_activation: ArrayLike = 0.0,
    max_activation: ArrayLike = 1.0,
    reserve: Literal["least", "none"] | float = "least",
) -> StaticOptimization:
    """Find the muscle forces of least cost for given joint torques.

    Parameters
    ----------
    moment_arm_m : array_like of shape (n_frames, n_joints, n_muscles)
        Moment arms, positive where tension makes a positive torque.
    torque_nm : array_like of shape (n_frames, n_joints)
        Net torques required of the muscles, with the moment arms' sign.
    max_force_n : array_like of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, 0 or more.
    exponent : float, optional
        p, from 1 to 10, or ``"min_max"`` (``math.inf``) for the least effort of the most active muscle, then of the
        next, and so on. With 1, ties are broken by the least sum of squares.
    weight : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        w, above zero; for ``min_max`` all equal (in the limit they have no effect).
    norm_n : array_like of shape (n_muscles,) or (n_frames, n_muscles), optional
        N, above zero: divisor of the force. The strength by default, so that the ratio is the activation.
    min_activation, max_activation : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        Bounds of force / strength, 0 <= least <= largest.
    reserve : {"least", "none"} or float, optional
        Where muscles cannot make the torque: the least reserve torque in Euclidean norm adds the rest; or no forces. A
        number, N m, is a price: in every frame the cost has ``(reserve torque / number)^2`` for each joint, so that a
        reserve of this size costs as much as a fully active muscle of weight 1. A joint that no muscle crosses has its
        whole torque as reserve, unless ``"none"``.

    Returns
    -------
    StaticOptimization
        Forces, reserves and optimality certificates.

    Notes
    -----
    The solution is unique. A frame with a number that is not finite gives NaN. Units of torque do not matter: scaling
    moment arms and torques together (with a priced reserve, its price as well) does not change the forces.

    Examples
    --------
    Two flexors and an extensor of one joint; the flexors share it in proportion to moment arm times strength:

    >>> shared = share_torques([[[0.02, 0.04, -0.02]]], [[10.0]], [500.0, 500.0, 800.0])
    >>> shared.force_n.round(3).tolist(), shared.status.tolist()
    ([[100.0, 200.0, 0.0]], [0])
    """
    criterion = Criterion(_exponent(exponent), *_reserve(reserve))
    problem = _checked(moment_arm_m, torque_nm, max_force_n, weight, min_activation, max_activation)
    root = problem.ratio ** (1.0 if math.isinf(criterion.exponent) else 1.0 / criterion.exponent)
    if math.isinf(criterion.exponent) and criterion.reserve == "priced":
        raise ValueError("a priced reserve has no meaning for exponent inf; expected reserve 'least' or 'none'")
    if math.isinf(criterion.exponent) and (root != root[:, :1]).any():
        raise ValueError("weights have no meaning for exponent inf; give norm_n, or leave weight out")
    if norm_n is not None:
        n_frames, _, n_muscles = problem.arm.shape
        root = root * problem.strength / _positive("norm_n", norm_n, n_frames, n_muscles)
    return least_cost(replace(problem, ratio=root), criterion)


def share_torques_near(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    max_force_n: ArrayLike,
    target: ArrayLike,
    *,
    weight: ArrayLike = 1.0,
    change_weight: ArrayLike | None = None,
    min_activation: ArrayLike = 0.0,
    max_activation: ArrayLike = 1.0,
    reserve: Literal["least", "none"] | float = "least",
) -> StaticOptimization:
    """Find the forces nearest to target activations for given joint torques.

    Parameters
    ----------
    moment_arm_m, torque_nm, max_force_n, weight, min_activation, max_activation, reserve
        As for `share_torques`; the weight is that of the squared distance.
    target : array_like of shape (), (n_muscles,) or (n_frames, n_muscles)
        Target of each activation, inside the bounds or not.
    change_weight : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        Weight of the squared change of an activation from the frame before, above zero: for a term
        w (time x rate)^2 in the cost it is w (time x frames per second)^2. Without a priced reserve.

    Returns
    -------
    StaticOptimization
        Its cost is the weighted sum of squared distances, and so is the cost of its duality gap. The targets affect neither
        which torques can be made nor the least reserve. With a cost of change, `cost` has the frame's part, with the change
        from the frame before it; `duality_gap` is that of the run over the run's cost; `iterations` the steps of the run.
        Frames without forces end a run.

    Examples
    --------
    Two equal flexors; one is wanted at 0.3, and the torque decides the rest:

    >>> near = share_torques_near([[[0.02, 0.02]]], [[10.0]], [1000.0, 1000.0], [0.3, 0.0])
    >>> near.activation.round(3).tolist(), near.cost.round(4).tolist()
    ([[0.4, 0.1]], [0.02])
    """
    criterion = Criterion(2.0, *_reserve(reserve))
    problem = _checked(moment_arm_m, torque_nm, max_force_n, weight, min_activation, max_activation)
    n_frames, _, n_muscles = problem.arm.shape
    problem = replace(problem, ratio=np.sqrt(problem.ratio))
    centre = per_muscle("target", target, n_frames, n_muscles)
    if change_weight is None:
        return _near(problem, centre, criterion)
    if criterion.reserve == "priced":
        raise ValueError("a priced reserve has no meaning with change_weight; expected reserve 'least' or 'none'")
    return _smoothly(problem, centre, _positive("change_weight", change_weight, n_frames, n_muscles), criterion)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Checked arrays, frames on the first axis; one row if constant.

    `ratio` times the activation has the cost of a power. With exponent 2 the bounds may be below zero.
    """

    arm: FloatArray
    torque: FloatArray
    strength: FloatArray
    ratio: FloatArray
    low: FloatArray
    high: FloatArray

    def at(self, some: slice | NDArray[np.intp]) -> _Problem:
        """Return the problem of one or more frames."""
        return _Problem(*(values if len(values) == 1 else values[some] for values in vars(self).values()))


def _checked(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    max_force_n: ArrayLike,
    weight: ArrayLike,
    min_activation: ArrayLike,
    max_activation: ArrayLike,
) -> _Problem:
    """Problem of checked arguments, with the weight for ratio."""
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    strength = per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    if (strength < 0).any():
        raise ValueError(f"max_force_n has {np.nanmin(strength):g} N, expected strengths of 0 or more")
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    return _Problem(arm, torque, strength, _positive("weight", weight, n_frames, n_muscles), low, high)


def least_cost(problem: _Problem, criterion: Criterion) -> StaticOptimization:
    """Solve in blocks; difficult frames are solved again by slower methods."""
    blocks = [
        _solve_block(problem.at(slice(start, start + BLOCK)), criterion)
        for start in range(0, max(len(problem.torque), 1), BLOCK)
    ]
    names = [field.name for field in fields(StaticOptimization)]
    optimized = blocks[0]
    if len(blocks) > 1:
        optimized = StaticOptimization(*(np.concatenate([getattr(block, name) for block in blocks]) for name in names))
    failed = np.flatnonzero(optimized.status == FAILED)
    if failed.size and not criterion.patient:
        again = least_cost(problem.at(failed), replace(criterion, patient=True))
        for name in names:
            getattr(optimized, name)[failed] = getattr(again, name)
    return optimized


def _solve_block(problem: _Problem, criterion: Criterion) -> StaticOptimization:
    """Solve a block of frames in variables b with a cost of b^p.

    With the ratio w^(1/p) F_max / N of a muscle, b = ratio a, and the torque of b = 1 is B / ratio = R N / w^(1/p).
    """
    rows = (problem.strength, problem.ratio, problem.low, problem.high)
    valid: BoolArray = np.asarray(np.isfinite(problem.arm).all(axis=(1, 2)))
    for values in (problem.torque, *rows):
        valid = np.asarray(valid & np.isfinite(values).all(axis=1))
    keep = slice(None) if valid.all() else np.flatnonzero(valid)
    force, ratio, low, high = (np.ascontiguousarray((v if len(v) == 1 else v[keep]).T) for v in rows)
    unit = force / np.where(ratio > 0, ratio, 1.0)
    reach = np.multiply(np.transpose(problem.arm[keep], (1, 2, 0)), unit, order="C")
    frames = Frames(reach, np.ascontiguousarray(problem.torque[keep].T), ratio * low, ratio * high)
    block = solve_frames(frames, criterion)
    activation = np.where(ratio > 0, block["activation"] / np.where(ratio > 0, ratio, 1.0), low)
    block["activation"] = clipped(activation, low, high)
    for name, values in block.items():
        if not valid.all():  # put the values of the valid frames among all frames
            fill = {"status": INVALID, "iterations": 0}.get(name, np.nan)
            block[name] = np.full((*values.shape[:-1], len(valid)), fill, dtype=values.dtype)
            block[name][..., valid] = values
        block[name] = np.ascontiguousarray(block[name].T)
    block["force_n"] = block["activation"] * problem.strength
    return StaticOptimization(*(block[field.name] for field in fields(StaticOptimization)))  # type: ignore[arg-type]


def _near(problem: _Problem, target: FloatArray, criterion: Criterion) -> StaticOptimization:
    """Activations of least weighted squared distance from targets."""
    shape = problem.torque.shape[0], problem.strength.shape[1]
    made = np.einsum("fjm,fm->fj", problem.arm, np.broadcast_to(problem.strength * target, shape))
    low, high = problem.low, problem.high
    shifted = replace(problem, torque=problem.torque - made, low=low - target, high=high - target)
    optimized = least_cost(shifted, criterion)
    activation = clipped(optimized.activation + target, low, high)
    return replace(optimized, activation=activation, force_n=activation * problem.strength)


def _smoothly(problem: _Problem, target: FloatArray, change: FloatArray, criterion: Criterion) -> StaticOptimization:
    """Activations near targets with a cost of change, for each run of frames."""
    optimized = _near(problem, target, criterion)
    shape = optimized.activation.shape
    whole = replace(problem, **{name: np.broadcast_to(getattr(problem, name), shape) for name in ROWS})
    target, change = np.broadcast_to(target, shape), np.broadcast_to(change, shape)
    for start, stop in runs(np.isfinite(optimized.activation).all(axis=1)):
        for first in range(start, stop, RUN):
            some = slice(first, min(first + RUN, stop))
            links = np.concatenate([change[some], np.zeros_like(change[:1])])
            links[0] *= first > start
            before = optimized.activation[max(first - 1, start)]
            run = _Run(whole.at(some), whole.ratio[some] ** 2, target[some], links, before, criterion)
            part = _smooth(run, optimized.activation[some])
            for name in vars(optimized):
                getattr(optimized, name)[some] = getattr(part, name)
    return optimized


@dataclass(frozen=True, eq=False)
class _Run:
    """Successive frames with a cost of change.

    `change` has the weight of the change before each frame, and zero after the last; `before`:
    activations before the first frame.
    """

    problem: _Problem
    weight: FloatArray
    target: FloatArray
    change: FloatArray
    before: FloatArray
    criterion: Criterion

    @property
    def stiffness(self) -> FloatArray:
        """Weight of each frame with its neighbours held."""
        return np.asarray(self.weight + self.change[:-1] + self.change[1:])

    def nearest(self, target: FloatArray) -> StaticOptimization:
        """Activations nearest to targets, frame by frame, with the neighbours held."""
        return _near(replace(self.problem, ratio=np.sqrt(self.stiffness)), target, self.criterion)

    def previous(self, a: FloatArray) -> FloatArray:
        """Activations of the previous frame."""
        return np.concatenate([self.before[None], a[:-1]])

    def cost(self, a: FloatArray) -> FloatArray:
        """Cost of each frame, shape (n_frames,)."""
        rise = a - self.previous(a)
        return np.asarray((self.weight * (a - self.target) ** 2 + self.change[:-1] * rise**2).sum(axis=1))

    def slope(self, a: FloatArray) -> FloatArray:
        """Half the derivative of the cost with each activation."""
        rise = self.change[:-1] * (a - self.previous(a))
        left = np.concatenate([rise[1:], np.zeros_like(rise[:1])])
        return np.asarray(self.weight * (a - self.target) + rise - left)

    def towards(self, a: FloatArray, other: FloatArray) -> FloatArray:
        """Activations of least cost between two solutions."""
        way = other - a
        change = np.concatenate([way[:1], np.diff(way, axis=0)])
        bend = float((self.weight * way**2 + self.change[:-1] * change**2).sum())
        length = -float((self.slope(a) * way).sum()) / bend if bend > 0.0 else 0.0
        return np.asarray(a + min(max(length, 0.0), 1.0) * way)

    def gap(self, optimized: StaticOptimization) -> float:
        """Upper bound of the excess of the run's cost over its minimum."""
        problem, a = self.problem, optimized.activation
        reach = problem.arm * problem.strength[:, None]
        slope = 2.0 * self.slope(a) - np.einsum("fjm,fj->fm", reach, optimized.multiplier)
        best = clipped(a - slope / (2.0 * self.weight), problem.low, problem.high) - a
        excess = -(slope * best + self.weight * best**2)
        # muscles without a choice, which a reserve holds at a bound, have no excess
        along = np.abs(np.einsum("fjm,fj->fm", reach, optimized.certificate))
        length = np.sqrt((reach * reach).sum(axis=1))
        held = (optimized.status == RESERVE)[:, None] & (along > HELD * length)
        return float(excess[~held].sum())

    def newton(self, a: FloatArray) -> FloatArray:
        """Activations for the whole run, with muscles at their bounds held there."""
        from scipy.linalg import solve_banded  # a slow import that few trials need

        problem = self.problem
        (n_frames, n_muscles), n_joints = a.shape, problem.arm.shape[1]
        free = (a > problem.low + AT_BOUND) & (a < problem.high - AT_BOUND)
        reach = problem.arm * problem.strength[:, None]
        capacity = np.abs(reach).sum(axis=2)
        scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
        reach = reach * scale[..., None]
        size = n_muscles + n_joints  # unknowns of a frame: activations, multipliers
        band = np.zeros((2 * size + 1, n_frames, size))
        band[size, :, :n_muscles] = np.where(free, self.stiffness, 1.0)
        band[size, :, n_muscles:] = REGULAR
        link = self.change[1:-1]
        band[0, 1:, :n_muscles] = -link * free[:-1]
        band[2 * size, :-1, :n_muscles] = -link * free[1:]
        joint, muscle = np.indices((n_joints, n_muscles))
        off = n_muscles + joint - muscle
        band[size - off, :, n_muscles + joint] = np.transpose(-reach * free[:, None], (1, 2, 0))
        band[size + off, :, muscle] = np.transpose(reach, (1, 2, 0))
        right = np.zeros((n_frames, size))
        aims = self.weight * self.target
        aims[0] += self.change[0] * self.before
        right[:, :n_muscles] = np.where(free, aims, a)
        right[:, n_muscles:] = np.einsum("fjm,fm->fj", reach, a)
        solved = solve_banded((size, size), band.reshape(2 * size + 1, -1), right.ravel(), check_finite=False)
        return np.asarray(solved.reshape(n_frames, size)[:, :n_muscles])


def _smooth(run: _Run, a: FloatArray) -> StaticOptimization:
    """Solution of a run, starting from the solution without coupling."""
    for count in range(1, MOST_STEPS + 1):
        # target of each frame with its neighbours held
        sides = run.change[:-1] * run.previous(a) + run.change[1:] * np.concatenate([a[1:], a[-1:]])
        optimized = run.nearest((run.weight * run.target + sides) / run.stiffness)
        cost, gap = run.cost(optimized.activation), run.gap(optimized)
        relative = gap / max(float(cost.sum()), np.finfo(float).tiny)
        counts = np.full(len(a), count, dtype=np.int64)
        if relative <= OPTIMAL:
            break
        step = run.nearest(run.newton(optimized.activation))
        ways = [run.towards(a, way.activation) for way in (optimized, step) if np.isfinite(way.activation).all()]
        a = min(ways, key=lambda way: float(run.cost(way).sum()), default=a)
    if relative > OPTIMAL:  # no forces, as no solution passed its certificate
        for values in vars(optimized).values():
            values[...] = np.nan if values.dtype.kind == "f" else FAILED
        cost, relative = cost * np.nan, np.nan
    return replace(optimized, cost=cost, duality_gap=np.full(len(a), relative), iterations=counts)


def arm_and_torque(moment_arm_m: ArrayLike, torque_nm: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Moment arms (n_frames, n_joints, n_muscles) and torques (n_frames, n_joints)."""
    arm, torque = np.asarray(moment_arm_m, dtype=float), np.asarray(torque_nm, dtype=float)
    if arm.ndim != 3 or torque.shape != arm.shape[:2]:
        raise ValueError(
            f"moment arms have shape {arm.shape}, torques shape {torque.shape}; expected "
            "(n_frames, n_joints, n_muscles) and (n_frames, n_joints)"
        )
    return arm, torque


def per_muscle(name: str, values: ArrayLike, n_frames: int, n_muscles: int) -> FloatArray:
    """Values of shape (1 or n_frames, n_muscles); one number applies to all."""
    array = np.asarray(values, dtype=float)
    array = np.full(n_muscles, array) if array.ndim == 0 else array
    if array.shape not in {(n_muscles,), (n_frames, n_muscles)}:
        raise ValueError(
            f"{name} has shape {array.shape}, expected ({n_muscles},) or ({n_frames}, {n_muscles}): one for each muscle"
        )
    return np.atleast_2d(array)


def activation_bounds(
    least: ArrayLike, largest: ArrayLike, n_frames: int, n_muscles: int
) -> tuple[FloatArray, FloatArray]:
    """Bounds as `per_muscle`, from 0, the lower not above the upper."""
    low = per_muscle("min_activation", least, n_frames, n_muscles)
    high = per_muscle("max_activation", largest, n_frames, n_muscles)
    if (low < 0).any():
        raise ValueError(f"min_activation has {np.nanmin(low):g}, expected 0 or more: a muscle cannot push")
    if (low > high).any():
        raise ValueError("min_activation is above max_activation; expected it at or below")
    return low, high


def _positive(name: str, values: ArrayLike, n_frames: int, n_muscles: int) -> FloatArray:
    """Values as `per_muscle`, above 0."""
    array = per_muscle(name, values, n_frames, n_muscles)
    if (array <= 0).any():
        raise ValueError(f"{name} has {np.nanmin(array):g}, expected numbers above 0")
    return array


def _reserve(reserve: Literal["least", "none"] | float) -> tuple[Literal["least", "priced", "none"], float]:
    """Kind of reserve, and its price in N m (1 where it has none)."""
    if reserve == "least" or reserve == "none":
        return reserve, 1.0
    if isinstance(reserve, str) or not (0.0 < reserve < math.inf):
        raise ValueError(f"reserve is {reserve!r}, expected 'least', 'none' or a price in N m, one number above 0")
    return "priced", float(reserve)


def _exponent(exponent: float | Literal["min_max"]) -> float:
    """Exponent from 1 to 10, or inf."""
    number = math.inf if exponent == "min_max" else float(exponent)
    if not (1.0 <= number <= LARGEST_EXPONENT or number == math.inf):
        raise ValueError(
            f"exponent is {exponent!r}, expected a number from 1 to {LARGEST_EXPONENT:g}, or min_max (inf), the limit of "
            "larger exponents"
        )
    return number
