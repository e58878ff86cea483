"""Plausibility of distances, speeds and forces of a recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, stretches
from limbtorque.errors import ReadError
from limbtorque.recordings.force_plates import LARGEST_N
from limbtorque.recordings.recording import Audit, Finding, Recording
from limbtorque.recordings.source import LENGTHS_M

FASTEST_M_S = 40.0  # a joint centre; the wrist of a pitcher reaches half of it
LARGEST_M = 1.5  # median distance of a marker from the nearest other one
SMALLEST_M = 0.002
LIKELY_M = (0.02, 0.6)
MISTAKES = {  # factor between two units of length that are taken for each other
    f"{unit} read as {other}": LENGTHS_M[other] / LENGTHS_M[unit] for other, unit in permutations(("m", "cm", "mm"), 2)
}
FARTHEST_M = 1000.0  # from the middle of all markers
FRAMES, MARKERS = 25, 40  # that are looked at
LEAP_M_S = 100.0  # between frames: twice the fastest clubs and balls, four times the hand of a pitcher
LONGEST_LEAP_S = 0.1  # after which a marker that leapt may have been elsewhere before
ASIDE_M = 5.0  # of a marker from the middle of the others


def check_plausible(recording: Recording) -> None:
    """Refuse a recording with implausible distances of markers, or forces.

    Parameters
    ----------
    recording : Recording
        The recording.

    Raises
    ------
    ReadError
        Half of the markers are more than 1.5 m from their nearest neighbour, or less than 2 mm; or a force in a text file is larger than any plate
        measures (C3D files leave out such a plate). The message names the unit that would be likely.

    Notes
    -----
    Medians: one marker that flies about, or two bodies far apart, are not a wrong unit. Markers of bodies are 2 to 60
    cm from their nearest neighbour. Fewer than two markers have no distance.
    """
    apart_m = nearest_m(recording.markers_m)
    if not SMALLEST_M <= apart_m <= LARGEST_M and not np.isnan(apart_m):
        likely = [
            f"{apart_m / f:.3g} m ({how})" for how, f in MISTAKES.items() if LIKELY_M[0] <= apart_m / f <= LIKELY_M[1]
        ]
        hint = f"likely units: {' or '.join(likely)}" if likely else "the unit of length is wrong, or the file damaged"
        raise ReadError(
            f"{recording.source}: markers are {apart_m:.4g} m from their nearest neighbour (median), implausible for a human body; "
            f"{hint}; set reading.length_unit"
        )
    for plate in recording.force_plates:
        largest_n = float(np.abs(np.nan_to_num(plate.force_n)).max(initial=0.0))
        if largest_n > LARGEST_N:
            raise ReadError(
                f"{recording.source}: the forces of plate {plate.number} are up to {largest_n:.3g} N, more than force plates "
                f"measure ({LARGEST_N:g} N); check the unit of force "
                "(reading.force_unit) in the file"
            )


def without_leaps(recording: Recording) -> Recording:
    """Recording without positions that no marker on a body can have.

    Parameters
    ----------
    recording : Recording
        The recording.

    Returns
    -------
    Recording
        The same, or one in which such positions are missing, which is a guess in its audit: more than 1 km from the median of all;
        between leaps faster than `LEAP_M_S`, if at most `LONGEST_LEAP_S` long or `ASIDE_M` from the middle of the frame's markers; in
        a part of the file that all markers enter or leave with a leap, and whose distances are those of another unit. Markers that are
        faster than `FASTEST_M_S` for one frame, there and back, are in its notes.

    Raises
    ------
    ReadError
        Half of the markers are faster than `FASTEST_M_S` half of the time.

    Notes
    -----
    Programs write -9999 or 9999.999 where a marker was not seen, and files that are joined may change their unit of length.
    """
    markers_m, far = recording.markers_m, _far(recording.markers_m)
    if far is not None:
        markers_m = np.where(far[:, :, np.newaxis], np.nan, markers_m)
    with np.errstate(over="ignore"):
        speed_m_s = np.concatenate(list(_steps_m(markers_m))) * recording.rate_hz
    _refuse_speed(recording, speed_m_s)
    recording = _with_brief_leaps(recording, speed_m_s)
    fast = speed_m_s > LEAP_M_S
    if fast.any():
        leaping = _of_another_unit(markers_m, fast) | _aside(markers_m, fast, recording.rate_hz)
        far = leaping if far is None else far | leaping
    if far is None or not far.any():
        return recording
    named = [recording.labels[k] for k in np.unique(np.nonzero(far)[1])]
    found = Finding(
        "far samples",
        f"{int(far.sum())} positions of {', '.join(named[:3])}{', ...' if named[3:] else ''} are more than {FARTHEST_M:g} m from the others, "
        f"or leap at more than {LEAP_M_S:g} m/s",
        "treated as missing",
        "the file is damaged there; export it again",
    )
    kept_m = np.where(far[:, :, np.newaxis], np.nan, recording.markers_m)
    return replace(recording, markers_m=kept_m, audit=Audit((*recording.audit.findings, found)))


def _refuse_speed(recording: Recording, speed_m_s: FloatArray) -> None:
    """Refuse markers that are faster than a body in the median."""
    known = speed_m_s[np.isfinite(speed_m_s)]
    if known.size and (median_m_s := float(np.median(known))) > FASTEST_M_S:
        raise ReadError(
            f"{recording.source}: half of the markers are faster than {median_m_s:.4g} m/s half of the time, implausible for a "
            f"human body (above {FASTEST_M_S:g} m/s), at {recording.rate_hz:g} frames per "
            "second; check the unit of length (reading.length_unit) and the frame rate of the file"
        )


def _with_brief_leaps(recording: Recording, speed_m_s: FloatArray) -> Recording:
    """Recording with a note on markers that leap away for a frame and back."""
    leaping = (speed_m_s > FASTEST_M_S) & (speed_m_s <= LEAP_M_S)
    frames, markers = np.nonzero(leaping[:-1] & leaping[1:])
    across_m = np.linalg.norm(recording.markers_m[frames + 2, markers] - recording.markers_m[frames, markers], axis=1)
    back = across_m * recording.rate_hz < FASTEST_M_S
    if not back.any():
        return recording
    named = sorted({recording.labels[k] for k in markers[back]})
    note = f"{', '.join(named[:3])}{', ...' if named[3:] else ''}: faster than {FASTEST_M_S:g} m/s for a frame, and back; see the file"
    return replace(recording, notes=(*recording.notes, note))


def _far(markers_m: FloatArray) -> BoolArray | None:
    """Positions more than 1 km from the median of all; None where there are none."""
    some = markers_m[:: max(1, len(markers_m) // FRAMES)].reshape(-1, 3)
    seen = some[np.isfinite(some).all(axis=1)]
    if not seen.size:
        return None
    middle_m = np.median(seen, axis=0)
    high_m, low_m = (bound.reduce(markers_m, axis=(0, 1)) for bound in (np.fmax, np.fmin))
    if max((high_m - middle_m).max(), (middle_m - low_m).max()) <= FARTHEST_M:
        return None
    return np.asarray((np.abs(markers_m - middle_m) > FARTHEST_M).any(axis=2))


def _of_another_unit(markers_m: FloatArray, fast: BoolArray) -> BoolArray:
    """Frames of parts that begin with a leap and are of no body's size."""
    found = np.zeros(markers_m.shape[:2], dtype=bool)
    together = 2 * fast.sum(axis=1) > np.isfinite(markers_m[1:, :, 0]).sum(axis=1)
    ends = [0, *(np.flatnonzero(together) + 1).tolist(), len(markers_m)]
    parts = [slice(*pair) for pair in pairwise(ends)]
    apart_m = [nearest_m(markers_m[part]) for part in parts]
    likely = [LIKELY_M[0] <= each <= LIKELY_M[1] for each in apart_m]
    for part, is_likely in zip(parts, likely, strict=True):
        found[part] = any(likely) and not is_likely
    return found


def _aside(markers_m: FloatArray, fast: BoolArray, rate_hz: float) -> BoolArray:
    """Positions of single markers between leaps: short, or far from the other markers."""
    found = np.zeros(markers_m.shape[:2], dtype=bool)
    for marker in np.flatnonzero(fast.any(axis=0)):
        ends = [0, *(np.flatnonzero(fast[:, marker]) + 1).tolist(), len(markers_m)]
        parts = [slice(*pair) for pair in pairwise(ends)]
        longest = max(parts, key=lambda part: part.stop - part.start)
        for part in (part for part in parts if part is not longest):
            middle_m = _middle_m(np.delete(markers_m[part], marker, axis=1))
            aside_m = np.linalg.norm(_middle_m(markers_m[part, marker]) - middle_m)
            found[part, marker] = part.stop - part.start <= LONGEST_LEAP_S * rate_hz or aside_m > ASIDE_M
    return found


def _middle_m(positions_m: FloatArray) -> FloatArray:
    """Median of known positions, m; NaN where there are none."""
    known = positions_m.reshape(-1, 3)
    known = known[np.isfinite(known).all(axis=1)]
    return np.median(known, axis=0) if len(known) else np.full(3, np.nan)


def _steps_m(markers_m: FloatArray) -> Iterator[FloatArray]:
    """Distances from frame to frame, m, of one stretch of frames after the other."""
    n_steps = max(len(markers_m) - 1, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        for some in stretches(n_steps):
            squared = np.diff(markers_m[some.start : some.stop + 1], axis=0) ** 2
            yield np.sqrt(squared[:, :, 0] + squared[:, :, 1] + squared[:, :, 2])


def nearest_m(markers_m: FloatArray) -> float:
    """Median distance to the nearest other marker, m; NaN for fewer than two.

    From 25 to 50 frames and at most 80 markers.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, NaN where missing.
    """
    found = []
    for frame in markers_m[:: max(1, len(markers_m) // FRAMES)]:
        seen = frame[np.isfinite(frame).all(axis=1)]
        if 2 <= len(seen) <= 2000:
            with np.errstate(over="ignore"):  # infinitely far apart is too far
                step = max(1, len(seen) // MARKERS)
                some = seen[::step]
                x, y, z = (np.subtract.outer(axis, other) ** 2 for axis, other in zip(some.T, seen.T, strict=True))
                squared = x + y + z
            own = np.arange(len(some))
            squared[own, own * step] = np.inf
            nearest = np.sqrt(squared.min(axis=1))
            found.append(nearest[nearest > 0.0])  # markers in one place say nothing of the unit
    known = np.concatenate(found) if found else np.zeros(0)
    return float(np.median(known)) if known.size else float("nan")
