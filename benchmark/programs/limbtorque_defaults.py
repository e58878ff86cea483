"""Run limbtorque with its defaults: `limbtorque init`, the places it asks for filled in, then the study.

Filled in are mass, height and sex, and what the recordings do not show: axes and wrist markers of the arms, and the plate under each foot
of squats and jumps. Planar angles and torques are written as those of flexion: the knee's turned, the angles of
hip and shoulder from the vertical, the ankle's from a right angle.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import ezc3d
import numpy as np
import pandas as pd
from common import FloatArray, run

COMMAND = Path(sys.executable).parent / "limbtorque"
OFFSETS_RAD = {"hip": 0.5 * np.pi, "shoulder": 0.5 * np.pi, "ankle": -0.5 * np.pi}
MARKERS = {"wrist_axis": '["{S}WRR", "{S}WRU"]', "knuckle_2_middle_finger": '"{S}KNU"', "ulnar_styloid": '"{S}WRU"'}


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Propose a study, fill it in, run it, and write its torques and angles."""
    if not COMMAND.exists():
        raise ModuleNotFoundError(name="limbtorque")
    recordings, study = out / "recordings", out / "study"
    for path in (recordings, study):
        shutil.rmtree(path, ignore_errors=True)
    for trial, subject in trials["subject"].items():
        (recordings / subject).mkdir(parents=True, exist_ok=True)
        for name in (f"{trial}.c3d", f"{subject}_static.c3d"):
            shutil.copy(folder / "recordings" / name, recordings / subject)
    _command("init", study, "--from", recordings)
    fill_in(study, trials, folder)
    _command("run-study", study)
    for trial, about in trials.iterrows():
        sides = []  # they may have different frames
        for path in sorted((study / "results" / "torques" / about["subject"]).glob(f"{trial}_*.parquet")):
            columns = flexion_columns(path, path.stem.removeprefix(f"{trial}_"))
            sides += [pd.DataFrame(columns).set_index("time_s")] if columns else []
        if sides:
            pd.concat(sides, axis=1).sort_index().to_csv(out / f"{trial}.csv", float_format="%.8g")


def _command(*words: object) -> None:
    done = subprocess.run([str(COMMAND), *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(f"limbtorque {words[0]}: {done.stderr.strip()[-500:]}")


def fill_in(study: Path, trials: pd.DataFrame, folder: Path) -> None:
    """Fill in every TODO of the proposed study."""
    subjects = study / "config" / "subjects.csv"
    rows = [f"{name},{about['mass_kg']},{about['height_m']},{about['sex'][0]},"
            for name, about in trials.drop_duplicates("subject").set_index("subject").iterrows()]  # fmt: skip
    subjects.write_text("\n".join(["subject,mass_kg,height_m,sex,note", *rows]) + "\n", encoding="utf-8")
    settings = study / "config" / "config.yaml"
    text = settings.read_text(encoding="utf-8")
    for landmark, marker in MARKERS.items():
        text = text.replace(f'{landmark}: "TODO"', f"{landmark}: {marker}")
    settings.write_text(text + "\nmuscles: {enabled: false}\n", encoding="utf-8")
    path = study / "config" / "trials.csv"
    table = pd.read_csv(path, comment="#", dtype=str, keep_default_na=False)
    recordings = [ezc3d.c3d(str(folder / "recordings" / Path(name).name)) for name in table["file"]]
    up = [file["parameters"]["POINT"]["Y_SCREEN"]["value"][0].lower() for file in recordings]
    table["plane.up_axis"] = [
        own if value == "TODO" else value for value, own in zip(table["plane.up_axis"], up, strict=True)
    ]
    table["plane.forward_axis"] = table["plane.forward_axis"].replace("TODO", "+x")
    movements = table["trial"].str.extract(r"_(squat|jump)_(right|left)")
    table["plates.assignment"] = movements[1].map({"right": "1", "left": "2"}).fillna("")
    table.to_csv(path, index=False)


def flexion_columns(torques: Path, side: str) -> dict[str, FloatArray]:
    """Angles and torques of a limb with the names and signs of the truth."""
    table = pd.read_parquet(torques)
    moving = pd.read_parquet(torques.parents[2] / "kinematics" / torques.parent.name / torques.name)
    if table.empty or len(table) != len(moving):  # a trial that failed
        return {}
    columns = {"time_s": table["time_s"].to_numpy()}
    for name in table.filter(regex="^[a-z]+_torque_nm$"):
        joint = name.removesuffix("_torque_nm")
        sign = -1.0 if joint == "knee" else 1.0
        columns[f"{side}_{joint}_flexion_nm"] = sign * table[name].to_numpy()
        columns[f"{side}_{joint}_flexion_rad"] = sign * moving[f"{joint}_angle_rad"].to_numpy() + OFFSETS_RAD.get(
            joint, 0.0
        )
    return columns


if __name__ == "__main__":
    run(__doc__, analyse)
