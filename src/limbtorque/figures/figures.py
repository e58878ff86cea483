"""Figures. The only module that imports matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray, runs
from limbtorque.figures.notebook import NotebookFigure
from limbtorque.figures.palette import CHOSEN, CRITERION, EDGE, LINE_COLOURS, RESIDUAL, TERM_COLOURS, UNKNOWN
from limbtorque.figures.term_kinds import TERM_NAMES, grouped_terms
from limbtorque.signals.cutoff import CutoffChoice
from limbtorque.study.settings import ChainModel
from limbtorque.tables.tables import column_array

CRITERION_NAMES = {
    "expected_error": "expected squared error\nof the acceleration",
    "gcv": "squared error of\nprediction",
    "autocorrelation": "autocorrelation\nof the residual",
}

MM = 1.0 / 25.4
ONE_COLUMN_MM, TWO_COLUMNS_MM = 85.0, 180.0
WIDTHS_MM = {"one_column": ONE_COLUMN_MM, "two_columns": TWO_COLUMNS_MM}
# Muscles: tints of a colour that no term has, for what mechanics and criterion decide, and colours of other criteria.
NEEDED, POSSIBLE = (LINE_COLOURS[0], 0.45), (LINE_COLOURS[0], 0.13)
OTHER_LINES: tuple[tuple[str, Any], ...] = (
    (LINE_COLOURS[2], (0, (4.0, 1.5))),
    (LINE_COLOURS[3], "-"),
    (LINE_COLOURS[1], (0, (1.0, 1.0))),
)
STATUS_MARKS = {  # column of a frame's status: the value that is marked, its colour and what the legend says
    "moment_arm_status": (1, "#DDAA33", "outside the range of a moment arm"),
    "fibre_status": (1, "#BB5566", "outside the range of a fibre's curves"),
    "optimization_status": (1, "black", "beyond what the muscles can do"),
}
HANDLE_MM = 10.0  # what a legend draws before the words
CHARACTER_MM = 1.3  # about the mean width of a character of a legend
PULLS_N = 1e-3  # a muscle whose force is never larger does not pull
STYLE = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
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


def draw_torque_terms(
    axes: Axes, table: pa.Table, joint: str, joints: Sequence[str], *, senses: tuple[str, str]
) -> None:
    """Draw the terms of one joint's net torque, and the net torque, over time.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    table : pyarrow.Table
        Torque component table.
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain.
    senses : tuple of str
        What a positive and a negative torque do at this joint.
    """
    time_s = table.column("time_s").to_numpy()
    axes.axhline(0.0, color="0.6", linewidth=0.6)
    for kind, values in grouped_terms(table, joint, joints).items():
        if np.nanmax(np.abs(values), initial=0.0) > 0.0:
            axes.plot(time_s, values, color=TERM_COLOURS[kind], label=TERM_NAMES[kind])
    axes.plot(time_s, table.column(f"{joint}_torque_nm").to_numpy(), color="black", linewidth=1.8, label="net")
    shade(axes, time_s, table.column("edge").to_numpy() == 1, EDGE, "within reach of the ends")
    unknown = np.isnan(table.column(f"{joint}_torque_nm").to_numpy())
    shade(axes, time_s, unknown, UNKNOWN, "torque not known")
    axes.set_xlim(time_s[0], time_s[-1])
    axes.margins(y=0.08)
    axes.set_title(joint, loc="left", fontweight="bold")
    axes.set_ylabel("torque (N m)")
    axes.set_title(f"$+$ {senses[0]}   $-$ {senses[1]}", loc="right", color="0.35")


def shade(
    axes: Axes, time_s: FloatArray, mask: NDArray[np.bool_], colour: str, label: str, *, lowest: float = 0.0
) -> None:
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


def torque_figure(
    table: pa.Table,
    *,
    title: str,
    model: ChainModel,
    flexion_sign: Sequence[float],
    width_mm: float = TWO_COLUMNS_MM,
) -> Figure:
    """Figure of a trial: the torque terms of each joint with their sum.

    Parameters
    ----------
    table : pyarrow.Table
        Torque component table.
    title : str
        Title.
    model : ChainModel
        The chain.
    flexion_sign : sequence of float
        +1 for each joint at which a counter-clockwise torque flexes, -1 where it extends.
    width_mm : float, optional
        Width, mm: 180 for two columns of a page, 85 for one.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each joint.
    """
    joints = [joint.name for joint in model.joints]

    def draw(axes: Axes, k: int) -> None:
        senses = (model.joints[k].flexion_name, model.joints[k].extension_name)
        draw_torque_terms(axes, table, joints[k], joints, senses=senses if flexion_sign[k] > 0 else senses[::-1])

    return stacked_panels(draw, len(joints), title=title, width_mm=width_mm)


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
    wide = width_mm > ONE_COLUMN_MM
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        size = (width_mm * MM, (22.0 + (48.0 if wide else 38.0) * n) * MM)
        figure = NotebookFigure(figsize=size, layout="constrained")
        panels = figure.subplots(n, 1, sharex=True, squeeze=False)[:, 0]
        for k, axes in enumerate(panels):
            draw(axes, k)
        panels[-1].set_xlabel("time (s)")
        heading(figure, title, width_mm)
        shared_legend(figure, panels, width_mm)
    return figure


def heading(figure: Figure, title: str, width_mm: float, *more: str) -> None:
    """Title of a figure, in as many lines as its width needs, and sentences below it."""
    lines = [textwrap.fill(text, width=round(0.62 * width_mm)) for text in (title, *more) if text]
    figure.suptitle("\n".join(lines), fontsize=8.0, x=0.01, ha="left", parse_math=False)


def shared_legend(figure: Figure, panels: Iterable[Axes], width_mm: float) -> None:
    """Give a figure one legend below all panels, every entry once, lines before areas, in as many columns as fit.

    Entries that are longer than the figure is wide are broken.
    """
    room = int((width_mm - HANDLE_MM) / CHARACTER_MM)
    shown: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        shown |= {textwrap.fill(text, room): handle for text, handle in zip(labels, handles, strict=True)}
    order = sorted(shown, key=lambda text: not isinstance(shown[text], Line2D))
    longest = max((len(line) for text in order for line in text.splitlines()), default=0)
    columns = max(1, min(len(order), int(width_mm / (HANDLE_MM + CHARACTER_MM * longest))))
    chosen = [shown[text] for text in order]
    legend = figure.legend(chosen, order, loc="outside lower center", ncols=columns, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)  # names of conditions may have dollar signs


def draw_muscle_forces(
    axes: Axes,
    table: pa.Table,
    muscle: str,
    *,
    label: str = "force",
    others: Mapping[str, pa.Table] | None = None,
    whole_range: bool = False,
) -> None:
    """Draw the force of one muscle over time, with what it needs to be and what it could be.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    table : pyarrow.Table
        Muscle table.
    muscle : str
        Name of the muscle.
    label : str, optional
        What the legend calls the force of the table.
    others : mapping of str to pyarrow.Table, optional
        Muscle tables of the same frames by other criteria, by what the legend calls them; three at the most.
    whole_range : bool, optional
        Whether the axis goes up to the muscle's strength. If not, it goes up to the largest force that is drawn as a
        line, and the range of possible forces may leave the panel at its top.

    Notes
    -----
    From zero to the least possible force the muscle has to pull whatever the criterion: that part is mechanics. Between
    the least and the greatest possible force the criterion decides. Above the greatest no sharing makes the torques.
    """
    time_s = table.column("time_s").to_numpy()
    force = _floats(table, f"{muscle}_force_n")
    shade(axes, time_s, table.column("edge").to_numpy() == 1, EDGE, "within reach of the ends")
    shade(axes, time_s, np.isnan(force), UNKNOWN, "torque not known")
    top = 0.0
    if f"{muscle}_min_force_n" in table.column_names:
        least, greatest = (_floats(table, f"{muscle}_{end}_force_n") for end in ("min", "max"))
        fill: dict[str, Any] = {"linewidth": 0.0, "zorder": 1}
        axes.fill_between(time_s, least, greatest, color=POSSIBLE, label="possible: the criterion decides", **fill)
        axes.fill_between(time_s, 0.0, least, color=NEEDED, label="needed, whatever the criterion", **fill)
        top = max(float(np.nanmax(greatest, initial=0.0)), _strength(table, muscle))
    axes.plot(time_s, force, color="black", label=label, zorder=3)
    largest = float(np.nanmax(force, initial=PULLS_N))
    for (name, other), (colour, dashes) in zip((others or {}).items(), OTHER_LINES, strict=False):
        values = _floats(other, f"{muscle}_force_n")
        axes.plot(time_s, values, color=colour, linestyle=dashes, linewidth=0.9, label=name, zorder=4)
        largest = max(largest, float(np.nanmax(values, initial=0.0)))
    axes.set_xlim(time_s[0], time_s[-1])
    axes.set_ylim(0.0, top if whole_range and top > 0.0 else 1.15 * largest)


def _floats(table: pa.Table, name: str) -> FloatArray:
    return np.asarray(column_array(table, name)[:, 0])


def _strength(table: pa.Table, muscle: str) -> float:
    """Largest strength of a muscle, told by the frames in which it is active; 0 where it never is."""
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
    """Figure of a trial: the forces of the muscles in the range of those that are possible.

    Parameters
    ----------
    table : pyarrow.Table
        Muscle table.
    title : str
        Title.
    muscles : sequence of str, optional
        Muscles to draw, in this order; when not given, those that pull, the strongest pull first.
    names : mapping of str to str, optional
        What to call the muscles; else as in the table.
    label, others
        As for `draw_muscle_forces`.
    at_most : int, optional
        How many muscles are drawn where `muscles` is not given. The figure says how many are left out.
    width_mm : float, optional
        Width, mm: 180 for two columns of a page, with two muscles side by side; 85 for one, with one.

    Returns
    -------
    matplotlib.figure.Figure
        Where the table has ranges there are two panels for each muscle: a low one up to its strength, and below it one
        whose scale shows the lines.
    """
    chosen, left_out = _pulling(table, at_most)
    for name, one in {"table": table, **(others or {})}.items():
        lacking = [muscle for muscle in muscles or () if f"{muscle}_force_n" not in one.column_names]
        if lacking:
            raise ValueError(f"{name} has no forces of {', '.join(lacking)}: no columns {lacking[0]}_force_n ...")
    if muscles is not None:
        chosen, left_out = list(muscles), ""
    ranges = [True] if any(name.endswith("_min_force_n") for name in table.column_names) else []
    across = 2 if width_mm > ONE_COLUMN_MM else 1
    rows = max(-(-len(chosen) // across), 1)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        height = 26.0 + (45.0 if ranges else 34.0) * rows
        figure = NotebookFigure(figsize=(width_mm * MM, height * MM), layout="constrained")
        figure.set_layout_engine("constrained", h_pad=0.7 * MM, w_pad=1.2 * MM, hspace=0.0, wspace=0.02)
        kinds = [*ranges, False]  # whether a panel shows the whole range
        ratios = [1.0 if whole else 3.2 for whole in kinds] * rows
        grid = figure.subplots(len(kinds) * rows, across, sharex=True, squeeze=False, height_ratios=ratios)
        cells = [
            grid[len(kinds) * row : len(kinds) * (row + 1), column] for row in range(rows) for column in range(across)
        ]
        for number, cell in enumerate(cells):
            if number >= len(chosen):
                for panel in cell:
                    panel.set_axis_off()
                continue
            muscle = chosen[number]
            for panel, whole in zip(cell, kinds, strict=True):
                draw_muscle_forces(panel, table, muscle, label=label, others=others, whole_range=whole)
            _finish_muscle(cell, table, (names or {}).get(muscle, muscle), last=number + across >= len(chosen))
        heading(figure, title, width_mm, left_out)
        shared_legend(figure, grid.ravel(), width_mm)
    return figure


def _finish_muscle(cell: NDArray[np.object_], table: pa.Table, name: str, *, last: bool) -> None:
    """Title, ticks and labels of the panels of a muscle, and marks of the frames that are not as they should be."""
    main = cell[-1]
    for panel in cell[:-1]:
        strength = panel.get_ylim()[1]
        panel.set_yticks([0.0, strength], ["0", f"{strength:.0f}"])
        panel.tick_params(bottom=False)
    cell[0].set_title(name, loc="left", fontweight="bold")
    main.set_ylabel("force (N)")
    main.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    if last:
        main.set_xlabel("time (s)")
        main.tick_params(labelbottom=True)
    time_s = table.column("time_s").to_numpy()
    for column, (value, colour, text) in STATUS_MARKS.items():
        if column in table.column_names:
            shade(main, time_s, table.column(column).to_numpy() == value, colour, text, lowest=0.96)


def _pulling(table: pa.Table, at_most: int) -> tuple[list[str], str]:
    """Muscles that pull, the strongest pull first, and a sentence on those that are left out."""
    suffix = "_activation"
    muscles = [name.removesuffix(suffix) for name in table.column_names if name.endswith(suffix)]
    inner = table.column("edge").to_numpy() == 0
    forces = {muscle: _floats(table, f"{muscle}_force_n") for muscle in muscles}
    peak = {muscle: float(np.nanmax(force[inner], initial=0.0)) for muscle, force in forces.items()}
    pulling = sorted((muscle for muscle in muscles if peak[muscle] > PULLS_N), key=lambda muscle: -peak[muscle])
    drawn, rest = pulling[:at_most], pulling[at_most:]
    resting = len(muscles) - len(pulling)
    parts = [f"{_muscles(len(rest))} pulling with {peak[rest[0]]:.3g} N at most"] if rest else []
    parts += [f"{_muscles(resting)} not pulling"] if resting else []
    return drawn, f"Not drawn: {' and '.join(parts)}." if parts else ""


def _muscles(count: int) -> str:
    return "1 muscle" if count == 1 else f"{count} muscles"


def failure_figure(title: str, message: str, *, what: str = "not analysed") -> Figure:
    """Figure of a trial that failed, or of which there is nothing to draw: the reason."""
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, 40.0 * MM), layout="constrained")
        axes = figure.subplots()
        axes.axis("off")
        axes.text(0.0, 0.5, f"{title}\n{what}: {message}", va="center", wrap=True, parse_math=False)
    return figure


def note_figure(text: str, *, width_mm: float = TWO_COLUMNS_MM) -> Figure:
    """Figure in place of one that would show nothing: a sentence, and no more height than it needs.

    Parameters
    ----------
    text : str
        What to say.
    width_mm : float, optional
        Width, mm.
    """
    lines = textwrap.wrap(text, round(0.62 * width_mm))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(width_mm * MM, (4.0 + 3.5 * len(lines)) * MM))
        figure.text(0.01, 0.5, "\n".join(lines), va="center")
    return figure


def cutoff_figure(
    choices: Sequence[CutoffChoice],
    *,
    title: str,
    unit: str,
    names: Sequence[str] = ("",),
    used_hz: Sequence[float] = (),
    noise: float | None = None,
    width_mm: float = TWO_COLUMNS_MM,
) -> Figure:
    """Figure of what the data say of a cut-off.

    Parameters
    ----------
    choices : sequence of CutoffChoice
        Choices and the curves they were made from.
    title : str
        Title.
    unit : str
        Unit of the signal: m is drawn in mm.
    names : sequence of str, optional
        Of what each choice is.
    used_hz : sequence of float, optional
        Cut-offs that were used, one or one for each choice, Hz, where they are others than the choices.
    noise : float, optional
        Standard deviation of the noise, in the unit of the signal, as the ledger has it (``noise_m``); where it is not
        given, that of each choice.
    width_mm : float, optional
        Width, mm.

    Returns
    -------
    matplotlib.figure.Figure
        For each choice the residual over the cut-off, with the choice, the noise and, of a residual analysis, its line; and beside
        or below it what was made small, where that is something else.
    """
    wide = width_mm > ONE_COLUMN_MM
    both = choices[0].by != "residual"
    used = list(used_hz) * (len(choices) if len(used_hz) == 1 else 1) or [choice.cutoff_hz for choice in choices]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        beside = wide == (len(choices) == 1)  # residual and criterion side by side, a row for each choice
        across, down = (1 + both, len(choices)) if beside else (len(choices), 1 + both)
        size = (width_mm * MM, (26.0 + 46.0 * down) * MM)
        figure = Figure(figsize=size, layout="constrained")
        heading(figure, title, width_mm)
        share: dict[str, Any] = {"sharex": "row", "sharey": "col"} if beside else {"sharex": "col", "sharey": "row"}
        grid = figure.subplots(down, across, squeeze=False, **share)
        for number, (choice, name, own_hz) in enumerate(zip(choices, names, used, strict=True)):
            panels = grid[number] if beside else grid[:, number]
            panels[0].set_title(name, loc="left", fontweight="bold")
            _draw_residual(panels[0], choice, unit, noise=choice.noise if noise is None else noise)
            if both:
                _draw_criterion(panels[1], choice)
            for axes in panels:
                axes.axvline(choice.cutoff_hz, color=CHOSEN, linewidth=0.8, label="asked for by the data")
                if abs(own_hz - choice.cutoff_hz) > 1e-9:
                    axes.axvline(own_hz, color="black", linewidth=0.8, linestyle="--", label="used")
        for axes in grid[-1]:
            axes.set_xlabel("cut-off (Hz)")
        for axes in grid[:, 1:].ravel() if not beside else ():
            axes.set_ylabel("")
        shared_legend(figure, grid.ravel(), width_mm)
    return figure


def _draw_residual(axes: Axes, choice: CutoffChoice, unit: str, *, noise: float) -> None:
    scale, shown = (1e3, "mm") if unit == "m" else (1.0, unit)
    axes.plot(choice.grid_hz, scale * choice.residual, color=RESIDUAL, label="residual")
    intercept, slope = (scale * value for value in choice.line)
    if np.isfinite(intercept):
        line = intercept + slope * choice.grid_hz
        above = line > 0.0
        axes.plot(choice.grid_hz[above], line[above], color="black", linewidth=0.7, label="line through the noise")
    if noise > 0.0:
        axes.axhline(scale * noise, color="black", linewidth=0.7, linestyle=":", label="noise")
    axes.set_yscale("log")
    axes.set_xscale("log")
    ticks = [
        hz
        for hz in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
        if choice.grid_hz[0] <= hz <= choice.grid_hz[-1]
    ]
    axes.set_xticks(ticks, [f"{hz:g}" for hz in ticks])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel(f"rms residual ({shown})")
    axes.annotate(
        f" {choice.cutoff_hz:.1f} Hz",
        (choice.cutoff_hz, 0.97),
        xycoords=("data", "axes fraction"),
        va="top",
        fontsize=7.5,
    )


def _draw_criterion(axes: Axes, choice: CutoffChoice) -> None:
    """What was made small, above its least: the expected error is known up to a constant, so there is no ratio to draw."""
    span = float(np.ptp(choice.criterion)) or 1.0
    axes.plot(choice.grid_hz, 100.0 * (choice.criterion - choice.criterion.min()) / span, color=CRITERION)
    axes.set_ylim(-0.5, 10.0)
    axes.set_ylabel(f"{CRITERION_NAMES[choice.by]}\nabove its least (% of range)")


def save(figure: Figure, path: Path | str) -> None:
    """Save a figure as its suffix says; the same figure gives the same bytes."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    undated: dict[str, dict[str, Any]] = {
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
        ".svg": {"Date": None},
    }
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure.savefig(path, dpi=200, metadata=undated[path.suffix])
