"""Run the programs of `programs/` on a set, score them, and write the tables and the picture of a page.

python benchmark/run_all.py SET [--write docs/truth_benchmark.md] [--out FOLDER] [--scored]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from score import ScoreError, score, summary

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Program:
    """A program of the table: its name there, its script, and where its results are."""

    name: str
    script: str
    results: tuple[str, ...] = ("*.csv",)


PROGRAMS = (
    Program("limbtorque", "limbtorque_defaults"),
    Program("OpenSim, 6 Hz", "opensim_tools", ("*_angles.mot", "6_hz/*.sto")),
    Program("OpenSim, 20 Hz", "opensim_tools", ("*_angles.mot", "20_hz/*.sto")),
    Program("Pinocchio, 6 Hz", "pinocchio_butterworth"),
    Program("biorbd", "biorbd_kalman"),
    Program("leg2d, 6 Hz", "leg2d"),
)
COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#555555")
MOVEMENTS = ("walk", "turn", "run", "jump", "squat", "reach")
TRACKS = {"body_given": "Body given", "mass_and_height": "Mass and height"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="SET")
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="page whose tables are replaced; its picture is written, too"
    )
    parser.add_argument("--out", type=Path, help="folder of the results (default: temporary)")
    parser.add_argument("--scored", action="store_true", help="score results that are in --out; run nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out = options.out or Path(temporary)
        scores, sentences = run_all(options.folder, out, scored=options.scored)
    tables = [table(scores, "moment"), table(scores, "angle")]
    print("\n\n".join([*tables, "\n".join(sentences)]))
    if options.write:
        write(options.write, tables)
        picture(scores, options.write.parent / "figures" / f"{options.write.stem}.png")


def run_all(folder: Path, out: Path, *, scored: bool = False) -> tuple[pd.DataFrame, list[str]]:
    """Summaries of all programs, and sentences about those that did not run or have faults."""
    summaries, sentences = [], []
    failed: dict[str, str] = {}
    for script in dict.fromkeys(program.script for program in PROGRAMS):
        command = [sys.executable, str(HERE / "programs" / f"{script}.py"), str(folder), str(out / script)]
        if not scored:
            shutil.rmtree(out / script, ignore_errors=True)
        done = None if scored else subprocess.run(command, capture_output=True, text=True, check=False)
        if done and done.returncode:
            failed[script] = (done.stderr.strip() or "no message").splitlines()[-1]
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
    chosen = chosen.sort_values(
        ["track", "movement"], key=lambda names: names.map([*TRACKS, *MOVEMENTS].index), kind="stable"
    )
    programs = [program.name for program in PROGRAMS if program.name in set(chosen["program"])]
    if kind == "angle" and "OpenSim, 20 Hz" in programs:
        programs.remove("OpenSim, 20 Hz")  # the same angles
    names = [name.split(",")[0] if kind == "angle" and name.startswith("OpenSim") else name for name in programs]
    head = ["track", "movement", "joint", *(["sampling"] if kind == "moment" else []), *names]
    digits = 3 if kind == "moment" else 1
    lines = ["| " + " | ".join(head) + " |", "| --- | --- | --- |" + " ---: |" * (len(head) - 3)]
    for (track, movement, joint), rows in chosen.groupby(["track", "movement", "joint"], sort=False):
        values = rows.set_index("program")["rms" if kind == "moment" else "spread"].reindex(programs)
        cells = ["" if pd.isna(value) else f"{value:.{digits}f}" for value in values]
        least = f"{values.min():.{digits}f}"
        cells = [f"**{cell}**" if cell == least and values.count() > 1 else cell for cell in cells]
        lines.append(
            "| "
            + " | ".join(
                [
                    TRACKS[track],
                    movement,
                    joint,
                    *([f"{rows['sampling'].iloc[0]:.3f}"] if kind == "moment" else []),
                    *cells,
                ]
            )
            + " |"
        )
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
    joints, movements = (
        ("hip", "knee", "ankle"),
        [name for name in MOVEMENTS[:-1] if name in set(chosen["movement"])],
    )
    programs = [program.name for program in PROGRAMS]
    figure, axes = plt.subplots(
        len(TRACKS), len(joints), figsize=(10.0, 5.2), sharex=True, sharey=True, layout="constrained"
    )
    for row, (track, title) in zip(axes, TRACKS.items(), strict=True):
        for axis, joint in zip(row, joints, strict=True):
            part = chosen[(chosen["track"] == track) & (chosen["joint"] == joint)]
            for k, (program, colour) in enumerate(zip(programs, COLOURS, strict=True)):
                values = part[part["program"] == program].set_index("movement")["rms"].reindex(movements)
                places = [number + 0.13 * (k - 2.5) for number in range(len(movements))]
                axis.plot(places, values, "osD^vX"[k], color=colour, markersize=5, label=program)
            axis.set(yscale="log", title=f"{title}: {joint}", xticks=range(len(movements)), xticklabels=movements)
            axis.grid(axis="y", color="0.9")
        row[0].set_ylabel("rms error (N m/kg)")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(programs), frameon=False
    )
    figure.savefig(path, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()
