"""Markers in one file, force plates in another: the same recording as from one C3D file, or a sentence."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import text_files
from c3d_files import CORNERS_MM, plate, write_c3d
from limbtorque.errors import ReadError, StudyError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.join import distance_m, join_forces, stands
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording, read_with_forces
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.writers import forces_table, write_recording, write_sto
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_table
from limbtorque.workflow.keys import session_key
from limbtorque.workflow.stages import collect, kinematics, muscles, torques

NEWTON = ReadOptions(force_unit="N")


def marker_file(path: Path, *, start_s: float = 0.0, first_frame: int = 1, n_frames: int = 12) -> Path:
    """TRC at 100 Hz."""
    return text_files.write_trc(path, text_files.positions_mm(n_frames), first_frame=first_frame, start_s=start_s)


def force_file(path: Path, *, start_s: float = 0.0, n: int = 120, rate_hz: float = 1000.0) -> Path:
    """MOT with one plate: sample i has the force (i, 2 i, 3 i) N at the point (0.1, 0.2, 0.3) m."""
    force = np.arange(n)[:, np.newaxis] * np.array([1.0, 2.0, 3.0])
    columns = {"time_s": start_s + np.arange(n) / rate_hz}
    columns |= {f"ground_force_v{axis}": force[:, k] for k, axis in enumerate("xyz")}
    columns |= {f"ground_force_p{axis}": np.full(n, 0.1 * (k + 1)) for k, axis in enumerate("xyz")}
    columns |= {f"ground_torque_{axis}": np.zeros(n) for axis in "xyz"}
    write_sto(pa.table({name: pa.array(column) for name, column in columns.items()}), path, units="m")
    return path


def samples(read: Recording) -> np.ndarray:
    """Which samples of the file a joined recording has, by their forces; NaN where none."""
    return read.force_plates[0].force_n[:, 0]


# ---- the same trial as one file and as two ----


@pytest.fixture(scope="module")
def walk(recordings: Path) -> Recording:
    """A recorded walk over two plates: 1249 frames at 250 Hz, 8 samples a frame."""
    return read_c3d(recordings / "walking_opensim" / "walking2.c3d")


def test_two_files_are_the_c3d_file_to_the_last_bit(walk: Recording, tmp_path: Path) -> None:
    """The writers keep every bit, and the wrench is written about the origin."""
    write_recording(walk, tmp_path / "m.sto")
    write_sto(forces_table(walk), tmp_path / "f.mot", units="m")
    read = read_with_forces(tmp_path / "m.sto", tmp_path / "f.mot", replace(NEWTON, strict=True))
    np.testing.assert_array_equal(read.markers_m, walk.markers_m)
    for a, b in zip(read.force_plates, walk.force_plates, strict=True):
        assert (a.number, a.kind, a.rate_hz) == (b.number, 0, 2000.0)
        np.testing.assert_array_equal(a.force_n, b.force_n)
        np.testing.assert_array_equal(a.moment_nm, b.moment_nm)
    assert read.source == "m.sto"
    assert read.forces_source == "f.mot"
    assert read.sha256 == hashlib.sha256((tmp_path / "m.sto").read_bytes()).hexdigest()
    assert read.forces_sha256 == hashlib.sha256((tmp_path / "f.mot").read_bytes()).hexdigest()


def test_a_pair_of_files_of_rates_that_do_not_fit_is_refused(recordings: Path, tmp_path: Path) -> None:
    folder = recordings / "walking_opensim"
    for name, old, new in (("std_walking2_markers.trc", "\t126\t", "\t125\t"), ("std_walking2_grfs.sto", "101", "100")):
        lines = (folder / name).read_text().rstrip().split("\n")[:-1]
        (tmp_path / name).write_text(("\n".join(lines) + "\n").replace(old, new, 1))
    options = replace(NEWTON, forces_length_unit="mm")
    with pytest.raises(ReadError, match=r"forces have 20 samples per second, the markers 25 frames.*multiple"):
        read_with_forces(tmp_path / "std_walking2_markers.trc", tmp_path / "std_walking2_grfs.sto", options)


def test_exchanged_axes_are_a_guess(walk: Recording, tmp_path: Path) -> None:
    """Markers with z up, forces with y up, as OpenSim wants them."""
    turned = [
        replace(p, force_n=p.force_n[:, [0, 2, 1]] * [1, 1, -1], moment_nm=p.moment_nm[:, [0, 2, 1]] * [1, 1, -1])
        for p in walk.force_plates
    ]
    write_recording(walk, tmp_path / "m.sto")
    write_sto(forces_table(replace(walk, force_plates=tuple(turned))), tmp_path / "f.mot", units="m")
    read = read_with_forces(tmp_path / "m.sto", tmp_path / "f.mot", NEWTON)
    (guess,) = read.audit.guesses
    assert guess.item == "axes of the forces"
    assert "the forces act 0.54 m (median) from the nearest" in guess.stated
    with pytest.raises(ReadError, match=r"m.sto with the forces of f.mot: 1 guesses needed.*axes"):
        read_with_forces(tmp_path / "m.sto", tmp_path / "f.mot", replace(NEWTON, strict=True))


@pytest.mark.parametrize(
    "name", ["cohort/HC030A/Straight/HC030A05.c3d", "c3d_org/sample01/Eb015pr.c3d", "c3d_org/sample10/TYPE-4.C3D"]
)
def test_forces_act_where_the_feet_are(recordings: Path, name: str) -> None:
    """The distance that tells whether axes are the same, on recordings of other laboratories, and moved by 1 m."""
    read = read_c3d(recordings / name)
    assert distance_m(read.markers_m, read.force_plates) < 0.06
    moved = [replace(p, moment_nm=p.moment_nm + np.cross([0.0, 1.0, 0.0], p.force_n)) for p in read.force_plates]
    assert distance_m(read.markers_m, moved) > 0.5


# ---- clocks ----


def test_samples_are_found_by_the_times_of_both_files(tmp_path: Path) -> None:
    markers = marker_file(tmp_path / "m.trc", start_s=0.3, first_frame=31)
    read = read_with_forces(markers, force_file(tmp_path / "f.mot", n=500), NEWTON)
    np.testing.assert_array_equal(samples(read), 300 + np.arange(120))
    assert (read.first_frame, read.force_plates[0].rate_hz) == (31, 1000.0)
    assert not [note for note in read.notes if "f.mot" in note]
    given = read_with_forces(markers, tmp_path / "f.mot", replace(NEWTON, forces_offset_s=0.25))
    np.testing.assert_array_equal(samples(given), 50 + np.arange(120))
    assert any("0.25 s added" in sentence for sentence in given.audit.sentences)


def test_forces_that_are_too_short_leave_frames_without(tmp_path: Path) -> None:
    read = read_with_forces(marker_file(tmp_path / "m.trc"), force_file(tmp_path / "f.mot", start_s=0.02, n=65), NEWTON)
    expected = np.full(120, np.nan)
    expected[20:85] = np.arange(65)
    expected[85:90] = 64  # the frame that was begun
    np.testing.assert_array_equal(samples(read), expected)
    assert "f.mot has forces for frames 3-9 only; the forces of the other 5 frames are unknown" in read.notes


def test_forces_that_end_at_the_time_of_the_last_frame_are_whole(tmp_path: Path) -> None:
    """As files are cut by time: the last frame has its first sample only, which is held."""
    read = read_with_forces(marker_file(tmp_path / "m.trc"), force_file(tmp_path / "f.mot", n=111), NEWTON)
    np.testing.assert_array_equal(samples(read), np.minimum(np.arange(120), 110))
    assert not [note for note in read.notes if "f.mot" in note]


def test_times_that_do_not_meet_are_refused(tmp_path: Path) -> None:
    markers = marker_file(tmp_path / "m.trc")
    for start_s in (-0.2, 0.12):
        with pytest.raises(ReadError, match=r"so no frame has a force; .* give reading.forces_offset_s"):
            read_with_forces(markers, force_file(tmp_path / "f.mot", start_s=start_s), NEWTON)
    with pytest.raises(ReadError, match=r"the force samples are 0.004 s off the frames, expected at most 0.001 s"):
        read_with_forces(markers, force_file(tmp_path / "f.mot", start_s=0.004, rate_hz=100.0), NEWTON)
    read = read_with_forces(markers, force_file(tmp_path / "f.mot", start_s=-0.0004), NEWTON)
    assert samples(read)[0] == 0.0


def test_a_file_without_times_is_a_guess(tmp_path: Path) -> None:
    markers = write_c3d(tmp_path / "m.c3d", text_files.positions_mm() / 1e3, first_frame=11)
    forces = force_file(tmp_path / "f.mot", n=300)
    read = read_with_forces(markers, forces, NEWTON)
    assert samples(read)[0] == 100.0
    assert "clock" in [guess.item for guess in read.audit.guesses]
    read = read_with_forces(markers, forces, replace(NEWTON, forces_offset_s=0.1))
    assert samples(read)[0] == 0.0
    assert "clock" not in [guess.item for guess in read.audit.guesses]


# ---- what else is joined, and what is refused ----


def test_plates_channels_and_events_of_a_c3d_file(tmp_path: Path) -> None:
    analog = np.tile([1.0, 2.0, -300.0, 4.0, 5.0, 6.0], (24, 1)) + np.arange(24)[:, np.newaxis]
    events = {"EVENT": {"USED": [1], "TIMES": np.array([[0.0], [0.05]]), "LABELS": ["strike"], "CONTEXTS": ["Left"]}}
    given = write_c3d(
        tmp_path / "f.c3d",
        text_files.positions_mm() / 1e3,
        analog=analog,
        analog_units=["N"] * 3 + ["Nm"] * 3,
        groups={**plate(2, corners_mm=CORNERS_MM / 1e3, ORIGIN=np.array([[0.0], [0.0], [-0.04]])), **events},  # in m
    )
    whole = read_recording(given)
    read = read_with_forces(marker_file(tmp_path / "m.trc", start_s=0.02, n_frames=8), given)
    np.testing.assert_array_equal(read.force_plates[0].force_n, whole.force_plates[0].force_n[4:20])
    np.testing.assert_array_equal(read.analog, whole.analog[4:20])
    assert (read.analog_labels, read.analog_rate_hz) == (whole.analog_labels, 200.0)
    assert [(e.label, e.context, round(e.time_s, 6)) for e in read.events] == [("strike", "Left", 0.03)]
    assert read.labels == text_files.LABELS
    own = read_with_forces(text_files.write_vicon(tmp_path / "m.csv", first_frame=1), given)
    assert own.analog_labels == ("Plate 1 - Force.Fx", "Plate 1 - Force.Fy")
    assert [event.label for event in own.events] == ["Foot Strike"]
    assert sum("left out: m.csv has" in sentence for sentence in own.audit.sentences) == 2
    with pytest.raises(ReadError, match=r"f.c3d already has 1 force plates.*remove forces_file from the trial"):
        read_with_forces(given, force_file(tmp_path / "f.mot"))


def test_files_that_are_no_pair_are_refused(tmp_path: Path) -> None:
    markers = marker_file(tmp_path / "m.trc")
    other = marker_file(tmp_path / "n.trc", n_frames=10)
    with pytest.raises(
        ReadError, match=r"m.trc with the forces of n.trc: n.trc has no readable force plates.*only 3 markers"
    ):
        read_with_forces(markers, other)
    with pytest.raises(ReadError, match="both files have the same content"):
        read_with_forces(markers, markers)
    with pytest.raises(ReadError, match=r"no.mot: the file cannot be opened"):
        read_with_forces(markers, tmp_path / "no.mot")
    for rate_hz in (50.0, 150.0, 1010.0):
        with pytest.raises(ReadError, match=rf"have {rate_hz:g} samples per second, the markers 100 frames"):
            read_with_forces(markers, force_file(tmp_path / "f.mot", rate_hz=rate_hz), NEWTON)


def test_units_of_the_two_files_are_each_their_own(tmp_path: Path) -> None:
    markers = marker_file(tmp_path / "m.trc")
    forces = text_files.write_grf_mot(tmp_path / "f.mot", head="")
    options = ReadOptions(force_unit="N", length_unit="mm", forces_offset_s=-0.5)
    with pytest.raises(ReadError, match=r"f.mot: unit of length: the heading: not stated"):
        read_with_forces(markers, forces, options)
    read = read_with_forces(markers, forces, replace(options, forces_length_unit="m", rate_hz=100.0))
    np.testing.assert_allclose(
        read.force_plates[0].moment_nm[3],
        np.cross(text_files.POINT_M, text_files.FORCE_N) + text_files.TORQUE_NM,
        rtol=1e-14,
    )


# ---- a study ----

SETTINGS = """
plane: {up_axis: +z, forward_axis: travel}
reading: {force_unit: N}
muscles: {enabled: false}
marker_sets:
  lab:
    hip_axis: "{S}HJC"
    knee_axis: "{S}KJC"
    ankle_axis: "{S}AJC"
    femoral_condyles: ["{S}LFC", "{S}MFC"]
    medial_malleolus: "{S}MMAL"
    lateral_malleolus: "{S}LMAL"
    head_of_metatarsal_2: "{S}MT2"
    heel: "{S}CAL"
substitutes:
  lab: {greater_trochanter: hip_axis}
"""
COLUMNS = "trial,session,subject,file,forces_file,chain,side,condition"


def write_study(folder: Path, *rows: str) -> Path:
    """Settings and tables."""
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "config.yaml").write_text(SETTINGS)
    (folder / "config" / "trials.csv").write_text("\n".join([COLUMNS, *rows]) + "\n")
    (folder / "config" / "subjects.csv").write_text("subject,mass_kg,height_m,sex\nAnn,70,1.75,f\n")
    return folder


def test_a_trial_of_two_files_is_traced_to_both(walk: Recording, recordings: Path, tmp_path: Path) -> None:
    """Both hashes are in the ledger, the provenance and the table; the torques are those of the C3D file."""
    write_recording(walk, tmp_path / "m.sto")
    write_sto(forces_table(walk), tmp_path / "f.mot", units="m")
    (tmp_path / "one.c3d").symlink_to(recordings / "walking_opensim" / "walking2.c3d")
    folder = write_study(tmp_path, "two,S,Ann,m.sto,f.mot,leg,right,walk", "one,S,Ann,one.c3d,,leg,right,walk")
    study = load_study(folder)
    assert study.trials[0].files == (folder / "m.sto", folder / "f.mot")
    for name, stage in (("kinematics", kinematics), ("torques", torques), ("muscles", muscles)):
        stage.run(folder=folder, session="S", key=session_key(name, study, "S"))
    collect.run(folder=folder)
    hashes = {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("m.sto", "f.mot")}
    kept = json.loads((folder / "results" / "provenance.json").read_text())["trials"]["two"]
    assert (kept["file"], kept["forces_file"]) == ("m.sto", "f.mot")
    assert (kept["sha256"], kept["forces_sha256"]) == (hashes["m.sto"], hashes["f.mot"])
    ledger = (folder / "results" / "ledger.csv").read_text()
    assert all(value in ledger for value in hashes.values())
    found = {
        name: read_table(folder / "results" / "torques" / "S" / f"{name}.parquet")[0].to_pandas()
        for name in ("one", "two")
    }
    assert found["one"]["ankle_torque_nm"].abs().max() > 60.0
    # plates of a C3D file have edges, wrenches in a text file have none: no other difference
    np.testing.assert_allclose(found["two"]["ankle_torque_nm"], found["one"]["ankle_torque_nm"], atol=1e-9)
    _, record = read_table(folder / "results" / "kinematics" / "S" / "two.parquet")
    assert record.recording.forces_sha256 == hashes["f.mot"]
    assert any(note.startswith("clock: m.sto begins at 0 s; f.mot begins at 0 s") for note in record.notes)


def test_another_file_of_forces_is_another_job(tmp_path: Path) -> None:
    marker_file(tmp_path / "m.trc")
    force_file(tmp_path / "f.mot")
    folder = write_study(tmp_path, "two,S,Ann,m.trc,f.mot,leg,right,walk")
    before = session_key("kinematics", load_study(folder), "S")
    force_file(tmp_path / "f.mot", n=121)
    changed = session_key("kinematics", load_study(folder), "S")
    force_file(tmp_path / "g.mot")
    write_study(tmp_path, "two,S,Ann,m.trc,g.mot,leg,right,walk")
    other = load_study(folder)
    assert len({before, changed, session_key("kinematics", other, "S")}) == 3


def test_faults_of_the_column(tmp_path: Path) -> None:
    marker_file(tmp_path / "m.trc")
    (tmp_path / "same.trc").symlink_to(tmp_path / "m.trc")
    rows = [
        f"{name},S,Ann,m.trc,{name},leg,right,walk" for name in ("no.mot", "m.trc", "same.trc", "a{b}.mot", "a<b>.mot")
    ]
    with pytest.raises(StudyError) as error:
        load_study(write_study(tmp_path, *[row.replace("a{b}", "ab", 1).replace("a<b>", "acb", 1) for row in rows]))
    said = "\n".join(error.value.faults)
    assert "line 2 (trial no.mot): forces_file is 'no.mot', expected a file; it does not exist in" in said
    assert said.count("expected another file than in the column file; name") == 2
    assert "forces_file is 'a<b>.mot', expected a name without braces and <>" in said
    assert "forces_file is 'a{b}.mot', expected a name without braces and <>" in said


def test_a_channel_at_its_limit_stays_with_its_frames(walk: Recording) -> None:
    """Samples 3200 to 3263 of plate 1, frames 401 to 408, in a file whose markers begin at frame 61 (0.24 s)."""
    limit = np.zeros(len(walk.force_plates[0].force_n), dtype=bool)
    limit[3200:3264] = True
    plates = (replace(walk.force_plates[0], saturated=limit), *walk.force_plates[1:])
    late = replace(walk, markers_m=walk.markers_m[60:], first_frame=61, force_plates=(), start_s=0.24)
    joined = join_forces(late, replace(walk, force_plates=plates, sha256="f" * 64, start_s=0.0), NEWTON)
    found = joined.force_plates[0].saturated.reshape(joined.n_frames, 8).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(found) + joined.first_frame, np.arange(401, 409))
    short = replace(
        plates[0], force_n=plates[0].force_n[:6600], moment_nm=plates[0].moment_nm[:6600], saturated=limit[:6600]
    )
    joined = join_forces(late, replace(walk, force_plates=(short,), sha256="f" * 64, start_s=0.0), NEWTON)
    assert len(joined.force_plates[0].saturated) == len(joined.force_plates[0].force_n)
    assert joined.force_plates[0].saturated.sum() == 64


def test_axes_that_are_exchanged_are_a_guess_though_the_forces_pass_near_a_marker(
    walk: Recording,
) -> None:
    """Markers turned to y up, forces left with z up: the body does not stand along them."""
    turned = replace(walk, markers_m=walk.markers_m[..., [0, 2, 1]] * [1, 1, -1], force_plates=())
    assert stands(walk.markers_m, walk.force_plates)
    assert not stands(turned.markers_m, walk.force_plates)
    joined = join_forces(turned, replace(walk, sha256="f" * 64), NEWTON)
    assert "axes of the forces" in {guess.item for guess in joined.audit.guesses}
