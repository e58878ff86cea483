"""Curves and a reference -> `compared_with_reference.csv`, pages of subjects."""

from __future__ import annotations

from pathlib import Path

from limbtorque.report.subject import subject_page
from limbtorque.statistics.reference import Beside, beside_reference
from limbtorque.statistics.wording import axis_label
from limbtorque.study.files import write_text
from limbtorque.study.settings import load_settings
from limbtorque.study.study import Study
from limbtorque.study.trials import subjects_of
from limbtorque.tables.files import read_rows, table_of_rows, write_table
from limbtorque.tables.reference_columns import REFERENCE_COLUMNS
from limbtorque.workflow.layout import (
    REFERENCE_TABLE,
    REPORT,
    RESULTS,
    SETTINGS,
    STUDY_TABLES,
    page_path,
    places,
    subject_pages,
)
from limbtorque.workflow.operating_system import say
from limbtorque.workflow.reference_faults import percent_of
from limbtorque.workflow.reference_study import sides_of_results
from limbtorque.workflow.run_session import whole_study


def run(*, folder: Path, key: str = "") -> None:
    """Write the table and the pages of subjects beside the reference."""
    study = whole_study("reference", folder=folder, key=key)
    say(f"reference: {len(subjects_of(study.trials))} subjects")
    compared = beside(study, folder)
    write_table(table_of_rows(REFERENCE_COLUMNS, [each.row for each in compared]), folder / REFERENCE_TABLE)
    options, session, root = study.settings.reference, places(study), REPORT["index"].parent
    ledger = {
        row["trial"]: {
            **row,
            "page": f"../{page_path(session[row['trial']], row['trial']).relative_to(root).as_posix()}",
        }
        for row in read_rows(folder / STUDY_TABLES["ledger"])
    }
    for name, path in subject_pages(study).items():
        trials = [trial for trial in study.trials if trial.subject.name == name]
        text = subject_page(
            trials[0].subject,
            title=study.settings.title,
            reference=f"group {options.group}" if options.group else f"results in {options.results}",
            trials=[ledger[trial.name] for trial in trials],
            compared=[each for each in compared if each.row["subject"] == name],
            axes={(trial.chain, trial.condition): axis_label([percent_of(trial)]) for trial in trials},
        )
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(folder / path, text)


def beside(study: Study, folder: Path) -> list[Beside]:
    """Compare each subject of a study with its reference."""
    options, chains = study.settings.reference, {trial.chain for trial in study.trials}
    persons = sides_of_results(folder / RESULTS, study.settings, chains)
    if options.results:
        other = folder / options.results
        reference = sides_of_results(other, load_settings(other / SETTINGS.name), chains)
        return beside_reference(persons, reference, seed=options.seed)
    members = {subject.name for subject in subjects_of(study.trials) if subject.group == options.group}
    group = [side for side in persons if side.subject in members]
    return beside_reference(persons, group, members=members, seed=options.seed)
