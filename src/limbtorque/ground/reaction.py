"""Ground reaction on a foot, from force plates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, ignore_short, runs, turned, widened, widened_after
from limbtorque.errors import LoadError
from limbtorque.ground.assignment import PUSH_S, Assignment, Feet, Stretch, assign
from limbtorque.ground.events import foot_events, plate_events
from limbtorque.ground.foot import (
    MAX_CONTACT_SPEED_M_S,
    MIN_CONTACT_S,
    Foot,
    Strikes,
    file_strikes,
    find_foot,
    inside,
    landed,
    oconnor_events,
    slow_frames,
    zeni_events,
)
from limbtorque.ground.impacts import WIDE, Impacts
from limbtorque.ground.plates import (
    Reading,
    Smoothing,
    at_frames,
    drift_n,
    loading_onsets,
    pressure_in_plane,
    reach_frames,
    read_plates,
    saturated_samples,
    surface_metrics,
)
from limbtorque.motion.chain_motion import (
    MEASURED,
    NONE,
    UNMEASURED,
    ChainMotion,
    ExternalLoad,
    Impact,
    hand_load,
    no_load,
)
from limbtorque.motion.joint_centres import Placement, opposite, side_landmarks
from limbtorque.motion.landmarks import contact_landmarks
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import PlaneFrame
from limbtorque.motion.smoothing import SmoothedJoints
from limbtorque.recordings.recording import ForcePlate, Recording
from limbtorque.signals.derivatives import differentiate, first_derivative
from limbtorque.signals.smoothers import HIGHEST
from limbtorque.study.options.motion import axis_vector
from limbtorque.study.options.reading import Plates
from limbtorque.study.settings import Settings

SPREAD_N = 1.0
LANDING_S, PUSH_OFF_S = 0.05, 0.15  # a foot may stand this long before and after its ankle is slow (docs/keypoints.md)
LOST = "the filter removes at most these fractions of the largest ground reaction moment"  # beginning of the note
FALLING_SHARE = 0.4  # of the weight: mean of what would carry the body over a flight; in walking it is 1
LEAST_SPEED_M_S = 0.2  # of the hip: slower, the direction of walking is unknown


def stance_without_foot(ankle_m: FloatArray, *, stretch: Stretch, belt_m_s: FloatArray) -> ExternalLoad:
    """Load of a leg without foot markers: unknown in stance, none in swing.

    Parameters
    ----------
    ankle_m : ndarray of shape (n_frames, 3)
        Ankle in the laboratory frame, m; a missing sample counts as stance.
    stretch : Stretch
        The frames of the recording that are analysed.
    belt_m_s : ndarray of shape (3,)
        Velocity of the ground, m/s.

    Returns
    -------
    ExternalLoad
        Status 2 and NaN in stance, zero elsewhere.

    Notes
    -----
    Stance is where the ankle is slower than `MAX_CONTACT_SPEED_M_S`, 0.05 s before, and 0.15 s after: while the foot
    pushes off, the ankle is already fast. A force plate cannot be used: where the foot is on it is not known.
    """
    rate_hz = stretch.rate_hz
    limit = MAX_CONTACT_SPEED_M_S
    slow = slow_frames([ankle_m], rate_hz=rate_hz, belt_m_s=belt_m_s, limit_m_s=limit) | np.isnan(ankle_m).any(axis=1)
    slow = ignore_short(slow, round(MIN_CONTACT_S * rate_hz))
    stance = widened(slow, round(LANDING_S * rate_hz)) | widened_after(slow, round(PUSH_OFF_S * rate_hz))
    load = no_load(len(ankle_m))
    notes = [f"{stretch.named(*run)}: stance without foot markers: the torques are unknown" for run in runs(stance)]
    return replace(
        load,
        force_n=np.where(stance[:, None], np.nan, load.force_n),
        couple_nm=np.where(stance, np.nan, 0.0),
        status=np.where(stance, UNMEASURED, NONE).astype(np.int8),
        notes=tuple(notes),
        metrics={"unmeasured_share": float(stance.mean()), "no_contact": float(not stance.any())},
    )


def ground_load(
    plates: Sequence[ForcePlate],
    feet: Feet,
    ankle_m: FloatArray,
    *,
    readings: Sequence[Reading],
    stretch: Stretch,
    smoothing: Smoothing | None,
    settings: Plates,
    frame: PlaneFrame,
    up: FloatArray,
) -> ExternalLoad:
    """Ground reaction on a foot from the plates that it contacts.

    Parameters
    ----------
    plates : sequence of ForcePlate
        The plates of the recording, for their height.
    feet : Feet
        The foot in question, the other one, and the force that carries the body.
    ankle_m : ndarray of shape (n_frames, 2)
        Last joint in the plane, m: the point of the equivalent force and couple.
    readings : sequence of Reading
        Signals of the plates that may be used.
    stretch : Stretch
        The frames of the recording that are analysed.
    smoothing : Smoothing or None
        Method of the joint positions and cut-off of the plates; None averages the samples around each frame.
    settings : Plates
        Thresholds and assignment.
    frame : PlaneFrame
        The plane of motion.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    ExternalLoad
        Force and couple at the last joint. Contact frames without a usable plate have status 2 and NaN.

    Notes
    -----
    `plate_assignment.assign` decides which frames of a plate belong to the foot. Only those are filtered, so that the
    other foot's load cannot leak in. Where a plate measures a step, the plate's force begins and ends the contact: a slow
    foot above an unloaded plate carries nothing. On the floor the contact begins where the foot lands (`foot.landed`)
    and ends `MIN_CONTACT_S` after its landmarks are fast again.

    Frames with a saturated channel of the foot's plate (`signals.channels`), or with a part of the ground force missing,
    and those that the filter affects, have status 2. `plate_drift_n` is the change of the vertical force
    between the first and the last third of the unloaded tenths of a second of a used plate: tenths below `max_offset_n`
    throughout that change by less than half of `threshold_n`; NaN with fewer than six. `plate_after_oconnor_s` and
    `plate_after_zeni_s` are medians over the used stances: onset of the force, less the strike of the markers.
    """
    assigned = [assign(reading, readings, feet, stretch=stretch, settings=settings, up=up) for reading in readings]
    pairs = zip(readings, assigned, strict=True)
    loads = [_plate_load(*pair, stretch, smoothing, settings, frame, up) for pair in pairs]
    nothing, nowhere = np.zeros((stretch.n_frames, 3)), np.zeros(stretch.n_frames, dtype=bool)
    owned, threshold_n, flight = [each.own for each in assigned], settings.threshold_n, _in_flight(feet, readings)
    smooth, mean, plate_saturated, drifts_n, plate_notes = zip(*loads, strict=True) if loads else ((),) * 5
    own, unusable, beside, other_unknown = (
        np.any([nowhere, *(getattr(each, name) for each in assigned)], axis=0)
        for name in ("own", "unusable", "beside", "other_unknown")
    )
    saturated = np.any([nowhere, *plate_saturated], axis=0)
    measured = own & ~unusable
    beside &= ~flight
    clear = _clear(feet.own, assigned, readings, up) & ~unusable & ~beside | flight
    floor = (feet.own.contact | unusable | beside) & ~measured & ~clear
    missing = widened_after(floor, round(MIN_CONTACT_S * stretch.rate_hz)) & ~measured & ~clear
    notes = [note for of_plate in plate_notes for note in of_plate] + _missing_notes(missing, feet, stretch)
    reach = max((reach_frames(each.plate, each.per_frame, smoothing) for each in readings), default=0)
    bad = unusable | beside  # of them those count that adjoin, or are among, frames in which a plate measures the foot
    for start, stop in runs(own | bad):
        bad[start:stop] &= own[start:stop].any()
    missing |= widened(bad | saturated, reach) & own
    in_plane, couple, shares = _around_impacts(sum(smooth, start=nothing), smoothing, ankle_m)
    in_plane[missing], couple[missing] = np.nan, np.nan
    loaded = measured | (np.hypot(in_plane[:, 0], in_plane[:, 1]) > SPREAD_N)  # the filter spreads a load over its ends
    status = np.where(missing, UNMEASURED, np.where(loaded, MEASURED, NONE)).astype(np.int8)
    metrics = {
        "unmeasured_share": float(missing.mean()),
        "no_contact": float(not status.any()),
        "other_foot_unknown_share": float(other_unknown.mean()),
        "plate_saturated_share": float(saturated.mean()),
        "plate_drift_n": float(np.fmax.reduce(drifts_n, initial=np.nan)),
        **_assignment_metrics(readings, assigned),
        **surface_metrics(readings, owned, feet.own, up),
    }
    uncertain = unusable | beside | (missing & ~own)
    others: list[Assignment] = []
    if feet.other is not None and settings.assignment == "auto":
        exchanged = replace(feet, own=feet.other, other=feet.own)
        others = [assign(each, readings, exchanged, stretch=stretch, settings=settings, up=up) for each in readings]
    partly = np.any([nowhere, *(each.partly for each in (*assigned, *others))], axis=0)
    partly = widened(partly, round(PUSH_S * stretch.rate_hz))
    steps = plate_events(readings, owned, uncertain, threshold_n=threshold_n, up=up)
    events = foot_events(feet.own, steps, rate_hz=stretch.rate_hz, first=stretch.frames.start)
    pressure = pressure_in_plane(in_plane, couple, ankle_m, plates=plates, frame=frame, threshold_n=threshold_n)
    known = in_plane, ankle_m, couple, status, tuple(notes), metrics, pressure
    unfiltered, on_plates = _moved(sum(mean, start=nothing), ankle_m), _on_plates(nowhere, assigned, others)
    return ExternalLoad(*known, *unfiltered, events, partly, on_plates, shares, np.array(owned, dtype=bool).T)


def _on_plates(nowhere: BoolArray, *feet: Sequence[Assignment]) -> BoolArray:
    """Frames in which plates carry each foot, alone, together or partly."""
    masks = [np.any([nowhere, *(each.own | each.unusable for each in foot)], axis=0) for foot in feet]
    return np.stack(masks, axis=1)


def _missing_notes(missing: BoolArray, feet: Feet, stretch: Stretch) -> list[str]:
    """Sentences on frames with the foot on the ground but on no usable plate."""
    landings = {start: f", from the landing by {source}" for start, source in feet.own.landings if source}
    return [
        f"{stretch.named(start, stop)}: foot on the ground, no usable plate{landings.get(start, '')}, {MIN_CONTACT_S:g} s after included"
        for start, stop in runs(missing)
    ]


def _assignment_metrics(readings: Sequence[Reading], assigned: Sequence[Assignment]) -> dict[str, float]:
    """Metrics of the plates and of the stances that they measure."""
    return {
        "plate_tilt_deg": max((reading.tilt_deg for reading in readings), default=0.0),
        "force_early_s": _largest(-s for each in assigned for s in each.after_file_s),
        "stance_force_error_share": _largest(abs(share - 1.0) for each in assigned for share in each.carried),
        "plate_after_oconnor_s": _median([s for each in assigned for s in each.after_oconnor_s]),
        "plate_after_zeni_s": _median([s for each in assigned for s in each.after_zeni_s]),
    }


def _median(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.median(known)) if known else float("nan")


def _largest(values: Iterable[float]) -> float:
    return float(np.fmax.reduce(list(values), initial=np.nan))


def _clear(foot: Foot, assigned: Sequence[Assignment], readings: Sequence[Reading], up: FloatArray) -> BoolArray:
    """Frames of a measured step in which the foot is unloaded."""
    clear = np.zeros(len(foot.contact), dtype=bool)
    for start, stop in runs(foot.contact):
        part = slice(start, stop)
        mine = [(each, reading) for each, reading in zip(assigned, readings, strict=True) if each.own[part].any()]
        if mine:
            idle = ~np.any([reading.loaded[part] for _, reading in mine], axis=0)
            timely = np.any([each.timely[part] for each, _ in mine], axis=0)
            clear[part] = idle & (timely | inside([reading.plate for _, reading in mine], foot, part, up))
    return clear


def _in_flight(feet: Feet, readings: Sequence[Reading]) -> BoolArray:
    """Frames between loads of the plates in which the hip falls freely."""
    flight = np.zeros(len(feet.own.contact), dtype=bool)
    if feet.body_n is None or feet.weight_n is None or not readings:
        return flight
    for start, stop in runs(~np.any([reading.loaded for reading in readings], axis=0)):
        flight[start:stop] = feet.body_n[start:stop].mean() < FALLING_SHARE * feet.weight_n
    return flight


def _in_plane(wrench: FloatArray, frame: PlaneFrame) -> FloatArray:
    """Force in the plane and moment about its normal through the origin, shape (n, 3)."""
    matrix = np.zeros((6, 3))
    matrix[:3, :2], matrix[3:, 2] = frame.axes[:2].T, frame.normal
    return np.asarray(wrench @ matrix)


def _moved(in_plane: FloatArray, point_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Force and couple at a point, from force and moment of `_in_plane`."""
    force = in_plane[:, :2].copy()
    return force, in_plane[:, 2] - (point_m[:, 0] * force[:, 1] - point_m[:, 1] * force[:, 0])


def _plate_load(
    reading: Reading,
    assigned: Assignment,
    stretch: Stretch,
    smoothing: Smoothing | None,
    settings: Plates,
    frame: PlaneFrame,
    up: FloatArray,
) -> tuple[FloatArray, FloatArray, BoolArray, float, list[str]]:
    """Load of one plate on the foot: smoothed, mean, saturated frames, drift, notes."""
    plate, per_frame, own = reading.plate, reading.per_frame, assigned.own
    notes = [*([reading.note] if reading.note else []), *assigned.notes]
    saturated, drift = np.zeros_like(own), np.nan
    if own.any():
        drift = drift_n(plate.force_n @ up, per_frame, stretch.rate_hz, settings)
        samples = slice(stretch.frames.start * per_frame, stretch.frames.stop * per_frame)
        saturated = own & saturated_samples(plate)[samples].reshape(len(own), per_frame).any(axis=1)
        for start, stop in runs(saturated):
            at = f"plate {plate.number} {stretch.named(start, stop)}"
            notes.append(f"{at}: a channel is saturated, the force is unknown")
    mine = np.zeros((len(reading.wrench), 3))
    for start, stop in runs(own):
        part = slice(start * per_frame, stop * per_frame)
        mine[part] = _in_plane(reading.wrench[part], frame)
    smooth = at_frames(mine, per_frame, plate.rate_hz, smoothing)
    mean = np.where(own[:, None], _in_plane(reading.mean, frame), 0.0)
    return smooth, mean, saturated, drift, notes


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


def external_load(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
    placed: Placement,
    smoothed: SmoothedJoints,
    motion: ChainMotion,
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
    motion : ChainMotion
        Motion of the limb without its load.
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
    model, plane, joint_m = limb.model(settings), placed.plane, motion.joint_m
    on_ground = limb.meets_ground(settings)
    load = limb.external_load(settings)
    if load is not None:
        if on_ground:
            raise LoadError(
                "a load of the settings cannot be combined with ground contact of this limb; "
                "set plates.assignment to none if the foot was off the ground, or leave the column load empty"
            )
        in_space = np.concatenate([joint_m, smoothed.values[..., 2:]], axis=2)
        return hand_load(load, frame=plane, last_joint_m=in_space[:, -2], end_m=in_space[:, -1])
    if not on_ground:
        return no_load(len(joint_m))
    frames, up = placed.prepared.stretch, axis_vector(settings.plane.up_axis)
    hip_m = smoothed.values[:, 0] @ plane.axes
    belt = -settings.plates.belt_speed_m_s * plane.axes[0]
    stretch = Stretch(frames, recording.first_frame + frames.start, recording.rate_hz)
    if not model.foot:
        return stance_without_foot(placed.landmarks[model.end], stretch=stretch, belt_m_s=belt)
    feet = _feet(recording, limb, settings, placed, hip_m=hip_m, belt_m_s=belt)
    given_hz = settings.filter.force_cutoff_hz
    smoothing = _smoothing(given_hz, smoothed, motion, turned(placed.joints_m, plane.axes.T)[..., :2])
    ground = ground_load(
        recording.force_plates,
        feet,
        joint_m[:, -2],
        readings=readings,
        stretch=stretch,
        smoothing=smoothing,
        settings=settings.plates,
        frame=plane,
        up=up,
    )
    lost = load_moment_lost(ground, joint_m)
    metrics = {**ground.metrics, "load_moment_lost_share": float(np.fmax.reduce(lost, initial=np.nan))}
    notes = [] if feet.other else ["the other foot is not mapped or not visible: a shared plate is not detected"]
    if smoothing is None:
        unfiltered = "force plates are averaged over each frame, not filtered"
        notes.append(f"{unfiltered}: vibration above half the frame rate is aliased")
    else:
        notes.append(_filter_note(smoothing.cutoff_hz, ground.impacts, given=bool(given_hz)))
    if not np.isnan(lost).all():
        shares = zip(model.joints, lost.tolist(), strict=True)
        notes.append(f"{LOST}: {', '.join(f'{joint.name} {100.0 * share:.0f} %' for joint, share in shares)}")
    return replace(ground, metrics=metrics, notes=(*notes, *ground.notes))


def load_in_space(
    settings: Settings,
    *,
    placed: Placement,
    smoothed: SmoothedJoints,
    motion: ChainMotion,
    readings: Sequence[Reading],
) -> FloatArray:
    """External load on the last segment in space, filtered as in the plane.

    Parameters
    ----------
    settings, placed, smoothed, readings
        As of `external_load`.
    motion : ChainMotion
        Motion of the limb with its load in the plane.

    Returns
    -------
    ndarray of shape (n_frames, 6)
        Force, N, and moment about the laboratory's origin, N m, in its axes; zero without a load, NaN where it is not known.
    """
    load = motion.load
    if load.wrench is not None:
        return load.wrench
    measured_m = turned(placed.joints_m, placed.plane.axes.T)[..., :2]
    smoothing = _smoothing(settings.filter.force_cutoff_hz, smoothed, motion, measured_m)
    wrench = np.zeros((len(load.status), 6))
    for reading, own in zip(readings, load.owned.T, strict=True) if readings else ():
        mine = np.where(np.repeat(own, reading.per_frame)[:, None], reading.wrench, 0.0)
        wrench += at_frames(mine, reading.per_frame, reading.plate.rate_hz, smoothing)
    if smoothing and smoothing.impacts:
        wrench = smoothing.impacts.shared(wrench, smoothed.smooth(wrench, motion.rate_hz), load.impacts)
    wrench[load.status == UNMEASURED] = np.nan
    return wrench


def _smoothing(
    given_hz: float | None, smoothed: SmoothedJoints, motion: ChainMotion, measured_m: FloatArray
) -> Smoothing | None:
    """Smoothing of the plates: as given, or the least but around impacts."""
    if smoothed.smoother is None:
        return None
    if given_hz:
        return Smoothing(smoothed.smoother, given_hz)
    highest_hz = max(HIGHEST * motion.rate_hz, *smoothed.cutoff_hz)
    return Smoothing(WIDE, highest_hz, Impacts.of(motion, smoothed, measured_m) if smoothed.impacts_s else None)


def _around_impacts(
    load: FloatArray, smoothing: Smoothing | None, point_m: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[Impact, ...]]:
    """Force and couple at a point as the impacts need them, and the shares of these."""
    load, shares = smoothing.impacts.filtered(load) if smoothing and smoothing.impacts else (load, ())
    return *_moved(load, point_m), shares


def _filter_note(cutoff_hz: float, impacts: Sequence[Impact], *, given: bool) -> str:
    """Cut-off of the plates, and the shares of impacts, for the ledger."""
    note = f"force plates are filtered at {cutoff_hz:g} Hz"
    if given:
        return f"{note}, also at impacts, where the torques are unreliable (filter.force_cutoff_hz)"
    shares = ", ".join(f"{100.0 * share:.0f} % at {time_s:.2f} s" for time_s, share in impacts)
    return f"{note}, around impacts in part like the joint positions: {shares}" if shares else note


def plate_readings(recording: Recording, limb: Limb, settings: Settings, frames: slice) -> list[Reading]:
    """Signals of the usable plates; empty for limbs off the ground.

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
    if limb.load or not limb.meets_ground(settings) or not limb.model(settings).foot:
        return []
    up = axis_vector(settings.plane.up_axis)
    return read_plates(recording.force_plates, frames, recording.rate_hz, settings=settings.plates, up=up)


def impact_times(
    readings: Sequence[Reading], placed: Placement, settings: Settings, rate_hz: float
) -> tuple[float, ...]:
    """Onset times of plate loading; empty for limbs off the ground.

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


def _feet(
    recording: Recording, limb: Limb, settings: Settings, placed: Placement, *, hip_m: FloatArray, belt_m_s: FloatArray
) -> Feet:
    """Both feet with their contacts, and the force that supports the body."""
    model, mapping, frames = limb.model(settings), limb.landmarks(settings), placed.prepared.stretch
    up, rate_hz, ankle = axis_vector(settings.plane.up_axis), recording.rate_hz, model.joints[-1].landmark
    contact = contact_landmarks(model, mapping.anatomical(), settings.plates)
    back = next((name for name in contact if name != model.end), ankle)  # rear landmark of the foot's line

    def by_speed(landmarks: Mapping[str, FloatArray], side: str) -> Foot:
        """Foot with its contacts detected by speed."""
        contact_m = {name: landmarks[name] for name in contact or [model.end]}
        heel_m = np.where(np.isnan(landmarks[back]), landmarks[ankle], landmarks[back])
        ends = (heel_m, landmarks[model.end])
        return find_foot(contact_m, ends=ends, rate_hz=rate_hz, belt_m_s=belt_m_s, side=side)

    other_side = opposite(mapping)
    other = side_landmarks(recording, other_side, {*contact, back, ankle, model.end}, gaps=settings.gaps, frames=frames)
    seen = bool(other) and not np.isnan(other[model.end]).all()
    own = by_speed(placed.landmarks, mapping.side)
    # heel and toe ahead of the hip, along its velocity over the ground
    flat = np.eye(3) - np.outer(up, up)
    velocity = first_derivative(hip_m @ flat, rate_hz=rate_hz, accuracy=2) - belt_m_s
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    way = np.divide(velocity, speed, where=speed > LEAST_SPEED_M_S, out=np.full_like(velocity, np.nan))
    heel, toe = (np.sum(way * (end - hip_m), axis=1) for end in (own.back_m, own.front_m))
    strikes = Strikes(
        file_strikes(recording.events, own.side, rate_hz=rate_hz, first=frames.start),
        zeni_events(heel, toe, rate_hz=rate_hz),
        oconnor_events(own.back_m @ up, own.front_m @ up, rate_hz=rate_hz),
    )
    _, acceleration = differentiate(hip_m @ up, rate_hz=rate_hz)
    return Feet(
        landed(replace(own, strikes=strikes), rate_hz=rate_hz),
        landed(by_speed(other, other_side.side), rate_hz=rate_hz) if seen else None,
        np.asarray(limb.body_mass_kg * (settings.gravity_m_s2 + acceleration)),
        limb.body_mass_kg * settings.gravity_m_s2,
    )
