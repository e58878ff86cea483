"""Time and peak memory of each stage's jobs, beside the requested resources."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = ((1, 1000), (10, 1000), (100, 1000), (1, 10000), (10, 10000), (1, 60000), (1000, 1000))
MAKE = """
import sys
from pathlib import Path
from synthetic import study
n_trials = int(sys.argv[2])
study(Path(sys.argv[1]), n_trials=n_trials, n_sessions=1, n_frames=int(sys.argv[3]), figures=n_trials <= 100)
with (Path(sys.argv[1]) / "config" / "config.yaml").open("a") as file:
    file.write("run: {max_trials_per_job: 1000}\\n")
"""
STAGE = """
import importlib, resource, sys, time
start = time.perf_counter()
from pathlib import Path
from limbtorque.workflow import keys, layout
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_record
folder, name = Path(sys.argv[1]), sys.argv[2]
module = importlib.import_module(f"limbtorque.workflow.stages.{name}")
study = load_study(folder)
(session,) = study.batches
if name in layout.SOURCES:
    module.run(folder=folder, session=session, key=keys.session_key(name, study, session))
else:
    module.run(folder=folder)
peaks = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(time.perf_counter() - start, *peaks)
tables = (folder / "results" / name).glob("*/*.parquet") if name in layout.TABLE_STAGES else []
if failed := [path.stem for path in tables if read_record(path).failed]:
    sys.exit(f"{name} failed: {failed}")
"""
ASKED = """
import sys
from pathlib import Path
from limbtorque.workflow import layout, resources
from limbtorque.study.study import load_study
study = load_study(Path(sys.argv[1]))
(trials,) = study.batches.values()
print(max(file.stat().st_size for trial in trials for file in trial.files) / 1e6)
if sys.argv[2] in layout.SOURCES:
    print(60 * resources.minutes(sys.argv[2], trials), resources.memory_mb(trials))
else:
    print(60 * resources.study_minutes(study), resources.study_memory_mb(study))
"""


def numbers(text: str, *arguments: object) -> list[float]:
    """What a Python process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)],
        check=True,
        cwd=HERE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    print("trials frames file (MB) stage         time (s) job (MB) reading (MB) asked (s) asked (MB)")
    for n_trials, n_frames in CASES:
        stages = [
            "kinematics",
            "torques",
            "muscles",
            "figures",
            "pages",
            "curves",
            "ensembles",
            "collect",
            "study_figures",
            "report",
        ]
        if n_trials > 100:
            stages = [stage for stage in stages if "figures" not in stage]  # minutes of drawing
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "study"
            numbers(MAKE, folder, n_trials, n_frames)
            for stage in stages:
                time_s, job, reading = numbers(STAGE, folder, stage)
                size, asked_s, asked_mb = numbers(ASKED, folder, stage)
                print(
                    f"{n_trials:6d} {n_frames:6d} {size:9.1f} {stage:13s} {time_s:8.1f} {job:8.0f} {reading:12.0f} "
                    f"{asked_s:9.0f} {asked_mb:10.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
