"""`results/universes` -> `multiverse.csv`, its page and specification curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from limbtorque.arrays import FloatArray
from limbtorque.figures.multiverse_figures import Specifications, specification_figure
from limbtorque.figures.style import WIDTHS_MM, save_figure
from limbtorque.report.multiverse import OutcomePart, multiverse_page
from limbtorque.statistics.contrast_design import contrast_design
from limbtorque.statistics.contrasts import Measured
from limbtorque.statistics.multiverse import SpecifiedOutcome, multiverse_rows
from limbtorque.study.files import write_text
from limbtorque.study.options.contrasts import Outcome
from limbtorque.study.study import Study
from limbtorque.study.universes import Choice, choices_of, universe_changes
from limbtorque.tables.files import table_of_rows, write_table
from limbtorque.tables.multiverse_columns import MULTIVERSE_COLUMNS
from limbtorque.workflow.layout import MULTIVERSE, multiverse_figures, universes_path
from limbtorque.workflow.memory_tables import OutcomeRows
from limbtorque.workflow.operating_system import say
from limbtorque.workflow.records import wait_for
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.stages.universes import covariates_measured, outcomes_of
from limbtorque.workflow.trial_values import TrialValues, with_loads

PICTURE_DPI = 130


def run(*, folder: Path, key: str = "") -> None:
    """Write table, page and figures of the multiverse."""
    study = whole_study("multiverse", folder=folder, key=key)
    choices = choices_of(study.settings)
    changes = universe_changes(choices)
    say(f"multiverse: {len(changes)} universes of {len(study.trials)} trials")
    outcomes = _outcomes(study, folder, choices)
    words = [_words(each, changes[0]) for each in changes]
    rows = multiverse_rows([each for _, each in outcomes], choices=words, seed=study.settings.contrasts.seed)
    table = table_of_rows(MULTIVERSE_COLUMNS, [row for of_outcome in rows for row in of_outcome])
    write_table(table, folder / MULTIVERSE["multiverse"])
    figures = multiverse_figures(study)
    parts = []
    for (name, each), of_outcome in zip(outcomes, rows, strict=True):
        specifications = _specifications(each, of_outcome, choices)
        path = folder / figures[name, each.measured[0].outcome]
        parts.append(OutcomePart(of_outcome, specifications, _draw(study, of_outcome, specifications, path)))
    labels = {choice.option: choice.labels for choice in choices}
    page = multiverse_page(parts, title=study.settings.title or "study", choices=labels, n_universes=len(changes))
    write_text(folder / MULTIVERSE["multiverse_page"], page)


def _words(changes: Mapping[str, str], own: Mapping[str, str]) -> str:
    return "; ".join(f"{name} = {text}" for name, text in changes.items() if text != own[name])


def _outcomes(study: Study, folder: Path, choices: Sequence[Choice]) -> list[tuple[str, SpecifiedOutcome]]:
    """Names of contrasts with their outcomes in all universes."""
    shape, contrasts = tuple(len(choice.values) for choice in choices), study.settings.contrasts
    of_universes = UniverseValues(study, folder, int(np.prod(shape)))
    designs = {each.name: contrast_design(each, study.trials) for each in contrasts.declared}
    chains = {each.name: each.chain for each in contrasts.declared}
    covariates = of_universes.covariates(covariates_measured(contrasts))
    return [
        (name, SpecifiedOutcome(designs[name], of_universes.measured(chains[name], outcome), covariates, shape))
        for name, outcome in contrasts.of_numbers
    ]


class UniverseValues:
    """Values of all sessions in all universes.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Its folder.
    n_universes : int
        Number of universes.
    """

    def __init__(self, study: Study, folder: Path, n_universes: int) -> None:
        for session in study.batches:
            wait_for(["universes"], session, folder)
        rows = pd.concat([pd.read_parquet(folder / universes_path(session)) for session in study.batches])
        rows["trial"] = rows["trial"].map({trial.name: k for k, trial in enumerate(study.trials)})
        self._rows, self._study = rows, study
        self._numbers = {pair: k for k, pair in enumerate(outcomes_of(study.settings.contrasts), start=1)}
        self._size = (n_universes, len(study.trials))
        nothing = OutcomeRows(windows_of={trial.name: {"rejected_joints": ""} for trial in study.trials})
        self._named = TrialValues(study.trials, study.settings, nothing)  # joint, unit and terms of outcomes

    def measured(self, chain: str, outcome: Outcome) -> list[Measured]:
        """Values of an outcome in each universe."""
        named, rows = self._named.of_each(chain, outcome), self._of(self._numbers[chain, outcome])
        values = np.stack([self._grid(rows[rows["term"] == term], "value") for term in named.terms], axis=2)
        first = rows[rows["term"] == named.terms[0]]
        rejected, loaded = (self._grid(first, name) == 1.0 for name in ("rejected", "loaded"))
        made = []
        for u in range(self._size[0]):
            of_load = None if named.loaded is None else loaded[u]
            each = replace(named, values=values[u, :, :, None], rejected=rejected[u], loaded=of_load, effects=None)
            made.append(with_loads(each, self._study.trials))
        return made

    def covariates(self, names: Sequence[str]) -> list[dict[str, FloatArray]]:
        """Covariates of trials in each universe."""
        rows = self._of(0)
        grids = {name: self._grid(rows[rows["term"] == name], "value") for name in names}
        return [{name: grid[u] for name, grid in grids.items()} for u in range(self._size[0])]

    def _of(self, number: int) -> pd.DataFrame:
        return self._rows[self._rows["outcome"] == number]

    def _grid(self, rows: pd.DataFrame, name: str) -> FloatArray:
        """Column by universe and trial; NaN for trials without a row."""
        grid = np.full(self._size, np.nan)
        grid[rows["universe"], rows["trial"]] = rows[name]
        return grid


def _specifications(
    outcome: SpecifiedOutcome, rows: Sequence[Mapping[str, Any]], choices: Sequence[Choice]
) -> Specifications:
    """Universes of an outcome, by the options that change it."""
    net = [row for row in rows if row["term"] == rows[0]["term"]]
    used = [k for k, idle in enumerate(outcome.idle) if not idle]
    places = np.array(np.unravel_index([row["universe"] for row in net], outcome.shape)).T
    estimate, low, high, rejected = (
        np.array([row[name] for row in net]) for name in ("estimate", "low", "high", "n_rejected")
    )
    options, labels = [choices[k].option for k in used], [choices[k].labels for k in used]
    return Specifications(estimate, low, high, rejected, options, labels, places[:, used])


def _draw(study: Study, rows: Sequence[Mapping[str, Any]], each: Specifications, path: Path) -> bytes:
    """Draw the specification curve in all formats; returns the picture of the page."""
    about, options = rows[0], study.settings.figures
    title = f"{about['contrast']}: {about['joint']} {about['outcome']}"

    def figure() -> Any:
        return specification_figure(each, title=title, unit=about["unit"], width_mm=WIDTHS_MM[options.width])

    for form in options.formats:  # drawn anew for every format: saving twice would move the layout by a hair
        save_figure(figure(), path.with_suffix(f".{form}"))
    picture = BytesIO()
    figure().savefig(picture, format="png", dpi=PICTURE_DPI)
    return picture.getvalue()
