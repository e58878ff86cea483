"""C3D files whose parameters are wrong, one at a time, and what of their numbers changes without a word."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from c3d_files import DEC, INTEL, MIPS, raw_c3d, real, whole
from limbtorque.recordings.c3d.header import Groups, Parameter, numbers, parse_parameters, texts
from limbtorque.recordings.recording import ForcePlate, Recording

Case = tuple[str, bytes]  # "GROUP:NAME: what was done", and the file
Values = np.ndarray | list[str]

STANDARD = {  # the groups of the C3D user guide (c3d.org) that say what a number means
    "POINT": [
        "USED",
        "SCALE",
        "RATE",
        "FRAMES",
        "DATA_START",
        "LABELS",
        "UNITS",
        "X_SCREEN",
        "Y_SCREEN",
        "LONG_FRAMES",
    ],
    "ANALOG": ["USED", "LABELS", "UNITS", "GEN_SCALE", "SCALE", "OFFSET", "RATE", "FORMAT", "BITS"],
    "FORCE_PLATFORM": ["USED", "TYPE", "ZERO", "CORNERS", "ORIGIN", "CHANNEL", "CAL_MATRIX"],
    "EVENT": ["USED", "TIMES", "LABELS", "CONTEXTS"],
    "TRIAL": ["ACTUAL_START_FIELD", "ACTUAL_END_FIELD"],
}
FACTORS = (-1.0, 10.0, 0.1, 1e3, 1e-3, 1e30, 1e-30, 2.0, 1.02)
SINGLE = (0.0, -1.0, 1.0, 7.0, 1e8, 3e9, np.nan, np.inf, -np.inf)
WORDS = ("", "N", "kN", "V", "mm", "cm", "m", "Nmm", "Nm", "in", "SIGNED", "UNSIGNED", "x" * 40, "\0", "\xff")
PLATE_MM = (600.0, 400.0)  # along the way and across it
DEPTH_M = 0.04
LEVERS_M = (0.12, 0.2)  # of the sensors of a plate of type 3
STRONG = np.array([1.5, 1.5, 6.0, 740.0, 740.0, 390.0])  # N and N mm for each unit of a plate's signals
CALIBRATION = np.diag(STRONG) + 0.005 * np.sqrt(np.outer(STRONG, STRONG)) * np.cos(np.arange(36)).reshape(6, 6)


# ---- good files ----


def force_bases(folder: Path) -> dict[str, bytes]:
    """Good files of a foot that rolls over two plates, for each type of plate; numbers are not the scaled ones."""
    kinds = (
        ("intel", INTEL, 1, -1.0),
        ("intel", INTEL, 2, -1.0),
        ("mips", MIPS, 2, 0.1),
        ("dec", DEC, 3, 0.1),
        ("intel", INTEL, 4, 0.1),
    )
    return {
        f"{name} {'real' if scale < 0 else 'integer'} type {kind}": _force_base(folder / "base.c3d", order, kind, scale)
        for name, order, kind, scale in kinds
    }


def _force_base(path: Path, processor: int, kind: int, scale: float) -> bytes:
    force, point = zip(*(_step(number) for number in range(2)), strict=True)
    channels = [_channels(kind, f, p) for f, p in zip(force, point, strict=True)]
    names, units = _named(kind)
    values = np.hstack([*channels, 0.2 * np.sin(np.arange(len(force[0])))[:, None]])  # the last: an electromyogram, V
    n = values.shape[1]
    unit = np.abs(values).max(axis=0) / 1500.0
    signs = np.where(np.arange(n) < n // 2, -1.0, 1.0)  # of the first plate's channels as amplifiers often have them
    offset = np.full(n, 2048)
    corners, origin = _corners(), np.array([[0.0, 0.0, -1e3 * DEPTH_M]] * 2).T
    if kind == 3:
        origin[:2] = 1e3 * np.array(LEVERS_M)[:, None]
    group = {
        "USED": np.array(2),
        "TYPE": np.full(2, kind),
        "ZERO": np.array([0, 0]),
        "CORNERS": corners,
        "ORIGIN": origin,
        "CHANNEL": np.arange(1, n).reshape(2, -1).T,
    }
    if kind == 4:
        group["CAL_MATRIX"] = np.stack([CALIBRATION] * 2, axis=2)
    event = {
        "USED": np.array(2),
        "TIMES": np.array([[0.0, 0.0], [0.05, 0.3]]),
        "LABELS": ["Foot Strike", "Foot Off"],
        "CONTEXTS": ["Left"] * 2,
    }
    stored = values / (0.5 * signs * unit) + offset
    analog = {
        "LABELS": [f"{name}{k}" for k in (1, 2) for name in names] + ["EMG"],
        "UNITS": [*units, *units, "V"],
        "GEN_SCALE": np.array(0.5),
        "SCALE": signs * unit,
        "OFFSET": offset,
        "FORMAT": ["SIGNED"],
        "BITS": np.array(12),
    }
    return raw_c3d(
        path,
        _markers_mm(),
        processor=processor,
        scale=scale,
        analog=stored if scale < 0 else np.rint(stored),
        parameters={
            "POINT": {"LABELS": ["HIP", "KNE", "ANK", "HEE", "TOE"]},
            "ANALOG": analog,
            "FORCE_PLATFORM": group,
            "EVENT": event,
        },
    ).read_bytes()


def _corners() -> np.ndarray:
    """Corners (3, 4, 2), mm: two plates one after the other along x; z of the plates is down."""
    x, y = PLATE_MM[0] / 2, PLATE_MM[1] / 2
    middle = np.array([[0.0, 100.0, 0.0], [PLATE_MM[0] + 10.0, 100.0, 0.0]])
    turned = np.array([[x, -y, 0.0], [-x, -y, 0.0], [-x, y, 0.0], [x, y, 0.0]])
    return (turned[None] + middle[:, None]).transpose(2, 1, 0)


def _step(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Force and point of a step on plate `number`, (n, 3), in the plate's axes from the middle of its surface: N, m."""
    u = np.clip((np.arange(160) / 160 - 0.45 * number - 0.05) / 0.45, 0.0, 1.0)
    vertical = 700.0 * np.sin(np.pi * u) * (1.0 + 0.3 * np.cos(4 * np.pi * u))
    force = np.stack([0.2 * vertical * np.sin(2 * np.pi * u), -0.05 * vertical, -vertical], axis=1)
    point = np.stack([-0.12 + 0.25 * u, 0.03 - 0.02 * u, 0.0 * u], axis=1)
    return force, point


def _channels(kind: int, force: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Scaled channels of a plate of a type; moments in N mm about the sensor."""
    moment = np.cross(point - [0.0, 0.0, DEPTH_M], force)
    if kind == 1:
        return np.hstack([force, 1e3 * point[:, :2], -10.0 * point[:, :1] * force[:, 2:]])
    if kind == 3:
        a, b = LEVERS_M
        x, y, z = force.T
        tilt, roll = moment[:, 0] / b, -moment[:, 1] / a
        twist = moment[:, 2] / (2 * b)
        quarters = [(z + tilt + roll) / 4, (z + tilt - roll) / 4, (z - tilt - roll) / 4, (z - tilt + roll) / 4]
        return np.stack([x / 2 - twist, x / 2 + twist, y / 2, y / 2, *quarters], axis=1)
    six = np.hstack([force, 1e3 * moment])
    return six if kind == 2 else six @ np.linalg.inv(CALIBRATION).T


def _named(kind: int) -> tuple[list[str], list[str]]:
    """Names and units of the channels of a plate."""
    if kind == 3:
        return ["Fx12_", "Fx34_", "Fy14_", "Fy23_", "Fz1_", "Fz2_", "Fz3_", "Fz4_"], ["N"] * 8
    last = {1: ["mm", "mm", "Nmm"], 2: ["Nmm"] * 3, 4: ["Nmm"] * 3}[kind]
    return ["Fx", "Fy", "Fz", *(["Ax", "Ay", "Mz"] if kind == 1 else ["Mx", "My", "Mz"])], ["N"] * 3 + last


def _markers_mm() -> np.ndarray:
    """A leg over the plates, (40, 5, 3), mm."""
    t = np.arange(40)[:, None] / 40.0
    x = 550.0 * t + np.array([0.0, 40.0, -20.0, -90.0, 110.0])
    z = 5.0 * t + np.array([850.0, 480.0, 90.0, 40.0, 30.0])
    return np.stack([x, 0.0 * x + 90.0, z], axis=2)


# ---- wrong parameters ----


def parameter_cases(raw: bytes, *, seed: int, share: float = 1.0) -> Iterator[Case]:
    """A good file with each standard parameter in turn wrong in each way.

    Drawn from the seed: single elements with other values, orders and factors; and `share` of all cases.
    """
    rng, draw = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    processor = raw[(raw[0] - 1) * 512 + 3]
    groups, *_ = parse_parameters(raw, processor)
    for group, names in STANDARD.items():
        for name in names:
            found = groups.get(group, {}).get(name)
            for what, parameter in _wrong(found, processor, rng):
                if draw.random() < share:
                    yield f"{group}:{name}: {what}", with_parameter(raw, group, name, parameter)
    for group in STANDARD:
        if group in groups:
            kept = {name: entries for name, entries in groups.items() if name != group}
            yield f"{group}: absent", _with_groups(raw, kept, processor)


def _wrong(found: Parameter | None, processor: int, rng: np.random.Generator) -> Iterator[tuple[str, Parameter | None]]:
    """Wrong forms of a parameter, which may be missing in the good file."""
    if found is not None:
        yield "absent", None
        yield from _other_bytes(found)
    if found is not None and found.size < 0:
        yield from ((what, text_rows(rows)) for what, rows in _other_texts(texts(found), rng))
        yield "numbers", real_values(np.arange(1.0, 4.0), processor)
        return
    for value in SINGLE:
        yield f"one number, {value:g}", real_values(np.array([value]), processor)
    yield "one integer, 3", _whole(np.array([3]), processor)
    yield "text", text_rows(["abcd"])
    if found is not None:
        values = numbers(found, processor).reshape(found.shape or (1,), order="F")
        for what, array in _other_numbers(values, rng):
            yield what, real_values(array, processor)
        yield "rounded to integers", _whole(values, processor)


def _other_bytes(found: Parameter) -> Iterator[tuple[str, Parameter]]:
    """Other element types and dimensions over the same bytes."""
    for size in (-1, 1, 2, 4):
        if size != found.size:
            n = len(found.content) // abs(size)
            yield f"{n} elements of type {size}", Parameter(size, _dimensions(n), found.content[: n * abs(size)])
    yield "no elements", replace(found, shape=(0,), content=b"")
    yield "element type 3", replace(found, size=3)
    yield "other order of dimensions", replace(found, shape=found.shape[::-1])
    yield "8 dimensions", replace(found, shape=(*found.shape, *[1] * (8 - len(found.shape))))
    yield "65 dimensions", replace(found, shape=(*found.shape, *[1] * (65 - len(found.shape))))
    yield "255 dimensions", replace(found, shape=(*found.shape, *[1] * (255 - len(found.shape))))


def _dimensions(n: int) -> tuple[int, ...]:
    return (n,) if n < 256 else (2, n // 2) if n < 510 else (4, n // 4)


def _other_texts(rows: list[str], rng: np.random.Generator) -> Iterator[tuple[str, list[str]]]:
    yield "one row fewer", rows[:-1]
    yield "the first row alone", rows[:1]
    yield "one row more", [*rows, "more"]
    yield "rows in reverse", rows[::-1]
    for word in WORDS:
        yield f"every row {word!r}", [word] * max(len(rows), 1)
        k = int(rng.integers(len(rows))) if rows else 0
        yield f"row {k} {word!r}", [*rows[:k], word, *rows[k + 1 :]]
    if len(rows) > 1:
        a, b = rng.choice(len(rows), size=2, replace=False)
        swapped = list(rows)
        swapped[a], swapped[b] = rows[b], rows[a]
        yield f"rows {a} and {b} exchanged", swapped


def _other_numbers(values: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Too few, too many, other sizes, signs and orders of numbers."""
    yield "one fewer", values[..., :-1]
    yield "the first alone", values[..., :1]
    yield "one more", np.concatenate([values, values[..., -1:]], axis=-1)
    yield "twice as many", np.concatenate([values, values], axis=-1)
    for factor in FACTORS:
        yield f"times {factor:g}", factor * values
    for value in (0.0, 1.0, 2.0, 3.0, 4.0, np.nan, np.inf):  # the types of plates among them
        yield f"all {value:g}", np.full(values.shape, value)
        yield f"element of {value:g}", _with_element(values, value, rng)
    for factor in (-1.0, 1e3, 1e-3, float(rng.uniform(0.3, 3.0)), float(np.exp(rng.uniform(-12, 12)))):
        k = tuple(int(rng.integers(n)) for n in values.shape)
        changed = values.copy()
        changed[k] *= factor
        yield f"element {k} times {factor:.4g}", changed
    yield "in reverse", values[..., ::-1]
    yield "next plate's or channel's", np.roll(values, 1, axis=-1)
    if values.ndim > 1:
        yield "first dimension in reverse", values[::-1]
        yield "first dimension turned by one", np.roll(values, 1, axis=0)
        yield "second dimension turned by one", np.roll(values, 1, axis=1)
        if values.shape[0] == values.shape[1]:
            yield "transposed", np.swapaxes(values, 0, 1)
    if values.size > 1:
        a, b = rng.choice(values.size, size=2, replace=False)
        flat = values.ravel(order="F").copy()
        flat[[a, b]] = flat[[b, a]]
        yield f"elements {a} and {b} exchanged", flat.reshape(values.shape, order="F")
        flat = values.ravel(order="F").copy()
        flat[a] = flat[b]
        yield f"element {a} that of {b}", flat.reshape(values.shape, order="F")


def _with_element(values: np.ndarray, value: float, rng: np.random.Generator) -> np.ndarray:
    changed = values.astype(float)
    if changed.size:
        changed[tuple(int(rng.integers(n)) for n in changed.shape)] = value
    return changed


def real_values(values: np.ndarray, processor: int) -> Parameter:
    """Parameter of real numbers with the dimensions of an array."""
    with np.errstate(over="ignore", invalid="ignore"):
        return Parameter(4, values.shape, real(values.ravel(order="F"), processor))


def _whole(values: np.ndarray, processor: int) -> Parameter:
    return Parameter(2, values.shape, whole(np.rint(values).ravel(order="F"), processor))


def text_rows(rows: Sequence[str]) -> Parameter:
    """Parameter of texts, padded to one length."""
    plain = [row.encode("utf-8", "surrogateescape") for row in rows]
    width = max(map(len, plain), default=0)
    return Parameter(-1, (width, len(plain)), b"".join(row.ljust(width) for row in plain))


def with_parameter(raw: bytes, group: str, name: str, parameter: Parameter | None) -> bytes:
    """A C3D file with one parameter set, or taken out, and all else the same.

    `raw` begins its parameters in the second block; descriptions are left out.
    """
    processor = raw[515]
    groups = {key: dict(entries) for key, entries in parse_parameters(raw, processor)[0].items()}
    entries = groups.setdefault(group, {})
    entries.pop(name, None)
    if parameter is not None:
        entries[name] = parameter
    return _with_groups(raw, groups, processor, keep_start=(group, name) == ("POINT", "DATA_START"))


def _with_groups(raw: bytes, groups: Groups, processor: int, *, keep_start: bool = False) -> bytes:
    start = (int(np.frombuffer(raw, ">u2" if processor == MIPS else "<u2", 1, 16)[0]) - 1) * 512
    blocks = -(-len(_entries(groups, processor)) // 512)
    if not keep_start and "DATA_START" in groups.get("POINT", {}):
        groups["POINT"]["DATA_START"] = Parameter(2, (), whole([blocks + 2], processor))
    section = (bytes([1, 80, min(blocks, 255), processor]) + _entries(groups, processor)[4:]).ljust(512 * blocks, b"\0")
    return raw[:16] + whole([blocks + 2], processor) + raw[18:512] + section + raw[start:]


def _entries(groups: Groups, processor: int) -> bytes:
    """The section with its four bytes at the front and its end mark."""
    body = bytes(4)
    for number, (group, entries) in enumerate(groups.items(), start=1):
        body += _entry(group, -number, b"\0", processor)
        for name, parameter in entries.items():
            shape = bytes(min(n, 255) for n in parameter.shape)
            head = struct.pack("<bB", parameter.size, len(shape)) + shape
            body += _entry(name, number, head + parameter.content + b"\0", processor)
    return body + bytes(2)


def _entry(name: str, group: int, body: bytes, processor: int) -> bytes:
    return struct.pack("<bb", len(name), group) + name.encode() + whole([len(body) + 2], processor) + body


# ---- judging ----


def silently_changed(before: Recording, after: Recording) -> tuple[str, ...]:
    """Names of the numbers that differ although the reader says nothing of it.

    Parameters
    ----------
    before, after : Recording
        As read from the good file and from the damaged one.

    Returns
    -------
    tuple of str
        Fields that changed; empty where none did, or where `after` has a note or a guess that `before` does not have.
    """
    return () if _said(after) - _said(before) else tuple(_changes(before, after))


def _said(recording: Recording) -> set[str]:
    return {*recording.notes, *(guess.sentence for guess in recording.audit.guesses)}


def _changes(before: Recording, after: Recording) -> Iterator[str]:
    pairs = {
        "rate": (before.rate_hz, after.rate_hz),
        "frames": ((before.n_frames, before.first_frame), (after.n_frames, after.first_frame)),
        "labels": (before.labels, after.labels),
        "analog labels": (before.analog_labels, after.analog_labels),
        "analog units": (before.analog_units, after.analog_units),
        "analog rate": (before.analog_rate_hz, after.analog_rate_hz),
        "events": (before.events, after.events),
        "plates": tuple([(p.number, p.kind, p.rate_hz) for p in r.force_plates] for r in (before, after)),
    }
    yield from (name for name, (old, new) in pairs.items() if old != new)
    if not _same(before.markers_m, after.markers_m):
        yield "positions"
    if not _same(before.analog, after.analog):
        yield "analog"
    for old in before.force_plates:
        for new in after.force_plates:
            if new.number == old.number:
                yield from (f"plate {old.number} {name}" for name in _plate_changes(old, new))


def _plate_changes(old: ForcePlate, new: ForcePlate) -> Iterator[str]:
    if not _same(old.corners_m, new.corners_m):
        yield "corners"
    if not _same(old.force_n, new.force_n):
        yield "force"
    if not _same(_about_middle(old), _about_middle(new)):
        yield "moment"


def _about_middle(plate: ForcePlate) -> np.ndarray:
    """Moment about the middle of the plate: with the force, the centre of pressure on it."""
    return plate.moment_nm - np.cross(plate.corners_m.mean(axis=0), plate.force_n)


def _same(old: np.ndarray, new: np.ndarray) -> bool:
    size = float(np.nanmax(np.abs(old), initial=0.0))
    return old.shape == new.shape and bool(
        np.allclose(old, new, rtol=1e-6, atol=1e-6 * max(size, math.ulp(1.0)), equal_nan=True)
    )
