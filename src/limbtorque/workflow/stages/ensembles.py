"""`results/curves` -> `ensembles.csv`, `windows.csv`: means and windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.errors import LimbtorqueError
from limbtorque.statistics.mean_and_spread import Moments, add, ensemble, no_moments
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.curve_columns import ENSEMBLE_COLUMNS, WINDOW_COLUMNS, curve_columns
from limbtorque.tables.files import column_values, make_table, read_table, table_of_rows, write_table
from limbtorque.workflow.layout import ENSEMBLE_TABLES, curves_path
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.session_record import SessionRecords
from limbtorque.workflow.stages.curves import columns, long_columns
from limbtorque.workflow.streams import say


def run(*, folder: Path, key: str = "") -> None:
    """Make ensembles and windows, with one session's curves in memory at a time."""
    study = whole_study("ensembles", folder=folder, key=key)
    say(f"ensembles: {len(study.trials)} trials")
    records = SessionRecords(study, folder)
    rows: dict[str, dict[str, Any]] = {}
    groups: dict[tuple[str, str, str], dict[str, Moments]]
    groups = {(trial.chain, trial.condition, trial.side): {} for trial in study.trials}  # in the order of the table
    for session, trials in study.batches.items():
        rows |= {trial.name: records.values("curves", trial) for trial in trials}
        shown = [trial for trial in trials if rows[trial.name]["included"]]
        for trial, values in _curves(shown, folder / curves_path(session), study.settings.ensembles.n_points):
            subjects = groups[trial.chain, trial.condition, trial.side]
            so_far = subjects.get(trial.subject.name) or no_moments(values.shape)
            subjects[trial.subject.name] = add(so_far, values)
    windows = table_of_rows(WINDOW_COLUMNS, [rows[trial.name] for trial in study.trials])
    write_table(windows, folder / ENSEMBLE_TABLES["windows"])
    write_table(
        _ensemble_table(study, {group: subjects for group, subjects in groups.items() if subjects}),
        folder / ENSEMBLE_TABLES["ensembles"],
    )


def _curves(trials: list[Trial], path: Path, n_points: int) -> Iterator[tuple[Trial, FloatArray]]:
    """Curves of each trial of a session, shape (n_points, n_quantities)."""
    values = column_values(read_table(path, columns=["value"])[0], "value")
    ends = np.cumsum([0, *(n_points * len(columns(trial)) for trial in trials)])
    if values.size != ends[-1]:
        raise LimbtorqueError(
            f"{path}: {values.size} values, expected {ends[-1]} of {len(trials)} trials; run the study again"
        )
    for trial, start, end in zip(trials, ends[:-1], ends[1:], strict=True):
        yield trial, values[start:end].reshape(-1, n_points).T


def _ensemble_table(study: Study, groups: Mapping[tuple[str, str, str], Mapping[str, Moments]]) -> pa.Table:
    options = study.settings.ensembles
    tables = [make_table(ENSEMBLE_COLUMNS, {column.name: [] for column in ENSEMBLE_COLUMNS})]
    for (chain, condition, side), subjects in groups.items():
        found = ensemble(list(subjects.values()), spread_over=options.spread_over)
        quantities = curve_columns(study.settings.chain(chain).joints, per_body_mass=options.per_body_mass)
        same = {"chain": chain, "condition": condition, "side": side}
        data = {name: pa.repeat(text, found.mean.size) for name, text in same.items()}
        figures = {name: getattr(found, name).T.ravel() for name in ("mean", "sd", "n_trials", "n_subjects")}
        tables.append(make_table(ENSEMBLE_COLUMNS, {**data, **long_columns(quantities, options.n_points), **figures}))
    return pa.concat_tables(tables).combine_chunks()
