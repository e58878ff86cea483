"""Files of a set as the programs of this folder read and write them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

FloatArray = NDArray[np.float64]

SIDES = ("right", "left")
LIMBS = {"leg": {"hip": "thigh", "knee": "shank", "ankle": "foot"},
         "arm": {"shoulder": "upper_arm", "elbow": "forearm", "wrist": "hand"}}  # fmt: skip
MOTIONS = ("flexion", "abduction", "rotation")


def run(docstring: str | None, analyse: Callable[[Path, pd.DataFrame, Path], None], package: str = "") -> None:
    """Read SET and OUT from the command line, and analyse the set's trials."""
    parser = argparse.ArgumentParser(description=docstring)
    parser.add_argument("folder", type=Path, metavar="SET")
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the results")
    options = parser.parse_args()
    trials = pd.read_csv(options.folder / "trials.csv", index_col="trial", keep_default_na=False)
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        analyse(options.folder.resolve(), trials, options.out.resolve())
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed (pip install {package or error.name}).")


def read_trc(path: Path) -> tuple[float, dict[str, FloatArray]]:
    """Rate, and markers in m, NaN where they are missing."""
    lines = path.read_text(encoding="utf-8").splitlines()
    labels = [label for label in lines[3].split("\t")[2:] if label]
    rows = [line.split("\t")[2:] for line in lines[5:] if line]
    table = np.array([[float(value or "nan") for value in row[: 3 * len(labels)]] for row in rows])
    return float(lines[2].split("\t")[0]), {label: table[:, 3 * k : 3 * k + 3] for k, label in enumerate(labels)}


def read_forces(path: Path, rate_hz: float, n_frames: int) -> dict[str, tuple[FloatArray, FloatArray, FloatArray]]:
    """Force, point and free moment on each foot at the frames of the markers; empty without a file."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    first = lines.index("endheader") + 1
    table = pd.read_csv(path, sep="\t", skiprows=first)
    take = (
        np.rint(np.arange(n_frames) / rate_hz / (table["time"][1] - table["time"][0]))
        .astype(int)
        .clip(0, len(table) - 1)
    )
    table = table.iloc[take]
    kinds = ("force_v", "force_p", "torque_")
    parts = {side: [table[[f"{side}_{kind}{axis}" for axis in "xyz"]].to_numpy() for kind in kinds] for side in SIDES}
    return {side: (force, point, moment) for side, (force, point, moment) in parts.items()}


def without_gaps(values: FloatArray) -> FloatArray:
    """Values with gaps filled by a cubic spline; the ends are held."""
    seen = np.flatnonzero(np.isfinite(values).all(axis=1))
    frames = np.arange(len(values)).clip(seen[0], seen[-1])
    return np.asarray(CubicSpline(seen, values[seen])(frames))


def low_pass(values: FloatArray, rate_hz: float, cutoff_hz: float) -> FloatArray:
    """Butterworth filter of second order, forwards and backwards, with the cut-off corrected for two passes (Winter 2009)."""
    corrected = cutoff_hz / (np.sqrt(2.0) - 1.0) ** 0.25
    return np.asarray(sosfiltfilt(butter(2, corrected, fs=rate_hz, output="sos"), values, axis=0))


def read_body(folder: Path, subject: str) -> dict[str, dict[str, object]]:
    """Segments of a given body."""
    path = folder / "bodies" / subject / "body.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))["segments"])


def given(trials: pd.DataFrame) -> pd.DataFrame:
    """Trials whose body is given."""
    return trials[trials["track"] == "body_given"]


def write_results(path: Path, rate_hz: float, columns: Mapping[str, FloatArray]) -> None:
    """Write a table for score.py."""
    n_frames = len(next(iter(columns.values())))
    pd.DataFrame({"time_s": np.arange(n_frames) / rate_hz, **columns}).to_csv(path, index=False, float_format="%.8g")
