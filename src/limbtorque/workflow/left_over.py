"""Move files of an earlier state of a study out of the results."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from limbtorque.study.study import Study
from limbtorque.study.whole_file import is_part
from limbtorque.workflow.layout import (
    ENSEMBLE_TABLES,
    LEFT_OVER,
    RECORD,
    REPORT,
    RESULTS,
    SOURCES,
    STUDY_FIGURES,
    WORKBOOK,
    ensemble_outputs,
    record_path,
    session_files,
    session_folder,
    sessions_of,
    study_figures,
    study_outputs,
)

_STAMP = ".snakemake_timestamp"  # time of a folder, for Snakemake


def move_left_over(study: Study, folder: Path) -> None:
    """Move other files to `results/left_over`; remove their records and empty folders."""
    made = _made(study)
    for path in _there(folder):
        if path in made or path.name == _STAMP or is_part(path):  # which another job is writing
            continue
        if path.name == RECORD:
            (folder / path).unlink()
            continue
        target = folder / LEFT_OVER / path.relative_to(RESULTS)
        target.parent.mkdir(parents=True, exist_ok=True)
        (folder / path).replace(target)
    _remove_folders(study, folder)


def remove_parts(folder: Path) -> None:
    """Remove files that killed jobs did not write to their ends.

    Nothing else may run in the study.
    """
    for place, _, names in os.walk(folder / RESULTS):
        for path in (Path(place, name) for name in names):
            if is_part(path):
                path.unlink()


def _made(study: Study) -> set[Path]:
    """Files that the workflow makes for a study."""
    made = {*study_outputs(study), *ensemble_outputs(study), *study_figures(study)}
    made |= set(REPORT.values()) if study.settings.report.enabled else set()
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
            if found.is_dir() and found.name not in sessions and {one.name for one in found.iterdir()} <= {_STAMP}:
                (found / _STAMP).unlink(missing_ok=True)
                found.rmdir()
