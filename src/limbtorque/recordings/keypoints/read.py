"""Read keypoints from JSON, in space or in the pictures of one camera."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.findings import Findings, length_unit, positions_m, read_bytes
from limbtorque.recordings.force_plates import LENGTHS_M, plain_unit
from limbtorque.recordings.keypoints.document import Frames, Manner, frame_of, frames_of, parsed
from limbtorque.recordings.keypoints.people import Track, tracks
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.text.frames import Clock, recording_of
from limbtorque.recordings.text.lines import Text
from limbtorque.study.trials import frame_files, is_frame, numbered

PICTURE = "y is turned upwards, so that +y is up in the picture"
MAX_FRACTION = 2.0  # coordinates below it are fractions of the picture, not pixels
LOW_CONFIDENCE = 0.5
MAX_MISSING = 0.5  # of the frames


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
    findings = Findings()
    frames, sha256 = _contents(path, options, findings)
    people = _people(frames, path.name, findings)
    numbers, first_frame = _even(sorted(frames.people), path.name, findings)
    labels, points = _stacked(people, numbers)
    clock = Clock(_rate(frames, path.name, options, findings), first_frame, None)
    xyz = np.where(_known(points, labels, options, findings)[:, :, np.newaxis], points[:, :, :3], np.nan)
    if np.isfinite(points[:, :, 2]).any():
        length_m = length_unit(frames.unit, "the file", options, path.name, findings)
        findings.add("axes", "x, y, z", "unchanged; plane.up_axis of the settings defines the vertical")
    else:
        length_m = _metres_per_pixel(xyz[:, :, :2], labels, frames.unit, path.name, options, findings)
        findings.add("axes", "x to the right and y down in the picture", f"{PICTURE}; the third coordinate is 0")
        xyz = np.stack([xyz[:, :, 0], -xyz[:, :, 1], np.zeros(xyz.shape[:2])], axis=2)
    markers_m = positions_m(xyz, length_m, path.name, labels, findings)
    return recording_of(
        Text(path.name, sha256, []), "keypoints.read", clock, findings, labels=labels, markers_m=markers_m
    )


def _contents(path: Path, options: ReadOptions, findings: Findings) -> tuple[Frames, str]:
    """Frames of a file, or of a file each, and the hash of them all."""
    if not is_frame(path):
        raw = read_bytes(path)
        in_space = options.length_unit is not None
        frames = frames_of(parsed(raw, path.name), path.name, layout=options.keypoints, in_space=in_space)
        findings.add("format", "keypoints as JSON, all frames in one file", f"{len(frames.people)} frames")
        return frames, hashlib.sha256(raw).hexdigest()
    digest, frames = hashlib.sha256(), Frames()
    files = frame_files(path)
    for file in files:
        raw = read_bytes(file)
        digest.update(raw)
        name = numbered(file)
        number = name[1] if name else 1
        if number in frames.people:
            raise ReadError(f"{file.name}: another file is of frame {number}, too; remove one of them")
        frames.people[number] = frame_of(parsed(raw, file.name), Manner(file.name, options.keypoints))
    if (after := frame_files(path)) != files:
        raise ReadError(
            f"{path.name}: the frames beside it changed while they were read ({len(files)} files, then {len(after)}); wait until all are "
            "written, and read them again"
        )
    findings.add("format", f"keypoints as JSON, one file for each frame, {len(files)} files", "one recording")
    return frames, digest.hexdigest()


def _people(frames: Frames, name: str, findings: Findings) -> list[Track]:
    """Frames of each person, with findings."""
    found, n_left_out, by_place = tracks(frames.people, name)
    settle = "look at them (`limbtorque map`): two who pass each other may be exchanged" if by_place else ""
    how = "each frame's people are those nearest to the last ones" if by_place else "by the identities in the file"
    findings.add("people", f"{len(found)}", how if len(found) > 1 else "one subject", settle if len(found) > 1 else "")
    if n_left_out:
        findings.add("people", f"{n_left_out} more, in less than a fifth of the frames", "left out as false detections")
    return found


def _even(numbers: Sequence[int], name: str, findings: Findings) -> tuple[list[int], int]:
    """Numbers of all frames, missing ones included, and the first frame."""
    step = int(np.gcd.reduce(np.diff(numbers))) if len(numbers) > 1 else 1
    n = (numbers[-1] - numbers[0]) // step + 1
    missing = n - len(numbers)
    if missing > MAX_MISSING * n:
        raise ReadError(
            f"{name}: {len(numbers)} frames have numbers from {numbers[0]} to {numbers[-1]}, {missing} are missing; "
            "frames must be consecutive: export all of them"
        )
    every = f", every {step}." if step > 1 else ""
    findings.add("frames", f"{len(numbers)} from number {numbers[0]}{every}", "time is zero at the first of them")
    if missing:
        findings.add("frames without keypoints", f"{missing} of {n} numbers", "nobody is seen in these frames")
    return list(range(numbers[0], numbers[-1] + 1, step)), max(numbers[0], 1)


def _stacked(people: Sequence[Track], numbers: Sequence[int]) -> tuple[tuple[str, ...], FloatArray]:
    """Labels and keypoints of all people, shape (n_frames, n_keypoints, 4)."""
    labels: list[str] = []
    parts = []
    at = {number: k for k, number in enumerate(numbers)}
    for k, track in enumerate(people, start=1):
        names = list(dict.fromkeys(name for person in track.values() for name in person.labels))
        place = {name: i for i, name in enumerate(names)}
        points = np.full((len(numbers), len(names), 4), np.nan)
        for number, person in track.items():
            points[at[number], [place[name] for name in person.labels]] = person.points
        labels += [f"person_{k}:{name}" if len(people) > 1 else name for name in names]
        parts.append(points)
    return tuple(labels), np.concatenate(parts, axis=1)


def _known(points: FloatArray, labels: Sequence[str], options: ReadOptions, findings: Findings) -> BoolArray:
    """Mask of the keypoints with enough confidence, with notes on doubtful ones."""
    confidence = np.nan_to_num(points[:, :, 3], nan=0.0)
    there = confidence > 0.0
    known: BoolArray = there & (confidence >= options.min_confidence)
    median = [
        float(np.median(column[seen])) if seen.any() else 0.0
        for column, seen in zip(confidence.T, there.T, strict=True)
    ]
    findings.add(
        "confidence",
        f"{int((there & ~known).sum())} of {int(there.sum())} keypoints are below {options.min_confidence:g}",
        "missing (reading.min_confidence)",
    )
    if low := [f"{label} {x:.2f}" for label, x in zip(labels, median, strict=True) if 0.0 < x < LOW_CONFIDENCE]:
        findings.notes.append(f"keypoints with a low median confidence, so noisy ones: {', '.join(low[:8])}")
    return known


def _rate(frames: Frames, name: str, options: ReadOptions, findings: Findings) -> float:
    """Frames per second, of the file or the options."""
    stated, given = frames.rate_hz, options.rate_hz
    if stated and given and not math.isclose(stated, given, rel_tol=1e-3):
        raise ReadError(
            f"{name}: the file states {stated:g} frames per second, reading.rate_hz is {given:g}; "
            "remove the option for this trial, or correct the file"
        )
    if not (given or stated):
        raise ReadError(
            f"{name}: keypoints without a rate; give the frames per second of the video with reading.rate_hz"
        )
    rate_hz = float(given or stated or math.nan)
    where = "the file states it" if stated else "not stated"
    findings.add("rate", where, f"{rate_hz:g} frames per second{'' if stated else ', as in reading.rate_hz'}")
    return rate_hz


def _metres_per_pixel(
    xy: FloatArray, labels: Sequence[str], unit: str | None, name: str, options: ReadOptions, findings: Findings
) -> float:
    """Scale of the picture, by the options."""
    if unit and plain_unit(unit) in LENGTHS_M:
        raise ReadError(f"{name}: keypoints have two coordinates in {unit}; write three, or pixels and no unit")
    if np.nanmax(np.abs(xy), initial=0.0) <= MAX_FRACTION:
        raise ReadError(
            f"{name}: coordinates are up to {np.nanmax(np.abs(xy), initial=0.0):.3g}: fractions of the picture, expected pixels; "
            "write them in pixels (OpenPose: --keypoint_scale 0)"
        )
    scale, length_m, between = options.metres_per_pixel, options.known_length_m, options.known_length_between
    if scale and length_m:
        raise ReadError(f"{name}: reading.metres_per_pixel and reading.known_length_m are both given; keep one of them")
    if scale:
        findings.add("scale", "pixels", f"{scale:g} m a pixel, as in reading.metres_per_pixel")
        return scale
    if not length_m or not between:
        raise ReadError(
            f"{name}: positions are pixels of one camera without a scale; give reading.metres_per_pixel, or a length in the plane "
            "of movement: reading.known_length_m and reading.known_length_between, such as RKnee,RAnkle"
        )
    one, other = (xy[:, _index(labels, label, name)] for label in between)
    pixels = np.linalg.norm(one - other, axis=1)
    pixels = pixels[np.isfinite(pixels) & (pixels > 0.0)]
    if not len(pixels):
        raise ReadError(
            f"{name}: {' and '.join(between)} are in no frame together; name two others in reading.known_length_between"
        )
    low, middle, high = np.percentile(pixels, [10.0, 50.0, 90.0])
    findings.add(
        "scale",
        f"{' to '.join(between)}: {middle:.1f} pixels (median; 10 to 90 %: {low:.1f} to {high:.1f})",
        f"{length_m:g} m, as in reading.known_length_m: {length_m / middle:.3g} m a pixel",
    )
    return float(length_m / middle)


def _index(labels: Sequence[str], wanted: str, name: str) -> int:
    """Place of a keypoint by its name, with or without the person."""
    found = [k for k, label in enumerate(labels) if wanted in (label, label.rpartition(":")[2])]
    if len(found) != 1:
        why = (
            f"{len(found)} people have it: write person_1:{wanted}"
            if found
            else f"expected one of {', '.join(labels[:30])}"
        )
        raise ReadError(f"{name}: reading.known_length_between names {wanted!r}; {why}")
    return found[0]
