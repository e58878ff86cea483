"""External loads on the last segment: a constant force, a spring, or the ground by way of force plates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.errors import LoadError
from limbtorque.motion.plane import PlaneFrame
from limbtorque.recordings.recording import ForcePlate
from limbtorque.signals.derivatives import differentiate
from limbtorque.signals.flat_tops import flat_tops
from limbtorque.signals.smoothers import Smoother, smooth_values, smoother_reach
from limbtorque.study.settings import Force, LoadModel, Plates

StatusArray = NDArray[np.int8]
Smoothing = tuple[Smoother, float]  # a method and its cut-off, Hz

NONE, MEASURED, UNMEASURED = 0, 1, 2
SHARED_PLATE_SHARE = 0.1
SPREAD_N = 1.0
HEAVY = 5.0  # times the threshold: forces whose direction tells which way is up
FLANK = 0.1  # of the threshold: down to there a load that was found is followed to its beginning and its end
BLOCK_S = 0.1
FEWEST_BLOCKS = 6


@dataclass(frozen=True)
class ExternalLoad:
    """What the surroundings do to the last segment, in the plane.

    Attributes
    ----------
    force_n : ndarray of shape (n_frames, 2)
        Force on the segment, N.
    point_m : ndarray of shape (n_frames, 2)
        Point of application in the plane's coordinates, m.
    couple_nm : ndarray of shape (n_frames,)
        Couple that comes on top of the force at that point, counter-clockwise positive, N m.
    status : ndarray of int8, shape (n_frames,)
        0 no load, 1 load known, 2 the foot is on the ground, or within `min_contact_s` of it, and the force is not known (force and couple are NaN).
    notes : tuple of str
        Decisions, for the ledger.
    metrics : mapping of str to float
        Metrics of the load.
    """

    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray
    status: StatusArray
    notes: tuple[str, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)


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
        The plane of motion; the load's part along its normal is left out.
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
class Foot:
    """One foot over time, in the laboratory frame.

    Attributes
    ----------
    back_m, front_m : ndarray of shape (n_frames, 3)
        Ends of the line of the foot: heel (or ankle) and front, m.
    contact : ndarray of bool, shape (n_frames,)
        Whether it may stand on the ground, judged from its movement.
    side : str
        Side of the body, for the notes.
    """

    back_m: FloatArray
    front_m: FloatArray
    contact: BoolArray
    side: str = ""

    @property
    def unseen(self) -> BoolArray:
        """Frames in which neither end of the foot is known."""
        return np.asarray(np.isnan(self.front_m).any(axis=1) & np.isnan(self.back_m).any(axis=1))


def find_foot(
    contact_m: Mapping[str, FloatArray],
    *,
    ends: tuple[FloatArray, FloatArray],
    settings: Plates,
    rate_hz: float,
    belt_m_s: FloatArray,
    side: str = "",
) -> Foot:
    """Find when a foot may stand on the ground: whenever one of its landmarks is slow.

    Parameters
    ----------
    contact_m : mapping of str to ndarray of shape (n_frames, 3)
        Positions of the landmarks that show contact, m; a missing sample shows none.
    ends : pair of ndarray of shape (n_frames, 3)
        Back and front of the foot's line, m.
    settings : Plates
        Thresholds.
    rate_hz : float
        Frames per second.
    belt_m_s : ndarray of shape (3,)
        Velocity of the ground: zero, or that of a treadmill's belt, m/s.
    side : str, optional
        Side of the body, for the notes.

    Returns
    -------
    Foot
        The foot and its contacts.

    Notes
    -----
    Height is not judged: stairs, kerbs and ramps have none of their own. A foot held still in the air counts as
    standing, and its torques are left empty rather than computed without the ground; `plates.assignment: none` says
    that there is no ground in the trial.
    """
    contact = np.zeros(len(ends[1]), dtype=bool)
    for positions in contact_m.values():
        velocity, _ = differentiate(positions, rate_hz=rate_hz, accuracy=2)
        contact |= np.linalg.norm(velocity - belt_m_s, axis=1) < settings.max_contact_speed_m_s
    return Foot(ends[0], ends[1], _ignore_short(contact, round(settings.min_contact_s * rate_hz)), side)


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
        Last joint in the plane, m: the point where the equivalent force and couple are given.
    other_foot : Foot or None
        The other foot, where it is mapped: two feet on one plate cannot be separated.
    stretch : Stretch
        The frames of the recording that are analysed.
    smoothing : pair of Smoother and float, or None
        The joint positions' method and the plates' cut-off, Hz; None averages the samples around each frame instead.
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
        A plate that was asked for is not in the recording.

    Notes
    -----
    A loaded stretch of a plate belongs to the foot if the centre of pressure stays within `max_distance_m` of the line
    of the foot (median), nearer than to the other foot, and the other foot does not stand on the same plate. Only
    those stretches are passed on to the filter, so that the other foot's load never leaks in. Stance on no usable
    plate is widened by `min_contact_s` at both ends, because a foot is loaded a little before and after its markers
    are low and slow.

    Frames in which a channel of the foot's plate is at its limit (`signals.flat_tops`), and those that the filter reaches from there,
    have status 2: the force was larger than what was written, by how much is not known. `plate_drift_n` is the change of the vertical
    force between the first and the last third of the unloaded tenths of a second of a plate that was used: tenths with less than
    `max_offset_n` throughout that change by less than half of `threshold_n`; NaN with fewer than six.
    """
    loads = [
        _plate_load(plate, (foot, other_foot), stretch, smoothing, settings, up)
        for plate in _chosen_plates(plates, settings)
    ]
    force, moment = np.zeros((stretch.n_frames, 3)), np.zeros((stretch.n_frames, 3))
    for load in loads:
        force += load.force_n
        moment += load.moment_nm
    measured, unusable, other_unknown, saturated, lost = (
        np.any([getattr(load, name) for load in loads] or [np.zeros(stretch.n_frames, dtype=bool)], axis=0)
        for name in ("own", "unusable", "other_unknown", "saturated", "lost")
    )
    shortest = round(settings.min_contact_s * stretch.rate_hz)
    alone = _ignore_short((foot.contact | unusable) & ~measured, shortest, close=False)
    missing = _widened(alone, shortest) & ~measured
    notes = [note for load in loads for note in load.notes]
    for start, stop in runs(missing):
        notes.append(
            f"{stretch.named(start, stop)}: on the ground without a usable plate, {settings.min_contact_s:g} s before and after counted in"
        )
    missing |= lost
    in_plane = frame.project(force)
    couple = moment @ frame.normal - (ankle_m[:, 0] * in_plane[:, 1] - ankle_m[:, 1] * in_plane[:, 0])
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
    return ExternalLoad(in_plane, ankle_m, couple, status, tuple(notes), metrics)


@dataclass(frozen=True)
class _PlateLoad:
    """Load of one plate on the foot: force and moment at the frames, masks of frames, metrics and notes."""

    force_n: FloatArray
    moment_nm: FloatArray
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
    per_frame, samples = _analysed_samples(plate, stretch.frames, stretch.rate_hz)
    everything = np.hstack([plate.force_n, plate.moment_nm])
    offset, offset_note = _offset(everything, per_frame, up, settings)
    notes = [f"plate {plate.number}: {offset_note}"] if offset_note else []
    if offset is None:
        return _PlateLoad(nothing, nothing, none, none, none, none, none, 0.0, np.nan, tuple(notes))
    wrench = everything[samples] - offset
    broken = np.asarray(np.isnan(wrench).any(axis=1))
    wrench[broken] = 0.0
    mean = wrench.reshape(n_frames, per_frame, 6).mean(axis=1)
    seen = mean[:, :3] + offset[:3]
    heavy = np.linalg.norm(seen, axis=1) > HEAVY * settings.threshold_n
    broken_frames: BoolArray = np.asarray(broken.reshape(n_frames, per_frame).any(axis=1))
    own, unusable, other_unknown, found = _assigned(plate, mean, broken_frames, feet, stretch, settings, up)
    notes += found
    saturated, lost, drift_n = none, none, np.nan
    if own.any():
        drift_n = _drift(everything[:, :3] @ up, per_frame, stretch.rate_hz, settings)
        saturated = own & _saturated(plate)[samples].reshape(n_frames, per_frame).any(axis=1)
        lost = _widened(saturated, _reach_frames(plate, per_frame, smoothing)) & own
        for start, stop in runs(saturated):
            at = f"plate {plate.number} {stretch.named(start, stop)}"
            notes.append(f"{at}: a channel is at its limit, the force is not known")
    smooth = _at_frames(np.where(np.repeat(own, per_frame)[:, None], wrench, 0.0), per_frame, plate.rate_hz, smoothing)
    tilt_deg = _angle_deg(seen[heavy].sum(axis=0), up)
    masks = (own, unusable, other_unknown, saturated, lost)
    return _PlateLoad(smooth[:, :3], smooth[:, 3:], *masks, tilt_deg, drift_n, tuple(notes))


def _assigned(
    plate: ForcePlate,
    mean: FloatArray,
    broken: BoolArray,
    feet: tuple[Foot, Foot | None],
    stretch: Stretch,
    settings: Plates,
    up: FloatArray,
) -> tuple[BoolArray, BoolArray, BoolArray, list[str]]:
    """Frames in which the plate is the foot's own, unusable for it, and own with the other foot unseen; and notes."""
    own, unusable, other_unknown = (np.zeros(len(mean), dtype=bool) for _ in range(3))
    (foot, other), notes = feet, []
    for start, stop in _loaded_stretches(mean, up, settings, stretch.rate_hz):
        part = slice(start, stop)
        whose, why = _verdict(plate, mean[part], feet, part, settings, up)
        if whose == "own" and broken[max(start - 1, 0) : stop + 1].any():
            whose, why = "unusable", "samples of the plate are missing, not used"
        why = why.replace("this foot", f"this foot ({foot.side})", 1) if foot.side else why
        notes.append(f"plate {plate.number} {stretch.named(start, stop)}: {why}")
        own[part] = whose == "own"
        unusable[part] |= whose == "unusable"
        if whose == "own":
            other_unknown[part] |= np.ones(stop - start, dtype=bool) if other is None else other.unseen[part]
    return own, unusable, other_unknown, notes


def centre_of_pressure(wrench: FloatArray, *, up: FloatArray, level_m: float) -> FloatArray:
    """Point at the height `level_m` about which a wrench has no horizontal moment.

    Parameters
    ----------
    wrench : ndarray of shape (n, 6)
        Force in N and moment about the laboratory's origin in N m.
    up : ndarray of shape (3,)
        Unit vector upwards.
    level_m : float
        Height of the working surface along `up`, m.

    Returns
    -------
    ndarray of shape (n, 3)
        Centre of pressure, m; NaN without vertical force.
    """
    force, moment = wrench[:, :3], wrench[:, 3:]
    vertical = force @ up
    loaded = np.abs(vertical) > 1e-9
    per_newton = np.divide(1.0, vertical, where=loaded, out=np.full(len(vertical), np.nan))[:, None]
    horizontal = np.cross(up, moment) * per_newton
    slope = (force - vertical[:, None] * up) * per_newton
    return np.asarray(horizontal + level_m * (up + slope))


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
            f"{', '.join(map(str, numbers)) or 'no plates that could be read'}"
        )
    return [plate for plate in plates if plate.number in settings.assignment]


def _analysed_samples(plate: ForcePlate, frames: slice, rate_hz: float) -> tuple[int, slice]:
    """Samples of a plate for each frame, and the samples of the analysed frames."""
    ratio = plate.rate_hz / rate_hz
    per_frame = round(ratio)
    if abs(ratio - per_frame) > 1e-6 or per_frame < 1:
        raise LoadError(
            f"plate {plate.number} was sampled at {plate.rate_hz:g} Hz, expected a whole multiple of the markers' {rate_hz:g} Hz"
        )
    start, stop = frames.start * per_frame, frames.stop * per_frame
    if len(plate.force_n) < stop:
        raise LoadError(
            f"plate {plate.number} has {len(plate.force_n)} samples, expected at least {stop} for the frames"
        )
    return per_frame, slice(start, stop)


def _offset(everything: FloatArray, per_frame: int, up: FloatArray, settings: Plates) -> tuple[FloatArray | None, str]:
    """Mean wrench of the unloaded frames of the whole recording, and a note.

    Zero where no frame is surely unloaded, None where the plate pulls. Unloaded: near the lowest vertical force, which is itself near zero, for at least a twentieth of the recording.
    """
    if not settings.remove_offset:
        return np.zeros(6), ""
    whole = len(everything) // per_frame * per_frame
    mean = everything[:whole].reshape(-1, per_frame, 6).mean(axis=1)
    mean = mean[~np.isnan(mean).any(axis=1)]
    if not len(mean):
        return np.zeros(6), "has no complete sample"
    vertical = mean[:, :3] @ up
    quiet = vertical < np.percentile(vertical, 5.0) + 0.5 * settings.threshold_n
    level = float(np.median(vertical[quiet]))
    if level < -settings.max_offset_n:
        return None, (
            f"is not used: it reads {level:.0f} N for a twentieth of the recording or more, and no plate pulls; tare it, or raise "
            "plates.max_offset_n"
        )
    if level > settings.max_offset_n:
        return np.zeros(
            6
        ), f"is never unloaded (at least {level:.0f} N), so its offset is not known and was not subtracted"
    quiet &= np.abs(vertical - level) < 0.5 * settings.threshold_n
    offset = cast(FloatArray, mean[quiet].mean(axis=0))
    return offset, f"offset of {offset[:3] @ up:.1f} N vertical subtracted"


def _saturated(plate: ForcePlate) -> BoolArray:
    """Samples in which a channel is at its limit: of the plate's own channels, or of the force where they are not known."""
    return plate.saturated if len(plate.saturated) else flat_tops(plate.force_n)


def _reach_frames(plate: ForcePlate, per_frame: int, smoothing: Smoothing | None) -> int:
    """Frames on both sides that the filter of the plate, or the mean around each frame, reaches."""
    if smoothing is None:
        return 1
    smoother, cutoff_hz = smoothing
    return -(-smoother_reach(cutoff_hz, rate_hz=plate.rate_hz, smoother=smoother) // per_frame)


def _drift(vertical: FloatArray, per_frame: int, rate_hz: float, settings: Plates) -> float:
    """Change of the unloaded vertical force from the first to the last third of the unloaded tenths of a second; NaN if few."""
    size = per_frame * max(round(BLOCK_S * rate_hz), 1)
    blocks = vertical[: len(vertical) // size * size].reshape(-1, size)
    frames = blocks.reshape(len(blocks), -1, per_frame).mean(axis=2)
    steady = np.ptp(frames, axis=1) < 0.5 * settings.threshold_n
    level = frames.mean(axis=1)[steady & (np.abs(frames) < settings.max_offset_n).all(axis=1)]
    if len(level) < FEWEST_BLOCKS:
        return float("nan")
    third = len(level) // 3
    return float(abs(np.median(level[-third:]) - np.median(level[:third])))


def _angle_deg(vector: FloatArray, up: FloatArray) -> float:
    length = float(np.linalg.norm(vector))
    return float(np.degrees(np.arccos(np.clip(vector @ up / length, -1.0, 1.0)))) if length else 0.0


def _loaded_stretches(mean: FloatArray, up: FloatArray, settings: Plates, rate_hz: float) -> list[tuple[int, int]]:
    """Runs of frames above the threshold, each with the flanks that lead up to it and down from it."""
    shortest = round(settings.min_contact_s * rate_hz)
    vertical = mean[:, :3] @ up
    found = runs(_ignore_short(vertical > settings.threshold_n, shortest))
    bounds = [0, *(edge for run in found for edge in run), len(vertical)]
    stretches = []
    for k, (start, stop) in enumerate(found):
        before, after = bounds[2 * k], bounds[2 * k + 3]
        while start > max(before, found[k][0] - shortest) and vertical[start - 1] > FLANK * settings.threshold_n:
            start -= 1
        while stop < min(after, found[k][1] + shortest) and vertical[stop] > FLANK * settings.threshold_n:
            stop += 1
        stretches.append((start, stop))
    return stretches


def _verdict(
    plate: ForcePlate,
    wrench: FloatArray,
    feet: tuple[Foot, Foot | None],
    part: slice,
    settings: Plates,
    up: FloatArray,
) -> tuple[str, str]:
    """Foot that a loaded stretch belongs to ("own", "unusable" for this foot, "other"), and the reason."""
    foot, other = feet
    pressure = centre_of_pressure(wrench, up=up, level_m=float((plate.corners_m @ up).mean()))
    given = settings.assignment != "auto"
    own = _distance(pressure, foot, part, up)
    theirs = _distance(pressure, other, part, up) if other is not None else np.inf
    if np.isnan(own):
        return "unusable", "this foot is not seen, not used"
    where = f"centre of pressure {own:.3f} m from this foot, {theirs:.3f} m from the other"
    if own > settings.max_distance_m and not given:
        return "other", "other foot, " * (theirs <= settings.max_distance_m) + where
    if theirs < own and not given:
        return "other", f"other foot, {where}"
    if other is not None:
        shared = other.contact[part] & _inside(plate, other, part, settings, up, anywhere=True)
        if shared.mean() > SHARED_PLATE_SHARE:
            return "unusable", f"both feet on the plate in {100 * shared.mean():.0f} % of the frames, not used"
    outside = foot.contact[part] & ~_inside(plate, foot, part, settings, up)
    if outside.mean() > SHARED_PLATE_SHARE:
        return (
            "unusable",
            f"this foot is over the edge of the plate in {100 * outside.mean():.0f} % of the frames, not used",
        )
    return "own", f"this foot{', as given' * given}, {where}"


def _distance(pressure_m: FloatArray, foot: Foot, part: slice, up: FloatArray) -> float:
    """Median horizontal distance of the centre of pressure from the line of the foot."""
    flat = np.eye(3) - np.outer(up, up)
    back, front = foot.back_m[part] @ flat, foot.front_m[part] @ flat
    line, point = front - back, pressure_m @ flat - back
    along = np.clip((point * line).sum(axis=1) / np.maximum((line**2).sum(axis=1), 1e-12), 0.0, 1.0)
    distance = np.linalg.norm(point - along[:, None] * line, axis=1)
    known = distance[~np.isnan(distance)]
    return float(np.median(known)) if len(known) else np.nan


def _inside(
    plate: ForcePlate, foot: Foot, part: slice, settings: Plates, up: FloatArray, *, anywhere: bool = False
) -> BoolArray:
    """Whether all standing ends of the foot (or any end at all) are above the plate, give or take the margin.

    An end that is lifted (heel-off, toe-down) does not count: it may well be beyond the edge.
    """
    over, standing = [], []
    for points in (foot.back_m, foot.front_m):
        height = points[part] @ up
        lowest = np.nanmin(height) if not np.isnan(height).all() else np.nan
        standing.append(height < lowest + settings.max_contact_height_m)
        over.append(_in_quadrilateral(points[part], plate.corners_m, up, 0.0 if anywhere else settings.edge_margin_m))
    if anywhere:
        return over[0] | over[1]
    return (over[0] | ~standing[0]) & (over[1] | ~standing[1])


def _in_quadrilateral(points_m: FloatArray, corners_m: FloatArray, up: FloatArray, margin_m: float) -> BoolArray:
    centre = corners_m.mean(axis=0)
    inside = np.ones(len(points_m), dtype=bool)
    for corner, following in zip(corners_m, np.roll(corners_m, -1, axis=0), strict=True):
        outward = np.cross(following - corner, up)
        outward = outward * np.sign(outward @ (corner - centre)) / max(float(np.linalg.norm(outward)), 1e-12)
        inside &= (points_m - corner) @ outward < margin_m
    return inside


def _widened(mask: BoolArray, frames: int) -> BoolArray:
    result = np.array(mask)
    for start, stop in runs(mask):
        result[max(start - frames, 0) : stop + frames] = True
    return result


def _ignore_short(mask: BoolArray, shortest: int, *, close: bool = True) -> BoolArray:
    """Close short gaps between true runs, then drop short true runs."""
    result = np.array(mask, dtype=bool)
    if close:
        for start, stop in runs(~result):
            if stop - start < shortest and start > 0 and stop < len(result):
                result[start:stop] = True
    for start, stop in runs(result):
        if stop - start < shortest:
            result[start:stop] = False
    return result


def _at_frames(wrench: FloatArray, per_frame: int, rate_hz: float, smoothing: Smoothing | None) -> FloatArray:
    """Samples at the markers' frames, without aliasing: smoothed first, or the mean around each frame."""
    if not wrench.any():
        return wrench[::per_frame]
    if smoothing is not None:
        smoother, cutoff_hz = smoothing
        if cutoff_hz >= 0.5 * rate_hz / per_frame:
            raise LoadError(
                f"force plates would be filtered at {cutoff_hz:g} Hz (filter.force_cutoff_hz), and samples taken at the frames, "
                f"{rate_hz / per_frame:g} a second, would alias; give less than {0.5 * rate_hz / per_frame:g} Hz"
            )
        return smooth_values(wrench, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)[::per_frame]
    before = per_frame // 2
    padded = np.concatenate([np.repeat(wrench[:1], before, axis=0), wrench])[: len(wrench)]
    return cast(FloatArray, padded.reshape(-1, per_frame, wrench.shape[1]).mean(axis=1))
