"""CSV files of Vicon Nexus: sections for trajectories, devices and events."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.emg_channels import emg_channels
from limbtorque.recordings.findings import Findings, length_unit, positions_m
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Event, Recording
from limbtorque.recordings.text.frames import Clock, bare_recording, check_frames, recording_of
from limbtorque.recordings.text.lines import Text, plain_label, plain_number, read_text, table
from limbtorque.recordings.text.vicon_plates import device_plates

READER = "text.vicon"
SECTIONS = ("trajectories", "devices", "model outputs", "joints", "segments", "events")


@dataclass(frozen=True)
class _Section:
    """Lines of a section, from 0: name, rate, and the line after the last."""

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
        """The attributes of a recording that hold them."""
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
    (`vicon_plates.device_plates`).
    """
    findings = Findings()
    text = read_text(path, options, findings)
    separator = ";" if text.lines[1:2] and text.lines[0].count(";") > text.lines[0].count(",") else ","
    separator = "\t" if text.lines[0].count("\t") else separator
    sections = _sections(text, separator)
    named = {section.name: section for section in sections}
    if len(named) < len(sections):
        raise ReadError(f"{text.name}: a section occurs twice; export the file again")
    if "trajectories" not in named:
        return _devices_only(text, named, separator, findings)
    findings.add("format", f"Vicon Nexus CSV with {', '.join(named)}", "Trajectories, Devices and Events are read")
    part = named["trajectories"]
    labels, values, units = _table(text, part, separator, 3, findings)
    wanted = {unit for unit in units if unit}
    if len(wanted) > 1:
        raise text.fault(part.first + 4, f"more than one unit of length: {', '.join(sorted(wanted))}; export it again")
    length_m = length_unit(next(iter(wanted), None), "the line of units of Trajectories", options, text.name, findings)
    first_frame = check_frames(values[:, 0], text, part.first + 5, findings)
    rate_hz = _rate(text, part, options, findings)
    findings.add("axes", "columns X, Y, Z", "unchanged; plane.up_axis of the settings defines the vertical")
    markers_m = positions_m(values[:, 2:].reshape(len(values), len(labels), 3), length_m, text.name, labels, findings)
    devices = _devices(text, named.get("devices"), separator, findings)
    _check_samples(text, named.get("devices"), devices, rate_hz, len(values))
    events = _events(text, named.get("events"), separator, (first_frame - 1) / rate_hz, findings)
    plates = device_plates(
        devices.labels,
        devices.units,
        devices.values,
        rate_hz=devices.rate_hz,
        markers_m=markers_m,
        findings=findings,
    )
    clock = Clock(rate_hz, first_frame, None)
    return recording_of(
        text,
        READER,
        clock,
        findings,
        labels=labels,
        markers_m=markers_m,
        events=events,
        force_plates=plates,
        **devices.channels,
    )


def _devices_only(text: Text, named: Mapping[str, _Section], separator: str, findings: Findings) -> Recording:
    """Recording without markers: force plates and channels of Devices."""
    devices = _devices(text, named.get("devices"), separator, findings)
    rate_hz, n_frames = devices.rate_hz / devices.per_frame, len(devices.values) // devices.per_frame
    plates = device_plates(
        devices.labels,
        devices.units,
        devices.values,
        rate_hz=devices.rate_hz,
        markers_m=np.zeros((n_frames, 0, 3)),
        findings=findings,
    )
    clock = Clock(rate_hz, devices.first_frame, None)
    findings.add("format", f"Vicon Nexus CSV with {', '.join(named)}", "no Trajectories: no markers")
    found = bare_recording(text, READER, clock, findings, n_frames=n_frames, force_plates=plates, **devices.channels)
    if not plates and not emg_channels(found):
        raise ReadError(
            f"{text.name}: there is no section Trajectories, only {', '.join(named)}, without whole force plates or "
            "electromyography; export the trajectories as well"
        )
    return found


def _sections(text: Text, separator: str) -> list[_Section]:
    """Sections of the file, each with its rate."""
    starts = [k for k, line in enumerate(text.lines) if line.strip(f'{separator}" \t').lower() in SECTIONS]
    if not starts:
        raise text.fault(
            0, f"found {text.lines[0][:40]!r}, expected a section, Trajectories or Devices; not a Vicon Nexus export"
        )
    found = []
    for start, following in zip(starts, [*starts[1:], len(text.lines)], strict=True):
        name = text.lines[start].strip(f'{separator}" \t').lower()
        said = text.lines[start + 1].strip(f'{separator}" \t') if start + 1 < len(text.lines) else ""
        rate_hz = plain_number(said)
        if not (math.isfinite(rate_hz) and rate_hz > 0.0):
            raise text.fault(
                start + 1, f"the rate of {name} is {said[:40]!r}, expected a number above zero; export again"
            )
        found.append(_Section(name, start, following, rate_hz))
    return found


def _table(
    text: Text, section: _Section, separator: str, per_label: int, findings: Findings
) -> tuple[tuple[str, ...], FloatArray, list[str]]:
    """Labels, numbers and units of a section; `per_label` 0: any number of columns."""
    if not any(line.strip() for line in text.lines[section.first + 5 : section.last]):
        raise text.fault(section.first, f"section {section.name} has no frames; it is truncated, export it again")
    over, names, units = (
        [plain_label(cell, findings) for cell in text.cells(section.first + k, separator)] for k in (2, 3, 4)
    )
    if [name.lower() for name in names[:2]] != ["frame", "sub frame"]:
        raise text.fault(
            section.first + 3, f"expected columns Frame and Sub Frame first, found {names[:2]}; export again"
        )
    while len(names) > 2 and not names[-1]:
        names.pop()
    n = len(names)
    values = table(text, section.first + 5, section.last, n, separator)
    units = [*units, *[""] * n][2:n]
    labelled = {k: cell for k, cell in enumerate(over[2:]) if cell}
    if per_label:
        axes = [name.upper() for name in names[2:]]
        if axes != ["X", "Y", "Z"] * (len(axes) // 3) or [*labelled] != [*range(0, len(axes), per_label)] or not axes:
            raise text.fault(
                section.first + 3,
                f"{len(labelled)} labels over {len(axes)} columns, expected X, Y, Z under each; label all trajectories, "
                "leave velocities and accelerations out, and export them again",
            )
        return tuple(labelled.values()), values, units
    carried, device = [], ""
    for k in range(2, n):
        device = over[k] if k < len(over) and over[k] else device
        carried.append(f"{device}.{names[k]}" if device else names[k])
    return tuple(carried), values, units


def _rate(text: Text, section: _Section, options: ReadOptions, findings: Findings) -> float:
    if options.rate_hz and not math.isclose(options.rate_hz, section.rate_hz, rel_tol=1e-3):
        raise ReadError(
            f"{text.name}: the rate of Trajectories is {section.rate_hz:g}, reading.rate_hz says {options.rate_hz:g}; "
            "remove the option for this trial, or correct the file"
        )
    findings.add("rate", f"below Trajectories {section.rate_hz:g}", f"{section.rate_hz:g} frames per second")
    return section.rate_hz


def _devices(text: Text, section: _Section | None, separator: str, findings: Findings) -> _Devices:
    """Channels of the section Devices."""
    if section is None:
        findings.add("analog", "no section Devices", "none")
        return _Devices()
    labels, values, units = _table(text, section, separator, 0, findings)
    per_frame = int(np.nan_to_num(values[:, 1]).clip(0, 1e6).max()) + 1
    check_frames(values[:, 0] * per_frame + values[:, 1], text, section.first + 5, Findings(), what="sample")
    findings.add("analog", f"{len(labels)} columns of Devices at {section.rate_hz:g} Hz", "kept, with their units")
    first_frame = int(np.nan_to_num(values[0, 0], nan=1.0).clip(1, 1e9))
    return _Devices(labels, tuple(units), values[:, 2:], first_frame, per_frame, section.rate_hz)


def _check_samples(text: Text, section: _Section | None, devices: _Devices, rate_hz: float, n_frames: int) -> None:
    """Refuse devices that have not a whole number of samples for each frame."""
    per_frame = devices.rate_hz / rate_hz
    if section and (abs(per_frame - round(per_frame)) > 1e-6 or len(devices.values) != n_frames * round(per_frame)):
        raise text.fault(
            section.first,
            f"Devices has {len(devices.values)} samples at {section.rate_hz:g} Hz for {n_frames} frames at {rate_hz:g} Hz; "
            "the file is damaged or truncated, export it again",
        )


def _events(
    text: Text, section: _Section | None, separator: str, shift_s: float, findings: Findings
) -> tuple[Event, ...]:
    """Events, in order of time; their times count from frame 1 of the capture."""
    if section is None:
        findings.add("events", "no section Events", "none")
        return ()
    names = [cell.strip().lower() for cell in text.cells(min(section.first + 2, len(text.lines) - 1), separator)]
    columns = [_index(names, wanted) for wanted in ("context", "name", "time")]
    if None in columns:
        raise text.fault(section.first + 2, f"expected columns Context, Name and Time (s), found {names}; export again")
    context, name, time = (int(k) for k in columns if k is not None)
    events = []
    for k in range(section.first + 3, section.last):
        row = [cell.strip(" \t") for cell in text.cells(k, separator)]
        if not any(row):
            continue
        time_s = plain_number(row[time]) if len(row) > max(context, name, time) else math.nan
        if not math.isfinite(time_s):
            raise text.fault(k, f"expected an event with a time in s, found {row}; export it again")
        events.append(Event(plain_label(row[name], findings), plain_label(row[context], findings), time_s - shift_s))
    findings.add("events", f"{len(events)}, which count from frame 1 of the capture", f"{-shift_s:+.3f} s added")
    return tuple(sorted(events, key=lambda event: event.time_s))


def _index(names: Sequence[str], wanted: str) -> int | None:
    return next((k for k, name in enumerate(names) if name.startswith(wanted)), None)
