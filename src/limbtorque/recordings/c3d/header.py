"""Parameters and counts of a C3D file, checked against its size.

Readers trust the counts: ezc3d 1.7 reads past the end of a truncated file, and
crashes at a rate of zero. So counts are checked here first, for every reader. The layout of the header (words
of two bytes) is that of the C3D user guide (c3d.org).

The parameter section begins with four bytes; then follow the entries, each with the length of its name, the
number of its group (negative for the group's own entry), the name, and the distance to the next entry.

Long recordings. The header counts frames in two bytes. Where its last frame is 65535, or a parameter counts
beyond that, the parameters count: ``TRIAL:ACTUAL_START_FIELD`` and ``ACTUAL_END_FIELD`` (two words each, the low
one first), then ``POINT:LONG_FRAMES``, then ``POINT:FRAMES`` where it is a real number. The first count that
fits the size of the file, to a frame and a block, is used.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError

BLOCK = 512
MAX_DIMENSIONS = 7  # of a parameter, by the C3D format
INTEL, DEC, MIPS = 84, 85, 86
ORDERS = {INTEL: "Intel", DEC: "DEC", MIPS: "MIPS (SGI)"}
SATURATED = 65535
LEAST_SHARE = 0.9  # of the frames, in a file that ends too early (docs/decisions/0026-the-files-own-results.md)
WHOLE_FILE = "export or copy it again"
_OF_ONE_GROUP = frozenset(("TIMES", "CONTEXTS", "CORNERS", "ORIGIN", "CHANNEL", "CAL_MATRIX"))
_MARKS = re.compile(  # names of events and plates behind their length and the number of their group
    rb"(?:\x05[\x80-\xff](?=EVENT)|\x0e[\x80-\xff](?=FORCE_PLATFORM)|\x05[\x01-\x7f](?=TIMES)|\x08[\x01-\x7f](?=CONTEXTS)"
    rb"|\x07[\x01-\x7f](?=CORNERS|CHANNEL))(EVENT|FORCE_PLATFORM|TIMES|CONTEXTS|CORNERS|CHANNEL)"
)
_INTEGERS = {1: "u1", 2: "i2"}


@dataclass(frozen=True)
class Parameter:
    """A parameter as raw bytes.

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
    """Four-byte numbers as doubles.

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
        group or out of the list of entries; None where the section ends well.
    twice : tuple of str
        Parameters, ``GROUP:NAME``, that stand more than once with different contents; the first is in `groups`.
    """
    layout, start = ">H" if processor == MIPS else "<H", (raw[0] - 1) * BLOCK
    data = (struct.unpack_from(layout, raw, 16)[0] - 1) * BLOCK
    # the section ends at the latest by its blocks, or where the data start
    end = min(max(start + BLOCK * raw[start + 2], data if data > start else 0, start + 4), len(raw))
    position = start + 4
    names: dict[int, str] = {}
    entries: list[tuple[int, str, Parameter]] = []
    at: dict[tuple[int, str], int] = {}
    broken_at: int | None = None
    room = len(raw)  # for the contents of all parameters, which do not overlap
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
        elif (parameter := _parameter(raw, after + 2, room)) is not None:
            room -= len(parameter.content)
            entries.append((group, label, parameter))
            at.setdefault((group, label), position)
        elif broken_at is None:
            broken_at = position
        step = int(struct.unpack_from(layout, raw, after)[0])
        if step == 0:
            break
        position = after + step
    if (
        broken_at is None
    ):  # events or plates without their group, or out of the list; others of no group are in real files
        plates = "FORCE_PLATFORM" in names.values()  # else a group of corners is one of plates with a damaged name
        known = {group for group, name in names.items() if name.isascii() and (plates or (group, "CORNERS") not in at)}
        lost = (byte for (group, label), byte in at.items() if group not in known and label in _OF_ONE_GROUP)
        listed = {*names.values(), *(label for _, label in at)}
        beyond = (match.start() for match in _MARKS.finditer(raw, start, end) if match[1].decode() not in listed)
        broken_at = next(lost, next(beyond, None))
    groups: Groups = {name: {} for name in names.values()}
    twice: dict[str, None] = {}
    for group, label, parameter in entries:
        if group in names and groups[names[group]].setdefault(label, parameter) != parameter:
            twice[f"{names[group]}:{label}"] = None
    return groups, broken_at, tuple(twice)


def _parameter(raw: bytes, at: int, room: int) -> Parameter | None:
    """Read the parameter at a byte; None where it is invalid or too long."""
    if at + 2 > len(raw):
        return None
    size, n_dimensions = struct.unpack_from("<bB", raw, at)
    begin = at + 2 + n_dimensions
    shape = tuple(raw[at + 2 : begin])
    length = abs(size) * math.prod(shape)
    if size not in (-1, 1, 2, 4) or n_dimensions > MAX_DIMENSIONS or begin + length > len(raw) or length > room:
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
    """Texts of a parameter, row by row; non-UTF-8 bytes as lone surrogates."""
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


def continued(group: Mapping[str, Any], name: str) -> Iterator[str]:
    """Names of a parameter and of its continuations: LABELS, LABELS2, LABELS3, ..."""
    return takewhile(group.__contains__, [name, *(f"{name}{n}" for n in range(2, len(group) + 2))])


def decode(content: bytes) -> str:
    """Text from bytes; non-UTF-8 bytes become lone surrogates."""
    return content.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Header:
    """The counts of a C3D file.

    Attributes
    ----------
    n_points, n_frames : int
        Points in a frame, frames.
    first_frame : int
        Number of the first frame in the original capture, from 1.
    n_analog : int
        Analog numbers in a frame: channels times samples.
    samples_per_frame : int
        Analog samples in a frame.
    rate_hz : float
        Frames per second; 0 where the header does not give it.
    n_events : int
        Events in the header (not those of the group ``EVENT``).
    point : dict of str to float
        First value of the numeric parameters of the group ``POINT``.
    processor : int
        Byte order: 84 Intel, 85 DEC, 86 MIPS.
    scale : float
        ``POINT:SCALE``, else the header's: negative where the data are real numbers, else the unit of the integers.
    data_start : int
        Byte at which the data begin.
    parameters : dict of dict of Parameter
        All parameters.
    counted_by : str
        Where the number of frames is from.
    broken_at : int or None
        Byte at which the parameters cannot be followed; None where they end well.
    twice : tuple of str
        Parameters that stand more than once with different contents.
    n_absent : int
        Frames that are counted and not in the file, which ends before them; `n_frames` are there.
    n_uncounted : int
        Frames that there is data for behind those that are counted.
    """

    n_points: int
    n_frames: int
    first_frame: int
    n_analog: int
    samples_per_frame: int
    rate_hz: float
    n_events: int
    point: dict[str, float]
    processor: int
    scale: float
    data_start: int
    parameters: Groups
    counted_by: str
    broken_at: int | None
    twice: tuple[str, ...] = ()
    n_absent: int = 0
    n_uncounted: int = 0

    @property
    def n_channels(self) -> int:
        """Analog channels."""
        return self.n_analog // max(self.samples_per_frame, 1)

    @property
    def frame_bytes(self) -> int:
        """Bytes of a frame."""
        return _frame_bytes(self.n_points, self.n_analog, self.scale)

    @property
    def storage(self) -> str:
        """Byte order and kind of number, in words."""
        return f"{ORDERS[self.processor]} byte order, {_storage(self.scale)}"


def read_header(raw: bytes, name: str) -> Header:
    """Read the counts of a C3D file and refuse impossible ones.

    Parameters
    ----------
    raw : bytes
        The whole file.
    name : str
        Name of the file, for messages.

    Returns
    -------
    Header
        Its counts, which the file is long enough for; without the last frames where the file ends before them.

    Raises
    ------
    ReadError
        Not a C3D file, an unknown byte order, more than a tenth of the frames cut off, no points, no frames, no rate, more frames than are
        counted anywhere, or counts that contradict each other.
    """
    if fault := next(_format_faults(raw), ""):
        raise ReadError(f"{name}: {fault}")
    processor = raw[(raw[0] - 1) * BLOCK + 3]
    word = struct.unpack_from(">256H" if processor == MIPS else "<256H", raw)
    header_scale, header_rate_hz = (float(real_numbers(raw[at : at + 4], processor)[0]) for at in (12, 20))
    parameters, broken_at, twice = parse_parameters(raw, processor)
    firsts = {
        label: numbers(entry, processor, signed=False)[:1] for label, entry in parameters.get("POINT", {}).items()
    }
    point = {label: float(first[0]) for label, first in firsts.items() if first.size}
    scale, data_start = point.get("SCALE", header_scale), (word[8] - 1) * BLOCK
    counts = _long_counts(parameters, point, word[3], processor)
    first, n_frames, counted_by = _frames(
        word, counts, _frame_bytes(word[1], word[2], scale), len(raw) - data_start, name
    )
    header = Header(
        n_points=word[1],
        n_frames=n_frames,
        first_frame=first,
        n_analog=word[2],
        samples_per_frame=word[9],
        rate_hz=header_rate_hz,
        n_events=min(word[150], 18),
        point=point,
        processor=processor,
        scale=scale,
        data_start=data_start,
        parameters=parameters,
        counted_by=counted_by,
        broken_at=broken_at,
        twice=twice,
    )
    held = min(max(len(raw) - data_start, 0) // max(header.frame_bytes, 1) if data_start >= BLOCK else 0, n_frames)
    if fault := next(_count_faults(header, word, header_scale=header_scale, held=held, n_bytes=len(raw)), ""):
        raise ReadError(f"{name}: {fault}")
    # whole frames of data behind the counted ones; the last block may be filled
    end = (raw[0] - 1) * BLOCK if (raw[0] - 1) * BLOCK > data_start else len(raw)
    after = raw[data_start + n_frames * header.frame_bytes : end].rstrip(b"\0")
    n_uncounted = len(after) // header.frame_bytes if len(after) >= BLOCK else 0
    return replace(header, n_frames=held, n_absent=n_frames - held, n_uncounted=n_uncounted)


def _format_faults(raw: bytes) -> Iterator[str]:
    """Reasons why the bytes are not a C3D file; only the first applies."""
    if not raw:
        yield f"the file is empty (0 bytes); {WHOLE_FILE}"
    if len(raw) < BLOCK:
        yield f"not a C3D file: {len(raw)} bytes, the header alone has {BLOCK}; {WHOLE_FILE}"
    if raw[1] != 0x50 or raw[0] == 0:
        yield (
            f"not a C3D file: its second byte is 0x{raw[1]:02x}, a C3D file has 0x50 there; check the file, or name the "
            "reader of its real format"
        )
    start = (raw[0] - 1) * BLOCK
    if len(raw) < start + BLOCK:
        yield f"the file is truncated: its parameters start at byte {start}, the file has {len(raw)} bytes; {WHOLE_FILE}"
    if raw[start + 3] not in ORDERS:
        known = "a C3D file has 84 (Intel), 85 (DEC) or 86 (MIPS)"
        yield f"unknown byte order {raw[start + 3]}, {known}; {WHOLE_FILE}"


def _frames(
    word: tuple[int, ...], counts: list[tuple[int, int, str]], frame_bytes: int, room: int, name: str
) -> tuple[int, int, str]:
    """First frame, number of frames, and the source of that number."""
    first, last = word[3], word[4]
    n_frames = last - first + 1
    if last == SATURATED or any(start + n - 1 > SATURATED for start, n, _ in counts):
        for start, n, source in counts:
            if 0 < n * frame_bytes <= room < (n + 1) * frame_bytes + BLOCK:
                return start, n, source
        if last == SATURATED and frame_bytes and room - n_frames * frame_bytes >= max(BLOCK, frame_bytes):
            stated = ", ".join(f"{source} {n}" for _, n, source in counts) or "none"
            raise ReadError(
                f"{name}: the header counts frames up to {SATURATED}, the largest possible count, and the file has room for "
                f"{room // frame_bytes} of them; parameters for the count: {stated}; the end of the data is unknown: "
                "export the file again, or in parts"
            )
    return max(first, 1), n_frames, "the header"


def _long_counts(parameters: Groups, point: dict[str, float], first: int, processor: int) -> list[tuple[int, int, str]]:
    """First frame, number of frames and source, for each count of more than two bytes."""
    trial, counts = parameters.get("TRIAL", {}), []
    fields = [trial[key] for key in ("ACTUAL_START_FIELD", "ACTUAL_END_FIELD") if key in trial]
    ends = [numbers(entry, processor, signed=False) for entry in fields]
    if len(ends) == 2 and all(np.isfinite(words).all() and words.size for words in ends):
        start, end = (int(words[0]) + (int(words[1]) << 16 if words.size > 1 else 0) for words in ends)
        counts.append((max(start, 1), end - start + 1, "TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD"))
    for key in ("LONG_FRAMES", "FRAMES"):
        if math.isfinite(n := point.get(key, math.nan)) and (key == "LONG_FRAMES" or n > SATURATED):
            counts.append((max(first, 1), int(n), f"POINT:{key}"))
    return counts


def _frame_bytes(n_points: int, n_analog: int, scale: float) -> int:
    """Bytes of a frame."""
    return (4 * n_points + n_analog) * (4 if scale < 0 else 2)


def _count_faults(
    header: Header, word: tuple[int, ...], *, header_scale: float, held: int, n_bytes: int
) -> Iterator[str]:
    """Reasons why the counts are unusable; only the first applies."""
    point, contradiction = header.point, "the file contradicts itself; export it again"
    labels = header.parameters.get("ROTATION", {}).get("LABELS")
    if header.n_points == 0 and labels is not None and labels.content.strip(b" \0"):
        yield (
            "the file holds rotations of segments only (group ROTATION, as Theia3D writes them), no points; "
            "write joint centres or segment origins as points with Visual3D, and export these as C3D or TRC"
        )
    if header.n_points == 0:
        yield f"the file has no points, only {header.n_analog} analog values per frame; markers are needed"
    if header.n_frames <= 0 or point.get("FRAMES") == 0:
        yield f"the file holds no frames (first frame {word[3]}, last frame {word[4]}); {WHOLE_FILE}"
    rate_hz, other_hz = point.get("RATE", header.rate_hz), header.rate_hz
    if not (math.isfinite(rate_hz) and rate_hz > 0):
        yield f"the frame rate is {rate_hz:g} Hz (POINT:RATE), it must be above zero; correct it in the file"
    if math.isfinite(other_hz) and other_hz > 0 and not 0.5 < other_hz / rate_hz < 2:
        yield f"the header states {other_hz:g} frames per second, POINT:RATE states {rate_hz:g}; correct one of them"
    for parameter, what, count in (("USED", "points", header.n_points), ("FRAMES", "frames", header.n_frames)):
        stated = point.get(parameter, float(count))
        other = int(stated) if math.isfinite(stated) else -1
        long = parameter == "FRAMES" and other in (SATURATED, count % (SATURATED + 1))  # 65535: not filled in
        if other != count and not long:
            yield f"the header counts {count} {what}, the parameter POINT:{parameter} {other}; {contradiction}"
    start, block = point.get("DATA_START", 0.0), header.data_start // BLOCK + 1
    if start > 0 and start != header.data_start / BLOCK + 1:
        yield f"the header states that the data begin in block {block}, POINT:DATA_START states {start:g}; {contradiction}"
    used = header.parameters.get("ANALOG", {}).get("USED")
    stated_channels = numbers(used, header.processor, signed=False)[:1] if used is not None else np.zeros(0)
    channels = int(stated_channels[0]) if np.isfinite(stated_channels).any() else 0
    values, per_frame = header.n_analog, header.samples_per_frame
    if per_frame and channels and values != channels * per_frame:
        yield (
            f"the header counts {values} analog values in a frame, {per_frame} samples of each channel; ANALOG:USED "
            f"states {channels} channels; {contradiction}"
        )
    if (values and (not per_frame or values % per_frame)) or (not values and per_frame > 1000):
        whole = f"cannot be {per_frame} samples of whole channels"
        yield f"{values} analog values in a frame {whole}; the header is damaged, {WHOLE_FILE}"
    if (header_scale < 0) != (header.scale < 0):
        stored = f"the header states {_storage(header_scale)}, POINT:SCALE states {_storage(header.scale)}"
        yield f"{stored}; export the file again"
    if header_scale > 0.0 and header.scale > 0.0 and not math.isclose(header_scale, header.scale, rel_tol=1e-4):
        stated_scale = f"the header's scale of the positions is {header_scale:g}, POINT:SCALE {header.scale:g}"
        yield f"{stated_scale}; correct one of them"
    if not math.isfinite(header.scale) or header.scale == 0.0:
        yield f"the scale of the positions is {header.scale:g} (POINT:SCALE); {WHOLE_FILE}"
    if held < max(LEAST_SHARE * header.n_frames, 1):
        yield (
            f"the file is truncated or its header damaged: {header.n_frames} frames of {header.n_points} points "
            f"and {values} analog values take {header.data_start + header.n_frames * header.frame_bytes} bytes, it has "
            f"{n_bytes} ({held} whole frames); {WHOLE_FILE}"
        )


def _storage(scale: float) -> str:
    return "real numbers" if scale < 0 else "integers"
