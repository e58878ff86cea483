"""One run at a time in a study's folder, with a lock that the end of the process opens, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import sys
from pathlib import Path
from typing import IO

from limbtorque.errors import LimbtorqueError

_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
_held: list[IO[str]] = []


def hold(folder: Path) -> None:
    """Hold the lock of a results folder until this process ends.

    On a file system that has no such locks, as some of clusters, it says so and goes on.

    Parameters
    ----------
    folder : Path
        The results folder; made if it is not there.

    Raises
    ------
    LimbtorqueError
        Another run holds it, or the folder cannot be written to.
    """
    place = folder.resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("a+", encoding="utf-8")
    except PermissionError:
        raise LimbtorqueError(
            f"{place} cannot be written to: give it the permissions, or take another study folder"
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        who = file.read().strip() or "another run"
        file.close()
        raise LimbtorqueError(f"{who} is at work in {place}; wait for it, or end it first") from None
    except OSError as error:
        file.close()
        if error.errno not in _NO_LOCKS:
            raise
        print(f"{folder} is on a file system without locks: see that no other run is at work in it", file=sys.stderr)
    else:
        file.truncate(0)
        file.write(f"the run with process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        _held.append(file)
