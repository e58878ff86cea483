"""Contrasts in all universes: estimates, one test over all, shares of the spread."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.statistics.contrast_design import MEASURED_COVARIATES, Design
from limbtorque.statistics.contrast_results import (
    ARRAYS,
    TIE,
    Comparison,
    Result,
    StepDown,
    estimates,
    models_of,
    shared_signs,
)
from limbtorque.statistics.contrasts import Compared, Measured, all_trials, compared_outcomes
from limbtorque.statistics.sign_flips import CommonScale, RobustModel

Row = dict[str, Any]
MOST_NUMBERS = 2_000_000  # statistics of flips in memory at a time


@dataclass(frozen=True)
class UniverseResult:
    """An outcome in all universes.

    Attributes
    ----------
    result : Result
        Estimates and intervals; p by flips, and adjusted for the outcomes of the family in each universe alone.
    p_multiverse, p_multiverse_adjusted : float
        p of the largest |t| over all universes; adjusted for the outcomes of the family, too. NaN where nothing is tested.
    """

    result: Result
    p_multiverse: float = np.nan
    p_multiverse_adjusted: float = np.nan


def universe_results(
    outcomes: Sequence[Sequence[Comparison]], *, n_flips: int = 10_000, seed: int = 1
) -> list[UniverseResult]:
    """Estimate and test outcomes in all universes, with signs shared by all.

    Parameters
    ----------
    outcomes : sequence of sequence of Comparison
        For each outcome one comparison whose points are the universes, or one of one point for each universe, where the
        covariates differ. Rows are the same subjects everywhere.
    n_flips : int, optional
        Most flips of signs.
    seed : int, optional
        Seed of random flips.

    Notes
    -----
    The flips are those of `contrast_results`. The largest |t| over all universes is compared with its own distribution over the
    flips (Girardi et al. 2024, Psychometrika 89:542): where p is small, at least one universe shows an effect.
    """
    flat = [each for of_outcome in outcomes for each in of_outcome]
    places = [(k, at) for k, of_outcome in enumerate(outcomes) for at in range(len(of_outcome))]
    models = list(models_of(flat))
    signs = shared_signs(models, len(flat[0].matrix) if flat else 0, n_flips=n_flips, seed=seed)
    results = [estimates(each, [m for m in models if m.outcome == k], len(signs)) for k, each in enumerate(flat)]
    tested = [model.varying for model in models if not model.untested]
    made = [
        UniverseResult(_joined([results[k] for k, (o, _) in enumerate(places) if o == n])) for n in range(len(outcomes))
    ]
    for family in dict.fromkeys(flat[model.outcome].family for model in tested):
        _test_universes([m for m in tested if flat[m.outcome].family == family], places, made, signs)
    return made


def _joined(results: Sequence[Result]) -> Result:
    """Result with the universes as points."""
    if len(results) == 1:
        return results[0]
    arrays: dict[str, Any] = {name: np.concatenate([vars(each)[name] for each in results]) for name in ARRAYS}
    return replace(results[0], **arrays)


def _test_universes(
    models: Sequence[RobustModel], places: Sequence[tuple[int, int]], made: list[UniverseResult], signs: FloatArray
) -> None:
    """Add the p values of a family."""
    outcomes = list(dict.fromkeys(places[model.outcome][0] for model in models))
    n_universes = len(made[outcomes[0]].result.estimate)
    rows = np.concatenate([np.full(len(m.points), outcomes.index(places[m.outcome][0])) for m in models])
    columns = np.concatenate([m.points + places[m.outcome][1] for m in models])
    scale = CommonScale(np.concatenate([np.full(len(m.points), m.design_freedom) for m in models]))

    def statistics(some: FloatArray) -> FloatArray:
        t = np.full((len(some), len(outcomes), n_universes), -1.0)  # what is not tested reaches nothing
        t[:, rows, columns] = scale.of(np.hstack([m.flipped(m.null_residuals, some) for m in models]))
        return t

    reached = TIE * statistics(signs[:1])[0]
    in_each, over_all = [StepDown(column) for column in reached.T], StepDown(reached.max(axis=1))
    block = max(MOST_NUMBERS // reached.size, 1)
    for start in range(0, len(signs), block):
        flips = statistics(signs[start : start + block])
        for u, counts in enumerate(in_each):
            counts.add(flips[:, :, u])
        over_all.add(flips.max(axis=2))
    known, p_all = reached >= 0.0, over_all.together / len(signs)
    for row, outcome in enumerate(outcomes):
        result = made[outcome].result
        for values, counted in ((result.p_flips, "alone"), (result.p_adjusted, "together")):
            p = np.array([getattr(counts, counted)[row] for counts in in_each]) / len(signs)
            values[known[row]] = p[known[row]]
        made[outcome] = UniverseResult(result, float(over_all.alone[row] / len(signs)), float(p_all[row]))


@dataclass(frozen=True)
class SpecifiedOutcome:
    """Outcome of a contrast in all universes.

    Attributes
    ----------
    design : Design
        The contrast.
    measured : sequence of Measured
        Its values in each universe, that of the study's own options first.
    covariates : sequence of mapping of str to ndarray of shape (n_trials,)
        Covariates that are values of trials, in each universe.
    shape : tuple of int
        Number of values of each option; the last one varies fastest.
    """

    design: Design
    measured: Sequence[Measured]
    covariates: Sequence[Mapping[str, FloatArray]]
    shape: tuple[int, ...]

    @property
    def idle(self) -> tuple[bool, ...]:
        """Options that change no value of the outcome."""
        of_universes = np.stack([each.values for each in self.measured])
        grid = of_universes.reshape(*self.shape, -1)
        return tuple(
            bool(np.array_equal(grid, np.broadcast_to(grid.take([0], axis=axis), grid.shape), equal_nan=True))
            for axis in range(len(self.shape))
        )

    @property
    def kept(self) -> list[int]:
        """Universes without those that differ by an idle option only."""
        idle = self.idle
        places = enumerate(itertools.product(*map(range, self.shape)))
        return [u for u, at in places if not any(value for value, is_idle in zip(at, idle, strict=True) if is_idle)]


def multiverse_rows(
    outcomes: Sequence[SpecifiedOutcome], *, choices: Sequence[str], seed: int, n_flips: int = 10_000
) -> list[list[Row]]:
    """Rows of `results/multiverse.csv` of each outcome.

    Parameters
    ----------
    outcomes : sequence of SpecifiedOutcome
        The outcomes of all contrasts.
    choices : sequence of str
        What each universe changes, in words.
    seed : int
        Seed of random flips.
    n_flips : int, optional
        Most flips.
    """
    terms: list[list[list[Compared]]] = [_by_term(each) for each in outcomes]
    common = [_common_subjects(of_outcome[0]) for of_outcome in terms]
    tested = [
        _comparisons(of_term, common[k], outcomes[k].design)
        for k, of_outcome in enumerate(terms)
        for of_term in of_outcome
    ]
    results = iter(universe_results(tested, seed=seed, n_flips=n_flips))
    rows: list[list[Row]] = []
    for k, (each, of_outcome) in enumerate(zip(outcomes, terms, strict=True)):
        note, lost = _note(each.design, of_outcome[0], common[k]), _lost(each)
        rows.append([])
        for of_term in of_outcome:
            result = next(results)
            rows[-1] += [
                {
                    **of_term[u].about,
                    "universe": u,
                    "choices": choices[u],
                    **_numbers(result, u),
                    "n_subjects": int(common[k].sum()),
                    "n_trials": int(of_term[u].subjects.n_trials[common[k]].sum()),
                    "n_rejected": int(lost[u]),
                    "note": "; ".join(filter(None, (result.result.reason, note))),
                }
                for u in each.kept
            ]
    return rows


def _numbers(result: UniverseResult, u: int) -> Row:
    names = ("estimate", "low", "high", "standard_error", "p_flips", "p_adjusted")
    of_universe = {name: float(getattr(result.result, name)[u]) for name in names}
    return {**of_universe, "p_multiverse": result.p_multiverse, "p_multiverse_adjusted": result.p_multiverse_adjusted}


def _by_term(outcome: SpecifiedOutcome) -> list[list[Compared]]:
    """Comparisons of each term in each universe."""
    of_universes = [
        list(compared_outcomes(outcome.design, [measured], covariates))
        for measured, covariates in zip(outcome.measured, outcome.covariates, strict=True)
    ]
    return [list(of_term) for of_term in zip(*of_universes, strict=True)]


def _common_subjects(of_universes: Sequence[Compared]) -> BoolArray:
    """Subjects with a value in all universes that have any."""
    known = np.stack([each.known[:, 0] for each in of_universes])
    return np.asarray(known[known.any(axis=1)].all(axis=0), dtype=bool) & bool(known.any())


def _comparisons(of_universes: Sequence[Compared], common: BoolArray, design: Design) -> list[Comparison]:
    """Universes as points of one comparison; several where covariates differ."""
    first = of_universes[0].tested
    values = np.column_stack([np.where(common, each.tested.values[:, 0], np.nan) for each in of_universes])
    matrices = [np.where(common[:, None], each.tested.matrix, np.nan) for each in of_universes]
    if not {*design.contrast.covariates} & {*MEASURED_COVARIATES}:
        return [Comparison(matrices[0], values, family=first.family)]
    pairs = zip(matrices, values.T, strict=True)
    return [Comparison(matrix, column[:, None], family=first.family) for matrix, column in pairs]


def _lost(outcome: SpecifiedOutcome) -> FloatArray:
    """Trials with a value in the study's own universe only, for each universe."""
    trials = all_trials(outcome.design)
    known = np.stack([~np.isnan(each.values).all(axis=(1, 2))[trials] for each in outcome.measured])
    return np.asarray((known[0] & ~known).sum(axis=1), dtype=float)


def _note(design: Design, of_universes: Sequence[Compared], common: BoolArray) -> str:
    """Subjects left out, and universes without any value."""
    known = np.stack([each.known[:, 0] for each in of_universes])
    lost = [subject.name for k, subject in enumerate(design.subjects) if known[:, k].any() and not common[k]]
    nobody = int((~known.any(axis=1)).sum())
    texts = [f"left out, as a universe has no value: {', '.join(lost)}"] * bool(lost)
    return "; ".join([*texts, *[f"{nobody} universes without any value"] * bool(nobody)])


def spread_shares(grid: FloatArray) -> dict[tuple[int, ...], float]:
    """Shares of the spread by option and pair, over a full grid.

    Parameters
    ----------
    grid : ndarray of shape (n_values, n_values, ...)
        Estimate for each combination of the options.

    Returns
    -------
    dict of tuple of int to float
        By axis, and by pair of axes (what both add beyond each alone), parts of the sum of squares about the mean; the
        remainder belongs to three and more options. Description: universes are no sample. Empty where a value is missing or
        all are equal.

    Examples
    --------
    >>> spread_shares(np.array([[0.0, 1.0], [2.0, 3.0]]))
    {(0,): 0.8, (1,): 0.2, (0, 1): 0.0}
    """
    total = float(((grid - grid.mean()) ** 2).mean())
    if not total > 0.0:
        return {}
    axes, parts = range(grid.ndim), dict[tuple[int, ...], float]()
    for chosen in [*itertools.combinations(axes, 1), *itertools.combinations(axes, 2)]:
        means = grid.mean(axis=tuple(axis for axis in axes if axis not in chosen))
        within = sum(parts[axis,] for axis in chosen) if len(chosen) > 1 else 0.0
        parts[chosen] = float(((means - grid.mean()) ** 2).mean()) - within
    return {chosen: max(part, 0.0) / total for chosen, part in parts.items()}
