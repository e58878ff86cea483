"""First-order change of every torque term with changes of the motion.

Of a chain with constants A and b (`limbtorque.chain.regressor`), the derivative of each term of
`limbtorque.chain.dynamics` along given changes of angles, velocities, accelerations and base acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, vectors
from limbtorque.chain.dynamics import add_distal
from limbtorque.chain.model import Chain, Kinematics, pairs
from limbtorque.chain.regressor import base_acceleration, number_of_terms, with_net


@dataclass(frozen=True)
class MotionChange:
    """Small changes of a motion, one for each direction.

    Attributes
    ----------
    angle_rad, velocity_rad_s, acceleration_rad_s2 : ndarray of shape (n_joints, n_directions, n_frames)
        Of the joint angles and their derivatives.
    base_acceleration_m_s2 : ndarray of shape (2, n_directions, n_frames)
        Of the acceleration of the base.
    """

    angle_rad: FloatArray
    velocity_rad_s: FloatArray
    acceleration_rad_s2: FloatArray
    base_acceleration_m_s2: FloatArray

    def part(self, some: slice) -> MotionChange:
        """Changes of some frames."""
        return MotionChange(*(each[..., some] for each in vars(self).values()))


def change_of_terms(
    chain: Chain, kinematics: Kinematics, change: MotionChange, *, gravity_m_s2: ArrayLike
) -> FloatArray:
    """Derivative of every torque term along changes of the motion.

    Parameters
    ----------
    chain : Chain
        The chain, which does not change.
    kinematics : Kinematics
        The motion; NaN passes.
    change : MotionChange
        Changes of the motion.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.

    Returns
    -------
    ndarray of shape (n_joints, n_terms, n_directions, n_frames)
        Rows as of `regressor.term_rows`, N m; external torques are 0.

    Notes
    -----
    With M the inertia matrix, W the antisymmetric matrix of the velocity terms and G the first moments in joint space, all
    functions of the angles: ``d(M_ij a_j) = dM_ij a_j + M_ij da_j`` and so on.
    """
    omega, spin = (each.T[:, None] for each in (kinematics.velocity_rad_s, kinematics.acceleration_rad_s2))
    n = chain.n_links
    at, turned = _AtAngles.of(chain, kinematics.angle_rad), _AtAngles.changed(chain, kinematics.angle_rad, change)
    gravity, push = vectors("gravity_m_s2", gravity_m_s2), base_acceleration(kinematics)[:, None]
    rows = np.zeros((n, number_of_terms(n), *change.angle_rad.shape[1:]))
    for i in range(n):
        for j in range(n):
            inertial, centripetal = rows[i, 1 + j], rows[i, 1 + n + j]
            np.multiply(turned.matrix[i, j], spin[j], out=inertial)
            inertial += at.matrix[i, j] * change.acceleration_rad_s2[j]
            if i != j:
                np.multiply(turned.factor[i, j], omega[j] ** 2, out=centripetal)
                centripetal += (2.0 * at.factor[i, j] * omega[j]) * change.velocity_rad_s[j]
        for k, (p, q) in enumerate(pairs(n)):
            if i != q:
                coriolis = rows[i, 1 + 2 * n + k]
                np.multiply(turned.factor[i, q], 2.0 * omega[p] * omega[q], out=coriolis)
                coriolis += (2.0 * at.factor[i, q] * omega[q]) * change.velocity_rad_s[p]
                coriolis += (2.0 * at.factor[i, q] * omega[p]) * change.velocity_rad_s[q]
    rows[:, -3] = -gravity[0] * turned.moment[0] - gravity[1] * turned.moment[1]
    for axis in range(2):
        rows[:, -2] += push[axis] * turned.moment[axis] + at.moment[axis] * change.base_acceleration_m_s2[axis]
    return with_net(rows)


@dataclass(frozen=True)
class _AtAngles:
    """M, W and G in joint space, or their changes, with directions and frames last."""

    matrix: FloatArray
    factor: FloatArray
    moment: FloatArray

    @classmethod
    def of(cls, chain: Chain, angle_rad: FloatArray) -> _AtAngles:
        """Values at the angles; one direction."""
        theta = np.cumsum(angle_rad.T, axis=0)[:, None]
        cosine, sine = np.cos(theta), np.sin(theta)
        coupling, moment = chain.coupling[..., None, None], chain.first_moment[:, None, None]
        between = coupling * (cosine[:, None] * cosine + sine[:, None] * sine)
        across = coupling * (sine[:, None] * cosine - cosine[:, None] * sine)
        return cls._summed(between, across, np.stack([-moment * sine, moment * cosine]))

    @classmethod
    def changed(cls, chain: Chain, angle_rad: FloatArray, change: MotionChange) -> _AtAngles:
        """Changes with the orientations of the links."""
        theta, turn = np.cumsum(angle_rad.T, axis=0)[:, None], change.angle_rad.copy()
        for k in range(1, chain.n_links):
            turn[k] += turn[k - 1]
        cosine, sine = np.cos(theta), np.sin(theta)
        moment, n = chain.first_moment[:, None, None], chain.n_links
        between, across = np.zeros((2, n, n, *turn.shape[1:]))
        for m, k in pairs(n):
            apart = turn[m] - turn[k]
            between[m, k] = (-chain.coupling[m, k] * (sine[m] * cosine[k] - cosine[m] * sine[k])) * apart
            across[m, k] = (chain.coupling[m, k] * (cosine[m] * cosine[k] + sine[m] * sine[k])) * apart
            between[k, m], across[k, m] = between[m, k], -across[m, k]
        return cls._summed(between, across, np.stack([(-moment * cosine) * turn, (-moment * sine) * turn]))

    @classmethod
    def _summed(cls, between: FloatArray, across: FloatArray, moment: FloatArray) -> _AtAngles:
        """From segment space to joint space, in place; W without the links that cancel."""
        n = len(between)
        for values in (across.swapaxes(0, 1), between, between.swapaxes(0, 1), moment.swapaxes(0, 1)):
            add_distal(values)
        factor = np.zeros_like(across)
        for q in range(1, n):
            for i in reversed(range(q)):
                np.add(across[i, q], factor[i + 1, q] if i + 1 < q else 0.0, out=factor[i, q])
                np.negative(factor[i, q], out=factor[q, i])
        return cls(between, factor, moment)


def change_of_load_torque(
    joint_m: FloatArray,
    force_n: FloatArray,
    *,
    joint_change_m: FloatArray,
    force_change_n: FloatArray,
    moment_change_nm: FloatArray,
) -> FloatArray:
    """Derivative of the external torques along changes of joints and load.

    Parameters
    ----------
    joint_m : ndarray of shape (n_frames, n_joints or more, 2)
        Joint positions, m.
    force_n : ndarray of shape (n_frames, 2)
        Force on the last link, N.
    joint_change_m : ndarray of shape (2, n_joints, n_directions, n_frames)
        Changes of the joint positions, m.
    force_change_n : ndarray of shape (2, n_directions, n_frames)
        Changes of the force, N.
    moment_change_nm : ndarray of shape (n_directions, n_frames)
        Changes of the load's moment about the plane's origin, N m.

    Returns
    -------
    ndarray of shape (n_joints, n_directions, n_frames)
        N m.

    Notes
    -----
    The load turns joint i by its moment about the origin less ``p_i x F``; the external torque is the negative of that.
    """
    x, y = np.moveaxis(joint_m[:, : joint_change_m.shape[1]], 0, -1).transpose(1, 0, 2)[:, :, None]
    (force_x, force_y), (more_x, more_y) = force_n.T, force_change_n
    moved = joint_change_m[0] * force_y - joint_change_m[1] * force_x
    return np.asarray(moved + x * more_y - y * more_x - moment_change_nm)
