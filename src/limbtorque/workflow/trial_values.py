"""Values of outcomes of all trials, from the tables of a study or of a job."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray
from pyarrow import compute

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.statistics.by_condition import included
from limbtorque.statistics.contrasts import Effects, Measured
from limbtorque.statistics.curve_values import value_of_curves
from limbtorque.study.options.contrasts import Outcome
from limbtorque.study.settings import Settings
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import unit_of
from limbtorque.tables.effect_columns import EFFECT_KEYS, EFFECT_STATISTICS, EFFECT_TERMS, owner_of_effect
from limbtorque.tables.files import column_array, read_rows
from limbtorque.tables.study_columns import STANCE
from limbtorque.workflow.layout import ENSEMBLE_TABLES, STUDY_TABLES, curves_path, effects_path
from limbtorque.workflow.stages.curves import columns, session_curves

OF_MUSCLES = "muscle_summary"
EXTREMES = ("max_nm", "min_nm")


class StudyFiles:
    """Tables in the files of a study.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Its folder.
    """

    def __init__(self, study: Study, folder: Path) -> None:
        self._study, self._folder = study, folder

    def summary(self, name: str, wanted: Sequence[str]) -> pd.DataFrame:
        """Columns of a summary."""
        return pd.read_csv(self._folder / STUDY_TABLES[name], usecols=list(wanted), engine="pyarrow")

    def effects(self, needed: compute.Expression) -> list[pa.Table]:
        """Effects of all sessions."""
        paths = (self._folder / effects_path(session) for session in self._study.batches)
        return [pyarrow.parquet.read_table(path, filters=needed) for path in paths]

    def windows(self) -> Mapping[str, Mapping[str, str]]:
        """Windows by trial."""
        return {row["trial"]: row for row in read_rows(self._folder / ENSEMBLE_TABLES["windows"])}

    def curves(self) -> Iterator[tuple[Trial, FloatArray]]:
        """Curves of all trials that have them."""
        n_points, windows = self._study.settings.ensembles.n_points, self.windows()
        for session, trials in self._study.batches.items():
            shown = [trial for trial in trials if windows[trial.name]["included"] == "1"]
            for trial, (values,) in session_curves(shown, self._folder / curves_path(session), n_points, ("value",)):
                yield trial, values


class TrialValues:
    """Values of outcomes of trials.

    Parameters
    ----------
    trials : sequence of Trial
        The trials.
    settings : Settings
        The study's settings.
    tables : StudyFiles
        Tables with rows of these trials, in files or in memory.
    """

    def __init__(self, trials: Sequence[Trial], settings: Settings, tables: StudyFiles) -> None:
        self._trials, self._settings, self._tables = trials, settings, tables
        self._row = {trial.name: k for k, trial in enumerate(trials)}
        self._outcomes = [outcome for each in settings.contrasts.declared for outcome in each.outcomes]
        self._mass_kg = np.array([trial.subject.mass_kg for trial in trials])

    @functools.cache  # noqa: B019 (as long as the job)
    def measured(self, chain: str, outcome: Outcome) -> Measured:
        """Values of an outcome of the trials of a chain."""
        return with_loads(self.of_each(chain, outcome), self._trials)

    def of_each(self, chain: str, outcome: Outcome) -> Measured:
        """Values with those of trials without load, whatever other trials have."""
        of_chain = np.array([trial.chain == chain for trial in self._trials])
        if outcome.quantity:
            return self._of_curves(chain, outcome, of_chain)
        return self._of_summary(outcome, of_chain)

    def of_windows(self, name: str) -> FloatArray:
        """Value of each trial in the table of windows; NaN where missing."""
        return np.array([float(self._windows[trial.name].get(name) or "nan") for trial in self._trials])

    def _of_summary(self, outcome: Outcome, of_chain: BoolArray) -> Measured:
        """Values of a statistic, of a net torque with its terms where these add up."""
        table, of_joint = (OF_MUSCLES, "muscle") if outcome.muscle else ("summary", "joint")
        whole = outcome.statistic.removesuffix("_kg")
        per_kg = self._mass_kg if whole != outcome.statistic else np.ones(len(self._row))
        with_terms = not outcome.muscle and outcome.term == "net" and whole in EFFECT_STATISTICS
        joint = outcome.muscle or outcome.joint
        rows = self._summary(table)
        rows = rows[(rows[of_joint] == joint) & ((rows["window"] == STANCE) == (outcome.window == "stance"))]
        rows = rows[rows["term"] == outcome.term] if not outcome.muscle else rows
        places = rows["trial"].map(self._row).to_numpy(dtype=int)
        n_trials, include = len(self._row), self._settings.ensembles.include
        usable, rejected, loaded, caution = (np.zeros(n_trials, dtype=bool) for _ in range(4))
        status = rows["muscle_status" if outcome.muscle else "torque_status"]
        usable[places] = [included(each, include) for each in status]
        rejected[places] = (status == "rejected").to_numpy()
        caution[places] = (status == "caution").to_numpy()
        usable &= of_chain
        if not outcome.muscle:
            loaded[places] = (rows["loaded_share"] > 0.0).to_numpy()
        terms = EFFECT_TERMS if with_terms else (outcome.term if not outcome.muscle else "",)
        values, effects = np.full((n_trials, len(terms), 1), np.nan), None
        if with_terms:
            values[..., 0], effects = self._effects(outcome, whole)
            values /= per_kg[:, None, None]
            effects = Effects(effects.change / per_kg[:, None, None], effects.owners, effects.sessions)
        else:
            values[places, 0, 0] = rows[outcome.statistic]
        values[~usable] = np.nan
        of_load = None if outcome.muscle else loaded & usable
        about = outcome, joint, unit_of(outcome.statistic), terms
        at_percent = np.full(n_trials, np.nan)
        if whole in EXTREMES and not outcome.muscle:
            at_percent[places] = rows[_time_of(whole)]
        doubts = caution, at_percent
        return Measured(*about, values, np.zeros(0), rejected & of_chain, effects, of_load, *doubts)

    @functools.cache  # noqa: B019
    def _summary(self, table: str) -> pd.DataFrame:
        """Columns of a summary that outcomes need."""
        of_table = [each for each in self._outcomes if bool(each.muscle) == (table == OF_MUSCLES)]
        about = (
            ("muscle", "muscle_status") if table == OF_MUSCLES else ("joint", "term", "torque_status", "loaded_share")
        )
        statistics = {each.statistic for each in of_table} - {""}
        times = {_time_of(name) for name in statistics if name.removesuffix("_kg") in EXTREMES}
        wanted = {"trial", "window", *about, *statistics, *times}
        return self._tables.summary(table, list(wanted))

    def _effects(self, outcome: Outcome, statistic: str) -> tuple[FloatArray, Effects]:
        """Values of a net torque and its terms, (n_trials, n_terms), with effects."""
        rows, owners = self._all_effects
        is_stance = np.asarray(rows["window"]) == STANCE
        chosen = (rows["joint"] == outcome.joint) & (rows["statistic"] == statistic)
        chosen &= is_stance == (outcome.window == "stance")
        table = np.full((len(self._row), len(EFFECT_TERMS), 1 + len(owners)), np.nan)
        table[rows["trial"][chosen], rows["term"][chosen]] = rows["numbers"][chosen]
        sessions = [trial.session for trial in self._trials]
        return table[..., 0], Effects(table[..., 1:], owners, sessions)

    @functools.cached_property
    def _all_effects(self) -> tuple[dict[str, NDArray[Any]], list[str]]:
        """Values and effects of all sessions that outcomes need; owners of the errors."""
        joints = pa.array({each.joint for each in self._outcomes})
        statistics = pa.array({each.statistic.removesuffix("_kg") for each in self._outcomes})
        needed = compute.field("joint").isin(joints) & compute.field("statistic").isin(statistics)
        tables = self._tables.effects(needed)
        keys = [column.name for column in EFFECT_KEYS]
        names = list(dict.fromkeys(name for table in tables for name in table.column_names if name not in keys))
        rows = {
            name: np.concatenate([np.array(table[name].to_pylist(), dtype=object) for table in tables])
            for name in ("trial", "window", "joint", "statistic", "term")
        }
        rows["trial"] = np.array([self._row[name] for name in rows["trial"]], dtype=int)
        rows["term"] = np.array([EFFECT_TERMS.index(name) for name in rows["term"]], dtype=int)
        rows["numbers"] = np.concatenate([_numbers(table, names) for table in tables])
        return rows, [owner_of_effect(name) for name in names]

    def _of_curves(self, chain: str, outcome: Outcome, of_chain: BoolArray) -> Measured:
        """Values of a quantity of the curves; of a net torque with its terms."""
        sample = next(trial for trial in self._trials if trial.chain == chain)
        quantities = columns(sample)
        names = [column.name for column in quantities]
        unit = quantities[names.index(outcome.quantity)].unit
        joints = sample.settings.chain(chain).joints
        joint = joints[names.index(outcome.quantity) * len(joints) // len(names)].name
        net, ending = outcome.quantity.partition("_torque_")[::2]
        is_net = ending in ("nm", "nm_kg")
        terms = EFFECT_TERMS if is_net else ("",)
        places = [[names.index(outcome.quantity)]]
        if is_net:
            starts = [f"{net}_torque_{term}_" for term in EFFECT_TERMS[1:]]
            places += [[k for k, name in enumerate(names) if name.startswith(start)] for start in starts]
        curves = self._curves[chain]
        values = np.stack([curves[:, of_term].sum(axis=1) for of_term in places], axis=1)
        if is_net:  # each is a spline through its known frames, those of the net torque end sooner
            values = np.where(np.isnan(values[:, :1]), np.nan, values)
            values[:, 0] = values[:, 1:].sum(axis=1)
        percent = np.linspace(0.0, 100.0, values.shape[2])
        windows = [self._windows[trial.name] for trial in self._trials]
        rejected = [joint in window["rejected_joints"].split() for window in windows]
        of_joint = self._summary("summary")
        of_joint = of_joint[(of_joint["joint"] == joint) & (of_joint["torque_status"] == "caution")]
        caution = np.isin(np.arange(len(self._row)), of_joint["trial"].map(self._row).to_numpy(dtype=int))
        values = value_of_curves(outcome, percent, values)
        values[~of_chain] = np.nan
        points = percent if outcome.is_curve else np.zeros(0)
        return Measured(outcome, joint, unit, terms, values, points, np.array(rejected) & of_chain, caution=caution)

    @functools.cached_property
    def _curves(self) -> Mapping[str, FloatArray]:
        """Curves of all trials by chain, shape (n_trials, n_quantities, n_points)."""
        n_points = self._settings.ensembles.n_points
        chains = {trial.chain: len(columns(trial)) for trial in self._trials}
        curves = {chain: np.full((len(self._row), n, n_points), np.nan) for chain, n in chains.items()}
        for trial, values in self._tables.curves():
            curves[trial.chain][self._row[trial.name]] = values.T
        return curves

    @functools.cached_property
    def _windows(self) -> Mapping[str, Mapping[str, str]]:
        return self._tables.windows()


def _time_of(statistic: str) -> str:
    """Column with the time of a maximum or minimum."""
    return f"{statistic[:3]}_time_percent"


def with_loads(measured: Measured, trials: Sequence[Trial]) -> Measured:
    """Values without trials of a swing only, where others have a known load.

    A swing whose stance was not measured is left out where others of its condition and side are measured.
    """
    if measured.loaded is None:
        return measured
    groups = [(trial.condition, trial.side) for trial in trials]
    with_load = {group for group, is_loaded in zip(groups, measured.loaded, strict=True) if is_loaded}
    left_out = ~measured.loaded & [group in with_load for group in groups]
    return replace(measured, values=np.where(left_out[:, None, None], np.nan, measured.values))


def _numbers(table: pa.Table, names: list[str]) -> FloatArray:
    """Values and effects of a session.

    0 for errors that none of its trials has, NaN where errors are not known.
    """
    there = [name for name in names if name in table.column_names]
    numbers = np.full((len(table), 1 + len(names)), 0.0 if there else np.nan)
    numbers[:, 0] = column_array(table, "value")[:, 0]
    for name in there:
        numbers[:, 1 + names.index(name)] = column_array(table, name)[:, 0]
    unknown = np.isnan(numbers[:, 1:]).any(axis=1)
    numbers[unknown, 1:] = np.nan
    return numbers
