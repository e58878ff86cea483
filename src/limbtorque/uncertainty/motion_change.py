"""Change of a chain's motion by small errors of its joints."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import ComplexArray
from limbtorque.chain.inverse import FitChange, change_of_fit
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.chain.linear import MotionChange
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.smoothing import smoother_of
from limbtorque.signals.derivatives import differentiate
from limbtorque.study.settings import Settings


def fit_change(motion: ChainMotion, settings: Settings, joint_m: ComplexArray, *, lengths: bool = True) -> FitChange:
    """Change of orientations, lengths and joints of the chain by `motion.angles`.

    Parameters
    ----------
    motion, settings
        As in `propagation.torque_bands`.
    joint_m : complex ndarray of shape (n_joints + 1, n_directions, n_frames)
        Errors of the joints and the endpoint, x + iy, m.
    lengths : bool, optional
        False: the lengths stay.
    """
    angle, length, counted = motion.kinematics.angle_rad, motion.chain.length_m, ~motion.foreshortened
    if settings.motion.angles != "segments":
        return change_of_fit(angle, length, joint_m, counted=counted, lengths=lengths)
    direction = unit_vectors(np.cumsum(angle.T, axis=0))[:, None]
    steps = np.diff(joint_m, axis=0) * np.conj(direction)
    measured = np.diff(motion.joint_m[..., 0] + 1j * motion.joint_m[..., 1], axis=1).T[:, None]
    known = counted & ~np.isnan(angle).any(axis=1)
    longer = steps[..., known].real.mean(axis=2) if lengths and known.any() else np.zeros(steps.shape[:2])
    return FitChange(steps.imag / np.abs(measured), longer, joint_m)


def motion_change(motion: ChainMotion, settings: Settings, fit: FitChange) -> MotionChange:
    """Change of the joint angles, of the base, and of their derivatives.

    Parameters
    ----------
    motion, settings
        As in `propagation.torque_bands`.
    fit : FitChange
        Change of the chain.
    """
    n, n_directions, n_frames = fit.orientation_rad.shape
    angle = np.diff(fit.orientation_rad, axis=0, prepend=0.0)
    base = fit.joint_m[0]
    signal = np.concatenate([angle, np.stack([base.real, base.imag])]).reshape(-1, n_frames).T
    smoother = smoother_of(settings)
    known, rate_hz, accuracy = np.nan_to_num(signal), motion.rate_hz, settings.differentiation.accuracy
    if smoother is None:
        derivatives = differentiate(known, rate_hz=rate_hz, accuracy=accuracy)
    else:
        derivatives = smoother.strategy.derivatives(known, rate_hz, accuracy)
    first, second = (each.T.reshape(n + 2, n_directions, n_frames) for each in derivatives)
    return MotionChange(angle, first[:n], second[:n], second[n:])
