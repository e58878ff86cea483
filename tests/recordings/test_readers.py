"""Readers against known answers of real recordings, closed forms, and damaged files."""

import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import ezc3d
import numpy as np
import pytest

from c3d_files import changed, offset_of, plate, without_last_label, write_c3d
from limbtorque.errors import LandmarkError, ReadError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.force_plates import force_plates
from limbtorque.recordings.recording import Event, Recording, find_marker
from limbtorque.recordings.sandbox import GuardedReader

FLOAT32 = 2e-7  # relative error of a rounded and rescaled single precision number


def positions(n_frames: int = 10, n_points: int = 3) -> np.ndarray:
    """Points that tremble by a millimetre: slower than a body."""
    random = np.random.default_rng(7)
    return 4.0 + random.normal(size=(n_points, 3)) + 1e-3 * random.normal(size=(n_frames, n_points, 3))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_c3d(tmp_path / "small.c3d", positions())


def marker(recording: Recording, name: str) -> np.ndarray:
    return recording.markers_m[:, find_marker(recording, name)]


def storage(path: Path) -> tuple[list[str], np.ndarray]:
    """Columns and rows of an OpenSim storage file."""
    lines = path.read_text().splitlines()
    start = lines.index("endheader") + 1
    return lines[start].split(), np.array([[float(x) for x in line.split()] for line in lines[start + 1 :] if line])


# ---- known answers ----


@pytest.mark.parametrize("kind", ["pi", "pr", "vi", "vr", "si", "sr"])
def test_sample01_formats_agree(recordings: Path, kind: str) -> None:
    """One trial in three byte orders, integers and real numbers: one recording."""
    read = read_c3d(recordings / "c3d_org" / "sample01" / f"Eb015{kind}.c3d")
    real = read_c3d(recordings / "c3d_org" / "sample01" / "Eb015pr.c3d")
    unit_m = 0.0833333 * 1e-3  # POINT:SCALE: one step of the integers
    tolerance = unit_m if kind.endswith("i") else 1e-7
    assert read.markers_m.shape == (450, 26, 3)
    assert (read.rate_hz, read.first_frame, read.analog_rate_hz) == (50.0, 1, 200.0)
    np.testing.assert_allclose(read.markers_m[0, 0], [0.24858334, 0.22683334, 0.037416668], atol=tolerance)
    np.testing.assert_allclose(read.markers_m, real.markers_m, atol=tolerance)
    np.testing.assert_allclose(read.analog, real.analog, rtol=FLOAT32, atol=1e-5)
    assert (read.labels, read.analog_labels, read.analog_units) == (real.labels, real.analog_labels, real.analog_units)
    assert len(read.force_plates) == 2
    for a, b in zip(read.force_plates, real.force_plates, strict=True):
        np.testing.assert_allclose(a.force_n, b.force_n, atol=1e-3)
        np.testing.assert_allclose(a.moment_nm, b.moment_nm, atol=1e-3)
    assert [(e.label, round(e.time_s, 2)) for e in read.events] == [
        ("RIC", 2.72),
        ("RHS", 5.4),
        ("RTO", 7.32),
    ]


@pytest.mark.parametrize("kind", ["si", "sr"])
def test_mips_byte_order_is_read_by_the_package_c3d(recordings: Path, kind: str) -> None:
    """Where our own reader is left out: ezc3d refuses, the next library reads, and both are named."""
    read = read_c3d(recordings / "c3d_org" / "sample01" / f"Eb015{kind}.c3d", libraries=("ezc3d", "c3d"))
    assert read.reader.startswith("c3d ")
    (why,) = (finding for finding in read.audit.findings if finding.item == "format")
    assert why.stated.startswith("C3D, MIPS (SGI) byte order")
    assert re.search(r"read by c3d .*, since ezc3d cannot read the file: MIPS processor type", why.interpretation)
    assert any("since ezc3d cannot read" in note for note in read.notes)


@pytest.mark.parametrize("letter", "BCD")
def test_sample08_moved_blocks(recordings: Path, letter: str) -> None:
    folder = recordings / "c3d_org" / "sample08"
    first, other = read_c3d(folder / "TESTAPI.c3d"), read_c3d(folder / f"TEST{letter}PI.c3d")
    np.testing.assert_array_equal(first.markers_m, other.markers_m)
    np.testing.assert_array_equal(first.analog, other.analog)
    assert first.labels == other.labels
    assert first.sha256 != other.sha256


@pytest.mark.parametrize("name", ["type-2a.c3d", "type-4a.c3d"])
def test_sample10_duplicate_labels(recordings: Path, name: str) -> None:
    read = read_c3d(recordings / "c3d_org" / "sample10" / name)
    assert any("more than once: RANK, RKNE, LKNE, LANK" in note for note in read.notes)
    with pytest.raises(LandmarkError, match="'RKNE' is ambiguous"):
        find_marker(read, "RKNE")


def test_walking_markers_agree_with_opensim(recordings: Path) -> None:
    read = read_c3d(recordings / "walking_opensim" / "walking2.c3d")
    lines = (recordings / "walking_opensim" / "std_walking2_markers.trc").read_text().splitlines()
    labels = lines[3].split()[2:]
    values = np.array([[float(x) for x in line.split()[2:]] for line in lines[5:] if line.strip()])
    assert read.rate_hz == 250.0
    assert read.markers_m.shape[0] == 1249
    assert set(labels) == set(read.labels)
    for i, label in enumerate(labels):  # the file has five digits
        np.testing.assert_allclose(marker(read, label)[::10][:125], values[:125, 3 * i : 3 * i + 3] * 1e-3, rtol=5e-5)


@pytest.mark.parametrize("name", ["std_walking2_grfs.sto", "std_cop_walking2_grfs.sto"])
def test_walking_wrenches_agree_with_opensim(recordings: Path, name: str) -> None:
    read = read_c3d(recordings / "walking_opensim" / "walking2.c3d")
    columns, rows = storage(recordings / "walking_opensim" / name)
    samples = np.rint(rows[:, 0] * 2000.0).astype(int)
    assert len(read.force_plates) == 2
    for p in read.force_plates:
        at = columns.index(f"f{p.number}_1")
        force, point, moment = (rows[:, at + 3 * k : at + 3 * k + 3] for k in range(3))
        about_origin = (moment + np.cross(point, force)) * 1e-3
        # the file has 8 decimals
        np.testing.assert_allclose(p.force_n[samples], force, rtol=5e-9, atol=6e-9)
        np.testing.assert_allclose(p.moment_nm[samples], about_origin, rtol=5e-9, atol=2e-8)


PLATED = [
    "c3d_org/sample01/Eb015pr.c3d",
    "c3d_org/sample10/TYPE-2.C3D",
    "c3d_org/sample10/TYPE-4.C3D",
    "c3d_org/sample10/type-2a.c3d",
    "c3d_org/sample10/type-4a.c3d",
    "cohort/HC030A/Straight/HC030A05.c3d",
    "cohort/HC032A/Straight/HC032A03.c3d",
    "cohort/HC044A/Straight/HC044A15.c3d",
    "walking_opensim/walking2.c3d",
]


@pytest.mark.parametrize("name", PLATED)
def test_plates_push_up_under_the_foot(recordings: Path, name: str) -> None:
    read = read_c3d(recordings / name)
    ratio = round(read.analog_rate_hz / read.rate_hz)
    assert read.force_plates
    for p in read.force_plates:
        feet = np.where(read.markers_m[:, :, 2] < 0.2, read.markers_m[:, :, 0], np.nan)
        marked = np.isfinite(feet).any(axis=1)
        up = np.where(np.repeat(marked, ratio), p.force_n[:, 2], -np.inf)
        peak = int(up.argmax())
        fz = up[peak]
        cop = np.array([-p.moment_nm[peak, 1], p.moment_nm[peak, 0]]) / fz
        low = read.markers_m[peak // ratio][read.markers_m[peak // ratio, :, 2] < 0.2]
        assert fz > 300.0
        assert np.abs(np.min(p.force_n[:, 2])) < 0.1 * fz
        # within 0.1 m of a marker of a foot
        assert np.linalg.norm(low[:, :2] - cop, axis=1).min() < 0.1


def test_type_2_and_type_4_of_one_trial_agree(recordings: Path) -> None:
    two, four = (read_c3d(recordings / "c3d_org" / "sample10" / f"type-{k}a.c3d") for k in (2, 4))
    for a, b in zip(two.force_plates, four.force_plates, strict=True):
        assert (a.kind, b.kind) == (2, 4)
        # type 2 lacks the cross-talk, a hundredth or two of the largest force
        assert np.abs(a.force_n - b.force_n).max() < 0.02 * a.force_n.max()


def test_sample10_counts(recordings: Path, tmp_path: Path) -> None:
    """3000 counts on Fx, as worked out in the sheet TYPE-4.XLS that comes with the files."""
    calibration = ezc3d.c3d(str(recordings / "c3d_org" / "sample10" / "TYPE-4.C3D"))["parameters"]["FORCE_PLATFORM"]
    signals = np.zeros((10, 6))
    signals[:, 0] = (3000 - 2047) * -0.12220625473777029
    group = plate(4, CAL_MATRIX=calibration["CAL_MATRIX"]["value"], ORIGIN=np.zeros((3, 1)))
    group["FORCE_PLATFORM"]["CORNERS"] = group["FORCE_PLATFORM"]["CORNERS"] - np.array([1e3, 2e3, 0])[:, None, None]
    path = write_c3d(
        tmp_path / "a.c3d",
        positions() * 1e3,
        units="mm",
        groups=group,
        analog=signals,
        analog_units=["V"] * 6,
    )
    (p,) = read_c3d(path).force_plates
    # three decimals in the file's matrix: 116 x 0.0005; the plate's y and z are the laboratory's -y, -z
    np.testing.assert_allclose(p.force_n[0] * [1, -1, -1], [-177.797, -1.6284, -5.3018], atol=0.06)
    np.testing.assert_allclose(p.moment_nm[0] * [1e3, -1e3, -1e3], [498.958, 639.870, -332.620], atol=0.06)


def test_tennis_agrees_with_its_csv(recordings: Path) -> None:
    folder = recordings / "tennis_serve"
    read = read_c3d(folder / "kinematics_tennis_serve.c3d")
    lines = (folder / "kinematics_tennis_serve.csv").read_text().splitlines()
    columns = lines[0].split(",")
    values = np.array([[float(x) for x in line.split(",")] for line in lines[1:]])
    assert read.rate_hz == 50.0
    assert all(label.startswith("Derrick:") for label in read.labels)
    for label in {column.partition("[")[0] for column in columns[1:]}:
        at = columns.index(f"{label}[0]")
        np.testing.assert_allclose(marker(read, label), values[:, at : at + 3], rtol=FLOAT32, atol=5e-8)


def test_two_players_are_ambiguous(recordings: Path) -> None:
    read = read_c3d(recordings / "tennis_serve" / "kinematics_tennis_serve_2players.c3d")
    both = [label for label in read.labels if label.endswith(":RSHO")]
    assert len(both) == 2
    with pytest.raises(LandmarkError, match="ambiguous") as caught:
        find_marker(read, "RSHO")
    assert all(repr(label) in str(caught.value) for label in both)
    assert read.labels[find_marker(read, "RSHO", prefix=both[1].partition(":")[0])] == both[1]
    assert read.first_frame == 52


def test_gaps_are_missing(recordings: Path) -> None:
    read = read_c3d(recordings / "tennis_serve" / "kinematics_tennis_serve_nan.c3d")
    missing = np.isnan(read.markers_m).any(axis=2)
    assert missing.any()
    assert any(note.startswith(f"{missing.sum()} samples of 1 markers are missing") for note in read.notes)


COHORT = [f"HC0{n}A/Straight/HC0{n}A{trial}.c3d" for n, trial in (("30", "05"), ("32", "03"), ("44", "15"))]


@pytest.mark.parametrize("name", COHORT)
def test_cohort_elbow_angle(recordings: Path, name: str) -> None:
    path = recordings / "cohort" / name
    read = read_c3d(path)
    assert "RElbowAngles" in read.modelled_labels
    assert {"RCLO", "RSHO", "RAJC", "JUG"} <= set(read.labels)
    assert not [label for label in read.labels if label.endswith(("Angles", "Force", "Moment", "Power", "Index"))]
    raw = ezc3d.c3d(str(path))
    point = raw["parameters"]["POINT"]
    at = [*point["LABELS"]["value"], *point["LABELS2"]["value"]].index("RElbowAngles")
    shoulder, elbow, wrist = (marker(read, label) for label in ("RCLO", "RHUO", "RRAO"))
    upper, lower = shoulder - elbow, wrist - elbow
    cosine = np.sum(upper * lower, axis=1) / np.linalg.norm(upper, axis=1) / np.linalg.norm(lower, axis=1)
    np.testing.assert_allclose(180.0 - np.degrees(np.arccos(cosine)), raw["data"]["points"][0, at], atol=3e-4)


@pytest.mark.parametrize("name", COHORT)
def test_cohort_events_are_where_the_heel_comes_down(recordings: Path, name: str) -> None:
    read = read_c3d(recordings / "cohort" / name)
    strikes = [event for event in read.events if event.label == "Foot Strike"]
    assert len(strikes) >= 4
    assert [event.time_s for event in read.events] == sorted(event.time_s for event in read.events)
    for event in strikes:
        heel = marker(read, f"{event.context[0]}HEE")
        frame = round(event.time_s * read.rate_hz)
        assert 0 <= frame < read.n_frames
        speed = np.linalg.norm(np.gradient(heel, axis=0), axis=1) * read.rate_hz
        # swing is over 3 m/s; a tenth of a second after the strike the heel stands
        assert speed[min(frame + 10, read.n_frames - 1)] < 0.5 < speed[max(frame - 10, 0)]


# ---- closed forms ----

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
    assert any(
        "left out: its force points away from the markers while it is loaded (700 N" in note for note in read.notes
    )


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


# ---- units, labels, gaps, events ----


@pytest.mark.parametrize(
    ("unit", "length_m"),
    [
        ("mm", 1e-3),
        ("MM", 1e-3),
        ("Millimetres  ", 1e-3),
        ("millimeter", 1e-3),
        ("cm", 1e-2),
        ("Centimeters", 1e-2),
        ("m", 1.0),
        ("M ", 1.0),
        ("meters", 1.0),
        ("metre", 1.0),
    ],
)
def test_units_of_length(tmp_path: Path, unit: str, length_m: float) -> None:
    read = read_c3d(write_c3d(tmp_path / "a.c3d", positions(), units=unit))
    np.testing.assert_allclose(read.markers_m, positions() * length_m, rtol=FLOAT32)


@pytest.mark.parametrize(
    ("unit", "said"), [("", "is nothing"), ("inch", "is 'inch'"), ("km", "is 'km'"), ("mm2", "mm2")]
)
def test_unknown_unit_is_refused(tmp_path: Path, unit: str, said: str) -> None:
    with pytest.raises(ReadError, match=rf"POINT:UNITS.*{said}.*expected one of mm, cm, m"):
        read_c3d(write_c3d(tmp_path / "a.c3d", positions(), units=unit))


def test_what_counts_as_missing(tmp_path: Path) -> None:
    values, residual = positions(), np.zeros((10, 3))
    residual[2, 1] = -1.0
    values[3, 0] = 0.0
    values[4, 2, 1] = np.nan
    values[5, 0, :2] = 0.0  # two zeros are a position
    read = read_c3d(write_c3d(tmp_path / "a.c3d", values, residual=residual))
    assert np.argwhere(np.isnan(read.markers_m).all(axis=2)).tolist() == [[2, 1], [3, 0], [4, 2]]
    assert np.isnan(read.markers_m).sum() == 9
    assert "3 samples of 3 markers are missing, of 30" in read.notes


def test_labels_continue_repeat_and_run_out(tmp_path: Path) -> None:
    path = write_c3d(
        tmp_path / "a.c3d",
        positions(5, 6),
        labels=["A  ", "", "S:KNEE", "A", "B", "C taken away"],
    )
    read = read_c3d(without_last_label(path))
    assert read.labels == ("A", "S:KNEE", "A", "B")
    np.testing.assert_allclose(read.markers_m, positions(5, 6)[:, [0, 2, 3, 4]], rtol=FLOAT32)
    assert "2 of 6 points have no label and are left out" in read.notes
    assert "labels that occur more than once: A" in read.notes


def test_modelled_outputs_are_kept_apart(tmp_path: Path) -> None:
    labels = ["S:RSHO", "S:RElbowAngles", "GRF", "Power2", "S:JUG", "EMG", "T:RElbowAngles"]
    point = {
        "ANGLES": ["RElbowAngles", "NotInTheFile"],
        "POWERS": ["Power1"],
        "POWERS2": ["Power2"],
        "FORCES": ["S:GRF"],
        "MUSCLES": ["EMG"],
        "MODELED_MARKERS": ["JUG"],
        "TYPE_GROUPS": ["ANGLES", "ANGLE", "MUSCLES", "MUSCLE", "MODELED_MARKERS", "MODELED_MARKER"],
    }
    read = read_c3d(write_c3d(tmp_path / "a.c3d", positions(5, 7), labels=labels, point=point))
    assert read.labels == ("S:RSHO", "S:JUG")
    assert read.modelled_labels == ("S:RElbowAngles", "GRF", "Power2", "EMG", "T:RElbowAngles")
    assert any("ANGLES (2), FORCES (1), MUSCLES (1), POWERS (1)" in note for note in read.notes)
    with pytest.raises(LandmarkError, match="modelled output"):
        find_marker(read, "GRF")


def test_times_of_events_are_not_those_of_single_precision() -> None:
    """1.15 s in single precision is 1.1499999762 s, and from a later first frame 1.1500000954 s."""
    assert Event("Foot Strike", "Left", float(np.float32(1.15))).time_s == 1.15
    assert Event("Foot Strike", "Left", 1.1500000953674316).time_s == 1.15


def test_events_count_from_the_capture(tmp_path: Path) -> None:
    times = np.array([[0.0, 1.0, 0.0], [59.99, 0.51, 59.5]])
    event = {
        "USED": [3],
        "TIMES": times,
        "LABELS": ["Strike ", "Off", "Early"],
        "CONTEXTS": ["Left", "Right ", ""],
    }
    path = write_c3d(tmp_path / "a.c3d", positions(100), first_frame=5991, groups={"EVENT": event})
    read = read_c3d(path)
    found = [(e.label, e.context, round(e.time_s, 4)) for e in read.events]
    assert found == [("Early", "", -0.4), ("Strike", "Left", 0.09), ("Off", "Right", 0.61)]
    assert any("1 events lie outside the 1.000 s of the trial: Early at -0.400 s" in note for note in read.notes)


def test_a_number_in_disguise_is_noted(tmp_path: Path) -> None:
    values = positions()
    values[:, 1, :2] = 0.0
    read = read_c3d(write_c3d(tmp_path / "a.c3d", values, labels=["A", "LegLength", "B"]))
    assert any("two coordinates are zero in every frame of LegLength" in note for note in read.notes)
    assert "LegLength" in read.labels


def test_one_frame_and_odd_file_names(tmp_path: Path) -> None:
    read = read_c3d(write_c3d(tmp_path / "Prüfung 1.c3d", positions(1)))
    assert read.markers_m.shape == (1, 3, 3)
    assert read.source == "Prüfung 1.c3d"


def test_rates_that_disagree(small: Path, tmp_path: Path) -> None:
    read = read_c3d(changed(small, tmp_path / "a.c3d", "<f", 20, 99.0))
    assert read.rate_hz == 100.0
    assert "POINT:RATE is 100 Hz, the header says 99: POINT:RATE is used" in read.notes
    with pytest.raises(ReadError, match="header says 1 frames per second, POINT:RATE says 100"):
        read_c3d(changed(small, tmp_path / "b.c3d", "<f", 20, 1.0))


# ---- damaged files ----


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


@pytest.mark.parametrize("cut", [1, 100, 10_000, 600_000, 683_000])
def test_truncated_file(recordings: Path, tmp_path: Path, cut: int) -> None:
    raw = (recordings / "tennis_serve" / "kinematics_tennis_serve.c3d").read_bytes()
    path = tmp_path / "a.c3d"
    path.write_bytes(raw[:-cut])
    with pytest.raises(ReadError, match="truncated"):
        read_c3d(path)


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
        ("points", 0, "holds no points"),
        ("analog", 65535, "65535 analog values in a frame cannot be 0 samples of whole channels"),
        ("last", 65535, "counts 65535 frames, the parameter POINT:FRAMES 10"),
        ("last", 0, "holds no frames"),
        ("first", 11, "holds no frames"),
        ("scale", 1.0, "header says integers, POINT:SCALE says real numbers"),
        ("data", 65535, "data begin in block 65535, POINT:DATA_START says"),
        ("data", 0, "data begin in block 0, POINT:DATA_START says"),
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


def test_huge_counts_are_refused_at_once(small: Path, tmp_path: Path) -> None:
    """All counts at their largest, in header and parameters alike: 69 GB from two kilobytes."""
    path = tmp_path / "a.c3d"
    raw = bytearray(small.read_bytes())
    struct.pack_into("<H", raw, 2, 65535)
    struct.pack_into("<H", raw, 8, 65534)
    struct.pack_into("<H", raw, offset_of(small, "USED"), 65535)
    struct.pack_into("<H", raw, offset_of(small, "FRAMES"), 65534)
    path.write_bytes(raw)
    start = time.perf_counter()
    with pytest.raises(ReadError, match=r"65534 frames of 65535 points.*take 687\d+ bytes"):
        read_c3d(path)
    assert time.perf_counter() - start < 1.0


def test_more_frames_than_the_header_can_count(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "a.c3d", np.ones((66_000, 1, 3)))
    with pytest.raises(ReadError, match=r"its largest number.*or in parts"):
        read_c3d(path)


def test_nothing_to_see(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="none of the 3 markers has a sample in any of the 10 frames"):
        read_c3d(write_c3d(tmp_path / "a.c3d", np.full((10, 3, 3), np.nan)))
    with pytest.raises(ReadError, match="none of the 3 points is a labelled position"):
        read_c3d(write_c3d(tmp_path / "b.c3d", positions(), labels=["", "", ""]))
    with pytest.raises(ReadError, match="holds no points"):
        read_c3d(write_c3d(tmp_path / "c.c3d", np.zeros((10, 0, 3))))


def test_random_damage_is_a_read_error_or_a_recording(small: Path, tmp_path: Path) -> None:
    """Whatever bytes of header and parameters are wrong, the reader comes back."""
    random = np.random.default_rng(11)
    raw, path = small.read_bytes(), tmp_path / "a.c3d"
    messages = []
    with GuardedReader() as reader:
        for _ in range(60):
            damaged = bytearray(raw)
            for at in random.integers(0, 1400, size=3):
                damaged[at] = random.integers(256)
            path.write_bytes(damaged)
            try:
                reader.read(path, memory_limit_mb=512, time_limit_s=5.0)
            except ReadError as error:
                messages.append(str(error))
    assert 0 < len(messages) < 60
    assert all(message.startswith("a.c3d: ") for message in messages)


# ---- the guarded reader ----

LIMITS = {"memory_limit_mb": 512, "time_limit_s": 30.0}


def child_of(reader: GuardedReader) -> subprocess.Popen[bytes]:
    assert reader._child is not None
    return reader._child.process


def test_guarded_gives_the_same(small: Path) -> None:
    direct = read_c3d(small)
    with GuardedReader() as reader:
        first = reader.read(small, **LIMITS)
        child = child_of(reader)
        second = reader.read(small, **LIMITS)
        assert child_of(reader) is child
    np.testing.assert_array_equal(first.markers_m, direct.markers_m)
    assert second.sha256 == direct.sha256
    assert second.labels == direct.labels
    assert child.returncode is not None


def test_guarded_read_error_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.c3d"
    path.write_bytes(b"")
    with GuardedReader() as reader:
        for _ in range(2):
            with pytest.raises(ReadError, match=r"^a.c3d: the file is empty"):
                reader.read(path, **LIMITS)


def test_killed_child_is_replaced(small: Path) -> None:
    with GuardedReader() as reader:
        reader.read(small, **LIMITS)
        child_of(reader).kill()
        child_of(reader).wait()
        assert reader.read(small, **LIMITS).n_frames == 10
        os.kill(child_of(reader).pid, signal.SIGSTOP)  # in the midst of a read
        with pytest.raises(ReadError, match=r"small.c3d: reading was stopped after 0.2 s \(reading.time_limit_s\)"):
            reader.read(small, memory_limit_mb=512, time_limit_s=0.2)
        assert reader.read(small, **LIMITS).n_frames == 10


def test_child_that_dies_while_reading(small: Path) -> None:
    with GuardedReader() as reader:
        reader.read(small, **LIMITS)
        pid = child_of(reader).pid
        os.kill(pid, signal.SIGSTOP)
        killer = subprocess.Popen([sys.executable, "-c", f"import os,time; time.sleep(0.3); os.kill({pid}, 9)"])
        with pytest.raises(ReadError, match=r"small.c3d: the reading process was ended by SIGKILL"):
            reader.read(small, **LIMITS)
        killer.wait()
        assert reader.read(small, **LIMITS).n_frames == 10


def test_memory_limit(tmp_path: Path) -> None:
    large = write_c3d(tmp_path / "large.c3d", np.ones((6_000, 60, 3)))
    little = write_c3d(tmp_path / "little.c3d", positions())
    with GuardedReader() as reader:
        with pytest.raises(ReadError, match=r"large.c3d: .*reading.memory_limit_mb"):
            reader.read(large, memory_limit_mb=16, time_limit_s=30.0)
        assert reader.read(little, memory_limit_mb=64, time_limit_s=30.0).n_frames == 10
        assert reader.read(large, **LIMITS).n_frames == 6_000


def test_child_ends_with_its_parent(small: Path, tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from limbtorque.recordings.sandbox import GuardedReader\n"
        "reader = GuardedReader(); reader.read(Path(sys.argv[1]), memory_limit_mb=512, time_limit_s=30.0)\n"
        "print(reader._child.process.pid, flush=True); os._exit(1)\n"
    )
    out = subprocess.run([sys.executable, "-c", script, small], capture_output=True, text=True, cwd=tmp_path)
    pid = int(out.stdout)
    for _ in range(100):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            if "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
                time.sleep(0.02)
                continue
        return
    pytest.fail("the child outlives its parent")


def test_light_imports() -> None:
    """The parent does not load the C++ library, the child nothing heavy."""
    code = "import sys, limbtorque.recordings.sandbox; print('ezc3d' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
    heavy = "{'pandas', 'scipy', 'pydantic', 'yaml'}"
    code = f"import sys, limbtorque.recordings.c3d.read; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_what_the_file_says_of_the_person_is_kept_as_text(tmp_path):
    groups = {
        "SUBJECTS": {"NAMES": ["S07", "ball"]},
        "PROCESSING": {"Bodymass": [45.8], "Height": [1480.0], "LLegLength": [830.0]},
    }
    path = write_c3d(tmp_path / "a.c3d", positions(20), groups=groups)
    assert read_c3d(path).person == (
        *(("SUBJECTS:NAMES", "S07"), ("SUBJECTS:NAMES", "ball")),
        *(("PROCESSING:BODYMASS", "45.8"), ("PROCESSING:HEIGHT", "1480")),
    )
    assert read_c3d(write_c3d(tmp_path / "b.c3d", positions(20))).person == ()


def test_a_path_may_be_a_text(small: Path) -> None:
    assert read_c3d(str(small)).sha256 == read_c3d(small).sha256
