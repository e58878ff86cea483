"""Plain tables: named columns, or two lines of headings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.source import LENGTHS_M, plain_unit
from limbtorque.recordings.text.table import Clock, Rows, Text, Vectors, check_frames, read_text, table, timed_rows

SEPARATORS = ",;\t"
AXES = {"x": 0, "y": 1, "z": 2, "0": 0, "1": 1, "2": 2}
TIMES_S = {"s": 1.0, "sec": 1.0, "second": 1.0, "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3}
_UNIT = r"(?:[ _]*[\[(]([^\])]*)[\])]|_(mm|cm|m|s|ms))?"
_COORDINATE = re.compile(r"(.+?)(?:[ _.:-]([xyz])|\[([0123])\])" + _UNIT, re.IGNORECASE)
_CLOSE = re.compile(r"(.*[^\s_.:-])([XYZ])")  # R.ASISX, where no name has its axis apart
_TIME = re.compile(r"time" + _UNIT, re.IGNORECASE)
_FORCE = re.compile(r"(F|COP|T)([xyz])(\d*)")
VECTORS = {"F": "force", "COP": "point", "T": "torque"}
_WORD = re.compile(r"'([^']*)'|\"([^\"]*)\"|(\S+)")


@dataclass(frozen=True)
class _Columns:
    """Columns of a table by their use, with the units of lengths and times.

    The column after the last is zero in every row: the third coordinate of markers in a plane.
    """

    n_columns: int
    time: int | None
    time_unit: str
    frame: int | None
    markers: dict[str, tuple[int, ...]]
    unit: str | None = None
    ones: tuple[int, ...] = ()
    plates: Mapping[int, Vectors] = field(default_factory=dict)
    other: Sequence[str] = ()


def read_csv(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read a table with named columns between commas, semicolons or tabs.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        Markers from columns ``<marker>_x, _y, _z`` (or ``<marker>[0], [1], [2]``, then ``[3]`` has to be 1; or, where no
        name is like these, ``<marker>X, Y, Z``), with a unit behind: ``RSHO_x_mm``, ``RSHO_x [mm]``, ``RSHO_x (mm)``. Force
        plates from columns ``Fx, Fy, Fz, COPx, COPy, COPz, Tx, Ty, Tz`` with the plate's number. Columns that belong to
        neither are left out and named.

    Raises
    ------
    ReadError
        No column ``time`` or ``frame``, no markers, no unit of length in the names or the options, a frame without a
        rate (``reading.rate_hz``), more than one unit, a cell that is not a number.

    Notes
    -----
    A time without a unit is taken for seconds, which is a guess and called so. A marker is missing where a coordinate is
    empty or not a number, or all three are zero.
    """
    text = read_text(path, options)
    separator = max(SEPARATORS, key=text.lines[0].count)
    names = text.labels(0, separator)
    text.refuse_repeated(names, 0)
    columns = _named(text, names)
    text.add("format", f"a table of {len(names)} named columns", f"{len(columns.markers)} markers")
    return _recording(text, columns, Rows(1, separator), "the columns' names")


def _recording(text: Text, columns: _Columns, rows: Rows, where: str) -> Recording:
    """Recording from a table with lines from `rows` on, ignoring empty lines."""
    length_m = text.length_m(columns.unit, where)
    first = next((k for k in range(rows.first, len(text.lines)) if text.lines[k].strip()), len(text.lines))
    values = table(text, first, len(text.lines), columns.n_columns, rows.separator)
    values, clock = _timing(text, replace(rows, first=first), columns, np.pad(values, ((0, 0), (0, 1))))
    flat = any(columns.n_columns in axes for axes in columns.markers.values())
    vertical = "unchanged; plane.up_axis of the settings defines the vertical"
    in_plane = "the third coordinate is 0: a movement in the plane of X and Y"
    text.add("axes", f"columns x, y{'' if flat else ', z'}", in_plane if flat else vertical)
    fourth = values[:, columns.ones]
    if not np.isin(fourth[np.isfinite(fourth)], (0.0, 1.0)).all():
        raise text.fault(0, "columns [3] are not 1: the file does not hold positions; export positions")
    text.add_others(columns.other)
    labels = tuple(columns.markers)
    places = np.array([k for axes in columns.markers.values() for k in axes], dtype=int)
    xyz = values[:, places].reshape(len(values), len(labels), 3)
    force_n = text.force_n(None, where) if columns.plates else 1.0
    plates = text.plates(columns.plates, values, clock, length_m=length_m, force_n=force_n)
    markers_m = text.positions_m(xyz, length_m, labels)
    return text.recorded("text.plain_csv", clock, len(values), labels=labels, markers_m=markers_m, force_plates=plates)


def _named(text: Text, names: Sequence[str]) -> _Columns:
    """Sort named columns by their use."""
    time = frame = None
    time_unit = ""
    parts: dict[str, dict[int, int]] = {}
    units: dict[int, str] = {}
    fourth: dict[str, int] = {}
    close = not any(_COORDINATE.fullmatch(name) for name in names)
    for k, name in enumerate(names):
        if match := _TIME.fullmatch(name):
            time, time_unit = k, match[1] or match[2] or ""
        elif name.lower() in ("frame", "frame#", "frames"):
            frame = k
        elif match := _COORDINATE.fullmatch(name):
            if match[3] == "3":
                fourth[match[1]] = k
                continue
            axis = AXES[(match[2] or match[3]).lower()]
            if axis in parts.setdefault(match[1], {}):
                raise text.fault(0, f"marker {match[1]!r} has two columns for one axis, {name!r} is one; rename it")
            parts[match[1]][axis] = k
            units[k] = match[4] or match[5] or ""
        elif close and (match := _CLOSE.fullmatch(name)):
            parts.setdefault(match[1], {})["XYZ".index(match[2])] = k
            units[k] = ""
    markers = {label: tuple(axes[i] for i in range(3)) for label, axes in parts.items() if len(axes) == 3}
    ones = tuple(fourth[label] for label in markers if label in fourth)
    of_markers = [k for axes in markers.values() for k in axes]
    plates = force_columns(names)
    of_plates = [k for vectors in plates.values() for axes in vectors.values() for k in axes.values()]
    text.note_incomplete(parts)
    if not markers and not plates:
        raise text.fault(
            0,
            "no marker: expected columns such as RSHO_x_mm, RSHO_y_mm, RSHO_z_mm, found "
            f"{', '.join(map(repr, names[:5]))}; rename the columns",
        )
    of_lengths = list(dict.fromkeys(units[k] for k in of_markers))
    factors = {LENGTHS_M.get(plain_unit(unit)) for unit in of_lengths if unit}
    if len(factors) > 1 or (factors and "" in of_lengths):
        listed = ", ".join(map(repr, of_lengths))
        raise text.fault(0, f"the names of the columns have units {listed}, expected the same unit; rename them")
    used = {time, frame, *ones, *of_markers, *of_plates}
    other = [name for k, name in enumerate(names) if k not in used]
    unit = next(iter(of_lengths), None) or None
    return _Columns(len(names), time, time_unit, frame, markers, unit, ones, plates, other)


def _timing(text: Text, rows: Rows, columns: _Columns, values: FloatArray) -> tuple[FloatArray, Clock]:
    """Evenly spaced rows and their clock; frame numbers without times need a rate."""
    time, frame, rate_hz = columns.time, columns.frame, text.options.rate_hz
    counts = values[:, time] if time is not None and not columns.time_unit and len(values) > 2 else np.zeros(2)
    if (np.diff(counts) == 1.0).all() and (counts % 1.0 == 0.0).all():
        time, frame = None, time
        text.add("time", "counts 1 by 1", "numbers of samples, not seconds")
    if time is None:
        if frame is None:
            raise text.fault(0, "there is no column 'time' (time_s, time_ms) and no column 'frame'; add one")
        first_frame = check_frames(values[:, frame], text, rows.first)
        if not rate_hz:
            raise text.error(
                "there are frame numbers but no times; give the rate with reading.rate_hz (of a forces_file: reading.forces_rate_hz)"
            )
        text.add("rate", "frames without times", f"{rate_hz:g} frames per second, as in reading.rate_hz")
        return values, Clock(rate_hz, first_frame, None)
    unit = plain_unit(columns.time_unit)
    if unit and unit not in TIMES_S:
        raise text.fault(0, f"the unit of the time is {columns.time_unit!r}, expected s or ms; rename the column")
    text.add(
        "unit of time",
        f"the column's name states {columns.time_unit or 'no unit'}",
        f"times multiplied by {TIMES_S.get(unit, 1.0):g} to seconds",
        "" if unit else "name the column time_s or time_ms",
    )
    values, clock = timed_rows(values, text, replace(rows, time=time, frame=frame, unit_s=TIMES_S.get(unit, 1.0)))
    if frame is None:
        text.add("frames", f"{len(values)} without numbers", "the first is frame 1")
    return values, clock


def force_columns(names: Sequence[str]) -> dict[int, Vectors]:
    """Columns of each plate by its number: vector -> axis -> column.

    Examples
    --------
    >>> force_columns(["Time", "Fx", "Fy", "Fz", "COPx", "COPy", "COPz", "Ty"])
    {1: {'force': {0: 1, 1: 2, 2: 3}, 'point': {0: 4, 1: 5, 2: 6}, 'torque': {1: 7}}}
    """
    plates: dict[int, dict[str, dict[int, int]]] = {}
    for k, name in enumerate(names):
        if match := _FORCE.fullmatch(name.strip()):
            vectors = plates.setdefault(int(match[3][:9] or 1), {})
            vectors.setdefault(VECTORS[match[1]], {})["xyz".index(match[2])] = k
    return {n: v for n, v in sorted(plates.items()) if len(v.get("force", ())) == len(v.get("point", ())) == 3}


def has_two_headings(lines: list[str]) -> bool:
    """Return True if the second line has axes for the names in the first.

    >>> has_two_headings(["'TIME' 'RIGHT HIP'", "'S' 'X' 'Y'"])
    True
    """
    axes = {word.lower() for word in _words(lines[1])} if len(lines) > 1 else set[str]()
    return {"x", "y"} <= axes <= {"n", "x", "y", "z", "", *TIMES_S}


def _words(line: str) -> list[str]:
    """Cells of a heading separated by tabs, or its words; quotes protect spaces."""
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
    text = read_text(path, options)
    names, axes = [word for word in _words(text.lines[0]) if word], [word.lower() for word in _words(text.lines[1])]
    while axes and not axes[-1]:
        axes.pop()
    starts = [k for k, axis in enumerate(axes) if axis not in ("y", "z")]
    if len(starts) != len(names):
        raise text.fault(
            1,
            f"{len(names)} names for {len(starts)} columns or groups X, Y, Z; each marker needs X and Y, or X, Y, Z",
        )
    text.refuse_repeated(names, 0)
    places = {n: range(a, b) for n, a, b in zip(names, starts, [*starts[1:], len(axes)], strict=True)}
    head = {name: axes[place[0]] for name, place in places.items()}
    times = [name for name in names if head[name] in TIMES_S or name.lower() == "time"]
    frames = [name for name in names if head[name] == "n" or name.lower() == "frame"]
    markers = [name for name in names if head[name] == "x" and len(places[name]) in (2, 3)]
    if len(times) != 1 or len(frames) > 1 or not markers:
        raise text.fault(
            0, f"found {len(times)} columns of time and {len(markers)} markers; expected one time and markers"
        )
    if other := [name for name in names if name not in {*times, *frames, *markers}]:
        text.notes.append(f"columns that are neither time, frame nor marker, left out: {', '.join(other)}")
    flat = len(axes)  # the column of zeros
    columns = _Columns(
        len(axes),
        time=places[times[0]][0],
        time_unit=head[times[0]] if head[times[0]] in TIMES_S else "",
        frame=places[frames[0]][0] if frames else None,
        markers={name: (*places[name], flat)[:3] for name in markers},
    )
    text.add("format", f"a table with two lines of headings, {len(axes)} columns", f"{len(markers)} markers")
    separator = "\t" if "\t" in text.lines[min(2, len(text.lines) - 1)].strip() else None
    return _recording(text, columns, Rows(2, separator), "the two lines of headings")
