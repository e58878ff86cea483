"""Two runs of a study side by side: changed inputs, and changed numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from limbtorque.cli.diff.runs import CURVES, KEYS, Run, short_number
from limbtorque.quality.checks import BY_NAME
from limbtorque.study.options.quality import Quality
from limbtorque.study.settings import flattened
from limbtorque.tables.study_columns import STANCE

GROUP = 3  # how many names of a condition's key identify its trials
COMPARED_BY_CONDITION = ("mean", "sd", "n_trials", "n_subjects")
STATES = ("status", "torque_status", "muscle_status", "reason", "plane")  # text that is compared word by word
MINOR = ("peak_time_s", "max_time_s", "min_time_s", "peak_sense", "positive_is", "peak_at_gap", "criterion")  # last
FRAMES = ("n_frames", "used_share", "loaded_share")  # of the summaries: frames that were summed, compared by themselves
# Ledger: metrics that are zero but for rounding, and how far below their threshold they are nothing else.
ROUNDING = ("closure_nm", "power_closure_w")
FAR_BELOW = 1e-2
NOT_NUMBERS = (
    *("message", "notes", "input_sha256", "forces_sha256", "static_sha256", "file", "forces_file", "static_file"),
    *("session", "subject", "condition"),
)
# Ledger: shares of the frames that may have no torque, which explain a difference.
LEAVES_OUT = (
    *("edge_share", "unmeasured_share", "plate_saturated_share", "other_foot_unknown_share", "foreshortened_share"),
    "optimization_failed_share",
)
CAUSES = ("setting", "version", "code", "table", "input", "trial")
BOTH = ("_a", "_b")  # endings of the columns of two runs


@dataclass(frozen=True)
class Cause:
    """Difference between two runs before anything is computed.

    Attributes
    ----------
    kind : str
        One of `CAUSES`.
    name : str
        Its name.
    first, second : str
        Value in either run; empty where there is none.
    """

    kind: str
    name: str
    first: str
    second: str


@dataclass(frozen=True)
class Change:
    """Number or word that differs between two runs.

    Attributes
    ----------
    table, trial, item, quantity : str
        Where: the table, the trial (or chain, condition and side), its joint and term, muscle or curve, and the column.
    first, second : str
        Values in either run, as printed.
    difference : float
        Second less first; NaN where either is no number.
    relative : float
        The difference over the first; NaN where that is zero.
    share : float
        Size of the difference over the largest value of this quantity among the terms of that joint, or the muscles of that
        trial, in either run; of a metric of the ledger over the larger of its two values; of a curve over the largest value of
        the condition's curves of that unit. Infinite where one is no number.
    unit : str
        Unit of a curve; empty otherwise.
    rank : float
        The share; of a peak that changed its sign, that of the change of its size: two peaks about as large change places easily.
    """

    table: str
    trial: str
    item: str
    quantity: str
    first: str
    second: str
    difference: float
    relative: float
    share: float
    unit: str
    rank: float


@dataclass(frozen=True)
class Lone:
    """Rows of one trial, or of one condition, that are in one run only.

    Attributes
    ----------
    table, trial : str
        The table, and the trial, or chain, condition and side.
    where : {"A", "B"}
        The run that has them.
    items : tuple of str
        Joints and terms, muscles, statistics or curves.
    """

    table: str
    trial: str
    where: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Frames:
    """Frames of a trial that were summed in one run and not in the other.

    Attributes
    ----------
    table : {"summary", "muscle_summary"}
        The summary: of torques, or of muscle forces.
    trial : str
        The trial.
    items : tuple of str
        Joints, or muscles.
    first, second : int
        Frames that were summed, of the joint or muscle with the largest difference.
    first_of, second_of : int
        Frames of the window; 0 where that is not known.
    reasons : tuple of str
        Shares of frames without a torque that differ.
    """

    table: str
    trial: str
    items: tuple[str, ...]
    first: int
    second: int
    first_of: int
    second_of: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes
    ----------
    first, second : str
        Names of the runs.
    causes : tuple of Cause
        Changed settings, inputs, code and versions.
    only_first, only_second : tuple of str
        Trials that are in one run only.
    changes : tuple of Change
        Values that differ, the largest share first; times of peaks and words come last.
    n_compared : int
        Number of values compared.
    frames : tuple of Frames
        Trials of which different frames were summed.
    lone : tuple of Lone
        Rows that are in one run only, of trials that are in both.
    sizes : dict of str to tuple of int
        Number of rows, or curves, of each table in either run, and in both.
    """

    first: str
    second: str
    causes: tuple[Cause, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changes: tuple[Change, ...]
    n_compared: int
    frames: tuple[Frames, ...]
    lone: tuple[Lone, ...]
    sizes: Mapping[str, tuple[int, int, int]]

    @property
    def same(self) -> bool:
        """All numbers are the same, and the trials, rows and frames too."""
        return not (self.changes or self.only_first or self.only_second or self.frames or self.lone)


def compare(first: Run, second: Run, *, tolerance: float = 0.0) -> Comparison:
    """Compare two runs.

    Parameters
    ----------
    first, second : Run
        The runs.
    tolerance : float, optional
        Numbers whose difference has a share of at most this count as the same.

    Returns
    -------
    Comparison
        Changed inputs and settings, and changed numbers.
    """
    trials = [[*run.tables["ledger"]["trial"]] for run in (first, second)]
    n_compared, of_tables = 0, []
    for table in (CURVES, *(name for name in KEYS if name != CURVES)):
        frames = first.tables[table], second.tables[table]
        work = {CURVES: _curve_changes, "windows": _window_changes}.get(table, _table_changes)
        changes, n = work(table, *frames, tolerance) if len(frames[0]) and len(frames[1]) else (pd.DataFrame(), 0)
        n_compared += n
        of_tables.append(changes.assign(table=table))
    changes = pd.concat(of_tables).reset_index(drop=True)
    if len(changes):
        changes = changes[~_is_rounding(changes)]
        changes = changes.assign(rank=_rank(changes), minor=changes["quantity"].isin(MINOR))
        changes = changes.sort_values(["minor", "rank"], ascending=[True, False], kind="stable")
        changes = changes[[*Change.__dataclass_fields__]]
    places = {table: [_places(run.tables[table], table) for run in (first, second)] for table in KEYS}
    in_both = set(trials[0]) & set(trials[1])
    return Comparison(
        first=first.name,
        second=second.name,
        causes=tuple(causes(first.provenance, second.provenance)),
        only_first=tuple(name for name in trials[0] if name not in in_both),
        only_second=tuple(name for name in trials[1] if name not in in_both),
        changes=tuple(Change(*row) for row in changes.itertuples(index=False)),
        n_compared=n_compared,
        frames=tuple(_other_frames(first, second)),
        lone=tuple(lone for table, pair in places.items() if table != "ledger" for lone in _lone(table, pair, in_both)),
        sizes={table: (len(a), len(b), sum(place in b for place in a)) for table, (a, b) in places.items()},
    )


def causes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Cause]:
    """Differences between two provenances: settings, versions, code, inputs, trials."""
    in_both = set(first.get("trials", {})) & set(second.get("trials", {}))
    a, b = (_stated(provenance, in_both) for provenance in (first, second))
    names = sorted((name for name in {**a, **b} if a.get(name) != b.get(name)), key=lambda name: CAUSES.index(name[0]))
    return [Cause(*name, _shown(a.get(name)), _shown(b.get(name))) for name in names]


def _stated(provenance: Mapping[str, Any], trials: set[str]) -> dict[tuple[str, str], Any]:
    """Values of a provenance by their kind and name, with those of some trials."""
    version = provenance.get("program", {}).get("version")
    stated: dict[str, Mapping[str, Any]] = {
        "setting": flattened(provenance.get("settings", {})),
        "version": {"limbtorque": version, "python": provenance.get("python"), **provenance.get("libraries", {})},
        "code": provenance.get("code", {}),
        "table": flattened(provenance.get("segment_table", {})),
    }
    of_trials = {name: trial for name, trial in provenance.get("trials", {}).items() if name in trials}
    for kind in ("input", "trial"):
        stated[kind] = {
            f"{name} {key}": value
            for name, trial in of_trials.items()
            for key, value in (
                flattened(trial.get("row", {})).items()
                if kind == "trial"
                else ((key, trial.get(key)) for key in ("sha256", "forces_sha256", "static_sha256"))
            )
        }
    return {(kind, name): value for kind, values in stated.items() for name, value in values.items()}


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _numbers(texts: pd.Series[str]) -> pd.Series[float]:
    """Finite numbers of cells; NaN where there are none."""
    numbers = pd.to_numeric(texts, errors="coerce").astype(float)
    return numbers.where(np.isfinite(numbers))


def _joined(names: Iterable[str]) -> str:
    return " ".join(filter(None, names))


def _split_key(table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns that name the trial or condition of a row, and the rest of its key."""
    key = KEYS[table]
    n_names = 1 if key[0] == "trial" else GROUP
    return key[:n_names], key[n_names:]


def _table_changes(table: str, first: pd.DataFrame, second: pd.DataFrame, tolerance: float) -> tuple[pd.DataFrame, int]:
    """Changes of one table, row by row, and how many values were compared."""
    key = [*KEYS[table]]
    skipped = {*key, *NOT_NUMBERS, *(FRAMES if table != "ledger" else ())}
    quantities = [
        str(name)
        for name in first
        if name in second and name not in skipped and (table != "summary_by_condition" or name in COMPARED_BY_CONDITION)
    ]
    pairs = first[[*key, *quantities]].merge(second[[*key, *quantities]], on=key, suffixes=BOTH)
    group = pairs.groupby(key[:-1] if len(key) > 1 else key, sort=False).ngroup()
    cells = [
        pairs[key].assign(quantity=name, first=pairs[f"{name}_a"], second=pairs[f"{name}_b"], group=group)
        for name in quantities
    ]
    return _changed(table, pd.concat(cells), tolerance), len(pairs) * len(quantities)


def _changed(table: str, cells: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """Cells that differ, with differences and share of the group's largest value."""
    a, b = _numbers(cells["first"]), _numbers(cells["second"])
    sizes = pd.Series(np.fmax(a.abs().to_numpy(), b.abs().to_numpy()), a.index)
    largest = sizes.groupby([cells["group"].to_numpy(), cells["quantity"].to_numpy()]).transform("max")
    cells = cells.assign(unit=cells.get("unit", ""), difference=b - a, relative=(b - a) / a.abs().where(a != 0.0))
    cells["share"] = (cells["difference"].abs() / cells.get("largest", largest)).where(
        cells["difference"].notna(), math.inf
    )
    changes = cells[(cells["first"] != cells["second"]) & (a != b) & (cells["share"] > tolerance)].sort_index(
        kind="stable"
    )
    place, item = _split_key(table)
    for column, names in (("trial", place), ("item", item)):
        changes[column] = [_joined(row) for row in changes[[*names]].itertuples(index=False)]
    return changes


def _window_changes(
    table: str, first: pd.DataFrame, second: pd.DataFrame, tolerance: float
) -> tuple[pd.DataFrame, int]:
    """Trials whose 0 to 100 % or inclusion differs, and how many were compared."""
    pairs = first.merge(second, on=[*KEYS[table]], suffixes=BOTH)
    for name in ("start_s", "end_s"):
        for run in BOTH:
            pairs[f"{name}{run}"] = _numbers(pairs[f"{name}{run}"])
    changes = []
    for pair in pairs.to_dict("records"):
        ends_s = np.array([[pair[f"{name}{run}"] for name in ("start_s", "end_s")] for run in BOTH])
        difference = max(ends_s[1] - ends_s[0], key=abs) if np.isfinite(ends_s).all() else math.nan
        lasting = np.fmax(*(ends_s[:, 1] - ends_s[:, 0]))
        share = abs(difference) / lasting if lasting > 0.0 and not math.isnan(difference) else math.inf
        alike = all(pair[f"{name}_a"] == pair[f"{name}_b"] for name in ("window", "included", "note"))
        if not (alike and (np.array_equal(ends_s[0], ends_s[1], equal_nan=True) or share <= tolerance)):
            texts = {name: _window_text(pair, run) for name, run in zip(("first", "second"), BOTH, strict=True)}
            about = {"trial": pair["trial"], "item": "", "quantity": "window", "unit": "", **texts}
            changes.append({**about, "difference": difference, "relative": math.nan, "share": share})
    return pd.DataFrame(changes), len(pairs)


def _window_text(pair: Mapping[Hashable, Any], run: str) -> str:
    start_s, end_s, note = (pair[f"{name}{run}"] for name in ("start_s", "end_s", "note"))
    span = "none" if math.isnan(start_s + end_s) else f"{start_s:.4g} to {end_s:.4g} s"
    means = "in the means" if pair[f"included{run}"] == "1" else "not in the means"
    return f"{pair[f'window{run}']}: {span}, {means}" + (f": {note}" if note else "")


def _curve_changes(table: str, first: pd.DataFrame, second: pd.DataFrame, tolerance: float) -> tuple[pd.DataFrame, int]:
    """Curves whose mean or number of trials differs; number of values compared.

    A mean curve is compared where it differs most.
    """
    key = [*KEYS[table]]
    curves = []
    for frame in (first, second):
        points = frame.assign(value=_numbers(frame["mean"]), n=_numbers(frame["n_trials"]).astype(int))
        points["size"] = points["value"].abs()
        columns = {"unit": ("unit", "first"), "n": ("n", "max"), "of": ("n", "size")}
        curves.append(points.groupby(key, sort=False).agg(**columns, known=("value", "count"), largest=("size", "max")))
    pairs = curves[0].add_suffix("_a").join(curves[1].add_suffix("_b"), how="inner")
    pairs["unit"], pairs["group"] = pairs["unit_a"], np.arange(len(pairs))
    points = first.merge(second, on=[*key, "percent"], suffixes=BOTH)
    points["apart"] = (_numbers(points["mean_a"]) - _numbers(points["mean_b"])).abs()
    apart = points.dropna(subset="apart").groupby(key, sort=False)["apart"]
    furthest = points.loc[apart.idxmax()].set_index(key).rename(columns={"mean_a": "first", "mean_b": "second"})
    furthest["quantity"] = "mean at " + furthest["percent"] + " %"
    means = pairs.join(furthest[["quantity", "first", "second"]], how="inner")
    sizes = pairs[["largest_a", "largest_b"]].max(axis=1)
    largest = sizes.groupby([*key[:GROUP], pairs["unit"]]).transform("max")
    means = means.assign(largest=largest.reindex(means.index))  # an empty frame would take the rows of the other
    counts = pairs.assign(quantity="n_trials", first=pairs["n_a"].astype(str), second=pairs["n_b"].astype(str))
    compared = points.assign(known=points["apart"].notna()).groupby(key, sort=False)["known"].sum()
    elsewhere = compared.reindex(pairs.index, fill_value=0) < pairs[["known_a", "known_b"]].min(axis=1)
    known = pairs[elsewhere | (pairs["known_a"] != pairs["known_b"])].assign(quantity="points with a mean")
    for name, run in zip(("first", "second"), BOTH, strict=True):
        known[name] = known[f"known{run}"].astype(str) + " of " + known[f"of{run}"].astype(str)
    known["second"] += np.where(known["first"] == known["second"], " at other percents", "")
    cells = ((counts.assign(unit=""), 0.0), (means, tolerance), (known.assign(unit=""), 0.0))
    changes = pd.concat([_changed(table, rows.reset_index(), limit) for rows, limit in cells])
    return changes, 2 * len(pairs)


def _is_rounding(changes: pd.DataFrame) -> pd.Series[bool]:
    """Metrics of the ledger that are zero but for rounding in both runs."""
    rounding = (changes["table"] == "ledger") & changes["quantity"].isin(ROUNDING)
    limits = changes["quantity"].map({name: FAR_BELOW * BY_NAME[name].allowed_at("", Quality()) for name in ROUNDING})
    for column in ("first", "second"):
        rounding &= _numbers(changes[column]).abs() <= limits
    return rounding


def _rank(changes: pd.DataFrame) -> pd.Series[float]:
    """Share of each change; of a peak that changed its sign, that of its size."""
    a, b = _numbers(changes["first"]), _numbers(changes["second"])
    peak = changes["quantity"].str.startswith("peak_") | changes["item"].str.startswith("peak_")
    of_size = changes["share"] * (b.abs() - a.abs()).abs() / changes["difference"].abs()
    return changes["share"].where(~(peak & (a * b < 0.0)), of_size)


def _places(frame: pd.DataFrame, table: str) -> dict[tuple[str, ...], None]:
    """Names of the rows of a table, or of its curves, in their order."""
    return dict.fromkeys(frame[[*KEYS[table]]].itertuples(index=False, name=None))


def _lone(table: str, places: Sequence[Mapping[tuple[str, ...], None]], trials: set[str]) -> list[Lone]:
    """Rows that are in one run only; trials in one run only are not included."""
    n_names = len(_split_key(table)[0])
    items: dict[tuple[str, str], list[str]] = {}
    for where, mine, theirs in (("A", places[0], places[1]), ("B", places[1], places[0])):
        for place in mine:
            if place not in theirs and (n_names > 1 or place[0] in trials):
                items.setdefault((where, _joined(place[:n_names])), []).append(_joined(place[n_names:]))
    return [Lone(table, trial, where, tuple(names)) for (where, trial), names in items.items()]


def _other_frames(first: Run, second: Run) -> list[Frames]:
    """Trials of which different frames were summed, for torques and muscle forces."""
    names = ("trial", *LEAVES_OUT)
    shares = [run.tables["ledger"].reindex(columns=names, fill_value="").set_index("trial") for run in (first, second)]
    frames: list[Frames] = []
    for table, what in (("summary", "joint"), ("muscle_summary", "muscle")):
        summed = [_summed_frames(run.tables[table], what) for run in (first, second)]
        pairs = summed[0].add_suffix("_a").join(summed[1].add_suffix("_b"), how="inner").reset_index()
        other = pairs[(pairs["n_a"] != pairs["n_b"]) | (pairs["of_a"] != pairs["of_b"])]
        for trial, rows in other.groupby("trial", sort=False):
            most = int(np.argmax((rows["n_b"] - rows["n_a"]).abs()))
            n_a, n_b, of_a, of_b = (int(rows[name].iloc[most]) for name in ("n_a", "n_b", "of_a", "of_b"))
            if any((known.trial, known.first, known.second) == (trial, n_a, n_b) for known in frames):
                continue  # as of the torques, from which the muscle forces are
            pair = [[short_number(text) for text in table.loc[[trial]].iloc[0]] for table in shares]
            reasons = [f"{name} {a} in A, {b} in B" for name, a, b in zip(LEAVES_OUT, *pair, strict=True) if a != b]
            frames.append(Frames(table, str(trial), tuple(rows[what]), n_a, n_b, of_a, of_b, tuple(reasons)))
    return frames


def _summed_frames(summary: pd.DataFrame, what: str) -> pd.DataFrame:
    """Frames summed, and frames of the window, of each joint or muscle of a trial."""
    rows = summary.reindex(columns=["trial", "window", what, "n_frames", "used_share"])
    rows["n"], share = _numbers(rows["n_frames"]), _numbers(rows["used_share"])
    rows["of"] = (rows["n"] / share.where(share > 0.0)).round().fillna(0.0)
    rows = rows[(rows["window"] != STANCE) & rows["n"].notna()].drop_duplicates(["trial", what], keep="last")
    return rows.set_index(["trial", what])[["n", "of"]].astype(int)
