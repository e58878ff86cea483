"""CSV files of Vicon Nexus: sections for trajectories, devices and events."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.emg_channels import emg_channels
from limbtorque.recordings.force_plates import LOADED_N, NEAR_M, UnusableError, Wrench, distance_m, plate_of, pushing
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Event, ForcePlate, Recording
from limbtorque.recordings.source import FORCES_N, LENGTHS_M, MOMENTS_NM, plain_number, plain_unit
from limbtorque.recordings.text.table import Clock, Text, check_frames, read_text, table

READER = "text.vicon"
SECTIONS = ("trajectories", "devices", "model outputs", "joints", "segments", "events")
UNITS = {
    "F": FORCES_N,
    "M": MOMENTS_NM | {length + force: n * m for force, n in FORCES_N.items() for length, m in LENGTHS_M.items()},
    "C": LENGTHS_M,
}
MAX_OFF_M = 0.002  # between the centre of pressure of the moments and the one in the file
COMBINED = ("combined", "combined plates", "combined force plates")  # outputs of all plates together
FEWEST = 10  # loaded samples that say where moments are about
_COLUMN = re.compile(r"([FMC])([xyz])(\d*)", re.IGNORECASE)
_OUTPUT = re.compile(r"[\s.-]*\b(?:forces?|moments?|cop|cent(?:re|er) of pressure)$", re.IGNORECASE)
Columns = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True)
class _Section:
    """Lines of a section, from 0: name, rate and end."""

    name: str
    first: int
    last: int
    rate_hz: float


@dataclass(frozen=True)
class _Devices:
    """Channels of a section Devices: labels, units, numbers, first frame, rate."""

    labels: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    values: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    first_frame: int = 1
    per_frame: int = 1
    rate_hz: float = 0.0

    @property
    def channels(self) -> dict[str, Any]:
        """Return the channels as attributes of a recording."""
        names = ("analog_labels", "analog_units", "analog", "analog_rate_hz")
        return dict(zip(names, (self.labels, self.units, self.values, self.rate_hz), strict=True))


def read_vicon(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read the ASCII export of Vicon Nexus: Trajectories, Devices and Events.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        Markers from Trajectories in the unit of its units line; the columns of Devices as analog channels with their
        units, and force plates of kind 0 from those of force, moment and centre of pressure; events with the capture's times
        turned into times from the first frame. Other sections are left out. A file without Trajectories has no markers; it is read
        for its force plates or its electromyography.

    Raises
    ------
    ReadError
        Not such a file, neither Trajectories nor usable Devices, truncated, more than one unit of length, frames that are not consecutive.

    Notes
    -----
    A section has its name, its rate, a line of what the columns belong to, a line of column names (Frame, Sub Frame,
    X, Y, Z, ...), a line of units, and its frames, up to an empty line. A marker is missing where a coordinate is empty or
    not a number, or all three are zero. The axes and the sign of the force plates follow from their numbers
    (`device_plates`).
    """
    text = read_text(path, options)
    separator = ";" if text.lines[1:2] and text.lines[0].count(";") > text.lines[0].count(",") else ","
    separator = "\t" if text.lines[0].count("\t") else separator
    sections = _sections(text, separator)
    named = {section.name: section for section in sections}
    if len(named) < len(sections):
        raise text.error("a section occurs twice; export the file again")
    part, of_devices = named.get("trajectories"), named.get("devices")
    if part is None:
        return _devices_only(text, named, separator)
    text.add("format", f"Vicon Nexus CSV with {', '.join(named)}", "Trajectories, Devices and Events are read")
    labels, values, units = _table(text, part, separator, of_points=True)
    stated = {unit for unit in units if unit}
    if len(stated) > 1:
        raise text.fault(part.first + 4, f"more than one unit of length: {', '.join(sorted(stated))}; export it again")
    length_m = text.length_m(next(iter(stated), None), "the line of units of Trajectories")
    first_frame, n_frames, rate_hz = check_frames(values[:, 0], text, part.first + 5), len(values), part.rate_hz
    text.refuse_other_rate(rate_hz, "the rate of Trajectories")
    text.add("rate", f"below Trajectories {rate_hz:g}", f"{rate_hz:g} frames per second")
    text.add("axes", "columns X, Y, Z", "unchanged; plane.up_axis of the settings defines the vertical")
    markers_m = text.positions_m(values[:, 2:].reshape(n_frames, len(labels), 3), length_m, labels)
    devices = _devices(text, of_devices, separator)
    per_frame = devices.rate_hz / rate_hz
    if of_devices and (abs(per_frame - round(per_frame)) > 1e-6 or len(devices.values) != n_frames * round(per_frame)):
        raise text.fault(
            of_devices.first,
            f"Devices has {len(devices.values)} samples at {devices.rate_hz:g} Hz for {n_frames} frames at {rate_hz:g} Hz; "
            "the file is damaged or truncated, export it again",
        )
    return text.recorded(
        READER,
        Clock(rate_hz, first_frame, None),
        n_frames,
        labels=labels,
        markers_m=markers_m,
        events=_events(text, named.get("events"), separator, (first_frame - 1) / rate_hz),
        force_plates=device_plates(text, devices, markers_m),
        **devices.channels,
    )


def _devices_only(text: Text, named: Mapping[str, _Section], separator: str) -> Recording:
    """Recording without markers: force plates and channels of Devices."""
    devices = _devices(text, named.get("devices"), separator)
    n_frames = len(devices.values) // devices.per_frame
    plates = device_plates(text, devices, np.zeros((n_frames, 0, 3)))
    clock = Clock(devices.rate_hz / devices.per_frame, devices.first_frame, None)
    text.add("format", f"Vicon Nexus CSV with {', '.join(named)}", "no Trajectories: no markers")
    recording = text.recorded(READER, clock, n_frames, force_plates=plates, **devices.channels)
    if not plates and not emg_channels(recording):
        raise text.error(
            f"there is no section Trajectories, only {', '.join(named)}, without whole force plates or "
            "electromyography; export the trajectories as well"
        )
    return recording


def _sections(text: Text, separator: str) -> list[_Section]:
    """Sections of the file, each with its rate."""
    quoted = f'{separator}" \t'
    starts = [k for k, line in enumerate(text.lines) if line.strip(quoted).lower() in SECTIONS]
    if not starts:
        said = text.lines[0][:40]
        raise text.fault(0, f"found {said!r}, expected section Trajectories or Devices; not a Vicon Nexus export")
    sections = []
    for start, following in zip(starts, [*starts[1:], len(text.lines)], strict=True):
        name = text.lines[start].strip(quoted).lower()
        said = text.lines[start + 1].strip(quoted) if start + 1 < len(text.lines) else ""
        rate_hz = plain_number(said)
        if not (math.isfinite(rate_hz) and rate_hz > 0.0):
            wrong = f"the rate of {name} is {said[:40]!r}, expected a number above zero; export again"
            raise text.fault(start + 1, wrong)
        sections.append(_Section(name, start, following, rate_hz))
    return sections


def _table(
    text: Text, section: _Section, separator: str, *, of_points: bool
) -> tuple[tuple[str, ...], FloatArray, list[str]]:
    """Labels, numbers and units of a section; point labels are above X, Y, Z."""
    if not any(line.strip() for line in text.lines[section.first + 5 : section.last]):
        raise text.fault(section.first, f"section {section.name} has no frames; the file is truncated; export it again")
    over, names, units = ([*map(text.plain_label, text.cells(section.first + k, separator))] for k in (2, 3, 4))
    if [name.lower() for name in names[:2]] != ["frame", "sub frame"]:
        raise text.fault(
            section.first + 3, f"expected columns Frame and Sub Frame first, found {names[:2]}; export again"
        )
    while len(names) > 2 and not names[-1]:
        names.pop()
    n = len(names)
    values = table(text, section.first + 5, section.last, n, separator)
    units = [*units, *[""] * n][2:n]
    if of_points:
        labelled = {k: cell for k, cell in enumerate(over[2:]) if cell}
        axes = [name.upper() for name in names[2:]]
        if axes != ["X", "Y", "Z"] * (len(axes) // 3) or [*labelled] != [*range(0, len(axes), 3)] or not axes:
            raise text.fault(
                section.first + 3,
                f"{len(labelled)} labels over {len(axes)} columns, expected X, Y, Z under each; label all trajectories, "
                "leave velocities and accelerations out, and export them again",
            )
        return tuple(labelled.values()), values, units
    labels, device = [], ""
    for k in range(2, n):
        device = over[k] if k < len(over) and over[k] else device
        labels.append(f"{device}.{names[k]}" if device else names[k])
    return tuple(labels), values, units


def _devices(text: Text, section: _Section | None, separator: str) -> _Devices:
    """Channels of the section Devices."""
    if section is None:
        text.add("analog", "no section Devices", "none")
        return _Devices()
    labels, values, units = _table(text, section, separator, of_points=False)
    per_frame = int(np.nan_to_num(values[:, 1]).clip(0, 1e6).max()) + 1
    check_frames(values[:, 0] * per_frame + values[:, 1], text, section.first + 5, what="sample")
    text.add("analog", f"{len(labels)} columns of Devices at {section.rate_hz:g} Hz", "kept, with their units")
    first_frame = int(np.nan_to_num(values[0, 0], nan=1.0).clip(1, 1e9))
    return _Devices(labels, tuple(units), values[:, 2:], first_frame, per_frame, section.rate_hz)


def _events(text: Text, section: _Section | None, separator: str, shift_s: float) -> tuple[Event, ...]:
    """Events, in order of time; their times count from frame 1 of the capture."""
    if section is None:
        text.add("events", "no section Events", "none")
        return ()
    names = [cell.strip().lower() for cell in text.cells(min(section.first + 2, len(text.lines) - 1), separator)]
    starts = ("context", "name", "time")
    columns = [next((k for k, name in enumerate(names) if name.startswith(start)), -1) for start in starts]
    if min(columns) < 0:
        raise text.fault(section.first + 2, f"expected columns Context, Name and Time (s), found {names}; export again")
    context, name, time = columns
    events = []
    for k in range(section.first + 3, section.last):
        row = [cell.strip(" \t") for cell in text.cells(k, separator)]
        if not any(row):
            continue
        time_s = plain_number(row[time]) if len(row) > max(context, name, time) else math.nan
        if not math.isfinite(time_s):
            raise text.fault(k, f"expected an event with a time in s, found {row}; export it again")
        events.append(Event(text.plain_label(row[name]), text.plain_label(row[context]), time_s - shift_s))
    text.add("events", f"{len(events)}, which count from frame 1 of the capture", f"{-shift_s:+.3f} s added")
    return tuple(sorted(events, key=lambda event: event.time_s))


# ---- force plates ----


def plate_columns(labels: Sequence[str]) -> dict[str, Columns]:
    """Columns of each device with forces: device -> quantity -> axis -> column.

    Parameters
    ----------
    labels : sequence of str
        Labels of the channels, device and column name with a point between them.

    Examples
    --------
    >>> plate_columns(["Plate #1 - Force.Fx", "Plate #1 - Force.Fy", "Plate #1 - CoP.Cx", "EMG.RF"])
    {'Plate #1': {'F': {0: 0, 1: 1}, 'C': {0: 2}}}
    """
    columns: dict[str, dict[str, dict[int, int]]] = {}
    for k, label in enumerate(labels):
        device, _, name = label.rpartition(".")
        if match := _COLUMN.fullmatch(name.strip()):
            device = " ".join(filter(None, (_OUTPUT.sub("", device.strip()), match[3])))
            axes = columns.setdefault(device, {}).setdefault(match[1].upper(), {})
            axes["xyz".index(match[2].lower())] = k
    return {device: quantities for device, quantities in columns.items() if "F" in quantities}


def device_plates(text: Text, devices: _Devices, markers_m: FloatArray) -> tuple[ForcePlate, ...]:
    """Force plates of kind 0 from the columns of devices.

    Parameters
    ----------
    text : Text
        The file; gets a finding for each plate, with the reason where it is not used.
    devices : _Devices
        The columns.
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Markers over the same time, m; they say which side of the plate the body is on.

    Notes
    -----
    Nexus writes the force on the plate or on the foot, and moments about a point of the plate that the file does not state.
    For loaded samples with centre of pressure P, the moment M - P x F about the origin of the laboratory is F x O but for the free moment about
    the vertical: O is the least-squares solution of its horizontal components. Where force, moment and P are in the same
    axes the residual is that of rounding; as a distance, over the force, it may be 2 mm. The plate's moment is M + O x F, whose sign is that of the force on
    the foot: a plate cannot pull.
    """
    plates: list[ForcePlate] = []
    for device, columns in plate_columns(devices.labels).items():
        item = f"force plate {device!r}"
        if device.lower() in COMBINED:
            text.add(item, "the sum of the plates", "not used")
            continue
        try:
            wrench, point_m = _about(*_in_si(columns, devices))
        except UnusableError as why:
            text.add(item, str(why), "not used", note=f"{item} is not used: {why}")
            continue
        number = len(plates) + 1
        # the force on the foot points to the side of the markers; the surface is at the height of the pressure
        vertical = int(np.abs(np.nan_to_num(wrench.force_n).sum(axis=0)).argmax())
        heights = markers_m[..., vertical][~np.isnan(markers_m[..., vertical])]
        side = 1.0 if not heights.size or np.median(heights) >= point_m[vertical] else -1.0
        on_foot, _ = pushing(wrench, side * np.eye(3)[vertical])
        plates.append(plate_of(on_foot, number, devices.rate_hz, corners_m=np.tile(point_m, (4, 1))))
        text.add_plate(number, f"{device}: force, centre of pressure", has_moment="M" in columns)
        if (apart_m := distance_m(markers_m, plates[-1:])) > NEAR_M:
            stated = f"it acts {apart_m:.2f} m (median) from the nearest of the lowest markers"
            settle = "compare its axes with those of the markers (`limbtorque inspect`)"
            text.add(f"place of force plate {number}", stated, "used", settle)
    return tuple(plates)


def _in_si(columns: Columns, devices: _Devices) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Force, point and moment in SI units; raises the reason if unusable."""
    vectors = []
    for quantity, name in (("F", "force"), ("C", "centre of pressure"), ("M", "moment")):
        axes = columns.get(quantity, {})
        if len(axes) != 3:
            if quantity == "M" and not axes:
                continue
            found = f"{len(axes)} of 3 columns of its {name}"
            raise UnusableError(f"{found}; export force, moment and centre of pressure (CoP)")
        units = [devices.units[axes[k]] for k in range(3)]
        factors = [UNITS[quantity].get(plain_unit(unit)) for unit in units]
        if None in factors:
            stated = f"the units of its {name} are {', '.join(map(repr, units))}"
            raise UnusableError(f"{stated}; export them in N, N.mm and mm")
        vectors.append(devices.values[:, [axes[k] for k in range(3)]] * np.array(factors, dtype=float))
    return vectors[0], vectors[1], vectors[2] if len(vectors) > 2 else None


def _about(force: FloatArray, point: FloatArray, moment: FloatArray | None) -> tuple[Wrench, FloatArray]:
    """Wrench about a fixed point, and mean centre of pressure, m."""
    finite = np.isfinite(np.hstack([force, point, force if moment is None else moment])).all(axis=1)
    loaded = np.flatnonzero(finite & (np.linalg.norm(np.nan_to_num(force), axis=1) > LOADED_N))
    point_m = point[loaded].mean(axis=0) if len(loaded) else np.zeros(3)
    if moment is None or len(loaded) < FEWEST:
        return Wrench(force, point, np.zeros_like(force)), point_m
    about_m, off_m = _fixed_point(force[loaded], point[loaded], moment[loaded])
    if off_m > MAX_OFF_M:
        raise UnusableError(
            f"its moments and its centre of pressure are {off_m:.2g} m apart (root mean square): not in the same axes; "
            "export forces, moments and centres of pressure in the axes of the laboratory"
        )
    return Wrench(force, np.broadcast_to(about_m, force.shape), moment), point_m


def _fixed_point(force: FloatArray, point: FloatArray, moment: FloatArray) -> tuple[FloatArray, float]:
    """Reference point of moments, and residual distance, m (root mean square)."""
    vertical = int(np.abs(force.mean(axis=0)).argmax())
    level = [k for k in range(3) if k != vertical]
    # F x O = M - P x F, its horizontal components
    crossed = np.cross(force[:, np.newaxis], np.eye(3)).transpose(0, 2, 1)[:, level].reshape(-1, 3)
    wanted = (moment - np.cross(point, force))[:, level].ravel()
    origin = np.asarray(np.linalg.lstsq(crossed, wanted, rcond=None)[0], dtype=float)
    off = (crossed @ origin - wanted).reshape(-1, 2) / np.linalg.norm(force, axis=1, keepdims=True)
    return origin, float(np.sqrt(np.mean(np.sum(off**2, axis=1))))
