"""Share joint torques among muscles: exact, all frames at once, with a certificate for every frame.

With moment arms R (joints x muscles, positive flexes), strengths F_max and B = R diag(F_max), a frame asks for

    minimise sum_i w_i (F_i / N_i)^p   subject to   B a = torque,   low <= a <= high,   F = a F_max,

where N is the strength [1]_, the physiological cross-section [2]_, or anything else, and p any exponent from 1; for p
without end it is the least effort of the most active muscle [3]_. `limbtorque.muscles.dual` solves p = 2,
`limbtorque.muscles.power` the other exponents, `limbtorque.muscles.reachable` the limit; all have as many unknowns as
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
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.muscles.dual import (
    Nearest,
    at_frames,
    climb,
    clipped,
    least_change,
    nearest,
    norm,
    pulls,
    torque_capacity,
    torques,
)
from limbtorque.muscles.power import share_power
from limbtorque.muscles.reachable import activation_range, least_largest

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Reserve = Literal["least", "priced", "none"]

OK = 0  #: the muscles alone can make the torque
RESERVE = 1  #: the muscles cannot reach the torque: a reserve torque makes up the rest, or there are no forces
INVALID = 2  #: a torque, moment arm or strength of the frame is not a finite number
FAILED = 3  #: no answer passed its certificate; no forces are given

SMALL = 0.01  # torques below this part of what all muscles make are solved in parts of their own size ...
SMALLEST = 1e-200  # ... down to this
BLOCK = 2048  # frames worked on together, so that they stay in the processor's cache
CLOSES = 1e-11  # largest residual, as a part of what all muscles make together, that counts as closed
OPTIMAL = 1e-8  # largest duality gap, as a part of the cost, that counts as optimal
LINEAR = (1e-2, 1e-4, 1e-6)  # shares of squared activations in the cost that lead to the answer for p = 1 ...
TOUCH = 1e-3  # largest part of the largest activation by which rounding is mended
OPTIMAL_LINEAR = 1e-6  # ... and the gap it leaves
NO_CHOICE = 1e-9  # least and greatest activation that differ by less are the same
LARGEST_EXPONENT = 10.0


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
        Duality gap over the cost: the cost minus what the multiplier proves no forces can undercut. In RESERVE frames
        of the muscles that have a choice.
    multiplier : ndarray of shape (n_frames, n_joints)
        The multiplier y: change of the least cost with the torque [1/(N m)]. For the min-max criterion the normal of
        the facet that asks for the largest ratio.
    certificate : ndarray of shape (n_frames, n_joints)
        Where `status` is RESERVE, a direction c of unit length that proves it: c . torque is more than
        sum over the muscles of max(c . B_i low_i, c . B_i high_i). Zero elsewhere.
    shortfall_nm : ndarray of shape (n_frames,)
        By how much even all muscles together fall short: Euclidean distance of the torque from what they can make.
    """

    force_n: Floats
    activation: Floats
    reserve_nm: Floats
    status: NDArray[np.int8]
    iterations: NDArray[np.int64]
    residual_nm: Floats
    cost: Floats
    gap: Floats
    multiplier: Floats
    certificate: Floats
    shortfall_nm: Floats

    @property
    def success(self) -> Bools:
        """Frames, shape (n_frames,), whose torque the muscles alone can make."""
        return np.asarray(self.status == OK)


@dataclass(frozen=True)
class _Rule:
    """How to share."""

    exponent: float
    reserve: Reserve
    reserve_nm: float | Floats
    patient: bool = False

    @property
    def largest_gap(self) -> float:
        """Duality gap that counts as optimal."""
        return OPTIMAL_LINEAR if self.exponent == 1.0 else OPTIMAL


@dataclass(frozen=True, eq=False)
class _Found:
    """Answer for a block, frames last, before it is judged."""

    activation: Floats
    multiplier: Floats
    reserve: Floats
    iterations: NDArray[np.int64]


def share_torques(
    moment_arm_m: ArrayLike,
    torque_nm: ArrayLike,
    *,
    max_force_n: ArrayLike,
    exponent: float = 2.0,
    weight: ArrayLike = 1.0,
    norm_n: ArrayLike | None = None,
    least_activation: ArrayLike = 0.0,
    largest_activation: ArrayLike = 1.0,
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
        p, from 1 to 10, or ``math.inf`` for the least effort of the most active muscle, then of the next, and so on.
        With 1 several sharings may cost the same: the one with the least sum of squared activations is taken.
    weight : array_like of shape () or (n_muscles,), optional
        w, above zero; for ``math.inf`` all the same (in the limit they lose their meaning).
    norm_n : array_like of shape (n_muscles,) or (n_frames, n_muscles), optional
        N, above zero: what the force is divided by. The strength when not given, so that the ratio is the activation.
    least_activation, largest_activation : array_like of shape (), (n_muscles,) or (n_frames, n_muscles), optional
        Bounds of force / strength, 0 <= least <= largest.
    reserve : {"least", "priced", "none"}, optional
        Where muscles cannot make the torque: the reserve torque that is least in Euclidean norm makes up the rest; or a
        reserve that adds ``(reserve / reserve_nm)^2`` for each joint to the cost in every frame; or none, and no forces.
        A joint that no muscle crosses has its whole torque as reserve, unless there is none.
    reserve_nm : float, optional
        Reserve torque that costs 1, as much as a fully active muscle of weight 1.

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
    arm, torque = _frames(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    rule = _Rule(_exponent(exponent), _reserve(reserve), float(_positive("reserve_nm", reserve_nm, ())))
    strength = _per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    if (strength < 0).any():
        raise ValueError(f"max_force_n has the value {strength.min():g} N: a muscle's strength is not below zero")
    low, high = _bounds(least_activation, largest_activation, n_frames, n_muscles)
    price = np.broadcast_to(_positive("weight", weight, (n_muscles,)), (n_muscles,))
    unit = strength if norm_n is None else _per_muscle("norm_n", norm_n, n_frames, n_muscles)
    if norm_n is not None and (unit <= 0).any():
        raise ValueError(f"norm_n has the value {unit.min():g} N: what a force is divided by is above zero")
    if math.isinf(rule.exponent) and rule.reserve == "priced":
        raise ValueError(
            "reserve 'priced' has no meaning for exponent inf: a sum of powers and a largest ratio do not add"
        )
    if math.isinf(rule.exponent) and (price != price[:1]).any():
        raise ValueError("weight: weights have no meaning for exponent inf; give norm_n, or leave them out")
    finite: Bools = np.asarray(np.isfinite(arm).all(axis=(1, 2)) & np.isfinite(torque).all(axis=1))
    for values in (strength, unit, low, high):
        finite = finite & np.isfinite(values).all(axis=1)
    rows = [strength, unit, low, high]
    shared = _in_blocks(arm, torque, rows, price, finite, rule)
    failed = np.flatnonzero(shared.status == FAILED)
    if failed.size and rule.exponent != 2.0:
        rows = [v[failed] if len(v) > 1 else v for v in rows]
        again = _in_blocks(arm[failed], torque[failed], rows, price, finite[failed], replace(rule, patient=True))
        for name in Sharing.__dataclass_fields__:
            getattr(shared, name)[failed] = getattr(again, name)
    return shared


def _in_blocks(arm: Floats, torque: Floats, rows: list[Floats], weight: Floats, finite: Bools, rule: _Rule) -> Sharing:
    """Share a block of frames after the other; `rows` are strength, norm and bounds."""
    blocks = []
    for start in range(0, max(len(torque), 1), BLOCK):
        at = slice(start, start + BLOCK)
        some = [v[at] if len(v) > 1 else v for v in rows]
        blocks.append(_share_block(arm[at], torque[at], some, weight, finite[at], rule))
    if len(blocks) == 1:
        return blocks[0]
    names = Sharing.__dataclass_fields__
    return Sharing(**{name: np.concatenate([getattr(block, name) for block in blocks]) for name in names})


def force_range(
    moment_arm_m: ArrayLike,
    sharing: Sharing,
    *,
    max_force_n: ArrayLike,
    least_activation: ArrayLike = 0.0,
    largest_activation: ArrayLike = 1.0,
) -> tuple[Floats, Floats]:
    """Least and greatest force of every muscle with which all together make the same torque.

    Parameters
    ----------
    moment_arm_m, max_force_n, least_activation, largest_activation
        As for `share_torques`.
    sharing : Sharing
        What it returned: the torque is what its muscles make.

    Returns
    -------
    least_n, greatest_n : ndarray of shape (n_frames, n_muscles)
        Exact, by the facets of the reachable torques. NaN where there are no forces. What lies between them is decided by
        the criterion, not by the mechanics.
    """
    arm, _ = _frames(moment_arm_m, sharing.reserve_nm)
    n_frames, _, n_muscles = arm.shape
    strength = _per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    low, high = _bounds(least_activation, largest_activation, n_frames, n_muscles)
    least, greatest = np.full((n_frames, n_muscles), np.nan), np.full((n_frames, n_muscles), np.nan)
    known = np.flatnonzero(np.isfinite(sharing.force_n).all(axis=1)) if n_muscles else np.zeros(0, dtype=int)
    for start in range(0, known.size, BLOCK):
        at = known[start : start + BLOCK]
        s, lo, hi = (np.ascontiguousarray(v[at if len(v) > 1 else slice(None)].T) for v in (strength, low, high))
        reach = np.multiply(np.transpose(arm[at], (1, 2, 0)), s, order="C")
        activation = sharing.activation[at].T
        capacity = torque_capacity(reach)
        crossed = (capacity > 0).any(axis=1)
        scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
        scaled = (reach * scale[:, None])[crossed]
        below, above = activation_range(scaled, torques(scaled, activation), lo, hi)
        least[at] = (np.minimum(below, activation) * s).T
        greatest[at] = (np.maximum(above, activation) * s).T
    return least, greatest


def _frames(moment_arm_m: ArrayLike, torque_nm: ArrayLike) -> tuple[Floats, Floats]:
    arm, torque = np.asarray(moment_arm_m, dtype=float), np.asarray(torque_nm, dtype=float)
    if arm.ndim != 3 or torque.shape != arm.shape[:2]:
        raise ValueError(
            f"moment arms of shape {arm.shape} and torques of shape {torque.shape}: expected "
            "(n_frames, n_joints, n_muscles) and (n_frames, n_joints)"
        )
    return arm, torque


def _per_muscle(name: str, values: ArrayLike, n_frames: int, n_muscles: int) -> Floats:
    """Values of shape (1, n_muscles) or (n_frames, n_muscles)."""
    array = np.asarray(values, dtype=float)
    if array.shape not in {(n_muscles,), (n_frames, n_muscles)}:
        raise ValueError(
            f"{name} of shape {array.shape}: expected ({n_muscles},) or ({n_frames}, {n_muscles}), one a muscle"
        )
    return np.atleast_2d(array)


def _bounds(least: ArrayLike, largest: ArrayLike, n_frames: int, n_muscles: int) -> tuple[Floats, Floats]:
    low, high = (
        _per_muscle(name, np.full(n_muscles, value) if np.ndim(value) == 0 else value, n_frames, n_muscles)
        for name, value in (("least_activation", least), ("largest_activation", largest))
    )
    if (low < 0).any():
        raise ValueError(f"least_activation has the value {np.nanmin(low):g}: a muscle cannot push")
    if (low > high).any():
        raise ValueError("least_activation is above largest_activation")
    return low, high


def _positive(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(value, dtype=float)
    if array.shape not in {(), shape} or not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(
            f"{name} is {value!r}: expected {'one number' if not shape else f'{shape[0]} numbers'} above 0"
        )
    return array


def _exponent(exponent: float) -> float:
    if not (1.0 <= exponent <= LARGEST_EXPONENT or exponent == math.inf):
        raise ValueError(
            f"exponent is {exponent!r}: expected a number from 1 to {LARGEST_EXPONENT:g}, or inf for the least effort of "
            "the most active muscle, which larger exponents approach"
        )
    return float(exponent)


def _reserve(reserve: Reserve) -> Reserve:
    if reserve not in ("least", "priced", "none"):
        raise ValueError(f"reserve is {reserve!r}: expected 'least', 'priced' or 'none'")
    return reserve


def _share_block(arm: Floats, torque: Floats, rows: list[Floats], weight: Floats, valid: Bools, rule: _Rule) -> Sharing:
    """Share the torques of a block of frames; `rows` are strength, norm and bounds."""
    strength, unit, low, high = rows
    keep = slice(None) if valid.all() else np.flatnonzero(valid)
    ratio, *muscles = (
        np.ascontiguousarray((v if len(v) == 1 else v[keep]).T) for v in (_ratio(strength, unit), low, high, strength)
    )
    reach = np.multiply(np.transpose(arm[keep], (1, 2, 0)), muscles[2], order="C")  # B, frames last
    block = _share_frames(reach, np.ascontiguousarray(torque[keep].T), muscles[0], muscles[1], ratio, weight, rule)
    if not valid.all():
        block = {name: _spread(values, valid, _FILL.get(name, np.nan)) for name, values in block.items()}
    activation = np.ascontiguousarray(block.pop("activation").T)
    block = {name: np.ascontiguousarray(values.T) for name, values in block.items()}
    return Sharing(force_n=activation * strength, activation=activation, **block)  # type: ignore[arg-type]


_FILL = {"status": INVALID, "iterations": 0}


def _ratio(strength: Floats, unit: Floats) -> Floats:
    """Force over its norm of a fully active muscle; a muscle without strength costs a little, so that it rests."""
    return np.maximum(strength / unit, 1e-6) if strength is not unit else np.ones((1, strength.shape[1]))


def _spread(values: Floats, valid: Bools, fill: float) -> Floats:
    """Put the values of the valid frames (last axis) among all frames."""
    spread = np.full((*values.shape[:-1], len(valid)), fill, dtype=values.dtype)
    spread[..., valid] = values
    return spread


@dataclass(frozen=True, eq=False)
class _Frames:
    """What is asked of the muscles of valid frames, on the last axis: ``reach a = torque``, ``low <= a <= high``."""

    reach: Floats
    torque: Floats
    low: Floats
    high: Floats
    ratio: Floats  # force over its norm of a fully active muscle
    cost: Floats  # coefficient of each power of the activation
    scale: Floats  # one over what all muscles make at each joint

    def without(self, held: Bools, activation: Floats) -> _Frames:
        """The frames without the muscles that have no choice, and without their torque."""
        left = self.torque - torques(self.reach, np.where(held, activation, 0.0))
        return replace(self, reach=self.reach * ~held, torque=left)

    def some(self, at: NDArray[np.int64]) -> _Frames:
        return _Frames(*at_frames(at, *(getattr(self, name) for name in self.__dataclass_fields__)))


def _share_frames(
    reach: Floats, torque: Floats, low: Floats, high: Floats, ratio: Floats, weight: Floats, rule: _Rule
) -> dict[str, Floats]:
    """Answer and certificate of valid frames, on the last axis; small torques are solved in parts of their own size."""
    power = rule.exponent if math.isfinite(rule.exponent) else 1.0
    capacity = torque_capacity(reach)
    bare = capacity == 0  # joints without a muscle: their torque is all reserve
    scale = 1.0 / np.where(bare, 1.0, capacity)
    cost = weight[:, None] * ratio**power
    part = np.maximum((np.abs(torque) * scale * ~bare).max(axis=0, initial=0.0), low.max(axis=0, initial=0.0))
    if not ((part < SMALL) & (part > 0)).any():
        return _answer(_Frames(reach, torque, low, high, ratio, cost, scale), bare, rule)
    size = np.where((part < SMALL) & (part > 0), np.exp2(np.floor(np.log2(np.maximum(part, SMALLEST)))), 1.0)
    frames = _Frames(reach, torque / size, low / size, high / size, ratio, cost, scale)
    answer = _answer(frames, bare, replace(rule, reserve_nm=rule.reserve_nm * size ** (power / 2.0 - 1.0)))
    for name in ("activation", "reserve_nm", "residual_nm", "shortfall_nm"):
        answer[name] *= size
    answer["cost"] *= size**power
    answer["multiplier"] *= size ** (power - 1.0)
    return answer


def _answer(frames: _Frames, bare: Bools, rule: _Rule) -> dict[str, Floats]:
    """Answer and certificate of frames; the torque of bare joints is all reserve."""
    torque = frames.torque
    if bare.any():
        frames = replace(frames, torque=np.where(bare, 0.0, torque))
    first = _least_squares(frames)
    if rule.reserve == "priced":
        found = _priced(frames, first, rule)
        cost, gap = _certify(frames, found, rule)
    else:
        found, cost, gap = _among_muscles(replace(frames, torque=frames.torque - first.reserve), first, rule)
    missing = np.where(bare, torque, first.reserve)
    distance = norm(missing)
    status = np.where(distance > 0, RESERVE, OK)
    reserve = np.where(bare, torque, found.reserve)
    rest = torque - torques(frames.reach, found.activation) - reserve
    open_torque = (np.abs(rest) * frames.scale > CLOSES).any(axis=0)
    status[first.failed | open_torque | ~(np.abs(gap) <= rule.largest_gap)] = FAILED
    answer = {
        "activation": found.activation,
        "reserve_nm": reserve,
        "residual_nm": np.abs(rest).max(axis=0, initial=0.0),
        "cost": cost,
        "gap": gap,
        "multiplier": found.multiplier,
    }
    proof = {"certificate": missing / np.where(distance > 0, distance, 1.0), "shortfall_nm": distance}
    lacks = status == FAILED if rule.reserve != "none" else status != OK
    for values in answer.values():
        values[..., lacks] = np.nan
    for values in proof.values():
        values[..., status == FAILED] = np.nan
    return {**answer, **proof, "status": status.astype(np.int8), "iterations": found.iterations}


def _least_squares(frames: _Frames) -> Nearest:
    """Least sum of squares, weighted as the powers are, of activations that make the torque or the nearest to it."""
    root = np.sqrt(2.0 * frames.cost)
    alike = root[:1, :1] if root.size else np.ones((1, 1))
    if (root == alike).all():  # the frames as they are
        found = nearest(frames.reach, frames.torque, frames.low, frames.high)
        return replace(found, multiplier=found.multiplier * alike**2)
    found = nearest(frames.reach / root, frames.torque, root * frames.low, root * frames.high)
    return replace(found, activation=clipped(found.activation / root, frames.low, frames.high))


def _among_muscles(frames: _Frames, first: Nearest, rule: _Rule) -> tuple[_Found, Floats, Floats]:
    """Share torques within reach among the muscles that no reserve holds at a bound, and certify.

    On the edge of what can be reached more muscles have no choice, and multipliers run far away: with patience those whose
    least and greatest activation are the same are held, too.
    """
    held, start = first.bound, first.activation
    if rule.patient:
        crossed = (frames.reach != 0).any(axis=(1, 2))
        scaled, target = frames.reach * frames.scale[:, None], frames.torque * frames.scale
        least, greatest = activation_range(scaled[crossed], target[crossed], frames.low, frames.high)
        stuck = ~held & (greatest - least <= NO_CHOICE)
        held, start = held | stuck, np.where(stuck, (least + greatest) / 2.0, start)
    left = frames.without(held, start) if held.any() else frames
    found = _Found(start, first.multiplier, first.reserve, first.iterations)
    if rule.exponent != 2.0:
        found = _other_criterion(left, found, held, rule)
    return found, *_certify(left, found, rule, held=held)


def _other_criterion(frames: _Frames, start: _Found, held: Bools, rule: _Rule) -> _Found:
    """Share among the muscles that are not held by another exponent than 2; `start` makes the torque."""
    scaled, target = frames.reach * frames.scale[:, None], frames.torque * frames.scale
    bounds = (frames.low, frames.high)
    if math.isinf(rule.exponent):
        free = (frames.reach != 0).any(axis=(1, 2))
        activation, _, normal = least_largest(scaled[free], target[free], *bounds, 1.0 / frames.ratio)
        y, iterations = np.zeros_like(target), np.zeros_like(start.iterations)
        y[free] = normal
    elif rule.exponent == 1.0:
        activation, y, iterations = _linear(scaled, target, frames, np.where(held, 0.0, start.activation))
    else:
        free_start = np.where(held, 0.0, start.activation)
        solved = share_power(
            scaled, target, *bounds, exponent=rule.exponent, cost=frames.cost, start=free_start, patient=rule.patient
        )
        activation, y, iterations = solved.activation, solved.multiplier, solved.iterations
    return _Found(
        np.where(held, start.activation, activation), y * frames.scale, start.reserve, start.iterations + iterations
    )


def _linear(
    reach: Floats, torque: Floats, frames: _Frames, start: Floats, weight: Floats | None = None
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Least sum of activations, of those with the least squares: a little of the squares in the cost picks it.

    Where the share is small enough the answer is exact (Mangasarian and Meyer 1979, SIAM J Control Optim 17:745-752).
    """
    size = start.max(axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    low, high = frames.low / size, frames.high / size
    torque = torque / size
    spread = None if weight is None else weight / size
    y, iterations = np.zeros_like(torque), np.zeros(torque.shape[1], dtype=np.int64)
    for part in LINEAR:
        root = np.sqrt(part * frames.cost.max(axis=0, initial=1e-300))[None]
        offset = frames.cost / root
        solved = climb(
            reach / root[None], torque, root * low, root * high, offset=offset, start=y, weight=spread, closure=1e-9
        )
        y, iterations = solved.multiplier, iterations + solved.iterations
    pull = pulls(reach / root[None], y) - offset
    activation = clipped(clipped(pull, root * low, root * high) / root, low, high)
    if weight is None:  # rounding of the multiplier, divided by the small share, leaves a little torque
        below, above = np.maximum(low - activation, -TOUCH), np.minimum(high - activation, TOUCH)
        rest = nearest(reach, torque - torques(reach, activation), below, above)
        activation = clipped(activation + rest.activation, low, high)
    y = y + least_change(reach, frames.cost - pulls(reach, y), (pull > root * low) & (pull < root * high))
    return activation * size, y, iterations


def _priced(frames: _Frames, first: Nearest, rule: _Rule) -> _Found:
    """Share between the muscles and reserves that cost (reserve / price)^2."""
    scaled, target = frames.reach * frames.scale[:, None], frames.torque * frames.scale
    weight = (frames.scale * rule.reserve_nm) ** 2 / 2.0
    if rule.exponent == 1.0:
        activation, y, iterations = _linear(scaled, target, frames, first.activation, weight)
    else:
        root = np.sqrt(2.0 * frames.cost)
        low, high = root * frames.low, root * frames.high
        solved = climb(scaled / root, target, low, high, weight=weight)
        activation = clipped(
            clipped(pulls(scaled / root, solved.multiplier), low, high) / root, frames.low, frames.high
        )
        y, iterations = solved.multiplier, solved.iterations
        if rule.exponent != 2.0:
            power = share_power(
                scaled,
                target,
                frames.low,
                frames.high,
                exponent=rule.exponent,
                cost=frames.cost,
                start=activation,
                weight=weight,
                patient=rule.patient,
            )
            activation, y, iterations = power.activation, power.multiplier, iterations + power.iterations
    reserve = frames.torque - torques(frames.reach, activation)
    return _Found(activation, y * frames.scale, reserve, first.iterations + iterations)


def _certify(frames: _Frames, found: _Found, rule: _Rule, *, held: Bools | None = None) -> tuple[Floats, Floats]:
    """Cost of all muscles, and the duality gap of those that have a choice as a part of their cost."""
    a, y, p = found.activation, found.multiplier, rule.exponent
    free = np.ones(a.shape) if held is None else ~held
    if math.isinf(p):
        share = a * frames.ratio
        low = (np.broadcast_to(frames.low * frames.ratio, a.shape) * free).max(axis=0, initial=0.0)
        cost = share.max(axis=0, initial=0.0)
        own = (share * free).max(axis=0, initial=0.0)
        bound = np.maximum(_least_level(frames, y, own), low)
        return cost, (own - bound) / np.where(own > 0, own, 1.0)
    each = frames.cost * _powers(a, p)
    reserves = np.zeros(len(y.T))
    if rule.reserve == "priced":
        reserves = ((found.reserve / rule.reserve_nm) ** 2).sum(axis=0)
    cost, own = each.sum(axis=0) + reserves, (each * free).sum(axis=0) + reserves
    if p == 1.0:  # no muscle of the best sharing costs more than all of this one; the bound makes rounding harmless
        frames = replace(frames, high=np.maximum(np.minimum(frames.high, 2.0 * own / frames.cost), frames.low))
    pull = pulls(frames.reach, y)
    best = _best_answer(pull, frames, p)
    bound = (y * frames.torque).sum(axis=0) - ((pull * best - frames.cost * _powers(best, p)) * free).sum(axis=0)
    if rule.reserve == "priced":
        bound = bound - ((y * rule.reserve_nm) ** 2).sum(axis=0) / 4.0
    return cost, (own - bound) / np.where(own > 0, own, 1.0)


def _powers(activation: Floats, exponent: float) -> Floats:
    if exponent == 2.0:
        return activation * activation
    return activation * activation * activation if exponent == 3.0 else activation**exponent


def _best_answer(pull: Floats, frames: _Frames, exponent: float) -> Floats:
    """Activations that gain most where a unit of activation earns `pull`."""
    if exponent == 1.0:
        return np.where(pull > frames.cost, frames.high, frames.low)
    share = np.maximum(pull, 0.0) / (exponent * frames.cost)
    with np.errstate(over="ignore"):  # far beyond the upper bound for p near 1
        root = share if exponent == 2.0 else np.sqrt(share) if exponent == 3.0 else share ** (1.0 / (exponent - 1.0))
    return clipped(root, frames.low, frames.high)


def _least_level(frames: _Frames, normal: Floats, level: Floats) -> Floats:
    """Largest force over norm below which no sharing makes the torque, by its component along a normal.

    Found by halving from a level that is enough.
    """
    along = pulls(frames.reach, normal)
    asked = (normal * frames.torque).sum(axis=0)
    against = (np.minimum(along, 0.0) * frames.low).sum(axis=0)
    below, above = np.zeros(asked.shape), level.copy()
    for _ in range(60):
        middle = (below + above) / 2.0
        share = clipped(np.broadcast_to(middle / frames.ratio, along.shape), frames.low, frames.high)
        short = (np.maximum(along, 0.0) * share).sum(axis=0) + against < asked
        below, above = np.where(short, middle, below), np.where(short, above, middle)
    return below
