"""`results/universes` -> `multiverse.csv`, its page and specification curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from limbtorque.arrays import FloatArray
from limbtorque.figures.multiverse_figures import specification_figure
from limbtorque.figures.pictures import screen_picture
from limbtorque.figures.style import WIDTHS_MM, save_figure
from limbtorque.report.multiverse import multiverse_page
from limbtorque.statistics.contrast_design import contrast_design
from limbtorque.statistics.contrasts import Measured
from limbtorque.statistics.multiverse import Specified, multiverse_rows
from limbtorque.study.files import write_text
from limbtorque.study.options.contrasts import Outcome
from limbtorque.study.study import Study
from limbtorque.study.universes import choices_of, label, n_universes
from limbtorque.tables.contrast_columns import MEASURED_COVARIATES
from limbtorque.tables.effect_columns import EFFECT_TERMS
from limbtorque.tables.files import table_of_rows, write_table
from limbtorque.tables.multiverse_columns import MULTIVERSE_COLUMNS, option_columns
from limbtorque.workflow.layout import MULTIVERSE, multiverse_figures, universes_path
from limbtorque.workflow.memory_tables import OutcomeRows
from limbtorque.workflow.operating_system import say
from limbtorque.workflow.records import wait_for
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.trial_values import TrialValues, with_loads


def run(*, folder: Path, key: str = "") -> None:
    """Write table, page and figures of the multiverse."""
    study = whole_study("multiverse", folder=folder, key=key)
    contrasts = study.settings.contrasts
    choices = {option: [*map(label, values)] for option, values in choices_of(study.settings).items()}
    values = UniverseValues(study, folder, n_universes(choices))
    outcomes = [
        Specified(contrast_design(each, study.trials), values.measured(each.chain, outcome), choices)
        for each in contrasts.declared
        for outcome in each.outcomes
        if not outcome.is_curve
    ]
    rows = multiverse_rows(outcomes, values.covariates(), seed=contrasts.seed)
    table = table_of_rows([*MULTIVERSE_COLUMNS, *option_columns(choices)], [row for part in rows for row in part])
    write_table(table, folder / MULTIVERSE["multiverse"])
    parts = [pd.DataFrame(part) for part in rows]
    pictures = [_draw(part, study, path, folder) for part, path in zip(parts, multiverse_figures(study), strict=True)]
    page = multiverse_page(parts, pictures, title=study.settings.title or "study", choices=choices)
    write_text(folder / MULTIVERSE["multiverse_page"], page)


class UniverseValues:
    """Values of all sessions in all universes.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Its folder.
    n : int
        Number of universes.
    """

    COLUMNS = ("rejected", "loaded", *EFFECT_TERMS, *MEASURED_COVARIATES)

    def __init__(self, study: Study, folder: Path, n: int) -> None:
        say(f"multiverse: {n} universes of {len(study.trials)} trials")
        for session in study.batches:
            wait_for(["universes"], session, folder)
        rows = pd.concat([pd.read_parquet(folder / universes_path(session)) for session in study.batches])
        rows["trial"] = rows["trial"].map({trial.name: k for k, trial in enumerate(study.trials)})
        self._trials, self._outcomes = study.trials, study.settings.contrasts.distinct
        self._grid = np.full((len(self._outcomes), n, len(study.trials), len(self.COLUMNS)), np.nan)
        self._grid[rows["outcome"], rows["universe"], rows["trial"]] = rows[list(self.COLUMNS)]
        self._named = TrialValues(study.trials, study.settings, OutcomeRows())  # joint, unit and terms of outcomes

    def measured(self, chain: str, outcome: Outcome) -> list[Measured]:
        """Values of an outcome in each universe."""
        named = self._named.of_each(chain, outcome)
        made = []
        for of_universe in self._grid[self._outcomes.index((chain, outcome))]:
            rejected, loaded = of_universe[:, :2].T == 1.0
            values = of_universe[:, 2 : 2 + len(named.terms), None]
            of_load = None if named.loaded is None else loaded
            each = replace(named, values=values, rejected=rejected, loaded=of_load, effects=None)
            made.append(with_loads(each, self._trials))
        return made

    def covariates(self) -> Mapping[str, FloatArray]:
        """Covariates of trials, by the study's own options."""
        of_trials = np.fmax.reduce(self._grid[:, 0], axis=0)  # the same for every outcome of a trial
        return {name: of_trials[:, self.COLUMNS.index(name)] for name in MEASURED_COVARIATES}


def _draw(rows: pd.DataFrame, study: Study, path: Path, folder: Path) -> bytes:
    """Draw the specification curve in all formats; return the picture of the page."""
    options = study.settings.figures
    for form in options.formats:  # drawn anew for every format: saving twice would move the layout by a hair
        save_figure(specification_figure(rows, width_mm=WIDTHS_MM[options.width]), folder / f"{path}.{form}")
    return screen_picture(specification_figure(rows))
