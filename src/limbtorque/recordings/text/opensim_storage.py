"""OpenSim storage files (STO, MOT): markers, forces or electromyography."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from limbtorque.arrays import FloatArray
from limbtorque.recordings.emg_channels import side_and_muscle
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.source import LENGTHS_M, plain_number, plain_unit
from limbtorque.recordings.text.table import Clock, Rows, Text, read_text, stated_rate, table, timed_rows

READER = "text.opensim_storage"
AXES = {"x": 0, "y": 1, "z": 2, "1": 0, "2": 1, "3": 2}
SI = "s.i. units"
SENTENCE = "the heading's sentence that units are S.I."
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

# signs of results that OpenSim computed: the first line of the file (small letters), or more than a third of the columns
OF_MUSCLES = ("modelforces", "static optimization", "modelstates", "states", "controls", "activations")
TITLES = (
    *(*OF_MUSCLES, "joint reaction loads", "coordinates", "speeds", "accelerations", "model marker errors from ik"),
    *("inverse dynamics generalized forces", "inverse dynamics"),
)
COLUMNS = (
    r".+_on_.+_in_.+_[fmp][xyz]",  # joint reactions
    r"/.+/(value|speed|activation|fiber_length|normalized_tendon_force)|.+[./](fiber_length|activation)",  # states
    r".+_(tilt|list|rotation|flexion|adduction|angle|elev|flex)(_[rl])?",  # inverse kinematics
    r".+_o[xyz]",  # body kinematics
    r".+_(moment|force)",  # inverse dynamics
)
FITTED = ("inverse kinematics", "model marker locations from ik")
GIVE = "results of OpenSim, not a recording: use the markers it was computed from (TRC), and the ground forces as forces_file"
Vectors = dict[str, dict[int, str]]


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
    text = read_text(path, options)
    end = next((k for k, line in enumerate(text.lines) if line.strip().lower() == "endheader"), None)
    if end is None or end + 2 >= len(text.lines):
        raise text.error(
            "not a whole storage file: expected a line 'endheader', a line of names and lines of numbers; export it again"
        )
    header = _header(text.lines[:end])
    start = next((k for k in range(end + 1, len(text.lines)) if text.lines[k].strip()), end + 1)
    separator = "\t" if "\t" in text.lines[start].strip() else None
    names = [text.plain_label(cell) for cell in text.lines[start].strip().split(separator)]
    if not names or names[0].lower() != "time":
        said = names[0][:40] if names else ""
        raise text.fault(start, f"the first column is {said!r}, expected 'time'; export it again")
    text.refuse_repeated([name.lower() for name in names], start)
    title, sign = text.lines[0], sign_of_results(text.lines[0], names[1:])
    has_emg = title.strip().lower() not in OF_MUSCLES and bool(_emg_columns(title, names[1:]))
    if sign and not _wrenches(names[1:])[0] and not (has_emg and text.options.analog_only):
        beside = "; to use its electromyography, name it as emg_file" if has_emg else ""
        raise text.error(f"{sign}: {GIVE}{beside}")
    kind = header.get("datatype", "double").lower()
    if kind not in ("double", "vec3"):
        raise text.fault(start, f"DataType is {kind!r}, expected double or Vec3; export the table flattened")
    width = 3 if kind == "vec3" else 1
    if width == 3:
        vectors = (_VECTOR.sub(lambda cell: cell[1] or cell[2], line) for line in text.lines[start + 1 :])
        text.lines[start + 1 :] = [line.replace(",", "\t") for line in vectors]
    text.lines[start + 1 :] = [line.strip(" \t") for line in text.lines[start + 1 :]]
    values = table(text, start + 1, len(text.lines), 1 + width * (len(names) - 1), separator)
    sizes = {"rows": len(values), "columns": len(names)}
    for key, what in (("nrows", "rows"), ("datarows", "rows"), ("ncolumns", "columns"), ("datacolumns", "columns")):
        count = sizes[what]
        stated = plain_number(header.get(key, str(count)))
        if math.isnan(stated):
            said = f"{key} is {header[key][:20]!r}, the file has {count} {what}"
            text.add(what, said, f"{count} are read", f"correct {key} in the file", note=f"{said}: the latter are read")
        elif stated not in (count, count * width):
            says = f"the heading says {header[key]} {what} ({key}), the file has {count}"
            raise text.error(f"{says}; it is damaged or truncated, export it again")
    text.add("format", f"OpenSim storage, {', '.join(list(header)[:8])}", f"{len(names) - 1} columns over time")
    stated_hz = stated_rate(text, header.get("datarate"), "DataRate")
    rows = Rows(start + 1, separator, time=0, frame=None, stated_hz=stated_hz, where="DataRate")
    values, clock = timed_rows(values, text, rows)
    columns = [f"{name}_{axis}" for name in names[1:] for axis in "xyz"] if width == 3 else names[1:]
    return _recording(text, header, columns, values[:, 1:], clock)


def _header(lines: Sequence[str]) -> dict[str, str]:
    """Names (lower case) and values of the heading."""
    header = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals and SI in line.lower():
            name, value = SI, line
        elif not equals:
            name, _, value = line.strip().partition(" ")
        if name.strip():
            header[name.strip().lower()] = value.strip()
    return header


def sign_of_results(title: str, names: Sequence[str]) -> str:
    """Evidence that a file contains OpenSim results, in words; empty if none.

    Parameters
    ----------
    title : str
        First line of the file.
    names : sequence of str
        Its columns after the time.

    Examples
    --------
    >>> sign_of_results("Coordinates", ["hip_flexion_r"])
    "the first line is 'Coordinates'"
    >>> sign_of_results("UNKNOWN", ["hip_r_on_femur_r_in_ground_fx"])
    "columns such as 'hip_r_on_femur_r_in_ground_fx'"
    >>> sign_of_results("a.sto", ["RSHO_tx", "RSHO_ty", "RSHO_tz"])
    ''
    """
    if title.strip().lower() in TITLES:
        return f"the first line is {title.strip()!r}"
    for pattern in COLUMNS:
        of_model = [name for name in names if re.fullmatch(pattern, name.lower())]
        if 3 * len(of_model) > len(names):
            return f"columns such as {of_model[0]!r}"
    return ""


def _recording(
    text: Text, header: Mapping[str, str], columns: Sequence[str], values: FloatArray, clock: Clock
) -> Recording:
    """Recording from named columns."""
    title = text.lines[0]
    if text.options.analog_only and (chosen := _emg_columns(title, columns)):
        return _emg_recording(text, columns, values, chosen, clock)
    wrenches, rest, broken = _wrenches(columns)
    markers, other, parts = _markers(rest)
    if markers:
        text.note_incomplete(parts)
    incomplete = f"columns of incomplete wrenches (three of force and three of point of application are needed): {', '.join(broken)}"
    if broken:
        text.notes.append(f"{incomplete}; left out")
    if not markers and not wrenches:
        if _says_emg(title) or 2 * sum(map(_names_muscle, columns)) > len(columns):
            return _emg_recording(text, columns, values, columns, clock)
        if broken:
            raise text.error(incomplete)
        raise text.error(
            "no markers and no forces: no column is like 'RSHO_tx', 'ground_force_vx' or 'f1_1'; "
            f"found {', '.join(columns[:5])}; angles, muscles and other {GIVE}"
        )
    other = [*other, *broken]
    text.add("inDegrees", header.get("indegrees", "not stated"), "positions and forces have no angles")
    if not wrenches and len(other) > 3 * len(markers):  # such as pelvis_tx among angles
        raise text.error(
            f"{', '.join(list(markers)[:3])} and {len(other)} columns that are not positions, such as {other[0]}, look like {GIVE}"
        )
    if markers and title.strip().lower() in FITTED:
        said = f"the first line is {title.strip()[:40]!r}: markers of a model, fitted by inverse kinematics"
        text.add("origin", said, "taken as recorded", "give the recorded markers")
    unit, where = header.get("units"), "Units"
    if not unit or plain_unit(unit) not in LENGTHS_M:
        unit, where = ("m", SENTENCE) if SI in header else (None, "the heading")
    elif SI in header and LENGTHS_M[plain_unit(unit)] != 1.0:
        raise text.error(f"the heading says Units={unit}, and that units are S.I.; remove one of them")
    length_m = text.length_m(unit, where)
    force_n = text.force_n("N" if where == SENTENCE else None, where) if wrenches else 1.0
    at = {name: k for k, name in enumerate(columns)}
    places = {
        number: {vector: {axis: at[name] for axis, name in axes.items()} for vector, axes in vectors.items()}
        for number, vectors in enumerate(wrenches.values(), start=1)
    }
    plates = text.plates(places, values, clock, length_m=length_m, force_n=force_n)
    text.add("axes", "not stated", "unchanged; plane.up_axis of the settings defines the vertical")
    text.add("frames", f"the time begins at {clock.start_s:g} s", "time is zero at the first row, which is frame 1")
    text.add_others(other)
    labels, n_frames = tuple(markers), len(values)
    xyz = values[:, [at[axes[k]] for axes in markers.values() for k in range(3)]].reshape(n_frames, len(labels), 3)
    markers_m = text.positions_m(xyz, length_m, labels)
    return text.recorded(READER, clock, n_frames, labels=labels, markers_m=markers_m, force_plates=plates)


def _wrenches(names: Collection[str]) -> tuple[dict[str, Vectors], list[str], list[str]]:
    """Columns of each wrench by name, of others, and of incomplete wrenches."""
    wrenches: dict[str, Vectors] = {}
    taken: dict[str, str] = {}
    for name in names:
        for pattern, vector in _WRENCHES:
            if match := pattern.fullmatch(name.lower()):
                of = "".join(match.groups()[:2]).replace("ground_", "").strip("_")
                wrenches.setdefault(of, {}).setdefault(vector, {})[AXES[match[3]]] = name
                taken[name] = of
                break
    whole = {of: w for of, w in wrenches.items() if all(len(w.get(vector, {})) == 3 for vector in ("force", "point"))}
    # markers may be called F1, P1 or M1; two of them, or the word, are of a wrench
    says_force = {of for name, of in taken.items() if "force" in name.lower()}
    broken = {of for of, w in wrenches.items() if of not in whole and (len(w) > 1 or of in says_force)}
    rest = [name for name in names if taken.get(name) not in {*whole, *broken}]
    return whole, rest, [name for name, of in taken.items() if of in broken]


def _markers(names: Collection[str]) -> tuple[dict[str, dict[int, str]], list[str], dict[str, dict[int, str]]]:
    """Columns of each complete marker by axis, of others, and of all points."""
    parts: dict[str, dict[int, str]] = {}
    for name in names:
        if match := _POINT.fullmatch(name):
            parts.setdefault(match[1], {})[AXES[match[2] or match[3]]] = name
    whole = {label: axes for label, axes in parts.items() if len(axes) == 3}
    used = {name for axes in whole.values() for name in axes.values()}
    return whole, [name for name in names if name not in used], parts


def _emg_columns(title: str, names: Collection[str]) -> list[str]:
    """Electromyography columns, without positions, forces and model coordinates."""
    others = _markers(_wrenches(names)[1])[1]
    recorded = [name for name in others if not any(re.fullmatch(pattern, name.lower()) for pattern in COLUMNS)]
    return recorded if _says_emg(title) else [name for name in recorded if _names_muscle(name)]


def _names_muscle(name: str) -> bool:
    """Return True for a column named like a muscle, or EMG."""
    return bool(side_and_muscle(name)[1]) or "emg" in name.lower()


def _says_emg(title: str) -> bool:
    """Return True if the title mentions electromyography."""
    return bool(re.search(r"\bs?emg|electromyo", title.lower()))


def _emg_recording(
    text: Text, columns: Sequence[str], values: FloatArray, chosen: Sequence[str], clock: Clock
) -> Recording:
    """Recording of analog channels only, one sample per frame."""
    if left := len(columns) - len(chosen):
        text.add("other columns", str(left), "left out: only electromyography is read")
    titled = _says_emg(text.lines[0])
    text.add(
        "electromyography",
        f"{len(chosen)} columns named like muscles, {'by its title' if titled else 'untitled'}",
        "analog channels; their unit is not stated",
        "" if titled else "write EMG into the first line; remove the file if its activations are computed",
    )
    analog = values[:, [columns.index(name) for name in chosen]]
    return text.recorded(
        READER,
        clock,
        len(analog),
        analog_labels=tuple(chosen),
        analog_units=("",) * len(chosen),
        analog_descriptions=("EMG",) * len(chosen),
        analog=analog,
        analog_rate_hz=clock.rate_hz,
    )
