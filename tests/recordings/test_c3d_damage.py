"""Damaged C3D files are refused with a message."""

import struct
from pathlib import Path

import numpy as np
import pytest

from c3d_files import changed, offset_of, raw_c3d
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"Frame,Time\n" * 100, "not a C3D file: its second byte is 0x72"),
        (b"P" * 40, "40 bytes"),
        (b"\x02\x50" + bytes(510), "truncated"),
        (b"\x02\x50" + bytes(1022), "unknown byte order 0"),
    ],
)
def test_not_a_c3d_file(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.c3d"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=said):
        read_c3d(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="cannot be opened: No such file"):
        read_c3d(tmp_path / "a.c3d")
    with pytest.raises(ReadError, match="cannot be opened: Is a directory"):
        read_c3d(tmp_path)


@pytest.mark.parametrize("cut", [100_000, 600_000, 683_000])
def test_truncated_file(recordings: Path, tmp_path: Path, cut: int) -> None:
    raw = (recordings / "tennis_serve" / "kinematics_tennis_serve.c3d").read_bytes()
    path = tmp_path / "a.c3d"
    path.write_bytes(raw[:-cut])
    with pytest.raises(ReadError, match="truncated"):
        read_c3d(path)


def test_a_file_that_lacks_its_last_frame_is_read_without_it(tmp_path: Path) -> None:
    xyz = np.random.default_rng(1).uniform(300.0, 700.0, (500, 3, 3))
    whole, path = raw_c3d(tmp_path / "a.c3d", xyz), tmp_path / "b.c3d"
    raw, per_frame = whole.read_bytes(), 3 * 16
    start = (struct.unpack_from("<H", raw, 16)[0] - 1) * 512
    path.write_bytes(raw[: start + 500 * per_frame - 5])
    found, expected = read_c3d(path), read_c3d(whole)
    assert found.n_frames == 499
    np.testing.assert_array_equal(found.markers_m, expected.markers_m[:499])
    (finding,) = (finding for finding in found.audit.findings if finding.item == "truncated file")
    assert finding.stated == "500 frames are stated, the file ends after 499 of them"
    assert finding.guessed
    assert not [f for f in expected.audit.findings if f.item == "truncated file"]
    with pytest.raises(ReadError, match="truncated file: 500 frames are stated"):
        read_recording(path, ReadOptions(strict=True))


WORDS = {  # of the header: offset, layout
    "points": (2, "<H"),
    "analog": (4, "<H"),
    "first": (6, "<H"),
    "last": (8, "<H"),
    "scale": (12, "<f"),
    "data": (16, "<H"),
    "samples": (18, "<H"),
}


@pytest.mark.parametrize(
    ("word", "value", "said"),
    [
        ("points", 65535, "counts 65535 points, the parameter POINT:USED 3"),
        ("points", 0, "has no points"),
        ("analog", 65535, "65535 analog values in a frame cannot be 0 samples of whole channels"),
        ("last", 65535, "counts 65535 frames, the parameter POINT:FRAMES 10"),
        ("last", 0, "holds no frames"),
        ("first", 11, "holds no frames"),
        ("scale", 1.0, "header states integers, POINT:SCALE states real numbers"),
        ("data", 65535, "data begin in block 65535, POINT:DATA_START states"),
        ("data", 0, "data begin in block 0, POINT:DATA_START states"),
        ("samples", 65535, "cannot be 65535 samples"),
    ],
)
def test_damaged_header(small: Path, tmp_path: Path, word: str, value: float, said: str) -> None:
    offset, layout = WORDS[word]
    with pytest.raises(ReadError, match=said):
        read_c3d(changed(small, tmp_path / "a.c3d", layout, offset, value))


@pytest.mark.parametrize(
    ("parameter", "layout", "value", "said"),
    [
        ("RATE", "<f", 0.0, "frame rate is 0 Hz"),
        ("RATE", "<f", -50.0, "frame rate is -50 Hz"),
        ("RATE", "<f", np.nan, "frame rate is nan Hz"),
        ("USED", "<H", 60000, "counts 3 points, the parameter POINT:USED 60000"),
        ("FRAMES", "<H", 60000, "counts 10 frames, the parameter POINT:FRAMES 60000"),
    ],
)
def test_damaged_parameters(small: Path, tmp_path: Path, parameter: str, layout: str, value: float, said: str) -> None:
    with pytest.raises(ReadError, match=said):
        read_c3d(changed(small, tmp_path / "a.c3d", layout, offset_of(small, parameter), value))
