"""Mean and spread in one pass against numpy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from limbtorque.statistics.mean_and_spread import add, both_sides, ensemble, merge, no_moments
from limbtorque.uncertainty.bands import added_errors, error_of_mean_curve

SHAPE = (3, 2)
TRIALS = st.lists(
    arrays(float, SHAPE, elements=st.one_of(st.floats(-1e3, 1e3), st.just(float("nan")))), min_size=1, max_size=9
)


def moments_of(trials):
    found = no_moments(SHAPE)
    for trial in trials:
        found = add(found, trial)
    return found


def assert_numpy(found, trials):
    stack = np.array(trials)
    n = (~np.isnan(stack)).sum(axis=0)
    np.testing.assert_array_equal(found.n, n)
    for i, j in np.ndindex(SHAPE):
        known = stack[~np.isnan(stack[:, i, j]), i, j]
        mean = known.mean() if known.size else np.nan
        sd = known.std(ddof=1) if known.size > 1 else np.nan
        np.testing.assert_allclose(found.known_mean[i, j], mean, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(found.sd[i, j], sd, rtol=1e-9, atol=1e-6)


@settings(max_examples=30)
@given(TRIALS)
def test_mean_and_sd_in_one_pass_are_numpys(trials):
    assert_numpy(moments_of(trials), trials)


@settings(max_examples=30)
@given(TRIALS, TRIALS)
def test_moments_of_two_sets_merge(first, second):
    assert_numpy(merge(moments_of(first), moments_of(second)), [*first, *second])


def test_a_small_spread_on_a_large_mean_survives():
    """Differences of 1 about 1e9: a sum of squares would keep none of their digits."""
    found = moments_of([np.full(SHAPE, 1e9 + k) for k in (0.0, 1.0, 2.0)])
    np.testing.assert_allclose(found.sd, 1.0, rtol=1e-9)


def test_spread_over_trials_and_over_subjects_by_hand():
    """Subject A: 1, 3, 5; B: 9; C has no value. Trials: mean 4.5, squares 12.25 + 2.25 + 0.25 + 20.25; subjects: 3 and 9."""
    of_a, of_b, of_c = (moments_of([np.full(SHAPE, x) for x in values]) for values in ((1, 3, 5), (9,), (np.nan,)))
    trials = ensemble([of_a, of_b, of_c], spread_over="trials", min_units=1)
    subjects = ensemble([of_a, of_b, of_c], spread_over="subjects", min_units=1)
    np.testing.assert_allclose(trials.mean, 4.5)
    np.testing.assert_allclose(trials.sd, np.sqrt(35.0 / 3.0))
    np.testing.assert_allclose(subjects.mean, 6.0)
    np.testing.assert_allclose(subjects.sd, np.sqrt(18.0))
    for found in (trials, subjects):
        assert (found.n_trials == 4).all()
        assert (found.n_subjects == 2).all()


def test_the_interval_over_subjects_and_the_spread_within_by_hand():
    """A: 1, 3, 5; B: 9, 11. Means 3, 10: 6.5 +- 12.706 sd/sqrt(2) = 12.706 * 3.5; within: squares 8 + 2 over 2 + 1."""
    of_a, of_b = (moments_of([np.full(SHAPE, x) for x in values]) for values in ((1, 3, 5), (9, 11)))
    found = ensemble([of_a, of_b], spread_over="subjects", min_units=2)
    np.testing.assert_allclose(found.mean_high - found.mean, 12.706205 * 3.5, rtol=1e-6)
    np.testing.assert_allclose(found.mean - found.mean_low, 12.706205 * 3.5, rtol=1e-6)
    np.testing.assert_allclose(found.sd_within, np.sqrt(10.0 / 3.0))
    assert np.isnan(ensemble([of_a, of_b], spread_over="trials", min_units=2).mean_low).all()


def test_the_mean_of_both_sides_by_hand():
    """A: right 1, 3, 5, left 9; B: right 2; each trial has 3 of each kind of error.

    Subjects: A 6, B 2; errors of the study 9, of subjects 9/4 + 9/4, of trials 9 (3/144 + 1/16 + 1/4) = 3. Trials: squares 9 + 1 + 1 + 25 + 4.
    """
    values = [[(1, 3, 5), (9,)], [(2,)]]
    for over, mean, sd, variance in (("subjects", 4.0, 8.0, 9.0 + 4.5 + 3.0), ("trials", 4.0, 10.0, None)):
        subjects = []
        for sides in values:
            moments = [moments_of([np.full(SHAPE, x) for x in side]) for side in sides]
            errors = [
                added_errors(np.zeros((3, *SHAPE)), np.ones(SHAPE), np.full((3, *SHAPE), 3.0)) * len(s) for s in sides
            ]
            subjects.append(both_sides(list(zip(moments, errors, strict=True)), spread_over=over))
        found = ensemble([own for own, _ in subjects], spread_over=over, min_units=2)
        np.testing.assert_allclose([found.mean, found.sd**2], [np.full(SHAPE, mean), np.full(SHAPE, sd)])
        assert (found.n_trials == 5).all()
        assert (found.n_subjects == 2).all()
        if variance:
            sums, counts = [errors for _, errors in subjects], [own.n for own, _ in subjects]
            np.testing.assert_allclose(error_of_mean_curve(sums, counts, over_subjects=True) ** 2, variance)
