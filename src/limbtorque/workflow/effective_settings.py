"""The settings that hold in a run: those of the file, changed by Snakemake's ``--config``.

The workflow reads the file once, a job of the rule `settings` writes what holds to `results/settings.json`, and all other
jobs read that. A trial's own columns go before both.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limbtorque.study.settings import Settings, load_settings, make_settings
from limbtorque.study.study import SETTINGS_FILE, Study, load_study
from limbtorque.workflow.layout import SETTINGS


def load_planned_study(folder: Path, config: Mapping[str, Any] | None = None) -> Study:
    """Load a study from its tables and settings file, changed by what ``--config`` gave.

    Parameters
    ----------
    folder : Path
        The study's folder.
    config : mapping, optional
        Options as Snakemake has them: nested (``{"filter": {"cutoff_hz": 6}}``) or by dotted names (``{"filter.cutoff_hz": 6}``).
    """
    if not config:
        return load_study(folder)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(settings_text(planned_settings(folder, config)))
        file.flush()
        return load_study(folder, settings_file=file.name)


def planned_settings(folder: Path, config: Mapping[str, Any]) -> Settings:
    """Settings of a study's file, changed by what ``--config`` gave; parameters as of `load_planned_study`."""
    settings = load_settings(folder / SETTINGS_FILE)
    if not config:
        return settings
    changed = _merged(settings.model_dump(exclude_unset=True), _nested(config))
    return make_settings(changed, source=f"{SETTINGS_FILE} with --config")


def load_effective_study(folder: Path) -> Study:
    """Load a study with the settings that hold in its run; those of the file where no run has written them."""
    return load_study(folder, settings_file=str(_file(folder)))


def settings_text(settings: Settings) -> str:
    """Settings as JSON, every option with its value."""
    return json.dumps(settings.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"


def study_state(folder: Path) -> tuple[tuple[int, int], ...]:
    """Times and sizes of the settings and tables of a study."""
    settings = load_settings(folder / _file(folder))
    found = [(folder / name).stat() for name in (_file(folder), settings.trials, settings.subjects)]
    return tuple((each.st_mtime_ns, each.st_size) for each in found)


def _file(folder: Path) -> Path:
    return SETTINGS if (folder / SETTINGS).is_file() else Path(SETTINGS_FILE)


def _nested(config: Mapping[str, Any]) -> dict[str, Any]:
    """Options by dotted names as nested dictionaries.

    >>> _nested({"filter.order": 2, "title": "A"})
    {'filter': {'order': 2}, 'title': 'A'}
    """
    found: dict[str, Any] = {}
    for name, value in config.items():
        first, _, rest = name.partition(".")
        found = _merged(found, {first: _nested({rest: value}) if rest else value})
    return found


def _merged(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with changes, section by section.

    >>> _merged({"filter": {"order": 3, "cutoff_hz": 6}}, {"filter": {"order": 2}})
    {'filter': {'order': 2, 'cutoff_hz': 6}}
    """
    found = dict(settings)
    for name, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(found.get(name), Mapping)
        found[name] = _merged(found[name], value) if both else value
    return found
