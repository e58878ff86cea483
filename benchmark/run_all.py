"""Run the programs of `programs/` on a set, score them, and write the tables and the picture of a page.

python benchmark/run_all.py SET [--write docs/truth_benchmark.md] [--out FOLDER] [--scored]
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from score import ScoreError, score, summary

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Program:
    """A program of the tables: its name, script, package, where its results are, and its colour."""

    name: str
    script: str
    package: str
    colour: str
    results: tuple[str, ...] = ("*.csv",)


PROGRAMS = (
    Program("limbtorque", "limbtorque_defaults", "limbtorque", "#0072B2"),
    Program("OpenSim, 6 Hz", "opensim_tools", "opensim", "#D55E00", ("*_angles.mot", "6_hz/*.sto")),
    Program("OpenSim, 20 Hz", "opensim_tools", "opensim", "#E69F00", ("*_angles.mot", "20_hz/*.sto")),
    Program("Pinocchio, 6 Hz", "pinocchio_butterworth", "pinocchio", "#009E73"),
    Program("biorbd", "biorbd_kalman", "biorbd", "#CC79A7"),
    Program("leg2d, 6 Hz", "leg2d", "scipy", "#555555"),
)
MOVEMENTS = ("walk", "turn", "run", "jump", "squat", "reach")
TRACKS = {"body_given": "Body given", "mass_and_height": "Mass and height"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="SET")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page whose tables and picture are replaced")
    parser.add_argument("--out", type=Path, help="folder of the results (default: temporary)")
    parser.add_argument("--scored", action="store_true", help="score results that are in --out; run nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out = (options.out or Path(temporary)).resolve()
        failed = {} if options.scored else run(options.folder.resolve(), out)
        scores, sentences = score_all(options.folder, out, failed)
    tables = [table(scores, "moment"), table(scores, "angle"), given(scores)]
    print("\n\n".join([*tables, "\n".join(sentences)]))
    if options.write:
        write(options.write, tables)
        picture(scores, options.write.parent / "figures" / f"{options.write.stem}.png")


def run(folder: Path, out: Path) -> dict[str, str]:
    """Run the scripts; reasons by script of those that did not."""
    failed = {}
    for script, package in {program.script: program.package for program in PROGRAMS}.items():
        if not importlib.util.find_spec(package):
            failed[script] = f"{package} is not installed (pip install {'pin' if package == 'pinocchio' else package})"
            continue
        shutil.rmtree(out / script, ignore_errors=True)
        command = [sys.executable, "-m", "programs", script, str(folder), str(out / script)]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        if done.returncode:
            failed[script] = (done.stderr.strip() or "no message").splitlines()[-1]
    return failed


def score_all(folder: Path, out: Path, failed: dict[str, str]) -> tuple[pd.DataFrame, list[str]]:
    """Summaries of all programs, and sentences about those that did not run or have faults."""
    summaries, sentences = [], []
    for program in PROGRAMS:
        if program.script in failed:
            sentences.append(f"{program.name}: not run: {failed[program.script]}")
            continue
        files = [path for pattern in program.results for path in sorted((out / program.script).glob(pattern))]
        try:
            scores, faults = score(folder, files)
        except ScoreError as error:
            sentences.append(f"{program.name}: not scored: {error}")
            continue
        summaries.append(summary(scores).assign(program=program.name))
        sentences += [f"{program.name}: {fault}" for fault in faults]
    if not summaries:
        raise SystemExit("\n".join(sentences))
    return pd.concat(summaries, ignore_index=True), sentences


def table(scores: pd.DataFrame, kind: str) -> str:
    """Markdown table of errors of flexion, angles without bias; a row for each track, movement and joint, the least bold."""
    chosen = scores[(scores["kind"] == kind) & (scores["motion"] == "flexion")]
    order = [*TRACKS, *MOVEMENTS]
    chosen = chosen.sort_values(["track", "movement"], key=lambda names: names.map(order.index), kind="stable")
    names = {program.name: program.name for program in PROGRAMS if program.name in set(chosen["program"])}
    if kind == "angle" and "OpenSim, 6 Hz" in names:
        names = {name: shown for name, shown in names.items() if name != "OpenSim, 20 Hz"}  # the same angles
        names["OpenSim, 6 Hz"] = "OpenSim"
    digits, sampling = (3, ["sampling"]) if kind == "moment" else (1, [])
    head = [*sampling, *names.values()]
    lines = [" | ".join(["track", "movement", "joint", *head]), " | ".join(["---"] * 3 + ["---:"] * len(head))]
    for (track, movement, joint), rows in chosen.groupby(["track", "movement", "joint"], sort=False):
        values = rows.set_index("program")["rms" if kind == "moment" else "spread"].reindex(names)
        cells = ["" if pd.isna(value) else f"{value:.{digits}f}" for value in values]
        least = f"{values.min():.{digits}f}"
        cells = [f"**{cell}**" if cell == least and values.count() > 1 else cell for cell in cells]
        exact = [f"{value:.3f}" for value in rows["sampling"].iloc[: len(sampling)]]
        lines.append(" | ".join([TRACKS[track], movement, joint, *exact, *cells]))
    return "\n".join(f"| {line} |" for line in lines)


def given(scores: pd.DataFrame) -> str:
    """Markdown table of the trials with results of those of the set, and of the share of their frames, by program."""
    flexion = scores[(scores["kind"] == "moment") & (scores["motion"] == "flexion")]
    lines = ["| program | track | movement | trials | of | frames |", "| --- | --- | --- | ---: | ---: | ---: |"]
    for (program, track, movement), rows in flexion.groupby(["program", "track", "movement"], sort=False):
        row = rows.loc[rows["frames"].idxmin()]
        if row["frames"] < 1.0:
            counts = f"{row['trials']} | {row['trials'] + row['without']} | {100.0 * row['frames']:.0f} %"
            lines.append(f"| {program} | {TRACKS[track]} | {movement} | {counts} |")
    return "\n".join(lines)


def write(page: Path, tables: Sequence[str]) -> None:
    """Replace the tables of a page."""
    text = page.read_text(encoding="utf-8")
    for number, lines in enumerate(tables, start=1):
        before, _, rest = text.partition(f"<!-- table {number} -->\n")
        _, end, after = rest.partition(f"<!-- end of table {number} -->")
        if not end:
            raise SystemExit(f"{page} has no lines '<!-- table {number} -->' and '<!-- end of table {number} -->'.")
        text = f"{before}<!-- table {number} -->\n\n{lines}\n\n{end}{after}"
    page.write_text(text, encoding="utf-8")


def picture(scores: pd.DataFrame, path: Path) -> None:
    """Draw the rms of the flexion moments of the legs, by movement, joint and track."""
    chosen = scores[(scores["kind"] == "moment") & (scores["motion"] == "flexion")]
    movements = [name for name in MOVEMENTS[:-1] if name in set(chosen["movement"])]
    shared = {"sharex": True, "sharey": True, "layout": "constrained", "figsize": (10.0, 5.2)}
    figure, axes = plt.subplots(len(TRACKS), 3, squeeze=False, **shared)
    for (row, track), (column, joint) in product(enumerate(TRACKS), enumerate(("hip", "knee", "ankle"))):
        axis, part = axes[row, column], chosen[(chosen["track"] == track) & (chosen["joint"] == joint)]
        for k, program in enumerate(PROGRAMS):
            values = part[part["program"] == program.name].set_index("movement")["rms"].reindex(movements)
            at = [number + 0.13 * (k - 2.5) for number in range(len(movements))]
            axis.plot(at, values, "osD^vX"[k], color=program.colour, markersize=5, label=program.name)
        axis.set(yscale="log", title=f"{TRACKS[track]}: {joint}", xticks=range(len(movements)), xticklabels=movements)
        axis.grid(axis="y", color="0.9")
        if not column:
            axis.set_ylabel("rms error (N m/kg)")
    legend = {"loc": "outside lower center", "ncols": len(PROGRAMS), "frameon": False}
    figure.legend(*axes[0, 0].get_legend_handles_labels(), **legend)
    figure.savefig(path, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()
