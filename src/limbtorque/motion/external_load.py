"""Which external load acts on a limb: none, one of the settings, or the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import LandmarkError, LoadError
from limbtorque.motion.ground_reaction import ExternalLoad, Foot, find_foot, ground_load, hand_load, no_load
from limbtorque.motion.landmarks import LandmarkMap, locate, needed_markers
from limbtorque.motion.markers import fill_needed
from limbtorque.motion.plane import PlaneFrame, axis_vector
from limbtorque.recordings.recording import Recording
from limbtorque.signals.smoothers import Smoother
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.loads import LoadModel, Plates
from limbtorque.study.options.signal import Gaps
from limbtorque.study.settings import Settings


def contact_landmarks(model: ChainModel, mapping: LandmarkMap, plates: Plates) -> list[str]:
    """Landmarks that show ground contact and are mapped; none where the chain does not meet the ground."""
    if not model.ground_contact or plates.assignment == "none":
        return []
    return [name for name in model.contact_landmarks if mapping.has(name)]


def external_load(
    recording: Recording,
    *,
    load: LoadModel | None,
    model: ChainModel,
    mapping: LandmarkMap,
    settings: Settings,
    smoother: Smoother | None,
    cutoff_hz: float | None,
    plane: PlaneFrame,
    stretch: slice,
    landmarks: Mapping[str, FloatArray],
    joint_m: FloatArray,
    depth_m: FloatArray,
) -> ExternalLoad:
    """External load on the last segment of a limb.

    Parameters
    ----------
    recording : Recording
        For its force plates and the other foot's markers.
    load : Force, Spring or None
        A load of the settings; it takes the place of any other.
    model : ChainModel
        The chain.
    mapping : LandmarkMap
        Landmarks of this side.
    settings : Settings
        Options of plates and filter.
    smoother : Smoother or None
        The method that the joint positions are smoothed with; None where they are not.
    cutoff_hz : float or None
        Cut-off of the joint positions, Hz; None where they are not smoothed.
    plane : PlaneFrame
        The plane of motion.
    stretch : slice
        The frames of the recording that are analysed.
    landmarks : mapping of str to ndarray of shape (n_frames, 3)
        Landmarks in those frames, m.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joints and endpoint in the plane, m.
    depth_m : ndarray of shape (n_frames, n_joints + 1)
        Their coordinates along the plane's normal, m.

    Returns
    -------
    ExternalLoad
        The load in the plane.

    Raises
    ------
    LoadError
        A load of the settings on a limb that meets the ground: the two are not added up.
    """
    on_ground = model.ground_contact and settings.plates.assignment != "none"
    if load is not None:
        if on_ground:
            raise LoadError(
                "a load of the settings takes the place of the ground, and this chain meets the ground; "
                "set plates.assignment to none if the foot was in the air, or leave the column load empty"
            )
        in_space = np.concatenate([joint_m, depth_m[..., None]], axis=2)
        return hand_load(load, frame=plane, last_joint_m=in_space[:, -2], end_m=in_space[:, -1])
    if not on_ground:
        return no_load(len(joint_m))
    up = axis_vector(settings.plane.up_axis)
    belt = -settings.plates.belt_speed_m_s * plane.axes[0]
    other = _other_landmarks(recording, model, mapping, settings.plates, settings.gaps, stretch)
    force_cutoff = None if cutoff_hz is None else settings.filter.force_cutoff_hz or cutoff_hz
    ground = ground_load(
        recording.force_plates,
        foot=_foot(landmarks, model, mapping, settings.plates, recording.rate_hz, belt),
        other_foot=_foot(other, model, mapping, settings.plates, recording.rate_hz, belt) if other else None,
        frames=stretch,
        first_frame=recording.first_frame + stretch.start,
        rate_hz=recording.rate_hz,
        cutoff_hz=force_cutoff,
        smoother=smoother,
        settings=settings.plates,
        frame=plane,
        up=up,
        ankle_m=joint_m[:, -2],
        side=mapping.side,
    )
    alone = () if other else ("the other foot is not mapped or not seen: a shared plate goes unnoticed",)
    return replace(ground, notes=(*alone, *_unlike(smoother, force_cutoff, cutoff_hz), *ground.notes))


def _unlike(smoother: Smoother | None, force_cutoff_hz: float | None, cutoff_hz: float | None) -> list[str]:
    """Warning where force plates and markers are not filtered alike: at an impact the torques then show what is not there."""
    if smoother is None or force_cutoff_hz is None or cutoff_hz is None:
        return [
            "force plates are not filtered, but averaged over each frame: vibration above half the frame rate is folded down"
        ]
    if smoother.method == "savitzky_golay":
        return [
            "savitzky_golay smooths forces and differentiates positions with different gains: at an impact the two do not fit"
        ]
    if force_cutoff_hz == cutoff_hz:
        return []
    return [
        f"force plates are filtered at {force_cutoff_hz:g} Hz, joint positions at {cutoff_hz:g} Hz: at an impact the two do not fit "
        "each other (filter.force_cutoff_hz)"
    ]


def _foot(
    landmarks: Mapping[str, FloatArray],
    model: ChainModel,
    mapping: LandmarkMap,
    plates: Plates,
    rate_hz: float,
    belt_m_s: FloatArray,
) -> Foot:
    contact = contact_landmarks(model, mapping, plates)
    back, ankle = landmarks[_back(model, contact)], landmarks[model.joints[-1].landmark]
    return find_foot(
        {name: landmarks[name] for name in contact or [model.end]},
        ends=(np.where(np.isnan(back), ankle, back), landmarks[model.end]),
        settings=plates,
        rate_hz=rate_hz,
        belt_m_s=belt_m_s,
    )


def _back(model: ChainModel, contact: list[str]) -> str:
    """Rear end of the foot's line: the first contact landmark that is not its front, or the last joint."""
    return next((name for name in contact if name != model.end), model.joints[-1].landmark)


def _other_landmarks(
    recording: Recording, model: ChainModel, mapping: LandmarkMap, plates: Plates, gaps: Gaps, stretch: slice
) -> dict[str, FloatArray]:
    """Landmarks of the other foot over the same frames; empty where its markers are not there."""
    mapping = mapping.anatomical()  # where the other foot is, is all that is asked for
    mirrored = replace(mapping, side="left" if mapping.side == "right" else "right")
    contact = contact_landmarks(model, mapping, plates)
    names = {*contact, _back(model, contact), model.joints[-1].landmark, model.end}
    try:
        markers = needed_markers(recording, mirrored, names)
    except LandmarkError:
        return {}
    if set(markers.values()) & set(needed_markers(recording, mapping, names).values()):
        return {}
    filled = fill_needed(recording, list(markers.values()), gaps)
    positions, markers = filled.markers_m[stretch], {label: i for i, label in enumerate(markers)}
    landmarks = {name: locate(name, mirrored, markers=markers, positions_m=positions) for name in names}
    return {} if np.isnan(landmarks[model.end]).all() else landmarks
