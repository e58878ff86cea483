"""Faults of a reference, and notes on it, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.statistics.wording import GAIT_CYCLE, Percent
from limbtorque.study.options.reference import ENOUGH
from limbtorque.study.settings import Settings, load_settings
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import counted, listed
from limbtorque.tables.files import read_rows
from limbtorque.tables.study_columns import GAIT_COLUMNS
from limbtorque.workflow.layout import CURVES_FILE, ENSEMBLE_TABLES, RESULTS, SETTINGS, STUDY_TABLES

WINDOWS, RESULTS_CSV = ENSEMBLE_TABLES["windows"].name, STUDY_TABLES["results"].name
FILES = f"curves/*/{CURVES_FILE}"
OF_CONDITION = "windows and joints of "
POINTS = "number of points (ensembles.n_points)"
OF_SIGN = ("name", "flexion_sagittal", "flexion_zero_deg", "flexion_right_horizontal", "sole")  # of angles, of a joint


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
    for row in read_rows(results / WINDOWS):
        if row["included"] == "1":
            window = GAIT_CYCLE if row[GAIT_COLUMNS[1].name] else row["window"]
            yield row["chain"], row["condition"], row["subject"], window


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
    by_number: dict[int, list[str]] = {}
    for key in dict.fromkeys(_planned(trial)[:2] for trial in study.trials if reference.is_set):
        n = len({name for *of, name, _ in members if tuple(of) == key})
        by_number.setdefault(n, []).append(", ".join(key))
    for n, conditions in sorted(by_number.items()):
        if n < ENOUGH:
            yield f"reference: {counted(n, 'subject')}, expected {ENOUGH} or more, of {'; '.join(conditions)}"
