"""Move files of an earlier state of a study out of the results."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from limbtorque.study.study import Study
from limbtorque.study.whole_file import is_part
from limbtorque.workflow.layout import (
    ENSEMBLE_TABLES,
    LEFT_OVER,
    RECORD,
    RESULTS,
    SOURCES,
    STUDY_FIGURES,
    WORKBOOK,
    record_path,
    session_files,
    session_folder,
    sessions_of,
    stages_of,
    study_files,
    study_record_path,
)
from limbtorque.workflow.session_record import STAMP
from limbtorque.workflow.streams import say


def move_left_over(study: Study, folder: Path) -> None:
    """Move other files to `results/left_over`; remove their records and empty folders."""
    made = made_files(study)
    for path in made:
        if _is_folder(folder / path):
            _move(path, folder)
    for path in _there(folder):
        if path in made or path.name == STAMP or is_part(path):  # which another job is writing
            continue
        if path.name == RECORD:
            (folder / path).unlink()
        else:
            _move(path, folder)
    _remove_folders(study, folder)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _move(path: Path, folder: Path) -> None:
    """Move a file or folder of the results, which takes the place of an earlier one."""
    target = folder / LEFT_OVER / path.relative_to(RESULTS)
    target.parent.mkdir(parents=True, exist_ok=True)
    if _is_folder(target):
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    (folder / path).replace(target)


def remove_broken_links(study: Study) -> None:
    """Remove links to nothing in the places of results, also in a dry run.

    Snakemake cannot plan with them.
    """
    for path in made_files(study):
        for place in (study.folder / path, (study.folder / path).parent):
            if place.is_symlink() and not place.exists():
                place.unlink()
                say(f"{place}: a link to nothing is removed")


def remove_parts(folder: Path) -> None:
    """Remove files that killed jobs did not write to their ends.

    Nothing else may run in the study.
    """
    for place, _, names in os.walk(folder / RESULTS):
        for path in (Path(place, name) for name in names):
            if is_part(path):
                path.unlink()


def made_files(study: Study) -> set[Path]:
    """Files that the workflow makes for a study."""
    made: set[Path] = set()
    for stage in ("settings", *stages_of(study)):
        made |= {*study_files(stage, study), study_record_path(stage)}
    for stage in ("cutoffs", *SOURCES):
        for session in sessions_of(stage, study):
            made |= {*session_files(stage, study, session), record_path(stage, session)}
    return made


def _there(folder: Path) -> Iterator[Path]:
    """Files of the stages and optional study tables, relative to the study's folder."""
    for top in ("cutoffs", *SOURCES, STUDY_FIGURES.name, "report"):
        for place, _, names in os.walk(folder / RESULTS / top):
            yield from (Path(place, name).relative_to(folder) for name in sorted(names))
    yield from (path for path in (WORKBOOK, *ENSEMBLE_TABLES.values()) if (folder / path).is_file())


def _remove_folders(study: Study, folder: Path) -> None:
    """Remove empty folders of sessions that the study does not have."""
    for stage in ("cutoffs", *SOURCES):
        place = session_folder(stage, "x").parent
        sessions = set(sessions_of(stage, study))
        for found in (folder / place).glob("*"):
            if found.is_dir() and found.name not in sessions and {one.name for one in found.iterdir()} <= {STAMP}:
                (found / STAMP).unlink(missing_ok=True)
                found.rmdir()
