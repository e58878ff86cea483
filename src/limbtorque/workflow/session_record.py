"""Record of a session's folder: file names and sizes, one JSON line per trial.

A job writes it last. Its first line says what belongs to the folder, so that a deleted, truncated or emptied file is
noticed, and so that a job on another node knows which files to wait for.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from limbtorque.errors import LimbtorqueError
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.study.whole_file import write_bytes, write_text
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow.layout import places, record_path, session_folder, study_files, study_record_path

WAIT_S = "LIMBTORQUE_WAIT_S"  # environment variable: time until a file that another node has written must be seen, s
_POLL_S = 0.2


@dataclass(frozen=True)
class _Head:
    """First line of a record: sizes in bytes of the files and of its other lines."""

    files: dict[str, int]
    lines_bytes: int

    def __post_init__(self) -> None:
        if not isinstance(self.files, dict) or not isinstance(self.lines_bytes, int):
            raise TypeError("a record begins with names and sizes")


def write_record(stage: str, session: str, files: Iterable[Path], lines: Sequence[str], folder: Path) -> None:
    """Write the record of a session's folder, whole or not at all.

    Parameters
    ----------
    stage, session : str
        Whose folder.
    files : iterable of Path
        Files that the stage made in it, relative to the study's folder.
    lines : sequence of str
        A line of JSON for each trial, in their order.
    folder : Path
        The study's folder.
    """
    path = folder / record_path(stage, session)
    body = "".join(f"{line}\n" for line in lines).encode()
    sizes = {file.name: (folder / file).stat().st_size for file in files}
    head = json.dumps({"files": sizes, "lines_bytes": len(body)})
    write_bytes(path, f"{head}\n".encode() + body)


def faults(stage: str, session: str, folder: Path) -> dict[str, str]:
    """Files of an existing session folder that differ from its record, and why."""
    place = folder / session_folder(stage, session)
    sizes = {entry.name: entry.stat().st_size for entry in os.scandir(place)}
    record = place / record_path(stage, session).name
    try:
        head, head_bytes = _read_head(record)
    except (OSError, ValueError, TypeError):
        return {record.name: "missing" if record.name not in sizes else "damaged"}
    if sizes.get(record.name) != head_bytes + head.lines_bytes:
        return {record.name: "damaged"}
    return {
        name: "missing" if name not in sizes else f"{sizes[name]} bytes instead of {size}"
        for name, size in head.files.items()
        if sizes.get(name) != size
    }


def write_study_record(stage: str, study: Study) -> None:
    """Write the sizes of the files of the whole study that a stage made."""
    files = study_files(stage, study)
    if not files:
        return
    path = study.folder / study_record_path(stage)
    sizes = {file.as_posix(): (study.folder / file).stat().st_size for file in files}
    write_text(path, json.dumps(sizes, indent=1) + "\n")


def study_faults(stage: str, study: Study) -> dict[str, str]:
    """Files of the whole study whose size differs from their record.

    Snakemake itself notices missing ones.
    """
    try:
        sizes = json.loads((study.folder / study_record_path(stage)).read_bytes())
        found = {path: (study.folder / path).stat().st_size for path in sizes if (study.folder / path).is_file()}
    except (OSError, ValueError, TypeError):
        return {}
    return {path: f"{size} bytes instead of {sizes[path]}" for path, size in found.items() if size != sizes[path]}


def _read_head(path: Path) -> tuple[_Head, int]:
    with path.open("rb") as file:
        line = file.readline()
    return _Head(**json.loads(line)), len(line)


def wait_for(stages: Iterable[str], session: str, folder: Path) -> None:
    """Wait for files of earlier stages, which another node may have written.

    Raises
    ------
    LimbtorqueError
        A file that a record names is not there, or not whole, after the time that the run allows (``--latency-wait``).
    """
    end = time.monotonic() + float(os.environ.get(WAIT_S, "0"))
    for stage in stages:
        while wrong := faults_or_missing(stage, session, folder):
            if time.monotonic() > end:
                name, fault = next(iter(wrong.items()))
                place = session_folder(stage, session)
                raise LimbtorqueError(f"{place}/{name} is {fault}; run the study again, which repeats the session")
            time.sleep(_POLL_S)


def faults_or_missing(stage: str, session: str, folder: Path) -> dict[str, str]:
    """Files as of `faults`; the record alone where the folder does not exist."""
    try:
        return faults(stage, session, folder)
    except (FileNotFoundError, NotADirectoryError):
        return {record_path(stage, session).name: "missing"}


class SessionRecords:
    """Lines of a study's session records, read instead of all tables.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Its folder.
    whole : bool, optional
        Wait until all files that a record names are there, and refuse a session without them.
    """

    def __init__(self, study: Study, folder: Path, *, whole: bool = True) -> None:
        self._folder, self._whole = folder, whole
        self._session = places(study)
        self._line = {
            trial.name: line for trials in study.batches.values() for line, trial in enumerate(trials, start=1)
        }
        self._ends: dict[tuple[str, str], list[int]] = {}  # where each line of a record ends, by stage and session

    def of(self, stage: str, trial: Trial) -> TrialRecord:
        """Record of a trial after a stage."""
        return TrialRecord.from_values(self.values(stage, trial))

    def values(self, stage: str, trial: Trial) -> dict[str, Any]:
        """Line of a trial, as its stage wrote it."""
        session, line = self._session[trial.name], self._line[trial.name]
        path = self._folder / record_path(stage, session)
        if self._whole and (stage, session) not in self._ends:
            wait_for([stage], session, self._folder)
        with path.open("rb") as file:
            if (stage, session) not in self._ends:
                self._ends[stage, session] = [0, *itertools.accumulate(map(len, file))]
            ends = self._ends[stage, session]
            file.seek(ends[line] if line < len(ends) else ends[-1])
            text = file.readline()
        try:
            found: dict[str, Any] = json.loads(text or "{}")
        except ValueError:
            found = {}
        if found.get("trial") != trial.name:
            raise LimbtorqueError(
                f"{path}: line {line + 1} is not of trial {trial.name}; delete {path.parent} and run the study again"
            )
        return found
