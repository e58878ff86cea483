"""Lock of a study's folder for one run; the end of its process releases it.

The lock is that of the operating system; on a file system without it, `filelock` takes a lock of its own that lies in a file.
"""

from __future__ import annotations

import errno
import os
import socket
import warnings
from pathlib import Path

from filelock import FileLock, Timeout, UnixFileLock

from limbtorque.errors import LimbtorqueError
from limbtorque.workflow.layout import LOCK
from limbtorque.workflow.streams import say

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP)
_WAIT_S = 5.0  # for another job that tests the lock at the same time
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
    _hold(folder / LOCK)


def hold_job(folder: Path, log: Path) -> None:
    """Hold the lock of a job where a module's workflow has no lock of the run.

    Parameters
    ----------
    folder : Path
        The study's folder.
    log : Path
        Log of the job, which no other job has; the lock lies beside it.
    """
    _hold(folder / LOCK, wait_s=_WAIT_S)  # refused during a run of this workflow itself
    release()
    _hold(folder / log.with_suffix(".lock"))


def release() -> None:
    """Open the lock that was taken last."""
    _held.pop().release()


def _hold(path: Path, wait_s: float = 0.0) -> None:
    place = path.resolve().parent
    lock = FileLock(path, thread_local=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file system: it takes the lock in a file then
            lock.acquire(timeout=wait_s, poll_interval=0.02)
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
