"""Score angles and moments of any program against the truth of a set.

python benchmark/score.py SET --results FILE... [--map map.csv] [--by-trial scores.csv]

FILE is a table (STO, MOT or CSV) whose name begins with that of its trial, with a column `time` or `time_s`. Columns have the names of the
truth, or those of OpenSim (`right_knee_flexion`, `right_knee_flexion_moment`); other names and signs come from the map: a CSV with the columns
`result`, `truth`, `sign`, `factor`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SIDES, DEGREES = ("left", "right"), 180.0 / np.pi
PEAK_S = 0.15  # a peak of the results is looked for within this time of the truth's
FRAMES = 5  # shifts that are tried
COMPLETE = 0.95  # of the frames: a column with fewer is named
CLEAR, SMALL = (
    0.5,
    0.01,
)  # an explanation leaves less than half of the error; errors below a hundredth of the range need none
SAME_TIME = 0.02  # of the interval between two frames
MEASURES = ("rms", "bias", "spread", "peak_error", "peak_time_error_s")


class ScoreError(Exception):
    """Results that cannot be scored."""


@dataclass(frozen=True)
class Compared:
    """Results and truth of a trial at the same times.

    Attributes
    ----------
    trial : str
        Its name.
    time_s : ndarray of shape (n_frames,)
        Times of the truth.
    truth, results : DataFrame
        Columns with the names of the truth, rad and N m; results are NaN where the program gives nothing.
    """

    trial: str
    time_s: FloatArray
    truth: pd.DataFrame
    results: pd.DataFrame


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="SET", help="folder of the set")
    parser.add_argument("--results", type=Path, nargs="+", required=True, metavar="FILE")
    parser.add_argument("--map", type=Path, help="CSV with the columns result, truth, sign, factor")
    parser.add_argument("--by-trial", type=Path, help="file for the scores of every trial and column")
    options = parser.parse_args()
    try:
        scores, sentences = score(options.folder, options.results, options.map)
    except ScoreError as error:
        sys.exit(str(error))
    if options.by_trial:
        scores.to_csv(options.by_trial, index=False)
    print("angles in degrees, moments in N m/kg; sampling: error of exact positions at the markers' rate\n")
    print(summary(scores).round(4).to_string(index=False))
    print("\n".join(["", *sentences]))


def score(folder: Path, files: Iterable[Path], names: Path | None = None) -> tuple[pd.DataFrame, list[str]]:
    """Scores of every trial and column, and sentences about faults of the results.

    Parameters
    ----------
    folder : Path
        The set.
    files : iterable of Path
        Results; several files of a trial are joined.
    names : Path, optional
        Map of columns.

    Returns
    -------
    scores : DataFrame
        Trial, movement, track, joint, motion, kind (angle or moment), measures, sampling error, share of frames with results.
    sentences : list of str
        What is wrong: sign, side, joint, unit, time, rate, missing results.
    """
    if not (folder / "trials.csv").is_file():
        raise ScoreError(f"{folder}: no trials.csv; name the folder that make_set.py wrote.")
    trials = pd.read_csv(folder / "trials.csv", index_col="trial")
    by_trial: dict[str, list[Path]] = {}
    for path in files:
        by_trial.setdefault(_trial_of(path, trials.index), []).append(path)
    known = _read_map(names)
    rows: list[dict[str, object]] = []
    faults: dict[str, list[tuple[str, str]]] = {}  # sentence: trial and column
    for trial, paths in by_trial.items():
        compared, about = _compared(folder, trial, paths, known)
        rows += _scores(compared, trials.loc[trial])
        few = compared.results.notna().mean() < COMPLETE
        about += [("Frames are missing", str(name)) for name in compared.results.columns[few]]
        about += explanations(compared, float(trials.loc[trial, "mass_kg"]))
        for sentence, column in about:
            faults.setdefault(sentence, []).append((trial, column))
    sentences = [f"{sentence}: {_places(places)}." for sentence, places in faults.items()]
    if not rows:
        raise ScoreError(
            "\n".join(
                [*sentences, "Nothing to score: name the columns as the truth (right_knee_flexion_nm), or with --map."]
            )
        )
    return pd.DataFrame(rows), sentences


def _places(places: Sequence[tuple[str, str]]) -> str:
    """Columns and trials of a fault, the first of them by name."""

    def first(names: Iterable[str], most: int) -> str:
        known = list(dict.fromkeys(name for name in names if name))
        return ", ".join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")

    return "; ".join(
        part for part in (first((name for _, name in places), 4), first((of for of, _ in places), 3)) if part
    )


def _trial_of(path: Path, trials: Iterable[str]) -> str:
    names = [trial for trial in trials if path.name.startswith(trial)]
    if not names:
        raise ScoreError(f"{path}: the name begins with no trial of the set; call it T001_walk.csv, for example.")
    return max(names, key=len)


def _read_map(path: Path | None) -> dict[str, tuple[str, float]]:
    """Truth's column and factor of each column of the results."""
    if path is None:
        return {}
    table = pd.read_csv(path)
    if missing := {"result", "truth"} - set(table.columns):
        raise ScoreError(f"{path}: no column {' and '.join(sorted(missing))}.")
    factor = table.get("sign", pd.Series(1.0, table.index)) * table.get("factor", pd.Series(1.0, table.index))
    return dict(zip(table["result"], zip(table["truth"], factor.fillna(1.0), strict=True), strict=True))


def read_results(path: Path) -> tuple[pd.DataFrame, bool]:
    """A table of results, and True if its header says that angles are in degrees."""
    try:
        if path.suffix.lower() not in (".sto", ".mot"):
            return pd.read_csv(path), False
        head, end, _ = path.read_text(encoding="utf-8").partition("endheader")
        if not end:
            raise ScoreError(f"{path}: no line 'endheader', which STO and MOT files have.")
        first = path.read_text(encoding="utf-8").splitlines().index("endheader") + 1
        return pd.read_csv(path, sep=r"\s+", skiprows=first), "indegrees=yes" in head.lower().replace(" ", "")
    except (OSError, ValueError) as error:
        raise ScoreError(f"{path}: no table can be read: {error}") from error


def _compared(
    folder: Path, trial: str, paths: Sequence[Path], names: Mapping[str, tuple[str, float]]
) -> tuple[Compared, list[tuple[str, str]]]:
    """Results of a trial at the times of the truth, and faults of their tables."""
    truth = pd.read_csv(folder / "truth" / f"{trial}.csv")
    time_s = truth["time_s"].to_numpy()
    results, faults = {}, []
    for path in paths:
        table, in_degrees = read_results(path)
        at = next((column for column in ("time_s", "time") if column in table), None)
        if at is None:
            raise ScoreError(f"{path}: no column time_s or time.")
        text = table.columns.difference(table.select_dtypes("number").columns)
        if len(table) < 2 or len(text) or not (np.diff(table[at]) > 0.0).all():
            why = f"text in column {text[0]!r}" if len(text) else "fewer than two rows, or times that do not increase"
            raise ScoreError(f"{path}: {why}; expected numbers in rows by time.")
        own_s, unknown = table[at].to_numpy(float), []
        take = _positions(own_s, time_s)
        for column in table.columns.drop(at):
            default = column.removesuffix("_moment") + ("_nm" if column.endswith("_moment") else "_rad")
            name, factor = names.get(column, (column if column in truth else default, 1.0))
            if name not in truth:
                unknown.append(column)
                continue
            factor /= DEGREES if in_degrees and name.endswith("_rad") else 1.0
            results[name] = at_times(own_s, table[column].to_numpy(float) * factor, time_s, take)
        every = (
            len(unknown) == len(table.columns) - 1
        )  # tables of programs also have coordinates of the pelvis, for example
        other = [column for column in unknown if every or column.endswith(("_nm", "_rad"))]
        faults += [("Other joints than those of the truth", column) for column in other]
        if sentence := _fault_of_times(own_s, time_s):
            faults.append((sentence, ""))
    return Compared(trial, time_s, truth, pd.DataFrame(results, index=truth.index).dropna(axis=1, how="all")), faults


def _fault_of_times(own_s: FloatArray, time_s: FloatArray) -> str:
    """Another rate, or times that are not those of the truth; empty if neither."""
    if len(own_s) < 2:
        return "Fewer than two frames"
    rate, true_rate = (1.0 / np.median(np.diff(values)) for values in (own_s, time_s))
    if abs(rate / true_rate - 1.0) > 0.001:
        return f"Another rate, {rate:.4g} Hz where the truth has {true_rate:.4g} Hz (interpolated)"
    if own_s[0] > time_s[-1] or own_s[-1] < time_s[0]:
        return f"Other times, from {own_s[0]:.3f} s where the truth ends at {time_s[-1]:.3f} s"
    return ""


def _positions(own_s: FloatArray, time_s: FloatArray) -> NDArray[np.intp]:
    """Frame of the results at each time of the truth, -1 where there is none."""
    after = np.searchsorted(own_s, time_s).clip(1, len(own_s) - 1) if len(own_s) > 1 else np.zeros(len(time_s), int)
    nearest = np.where(np.abs(own_s[after - 1] - time_s) < np.abs(own_s[after] - time_s), after - 1, after)
    step = float(np.median(np.diff(own_s))) if len(own_s) > 1 else 1.0
    return np.where(np.abs(own_s[nearest] - time_s) < SAME_TIME * step, nearest, -1)


def at_times(own_s: FloatArray, values: FloatArray, time_s: FloatArray, take: NDArray[np.intp]) -> FloatArray:
    """Values at other times, NaN outside; those at the same times are not changed."""
    linear = np.interp(time_s, own_s, values, left=np.nan, right=np.nan)
    return np.where(take >= 0, values[take], linear)


def _scores(compared: Compared, about: pd.Series) -> list[dict[str, object]]:
    """Scores of every column of a trial."""
    rows = []
    for name in compared.results:
        side, joint, *_ = name.split("_")
        kind, unit = ("angle", DEGREES) if name.endswith("_rad") else ("moment", 1.0 / float(about["mass_kg"]))
        truth, results = compared.truth[name].to_numpy() * unit, compared.results[name].to_numpy() * unit
        sampling = about.get(f"sampling_error_{joint}_nm", np.nan)
        term = name.removeprefix(f"{side}_{joint}_").rsplit("_", 1)[0]
        if kind == "angle" or term != "flexion":
            sampling = np.nan
        rows.append(
            {"trial": compared.trial, "movement": about["movement"], "track": about["track"], "joint": joint, "side": side,
             "motion": term, "kind": kind, **measures(compared.time_s, truth, results), "sampling": sampling * unit,
             "frames": float(np.isfinite(results).mean())}
        )  # fmt: skip
    return rows


def measures(time_s: FloatArray, truth: FloatArray, results: FloatArray) -> dict[str, float]:
    """Rms, bias, rms without the bias, error of the largest peak and of its time."""
    given = np.isfinite(results)
    time_s, truth, results = time_s[given], truth[given], results[given]
    error = results - truth
    peak = int(np.argmax(np.abs(truth)))
    upwards = np.sign(truth[peak]) or 1.0
    near = np.flatnonzero(np.abs(time_s - time_s[peak]) <= PEAK_S)
    own = near[int(np.argmax(upwards * results[near]))]
    level = results[own] == results[peak]
    values = (
        float(np.sqrt(np.mean(error**2))),
        float(error.mean()),
        float(error.std()),
        float(upwards * (results[own] - truth[peak])),
        0.0 if level else float(time_s[own] - time_s[peak]),
    )
    return dict(zip(MEASURES, values, strict=True))


def explanations(compared: Compared, mass_kg: float) -> list[tuple[str, str]]:
    """Fault and name of every column whose error is that of a sign, side, joint, unit or time."""
    faults = []
    for name in compared.results:
        values, truth = compared.results[name].to_numpy(), compared.truth[name].to_numpy()
        inner = slice(FRAMES, -FRAMES)  # frames that every shift has
        error = _rms((values - truth)[inner])
        if error < SMALL * np.ptp(truth):
            continue
        candidates = {"The sign is wrong": _rms((-values - truth)[inner])}
        units = {"degrees": DEGREES} if name.endswith("_rad") else {"N mm": 1000.0, "N m/kg": 1.0 / mass_kg}
        for unit, factor in units.items():
            candidates[f"Values in {unit}"] = _rms((values / factor - truth)[inner])
        side, joint, motion = name.split("_", 2)
        for other in compared.truth.columns.drop(["time_s", name]):
            other_side, other_joint, other_motion = other.split("_", 2)
            fault = "Sides are exchanged" if other_side != side else f"Values of another joint, the {other_joint}"
            if other_motion == motion and (other_side == side or other_joint == joint):
                candidates[fault] = _rms((values - compared.truth[other].to_numpy())[inner])
        for frames in (*range(-FRAMES, 0), *range(1, FRAMES + 1)):
            fault = f"{abs(frames)} {'frame' if abs(frames) == 1 else 'frames'} too {'late' if frames > 0 else 'early'}"
            candidates[fault] = _rms(_shifted_error(values, truth, frames))
        fault = min(candidates, key=lambda name: candidates[name])
        if candidates[fault] < CLEAR * min(error, _rms(truth)):  # values near zero explain nothing
            faults.append((fault, name))
    return faults


def _rms(values: FloatArray | pd.Series) -> float:
    return float(np.sqrt(np.nanmean(np.square(values))))


def _shifted_error(values: FloatArray, truth: FloatArray, frames: int) -> FloatArray:
    """Error if the values were moved back by some frames, of the frames that every shift has."""
    return (np.roll(values, -frames) - truth)[FRAMES:-FRAMES]


def summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores by track, movement, joint, motion and kind: rms of rms, peak and time errors, mean of the bias."""

    def together(values: pd.Series) -> float:
        return _rms(values) if values.notna().any() else np.nan

    keys = ["track", "movement", "joint", "motion", "kind"]
    how = {
        "rms": together,
        "bias": "mean",
        "spread": together,
        "peak_error": together,
        "peak_time_error_s": together,
        "sampling": together,
    }
    grouped = scores.groupby(keys, sort=False)
    return grouped.agg(how | {"frames": "mean", "trial": "nunique"}).rename(columns={"trial": "trials"}).reset_index()


if __name__ == "__main__":
    main()
