"""The command of a job of the workflow: one stage, of a batch of trials or of the study whose folder is the current one.

It starts in the time that Python takes; the work is done in a process that `limbtorque.workflow.worker` has forked, or here
where there is none.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import signal
import socket
import sys
from pathlib import Path
from typing import Any

ADDRESS = "LIMBTORQUE_WORKER"  # environment variable: address of the process that forks, and its environment of Python


def command(workflow: Any) -> str:
    """First words of the command, for the shell.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow, whose jobs may have environments of their own.
    """
    methods = {method.name for method in workflow.deployment_settings.deployment_method}
    python = "python" if "CONDA" in methods else shlex.quote(sys.executable)  # workflow/envs
    return f"{python} -P -m limbtorque.workflow.job"


def do(stage: str, log: str, batch: str = "", key: str = "") -> None:
    """Do one stage in the study's folder, which is the current one: in a forked process, or in this one.

    Parameters
    ----------
    stage : str
        Name of the stage.
    log : str
        File for its log.
    batch, key : str
        For the stage's `run`; empty where it has none.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the job without a traceback; it is done again next time
    address, _, prefix = os.environ.get(ADDRESS, "").partition(":")
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            if not address or prefix != sys.prefix:
                raise OSError("no process to fork from")
            connection.connect(address)
        except OSError:
            work(stage, log, batch, key)
            return
        message = json.dumps([str(Path.cwd()), stage, log, batch, key]).encode()
        socket.send_fds(connection, [message], [1, 2])
        code = connection.recv(16)
    if code != b"0":
        sys.exit(int(code) if code else f"the process of {stage} {batch}".rstrip() + " was ended")


def work(stage: str, log: str, batch: str, key: str) -> None:
    """Do the work in this process; what the program has to say of a fault is said without a traceback."""
    from limbtorque.errors import LimbtorqueError
    from limbtorque.workflow.batch import LOG, log_to

    log_to(Path(log))
    arguments = {name: value for name, value in (("batch", batch), ("key", key)) if value}
    try:
        importlib.import_module(f"limbtorque.workflow.stages.{stage}").run(folder=Path(), **arguments)
    except LimbtorqueError as error:
        LOG.error("%s", error)
        sys.exit(str(error))
    except Exception as error:
        LOG.exception("%s", error)
        raise


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m limbtorque.workflow.job", description=__doc__)
    parser.add_argument("stage", help="name of the stage")
    parser.add_argument("--log", required=True, help="file for its log")
    parser.add_argument("--batch", default="", help="name of the batch, for stages that work on one")
    parser.add_argument("--key", default="", help="hash of what the job was planned with; another study is refused")
    do(**vars(parser.parse_args()))
