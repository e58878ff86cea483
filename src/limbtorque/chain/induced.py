"""Induced accelerations of torques, gravity, velocity, base and loads.

The inverse of the inertia matrix applied to each term (Zajac and Gordon 1989): every torque accelerates every joint,
those it does not cross too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.checks import of_motion
from limbtorque.chain.dynamics import TorqueTerms, inertia_matrix
from limbtorque.chain.forward import check_inertia
from limbtorque.chain.kinematics import jacobian, jacobian_rate
from limbtorque.chain.model import Chain, Kinematics


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
    """

    sources: tuple[str, ...]
    joint_rad_s2: FloatArray
    endpoint_m_s2: FloatArray


def induced_accelerations(
    chain: Chain, kinematics: Kinematics, *, terms: TorqueTerms, missing: bool = False
) -> InducedAccelerations:
    """Accelerations of the joints and the endpoint by source.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles, angular velocities, and the acceleration of the base.
    terms : TorqueTerms
        Torques of this motion.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    InducedAccelerations
        Parts that add up to the accelerations of the motion.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, or a link without inertia.
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
    joint = np.linalg.solve(inertia_matrix(chain, alpha, missing=missing), causes)
    endpoint = jacobian(chain, alpha, point=chain.endpoint, missing=missing) @ joint
    rate = jacobian_rate(chain, kinematics, point=chain.endpoint, missing=missing)
    endpoint[:, :, n + 1] += (rate @ velocity[:, :, None])[:, :, 0]
    endpoint[:, :, n + 2] += base
    sources = (*(f"torque_{j}" for j in range(n)), "gravity", "velocity", "base", "external")
    return InducedAccelerations(sources, np.asarray(joint), np.asarray(endpoint))
