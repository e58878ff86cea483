"""Contrasts in all universes: one test over all, and shares of the spread."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.statistics.contrast_design import Design
from limbtorque.statistics.contrast_results import Comparison, Result, contrast_results
from limbtorque.statistics.contrasts import Compared, Measured, all_trials, compared_outcomes, why_nothing
from limbtorque.tables.column import counted

Row = dict[str, Any]
NUMBERS = ("estimate", "low", "high", "standard_error", "p_flips", "p_adjusted")


@dataclass(frozen=True)
class Specified:
    """Outcome of a contrast in all universes.

    Attributes
    ----------
    design : Design
        The contrast.
    measured : sequence of Measured
        Its values in each universe, that of the study's own options first.
    choices : mapping of str to sequence of str
        Labels of the values of each option; those of the last option vary fastest.
    """

    design: Design
    measured: Sequence[Measured]
    choices: Mapping[str, Sequence[str]]

    @property
    def idle(self) -> list[str]:
        """Options that change no value."""
        shape = [len(labels) for labels in self.choices.values()]
        grid = np.stack([each.values for each in self.measured]).reshape(*shape, -1)
        firsts = [np.broadcast_to(grid.take([0], axis=axis), grid.shape) for axis in range(len(shape))]
        pairs = zip(self.choices, firsts, strict=True)
        return [option for option, first in pairs if np.array_equal(grid, first, equal_nan=True)]

    @property
    def universes(self) -> dict[int, Row]:
        """Labels of each universe; of those that an idle option alone sets apart, one."""
        idle, labels = self.idle, self.choices.values()
        rows = enumerate(dict(zip(self.choices, each, strict=True)) for each in itertools.product(*labels))
        return {
            u: {option: "" if option in idle else label for option, label in row.items()}
            for u, row in rows
            if all(row[option] == self.choices[option][0] for option in idle)
        }


def multiverse_rows(
    outcomes: Sequence[Specified], covariates: Mapping[str, FloatArray], *, seed: int
) -> list[list[Row]]:
    """Rows of `results/multiverse.csv` of each outcome.

    Parameters
    ----------
    outcomes : sequence of Specified
        The outcomes of all contrasts.
    covariates : mapping of str to ndarray of shape (n_trials,)
        Covariates that are values of trials, by the study's own options.
    seed : int
        Seed of random flips.

    Notes
    -----
    The universes of an outcome are tested as the points of a curve: p is adjusted by the step-down maximum of |t| over all universes,
    with the same flips in all (Girardi et al. 2024, Psychometrika 89:542), and the smallest is that of the test over all universes;
    once for the outcome alone, and once with all outcomes and terms of its family.
    """
    compared = [_by_term(each, covariates) for each in outcomes]
    common = [_common_subjects(terms[0]) for terms in compared]
    pairs = zip(compared, common, strict=True)
    tested = [_comparison(of_term, subjects) for terms, subjects in pairs for of_term in terms]
    alone = [replace(each, family=str(k)) for k, each in enumerate(tested)]
    results = zip(contrast_results(tested, seed=seed), contrast_results(alone, seed=seed), strict=True)
    return [
        [
            row
            for of_term in terms
            for row in _rows(each, of_term, subjects, *next(results), _note(each.design, terms[0], subjects))
        ]
        for each, terms, subjects in zip(outcomes, compared, common, strict=True)
    ]


def _by_term(outcome: Specified, covariates: Mapping[str, FloatArray]) -> list[list[Compared]]:
    """Each term in each universe."""
    measured = [outcome.measured[u] for u in outcome.universes]
    of_universes = [list(compared_outcomes(outcome.design, [each], covariates)) for each in measured]
    return [list(of_term) for of_term in zip(*of_universes, strict=True)]


def _common_subjects(of_universes: Sequence[Compared]) -> BoolArray:
    """Subjects with a value in all universes that have any."""
    known = np.stack([each.known[:, 0] for each in of_universes])
    return np.asarray(known[known.any(axis=1)].all(axis=0) & known.any(), dtype=bool)


def _comparison(of_universes: Sequence[Compared], common: BoolArray) -> Comparison:
    """Comparison whose points are the universes."""
    first = of_universes[0].tested
    values = np.column_stack([np.where(common, each.tested.values[:, 0], np.nan) for each in of_universes])
    return Comparison(np.where(common[:, None], first.matrix, np.nan), values, family=first.family)


def _rows(
    outcome: Specified, of_universes: Sequence[Compared], common: BoolArray, result: Result, alone: Result, note: str
) -> Iterator[Row]:
    """Rows of a term, with its results in its family and alone."""
    trials = all_trials(outcome.design)
    values = np.stack([each.measured.values[trials, 0, 0] for each in of_universes])
    lost = (~np.isnan(values[0]) & np.isnan(values)).sum(axis=1)
    for k, (u, labels) in enumerate(outcome.universes.items()):
        yield {
            **of_universes[k].about,
            "universe": u,
            **{name: float(getattr(result, name)[k]) for name in NUMBERS},
            "p_multiverse": float(np.fmin.reduce(alone.p_adjusted)),
            "p_multiverse_adjusted": float(np.fmin.reduce(result.p_adjusted)),
            "n_subjects": int(common.sum()),
            "n_trials": int(of_universes[k].subjects.n_trials[common].sum()),
            "n_lost": int(lost[k]),
            "note": "; ".join(filter(None, (why_nothing(result), note))),
            **labels,
        }


def _note(design: Design, of_universes: Sequence[Compared], common: BoolArray) -> str:
    """Subjects left out, trials without any value, and universes without any."""
    known = np.stack([each.known[:, 0] for each in of_universes])
    lost = [subject.name for k, subject in enumerate(design.subjects) if known[:, k].any() and not common[k]]
    nobody = int((~known.any(axis=1)).sum())
    values = np.stack([each.measured.values[all_trials(design), 0, 0] for each in of_universes])
    never = int(np.isnan(values).all(axis=0).sum())  # rejected, or not read, whatever the options
    texts = {
        f"left out, as a universe has no value: {', '.join(lost)}": lost,
        f"without a value in all universes: {counted(never, 'trial')}": never,
        f"{nobody} universes without any": nobody,
    }
    return "; ".join(text for text, is_so in texts.items() if is_so)


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
    total = float(grid.var())
    if not total > 0.0:
        return {}
    axes, parts = range(grid.ndim), dict[tuple[int, ...], float]()
    for chosen in [*itertools.combinations(axes, 1), *itertools.combinations(axes, 2)]:
        means = grid.mean(axis=tuple(axis for axis in axes if axis not in chosen))
        alone = sum(parts[axis,] for axis in chosen) if len(chosen) > 1 else 0.0
        parts[chosen] = max(float(means.var()) - alone, 0.0)
    return {chosen: part / total for chosen, part in parts.items()}
