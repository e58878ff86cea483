"""Specification curve: an estimate in all universes, with their choices below."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limbtorque.figures.palette import LINE_COLOURS, tint
from limbtorque.figures.style import (
    STYLE,
    TWO_COLUMNS_MM,
    heading,
    paper_figure,
    shared_legend,
    wrapped,
    wrapped_heading,
)

CLEAR, UNCLEAR = LINE_COLOURS[0], "0.62"
KINDS = ((True, CLEAR, tint(CLEAR, 0.45), "interval without 0"), (False, UNCLEAR, "0.8", "interval with 0"))
CURVE_MM, ROW_MM, REST_MM = 52.0, 3.4, 24.0
LONGEST = 30  # characters of a label in a line


def options_of(rows: pd.DataFrame) -> list[str]:
    """Options that change an outcome, from its rows of `results/multiverse.csv`."""
    return [name for name in rows.columns if "." in name and rows[name].any()]


def specification_figure(rows: pd.DataFrame, *, width_mm: float = TWO_COLUMNS_MM) -> Figure:
    """Figure of the estimates in order, above the choices of each universe.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of `results/multiverse.csv` of an outcome; of its terms the first is drawn.
    width_mm : float, optional
        Width, mm.
    """
    first, options = rows.iloc[0], options_of(rows)
    drawn = rows[rows["term"] == first["term"]].sort_values("estimate", kind="stable", ignore_index=True)
    drawn["clear"] = (drawn["low"] > 0.0) | (drawn["high"] < 0.0)
    n_rows = sum(1 + rows[option].nunique() for option in options)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = paper_figure(CURVE_MM + ROW_MM * n_rows + REST_MM, width_mm)
        heights = {"height_ratios": [CURVE_MM, ROW_MM * max(n_rows, 1)]}
        curve, choices = figure.subplots(2, 1, sharex=True, gridspec_kw=heights)
        _draw_curve(curve, drawn)
        curve.set_ylabel(f"difference ({first['unit']}),\nflexion positive")
        _draw_choices(choices, drawn, {option: list(rows[option].unique()) for option in options})
        choices.set_xlabel(f"{len(drawn)} universes, by their estimate")
        shared_legend(figure, [curve], width_mm)
        heading(figure, wrapped_heading(f"{first['contrast']}: {first['joint']} {first['outcome']}", width_mm))
    return figure


def _draw_curve(axes: Axes, drawn: pd.DataFrame) -> None:
    """Draw the estimates with their intervals."""
    size = float(np.clip(160.0 / len(drawn), 1.6, 3.4))
    for clear, colour, pale, label in KINDS:
        part = drawn[drawn["clear"] == clear]
        if len(part):
            axes.vlines(part.index, part["low"], part["high"], color=pale)
            axes.plot(part.index, part["estimate"], "o", color=colour, markersize=size, label=label)
    own, fewer = drawn[drawn["universe"] == 0], drawn[drawn["n_lost"] > 0]
    if len(fewer):
        axes.plot(fewer.index, fewer["estimate"], "o", color="white", markersize=0.5 * size)
        axes.plot([], [], "o", color="0.4", markerfacecolor="white", markersize=size, label="fewer trials")
    look = {"color": "black", "markerfacecolor": "white", "markersize": size + 2.5}
    axes.plot(own.index, own["estimate"], "D", label="options of the study", zorder=4, **look)  # type: ignore[arg-type]
    axes.axhline(0.0, color="0.4", linewidth=0.6, zorder=0)


def _draw_choices(axes: Axes, drawn: pd.DataFrame, labels: dict[str, list[str]]) -> None:
    """Draw a mark for the value of each option in each universe."""
    ticks, y = dict[int, str](), 0
    for option, values in labels.items():
        axes.text(0.0, y, option, transform=axes.get_yaxis_transform(), va="center", fontsize=6.5, fontweight="bold")
        for value in values:
            y += 1
            ticks[y] = wrapped(value, most=LONGEST)
            for clear, colour, *_ in KINDS:
                at = drawn.index[(drawn[option] == value) & (drawn["clear"] == clear)]
                axes.plot(at, np.full(len(at), y), "|", color=colour, markersize=6.0)
        y += 1
    axes.set_yticks([*ticks], [*ticks.values()], parse_math=False, fontsize=6.5)
    axes.set_ylim(y - 0.5, -0.7)
    axes.set_xlim(-1.0, len(drawn))
    axes.set_xticks([])
    axes.tick_params(left=False)
    axes.spines[["left", "bottom"]].set_visible(False)
