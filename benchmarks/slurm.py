"""Time a study of short sessions on one machine and on Slurm.

On Slurm with one and with ten sessions in a job.

It needs a Slurm whose node answers: `.ci/slurm-node start FOLDER`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from synthetic import study

from limbtorque.cli.run_study import command


def run(folder: Path, *, slurm: bool, more: tuple[str, ...] = ()) -> tuple[float, int]:
    """Seconds that a run took, and how many jobs it handed to Slurm."""
    start = time.perf_counter()
    done = subprocess.run(
        command(folder, cores="2", slurm=slurm, more=more), capture_output=True, text=True, check=False
    )
    took_s = time.perf_counter() - start
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return took_s, len(re.findall("with SLURM jobid", done.stdout + done.stderr))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=20)
    options = parser.parse_args()
    accounts = ("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "5")
    ways = {
        "one machine, 2 cores": {"slurm": False},
        "Slurm, 1 session in a job": {"slurm": True, "more": (*accounts, "--group-components", "short_sessions=1")},
        "Slurm, 10 sessions in a job": {"slurm": True, "more": accounts},
    }
    print(f"{options.trials} trials of 1000 frames in {options.sessions} sessions, no figures")
    for name, how in ways.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "study"
            study(folder, n_trials=options.trials, n_sessions=options.sessions)
            took_s, jobs = run(folder, **how)
            print(f"{name:30s} {took_s:7.1f} s {jobs:4d} jobs", flush=True)


if __name__ == "__main__":
    main()
