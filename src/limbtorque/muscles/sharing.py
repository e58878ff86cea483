"""Share joint torques among muscles: the least sum of squared activations, exact, all frames at once.

With moment arms R (joints x muscles, positive flexes), strengths F_max and B = R diag(F_max), a frame asks for

    minimise 1/2 sum a_i^2   subject to   B a = torque,   0 <= a_i <= 1,   force = a F_max.

Its Lagrangian dual has one unknown per joint. A multiplier y gives every activation in closed form,
a_i = clip(B_i . y, 0, 1), and the right y is the zero of the piecewise linear gradient torque - B a(y): a Newton method
with an exact line search gets there in a few steps [1]_. What it returns is optimal as soon as the torque closes, for
the clipped form already meets every other condition of Karush, Kuhn and Tucker.

Where the muscles cannot reach a torque, the dual rises for ever along some direction. Those frames are solved again
with a proximal term, whose multipliers drift along the shortest reserve torque [2]_. That reserve is its own proof:
no activations reach as far in its direction as the torque asks.

References
----------
.. [1] Crowninshield R.D., Brand R.A. (1981) A physiologically based criterion of muscle force prediction in locomotion.
   J Biomech 14:793-801 (the criterion); Li W., Swetits J. (1997) A new algorithm for solving strictly convex quadratic
   programs. SIAM J Optim 7:595-619 (Newton on the piecewise quadratic dual).
.. [2] Rockafellar R.T. (1976) Augmented Lagrangians and applications of the proximal point algorithm in convex
   programming. Math Oper Res 1:97-116.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = NDArray[np.int64]

OK = 0  #: the muscles alone make the torque
RESERVE = 1  #: the muscles cannot reach the torque; a reserve torque makes up the rest
INVALID = 2  #: a torque, moment arm or strength of the frame is not a finite number
FAILED = 3  #: the method did not converge; no forces are given

CLOSURE = 2e-13  # a frame is solved when its torque closes to this part of what all muscles make together
REACH = 1e-11  # a reserve below this part of it is rounding, not weakness
SINGULAR = 1e-10  # a pivot below this part of the one with all muscles free counts as zero ...
STAND_IN = 0.05  # ... and is replaced by this part of it; the line search finds the right length
PROXIMAL = (1e-7, 1e-5, 1e-9)  # weights of the proximal term, against B scaled to 1, in the order tried
PROXIMAL_STEPS = 12
PARALLEL = 1e-9  # sine of the angle below which muscles count as parallel
SETTLED = 1e-14  # change of the reserve at which the proximal steps end
MOST_ITERATIONS = 60
ENDLESS = 1e-13  # a direction proves a torque out of reach when it falls short by more than rounding
ALONG = 2e-8  # a muscle whose torque along the reserve is below this part of its own counts as across it
MANY = 0.7
BLOCK = 2048  # frames worked on together, so that they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Sharing:
    """Muscle forces that make given joint torques.

    Parameters
    ----------
    force_n : ndarray of shape (n_frames, n_muscles)
        Tension of each muscle, 0 to its strength. NaN where `status` is INVALID or FAILED.
    activation : ndarray of shape (n_frames, n_muscles)
        Force over strength, 0 to 1.
    reserve_nm : ndarray of shape (n_frames, n_joints)
        Torque that the muscles cannot make, the least in Euclidean norm, with the sign of the torque. Zero where
        `status` is OK.
    status : ndarray of int8 of shape (n_frames,)
        OK, RESERVE, INVALID or FAILED.
    iterations : ndarray of int of shape (n_frames,)
        Newton steps taken.
    residual_nm : ndarray of shape (n_frames,)
        Largest absolute of moment arms times force + reserve - torque over the joints.
    multiplier : ndarray of shape (n_frames, n_joints)
        Dual variable y [1/(N m)]: activation = clip(F_max r . y, 0, 1), of the muscles across the reserve where
        there is one; the others stand at 0 or 1 by the sign of their torque along `certificate`.
    certificate : ndarray of shape (n_frames, n_joints)
        Where `status` is RESERVE, a direction c of unit length along the reserve that proves it:
        c . torque > sum over the muscles of max(0, F_max r . c). Zero elsewhere.
    """

    force_n: Floats
    activation: Floats
    reserve_nm: Floats
    status: NDArray[np.int8]
    iterations: Counts
    residual_nm: Floats
    multiplier: Floats
    certificate: Floats

    @property
    def success(self) -> Bools:
        """Frames, shape (n_frames,), whose torque the muscles alone make."""
        return np.asarray(self.status == OK)


@dataclass(frozen=True, eq=False)
class _Solved:
    """What the dual method found: frames on the last axis."""

    multiplier: Floats  # (n_joints, n_frames)
    closed: Bools  # the torque closes
    iterations: Counts


def share_torques(moment_arm_m: ArrayLike, torque_nm: ArrayLike, *, max_force_n: ArrayLike) -> Sharing:
    """Share joint torques among muscles with the least sum of squared activations.

    Parameters
    ----------
    moment_arm_m : array_like of shape (n_frames, n_joints, n_muscles)
        Moment arms, positive where tension makes a positive torque.
    torque_nm : array_like of shape (n_frames, n_joints)
        Net torques that the muscles have to make, with the moment arms' sign.
    max_force_n : array_like of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, above zero.

    Returns
    -------
    Sharing
        Forces, reserves and how each frame was solved.

    Notes
    -----
    The answer is exact (no tolerance is traded for speed) and unique. A joint that no muscle crosses has its whole
    torque as reserve. A frame with a number that is not finite gives NaN. Units of torque do not matter: scaling
    moment arms and torques together leaves the forces as they are.

    Examples
    --------
    Two flexors and an extensor of one joint; the flexors share in proportion to moment arm times strength:

    >>> shared = share_torques([[[0.02, 0.04, -0.02]]], [[10.0]], max_force_n=[500.0, 500.0, 800.0])
    >>> shared.force_n.round(3).tolist(), shared.status.tolist()
    ([[100.0, 200.0, 0.0]], [0])
    """
    arm, torque, strength = _checked(moment_arm_m, torque_nm, max_force_n)
    finite = np.isfinite(arm).all(axis=(1, 2)) & np.isfinite(torque).all(axis=1) & np.isfinite(strength).all(axis=1)
    valid = np.asarray(finite)
    blocks = [
        _share_block(arm[at], torque[at], strength[at], valid[at])
        for at in (slice(start, start + BLOCK) for start in range(0, max(len(torque), 1), BLOCK))
    ]
    if len(blocks) == 1:
        return blocks[0]
    names = Sharing.__dataclass_fields__
    return Sharing(**{name: np.concatenate([getattr(block, name) for block in blocks]) for name in names})


def _checked(moment_arm_m: ArrayLike, torque_nm: ArrayLike, max_force_n: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return the input as arrays of matching shapes, strength per frame."""
    arm = np.asarray(moment_arm_m, dtype=float)
    torque = np.asarray(torque_nm, dtype=float)
    strength = np.asarray(max_force_n, dtype=float)
    if arm.ndim != 3 or torque.shape != arm.shape[:2]:
        raise ValueError(
            f"moment arms of shape {arm.shape} and torques of shape {torque.shape}: expected "
            "(n_frames, n_joints, n_muscles) and (n_frames, n_joints)"
        )
    n_frames, _, n_muscles = arm.shape
    if strength.shape not in {(n_muscles,), (n_frames, n_muscles)}:
        raise ValueError(
            f"max_force_n of shape {strength.shape}: expected ({n_muscles},) or ({n_frames}, {n_muscles}), one a muscle"
        )
    if (strength <= 0).any():
        raise ValueError(f"max_force_n has the value {strength.min():g} N: a muscle's strength is above zero")
    return arm, torque, np.broadcast_to(strength, (n_frames, n_muscles))


def _share_block(arm: Floats, torque: Floats, strength: Floats, valid: Bools) -> Sharing:
    """Share the torques of a block of frames."""
    every = bool(valid.all())
    keep = slice(None) if every else np.flatnonzero(valid)
    reach = np.multiply(np.transpose(arm[keep], (1, 2, 0)), strength[keep].T, order="C")  # B, frames last
    target = np.ascontiguousarray(torque[keep].T)
    capacity = np.abs(reach).sum(axis=1)  # what all muscles make together, without cancelling
    bare = capacity == 0  # joints without a muscle: their torque is all reserve
    asked = np.where(bare, 0.0, target) if bare.any() else target
    activation, multiplier, reserve, failed, iterations = _solve(reach, asked, capacity)
    reserve[bare] = target[bare]
    residual = np.abs(_torque(reach, activation) + reserve - target).max(axis=0, initial=0.0)
    norm = np.sqrt((reserve**2).sum(axis=0))
    status = np.where(norm > 0, RESERVE, OK)
    status[failed] = FAILED
    certificate = reserve / np.where(norm > 0, norm, 1.0)
    for values in (activation, multiplier, reserve, certificate):
        values[:, failed] = np.nan
    block = (activation, multiplier, reserve, residual, status, certificate, iterations)
    if not every:
        fills = (np.nan, np.nan, np.nan, np.nan, INVALID, np.nan, 0)
        block = tuple(_spread(v, valid, fill) for v, fill in zip(block, fills, strict=True))  # type: ignore[assignment]
    activation, multiplier, reserve, residual, status, certificate, iterations = block
    return Sharing(
        force_n=activation.T * strength,
        activation=activation.T.copy(),
        reserve_nm=reserve.T.copy(),
        status=status.astype(np.int8),
        iterations=iterations,
        residual_nm=residual,
        multiplier=multiplier.T.copy(),
        certificate=certificate.T.copy(),
    )


def _spread(values: Floats, valid: Bools, fill: float) -> Floats:
    """Put the values of the valid frames (last axis) among all frames."""
    spread = np.full((*values.shape[:-1], len(valid)), fill, dtype=values.dtype)
    spread[..., valid] = values
    return spread


def _solve(reach: Floats, torque: Floats, capacity: Floats) -> tuple[Floats, Floats, Floats, Bools, Counts]:
    """Activations, multipliers, reserves, failures and iterations of frames on the last axis.

    First with the muscles alone and every joint scaled by its own capacity; the frames that do not close so, again
    with a reserve.
    """
    scale = 1.0 / np.where(capacity > 0, capacity, 1.0)
    scaled = reach * scale[:, None]
    solved = _climb(scaled, torque * scale)
    multiplier = solved.multiplier * scale
    activation = _clipped(_pull(scaled, solved.multiplier))
    reserve = np.zeros_like(torque)
    failed = np.zeros(torque.shape[1], dtype=bool)
    iterations = solved.iterations
    rest = np.abs(torque - _torque(reach, activation)) * scale
    short = np.flatnonzero(~solved.closed | (rest > REACH).any(axis=0))
    if short.size:
        activation[:, short], multiplier[:, short], reserve[:, short], failed[short], more = _solve_with_reserve(
            reach[..., short], torque[:, short], capacity[:, short]
        )
        iterations[short] += more
    return activation, multiplier, reserve, failed, iterations


def _solve_with_reserve(
    reach: Floats, torque: Floats, capacity: Floats
) -> tuple[Floats, Floats, Floats, Bools, Counts]:
    """Solve frames whose torque may be out of reach; those that fail again with another proximal weight."""
    scale = 1.0 / np.maximum(capacity.max(axis=0, initial=0.0), np.finfo(float).tiny)
    scaled, target = reach * scale, torque * scale
    activation, multiplier, reserve, failed, iterations = _nearest(scaled, target, PROXIMAL[0])
    for weight in PROXIMAL[1:]:
        at = np.flatnonzero(failed)
        if at.size:
            activation[:, at], multiplier[:, at], reserve[:, at], failed[at], more = _nearest(
                scaled[..., at], target[:, at], weight
            )
            iterations[at] += more
    return activation, multiplier * scale, reserve / scale, failed, iterations


def _nearest(reach: Floats, torque: Floats, proximal: float) -> tuple[Floats, Floats, Floats, Bools, Counts]:
    """Make the nearest torque that can be reached with the least sum of squares; the rest is the reserve.

    Muscles with a torque along the reserve stand at their bound; the others (the face of the reachable set on which
    the nearest torque lies) share what is left, which they can reach. Failed are frames whose reserve is not the
    shortest: it has to stand across every muscle of the face.
    """
    weight = proximal * np.maximum(1.0, _norm(torque))
    reserve, y, iterations = _proximal(reach, torque, weight, np.zeros_like(torque))
    size, length = _norm(reserve), _norm(reach)
    along = _pull(reach, reserve)
    across = (size <= REACH) | (np.abs(along) <= (ALONG * size + 1e-13) * length)
    bound = np.where(across, 0.0, along > 0)
    face = reach * across
    left = torque - _torque(reach, bound)
    reserve = np.where(size > REACH, _outside(face, left), 0.0)
    drift = (y * reserve).sum(axis=0) / np.maximum((reserve * reserve).sum(axis=0), 1e-30)
    row = np.abs(face).sum(axis=1)
    joint = 1.0 / np.where(row > 0, row, 1.0)
    start = (y - drift * reserve) / joint
    _, multiplier, more = _proximal(face * joint[:, None], (left - reserve) * joint, weight, start)
    multiplier *= joint
    activation = np.where(across, _clipped(_pull(face, multiplier)), bound)
    rest = torque - _torque(reach, activation)
    slack = REACH * (1.0 + _norm(torque))
    along = _pull(reach, rest)
    wrong = np.where(across, np.abs(along) > slack * length, (along > 0) != (bound > 0))
    rest[np.abs(rest) <= slack] = 0.0
    return activation, multiplier, rest, np.asarray(wrong.any(axis=0)), iterations + more


def _proximal(reach: Floats, torque: Floats, weight: Floats, centre: Floats) -> tuple[Floats, Floats, Counts]:
    """Shortest reserve and multiplier by proximal steps: B a(y) + weight (y - centre) = torque, then centre = y.

    The reserve is weight (y - centre); where the torque can be reached it goes to zero and y to the multiplier.
    """
    y, reserve = centre.copy(), np.zeros_like(centre)
    iterations = np.zeros(torque.shape[1], dtype=np.int64)
    at = np.arange(torque.shape[1])
    for _ in range(PROXIMAL_STEPS):
        w = weight[at]
        solved = _climb(reach[..., at], torque[:, at], start=y[:, at] + reserve[:, at] / w, weight=w, centre=y[:, at])
        before, reserve[:, at] = reserve[:, at], w * (solved.multiplier - y[:, at])
        y[:, at] = solved.multiplier
        iterations[at] += solved.iterations
        at = at[(np.abs(reserve[:, at] - before) > SETTLED * (1.0 + np.abs(before))).any(axis=0)]
        if not at.size:
            break
    return reserve, y, iterations


def _outside(face: Floats, torque: Floats) -> Floats:
    """Part of the torque that no combination of the face's muscles makes, whatever their sign.

    Gram-Schmidt with the largest remaining column first, so that weak muscles and joints count like strong ones.
    """
    length = _norm(face)
    column = face / np.where(length > 0, length, 1.0)
    frames = np.arange(torque.shape[1])
    rest = torque
    for _ in range(len(face)):
        left = _norm(column)
        largest = left.argmax(axis=0)
        size = left[largest, frames]
        unit = np.where(size > PARALLEL, column[:, largest, frames] / np.where(size > 0, size, 1.0), 0.0)
        column = column - unit[:, None] * _pull(column, unit)
        rest = rest - unit * (unit * rest).sum(axis=0)
    return rest


def _climb(
    reach: Floats,
    torque: Floats,
    *,
    start: Floats | None = None,
    weight: Floats | None = None,
    centre: Floats | None = None,
) -> _Solved:
    """Climb the dual by Newton steps with a line search until the torque closes.

    Maximises y . torque - sum_i h(B_i . y) - weight/2 |y - centre|^2, where h' = clip(., 0, 1). Without a start the
    first step takes every muscle as free. A frame whose dual rises without end is left as not closed.
    """
    n_frames = torque.shape[1]
    rounding = 0.0 if weight is None else 1e-15  # of B' y, where y grows large
    found = np.zeros_like(torque)
    closed = np.zeros(n_frames, dtype=bool)
    iterations = np.zeros(n_frames, dtype=np.int64)
    weight = np.zeros(n_frames) if weight is None else weight
    centre = np.zeros_like(torque) if centre is None else centre
    full = (reach * reach).sum(axis=1) + weight
    full[full == 0] = 1.0
    at = np.arange(n_frames)
    y = _newton_step(reach, np.ones_like(reach[0]), torque, full, weight) if start is None else start
    pull = _pull(reach, y)
    endless = np.zeros(n_frames, dtype=bool)
    for count in range(MOST_ITERATIONS):
        gradient = torque - _torque(reach, _clipped(pull)) - weight * (y - centre)
        done = np.asarray((np.abs(gradient) <= CLOSURE + rounding * np.abs(y)).all(axis=0))
        stop = done | endless
        if stop.any():
            new = stop & ~closed[at]
            found[:, at[new]], closed[at[new]], iterations[at[new]] = y[:, new], done[new], count
            go = np.flatnonzero(~stop)
            if not go.size:
                return _Solved(found, closed, iterations)
            gradient[:, stop] = (
                0.0  # those that stopped stand still, and leave when they are many: leaving costs a copy
            )
            if go.size < MANY * at.size or endless.any():
                at, weight = at[go], weight[go]
                reach, pull, gradient, torque, y, centre, full = (
                    np.take(v, go, axis=-1) for v in (reach, pull, gradient, torque, y, centre, full)
                )
        free = ((pull > 0) & (pull < 1)).astype(float)
        step = _newton_step(reach, free, gradient, full, weight)
        change = _pull(reach, step)
        rise = (step * (torque - weight * (y - centre))).sum(axis=0)
        first = (step * gradient).sum(axis=0)
        length, endless = _line_search(pull, change, first, rise, weight * (step * step).sum(axis=0))
        y = y + length * step
        pull = pull + length * change
    left = ~closed[at]
    found[:, at[left]], iterations[at[left]] = y[:, left], MOST_ITERATIONS
    return _Solved(found, closed, iterations)


def _line_search(pull: Floats, change: Floats, first: Floats, rise: Floats, bend: Floats) -> tuple[Floats, Bools]:
    """Step lengths to the top of the dual along a direction, and which frames rise without end.

    The slope p(s) = rise - bend s - sum_i change_i clip(pull_i + s change_i, 0, 1) never grows with s. Length 1 is kept
    where it does not overshoot and the slope has fallen to half.
    """
    length = np.ones_like(rise)
    last = rise - bend - (change * _clipped(pull + change)).sum(axis=0)
    least = rise - np.maximum(change, 0.0).sum(axis=0)
    endless = (bend == 0) & (least > ENDLESS * (np.abs(rise) + np.abs(change).sum(axis=0)))
    at = np.flatnonzero(((last < -0.01 * first) | (last > 0.5 * first)) & (first > 0) & ~endless)
    if at.size:
        length[at] = _top(pull[:, at], change[:, at], first[at], rise[at], bend[at])
    return length, endless


def _top(pull: Floats, change: Floats, first: Floats, rise: Floats, bend: Floats) -> Floats:
    """Exact zero of the slope: bisect over the lengths at which a muscle meets a bound, then interpolate."""
    frames = np.arange(rise.size)
    moving = np.where(change == 0, np.inf, change)
    kinks = np.sort(np.maximum(np.concatenate([-pull / moving, (1.0 - pull) / moving]), 0.0), axis=0)
    low, high = np.full(rise.size, -1), np.full(rise.size, len(kinks))  # slope above zero at low, not at high
    s_low, p_low, s_high, p_high = np.zeros_like(rise), first, np.zeros_like(rise), np.zeros_like(rise)
    for _ in range(len(kinks).bit_length()):
        middle = np.clip((low + high) // 2, 0, len(kinks) - 1)
        s = kinks[middle, frames]
        p = rise - bend * s - (change * _clipped(pull + s * change)).sum(axis=0)
        above = p > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
        s_low, p_low = np.where(above, s, s_low), np.where(above, p, p_low)
        s_high, p_high = np.where(above, s_high, s), np.where(above, p_high, p)
    inside = s_low + (s_high - s_low) * p_low / (p_low - p_high)
    beyond = s_low + np.where(bend > 0, p_low / np.where(bend > 0, bend, 1.0), 0.0)
    return np.where(high < len(kinks), inside, beyond)


def _newton_step(reach: Floats, free: Floats, gradient: Floats, full: Floats, weight: Floats) -> Floats:
    """Solve (sum over the free muscles of B_i B_i' + weight) step = gradient; singular directions get a stand-in."""
    n_joints = len(reach)
    curvature: list[list[Floats]] = [[gradient[0]] * n_joints for _ in range(n_joints)]
    for j in range(n_joints):
        freed = free * reach[j]
        for k in range(j + 1):
            curvature[j][k] = np.einsum("mn,mn->n", freed, reach[k])
        curvature[j][j] = curvature[j][j] + weight
    return _solve_definite(curvature, gradient, full)


def _solve_definite(matrix: list[list[Floats]], right: Floats, full: Floats) -> Floats:
    """Solve symmetric systems by L D L', frame by frame; only the lower triangle is read.

    A pivot below a small part of `full` (the diagonal with all muscles free) is replaced by a larger part of it.
    """
    n = len(matrix)
    lower: list[list[Floats]] = []
    pivots: list[Floats] = []
    solution: list[Floats] = []
    for j in range(n):
        row: list[Floats] = []  # L_jk D_k
        for k in range(j):
            row.append(matrix[j][k] - sum((row[i] * lower[k][i] for i in range(k)), start=np.float64(0.0)))
        factors = [row[k] / pivots[k] for k in range(j)]
        pivot = matrix[j][j] - sum((row[k] * factors[k] for k in range(j)), start=np.float64(0.0))
        pivots.append(np.where(pivot > SINGULAR * full[j], pivot, STAND_IN * full[j]))
        lower.append(factors)
        solution.append(right[j] - sum((factors[k] * solution[k] for k in range(j)), start=np.float64(0.0)))
    for j in range(n - 1, -1, -1):
        later = sum((lower[k][j] * solution[k] for k in range(j + 1, n)), start=np.float64(0.0))
        solution[j] = solution[j] / pivots[j] - later
    return np.array(solution)


def _clipped(pull: Floats) -> Floats:
    """Activations of a multiplier (np.clip takes twice as long)."""
    activation = np.maximum(pull, 0.0)
    return np.minimum(activation, 1.0, out=activation)


def _pull(reach: Floats, y: Floats) -> Floats:
    """B' y, shape (n_muscles, n_frames)."""
    return np.asarray(np.einsum("jmn,jn->mn", reach, y))


def _torque(reach: Floats, activation: Floats) -> Floats:
    """B a, shape (n_joints, n_frames)."""
    return np.asarray(np.einsum("jmn,mn->jn", reach, activation))


def _norm(vectors: Floats) -> Floats:
    """Euclidean norm over the first axis (for B: over the joints)."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=0)))
