"""Contrasts: means, difference with its limits, and the terms that add up to it."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from limbtorque.arrays import FloatArray, runs
from limbtorque.figures.palette import LINE_COLOURS, TERM_COLOURS, WASH, tint
from limbtorque.figures.pictures import NotebookFigure
from limbtorque.figures.style import MM, STYLE, TWO_COLUMNS_MM, heading, shared_legend, wrapped, wrapped_heading
from limbtorque.figures.terms import TERM_NAMES
from limbtorque.study.options.contrasts import LEVEL
from limbtorque.tables.column import without_unit

NET = "net"
FIRST, SECOND, DIFFERENCE = *LINE_COLOURS[:2], "black"
DIFFERS = tint(LINE_COLOURS[3], 0.3)
MOST_COLUMNS = 3
HIGHEST_MM = 230.0  # of a page


def contrast_figure(
    numbers: pd.DataFrame, curves: pd.DataFrame, *, title: str, width_mm: float = TWO_COLUMNS_MM, axis: str = "%"
) -> Figure:
    """Figure of a contrast.

    Parameters
    ----------
    numbers : pandas.DataFrame
        Its rows of `results/contrasts.csv`.
    curves : pandas.DataFrame
        Its rows of `results/contrast_curves.csv`.
    title : str
        Title.
    width_mm : float, optional
        Width, mm.
    axis : str, optional
        Label of the axis of 0 to 100 %.

    Returns
    -------
    matplotlib.figure.Figure
        For each curve, from above: the means; the difference with its limits at each point, and those that hold for the whole
        curve; and, of a net torque, its terms, which add up to the difference. Below, the same of numbers, a panel for each
        unit. Flexion positive. At most `HIGHEST_MM` high.
    """
    outcomes = list(dict.fromkeys(curves["outcome"]))
    with_terms, with_net = (
        set(numbers.loc[numbers["term"].isin(terms), "outcome"]) for terms in (TERM_COLOURS, (NET,))
    )
    sums = numbers[numbers["outcome"].isin(with_terms & with_net)]
    of_numbers = [rows for _, rows in sums[~sums["outcome"].isin(outcomes)].groupby("unit", sort=False)]
    columns = max(min(len(outcomes), MOST_COLUMNS if width_mm > 100.0 else 1), 1)
    blocks = -(-len(outcomes) // columns)
    heights = [38.0] * 3 * blocks + [14.0 + 9.0 * len(_places(rows)) for rows in of_numbers]
    height_mm = min(34.0 + sum(heights) + 6.0 * len(heights), HIGHEST_MM)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = NotebookFigure(figsize=(width_mm * MM, height_mm * MM), layout="constrained")
        grid = figure.add_gridspec(max(len(heights), 1), columns, height_ratios=heights or [1.0])
        panels: list[Axes] = []
        for k, outcome in enumerate(outcomes):
            row, column = 3 * (k // columns), k % columns
            panels += _curve_panels(figure, grid, row, column, curves[curves["outcome"] == outcome], numbers, axis)
        for k, rows in enumerate(of_numbers):
            axes = figure.add_subplot(grid[3 * blocks + k, :])
            _draw_numbers(axes, rows)
            panels.append(axes)
        shared_legend(figure, panels, width_mm)
        heading(figure, wrapped_heading(title, width_mm))
    return figure


def _curve_panels(
    figure: Figure,
    grid: GridSpec,
    row: int,
    column: int,
    curve: pd.DataFrame,
    numbers: pd.DataFrame,
    axis: str,
) -> list[Axes]:
    """Panels of one curve, in a column."""
    whole = curve[curve["term"].isin([NET, ""])]
    terms = curve[curve["term"].isin(TERM_COLOURS)]
    about = numbers[numbers["outcome"] == whole["outcome"].iloc[0]].iloc[0]
    means = figure.add_subplot(grid[row, column])
    difference = figure.add_subplot(grid[row + 1, column], sharex=means)
    percent = whole["percent"].to_numpy(dtype=float)
    for name, level, colour in (("first", "mean_first", FIRST), ("second", "mean_second", SECOND)):
        known = whole[level].where(whole["estimate"].notna())  # beyond, one subject alone may be left
        means.plot(percent, known, color=colour, label=f"mean, {about[name]}")
    means.set_title(without_unit(whole["outcome"].iloc[0], whole["unit"].iloc[0]), loc="left", fontweight="bold")
    _draw_difference(difference, whole, percent)
    panels = [means, difference]
    if len(terms):
        panels.append(figure.add_subplot(grid[row + 2, column], sharex=means))
        _draw_terms(panels[-1], whole, terms, percent)
    for axes, text in zip(panels, ("mean", "difference", "difference by term"), strict=False):
        axes.axhline(0.0, color="0.6", linewidth=0.5, zorder=0)
        axes.set_ylabel(f"{text} ({whole['unit'].iloc[0]})" if column == 0 else whole["unit"].iloc[0])
    panels[-1].set_xlabel(axis)
    means.set_xlim(percent[0], percent[-1])
    return panels


def _draw_difference(axes: Axes, whole: pd.DataFrame, percent: FloatArray) -> None:
    """Draw the difference with its limits, threshold, and where it differs from 0."""
    for end in ("low", "high"):
        label = "95 % limits at each point" if end == "low" and whole[end].notna().any() else None
        axes.plot(percent, whole[end], color=DIFFERENCE, linewidth=0.6, linestyle=":", label=label)
    low, high = (whole[name].to_numpy(dtype=float) for name in ("low_simultaneous", "high_simultaneous"))
    threshold = whole["threshold"].to_numpy(dtype=float)
    if np.isfinite(low).any():
        grey = tint("#000000", WASH)
        axes.fill_between(percent, low, high, color=grey, linewidth=0.0, label="95 % limits of the whole curve")
    axes.plot(percent, whole["estimate"], color=DIFFERENCE, label="difference")
    for sign in (1.0, -1.0) if np.isfinite(threshold).any() else ():
        label = "threshold of the test (5 %)" if sign > 0.0 else None
        axes.plot(percent, sign * threshold, color="0.4", linewidth=0.6, linestyle=(0, (3, 2)), label=label)
    p = whole["p_adjusted"].to_numpy(dtype=float)
    for k, (start, stop) in enumerate(runs(p <= LEVEL)):
        label = "differs (adjusted p above it)" if k == 0 else None
        axes.axvspan(percent[start], percent[stop - 1], color=DIFFERS, linewidth=0.0, zorder=0, label=label)
        axes.text(
            *((percent[start] + percent[stop - 1]) / 2.0, 1.0),
            f"{p[start:stop].min():.2g}",
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=6.5,
        )


def _draw_terms(axes: Axes, whole: pd.DataFrame, terms: pd.DataFrame, percent: FloatArray) -> None:
    """Stack the terms of a difference, positive upwards, negative downwards."""
    above, below = np.zeros(len(percent)), np.zeros(len(percent))
    for kind, colour in TERM_COLOURS.items():
        values = terms.loc[terms["term"] == kind, "estimate"].to_numpy(dtype=float)
        if not values.size or not (np.nan_to_num(values) != 0.0).any():
            continue
        for base, part in ((above, np.maximum(values, 0.0)), (below, np.minimum(values, 0.0))):
            label = TERM_NAMES[kind] if base is above else None
            axes.fill_between(percent, base, base + part, color=colour, linewidth=0.0, label=label)
            base += np.nan_to_num(part)
    axes.plot(percent, whole["estimate"], color=DIFFERENCE, label="difference")


def _places(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Outcome and joint of each bar."""
    return list(dict.fromkeys(zip(rows["outcome"], rows["joint"], strict=True)))


def _draw_numbers(axes: Axes, rows: pd.DataFrame) -> None:
    """Stack the terms of differences of numbers, with the net one and its interval."""
    names = []
    for at, (outcome, joint) in enumerate(_places(rows)):
        of_place = rows[(rows["outcome"] == outcome) & (rows["joint"] == joint)].set_index("term")
        ends = {True: 0.0, False: 0.0}
        for kind, colour in TERM_COLOURS.items():
            value = float(of_place["estimate"].get(kind, 0.0))
            if value and not np.isnan(value):
                label = TERM_NAMES[kind]
                axes.barh(at, value, left=ends[value > 0.0], height=0.62, color=colour, label=label)
                ends[value > 0.0] += value
        net = of_place.loc[NET]
        spread = [[net["estimate"] - net["low"]], [net["high"] - net["estimate"]]]
        limits = None if np.isnan(spread).any() else np.abs(spread)
        look: dict[str, Any] = {"color": "black", "markersize": 3.5, "capsize": 2.0, "markerfacecolor": "white"}
        axes.errorbar([net["estimate"]], [at], xerr=limits, fmt="D", label="difference, 95 % interval", **look)
        p = net["p_adjusted"]
        names.append(wrapped(f"{joint}, {outcome}", most=30) + ("" if np.isnan(p) else f"\np = {p:.2g}"))
    axes.axvline(0.0, color="0.6", linewidth=0.5, zorder=0)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(f"difference ({rows['unit'].iloc[0]}), flexion positive")
