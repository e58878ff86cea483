"""Force plates: samples, offset, loading, smoothing, surface, centre of pressure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, ignore_short, runs
from limbtorque.errors import LoadError
from limbtorque.ground.foot import MIN_CONTACT_S, Foot, centre_of_pressure
from limbtorque.ground.impacts import Impacts
from limbtorque.motion.plane import PlaneFrame
from limbtorque.recordings.recording import ForcePlate
from limbtorque.signals.channels import flat_tops
from limbtorque.signals.smoothers import Smoother, smooth_values, smoother_reach
from limbtorque.study.options.reading import Plates

MAX_OFFSET_N = 40.0  # lowest vertical force of a plate that is unloaded at some time, from zero

HEAVY = 5.0  # times the threshold: forces that show the vertical by their direction
FLANK = 0.1  # of the threshold: the flanks of a loaded stretch extend down to this force
BLOCK_S = 0.1
FEWEST_BLOCKS = 6
FIRST_FRAMES = 5  # of a loaded stretch, in which its foot is sought
NEAR_M = 0.25  # of the middle of a foot: half its length, and half the way of the centre of pressure
STANDING_M = 0.04  # the lower end of a standing foot: 0.020 to 0.054 m in 12 recorded stances, 0 in simulated ones
LOADED_SHARE = 0.2  # of the largest force on the foot: frames in which it stands
FEWEST_FRAMES = 3
LEAST_SLOPE_DEG = 5.0  # a step that speeds up or slows down leans by 2 degrees on average
LEAST_AREA_M2 = 1e-4  # a file that holds the wrench itself has no surface


@dataclass(frozen=True)
class Smoothing:
    """Smoothing of force plates.

    Attributes
    ----------
    smoother : Smoother
        The method, that of the joint positions.
    cutoff_hz : float
        Cut-off, Hz.
    impacts : Impacts or None
        Impacts around which the force is filtered as the markers need; None where the cut-off is the same everywhere.
    """

    smoother: Smoother
    cutoff_hz: float
    impacts: Impacts | None = None


@dataclass(frozen=True)
class Reading:
    """Signal of one plate over the analysed frames, without its offset.

    Attributes
    ----------
    plate : ForcePlate
        The plate.
    per_frame : int
        Samples per frame.
    wrench : ndarray of shape (n_samples, 6)
        Force, N, and moment about the laboratory's origin, N m; zero where a sample is missing.
    mean : ndarray of shape (n_frames, 6)
        Means over the samples of each frame.
    vertical_n : ndarray of shape (n_frames,)
        Vertical force of these means, N.
    broken : ndarray of bool, shape (n_frames,)
        Frames with missing samples.
    offset : ndarray of shape (6,), or None
        What was subtracted from the samples; None for a plate that pulls.
    stretches : tuple of (int, int)
        Runs of loaded frames, flanks included: first frame, and the one after the last.
    onset : ndarray of shape (n_stretches,)
        First sample of each stretch above the threshold, in frames; NaN where the recording begins loaded.
    tilt_deg : float
        Angle between the up axis and the mean of large forces, degrees.
    note : str
        Offset of the plate, for the ledger.
    """

    plate: ForcePlate
    per_frame: int
    wrench: FloatArray
    mean: FloatArray
    vertical_n: FloatArray
    broken: BoolArray
    offset: FloatArray | None
    stretches: tuple[tuple[int, int], ...]
    onset: FloatArray
    tilt_deg: float
    note: str

    @property
    def loaded(self) -> BoolArray:
        """Frames in which the plate is loaded."""
        mask = np.zeros(len(self.mean), dtype=bool)
        for start, stop in self.stretches:
            mask[start:stop] = True
        return mask


def read_plate(plate: ForcePlate, frames: slice, rate_hz: float, *, settings: Plates, up: FloatArray) -> Reading:
    """Signal of a plate over the analysed frames.

    Parameters
    ----------
    plate : ForcePlate
        The plate.
    frames : slice
        The analysed frames.
    rate_hz : float
        Frames per second.
    settings : Plates
        Thresholds.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    Reading
        A plate that pulls is never loaded.

    Raises
    ------
    LoadError
        The plate's samples do not fit the frames.
    """
    n_frames = frames.stop - frames.start
    per_frame, samples = analysed_samples(plate, frames, rate_hz)
    everything = np.hstack([plate.force_n, plate.moment_nm])
    offset, note = offset_of(frame_means(everything, per_frame), up, settings)
    wrench = np.zeros((n_frames * per_frame, 6)) if offset is None else everything[samples] - offset
    mean = frame_means(wrench, per_frame)
    broken: BoolArray = np.asarray(np.isnan(mean).any(axis=1))
    if broken.any():
        wrench[np.isnan(wrench).any(axis=1)] = 0.0
        mean = frame_means(wrench, per_frame)
    seen = mean[:, :3] + (0.0 if offset is None else offset[:3])
    heavy = np.linalg.norm(seen, axis=1) > HEAVY * settings.threshold_n
    vertical = mean[:, :3] @ up
    stretches = loaded_stretches(vertical, settings, rate_hz)
    above = wrench[:, :3] @ up > settings.threshold_n
    onsets = [
        start + int(np.argmax(above[start * per_frame : stop * per_frame])) / per_frame if start else np.nan
        for start, stop in stretches
    ]
    return Reading(
        plate=plate,
        per_frame=per_frame,
        wrench=wrench,
        mean=mean,
        vertical_n=vertical,
        broken=broken,
        offset=offset,
        stretches=tuple(stretches),
        onset=np.array(onsets, dtype=float),
        tilt_deg=_angle_deg(seen[heavy].sum(axis=0), up),
        note=f"plate {plate.number}: {note}" if note else "",
    )


def _angle_deg(vector: FloatArray, up: FloatArray) -> float:
    length = float(np.linalg.norm(vector))
    return float(np.degrees(np.arccos(np.clip(vector @ up / length, -1.0, 1.0)))) if length else 0.0


def analysed_samples(plate: ForcePlate, frames: slice, rate_hz: float) -> tuple[int, slice]:
    """Samples of a plate for each frame, and the samples of the analysed frames."""
    ratio = plate.rate_hz / rate_hz
    per_frame = round(ratio)
    if abs(ratio - per_frame) > 1e-6 or per_frame < 1:
        raise LoadError(
            f"plate {plate.number} was sampled at {plate.rate_hz:g} Hz, expected an integer multiple of the markers' {rate_hz:g} Hz"
        )
    start, stop = frames.start * per_frame, frames.stop * per_frame
    if len(plate.force_n) < stop:
        raise LoadError(
            f"plate {plate.number} has {len(plate.force_n)} samples, expected at least {stop} for the frames"
        )
    return per_frame, slice(start, stop)


def read_plates(
    plates: Sequence[ForcePlate], frames: slice, rate_hz: float, *, settings: Plates, up: FloatArray
) -> list[Reading]:
    """Signals of the plates in `plates.assignment`, or of all plates.

    Parameters
    ----------
    plates : sequence of ForcePlate
        The plates of the recording.
    frames, rate_hz, settings, up
        As in `read_plate`.

    Raises
    ------
    LoadError
        A plate of `plates.assignment` is not in the recording, or its samples do not fit the frames.
    """
    chosen = list(plates) if settings.assignment == "auto" else []
    if settings.assignment not in ("auto", "none"):
        numbers = [plate.number for plate in plates]
        unknown = [number for number in settings.assignment if number not in numbers]
        if unknown:
            raise LoadError(
                f"plates.assignment names plate {unknown[0]}, the recording has "
                f"{', '.join(map(str, numbers)) or 'no readable plates'}; correct plates.assignment"
            )
        chosen = [plate for plate in plates if plate.number in settings.assignment]
    return [read_plate(plate, frames, rate_hz, settings=settings, up=up) for plate in chosen]


def offset_of(mean: FloatArray, up: FloatArray, settings: Plates) -> tuple[FloatArray | None, str]:
    """Mean wrench of the unloaded frames of the whole recording, and a note.

    The frames are given by their means, shape (n_frames, 6). Zero without certainly unloaded frames, None if the plate pulls. Unloaded: near the lowest vertical force, which is
    near zero, for at least 5 % of the recording.
    """
    if not settings.remove_offset:
        return np.zeros(6), ""
    mean = mean[~np.isnan(mean).any(axis=1)]
    if not len(mean):
        return np.zeros(6), "has no complete sample"
    vertical = mean[:, :3] @ up
    quiet = vertical < np.percentile(vertical, 5.0) + 0.5 * settings.threshold_n
    level = float(np.median(vertical[quiet]))
    if level < -MAX_OFFSET_N:
        return None, (
            f"is not used: it reads {level:.0f} N in 5 % of the recording or more, expected no tension; tare it"
        )
    if level > MAX_OFFSET_N:
        return np.zeros(6), f"is never unloaded (at least {level:.0f} N): its offset is unknown and not subtracted"
    quiet &= np.abs(vertical - level) < 0.5 * settings.threshold_n
    offset = cast(FloatArray, mean[quiet].mean(axis=0))
    return offset, f"offset of {offset[:3] @ up:.1f} N vertical subtracted"


def saturated_samples(plate: ForcePlate) -> BoolArray:
    """Mask of samples with a saturated channel (or force, if channels are unknown)."""
    return plate.saturated if len(plate.saturated) else flat_tops(plate.force_n)


def reach_frames(plate: ForcePlate, per_frame: int, smoothing: Smoothing | None) -> int:
    """Frames on both sides that the plate's filter or mean uses."""
    if smoothing is None:
        return 1
    reach = smoother_reach(smoothing.cutoff_hz, rate_hz=plate.rate_hz, smoother=smoothing.smoother)
    return max(-(-reach // per_frame), smoothing.impacts.smoothed.reach if smoothing.impacts else 0)


def drift_n(vertical: FloatArray, per_frame: int, rate_hz: float, settings: Plates) -> float:
    """Drift of the unloaded vertical force from first to last third; NaN if unknown."""
    size = per_frame * max(round(BLOCK_S * rate_hz), 1)
    blocks = vertical[: len(vertical) // size * size].reshape(-1, size)
    frames = blocks.reshape(len(blocks), -1, per_frame).mean(axis=2)
    steady = np.ptp(frames, axis=1) < 0.5 * settings.threshold_n
    level = frames.mean(axis=1)[steady & (np.abs(frames) < MAX_OFFSET_N).all(axis=1)]
    if len(level) < FEWEST_BLOCKS:
        return float("nan")
    third = len(level) // 3
    return float(abs(np.median(level[-third:]) - np.median(level[:third])))


def loaded_stretches(vertical: FloatArray, settings: Plates, rate_hz: float) -> list[tuple[int, int]]:
    """Runs of frames above the threshold, including rising and falling flanks."""
    shortest = round(MIN_CONTACT_S * rate_hz)
    found = runs(ignore_short(vertical > settings.threshold_n, shortest))
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


def loading_onsets(
    readings: Sequence[Reading], foot_m: FloatArray, *, rate_hz: float, up: FloatArray, settings: Plates
) -> tuple[float, ...]:
    """Times at which a foot begins to load a plate, from the first analysed frame, s.

    Parameters
    ----------
    readings : sequence of Reading
        Signals of the plates.
    foot_m : ndarray of shape (n_frames, 3)
        Middle of the foot, not filtered, m.
    rate_hz : float
        Frames per second.
    up : ndarray of shape (3,)
        Unit vector upwards.
    settings : Plates
        Threshold and shortest contact.

    Notes
    -----
    The foot is the one whose middle is within `NEAR_M` of the centre of pressure in the first loaded frames; a frame with
    missing samples counts as unloaded.
    """
    found = set()
    for reading in readings:
        mean, stretches = reading.mean, reading.stretches
        if reading.broken.any():
            mean = np.where(reading.broken[:, None], 0.0, mean)
            stretches = tuple(loaded_stretches(mean @ np.append(up, np.zeros(3)), settings, rate_hz))
        level_m = float((reading.plate.corners_m @ up).mean())
        for start, stop in stretches:
            first = slice(start, min(stop, start + FIRST_FRAMES))
            away = centre_of_pressure(mean[first], up=up, level_m=level_m) - foot_m[first]
            away = away[~np.isnan(away).any(axis=1)]
            if start == 0 or not len(away):
                continue
            middle = np.median(away, axis=0)
            if np.linalg.norm(middle - (middle @ up) * up) < NEAR_M:
                found.add(start)
    return tuple(sorted(start / rate_hz for start in found))


def frame_means(samples: FloatArray, per_frame: int) -> FloatArray:
    """Means over whole frames by a product with a matrix; NaN with missing samples."""
    whole, channels = len(samples) // per_frame * per_frame, samples.shape[1]
    sums = np.tile(np.eye(channels), (per_frame, 1)) / per_frame
    return np.asarray(samples[:whole].reshape(-1, channels * per_frame) @ sums)


def means_around(samples: FloatArray, per_frame: int) -> FloatArray:
    """Means of the samples around the first one of each frame."""
    before = per_frame // 2
    return frame_means(np.concatenate([np.repeat(samples[:1], before, axis=0), samples])[: len(samples)], per_frame)


def at_frames(wrench: FloatArray, per_frame: int, rate_hz: float, smoothing: Smoothing | None) -> FloatArray:
    """Samples at the marker frames without aliasing: smoothed, or frame means."""
    if not wrench.any():
        return wrench[::per_frame]
    if smoothing is not None:
        if smoothing.cutoff_hz >= 0.5 * rate_hz / per_frame:
            raise LoadError(
                f"the cut-off of force plates is {smoothing.cutoff_hz:g} Hz (filter.force_cutoff_hz), expected less than "
                f"{0.5 * rate_hz / per_frame:g} Hz, half the frame rate, to avoid aliasing"
            )
        return smooth_values(wrench, rate_hz=rate_hz, cutoff_hz=smoothing.cutoff_hz, smoother=smoothing.smoother)[
            ::per_frame
        ]
    return means_around(wrench, per_frame)


def surface_metrics(
    readings: Sequence[Reading], owned: Sequence[BoolArray], foot: Foot, up: FloatArray
) -> dict[str, float]:
    """Compare the surface of each plate with the foot that stands on it.

    Parameters
    ----------
    readings : sequence of Reading
        Signals of the plates.
    owned : sequence of ndarray of bool, shape (n_frames,)
        Frames in which each plate measures this foot alone.
    foot : Foot
        The foot.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    dict of str to float
        `plate_height_error_m`: the lower end of the foot above the surface, less `STANDING_M`, absolute; median over each stance,
        the largest of them. `plate_slope_deg`: angle between the surface and the horizontal, the largest of the plates in
        use. `slope_in_force_share`: lean of the mean force towards the normal of a plate that slopes by `LEAST_SLOPE_DEG`, over
        the slope, the largest of these plates: 0 on a ramp, 1 where the corners are wrong. NaN without a stance (of `FEWEST_FRAMES`
        for the height, whole for the lean), the slope also without corners, and the lean without such a plate.

    Notes
    -----
    The force that carries a body is vertical on average, on a ramp as well. Where corners slope and the plate does not, the
    whole force is turned with them, into their normal.

    The ends are the front of the foot and the heel, or the ankle without a heel. One of the two is always low: the heel at
    the strike, the front at push-off. Frames with less than `LOADED_SHARE` of the foot's largest force do not count.
    """
    pairs = list(zip(readings, owned, strict=True))
    largest_n = max((reading.vertical_n[own].max() for reading, own in pairs if own.any()), default=0.0)
    heights_m, slopes_deg, leans = [], [], []
    for reading, own in pairs:
        middle_m, normal, slope_deg = _surface(reading.plate.corners_m, up)
        low_m = np.fmin(foot.back_m @ normal, foot.front_m @ normal) - middle_m @ normal
        known = (reading.vertical_n > LOADED_SHARE * largest_n) & ~np.isnan(low_m)
        stances = [low_m[start:stop][known[start:stop]] for start, stop in runs(own)]
        heights_m += [float(np.median(low)) for low in stances if len(low) >= FEWEST_FRAMES]
        slopes_deg += [slope_deg] if own.any() else []
        if slope_deg > LEAST_SLOPE_DEG:
            # whole stances: little force in the frames before and after
            around = np.append(reading.vertical_n, [np.inf, np.inf])  # the last also stands before the first frame
            whole = [slice(*run) for run in runs(own) if max(around[[run[0] - 1, run[1]]]) < LOADED_SHARE * largest_n]
            impulse = sum((reading.mean[part, :3].sum(axis=0) for part in whole), start=np.zeros(3))
            height = float(normal @ up)
            downhill = normal - height * up
            # lean from `up` towards the normal, as a share of the normal's own
            leans += [float((impulse @ downhill) / (impulse @ up) * height / (downhill @ downhill))] if whole else []
    return {
        "plate_height_error_m": max((abs(height - STANDING_M) for height in heights_m), default=float("nan")),
        "plate_slope_deg": max((slope for slope in slopes_deg if not np.isnan(slope)), default=float("nan")),
        "slope_in_force_share": max(leans, default=float("nan")),
    }


def _surface(corners_m: FloatArray, up: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Centre, upward normal and slope of a surface; `up` and NaN without corners."""
    middle_m, normal = corners_m.mean(axis=0), np.cross(corners_m[2] - corners_m[0], corners_m[3] - corners_m[1])
    size = float(np.linalg.norm(normal))
    if size < LEAST_AREA_M2:
        return middle_m, up, float("nan")
    normal = normal / size * (1.0 if normal @ up >= 0.0 else -1.0)
    return middle_m, normal, float(np.degrees(np.arccos(np.clip(normal @ up, -1.0, 1.0))))


def pressure_in_plane(
    force_n: FloatArray,
    couple_nm: FloatArray,
    ankle_m: FloatArray,
    *,
    plates: Sequence[ForcePlate],
    frame: PlaneFrame,
    threshold_n: float,
) -> FloatArray:
    """Point at plate height where the force acts without a couple.

    Parameters
    ----------
    force_n, ankle_m : ndarray of shape (n_frames, 2)
        Force on the foot, N, and ankle, m, in the plane.
    couple_nm : ndarray of shape (n_frames,)
        Couple about the ankle, N m.
    plates : sequence of ForcePlate
        Plates, for their mean height.
    frame : PlaneFrame
        The plane; there is no such point in a horizontal one.
    threshold_n : float
        Least upward force.

    Returns
    -------
    ndarray of shape (n_frames, 2)
        Point in the plane, m; NaN where it does not exist.
    """
    upward = np.where(force_n[:, 1] > threshold_n, force_n[:, 1], np.nan)
    heights = [frame.project(plate.corners_m)[:, 1].mean() for plate in plates if frame.view != "horizontal"]
    level = np.mean(heights or [np.nan])
    below = level - ankle_m[:, 1]
    return np.stack([ankle_m[:, 0] + (couple_nm + below * force_n[:, 0]) / upward, below + ankle_m[:, 1]], axis=1)
