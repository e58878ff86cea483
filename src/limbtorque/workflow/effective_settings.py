"""Effective settings of a run: the file, with changes by ``--config``.

The result is written to `results/settings.json` when a run starts, and read by its jobs. Columns
of a trial take precedence. It is not the output of a rule: as ``ancient()`` input it would make Snakemake 9 ignore other reasons to run a job: https://github.com/snakemake/snakemake/issues/4166
"""

from __future__ import annotations

import contextlib
import json
import re
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

_DOTTED = re.compile(r"\w+\.\w+=")  # an option within a section, as tables of trials name it


def refuse_dotted(words: Iterable[str]) -> None:
    """Refuse an option with a dot in ``--config``.

    Parameters
    ----------
    words : iterable of str
        Command line of Snakemake.

    Examples
    --------
    >>> refuse_dotted(["--config", "filter.order=4"])
    Traceback (most recent call last):
    limbtorque.errors.SettingsError: --config filter.order=4: Snakemake takes whole sections; write --config 'filter={order: 4}'
    """
    dotted = [(word, *word.partition(".")[::2]) for word in words if _DOTTED.match(word)]
    faults = [
        f"--config {word}: Snakemake takes whole sections; write --config '{section}={{{option.replace('=', ': ', 1)}}}'"
        for word, section, option in dotted
        if section in Settings.model_fields
    ]
    if faults:
        raise SettingsError("\n".join(faults), faults)


def refuse_odd_numbers(words: Iterable[str]) -> None:
    """Refuse a number in ``--config`` that Snakemake reads like Python, 9_8 as 98.

    Options within a section are read as text and checked with the settings.

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
    """Refuse a ``--configfile`` that Snakemake reads differently.

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

    Without a run, or if these were edited or are unreadable, use those of the file.
    """
    sealed = (folder / study_record_path("settings")).is_file()
    edited = sealed and broken_seals("settings", [SETTINGS], folder, contents="all")
    if (folder / SETTINGS).is_file() and not edited:
        with contextlib.suppress(SettingsError):
            return load_study(folder, settings_file=str(SETTINGS))
    return load_study(folder)


def ensure_settings(folder: Path, config: Mapping[str, Any], key: str) -> None:
    """Write the settings of a run if not yet written, atomically.

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
