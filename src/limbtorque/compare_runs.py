"""Two runs of a study side by side: what was changed, and what that did to the numbers."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from limbtorque.errors import LimbtorqueError
from limbtorque.settings import flattened

KEYS = {"ledger": ("trial",), "summary": ("trial", "joint", "term"), "muscle_summary": ("trial", "muscle")}
STATES = ("status", "torque_status", "muscle_status", "reason", "plane")  # text that is compared word by word
MINOR = ("peak_time_s", "peak_sense", "positive_is", "criterion", "n_frames", "used_share")  # come after the others
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
    windows : sequence of dict
        Rows of ``windows.csv`` as text; none where no curves were made.
    """

    name: str
    provenance: Mapping[str, Any]
    tables: Mapping[str, Sequence[Row]]
    windows: Sequence[Row] = ()


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
        Where: the table, the trial, its joint and term or its muscle, and the column.
    first, second : str
        As printed in either run.
    difference : float
        Second less first; NaN where either is no number.
    relative : float
        The difference over the first; NaN where that is zero.
    share : float
        Size of the difference over the largest value of this figure among the terms of that joint, or the muscles of that
        trial, in either run; of a ledger's figure over the larger of its two values. Infinite where one is no number.
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
        What differs, by their share, the largest first; times of peaks, words and counts of frames come last.
    n_compared : int
        How many numbers and words were compared.
    """

    first: str
    second: str
    causes: tuple[Cause, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changes: tuple[Change, ...]
    n_compared: int

    @property
    def same(self) -> bool:
        """Whether all numbers are the same, and the trials too."""
        return not (self.changes or self.only_first or self.only_second)


def read_run(folder: Path) -> Run:
    """Read what a run left behind.

    Parameters
    ----------
    folder : Path
        A folder ``results``, or the study it is in.

    Raises
    ------
    LimbtorqueError
        The folder has no results, or they are not readable.
    """
    place = folder if (folder / "provenance.json").is_file() else folder / "results"
    try:
        provenance = json.loads((place / "provenance.json").read_text(encoding="utf-8"))
        tables = {name: _rows(place / f"{name}.csv") for name in KEYS}
        curves = provenance["settings"].get("ensembles", {}).get("enabled", False)
        windows = _rows(place / "windows.csv") if curves and (place / "windows.csv").is_file() else []
    except FileNotFoundError as error:
        raise LimbtorqueError(
            f"{folder}: {Path(error.filename).name} is not there; give a folder 'results' of a finished run, or its study"
        ) from None
    except (ValueError, csv.Error) as error:
        raise LimbtorqueError(f"{folder}: the results are not readable ({error}); run the study again") from None
    return Run(str(folder), provenance, tables, windows)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
    trials = [[row["trial"] for row in run.tables["ledger"]] for run in (first, second)]
    changes: list[Change] = []
    n_compared = 0
    for table, key in KEYS.items():
        found, n = _table_changes(table, key, first.tables[table], second.tables[table], tolerance)
        changes += found
        n_compared += n
    return Comparison(
        first.name,
        second.name,
        tuple(causes(first.provenance, second.provenance)),
        tuple(name for name in trials[0] if name not in trials[1]),
        tuple(name for name in trials[1] if name not in trials[0]),
        tuple(sorted(changes, key=lambda change: (change.figure in MINOR, -_rank(change)))),
        n_compared,
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


@dataclass
class _Pairs:
    """Values of one figure of the rows that belong together, and the largest of them."""

    pairs: list[tuple[str, str, str, str]] = field(default_factory=list)
    largest: float = 0.0


def _table_changes(
    table: str, key: Sequence[str], first: Sequence[Row], second: Sequence[Row], tolerance: float
) -> tuple[list[Change], int]:
    """Changes of one table, row by row, and how many values were compared."""
    theirs = {tuple(row[name] for name in key): row for row in second}
    groups: dict[tuple[str, ...], _Pairs] = {}
    for row in first:
        place = tuple(row[name] for name in key)
        other = theirs.get(place)
        if other is None:
            continue
        item = " ".join(place[1:])
        for figure in row:
            if figure in key or figure in NOT_NUMBERS or figure not in other:
                continue
            group = groups.setdefault((*(place[:-1] if len(key) > 1 else place), figure), _Pairs())
            group.pairs.append((place[0], item, row[figure], other[figure]))
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


def _rank(change: Change) -> float:
    """Share of a change; of a peak that changed its sign the change of its size, for two peaks about as large change places easily."""
    one, other = _number(change.first), _number(change.second)
    if change.figure.startswith("peak_") and one is not None and other is not None and one * other < 0.0:
        return change.share * abs(abs(other) - abs(one)) / abs(change.difference)
    return change.share


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def report_text(found: Comparison, *, top: int = 20) -> str:
    """The comparison as a table to read.

    Parameters
    ----------
    found : Comparison
        The comparison.
    top : int, optional
        How many changed numbers of each table are shown.
    """
    lines = [f"A  {found.first}", f"B  {found.second}", ""]
    lines += _block(
        "what was changed", ("kind", "name", "A", "B"), [_short_cause(cause) for cause in found.causes], "nothing"
    )
    for letter, names in (("A", found.only_first), ("B", found.only_second)):
        lines += [f"only in {letter}: {', '.join(names)}", ""] if names else []
    words = [change for change in found.changes if change.table == "ledger" and change.figure in STATES]
    lines += _block(
        "status of trials",
        ("trial", "what", "A", "B"),
        [(c.trial, c.figure, c.first, c.second) for c in words],
        "the same",
    )
    for table, title in (
        ("summary", "joint torques"),
        ("muscle_summary", "muscles"),
        ("ledger", "figures of the ledger"),
    ):
        rows = [change for change in found.changes if change.table == table and change not in words]
        shown = [_shown_change(change) for change in rows[:top]]
        head = (
            "trial",
            *(("joint and term",) if table == "summary" else ("muscle",) if table == "muscle_summary" else ()),
        )
        columns = (*head, "figure", "A", "B", "change", "of A", "share")
        lines += _block(title, columns, [row if table != "ledger" else (row[0], *row[2:]) for row in shown], "the same")
        if len(rows) > top:
            lines[-1:] = [f"... and {len(rows) - top} more; --csv FILE has all", ""]
    lines.append(
        "all numbers are the same"
        if found.same
        else f"{len(found.changes)} of {found.n_compared} values differ; share: change over the largest of that figure at the joint"
    )
    return "\n".join(lines)


def _short_cause(cause: Cause) -> tuple[str, ...]:
    return (
        cause.kind,
        cause.name,
        *(text if len(text) <= 40 else text[:37] + "..." for text in (cause.first, cause.second)),
    )


def _shown_change(change: Change) -> tuple[str, ...]:
    numbers = [
        f"{number:.4g}" if (number := _number(text)) is not None else text or "-"
        for text in (change.first, change.second)
    ]
    known = math.isfinite(change.difference)
    return (
        change.trial,
        change.item,
        change.figure,
        *numbers,
        f"{change.difference:+.3g}" if known else "-",
        f"{100.0 * change.relative:+.3g} %" if math.isfinite(change.relative) else "-",
        f"{100.0 * change.share:.3g} %" if known else "-",
    )


def _block(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], nothing: str) -> list[str]:
    if not rows:
        return [f"{title}: {nothing}", ""]
    widths = [max(len(line[k]) for line in (columns, *rows)) for k in range(len(columns))]
    table = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in (columns, *rows)
    ]
    return [title, *(f"  {line}" for line in table), ""]


def report_csv(found: Comparison) -> str:
    """Every change as a row of a CSV table, those of settings, inputs, code, versions and trials first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("table", "trial", "item", "figure", "a", "b", "difference", "relative", "share"))
    writer.writerows((cause.kind, "", "", cause.name, cause.first, cause.second, "", "", "") for cause in found.causes)
    for letter, names in (("a", found.only_first), ("b", found.only_second)):
        writer.writerows(("trials", name, "", f"only in {letter}", "", "", "", "", "") for name in names)
    for change in found.changes:
        numbers = (repr(n) if math.isfinite(n) else "" for n in (change.difference, change.relative, change.share))
        writer.writerow((change.table, change.trial, change.item, change.figure, change.first, change.second, *numbers))
    return text.getvalue()


def report_html(found: Comparison) -> str:
    """The comparison as one HTML page that needs nothing else; all text is escaped."""
    from html import escape

    def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        head = "".join(f"<th>{escape(text)}</th>" for text in columns)
        body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>\n" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>" if body else "<p>none</p>"

    only = [(name, "A only") for name in found.only_first] + [(name, "B only") for name in found.only_second]
    numbers = ((change.table, *_shown_change(change)) for change in found.changes)
    verdict = (
        "All numbers are the same." if found.same else f"{len(found.changes)} of {found.n_compared} values differ."
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Two runs compared</title><style>
body {{ font: 14px/1.4 sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em }}
table {{ border-collapse: collapse; margin-bottom: 1.5em }}
th, td {{ text-align: left; padding: .15em .7em; border-bottom: 1px solid #ccc; font-variant-numeric: tabular-nums }}
</style></head><body>
<h1>Two runs compared</h1>
<p>A: {escape(found.first)}<br>B: {escape(found.second)}</p>
<p><strong>{verdict}</strong></p>
<h2>What was changed</h2>
{table(("kind", "name", "A", "B"), ((c.kind, c.name, c.first, c.second) for c in found.causes))}
<h2>Trials in one run only</h2>
{table(("trial", "where"), only)}
<h2>What that did</h2>
<p>Share: change over the largest value of that figure among the terms of the joint, or the muscles of the trial. The largest come first.</p>
{table(("table", "trial", "item", "figure", "A", "B", "change", "of A", "share"), numbers)}
</body></html>
"""
