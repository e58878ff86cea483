r"""Torques or accelerations of one state per call, from a chain checked once.

A controller or an integrator needs one state at a time. Chains of up to three links use explicit
scalar equations, faster than arrays of three numbers; longer chains use small arrays. With the
constants ``A_ij`` and ``b_i`` of `limbtorque.chain.dynamics`, joint angles q, and for three links

.. math::

    h_{12} = A_{12} \cos q_2, \quad h_{23} = A_{23} \cos q_3, \quad h_{13} = A_{13} \cos(q_2 + q_3)

.. math::

    M_{33} = A_{33}, \quad M_{23} = M_{33} + h_{23}, \quad M_{13} = M_{23} + h_{13}

.. math::

    M_{22} = A_{22} + M_{23} + h_{23}, \quad M_{12} = M_{22} + h_{12} + h_{13}, \quad M_{11} = A_{11} + M_{12} + h_{12} + h_{13}

With ``d_ij``, the same products with sines, joint i has the torque ``W_ij q_j'^2`` and ``2 W_iq q_p' q_q'`` (p < q), where
``W_12 = -(d_12 + d_13)``, ``W_13 = -(d_13 + d_23)``, ``W_23 = -d_23`` and ``W_ji = -W_ij`` (Zatsiorsky 2002, *Kinetics of
Human Motion*, and Cesari et al. 2001, corrected as `docs/theory.md` lists). Shorter chains omit the last links.

Every function with explicit equations takes its constants as the upper triangle of A by rows, then b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, isfinite, nan, sin
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, row, vectors
from limbtorque.chain.dynamics import TorqueTerms, checked_joints
from limbtorque.chain.forward import check_inertia
from limbtorque.chain.kinematics import STILL
from limbtorque.chain.model import Chain, Load, pairs

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


@dataclass(frozen=True, eq=False)
class PreparedChain:
    """A chain checked once, for torques or accelerations of one state per call.

    Attributes
    ----------
    chain : Chain
        The chain.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane; ``(0, -9.81)`` where the plane is vertical, ``(0, 0)`` where horizontal.

    Raises
    ------
    ValueError
        Gravity of another shape, or not finite.

    Notes
    -----
    For controllers and integrators. The functions `torque_terms` and `forward_dynamics` take all frames of a recording at
    once and are faster there. Every number of a state must be finite.

    Examples
    --------
    A horizontal forearm of 1.5 kg at rest, its centre of mass 0.18 m from the elbow:

    >>> forearm = PreparedChain(Chain([0.26], [1.5], [0.18], [0.02]), gravity_m_s2=(0.0, -9.81))
    >>> forearm.torque_terms([0.0], [0.0], [0.0]).net.round(4).tolist()
    [2.6487]
    """

    chain: Chain
    gravity_m_s2: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity_m_s2", vectors("gravity_m_s2", self.gravity_m_s2))

    def torque_terms(
        self,
        angle_rad: ArrayLike,
        velocity_rad_s: ArrayLike,
        acceleration_rad_s2: ArrayLike,
        *,
        base_acceleration_m_s2: ArrayLike = STILL,
        loads: Sequence[Load] = (),
        joint_m: ArrayLike | None = None,
    ) -> TorqueTerms:
        """Net joint torques of one state, term by term.

        Parameters
        ----------
        angle_rad, velocity_rad_s, acceleration_rad_s2 : array_like of shape (n_joints,)
            Joint angles and their first and second derivatives.
        base_acceleration_m_s2 : array_like of shape (2,), optional
            Acceleration of the first joint; 0 by default.
        loads : sequence of Load, optional
            External loads, each of one frame.
        joint_m : array_like of shape (n_joints, 2) or more joints, optional
            Joint positions, for the moment arms of the loads; required with loads.

        Returns
        -------
        TorqueTerms
            Those of the function `torque_terms` for one frame, to 1e-12 of the largest, without the axis of time.

        Raises
        ------
        ValueError
            Mismatched shapes, numbers that are not finite, or loads without joint positions.
        """
        n = self.chain.n_links
        state = (
            _numbers("angle_rad", angle_rad, n),
            _numbers("velocity_rad_s", velocity_rad_s, n),
            _numbers("acceleration_rad_s2", acceleration_rad_s2, n),
        )
        base = _vector("base_acceleration_m_s2", base_acceleration_m_s2)
        external = _external(n, loads, joint_m) if loads else [0.0] * n
        if n > len(TERMS):
            return self._terms_by_arrays(*state, base, external)
        return _as_terms(n, TERMS[n - 1](self._constants, self._gravity, state, base, external))

    def forward_dynamics(
        self,
        angle_rad: ArrayLike,
        velocity_rad_s: ArrayLike,
        torque_nm: ArrayLike,
        *,
        base_acceleration_m_s2: ArrayLike = STILL,
        load_nm: ArrayLike | None = None,
    ) -> FloatArray:
        """Angular accelerations of the joints in one state from torques and loads.

        Parameters
        ----------
        angle_rad, velocity_rad_s : array_like of shape (n_joints,)
            Joint angles and angular velocities.
        torque_nm : array_like of shape (n_joints,)
            Net joint torques, proximal on distal, counter-clockwise positive.
        base_acceleration_m_s2 : array_like of shape (2,), optional
            Acceleration of the first joint; 0 by default.
        load_nm : array_like of shape (n_joints,), optional
            Generalised forces of the external loads, as in the function `forward_dynamics`.

        Returns
        -------
        ndarray of shape (n_joints,)
            rad/s^2.

        Raises
        ------
        ValueError
            Wrong shapes, numbers that are not finite, or links without inertia, whose accelerations are not determined.
        """
        n = self.chain.n_links
        angle, velocity = _numbers("angle_rad", angle_rad, n), _numbers("velocity_rad_s", velocity_rad_s, n)
        applied: Numbers = _numbers("torque_nm", torque_nm, n)
        if load_nm is not None:
            applied = [a + b for a, b in zip(applied, _numbers("load_nm", load_nm, n), strict=True)]
        push = _vector("base_acceleration_m_s2", base_acceleration_m_s2)
        return np.array(self._solvable.driven(angle, velocity, applied, push)[0])

    def driven(self, angle: Numbers, velocity: Numbers, applied: Numbers, push: Vector) -> tuple[list[float], Vector]:
        """Accelerations of the joints and force at the base, without checks.

        NaN where an angle or a velocity is not finite.

        Parameters
        ----------
        angle, velocity, applied : sequence of n_joints floats
            Joint angles, angular velocities, and joint torques with loads.
        push : tuple of float
            Acceleration of the base, m/s^2.

        Returns
        -------
        acceleration : list of n_joints floats
            rad/s^2.
        force_n : tuple of float
            Force on the chain at its base with that of the external loads: mass times acceleration minus weight, N.
        """
        mass, moment, (gravity_x, gravity_y) = self._mass, self._moment, self._gravity
        lift_x, lift_y = push[0] - gravity_x, push[1] - gravity_y
        cosine, sine, squares, right, theta, omega = [], [], [], [], 0.0, 0.0
        for i, b in enumerate(moment):
            theta += angle[i]
            omega += velocity[i]
            c, s = (cos(theta), sin(theta)) if isfinite(theta) else (nan, nan)
            cosine.append(c)
            sine.append(s)
            squares.append(omega * omega)
            right.append(applied[i] - b * (lift_y * c - lift_x * s))
        for i in range(len(right) - 1):
            right[i] -= applied[i + 1]
        if len(right) > len(SPINS):
            cosines, sines = np.array(cosine), np.array(sine)
            between = self.chain.coupling * (cosines[:, None] * cosines + sines[:, None] * sines)
            across = self.chain.coupling * (sines[:, None] * cosines - cosines[:, None] * sines)
            spins = np.linalg.solve(between, right - across @ squares).tolist()
        else:
            spins = SPINS[len(right) - 1](self._constants, cosine, sine, squares, right)
        force_x, force_y, acceleration, before = mass * lift_x, mass * lift_y, [], 0.0
        for b, c, s, square, spin in zip(moment, cosine, sine, squares, spins, strict=True):
            force_x -= b * (spin * s + square * c)
            force_y += b * (spin * c - square * s)
            acceleration.append(spin - before)
            before = spin
        return acceleration, (force_x, force_y)

    @cached_property
    def _gravity(self) -> Vector:
        x, y = np.asarray(self.gravity_m_s2).tolist()
        return x, y

    @cached_property
    def _mass(self) -> float:
        return float(self.chain.mass_kg.sum())

    @cached_property
    def _moment(self) -> list[float]:
        return self.chain.first_moment.tolist()  # type: ignore[no-any-return]

    @cached_property
    def _constants(self) -> list[float]:
        """Upper triangle of A by rows, then b."""
        return [*self.chain.coupling[np.triu_indices(self.chain.n_links)].tolist(), *self._moment]

    @cached_property
    def _solvable(self) -> PreparedChain:
        """The same constants, if every link has inertia."""
        check_inertia(self.chain)
        return self

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray, list[int], list[int]]:
        """Matrices that sum over distal links, including the link or not; pairs of joints."""
        ones = np.ones((self.chain.n_links, self.chain.n_links))
        first, second = zip(*pairs(self.chain.n_links), strict=True)
        return np.triu(ones), np.triu(ones, 1), list(first), list(second)

    def _terms_by_arrays(
        self, angle: Numbers, velocity: Numbers, acceleration: Numbers, base: Vector, external: Numbers
    ) -> TorqueTerms:
        """Terms of a longer chain, as in `limbtorque.chain.dynamics`."""
        distal, above, first, second = self._sums
        theta, omega = np.add.accumulate(angle), np.array(velocity)
        cosine, sine = np.cos(theta), np.sin(theta)
        between = self.chain.coupling * (cosine[:, None] * cosine + sine[:, None] * sine)
        across = self.chain.coupling * (sine[:, None] * cosine - cosine[:, None] * sine)
        upper = distal @ ((across @ distal.T) * above)
        factor = upper - upper.T
        turning = distal @ (self.chain.first_moment * np.array([-sine, cosine])).T
        return TorqueTerms(
            inertial=(distal @ between @ distal.T) * acceleration,
            centripetal=factor * (omega * omega),
            coriolis=factor[:, second] * (2.0 * omega[first] * omega[second]),
            gravity=-(turning @ self._gravity),
            base=turning @ base,
            external=np.array(external),
        )


def _as_terms(n: int, numbers: list[float]) -> TorqueTerms:
    """Torque terms from the values of `written_out`."""
    flat = np.array(numbers)
    squares, products = n * n, n * n * (n - 1) // 2
    ends = 2 * squares + products
    terms = TorqueTerms(
        inertial=flat[:squares].reshape(n, n),
        centripetal=flat[squares : 2 * squares].reshape(n, n),
        coriolis=flat[2 * squares : ends].reshape(n, n * (n - 1) // 2),
        gravity=flat[ends : ends + n],
        base=flat[ends + n : ends + 2 * n],
        external=flat[ends + 2 * n : ends + 3 * n],
    )
    vars(terms)["net"] = flat[ends + 3 * n :]  # already added up: the sums would take as long as the terms
    return terms


def _numbers(name: str, value: ArrayLike, n_joints: int) -> list[float]:
    """Checked values of the joints."""
    array = np.asarray(value, dtype=float)
    numbers: list[float] = array.tolist()
    if array.shape != (n_joints,) or not isfinite(sum(numbers)):
        row(name, array, n_joints)
    return numbers


def _vector(name: str, value: ArrayLike) -> Vector:
    """Checked vector in the plane."""
    if value is STILL:
        return STILL
    x, y = vectors(name, value).tolist()
    return x, y


def _external(n: int, loads: Sequence[Load], joint_m: ArrayLike | None) -> list[float]:
    """Negative generalised forces of the loads of one frame, by virtual work."""
    joints = None if joint_m is None else np.asarray(joint_m, dtype=float)
    if joints is not None and (joints.ndim != 2 or len(joints) < n or joints.shape[1] != 2):
        raise ValueError(f"joint_m has shape {joints.shape}, expected ({n} or more, 2)")
    checked = checked_joints(1, n, loads, None if joints is None else joints[None], missing=False)[0].tolist()
    work = [0.0] * n
    for load in loads:
        (force_x, force_y), (x, y) = load.force_n[0].tolist(), load.point_m[0].tolist()
        [couple] = np.asarray(load.couple_nm).tolist()
        for i in range(load.link + 1):
            work[i] -= (x - checked[i][0]) * force_y - (y - checked[i][1]) * force_x + couple
    return work
