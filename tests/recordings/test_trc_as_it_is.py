"""TRC files that nobody can export again: what is there is read, and what was assumed is said and refused by `strict`."""

import re

import numpy as np
import pytest

import text_files
from limbtorque.errors import ReadError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording

NAMES = text_files.LABELS


def lines_of(path):
    return path.read_text(encoding="utf-8").split("\n")


@pytest.fixture
def trc(tmp_path):
    return text_files.write_trc(tmp_path / "a.trc", first_frame=31)


def read(path, lines, end="\n", options=ReadOptions()):  # noqa: B008 (frozen)
    path.write_bytes(end.join(lines).encode())
    return read_recording(path, options)


def check(recording, n_frames=12):
    assert recording.labels == NAMES
    assert (recording.rate_hz, recording.first_frame) == (100.0, 31)
    np.testing.assert_allclose(recording.markers_m, text_files.positions_mm(12)[:n_frames] / 1e3, atol=1e-12)


def guessed(recording):
    return {finding.item for finding in recording.audit.guesses}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n", "\n\n"])
@pytest.mark.parametrize("after", [[], [""] * 50, ["\t\t", "  "]])
def test_line_ends_of_all_systems_and_empty_lines(trc, end, after):
    recording = read(trc, [*lines_of(trc), *after, ""], end)
    check(recording)
    assert not guessed(recording)


def test_blanks_between_the_cells_are_refused(trc):
    with pytest.raises(ReadError, match="line 7: there are no tabs between the cells; write tabs"):
        read(trc, [re.sub("\t+", " ", line) for line in lines_of(trc)])


@pytest.mark.parametrize("stated", ["13", "11", "0", "-1", "1e9", "many", ""])
def test_numbers_of_frames_that_are_wrong(trc, stated):
    recording = read(trc, [line.replace("\t12\t3", f"\t{stated}\t3") for line in lines_of(trc)])
    check(recording)
    assert guessed(recording) == ({"lines of data"} if stated else {"heading"})
    if stated:
        assert f"NumFrames is {stated!r}, the file has 12 lines of data: the latter are read" in recording.notes


@pytest.mark.parametrize("stated", ["2", "4", "0", "400", "three"])
def test_numbers_of_markers_that_are_wrong(trc, stated):
    recording = read(trc, [line.replace("\t3\tmm", f"\t{stated}\tmm") for line in lines_of(trc)])
    check(recording)
    assert guessed(recording) == {"names of markers"}


def test_the_original_number_of_frames_is_not_used(trc):
    recording = read(trc, [re.sub("\t1\t12$", "\t500\t99", line) for line in lines_of(trc)])
    check(recording)
    assert not guessed(recording)


@pytest.mark.parametrize("missing", [(0,), (1, 2), (4,), (5,), (0, 1, 2, 4, 5), (0, 4)])
def test_lines_of_the_heading_that_are_missing(trc, missing):
    lines = [line for k, line in enumerate(lines_of(trc)) if k not in missing]
    if 1 in missing:
        with pytest.raises(ReadError, match="unit of length: Units: not stated"):
            read(trc, lines)
    recording = read(trc, lines, options=ReadOptions(length_unit="mm"))
    check(recording)
    assert guessed(recording) - {"rate"} == (set() if missing == (5,) else {"heading"})


@pytest.mark.parametrize("name", range(3))
@pytest.mark.parametrize("empty", [False, True])
def test_a_name_that_is_missing_is_not_guessed(trc, name, empty):
    """Also where the last marker has no sample, so that as many columns are filled as there are names."""
    lines = [line.replace(f"\t{NAMES[name]}", "\t") if k == 3 else line for k, line in enumerate(lines_of(trc))]
    if empty:
        lines = [re.sub(r"(\t[^\t]+){3}$", "\t\t\t", line) if k > 5 else line for k, line in enumerate(lines)]
    if empty and name == 2:  # neither named nor filled
        assert read(trc, lines).labels == NAMES[:2]
        return
    with pytest.raises(ReadError, match="every marker needs one"):
        read(trc, lines)
