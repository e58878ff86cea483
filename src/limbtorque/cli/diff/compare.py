"""Two runs of a study side by side: what was changed, and what that did to the numbers."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from limbtorque.errors import LimbtorqueError
from limbtorque.study.options.quality import Quality
from limbtorque.study.settings import flattened
from limbtorque.tables.csv_rows import read_rows

KEYS = {  # what names a row; changes are seen beside the other rows that differ from it in the last of these only
    "ledger": ("trial",),
    "summary": ("trial", "joint", "term"),
    "muscle_summary": ("trial", "muscle"),
    "windows": ("trial",),
    "summary_by_condition": ("chain", "condition", "side", "statistic", "joint", "term"),
}
CURVES = "ensembles"
OF_CURVES = ("windows", CURVES)  # not there where the curves were not asked for
CURVE_KEY = ("chain", "condition", "side", "quantity")
GROUP = 3  # how many names of a condition's key say which trials are meant
COMPARED_BY_CONDITION = ("mean", "sd", "n_trials", "n_subjects")
STATES = ("status", "torque_status", "muscle_status", "reason", "plane")  # text that is compared word by word
MINOR = ("peak_time_s", "max_time_s", "min_time_s", "peak_sense", "positive_is", "peak_at_gap", "criterion")  # last
FRAMES = ("n_frames", "used_share", "loaded_share")  # of the summaries: told apart, as frames that were summed
# Ledger: figures that are zero but for rounding, and how far below their threshold they are nothing else.
ROUNDING = ("closure_nm", "power_closure_w")
FAR_BELOW = 1e-2
# Ledger: shares of the frames that may have no torque, in which the reason is looked for.
LEAVES_OUT = (
    *("edge_share", "unmeasured_share", "plate_saturated_share", "other_foot_unknown_share", "foreshortened_share"),
    "optimization_failed_share",
)
NOT_NUMBERS = (
    "message",
    "notes",
    "input_sha256",
    "forces_sha256",
    "file",
    "forces_file",
    "session",
    "subject",
    "condition",
)
Row = Mapping[str, str]


@dataclass(frozen=True)
class Curve:
    """Mean of a quantity over 0 to 100 %.

    Attributes
    ----------
    unit : str
        Its unit.
    mean : dict of str to float
        Mean by percent as printed; NaN where there is none.
    n_trials : int
        Most trials at any percent.
    """

    unit: str
    mean: Mapping[str, float]
    n_trials: int


@dataclass(frozen=True)
class Run:
    """What one run left behind.

    Attributes
    ----------
    name : str
        What to call it.
    provenance : dict
        Its ``provenance.json``.
    tables : dict of str to list of dict
        Rows of the tables of `KEYS` as text, by name.
    curves : dict of tuple to Curve
        Mean curves of ``ensembles.csv`` by chain, condition, side and quantity.
    """

    name: str
    provenance: Mapping[str, Any]
    tables: Mapping[str, Sequence[Row]]
    curves: Mapping[tuple[str, ...], Curve] = field(default_factory=dict)


@dataclass(frozen=True)
class Cause:
    """Something that differs before anything is computed.

    Attributes
    ----------
    kind : str
        ``setting``, ``input``, ``code``, ``version`` or ``trial``.
    name : str
        Which one.
    first, second : str
        What it was in either run; empty where it was not.
    """

    kind: str
    name: str
    first: str
    second: str


@dataclass(frozen=True)
class Change:
    """A number, or a word, that differs.

    Attributes
    ----------
    table, trial, item, figure : str
        Where: the table, the trial (or chain, condition and side), its joint and term, muscle or curve, and the column.
    first, second : str
        As printed in either run.
    difference : float
        Second less first; NaN where either is no number.
    relative : float
        The difference over the first; NaN where that is zero.
    share : float
        Size of the difference over the largest value of this figure among the terms of that joint, or the muscles of that
        trial, in either run; of a ledger's figure over the larger of its two values; of a curve over the largest value of
        the condition's curves of that unit. Infinite where one is no number.
    unit : str
        Unit of a curve; empty for other figures.
    """

    table: str
    trial: str
    item: str
    figure: str
    first: str
    second: str
    difference: float = math.nan
    relative: float = math.nan
    share: float = math.inf
    unit: str = ""


@dataclass(frozen=True)
class Lone:
    """Rows of one trial, or of one condition, that are in one run only.

    Attributes
    ----------
    table, trial : str
        The table, and the trial, or chain, condition and side.
    where : {"A", "B"}
        Which run has them.
    items : tuple of str
        Joints and terms, muscles, statistics or curves.
    """

    table: str
    trial: str
    where: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Size:
    """How many rows a table has in either run, and how many of them are in both.

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
    """Frames of a trial that were summed into other numbers of the two runs: peaks, means, work and impulses.

    Attributes
    ----------
    table : {"summary", "muscle_summary"}
        Whether for torques or for muscle forces.
    trial : str
        The trial.
    items : tuple of str
        Joints, or muscles.
    first, second : int
        Frames that were summed, of the joint or muscle with the largest difference.
    first_of, second_of : int
        Frames that were analysed; 0 where that is not known.
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
        What was changed.
    only_first, only_second : tuple of str
        Trials that are in one run only.
    changes : tuple of Change
        What differs, by their share, the largest first; times of peaks and words come last.
    n_compared : int
        How many numbers and words were compared.
    frames : tuple of Frames
        Trials of which other frames were summed.
    lone : tuple of Lone
        Rows that are in one run only, of trials that are in both.
    sizes : dict of str to Size
        How many rows, or curves, each table has.
    """

    first: str
    second: str
    causes: tuple[Cause, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changes: tuple[Change, ...]
    n_compared: int
    frames: tuple[Frames, ...] = ()
    lone: tuple[Lone, ...] = ()
    sizes: Mapping[str, Size] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Whether all numbers are the same, and the trials, rows and frames too."""
        return not (self.changes or self.only_first or self.only_second or self.frames or self.lone)


def read_run(folder: Path, *, tables: Sequence[str] = (*KEYS, CURVES)) -> Run:
    """Read what a run left behind.

    Parameters
    ----------
    folder : Path
        A folder ``results``, or the study it is in.
    tables : sequence of str, optional
        Which tables are needed.

    Raises
    ------
    LimbtorqueError
        The folder has no results, or they are not readable.
    """
    place = folder if (folder / "provenance.json").is_file() else folder / "results"
    try:
        provenance = json.loads((place / "provenance.json").read_text(encoding="utf-8"))
        found: dict[str, Sequence[Row]] = {}
        curves: dict[tuple[str, ...], Curve] = {}
        no_curves = not provenance["settings"].get("ensembles", {}).get("enabled", True)
        for name in tables:
            if no_curves and name in OF_CURVES:
                found[name] = []
                continue
            path = place / f"{name}.csv"
            if name != CURVES:
                found[name] = read_rows(path)
                continue
            with path.open(encoding="utf-8", newline="") as file:
                curves = _curves(csv.DictReader(file))
    except FileNotFoundError as error:
        raise LimbtorqueError(
            f"{folder}: {Path(error.filename).name} is not there; give a folder 'results' of a finished run, or its study"
        ) from None
    except (ValueError, KeyError, csv.Error) as error:
        raise LimbtorqueError(f"{folder}: the results are not readable ({error}); run the study again") from None
    return Run(str(folder), provenance, found, curves)


def _curves(rows: Iterable[Row]) -> dict[tuple[str, ...], Curve]:
    """Curves of the rows of ``ensembles.csv``, which are not kept."""
    means: dict[tuple[str, ...], dict[str, float]] = {}
    about: dict[tuple[str, ...], tuple[str, int]] = {}
    for row in rows:
        key = tuple(row[name] for name in CURVE_KEY)
        mean = _number(row["mean"])
        means.setdefault(key, {})[row["percent"]] = math.nan if mean is None else mean
        about[key] = (row["unit"], max(int(row["n_trials"]), about.get(key, ("", 0))[1]))
    return {key: Curve(about[key][0], mean, about[key][1]) for key, mean in means.items()}


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
        What was changed, and what that did.
    """
    runs = (first, second)
    trials = [[row["trial"] for row in run.tables["ledger"]] for run in runs]
    both = set(trials[0]) & set(trials[1])
    changes: list[Change] = []
    lone: list[Lone] = []
    n_compared = 0
    for table, key in KEYS.items():
        rows = first.tables.get(table, ()), second.tables.get(table, ())
        lone += _lone(table, key, *rows, both)
        if table == "windows":
            found, n = _window_changes(*rows, tolerance)
        else:
            found, n = _table_changes(table, key, *rows, tolerance)
        changes += found
        n_compared += n
    found, n = _curve_changes(first.curves, second.curves, tolerance)
    lone += _lone_curves(first.curves, second.curves)
    thresholds = [run.provenance.get("settings", {}).get("quality", {}) for run in runs]
    changes = [change for change in [*changes, *found] if not _is_rounding(change, thresholds)]
    return Comparison(
        first.name,
        second.name,
        tuple(causes(first.provenance, second.provenance)),
        tuple(name for name in trials[0] if name not in both),
        tuple(name for name in trials[1] if name not in both),
        tuple(sorted(changes, key=lambda change: (change.figure in MINOR, -rank(change)))),
        n_compared + n,
        tuple(_other_frames(first, second)),
        tuple(lone),
        {
            **{table: _size(*(_places(run.tables.get(table, ()), key) for run in runs)) for table, key in KEYS.items()},
            CURVES: _size(first.curves, second.curves),
        },
    )


def causes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Cause]:
    """What differs between two provenances: settings, versions, code, recordings and rows of trials."""
    found = _different("setting", flattened(first.get("settings", {})), flattened(second.get("settings", {})))
    versions = [
        {"limbtorque": p.get("program", {}).get("version"), "python": p.get("python"), **p.get("libraries", {})}
        for p in (first, second)
    ]
    found += _different("version", *versions)
    found += _different("code", first.get("code", {}), second.get("code", {}))
    found += _different("table", flattened(first.get("segment_table", {})), flattened(second.get("segment_table", {})))
    theirs = second.get("trials", {})
    for name, trial in first.get("trials", {}).items():
        if name in theirs:
            inputs = [
                {f"{name} {key}": t.get(key) for key in ("sha256", "forces_sha256")} for t in (trial, theirs[name])
            ]
            found += _different("input", *inputs)
            rows = [
                {f"{name} {key}": value for key, value in flattened(t.get("row", {})).items()}
                for t in (trial, theirs[name])
            ]
            found += _different("trial", *rows)
    return found


def _different(kind: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Cause]:
    names = [*first, *(name for name in second if name not in first)]
    return [
        Cause(kind, name, _shown(first.get(name)), _shown(second.get(name)))
        for name in names
        if first.get(name) != second.get(name)
    ]


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _lone(
    table: str, key: Sequence[str], first: Sequence[Row], second: Sequence[Row], both: Iterable[str]
) -> list[Lone]:
    """Rows that are in one run only; those of trials that are in one run only are told by their names already."""
    if table == "ledger":
        return []
    places = [_places(rows, key) for rows in (first, second)]
    return _gathered(table, 1 if key[0] == "trial" else GROUP, places, set(both) if key[0] == "trial" else None)


def _places(rows: Sequence[Row], key: Sequence[str]) -> dict[tuple[str, ...], None]:
    return dict.fromkeys(tuple(row[name] for name in key) for row in rows)


def _size(first: Mapping[tuple[str, ...], Any], second: Mapping[tuple[str, ...], Any]) -> Size:
    return Size(len(first), len(second), sum(place in second for place in first))


def _lone_curves(first: Mapping[tuple[str, ...], Curve], second: Mapping[tuple[str, ...], Curve]) -> list[Lone]:
    return _gathered(CURVES, GROUP, [dict.fromkeys(first), dict.fromkeys(second)], None)


def _gathered(
    table: str, n_names: int, places: Sequence[Mapping[tuple[str, ...], None]], trials: set[str] | None
) -> list[Lone]:
    found: dict[tuple[str, str], list[str]] = {}
    for where, mine, theirs in (("A", places[0], places[1]), ("B", places[1], places[0])):
        for place in mine:
            if place not in theirs and (trials is None or place[0] in trials):
                found.setdefault((where, _said(place[:n_names])), []).append(_said(place[n_names:]))
    return [Lone(table, trial, where, tuple(items)) for (where, trial), items in found.items()]


def _said(names: Iterable[str]) -> str:
    return " ".join(name for name in names if name)


def _other_frames(first: Run, second: Run) -> list[Frames]:
    """Trials of which other frames were summed, for the torques and for the muscle forces."""
    ledgers = [{row["trial"]: row for row in run.tables["ledger"]} for run in (first, second)]
    found: list[Frames] = []
    for table, what in (("summary", "joint"), ("muscle_summary", "muscle")):
        used: list[dict[tuple[str, str], tuple[int, int]]] = []
        for run in (first, second):
            rows = run.tables.get(table, ())
            used.append({(row["trial"], row[what]): count for row in rows if (count := _summed(row))})
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
    """How many frames a row of a summary is of, and of how many; None where it does not say."""
    n, share = (_number(row.get(name, "")) for name in FRAMES[:2])
    return None if n is None else (round(n), round(n / share) if share else 0)


def short_number(text: str) -> str:
    """A number with few digits; other text as it is, - for none."""
    return f"{number:.4g}" if (number := _number(text)) is not None else text or "-"


def _window_changes(first: Sequence[Row], second: Sequence[Row], tolerance: float) -> tuple[list[Change], int]:
    """Trials whose 0 to 100 % differs, or which are in the means in one run only; and how many were compared."""
    theirs = {row["trial"]: row for row in second}
    changes = []
    pairs = [(row, theirs[row["trial"]]) for row in first if row["trial"] in theirs]
    for one, two in pairs:
        ends = [[_number(row.get(name, "")) for name in ("start_s", "end_s")] for row in (one, two)]
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


def _curve_changes(
    first: Mapping[tuple[str, ...], Curve], second: Mapping[tuple[str, ...], Curve], tolerance: float
) -> tuple[list[Change], int]:
    """Curves whose mean differs, each with its largest difference, and those of another number of trials."""
    pairs = {key: (curve, second[key]) for key, curve in first.items() if key in second}
    largest: dict[tuple[str, ...], float] = {}
    for key, curves in pairs.items():
        group = (*key[:GROUP], curves[0].unit)
        sizes = (abs(mean) for curve in curves for mean in curve.mean.values() if not math.isnan(mean))
        largest[group] = max(largest.get(group, 0.0), max(sizes, default=0.0))
    changes = []
    for key, (one, two) in pairs.items():
        where, item = _said(key[:GROUP]), key[-1]
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


def _is_rounding(change: Change, thresholds: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a figure of the ledger is zero but for rounding in both runs."""
    if change.table != "ledger" or change.figure not in ROUNDING:
        return False
    values = [_number(text) for text in (change.first, change.second)]
    default = getattr(Quality(), change.figure)
    return all(
        value is not None and abs(value) <= FAR_BELOW * float(own.get(change.figure, default))
        for value, own in zip(values, thresholds, strict=True)
    )


@dataclass
class _Pairs:
    """Values of one figure of the rows that belong together, and the largest of them."""

    pairs: list[tuple[str, str, str, str]] = field(default_factory=list)
    largest: float = 0.0


def _table_changes(
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
        trial, item = _said(place[:n_names]), _said(place[n_names:])
        for figure in row:
            if figure in skipped or figure not in other or (wanted and figure not in wanted):
                continue
            group = groups.setdefault((*(place[:-1] if len(key) > 1 else place), figure), _Pairs())
            group.pairs.append((trial, item, row[figure], other[figure]))
            sizes = [abs(number) for text in (row[figure], other[figure]) if (number := _number(text)) is not None]
            group.largest = max([group.largest, *sizes])
    changes = [
        change
        for (*_, figure), group in groups.items()
        for trial, item, a, b in group.pairs
        if (change := _change(table, trial, item, figure, a, b, group.largest)) and change.share > tolerance
    ]
    return changes, sum(len(group.pairs) for group in groups.values())


def _change(table: str, trial: str, item: str, figure: str, a: str, b: str, largest: float) -> Change | None:
    one, other = _number(a), _number(b)
    if a == b or (one is not None and one == other):
        return None
    if one is None or other is None:
        return Change(table, trial, item, figure, a, b)
    difference = other - one
    return Change(
        table,
        trial,
        item,
        figure,
        a,
        b,
        difference,
        difference / abs(one) if one else math.nan,
        abs(difference) / largest,
    )


def rank(change: Change) -> float:
    """Share of a change; of a peak that changed its sign the change of its size, for two peaks about as large change places easily."""
    one, other = _number(change.first), _number(change.second)
    if "peak_" in (change.figure[:5], change.item[:5]) and one is not None and other is not None and one * other < 0.0:
        return change.share * abs(abs(other) - abs(one)) / abs(change.difference)
    return change.share


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
