"""`lt.open_results` reads what a run wrote, with units and signs, and says what is wrong with a folder."""

import json

import numpy as np
import pandas as pd
import pytest

import limbtorque as lt
from study_runs import made_once, make_study, run

pytestmark = pytest.mark.workflow
TRIALS = ("S01_sagittal_fast", "S02_horizontal_fast")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    def make(folder):
        run(make_study(folder, TRIALS))

    return made_once(tmp_path_factory, "opened", make)


def test_tables_and_frames_are_those_of_the_files(study):
    results = lt.open_results(study)
    assert results.trials == TRIALS
    peaks = results.table("results")
    assert set(peaks.trial) == set(TRIALS)
    assert peaks.attrs["units"]["flexion_peak_nm_kg"] == "N m/kg"
    names = ["elbow_torque_nm", "elbow_torque_low_nm"]
    frames = results.frames("torques", columns=names)
    assert list(frames) == ["trial", "frame", "time_s", *names]
    assert frames.attrs["units"]["elbow_torque_nm"] == "N m"
    for name, part in frames.groupby("trial", sort=False):
        (path,) = (study / "results" / "torques").glob(f"*/{name}.parquet")
        np.testing.assert_array_equal(part["elbow_torque_nm"], pd.read_parquet(path)["elbow_torque_nm"])
    whole = results.frames("torques", trials=TRIALS[:1])
    assert {name for name in whole if name.endswith("_sd_nm")}  # of the file of limits


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda r: r.table("resluts"), "has no table 'resluts'; did you mean 'results'"),
        (lambda r: r.frames("torque"), "stage is 'torque', expected kinematics, torques, muscles"),
        (lambda r: r.frames("torques", trials=["S01"]), "the run has no trial 'S01'"),
        (lambda r: r.frames("torques", columns=["elbow_torque_n"]), "torques has no column 'elbow_torque_n'"),
    ],
)
def test_a_wrong_name_is_a_sentence(study, ask, said):
    with pytest.raises(lt.LimbtorqueError, match=said):
        ask(lt.open_results(study / "results"))


def test_a_folder_without_finished_results_is_a_sentence(tmp_path):
    with pytest.raises(lt.LimbtorqueError, match="does not exist"):
        lt.open_results(tmp_path / "none")
    place = tmp_path / "results"
    place.mkdir()
    with pytest.raises(lt.LimbtorqueError, match=r"has no provenance.json: the run is not finished"):
        lt.open_results(tmp_path)
    for name in ("ledger.csv", "data_dictionary.csv"):
        (place / name).write_text("")
    (place / "provenance.json").write_text(json.dumps({"program": {"version": "0.0.1"}}))
    with pytest.raises(lt.LimbtorqueError, match=r"was written by version 0.0.1, this is"):
        lt.open_results(place)
