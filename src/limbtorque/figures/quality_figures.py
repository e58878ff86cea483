"""Figure of the cut-off of a trial's filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limbtorque.figures.palette import CHOSEN, CRITERION, RESIDUAL
from limbtorque.figures.panels import BELOW_MM, LEFT_MM, TITLE_MM, place_panels
from limbtorque.figures.pictures import NotebookFigure
from limbtorque.figures.style import (
    NAME_SIZE,
    ONE_COLUMN_MM,
    STYLE,
    TWO_COLUMNS_MM,
    drawn_panels,
    shared_legend,
    wrapped_heading,
)
from limbtorque.signals.cutoff import CutoffChoice

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
