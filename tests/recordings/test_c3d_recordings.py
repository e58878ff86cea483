"""C3D files against known answers of real recordings."""

from pathlib import Path

import ezc3d
import numpy as np
import pytest

from c3d_files import plate, positions, write_c3d
from limbtorque.errors import LandmarkError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.recording import Recording, find_marker

FLOAT32 = 2e-7  # relative error of a rounded and rescaled single precision number


def marker(recording: Recording, name: str) -> np.ndarray:
    return recording.markers_m[:, find_marker(recording, name)]


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
