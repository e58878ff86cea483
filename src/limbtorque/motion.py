"""From a recording to the motion of a planar chain: landmarks, gaps, plane, filter, angles, derivatives, load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.chain.inverse import RigidChainFit, fit_rigid_chain
from limbtorque.chain.model import Chain
from limbtorque.errors import LandmarkError, SegmentError, SignalError
from limbtorque.external import contact_landmarks, external_load
from limbtorque.functional import functional_landmarks
from limbtorque.landmarks import LandmarkMap, locate, needed_markers
from limbtorque.loads import ExternalLoad
from limbtorque.plane import Planarity, PlaneFrame, axis_vector, find_plane, planarity
from limbtorque.prepare import prepare_markers
from limbtorque.recording import Recording
from limbtorque.segments import LONGEST_M, segment_chain, table_row
from limbtorque.settings import ChainModel, CutoffCriterion, Filter, Settings
from limbtorque.signals.arrays import lengths, runs
from limbtorque.signals.bandwidth import judge_cutoff
from limbtorque.signals.cutoff import CutoffChoice, choose_cutoff
from limbtorque.signals.derivatives import differentiate, differentiation_reach
from limbtorque.signals.smooth import Scope, smooth_positions
from limbtorque.signals.smoothers import HALF_ORDER, Smoother
from limbtorque.signals.splines import spline_derivatives

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

SHORTEST_SEGMENT_M = 0.01
UNDECIDED_DEG = 10.0


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
    joint_names = [*(joint.landmark for joint in model.joints), model.end]
    contact_names = contact_landmarks(model, mapping, settings.plates)
    needed = {*joint_names, *_length_landmarks(model, settings.segments.table), *contact_names}
    markers = needed_markers(recording, mapping, needed)
    prepared = prepare_markers(
        recording,
        markers=markers,
        chain_labels={label for name in joint_names for label in mapping.labels(name)},
        settings=settings,
        start_s=start_s,
        end_s=end_s,
    )
    stretch = prepared.stretch
    positions = prepared.markers_m[stretch]
    anatomical = {name: locate(name, mapping, markers=prepared.index, positions_m=positions) for name in needed}
    joints_3d = np.stack([anatomical[name] for name in joint_names], axis=1)
    plane = find_plane(settings.plane, joints_3d)
    functional = functional_landmarks(
        anatomical,
        mapping=mapping,
        markers=prepared.index,
        positions_m=positions,
        plane=plane,
        counted=~_foreshortened(joints_3d, plane, 0, settings),
        min_range_deg=settings.motion.functional_min_range_deg,
    )
    landmarks = functional.landmarks
    joints_3d = np.stack([landmarks[name] for name in joint_names], axis=1)
    planar = planarity(plane, joints_3d)
    _check_lengths(model, planar.length_m, recording)
    smoothed = _filtered(joints_3d @ plane.axes.T, recording, settings, study_cutoff_hz)
    joint_m, depth_m = smoothed.values[..., :2], smoothed.values[..., 2]
    flexion = _flexion(model, plane, side, landmarks)
    foreshortened = _foreshortened(joints_3d, plane, smoothed.reach, settings)
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
        "gap_share": float(prepared.filled[stretch].mean()),
        "gap_error_m": prepared.gap_error_m,
        "swapped_frames": float(prepared.swapped_frames),
        "spike_frames": float(prepared.spike_frames),
        "longest_unfilled_gap_s": prepared.longest_gap_frames / recording.rate_hz,
        "out_of_plane_share": planar.out_of_plane_share,
        "tilt_deg": float(planar.tilt_deg.max()),
        "length_variation": float(planar.length_variation.max()),
        "edge_share": float(edge.mean()),
        "foreshortened_share": float(foreshortened.mean()),
        "speed_m_s": speed_m_s,
        "reversed_flexion_deg": _reversed_flexion(model, flexion, kinematics.angle),
        "undecided_flexion": _undecided_flexion(model, flexion, kinematics.angle),
        "up_axis_deg": _leg_tilt_deg(model, joints_3d, settings),
        **functional.quality,
        **smoothed.quality,
        **_judged(joints_3d @ plane.axes.T, recording.rate_hz, smoothed),
        **fit_quality,
        **external.quality,
    }
    quality["up_axis_deg"] = max(quality["up_axis_deg"], quality.pop("plate_tilt_deg", 0.0))
    substitutes = sorted(mapping.used_substitutes(needed).items())
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
        filled=prepared.filled[stretch],
        chain=_constants(
            model, settings.segments.table, landmarks, planar.length_m, joint_m, body_mass_kg, measured or {}
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
            *(f"landmark {needed}: {stand_in} stands for it" for needed, stand_in in substitutes),
            *prepared.notes,
            *functional.notes,
            *smoothed.notes,
            *flexion.notes,
            _planarity_note(model, planar),
            *external.notes,
        ),
    )


def _length_landmarks(model: ChainModel, table: str) -> list[str]:
    rows = [table_row(table, segment.row) for segment in model.segments]
    return [landmark for row in rows for landmark in (row.proximal, row.distal)]


def _check_lengths(model: ChainModel, length_m: FloatArray, recording: Recording) -> None:
    for segment, length in zip(model.segments, length_m, strict=True):
        if not SHORTEST_SEGMENT_M < length < LONGEST_M:
            raise SegmentError(
                f"{recording.source}: segment {segment.name} is {length:.4g} m long, expected {SHORTEST_SEGMENT_M} to "
                f"{LONGEST_M} m; check the marker mapping and POINT:UNITS of the file"
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


def _planarity_note(model: ChainModel, planar: Planarity) -> str:
    parts = [
        f"{segment.name} {tilt:.0f} deg and {100 * variation:.1f} %"
        for segment, tilt, variation in zip(model.segments, planar.tilt_deg, planar.length_variation, strict=True)
    ]
    return f"inclination to the plane and variation of length: {', '.join(parts)}"


@dataclass(frozen=True)
class _Smoothed:
    """Smoothed positions, how far their ends are felt, and with which cut-offs."""

    values: FloatArray
    reach: int
    smoother: Smoother | None
    cutoff_hz: tuple[float, ...]
    choices: tuple[CutoffChoice, ...]
    quality: dict[str, float]
    notes: tuple[str, ...]


def _filtered(values: FloatArray, recording: Recording, settings: Settings, study_cutoff_hz: float | None) -> _Smoothed:
    """Joint centres, (n_frames, n_joints + 1, 3), smoothed; reach includes that of the differences."""
    chosen, accuracy, rate_hz = settings.filter, settings.differentiation.accuracy, recording.rate_hz
    if chosen.method == "none":
        return _Smoothed(values, differentiation_reach(accuracy), None, (), (), {}, ())
    smoother = Smoother(chosen.method, chosen.order, accuracy, None if chosen.ends == "auto" else chosen.ends)
    given_hz = chosen.cutoff_hz if isinstance(chosen.cutoff_hz, float) else None
    if given_hz is None and chosen.scope == "study":
        given_hz = study_cutoff_hz
        if given_hz is None:
            raise SignalError(
                f"{recording.source}: filter.scope is 'study', and the study has no cut-off: run it with snakemake, with at least "
                "one trial that can be analysed, or set filter.cutoff_hz to a number"
            )
    by = "expected_error" if isinstance(chosen.cutoff_hz, float) else chosen.cutoff_hz
    if given_hz is None:
        scope: Scope = "joint" if chosen.scope == "joint" else "trial"
        found = smooth_positions(values, rate_hz=rate_hz, smoother=smoother, cutoff=by, scope=scope)
        choices = found.choices
    else:
        found = smooth_positions(values, rate_hz=rate_hz, smoother=smoother, cutoff=given_hz)
        choices = _own_choice(values, rate_hz, smoother, by)
    reach = found.reach + (differentiation_reach(accuracy) if chosen.method == "savitzky_golay" else 0)
    quality = {"cutoff_hz": max(found.cutoff_hz)}
    if choices:
        quality |= {
            "own_cutoff_hz": max(choice.cutoff_hz for choice in choices),
            "cutoff_at_limit": float(any(choice.at_limit for choice in choices)),
        }
    note = _cutoff_note(found.cutoff_hz, choices, chosen)
    return _Smoothed(found.values, reach, smoother, found.cutoff_hz, choices, quality, (note,))


def _own_choice(
    values: FloatArray, rate_hz: float, smoother: Smoother, by: CutoffCriterion
) -> tuple[CutoffChoice, ...]:
    """What the trial's own data would ask for, where the cut-off was given; nothing where they are too few to tell."""
    try:
        return (choose_cutoff(values, rate_hz=rate_hz, smoother=smoother, by=by),)
    except SignalError:
        return ()


def _cutoff_note(cutoffs_hz: tuple[float, ...], choices: tuple[CutoffChoice, ...], chosen: Filter) -> str:
    used = ", ".join(f"{cutoff_hz:.2f}" for cutoff_hz in cutoffs_hz)
    if not choices:
        return f"cut-off {used} Hz, as given; the trial is too short to tell its own"
    noise = f"noise about {1e3 * max(choice.noise for choice in choices):.2g} mm"
    own = f"{choices[0].cutoff_hz:.2f} Hz by {choices[0].by}"
    if isinstance(chosen.cutoff_hz, float):
        return f"cut-off {used} Hz, as given; the trial's own would be {own}; {noise}"
    if chosen.scope == "study":
        return f"cut-off {used} Hz, of the study; the trial's own would be {own}; {noise}"
    return f"cut-off {used} Hz by {choices[0].by}; {noise}"


def _judged(values: FloatArray, rate_hz: float, smoothed: _Smoothed) -> dict[str, float]:
    """Noise of the joint centres, and the share of their acceleration that the filter takes away (at its lowest cut-off)."""
    if smoothed.smoother is None:
        found = judge_cutoff(values, rate_hz=rate_hz)
    else:
        found = judge_cutoff(values, rate_hz=rate_hz, smoother=smoothed.smoother, cutoff_hz=min(smoothed.cutoff_hz))
    return {"noise_m": found.noise, "bandwidth_hz": found.bandwidth_hz, "acceleration_lost_share": found.lost_share}


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


@dataclass(frozen=True)
class _Flexion:
    """Sense and zero of flexion of each joint in the plane, and whether sampled moment arms hold in it."""

    sign: FloatArray
    zero_rad: FloatArray
    moment_arms_known: BoolArray
    notes: tuple[str, ...]


def _flexion(model: ChainModel, plane: PlaneFrame, side: str, landmarks: Mapping[str, FloatArray]) -> _Flexion:
    known = np.array([joint.moment_arms_in_any_plane or plane.view == "sagittal" for joint in model.joints])
    if plane.view == "horizontal":
        mirror = 1.0 if side == "right" else -1.0
        sign = np.array([mirror * joint.flexion_right_horizontal for joint in model.joints])
        return _Flexion(sign, np.zeros(len(model.joints)), known, ())
    notes = []
    if plane.view == "oblique":
        notes.append("the plane is neither sagittal nor horizontal: the sense of flexion is that of the sagittal plane")
    zero = np.radians([joint.flexion_zero_deg for joint in model.joints])
    for i, joint in enumerate(model.joints):
        if joint.sole is None:
            continue
        back, front = joint.sole
        if _seen_together(landmarks, back, front):
            distal = model.joints[i + 1].landmark if i + 1 < len(model.joints) else model.end
            slope = _between_deg(landmarks, (joint.landmark, distal), (back, front), plane)
            zero[i] = np.radians(90.0) + np.radians(slope)
            notes.append(
                f"{joint.name}: the sole is {-slope:.0f} deg from the line to the {distal}; flexion is that of the sole"
            )
        else:
            notes.append(
                f"{joint.name}: {back} is not mapped or not seen, zero flexion is assumed at {joint.flexion_zero_deg:g} deg"
            )
    sign = np.array([float(joint.flexion_sagittal) for joint in model.joints])
    return _Flexion(sign, zero, known, tuple(notes))


def _seen_together(landmarks: Mapping[str, FloatArray], first: str, second: str) -> bool:
    if first not in landmarks or second not in landmarks:
        return False
    return bool((~np.isnan(landmarks[first] - landmarks[second])).all(axis=1).any())


def _between_deg(
    landmarks: Mapping[str, FloatArray], line: tuple[str, str], other: tuple[str, str], plane: PlaneFrame
) -> float:
    """Median angle of one line in the plane minus that of another, degrees, -180 to 180."""
    first, second = (plane.project(landmarks[b] - landmarks[a]) for a, b in (line, other))
    turned = (first[:, 0] + 1j * first[:, 1]) / (second[:, 0] + 1j * second[:, 1])
    return float(
        np.degrees(np.angle(np.median(turned[~np.isnan(turned)].real) + 1j * np.median(turned[~np.isnan(turned)].imag)))
    )


def _undecided_flexion(model: ChainModel, flexion: _Flexion, angle: FloatArray) -> float:
    """1 where joints that flex to one side only are all nearly straight: a mirrored limb could not be noticed."""
    bent = [
        abs(np.degrees(np.nanmedian(angle[:, i]) - flexion.zero_rad[i]))
        for i, joint in enumerate(model.joints)
        if joint.one_way
    ]
    return float(max(bent, default=0.0) < UNDECIDED_DEG)


def _leg_tilt_deg(model: ChainModel, joints_3d: FloatArray, settings: Settings) -> float:
    """Angle between the up axis and the mean direction from the last joint to the first; 0 for limbs off the ground."""
    if not model.ground_contact:
        return 0.0
    direction = (joints_3d[:, 0] - joints_3d[:, -2]).mean(axis=0)
    cosine = direction @ axis_vector(settings.plane.up_axis) / np.linalg.norm(direction)
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def _reversed_flexion(model: ChainModel, flexion: _Flexion, angle: FloatArray) -> float:
    """How far joints that flex to one side only are bent the other way on average, degrees; 0 where none is."""
    bent = [
        -float(np.degrees(flexion.sign[i] * (np.nanmedian(angle[:, i]) - flexion.zero_rad[i])))
        for i, joint in enumerate(model.joints)
        if joint.one_way
    ]
    return max([0.0, *bent])


def _top_speed(joint_m: FloatArray, rate_hz: float, settings: Settings) -> float:
    steps = np.diff(joint_m, axis=0)
    speed = float(lengths(steps).max() * rate_hz)
    if speed > settings.reading.max_speed_m_s:
        raise SignalError(
            f"a joint moves at {speed:.4g} m/s, more than a body can ({settings.reading.max_speed_m_s:g} m/s, reading.max_speed_m_s); "
            "check the units and the rate of the file (reading.length_unit, reading.rate_hz), and swapped markers"
        )
    return speed


def _foreshortened(joints_3d: FloatArray, plane: PlaneFrame, reach: int, settings: Settings) -> BoolArray:
    """Frames in which a segment is too far out of the plane, and those that the filter and differences reach from there."""
    segments = np.diff(joints_3d, axis=1)
    small = lengths(plane.project(segments)) < settings.plane.min_projection * lengths(segments)
    short: BoolArray = np.asarray(small.any(axis=1))
    for start, stop in runs(short):
        short[max(start - reach, 0) : stop + reach] = True
    return short


def _edges(n_frames: int, reach: int) -> BoolArray:
    frames = np.arange(n_frames)
    return (frames < reach) | (frames >= n_frames - reach)
