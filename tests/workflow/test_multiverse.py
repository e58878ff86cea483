"""Contrasts of simulated walks in all universes: equal to studies run alone, one test over all, sentences and page."""

import numpy as np
import pandas as pd
import pytest

from limbtorque.cli.main import main
from limbtorque.errors import StudyError
from limbtorque.study.files import parse_yaml, yaml_text
from limbtorque.study.study import load_study
from limbtorque.study.universes import choices_of, universe_changes
from limbtorque.workflow import keys
from limbtorque.workflow.layout import MULTIVERSE, study_files
from limbtorque.workflow.load_checked import checked_study
from limbtorque.workflow.records import missing_outputs
from limbtorque.workflow.stages import multiverse, universes
from limbtorque.workflow.trial_values import StudyFiles, TrialValues
from staged_study import change_settings, make_study, run_stages
from study_runs import planned, run

WALKS = [f"S0{k}_walk_{speed}_1_right" for k in (1, 2) for speed in ("slow", "fast")]
OUTCOMES = [
    {"statistic": "max_nm_kg", "joint": "knee"},
    {"statistic": "rms_nm", "joint": "hip", "window": "stance"},
    {"statistic": "peak_n", "muscle": "soleus"},
    {"quantity": "ankle_torque_nm", "between_percent": [0, 60], "take": "max"},
    {"quantity": "knee_torque_nm"},
]
FASTER = {"name": "faster", "chain": "leg", "conditions": ["fast", "slow"]}
ALTERNATIVES = {
    "filter.cutoff_hz": [6, "expected_error", 8.0, 6.0],
    "motion.angles": ["segments"],
    "marker_sets.limb_markers.hip_axis": [{"hip_centre": "harrington_2007"}],
    "muscles.exponent": [3],
}


def walks_in(folder, **sections):
    """Two walks of each of two subjects, with a contrast and alternatives."""
    make_study(folder, names=WALKS)
    options = {"declared": [{**FASTER, "outcomes": OUTCOMES}]}
    change_settings(folder, contrasts=options, multiverse={"alternatives": ALTERNATIVES}, **sections)
    return folder


def run_multiverse(folder):
    study = load_study(folder)
    for session in study.batches:
        universes.run(folder=folder, session=session, key=keys.session_key("universes", study, session))
    multiverse.run(folder=folder, key=keys.multiverse_key(study))
    return study


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    folder = walks_in(tmp_path_factory.mktemp("multiverse") / "walks", figures={"formats": []})
    run_multiverse(folder)
    return folder


def set_option(settings, dotted, value):
    *path, last = dotted.split(".")
    for name in path:
        settings = settings.setdefault(name, {})
    settings[last] = value


@pytest.mark.parametrize("number", [0, 7, 13, 18, 23])
def test_values_of_a_universe_are_those_of_a_study_run_alone(number, walks, tmp_path):
    """To the last bit, without bands: `universe_settings`."""
    study = load_study(walks)
    changes = universe_changes(choices_of(study.settings))
    assert len(changes) == 24
    folder = walks_in(tmp_path / "alone", uncertainty={"enabled": False}, torques={"bands": False})
    path = folder / "config" / "config.yaml"
    settings = parse_yaml(path.read_text(encoding="utf-8"))
    for option, text in changes[number].items():
        value = text if text.startswith("{S}") else parse_yaml(text)
        set_option(settings, option, value)
    path.write_text(yaml_text(settings), encoding="utf-8")
    run_stages(folder)
    alone = load_study(folder)
    expected = TrialValues(alone.trials, alone.settings, StudyFiles(alone, folder))
    found = multiverse.UniverseValues(study, walks, len(changes))
    for outcome in alone.settings.contrasts.declared[0].outcomes[:4]:
        theirs, ours = expected.measured("leg", outcome), found.measured("leg", outcome)[number]
        assert np.isfinite(theirs.values).all()
        np.testing.assert_array_equal(ours.values, theirs.values)
        np.testing.assert_array_equal(ours.rejected, theirs.rejected)
        assert (ours.terms, ours.unit, ours.joint) == (theirs.terms, theirs.unit, theirs.joint)
    if number == 0:
        speeds = found.covariates()["walking_speed_m_s"]
        np.testing.assert_array_equal(speeds, expected.of_windows("walking_speed_m_s"))


def test_table_page_and_figures_are_there(walks):
    table = pd.read_csv(walks / MULTIVERSE["multiverse"], dtype={"muscles.exponent": str})
    assert table.groupby(["outcome", "term"], dropna=False)["universe"].nunique().unique().tolist() == [12, 24]
    assert table.loc[table["outcome"] == "max_nm_kg", "muscles.exponent"].isna().all()  # it moves no torque
    assert set(table.loc[table["outcome"] == "peak_n", "muscles.exponent"]) == {"2", "3"}
    net = table[(table["outcome"] == "max_nm_kg") & (table["term"] == "net")].set_index("universe")
    terms = table[(table["outcome"] == "max_nm_kg") & (table["term"] != "net")]
    np.testing.assert_allclose(terms.groupby("universe")["estimate"].sum(), net["estimate"], rtol=0, atol=1e-9)
    page = (walks / MULTIVERSE["multiverse_page"]).read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 4
    assert 'src="http' not in page


WRONG = {
    "filter.cutof_hz": ([6], "no option is called 'filter.cutof_hz'; did you mean 'filter.cutoff_hz'"),
    "filter.method": (["butterwort"], "filter.method is 'butterwort', expected butterworth, "),
    "marker_sets.limb_markers.hip": (["A"], "no option is called 'marker_sets.limb_markers.hip'"),
    "ensembles.start_event": (["Foot Off"], "ensembles.start_event changes the question, or no result"),
    "ensembles": ([{"window": "trial"}], "ensembles changes the question, or no result"),
    "muscles": ([{"enabled": False}], "muscles changes the question, or no result"),
    "uncertainty.samples": ([100], "uncertainty.samples changes the question"),
    "filter.cutoff_hz": (
        [*range(1, 102)],
        "102 universes take about 1 min on one core .*, expected at most 100; raise",
    ),
    "muscles.exponent": (["min_max"], "criterion 'volume' has no meaning with exponent min_max"),
}


@pytest.mark.parametrize("option", WRONG)
def test_what_cannot_be_run_is_refused_before_anything_is_computed(option, tmp_path):
    folder = make_study(tmp_path / "walks", names=WALKS[:1])
    alternatives, sentence = WRONG[option]
    change_settings(folder, multiverse={"alternatives": {option: alternatives}})
    if option == "muscles.exponent":
        change_settings(folder, multiverse={"alternatives": {option: alternatives, "muscles.criterion": ["volume"]}})
    with pytest.raises(StudyError, match=f"multiverse.alternatives: .*{sentence}"):
        checked_study(folder)


def test_a_cut_off_that_goes_before_the_alternative_is_named(tmp_path, capsys):
    folder = make_study(tmp_path / "walks", names=WALKS[:1])
    change_settings(folder, multiverse={"alternatives": {"filter.cutoff_hz": [8]}}, filter={"cutoffs_hz": {"leg": 6}})
    with pytest.raises(StudyError, match=f"differs between trials \\(first {WALKS[0]}\\); remove its column"):
        checked_study(folder)
    change_settings(folder, filter={"cutoffs_hz": {}})
    assert main(["multiverse", str(folder)]) == 1
    assert "no contrast of a number" in capsys.readouterr().err


@pytest.mark.workflow
def test_snakemake_runs_it_on_request_only(tmp_path):
    """A job a session, then one of the study; a change of an alternative repeats them and nothing else."""
    folder = walks_in(tmp_path / "walks", muscles={"enabled": False}, figures={"formats": ["pdf"]})
    outcomes = [{"statistic": "max_nm_kg", "joint": "knee"}]
    change_settings(folder, contrasts={"declared": [{**FASTER, "outcomes": outcomes}]})
    change_settings(folder, multiverse={"alternatives": {"motion.angles": ["segments"]}})
    study = load_study(folder)
    assert {"universes", "multiverse"}.isdisjoint(planned(folder))
    run(folder, "multiverse")
    assert missing_outputs(study) != []  # of a run
    assert [path for path in study_files("multiverse", study) if not (folder / path).is_file()] == []
    assert planned(folder, "multiverse") == set()
    change_settings(folder, multiverse={"alternatives": {"motion.angles": ["segments", "inertial_chain"]}})
    assert planned(folder, "multiverse") == {"universes", "multiverse"}
