"""OpenSim storage files (STO, MOT): markers and forces among columns over time."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.emg_channels import side_and_muscle
from limbtorque.recordings.findings import Findings, force_unit, length_unit, positions_m
from limbtorque.recordings.force_plates import LENGTHS_M, plain_unit
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import ForcePlate, Recording
from limbtorque.recordings.text.frames import Clock, Rows, bare_recording, recording_of, stated_rate, timed_rows
from limbtorque.recordings.text.lines import Text, no_repeated_columns, plain_label, plain_number, read_text, table
from limbtorque.recordings.text.opensim_results import GIVE, is_fitted, is_of_muscles, is_result, kind_of_results
from limbtorque.recordings.wrenches import Wrench, plate_of

READER = "text.opensim_storage"
AXES = {"x": 0, "y": 1, "z": 2, "1": 0, "2": 1, "3": 2}
# brackets around three numbers, as in ~[1,2,3]; any other is damage
_THREE = r"([^][(),\t]*,[^][(),\t]*,[^][(),\t]*)"
_VECTOR = re.compile(rf"(?<!\S)~?(?:\[{_THREE}\]|\({_THREE}\))~?(?!\S)")
# columns of a wrench: what it is of (the rest of the name), which of the three vectors, which axis
_WRENCHES = (
    (re.compile(r"(.*)force(.*)_v([xyz])"), "force"),
    (re.compile(r"(.*)force(.*)_p([xyz])"), "point"),
    (re.compile(r"(.*)(?:torque|moment)(.*)_m?([xyz])"), "torque"),
    (re.compile(r"f()(\d+)_([123xyz])"), "force"),
    (re.compile(r"p()(\d+)_([123xyz])"), "point"),
    (re.compile(r"m()(\d+)_([123xyz])"), "torque"),
)
_POINT = re.compile(r"(.+)_(?:[tvp]([xyz])|([xyz123]))")


def read_storage(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read an OpenSim storage file of markers, ground reaction forces, or both.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        Markers from columns ``<name>_tx, _ty, _tz`` (or ``_x, _y, _z``, or ``_1, _2, _3``) or of type Vec3; force
        plates, of kind 0, whose corners are not known, from columns such as ``ground_force_vx``, ``ground_force_px``,
        ``ground_torque_x`` or ``f1_1``, ``p1_1``, ``m1_1``. Columns that are neither are left out and named. A table of
        electromyography (by its first line, or where most columns name muscles) is a recording of analog channels only.

    Raises
    ------
    ReadError
        Not a storage file, truncated, angles, no unit of length, columns that are neither markers nor forces.

    Notes
    -----
    The torque of a wrench acts at its point, so its moment about the origin is point x force + torque. OpenSim
    applies these forces to the body that stands on the plate: they are reactions. The unit of length is in the
    heading (``Units=mm``, or the sentence that units are S.I.), or has to be given. Times may begin anywhere.
    """
    findings = Findings()
    text = read_text(path, options, findings)
    end = next((k for k, line in enumerate(text.lines) if line.strip().lower() == "endheader"), None)
    if end is None or end + 2 >= len(text.lines):
        raise ReadError(
            f"{text.name}: not a whole storage file: expected a line 'endheader', a line of names and lines of numbers; "
            "export it again"
        )
    header = _header(text.lines[:end])
    start = next((k for k in range(end + 1, len(text.lines)) if text.lines[k].strip()), end + 1)
    separator = "\t" if "\t" in text.lines[start].strip() else None
    names = [plain_label(cell, findings) for cell in text.lines[start].strip().split(separator)]
    if not names or names[0].lower() != "time":
        raise text.fault(
            start, f"the first column is {names[0][:40] if names else ''!r}, expected 'time'; export it again"
        )
    no_repeated_columns([name.lower() for name in names], text, start)
    _refuse_results(text, names[1:], options)
    width = _width(text, header, start)
    values = _values(text, start + 1, len(names), width, separator)
    _check_counts(text, header, values, len(names), width, findings)
    findings.add("format", f"OpenSim storage, {', '.join(list(header)[:8])}", f"{len(names) - 1} columns over time")
    stated_hz = stated_rate(header.get("datarate"), "DataRate", findings)
    rows = Rows(start + 1, separator, time=0, frame=None, stated_hz=stated_hz, where="DataRate")
    values, clock = timed_rows(values, text, rows, options, findings)
    columns = _columns(names[1:], values[:, 1:], width)
    return _recording(text, header, columns, clock, options, findings)


def _refuse_results(text: Text, names: Sequence[str], options: ReadOptions) -> None:
    """Refuse results of a model; ground forces, or wanted electromyography, are read."""
    wrenches, _, _ = _wrenches(dict.fromkeys(names, np.zeros(0)))
    kind = kind_of_results(text.lines[0], names)
    has_emg = not is_of_muscles(text.lines[0]) and bool(_emg_columns(text.lines[0], names))
    if kind and not wrenches and not (has_emg and options.analog_only):
        beside = "; for the electromyography in it, give it as emg_file, or to `limbtorque emg`" if has_emg else ""
        raise ReadError(f"{text.name}: {kind}: {GIVE}{beside}")


def _recording(
    text: Text,
    header: Mapping[str, str],
    columns: dict[str, FloatArray],
    clock: Clock,
    options: ReadOptions,
    findings: Findings,
) -> Recording:
    """Recording from the sorted columns."""
    if options.analog_only and (chosen := _emg_columns(text.lines[0], columns)):
        return _emg_recording(text, {name: columns[name] for name in chosen}, clock, findings, len(columns))
    wrenches, rest, broken = _wrenches(columns)
    markers, other = _markers(rest, findings)
    if broken:
        other += broken
        findings.notes.append(
            f"columns of a wrench without three of its force and three of its point, left out: {', '.join(broken)}"
        )
    if not markers and not wrenches and _is_emg(text.lines[0], columns):
        return _emg_recording(text, columns, clock, findings, len(columns))
    if not markers and not wrenches:
        raise ReadError(
            f"{text.name}: no markers and no forces: no column is like 'RSHO_tx', 'ground_force_vx' or 'f1_1'; "
            f"found {', '.join(list(columns)[:5])}; angles, muscles and other {GIVE}"
        )
    _check_coordinates(text, header, markers, wrenches, other, findings)
    said, where = _unit(header, text)
    length_m = length_unit(said, where, options, text.name, findings)
    force_n = force_unit("N" if where == SENTENCE else None, where, options, findings) if wrenches else 1.0
    plates = [
        _plate(k, name, wrench, clock.rate_hz, length_m, force_n, findings, text) for k, (name, wrench) in wrenches
    ]
    findings.add("axes", "not stated", "unchanged; plane.up_axis of the settings defines the vertical")
    findings.add("frames", f"the time begins at {clock.start_s:g} s", "time is zero at the first row, which is frame 1")
    if other:
        findings.add("other columns", f"{len(other)}: {', '.join(other[:8])}{' ...' * (len(other) > 8)}", "left out")
    labels = tuple(markers)
    n_frames = len(next(iter(columns.values())))
    xyz = np.stack(list(markers.values()), axis=1) if markers else np.zeros((n_frames, 0, 3))
    markers_m = positions_m(xyz, length_m, text.name, labels, findings)
    return recording_of(text, READER, clock, findings, labels=labels, markers_m=markers_m, force_plates=tuple(plates))


def _is_emg(title: str, names: Collection[str]) -> bool:
    """Return True for electromyography, by the title or by names of muscles."""
    return _says_emg(title) or 2 * sum(map(_names_muscle, names)) > len(names)


def _names_muscle(name: str) -> bool:
    """Return True for a column named like a muscle, or EMG."""
    return bool(side_and_muscle(name)[1]) or "emg" in name.lower()


def _emg_columns(title: str, names: Collection[str]) -> list[str]:
    """Columns of electromyography beside positions, forces and a model's coordinates."""
    _, rest, _ = _wrenches(dict.fromkeys(names, np.zeros(0)))
    _, others = _markers(rest, Findings())
    recorded = [name for name in others if not is_result(name)]
    return recorded if _says_emg(title) else [name for name in recorded if _names_muscle(name)]


def _says_emg(title: str) -> bool:
    """Return True where the title names electromyography."""
    return bool(re.search(r"\bs?emg|electromyo", title.lower()))


def _emg_recording(
    text: Text, columns: Mapping[str, FloatArray], clock: Clock, findings: Findings, n_columns: int
) -> Recording:
    """Recording of analog channels only, one sample a frame."""
    if n_columns > len(columns):
        findings.add("other columns", str(n_columns - len(columns)), "left out: only electromyography is read")
    findings.add(
        "electromyography",
        f"{len(columns)} columns named like muscles, {'by its title' if (said := _says_emg(text.lines[0])) else 'untitled'}",
        "analog channels; their unit is not stated",
        "" if said else "write EMG into the first line; leave the file out if its activations are computed",
    )
    analog = np.stack(list(columns.values()), axis=1)
    return bare_recording(
        text,
        READER,
        clock,
        findings,
        n_frames=len(analog),
        analog_labels=tuple(columns),
        analog_units=("",) * len(columns),
        analog_descriptions=("EMG",) * len(columns),
        analog=analog,
        analog_rate_hz=clock.rate_hz,
    )


SI = "s.i. units"
SENTENCE = "the heading's sentence that units are S.I."


def _header(lines: Sequence[str]) -> dict[str, str]:
    """Names (lower case) and values of the heading; a line without '=' is both."""
    found = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals and "s.i. units" in line.lower():
            name, value = SI, line
        elif not equals:
            name, _, value = line.strip().partition(" ")
        if name.strip():
            found[name.strip().lower()] = value.strip()
    return found


def _unit(header: Mapping[str, str], text: Text) -> tuple[str | None, str]:
    """Unit of length of the heading, and the place that states it."""
    said = header.get("units")
    if said and plain_unit(said) in LENGTHS_M:
        if SI in header and LENGTHS_M[plain_unit(said)] != 1.0:
            raise ReadError(f"{text.name}: the heading says Units={said}, and that units are S.I.; remove one of them")
        return said, "Units"
    return ("m", SENTENCE) if SI in header else (None, "the heading")


def _width(text: Text, header: Mapping[str, str], line: int) -> int:
    """Numbers in a cell: 1, or 3 for DataType=Vec3."""
    kind = header.get("datatype", "double").lower()
    if kind not in ("double", "vec3"):
        raise text.fault(line, f"DataType is {kind!r}, expected double or Vec3; export the table flattened")
    return 3 if kind == "vec3" else 1


def _values(text: Text, first: int, n_names: int, width: int, separator: str | None) -> FloatArray:
    if width == 1:
        stripped = Text(text.name, text.sha256, [line.strip(" \t") for line in text.lines])
        return table(stripped, first, len(text.lines), n_names, separator)
    flat = [_VECTOR.sub(lambda cell: cell[1] or cell[2], line).replace(",", "\t") for line in text.lines[first:]]
    vectors = Text(text.name, text.sha256, [*text.lines[:first], *(line.strip(" \t") for line in flat)])
    return table(vectors, first, len(text.lines), 1 + width * (n_names - 1), separator)


def _check_counts(
    text: Text, header: Mapping[str, str], values: FloatArray, n_names: int, width: int, findings: Findings
) -> None:
    if not len(values):
        raise ReadError(f"{text.name}: no line of numbers; export it again")
    for keys, what, count in (
        (("nrows", "datarows"), "rows", len(values)),
        (("ncolumns", "datacolumns"), "columns", n_names),
    ):
        for key in keys:
            stated = plain_number(header.get(key, str(count)))
            if math.isnan(stated):
                found = f"{key} is {header[key][:20]!r}, the file has {count} {what}"
                findings.add(what, found, f"{count} are read", f"correct {key} in the file")
                findings.notes.append(f"{found}: these are read")
            elif stated not in (count, count * width):
                raise ReadError(
                    f"{text.name}: the heading says {header[key]} {what} ({key}), the file has {count}; it is damaged "
                    "or truncated, export it again"
                )


def _columns(names: Sequence[str], values: FloatArray, width: int) -> dict[str, FloatArray]:
    """Columns by name; vectors as three columns."""
    if width == 1:
        return {name: values[:, k] for k, name in enumerate(names)}
    return {f"{name}_{axis}": values[:, 3 * k + i] for k, name in enumerate(names) for i, axis in enumerate("xyz")}


Vectors = dict[str, dict[int, FloatArray]]


def _wrenches(
    columns: Mapping[str, FloatArray],
) -> tuple[list[tuple[int, tuple[str, Vectors]]], dict[str, FloatArray], list[str]]:
    """Wrenches by name; the other columns; columns of wrenches that are not whole."""
    found: dict[str, Vectors] = {}
    taken: dict[str, list[str]] = {}
    for name, column in columns.items():
        for pattern, vector in _WRENCHES:
            if match := pattern.fullmatch(name.lower()):
                of = "".join(match.groups()[:2]).replace("ground_", "").strip("_")
                found.setdefault(of, {}).setdefault(vector, {})[AXES[match[3]]] = column
                taken.setdefault(of, []).append(name)
                break
    whole = {of: w for of, w in found.items() if all(len(w.get(vector, {})) == 3 for vector in ("force", "point"))}
    # markers may be called F1, P1 or M1; two of them, or the word, are of a wrench
    broken = [of for of, w in found.items() if of not in whole and (len(w) > 1 or "force" in taken[of][0].lower())]
    used = {name for of in (*whole, *broken) for name in taken[of]}
    rest = {name: column for name, column in columns.items() if name not in used}
    return list(enumerate(whole.items(), start=1)), rest, [name for of in broken for name in taken[of]]


def _markers(columns: Mapping[str, FloatArray], findings: Findings) -> tuple[dict[str, FloatArray], list[str]]:
    """Markers of shape (n_frames, 3) by label; the other columns."""
    parts: dict[str, dict[int, str]] = {}
    for name in columns:
        if match := _POINT.fullmatch(name):
            parts.setdefault(match[1], {})[AXES[match[2] or match[3]]] = name
    whole = {label: axes for label, axes in parts.items() if len(axes) == 3}
    if whole:
        findings.note_incomplete(parts)
    used = {name for axes in whole.values() for name in axes.values()}
    markers = {label: np.stack([columns[axes[k]] for k in range(3)], axis=1) for label, axes in whole.items()}
    return markers, [name for name in columns if name not in used]


def _check_coordinates(
    text: Text,
    header: Mapping[str, str],
    markers: Mapping[str, FloatArray],
    wrenches: Sequence[object],
    other: Sequence[str],
    findings: Findings,
) -> None:
    """Refuse a table with few positions among other columns, such as pelvis_tx."""
    findings.add("inDegrees", header.get("indegrees", "not stated"), "positions and forces have no angles")
    if not wrenches and len(other) > 3 * len(markers):
        raise ReadError(
            f"{text.name}: {', '.join(list(markers)[:3])} and {len(other)} columns that are no positions, such as {other[0]}, "
            f"look like {GIVE}"
        )
    if markers and is_fitted(text.lines[0]):
        findings.add(
            "origin",
            f"the first line is {text.lines[0].strip()[:40]!r}: markers of a model, fitted by inverse kinematics",
            "taken as recorded",
            "give the recorded markers",
        )


def _plate(
    number: int,
    name: str,
    wrench: Vectors,
    rate_hz: float,
    length_m: float,
    force_n: float,
    findings: Findings,
    text: Text,
) -> ForcePlate:
    """Force and moment about the origin from force, point and torque."""
    force, point = (np.stack([wrench[v][k] for k in range(3)], axis=1) for v in ("force", "point"))
    turning = wrench.get("torque", {})
    whole = len(turning) == 3
    torque = np.stack([turning[k] for k in range(3)], axis=1) if whole else np.zeros_like(force)
    findings.add(
        f"force plate {number}",
        f"columns of {name or 'ground'}: force, point{' and torque' if whole else ', no torque'}",
        "force on the foot, torque in its unit times that of length; moment about the origin = point x force + torque; "
        "its corners are unknown",
        "" if whole else "export the torque, too: the free moment is set to zero",
    )
    plate = plate_of(Wrench(force * force_n, point * length_m, torque * force_n * length_m), number, rate_hz)
    bad = int(np.isnan(plate.force_n).any(axis=1).sum())
    if bad:
        findings.notes.append(f"force plate {number} has no value in {bad} of {len(force)} samples of {text.name}")
    return plate
