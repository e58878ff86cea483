"""Specification curve: an estimate in all universes, with their choices below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
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
CURVE_MM, ROW_MM = 52.0, 3.4
LONGEST = 30  # characters of a label in a line


@dataclass(frozen=True)
class Specifications:
    """An outcome in all universes, the study's own first.

    Attributes
    ----------
    estimate, low, high : ndarray of shape (n_universes,)
        Estimate and its 95 % interval.
    rejected : ndarray of shape (n_universes,)
        Trials that a universe rejects and the study does not.
    options : sequence of str
        Options that differ.
    labels : sequence of sequence of str
        Values of each option.
    places : ndarray of int, shape (n_universes, n_options)
        Which value each universe has.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    rejected: FloatArray
    options: Sequence[str]
    labels: Sequence[Sequence[str]]
    places: NDArray[np.int64]

    @property
    def clear(self) -> BoolArray:
        """Universes whose interval does not hold 0."""
        return np.asarray((self.low > 0.0) | (self.high < 0.0))

    @property
    def agreeing(self) -> BoolArray:
        """Universes with the sign of the study's own."""
        return np.asarray(np.sign(self.estimate) == np.sign(self.estimate[0]))


def specification_figure(
    specifications: Specifications, *, title: str, unit: str, width_mm: float = TWO_COLUMNS_MM
) -> Figure:
    """Figure of the estimates in order, above the choices of each universe.

    Parameters
    ----------
    specifications : Specifications
        The universes.
    title : str
        Contrast and outcome.
    unit : str
        Unit of the estimates.
    width_mm : float, optional
        Width, mm.
    """
    each = specifications
    order = np.argsort(np.where(np.isnan(each.estimate), np.inf, each.estimate), kind="stable")
    n_rows = sum(len(labels) + 1 for labels in each.labels)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = paper_figure(CURVE_MM + ROW_MM * n_rows + 24.0, width_mm)
        curve, choices = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": [CURVE_MM, ROW_MM * max(n_rows, 1)]}
        )
        _draw_curve(curve, each, order)
        curve.set_ylabel(f"difference ({unit}),\nflexion positive")
        _draw_choices(choices, each, order)
        choices.set_xlabel(f"{len(order)} universes, by their estimate")
        shared_legend(figure, [curve], width_mm)
        heading(figure, wrapped_heading(title, width_mm))
    return figure


def _draw_curve(axes: Axes, each: Specifications, order: NDArray[np.int64]) -> None:
    """Draw the estimates with their intervals."""
    at, size = np.arange(len(order)), _size(len(order))
    parts = ((True, CLEAR, "interval without 0"), (False, UNCLEAR, "interval with 0"))
    for clear, colour, label in parts:
        of = each.clear[order] == clear
        if of.any():
            chosen = order[of]
            axes.vlines(at[of], each.low[chosen], each.high[chosen], color=tint(CLEAR, 0.45) if clear else "0.8")
            axes.plot(at[of], each.estimate[chosen], "o", color=colour, markersize=size, label=label)
    fewer = each.rejected[order] > 0
    if fewer.any():
        look = {"markersize": 0.5 * size, "color": "white"}
        axes.plot(at[fewer], each.estimate[order][fewer], "o", **look)  # type: ignore[arg-type]
        axes.plot([], [], "o", markerfacecolor="white", color="0.4", markersize=size, label="more trials rejected")
    own = int(np.flatnonzero(order == 0)[0])
    look = {"color": "black", "markerfacecolor": "white", "markersize": size + 2.5, "zorder": 4}
    axes.plot([own], each.estimate[:1], "D", label="options of the study", **look)  # type: ignore[arg-type]
    axes.axhline(0.0, color="0.4", linewidth=0.6, zorder=0)


def _draw_choices(axes: Axes, each: Specifications, order: NDArray[np.int64]) -> None:
    """Draw a mark for the value of each option in each universe."""
    at, ticks, names, y = np.arange(len(order)), [], [], 0
    for option, labels, of_universe in zip(each.options, each.labels, each.places.T, strict=True):
        axes.text(0.0, y, option, transform=axes.get_yaxis_transform(), va="center", fontsize=6.5, fontweight="bold")
        for value, label in enumerate(labels):
            y += 1
            for clear, colour in ((True, CLEAR), (False, UNCLEAR)):
                chosen = (of_universe[order] == value) & (each.clear[order] == clear)
                axes.plot(at[chosen], np.full(chosen.sum(), y), "|", color=colour, markersize=6.0)
            ticks.append(y)
            names.append(wrapped(label, most=LONGEST))
        y += 1
    axes.set_yticks(ticks, names, parse_math=False, fontsize=6.5)
    axes.set_ylim(y - 0.5, -0.7)
    axes.set_xlim(-1.0, len(order))
    axes.set_xticks([])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(left=False)


def _size(n: int) -> float:
    return float(np.clip(160.0 / n, 1.6, 3.4))
