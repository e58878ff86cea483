"""Curves of a study's results, for a comparison with a reference, and its faults."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.statistics.reference import Shown, Sides, TrialCurves, shown_curves, sides_of
from limbtorque.statistics.wording import GAIT_CYCLE, Percent
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.reference import ENOUGH
from limbtorque.study.settings import Settings, load_settings
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import counted, listed
from limbtorque.tables.files import column_array, read_rows, read_table
from limbtorque.tables.study_columns import GAIT_COLUMNS, OWNERS
from limbtorque.workflow.layout import CURVES_FILE, ENSEMBLE_TABLES, RESULTS, SETTINGS, STUDY_TABLES

WINDOWS = ENSEMBLE_TABLES["windows"].name
ABOUT = ("trial", "subject", "chain", "condition", "side", "quantity")
OF_SIGN = (
    "name",
    "flexion_sagittal",
    "flexion_zero_deg",
    "flexion_right_horizontal",
    "sole",
)  # of a joint: its angle and sign


def sides_of_results(results: Path, settings: Settings, chains: Collection[str]) -> Sides:
    """Means of each side of each subject of a study.

    Parameters
    ----------
    results : Path
        Folder of its results.
    settings : Settings
        Its settings.
    chains : collection of str
        Chains that are wanted.
    """
    joints = {chain: [joint.name for joint in settings.chain(chain).joints] for chain in chains}
    least = settings.ensembles.min_known_share
    return sides_of(_trial_curves(results, settings, joints), joints, min_known_share=least)


def _trial_curves(results: Path, settings: Settings, joints: Mapping[str, list[str]]) -> Iterator[TrialCurves]:
    """Curves of the trials with a window."""
    windows = {row["trial"]: row for row in read_rows(results / WINDOWS) if row["included"] == "1"}
    mass_kg = {row["trial"]: float(row["body_mass_kg"]) for row in read_rows(results / STUDY_TABLES["results"].name)}
    n_points = settings.ensembles.n_points
    for path in curve_files(results):
        table = read_table(path, columns=[*ABOUT, "value", *(owner.name for owner in OWNERS)])[0]
        heads = table.select(ABOUT).take(np.arange(0, len(table), n_points)).to_pylist()
        numbers = column_array(table, "value", *(owner.name for owner in OWNERS)).reshape(len(heads), n_points, -1)
        start = 0
        for trial, rows in itertools.groupby(heads, key=itemgetter("trial")):
            names = [row["quantity"] for row in rows]
            of_trial, about = numbers[start : start + len(names)], heads[start]
            start += len(names)
            if trial in windows and about["chain"] in joints:
                per = 1.0 if settings.ensembles.per_body_mass else mass_kg[trial]
                shown = [_sum(names, of_trial, curve, per) for curve in shown_curves(joints[about["chain"]])]
                gait = np.array([float(windows[trial][column.name] or "nan") for column in GAIT_COLUMNS])
                values, *sd = np.moveaxis(np.stack(shown), 2, 0)
                where = (about[name] for name in ABOUT[1:5])
                yield TrialCurves(*where, values, np.stack(sd), gait)


def _sum(names: list[str], numbers: FloatArray, shown: Shown, mass_kg: float) -> FloatArray:
    """Curve with its errors, (n_points, 4): of a kind of terms their sum."""
    joint, quantity, term, *_ = shown
    start = f"{joint}_{quantity}_{'' if term in ('', 'net') else f'{term}_'}"
    of_unit = ("deg", "w", "w_kg") if not term else ("nm", "nm_kg")
    places = [
        k
        for k, name in enumerate(names)
        if name.startswith(start) and (name.removeprefix(start) in of_unit or term not in ("", "net"))
    ]
    return np.asarray(numbers[places].sum(axis=0) / (1.0 if quantity == "flexion" else mass_kg))


def curve_files(results: Path) -> list[Path]:
    """Curves of each session of a study."""
    return sorted(results.glob(f"curves/*/{CURVES_FILE}"))


def reference_files(study: Study) -> list[Path]:
    """Files of another study that the comparison reads."""
    if not study.settings.reference.results:
        return []
    folder = study.folder / study.settings.reference.results
    names = (WINDOWS, STUDY_TABLES["results"].name, SETTINGS.name)
    return [*(folder / name for name in names), *curve_files(folder)]


def reference_faults(study: Study) -> Iterator[str]:
    """Sentences on a reference that cannot be one."""
    reference, settings = study.settings.reference, study.settings
    if not reference.is_set:
        return
    if not settings.ensembles.enabled:
        yield "reference needs curves; set ensembles.enabled: true"
    groups = sorted({trial.subject.group for trial in study.trials} - {""})
    if reference.group and reference.group not in groups:
        known = ", ".join(map(repr, groups)) or "none"
        hint = did_you_mean(reference.group, groups)
        yield f"reference.group: no subject with trials has the group {reference.group!r}; expected one of {known}{hint}"
    if reference.results:
        yield from (f"reference.results {reference.results}: {fault}" for fault in _faults_of_results(study))


def reference_notes(study: Study) -> Iterator[str]:
    """Sentences on a small reference, and on conditions that it does not have."""
    reference = study.settings.reference
    if reference.group:
        trials = [trial for trial in study.trials if trial.subject.group == reference.group]
        subjects = [(trial.subject.name, trial.chain, trial.condition) for trial in trials]
    elif reference.results:
        rows = read_rows(study.folder / reference.results / WINDOWS)
        subjects = [(row["subject"], row["chain"], row["condition"]) for row in rows if row["included"] == "1"]
    else:
        return
    for chain, condition in dict.fromkeys((trial.chain, trial.condition) for trial in study.trials):
        n = len({name for name, *key in subjects if key == [chain, condition]})
        if n < ENOUGH:
            of = f"{chain}, {condition}" if condition else chain
            yield f"reference of {of}: {counted(n, 'subject')}, expected {ENOUGH} or more" + (
                "" if n else "; nothing is compared"
            )


def _faults_of_results(study: Study) -> Iterator[str]:
    """Sentences on the results of another study: missing, or not comparable."""
    folder, options = study.folder / study.settings.reference.results, study.settings.ensembles
    if folder.resolve() == (study.folder / RESULTS).resolve():
        yield "these are the results of this study; name a group of its subjects (reference.group)"
        return
    if missing := [path.name for path in reference_files(study) if not path.is_file()]:
        yield f"{listed(missing)} not there; expected the results folder of a study with ensembles.enabled that has run"
        return
    try:
        other = load_settings(folder / SETTINGS.name)
    except SettingsError as error:
        yield f"its settings are not those of this version: {error}"
        return
    rows = [row for row in read_rows(folder / WINDOWS) if row["included"] == "1"]
    own = {(trial.chain, trial.condition) for trial in study.trials}
    common = own & {(row["chain"], row["condition"]) for row in rows}
    if not common:
        theirs = sorted({f"{row['chain']}, {row['condition']}" for row in rows})
        yield f"no trial has a chain and condition of this study; there are {'; '.join(theirs) or 'no curves'}"
    if other.ensembles.n_points != options.n_points:
        yield f"its curves have {other.ensembles.n_points} points, expected {options.n_points} (ensembles.n_points)"
    for chain in sorted({chain for chain, _ in common}):
        if chain not in other.chain_names or _of_sign(other.chain(chain)) != _of_sign(study.settings.chain(chain)):
            yield f"its chain {chain} has other joints, signs or zeros of angles (chains) than that of this study"
    for chain, condition in sorted(common):
        windows = {_window_of_row(row) for row in rows if (row["chain"], row["condition"]) == (chain, condition)}
        trials = [trial for trial in study.trials if (trial.chain, trial.condition) == (chain, condition)]
        if windows != (expected := {_window_of_trial(trial) for trial in trials}):
            yield (
                f"curves of {chain}, {condition} are over: {listed(sorted(windows))}, expected: {listed(sorted(expected))} "
                "(ensembles.window)"
            )


def _of_sign(model: ChainModel) -> list[tuple[Any, ...]]:
    """Joints of a chain, with what decides angles and signs."""
    return [tuple(getattr(joint, name) for name in OF_SIGN) for joint in model.joints]


def _window_of_trial(trial: Trial) -> str:
    options = trial.settings.ensembles
    what = Percent(options.window, options.start_event, options.end_event).what
    return what if what == GAIT_CYCLE else options.window


def _window_of_row(row: Mapping[str, str]) -> str:
    return GAIT_CYCLE if row[GAIT_COLUMNS[1].name] else row["window"]
