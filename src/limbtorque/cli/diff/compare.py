"""Comparison of two runs of a study: changed inputs and changed numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import pandas as pd

from limbtorque.cli.diff.runs import ALL_KEYS, CONTRASTS, CURVES, Run
from limbtorque.errors import LimbtorqueError
from limbtorque.quality.checks import BY_NAME
from limbtorque.study.options.quality import Quality
from limbtorque.study.settings import flattened
from limbtorque.tables.study_columns import AT_GAP, MEASURED, STANCE

GROUP = 3  # how many names of a condition's key identify its trials
COMPARED_BY_CONDITION = ("mean", "sd", "n_trials", "n_subjects")
COMPARED = {  # of the others: every column
    CURVES: ("mean", "n_trials"),
    "summary_by_condition": COMPARED_BY_CONDITION,
    CONTRASTS: ("estimate", "low", "high", "p_adjusted", "n_subjects", "declared"),
}
STATES = ("status", "torque_status", "muscle_status", "reason", "plane")  # text that is compared word by word
TIMES = tuple(column.name for column in MEASURED if "_time_" in column.name)
MINOR = (*TIMES, "window_start_s", "peak_sense", *(column.name for column in AT_GAP), "criterion")  # last
FRAMES = ("n_frames", "used_share", "loaded_share")  # of the summaries: frames that were summed, compared by themselves
# Ledger: metrics that are zero but for rounding, and how far below their threshold they are nothing else.
ROUNDING = ("closure_nm", "power_closure_w")
SMALL = (*ROUNDING, "energy_rate_share")  # their changes are compared with at least as much
FAR_BELOW = 1e-2
NOT_NUMBERS = (
    *("message", "notes", "input_sha256", "forces_sha256", "static_sha256", "file", "forces_file", "static_file"),
    *("session", "subject", "condition"),
)
NAMES = ("trial", "item")
BOTH = ("_a", "_b")  # endings of the columns of two runs
CAUSES = ("setting", "version", "code", "table", "input", "trial")


@dataclass(frozen=True)
class Cause:
    """Difference between two runs in settings, inputs or code.

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
    """Value that differs between two runs.

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
        trial, in either run; of a metric of the ledger over the larger of its two values; of a window over its duration; of a curve
        over the largest value of the condition's curves of that unit. Infinite where one is no number.
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
    """Rows of a trial or condition that exist in one run only.

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
    """Frames of a trial that only one of the runs summed.

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
    """

    table: str
    trial: str
    items: tuple[str, ...]
    first: int
    second: int


@dataclass(frozen=True)
class Comparison:
    """Comparison of two runs.

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
        """True if all numbers, trials, rows and frames are the same."""
        return not (self.changes or self.only_first or self.only_second or self.frames or self.lone)


def compare(first: Run, second: Run, *, tolerance: float = 0.0, every: bool = False) -> Comparison:
    """Compare two runs.

    Parameters
    ----------
    first, second : Run
        The runs.
    tolerance : float, optional
        Numbers whose difference has a share of at most this count as the same.
    every : bool, optional
        Compare every column, not only those that a person reads.

    Returns
    -------
    Comparison
        Changed inputs and settings, and changed numbers.

    Raises
    ------
    LimbtorqueError
        Torques of a joint have opposite signs in the two runs.
    """
    _same_signs(first, second)
    trials = [dict.fromkeys(run.tables["ledger"]["trial"]) for run in (first, second)]
    tables = {name: (first.tables[name], second.tables[name]) for name in first.tables}
    pairs = pd.concat([_pairs(name, *both, every=every) for name, both in tables.items()])
    lone: list[Lone] = []
    sizes: dict[str, tuple[int, int, int]] = {}
    for table, frames in tables.items():
        rows = [pd.DataFrame(dict(zip(NAMES, _names(frame, table), strict=True))) for frame in frames]
        rows = [names_of_rows.drop_duplicates() for names_of_rows in rows]
        both = rows[0].merge(rows[1], how="outer", indicator="where")
        sizes[table] = len(rows[0]), len(rows[1]), int((both["where"] == "both").sum())
        of_both = ALL_KEYS[table][0] != "trial" or both["trial"].isin(trials[0].keys() & trials[1].keys())
        alone = both[(both["where"] != "both") & of_both & (table != "ledger")]
        for (where, trial), items in alone.groupby(["where", "trial"], observed=True)["item"]:
            lone.append(Lone(table, str(trial), "A" if where == "left_only" else "B", tuple(items)))
    return Comparison(
        first=first.name,
        second=second.name,
        causes=tuple(causes(first.provenance, second.provenance)),
        only_first=tuple(name for name in trials[0] if name not in trials[1]),
        only_second=tuple(name for name in trials[1] if name not in trials[0]),
        changes=tuple(_changes(pairs, tolerance) if len(pairs) else ()),
        n_compared=len(pairs),
        frames=tuple(_other_frames(first, second)),
        lone=tuple(lone),
        sizes=sizes,
    )


def _same_signs(first: Run, second: Run) -> None:
    """Refuse runs in which the torques of a joint have opposite signs."""
    senses: list[dict[tuple[str, str], str]] = []
    for run in (first, second):
        rows = run.tables["summary"].reindex(columns=["trial", "joint", "positive_is"], fill_value="")
        senses.append({(trial, joint): sense for trial, joint, sense in rows.to_numpy().tolist()})
    for trial, joint in (key for key in senses[0] if key in senses[1]):
        mine, theirs = (sense[trial, joint] for sense in senses)
        if mine != theirs:
            raise LimbtorqueError(
                f"trial {trial}: torques of the {joint} are positive in {mine} in A and in {theirs} in B; analyse both with the same "
                "version and the same signs of the chain"
            )


def causes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Cause]:
    """Differences between two provenances: settings, versions, code, inputs, trials."""
    in_both = set(first.get("trials", {})) & set(second.get("trials", {}))
    a, b = (_stated(provenance, in_both) for provenance in (first, second))
    names = sorted((name for name in {**a, **b} if a.get(name) != b.get(name)), key=lambda name: CAUSES.index(name[0]))
    return [Cause(*name, _shown(a.get(name)), _shown(b.get(name))) for name in names]


def _stated(provenance: Mapping[str, Any], trials: set[str]) -> dict[tuple[str, str], Any]:
    """Values of a provenance by kind and name, including those of given trials."""
    version = provenance.get("program", {}).get("version")
    stated: dict[str, dict[str, Any]] = {
        "setting": dict(flattened(provenance.get("settings", {}))),
        "version": {"limbtorque": version, "python": provenance.get("python"), **provenance.get("libraries", {})},
        "code": provenance.get("code", {}),
        "table": dict(flattened(provenance.get("segment_table", {}))),
        "input": {},
        "trial": {},
    }
    for name in (name for name in provenance.get("trials", {}) if name in trials):
        trial = provenance["trials"][name]
        hashes = ("sha256", "forces_sha256", "static_sha256")
        stated["input"] |= {f"{name} {key}": trial.get(key) for key in hashes}
        stated["trial"] |= {f"{name} {key}": value for key, value in flattened(trial.get("row", {})).items()}
    return {(kind, name): value for kind, values in stated.items() for name, value in values.items()}


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _numbers(texts: pd.Series[str]) -> pd.Series[float]:
    """Finite numbers of cells; NaN where there are none."""
    numbers = pd.to_numeric(texts, errors="coerce").astype(float)
    return numbers.where(np.isfinite(numbers))


def _names(frame: pd.DataFrame, table: str) -> tuple[list[str], list[str]]:
    """Trial, or chain, condition and side, of each row, and the rest of its name."""
    key = [*ALL_KEYS[table]]
    n_names = 1 if key[0] == "trial" else GROUP
    texts = [
        [" ".join(filter(None, row)) for row in frame[names].itertuples(index=False)]
        for names in (key[:n_names], key[n_names:])
    ]
    return texts[0], texts[1]


def _pairs(table: str, first: pd.DataFrame, second: pd.DataFrame, *, every: bool) -> pd.DataFrame:
    """Cells of a table in both runs; cells of a group share its largest value."""
    key = ALL_KEYS[table]
    skipped = {*key, *NOT_NUMBERS, "percent", *(FRAMES if table != "ledger" and not every else ())}
    wanted = [*COMPARED.get(table, first)]
    if every:  # columns and points of curves that only one run has differ from nothing
        wanted = [*dict.fromkeys((*first, *second))]
        first, second = (frame.reindex(columns=wanted, fill_value="") for frame in (first, second))
    columns = [str(name) for name in wanted if name in first and name in second and name not in skipped]
    by = [*key, *(["percent"] if table == CURVES and len(first) and len(second) else [])]
    how: Literal["outer", "inner"] = "outer" if every and table == CURVES else "inner"
    rows = first.merge(second, on=by, suffixes=BOTH, how=how).fillna("")
    if rows.empty:
        return pd.DataFrame()
    about = pd.DataFrame(dict(zip(NAMES, _names(rows, table), strict=True)))
    about = about.assign(table=table, percent="", unit="", size=np.nan)
    about["group"] = rows.groupby([*(key[:-1] or key)], sort=False).ngroup()
    if table == CURVES:
        about["percent"], about["unit"] = rows["percent"], rows["unit_a"]
        about["group"] = rows.groupby([*key[:GROUP], "unit_a"], sort=False).ngroup()
    elif table == "windows":
        lasting = [_numbers(rows[f"end_s{run}"]) - _numbers(rows[f"start_s{run}"]) for run in BOTH]
        about["size"] = pd.concat(lasting, axis=1).max(axis=1)
    cells = [about.assign(quantity=name, first=rows[f"{name}_a"], second=rows[f"{name}_b"]) for name in columns]
    return _differences(pd.concat(cells).sort_index(kind="stable"))


def _differences(pairs: pd.DataFrame) -> pd.DataFrame:
    """Cells with differences, and shares of the largest value of the group."""
    a, b = _numbers(pairs["first"]), _numbers(pairs["second"])
    sizes = pd.Series(np.fmax(a.abs().to_numpy(), b.abs().to_numpy()), pairs.index)
    largest = sizes.groupby([pairs["group"].to_numpy(), pairs["quantity"].to_numpy()]).transform("max")
    pairs = pairs.assign(difference=b - a, relative=(b - a) / a.abs().where(a != 0.0))
    limits = pairs["quantity"].map({name: FAR_BELOW * BY_NAME[name].allowed_at("", Quality()) for name in SMALL})
    pairs["share"] = (
        pairs["difference"].abs() / pairs["size"].fillna(largest.where(~(limits > largest), limits))
    ).where(pairs["difference"].notna(), np.inf)
    # of a peak that changed its sign: the change of its size
    peak = pairs["quantity"].str.startswith("peak_") | pairs["item"].str.startswith("peak_")
    of_size = pairs["share"] * (b.abs() - a.abs()).abs() / pairs["difference"].abs()
    pairs["rank"] = pairs["share"].where(~(peak & (a * b < 0.0)), of_size)
    rounding = pairs["quantity"].isin(ROUNDING) & (a.abs() <= limits) & (b.abs() <= limits)
    return pairs.assign(same=(pairs["first"] == pairs["second"]) | (a == b) | rounding)


def _changes(pairs: pd.DataFrame, tolerance: float) -> list[Change]:
    """Cells that differ, the largest first.

    For a curve, where it differs most, and where it exists in one run only.
    """
    changes = pairs[~pairs["same"] & (pairs["share"] > tolerance)]
    changes = changes.assign(minor=changes["quantity"].isin(MINOR), missing=changes["difference"].isna())
    changes = changes.sort_values(["minor", "rank"], ascending=[True, False], kind="stable")
    again = changes.duplicated(["table", "trial", "item", "quantity", "missing"])
    listed = []
    for row in changes[(changes["table"] != CURVES) | ~again].to_dict("records"):
        if row["table"] == CURVES:
            row["quantity"] = f"{'a ' if row['missing'] else ''}{row['quantity']} at {row['percent']} %"
        if row["table"] == CURVES and row["missing"]:
            row |= {run: "there" if row[run] else "missing" for run in ("first", "second")}
        listed.append(Change(**{field.name: row[field.name] for field in fields(Change)}))
    return listed


def _other_frames(first: Run, second: Run) -> list[Frames]:
    """Trials of which different frames were summed, for torques and muscle forces."""
    frames: list[Frames] = []
    for table, what in (("summary", "joint"), ("muscle_summary", "muscle")):
        sums = []
        for run in (first, second):
            rows = run.tables[table].reindex(columns=["trial", "window", what, "n_frames"])
            rows["n"] = _numbers(rows["n_frames"])
            rows = rows[(rows["window"] != STANCE) & rows["n"].notna()].drop_duplicates(["trial", what], keep="last")
            sums.append(rows[["trial", what, "n"]])
        pairs = sums[0].merge(sums[1], on=["trial", what], suffixes=("_a", "_b"))
        for trial, rows in pairs[pairs["n_a"] != pairs["n_b"]].groupby("trial", sort=False):
            most = int(np.argmax((rows["n_b"] - rows["n_a"]).abs()))
            n_a, n_b = int(rows["n_a"].iloc[most]), int(rows["n_b"].iloc[most])
            if any((known.trial, known.first, known.second) == (trial, n_a, n_b) for known in frames):
                continue  # as of the torques, from which the muscle forces are
            frames.append(Frames(table, str(trial), tuple(rows[what]), n_a, n_b))
    return frames
