"""From a recording to the motion of a planar chain: landmarks, gaps, plane, filter, angles, derivatives, load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from limbtorque.chain import Chain
from limbtorque.errors import LandmarkError, SegmentError, SignalError
from limbtorque.landmarks import LandmarkMap, locate, needed_markers
from limbtorque.loads import ExternalLoad, Foot, find_foot, ground_load, hand_load, no_load
from limbtorque.plane import PlaneFrame, axis_vector, find_plane, planarity
from limbtorque.recording import Recording
from limbtorque.segments import segment_chain, table_row
from limbtorque.settings import ChainModel, Settings
from limbtorque.tables import column_array, kinematics_columns, make_table
from limbtorque.signals import differentiate, differentiation_reach, fill_gaps, filter_reach, low_pass, runs

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LONGEST_SEGMENT_M = 1.5
SHORTEST_SEGMENT_M = 0.01


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
    base_acceleration_m_s2 : ndarray of shape (n_frames, 2)
        Acceleration of the first joint in the plane.
    edge, foreshortened, filled : ndarray of bool, shape (n_frames,)
        Frames within reach of an end of the filter or the differences; frames in which a segment points out of the
        plane so far that its orientation in it means nothing (velocities and accelerations are NaN there); frames
        in which a marker was filled.
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
    mapping = LandmarkMap(
        settings.marker_sets[marker_set], settings.substitutes.get(marker_set, {}), side, prefix
    )
    window = _window(recording, start_s, end_s)
    joint_names = [*(joint.landmark for joint in model.joints), model.end]
    length_names = _length_landmarks(model, settings.segments.table)
    contact_names = _contact_landmarks(model, mapping, settings)
    markers = needed_markers(recording, mapping, {*joint_names, *length_names, *contact_names})
    chain_labels = {label for name in joint_names for label in mapping.weights(name)}
    prepared = _prepare(recording, markers, chain_labels, window, settings)
    positions, stretch = prepared.markers_m[prepared.stretch], prepared.stretch
    landmarks = {
        name: locate(name, mapping, markers=prepared.index, positions_m=positions)
        for name in {*joint_names, *length_names, *contact_names}
    }
    joints_3d = np.stack([landmarks[name] for name in joint_names], axis=1)
    plane = find_plane(settings.plane, joints_3d)
    planar = planarity(plane, joints_3d)
    _check_lengths(model, planar.length_m, recording)
    joint_m = _filtered(plane.project(joints_3d), recording.rate_hz, settings)
    link_length = np.linalg.norm(np.diff(joint_m, axis=1), axis=2).mean(axis=0)
    constants = segment_chain(
        [segment.row for segment in model.segments],
        table=settings.segments.table,
        body_mass_kg=body_mass_kg,
        link_length_m=link_length,
        measured_between=_measured_lengths(
            model, settings.segments.table, landmarks, link_length / planar.length_m
        ),
        measured=measured or {},
    )
    sign, zero, known, sense_notes = _flexion(model, plane, side)
    angle = _joint_angles(joint_m, zero)
    velocity, acceleration = differentiate(
        angle, rate_hz=recording.rate_hz, accuracy=settings.differentiation.accuracy
    )
    foreshortened = _foreshortened(joints_3d, plane, settings)
    velocity[foreshortened], acceleration[foreshortened] = np.nan, np.nan
    _, base_acceleration = differentiate(
        joint_m[:, 0], rate_hz=recording.rate_hz, accuracy=settings.differentiation.accuracy
    )
    external = _external_load(
        recording, model, mapping, plane, settings, load, stretch, landmarks, joint_m, contact_names
    )
    quality = {
        "n_frames_recorded": float(recording.n_frames),
        "n_frames": float(len(angle)),
        "rate_hz": recording.rate_hz,
        "gap_share": float(prepared.filled[stretch].mean()),
        "longest_unfilled_gap_s": prepared.longest_gap_frames / recording.rate_hz,
        "out_of_plane_share": planar.out_of_plane_share,
        "tilt_deg": float(planar.tilt_deg.max()),
        "length_variation": float(planar.length_variation.max()),
        "edge_share": float(_edges(len(angle), recording.rate_hz, settings).mean()),
        "foreshortened_share": float(foreshortened.mean()),
        "speed_m_s": _top_speed(joint_m, recording.rate_hz, settings),
        "reversed_flexion_deg": _reversed_flexion(model, sign, zero, angle),
        "unmeasured_share": float((external.status == 2).mean()),
    }
    substitutes = mapping.used_substitutes({*joint_names, *length_names, *contact_names})
    notes = (
        *(f"landmark {a}: {b} stands for it" for a, b in sorted(substitutes.items())),
        *prepared.notes,
        *sense_notes,
        *external.notes,
    )
    return ChainMotion(
        joints=tuple(joint.name for joint in model.joints),
        segments=tuple(segment.name for segment in model.segments),
        frame=recording.first_frame + np.arange(stretch.start, stretch.stop),
        time_s=np.arange(stretch.start, stretch.stop) / recording.rate_hz,
        rate_hz=recording.rate_hz,
        joint_m=joint_m,
        angle_rad=angle,
        velocity_rad_s=velocity,
        acceleration_rad_s2=acceleration,
        base_acceleration_m_s2=base_acceleration,
        edge=_edges(len(angle), recording.rate_hz, settings),
        foreshortened=foreshortened,
        filled=prepared.filled[stretch],
        chain=constants,
        gravity_m_s2=plane.gravity(settings.gravity_m_s2, axis_vector(settings.plane.up_axis)),
        plane=plane,
        flexion_sign=sign,
        flexion_zero_rad=zero,
        moment_arms_known=known,
        load=external,
        quality=quality,
        notes=notes,
    )


def kinematics_table(motion: ChainMotion, *, meta: Mapping[str, Any] | None = None) -> pa.Table:
    """Table of `results/kinematics`; it holds all that `motion_from_table` needs.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    meta : mapping, optional
        More to keep with the table.
    """
    values: dict[str, Any] = {**frame_values(motion), "filled": motion.filled, "external_status": motion.load.status}
    for k, point in enumerate((*motion.joints, "endpoint")):
        put_xy(values, f"{point}_position_{{}}_m", motion.joint_m[:, k])
    orientation = np.cumsum(motion.angle_rad, axis=1)
    for k, segment in enumerate(motion.segments):
        values[f"{segment}_orientation_rad"] = orientation[:, k]
    for k, joint in enumerate(motion.joints):
        values[f"{joint}_angle_rad"] = motion.angle_rad[:, k]
        values[f"{joint}_velocity_rad_s"] = motion.velocity_rad_s[:, k]
        values[f"{joint}_acceleration_rad_s2"] = motion.acceleration_rad_s2[:, k]
    put_xy(values, "base_acceleration_{}_m_s2", motion.base_acceleration_m_s2)
    put_xy(values, "external_force_{}_n", motion.load.force_n)
    put_xy(values, "external_point_{}_m", motion.load.point_m)
    values["external_couple_nm"] = motion.load.couple_nm
    kept = {**(meta or {}), "motion": _constants(motion)}
    return make_table(kinematics_columns(motion.joints, motion.segments), values, meta=kept)


def _constants(motion: ChainMotion) -> dict[str, Any]:
    chain = motion.chain
    return {
        "joints": motion.joints,
        "segments": motion.segments,
        "rate_hz": motion.rate_hz,
        "chain": {name: getattr(chain, name).tolist() for name in ("length_m", "mass_kg", "com_m", "inertia_kgm2")},
        "gravity_m_s2": motion.gravity_m_s2.tolist(),
        "plane_axes": motion.plane.axes.tolist(),
        "plane_view": motion.plane.view,
        "flexion_sign": motion.flexion_sign.tolist(),
        "flexion_zero_rad": motion.flexion_zero_rad.tolist(),
        "moment_arms_known": motion.moment_arms_known.tolist(),
        "quality": motion.quality,
        "notes": motion.notes,
    }


def motion_from_table(table: pa.Table, meta: Mapping[str, Any]) -> ChainMotion:
    """Motion of a chain from its table, the inverse of `kinematics_table`.

    Parameters
    ----------
    table : pyarrow.Table
        Table of `results/kinematics`.
    meta : mapping
        What was kept with it.
    """
    kept = meta["motion"]
    joints = tuple(kept["joints"])

    def per_joint(quantity: str) -> FloatArray:
        return column_array(table, *(f"{joint}_{quantity}" for joint in joints))

    def xy(pattern: str) -> FloatArray:
        return column_array(table, pattern.format("x"), pattern.format("y"))

    points = (*joints, "endpoint")
    status = table.column("external_status").to_numpy().astype(np.int8)
    load = ExternalLoad(
        xy("external_force_{}_n"), xy("external_point_{}_m"), table.column("external_couple_nm").to_numpy(), status, ()
    )
    return ChainMotion(
        joints=joints,
        segments=tuple(kept["segments"]),
        frame=table.column("frame").to_numpy(),
        time_s=table.column("time_s").to_numpy(),
        rate_hz=kept["rate_hz"],
        joint_m=np.stack([xy(f"{point}_position_{{}}_m") for point in points], axis=1),
        angle_rad=per_joint("angle_rad"),
        velocity_rad_s=per_joint("velocity_rad_s"),
        acceleration_rad_s2=per_joint("acceleration_rad_s2"),
        base_acceleration_m_s2=xy("base_acceleration_{}_m_s2"),
        edge=table.column("edge").to_numpy().astype(bool),
        foreshortened=table.column("foreshortened").to_numpy().astype(bool),
        filled=table.column("filled").to_numpy().astype(bool),
        chain=Chain(**{name: np.array(value) for name, value in kept["chain"].items()}),
        gravity_m_s2=np.array(kept["gravity_m_s2"]),
        plane=PlaneFrame(np.array(kept["plane_axes"]), kept["plane_view"]),
        flexion_sign=np.array(kept["flexion_sign"]),
        flexion_zero_rad=np.array(kept["flexion_zero_rad"]),
        moment_arms_known=np.array(kept["moment_arms_known"]),
        load=load,
        quality=kept["quality"],
        notes=tuple(kept["notes"]),
    )


def frame_values(motion: ChainMotion) -> dict[str, Any]:
    """Values of the columns that every per-trial table starts with."""
    return {
        "frame": motion.frame,
        "time_s": motion.time_s,
        "edge": motion.edge,
        "foreshortened": motion.foreshortened,
    }


def put_xy(values: dict[str, Any], pattern: str, vectors: FloatArray) -> None:
    """Put the components of in-plane vectors under two names, made by filling x and y into a pattern."""
    values[pattern.format("x")], values[pattern.format("y")] = vectors[:, 0], vectors[:, 1]


@dataclass(frozen=True)
class _Prepared:
    """Needed markers with short gaps filled, and the stretch in which the chain is complete."""

    markers_m: FloatArray
    index: dict[str, int]
    filled: BoolArray
    stretch: slice
    longest_gap_frames: int
    notes: tuple[str, ...]


def _window(recording: Recording, start_s: float | None, end_s: float | None) -> slice:
    if recording.n_frames < 2:
        raise SignalError(f"{recording.source}: {recording.n_frames} frame; a movement needs more than one")
    start = 0 if start_s is None else round(start_s * recording.rate_hz)
    stop = recording.n_frames if end_s is None else round(end_s * recording.rate_hz) + 1
    if not 0 <= start < stop <= recording.n_frames:
        last = (recording.n_frames - 1) / recording.rate_hz
        raise SignalError(
            f"{recording.source}: the window from {start_s} to {end_s} s is not inside the recording, which runs from 0 to "
            f"{last:g} s; correct start_s and end_s"
        )
    return slice(start, stop)


def _length_landmarks(model: ChainModel, table: str) -> list[str]:
    rows = [table_row(table, segment.row) for segment in model.segments]
    return [landmark for row in rows for landmark in (row.proximal, row.distal)]


def _contact_landmarks(model: ChainModel, mapping: LandmarkMap, settings: Settings) -> list[str]:
    if not model.ground_contact or settings.plates.assignment == "none":
        return []
    return [name for name in model.contact_landmarks if mapping.has(name)]


def _prepare(
    recording: Recording, markers: Mapping[str, int], chain_labels: set[str], window: slice, settings: Settings
) -> _Prepared:
    labels = list(markers)
    raw = recording.markers_m[:, [markers[label] for label in labels]].copy()
    raw[: window.start] = np.nan
    raw[window.stop :] = np.nan
    _check_markers(raw, labels, chain_labels, window, recording, settings)
    filled = fill_gaps(
        raw, rate_hz=recording.rate_hz, max_gap_s=settings.gaps.max_gap_s, method=settings.gaps.method
    )
    needed = [labels.index(label) for label in sorted(chain_labels)]
    complete = ~np.isnan(filled.markers_m[:, needed]).any(axis=(1, 2))
    stretches = runs(complete)
    if not stretches:
        raise SignalError(f"{recording.source}: in no frame are all of {', '.join(sorted(chain_labels))} present")
    start, stop = max(stretches, key=lambda run: run[1] - run[0])
    longest = max((b - a for a, b in runs(~complete) if a > stretches[0][0] and b <= stretches[-1][0]), default=0)
    if longest and settings.gaps.longer == "fail":
        raise SignalError(
            f"{recording.source}: the chain's markers are missing for {longest / recording.rate_hz:.2f} s in one go, gaps up to "
            f"{settings.gaps.max_gap_s:g} s are filled (gaps.max_gap_s); set gaps.longer to trim, or give start_s and end_s"
        )
    if (stop - start) / recording.rate_hz < settings.gaps.min_stretch_s:
        raise SignalError(
            f"{recording.source}: the longest stretch with all markers is {(stop - start) / recording.rate_hz:.2f} s long, "
            f"expected at least {settings.gaps.min_stretch_s:g} s (gaps.min_stretch_s)"
        )
    return _Prepared(
        filled.markers_m,
        {label: i for i, label in enumerate(labels)},
        np.asarray(filled.filled[:, needed].any(axis=1)),
        slice(start, stop),
        longest,
        tuple(_gap_notes(recording, window, slice(start, stop), filled.filled[:, needed], stretches)),
    )


def _gap_notes(
    recording: Recording, window: slice, stretch: slice, filled: BoolArray, stretches: Sequence[tuple[int, int]]
) -> list[str]:
    notes = []
    dropped = (window.stop - window.start) - (stretch.stop - stretch.start)
    if dropped:
        inside = f"; {len(stretches) - 1} long gaps, the longest stretch was kept" if len(stretches) > 1 else ""
        first = recording.first_frame
        notes.append(
            f"frames {first + stretch.start}-{first + stretch.stop - 1} analysed, {dropped} without all markers left out{inside}"
        )
    if filled[stretch].any():
        notes.append(f"{int(filled[stretch].sum())} marker samples filled in {len(runs(filled[stretch].any(axis=1)))} places")
    return notes


def _check_markers(
    raw: FloatArray,
    labels: Sequence[str],
    chain_labels: set[str],
    window: slice,
    recording: Recording,
    settings: Settings,
) -> None:
    faults = []
    for i, label in enumerate(labels):
        if label not in chain_labels:
            continue
        present = raw[~np.isnan(raw[:, i]).any(axis=1), i]
        if not len(present):
            faults.append(f"marker {label!r} is missing in all {window.stop - window.start} frames")
        elif (
            settings.gaps.constant_marker == "fail" and len(present) > 1 and bool((present == present[0]).all())
        ):
            faults.append(
                f"marker {label!r} has the very same position in all {len(present)} frames, no measured marker has; if it is a "
                "fixed point, set gaps.constant_marker to accept"
            )
    if faults:
        raise SignalError(f"{recording.source}: {'; '.join(faults)}")


def _check_lengths(model: ChainModel, length_m: FloatArray, recording: Recording) -> None:
    for segment, length in zip(model.segments, length_m, strict=True):
        if not SHORTEST_SEGMENT_M < length < LONGEST_SEGMENT_M:
            raise SegmentError(
                f"{recording.source}: segment {segment.name} is {length:.4g} m long, expected {SHORTEST_SEGMENT_M} to "
                f"{LONGEST_SEGMENT_M} m; check the marker mapping and POINT:UNITS of the file"
            )


def _measured_lengths(
    model: ChainModel, table: str, landmarks: Mapping[str, FloatArray], shortening: FloatArray
) -> dict[str, tuple[str, str, float]]:
    """Landmarks and in-plane length of every segment, the way its row of the table asks for.

    A segment inclined to the plane projects shorter, and so does its mass: its table length is shortened alike.
    """
    lengths = {}
    for segment, share in zip(model.segments, shortening, strict=True):
        row = table_row(table, segment.row)
        distances = np.linalg.norm(landmarks[row.distal] - landmarks[row.proximal], axis=1)
        known = distances[~np.isnan(distances)]
        if not known.size:
            raise LandmarkError(
                f"segment {segment.name}: {row.proximal} and {row.distal} are never seen together, so its length is unknown"
            )
        lengths[segment.row] = (row.proximal, row.distal, float(known.mean() * share))
    return lengths


def _filtered(values: FloatArray, rate_hz: float, settings: Settings) -> FloatArray:
    if settings.filter.method == "none":
        return values
    return low_pass(values, rate_hz=rate_hz, cutoff_hz=settings.filter.cutoff_hz, order=settings.filter.order)


def _joint_angles(joint_m: FloatArray, zero_rad: FloatArray) -> FloatArray:
    """Joint angles without jumps, each within half a turn of its zero of flexion on average."""
    steps = np.diff(joint_m, axis=1)
    orientation = np.unwrap(np.arctan2(steps[..., 1], steps[..., 0]), axis=0)
    angle = np.diff(orientation, axis=1, prepend=0.0)
    turns = np.round((np.median(angle, axis=0) - zero_rad) / (2.0 * np.pi))
    return cast(FloatArray, angle - 2.0 * np.pi * turns)


def _flexion(
    model: ChainModel, plane: PlaneFrame, side: str
) -> tuple[FloatArray, FloatArray, BoolArray, list[str]]:
    """Sense and zero of flexion of each joint in this plane, and whether sampled moment arms hold in it."""
    notes = []
    if plane.view == "horizontal":
        mirror = 1.0 if side == "right" else -1.0
        sign = np.array([mirror * joint.flexion_right_horizontal for joint in model.joints])
        zero = np.zeros(len(model.joints))
    else:
        sign = np.array([float(joint.flexion_sagittal) for joint in model.joints])
        zero = np.radians([joint.flexion_zero_deg for joint in model.joints])
    if plane.view == "oblique":
        notes.append("the plane is neither sagittal nor horizontal: the sense of flexion is that of the sagittal plane")
    known = np.array([joint.moment_arms_in_any_plane or plane.view == "sagittal" for joint in model.joints])
    return sign, zero, known, notes


def _reversed_flexion(model: ChainModel, sign: FloatArray, zero: FloatArray, angle: FloatArray) -> float:
    """How far joints that flex to one side only are bent the other way on average, degrees; 0 where none is."""
    bent = [
        -float(np.degrees(sign[i] * (np.median(angle[:, i]) - zero[i])))
        for i, joint in enumerate(model.joints)
        if joint.one_way
    ]
    return max([0.0, *bent])


def _top_speed(joint_m: FloatArray, rate_hz: float, settings: Settings) -> float:
    velocity, _ = differentiate(joint_m, rate_hz=rate_hz, accuracy=2)
    speed = float(np.linalg.norm(velocity, axis=2).max())
    if speed > settings.reading.max_speed_m_s:
        raise SignalError(
            f"a joint moves at {speed:.4g} m/s, more than a body can ({settings.reading.max_speed_m_s:g} m/s, reading.max_speed_m_s); "
            "check POINT:UNITS and POINT:RATE of the file, and swapped markers"
        )
    return speed


def _foreshortened(joints_3d: FloatArray, plane: PlaneFrame, settings: Settings) -> BoolArray:
    """Frames, and those whose differences reach them, in which a segment is too far out of the plane."""
    segments = np.diff(joints_3d, axis=1)
    lengths = np.linalg.norm(segments, axis=2)
    short = (np.linalg.norm(plane.project(segments), axis=2) < settings.plane.min_projection * lengths).any(axis=1)
    reach = differentiation_reach(settings.differentiation.accuracy)
    for start, stop in runs(short):
        short[max(start - reach, 0) : stop + reach] = True
    return cast(BoolArray, short)


def _edges(n_frames: int, rate_hz: float, settings: Settings) -> BoolArray:
    reach = differentiation_reach(settings.differentiation.accuracy)
    if settings.filter.method != "none":
        reach += filter_reach(settings.filter.cutoff_hz, rate_hz=rate_hz, order=settings.filter.order)
    frames = np.arange(n_frames)
    return (frames < reach) | (frames >= n_frames - reach)


def _external_load(
    recording: Recording,
    model: ChainModel,
    mapping: LandmarkMap,
    plane: PlaneFrame,
    settings: Settings,
    load: str,
    stretch: slice,
    landmarks: Mapping[str, FloatArray],
    joint_m: FloatArray,
    contact_names: Sequence[str],
) -> ExternalLoad:
    if load:
        return hand_load(settings.loads[load], frame=plane, last_joint_m=joint_m[:, -2], end_m=joint_m[:, -1])
    if not model.ground_contact or settings.plates.assignment == "none":
        return no_load(len(joint_m))
    up = axis_vector(settings.plane.up_axis)
    back = next((name for name in contact_names if name != model.end), model.joints[-1].landmark)
    own = _foot(landmarks, contact_names, back, model, settings, recording.rate_hz, up)
    other = _other_foot(recording, model, mapping, contact_names, back, settings, stretch, up)
    notes = () if other is not None else ("the other foot is not mapped or not seen: a shared plate goes unnoticed",)
    force_cutoff = settings.filter.force_cutoff_hz or settings.filter.cutoff_hz
    ground = ground_load(
        recording.force_plates,
        foot=own,
        other_foot=other,
        frames=stretch,
        first_frame=recording.first_frame + stretch.start,
        rate_hz=recording.rate_hz,
        cutoff_hz=None if settings.filter.method == "none" else force_cutoff,
        order=settings.filter.order,
        settings=settings.plates,
        frame=plane,
        up=up,
        ankle_m=joint_m[:, -2],
    )
    return ExternalLoad(ground.force_n, ground.point_m, ground.couple_nm, ground.status, (*notes, *ground.notes))


def _foot(
    landmarks: Mapping[str, FloatArray],
    contact_names: Sequence[str],
    back: str,
    model: ChainModel,
    settings: Settings,
    rate_hz: float,
    up: FloatArray,
) -> Foot:
    return find_foot(
        {name: landmarks[name] for name in (contact_names or [model.end])},
        ends=(landmarks[back], landmarks[model.end]),
        settings=settings.plates,
        rate_hz=rate_hz,
        up=up,
    )


def _other_foot(
    recording: Recording,
    model: ChainModel,
    mapping: LandmarkMap,
    contact_names: Sequence[str],
    back: str,
    settings: Settings,
    stretch: slice,
    up: FloatArray,
) -> Foot | None:
    """The foot of the other side over the same frames, None where its markers are not there."""
    mirrored = LandmarkMap(
        mapping.rules, mapping.substitutes, "left" if mapping.side == "right" else "right", mapping.prefix
    )
    names = {*contact_names, back, model.end}
    try:
        markers = needed_markers(recording, mirrored, names)
    except LandmarkError:
        return None
    own = needed_markers(recording, mapping, names)
    if set(markers.values()) & set(own.values()):
        return None
    positions = recording.markers_m[stretch]
    landmarks = {name: locate(name, mirrored, markers=markers, positions_m=positions) for name in names}
    if np.isnan(landmarks[model.end]).all():
        return None
    return _foot(landmarks, contact_names, back, model, settings, recording.rate_hz, up)
