"""Time a study of many trials through Snakemake, and the same work by one plain process per core."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from synthetic import ROOT, study


def plain(folder: str, share: int, shares: int) -> None:
    """Everything a plain script would do for its share of the trials: read, analyse in memory, write all tables."""
    from limbtorque.analysis import analyse_recording
    from limbtorque.readers.c3d import read_c3d
    from limbtorque.study import load_study
    from limbtorque.tables import write_table

    whole = load_study(Path(folder))
    for trial in whole.trials[share::shares]:
        result = analyse_recording(
            read_c3d(trial.file),
            chain=trial.chain,
            side=trial.side,
            body_mass_kg=trial.subject.mass_kg,
            settings=trial.settings,
        )
        named = {"kinematics": result.kinematics_table, "torques": result.torque_table, "muscles": result.muscle_table}
        for name, table in named.items():
            for suffix in (".parquet", ".csv"):
                write_table(table, Path(folder) / "plain" / name / f"{trial.name}{suffix}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "study"
        study(folder, n_trials=options.trials, n_sessions=options.sessions)
        for path in folder.glob("data/*.c3d"):
            path.read_bytes()  # both start from the page cache
        start = time.perf_counter()
        context = get_context("spawn")
        workers = [context.Process(target=plain, args=(str(folder), k, options.cores)) for k in range(options.cores)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            if worker.exitcode:
                sys.exit("a plain process failed")
        plain_s = time.perf_counter() - start
        command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--directory", str(folder)]
        command += ["--cores", str(options.cores), "--quiet", "all"]
        times = {}
        for what in ("from nothing", "nothing to do"):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[what] = time.perf_counter() - start
        made = len(list(folder.glob("results/torques/*.csv")))
        same = sum(
            (folder / "plain" / path.relative_to(folder / "results")).read_bytes() == path.read_bytes()
            for path in folder.glob("results/torques/*.csv")
        )
    print(
        f"{options.trials} trials of 1000 frames and 40 markers in {options.sessions} sessions, {options.cores} cores"
    )
    print(f"  plain processes            {plain_s:7.1f} s")
    print(
        f"  snakemake, from nothing    {times['from nothing']:7.1f} s, {times['from nothing'] / plain_s:.2f} times; aim: 2.5"
    )
    print(f"  snakemake, nothing to do   {times['nothing to do']:7.1f} s")
    print(f"  torque tables: {made} made, {same} the same, to the byte, as the plain processes'")


if __name__ == "__main__":
    main()
