"""Files damaged on purpose, from a seed: the same cases on every machine."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import keypoint_files
import numpy as np

import text_files
from c3d_files import DEC, INTEL, MIPS, plate, raw_c3d
from limbtorque.recordings.recording import Recording

Case = tuple[str, bytes]  # what was done, and the file
LABELS = (
    *("a,b", 'a "quoted" name', "two\nlines", "../../etc/passwd", "C:\\x", "<script>alert(1)</script>", "a\u200bb"),
    *("=1+1", "%s%n", "a\tb", " ", "\0", "ü" * 60, "𝛀", "nan", "S:", ":", "S:S:A", "'; DROP", "\\", "{side}"),
    "\u202eRTL",
)
SCALES = (0.0, -0.0, np.nan, np.inf, -np.inf, 1e38, -1e38, 1e-38, -1e-38, 1e6, -1e6)
CELLS = (
    *("", " ", "nan", "NaN", "inf", "-inf", "1e999", "1e-999", "1,5", "1.5.5", "--", "0x10", "1_0", "\uff11\uff12"),
    *("<b>1</b>", '"1', '"1"', "'1'", "1 2", "NULL", "#REF!", "1e400", "-", "+", ".", "1d5", "\u0661", "1\u200b"),
    *("\0", "=A1", "9" * 400),
)


def put(path: Path, content: bytes) -> None:
    """Write a file anew: twenty times faster than truncating an old one, where thousands of cases follow each other."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def c3d_bases(folder: Path) -> dict[str, bytes]:
    """Small good files: every byte order, both kinds of number, analog channels, a force plate, events."""
    i, k = np.meshgrid(np.arange(12), np.arange(1, 5), indexing="ij")
    positions = np.stack([100.0 * k + i, -200.0 * k + 2 * i, 900.0 + 3.0 * k - i], axis=2)
    analog = np.tile(np.array([10, -20, -700, 1500, -2500, 300]), (24, 1))
    group = {name: np.asarray(value) for name, value in plate(2)["FORCE_PLATFORM"].items()}
    group["CHANNEL"] = group["CHANNEL"].astype(int)
    event = {"USED": np.array(1), "TIMES": np.array([[0.0], [0.05]]), "LABELS": ["Off"], "CONTEXTS": ["Left"]}
    units = ["N", "N", "N", "Nmm", "Nmm", "Nmm"]
    more = {"FORCE_PLATFORM": group, "EVENT": event, "ANALOG": {"UNITS": units}}
    return {
        f"{name} {'real' if scale < 0 else 'integer'}": raw_c3d(
            folder / "base.c3d", positions, processor=order, scale=scale, analog=analog, parameters=more
        ).read_bytes()
        for name, order in (("intel", INTEL), ("dec", DEC), ("mips", MIPS))
        for scale in (-1.0, 1.0)
    }


def damaged_c3d(raw: bytes, *, seed: int, n_flips: int) -> Iterator[Case]:
    """A good C3D file, broken in every way that bytes can be."""
    random = np.random.default_rng(seed)
    for n in sorted({*range(0, len(raw), 256), *range(0, 64, 3), len(raw) - 1}):
        yield f"cut to {n} bytes", raw[:n]
    order = ">" if raw[515] == MIPS else "<"
    for word in (*range(1, 13), 149, 150, 151):
        for value in (0, 1, 2, 127, 255, 256, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF):
            yield f"word {word} is {value}", _packed(raw, 2 * word - 2, f"{order}H", value)
    for offset, name in ((12, "scale"), (20, "rate")):
        for value in SCALES:
            yield f"{name} in the header is {value}", _packed(raw, offset, f"{order}f", value)
    for name, at in entries_of(raw).items():  # every parameter: its first value, and the bytes before it
        for value in SCALES:
            yield f"{name} is {value}", _packed(raw, at + 2 + 2 + raw[at + 3], f"{order}f", value)
        for k in range(6):
            for value in (0, 1, 127, 128, 255):
                yield f"byte {k} after {name} is {value}", _packed(raw, at + k, "B", value)
    for name in (b"POINT", b"LABELS", b"UNITS", b"ANALOG"):
        at = raw.index(name)
        for value in (0, 1, 127, 128, 255):
            yield f"length of the name {name.decode()} is {value}", _packed(raw, at - 2, "B", value)
            yield f"group of {name.decode()} is {value}", _packed(raw, at - 1, "B", value)
    head = int.from_bytes(raw[16:18], "big" if order == ">" else "little") * 512 - 512
    for k in range(n_flips):
        damaged = bytearray(raw)
        last = head if k % 3 else len(raw)
        for at in random.integers(0, last, size=1 + k % 4):
            damaged[at] = random.integers(256)
        yield f"flip {k}", bytes(damaged)
    for _ in range(n_flips // 10):
        a, b = sorted(random.integers(0, len(raw), size=2))
        yield f"bytes {a} to {b} taken out", raw[:a] + raw[b:]
        yield f"bytes {a} to {b} twice", raw[:b] + raw[a:]
        yield f"bytes {a} to {b} zero", raw[:a] + bytes(int(b - a)) + raw[b:]


def entries_of(raw: bytes) -> dict[str, int]:
    """Byte after the name of every parameter, by group and name; the parameters begin in the second block."""
    order, at = ("big" if raw[515] == MIPS else "little"), 516
    groups: dict[int, str] = {}
    found = {}
    while raw[at] and raw[at + 1]:
        number = raw[at + 1]
        after = at + 2 + raw[at]
        name = raw[at + 2 : after].decode()
        if number > 127:
            groups[256 - number] = name
        else:
            found[f"{groups[number]}:{name}"] = after
        at = after + int.from_bytes(raw[after : after + 2], order)
    return found


def odd_labels_c3d(folder: Path) -> Iterator[Case]:
    """Good files with labels no one should use."""
    positions = text_files.positions_mm()
    for label in LABELS:
        rows = [label.encode(), b"B", b"C"]
        yield (
            f"label {label!r}",
            raw_c3d(folder / "label.c3d", positions, parameters={"POINT": {"LABELS": rows}}).read_bytes(),
        )


def _packed(raw: bytes, at: int, layout: str, value: float) -> bytes:
    damaged = bytearray(raw)
    struct.pack_into(layout, damaged, at, value)
    return bytes(damaged)


def text_bases(folder: Path) -> dict[str, bytes]:
    """A small good file of every text format, by its name."""
    writers = {
        "a.trc": text_files.write_trc,
        "a.sto": text_files.write_marker_sto,
        "v.sto": text_files.write_vec3_sto,
        "f.mot": text_files.write_grf_mot,
        "a.tsv": text_files.write_qualisys,
        "n.csv": text_files.write_vicon,
        "p.csv": text_files.write_csv,
        "o.csv": text_files.write_optitrack,
        "c.forces": text_files.write_cortex_forces,
        "c.anc": text_files.write_anc,
        "q_f_1.tsv": text_files.write_plate,
        "w.txt": text_files.write_winter,
        "k.json": keypoint_files.write_named,
    }
    return {name: writer(folder / name).read_bytes() for name, writer in writers.items()}


def damaged_text(raw: bytes, *, seed: int, n_flips: int) -> Iterator[Case]:
    """A good text file, broken in every way that lines, cells and bytes can be."""
    random = np.random.default_rng(seed)
    text = raw.decode()
    lines = text.split("\n")
    for n in {*range(0, len(raw), 40), *(raw.find(b"\n", k) for k in range(0, len(raw), 60))}:
        yield f"cut to {n} bytes", raw[:n]
    for k in range(len(lines)):
        yield f"line {k} taken out", "\n".join(lines[:k] + lines[k + 1 :]).encode()
        yield f"line {k} twice", "\n".join([*lines[: k + 1], *lines[k:]]).encode()
        yield f"line {k} cut", "\n".join([*lines[:k], lines[k][: len(lines[k]) // 2], *lines[k + 1 :]]).encode()
    separator = max("\t,", key=text.count)
    for cell in (*CELLS, *LABELS):
        for _ in range(3):
            k = int(random.integers(len(lines)))
            row = lines[k].split(separator)
            row[int(random.integers(len(row)))] = cell
            changed = "\n".join([*lines[:k], separator.join(row), *lines[k + 1 :]])
            yield f"cell {cell!r} in line {k}", changed.encode("utf-8", "replace")
    for old, new in (
        (separator, ";"),
        (separator, " "),
        (".", ","),
        ("\n", "\r\n"),
        ("\n", "\r"),
        ("\n", "\n\n"),
        ("1", ""),
    ):
        yield f"{old!r} became {new!r}", text.replace(old, new).encode()
    for encoding in ("utf-16", "utf-16-le", "utf-8-sig", "utf-32"):
        yield f"in {encoding}", text.encode(encoding)
    for k in range(n_flips):
        damaged = bytearray(raw)
        for at in random.integers(0, len(raw), size=1 + k % 4):
            damaged[at] = random.integers(256)
        yield f"flip {k}", bytes(damaged)


def check_sense(read: Recording, n_bytes: int) -> None:
    """A recording that came out of a damaged file fits together, and is no larger than the file can hold."""
    n = read.n_frames
    assert read.markers_m.shape == (n, len(read.labels), 3)
    assert n >= 1
    assert np.isfinite(read.rate_hz)
    assert read.rate_hz > 0
    missing = np.isnan(read.markers_m)
    assert (missing.any(axis=2) == missing.all(axis=2)).all()
    assert np.isfinite(read.markers_m[~missing]).all()
    assert read.markers_m.size + read.analog.size <= n_bytes
    assert len(read.analog_labels) == len(read.analog_units) == read.analog.shape[1]
    assert all(np.isfinite(event.time_s) for event in read.events)
    for found in read.force_plates:
        assert found.force_n.shape == found.moment_nm.shape
        assert found.corners_m.shape == (4, 3)
        assert np.isfinite(found.corners_m).all()
        wrench = np.hstack([found.force_n, found.moment_nm])
        assert (np.isfinite(wrench).all(axis=1) | np.isnan(wrench).all(axis=1)).all()
