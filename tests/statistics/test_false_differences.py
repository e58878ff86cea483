"""Tests on mean, sd and number of the tables, of two groups that do not differ.

Eight subjects in each group with five trials each. A trial is its subject's value plus its own deviation; the variance is 1,
of which a share is between subjects. At a level of 5 % a test that takes the right units finds a difference in 5 % of the
repetitions.
"""

import numpy as np
import pytest
from scipy.stats import binom, norm
from scipy.stats import t as student

from limbtorque.statistics.by_condition import ConditionSummary
from limbtorque.statistics.mean_and_spread import add, ensemble, no_moments
from limbtorque.tables.study_columns import MEASURED, STATISTICS

SUBJECTS, TRIALS, LEVEL = 8, 5, 0.05
SHARES = (0.2, 0.5, 0.8)  # of the variance, between subjects
NAMES = [column.name for column in MEASURED if "peak" not in column.name]


def values(share, shape, *, seed):
    """Values of both groups, shape (2, subjects, trials, *shape)."""
    random = np.random.default_rng(seed)
    of_subject = np.sqrt(share) * random.standard_normal((2, SUBJECTS, 1, *shape))
    return of_subject + np.sqrt(1.0 - share) * random.standard_normal((2, SUBJECTS, TRIALS, *shape))


def differs(mean, sd, n):
    """Tell where Student's t-test with a pooled variance finds a difference; arguments have shape (2, ...)."""
    of_both = np.sqrt((sd[0] ** 2 + sd[1] ** 2) / 2.0)
    t = (mean[0] - mean[1]) / (of_both * np.sqrt(2.0 / n))
    return np.abs(t) > student.ppf(1.0 - LEVEL / 2.0, 2 * n - 2)


def found_in_curves(share, spread_over, *, repetitions):
    """Number of repetitions, each a point of a curve, in which a difference is found in the ensembles."""
    means = []
    for group in values(share, (repetitions,), seed=16):
        moments = [no_moments((repetitions,)) for _ in group]
        for k, trials in enumerate(group):
            for trial in trials:
                moments[k] = add(moments[k], trial)
        means.append(ensemble(moments, spread_over=spread_over, min_units=2))
    n = means[0].n_subjects if spread_over == "subjects" else means[0].n_trials
    return np.count_nonzero(differs([one.mean for one in means], [one.sd for one in means], n))


def found_in_summary(share, spread_over, *, joints=100):
    """Number of repetitions, each a statistic of a joint, in which a difference is found in the summary by condition."""
    summary = ConditionSummary(include="ok", spread_over=spread_over, min_units=2)
    about = {
        "chain": "arm",
        "window": "movement",
        "side": "right",
        "term": "net",
        "torque_status": "ok",
        "used_share": 1.0,
        "loaded_share": 0.0,
    }
    drawn = values(share, (joints, len(NAMES)), seed=17)
    for group, subject, trial, joint in np.ndindex(drawn.shape[:4]):
        numbers = dict(zip(NAMES, drawn[group, subject, trial, joint], strict=True))
        row = {**about, "condition": str(group), "subject": f"{group} {subject}", "joint": str(joint)}
        summary.add([{**dict.fromkeys((column.name for column in STATISTICS), 1.0), **row, **numbers}])
    rows = {(row["condition"], row["joint"], row["statistic"]): row for row in summary.rows()}
    count = f"n_{spread_over}"
    found = 0
    for joint in map(str, range(joints)):
        for name in NAMES:
            pair = [rows[group, joint, name] for group in "01"]
            found += bool(differs(*(np.array([row[what] for row in pair]) for what in ("mean", "sd")), pair[0][count]))
    return found, joints * len(NAMES)


@pytest.mark.parametrize("share", SHARES)
def test_over_subjects_a_difference_is_found_as_often_as_the_level_says(share):
    """Within the interval that holds 99.9 % of such counts, whose bounds follow from the number of repetitions."""
    few, many = binom.interval(0.999, 4000, LEVEL)
    assert few <= found_in_curves(share, "subjects", repetitions=4000) <= many
    found, repetitions = found_in_summary(share, "subjects")
    few, many = binom.interval(0.999, repetitions, LEVEL)
    assert few <= found <= many


@pytest.mark.parametrize("share", SHARES)
def test_over_trials_a_difference_is_found_far_too_often(share):
    """The variance of a mean of 40 trials is (1 + 4 share) / 40; their own variance, 1 - 4 share / 39, over 40 takes its place."""
    widened = np.sqrt((1.0 + 4.0 * share) / (1.0 - 4.0 * share / 39.0))
    expected = 2.0 * norm.sf(student.ppf(0.975, 2 * SUBJECTS * TRIALS - 2) / widened)  # 14, 26 and 35 %
    found, repetitions = found_in_summary(share, "trials")
    for rate in (found_in_curves(share, "trials", repetitions=4000) / 4000, found / repetitions):
        assert rate == pytest.approx(expected, abs=0.04)  # 3 standard errors of 1100 repetitions
        assert rate > 2.5 * LEVEL
