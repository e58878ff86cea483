"""Temporary folders; those of processes that were killed are removed by the next.

A process holds a lock on its folder, which the operating system releases. Where folders cannot be locked (Windows), those of
killed processes stay.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "limbtorque-"
_held: list[int] = []  # file descriptors of this process's folders, open until it ends


def temporary_folder() -> Path:
    """Make a folder for this process alone, after removing those that nobody holds."""
    if sys.platform == "win32" or fcntl is None:
        return Path(tempfile.mkdtemp(prefix=_PREFIX))
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
    if sys.platform == "win32" or fcntl is None:
        return
    with contextlib.suppress(OSError):
        if folder.stat().st_uid != os.getuid():
            return
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(opened)
