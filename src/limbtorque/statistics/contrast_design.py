"""Trials and subjects of a declared contrast, its faults, and its subject values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import did_you_mean
from limbtorque.statistics.by_condition import PEAK_OF
from limbtorque.statistics.mean_and_spread import Moments, subject_value
from limbtorque.study.options.contrasts import LEAST_GROUP, LEVEL, Contrast, Outcome
from limbtorque.study.subjects import Subject
from limbtorque.study.trials import Trial, subjects_of
from limbtorque.tables.column import counted, listed
from limbtorque.tables.contrast_columns import MEASURED_COVARIATES
from limbtorque.tables.frame_columns import term_columns
from limbtorque.tables.study_columns import MUSCLE_STATISTICS, STATISTICS, curve_columns

IntArray = NDArray[np.int64]
SIDES = ("left", "right")
_OTHER = {"left": "right", "right": "left", "": ""}


@dataclass(frozen=True)
class Design:
    """Trials of a contrast by subject, side and level.

    Attributes
    ----------
    contrast : Contrast
        The contrast.
    subjects : tuple of Subject
        All subjects of the study, in the order of its trials.
    cells : tuple of tuple of tuple of ndarray of int
        For each subject, a tuple for each side that it has in all levels: the trials, by their number in the study, of the
        first level and of the second; of groups alone there is one level.
    left_out : dict of str to str
        Subjects with trials that are not in it, and the reasons.
    """

    contrast: Contrast
    subjects: tuple[Subject, ...]
    cells: tuple[tuple[tuple[IntArray, ...], ...], ...]
    left_out: Mapping[str, str]

    @property
    def rows(self) -> FloatArray:
        """Model without covariates; NaN for subjects that are not in it.

        Shape (n_subjects, n_columns).
        """
        of_first = [self.contrast.groups is None or each.group == self.contrast.groups[0] for each in self.subjects]
        columns = [np.array(of_first, dtype=float), *[np.ones(len(self.subjects))] * bool(self.contrast.groups)]
        rows = np.column_stack(columns)
        rows[[not cells for cells in self.cells]] = np.nan
        return rows


def contrast_design(contrast: Contrast, trials: Sequence[Trial]) -> Design:
    """Trials of a contrast.

    Parameters
    ----------
    contrast : Contrast
        The contrast.
    trials : sequence of Trial
        All trials of the study.
    """
    subjects = subjects_of(trials)
    cells, left_out = [], {}
    for subject in subjects:
        by_side, reason = _sides_of(contrast, subject), ""
        members = [k for k, t in enumerate(trials) if t.subject.name == subject.name and t.chain == contrast.chain]
        in_group = contrast.groups is None or subject.group in contrast.groups
        own = []
        for levels in by_side if in_group else ():
            of_levels = [[k for k in members if (trials[k].condition, trials[k].side) == level] for level in levels]
            if all(of_levels):
                own.append(tuple(np.array(level) for level in of_levels))
        if in_group and members and not own:
            reason = _why_left_out(contrast, {trials[k].condition for k in members}, by_side)
            left_out[subject.name] = reason
        cells.append(tuple(own))
    return Design(contrast, subjects, tuple(cells), left_out)


def _sides_of(contrast: Contrast, subject: Subject) -> list[tuple[tuple[str, str], ...]]:
    """Condition and side of each level; none where a side is not given."""

    def side(name: str) -> str:
        given = {"affected": subject.affected_side, "dominant": subject.dominant_side}
        other = {"unaffected": "affected", "nondominant": "dominant"}.get(name)
        return _OTHER[given[other]] if other else given.get(name, name)

    if contrast.sides:
        levels = tuple((contrast.condition, side(name)) for name in contrast.sides)
        return [levels] if all(name for _, name in levels) else []
    conditions = contrast.conditions or (contrast.condition,)
    sides = SIDES if contrast.side == "mean" else filter(None, (side(contrast.side),))
    return [tuple((condition, name) for condition in conditions) for name in sides]


def _why_left_out(contrast: Contrast, conditions: Collection[str], by_side: Sequence[object]) -> str:
    wanted = contrast.conditions or (contrast.condition,)
    if not by_side:
        words = " ".join(contrast.sides or (contrast.side,))
        return f"subjects.csv has no {'affected' if 'affected' in words else 'dominant'}_side"
    if lacking := [condition for condition in wanted if condition not in conditions]:
        return f"no trial of condition {listed(lacking)}"
    return "no side with trials of everything that is compared"


@dataclass(frozen=True)
class SubjectValues:
    """Values of subjects in a contrast.

    Attributes
    ----------
    levels : ndarray of shape (n_levels, n_subjects, n_values)
        Means of each level; NaN where a subject has none.
    n_trials : ndarray of int, shape (n_subjects,)
        Trials with a value.
    weights : ndarray of shape (n_trials,)
        Weight of each trial in the value of its subject, negative in the second level; 0 where it is not used.
    """

    levels: FloatArray
    n_trials: IntArray
    weights: FloatArray

    @property
    def values(self) -> FloatArray:
        """Value of each subject: first level minus second, shape (n_subjects, n_values)."""
        return np.asarray(self.levels[0] - self.levels[1] if len(self.levels) > 1 else self.levels[0])


def values_of_subjects(design: Design, values: FloatArray) -> SubjectValues:
    """Values of subjects in a contrast, from those of their trials.

    Parameters
    ----------
    design : Design
        Trials of the contrast.
    values : ndarray of shape (n_trials, n_values)
        Values of all trials of the study; a trial of which all are NaN is not used.

    Notes
    -----
    A subject has a value only where all its used trials have one, and of the sides that it has in all levels.
    """
    n_levels = 2 if design.contrast.is_paired else 1
    used = np.asarray(~np.isnan(values).all(axis=1))
    levels = np.full((n_levels, len(design.cells), values.shape[1]), np.nan)
    n_trials, weights = np.zeros(len(design.cells), dtype=np.int64), np.zeros(len(values))
    for subject, cells in enumerate(design.cells):
        sides = [tuple(level[used[level]] for level in side) for side in cells]
        sides = [side for side in sides if all(level.size for level in side)]
        for k in range(n_levels if sides else 0):
            mean = subject_value([Moments.of(values[side[k]]) for side in sides])
            n = sum(side[k].size for side in sides)
            levels[k, subject] = np.where(mean.n == n, mean.mean, np.nan)
            n_trials[subject] += n
            for side in sides:
                weights[side[k]] = (1.0, -1.0)[k] / (len(sides) * side[k].size)
    return SubjectValues(levels, n_trials, weights)


def contrast_faults(
    contrast: Contrast, trials: Sequence[Trial], *, muscles: Mapping[str, Collection[str]]
) -> Iterator[str]:
    """Sentences on what a contrast names and the tables do not have.

    Parameters
    ----------
    contrast : Contrast
        The contrast.
    trials : sequence of Trial
        All trials of the study.
    muscles : mapping of str to collection of str
        Names of the muscles of each chain.
    """
    where = f"contrast {contrast.name!r}"
    own = [trial for trial in trials if trial.chain == contrast.chain]
    chains = sorted({trial.chain for trial in trials})
    if not own:
        yield f"{where}: no trial has the chain {_unknown(contrast.chain, chains)}"
        return
    known_conditions = sorted({trial.condition for trial in own})
    for condition in contrast.conditions or (contrast.condition,):
        if condition not in known_conditions:
            yield f"{where}: no trial of the {contrast.chain} has the condition {_unknown(condition, known_conditions)}"
            return
    known_groups = sorted({trial.subject.group for trial in own} - {""})
    for group in contrast.groups or ():
        if group not in known_groups:
            yield f"{where}: no subject with trials has the group {_unknown(group, known_groups)}"
            return
    for outcome in contrast.outcomes:
        if fault := _outcome_fault(outcome, own[0], muscles.get(contrast.chain, ())):
            yield f"{where}: {fault}"
    design = contrast_design(contrast, trials)
    yield from (f"{where}: {fault}" for fault in _subject_faults(design))
    yield from (f"{where}: {fault}" for name in contrast.covariates if (fault := _covariate_fault(design, name)))
    if not own[0].settings.ensembles.enabled and {*contrast.covariates} & {*MEASURED_COVARIATES}:
        yield f"{where}: covariates of windows.csv need ensembles.enabled: true"


def _unknown(name: str, known: Collection[str]) -> str:
    return f"{name!r}; expected one of {', '.join(map(repr, known)) or 'none'}{did_you_mean(name, known)}"


def _outcome_fault(outcome: Outcome, trial: Trial, muscles: Collection[str]) -> str:
    """Sentence on an unknown part of an outcome; empty where all is known."""
    options, joints = trial.settings.ensembles, trial.settings.chain(trial.chain).joints
    names = [joint.name for joint in joints]
    if outcome.statistic in {f"{name}{per}" for name in PEAK_OF for per in ("", "_kg")}:
        return f"{outcome.statistic} is refused: in some trials it is a peak in flexion, in others in extension; use max_ or min_"
    statistics = [column.name for column in (MUSCLE_STATISTICS if outcome.muscle else STATISTICS)]
    terms = ["net", *(column.name.split("_torque_")[1][:-3] for column in term_columns(names[0], names))]
    quantities = [column.name for column in curve_columns(joints, per_body_mass=options.per_body_mass)]
    for what, name, known in (
        ("statistic", outcome.statistic, statistics),
        ("joint", outcome.joint, names),
        ("muscle", outcome.muscle, muscles),
        ("term", outcome.term, terms),
        ("quantity", outcome.quantity, quantities),
    ):
        if name and name not in known:
            return f"there is no {what} {_unknown(name, known)}"
    if outcome.quantity and not options.enabled:
        return f"{outcome.quantity} needs curves; set ensembles.enabled: true"
    low, high = outcome.between_percent or (0.0, 100.0)
    if np.ptp(np.floor(np.array([low, high]) / 100.0 * (options.n_points - 1))) < 1.0:
        return f"{low:g} to {high:g} % has no two of the {options.n_points} points of a curve (ensembles.n_points)"
    return ""


def _subject_faults(design: Design) -> Iterator[str]:
    """Sentences on too few subjects."""
    included = [subject for subject, cells in zip(design.subjects, design.cells, strict=True) if cells]
    left_out = "; ".join(f"{name}: {reason}" for name, reason in design.left_out.items())
    why = f" ({left_out})" if left_out else ""
    for group in design.contrast.groups or (None,):
        of_group = [subject.name for subject in included if group in (None, subject.group)]
        if len(of_group) < 2:
            has = f"only subject {of_group[0]} is" if of_group else "no subject is"
            yield f"{has} {f'in group {group!r}' if group else 'in everything compared'}, expected two or more{why}"


def _covariate_fault(design: Design, name: str) -> str:
    """Sentence on an unknown, missing or constant covariate; empty if usable."""
    included = [subject for subject, cells in zip(design.subjects, design.cells, strict=True) if cells]
    columns = sorted({column for subject in design.subjects for column in subject.covariates})
    if name in MEASURED_COVARIATES:
        return ""
    if name not in columns:
        return f"there is no covariate {_unknown(name, [*columns, *MEASURED_COVARIATES])}"
    if not design.contrast.groups:
        return f"covariate {name} is the same in everything that a subject compares; expected one of windows.csv"
    values = {subject.name: subject.covariates[name] for subject in included}
    if lacking := [subject for subject, value in values.items() if np.isnan(value)]:
        return f"covariate {name} is missing for {listed(lacking)}; fill it in, or remove the covariate"
    if len(set(values.values())) == 1:
        return f"covariate {name} is {next(iter(values.values())):g} in all subjects; remove it"
    return ""


def contrast_notes(contrast: Contrast, trials: Sequence[Trial]) -> Iterator[str]:
    """Sentences on subjects left out of a contrast, and on what it cannot find."""
    where, design = f"contrast {contrast.name!r}", contrast_design(contrast, trials)
    for name, reason in design.left_out.items():
        yield f"{where}: subject {name} is left out: {reason}"
    included = [subject for subject, cells in zip(design.subjects, design.cells, strict=True) if cells]
    for group in contrast.groups or ():
        n = sum(subject.group == group for subject in included)
        if n < LEAST_GROUP:
            yield f"{where}: estimate and interval only: group {group!r} has {counted(n, 'subject')}, a test needs {LEAST_GROUP}"
    smallest = 2.0 ** (1 - len(included))
    if not contrast.groups and smallest > LEVEL:
        many = counted(len(included), "subject")
        yield f"{where}: with {many}, or fewer once trials are rejected, nothing can be found, whatever the data: p is {smallest:.2g} or more"


def covariates_of(design: Design, measured: Mapping[str, FloatArray], used: BoolArray) -> FloatArray:
    """Covariates of subjects, shape (n_subjects, n_covariates).

    Parameters
    ----------
    design : Design
        The contrast.
    measured : mapping of str to ndarray of shape (n_trials,)
        Values of trials, by the name of the covariate: of pairs the subject's difference counts, which is not centred (the
        effect at equal values).
    used : ndarray of bool, shape (n_trials,)
        Trials with a value of the outcome: the covariate is that of the same trials.
    """
    same = np.where(used, 1.0, np.nan)
    columns = [
        values_of_subjects(design, same[:, None] * np.column_stack([np.ones(len(used)), measured[name]])).values[:, 1]
        if name in measured
        else np.array([subject.covariates[name] for subject in design.subjects])
        for name in design.contrast.covariates
    ]
    return np.column_stack(columns) if columns else np.zeros((len(design.subjects), 0))
