"""Compare limbtorque with other programs: numbers and times of the same work.

The work is inverse dynamics, static optimization, reading and filtering. `make peers-benchmark` installs the other programs
(`peers-requirements.txt`) into an environment of their own. The tables list a program that cannot be installed or imported
as not measured, with the reason.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import site
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from parts import peers_dynamics, peers_filters, peers_reading, peers_sharing
from parts.peers_measure import PROGRAMS, Measured, Work, measure
from parts.peers_page import draw, put_in, section, table
from synthetic import ROOT

REQUIREMENTS = Path(__file__).with_name("peers-requirements.txt")
PAGE = ROOT / "docs" / "benchmarks.md"
FIGURE = "figures/benchmarks_peers.png"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="install the other programs into this environment first")
    parser.add_argument("--write", action="store_true", help="put tables and figure into docs/benchmarks.md")
    parser.add_argument("--quick", action="store_true", help="few frames and runs, to see that everything works")
    parser.add_argument("--runs", type=int, default=21, help="times taken of each way")
    parser.add_argument("--recordings", type=Path, help="folder with the recordings that the tests use")
    options = parser.parse_args()
    reasons = install() if options.install else {}
    warnings.simplefilter("ignore")  # the other programs' about files and units
    start = time.perf_counter()
    runs = 3 if options.quick else options.runs
    everything: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        for work in works(Path(folder), options.recordings, quick=options.quick):
            everything.append(measure(work, runs=runs, reasons=reasons))
            print(f"\n{work.title} ({work.unit})\n\n{table(everything[-1])}", flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s")
    wrong = [f"{m.title}: {row.program} {row.why}" for m in everything for row in m.rows if row.disagrees]
    if wrong:
        raise SystemExit("nothing is written: " + "; ".join(wrong))
    if options.write:
        text = section(everything, about=about(runs, real=options.recordings is not None), figure=FIGURE)
        PAGE.write_text(put_in(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
        draw(everything, PAGE.parent / FIGURE)


def works(folder: Path, recordings: Path | None, *, quick: bool) -> Iterator[Work]:
    """Everything that is compared."""
    yield from peers_dynamics.works(frames=500 if quick else 10_000, single=20 if quick else 200)
    yield from peers_sharing.works(frames=100 if quick else 2000, single=20 if quick else 200)
    yield from peers_reading.works(folder=folder, recordings=recordings)
    yield from peers_filters.works(frames=1000)


def about(runs: int, *, real: bool) -> str:
    """The machine and the versions, as a sentence, and what was left out."""
    parts = [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in ("numpy", "scipy"))]
    few = "" if real else " No real recordings were at hand: the file that is read is one that we wrote."
    return (
        f"One machine with {os.cpu_count()} cores, {platform.system()}, {', '.join(parts)}; {runs} times of each.{few}"
    )


def install() -> dict[str, str]:
    """Install the other programs one by one; those that could not be, and why."""
    lines = [line.strip() for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    reasons = {}
    for line in lines:
        if not line or line.startswith("#"):
            continue
        print(f"installing {line}", flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", line]
        done = subprocess.run(
            [*command, "--constraint", str(ROOT / "constraints.txt")], capture_output=True, text=True, check=False
        )
        if done.returncode:
            name = re.split(r"[=<>~!]", line)[0]
            reasons |= {key: why_not(done.stderr) for key, program in PROGRAMS.items() if program.distribution == name}
    for place in site.getsitepackages():  # what was installed after the start, Pinocchio's own folder too
        site.addsitedir(place)
    importlib.invalidate_caches()
    return reasons


def why_not(said: str) -> str:
    """What pip says of a failure, in one line."""
    errors = [line.removeprefix("ERROR:").strip() for line in said.splitlines() if line.startswith("ERROR:")]
    return f"pip: {errors[-1]}" if errors else "pip could not install it"


if __name__ == "__main__":
    main()
