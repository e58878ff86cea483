"""Our angles, torques and powers beside Plug-in Gait's, for every leg of a folder of C3D files that hold both.

One command makes the tables of docs/plug_in_gait.md: ``limbtorque init`` proposes the study, the workflow runs it
without muscles, and once more with another cut-off; nothing is changed by hand.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.cli.init.init import init_study
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording, find_marker
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "plug_in_gait.md"
RESULT = Path("results") / "compared_with_file.csv"
JOINTS = ("hip", "knee", "ankle")
HIGH_CUTOFF_HZ = 25.0  # above what a walk's motion has; Plug-in Gait smooths with a spline, forces not at all
SEGMENTS = {"hip": "FE", "knee": "TI", "ankle": "FO"}  # of the model: origin O, lateral point L
Row = Mapping[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path, help="folder of C3D files with Plug-in Gait's outputs")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/plug_in_gait.md")
    parser.add_argument("--cores", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tables = list(make_tables(Path(name) / "study", options.recordings.resolve(), cores=options.cores))
    if options.write:
        write(PAGE, tables)
    print("\n\n".join(tables))


def make_tables(folder: Path, recordings: Path, *, cores: int) -> Sequence[str]:
    """Tables of the page, in its order."""
    init_study(folder, recordings, chains=("leg",))
    rows = compared(folder, cores=cores)
    angles = axis_angles(folder)
    other = compared(folder, f"filter={{cutoff_hz: {HIGH_CUTOFF_HZ:g}}}", cores=cores)
    return limb_table(rows), angle_table(rows), cause_table(rows, other, angles)


def compared(folder: Path, *options: str, cores: int) -> list[Row]:
    """Rows of `results/compared_with_file.csv` of a study that the workflow has run."""
    command = [sys.executable, "-m", "snakemake", "-s", ROOT / "Snakefile", "--directory", folder, "--cores", cores]
    asked = [*command, "--quiet", "all", "--config", "muscles={enabled: false}", *options, "--", RESULT]
    done = subprocess.run([str(part) for part in asked], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    with (folder / RESULT).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def limb_table(rows: Sequence[Row]) -> str:
    """Torques and powers of every limb and joint of the straight walks."""
    lines = [
        "| recording, leg | joint | torque: r | rms (N m/kg) | peak, ours | peak, file | ratio | power: r | rms (W/kg) |",
        "| --- | --- " + "| ---: " * 7 + "|",
    ]
    for torque in (row for row in _straight(rows) if row["quantity"] == "torque"):
        (power,) = (row for row in rows if row["quantity"] == "power" and _same(row, torque))
        numbers = [f"{_number(torque, name):.3f}" for name in ("r", "rms", "peak", "file_peak")]
        numbers += [f"{_number(torque, 'peak_ratio'):.2f}", *(f"{_number(power, name):.3f}" for name in ("r", "rms"))]
        about = [_limb(torque), torque["joint"]]
        lines.append(f"| {' | '.join([*about, *numbers])} |")
    return "\n".join(lines)


def angle_table(rows: Sequence[Row]) -> str:
    """Angles of the straight walks: mean over limbs, and range."""
    lines = [
        "| joint | legs | r, smallest | difference of the means (deg) | rms after it is subtracted (deg) |",
        "| --- " + "| ---: " * 4 + "|",
    ]
    for joint in JOINTS:
        found = [row for row in _straight(rows) if (row["joint"], row["quantity"]) == (joint, "angle")]
        shift = np.array([_number(row, "mean_difference") for row in found])
        rest = np.sqrt(np.maximum([_number(row, "rms") ** 2 for row in found] - shift**2, 0.0))
        smallest = min(_number(row, "r") for row in found)
        lines.append(f"| {joint} | {len(found)} | {smallest:.3f} | {_range(shift)} | {_range(rest)} |")
    return "\n".join(lines)


def cause_table(rows: Sequence[Row], other: Sequence[Row], angles: Mapping[tuple[str, str], float]) -> str:
    """Torques of the straight walks with both cut-offs, and the angle between the axes of the moments."""
    lines = [
        "| recording, leg | joint | axes apart (deg) | rms | rms, 25 Hz | ratio of peaks | ratio, 25 Hz |",
        "| --- | --- " + "| ---: " * 5 + "|",
    ]
    for row in (row for row in _straight(rows) if row["quantity"] == "torque"):
        (high,) = (one for one in other if one["quantity"] == "torque" and _same(one, row))
        numbers = [f"{_number(one, 'rms'):.3f}" for one in (row, high)]
        numbers += [f"{_number(one, 'peak_ratio'):.2f}" for one in (row, high)]
        apart = f"{angles[row['trial'], row['joint']]:.0f}"
        lines.append(f"| {_limb(row)} | {row['joint']} | {apart} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def axis_angles(folder: Path) -> dict[tuple[str, str], float]:
    """Median angle between the lateral axis of the distal segment and the plane's normal, deg, by trial and joint."""
    found = {}
    for trial in load_study(folder).trials:
        recording = read_recording(trial.file)
        (path,) = (folder / "results" / "kinematics").glob(f"*/{trial.name}.parquet")
        _, record = read_table(path)
        if record.motion is None:
            continue
        normal = np.array(record.motion.plane_axes)[2]
        for joint in JOINTS:
            lateral = _lateral(recording, f"{trial.side[0].upper()}{SEGMENTS[joint]}")
            cosine = np.abs(lateral @ normal) / np.linalg.norm(lateral, axis=1)
            found[trial.name, joint] = float(np.degrees(np.arccos(np.nanmedian(cosine))))
    return found


def _lateral(recording: Recording, segment: str) -> FloatArray:
    """Lateral axis of a segment of the model, shape (n_frames, 3)."""
    origin, lateral = (recording.markers_m[:, find_marker(recording, segment + point)] for point in "OL")
    return np.asarray(lateral - origin)


def _same(one: Row, other: Row) -> bool:
    return (one["trial"], one["joint"]) == (other["trial"], other["joint"])


def _straight(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["condition"] == "straight"]


def _limb(row: Row) -> str:
    return f"{row['trial'].partition('_')[0]}, {row['side']}"


def _number(row: Row, name: str) -> float:
    return float(row[name] or "nan")


def _range(values: FloatArray) -> str:
    return f"{np.mean(values):.1f} ({np.min(values):.1f} to {np.max(values):.1f})"


def write(page: Path, tables: Sequence[str], *, first: int = 1) -> None:
    """Replace the tables of the page, between its marks; `first` is the number of the first one."""
    text = page.read_text(encoding="utf-8")
    for k, table in enumerate(tables, start=first):
        before, begin, rest = text.partition(f"<!-- table {k} -->\n\n")
        _, end, after = rest.partition(f"\n\n<!-- end of table {k} -->")
        if not (begin and end):
            raise SystemExit(f"{page.name}: the marks of table {k} are missing")
        text = before + begin + table + end + after
    page.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
