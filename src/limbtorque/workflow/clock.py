"""Refuse files dated in the future, which would end a run.

Snakemake compares the time of an output with the times of its inputs, and ends the run where an input is the newer one, even
within ``ancient()``. The clock is that of the file system, which on a server is not that of this machine.
"""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from limbtorque.errors import StudyError
from limbtorque.study.study import Study
from limbtorque.workflow.layout import RESULTS, SOURCES, session_folder, sessions_of, stages_of, study_files

_STAMP = ".snakemake_timestamp"  # time of a folder, for Snakemake
_NAMED = 3


def refuse_future(study: Study) -> None:
    """Refuse a study with files dated in the future.

    Parameters
    ----------
    study : Study
        The study.

    Raises
    ------
    StudyError
        Recordings or results are dated in the future; the message has the command that sets their time to now.
    """
    recordings = _newer(dict.fromkeys(file for trial in study.trials for file in trial.files), study.folder)
    results = _newer(_results(study), study.folder)
    faults = []
    if recordings:
        faults.append(f"{_dated(recordings)}; set their time to now: {_touch(list(recordings))}")
    if results:
        faults.append(
            f"{_dated(results)}; set their time to now: find {_quoted([study.folder / RESULTS])} -newermt now -exec touch -h {{}} +"
        )
    if faults:
        raise StudyError(faults)


def _results(study: Study) -> Iterator[Path]:
    """Results whose times Snakemake compares."""
    for stage in ("cutoffs", *SOURCES):
        yield from (study.folder / session_folder(stage, session) / _STAMP for session in sessions_of(stage, study))
    yield from (study.folder / path for stage in stages_of(study) for path in study_files(stage, study))


def _newer(paths: Iterable[Path], folder: Path) -> dict[Path, float]:
    """Files newer than now, and their times in s."""
    here = time.time()
    found = {path: changed for path in paths if (changed := _changed(path)) > here}
    return found and {path: changed for path, changed in found.items() if changed > _now(folder)}


def _changed(path: Path) -> float:
    """Time of a file, or of a later link to it, s; 0 where there is none."""
    try:
        return max(path.stat().st_mtime, path.lstat().st_mtime)
    except OSError:
        return 0.0


def _now(folder: Path) -> float:
    """Time of a file that is written now, s."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            return os.fstat(file.fileno()).st_mtime
    except OSError:  # a folder that cannot be written to
        return time.time()


def _dated(found: dict[Path, float]) -> str:
    path, changed = next(iter(found.items()))
    more = f", as are {len(found) - 1} more" if len(found) > 1 else ""
    return f"{path} is dated in the future ({_date(changed)}){more}; Snakemake would end the run"


def _date(changed: float) -> str:
    try:
        return datetime.fromtimestamp(changed).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{changed:.0f} s after 1970"


def _touch(paths: Sequence[Path]) -> str:
    """Command that sets the times of files, and of links to them, to now."""
    links = [path for path in paths if path.is_symlink()]
    if len(paths) <= _NAMED:
        linked = f" && touch -h {_quoted(links)}" if links else ""
        return f"touch {_quoted(paths)}{linked}"
    places = _quoted(path.parent for path in paths)
    linked = f" && find {places} -newermt now -exec touch -h {{}} +" if links else ""
    return f"find -L {places} -newermt now -exec touch {{}} +{linked}"


def _quoted(paths: Iterable[Path]) -> str:
    return " ".join(dict.fromkeys(shlex.quote(str(path.absolute())) for path in paths))
