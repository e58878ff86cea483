"""Ledger, windows, means -> trials by status; an error where they are not enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from limbtorque.errors import LimbtorqueError
from limbtorque.study.files import write_text
from limbtorque.study.settings import Settings
from limbtorque.tables.files import read_rows
from limbtorque.workflow.layout import ACCEPTED, ENSEMBLE_TABLES, LEFT_OVER, STUDY_TABLES
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.status import counts_of


def run(*, folder: Path, key: str = "") -> None:
    """End with an error where the trials of a study are not enough.

    Raises
    ------
    LimbtorqueError
        A larger share of the trials failed than `run.max_failed_fraction` allows, or the torques of all are left out of the
        means.
    """
    text, fault = verdict_text(whole_study("verdict", folder=folder, key=key).settings, folder)
    if fault:
        raise LimbtorqueError(text.rstrip())
    write_text(folder / ACCEPTED, text)


def verdict_text(settings: Settings, folder: Path) -> tuple[str, bool]:
    """List failed and rejected trials; count flags and left-over files.

    Parameters
    ----------
    settings : Settings
        Of the study.
    folder : Path
        Its folder, with ledger, windows and means.

    Returns
    -------
    text : str
        The lines of ``verdict.txt``.
    fault : bool
        Whether too many trials failed, or none is left for means, as the last lines say.
    """
    rows = read_rows(folder / STUDY_TABLES["ledger"])
    count = Counter(row["status"] for row in rows)
    lines = [f"{len(rows)} trials: {counts_of(count)}"]
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
    moved = sum(path.is_file() for path in (folder / LEFT_OVER).rglob("*"))
    lines += [f"  {moved} files of removed trials or formats, moved to {LEFT_OVER}"] if moved else []
    place = folder / ENSEMBLE_TABLES["windows"]
    windows = read_rows(place) if settings.ensembles.enabled and place.is_file() else []
    left = sum(row["included"] == "0" and row["torque_status"] != "failed" for row in windows)
    lines += (
        [f"  {left} trials are not in the ensembles; {ENSEMBLE_TABLES['windows']} gives the reasons"] if left else []
    )
    fault, remark = _fault(rows, settings, folder)
    return "\n".join([*lines, *filter(None, (fault, remark))]) + "\n", bool(fault)


def _fault(rows: Sequence[Mapping[str, str]], settings: Settings, folder: Path) -> tuple[str, str]:
    """Sentences on why the study may not be used, and on what it lacks."""
    count, torques = (Counter(row[name] for row in rows) for name in ("status", "torque_status"))
    allowed, include = settings.run.max_failed_fraction, settings.ensembles.include
    if count["failed"] > allowed * len(rows):
        return (
            f"{count['failed']} of {len(rows)} trials failed, more than run.max_failed_fraction = {allowed:g} allows; "
            f"the tables of the others and {STUDY_TABLES['ledger']} are complete",
            "",
        )
    usable = torques["ok"] + (torques["caution"] if include != "ok" else 0)
    means = read_rows(folder / STUDY_TABLES["summary_by_condition"])
    if any(int(row["n_trials"]) for row in means) or count["failed"] == len(rows):
        return "", ""
    if usable:
        return "", (
            "  no trial enters the means by condition: torques are missing in part, or no movement was found; give start_s and "
            "end_s of one movement or cycle with known forces"
        )
    return (
        f"no trial is left for means: torques of {len(rows)} trials: {counts_of(torques)}, and ensembles.include is "
        f"{include}; correct the trials ({STUDY_TABLES['ledger']} has the reasons)"
        + (", or set ensembles.include to caution" if include == "ok" and torques["caution"] else ""),
        "",
    )
