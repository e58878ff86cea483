"""Processor time of the stages of a study with and without uncertainty, run in turns.

Trials are synthetic reaches of 1000 frames. Each kind of study runs its stages in a process of its own, with the processes that
read the recordings; figures, pages and the workflow's own time are left out, as they would hide the difference.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from synthetic import study

from limbtorque.workflow.job import ONE_THREAD

HERE = Path(__file__).resolve().parent
KINDS = {
    "without": "uncertainty: {enabled: false}\n",
    "linear": "uncertainty: {enabled: true}\n",
    "linear, in every torque table": "uncertainty: {enabled: true}\ntorques: {bands: true}\n",
}
SAMPLES = {"512 samples, with muscles": "uncertainty: {enabled: true, samples: 512}\n"}
STAGES = """
import csv, importlib, resource, sys
from pathlib import Path
from limbtorque.study.study import load_study
from limbtorque.workflow import keys
folder = Path(sys.argv[1])
study = load_study(folder)
(session,) = study.batches
def used_s():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)
names = ("kinematics", "torques", "muscles", "curves", "ensembles", "collect")
modules = {name: importlib.import_module("limbtorque.workflow.stages." + name) for name in names}
start = used_s()
for name, module in modules.items():
    own = {} if name in ("ensembles", "collect") else {"session": session}
    key = {"key": keys.session_key(name, study, session)} if own else {}
    module.run(folder=folder, **own, **key)
print(used_s() - start)
with (folder / "results" / "ledger.csv").open() as file:
    if failed := [row["message"] for row in csv.DictReader(file) if row["torque_status"] == "failed"]:
        sys.exit(failed[0])
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--times", type=int, default=2, help="runs of each kind, of which the fastest counts")
    parser.add_argument("--samples", action="store_true", help="also with samples")
    options = parser.parse_args()
    kinds = KINDS | (SAMPLES if options.samples else {})
    least = dict.fromkeys(kinds, float("inf"))
    for _ in range(options.times):
        for kind, more in kinds.items():
            least[kind] = min(least[kind], processor_s(options.trials, more))
    print(f"{options.trials} trials of 1000 frames, fastest of {options.times}\n")
    print("| uncertainty | processor time, s | ratio |\n| --- | ---: | ---: |")
    for kind, used_s in least.items():
        print(f"| {kind} | {used_s:.1f} | {used_s / least['without']:.2f} |")


def processor_s(n_trials: int, more: str) -> float:
    """Processor time of the stages of a study with these settings added, s."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "study"
        study(folder, n_trials=n_trials, n_sessions=1, n_frames=1000)
        with (folder / "config" / "config.yaml").open("a", encoding="utf-8") as file:
            file.write(more)
        words, environment = [sys.executable, "-c", STAGES, str(folder)], {**os.environ, **ONE_THREAD}
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
