"""Recordings of a set as the programs of this folder read them, and their results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt
from score import read_results

FloatArray = NDArray[np.float64]

SIDES, MOTIONS = ("right", "left"), ("flexion", "abduction", "rotation")


@dataclass(frozen=True)
class Recorded:
    """A recording.

    Attributes
    ----------
    trial, subject : str
        Names of the trial and of the person.
    mass_kg, rate_hz : float
        Body mass, and rate of the markers.
    markers : dict of str to ndarray of shape (n_frames, 3)
        Markers, m, NaN where they are missing.
    loads : dict of str to list of ndarray of shape (n_frames, 3)
        Force, point and free moment on the foot of each side; empty without plates.
    """

    trial: str
    subject: str
    mass_kg: float
    rate_hz: float
    markers: dict[str, FloatArray]
    loads: dict[str, list[FloatArray]]


def recorded(folder: Path, trials: pd.DataFrame) -> Iterator[Recorded]:
    """Recordings of trials."""
    for trial, about in trials.iterrows():
        rate_hz, markers = read_trc(folder / "recordings" / f"{trial}.trc")
        n_frames, path = len(next(iter(markers.values()))), folder / "recordings" / f"{trial}_forces.mot"
        loads = {}
        if path.exists():
            table, _ = read_results(path)
            table = table.iloc[np.arange(n_frames) * round(1.0 / rate_hz / table["time_s"][1])]
            for side in SIDES:
                kinds = (f"{side}_force_v", f"{side}_force_p", f"{side}_torque_")
                loads[side] = [table[[f"{kind}{axis}" for axis in "xyz"]].to_numpy() for kind in kinds]
        yield Recorded(str(trial), about["subject"], float(about["mass_kg"]), rate_hz, markers, loads)


def given(folder: Path, trials: pd.DataFrame) -> Iterator[tuple[Recorded, dict[str, dict[str, Any]]]]:
    """Recordings of trials whose body is given, and segments of the body."""
    for trial in recorded(folder, trials[trials["track"] == "body_given"]):
        text = (folder / "bodies" / trial.subject / "body.json").read_text(encoding="utf-8")
        yield trial, json.loads(text)["segments"]


def read_trc(path: Path) -> tuple[float, dict[str, FloatArray]]:
    """Rate, and markers in m, NaN where they are missing."""
    head = path.read_text(encoding="utf-8").splitlines()[2:4]
    labels, table = head[1].split("\t")[2::3], pd.read_csv(path, sep="\t", skiprows=5, header=None).to_numpy()
    return float(head[0].split("\t")[0]), {label: table[:, 3 * k + 2 : 3 * k + 5] for k, label in enumerate(labels)}


def without_gaps(values: FloatArray) -> FloatArray:
    """Values with gaps filled by a cubic spline; the ends are held."""
    seen = np.flatnonzero(np.isfinite(values).all(axis=1))
    frames = np.arange(len(values)).clip(seen[0], seen[-1])
    return np.asarray(CubicSpline(seen, values[seen])(frames))


def low_pass(values: FloatArray, rate_hz: float, cutoff_hz: float) -> FloatArray:
    """Butterworth filter of second order, forwards and backwards, with the cut-off corrected for two passes (Winter 2009)."""
    corrected = cutoff_hz / (np.sqrt(2.0) - 1.0) ** 0.25
    return np.asarray(sosfiltfilt(butter(2, corrected, fs=rate_hz, output="sos"), values, axis=0))


def write_joints(out: Path, trial: Recorded, body: Mapping[str, Any], angles: FloatArray, moments: FloatArray) -> None:
    """Write the coordinates of a body's limbs: of every segment three angles, after the place of the first one."""
    columns = {}
    for number, (name, segment) in enumerate(body.items()):
        if name.startswith(SIDES) and not name.endswith("whole_arm"):
            for place, motion in enumerate(MOTIONS, start=3 + 3 * number):
                columns[f"{segment['joint']}_{motion}_rad"] = angles[:, place]
                columns[f"{segment['joint']}_{motion}_nm"] = moments[:, place]
    write_results(out, trial, columns)


def write_results(out: Path, trial: Recorded, columns: Mapping[str, FloatArray]) -> None:
    """Write a table for score.py."""
    time_s = np.arange(len(next(iter(columns.values())))) / trial.rate_hz
    pd.DataFrame({"time_s": time_s, **columns}).to_csv(out / f"{trial.trial}.csv", index=False, float_format="%.8g")
