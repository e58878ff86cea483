r"""Net joint torques, term by term, and by a recursive Newton-Euler pass.

With ``c_ki = L_i (i < k), d_i (i = k), 0 (i > k)``

.. math::

    A_{ij} = \sum_k m_k c_{ki} c_{kj} + I_i [i = j], \qquad b_i = \sum_k m_k c_{ki}

.. math::

    u_i = \sum_j A_{ij} (\cos(\theta_i - \theta_j) \ddot\theta_j + \sin(\theta_i - \theta_j) \dot\theta_j^2)
          + b_i\, e_i \cdot (a_0 - g) - Q_i, \qquad \tau_i = \sum_{m \ge i} u_m

with ``e_i = (-sin theta_i, cos theta_i)``, base acceleration ``a_0``, gravity ``g`` and generalised load ``Q_i``.
For one, two and three links these are the closed forms of Zatsiorsky (2002, *Kinetics of Human Motion*) and of
Cesari et al. (2001, Biological Cybernetics 84, 217-226), corrected as `docs/theory.md` lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, finite, frames, plane_cross, vectors
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import ACCELERATED, Chain, Kinematics, Load, pairs

FRAMES_AT_A_TIME = 4096  # the arrays of one pass fit in the processor's cache


@dataclass(frozen=True)
class TorqueTerms:
    """Net joint torques, term by term, N m, proximal on distal.

    Results of `PreparedChain`, for one state, have no frame axis.

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
        moving = self.inertial.sum(axis=-1) + self.centripetal.sum(axis=-1) + self.coriolis.sum(axis=-1)
        return cast(FloatArray, moving + self.gravity + self.base + self.external)


@dataclass(frozen=True)
class JointWrenches:
    """Joint torques and joint reaction forces from a recursive Newton-Euler pass.

    Attributes
    ----------
    torque_nm : ndarray of shape (n_frames, n_joints)
        Net joint torque, N m, counter-clockwise positive.
    reaction_n : ndarray of shape (n_frames, n_joints, 2)
        Joint reaction force on the distal link, N. The joint contact force also balances the pull of the muscles.
    """

    torque_nm: FloatArray
    reaction_n: FloatArray


def of_motion(terms: FloatArray, like: FloatArray) -> None:
    """Check that torque terms belong to a motion of this shape.

    Raises
    ------
    ValueError
        Another number of frames or joints.
    """
    if terms.shape != like.shape:
        raise ValueError(f"terms have shape {terms.shape}, expected {like.shape}; pass the torques of this motion")


def inertia_matrix(chain: Chain, angle_rad: ArrayLike, *, missing: bool = False) -> FloatArray:
    """Joint-space inertia matrix M, shape (n_frames, n_joints, n_joints), kg m^2.

    Parameters
    ----------
    chain : Chain
        The chain.
    angle_rad : array_like of shape (n_frames, n_joints)
        Joint angles, rad.
    missing : bool, optional
        Allow NaN: the matrix of such a frame is NaN.
    """
    alpha = frames("angle_rad", angle_rad, chain.n_links, missing=missing)
    matrix = np.empty((chain.n_links, chain.n_links, len(alpha)))
    for some in _passes(len(alpha)):
        cosine, sine = _directions(alpha[some])
        matrix[..., some] = _inertia(chain, cosine, sine)
    return _time_first(matrix)


def torque_terms(
    chain: Chain,
    kinematics: Kinematics,
    *,
    gravity_m_s2: ArrayLike,
    loads: Sequence[Load] = (),
    joint_m: ArrayLike | None = None,
    missing: bool = False,
) -> TorqueTerms:
    """Net joint torques of a moving chain, term by term.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles and their first and second derivatives, and the acceleration of the base.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane; ``(0, -9.81)`` where the plane is vertical, ``(0, 0)`` where horizontal.
    loads : sequence of Load, optional
        External loads.
    joint_m : array_like of shape (n_frames, n_joints, 2) or more joints, optional
        Joint positions, for the moment arms of the loads; by default those of chain and base.
    missing : bool, optional
        Allow NaN (missing values): a frame with a NaN anywhere gives NaN in the terms that need it.

    Returns
    -------
    TorqueTerms
        The terms; they add up to the net joint torque.

    Raises
    ------
    ValueError
        Mismatched shapes, or numbers that are not finite.

    Notes
    -----
    Of a recorded limb give the measured joint positions as `joint_m`: from the constant link lengths the moment arms of
    external loads would be wrong, over a whole leg a centimetre of changing length by several newton metres (docs/decisions/0022).

    Examples
    --------
    A horizontal forearm of 1.5 kg at rest, its centre of mass 0.18 m from the elbow:

    >>> forearm = Chain(length_m=[0.26], mass_kg=[1.5], com_m=[0.18], inertia_kgm2=[0.02])
    >>> terms = torque_terms(forearm, Kinematics([[0.0]], [[0.0]], [[0.0]]), gravity_m_s2=(0.0, -9.81))
    >>> round(float(terms.net[0, 0]), 4)
    2.6487
    """
    n = chain.n_links
    alpha, velocity, acceleration, base = kinematics.arrays(chain, *ACCELERATED, missing=missing)
    gravity = vectors("gravity_m_s2", gravity_m_s2)
    inertial, centripetal = np.empty((2, n, n, len(alpha)))
    coriolis = np.empty((n, n * (n - 1) // 2, len(alpha)))
    against_gravity, with_base = np.empty((2, n, len(alpha)))
    for some in _passes(len(alpha)):
        cosine, sine = _directions(alpha[some])
        omega, spin, push = (_by_link(values[some]) for values in (velocity, acceleration, base))
        np.multiply(_inertia(chain, cosine, sine), spin, out=inertial[..., some])
        across = sine[:, None] * cosine
        across -= cosine[:, None] * sine
        across *= chain.coupling[:, :, None]
        factor = velocity_factor(across)
        np.multiply(factor, omega**2, out=centripetal[..., some])
        for k, (p, q) in enumerate(pairs(n)):
            np.multiply(factor[:, q], 2.0 * omega[p] * omega[q], out=coriolis[:, k, some])
        turning_x, turning_y = -chain.first_moment[:, None] * sine, chain.first_moment[:, None] * cosine
        np.subtract(-gravity[0] * turning_x, gravity[1] * turning_y, out=against_gravity[:, some])
        np.add(push[0] * turning_x, push[1] * turning_y, out=with_base[:, some])
        add_distal(against_gravity[:, some])
        add_distal(with_base[:, some])
    return TorqueTerms(
        inertial=_time_first(inertial),
        centripetal=_time_first(centripetal),
        coriolis=_time_first(coriolis),
        gravity=_time_first(against_gravity),
        base=_time_first(with_base),
        external=external_term(chain, kinematics, loads, joint_m, missing=missing),
    )


def newton_euler(
    chain: Chain,
    kinematics: Kinematics,
    *,
    gravity_m_s2: ArrayLike,
    loads: Sequence[Load] = (),
    joint_m: ArrayLike | None = None,
    missing: bool = False,
) -> JointWrenches:
    """Net joint torques and joint reaction forces by a recursive Newton-Euler pass.

    Outward it accelerates every joint and centre of mass, inward it balances every link. It shares no expression
    with `torque_terms`, and so checks it.

    Parameters
    ----------
    chain, kinematics, gravity_m_s2, loads, joint_m, missing
        As in `torque_terms`.

    Returns
    -------
    JointWrenches
        Net torque and reaction force at every joint.
    """
    n = chain.n_links
    *angles, joint_acceleration = kinematics.arrays(chain, *ACCELERATED, missing=missing)
    theta, omega, omega_dot = (np.cumsum(values, axis=1) for values in angles)
    direction = np.stack([np.cos(theta), np.sin(theta)], axis=2)
    across = np.stack([-direction[:, :, 1], direction[:, :, 0]], axis=2)
    per_metre = omega_dot[:, :, None] * across - (omega**2)[:, :, None] * direction
    com_acceleration = []
    for i in range(n):
        com_acceleration.append(joint_acceleration + chain.com_m[i] * per_metre[:, i])
        joint_acceleration = joint_acceleration + chain.length_m[i] * per_metre[:, i]
    n_frames = kinematics.n_frames
    force, torque = np.zeros((n_frames, 2)), np.zeros(n_frames)
    torques, forces = np.empty((n_frames, n)), np.empty((n_frames, n, 2))
    gravity = vectors("gravity_m_s2", gravity_m_s2)
    joint_m = _joints_of(chain, kinematics, loads, joint_m, missing=missing)
    pull, moment = _load_wrenches(n_frames, n, loads, joint_m, missing=missing)
    for i in reversed(range(n)):
        inertial = chain.mass_kg[i] * (com_acceleration[i] - gravity)
        torque = (
            torque
            + chain.inertia_kgm2[i] * omega_dot[:, i]
            + chain.com_m[i] * plane_cross(direction[:, i], inertial)
            + chain.length_m[i] * plane_cross(direction[:, i], force)
        )
        force = force + inertial
        torques[:, i] = torque - moment[:, i]
        forces[:, i] = force - pull[:, i]
    return JointWrenches(torque_nm=torques, reaction_n=forces)


def _time_first(array: FloatArray) -> FloatArray:
    return np.moveaxis(array, -1, 0)


def _passes(n_frames: int) -> Iterator[slice]:
    """Parts of the frames, each processed at once."""
    return (slice(k, min(k + FRAMES_AT_A_TIME, n_frames)) for k in range(0, n_frames, FRAMES_AT_A_TIME))


def _directions(alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Cosine and sine of the links' orientations, shape (n_links, n_frames)."""
    theta = _by_link(alpha)
    for i in range(1, len(theta)):
        theta[i] += theta[i - 1]
    return np.cos(theta), np.sin(theta)


def _by_link(values: FloatArray) -> FloatArray:
    """Contiguous copy with time as the last axis."""
    return np.array(values.T, order="C")


def add_distal(values: FloatArray) -> None:
    """Add to each link the values of all links distal of it, in place, along axis 0.

    This is the step from segment space to joint space.
    """
    for i in reversed(range(len(values) - 1)):
        values[i] += values[i + 1]


def _inertia(chain: Chain, cosine: FloatArray, sine: FloatArray) -> FloatArray:
    """M, shape (n_joints, n_joints, n_frames), from A_ij cos(theta_i - theta_j)."""
    matrix = cosine[:, None] * cosine
    matrix += sine[:, None] * sine
    matrix *= chain.coupling[:, :, None]
    add_distal(matrix)
    add_distal(matrix.swapaxes(0, 1))
    return matrix


def velocity_factor(across: FloatArray) -> FloatArray:
    """Antisymmetric matrix W of the velocity-dependent torques, or its change.

    ``tau_i = sum_j W_ij alpha'_j^2 + sum_{p<q} 2 W_iq alpha'_p alpha'_q``.

    Parameters
    ----------
    across : ndarray of shape (n_links, n_links, ...)
        ``A_mj sin(theta_m - theta_j)``; it is overwritten.

    Notes
    -----
    In W_iq = sum_{m>=i, j>=q} A_mj sin(theta_m - theta_j) the part with both m and j beyond max(i, q) cancels; only
    the rest is summed, so that the zeros of the diagonal are exact.
    """
    add_distal(across.swapaxes(0, 1))
    factor = np.zeros_like(across)
    for q in range(1, len(across)):
        for i in reversed(range(q)):
            np.add(across[i, q], factor[i + 1, q] if i + 1 < q else 0.0, out=factor[i, q])
            np.negative(factor[i, q], out=factor[q, i])
    return factor


def checked_joints(
    n_frames: int, n_joints: int, loads: Sequence[Load], joint_m: ArrayLike | None, *, missing: bool
) -> FloatArray:
    """Joint positions for the moment arms of loads, checked against the loads.

    Raises
    ------
    ValueError
        No positions, another shape, a load of another link or number of frames, or a number that is not finite.
    """
    if not loads:
        return np.zeros((n_frames, n_joints, 2))
    if joint_m is None:
        raise ValueError("joint_m is missing: external loads need the joint positions for their moment arms")
    joints = np.asarray(joint_m, dtype=float)
    if joints.ndim != 3 or joints.shape[0] != n_frames or joints.shape[1] < n_joints or joints.shape[2] != 2:
        raise ValueError(f"joint_m has shape {joints.shape}, expected ({n_frames}, {n_joints} or more, 2)")
    for number, load in enumerate(loads):
        if not isinstance(load, Load):
            raise ValueError(f"loads[{number}] is of type {type(load).__name__}, expected limbtorque.Load")
        if not 0 <= load.link < n_joints:
            raise ValueError(f"loads[{number}].link is {load.link}; the chain has links 0 to {n_joints - 1}")
        if len(load.force_n) != n_frames:
            raise ValueError(f"loads[{number}].force_n has {len(load.force_n)} frames, the motion has {n_frames}")
        for name in ("force_n", "point_m", "couple_nm"):
            finite(f"loads[{number}].{name}", getattr(load, name), missing=missing)
    return finite("joint_m", joints, missing=missing)


def _joints_of(
    chain: Chain, kinematics: Kinematics, loads: Sequence[Load], joint_m: ArrayLike | None, *, missing: bool
) -> ArrayLike | None:
    """Joint positions as given, or of chain and base where there are loads."""
    if joint_m is not None or not loads:
        return joint_m
    return joint_positions(chain, kinematics.angle_rad, base_m=kinematics.base_m, missing=missing)


def external_term(
    chain: Chain, kinematics: Kinematics, loads: Sequence[Load], joint_m: ArrayLike | None, *, missing: bool = False
) -> FloatArray:
    """Negative generalised forces of the loads in joint space, by virtual work.

    Parameters
    ----------
    chain, kinematics, loads, joint_m, missing
        As in `torque_terms`.

    Returns
    -------
    ndarray of shape (n_frames, n_joints)
        The external term of `torque_terms`, N m.
    """
    n_frames, n = kinematics.n_frames, chain.n_links
    joint_m = _joints_of(chain, kinematics, loads, joint_m, missing=missing)
    joints = checked_joints(n_frames, n, loads, joint_m, missing=missing)
    work = np.zeros((n, n_frames))
    for load in loads:
        for i in range(load.link):
            work[i] += plane_cross(joints[:, i + 1] - joints[:, i], load.force_n)
        work[load.link] += plane_cross(load.point_m - joints[:, load.link], load.force_n) + load.couple_nm
    add_distal(work)
    return _time_first(0.0 - work)


def _load_wrenches(
    n_frames: int, n: int, loads: Sequence[Load], joint_m: ArrayLike | None, *, missing: bool
) -> tuple[FloatArray, FloatArray]:
    """Force and moment about each joint of all loads distal of it."""
    joints = checked_joints(n_frames, n, loads, joint_m, missing=missing)
    force, moment = np.zeros((n_frames, n, 2)), np.zeros((n_frames, n))
    for load in loads:
        for i in range(load.link + 1):
            force[:, i] += load.force_n
            moment[:, i] += plane_cross(load.point_m - joints[:, i], load.force_n) + load.couple_nm
    return force, moment
