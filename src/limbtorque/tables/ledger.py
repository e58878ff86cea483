"""Columns of `ledger.csv`: one row for each trial."""

from __future__ import annotations

from limbtorque.tables.checks import CHECKS, METRICS
from limbtorque.tables.column import TRIAL_COLUMNS, Column

LEDGER_COLUMNS = (
    *TRIAL_COLUMNS,
    Column("file", "", "recording, as in the table of trials", kind=str),
    Column("forces_file", "", "second file, with the force plates; empty where there is none", kind=str),
    Column("status", "", "ok, flagged or failed", kind=str),
    Column("torque_status", "", "status of the kinematics and torques alone", kind=str),
    Column(
        "muscle_status",
        "",
        "status of the muscle forces alone, which need the torques too; none where they were not asked for",
        kind=str,
    ),
    Column("reason", "", "kind of failure, or names of the flags", kind=str),
    Column("message", "", "what was found and what to do about it", kind=str),
    *METRICS,
    *(Column(check.name, check.unit, check.definition) for check in CHECKS),
    Column("plane", "", "plane of motion as the body sees it: sagittal, horizontal or oblique", kind=str),
    Column("input_sha256", "", "hash of the recording", kind=str),
    Column("forces_sha256", "", "hash of the second file", kind=str),
    Column("guesses", "", "what had to be guessed about the recording; reading.strict makes these errors", kind=str),
    Column("notes", "", "what was found and decided on the way", kind=str),
)
