"""Write markers, force plates and events as a C3D file, for simulated movements."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import FloatArray
from limbtorque.errors import LimbtorqueError
from limbtorque.recordings.c3d.header import BLOCK, SATURATED
from limbtorque.recordings.force_plates import plate_axes
from limbtorque.recordings.recording import ForcePlate, Recording
from limbtorque.study.files import write_bytes

PER_METRE = {"m": 1.0, "cm": 100.0, "mm": 1000.0}
ORIGIN_M = (0.0, 0.0, -0.04)  # from the sensor of a plate to the middle of its surface, in the plate's axes: z is down
CHANNELS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
STEPS = 32000  # of the 32767 that an integer counts
INTEL = 84
LONGEST = 255  # rows or letters of one parameter

Values = Sequence[str] | NDArray[Any]
Groups = Mapping[str, Mapping[str, Values]]


@dataclass(frozen=True)
class _Analog:
    """Channels of all plates, with the scale and offset of their stored numbers."""

    values: FloatArray
    labels: list[str]
    units: list[str]
    scale: FloatArray
    offset: FloatArray

    @property
    def stored(self) -> FloatArray:
        """Numbers in the file: (stored - offset) * scale is the value."""
        return self.values / self.scale + self.offset


def write_c3d(recording: Recording, path: Path, *, unit: str = "mm", integers: bool = False) -> None:
    """Write markers, force plates and events as a C3D file.

    Parameters
    ----------
    recording : Recording
        Missing samples of markers get the residual -1. Analog channels of other devices than plates are left out.
    path : Path
        The file.
    unit : {"mm", "cm", "m"}, optional
        Unit of the positions in the file.
    integers : bool, optional
        Store 16-bit integers, with steps of 1/32000 of the largest coordinate and of each channel's largest
        value, or of half its range where most of it is negative, in place of 32-bit floats.

    Raises
    ------
    LimbtorqueError
        Plates of different rates, or whose samples are not a whole number for each frame; more than 255 labels or events.

    Notes
    -----
    All plates are written as type 2: three forces and three moments about a sensor 40 mm below the surface, in the plate's
    own axes, which point as the corners say (`recordings.force_plates`). Times of events count from frame 1 of the capture.
    The format is that of the C3D user guide (c3d.org), for the byte order of Intel.
    """
    points = PER_METRE[unit] * recording.markers_m
    missing = np.isnan(points).any(axis=2)
    points[missing] = 0.0
    scale = max(float(np.abs(points).max(initial=0.0)), 1.0) / STEPS if integers else -1.0
    analog = _analog(recording, unit, integers)
    coordinates = np.rint(points / scale) if integers else points
    residuals = np.where(missing, -1.0, 0.0)[..., None]
    samples = np.rint(analog.stored) if integers else analog.stored
    four = np.concatenate([coordinates, residuals], axis=2)  # numbers for each point
    frames = np.hstack([part.reshape(recording.n_frames, -1) for part in (four, samples)])
    data_block = 2 + len(_section(_groups(recording, analog, unit, scale, 0))) // BLOCK
    header = _header(recording, analog, scale=scale, data_block=data_block)
    section = _section(_groups(recording, analog, unit, scale, data_block))
    data = frames.astype("<i2" if integers else "<f4").tobytes()
    write_bytes(path, header + section + _whole_blocks(data))


def _analog(recording: Recording, unit: str, integers: bool) -> _Analog:
    """Channels of the plates, scaled to the full integer range, or unscaled."""
    plates = recording.force_plates
    if not plates:
        return _Analog(np.zeros((recording.n_frames, 0)), [], [], np.ones(0), np.zeros(0))
    sizes = {(plate.rate_hz, len(plate.force_n)) for plate in plates}
    per_frame = plates[0].rate_hz / recording.rate_hz
    if per_frame % 1.0 or sizes != {(per_frame * recording.rate_hz, per_frame * recording.n_frames)}:
        rates = ", ".join(f"{n} samples at {rate:g} Hz" for rate, n in sorted(sizes))
        raise LimbtorqueError(
            f"{recording.source}: a C3D file has one rate for all plates, with a whole number of samples for each of the "
            f"{recording.n_frames} frames at {recording.rate_hz:g} Hz; found {rates}; resample the plates"
        )
    values = np.hstack([_channels(plate, PER_METRE[unit]) for plate in plates])
    labels = [f"{name}{plate.number}" for plate in plates for name in CHANNELS]
    units = [name for _ in plates for name in ("N",) * 3 + (f"N{unit}",) * 3]
    ones = np.ones(len(labels))
    if not integers:
        return _Analog(values, labels, units, ones, 0.0 * ones)
    low, high = values.min(axis=0, initial=0.0), values.max(axis=0, initial=0.0)
    # offsets are never negative: ezc3d 1.7 takes their absolute value
    largest = np.maximum(high, 0.5 * (high - low))
    scale = np.where(largest > 0.0, largest / STEPS, 1.0).astype(np.float32).astype(float)
    return _Analog(values, labels, units, scale, np.maximum(np.rint(-0.5 * (low + high) / scale), 0.0))


def _channels(plate: ForcePlate, per_metre: float) -> FloatArray:
    """Forces and moments about the sensor in the plate's axes, shape (n_samples, 6)."""
    axes = plate_axes(plate.corners_m)
    force = plate.force_n @ axes
    about_middle = (plate.moment_nm - np.cross(plate.corners_m.mean(axis=0), plate.force_n)) @ axes
    return np.hstack([force, per_metre * (about_middle + np.cross(ORIGIN_M, force))])


def _groups(recording: Recording, analog: _Analog, unit: str, scale: float, data_block: int) -> Groups:
    """Parameters of the file, by group; the data begin at the block `data_block`."""
    n_frames = recording.n_frames
    point: dict[str, Values] = {
        "USED": _whole(len(recording.labels)),
        "SCALE": np.array(scale),
        "RATE": np.array(recording.rate_hz),
        "FRAMES": _whole(min(n_frames, SATURATED)),
        "DATA_START": _whole(data_block),
        "LABELS": recording.labels,
        "DESCRIPTIONS": [""] * len(recording.labels),
        "UNITS": [unit],
    }
    if n_frames > SATURATED:  # which the header cannot count
        point["LONG_FRAMES"] = np.array(float(n_frames))
    groups: dict[str, dict[str, Values]] = {"POINT": point, "ANALOG": {"USED": _whole(len(analog.labels))}}
    if plates := recording.force_plates:
        n, per_metre = len(plates), PER_METRE[unit]
        groups["ANALOG"] |= {
            "LABELS": analog.labels,
            "DESCRIPTIONS": [""] * len(analog.labels),
            "UNITS": analog.units,
            "GEN_SCALE": np.array(1.0),
            "SCALE": analog.scale,
            "OFFSET": _whole(analog.offset),
            "RATE": np.array(plates[0].rate_hz),
            "FORMAT": ["SIGNED"],
        }
        groups["FORCE_PLATFORM"] = {
            "USED": _whole(n),
            "TYPE": _whole([2] * n),
            "ZERO": _whole([0, 0]),  # no baseline to subtract
            "CORNERS": per_metre * np.stack([plate.corners_m.T for plate in plates], axis=2),
            "ORIGIN": per_metre * np.tile(np.array(ORIGIN_M)[:, None], n),
            "CHANNEL": _whole(np.arange(1, 6 * n + 1).reshape(n, 6).T),
        }
    if events := recording.events:
        start_s = (recording.first_frame - 1) / recording.rate_hz
        groups["EVENT"] = {
            "USED": _whole(len(events)),
            "CONTEXTS": [event.context for event in events],
            "LABELS": [event.label for event in events],
            "TIMES": np.stack(np.divmod([start_s + event.time_s for event in events], 60.0)),  # minutes, seconds
        }
    return groups


def _whole(numbers: ArrayLike) -> NDArray[Any]:
    """16-bit numbers; counts above 32767 as unsigned."""
    values = np.asarray(numbers)
    return values.astype("<u2" if values.max() > np.iinfo("<i2").max else "<i2")


def _header(recording: Recording, analog: _Analog, *, scale: float, data_block: int) -> bytes:
    """First block of the file: counts, rate, and where the data begin."""
    per_frame = len(analog.values) // max(recording.n_frames, 1) if analog.labels else 0
    first = recording.first_frame
    last = min(first + recording.n_frames - 1, SATURATED)
    counts = len(recording.labels), per_frame * len(analog.labels), first, last, 0
    head = struct.pack("<BB5Hf2Hf", 2, 80, *counts, scale, data_block, per_frame, recording.rate_hz)
    return head.ljust(BLOCK, b"\0")


def _section(groups: Groups) -> bytes:
    """All groups with their parameters, in whole blocks."""
    body = b""
    for number, (group, parameters) in enumerate(groups.items(), start=1):
        body += _entry(group, -number, b"\0")
        for name, values in parameters.items():
            body += _entry(name, number, _parameter(f"{group}:{name}", values))
    blocks = len(_whole_blocks(bytes(4) + body)) // BLOCK
    return _whole_blocks(bytes([1, 80, blocks, INTEL]) + body)


def _entry(name: str, group: int, body: bytes) -> bytes:
    """One entry of the section: name, group, distance to the next, and its contents."""
    return struct.pack("<bb", len(name), group) + name.encode() + struct.pack("<H", len(body) + 2) + body


def _parameter(name: str, values: Values) -> bytes:
    """Type, dimensions and values of a parameter, with an empty description."""
    if isinstance(values, np.ndarray):
        kind, shape = (2, values.shape) if values.dtype.kind in "iu" else (4, values.shape)
        data = values.astype("<f4" if kind == 4 else values.dtype).ravel(order="F").tobytes()
    else:
        rows = [text.encode() for text in values]
        width = max(map(len, rows), default=0)
        kind, shape, data = -1, (width, len(rows)), b"".join(row.ljust(width) for row in rows)
    if max(shape, default=0) > LONGEST:
        raise LimbtorqueError(
            f"{name} has {max(shape)} rows or letters, a parameter of a C3D file has {LONGEST} at most"
        )
    return struct.pack("<bB", kind, len(shape)) + bytes(shape) + data + b"\0"


def _whole_blocks(data: bytes) -> bytes:
    return data.ljust(-(-len(data) // BLOCK) * BLOCK, b"\0")
