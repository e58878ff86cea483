"""Contrasts of simulated walks through the stages: values, terms that add up, what is frozen, and what repeats the stage."""

import datetime
import re
import shutil
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import limbtorque as lt
from limbtorque.cli.main import main
from limbtorque.errors import LimbtorqueError, StudyError
from limbtorque.study.study import load_study
from limbtorque.tables.effect_columns import EFFECT_TERMS
from limbtorque.workflow import keys
from limbtorque.workflow.frozen import FROZEN, declared_as, freeze_contrasts
from limbtorque.workflow.load_checked import checked_study
from limbtorque.workflow.stages import contrasts
from staged_study import change_settings, make_study, run_stages

WALKS = [f"S0{k}_walk_{speed}_1_right" for k in (1, 2, 3) for speed in ("slow", "fast")]
WALKS += ["S01_walk_fast_1_left", "S02_walk_fast_1_left"]
OUTCOMES = [
    {"statistic": "max_nm_kg", "joint": "knee", "smallest_effect": 0.1},
    {"statistic": "mean_nm", "joint": "hip", "window": "stance"},
    {"statistic": "rms_nm", "joint": "hip"},
    {"statistic": "max_nm", "joint": "knee", "term": "gravity"},
    {"statistic": "peak_n", "muscle": "soleus"},
    {"quantity": "knee_torque_nm"},
    {"quantity": "ankle_torque_nm", "between_percent": [0, 60], "take": "range"},
    {"quantity": "ankle_flexion_deg", "at_percent": 30.5},
]
FASTER = {"name": "faster", "chain": "leg", "conditions": ["fast", "slow"], "outcomes": OUTCOMES}
SIDES = {"name": "sides", "chain": "leg", "sides": ["right", "left"], "condition": "fast", "outcomes": OUTCOMES[:1]}
NOW = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
BY_TERM = ["contrast", "outcome", "joint"]


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    """Two walks of each of three subjects, with both limbs of two of them, and two declared contrasts."""
    folder = make_study(tmp_path_factory.mktemp("contrasts") / "walks", names=WALKS)
    change_settings(folder, contrasts={"declared": [FASTER, SIDES]})
    tables = run_stages(folder)
    contrasts.run(folder=folder)
    tables.contrasts = pd.read_csv(folder / "results" / "contrasts.csv")
    tables.points = pd.read_csv(folder / "results" / "contrast_curves.csv")
    return tables


def row_of(walks, contrast, outcome, term="net"):
    rows = walks.contrasts[(walks.contrasts.contrast == contrast) & (walks.contrasts.outcome == outcome)]
    return rows[rows.term.fillna("") == term].squeeze()


def test_terms_add_up_to_the_net_torque(walks):
    rows = walks.contrasts.dropna(subset=["estimate"])
    for table in (rows, walks.points):
        by = [*BY_TERM, *(["percent"] if table is walks.points else [])]
        with_terms = table[table.groupby(by).term.transform("nunique") == len(EFFECT_TERMS)]
        for what in ("mean_first", "mean_second", "estimate"):
            wide = with_terms.pivot_table(index=by, columns="term", values=what)
            np.testing.assert_allclose(wide[list(EFFECT_TERMS[1:])].sum(axis=1), wide["net"], rtol=0, atol=1e-9)
    assert rows.groupby(BY_TERM).size().tolist().count(len(EFFECT_TERMS)) == 4


def test_estimates_are_differences_of_the_summary(walks):
    """With pandas: fast minus slow of each subject's right side, which alone it has in both, then the mean over subjects."""
    summary = pd.read_csv(walks.folder / "summary.csv")
    net = summary[(summary.joint == "knee") & (summary.term == "net") & (summary.window == "events")]
    of_right = net[net.side == "right"].pivot_table(index="subject", columns="condition", values="max_nm_kg")
    differences = of_right.fast - of_right.slow
    found = row_of(walks, "faster", "max_nm_kg")
    assert found.estimate == pytest.approx(differences.mean(), rel=1e-12)
    half = 4.302652729911275 * differences.std() / np.sqrt(3.0)  # of t with 2 degrees of freedom
    assert found.shared_error > 0.0
    assert found.estimate - found.low >= half * (1.0 - 1e-9)  # errors that all subjects share never make it narrower
    assert (found.n_subjects, found.n_trials, found.n_rejected) == (3, 6, 0)
    assert found.mean_first - found.mean_second == pytest.approx(found.estimate)
    fast = net[net.condition == "fast"].pivot_table(index="subject", columns="side", values="max_nm_kg")
    sides = row_of(walks, "sides", "max_nm_kg")
    assert sides.estimate == pytest.approx((fast.right - fast.left).mean())
    assert "S03 left out: no side with trials of everything that is compared" in sides.note
    muscles = pd.read_csv(walks.folder / "muscle_summary.csv")
    of_soleus = (muscles.muscle == "soleus") & (muscles.window == "events") & (muscles.side == "right")
    soleus = muscles[of_soleus].groupby("condition").peak_n.mean()
    assert row_of(walks, "faster", "peak_n", "").estimate == pytest.approx(soleus.fast - soleus.slow)


def test_points_of_curves_are_differences_of_mean_curves(walks):
    means = walks.ensembles[(walks.ensembles.quantity == "knee_torque_nm") & (walks.ensembles.side == "right")]
    both = means.pivot_table(index="percent", columns="condition", values="mean")
    points = walks.points[walks.points.term == "net"].set_index("percent")
    complete = (points.n_subjects == 3) & (points.index < 80.0)  # before the step that no plate measures
    assert complete.sum() > 75
    np.testing.assert_allclose(
        points.estimate[complete], (both.fast - both.slow)[complete], atol=5e-5
    )  # digits of files


def test_three_subjects_can_find_nothing_and_that_is_said(walks):
    found = row_of(walks, "faster", "max_nm_kg")
    assert found.smallest_p == 0.25
    assert "cannot be found, whatever the data: the smallest p is 0.25" in found.note
    text = (walks.folder / "methods.md").read_text(encoding="utf-8")
    assert "2 contrasts of participants' values" in text
    assert "faster (fast minus slow; exploratory: not frozen as it is)" in text


def test_effects_in_another_order_give_the_same_contrasts(walks, tmp_path):
    shutil.copytree(walks.folder.parent, tmp_path / "walks", symlinks=True)
    for path in tmp_path.glob("walks/results/torques/*/_effects.parquet"):
        table = pq.read_table(path)
        pq.write_table(table.take(np.random.default_rng(1).permutation(len(table))), path)
    contrasts.run(folder=tmp_path / "walks")
    written = [
        (folder / "results" / "contrasts.csv").read_bytes() for folder in (tmp_path / "walks", walks.folder.parent)
    ]
    assert written[0] == written[1]


def test_tables_are_described_and_open(walks):
    results = lt.open_results(walks.folder)
    table = results.table("contrasts")
    assert table.attrs["units"]["estimate"] == "as column unit"
    assert "flexion positive" in table.attrs["signs"]["estimate"]
    dictionary = results.table("data_dictionary")
    assert set(dictionary[dictionary.table == "contrasts"].column) == set(table)


def test_a_contrast_is_frozen_once_before_results_and_exploratory_after_a_change(walks, tmp_path):
    study = load_study(walks.folder.parent)
    settings = study.settings
    assert freeze_contrasts(study, tmp_path, now=NOW) == ["faster: frozen 2026-01-02", "sides: frozen 2026-01-02"]
    frozen = (tmp_path / FROZEN).read_bytes()
    freeze_contrasts(study, tmp_path, now=NOW + datetime.timedelta(days=1))
    assert (tmp_path / FROZEN).read_bytes() == frozen
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "summary.csv").touch()
    assert declared_as(study, tmp_path) == {"faster": "frozen 2026-01-02", "sides": "frozen 2026-01-02"}
    changed = [
        each.model_copy(update={"side": "right"} if each.name == "faster" else {})
        for each in settings.contrasts.declared
    ]
    contrasts_later = settings.contrasts.model_copy(update={"declared": tuple(changed)})
    later = replace(study, settings=settings.model_copy(update={"contrasts": contrasts_later}))
    assert declared_as(later, tmp_path)["faster"] == "exploratory: not frozen as it is"
    after = "exploratory: frozen 2026-01-02, after results were made"
    assert freeze_contrasts(later, tmp_path, now=NOW) == [f"faster: {after}", "sides: frozen 2026-01-02"]
    (tmp_path / FROZEN).write_text("{}\n", encoding="utf-8")
    with pytest.raises(LimbtorqueError, match="not readable"):
        declared_as(later, tmp_path)


def test_freezing_and_checking_from_the_command_line(tmp_path, capsys):
    folder = make_study(tmp_path / "walks", names=WALKS)
    assert main(["contrasts", "freeze", str(folder)]) == 1
    assert "declare no contrasts" in capsys.readouterr().err
    change_settings(folder, contrasts={"declared": [SIDES]})
    assert main(["contrasts", "freeze", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("sides: frozen 2")
    change_settings(folder, contrasts={"declared": [{**SIDES, "chain": "lag"}]})
    with pytest.raises(StudyError, match="no trial has the chain 'lag'"):
        checked_study(folder)


@pytest.mark.parametrize("change", ["contrast", "subject", "frozen"])
def test_only_the_stage_itself_is_repeated_by_what_concerns_contrasts_alone(change, tmp_path):
    folder = make_study(tmp_path / "walks", names=WALKS[:4])
    change_settings(folder, contrasts={"declared": [SIDES]})
    before = load_study(folder)
    if change == "contrast":
        change_settings(folder, contrasts={"declared": [SIDES, {**FASTER, "name": "x"}]})
    elif change == "subject":
        path = folder / "config" / "subjects.csv"
        pd.read_csv(path).assign(group="old", age_years=[30, 40, 50]).to_csv(path, index=False)
    else:
        freeze_contrasts(before, folder, now=NOW)
    after = load_study(folder)
    assert keys.contrasts_key(after) != keys.contrasts_key(before) or change == "frozen"
    for stage in keys.SECTIONS:
        if stage not in ("collect", "universes"):
            assert [keys.session_key(stage, after, s) for s in after.batches] == [
                keys.session_key(stage, before, s) for s in before.batches
            ]
    assert keys.ensembles_key(after) == keys.ensembles_key(before)


def test_subjects_have_groups_sides_and_numbers(tmp_path):
    folder = make_study(tmp_path / "walks", names=WALKS[:1])
    path = folder / "config" / "subjects.csv"
    table = pd.read_csv(path).assign(group="old", affected_side=["left", "", "right"], age_years=["30", "", "41.5"])
    table.to_csv(path, index=False)
    subject = load_study(folder).trials[0].subject
    assert (subject.group, subject.affected_side, subject.dominant_side) == ("old", "left", "")
    assert subject.covariates == {"age_years": 30.0}
    table.assign(age_years="old").to_csv(path, index=False)
    with pytest.raises(StudyError, match="column 'age_years' is unknown"):
        load_study(folder)
    table.assign(**{"filter.cutoff_hz": 6.0}).to_csv(path, index=False)  # an option of trials is no covariate
    with pytest.raises(StudyError, match=r"column 'filter.cutoff_hz' is unknown"):
        load_study(folder)
    table.assign(mass_kgs=1.0).to_csv(path, index=False)
    with pytest.raises(StudyError, match="column 'mass_kgs' is unknown; did you mean 'mass_kg'"):
        load_study(folder)
    table.assign(affected_side="both").to_csv(path, index=False)
    with pytest.raises(StudyError, match="affected_side is 'both', expected left, right or nothing"):
        load_study(folder)


PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"


def blocks(language):
    """Code of the page in one language, for the conditions of the simulated study."""
    text = PAGE.read_text(encoding="utf-8").replace("walk fast", "fast").replace("walk slow", "slow")
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL))


def test_worked_examples_run(walks, monkeypatch, capsys):
    pytest.importorskip("statsmodels", reason="statsmodels is not installed (make peers)")
    monkeypatch.chdir(walks.folder.parent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three subjects are few for a mixed model
        exec(blocks("python"), {})
    printed = capsys.readouterr().out
    assert "TtestResult" in printed
    assert "Mixed Linear Model" in printed


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
def test_worked_example_of_r_runs(walks):
    there = subprocess.run(["Rscript", "-e", "library(lme4)"], capture_output=True, check=False)
    if there.returncode:
        pytest.skip("lme4 is not installed")
    run = subprocess.run(
        ["Rscript", "-e", blocks("r")], cwd=walks.folder.parent, capture_output=True, text=True, check=True
    )
    assert "Linear mixed model" in run.stdout
