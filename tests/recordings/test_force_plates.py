"""Force plates of types 1 to 4 against closed forms."""

import re
import time
from pathlib import Path

import numpy as np
import pytest

from c3d_files import plate, positions, write_c3d
from limbtorque.recordings.c3d.plates import force_plates
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.recording import Recording

FLOAT32 = 2e-7  # relative error of a rounded and rescaled single precision number


FORCE = np.array([30.0, -20.0, 700.0])  # of the plate on the foot, laboratory
POINT = np.array([1.1, 2.05, 0.0])
FREE = np.array([0.0, 0.0, 5.0])
TURN = np.diag([1.0, -1.0, -1.0])  # laboratory to plate: x, -y, z down
ABOUT_ORIGIN = np.cross(POINT, FORCE) + FREE


def plate_signals() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, moment about the sensor 40 mm below the surface, point on the surface: in the plate's axes."""
    force, point = TURN @ FORCE, TURN @ (POINT - [1.0, 2.0, 0.0])
    return force, np.cross(point - [0.0, 0.0, 0.04], force) + TURN @ FREE, point


def one_plate(path: Path, kind: int, signals: np.ndarray, units: list[str], **more: object) -> Recording:
    group = plate(kind, channels=len(signals), **more)
    analog = np.tile(signals, (20, 1))
    return read_c3d(write_c3d(path, positions() * 1e3, units="mm", groups=group, analog=analog, analog_units=units))


def check_wrench(read: Recording, kind: int) -> None:
    (p,) = read.force_plates
    assert (p.number, p.kind, p.rate_hz) == (1, kind, 200.0)
    np.testing.assert_allclose(p.force_n, np.tile(FORCE, (20, 1)), rtol=FLOAT32, atol=1e-4)
    np.testing.assert_allclose(p.moment_nm, np.tile(ABOUT_ORIGIN, (20, 1)), rtol=1e-6)
    np.testing.assert_allclose(p.corners_m[0], [1.2, 1.7, 0.0], atol=1e-6)


def test_type_1(tmp_path: Path) -> None:
    force, _, point = plate_signals()
    signals = np.array([*force, *point[:2] * 1e3, -5e3])
    check_wrench(one_plate(tmp_path / "a.c3d", 1, signals, ["N", "N", "N", "mm", "mm", "Nmm"]), 1)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(("unit", "scale"), [("Nmm", 1e3), ("N.m", 1.0), ("Ncm ", 1e2), ("newton metres", 1.0)])
def test_type_2(tmp_path: Path, unit: str, scale: float, sign: float) -> None:
    force, moment, _ = plate_signals()
    origin = np.array([[0.0], [0.0], [sign * 40.0]])
    signals = np.array([*force, *moment * scale])
    check_wrench(one_plate(tmp_path / "a.c3d", 2, signals, ["N", "N", "newtons", unit, unit, unit], ORIGIN=origin), 2)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_type_3(tmp_path: Path, sign: float) -> None:
    a, b, depth = 0.15, 0.25, 0.04
    sensors = np.array([[a, b, depth], [-a, b, depth], [-a, -b, depth], [a, -b, depth]])
    forces = np.array([[3.0, 5.0, -100.0], [4.0, -2.0, -150.0], [-1.0, 6.0, -250.0], [2.0, 7.0, -200.0]])
    (x1, x2, x3, x4), (y1, y2, y3, y4), fz = forces.T
    signals = np.array([x1 + x2, x3 + x4, y1 + y4, y2 + y3, *fz])
    moment = np.cross(sensors, forces).sum(axis=0)
    force_n = TURN @ forces.sum(axis=0)
    about_origin = TURN @ moment + np.cross([1.0, 2.0, 0.0], force_n)
    origin = np.array([[150.0], [250.0], [sign * 40.0]])
    (p,) = one_plate(tmp_path / "a.c3d", 3, signals, ["N"] * 8, ORIGIN=origin).force_plates
    np.testing.assert_allclose(p.force_n[0], force_n, rtol=1e-6)
    np.testing.assert_allclose(p.moment_nm[0], about_origin, rtol=1e-6)


@pytest.mark.parametrize("units", [["V"] * 6, ["N", "N", "N", "Nmm", "Nmm", "Nmm"], ["kN"] * 3 + ["kNm"] * 3])
def test_type_4(tmp_path: Path, units: list[str]) -> None:
    force, moment, _ = plate_signals()
    calibration = np.random.default_rng(3).normal(size=(6, 6)) + 4 * np.eye(6)
    calibrated = [*force, *moment * 1e3] if units[0] != "kN" else [*force / 1e3, *moment / 1e3]
    signals = np.linalg.solve(calibration, np.array(calibrated))
    (p,) = one_plate(tmp_path / "a.c3d", 4, signals, units, CAL_MATRIX=calibration[:, :, np.newaxis]).force_plates
    np.testing.assert_allclose(p.force_n[0], FORCE, atol=0.02)  # matrix and counts in single precision
    np.testing.assert_allclose(p.moment_nm[0], ABOUT_ORIGIN, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        (
            2,
            {"CHANNEL": np.arange(5.0, 11.0)[:, np.newaxis]},
            r"channels \[5, 6, 7, 8, 9, 10\], the file has 6",
        ),
        (2, {"CORNERS": np.zeros((3, 4, 1))}, "CORNERS do not span a surface"),
        (2, {"CORNERS": np.zeros((3, 3, 1))}, "CORNERS is 3 x 3 x 1, expected 3 x 4"),
        (2, {"USED": [2]}, "force plate 2 is left out: FORCE_PLATFORM:TYPE names 1"),
        (7, {}, "of type 7; types 1, 2, 3 and 4"),
        (3, {}, "CHANNEL does not name the 8 channels"),
        (4, {}, "CAL_MATRIX is 0, expected 6 x 6"),
    ],
)
def test_unusable_plate_is_noted(tmp_path: Path, kind: int, change: dict[str, object], said: str) -> None:
    force, moment, _ = plate_signals()
    units = ["N", "N", "N", "Nmm", "Nmm", "Nmm"]
    read = one_plate(tmp_path / "a.c3d", kind, np.array([*force, *moment * 1e3]), units, **change)
    assert read.markers_m.shape == (10, 3, 3)
    assert len(read.force_plates) == (1 if "USED" in change else 0)
    notes = [note for note in read.notes if "is left out: " in note]
    assert len(notes) == 1
    assert re.search(said, notes[0])


@pytest.mark.parametrize("units", [["V"] * 6, ["N", "N", "N", "", "", ""], ["N"] * 6])
def test_unit_of_a_plate_is_never_guessed(tmp_path: Path, units: list[str]) -> None:
    force, moment, _ = plate_signals()
    read = one_plate(tmp_path / "a.c3d", 2, np.array([*force, *moment]), units)
    assert not read.force_plates
    assert any("force plate 1 is left out: ANALOG:UNITS" in note for note in read.notes)


def test_force_on_the_plate_is_not_taken_for_the_reaction(tmp_path: Path) -> None:
    force, moment, _ = plate_signals()
    read = one_plate(tmp_path / "a.c3d", 2, -np.array([*force, *moment]), ["N", "N", "N", "Nm", "Nm", "Nm"])
    assert not read.force_plates
    assert any("left out: its force points away from the markers under load (700 N" in note for note in read.notes)


def test_baseline_is_noted_and_not_subtracted(tmp_path: Path) -> None:
    force, moment, _ = plate_signals()
    read = one_plate(tmp_path / "a.c3d", 2, np.array([*force, *moment * 1e3]), ["N"] * 3 + ["Nmm"] * 3, ZERO=[1, 10])
    assert any("samples 1 to 10" in note for note in read.notes)
    check_wrench(read, 2)


def test_plates_follow_a_turned_laboratory() -> None:
    """Turning corners and markers turns the wrench."""
    force, moment, _ = plate_signals()
    group = plate(2)["FORCE_PLATFORM"]
    turn = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # y is up
    options = {"rate_hz": 1000.0, "length_m": 1e-3}
    analog, units = np.array([[*force, *moment]]), ["N", "N", "N", "Nm", "Nm", "Nm"]
    (p,), _ = force_plates(group, analog, units, positions_m=positions(), **options)
    turned = {**group, "CORNERS": np.einsum("ij,jkl->ikl", turn, group["CORNERS"])}
    (q,), _ = force_plates(turned, analog, units, positions_m=positions() @ turn.T, **options)
    np.testing.assert_allclose(q.force_n, p.force_n @ turn.T, atol=1e-9)
    np.testing.assert_allclose(q.moment_nm, p.moment_nm @ turn.T, atol=1e-9)


def test_a_number_of_plates_that_no_laboratory_has_costs_no_time() -> None:
    group = {"USED": np.array([1e8]), "TYPE": np.array([2.0])}
    start = time.process_time()
    plates, notes = force_plates(
        group, np.zeros((20, 6)), ["N"] * 6, rate_hz=100.0, length_m=1e-3, positions_m=positions(20)
    )
    assert time.process_time() - start < 1.0
    assert plates == ()
    assert "FORCE_PLATFORM:USED is 100000000; plates after number 100 are not read" in notes
