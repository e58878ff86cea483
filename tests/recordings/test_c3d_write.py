"""C3D files with plates and events, read back by our reader, ezc3d and py-c3d."""

import hashlib
from dataclasses import replace

import ezc3d
import numpy as np
import pytest

from limbtorque.errors import LimbtorqueError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.write import ORIGIN_M, write_c3d
from limbtorque.recordings.recording import Event, ForcePlate, Recording

PER_METRE = {"m": 1.0, "cm": 100.0, "mm": 1000.0}
FLOATS = 2.0**-23  # of the number that is stored
INTEGERS = 0.5 / 32000  # of a channel's largest value


def turned_plate(number, degrees, n_samples):
    """A plate of 0.6 m by 0.4 m, turned about the vertical and 5 cm above the floor, with a person's weight."""
    rng = np.random.default_rng(number)
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    flat = np.array([[0.3, -0.2, 0.0], [-0.3, -0.2, 0.0], [-0.3, 0.2, 0.0], [0.3, 0.2, 0.0]])
    force = np.array([30.0, -20.0, 700.0]) + 50.0 * rng.standard_normal((n_samples, 3))
    point = np.array([0.7 * number, 0.1, 0.05]) + 0.05 * rng.standard_normal((n_samples, 3))
    free = np.array([0.0, 0.0, 3.0]) + rng.standard_normal((n_samples, 3))
    corners = flat @ turn.T + [0.7 * number, 0.1, 0.05]
    return ForcePlate(number, 2, corners, 500.0, force, np.cross(point, force) + free)


@pytest.fixture
def recording():
    rng = np.random.default_rng(3)
    markers = rng.uniform([0.3, 0.0, 0.0], [1.6, 0.3, 0.2], (40, 4, 3))  # of feet on the plates
    markers[5:9, 2] = np.nan
    return Recording(
        source="made",
        sha256="",
        reader="test",
        labels=("S:RHEE", "RTOE", "LHEE", "LTOE"),
        markers_m=markers,
        rate_hz=100.0,
        first_frame=7001,
        events=(Event("Foot Strike", "Right", 0.123), Event("Foot Off", "Left", 0.25)),
        force_plates=(turned_plate(1, 0.0, 200), turned_plate(2, 30.0, 200)),
    )


@pytest.mark.parametrize("unit", PER_METRE)
@pytest.mark.parametrize("integers", [False, True])
def test_our_reader_reads_it_back(recording, tmp_path, unit, integers):
    path = tmp_path / "a.c3d"
    write_c3d(recording, path, unit=unit, integers=integers)
    read = read_c3d(path)
    assert (read.labels, read.rate_hz, read.first_frame) == (recording.labels, 100.0, 7001)
    assert [(e.label, e.context) for e in read.events] == [("Foot Strike", "Right"), ("Foot Off", "Left")]
    # single precision of seconds in the minute: 2^-18 s
    np.testing.assert_allclose([e.time_s for e in read.events], [0.123, 0.25], rtol=0.0, atol=4e-6)
    step = 0.5 * np.nanmax(np.abs(recording.markers_m)) / 32000 if integers else FLOATS
    np.testing.assert_allclose(read.markers_m, recording.markers_m, rtol=0.0, atol=1.01 * step)
    assert not read.audit.guesses
    share = INTEGERS if integers else FLOATS
    for made, found in zip(recording.force_plates, read.force_plates, strict=True):
        assert (found.number, found.kind, found.rate_hz) == (made.number, 2, 500.0)
        np.testing.assert_allclose(found.corners_m, made.corners_m, atol=1e-6)
        np.testing.assert_allclose(found.force_n, made.force_n, rtol=0.0, atol=4.0 * 1000.0 * share)
        # corners of single precision move the plate by 1e-7 m under 1 kN
        np.testing.assert_allclose(found.moment_nm, made.moment_nm, rtol=0.0, atol=4.0 * 1000.0 * share + 2e-4)


@pytest.mark.parametrize("unit", PER_METRE)
def test_ezc3d_finds_the_same_plates_and_events(recording, tmp_path, unit):
    """ezc3d turns the wrench into the laboratory itself, from corners, origin and channels; its moments are about the origin."""
    path = tmp_path / "a.c3d"
    write_c3d(recording, path, unit=unit, integers=True)
    file = ezc3d.c3d(str(path), extract_forceplat_data=True)
    assert file["header"]["points"]["first_frame"] == 7000
    assert file["parameters"]["EVENT"]["LABELS"]["value"] == ["Foot Strike", "Foot Off"]
    minutes, seconds = file["parameters"]["EVENT"]["TIMES"]["value"]
    np.testing.assert_allclose(60.0 * minutes + seconds, [70.123, 70.25], atol=4e-6)
    points = file["data"]["points"][:3].transpose(2, 1, 0) / PER_METRE[unit]
    np.testing.assert_allclose(points, recording.markers_m, rtol=0.0, atol=1.5 / 32000)
    for made, found in zip(recording.force_plates, file["data"]["platform"], strict=True):
        assert (found["unit_force"], found["unit_moment"]) == ("N", f"N{unit}")
        np.testing.assert_allclose(found["corners"].T, PER_METRE[unit] * made.corners_m, rtol=1e-6, atol=1e-4)
        np.testing.assert_allclose(found["origin"], PER_METRE[unit] * np.array(ORIGIN_M), rtol=1e-6)
        np.testing.assert_allclose(found["force"].T, made.force_n, rtol=0.0, atol=0.02)
        vertical = found["force"][2]
        pressure = found["center_of_pressure"].T / PER_METRE[unit]
        level = made.corners_m[0, 2]
        x = (-made.moment_nm[:, 1] + level * made.force_n[:, 0]) / made.force_n[:, 2]
        y = (made.moment_nm[:, 0] + level * made.force_n[:, 1]) / made.force_n[:, 2]
        assert (vertical > 400.0).all()
        np.testing.assert_allclose(pressure[:, :2], np.stack([x, y], axis=1), atol=1e-4)


@pytest.mark.filterwarnings("error")
def test_py_c3d_reads_the_stored_integers(recording, tmp_path):
    c3d = pytest.importorskip("c3d", reason="the Python package c3d is not installed")
    path = tmp_path / "a.c3d"
    write_c3d(recording, path, integers=True)
    with path.open("rb") as stream:
        reader = c3d.Reader(stream)
        frames = list(reader.read_frames())
        corners = reader.get("FORCE_PLATFORM.CORNERS").float_array
        kinds = reader.get("FORCE_PLATFORM.TYPE").int16_array
    points = np.stack([points[:, :3] for _, points, _ in frames]) / 1000.0
    seen = np.stack([points[:, 3] for _, points, _ in frames]) >= 0.0
    np.testing.assert_array_equal(~seen, np.isnan(recording.markers_m).any(axis=2))
    np.testing.assert_allclose(points[seen], recording.markers_m[seen], rtol=0.0, atol=1.5 / 32000)
    np.testing.assert_allclose(corners, [1000.0 * plate.corners_m for plate in recording.force_plates], atol=1e-3)
    assert kinds.tolist() == [2, 2]
    analog = np.hstack([samples for _, _, samples in frames])
    # plate 1 lies along the laboratory with its x axis forward and z down, so that Fz is the force turned round
    np.testing.assert_allclose(analog[2], -recording.force_plates[0].force_n[:, 2], rtol=0.0, atol=0.02)
    np.testing.assert_allclose(analog[0], recording.force_plates[0].force_n[:, 0], rtol=0.0, atol=0.02)


def test_the_same_recording_gives_the_same_bytes(recording, tmp_path):
    hashes = set()
    for name in ("a.c3d", "b.c3d"):
        write_c3d(recording, tmp_path / name, integers=True)
        hashes.add(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(hashes) == 1


def test_plates_that_do_not_fit_the_frames_are_refused(recording, tmp_path):
    first, second = recording.force_plates
    for plates in (
        (first, replace(second, rate_hz=1000.0)),
        (replace(first, rate_hz=250.0), replace(second, rate_hz=250.0)),
        (turned_plate(1, 0.0, 199),),
    ):
        with pytest.raises(LimbtorqueError, match="whole number of samples for each of the 40 frames"):
            write_c3d(replace(recording, force_plates=plates), tmp_path / "a.c3d")
    many = replace(recording, labels=tuple(map(str, range(256))), markers_m=np.zeros((2, 256, 3)), force_plates=())
    with pytest.raises(LimbtorqueError, match="POINT:LABELS has 256 rows"):
        write_c3d(many, tmp_path / "a.c3d")
