"""Compare the readings of one C3D file by every library."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.read import LIBRARIES, read_c3d
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording

ROUNDING = 4e-7  # of the largest value: two roundings to 32 bits
SAME = ("labels", "modelled_labels", "rate_hz", "first_frame", "analog_labels", "analog_units", "analog_rate_hz")


def compare_c3d(path: Path, options: ReadOptions = NO_OPTIONS) -> str:
    """Read a C3D file with each library and list the differences.

    Parameters
    ----------
    path : Path
        A C3D file.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    str
        A line for each library, then a line for each difference from the first that reads the file.

    Raises
    ------
    ReadError
        No library reads the file.
    """
    lines, read = [], []
    for library in LIBRARIES:
        try:
            read.append(read_c3d(path, options, libraries=(library,)))
        except ReadError as error:
            lines.append(f"{library}: refused: {str(error).removeprefix(f'{path.name}: ')}")
        else:
            lines.append(f"{library}: read by {read[-1].reader}")
    if not read:
        raise ReadError(f"{path.name}: no library reads the file: " + "; ".join(lines))
    for other in read[1:]:
        found = differences(read[0], other)
        lines.append(f"{read[0].reader} and {other.reader}: {'; '.join(found) if found else 'no difference'}")
    return "\n".join([path.name, *lines])


def differences(first: Recording, second: Recording) -> list[str]:
    """Differences between two readings of one file, as sentences.

    Parameters
    ----------
    first, second : Recording
        The readings.

    Returns
    -------
    list of str
        Empty where both agree; numbers may differ by the rounding to 32 bits.
    """
    found = [
        f"{name} {getattr(first, name)} and {getattr(second, name)}"
        for name in SAME
        if getattr(first, name) != getattr(second, name)
    ]
    found += _numbers("markers", "m", first.markers_m, second.markers_m)
    found += _numbers("analog channels", "of their units", first.analog, second.analog)
    found += _events(first, second)
    numbers = [[plate.number for plate in recording.force_plates] for recording in (first, second)]
    if numbers[0] != numbers[1]:
        return [*found, f"force plates {numbers[0]} and {numbers[1]}"]
    for a, b in zip(first.force_plates, second.force_plates, strict=True):
        found += _numbers(f"force of plate {a.number}", "N", a.force_n, b.force_n)
        found += _numbers(f"moment of plate {a.number}", "N m", a.moment_nm, b.moment_nm)
    return found


def _numbers(what: str, unit: str, a: FloatArray, b: FloatArray) -> list[str]:
    if a.shape != b.shape:
        return [f"{what}: {a.shape} and {b.shape} numbers"]
    missing = int((np.isnan(a) != np.isnan(b)).sum())
    both = np.isfinite(a) & np.isfinite(b)
    largest = float(np.abs(a[both] - b[both]).max(initial=0.0))
    scale = float(np.abs(a[both]).max(initial=0.0))
    found = [f"{what}: {missing} numbers missing in one only"] if missing else []
    return found + ([f"{what} differ by up to {largest:.3g} {unit}"] if largest > ROUNDING * scale else [])


def _events(first: Recording, second: Recording) -> list[str]:
    named = [[(event.label, event.context) for event in recording.events] for recording in (first, second)]
    if named[0] != named[1]:
        return [f"events {named[0]} and {named[1]}"]
    apart_s = [abs(a.time_s - b.time_s) for a, b in zip(first.events, second.events, strict=True)]
    return [f"times of events differ by up to {max(apart_s):.3g} s"] if max(apart_s, default=0.0) > 1e-4 else []
