"""Divide a large study by subject; Snakemake then needs less memory."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from limbtorque.cli.moved_files import Moved, muscle_sets, rows_text, settings_with_moved_files, with_moved_files
from limbtorque.errors import StudyError
from limbtorque.study.files import SETTINGS_FILE, parse_yaml, write_bytes, write_text, yaml_text
from limbtorque.study.study import load_study
from limbtorque.study.table_file import table_rows
from limbtorque.workflow.layout import plain_names


def split_study(folder: Path, parts: Path) -> list[Path]:
    """Write a study for each subject, with the same recordings and settings.

    Parameters
    ----------
    folder : Path
        The study.
    parts : Path
        Folder for the new studies, each named after its subject; made where it does not exist, nothing in it is overwritten.

    Returns
    -------
    list of Path
        Folders of the new studies, in the order of the table of trials.

    Raises
    ------
    SettingsError, StudyError
        The study is wrong, a muscle set is named by a path that leads out of its folder, or a folder of a
        subject's name exists.
    """
    study = load_study(folder)
    settings = study.settings
    trials, subjects = (_by_subject(folder / name) for name in (settings.trials, settings.subjects))
    sets = [path for path in muscle_sets(study) if path.is_relative_to(folder)]
    if outside := [path for path in sets if ".." in path.relative_to(folder).parts]:
        raise StudyError(
            [
                f"muscle set {path} is outside the study's folder; move it there, or give its absolute path"
                for path in outside
            ]
        )
    targets = {subject: parts / name for subject, name in plain_names(trials).items()}
    if there := [str(target) for target in targets.values() if target.exists()]:
        raise StudyError([f"{target} exists; name another folder, or remove it" for target in there])
    for subject, target in targets.items():
        text = (folder / SETTINGS_FILE).read_text(encoding="utf-8")
        moved = functools.partial(_moved_path, folder=folder, target=target)
        write_text(target / SETTINGS_FILE, _for_one_subject(text, trials[subject], moved))
        write_text(target / settings.trials, rows_text([with_moved_files(row, moved) for row in trials[subject]]))
        write_text(target / settings.subjects, rows_text(subjects[subject]))
        for path in sets:
            copy = target / path.relative_to(folder)
            write_bytes(copy, path.read_bytes())
    return list(targets.values())


def _for_one_subject(text: str, rows: list[dict[str, str]], moved: Moved) -> str:
    """Settings of a part: no contrasts; a mean however few the trials."""
    values = settings_with_moved_files(parse_yaml(text) or {}, moved)
    if given_hz := (values.get("filter") or {}).get("cutoffs_hz"):
        known = {name for row in rows for name in (row["chain"], f"{row['chain']}, {row['condition']}")}
        values["filter"]["cutoffs_hz"] = {name: hz for name, hz in given_hz.items() if name in known}
    for of_several in ("contrasts", "reference"):
        values.pop(of_several, None)
    values["ensembles"] = {**(values.get("ensembles") or {}), "min_units": 1}
    return f"# Part of a study of several subjects: ensembles.min_units is 1.\n{yaml_text(values)}"


def _by_subject(path: Path) -> dict[str, list[dict[str, str]]]:
    """Rows of a table by subject."""
    rows: dict[str, list[dict[str, str]]] = {}
    for _, row in table_rows(path, (), []):
        rows.setdefault(row["subject"], []).append(row)
    return rows


def _moved_path(file: str, *, folder: Path, target: Path) -> str:
    """Path of a file relative to another folder; absolute paths stay."""
    if Path(file).is_absolute():
        return file
    path = folder / file
    return Path(os.path.relpath(path.parent.resolve() / path.name, target.resolve())).as_posix()
