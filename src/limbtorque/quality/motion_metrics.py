"""Metrics of a motion: counts and shares of frames, planarity, flexion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, lengths
from limbtorque.ground.plates import Reading
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.flexion import Flexion
from limbtorque.motion.joint_centres import Placement
from limbtorque.motion.limb import Limb
from limbtorque.motion.load import UNMEASURED, ExternalLoad
from limbtorque.motion.plane import Planarity, axis_vector, segment_planarity
from limbtorque.quality.body_checks import body_metrics
from limbtorque.quality.body_size import body_size
from limbtorque.recordings.recording import Recording
from limbtorque.study.chains import ChainModel
from limbtorque.study.settings import Settings

UNDECIDED_DEG = 10.0


RANGE_PERCENT = (5.0, 95.0)  # of the frames, so that a spike does not bend a straight limb


HYPERMOBILE_DEG = 10.0  # Beighton et al. (1973), of elbows and knees


def flexion_metrics(model: ChainModel, flexion: Flexion, angle: FloatArray) -> dict[str, float]:
    """Metrics of flexion: bent the wrong way, or too straight to decide."""
    return {
        "reversed_flexion_deg": reversed_flexion_deg(model, flexion, angle),
        "reversed_flexion_share": reversed_flexion_share(model, flexion, angle),
        "undecided_flexion": undecided_flexion(model, flexion, angle),
    }


def undecided_flexion(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Return 1 where the limb stays too straight for a mirrored one to be noticed."""
    one_way = [i for i, joint in enumerate(model.joints) if joint.one_way]
    bent_deg = np.degrees(flexion.of(angle))[:, one_way]
    bent_deg = bent_deg[~np.isnan(bent_deg).any(axis=1)]
    if not len(bent_deg):
        return 0.0
    ends = np.percentile(bent_deg, RANGE_PERCENT, axis=0)
    return float(np.abs(ends).max(initial=0.0) < UNDECIDED_DEG)


def reversed_flexion_share(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Largest share of frames with a joint bent the wrong way by over 10 degrees.

    Parameters
    ----------
    model : ChainModel
        The chain.
    flexion : Flexion
        Sense and zero of flexion.
    angle : ndarray of shape (n_frames, n_joints)
        Joint angles, rad.

    Examples
    --------
    >>> from limbtorque.study.chains import ARM
    >>> flexion = Flexion(np.ones(3), np.zeros(3), np.ones(3, dtype=bool))
    >>> angle = np.radians([[0.0, 90.0, 0.0], [0.0, 0.0, 0.0], [0.0, -30.0, 0.0], [0.0, -5.0, 0.0]])
    >>> reversed_flexion_share(ARM, flexion, angle)
    0.25
    """
    bent = np.degrees(flexion.of(angle))
    one_way = [i for i, joint in enumerate(model.joints) if joint.one_way]
    return max((float((bent[:, i] < -HYPERMOBILE_DEG).mean()) for i in one_way), default=0.0)


def reversed_flexion_deg(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Mean flexion of one-way joints to the wrong side, degrees; 0 without any."""
    bent = [
        -float(np.degrees(flexion.sign[i] * (np.nanmedian(angle[:, i]) - flexion.zero_rad[i])))
        for i, joint in enumerate(model.joints)
        if joint.one_way
    ]
    return max([0.0, *bent])


def _up_axis_deg(model: ChainModel, placed: Placement, external: ExternalLoad, settings: Settings) -> float:
    """Largest angle between up and the leg, or the normal of a plate."""
    return max(_leg_tilt_deg(model, placed.joints_m, settings), external.metrics.get("plate_tilt_deg", 0.0))


def _leg_tilt_deg(model: ChainModel, joints_3d: FloatArray, settings: Settings) -> float:
    """Angle between up and the mean direction of the limb; 0 for limbs off the ground."""
    if not model.ground_contact:
        return 0.0
    direction = (joints_3d[:, 0] - joints_3d[:, -2]).mean(axis=0)
    cosine = direction @ axis_vector(settings.plane.up_axis) / np.linalg.norm(direction)
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def frame_metrics(motion: ChainMotion, frames: BoolArray, model: ChainModel) -> dict[str, float]:
    """Metrics of a motion that are counts or shares of frames.

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
        By the names in `quality.checks`; empty without a frame.
    """
    if not frames.any():
        return {}
    planar = _planarity(motion, frames)
    flat = frames & ~motion.foreshortened
    fit = (
        {} if np.isnan(motion.fit_m[flat]).all() else {"chain_fit_m": float(np.sqrt((motion.fit_m[flat] ** 2).mean()))}
    )
    return {
        **fit,
        "gap_share": float(motion.filled[frames].mean()),
        "swapped_frames": float(motion.swapped[frames].sum()),
        "spike_frames": float(motion.spike[frames].sum()),
        **missing_shares(motion, frames),
        "out_of_plane_share": planar.out_of_plane_share,
        "tilt_deg": float(planar.tilt_deg.max()),
        "length_variation": float(planar.length_variation.max()),
        **flexion_metrics(model, motion.flexion, motion.kinematics.angle_rad[frames]),
    }


def missing_shares(motion: ChainMotion, frames: BoolArray) -> dict[str, float]:
    """Shares of frames without orientation and without measured load.

    Parameters
    ----------
    motion, frames
        As in `frame_metrics`.
    """
    if not frames.any():
        return {}
    return {
        "foreshortened_share": float(motion.foreshortened[frames].mean()),
        "unmeasured_share": float((motion.load.status[frames] == UNMEASURED).mean()),
    }


def _planarity(motion: ChainMotion, frames: BoolArray) -> Planarity:
    """Planarity of the chosen frames."""
    steps = np.diff(motion.joint_m[frames], axis=1)
    length, tilt = motion.segment_length_m[frames], motion.segment_tilt_rad[frames]
    towards = np.sin(tilt)
    in_plane = length * np.sqrt(1.0 - towards**2) / np.maximum(lengths(steps), np.finfo(float).tiny)
    return segment_planarity(steps * in_plane[..., None], length * towards, length, tilt)


def motion_metrics(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
    placed: Placement,
    motion: ChainMotion,
    readings: Sequence[Reading],
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Metrics of a motion and its load, over all of its frames, and notes on the body's size.

    Parameters
    ----------
    recording : Recording
        Markers and plates.
    limb : Limb
        The limb, body mass and height.
    settings : Settings
        All options.
    placed : Placement
        Its joint centres.
    motion : ChainMotion
        The motion with its load.
    readings : sequence of Reading
        Signals of the plates that may be used.
    """
    model, load = limb.model(settings), motion.load
    size = body_size(limb, settings, placed.planarity.length_m)
    metrics = {
        **motion.metrics,
        **size.metrics,
        **{name: value for name, value in load.metrics.items() if name != "plate_tilt_deg"},
        "up_axis_deg": _up_axis_deg(model, placed, load, settings),
        **body_metrics(recording, limb, settings, placed=placed, load=load, joint_m=motion.joint_m, readings=readings),
        **frame_metrics(motion, np.ones(len(motion.joint_m), dtype=bool), model),
    }
    return metrics, size.notes
