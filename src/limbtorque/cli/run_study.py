"""Run the workflow for a study, from a clone or from an installed package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from limbtorque.errors import LimbtorqueError

_PACKAGE = Path(__file__).resolve().parents[1]
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
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile()), "--directory", str(study)]
    how = ["--profile", str(snakefile().parent / "profiles" / "slurm")] if slurm else ["--cores", cores]
    return [*start, *how, *more]


def run_study(study: Path, *, cores: str = "all", slurm: bool = False, more: Sequence[str] = ()) -> int:
    """Run the workflow for a study in a process of its own; returns its exit code.

    Ctrl-C reaches that process, too, which then ends its jobs: this one waits for it.
    """
    if not (study / "config" / "config.yaml").is_file():
        raise LimbtorqueError(
            f"{study} has no config/config.yaml, so it is not a study; `limbtorque init {study} --from RECORDINGS` proposes one"
        )
    process = subprocess.Popen(command(study, cores=cores, slurm=slurm, more=more))
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
