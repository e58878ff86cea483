"""`lt.open_results` reads what a run wrote, with units and signs, and says what is wrong with a folder."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import limbtorque as lt
from study_runs import made_once, make_study, run

pytestmark = pytest.mark.workflow
TRIALS = ("S01_sagittal_fast", "S02_sagittal_fast")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "other_programs.md"


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


def test_curves_are_those_of_the_files_with_singular_dimensions(study):
    pytest.importorskip("xarray", reason="xarray is not installed")
    results = lt.open_results(study)
    curves = results.curves()
    rows = pd.read_parquet(study / "results" / "curves")
    assert curves.dims == ("trial", "quantity", "percent")
    assert curves.shape == (2, rows["quantity"].nunique(), 101)
    assert tuple(curves.trial.to_numpy()) == TRIALS
    assert list(curves.subject.to_numpy()) == ["S01", "S02"]
    sample = rows[rows["value"].notna()].iloc[::97]
    assert len(sample) > 50
    for row in sample.itertuples():
        chosen = curves.sel(trial=row.trial, quantity=row.quantity, percent=row.percent)
        assert float(chosen) == row.value
        assert chosen.unit == row.unit
    assert np.isfinite(curves).sum() == rows["value"].notna().sum()
    elbow = results.curves(quantities=["elbow_torque_nm"])
    np.testing.assert_array_equal(elbow[:, 0], curves.sel(quantity="elbow_torque_nm"))
    assert elbow.sign.item() == "flexion positive"
    assert elbow.groupby("subject").mean("trial").dims == ("subject", "quantity", "percent")


def test_without_xarray_only_curves_fail(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    results = lt.open_results(study)
    with pytest.raises(lt.LimbtorqueError, match=r'curves needs xarray: pip install "limbtorque\[xarray\]"'):
        results.curves()
    assert len(results.table("ledger")) == 2


def example(program):
    """Code of the page for a program."""
    part = PAGE.read_text(encoding="utf-8").partition(f"\n## {program}\n")[2]
    return re.search(r"```\w+\n(.*?)```", part, re.DOTALL).group(1)


def peaks_by_condition(study):
    """Mean, standard deviation and number of subjects' flexion peaks of the elbow, by hand."""
    rows = pd.read_csv(study / "results" / "results.csv")
    peaks = rows[rows.joint == "elbow"].flexion_peak_nm_kg.to_numpy()
    return np.array([peaks.mean(), peaks.std(ddof=1), len(peaks)])


def test_the_example_of_pandas(study, monkeypatch):
    monkeypatch.chdir(study)
    exec(example("pandas"), names := {})
    np.testing.assert_allclose(names["table"].loc["sagittal fast"], peaks_by_condition(study), rtol=1e-12)
    assert len(names["curves"]) == 2 * 101


def test_the_example_of_polars(study, monkeypatch):
    pytest.importorskip("polars", reason="polars is not installed")
    monkeypatch.chdir(study)
    exec(example("Polars"), names := {})
    np.testing.assert_allclose(names["table"].row(0)[1:], peaks_by_condition(study), rtol=1e-12)
    assert len(names["curves"]) == 2 * 101


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
def test_the_example_of_r(study, tmp_path):
    (tmp_path / "results").symlink_to(study / "results")
    run = subprocess.run(["Rscript", "-e", example("R")], cwd=tmp_path, capture_output=True, text=True, check=True)
    table = pd.read_csv(io.StringIO(run.stdout), index_col="condition")
    np.testing.assert_allclose(
        table.loc["sagittal fast"], peaks_by_condition(study), rtol=1e-6
    )  # R writes eight digits


def test_the_example_of_xarray(study, monkeypatch):
    pytest.importorskip("xarray", reason="xarray is not installed")
    monkeypatch.chdir(study)
    exec(example("xarray"), names := {})
    assert names["means"].dims == ("subject", "quantity", "percent")
    assert names["fast"].shape == (2, 1, 101)


def test_the_data_package_is_valid_and_describes_every_table_of_the_run(study):
    frictionless = pytest.importorskip("frictionless", reason="frictionless is not installed (make peers)")
    place = study / "results"
    report = frictionless.validate(str(place / "datapackage.json"))
    assert report.valid, report.flatten(["type", "note"])
    package = frictionless.Package(str(place / "datapackage.json"))
    assert {f"{resource.name}.csv" for resource in package.resources} == {path.name for path in place.glob("*.csv")}
    results = lt.open_results(study)
    for resource in package.resources:
        attrs = results.table(resource.name).attrs
        fields = {field.name: field.to_dict() for field in resource.schema.fields}
        assert {name: field["unit"] for name, field in fields.items()} == attrs["units"]
        assert {name: field.get("sign", "") for name, field in fields.items()} == attrs["signs"]
    peak = package.get_resource("results").schema.get_field("flexion_peak_nm_kg")
    assert (peak.type, peak.to_dict()["unit"]) == ("number", "N m/kg")
    wrong = (place / "datapackage.json").read_text(encoding="utf-8").replace('"type": "string"', '"type": "number"')
    (place / "wrong.json").write_text(wrong, encoding="utf-8")  # and a fault is noticed
    assert not frictionless.validate(str(place / "wrong.json")).valid
    (place / "wrong.json").unlink()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda r: r.table("resluts"), "has no table 'resluts'; did you mean 'results'"),
        (lambda r: r.frames("torque"), "stage is 'torque', expected kinematics, torques, muscles"),
        (lambda r: r.frames("torques", trials=["S01"]), "the run has no trial 'S01'"),
        (lambda r: r.frames("torques", columns=["elbow_torque_n"]), "torques has no column 'elbow_torque_n'"),
        (
            lambda r: r.curves(quantities=["elbow_torque"]),
            "no curves of 'elbow_torque'; did you mean 'elbow_torque_nm'",
        ),
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


def test_the_example_of_opensim_writes_whole_columns(study, monkeypatch):
    monkeypatch.chdir(study)
    exec(example("OpenSim"), {"lt": lt})
    lines = Path("fast.sto").read_text(encoding="utf-8").splitlines()
    assert "elbow_angle_rad" in lines[lines.index("endheader") + 1].split("\t")
    assert not any("nan" in line for line in lines)
