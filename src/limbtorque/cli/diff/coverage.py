"""Rows, curves and frames that are in one of two runs only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from limbtorque.cli.diff.runs import CURVES, GROUP, Curve, Row, Run, joined, number, short_number
from limbtorque.tables.summary_columns import STANCE

USED_FRAMES = ("n_frames", "used_share")  # of the summaries
# Ledger: shares of the frames that may have no torque, which explain a difference.
LEAVES_OUT = (
    *("edge_share", "unmeasured_share", "plate_saturated_share", "other_foot_unknown_share", "foreshortened_share"),
    "optimization_failed_share",
)


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
class Size:
    """Number of rows of a table in either run, and in both.

    Attributes
    ----------
    first, second, both : int
        Rows, or curves.
    """

    first: int
    second: int
    both: int


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


def lone_rows(
    table: str, key: Sequence[str], first: Sequence[Row], second: Sequence[Row], both: Iterable[str]
) -> list[Lone]:
    """Rows that are in one run only; trials in one run only are not included."""
    if table == "ledger":
        return []
    named = [places(rows, key) for rows in (first, second)]
    return _gathered(table, 1 if key[0] == "trial" else GROUP, named, set(both) if key[0] == "trial" else None)


def places(rows: Sequence[Row], key: Sequence[str]) -> dict[tuple[str, ...], None]:
    """Names of the rows of a table, in their order."""
    return dict.fromkeys(tuple(row[name] for name in key) for row in rows)


def size(first: Mapping[tuple[str, ...], Any], second: Mapping[tuple[str, ...], Any]) -> Size:
    """Number of rows in either run and in both."""
    return Size(len(first), len(second), sum(place in second for place in first))


def lone_curves(first: Mapping[tuple[str, ...], Curve], second: Mapping[tuple[str, ...], Curve]) -> list[Lone]:
    """Mean curves that are in one run only."""
    return _gathered(CURVES, GROUP, [dict.fromkeys(first), dict.fromkeys(second)], None)


def _gathered(
    table: str, n_names: int, places: Sequence[Mapping[tuple[str, ...], None]], trials: set[str] | None
) -> list[Lone]:
    found: dict[tuple[str, str], list[str]] = {}
    for where, mine, theirs in (("A", places[0], places[1]), ("B", places[1], places[0])):
        for place in mine:
            if place not in theirs and (trials is None or place[0] in trials):
                found.setdefault((where, joined(place[:n_names])), []).append(joined(place[n_names:]))
    return [Lone(table, trial, where, tuple(items)) for (where, trial), items in found.items()]


def other_frames(first: Run, second: Run) -> list[Frames]:
    """Trials of which different frames were summed, for torques and muscle forces."""
    ledgers = [{row["trial"]: row for row in run.tables["ledger"]} for run in (first, second)]
    found: list[Frames] = []
    for table, what in (("summary", "joint"), ("muscle_summary", "muscle")):
        used: list[dict[tuple[str, str], tuple[int, int]]] = []
        for run in (first, second):
            rows = run.tables.get(table, ())
            whole = (row for row in rows if row["window"] != STANCE)
            used.append({(row["trial"], row[what]): count for row in whole if (count := _summed(row))})
        other: dict[str, list[tuple[str, tuple[int, int], tuple[int, int]]]] = {}
        for (trial, item), count in used[0].items():
            theirs = used[1].get((trial, item), count)
            if theirs != count:
                other.setdefault(trial, []).append((item, count, theirs))
        for trial, items in other.items():
            _, one, two = max(items, key=lambda item: abs(item[2][0] - item[1][0]))
            reasons = tuple(
                f"{name} {a} in A, {b} in B"
                for name in LEAVES_OUT
                if (a := short_number(ledgers[0].get(trial, {}).get(name, "")))
                != (b := short_number(ledgers[1].get(trial, {}).get(name, "")))
            )
            names = tuple(item for item, *_ in items)
            if any((f.trial, f.first, f.second) == (trial, one[0], two[0]) for f in found):
                continue  # as of the torques, from which the muscle forces are
            found.append(Frames(table, trial, names, one[0], two[0], one[1], two[1], reasons))
    return found


def _summed(row: Row) -> tuple[int, int] | None:
    """Frames summed and frames of the window of a summary's row; None where not known."""
    n, share = (number(row.get(name, "")) for name in USED_FRAMES)
    return None if n is None else (round(n), round(n / share) if share else 0)
