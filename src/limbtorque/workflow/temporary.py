"""Temporary folders; those of processes that were killed are removed by the next.

A process holds a lock on its folder, which the operating system releases.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "limbtorque-"
_held: list[int] = []  # file descriptors of this process's folders, open until it ends


def temporary_folder() -> Path:
    """Make a folder for this process alone, after removing those that nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        _remove_if_free(folder)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with contextlib.suppress(FileNotFoundError):  # another process removed it before it was held
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(held, fcntl.LOCK_EX)
            if folder.exists():
                _held.append(held)
                return folder
            os.close(held)


def _remove_if_free(folder: Path) -> None:
    """Remove a folder of this user that no process holds."""
    with contextlib.suppress(OSError):
        if folder.stat().st_uid != os.getuid():
            return
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(opened)
