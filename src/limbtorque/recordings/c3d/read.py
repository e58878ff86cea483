"""Read C3D files: positions, events, analog channels and force plates."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.audit import Audit
from limbtorque.recordings.c3d.blocks import USED, with_blocks
from limbtorque.recordings.c3d.contents import Contents, with_c3d
from limbtorque.recordings.c3d.counts import fraction_findings
from limbtorque.recordings.c3d.header import Header, read_header
from limbtorque.recordings.c3d.parameters import value as parameter_value
from limbtorque.recordings.c3d.scaling import refuse_unreadable_scale, scale_findings
from limbtorque.recordings.findings import Findings, read_bytes
from limbtorque.recordings.force_plates import LENGTHS_M, force_plates, plain_numbers, plain_unit
from limbtorque.recordings.model_outputs import model_outputs
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.plate_findings import plate_findings
from limbtorque.recordings.recording import Event, Recording

Group = Mapping[str, Any]
MODELLED_GROUPS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")
MARKER = "MARKER"  # a type of TYPE_GROUPS that names positions has this in it
LIBRARIES = {"blocks": with_blocks, "c3d": with_c3d}
ABOUT_THE_PERSON = {
    "SUBJECTS": ("NAMES",),
    "SUBJECT": ("WEIGHT", "HEIGHT", "GENDER"),
    "PROCESSING": ("BODYMASS", "HEIGHT", "LLEGLENGTH", "RLEGLENGTH", "INTERASISDISTANCE"),
}


def read_c3d(
    path: Path | str, options: ReadOptions = NO_OPTIONS, *, libraries: Sequence[str] = tuple(LIBRARIES)
) -> Recording:
    """Read a C3D file.

    Parameters
    ----------
    path : Path or str
        A C3D file in Intel, DEC or MIPS byte order, integers or real numbers.
    options : ReadOptions, optional
        Options of the readers.
    libraries : sequence of str, optional
        What to try; the first that reads the file is used: ``"blocks"`` (our own), ``"c3d"``.

    Returns
    -------
    Recording
        Positions in m in the laboratory frame of the file; events in s from the first frame; force plates as
        ground reaction wrenches about the laboratory origin.

    Raises
    ------
    ReadError
        Not a C3D file, truncated, contradictory, of an unknown unit of length, without frames, rate, points,
        labelled positions, or any visible marker; with ``options.strict`` also where something is guessed.

    Notes
    -----
    A sample is missing (NaN) where its residual is negative, a coordinate is not finite, or all three are
    exactly zero. The points that the file lists as modelled outputs (``POINT:ANGLES``, ``FORCES``,
    ``MOMENTS``, ``POWERS``, ``SCALARS`` and the groups of ``POINT:TYPE_GROUPS``, with their continuations;
    modelled markers excepted) and the points without a label are not positions and are left out. The times of
    the ``EVENT`` group count from frame 1 of the capture, those of the header from the first frame of the
    file (c3d.org).
    """
    path = Path(path)
    raw = read_bytes(path)
    header = read_header(raw, path.name)
    refuse_unreadable_scale(header, path.name)
    findings = Findings()
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is missing, and counted as such
        contents, sha256 = _contents(path, raw, header, libraries, findings), hashlib.sha256(raw).hexdigest()
        del raw  # a long recording needs the memory
        return _recording(contents, header, options, path.name, sha256, findings)


def _contents(path: Path, raw: bytes, header: Header, libraries: Sequence[str], findings: Findings) -> Contents:
    """Contents of the file by the first library that reads it."""
    refused: list[str] = []
    for library in libraries:
        try:
            contents = LIBRARIES[library](path, raw, header)
        except ReadError as error:
            refused.append(str(error).removeprefix(f"{path.name}: "))
            continue
        why = f", since {refused[0].partition(';')[0]}" if refused else ""
        findings.add("format", f"C3D, {header.storage}", f"read by {contents.reader}{why}")
        if refused:
            findings.notes.append(f"read by {contents.reader}{why}")
        return contents
    raise ReadError(f"{path.name}: " + "; ".join(refused))


def _recording(
    contents: Contents, header: Header, options: ReadOptions, name: str, sha256: str, findings: Findings
) -> Recording:
    """Recording from the raw contents of a file."""
    groups = _decoded(contents.groups, options, findings)
    point = groups.get("POINT", {})
    length_m = _length_unit(point, options, name, findings)
    rate_hz = _rate(header, options, name, findings)
    _axes_finding(point, findings)
    xyz, seen = contents.xyz, _seen(contents, findings)
    labels, kept, modelled = _sort_points(_named(point, options), xyz, seen, name, findings)
    markers_m = xyz if len(kept) == xyz.shape[1] else xyz[:, kept, :]
    markers_m *= length_m
    markers_m[~seen[:, kept]] = np.nan
    _missing_notes(seen[:, kept], labels, name, findings)
    analog = contents.analog
    analog_rate_hz = rate_hz * header.samples_per_frame if analog.size else 0.0
    analog_labels, analog_units = _channel_texts(groups.get("ANALOG", {}), analog.shape[1], findings)
    _analog_findings(groups, header, analog_units, rate_hz, findings)
    findings.entries += [*fraction_findings(header), *scale_findings(header, analog)]
    plate_group = groups.get("FORCE_PLATFORM", {})
    plates, plate_notes = force_plates(
        plate_group, analog, analog_units,
        rate_hz=analog_rate_hz, length_m=length_m, positions_m=markers_m,
    )  # fmt: skip
    findings.notes += plate_notes
    findings.entries += plate_findings(plate_group, plates, analog_units, analog_labels, markers_m)
    events = _events(contents, groups, header, rate_hz, options, findings)
    person = _person(header)
    outputs = model_outputs(
        modelled,
        xyz,
        seen,
        stated=_stated_units(point),
        plates=plates,
        rate_hz=rate_hz,
        mass_kg=_mass_kg(person),
        findings=findings,
    )
    return Recording(
        source=name,
        sha256=sha256,
        reader=contents.reader,
        labels=labels,
        markers_m=markers_m,
        rate_hz=rate_hz,
        first_frame=header.first_frame,
        modelled_labels=tuple(modelled),
        model_outputs=outputs,
        events=events,
        analog_labels=analog_labels,
        analog_units=analog_units,
        analog_descriptions=tuple(_padded(_continued(groups.get("ANALOG", {}), "DESCRIPTIONS"), analog.shape[1])),
        analog=analog,
        analog_rate_hz=analog_rate_hz,
        force_plates=plates,
        notes=tuple(findings.notes),
        audit=Audit(tuple(findings.entries)),
        person=person,
    )


def _channel_texts(group: Group, n_channels: int, findings: Findings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels and units of the analog channels, with a note where some are empty."""
    labels, units = (_padded(_continued(group, name), n_channels) for name in ("LABELS", "UNITS"))
    for parameter, texts in (("LABELS", labels), ("UNITS", units)):
        if not all(texts):
            findings.notes.append(f"ANALOG:{parameter} is empty for {texts.count('')} of {n_channels} channels")
    return labels, units


def _person(header: Header) -> tuple[tuple[str, str], ...]:
    """Parameters of the file about the person."""
    found = []
    for group, names in ABOUT_THE_PERSON.items():
        for name in names:
            entry = header.parameters.get(group, {}).get(name)
            values = parameter_value(entry, header.processor) if entry is not None else []
            plain = [_text(v, None, []) if isinstance(v, str) else f"{v:.6g}" for v in np.ravel(values).tolist()]
            found += [(f"{group}:{name}", text) for text in plain if text]
    return tuple(found)


def _mass_kg(person: Sequence[tuple[str, str]]) -> float:
    """Body mass of the one person of a file; NaN where it is a text, or of several."""
    texts = {text for name, text in person if name == "PROCESSING:BODYMASS"}
    try:
        return float(texts.pop()) if len(texts) == 1 else float("nan")
    except ValueError:
        return float("nan")


def _decoded(
    groups: Mapping[str, Mapping[str, Any]], options: ReadOptions, findings: Findings
) -> dict[str, dict[str, Any]]:
    """Parameters with stripped texts; not UTF-8: by the option, or Windows-1252."""
    other: list[str] = []

    def decoded(value: Any) -> Any:
        if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
            return value
        return [findings.without_invisible(_text(text, options.text_encoding, other)) for text in value]

    result = {group: {key: decoded(value) for key, value in entries.items()} for group, entries in groups.items()}
    if other:
        shown = ", ".join(repr(text) for text in list(dict.fromkeys(other))[:5])
        findings.add(
            "text",
            f"{len(other)} texts are not UTF-8",
            f"read as {options.text_encoding or 'Windows-1252'}: {shown}",
            "" if options.text_encoding else "give reading.text_encoding",
        )
    return result


def _text(value: str, encoding: str | None, other: list[str]) -> str:
    """Text without padding; what is not UTF-8 is added to `other`."""
    plain = value.encode("utf-8", "surrogateescape")
    try:
        return plain.decode("utf-8").strip(" \0\t\r\n")
    except UnicodeDecodeError:
        for name in (encoding or "cp1252", "latin-1"):
            try:
                text = plain.decode(name).strip(" \0\t\r\n")
            except (UnicodeDecodeError, LookupError):
                continue
            other.append(text)
            return text
    raise AssertionError("Latin-1 has a letter for every byte")


def _continued(group: Group, name: str) -> list[str]:
    """Texts of a parameter and of its continuations: LABELS, LABELS2, LABELS3, ..."""
    texts: list[str] = []
    key, n = name, 1
    while key in group:
        texts += [value for value in group[key] if isinstance(value, str)]
        n += 1
        key = f"{name}{n}"
    return texts


def _padded(texts: Sequence[str], n: int) -> tuple[str, ...]:
    """Exactly n texts, empty ones at the end where there are too few."""
    return (*texts[:n], *[""] * (n - len(texts)))


def _length_unit(point: Group, options: ReadOptions, name: str, findings: Findings) -> float:
    """Metres in the unit of the positions."""
    found = [unit for unit in _continued(point, "UNITS") if unit]
    factors = {LENGTHS_M.get(plain_unit(unit)) for unit in found}
    said = "nothing" if not found else ", ".join(repr(unit) for unit in dict.fromkeys(found))
    if options.length_unit:
        given_m = LENGTHS_M[options.length_unit]
        findings.add("unit of length", f"POINT:UNITS is {said}", f"{options.length_unit}, as in reading.length_unit")
        if found and factors != {given_m}:
            findings.notes.append(
                f"POINT:UNITS is {said}, reading.length_unit is {options.length_unit}: the second value is used"
            )
        return given_m
    if options.analog_only and (len(factors) != 1 or None in factors):
        return 1.0
    if len(factors) != 1 or None in factors:
        raise ReadError(
            f"{name}: the unit of length POINT:UNITS is {said}, expected one of mm, cm, m "
            "(millimetres, centimetres, metres); set it in the file, or give reading.length_unit: units of length are never guessed"
        )
    length_m = float(factors.pop() or math.nan)
    findings.add("unit of length", f"POINT:UNITS is {said}", f"positions multiplied by {length_m:g} to metres")
    return length_m


def _stated_units(point: Group) -> dict[str, str]:
    """Units of modelled angles, moments and powers as the file has them."""
    kinds = ("angle", "moment", "power")
    return {kind: next(filter(None, _continued(point, f"{kind.upper()}_UNITS")), "") for kind in kinds}


def _rate(header: Header, options: ReadOptions, name: str, findings: Findings) -> float:
    """Frames per second."""
    rate_hz = float(header.point.get("RATE", header.rate_hz))
    if options.rate_hz and not math.isclose(options.rate_hz, rate_hz, rel_tol=1e-3):
        raise ReadError(
            f"{name}: the file has {rate_hz:g} frames per second, reading.rate_hz is {options.rate_hz:g}; "
            "remove the option for this trial, or correct the file"
        )
    agree = math.isclose(header.rate_hz, rate_hz, rel_tol=1e-4)
    if not agree:
        findings.notes.append(f"POINT:RATE is {rate_hz:g} Hz, the header says {header.rate_hz:g}: POINT:RATE is used")
    findings.add(
        "rate",
        f"POINT:RATE is {rate_hz:g} Hz, the header says {header.rate_hz:g}",
        f"{rate_hz:g} frames per second",
        "" if agree or options.rate_hz else "give reading.rate_hz",
    )
    findings.add(
        "frames",
        f"{header.n_frames} from number {header.first_frame}, counted by {header.counted_by}",
        "time is zero at the first of them",
    )
    used = [name for name in header.twice if name.partition(":")[0] in USED]
    if used:
        findings.add(
            "parameters given twice",
            f"{', '.join(used)}: more than once, with different contents",
            "the first of each is used",
            "compare with the program that wrote the file, and export it again",
        )
        findings.notes.append(
            f"parameters that stand twice with different contents: {', '.join(used)}; the first is used"
        )
    if header.n_absent:
        counted = header.n_frames + header.n_absent
        findings.add(
            "truncated file",
            f"{counted} frames are counted, the file ends after {header.n_frames} of them",
            f"the {header.n_frames} frames that are there are read",
            "copy or export the file again",
        )
        findings.notes.append(f"the file ends early: the last {header.n_absent} of {counted} frames are missing")
    if header.n_uncounted:
        findings.add(
            "data after the last frame",
            f"{header.n_frames} frames are counted, and there is data for {header.n_uncounted} more behind them",
            "not read",
            "correct the number of frames in the file, or export it again",
        )
    return rate_hz


def _axes_finding(point: Group, findings: Findings) -> None:
    screen = [(_continued(point, f"{axis}_SCREEN") or [""])[0] for axis in "XY"]
    said = f"POINT:X_SCREEN {screen[0] or 'empty'}, Y_SCREEN {screen[1] or 'empty'}" if any(screen) else "not stated"
    findings.add("axes", said, "unchanged; plane.up_axis of the settings defines the vertical")


def _seen(contents: Contents, findings: Findings) -> BoolArray:
    """Mask of the measured points, shape (n_frames, n_points)."""
    x, y, z = contents.xyz[:, :, 0], contents.xyz[:, :, 1], contents.xyz[:, :, 2]
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    negative = ~(contents.residual >= 0)
    zero = finite & ~negative & (x == 0) & (y == 0) & (z == 0)
    findings.add(
        "residual",
        f"negative in {int(negative.sum())} of {negative.size} samples",
        "treated as missing, like coordinates that are not numbers",
    )
    if zero.any():
        findings.add(
            "zeros",
            f"{int(zero.sum())} samples lie exactly at the origin, with the residual of a measured sample",
            "treated as missing",
            "export the file so that missing samples have the residual -1",
        )
    seen: BoolArray = finite & ~negative & ~zero
    return seen


def _named(point: Group, options: ReadOptions) -> Group:
    """Point group with the descriptions as labels where they are asked for.

    A point without a description of its own keeps its label, and so do modelled outputs, which are listed by label.
    """
    if options.marker_names == "labels":
        return point
    labels, groups = _continued(point, "LABELS"), _modelled_groups(point)
    described = _padded(_continued(point, "DESCRIPTIONS"), len(labels))
    count = Counter(described)
    names = [
        text if text and count[text] == 1 and not (label and _group_of(label, groups)) else label
        for label, text in zip(labels, described, strict=True)
    ]
    return {**{name: texts for name, texts in point.items() if not name.startswith("LABELS")}, "LABELS": names}


def _sort_points(
    point: Group, xyz: FloatArray, seen: BoolArray, name: str, findings: Findings
) -> tuple[tuple[str, ...], list[int], dict[str, int]]:
    """Labels and columns of the positions; columns of the modelled outputs by label."""
    n_points = xyz.shape[1]
    labels = _padded(_continued(point, "LABELS"), n_points)
    groups = _modelled_groups(point)
    group_of = {i: _group_of(label, groups) for i, label in enumerate(labels) if label}
    kept = [i for i, group in group_of.items() if group is None]
    modelled = {labels[i]: i for i, group in group_of.items() if group is not None}
    if not kept:
        raise ReadError(
            f"{name}: none of the {n_points} points is a labelled position ({len(modelled)} modelled "
            "outputs, "
            f"{n_points - len(group_of)} without a label); label the markers and export the file again"
        )
    positions = [labels[i] for i in kept]
    findings.notes += _point_notes(n_points, group_of, positions)
    findings.add(
        "points",
        f"{n_points}, of which {len(group_of)} have a label",
        f"{len(positions)} positions, {len(modelled)} modelled outputs, {n_points - len(group_of)} left out",
    )
    findings.add_labels(positions)
    # zeros in disguise are rare: the first frame that is seen tells whom to look at
    some = [i for i in kept if seen[:, i].any() and (xyz[seen[:, i].argmax(), i] == 0).sum() == 2]
    flat = [labels[i] for i in some if ((xyz[:, i] == 0) | ~seen[:, i, np.newaxis]).all(axis=0).sum() == 2]
    if flat:
        said = f"two coordinates are zero in every frame of {', '.join(flat)}"
        findings.notes.append(
            f"{said}: treated as positions, since the file does not list them as modelled outputs, "
            "but they look like other quantities"
        )
        findings.add(
            "doubtful positions",
            said,
            "treated as positions",
            "list them in POINT:SCALARS, or leave them out of the export",
        )
    return tuple(positions), kept, modelled


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


def _modelled_groups(point: Group) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Labels of each group of modelled points, with and without their prefixes."""
    pairs = _continued(point, "TYPE_GROUPS")
    typed = {group.upper(): kind.upper() for group, kind in zip(pairs[::2], pairs[1::2], strict=False)}
    names = dict.fromkeys([*MODELLED_GROUPS, *(group for group, kind in typed.items() if MARKER not in kind + group)])
    listed = {group: frozenset(filter(None, _continued(point, group))) for group in names if group}
    return {group: (ls, frozenset(label.rpartition(":")[2] for label in ls)) for group, ls in listed.items()}


def _group_of(label: str, groups: Mapping[str, tuple[frozenset[str], frozenset[str]]]) -> str | None:
    """Group that lists a label; a subject prefix on one side only is ignored."""
    bare = label.rpartition(":")[2]
    for group, (listed, without_prefix) in groups.items():
        if label in listed or bare in listed or (label == bare and bare in without_prefix):
            return group
    return None


def _missing_notes(seen: BoolArray, labels: Sequence[str], name: str, findings: Findings) -> None:
    missing = (~seen).sum(axis=0)
    if missing.min() == len(seen):
        raise ReadError(
            f"{name}: none of the {len(labels)} markers has a sample in any of the {len(seen)} frames; export it again"
        )
    if not missing.any():
        return
    never = [label for label, n in zip(labels, missing, strict=True) if n == len(seen)]
    findings.notes.append(
        f"{int(missing.sum())} samples of {int((missing > 0).sum())} markers are missing, of {seen.size}"
    )
    if never:
        findings.notes.append(f"markers without any sample: {', '.join(never)}")


def _analog_findings(
    groups: Mapping[str, Group], header: Header, units: Sequence[str], rate_hz: float, findings: Findings
) -> None:
    if not header.n_analog:
        findings.add("analog", "no channels", "none")
        return
    stated = plain_numbers(groups.get("ANALOG", {}).get("RATE")).ravel()
    expected_hz = rate_hz * header.samples_per_frame
    agree = not stated.size or math.isclose(stated[0], expected_hz, rel_tol=1e-4)
    if not agree:
        findings.notes.append(
            f"ANALOG:RATE is {stated[0]:g} Hz, {header.samples_per_frame} samples a frame make {expected_hz:g}: "
            "the latter is used"
        )
    known = ", ".join(repr(unit) for unit in dict.fromkeys(units) if unit) or "none"
    findings.add(
        "analog",
        f"{header.n_channels} channels, {header.samples_per_frame} samples a frame, ANALOG:RATE "
        f"{f'{stated[0]:g} Hz' if stated.size else 'missing'}, units {known}",
        f"{expected_hz:g} samples per second, scaled by GEN_SCALE, SCALE and OFFSET, units unchanged",
        "" if agree else "correct ANALOG:RATE in the file",
    )


def _events(
    contents: Contents,
    groups: Mapping[str, Group],
    header: Header,
    rate_hz: float,
    options: ReadOptions,
    findings: Findings,
) -> tuple[Event, ...]:
    """Events of the EVENT group, or else of the header, in order of time."""
    shift_s = -(header.first_frame - 1) / rate_hz
    group = groups.get("EVENT", {})
    events = _group_events(group, shift_s)
    _event_count_findings(group, len(events), findings)
    source = f"{len(events)} in the group EVENT, which count from frame 1 of the capture"
    made = f"{shift_s:+.3f} s added" if shift_s else "times unchanged"
    if not events:
        events = [Event(_text(label, options.text_encoding, []), "", t) for label, t in contents.header_events]
        source, made = f"{len(events)} in the header, which count from the first frame of the file", "times unchanged"
    findings.add("events", source if events else "none", made if events else "none")
    timed = sorted((event for event in events if math.isfinite(event.time_s)), key=attrgetter("time_s"))
    if len(timed) < len(events):
        findings.notes.append(f"{len(events) - len(timed)} events have no time and are left out")
    duration_s = header.n_frames / rate_hz
    outside = [event for event in timed if not -0.5 / rate_hz <= event.time_s <= duration_s]
    if outside:
        listed = ", ".join(f"{event.label} at {event.time_s:.3f} s" for event in outside)
        findings.notes.append(f"{len(outside)} events lie outside the {duration_s:.3f} s of the trial: {listed}")
    return tuple(timed)


def _event_count_findings(group: Group, n_events: int, findings: Findings) -> None:
    """Add a guess where the counts of events, times, labels and contexts do not agree."""
    used = plain_numbers(group.get("USED")).ravel()
    times = [plain_numbers(group[key]) for key in group if key.startswith("TIMES")]
    n_times = sum(values.size // 2 for values in times if values.any())
    names = {name: _continued(group, name) for name in ("LABELS", "CONTEXTS")}
    if not (n_times or used.any()) and not any(names.values()):
        return
    few = [
        f"{sum(map(bool, texts[:n_events]))} {name}"
        for name, texts in names.items()
        if not all(_padded(texts, n_events))
    ]
    if list(used) != [n_events] or n_times != n_events or few:
        said = f"EVENT:USED is {', '.join(f'{n:g}' for n in used[:3]) or 'not stated'}, with {n_times} TIMES"
        findings.add(
            "number of events",
            f"{said}{''.join(f', {text}' for text in few)}",
            f"{n_events} events read",
            "correct the counts of the group EVENT in the file",
        )


def _group_events(group: Group, shift_s: float) -> list[Event]:
    """Events of the EVENT group: minutes and seconds from frame 1 of the capture."""
    used = plain_numbers(group.get("USED")).ravel()
    times: list[float] = []
    key, n = "TIMES", 1
    while key in group:
        values = plain_numbers(group[key])
        values = values.reshape(2, -1, order="F") if values.size % 2 == 0 else values.reshape(1, -1)
        times += [float(minutes) * 60.0 + float(seconds) for minutes, seconds in values.T] if len(values) == 2 else []
        n += 1
        key = f"TIMES{n}"
    n_used = int(np.clip(used[0], 0, len(times))) if used.size and np.isfinite(used[0]) else len(times)
    labels, contexts = (_padded(_continued(group, name), n_used) for name in ("LABELS", "CONTEXTS"))
    return [
        Event(label, context, time_s + shift_s)
        for label, context, time_s in zip(labels, contexts, times[:n_used], strict=True)
    ]
