"""Muscle figures of a trial: forces, and activations over electromyograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from limbtorque.arrays import FloatArray
from limbtorque.emg.summary import agreement_text, drawn_envelope
from limbtorque.figures.palette import ACTIVE, FRAMES, LINE_COLOURS
from limbtorque.figures.panels import TITLE_MM, Grid, cell_panels
from limbtorque.figures.style import (
    MOST_PANELS,
    NAME_SIZE,
    ONE_COLUMN_MM,
    TWO_COLUMNS_MM,
    drawn_panels,
    mark_frames,
    shade,
    wrapped_heading,
)
from limbtorque.tables.files import column_array

# Muscles: tints of a colour that no term has, for the possible forces, and colours of other criteria.
NEEDED, POSSIBLE = (LINE_COLOURS[0], 0.45), (LINE_COLOURS[0], 0.13)
OTHER_LINES: tuple[tuple[str, Any], ...] = (
    (LINE_COLOURS[2], (0, (4.0, 1.5))),
    (LINE_COLOURS[3], "-"),
    (LINE_COLOURS[1], (0, (1.0, 1.0))),
)
WHOLE_MM, LINES_MM, APART_MM = (
    8.0,
    26.0,
    3.2,
)  # heights of a muscle's panels: up to its strength, of its lines; between them
PULLS_N = 1e-3  # a muscle whose force is never larger does not pull


def draw_muscle_forces(
    axes: Axes,
    table: pa.Table,
    muscle: str,
    *,
    label: str = "force",
    others: Mapping[str, pa.Table] | None = None,
    whole_range: bool = False,
) -> None:
    """Draw the force of one muscle over time, with the range of possible forces.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    table : pyarrow.Table
        Muscle table.
    muscle : str
        Name of the muscle.
    label : str, optional
        Legend of the force of the table.
    others : mapping of str to pyarrow.Table, optional
        Muscle tables of the same frames by other criteria, by their legend; three at the most.
    whole_range : bool, optional
        Whether the axis goes up to the muscle's strength. If not, it goes up to the largest force that is drawn as a
        line, and the range of possible forces may leave the panel at its top.

    Notes
    -----
    From zero to the least possible force the muscle has to pull whatever the criterion: that part is mechanics. Between
    the least and the greatest possible force the criterion decides. Above the greatest no set of muscle forces produces the torques.
    """
    time_s = table.column("time_s").to_numpy()
    force = _floats(table, f"{muscle}_force_n")
    mark_frames(axes, table, np.isnan(force), label="torque not known")
    top = 0.0
    if f"{muscle}_min_force_n" in table.column_names:
        least, greatest = (_floats(table, f"{muscle}_{end}_force_n") for end in ("min", "max"))
        fill: dict[str, Any] = {"linewidth": 0.0, "zorder": 1}
        axes.fill_between(time_s, least, greatest, color=POSSIBLE, label="possible with some criterion", **fill)
        axes.fill_between(time_s, 0.0, least, color=NEEDED, label="needed with any criterion", **fill)
        top = max(float(np.nanmax(greatest, initial=0.0)), _strength(table, muscle))
    axes.plot(time_s, force, color="black", label=label, zorder=3)
    largest = float(np.nanmax(force, initial=PULLS_N))
    for (name, other), (colour, dashes) in zip((others or {}).items(), OTHER_LINES, strict=False):
        values = _floats(other, f"{muscle}_force_n")
        axes.plot(time_s, values, color=colour, linestyle=dashes, linewidth=0.9, label=name, zorder=4)
        largest = max(largest, float(np.nanmax(values, initial=0.0)))
    axes.set_ylim(0.0, top if whole_range and top > 0.0 else 1.15 * largest)


def _floats(table: pa.Table, name: str) -> FloatArray:
    return np.asarray(column_array(table, name)[:, 0], dtype=float)


def _strength(table: pa.Table, muscle: str) -> float:
    """Largest strength of a muscle over its active frames; 0 if never active."""
    activation, force = _floats(table, f"{muscle}_activation"), _floats(table, f"{muscle}_force_n")
    passive = f"{muscle}_passive_force_n"
    rest = _floats(table, passive) if passive in table.column_names else np.zeros_like(force)
    active = activation > 1e-6
    return float(np.max(rest[active] + (force - rest)[active] / activation[active], initial=0.0))


def muscle_figure(
    table: pa.Table,
    *,
    title: str,
    muscles: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    label: str = "force",
    others: Mapping[str, pa.Table] | None = None,
    at_most: int = 8,
    width_mm: float = TWO_COLUMNS_MM,
) -> Figure:
    """Figure of a trial: muscle forces, with the range of possible forces.

    Parameters
    ----------
    table : pyarrow.Table
        Muscle table.
    title : str
        Title.
    muscles : sequence of str, optional
        Muscles to draw, in this order; when not given, those that pull, the strongest pull first.
    names : mapping of str to str, optional
        Names of the muscles in the figure; else as in the table.
    label, others
        As for `draw_muscle_forces`.
    at_most : int, optional
        Number of muscles drawn where `muscles` is not given; fewer where one column has six panels with them. The figure says how many
        are left out.
    width_mm : float, optional
        Width, mm: 180 for two columns of a page, with two muscles side by side; 85 for one, with one.

    Returns
    -------
    matplotlib.figure.Figure
        Where the table has ranges there are two panels for each muscle: a low one up to its strength, and below it one
        whose scale shows the lines.
    """
    ranges = [True] if any(name.endswith("_min_force_n") for name in table.column_names) else []
    kinds = [*ranges, False]  # whether a panel shows the whole range
    room = MOST_PANELS // len(kinds) if width_mm <= ONE_COLUMN_MM else at_most
    chosen, left_out = _pulling(table, min(at_most, room))
    for name, one in {"table": table, **(others or {})}.items():
        lacking = [muscle for muscle in muscles or () if f"{muscle}_force_n" not in one.column_names]
        if lacking:
            raise ValueError(f"{name} has no forces of {', '.join(lacking)}: no columns {lacking[0]}_force_n ...")
    if muscles is not None:
        chosen, left_out = list(muscles), ""

    def draw(cell: Grid, number: int) -> None:
        muscle = chosen[number]
        for panel, whole in zip(cell, kinds, strict=True):
            draw_muscle_forces(panel, table, muscle, label=label, others=others, whole_range=whole)
        _finish_muscle(cell, table, (names or {}).get(muscle, muscle))

    return cell_panels(
        draw,
        len(chosen),
        title=wrapped_heading(title, width_mm, left_out),
        width_mm=width_mm,
        use=f"muscles, {len(kinds)}",
        heights_mm=[WHOLE_MM if whole else LINES_MM for whole in kinds],
        within_mm=APART_MM,
    )


def _finish_muscle(cell: Grid, table: pa.Table, name: str) -> None:
    """Add title, ticks, labels and marks of frames with a status to a muscle's panels."""
    main = cell[-1]
    for panel in cell[:-1]:
        strength = panel.get_ylim()[1]
        panel.set_yticks([0.0, strength], ["0", f"{strength:.0f}"])
        panel.tick_params(bottom=False)
    cell[0].set_title(name, loc="left", fontsize=NAME_SIZE)
    main.set_ylabel("force (N)")
    main.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    time_s = table.column("time_s").to_numpy()
    for colour, column, value, text in (FRAMES[kind] for kind in ("moment_arm", "fibre", "beyond_muscles")):
        if column in table.column_names:
            shade(main, time_s, table.column(column).to_numpy() == value, colour, text, lowest=0.96)


def _pulling(table: pa.Table, at_most: int) -> tuple[list[str], str]:
    """Active muscles, strongest first, and a sentence on muscles left out."""
    suffix = "_activation"
    muscles = [name.removesuffix(suffix) for name in table.column_names if name.endswith(suffix)]
    inner = table.column("edge").to_numpy() == 0
    forces = {muscle: _floats(table, f"{muscle}_force_n") for muscle in muscles}
    peak = {muscle: float(np.nanmax(force[inner], initial=0.0)) for muscle, force in forces.items()}
    pulling = sorted((muscle for muscle in muscles if peak[muscle] > PULLS_N), key=lambda muscle: -peak[muscle])
    drawn, rest = pulling[:at_most], pulling[at_most:]
    resting = len(muscles) - len(pulling)
    parts = [f"{_muscles(len(rest))} with peaks of {peak[rest[0]]:.3g} N at most"] if rest else []
    parts += [f"{_muscles(resting)} not pulling"] if resting else []
    return drawn, f"Not drawn: {' and '.join(parts)}." if parts else ""


def _muscles(count: int) -> str:
    return "1 muscle" if count == 1 else f"{count} muscles"


ENVELOPE = (LINE_COLOURS[8], 0.45)
ROOM = 1.2  # height of a panel over its largest value
METHODS = {"bonato": "active by Bonato et al. (1998)", "hodges_bui": "active by Hodges and Bui (1996)"}


def emg_figure(
    table: pa.Table, rows: Sequence[Mapping[str, Any]], *, title: str, width_mm: float = TWO_COLUMNS_MM
) -> Figure:
    """Figure of a trial: envelopes and predicted activations.

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
        A panel for each muscle, in one column for the first six. The scale is that of the activation; the envelope is drawn with the height of the panel, as only its
        shape compares where it is normalised by its own peak. A bar at the top marks the activity. Of a dead channel neither is drawn.
    """
    every = [name.removesuffix("_envelope") for name in table.column_names if name.endswith("_envelope")]
    muscles, left_out = drawn_panels(every, width_mm)
    about = {row["muscle"]: row for row in rows}

    def draw(cell: Grid, number: int) -> None:
        _draw_muscle(cell[0], table, muscles[number], about.get(muscles[number], {}))

    return cell_panels(
        draw,
        len(muscles),
        title=wrapped_heading(title + left_out, width_mm),
        width_mm=width_mm,
        use="electromyography",
        heights_mm=[28.0 if width_mm > ONE_COLUMN_MM else 20.0],
        above_mm=2 * TITLE_MM,
    )


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
        text = "EMG envelope, scaled to the peak of the activation" if predicted else "envelope"
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
    """Reference of the envelope, and faults, for a muscle without an activation."""
    scale = f"1: {row['normalised_by']}" if row.get("normalised_by") else ""
    return "; ".join(filter(None, (scale, row.get("faults"))))
