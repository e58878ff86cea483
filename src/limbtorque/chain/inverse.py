"""Inverse kinematics: joint angles and derivatives from positions of points.

Two links that reach for a target have a closed form with two solutions; a chain with marked joints is fitted to them as
a whole, with links of constant length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import BoolArray, ComplexArray, FloatArray, choice, finite, frames, stretches, unwrapped, vectors
from limbtorque.chain.kinematics import (
    STILL,
    in_plane,
    jacobian,
    point_acceleration,
    point_jerk,
    unit_vectors,
)
from limbtorque.chain.model import Chain, Kinematics

ROUNDING = 1e-12  # a target out of reach by this share of the reach is out by rounding
SINGULAR = 1e-6  # least sine of the second angle at which the endpoint's velocity determines those of the joints
STEP = 1e-12  # largest last step of the fit, rad and m
ITERATIONS = 100
HALVINGS = 40
CONVEX = 1e-3  # least curvature, as a share of that of the links themselves, at which Newton's step is taken


@dataclass(frozen=True)
class TwoLinkAngles:
    """Joint angles that bring the end of two links to a target.

    Attributes
    ----------
    angle_rad : ndarray of shape (n_frames, 2)
        Joint angles, without jumps between frames; those of the first frame are between -pi and pi.
    shift_m : ndarray of shape (n_frames,)
        Distance by which the target was moved to be reached, m; 0 where it was within reach.
    """

    angle_rad: FloatArray
    shift_m: FloatArray


@dataclass(frozen=True)
class JointMotion:
    """Derivatives of the joint angles, shape (n_frames, n_joints): rad/s to rad/s^3."""

    velocity_rad_s: FloatArray
    acceleration_rad_s2: FloatArray
    jerk_rad_s3: FloatArray


@dataclass(frozen=True)
class RigidChainFit:
    """Chain with links of constant length fitted to measured joints.

    Attributes
    ----------
    length_m : ndarray of shape (n_links,)
        Lengths, m.
    angle_rad : ndarray of shape (n_frames, n_links)
        Joint angles, without jumps between frames, those of the first one between -pi and pi; NaN where a joint is
        missing.
    base_m : ndarray of shape (n_frames, 2)
        Position of the first joint, m.
    joint_m : ndarray of shape (n_frames, n_links + 1, 2)
        Fitted joints and endpoint, m.
    distance_m : ndarray of shape (n_frames, n_links + 1)
        Distance of every fitted joint and of the endpoint from the measured one, m.
    success : bool
        True if the iteration converged.
    iterations : int
        Steps taken.
    """

    length_m: FloatArray
    angle_rad: FloatArray
    base_m: FloatArray
    joint_m: FloatArray
    distance_m: FloatArray
    success: bool
    iterations: int


def two_link_angles(
    length_m: ArrayLike,
    target_m: ArrayLike,
    *,
    bend: Literal["positive", "negative"],
    base_m: ArrayLike = STILL,
    unreachable: Literal["error", "project"] = "error",
) -> TwoLinkAngles:
    """Joint angles of two links whose end is at a target (closed form).

    Parameters
    ----------
    length_m : array_like of shape (2,)
        Lengths of the links, m.
    target_m : array_like of shape (n_frames, 2)
        Target of the end of the second link, m.
    bend : {"positive", "negative"}
        Sign of the second joint's angle, counter-clockwise positive, which selects one of the two solutions. An elbow
        seen with x forward and y up flexes to the positive side.
    base_m : array_like of shape (n_frames, 2) or (2,), optional
        Position of the first joint, m.
    unreachable : {"error", "project"}, optional
        Treatment of a target out of reach: an error, or a move to the nearest point within reach.

    Returns
    -------
    TwoLinkAngles
        Angles, and the distance by which each target was moved.

    Raises
    ------
    ValueError
        A target out of reach and `unreachable` is ``"error"``, or at the base; wrong shapes; lengths that are not
        positive.

    Examples
    --------
    >>> found = two_link_angles([0.3, 0.3], [[0.3, 0.3]], bend="positive")
    >>> np.degrees(found.angle_rad).round(6).tolist()
    [[0.0, 90.0]]
    """
    lengths = np.asarray(length_m, dtype=float)
    if lengths.shape != (2,) or not (np.isfinite(lengths) & (lengths > 0.0)).all():
        raise ValueError(f"length_m is {lengths.tolist()} (shape {lengths.shape}); expected two positive lengths")
    choice("bend", bend, ("positive", "negative"))
    choice("unreachable", unreachable, ("error", "project"))
    target = frames("target_m", target_m, 2)
    away = target - vectors("base_m", base_m, len(target))
    distance = np.hypot(away[:, 0], away[:, 1])
    longest, shortest = lengths.sum(), abs(lengths[0] - lengths[1])
    at_base = np.flatnonzero(distance <= ROUNDING * longest)
    if at_base.size:
        raise ValueError(
            f"target_m[{at_base[0]}] is at the base, where the first link has no direction; move the target"
        )
    within = np.clip(distance, shortest, longest)
    shift = np.where(np.abs(distance - within) > ROUNDING * longest, np.abs(distance - within), 0.0)
    if unreachable == "error" and shift.any():
        first = int(np.flatnonzero(shift)[0])
        raise ValueError(
            f"target_m[{first}] is {distance[first]:.6g} m from the base, the links reach {shortest:.6g} to {longest:.6g} m "
            f"({np.count_nonzero(shift)} of {len(target)} targets are out of reach); unreachable='project' takes the nearest point"
        )
    # the half-angle form keeps its accuracy where the links are nearly folded; arccos does not
    second = 2.0 * np.arctan2(np.sqrt(longest**2 - within**2), np.sqrt(within**2 - shortest**2))
    second = second if bend == "positive" else -second
    inner = np.arctan2(lengths[1] * np.sin(second), lengths[0] + lengths[1] * np.cos(second))
    first_angle = np.arctan2(away[:, 1], away[:, 0]) - inner
    return TwoLinkAngles(_nearest_turn(np.column_stack([np.unwrap(first_angle), second])), shift)


def joint_motion(
    chain: Chain, angle_rad: ArrayLike, *, velocity_m_s: ArrayLike, acceleration_m_s2: ArrayLike, jerk_m_s3: ArrayLike
) -> JointMotion:
    """Joint motion of two links on a fixed base from the motion of their endpoint.

    Parameters
    ----------
    chain : Chain
        A chain of two links.
    angle_rad : array_like of shape (n_frames, 2)
        Joint angles, e.g. from `two_link_angles`.
    velocity_m_s, acceleration_m_s2, jerk_m_s3 : array_like of shape (n_frames, 2)
        Derivatives of the endpoint's position.

    Returns
    -------
    JointMotion
        Velocity, acceleration and jerk of the joint angles.

    Raises
    ------
    ValueError
        Another number of links, or a frame in which the links are in line: no joint velocity moves the endpoint in that
        direction.
    """
    if chain.n_links != 2:
        raise ValueError(
            f"the chain has {chain.n_links} links, expected 2: the endpoint determines two joint angles only; with three "
            "links and a known orientation of the last, pass the end of the second (examples/redundancy.py)"
        )
    alpha = frames("angle_rad", angle_rad, 2)
    velocity = frames("velocity_m_s", velocity_m_s, 2, like=alpha)
    acceleration = frames("acceleration_m_s2", acceleration_m_s2, 2, like=alpha)
    jerk = frames("jerk_m_s3", jerk_m_s3, 2, like=alpha)
    in_line = np.flatnonzero(np.abs(np.sin(alpha[:, 1])) < SINGULAR)
    if in_line.size:
        raise ValueError(
            f"angle_rad[{in_line[0]}] is {alpha[in_line[0]].tolist()}: the links are in line, and no joint velocity moves "
            "the endpoint along them; leave these frames out, or begin with the second joint bent"
        )
    matrix, still = jacobian(chain, alpha, point=chain.endpoint), np.zeros_like(alpha)

    def solve(rest: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.solve(matrix, rest[:, :, None])[:, :, 0])

    omega = solve(velocity)
    spin = solve(acceleration - point_acceleration(chain, Kinematics(alpha, omega, still), point=chain.endpoint))
    return JointMotion(
        omega, spin, solve(jerk - point_jerk(chain, Kinematics(alpha, omega, spin), still, point=chain.endpoint))
    )


def fit_rigid_chain(joint_m: ArrayLike, *, counted: ArrayLike | None = None) -> RigidChainFit:
    """Fit links of constant length to measured joints, all frames at once.

    Parameters
    ----------
    joint_m : array_like of shape (n_frames, n_links + 1, 2)
        Measured joints and endpoint in the plane, m; a frame with a NaN is left out.
    counted : array_like of bool, shape (n_frames,), optional
        Frames that determine the lengths, all by default; in the others the chain is fitted with these lengths.

    Returns
    -------
    RigidChainFit
        Lengths, joint angles and base that make the sum of the squared distances from the measured joints smallest.

    Raises
    ------
    ValueError
        Another shape, no complete counted frame, two coincident neighbouring joints, or an infinite number.

    Notes
    -----
    Newton's method, with the Gauss-Newton step in frames where the sum of squares is not convex, and steps that are
    halved until the sum falls; it starts at the measured directions and mean lengths. The base of a frame is the mean
    residual of its joints, which eliminates it; the frames are coupled only through the lengths, so that the normal
    equations have a border of n_links columns, and the rest is solved frame by frame (Schur complement).
    """
    joints = np.asarray(joint_m, dtype=float)
    if joints.ndim != 3 or joints.shape[1] < 2 or joints.shape[2] != 2:
        raise ValueError(f"joint_m has shape {joints.shape}, expected (n_frames, n_links + 1, 2)")
    finite("joint_m", joints, missing=True)
    known = ~np.isnan(joints.sum(axis=(1, 2)))
    used = known
    if counted is not None:
        mask = np.asarray(counted)
        if mask.shape != known.shape or mask.dtype != bool:
            raise ValueError(f"counted has shape {mask.shape} of {mask.dtype}, expected ({len(joints)},) of bool")
        used = known & mask
    if not used.any():
        raise ValueError(f"joint_m of shape {joints.shape} has no complete counted frame; expected one or more")
    measured = np.ascontiguousarray((joints[known, :, 0] + 1j * joints[known, :, 1]).T)
    fits = used[known]
    if (coincide := np.flatnonzero(~np.diff(measured[:, fits], axis=0).any(axis=1))).size:
        raise ValueError(f"joint_m[:, {coincide[0]}] and joint_m[:, {coincide[0] + 1}] coincide; expected two joints")
    orientation, off = np.empty((len(measured) - 1, len(fits))), np.empty_like(measured)
    length, orientation[:, fits], off[:, fits], iterations, success = _fitted(measured[:, fits])
    if not fits.all():
        orientation[:, ~fits], off[:, ~fits] = _turned(length, measured[:, ~fits])
    angle, distance = (np.full((len(joints), k), np.nan) for k in (len(length), len(measured)))
    joint_m = np.full(joints.shape, np.nan)
    angle[known] = _nearest_turn(np.diff(unwrapped(orientation.T), axis=1, prepend=0.0))
    joint_m[known] = in_plane((measured + off).T)
    distance[known] = np.abs(off).T
    return RigidChainFit(length, angle, joint_m[:, 0], joint_m, distance, success, iterations)


@dataclass(frozen=True)
class FitChange:
    """First-order change of a fitted chain with the measured joints.

    Attributes
    ----------
    orientation_rad : ndarray of shape (n_links, n_directions, n_frames)
        Of the links' orientations.
    length_m : ndarray of shape (n_links, n_directions)
        Of their lengths, m.
    joint_m : complex ndarray of shape (n_links + 1, n_directions, n_frames)
        Of the fitted joints, m, x + iy.
    """

    orientation_rad: FloatArray
    length_m: FloatArray
    joint_m: ComplexArray


def change_of_fit(
    angle_rad: FloatArray, length_m: FloatArray, change_m: ComplexArray, *, counted: BoolArray, lengths: bool = True
) -> FitChange:
    """Change of a fitted chain with small changes of the measured joints.

    Parameters
    ----------
    angle_rad : ndarray of shape (n_frames, n_links)
        Joint angles of the fit; NaN passes.
    length_m : ndarray of shape (n_links,)
        Lengths of the fit, m.
    change_m : complex ndarray of shape (n_links + 1, n_directions, n_frames)
        Changes of the measured joints, x + iy, m.
    counted : ndarray of bool, shape (n_frames,)
        Frames that determine the lengths, as in `fit_rigid_chain`.
    lengths : bool, optional
        False keeps the lengths: changes that average out over the frames.

    Returns
    -------
    FitChange
        Changes of orientations, lengths and joints.

    Notes
    -----
    The normal equations of `fit_rigid_chain` at its solution, without the curvature of the residuals (Gauss-Newton): their
    relative error is the ratio of residuals to lengths.
    """
    theta, n_links = np.cumsum(angle_rad.T, axis=0), len(length_m)
    direction, centred = unit_vectors(theta), _centred(n_links)
    inner, between = centred.T @ centred, np.conj(direction)[:, None] * direction
    shape = (n_links, *change_m.shape[1:])
    back = np.conj(direction)[:, None] * _times(
        centred.T, np.ascontiguousarray(change_m).reshape(n_links + 1, -1)
    ).reshape(shape)
    curve = between.real * (inner * length_m[:, None] * length_m)[..., None]
    border = between.imag.swapaxes(0, 1) * (inner * length_m)[..., None]  # [j, i]: length j against orientation i
    turned = _solve(curve, (length_m[:, None, None] * back.imag).swapaxes(0, 1))
    longer = np.zeros((change_m.shape[1], n_links))
    if lengths:
        used = np.compress(counted, border, axis=2)
        solved = _solve(np.compress(counted, curve, axis=2), used)
        alone = inner * np.compress(counted, between.real, axis=2).sum(axis=2)
        slope = np.compress(counted, back.real, axis=2).sum(axis=2).T
        slope -= np.einsum("jit,dit->dj", used, np.compress(counted, turned, axis=2))
        longer = np.linalg.solve(alone - np.einsum("jit,kit->jk", used, solved), slope.T).T
        turned = turned - np.einsum("dj,jit->dit", longer, _solve(curve, border))
    moved = direction[:, None] * (longer.T[..., None] + 1j * length_m[:, None, None] * turned.swapaxes(0, 1))
    joints = change_m.mean(axis=0) + _times(centred, np.ascontiguousarray(moved).reshape(n_links, -1)).reshape(
        change_m.shape
    )
    return FitChange(turned.swapaxes(0, 1), longer.T, joints)


def _nearest_turn(angle: FloatArray) -> FloatArray:
    """Angles without jumps; between -pi and pi in the first frame."""
    return np.asarray(angle - 2.0 * np.pi * np.round(angle[:1] / (2.0 * np.pi)))


# Below, time is the last axis: measured joints (n_links + 1, n_frames), orientations (n_links, n_frames).


def _fitted(measured: ComplexArray) -> tuple[FloatArray, FloatArray, ComplexArray, int, bool]:
    """Fit lengths and orientations; return also residuals, steps and convergence."""
    links, centred = np.diff(measured, axis=0), _centred(len(measured) - 1)
    measured = measured - measured.mean(axis=0)
    length, orientation = np.abs(links).mean(axis=1), np.angle(links)
    direction, off = _off(length, orientation, measured, centred)
    cost = _squares(off).sum()
    for iteration in range(1, ITERATIONS + 1):
        step = _step(length, direction, off, centred, newton=True) or _step(
            length, direction, off, centred, newton=False
        )
        if step is None:
            break
        for share in 0.5 ** np.arange(HALVINGS):
            longer, turned = length + share * step[0], orientation + share * step[1]
            direction, off = _off(longer, turned, measured, centred)
            found = _squares(off).sum()
            if (longer > 0.0).all() and found <= cost * (1.0 + ROUNDING):
                break
        else:
            break
        length, orientation, cost = longer, turned, found
        if max(np.abs(step[0]).max(), np.abs(step[1]).max()) < STEP:
            return length, orientation, off, iteration, True
    return length, orientation, _off(length, orientation, measured, centred)[1], iteration, False


def _step(
    length: FloatArray, direction: ComplexArray, off: ComplexArray, centred: FloatArray, *, newton: bool
) -> tuple[FloatArray, FloatArray] | None:
    """Descent steps of lengths and orientations; None where lengths are undetermined.

    Newton's method in frames with a convex sum of squares, otherwise Gauss-Newton.
    """
    n_links = len(length)
    parts = [
        _frame_by_frame(length, direction[:, some], off[:, some], centred, newton=newton)
        for some in stretches(off.shape[1])
    ]
    lengths_alone, products, slope = (sum(each[1:], each[0]) for each in list(zip(*parts, strict=True))[1:])
    border = lengths_alone - products[:, :-1]
    if np.linalg.eigvalsh(border)[0] <= ROUNDING * np.trace(lengths_alone):
        return None
    longer = np.linalg.solve(border, products[:, -1] - slope)
    turned = [-(solved[-1] + longer @ solved[:-1]).reshape(n_links, -1) for solved, *_ in parts]
    return longer, np.concatenate(turned, axis=1)


def _frame_by_frame(
    length: FloatArray, direction: ComplexArray, off: ComplexArray, centred: FloatArray, *, newton: bool
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Solve frames for the orientations, and sum their equations for the lengths."""
    n_links, each, inner = len(length), np.arange(len(length)), centred.T @ centred
    back, between = _slopes(direction, off, centred)
    curve, convex = _curve(length, back, between.real, inner, newton=newton)
    right = np.empty((n_links + 1, *direction.shape))  # [j, i]: length j, or the slope, against orientation i
    right[:-1] = between.imag * (inner * -length)[..., None]
    right[each, each] += np.where(convex, back.imag, 0.0)
    right[-1] = length[:, None] * back.imag
    rows, solved = right[:-1].reshape(n_links, -1), _solve(curve, right).reshape(n_links + 1, -1)
    return solved, inner * between.real.sum(axis=2), rows @ solved.T, back.real.sum(axis=1)


def _turned(length: FloatArray, measured: ComplexArray) -> tuple[FloatArray, ComplexArray]:
    """Orientations that best fit links of given lengths to the joints; residuals."""
    centred, orientation = _centred(len(length)), np.angle(np.diff(measured, axis=0))
    measured, inner = measured - measured.mean(axis=0), centred.T @ centred
    for _ in range(ITERATIONS):
        direction, off = _off(length, orientation, measured, centred)
        back, between = _slopes(direction, off, centred)
        curve, _ = _curve(length, back, between.real, inner, newton=True)
        turn = -_solve(curve, (length[:, None] * back.imag)[None])[0]
        cost = _squares(off) * (1.0 + ROUNDING)
        for _ in range(HALVINGS):
            uphill = _squares(_off(length, orientation + turn, measured, centred)[1]) > cost
            turn[:, uphill] /= 2.0
            if not uphill.any():
                break
        orientation = orientation + turn
        if np.abs(turn).max(initial=0.0) < STEP:
            break
    return orientation, _off(length, orientation, measured, centred)[1]


def _centred(n_links: int) -> FloatArray:
    """Matrix [k, i]: 1 if joint k lies beyond link i, minus the mean over joints.

    The base accounts for the mean.
    """
    beyond = np.tri(n_links + 1, n_links, -1)
    return np.asarray(beyond - beyond.mean(axis=0))


def _off(
    length: FloatArray, orientation: FloatArray, measured: ComplexArray, centred: FloatArray
) -> tuple[ComplexArray, ComplexArray]:
    """Directions of the links, and centred residuals of the joints."""
    direction = unit_vectors(orientation)
    return direction, _times(centred * length, direction) - measured


def _times(matrix: FloatArray, numbers: ComplexArray) -> ComplexArray:
    """Product of a real matrix and complex numbers, without a complex matrix."""
    return np.asarray((matrix @ numbers.view(float)).view(complex))


def _squares(off: ComplexArray) -> FloatArray:
    """Sum of the squared distances of every frame."""
    return np.asarray((off.real**2 + off.imag**2).sum(axis=0))


def _slopes(direction: ComplexArray, off: ComplexArray, centred: FloatArray) -> tuple[ComplexArray, ComplexArray]:
    """Gradient by each link, and products of the links' directions."""
    back = np.conj(direction)
    return back * _times(centred.T, off), back[:, None] * direction


def _curve(
    length: FloatArray, back: ComplexArray, cosines: FloatArray, inner: FloatArray, *, newton: bool
) -> tuple[FloatArray, BoolArray]:
    """Second derivatives with respect to orientations; mask of convex frames."""
    each, curve = np.arange(len(length)), cosines * (inner * length[:, None] * length)[..., None]
    if not newton:
        return curve, np.zeros(back.shape[1], dtype=bool)
    whole = curve.copy()
    whole[each, each] -= length[:, None] * back.real
    shifted = whole.copy()
    shifted[each, each] -= CONVEX * curve[each, each].sum(axis=0)
    convex = _definite(shifted)
    return whole if convex.all() else np.where(convex, whole, curve), convex


def _definite(matrices: FloatArray) -> BoolArray:
    """Mask of the positive definite matrices, whose pivots are all positive."""
    definite = np.ones(matrices.shape[2], dtype=bool)
    while len(matrices):
        pivot, row = matrices[0, 0], matrices[0, 1:]
        definite &= pivot > 0.0
        share = np.divide(row, pivot, out=np.zeros_like(row), where=definite)
        matrices = matrices[1:, 1:] - share[:, None] * row
    return definite


def _solve(matrices: FloatArray, right: FloatArray) -> FloatArray:
    """Solve positive definite systems of all frames for several right-hand sides."""
    upper, solved = matrices.copy(), right.copy()
    for k in range(len(upper)):
        share = upper[k + 1 :, k] / upper[k, k]
        upper[k + 1 :, k + 1 :] -= share[:, None] * upper[k, k + 1 :]
        solved[:, k + 1 :] -= share * solved[:, k, None]
    for k in reversed(range(len(upper))):
        solved[:, k] /= upper[k, k]
        solved[:, :k] -= upper[:k, k] * solved[:, k, None]
    return solved
