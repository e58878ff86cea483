"""Text exports of further programs, written here from formulas: OptiTrack, Qualisys 6D and forces, Cortex, Theia."""

import numpy as np
import pytest

from c3d_files import positions, write_c3d
from limbtorque.errors import ReadError
from limbtorque.recordings.emg_channels import emg_channels
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording, read_with_forces
from text_files import (
    AT_M,
    CORNERS_M,
    FREE_NM,
    N_FRAMES,
    ON_FOOT_N,
    VICON_PLATE,
    foot_mm,
    positions_mm,
    rows,
    vicon_plate,
    write_anc,
    write_cortex_forces,
    write_optitrack,
    write_plate,
    write_trc,
    write_vicon_plates,
    write_winter,
)

MM = ReadOptions(length_unit="mm")
N = N_FRAMES


# --- OptiTrack --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"version": "1.20"}, {"timecode": True}])
def test_optitrack_has_its_measured_markers_in_metres(tmp_path, options):
    read = read_recording(write_optitrack(tmp_path / "take.csv", **options))
    assert read.labels == ("S:RSHO", "S:RELB", "S:RHand")
    assert (read.rate_hz, read.n_frames) == (100.0, N)
    expected = positions_mm(N, 6)[:, [0, 1, 3]] * 1e-3
    assert np.isnan(read.markers_m[5, 0]).all()
    expected[5, 0] = np.nan
    np.testing.assert_allclose(read.markers_m, expected, atol=1e-9)


def test_optitrack_without_a_unit_or_positions_is_a_sentence(tmp_path):
    path = write_optitrack(tmp_path / "take.csv", unit="")
    with pytest.raises(ReadError, match=r"reading\.length_unit"):
        read_recording(path)
    assert read_recording(path, MM).n_frames == N
    path.write_text(path.read_text().replace("Position", "Rotation"))
    with pytest.raises(ReadError, match="no positions of markers"):
        read_recording(path, MM)


# --- Qualisys ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"sign": -1.0}, {"local": False}, {"local": False, "sign": -1.0}, {"columns": 9}], ids=str
)
def test_a_plate_of_qualisys_has_the_wrench_on_the_foot(tmp_path, options):
    read = read_recording(write_plate(tmp_path / "walk_f_1.tsv", **options), MM)
    (plate,) = read.force_plates
    assert plate.rate_hz == 400.0
    np.testing.assert_allclose(plate.corners_m, CORNERS_M)
    np.testing.assert_allclose(plate.force_n, np.tile(ON_FOOT_N, (48, 1)), atol=1e-5)
    about_origin = np.cross(AT_M, ON_FOOT_N) + np.array([0.0, 0.0, FREE_NM])
    np.testing.assert_allclose(plate.moment_nm, np.tile(about_origin, (48, 1)), atol=1e-4)


def test_all_plates_of_a_recording_are_read_from_one_name(tmp_path):
    for number in (1, 2):
        write_plate(tmp_path / f"walk_f_{number}.tsv")
    write_plate(tmp_path / "other_f_1.tsv")
    read = read_recording(tmp_path / "walk_f_1.tsv", MM)
    assert [plate.number for plate in read.force_plates] == [1, 2]
    with pytest.raises(ReadError, match=r"reading\.length_unit"):
        read_recording(tmp_path / "walk_f_1.tsv")


def test_missing_samples_of_a_plate_are_noted(tmp_path):
    path = write_plate(tmp_path / "walk_f_1.tsv")
    assert not any("missing" in note for note in read_recording(path, MM).notes)
    lines = path.read_text().split("\n")
    lines[-3] = "\t".join([*lines[-3].split("\t")[:2], "-", *lines[-3].split("\t")[3:]])
    path.write_text("\n".join(lines))
    assert "1 samples of force plate 1 are missing, of 48" in read_recording(path, MM).notes


# --- Cortex -----------------------------------------------------------------------------------------------------------


def test_forces_of_cortex_join_their_trc(tmp_path):
    trc = write_trc(tmp_path / "walk.trc")
    forces = write_cortex_forces(tmp_path / "walk.forces")
    read = read_with_forces(trc, forces, ReadOptions(forces_length_unit="mm"))
    first, second = read.force_plates
    np.testing.assert_allclose(first.force_n, np.tile(ON_FOOT_N, (10 * N, 1)))
    about_origin = np.cross(AT_M, ON_FOOT_N) + np.array([0.0, 0.0, FREE_NM])
    np.testing.assert_allclose(first.moment_nm, np.tile(about_origin, (10 * N, 1)), atol=1e-9)
    assert not second.force_n.any()


def test_damaged_forces_of_cortex_are_refused(tmp_path):
    path = write_cortex_forces(tmp_path / "walk.forces", n_samples=121)
    with pytest.raises(ReadError, match="NumberOfSamples is 121, the file has 120"):
        read_recording(path, MM)
    with pytest.raises(ReadError, match=r"reading\.length_unit"):
        read_recording(write_cortex_forces(path))
    path.write_text(path.read_text().replace("FZ1", "FW1"))
    with pytest.raises(ReadError, match="expected"):
        read_recording(path, MM)


def test_analog_channels_of_cortex_are_in_millivolts(tmp_path):
    path = write_anc(tmp_path / "walk.anc")
    read = read_recording(path)
    assert (read.analog_labels, read.analog_units, read.analog_rate_hz) == (("Sol_R", "TA_R"), ("mV", "mV"), 1000.0)
    k = np.arange(20)
    np.testing.assert_allclose(read.analog, np.column_stack([1000 * k * 2e4, -1000 * k * 1e4]) / 2**16)


@pytest.mark.parametrize("number", ["100\\.000000", "100.000000", "1e400", ""])
def test_a_rate_of_cortex_is_a_number_that_agrees_with_that_of_the_channels(tmp_path, number):
    path = write_anc(tmp_path / "walk.anc")
    path.write_text(path.read_text().replace("1000.000000", number))
    with pytest.raises(ReadError, match=r"rate|whole \.anc"):
        read_recording(path)


# --- Vicon ------------------------------------------------------------------------------------------------------------


def about_origin(number=1):
    """Force on the foot and moment about the laboratory's origin, N and N m, of `vicon_plate`."""
    force, _, point = vicon_plate(1010, sign=1.0, number=number)
    return force, np.cross(1e-3 * point, force) + np.array([0.0, 0.0, 5.0])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("units", [("N", "N.mm", "mm"), ("N", "mm.N", "mm"), ("kN", "N.m", "m")])
def test_plates_among_the_devices_of_vicon_have_the_wrench_on_the_foot(tmp_path, sign, units):
    path = write_vicon_plates(tmp_path / "walk.csv", sign=sign, units=units)
    if units[0] == "kN":
        path = scaled(path)
    read = read_recording(path)
    assert [plate.number for plate in read.force_plates] == [1, 2]
    assert {plate.rate_hz for plate in read.force_plates} == {1000.0}
    for plate in read.force_plates:
        force, moment = about_origin(plate.number)
        np.testing.assert_allclose(plate.force_n, force, atol=1e-5)
        np.testing.assert_allclose(plate.moment_nm, moment, atol=1e-4)
        assert np.abs(plate.corners_m[:, 2]).max() < 1e-9
    guessed = [finding.item for finding in read.audit.findings if finding.guessed]
    assert guessed == ["place of force plate 2"]  # nobody stands on it


def scaled(path):
    """The same plates in kN, N m and m."""
    lines = path.read_text().split("\n")
    factors = np.array([1, 1, *([1e-3] * 9 * 2), 1, 1])
    for k in range(5, 5 + 1010):
        lines[k] = ",".join(f"{x:.12g}" for x in np.array(lines[k].split(","), dtype=float) * factors)
    path.write_text("\n".join(lines))
    return path


def test_a_plate_that_nobody_loads_is_a_plate_without_force(tmp_path):
    path = write_vicon_plates(tmp_path / "walk.csv", sign=0.0)
    first, second = read_recording(path).force_plates
    assert not first.force_n.any()
    assert not second.moment_nm.any()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"local": True},
            "not in the same axes; export forces, moments and centres of pressure in the axes of the lab",
        ),
        ({"outputs": ("Force", "Moment")}, "0 of 3 columns of its centre of pressure"),
        ({"units": ("V", "N.mm", "mm")}, "the units of its force are 'V', 'V', 'V'"),
    ],
)
def test_devices_of_vicon_that_are_no_whole_plates_are_named(tmp_path, options, said):
    read = read_recording(write_vicon_plates(tmp_path / "walk.csv", **options))
    assert not read.force_plates
    assert sum(said in note for note in read.notes) == 2
    assert len(read.analog_labels) == (14 if "outputs" in options else 20)


def test_the_sum_of_the_plates_is_no_plate(tmp_path):
    path = write_vicon_plates(tmp_path / "walk.csv")
    path.write_text(path.read_text().replace(VICON_PLATE.format(2, "CoP"), "Combined CoP"))
    path.write_text(path.read_text().replace(VICON_PLATE.format(2, "Force"), "Combined Force"))
    path.write_text(path.read_text().replace(VICON_PLATE.format(2, "Moment"), "Combined Moment"))
    assert [plate.number for plate in read_recording(path).force_plates] == [1]


def test_plates_without_moments_are_a_guess(tmp_path):
    read = read_recording(write_vicon_plates(tmp_path / "walk.csv", outputs=("Force", "CoP")))
    force, _, point = vicon_plate(1010, sign=1.0)
    np.testing.assert_allclose(read.force_plates[0].moment_nm, np.cross(1e-3 * point, force), atol=1e-4)
    assert any("also export the moment" in finding.to_settle for finding in read.audit.findings)


def test_a_force_that_no_plate_measures_is_refused(tmp_path):
    with pytest.raises(ReadError, match=r"more than force plates measure"):
        read_recording(write_vicon_plates(tmp_path / "walk.csv", units=("kN", "kN.mm", "mm")))


def test_electromyography_among_the_devices_of_vicon(tmp_path):
    channels = emg_channels(read_recording(write_vicon_plates(tmp_path / "walk.csv")))
    assert [(c.side, c.muscle, c.unit) for c in channels] == [
        ("left", "tibialis_anterior", "V"),
        ("right", "soleus", "V"),
    ]


def test_devices_of_vicon_in_a_file_of_their_own_join_the_markers(tmp_path):
    trc = write_trc(tmp_path / "walk.trc", foot_mm(101), labels=("HEE", "TOE", "ANK", "KNE"))
    forces = write_vicon_plates(tmp_path / "walk_forces.csv", trajectories=False)
    read = read_with_forces(trc, forces, ReadOptions())
    force, moment = about_origin()
    np.testing.assert_allclose(read.force_plates[0].force_n, force, atol=1e-5)
    np.testing.assert_allclose(read.force_plates[0].moment_nm, moment, atol=1e-4)
    assert len(read.analog_labels) == 20
    with pytest.raises(ReadError, match="no section Trajectories, only devices, without whole force plates"):
        read_recording(write_vicon_plates(forces, trajectories=False, outputs=("Force",), emg=False))


# --- Theia ------------------------------------------------------------------------------------------------------------


def test_rotations_without_points_are_refused_with_the_way_out(tmp_path):
    path = write_c3d(
        tmp_path / "theia.c3d",
        positions(),
        groups={"ROTATION": {"USED": [2], "RATE": [100.0], "LABELS": ["pelvis_4X4"]}},
    )
    raw = bytearray(path.read_bytes())
    raw[2:4] = b"\0\0"  # no points in the header
    path.write_bytes(bytes(raw))
    with pytest.raises(ReadError, match="rotations of segments only") as error:
        read_recording(path)
    assert "export" in str(error.value)


# --- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tabs", [False, True])
def test_a_table_of_winters_style_is_a_movement_in_a_plane(tmp_path, tabs):
    path = write_winter(tmp_path / "table.txt", tabs=tabs)
    with pytest.raises(ReadError, match=r"reading\.length_unit"):
        read_recording(path)
    read = read_recording(path, ReadOptions(length_unit="cm", rate_hz=70.0))
    assert read.labels == ("RIGHT HIP", "RIGHT KNEE")
    np.testing.assert_allclose(read.markers_m[..., :2], positions_mm(N, 2)[..., :2] * 1e-3)
    assert not read.markers_m[..., 2].any()
    assert read.rate_hz == 70.0


def test_names_with_their_axis_close_behind_are_markers(tmp_path):
    xyz = positions_mm(N, 2)
    names = [f"{label}{axis}" for label in ("R.ASIS", "R.Knee") for axis in "XYZ"]
    body = np.column_stack([np.arange(N) / 100.0, xyz.reshape(N, -1)])
    path = tmp_path / "markers.txt"
    path.write_text("\n".join(["\t".join(["Time", *names]), *rows(body, "\t")]) + "\n", encoding="utf-8")
    read = read_recording(path, MM)
    assert read.labels == ("R.ASIS", "R.Knee")
    np.testing.assert_allclose(read.markers_m, xyz * 1e-3)


def test_a_time_that_counts_samples_needs_the_rate(tmp_path):
    body = np.column_stack([1 + np.arange(N), positions_mm(N, 1).reshape(N, -1)])
    path = tmp_path / "markers.txt"
    path.write_text("\n".join(["Time\tAX\tAY\tAZ", *rows(body, "\t")]) + "\n", encoding="utf-8")
    with pytest.raises(ReadError, match=r"reading\.rate_hz"):
        read_recording(path, MM)
    assert read_recording(path, ReadOptions(length_unit="mm", rate_hz=150.0)).rate_hz == 150.0


def test_columns_of_force_and_centre_of_pressure_are_plates(tmp_path):
    """Samples are numbered, as in BMC's tables; the free moment is about the vertical of the table."""
    names = ["Time", "Fx", "Fy", "Fz", "COPx", "COPy", "COPz", "Tz"]
    row = [*ON_FOOT_N, *(1e3 * AT_M), 1e3 * FREE_NM]
    body = np.column_stack([1 + np.arange(3 * N), np.tile(row, (3 * N, 1))])
    path = tmp_path / "walk_forces.txt"
    path.write_text("\n".join(["\t".join(names), *rows(body, "\t")]) + "\n", encoding="utf-8")
    markers = write_trc(tmp_path / "walk.trc")
    with pytest.raises(ReadError, match=r"reading\.forces_rate_hz"):
        read_with_forces(markers, path, ReadOptions(forces_length_unit="mm"))
    read = read_with_forces(markers, path, ReadOptions(forces_length_unit="mm", forces_rate_hz=300.0))
    (plate,) = read.force_plates
    np.testing.assert_allclose(plate.force_n, np.tile(ON_FOOT_N, (3 * N, 1)))
    about_origin = np.cross(AT_M, ON_FOOT_N) + np.array([0.0, 0.0, FREE_NM])
    np.testing.assert_allclose(plate.moment_nm, np.tile(about_origin, (3 * N, 1)), atol=1e-9)
