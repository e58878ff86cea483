"""Results of studies for a comparison with a reference, and its faults."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from limbtorque.arrays import FloatArray
from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.statistics.mean_and_spread import Moments, subject_value
from limbtorque.statistics.reference import CURVE, Shown, Side
from limbtorque.statistics.wording import GAIT_CYCLE, Percent
from limbtorque.study.options.reference import ENOUGH
from limbtorque.study.settings import Settings, load_settings
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import counted, listed, unit_of
from limbtorque.tables.effect_columns import EFFECT_TERMS
from limbtorque.tables.files import column_array, read_table
from limbtorque.tables.study_columns import CURVE_COLUMNS, GAIT_COLUMNS, RESULTS_COLUMNS, WINDOW_COLUMNS
from limbtorque.uncertainty.bands import added_errors, error_of_mean_curve
from limbtorque.workflow.curve_notes import study_table
from limbtorque.workflow.layout import CURVES_FILE, ENSEMBLE_TABLES, RESULTS, SETTINGS, STUDY_TABLES

WINDOWS, RESULTS_CSV = ENSEMBLE_TABLES["windows"].name, STUDY_TABLES["results"].name
FILES = f"curves/*/{CURVES_FILE}"
OF_CONDITION = "windows and joints of "
POINTS = "number of points (ensembles.n_points)"
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
OF_SIGN = ("name", "flexion_sagittal", "flexion_zero_deg", "flexion_right_horizontal", "sole")  # of angles, of a joint


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


def reference_files(study: Study) -> list[Path]:
    """Files of another study that the comparison reads."""
    folder = study.folder / study.settings.reference.results
    files = [*(folder / name for name in (WINDOWS, RESULTS_CSV, SETTINGS.name)), *sorted(folder.glob(FILES))]
    return files if study.settings.reference.results else []


def reference_faults(study: Study) -> Iterator[str]:
    """Sentences on a reference that cannot be one."""
    reference, folder = study.settings.reference, study.folder / study.settings.reference.results
    groups = sorted({trial.subject.group for trial in study.trials} - {""})
    if reference.is_set and not study.settings.ensembles.enabled:
        yield "reference needs curves; set ensembles.enabled: true"
    if reference.group and reference.group not in groups:
        known = f"expected one of {', '.join(map(repr, groups)) or 'none'}{did_you_mean(reference.group, groups)}"
        yield f"reference.group: no subject with trials has the group {reference.group!r}; {known}"
    if not reference.results:
        return
    where = f"reference.results {reference.results}"
    missing = [path.name for path in reference_files(study) if not path.is_file()]
    why = f"no {listed(missing)}" if missing else ""
    if folder.resolve() == (study.folder / RESULTS).resolve():
        why = "these are the results of this study (use reference.group)"
    if why:
        yield f"{where}: {why}; expected the results folder of another study with ensembles.enabled that has run"
        return
    try:
        theirs = _properties(load_settings(folder / SETTINGS.name), _measured(folder))
    except (SettingsError, ValueError, LookupError) as error:
        yield f"{where}: its tables and settings cannot be read: {error}"
        return
    ours = _properties(study.settings, map(_planned, study.trials))
    if not (ours.keys() & theirs.keys()) - {POINTS}:
        there = "; ".join(what.removeprefix(OF_CONDITION) for what in theirs if what != POINTS)
        yield f"{where}: no trial has a chain and condition of this study; there are {there or 'none'}"
    for what in (what for what in ours if what in theirs and ours[what] != theirs[what]):
        yield f"{where}: {what}: {theirs[what]}, expected {ours[what]} as in this study"


def percent_of(trial: Trial) -> Percent:
    """Meaning of 0 to 100 % of a trial."""
    options = trial.settings.ensembles
    return Percent(options.window, options.start_event, options.end_event)


def _planned(trial: Trial) -> tuple[str, ...]:
    """Chain, condition, subject and window of a trial."""
    percent = percent_of(trial)
    window = percent.what if percent.what == GAIT_CYCLE else percent.window
    return trial.chain, trial.condition, trial.subject.name, window


def _measured(results: Path) -> Iterator[tuple[str, ...]]:
    """Chain, condition, subject and window of each trial of results."""
    windows = _included(results, WINDOWS)
    of_cycle = windows["window"].where(windows[GAIT[1]].isna(), GAIT_CYCLE)
    return zip(windows["chain"], windows["condition"], windows["subject"], of_cycle, strict=True)


def _properties(settings: Settings, trials: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """Points of curves, and by condition the windows and what decides signs."""
    properties: dict[str, Any] = {POINTS: settings.ensembles.n_points}
    for chain, condition, window in sorted({(chain, condition, window) for chain, condition, _, window in trials}):
        joints = [[getattr(joint, name) for name in OF_SIGN] for joint in settings.chain(chain).joints]
        properties.setdefault(f"{OF_CONDITION}{chain}, {condition}", (joints, []))[1].append(window)
    return properties


def reference_notes(study: Study) -> Iterator[str]:
    """Sentences on a small reference, and on conditions that it does not have."""
    reference = study.settings.reference
    group = [_planned(trial) for trial in study.trials if reference.group and trial.subject.group == reference.group]
    members = {*(_measured(study.folder / reference.results) if reference.results else group)}
    for key in dict.fromkeys(_planned(trial)[:2] for trial in study.trials if reference.is_set):
        if (n := len({name for *of, name, _ in members if tuple(of) == key})) < ENOUGH:
            yield f"reference of {', '.join(key)}: {counted(n, 'subject')}, expected {ENOUGH} or more"
