"""Columns of `metrics.csv`: metrics with a check and without."""

from __future__ import annotations

from limbtorque.quality.checks import CHECKS
from limbtorque.tables.column import TRIAL_COLUMNS, columns
from limbtorque.tables.ledger_columns import METRICS

QUALITY_COLUMNS = (*METRICS, *columns({check.name: check.definition for check in CHECKS}))
METRIC_COLUMNS = (
    TRIAL_COLUMNS[0],
    *columns({"joint:text": "joint of the metrics; empty for metrics of the whole trial and of its worst joint"}),
    *QUALITY_COLUMNS,
)
