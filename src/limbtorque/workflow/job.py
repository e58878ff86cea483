"""Run a job: one stage, of a session or of the study in the current folder.

The work is done in a process forked by `limbtorque.workflow.worker`, or else in this process.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import logging
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limbtorque.workflow.operating_system import ensure_streams, say

ADDRESS = "LIMBTORQUE_WORKER"  # environment variable: name of the socket of the process that forks, and its environment of Python
RUN = "LIMBTORQUE_RUN"  # environment variable: number of the process of the run, with which its jobs end
_ENDING_S = 0.1  # in which a killed process, whose pipes are closed, is seen to have ended
OPTIONS = ("session", "key")  # of a stage's `run`
# Of the libraries of linear algebra: jobs work side by side, and their threads would wait for each other.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def command(workflow: Any, config: Mapping[str, Any], settings: str) -> str:
    """First words of the command, for the shell.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow.
    config : mapping
        Options of ``--config``.
    settings : str
        Key of the settings that hold.
    """
    wait_s = getattr(workflow.execution_settings, "latency_wait", 0)
    words = [sys.executable, "-P", "-m", "limbtorque.workflow.job"]
    words += [f"--wait={wait_s:g}", f"--settings={settings}"]
    words += [f"--config={json.dumps(config)}"] if config else []
    ignored = "" if sys.platform == "win32" else "trap '' INT; "  # until `do`: no traceback of an import
    return ignored + shlex.join(words)


def do(job: dict[str, Any]) -> None:
    """Run a job in the current folder, in a forked process if possible.

    If that process ends without an answer, the work is done here, unless the run was killed: the next run may
    have begun.

    Parameters
    ----------
    job : dict
        Options of the command: stage, log, wait, and those of the stage's `run`, empty where it has none.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the job without a traceback; it is done again next time
    name, _, prefix = os.environ.get(ADDRESS, "").partition(":")
    code = _forked(name, job) if name and prefix == sys.prefix else ""
    if not code:
        if RUN in os.environ and _run_is_over():
            sys.exit(1)
        if name:
            say(f"{job['stage']} {job['session']}: no process to fork from, done by its command")
        work(job)
    elif code != "0":
        sys.exit(int(code))


def _forked(name: str, job: dict[str, Any]) -> str:
    """Exit code of a job done in a forked process.

    None if there is no such process, or it was killed.
    """
    if sys.platform != "linux":
        return ""
    message = json.dumps([str(Path.cwd()), job]).encode()
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{name}")
        socket.send_fds(connection, [message], [1, 2])
        return connection.recv(16).decode()
    return ""


def _run_is_over() -> bool:
    """Return True where the process that started this job was killed."""
    import psutil

    time.sleep(_ENDING_S)
    try:
        return bool(psutil.Process(int(os.environ[RUN])).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def work(job: dict[str, Any]) -> None:
    """Do the work here; expected errors end with a message, not a traceback."""
    from limbtorque.errors import LimbtorqueError
    from limbtorque.workflow.effective_settings import ensure_settings
    from limbtorque.workflow.layout import study_files
    from limbtorque.workflow.records import WAIT_S, write_seals
    from limbtorque.workflow.run_session import LOG, study_of

    os.environ[WAIT_S] = str(job["wait"])
    Path(job["log"]).parent.mkdir(parents=True, exist_ok=True)
    logging.raiseExceptions = False  # where the disk is full; what is said is printed, too
    handler = logging.FileHandler(job["log"], mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    arguments = {name: job[name] for name in OPTIONS if job[name]}
    try:
        if job["settings"]:
            ensure_settings(Path(), json.loads(job["config"]), job["settings"])
        importlib.import_module(f"limbtorque.workflow.stages.{job['stage']}").run(folder=Path(), **arguments)
        if not job["session"]:
            write_seals(job["stage"], study_files(job["stage"], study_of(Path())), Path())
    except LimbtorqueError as error:
        LOG.error("%s", error)
        sys.exit(str(error))
    except OSError as error:  # a full disk, a limit of the size of files
        LOG.exception("%s", error)
        sys.exit(f"{job['stage']} {job['session']}: {error}; then run the study again; it continues from here")
    except Exception as error:
        LOG.exception("%s", error)
        raise


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(prog="python -m limbtorque.workflow.job", description=__doc__)
    found.add_argument("stage", help="name of the stage")
    found.add_argument("--log", required=True, help="log file")
    found.add_argument("--session", default="", help="name of the session, for stages of sessions")
    found.add_argument("--key", default="", help="hash of the planned study; a different study is refused")
    found.add_argument("--settings", default="", help="hash of the effective settings; different settings are refused")
    found.add_argument("--config", default="{}", help="options of Snakemake's --config, as JSON")
    found.add_argument("--wait", type=float, default=0.0, help="time to wait for files of other nodes, s")
    return found


if __name__ == "__main__":
    os.environ |= ONE_THREAD
    ensure_streams()
    do(vars(parser().parse_args()))
