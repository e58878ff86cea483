"""`results/ensembles.csv`, `results/ledger.csv` -> `results/figures/study`: figures of the study, captions of all."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from limbtorque.figures import WIDTHS_MM, failure_figure, save
from limbtorque.stages.layout import ENSEMBLE_TABLES, STUDY_FIGURES, STUDY_TABLES, study_figures
from limbtorque.study import Study, load_study
from limbtorque.study_figures import captions, ensemble_figure, flag_figure, peak_figure


def run(*, folder: Path) -> None:
    """Draw the figures of the study."""
    study = load_study(folder)
    for path in study_figures(study):
        if path.suffix != ".md":
            save(_figure(path.stem, study, folder), folder / path)
    chains = {trial.chain: [j.name for j in trial.settings.chain(trial.chain).joints] for trial in study.trials}
    text = captions(dict(sorted(chains.items())))
    (folder / STUDY_FIGURES).mkdir(parents=True, exist_ok=True)
    (folder / STUDY_FIGURES / "captions.md").write_text(text, encoding="utf-8", newline="\n")


def _figure(name: str, study: Study, folder: Path) -> Figure:
    width_mm = WIDTHS_MM[study.settings.figures.width]
    title = study.settings.title or "study"
    if name == "flags":
        ledger = pd.read_csv(folder / STUDY_TABLES["ledger"], keep_default_na=False, dtype=str)
        return flag_figure(ledger, title=f"{title}: quality flags", width_mm=width_mm)
    kind = next(kind for kind in ("ensembles", "peak_terms") if name.startswith(f"{kind}_"))
    chain = name.removeprefix(f"{kind}_")
    whole = pd.read_csv(folder / ENSEMBLE_TABLES["ensembles"], dtype={"condition": str, "side": str, "chain": str})
    rows = whole.fillna({"condition": ""})[whole["chain"] == chain]
    what = {"ensembles": "mean curves", "peak_terms": "terms at the peak of the mean torque"}[kind]
    if not (rows["n_trials"] > 0).any():
        return failure_figure(
            f"{title}: {what}, {chain}", "no trial has a curve, windows.csv says why", what="not drawn"
        )
    model = next(trial.settings.chain(chain) for trial in study.trials if trial.chain == chain)
    draw = {"ensembles": ensemble_figure, "peak_terms": peak_figure}[kind]
    return draw(
        rows, joints=[joint.name for joint in model.joints], title=f"{title}: {what}, {chain}", width_mm=width_mm
    )
