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


def without_last_label(source: Path) -> Path:
    """Take the last of POINT:LABELS away: the file then has more points than labels."""
    raw = bytearray(source.read_bytes())
    at = offset_of(source, "LABELS")  # behind: distance to the next, -1, 2 dimensions, length, number
    length, number = raw[at - 2], raw[at - 1]
    (distance,) = struct.unpack_from("<H", raw, at - 6)
    struct.pack_into("<H", raw, at - 6, distance - length)
    raw[at - 1] = number - 1
    data = (struct.unpack_from("<H", raw, 16)[0] - 1) * 512
    raw[data:data] = bytes(length)
    del raw[at + (number - 1) * length : at + number * length]
    source.write_bytes(raw)
    return source
