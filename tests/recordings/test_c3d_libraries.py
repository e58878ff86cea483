"""C3D files written byte by byte in every byte order, and long ones, by our own reader and by two libraries."""

from pathlib import Path

import numpy as np
import pytest

from c3d_files import DEC, INTEL, MIPS, raw_c3d, real
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.compare_readers import compare_c3d
from limbtorque.recordings.differences import SecondReading
from limbtorque.recordings.options import ReadOptions

FLOAT32 = 1.2e-7


def positions_mm(n_frames: int = 20, n_points: int = 3) -> np.ndarray:
    """Whole millimetres, which integers and real numbers hold exactly."""
    i, k = np.meshgrid(np.arange(n_frames) % 1000, np.arange(1, n_points + 1), indexing="ij")
    return np.stack([100.0 * k + i, -200.0 * k + 2 * i, 900.0 + 3.0 * k - i], axis=2)


def read_alike(path: Path, library: str) -> SecondReading:
    """The comparison of a file that a library reads with the same numbers."""
    found = compare_c3d(path, library)
    assert found is not None
    assert (found.refused, found.differences) == ("", ())
    return found


# ---- byte orders and storage ----


@pytest.mark.parametrize("scale", [-1.0, 1.0, 0.5])
@pytest.mark.parametrize("offset", [5, -5])
@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
def test_every_byte_order_and_storage(tmp_path: Path, processor: int, offset: int, scale: float) -> None:
    gone = np.zeros((20, 3), dtype=bool)
    gone[4:7, 1] = True
    analog = np.column_stack([np.arange(40), -3 * np.arange(40)])
    group = {"GEN_SCALE": np.array(0.5), "SCALE": np.array([2.0, 4.0]), "OFFSET": np.array([10, offset])}
    path = raw_c3d(
        tmp_path / "a.c3d",
        positions_mm(),
        processor=processor,
        scale=scale,
        analog=analog,
        missing=gone,
        parameters={"ANALOG": group},
    )
    if processor == MIPS:
        assert "MIPS processor type not supported" in compare_c3d(path, "ezc3d").refused
    elif offset < 0:
        assert "negative ANALOG:OFFSET" in compare_c3d(path, "ezc3d").refused
    else:
        read_alike(path, "ezc3d")
    read = read_c3d(path)
    expected = np.where(gone[:, :, np.newaxis], np.nan, positions_mm() * 1e-3)
    np.testing.assert_allclose(read.markers_m, expected, rtol=FLOAT32)
    np.testing.assert_allclose(read.analog, [1.0, 2.0] * (analog - [10, offset]), rtol=FLOAT32)
    assert (read.rate_hz, read.analog_rate_hz, read.labels) == (100.0, 200.0, ("M0", "M1", "M2"))
    if processor != MIPS:
        read_alike(path, "c3d")


@pytest.mark.parametrize("offset", [np.array([10.0, -5.0]), np.array([10, -5], dtype=np.int8) & 0x7F])
def test_odd_types_of_offset(tmp_path: Path, offset: np.ndarray) -> None:
    analog = np.column_stack([np.arange(20), 2 * np.arange(20)])
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), analog=analog, parameters={"ANALOG": {"OFFSET": offset}})
    read = read_c3d(path)
    np.testing.assert_allclose(read.analog, analog - offset.astype(float), rtol=FLOAT32)


def test_channels_without_a_scale_of_their_own(tmp_path: Path) -> None:
    analog = np.column_stack([np.arange(20), 2 * np.arange(20)])
    group = {"SCALE": np.array([3.0]), "OFFSET": np.array([1]), "GEN_SCALE": np.array(0.5)}
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), analog=analog, parameters={"ANALOG": group})
    found = read_c3d(path)
    np.testing.assert_allclose(found.analog[:, 0], 1.5 * (analog[:, 0] - 1), rtol=FLOAT32)
    assert np.isnan(found.analog[:, 1]).all()
    assert [guess.item for guess in found.audit.guesses] == ["scale of channels"]


# ---- long files, many points ----


def long_file(path: Path, n_frames: int, first: int = 1, **parameters: object) -> Path:
    """One point, more frames than the header can count."""
    words = {4: first, 5: 65535}
    frames = {"POINT": {"FRAMES": np.array(65535)}}
    for name, value in parameters.items():
        group, _, key = name.partition("__")
        frames.setdefault(group, {})[key] = value
    return raw_c3d(path, positions_mm(n_frames, 2), words=words, parameters=frames)


def fields(number: int) -> np.ndarray:
    return np.array([number & 0xFFFF, number >> 16])


@pytest.mark.parametrize(
    ("first", "parameters", "source"),
    [
        (1, {"TRIAL__ACTUAL_START_FIELD": fields(1), "TRIAL__ACTUAL_END_FIELD": fields(70_000)}, "TRIAL:ACTUAL"),
        (9, {"TRIAL__ACTUAL_START_FIELD": fields(200_001), "TRIAL__ACTUAL_END_FIELD": fields(270_000)}, "TRIAL:ACTUAL"),
        (1, {"POINT__LONG_FRAMES": np.array(70_000.0)}, "POINT:LONG_FRAMES"),
        (1, {"POINT__FRAMES": np.array(70_000.0)}, "POINT:FRAMES"),
    ],
)
def test_long_files(tmp_path: Path, first: int, parameters: dict[str, np.ndarray], source: str) -> None:
    read = read_c3d(long_file(tmp_path / "a.c3d", 70_000, first, **parameters))
    assert read.n_frames == 70_000
    assert read.first_frame == (200_001 if first == 9 else 1)
    np.testing.assert_allclose(read.markers_m, positions_mm(70_000, 2) * 1e-3, rtol=FLOAT32)
    if source == "POINT:FRAMES":
        assert "FRAMES parameter is not an INT" in compare_c3d(tmp_path / "a.c3d", "ezc3d").refused
    else:
        read_alike(tmp_path / "a.c3d", "ezc3d")
    (frames,) = (finding for finding in read.audit.findings if finding.item == "frames")
    assert f"counted by {source}" in frames.stated


def test_more_than_255_points(tmp_path: Path) -> None:
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(5, 600))
    read = read_c3d(path)
    assert read.labels == tuple(f"M{i}" for i in range(600))
    np.testing.assert_allclose(read.markers_m, positions_mm(5, 600) * 1e-3, rtol=FLOAT32)
    assert read_alike(path, "ezc3d").compared == "600 markers compared"
    assert read_alike(path, "c3d").compared == "600 markers compared"


@pytest.mark.parametrize("scale", [0.1, 0.25, -1.0])
def test_a_scale_that_only_the_header_has(tmp_path: Path, scale: float) -> None:
    """Word 7 and 8 of the header; positions are whole numbers of it, or real numbers where it is negative."""
    positions_mm = 0.5 * np.arange(90.0).reshape(10, 3, 3) + 1.0
    path = raw_c3d(tmp_path / "a.c3d", positions_mm, scale=scale, parameters={"POINT": {"SCALE": None}})
    np.testing.assert_allclose(1000.0 * read_c3d(path).markers_m, positions_mm, rtol=1e-6)


# ---- text and events ----


def test_labels_in_other_encodings(tmp_path: Path) -> None:
    labels = ["Hüfte".encode(), "Knöchel".encode("cp1252"), "Fuß".encode("cp1252")]
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), parameters={"POINT": {"LABELS": labels}})
    read = read_c3d(path)
    assert read.labels == ("Hüfte", "Knöchel", "Fuß")
    assert [guess.item for guess in read.audit.guesses] == ["text"]
    assert read_alike(path, "ezc3d").compared == read_alike(path, "c3d").compared == "3 markers compared"
    path = raw_c3d(tmp_path / "b.c3d", positions_mm(1, 1), parameters={"POINT": {"LABELS": ["腰".encode("shift_jis")]}})
    read = read_c3d(path, ReadOptions(text_encoding="shift_jis"))
    assert read.labels == ("腰",)
    assert compare_c3d(path, "ezc3d", ReadOptions(text_encoding="shift_jis")).compared == "1 markers compared"
    assert not read.audit.guesses


@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
def test_events_of_group_and_header(tmp_path: Path, processor: int) -> None:
    event = {
        "USED": np.array(2),
        "TIMES": np.array([[0.0, 1.0], [59.95, 0.05]]),
        "LABELS": ["Foot Strike", "Foot Off"],
        "CONTEXTS": ["Left", "Right"],
    }
    words = {4: 5991, 5: 6010}
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), processor=processor, words=words, parameters={"EVENT": event})
    found = [(e.label, e.context, round(e.time_s, 4)) for e in read_c3d(path).events]
    assert found == [("Foot Strike", "Left", 0.05), ("Foot Off", "Right", 0.15)]
    if processor != MIPS:
        assert read_alike(path, "ezc3d").compared == "3 markers, 2 events compared"


@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
def test_events_of_the_header_stand_at_their_bytes(tmp_path: Path, processor: int) -> None:
    """C3D user guide, header: their number in word 151, times from word 153 on, labels of four letters from word 199 on."""
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), processor=processor, words={151: 3})
    raw = bytearray(path.read_bytes())
    raw[304:316] = real([0.125, 0.03125, 0.0625], processor)
    raw[396:408] = b"RHS LTO B   "
    path.write_bytes(raw)
    found = [(event.label, event.context, event.time_s) for event in read_c3d(path).events]
    assert found == [("LTO", "", 0.03125), ("B", "", 0.0625), ("RHS", "", 0.125)]


@pytest.mark.parametrize("encoding", ["ascii", "no-such-code"])
def test_texts_that_the_given_encoding_cannot_read_are_read_as_latin_1(tmp_path: Path, encoding: str) -> None:
    labels = ["Hip", "Fuß".encode("latin-1")]
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(20, 2), parameters={"POINT": {"LABELS": labels}})
    assert read_c3d(path, ReadOptions(text_encoding=encoding)).labels == ("Hip", "Fuß")


# ---- files that break off, or are full ----


@pytest.mark.parametrize("processor", [INTEL, MIPS])
def test_parameters_that_fill_their_blocks(tmp_path: Path, processor: int) -> None:
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), processor=processor, full=True)
    raw = path.read_bytes()
    start = 512 * (int.from_bytes(raw[16:18], "little" if processor == INTEL else "big") - 1)
    assert raw[start - 3 : start] == b"xx\0"  # a text and its empty description: no end mark
    read = read_c3d(path)
    assert (read.reader, read.labels) == ("limbtorque.recordings.c3d.read", ("M0", "M1", "M2"))
    np.testing.assert_allclose(read.markers_m, positions_mm() * 1e-3, rtol=FLOAT32)


def test_more_blocks_of_parameters_than_their_byte_can_count(tmp_path: Path) -> None:
    filler = {f"T{k}": ["x" * 200] * 100 for k in range(7)}
    event = {"USED": np.array(1), "TIMES": np.array([[0.0], [0.05]]), "LABELS": ["Off"], "CONTEXTS": ["Left"]}
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), parameters={"EXTRA": filler, "EVENT": event})
    assert int.from_bytes(path.read_bytes()[16:18], "little") > 257
    (found,) = read_c3d(path).events  # behind all the others
    assert (found.label, found.context) == ("Off", "Left")


def test_invisible_characters_are_removed_from_labels(tmp_path: Path) -> None:
    labels = ["RS\u200bHO", "RELB", "RWRI"]
    read = read_c3d(raw_c3d(tmp_path / "a.c3d", positions_mm(), parameters={"POINT": {"LABELS": labels}}))
    assert read.labels == ("RSHO", "RELB", "RWRI")
    assert read_alike(tmp_path / "a.c3d", "ezc3d").compared == "3 markers compared"
    assert any("'RSHO' has invisible characters" in note for note in read.notes)
