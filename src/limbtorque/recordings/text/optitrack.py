"""CSV files of OptiTrack Motive: markers, and origins of bodies and bones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from limbtorque.errors import ReadError
from limbtorque.recordings.findings import Findings, length_unit, positions_m
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.text.frames import Rows, recording_of, stated_rate, timed_rows
from limbtorque.recordings.text.lines import Text, plain_label, read_text, table

KINDS = ("marker", "rigid body marker", "bone marker", "bone", "rigid body")  # of one name the first is read
HEADING = 12  # lines in which the line that begins with Frame is looked for


@dataclass(frozen=True)
class _Points:
    """Line of the column names, columns of each point by label, and their number."""

    line: int
    columns: Mapping[str, int]
    n_columns: int
    clocks: tuple[int, ...]


def read_optitrack(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read the tracking data that OptiTrack Motive exports as CSV.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        Labelled markers, then the origins of bones and rigid bodies; of a name that several kinds have, the measured
        marker. Rotations, unlabelled markers and qualities are left out and counted.

    Raises
    ------
    ReadError
        No line of columns, no positions, no unit of length, times that are not even, a cell that is not a number.

    Notes
    -----
    The first line has names and values in turns (``Length Units``, ``Export Frame Rate``). Below it, for each column: the
    type, the name, identities, what it is (``Position``, ``Rotation``), and the axis beside ``Frame`` and ``Time``. An empty
    cell is a missing sample.
    """
    findings = Findings()
    text = read_text(path, options, findings)
    head = [cell.strip() for cell in text.cells(0, ",")]
    said = {name.lower(): value for name, value in zip(head[::2], head[1::2], strict=False)}
    points = _points(text, findings)
    text = replace(text, lines=_without_clocks(text, points))
    length_m = length_unit(said.get("length units") or None, "Length Units", options, text.name, findings)
    values = table(text, points.line + 1, len(text.lines), points.n_columns, ",")
    rows = Rows(points.line + 1, ",", stated_hz=_rate(said, findings), where="Export Frame Rate")
    values, clock = timed_rows(values, text, rows, options, findings)
    space = said.get("coordinate space") or "not stated"
    findings.add("axes", f"Coordinate Space: {space}", "unchanged; plane.up_axis of the settings defines the vertical")
    labels = tuple(points.columns)
    starts = list(points.columns.values())
    xyz = values[:, [k + i for k in starts for i in range(3)]].reshape(len(values), len(starts), 3)
    markers_m = positions_m(xyz, length_m, text.name, labels, findings)
    return recording_of(text, "text.optitrack", clock, findings, labels=labels, markers_m=markers_m)


def _rate(said: Mapping[str, str], findings: Findings) -> float | None:
    """Frames per second as the first line states them."""
    return stated_rate(said.get("export frame rate", said.get("capture frame rate")), "Export Frame Rate", findings)


def _points(text: Text, findings: Findings) -> _Points:
    """Columns of the points, by their label."""
    rows = [[plain_label(cell, findings) for cell in text.cells(k, ",")] for k in range(min(HEADING, len(text.lines)))]
    line = next((k for k, row in enumerate(rows) if row[0].lower() == "frame" and len(row) > 2), None)
    kinds = next((k for k, row in enumerate(rows[:line]) if any(cell.lower() in KINDS for cell in row)), None)
    whats = next((k for k, row in enumerate(rows[:line]) if "Position" in row), None)
    if line is None or kinds is None or whats is None:
        raise ReadError(
            f"{text.name}: no positions of markers: expected lines of types, of names, of 'Position', and one that begins "
            "with Frame, Time; export it with Markers and the header information"
        )
    axes = rows[line]
    width = len(axes)
    while not axes[width - 1]:
        width -= 1
    kind, name, what = ([*rows[k], *[""] * width][:width] for k in (kinds, kinds + 1, whats))
    starts = [k for k in range(2, width - 2) if what[k] == "Position" and axes[k : k + 3] == ["X", "Y", "Z"]]
    _refuse_broken_points(text, line, starts, (kind, name, what))
    if left := sorted({kind[k] for k in starts if kind[k].lower() not in KINDS}):
        findings.notes.append(f"positions of {', '.join(map(repr, left))}, no known type of point, are left out")
    unlabelled = {name[k] for k in starts if not name[k] or name[k].lower().startswith(("unlabeled", "unlabelled"))}
    columns: dict[str, int] = {}
    for wanted in KINDS:
        for k in starts:
            if kind[k].lower() == wanted and name[k] not in unlabelled:
                if kind[columns.get(name[k], k)].lower() == wanted and name[k] in columns:
                    raise text.fault(kinds + 1, f"two markers are called {name[k]!r}; rename one, and export it again")
                columns.setdefault(name[k], k)
    if not columns:
        raise text.fault(kinds + 1, f"{len(starts)} points, none with a label; label the markers, and export it again")
    findings.add("format", f"OptiTrack Motive CSV, {width} columns", f"{len(columns)} labelled points")
    if unlabelled:
        findings.add("unlabelled markers", f"{len(unlabelled)}", "left out")
    clocks = tuple(k for k in range(2, width) if axes[k].lower() in ("timecode", "timestamp"))
    return _Points(line, columns, width, clocks)


def _refuse_broken_points(text: Text, line: int, starts: Sequence[int], heads: Sequence[Sequence[str]]) -> None:
    """Refuse positions without three columns X, Y, Z of the same type and name."""
    of_points = {k + i for k in starts for i in range(3)}
    loose = [k for k, what in enumerate(heads[2]) if k > 1 and (what == "Position") != (k in of_points)]
    broken = [k for k in starts if any(len(set(head[k : k + 3])) > 1 for head in heads)]
    if found := [*loose, *broken]:
        raise text.fault(
            line,
            f"column {min(found) + 1} has not the type, name and content of its neighbours, expected columns X, Y, Z of "
            "every position; the heading is damaged, export it again",
        )


def _without_clocks(text: Text, points: _Points) -> list[str]:
    """Lines without time codes, which are not numbers."""
    if not points.clocks:
        return text.lines
    return [*text.lines[: points.line + 1], *(_blanked(line, points.clocks) for line in text.lines[points.line + 1 :])]


def _blanked(line: str, columns: Sequence[int]) -> str:
    row = line.split(",")
    return ",".join("" if k in columns else cell for k, cell in enumerate(row))
