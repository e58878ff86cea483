"""Read keypoints from JSON, in space or in images of one camera."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.recordings.keypoints.document import Frames, Manner, Person, frame_of, frames_of, parsed
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.source import LENGTHS_M, Source, plain_unit, read_bytes
from limbtorque.study.trials import frame_files, is_frame, numbered

PICTURE = "y is turned upwards, so that +y is up in the picture"
MAX_FRACTION = 2.0  # coordinates below it are fractions of the picture, not pixels
LOW_CONFIDENCE = 0.5
MAX_MISSING = 0.5  # of the frames
POINT_BYTES = 100  # of memory for a keypoint of a frame
MAX_PEOPLE, MAX_TRACKS = 50, 200  # in one frame, and followed from frame to frame
MAX_STEP = 0.5  # of a person's size from frame to frame
MIN_SHARE = 0.2  # of the frames of the person that is seen longest: fewer are false detections and people who pass by
_FAR = 1e12
Track = dict[int, Person]


def read_keypoints(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read keypoints from JSON, one file for each frame or one for all.

    Parameters
    ----------
    path : Path
        The file, or that of one frame: those of the other frames beside it are read as well.
    options : ReadOptions, optional
        Options of the readers. Most files state neither their rate nor their unit.

    Returns
    -------
    Recording
        Keypoints as markers; those of several people have the prefixes ``person_1``, ``person_2`` and so on. A keypoint with less than
        ``min_confidence`` is missing. Of two-dimensional ones x is that of the picture, y is turned upwards, the third coordinate is 0.

    Raises
    ------
    ReadError
        Not such a file, nobody in it, no rate, pixels without a scale, positions in space without a unit.

    Notes
    -----
    A camera that looks along the normal of the plane of movement shows lengths in this plane at one scale, in metres a pixel (a
    pinhole's distance over its focal length in pixels). A known length between two keypoints gives it as that length over the median
    distance in pixels. What is nearer to the camera than the plane looks larger, by the ratio of the distances.
    """
    source = Source(path.name, options)
    frames = _contents(path, source)
    people, n_left_out, by_place = tracks(source, frames.people)
    settle = "check them (`limbtorque map`): two people who pass each other may be exchanged" if by_place else ""
    how = "each is matched to the nearest person in the last frame" if by_place else "by the identities in the file"
    several = len(people) > 1
    source.add("people", f"{len(people)}", how if several else "one subject", settle if several else "")
    if n_left_out:
        source.add("people", f"{n_left_out} more, in under a fifth of the frames", "left out as false detections")
    numbers, first_frame = _even(source, sorted(frames.people))
    labels, points = _stacked(source, people, numbers)
    if frames.rate_hz:
        source.refuse_other_rate(frames.rate_hz, "the rate in the file")
    rate_hz = options.rate_hz or frames.rate_hz
    if not rate_hz:
        raise source.error("keypoints without a rate; give the frames per second of the video with reading.rate_hz")
    stated, by_option = ("the file states it", "") if frames.rate_hz else ("not stated", ", as in reading.rate_hz")
    source.add("rate", stated, f"{rate_hz:g} frames per second{by_option}")
    xyz = np.where(_known(source, points, labels)[:, :, np.newaxis], points[:, :, :3], np.nan)
    if np.isfinite(points[:, :, 2]).any():
        length_m = source.length_m(frames.unit, "the file")
        source.add("axes", "x, y, z", "unchanged; plane.up_axis of the settings defines the vertical")
    else:
        length_m = _metres_per_pixel(source, xyz[:, :, :2], labels, frames.unit)
        source.add("axes", "x to the right and y down in the picture", f"{PICTURE}; the third coordinate is 0")
        xyz = np.stack([xyz[:, :, 0], -xyz[:, :, 1], np.zeros(xyz.shape[:2])], axis=2)
    markers_m = source.positions_m(xyz, length_m, labels)
    return source.recording(
        "keypoints.read", labels=labels, markers_m=markers_m, rate_hz=rate_hz, first_frame=first_frame
    )


def _contents(path: Path, source: Source) -> Frames:
    """Frames of one file, or of a file for each frame; sets the hash of the source."""
    if not is_frame(path):
        frames = frames_of(parsed(read_bytes(path, source), source), source)
        source.add("format", "keypoints as JSON, all frames in one file", f"{len(frames.people)} frames")
        return frames
    digest, frames, size = hashlib.sha256(), Frames(), 0
    files = frame_files(path)
    for file in files:
        of_frame = Source(file.name, source.options)
        raw = read_bytes(file, of_frame)
        digest.update(raw)
        size += of_frame.size
        name = numbered(file)
        number = name[1] if name else 1
        if number in frames.people:
            raise of_frame.error(f"another file also has frame {number}; remove one of them")
        frames.people[number] = frame_of(parsed(raw, of_frame), Manner(of_frame))
    if (after := frame_files(path)) != files:
        raise source.error(
            f"the other frames changed during reading ({len(files)} files, then {len(after)}); wait until all are "
            "written, and read them again"
        )
    source.size, source.sha256 = size, digest.hexdigest()
    source.add("format", f"keypoints as JSON, one file for each frame, {len(files)} files", "one recording")
    return frames


def _even(source: Source, numbers: Sequence[int]) -> tuple[list[int], int]:
    """Numbers of all frames, including missing frames, and the first frame."""
    step = int(np.gcd.reduce(np.diff(numbers))) if len(numbers) > 1 else 1
    n = (numbers[-1] - numbers[0]) // step + 1
    missing = n - len(numbers)
    if missing > MAX_MISSING * n:
        raise source.error(
            f"{len(numbers)} frames have numbers from {numbers[0]} to {numbers[-1]}, {missing} are missing; "
            "frames must be consecutive: export all of them"
        )
    every = f", every {step}." if step > 1 else ""
    source.add("frames", f"{len(numbers)} from number {numbers[0]}{every}", "time is zero at the first of them")
    if missing:
        source.add("frames without keypoints", f"{missing} of {n} numbers", "nobody is visible in these frames")
    return list(range(numbers[0], numbers[-1] + 1, step)), max(numbers[0], 1)


def tracks(source: Source, people: Mapping[int, list[Person]]) -> tuple[list[Track], int, bool]:
    """Frames of each person.

    Parameters
    ----------
    source : Source
        The file.
    people : mapping of int to list of Person
        People by the number of the frame.

    Returns
    -------
    tracks : list of dict of int to Person
        In the order in which they appear; at least a fifth of the frames of the longest.
    n_left_out : int
        Number of shorter ones.
    by_place : bool
        True where people were followed by the nearest place, as no identities distinguish them.

    Raises
    ------
    ReadError
        There is nobody, a frame has too many people, or nobody stays in place.
    """
    most = max(map(len, people.values()), default=0)
    if not most:
        raise source.error(f"nobody is visible in any of the {len(people)} frames; run the pose estimation again")
    if most > MAX_PEOPLE:
        raise source.error(f"{most} people are in one frame, expected {MAX_PEOPLE} at most; keep those to analyse")
    identities = [[person.identity for person in present] for present in people.values()]
    named = most > 1 and all(all(names) and len(set(names)) == len(names) for names in identities)
    by_identity: dict[str, Track] = {}
    for number, present in sorted(people.items()) if named else ():
        for person in present:
            by_identity.setdefault(person.identity, {})[number] = person
    followed = list(by_identity.values()) if named else _by_place(source, people)
    longest = max(map(len, followed))
    kept = [track for track in followed if len(track) >= MIN_SHARE * longest]
    return kept, len(followed) - len(kept), most > 1 and not named


def _by_place(source: Source, people: Mapping[int, list[Person]]) -> list[Track]:
    """People tracked from frame to frame by the least sum of distances."""
    from scipy.optimize import linear_sum_assignment  # slow to import, and seldom needed

    found: list[Track] = []
    last: list[Person] = []
    for number, ones in sorted(people.items()):
        apart = np.array([[_apart(before, one) for one in ones] for before in last]).reshape(len(last), len(ones))
        rows, columns = linear_sum_assignment(apart)
        follows = {int(k): int(t) for t, k in zip(rows, columns, strict=True) if apart[t, k] <= MAX_STEP}
        if len(ones) == len(last) == 1:
            follows = {0: 0}  # one person, however fast
        for k, one in enumerate(ones):
            if k not in follows:
                if len(found) == MAX_TRACKS:
                    raise source.error(f"more than {MAX_TRACKS} people appear and disappear; keep those to analyse")
                found.append({})
                last.append(one)
            track = follows.get(k, len(found) - 1)
            found[track][number] = last[track] = one
    return found


def _apart(before: Person, one: Person) -> float:
    """Median keypoint distance of two people, relative to the size of the first."""
    if before.labels != one.labels:
        return _FAR
    step = np.linalg.norm(np.nan_to_num(one.points[:, :3] - before.points[:, :3]), axis=1)
    both = (before.points[:, 3] > 0) & (one.points[:, 3] > 0) & np.isfinite(one.points[:, 0] + before.points[:, 0])
    place = before.points[both, :3]
    size = float(np.nan_to_num(place.max(axis=0) - place.min(axis=0)).max()) if both.any() else 0.0
    return min(float(np.median(step[both])) / size, _FAR) if size > 0.0 else _FAR


def _stacked(source: Source, people: Sequence[Track], numbers: Sequence[int]) -> tuple[tuple[str, ...], FloatArray]:
    """Labels and keypoints of all people, shape (n_frames, n_keypoints, 4)."""
    labels: list[str] = []
    parts = []
    at = {number: k for k, number in enumerate(numbers)}
    names_of = [list(dict.fromkeys(n for person in track.values() for n in person.labels)) for track in people]
    source.refuse_larger(POINT_BYTES * len(numbers) * sum(map(len, names_of)))
    for k, (track, names) in enumerate(zip(people, names_of, strict=True), start=1):
        place = {name: i for i, name in enumerate(names)}
        points = np.full((len(numbers), len(names), 4), np.nan)
        for number, person in track.items():
            points[at[number], [place[name] for name in person.labels]] = person.points
        labels += [f"person_{k}:{name}" if len(people) > 1 else name for name in names]
        parts.append(points)
    return tuple(labels), np.concatenate(parts, axis=1)


def _known(source: Source, points: FloatArray, labels: Sequence[str]) -> BoolArray:
    """Mask of keypoints with sufficient confidence, with notes on low confidence."""
    confidence = np.nan_to_num(points[:, :, 3], nan=0.0)
    there = confidence > 0.0
    known: BoolArray = there & (confidence >= source.options.min_confidence)
    median = [
        float(np.median(column[seen])) if seen.any() else 0.0
        for column, seen in zip(confidence.T, there.T, strict=True)
    ]
    source.add(
        "confidence",
        f"{int((there & ~known).sum())} of {int(there.sum())} keypoints are below {source.options.min_confidence:g}",
        "missing (reading.min_confidence)",
    )
    if low := [f"{label} {x:.2f}" for label, x in zip(labels, median, strict=True) if 0.0 < x < LOW_CONFIDENCE]:
        source.notes.append(f"noisy keypoints (low median confidence): {', '.join(low[:8])}")
    return known


def _metres_per_pixel(source: Source, xy: FloatArray, labels: Sequence[str], unit: str | None) -> float:
    """Scale of the image, from the options."""
    if unit and plain_unit(unit) in LENGTHS_M:
        raise source.error(f"keypoints have two coordinates in {unit}; write three, or pixels and no unit")
    if np.nanmax(np.abs(xy), initial=0.0) <= MAX_FRACTION:
        raise source.error(
            f"coordinates are up to {np.nanmax(np.abs(xy), initial=0.0):.3g}: fractions of the picture, expected pixels; "
            "write them in pixels (OpenPose: --keypoint_scale 0)"
        )
    options = source.options
    scale, length_m, between = options.metres_per_pixel, options.known_length_m, options.known_length_between
    if scale and length_m:
        raise source.error("reading.metres_per_pixel and reading.known_length_m are both given; keep one of them")
    if scale:
        source.add("scale", "pixels", f"{scale:g} m a pixel, as in reading.metres_per_pixel")
        return scale
    if not length_m or not between:
        raise source.error(
            "positions are pixels of one camera, without a scale; give reading.metres_per_pixel, or a length in the plane "
            "of movement: reading.known_length_m and reading.known_length_between, such as RKnee,RAnkle"
        )
    ends = []
    for wanted in between:  # with or without the person
        columns = [k for k, label in enumerate(labels) if wanted in (label, label.rpartition(":")[2])]
        if len(columns) != 1:
            why = f"expected one of {', '.join(labels[:30])}"
            why = f"{len(columns)} people have it: write person_1:{wanted}" if columns else why
            raise source.error(f"reading.known_length_between names {wanted!r}; {why}")
        ends.append(xy[:, columns[0]])
    pixels = np.linalg.norm(ends[0] - ends[1], axis=1)
    pixels = pixels[np.isfinite(pixels) & (pixels > 0.0)]
    if not len(pixels):
        raise source.error(
            f"{' and '.join(between)} never occur in the same frame; name two others in reading.known_length_between"
        )
    low, middle, high = np.percentile(pixels, [10.0, 50.0, 90.0])
    source.add(
        "scale",
        f"{' to '.join(between)}: {middle:.1f} pixels (median; 10 to 90 %: {low:.1f} to {high:.1f})",
        f"{length_m:g} m, as in reading.known_length_m: {length_m / middle:.3g} m a pixel",
    )
    return float(length_m / middle)
