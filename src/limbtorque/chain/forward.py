"""Forward dynamics: the accelerations of the joints from the torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, frames, vectors
from limbtorque.chain.model import Chain, Kinematics


def forward_dynamics(
    chain: Chain,
    kinematics: Kinematics,
    torque_nm: ArrayLike,
    *,
    gravity_m_s2: ArrayLike,
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
    load_nm : array_like of shape (n_frames, n_joints), optional
        Generalised forces of the external loads: ``J.T @ force`` of a force, the couple at every joint proximal of it.
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
    """Angular accelerations of the segments, for one state or many, without checks.

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
