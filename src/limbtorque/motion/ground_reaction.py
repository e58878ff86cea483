"""External loads on the last segment: constant force, spring, or force plates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, ignore_short, runs, widened
from limbtorque.errors import LoadError
from limbtorque.motion.foot import Foot, centre_of_pressure, distance_m, inside
from limbtorque.motion.plane import PlaneFrame
from limbtorque.motion.plate_signals import (
    Smoothing,
    analysed_samples,
    at_frames,
    drift_n,
    loaded_stretches,
    offset_of,
    reach_frames,
    saturated_samples,
)
from limbtorque.recordings.recording import ForcePlate
from limbtorque.study.options.loads import Force, LoadModel, Plates

StatusArray = NDArray[np.int8]

NONE, MEASURED, UNMEASURED = 0, 1, 2
SHARED_PLATE_SHARE = 0.1
SPREAD_N = 1.0
HEAVY = 5.0  # times the threshold: forces that show the vertical by their direction


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
        0 no load, 1 load known, 2 foot on the ground, or within `min_contact_s` of it, and force unknown (force and couple
        are NaN).
    notes : tuple of str
        Decisions, for the ledger.
    metrics : mapping of str to float
        Metrics of the load.
    unfiltered_n, unfiltered_couple_nm : ndarray of shape (n_frames, 2) and (n_frames,)
        Force and couple of the plates at the same point without the filter, frame means; empty without plates.
    """

    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray
    status: StatusArray
    notes: tuple[str, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)
    unfiltered_n: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    unfiltered_couple_nm: FloatArray = field(default_factory=lambda: np.zeros(0))


def no_load(n_frames: int) -> ExternalLoad:
    """No external load at all.

    Parameters
    ----------
    n_frames : int
        Number of frames.
    """
    zeros = np.zeros((n_frames, 2))
    return ExternalLoad(zeros, zeros, np.zeros(n_frames), np.zeros(n_frames, dtype=np.int8), ())


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


@dataclass(frozen=True)
class Stretch:
    """Frames of a recording that are analysed.

    Attributes
    ----------
    frames : slice
        The frames, counted from 0.
    first_frame : int
        Number of the first of them in the original capture.
    rate_hz : float
        Frames per second.
    """

    frames: slice
    first_frame: int
    rate_hz: float

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return int(self.frames.stop - self.frames.start)

    def named(self, start: int, stop: int) -> str:
        """Return the first and the last frame's numbers in the original capture."""
        return f"frames {self.first_frame + start}-{self.first_frame + stop - 1}"


def ground_load(
    plates: Sequence[ForcePlate],
    foot: Foot,
    ankle_m: FloatArray,
    *,
    other_foot: Foot | None,
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
        The plates of the recording.
    foot : Foot
        The foot in question.
    ankle_m : ndarray of shape (n_frames, 2)
        Last joint in the plane, m: the point of the equivalent force and couple.
    other_foot : Foot or None
        The other foot, where it is mapped: two feet on one plate cannot be separated.
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

    Raises
    ------
    LoadError
        A plate of `plates.assignment` is not in the recording.

    Notes
    -----
    A loaded stretch of a plate belongs to the foot if the centre of pressure stays within `max_distance_m` of the line
    of the foot (median), nearer than to the other foot, and the other foot does not stand on the same plate. Only
    those stretches are filtered, so that the other foot's load cannot leak in. Stance on no usable plate is widened by
    `min_contact_s` at both ends, because a foot is loaded a little before and after its markers are low and slow.

    Frames with a saturated channel of the foot's plate (`signals.flat_tops`), and those that the filter affects, have
    status 2: the force exceeded the recorded one by an unknown amount. `plate_drift_n` is the change of the vertical force
    between the first and the last third of the unloaded tenths of a second of a used plate: tenths below `max_offset_n`
    throughout that change by less than half of `threshold_n`; NaN with fewer than six.
    """
    loads = [
        _plate_load(plate, (foot, other_foot), stretch, smoothing, settings, up)
        for plate in _chosen_plates(plates, settings)
    ]
    force, moment, mean = (np.zeros((stretch.n_frames, size)) for size in (3, 3, 6))
    for load in loads:
        force += load.force_n
        moment += load.moment_nm
        mean += load.mean
    measured, unusable, other_unknown, saturated, lost = (
        np.any([getattr(load, name) for load in loads] or [np.zeros(stretch.n_frames, dtype=bool)], axis=0)
        for name in ("own", "unusable", "other_unknown", "saturated", "lost")
    )
    shortest = round(settings.min_contact_s * stretch.rate_hz)
    alone = ignore_short((foot.contact | unusable) & ~measured, shortest, close=False)
    missing = widened(alone, shortest) & ~measured
    notes = [note for load in loads for note in load.notes]
    for start, stop in runs(missing):
        notes.append(
            f"{stretch.named(start, stop)}: foot on the ground without a usable plate, {settings.min_contact_s:g} s before and after included"
        )
    missing |= lost
    in_plane, couple = _in_plane(force, moment, frame, ankle_m)
    unfiltered = _in_plane(mean[:, :3], mean[:, 3:], frame, ankle_m)
    in_plane[missing], couple[missing] = np.nan, np.nan
    loaded = measured | (np.hypot(in_plane[:, 0], in_plane[:, 1]) > SPREAD_N)  # the filter spreads a load over its ends
    status = np.where(missing, UNMEASURED, np.where(loaded, MEASURED, NONE)).astype(np.int8)
    metrics = {
        "unmeasured_share": float(missing.mean()),
        "no_contact": float(not status.any()),
        "other_foot_unknown_share": float(other_unknown.mean()),
        "plate_saturated_share": float(saturated.mean()),
        "plate_drift_n": float(np.fmax.reduce([load.drift_n for load in loads], initial=np.nan)),
        "plate_tilt_deg": max((load.tilt_deg for load in loads), default=0.0),
    }
    return ExternalLoad(in_plane, ankle_m, couple, status, tuple(notes), metrics, *unfiltered)


def _in_plane(
    force: FloatArray, moment: FloatArray, frame: PlaneFrame, point_m: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Force in the plane and couple at a point, from the moment about the origin."""
    in_plane = frame.project(force)
    return in_plane, moment @ frame.normal - (point_m[:, 0] * in_plane[:, 1] - point_m[:, 1] * in_plane[:, 0])


@dataclass(frozen=True)
class _PlateLoad:
    """Load of one plate on the foot, with masks of frames, metrics and notes."""

    force_n: FloatArray
    moment_nm: FloatArray
    mean: FloatArray
    own: BoolArray
    unusable: BoolArray
    other_unknown: BoolArray
    saturated: BoolArray
    lost: BoolArray
    tilt_deg: float
    drift_n: float
    notes: tuple[str, ...]


def _plate_load(
    plate: ForcePlate,
    feet: tuple[Foot, Foot | None],
    stretch: Stretch,
    smoothing: Smoothing | None,
    settings: Plates,
    up: FloatArray,
) -> _PlateLoad:
    n_frames = stretch.n_frames
    nothing, none = np.zeros((n_frames, 3)), np.zeros(n_frames, dtype=bool)
    per_frame, samples = analysed_samples(plate, stretch.frames, stretch.rate_hz)
    everything = np.hstack([plate.force_n, plate.moment_nm])
    offset, offset_note = offset_of(everything, per_frame, up, settings)
    notes = [f"plate {plate.number}: {offset_note}"] if offset_note else []
    if offset is None:
        still = np.zeros((n_frames, 6))
        return _PlateLoad(nothing, nothing, still, none, none, none, none, none, 0.0, np.nan, tuple(notes))
    wrench = everything[samples] - offset
    broken = np.asarray(np.isnan(wrench).any(axis=1))
    wrench[broken] = 0.0
    mean = wrench.reshape(n_frames, per_frame, 6).mean(axis=1)
    seen = mean[:, :3] + offset[:3]
    heavy = np.linalg.norm(seen, axis=1) > HEAVY * settings.threshold_n
    broken_frames: BoolArray = np.asarray(broken.reshape(n_frames, per_frame).any(axis=1))
    own, unusable, other_unknown, found = _assigned(plate, mean, broken_frames, feet, stretch, settings, up)
    notes += found
    saturated, lost, drift = none, none, np.nan
    if own.any():
        drift = drift_n(everything[:, :3] @ up, per_frame, stretch.rate_hz, settings)
        saturated = own & saturated_samples(plate)[samples].reshape(n_frames, per_frame).any(axis=1)
        lost = widened(saturated, reach_frames(plate, per_frame, smoothing)) & own
        for start, stop in runs(saturated):
            at = f"plate {plate.number} {stretch.named(start, stop)}"
            notes.append(f"{at}: a channel is saturated, the force is unknown")
    smooth = at_frames(np.where(np.repeat(own, per_frame)[:, None], wrench, 0.0), per_frame, plate.rate_hz, smoothing)
    tilt_deg = _angle_deg(seen[heavy].sum(axis=0), up)
    masks = (own, unusable, other_unknown, saturated, lost)
    kept = np.where(own[:, None], mean, 0.0)
    return _PlateLoad(smooth[:, :3], smooth[:, 3:], kept, *masks, tilt_deg, drift, tuple(notes))


def _assigned(
    plate: ForcePlate,
    mean: FloatArray,
    broken: BoolArray,
    feet: tuple[Foot, Foot | None],
    stretch: Stretch,
    settings: Plates,
    up: FloatArray,
) -> tuple[BoolArray, BoolArray, BoolArray, list[str]]:
    """Masks of frames on the plate: own, unusable, other foot unseen; and notes."""
    own, unusable, other_unknown = (np.zeros(len(mean), dtype=bool) for _ in range(3))
    (foot, other), notes = feet, []
    for start, stop in loaded_stretches(mean, up, settings, stretch.rate_hz):
        part = slice(start, stop)
        owner, reason = _verdict(plate, mean[part], feet, part, settings, up)
        if owner == "own" and broken[max(start - 1, 0) : stop + 1].any():
            owner, reason = "unusable", "samples of the plate are missing, not used"
        reason = reason.replace("this foot", f"this foot ({foot.side})", 1) if foot.side else reason
        notes.append(f"plate {plate.number} {stretch.named(start, stop)}: {reason}")
        own[part] = owner == "own"
        unusable[part] |= owner == "unusable"
        if owner == "own":
            other_unknown[part] |= np.ones(stop - start, dtype=bool) if other is None else other.unseen[part]
    return own, unusable, other_unknown, notes


def _chosen_plates(plates: Sequence[ForcePlate], settings: Plates) -> list[ForcePlate]:
    if settings.assignment == "none":
        return []
    if settings.assignment == "auto":
        return list(plates)
    numbers = [plate.number for plate in plates]
    unknown = [number for number in settings.assignment if number not in numbers]
    if unknown:
        raise LoadError(
            f"plates.assignment names plate {unknown[0]}, the recording has "
            f"{', '.join(map(str, numbers)) or 'no readable plates'}; correct plates.assignment"
        )
    return [plate for plate in plates if plate.number in settings.assignment]


def _angle_deg(vector: FloatArray, up: FloatArray) -> float:
    length = float(np.linalg.norm(vector))
    return float(np.degrees(np.arccos(np.clip(vector @ up / length, -1.0, 1.0)))) if length else 0.0


def _verdict(
    plate: ForcePlate, wrench: FloatArray, feet: tuple[Foot, Foot | None], part: slice, settings: Plates, up: FloatArray
) -> tuple[str, str]:
    """Foot of a loaded stretch ("own", "unusable", "other"), and the reason."""
    foot, other = feet
    pressure = centre_of_pressure(wrench, up=up, level_m=float((plate.corners_m @ up).mean()))
    given = settings.assignment != "auto"
    own = distance_m(pressure, foot, part, up)
    theirs = distance_m(pressure, other, part, up) if other is not None else np.inf
    if np.isnan(own):
        return "unusable", "this foot is not visible, not used"
    where = f"centre of pressure {own:.3f} m from this foot, {theirs:.3f} m from the other"
    if own > settings.max_distance_m and not given:
        return "other", "other foot, " * (theirs <= settings.max_distance_m) + where
    if theirs < own and not given:
        return "other", f"other foot, {where}"
    if other is not None:
        shared = other.contact[part] & inside(plate, other, part, settings, up, anywhere=True)
        if shared.mean() > SHARED_PLATE_SHARE:
            return "unusable", f"both feet on the plate in {100 * shared.mean():.0f} % of the frames, not used"
    outside = foot.contact[part] & ~inside(plate, foot, part, settings, up)
    if outside.mean() > SHARED_PLATE_SHARE:
        return (
            "unusable",
            f"this foot is over the edge of the plate in {100 * outside.mean():.0f} % of the frames, not used",
        )
    return "own", f"this foot{', as given' * given}, {where}"
