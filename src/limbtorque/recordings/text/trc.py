"""TRC files of Motion Analysis and OpenSim: markers in a table between tabs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.source import plain_number
from limbtorque.recordings.text.table import (
    CELL_BYTES,
    Rows,
    Text,
    read_text,
    stated_rate,
    table,
    timed_rows,
)

KEYS = ("DATARATE", "NUMFRAMES", "NUMMARKERS", "UNITS")
NOT_USED = ("CameraRate", "OrigDataRate", "OrigDataStartFrame", "OrigNumFrames")
HEADING = 30  # lines in which the names of the markers are looked for
EXPORT = "export the file again"


@dataclass(frozen=True)
class _Layout:
    """Lines of a TRC file, from 0."""

    header: dict[str, str]
    names: int
    axes: int | None
    first: int


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
        Not a TRC file, a line that is damaged or truncated, an unknown unit, names that do not fit the columns, times that
        contradict each other.

    Notes
    -----
    The format as OpenSim's documentation has it: a line with the type, two lines of names and values (rate, counts,
    unit), a line of marker names, each over three columns, a line of their axes, then the frames. A marker is missing
    where a coordinate is empty or not a number, or all three are zero. Of the heading only the names are needed, and the unit
    if no option gives it: lines of it that are missing, and counts that differ from the lines and names in the file, are
    findings to be settled.
    """
    text = read_text(path, options)
    layout = _layout(text)
    labels, n_columns = _labels(text, layout)
    length_m = text.length_m(layout.header.get("UNITS"), "Units")
    values = table(text, layout.first, len(text.lines), 2 + 3 * n_columns, "\t")
    if n_columns < len(labels):
        text.refuse_larger(CELL_BYTES * len(values) * 3 * len(labels))
        values = np.pad(values, ((0, 0), (0, 3 * (len(labels) - n_columns))), constant_values=np.nan)
    _add_count(text, layout, "NumFrames", len(values), "lines of data")
    stated_hz = stated_rate(text, layout.header.get("DATARATE"), "DataRate")
    for name in NOT_USED:
        if math.isnan(_number(said := layout.header.get(name.upper(), "0"))):
            stated = f"{said[:20]!r}, not a number"
            text.add(name, stated, "not used", note=f"{name} is {stated}: it is not used")
    rows = Rows(layout.first, "\t", stated_hz=stated_hz, where="DataRate")
    values, clock = timed_rows(values, text, rows)
    cells = text.lines[layout.axes].split() if layout.axes is not None else []
    axes = [cell.strip().rstrip("0123456789") for cell in cells if cell.strip()]
    if axes and layout.axes is not None and axes != ["X", "Y", "Z"] * (len(axes) // 3):
        raise text.fault(layout.axes, f"expected columns X, Y, Z for each marker, found {', '.join(axes[:6])} ...")
    stated = "not stated; X, Y and Z of each marker" if layout.axes is None else "columns X, Y, Z"
    text.add("axes", stated, "unchanged; plane.up_axis of the settings defines the vertical")
    markers_m = text.positions_m(values[:, 2:].reshape(len(values), len(labels), 3), length_m, labels)
    return text.recorded("text.trc", clock, len(values), labels=labels, markers_m=markers_m)


def _layout(text: Text) -> _Layout:
    """Lines of the heading, found by their first words, and of the frames."""
    filled = [k for k, line in enumerate(text.lines[:HEADING]) if line.strip()]
    names = next((k for k in filled if text.lines[k].split()[0].lower().startswith("frame")), None)
    after = [k for k in filled if names is not None and k > names]
    axes = next((k for k in after[:1] if math.isnan(_number(text.lines[k].split()[0]))), None)
    first = next((k for k in after if k != axes), None)
    if names is None or first is None:
        raise text.error(
            "not a TRC file: no line of names that begins with Frame# and frames below it, found "
            f"{text.lines[0][:40]!r} and {len(text.lines)} lines; {EXPORT}"
        )
    if "\t" not in text.lines[first].strip():
        raise text.fault(first, f"there are no tabs between the cells; write tabs for the blanks, or {EXPORT}")
    header = _header(text, [k for k in filled if k < names])
    title = text.lines[0].strip()[:60] if text.lines[0].lower().startswith("pathfiletype") else ""
    text.add("format", f"TRC, {title or 'no line PathFileType'}", "read as such")
    missing = [key for key in KEYS if key not in header] + ["X1 Y1 Z1"] * (axes is None)
    if missing := missing + ["PathFileType"] * (not title):
        said = f"not stated: {', '.join(missing)}"
        text.add("heading", said, "the rest is read", "complete the five lines of the heading")
    return _Layout(header, names, axes, first)


def _header(text: Text, lines: Sequence[int]) -> dict[str, str]:
    """Values of the second and third line, by upper-case name."""
    at = next((i for i, k in enumerate(lines[:-1]) if "datarate" in text.lines[k].lower()), None)
    if at is None:
        return {}
    two = [text.lines[k].rstrip("\t ") for k in lines[at : at + 2]]
    names, values = ([cell.strip() for cell in line.split("\t")] for line in two)
    if len(values) > len(names):  # tabs are doubled: one value a name where the empty cells are passed over
        values = [value for value in values if value]
    return {name.upper(): value for name, value in zip(names, values, strict=False) if value}


def _number(cell: str) -> float:
    """Number of at least zero; otherwise NaN."""
    value = plain_number(cell)
    return value if math.isfinite(value) and value >= 0.0 else math.nan


def _add_count(text: Text, layout: _Layout, name: str, count: int, what: str) -> None:
    """Add a finding on a count in the heading, a guess if it is wrong."""
    stated = layout.header.get(name.upper())
    if stated is None or _number(stated) == count:
        text.add(what, f"{name} is {stated or 'not stated'}", f"{count} are read")
        return
    said = f"{name} is {stated[:20]!r}, the file has {count} {what}"
    settle = f"compare with the program that exported it, and correct {name}; the file may be truncated"
    text.add(what, said, f"{count} are read", settle, note=f"{said}: the latter are read")


def _labels(text: Text, layout: _Layout) -> tuple[tuple[str, ...], int]:
    """Names of the markers, and how many of them have columns.

    Virtual markers may be named without a column in any frame; they follow the others. A column without a name could
    be due to a missing name in the middle.
    """
    cells = text.lines[layout.names].split("\t")[2:]
    named = {k: name for k, cell in enumerate(cells) if (name := text.plain_label(cell))}
    labels = tuple(named.values())
    n_columns, n_filled = _widths(text, layout)
    stated = _number(layout.header.get("NUMMARKERS", ""))
    gap = all(k % 3 == 0 for k in named) and list(named) != list(range(0, 3 * len(labels), 3))
    counted = n_filled == len(labels) or stated >= len(labels) or math.isnan(stated)
    if not gap and n_columns in (0, len(labels)) and counted:
        _add_count(text, layout, "NumMarkers", len(labels), "names of markers")
        return labels, len(labels)
    if gap or n_filled > len(labels) or not labels:
        raise text.fault(
            layout.names,
            f"{len(labels)} names over columns of {max(n_columns, n_filled)} markers, NumMarkers is "
            f"{layout.header.get('NUMMARKERS', 'not stated')}; every marker needs one: {EXPORT}",
        )
    n_columns = min(n_columns, len(labels)) or len(labels)
    said = f"NumMarkers is {stated:g}, the lines have cells for {n_columns}"
    virtual = ", ".join(labels[min(n_filled, n_columns) :])
    text.add("virtual markers", f"{len(labels)} markers are named, {said}", f"{virtual}: no position in any frame")
    return labels, n_columns


def _widths(text: Text, layout: _Layout) -> tuple[int, int]:
    """Number of markers with cells in all lines (0 if lines differ), and with values."""
    ends, filled = set[int](), 0
    for line in filter(str.strip, text.lines[layout.first :]):
        row = line.split("\t")
        ends.add(len(row) - (not row[-1].strip() and len(row) % 3 == 0))
        filled = max(filled, len(line.rstrip().split("\t")))
    whole = len(ends) == 1 and min(ends) % 3 == 2
    return (min(ends) - 2) // 3 if whole else 0, filled // 3
