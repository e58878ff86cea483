"""A table with named columns: time or frame, and three columns for every marker."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.findings import Findings, force_unit, length_unit, positions_m
from limbtorque.recordings.force_plates import LENGTHS_M, plain_unit
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.text.force_columns import force_columns, plates_in
from limbtorque.recordings.text.frames import Clock, Rows, check_frames, recording_of, timed_rows
from limbtorque.recordings.text.lines import Text, no_repeated_columns, plain_label, read_text, table

SEPARATORS = ",;\t"
AXES = {"x": 0, "y": 1, "z": 2, "0": 0, "1": 1, "2": 2}
TIMES_S = {"s": 1.0, "sec": 1.0, "second": 1.0, "ms": 1e-3, "millisecond": 1e-3}
_UNIT = r"(?:[ _]*[\[(]([^\])]*)[\])]|_(mm|cm|m|s|ms))?"
_COORDINATE = re.compile(r"(.+?)(?:[ _.:-]([xyz])|\[([0123])\])" + _UNIT, re.IGNORECASE)
_CLOSE = re.compile(r"(.*[^\s_.:-])([XYZ])")  # R.ASISX, where no name has its axis apart
_TIME = re.compile(r"time" + _UNIT, re.IGNORECASE)


@dataclass(frozen=True)
class _Columns:
    """Columns of time (with unit), frame and each marker's coordinates; the rest."""

    time: int | None
    time_unit: str
    frame: int | None
    markers: dict[str, tuple[int, ...]]
    ones: tuple[int, ...]
    units: tuple[str, ...]
    other: tuple[str, ...]


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
        name is like these, ``<marker>X, Y, Z``), with a unit behind: ``RSHO_x_mm``, ``RSHO_x [mm]``, ``RSHO_x (mm)``. Columns that belong to no marker are left out and
        named.

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
    findings = Findings()
    text = read_text(path, options, findings)
    separator = max(SEPARATORS, key=text.lines[0].count)
    names = [plain_label(cell, findings) for cell in text.cells(0, separator)]
    while names and not names[-1]:
        names.pop()
    no_repeated_columns(names, text, 0)
    forces = force_columns(names)
    of_forces = {k for plate in forces.values() for axes in plate.values() for k in axes.values()}
    columns = _sorted(text, names, of_forces, findings)
    findings.add("format", f"a table of {len(names)} named columns", f"{len(columns.markers)} markers")
    first = next((k for k in range(1, len(text.lines)) if text.lines[k].strip()), len(text.lines))
    values = table(text, first, len(text.lines), len(names), separator)
    if not len(values):
        raise ReadError(f"{text.name}: there are no rows below the names; export it again")
    said = _one_unit(text, columns.units)
    length_m = length_unit(said, "the columns' names", options, text.name, findings)
    values, clock = _timing(text, Rows(first, separator), columns, values, options, findings)
    findings.add("axes", "columns x, y, z", "unchanged; plane.up_axis of the settings defines the vertical")
    fourth = values[:, columns.ones]
    if not np.isin(fourth[np.isfinite(fourth)], (0.0, 1.0)).all():
        raise text.fault(0, "columns [3] are not 1: the file does not hold positions; export positions")
    if columns.other:
        shown = ", ".join(columns.other[:8]) + " ..." * (len(columns.other) > 8)
        findings.add("other columns", f"{len(columns.other)}: {shown}", "left out")
    labels = tuple(columns.markers)
    places = np.array([k for axes in columns.markers.values() for k in axes], dtype=int)
    xyz = values[:, places].reshape(len(values), len(labels), 3)
    newtons = force_unit(None, "the columns' names", options, findings) if forces else 1.0
    plates = plates_in(forces, values, rate_hz=clock.rate_hz, units=(newtons, length_m), findings=findings)
    markers_m = positions_m(xyz, length_m, text.name, labels, findings)
    return recording_of(
        text, "text.plain_csv", clock, findings, labels=labels, markers_m=markers_m, force_plates=plates
    )


def _sorted(text: Text, names: Sequence[str], of_forces: Collection[int], findings: Findings) -> _Columns:
    """Sort the columns by their names."""
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
    used = {k for axes in markers.values() for k in axes} | {fourth[label] for label in markers if label in fourth}
    used |= set(of_forces)
    findings.note_incomplete(parts)
    if not markers and not of_forces:
        raise text.fault(
            0,
            "no marker: expected columns such as RSHO_x_mm, RSHO_y_mm, RSHO_z_mm, found "
            f"{', '.join(map(repr, names[:5]))}; rename the columns",
        )
    return _Columns(
        time=time,
        time_unit=time_unit,
        frame=frame,
        markers=markers,
        ones=tuple(fourth[label] for label in markers if label in fourth),
        units=tuple(units[k] for axes in markers.values() for k in axes),
        other=tuple(name for k, name in enumerate(names) if k not in used and k not in (time, frame)),
    )


def _counts(times: FloatArray) -> bool:
    """Return True for times that number the samples: 1, 2, 3 ..."""
    return len(times) > 2 and bool((np.diff(times) == 1.0).all() and (times == np.rint(times)).all())


def _one_unit(text: Text, units: Sequence[str]) -> str | None:
    """Unit of length in the names, the same for all."""
    if not units:
        return None
    found = {LENGTHS_M.get(plain_unit(unit)) for unit in units if unit}
    said = list(dict.fromkeys(units))
    if len(found) > 1 or (found and "" in said):
        listed = ", ".join(repr(unit) for unit in said)
        raise text.fault(0, f"the names of the columns give units {listed}, expected one for all; rename them")
    return said[0] or None


def _timing(
    text: Text, rows: Rows, columns: _Columns, values: FloatArray, options: ReadOptions, findings: Findings
) -> tuple[FloatArray, Clock]:
    """Evenly spaced rows and their clock; frames without times need a rate."""
    time, frame = columns.time, columns.frame
    if time is not None and not columns.time_unit and _counts(values[:, time]):
        time, frame = None, time
        findings.add("time", "counts 1 by 1", "numbers of samples, not seconds")
    if time is None:
        if frame is None:
            raise text.fault(0, "there is no column 'time' (time_s, time_ms) and no column 'frame'; add one")
        first_frame = check_frames(values[:, frame], text, rows.first, findings)
        if not options.rate_hz:
            raise ReadError(
                f"{text.name}: there are frames but no times; give the rate with reading.rate_hz (of a forces_file: reading.forces_rate_hz)"
            )
        findings.add("rate", "frames without times", f"{options.rate_hz:g} frames per second, as in reading.rate_hz")
        return values, Clock(options.rate_hz, first_frame, None)
    unit = plain_unit(columns.time_unit)
    if unit and unit not in TIMES_S:
        raise text.fault(0, f"the unit of the time is {columns.time_unit!r}, expected s or ms; rename the column")
    findings.add(
        "unit of time",
        f"the column's name states {columns.time_unit or 'no unit'}",
        f"times multiplied by {TIMES_S.get(unit, 1.0):g} to seconds",
        "" if unit else "name the column time_s or time_ms",
    )
    rows = replace(rows, time=time, frame=frame, unit_s=TIMES_S.get(unit, 1.0))
    values, clock = timed_rows(values, text, rows, options, findings)
    if frame is None:
        findings.add("frames", f"{len(values)} without numbers", "the first is frame 1")
    return values, clock
