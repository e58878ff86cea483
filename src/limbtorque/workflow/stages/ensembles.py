"""`results/curves` -> `ensembles.csv`, `windows.csv`: means and windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.errors import LimbtorqueError
from limbtorque.statistics.mean_and_spread import Moments, add, ensemble, no_moments, unit_of_spread
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.curve_columns import ENSEMBLE_COLUMNS, WINDOW_COLUMNS, curve_columns
from limbtorque.tables.files import column_values, make_table, read_table, repeated, table_of_rows, write_table
from limbtorque.workflow.layout import ENSEMBLE_TABLES, curves_path
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.session_record import SessionRecords
from limbtorque.workflow.stages.curves import columns, long_columns
from limbtorque.workflow.streams import say

Group = tuple[str, str, str]  # chain, condition, side


def run(*, folder: Path, key: str = "") -> None:
    """Make ensembles and windows, with one session's curves in memory at a time."""
    study = whole_study("ensembles", folder=folder, key=key)
    say(f"ensembles: {len(study.trials)} trials")
    records = SessionRecords(study, folder)
    rows: dict[str, dict[str, Any]] = {}
    groups: dict[Group, dict[str, Moments]]
    groups = {_group(trial): {} for trial in study.trials}  # in the order of the table
    for session, trials in study.batches.items():
        rows |= {trial.name: records.values("curves", trial) for trial in trials}
        shown = [trial for trial in trials if rows[trial.name]["included"]]
        for trial, values in _curves(shown, folder / curves_path(session), study.settings.ensembles.n_points):
            subjects = groups[_group(trial)]
            so_far = subjects.get(trial.subject.name) or no_moments(values.shape)
            subjects[trial.subject.name] = add(so_far, values)
    windows = table_of_rows(WINDOW_COLUMNS, [rows[trial.name] for trial in study.trials])
    write_table(windows, folder / ENSEMBLE_TABLES["windows"])
    rejected: Counter[tuple[str, ...]] = Counter(
        (*_group(trial), joint) for trial in study.trials for joint in rows[trial.name]["rejected_joints"].split()
    )
    write_table(_ensemble_table(study, groups, rejected), folder / ENSEMBLE_TABLES["ensembles"])


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


def _group(trial: Trial) -> Group:
    return trial.chain, trial.condition, trial.side


def _ensemble_table(
    study: Study, groups: Mapping[Group, Mapping[str, Moments]], rejected: Mapping[tuple[str, ...], int]
) -> pa.Table:
    """Rows of `results/ensembles.csv`, of the groups with a curve.

    `rejected` has the number of trials by chain, condition, side and joint.
    """
    options = study.settings.ensembles
    unit = unit_of_spread(options.spread_over, (trial.subject.name for trial in study.trials))
    tables = [make_table(ENSEMBLE_COLUMNS, {column.name: [] for column in ENSEMBLE_COLUMNS})]
    for (chain, condition, side), subjects in groups.items():
        if not subjects:
            continue
        found = ensemble(list(subjects.values()), spread_over=unit, min_units=options.min_units)
        joints = study.settings.chain(chain).joints
        quantities = curve_columns(joints, per_body_mass=options.per_body_mass)
        same = {"chain": chain, "condition": condition, "side": side, "spread_over": unit}
        data: dict[str, Any] = {name: repeated(value, found.mean.size) for name, value in same.items()}
        of_joint = [rejected.get((chain, condition, side, joint.name), 0) for joint in joints]
        data["n_rejected"] = np.repeat(of_joint, found.mean.size // len(joints))  # the quantities are joint by joint
        figures = {name: getattr(found, name).T.ravel() for name in ("mean", "sd", "n_trials", "n_subjects")}
        tables.append(make_table(ENSEMBLE_COLUMNS, {**data, **long_columns(quantities, options.n_points), **figures}))
    return pa.concat_tables(tables).combine_chunks()
