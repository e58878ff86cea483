"""Findings of the first page: declared contrasts, in sentences and as a table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from limbtorque.report.page import number, value_of
from limbtorque.study.options.contrasts import LEVEL
from limbtorque.tables.column import counted

Row = Mapping[str, str]
HEADS = {  # column -> head
    **{"contrast": "contrast", "outcome": "outcome", "joint": "joint or muscle", "unit": "unit"},
    **{"mean_first": "mean, first", "mean_second": "mean, second", "estimate": "difference", "low": "95 % limits"},
    **{"p_adjusted": "adjusted p", "hedges_g": "Hedges' g", "n_subjects": "subjects", "declared": "declared"},
    "note": "note",
}
TERM_COLUMNS = ("contrast", "outcome", "joint", "term", "unit", "estimate", "low", "p_adjusted")
NUMBERS = ("mean_first", "mean_second", "estimate", "p_adjusted", "hedges_g")
P = ".2g"  # digits of p
OF_OUTCOME = ("net", "")  # terms of the rows of an outcome itself, not of the parts that add up to it


def findings(rows: Sequence[Row]) -> dict[str, Any]:
    """Content of the section on findings.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of `results/contrasts.csv`, as text.

    Returns
    -------
    dict of str to list
        ``sentences``, one for each contrast; ``rows`` and ``terms``, cells of the tables; ``heads`` and ``term_heads``.
    """
    whole = [row for row in rows if row["term"] in OF_OUTCOME]
    names = list(dict.fromkeys(row["contrast"] for row in whole))
    return {
        "sentences": [_sentence(name, [row for row in whole if row["contrast"] == name]) for name in names],
        "heads": tuple(HEADS.values()),
        "rows": [tuple(_cell(row, name) for name in HEADS) for row in whole],
        "term_heads": tuple(HEADS.get(name, name) for name in TERM_COLUMNS),
        "terms": [tuple(_cell(row, name) for name in TERM_COLUMNS) for row in rows if row["term"] not in OF_OUTCOME],
    }


def _sentence(name: str, rows: Sequence[Row]) -> str:
    """Outcomes of a contrast that differ, that do not, and that are not tested."""
    parts = list(_parts(rows))
    levels = f"{rows[0]['first']} minus {rows[0]['second']}"
    return f"{name if name == levels else f'{name} ({levels})'}: {'; '.join(parts)}."


def _parts(rows: Sequence[Row]) -> Iterator[str]:
    p = [value_of(row["p_adjusted"]) for row in rows]
    for row, value in zip(rows, p, strict=True):
        if value <= LEVEL:
            amount = f" by {number(row['estimate'])} {row['unit']} ({_limits(row)})" if row["estimate"] else ""
            yield f"{_outcome(row)} differs{amount}, adjusted p {number(row['p_adjusted'], P)}"
    without = sum(value > LEVEL for value in p)
    powerless = sum(value_of(row["smallest_p"]) > LEVEL for row in rows)
    if without > powerless:
        yield f"no difference was found in {counted(without - powerless, 'outcome')}, which is no sign that there is none"
    if powerless:
        yield f"in {counted(powerless, 'outcome')} no difference can be found, whatever the data: too few subjects"
    reasons = Counter(row["note"].partition("; ")[0] for row, value in zip(rows, p, strict=True) if math.isnan(value))
    yield from (f"{counted(n, 'outcome')} {reason or 'not tested'}" for reason, n in reasons.items())


def _outcome(row: Row) -> str:
    return " ".join(filter(None, (row["joint"] if row["joint"] not in row["outcome"] else "", row["outcome"])))


def _cell(row: Row, name: str) -> str:
    if name == "low":
        return _limits(row)
    return number(row[name], P if name == "p_adjusted" else ".3g") if name in NUMBERS else row[name]


def _limits(row: Row) -> str:
    return f"{number(row['low'])} to {number(row['high'])}" if row["low"] else ""
