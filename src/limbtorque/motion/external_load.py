"""External load on a limb: none, one of the settings, or the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import LoadError
from limbtorque.motion.both_sides import Side, opposite, side_landmarks
from limbtorque.motion.foot import Foot, Strikes, find_foot, landed
from limbtorque.motion.gait_events import file_strikes, oconnor_events, zeni_events
from limbtorque.motion.ground_reaction import ExternalLoad, ground_load, hand_load, no_load, stance_without_foot
from limbtorque.motion.joint_centres import Placement
from limbtorque.motion.landmarks import LandmarkMap, contact_landmarks
from limbtorque.motion.limb import Limb
from limbtorque.motion.load_filter import LOST, load_moment_lost
from limbtorque.motion.plane import axis_vector
from limbtorque.motion.plate_assignment import Feet, Stretch
from limbtorque.motion.plate_signals import Reading, Smoothing, loading_onsets, read_plates
from limbtorque.motion.smoothing import SmoothedJoints
from limbtorque.recordings.recording import Recording
from limbtorque.signals.derivatives import differentiate, first_derivative
from limbtorque.signals.smoothers import Smoother
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.loads import Plates
from limbtorque.study.options.signal import Gaps
from limbtorque.study.settings import Settings

LEAST_SPEED_M_S = 0.2  # of the hip: slower, the direction of walking is unknown


def external_load(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
    placed: Placement,
    smoothed: SmoothedJoints,
    joint_m: FloatArray,
    readings: Sequence[Reading],
) -> ExternalLoad:
    """External load on the last segment of a limb.

    Parameters
    ----------
    recording : Recording
        For its force plates and the other foot's markers.
    limb : Limb
        Chain, side and markers; its load replaces any other.
    settings : Settings
        Options of plates and filter, and the loads.
    placed : Placement
        Landmarks, plane and analysed frames of the limb.
    smoothed : SmoothedJoints
        Smoothed joint positions: method for the plates, and coordinates along the plane's normal.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joints and endpoint in the plane, m.
    readings : sequence of Reading
        From `plate_readings`.

    Returns
    -------
    ExternalLoad
        The load in the plane.

    Raises
    ------
    LoadError
        A load of the settings on a limb that meets the ground: the two cannot be combined.
    """
    model, plane = limb.model(settings), placed.plane
    on_ground = meets_ground(limb, settings)
    load = limb.external_load(settings)
    if load is not None:
        if on_ground:
            raise LoadError(
                "a load of the settings cannot be combined with the ground that this limb meets; "
                "set plates.assignment to none if the foot was in the air, or leave the column load empty"
            )
        in_space = np.concatenate([joint_m, smoothed.values[..., 2:]], axis=2)
        return hand_load(load, frame=plane, last_joint_m=in_space[:, -2], end_m=in_space[:, -1])
    if not on_ground:
        return no_load(len(joint_m))
    mapping, frames, up = limb.landmarks(settings), placed.prepared.stretch, axis_vector(settings.plane.up_axis)
    hip_m = smoothed.values[:, 0] @ plane.axes
    belt = -settings.plates.belt_speed_m_s * plane.axes[0]
    stretch = Stretch(frames, recording.first_frame + frames.start, recording.rate_hz)
    if not model.foot:
        ankle_m = placed.landmarks[model.end]
        return stance_without_foot(ankle_m, stretch=stretch, settings=settings.plates, belt_m_s=belt)
    case = _Case(recording, model, settings.plates, frames, hip_m, belt, up)
    other = _other_landmarks(case, mapping, settings.gaps)
    own = _foot(case, placed.landmarks, mapping)
    feet = Feet(
        landed(replace(own, strikes=_strikes(case, own)), rate_hz=recording.rate_hz),
        landed(_foot(case, other, opposite(mapping)), rate_hz=recording.rate_hz) if other else None,
        _body_n(case, limb.body_mass_kg, settings.gravity_m_s2),
    )
    cutoff_hz = max(smoothed.cutoff_hz, default=None)
    force_cutoff = None if cutoff_hz is None else settings.filter.force_cutoff_hz or cutoff_hz
    ground = ground_load(
        recording.force_plates,
        feet,
        joint_m[:, -2],
        readings=readings,
        stretch=stretch,
        smoothing=_plate_smoothing(smoothed, force_cutoff, settings),
        settings=settings.plates,
        frame=plane,
        up=up,
    )
    names = [joint.name for joint in model.joints]
    lost = load_moment_lost(ground, joint_m)
    share = float(np.fmax.reduce(lost, initial=np.nan))
    ground = replace(ground, metrics={**ground.metrics, "load_moment_lost_share": share})
    alone = () if other else ("the other foot is not mapped or not visible: a shared plate is not detected",)
    notes = (*alone, *_unlike(smoothed.smoother, force_cutoff, cutoff_hz), *_lost(lost, names), *ground.notes)
    return replace(ground, notes=notes)


def _lost(lost: FloatArray, names: Sequence[str]) -> list[str]:
    """Note on the part of the load's moment that the filter removes, by joint."""
    if np.isnan(lost).all():
        return []
    shares = ", ".join(f"{name} {100.0 * share:.0f} %" for name, share in zip(names, lost.tolist(), strict=True))
    return [f"{LOST}: {shares}"]


def meets_ground(limb: Limb, settings: Settings) -> bool:
    """Return True where the ground may load the limb (`plates.assignment`)."""
    return limb.model(settings).ground_contact and settings.plates.assignment != "none"


def plate_readings(recording: Recording, limb: Limb, settings: Settings, frames: slice) -> list[Reading]:
    """Signals of the plates that may be used; none of limbs off the ground.

    Parameters
    ----------
    recording : Recording
        For its force plates.
    limb : Limb
        Its chain may stand on the ground; a load of its own replaces the plates.
    settings : Settings
        Options of plates.
    frames : slice
        The analysed frames.

    Raises
    ------
    LoadError
        A plate of `plates.assignment` is not in the recording, or its samples do not fit the frames.
    """
    if limb.load or not meets_ground(limb, settings) or not limb.model(settings).foot:
        return []
    up = axis_vector(settings.plane.up_axis)
    return read_plates(recording.force_plates, frames, recording.rate_hz, settings=settings.plates, up=up)


def impact_times(
    readings: Sequence[Reading], placed: Placement, settings: Settings, rate_hz: float
) -> tuple[float, ...]:
    """Times at which the foot begins to load plates; none of limbs off the ground.

    Parameters
    ----------
    readings : sequence of Reading
        From `plate_readings`.
    placed : Placement
        Joint centres, not filtered.
    settings : Settings
        Options of plates and filter.
    rate_hz : float
        Frames per second.

    Returns
    -------
    tuple of float
        Times from the first analysed frame, s.
    """
    if not readings or settings.filter.force_cutoff_hz is not None:
        return ()
    up, foot_m = axis_vector(settings.plane.up_axis), placed.joints_m[:, -2:].mean(axis=1)
    return loading_onsets(readings, foot_m, rate_hz=rate_hz, up=up, settings=settings.plates)


def _plate_smoothing(smoothed: SmoothedJoints, force_cutoff_hz: float | None, settings: Settings) -> Smoothing | None:
    """Smoothing of the plates: that of the joints unless they have their own."""
    if smoothed.smoother is None or force_cutoff_hz is None:
        return None
    if settings.filter.force_cutoff_hz is not None:
        return Smoothing(smoothed.smoother, force_cutoff_hz)
    return Smoothing(smoothed.smoother, force_cutoff_hz, smoothed.impact_hz, smoothed.impacts_s)


@dataclass(frozen=True)
class _Case:
    """Recording, chain and analysed frames that both feet have in common."""

    recording: Recording
    model: ChainModel
    plates: Plates
    stretch: slice
    hip_m: FloatArray
    belt_m_s: FloatArray
    up: FloatArray


def _body_n(case: _Case, mass_kg: float, gravity_m_s2: float) -> FloatArray:
    """Vertical force that carries a body with the hip's acceleration, N."""
    _, acceleration = differentiate(case.hip_m @ case.up, rate_hz=case.recording.rate_hz)
    return np.asarray(mass_kg * (gravity_m_s2 + acceleration))


def _unlike(smoother: Smoother | None, force_cutoff_hz: float | None, cutoff_hz: float | None) -> list[str]:
    """Warning where force plates and markers are filtered differently."""
    if smoother is None or force_cutoff_hz is None or cutoff_hz is None:
        return [
            "force plates are averaged over each frame, not filtered: vibration above half the frame rate is aliased"
        ]
    if not smoother.strategy.one_gain:
        return [
            f"{smoother.method} smooths forces and differentiates positions with different gains: torques at impacts are unreliable"
        ]
    if force_cutoff_hz == cutoff_hz:
        return []
    return [
        f"force plates are filtered at {force_cutoff_hz:g} Hz, joint positions at {cutoff_hz:g} Hz: torques at impacts are "
        "unreliable (filter.force_cutoff_hz)"
    ]


def _foot(case: _Case, landmarks: Mapping[str, FloatArray], mapping: LandmarkMap) -> Foot:
    """Foot with its contacts by speed."""
    contact = contact_landmarks(case.model, mapping, case.plates)
    back, ankle = landmarks[_back(case.model, contact)], landmarks[case.model.joints[-1].landmark]
    return find_foot(
        {name: landmarks[name] for name in contact or [case.model.end]},
        ends=(np.where(np.isnan(back), ankle, back), landmarks[case.model.end]),
        settings=case.plates,
        rate_hz=case.recording.rate_hz,
        belt_m_s=case.belt_m_s,
        side=mapping.side,
    )


def _strikes(case: _Case, foot: Foot) -> Strikes:
    """Strikes and offs of a foot, by the file and by the markers."""
    rate_hz = case.recording.rate_hz
    flat = np.eye(3) - np.outer(case.up, case.up)
    velocity = first_derivative(case.hip_m @ flat, rate_hz=rate_hz, accuracy=2)
    velocity = velocity - case.belt_m_s
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    way = np.divide(velocity, speed, where=speed > LEAST_SPEED_M_S, out=np.full_like(velocity, np.nan))
    heel, toe = (np.sum(way * (end - case.hip_m), axis=1) for end in (foot.back_m, foot.front_m))
    return Strikes(
        file_strikes(case.recording.events, foot.side, rate_hz=rate_hz, first=case.stretch.start),
        zeni_events(heel, toe, rate_hz=rate_hz),
        oconnor_events(foot.back_m @ case.up, foot.front_m @ case.up, rate_hz=rate_hz),
    )


def _back(model: ChainModel, contact: list[str]) -> str:
    """Rear landmark of the foot's line: a contact landmark, or the last joint."""
    return next((name for name in contact if name != model.end), model.joints[-1].landmark)


def _other_landmarks(case: _Case, mapping: LandmarkMap, gaps: Gaps) -> Side:
    """Landmarks of the other foot over the same frames; empty without its markers."""
    mirrored = opposite(mapping)
    contact = contact_landmarks(case.model, mapping.anatomical(), case.plates)
    names = {*contact, _back(case.model, contact), case.model.joints[-1].landmark, case.model.end}
    found = side_landmarks(case.recording, mirrored, names, gaps=gaps, frames=case.stretch)
    return {} if not found or np.isnan(found[case.model.end]).all() else found
