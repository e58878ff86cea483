"""States of a study's tables, and trials by status; writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from limbtorque.errors import LimbtorqueError
from limbtorque.quality.verdict import STATUSES
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.files import read_rows
from limbtorque.workflow.keys import code_key, trial_key
from limbtorque.workflow.layout import SOURCES, STUDY_TABLES, TABLE_STAGES, record_path, trial_files
from limbtorque.workflow.records import SessionRecords, faults

SHOWN = 5  # rejected trials
STATES = ("done", "missing", "damaged", "stale")


def table_states(study: Study) -> Iterator[tuple[Path, str]]:
    """List the tables of all trials with their states.

    Parameters
    ----------
    study : Study
        The study, with the settings of its file.

    Yields
    ------
    path : Path
        Path of a table, relative to the study's folder.
    state : str
        ``"done"``, ``"missing"``, ``"damaged"`` (not of the size that its session's record says, or without a record), or ``"stale"``:
        made with other settings, table rows or code, from another recording, or from a stale table.
    """
    records = SessionRecords(study, study.folder, whole=False)
    for session, trials in study.batches.items():
        wrong = {stage: faults(stage, session, study.folder) for stage in TABLE_STAGES}
        for trial in trials:
            stale: set[str] = set()
            for stage in TABLE_STAGES:
                whole = record_path(stage, session).name not in wrong[stage]
                if not stale.isdisjoint(SOURCES[stage]) or (whole and _stale(stage, session, trial, study, records)):
                    stale.add(stage)
                for path in trial_files(stage, session, trial):
                    state = "stale" if stage in stale else "done"
                    state = "damaged" if path.name in wrong[stage] or not whole else state
                    yield path, state if (study.folder / path).is_file() else "missing"


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


def _stale(stage: str, session: str, trial: Trial, study: Study, records: SessionRecords) -> bool:
    """Return True if a record belongs to an earlier state of study or code."""
    try:
        made = records.of(stage, trial).provenance[stage]
    except (LimbtorqueError, KeyError):
        return True
    now = {"settings": trial_key(stage, trial, study.folder), "code": code_key(stage)}
    if any(made.get(name) != key for name, key in now.items()):
        return True
    written = (study.folder / record_path(stage, session)).stat().st_mtime
    return not SOURCES[stage] and any(file.stat().st_mtime > written for file in trial.files)
