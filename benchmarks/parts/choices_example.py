"""Study of ten simulated subjects who walk a little faster in one condition, with a multiverse of 24 universes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.simulation.demo import DEMO_WALKWAY, FIRST_STRIKE_S
from limbtorque.simulation.gait import Walker, walk_recording
from limbtorque.study.files import read_yaml, write_text, yaml_text

ROOT = Path(__file__).resolve().parents[2]
AFTER_S, NOISE_M, NOISE_N = 0.35, 0.0005, 2.0
FASTER_M_S, REPEAT_M_S, RESPONSE_M_S = (
    0.03,
    0.012,
    0.02,
)  # speed: effect, and its spread between trials and of the effect
SETTINGS = {
    "title": "Ten simulated subjects",
    "ensembles": {"window": "events", "start_event": "Foot Strike {side}", "end_event": "Foot Strike {side}"},
    "contrasts": {
        "declared": [
            {
                "name": "brisk minus usual walking",
                "chain": "leg",
                "conditions": ["brisk", "usual"],
                "outcomes": [{"statistic": "max_nm_kg", "joint": "hip"}, {"statistic": "min_nm_kg", "joint": "ankle"}],
            }
        ]
    },
    "multiverse": {
        "alternatives": {
            "filter.cutoff_hz": [6, 10],
            "filter.force_cutoff_hz": [10],
            "motion.angles": ["segments"],
            "marker_sets.limb_markers.hip_axis": [{"hip_centre": "harrington_2007"}],
        }
    },
}


def write_study(folder: Path) -> None:
    """Write settings, tables and recordings."""
    rng, trials, subjects = np.random.default_rng(5), [], []
    (folder / "data").mkdir(parents=True)
    for k in range(10):
        name, mass_kg, height_m = f"S{k + 1:02}", round(60 + 15 * rng.random(), 1), round(1.6 + 0.2 * rng.random(), 2)
        subjects.append({"subject": name, "mass_kg": mass_kg, "height_m": height_m, "sex": "f"})
        speed_m_s, stride_s = 1.1 + 0.1 * rng.random(), 1.1 + 0.05 * rng.normal()
        for condition in ("usual", "brisk"):
            for number in (1, 2):
                faster = REPEAT_M_S * rng.normal()
                faster += FASTER_M_S + RESPONSE_M_S * rng.normal() if condition == "brisk" else 0.0
                walker = Walker(mass_kg, height_m, stride_s * (1.0 + 0.01 * rng.normal()), speed_m_s + faster)
                way = replace(DEMO_WALKWAY, noise_m=NOISE_M, noise_n=NOISE_N, seed=int(rng.integers(1e6)))
                last_s = round(FIRST_STRIKE_S + 1.5 * walker.stride_s + AFTER_S, 2)
                trial = f"{name}_{condition}_{number}"
                recording = walk_recording(walker, way, duration_s=last_s, first_strike_s=FIRST_STRIKE_S)
                write_c3d(recording, folder / "data" / f"{trial}.c3d", unit="mm")
                about = {"trial": trial, "session": name, "subject": name, "file": f"data/{trial}.c3d"}
                trials.append({**about, "chain": "leg", "side": "right", "condition": condition})
    demo = read_yaml(ROOT / "config" / "config.yaml")
    settings = {**SETTINGS, "marker_sets": demo["marker_sets"], "plane": demo["plane"]}
    write_text(folder / "config" / "config.yaml", yaml_text(settings))
    for table, rows in (("trials", trials), ("subjects", subjects)):
        _write_rows(folder / "config" / f"{table}.csv", rows)


def _write_rows(path: Path, rows: Sequence[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
