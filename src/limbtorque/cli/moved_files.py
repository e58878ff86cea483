"""Paths in the settings and tables of a study that is written to another folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from limbtorque.study.files import parse_yaml
from limbtorque.study.study import Study
from limbtorque.study.table_file import table_rows, table_text
from limbtorque.workflow.bucket import FILE_COLUMNS

MAXIMAL = "emg.max_voluntary_files"  # an option with paths
Moved = Callable[[str], str]  # path of a file in the new study, from that in the old one


def settings_with_moved_files(values: Mapping[str, Any], moved: Moved) -> dict[str, Any]:
    """Settings as read from their file, with new paths of recordings."""
    section, _, option = MAXIMAL.partition(".")
    files = (values.get(section) or {}).get(option)
    if not files:
        return dict(values)
    files = [files] if isinstance(files, str) else files
    return {**values, section: {**values[section], option: [moved(file) for file in files]}}


def with_moved_files(row: Mapping[str, str], moved: Moved) -> dict[str, str]:
    """Row of the table of trials with new paths of recordings."""
    changed = {column: moved(row[column]) for column in FILE_COLUMNS if row.get(column)}
    if cell := row.get(MAXIMAL):
        files = parse_yaml(cell) if cell.startswith("[") else [cell]
        changed[MAXIMAL] = f"[{', '.join(json.dumps(moved(file)) for file in files)}]"
    return {**row, **changed}


def muscle_sets(study: Study) -> list[Path]:
    """Muscle sets that the settings name by a path."""
    chosen = {trial.settings.muscle_set(trial.chain, study.folder) for trial in study.trials}
    return sorted(path for path in chosen if isinstance(path, Path))


def new_trials(path: Path, moved: Moved) -> bytes:
    """Table of trials with new paths of recordings."""
    return rows_text([with_moved_files(row, moved) for _, row in table_rows(path, (), [])]).encode()


def rows_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows of a study's table as CSV."""
    return table_text([rows[0], *(row.values() for row in rows)])
