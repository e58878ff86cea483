"""Errors of the inputs in contrasts: what cancels, what is counted already, and what an interval has to be widened by."""

import numpy as np
import pytest

from limbtorque.statistics.shared_errors import contrast_errors

N_SUBJECTS = 8
SUBJECTS = np.repeat(np.arange(N_SUBJECTS), 4)  # two trials of each of two conditions
FAST = np.tile([True, True, False, False], N_SUBJECTS)
PAIRED = np.where(FAST, 0.5, -0.5)
MEAN = np.full(N_SUBJECTS, 1.0 / N_SUBJECTS)
SAME_DAY = np.zeros(len(SUBJECTS), dtype=int)


def errors(effects, owners, sessions=SAME_DAY):
    effects = np.column_stack(effects)
    return contrast_errors(effects, owners, subjects=SUBJECTS, sessions=sessions, weights=PAIRED, subject_weights=MEAN)


def test_the_gain_of_a_plate_in_all_trials_leaves_the_gain_of_the_difference():
    """A gain of 2 % makes every value 2 % too large, and so the difference; an offset of all trials cancels."""
    values = np.random.default_rng(1).normal(100.0, 20.0, len(SUBJECTS)) + 15.0 * FAST
    difference = np.mean(
        [values[FAST & (k == SUBJECTS)].mean() - values[~FAST & (k == SUBJECTS)].mean() for k in range(8)]
    )
    shared = errors([0.02 * values, np.full(len(values), 3.0)], ["study", "study"]).shared_variance
    assert shared == pytest.approx((0.02 * difference) ** 2, rel=1e-9)


def test_marker_errors_cancel_in_a_session_but_not_across_two_days():
    """The same 5 N m in both conditions: nothing of it in a session, 5^2 + 5^2 where each day has its own error."""
    effect = [np.full(len(SUBJECTS), 5.0)]
    of_session = errors(effect, ["session"])
    assert of_session.shared_variance == 0.0
    np.testing.assert_allclose(of_session.own_variance, 0.0, atol=1e-20)
    two_days = errors(effect, ["session"], sessions=np.where(FAST, "monday", "friday"))
    np.testing.assert_allclose(two_days.own_variance, 50.0)
    np.testing.assert_allclose(errors(effect, ["subject"], sessions=FAST).own_variance, 0.0, atol=1e-20)


def test_errors_of_trials_average_out_and_those_of_subjects_do_not():
    """Four trials of 2 N m with weights of a half: 4 * (2 / 2)^2; a subject's own error by the difference of its effects."""
    of_trials = errors([np.full(len(SUBJECTS), 2.0)], ["trial"])
    np.testing.assert_allclose(of_trials.own_variance, 4.0)
    of_subjects = errors([np.where(FAST, 7.0, 4.0)], ["subject"])
    np.testing.assert_allclose(of_subjects.own_variance, 9.0)
    assert of_subjects.own_sd == pytest.approx(3.0)
    assert of_trials.shared_variance == of_subjects.shared_variance == 0.0


def test_two_groups_share_the_error_of_the_study():
    """Its effects 6 and 4 N m in two groups of four leave 2 N m of the difference; unknown effects leave nothing known."""
    groups = np.repeat([0.25, -0.25], 4)
    effects = np.where(groups > 0.0, 6.0, 4.0)[:, None]
    rows, ones = np.arange(8), np.ones(8)
    found = contrast_errors(effects, ["study"], subjects=rows, sessions=ones, weights=ones, subject_weights=groups)
    assert found.shared_variance == pytest.approx(4.0)
    effects[3] = np.nan
    found = contrast_errors(effects, ["study"], subjects=rows, sessions=ones, weights=ones, subject_weights=groups)
    assert np.isnan(found.shared_variance)
