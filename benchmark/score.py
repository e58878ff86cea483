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
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

DEGREES = 180.0 / np.pi
PEAK_S = 0.15  # a peak of the results is looked for within this time of the truth's
FRAMES = 5  # shifts that are tried
COMPLETE = 0.95  # of the frames: a column with fewer is named
CLEAR = 0.5  # an explanation leaves less than half of an error
SMALL = 0.001  # an error below a thousandth of the range needs none
ZERO_RAD = 0.05  # an angle that is off by more has another zero
SAME_TIME = 0.02  # of the interval between two frames
MEASURES = ("rms", "bias", "spread", "peak_error", "peak_time_error_s")


class ScoreError(Exception):
    """Results that cannot be scored."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="SET", help="folder of the set")
    parser.add_argument("--results", type=Path, nargs="+", required=True, metavar="FILE")
    parser.add_argument("--map", type=Path, help="CSV with the columns result, truth, sign, factor")
    parser.add_argument("--by-trial", type=Path, help="file for the scores of every trial and column")
    options = parser.parse_args()
    try:
        scores, sentences = score(options.folder, options.results, options.map)
        if options.by_trial:
            scores.to_csv(options.by_trial, index=False)
    except (ScoreError, OSError) as error:
        sys.exit(str(error))
    print("angles in degrees, moments in N m/kg; sampling: error of exact positions at the markers' rate")
    print("frames: share of the frames with results, of all trials of the movement\n")
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
        Trial, movement, track, joint, motion, kind (angle or moment), measures, sampling error, share of frames with results. A
        column that only other trials have has no measures, and no frames.
    sentences : list of str
        What is wrong: sign, side, joint, unit, zero, time, rate, missing results. A fault of columns is told where at least half of the
        trials that have the column have the fault.
    """
    if not (folder / "trials.csv").is_file():
        raise ScoreError(f"{folder}: no trials.csv; name the folder that make_set.py wrote.")
    trials = pd.read_csv(folder / "trials.csv", index_col="trial")
    by_trial: dict[str, list[Path]] = {}
    for path in files:
        by_trial.setdefault(_trial_of(path, trials.index), []).append(path)
    known, compared = _read_map(names), {}
    told: dict[str, list[tuple[str, str]]] = {}  # sentence: trial and column
    for trial, paths in by_trial.items():
        truth, results, about = _compared(folder, trial, paths, known)
        compared[trial] = truth, results
        about += [("Frames are missing", str(name)) for name in results.columns[results.notna().mean() < COMPLETE]]
        for sentence, column in about:
            told.setdefault(sentence, []).append((trial, column))
    having = pd.Series([column for _, results in compared.values() for column in results], dtype=str).value_counts()
    faults: dict[tuple[str, str], list[str]] = {}  # sentence and column: trials
    rows: list[dict[str, object]] = []
    for trial, about in trials.iterrows():
        truth, results = compared.get(trial) or (_truth(folder, trial, nrows=0), pd.DataFrame())
        for name in truth.columns.intersection(having.index, sort=False):
            rows.append(_row(trial, about, name, truth, results.get(name)))
            if name not in results:
                if trial in compared:
                    told.setdefault("No results", []).append((trial, name))
                continue
            for fault in explanations(name, results[name].to_numpy(), truth, float(about["mass_kg"])):
                faults.setdefault((fault, name), []).append(trial)
    for (fault, name), of in faults.items():
        if 2 * len(of) >= having[name]:
            told.setdefault(fault, []).extend((trial, name) for trial in of)
    sentences = [f"{sentence}: {_places(places)}." for sentence, places in told.items()]
    if not rows:
        advice = "Nothing to score: name the columns as the truth (right_knee_flexion_nm), or with --map."
        raise ScoreError("\n".join([*sentences, advice]))
    return pd.DataFrame(rows), sentences


def _places(places: Sequence[tuple[str, str]]) -> str:
    """Columns and trials of a fault, the first of them by name."""

    def first(names: Iterable[str], most: int) -> str:
        known = list(dict.fromkeys(name for name in names if name))
        return ", ".join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")

    trials, columns = zip(*places, strict=True)
    return "; ".join(filter(None, (first(columns, 4), first(trials, 3))))


def _trial_of(path: Path, trials: Iterable[str]) -> str:
    names = [trial for trial in trials if path.name.startswith(trial)]
    if not names:
        raise ScoreError(f"{path}: the name begins with no trial of the set; call it T001_walk.csv, for example.")
    return max(names, key=len)


def _truth(folder: Path, trial: str, nrows: int | None = None) -> pd.DataFrame:
    return _table(folder / "truth" / f"{trial}.csv", nrows=nrows)


def _table(path: Path, **options: object) -> pd.DataFrame:
    try:
        return pd.read_csv(path, **options)
    except (OSError, ValueError) as error:
        raise ScoreError(f"{path}: no table can be read: {error}") from error


def _read_map(path: Path | None) -> dict[str, tuple[str, float]]:
    """Truth's column and factor of each column of the results."""
    if path is None:
        return {}
    table = _table(path)
    if missing := {"result", "truth"} - set(table.columns):
        raise ScoreError(f"{path}: no column {' and '.join(sorted(missing))}.")
    factors = table.reindex(columns=["sign", "factor"]).apply(pd.to_numeric, errors="coerce")
    if (wrong := factors.isna() & table.reindex(columns=["sign", "factor"]).notna()).any(axis=None):
        raise ScoreError(f"{path}: sign and factor are numbers; row {int(np.argmax(wrong.any(axis=1))) + 1} has text.")
    return dict(zip(table["result"], zip(table["truth"], factors.fillna(1.0).prod(axis=1), strict=True), strict=True))


def read_results(path: Path) -> tuple[pd.DataFrame, bool]:
    """A table of results with a column `time_s`, and True if its header says that angles are in degrees."""
    options, in_degrees = {}, False
    if path.is_file() and path.suffix.lower() in (".sto", ".mot"):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if "endheader" not in lines:
            raise ScoreError(f"{path}: no line 'endheader', which STO and MOT files have.")
        options = {"sep": r"\s+", "skiprows": lines.index("endheader") + 1}
        in_degrees = any("indegrees=yes" in line.lower().replace(" ", "") for line in lines[: options["skiprows"]])
    table = _table(path, **options).rename(columns={"time": "time_s"})
    if "time_s" not in table:
        raise ScoreError(f"{path}: no column time_s or time.")
    text = table.columns.difference(table.select_dtypes("number").columns)
    if len(table) < 2 or len(text) or not (np.diff(table["time_s"]) > 0.0).all():
        why = f"text in column {text[0]!r}" if len(text) else "fewer than two rows, or times that do not increase"
        raise ScoreError(f"{path}: {why}; expected numbers in rows by time.")
    return table.astype(float), in_degrees


def _compared(
    folder: Path, trial: str, paths: Sequence[Path], names: Mapping[str, tuple[str, float]]
) -> tuple[pd.DataFrame, pd.DataFrame, list[tuple[str, str]]]:
    """Truth of a trial, results at its times with its names, rad and N m, and faults of their tables."""
    truth = _truth(folder, trial)
    time_s = truth["time_s"].to_numpy()
    sides, joints, *_ = map(set, zip(*(column.split("_")[:2] for column in truth.columns[1:]), strict=True))
    other_arm = tuple({"left", "right"} - sides)  # which a model may have, as the coordinates of its pelvis
    results, sources, faults = {}, {}, []
    for path in paths:
        table, in_degrees = read_results(path)
        for column in table.columns.drop("time_s"):
            default = column.removesuffix("_moment") + ("_nm" if column.endswith("_moment") else "_rad")
            name, factor = names.get(column, (column if column in truth else default, 1.0))
            if name in sources:
                raise ScoreError(f"{path}: {name} is in {sources[name]}, too; score one of them.")
            if name in truth:
                sources[name] = path
                factor /= DEGREES if in_degrees and name.endswith("_rad") else 1.0
                results[name] = at_times(table["time_s"].to_numpy(), table[column].to_numpy() * factor, time_s)
            elif (
                column in names
                or column.endswith(("_nm", "_rad"))
                or (any(joint in column for joint in joints) and not column.startswith(other_arm))
            ):
                mapped = f" (the map says {name})" if column in names else ""
                faults.append(("Other joints than those of the truth", column + mapped))
        if sentence := _fault_of_times(table["time_s"].to_numpy(), time_s):
            faults.append((sentence, ""))
    return truth, pd.DataFrame(results, index=truth.index).dropna(axis=1, how="all"), faults


def _fault_of_times(own_s: FloatArray, time_s: FloatArray) -> str:
    """Another rate, or times that are not those of the truth; empty if neither."""
    rate, true_rate = (1.0 / np.median(np.diff(values)) for values in (own_s, time_s))
    if abs(rate / true_rate - 1.0) > 0.001:
        return f"Another rate, {rate:.4g} Hz where the truth has {true_rate:.4g} Hz (interpolated)"
    if own_s[0] > time_s[-1] or own_s[-1] < time_s[0]:
        return f"Other times, from {own_s[0]:.3f} s where the truth ends at {time_s[-1]:.3f} s"
    return ""


def at_times(own_s: FloatArray, values: FloatArray, time_s: FloatArray) -> FloatArray:
    """Values at other times, NaN outside; those at nearly the same times are not changed."""
    near = time_s[np.searchsorted(0.5 * (time_s[1:] + time_s[:-1]), own_s)]
    same = np.abs(near - own_s) < SAME_TIME * np.median(np.diff(own_s))
    return np.interp(time_s, np.where(same, near, own_s), values, left=np.nan, right=np.nan)


def _row(trial: str, about: pd.Series, name: str, truth: pd.DataFrame, results: pd.Series | None) -> dict[str, object]:
    """Scores of a column of a trial."""
    side, joint, motion = name.rsplit("_", 1)[0].split("_", 2)
    kind, unit = ("angle", DEGREES) if name.endswith("_rad") else ("moment", 1.0 / float(about["mass_kg"]))
    row = {"trial": trial, "movement": about["movement"], "track": about["track"], "joint": joint, "side": side}
    row |= {"motion": motion, "kind": kind, "frames": 0.0, "sampling": np.nan}
    if kind == "moment" and motion == "flexion":
        row["sampling"] = about.get(f"sampling_error_{joint}_nm", np.nan) * unit
    if results is None:
        return row | dict.fromkeys(MEASURES, np.nan)
    values = (truth["time_s"].to_numpy(), unit * truth[name].to_numpy(), unit * results.to_numpy())
    return row | measures(*values) | {"frames": results.notna().mean()}


def measures(time_s: FloatArray, truth: FloatArray, results: FloatArray) -> dict[str, float]:
    """Rms, bias, rms without the bias, error of the largest peak and of its time."""
    given = np.isfinite(results)
    time_s, truth, results = time_s[given], truth[given], results[given]
    error, peak = results - truth, int(np.argmax(np.abs(truth)))
    upwards = np.sign(truth[peak]) or 1.0
    near = np.flatnonzero(np.abs(time_s - time_s[peak]) <= PEAK_S)
    own = near[int(np.argmax(upwards * results[near]))]
    late_s = 0.0 if results[own] == results[peak] else time_s[own] - time_s[peak]
    values = (_rms(error), error.mean(), error.std(), upwards * (results[own] - truth[peak]), late_s)
    return dict(zip(MEASURES, map(float, values), strict=True))


def explanations(name: str, values: FloatArray, truth: pd.DataFrame, mass_kg: float) -> list[str]:
    """Faults that explain the error of a column: sign, side, joint, unit, time; of angles also the zero."""
    right, angle = truth[name].to_numpy(), name.endswith("_rad")
    inner = slice(FRAMES, -FRAMES)  # frames that every shift has
    if np.isfinite(values[inner]).sum() <= 2 * FRAMES:
        return []
    errors = {"": values - right, "The sign is wrong": -values - right}
    units = {"N mm": 1000.0, "N m/kg": 1.0 / mass_kg, "N mm/kg": 1000.0 / mass_kg}
    for unit, factor in {"degrees": DEGREES}.items() if angle else units.items():
        errors[f"{'Angles' if angle else 'Moments'} in {unit}"] = values / factor - right
        errors[f"{'Turned angles' if angle else 'External moments'} in {unit}"] = -values / factor - right
    side, joint, motion = name.split("_", 2)
    for other in truth.columns[1:]:
        other_side, other_joint, other_motion = other.split("_", 2)
        fault = "Sides are exchanged" if other_side != side else f"Values of another joint, the {other_joint}"
        if other_motion == motion and (other_side == side) != (other_joint == joint):
            errors[fault] = values - truth[other].to_numpy()
    for frames in (*range(-FRAMES, 0), *range(1, FRAMES + 1)):
        fault = f"{abs(frames)} {'frame' if abs(frames) == 1 else 'frames'} too {'late' if frames > 0 else 'early'}"
        errors[fault] = np.roll(values, -frames) - right
    table = np.array(list(errors.values()))[:, inner]
    bias = angle * np.nanmean(table, axis=1)
    left = np.sqrt(np.nanmean((table - bias[:, None]) ** 2, axis=1))
    best = int(np.argmin(left))
    needed = max(left[0], abs(bias[0])) > SMALL * np.ptp(right)
    if not needed or left[best] > CLEAR * min(left[0], np.std(right) if angle else _rms(right)):
        best = 0  # values near zero explain nothing
    zero = abs(bias[best]) > max(ZERO_RAD, left[best] / CLEAR)
    return [fault for fault in (list(errors)[best], "Angles with another zero" if zero else "") if fault]


def _rms(values: FloatArray | pd.Series) -> float:
    return float(np.sqrt(np.nanmean(np.square(values))))


def summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores by track, movement, joint, motion and kind: rms of rms, peak and time errors, mean of the bias.

    `trials` have results, `without` have none; `frames` is the share of all their frames.
    """

    def together(values: pd.Series) -> float:
        return _rms(values) if values.notna().any() else np.nan

    given = scores["frames"] > 0.0
    scores = scores.assign(trials=scores["trial"].where(given), without=scores["trial"])
    how = dict.fromkeys(("rms", "spread", "peak_error", "peak_time_error_s", "sampling"), together)
    how |= {"bias": "mean", "frames": "mean", "trials": "nunique", "without": "nunique"}
    grouped = scores.groupby(["track", "movement", "joint", "motion", "kind"], sort=False).agg(how)
    grouped["without"] -= grouped["trials"]
    return grouped[grouped["trials"] > 0].reset_index()


if __name__ == "__main__":
    main()
