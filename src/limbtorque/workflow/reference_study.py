"""Results of studies for a comparison with a reference."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd

from limbtorque.arrays import FloatArray
from limbtorque.statistics.mean_and_spread import Moments, subject_value
from limbtorque.statistics.reference import CURVE, Shown, Side
from limbtorque.study.settings import Settings
from limbtorque.tables.column import unit_of
from limbtorque.tables.effect_columns import EFFECT_TERMS
from limbtorque.tables.files import column_array, read_table
from limbtorque.tables.study_columns import CURVE_COLUMNS, GAIT_COLUMNS, RESULTS_COLUMNS, WINDOW_COLUMNS
from limbtorque.uncertainty.bands import added_errors, error_of_mean_curve
from limbtorque.workflow.curve_notes import study_table
from limbtorque.workflow.reference_faults import FILES, RESULTS_CSV, WINDOWS

ABOUT, NUMERIC = (
    [c.name for c in CURVE_COLUMNS if (c.kind is str) == text and c.name != "percent"] for text in (True, False)
)
OF_SIDE = ["chain", "condition", "subject", "side"]
GAIT = [column.name for column in GAIT_COLUMNS]
NUMBERS = [
    column.name for column in RESULTS_COLUMNS if column.name.endswith(("peak_nm_kg", "work_j_kg"))
]  # of each joint
PARTS = (  # of the quantities of curves that are added up: quantity, term, beginning of their names after the joint, unit
    ("flexion", "", "flexion_deg", "deg"),
    ("torque", "net", "torque_nm", "N m/kg"),
    *(("torque", term, f"torque_{term}_", "N m/kg") for term in EFFECT_TERMS[1:]),
    ("power", "", "power_w", "W/kg"),
)


def sides_of_results(results: Path, settings: Settings, chains: Collection[str]) -> list[Side]:
    """Means of each side of each subject of a study, by condition.

    Parameters
    ----------
    results : Path
        Folder of its results.
    settings : Settings
        Its settings.
    chains : collection of str
        Chains that are wanted.
    """
    windows, of_joints = (_included(results, name) for name in (WINDOWS, RESULTS_CSV))
    gait = windows.groupby(OF_SIDE)[GAIT].mean().to_dict("index")
    numbers = of_joints.groupby([*OF_SIDE, "joint"])[NUMBERS].mean().to_dict("index")
    heads, curves = _curves(results, settings.ensembles.n_points)
    if not settings.ensembles.per_body_mass:
        mass_kg = heads["trial"].map(of_joints.groupby("trial")["body_mass_kg"].first())
        curves /= np.where(heads["unit"].isin(("N m", "W")), mass_kg, 1.0)[:, np.newaxis, np.newaxis]
    heads = heads[heads["trial"].isin(windows["trial"]) & heads["chain"].isin(chains)]
    sides = []
    for key, rows in heads.groupby(OF_SIDE, sort=False):
        chain, condition, subject, side = map(str, key)
        joints, n_trials = [joint.name for joint in settings.chain(chain).joints], rows["trial"].nunique()
        names = rows["quantity"].iloc[: len(rows) // n_trials].tolist()
        means = _means(curves[rows.index].reshape(n_trials, len(names), *curves.shape[1:]), names, joints)
        for joint in (*joints, ""):
            for name, value in (numbers[*key, joint] if joint else gait[key]).items():
                means[Shown(joint, str(name), "", "mean", unit_of(str(name)))] = np.array([[value], [np.nan]])
        sides.append(Side(chain, condition, subject, side, n_trials, gait[key][GAIT[0]], means))
    return sides


def _included(results: Path, name: str) -> pd.DataFrame:
    """Rows of trials with a window in a table of the study."""
    windows = study_table(results / WINDOWS, WINDOW_COLUMNS)
    table = windows if name == WINDOWS else study_table(results / name, RESULTS_COLUMNS)
    return table[table["trial"].isin(windows.loc[windows["included"] == 1, "trial"])]


def _curves(results: Path, n_points: int) -> tuple[pd.DataFrame, FloatArray]:
    """Trial and quantity of each curve, and the curves with errors, (n, n_points, 4)."""
    heads, curves = [], []
    for path in sorted(results.glob(FILES)):
        table = read_table(path)[0]
        heads.append(table.select(ABOUT).take(np.arange(0, len(table), n_points)).to_pandas())
        curves.append(column_array(table, *NUMERIC).reshape(-1, n_points, len(NUMERIC)))
    return pd.concat(heads, ignore_index=True), np.concatenate(curves)


def _means(curves: FloatArray, names: list[str], joints: list[str]) -> dict[Shown, FloatArray]:
    """Mean curves and extreme angles of a side, with their errors.

    Shapes (2, n_points), from (n_trials, n_quantities, n_points, 4).
    """
    values, sd = curves[..., 0], np.moveaxis(curves[..., 1:], -1, 1)
    moments, sums = Moments.of(values), np.zeros(sd.shape[1:])
    for of_trial, of_errors in zip(values, sd, strict=True):
        sums = added_errors(sums, of_trial, of_errors)
    error = error_of_mean_curve([sums], [moments.n], over_subjects=True)
    both = np.stack([subject_value([moments]).known_mean, error], axis=1)
    means = {}
    for joint in joints:
        for quantity, term, start, unit in PARTS:
            places = [k for k, name in enumerate(names) if name.startswith(f"{joint}_{start}")]
            means[Shown(joint, quantity, term, CURVE, unit)] = both[places].sum(axis=0)
        flexion = values[:, names.index(f"{joint}_flexion_deg")]
        for extreme, of_trials in (("max", flexion.max(axis=1)), ("min", flexion.min(axis=1))):
            mean = subject_value([Moments.of(of_trials)]).known_mean
            means[Shown(joint, "flexion", "", extreme, "deg")] = np.array([[mean], [np.nan]])
    return means
