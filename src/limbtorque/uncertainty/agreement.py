"""Agreement of linear and sampled standard deviations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.uncertainty.bands import TorqueBands
from limbtorque.uncertainty.sampled_summary import SampledStatistics


def band_difference(
    bands: TorqueBands, found: SampledStatistics, joints: Sequence[str], frames: BoolArray
) -> dict[str, float]:
    """Relative difference between sampled and linear errors of the net torques.

    Parameters
    ----------
    bands : TorqueBands
        Linear bands of a trial.
    found : SampledStatistics
        Its samples.
    joints : sequence of str
        Names of the joints, proximal first.
    frames : ndarray of bool, shape (n_frames,)
        Judged frames with a known torque.

    Returns
    -------
    dict of str to float
        By joint: root mean square over the frames of the sampled standard deviation over that of the linear one, less 1,
        without sign; empty without a frame or an error.
    """
    linear = np.sqrt(bands.variance_nm2[:, 0][:, frames].sum(axis=1))
    sampled = np.sqrt((found.net_sd_nm[:, frames] ** 2).sum(axis=1))
    return {
        joint: abs(float(one / other) - 1.0)
        for joint, one, other in zip(joints, sampled, linear, strict=True)
        if other > 0.0
    }
