"""Notes for axes, captions and pages: meaning of 0 to 100 %, missing curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from limbtorque.statistics.mean_and_spread import known_stance_share, uneven_ground_forces
from limbtorque.statistics.wording import (
    Percent,
    axis_label,
    has_curve,
    missing_curves,
    one_of_counted,
    statuses_in_means,
)
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import column_values, read_rows
from limbtorque.workflow.layout import ENSEMBLE_TABLES
from limbtorque.workflow.run_session import TrialTables

Row = Mapping[str, str]


@dataclass(frozen=True)
class CurveNotes:
    """Notes on the curves, by chain.

    Attributes
    ----------
    axes : dict of str to str
        Label of the axis from 0 to 100 %.
    percent : dict of str to str
        Meaning of 0 to 100 %, in a sentence.
    missing : dict of str to str
        Number of trials with a curve, and why others have none; empty where all have one.
    held : dict of str to str
        Number of trials in the means, by status; empty without any.
    uneven : dict of str to list of str
        Sentences on means of trials that differ in how much of their stance has a known ground force.
    """

    axes: Mapping[str, str] = field(default_factory=dict)
    percent: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    uneven: Mapping[str, Sequence[str]] = field(default_factory=dict)


def curve_notes(study: Study, folder: Path) -> CurveNotes:
    """Notes on a study's curves; none without `results/windows.csv`."""
    path = folder / ENSEMBLE_TABLES["windows"]
    if not path.is_file():
        return CurveNotes()
    windows = read_rows(path)
    trials = {trial.name: trial for trial in study.trials}
    axes, percent, missing, held = {}, {}, {}, {}
    for chain in sorted({row["chain"] for row in windows}):
        rows = [row for row in windows if row["chain"] == chain]
        shown = [_percent(row, trials[row["trial"]]) for row in rows if has_curve(row)]
        axes[chain] = axis_label(shown)
        percent[chain] = one_of_counted(one.phrase for one in shown)
        missing[chain] = missing_curves(rows)
        held[chain] = statuses_in_means(rows)
    uneven = uneven_ground_forces(windows, _known_stance(trials, windows, TrialTables(study)))
    return CurveNotes(axes, percent, missing, held, uneven)


def _percent(row: Row, trial: Trial) -> Percent:
    """Meaning of 0 to 100 % of a trial's curves, by the window in its row."""
    options = trial.settings.ensembles
    return Percent(row["window"], options.start_event, options.end_event)


def _known_stance(trials: Mapping[str, Trial], windows: Sequence[Row], tables: TrialTables) -> dict[str, float]:
    """Fraction of stance with known ground force, by trial with ground contact."""
    found = {}
    for row in windows:
        trial = trials[row["trial"]]
        if not has_curve(row) or not trial.settings.chain(trial.chain).ground_contact or trial.load:
            continue
        moving, _ = tables.read("kinematics", trial, columns=["time_s", "external_status"])
        found[trial.name] = known_stance_share(
            column_values(moving, "time_s"),
            column_values(moving, "external_status"),
            start_s=float(row["start_s"]),
            end_s=float(row["end_s"]),
            cycle=_percent(row, trial).cycle,
        )
    return found


def study_table(path: Path, columns: Sequence[Column]) -> pd.DataFrame:
    """Read a table of the study; only numbers can be missing, not texts such as NA."""
    texts = [column.name for column in columns if column.kind is str]
    missing = {column.name: [] if column.name in texts else ["", "nan"] for column in columns}
    return pd.read_csv(path, dtype=dict.fromkeys(texts, str), keep_default_na=False, na_values=missing)
