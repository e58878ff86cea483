"""Small C3D files for tests, written with ezc3d, and their bytes changed."""

import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np

# A plate of 0.4 m by 0.6 m, its centre at (1, 2, 0) m, in mm; corners in order +x+y, -x+y, -x-y, +x-y.
# Its x is the laboratory's x, its y the laboratory's -y, its z down.
CORNERS_MM = np.array([[1200.0, 1700.0, 0.0], [800.0, 1700.0, 0.0], [800.0, 2300.0, 0.0], [1200.0, 2300.0, 0.0]])


def positions(n_frames: int = 10, n_points: int = 3) -> np.ndarray:
    """Points that tremble by a millimetre: slower than a body."""
    random = np.random.default_rng(7)
    return 4.0 + random.normal(size=(n_points, 3)) + 1e-3 * random.normal(size=(n_frames, n_points, 3))


def write_c3d(
    path: Path,
    positions: np.ndarray,
    *,
    labels: Sequence[str] | None = None,
    units: str = "m",
    rate_hz: float = 100.0,
    first_frame: int = 1,
    point: dict[str, Any] | None = None,
    groups: dict[str, dict[str, Any]] | None = None,
    analog: np.ndarray | None = None,
    analog_units: Sequence[str] = (),
    residual: np.ndarray | None = None,
) -> Path:
    """Write positions (n_frames, n_points, 3), in `units`, and analog channels (n_samples, n_channels)."""
    c3d = ezc3d.c3d()
    n_frames, n_points, _ = positions.shape
    c3d["parameters"]["POINT"]["UNITS"]["value"] = [units]
    c3d["parameters"]["POINT"]["RATE"]["value"] = [rate_hz]
    c3d["parameters"]["POINT"]["LABELS"]["value"] = list(labels or [f"M{i}" for i in range(n_points)])
    values = np.ones((4, n_points, n_frames))
    values[:3] = positions.transpose(2, 1, 0)
    c3d["data"]["points"] = values
    if residual is not None:
        c3d["data"]["meta_points"]["residuals"] = residual.T[np.newaxis]
    if analog is not None:
        c3d["parameters"]["ANALOG"]["RATE"]["value"] = [rate_hz * len(analog) / n_frames]
        c3d["parameters"]["ANALOG"]["LABELS"]["value"] = [f"A{i + 1}" for i in range(analog.shape[1])]
        c3d["parameters"]["ANALOG"]["UNITS"]["value"] = list(analog_units)
        c3d["data"]["analogs"] = analog.T[np.newaxis]
    for group, parameters in {"POINT": point or {}, **(groups or {})}.items():
        for name, value in parameters.items():
            c3d.add_parameter(group, name, value)
    c3d["header"]["points"]["first_frame"] = first_frame - 1
    c3d.write(str(path))
    return path


def plate(kind: int, *, channels: int = 6, corners_mm: np.ndarray = CORNERS_MM, **more: Any) -> dict[str, Any]:
    """Parameters of FORCE_PLATFORM for one plate."""
    return {
        "FORCE_PLATFORM": {
            "USED": [1],
            "TYPE": [kind],
            "CORNERS": corners_mm.T[:, :, np.newaxis],
            "ORIGIN": np.array([[0.0], [0.0], [-40.0]]),
            "CHANNEL": np.arange(1.0, channels + 1.0)[:, np.newaxis],
            **more,
        }
    }


def changed(source: Path, target: Path, layout: str, offset: int, value: float) -> Path:
    """Copy a file with one value of its bytes replaced."""
    raw = bytearray(source.read_bytes())
    struct.pack_into(layout, raw, offset, value)
    target.write_bytes(raw)
    return target


def offset_of(source: Path, parameter: str) -> int:
    """Where the first value of a parameter of the group POINT begins."""
    raw, name = source.read_bytes(), parameter.encode()
    point = re.search(rb"[\x05\xfb]([\x80-\xff])POINT", raw[512:])
    assert point is not None
    group = 256 - point[1][0]
    lengths = bytes([len(name), 256 - len(name)])  # negative: locked
    entry = re.search(b"[" + re.escape(lengths) + b"]" + re.escape(bytes([group])) + name, raw[512:])
    assert entry is not None
    begin = 512 + entry.end() + 2
    return begin + 2 + raw[begin + 1]


INTEL, DEC, MIPS = 84, 85, 86


def real(values: Any, processor: int) -> bytes:
    """Numbers of four bytes in a byte order; a DEC number has its words swapped and its exponent two higher."""
    plain = np.atleast_1d(np.asarray(values, dtype=float))
    if processor == MIPS:
        return plain.astype(">f4").tobytes()
    if processor == DEC:
        return np.ascontiguousarray((4.0 * plain).astype("<f4").view("<u2").reshape(-1, 2)[:, ::-1]).tobytes()
    return plain.astype("<f4").tobytes()


def whole(values: Any, processor: int) -> bytes:
    """Numbers of two bytes in a byte order."""
    return (
        (np.atleast_1d(np.asarray(values)).astype(np.int64) & 0xFFFF)
        .astype(">u2" if processor == MIPS else "<u2")
        .tobytes()
    )


def _entry(name: str, group: int, body: bytes, processor: int) -> bytes:
    return struct.pack("<bb", len(name), group) + name.encode() + whole(len(body) + 2, processor) + body


def _parameter(value: Any, processor: int) -> bytes:
    """Type, dimensions, values and an empty description: bytes are text rows, float and int arrays numbers."""
    if isinstance(value, list) and value and isinstance(value[0], str | bytes):
        rows = [text.encode() if isinstance(text, str) else text for text in value]
        width = max(max(map(len, rows)), 1)
        return struct.pack("<bBBB", -1, 2, width, len(rows)) + b"".join(row.ljust(width) for row in rows) + b"\0"
    array = np.asarray(value)
    shape = bytes(array.shape)
    flat = array.ravel(order="F")
    if array.dtype == np.int8:
        return struct.pack("<bB", 1, array.ndim) + shape + flat.tobytes() + b"\0"
    if array.dtype.kind in "iu":
        return struct.pack("<bB", 2, array.ndim) + shape + whole(flat, processor) + b"\0"
    return struct.pack("<bB", 4, array.ndim) + shape + real(flat, processor) + b"\0"


def raw_c3d(
    path: Path,
    positions: np.ndarray,
    *,
    processor: int = INTEL,
    scale: float = -1.0,
    rate_hz: float = 100.0,
    analog: np.ndarray | None = None,
    missing: np.ndarray | None = None,
    words: dict[int, int] | None = None,
    parameters: dict[str, dict[str, Any]] | None = None,
    full: bool = False,
) -> Path:
    """Write a C3D file byte by byte, as the C3D user guide describes it, without any library.

    `positions` (n_frames, n_points, 3) are in mm; a positive `scale` writes integers. `analog` (n_samples, n_channels)
    are the stored numbers. `missing` (n_frames, n_points) gets the residual -1. `words` change words of the header,
    counted from 1; `parameters` add to or replace those of the groups POINT, ANALOG, TRIAL, EVENT, ...
    `full` fills the last block of the parameters to its end, where no end mark has room.
    """
    n_frames, n_points, _ = positions.shape
    per_frame = 0 if analog is None else len(analog) // n_frames
    n_channels = 0 if analog is None else analog.shape[1]
    groups: dict[str, dict[str, Any]] = {
        "POINT": {
            "USED": np.array(n_points),
            "FRAMES": np.array(min(n_frames, 65535)),
            "SCALE": np.array(scale),
            "RATE": np.array(rate_hz),
            "DATA_START": np.array(0),
            "UNITS": ["mm"],
        },
        "ANALOG": {"USED": np.array(n_channels), "RATE": np.array(rate_hz * per_frame), "GEN_SCALE": np.array(1.0)},
    }
    labels = [f"M{i}" for i in range(n_points)]
    for k in range(0, n_points, 255):
        groups["POINT"][f"LABELS{k // 255 + 1 if k else ''}"] = labels[k : k + 255]
    if n_channels:
        groups["ANALOG"] |= {
            "LABELS": [f"A{i}" for i in range(n_channels)],
            "UNITS": ["V"] * n_channels,
            "SCALE": np.ones(n_channels),
            "OFFSET": np.zeros(n_channels, dtype=int),
        }
    for group, entries in (parameters or {}).items():
        groups.setdefault(group, {}).update(entries)
    body = b""
    for number, (group, entries) in enumerate(groups.items(), start=1):
        body += _entry(group, -number, b"\0", processor)
        for name, value in entries.items():
            if value is not None:
                body += _entry(name, number, _parameter(value, processor), processor)
    body += _filler(len(groups) + 1, -(len(body) + 4) % 512, processor) if full else bytes(2)
    blocks = -(-(len(body) + 4) // 512)
    section = (bytes([1, 80, min(blocks, 255), processor]) + body).ljust(512 * blocks, b"\0")
    header = bytearray(512)
    header[:2] = b"\x02\x50"
    first = {2: n_points, 3: per_frame * n_channels, 4: 1, 5: min(n_frames, 65535), 9: blocks + 2, 10: per_frame}
    for word, value in (first | (words or {})).items():
        header[2 * word - 2 : 2 * word] = whole(value, processor)
    header[12:16], header[20:24] = real(scale, processor), real(rate_hz, processor)
    path.write_bytes(bytes(header) + section + _data(positions, analog, missing, scale, processor))
    return path


def _filler(group: int, n_bytes: int, processor: int) -> bytes:
    """A group and texts of exactly so many bytes, or a block more."""
    body = _entry("FILL", -group, b"\0", processor)
    rest = n_bytes - len(body) if n_bytes >= 30 else n_bytes + 512 - len(body)
    while rest:
        width = rest - 10 if rest <= 210 else min(200, rest - 30)
        body += _entry("T", group, _parameter(["x" * width], processor), processor)
        rest -= width + 10
    return body


def _data(
    positions: np.ndarray, analog: np.ndarray | None, missing: np.ndarray | None, scale: float, processor: int
) -> bytes:
    n_frames, n_points, _ = positions.shape
    points = np.zeros((n_frames, n_points, 4))
    points[:, :, :3] = positions if scale < 0 else np.rint(positions / scale)
    if missing is not None:
        points[missing] = [0.0, 0.0, 0.0, -1.0]
    samples = np.zeros((n_frames, 0)) if analog is None else analog.reshape(n_frames, -1)
    frames = np.hstack([points.reshape(n_frames, -1), samples])
    raw = real(frames.ravel(), processor) if scale < 0 else whole(frames.ravel(), processor)
    return raw.ljust(-(-len(raw) // 512) * 512, b"\0")
