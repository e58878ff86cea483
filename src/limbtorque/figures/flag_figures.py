"""Figure of a study: a matrix of quality flags."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
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
from limbtorque.tables.quality_flags import CHECKS

REJECTING = {check.name for check in CHECKS if check.rejects}
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
    reasons = ledger["reason"].fillna("").str.split()
    failed = ledger["status"] == "failed"
    names = sorted({name for row in reasons[~failed] for name in row})
    raised = pd.DataFrame({"failed": failed.astype(float)}, index=ledger.index)
    for name in names:
        raised[name] = [float(name in row) if not bad else np.nan for row, bad in zip(reasons, failed, strict=True)]
    rows = ledger["trial"] if len(ledger) <= MOST_ROWS else ledger["condition"].fillna("").replace("", "no condition")
    matrix = raised.groupby(rows.to_numpy(), sort=False).mean()
    return matrix.loc[:, (matrix > 0.0).any()] if (matrix > 0.0).any(axis=None) else matrix[["failed"]]


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
    matrix = flag_matrix(ledger)
    single = len(ledger) <= MOST_ROWS
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        names = [wrapped(str(name), most=26 if width_mm <= ONE_COLUMN_MM else 60) for name in matrix.index]
        lines = max((name.count("\n") + 1 for name in names), default=1)
        height_mm = 14.0 + CHARACTER_MM * max(map(len, matrix.columns)) + (1.2 + 3.0 * lines) * len(matrix)
        figure = NotebookFigure(figsize=(width_mm * MM, height_mm * MM), layout="constrained")
        axes = figure.subplots()
        for column, name in enumerate(matrix):
            colour = STATUS_COLOURS["failed" if name == "failed" else "rejected" if name in REJECTING else "caution"]
            for row, share in enumerate(matrix[name]):
                known = not np.isnan(share)
                face = colour if known and share > 0.0 else STATUS_COLOURS["ok"] if known else "white"
                alpha = 0.35 + 0.65 * share if known and share > 0.0 else 1.0
                axes.add_patch(mpl.patches.Rectangle((column, row), 0.94, 0.9, color=face, alpha=alpha, linewidth=0.0))
                if known and share > 0.0 and not single:
                    axes.text(
                        column + 0.47, row + 0.45, f"{100.0 * share:.0f} %", ha="center", va="center", fontsize=6.5
                    )
        axes.set(xlim=(0.0, max(len(matrix.columns), 6)), ylim=(len(matrix), 0.0))
        axes.set_xticks(np.arange(len(matrix.columns)) + 0.47, matrix.columns, rotation=90)
        axes.xaxis.tick_top()
        axes.set_yticks(np.arange(len(matrix)) + 0.45, names, parse_math=False)
        axes.tick_params(length=0.0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        heading(figure, wrapped_heading(title, width_mm))
    return figure
