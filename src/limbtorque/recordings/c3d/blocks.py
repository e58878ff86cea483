"""The data section of a C3D file, from its bytes.

A frame is four numbers for each point (x, y, z, and a word that is negative where the point was not measured) and then
the analog numbers, all of them real (four bytes) or all integers (two bytes). So the whole section is one array, and
reading it is a matter of looking at it the right way. Checked against ezc3d and the package c3d on files of seven
programs and in all byte orders (tests/recordings/test_c3d_libraries.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.contents import Contents, header_events
from limbtorque.recordings.c3d.header import Header
from limbtorque.recordings.c3d.parameters import MIPS, real_numbers, value
from limbtorque.recordings.c3d.scaling import analog_scale, is_unsigned

USED = ("POINT", "ANALOG", "FORCE_PLATFORM", "EVENT")


def with_blocks(path: Path, raw: bytes, header: Header) -> Contents:
    """Contents of a file, from its bytes.

    Parameters
    ----------
    path : Path
        Its name, for messages.
    raw : bytes
        The whole file.
    header : Header
        Its counts, which the file is long enough for.

    Raises
    ------
    ReadError
        The parameter section breaks off, so that what it says is not all there is.
    """
    if header.broken_at is not None:
        raise ReadError(
            f"{path.name}: the parameters cannot be followed beyond byte {header.broken_at}; export it again"
        )
    numbers = _numbers(raw, header)
    n_points = header.n_points
    points = numbers[:, : 4 * n_points].reshape(header.n_frames, n_points, 4)
    with np.errstate(invalid="ignore"):
        xyz = points[:, :, :3].astype(float)
    if header.scale > 0:
        xyz *= header.scale
    analog = _analog(numbers[:, 4 * n_points :], header) if header.n_channels else np.zeros((0, 0))
    return Contents(
        reader="limbtorque.recordings.c3d.blocks",
        groups={
            group: {
                name: value(entry, header.processor)
                for name, entry in header.parameters.get(group, {}).items()
                if group in ("ANALOG", "POINT") or not name.startswith("DESCRIPTIONS")
            }
            for group in USED
        },
        xyz=xyz,
        residual=points[:, :, 3].copy(),  # without the bytes of the file
        analog=analog,
        header_events=header_events(raw, header),
    )


def _analog(stored: NDArray[Any], header: Header) -> FloatArray:
    """Analog channels (n_samples, n_channels) from numbers (n_frames, n_numbers)."""
    scale, offset = analog_scale(header)
    if header.scale > 0 and is_unsigned(header):
        stored = stored.astype(np.uint16)
    with np.errstate(invalid="ignore", over="ignore"):
        analog: FloatArray = stored.astype(float).reshape(-1, header.n_channels)
        if offset.any():
            analog -= offset
        if (scale != 1.0).any():
            analog *= scale
    return analog


def _numbers(raw: bytes, header: Header) -> NDArray[Any]:
    """Numbers of the data section, (n_frames, n_numbers), as they are stored."""
    per_frame = 4 * header.n_points + header.n_analog
    n = header.n_frames * per_frame
    order = ">" if header.processor == MIPS else "<"
    if header.scale > 0:
        return np.frombuffer(raw, dtype=f"{order}i2", count=n, offset=header.data_start).reshape(-1, per_frame)
    if header.is_dec:
        section = raw[header.data_start : header.data_start + 4 * n]
        return real_numbers(section, header.processor).reshape(-1, per_frame)
    return np.frombuffer(raw, dtype=f"{order}f4", count=n, offset=header.data_start).reshape(-1, per_frame)
