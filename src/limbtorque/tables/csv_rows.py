"""Rows of a study's CSV tables, as text; cells that a spreadsheet would run."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

# text that spreadsheets take for a formula, also in full-width characters, after any apostrophes
FORMULA = "^'*[=+\\-@\\t\\r＝＋－＠]"  # noqa: RUF001 (full-width characters are meant)
_FORMULA = re.compile(FORMULA)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def unquoted(cell: str) -> str:
    """Text of a cell, without the apostrophe that was written before a formula.

    >>> unquoted("'=1+1"), unquoted("-1.5"), unquoted("'s-Hertogenbosch")
    ('=1+1', '-1.5', "'s-Hertogenbosch")
    """
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell


def quoted(cell: str) -> str:
    """Text as a cell that no spreadsheet runs: an apostrophe stands before a formula.

    >>> quoted("=1+1"), quoted("'=1+1"), quoted("control"), quoted("-1.5")
    ("'=1+1", "''=1+1", 'control', '-1.5')
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unquoted_rows(rows: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """Rows with the text of their cells."""
    for row in rows:
        yield {name: unquoted(cell) for name, cell in row.items()}


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of a table of `results`, each a dictionary by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(unquoted_rows(csv.DictReader(file)))
