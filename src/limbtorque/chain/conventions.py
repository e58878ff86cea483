r"""Other conventions for motion and torques.

Angles: joint space (``alpha``, each link relative to the previous one), segment space (``theta``, each link relative to
the plane's x axis, or to the downward vertical), and internal joint angles (``beta = pi - alpha`` from the second
joint on).

Torques: every convention groups the terms of `torque_terms` in its own way; each adds up to the same net torque.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, choice, distal_sums, finite
from limbtorque.chain.dynamics import TorqueTerms, of_motion
from limbtorque.chain.model import Chain, Kinematics

Zero = Literal["x_axis", "downward_vertical"]

_ZEROS = {"x_axis": 0.0, "downward_vertical": np.pi / 2.0}


@dataclass(frozen=True)
class SegmentTerms:
    """Net joint torques split by segment motion instead of joint motion, N m.

    With absolute angles there are no Coriolis terms: segment angular velocities enter only as squares.

    Attributes
    ----------
    inertial : ndarray of shape (n_frames, n_joints, n_links)
        ``[:, i, k]`` is proportional to the angular acceleration of segment k.
    centripetal : ndarray of shape (n_frames, n_joints, n_links)
        ``[:, i, k]`` is proportional to the squared angular velocity of segment k.
    gravity, base, external : ndarray of shape (n_frames, n_joints)
        As in `TorqueTerms`.
    """

    inertial: FloatArray
    centripetal: FloatArray
    gravity: FloatArray
    base: FloatArray
    external: FloatArray

    @property
    def net(self) -> FloatArray:
        """Sum of all terms, shape (n_frames, n_joints)."""
        moving = self.inertial.sum(axis=2) + self.centripetal.sum(axis=2)
        return np.asarray(moving + self.gravity + self.base + self.external)


@dataclass(frozen=True)
class InteractionTorques:
    """Net, muscle, interaction and gravity torque, N m.

    After Hollerbach and Flash (1982) and Dounskaia (2005).

    ``net = muscle + interaction + gravity + external``: here "net" is not the net joint torque of inverse dynamics,
    which is called "muscle", but the torque that accelerates the joint itself. Each of shape (n_frames, n_joints).

    Attributes
    ----------
    net : ndarray
        ``M_ii alpha_i''``: inertia of all distal segments times the joint's own angular acceleration.
    muscle : ndarray
        The net joint torque of inverse dynamics.
    interaction : ndarray
        Of the motion of the other joints and of the base: minus inertial terms of other joints, centripetal, Coriolis
        and base terms.
    gravity, external : ndarray
        Torques of gravity and of the external loads on the joint.
    """

    net: FloatArray
    muscle: FloatArray
    interaction: FloatArray
    gravity: FloatArray
    external: FloatArray


@dataclass(frozen=True)
class MotionDependentTorques:
    """Net, gravity, motion-dependent and muscle torque of the segments, N m.

    In segment space, after Schneider and Zernicke (1990).

    ``net = muscle + gravity + motion_dependent + external``. Each of shape (n_frames, n_joints).

    Attributes
    ----------
    net : ndarray
        The part of the torque that is proportional to the angular acceleration of the joint's distal segment.
    muscle : ndarray
        The generalised muscle torque: the net joint torque of inverse dynamics.
    gravity, external : ndarray
        Torques of gravity and of the external loads on the joint.
    motion_dependent : ndarray
        Of the motion of all segments but that acceleration, and of the base.
    """

    net: FloatArray
    muscle: FloatArray
    gravity: FloatArray
    motion_dependent: FloatArray
    external: FloatArray


def segment_angles(angle_rad: ArrayLike, *, zero: Zero = "x_axis", missing: bool = False) -> FloatArray:
    """Orientations of the segments from joint angles.

    Parameters
    ----------
    angle_rad : array_like of shape (n_frames, n_joints)
        Joint angles ``alpha``, the first against the plane's x axis, rad.
    zero : {"x_axis", "downward_vertical"}, optional
        Zero of the orientations, counter-clockwise positive.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    ndarray of shape (n_frames, n_joints)
        Orientations ``theta``, rad.

    Examples
    --------
    An upper arm that hangs, with the elbow bent by 90 degrees:

    >>> np.degrees(segment_angles(np.radians([[-90.0, 90.0]]), zero="downward_vertical")).round(6).tolist()
    [[0.0, 90.0]]
    """
    return np.asarray(
        np.cumsum(_per_joint("angle_rad", angle_rad, missing=missing), axis=1) + _ZEROS[choice("zero", zero, _ZEROS)]
    )


def joint_angles(orientation_rad: ArrayLike, *, zero: Zero = "x_axis", missing: bool = False) -> FloatArray:
    """Joint angles from segment orientations, the inverse of `segment_angles`.

    Angular velocities and accelerations are converted by ``numpy.diff(..., axis=1, prepend=0)`` alone.

    Parameters
    ----------
    orientation_rad : array_like of shape (n_frames, n_joints)
        Orientations ``theta``, rad.
    zero : {"x_axis", "downward_vertical"}, optional
        Zero of the orientations, counter-clockwise positive.
    missing : bool, optional
        Allow NaN (missing values).
    """
    orientation = _per_joint("orientation_rad", orientation_rad, missing=missing) - _ZEROS[choice("zero", zero, _ZEROS)]
    return np.diff(orientation, axis=1, prepend=0.0)


def internal_angles(angle_rad: ArrayLike, *, missing: bool = False) -> FloatArray:
    """Internal joint angles ``beta`` from the external ones, and the other way round.

    ``beta_1 = alpha_1``, and ``beta_i = pi - alpha_i`` from the second joint on (Cesari et al. 2001, equation 1).

    Parameters
    ----------
    angle_rad : array_like of shape (n_frames, n_joints)
        External joint angles ``alpha``, or internal ones ``beta``, rad.
    missing : bool, optional
        Allow NaN (missing values).
    """
    alpha = _per_joint("angle_rad", angle_rad, missing=missing)
    return np.concatenate([alpha[:, :1], np.pi - alpha[:, 1:]], axis=1)


def segment_torques(torque_nm: ArrayLike, *, missing: bool = False) -> FloatArray:
    """Torques in segment space: proximal minus distal joint torque of each segment.

    Parameters
    ----------
    torque_nm : array_like of shape (n_frames, n_joints)
        Joint torques, proximal on distal, N m.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    ndarray of shape (n_frames, n_joints)
        ``[M1 - M12, M12]`` of two links, N m.
    """
    return -np.diff(_per_joint("torque_nm", torque_nm, missing=missing), axis=1, append=0.0)


def segment_terms(chain: Chain, kinematics: Kinematics, *, terms: TorqueTerms, missing: bool = False) -> SegmentTerms:
    """Joint torques split by segment motion.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles and their derivatives.
    terms : TorqueTerms
        Torques of this motion, for gravity, base and external loads, which are the same in both spaces.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    SegmentTerms
        Terms that add up to the same net torque.
    """
    angles = kinematics.arrays(chain, "angle_rad", "velocity_rad_s", "acceleration_rad_s2", missing=missing)
    of_motion(terms.gravity, kinematics.angle_rad)
    theta, omega, spin = (np.cumsum(values, axis=1) for values in angles)
    direction = np.exp(1j * theta)
    between = chain.coupling * direction[:, :, None] * np.conj(direction[:, None, :])
    distal = distal_sums(between)
    return SegmentTerms(
        inertial=distal.real * spin[:, None, :],
        centripetal=distal.imag * (omega**2)[:, None, :],
        gravity=terms.gravity,
        base=terms.base,
        external=terms.external,
    )


def interaction_torques(terms: TorqueTerms) -> InteractionTorques:
    """Net, muscle, interaction and gravity torque of a motion.

    Parameters
    ----------
    terms : TorqueTerms
        Torques of the motion.
    """
    own = np.diagonal(terms.inertial, axis1=1, axis2=2)
    others = terms.inertial.sum(axis=2) - own
    moving = others + terms.centripetal.sum(axis=2) + terms.coriolis.sum(axis=2) + terms.base
    return InteractionTorques(
        net=own, muscle=terms.net, interaction=-moving, gravity=-terms.gravity, external=-terms.external
    )


def motion_dependent_torques(terms: SegmentTerms) -> MotionDependentTorques:
    """Net, gravity, motion-dependent and muscle torque of a motion.

    Parameters
    ----------
    terms : SegmentTerms
        Torques of the motion, by segments.
    """
    own = np.diagonal(terms.inertial, axis1=1, axis2=2)
    moving = terms.inertial.sum(axis=2) - own + terms.centripetal.sum(axis=2) + terms.base
    return MotionDependentTorques(
        net=own, muscle=terms.net, gravity=-terms.gravity, motion_dependent=-moving, external=-terms.external
    )


def _per_joint(name: str, value: ArrayLike, *, missing: bool = False) -> FloatArray:
    array = np.asarray(value, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}, expected (n_frames, n_joints)")
    return finite(name, array, missing=missing)
