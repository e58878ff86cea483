r"""Energy of a chain and the powers that change it.

Every segment has kinetic energy ``m v^2 / 2 + I w^2 / 2`` in the laboratory and potential energy ``-m g . p``. It
changes by the power of the joint torques, of the force that drives the base, and of the external loads:

.. math::

    \dot E = \sum_i \tau_i \dot\alpha_i + F_0 \cdot v_0 + \sum_i Q_i \dot\alpha_i + \sum F_{ext} \cdot v_0 ,

with the generalised forces ``Q_i`` of the loads in joint space, minus the external term of `torque_terms`. The last two
sum to the power of the loads at their points of application. The reaction force ``F_0`` at the base carries the loads as
well, so that the base drives the chain's mass: ``(F_0 + F_ext) . v_0 = m (a_c - g) . v_0``.

The chain is rigid here: where moment arms are measured and lengths vary, the load's point moves as the rigid chain
would move it. A wrong load changes torque and power alike, and is not detected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import FloatArray, vectors
from limbtorque.chain.dynamics import TorqueTerms, of_motion
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.chain.model import ACCELERATED, Chain, Kinematics


@dataclass(frozen=True)
class SegmentEnergies:
    """Mechanical energy of every segment, J, in the laboratory.

    Attributes
    ----------
    translational, rotational, potential : ndarray of shape (n_frames, n_links)
        Kinetic energy of the centre of mass and of rotation about it; potential energy, 0 at the plane's origin.
    """

    translational: FloatArray
    rotational: FloatArray
    potential: FloatArray

    @property
    def segment(self) -> FloatArray:
        """Energy of each segment, shape (n_frames, n_links)."""
        return np.asarray(self.translational + self.rotational + self.potential)

    @property
    def total(self) -> FloatArray:
        """Energy of the chain, shape (n_frames,)."""
        return np.asarray(self.segment.sum(axis=1))


@dataclass(frozen=True)
class PowerBalance:
    """Powers into a chain against the rate of change of its energy, W.

    Attributes
    ----------
    joint : ndarray of shape (n_frames, n_joints)
        Net joint torque times angular velocity of the joint.
    base : ndarray of shape (n_frames,)
        Power at the moving base, of reaction force and loads together: ``m (a_c - g) . v_0``.
    external : ndarray of shape (n_frames,)
        Power of the external loads on the chain as it turns about its joints.
    energy_rate : ndarray of shape (n_frames,)
        Rate of change of the energy, segment by segment: ``m (a - g) . v + I w w'``.
    """

    joint: FloatArray
    base: FloatArray
    external: FloatArray
    energy_rate: FloatArray

    @property
    def total(self) -> FloatArray:
        """Sum of the powers, shape (n_frames,)."""
        return np.asarray(self.joint.sum(axis=1) + self.base + self.external)

    @property
    def residual(self) -> FloatArray:
        """Sum of the powers minus the rate of change of the energy, shape (n_frames,)."""
        return np.asarray(self.total - self.energy_rate)


def segment_energies(
    chain: Chain, kinematics: Kinematics, *, gravity_m_s2: ArrayLike, missing: bool = False
) -> SegmentEnergies:
    """Mechanical energy of every segment.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles, position of the base, and their first derivatives.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    SegmentEnergies
        J.
    """
    alpha, joint_velocity, base, base_velocity = kinematics.arrays(
        chain, "angle_rad", "velocity_rad_s", "base_m", "base_velocity_m_s", missing=missing
    )
    direction, omega = unit_vectors(np.cumsum(alpha, axis=1)), np.cumsum(joint_velocity, axis=1)
    place = _centres(chain, direction) + _complex(base)
    velocity = _centres(chain, 1j * omega * direction) + _complex(base_velocity)
    gravity = complex(*vectors("gravity_m_s2", gravity_m_s2))
    return SegmentEnergies(
        translational=chain.mass_kg * (velocity.real**2 + velocity.imag**2) / 2.0,
        rotational=chain.inertia_kgm2 * omega**2 / 2.0,
        potential=-chain.mass_kg * _dot(gravity, place),
    )


def power_balance(
    chain: Chain, kinematics: Kinematics, *, terms: TorqueTerms, gravity_m_s2: ArrayLike, missing: bool = False
) -> PowerBalance:
    """Powers of torques, base and loads, and the rate of change of the energy.

    The rate follows from the motion of the segments, the powers from the torques; they share no expression.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles, motion of the base, and their derivatives.
    terms : TorqueTerms
        Torques of this motion.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    PowerBalance
        W; positive where energy goes into the chain.
    """
    *angles, acceleration_0, velocity_0 = kinematics.arrays(chain, *ACCELERATED, "base_velocity_m_s", missing=missing)
    of_motion(terms.gravity, kinematics.angle_rad)
    theta, omega, spin = (np.cumsum(values, axis=1) for values in angles)
    base_velocity, base_acceleration = _complex(velocity_0), _complex(acceleration_0)
    direction = unit_vectors(theta)
    velocity = _centres(chain, 1j * omega * direction) + base_velocity
    acceleration = _centres(chain, (1j * spin - omega**2) * direction) + base_acceleration
    lifted = chain.mass_kg * (acceleration - complex(*vectors("gravity_m_s2", gravity_m_s2)))
    rates = _dot(lifted, velocity) + chain.inertia_kgm2 * omega * spin
    return PowerBalance(
        joint=terms.net * kinematics.velocity_rad_s,
        base=_dot(lifted.sum(axis=1), base_velocity[:, 0]),
        external=-(terms.external * kinematics.velocity_rad_s).sum(axis=1),
        energy_rate=rates.sum(axis=1),
    )


def _centres(chain: Chain, directions: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Sum of length times direction (or its derivative) from the base to each centre."""
    joints = np.cumsum(chain.length_m * directions, axis=1)
    return np.asarray(joints + (chain.com_m - chain.length_m) * directions)


def _complex(vectors_: FloatArray) -> NDArray[np.complex128]:
    """Vectors of the plane as complex numbers, shape (n_frames, 2) -> (n_frames, 1)."""
    return np.asarray(vectors_[:, :1] + 1j * vectors_[:, 1:])


def _dot(a: NDArray[np.complex128] | complex, b: NDArray[np.complex128]) -> FloatArray:
    """Scalar product of vectors of the plane given as complex numbers."""
    return np.asarray((np.conj(a) * b).real)
