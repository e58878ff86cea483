"""Uncertainty of joint angles, velocities and accelerations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.uncertainty.marker_noise import MarkerNoise
from limbtorque.uncertainty.propagation import TrialErrors

QUANTITIES = ("angle_sd_rad", "velocity_sd_rad_s", "acceleration_sd_rad_s2")


def motion_sd(errors: TrialErrors, noise: MarkerNoise | None) -> FloatArray:
    """Standard deviations of a trial's motion, to first order.

    Parameters
    ----------
    errors : TrialErrors
        Errors of its inputs.
    noise : MarkerNoise or None
        Noise of its markers.

    Returns
    -------
    ndarray of shape (3, n_joints, n_frames)
        Of joint angles, velocities and accelerations, rad, rad/s and rad/s^2.
    """
    square = np.zeros((3, errors.motion.chain.n_links, len(errors.motion.time_s)))
    for each in errors.inputs:
        if each.motion is not None:
            changes = each.motion.angle_rad, each.motion.velocity_rad_s, each.motion.acceleration_rad_s2
            square += np.stack([np.square(change).sum(axis=1) for change in changes])
    if noise is not None:
        angle = np.diff(noise.parts[2:], axis=0, prepend=0.0)
        square += np.square(angle).sum(axis=1) * noise.moments[0, :3, None]
    return np.sqrt(square)


def motion_values(joints: Sequence[str], sd: FloatArray) -> dict[str, FloatArray]:
    """Values of `tables.torque_columns.motion_band_columns` of all joints.

    Parameters
    ----------
    joints : sequence of str
        Names, proximal first.
    sd : ndarray of shape (3, n_joints, n_frames)
        From `motion_sd`, or of the samples.
    """
    return {f"{joint}_{name}": sd[k, i] for i, joint in enumerate(joints) for k, name in enumerate(QUANTITIES)}
