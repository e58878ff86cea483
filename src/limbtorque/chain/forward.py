"""Forward dynamics, and the accelerations that each torque induces.

The inverse of the inertia matrix is applied to each term (Zajac and Gordon 1989): every torque accelerates every
joint, even those it does not cross. Where a point of the chain stands on the ground, every source also changes the ground's force,
so that the point stays (Kepple, Siegel and Stanhope 1997; Anderson and Pandy 2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, frames, vectors
from limbtorque.chain.dynamics import TorqueTerms, external_term, inertia_matrix, of_motion
from limbtorque.chain.kinematics import jacobian, jacobian_rate
from limbtorque.chain.model import Chain, Kinematics, Load


def forward_dynamics(
    chain: Chain,
    kinematics: Kinematics,
    torque_nm: ArrayLike,
    *,
    gravity_m_s2: ArrayLike,
    loads: Sequence[Load] = (),
    joint_m: ArrayLike | None = None,
    load_nm: ArrayLike | None = None,
) -> FloatArray:
    """Angular accelerations of the joints from torques and loads.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles, angular velocities, and the acceleration of the base.
    torque_nm : array_like of shape (n_frames, n_joints)
        Net joint torques, proximal on distal, counter-clockwise positive.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.
    loads, joint_m
        External loads, and the joint positions for their moment arms, as in `torque_terms`.
    load_nm : array_like of shape (n_frames, n_joints), optional
        Generalised forces of more loads: ``J.T @ force`` of a force, the couple at every joint proximal of it.
        This is minus the external term of `torque_terms`.

    Returns
    -------
    ndarray of shape (n_frames, n_joints)
        rad/s^2.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, or links without inertia, whose accelerations are not determined.

    Notes
    -----
    Solved in segment space, where the equations are shortest. No expression is shared with `torque_terms`.
    """
    n = chain.n_links
    alpha, velocity, base = kinematics.arrays(chain, "angle_rad", "velocity_rad_s", "base_acceleration_m_s2")
    theta, omega = np.cumsum(alpha, axis=1), np.cumsum(velocity, axis=1)
    applied = frames("torque_nm", torque_nm, n, like=theta)
    applied = applied - external_term(chain, kinematics, loads, joint_m)
    if load_nm is not None:
        applied = applied + frames("load_nm", load_nm, n, like=theta)
    gravity = vectors("gravity_m_s2", gravity_m_s2)
    lift = base - gravity
    check_inertia(chain)
    spin = segment_accelerations(chain.coupling, chain.first_moment, theta, omega, applied=applied, lift=lift)
    return np.diff(spin, axis=1, prepend=0.0)


def check_inertia(chain: Chain) -> None:
    """Check that every link has inertia about its joint.

    Raises
    ------
    ValueError
        A link has none, or a negligible one beside the others.
    """
    about_joint = chain.mass_kg * chain.com_m**2 + chain.inertia_kgm2
    bare = np.flatnonzero(about_joint <= 1e-12 * about_joint.max())
    if bare.size:
        raise ValueError(
            f"link {bare[0]} has no inertia about its joint (mass_kg {chain.mass_kg[bare[0]]:g}, com_m "
            f"{chain.com_m[bare[0]]:g}, inertia_kgm2 {chain.inertia_kgm2[bare[0]]:g}): its acceleration is not determined"
        )


def segment_accelerations(
    coupling: FloatArray,
    first_moment: FloatArray,
    theta: FloatArray,
    omega: FloatArray,
    *,
    applied: FloatArray,
    lift: FloatArray,
) -> FloatArray:
    """Angular accelerations of the segments for one or more states, without checks.

    Parameters
    ----------
    coupling, first_moment : ndarray
        Constants of the chain.
    theta, omega : ndarray of shape (..., n)
        Orientations and angular velocities of the segments.
    applied : ndarray of shape (..., n)
        Joint torques and generalised loads, in joint space.
    lift : ndarray of shape (..., 2)
        Acceleration of the base minus gravity.
    """
    direction = np.exp(1j * theta)
    between = coupling * direction[..., :, None] * np.conj(direction[..., None, :])
    right = applied - (between.imag @ (omega**2)[..., None])[..., 0]
    right[..., :-1] -= applied[..., 1:]
    right -= first_moment * (lift[..., 1, None] * direction.real - lift[..., 0, None] * direction.imag)
    return np.asarray(np.linalg.solve(between.real, right[..., None])[..., 0])


STRAIGHT = 1e-9  # ratio of mobilities of the contact below which a limb is straight


@dataclass(frozen=True)
class InducedAccelerations:
    """Accelerations by source.

    Attributes
    ----------
    sources : tuple of str
        ``"torque_0"``, ... for the net torque of each joint, then ``"gravity"``, ``"velocity"`` (centripetal and
        Coriolis terms), ``"base"`` and ``"external"``.
    joint_rad_s2 : ndarray of shape (n_frames, n_joints, n_sources)
        Part of each joint's angular acceleration due to a source, rad/s^2.
    endpoint_m_s2 : ndarray of shape (n_frames, 2, n_sources)
        Part of the endpoint's acceleration due to a source, m/s^2. That of the velocity includes the centripetal
        and Coriolis acceleration of the endpoint itself, that of the base the acceleration of the base.
    contact_force_n : ndarray of shape (n_frames, 2, n_sources)
        Part of the force at the contact due to a source, N; the parts add up to the measured force. 0 without a contact.
    """

    sources: tuple[str, ...]
    joint_rad_s2: FloatArray
    endpoint_m_s2: FloatArray
    contact_force_n: FloatArray


def induced_accelerations(
    chain: Chain,
    kinematics: Kinematics,
    *,
    terms: TorqueTerms,
    contact: Load | None = None,
    joint_m: ArrayLike | None = None,
    missing: bool = False,
) -> InducedAccelerations:
    """Accelerations of the joints and the endpoint by source.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles, angular velocities, and the acceleration of the base.
    terms : TorqueTerms
        Torques of this motion; `terms.external` includes the force of the contact.
    contact : Load, optional
        Ground reaction force on a link behind two joints at least, and its point, the centre of pressure; NaN in frames without
        contact.
    joint_m : array_like of shape (n_frames, n_joints, 2) or more joints, optional
        Joint positions, as for `torque_terms`; required with a contact.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    InducedAccelerations
        Parts that add up to the accelerations of the motion.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, a link without inertia, or a contact without joint positions or on the
        first link.

    Notes
    -----
    With c_s the generalised forces of a source, J the Jacobian of the link's point at the centre of pressure, and d_s what the
    source adds to its acceleration by itself (J' alpha' for the velocity, a_0 for the base), ::

        alpha_s'' = M^-1 (c_s + J^T f_s),    J alpha_s'' + d_s = 0,    f_s = -(J M^-1 J^T)^-1 (J M^-1 c_s + d_s)

    "external" is what remains: other loads, and the measured force less the sum of all f_s, which belongs to the acceleration that
    the point has in truth (it rolls, slips, or is not rigid). Where the foot stands still it vanishes. The base moves as
    measured, whatever the source: parts are those of a limb between a given base and the ground. Where all joints and the
    contact lie in one line, no torque moves the point along the line, and that part of the constraint is left out.
    """
    n = chain.n_links
    alpha, velocity, base = kinematics.arrays(
        chain, "angle_rad", "velocity_rad_s", "base_acceleration_m_s2", missing=missing
    )
    of_motion(terms.gravity, alpha)
    own = np.eye(n) * terms.net[:, None, :]
    moving = terms.centripetal.sum(axis=2) + terms.coriolis.sum(axis=2)
    others = np.stack([-terms.gravity, -moving, -terms.base, -terms.external], axis=2)
    causes = np.concatenate([own, others], axis=2)
    check_inertia(chain)
    inertia = inertia_matrix(chain, alpha, missing=missing)
    joint = np.linalg.solve(inertia, causes)
    force = np.zeros((len(alpha), 2, n + 4))
    if contact is not None:
        lever, own = _contact_point(chain, contact, joint_m, velocity=velocity, base=base)
        # where everything is known: forces under which the point keeps still, and the accelerations that they add
        finite = [
            np.isfinite(a).all(axis=tuple(range(1, a.ndim))) for a in (lever, own, contact.force_n, inertia, joint)
        ]
        held = np.logical_and.reduce(finite)
        mobility = np.linalg.solve(inertia[held], np.swapaxes(lever[held], 1, 2))
        acceleration = lever[held] @ joint[held] + own[held]
        reaction = -np.linalg.pinv(lever[held] @ mobility, rcond=STRAIGHT, hermitian=True) @ acceleration
        reaction[..., -1] = -reaction[..., :-1].sum(axis=2)  # the rest is external
        joint[held] = joint[held] + mobility @ reaction
        reaction[..., -1] += contact.force_n[held]
        force[held] = reaction
    endpoint = jacobian(chain, alpha, point=chain.endpoint, missing=missing) @ joint
    rate = jacobian_rate(chain, kinematics, point=chain.endpoint, missing=missing)
    endpoint[:, :, n + 1] += (rate @ velocity[:, :, None])[:, :, 0]
    endpoint[:, :, n + 2] += base
    sources = (*(f"torque_{j}" for j in range(n)), "gravity", "velocity", "base", "external")
    return InducedAccelerations(sources, np.asarray(joint), np.asarray(endpoint), force)


def _contact_point(
    chain: Chain, contact: Load, joint_m: ArrayLike | None, *, velocity: FloatArray, base: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Jacobian of the point of contact, and what each source adds to its acceleration.

    The second, of shape (n_frames, 2, n_sources), is for zero joint accelerations.
    """
    n, link = chain.n_links, contact.link
    if joint_m is None or not 0 < link < n:
        raise ValueError(f"a contact needs joint_m, and a link from 1 to {n - 1}, found {link}")
    arms = contact.point_m[:, None] - np.asarray(joint_m, dtype=float)[:, : link + 1]
    from_joints = np.zeros((len(velocity), 2, n))
    from_joints[:, 0, : link + 1], from_joints[:, 1, : link + 1] = -arms[..., 1], arms[..., 0]
    along = arms - np.concatenate(
        [arms[:, 1:], np.zeros_like(arms[:, :1])], axis=1
    )  # links, the last one to the contact
    omega = np.cumsum(velocity, axis=1)[:, : link + 1]
    own = np.zeros((len(velocity), 2, n + 4))
    own[:, :, n + 1] = -(omega[..., None] ** 2 * along).sum(axis=1)
    own[:, :, n + 2] = base
    return from_joints, own
