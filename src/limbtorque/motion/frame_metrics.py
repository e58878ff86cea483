"""Metrics of a motion over some of its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, lengths
from limbtorque.motion.flexion import flexion_metrics
from limbtorque.motion.ground_reaction import UNMEASURED
from limbtorque.motion.plane import PlaneFrame, planarity
from limbtorque.study.chains import ChainModel

if TYPE_CHECKING:
    from limbtorque.motion.chain_motion import ChainMotion


def lengths_and_tilts(joints_m: FloatArray, plane: PlaneFrame) -> tuple[FloatArray, FloatArray]:
    """Lengths of segments in space, and their inclinations to the plane.

    Parameters
    ----------
    joints_m : ndarray of shape (n_frames, n_joints + 1, 3)
        Joint centres and endpoint in the laboratory frame, m.
    plane : PlaneFrame
        The plane.

    Returns
    -------
    length_m, tilt_rad : ndarray of shape (n_frames, n_segments)
        The inclination is positive towards the plane's normal.
    """
    segments = np.diff(joints_m, axis=1)
    length = lengths(segments)
    share = np.divide(segments @ plane.normal, length, out=np.zeros_like(length), where=length > 0.0)
    return length, np.arcsin(np.clip(share, -1.0, 1.0))


def frame_metrics(motion: ChainMotion, frames: BoolArray, model: ChainModel) -> dict[str, float]:
    """Metrics of markers, plane, flexion and contact that are counts or shares of frames.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    frames : ndarray of bool, shape (n_frames,)
        Frames that count, such as those of the window of the trial; all others are ignored.
    model : ChainModel
        The chain, for its one-way joints.

    Returns
    -------
    dict of str to float
        By the names in `tables.quality_flags`; empty without a frame.
    """
    if not frames.any():
        return {}
    planar = planarity(PlaneFrame(np.eye(3), motion.plane.view), _in_space(motion)[frames])
    return {
        "gap_share": float(motion.filled[frames].mean()),
        "swapped_frames": float(motion.swapped[frames].sum()),
        "spike_frames": float(motion.spike[frames].sum()),
        "foreshortened_share": float(motion.foreshortened[frames].mean()),
        "unmeasured_share": float((motion.load.status[frames] == UNMEASURED).mean()),
        "out_of_plane_share": planar.out_of_plane_share,
        "tilt_deg": float(planar.tilt_deg.max()),
        "length_variation": float(planar.length_variation.max()),
        **flexion_metrics(model, motion.flexion, motion.kinematics.angle_rad[frames]),
    }


def _in_space(motion: ChainMotion) -> FloatArray:
    """Joint centres from the first joint on, from lengths, inclinations and directions in the plane."""
    steps = np.diff(motion.joint_m, axis=1)
    direction = steps / np.maximum(lengths(steps), np.finfo(float).tiny)[..., None]
    in_plane = direction * np.cos(motion.segment_tilt_rad)[..., None]
    segments = motion.segment_length_m[..., None] * np.dstack([in_plane, np.sin(motion.segment_tilt_rad)])
    return np.cumsum(np.pad(segments, ((0, 0), (1, 0), (0, 0))), axis=1)
