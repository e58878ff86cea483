"""Keys of jobs: every column of a subject that changes a result makes it again."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from limbtorque.study.study import load_study
from limbtorque.study.subjects import Subject
from limbtorque.workflow.keys import trial_key

ROOT = Path(__file__).parents[2]
OTHER = {"mass_kg": 61.5, "height_m": 1.59, "measured": {"leg_length_m": 0.91}}
IN_NO_NUMBER = {"name", "note", "sex"}  # the sex counts where a table of segment parameters depends on it


@pytest.mark.parametrize("stage", ["cutoffs", "kinematics", "torques", "muscles"])
@pytest.mark.parametrize("column", [field.name for field in fields(Subject)])
def test_a_result_that_depends_on_a_subject_is_made_again_when_the_subject_changes(stage, column):
    """The height judges mass and lengths in the kinematics."""
    trial = load_study(ROOT).trials[0]
    changed = replace(trial, subject=replace(trial.subject, **{column: OTHER.get(column, "x")}))
    differs = trial_key(stage, changed, ROOT) != trial_key(stage, trial, ROOT)
    assert differs == (column not in IN_NO_NUMBER)
