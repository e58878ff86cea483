"""External loads on the last segment: constant force, spring, or force plates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, ignore_short, runs, widened, widened_after
from limbtorque.motion.foot import Foot, inside, slow_frames
from limbtorque.motion.foot_events import FoundEvents, foot_events, plate_events
from limbtorque.motion.plane import PlaneFrame
from limbtorque.motion.plate_assignment import Assignment, Feet, Stretch, assign
from limbtorque.motion.plate_signals import (
    Reading,
    Smoothing,
    at_frames,
    drift_n,
    reach_frames,
    saturated_samples,
)
from limbtorque.motion.plate_surface import surface_metrics
from limbtorque.motion.pressure import pressure_in_plane
from limbtorque.recordings.recording import ForcePlate
from limbtorque.study.options.loads import Force, LoadModel, Plates

StatusArray = NDArray[np.int8]

NONE, MEASURED, UNMEASURED = 0, 1, 2
SPREAD_N = 1.0
LANDING_S, PUSH_OFF_S = 0.05, 0.15  # a foot may stand this long before and after its ankle is slow (docs/keypoints.md)


@dataclass(frozen=True)
class ExternalLoad:
    """External load on the last segment, in the plane.

    Attributes
    ----------
    force_n : ndarray of shape (n_frames, 2)
        Force on the segment, N.
    point_m : ndarray of shape (n_frames, 2)
        Point of application in the plane's coordinates, m.
    couple_nm : ndarray of shape (n_frames,)
        Couple in addition to the force at that point, counter-clockwise positive, N m.
    status : ndarray of int8, shape (n_frames,)
        0 no load, 1 load known, 2 foot on the ground, or up to `min_contact_s` later, and force unknown (force and couple
        are NaN).
    notes : tuple of str
        Decisions, for the ledger.
    metrics : mapping of str to float
        Metrics of the load.
    pressure_m : ndarray of shape (n_frames, 2), optional
        Centre of pressure of the ground in the plane, m; NaN in frames without a load of more than `plates.threshold_n`.
    unfiltered_n, unfiltered_couple_nm : ndarray of shape (n_frames, 2) and (n_frames,)
        Force and couple of the plates at the same point without the filter, frame means; empty without plates.
    foot_events : mapping of str to tuple of Event
        Foot strikes and offs by each method (`motion.foot_events`); empty for limbs off the ground.
    """

    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray
    status: StatusArray
    notes: tuple[str, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)
    pressure_m: FloatArray | None = None
    unfiltered_n: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    unfiltered_couple_nm: FloatArray = field(default_factory=lambda: np.zeros(0))
    foot_events: FoundEvents = field(default_factory=dict)

    def part(self, some: slice) -> ExternalLoad:
        """Load of some frames."""
        return replace(
            self,
            force_n=self.force_n[some],
            point_m=self.point_m[some],
            couple_nm=self.couple_nm[some],
            status=self.status[some],
            pressure_m=None if self.pressure_m is None else self.pressure_m[some],
            unfiltered_n=self.unfiltered_n[some],
            unfiltered_couple_nm=self.unfiltered_couple_nm[some],
        )


def no_load(n_frames: int) -> ExternalLoad:
    """No external load at all.

    Parameters
    ----------
    n_frames : int
        Number of frames.
    """
    zeros = np.zeros((n_frames, 2))
    return ExternalLoad(zeros, zeros, np.zeros(n_frames), np.zeros(n_frames, dtype=np.int8), ())


def stance_without_foot(
    ankle_m: FloatArray, *, stretch: Stretch, settings: Plates, belt_m_s: FloatArray
) -> ExternalLoad:
    """Unknown load of a leg in stance whose foot is not measured; none in swing.

    Parameters
    ----------
    ankle_m : ndarray of shape (n_frames, 3)
        Ankle in the laboratory frame, m; a missing sample counts as stance.
    stretch : Stretch
        The frames of the recording that are analysed.
    settings : Plates
        Threshold of speed, and shortest contact.
    belt_m_s : ndarray of shape (3,)
        Velocity of the ground, m/s.

    Returns
    -------
    ExternalLoad
        Status 2 and NaN in stance, zero elsewhere.

    Notes
    -----
    Stance is where the ankle is slower than `max_contact_speed_m_s`, 0.05 s before, and 0.15 s after: while the foot
    pushes off, the ankle is already fast. A force plate cannot be used: where the foot is on it is not known.
    """
    rate_hz = stretch.rate_hz
    limit = settings.max_contact_speed_m_s
    slow = slow_frames([ankle_m], rate_hz=rate_hz, belt_m_s=belt_m_s, limit_m_s=limit) | np.isnan(ankle_m).any(axis=1)
    slow = ignore_short(slow, round(settings.min_contact_s * rate_hz))
    stance = widened(slow, round(LANDING_S * rate_hz)) | widened_after(slow, round(PUSH_OFF_S * rate_hz))
    load = no_load(len(ankle_m))
    notes = [
        f"{stretch.named(*run)}: stance, and the foot is not measured: the torques are unknown" for run in runs(stance)
    ]
    return replace(
        load,
        force_n=np.where(stance[:, None], np.nan, load.force_n),
        couple_nm=np.where(stance, np.nan, 0.0),
        status=np.where(stance, UNMEASURED, NONE).astype(np.int8),
        notes=tuple(notes),
        metrics={"unmeasured_share": float(stance.mean()), "no_contact": float(not stance.any())},
    )


def hand_load(load: LoadModel, *, frame: PlaneFrame, last_joint_m: FloatArray, end_m: FloatArray) -> ExternalLoad:
    """Constant force or spring on the last segment.

    Parameters
    ----------
    load : Force or Spring
        The load, in the laboratory frame.
    frame : PlaneFrame
        The plane of motion; the load's part along its normal is ignored.
    last_joint_m, end_m : ndarray of shape (n_frames, 3)
        Proximal joint and end of the last segment, m: their two coordinates in the plane and the one along its normal.

    Returns
    -------
    ExternalLoad
        Load in the plane, known on every frame.

    Notes
    -----
    A spring pulls towards its anchor with ``k (r - rest length)``, r the distance in space, and is slack when shorter.
    """
    point = last_joint_m + load.fraction * (end_m - last_joint_m)
    if isinstance(load, Force):
        force = np.broadcast_to(frame.axes @ np.array(load.force_n), point.shape)
    else:
        towards = frame.axes @ np.array(load.anchor_m) - point
        distance = np.linalg.norm(towards, axis=1, keepdims=True)
        stretch = np.maximum(distance - load.rest_length_m, 0.0)
        force = (
            load.stiffness_n_m * stretch * np.divide(towards, distance, where=distance > 0, out=np.zeros_like(towards))
        )
    status = np.full(len(point), MEASURED, dtype=np.int8)
    return ExternalLoad(force[:, :2].copy(), point[:, :2].copy(), np.zeros(len(point)), status, ())


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
    """Ground reaction on a foot from the plates it stands on.

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
    smoothing : pair of Smoother and float, or None
        Method of the joint positions and cut-off of the plates, Hz; None averages the samples around each frame.
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
    and ends `min_contact_s` after its landmarks are fast again.

    Frames with a saturated channel of the foot's plate (`signals.flat_tops`), or with a part of the ground force missing,
    and those that the filter affects, have status 2. `plate_drift_n` is the change of the vertical force
    between the first and the last third of the unloaded tenths of a second of a used plate: tenths below `max_offset_n`
    throughout that change by less than half of `threshold_n`; NaN with fewer than six. `plate_after_oconnor_s` and
    `plate_after_zeni_s` are medians over the used stances: onset of the force, less the strike of the markers.
    """
    assigned = [assign(reading, readings, feet, stretch=stretch, settings=settings, up=up) for reading in readings]
    loads = [
        _plate_load(reading, each, stretch, smoothing, settings, frame, up)
        for reading, each in zip(readings, assigned, strict=True)
    ]
    nothing = np.zeros((stretch.n_frames, 3))
    wrench = sum((load.wrench for load in loads), start=nothing)
    own, unusable, beside, other_unknown, saturated = (
        np.any([getattr(load, name) for load in loads] or [nothing[:, 0] > 0.0], axis=0)
        for name in ("own", "unusable", "beside", "other_unknown", "saturated")
    )
    measured = own & ~unusable
    clear = _clear(feet.own, assigned, readings, settings, up) & ~unusable & ~beside
    floor = (feet.own.contact | unusable | beside) & ~measured & ~clear
    missing = widened_after(floor, round(settings.min_contact_s * stretch.rate_hz)) & ~measured & ~clear
    notes = [*(note for load in loads for note in load.notes), *_floor_notes(missing, feet.own, stretch, settings)]
    reach = max((reach_frames(each.plate, each.per_frame, smoothing) for each in readings), default=0)
    missing |= widened(_of_measured_steps(own, unusable | beside) | saturated, reach) & own
    in_plane, couple = _moved(wrench, ankle_m)
    unfiltered = _moved(sum((load.mean for load in loads), start=nothing), ankle_m)
    in_plane[missing], couple[missing] = np.nan, np.nan
    loaded = measured | (np.hypot(in_plane[:, 0], in_plane[:, 1]) > SPREAD_N)  # the filter spreads a load over its ends
    status = np.where(missing, UNMEASURED, np.where(loaded, MEASURED, NONE)).astype(np.int8)
    metrics = {
        "unmeasured_share": float(missing.mean()),
        "no_contact": float(not status.any()),
        "other_foot_unknown_share": float(other_unknown.mean()),
        "plate_saturated_share": float(saturated.mean()),
        "plate_drift_n": float(np.fmax.reduce([load.drift_n for load in loads], initial=np.nan)),
        "plate_tilt_deg": max((reading.tilt_deg for reading in readings), default=0.0),
        "force_early_s": _largest(-s for each in assigned for s in each.after_file_s),
        "stance_force_error_share": _largest(abs(share - 1.0) for each in assigned for share in each.carried),
        "plate_after_oconnor_s": _median([s for each in assigned for s in each.after_oconnor_s]),
        "plate_after_zeni_s": _median([s for each in assigned for s in each.after_zeni_s]),
        **surface_metrics(readings, [each.own for each in assigned], feet.own, up),
    }
    steps = plate_events(
        readings,
        [each.own for each in assigned],
        unusable | beside | (missing & ~own),
        threshold_n=settings.threshold_n,
        up=up,
    )
    events = foot_events(feet.own, steps, rate_hz=stretch.rate_hz, first=stretch.frames.start)
    pressure = pressure_in_plane(
        in_plane, couple, ankle_m, plates=plates, frame=frame, threshold_n=settings.threshold_n
    )
    return ExternalLoad(in_plane, ankle_m, couple, status, tuple(notes), metrics, pressure, *unfiltered, events)


def _median(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.median(known)) if known else float("nan")


def _largest(values: Iterable[float]) -> float:
    return float(np.fmax.reduce(list(values), initial=np.nan))


def _clear(
    foot: Foot, assigned: Sequence[Assignment], readings: Sequence[Reading], settings: Plates, up: FloatArray
) -> BoolArray:
    """Frames of a measured step in which the foot carries nothing."""
    clear = np.zeros(len(foot.contact), dtype=bool)
    for start, stop in runs(foot.contact):
        part = slice(start, stop)
        mine = [(each, reading) for each, reading in zip(assigned, readings, strict=True) if each.own[part].any()]
        if mine:
            idle = ~np.any([reading.loaded[part] for _, reading in mine], axis=0)
            timely = np.any([each.timely[part] for each, _ in mine], axis=0)
            clear[part] = idle & (timely | inside([reading.plate for _, reading in mine], foot, part, settings, up))
    return clear


def _of_measured_steps(own: BoolArray, bad: BoolArray) -> BoolArray:
    """Bad frames that adjoin, or are among, frames in which a plate measures the foot."""
    result = np.zeros_like(bad)
    for start, stop in runs(own | bad):
        result[start:stop] = bad[start:stop] & own[start:stop].any()
    return result


def _floor_notes(missing: BoolArray, foot: Foot, stretch: Stretch, settings: Plates) -> list[str]:
    """Notes on the frames in which the foot is on the ground without a usable plate."""
    landings = {start: f", from the landing by {source}" for start, source in foot.landings if source}
    after = f", {settings.min_contact_s:g} s after included"
    return [
        f"{stretch.named(start, stop)}: foot on the ground without a usable plate{landings.get(start, '')}{after}"
        for start, stop in runs(missing)
    ]


def _in_plane(wrench: FloatArray, frame: PlaneFrame) -> FloatArray:
    """Force in the plane and moment about its normal through the origin, shape (n, 3)."""
    matrix = np.zeros((6, 3))
    matrix[:3, :2], matrix[3:, 2] = frame.axes[:2].T, frame.normal
    return np.asarray(wrench @ matrix)


def _moved(in_plane: FloatArray, point_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Force and couple at a point, from force and moment of `_in_plane`."""
    force = in_plane[:, :2].copy()
    return force, in_plane[:, 2] - (point_m[:, 0] * force[:, 1] - point_m[:, 1] * force[:, 0])


@dataclass(frozen=True)
class _PlateLoad:
    """Load of one plate on the foot in the plane, with masks, drift and notes."""

    wrench: FloatArray
    mean: FloatArray
    own: BoolArray
    unusable: BoolArray
    beside: BoolArray
    other_unknown: BoolArray
    saturated: BoolArray
    drift_n: float
    notes: tuple[str, ...]


def _plate_load(
    reading: Reading,
    assigned: Assignment,
    stretch: Stretch,
    smoothing: Smoothing | None,
    settings: Plates,
    frame: PlaneFrame,
    up: FloatArray,
) -> _PlateLoad:
    """Filtered load of the frames of a plate that belong to the foot."""
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
    masks = (own, assigned.unusable, assigned.beside, assigned.other_unknown, saturated)
    return _PlateLoad(smooth, mean, *masks, drift, tuple(notes))
