"""Damaged C3D files of a simulated walk from their bytes to the verdict: errors of the net torques by status."""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from parts.damage_subjects import Trial, make_trial

from limbtorque.analysis.trial import TrialResult, analyse_recording
from limbtorque.errors import LimbtorqueError, ReadError
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.recordings.read import read_recording

STATUSES = ("refused by the reader", "failed", "rejected", "caution", "ok")
LIMITS = (0.01, 0.05, 0.1, float("inf"))  # of the error over the range of the exact torque
CLASSES = ("up to 1 %", "1 to 5 %", "5 to 10 %", "above 10 %")


def rows_of_files(number: int, cores: int, *, seed: int = 1) -> pd.DataFrame:
    """One row for each damaged file: damage, status, notes of the reader, error."""
    with ProcessPoolExecutor(cores) as pool:
        parts = pool.map(_share, [(number, seed, k, cores) for k in range(cores)])
        return pd.DataFrame([row for part in parts for row in part])


def _share(work: tuple[int, int, int, int]) -> list[dict[str, object]]:
    """Rows of one process of several."""
    warnings.simplefilter("ignore")
    number, seed, first, step = work
    trial = make_trial("walk", "W01", repetition=0)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "walk.c3d"
        write_c3d(trial.recording, path)
        raw, good = path.read_bytes(), {*read_recording(path).notes}
        n_cases = sum(1 for _ in _cases(raw, seed))
        chosen = {*np.random.default_rng(seed).permutation(n_cases)[:number][first::step].tolist()}
        return [_row(path, *case, trial, good) for k, case in enumerate(_cases(raw, seed)) if k in chosen]


def _cases(raw: bytes, seed: int) -> Iterator[tuple[str, bytes]]:
    sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
    import c3d_damage
    import damage

    yield from damage.damaged_c3d(raw, seed=seed, n_flips=600)
    yield from c3d_damage.parameter_cases(raw, seed=seed)


def _row(path: Path, what: str, content: bytes, trial: Trial, good: set[str]) -> dict[str, object]:
    path.write_bytes(content)
    found: dict[str, object] = {"damage": what, "error": float("nan"), "notes": 0}
    try:
        recording = read_recording(path)
        found["notes"] = len({*recording.notes, *(guess.sentence for guess in recording.audit.guesses)} - good)
        result = analyse_recording(recording, trial.limb, trial.settings)
    except ReadError:
        return {**found, "status": STATUSES[0]}
    except LimbtorqueError:
        return {**found, "status": "failed"}
    return {**found, "status": result.verdict.status, "error": _error(trial, result, recording.first_frame)}


def _error(trial: Trial, result: TrialResult, first_frame: int) -> float:
    """Error of the worst joint over its range, frame by frame of the file; NaN without a torque in the window."""
    motion, (start, end) = result.motion, trial.window_s
    times = trial.recording.time_s
    window = (times >= start) & (times <= end)
    index = motion.frame - first_frame
    inside = (index < len(times)) & ~motion.edge
    inside[inside] &= window[index[inside]]
    net = (result.torques.terms.net * motion.flexion.sign)[inside]
    off = np.abs(net - trial.torque_nm[index[inside]]) / np.ptp(trial.torque_nm[window], axis=0)
    off = off[~np.isnan(off).any(axis=1)]
    return float(np.sqrt((off**2).mean(axis=0)).max()) if len(off) else float("nan")


def files_table(rows: pd.DataFrame) -> str:
    """Errors by status, and how many files of each have a note of the reader."""
    lines = [f"| status | files | with a note of the reader | {' | '.join(CLASSES)} |", "| --- " * 7 + "|"]
    for status in STATUSES:
        of = rows[rows.status == status]
        which = np.searchsorted(LIMITS, of.error.dropna())
        counts = [int((which == k).sum()) for k in range(len(LIMITS))]
        lines.append(f"| {status} | {len(of)} | {int((of.notes > 0).sum())} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)
