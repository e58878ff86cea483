"""Read C3D files: positions, events, analog channels and force plates."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.recordings.c3d.header import Header, continued, decode, read_header, real_numbers
from limbtorque.recordings.c3d.header import value as parameter_value
from limbtorque.recordings.c3d.plates import force_plates, plain_numbers, plate_findings
from limbtorque.recordings.c3d.samples import (
    read_samples,
    refuse_unreadable_scale,
    scale_findings,
)
from limbtorque.recordings.model_outputs import model_outputs
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Event, Recording
from limbtorque.recordings.source import LENGTHS_M, Source, plain_number, plain_unit, read_bytes

Group = Mapping[str, Any]
USED = ("POINT", "ANALOG", "FORCE_PLATFORM", "EVENT")
MODELLED_GROUPS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")
OUTPUTS = ("angle", "moment", "power")
MARKER = "MARKER"  # a type of TYPE_GROUPS that names positions has this in it
POINT_BYTES, ANALOG_BYTES = 32, 8  # of memory for a point or an analog value of a frame
ABOUT_THE_PERSON = {
    "SUBJECTS": ("NAMES",),
    "SUBJECT": ("WEIGHT", "HEIGHT", "GENDER"),
    "PROCESSING": ("BODYMASS", "HEIGHT", "LLEGLENGTH", "RLEGLENGTH", "INTERASISDISTANCE"),
}


def read_c3d(path: Path | str, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read a C3D file.

    Parameters
    ----------
    path : Path or str
        A C3D file in Intel, DEC or MIPS byte order, integers or real numbers.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        Positions in m in the laboratory frame of the file; events in s from the first frame; force plates as
        ground reaction wrenches about the laboratory origin.

    Raises
    ------
    ReadError
        Not a C3D file, truncated, contradictory, of parameters that break off, of an unknown unit of length, without frames,
        rate, points, labelled positions, or any visible marker; with ``options.strict`` also where something is guessed.

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
    source = Source(path.name, options)
    raw = read_bytes(path, source)
    header = read_header(raw, path.name)
    if header.broken_at is not None:
        raise source.error(f"the parameters are not readable beyond byte {header.broken_at}; export it again")
    refuse_unreadable_scale(header, path.name)
    n_bytes = header.n_frames * (POINT_BYTES * header.n_points + ANALOG_BYTES * header.n_analog)
    source.refuse_larger(source.size + n_bytes)
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is missing, and counted as such
        xyz, residual, analog = read_samples(raw, header)
        header_events = _header_events(raw, header, options)
        del raw  # a long recording needs the memory
        source.add("format", f"C3D, {header.storage}", "read by limbtorque.recordings.c3d.read")
        groups = _decoded_groups(source, header)
        point, channels, platforms = (groups.get(name, {}) for name in ("POINT", "ANALOG", "FORCE_PLATFORM"))
        length_m = _length_m(source, point)
        rate_hz = _rate(source, header)
        _add_axes(source, point)
        seen = _seen(source, xyz, residual)
        labels, kept, modelled = _sort_points(source, _named(point, options), xyz, seen)
        markers_m = xyz if len(kept) == xyz.shape[1] else xyz[:, kept, :]
        markers_m *= length_m
        markers_m[~seen[:, kept]] = np.nan
        source.note_missing((~seen[:, kept]).sum(axis=0), len(seen), labels)
        analog_rate_hz = rate_hz * header.samples_per_frame if analog.size else 0.0
        names, units, descriptions = _channel_texts(source, channels, header, analog.shape[1], rate_hz)
        source.findings += scale_findings(header, analog)
        plates, notes = force_plates(
            platforms, analog, units, rate_hz=analog_rate_hz, length_m=length_m, positions_m=markers_m
        )
        source.notes += notes
        source.findings += plate_findings(platforms, plates, units, names, markers_m)
        events = _events(source, groups.get("EVENT", {}), header_events, header, rate_hz)
        person = _person(header)
        output_units = {kind: next(filter(None, _continued(point, f"{kind.upper()}_UNITS")), "") for kind in OUTPUTS}
        masses = {text for name, text in person if name == "PROCESSING:BODYMASS"}  # of one person, as a number
        mass_kg = plain_number(masses.pop()) if len(masses) == 1 else math.nan
        outputs = model_outputs(
            modelled, xyz, seen,
            stated=output_units, plates=plates, rate_hz=rate_hz, mass_kg=mass_kg, source=source,
        )  # fmt: skip
    return source.recording(
        "c3d.read",
        labels=labels,
        markers_m=markers_m,
        rate_hz=rate_hz,
        first_frame=header.first_frame,
        modelled_labels=tuple(modelled),
        model_outputs=outputs,
        events=events,
        analog_labels=names,
        analog_units=units,
        analog_descriptions=descriptions,
        analog=analog,
        analog_rate_hz=analog_rate_hz,
        force_plates=plates,
        person=person,
    )


def _add_axes(source: Source, point: Group) -> None:
    """Add a finding on the screen axes, if the file states them."""
    x, y = ((_continued(point, f"{axis}_SCREEN") or [""])[0] or "empty" for axis in "XY")
    stated = f"POINT:X_SCREEN {x}, Y_SCREEN {y}" if {x, y} != {"empty"} else "not stated"
    source.add("axes", stated, "unchanged; plane.up_axis of the settings defines the vertical")


def _header_events(raw: bytes, header: Header, options: ReadOptions) -> list[Event]:
    """Events in the header."""
    times = real_numbers(raw[304 : 304 + 4 * header.n_events], header.processor)
    labels = (_text(decode(raw[396 + 4 * k : 400 + 4 * k]), options.text_encoding, []) for k in range(len(times)))
    return [Event(label, "", float(time_s)) for label, time_s in zip(labels, times, strict=True)]


def _person(header: Header) -> tuple[tuple[str, str], ...]:
    """Parameters that describe the person."""
    found = []
    for group, names in ABOUT_THE_PERSON.items():
        for name in names:
            entry = header.parameters.get(group, {}).get(name)
            values = parameter_value(entry, header.processor) if entry is not None else []
            plain = [_text(v, None, []) if isinstance(v, str) else f"{v:.6g}" for v in np.ravel(values).tolist()]
            found += [(f"{group}:{name}", text) for text in plain if text]
    return tuple(found)


def _decoded_groups(source: Source, header: Header) -> dict[str, dict[str, Any]]:
    """Values of the parameters by group and name, with stripped texts."""
    other: list[str] = []
    groups: dict[str, dict[str, Any]] = {}
    for group in USED:
        entries = groups[group] = {}
        for name, parameter in header.parameters.get(group, {}).items():
            if group in ("ANALOG", "POINT") or not name.startswith("DESCRIPTIONS"):
                values = parameter_value(parameter, header.processor)
                if isinstance(values, list):
                    values = [source.plain_text(_text(text, source.options.text_encoding, other)) for text in values]
                entries[name] = values
    if other:
        given, shown = source.options.text_encoding, ", ".join(repr(text) for text in list(dict.fromkeys(other))[:5])
        made = f"read as {given or 'Windows-1252'}: {shown}"
        source.add("text", f"{len(other)} texts are not UTF-8", made, "" if given else "give reading.text_encoding")
    return groups


def _text(value: str, encoding: str | None, other: list[str]) -> str:
    """Text without padding; non-UTF-8 text is added to `other`."""
    stored = value.encode("utf-8", "surrogateescape")
    for name in ("utf-8", encoding or "cp1252", "latin-1"):  # which has a letter for every byte
        with contextlib.suppress(UnicodeDecodeError, LookupError):
            text = stored.decode(name).strip(" \0\t\r\n")
            other += [text] * (name != "utf-8")
            return text
    raise AssertionError


def _continued(group: Group, name: str) -> list[str]:
    """Texts of a parameter and of its continuations: LABELS, LABELS2, LABELS3, ..."""
    return [value for key in continued(group, name) for value in group[key] if isinstance(value, str)]


def _padded(texts: Sequence[str], n: int) -> tuple[str, ...]:
    """Exactly n texts, padded with empty texts."""
    return (*texts[:n], *[""] * (n - len(texts)))


def _length_m(source: Source, point: Group) -> float:
    """Metres per unit of position."""
    units = list(dict.fromkeys(filter(None, _continued(point, "UNITS"))))
    same = len({LENGTHS_M.get(plain_unit(unit)) for unit in units}) == 1
    stated = ", ".join(map(repr, units)) or "nothing"
    return source.length_m(units[0] if same else " and ".join(units), f"POINT:UNITS is {stated}")


def _rate(source: Source, header: Header) -> float:
    """Frames per second, with findings on the frames."""
    rate_hz = float(header.point.get("RATE", header.rate_hz))
    source.refuse_other_rate(rate_hz, "POINT:RATE")
    agree = math.isclose(header.rate_hz, rate_hz, rel_tol=1e-4)
    said = f"POINT:RATE is {rate_hz:g} Hz, the header says {header.rate_hz:g}"
    settle = "" if agree or source.options.rate_hz else "give reading.rate_hz"
    note = "" if agree else f"{said}: POINT:RATE is used"
    source.add("rate", said, f"{rate_hz:g} frames per second", settle, note=note)
    said = f"{header.n_frames} from number {header.first_frame}, counted by {header.counted_by}"
    source.add("frames", said, "time is zero at the first of them")
    if twice := ", ".join(name for name in header.twice if name.partition(":")[0] in USED):
        source.add(
            "parameters given twice",
            f"{twice}: several times, with different contents",
            "the first of each is used",
            "compare with the program that wrote the file, and export it again",
            note=f"parameters given twice with different contents: {twice}; the first is used",
        )
    if header.n_absent:
        counted = header.n_frames + header.n_absent
        source.add(
            "truncated file",
            f"{counted} frames are stated, the file ends after {header.n_frames} of them",
            f"the {header.n_frames} existing frames are read",
            "copy or export the file again",
            note=f"the file ends early: the last {header.n_absent} of {counted} frames are missing",
        )
    if header.n_uncounted:
        said = f"{header.n_frames} frames are stated, and there is data for {header.n_uncounted} more"
        settle = "correct the number of frames in the file, or export it again"
        source.add("data after the last frame", said, "not read", settle)
    return rate_hz


def _seen(source: Source, xyz: FloatArray, residual: NDArray[Any]) -> BoolArray:
    """Mask of the measured points, shape (n_frames, n_points)."""
    x, y, z = xyz[:, :, 0], xyz[:, :, 1], xyz[:, :, 2]
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    negative = ~(residual >= 0)
    zero = finite & ~negative & (x == 0) & (y == 0) & (z == 0)
    said = f"negative in {int(negative.sum())} of {negative.size} samples"
    source.add("residual", said, "treated as missing, as are coordinates that are not numbers")
    if zero.any():
        source.add(
            "zeros",
            f"{int(zero.sum())} samples are exactly at the origin, but marked as measured",
            "treated as missing",
            "export the file so that missing samples have the residual -1",
        )
    return np.asarray(finite & ~negative & ~zero)


def _named(point: Group, options: ReadOptions) -> Group:
    """Point group, with descriptions as labels if requested.

    Points without unique description keep their labels, as do modelled outputs, which are listed by label.
    """
    if options.marker_names == "labels":
        return point
    labels, group_of = _continued(point, "LABELS"), _modelled_groups(point)
    described = _padded(_continued(point, "DESCRIPTIONS"), len(labels))
    count = Counter(described)
    names = [
        text if text and count[text] == 1 and not (label and _group(label, group_of)) else label
        for label, text in zip(labels, described, strict=True)
    ]
    return {**{name: texts for name, texts in point.items() if not name.startswith("LABELS")}, "LABELS": names}


def _sort_points(
    source: Source, point: Group, xyz: FloatArray, seen: BoolArray
) -> tuple[tuple[str, ...], list[int], dict[str, int]]:
    """Labels and columns of the positions; columns of the modelled outputs by label."""
    n_points = xyz.shape[1]
    labels = _padded(_continued(point, "LABELS"), n_points)
    modelled_groups = _modelled_groups(point)
    group_of = {i: _group(label, modelled_groups) for i, label in enumerate(labels) if label}
    kept = [i for i, group in group_of.items() if not group]
    modelled = {labels[i]: i for i, group in group_of.items() if group}
    unlabelled = n_points - len(group_of)
    if not kept:
        raise source.error(
            f"none of the {n_points} points is a labelled position ({len(modelled)} modelled outputs, "
            f"{unlabelled} without a label); label the markers and export the file again"
        )
    positions = tuple(labels[i] for i in kept)
    if unlabelled:
        source.notes.append(f"{unlabelled} of {n_points} points have no label and are left out")
    if counts := Counter(filter(None, group_of.values())):
        listed = ", ".join(f"{group} ({n})" for group, n in sorted(counts.items()))
        total = counts.total()
        source.notes.append(f"{total} points are modelled outputs, not positions, and are left out: {listed}")
    if twice := [label for label, n in Counter(positions).items() if n > 1]:
        source.notes.append(f"labels that occur more than once: {', '.join(twice)}")
    made = f"{len(positions)} positions, {len(modelled)} modelled outputs, {unlabelled} left out"
    source.add("points", f"{n_points}, of which {len(group_of)} have a label", made)
    source.add_labels(positions)
    # zeros in disguise are rare: the first frame that is seen tells whom to look at
    doubtful = [i for i in kept if seen[:, i].any() and (xyz[seen[:, i].argmax(), i] == 0).sum() == 2]
    flat = [labels[i] for i in doubtful if ((xyz[:, i] == 0) | ~seen[:, i, np.newaxis]).all(axis=0).sum() == 2]
    if flat:
        said = f"two coordinates are zero in every frame of {', '.join(flat)}"
        source.add(
            "doubtful positions",
            said,
            "treated as positions",
            "list them in POINT:SCALARS, or leave them out of the export",
            note=f"{said}: treated as positions, since the file does not list them as modelled outputs, but "
            "their values look like other quantities",
        )
    return positions, kept, modelled


def _modelled_groups(point: Group) -> dict[tuple[str, bool], str]:
    """Group of each modelled point by label, as listed or (False) without prefix."""
    pairs = _continued(point, "TYPE_GROUPS")
    typed = {group.upper(): kind.upper() for group, kind in zip(pairs[::2], pairs[1::2], strict=False)}
    names = dict.fromkeys([*MODELLED_GROUPS, *(group for group, kind in typed.items() if MARKER not in kind + group)])
    group_of: dict[tuple[str, bool], str] = {}
    for group in filter(None, names):
        for label in filter(None, _continued(point, group)):
            group_of.setdefault((label, True), group)
            group_of.setdefault((label.rpartition(":")[2], False), group)
    return group_of


def _group(label: str, group_of: Mapping[tuple[str, bool], str]) -> str:
    """Group that lists a label, or empty; unmatched prefixes are ignored."""
    bare = label.rpartition(":")[2]
    listed = group_of.get((label, True)) or group_of.get((bare, True))
    return listed or (group_of.get((bare, False)) if label == bare else "") or ""


def _channel_texts(
    source: Source, group: Group, header: Header, n: int, rate_hz: float
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Labels, units and descriptions of the analog channels."""
    labels, units, descriptions = (_padded(_continued(group, name), n) for name in ("LABELS", "UNITS", "DESCRIPTIONS"))
    for name, texts in (("LABELS", labels), ("UNITS", units)):
        if not all(texts):
            source.notes.append(f"ANALOG:{name} is empty for {texts.count('')} of {n} channels")
    if not header.n_analog:
        source.add("analog", "no channels", "none")
        return labels, units, descriptions
    stated = plain_numbers(group.get("RATE")).ravel()
    expected_hz = rate_hz * header.samples_per_frame
    agree = not stated.size or math.isclose(stated[0], expected_hz, rel_tol=1e-4)
    rate = f"{stated[0]:g} Hz" if stated.size else "missing"
    known = ", ".join(repr(unit) for unit in dict.fromkeys(units) if unit) or "none"
    samples = f"{header.samples_per_frame} samples a frame"
    source.add(
        "analog",
        f"{header.n_channels} channels, {samples}, ANALOG:RATE {rate}, units {known}",
        f"{expected_hz:g} samples per second, scaled by GEN_SCALE, SCALE and OFFSET, units unchanged",
        "" if agree else "correct ANALOG:RATE in the file",
        note="" if agree else f"ANALOG:RATE is {rate}, {samples} make {expected_hz:g}: the latter rate is used",
    )
    return labels, units, descriptions


def _events(
    source: Source, group: Group, header_events: list[Event], header: Header, rate_hz: float
) -> tuple[Event, ...]:
    """Events of the EVENT group, or else of the header, in order of time.

    Those of the group count from frame 1 of the capture. Where the counts of events, times, labels and contexts do not
    agree, their number is a guess.
    """
    shift_s = -(header.first_frame - 1) / rate_hz
    used = plain_numbers(group.get("USED")).ravel()
    parts = [plain_numbers(group[key]).ravel(order="F") for key in continued(group, "TIMES")]
    times = [t for part in parts if part.size % 2 == 0 for t in (part.reshape(-1, 2) @ [60.0, 1.0]).tolist()]
    n = int(np.clip(used[0], 0, len(times))) if used.size and np.isfinite(used[0]) else len(times)
    texts = {name: _continued(group, name) for name in ("LABELS", "CONTEXTS")}
    every = [plain_numbers(group[key]) for key in group if key.startswith("TIMES")]
    n_times = sum(values.size // 2 for values in every if values.any())
    few = [f", {sum(map(bool, text[:n]))} {name}" for name, text in texts.items() if not all(_padded(text, n))]
    if (n_times or used.any() or any(texts.values())) and (list(used) != [n] or n_times != n or few):
        counts = ", ".join(f"{count:g}" for count in used[:3]) or "not stated"
        stated = f"EVENT:USED is {counts}, with {n_times} TIMES{''.join(few)}"
        source.add("number of events", stated, f"{n} events read", "correct the counts of the group EVENT in the file")
    rows = zip(*(_padded(text, n) for text in texts.values()), times[:n], strict=True)
    events = [Event(label, context, time_s + shift_s) for label, context, time_s in rows]
    stated = f"{len(events)} in the group EVENT, which count from frame 1 of the capture"
    made = f"{shift_s:+.3f} s added" if shift_s else "times unchanged"
    if not events:
        events = header_events
        stated, made = f"{len(events)} in the header, which count from the first frame of the file", "times unchanged"
    source.add("events", stated if events else "none", made if events else "none")
    timed = sorted((event for event in events if math.isfinite(event.time_s)), key=attrgetter("time_s"))
    if len(timed) < len(events):
        source.notes.append(f"{len(events) - len(timed)} events have no time and are left out")
    return tuple(timed)
