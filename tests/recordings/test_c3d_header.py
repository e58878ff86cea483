"""Counts, scales and lengths of the header of C3D at their limits, from bytes made by hand after the C3D user guide."""

import struct

import pytest

from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.header import read_header

INTEL, BLOCK, LARGEST = 84, 512, 65535


def entry(name, group, body):
    return struct.pack("bb", len(name), group) + name + struct.pack("<H", 2 + len(body)) + body


def number(value, kind="f"):
    return struct.pack("bB", {"f": 4, "H": 2}[kind], 0) + struct.pack(f"<{kind}", value) + b"\0"


def words(*values):
    return struct.pack("bBB", 2, 1, len(values)) + struct.pack(f"<{len(values)}H", *values) + b"\0"


def file(
    n_frames=10,
    *,
    first=1,
    last=None,
    points=1,
    n_analog=0,
    samples=0,
    scale=0.1,
    point=(),
    trial=(),
    analog=(),
    missing=0,
    head=None,
):
    """Header, parameters, and the bytes of so many frames less the missing ones, in blocks of their own."""
    groups = [(b"POINT", 1, [(b"RATE", number(100.0)), (b"SCALE", number(scale)), *point]), (b"TRIAL", 2, trial), (b"ANALOG", 3, analog)]  # fmt: skip
    body = b"".join(
        entry(name, -k, b"\0") + b"".join(entry(key, k, content) for key, content in entries)
        for name, k, entries in groups
    )
    raw = bytearray(2 * BLOCK)
    last = min(first + n_frames - 1, LARGEST) if last is None else last
    struct.pack_into("<BBHHHH", raw, 0, 2, 0x50, points, n_analog, first, last)
    struct.pack_into("<f", raw, 12, scale if head is None else head)
    struct.pack_into("<HHf", raw, 16, 3, samples, 100.0)
    raw[BLOCK : BLOCK + 4] = bytes([1, 80, 1, INTEL])
    raw[BLOCK + 4 : BLOCK + 4 + len(body)] = body
    per_frame = (4 * points + n_analog) * (4 if scale < 0 else 2)
    return bytes(raw) + bytes(n_frames * per_frame - missing)


def refused(raw, message):
    with pytest.raises(ReadError, match=message):
        read_header(raw, "a.c3d")


# --- many frames -----------------------------------------------------------------------------------------------------

LONG = [(b"LONG_FRAMES", number(70000.0))]
FIELDS = [(b"ACTUAL_START_FIELD", words(1, 0)), (b"ACTUAL_END_FIELD", words(70000 - 65536, 1))]


@pytest.mark.parametrize(
    ("counters", "source"),
    [
        ({"point": LONG}, "POINT:LONG_FRAMES"),
        ({"point": [(b"FRAMES", number(70000.0))]}, "POINT:FRAMES"),
        ({"trial": FIELDS}, "TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD"),
        ({"point": LONG, "trial": FIELDS}, "TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD"),
    ],
)
def test_more_frames_than_two_bytes_count(counters, source):
    found = read_header(file(70000, **counters), "a.c3d")
    assert (found.n_frames, found.first_frame, found.n_absent, found.counted_by) == (70000, 1, 0, source)


def test_the_fields_say_the_first_frame_too():
    """Frames 65540 to 135539: two words each, the lower one first."""
    fields = [(b"ACTUAL_START_FIELD", words(4, 1)), (b"ACTUAL_END_FIELD", words(135539 - 2 * 65536, 2))]
    found = read_header(file(70000, first=LARGEST, last=LARGEST, trial=fields), "a.c3d")
    assert (found.n_frames, found.first_frame) == (70000, 65540)


@pytest.mark.parametrize(("n", "fits"), [(70000, True), (70001, False), (69999, True), (69936, True), (69935, False)])
def test_a_counter_fits_the_length_of_the_file(n, fits):
    """Frames of 8 bytes: the last block may be filled up to 512 bytes and one frame, no more, and nothing is missing."""
    raw = file(70000, point=[(b"LONG_FRAMES", number(float(n)))])
    if fits:
        assert read_header(raw, "a.c3d").n_frames == n
    else:
        refused(raw, f"counts frames up to 65535, the largest possible count, and the file has room for 70000 of them; parameters for the count: POINT:LONG_FRAMES {n}; ")  # fmt: skip


def test_without_a_counter_the_end_is_unknown():
    refused(file(70000), "room for 70000 of them; parameters for the count: none; the end of the data is unknown")
    assert read_header(file(65535), "a.c3d").n_frames == 65535
    assert read_header(file(65535 + 63), "a.c3d").n_frames == 65535  # less than a block more
    refused(file(65535 + 64), "room for 65599 of them")
    assert read_header(file(65534), "a.c3d").counted_by == "the header"


def test_counters_do_not_matter_for_short_files():
    short = read_header(file(100, point=[(b"LONG_FRAMES", number(100.0))]), "a.c3d")
    assert (short.n_frames, short.counted_by) == (100, "the header")
    assert read_header(file(100, first=11), "a.c3d").first_frame == 11
    assert read_header(file(100, first=0, last=99), "a.c3d").first_frame == 1


@pytest.mark.parametrize("n", [70000, 65535, 70000 - 65536])
def test_the_parameter_of_two_bytes_may_hold_the_rest(n):
    """FRAMES of a file of 70,000 frames: not filled in (65535), or without what two bytes cannot hold."""
    frames = (b"FRAMES", number(float(n)))
    assert read_header(file(70000, trial=FIELDS, point=[frames]), "a.c3d").n_frames == 70000


def test_another_number_of_frames_contradicts():
    refused(
        file(70000, trial=FIELDS, point=[(b"FRAMES", number(4465, "H"))]),
        "counts 70000 frames, the parameter POINT:FRAMES 4465",
    )
    refused(file(point=[(b"FRAMES", number(float("nan")))]), "counts 10 frames, the parameter POINT:FRAMES -1")
    refused(file(point=[(b"FRAMES", number(0, "H"))]), "holds no frames .first frame 1, last frame 10.")
    refused(file(10, first=5, last=4), "holds no frames .first frame 5, last frame 4.")
    refused(file(points=0), "the file has no points, only 0 analog values per frame; markers are needed")


# --- files that end early --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("missing", "absent"), [(0, 0), (1, 1), (8, 1), (9, None), (80, None)])
def test_a_tenth_of_the_frames_may_be_cut_off(missing, absent):
    """Ten frames of 8 bytes."""
    raw = file(missing=missing)
    if absent is None:
        refused(raw, r"10 frames of 1 points and 0 analog values take 1104 bytes, it has \d+ \([80] whole frames\)")
        return
    found = read_header(raw, "a.c3d")
    assert (found.n_frames, found.n_absent) == (10 - absent, absent)


def test_more_bytes_than_frames_do_not_matter():
    assert read_header(file() + bytes(600), "a.c3d").n_frames == 10
    refused(file(1, missing=1), r"1 frames of 1 points .* \(0 whole frames\)")


@pytest.mark.parametrize(
    ("behind", "n_uncounted"),
    [(b"", 0), (b"\1" * 511, 0), (b"\1" * 512, 64), (bytes(5000), 0), (b"\1" * 600 + bytes(400), 75)],
)
def test_data_behind_the_last_frame_is_counted(behind, n_uncounted):
    """Frames of 8 bytes; recorded files have up to 248 bytes of anything in their last block."""
    found = read_header(file() + behind, "a.c3d")
    assert (found.n_frames, found.n_uncounted) == (10, n_uncounted)


@pytest.mark.parametrize(("scale", "n_bytes"), [(0.1, 2), (-0.1, 4)])
def test_bytes_of_a_frame(scale, n_bytes):
    """Four numbers a point and one an analog sample: integers of two bytes, or real numbers of four."""
    raw = file(2, points=3, n_analog=8, samples=4, scale=scale)
    assert read_header(raw, "a.c3d").n_absent == 0
    refused(raw[:-1], f"2 frames of 3 points and 8 analog values take {1024 + 2 * 20 * n_bytes} bytes")


# --- scales and analog values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("head", "message"), [(0.10002, "scale of the positions is 0.10002, POINT:SCALE 0.1; correct"), (0.100005, None), (0.0, None), (-0.1, "header states real numbers, POINT:SCALE states integers")])  # fmt: skip
def test_two_scales_agree_to_a_ten_thousandth(head, message):
    if message:
        refused(file(head=head), message)
    else:
        assert read_header(file(head=head), "a.c3d").scale == pytest.approx(0.1)


@pytest.mark.parametrize("scale", [0.0, float("nan"), float("inf")])
def test_a_scale_is_a_number_that_is_not_zero(scale):
    refused(file(scale=scale), "the scale of the positions is")


def test_real_numbers_may_have_any_scale():
    assert read_header(file(scale=-0.1, head=-7.0), "a.c3d").storage == "Intel byte order, real numbers"
    assert read_header(file(), "a.c3d").storage == "Intel byte order, integers"


@pytest.mark.parametrize(
    ("n_analog", "samples", "used", "message"),
    [
        (8, 4, 2, None),
        (8, 4, 0, None),  # not filled in
        (8, 4, 1, "counts 8 analog values in a frame, 4 samples of each channel; ANALOG:USED states 1"),
        (9, 4, 0, "9 analog values in a frame cannot be 4 samples of whole"),
        (8, 0, 0, "8 analog values in a frame cannot be 0 samples"),
        (0, 1000, 0, None),
        (0, 1001, 0, "0 analog values in a frame cannot be 1001 samples"),
        (0, 4, 2, "counts 0 analog values in a frame, 4 samples of each channel; ANALOG:USED states 2"),
    ],
)
def test_analog_values_are_whole_channels(n_analog, samples, used, message):
    raw = file(n_analog=n_analog, samples=samples, analog=[(b"USED", number(used, "H"))])
    if message:
        refused(raw, message)
    else:
        assert read_header(raw, "a.c3d").n_channels == (n_analog // samples if samples else 0)


@pytest.mark.parametrize(("said", "read"), [(18, 18), (19, 18), (0, 0)])
def test_the_header_has_room_for_eighteen_events(said, read):
    raw = bytearray(file())
    struct.pack_into("<H", raw, 300, said)
    assert read_header(bytes(raw), "a.c3d").n_events == read
