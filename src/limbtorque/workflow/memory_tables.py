"""Tables of a trial's stages and of outcomes, in memory in place of files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import compute

from limbtorque.arrays import FloatArray
from limbtorque.study.trials import Trial
from limbtorque.tables.files import rounded_table
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.uncertainty.effects import TrialEffects, effects_table
from limbtorque.workflow.run_session import TrialTables
from limbtorque.workflow.trial_values import StudyFiles


class MemoryTables(TrialTables):
    """Last table and record of each stage of a trial, as its files would have them."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], tuple[pa.Table, TrialRecord]] = {}

    def put(self, stage: str, trial: Trial, parts: Sequence[pa.Table], record: TrialRecord) -> None:
        """Take the rows of a stage, those of torques with the digits of files."""
        table = pa.concat_tables(parts) if parts else pa.table({})
        self._made[stage, trial.name] = table if stage == "kinematics" else rounded_table(table), record

    def path(self, stage: str, trial: Trial) -> Path:
        """Return no place: nothing is written."""
        return Path(f"{stage}_{trial.name}.parquet")

    def read(
        self, stage: str, trial: Trial, *, columns: Sequence[str] | Callable[[str], bool] | None = None
    ) -> tuple[pa.Table, TrialRecord]:
        """Columns of the last table of a stage, and its record."""
        table, record = self._made[stage, trial.name]
        wanted = columns if callable(columns) else (columns or table.column_names).__contains__
        return table.select([name for name in table.column_names if wanted(name)]), record

    def read_record(self, stage: str, trial: Trial) -> TrialRecord:
        """Record of the last table of a stage."""
        return self._made[stage, trial.name][1]


@dataclass(frozen=True)
class OutcomeRows(StudyFiles):
    """Rows that hold the values of outcomes, in memory.

    Attributes
    ----------
    summaries : dict of str to list of dict
        Rows of `summary` and `muscle_summary`.
    effects_of : dict of str to TrialEffects
        Values of net torques and terms, by trial.
    windows_of : dict of str to dict of str to str
        Rows of windows, by trial.
    curves_of : list of (Trial, ndarray of shape (n_points, n_quantities))
        Curves.
    """

    summaries: dict[str, list[Mapping[str, Any]]] = field(default_factory=lambda: {"summary": [], "muscle_summary": []})
    effects_of: dict[str, TrialEffects] = field(default_factory=dict)
    windows_of: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(str)))
    curves_of: list[tuple[Trial, FloatArray]] = field(default_factory=list)

    def summary(self, name: str, wanted: Sequence[str]) -> pd.DataFrame:
        """Columns of a summary."""
        return pd.DataFrame([[row[column] for column in wanted] for row in self.summaries[name]], columns=list(wanted))

    def effects(self, needed: compute.Expression) -> list[pa.Table]:
        """Rows of effects of all trials."""
        return [effects_table(self.effects_of).filter(needed)]

    def windows(self) -> Mapping[str, Mapping[str, str]]:
        """Windows by trial."""
        return self.windows_of

    def curves(self) -> Iterator[tuple[Trial, FloatArray]]:
        """Curves of all trials that have them."""
        yield from self.curves_of
