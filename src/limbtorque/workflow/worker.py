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
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from limbtorque.workflow import operating_system
from limbtorque.workflow.job import ADDRESS, ONE_THREAD, RUN, short, work
from limbtorque.workflow.operating_system import say, temporary_folder

if TYPE_CHECKING and sys.platform == "win32":
    raise ImportError  # the rest is not for Windows: `start` returns there, and nothing else is called

ALSO = (
    "pyarrow.compute",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.signal",
)  # imported by stages when they first need them
_MESSAGE = 65536
_OPEN_FILES = Path("/proc/self/fd")  # by which sockets have short names
_NAME = "jobs"
_held: list[subprocess.Popen[bytes]] = []


def start(stages: Sequence[str]) -> None:
    """Start the process from which jobs are forked; it ends with this process.

    If it cannot be started, the commands do the work themselves.

    Parameters
    ----------
    stages : sequence of str
        Names of the stages, in the order of their jobs.
    """
    if not (hasattr(os, "fork") and hasattr(socket, "AF_UNIX") and _OPEN_FILES.is_dir()):  # Windows, macOS
        return
    try:
        address = temporary_folder() / _NAME
        with socket.socket(socket.AF_UNIX) as listener:
            with short(address) as name:
                listener.bind(name)
            listener.listen(128)
            words = [sys.executable, "-P", "-m", "limbtorque.workflow.worker", str(listener.fileno()), str(address)]
            with operating_system.held():
                environment = {**os.environ, **ONE_THREAD}
                started = subprocess.Popen(
                    [*words, *stages], stdin=subprocess.PIPE, pass_fds=[listener.fileno()], env=environment
                )
                _held.append(started)
    except OSError as error:
        say(f"jobs are slower: no process to fork them from ({error}); set TMPDIR to another folder")
        return
    os.environ[ADDRESS] = f"{address}:{sys.prefix}"
    os.environ[RUN] = str(os.getpid())


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
        if SETTINGS.is_file():  # read the study for all following jobs, again after a change
            with contextlib.suppress(LimbtorqueError):  # which the job reports
                study_of(Path())
                gc.freeze()
        with operating_system.held():
            if os.fork() == 0:
                listener.close()
                _job(connection)
        connection.close()


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
    _end_by(signal.SIG_DFL)
    operating_system.let_in()
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


def _end_by(how: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    """Let other signals end this process, unless ignored (`nohup`)."""
    for number in operating_system.ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, how)


def _end(folder: Path) -> NoReturn:
    """End this process, removing its folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def main(number: str, address: str, *stages: str) -> None:
    """Serve the socket of a file descriptor; finally remove its folder.

    SIGTERM and SIGHUP also remove it.
    """
    folder = Path(address).parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake ends its jobs, and this process with itself
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for forked jobs that have ended
    _end_by(lambda *_: _end(folder))
    operating_system.let_in()
    try:
        serve(socket.socket(fileno=int(number)), stages)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
