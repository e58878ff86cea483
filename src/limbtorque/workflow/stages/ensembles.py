"""`results/curves` -> `ensembles.csv`, `windows.csv`: means and windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.statistics.mean_and_spread import Moments, add, both_sides, ensemble, no_moments, unit_of_spread
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.files import make_table, repeated, table_of_rows, write_table
from limbtorque.tables.study_columns import BOTH, ENSEMBLE_COLUMNS, OWNERS, WINDOW_COLUMNS, curve_columns
from limbtorque.uncertainty.bands import added_errors, error_of_mean_curve
from limbtorque.workflow.layout import ENSEMBLE_TABLES, curves_path
from limbtorque.workflow.operating_system import say
from limbtorque.workflow.records import SessionRecords
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.stages.curves import long_columns, session_curves

Group = tuple[str, str, str]  # chain, condition, side
Groups = dict[Group, dict[str, tuple[Moments, FloatArray]]]  # with sums of values and of errors by subject


def run(*, folder: Path, key: str = "") -> None:
    """Write ensembles and windows, with one session's curves in memory at a time."""
    study = whole_study("ensembles", folder=folder, key=key)
    say(f"ensembles: {len(study.trials)} trials")
    records = SessionRecords(study, folder)
    rows: dict[str, dict[str, Any]] = {}
    groups: Groups = {_group(trial): {} for trial in study.trials}  # in the order of the table
    for session, trials in study.batches.items():
        rows |= {trial.name: records.values("curves", trial) for trial in trials}
        shown = [trial for trial in trials if rows[trial.name]["included"]]
        names = ("value", *(column.name for column in OWNERS))
        n_points = study.settings.ensembles.n_points
        for trial, (values, *of_owners) in session_curves(shown, folder / curves_path(session), n_points, names):
            sd = np.stack(of_owners)
            subjects, subject = groups[_group(trial)], trial.subject.name
            moments, errors = subjects.get(subject) or (no_moments(values.shape), np.zeros(sd.shape))
            subjects[subject] = add(moments, values), added_errors(errors, values, sd)
    windows = table_of_rows(WINDOW_COLUMNS, [rows[trial.name] for trial in study.trials])
    write_table(windows, folder / ENSEMBLE_TABLES["windows"])
    rejected: Counter[tuple[str, ...]] = Counter(
        (trial.chain, trial.condition, side, joint)
        for trial in study.trials
        for joint in rows[trial.name]["rejected_joints"].split()
        for side in (trial.side, BOTH)
    )
    write_table(_ensemble_table(study, groups, rejected), folder / ENSEMBLE_TABLES["ensembles"])


def _group(trial: Trial) -> Group:
    return trial.chain, trial.condition, trial.side


def _ensemble_table(study: Study, groups: Groups, rejected: Mapping[tuple[str, ...], int]) -> pa.Table:
    """Rows of `results/ensembles.csv`, of the groups with a curve.

    `rejected` has the number of trials by chain, condition, side and joint.
    """
    options = study.settings.ensembles
    unit = unit_of_spread(options.spread_over, (trial.subject.name for trial in study.trials))
    averaged: Groups = {}
    for pair in dict.fromkeys(group[:2] for group in groups):
        sides = [subjects for group, subjects in groups.items() if group[:2] == pair and subjects]
        names = dict.fromkeys(name for subjects in sides for name in subjects) if len(sides) > 1 else ()
        of_sides = {name: [subjects[name] for subjects in sides if name in subjects] for name in names}
        averaged[*pair, BOTH] = {name: both_sides(own, spread_over=unit) for name, own in of_sides.items()}
    tables = [make_table(ENSEMBLE_COLUMNS, {column.name: [] for column in ENSEMBLE_COLUMNS})]
    for (chain, condition, side), subjects in {**groups, **averaged}.items():
        if not subjects:
            continue
        moments, errors = zip(*subjects.values(), strict=True)
        found = ensemble(moments, spread_over=unit, min_units=options.min_units)
        joints = study.settings.chain(chain).joints
        quantities = curve_columns(joints, per_body_mass=options.per_body_mass)
        same = {"chain": chain, "condition": condition, "side": side, "spread_over": unit}
        data: dict[str, Any] = {name: repeated(value, found.mean.size) for name, value in same.items()}
        of_joint = [rejected.get((chain, condition, side, joint.name), 0) for joint in joints]
        data["n_rejected"] = np.repeat(of_joint, found.mean.size // len(joints))  # the quantities are joint by joint
        figures = {field.name: getattr(found, field.name).T.ravel() for field in fields(found)}
        numbers = [of_subject.n for of_subject in moments]
        error = error_of_mean_curve(errors, numbers, over_subjects=unit == "subjects")
        figures["mean_error"] = np.where(np.isnan(found.mean), np.nan, error).T.ravel()
        tables.append(make_table(ENSEMBLE_COLUMNS, {**data, **long_columns(quantities, options.n_points), **figures}))
    return pa.concat_tables(tables).combine_chunks()
