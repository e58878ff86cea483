"""Exact static optimization of muscle forces with optimality certificates.

With moment arms R (joints x muscles, positive flexes), strengths F_max and B = R diag(F_max), the problem of a frame is

    minimise sum_i w_i (F_i / N_i)^p   subject to   B a = torque,   low <= a <= high,   F = a F_max,

where N is the strength [1]_, the physiological cross-section [2]_, or any other unit, and p is 2 or 3; the limit of large p
is the least activation of the most active muscle [3]_. `dual` solves powers and `reachable` the limit; all have as many
unknowns as joints.

With p = 2 the activations can have targets c: the cost is then sum_i w_i (a_i - c_i)^2, the same problem in a - c, with the
torque of the targets subtracted and the bounds shifted. A cost of several squares is one of these: w a^2 + k (a - e)^2 has
the weight w + k and the target k e / (w + k), plus a constant.

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

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.criteria import FAILED, INVALID, OK, Criterion, solve_frames
from limbtorque.muscles.static_optimization.dual import Frames, clipped

BLOCK = 2048  # frames solved together, so that they fit in the processor's cache


@dataclass(frozen=True, eq=False)
class StaticOptimization:
    """Muscle forces of least cost for joint torques, with optimality certificate.

    Parameters
    ----------
    force_n : ndarray of shape (n_frames, n_muscles)
        Tension of each muscle. NaN where `status` is INVALID or FAILED.
    activation : ndarray of shape (n_frames, n_muscles)
        Force over strength.
    reserve_nm : ndarray of shape (n_frames, n_joints)
        Torque that the muscles do not make, with the sign of the torque: the least in Euclidean norm, and zero where
        `status` is OK. NaN where the forces are.
    status : ndarray of int8 of shape (n_frames,)
        OK, RESERVE, INVALID or FAILED.
    iterations : ndarray of int of shape (n_frames,)
        Number of Newton steps.
    residual_nm : ndarray of shape (n_frames,)
        Largest absolute of moment arms times force + reserve - torque over the joints.
    cost : ndarray of shape (n_frames,)
        The least sum of weighted powers; for the min-max criterion the largest ratio.
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
    target: ArrayLike = 0.0,
    min_activation: ArrayLike = 0.0,
    max_activation: ArrayLike = 1.0,
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
    exponent : {2, 3, "min_max"}, optional
        p, or ``"min_max"`` (``math.inf``) for the least effort of the most active muscle, then of the next, and so on.
    weight : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        w, above zero; for ``min_max`` all equal (in the limit they have no effect).
    norm_n : array_like of shape (n_muscles,) or (n_frames, n_muscles), optional
        N, above zero: divisor of the force. The strength by default, so that the ratio is the activation.
    target : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        Activation from which the distance of each activation counts, inside the bounds or not; with exponent 2 only.
    min_activation, max_activation : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        Bounds of force / strength, 0 <= least <= largest.

    Returns
    -------
    StaticOptimization
        Forces, reserves and optimality certificates. Targets affect neither which torques can be made nor the reserve.

    Notes
    -----
    Where the muscles cannot make the torque, the least reserve torque in Euclidean norm adds the rest; a joint that no
    muscle crosses has its whole torque as reserve. The solution is unique. A frame with a number that is not finite gives
    NaN. Units of torque do not matter: scaling moment arms and torques together does not change the forces.

    Examples
    --------
    Two flexors and an extensor of one joint; the flexors share it in proportion to moment arm times strength:

    >>> shared = share_torques([[[0.02, 0.04, -0.02]]], [[10.0]], [500.0, 500.0, 800.0])
    >>> shared.force_n.round(3).tolist(), shared.status.tolist()
    ([[100.0, 200.0, 0.0]], [0])

    Two equal flexors; one is wanted at 0.3, and the torque decides the rest:

    >>> near = share_torques([[[0.02, 0.02]]], [[10.0]], [1000.0, 1000.0], target=[0.3, 0.0])
    >>> near.activation.round(3).tolist(), near.cost.round(4).tolist()
    ([[0.4, 0.1]], [0.02])
    """
    power = _exponent(exponent)
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    strength = per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    if (strength < 0).any():
        raise ValueError(f"max_force_n has {np.nanmin(strength):g} N, expected strengths of 0 or more")
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    weights = _positive("weight", weight, n_frames, n_muscles)
    if math.isinf(power) and (weights != weights[:, :1]).any():
        raise ValueError("weights have no meaning for exponent inf; give norm_n, or leave weight out")
    ratio = weights ** (1.0 if math.isinf(power) else 1.0 / power)
    if norm_n is not None:
        ratio = ratio * strength / _positive("norm_n", norm_n, n_frames, n_muscles)
    problem, criterion = _Problem(arm, torque, strength, ratio, low, high), Criterion(power)
    centre = per_muscle("target", target, n_frames, n_muscles)
    if not centre.any():
        return _least_cost(problem, criterion)
    if power != 2.0:
        raise ValueError(f"a target needs exponent 2, the exponent is {exponent}")
    return _near(problem, centre, criterion)


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


def _least_cost(problem: _Problem, criterion: Criterion) -> StaticOptimization:
    """Solve in blocks; hard frames are solved again by slower methods."""
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
        again = _least_cost(problem.at(failed), replace(criterion, patient=True))
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
    optimized = _least_cost(shifted, criterion)
    activation = clipped(optimized.activation + target, low, high)
    return replace(optimized, activation=activation, force_n=activation * problem.strength)


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


def _exponent(exponent: float | Literal["min_max"]) -> float:
    """Exponent 2 or 3, or inf."""
    number = math.inf if exponent == "min_max" else float(exponent)
    if number not in (2.0, 3.0, math.inf):
        raise ValueError(f"exponent is {exponent!r}, expected 2, 3, or min_max (inf), the limit of larger exponents")
    return number
