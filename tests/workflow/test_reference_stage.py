"""Subjects of simulated walks beside a reference: table, page, other results, and what is refused."""

import csv
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

import limbtorque as lt
from limbtorque.cli.main import main
from limbtorque.errors import SettingsError, StudyError
from limbtorque.study.study import load_study
from limbtorque.tables.reference_columns import REFERENCE_COLUMNS
from limbtorque.workflow import keys
from limbtorque.workflow.layout import subject_pages
from limbtorque.workflow.load_checked import checked_study
from limbtorque.workflow.reference_faults import reference_files
from limbtorque.workflow.stages import reference
from reports import Elements, embedded
from staged_study import change_settings, make_study, run_stages
from study_runs import planned_jobs

WALKS = ["S01_walk_fast_1_right", "S01_walk_fast_2_right", "S01_walk_fast_1_left"]
WALKS += ["S02_walk_fast_1_right", "S02_walk_fast_1_left", "S03_walk_fast_1_right", "S03_walk_slow_1_right"]


def give_group(folder, *names):
    """Group adults of some subjects."""
    path = folder / "config" / "subjects.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{**row, "group": "adults" if row["subject"] in names else ""} for row in csv.DictReader(file)]
    pd.DataFrame(rows).to_csv(path, index=False)


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    """Walks of three subjects, of whom two are the reference."""
    folder = make_study(
        tmp_path_factory.mktemp("reference") / "walks", names=WALKS, extra="muscles:\n  enabled: false\n"
    )
    change_settings(folder, reference={"group": "adults"})
    give_group(folder, "S01", "S02")
    tables = run_stages(folder)
    reference.run(folder=folder)
    tables.beside = pd.read_csv(folder / "results" / "compared_with_reference.csv", keep_default_na=False)
    return tables


def mean_curve(walks, subject, side, quantity):
    rows = walks.curves[(walks.curves.subject == subject) & (walks.curves.side == side)]
    rows = rows[(rows.quantity == quantity) & (rows.condition == "fast")]
    return rows.groupby("percent").value.mean().to_numpy()


def test_curves_are_those_of_the_study(walks):
    """Rms deviation of S03's knee from the mean of two subjects, each the mean of its sides, recomputed with pandas."""
    mean = [
        np.mean([mean_curve(walks, name, side, "knee_flexion_deg") for side in ("right", "left")], axis=0)
        for name in ("S01", "S02")
    ]
    deviation = mean_curve(walks, "S03", "right", "knee_flexion_deg") - np.mean(mean, axis=0)
    rows = walks.beside[(walks.beside.subject == "S03") & (walks.beside.joint == "knee")]
    row = rows[(rows.quantity == "flexion") & (rows.statistic == "curve")].squeeze()
    known = ~np.isnan(deviation)
    assert float(row.rms_deviation) == pytest.approx(np.sqrt(np.mean(deviation[known] ** 2)), rel=1e-6)
    assert (int(row.n_reference), int(row.n_trials), row.outside) == (2, 1, "")
    assert set(walks.beside.condition) == {"fast"}  # the reference did not walk slowly
    members = walks.beside[walks.beside.subject == "S01"]
    assert set(members.n_reference) == {1}
    assert set(members.side) == {"right", "left"}


def test_net_torques_are_over_body_mass_and_have_errors(walks):
    results = pd.read_csv(walks.folder / "results.csv")
    of_ankle = results[(results.subject == "S01") & (results.side == "right") & (results.joint == "ankle")]
    rows = walks.beside[(walks.beside.subject == "S01") & (walks.beside.side == "right")].set_index("quantity")
    peak = rows[rows.joint == "ankle"].loc["extension_peak_nm_kg"]
    assert float(peak.value) == pytest.approx(of_ankle.extension_peak_nm_kg.mean(), rel=1e-12)
    assert (peak.unit, int(peak.n_trials), len(of_ankle)) == ("N m/kg", 2, 2)
    curves = walks.beside[(walks.beside.subject == "S03") & (walks.beside.statistic == "curve")]
    net = curves[curves.term == "net"]
    torque = mean_curve(walks, "S03", "right", "ankle_torque_nm") / 64.0
    both = [
        mean_curve(walks, name, side, "ankle_torque_nm") / mass
        for name, mass in (("S01", 72.0), ("S02", 58.5))
        for side in ("right", "left")
    ]
    deviation = torque - (both[0] + both[1] + both[2] + both[3]) / 4.0
    of_ankle = net[net.joint == "ankle"].rms_deviation.astype(float).item()
    assert of_ankle == pytest.approx(np.sqrt(np.nanmean(deviation**2)), rel=1e-6)
    assert (net.rms_error.astype(float) > 0.0).all()
    assert (net.unit == "N m/kg").all()
    found = reference.beside(load_study(walks.folder.parent), walks.folder.parent)
    knee = {
        each.shown.term: each.value
        for each in found
        if each.row["subject"] == "S03" and each.shown[:2] == ("knee", "torque")
    }
    np.testing.assert_allclose(sum(knee.values()) - knee["net"], knee["net"], atol=2e-3)  # next to gaps 0.1 N m
    terms = set(curves.term) - {"net", ""}
    assert {"gravity", "external", "inertial"} <= terms
    assert (curves[curves.term.isin(terms)].rms_error == "").all()


def test_the_page_warns_and_has_what_a_reader_needs(walks):
    path = walks.folder.parent / subject_pages(load_study(walks.folder.parent))["S03"]
    text = path.read_text(encoding="utf-8")
    page = Elements(text)
    assert "Only 2 reference subjects: far too few" in page.text
    assert "walking speed (m/s)" in page.text
    assert not re.search("profile score|deviation index", page.text, re.IGNORECASE)
    assert {each.get("data-quantity") for each in page.all("figure")} == {"flexion", "net torque", None}
    links = [each["href"] for each in page.all("a") if not each["href"].startswith("#")]
    assert {(path.parent / link).suffix for link in links} == {".html", ".csv"}
    drawn = embedded(text, "ensembles_data")
    styles = {drawn["styles"][each["style"]]["name"] for each in drawn["curves"]}
    assert {"reference, band for 95 % of whole curves", "right"} == styles
    assert "Not compared, as the reference or the subject has no curve: leg, slow" in page.text


def test_the_table_is_described(walks):
    table = lt.open_results(walks.folder).table("compared_with_reference")
    assert list(table) == [column.name for column in REFERENCE_COLUMNS]
    assert table.attrs["units"]["walking_speed_m_s"] == "m/s"
    assert "compared_with_reference" in set(lt.open_results(walks.folder).table("data_dictionary").table)
    methods = (walks.folder / "methods.md").read_text(encoding="utf-8")
    assert "Each side of each participant was compared with the group adults, members with the others" in methods
    assert "Lenhoff" in methods.partition("## References")[2]


def test_results_of_another_study_are_a_reference(walks, tmp_path):
    """The same walks as another study: three subjects, none of which is left out."""
    folder = tmp_path / "clinic"
    shutil.copytree(walks.folder.parent, folder, symlinks=True)
    change_settings(folder, reference={"group": "", "results": "../other"})
    with pytest.raises(StudyError, match=r"no windows.csv, results.csv and settings.json; expected the results folder"):
        checked_study(folder)
    shutil.copytree(walks.folder, tmp_path / "other")
    settings = load_study(walks.folder.parent).settings
    (tmp_path / "other" / "settings.json").write_text(settings.model_dump_json(), encoding="utf-8")
    study = checked_study(folder)
    assert {path.name for path in reference_files(study)} >= {"windows.csv", "settings.json", "curves.parquet"}
    rows = [each.row for each in reference.beside(study, folder)]
    assert {row["n_reference"] for row in rows if row["condition"] == "fast"} == {3}
    alone = [row for row in rows if row["condition"] == "slow" and row["statistic"] == "curve"]
    assert max(row["rms_deviation"] for row in alone) == 0.0


OTHER = {
    "points": "number of points (ensembles.n_points): 51, expected 101 as in this study",
    "window": "['movement']), expected ([['hip'",
    "condition": "no trial has a chain and condition of this study",
    "sign": "windows and joints of leg, fast: ([['hip'",
}


@pytest.mark.parametrize("what", OTHER)
def test_a_reference_that_is_not_comparable_is_refused(what, walks, tmp_path):
    folder, other = tmp_path / "clinic", tmp_path / "other"
    shutil.copytree(walks.folder.parent, folder, symlinks=True, ignore=shutil.ignore_patterns("results"))
    shutil.copytree(walks.folder, other)
    change_settings(folder, reference={"group": "", "results": "../other"})
    raw = load_study(folder).settings.model_dump(mode="json", exclude_unset=True)
    if what == "points":
        raw["ensembles"]["n_points"] = 51
    if what == "sign":
        leg = load_study(folder).settings.chain("leg").model_dump(mode="json")
        leg["joints"][1]["flexion_sagittal"] = 1
        raw["chains"] = {"leg": leg}
    changes = {"window": {"window": "movement", "cadence_steps_min": ""}, "condition": {"condition": "run"}}
    windows = pd.read_csv(other / "windows.csv", keep_default_na=False).assign(**changes.get(what, {}))
    windows.to_csv(other / "windows.csv", index=False)
    (other / "settings.json").write_text(json.dumps(raw), encoding="utf-8")
    with pytest.raises(StudyError, match=re.escape(OTHER[what])):
        checked_study(folder)


def test_the_rule_runs_after_the_tables_that_it_reads(walks):
    jobs = planned_jobs(walks.folder.parent)
    assert ("reference", "") in jobs


def test_groups_are_checked_and_few_subjects_said(tmp_path, capsys):
    folder = make_study(tmp_path / "walks", names=WALKS[:4])
    give_group(folder, "S01")
    change_settings(folder, reference={"group": "adult"})
    with pytest.raises(StudyError, match="the group 'adult'; expected one of 'adults'; did you mean 'adults'"):
        checked_study(folder)
    change_settings(folder, reference={"group": "adults"}, ensembles={"enabled": False})
    with pytest.raises(StudyError, match=r"reference needs curves; set ensembles\.enabled: true"):
        checked_study(folder)
    change_settings(folder, reference={"results": "results"})
    with pytest.raises(SettingsError, match="expected group or results, not both"):
        checked_study(folder)
    change_settings(folder, reference={"group": ""}, ensembles={"enabled": True})
    with pytest.raises(StudyError, match="these are the results of this study"):
        checked_study(folder)
    change_settings(folder, reference={"group": "adults", "results": ""})
    before = load_study(folder)
    assert main(["check", str(folder)]) == 0
    assert "reference: 1 subject, expected 20 or more, of " in capsys.readouterr().out
    change_settings(folder, reference={"seed": 5})
    after = load_study(folder)
    assert keys.reference_key(after) != keys.reference_key(before)
    assert keys.ensembles_key(after) == keys.ensembles_key(before)
