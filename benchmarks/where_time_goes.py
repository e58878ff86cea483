"""Processor time of a whole run by stage and kind of work, before and after.

python benchmarks/where_time_goes.py ../old                 the checkout `../old` and this one, in turns
python benchmarks/where_time_goes.py ../old --trials 1000 --sessions 20 --turns 5 --defaults

Every process of a run samples its own stack after each millisecond of processor time (`sampled_stacks.py`). The time between
two samples counts for the innermost function that a kind of work is known for.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sampled_stacks import KINDS, STAGES
from synthetic import ROOT, study

PICTURE = ROOT / "docs" / "figures" / "where_time_goes.svg"
OF_STUDY = ("ensembles", "collect", "verdict", "study_figures", "report")  # one colour in the picture
SAMPLED_TURNS = 2  # of so many turns, the kinds of work; all are timed
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: processes whose parent has ended are waited for here
_SAMPLER = "from sampled_stacks import start; start()\n"


@dataclass(frozen=True)
class Run:
    """Times of a run, s: of the clock, of all processes, and by stage and kind of work."""

    clock_s: float
    processor_s: float
    by_stage: np.ndarray


def measured(command: list[str], **options: object) -> tuple[float, float]:
    """Seconds of the clock, and of the processor in a command and all that it starts.

    This process waits for those whose parent ended first, too, as processes that jobs are forked from.
    """
    before, start = _children_s(), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)  # type: ignore[call-overload]
    text, _ = process.communicate()
    clock_s = time.perf_counter() - start
    if process.returncode:
        sys.exit(text.decode(errors="replace"))
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return clock_s, _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(checkout: Path, folder: Path, *, sampled: bool) -> Run:
    """Run a study from nothing with the version of a checkout; its compiled modules lie beside the study."""
    for old in ("results", ".snakemake"):
        shutil.rmtree(folder / old, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        paths = [str(checkout / "src")]
        if sampled:
            (Path(name) / "sitecustomize.py").write_text(_SAMPLER, encoding="utf-8")
            paths += [name, str(Path(__file__).parent)]
        samples = Path(name) / "samples"
        samples.mkdir()
        command = [sys.executable, "-m", "snakemake", "-s", str(checkout / "Snakefile"), "--directory", str(folder)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONPYCACHEPREFIX": str(folder.parent / "compiled")}
        environment |= {"LIMBTORQUE_SAMPLES": str(samples)}
        os.sync()
        clock_s, processor_s = measured([*command, "--cores", "2", "--quiet", "all"], env=environment)
        found = [np.fromfile(path) for path in samples.iterdir()]
    by_stage = np.sum(found, axis=0).reshape(len(STAGES), len(KINDS)) if found else np.zeros((len(STAGES), len(KINDS)))
    by_stage[STAGES.index("run"), KINDS.index("start")] += max(
        processor_s - by_stage.sum(), 0.0
    )  # before and after Python
    return Run(clock_s, processor_s, by_stage)


def table(names: list[str], runs: dict[str, list[Run]], n_trials: int) -> str:
    """Milliseconds of processor time a trial by kind of work and by stage."""
    mean = {name: 1e3 * np.mean([run.by_stage for run in runs[name]], axis=0) / n_trials for name in names}
    lines = [f"{'ms a trial':24s}" + "".join(f"{name:>10s}" for name in names)]
    for rows, axis in ((KINDS, 0), (STAGES, 1)):
        for k, row in enumerate(rows):
            cells = "".join(f"{mean[name].sum(axis=axis)[k]:10.2f}" for name in names)
            lines.append(f"{row:24s}{cells}")
        lines.append(f"{'all':24s}" + "".join(f"{mean[name].sum():10.2f}" for name in names))
    return "\n".join(lines)


def draw(names: list[str], runs: dict[str, list[Run]], n_trials: int, title: str, path: Path) -> None:
    """Draw bars of the kinds of work, one above the other for each stage, old beside new."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "limbtorque"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9.0, 6.5), layout="constrained")
    rows = np.arange(len(KINDS))
    groups = {stage: (STAGES.index(stage),) for stage in STAGES if stage not in OF_STUDY}
    groups["of the study"] = tuple(STAGES.index(stage) for stage in OF_STUDY)
    colours = plt.get_cmap("tab10").colors  # type: ignore[attr-defined]
    for k, name in enumerate(names):
        mean = 1e3 * np.mean([run.by_stage for run in runs[name]], axis=0) / n_trials
        left, y = np.zeros(len(KINDS)), rows + 0.4 * (k - (len(names) - 1) / 2)
        newest = k == len(names) - 1  # in full colour
        for (group, stages), colour in zip(groups.items(), colours, strict=False):
            part = mean[list(stages)].sum(axis=0)
            label = group if newest else None
            axes.barh(y, part, 0.36, left=left, color=colour, alpha=1.0 if newest else 0.45, label=label)
            left += part
        for place, length in zip(y, left, strict=True):
            axes.text(length, place, f" {name} {length:.1f}", va="center", fontsize=7)
    axes.set(yticks=rows, yticklabels=KINDS, xlabel="processor time (ms a trial)", title=title)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="stage", fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "before", type=Path, nargs="?", help="checkout of the version to compare with; none: this one only"
    )
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=4)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--defaults", action="store_true", help="with figures and pages")
    parser.add_argument("--picture", type=Path, default=PICTURE)
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    checkouts = {"before": options.before.resolve()} if options.before else {}
    checkouts["after"] = ROOT
    times: dict[str, list[Run]] = {name: [] for name in checkouts}
    sampled: dict[str, list[Run]] = {name: [] for name in checkouts}
    with tempfile.TemporaryDirectory() as place:
        folder, first = Path(place) / "study", Path(place) / "first"
        for each, n_trials, n_sessions in ((first, 2, 1), (folder, options.trials, options.sessions)):
            study(each, n_trials=n_trials, n_sessions=n_sessions, figures=options.defaults)
            if not options.defaults:
                with (each / "config" / "config.yaml").open("a", encoding="utf-8") as file:
                    file.write("\nreport:\n  enabled: false\n")
        for checkout in checkouts.values():
            run(checkout, first, sampled=False)  # compiles all modules
        for _ in range(options.turns):
            for name, checkout in checkouts.items():
                times[name].append(run(checkout, folder, sampled=False))
                if len(sampled[name]) < SAMPLED_TURNS:
                    sampled[name].append(run(checkout, folder, sampled=True))
    title = (
        f"{options.trials} trials of 1000 frames and 40 markers in {options.sessions} sessions, "
        f"figures and pages {'on' if options.defaults else 'off'}"
    )
    about = (
        f"{datetime.date.today()}, {os.cpu_count()} cores, Python {platform.python_version()}, {options.turns} in turns"
    )
    print(f"{title}\n{about}")
    for name, runs in times.items():
        clock, processor = [one.clock_s for one in runs], [one.processor_s for one in runs]
        print(
            f"{name:8s} clock {statistics.median(clock):7.2f} s ({min(clock):.2f} to {max(clock):.2f}), "
            f"processor {statistics.median(processor):7.2f} s ({min(processor):.2f} to {max(processor):.2f})"
        )
    print(table(list(checkouts), sampled, options.trials))
    draw(list(checkouts), sampled, options.trials, f"{title}\n{about}", options.picture)


if __name__ == "__main__":
    main()
