r"""Net joint moments of a chain of slender links in space, from its joint centres.

Every particle of a slender link lies on the line between its two joints, at a constant fraction s of the way, and so
accelerates by :math:`(1 - s) \ddot x_k + s \ddot x_{k+1}`. With :math:`d_k = x_{k+1} - x_k`, the fraction :math:`s_k`
of its centre of mass, :math:`F_k = m_k (\ddot x_k + s_k \ddot d_k - g)` and the load P at p with couple T

.. math::

    M_i = \sum_{k \ge i} d_k \times \Big( s_k F_k + \sum_{j > k} F_j + \frac{I_k}{L_k^2} \ddot d_k \Big)
          - (p - x_i) \times P - T
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, distal_sums, finite, row
from limbtorque.chain.model import Chain


def net_moments(
    chain: Chain,
    joint_m: ArrayLike,
    acceleration_m_s2: ArrayLike,
    *,
    gravity_m_s2: ArrayLike,
    force_n: ArrayLike = (0.0, 0.0, 0.0),
    point_m: ArrayLike = (0.0, 0.0, 0.0),
    couple_nm: ArrayLike = (0.0, 0.0, 0.0),
) -> FloatArray:
    """Net moments at the joints of a chain of slender links, as vectors in space.

    Parameters
    ----------
    chain : Chain
        Lengths and inertial constants of the links in space, with their moments of inertia about a transverse axis.
    joint_m, acceleration_m_s2 : array_like of shape (n_frames, n_links + 1, 3)
        Joint centres and endpoint in the laboratory, proximal first, m, and their accelerations, m/s^2.
    gravity_m_s2 : array_like of shape (3,)
        Acceleration of gravity.
    force_n, point_m, couple_nm : array_like of shape (n_frames, 3) or (3,), optional
        Force on the last link, N, its point of application, m, and the couple besides (free moment), N m.

    Returns
    -------
    ndarray of shape (n_frames, n_links, 3)
        Moment of the proximal link on the distal one at each joint, in laboratory axes, N m; NaN in frames with a NaN.

    Raises
    ------
    ValueError
        Mismatched shapes, or infinite numbers.

    Notes
    -----
    Newton and Euler's equations of all links beyond each joint. Left out is the inertia of a link about its long axis, which
    joint centres do not show: 0.2 of the transverse one in a thigh, 0.17 in a shank, 0.26 in a foot (men, de Leva 1996), which a
    spin of 50 rad/s^2 makes 2, 0.3 and 0.05 N m of a body of 70 kg. Lengths may change: about a direction n the moment is
    that of a planar chain on the joint centres projected along n.

    Examples
    --------
    A leg of 10 kg held out to the side, its centre of mass 0.4 m from the hip, is carried by the abductors:

    >>> leg = Chain(length_m=[0.9], mass_kg=[10.0], com_m=[0.4], inertia_kgm2=[0.9])
    >>> at_rest = np.zeros((1, 2, 3))
    >>> net_moments(leg, [[[0, 0, 1], [0, -0.9, 1]]], at_rest, gravity_m_s2=(0, 0, -10)).round(9).tolist()
    [[[-40.0, 0.0, 0.0]]]
    """
    joints, accelerations = (
        _centres(name, value, chain) for name, value in (("joint_m", joint_m), ("acceleration_m_s2", acceleration_m_s2))
    )
    if joints.shape != accelerations.shape:
        raise ValueError(f"acceleration_m_s2 has {accelerations.shape[2]} frames, joint_m has {joints.shape[2]}")
    n_frames = joints.shape[2]
    gravity = row("gravity_m_s2", gravity_m_s2, 3)[:, None, None]
    force, point, couple = (
        np.broadcast_to(finite(name, np.asarray(value, dtype=float), missing=True), (n_frames, 3)).T[:, None]
        for name, value in (("force_n", force_n), ("point_m", point_m), ("couple_nm", couple_nm))
    )
    along, turning = np.diff(joints, axis=1), np.diff(accelerations, axis=1)
    mass, share = chain.mass_kg[:, None], (chain.com_m / chain.length_m)[:, None]
    forces = mass * (accelerations[:, :-1] + share * turning - gravity)
    beyond = np.zeros_like(forces)
    beyond[:, :-1] = distal_sums(forces)[:, 1:]
    spread = (chain.inertia_kgm2 / chain.length_m**2)[:, None]
    moments = distal_sums(_cross(along, share * forces + beyond + spread * turning))
    moments -= _cross(point - joints[:, :-1], force) + couple
    return np.moveaxis(moments, (0, 1, 2), (2, 1, 0))


def _centres(name: str, value: ArrayLike, chain: Chain) -> FloatArray:
    """Checked points of the joints and the end, shape (3, n_links + 1, n_frames)."""
    array = np.asarray(value, dtype=float)
    if array.ndim != 3 or array.shape[1:] != (chain.n_links + 1, 3):
        raise ValueError(f"{name} has shape {array.shape}, expected (n_frames, {chain.n_links + 1}, 3)")
    return np.array(np.moveaxis(finite(name, array, missing=True), (0, 1, 2), (2, 1, 0)), order="C")


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross product of vectors along the first axis."""
    (ax, ay, az), (bx, by, bz) = a, b
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
