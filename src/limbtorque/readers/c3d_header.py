"""What a C3D file says of its own size, checked against its size before anything is allocated.

ezc3d 1.7 believes the parameters, reads on past the end of a truncated file, stops at 65535 frames without a
word and ends the whole process at a rate of zero. So the counts are checked here first. The layout of the
header (words of two bytes) and of the parameter section is that of the C3D user guide (c3d.org).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from limbtorque.errors import ReadError

BLOCK = 512
INTEL, DEC, MIPS = 84, 85, 86
SATURATED = 65535
WHOLE_FILE = "export or copy it again"


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
    """

    n_points: int
    n_frames: int
    first_frame: int
    n_analog: int
    samples_per_frame: int
    rate_hz: float
    n_events: int
    point: dict[str, float]


def read_header(raw: bytes, name: str) -> Header:
    """Read the counts of a C3D file and refuse what cannot be true.

    Parameters
    ----------
    raw : bytes
        The whole file.
    name : str
        Name of the file, for messages.

    Returns
    -------
    Header
        Its counts, which the file is long enough for.

    Raises
    ------
    ReadError
        Not a C3D file, an unreadable byte order, truncated, no points, no frames, no rate, more than 65535
        frames, or counts that contradict each other.
    """
    processor = _processor(raw, name)
    word = struct.unpack_from("<256H", raw)
    first, last = word[3], word[4]
    header = Header(
        n_points=word[1],
        n_frames=last - first + 1,
        first_frame=max(first, 1),
        n_analog=word[2],
        samples_per_frame=word[9],
        rate_hz=_real(raw, 20, processor),
        n_events=min(word[150], 18),
        point=_point_parameters(raw, processor),
    )
    if header.n_points == 0:
        raise ReadError(
            f"{name}: the file holds no points, only {header.n_analog} analog values a frame; markers are needed"
        )
    if last < first or header.point.get("FRAMES") == 0:
        raise ReadError(f"{name}: the file holds no frames (first frame {first}, last frame {last}); {WHOLE_FILE}")
    _check_rate(header, name)
    _check_counts(header, name)
    _check_size(raw, header, name, scale=_real(raw, 12, processor), data_block=word[8])
    return header


def _processor(raw: bytes, name: str) -> int:
    """Byte order of the file: 84 Intel or 85 DEC."""
    if not raw:
        raise ReadError(f"{name}: the file is empty (0 bytes); {WHOLE_FILE}")
    if len(raw) < BLOCK:
        raise ReadError(f"{name}: not a C3D file: {len(raw)} bytes, the header alone takes {BLOCK}; {WHOLE_FILE}")
    if raw[1] != 0x50 or raw[0] == 0:
        raise ReadError(
            f"{name}: not a C3D file: its second byte is 0x{raw[1]:02x}, a C3D file has 0x50 there; "
            "check the file, or name the reader of its real format"
        )
    start = (raw[0] - 1) * BLOCK
    if len(raw) < start + BLOCK:
        raise ReadError(
            f"{name}: the file is truncated: its parameters start at byte {start}, it has {len(raw)} bytes; "
            f"{WHOLE_FILE}"
        )
    processor = raw[start + 3]
    if processor == MIPS:
        raise ReadError(
            f"{name}: the file is in MIPS (SGI) byte order, which this version does not read; "
            "convert it to Intel (PC) byte order, for instance with Mokka, BTK or the Python package c3d"
        )
    if processor not in (INTEL, DEC):
        raise ReadError(
            f"{name}: unknown byte order {processor}, a C3D file has 84 (Intel), 85 (DEC) or 86 (MIPS); {WHOLE_FILE}"
        )
    return processor


def _check_rate(header: Header, name: str) -> None:
    rate = header.point.get("RATE", header.rate_hz)
    if not (math.isfinite(rate) and rate > 0):
        raise ReadError(
            f"{name}: the frame rate is {rate:g} Hz (POINT:RATE), it has to be above zero; set it right in the file"
        )
    other = header.rate_hz
    if math.isfinite(other) and other > 0 and not 0.5 < other / rate < 2:
        raise ReadError(
            f"{name}: the header says {other:g} frames per second, POINT:RATE says {rate:g}; set one of them right"
        )


def _check_counts(header: Header, name: str) -> None:
    """Refuse counts that contradict each other: either would read garbage."""
    pairs = (("USED", "points", header.n_points), ("FRAMES", "frames", header.n_frames))
    for parameter, what, count in pairs:
        other = int(header.point.get(parameter, count))
        if other != count and not (parameter == "FRAMES" and other == SATURATED):  # 65535: not filled in
            raise ReadError(
                f"{name}: the header counts {count} {what}, the parameter POINT:{parameter} {other}; "
                "the file contradicts itself, export it again"
            )
    if header.n_analog % max(header.samples_per_frame, 1) or (header.n_analog == 0 and header.samples_per_frame > 1000):
        raise ReadError(
            f"{name}: {header.n_analog} analog values in a frame cannot be {header.samples_per_frame} "
            "samples of whole "
            f"channels; the header is damaged, {WHOLE_FILE}"
        )


def _check_size(raw: bytes, header: Header, name: str, *, scale: float, data_block: int) -> None:
    """Refuse a file that is shorter than its counts say, or holds more frames than they can."""
    other = header.point.get("SCALE", scale)
    if (scale < 0) != (other < 0):
        raise ReadError(
            f"{name}: the header says {_storage(scale)}, POINT:SCALE says {_storage(other)}; export the file again"
        )
    per_frame = (4 * header.n_points + header.n_analog) * (4 if scale < 0 else 2)
    start = (data_block - 1) * BLOCK
    needed = start + header.n_frames * per_frame
    if data_block < 2 or len(raw) < needed:
        held = max(len(raw) - start, 0) // per_frame if data_block >= 2 else 0
        raise ReadError(
            f"{name}: the file is truncated or its header damaged: {header.n_frames} frames of "
            f"{header.n_points} points "
            f"and {header.n_analog} analog values take {needed} bytes, it has {len(raw)} "
            f"({held} whole frames); {WHOLE_FILE}"
        )
    more = (len(raw) - needed) // per_frame
    if header.first_frame + header.n_frames - 1 >= SATURATED and len(raw) - needed >= max(BLOCK, per_frame):
        raise ReadError(
            f"{name}: the header counts frames up to {SATURATED}, its largest number, and the file has room "
            f"for {more} "
            "more; longer recordings are not read, cut it into pieces"
        )


def _storage(scale: float) -> str:
    return "real numbers" if scale < 0 else "integers"


def _real(raw: bytes, offset: int, processor: int) -> float:
    """Four bytes as a number; DEC swaps the words and counts its exponent two higher."""
    four = raw[offset : offset + 4]
    if processor == DEC:
        return float(struct.unpack("<f", four[2:] + four[:2])[0]) / 4.0
    return float(struct.unpack("<f", four)[0])


def _point_parameters(raw: bytes, processor: int) -> dict[str, float]:
    """First value of each numeric parameter of the group POINT; what cannot be followed is left to ezc3d."""
    position, end = (raw[0] - 1) * BLOCK + 4, len(raw)
    point_group, found = None, []
    while position + 4 <= end:
        length, group = struct.unpack_from("<bb", raw, position)
        after = position + 2 + abs(length)
        if length == 0 or after + 2 > end:
            break
        label = raw[position + 2 : after].decode("latin-1").upper()
        if group < 0 and label == "POINT":
            point_group = -group
        elif group > 0:
            found.append((group, label, after + 2))
        step = int(struct.unpack_from("<H", raw, after)[0])
        if step == 0:
            break
        position = after + step
    values = {label: _first_value(raw, at, processor) for group, label, at in found if group == point_group}
    return {label: value for label, value in values.items() if value is not None}


def _first_value(raw: bytes, at: int, processor: int) -> float | None:
    """Return the first number of a parameter; None where it holds text or nothing."""
    if at + 2 > len(raw):
        return None
    size, n_dimensions = struct.unpack_from("<bB", raw, at)
    begin = at + 2 + n_dimensions
    if size not in (1, 2, 4) or begin + size > len(raw) or 0 in raw[at + 2 : begin]:
        return None
    if size == 4:
        return _real(raw, begin, processor)
    return float(struct.unpack_from("<B" if size == 1 else "<H", raw, begin)[0])
