"""Processor time of each figure by kind and format, and of each page; of two versions in turns.

python benchmarks/figures.py FOLDER                       a study that was run, with one session or more
python benchmarks/figures.py FOLDER --other ../old/src    and another version's `src`, beside this one's
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"
KINDS = ("torques", "contributions", "kinematics", "power", "limb", "muscles", "cutoff")
FORMATS = ("png", "pdf", "svg")
WORK = """
import json, sys, tempfile, time
from dataclasses import replace
from pathlib import Path
from limbtorque.workflow.run_session import study_of
from limbtorque.workflow.stages import figures, pages

study = study_of(Path(sys.argv[1]))
kinds, forms, at_most = json.loads(sys.argv[2])
session = next(iter(study.batches))
trials = study.batches[session][:at_most]

def chosen(trial, **more):
    options = trial.settings.figures
    always = {"cutoff": "always"} if more and hasattr(options, "cutoff") else {}
    options = options.model_copy(update={**more, **always})
    return replace(trial, settings=trial.settings.model_copy(update={"figures": options}))

def run(stage, **more):
    wanted = replace(study, batches={session: [chosen(trial, **more) for trial in trials]})
    stage.planned_study = lambda *_, **__: wanted
    stage.finish = lambda *_, **__: None
    with tempfile.TemporaryDirectory() as made:
        for name in ("figures", "report/trials"):
            (Path(made) / "results" / name / session).mkdir(parents=True)
        start = time.process_time()
        stage.run(folder=Path(made), session=session, key="")
        return 1e3 * (time.process_time() - start) / len(trials)

cases = {f"{kind} {form}": (figures, {"kinds": (kind,), "formats": (form,)}) for kind in kinds for form in forms}
cases = {"all by default": (figures, {}), "page": (pages, {}), **cases}
run(figures), run(pages)
print(json.dumps({name: run(stage, **more) for name, (stage, more) in cases.items()}))
"""


def measured(source: Path, folder: Path, at_most: int) -> dict[str, float]:
    """Milliseconds of processor time per trial, with the package of a folder, in a process of its own."""
    command = [sys.executable, "-c", WORK, str(folder.resolve()), json.dumps([KINDS, FORMATS, at_most])]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--other", type=Path, help="folder `src` of another version")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--trials", type=int, default=20)
    chosen = parser.parse_args()
    sources = [*([chosen.other] if chosen.other else []), SRC]
    turns = [[measured(source, chosen.folder, chosen.trials) for source in sources] for _ in range(chosen.turns)]
    print("| ms per trial |" + " other |" * bool(chosen.other) + " this |" + " ratio |" * bool(chosen.other))
    print("| --- |" + " ---: |" * (len(sources) + bool(chosen.other)))
    for name in turns[0][0]:
        of = [statistics.median(turn[k][name] for turn in turns) for k in range(len(sources))]
        ratio = f" {statistics.median(turn[-1][name] / turn[0][name] for turn in turns):.2f} |" * bool(chosen.other)
        print(f"| {name} |" + "".join(f" {value:.1f} |" for value in of) + ratio)


if __name__ == "__main__":
    main()
