"""Run the workflow for a study, from a clone or from an installed package."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil

from limbtorque.errors import LimbtorqueError
from limbtorque.workflow.operating_system import ENDS
from limbtorque.workflow.records import VERIFY

_PACKAGE = Path(__file__).resolve().parents[1]
_POLL_S = 0.2
_TERMINAL_POLLS = 15  # in which a run that a terminal interrupted ends by itself
_TARGETS = ("study", "all")  # rules without a job
_PR_SET_PDEATHSIG = 1  # prctl(2)
PLACES = (_PACKAGE.parents[1], _PACKAGE / "_workflow")  # a clone; a wheel (pyproject.toml: force-include)


def snakefile() -> Path:
    """Snakefile of the workflow.

    Returns
    -------
    Path
        That of the clone the package lies in, or the one packed into the wheel.

    Raises
    ------
    LimbtorqueError
        There is neither.
    """
    for place in PLACES:
        if (place / "Snakefile").is_file() and (place / "workflow" / "rules").is_dir():
            return place / "Snakefile"
    raise LimbtorqueError(
        f"no Snakefile is in {' or '.join(map(str, PLACES))}; install the package again, or run snakemake -s <clone>/Snakefile"
    )


def command(study: Path, *, cores: str = "all", slurm: bool = False, more: Sequence[str] = ()) -> list[str]:
    """Command line that runs the workflow for a study.

    Parameters
    ----------
    study : Path
        The study's folder.
    cores : str
        Number of cores, or ``"all"``; without effect where jobs go to Slurm.
    slurm : bool
        True where jobs go to Slurm, by ``profiles/slurm``.
    more : sequence of str
        Further options of Snakemake.
    """
    start = [sys.executable, "-m", "limbtorque.workflow.start_snakemake"]
    where = ["--snakefile", str(snakefile()), "--directory", str(study.absolute())]
    how = ["--profile", str(snakefile().parent / "profiles" / "slurm")] if slurm else ["--cores", cores]
    return [*start, *where, *how, "--keep-going", *more]  # the report is made where the verdict is an error


def run_study(
    study: Path, *, cores: str = "all", slurm: bool = False, verify: bool = False, more: Sequence[str] = ()
) -> int:
    """Run the workflow for a study in a separate process; returns its exit code.

    SIGTERM and SIGHUP are passed on as Ctrl-C, since Snakemake would first finish its running jobs. SIGINT is passed on shortly
    after, but not on Slurm: Ctrl-C at a terminal already reaches that process and its jobs. Then, and where Snakemake was killed,
    128 and the number of the signal is returned. Where this process is killed, that one is, too. With `verify`, the contents
    of all results are compared with their records before, and those that differ are recomputed.
    """
    ended: list[int] = []
    heard = (*ENDS, *[signal.SIGINT] * (not slurm))
    with _passed_on(ended, *heard):
        process = subprocess.Popen(
            command(study, cores=cores, slurm=slurm, more=more),
            stdout=_null_if_full(1),
            stderr=_null_if_full(2),
            env={**os.environ, **({VERIFY: "1"} if verify else {})},
            preexec_fn=_ends_with_parent(by_interrupt=slurm),
        )
        n_polls = 0  # since the signal
        while True:
            with contextlib.suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
                code = process.wait(_POLL_S)
                return 128 + ended[0] if ended else code if code >= 0 else 128 - code
            if ended:
                n_polls += 1
                first = _TERMINAL_POLLS if ended[0] == signal.SIGINT else 1
                if n_polls >= first:
                    _interrupt(process.pid, itself=n_polls == first)


def planned_jobs(study: Path) -> dict[str, int]:
    """Number of jobs by stage that a run would do, as Snakemake plans them.

    Raises
    ------
    LimbtorqueError
        Snakemake has no plan: the study has a fault, or another run is using it.
    """
    more = ("--dry-run", "--nolock", "--quiet", "rules")
    done = subprocess.run(command(study, cores="1", more=more), capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode:
        raise LimbtorqueError(f"Snakemake has no plan: {said.strip() or done.returncode}")
    _, _, stats = said.partition("Job stats:")
    counts = re.findall(r"^(\w+) +(\d+)$", stats.partition("total")[0], re.MULTILINE)
    return {stage: int(number) for stage, number in counts if stage not in _TARGETS}


def _null_if_full(number: int) -> int | None:
    """Null device in place of a full standard stream, which would stop Snakemake."""
    try:
        os.write(number, b"")
    except OSError:
        return subprocess.DEVNULL
    return None


def _ends_with_parent(*, by_interrupt: bool) -> Callable[[], None] | None:
    """Function that ends a child process with its parent; None without fork."""
    if sys.platform == "win32" or not hasattr(os, "fork"):
        return None
    return functools.partial(_end_with_parent, signal.SIGINT if by_interrupt else signal.SIGKILL)


def _end_with_parent(number: signal.Signals) -> None:
    """Have the operating system send a signal when the parent process ends (Linux).

    Snakemake on Slurm is interrupted, so that it cancels its jobs.
    """
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


@contextlib.contextmanager
def _passed_on(ended: list[int], *numbers: signal.Signals) -> Iterator[None]:
    """Record the signals that end this process, unless ignored (`nohup`)."""
    before = {
        number: signal.signal(number, lambda number, _: ended.append(number))
        for number in numbers
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(pid: int, *, itself: bool) -> None:
    """Interrupt a process and all that it started; more may start meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for each in [*[process] * itself, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.send_signal(signal.SIGINT)
