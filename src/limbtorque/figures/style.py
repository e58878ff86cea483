"""Common style: sizes, fonts, headings, legend, shaded frames, saving."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.figures.palette import EDGE, UNKNOWN
from limbtorque.figures.pictures import NotebookFigure, write_picture
from limbtorque.study.files import whole_file

MM = 1.0 / 25.4
NAME_SIZE = 9.0  # of a panel's name; a bold font would take a third of the time of a PDF
ONE_COLUMN_MM, TWO_COLUMNS_MM = 85.0, 180.0
WIDTHS_MM = {"one_column": ONE_COLUMN_MM, "two_columns": TWO_COLUMNS_MM}
MOST_PANELS = 6  # of a figure of one column
HANDLE_MM = 10.0  # width of a legend's symbol
MINUS = "\N{MINUS SIGN}"
EDGE_LABEL = "affected by filter edge effects"
ENTRY_MM, LEGEND_LINE_MM = 4.4, 3.2  # height of an entry of a legend, and of each further line of it
CHARACTER_MM = 1.3  # about the mean width of a character of a legend
STYLE = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.titley": 1.0,  # found anew at each drawing where it is not given
    "axes.labelsize": 8.0,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "svg.hashsalt": "limbtorque",
    "pdf.fonttype": 42,
}


def paper_style() -> AbstractContextManager[None]:
    """Style for print with small fonts and thin lines; a context or decorator."""
    return mpl.rc_context(STYLE)  # type: ignore[arg-type]


def paper_figure(height_mm: float, width_mm: float = TWO_COLUMNS_MM) -> Figure:
    """Empty figure of a size in mm; two columns of a journal wide by default."""
    return NotebookFigure(figsize=(width_mm * MM, height_mm * MM), layout="constrained")


def shade(axes: Axes, time_s: FloatArray, mask: BoolArray, colour: str, label: str, *, lowest: float = 0.0) -> None:
    """Shade the frames of a mask.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    time_s : ndarray of shape (n_frames,)
        Times, s.
    mask : ndarray of bool, shape (n_frames,)
        Which frames.
    colour, label : str
        Colour, and what the legend says.
    lowest : float, optional
        Where the shade begins, as a share of the axes' height.
    """
    step = time_s[1] - time_s[0] if len(time_s) > 1 else 0.0
    for number, (start, stop) in enumerate(runs(mask)):
        axes.axvspan(
            max(time_s[start] - step / 2, time_s[0]),
            min(time_s[stop - 1] + step / 2, time_s[-1]),
            ymin=lowest,
            color=colour,
            linewidth=0.0,
            zorder=0 if lowest == 0.0 else 2,
            label=label if number == 0 else None,
        )


def mark_frames(axes: Axes, table: pa.Table, unknown: BoolArray, *, label: str = "not known") -> None:
    """Shade frames affected by filter edge effects, and frames not known.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    table : pyarrow.Table
        Any table of the trial.
    unknown : ndarray of bool, shape (n_frames,)
        Frames without a value.
    label : str, optional
        Legend of the frames without a value.
    """
    time_s = table.column("time_s").to_numpy()
    shade(axes, time_s, table.column("edge").to_numpy() == 1, EDGE, EDGE_LABEL)
    shade(axes, time_s, unknown, UNKNOWN, label)
    axes.set_xlim(time_s[0], time_s[-1])


def drawn_panels(
    names: Sequence[str], width_mm: float, *, only: Sequence[str] = (), each: int = 1
) -> tuple[list[str], str]:
    """Names with panels, and a title suffix on those left out.

    Parameters
    ----------
    names : sequence of str
        What may have panels, such as the joints of a chain.
    width_mm : float
        Width of the figure, mm.
    only : sequence of str, optional
        Those that are wanted, in their order (`figures.joints`); all where none of them is there.
    each : int, optional
        Number of panels of each.

    Examples
    --------
    >>> drawn_panels(["hip", "knee", "ankle"], 85.0, only=["knee", "hip"], each=6)
    (['knee'], ' (not drawn: hip)')
    """
    wanted = [name for name in only if name in names] or list(names)
    room = MOST_PANELS // each if width_mm <= ONE_COLUMN_MM else len(wanted)
    return wanted[:room], f" (not drawn: {', '.join(wanted[room:])})" if wanted[room:] else ""


def wrapped_heading(title: str, width_mm: float, *more: str) -> str:
    """Title of a figure, wrapped to its width, with sentences below."""
    return "\n".join(textwrap.fill(text, width=round(0.62 * width_mm)) for text in (title, *more) if text)


def heading(figure: Figure, text: str, **place: float) -> None:
    """Title of a figure, at its upper left corner."""
    figure.suptitle(text, fontsize=8.0, x=0.01, ha="left", parse_math=False, **place)


def shared_legend(figure: Figure, panels: Iterable[Axes], width_mm: float) -> float:
    """Add one legend below all panels, in as many columns as fit.

    Each entry occurs once, lines before areas; entries wider than the figure are wrapped.

    Returns
    -------
    float
        Height of the legend, mm.
    """
    room = int((width_mm - HANDLE_MM) / CHARACTER_MM)
    shown: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        shown |= {textwrap.fill(text, room): handle for text, handle in zip(labels, handles, strict=True)}
    order = sorted(shown, key=lambda text: not isinstance(shown[text], Line2D))
    longest = max((len(line) for text in order for line in text.splitlines()), default=1)
    columns = max(1, min(len(order), int(width_mm / (HANDLE_MM + CHARACTER_MM * longest))))
    _add_legend(figure, shown, order, columns)
    lines = [[text.count("\n") + 1 for text in column] for column in np.array_split(np.array(order, object), columns)]
    return 2.0 + max(ENTRY_MM * len(column) + LEGEND_LINE_MM * float(sum(column) - len(column)) for column in lines)


def _add_legend(figure: Figure, shown: Mapping[str, Any], order: Sequence[str], columns: int) -> None:
    """Add a legend in place of an earlier one."""
    for legend in list(figure.legends):
        legend.remove()
    legend = figure.legend(
        [shown[text] for text in order],
        order,
        loc="outside lower center" if figure.get_layout_engine() else "lower center",
        ncols=columns,
        frameon=False,
        borderpad=0.2,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)  # names of conditions may have dollar signs


def wrapped(name: str, *, most: int) -> str:
    """Break a name into lines after blanks, underscores and hyphens.

    Examples
    --------
    >>> wrapped("subject_one_walking_fast", most=12).splitlines()
    ['subject_one_', 'walking_fast']
    """
    lines = [""]
    for part in re.findall(r"[^ _-]*[ _-]?", name):
        if lines[-1] and len(lines[-1] + part.rstrip()) > most:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def note_figure(text: str, *, width_mm: float = TWO_COLUMNS_MM) -> Figure:
    """Figure with a sentence, in place of an empty figure.

    Parameters
    ----------
    text : str
        What to say.
    width_mm : float, optional
        Width, mm.
    """
    lines = textwrap.wrap(text, round(0.62 * width_mm))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = NotebookFigure(figsize=(width_mm * MM, (4.0 + 3.5 * len(lines)) * MM))
        figure.text(0.01, 0.5, "\n".join(lines), va="center", parse_math=False)
    return figure


def save_figure(figure: Figure, path: Path | str, *, palette: bool = False) -> None:
    """Save a figure as its suffix says; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : Path
        A file ending in ``.png`` (200 dots per inch), ``.pdf`` or ``.svg``.
    palette : bool, optional
        Write a PNG with the 256 colours of `figure_palette`, in a third of the time and half of the bytes.
    """
    path = Path(path)
    with mpl.rc_context(STYLE), whole_file(path) as part:  # type: ignore[arg-type]
        write_picture(figure, part, path.suffix, palette=palette)
