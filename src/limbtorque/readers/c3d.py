"""C3D files, by way of ezc3d: positions in metres, events, analog channels, force plates."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
from numpy.typing import NDArray

from limbtorque.errors import ReadError
from limbtorque.readers.c3d_header import Header, read_header
from limbtorque.readers.force_plates import LENGTHS_M, force_plates, plain_unit
from limbtorque.recording import Event, FloatArray, Recording

Group = Mapping[str, Any]
BoolArray = NDArray[np.bool_]
MODELLED_GROUPS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")
MARKER = "MARKER"  # a type of TYPE_GROUPS that names positions has this in it


def read_c3d(path: Path) -> Recording:
    """Read a C3D file.

    Parameters
    ----------
    path : Path
        A C3D file in Intel or DEC byte order, integers or real numbers.

    Returns
    -------
    Recording
        Positions in m in the laboratory frame of the file; events in s from the first frame; force plates as
        ground reaction wrenches about the laboratory origin.

    Raises
    ------
    ReadError
        Not a C3D file, truncated, contradictory, in MIPS byte order, of an unknown unit of length, without
        frames, rate, points, labelled positions, or any visible marker.

    Notes
    -----
    A sample is missing (NaN) where its residual is negative, a coordinate is not finite, or all three are
    exactly zero. The points that the file lists as modelled outputs (``POINT:ANGLES``, ``FORCES``,
    ``MOMENTS``, ``POWERS``, ``SCALARS`` and the groups of ``POINT:TYPE_GROUPS``, with their continuations;
    modelled markers excepted) and the points without a label are not positions and are left out. The times of
    the ``EVENT`` group count from frame 1 of the capture, those of the header from the first frame of the
    file (c3d.org).
    """
    name = path.name
    raw = _read_bytes(path)
    header = read_header(raw, name)
    c3d = _open(path)
    groups = _groups(c3d)
    point = groups.get("POINT", {})
    length_m = _length_unit(point, name)
    rate_hz = float(header.point.get("RATE", header.rate_hz))
    xyz, seen = _positions(c3d, header, name)
    labels, kept, modelled, notes = _sort_points(point, xyz, seen, name)
    markers_m = np.where(seen[:, kept, np.newaxis], xyz[:, kept, :] * length_m, np.nan)
    notes += _missing_notes(seen[:, kept], labels, name)
    notes += _rate_notes(groups, header, rate_hz)
    analog = np.ascontiguousarray(np.asarray(c3d["data"]["analogs"], dtype=float)[0].T)
    analog_rate_hz = rate_hz * header.samples_per_frame if analog.size else 0.0
    analog_labels = _padded(_continued(groups.get("ANALOG", {}), "LABELS"), analog.shape[1])
    analog_units = _padded(_continued(groups.get("ANALOG", {}), "UNITS"), analog.shape[1])
    plates, plate_notes = force_plates(
        groups.get("FORCE_PLATFORM", {}),
        analog,
        analog_units,
        rate_hz=analog_rate_hz,
        length_m=length_m,
        positions_m=markers_m,
    )
    events, event_notes = _events(c3d, groups, header, rate_hz)
    return Recording(
        source=name,
        sha256=hashlib.sha256(raw).hexdigest(),
        reader=f"ezc3d {version('ezc3d')}",
        labels=labels,
        markers_m=markers_m,
        rate_hz=rate_hz,
        first_frame=header.first_frame,
        modelled_labels=modelled,
        events=events,
        analog_labels=analog_labels,
        analog_units=analog_units,
        analog=analog,
        analog_rate_hz=analog_rate_hz,
        force_plates=plates,
        notes=(*notes, *event_notes, *plate_notes),
    )


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReadError(
            f"{path.name}: the file cannot be opened: {error.strerror or error}; check its path and rights"
        ) from error


def _open(path: Path) -> Any:
    try:
        return ezc3d.c3d(str(path))
    except MemoryError:
        raise
    except Exception as error:  # a C++ library: what it raises is not its caller's to foresee
        if "bad_alloc" in str(error):
            raise MemoryError from error
        raise ReadError(f"{path.name}: ezc3d cannot read the file: {_text(str(error))}; export it again") from error


def _groups(c3d: Any) -> dict[str, dict[str, Any]]:
    """Values of all parameters, names in capitals."""
    return {
        group.upper(): {key.upper(): entry["value"] for key, entry in parameters.items() if key != "__METADATA__"}
        for group, parameters in c3d["parameters"].items()
    }


def _text(value: Any) -> str:
    """Text without padding; bytes that are not UTF-8 read as Latin-1."""
    plain = str(value).encode("utf-8", "surrogateescape")
    try:
        return plain.decode("utf-8").strip(" \0\t\r\n")
    except UnicodeDecodeError:
        return plain.decode("latin-1").strip(" \0\t\r\n")


def _continued(group: Group, name: str) -> list[str]:
    """Texts of a parameter and of its continuations: LABELS, LABELS2, LABELS3, ..."""
    texts: list[str] = []
    key, n = name, 1
    while key in group:
        texts += [_text(value) for value in group[key]]
        n += 1
        key = f"{name}{n}"
    return texts


def _padded(texts: Sequence[str], n: int) -> tuple[str, ...]:
    """Exactly n texts, empty ones at the end where there are too few."""
    return (*texts[:n], *[""] * (n - len(texts)))


def _length_unit(point: Group, name: str) -> float:
    """Metres in the unit of POINT:UNITS."""
    found = [unit for unit in _continued(point, "UNITS") if unit]
    factors = {LENGTHS_M.get(plain_unit(unit)) for unit in found}
    if len(factors) != 1 or None in factors:
        said = "nothing" if not found else ", ".join(repr(unit) for unit in found)
        raise ReadError(
            f"{name}: the unit of length POINT:UNITS is {said}, expected one of mm, cm, m "
            "(millimetres, centimetres, metres); set it in the file: it is never guessed"
        )
    return float(factors.pop() or math.nan)


def _positions(c3d: Any, header: Header, name: str) -> tuple[FloatArray, BoolArray]:
    """Coordinates (n_frames, n_points, 3) in the file's unit; where measured (n_frames, n_points)."""
    points = np.asarray(c3d["data"]["points"], dtype=float)
    if points.shape[1:] != (header.n_points, header.n_frames):
        raise ReadError(
            f"{name}: the header counts {header.n_points} points in {header.n_frames} frames, ezc3d found "
            f"{points.shape[1]} in {points.shape[2]}; the file contradicts itself, export it again"
        )
    xyz = np.ascontiguousarray(points[:3].transpose(2, 1, 0))
    residual = np.asarray(c3d["data"]["meta_points"]["residuals"], dtype=float)[0].T
    return xyz, np.isfinite(xyz).all(axis=2) & (xyz != 0).any(axis=2) & ~(residual < 0)


def _sort_points(
    point: Group, xyz: FloatArray, seen: BoolArray, name: str
) -> tuple[tuple[str, ...], list[int], tuple[str, ...], list[str]]:
    """Tell positions from the rest: their labels and columns, the modelled labels, notes."""
    n_points = xyz.shape[1]
    found = _continued(point, "LABELS")
    labels = _padded(found, n_points)
    groups = _modelled_groups(point)
    group_of = {i: _group_of(label, groups) for i, label in enumerate(labels) if label}
    kept = [i for i, group in group_of.items() if group is None]
    modelled = tuple(labels[i] for i, group in group_of.items() if group is not None)
    if not kept:
        raise ReadError(
            f"{name}: none of the {n_points} points is a labelled position ({len(modelled)} modelled "
            "outputs, "
            f"{n_points - len(group_of)} without a label); label the markers and export the file again"
        )
    notes = _point_notes(n_points, group_of, [labels[i] for i in kept])
    always_zero = ((xyz == 0) | ~seen[:, :, np.newaxis]).all(axis=0).sum(axis=1)
    flat = [labels[i] for i in kept if always_zero[i] == 2]
    if flat:
        notes.append(
            f"two coordinates are zero in every frame of {', '.join(flat)}: kept as positions, since the "
            "file does not list them as modelled outputs, but they look like numbers in disguise"
        )
    return tuple(labels[i] for i in kept), kept, modelled, notes


def _point_notes(n_points: int, group_of: Mapping[int, str | None], kept: Sequence[str]) -> list[str]:
    notes = []
    if len(group_of) < n_points:
        notes.append(f"{n_points - len(group_of)} of {n_points} points have no label and are left out")
    counts = Counter(group for group in group_of.values() if group is not None)
    if counts:
        listed = ", ".join(f"{group} ({n})" for group, n in sorted(counts.items()))
        notes.append(f"{counts.total()} points are modelled outputs, not positions, and are left out: {listed}")
    twice = [label for label, n in Counter(kept).items() if n > 1]
    if twice:
        notes.append(f"labels that occur more than once: {', '.join(twice)}")
    return notes


def _modelled_groups(point: Group) -> dict[str, frozenset[str]]:
    """Labels of each group of points that are not positions."""
    pairs = _continued(point, "TYPE_GROUPS")
    typed = {group.upper(): kind.upper() for group, kind in zip(pairs[::2], pairs[1::2], strict=False)}
    names = dict.fromkeys([*MODELLED_GROUPS, *(group for group, kind in typed.items() if MARKER not in kind + group)])
    return {group: frozenset(label for label in _continued(point, group) if label) for group in names if group}


def _group_of(label: str, groups: Mapping[str, frozenset[str]]) -> str | None:
    """Group that lists a label; a subject prefix on one side only does not tell them apart."""
    bare = label.rpartition(":")[2]
    for group, listed in groups.items():
        if label in listed or bare in listed:
            return group
        if label == bare and any(other.rpartition(":")[2] == bare for other in listed):
            return group
    return None


def _missing_notes(seen: BoolArray, labels: Sequence[str], name: str) -> list[str]:
    missing = (~seen).sum(axis=0)
    if missing.min() == len(seen):
        raise ReadError(
            f"{name}: none of the {len(labels)} markers is seen in any of the {len(seen)} frames; export it again"
        )
    if not missing.any():
        return []
    never = [label for label, n in zip(labels, missing, strict=True) if n == len(seen)]
    notes = [f"{int(missing.sum())} samples of {int((missing > 0).sum())} markers are missing, of {seen.size}"]
    return notes + ([f"markers that are never seen: {', '.join(never)}"] if never else [])


def _rate_notes(groups: Mapping[str, Group], header: Header, rate_hz: float) -> list[str]:
    notes = []
    if not math.isclose(header.rate_hz, rate_hz, rel_tol=1e-4):
        notes.append(f"POINT:RATE is {rate_hz:g} Hz, the header says {header.rate_hz:g}: POINT:RATE is used")
    analog_hz = np.ravel(np.asarray(groups.get("ANALOG", {}).get("RATE", ()), dtype=float))
    expected_hz = rate_hz * header.samples_per_frame
    if header.n_analog and analog_hz.size and not math.isclose(analog_hz[0], expected_hz, rel_tol=1e-4):
        notes.append(
            f"ANALOG:RATE is {analog_hz[0]:g} Hz, {header.samples_per_frame} samples a frame make "
            f"{expected_hz:g}: "
            "the latter is used"
        )
    return notes


def _events(
    c3d: Any, groups: Mapping[str, Group], header: Header, rate_hz: float
) -> tuple[tuple[Event, ...], list[str]]:
    """Events of the EVENT group, or else of the header, in order of time."""
    events = _group_events(groups.get("EVENT", {}), -(header.first_frame - 1) / rate_hz)
    events = events or _header_events(c3d["header"]["events"], header.n_events)
    timed = sorted((event for event in events if math.isfinite(event.time_s)), key=attrgetter("time_s"))
    notes = [f"{len(events) - len(timed)} events have no time and are left out"] if len(timed) < len(events) else []
    duration_s = header.n_frames / rate_hz
    outside = [event for event in timed if not -0.5 / rate_hz <= event.time_s <= duration_s]
    if outside:
        listed = ", ".join(f"{event.label} at {event.time_s:.3f} s" for event in outside)
        notes.append(f"{len(outside)} events lie outside the {duration_s:.3f} s of the trial: {listed}")
    return tuple(timed), notes


def _group_events(group: Group, shift_s: float) -> list[Event]:
    """Events of the EVENT group: minutes and seconds from frame 1 of the capture."""
    used = np.ravel(np.asarray(group.get("USED", ()), dtype=int))
    times: list[float] = []
    key, n = "TIMES", 1
    while key in group:
        values = np.asarray(group[key], dtype=float)
        values = values.reshape(2, -1, order="F") if values.size % 2 == 0 else values.reshape(1, -1)
        times += [float(minutes) * 60.0 + float(seconds) for minutes, seconds in values.T] if len(values) == 2 else []
        n += 1
        key = f"TIMES{n}"
    n_used = min(int(used[0]), len(times)) if used.size else len(times)
    labels, contexts = (_padded(_continued(group, name), n_used) for name in ("LABELS", "CONTEXTS"))
    return [
        Event(label, context, time_s + shift_s)
        for label, context, time_s in zip(labels, contexts, times[:n_used], strict=True)
    ]


def _header_events(events: Mapping[str, Any], n: int) -> list[Event]:
    """Events of the header: seconds from the first frame of the file."""
    pairs = zip(events["events_label"][:n], events["events_time"][:n], strict=True)
    return [Event(_text(label), "", float(time_s)) for label, time_s in pairs]
