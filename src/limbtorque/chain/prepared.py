"""Torques or accelerations of one state a call, from a chain checked once.

A controller or an integrator asks for one state at a time. Chains of up to three links use the equations of
`limbtorque.chain.written_out`; longer ones small arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, row, vectors
from limbtorque.chain.dynamics import TorqueTerms, checked_joints
from limbtorque.chain.forward import check_inertia
from limbtorque.chain.kinematics import STILL
from limbtorque.chain.model import Chain, Load, pairs
from limbtorque.chain.written_out import SPINS, TERMS, Numbers, Vector


@dataclass(frozen=True, eq=False)
class PreparedChain:
    """A chain checked once, for torques or accelerations of one state a call.

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
            c, s = (math.cos(theta), math.sin(theta)) if math.isfinite(theta) else (math.nan, math.nan)
            cosine.append(c)
            sine.append(s)
            squares.append(omega * omega)
            right.append(applied[i] - b * (lift_y * c - lift_x * s))
        for i in range(len(right) - 1):
            right[i] -= applied[i + 1]
        if len(right) > len(SPINS):
            spins = self._spins_by_arrays(cosine, sine, squares, right)
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
        """The same, if every link has inertia."""
        check_inertia(self.chain)
        return self

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray, list[int], list[int]]:
        """Sums over links distal of each, with and without it; pairs of joints."""
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

    def _spins_by_arrays(self, cosine: Numbers, sine: Numbers, squares: Numbers, right: Numbers) -> Numbers:
        """Angular accelerations of the segments of a longer chain."""
        c, s = np.array(cosine), np.array(sine)
        between = self.chain.coupling * (c[:, None] * c + s[:, None] * s)
        across = self.chain.coupling * (s[:, None] * c - c[:, None] * s)
        return np.linalg.solve(between, right - across @ squares).tolist()  # type: ignore[no-any-return]


def _as_terms(n: int, numbers: list[float]) -> TorqueTerms:
    """Torque terms from the numbers of `written_out`."""
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
    """Numbers of the joints, checked."""
    array = np.asarray(value, dtype=float)
    numbers: list[float] = array.tolist()
    if array.shape != (n_joints,) or not math.isfinite(sum(numbers)):
        row(name, array, n_joints)
    return numbers


def _vector(name: str, value: ArrayLike) -> Vector:
    """Vector of the plane, checked."""
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
