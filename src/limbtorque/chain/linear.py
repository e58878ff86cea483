r"""Torque terms linear in inertial parameters and in small changes of motion.

With ``h_k = m_k d_k`` and ``J_k = I_k + m_k d_k^2`` (mass moment, and inertia about the proximal joint)

.. math::

    b_i = h_i + L_i \sum_{k > i} m_k, \qquad A_{ii} = J_i + L_i^2 \sum_{k > i} m_k, \qquad
    A_{ij} = L_i b_j \quad (i < j)

and every term of `limbtorque.chain.dynamics` is linear in A and b, so in ``(m, h, J)``. Along changes of angles, velocities,
accelerations and base acceleration the derivative of each term is closed as well. Time is the last axis here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import ComplexArray, FloatArray, vectors
from limbtorque.chain.dynamics import TorqueTerms, add_distal, velocity_factor
from limbtorque.chain.model import Chain, Kinematics, pairs


def inertial_parameters(chain: Chain) -> FloatArray:
    """Masses, mass moments and inertias about the proximal joints, shape (3 n_links,).

    Parameters
    ----------
    chain : Chain
        The chain.

    Returns
    -------
    ndarray of shape (3 n_links,)
        kg of all links, then kg m, then kg m^2.
    """
    moment = chain.mass_kg * chain.com_m
    return np.concatenate([chain.mass_kg, moment, chain.inertia_kgm2 + moment * chain.com_m])


def coupling_of(parameters: ArrayLike, length_m: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Constants A and b of chains from their inertial parameters.

    Parameters
    ----------
    parameters : array_like of shape (..., 3 n_links)
        As from `inertial_parameters`; any numbers.
    length_m : array_like of shape (..., n_links)
        Lengths, m.

    Returns
    -------
    coupling, first_moment : ndarray of shape (..., n_links, n_links) and (..., n_links)
        As `Chain.coupling`, kg m^2, and `Chain.first_moment`, kg m.
    """
    length = np.asarray(length_m, dtype=float)
    mass, moment, inertia = np.split(np.asarray(parameters, dtype=float), 3, axis=-1)
    beyond = np.cumsum(mass[..., ::-1], axis=-1)[..., ::-1] - mass
    first_moment = moment + length * beyond
    upper = np.triu(length[..., :, None] * first_moment[..., None, :], 1)
    own = (inertia + length**2 * beyond)[..., None] * np.eye(length.shape[-1])
    return upper + np.swapaxes(upper, -1, -2) + own, first_moment


def number_of_terms(n_joints: int) -> int:
    """Number of rows of `term_rows` for each joint.

    >>> number_of_terms(3)
    13
    """
    return 1 + 2 * n_joints + len(pairs(n_joints)) + 3


def term_rows(terms: TorqueTerms) -> FloatArray:
    """Net torques and terms as one array, time last.

    Parameters
    ----------
    terms : TorqueTerms
        The terms.

    Returns
    -------
    ndarray of shape (n_joints, n_terms, n_frames)
        N m: the net torque, then the inertial, centripetal and Coriolis terms, gravity, base and external, in the order
        of the columns of the torque table.
    """
    several = [np.moveaxis(each, 0, -1) for each in (terms.inertial, terms.centripetal, terms.coriolis)]
    single = [each.T[:, None] for each in (terms.gravity, terms.base, terms.external)]
    return np.concatenate([terms.net.T[:, None], *several, *single], axis=1)


def with_kinds(rows: FloatArray) -> FloatArray:
    """Rows of `term_rows` and, behind them, sums of the terms of a kind.

    Parameters
    ----------
    rows : ndarray of shape (n_joints, n_terms, ...)
        Rows as of `term_rows`, or changes of them.

    Returns
    -------
    ndarray of shape (n_joints, n_terms + 3, ...)
        With the sums of the inertial, centripetal and Coriolis terms.
    """
    n = len(rows)
    kinds = slice(1, 1 + n), slice(1 + n, 1 + 2 * n), slice(1 + 2 * n, -3)
    return np.concatenate([rows, *(rows[:, kind].sum(axis=1, keepdims=True) for kind in kinds)], axis=1)


def shape_with_kinds(n_joints: int) -> tuple[int, int]:
    """Number of joints and of rows of `with_kinds`.

    >>> shape_with_kinds(3)
    (3, 16)
    """
    return n_joints, number_of_terms(n_joints) + 3


def terms_of_constants(
    coupling: FloatArray, first_moment: FloatArray, kinematics: Kinematics, *, gravity_m_s2: ArrayLike
) -> FloatArray:
    """Terms of one motion for many sets of the constants A and b.

    Parameters
    ----------
    coupling, first_moment : ndarray of shape (n_sets, n_links, n_links) and (n_sets, n_links)
        Symmetric matrices A, kg m^2, and vectors b, kg m, of any chains with as many links.
    kinematics : Kinematics
        The motion; NaN passes.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.

    Returns
    -------
    ndarray of shape (n_joints, n_terms, n_sets, n_frames)
        Rows as of `term_rows`; external torques are 0.
    """
    omega, spin = kinematics.velocity_rad_s.T, kinematics.acceleration_rad_s2.T
    n, n_frames = omega.shape
    theta = np.cumsum(kinematics.angle_rad.T, axis=0)
    cosine, sine = np.cos(theta), np.sin(theta)
    push = _base_acceleration(kinematics)
    gravity = vectors("gravity_m_s2", gravity_m_s2)
    between, across, along = _sums_of(coupling, first_moment)
    matrix = _product(between, (cosine[:, None] * cosine + sine[:, None] * sine).reshape(n * n, -1))
    factor = _product(across, (sine[:, None] * cosine - cosine[:, None] * sine).reshape(n * n, -1))
    rows = np.zeros((n, number_of_terms(n), len(coupling), n_frames))
    np.multiply(matrix, spin[:, None], out=rows[:, 1 : 1 + n])
    np.multiply(factor, omega[:, None] ** 2, out=rows[:, 1 + n : 1 + 2 * n])
    for k, (p, q) in enumerate(pairs(n)):
        np.multiply(factor[:, q], 2.0 * omega[p] * omega[q], out=rows[:, 1 + 2 * n + k])
    rows[:, -3] = _product(along, gravity[0] * sine - gravity[1] * cosine)
    rows[:, -2] = _product(along, push[1] * cosine - push[0] * sine)
    return _with_net(rows)


def term_regressor(chain: Chain, kinematics: Kinematics, *, gravity_m_s2: ArrayLike) -> FloatArray:
    """Change of every term with each inertial parameter.

    Parameters
    ----------
    chain : Chain
        For its lengths.
    kinematics : Kinematics
        The motion.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.

    Returns
    -------
    ndarray of shape (n_joints, n_terms, 3 n_links, n_frames)
        Rows as of `term_rows`, per kg, kg m and kg m^2. The sum over the parameters of `inertial_parameters` gives the
        terms without external loads, exactly.

    Examples
    --------
    >>> forearm = Chain(length_m=[0.26], mass_kg=[1.5], com_m=[0.18], inertia_kgm2=[0.02])
    >>> rows = term_regressor(forearm, Kinematics([[0.0]], [[0.0]], [[0.0]]), gravity_m_s2=(0.0, -9.81))
    >>> round(float(inertial_parameters(forearm) @ rows[0, 0, :, 0]), 4)
    2.6487
    """
    unit = np.eye(3 * chain.n_links)
    constants = coupling_of(unit, np.broadcast_to(chain.length_m, (len(unit), chain.n_links)))
    return terms_of_constants(*constants, kinematics, gravity_m_s2=gravity_m_s2)


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
        """Changes in selected frames."""
        return MotionChange(*(each[..., some] for each in vars(self).values()))


def change_of_terms(
    coupling: FloatArray,
    first_moment: FloatArray,
    kinematics: Kinematics,
    change: MotionChange,
    *,
    gravity_m_s2: ArrayLike,
) -> FloatArray:
    """Derivative of every torque term along changes of the motion.

    Parameters
    ----------
    coupling, first_moment : ndarray of shape (n_sets, n_links, n_links) and (n_sets, n_links)
        Constants A and b as in `terms_of_constants`: one set for every direction, or one for all.
    kinematics : Kinematics
        The motion; NaN passes.
    change : MotionChange
        Changes of the motion.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.

    Returns
    -------
    ndarray of shape (n_joints, n_terms, n_directions, n_frames)
        Rows as of `term_rows`, N m; external torques are 0.

    Notes
    -----
    With M the inertia matrix, W the antisymmetric matrix of the velocity terms and G the first moments in joint space, all
    functions of the angles: ``d(M_ij a_j) = dM_ij a_j + M_ij da_j`` and so on.
    """
    omega, spin = (each.T[:, None] for each in (kinematics.velocity_rad_s, kinematics.acceleration_rad_s2))
    theta, turn = (np.cumsum(each, axis=0) for each in (kinematics.angle_rad.T[:, None], change.angle_rad))
    n, constants, moment = len(theta), np.moveaxis(coupling, 0, -1)[..., None], first_moment.T[..., None]
    cosine, sine = np.cos(theta), np.sin(theta)
    between = constants * (cosine[:, None] * cosine + sine[:, None] * sine)
    across = constants * (sine[:, None] * cosine - cosine[:, None] * sine)
    moved_between, moved_across = np.zeros((2, n, n, *turn.shape[1:]))
    for m, k in pairs(n):
        apart = turn[m] - turn[k]
        moved_between[m, k] = moved_between[k, m] = -across[m, k] * apart
        moved_across[m, k] = between[m, k] * apart
        moved_across[k, m] = -moved_across[m, k]
    at = _in_joint_space(between, across, np.stack([-moment * sine, moment * cosine]))
    turned = _in_joint_space(
        moved_between, moved_across, np.stack([(-moment * cosine) * turn, (-moment * sine) * turn])
    )
    gravity, push = vectors("gravity_m_s2", gravity_m_s2), _base_acceleration(kinematics)[:, None]
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
    return _with_net(rows)


def change_of_load_torque(
    joint_m: FloatArray,
    force_n: FloatArray,
    *,
    joint_change_m: ComplexArray,
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
    joint_change_m : complex ndarray of shape (n_joints, n_directions, n_frames)
        Changes of the joint positions, x + iy, m.
    force_change_n : ndarray of shape (2, n_directions, n_frames)
        Changes of the force, N.
    moment_change_nm : ndarray of shape (n_directions, n_frames) or (n_joints, n_directions, n_frames)
        Changes of the load's moment about the plane's origin, N m, the same for all joints or for each.

    Returns
    -------
    ndarray of shape (n_joints, n_directions, n_frames)
        N m.

    Notes
    -----
    The load turns joint i by its moment about the origin less ``p_i x F``; the external torque is the negative of that.
    """
    x, y = joint_m[:, : len(joint_change_m)].T[:, :, None]
    (force_x, force_y), (more_x, more_y) = force_n.T, force_change_n
    moved = joint_change_m.real * force_y - joint_change_m.imag * force_x
    return np.asarray(moved + x * more_y - y * more_x - moment_change_nm)


class _InJointSpace(NamedTuple):
    """M, W and G in joint space, or their changes, with directions and frames last."""

    matrix: FloatArray
    factor: FloatArray
    moment: FloatArray


def _in_joint_space(between: FloatArray, across: FloatArray, moment: FloatArray) -> _InJointSpace:
    """From segment space to joint space, in place."""
    for values in (between, between.swapaxes(0, 1), moment.swapaxes(0, 1)):
        add_distal(values)
    return _InJointSpace(between, velocity_factor(across), moment)


def _with_net(rows: FloatArray) -> FloatArray:
    """Set the net torque, in place, to the sum of the other rows."""
    np.sum(rows[:, 1:], axis=1, out=rows[:, 0])
    return rows


def _base_acceleration(kinematics: Kinematics) -> FloatArray:
    """Acceleration of the base, shape (2, n_frames)."""
    return np.broadcast_to(kinematics.base_acceleration_m_s2, (kinematics.n_frames, 2)).T


def _sums_of(coupling: FloatArray, first_moment: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights of cosines, sines and directions in M, W and the first moments.

    Shapes (n, n, n_sets, n n), (n, n, n_sets, n n) and (n, n_sets, n). In W_iq the pairs of links that are both beyond
    max(i, q) cancel, and have no weight.
    """
    n = coupling.shape[-1]
    beyond = np.tri(n).T  # [i, m]: link m is joint i's own or distal of it
    pair = beyond[:, None, :, None] * beyond[None, :, None, :]
    last = np.maximum(np.arange(n)[:, None], np.arange(n))
    both = beyond[last][..., :, None] * beyond[last][..., None, :]
    between, across = (np.einsum("ijml,sml->ijsml", part, coupling) for part in (pair, pair - both))
    along = np.einsum("im,sm->ism", beyond, first_moment)
    shape = (n, n, len(coupling), n * n)
    return between.reshape(shape), across.reshape(shape), along


def _product(weights: FloatArray, signals: FloatArray) -> FloatArray:
    """Weighted sums of signals, shape (..., k) and (k, n_frames) -> (..., n_frames)."""
    return np.asarray((weights.reshape(-1, len(signals)) @ signals).reshape(*weights.shape[:-1], -1))
