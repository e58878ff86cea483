"""The parameter section and the header of C3D at their limits, from bytes made by hand after the C3D user guide."""

import struct
from pathlib import Path

import numpy as np
import pytest

from c3d_files import changed, positions, write_c3d
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.header import Parameter, numbers, parse_parameters, texts, value
from limbtorque.recordings.c3d.read import read_c3d

INTEL, DEC, MIPS = 84, 85, 86


# --- parameter section -----------------------------------------------------------------------------------------------


def entry(name, group, body, *, last=False, order="<"):
    """Length of the name, group, name, distance to the next entry, and what follows it; a group's is its description."""
    step = 0 if last else 2 + len(body)
    return struct.pack("bb", len(name), group) + name + struct.pack(f"{order}H", step) + body


def parameter(size, shape, content):
    return struct.pack("bB", size, len(shape)) + bytes(shape) + content + b"\0"


def section(*entries, blocks=1, data_block=3, n_bytes=1024, order="<"):
    """A file of two blocks or more: the header names the parameters' block and that of the data."""
    raw = bytearray(n_bytes)
    raw[0] = 2
    struct.pack_into(f"{order}H", raw, 16, data_block)
    raw[512:516] = bytes([1, 80, blocks, 84])
    body = b"".join(entries)
    raw[516 : 516 + len(body)] = body
    return bytes(raw[:n_bytes])


RATE = entry(b"RATE", 1, parameter(4, (), struct.pack("<f", 100.0)))
POINT = entry(b"POINT", -1, b"\0")


def test_groups_and_parameters_by_name_in_any_order():
    used = entry(b"used", 1, parameter(2, (2,), struct.pack("<2h", 3, -4)), last=True)
    for entries in ((POINT, RATE, used), (RATE, POINT, used)):
        groups, broken_at, _ = parse_parameters(section(*entries), INTEL)
        assert broken_at is None
        assert set(groups) == {"POINT"}
        assert numbers(groups["POINT"]["RATE"], INTEL).tolist() == [100.0]
        assert numbers(groups["POINT"]["USED"], INTEL).tolist() == [3.0, -4.0]
        assert numbers(groups["POINT"]["USED"], INTEL, signed=False).tolist() == [3.0, 65532.0]


def test_the_first_of_two_counts_and_the_contradiction_is_named():
    again = entry(b"RATE", 1, parameter(4, (), struct.pack("<f", 7.0)))
    other = entry(b"LOST", 9, parameter(4, (), struct.pack("<f", 7.0)))
    groups, broken_at, twice = parse_parameters(section(POINT, RATE, again, other), INTEL)
    assert {name: list(group) for name, group in groups.items()} == {
        "POINT": ["RATE"]
    }  # one without a group is left out
    assert numbers(groups["POINT"]["RATE"], INTEL).tolist() == [100.0]
    assert broken_at is None
    assert twice == ("POINT:RATE",)
    assert parse_parameters(section(POINT, RATE, RATE), INTEL)[2] == ()


@pytest.mark.parametrize("size", [3, 0, -2, 5])
def test_a_kind_that_the_format_does_not_have_breaks_the_section_there(size):
    odd = entry(b"ODD", 1, parameter(size, (), b"\0" * 5))
    groups, broken_at, _ = parse_parameters(section(POINT, odd, RATE), INTEL)
    assert broken_at == 516 + len(POINT)
    assert list(groups["POINT"]) == ["RATE"]  # those after it are read


@pytest.mark.parametrize(("n_dimensions", "read"), [(1, True), (7, True), (8, False), (65, False), (200, False)])
def test_numbers_of_dimensions(n_dimensions, read):
    """The format says seven; more than numpy has are refused."""
    many = entry(b"MANY", 1, parameter(1, (1,) * n_dimensions, b"\5"))
    groups, broken_at, _ = parse_parameters(section(POINT, many), INTEL)
    assert ("MANY" in groups["POINT"]) == read
    assert (broken_at is None) == read


@pytest.mark.parametrize(("missing", "read"), [(0, True), (1, False)])
def test_content_ends_with_the_file(missing, read):
    """The last parameter's content is the last of the file; its description is not needed."""
    body = entry(b"RATE", 1, parameter(4, (2,), struct.pack("<2f", 100.0, 50.0))[:-1])
    n_bytes = 516 + len(POINT) + len(body) - missing
    groups, broken_at, _ = parse_parameters(section(POINT, body, n_bytes=n_bytes), INTEL)
    assert (list(groups["POINT"]) == ["RATE"]) == read
    assert (broken_at is None) == read or broken_at is not None
    if read:
        assert numbers(groups["POINT"]["RATE"], INTEL).tolist() == [100.0, 50.0]


def test_an_entry_that_leads_out_of_the_section():
    far = bytearray(RATE)
    struct.pack_into("<H", far, 6, 2000)
    groups, broken_at, _ = parse_parameters(section(POINT, bytes(far)), INTEL)
    assert list(groups["POINT"]) == ["RATE"]
    assert broken_at == 516 + len(POINT) + 6 + 2000


def test_text_and_numbers_of_every_kind():
    text = Parameter(-1, (3, 2), b"ab cde")
    assert texts(text) == value(text, INTEL) == ["ab ", "cde"]
    assert numbers(text, INTEL).tolist() == []
    assert texts(Parameter(1, (2,), b"\1\2")) == []
    np.testing.assert_array_equal(value(Parameter(1, (2, 2), b"\1\2\3\xff"), INTEL), [[1, 3], [2, 255]])
    assert numbers(Parameter(1, (1,), b"\xff"), INTEL, signed=False).tolist() == [255.0]
    assert value(Parameter(2, (), struct.pack(">h", -2)), MIPS).tolist() == [-2.0]
    assert value(Parameter(4, (1,), struct.pack(">f", 0.5)), MIPS).tolist() == [0.5]
    words = struct.unpack("<2H", struct.pack("<f", 0.5 * 4.0))  # DEC: words exchanged, exponent greater by 2
    assert value(Parameter(4, (1,), struct.pack("<2H", *words[::-1])), DEC).tolist() == [0.5]
    assert texts(Parameter(-1, (), b"x")) == ["x"]


# --- header ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_c3d(tmp_path / "small.c3d", positions(), analog=np.ones((20, 3)), analog_units=["V"] * 3)


def refused(source: Path, tmp_path: Path, layout: str, offset: int, number: float, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_c3d(changed(source, tmp_path / "changed.c3d", layout, offset, number))


@pytest.mark.parametrize("header_hz", [0.0, -5.0, float("nan")])
def test_a_header_without_a_rate_says_nothing_against_the_parameter(
    small: Path, tmp_path: Path, header_hz: float
) -> None:
    assert read_c3d(changed(small, tmp_path / "a.c3d", "<f", 20, header_hz)).rate_hz == 100.0


def test_positions_on_a_line_look_like_other_quantities(tmp_path: Path) -> None:
    """Two coordinates that are zero in every frame; negative ones are not zero, and gaps do not count."""
    values = -positions(10, 4)
    values[:, 1, 1:] = 0.0
    values[:, 2, 2] = 0.0
    values[0, 3, 1:] = 0.0  # in the first frame only
    values[3, 1] = np.nan
    notes = read_c3d(write_c3d(tmp_path / "a.c3d", values)).notes
    assert any("two coordinates are zero in every frame of M1: treated as positions" in note for note in notes)
    below = -np.abs(positions(10, 3))
    below[0, :, 1:] = 0.0
    assert not any("two coordinates" in note for note in read_c3d(write_c3d(tmp_path / "b.c3d", below)).notes)
