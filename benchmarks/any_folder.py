"""Folders of recordings from `limbtorque init` to the report, with no more than the answers that their files do not give.

    python benchmarks/any_folder.py folder
    python benchmarks/any_folder.py folder --write

Prints a table of times, answers and results, each sub-folder alone and all as one; `--write` puts it into docs/any_folder.md.
70 kg stand for every body mass that no file states. Times are those of the clock and of the processor, with all processes.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plug_in_gait import ROOT, write

from limbtorque.cli.init.init import FILES
from limbtorque.study.files import parse_yaml
from limbtorque.study.table_file import is_to_do

PAGE = ROOT / "docs" / "any_folder.md"
UNKNOWN_MASS = "70"
ALL = "."
ANSWERS: dict[str, Mapping[str, str]] = {  # what no file says, but for body masses
    "arm26": {"reading.length_unit": "m"},
    "arm_box_task": {},
    "body_segment_parameters": {},
    "c3d_org": {},
    "c3d_org/sample01": {},
    "c3d_org/sample08": {},
    "c3d_org/sample10": {},
    "cohort": {},
    "markerless": {},
    "moment_arms": {},
    "pezzack": {},
    "running_opensim": {"reading.forces_length_unit": "m"},
    "tennis_serve": {},
    "trc_opensim": {},
    "walk_emg_opensim": {"reading.forces_length_unit": "m"},
    "walking_opensim": {},
    "winter_A1": {"reading.length_unit": "cm"},
    ALL: {
        "reading.forces_length_unit": "m",
        "arm26:reading.length_unit": "m",
        "winter_A1:reading.length_unit": "cm",
    },
}
CELLS: dict[
    str, Mapping[str, str]
] = {  # TODO of trials.csv that no file says: labels without a side, a trunk that turns
    "arm_box_task": {"side": "right", "plane.forward_axis": "-x"},
    "tennis_serve": {"plane.forward_axis": "-y"},
}


@dataclass(frozen=True)
class Step:
    """A command's exit code, and its times in s: clock and processor."""

    code: int
    clock_s: float
    processor_s: float


@dataclass(frozen=True)
class Taken:
    """One folder from `init` to the report.

    Attributes
    ----------
    folder : str
        Its name.
    answers : int
        Answers of the command line and cells that were filled in.
    masses : int
        Those that are body masses.
    steps : dict of str to Step
        The commands.
    trials : dict of str to int
        Status in the ledger -> number of trials.
    """

    folder: str
    answers: int
    masses: int
    steps: Mapping[str, Step]
    trials: Mapping[str, int] = field(default_factory=dict)


def left_to_do(study: Path) -> list[str]:
    """Places of a proposed study that are still TODO: file, row or option."""
    config, trials, subjects = (study / name for name in FILES)
    settings = parse_yaml(config.read_text(encoding="utf-8"))
    return [
        *(f"config.yaml {place}" for place in _to_do_in(settings)),
        *(f"trials.csv {place}" for place in _to_do_cells(trials)),
        *(f"subjects.csv {place}" for place in _to_do_cells(subjects)),
    ]


def _to_do_in(value: Any, place: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _to_do_in(inner, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _to_do_in(inner, place)
    elif isinstance(value, str) and is_to_do(value):
        yield place


def _to_do_cells(table: Path) -> Iterator[str]:
    for row in table_rows(table):
        yield from (f"{next(iter(row.values()))} {name}" for name, cell in row.items() if is_to_do(cell))


def table_rows(table: Path) -> list[dict[str, str]]:
    """Rows of a table of a study, without its comments."""
    lines = [line for line in table.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def fill_masses(study: Path) -> int:
    """Number of unknown body masses, each replaced by the same one."""
    path = study / FILES[2]
    lines = path.read_text(encoding="utf-8").splitlines()
    unknown = [k for k, line in enumerate(lines) if not line.startswith("#") and ",TODO," in line]
    for k in unknown:
        lines[k] = lines[k].replace(",TODO,", f",{UNKNOWN_MASS},", 1)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(unknown)


def fill_cells(study: Path) -> int:
    """Number of places of the table of trials that were filled in, by the folders of their recordings."""
    path, rows = study / FILES[1], table_rows(study / FILES[1])
    n_filled = 0
    for row in rows:
        for column, value in CELLS.get(Path(row["file"]).parent.name, {}).items():
            n_filled += is_to_do(row[column])
            row[column] = value if is_to_do(row[column]) else row[column]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return n_filled


def taken(folder: str, recordings: Path, study: Path, *, cores: str = "2") -> Taken:
    """One folder, taken as far as it goes."""
    answers = ANSWERS[folder]
    told = [word for name, value in answers.items() for word in ("--set", f"{name}={value}")]
    steps = {"init": _timed("init", study, "--from", recordings / folder, *told)}
    if steps["init"].code or not table_rows(study / FILES[1]):
        return Taken(folder, len(answers), 0, steps)
    masses, cells = fill_masses(study), fill_cells(study)
    steps["check"] = _timed("check", study)
    steps["run"] = _timed("run-study", study, "--cores", cores)
    ledger = Counter(row["status"] for row in table_rows(study / "results" / "ledger.csv"))
    if not (study / "results" / "report" / "index.html").is_file():
        raise SystemExit(f"{folder}: no report")
    return Taken(folder, len(answers) + masses + cells, masses, steps, ledger)


def _timed(*words: object) -> Step:
    before, start = _processor_s(), time.perf_counter()
    command = [sys.executable, "-m", "limbtorque.cli.start", *map(str, words)]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Step(done.returncode, time.perf_counter() - start, _processor_s() - before)


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table_of(all_taken: list[Taken]) -> str:
    """Table of the page, in Markdown."""
    head = "| folder | answers | of these masses | `init` (s) | `check` (s) | run (s) | processor, all (s) | trials |"
    return "\n".join([head, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |", *map(_row, all_taken)])


def _row(one: Taken) -> str:
    def clock(step: str) -> str:
        return f"{one.steps[step].clock_s:.0f}" if step in one.steps else "-"

    name = "all of them" if one.folder == ALL else f"`{one.folder}`"
    processor_s = sum(step.processor_s for step in one.steps.values())
    times = f"{clock('init')} | {clock('check')} | {clock('run')} | {processor_s:.0f}"
    return f"| {name} | {one.answers} | {one.masses} | {times} | {_result(one)} |"


def _result(one: Taken) -> str:
    if one.steps["init"].code:
        return "refused: no file is a recording"
    if not one.trials:
        return "none: its page asks which markers are which landmarks"
    return ", ".join(
        f"{one.trials[name]} {name}" for name in ("ok", "caution", "rejected", "failed") if one.trials[name]
    )


def main(say: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=Path, help="folder of the recordings that the tests use")
    parser.add_argument("--only", nargs="+", choices=ANSWERS, default=list(ANSWERS), help="these sub-folders")
    parser.add_argument("--cores", default="2")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    found = []
    for folder in options.only:
        with tempfile.TemporaryDirectory() as name:
            found.append(taken(folder, options.recordings.resolve(), Path(name) / "study", cores=options.cores))
        say(_row(found[-1]))
    if options.write:
        write(PAGE, [table_of(found)])


if __name__ == "__main__":
    main()
