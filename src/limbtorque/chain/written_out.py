r"""Equations of one, two and three links, written out for one state.

Plain numbers: array operations on three of them take longer to start than to do. With the constants ``A_ij`` and ``b_i`` of
`limbtorque.chain.dynamics`, joint angles q, and for three links

.. math::

    h_{12} = A_{12} \cos q_2, \quad h_{23} = A_{23} \cos q_3, \quad h_{13} = A_{13} \cos(q_2 + q_3)

.. math::

    M_{33} = A_{33}, \quad M_{23} = M_{33} + h_{23}, \quad M_{13} = M_{23} + h_{13}

.. math::

    M_{22} = A_{22} + M_{23} + h_{23}, \quad M_{12} = M_{22} + h_{12} + h_{13}, \quad M_{11} = A_{11} + M_{12} + h_{12} + h_{13}

With ``d_ij``, the same products with sines, joint i has the torque ``W_ij q_j'^2`` and ``2 W_iq q_p' q_q'`` (p < q), where
``W_12 = -(d_12 + d_13)``, ``W_13 = -(d_13 + d_23)``, ``W_23 = -d_23`` and ``W_ji = -W_ij`` (Zatsiorsky 2002, *Kinetics of
Human Motion*, and Cesari et al. 2001, corrected as `docs/theory.md` lists). Shorter chains leave out the last links.

Every function takes its constants as the upper triangle of A by rows, then b.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from typing import TypeAlias

Numbers: TypeAlias = Sequence[float]
Vector: TypeAlias = tuple[float, float]


def terms_of_one_link(
    constants: Numbers, gravity: Vector, state: tuple[Numbers, Numbers, Numbers], base: Vector, external: Numbers
) -> list[float]:
    """Torque terms and net torque of one link; see `terms_of_three_links`."""
    a, b = constants
    (angle,), _, (acceleration,) = state
    x, y = -b * sin(angle), b * cos(angle)
    inertial = a * acceleration
    weight = -gravity[0] * x - gravity[1] * y
    push = base[0] * x + base[1] * y
    return [inertial, 0.0, weight, push, external[0], inertial + weight + push + external[0]]


def terms_of_two_links(
    constants: Numbers, gravity: Vector, state: tuple[Numbers, Numbers, Numbers], base: Vector, external: Numbers
) -> list[float]:
    """Torque terms and net torques of two links; see `terms_of_three_links`."""
    a11, a12, a22, b1, b2 = constants
    (q1, q2), (v1, v2), (s1, s2) = state
    h, d, angle = a12 * cos(q2), a12 * sin(q2), q1 + q2
    m12 = a22 + h
    i11, i12, i21, i22 = (a11 + m12 + h) * s1, m12 * s2, m12 * s1, a22 * s2
    c12, c21, product = -d * v2 * v2, d * v1 * v1, -2.0 * d * v1 * v2
    x2, y2 = -b2 * sin(angle), b2 * cos(angle)
    x1, y1 = x2 - b1 * sin(q1), y2 + b1 * cos(q1)
    (gx, gy), (px, py), (e1, e2) = gravity, base, external
    g1, g2 = -gx * x1 - gy * y1, -gx * x2 - gy * y2
    p1, p2 = px * x1 + py * y1, px * x2 + py * y2
    net1 = i11 + i12 + c12 + product + g1 + p1 + e1
    net2 = i21 + i22 + c21 + g2 + p2 + e2
    return [i11, i12, i21, i22, 0.0, c12, c21, 0.0, product, 0.0, g1, g2, p1, p2, e1, e2, net1, net2]


def terms_of_three_links(
    constants: Numbers, gravity: Vector, state: tuple[Numbers, Numbers, Numbers], base: Vector, external: Numbers
) -> list[float]:
    """Torque terms and net torques of three links.

    Parameters
    ----------
    constants : sequence of float
        Upper triangle of A by rows, kg m^2, and b, kg m.
    gravity, base : tuple of float
        Acceleration of gravity and of the first joint, m/s^2.
    state : tuple of sequences of n_joints floats
        Joint angles, velocities and accelerations.
    external : sequence of n_joints floats
        Torques against the external loads, N m.

    Returns
    -------
    list of float
        Inertial, centripetal and Coriolis terms by rows, gravity, base and external terms, and net torques.
    """
    a11, a12, a13, a22, a23, a33, b1, b2, b3 = constants
    (q1, q2, q3), (v1, v2, v3), (s1, s2, s3) = state
    q12, q23 = q1 + q2, q2 + q3
    q123 = q12 + q3
    h12, h13, h23 = a12 * cos(q2), a13 * cos(q23), a23 * cos(q3)
    m23 = a33 + h23
    m13, m22 = m23 + h13, a22 + m23 + h23
    m12 = m22 + h12 + h13
    m11 = a11 + m12 + h12 + h13
    i11, i12, i13 = m11 * s1, m12 * s2, m13 * s3
    i21, i22, i23 = m12 * s1, m22 * s2, m23 * s3
    i31, i32, i33 = m13 * s1, m23 * s2, a33 * s3
    d13, w23 = a13 * sin(q23), -a23 * sin(q3)
    w12, w13 = -a12 * sin(q2) - d13, w23 - d13
    v11, v22, v33, v12, v13, v23 = v1 * v1, v2 * v2, v3 * v3, 2.0 * v1 * v2, 2.0 * v1 * v3, 2.0 * v2 * v3
    c12, c13, c23 = w12 * v22, w13 * v33, w23 * v33
    c21, c31, c32 = -w12 * v11, -w13 * v11, -w23 * v22
    k1_12, k1_13, k1_23 = w12 * v12, w13 * v13, w13 * v23
    k2_13, k2_23, k3_12 = w23 * v13, w23 * v23, -w23 * v12
    x3, y3 = -b3 * sin(q123), b3 * cos(q123)
    x2, y2 = x3 - b2 * sin(q12), y3 + b2 * cos(q12)
    x1, y1 = x2 - b1 * sin(q1), y2 + b1 * cos(q1)
    (gx, gy), (px, py), (e1, e2, e3) = gravity, base, external
    g1, g2, g3 = -gx * x1 - gy * y1, -gx * x2 - gy * y2, -gx * x3 - gy * y3
    p1, p2, p3 = px * x1 + py * y1, px * x2 + py * y2, px * x3 + py * y3
    net1 = i11 + i12 + i13 + c12 + c13 + k1_12 + k1_13 + k1_23 + g1 + p1 + e1
    net2 = i21 + i22 + i23 + c21 + c23 + k2_13 + k2_23 + g2 + p2 + e2
    net3 = i31 + i32 + i33 + c31 + c32 + k3_12 + g3 + p3 + e3
    return [
        *(i11, i12, i13, i21, i22, i23, i31, i32, i33),
        *(0.0, c12, c13, c21, 0.0, c23, c31, c32, 0.0),
        *(k1_12, k1_13, k1_23, 0.0, k2_13, k2_23, k3_12, 0.0, 0.0),
        *(g1, g2, g3, p1, p2, p3, e1, e2, e3, net1, net2, net3),
    ]


def spin_of_one_link(constants: Numbers, _: Numbers, __: Numbers, ___: Numbers, right: Numbers) -> Numbers:
    """Angular acceleration of one segment; see `spin_of_three_links`."""
    return (right[0] / constants[0],)


def spin_of_two_links(constants: Numbers, cosine: Numbers, sine: Numbers, squares: Numbers, right: Numbers) -> Numbers:
    """Angular accelerations of two segments; see `spin_of_three_links`."""
    a11, a12, a22, *_ = constants
    (c1, c2), (s1, s2), (v1, v2), (r1, r2) = cosine, sine, squares, right
    e12, d12 = a12 * (c1 * c2 + s1 * s2), a12 * (s1 * c2 - c1 * s2)
    factor = e12 / a11
    r1 -= d12 * v2
    spin2 = (r2 + d12 * v1 - factor * r1) / (a22 - factor * e12)
    return (r1 - e12 * spin2) / a11, spin2


def spin_of_three_links(
    constants: Numbers, cosine: Numbers, sine: Numbers, squares: Numbers, right: Numbers
) -> Numbers:
    """Angular accelerations of three segments by elimination.

    The equations are ``sum_j A_ij (cos(t_i - t_j) t_j'' + sin(t_i - t_j) t_j'^2) = right_i`` with the orientations t.

    Parameters
    ----------
    constants : sequence of float
        Upper triangle of A by rows, kg m^2, and b, which is not used.
    cosine, sine, squares : sequence of n_links floats
        Cosine and sine of the orientations, and the squared angular velocities of the segments.
    right : sequence of n_links floats
        Right side, N m.
    """
    a11, a12, a13, a22, a23, a33, *_ = constants
    (c1, c2, c3), (s1, s2, s3), (v1, v2, v3), (r1, r2, r3) = cosine, sine, squares, right
    e12, d12 = a12 * (c1 * c2 + s1 * s2), a12 * (s1 * c2 - c1 * s2)
    e13, d13 = a13 * (c1 * c3 + s1 * s3), a13 * (s1 * c3 - c1 * s3)
    e23, d23 = a23 * (c2 * c3 + s2 * s3), a23 * (s2 * c3 - c2 * s3)
    r1 -= d12 * v2 + d13 * v3
    r2 -= d23 * v3 - d12 * v1
    r3 += d13 * v1 + d23 * v2
    factor2, factor3 = e12 / a11, e13 / a11
    pivot, left = a22 - factor2 * e12, e23 - factor2 * e13
    r2 -= factor2 * r1
    factor = left / pivot
    spin3 = (r3 - factor3 * r1 - factor * r2) / (a33 - factor3 * e13 - factor * left)
    spin2 = (r2 - left * spin3) / pivot
    return (r1 - e12 * spin2 - e13 * spin3) / a11, spin2, spin3


TERMS = (terms_of_one_link, terms_of_two_links, terms_of_three_links)
SPINS = (spin_of_one_link, spin_of_two_links, spin_of_three_links)
