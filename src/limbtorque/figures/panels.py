"""Panels with fixed margins, without a layout engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from limbtorque.figures.pictures import NotebookFigure
from limbtorque.figures.style import MM, ONE_COLUMN_MM, STYLE, heading, shared_legend, wrapped_heading

Grid: TypeAlias = NDArray[np.object_]

LEFT_MM = 17.0  # label of the y axis, and tick labels of seven characters
YLABEL_MM = 13.0  # from the axis to its label
RIGHT_MM = 3.5
BELOW_MM = 9.8  # tick labels, and the label of the x axis
XLABEL_MM = 5.8  # from the axis to its label
TITLE_MM = 5.4  # title of a panel
ABOVE_MM, HEADING_LINE_MM = 1.5, 3.6  # above the heading, and each of its lines
SIDES: tuple[Literal["left", "center", "right"], ...] = ("left", "center", "right")  # of titles
_USED: ContextVar[dict[tuple[str, int, int], tuple[Figure, Grid]] | None] = ContextVar("figures", default=None)


def place_panels(
    figure: Figure,
    grid: Grid,
    *,
    width_mm: float,
    heights_mm: Sequence[float],
    gaps_mm: Sequence[float],
    legend_mm: float,
    title: str,
    between_mm: float = LEFT_MM,
) -> None:
    """Set the size and the heading of a figure, and the places of its panels.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    grid : ndarray of Axes, shape (n_rows, n_columns)
        Its panels.
    width_mm : float
        Width of the figure, mm.
    heights_mm, gaps_mm : sequence of float
        Height of each row's panels and of the gap above them, mm; the first gap is below the heading.
    legend_mm : float
        Height of the legend below the panels, mm.
    title : str
        The heading, in lines.
    between_mm : float, optional
        Gap between columns, mm.
    """
    top_mm = ABOVE_MM + HEADING_LINE_MM * (title.count("\n") + 1)
    height_mm = top_mm + sum(heights_mm) + sum(gaps_mm) + BELOW_MM + legend_mm
    figure.set_size_inches(width_mm * MM, height_mm * MM)
    heading(figure, title, y=1.0 - ABOVE_MM / height_mm)
    columns = grid.shape[1]
    wide_mm = (width_mm - LEFT_MM - RIGHT_MM - (columns - 1) * between_mm) / columns
    for row, tall_mm, gap_mm in zip(grid, heights_mm, gaps_mm, strict=True):
        top_mm += gap_mm
        for column, axes in enumerate(row):
            place_axes(figure, axes, (LEFT_MM + column * (wide_mm + between_mm), top_mm, wide_mm, tall_mm))
        top_mm += tall_mm


def place_axes(figure: Figure, axes: Axes, place_mm: tuple[float, float, float, float]) -> None:
    """Place axes and their labels.

    The place is the distance from the left and the top of the figure, the width and the height, mm.
    """
    left_mm, top_mm, wide_mm, tall_mm = place_mm
    width_mm, height_mm = figure.get_size_inches() / MM
    bottom_mm = height_mm - top_mm - tall_mm
    axes.set_position((left_mm / width_mm, bottom_mm / height_mm, wide_mm / width_mm, tall_mm / height_mm))
    axes.yaxis.set_label_coords(-YLABEL_MM / wide_mm, 0.5)
    axes.xaxis.set_label_coords(0.5, -XLABEL_MM / tall_mm)


def stacked_panels(draw: Callable[[Axes, int], None], n: int, *, title: str, width_mm: float) -> Figure:
    """Figure of panels over one time axis, one below the other, with one legend.

    Parameters
    ----------
    draw : callable
        Draws on the axes of a panel, given its number.
    n : int
        Number of panels.
    title : str
        Title.
    width_mm : float
        Width, mm.
    """
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, grid = blank_panels(n)
        for k, axes in enumerate(grid[:, 0]):
            draw(axes, k)
        grid[-1, 0].set_xlabel("time (s)")
        legend_mm = shared_legend(figure, grid[:, 0], width_mm)
        titled = any(axes.get_title(loc) for axes in grid[:, 0] for loc in ("left", "right"))
        gap_mm = TITLE_MM + 2.0 if titled else 4.0
        place_panels(
            figure,
            grid,
            width_mm=width_mm,
            heights_mm=[38.0 if width_mm > ONE_COLUMN_MM else 28.0] * n,
            gaps_mm=[TITLE_MM if titled else 1.0, *[gap_mm] * (n - 1)],
            legend_mm=legend_mm,
            title=wrapped_heading(title, width_mm),
        )
    return figure


def cell_panels(
    draw: Callable[[Grid, int], None],
    n: int,
    *,
    title: str,
    width_mm: float,
    use: str,
    heights_mm: Sequence[float],
    above_mm: float = TITLE_MM,
    within_mm: float = 0.0,
) -> Figure:
    """Figure of cells over one time axis, two side by side where they fit, one legend.

    Parameters
    ----------
    draw : callable
        Draws on the axes of a cell, from top to bottom, given its number.
    n : int
        Number of cells.
    title : str
        Title, in lines.
    width_mm : float
        Width, mm.
    use : str
        As of `blank_panels`.
    heights_mm : sequence of float
        Height of each of a cell's panels, mm.
    above_mm, within_mm : float, optional
        Height of a cell's title, and of the gap between its panels, mm.
    """
    across, panels = 2 if width_mm > ONE_COLUMN_MM else 1, len(heights_mm)
    rows = max(-(-n // across), 1)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, grid = blank_panels(panels * rows, across, use=use)
        for number in range(rows * across):
            row, column = divmod(number, across)
            cell = grid[panels * row : panels * (row + 1), column]
            for axes in cell:
                axes.set_axis_on() if number < n else axes.set_axis_off()
            if number < n:
                draw(cell, number)
                last = number + across >= n
                cell[-1].set_xlabel("time (s)" if last else "")
                cell[-1].tick_params(labelbottom=last)
        within = [within_mm] * (panels - 1)
        place_panels(
            figure,
            grid,
            width_mm=width_mm,
            heights_mm=[*heights_mm] * rows,
            gaps_mm=[above_mm, *within, *[above_mm + 2.0, *within] * (rows - 1)],
            legend_mm=shared_legend(figure, grid.ravel(), width_mm),
            title=title,
        )
    return figure


def blank_panels(rows: int, columns: int = 1, *, use: str = "stacked") -> tuple[Figure, Grid]:
    """Figure with empty panels over one x axis; used again in `reused_figures`.

    Parameters
    ----------
    rows, columns : int
        Number of rows and columns of panels.
    use : str, optional
        Figures of another use set ticks in another way: only one of the same use and shape is used again.

    Returns
    -------
    figure : matplotlib.figure.Figure
        The figure.
    grid : ndarray of Axes, shape (rows, columns)
        Its panels.
    """
    used = _USED.get()
    if used is not None and (use, rows, columns) in used:
        return _emptied(*used[use, rows, columns])
    figure = NotebookFigure()
    grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for axes in grid.ravel():
        axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    if used is not None:
        used[use, rows, columns] = figure, grid
        FigureCanvasAgg(figure)  # which remembers sizes of texts
    return figure, grid


@contextmanager
def reused_figures() -> Iterator[None]:
    """Reuse figures; each is valid until the next figure of its layout is drawn.

    Axes cost more than what is drawn on them. Outside of this context every figure is new.
    """
    token = _USED.set({})
    try:
        yield
    finally:
        _USED.reset(token)


def _emptied(figure: Figure, grid: Grid) -> tuple[Figure, Grid]:
    """Remove what `blank_panels` did not make, but the legend."""
    for axes in grid.ravel():
        for artist in (*axes.lines, *axes.patches, *axes.collections, *axes.texts):
            artist.remove()
        for side in SIDES:
            axes.set_title("", loc=side)
        axes.set(xlabel="", ylabel="")
        axes.relim()
        axes.margins(mpl.rcParams["axes.xmargin"], mpl.rcParams["axes.ymargin"])
        axes.autoscale()
    return figure, grid
