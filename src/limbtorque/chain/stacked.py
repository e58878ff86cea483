"""Torque terms of many chains in many motions at once.

The terms of `limbtorque.chain.dynamics` for samples of uncertain chains and motions: constants A and b
(`limbtorque.chain.regressor`) and motions with one more axis, all frames in one pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, vectors
from limbtorque.chain.dynamics import add_distal
from limbtorque.chain.model import pairs
from limbtorque.chain.regressor import number_of_terms


@dataclass(frozen=True)
class Motions:
    """Motions of chains with as many links, one for each sample.

    Attributes
    ----------
    angle_rad, velocity_rad_s, acceleration_rad_s2 : ndarray of shape (n_joints, n_samples, n_frames)
        Joint angles and their derivatives.
    base_acceleration_m_s2 : ndarray of shape (2, n_samples, n_frames)
        Acceleration of the base.
    """

    angle_rad: FloatArray
    velocity_rad_s: FloatArray
    acceleration_rad_s2: FloatArray
    base_acceleration_m_s2: FloatArray


def stacked_terms(
    coupling: FloatArray,
    first_moment: FloatArray,
    motions: Motions,
    external_nm: FloatArray,
    *,
    gravity_m_s2: ArrayLike,
) -> FloatArray:
    """Net torques and terms of every sample.

    Parameters
    ----------
    coupling, first_moment : ndarray of shape (n_samples, n_joints, n_joints) and (n_samples, n_joints)
        A, kg m^2, and b, kg m, of each chain, from `regressor.coupling_of`.
    motions : Motions
        Its motion; NaN passes.
    external_nm : ndarray of shape (n_joints, n_samples, n_frames)
        External torques, N m.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.

    Returns
    -------
    ndarray of shape (n_joints, n_terms, n_samples, n_frames)
        Rows as of `regressor.term_rows`, N m; the terms add up to the net torque.
    """
    theta, omega, gravity = (
        np.cumsum(motions.angle_rad, axis=0),
        motions.velocity_rad_s,
        vectors("gravity_m_s2", gravity_m_s2),
    )
    n, push = len(theta), motions.base_acceleration_m_s2
    cosine, sine = np.cos(theta), np.sin(theta)
    constants, moment = np.moveaxis(coupling, 0, -1)[..., None], first_moment.T[..., None]
    rows = np.zeros((n, number_of_terms(n), *theta.shape[1:]))
    between, across = _couplings(constants, cosine, sine)
    np.multiply(between, motions.acceleration_rad_s2, out=rows[:, 1 : 1 + n])
    np.multiply(across, omega**2, out=rows[:, 1 + n : 1 + 2 * n])
    for k, (p, q) in enumerate(pairs(n)):
        np.multiply(across[:, q], 2.0 * omega[p] * omega[q], out=rows[:, 1 + 2 * n + k])
    np.multiply(moment, gravity[0] * sine - gravity[1] * cosine, out=rows[:, -3])
    np.multiply(moment, push[1] * cosine - push[0] * sine, out=rows[:, -2])
    add_distal(rows[:, -3])
    add_distal(rows[:, -2])
    rows[:, -1] = external_nm
    np.sum(rows[:, 1:], axis=1, out=rows[:, 0])
    return rows


def _couplings(constants: FloatArray, cosine: FloatArray, sine: FloatArray) -> tuple[FloatArray, FloatArray]:
    """M and W in joint space, shape (n_joints, n_joints, n_samples, n_frames).

    In W_iq the pairs of links that are both beyond max(i, q) cancel, and are left out.
    """
    n = len(cosine)
    between = np.empty((n, n, *cosine.shape[1:]))
    across = np.zeros_like(between)
    for m in range(n):
        between[m, m] = constants[m, m]
        for k in range(m + 1, n):
            between[m, k] = constants[m, k] * (cosine[m] * cosine[k] + sine[m] * sine[k])
            across[m, k] = constants[m, k] * (sine[m] * cosine[k] - cosine[m] * sine[k])
            between[k, m], across[k, m] = between[m, k], -across[m, k]
    for values in (between, between.swapaxes(0, 1), across.swapaxes(0, 1)):
        add_distal(values)
    factor = np.zeros_like(across)
    for q in range(1, n):
        for i in reversed(range(q)):
            np.add(across[i, q], factor[i + 1, q] if i + 1 < q else 0.0, out=factor[i, q])
            np.negative(factor[i, q], out=factor[q, i])
    return between, factor
