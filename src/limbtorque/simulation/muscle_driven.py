"""Muscle-driven chain: excitation, activation, tension, torque.

With moment arms R, positive counter-clockwise, a the activations, q the joint angles,

    torque = R(q) F,    F = a strength(q, q') + passive(q),    a' = rate(e, a).

It completes the equations of motion of `simulate`: ``M q'' = R F - (centripetal, Coriolis, gravity and external terms)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import BoolArray, FloatArray, frames, row
from limbtorque.muscles.hill import DE_GROOTE, ActivationDynamics, activation_rate, hill_limits
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.simulation.forward import Drive

Control: TypeAlias = ArrayLike | Callable[[float], ArrayLike]
ROUNDING = 1e-9  # of a control that is a spline


@dataclass(frozen=True, eq=False)
class Musculature:
    """The muscles of a set on the joints of a chain.

    Parameters
    ----------
    muscle_set : MuscleSet
        The muscles, in the order of every array.
    joints : sequence of str
        Names of the chain's joints in the set, from the base on.
    flexion_sign, flexion_zero_rad : ndarray of shape (n_joints,)
        Flexion is ``sign (angle - zero)``, the sign 1 or -1, as in `ChainMotion`.
    force_length_velocity : bool, optional
        Let strength and passive tension depend on length and velocity, on rigid tendons, by `hill_limits`. Otherwise,
        and for muscles of unknown fibres or length, the strength is constant and the passive tension zero.
    max_velocity_lopt_s : float, optional
        Greatest shortening velocity in optimal fibre lengths per second.

    Raises
    ------
    ValueError
        Signs that are not 1 or -1, or not one for each joint.
    """

    muscle_set: MuscleSet
    joints: Sequence[str]
    flexion_sign: FloatArray
    flexion_zero_rad: FloatArray
    force_length_velocity: bool = True
    max_velocity_lopt_s: float = 10.0

    def __post_init__(self) -> None:
        n = len(self.joints)
        for name in ("flexion_sign", "flexion_zero_rad"):
            object.__setattr__(self, name, row(name, getattr(self, name), n, like="joints"))
        if (np.abs(self.flexion_sign) != 1.0).any():
            raise ValueError(f"flexion_sign is {self.flexion_sign.tolist()}; expected 1 or -1 for each joint")

    @cached_property
    def fibres(self) -> dict[str, FloatArray]:
        """Fibre parameters for `hill_limits`; NaN where a muscle's are unknown."""
        return self.muscle_set.fibres()


@dataclass(frozen=True, eq=False)
class MuscleState:
    """Moment arms, strengths and passive tensions of muscles in given postures.

    Attributes
    ----------
    moment_arm_m : ndarray of shape (n_frames, n_joints, n_muscles)
        Positive where tension turns the joint counter-clockwise.
    strength_n, passive_n : ndarray of shape (n_frames, n_muscles)
        Tension is ``activation * strength_n + passive_n``.
    out_of_range : ndarray of bool of shape (n_frames, n_joints)
        Frames in which a moment arm is held at the end of its range.
    possible : ndarray of bool of shape (n_frames, n_muscles)
        False where length or velocity of a muscle is beyond the range of its curves.
    """

    moment_arm_m: FloatArray
    strength_n: FloatArray
    passive_n: FloatArray
    out_of_range: BoolArray
    possible: BoolArray

    @property
    def passive_nm(self) -> FloatArray:
        """Torques of passive tensions, counter-clockwise, shape (n_frames, n_joints)."""
        return self.torque_nm(np.zeros_like(self.strength_n))

    def torque_nm(self, activation: ArrayLike) -> FloatArray:
        """Torques at activations (n_frames, n_muscles), counter-clockwise positive."""
        tension = np.asarray(activation, dtype=float) * self.strength_n + self.passive_n
        return np.asarray(np.einsum("tjm,tm->tj", self.moment_arm_m, tension))


def muscle_state(musculature: Musculature, angle_rad: ArrayLike, velocity_rad_s: ArrayLike) -> MuscleState:
    """Return moment arms, strengths and passive tensions of muscles in postures.

    Parameters
    ----------
    musculature : Musculature
        The muscles.
    angle_rad, velocity_rad_s : array_like of shape (n_frames, n_joints)
        Joint angles and their rates, counter-clockwise positive; NaN where missing.

    Returns
    -------
    MuscleState

    Raises
    ------
    ValueError
        Wrong shapes.
    """
    sign, zero = musculature.flexion_sign, musculature.flexion_zero_rad
    angle = frames("angle_rad", angle_rad, sign.size, missing=True)
    velocity = frames("velocity_rad_s", velocity_rad_s, sign.size, like=angle, missing=True)
    unit = musculotendon(
        musculature.muscle_set, sign * (angle - zero), velocity_rad_s=sign * velocity, joints=musculature.joints
    )
    strength = musculature.muscle_set.max_force_n
    arm = unit.moment_arm_m * sign[:, None]
    if not musculature.force_length_velocity:
        constant = np.broadcast_to(strength, unit.length_m.shape)
        return MuscleState(arm, constant, 0.0 * constant, unit.out_of_range, np.ones(constant.shape, dtype=bool))
    fibres = musculature.fibres
    limits = hill_limits(
        unit.length_m,
        unit.velocity_m_s,
        max_force_n=strength,
        optimal_fibre_length_m=fibres["optimal_fibre_length_m"],
        tendon_slack_length_m=fibres["tendon_slack_length_m"],
        pennation_rad=fibres["pennation_rad"],
        max_velocity_lopt_s=musculature.max_velocity_lopt_s,
    )
    return MuscleState(arm, limits.strength_n, limits.passive_n, unit.out_of_range, limits.possible)


def muscle_drive(
    musculature: Musculature,
    control: Control,
    *,
    activation: ArrayLike | None = None,
    dynamics: ActivationDynamics | None = DE_GROOTE,
) -> Drive:
    """Drive for `simulate` from muscle excitations or activations.

    Parameters
    ----------
    musculature : Musculature
        The muscles.
    control : array_like of shape (n_muscles,), or callable
        Excitation of each muscle, 0 to 1: constant, or a function of time in s, such as SciPy's `PchipInterpolator` of
        samples, which stays within them. Where `dynamics` is None it is the activation.
    activation : array_like of shape (n_muscles,), optional
        Activation at the start; needed where there are dynamics.
    dynamics : ActivationDynamics or None, optional
        Constants of the activation dynamics.

    Returns
    -------
    Drive
        Its memory is the activation.

    Raises
    ------
    ValueError
        Wrong shapes, controls or activations outside 0 to 1, of functions during the simulation.

    Notes
    -----
    Where a joint leaves the range of its moment arms, or a muscle the range of its curves, the drive uses the values at
    the end of the range. `muscle_state` of the simulated angles and velocities shows where.

    Examples
    --------
    The elbow's muscles, each at a tenth of its strength, at rest with the elbow at 90 degrees:

    >>> from limbtorque.muscles.sets.muscle_set import load_muscle_set
    >>> elbow = Musculature(load_muscle_set("arm"), ["elbow"], flexion_sign=[1.0], flexion_zero_rad=[0.0])
    >>> drive = muscle_drive(elbow, np.full(19, 0.1), dynamics=None)
    >>> drive.torque(0.0, np.array([np.pi / 2.0]), np.zeros(1), np.zeros(0)).round().tolist()
    [4.0]
    """
    n = len(musculature.muscle_set.muscles)
    controls = _in_time(control, n)
    if dynamics is None:
        if activation is not None:
            raise ValueError(
                "activation is given with dynamics=None, where the control is the activation; leave it out"
            )
        return Drive(lambda time, angle, velocity, _: _torque(musculature, angle, velocity, controls(time)))
    if activation is None:
        raise ValueError(f"activation at the start is missing; expected {n} numbers from 0 to 1, one for each muscle")
    start = _shares("activation", row("activation", activation, n, like="the muscles"))

    def torque(_: float, angle: FloatArray, velocity: FloatArray, memory: FloatArray) -> FloatArray:
        return _torque(musculature, angle, velocity, np.clip(memory, 0.0, 1.0))

    def rate(time: float, _: FloatArray, __: FloatArray, memory: FloatArray) -> FloatArray:
        return activation_rate(controls(time), np.clip(memory, 0.0, 1.0), dynamics=dynamics)

    return Drive(torque, tuple(start.tolist()), rate)


def _torque(musculature: Musculature, angle: FloatArray, velocity: FloatArray, activation: FloatArray) -> FloatArray:
    """Torques in one posture, shape (n_joints,)."""
    n = len(musculature.joints)
    if angle.size != n:
        raise ValueError(f"the muscles are on {n} joints ({', '.join(musculature.joints)}), the chain has {angle.size}")
    state = muscle_state(musculature, angle[None], velocity[None])
    return np.asarray(state.torque_nm(activation[None])[0])


def _in_time(control: Control, n_muscles: int) -> Callable[[float], FloatArray]:
    """Controls as a function of time, checked."""
    if callable(control):
        return lambda time: _shares("control", row("control", control(time), n_muscles, like="the muscles"), time)
    constant = _shares("control", row("control", control, n_muscles, like="the muscles"))
    return lambda _: constant


def _shares(name: str, values: FloatArray, time_s: float | None = None) -> FloatArray:
    """Return the values, if they are from 0 to 1."""
    outside = ~((values > -ROUNDING) & (values < 1.0 + ROUNDING))
    if outside.any():
        when = "" if time_s is None else f" at {time_s:g} s"
        raise ValueError(f"{name} has {values[outside][0]:g}{when}; expected numbers from 0 to 1")
    return np.clip(values, 0.0, 1.0)
