"""A simulated study of twelve subjects with an effect in one term, and columns by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from limbtorque.statistics.contrast_design import contrast_design
from limbtorque.statistics.contrasts import Effects, Measured, contrast_rows, curve_sentence
from limbtorque.study.options.contrasts import Contrast
from limbtorque.study.study import load_study
from limbtorque.tables.contrast_columns import CONTRAST_COLUMNS, CONTRAST_CURVE_COLUMNS
from limbtorque.tables.effect_columns import EFFECT_TERMS
from staged_study import ROOT

N_TERMS = len(EFFECT_TERMS)


@pytest.fixture(scope="module")
def walk():
    return next(trial for trial in load_study(ROOT).trials if trial.chain == "leg")


def study_of(walk, n_subjects, n_trials=3):
    """Trials of each subject in two conditions."""
    people = [replace(walk.subject, name=f"S{k:02}", group="old" if k % 2 else "young") for k in range(n_subjects)]
    rows = [(person, condition, k) for person in people for condition in ("fast", "slow") for k in range(n_trials)]
    return [
        replace(walk, name=f"{person.name}_{condition}_{k}", subject=person, condition=condition)
        for person, condition, k in rows
    ]


def contrast(**more):
    outcomes = [{"statistic": "max_nm_kg", "joint": "knee"}, {"quantity": "knee_torque_nm"}]
    return Contrast.model_validate(
        {"name": "c", "chain": "leg", "outcomes": outcomes, "conditions": ["fast", "slow"], **more}
    )


def measured(declared, terms, *, percent=(), effects=None, outcome=0):
    """Values of terms, of which the net torque is the sum, shape (n_trials, n_terms, n_points)."""
    values = np.concatenate([terms.sum(axis=1, keepdims=True), terms], axis=1)
    rejected = np.zeros(len(values), dtype=bool)
    about = declared.outcomes[outcome], "knee", "N m/kg", EFFECT_TERMS
    return Measured(*about, values, np.array(percent, dtype=float), rejected, effects)


def rows_of(declared, trials, outcomes):
    design = contrast_design(declared, trials)
    return contrast_rows([(design, outcomes)], {}, seed=1, declared={declared.name: "exploratory"})


def test_an_effect_of_one_term_is_found_there_and_nowhere_else(walk):
    """1 N m/kg of the inertial term at speed, 0.3 between subjects; the load differs by 3 and hides it in the net torque."""
    trials, rng = study_of(walk, 12), np.random.default_rng(2)
    subject = np.repeat(np.arange(12), 6)
    fast = np.array([trial.condition == "fast" for trial in trials], dtype=float)
    spread = np.array([0.3, 0.2, 0.2, 0.5, 0.3, 3.0])
    of_subject = rng.normal(size=(12, 6)) * spread
    terms = of_subject[subject] * fast[:, None] + rng.normal(size=(len(trials), 6)) * 0.1 * spread
    terms[:, 0] += fast
    shape = np.sin(np.linspace(0.0, np.pi, 101))
    declared = contrast()
    curves = measured(declared, terms[..., None] * shape, percent=np.linspace(0.0, 100.0, 101), outcome=1)
    rows, points = rows_of(declared, trials, [measured(declared, terms[..., None]), curves])
    assert [row["term"] for row in rows if row["p_adjusted"] <= 0.05] == ["inertial", "inertial"]
    numbers = rows[:N_TERMS]
    assert sum(row["estimate"] for row in numbers[1:]) == pytest.approx(numbers[0]["estimate"], abs=1e-9)
    assert numbers[1]["low"] < 1.0 < numbers[1]["high"]
    assert (numbers[0]["n_subjects"], numbers[0]["n_trials"]) == (12, 72)
    assert rows[N_TERMS + 1]["note"].startswith("differs at ")
    at_half = [point["estimate"] for point in points if point["percent"] == 50.0]
    assert at_half == pytest.approx([row["estimate"] for row in numbers], abs=1e-9)
    assert {*rows[0]} == {column.name for column in CONTRAST_COLUMNS}
    assert {*points[0]} == {column.name for column in CONTRAST_CURVE_COLUMNS}


def test_errors_that_all_subjects_share_widen_the_interval_and_their_own_do_not(walk):
    """An error of the study adds 0.3 at speed and 0.1 slowly, so 0.2 to every difference; one of each trial 0.3."""
    trials, rng = study_of(walk, 8), np.random.default_rng(1)
    fast = np.array([trial.condition == "fast" for trial in trials])
    terms = rng.normal(size=(len(trials), N_TERMS - 1, 1))
    change = np.zeros((len(trials), N_TERMS, 2))
    change[..., 0], change[..., 1] = np.where(fast, 0.3, 0.1)[:, None], 0.3
    effects = Effects(change, ["study", "trial"], [trial.session for trial in trials])
    declared = contrast()
    with_errors = rows_of(declared, trials, [measured(declared, terms, effects=effects)])[0][0]
    without = rows_of(declared, trials, [measured(declared, terms)])[0][0]
    assert with_errors["shared_error"] == pytest.approx(0.2)
    assert with_errors["own_error"] == pytest.approx(0.3 * np.sqrt(2.0 / 3.0))
    variance = without["standard_error"] ** 2  # of 7 degrees of freedom; the other one is known
    half = special.stdtrit(7.0 * ((variance + 0.2**2) / variance) ** 2, 0.975) * np.sqrt(variance + 0.2**2)
    assert with_errors["estimate"] - with_errors["low"] == pytest.approx(half)
    assert with_errors["low"] < without["low"]
    assert with_errors["p_flips"] == without["p_flips"]


def test_the_note_counts_trials_that_are_caution_and_names_extremes_of_different_events(walk):
    trials, rng = study_of(walk, 6), np.random.default_rng(4)
    declared = contrast()
    terms = rng.normal(size=(len(trials), N_TERMS - 1, 1))
    fast = np.array([trial.condition == "fast" for trial in trials])
    times = np.where(np.arange(len(trials)) == 0, 2.0, 46.0)
    doubtful = replace(measured(declared, terms), caution=fast & (np.arange(len(trials)) > 2), at_percent=times)
    rows = rows_of(declared, trials, [doubtful])[0]
    assert "caution: 15 of 18 trials of fast;" in rows[0]["note"]
    assert "extremes lie at 2 to 46 % of the window" in rows[0]["note"]
    assert "caution" not in rows[1]["note"]  # said once, not of each term
    alike = replace(doubtful, caution=~fast & False, at_percent=times + np.where(times < 40.0, 30.0, 0.0))
    assert "caution" not in (note := rows_of(declared, trials, [alike])[0][0]["note"])
    assert "extremes" not in note


def test_the_note_leaves_out_trials_that_the_estimate_does_not_use(walk):
    """A left leg whose slow trials are all rejected is left out of the mean of sides."""
    trials, rng = study_of(walk, 6), np.random.default_rng(5)
    lefts = [replace(trial, name=f"{trial.name}_left", side="left") for trial in trials]
    declared, every = contrast(), [*trials, *lefts]
    is_left = np.arange(len(every)) >= len(trials)
    terms = rng.normal(size=(len(every), N_TERMS - 1, 1))
    terms[is_left & np.array([trial.condition == "slow" for trial in every])] = np.nan
    doubtful = replace(measured(declared, terms), caution=is_left, at_percent=np.where(is_left, 90.0, 10.0))
    note = rows_of(declared, every, [doubtful])[0][0]["note"]
    assert "caution" not in note
    assert "extremes" not in note


def test_outcomes_of_a_term_have_a_name_of_their_own():
    outcome = {"statistic": "max_nm_kg", "joint": "knee", "term": "gravity", "window": "stance"}
    (own,) = contrast(outcomes=[outcome]).outcomes
    assert own.label == "max_nm_kg of gravity, stance"


def test_a_small_group_has_an_estimate_and_no_test(walk):
    trials, rng = study_of(walk, 10), np.random.default_rng(3)
    declared = contrast(conditions=None, condition="fast", groups=["old", "young"])
    terms = rng.normal(size=(len(trials), N_TERMS - 1, 1))
    row = rows_of(declared, trials, [measured(declared, terms)])[0][0]
    assert np.isfinite([row["estimate"], row["low"], row["high"]]).all()
    assert np.isnan(row["p_adjusted"])
    assert (row["n_first"], row["n_second"], row["first"]) == (5, 5, "old")
    assert "6" in row["note"]
    assert row["mean_first"] - row["mean_second"] == pytest.approx(row["estimate"])


def test_equal_values_and_a_load_that_is_not_there_are_said(walk):
    """Of 1e-20 N m, left by a filter, nothing is tested."""
    trials, rng = study_of(walk, 8), np.random.default_rng(4)
    terms = rng.normal(size=(len(trials), N_TERMS - 1, 1))
    terms[:, -1] *= 1e-20
    declared = contrast()
    load = rows_of(declared, trials, [measured(declared, terms)])[0][-1]
    assert (load["term"], load["estimate"]) == ("external", 0.0)
    assert np.isnan(load["p_adjusted"])
    assert load["note"]


def test_subjects_without_a_value_are_named_with_their_rejected_trials(walk):
    trials, rng = study_of(walk, 8, n_trials=1), np.random.default_rng(4)
    declared = contrast(outcomes=[{"statistic": "max_nm_kg", "joint": "knee"}])
    values = measured(declared, rng.normal(size=(16, N_TERMS - 1, 1)))
    lacking = np.array([trial.name in ("S02_slow_0", "S05_fast_0") for trial in trials])
    values.values[lacking] = np.nan
    rejected = np.array([trial.name == "S02_slow_0" for trial in trials])
    rows, _ = rows_of(declared, trials, [replace(values, rejected=rejected)])
    assert rows[0]["note"] == "without a value: S02 (trials rejected); without a value: S05"


def test_parts_of_a_curve_are_named_with_their_smallest_p():
    percent = np.array([0.0, 25.0, 50.0, 75.0, 100.0])
    text = curve_sentence(percent, np.array([0.01, np.nan, 0.03, 0.002, 0.2]))
    assert text == "differs at 0 % (p = 0.01), 50 to 75 % (p = 0.002)"
    assert curve_sentence(percent, np.full(5, np.nan)) == "no part of the curve differs"
