"""Detection of damaged recordings by the quality metrics, on simulated movements with known torques.

python benchmarks/damages.py --write docs/damage_benchmark.md
python benchmarks/damages.py --quick
python benchmarks/damages.py --movements --short --first 100 --write docs/movements.md
python benchmarks/damages.py --files 1000 --write docs/reliability.md
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from parts.damage_files import files_table, rows_of_files
from parts.damage_kinds import KINDS
from parts.damage_page import movement_tables, page_tables, put_into_page
from parts.damage_subjects import MOVEMENTS, SHARES, Trial, make_trial, subjects

from limbtorque.analysis.trial import TrialResult, analyse_recording
from limbtorque.errors import LimbtorqueError

UNDAMAGED = 12  # recordings of each subject


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four subjects of each task, under a minute")
    parser.add_argument(
        "--movements",
        action="store_true",
        help="runs, jumps, squats, sit-to-stand and lifts in place of walks and reaches",
    )
    parser.add_argument("--files", type=int, default=0, help="damaged C3D files of a walk in place of damaged signals")
    parser.add_argument("--short", action="store_true", help="two subjects of each movement, two sizes of each damage")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first subject; each number is another person"
    )
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rows", type=Path, help="keep a row for each trial in this file (CSV)")
    parser.add_argument("--from-rows", type=Path, help="judge these rows, analyse nothing")
    parser.add_argument("--write", type=Path, help="page of the docs whose tables are replaced")
    options = parser.parse_args()
    began = time.perf_counter()
    rows = pd.read_csv(options.from_rows) if options.from_rows else run_of(options)
    if options.rows:
        rows.to_csv(options.rows, index=False)
    print(f"{len(rows)} trials in {time.perf_counter() - began:.0f} s")
    tables = {"movements": movement_tables(rows)} if options.movements else None
    tables = tables or ({"walks": files_table(rows)} if options.files else page_tables(rows))
    print("\n\n".join(tables.values()))
    if options.write:
        put_into_page(options.write, tables)


def run_of(options: argparse.Namespace) -> pd.DataFrame:
    """Rows of the files, or of the movements and subjects that are asked for."""
    if options.files:
        return rows_of_files(options.files, options.cores)
    count = 2 if options.short else 4 if options.quick else None
    return run(
        count,
        options.cores,
        tuple(MOVEMENTS if options.movements else SHARES),
        4 if options.short else 1,
        options.first,
    )


def run(
    count: int | None = None,
    cores: int = 2,
    tasks: tuple[str, ...] = tuple(SHARES),
    every: int = 1,
    first: int = 0,
) -> pd.DataFrame:
    """One row for each analysed trial: subject, task, kind, size, error, status and all metrics."""
    jobs = [(task, subject, every) for task in tasks for subject in subjects(task, count=count, first=first)]
    os.environ["OMP_NUM_THREADS"] = "1"
    if cores == 1:
        parts = [rows_of(*job) for job in jobs]
    else:
        with ProcessPoolExecutor(cores) as pool:
            parts = list(pool.map(rows_of, *zip(*jobs, strict=True), chunksize=1))
    return pd.DataFrame([row for part in parts for row in part])


def rows_of(task: str, subject: str, every: int = 1) -> list[dict[str, object]]:
    """All trials of one subject: undamaged ones, and one of every kind and size, or of every fourth size."""
    warnings.simplefilter("ignore")
    trials = [("none", 0.0, make_trial(task, subject, repetition=n)) for n in range(UNDAMAGED)]
    return [row(kind, size, trial) for kind, size, trial in (*trials, *damaged(task, subject, every))]


def damaged(task: str, subject: str, every: int = 1) -> Iterator[tuple[str, float, Trial]]:
    """Every kind and size of damage, on recordings that are not among the undamaged ones."""
    made = [make_trial(task, subject, repetition=UNDAMAGED + n) for n in range(UNDAMAGED)]
    for number, kind in enumerate(KINDS):
        sizes = kind.sizes(task)
        for index, size in list(enumerate(sizes if len(sizes) > 1 else 4 * sizes))[::-every]:
            trial = made[(3 * number + index) % UNDAMAGED]
            rng = np.random.default_rng([trial.seed, number, index])
            yield kind.name, size, kind.damage(trial, size, rng)


def row(kind: str, size: float, trial: Trial) -> dict[str, object]:
    """Analyse a trial: its error, status and metrics."""
    found: dict[str, object] = {"subject": trial.subject, "task": trial.task, "kind": kind, "size": size}
    try:
        result = analyse_recording(trial.recording, trial.limb, trial.settings)
    except LimbtorqueError as error:
        return {**found, "status": "failed", "message": str(error)[:120]}
    error, peak, known = error_of(trial, result)
    verdict, judged = result.verdict, result.records["torques"]
    metrics = {**result.motion.metrics, **judged.metrics}
    metrics |= {name: max(values.values()) for name, values in judged.joint_metrics.items() if values}
    judgement = {"status": verdict.status, "flags": " ".join(verdict.names)}
    return {**found, "error": error, "peak": peak, "known": known, **judgement, **metrics}


def error_of(trial: Trial, result: TrialResult) -> tuple[float, float, float]:
    """Largest error of a joint relative to its range, its largest value at any frame, and the share of the window with torques.

    Root mean square difference of net torques over the frames of the window that have one and are free of edge effects,
    flexion positive on both sides, divided by the range of the exact torque over the window; the largest of the joints.
    """
    motion, (start, end) = result.motion, trial.window_s
    net = result.torques.terms.net * motion.flexion.sign
    exact = trial.torque_nm[motion.frame - trial.recording.first_frame]
    inside = (motion.time_s >= start) & (motion.time_s <= end)
    used = inside & ~motion.edge & ~np.isnan(net).any(axis=1)
    times = trial.recording.time_s
    window = (times >= start) & (times <= end)
    size = np.ptp(trial.torque_nm[window], axis=0)
    if not used.any():
        return float("nan"), float("nan"), 0.0
    off = np.abs(net - exact)[used] / size
    return float(np.sqrt((off**2).mean(axis=0)).max()), float(off.max()), float(used.sum() / window.sum())


if __name__ == "__main__":
    main()
