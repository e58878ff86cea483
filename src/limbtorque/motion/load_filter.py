"""Part of the external load's moment that the filter of the force plates removes."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.motion.ground_reaction import MEASURED, ExternalLoad

LOST = "the filter removes at most these parts of the largest moment of the ground reaction"  # beginning of the note


def load_moment_lost(load: ExternalLoad, joint_m: FloatArray) -> FloatArray:
    """Share of the load's largest moment about each joint that the filter removes.

    Parameters
    ----------
    load : ExternalLoad
        Load of force plates, filtered and unfiltered.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joints and endpoint in the plane, m.

    Returns
    -------
    ndarray of shape (n_joints,)
        Shares; 0: nothing is lost. NaN without a measured load.

    Notes
    -----
    Over the frames with a known load. Both moments have the same lever arms, so that the difference is the filter's alone;
    where an impact accelerates the segments, the filter of the markers removes the opposite moment of their inertia, too.
    """
    known = load.status == MEASURED
    if not (len(load.unfiltered_n) and known.any()):
        return np.full(joint_m.shape[1] - 1, np.nan)
    arm = load.point_m[known, None] - joint_m[known, :-1]
    filtered, whole = (
        couple[known, None] + arm[..., 0] * force[known, None, 1] - arm[..., 1] * force[known, None, 0]
        for force, couple in ((load.force_n, load.couple_nm), (load.unfiltered_n, load.unfiltered_couple_nm))
    )
    largest = np.abs(whole).max(axis=0)
    lost = np.abs(whole - filtered).max(axis=0)
    return np.asarray(np.divide(lost, largest, out=np.full(len(lost), np.nan), where=largest > 0.0))
