r"""The planar chain of n rigid links on a moving base: torque terms, recursive Newton-Euler, positions.

Angles are joint-space (relative) angles ``alpha``; the orientation of a link is ``theta = cumsum(alpha)``, from the
plane's x axis, counter-clockwise. Torques are what the proximal link does to the distal one, counter-clockwise
positive. With ``c_ki = L_i (i < k), d_i (i = k), 0 (i > k)``

.. math::

    A_{ij} = \sum_k m_k c_{ki} c_{kj} + I_i [i = j], \qquad b_i = \sum_k m_k c_{ki}

.. math::

    u_i = \sum_j A_{ij} (\cos(\theta_i - \theta_j) \ddot\theta_j + \sin(\theta_i - \theta_j) \dot\theta_j^2)
          + b_i\, e_i \cdot (a_0 - g) - Q_i, \qquad \tau_i = \sum_{m \ge i} u_m

with ``e_i = (-sin theta_i, cos theta_i)``, base acceleration ``a_0``, gravity ``g`` and generalised load ``Q_i``.
For one, two and three links these are the closed forms of Zatsiorsky (2002, *Kinetics of Human Motion*) and of
Cesari et al. (2001, Biological Cybernetics 84, 217-226), corrected as `docs/theory.md` lists.

Everything here knows arrays only; time is axis 0 of every argument and result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Chain:
    """Inertial constants of a planar chain, proximal link first.

    Attributes
    ----------
    length_m : ndarray of shape (n_links,)
        Distance between a link's two joints, m.
    mass_kg : ndarray of shape (n_links,)
        Mass, kg.
    com_m : ndarray of shape (n_links,)
        Distance of the centre of mass from the proximal joint, along the link, m.
    inertia_kgm2 : ndarray of shape (n_links,)
        Moment of inertia about the centre of mass and the plane's normal, kg m^2.

    Raises
    ------
    ValueError
        A length that is not positive, a negative mass or inertia, a non-finite value, or shapes that differ.
    """

    length_m: FloatArray
    mass_kg: FloatArray
    com_m: FloatArray
    inertia_kgm2: FloatArray

    def __post_init__(self) -> None:
        n_links = np.atleast_1d(np.asarray(self.length_m, dtype=float)).shape
        for name, lowest in (("length_m", 0.0), ("mass_kg", -1.0), ("com_m", -np.inf), ("inertia_kgm2", -1.0)):
            value = np.atleast_1d(np.asarray(getattr(self, name), dtype=float))
            if value.shape != n_links or value.ndim != 1:
                raise ValueError(f"{name} has shape {value.shape}, length_m has {n_links}: one number for each link")
            bad = np.flatnonzero(~np.isfinite(value) | (value <= lowest if lowest == 0.0 else value < 0.0))
            if name == "com_m":
                bad = np.flatnonzero(~np.isfinite(value))
            if bad.size:
                rule = "positive" if lowest == 0.0 else "finite" if name == "com_m" else "not negative"
                raise ValueError(f"{name}[{bad[0]}] is {value[bad[0]]}; it has to be {rule}")
            object.__setattr__(self, name, value)

    @property
    def n_links(self) -> int:
        """Number of links."""
        return int(self.length_m.size)

    @property
    def coupling(self) -> FloatArray:
        """Matrix A of shape (n_links, n_links), kg m^2: ``A_ij cos(theta_i - theta_j)`` is segment-space inertia."""
        arms = self._arms
        return (arms.T * self.mass_kg) @ arms + np.diag(self.inertia_kgm2)

    @property
    def first_moment(self) -> FloatArray:
        """Vector b of shape (n_links,), kg m: first mass moment that turns with each link."""
        return self.mass_kg @ self._arms

    @property
    def _arms(self) -> FloatArray:
        """c_ki: how far link i carries the centre of mass of link k."""
        return np.tril(np.tile(self.length_m, (self.n_links, 1)), -1) + np.diag(self.com_m)


@dataclass(frozen=True)
class Load:
    """A force and a couple that the surroundings put on one link.

    Attributes
    ----------
    link : int
        Index of the link, from 0.
    force_n : ndarray of shape (n_frames, 2)
        Force on the link in the plane, N.
    point_m : ndarray of shape (n_frames, 2)
        Where it acts, in the plane's coordinates, m.
    couple_nm : ndarray of shape (n_frames,)
        Couple on the link, counter-clockwise positive, N m.

    Raises
    ------
    ValueError
        An array of another shape.
    """

    link: int
    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray

    def __post_init__(self) -> None:
        n_frames = np.asarray(self.force_n).shape[:1]
        for name, shape in (("force_n", (*n_frames, 2)), ("point_m", (*n_frames, 2)), ("couple_nm", n_frames)):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != shape or not n_frames:
                raise ValueError(f"{name} has shape {value.shape}, expected {shape if n_frames else '(n_frames, 2)'}")
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class TorqueTerms:
    """Net joint torques, term by term; all in N m, proximal on distal, counter-clockwise positive.

    Attributes
    ----------
    inertial : ndarray of shape (n_frames, n_joints, n_joints)
        ``[:, i, j]`` is ``M_ij`` times the angular acceleration of joint j.
    centripetal : ndarray of shape (n_frames, n_joints, n_joints)
        ``[:, i, j]`` is proportional to the squared angular velocity of joint j; exactly 0 for i = j.
    coriolis : ndarray of shape (n_frames, n_joints, n_pairs)
        ``[:, i, p]`` is proportional to twice the product of the angular velocities of the p-th pair of `pairs`.
    gravity, base, external : ndarray of shape (n_frames, n_joints)
        Against gravity; to accelerate the chain with its base; against the external loads.
    """

    inertial: FloatArray
    centripetal: FloatArray
    coriolis: FloatArray
    gravity: FloatArray
    base: FloatArray
    external: FloatArray

    @cached_property
    def net(self) -> FloatArray:
        """Sum of all terms, shape (n_frames, n_joints)."""
        moving = self.inertial.sum(axis=2) + self.centripetal.sum(axis=2) + self.coriolis.sum(axis=2)
        return cast(FloatArray, moving + self.gravity + self.base + self.external)


@dataclass(frozen=True)
class JointWrenches:
    """What each proximal link does to its distal neighbour, from a recursive Newton-Euler pass.

    Attributes
    ----------
    torque_nm : ndarray of shape (n_frames, n_joints)
        Net joint torque, N m, counter-clockwise positive.
    reaction_n : ndarray of shape (n_frames, n_joints, 2)
        Joint reaction force on the distal link, N. It is not the force in the joint: the pull of the muscles that
        cross it comes on top.
    """

    torque_nm: FloatArray
    reaction_n: FloatArray


def pairs(n_joints: int) -> list[tuple[int, int]]:
    """Pairs of joints in the order of the Coriolis terms.

    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(p, q) for p in range(n_joints) for q in range(p + 1, n_joints)]


def joint_positions(chain: Chain, angle_rad: ArrayLike, *, base_m: ArrayLike = (0.0, 0.0)) -> FloatArray:
    """Positions of the joints and of the end of the last link.

    Parameters
    ----------
    chain : Chain
        The chain.
    angle_rad : array_like of shape (n_frames, n_joints)
        Joint angles, rad.
    base_m : array_like of shape (n_frames, 2) or (2,), optional
        Position of the first joint, m.

    Returns
    -------
    ndarray of shape (n_frames, n_joints + 1, 2)
        Positions in the plane, m.
    """
    theta = np.cumsum(_frames("angle_rad", angle_rad, chain.n_links), axis=1)
    steps = chain.length_m[:, None] * np.stack([np.cos(theta), np.sin(theta)], axis=2)
    base = _vectors("base_m", base_m, theta.shape[0])
    return np.concatenate([base[:, None], base[:, None] + np.cumsum(steps, axis=1)], axis=1)


def inertia_matrix(chain: Chain, angle_rad: ArrayLike) -> FloatArray:
    """Joint-space inertia matrix M, shape (n_frames, n_joints, n_joints), kg m^2.

    Parameters
    ----------
    chain : Chain
        The chain.
    angle_rad : array_like of shape (n_frames, n_joints)
        Joint angles, rad.
    """
    theta = np.cumsum(_frames("angle_rad", angle_rad, chain.n_links), axis=1).T
    return np.moveaxis(_inertia(chain, _differences(theta)), -1, 0)


def torque_terms(
    chain: Chain,
    angle_rad: ArrayLike,
    velocity_rad_s: ArrayLike,
    acceleration_rad_s2: ArrayLike,
    *,
    gravity_m_s2: ArrayLike,
    base_acceleration_m_s2: ArrayLike = (0.0, 0.0),
    loads: Sequence[Load] = (),
    joint_m: ArrayLike | None = None,
) -> TorqueTerms:
    """Net joint torques of a moving chain, term by term.

    Parameters
    ----------
    chain : Chain
        The chain.
    angle_rad, velocity_rad_s, acceleration_rad_s2 : array_like of shape (n_frames, n_joints)
        Joint angles and their first and second derivatives.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane; ``(0, -9.81)`` where the plane is vertical, ``(0, 0)`` where horizontal.
    base_acceleration_m_s2 : array_like of shape (n_frames, 2) or (2,), optional
        Acceleration of the first joint, m/s^2.
    loads : sequence of Load, optional
        External loads.
    joint_m : array_like of shape (n_frames, n_joints, 2) or more joints, optional
        Where the joints are, for the lever arms of the loads; needed where there are loads.

    Returns
    -------
    TorqueTerms
        The terms; they add up to the net joint torque.

    Raises
    ------
    ValueError
        Shapes that do not agree, or loads without joint positions.

    Notes
    -----
    A frame with a NaN anywhere gives NaN in the terms that need it. The lever arms of external loads come from
    `joint_m`, the measured joint positions, not from the constant link lengths: over a whole leg a centimetre of
    changing length would be several newton metres (docs/decisions/0004).

    Examples
    --------
    A horizontal forearm of 1.5 kg at rest, its centre of mass 0.18 m from the elbow:

    >>> forearm = Chain(length_m=[0.26], mass_kg=[1.5], com_m=[0.18], inertia_kgm2=[0.02])
    >>> terms = torque_terms(forearm, [[0.0]], [[0.0]], [[0.0]], gravity_m_s2=(0.0, -9.81))
    >>> round(float(terms.net[0, 0]), 4)
    2.6487
    """
    n = chain.n_links
    alpha = _frames("angle_rad", angle_rad, n)
    velocity = _frames("velocity_rad_s", velocity_rad_s, n, like=alpha).T
    acceleration = _frames("acceleration_rad_s2", acceleration_rad_s2, n, like=alpha).T
    theta = np.cumsum(alpha, axis=1).T
    differences = _differences(theta)
    base = _vectors("base_acceleration_m_s2", base_acceleration_m_s2, alpha.shape[0]).T
    gravity = _vectors("gravity_m_s2", gravity_m_s2)
    turning = chain.first_moment[:, None] * np.stack([-np.sin(theta), np.cos(theta)])
    velocity_factor = _velocity_factor(chain, differences)
    coriolis = [2.0 * velocity_factor[:, q] * (velocity[p] * velocity[q]) for p, q in pairs(n)]
    return TorqueTerms(
        inertial=_time_first(_inertia(chain, differences) * acceleration),
        centripetal=_time_first(velocity_factor * velocity**2),
        coriolis=_time_first(np.stack(coriolis, axis=1) if coriolis else np.empty((n, 0, alpha.shape[0]))),
        gravity=_time_first(_distal_sum(-(turning[0] * gravity[0] + turning[1] * gravity[1]))),
        base=_time_first(_distal_sum(turning[0] * base[0] + turning[1] * base[1])),
        external=_external(alpha.shape[0], n, loads, joint_m),
    )


def newton_euler(
    chain: Chain,
    angle_rad: ArrayLike,
    velocity_rad_s: ArrayLike,
    acceleration_rad_s2: ArrayLike,
    *,
    gravity_m_s2: ArrayLike,
    base_acceleration_m_s2: ArrayLike = (0.0, 0.0),
    loads: Sequence[Load] = (),
    joint_m: ArrayLike | None = None,
) -> JointWrenches:
    """Net joint torques and joint reaction forces by a recursive Newton-Euler pass.

    Outward it accelerates every joint and centre of mass, inward it balances every link. It shares no expression
    with `torque_terms`, and so checks it.

    Parameters
    ----------
    chain, angle_rad, velocity_rad_s, acceleration_rad_s2, gravity_m_s2, base_acceleration_m_s2, loads, joint_m
        As in `torque_terms`.

    Returns
    -------
    JointWrenches
        Net torque and reaction force at every joint.
    """
    n = chain.n_links
    alpha = _frames("angle_rad", angle_rad, n)
    omega = np.cumsum(_frames("velocity_rad_s", velocity_rad_s, n, like=alpha), axis=1)
    omega_dot = np.cumsum(_frames("acceleration_rad_s2", acceleration_rad_s2, n, like=alpha), axis=1)
    theta = np.cumsum(alpha, axis=1)
    direction = np.stack([np.cos(theta), np.sin(theta)], axis=2)
    across = np.stack([-direction[:, :, 1], direction[:, :, 0]], axis=2)
    per_metre = omega_dot[:, :, None] * across - (omega**2)[:, :, None] * direction
    joint_acceleration = _vectors("base_acceleration_m_s2", base_acceleration_m_s2, alpha.shape[0])
    com_acceleration = []
    for i in range(n):
        com_acceleration.append(joint_acceleration + chain.com_m[i] * per_metre[:, i])
        joint_acceleration = joint_acceleration + chain.length_m[i] * per_metre[:, i]
    force = np.zeros((alpha.shape[0], 2))
    torque = np.zeros(alpha.shape[0])
    torques, forces = np.empty((alpha.shape[0], n)), np.empty((alpha.shape[0], n, 2))
    gravity = _vectors("gravity_m_s2", gravity_m_s2)
    pull, moment = _load_wrenches(alpha.shape[0], n, loads, joint_m)
    for i in reversed(range(n)):
        inertial = chain.mass_kg[i] * (com_acceleration[i] - gravity)
        torque = (
            torque
            + chain.inertia_kgm2[i] * omega_dot[:, i]
            + chain.com_m[i] * _cross(direction[:, i], inertial)
            + chain.length_m[i] * _cross(direction[:, i], force)
        )
        force = force + inertial
        torques[:, i] = torque - moment[:, i]
        forces[:, i] = force - pull[:, i]
    return JointWrenches(torque_nm=torques, reaction_n=forces)


def _frames(name: str, value: ArrayLike, n_joints: int, *, like: FloatArray | None = None) -> FloatArray:
    array = np.asarray(value, dtype=float)
    expected = f"(n_frames, {n_joints})" if like is None else f"{like.shape}"
    if array.ndim != 2 or array.shape[1] != n_joints or (like is not None and array.shape != like.shape):
        raise ValueError(f"{name} has shape {array.shape}, expected {expected}")
    return array


def _vectors(name: str, value: ArrayLike, n_frames: int | None = None) -> FloatArray:
    """Vector of the plane, the same on every frame or one for each where there are frames."""
    array = np.asarray(value, dtype=float)
    if array.shape != (2,) and (n_frames is None or array.shape != (n_frames, 2)):
        expected = "(2,)" if n_frames is None else f"(2,) or ({n_frames}, 2)"
        raise ValueError(f"{name} has shape {array.shape}, expected {expected}: components in the plane")
    return array if n_frames is None else np.broadcast_to(array, (n_frames, 2))


def _time_first(array: FloatArray) -> FloatArray:
    return np.moveaxis(array, -1, 0)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Component along z of the cross product of two arrays of plane vectors."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _distal_sum(segment_space: FloatArray) -> FloatArray:
    """Sum over a link and all links distal of it: the step from segment space to joint space, along axis 0."""
    return np.cumsum(segment_space[::-1], axis=0)[::-1]


def _differences(theta: FloatArray) -> FloatArray:
    """Differences theta_i - theta_j, shape (n_links, n_links, n_frames)."""
    return theta[:, None] - theta[None, :]


def _inertia(chain: Chain, differences: FloatArray) -> FloatArray:
    segment_space = chain.coupling[:, :, None] * np.cos(differences)
    return np.cumsum(_distal_sum(segment_space)[:, ::-1], axis=1)[:, ::-1]


def _velocity_factor(chain: Chain, differences: FloatArray) -> FloatArray:
    """W with tau_i = sum_j W_ij alpha'_j^2 + sum_{p<q} 2 W_iq alpha'_p alpha'_q; antisymmetric, zero diagonal.

    In W_iq = sum_{m>=i, j>=q} A_mj sin(theta_m - theta_j) the part with both m and j beyond max(i, q) cancels; what
    is left is summed, so that the zeros of the diagonal are exact.
    """
    n = chain.n_links
    factor = np.zeros_like(differences)
    sines = chain.coupling[:, :, None] * np.sin(differences)
    beyond = np.cumsum(sines[:, ::-1], axis=1)[:, ::-1]
    for q in range(1, n):
        for i in reversed(range(q)):
            factor[i, q] = beyond[i, q] + (factor[i + 1, q] if i + 1 < q else 0.0)
            factor[q, i] = -factor[i, q]
    return factor


def _joints(n_frames: int, n_joints: int, loads: Sequence[Load], joint_m: ArrayLike | None) -> FloatArray:
    if not loads:
        return np.zeros((n_frames, n_joints, 2))
    if joint_m is None:
        raise ValueError("joint_m is missing: external loads need the joint positions for their lever arms")
    joints = np.asarray(joint_m, dtype=float)
    if joints.ndim != 3 or joints.shape[0] != n_frames or joints.shape[1] < n_joints or joints.shape[2] != 2:
        raise ValueError(f"joint_m has shape {joints.shape}, expected ({n_frames}, {n_joints} or more, 2)")
    for number, load in enumerate(loads):
        if not 0 <= load.link < n_joints:
            raise ValueError(f"loads[{number}].link is {load.link}; the chain has links 0 to {n_joints - 1}")
        if len(load.force_n) != n_frames:
            raise ValueError(f"loads[{number}].force_n has {len(load.force_n)} frames, the motion has {n_frames}")
    return joints


def _external(n_frames: int, n: int, loads: Sequence[Load], joint_m: ArrayLike | None) -> FloatArray:
    """Minus the generalised loads, by virtual work: link by link in segment space, then summed to joint space."""
    joints = _joints(n_frames, n, loads, joint_m)
    work = np.zeros((n, n_frames))
    for load in loads:
        for i in range(load.link):
            work[i] += _cross(joints[:, i + 1] - joints[:, i], load.force_n)
        work[load.link] += _cross(load.point_m - joints[:, load.link], load.force_n) + load.couple_nm
    return _time_first(_distal_sum(-work)) if loads else np.zeros((n_frames, n))


def _load_wrenches(
    n_frames: int, n: int, loads: Sequence[Load], joint_m: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Force and moment about each joint of all loads distal of it, taken about the joint itself."""
    joints = _joints(n_frames, n, loads, joint_m)
    force, moment = np.zeros((n_frames, n, 2)), np.zeros((n_frames, n))
    for load in loads:
        for i in range(load.link + 1):
            force[:, i] += load.force_n
            moment[:, i] += _cross(load.point_m - joints[:, i], load.force_n) + load.couple_nm
    return force, moment
