"""The small set of the benchmark: the same bytes from the same seed, files that agree with the truth, and OpenSim's moments."""

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import ezc3d
import numpy as np
import pandas as pd
import pytest
import run_all

import make_set
from bodies import make_person
from files import FORCE_COLUMNS, coordinates, write_model, write_mot, write_setups
from space import G, net_moments
from walks import Style, walk_in_space

HASHES = Path(make_set.__file__).parent / "small_hashes.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("set")
    make_set.write_set(path, seed=1, numbers=make_set.SMALL, force_rate_hz=make_set.SMALL_FORCE_RATE_HZ)
    return path


def test_same_bytes_as_in_the_repository(folder):
    made, known = (json.loads(path.read_text(encoding="utf-8")) for path in (folder / "hashes.json", HASHES))
    assert [name for name in known if made.get(name) != known[name]] == []
    assert made.keys() == known.keys()


def test_plates_of_the_c3d_carry_the_body_where_the_feet_are(folder):
    trials = pd.read_csv(folder / "trials.csv", index_col="trial")
    for trial in ("T001_walk", "T004_squat", "T006_walk"):
        file = ezc3d.c3d(str(folder / "recordings" / f"{trial}.c3d"), extract_forceplat_data=True)
        up = "xyz".index(trials["up_axis"][trial][1])
        force = sum(plate["force"] for plate in file["data"]["platform"])
        weight = trials["mass_kg"][trial] * G
        assert np.mean(force[up]) == pytest.approx(weight, rel=0.06)  # of strides that are not whole
        labels = file["parameters"]["POINT"]["LABELS"]["value"]
        feet = file["data"]["points"][:3, [labels.index(name) for name in ("RHEE", "RTOE", "LHEE", "LTOE")]]
        loaded = [plate for plate in file["data"]["platform"] if -np.min(plate["force"][up]) < 5.0]
        assert loaded == file["data"]["platform"]
        for plate in loaded:
            frame = int(np.argmax(plate["force"][up]))
            point = plate["center_of_pressure"][:, frame]
            away = np.linalg.norm(
                feet[:, :, frame // 2 if force.shape[1] > feet.shape[2] else frame] - point[:, None], axis=0
            )
            assert np.nanmin(away) < 200.0


def test_no_two_plates_overlap(folder):
    """Some of a walk and a turn did before they were moved apart; corners from another reader."""
    counts = []
    for path in sorted((folder / "recordings").glob("T*.c3d")):
        file = ezc3d.c3d(str(path))["parameters"]
        counts.append(file["FORCE_PLATFORM"]["USED"]["value"][0])
        corners = np.moveaxis(file["FORCE_PLATFORM"]["CORNERS"]["value"], 2, 0) if counts[-1] else ()
        for first, second in combinations(corners, 2):
            common = np.minimum(first.max(axis=1), second.max(axis=1)) - np.maximum(
                first.min(axis=1), second.min(axis=1)
            )
            assert common.min() < -1.0, path.name  # mm
    assert counts == [5, 5, 4, 2, 0, 5, 5, 4, 2, 0, 2]


def test_a_movement_that_does_not_suit_is_drawn_again():
    """The first turn of this seed has feet beside the plates that do not overlap; the next one is the trial, each time."""
    person = make_set.make_subject(4, 0, "turn")
    first = make_set._drawn(np.random.default_rng([4, 1]), "turn", person, False, 2)
    with pytest.raises(ValueError, match="the left_foot is beside its plate"):
        make_set.plates_of(first)
    trials = [make_set.make_trial(4, 1, 200) for _ in range(2)]
    angles = [trial.moved.motion.angle_rad["left_shank"].tobytes() for trial in trials]
    assert angles[0] == angles[1] != first.motion.angle_rad["left_shank"][:, ::2].tobytes()
    assert [trial.noise_m for trial in trials] == [trials[0].noise_m] * 2


def test_a_movement_that_never_suits_is_told(monkeypatch):
    def out_of_reach(*_):
        raise ValueError("a foot is out of reach")

    monkeypatch.setattr(make_set, "_drawn", out_of_reach)
    with pytest.raises(ValueError, match="trial 2 of seed 4: none of 20 draws suits: a foot is out of reach"):
        make_set.make_trial(4, 1, 200)


def test_walk_has_the_moments_of_people(folder):
    """Peaks of a comfortable walk (Perry and Burnfield 2010): plantarflexor 1.2 to 1.7, hip abductor 0.6 to 1.1 N m/kg."""
    trials = pd.read_csv(folder / "trials.csv", index_col="trial")
    truth = pd.read_csv(folder / "truth" / "T001_walk.csv")
    mass = trials["mass_kg"]["T001_walk"]
    assert 1.2 < -truth["right_ankle_flexion_nm"].min() / mass < 1.7
    assert 0.6 < truth["right_hip_abduction_nm"].max() / mass < 1.1


def test_terms_of_the_file_add_up(folder):
    for trial, kinds in (("T001_walk", 5), ("T004_squat", 6)):
        truth = pd.read_csv(folder / "truth" / f"{trial}.csv")
        for joint in ("left_hip", "right_knee", "left_ankle"):
            terms = truth.filter(regex=f"^{joint}_flexion_[a-z]+_nm$")
            assert terms.shape[1] == kinds
            np.testing.assert_allclose(terms.sum(axis=1), truth[f"{joint}_flexion_nm"], atol=1e-4)


def test_a_program_is_run_and_scored_on_the_set(folder, tmp_path, monkeypatch, capsys):
    """leg2d and a program that is not installed, from the recordings to the page."""
    page, (leg2d,) = tmp_path / "page.md", [of for of in run_all.PROGRAMS if of.script == "leg2d"]
    page.write_text("".join(f"<!-- table {k} -->\n<!-- end of table {k} -->\n" for k in (1, 2, 3)))
    (tmp_path / "figures").mkdir()
    monkeypatch.setattr(
        run_all, "PROGRAMS", (leg2d, replace(leg2d, name="other", script="other", package="no_package"))
    )
    monkeypatch.setattr("sys.argv", ["run_all.py", str(folder), "--write", str(page), "--out", str(tmp_path / "out")])
    run_all.main()
    errors = re.findall(r"\| Body given \| walk \| (\w+) \| [\d.]+ \| ([\d.]+) \|", page.read_text())
    assert [joint for joint, _ in errors] == ["hip", "knee", "ankle"]
    assert all(0.0 < float(error) < 0.2 for _, error in errors)
    assert "other: not run: no_package is not installed (pip install no_package)" in capsys.readouterr().out


@pytest.mark.slow
def test_faults_leave_the_truth_alone(tmp_path):
    for name in ("with", "without"):
        make_set.write_set(tmp_path / name, seed=2, numbers=range(3), force_rate_hz=200, faults=name == "with")
    with_faults, without = (json.loads((tmp_path / name / "hashes.json").read_text()) for name in ("with", "without"))
    changed = {name for name in without if with_faults[name] != without[name]}
    assert changed == {"trials.csv", "recordings/T003_run.c3d", "recordings/T003_run_forces.mot"}


@pytest.mark.slow
def test_moments_are_those_of_opensim(tmp_path, monkeypatch):
    """Exact coordinates and forces at 1 kHz through OpenSim's tool, which differentiates splines of the coordinates."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("Error")
    person = make_person("L01", "leg", mass_kg=64.0, height_m=1.68)
    moved = walk_in_space(person, Style(direction_deg=70.0, radius_m=3.0, first_strike_s=0.1), np.arange(801) / 1000.0)
    recordings, names = tmp_path / "recordings", coordinates(person)
    write_model(tmp_path / "bodies" / "L01" / "model.osim", person)
    write_setups(recordings, "T", "L01", 0.8, on_ground=True)
    columns = [column for name in person.body for column in names[name]]
    angles = [moved.motion.angle_rad[name][0] for name in person.body]
    place = ("pelvis_tx", "pelvis_ty", "pelvis_tz")
    table = np.concatenate([*angles, moved.motion.shift_m["pelvis"][0]], axis=1)
    write_mot(recordings / "T_ik.mot", [*columns, *place], table, 1000.0, decimals=13)
    loads = np.concatenate(
        [part for load in moved.loads for part in (load.force_n, load.point_m, load.moment_nm)], axis=1
    )
    write_mot(recordings / "T_forces.mot", FORCE_COLUMNS, loads, 1000.0, decimals=13)
    setup = recordings / "T_id.xml"
    setup.write_text(setup.read_text().replace("coordinates>6<", "coordinates>-1<"))
    monkeypatch.chdir(recordings)
    assert opensim.InverseDynamicsTool(setup.name).run()
    results = opensim.TimeSeriesTable("T_id.sto")
    theirs = dict(zip(results.getColumnLabels(), results.getMatrix().to_numpy().T, strict=True))
    net = net_moments(person.body, moved.states, moved.loads)
    for name in person.body:
        for k, coordinate in enumerate(names[name]):
            np.testing.assert_allclose(theirs[f"{coordinate}_moment"][50:-50], net[name][50:-50, k], atol=0.15)
