"""Contrasts of simulated walks in all universes: equal to studies run alone, one test over all, sentences and page."""

import numpy as np
import pytest

from limbtorque.study.files import parse_yaml, yaml_text
from limbtorque.study.study import load_study
from limbtorque.study.universes import choices_of, universe_changes
from limbtorque.workflow import keys
from limbtorque.workflow.stages import multiverse, universes
from limbtorque.workflow.trial_values import StudyFiles, TrialValues
from staged_study import change_settings, make_study, run_stages

WALKS = [f"S0{k}_walk_{speed}_1_right" for k in (1, 2, 3) for speed in ("slow", "fast")]
OUTCOMES = [
    {"statistic": "max_nm_kg", "joint": "knee"},
    {"statistic": "rms_nm", "joint": "hip", "window": "stance"},
    {"statistic": "peak_n", "muscle": "soleus"},
    {"quantity": "ankle_torque_nm", "between_percent": [0, 60], "take": "max"},
    {"quantity": "knee_torque_nm"},
]
FASTER = {"name": "faster", "chain": "leg", "conditions": ["fast", "slow"], "covariates": ["walking_speed_m_s"]}
ALTERNATIVES = {
    "filter.cutoff_hz": [6, "expected_error", 8.0, 6.0],
    "motion.angles": ["segments"],
    "marker_sets.limb_markers.hip_axis": [{"hip_centre": "harrington_2007"}],
    "muscles.exponent": [3],
}


def walks_in(folder, **sections):
    """Two walks of each of three subjects, with a contrast and alternatives."""
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
    folder = walks_in(tmp_path_factory.mktemp("multiverse") / "walks")
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
