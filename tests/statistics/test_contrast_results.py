"""Tests of contrasts against other programs, closed forms and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from limbtorque.statistics import contrast_results as engine
from limbtorque.statistics.contrast_results import Comparison, contrast_results
from limbtorque.statistics.sign_flips import flip_signs


def one(matrix, values, **more):
    """Result of one comparison with all flips."""
    values = np.asarray(values, dtype=float).reshape(len(values), -1)
    return contrast_results([Comparison(np.asarray(matrix, dtype=float), values, **more)], n_flips=2**12)[0]


def pairs(n):
    return np.ones((n, 1))


def groups(n_first, n_second, *covariates):
    return np.column_stack([np.repeat([1.0, 0.0], [n_first, n_second]), np.ones(n_first + n_second), *covariates])


def t_of(matrix, values):
    """t of coefficient 0 with the HC2 variance, by its definition."""
    solution = np.linalg.pinv(matrix)
    residuals = values - matrix @ solution @ values
    leverage = np.einsum("ij,ji->i", matrix, solution)
    return solution[0] @ values / np.sqrt((solution[0] ** 2 * residuals**2 / (1.0 - leverage)).sum())


def p_by_enumeration(matrix, values):
    """Share of all flips of the residuals of the null model with at least the observed |t|."""
    others = matrix[:, 1:]
    residuals = values - others @ np.linalg.pinv(others) @ values if others.size else values
    flips = [abs(t_of(matrix, np.array(s) * residuals)) for s in itertools.product([1.0, -1.0], repeat=len(values))]
    return np.mean(np.array(flips) >= abs(t_of(matrix, values)) * (1.0 - 1e-9))


def test_pairs_are_those_of_scipy_and_of_all_flips():
    values = np.random.default_rng(3).normal(0.4, 1.0, 8)
    result, test = one(pairs(8), values), stats.ttest_1samp(values, 0.0)
    interval = test.confidence_interval()
    assert [*result.p_t, *result.low, *result.high] == pytest.approx([test.pvalue, interval.low, interval.high])
    assert result.p_flips[0] == result.p_adjusted[0] == p_by_enumeration(pairs(8), values)
    correction = 1.0 - 3.0 / (4.0 * 7.0 - 1.0)  # Hedges (1981), his approximation
    assert result.hedges_g[0] == pytest.approx(values.mean() / values.std(ddof=1) * correction, rel=2e-3)


@pytest.mark.parametrize("n", [3, 5, 8])
def test_the_smallest_p_of_pairs_is_reached_by_differences_of_one_sign(n):
    result = one(pairs(n), np.arange(1.0, n + 1.0))
    assert result.p_flips[0] == result.smallest_p[0] == 2.0 / 2.0**n


def test_groups_are_those_of_welch_and_of_all_flips():
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(1.0, 2.0, 6), rng.normal(0.0, 0.7, 6)])
    result, test = one(groups(6, 6), values), stats.ttest_ind(values[:6], values[6:], equal_var=False)
    assert [*result.p_t, *result.low] == pytest.approx([test.pvalue, test.confidence_interval().low])
    assert result.degrees_of_freedom[0] == pytest.approx(test.df)
    assert result.p_flips[0] == p_by_enumeration(groups(6, 6), values)


def test_covariates_are_those_of_statsmodels():
    models = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed (make peers)")
    rng = np.random.default_rng(7)
    matrix = groups(9, 12, rng.normal(size=21))
    values = matrix @ [0.5, 1.0, 0.8] + rng.normal(size=21) * np.where(matrix[:, 0], 2.0, 1.0)
    result, fit = one(matrix, values), models.OLS(values, matrix).fit(cov_type="HC2")
    assert [*result.estimate, *result.standard_error] == pytest.approx([fit.params[0], fit.bse[0]])


def test_covariates_by_their_definition_and_all_flips():
    rng = np.random.default_rng(7)
    matrix = groups(6, 6, rng.normal(size=12))
    values = matrix @ [1.5, 1.0, 0.8] + rng.normal(size=12)
    result = one(matrix, values)
    assert result.estimate[0] / result.standard_error[0] == pytest.approx(t_of(matrix, values))
    assert result.p_flips[0] == p_by_enumeration(matrix, values)
    # degrees of freedom: (sum of eigenvalues)^2 over the sum of their squares, of M W M (Bell and McCaffrey 2002)
    solution = np.linalg.pinv(matrix)
    maker = np.eye(12) - matrix @ solution
    spectrum = np.linalg.eigvalsh(maker @ np.diag(solution[0] ** 2 / np.diag(maker)) @ maker)
    assert result.degrees_of_freedom[0] == pytest.approx(spectrum.sum() ** 2 / (spectrum**2).sum())


def test_a_family_is_adjusted_by_the_step_down_maximum_over_the_same_flips():
    rng = np.random.default_rng(11)
    values = rng.normal([2.0, 0.6, 0.0, 0.3], size=(9, 4))
    values[:3, 1] = np.nan
    results = contrast_results([Comparison(pairs(9), values[:, [k]]) for k in range(4)])

    def on_scale(sign):  # normal deviate of the p of t, by the degrees of freedom of each outcome
        of_each = [sign[~np.isnan(column)] * column[~np.isnan(column)] for column in values.T]
        tests = [stats.ttest_1samp(each, 0.0).pvalue for each in of_each]
        return stats.norm.isf(np.array(tests) / 2.0)

    observed = on_scale(np.ones(9))
    flips = np.array([on_scale(np.array(sign)) for sign in itertools.product([1.0, -1.0], repeat=9)])
    p, worst = np.zeros(4), 0.0
    for k in np.argsort(-observed):
        worst = max(worst, np.mean(flips[:, observed <= observed[k] + 1e-9].max(axis=1) >= observed[k] - 1e-6))
        p[k] = worst
    assert [result.p_adjusted[0] for result in results] == pytest.approx(p)
    apart = contrast_results([Comparison(pairs(9), values[:, [k]], family=str(k)) for k in range(4)])
    assert [result.p_adjusted[0] for result in apart] == [result.p_flips[0] for result in results]


def test_the_curve_of_spm1d():
    spm1d = pytest.importorskip("spm1d", reason="spm1d is not installed (make peers)")
    first, second = spm1d.data.uv1d.tpaired.PlantarArchAngle().get_data()
    result = one(pairs(10), first - second)
    test = spm1d.stats.ttest_paired(first, second)
    t = result.estimate / result.standard_error
    assert t == pytest.approx(test.z)
    assert result.threshold == pytest.approx(np.full(101, 3.608), abs=5e-4)  # 51st largest of 1,024 maxima of |t|
    assert test.inference(0.05, two_tailed=True).zstar == pytest.approx(3.939, abs=5e-4)  # of random fields
    residuals = (first - second)[None] * flip_signs(10, n_flips=2**10, seed=1)[..., None]
    signed = residuals.mean(axis=1) / (residuals.std(axis=1, ddof=1) / np.sqrt(10.0))
    assert np.percentile(signed.max(axis=1), 97.5) == pytest.approx(3.597, abs=1e-3)
    assert result.p_adjusted.min() == np.mean(np.abs(signed).max(axis=1) >= np.abs(t).max() * (1.0 - 1e-9))


def test_the_curve_of_mne():
    mne = pytest.importorskip("mne.stats", reason="MNE is not installed (make peers)")
    curve = np.cumsum(np.random.default_rng(1).normal(0.05, 1.0, (8, 25)), axis=1)
    result = one(pairs(8), curve)
    t, p, _ = mne.permutation_t_test(curve, n_permutations="all", verbose=False)
    assert result.estimate / result.standard_error == pytest.approx(t)
    # it counts 127 of the 128 flips that differ in more than all signs, and ties by rounding
    assert result.p_adjusted.min() == pytest.approx(p.min(), abs=2.0 / 127.0)
    assert (result.p_adjusted <= p + 2.0 / 127.0).all()  # a step-down maximum is never larger than one step


def test_limits_of_a_curve_are_those_of_all_flips_of_its_residuals():
    curve = np.cumsum(np.random.default_rng(2).normal(0.3, 1.0, (9, 12)), axis=1)
    result = one(pairs(9), curve)
    flipped = flip_signs(9, n_flips=2**9, seed=1)[..., None] * (curve - curve.mean(axis=0))
    maxima = np.abs(flipped.mean(axis=1) / (flipped.std(axis=1, ddof=1) / 3.0)).max(axis=1)
    factor = np.sort(maxima)[::-1][int(0.05 * 512) - 1]
    half = factor * curve.std(axis=0, ddof=1) / 3.0
    assert result.high_simultaneous - result.low_simultaneous == pytest.approx(2.0 * half)


def test_equivalence_and_planning_are_those_of_one_sided_tests_and_of_the_noncentral_t():
    values = np.random.default_rng(4).normal(0.1, 1.0, 12)
    result = one(pairs(12), values, smallest_effect=0.9)
    below = stats.ttest_1samp(values, -0.9, alternative="greater").pvalue
    above = stats.ttest_1samp(values, 0.9, alternative="less").pvalue
    assert result.p_equivalence[0] == pytest.approx(max(below, above))
    assert (result.low_90[0], result.high_90[0]) == pytest.approx(
        stats.ttest_1samp(values, 0.0).confidence_interval(0.9)
    )

    def power(effect, n):
        limit = stats.t.isf(0.025, n - 1)
        return stats.nct.sf(limit, n - 1, effect / values.std(ddof=1) * np.sqrt(n))

    assert power(result.detectable_effect[0], 12) == pytest.approx(0.8)
    needed = int(result.subjects_needed[0])
    assert power(0.9, needed) >= 0.8 - 5e-3 > power(0.9, needed - 2)  # degrees of freedom in proportion to n, not n - 1


def test_shared_errors_widen_the_interval_by_their_variance():
    values = np.random.default_rng(6).normal(size=10)
    plain, wide = one(pairs(10), values), one(pairs(10), values, shared_variance=np.array([0.5]))
    variance = values.var(ddof=1) / 10.0
    freedom = (variance + 0.5) ** 2 / (variance**2 / 9.0)  # Satterthwaite (1946)
    assert wide.high[0] - values.mean() == pytest.approx(stats.t.ppf(0.975, freedom) * np.sqrt(variance + 0.5))
    assert (wide.p_flips, wide.p_t) == (plain.p_flips, plain.p_t)


@pytest.mark.parametrize(("n", "shared"), [(2, 0.001), (2, 10.0), (10, 0.5)])
def test_the_interval_is_that_of_its_standard_error_and_degrees_of_freedom(n, shared):
    """With two pairs a small shared error brings more freedom than variance: the spread alone is wider."""
    result = one(pairs(n), np.random.default_rng(7).normal(size=n), shared_variance=np.array([shared]))
    half = stats.t.ppf(0.975, result.degrees_of_freedom) * result.standard_error
    np.testing.assert_allclose([result.high - result.estimate, result.estimate - result.low], [half, half])


def test_an_error_that_all_share_is_the_interval_of_subjects_without_spread():
    result = one(pairs(4), np.full(4, 0.3), shared_variance=np.array([0.25]))
    assert result.high[0] - 0.3 == pytest.approx(stats.norm.ppf(0.975) * 0.5, rel=1e-5)


def test_planning_finds_its_effect_in_four_of_five_simulated_studies():
    """Subjects with a standard deviation of 1, and an error that all have in common; the interval by its definition."""
    shared, rng = 0.05, np.random.default_rng(8)
    values = rng.normal(size=12)
    values = (values - values.mean()) / values.std(ddof=1)

    def found(effect, n, n_studies=4000):
        studies = effect + rng.normal(size=(n_studies, n)) + np.sqrt(shared) * rng.normal(size=(n_studies, 1))
        variance = studies.var(axis=1, ddof=1) / n
        freedom = (n - 1) * ((variance + shared) / variance) ** 2
        half = stats.t.ppf(0.975, freedom) * np.sqrt(variance + shared)
        half = np.maximum(half, stats.t.ppf(0.975, n - 1) * np.sqrt(variance))
        return (studies.mean(axis=1) > half).mean()

    result = one(pairs(12), values, shared_variance=np.array([shared]), smallest_effect=0.8)
    assert found(result.detectable_effect[0], 12) == pytest.approx(0.8, abs=0.02)
    needed = int(result.subjects_needed[0])
    assert found(0.8, needed) == pytest.approx(0.8, abs=0.02)
    assert needed > one(pairs(12), values, smallest_effect=0.8).subjects_needed[0] + 5
    hidden = one(pairs(12), values, shared_variance=np.array([shared]), smallest_effect=0.6)  # less than 2.8 times 0.22
    assert np.isnan(hidden.subjects_needed[0])


def test_a_disagreement_names_the_error_that_all_subjects_share():
    values = 1.0 + np.random.default_rng(6).normal(size=10)
    shared = one(pairs(10), values, shared_variance=np.array([1.0]))
    assert "errors that all subjects share" in shared.disagreement
    assert one(pairs(10), values).disagreement == ""


@pytest.mark.parametrize(
    "effect", [2.90, 2.91, 2.93]
)  # the interval ends at 2.92, with the shared variance alone at 2.90
def test_equivalence_and_its_interval_agree_with_shared_errors(effect):
    values = np.sqrt(3.0) * np.array([-1.0, 0.0, 1.0])  # variance of the mean 1
    result = one(pairs(3), values, shared_variance=np.array([0.01]), smallest_effect=effect)
    assert result.high_90[0] == pytest.approx(stats.t.ppf(0.95, 2))
    assert (result.p_equivalence[0] <= 0.05) == (result.high_90[0] <= effect)


@pytest.mark.parametrize(
    ("matrix", "values", "reason"),
    [
        (groups(5, 8), np.arange(13.0), "a group of 5"),
        (pairs(2), [1.0, 2.0], "2 subjects"),
        (pairs(6), np.full(6, 0.3), "equal"),
        (pairs(4), np.full(4, np.nan), "no subject has a value"),
        (groups(8, 0), np.arange(8.0), "no subject"),
        (groups(6, 6, np.ones(12)), np.arange(12.0), "constant"),
        (groups(6, 6, np.eye(12)[0]), np.arange(12.0), "one subject alone"),
    ],
)
def test_what_is_not_tested_says_why(matrix, values, reason):
    result = one(matrix, values)
    assert np.isnan(result.p_adjusted).all()
    assert reason in result.reason


def test_a_curve_says_why_of_the_point_with_most_subjects_and_two_pairs_have_no_g():
    result = one(pairs(3), [[1.0, 1.0], [2.0, np.nan], [np.nan, np.nan]])
    assert result.reason == "not tested: 2 subjects, expected 3 or more"
    assert np.isnan(result.hedges_g).all()


def test_a_point_without_spread_is_not_tested_and_its_neighbours_are():
    curve = np.random.default_rng(3).normal(size=(8, 3))
    curve[:, 1] = 3.0
    result = one(pairs(8), curve)
    assert np.isnan([result.p_adjusted[1], result.smallest_p[1], result.low_simultaneous[1]]).all()
    assert result.p_adjusted[[0, 2]] == pytest.approx(one(pairs(8), curve[:, [0, 2]]).p_adjusted)


def test_a_small_group_has_an_interval():
    assert np.isfinite(one(groups(4, 8), np.arange(12.0) ** 2).low).all()


def test_points_with_fewer_subjects_do_not_raise_the_threshold_of_the_others():
    curve = np.cumsum(np.random.default_rng(8).normal(size=(10, 20)), axis=1)
    missing = curve.copy()
    missing[:6, 10:] = np.nan
    whole, some = one(pairs(10), curve[:, :10]), one(pairs(10), missing)
    assert some.threshold[0] < 1.5 * whole.threshold[0] < some.threshold[-1]


def test_random_flips_follow_their_seed_and_count_the_data_themselves(monkeypatch):
    values = np.random.default_rng(9).normal(5.0, 1.0, (30, 1))
    first, again, other = (contrast_results([Comparison(pairs(30), values)], n_flips=500, seed=s) for s in (1, 1, 2))
    assert first[0].p_flips[0] == again[0].p_flips[0] == other[0].p_flips[0] == 1.0 / 500.0
    monkeypatch.setattr(engine, "BLOCK", 7)
    in_blocks = contrast_results([Comparison(pairs(30), values - 5.0)], n_flips=500, seed=1)
    monkeypatch.undo()
    assert (
        in_blocks[0].p_flips == contrast_results([Comparison(pairs(30), values - 5.0)], n_flips=500, seed=1)[0].p_flips
    )


def test_an_effect_too_small_for_any_number_of_subjects_has_no_number():
    result = one(pairs(12), np.random.default_rng(0).normal(size=12), smallest_effect=1e-6)
    assert np.isnan(result.subjects_needed[0])
    assert result.detectable_effect[0] > 0.0
