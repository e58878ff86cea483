"""The folder of results: run lock and left-over files.

The lock is that of the operating system, which releases it with the process; on a file system without it,
`filelock` uses a lock file.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import warnings
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout, UnixFileLock

from limbtorque.errors import LimbtorqueError
from limbtorque.study.files import is_part
from limbtorque.study.study import Study
from limbtorque.workflow import layout
from limbtorque.workflow.operating_system import say

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP)
_HOLDER = "the run with process "
_held: list[FileLock] = []


def hold_run(folder: Path) -> None:
    """Hold the lock of a study until this process ends.

    Parameters
    ----------
    folder : Path
        The study's folder.

    Raises
    ------
    LimbtorqueError
        Another run holds it, or the results folder cannot be written to.
    """
    path = folder / layout.LOCK
    place = path.resolve().parent
    lock = FileLock(path, thread_local=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file system: it takes the lock in a file then
            lock.acquire(timeout=0.0)
    except PermissionError:
        raise LimbtorqueError(f"{place} cannot be written to; change its permissions, or use another folder") from None
    except Timeout:
        text = path.read_text(encoding="utf-8").strip()
        who = text if text.startswith(_HOLDER) else "another run"
        raise LimbtorqueError(f"{who} is using {place}; wait for it, or stop it") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        say(f"{place} is on a file system without locks; make sure that no other run uses it")
    if isinstance(lock, UnixFileLock) and lock.is_locked:
        path.write_text(f"{_HOLDER}{os.getpid()} on {socket.gethostname()}\n", encoding="utf-8")
    _held.append(lock)


def release() -> None:
    """Open the lock that was taken last."""
    _held.pop().release()


def move_left_over(study: Study, folder: Path) -> None:
    """Move unknown files to `results/left_over`; remove records and empty folders."""
    made = made_names(study)
    for place, names in made.items():
        for path in _chosen(folder / place, names, lambda entry: entry.is_dir(follow_symlinks=False)):
            _move(place / path.name, folder)
    places = (layout.STUDY_FIGURES.name, layout.MULTIVERSE_FIGURES.name, layout.NOTES.name, "report")
    tops = (*layout.SESSION_STAGES, *places)
    there = {
        Path(place).relative_to(folder): set(names)
        for top in tops
        for place, _, names in os.walk(folder / layout.RESULTS / top)
    }
    tables = (*layout.ENSEMBLE_TABLES.values(), *layout.CONTRAST_TABLES.values())
    optional = (*tables, layout.MULTIVERSE["multiverse"])
    there[layout.RESULTS] = {path.name for path in optional if (folder / path).is_file()}
    for place, names in there.items():
        for name in names - made.get(place, set()):
            if name == layout.RECORD:
                (folder / place / name).unlink()
            elif name != layout.STAMP and not is_part(Path(name)):  # which another job is writing
                _move(place / name, folder)
    for stage in layout.SESSION_STAGES:
        sessions = set(layout.sessions_of(stage, study))
        others = (folder / layout.session_folder(stage, "x").parent).glob("*")
        for place in (place for place in others if place.is_dir() and place.name not in sessions):
            if {path.name for path in place.iterdir()} <= {layout.STAMP}:
                (place / layout.STAMP).unlink(missing_ok=True)
                place.rmdir()


def _chosen(place: Path, names: set[str], chosen: Callable[[os.DirEntry[str]], bool]) -> list[Path]:
    """Entries of a folder with given names; empty if the folder is missing."""
    try:
        with os.scandir(place) as entries:
            return [Path(entry.path) for entry in entries if chosen(entry) and entry.name in names]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _move(path: Path, folder: Path) -> None:
    """Move a file or folder of the results, replacing an earlier one."""
    target = folder / layout.LEFT_OVER / path.relative_to(layout.RESULTS)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    (folder / path).replace(target)


def remove_broken_links(study: Study) -> None:
    """Remove broken links at paths of results, also in a dry run.

    Snakemake cannot plan with them.
    """
    for place, names in made_names(study).items():
        for path in [study.folder / place, *_chosen(study.folder / place, names, os.DirEntry.is_symlink)]:
            if path.is_symlink() and not path.exists():
                path.unlink()
                say(f"{path}: a broken link is removed")


def remove_parts(folder: Path) -> None:
    """Remove unfinished files of killed jobs.

    No other run may use the study.
    """
    for place, _, names in os.walk(folder / layout.RESULTS):
        for path in (Path(place, name) for name in names):
            if is_part(path):
                path.unlink()


def made_names(study: Study) -> dict[Path, set[str]]:
    """Names of a study's workflow outputs, by folder."""
    made: dict[Path, set[str]] = {}
    for stage, file in layout.all_study_files(study):
        for path in (file, layout.study_record_path(stage)):
            made.setdefault(path.parent, set()).add(path.name)
    for stage, session in layout.stages_and_sessions(study):
        names = {path.name for path in layout.session_files(stage, study, session)}
        made[layout.session_folder(stage, session)] = {*names, layout.RECORD}
    return made
