"""Tables of the study -> `results/report`: first page and common files."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from plotly.offline import get_plotlyjs

from limbtorque.report.bands import BAND_COLUMNS
from limbtorque.report.index import ensemble_data, index_page
from limbtorque.report.page import style_sheet
from limbtorque.study.files import write_text
from limbtorque.study.study import Study
from limbtorque.tables.files import read_rows, read_trials
from limbtorque.tables.study_columns import SUMMARY_BANDS_COLUMNS, SUMMARY_COLUMNS, SUMMARY_KEYS
from limbtorque.workflow.curve_notes import curve_notes, study_table
from limbtorque.workflow.layout import (
    CONTRAST_TABLES,
    EMG_TABLES,
    ENSEMBLE_TABLES,
    REFERENCE_TABLE,
    REPORT,
    RESULTS,
    STUDY_FIGURES,
    STUDY_TABLES,
    contrast_pictures,
    emg_outputs,
    page_path,
    places,
    subject_pages,
)
from limbtorque.workflow.run_session import whole_study


def run(*, folder: Path, key: str = "") -> None:
    """Write the first page and the shared files of the report."""
    study = whole_study("report", folder=folder, key=key)
    provenance = json.loads((folder / STUDY_TABLES["provenance"]).read_text(encoding="utf-8"))
    curves = folder / ENSEMBLE_TABLES["ensembles"]
    notes = curve_notes(study, folder)
    least = study.settings.ensembles.min_units
    means = ensemble_data(read_rows(curves), notes.uneven, notes.axes, min_units=least) if curves.is_file() else None
    there = [
        *STUDY_TABLES.values(),
        *emg_outputs(study),
        *(
            path
            for path in (*ENSEMBLE_TABLES.values(), *CONTRAST_TABLES.values(), RESULTS / "curves")
            if (folder / path).exists()
        ),
    ]
    there += [REFERENCE_TABLE] * study.settings.reference.is_set
    files = {path.name: f"../{path.relative_to(RESULTS).as_posix()}" for path in there}
    emg = read_rows(folder / EMG_TABLES["emg_by_muscle"]) if emg_outputs(study) else []
    declared = study.settings.contrasts.declared
    contrasts = read_rows(folder / CONTRAST_TABLES["contrasts"]) if declared else []
    drawn = "contrasts" in study.settings.figures.kinds and "png" in study.settings.figures.formats
    pictures = {name: f"../{STUDY_FIGURES.name}/{file}.png" for name, file in contrast_pictures(study).items()}
    by_condition = read_rows(folder / STUDY_TABLES["summary_by_condition"])
    summary, bands = (
        study_table(folder / STUDY_TABLES[name], columns)
        for name, columns in (("summary", SUMMARY_COLUMNS), ("summary_bands", SUMMARY_BANDS_COLUMNS))
    )
    of_net = summary[summary["term"] == "net"].merge(bands, on=[column.name for column in SUMMARY_KEYS])
    net = of_net[list(BAND_COLUMNS)]
    data = resources.files("limbtorque.report") / "data"
    texts = {
        "index": index_page(
            _ledger(study, folder),
            provenance,
            files=files,
            ensembles=means,
            missing=notes.missing,
            held=notes.held,
            emg=emg,
            means=by_condition,
            contrasts=contrasts,
            pictures=pictures if drawn else {},
            summary=[{str(name): value for name, value in row.items()} for row in net.to_dict("records")],
        ),
        "style": style_sheet(),
        "plotly": get_plotlyjs(),
    }
    texts |= {name: (data / REPORT[name].name).read_text(encoding="utf-8") for name in REPORT.keys() - texts.keys()}
    for name, text in texts.items():
        write_text(folder / REPORT[name], text)


def _ledger(study: Study, folder: Path) -> list[dict[str, str]]:
    """Rows of the ledger with the paths of the pages of trial and subject."""
    root, persons = REPORT["index"].parent, subject_pages(study)
    pages = {trial: page_path(session, trial) for trial, session in places(study).items()}
    return [
        {
            **row,
            "page": pages[row["trial"]].relative_to(root).as_posix(),
            "subject_page": persons[row["subject"]].relative_to(root).as_posix() if persons else "",
        }
        for row in read_trials(folder / RESULTS)
    ]
