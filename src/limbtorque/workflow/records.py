"""Records of sessions and of study files: sizes, hashes, lines of trials.

A job writes its record last. Its first line lists the files of the folder, so that deleted, truncated, emptied or
edited files are noticed and recomputed, and jobs on other nodes know which files to wait for.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
import stat
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic_core import from_json

from limbtorque.errors import LimbtorqueError
from limbtorque.study.files import write_bytes, write_text
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial, frame_files
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow import layout
from limbtorque.workflow.operating_system import say
from limbtorque.workflow.results_folder import remove_broken_links

WAIT_S = "LIMBTORQUE_WAIT_S"  # environment variable: time until a file that another node has written must be seen, s
_POLL_S = 0.2
Contents = Literal[
    "none", "newer", "all"
]  # of which files the contents are compared: those newer than their record, or all
Seal = list[int | str]  # size in bytes, and SHA-256 of the contents
_UNREADABLE = (OSError, LookupError, TypeError, ValueError)  # faults of a record


def _seals(content: Any) -> dict[str, Seal]:
    """Sizes and hashes of a record; raises TypeError if invalid."""
    if not isinstance(content, dict) or any(
        not isinstance(seal, list) or [*map(type, seal)] != [int, str] for seal in content.values()
    ):
        raise TypeError("a record needs names, sizes and hashes")
    return content


def content_seal(content: bytes) -> Seal:
    """Size and SHA-256 of bytes."""
    return [len(content), hashlib.sha256(content).hexdigest()]


def file_seal(path: Path) -> Seal:
    """Size and SHA-256 of a file."""
    with path.open("rb") as file:
        return [path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()]


def _seal_of_recording(named: Path) -> Seal:
    """Size and hash of a recording, of which each frame may have a file."""
    files = [file_seal(file) for file in frame_files(named)]
    return files[0] if len(files) == 1 else content_seal(json.dumps(files).encode())


def _fault(path: str, seal: Seal, written_ns: int, contents: Contents) -> str:
    """Difference of a file from its record; empty if there is none."""
    try:
        state = os.stat(path)  # noqa: PTH116 (of every file of a study, at each start)
        if not stat.S_ISREG(state.st_mode):
            return "not a file"
        if state.st_size != seal[0]:
            return f"{state.st_size} bytes instead of {seal[0]}"
        read = contents == "all" or (contents == "newer" and state.st_mtime_ns > written_ns)
        return "edited" if read and file_seal(Path(path)) != seal else ""
    except OSError:
        return "missing"


def write_record(
    stage: str,
    session: str,
    files: Iterable[Path],
    lines: Sequence[str],
    folder: Path,
    *,
    recordings: Iterable[Path] = (),
) -> None:
    """Write the record of a session's folder atomically.

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
    recordings : iterable of Path, optional
        Files that the stage read, for `changed_recordings`.
    """
    path = folder / layout.record_path(stage, session)
    body = "".join(f"{line}\n" for line in lines).encode()
    seals = {file.name: file_seal(folder / file) for file in files}
    read = {
        (file.relative_to(folder) if file.is_relative_to(folder) else file).as_posix(): _seal_of_recording(file)
        for file in recordings
    }
    head = {"files": seals, "lines": content_seal(body), "recordings": read}
    write_bytes(path, f"{json.dumps(head)}\n".encode() + body)


def faults(stage: str, session: str, folder: Path, *, contents: Contents = "none") -> dict[str, str]:
    """Files of an existing session folder that differ from its record, and reasons.

    Parameters
    ----------
    stage, session : str
        Whose folder.
    folder : Path
        The study's folder.
    contents : {"none", "newer", "all"}, optional
        Compare sizes only; contents of files that were written after their record, too, and of all where that was written
        after the folder was made; or those of all files.
    """
    place = folder / layout.session_folder(stage, session)
    record = place / layout.RECORD
    try:
        written_ns = record.stat().st_mtime_ns
        stamp = place / layout.STAMP  # of the time at which Snakemake saw that the folder was made
        if contents == "newer" and written_ns > (stamp.stat().st_mtime_ns if stamp.exists() else 0):
            contents = "all"  # the record itself was edited or copied
        with record.open("rb") as file:
            head = json.loads(file.readline())
            size = record.stat().st_size - file.tell()
            lines = content_seal(file.read()) if contents == "all" else [size, head["lines"][1]]
        seals = _seals(head["files"])
        if lines != head["lines"]:
            return {layout.RECORD: "damaged"}
    except _UNREADABLE:
        return {layout.RECORD: "damaged" if os.path.lexists(record) else "missing"}
    found = {name: _fault(f"{place}/{name}", seal, written_ns, contents) for name, seal in seals.items()}
    return {name: fault for name, fault in found.items() if fault}


def changed_recordings(session: str, folder: Path) -> dict[str, str]:
    """Recordings that changed since a session's kinematics were made, and reasons.

    An unreadable record has none: the files of its folder are at fault.
    """
    try:
        with (folder / layout.record_path("kinematics", session)).open("rb") as file:
            seals = _seals(json.loads(file.readline())["recordings"])
    except _UNREADABLE:
        return {}
    found = {name: "missing" if not (folder / name).exists() else "" for name in seals}
    found |= {
        name: "changed"
        for name, fault in found.items()
        if not fault and _seal_of_recording(folder / name) != seals[name]
    }
    return {name: fault for name, fault in found.items() if fault}


def write_seals(stage: str, files: Sequence[Path], folder: Path) -> None:
    """Write sizes and hashes of files of the whole study, by relative paths."""
    if files:
        seals = {file.as_posix(): file_seal(folder / file) for file in files}
        write_text(folder / layout.study_record_path(stage), _seals_text(seals))


def _seals_text(seals: dict[str, Seal]) -> str:
    return json.dumps(seals, indent=1) + "\n"


def broken_seals(stage: str, files: Iterable[Path], folder: Path, *, contents: Contents = "none") -> dict[str, str]:
    """Existing files that differ from their `write_seals` record, and reasons.

    `contents` as in `faults`. Snakemake itself notices missing files.
    """
    record = layout.study_record_path(stage)
    try:
        text = (folder / record).read_text(encoding="utf-8")
        written_ns = (folder / record).stat().st_mtime_ns
        seals = _seals(json.loads(text))
        seals = seals if text == _seals_text(seals) else {}
    except _UNREADABLE:
        seals, written_ns = {}, 0
    found = {}
    for path in (path.as_posix() for path in files if (folder / path).exists()):
        found[path] = f"without its record, {record}"
        if path in seals:
            found[path] = _fault(f"{folder}/{path}", seals[path], written_ns, contents)
    return {path: fault for path, fault in found.items() if fault}


def wait_for(stages: Iterable[str], session: str, folder: Path) -> None:
    """Wait for files of earlier stages, possibly written on another node.

    Raises
    ------
    LimbtorqueError
        A file that a record names is not there, or not whole, after the time that the run allows (``--latency-wait``).
    """
    end = time.monotonic() + float(os.environ.get(WAIT_S, "0"))
    for stage in stages:
        while wrong := faults(stage, session, folder):
            if time.monotonic() > end:
                name, fault = next(iter(wrong.items()))
                place = layout.session_folder(stage, session)
                raise LimbtorqueError(f"{place}/{name} is {fault}; run the study again to repeat the session")
            time.sleep(_POLL_S)


class SessionRecords:
    """Lines of a study's session records, read instead of all tables.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Its folder.
    """

    def __init__(self, study: Study, folder: Path) -> None:
        self._folder = folder
        self._session = layout.places(study)
        self._line = {
            trial.name: line for trials in study.batches.values() for line, trial in enumerate(trials, start=1)
        }
        self._ends: dict[tuple[str, str], list[int]] = {}  # where each line of a record ends, by stage and session

    def of(self, stage: str, trial: Trial) -> TrialRecord:
        """Record of a trial after a stage."""
        return TrialRecord.from_values(self.values(stage, trial))

    def values(self, stage: str, trial: Trial) -> dict[str, Any]:
        """Line of a trial as written by its stage."""
        session, line = self._session[trial.name], self._line[trial.name]
        path = self._folder / layout.record_path(stage, session)
        if (stage, session) not in self._ends:
            wait_for([stage], session, self._folder)
        with path.open("rb") as file:
            if (stage, session) not in self._ends:
                self._ends[stage, session] = [0, *itertools.accumulate(map(len, file))]
            ends = self._ends[stage, session]
            file.seek(ends[line] if line < len(ends) else ends[-1])
            text = file.readline()
        try:
            found: dict[str, Any] = from_json(text or b"{}")
        except ValueError:
            found = {}
        if found.get("trial") != trial.name:
            raise LimbtorqueError(
                f"{path}: line {line + 1} is not of trial {trial.name}; delete {path.parent} and run the study again"
            )
        return found


VERIFY = "LIMBTORQUE_VERIFY"  # environment variable: compare the contents of all files (run-study --verify)
_SHOWN = 3
Damaged = dict[str, dict[str, str]]


def damaged_outputs(study: Study, *, contents: Contents = "newer") -> Damaged:
    """Outputs that differ from their record: path, then files and faults.

    Parameters
    ----------
    study : Study
        The study.
    contents : {"none", "newer", "all"}, optional
        Files whose contents are compared, as of `limbtorque.workflow.records.faults`.
    """
    found: Damaged = {}
    for stage, session in layout.stages_and_sessions(study):
        place = layout.session_folder(stage, session)
        if (study.folder / place).is_dir():
            found[place.as_posix()] = faults(stage, session, study.folder, contents=contents)
            if layout.RECORD in found[place.as_posix()] and stage in layout.TABLE_STAGES:  # it names no files then
                there = layout.session_files(stage, study, session)
                found[place.as_posix()] |= {
                    file.name: "missing" for file in there if not (study.folder / file).exists()
                }
            if stage == "kinematics" and contents == "all":
                found[place.as_posix()] |= {
                    name
                    if Path(name).is_absolute()
                    else os.path.relpath(name, place): f"{fault} since {place.as_posix()} was made"
                    for name, fault in changed_recordings(session, study.folder).items()
                }
        elif (study.folder / place).exists():
            found[place.as_posix()] = {place.name: "a file, not a folder"}
    for stage in ("settings", *layout.stages_of(study)):
        wrong = broken_seals(stage, layout.study_files(stage, study), study.folder, contents=contents)
        found |= {path: {Path(path).name: fault} for path, fault in wrong.items()}
    return {path: wrong for path, wrong in found.items() if wrong}


def missing_outputs(study: Study) -> list[str]:
    """Missing outputs, which Snakemake recomputes by itself."""
    folders = ((stage, layout.session_folder(stage, name)) for stage, name in layout.stages_and_sessions(study))
    outputs = [*folders, *layout.all_study_files(study)]
    paths = [path for stage, path in outputs if stage not in layout.ON_REQUEST]
    return [path.as_posix() for path in paths if not (study.folder / path).exists()]


def differing_outputs(study: Study) -> list[str]:
    """Results and recordings that are missing or differ from their records."""
    lines = [f"{path}: missing" for path in missing_outputs(study)]
    for path, wrong in damaged_outputs(study, contents="all").items():
        for name, fault in wrong.items():  # recordings lie outside the folder
            lines.append(f"{path if Path(path).name == name else os.path.normpath(Path(path, name))}: {fault}")
    return lines


def force_damaged(workflow: Any, study: Study) -> bool:
    """Force recomputation of damaged outputs; remove broken links at their paths.

    Snakemake checks only the time of an output, so that sessions with a lost table, and emptied or edited tables, count as up
    to date (no upstream issue). They are forced as soon as Snakemake has its graph of jobs, as ``--forcerun`` would, but
    only where this run needs them. A rule parameter would not work: Snakemake records it, and would repeat the session in
    the next run.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow, while its Snakefile is read. In the processes of single jobs nothing is done.
    study : Study
        The study.

    Returns
    -------
    bool
        True where an output is damaged, and this Snakemake can be asked to make it again.
    """
    prepare = getattr(workflow, "_prepare_dag", None)
    if prepare is None or not getattr(workflow, "is_main_process", False):
        return False
    remove_broken_links(study)
    damaged = damaged_outputs(study, contents="all" if os.environ.get(VERIFY) else "newer")
    if not damaged:
        return False
    for path, wrong in list(damaged.items())[:_SHOWN]:
        name, fault = next(iter(wrong.items()))
        say(f"{path}: {name} is {fault}; it is repeated")
    if len(damaged) > _SHOWN:
        say(f"and {len(damaged) - _SHOWN} more damaged outputs")

    @functools.wraps(prepare)
    def prepare_and_force(*args: Any, **options: Any) -> None:
        prepare(*args, **options)
        workflow.dag.forcefiles.update(damaged)

    workflow._prepare_dag = prepare_and_force
    return True
