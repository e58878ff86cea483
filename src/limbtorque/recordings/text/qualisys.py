"""TSV files of Qualisys Track Manager: markers and force plates."""

from __future__ import annotations

import hashlib
import math
import re
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.force_plates import UnusableError, Wrench, check_surface, plate_axes, plate_of, pushing
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Event, ForcePlate, Recording
from limbtorque.recordings.source import plain_number
from limbtorque.recordings.text.table import Clock, Rows, Text, read_text, table, timed_rows

KNOWN = (
    *("NO_OF_FRAMES", "NO_OF_CAMERAS", "NO_OF_MARKERS", "FREQUENCY", "NO_OF_ANALOG", "ANALOG_FREQUENCY"),
    *("DESCRIPTION", "TIME_STAMP", "DATA_INCLUDED", "EVENT", "MARKER_NAMES", "TRAJECTORY_TYPES"),
)
CORNERS = ("POSX_POSY", "NEGX_POSY", "NEGX_NEGY", "POSX_NEGY")
SAMPLES = "NO_OF_SAMPLES"  # the first word of a file of a force plate
_NUMBERED = re.compile(r"\d+ *- *(?P<name>\S.*)")
_PLATE = re.compile(r"(.*_f_)(\d+)", re.IGNORECASE)


def read_qualisys(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read the 3D data that Qualisys Track Manager exports as TSV.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        What the user says of the file; ``length_unit`` is needed, since the file does not say its unit.

    Returns
    -------
    Recording
        Markers and events; the columns ``Frame`` and ``Time`` are used where they are there. A file of a
        force plate is read as such.

    Raises
    ------
    ReadError
        Not such a file, 2D or 6D data, truncated, no unit of length given, contradictory counts.

    Notes
    -----
    The heading has a name and its values in each line, after it one line of column names where the export has them, and
    the frames. A marker is missing where a coordinate is empty or not a number, or all three are zero. An event's line
    has its name, its frame and its time, which counts from the first frame.
    """
    text = read_text(path, options)
    if text.lines[0].upper().startswith(SAMPLES):
        return read_qualisys_forces(path, options)
    header, events, first = _header(text)
    data = header.get("DATA_INCLUDED", ["3D"])[0].upper()
    if data != "3D":
        raise text.error(f"DATA_INCLUDED is {data!r}, expected 3D; export 3D data")
    if missing := [key for key in ("NO_OF_FRAMES", "NO_OF_MARKERS", "FREQUENCY", "MARKER_NAMES") if key not in header]:
        raise text.error(f"the heading lacks {', '.join(missing)}; export the file again, with its heading")
    n_points, n_frames = (
        int(_number(text, header[key][0], key, whole=True)) for key in ("NO_OF_MARKERS", "NO_OF_FRAMES")
    )
    frequency_hz = _number(text, header["FREQUENCY"][0], "FREQUENCY")
    labels = tuple(map(text.plain_label, header["MARKER_NAMES"]))
    if len(labels) != n_points or not all(labels):
        raise text.error(
            f"NO_OF_MARKERS is {n_points}, MARKER_NAMES has {sum(map(bool, labels))}; label all of them and export them again"
        )
    labels = _without_numbers(text, labels)
    text.add("format", "Qualisys TSV, 3D data", f"{n_points} markers, {n_frames} frames")
    length_m = text.length_m(None, "the heading")
    before, first = _columns(text, first, n_points)
    values = table(text, first, len(text.lines), before + 3 * n_points, "\t")
    if len(values) != n_frames:
        raise text.error(
            f"NO_OF_FRAMES is {n_frames}, the file has {len(values)} lines of data; it is damaged or "
            "truncated, export it again"
        )
    if before:
        values, clock = timed_rows(values, text, Rows(first, "\t", stated_hz=frequency_hz, where="FREQUENCY"))
    else:
        text.refuse_other_rate(frequency_hz, "FREQUENCY")
        text.add("rate", f"FREQUENCY is {frequency_hz:g} Hz", f"{frequency_hz:g} frames per second")
        text.add("frames", f"{len(values)}, without numbers", "the first is frame 1")
        clock = Clock(frequency_hz, start_s=None)
    text.add("axes", "not stated", "unchanged; plane.up_axis of the settings defines the vertical")
    xyz = values[:, before:].reshape(len(values), n_points, 3)
    markers_m = text.positions_m(xyz, length_m, labels)
    text.add("events", f"{len(events)}, with times from the first frame" if events else "none", "times unchanged")
    in_order = tuple(sorted(events, key=lambda event: event.time_s))
    return text.recorded("text.qualisys", clock, len(values), labels=labels, markers_m=markers_m, events=in_order)


def _without_numbers(text: Text, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Names of numbered markers, ``1 - RHEE``, whose numbers differ between files."""
    numbered = [_NUMBERED.fullmatch(label) for label in labels]
    names = tuple(match["name"] for match in numbered if match)
    if len(names) < len(labels) or len(set(names)) < len(names):
        return labels
    text.add("names of markers", f"numbered, such as {labels[0]!r}", f"without their numbers, such as {names[0]!r}")
    return names


def _header(text: Text) -> tuple[dict[str, list[str]], list[Event], int]:
    """Values of the heading by name, events, and the first line after it."""
    header: dict[str, list[str]] = {}
    events = []
    for k, line in enumerate(text.lines):
        name, *values = line.split("\t")
        while values and not values[-1].strip():
            values.pop()
        key = name.strip().upper()
        if key == "EVENT":
            numbers = [plain_number(value.strip()) for value in values[1:]]
            if len(values) != 3 or not (math.isfinite(numbers[1]) and numbers[0] % 1 == 0.0):
                raise text.fault(k, f"expected EVENT, a name, a frame and a time, found {values}; export it again")
            events.append(Event(text.plain_label(values[0].strip()), "", numbers[1]))
        elif key in KNOWN:
            header[key] = values or [""]
        else:
            return header, events, k
    return header, events, len(text.lines)


def _number(text: Text, said: str, key: str, *, least: float = 0.0, whole: bool = False) -> float:
    """Number in the heading, above a least one."""
    value = plain_number(said.strip())
    if not (least < value < math.inf and not (whole and value % 1.0)):
        expected = f"{'whole ' * whole}number{' above zero' * (least == 0.0)}"
        raise text.error(f"{key} is {said[:40]!r}, expected a {expected}; export it again, with its heading")
    return value


def _columns(text: Text, first: int, n_points: int) -> tuple[int, int]:
    """Number of columns before the first point, 0 or 2, and the first line of numbers."""
    line = text.lines[first].lower() if first < len(text.lines) else ""
    named = line.strip()[:1].isalpha() and not line.startswith(("nan", "null"))
    if first + named >= len(text.lines):
        raise text.error("there are no frames after the heading; the file is truncated; export it again")
    # the last cells of a line of numbers may be empty
    counted = text.lines[first].rstrip("\t ")
    n_columns = len(counted.split("\t"))
    before = n_columns - 3 * n_points
    if before not in (0, 2) and named:
        raise text.fault(
            first,
            f"found {n_columns} columns, expected 3 for each of {n_points} markers, with or without frame and time; "
            "export all of them",
        )
    return 2 * (before == 2), first + named


def plate_files(path: Path) -> dict[int, Path]:
    """Files of all plates by their numbers, from that of one; another file alone."""
    own = _PLATE.fullmatch(path.stem)
    if not own or path.suffix.lower() == ".c3d":
        return {1: path}
    beside = ((file, _PLATE.fullmatch(file.stem)) for file in path.parent.iterdir() if file.suffix == path.suffix)
    return {int(match[2]): file for file, match in beside if match and match[1] == own[1]}


def read_qualisys_forces(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read the force plates that Qualisys Track Manager exports as TSV.

    Parameters
    ----------
    path : Path
        The file of one plate, ``walk_f_1.tsv``; those of the other plates beside it are read as well.
    options : ReadOptions, optional
        Options of the readers; the file does not state its unit of length.

    Returns
    -------
    Recording
        Force plates of kind 0 with their corners, without markers, from the time of the first sample, or zero without times.

    Raises
    ------
    ReadError
        Not such a file, a corner is missing, no unit of length, plates of different rates or lengths.

    Notes
    -----
    Columns are, after sample and time where these are there, force, moment and centre of pressure, three each; in the
    axes of the plate (x from corner 2 to 1, y from corner 4 to 1, z their product, down into the floor) or of the
    laboratory, as ``DESCRIPTION`` says. The wrench is the force at the centre of pressure with the free moment
    Mz - (x Fy - y Fx), whose size does not depend on the depth of the sensors. A plate cannot pull, so the force is turned
    upwards, against the plate's z, where the file holds the force on the plate.
    """
    files = plate_files(path)
    whole, plates, digest = Text(path.name, options), list[ForcePlate](), hashlib.sha256()
    clocks: set[Clock] = set()
    for number, file in sorted(files.items()):
        text = read_text(file, options)
        plate, clock = _plate(text, number)
        plates.append(plate)
        clocks.add(clock)
        digest.update(text.sha256.encode())
        whole.findings += text.findings
        whole.notes += text.notes
    sizes = {len(plate.force_n) for plate in plates}
    if len(sizes) > 1 or len(clocks) > 1:
        raise whole.error(
            f"the other plates have different times, rates or numbers of samples ({len(files)} files); export them together"
        )
    ((clock,), (n_frames,)) = clocks, sizes
    whole.add("clock", "sample 1 is the first frame", f"the first is at {clock.start_s:g} s")
    whole.sha256 = digest.hexdigest()
    return whole.recorded("text.qualisys", clock, n_frames, force_plates=tuple(plates))


def _plate(text: Text, number: int) -> tuple[ForcePlate, Clock]:
    """Plate of a file, and the clock of its samples."""
    header, first = _plate_heading(text)
    n_columns = len(text.lines[first].rstrip("\t").split("\t")) if first < len(text.lines) else 0
    if n_columns not in (9, 11):
        raise text.fault(
            min(first, len(text.lines) - 1),
            f"found {n_columns} columns, expected force, moment and centre of pressure, 9 columns or 11 with sample and "
            "time; export the forces with all of them",
        )
    values = table(text, first, len(text.lines), n_columns, "\t")
    rate_hz = _number(text, header.get("FREQUENCY", "missing"), "FREQUENCY")
    clock = Clock(rate_hz)
    if n_columns == 11:  # the file's own numbers and times
        values, timed = timed_rows(values, text, Rows(first, "\t", stated_hz=rate_hz, where="FREQUENCY"))
        clock = Clock(timed.rate_hz, start_s=timed.start_s)
    values = values[:, n_columns - 9 :]
    if int(_number(text, header.get(SAMPLES, "missing"), SAMPLES)) != len(values):
        raise text.error(f"{SAMPLES} is {header[SAMPLES]}, the file has {len(values)}; export it again")
    length_m = text.length_m(None, "the heading (Qualisys writes mm)")
    keys = [[f"FORCE_PLATE_CORNER_{corner}_{axis}" for axis in "XYZ"] for corner in CORNERS]
    corners_m = (
        np.array(
            [[_number(text, header.get(key, "missing"), key, least=-math.inf) for key in corner] for corner in keys]
        )
        * length_m
    )
    description = header.get("DESCRIPTION", "no DESCRIPTION")
    words = set(re.findall(r"[a-z]+", header.get("DESCRIPTION", "").lower()))
    local, stated = "local" in words, bool(words & {"local", "world", "lab", "laboratory", "global"})
    try:
        check_surface(corners_m, "FORCE_PLATE_CORNER")
        wrench, turned = _wrench(values, corners_m, length_m, local=local)
    except UnusableError as reason:
        raise text.error(str(reason)) from None
    item = f"force plate {number}"
    text.add(
        item,
        description[:60],
        f"in the axes of the {'plate' if local else 'laboratory'}{', reversed to the force on the foot' if turned else ''}",
        "" if stated else "export the file with its heading; DESCRIPTION names local or world coordinates",
        note="" if stated else f"{item}: DESCRIPTION does not state its axes, assumed to be those of the laboratory",
    )
    return plate_of(wrench, number, clock.rate_hz, corners_m=corners_m), clock


def _plate_heading(text: Text) -> tuple[dict[str, str], int]:
    """Values of the heading by name, and the first line of numbers."""
    header: dict[str, str] = {}
    for k, line in enumerate(text.lines):
        name, _, value = line.partition("\t")
        if not re.fullmatch(r"[A-Z_]{4,}", name.strip()) or name.strip() in ("SAMPLE", "TIME"):
            return header, k + bool(re.match(r"\s*[A-Za-z]", line))
        header[name.strip()] = value.strip()
    return header, len(text.lines)


def _wrench(values: FloatArray, corners_m: FloatArray, length_m: float, *, local: bool) -> tuple[Wrench, bool]:
    """Wrench in the laboratory frame, and True if its sign was reversed."""
    axes = plate_axes(corners_m).T
    origin = corners_m.mean(axis=0)
    force, moment, point = values[:, :3], values[:, 3:6], values[:, 6:] * length_m
    if local:  # free moment Mz - (x Fy - y Fx)
        free = moment[:, 2] - (point[:, 0] * force[:, 1] - point[:, 1] * force[:, 0])
        force, point = force @ axes, origin + point @ axes
    else:  # about the origin of the laboratory or the middle of the plate: where the couple is upright
        couples = [moment - np.cross(point - about, force) for about in (np.zeros(3), origin)]
        lying = [np.nansum((couple @ axes[:2].T) ** 2) for couple in couples]
        free = couples[int(np.argmin(lying))] @ axes[2]
    return pushing(Wrench(force, point, free[:, np.newaxis] * axes[2]), -axes[2])
