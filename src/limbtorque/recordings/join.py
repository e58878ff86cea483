"""Join markers of one file and force plates of another on one clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.force_plates import FRAMES, LOADED_N, NEAR_M, distance_m
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Audit, Event, ForcePlate, Recording
from limbtorque.recordings.source import Source

RATIO = 1e-3  # how far the ratio of the rates may be from a whole number
SHIFT = 0.1  # of a frame: how far the samples may lie beside the frames
ABOUT_MARKERS = ("axes", "frames", "missing samples", "prefix", "duplicates", "inDegrees")


@dataclass(frozen=True)
class _Clock:
    """Samples relative to frames: number per frame, index of the first, offset."""

    per_frame: int
    first: int
    off_s: float


def forces_options(options: ReadOptions) -> ReadOptions:
    """Options for the force file: its unit of length and rate."""
    return replace(options, length_unit=options.forces_length_unit, rate_hz=options.forces_rate_hz)


def join_forces(markers: Recording, forces: Recording, options: ReadOptions) -> Recording:
    """Join the markers of one file and the force plates of another.

    Parameters
    ----------
    markers : Recording
        Markers; it has no force plates.
    forces : Recording
        Force plates; its markers, if it has any, are left out.
    options : ReadOptions
        ``forces_offset_s`` is added to the times of `forces`, s.

    Returns
    -------
    Recording
        Frames, labels, source and hash of `markers`; force plates with a whole number of samples for each frame, the
        first at the frame's time; name and hash of `forces` as ``forces_source`` and ``forces_sha256``. Analog channels
        and events are those of `markers`, or of `forces` where `markers` has none.

    Raises
    ------
    ReadError
        The two are one file, `markers` has force plates itself, `forces` has none, or no whole number of samples for each
        frame, or samples between the frames, or none at the time of the frames.

    Notes
    -----
    The clock of a file is that of its times; a file without times begins at (first frame - 1) / rate, a guess that
    ``forces_offset_s`` settles. The sample nearest to a frame's time is taken, which may lie a tenth of a frame beside it.
    Frames without samples have NaN, which is noted; where the samples end within a frame, the last one is held to its
    end. Laboratory axes are those of each file. They are taken for the same, as a guess, unless the forces act at the
    lower end of the body as the markers show it: within 0.1 m (median) of one of the markers that are, along the force,
    no more than 0.25 m above the lowest; and the body stands along them (`stands`).
    """
    joint = Source(f"{markers.source} with the forces of {forces.source}", options)
    if markers.sha256 == forces.sha256:
        raise joint.error(
            "both files have the same content; name the file with the force plates in forces_file, or leave it empty"
        )
    if markers.force_plates:
        raise joint.error(
            f"{markers.source} already has {len(markers.force_plates)} force plates, expected markers only; "
            "remove forces_file from the trial, or export the markers alone"
        )
    if not forces.force_plates:
        raise joint.error(
            f"{forces.source} has no readable force plates, only {len(forces.labels)} markers and "
            f"{len(forces.analog_labels)} analog channels; name the file with the force plates in forces_file"
            + "".join(f"; {note}" for note in forces.notes if "force plate" in note)
        )
    kept = [f for f in forces.audit.findings if f.guessed or f.item not in ABOUT_MARKERS]
    joint.findings += [replace(f, item=f"{f.item} of {forces.source}") for f in kept]
    joint.notes += [*markers.notes, *(f"{forces.source}: {note}" for note in forces.notes)]
    offset_s = _offset_s(joint, markers, forces)
    clock = _clock(joint, markers, forces.force_plates[0].rate_hz, offset_s)
    plates = tuple(_cut_plate(joint, plate, markers, forces, offset_s) for plate in forces.force_plates)
    _check_coverage(joint, markers, forces, clock)
    joint.add(
        "samples of the forces",
        f"{plates[0].rate_hz:g} Hz for {markers.rate_hz:g} frames per second",
        f"{clock.per_frame} for each frame, sample {clock.first + 1} at frame {markers.first_frame}, "
        f"offset {abs(clock.off_s):.2g} s",
    )
    # the forces should act at the lower end of the body
    apart_m = distance_m(markers.markers_m, plates)
    acts = any(np.nan_to_num(plate.force_n).any() for plate in plates)
    seen = f"the forces act {apart_m:.2f} m (median) from the nearest of the lowest markers"
    seen = "no force is large enough for a comparison" if math.isnan(apart_m) else seen
    sure = not acts or (apart_m <= NEAR_M and stands(markers.markers_m, plates))
    joint.add(
        "axes of the forces",
        f"neither {markers.source} nor {forces.source} states its axes; {seen}",
        "in the laboratory axes and origin of the markers",
        "" if sure else "compare both files with `limbtorque inspect`; export them in the same axes",
    )
    more = _others(joint, markers, forces, offset_s)
    if forces.labels:
        joint.add(f"markers of {forces.source}", f"{len(forces.labels)}", "left out")
    return replace(
        markers,
        reader=f"{markers.reader}, {forces.reader}",
        force_plates=plates,
        forces_source=forces.source,
        forces_sha256=forces.sha256,
        notes=tuple(joint.notes),
        audit=Audit((*markers.audit.findings, *joint.findings)),
        **more,
    )


def start_s(recording: Recording) -> float:
    """Time of the first frame on the file's clock, s; without times from its number."""
    if recording.start_s is not None:
        return recording.start_s
    return (recording.first_frame - 1) / recording.rate_hz


def _offset_s(joint: Source, markers: Recording, forces: Recording) -> float:
    """Time from the first frame of the markers to the first sample of the forces, s."""
    given = joint.options.forces_offset_s
    begins = [
        f"{r.source} begins at {start_s(r):g} s{'' if r.start_s is not None else ', by its first frame'}"
        for r in (markers, forces)
    ]
    added = f"{given or 0.0:g} s added to the times of the forces (reading.forces_offset_s)"
    sure = given is not None or None not in (markers.start_s, forces.start_s)
    settle = "" if sure else "give reading.forces_offset_s, 0 where both files have the same clock"
    joint.add("clock", "; ".join(begins), "same clock" if given is None else added, settle)
    return start_s(forces) + (given or 0.0) - start_s(markers)


def _clock(joint: Source, markers: Recording, rate_hz: float, offset_s: float) -> _Clock:
    """Relate samples to frames; refuse uneven rates."""
    ratio = rate_hz / markers.rate_hz
    per_frame = round(ratio)
    drift = abs(ratio - per_frame)
    if per_frame < 1 or drift > RATIO or drift * markers.n_frames > 0.5:
        raise joint.error(
            f"the forces have {rate_hz:g} samples per second, the markers {markers.rate_hz:g} frames, expected a "
            "whole number of samples for each frame; export the forces at a multiple of the markers' rate"
        )
    step_s = 1.0 / (per_frame * markers.rate_hz)
    exact = -offset_s / step_s
    first = round(exact)
    off_s, most_s = (first - exact) * step_s, SHIFT / markers.rate_hz
    if abs(off_s) > most_s:
        raise joint.error(
            f"the force samples are {abs(off_s):.4g} s off the frames, expected at most "
            f"{most_s:.4g} s, a tenth of a frame; export both with one clock, or give reading.forces_offset_s"
        )
    return _Clock(per_frame, first, off_s)


def _taken(values: FloatArray, clock: _Clock, n_frames: int) -> FloatArray:
    """Samples for the frames, NaN where the file has none."""
    n = n_frames * clock.per_frame
    taken = np.full((n, values.shape[1]), np.nan)
    start, stop = max(clock.first, 0), min(clock.first + n, len(values))
    if stop > start:
        taken[start - clock.first : stop - clock.first] = values[start:stop]
        end = stop - clock.first
        taken[end : end + -end % clock.per_frame] = values[stop - 1]
    return taken


def _check_coverage(joint: Source, markers: Recording, forces: Recording, clock: _Clock) -> None:
    """Note frames without samples; refuse files without any samples."""
    n_samples, n = len(forces.force_plates[0].force_n), markers.n_frames
    first = max(math.ceil(-clock.first / clock.per_frame), 0)
    last = min((n_samples - clock.first - 1) // clock.per_frame, n - 1)
    if last < first:
        step_s = 1.0 / (clock.per_frame * markers.rate_hz)
        begin_s = -clock.first * step_s
        raise joint.error(
            f"the forces run from {begin_s:.6g} to {begin_s + (n_samples - 1) * step_s:.6g} s, the markers from 0 to "
            f"{(n - 1) / markers.rate_hz:.6g} s, so no frame has a force; name two files of the same trial, or give "
            "reading.forces_offset_s"
        )
    if lacking := n - (last - first + 1):
        numbers = f"{markers.first_frame + first}-{markers.first_frame + last}"
        said = f"{forces.source} has forces for frames {numbers} only"
        joint.notes.append(f"{said}; the forces of the other {lacking} frames are unknown")


def _cut_plate(joint: Source, plate: ForcePlate, markers: Recording, forces: Recording, offset_s: float) -> ForcePlate:
    """Plate with the samples for the frames."""
    clock = _clock(joint, markers, plate.rate_hz, offset_s)
    if len(plate.force_n) != len(forces.force_plates[0].force_n):
        raise joint.error("the force plates have different numbers of samples; export the forces again")
    saturated = plate.saturated
    if len(saturated):
        saturated = _taken(saturated[:, np.newaxis].astype(float), clock, markers.n_frames)[:, 0] == 1.0
    force_n, moment_nm = (_taken(values, clock, markers.n_frames) for values in (plate.force_n, plate.moment_nm))
    rate_hz = clock.per_frame * markers.rate_hz
    return replace(plate, rate_hz=rate_hz, force_n=force_n, moment_nm=moment_nm, saturated=saturated)


def _others(joint: Source, markers: Recording, forces: Recording, offset_s: float) -> dict[str, Any]:
    """Analog channels and events of the force file, if the marker file has none."""
    more: dict[str, Any] = {}
    left_out = f"left out: {markers.source} has"
    if forces.analog_labels:
        stated, used = f"{len(forces.analog_labels)} channels", "used, on the clock of the forces"
        made = f"{left_out} analog channels" if markers.analog_labels else used
        joint.add(f"analog channels of {forces.source}", stated, made)
    if forces.analog_labels and not markers.analog_labels:
        clock = _clock(joint, markers, forces.analog_rate_hz, offset_s)
        names = ("analog_labels", "analog_units", "analog_descriptions")
        more = {name: getattr(forces, name) for name in names}
        more["analog"] = _taken(forces.analog, clock, markers.n_frames)
        more["analog_rate_hz"] = clock.per_frame * markers.rate_hz
    if forces.events:
        made = f"{left_out} events of its own" if markers.events else f"taken, {offset_s:+.3f} s added"
        joint.add(f"events of {forces.source}", f"{len(forces.events)}", made)
    if forces.events and not markers.events:
        more["events"] = tuple(Event(e.label, e.context, e.time_s + offset_s) for e in forces.events)
    return more


def stands(markers_m: FloatArray, plates: Sequence[ForcePlate]) -> bool:
    """True for an upright body: markers extend farthest along the mean force.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m.
    plates : sequence of ForcePlate
        Force plates, N.

    Returns
    -------
    bool
        False also where no force or no marker is known.
    """
    force = np.concatenate([plate.force_n for plate in plates])
    with np.errstate(invalid="ignore", over="ignore"):
        mean = force[np.isfinite(force).all(axis=1) & (np.linalg.norm(force, axis=1) > LOADED_N)].sum(axis=0)
    seen = markers_m[(~np.isnan(markers_m).any(axis=2)).sum(axis=1) > 1]
    size = float(np.linalg.norm(mean))
    if not len(seen) or not 0.0 < size < math.inf:
        return False
    across, _ = np.linalg.qr(np.column_stack([mean / size, np.eye(3)]))
    turned = seen[:: max(1, len(seen) // FRAMES)] @ across
    extent = np.nanmedian(np.nanmax(turned, axis=1) - np.nanmin(turned, axis=1), axis=0)
    return bool(extent[0] >= extent[1:].max())
