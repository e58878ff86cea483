"""From a recording to the motion of a planar chain: landmarks, gaps, plane, filter, angles, derivatives, load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, lengths, runs
from limbtorque.chain.body_segments import segment_chain, table_row
from limbtorque.chain.inverse import RigidChainFit, fit_rigid_chain
from limbtorque.chain.model import Chain
from limbtorque.errors import LandmarkError, SignalError
from limbtorque.motion.external_load import external_load
from limbtorque.motion.flexion import find_flexion, reversed_flexion_deg, reversed_flexion_share, undecided_flexion
from limbtorque.motion.ground_reaction import ExternalLoad
from limbtorque.motion.joint_centres import foreshortened_frames, place_joints
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.motion.plane import PlaneFrame, axis_vector
from limbtorque.motion.smoothing import smooth_joints
from limbtorque.recordings.recording import Recording
from limbtorque.signals.cutoff import CutoffChoice
from limbtorque.signals.derivatives import differentiate
from limbtorque.signals.smoothers import HALF_ORDER
from limbtorque.signals.splines import spline_derivatives
from limbtorque.study.chains import ChainModel
from limbtorque.study.settings import Settings


@dataclass(frozen=True)
class ChainMotion:
    """Motion of a planar chain and what loads it; everything inverse dynamics needs.

    Attributes
    ----------
    joints, segments : tuple of str
        Names, proximal first.
    frame : ndarray of int, shape (n_frames,)
        Frame numbers of the original capture, from 1.
    time_s : ndarray of shape (n_frames,)
        Time from the recording's first frame, s.
    rate_hz : float
        Frames per second.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joint centres and endpoint in the plane, filtered, m.
    angle_rad, velocity_rad_s, acceleration_rad_s2 : ndarray of shape (n_frames, n_joints)
        Joint angles (distal segment against proximal one; the first against the plane's x axis) and derivatives.
    base_velocity_m_s, base_acceleration_m_s2 : ndarray of shape (n_frames, 2)
        Velocity and acceleration of the first joint in the plane.
    edge, foreshortened, filled : ndarray of bool, shape (n_frames,)
        Frames within reach of an end of the filter or the differences; frames in which a segment points out of the
        plane so far that its orientation in it means nothing (angles and derivatives are NaN there), and those within
        reach of them; frames in which a marker was filled.
    chain : Chain
        Lengths and inertial constants.
    gravity_m_s2 : ndarray of shape (2,)
        Acceleration of gravity in the plane.
    plane : PlaneFrame
        The plane's axes.
    flexion_sign : ndarray of shape (n_joints,)
        +1 where counter-clockwise is flexion, -1 where it is extension.
    flexion_zero_rad : ndarray of shape (n_joints,)
        Joint angle at zero flexion.
    moment_arms_known : ndarray of bool, shape (n_joints,)
        Whether sampled moment arms hold in this plane.
    load : ExternalLoad
        Load on the last segment.
    cutoff_hz : tuple of float
        Cut-off of all joint centres, or of each, Hz; empty without a filter.
    cutoffs : tuple of CutoffChoice
        What the trial's data say of the cut-off of all joint centres, or of each; empty where they are too few to tell.
    quality : dict of str to float
        What was measured about the trial.
    notes : tuple of str
        What was found and decided.
    """

    joints: tuple[str, ...]
    segments: tuple[str, ...]
    frame: NDArray[np.int64]
    time_s: FloatArray
    rate_hz: float
    joint_m: FloatArray
    angle_rad: FloatArray
    velocity_rad_s: FloatArray
    acceleration_rad_s2: FloatArray
    base_velocity_m_s: FloatArray
    base_acceleration_m_s2: FloatArray
    edge: BoolArray
    foreshortened: BoolArray
    filled: BoolArray
    chain: Chain
    gravity_m_s2: FloatArray
    plane: PlaneFrame
    flexion_sign: FloatArray
    flexion_zero_rad: FloatArray
    moment_arms_known: BoolArray
    load: ExternalLoad
    cutoff_hz: tuple[float, ...]
    cutoffs: tuple[CutoffChoice, ...]
    quality: dict[str, float]
    notes: tuple[str, ...]


def chain_motion(
    recording: Recording,
    *,
    chain: str,
    side: str,
    marker_set: str,
    body_mass_kg: float,
    settings: Settings,
    prefix: str = "",
    load: str = "",
    start_s: float | None = None,
    end_s: float | None = None,
    measured: Mapping[str, float] | None = None,
    study_cutoff_hz: float | None = None,
) -> ChainMotion:
    """Motion of a limb, as a planar chain, from a recording.

    Parameters
    ----------
    recording : Recording
        Markers and force plates.
    chain : str
        Name of the chain, built-in or of the settings.
    side : {"left", "right"}
        Which limb.
    marker_set : str
        Which of the settings' marker sets names its markers.
    body_mass_kg : float
        Body mass, kg.
    settings : Settings
        All options.
    prefix : str, optional
        Subject prefix of the labels.
    load : str, optional
        Name of an external load of the settings.
    start_s, end_s : float, optional
        Window of the recording, s from its first frame.
    measured : mapping of str to float, optional
        The subject's own segment parameters.
    study_cutoff_hz : float, optional
        Cut-off of the whole study, Hz; needed where `filter.scope` is ``study`` and `filter.cutoff_hz` is not a number.

    Returns
    -------
    ChainMotion
        Motion of the longest stretch in which all joints are known.

    Raises
    ------
    TrialError
        Anything that keeps the trial from being analysed, with what to do about it.
    """
    model = settings.chain(chain)
    mapping = LandmarkMap(settings.marker_sets[marker_set], settings.substitutes.get(marker_set, {}), side, prefix)
    placed = place_joints(recording, model=model, mapping=mapping, settings=settings, start_s=start_s, end_s=end_s)
    stretch, plane, landmarks = placed.prepared.stretch, placed.plane, placed.landmarks
    smoothed = smooth_joints(
        placed.joints_m @ plane.axes.T,
        rate_hz=recording.rate_hz,
        settings=settings,
        names=[*(joint.name for joint in model.joints), "endpoint"],
        study_cutoff_hz=study_cutoff_hz,
    )
    joint_m, depth_m = smoothed.values[..., :2], smoothed.values[..., 2]
    flexion = find_flexion(model, plane, side, landmarks)
    foreshortened = foreshortened_frames(
        placed.joints_m, plane, reach=smoothed.reach, min_projection=settings.plane.min_projection
    )
    if foreshortened.all():
        raise SignalError(
            f"{recording.source}: in every frame a segment points out of the plane (or the filter reaches from one that does), "
            f"its projection below {settings.plane.min_projection:g} of its length; choose another plane.kind or forward_axis"
        )
    speed_m_s = _top_speed(joint_m, recording.rate_hz, settings)
    fit_quality: dict[str, float] = {}
    if settings.motion.angles == "rigid_chain":
        fit = _rigid_chain(joint_m, foreshortened, recording)
        joint_m = fit.joint_m
        fit_quality["chain_fit_m"] = float(np.sqrt((fit.distance_m[~foreshortened] ** 2).mean()))
    kinematics = _blanked(_kinematics(joint_m, recording.rate_hz, settings), foreshortened, flexion.zero_rad)
    edge = _edges(len(joint_m), smoothed.reach)
    external = external_load(
        recording,
        load=settings.loads[load] if load else None,
        model=model,
        mapping=mapping,
        settings=settings,
        smoother=smoothed.smoother,
        cutoff_hz=max(smoothed.cutoff_hz, default=None),
        plane=plane,
        stretch=stretch,
        landmarks=landmarks,
        joint_m=joint_m,
        depth_m=depth_m,
    )
    quality = {
        "n_frames_recorded": float(recording.n_frames),
        "n_frames": float(len(joint_m)),
        "rate_hz": recording.rate_hz,
        "edge_share": float(edge.mean()),
        "foreshortened_share": float(foreshortened.mean()),
        "speed_m_s": speed_m_s,
        "reversed_flexion_deg": reversed_flexion_deg(model, flexion, kinematics.angle),
        "reversed_flexion_share": reversed_flexion_share(model, flexion, kinematics.angle),
        "undecided_flexion": undecided_flexion(model, flexion, kinematics.angle),
        "up_axis_deg": _leg_tilt_deg(model, placed.joints_m, settings),
        **placed.quality,
        **smoothed.quality,
        **fit_quality,
        **external.quality,
    }
    quality["up_axis_deg"] = max(quality["up_axis_deg"], quality.pop("plate_tilt_deg", 0.0))
    return ChainMotion(
        joints=tuple(joint.name for joint in model.joints),
        segments=tuple(segment.name for segment in model.segments),
        frame=recording.first_frame + np.arange(stretch.start, stretch.stop),
        time_s=np.arange(stretch.start, stretch.stop) / recording.rate_hz,
        rate_hz=recording.rate_hz,
        joint_m=joint_m,
        angle_rad=kinematics.angle,
        velocity_rad_s=kinematics.velocity,
        acceleration_rad_s2=kinematics.acceleration,
        base_velocity_m_s=kinematics.base_velocity,
        base_acceleration_m_s2=kinematics.base_acceleration,
        edge=edge,
        foreshortened=foreshortened,
        filled=placed.prepared.filled[stretch],
        chain=_constants(
            model, settings.segments.table, landmarks, placed.planarity.length_m, joint_m, body_mass_kg, measured or {}
        ),
        gravity_m_s2=plane.gravity(settings.gravity_m_s2, axis_vector(settings.plane.up_axis)),
        plane=plane,
        flexion_sign=flexion.sign,
        flexion_zero_rad=flexion.zero_rad,
        moment_arms_known=flexion.moment_arms_known,
        load=external,
        cutoff_hz=smoothed.cutoff_hz,
        cutoffs=smoothed.choices,
        quality=quality,
        notes=(
            *placed.notes,
            *smoothed.notes,
            *flexion.notes,
            *external.notes,
        ),
    )


def _constants(
    model: ChainModel,
    table: str,
    landmarks: Mapping[str, FloatArray],
    length_m: FloatArray,
    joint_m: FloatArray,
    body_mass_kg: float,
    measured: Mapping[str, float],
) -> Chain:
    """Constants of the chain; lengths are those of the projection (docs/decisions/0002).

    A segment inclined to the plane projects shorter, and so does its mass: its table length is shortened alike.
    """
    link_length = lengths(np.diff(joint_m, axis=1)).mean(axis=0)
    between = {}
    for segment, shortening in zip(model.segments, link_length / length_m, strict=True):
        row = table_row(table, segment.row)
        distances = lengths(landmarks[row.distal] - landmarks[row.proximal])
        if np.isnan(distances).all():
            raise LandmarkError(
                f"segment {segment.name}: {row.proximal} and {row.distal} are never seen together, so its length is unknown"
            )
        between[segment.row] = (row.proximal, row.distal, float(np.nanmean(distances) * shortening))
    return segment_chain(
        [segment.row for segment in model.segments],
        table=table,
        body_mass_kg=body_mass_kg,
        link_length_m=link_length,
        measured_between=between,
        measured=_shortened(measured, model, link_length / length_m),
    )


def _shortened(measured: Mapping[str, float], model: ChainModel, shares: FloatArray) -> dict[str, float]:
    """A subject's own segment parameters as the plane sees them: lengths by the share, inertia by its square."""
    powers = {"length_m": 1, "com_m": 1, "inertia_kgm2": 2, "mass_kg": 0}
    return {
        name: measured[name] * share**power
        for segment, share in zip(model.segments, shares.tolist(), strict=True)
        for quantity, power in powers.items()
        if (name := f"{segment.row}_{quantity}") in measured
    }


@dataclass(frozen=True)
class _Kinematics:
    """Joint angles and the base's motion, with derivatives that agree with each other."""

    angle: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    base_velocity: FloatArray
    base_acceleration: FloatArray


def _kinematics(joint_m: FloatArray, rate_hz: float, settings: Settings) -> _Kinematics:
    angle = _joint_angles(joint_m)
    n_joints = angle.shape[1]
    first, second = _derivatives(np.hstack([angle, joint_m[:, 0]]), rate_hz, settings)
    return _Kinematics(
        angle,
        first[:, :n_joints],
        second[:, :n_joints],
        base_velocity=first[:, n_joints:],
        base_acceleration=second[:, n_joints:],
    )


def _derivatives(values: FloatArray, rate_hz: float, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """By the spline of the degree that smoothed the positions, or else by central differences."""
    if settings.filter.method in HALF_ORDER:
        return spline_derivatives(values, rate_hz=rate_hz, half_order=HALF_ORDER[settings.filter.method])
    return differentiate(values, rate_hz=rate_hz, accuracy=settings.differentiation.accuracy)


def _rigid_chain(joint_m: FloatArray, foreshortened: BoolArray, recording: Recording) -> RigidChainFit:
    """Joints of a chain whose links keep their lengths; frames in which a segment leaves the plane have no say in them."""
    fit = fit_rigid_chain(joint_m, counted=~foreshortened)
    if not fit.success:
        raise SignalError(
            f"{recording.source}: no rigid chain fits the joints (no rest in {fit.iterations} steps): they are not those of links "
            "of constant length in this plane; check the markers for swapped labels, or set motion.angles to segments"
        )
    return fit


def _joint_angles(joint_m: FloatArray) -> FloatArray:
    """Joint angles without jumps between frames."""
    steps = np.diff(joint_m, axis=1)
    orientation = np.unwrap(np.arctan2(steps[..., 1], steps[..., 0]), axis=0)
    return np.diff(orientation, axis=1, prepend=0.0)


def _blanked(kinematics: _Kinematics, foreshortened: BoolArray, zero_rad: FloatArray) -> _Kinematics:
    """Angles and derivatives without the frames in which they mean nothing.

    Where an orientation was lost, so was the count of turns: every stretch between is brought to the turn at which
    its median is nearest to zero flexion.
    """
    angle, velocity, acceleration = kinematics.angle.copy(), kinematics.velocity.copy(), kinematics.acceleration.copy()
    for values in (angle, velocity, acceleration):
        values[foreshortened] = np.nan
    for start, stop in runs(~foreshortened):
        median = np.median(angle[start:stop], axis=0)
        angle[start:stop] -= 2.0 * np.pi * np.round((median - zero_rad) / (2.0 * np.pi))
    return replace(kinematics, angle=angle, velocity=velocity, acceleration=acceleration)


def _leg_tilt_deg(model: ChainModel, joints_3d: FloatArray, settings: Settings) -> float:
    """Angle between the up axis and the mean direction from the last joint to the first; 0 for limbs off the ground."""
    if not model.ground_contact:
        return 0.0
    direction = (joints_3d[:, 0] - joints_3d[:, -2]).mean(axis=0)
    cosine = direction @ axis_vector(settings.plane.up_axis) / np.linalg.norm(direction)
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def _top_speed(joint_m: FloatArray, rate_hz: float, settings: Settings) -> float:
    steps = np.diff(joint_m, axis=0)
    speed = float(lengths(steps).max() * rate_hz)
    if speed > settings.reading.max_speed_m_s:
        raise SignalError(
            f"a joint moves at {speed:.4g} m/s, more than a body can ({settings.reading.max_speed_m_s:g} m/s, reading.max_speed_m_s); "
            "check the units and the rate of the file (reading.length_unit, reading.rate_hz), and swapped markers"
        )
    return speed


def _edges(n_frames: int, reach: int) -> BoolArray:
    frames = np.arange(n_frames)
    return (frames < reach) | (frames >= n_frames - reach)
