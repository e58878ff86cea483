"""Text files with a stray character in a cell of numbers or of the heading: refused or said, and never another number."""

import re

import pytest

import text_files
from c3d_damage import silently_changed
from damage import text_bases
from limbtorque.errors import ReadError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording

SAID = ReadOptions(length_unit="mm", force_unit="N")
STRAY = (*"()[]{}\"'~|;<&%/_", "\x0b", "\x1c", "\x1a", "\x7f", "\u00a0", "\u2028", "\u0661", "\u2212", '""')
PLAIN = re.compile(r'\s*"?[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"?\s*', re.ASCII | re.IGNORECASE)
FORMATS = (
    *("a.trc", "a.sto", "v.sto", "f.mot", "a.tsv", "n.csv", "p.csv"),
    *("o.csv", "c.forces", "c.anc", "q_f_1.tsv", "w.txt"),
)


def silent(path, good, content):
    """Fields that changed with nothing said; none for a file that is refused."""
    path.unlink()
    path.write_text(content, encoding="utf-8", newline="")
    try:
        return silently_changed(good, read_recording(path, SAID))
    except ReadError:
        return ()


def with_stray(cell):
    """The cell with a stray character within it, and in the place of its first or last digit."""
    half = len(cell) // 2
    for mark in STRAY:
        yield from (mark + cell[1:], cell[:-1] + mark, cell[:half] + mark + cell[half:])


@pytest.mark.parametrize("name", FORMATS)
def test_a_cell_that_is_no_number_is_no_other_number(name, tmp_path):
    path = tmp_path / name
    text = text_bases(tmp_path)[name].decode()
    good = read_recording(path, SAID)
    lines = text.split("\n")
    numbers = [k for k, line in enumerate(lines) if re.match(r"-?[\d.]+[\t, ]", line)]
    k = numbers[len(numbers) // 2]
    cells = re.split("([\t, ])", lines[k])
    for j in sorted({0, 2, 2 * (len(cells) // 2)}):  # number or time, the first value, the last
        for cell in with_stray(cells[j]):
            if not PLAIN.fullmatch(cell):
                line = "".join([*cells[:j], cell, *cells[j + 1 :]])
                assert not silent(path, good, "\n".join([*lines[:k], line, *lines[k + 1 :]])), cell


HEADINGS = (
    ("a.trc", "100.0\t100.0\t12", "100.(\t100.0\t12", "DataRate is '100.(', not a number above zero"),
    ("a.trc", "100.0\t100.0\t12", "0\t100.0\t12", "DataRate is '0', not a number above zero"),
    ("a.trc", "100.0\t100.0\t12", "100.0\tfast\t12", "CameraRate is 'fast', not a number"),
    ("a.trc", "mm\t100.0", "mm\t1OO", "OrigDataRate is '1OO', not a number"),
    ("a.trc", "\t12\t3", "\t1\u0662\t3", "NumFrames is '1\u0662', the file has 12 lines of data"),
    ("a.trc", "\t12\t3", "\t12\t3)", "NumMarkers is '3)', the file has 3 names of markers"),
    ("a.sto", "nRows=12", "nRows=1(", "nrows is '1(', the file has 12 rows"),
    ("a.sto", "nRows=12", "nRows=1\u00b2", "nrows is '1\u00b2', the file has 12 rows"),
    ("v.sto", "DataRate=100.0", "DataRate=1O0.0", "DataRate is '1O0.000000', not a number above zero"),
    ("a.sto", "RSHO_tx", "RSHO(tx", "marker 'RSHO' has no column x"),
    ("p.csv", "S:RSHO_y_mm", "S:RSHO~y_mm", "marker 'S:RSHO' has no column y"),
    ("f.mot", "\tground_force_vx", "\t(round_force_vx", "columns of incomplete wrenches"),
    ("a.tsv", "EVENT\tstart", "EVENT\t\tstart", "line 10: expected EVENT, a name, a frame and a time"),
    ("a.tsv", "\t5\t0.04", "\t5(\t0.04", "line 10: expected EVENT, a name, a frame and a time"),
    ("n.csv", ",,N,N", '",,N,N', "line 10: a quote does not end"),
    ("n.csv", ",,S:RSHO,,,", ",S:RSHO,,,,", "2 labels over 9 columns"),
    ("n.csv", ",,S:RSHO,,,", ",,,S:RSHO,,", "3 labels over 9 columns"),
    ("n.csv", "51,1,1,", "51,3,1,", "follows sample"),
    ("o.csv", "Frame Rate,100.000000,Rot", "Frame Rate,100.000;00,Rot", "Export Frame Rate is '100.000;00', not"),
    ("o.csv", ",Marker,", ",Marker;,", "column 6 does not match the type, name and content of its neighbours"),
    ("o.csv", "Position", "Pos(tion", "column 4 does not match the type, name and content"),
    ("o.csv", "X,Y,Z", "X,Y/,Z", "column 3 does not match the type, name and content"),
    ("o.csv", ',"S:RSHO"', ',,"S:RSHO"', "column 3 does not match the type, name and content"),
    ("o.csv", '"S:RELB"', '"S:RELB', "line 4: a quote does not end"),
    ("o.csv", "Bone,Bone,Bone,", "Bo;e,Bo;e,Bo;e,", "positions of 'Bo;e', of unknown type, are left out"),
    ("c.forces", "SampleRate=1000.0", "SampleRate=10_0.0", "samplerate is '10_0.000000', expected a number"),
    ("c.forces", "\n3.000\t", "\n4.000\t", "sample 4 follows sample 2"),
    ("c.anc", "Range\t10000", "Range\t10_00", "line 11: the bit depth, the ranges or the rates are not numbers"),
    ("c.anc", "Range\t10000\t5000", "Range\t10000", "1 ranges and 2 rates, expected one each"),
    ("c.anc", "Rate\t1000\t1000", "Rate\t1000\t500", "2 rates, expected one each, and 1000 Hz for all"),
    ("c.anc", "\n0.003000\t", "\n0.004000\t", "frames must be evenly spaced"),
    ("q_f_1.tsv", "local (force", "l(cal (force", "DESCRIPTION does not state its axes"),
    ("q_f_1.tsv", "FREQUENCY\t400", "FREQUENCY\t4_0", "FREQUENCY is '4_0', expected a number"),
    ("q_f_1.tsv", "Y\t200.000", "Y\t00.000", "FORCE_PLATE_CORNER are not those of a rectangle"),
    ("q_f_1.tsv", "\n3.000000\t", "\n4.000000\t", "frame 4 follows frame 2"),
    ("w.txt", "'X' 'Y' 'X'", "'' 'Y' 'X'", "columns that are neither time, frame nor marker, left out: RIGHT HIP"),
)


@pytest.mark.parametrize(("name", "old", "new", "told"), HEADINGS)
def test_a_damaged_heading_is_refused_or_said(name, old, new, told, tmp_path):
    """Names, counts, rates, axes and types that a stray character broke, or that stand over other columns."""
    path = tmp_path / name
    text = text_bases(tmp_path)[name].decode()
    assert text.count(old)
    good = read_recording(path, SAID)
    path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="")
    try:
        found = read_recording(path, SAID)
    except ReadError as error:
        messages = [str(error)]
    else:
        messages = [note for note in found.notes if note not in good.notes]
    assert any(told in message for message in messages), messages


def test_a_control_character_is_named_with_its_line_and_the_end_mark_of_dos_is_none(tmp_path):
    path = text_files.write_trc(tmp_path / "a.trc")
    text = path.read_text(encoding="utf-8")
    path.write_bytes(text.encode() + b"\x1a\x1a")
    assert read_recording(path, SAID).labels == text_files.LABELS
    path.write_text(text.replace("S:RELB", "S:R\x04LB"), encoding="utf-8")
    with pytest.raises(ReadError, match=r"a\.trc line 4: a control character \(0x04\)"):
        read_recording(path, SAID)


def test_a_line_of_units_that_is_empty_is_no_traceback(tmp_path):
    """Its channels are of no plate and keep no unit."""
    path = text_files.write_vicon(tmp_path / "n.csv")
    path.write_text(path.read_text(encoding="utf-8").replace("\n,,N,N", "\n"), encoding="utf-8")
    assert read_recording(path).analog_units == ("", "")


def test_a_whole_set_of_columns_of_two_wrenches_is_read_and_a_part_is_no_marker(tmp_path):
    path = text_files.write_grf_mot(tmp_path / "f.mot")
    path.write_text(path.read_text(encoding="utf-8").replace("\tground_force_vx", "\tvx", 1), encoding="utf-8")
    found = read_recording(path, SAID)
    assert [len(found.force_plates), found.labels] == [1, ()]
