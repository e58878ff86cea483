"""Exact static optimization of muscle forces with optimality certificates.

With moment arms R (joints x muscles, positive flexes), strengths F_max and B = R diag(F_max), the problem of a frame is

    minimise sum_i w_i (F_i / N_i)^p   subject to   B a = torque,   low <= a <= high,   F = a F_max,

where N is the strength [1]_, the physiological cross-section [2]_, or any other unit, and p any exponent from 1; the limit
of large p is the least activation of the most active muscle [3]_. `dual` solves p = 2, `power` the other exponents and
`reachable` the limit; all have as many unknowns as joints.

The optimality certificate of a frame is its multiplier with two verifiable numbers: the residual, the torque not made by
forces and reserve, and the duality gap, the cost minus a lower bound for all admissible forces that follows from the
multiplier. Where both vanish, no other forces make the torque at a lower cost. A frame that fails the check has no
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
from limbtorque.muscles.static_optimization.arguments import (
    activation_bounds,
    arm_and_torque,
    exponent_of,
    per_muscle,
    positive,
    reserve_of,
    strengths,
)
from limbtorque.muscles.static_optimization.certificate import certify
from limbtorque.muscles.static_optimization.criteria import among_muscles, priced
from limbtorque.muscles.static_optimization.dual import at_frames, clipped, norm, pulls, torque_capacity, torques
from limbtorque.muscles.static_optimization.nearest import nearest
from limbtorque.muscles.static_optimization.problem import Criterion, Frames

OK = 0  #: the muscles alone can make the torque
RESERVE = 1  #: the muscles cannot reach the torque: a reserve torque adds the rest, or there are no forces
INVALID = 2  #: a torque, moment arm or strength of the frame is not a finite number
FAILED = 3  #: no solution passed its optimality certificate; no forces

SMALL = 0.01  # activations below this part of the largest possible are scaled by their own size ...
SMALLEST = 1e-200  # ... down to this
BLOCK = 2048  # frames solved together, so that they fit in the processor's cache
CLOSES = 1e-11  # largest residual, as a part of the capacity of all muscles, that counts as closed


@dataclass(frozen=True, eq=False)
class StaticOptimization:
    """Muscle forces of least cost for joint torques, with optimality certificate.

    Those of `PreparedMuscles`, of one frame, have no axis of frames.

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
        """Frames with a torque that the muscles alone can make, shape (n_frames,)."""
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
    """Find the muscle forces of least cost that make the joint torques.

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
    weight : array_like of shape () or (n_muscles,), optional
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
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    criterion = Criterion(exponent_of(exponent), *reserve_of(reserve))
    strength = strengths(max_force_n, n_frames, n_muscles)
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    price = np.broadcast_to(positive("weight", weight, (n_muscles,)), (n_muscles,))
    unit = None if norm_n is None else per_muscle("norm_n", norm_n, n_frames, n_muscles)
    if unit is not None and (unit <= 0).any():
        raise ValueError(f"norm_n has {unit.min():g} N, expected numbers above 0")
    if math.isinf(criterion.exponent) and criterion.reserve == "priced":
        raise ValueError("a priced reserve has no meaning for exponent inf; expected reserve 'least' or 'none'")
    if math.isinf(criterion.exponent) and (price != price[:1]).any():
        raise ValueError("weights have no meaning for exponent inf; give norm_n, or leave weight out")
    root = price if math.isinf(criterion.exponent) else price ** (1.0 / criterion.exponent)
    ratio = np.broadcast_to(root, strength.shape) if unit is None else root * strength / unit
    return least_cost(arm, torque, [strength, ratio, low, high], criterion)


def least_cost(arm: FloatArray, torque: FloatArray, rows: list[FloatArray], criterion: Criterion) -> StaticOptimization:
    """Solution of checked arrays; hard frames are solved again by slower methods.

    Parameters
    ----------
    arm : ndarray of shape (n_frames, n_joints, n_muscles)
        Moment arms.
    torque : ndarray of shape (n_frames, n_joints)
        Torques.
    rows : list of ndarray of shape (1, n_muscles) or (n_frames, n_muscles)
        Strength; the ratio whose product with the activation has the cost of a power; least and largest activation, which
        may be below zero with exponent 2.
    criterion : Criterion
        Cost of forces and reserves.
    """
    finite: BoolArray = np.asarray(np.isfinite(arm).all(axis=(1, 2)) & np.isfinite(torque).all(axis=1))
    for values in rows:
        finite = finite & np.isfinite(values).all(axis=1)
    optimized = _in_blocks(arm, torque, rows, finite, criterion)
    failed = np.flatnonzero(optimized.status == FAILED)
    if failed.size:
        rows = [v[failed] if len(v) > 1 else v for v in rows]
        again = _in_blocks(arm[failed], torque[failed], rows, finite[failed], replace(criterion, patient=True))
        for field in fields(StaticOptimization):
            getattr(optimized, field.name)[failed] = getattr(again, field.name)
    return optimized


def _in_blocks(
    arm: FloatArray, torque: FloatArray, rows: list[FloatArray], finite: BoolArray, criterion: Criterion
) -> StaticOptimization:
    """Solve block by block; `rows` are strength, ratio and bounds."""
    blocks = []
    for start in range(0, max(len(torque), 1), BLOCK):
        at = slice(start, start + BLOCK)
        some = [v[at] if len(v) > 1 else v for v in rows]
        blocks.append(_solve_block(arm[at], torque[at], some, finite[at], criterion))
    if len(blocks) == 1:
        return blocks[0]
    names = [field.name for field in fields(StaticOptimization)]
    return StaticOptimization(*(np.concatenate([getattr(block, name) for block in blocks]) for name in names))


def _solve_block(
    arm: FloatArray, torque: FloatArray, rows: list[FloatArray], valid: BoolArray, criterion: Criterion
) -> StaticOptimization:
    """Solve a block of frames in variables b with a cost of b^p.

    With the ratio w^(1/p) F_max / N of a muscle, b = ratio a, and the torque of b = 1 is B / ratio = R N / w^(1/p).
    """
    strength = rows[0]
    keep = slice(None) if valid.all() else np.flatnonzero(valid)
    force, ratio, low, high = (np.ascontiguousarray((v if len(v) == 1 else v[keep]).T) for v in rows)
    unit = force / np.where(ratio > 0, ratio, 1.0)
    reach = np.multiply(np.transpose(arm[keep], (1, 2, 0)), unit, order="C")
    block = _solve_frames(reach, np.ascontiguousarray(torque[keep].T), ratio * low, ratio * high, criterion)
    block["activation"] = np.where(ratio > 0, block["activation"] / np.where(ratio > 0, ratio, 1.0), low)
    block["activation"] = clipped(block["activation"], low, high)
    if not valid.all():
        block = {name: _spread(values, valid, _FILL.get(name, np.nan)) for name, values in block.items()}
    activation = np.ascontiguousarray(block.pop("activation").T)
    block = {name: np.ascontiguousarray(values.T) for name, values in block.items()}
    block |= {"force_n": activation * strength, "activation": activation}
    return StaticOptimization(*(block[field.name] for field in fields(StaticOptimization)))  # type: ignore[arg-type]


_FILL = {"status": INVALID, "iterations": 0}


def _spread(values: FloatArray, valid: BoolArray, fill: float) -> FloatArray:
    """Put the values of the valid frames (last axis) among all frames."""
    spread = np.full((*values.shape[:-1], len(valid)), fill, dtype=values.dtype)
    spread[..., valid] = values
    return spread


def _solve_frames(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, criterion: Criterion
) -> dict[str, FloatArray]:
    """Solution and optimality certificate of valid frames (last axis), in parts."""
    power = criterion.exponent if math.isfinite(criterion.exponent) else 1.0
    capacity = torque_capacity(reach)
    bare = capacity == 0  # joints without a muscle: their torque is all reserve
    scale = 1.0 / np.where(bare, 1.0, capacity)
    size = _sizes(reach, torque, low, high, (np.abs(torque) * scale * ~bare).max(axis=0, initial=0.0))
    if (size == 1.0).all():
        return _answer(Frames(reach, torque, low, high, scale), bare, criterion)
    frames = Frames(reach, torque / size, low / size, high / size, scale)
    answer = _answer(frames, bare, replace(criterion, reserve_nm=criterion.reserve_nm * size ** (power / 2.0 - 1.0)))
    for name in ("activation", "reserve_nm", "residual_nm", "shortfall_nm"):
        answer[name] *= size
    answer["cost"] *= size**power
    answer["multiplier"] *= size ** (power - 1.0)
    return answer


def _sizes(reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, part: FloatArray) -> FloatArray:
    """Power of two nearest the largest activation; 1 unless torques are small.

    `part` is the torque over the capacity. Where it is small, a first solution decides. Activations and bounds below zero
    count by their size.
    """
    size = np.broadcast_to(np.maximum(high, -low).max(axis=0, initial=0.0), part.shape).copy()
    at = np.flatnonzero((part > 0) & (part < SMALL * size))
    if at.size:
        few_reach, few_torque, few_low, few_high = at_frames(at, reach, torque, low, high)
        few = np.abs(nearest(few_reach, few_torque, few_low, few_high).activation).max(axis=0, initial=0.0)
        size[at] = np.where(few < SMALL * size[at], few, size[at])
    size = np.maximum(size, np.maximum(low, -high).max(axis=0, initial=0.0))
    return np.asarray(np.exp2(np.floor(np.log2(np.where(size > 0, np.maximum(size, SMALLEST), 1.0)))))


def _answer(frames: Frames, bare: BoolArray, criterion: Criterion) -> dict[str, FloatArray]:
    """Solution and optimality certificate; the torque of bare joints is all reserve."""
    torque = frames.torque
    if bare.any():
        frames = replace(frames, torque=np.where(bare, 0.0, torque))
    first = nearest(frames.reach, frames.torque, frames.low, frames.high)
    if criterion.reserve == "priced":
        found = priced(frames, first, criterion)
        cost, gap = certify(frames, found, criterion)
    else:
        found, cost, gap = among_muscles(replace(frames, torque=frames.torque - first.reserve), first, criterion)
    missing = np.where(bare, torque, first.reserve)
    distance = norm(missing)
    status = np.where(distance > 0, RESERVE, OK)
    reserve = np.where(bare, torque, found.reserve)
    proof = missing / np.where(distance > 0, distance, 1.0)
    rest = torque - torques(frames.reach, found.share) - reserve
    open_torque = (np.abs(rest) > CLOSES * (1.0 / frames.scale + np.abs(torque))).any(axis=0)
    status[first.failed | open_torque | ~(np.abs(gap) <= criterion.largest_gap)] = FAILED
    if (status == RESERVE).any():
        along = pulls(frames.reach, proof)
        excess = (proof * torque).sum(axis=0) - np.maximum(along * frames.low, along * frames.high).sum(axis=0)
        status[(status == RESERVE) & ~(excess > 0.5 * distance)] = FAILED
    answer = {
        "activation": found.share,
        "reserve_nm": reserve,
        "residual_nm": np.abs(rest).max(axis=0, initial=0.0),
        "cost": cost,
        "duality_gap": gap,
        "multiplier": found.multiplier,
    }
    proofs = {"certificate": proof, "shortfall_nm": distance}
    lacks = status == FAILED if criterion.reserve != "none" else status != OK
    for values in answer.values():
        values[..., lacks] = np.nan
    for values in proofs.values():
        values[..., status == FAILED] = np.nan
    return {**answer, **proofs, "status": status.astype(np.int8), "iterations": found.iterations}
