"""Comparison of two runs as text and CSV table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from limbtorque.cli.check_summary import some_of
from limbtorque.cli.diff.compare import MINOR, STATES, Change, Comparison, Frames
from limbtorque.cli.diff.runs import CONTRASTS, CURVES, short_number
from limbtorque.study.table_file import table_text
from limbtorque.tables.column import counted
from limbtorque.tables.files import quoted

TITLES = {
    CONTRASTS: "contrasts",
    "summary": "joint torques",
    "muscle_summary": "muscles",
    "windows": "time normalisation of each trial",
    CURVES: "mean curves over 0 to 100 %",
    "summary_by_condition": "means by condition",
    "ledger": "metrics of the ledger",
}
ITEM = {CONTRASTS: "term", "summary": "window, joint and term", "muscle_summary": "window and muscle"}
GROUPED = (CURVES, "summary_by_condition")
NUMBERS = ("A", "B", "change", "of A", "share")
SUMMED = "different frames were summed: peaks, means, work and impulses of these trials compare different parts of the movement"
CAUSE, STATUS = ("kind", "name", "A", "B"), ("trial", "column", "A", "B")
NET_PEAKS = ("max_nm_kg", "min_nm_kg")  # of the net torques: the first that is read
WORDS = ("table", "quantity", "A", "B", "rows")
Part = tuple[str, tuple[str, ...], list[tuple[str, ...]], list[str], str]
NAMES_SHOWN = 6


def report_text(comparison: Comparison, *, top: int = 20) -> str:
    """Comparison as plain text.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    top : int, optional
        Number of changed values of each table that are shown.
    """
    parts = _parts(comparison)
    contrasts = _block_of(parts.pop(CONTRASTS), top)
    contrasts = contrasts if any(comparison.sizes[CONTRASTS]) else []
    lines = [f"A  {comparison.first}", f"B  {comparison.second}", "", *contrasts, *_block_of(parts.pop("net"), top)]
    if comparison.frames:
        lines += [SUMMED, *(f"  {frames.trial}: {frames_sentence(frames)}" for frames in comparison.frames[:top])]
        lines += [*_more(len(comparison.frames), top), ""]
    causes = [(cause.kind, cause.name, *_cut((cause.first, cause.second), 40)) for cause in comparison.causes]
    lines += _block("changed settings, inputs and code", CAUSE, causes, "nothing")
    for letter, names in (("A", comparison.only_first), ("B", comparison.only_second)):
        lines += [f"only in {letter}: {', '.join(names)}", ""] if names else []
    lines += _block("trial status", STATUS, _status(comparison), "the same")
    for part in parts.values():
        lines += _block_of(part, top)
    lines.append(_sentence(comparison))
    if comparison.changes:
        lines[-1] += "; share: change divided by the largest value of that quantity at the joint"
    return "\n".join(lines)


def _block_of(part: Part, top: int) -> list[str]:
    """Lines of the changes of a table."""
    title, columns, rows, more, verdict = part
    block = _block(title, columns, [_cut(row) for row in rows[:top]], verdict)
    return [*block[:-1], *(f"  {line}" for line in (*_more(len(rows), top), *more)), ""]


def frames_sentence(frames: Frames) -> str:
    """Difference of the frames summed of a trial.

    Examples
    --------
    >>> frames_sentence(Frames("summary", "t1", ("hip", "knee"), 131, 118))
    'A has 131 frames, B 118 (hip, knee)'
    """
    return f"A has {frames.first} frames, B {frames.second} ({some_of(frames.items)})"


def _status(comparison: Comparison) -> list[tuple[str, ...]]:
    """Rows of trials whose status differs."""
    return [(c.trial, c.quantity, c.first, c.second) for c in comparison.changes if _is_status(c)]


def _is_status(change: Change) -> bool:
    return change.table == "ledger" and change.quantity in STATES


def _parts(comparison: Comparison) -> dict[str, Part]:
    """Title, columns, rows, further lines and verdict of each table's changes."""
    changed = [change for change in comparison.changes if not _is_status(change)]
    peaks = sorted(filter(_is_net_peak, changed), key=lambda change: -abs(change.difference))
    net = list({(c.trial, c.quantity, c.first, c.second): c for c in reversed(peaks)}.values())[::-1]  # of windows once
    compared = "the same" if comparison.sizes["summary"][2] else "nothing to compare"
    parts: dict[str, Part] = {"net": ("net peaks", *_rows("summary", net), [], compared)}
    for name, title in TITLES.items():
        changes = [c for c in changed if c.table == name and not (_is_net_peak(c) or _is_words(c))]
        noun = "curve" if name == CURVES else "row"
        n_first, n_second, n_both = comparison.sizes[name]
        more: list[str] = []
        if n_first and n_second:
            for lone in (lone for lone in comparison.lone if lone.table == name):
                many = len(lone.items) > NAMES_SHOWN
                items = counted(len(lone.items), noun) if many else ", ".join(filter(None, lone.items))
                more.append(f"only in {lone.where}: {lone.trial}" + (f" ({items})" if items else ""))
            words = [c for c in changes if name in GROUPED and not c.quantity.startswith(("mean", "sd"))]
            counts = Counter(f"{c.trial}: {c.quantity} {c.first} in A, {c.second} in B" for c in words)
            more += [f"{sentence}, of {counted(n, noun)}" for sentence, n in counts.items()]
            verdict = "the same" if n_both else "nothing to compare"
            verdict += " where both can be compared" if n_both and name == CURVES and counts else ""
        elif n_first or n_second:
            verdict = f"only in {'A' if n_first else 'B'} ({counted(n_first or n_second, noun)})"
        else:
            verdict = "none"
        parts[name] = (title, *_rows(name, changes), more, verdict)
    counted_words = Counter(
        (TITLES[c.table], c.quantity, c.first or "-", c.second or "-") for c in changed if _is_words(c)
    )
    parts["words"] = ("words", WORDS, [(*row, str(n)) for row, n in counted_words.most_common()], [], "the same")
    return parts


def _is_net_peak(change: Change) -> bool:
    """Return True for a peak of a net torque that both runs have."""
    is_net = change.table == "summary" and change.item.endswith(" net")
    return is_net and change.quantity in NET_PEAKS and math.isfinite(change.difference)


def _is_words(change: Change) -> bool:
    """Return True for a change of text in a table that is not of curves or means."""
    numbers = pd.to_numeric(pd.Series([change.first, change.second]), errors="coerce").notna()
    return change.table not in GROUPED and not numbers.any()


def _sentence(comparison: Comparison) -> str:
    if comparison.same:
        return "all numbers are the same"
    rows = sum(len(lone.items) for lone in comparison.lone)
    lone = f" ; in one run only: {rows} rows or curves" if rows else ""
    return f"{len(comparison.changes)} of {comparison.n_compared} values differ{lone}"


def _more(n: int, top: int) -> list[str]:
    return [f"... and {n - top} more; --csv FILE has all"] if n > top else []


def _rows(name: str, changes: Sequence[Change]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Columns and rows of the changes of a table."""
    if name in GROUPED:
        return ("condition", "means", "largest change", "of", *NUMBERS), _by_condition(changes)
    shown = [_shown_change(change) for change in changes]
    if name in ITEM:
        return ("contrast" if name == CONTRASTS else "trial", ITEM[name], "quantity", *NUMBERS), shown
    return ("trial", "quantity", *NUMBERS), [(row[0], *row[2:]) for row in shown]


def _by_condition(changes: Iterable[Change]) -> list[tuple[str, ...]]:
    """Rows by condition and unit: number of means that differ, and the largest change."""
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        if change.quantity.startswith(("mean", "sd")):
            groups.setdefault((change.trial, change.unit), []).append(change)
    rows: list[tuple[float, tuple[str, ...]]] = []
    for (where, unit), members in groups.items():
        means = [change for change in members if change.quantity.startswith("mean")]
        largest = max(means or members, key=lambda change: (not change.item.startswith(MINOR), change.rank))
        _, item, quantity, *numbers = _shown_change(largest)
        differ = f"{len(means)} differ{'s' * (len(means) == 1)}{f' ({unit})' if unit else ''}"
        rows.append((largest.rank, (where, differ, item, quantity.removeprefix("mean at "), *numbers)))
    return [row for _, row in sorted(rows, key=lambda pair: -pair[0])]


def _cut(row: Iterable[str], longest: int = 60) -> tuple[str, ...]:
    return tuple(text if len(text) <= longest else text[: longest - 3] + "..." for text in row)


def _shown_change(change: Change) -> tuple[str, ...]:
    known = math.isfinite(change.difference)
    return (
        change.trial,
        change.item,
        change.quantity,
        short_number(change.first),
        short_number(change.second),
        f"{change.difference:+.3g}" if known else "-",
        f"{100.0 * change.relative:+.3g} %" if math.isfinite(change.relative) else "-",
        f"{100.0 * change.share:.3g} %" if known else "-",
    )


def _block(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], nothing: str) -> list[str]:
    if not rows:
        return [f"{title}: {nothing}", ""]
    widths = [max(len(line[k]) for line in (columns, *rows)) for k in range(len(columns))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in (columns, *rows)
    ]
    return [title, *(f"  {line}" for line in lines), ""]


def change_rows(comparison: Comparison) -> list[tuple[object, ...]]:
    """Trials, rows, frames and values that differ.

    Table, trial, item, quantity, value in either run, difference, relative difference and share; empty where there is none.
    """
    rows: list[tuple[object, ...]] = []
    for letter, names in (("a", comparison.only_first), ("b", comparison.only_second)):
        rows += [("trials", name, "", f"only in {letter}", "", "", "", "", "") for name in names]
    for frames in comparison.frames:
        about = (frames.table, frames.trial, " ".join(frames.items), "frames summed", frames.first, frames.second)
        rows.append((*about, frames.second - frames.first, "", ""))
    for lone in comparison.lone:
        where = f"only in {lone.where.lower()}"
        rows += [(lone.table, lone.trial, item, where, "", "", "", "", "") for item in lone.items]
    for change in comparison.changes:
        numbers = (repr(n) if math.isfinite(n) else "" for n in (change.difference, change.relative, change.share))
        rows.append((change.table, change.trial, change.item, change.quantity, change.first, change.second, *numbers))
    return rows


def report_csv(comparison: Comparison) -> str:
    """Every change as a row of a CSV table, changed settings and inputs first.

    No cell is a formula.
    """
    causes = [(c.kind, "", "", c.name, c.first, c.second, "", "", "") for c in comparison.causes]
    rows = [*causes, *change_rows(comparison)]
    names = ("table", "trial", "item", "quantity", "a", "b", "difference", "relative", "share")
    return table_text([names, *([quoted(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)])
