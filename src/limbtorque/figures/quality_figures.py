"""Figures of the quality: a matrix of flags, and the cut-off of a trial's filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limbtorque.figures.palette import CHOSEN, CRITERION, RESIDUAL, STATUS_COLOURS, WASH, tint
from limbtorque.figures.panels import BELOW_MM, LEFT_MM, TITLE_MM, place_panels
from limbtorque.figures.pictures import NotebookFigure
from limbtorque.figures.style import (
    CHARACTER_MM,
    MM,
    NAME_SIZE,
    ONE_COLUMN_MM,
    STYLE,
    TWO_COLUMNS_MM,
    drawn_panels,
    heading,
    shared_legend,
    wrapped,
    wrapped_heading,
)
from limbtorque.signals.cutoff import CutoffChoice

MEANINGS = {"ok": "not raised", "caution": "raised", "rejected": "raised, and rejects", "failed": "failed"}
FACES = {**STATUS_COLOURS, "ok": tint(STATUS_COLOURS["ok"], WASH)}  # of a cell
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
    """Share of each row's trials that failed, and that have each flag."""
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
        patches = [mpl.patches.Patch(color=FACES[name], label=MEANINGS[name]) for name in there]
        figure.legend(handles=patches, loc="outside lower left", ncols=columns, frameon=False)
        heading(figure, wrapped_heading(title, width_mm))
    return figure


def _draw_cells(axes: Axes, matrix: pd.DataFrame, status: pd.DataFrame, *, shares: bool) -> None:
    """Draw a rectangle for each row and flag, in the colour of its status."""
    for column, name in enumerate(matrix):
        for row, (share, worst) in enumerate(zip(matrix[name], status[name], strict=True)):
            raised = worst not in ("", "ok")
            face, alpha = FACES.get(worst, "white"), 0.35 + 0.65 * share if raised else 1.0
            axes.add_patch(mpl.patches.Rectangle((column, row), 0.94, 0.9, color=face, alpha=alpha, linewidth=0.0))
            if raised and shares:
                text = f"{100.0 * share:.0f} %"
                axes.text(column + 0.47, row + 0.45, text, ha="center", va="center", fontsize=6.5)


CRITERION_NAMES = {
    "expected_error": "expected squared error\nof the acceleration",
    "gcv": "squared error of\nprediction",
    "autocorrelation": "autocorrelation\nof the residual",
}


def cutoff_figure(
    choices: Sequence[CutoffChoice],
    *,
    title: str,
    unit: str,
    names: Sequence[str] = ("",),
    used_hz: Sequence[float] = (),
    noise: float | None = None,
    width_mm: float = TWO_COLUMNS_MM,
    only: Sequence[str] = (),
) -> Figure:
    """Figure of the cut-off of the filter: residual, criterion and choice.

    Parameters
    ----------
    choices : sequence of CutoffChoice
        Choices with the curves they were made from.
    title : str
        Title.
    unit : str
        Unit of the signal: m is drawn in mm.
    names : sequence of str, optional
        Signal of each choice.
    used_hz : sequence of float, optional
        Cut-offs that were used, one or one for each choice, Hz, where they are others than the choices.
    noise : float, optional
        Standard deviation of the noise, in the unit of the signal, as the ledger has it (``noise_m``); where it is not
        given, that of each choice.
    width_mm : float, optional
        Width, mm; in one column there are at most six panels.
    only : sequence of str, optional
        Signals that are drawn, in this order; all where none is given (`figures.joints`).

    Returns
    -------
    matplotlib.figure.Figure
        For each choice the residual over the cut-off, with the choice, the noise and, of a residual analysis, its line; and beside
        or below it the criterion, where that is something else.
    """
    wide = width_mm > ONE_COLUMN_MM
    both = choices[0].by != "residual"
    used = list(used_hz) * (len(choices) if len(used_hz) == 1 else 1) or [choice.cutoff_hz for choice in choices]
    drawn, left_out = drawn_panels(names, width_mm, only=only, each=1 + both)
    parts = dict(zip(names, zip(choices, used, strict=True), strict=True))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        beside = wide == (len(drawn) == 1)  # residual and criterion side by side, a row for each choice
        across, down = (1 + both, len(drawn)) if beside else (len(drawn), 1 + both)
        figure = NotebookFigure()
        share: dict[str, Any] = {"sharex": "row", "sharey": "col"} if beside else {"sharex": "col", "sharey": "row"}
        grid = figure.subplots(down, across, squeeze=False, **share)
        for number, name in enumerate(drawn):
            choice, own_hz = parts[name]
            panels = grid[number] if beside else grid[:, number]
            panels[0].set_title(f"{name} {choice.cutoff_hz:.1f} Hz".strip(), loc="left", fontsize=NAME_SIZE)
            own_noise = choice.noise if noise is None else noise
            _draw_residual(panels[0], choice, unit, noise=own_noise, tight=beside and not wide)
            if both:
                _draw_criterion(panels[1], choice)
            for axes in panels:
                axes.axvline(choice.cutoff_hz, color=CHOSEN, linewidth=0.8, label="chosen from the data")
                if abs(own_hz - choice.cutoff_hz) > 1e-9:
                    axes.axvline(own_hz, color="black", linewidth=0.8, linestyle="--", label="used")
        for axes in grid[-1]:
            axes.set_xlabel("cut-off (Hz)")
        for axes in grid[:, 1:].ravel() if not beside else ():
            axes.set_ylabel("")
        place_panels(
            figure,
            grid,
            width_mm=width_mm,
            heights_mm=[40.0] * down,
            gaps_mm=[TITLE_MM, *[TITLE_MM + (BELOW_MM if beside else 0.0)] * (down - 1)],
            legend_mm=shared_legend(figure, grid.ravel(), width_mm),
            title=wrapped_heading(title + left_out, width_mm),
            between_mm=LEFT_MM + 3.0 if beside else 4.0,
        )
        for axes in (grid[:, 1] if beside else grid[1]) if both else ():  # three lines, and short tick labels
            axes.yaxis.set_label_coords(-7.0 / (axes.get_position().width * width_mm), 0.5)
    return figure


def _draw_residual(axes: Axes, choice: CutoffChoice, unit: str, *, noise: float, tight: bool) -> None:
    scale, shown = (1e3, "mm") if unit == "m" else (1.0, unit)
    axes.plot(choice.grid_hz, scale * choice.residual, color=RESIDUAL, label="residual")
    intercept, slope = (scale * value for value in choice.line)
    if np.isfinite(intercept):
        line = intercept + slope * choice.grid_hz
        above = line > 0.0
        axes.plot(choice.grid_hz[above], line[above], color="black", linewidth=0.7, label="line fitted to the noise")
    if noise > 0.0:
        axes.axhline(scale * noise, color="black", linewidth=0.7, linestyle=":", label="noise")
    axes.set_yscale("log")
    axes.set_xscale("log")
    ticks = [
        hz
        for hz in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
        if choice.grid_hz[0] <= hz <= choice.grid_hz[-1]
    ]
    ticks = ticks[::2] if tight else ticks
    axes.set_xticks(ticks, [f"{hz:g}" for hz in ticks])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel(f"rms residual ({shown})")


def _draw_criterion(axes: Axes, choice: CutoffChoice) -> None:
    """Draw the criterion relative to its minimum; it is known only up to a constant."""
    span = float(np.ptp(choice.criterion)) or 1.0
    axes.plot(choice.grid_hz, 100.0 * (choice.criterion - choice.criterion.min()) / span, color=CRITERION)
    axes.set_ylim(-0.5, 10.0)
    axes.set_ylabel(f"{CRITERION_NAMES[choice.by]}\nabove its minimum (% of range)")
