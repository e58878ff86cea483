"""Figure of a study: a matrix of quality flags."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limbtorque.figures.notebook import NotebookFigure
from limbtorque.figures.palette import STATUS_COLOURS
from limbtorque.figures.style import (
    CHARACTER_MM,
    MM,
    ONE_COLUMN_MM,
    STYLE,
    TWO_COLUMNS_MM,
    heading,
    wrapped,
    wrapped_heading,
)

MEANINGS = {"ok": "not raised", "caution": "raised", "rejected": "raised, and rejects", "failed": "failed"}
LEGEND_MM = 6.0
MOST_ROWS = 60  # of single trials in a matrix of flags; more are shown by condition


def flag_matrix(ledger: pd.DataFrame) -> pd.DataFrame:
    """Quality flags by trial, or by condition where there are many trials.

    Parameters
    ----------
    ledger : pandas.DataFrame
        `results/ledger.csv`.

    Returns
    -------
    pandas.DataFrame
        Share of the trials of a row with each flag, 0 to 1; ``failed`` comes first. Columns without any are left out.
    """
    matrix = _shares(ledger, "reason")
    return matrix.loc[:, (matrix > 0.0).any()] if (matrix > 0.0).any(axis=None) else matrix[["failed"]]


def _shares(ledger: pd.DataFrame, column: str) -> pd.DataFrame:
    """Share of the trials of each row that failed, and with each flag of a column."""
    reasons = ledger[column].fillna("").str.split()
    failed = ledger["status"] == "failed"
    names = sorted({name for row in reasons[~failed] for name in row})
    raised = pd.DataFrame({"failed": failed.astype(float)}, index=ledger.index)
    for name in names:
        raised[name] = [float(name in row) if not bad else np.nan for row, bad in zip(reasons, failed, strict=True)]
    rows = ledger["trial"] if len(ledger) <= MOST_ROWS else ledger["condition"].fillna("").replace("", "no condition")
    return raised.groupby(rows.to_numpy(), sort=False).mean()


def status_matrix(ledger: pd.DataFrame) -> pd.DataFrame:
    """Worst status by each flag, in the rows and columns of `flag_matrix`.

    Parameters
    ----------
    ledger : pandas.DataFrame
        `results/ledger.csv`.

    Returns
    -------
    pandas.DataFrame
        ok, caution, rejected or failed; empty where all trials of a row failed.
    """
    raised = flag_matrix(ledger)
    rejecting = _shares(ledger, "rejected_by").reindex(columns=raised.columns, fill_value=0.0)
    found = raised.astype(object).where(raised.isna(), "ok").where(raised.notna(), "")
    found = found.mask(raised > 0.0, "caution").mask(rejecting > 0.0, "rejected")
    if "failed" in found:
        found["failed"] = np.where(raised["failed"] > 0.0, "failed", "ok")
    return found


def flag_figure(ledger: pd.DataFrame, *, title: str, width_mm: float = TWO_COLUMNS_MM) -> Figure:
    """Figure of a study: a matrix of quality flags.

    Parameters
    ----------
    ledger : pandas.DataFrame
        `results/ledger.csv`.
    title : str
        Title.
    width_mm : float, optional
        Width, mm.

    Returns
    -------
    matplotlib.figure.Figure
        A row for each trial (for each condition where there are more than 60), a column for each flag that was raised.
    """
    matrix, status = flag_matrix(ledger), status_matrix(ledger)
    single = len(ledger) <= MOST_ROWS
    there = [name for name in MEANINGS if (status == name).any(axis=None)]
    columns = 2 if width_mm <= ONE_COLUMN_MM else len(there)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        names = [wrapped(str(name), most=26 if width_mm <= ONE_COLUMN_MM else 60) for name in matrix.index]
        lines = max((name.count("\n") + 1 for name in names), default=1)
        height_mm = 14.0 + CHARACTER_MM * max(map(len, matrix.columns)) + (1.2 + 3.0 * lines) * len(matrix)
        height_mm += LEGEND_MM * -(-len(there) // columns)
        figure = NotebookFigure(figsize=(width_mm * MM, height_mm * MM), layout="constrained")
        axes = figure.subplots()
        _draw_cells(axes, matrix, status, shares=not single)
        axes.set(xlim=(0.0, max(len(matrix.columns), 6)), ylim=(len(matrix), 0.0))
        axes.set_xticks(np.arange(len(matrix.columns)) + 0.47, matrix.columns, rotation=90)
        axes.xaxis.tick_top()
        axes.set_yticks(np.arange(len(matrix)) + 0.45, names, parse_math=False)
        axes.tick_params(length=0.0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        patches = [mpl.patches.Patch(color=STATUS_COLOURS[name], label=MEANINGS[name]) for name in there]
        figure.legend(handles=patches, loc="outside lower left", ncols=columns, frameon=False)
        heading(figure, wrapped_heading(title, width_mm))
    return figure


def _draw_cells(axes: Axes, matrix: pd.DataFrame, status: pd.DataFrame, *, shares: bool) -> None:
    """Draw a rectangle for each row and flag, in the colour of its status."""
    for column, name in enumerate(matrix):
        for row, (share, worst) in enumerate(zip(matrix[name], status[name], strict=True)):
            raised = worst not in ("", "ok")
            face, alpha = STATUS_COLOURS.get(worst, "white"), 0.35 + 0.65 * share if raised else 1.0
            axes.add_patch(mpl.patches.Rectangle((column, row), 0.94, 0.9, color=face, alpha=alpha, linewidth=0.0))
            if raised and shares:
                text = f"{100.0 * share:.0f} %"
                axes.text(column + 0.47, row + 0.45, text, ha="center", va="center", fontsize=6.5)
