"""Rows of the tables of contrasts, from the values of trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.statistics.contrast_design import Design, SubjectValues, covariates_of, values_of_subjects
from limbtorque.statistics.contrast_results import ARRAYS, Comparison, Result, contrast_results
from limbtorque.statistics.mean_and_spread import Moments
from limbtorque.statistics.shared_errors import ContrastErrors, contrast_errors
from limbtorque.study.options.contrasts import LEVEL, Outcome
from limbtorque.tables.column import Column, counted
from limbtorque.tables.contrast_columns import CONTRAST_COLUMNS, CONTRAST_CURVE_COLUMNS

Row = dict[str, Any]
APART = 20.0  # % of the window; extremes of one event of a movement are closer together
ROUNDING = (
    1e-12  # of the largest value of an outcome and its terms: smaller ones are 0, such as a load that is not there
)


@dataclass(frozen=True)
class Effects:
    """Signed effects of errors of the inputs on the values of trials.

    Attributes
    ----------
    change : ndarray of shape (n_trials, n_terms, n_directions)
        As of `shared_errors.contrast_errors`, in the outcome's unit.
    owners : sequence of str
        Trials that have each direction in common.
    sessions : sequence of str
        Session of each trial.
    """

    change: FloatArray
    owners: Sequence[str]
    sessions: Sequence[str]


@dataclass(frozen=True)
class Measured:
    """Values of an outcome of all trials of the study.

    Attributes
    ----------
    outcome : Outcome
        The outcome.
    joint : str
        Joint, or muscle.
    unit : str
        Unit.
    terms : tuple of str
        The outcome itself and, of net torques, its terms by kind.
    values : ndarray of shape (n_trials, n_terms, n_points)
        NaN for trials that do not count.
    percent : ndarray of shape (n_points,)
        Points of a curve; empty for a number.
    rejected : ndarray of bool, shape (n_trials,)
        Trials that do not count because of their status.
    effects : Effects or None
        Effects of errors of the inputs.
    loaded : ndarray of bool, shape (n_trials,), or None
        Trials that count and have a known external load; None where it does not matter.
    caution : ndarray of bool, shape (n_trials,), or None
        Trials whose status is caution.
    at_percent : ndarray of shape (n_trials,) or None
        Time of a maximum or minimum, in % of the window.
    """

    outcome: Outcome
    joint: str
    unit: str
    terms: tuple[str, ...]
    values: FloatArray
    percent: FloatArray
    rejected: BoolArray
    effects: Effects | None = None
    loaded: BoolArray | None = None
    caution: BoolArray | None = None
    at_percent: FloatArray | None = None


@dataclass(frozen=True)
class Compared:
    """Outcome, or term of one, of a contrast, ready for its test."""

    design: Design
    measured: Measured
    term: int
    subjects: SubjectValues
    errors: ContrastErrors | None
    tested: Comparison

    @property
    def about(self) -> Row:
        """First columns of its rows."""
        measured, contrast = self.measured, self.design.contrast
        return {
            "contrast": contrast.name,
            "chain": contrast.chain,
            "outcome": measured.outcome.label,
            "joint": measured.joint,
            "term": measured.terms[self.term],
            "unit": measured.unit,
        }

    @property
    def known(self) -> BoolArray:
        """Subjects with a value at each point, shape (n_subjects, n_points)."""
        return np.asarray(~np.isnan(self.tested.values) & ~np.isnan(self.tested.matrix).any(axis=1, keepdims=True))

    @property
    def level_means(self) -> tuple[FloatArray, FloatArray]:
        """Means over subjects of both levels, shape (n_points,)."""
        first = second = self.known
        values = self.subjects.levels
        if self.design.contrast.groups:
            of_first = self.tested.matrix[:, :1] == 1.0
            first, second, values = first & of_first, first & ~of_first, np.stack([self.tested.values] * 2)
        pairs = zip(values, (first, second), strict=True)
        means = [Moments.of(np.where(known, level, np.nan)).known_mean for level, known in pairs]
        return means[0], means[1]


def contrast_rows(
    contrasts: Sequence[tuple[Design, Sequence[Measured]]],
    covariates: Mapping[str, FloatArray],
    *,
    seed: int,
    declared: Mapping[str, str],
) -> tuple[list[Row], list[Row]]:
    """Rows of `results/contrasts.csv` and of `results/contrast_curves.csv`.

    Parameters
    ----------
    contrasts : sequence of (Design, sequence of Measured)
        The contrasts with their outcomes.
    covariates : mapping of str to ndarray of shape (n_trials,)
        Covariates that are values of trials.
    seed : int
        Seed of random flips.
    declared : mapping of str to str
        By contrast: frozen, or exploratory.
    """
    compared = [each for design, outcomes in contrasts for each in compared_outcomes(design, outcomes, covariates)]
    results = contrast_results([each.tested for each in compared], seed=seed) if compared else []
    rows: list[Row] = []
    curves: list[Row] = []
    for each, result in zip(compared, results, strict=True):
        rows.append({**each.about, "declared": declared[each.design.contrast.name], **_row(each, result)})
        if each.measured.percent.size:
            curves += _curve_rows(each, result)
    return rows, curves


def compared_outcomes(
    design: Design, outcomes: Sequence[Measured], covariates: Mapping[str, FloatArray]
) -> Iterator[Compared]:
    """Outcomes of a contrast with those of their terms."""
    for measured in outcomes:
        n_trials, n_terms, n_points = measured.values.shape
        used = np.asarray(~np.isnan(measured.values).all(axis=(1, 2)))
        matrix = np.column_stack([design.rows, covariates_of(design, covariates, used)])
        matrix[np.isnan(matrix).any(axis=1)] = np.nan
        rounding = ROUNDING * np.fmax.reduce(np.abs(measured.values), axis=None, initial=0.0)
        values = np.where(np.abs(measured.values) < rounding, 0.0, measured.values)
        together = values_of_subjects(design, values.reshape(n_trials, -1))
        for term in range(n_terms):
            of_term = slice(term * n_points, (term + 1) * n_points)
            subjects = SubjectValues(together.levels[..., of_term], together.n_trials, together.weights)
            errors = _errors(design, matrix, subjects, measured, term)
            tested = Comparison(
                matrix,
                subjects.values,
                family=design.contrast.family,
                shared_variance=np.nan_to_num([errors.shared_variance]) if errors else None,
                smallest_effect=measured.outcome.smallest_effect,
            )
            yield Compared(design, measured, term, subjects, errors, tested)


def _errors(
    design: Design, matrix: FloatArray, subjects: SubjectValues, measured: Measured, term: int
) -> ContrastErrors | None:
    """Variances of a contrast due to errors of the inputs; None where not known."""
    included = ~np.isnan(matrix).any(axis=1) & ~np.isnan(subjects.values[:, 0])
    if measured.effects is None or included.sum() < matrix.shape[1]:
        return None
    numbers = np.full(len(subjects.weights), -1)
    for number, cells in enumerate(design.cells):
        for trials in (level for side in cells for level in side):
            numbers[trials] = number if included[number] else -1
    used = (subjects.weights != 0.0) & (numbers >= 0)
    subject_weights = np.linalg.pinv(matrix[included])[0]
    return contrast_errors(
        measured.effects.change[used, term],
        measured.effects.owners,
        subjects=np.cumsum(included)[numbers[used]] - 1,
        sessions=np.asarray(measured.effects.sessions)[used],
        weights=subjects.weights[used],
        subject_weights=subject_weights,
    )


def _row(compared: Compared, result: Result) -> Row:
    """Row of `results/contrasts.csv`; of a curve without what is of a point."""
    design, measured, tested = compared.design, compared.measured, compared.tested
    is_curve = bool(measured.percent.size)
    first, second = compared.level_means
    smallest = tested.smallest_effect
    of_point = {"mean_first": first, "mean_second": second, **_of_result(result, CONTRAST_COLUMNS)}
    used = np.asarray(compared.known.any(axis=1))
    in_first = used & (tested.matrix[:, 0] == 1.0)
    paired = design.contrast.groups is None
    trials = all_trials(design)
    return {
        "first": design.contrast.levels[0],
        "second": design.contrast.levels[1],
        **{name: np.nan if is_curve else float(values[0]) for name, values in of_point.items()},
        "p_adjusted": _least(result.p_adjusted),
        "smallest_p": _least(result.smallest_p),
        "smallest_effect": np.nan if smallest is None else smallest,
        "n_subjects": int(used.sum()),
        "n_first": int(in_first.sum()),
        "n_second": int(used.sum() if paired else (used & ~in_first).sum()),
        "n_trials": int(compared.subjects.n_trials[used].sum()),
        "n_rejected": int(measured.rejected[trials].sum()),
        "shared_error": float(np.sqrt(compared.errors.shared_variance)) if compared.errors else np.nan,
        "own_error": compared.errors.own_sd if compared.errors else np.nan,
        "note": "; ".join(_notes(compared, result, used)),
    }


def _of_result(result: Result, columns: Sequence[Column]) -> dict[str, FloatArray]:
    """Columns that a result has, by name."""
    return {column.name: getattr(result, column.name) for column in columns if column.name in ARRAYS}


def _least(values: FloatArray) -> float:
    return float(np.fmin.reduce(np.atleast_1d(values), initial=np.nan))


def all_trials(design: Design) -> NDArray[np.int64]:
    """Numbers of all trials of a contrast."""
    trials = [level for cells in design.cells for side in cells for level in side]
    return np.concatenate([*trials, np.zeros(0, dtype=np.int64)]).astype(np.int64)


def _notes(compared: Compared, result: Result, used: BoolArray) -> Iterator[str]:
    """Why a contrast is not tested, where it differs, and who is left out."""
    design, percent = compared.design, compared.measured.percent
    if reason := why_nothing(result):
        yield reason
    elif percent.size:
        yield curve_sentence(percent, result.p_adjusted)
    elif result.disagreement:
        yield result.disagreement
    if compared.term == 0:
        yield from _doubts(compared, used)
    yield from (f"{name} left out: {reason}" for name, reason in design.left_out.items())
    for k in np.flatnonzero([bool(cells) for cells in design.cells] & ~used):
        rejected = any(compared.measured.rejected[level].all() for side in design.cells[k] for level in side)
        yield f"without a value: {design.subjects[k].name}{' (trials rejected)' if rejected else ''}"


def _doubts(compared: Compared, used: BoolArray) -> Iterator[str]:
    """Trials that are caution, and extremes that may be of different events."""
    design, measured = compared.design, compared.measured
    sides = [side for k in np.flatnonzero(used) for side in design.cells[k]]
    compares = design.contrast.conditions or design.contrast.sides or ("",)
    times = np.zeros(0)
    for number, name in enumerate(compares):
        trials = np.concatenate([np.zeros(0, dtype=np.int64), *(side[number] for side in sides)])
        trials = trials[(compared.subjects.weights[trials] != 0.0) & ~np.isnan(measured.values[trials, 0]).all(axis=1)]
        if measured.caution is not None and (n := int(measured.caution[trials].sum())):
            yield f"caution: {n} of {counted(len(trials), 'trial')}{f' of {name}' if name else ''}"
        if measured.at_percent is not None:
            times = np.append(times, measured.at_percent[trials])
    first, last = (float(end.reduce(times, initial=np.nan)) for end in (np.fmin, np.fmax))
    if last - first > APART:
        between = f"{first:.0f} to {last:.0f} %"
        yield f"extremes lie at {between} of the window, perhaps at different events: compare a part (window, between_percent)"


def why_nothing(result: Result) -> str:
    """Why nothing is tested, or can be found; empty where something can."""
    if result.reason or not _least(result.smallest_p) > LEVEL:
        return result.reason
    return f"cannot be found, whatever the data: the smallest p is {_least(result.smallest_p):.2g}"


def curve_sentence(percent: FloatArray, p_adjusted: FloatArray) -> str:
    """Parts of a curve that differ, with their smallest adjusted p.

    Examples
    --------
    >>> curve_sentence(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.2, 0.04, 0.01, 0.3]))
    'differs at 1 to 2 % (p = 0.01)'
    """
    below = np.concatenate([[False], p_adjusted <= LEVEL, [False]])
    starts, stops = np.flatnonzero(below[1:] & ~below[:-1]), np.flatnonzero(below[:-1] & ~below[1:])
    parts = [
        f"{' to '.join(dict.fromkeys(f'{percent[k]:g}' for k in (a, b - 1)))} % (p = {p_adjusted[a:b].min():.2g})"
        for a, b in zip(starts, stops, strict=True)
    ]
    return f"differs at {', '.join(parts)}" if parts else "no part of the curve differs"


def _curve_rows(compared: Compared, result: Result) -> Iterator[Row]:
    """Rows of `results/contrast_curves.csv`, one for each point."""
    (first, second), error = compared.level_means, result.standard_error
    points = {
        "percent": compared.measured.percent,
        "mean_first": first,
        "mean_second": second,
        **_of_result(result, CONTRAST_CURVE_COLUMNS),
        "threshold": np.multiply(result.threshold, error, out=np.full(len(error), np.nan), where=error > 0.0),
        "n_subjects": compared.known.sum(axis=0),
    }
    for k in range(len(first)):
        yield {**compared.about, **{name: values[k] for name, values in points.items()}}
