"""Points and analog channels of a C3D file, and findings on their scale.

A frame is four numbers for each point (x, y, z, and a word that is negative where the point was not measured) and then
the analog numbers, all of them real (four bytes) or all integers (two bytes). So the whole section
is one array, read through views. Checked against ezc3d and the package c3d on files of seven
programs and in all byte orders (tests/recordings/test_c3d_libraries.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.header import DEC, MIPS, Header, Parameter, continued, numbers, real_numbers, texts
from limbtorque.recordings.recording import Finding

SCALES = (1e-12, 1e12)  # units of a channel for one step of its numbers
MAX_OFFSET = 65535.0  # the largest number of 16 bits
WRAP = 32768  # a larger step between two samples is a sign read wrong
REAL = 4  # bytes of a real number


def read_samples(raw: bytes, header: Header) -> tuple[FloatArray, NDArray[Any], FloatArray]:
    """Points and analog channels of a file, from its bytes.

    Parameters
    ----------
    raw : bytes
        The whole file.
    header : Header
        Its counts, which the file is long enough for.

    Returns
    -------
    xyz : ndarray of shape (n_frames, n_points, 3)
        Coordinates in the file's unit.
    residual : ndarray of shape (n_frames, n_points)
        The words that hold residuals; negative where the point was not measured.
    analog : ndarray of shape (n_samples, n_channels)
        Analog channels, scaled.
    """
    frames = _numbers(raw, header)
    n_points = header.n_points
    points = frames[:, : 4 * n_points].reshape(header.n_frames, n_points, 4)
    with np.errstate(invalid="ignore"):
        xyz = points[:, :, :3].astype(float)
    if header.scale > 0:
        xyz *= header.scale
    analog: FloatArray = np.zeros((0, 0))
    if header.n_channels:
        scale, offset = analog_scale(header)
        stored = frames[:, 4 * n_points :]
        stored = stored.astype(np.uint16) if header.scale > 0 and is_unsigned(header) else stored
        with np.errstate(invalid="ignore", over="ignore"):  # value = (number - offset) * scale
            analog = stored.astype(float).reshape(-1, header.n_channels)
            if offset.any():
                analog -= offset
            if (scale != 1.0).any():
                analog *= scale
    return xyz, points[:, :, 3].copy(), analog  # without the bytes of the file


def _numbers(raw: bytes, header: Header) -> NDArray[Any]:
    """Numbers of the data section, (n_frames, n_numbers), as they are stored."""
    per_frame = 4 * header.n_points + header.n_analog
    n = header.n_frames * per_frame
    order = ">" if header.processor == MIPS else "<"
    if header.scale > 0:
        return np.frombuffer(raw, dtype=f"{order}i2", count=n, offset=header.data_start).reshape(-1, per_frame)
    if header.processor == DEC:
        section = raw[header.data_start : header.data_start + 4 * n]
        return real_numbers(section, header.processor).reshape(-1, per_frame)
    return np.frombuffer(raw, dtype=f"{order}f4", count=n, offset=header.data_start).reshape(-1, per_frame)


def is_unsigned(header: Header) -> bool:
    """True if ``ANALOG:FORMAT`` declares unsigned integers."""
    return _format(header) == "UNSIGNED"


def _format(header: Header) -> str:
    found = _group(header).get("FORMAT")
    return "".join(texts(found)).strip(" \0").upper() if found is not None else ""


def analog_scale(header: Header) -> tuple[FloatArray, FloatArray]:
    """Scale and offset of each analog channel: a value is (number - offset) * scale.

    Parameters
    ----------
    header : Header
        The file's parameters and counts.

    Returns
    -------
    scale, offset : ndarray of shape (n_channels,)
        ``ANALOG:GEN_SCALE`` times ``SCALE``, and ``OFFSET``, which is unsigned where ``FORMAT`` says so. Continued
        parameters (``SCALE2``, ...) are joined. A parameter that is missing counts as 1, 1 and 0; scale and offset of a
        channel are NaN where the parameter has no value for it, or an impossible one.
    """
    group = _group(header)
    general = _joined(group, "GEN_SCALE", header, 1, 1.0)[0]
    scale = _joined(group, "SCALE", header, header.n_channels, 1.0)
    offset = _joined(group, "OFFSET", header, header.n_channels, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        scale = general * scale
        unknown = ~(_of_a_size(scale) & (np.abs(offset) <= MAX_OFFSET))
    return np.where(unknown, np.nan, scale), np.where(unknown, np.nan, offset)


def _of_a_size(scale: FloatArray) -> BoolArray:
    return np.asarray((np.abs(scale) >= SCALES[0]) & (np.abs(scale) <= SCALES[1]))


def _joined(group: Mapping[str, Parameter], name: str, header: Header, n: int, missing: float) -> FloatArray:
    """Exactly n numbers of a parameter and its continuations, padded with NaN."""
    if name not in group:
        return np.full(n, missing)
    signed = name != "OFFSET" or not is_unsigned(header)
    found = [numbers(group[key], header.processor, signed=signed) for key in continued(group, name)]
    values = np.full(n, np.nan)
    joined = np.concatenate(found)[:n]
    values[: joined.size] = joined
    return values


def refuse_unreadable_scale(header: Header, name: str) -> None:
    """Refuse a file whose analog numbers cannot be scaled.

    Parameters
    ----------
    header : Header
        The file's parameters and counts.
    name : str
        Name of the file, for messages.

    Raises
    ------
    ReadError
        ``ANALOG:GEN_SCALE`` is text, 0, or of a size that no scale has; or a number of ``SCALE`` or ``OFFSET`` is not finite.
    """
    group = _group(header)
    general = _joined(group, "GEN_SCALE", header, 1, 1.0)[0] if header.n_channels else 1.0
    given = [numbers(group[key], header.processor) for key in ("SCALE", "OFFSET") if key in group]
    if np.isinf(general) or not all(np.isfinite(values[: header.n_channels]).all() for values in given):
        raise ReadError(
            f"{name}: ANALOG:GEN_SCALE, SCALE or OFFSET is not a number; the file is damaged, export it again"
        )
    if not _of_a_size(np.array([general]))[0]:
        said = "not a number" if np.isnan(general) else f"{general:g}"
        raise ReadError(
            f"{name}: ANALOG:GEN_SCALE is {said}, expected a size from {SCALES[0]:g} to {SCALES[1]:g}, which multiplies "
            "every analog value; correct it in the file"
        )


def scale_findings(header: Header, analog: FloatArray) -> Iterator[Finding]:
    """Guesses about the scaling of the analog channels.

    Parameters
    ----------
    header : Header
        The file's parameters and counts.
    analog : ndarray of shape (n_samples, n_channels)
        Scaled values.

    Yields
    ------
    Finding
        A guess for each statement that is missing or contradicts another.
    """
    if not header.n_channels:
        return
    group, n = _group(header), header.n_channels
    defaults = {"GEN_SCALE": "1", "SCALE": "1 for every channel", "OFFSET": "0 for every channel"}
    for name, default in defaults.items():
        if name not in group:
            yield Finding(f"ANALOG:{name}", "not stated", default, f"set ANALOG:{name} in the file")
    general = numbers(group["GEN_SCALE"], header.processor) if "GEN_SCALE" in group else np.ones(1)
    if general.size > 1 or general[0] < 0:
        said = f"ANALOG:GEN_SCALE is {', '.join(f'{value:g}' for value in general[:3])}"
        yield Finding("general scale", said, f"{general[0]:g}", "set it to one positive number")
    if whole := [name for name in ("GEN_SCALE", "SCALE") if name in group and group[name].size != REAL]:
        said = f"ANALOG:{' and '.join(whole)} stored as integers, expected real numbers"
        yield Finding("kind of scale", said, "followed", "store them as real numbers")
    used = numbers(group["USED"], header.processor, signed=False) if "USED" in group else np.full(1, n)
    if used.size != 1 or used[0] != n:
        said = f"{f'ANALOG:USED is {used[0]:g}' if used.size else 'ANALOG:USED is not a number'}, the header counts {n}"
        yield Finding("analog channels", said, f"{n}, as in the header", "correct ANALOG:USED in the file")
    scale, offset = analog_scale(header)
    unknown = np.flatnonzero(np.isnan(scale)) + 1
    if unknown.size:
        listed = f"{', '.join(map(str, unknown[:8]))}{', ...' if unknown.size > 8 else ''}"
        yield Finding(
            "scale of channels",
            f"ANALOG:SCALE or OFFSET has no value, 0 or an impossible one for {unknown.size} of {n} channels ({listed})",
            "their values are missing, and force plates that need them are left out",
            "correct SCALE and OFFSET in the file",
        )
    layout, item = _format(header), "sign of analog numbers"
    if header.scale < 0:
        return
    if "FORMAT" in group and layout not in ("SIGNED", "UNSIGNED"):
        yield Finding(item, f"ANALOG:FORMAT is {layout!r}", "signed", "make it SIGNED or UNSIGNED")
        return
    wraps = other_wraps = 0
    for k in range(n):  # channel by channel, which needs little memory
        with np.errstate(invalid="ignore"):
            stored = analog[:, k] / scale[k] + offset[k]
            other = np.where(stored >= WRAP, stored - 2 * WRAP, np.where(stored < 0, stored + 2 * WRAP, stored))
            wraps += int((np.abs(np.diff(stored)) > WRAP).sum())
            other_wraps += int((np.abs(np.diff(other)) > WRAP).sum())
    if wraps > other_wraps:
        said = f"{wraps} steps between samples are over half of the range of 16 bits"
        settle = f"make ANALOG:FORMAT {'SIGNED' if is_unsigned(header) else 'UNSIGNED'}, or export the file again"
        yield Finding(
            item, f"ANALOG:FORMAT is {layout or 'not stated'}, but {said}", layout.lower() or "signed", settle
        )


def _group(header: Header) -> Mapping[str, Parameter]:
    return header.parameters.get("ANALOG", {})
