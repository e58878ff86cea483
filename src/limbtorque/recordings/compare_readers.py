"""Compare our reading of a C3D file with another library."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.differences import Difference, SecondReading
from limbtorque.recordings.libraries import SECOND_READERS
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording

ROUNDING = 4e-7  # of the largest value: two roundings to 32 bits
Value = str | float | FloatArray
Row = tuple[str, str, str, Value, Value] | tuple[str, str, str, Value, Value, float]
EVENT_S = 1e-4  # times of events are stored in minutes and seconds of 32 bits


def compare_c3d(path: Path, library: str, options: ReadOptions = NO_OPTIONS) -> SecondReading | None:
    """Read a C3D file by our reader and by a library, and compare the two.

    Parameters
    ----------
    path : Path
        A C3D file.
    library : {"ezc3d", "c3d"}
        The library. It may end the process or not return: to be called in the separate one (recordings/sandbox.py).
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    SecondReading or None
        The comparison; None where our reader refuses the file, which leaves nothing to compare with.
    """
    options = replace(options, marker_names="labels")  # which the libraries give
    try:
        own = read_c3d(path, options)
    except (ReadError, OSError):
        return None
    try:
        with np.errstate(all="ignore"):  # numbers of damaged files
            other = SECOND_READERS[library](path, options)
    except MemoryError:
        raise
    except Exception as error:  # a damaged file can make a library give anything
        kind = "" if isinstance(error, ReadError) else f"its numbers are inconsistent: {type(error).__name__} "
        return SecondReading(path.name, library, refused=f"{kind}{error}")
    notes = other.notes
    if own.force_plates and not (other.force_plates or notes):
        notes = ("it computes no forces of plates; their channels are compared",)
    ours = {plate.number for plate in own.force_plates}
    for plate in (plate for plate in other.force_plates if plate.number not in ours):
        begin = f"force plate {plate.number} is left out"
        why = next((note for note in own.notes if note.startswith(begin)), begin)
        why = why.replace("is left out", "is left out by our reader", 1)
        notes = (*notes, f"it reads a plate that we leave out: {why}")
    counts = {
        "markers": sum(column is not None for column in _columns(own.labels, other.labels)),
        "analog channels": min(own.analog.shape[1], other.analog.shape[1]),
        "force plates": min(len(own.force_plates), len(other.force_plates)),
        "events": min(len(own.events), len(other.events)),
    }
    compared = ", ".join(f"{n} {what}" for what, n in counts.items() if n) + " compared"
    return SecondReading(path.name, other.reader, compared, differences(own, other), notes)


def differences(first: Recording, second: Recording) -> tuple[Difference, ...]:
    """Differences between two readings of one file.

    Parameters
    ----------
    first, second : Recording
        The readings. `second` may have points that `first` leaves out, and need not have force plates.

    Returns
    -------
    tuple of Difference
        Empty where both agree; numbers may differ by the rounding to 32 bits of the largest in their series.
    """
    return tuple(filter(None, (_difference(*row) for row in _rows(first, second))))


def _rows(first: Recording, second: Recording) -> Iterator[Row]:
    """Field, channel, unit and both values of everything in two readings.

    The last number of some rows is a reference value, whose rounding error is tolerated.
    """
    yield "number of frames", "", "", first.n_frames, second.n_frames
    yield "first frame", "", "", first.first_frame, second.first_frame
    yield "rate", "", "Hz", first.rate_hz, second.rate_hz
    yield "analog rate", "", "Hz", first.analog_rate_hz, second.analog_rate_hz
    yield "number of analog channels", "", "", first.analog.shape[1], second.analog.shape[1]
    columns = _columns(first.labels, second.labels)
    for column, label in enumerate(second.labels):
        if column not in columns and label and label not in first.modelled_labels:
            yield "label of a marker", "", "", "", label
    for i, (label, at) in enumerate(zip(first.labels, columns, strict=True)):
        if at is None:
            yield "label of a marker", "", "", label, ""
        else:
            yield "position", repr(label), "m", first.markers_m[:, i], second.markers_m[:, at]
    for i in range(min(first.analog.shape[1], second.analog.shape[1])):
        label, unit, number = first.analog_labels[i], first.analog_units[i], f"number {i + 1}"
        yield "label of an analog channel", number, "", label, second.analog_labels[i]
        yield "unit of an analog channel", number, "", unit, second.analog_units[i]
        channel = repr(label) if label else number
        yield "analog channel", channel, unit, first.analog[:, i : i + 1], second.analog[:, i : i + 1]
    others = {plate.number: plate for plate in second.force_plates}
    for plate in first.force_plates if others else ():  # a library that computes no plates at all says so in its notes
        other, number = others.get(plate.number), str(plate.number)
        if other is None:
            yield "force plate", number, "", "read", "not read"
            continue
        yield "corner of plate", number, "m", plate.corners_m, other.corners_m
        yield "force of plate", number, "N", plate.force_n, other.force_n
        lever_nm = _largest(plate.force_n) * _largest(plate.corners_m)  # the moment may cancel
        yield "moment of plate", number, "N m", plate.moment_nm, other.moment_nm, lever_nm
    yield "number of events", "", "", len(first.events), len(second.events)
    for a, b in zip(first.events, second.events, strict=False) if len(first.events) == len(second.events) else ():
        name, other_name = (event.name for event in (a, b))
        yield "time of event", name, "s", a.time_s, b.time_s, EVENT_S / ROUNDING
        yield "name of an event", f"at {a.time_s:g} s", "", name, other_name


def _columns(labels: Sequence[str], of: Sequence[str]) -> list[int | None]:
    """Column of each label in another reading, in the same order."""
    columns: list[int | None] = []
    after = 0
    for label in labels:
        column = next((i for i in range(after, len(of)) if of[i] == label), None)
        after = after if column is None else column + 1
        columns.append(column)
    return columns


def _largest(values: FloatArray) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _difference(
    field: str, channel: str, unit: str, first: Value, second: Value, at_least: float = 0.0
) -> Difference | None:
    """Difference between two texts, numbers or series, if any.

    Series have shape (n, 1) or (n, 3); common samples are compared.
    """
    if isinstance(first, str) or isinstance(second, str):
        return Difference(field, channel, str(first), str(second), unit) if first != second else None
    n = min(np.size(first, 0), np.size(second, 0)) if np.ndim(first) else 1
    a, b = (np.atleast_2d(np.asarray(values, dtype=float))[:n] for values in (first, second))
    in_a, in_b = np.isfinite(a), np.isfinite(b)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(a - b)
    apart[in_a != in_b] = np.inf
    apart[~in_a & ~in_b] = 0.0
    differ = apart > ROUNDING * max(_largest(a), at_least)
    if not differ.any():
        return None
    sample, axis = (int(k) for k in np.unravel_index(int(apart.argmax()), apart.shape))
    one, other = (float(v[sample, axis]) if known[sample, axis] else math.nan for v, known in ((a, in_a), (b, in_b)))
    if not np.ndim(first):
        return Difference(field, channel, one, other, unit)
    named = "xyz"[axis] if a.shape[1] == 3 else ""
    return Difference(field, channel, one, other, unit, named, sample + 1, int(differ.any(axis=1).sum()))
