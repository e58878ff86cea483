"""Tables, page section and figure of `peers.py`."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from parts.peers_measure import OURS, Measured, Row

from limbtorque.figures.style import MM, STYLE, TWO_COLUMNS_MM, save_figure

START, END = "<!-- begin: printed by benchmarks/peers.py -->", "<!-- end -->"
AS_FAST = 1.25  # medians that are closer than this, and whose quartiles overlap
COLOUR, OTHER = "#0072B2", "0.45"


def table(measured: Measured) -> str:
    """Table in Markdown, ours first; a way that was not measured says why."""
    lines = [f"| program | median ({measured.unit}) | ours is faster, times | agreement |", "| --- " * 4 + "|"]
    lines += [f"| {' | '.join(_cells(row, measured))} |" for row in measured.rows]
    return "\n".join(lines)


def _cells(row: Row, measured: Measured) -> list[str]:
    words = [row.program, *row.how.split(", ")]
    name = ", ".join(word for word in words if not measured.title.endswith(f", {word}"))
    if not row.times:
        why = row.why.replace("|", "/") or "no reason known"
        return [name, "not measured", "", why]
    return [name, number(row.median), ahead(row, measured.rows[0]), row.agreement]


def number(value: float) -> str:
    """Three digits, without an exponent."""
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{digits}f}"


def ahead(row: Row, ours: Row) -> str:
    """How many times as long as ours a way takes, in words where ours is not ahead."""
    if row is ours:
        return ""
    ratio = row.median / ours.median
    slower = max(ratio, 1.0 / ratio)
    times = f"{slower:.1f}" if slower < 10.0 else f"{slower:.0f}"
    if row.program == OURS:
        return f"({ratio:.1f})"
    overlap = row.quartiles[0] <= ours.quartiles[1] and ours.quartiles[0] <= row.quartiles[1]
    if overlap and 1.0 / AS_FAST < ratio < AS_FAST:
        return f"**as fast** ({ratio:.2f})"
    if ratio > 1.0:
        return times
    return f"**slower, {times}**"


def not_ahead(everything: Sequence[Measured]) -> list[str]:
    """Titles of the works in which ours is not ahead of all."""
    return [
        measured.title
        for measured in everything
        if any(ahead(row, measured.rows[0]).startswith("**") for row in measured.rows[1:] if row.times)
    ]


def section(everything: Sequence[Measured], *, about: str, figure: str) -> str:
    """The section of the page."""
    missing = sorted({f"{row.program} ({row.why})" for m in everything for row in m.rows if not row.times})
    behind = not_ahead(everything)
    versions = dict.fromkeys(f"{row.program} {row.version}" for m in everything for row in m.rows if row.version)
    parts = [
        "## Beside other programs (`peers.py`)",
        f"{datetime.date.today()}: {about[:1].lower()}{about[1:]} All programs had the same inputs, and their numbers were compared with ours first. Times are "
        f"medians of alternating runs. {', '.join(versions)}.",
        *(["Not measured: " + "; ".join(missing) + "."] if missing else []),
        f"limbtorque is slower, in bold, in: {'; '.join(behind)}." if behind else "Ours is ahead in every row.",
        f"![Times of limbtorque and other programs in nine panels, on logarithmic axes]({figure})\n\n*Medians and quartiles of the times, shorter is better; filled: ours. Made by `benchmarks/peers.py`.*",
    ]
    parts += [f"### {m.title}\n\n{m.note}\n\n{table(m)}" for m in everything]
    return "\n\n".join(parts)


def put_in(page: str, text: str) -> str:
    """The page with the text between its two marks."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"the page has not both marks, {START} and {END}")
    return f"{before}{START}\n{text}\n{END}{after}"


def draw(everything: Sequence[Measured], path: Path) -> None:
    """A panel for each work, a line for each way."""
    columns = 2
    pairs = [everything[k : k + columns] for k in range(0, len(everything), columns)]
    heights = [max(len(m.rows) for m in pair) + 2.6 for pair in pairs]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, 4.6 * MM * sum(heights)), layout="constrained")
        panels = list(figure.subplots(len(pairs), columns, height_ratios=heights, squeeze=False).flat)
        for axes, measured in zip(panels, everything, strict=False):
            _draw_panel(axes, measured)
        for axes in panels[len(everything) :]:
            axes.remove()
        save_figure(figure, path)


def _own_name(row: Row, measured: Measured) -> str:
    """Name of one of several ways of a program: with the first part of its description that is not that of all."""
    parts = [other.how.split(", ") for other in measured.rows if other.program == row.program]
    place = next((k for k, same in enumerate(zip(*parts, strict=False)) if len(set(same)) > 1), 0)
    return f"{row.program}, {row.how.split(', ')[place].partition(':')[0]}"


def _draw_panel(axes: Axes, measured: Measured) -> None:
    programs = [row.program for row in measured.rows]
    names = [row.program if programs.count(row.program) == 1 else _own_name(row, measured) for row in measured.rows]
    for y, row in enumerate(measured.rows):
        colour = COLOUR if row.program == OURS else OTHER
        face = colour if row.program == OURS else "white"
        if row.times:
            axes.plot(row.quartiles, (y, y), color=colour, linewidth=2.5, alpha=0.5, solid_capstyle="butt")
            axes.plot(row.median, y, "o", color=colour, markersize=4.5, markerfacecolor=face)
        else:
            axes.text(0.02, y, "not measured", transform=axes.get_yaxis_transform(), va="center", color=OTHER)
    if measured.rows[0].times:
        axes.axvline(measured.rows[0].median, color=COLOUR, linewidth=0.6, alpha=0.5, zorder=0.5)
    axes.set_yticks(range(len(names)), names)
    axes.set(xscale="log", xlabel=measured.unit, ylim=(len(names) - 0.5, -0.5))
    axes.set_title(measured.title, loc="right")
    low, high = axes.get_xlim()
    digits = (1.0,) if high / low > 100.0 else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=digits, numticks=12))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
