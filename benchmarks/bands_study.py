"""Processor time of a whole study with and without uncertainty, run in turns, every time from the beginning.

Trials are synthetic reaches of 1000 frames; figures and pages are off, as they would hide the difference.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from synthetic import study

ROOT = Path(__file__).resolve().parents[1]
KINDS = {
    "without": (),
    "linear": ("uncertainty={enabled: true}",),
    "linear, in every torque table": ("uncertainty={enabled: true}", "torques={bands: true}"),
}
SAMPLES = {"512 samples, with muscles": ("uncertainty={enabled: true, samples: 512}",)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--times", type=int, default=2, help="runs of each kind, of which the fastest counts")
    parser.add_argument("--samples", action="store_true", help="also with samples")
    options = parser.parse_args()
    kinds = KINDS | (SAMPLES if options.samples else {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "study"
        study(folder, n_trials=options.trials, n_sessions=1, n_frames=1000)
        found: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(options.times):
            for kind, more in kinds.items():
                shutil.rmtree(folder / "results", ignore_errors=True)
                found[kind].append(processor_s(folder, more))
    least = {kind: min(times) for kind, times in found.items()}
    print(f"{options.trials} trials of 1000 frames, fastest of {options.times}\n")
    print("| uncertainty | processor time, s | ratio |\n| --- | ---: | ---: |")
    for kind, used_s in least.items():
        print(f"| {kind} | {used_s:.1f} | {used_s / least['without']:.2f} |")


def processor_s(folder: Path, more: tuple[str, ...]) -> float:
    """Processor time of a run of the workflow with its jobs, s."""
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "-s",
        str(ROOT / "Snakefile"),
        "--directory",
        str(folder),
        "--cores",
        "1",
    ]
    asked = [*command, "--quiet", "all", "--config", "report={enabled: false}", *more]
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


if __name__ == "__main__":
    main()
