"""Curves, windows and a reference -> `compared_with_reference.csv`, pages of subjects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from limbtorque.report.subject import SubjectContents, subject_page
from limbtorque.statistics.reference import Beside, beside_reference
from limbtorque.statistics.wording import Percent, axis_label
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
from limbtorque.workflow.reference_curves import sides_of_results
from limbtorque.workflow.run_session import whole_study


def run(*, folder: Path, key: str = "") -> None:
    """Write the table and the pages of subjects beside the reference."""
    study = whole_study("reference", folder=folder, key=key)
    say(f"reference: {len(subjects_of(study.trials))} subjects")
    compared = beside(study, folder)
    write_table(table_of_rows(REFERENCE_COLUMNS, [each.row for each in compared]), folder / REFERENCE_TABLE)
    ledger = {row["trial"]: row for row in read_rows(folder / STUDY_TABLES["ledger"])}
    of_subject: dict[str, list[Beside]] = {name: [] for name in subject_pages(study)}
    for each in compared if of_subject else ():
        of_subject[each.subject].append(each)
    for name, path in subject_pages(study).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(folder / path, subject_page(_contents(study, ledger, name, of_subject[name])))


def beside(study: Study, folder: Path) -> list[Beside]:
    """Compare each subject of a study with its reference."""
    reference, settings = study.settings.reference, study.settings
    chains = {trial.chain for trial in study.trials}
    persons = sides_of_results(folder / RESULTS, settings, chains)
    if reference.results:
        other, members = folder / reference.results, set[str]()
        sides = sides_of_results(other, load_settings(other / SETTINGS.name), chains)
    else:
        members = {subject.name for subject in subjects_of(study.trials) if subject.group == reference.group}
        sides = {
            condition: {name: own for name, own in subjects.items() if name in members}
            for condition, subjects in persons.items()
        }
    joints = {chain: [joint.name for joint in settings.chain(chain).joints] for chain in chains}
    return beside_reference(
        persons,
        {condition: subjects for condition, subjects in sides.items() if subjects},
        joints=joints,
        members=members,
        seed=reference.seed,
    )


def _contents(
    study: Study, ledger: Mapping[str, Mapping[str, str]], name: str, compared: Sequence[Beside]
) -> SubjectContents:
    """Contents of the page of a subject."""
    reference, session = study.settings.reference, places(study)
    trials = [trial for trial in study.trials if trial.subject.name == name]
    pages = {
        trial.name: page_path(session[trial.name], trial.name).relative_to(REPORT["index"].parent) for trial in trials
    }
    rows = [{**ledger[trial], "page": f"../{path.as_posix()}"} for trial, path in pages.items()]
    axes = {
        (trial.chain, trial.condition): axis_label([Percent(options.window, options.start_event, options.end_event)])
        for trial in trials
        for options in [trial.settings.ensembles]
    }
    return SubjectContents(
        subject=trials[0].subject,
        title=study.settings.title,
        reference=f"group {reference.group}" if reference.group else f"results in {reference.results}",
        is_member=bool(reference.group) and trials[0].subject.group == reference.group,
        trials=rows,
        compared=compared,
        axes=axes,
    )
