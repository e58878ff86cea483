"""Tables of the study -> `results/study_figures`, with captions of all figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from limbtorque.figures.captions import Captioned, captions
from limbtorque.figures.contrast_figures import contrast_figure
from limbtorque.figures.mean_figures import ensemble_figure, mean_terms_figure, missing_means
from limbtorque.figures.style import WIDTHS_MM, drawn_panels, note_figure, save_figure
from limbtorque.study.files import write_text
from limbtorque.study.study import Study
from limbtorque.tables.contrast_columns import CONTRAST_COLUMNS, CONTRAST_CURVE_COLUMNS
from limbtorque.tables.study_columns import BOTH, ENSEMBLE_COLUMNS, SUMMARY_COLUMNS
from limbtorque.workflow.curve_notes import CurveNotes, curve_notes, study_table
from limbtorque.workflow.layout import (
    CONTRAST_TABLES,
    ENSEMBLE_TABLES,
    STUDY_FIGURES,
    STUDY_TABLES,
    contrast_pictures,
    drawn_kinds,
    study_figures,
)
from limbtorque.workflow.run_session import whole_study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS = STUDY_FIGURES / "captions.md"
DRAWN = {"ensembles": "mean curves", "mean_terms": "mean torques and their terms"}


def run(*, folder: Path, key: str = "") -> None:
    """Draw the figures of the study."""
    study = whole_study("study_figures", folder=folder, key=key)
    means = folder / ENSEMBLE_TABLES["ensembles"]
    curves = study_table(means, ENSEMBLE_COLUMNS) if study.settings.ensembles.enabled else None
    notes = curve_notes(study, folder)
    for path in study_figures(study):
        if path != CAPTIONS:  # drawn anew for every format: saving twice would move the layout by a hair
            save_figure(_figure(path.stem, study, curves, notes, folder), folder / path)
    (folder / CAPTIONS).parent.mkdir(parents=True, exist_ok=True)
    write_text(folder / CAPTIONS, captions(_captioned(study, curves, notes, folder)))


def _captioned(study: Study, curves: pd.DataFrame | None, notes: CurveNotes, folder: Path) -> Captioned:
    """Facts for the captions, from the settings and the tables of the study."""
    chains = {trial.chain: [j.name for j in trial.settings.chain(trial.chain).joints] for trial in study.trials}
    summary = study_table(folder / STUDY_TABLES["summary"], SUMMARY_COLUMNS)
    there = summary[summary["rms_nm"] > 0.0]
    kinds = {kind for trial in study.trials for kind in drawn_kinds(trial)}
    ground = [trial for trial in study.trials if trial.settings.chain(trial.chain).ground_contact and not trial.load]
    analysed = set(summary["trial"])
    with_muscles = [t for t in study.trials if t.name in analysed and t.settings.muscle_set(t.chain, folder)]
    return Captioned(
        joints=dict(sorted(chains.items())),
        terms={str(chain): {term.split("_")[0] for term in rows["term"]} for chain, rows in there.groupby("chain")},
        kinds=kinds
        | {*study.settings.figures.kinds} & {*DRAWN, *["contrasts"] * bool(study.settings.contrasts.declared)},
        panels={chain: _panels(study, joints)[::2] for chain, joints in chains.items()},
        curves=None if curves is None else curves[curves["side"] != BOTH],
        percent=notes.percent,
        missing=notes.missing,
        held=notes.held,
        min_units=study.settings.ensembles.min_units,
        uneven=notes.uneven,
        ground=any(trial.settings.plates.assignment != "none" for trial in ground),
        bands=any(trial.settings.torques.bands for trial in study.trials),
        only_flagged=all("cutoff" not in trial.settings.figures.kinds for trial in study.trials),
        ranges=(sum(trial.settings.muscles.ranges for trial in with_muscles), len(with_muscles)),
    )


def _figure(name: str, study: Study, curves: pd.DataFrame | None, notes: CurveNotes, folder: Path) -> Figure:
    width_mm = WIDTHS_MM[study.settings.figures.width]
    title = study.settings.title or "study"
    of_contrasts = {file: contrast for contrast, file in contrast_pictures(study).items()}
    if name in of_contrasts:
        tables = (
            study_table(folder / CONTRAST_TABLES[table], columns)
            for table, columns in (("contrasts", CONTRAST_COLUMNS), ("contrast_curves", CONTRAST_CURVE_COLUMNS))
        )
        numbers, points = (table[table["contrast"] == of_contrasts[name]] for table in tables)
        axis = " or ".join(dict.fromkeys(notes.axes.get(chain, "%") for chain in numbers["chain"])) or "%"
        return contrast_figure(numbers, points, title=f"{title}: {of_contrasts[name]}", width_mm=width_mm, axis=axis)
    if curves is None:
        raise ValueError(f"{name} is drawn from mean curves, which need ensembles.enabled")
    kind = next(kind for kind in DRAWN if name.startswith(f"{kind}_"))
    chain = name.removeprefix(f"{kind}_")
    title = f"{title}: {DRAWN[kind]}, {chain}"
    of_chain = curves[curves["chain"] == chain]
    rows = of_chain[of_chain["side"] != BOTH]
    if rows["mean"].isna().all():
        few = missing_means(rows, min_units=study.settings.ensembles.min_units)
        why = f"{few} See results/ensembles.csv." if few else f"{notes.missing.get(chain, '')} See results/windows.csv."
        return note_figure(f"{title}: {why}", width_mm=width_mm)
    model = next(trial.settings.chain(chain) for trial in study.trials if trial.chain == chain)
    joints, axis = [joint.name for joint in model.joints], notes.axes.get(chain, "%")
    drawn, few, quantities, fewer = _panels(study, joints)
    page: dict[str, Any] = {"width_mm": width_mm, "axis": axis}
    if kind == "mean_terms":
        return mean_terms_figure(of_chain, joints=drawn, title=title + few, **page)
    return ensemble_figure(rows, joints=drawn, rows=quantities, title=title + few + fewer, **page)


def _panels(study: Study, joints: Sequence[str]) -> tuple[list[str], str, list[str], str]:
    """Joints and quantities to draw, each with a title suffix on those left out."""
    options = study.settings.figures
    width_mm = WIDTHS_MM[options.width]
    drawn, few = drawn_panels(joints, width_mm, only=options.joints)
    torque_first = sorted(options.rows, key=lambda row: row != "torque")
    kept, fewer = drawn_panels(torque_first, width_mm, each=len(drawn))
    return drawn, few, [row for row in options.rows if row in kept], fewer
