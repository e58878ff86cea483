"""Share joint torques among muscles: exact, all frames at once, with a certificate for every frame.

With moment arms R (joints x muscles, positive flexes), strengths F_max and B = R diag(F_max), a frame asks for

    minimise sum_i w_i (F_i / N_i)^p   subject to   B a = torque,   low <= a <= high,   F = a F_max,

where N is the strength [1]_, the physiological cross-section [2]_, or anything else, and p any exponent from 1; for p
without end it is the least effort of the most active muscle [3]_. `limbtorque.muscles.static_optimization.dual` solves p = 2,
`limbtorque.muscles.static_optimization.power` the other exponents, `limbtorque.muscles.static_optimization.reachable` the limit; all have as many unknowns as
joints. What they find is then judged by its certificate, not by what the method says of itself: the torque has to close,
and the duality gap, between the cost of the forces and a bound that no forces can undercut, has to be nil.

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
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
)
from limbtorque.muscles.static_optimization.dual import (
    at_frames,
    climb,
    clipped,
    least_change,
    norm,
    pulls,
    torque_capacity,
    torques,
)
from limbtorque.muscles.static_optimization.nearest import Nearest, mended, nearest
from limbtorque.muscles.static_optimization.power import response, share_power
from limbtorque.muscles.static_optimization.reachable import activation_range, largest_part, least_largest

Reserve = Literal["least", "priced", "none"]

OK = 0  #: the muscles alone can make the torque
RESERVE = 1  #: the muscles cannot reach the torque: a reserve torque makes up the rest, or there are no forces
INVALID = 2  #: a torque, moment arm or strength of the frame is not a finite number
FAILED = 3  #: no answer passed its certificate; no forces are given

SMALL = 0.01  # shares below this part of the largest possible are counted in parts of their own size ...
SMALLEST = 1e-200  # ... down to this
BLOCK = 2048  # frames worked on together, so that they stay in the processor's cache
CLOSES = 1e-11  # largest residual, as a part of what all muscles make together, that counts as closed
OPTIMAL = 1e-9  # largest duality gap, as a part of the cost, that counts as optimal
LINEAR = (1e-2, 1e-4, 1e-6)  # parts of the squares in the cost that lead to the answer for p = 1 ...
PRICED_LINEAR = (*LINEAR, 1e-8)  # ... with a priced reserve
BASIC = 1e-9  # pull at which a muscle is as good as any other
WITHIN = 1e-9  # rounding of a bound
OPTIMAL_LINEAR = 1e-6  # ... and the gap it leaves
NO_CHOICE = 1e-9  # least and greatest activation that differ by less are the same


@dataclass(frozen=True, eq=False)
class Sharing:
    """Muscle forces that make given joint torques.

    Parameters
    ----------
    force_n : ndarray of shape (n_frames, n_muscles)
        Tension of each muscle. NaN where `status` is INVALID or FAILED, or RESERVE without a reserve.
    activation : ndarray of shape (n_frames, n_muscles)
        Force over strength.
    reserve_nm : ndarray of shape (n_frames, n_joints)
        Torque that the muscles do not make, with the sign of the torque: the least in Euclidean norm, and zero where
        `status` is OK; or, where it has a price, what costs least together with the muscles. NaN where the forces are.
    status : ndarray of int8 of shape (n_frames,)
        OK, RESERVE, INVALID or FAILED.
    iterations : ndarray of int of shape (n_frames,)
        Newton steps taken.
    residual_nm : ndarray of shape (n_frames,)
        Largest absolute of moment arms times force + reserve - torque over the joints.
    cost : ndarray of shape (n_frames,)
        The least sum of weighted powers, with that of a priced reserve; for the min-max criterion the largest ratio.
    gap : ndarray of shape (n_frames,)
        Duality gap over the cost: the cost minus what the multiplier proves no forces can undercut, of the muscles that
        have a choice. On the edge of what can be reached, and beyond, some have none: theirs is the only force that
        makes the torque, or comes nearest to it.
    multiplier : ndarray of shape (n_frames, n_joints)
        The multiplier y: change of the least cost with the torque [1/(N m)]. For the min-max criterion the normal of
        the facet that asks for the largest ratio.
    certificate : ndarray of shape (n_frames, n_joints)
        Where `status` is RESERVE, a direction c of unit length that proves it: c . torque is more than
        sum over the muscles of max(c . B_i low_i, c . B_i high_i). Zero elsewhere.
    shortfall_nm : ndarray of shape (n_frames,)
        By how much even all muscles together fall short: Euclidean distance of the torque from what they can make.
    """

    force_n: FloatArray
    activation: FloatArray
    reserve_nm: FloatArray
    status: NDArray[np.int8]
    iterations: NDArray[np.int64]
    residual_nm: FloatArray
    cost: FloatArray
    gap: FloatArray
    multiplier: FloatArray
    certificate: FloatArray
    shortfall_nm: FloatArray

    @property
    def success(self) -> BoolArray:
        """Frames, shape (n_frames,), whose torque the muscles alone can make."""
        return np.asarray(self.status == OK)


@dataclass(frozen=True)
class _Rule:
    """How to share."""

    exponent: float
    reserve: Reserve
    reserve_nm: float | FloatArray
    patient: bool = False

    @property
    def largest_gap(self) -> float:
        """Duality gap that counts as optimal."""
        return OPTIMAL_LINEAR if self.exponent == 1.0 else OPTIMAL


@dataclass(frozen=True, eq=False)
class _Found:
    """Answer for a block, frames last, before it is judged."""

    share: FloatArray
    multiplier: FloatArray
    reserve: FloatArray
    iterations: NDArray[np.int64]


def share_torques(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    *,
    max_force_n: ArrayLike,
    exponent: float | Literal["min_max"] = 2.0,
    weight: ArrayLike = 1.0,
    norm_n: ArrayLike | None = None,
    min_activation: ArrayLike = 0.0,
    max_activation: ArrayLike = 1.0,
    reserve: Reserve = "least",
    reserve_nm: float = 1.0,
) -> Sharing:
    """Share joint torques among muscles with the least sum of weighted powers.

    Parameters
    ----------
    moment_arm_m : array_like of shape (n_frames, n_joints, n_muscles)
        Moment arms, positive where tension makes a positive torque.
    torque_nm : array_like of shape (n_frames, n_joints)
        Net torques that the muscles have to make, with the moment arms' sign.
    max_force_n : array_like of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, 0 or more.
    exponent : float, optional
        p, from 1 to 10, or ``"min_max"`` (``math.inf``) for the least effort of the most active muscle, then of the
        next, and so on. With 1 several sharings may cost the same: the one with the least sum of squares is taken.
    weight : array_like of shape () or (n_muscles,), optional
        w, above zero; for ``min_max`` all the same (in the limit they lose their meaning).
    norm_n : array_like of shape (n_muscles,) or (n_frames, n_muscles), optional
        N, above zero: what the force is divided by. The strength when not given, so that the ratio is the activation.
    min_activation, max_activation : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        Bounds of force / strength, 0 <= least <= largest.
    reserve : {"least", "priced", "none"}, optional
        Where muscles cannot make the torque: the reserve torque that is least in Euclidean norm makes up the rest; or a
        reserve that adds ``(reserve / reserve_nm)^2`` for each joint to the cost in every frame; or none, and no forces.
        A joint that no muscle crosses has its whole torque as reserve, unless there is none.
    reserve_nm : float, optional
        Reserve torque that costs 1: with forces over strengths, as much as a fully active muscle of weight 1.

    Returns
    -------
    Sharing
        Forces, reserves and certificates.

    Notes
    -----
    The answer is unique. A frame with a number that is not finite gives NaN. Units of torque do not matter: scaling
    moment arms and torques together leaves the forces as they are (with a priced reserve, its price as well).

    Examples
    --------
    Two flexors and an extensor of one joint; the flexors share in proportion to moment arm times strength:

    >>> shared = share_torques([[[0.02, 0.04, -0.02]]], [[10.0]], max_force_n=[500.0, 500.0, 800.0])
    >>> shared.force_n.round(3).tolist(), shared.status.tolist()
    ([[100.0, 200.0, 0.0]], [0])
    """
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    rule = _Rule(exponent_of(exponent), _reserve(reserve), float(positive("reserve_nm", reserve_nm, ())))
    strength = per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    if (strength < 0).any():
        raise ValueError(f"max_force_n has the value {strength.min():g} N: a muscle's strength is not below zero")
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    price = np.broadcast_to(positive("weight", weight, (n_muscles,)), (n_muscles,))
    unit = None if norm_n is None else per_muscle("norm_n", norm_n, n_frames, n_muscles)
    if unit is not None and (unit <= 0).any():
        raise ValueError(f"norm_n has the value {unit.min():g} N: what a force is divided by is above zero")
    if math.isinf(rule.exponent) and rule.reserve == "priced":
        raise ValueError(
            "reserve 'priced' has no meaning for exponent inf: a sum of powers and a largest ratio do not add"
        )
    if math.isinf(rule.exponent) and (price != price[:1]).any():
        raise ValueError("weight: weights have no meaning for exponent inf; give norm_n, or leave them out")
    root = price if math.isinf(rule.exponent) else price ** (1.0 / rule.exponent)
    ratio = np.broadcast_to(root, strength.shape) if unit is None else root * strength / unit
    rows = [strength, ratio, low, high]
    finite: BoolArray = np.asarray(np.isfinite(arm).all(axis=(1, 2)) & np.isfinite(torque).all(axis=1))
    for values in rows:
        finite = finite & np.isfinite(values).all(axis=1)
    shared = _in_blocks(arm, torque, rows, finite, rule)
    failed = np.flatnonzero(shared.status == FAILED)
    if failed.size:
        rows = [v[failed] if len(v) > 1 else v for v in rows]
        again = _in_blocks(arm[failed], torque[failed], rows, finite[failed], replace(rule, patient=True))
        for name in Sharing.__dataclass_fields__:
            getattr(shared, name)[failed] = getattr(again, name)
    return shared


def _in_blocks(arm: FloatArray, torque: FloatArray, rows: list[FloatArray], finite: BoolArray, rule: _Rule) -> Sharing:
    """Share a block of frames after the other; `rows` are strength, ratio (see `_share_block`) and bounds."""
    blocks = []
    for start in range(0, max(len(torque), 1), BLOCK):
        at = slice(start, start + BLOCK)
        some = [v[at] if len(v) > 1 else v for v in rows]
        blocks.append(_share_block(arm[at], torque[at], some, finite[at], rule))
    if len(blocks) == 1:
        return blocks[0]
    names = Sharing.__dataclass_fields__
    return Sharing(**{name: np.concatenate([getattr(block, name) for block in blocks]) for name in names})


def force_range(
    moment_arm_m: ArrayLike,
    sharing: Sharing,
    *,
    max_force_n: ArrayLike,
    min_activation: ArrayLike = 0.0,
    max_activation: ArrayLike = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest force of every muscle with which all together make the same torque.

    Parameters
    ----------
    moment_arm_m, max_force_n, min_activation, max_activation
        As for `share_torques`.
    sharing : Sharing
        What it returned: the torque is what its muscles make.

    Returns
    -------
    least_n, greatest_n : ndarray of shape (n_frames, n_muscles)
        Exact, by the facets of the reachable torques. NaN where there are no forces. What lies between them is decided by
        the criterion, not by the mechanics.
    """
    arm, _ = arm_and_torque(moment_arm_m, sharing.reserve_nm)
    n_frames, _, n_muscles = arm.shape
    strength = per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    if ((sharing.activation < low - WITHIN) | (sharing.activation > high + WITHIN)).any():
        raise ValueError("sharing has activations outside these bounds: give the bounds with which it was made")
    least, greatest = np.full((n_frames, n_muscles), np.nan), np.full((n_frames, n_muscles), np.nan)
    known = np.flatnonzero(np.isfinite(sharing.force_n).all(axis=1)) if n_muscles else np.zeros(0, dtype=int)
    for at, scaled, _, (force, lo, hi) in _scaled_blocks(arm, sharing.reserve_nm, [strength, low, high], known):
        activation = sharing.activation[at].T
        below, above = activation_range(scaled, torques(scaled, activation), lo, hi)
        least[at] = (np.minimum(below, activation) * force).T
        greatest[at] = (np.maximum(above, activation) * force).T
    return least, greatest


def reachable_part(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    *,
    max_force_n: ArrayLike,
    min_activation: ArrayLike,
    wanted_activation: ArrayLike,
    max_activation: ArrayLike = 1.0,
) -> FloatArray:
    """Largest part of the way from the least activations to wanted ones at which the muscles still make a torque.

    Parameters
    ----------
    moment_arm_m, torque_nm, max_force_n, min_activation, max_activation
        As for `share_torques`, the torques within reach with the least activations.
    wanted_activation : array_like of shape (n_muscles,) or (n_frames, n_muscles)
        Lower bounds that are wanted, from the least to the largest.

    Returns
    -------
    ndarray of shape (n_frames,)
        From 0 to 1; NaN where a number is not finite.
    """
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    strength = per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    low, high = activation_bounds(min_activation, max_activation, n_frames, n_muscles)
    wanted = per_muscle("wanted_activation", wanted_activation, n_frames, n_muscles)
    part = np.full(n_frames, np.nan)
    finite = np.isfinite(arm).all(axis=(1, 2)) & np.isfinite(torque).all(axis=1)
    for values in (strength, low, high, wanted):
        finite = finite & np.isfinite(values).all(axis=1)
    rows = [strength, low, wanted, high]
    for at, scaled, target, (_, *bounds) in _scaled_blocks(arm, torque, rows, np.flatnonzero(finite)):
        part[at] = largest_part(scaled, target, *bounds)
    return part


def _scaled_blocks(
    arm: FloatArray, torque: FloatArray, rows: list[FloatArray], known: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], FloatArray, FloatArray, list[FloatArray]]]:
    """Known frames, block after block: which, reach and torque, and the rows (strength first), frames last.

    Only joints that a muscle crosses, each in parts of what all muscles make at it.
    """
    for start in range(0, known.size, BLOCK):
        at = known[start : start + BLOCK]
        some = [np.ascontiguousarray(v[at if len(v) > 1 else slice(None)].T) for v in rows]
        reach = np.multiply(np.transpose(arm[at], (1, 2, 0)), some[0], order="C")
        capacity = torque_capacity(reach)
        crossed = (capacity > 0).any(axis=1)
        scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
        yield at, (reach * scale[:, None])[crossed], (torque[at].T * scale)[crossed], some


def _reserve(reserve: Reserve) -> Reserve:
    if reserve not in ("least", "priced", "none"):
        raise ValueError(f"reserve is {reserve!r}: expected 'least', 'priced' or 'none'")
    return reserve


def _share_block(arm: FloatArray, torque: FloatArray, rows: list[FloatArray], valid: BoolArray, rule: _Rule) -> Sharing:
    """Share the torques of a block of frames in shares b with a cost of b^p.

    With the ratio w^(1/p) F_max / N of a muscle, b = ratio a, and the torque of b = 1 is B / ratio = R N / w^(1/p).
    """
    strength = rows[0]
    keep = slice(None) if valid.all() else np.flatnonzero(valid)
    force, ratio, low, high = (np.ascontiguousarray((v if len(v) == 1 else v[keep]).T) for v in rows)
    unit = force / np.where(ratio > 0, ratio, 1.0)
    reach = np.multiply(np.transpose(arm[keep], (1, 2, 0)), unit, order="C")
    block = _share_frames(reach, np.ascontiguousarray(torque[keep].T), ratio * low, ratio * high, rule)
    block["activation"] = np.where(ratio > 0, block["activation"] / np.where(ratio > 0, ratio, 1.0), low)
    block["activation"] = clipped(block["activation"], low, high)
    if not valid.all():
        block = {name: _spread(values, valid, _FILL.get(name, np.nan)) for name, values in block.items()}
    activation = np.ascontiguousarray(block.pop("activation").T)
    block = {name: np.ascontiguousarray(values.T) for name, values in block.items()}
    return Sharing(force_n=activation * strength, activation=activation, **block)  # type: ignore[arg-type]


_FILL = {"status": INVALID, "iterations": 0}


def _spread(values: FloatArray, valid: BoolArray, fill: float) -> FloatArray:
    """Put the values of the valid frames (last axis) among all frames."""
    spread = np.full((*values.shape[:-1], len(valid)), fill, dtype=values.dtype)
    spread[..., valid] = values
    return spread


@dataclass(frozen=True, eq=False)
class _Frames:
    """What is asked of the muscles of valid frames, on the last axis: ``reach b = torque``, ``low <= b <= high``."""

    reach: FloatArray
    torque: FloatArray
    low: FloatArray
    high: FloatArray
    scale: FloatArray  # one over what all muscles make at each joint with b = 1

    def without(self, held: BoolArray, share: FloatArray) -> _Frames:
        """The frames without the muscles that have no choice, and without their torque."""
        left = self.torque - torques(self.reach, np.where(held, share, 0.0))
        return replace(self, reach=self.reach * ~held, torque=left)

    @property
    def scaled(self) -> tuple[FloatArray, FloatArray]:
        """Reach and torque, every joint in parts of what all muscles make at it."""
        return self.reach * self.scale[:, None], self.torque * self.scale


def _share_frames(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, rule: _Rule
) -> dict[str, FloatArray]:
    """Answer and certificate of valid frames, on the last axis; solved in parts of the size that shares will have."""
    power = rule.exponent if math.isfinite(rule.exponent) else 1.0
    capacity = torque_capacity(reach)
    bare = capacity == 0  # joints without a muscle: their torque is all reserve
    scale = 1.0 / np.where(bare, 1.0, capacity)
    size = _sizes(reach, torque, low, high, (np.abs(torque) * scale * ~bare).max(axis=0, initial=0.0))
    if (size == 1.0).all():
        return _answer(_Frames(reach, torque, low, high, scale), bare, rule)
    frames = _Frames(reach, torque / size, low / size, high / size, scale)
    answer = _answer(frames, bare, replace(rule, reserve_nm=rule.reserve_nm * size ** (power / 2.0 - 1.0)))
    for name in ("activation", "reserve_nm", "residual_nm", "shortfall_nm"):
        answer[name] *= size
    answer["cost"] *= size**power
    answer["multiplier"] *= size ** (power - 1.0)
    return answer


def _sizes(reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, part: FloatArray) -> FloatArray:
    """Order of the largest share of each frame, a power of two: 1 where shares end at 1 and torques are not small.

    `part` is the torque as a part of what all muscles make. Where it is small, a first solution tells.
    """
    size = np.broadcast_to(high.max(axis=0, initial=0.0), part.shape).copy()
    at = np.flatnonzero((part > 0) & (part < SMALL * size))
    if at.size:
        few_reach, few_torque, few_low, few_high = at_frames(at, reach, torque, low, high)
        few = nearest(few_reach, few_torque, few_low, few_high).activation.max(axis=0, initial=0.0)
        size[at] = np.where(few < SMALL * size[at], few, size[at])
    size = np.maximum(size, low.max(axis=0, initial=0.0))
    return np.asarray(np.exp2(np.floor(np.log2(np.where(size > 0, np.maximum(size, SMALLEST), 1.0)))))


def _answer(frames: _Frames, bare: BoolArray, rule: _Rule) -> dict[str, FloatArray]:
    """Answer and certificate of frames; the torque of bare joints is all reserve."""
    torque = frames.torque
    if bare.any():
        frames = replace(frames, torque=np.where(bare, 0.0, torque))
    first = nearest(frames.reach, frames.torque, frames.low, frames.high)
    if rule.reserve == "priced":
        found = _priced(frames, first, rule)
        cost, gap = _certify(frames, found, rule)
    else:
        found, cost, gap = _among_muscles(replace(frames, torque=frames.torque - first.reserve), first, rule)
    missing = np.where(bare, torque, first.reserve)
    distance = norm(missing)
    status = np.where(distance > 0, RESERVE, OK)
    reserve = np.where(bare, torque, found.reserve)
    proof = missing / np.where(distance > 0, distance, 1.0)
    rest = torque - torques(frames.reach, found.share) - reserve
    open_torque = (np.abs(rest) > CLOSES * (1.0 / frames.scale + np.abs(torque))).any(axis=0)
    status[first.failed | open_torque | ~(np.abs(gap) <= rule.largest_gap)] = FAILED
    if (status == RESERVE).any():
        along = pulls(frames.reach, proof)
        excess = (proof * torque).sum(axis=0) - np.maximum(along * frames.low, along * frames.high).sum(axis=0)
        status[(status == RESERVE) & ~(excess > 0.5 * distance)] = FAILED
    answer = {
        "activation": found.share,
        "reserve_nm": reserve,
        "residual_nm": np.abs(rest).max(axis=0, initial=0.0),
        "cost": cost,
        "gap": gap,
        "multiplier": found.multiplier,
    }
    proofs = {"certificate": proof, "shortfall_nm": distance}
    lacks = status == FAILED if rule.reserve != "none" else status != OK
    for values in answer.values():
        values[..., lacks] = np.nan
    for values in proofs.values():
        values[..., status == FAILED] = np.nan
    return {**answer, **proofs, "status": status.astype(np.int8), "iterations": found.iterations}


def _among_muscles(frames: _Frames, first: Nearest, rule: _Rule) -> tuple[_Found, FloatArray, FloatArray]:
    """Share torques within reach among the muscles that no reserve holds at a bound, and certify.

    On the edge of what can be reached more muscles have no choice, and multipliers run far away: with patience those whose
    least and greatest share are the same are held, too.
    """
    held, start = first.bound, first.activation
    if rule.patient:
        crossed = (frames.reach != 0).any(axis=(1, 2))
        scaled, target = frames.scaled
        least, greatest = activation_range(scaled[crossed], target[crossed], frames.low, frames.high)
        stuck = ~held & (greatest - least <= NO_CHOICE)
        held, start = held | stuck, np.where(stuck, (least + greatest) / 2.0, start)
    left = frames.without(held, start) if held.any() else frames
    found = _Found(start, first.multiplier * 2.0, first.reserve, first.iterations)  # of b^2, not b^2 / 2
    if rule.exponent != 2.0:
        found = _other_criterion(left, found, held, rule)
    elif rule.patient:
        again = nearest(left.reach, left.torque, left.low, left.high)
        found = replace(found, share=np.where(held, start, again.activation), multiplier=again.multiplier * 2.0)
    return found, *_certify(left, found, rule, held=held)


def _other_criterion(frames: _Frames, start: _Found, held: BoolArray, rule: _Rule) -> _Found:
    """Share among the muscles that are not held by another exponent than 2; `start` makes the torque."""
    scaled, target = frames.scaled
    bounds = (frames.low, frames.high)
    own = np.where(held, 0.0, start.share)
    if math.isinf(rule.exponent):
        free = (frames.reach != 0).any(axis=(1, 2))
        share, normal = least_largest(scaled[free], target[free], *bounds)
        y, iterations = np.zeros_like(target), np.zeros_like(start.iterations)
        y[free] = normal
    elif rule.exponent == 1.0:
        solve = _linear_one_by_one if rule.patient else _linear
        share, y, iterations = solve(scaled, target, *bounds, own)
    else:
        solved = share_power(scaled, target, *bounds, exponent=rule.exponent, start=own, patient=rule.patient)
        share, y, iterations = solved.activation, solved.multiplier, solved.iterations
    return _Found(np.where(held, start.share, share), y * frames.scale, start.reserve, start.iterations + iterations)


def _linear(
    reach: FloatArray,
    torque: FloatArray,
    low: FloatArray,
    high: FloatArray,
    start: FloatArray,
    weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Least sum of shares, of those with the least squares: a little of the squares in the cost picks it.

    Where that little is small enough the answer is exact (Mangasarian and Meyer 1979, SIAM J Control Optim 17:745-752).
    """
    size = start.max(axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    low, high, torque = low / size, high / size, torque / size
    spread = None if weight is None else weight / size
    y, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    for part in LINEAR if weight is None else PRICED_LINEAR:
        root = math.sqrt(part)
        solved = climb(
            reach / root,
            torque,
            root * low,
            root * high,
            offset=np.full_like(start, 1.0 / root),
            start=y,
            weight=spread,
            closure=1e-9,
        )
        y, iterations = solved.multiplier, iterations + solved.iterations
    pull = pulls(reach / root, y) - 1.0 / root
    share = clipped(clipped(pull, root * low, root * high) / root, low, high)
    if weight is None:  # rounding of the multiplier, divided by the small part, leaves a little torque
        share = mended(reach, torque, low, high, share)
    y = y + least_change(reach, 1.0 - pulls(reach, y), (pull > root * low) & (pull < root * high))
    return share * size, y, iterations


def _linear_one_by_one(
    reach: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Least sum of shares by SciPy's linear programme, frame by frame; of its answers that with the least squares."""
    from scipy.optimize import linprog  # here: few trials have such a frame

    low, high = (np.broadcast_to(v, start.shape).copy() for v in (low, high))
    y, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    rows = (reach != 0).any(axis=(1, 2))
    for f in range(torque.shape[1]):
        bounds = np.stack([low[:, f], high[:, f]], axis=1)
        answer = linprog(np.ones(len(start)), A_eq=reach[rows, :, f], b_eq=torque[rows, f], bounds=bounds)
        if answer.status == 0:
            y[rows, f], iterations[f] = answer.eqlin.marginals, answer.nit
    gain = pulls(reach, y) - 1.0
    low, high = np.where(gain > BASIC, high, low), np.where(gain < -BASIC, low, high)
    return nearest(reach, torque, low, high).activation, y, iterations


def _priced(frames: _Frames, first: Nearest, rule: _Rule) -> _Found:
    """Share between the muscles and reserves that cost (reserve / price)^2."""
    scaled, target = frames.scaled
    bounds = (frames.low, frames.high)
    weight = (frames.scale * rule.reserve_nm) ** 2
    solved = climb(scaled, target, *bounds, weight=weight)  # of b^2 / 2 and (reserve / price)^2 / 2
    share = clipped(pulls(scaled, solved.multiplier), *bounds)
    y, iterations = 2.0 * solved.multiplier, solved.iterations
    if rule.exponent == 1.0:
        share, y, more = _linear(scaled, target, *bounds, share, weight / 2.0)
        iterations = iterations + more
    elif rule.exponent != 2.0:
        power = share_power(
            scaled,
            target,
            *bounds,
            exponent=rule.exponent,
            start=share,
            weight=weight / 2.0,
            patient=rule.patient,
        )
        share, y, iterations = power.activation, power.multiplier, iterations + power.iterations
    reserve = frames.torque - torques(frames.reach, share)
    return _Found(share, y * frames.scale, reserve, first.iterations + iterations)


def _certify(
    frames: _Frames, found: _Found, rule: _Rule, *, held: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Cost of all muscles, and the duality gap of those that have a choice as a part of their cost.

    The gap is that of the torque that they make: what is missing from the one asked for is told as the residual.
    """
    b, y, p = found.share, found.multiplier, rule.exponent
    free = np.ones(b.shape) if held is None else ~held
    if math.isinf(p):
        cost, own = b.max(axis=0, initial=0.0), (b * free).max(axis=0, initial=0.0)
        low = (np.broadcast_to(frames.low, b.shape) * free).max(axis=0, initial=0.0)
        bound = np.maximum(_least_level(frames, y, own), low)
        return cost, (own - bound) / np.where(own > 0, own, 1.0)
    each = _powers(b, p)
    reserves = np.zeros(len(y.T))
    if rule.reserve == "priced":
        reserves = ((found.reserve / rule.reserve_nm) ** 2).sum(axis=0)
    cost, own = each.sum(axis=0) + reserves, (each * free).sum(axis=0) + reserves
    high = frames.high
    if p == 1.0:  # no muscle of the best sharing costs more than all of this one; the bound makes rounding harmless
        high = np.maximum(np.minimum(high, 2.0 * own), frames.low)
    pull = pulls(frames.reach, y)
    best = _best_answer(pull, frames.low, high, p)
    made = torques(frames.reach, b) + (found.reserve if rule.reserve == "priced" else 0.0)
    bound = (y * made).sum(axis=0) - ((pull * best - _powers(best, p)) * free).sum(axis=0)
    if rule.reserve == "priced":
        bound = bound - ((y * rule.reserve_nm) ** 2).sum(axis=0) / 4.0
    return cost, (own - bound) / np.where(own > 0, own, 1.0)


def _powers(share: FloatArray, exponent: float) -> FloatArray:
    if exponent == 2.0:
        return share * share
    return share * share * share if exponent == 3.0 else share**exponent


def _best_answer(pull: FloatArray, low: FloatArray, high: FloatArray, exponent: float) -> FloatArray:
    """Shares that gain most where a unit of share earns `pull`."""
    if exponent == 1.0:
        return np.where(pull > 1.0, high, low)
    return response(pull, low, high, exponent)


def _least_level(frames: _Frames, normal: FloatArray, level: FloatArray) -> FloatArray:
    """Largest share below which no sharing makes the torque, by its component along a normal.

    Found by halving from a level that is enough.
    """
    along = pulls(frames.reach, normal)
    asked = (normal * frames.torque).sum(axis=0)
    against = (np.minimum(along, 0.0) * frames.low).sum(axis=0)
    below, above = np.zeros(asked.shape), level.copy()
    for _ in range(60):
        middle = (below + above) / 2.0
        share = clipped(np.broadcast_to(middle, along.shape), frames.low, frames.high)
        short = (np.maximum(along, 0.0) * share).sum(axis=0) + against < asked
        below, above = np.where(short, middle, below), np.where(short, above, middle)
    return below
