"""Cost of a study by number of trials and frames, beside plain processes.

python benchmarks/scale.py                       everything: about half an hour on a quiet machine, and 10 GB of disk
python benchmarks/scale.py --sizes 10 100 --frames 1000 --plain 100
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np
import psutil
from scipy.optimize import nnls
from stages import STAGE, numbers
from synthetic import ROOT, study

from limbtorque.motion.limb import Limb

SESSION = 50  # trials
SHORT = 250  # frames of a trial where the number of trials is what grows


@dataclass(frozen=True)
class Run:
    """What a run of Snakemake took: seconds, and the largest memory of its own process and of any job, in MB."""

    seconds: float
    own_mb: float
    job_mb: float


def snakemake(folder: Path, *options: str) -> Run:
    """Run Snakemake in a study and watch its processes."""
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--directory", str(folder)]
    os.sync()  # what was written before is not written now
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--cores", "2", "--quiet", "all", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    peaks: dict[int, float] = {}
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(process.pid, peaks, ended))
    watch.start()
    text, _ = process.communicate()
    seconds = time.perf_counter() - start
    ended.set()
    watch.join()
    if process.returncode:
        sys.exit(text.decode(errors="replace"))
    return Run(seconds, peaks.pop(process.pid, 0.0), max(peaks.values(), default=0.0))


def _watch(pid: int, peaks: dict[int, float], ended: threading.Event) -> None:
    """Note the largest memory, MB, of a process and of all below it, as the system counts it, until told to stop."""
    while not ended.wait(0.5):
        try:
            found = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
        for each in found:
            try:
                lines = Path(f"/proc/{each.pid}/status").read_text().splitlines()
            except OSError:
                continue
            peak = next((float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)
            peaks[each.pid] = max(peak, peaks.get(each.pid, 0.0))


def made(folder: Path, n_trials: int, n_frames: int) -> None:
    """Write a study, in a process of its own: the memory of a process counts that of the one it was started from."""
    worker = get_context("spawn").Process(target=_make, args=(folder, n_trials, n_frames))
    worker.start()
    worker.join()
    if worker.exitcode:
        sys.exit("the study could not be made")


def _make(folder: Path, n_trials: int, n_frames: int) -> None:
    study(folder, n_trials=n_trials, n_sessions=sessions(n_trials), n_frames=n_frames)
    with (folder / "config" / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("\nreport:\n  enabled: false\n")


def sessions(n_trials: int) -> int:
    """Number of sessions of a study: two at least, one for each core."""
    return max(min(2, n_trials), n_trials // SESSION)


def growth(numbers: Sequence[int], seconds: Sequence[float]) -> str:
    """How times grow: a + b n^p with the least squares of relative errors, for p from 0.5 to 2.5."""
    n, t = np.array(numbers, dtype=float), np.array(seconds)
    fits = []
    for power in np.arange(0.5, 2.51, 0.05):
        columns = np.column_stack([np.ones(n.size), n**power]) / t[:, None]
        (a, b), residual = nnls(columns, np.ones(n.size))
        fits.append((residual, power, a, b))
    residual, power, a, b = min(fits)
    return f"{a:.2f} s + {b:.3g} s n^{power:.2f} (errors of {100.0 * residual / np.sqrt(n.size):.0f} %)"


def add_trial(folder: Path, session: str) -> None:
    with (folder / "config" / "trials.csv").open("a", encoding="utf-8") as file:
        file.write(f"added_{session},{session},S01,data/t00000.c3d,arm,right,slow\n")


def number_of_trials(sizes: Sequence[int]) -> None:
    columns = ("parse", "graph", "from nothing", "nothing to do", "one added")
    print(
        f"Trials of {SHORT} frames and 40 markers in sessions of {SESSION}: seconds, and MB of Snakemake's own process"
    )
    print(f"{'trials':>8s}" + "".join(f"{name:>21s}" for name in columns) + f"{'largest job (MB)':>18s}")
    seconds = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "study"
            made(folder, n, SHORT)
            runs = [snakemake(folder, "--list-rules"), snakemake(folder, "--dry-run"), snakemake(folder)]
            runs.append(snakemake(folder))
            add_trial(folder, "new")
            runs.append(snakemake(folder))
        seconds.append([run.seconds for run in runs])
        cells = "".join(f"{run.seconds:12.1f} s {run.own_mb:4.0f} MB" for run in runs)
        print(f"{n:8d}{cells}{max(run.job_mb for run in runs):18.0f}", flush=True)
    if len(sizes) > 3:
        for k, name in enumerate(columns):
            print(f"  {name}: {growth(sizes, [row[k] for row in seconds])}")


def number_of_frames(lengths: Sequence[int]) -> None:
    print("One trial of 40 markers, CSV left out, reading.memory_limit_mb raised; each once:")
    print("seconds of a job with its start, MB of it and of the process that reads")
    stages = ("kinematics", "torques", "muscles")
    print(f"{'frames':>8s}" + "".join(f"{name:>26s}" for name in stages))
    seconds = []
    for n in lengths:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "study"
            made(folder, 1, n)
            with (folder / "config" / "config.yaml").open("a", encoding="utf-8") as file:
                file.write("tables:\n  csv: []\nreading:\n  memory_limit_mb: 12000\n")
            row, cells = [], ""
            for stage in stages:
                time_s, own, child = numbers(STAGE, folder, stage)
                row.append(time_s)
                cells += f"{time_s:9.2f} s {own:5.0f} + {child:4.0f} MB"
            seconds.append(row)
            print(f"{n:8d}{cells}", flush=True)
    if len(lengths) > 3:
        for k, name in enumerate(stages):
            print(f"  {name}: {growth(lengths, [row[k] for row in seconds])}")


def plain(folder: str, share: int, shares: int) -> None:
    """Everything a plain script would do for its share of the trials: read, analyse in memory, write all tables."""
    from limbtorque.analysis.trial import analyse_recording
    from limbtorque.recordings.c3d.read import read_c3d
    from limbtorque.study.study import load_study
    from limbtorque.tables.files import write_table

    whole = load_study(Path(folder))
    for trial in whole.trials[share::shares]:
        result = analyse_recording(
            read_c3d(trial.file), Limb(trial.chain, side=trial.side, body_mass_kg=trial.subject.mass_kg), trial.settings
        )
        named = {"kinematics": result.kinematics_table, "torques": result.torque_table, "muscles": result.muscle_table}
        for name, table in named.items():
            for suffix in (".parquet", ".csv"):
                write_table(table, Path(folder) / "plain" / name / f"{trial.name}{suffix}")


def plain_processes(folder: Path, cores: int) -> float:
    """Seconds of one plain process per core."""
    os.sync()
    start = time.perf_counter()
    context = get_context("spawn")
    workers = [context.Process(target=plain, args=(str(folder), k, cores)) for k in range(cores)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        if worker.exitcode:
            sys.exit("a plain process failed")
    return time.perf_counter() - start


def beside_plain_processes(n_trials: int, times: int) -> None:
    pairs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "study"
        made(folder, n_trials, 1000)
        for path in folder.glob("data/*.c3d"):
            path.read_bytes()  # both start from the page cache
        for _ in range(times):  # in turns, each from nothing
            for old in ("plain", "results", ".snakemake"):
                shutil.rmtree(folder / old, ignore_errors=True)
            pairs.append((plain_processes(folder, 2), snakemake(folder)))
        paths = [p for name in ("kinematics", "torques", "muscles") for p in folder.glob(f"results/{name}/*/*.csv")]
        same = sum((folder / "plain" / p.parts[-3] / p.name).read_bytes() == p.read_bytes() for p in paths)
        nothing = snakemake(folder)
        add_trial(folder, "new")
        added = snakemake(folder)
        add_trial(folder, "s000")
        enlarged = snakemake(folder)
    print(
        f"{n_trials} trials of 1000 frames and 40 markers in {sessions(n_trials)} sessions, 2 cores, no figures and pages;"
    )
    print("the plain processes read without a process of their own, keep no metadata, and make no table of the study")
    plain_s, whole_s = [one for one, _ in pairs], [two.seconds for _, two in pairs]
    ratios = [two / one for one, two in zip(plain_s, whole_s, strict=True)]
    print(f"{times} times in turns: medians, and the lowest and highest in brackets")
    for what, found, unit in (
        ("one plain process per core, tables of the trials", plain_s, " s"),
        ("snakemake, from nothing to all tables, of the study too", whole_s, " s"),
        ("the second over the first; aim: 2", ratios, ""),
    ):
        print(f"  {what:56s} {median(found):7.2f}{unit} ({min(found):.2f} to {max(found):.2f})")
    print(f"  snakemake, nothing to do                                 {nothing.seconds:7.1f} s; aim: 5")
    print(f"  snakemake, one trial added, a session of its own         {added.seconds:7.1f} s; aim: 10")
    print(f"  snakemake, one trial added to a session                  {enlarged.seconds:7.1f} s; aim: 10")
    print(
        f"  largest process: snakemake {max(two.own_mb for _, two in pairs):.0f} MB, jobs {max(two.job_mb for _, two in pairs):.0f} MB; aim: 500"
    )
    print(f"  tables of the trials (CSV): {len(paths)} made, {same} the same, to the byte, as the plain processes'")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 100, 1000, 10_000], help="numbers of trials")
    parser.add_argument(
        "--frames", type=int, nargs="*", default=[10**3, 10**4, 10**5, 10**6], help="lengths of a trial"
    )
    parser.add_argument("--plain", type=int, default=1000, help="trials beside plain processes; 0: none")
    parser.add_argument("--times", type=int, default=3, help="how often those are done in turns")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    if options.plain:
        beside_plain_processes(options.plain, options.times)
    if options.sizes:
        number_of_trials(options.sizes)
    if options.frames:
        number_of_frames(options.frames)


if __name__ == "__main__":
    main()
