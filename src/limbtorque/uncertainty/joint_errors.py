"""Errors of joint centres, placement, soft tissue, gaps and plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import ComplexArray, runs
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.bands import Direction, InputErrors
from limbtorque.uncertainty.filter_loss import filtered_again

AXES = ("along", "across")  # of the segment before the joint; of the plane for the first one


def centre_errors(motion: ChainMotion, sizes_m: Sequence[float], landmarks: Sequence[str], side: str) -> InputErrors:
    """Errors of placed joint centres, which move with the segment before them.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    sizes_m : sequence of float
        Standard deviation of each joint centre and of the endpoint along each axis, m.
    landmarks : sequence of str
        Their landmarks.
    side : str
        Side of the body.

    Returns
    -------
    InputErrors
        Two directions for each joint centre: along the segment proximal of it, and across. The first joint's error keeps its
        direction in the plane, as the chain does not know how the trunk turns.
    """
    n_frames = len(motion.time_s)
    error = np.zeros((len(sizes_m), 2 * len(sizes_m), n_frames), dtype=complex)
    for k, (size_m, frame) in enumerate(zip(sizes_m, _frames(motion), strict=True)):
        error[k, 2 * k], error[k, 2 * k + 1] = size_m * frame, 1j * size_m * frame
    directions = [Direction("joint_centres", f"{side} {name} {axis}") for name in landmarks for axis in AXES]
    return InputErrors.of_joints(directions, error).only(np.flatnonzero(np.repeat(sizes_m, 2)).tolist())


def soft_tissue_errors(motion: ChainMotion, settings: Settings, landmarks: Sequence[str], side: str) -> InputErrors:
    """Movement of the joint centres with the skin, a random function of joint angle.

    Parameters
    ----------
    motion, landmarks, side
        As in `centre_errors`.
    settings : Settings
        Amplitude and range.

    Returns
    -------
    InputErrors
        Four directions for each joint centre, with the axes of `centre_errors`: amplitude s times ``cos(a/l)`` and
        ``sin(a/l)`` of the joint's angle a, the last joint's for the endpoint. Together a stationary random function of the
        angle with variance s^2 and covariance ``s^2 cos(d/l)``, so that it changes by s over the range ``l pi / 3``.
    """
    sizes = settings.uncertainty.sizes
    scale_rad = np.radians(sizes["soft_tissue_range_deg"]) / (np.pi / 3.0)
    flexion = motion.flexion.of(motion.kinematics.angle_rad).T
    n_joints, n_frames = flexion.shape
    error = np.zeros((n_joints + 1, 4 * (n_joints + 1), n_frames), dtype=complex)
    for k, frame in enumerate(_frames(motion)):
        phase = flexion[min(k, n_joints - 1)] / scale_rad
        for number, wave in enumerate((np.cos(phase), np.sin(phase))):
            moved = sizes["soft_tissue_m"] * wave * frame
            error[k, 4 * k + number], error[k, 4 * k + 2 + number] = moved, 1j * moved
    directions = [
        Direction("soft_tissue", f"{side} {name} {axis} {wave}")
        for name in landmarks
        for axis in AXES
        for wave in ("even", "odd")
    ]
    return InputErrors.of_joints(directions, error).only(range(len(directions) if sizes["soft_tissue_m"] else 0))


def gap_errors(motion: ChainMotion, limb: Limb, settings: Settings, landmarks: Sequence[str], side: str) -> InputErrors:
    """Errors of joint centres in frames with a filled marker.

    Parameters
    ----------
    motion, landmarks, side
        As in `centre_errors`; the motion has the largest expected error of a filled gap (``metrics["gap_error_m"]``).
    limb : Limb
        The limb.
    settings : Settings
        Size of the error, and the filter.

    Returns
    -------
    InputErrors
        Two directions for each joint centre, as of `centre_errors`: half a wave over each run of such frames, filtered as the
        joint centres were. Which marker was filled is not known here: all joint centres are taken to be wrong.
    """
    size_m = settings.uncertainty.sizes["gaps"] * float(np.nan_to_num(motion.metrics.get("gap_error_m", 0.0)))
    error = np.zeros((len(landmarks), 2 * len(landmarks), len(motion.time_s)), dtype=complex)
    if not (size_m and motion.filled.any()):
        return InputErrors.of_joints((), error[:, :0])
    wave = np.zeros(len(motion.time_s))
    for start, stop in runs(motion.filled):
        wave[start:stop] = np.sin(np.pi * np.arange(1, stop - start + 1) / (stop - start + 1))
    wave = size_m * filtered_again(motion, limb, settings, wave[:, None])[:, 0]
    for k, frame in enumerate(_frames(motion)):
        error[k, 2 * k], error[k, 2 * k + 1] = wave * frame, 1j * wave * frame
    return InputErrors.of_joints(
        [Direction("gaps", f"{side} {name} {axis}") for name in landmarks for axis in AXES], error
    )


def plane_errors(motion: ChainMotion, limb: Limb, settings: Settings) -> InputErrors:
    """Error of the plane's direction: a turn about its y axis.

    Parameters
    ----------
    motion : ChainMotion
        The motion, with lengths and inclinations of the segments.
    limb : Limb
        The limb.
    settings : Settings
        Size of the error, and the filter.

    Returns
    -------
    InputErrors
        One direction: the turn moves each joint along x by its distance from the first one along the plane's normal. The
        part of the load along the normal is not known here, and left out.
    """
    out_m = np.cumsum(motion.segment_length_m * np.sin(motion.segment_tilt_rad), axis=1)
    out_m = np.hstack([np.zeros((len(out_m), 1)), out_m])
    turn = np.radians(settings.uncertainty.sizes["plane_deg"])
    moved = turn * filtered_again(motion, limb, settings, out_m).T[:, None] + 0j
    return InputErrors.of_joints([Direction("plane")], moved).only([0] if turn else [])


def _frames(motion: ChainMotion) -> list[ComplexArray]:
    """Direction of the segment before each joint and the endpoint; 1 for the first."""
    directions = unit_vectors(np.cumsum(motion.kinematics.angle_rad, axis=1)).T
    return [np.ones(directions.shape[1], dtype=complex), *directions]
