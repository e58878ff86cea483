"""TRC files of Motion Analysis and OpenSim: markers in a table between tabs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from limbtorque.errors import ReadError
from limbtorque.recordings.audit import Audit
from limbtorque.recordings.findings import Findings, length_unit, positions_m
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.text.lines import (
    Text,
    check_frames,
    even_rate,
    n_even_rows,
    plain_label,
    read_text,
    resolution_s,
    rounding_s,
    start_s,
    table,
)

KEYS = ("DATARATE", "NUMFRAMES", "NUMMARKERS", "UNITS")
N_HEAD = 5


def read_trc(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read a TRC file.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        Markers only; the first frame is the first number of the column ``Frame#``.

    Raises
    ------
    ReadError
        Not a TRC file, truncated, of an unknown unit, with counts or times that contradict each other.

    Notes
    -----
    The format as OpenSim's documentation has it: a line with the type, two lines of names and values (rate, counts,
    unit), a line of marker names, each over three columns, a line of their axes, then the frames. A marker is missing
    where a coordinate is empty or not a number, or all three are zero.
    """
    findings = Findings()
    text = read_text(path, options, findings)
    if len(text.lines) < N_HEAD or not text.lines[0].lower().startswith("pathfiletype"):
        raise ReadError(
            f"{text.name}: not a TRC file: expected a first line that begins with PathFileType and {N_HEAD} lines of "
            f"heading, found {text.lines[0][:40]!r} and {len(text.lines)} lines; export it again"
        )
    header = _header(text)
    n_markers, n_frames = (_count(text, header, key) for key in ("NUMMARKERS", "NUMFRAMES"))
    findings.add("format", f"TRC, {text.lines[0].strip()[:60]}", f"{n_markers} markers, {n_frames} frames")
    labels, n_columns = _labels(text, n_markers, findings)
    length_m = length_unit(header["UNITS"] or None, "Units", options, text.name, findings)
    first = _first_row(text)
    values = table(text, first, len(text.lines), 2 + 3 * n_columns, "\t")
    values = np.pad(values, ((0, 0), (0, 3 * (len(labels) - n_columns))), constant_values=np.nan)
    if len(values) != n_frames:
        raise ReadError(
            f"{text.name}: NumFrames is {n_frames}, the file has {len(values)} lines of data; it is damaged or "
            "truncated, export it again"
        )
    rate_said_hz = _number(text, header, "DATARATE")
    printed_s = rounding_s(values[:, 1], rate_said_hz, printed_s=resolution_s(text, first, 1, "\t"))
    values = values[: n_even_rows(values[:, 1], text, printed_s=printed_s, findings=findings)]
    first_frame = check_frames(values[:, 0], text, first, findings)
    rate_hz = even_rate(
        values[:, 1],
        text,
        first,
        printed_s=printed_s,
        stated_hz=rate_said_hz,
        where="DataRate",
        options=options,
        findings=findings,
    )
    findings.add("axes", _axes(text), "unchanged; plane.up_axis of the settings defines the vertical")
    markers_m = positions_m(values[:, 2:].reshape(len(values), len(labels), 3), length_m, text.name, labels, findings)
    findings.add_labels(labels)
    return Recording(
        source=text.name,
        sha256=text.sha256,
        reader="limbtorque.recordings.text.trc",
        labels=labels,
        markers_m=markers_m,
        rate_hz=rate_hz,
        first_frame=first_frame,
        start_s=start_s(values[:, 1], rate_hz),
        notes=tuple(findings.notes),
        audit=Audit(tuple(findings.entries)),
    )


def _header(text: Text) -> dict[str, str]:
    """Values of the second and third line, by their names in capitals."""
    separator = "\t" if "\t" in text.lines[1] and "\t" in text.lines[2] else None
    names, values = ([cell.strip() for cell in text.lines[k].rstrip("\t ").split(separator)] for k in (1, 2))
    if len(values) > len(names):  # tabs are doubled: one value a name where the empty cells are passed over
        values = [value for value in values if value]
    found = {name.upper(): value for name, value in zip(names, values, strict=False)}
    if missing := [key for key in KEYS if key not in found]:
        raise text.fault(
            1, f"expected the names {', '.join(KEYS)} with a value each in the next line, {', '.join(missing)} missing"
        )
    return found


def _number(text: Text, header: dict[str, str], key: str) -> float:
    try:
        value = float(header[key])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0.0):
        raise text.fault(2, f"{key} is {header[key][:40]!r}, expected a number; export it again")
    return value


def _count(text: Text, header: dict[str, str], key: str) -> int:
    value = _number(text, header, key)
    if value != int(value) or value < 1:
        raise text.fault(2, f"{key} is {header[key]!r}, expected a whole number above zero; export it again")
    return int(value)


def _first_row(text: Text) -> int:
    """First line of the frames, from 0."""
    return next((k for k in range(N_HEAD, len(text.lines)) if text.lines[k].strip()), len(text.lines))


def _labels(text: Text, n_markers: int, findings: Findings) -> tuple[tuple[str, ...], int]:
    """Names of the markers, from the fourth line, and how many of them have columns.

    Virtual markers may be named without a column in any frame; they follow the others.
    """
    names = [plain_label(cell, findings) for cell in text.lines[3].split("\t")[2:]]
    labels = tuple(name for name in names if name)
    n_columns, n_filled = _widths(text)
    if n_markers < len(labels) and n_columns > 0 and n_filled <= n_markers:
        n_columns = min(n_columns, len(labels))
    elif n_markers != len(labels):
        raise text.fault(
            3, f"NumMarkers is {n_markers}, found {len(labels)} names; every marker needs one: export it again"
        )
    elif not 0 < n_columns < n_markers:
        return labels, n_markers
    findings.add(
        "virtual markers",
        f"{len(labels)} markers are named, NumMarkers is {n_markers}, the lines have cells for {n_columns}",
        f"{', '.join(labels[min(n_filled, n_columns) :])}: no position in any frame",
    )
    return labels, n_columns


def _widths(text: Text) -> tuple[int, int]:
    """Markers that all lines have cells for, 0 if they differ, and that any fills."""
    rows = [line.rstrip("\r\n").split("\t") for line in text.lines[_first_row(text) :] if line.strip()]
    ends = {len(row) - (not row[-1].strip() and len(row) % 3 == 0) for row in rows}
    filled = max((k for row in rows for k, cell in enumerate(row, 1) if cell.strip()), default=0)
    whole = len(ends) == 1 and min(ends) % 3 == 2
    return (min(ends) - 2) // 3 if whole else 0, max(filled, 0) // 3


def _axes(text: Text) -> str:
    axes = [cell.strip().rstrip("0123456789") for cell in text.lines[4].split("\t") if cell.strip()]
    if axes and axes != ["X", "Y", "Z"] * (len(axes) // 3):
        raise text.fault(4, f"expected columns X, Y, Z for each marker, found {', '.join(axes[:6])} ...")
    return "columns X, Y, Z"
