"""TSV files of Qualisys Track Manager: markers, and rigid bodies (6D)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from limbtorque.errors import ReadError
from limbtorque.recordings.findings import Findings, length_unit, positions_m
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Event, Recording
from limbtorque.recordings.text.frames import Clock, Rows, recording_of, timed_rows
from limbtorque.recordings.text.lines import Text, plain_label, plain_number, read_text, table
from limbtorque.recordings.text.qualisys_forces import FIRST_WORD, read_qualisys_forces

KNOWN = (
    *("NO_OF_FRAMES", "NO_OF_CAMERAS", "NO_OF_MARKERS", "FREQUENCY", "NO_OF_ANALOG", "ANALOG_FREQUENCY"),
    *("DESCRIPTION", "TIME_STAMP", "DATA_INCLUDED", "EVENT", "MARKER_NAMES", "TRAJECTORY_TYPES"),
    *("NO_OF_BODIES", "BODY_NAMES", "REFERENCE", "ROTATION"),
)
PER_BODY = 16  # X Y Z, three angles, residual, nine elements of the rotation matrix
COUNT = {"3D": ("NO_OF_MARKERS", "MARKER_NAMES"), "6D": ("NO_OF_BODIES", "BODY_NAMES")}


def read_qualisys(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read the 3D or 6D data that Qualisys Track Manager exports as TSV.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        What the user says of the file; ``length_unit`` is needed, since the file does not say its unit.

    Returns
    -------
    Recording
        Markers and events; the columns ``Frame`` and ``Time`` are used where they are there. Of 6D data the origins of the
        rigid bodies are the points; their rotations are left out. A file of a force plate is read as such.

    Raises
    ------
    ReadError
        Not such a file, 2D data, truncated, no unit of length given, contradictory counts.

    Notes
    -----
    The heading has a name and its values in each line, after it one line of column names where the export has them, and
    the frames. A marker is missing where a coordinate is empty or not a number, or all three are zero. An event's line
    has its name, its frame and its time, which counts from the first frame.
    """
    findings = Findings()
    text = read_text(path, options, findings)
    if text.lines[0].upper().startswith(FIRST_WORD):
        return read_qualisys_forces(path, options)
    header, events, first = _header(text, findings)
    data = header.get("DATA_INCLUDED", ["3D"])[0].upper()
    if data not in COUNT:
        raise ReadError(f"{text.name}: DATA_INCLUDED is {data!r}, expected 3D or 6D; export 3D data")
    counted, named = COUNT[data]
    if missing := [key for key in ("NO_OF_FRAMES", counted, "FREQUENCY", named) if key not in header]:
        raise ReadError(f"{text.name}: the heading lacks {', '.join(missing)}; export the file again, with its heading")
    n_markers, n_frames = (_count(text, header, key) for key in (counted, "NO_OF_FRAMES"))
    frequency_hz = _frequency(text, header)
    labels = tuple(plain_label(cell, findings) for cell in header[named])
    if len(labels) != n_markers or not all(labels):
        raise ReadError(
            f"{text.name}: {counted} is {n_markers}, {named} has {sum(map(bool, labels))}; label all of them and "
            "export them again"
        )
    what = "markers" if data == "3D" else "rigid bodies, whose origins are read and rotations left out"
    findings.add("format", f"Qualisys TSV, {data} data", f"{n_markers} {what}, {n_frames} frames")
    length_m = length_unit(None, "the heading", options, text.name, findings)
    width = 3 if data == "3D" else PER_BODY
    columns, first = _columns(text, first, n_markers) if data == "3D" else _columns_6d(text, first, n_markers)
    values = table(text, first, len(text.lines), len(columns) + width * n_markers, "\t")
    if len(values) != n_frames:
        raise ReadError(
            f"{text.name}: NO_OF_FRAMES is {n_frames}, the file has {len(values)} lines of data; it is damaged or "
            "truncated, export it again"
        )
    if columns:
        rows = Rows(first, "\t", stated_hz=frequency_hz, where="FREQUENCY")
        values, clock = timed_rows(values, text, rows, options, findings)
    else:
        clock = _clock(text, len(values), frequency_hz, options, findings)
    findings.add("axes", "not stated", "unchanged; plane.up_axis of the settings defines the vertical")
    xyz = values[:, len(columns) :].reshape(len(values), n_markers, width)[:, :, :3]
    markers_m = positions_m(xyz, length_m, text.name, labels, findings)
    findings.add("events", f"{len(events)}, with times from the first frame" if events else "none", "times unchanged")
    in_order = tuple(sorted(events, key=lambda event: event.time_s))
    return recording_of(text, "text.qualisys", clock, findings, labels=labels, markers_m=markers_m, events=in_order)


def _header(text: Text, findings: Findings) -> tuple[dict[str, list[str]], list[Event], int]:
    """Values of the heading by name, events, and the first line after it."""
    header: dict[str, list[str]] = {}
    events = []
    for k, line in enumerate(text.lines):
        name, *values = line.split("\t")
        key = name.strip().upper()
        if key == "EVENT":
            events.append(_event(text, k, values, findings))
        elif key in KNOWN:
            while values and not values[-1].strip():
                values.pop()
            header[key] = values or [""]
        else:
            break
    else:
        k = len(text.lines)
    return header, events, k


def _event(text: Text, line: int, values: Sequence[str], findings: Findings) -> Event:
    said = [value.strip() for value in values]
    while len(said) > 3 and not said[-1]:
        said.pop()
    frame, time_s = (plain_number(value) for value in said[1:]) if len(said) == 3 else (math.nan, math.nan)
    if not (math.isfinite(time_s) and frame % 1 == 0.0):
        raise text.fault(line, f"expected EVENT, a name, a frame and a time, found {values}; export it again")
    return Event(plain_label(said[0], findings), "", time_s)


def _count(text: Text, header: dict[str, list[str]], key: str) -> int:
    said = header[key][0].strip()
    if not (said.isascii() and said.isdigit() and int(said[:12]) > 0):
        raise ReadError(f"{text.name}: {key} is {said[:40]!r}, expected a whole number above zero; export it again")
    return int(said)


def _frequency(text: Text, header: dict[str, list[str]]) -> float:
    value = plain_number(header["FREQUENCY"][0])
    if not (math.isfinite(value) and value > 0.0):
        raise ReadError(
            f"{text.name}: FREQUENCY is {header['FREQUENCY'][0][:40]!r}, expected a number above zero; export it again"
        )
    return value


def _columns(text: Text, first: int, n_markers: int) -> tuple[list[str], int]:
    """Number of columns before the first marker, and the first line of numbers."""
    if first >= len(text.lines):
        raise ReadError(f"{text.name}: there are no frames after the heading; it is truncated, export it again")
    names = [cell.strip().lower() for cell in text.lines[first].split("\t")]
    if names[0] == "frame" or names[-1].endswith((" z", "_z")):
        while names and not names[-1]:
            names.pop()
        if len(names) not in (3 * n_markers, 3 * n_markers + 2):
            raise text.fault(
                first,
                f"found {len(names)} column names, expected three for each of {n_markers} markers, with or without "
                "Frame and Time before them; export it again",
            )
        return names[: len(names) - 3 * n_markers], first + 1
    cells = text.lines[first].rstrip("\t").split("\t")
    return (["frame", "time"] if len(cells) == 3 * n_markers + 2 else []), first


def _columns_6d(text: Text, first: int, n_bodies: int) -> tuple[list[str], int]:
    """Columns before the first body, and the first line of numbers."""
    if first < len(text.lines) and text.lines[first].strip()[:1].isalpha():
        first += 1
    if first >= len(text.lines):
        raise ReadError(f"{text.name}: there are no frames after the heading; it is truncated, export it again")
    n_columns = len(text.lines[first].rstrip("\t").split("\t"))
    before = n_columns - PER_BODY * n_bodies
    if before not in (0, 2):
        raise text.fault(
            first,
            f"found {n_columns} columns, expected {PER_BODY} for each of {n_bodies} bodies (position, angles, residual, "
            "rotation matrix), with or without frame and time; export 6D data with all of them",
        )
    return ["frame", "time"][:before], first


def _clock(text: Text, n_frames: int, frequency_hz: float, options: ReadOptions, findings: Findings) -> Clock:
    """Clock of frames without times."""
    if options.rate_hz and not math.isclose(options.rate_hz, frequency_hz, rel_tol=1e-3):
        raise ReadError(
            f"{text.name}: FREQUENCY is {frequency_hz:g}, reading.rate_hz says {options.rate_hz:g}; take the option out "
            "for this trial, or correct the file"
        )
    findings.add("rate", f"FREQUENCY is {frequency_hz:g} Hz", f"{frequency_hz:g} frames per second")
    findings.add("frames", f"{n_frames}, without numbers", "the first is frame 1")
    return Clock(frequency_hz, start_s=None)
