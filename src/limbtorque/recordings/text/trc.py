"""TRC files of Motion Analysis and OpenSim: markers in a table between tabs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from limbtorque.errors import ReadError
from limbtorque.recordings.findings import Findings, length_unit, positions_m
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.text.frames import Rows, recording_of, stated_rate, timed_rows
from limbtorque.recordings.text.lines import Text, plain_label, plain_number, read_text, table

KEYS = ("DATARATE", "NUMFRAMES", "NUMMARKERS", "UNITS")
NOT_USED = ("CameraRate", "OrigDataRate", "OrigDataStartFrame", "OrigNumFrames")
HEADING = 30  # lines in which the names of the markers are looked for
EXPORT = "export the file again"


@dataclass(frozen=True)
class _Layout:
    """Lines of a TRC file, from 0; cells between tabs, or blanks (None)."""

    header: dict[str, str]
    names: int
    axes: int | None
    first: int
    separator: str | None


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
    if no option gives it: lines of it that are missing, counts that differ from the lines and names in the file, and blanks
    in place of tabs are findings to be settled.
    """
    findings = Findings()
    text = read_text(path, options, findings)
    layout = _layout(text, findings)
    text = replace(text, lines=text.lines[: _last(text, layout, findings)])
    labels, n_columns = _labels(text, layout, findings)
    length_m = length_unit(layout.header.get("UNITS"), "Units", options, text.name, findings)
    values = table(text, layout.first, len(text.lines), 2 + 3 * n_columns, layout.separator)
    values = np.pad(values, ((0, 0), (0, 3 * (len(labels) - n_columns))), constant_values=np.nan)
    _add_count(layout, "NUMFRAMES", "NumFrames", len(values), "lines of data", findings)
    stated_hz = stated_rate(layout.header.get("DATARATE"), "DataRate", findings)
    _note_no_numbers(layout.header, findings)
    rows = Rows(layout.first, layout.separator, stated_hz=stated_hz, where="DataRate")
    values, clock = timed_rows(values, text, rows, options, findings)
    findings.add("axes", _axes(text, layout), "unchanged; plane.up_axis of the settings defines the vertical")
    markers_m = positions_m(values[:, 2:].reshape(len(values), len(labels), 3), length_m, text.name, labels, findings)
    return recording_of(text, "text.trc", clock, findings, labels=labels, markers_m=markers_m)


def _layout(text: Text, findings: Findings) -> _Layout:
    """Lines of the heading, found by their first words, and of the frames."""
    filled = [k for k, line in enumerate(text.lines[:HEADING]) if line.strip()]
    names = next((k for k in filled if text.lines[k].split()[0].lower().startswith("frame")), None)
    after = [k for k in filled if names is not None and k > names]
    axes = next((k for k in after[:1] if math.isnan(_number(text.lines[k].split()[0]))), None)
    first = next((k for k in after if k != axes), None)
    if names is None or first is None:
        raise ReadError(
            f"{text.name}: not a TRC file: no line of names that begins with Frame# and frames below it, found "
            f"{text.lines[0][:40]!r} and {len(text.lines)} lines; {EXPORT}"
        )
    separator = "\t" if "\t" in text.lines[first].strip() else None
    header = _header(text, [k for k in filled if k < names])
    title = text.lines[0].strip()[:60] if text.lines[0].lower().startswith("pathfiletype") else ""
    findings.add("format", f"TRC, {title or 'no line PathFileType'}", "read as such")
    if separator is None:
        findings.add(
            "separator",
            "blanks between the cells, not tabs",
            "every run of blanks is one",
            "write tabs between the cells",
        )
    missing = (
        [key for key in KEYS if key not in header] + ["X1 Y1 Z1"] * (axes is None) + ["PathFileType"] * (not title)
    )
    if missing:
        findings.add(
            "heading", f"not stated: {', '.join(missing)}", "the rest is read", "complete the five lines of the heading"
        )
    return _Layout(header, names, axes, first, separator)


def _last(text: Text, layout: _Layout, findings: Findings) -> int:
    """Line after the frames, from 0; a last line that is cut off is left out."""
    first, last = layout.first, len(text.lines)
    cells = [len(text.lines[k].split(layout.separator)) for k in (first, last - 1)]
    if last - first < 2 or cells[1] >= cells[0]:
        return last
    findings.add(
        "last line",
        f"line {last} has {cells[1]} cells, the first {cells[0]}: the file is truncated",
        f"line {last} is left out",
        "copy or export the file again",
    )
    findings.notes.append(f"line {last} is cut off and left out")
    return last - 1


def _header(text: Text, lines: Sequence[int]) -> dict[str, str]:
    """Values of the second and third line, by their names in capitals."""
    at = next((i for i, k in enumerate(lines[:-1]) if "datarate" in text.lines[k].lower()), None)
    if at is None:
        return {}
    two = [text.lines[k].rstrip("\t ") for k in lines[at : at + 2]]
    separator = "\t" if all("\t" in line for line in two) else None
    names, values = ([cell.strip() for cell in line.split(separator)] for line in two)
    if len(values) > len(names):  # tabs are doubled: one value a name where the empty cells are passed over
        values = [value for value in values if value]
    return {name.upper(): value for name, value in zip(names, values, strict=False) if value}


def _number(cell: str) -> float:
    """Number above or at zero; NaN for anything else."""
    value = plain_number(cell)
    return value if math.isfinite(value) and value >= 0.0 else math.nan


def _note_no_numbers(header: Mapping[str, str], findings: Findings) -> None:
    """Note numbers of the heading that are none; they are not used."""
    for name in NOT_USED:
        if math.isnan(_number(said := header.get(name.upper(), "0"))):
            findings.add(name, f"{said[:20]!r}, not a number", "not used")
            findings.notes.append(f"{name} is {said[:20]!r}, not a number: it is not used")


def _add_count(layout: _Layout, key: str, name: str, found: int, what: str, findings: Findings) -> None:
    """Add a finding on a count of the heading, a guess where it is wrong."""
    stated = layout.header.get(key)
    if stated is None or _number(stated) == found:
        findings.add(what, f"{name} is {stated or 'not stated'}", f"{found} are read")
        return
    findings.add(
        what,
        f"{name} is {stated[:20]!r}, the file has {found} {what}",
        f"{found} are read",
        f"compare with the program that exported it, and correct {name}; the file may be truncated",
    )
    findings.notes.append(f"{name} is {stated[:20]!r}, the file has {found} {what}: these are read")


def _labels(text: Text, layout: _Layout, findings: Findings) -> tuple[tuple[str, ...], int]:
    """Names of the markers, and how many of them have columns.

    Virtual markers may be named without a column in any frame; they follow the others. A column without a name cannot be
    told from a name that is missing in the middle.
    """
    cells = text.lines[layout.names].split("\t" if layout.separator else None)[2:]
    named = {k: name for k, cell in enumerate(cells) if (name := plain_label(cell, findings))}
    labels = tuple(named.values())
    over_three = all(k % 3 == 0 for k in named)
    n_columns, n_filled = _widths(text, layout)
    stated = _number(layout.header.get("NUMMARKERS", ""))
    gap = over_three and list(named) != list(range(0, 3 * len(labels), 3))
    if (
        not gap
        and n_columns in (0, len(labels))
        and (n_filled == len(labels) or stated >= len(labels) or math.isnan(stated))
    ):
        _add_count(layout, "NUMMARKERS", "NumMarkers", len(labels), "names of markers", findings)
        return labels, len(labels)
    if gap or n_filled > len(labels) or not labels:
        raise text.fault(
            layout.names,
            f"{len(labels)} names over columns of {max(n_columns, n_filled)} markers, NumMarkers is "
            f"{layout.header.get('NUMMARKERS', 'not stated')}; every marker needs one: {EXPORT}",
        )
    n_columns = min(n_columns, len(labels)) or len(labels)
    if not layout.separator and stated < len(labels):
        raise text.fault(
            layout.names,
            f"{len(labels)} names between blanks, NumMarkers is {stated:g}, the lines have cells for {n_columns}: a name with a "
            f"blank looks like two; {EXPORT}",
        )
    findings.add(
        "virtual markers",
        f"{len(labels)} markers are named, NumMarkers is {stated:g}, the lines have cells for {n_columns}",
        f"{', '.join(labels[min(n_filled, n_columns) :])}: no position in any frame",
    )
    return labels, n_columns


def _widths(text: Text, layout: _Layout) -> tuple[int, int]:
    """Markers that all lines have cells for, 0 if they differ, and that any fills."""
    rows = [line.rstrip("\r\n").split(layout.separator) for line in text.lines[layout.first :] if line.strip()]
    ends = {len(row) - (not row[-1].strip() and len(row) % 3 == 0) for row in rows}
    filled = max((k for row in rows for k, cell in enumerate(row, 1) if cell.strip()), default=0)
    whole = len(ends) == 1 and min(ends) % 3 == 2
    return (min(ends) - 2) // 3 if whole else 0, max(filled, 0) // 3


def _axes(text: Text, layout: _Layout) -> str:
    if layout.axes is None:
        return "not stated, X, Y and Z of each marker"
    axes = [cell.strip().rstrip("0123456789") for cell in text.lines[layout.axes].split() if cell.strip()]
    if axes and axes != ["X", "Y", "Z"] * (len(axes) // 3):
        raise text.fault(layout.axes, f"expected columns X, Y, Z for each marker, found {', '.join(axes[:6])} ...")
    return "columns X, Y, Z"
