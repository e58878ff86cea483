"""Ledger, windows, means -> `results/verdict.txt`: trials by status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from limbtorque.errors import LimbtorqueError
from limbtorque.quality.verdict import STATUSES
from limbtorque.study.files import write_text
from limbtorque.tables.files import read_rows
from limbtorque.workflow.layout import ENSEMBLE_TABLES, LEFT_OVER, STUDY_TABLES, VERDICT
from limbtorque.workflow.run_session import whole_study


def run(*, folder: Path, key: str = "") -> None:
    """List failed and rejected trials; count flags and left-over files.

    Raises
    ------
    LimbtorqueError
        A larger share of the trials failed than `run.max_failed_fraction` allows, or the torques of all are left out of the
        means; there is no verdict then.
    """
    rows = read_rows(folder / STUDY_TABLES["ledger"])
    count = Counter(row["status"] for row in rows)
    lines = [f"{len(rows)} trials: {_counts(count)}"]
    flagged = Counter(
        name for row in rows if row["status"] in ("caution", "rejected") for name in row["reason"].split()
    )
    rejecting = Counter(name for row in rows for name in row["rejected_by"].split())
    for name, number in flagged.most_common():
        rejects = f", it rejects {rejecting[name]} of them" if rejecting[name] else ""
        lines.append(f"  {name}: {number} trials{rejects}")
    rejected_rows, failed_rows = ([row for row in rows if row["status"] == status] for status in ("rejected", "failed"))
    lines += [f"  rejected: {row['trial']}: {row['rejected_joints'] or 'muscle forces'}" for row in rejected_rows]
    lines += [f"  failed: {row['trial']} ({row['reason']}): {row['message']}" for row in failed_rows]
    settings = whole_study("verdict", folder=folder, key=key).settings
    moved = sum(path.is_file() for path in (folder / LEFT_OVER).rglob("*"))
    lines += [f"  {moved} files of removed trials or formats, moved to {LEFT_OVER}"] if moved else []
    windows = read_rows(folder / ENSEMBLE_TABLES["windows"]) if settings.ensembles.enabled else []
    left = sum(row["included"] == "0" and row["torque_status"] != "failed" for row in windows)
    lines += (
        [f"  {left} trials are not in the ensembles; {ENSEMBLE_TABLES['windows']} gives the reasons"] if left else []
    )
    text = "\n".join(lines)
    allowed = settings.run.max_failed_fraction
    if count["failed"] > allowed * len(rows):
        raise LimbtorqueError(
            f"{text}\n{count['failed']} of {len(rows)} trials failed, more than run.max_failed_fraction = {allowed:g} allows; "
            f"the tables of the others and {STUDY_TABLES['ledger']} are complete"
        )
    include = settings.ensembles.include
    torques = Counter(row["torque_status"] for row in rows)
    usable = torques["ok"] + (torques["caution"] if include != "ok" else 0)
    means = read_rows(folder / STUDY_TABLES["summary_by_condition"])
    has_means = any(int(row["n_trials"]) for row in means)
    if usable and not has_means:
        text += (
            "\n  no trial enters the means by condition: torques are missing in part, or no movement was found; give start_s and "
            "end_s of one movement or cycle with known forces"
        )
    elif count["failed"] < len(rows) and not has_means:
        raise LimbtorqueError(
            f"{text}\nno trial is left for means: torques of {len(rows)} trials: {_counts(torques)}, and ensembles.include is "
            f"{include}; correct the trials ({STUDY_TABLES['ledger']} has the reasons)"
            + (", or set ensembles.include to caution" if include == "ok" and torques["caution"] else "")
        )
    write_text(folder / VERDICT, text + "\n")


def _counts(count: Mapping[str, int]) -> str:
    """Number of trials by status."""
    return ", ".join(f"{count[status]} {status}" for status in STATUSES)
