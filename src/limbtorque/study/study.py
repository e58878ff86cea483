"""A study: settings and both tables, checked together; JSON schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from limbtorque.errors import StudyError
from limbtorque.study.files import SETTINGS_FILE
from limbtorque.study.settings import Settings, load_settings
from limbtorque.study.subjects import SubjectRow, read_subjects
from limbtorque.study.table_file import is_to_do, to_do_text
from limbtorque.study.trials import References, Trial, TrialRow, read_trials

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def settings_schema() -> dict[str, Any]:
    """JSON schema of the settings; ``x-unit`` has the unit of an option."""
    return _schema(Settings, "Settings of a limbtorque study")


def trials_schema() -> dict[str, Any]:
    """JSON schema of a row of the table of trials; options may be columns, too."""
    return {**_schema(TrialRow, "Row of the table of trials"), "additionalProperties": True}


def subjects_schema() -> dict[str, Any]:
    """JSON schema of a row of the table of subjects."""
    return _schema(SubjectRow, "Row of the table of subjects")


def _schema(model: type[BaseModel], title: str) -> dict[str, Any]:
    schema: dict[str, Any] = _plain(model.model_json_schema())
    for option in schema["properties"].values():
        if "$ref" in option:  # a section: described by its model, with defaults of its own
            option.pop("default", None)
            option["description"] = schema["$defs"][option["$ref"].rpartition("/")[2]]["description"]
    return {"$schema": DIALECT, "title": title} | schema


def _plain(schema: Any) -> Any:
    """Schema without pydantic's titles and line breaks; properties named title stay."""
    if isinstance(schema, dict):
        return {name: _plain(part) for name, part in schema.items() if name != "title" or not isinstance(part, str)}
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    return " ".join(schema.split()) if isinstance(schema, str) else schema


@dataclass(frozen=True)
class Study:
    """A checked study.

    Attributes
    ----------
    folder : Path
        The folder all relative paths start from.
    settings : Settings
        The settings.
    trials : tuple of Trial
        Trials in the order of their table.
    batches : dict of str to tuple of Trial
        The trials of each job: a session, or a part of a long one.
    """

    folder: Path
    settings: Settings
    trials: tuple[Trial, ...]
    batches: dict[str, tuple[Trial, ...]]


def load_study(
    folder: Path | str,
    *,
    settings_file: str = SETTINGS_FILE,
    overrides: Mapping[str, Any] | None = None,
) -> Study:
    """Read the settings and both tables of a study and check them against each other.

    Parameters
    ----------
    folder : Path or str
        The study's folder.
    settings_file : str, optional
        Settings file, relative to the folder.
    overrides : mapping, optional
        Options in place of the file's, as for `load_settings`; a column of the table of trials goes before both.

    Returns
    -------
    Study
        The study, all of whose files exist.

    Raises
    ------
    SettingsError
        The settings are wrong.
    StudyError
        The tables are wrong; every fault of both is listed.
    """
    folder = Path(folder)
    settings = load_settings(folder / settings_file, overrides)
    meant = "name its marker or markers, or remove the line and name a replacement in 'substitutes'"
    rules = {f"{name}.{mark}": rule for name, marks in settings.marker_sets.items() for mark, rule in marks.items()}
    open_rules = {name: rule for name, rule in rules.items() if isinstance(rule, str) and is_to_do(rule)}
    faults: list[str] = []
    subjects, names = read_subjects(folder / settings.subjects, table=settings.subjects, faults=faults)
    references = References(folder, settings, names)
    trials = read_trials(folder / settings.trials, references, subjects, faults=faults)
    unused = set() if faults else settings.marker_sets.keys() - {trial.marker_set for trial in trials} - {""}
    if len(settings.marker_sets) == 1:
        unused = set()  # the only one needs no name
    faults[:0] = [
        f"marker_sets.{name} {to_do_text(rule, meant)}"
        for name, rule in open_rules.items()
        if name.partition(".")[0] not in unused
    ]
    if faults:
        raise StudyError(faults)
    return Study(folder, settings, tuple(trials), _batches(trials, settings.run.max_trials_per_job))


def _batches(trials: list[Trial], size: int) -> dict[str, tuple[Trial, ...]]:
    sessions: dict[str, list[Trial]] = {}
    for trial in trials:
        sessions.setdefault(trial.session, []).append(trial)
    batches = {}
    for session, members in sessions.items():
        parts = [tuple(members[i : i + size]) for i in range(0, len(members), size)]
        for number, part in enumerate(parts, start=1):
            batches[session if len(parts) == 1 else f"{session}~{number}"] = part
    return batches
