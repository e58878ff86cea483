"""Effective settings of a run: the file, changed by Snakemake's ``--config``.

What holds is written to `results/settings.json` when a run starts, and its jobs read that. A trial's own columns go before both.
It is no output of a rule: jobs would take it as ``ancient()``, and Snakemake 9 does not look for other reasons to run a job that
depends on one that runs, even where the dependency is ancient: https://github.com/snakemake/snakemake/issues/4166
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from limbtorque.errors import LimbtorqueError, SettingsError
from limbtorque.study.files import SETTINGS_FILE, read_yaml, write_text
from limbtorque.study.options.base import is_odd_number, number_of
from limbtorque.study.settings import Settings, flattened, load_settings
from limbtorque.study.study import Study, load_study
from limbtorque.workflow.keys import settings_key
from limbtorque.workflow.layout import SETTINGS, study_record_path
from limbtorque.workflow.records import broken_seals, write_seals


def refuse_odd_numbers(words: Iterable[str]) -> None:
    """Refuse a number of ``--config`` that Snakemake reads as Python does, 9_8 as 98.

    The options within a section it reads as text, which is checked with the settings.

    Parameters
    ----------
    words : iterable of str
        Command line of Snakemake.
    """
    faults = [
        f"--config {name}={text} is read as {float(text):g} by Snakemake; write it in plain digits, such as 72.5"
        for name, text in ((name, text.strip("'\"")) for name, _, text in (word.partition("=") for word in words))
        if name in Settings.model_fields and is_odd_number(text)
    ]
    if faults:
        raise SettingsError("\n".join(faults), faults)


def refuse_other_readings(path: Path, read: Mapping[str, Any]) -> None:
    """Refuse a file of ``--configfile`` of which Snakemake read something else.

    Snakemake reads YAML 1.1, in which 12:30 is the number 750, ``no`` is false and 010 is 8.

    Parameters
    ----------
    path : Path
        The file.
    read : mapping
        Options as Snakemake read them.

    Raises
    ------
    SettingsError
        A value is another one in YAML 1.2, by which settings are read.
    """
    try:
        ours = flattened(read_yaml(path) or {})
    except (ValueError, OSError) as error:
        raise SettingsError(f"--configfile {path} {error}") from None
    theirs = flattened(json.loads(json.dumps(read, default=str)))
    faults = [
        f"{name} is read as {theirs.get(name)!r} by Snakemake (YAML 1.1), as {value!r} in {SETTINGS_FILE} (YAML 1.2); "
        "put it in quotes, or write the intended number"
        for name, value in ours.items()
        if theirs.get(name) != value and number_of(theirs.get(name)) != number_of(value)
    ]
    if faults:
        raise SettingsError("\n".join([f"--configfile {path}:", *(f"  - {fault}" for fault in faults)]), faults)


def load_effective_study(folder: Path) -> Study:
    """Load a study with the settings of its run.

    Before any run, or where those were edited or cannot be read, with those of the file.
    """
    sealed = (folder / study_record_path("settings")).is_file()
    edited = sealed and broken_seals("settings", [SETTINGS], folder, contents="all")
    if (folder / SETTINGS).is_file() and not edited:
        with contextlib.suppress(SettingsError):
            return load_study(folder, settings_file=str(SETTINGS))
    return load_study(folder)


def ensure_settings(folder: Path, config: Mapping[str, Any], key: str) -> None:
    """Write the settings of a run where they are not written yet, whole or not at all.

    Parameters
    ----------
    folder : Path
        The study's folder.
    config : mapping
        Options as Snakemake has them: ``--config 'filter={cutoff_hz: 6}'`` is ``{"filter": {"cutoff_hz": 6}}``.
    key : str
        Key of the settings that the run was planned with.

    Raises
    ------
    LimbtorqueError
        The settings file was changed since the run was planned.
    """
    path = folder / SETTINGS
    try:
        whole = path.is_file() and not broken_seals("settings", [SETTINGS], folder, contents="all")
        if whole and settings_key(load_settings(path)) == key:
            return
    except SettingsError:  # there is none, or one of another version of the program
        pass
    settings = load_settings(folder / SETTINGS_FILE, config or None)
    if settings_key(settings) != key:
        raise LimbtorqueError(f"{SETTINGS_FILE} changed while a job was waiting; run the study again")
    write_text(path, json.dumps(settings.model_dump(mode="json"), indent=1, sort_keys=True) + "\n")
    write_seals("settings", [SETTINGS], folder)
