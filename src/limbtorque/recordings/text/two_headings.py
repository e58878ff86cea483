"""Tables with two lines of headings: names, and their axes (Winter's tables)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbtorque.recordings.findings import Findings, length_unit, positions_m
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.text.frames import Rows, recording_of, timed_rows
from limbtorque.recordings.text.lines import Text, no_repeated_columns, read_text, table

TIMES_S = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "msec": 1e-3}
_WORD = re.compile(r"'([^']*)'|\"([^\"]*)\"|(\S+)")


@dataclass(frozen=True)
class _Layout:
    """Columns of frame, time (with its unit in s) and each marker; the separator."""

    frame: int | None
    time: int
    time_s: float
    markers: Mapping[str, tuple[int, ...]]
    n_columns: int
    separator: str | None


def has_two_headings(lines: list[str]) -> bool:
    """Return True where the second line has the axes of the names in the first.

    >>> has_two_headings(["'TIME' 'RIGHT HIP'", "'S' 'X' 'Y'"])
    True
    """
    if len(lines) < 2:
        return False
    axes = [word.lower() for word in _words(lines[1])]
    return {"x", "y"} <= set(axes) and set(axes) <= {"n", "x", "y", "z", "", *TIMES_S}


def _words(line: str) -> list[str]:
    """Cells of a heading between tabs, or its words; quotes hold blanks together."""
    if "\t" in line:
        return [cell.strip(" '\"") for cell in line.split("\t")]
    return ["".join(parts) for parts in _WORD.findall(line)]


def read_two_headings(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read a table with names in the first line and their axes in the second.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        Options of the readers; the file does not state its unit of length.

    Returns
    -------
    Recording
        Markers; of two-dimensional ones the third coordinate is 0.

    Raises
    ------
    ReadError
        No time, names that do not fit the axes, no unit of length, times that are not even, a cell that is not a number.

    Notes
    -----
    The style of the tables of Winter (2009), Biomechanics and Motor Control of Human Movement, appendix A: ``'FRAME' 'TIME'
    'RIGHT HIP'`` over ``'N' 'S' 'X' 'Y'``; names may be in quotes, with blanks or tabs between the columns.
    """
    findings = Findings()
    text = read_text(path, options, findings)
    layout = _layout(text, findings)
    length_m = length_unit(None, "the two lines of headings", options, text.name, findings)
    values = table(text, 2, len(text.lines), layout.n_columns, layout.separator)
    rows = Rows(2, layout.separator, layout.time, layout.frame, layout.time_s)
    values, clock = timed_rows(values, text, rows, options, findings)
    labels = tuple(layout.markers)
    xyz = np.zeros((len(values), len(labels), 3))
    for k, columns in enumerate(layout.markers.values()):
        xyz[:, k, : len(columns)] = values[:, list(columns)]
    flat = any(len(columns) == 2 for columns in layout.markers.values())
    findings.add("format", f"a table with two lines of headings, {layout.n_columns} columns", f"{len(labels)} markers")
    findings.add(
        "axes",
        f"columns X, Y{'' if flat else ', Z'}",
        "the third coordinate is 0: a movement in the plane of X and Y" if flat else "unchanged",
    )
    markers_m = positions_m(xyz, length_m, text.name, labels, findings)
    return recording_of(text, "text.two_headings", clock, findings, labels=labels, markers_m=markers_m)


def _layout(text: Text, findings: Findings) -> _Layout:
    """Columns of the table: names and axes, each name over its axes."""
    names, axes = [word for word in _words(text.lines[0]) if word], [word.lower() for word in _words(text.lines[1])]
    while axes and not axes[-1]:
        axes.pop()
    starts = [k for k, axis in enumerate(axes) if axis not in ("y", "z")]
    if len(starts) != len(names):
        raise text.fault(
            1,
            f"{len(names)} names over {len(starts)} columns of their own or axes X; each marker needs X and Y, or X, Y, Z",
        )
    no_repeated_columns(names, text, 0)
    width = {name: stop - start for name, start, stop in zip(names, starts, [*starts[1:], len(axes)], strict=True)}
    of = dict(zip(names, starts, strict=True))
    times = [name for name in names if axes[of[name]] in TIMES_S or name.lower() == "time"]
    frames = [name for name in names if axes[of[name]] == "n" or name.lower() == "frame"]
    markers = {n: tuple(range(of[n], of[n] + width[n])) for n in names if axes[of[n]] == "x" and width[n] in (2, 3)}
    if len(times) != 1 or len(frames) > 1 or not markers:
        raise text.fault(
            0, f"found {len(times)} columns of time and {len(markers)} markers; expected one time and markers"
        )
    if other := [name for name in names if name not in {*times, *frames, *markers}]:
        findings.notes.append(f"columns that are neither time, frame nor marker, left out: {', '.join(other)}")
    separator = "\t" if "\t" in text.lines[min(2, len(text.lines) - 1)].strip() else None
    unit_s = TIMES_S.get(axes[of[times[0]]], 1.0)
    return _Layout(of[frames[0]] if frames else None, of[times[0]], unit_s, markers, len(axes), separator)
