"""Rows of the CSV tables of a study, as text."""

from __future__ import annotations

import csv
from pathlib import Path


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of a table of `results`, each a dictionary by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
