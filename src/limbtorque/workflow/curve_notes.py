"""Notes for axes, captions and pages: definition of 0 to 100 %, missing curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from limbtorque.tables.column import Column
from limbtorque.tables.files import column_values, read_rows
from limbtorque.workflow.layout import ENSEMBLE_TABLES
from limbtorque.workflow.run_session import TrialTables


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

    axes: Mapping[str, str]
    percent: Mapping[str, str]
    missing: Mapping[str, str]
    held: Mapping[str, str]
    uneven: Mapping[str, Sequence[str]]


def curve_notes(study: Study, folder: Path) -> CurveNotes:
    """Notes on a study's curves; none without `results/windows.csv`."""
    path = folder / ENSEMBLE_TABLES["windows"]
    windows = read_rows(path) if path.is_file() else []
    trials, tables = {trial.name: trial for trial in study.trials}, TrialTables(study)
    percents: dict[str, list[Percent]] = {row["chain"]: [] for row in windows}
    known_stance = {}  # fraction of stance with known ground force, by trial with ground contact
    for row in filter(has_curve, windows):
        trial, options = trials[row["trial"]], trials[row["trial"]].settings.ensembles
        percent = Percent(row["window"], options.start_event, options.end_event)
        percents[row["chain"]].append(percent)
        if trial.settings.chain(trial.chain).ground_contact and not trial.load:
            moving, _ = tables.read("kinematics", trial, columns=["time_s", "external_status"])
            known_stance[trial.name] = known_stance_share(
                column_values(moving, "time_s"),
                column_values(moving, "external_status"),
                start_s=float(row["start_s"]),
                end_s=float(row["end_s"]),
                cycle=percent.cycle,
            )
    rows = {chain: [row for row in windows if row["chain"] == chain] for chain in sorted(percents)}
    return CurveNotes(
        axes={chain: axis_label(percents[chain]) for chain in rows},
        percent={chain: one_of_counted(percent.phrase for percent in percents[chain]) for chain in rows},
        missing={chain: missing_curves(of_chain) for chain, of_chain in rows.items()},
        held={chain: statuses_in_means(of_chain) for chain, of_chain in rows.items()},
        uneven=uneven_ground_forces(windows, known_stance),
    )


def study_table(path: Path, columns: Sequence[Column]) -> pd.DataFrame:
    """Read a table of the study; texts such as NA are not missing values."""
    texts = [column.name for column in columns if column.kind is str]
    missing = {column.name: [] if column.name in texts else ["", "nan"] for column in columns}
    return pd.read_csv(path, dtype=dict.fromkeys(texts, str), keep_default_na=False, na_values=missing)
