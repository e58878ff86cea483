"""Accelerations of one state a call, from a chain checked once.

An integrator asks for one state at a time. Chains of up to three links use equations that are written out, in plain numbers:
array operations on three of them take longer to start than to do; longer ones use small arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, isfinite, nan, sin
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import vectors
from limbtorque.chain.forward import check_inertia
from limbtorque.chain.model import Chain

Numbers: TypeAlias = Sequence[float]
Vector: TypeAlias = tuple[float, float]


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


SPINS = (spin_of_one_link, spin_of_two_links, spin_of_three_links)


@dataclass(frozen=True, eq=False)
class PreparedChain:
    """A chain checked once, for accelerations of one state a call.

    Attributes
    ----------
    chain : Chain
        The chain; every link has inertia.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.

    Raises
    ------
    ValueError
        Gravity of another shape, or not finite; a link without inertia, whose acceleration is not determined.
    """

    chain: Chain
    gravity_m_s2: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity_m_s2", vectors("gravity_m_s2", self.gravity_m_s2))
        check_inertia(self.chain)

    def driven(self, angle: Numbers, velocity: Numbers, applied: Numbers, push: Vector) -> tuple[list[float], Vector]:
        """Accelerations of the joints and force at the base.

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
