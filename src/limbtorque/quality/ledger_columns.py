"""Columns of `ledger.csv`: status and quality metrics of each trial."""

from __future__ import annotations

from limbtorque.quality.checks import CHECKS, METRICS
from limbtorque.tables.column import MUSCLE_STATUS, TORQUE_STATUS, TRIAL_COLUMNS, Column

LEDGER_COLUMNS = (
    *TRIAL_COLUMNS,
    Column("file", "", "recording, as in the table of trials", kind=str),
    Column("forces_file", "", "second file, with the force plates; empty where there is none", kind=str),
    Column("static_file", "", "static trial, from which landmarks are carried; empty where there is none", kind=str),
    Column("status", "", "ok, caution, rejected or failed: the worse of torque_status and muscle_status", kind=str),
    TORQUE_STATUS,
    MUSCLE_STATUS,
    Column("rejected_joints", "", "joints whose torques must not be used", kind=str),
    Column("rejected_by", "", "names of the flags that reject the trial, or joints of it", kind=str),
    Column("reason", "", "kind of failure, or names of the flags", kind=str),
    Column("message", "", "description of the failure or flags, and action to take", kind=str),
    *METRICS,
    *(Column(check.name, check.unit, check.definition) for check in CHECKS),
    Column("plane", "", "anatomical plane of motion: sagittal, horizontal or oblique", kind=str),
    Column("input_sha256", "", "hash of the recording", kind=str),
    Column("forces_sha256", "", "hash of the second file", kind=str),
    Column("static_sha256", "", "hash of the static trial", kind=str),
    Column(
        "guesses",
        "",
        "assumptions about the recording that the file does not state; errors with reading.strict",
        kind=str,
    ),
    Column("notes", "", "observations and decisions of the analysis", kind=str),
)
