"""Run limbtorque with its defaults: `limbtorque init`, the places it asks for filled in, then the study.

Filled in are mass, height and sex, and what the recordings do not show: axes and wrist markers of the arms, and the plate under each foot
of squats and jumps. Planar angles and torques are written as those of flexion: the knee's turned, the angles of
hip and shoulder from the vertical, the ankle's from a right angle.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

COMMAND = Path(sys.executable).parent / "limbtorque"
OFFSETS_RAD = {"hip": 0.5 * np.pi, "shoulder": 0.5 * np.pi, "ankle": -0.5 * np.pi}
MARKERS = {"wrist_axis": '["{S}WRR", "{S}WRU"]', "knuckle_2_middle_finger": '"{S}KNU"', "ulnar_styloid": '"{S}WRU"'}


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Propose a study, fill it in, run it, and write its torques and angles."""
    recordings, study = out / "recordings", out / "study"
    for trial, subject in trials["subject"].items():
        (recordings / subject).mkdir(parents=True, exist_ok=True)
        for name in (f"{trial}.c3d", f"{subject}_static.c3d"):
            shutil.copy(folder / "recordings" / name, recordings / subject)
    _command("init", study, "--from", recordings)
    fill_in(study / "config", trials)
    _command("run-study", study)
    for trial in trials.index:
        if sides := list(flexion_tables(study / "results", trial)):  # they may have different frames
            pd.concat(sides, axis=1).sort_index().to_csv(out / f"{trial}.csv", float_format="%.8g")


def _command(*words: object) -> None:
    done = subprocess.run([str(COMMAND), *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(f"limbtorque {words[0]}: {done.stderr.strip()[-500:]}")


def fill_in(config: Path, trials: pd.DataFrame) -> None:
    """Fill in every TODO of the proposed study."""
    subjects = trials.groupby("subject", sort=False)[["mass_kg", "height_m", "sex"]].first()
    subjects.assign(sex=subjects["sex"].str[0], note="").to_csv(config / "subjects.csv")
    text = (config / "config.yaml").read_text(encoding="utf-8")
    for landmark, marker in MARKERS.items():
        text = text.replace(f'{landmark}: "TODO"', f"{landmark}: {marker}")
    (config / "config.yaml").write_text(text + "\nmuscles: {enabled: false}\n", encoding="utf-8")
    table = pd.read_csv(config / "trials.csv", comment="#", dtype=str, keep_default_na=False)
    up = table["file"].map(lambda name: trials["up_axis"][Path(name).stem])
    table["plane.up_axis"] = table["plane.up_axis"].where(table["plane.up_axis"] != "TODO", up)
    table["plane.forward_axis"] = table["plane.forward_axis"].replace("TODO", "+x")
    movements = table["trial"].str.extract(r"_(squat|jump)_(right|left)")
    table["plates.assignment"] = movements[1].map({"right": "1", "left": "2"}).fillna("")
    table.to_csv(config / "trials.csv", index=False)


def flexion_tables(results: Path, trial: str) -> Iterator[pd.DataFrame]:
    """Angles and torques of each limb with the names and signs of the truth."""
    for path in sorted((results / "torques").glob(f"*/{trial}_*.parquet")):
        torques, angles = (
            pd.read_parquet(results / kind / path.parent.name / path.name) for kind in ("torques", "kinematics")
        )
        if torques.empty or len(torques) != len(angles):  # a trial that failed
            continue
        columns, side = {}, path.stem.removeprefix(f"{trial}_")
        for name in torques.filter(regex="^[a-z]+_torque_nm$"):
            joint = name.removesuffix("_torque_nm")
            sign = -1.0 if joint == "knee" else 1.0
            columns[f"{side}_{joint}_flexion_nm"] = sign * torques[name]
            columns[f"{side}_{joint}_flexion_rad"] = sign * angles[f"{joint}_angle_rad"] + OFFSETS_RAD.get(joint, 0.0)
        yield pd.DataFrame(columns).set_index(torques["time_s"])
