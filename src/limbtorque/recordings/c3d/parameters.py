"""The parameter section of a C3D file, in any of the three byte orders.

The layout is that of the C3D user guide (c3d.org): after four bytes, one entry after the other, each with the
length of its name, the number of its group (negative for the group's own entry), the name, and the distance to
the next entry.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray

MAX_DIMENSIONS = 7  # of a parameter, by the C3D format
INTEL, DEC, MIPS = 84, 85, 86
_OF_ONE_GROUP = frozenset(("TIMES", "CONTEXTS", "CORNERS", "ORIGIN", "CHANNEL", "CAL_MATRIX"))
_INTEGERS = {1: "u1", 2: "i2"}


@dataclass(frozen=True)
class Parameter:
    """One parameter, as its bytes.

    Attributes
    ----------
    size : int
        Bytes of one element: -1 text, 1 and 2 integers, 4 a real number.
    shape : tuple of int
        Dimensions, the fastest first; empty for one element.
    content : bytes
        The elements.
    """

    size: int
    shape: tuple[int, ...]
    content: bytes


Groups = dict[str, dict[str, Parameter]]


def real_numbers(content: bytes, processor: int) -> FloatArray:
    """Numbers of four bytes each, as doubles.

    Parameters
    ----------
    content : bytes
        The numbers; bytes beyond the last whole number are left out.
    processor : int
        84 Intel, 85 DEC, 86 MIPS. A DEC number has its two words swapped and its exponent two higher; a MIPS
        number is IEEE with the highest byte first.

    Returns
    -------
    ndarray of shape (n,)
        The values.
    """
    content = content[: len(content) // 4 * 4]
    if processor == MIPS:
        return np.frombuffer(content, dtype=">f4").astype(float)
    if processor == DEC:
        words = np.frombuffer(content, dtype="<u2").reshape(-1, 2)
        with np.errstate(invalid="ignore"):
            return np.ascontiguousarray(words[:, ::-1]).view("<f4")[:, 0].astype(float) / 4.0
    with np.errstate(invalid="ignore"):
        return np.frombuffer(content, dtype="<f4").astype(float)


def parse_parameters(raw: bytes, processor: int) -> tuple[Groups, int | None, tuple[str, ...]]:
    """All readable parameters, the end of a damaged section, and contradictions.

    Parameters
    ----------
    raw : bytes
        The whole file.
    processor : int
        Byte order.

    Returns
    -------
    groups : dict of dict of Parameter
        By the names of group and parameter in capitals.
    broken_at : int or None
        Byte of the entry that leads out of the file, is of no known kind, or of events or plates without their
        group; None where the section ends well.
    twice : tuple of str
        Parameters, ``GROUP:NAME``, that stand more than once with different contents; the first is in `groups`.
    """
    layout = ">H" if processor == MIPS else "<H"
    position, end = (raw[0] - 1) * 512 + 4, _section_end(raw, layout)
    names: dict[int, str] = {}
    entries: list[tuple[int, str, Parameter]] = []
    at: dict[tuple[int, str], int] = {}
    broken_at: int | None = None
    while True:
        if position + 2 > end:
            broken_at = position if position > end else broken_at
            break
        length, group = struct.unpack_from("<bb", raw, position)
        after = position + 2 + abs(length)
        if length == 0 or group == 0:
            broken_at = position if length and broken_at is None else broken_at
            break
        if after + 2 > end:
            broken_at = position
            break
        label = decode(raw[position + 2 : after]).strip(" \0").upper()
        if group < 0:
            names.setdefault(-group, label)
        elif (parameter := _parameter(raw, after + 2)) is not None:
            entries.append((group, label, parameter))
            at.setdefault((group, label), position)
        elif broken_at is None:
            broken_at = position
        step = int(struct.unpack_from(layout, raw, after)[0])
        if step == 0:
            break
        position = after + step
    if broken_at is None:  # events or a plate without their group; others of no group are in real files
        lost = (byte for (group, label), byte in at.items() if group not in names and label in _OF_ONE_GROUP)
        broken_at = next(lost, None)
    groups: Groups = {name: {} for name in names.values()}
    twice: dict[str, None] = {}
    for group, label, parameter in entries:
        if group in names and groups[names[group]].setdefault(label, parameter) != parameter:
            twice[f"{names[group]}:{label}"] = None
    return groups, broken_at, tuple(twice)


def _section_end(raw: bytes, layout: str) -> int:
    """Last possible end of the section, by its blocks and the start of the data."""
    start = (raw[0] - 1) * 512
    data = (struct.unpack_from(layout, raw, 16)[0] - 1) * 512
    return min(max(start + 512 * raw[start + 2], data if data > start else 0, start + 4), len(raw))


def _parameter(raw: bytes, at: int) -> Parameter | None:
    """Read the parameter at a byte; None where it is invalid or longer than the file."""
    if at + 2 > len(raw):
        return None
    size, n_dimensions = struct.unpack_from("<bB", raw, at)
    begin = at + 2 + n_dimensions
    shape = tuple(raw[at + 2 : begin])
    length = abs(size) * math.prod(shape)
    if size not in (-1, 1, 2, 4) or n_dimensions > MAX_DIMENSIONS or begin + length > len(raw):
        return None
    return Parameter(size, shape, raw[begin : begin + length])


def numbers(parameter: Parameter, processor: int, *, signed: bool = True) -> FloatArray:
    """Values of a numeric parameter, shape (n,), as doubles; text has none.

    Parameters
    ----------
    parameter : Parameter
        The parameter.
    processor : int
        Byte order.
    signed : bool, optional
        Whether integers of two bytes have a sign.
    """
    if parameter.size < 0:
        return np.zeros(0)
    if parameter.size == 4:
        return real_numbers(parameter.content, processor)
    kind = _INTEGERS[parameter.size] if signed else f"u{parameter.size}"
    return np.frombuffer(parameter.content, dtype=(">" if processor == MIPS else "<") + kind).astype(float)


def texts(parameter: Parameter) -> list[str]:
    """Texts of a parameter, row by row; bytes that are not UTF-8 as lone surrogates."""
    if parameter.size != -1:
        return []
    width = parameter.shape[0] if parameter.shape else 1
    n = math.prod(parameter.shape[1:]) if parameter.content else 0
    return [decode(parameter.content[k * width : (k + 1) * width]) for k in range(n)]


def value(parameter: Parameter, processor: int) -> Any:
    """Value of a parameter: a list of texts, or an array in the file's dimensions."""
    if parameter.size == -1:
        return texts(parameter)
    plain = numbers(parameter, processor)
    return plain.reshape(parameter.shape or (1,), order="F")


def decode(content: bytes) -> str:
    """Text of some bytes; those that are not UTF-8 become lone surrogates."""
    return content.decode("utf-8", "surrogateescape")
