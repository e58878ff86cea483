"""CSV files of OptiTrack Motive: markers, and origins of bodies and bones."""

from __future__ import annotations

from pathlib import Path

from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.text.table import Rows, Text, read_text, stated_rate, table, timed_rows

KINDS = ("marker", "rigid body marker", "bone marker", "bone", "rigid body")  # of one name the first is read
HEADING = 12  # lines in which the line that begins with Frame is looked for


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
    text = read_text(path, options)
    head = [cell.strip() for cell in text.cells(0, ",")]
    said = {name.lower(): value for name, value in zip(head[::2], head[1::2], strict=False)}
    line, n_columns, columns = _points(text)
    length_m = text.length_m(said.get("length units") or None, "Length Units")
    rate = said.get("export frame rate", said.get("capture frame rate"))
    rows = Rows(line + 1, ",", stated_hz=stated_rate(text, rate, "Export Frame Rate"), where="Export Frame Rate")
    values, clock = timed_rows(table(text, line + 1, len(text.lines), n_columns, ","), text, rows)
    space = said.get("coordinate space") or "not stated"
    text.add("axes", f"Coordinate Space: {space}", "unchanged; plane.up_axis of the settings defines the vertical")
    labels = tuple(columns)
    xyz = values[:, [k + i for k in columns.values() for i in range(3)]].reshape(len(values), len(labels), 3)
    markers_m = text.positions_m(xyz, length_m, labels)
    return text.recorded("text.optitrack", clock, len(values), labels=labels, markers_m=markers_m)


def _points(text: Text) -> tuple[int, int, dict[str, int]]:
    """Line of the axes, number of columns, and first column of each point."""
    rows = [[text.plain_label(cell) for cell in text.cells(k, ",")] for k in range(min(HEADING, len(text.lines)))]
    line = next((k for k, row in enumerate(rows) if row[0].lower() == "frame" and len(row) > 2), None)
    kinds = next((k for k, row in enumerate(rows[:line]) if any(cell.lower() in KINDS for cell in row)), None)
    whats = next((k for k, row in enumerate(rows[:line]) if "Position" in row), None)
    if line is None or kinds is None or whats is None:
        raise text.error(
            "no positions of markers: expected lines of types, of names, of 'Position', and one that begins "
            "with Frame, Time; export it with Markers and the header information"
        )
    axes = rows[line]
    width = len(axes)
    while not axes[width - 1]:
        width -= 1
    heads = [[*rows[k], *[""] * width][:width] for k in (kinds, kinds + 1, whats)]
    kind, name, what = heads
    starts = [k for k in range(2, width - 2) if what[k] == "Position" and axes[k : k + 3] == ["X", "Y", "Z"]]
    of_points = {k + i for k in starts for i in range(3)}
    loose = [k for k in range(2, width) if (what[k] == "Position") != (k in of_points)]
    broken = [k for k in starts if any(len(set(head[k : k + 3])) > 1 for head in heads)]
    if wrong := [*loose, *broken]:
        raise text.fault(
            line,
            f"column {min(wrong) + 1} does not match the type, name and content of its neighbours, expected columns X, Y, Z of "
            "every position; the heading is damaged, export it again",
        )
    if left := sorted({kind[k] for k in starts if kind[k].lower() not in KINDS}):
        text.notes.append(f"positions of {', '.join(map(repr, left))}, of unknown type, are left out")
    unlabelled = {name[k] for k in starts if not name[k] or name[k].lower().startswith(("unlabeled", "unlabelled"))}
    columns: dict[str, int] = {}
    for wanted in KINDS:
        for k in starts:
            if kind[k].lower() == wanted and name[k] not in unlabelled:
                if name[k] in columns and kind[columns[name[k]]].lower() == wanted:
                    raise text.fault(kinds + 1, f"two markers are called {name[k]!r}; rename one, and export it again")
                columns.setdefault(name[k], k)
    if not columns:
        raise text.fault(kinds + 1, f"{len(starts)} points, none with a label; label the markers, and export it again")
    text.add("format", f"OptiTrack Motive CSV, {width} columns", f"{len(columns)} labelled points")
    if unlabelled:
        text.add("unlabelled markers", f"{len(unlabelled)}", "left out")
    if clocks := [k for k in range(2, width) if axes[k].lower() in ("timecode", "timestamp")]:  # which are no numbers
        for k in range(line + 1, len(text.lines)):
            row = text.lines[k].split(",")
            text.lines[k] = ",".join("" if column in clocks else cell for column, cell in enumerate(row))
    return line, width, columns
