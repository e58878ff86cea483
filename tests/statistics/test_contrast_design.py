"""Trials and subjects of declared contrasts, by hand, and sentences on what they name in vain."""

from dataclasses import replace

import numpy as np
import pytest

from limbtorque.errors import SettingsError
from limbtorque.statistics.contrast_design import (
    contrast_design,
    contrast_faults,
    contrast_notes,
    covariates_of,
    values_of_subjects,
)
from limbtorque.statistics.curve_values import value_of_curves
from limbtorque.study.options.contrasts import Contrast, Outcome
from limbtorque.study.settings import make_settings
from limbtorque.study.study import load_study
from staged_study import ROOT

KNEE = {"statistic": "max_nm_kg", "joint": "knee"}


@pytest.fixture(scope="module")
def walk():
    return next(trial for trial in load_study(ROOT).trials if trial.chain == "leg")


def contrast(**more):
    return Contrast.model_validate({"name": "c", "chain": "leg", "outcomes": [KNEE], **more})


def trials_of(walk, rows, **subjects):
    """Trials of a leg: subject, condition and side of each; further properties of subjects by their names."""
    people = {name: replace(walk.subject, name=name, **subjects.get(name, {})) for name, *_ in rows}
    return [
        replace(walk, name=f"t{k}", subject=people[name], condition=condition, side=side)
        for k, (name, condition, side) in enumerate(rows)
    ]


PAIRS = [  # A: both conditions on both sides; B: the right side only in both; C: one condition
    *(
        ("A", "fast", "right"),
        ("A", "fast", "right"),
        ("A", "fast", "left"),
        ("A", "slow", "right"),
        ("A", "slow", "left"),
    ),
    *(("B", "fast", "right"), ("B", "fast", "left"), ("B", "slow", "right"), ("C", "fast", "right")),
]
VALUES = np.array([[1.0], [3.0], [10.0], [0.0], [4.0], [5.0], [100.0], [2.0], [7.0]])


def test_a_subject_counts_the_sides_that_it_has_in_everything_compared(walk):
    """A: right 2 - 0, left 10 - 4: 4; B: right 5 - 2: its left has no slow trial; C is left out."""
    design = contrast_design(contrast(conditions=["fast", "slow"]), trials_of(walk, PAIRS))
    values = values_of_subjects(design, VALUES)
    np.testing.assert_allclose(values.values[:, 0], [4.0, 3.0, np.nan])
    np.testing.assert_allclose(values.levels[:, 0, 0], [6.0, 2.0])
    assert values.n_trials.tolist() == [5, 2, 0]
    np.testing.assert_allclose(values.weights, [0.25, 0.25, 0.5, -0.5, -0.5, 1.0, 0.0, -1.0, 0.0])
    np.testing.assert_allclose(design.rows[:, 0], [1.0, 1.0, np.nan])
    assert design.left_out == {"C": "no trial of condition slow"}
    right = contrast_design(contrast(conditions=["fast", "slow"], side="right"), trials_of(walk, PAIRS))
    np.testing.assert_allclose(values_of_subjects(right, VALUES).values[:, 0], [2.0, 3.0, np.nan])


def test_a_trial_without_a_value_is_not_used_and_a_curve_needs_all_its_trials(walk):
    """Without its left trial at speed A has the right side only; a curve of A that lacks a point in one trial lacks it."""
    design = contrast_design(contrast(conditions=["fast", "slow"]), trials_of(walk, PAIRS))
    missing = VALUES.copy()
    missing[2] = np.nan
    np.testing.assert_allclose(values_of_subjects(design, missing).values[:, 0], [2.0, 3.0, np.nan])
    curves = np.repeat(VALUES, 2, axis=1)
    curves[0, 1] = np.nan
    found = values_of_subjects(design, curves).values
    np.testing.assert_allclose(found, [[4.0, np.nan], [3.0, 3.0], [np.nan, np.nan]])


def test_groups_and_the_difference_of_differences(walk):
    trials = trials_of(walk, PAIRS, A={"group": "old"}, B={"group": "young"}, C={"group": "old"})
    groups = contrast_design(contrast(groups=["old", "young"], condition="fast"), trials)
    np.testing.assert_allclose(groups.rows, [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(values_of_subjects(groups, VALUES).values[:, 0], [6.0, 52.5, 7.0])
    both = contrast_design(contrast(groups=["old", "young"], conditions=["fast", "slow"]), trials)
    np.testing.assert_allclose(both.rows, [[1.0, 1.0], [0.0, 1.0], [np.nan, np.nan]])
    np.testing.assert_allclose(values_of_subjects(both, VALUES).values[:, 0], [4.0, 3.0, np.nan])


def test_affected_sides_are_those_of_each_subject(walk):
    """A is affected on the left: 10 - 2; B on the right: 5 - 100; of C no side is given."""
    trials = trials_of(walk, PAIRS, A={"affected_side": "left"}, B={"affected_side": "right"})
    design = contrast_design(contrast(sides=["affected", "unaffected"], condition="fast"), trials)
    np.testing.assert_allclose(values_of_subjects(design, VALUES).values[:, 0], [8.0, -95.0, np.nan])
    assert design.left_out == {"C": "subjects.csv has no affected_side"}


def test_covariates_of_pairs_are_differences_that_are_not_centred(walk):
    design = contrast_design(contrast(conditions=["fast", "slow"], covariates="known_share"), trials_of(walk, PAIRS))
    used, measured = np.ones(len(VALUES), dtype=bool), {"known_share": VALUES[:, 0]}
    np.testing.assert_allclose(covariates_of(design, measured, used)[:, 0], [4.0, 3.0, np.nan])
    used[2] = (
        False  # without its left trial at speed the outcome has the right side of A only, and so has the covariate
    )
    np.testing.assert_allclose(covariates_of(design, measured, used)[:, 0], [2.0, 3.0, np.nan])
    measured["known_share"] = np.where(np.arange(len(VALUES)) == 0, np.nan, VALUES[:, 0])
    assert np.isnan(covariates_of(design, measured, used)[0, 0])  # not that of other trials


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"chain": "arm", "conditions": ["fast", "slow"]}, "no trial has the chain 'arm'; expected one of 'leg'"),
        (
            {"conditions": ["fast", "slwo"]},
            "has the condition 'slwo'; expected one of 'fast', 'slow'; did you mean 'slow'?",
        ),
        ({"groups": ["old", "young"]}, "has the condition ''; expected one of 'fast', 'slow'"),
        ({"groups": ["old", "yuong"], "condition": "fast"}, "has the group 'yuong'; expected one of 'old', 'young'"),
        ({"outcomes": [{"statistic": "max_nmkg", "joint": "knee"}]}, "there is no statistic 'max_nmkg'"),
        ({"outcomes": [{"statistic": "peak_nm", "joint": "knee"}]}, "peak_nm is refused"),
        (
            {"outcomes": [{**KNEE, "joint": "elbow"}]},
            "there is no joint 'elbow'; expected one of 'hip', 'knee', 'ankle'",
        ),
        ({"outcomes": [{**KNEE, "term": "gravitiy"}]}, "there is no term 'gravitiy'"),
        (
            {"outcomes": [{"statistic": "peak_n", "muscle": "soles"}]},
            "there is no muscle 'soles'; expected one of 'soleus'",
        ),
        ({"outcomes": [{"quantity": "knee_flexion"}]}, "there is no quantity 'knee_flexion'"),
        (
            {"outcomes": [{"quantity": "knee_flexion_deg", "between_percent": [50.1, 50.4]}]},
            "has no two of the 101 points",
        ),
        ({"groups": ["old", "young"], "condition": "slow"}, "only subject B is in group 'young', expected two or more"),
        ({"sides": ["affected", "unaffected"], "condition": "fast"}, "no subject is in everything compared"),
        ({"covariates": ["age_years"]}, "covariate age_years is the same in everything that a subject compares"),
        ({"covariates": ["agee"]}, "there is no covariate 'agee'; expected one of 'age', 'age_years'"),
    ],
)
def test_what_a_contrast_names_in_vain_is_said(walk, changes, sentence):
    known = {"covariates": {"age_years": 30.0, "age": 1.0}}
    trials = trials_of(walk, PAIRS, A={"group": "old", **known}, B={"group": "young", **known}, C={"group": "old"})
    changes = (
        changes if changes.keys() & {"conditions", "groups", "sides"} else {"conditions": ["fast", "slow"], **changes}
    )
    faults = list(contrast_faults(contrast(**changes), trials, muscles={"leg": ["soleus"]}))
    assert any(sentence in fault for fault in faults), faults
    assert all(fault.startswith("contrast 'c': ") for fault in faults)


@pytest.mark.parametrize(
    ("ages", "sentence"), [((30.0, np.nan), "missing for B"), ((30.0, 30.0), "is 30 in all subjects")]
)
def test_covariates_of_subjects_are_there_and_differ(walk, ages, sentence):
    people = {
        name: {"group": group, "covariates": {"age": age}}
        for name, group, age in zip("ABCD", ("old", "young", "old", "young"), [*ages, 30.0, 30.0], strict=True)
    }
    trials = trials_of(walk, [(name, "fast", "left") for name in "ABCD"], **people)
    found = list(
        contrast_faults(contrast(groups=["old", "young"], condition="fast", covariates="age"), trials, muscles={})
    )
    assert len(found) == 1
    assert sentence in found[0]


def test_one_common_subject_is_refused_and_the_others_are_named(walk):
    trials = trials_of(walk, [("A", "fast", "left"), ("A", "slow", "left"), ("B", "fast", "left")])
    assert list(contrast_faults(contrast(conditions=["fast", "slow"]), trials, muscles={})) == [
        "contrast 'c': only subject A is in everything compared, expected two or more (B: no trial of condition slow)"
    ]


def test_the_demo_can_find_nothing_with_three_subjects():
    declared = contrast(conditions=["walk fast", "walk slow"])
    assert list(contrast_notes(declared, load_study(ROOT).trials)) == [
        "contrast 'c': with 3 subjects, or fewer once trials are rejected, nothing can be found, whatever the data: "
        "p is 0.25 or more"
    ]


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        ({"outcomes": [KNEE]}, "expected two conditions, groups or sides"),
        ({"conditions": ["a", "b"], "sides": ["left", "right"], "outcomes": [KNEE]}, "conditions or sides, not both"),
        ({"conditions": ["a", "a"], "outcomes": [KNEE]}, "expected two different conditions"),
        ({"conditions": ["a", "b"], "outcomes": [{**KNEE, "quantity": "x"}]}, "either statistic .* or quantity"),
        (
            {"conditions": ["a", "b"], "outcomes": [{"quantity": "x", "take": "max"}]},
            "expected between_percent for take: max",
        ),
    ],
)
def test_declarations_that_contradict_themselves_are_refused(declared, sentence):
    with pytest.raises(SettingsError, match=sentence):
        make_settings({"contrasts": {"declared": [{"name": "c", "chain": "leg", **declared}]}})


def test_two_contrasts_have_two_names():
    twice = [contrast(conditions=["a", "b"]).model_dump()] * 2
    with pytest.raises(SettingsError, match="contrast 'c' is declared twice"):
        make_settings({"contrasts": {"declared": twice}})


CURVES = np.array(
    [[[0.0, 4.0, -2.0], [1.0, 3.0, -5.0], [-1.0, 1.0, 3.0]]]
)  # a quantity and the two terms of which it is the sum
PERCENT = np.array([0.0, 50.0, 100.0])


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"at_percent": 50}, [4.0, 3.0, 1.0]),
        ({"at_percent": 75}, [1.0, -1.0, 2.0]),
        ({"at_percent": 100}, [-2.0, -5.0, 3.0]),
        ({"between_percent": [0, 50]}, [2.0, 2.0, 0.0]),
        ({"between_percent": [0, 100], "take": "max"}, [4.0, 3.0, 1.0]),
        ({"between_percent": [0, 100], "take": "min"}, [-2.0, -5.0, 3.0]),
        ({"between_percent": [0, 100], "take": "range"}, [6.0, 8.0, -2.0]),
    ],
)
def test_numbers_of_curves_by_hand_add_up(part, expected):
    found = value_of_curves(Outcome(quantity="x", **part), PERCENT, CURVES)
    np.testing.assert_allclose(found[0, :, 0], expected)
    gap = CURVES.copy()
    gap[0, :, 2] = np.nan
    is_known = part in ({"at_percent": 50}, {"between_percent": [0, 50]})
    assert np.isnan(value_of_curves(Outcome(quantity="x", **part), PERCENT, gap)).any() != is_known
