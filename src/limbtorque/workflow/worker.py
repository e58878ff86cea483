"""Process that imports all modules once and forks for each job of a run.

A job of 50 short trials takes about as long to import libraries as to compute. So the process that runs
Snakemake starts another one, which imports them once. The command of a job (`limbtorque.workflow.job`) connects to it,
passes its folder and task, and waits; the forked process does the task, and ends when the command does. Without such a process, as on cluster nodes, the command does the task itself, with the same results.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from limbtorque.workflow.job import ADDRESS, ONE_THREAD, RUN, work
from limbtorque.workflow.operating_system import say

if TYPE_CHECKING and sys.platform != "linux":
    raise ImportError  # the rest is for Linux: `start` returns elsewhere, and nothing else is called

ALSO = (
    "pyarrow.compute",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.signal",
)  # imported by stages when they first need them
_MESSAGE = 65536
_CREDENTIALS = "3i"  # of the process at the other end of a socket: its number, user and group
_held: list[subprocess.Popen[bytes]] = []


def start(stages: Sequence[str]) -> None:
    """Start the process from which jobs are forked; it ends with this process.

    It has a session of its own, which Ctrl-C does not reach, and an abstract socket, which leaves no file behind.

    Parameters
    ----------
    stages : sequence of str
        Names of the stages, in the order of their jobs.
    """
    if sys.platform != "linux" or not hasattr(socket, "AF_UNIX"):
        return
    name = f"limbtorque-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen(128)
        words = [sys.executable, "-P", "-m", "limbtorque.workflow.worker", str(listener.fileno()), *stages]
        environment = {**os.environ, **ONE_THREAD}
        files = [listener.fileno()]
        started = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            pass_fds=files,
            env=environment,
            start_new_session=True,
            preexec_fn=_ignore_interrupts,
        )
    _held.append(started)
    os.environ[ADDRESS] = f"{name}:{sys.prefix}"
    os.environ[RUN] = str(os.getpid())


def _ignore_interrupts() -> None:
    """Ignore SIGINT before the first import; the process ends with Snakemake."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def serve(listener: socket.socket, stages: Sequence[str]) -> None:
    """Fork for every job until standard input ends with the parent process.

    The first jobs wait only for their stage; other stages are imported when idle.
    """
    first, *todo = stages
    _prepare(first)
    from limbtorque.errors import LimbtorqueError
    from limbtorque.workflow.layout import SETTINGS
    from limbtorque.workflow.run_session import study_of

    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [], 0 if todo else None)
        if sys.stdin in ready:
            return
        if listener not in ready:
            _prepare(todo.pop(0))
            continue
        connection, _ = listener.accept()
        if not _is_ours(connection):
            connection.close()
            continue
        if SETTINGS.is_file():  # read the study for all following jobs, again after a change
            with contextlib.suppress(LimbtorqueError):  # which the job reports
                study_of(Path())
                gc.freeze()
        if os.fork() == 0:
            listener.close()
            _job(connection)
        connection.close()


def _is_ours(connection: socket.socket) -> bool:
    """Return True if the connection is from this user."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(_CREDENTIALS))
    _, user, _ = struct.unpack(_CREDENTIALS, credentials)
    return bool(user == os.getuid())


def _prepare(stage: str) -> None:
    """Import a stage and its libraries and hash its source, for forked jobs."""
    from limbtorque.workflow.keys import code_key

    for name in (f"limbtorque.workflow.stages.{stage}", *ALSO):
        importlib.import_module(name)
    code_key(stage)
    gc.freeze()  # objects of now are not searched for garbage by every job


def _job(connection: socket.socket) -> NoReturn:
    """Do the work of a command in a forked process, and send it the exit code."""
    code = 1
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        message, files, _, _ = socket.recv_fds(connection, _MESSAGE, 2)
        for number, file in zip((1, 2), files, strict=True):
            os.dup2(file, number)
        place, job = json.loads(message)
        os.chdir(place)
        threading.Thread(target=_end_with, args=[connection], daemon=True).start()
        work(job)
        code = 0
    except SystemExit as error:
        say(str(error))
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        try:
            connection.sendall(str(code).encode())
        finally:
            os._exit(code)


def _end_with(connection: socket.socket) -> None:
    """End this process when the waiting command or the run ends."""
    select.select([connection, sys.stdin], [], [])
    os._exit(1)


def main(number: str, *stages: str) -> None:
    """Serve the socket of a file descriptor."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for forked jobs that have ended
    serve(socket.socket(fileno=int(number)), stages)


if __name__ == "__main__":
    main(*sys.argv[1:])
