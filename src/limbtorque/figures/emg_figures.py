"""Figure of electromyography: envelopes behind the predicted activations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from limbtorque.arrays import FloatArray
from limbtorque.emg.summary import agreement_text, drawn_envelope
from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.figures.panels import TITLE_MM, blank_panels, place_panels
from limbtorque.figures.style import (
    NAME_SIZE,
    ONE_COLUMN_MM,
    STYLE,
    TWO_COLUMNS_MM,
    mark_frames,
    shade,
    shared_legend,
    wrapped_heading,
)
from limbtorque.tables.files import column_array

ENVELOPE, ACTIVE = (LINE_COLOURS[8], 0.45), "#DDAA33"
ROOM = 1.2  # height of a panel over its largest value
METHODS = {"bonato": "active by Bonato et al. (1998)", "hodges_bui": "active by Hodges and Bui (1996)"}


def emg_figure(
    table: pa.Table, rows: Sequence[Mapping[str, Any]], *, title: str, width_mm: float = TWO_COLUMNS_MM
) -> Figure:
    """Figure of a trial: envelopes behind the predicted activations.

    Parameters
    ----------
    table : pyarrow.Table
        Muscle table with columns ``<muscle>_envelope``.
    rows : sequence of mapping
        Rows of the trial's first window in `emg_summary.csv`, for the titles.
    title : str
        Title.
    width_mm : float, optional
        Width, mm: 180 with two muscles side by side; 85 with one.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each muscle. The scale is that of the activation; the envelope is drawn with the height of the panel, as only its
        shape compares where it is normalised by its own peak. A bar at the top marks the activity. Of a dead channel neither is drawn.
    """
    muscles = [name.removesuffix("_envelope") for name in table.column_names if name.endswith("_envelope")]
    about = {row["muscle"]: row for row in rows}
    across = 2 if width_mm > ONE_COLUMN_MM else 1
    n_rows = max(-(-len(muscles) // across), 1)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, grid = blank_panels(n_rows, across, use="electromyography")
        for number, axes in enumerate(grid.ravel()):
            axes.set_axis_on() if number < len(muscles) else axes.set_axis_off()
            if number < len(muscles):
                _draw_muscle(axes, table, muscles[number], about.get(muscles[number], {}))
                last = number + across >= len(muscles)
                axes.set_xlabel("time (s)" if last else "")
                axes.tick_params(labelbottom=last)
        place_panels(
            figure,
            grid,
            width_mm=width_mm,
            heights_mm=[28.0] * n_rows,
            gaps_mm=[2 * TITLE_MM, *[2 * TITLE_MM + 2.0] * (n_rows - 1)],
            legend_mm=shared_legend(figure, grid.ravel(), width_mm),
            title=wrapped_heading(title, width_mm),
        )
    return figure


def _draw_muscle(axes: Axes, table: pa.Table, muscle: str, row: Mapping[str, Any]) -> None:
    """Draw envelope, activation and activity of one muscle."""
    time_s = table.column("time_s").to_numpy()
    envelope = _floats(table, f"{muscle}_envelope")
    predicted = f"{muscle}_activation" in table.column_names
    activation = _floats(table, f"{muscle}_activation") if predicted else envelope
    mark_frames(axes, table, np.isnan(activation), label="activation not known" if predicted else "no samples")
    top = float(np.nanmax(activation, initial=0.0)) or 1.0
    drawn = drawn_envelope(row)
    peak = float(np.nanmax(envelope, initial=0.0)) if drawn else 0.0
    colour, alpha = ENVELOPE
    if peak > 0.0:
        heights = np.nan_to_num(envelope) * top / peak
        text = "envelope of the electromyogram, its peak as high as the activation's" if predicted else "envelope"
        axes.fill_between(time_s, 0.0, heights, color=colour, alpha=alpha, linewidth=0.0, label=text, zorder=1)
    if predicted:
        axes.plot(time_s, activation, color=LINE_COLOURS[0], label="activation by static optimization", zorder=3)
    for method, text in METHODS.items() if drawn else ():
        active = _floats(table, f"{muscle}_active_{method}")
        if np.isfinite(active).any():
            shade(axes, time_s, active == 1.0, ACTIVE, text, lowest=0.95)
            break
    axes.set_ylim(0.0, ROOM * top)
    axes.set_ylabel("activation (0 to 1)" if predicted else "envelope")
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    about = agreement_text(row) if predicted else _scale_text(row)
    about += "" if drawn else "; not drawn"
    axes.set_title(f"{muscle}\n{about}", loc="left", fontsize=NAME_SIZE)


def _scale_text(row: Mapping[str, Any]) -> str:
    """Origin of the envelope's 1, and faults, of a muscle without an activation."""
    scale = f"1: {row['normalised_by']}" if row.get("normalised_by") else ""
    return "; ".join(filter(None, (scale, row.get("faults"))))


def _floats(table: pa.Table, name: str) -> FloatArray:
    return np.asarray(column_array(table, name)[:, 0], dtype=float)
