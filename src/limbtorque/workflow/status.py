"""Trials of a study by status; writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from limbtorque.quality.verdict import STATUSES
from limbtorque.tables.files import read_rows
from limbtorque.workflow.layout import STUDY_TABLES

SHOWN = 5  # rejected trials


def trials_by_status(folder: Path) -> list[str]:
    """Trials by status in the ledger, with rejected joints; no lines before a run."""
    ledger = folder / STUDY_TABLES["ledger"]
    if not ledger.is_file():
        return []
    rows = read_rows(ledger)
    counts = counts_of(Counter(row["status"] for row in rows))
    rejected = [row for row in rows if row["status"] == "rejected"]
    names = [f"{row['trial']} ({row['rejected_joints'] or 'muscle forces'})" for row in rejected]
    said = [f"rejected: {', '.join(names[:SHOWN])}" + f" and {len(names) - SHOWN} more" * (len(names) > SHOWN)]
    return [f"{len(rows)} trials in {STUDY_TABLES['ledger']}: {counts}", *said * bool(names)]


def counts_of(count: Mapping[str, int]) -> str:
    """Number of trials by status."""
    return ", ".join(f"{count[status]} {status}" for status in STATUSES)
