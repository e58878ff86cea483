"""C3D files whose parameters contradict each other or the physics of a foot on a plate: the guess that says it."""

import numpy as np
import pytest

import c3d_damage
from c3d_damage import real_values, text_rows, with_parameter
from c3d_files import INTEL
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.header import numbers, parse_parameters, texts
from limbtorque.recordings.read import read_recording

KINDS = {1: "intel real type 1", 2: "intel real type 2", 4: "intel integer type 4"}


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    found = c3d_damage.force_bases(tmp_path_factory.mktemp("bases"))
    return {kind: found[name] for kind, name in KINDS.items()}


def guesses(tmp_path, raw):
    path = tmp_path / "a.c3d"
    path.write_bytes(raw)
    return {guess.item: guess.stated for guess in read_recording(path).audit.guesses}


def group_of(raw, name):
    return parse_parameters(raw, INTEL)[0][name]


def with_units(raw, change):
    return with_parameter(raw, "ANALOG", "UNITS", text_rows(change(texts(group_of(raw, "ANALOG")["UNITS"]))))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", ["Nm", "Ncm"])
def test_moments_of_a_plate_in_two_units(kind, unit, bases, tmp_path):
    """The last channel of the first plate, in N mm, is called N m: its free moment is a thousand times too large."""
    found = guesses(tmp_path, with_units(bases[kind], lambda units: [*units[:5], unit, *units[6:]]))
    assert found["units of the force plates"] == f"{unit.lower()} and nmm both present"


def test_the_same_unit_in_two_spellings_is_no_contradiction(bases, tmp_path):
    assert not guesses(tmp_path, with_units(bases[2], lambda units: ["Newtons", *units[1:5], "N.mm", *units[6:]]))


def test_a_free_moment_that_no_foot_has(bases, tmp_path):
    """Free moments of type 1, N mm as N m in both plates: up to 1.3 m times the force, of a foot 0.02 m at most."""
    nm = with_units(bases[1], lambda units: ["Nm" if unit == "Nmm" else unit for unit in units])
    assert [*guesses(tmp_path, nm)] == [f"free moment of force plate {k}" for k in (1, 2)]


@pytest.mark.parametrize(("shift_mm", "covered"), [(0.0, "100%"), (300.0, "50%"), (-510.0, "15%")])
def test_plates_that_cover_each_other(shift_mm, covered, bases, tmp_path):
    corners = c3d_damage._corners()
    corners[:, :, 1] = corners[:, :, 0] + np.array([[shift_mm], [0.0], [0.0]])
    found = guesses(tmp_path, with_parameter(bases[2], "FORCE_PLATFORM", "CORNERS", real_values(corners, INTEL)))
    assert found["place of force plates 1 and 2"] == f"they overlap by {covered}"


def test_plates_beside_and_over_each_other_are_none_of_these(bases, tmp_path):
    corners = c3d_damage._corners()
    corners[:, :, 1] = corners[:, :, 0] + np.array([[0.0], [0.0], [170.0]])  # a step of stairs
    found = guesses(tmp_path, with_parameter(bases[2], "FORCE_PLATFORM", "CORNERS", real_values(corners, INTEL)))
    assert "place of force plates 1 and 2" not in found
    assert not guesses(tmp_path, bases[2])


@pytest.mark.parametrize("kind", [2, 4])
def test_an_origin_in_metres_beside_corners_in_millimetres(kind, bases, tmp_path):
    origin = group_of(bases[kind], "FORCE_PLATFORM")["ORIGIN"]
    metres = real_values(1e-3 * numbers(origin, INTEL).reshape(origin.shape, order="F"), INTEL)
    found = guesses(tmp_path, with_parameter(bases[kind], "FORCE_PLATFORM", "ORIGIN", metres))
    assert {"origin of force plate 1", "origin of force plate 2"} <= found.keys()


def test_events_under_a_name_with_blanks_are_read(bases, tmp_path):
    groups = {f"{name} ": entries for name, entries in parse_parameters(bases[2], INTEL)[0].items()}
    path = tmp_path / "a.c3d"
    path.write_bytes(c3d_damage._with_groups(bases[2], groups, INTEL))
    assert b"EVENT \x03" in path.read_bytes()
    assert len(read_recording(path).events) == 2


@pytest.mark.parametrize("number", [0, 90])
def test_events_without_their_group_are_refused(number, bases, tmp_path):
    """A group of number 0 ends the parameters by the format; one of another number leaves its parameters alone."""
    raw = bytearray(bases[2])
    raw[raw.index(b"EVENT") - 1] = (256 - number) % 256
    path = tmp_path / "a.c3d"
    path.write_bytes(bytes(raw))
    with pytest.raises(ReadError, match="the parameters are not readable beyond byte"):
        read_recording(path)
