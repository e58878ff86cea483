"""Summary, curves, windows, effects -> `contrasts.csv`, `contrast_curves.csv`."""

from __future__ import annotations

from pathlib import Path

from limbtorque.statistics.contrast_design import contrast_design
from limbtorque.statistics.contrasts import contrast_rows
from limbtorque.tables.contrast_columns import CONTRAST_COLUMNS, CONTRAST_CURVE_COLUMNS, MEASURED_COVARIATES
from limbtorque.tables.files import table_of_rows, write_table
from limbtorque.workflow.frozen import declared_as
from limbtorque.workflow.layout import CONTRAST_TABLES
from limbtorque.workflow.operating_system import say
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.trial_values import StudyFiles, TrialValues


def run(*, folder: Path, key: str = "") -> None:
    """Write the tables of contrasts."""
    study = whole_study("contrasts", folder=folder, key=key)
    contrasts = study.settings.contrasts
    say(f"contrasts: {len(contrasts.declared)} of {len(study.trials)} trials")
    values = TrialValues(study.trials, study.settings, StudyFiles(study, folder))
    measured = [
        (contrast_design(each, study.trials), [values.measured(each.chain, outcome) for outcome in each.outcomes])
        for each in contrasts.declared
    ]
    covariates = {name for each in contrasts.declared for name in each.covariates} & {*MEASURED_COVARIATES}
    rows, curves = contrast_rows(
        measured,
        {name: values.of_windows(name) for name in covariates},
        seed=contrasts.seed,
        declared=declared_as(study, folder),
    )
    write_table(table_of_rows(CONTRAST_COLUMNS, rows), folder / CONTRAST_TABLES["contrasts"])
    write_table(table_of_rows(CONTRAST_CURVE_COLUMNS, curves), folder / CONTRAST_TABLES["contrast_curves"])
