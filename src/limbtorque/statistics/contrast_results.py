"""Tests of contrasts by flips of signs, with intervals, equivalence and planning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy import optimize, special

from limbtorque.arrays import FloatArray
from limbtorque.statistics.sign_flips import CommonScale, RobustModel, flip_signs
from limbtorque.study.options.contrasts import LEVEL

POWER = 0.8
MOST_FREEDOM = 1e6  # from where t is normal
MOST_TIMES = 1e6  # the subjects: more than any study has
BLOCK = 1000  # flips in memory at a time
TIE = 1.0 - 1e-9  # of a statistic: rounding does not decide whether a flip reaches it


@dataclass(frozen=True)
class Comparison:
    """Outcome of a contrast, a number or a curve.

    Attributes
    ----------
    matrix : ndarray of shape (n_subjects, n_coefficients)
        Full model, a row for each subject of the study; NaN rows do not belong to the contrast. Column 0 is the tested
        effect: 1 for pairs; for groups 1 in the first and 0 in the second, followed by a column of 1. Covariates are last.
    values : ndarray of shape (n_subjects, n_points)
        Value of each subject; NaN where it has none.
    family : str
        Outcomes of the same family are adjusted together.
    shared_variance : ndarray of shape (n_points,) or None
        Variance of the estimate due to errors that all subjects share.
    smallest_effect : float or None
        Smallest effect of interest, for equivalence and the number of subjects needed.
    """

    matrix: FloatArray
    values: FloatArray
    family: str = ""
    shared_variance: FloatArray | None = None
    smallest_effect: float | None = None


@dataclass(frozen=True)
class Result:
    """Estimate, interval and test of an outcome.

    Arrays of shape (n_points,), NaN where unknown.

    Attributes
    ----------
    estimate, standard_error, degrees_of_freedom : ndarray
        Coefficient 0, its HC2 standard error (Student's for pairs, Welch's for two groups) and the degrees of freedom: n - 1,
        Welch's, or with covariates those of Bell and McCaffrey (2002). Both with the shared variance (by Satterthwaite for
        the sum), or without, whichever makes the wider 95 % interval.
    low, high : ndarray
        95 % interval: the estimate, less or plus t of the degrees of freedom times the standard error.
    hedges_g : ndarray
        Estimate over the standard deviation of the differences (pairs) or within groups, for small samples corrected.
    p_t, p_flips, p_adjusted : ndarray
        Two-sided p by t, by flips, and by flips adjusted in the family (step-down maximum).
    smallest_p : ndarray
        Smallest p by flips that so many subjects can give.
    threshold : ndarray
        Value that the largest absolute t of the family exceeds with a probability of at most 5 %.
    low_simultaneous, high_simultaneous : ndarray
        Limits that hold the whole curve with 95 %, from flips of the residuals of the full model.
    low_90, high_90, p_equivalence : ndarray
        90 % interval, and the larger p of the two one-sided t-tests against the smallest effect.
    detectable_effect, subjects_needed : ndarray
        Effect that a two-sided t-test finds with a power of 80 %; number of subjects for the smallest effect. Of numbers only.
    n_subjects : int
        Subjects with any value.
    reason : str
        Why nothing is tested; empty where it is.
    """

    estimate: FloatArray
    standard_error: FloatArray
    degrees_of_freedom: FloatArray
    low: FloatArray
    high: FloatArray
    hedges_g: FloatArray
    p_t: FloatArray
    low_90: FloatArray
    high_90: FloatArray
    p_equivalence: FloatArray
    smallest_p: FloatArray
    p_flips: FloatArray
    p_adjusted: FloatArray
    threshold: FloatArray
    low_simultaneous: FloatArray
    high_simultaneous: FloatArray
    detectable_effect: FloatArray
    subjects_needed: FloatArray
    n_subjects: int
    reason: str

    @property
    def disagreement(self) -> str:
        """Sentence on p by flips and an interval that contradict each other; else empty."""
        differs = self.low[0] > 0.0 or self.high[0] < 0.0
        if len(self.estimate) > 1 or np.isnan(self.p_flips[0]) or (self.p_flips[0] <= LEVEL) == differs:
            return ""
        # without the errors that all share, the interval is that of p_t
        shared = ": errors that all subjects share widen the interval alone (shared_error)"
        return "p by flips and the interval disagree" + (shared if self.p_t[0] <= LEVEL and not differs else "")


ARRAYS = tuple(field.name for field in fields(Result) if field.name not in ("n_subjects", "reason"))


def contrast_results(outcomes: Sequence[Comparison], *, n_flips: int = 10_000, seed: int = 1) -> list[Result]:
    """Estimate and test outcomes of contrasts, with signs shared by all.

    Parameters
    ----------
    outcomes : sequence of Comparison
        The outcomes, with rows for the same subjects.
    n_flips : int, optional
        Most flips of signs.
    seed : int, optional
        Seed of random flips.

    Returns
    -------
    list of Result
        In the same order.

    Notes
    -----
    The model without the tested effect is fitted; the signs of its residuals are flipped, one sign for each subject; each set
    is fitted with the full model (Winkler et al. 2014, NeuroImage 92:381), and gives t with the HC2 variance. p is the share
    of flips, the identity among them, with at least the absolute t of the data. In a family p is adjusted by the step-down
    maximum over the same flips (Westfall and Young 1993).
    """
    models = list(_models(outcomes))
    used = np.unique(np.concatenate([*(model.subjects for model in models), np.zeros(0, dtype=int)]))
    signs = np.ones((0, 0))
    if outcomes:
        signs = np.ones((1, len(outcomes[0].matrix)))
        flips = flip_signs(len(used), n_flips=n_flips, seed=seed)
        signs = np.repeat(signs, len(flips), axis=0)
        signs[:, used] = flips
    results = [
        _estimates(outcome, [model for model in models if model.outcome == k], len(signs))
        for k, outcome in enumerate(outcomes)
    ]
    tested = [model.varying for model in models if not model.untested]
    for family in dict.fromkeys(outcomes[model.outcome].family for model in tested):
        _test_family([each for each in tested if outcomes[each.outcome].family == family], results, signs)
    for k, result in enumerate(results):
        own = [model for model in tested if model.outcome == k]
        if len(result.estimate) > 1 and own:
            _simultaneous(own, result, signs)
    return results


def _models(outcomes: Sequence[Comparison]) -> Iterator[RobustModel]:
    """Models of all outcomes: one for all points with values of the same subjects."""
    for number, outcome in enumerate(outcomes):
        known = ~np.isnan(outcome.values) & ~np.isnan(outcome.matrix).any(axis=1, keepdims=True)
        patterns, which = np.unique(known, axis=1, return_inverse=True)
        for k, pattern in enumerate(patterns.T):
            points = np.flatnonzero(which.ravel() == k)
            values = outcome.values[np.ix_(pattern, points)]
            yield RobustModel(number, outcome.matrix[pattern], values, np.flatnonzero(pattern), points)


def _estimates(outcome: Comparison, models: Sequence[RobustModel], n_flips: int) -> Result:
    """Estimate and intervals of an outcome, without its test."""
    n_points = outcome.values.shape[1]
    n_subjects = len({subject for model in models for subject in model.subjects.tolist()})
    result = Result(
        n_subjects=n_subjects, reason=_reason(models), **{name: np.full(n_points, np.nan) for name in ARRAYS}
    )
    shared = np.zeros(n_points) if outcome.shared_variance is None else outcome.shared_variance
    for model in models:
        at = model.points
        if model.problem:
            continue
        variance, freedom = model.variance, model.freedom
        total, wide = _with_shared(variance, freedom, shared[at])
        result.estimate[at] = model.estimate
        result.hedges_g[at] = _small_sample(model) * _ratio(model.estimate, model.spread)
        result.p_t[at] = 2.0 * special.stdtr(freedom, -np.abs(_ratio(model.estimate, np.sqrt(variance))))
        error = np.sqrt(total)
        for part, low, high in ((2.0 * LEVEL, result.low_90, result.high_90), (LEVEL, result.low, result.high)):
            alone = special.stdtrit(freedom, 1.0 - part / 2.0) * np.sqrt(variance)
            together = special.stdtrit(wide, 1.0 - part / 2.0) * error
            half = np.fmax(alone, together)
            low[at], high[at] = model.estimate - half, model.estimate + half
        result.standard_error[at] = np.where(alone > together, np.sqrt(variance), error)
        result.degrees_of_freedom[at] = np.where(alone > together, freedom, wide)
        if outcome.smallest_effect is not None:
            beyond = np.abs(model.estimate) - outcome.smallest_effect
            alone = special.stdtr(freedom, _ratio(beyond, np.sqrt(variance)))
            result.p_equivalence[at] = np.maximum(alone, special.stdtr(wide, _ratio(beyond, error)))
        if not model.untested:
            smallest = max(2.0 ** (1 - len(model.subjects)), 1.0 / n_flips)
            result.smallest_p[at] = np.where(variance > 0.0, smallest, np.nan)
    if n_points == 1 and models and not models[0].problem:
        _plan(result, models[0], outcome.smallest_effect, float(shared[0]))
    return result


def _with_shared(variance: FloatArray, freedom: FloatArray, shared: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Variance with that of shared errors, and Satterthwaite's degrees of freedom."""
    total = variance + shared
    wide = freedom * _ratio(total, variance) ** 2
    return total, np.where((variance == 0.0) & (shared > 0.0), MOST_FREEDOM, wide)


def _ratio(values: FloatArray, sizes: FloatArray) -> FloatArray:
    """Quotient, NaN where the divisor is 0."""
    return np.asarray(np.divide(values, sizes, out=np.full(len(values), np.nan), where=sizes > 0.0))


def _reason(models: Sequence[RobustModel]) -> str:
    """Why no point is tested, of the point with most subjects; empty where one is."""
    if any(not model.untested for model in models):
        return ""
    most = max(models, key=lambda model: len(model.subjects), default=None)
    return most.untested if most is not None and len(most.subjects) else "no subject has a value"


def _small_sample(model: RobustModel) -> float:
    """Hedges' small-sample factor (1981); NaN without two degrees of freedom."""
    freedom = len(model.subjects) - max(len(model.groups), 1)
    if freedom < 2:
        return np.nan
    return float(np.exp(special.gammaln(freedom / 2) - special.gammaln((freedom - 1) / 2)) / np.sqrt(freedom / 2))


def _test_family(models: Sequence[RobustModel], results: Sequence[Result], signs: FloatArray) -> None:
    """Add p by flips, adjusted by the step-down maximum, to the results of a family."""
    scale = CommonScale(np.concatenate([np.full(len(model.points), model.design_freedom) for model in models]))

    def statistics(some: FloatArray) -> FloatArray:
        return scale.of(np.hstack([model.flipped(model.null_residuals, some) for model in models]))

    reached = TIE * statistics(signs[:1])[0]
    order = np.argsort(-reached, kind="stable")
    alone, together, largest = np.zeros(len(order)), np.zeros(len(order)), []
    for start in range(0, len(signs), BLOCK):
        flips = statistics(signs[start : start + BLOCK])
        alone += (flips >= reached).sum(axis=0)
        below = np.maximum.accumulate(flips[:, order[::-1]], axis=1)[:, ::-1]  # maximum over those with no larger t
        together[order] += (below >= reached[order]).sum(axis=0)
        largest.append(below[:, 0])
    together[order] = np.maximum.accumulate(together[order])
    limit = scale.back(_upper(np.concatenate(largest)))
    start = 0
    for model in models:
        here, result = slice(start, start + len(model.points)), results[model.outcome]
        result.p_flips[model.points] = alone[here] / len(signs)
        result.p_adjusted[model.points] = together[here] / len(signs)
        result.threshold[model.points] = limit[here]
        start = here.stop


def _upper(largest: FloatArray) -> float:
    """Value that at most 5 % of the flips reach; NaN where a single flip is more."""
    count = int(LEVEL * len(largest) * (1.0 + 1e-9))
    return float(np.partition(largest, -count)[-count]) if count else np.nan


def _simultaneous(models: Sequence[RobustModel], result: Result, signs: FloatArray) -> None:
    """Add limits that hold a whole curve."""
    scale = CommonScale(np.concatenate([np.full(len(model.points), model.design_freedom) for model in models]))
    largest = [
        scale.of(np.hstack([model.flipped(model.residuals, some) for model in models])).max(axis=1)
        for some in (signs[start : start + BLOCK] for start in range(0, len(signs), BLOCK))
    ]
    points = np.concatenate([model.points for model in models])
    half = scale.back(_upper(np.concatenate(largest))) * result.standard_error[points]
    result.low_simultaneous[points] = result.estimate[points] - half
    result.high_simultaneous[points] = result.estimate[points] + half


def _plan(result: Result, model: RobustModel, smallest_effect: float | None, shared: float) -> None:
    """Add the detectable effect, and the subjects needed for the smallest effect.

    More subjects do not reduce the errors that all of them share.
    """
    if not model.variance[0] > 0.0:
        return

    def detectable(times: float) -> float:
        """Effect that so many times the subjects find; never smaller by shared errors."""
        variance, freedom = model.variance[:1] / times, model.freedom[:1] * times
        total, wide = _with_shared(np.repeat(variance, 2), freedom, np.array([0.0, shared]))
        sizes = [_noncentrality(each) for each in np.minimum(wide, MOST_FREEDOM).tolist()]
        return float((np.sqrt(total) * sizes).max())

    result.detectable_effect[:] = detectable(1.0)
    if not smallest_effect or detectable(MOST_TIMES) > smallest_effect:  # not a number to plan with
        return
    least = 3.0 / result.n_subjects
    few = detectable(least) <= smallest_effect
    ratio = least if few else optimize.brentq(lambda times: detectable(times) - smallest_effect, least, MOST_TIMES)
    result.subjects_needed[:] = np.ceil(result.n_subjects * ratio)


def _noncentrality(freedom: float) -> float:
    """Noncentrality at which a two-sided t-test has a power of 80 %."""
    limit = special.stdtrit(freedom, 1.0 - LEVEL / 2.0)
    return float(
        optimize.brentq(lambda shift: 1.0 - special.nctdtr(freedom, shift, limit) - POWER, 0.0, 1.5 * limit + 5.0)
    )
