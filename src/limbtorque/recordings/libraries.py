"""Readings of a C3D file by other libraries, including their force plates.

Nothing here uses our parser: the point of a second reader is that it shares no mistake with the first. The numbers are
the library's, converted to SI by the unit of length that it reads. What a library is known to get wrong is not compared, and
said (docs/decisions/0036-second-reader.md).
"""

from __future__ import annotations

import contextlib
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.plates import plain_numbers
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Event, ForcePlate, Recording
from limbtorque.recordings.source import FORCES_N, LENGTHS_M, MOMENTS_NM, plain_unit

Groups = Mapping[str, Mapping[str, Any]]
TWO_BYTES = 65536
BY_C3D = "reading.second_reader: c3d reads such files"


def by_ezc3d(path: Path, options: ReadOptions) -> Recording:
    """Reading by ezc3d: points, analog channels, events, and its own force plates."""
    import ezc3d  # here, since it is large and seldom needed

    try:
        file = ezc3d.c3d(str(path))
    except Exception as error:  # a C++ library: what it raises is not its caller's to foresee
        raise _refusal(error) from error
    groups = {
        group.upper(): {key.upper(): entry["value"] for key, entry in entries.items() if key != "__METADATA__"}
        for group, entries in file["parameters"].items()
    }
    header = file["header"]["events"]  # 18 of them; those that the file does not count have no label
    read = _recording(
        f"ezc3d {version('ezc3d')}",
        path,
        groups,
        options,
        xyz=file["data"]["points"][:3].transpose(2, 1, 0),
        analog=file["data"]["analogs"][0].T,
        stated_first=int(file["header"]["points"]["first_frame"]) + 1,
        header_events=[
            (label, t) for label, t in zip(header["events_label"], header["events_time"], strict=False) if label
        ],
    )
    _refuse_wrong_channels(read, groups)
    return read if read.notes else _with_plates(read, groups, file, _length_m(groups, options))


def by_c3d(path: Path, options: ReadOptions) -> Recording:
    """Reading by the package c3d, which has no force plates."""
    import c3d

    try:
        with path.open("rb") as file, warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            reader = c3d.Reader(file)
            frames = [(points, analog) for _, points, analog in reader.read_frames(copy=True)]
            groups = {name.upper(): _c3d_values(group) for name, group in reader.group_items()}
    except Exception as error:  # its assertions, and whatever else a file makes it raise
        raise _refusal(error) from error
    if not frames:
        raise ReadError("it finds no frame")
    points = np.array([points for points, _ in frames])
    points[points[:, :, 3] < 0] = np.nan
    has_analog = frames[0][1].size > 0
    return _recording(
        f"c3d {version('c3d')}",
        path,
        groups,
        options,
        xyz=points[:, :, :3].astype(float),
        analog=np.concatenate([analog.T for _, analog in frames]) if has_analog else np.zeros((0, 0)),
        stated_first=int(reader.first_frame),
        header_events=list(zip(reader.header.event_labels, reader.header.event_timings, strict=False)),
    )


SECOND_READERS: dict[str, Callable[[Path, ReadOptions], Recording]] = {"ezc3d": by_ezc3d, "c3d": by_c3d}


def _refusal(error: Exception) -> Exception:
    """Error with the library's message on why it does not read the file."""
    if isinstance(error, MemoryError) or "bad_alloc" in str(error):
        return MemoryError()
    words = " ".join(str(error).split())
    return ReadError(words if isinstance(error, RuntimeError | OSError) else f"{type(error).__name__} {words}".strip())


def _c3d_values(group: Any) -> dict[str, Any]:
    """Values of a group of the package c3d, in the file's dimensions."""
    kinds = {1: "int8", 2: "int16", 4: "float"}
    found: dict[str, Any] = {}
    for key, entry in group.param_items():
        if entry.bytes_per_element == -1:
            width = max([*entry.dimensions[:1], 1])
            rows = [bytes(entry.bytes[k : k + width]) for k in range(0, len(entry.bytes), width)]
            found[key.upper()] = [row.decode("utf-8", "surrogateescape") for row in rows]
            continue
        with contextlib.suppress(AssertionError, KeyError, ValueError):  # a parameter that it cannot give
            name = f"{kinds[entry.bytes_per_element]}_{'array' if entry.dimensions else 'value'}"
            found[key.upper()] = np.asarray(getattr(entry, name)).T
    return found


def _recording(
    reader: str,
    path: Path,
    groups: Groups,
    options: ReadOptions,
    *,
    xyz: FloatArray,
    analog: FloatArray,
    stated_first: int,
    header_events: Sequence[tuple[str, float]],
) -> Recording:
    """Recording from a library's values; header events if EVENT has none."""
    point, channels = groups.get("POINT", {}), groups.get("ANALOG", {})
    markers_m = xyz * _length_m(groups, options)
    notes: tuple[str, ...] = ()
    n_channels = analog.shape[1]
    if (n := min(_joined(channels, name).size for name in ("SCALE", "OFFSET"))) < n_channels:
        # c3d takes those of the first channel for the others, and ezc3d the memory behind the list
        left_out = f"ANALOG:SCALE or OFFSET has {n} values for {n_channels} channels; the others are not compared"
        analog, notes = analog[:, :n], (left_out,)
    present = np.isfinite(markers_m).all(axis=2) & markers_m.any(axis=2)
    markers_m[~present] = np.nan  # one coordinate without a number, or three zeros: no position, by our reader's rule
    rates_hz = plain_numbers(point.get("RATE")).ravel()
    if not rates_hz.size or not np.isfinite(rates_hz[0]) or rates_hz[0] == 0:
        raise ReadError("it finds no POINT:RATE")
    rate_hz = float(rates_hz[0])
    first_frame = _first_frame(groups, stated_first, len(xyz))
    return Recording(
        source=path.name,
        sha256="",
        reader=reader,
        labels=_texts(point, "LABELS", xyz.shape[1], options),
        markers_m=markers_m,
        rate_hz=rate_hz,
        first_frame=first_frame,
        events=_events(groups.get("EVENT", {}), (first_frame - 1) / rate_hz, options)
        or _in_order(Event(_plain(str(label), options), "", float(t)) for label, t in header_events),
        analog_labels=_texts(channels, "LABELS", analog.shape[1], options),
        analog_units=_texts(channels, "UNITS", analog.shape[1], options),
        analog=analog,
        analog_rate_hz=rate_hz * len(analog) / len(xyz) if analog.size else 0.0,
        notes=notes,
    )


def _joined(group: Mapping[str, Any], name: str) -> FloatArray:
    """Numbers of a parameter and its continuations."""
    return np.concatenate([np.zeros(0), *(plain_numbers(part).ravel() for part in _continued(group, name))])


def _continued(group: Mapping[str, Any], name: str) -> list[Any]:
    """Values of a parameter and of its continuations: LABELS, LABELS2, ..."""
    keys = [name, *(f"{name}{n}" for n in range(2, len(group) + 2))]
    return [group[key] for key in keys if key in group]


def _texts(group: Mapping[str, Any], name: str, n: int, options: ReadOptions) -> tuple[str, ...]:
    """Texts of a parameter for n columns, without padding and invisible characters."""
    values = [value for part in _continued(group, name) for value in part if isinstance(value, str)]
    return tuple(_plain(text, options) for text in [*values[:n], *[""] * (n - len(values))])


def _plain(text: str, options: ReadOptions) -> str:
    """Text without invisible characters; if not UTF-8, decoded as in the options."""
    stored = text.encode("utf-8", "surrogateescape")
    for encoding in ("utf-8", options.text_encoding or "cp1252", "latin-1"):
        try:
            return "".join(c for c in stored.decode(encoding) if unicodedata.category(c) != "Cf").strip(" \0\t\r\n")
        except (UnicodeDecodeError, LookupError):
            continue
    raise AssertionError("Latin-1 has a letter for every byte")


def _length_m(groups: Groups, options: ReadOptions) -> float:
    """Metres per unit of position, from the option or the library."""
    stated = _texts(groups.get("POINT", {}), "UNITS", 1, options)[0]
    found = LENGTHS_M.get(plain_unit(options.length_unit or stated))
    if found is None:
        raise ReadError(f"the unit of length POINT:UNITS is {stated!r} to it")
    return found


def _events(group: Mapping[str, Any], start_s: float, options: ReadOptions) -> tuple[Event, ...]:
    """Events of the group EVENT in order of time, without header events."""
    times = [
        plain_numbers(values).reshape(2, -1, order="F") for values in _continued(group, "TIMES") if np.size(values)
    ]
    seconds = np.concatenate([60.0 * minutes + s for minutes, s in times]) if times else np.zeros(0)
    used = plain_numbers(group.get("USED")).ravel()
    n = int(min(used[0], seconds.size)) if used.size else seconds.size
    named = zip(_texts(group, "LABELS", n, options), _texts(group, "CONTEXTS", n, options), seconds, strict=False)
    return _in_order(Event(label, context, t - start_s) for label, context, t in named)


def _in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    """Events that have a time, in order of time."""
    return tuple(sorted((event for event in events if np.isfinite(event.time_s)), key=lambda event: event.time_s))


# ---- the force plates of ezc3d ----


def _with_plates(read: Recording, groups: Groups, file: Any, length_m: float) -> Recording:
    """Recording with the force plates as ezc3d computes them.

    Its moments are about the centre of the surface, in N times the unit of length, whatever the channels are in.
    """
    from ezc3d import ezc3d as library

    if not plain_numbers(groups.get("FORCE_PLATFORM", {}).get("USED")).any():
        return read
    try:
        platforms = library.ForcePlatforms(file.c3d_swig).forcePlatforms()
    except Exception as error:
        raised = _refusal(error)
        if isinstance(raised, MemoryError):
            raise raised from error
        return replace(read, notes=(f"its force plates are not compared: {raised}",))
    group = groups["FORCE_PLATFORM"]
    kinds = plain_numbers(group["TYPE"]).ravel().astype(int)
    plates, notes = [], []
    for number, (platform, kind) in enumerate(zip(platforms, kinds, strict=False), start=1):
        corners_m = _vectors(platform.corners()) * length_m
        force_n = _vectors(platform.forces())
        about_centre_nm = _vectors(platform.moments()) * length_m
        moment_nm = about_centre_nm + np.cross(corners_m.mean(axis=0), force_n)
        if fault := _plate_fault(kind, group, number - 1, read.analog_units, length_m):
            notes.append(f"known fault at force plate {number}, not compared: {fault}")
            moment_nm, force_n = moment_nm[:0], force_n[: 0 if fault.startswith("the units") else None]
        plates.append(ForcePlate(number, int(kind), corners_m, read.analog_rate_hz, force_n, moment_nm))
    return replace(read, force_plates=tuple(plates), notes=tuple(notes))


def _vectors(vectors: Sequence[Any]) -> FloatArray:
    """Vectors of ezc3d, accessed one by one, as an array of shape (n, 3)."""
    return np.array([vector.to_array()[:, 0] for vector in vectors], dtype=float).reshape(-1, 3)


# ---- known faults ----


def _first_frame(groups: Groups, stated: int, n_frames: int) -> int:
    """First frame; beyond the header's two bytes that of TRIAL, in two words."""
    words = plain_numbers(groups.get("TRIAL", {}).get("ACTUAL_START_FIELD")).ravel() % TWO_BYTES
    start = int(words @ [1, TWO_BYTES]) if words.size == 2 else 0
    return start if start and start + n_frames > TWO_BYTES else stated


def _refuse_wrong_channels(read: Recording, groups: Groups) -> None:
    """Refuse a reading of which ezc3d 1.7.2 is known to get the analog channels wrong.

    It cuts ANALOG:RATE / POINT:RATE to a whole number, 9.9999996 to 9 at 299.7 frames per second; the header of the file has
    the right one, 10. Every number behind the first frame's is then at the wrong place (issue 294 of its tracker describes a
    file at 150.001). It takes the absolute value of an offset, and unsigned numbers for signed ones.
    """
    group = groups.get("ANALOG", {})
    stated = plain_numbers(group.get("RATE")).ravel()
    samples = stated[0] / read.rate_hz if stated.size else 0.0
    almost = np.isfinite(samples) and 0 < round(samples) - samples < 1e-3
    if almost and len(read.analog) == int(samples) * read.n_frames:
        raise ReadError(f"known fault: it truncates the {samples:.9g} analog samples of a frame to {int(samples)}")
    integers = (plain_numbers(groups["POINT"].get("SCALE")) > 0).any()
    if integers and "".join(map(str, group.get("FORMAT", []))).strip(" \0").upper() == "UNSIGNED":
        raise ReadError(f"known fault: it reads unsigned analog numbers as signed ones; {BY_C3D}")
    if read.analog.size and (_joined(group, "OFFSET")[: read.analog.shape[1]] < 0).any():
        raise ReadError(f"known fault: it reads a negative ANALOG:OFFSET as a positive one; {BY_C3D}")


def _plate_fault(kind: int, group: Mapping[str, Any], i: int, units: Sequence[str], length_m: float) -> str:
    """Known fault of ezc3d 1.7.2 at plate i, from 0, of a type; empty without one."""
    if kind == 1:
        return "the moments of a plate of type 1 have the opposite sign"
    if kind == 3:
        depth = plain_numbers(group.get("ORIGIN")).reshape(3, -1, order="F")[2, i]
        return "a positive depth of a plate of type 3 reverses the moments of its vertical forces" if depth > 0 else ""
    channels = plain_numbers(group.get("CHANNEL")).reshape(-1, plain_numbers(group.get("TYPE")).size, order="F")
    force, moment = (plain_unit(units[int(channels[k, i]) - 1]) for k in (0, 3))
    if FORCES_N.get(force, 1.0) == 1.0 and MOMENTS_NM.get(moment, length_m) == length_m:
        return ""
    return f"the units {force} and {moment} of its channels are taken for N and N times the unit of length"
