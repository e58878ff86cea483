"""Changed numbers and texts of two runs, as fractions of the largest value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from limbtorque.cli.diff.runs import CURVES, GROUP, Curve, Row, joined, number
from limbtorque.study.options.quality import Quality

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
    """

    table: str
    trial: str
    item: str
    quantity: str
    first: str
    second: str
    difference: float = math.nan
    relative: float = math.nan
    share: float = math.inf
    unit: str = ""


def rank(change: Change) -> float:
    """Share of a change; of a peak that changed its sign, the change of its size.

    Two peaks about as large change places easily.
    """
    one, other = number(change.first), number(change.second)
    if (
        "peak_" in (change.quantity[:5], change.item[:5])
        and one is not None
        and other is not None
        and one * other < 0.0
    ):
        return change.share * abs(abs(other) - abs(one)) / abs(change.difference)
    return change.share


@dataclass
class _Pairs:
    """Values of one quantity in rows that belong together, and the largest of them."""

    pairs: list[tuple[str, str, str, str]] = field(default_factory=list)
    largest: float = 0.0


def table_changes(
    table: str, key: Sequence[str], first: Sequence[Row], second: Sequence[Row], tolerance: float
) -> tuple[list[Change], int]:
    """Changes of one table, row by row, and how many values were compared."""
    n_names = 1 if key[0] == "trial" else GROUP
    wanted = COMPARED_BY_CONDITION if table == "summary_by_condition" else ()
    skipped = {*key, *NOT_NUMBERS, *(FRAMES if table != "ledger" else ())}
    theirs = {tuple(row[name] for name in key): row for row in second}
    groups: dict[tuple[str, ...], _Pairs] = {}
    for row in first:
        place = tuple(row[name] for name in key)
        other = theirs.get(place)
        if other is None:
            continue
        trial, item = joined(place[:n_names]), joined(place[n_names:])
        for quantity in row:
            if quantity in skipped or quantity not in other or (wanted and quantity not in wanted):
                continue
            group = groups.setdefault((*(place[:-1] if len(key) > 1 else place), quantity), _Pairs())
            group.pairs.append((trial, item, row[quantity], other[quantity]))
            sizes = [abs(value) for text in (row[quantity], other[quantity]) if (value := number(text)) is not None]
            group.largest = max([group.largest, *sizes])
    changes = [
        change
        for (*_, quantity), group in groups.items()
        for trial, item, a, b in group.pairs
        if (change := _change(table, trial, item, quantity, a, b, group.largest)) and change.share > tolerance
    ]
    return changes, sum(len(group.pairs) for group in groups.values())


def _change(table: str, trial: str, item: str, quantity: str, a: str, b: str, largest: float) -> Change | None:
    one, other = number(a), number(b)
    if a == b or (one is not None and one == other):
        return None
    if one is None or other is None:
        return Change(table, trial, item, quantity, a, b)
    difference = other - one
    return Change(
        table,
        trial,
        item,
        quantity,
        a,
        b,
        difference,
        difference / abs(one) if one else math.nan,
        abs(difference) / largest,
    )


def window_changes(first: Sequence[Row], second: Sequence[Row], tolerance: float) -> tuple[list[Change], int]:
    """Trials whose 0 to 100 % or inclusion differs, and how many were compared."""
    theirs = {row["trial"]: row for row in second}
    changes = []
    pairs = [(row, theirs[row["trial"]]) for row in first if row["trial"] in theirs]
    for one, two in pairs:
        ends = [[number(row.get(name, "")) for name in ("start_s", "end_s")] for row in (one, two)]
        known = [(a, b) for a, b in zip(*ends, strict=True) if a is not None and b is not None]
        difference = max((b - a for a, b in known), key=abs, default=math.nan)
        lasting = max((end - start for start, end in ends if start is not None and end is not None), default=0.0)
        share = abs(difference) / lasting if lasting and len(known) == 2 else math.inf
        alike = all(one.get(name, "") == two.get(name, "") for name in ("window", "included", "note"))
        if alike and (ends[0] == ends[1] or share <= tolerance):
            continue
        if len(known) < 2:
            difference = math.nan
        changes.append(
            Change(
                "windows",
                one["trial"],
                "",
                "window",
                _window_said(one, ends[0]),
                _window_said(two, ends[1]),
                difference,
                math.nan,
                share,
            )
        )
    return changes, len(pairs)


def _window_said(row: Row, ends: Sequence[float | None]) -> str:
    start, end = ends
    span = f"{start:.4g} to {end:.4g} s" if start is not None and end is not None else "none"
    included = "in the means" if row.get("included", "") == "1" else "not in the means"
    return f"{row.get('window', '')}: {span}, {included}" + (f": {row['note']}" if row.get("note") else "")


def curve_changes(
    first: Mapping[tuple[str, ...], Curve], second: Mapping[tuple[str, ...], Curve], tolerance: float
) -> tuple[list[Change], int]:
    """Curves whose mean or number of trials differs, and how many were compared."""
    pairs = {key: (curve, second[key]) for key, curve in first.items() if key in second}
    largest: dict[tuple[str, ...], float] = {}
    for key, curves in pairs.items():
        group = (*key[:GROUP], curves[0].unit)
        sizes = (abs(mean) for curve in curves for mean in curve.mean.values() if not math.isnan(mean))
        largest[group] = max(largest.get(group, 0.0), max(sizes, default=0.0))
    changes = []
    for key, (one, two) in pairs.items():
        where, item = joined(key[:GROUP]), key[-1]
        if one.n_trials != two.n_trials:
            change = _change(
                CURVES, where, item, "n_trials", str(one.n_trials), str(two.n_trials), max(one.n_trials, two.n_trials)
            )
            changes += [change] if change else []
        percents = [percent for percent in one.mean if percent in two.mean]
        both = [p for p in percents if not (math.isnan(one.mean[p]) or math.isnan(two.mean[p]))]
        if both:
            at = max(both, key=lambda percent: abs(two.mean[percent] - one.mean[percent]))
            a, b = repr(one.mean[at]), repr(two.mean[at])
            change = _change(CURVES, where, item, f"mean at {at} %", a, b, largest[*key[:GROUP], one.unit])
            changes += [replace(change, unit=one.unit)] if change and change.share > tolerance else []
        known = [sum(not math.isnan(mean) for mean in curve.mean.values()) for curve in (one, two)]
        if known[0] != known[1] or len(both) != known[0]:
            a, b = f"{known[0]} of {len(one.mean)}", f"{known[1]} of {len(two.mean)}"
            changes.append(Change(CURVES, where, item, "points with a mean", a, b))
    return changes, 2 * len(pairs)


def is_rounding(change: Change, thresholds: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a metric of the ledger is zero but for rounding in both runs."""
    if change.table != "ledger" or change.quantity not in ROUNDING:
        return False
    values = [number(text) for text in (change.first, change.second)]
    default = getattr(Quality(), change.quantity)
    return all(
        value is not None and abs(value) <= FAR_BELOW * float(own.get(change.quantity, default))
        for value, own in zip(values, thresholds, strict=True)
    )
