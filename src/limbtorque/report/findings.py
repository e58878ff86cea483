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
HEADS = (
    *("contrast", "outcome", "joint or muscle", "unit", "mean, first", "mean, second", "difference", "95 % limits"),
    *("adjusted p", "Hedges' g", "subjects", "declared", "note"),
)
TERM_HEADS = ("contrast", "outcome", "joint", "term", "unit", "difference", "95 % limits", "adjusted p")
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
        "heads": HEADS,
        "rows": [_cells(row) for row in whole],
        "term_heads": TERM_HEADS,
        "terms": [_term_cells(row) for row in rows if row["term"] not in OF_OUTCOME],
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


def _cells(row: Row) -> tuple[str, ...]:
    return (
        *(row[name] for name in ("contrast", "outcome", "joint", "unit")),
        *(number(row[name]) for name in ("mean_first", "mean_second", "estimate")),
        *(
            _limits(row),
            number(row["p_adjusted"], P),
            number(row["hedges_g"]),
            row["n_subjects"],
            row["declared"],
            row["note"],
        ),
    )


def _term_cells(row: Row) -> tuple[str, ...]:
    about = (row[name] for name in ("contrast", "outcome", "joint", "term", "unit"))
    return (*about, number(row["estimate"]), _limits(row), number(row["p_adjusted"], P))


def _limits(row: Row) -> str:
    return f"{number(row['low'])} to {number(row['high'])}" if row["low"] else ""
