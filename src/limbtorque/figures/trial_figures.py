"""Figures of a trial: torque terms, motion, power, and the limb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limbtorque.arrays import FloatArray
from limbtorque.figures.palette import ABSORBED, GENERATED, LINE_COLOURS, TERM_COLOURS
from limbtorque.figures.panels import BELOW_MM, LEFT_MM, TITLE_MM, place_axes, stacked_panels
from limbtorque.figures.pictures import NotebookFigure
from limbtorque.figures.style import (
    MINUS,
    MM,
    NAME_SIZE,
    ONE_COLUMN_MM,
    STYLE,
    TWO_COLUMNS_MM,
    drawn_panels,
    heading,
    mark_frames,
    wrapped_heading,
)
from limbtorque.figures.terms import TERM_NAMES, grouped_terms
from limbtorque.study.chains import ChainModel
from limbtorque.tables.files import column_array

LIMITS_NAME = "net, 95 % limits"


def draw_torque_terms(
    axes: Axes, table: pa.Table, joint: str, joints: Sequence[str], *, sign: float, senses: tuple[str, str]
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
    sign : float
        +1 where counter-clockwise is flexion, -1 where it is extension: flexion is drawn upwards.
    senses : tuple of str
        Sense of a torque drawn upwards and downwards.
    """
    time_s = table.column("time_s").to_numpy()
    axes.axhline(0.0, color="0.6", linewidth=0.6)
    for kind, values in grouped_terms(table, joint, joints).items():
        if np.nanmax(np.abs(values), initial=0.0) > 0.0:
            axes.plot(time_s, sign * values, color=TERM_COLOURS[kind], label=TERM_NAMES[kind])
    net = sign * table.column(f"{joint}_torque_nm").to_numpy()
    axes.plot(time_s, net, color="black", linewidth=1.8, label="net")
    limits = [f"{joint}_torque_{end}_nm" for end in ("low", "high")]
    for name, label in zip(limits, (LIMITS_NAME, None), strict=True):
        if name in table.column_names:
            values = sign * table.column(name).to_numpy()
            axes.plot(time_s, values, color="black", linewidth=0.6, linestyle=(0, (3, 2)), label=label)
    axes.margins(y=0.08)
    mark_frames(axes, table, np.isnan(net), label="torque not known")
    axes.set_ylabel("torque (N m)")
    axes.set_title(joint, loc="left", fontsize=NAME_SIZE)
    axes.set_title(f"+ {senses[0]}   {MINUS} {senses[1]}", loc="right", color="0.35")


def draw_power(axes: Axes, table: pa.Table, joint: str, *_: Any, **__: Any) -> None:
    """Draw the power of a joint's net torque over time, W; power generation positive.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    table : pyarrow.Table
        Torque component table.
    joint : str
        The joint.
    """
    time_s, power = (table.column(name).to_numpy() for name in ("time_s", f"{joint}_power_w"))
    fill: dict[str, Any] = {"linewidth": 0.0, "alpha": 0.5}
    axes.fill_between(time_s, 0.0, np.maximum(power, 0.0), color=GENERATED, label="generation", **fill)
    axes.fill_between(time_s, 0.0, np.minimum(power, 0.0), color=ABSORBED, label="absorption", **fill)
    axes.plot(time_s, power, color="black", linewidth=0.9)
    axes.axhline(0.0, color="0.6", linewidth=0.6)
    mark_frames(axes, table, np.isnan(power))
    axes.set_ylabel("power (W)")
    axes.set_title(joint, loc="left", fontsize=NAME_SIZE)


def joint_figure(
    draw_joint: Callable[..., None],
    table: pa.Table,
    *,
    title: str,
    model: ChainModel,
    flexion_sign: Sequence[float] | None = None,
    width_mm: float = TWO_COLUMNS_MM,
    only: Sequence[str] = (),
) -> Figure:
    """Figure of a trial: a panel for each joint; torques with flexion upwards.

    Parameters
    ----------
    draw_joint : callable
        `draw_torque_terms`, the terms of the net torque (`torque_figure`), or `draw_power` (`power_figure`).
    table : pyarrow.Table
        Torque component table.
    title : str
        Title.
    model : ChainModel
        The chain.
    flexion_sign : sequence of float, optional
        +1 for each joint at which a counter-clockwise torque flexes, -1 where it extends; not used for power.
    width_mm : float, optional
        Width, mm: 180 for two columns of a page; 85 for one, with at most six panels.
    only : sequence of str, optional
        Joints that are drawn, in this order; all where none is given (`figures.joints`).

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    joints = [joint.name for joint in model.joints]
    drawn, left_out = drawn_panels(joints, width_mm, only=only)

    def draw(axes: Axes, number: int) -> None:
        k = joints.index(drawn[number])
        senses = (model.joints[k].flexion_name, model.joints[k].extension_name)
        sign = 1.0 if flexion_sign is None else flexion_sign[k]
        draw_joint(axes, table, joints[k], joints, sign=sign, senses=senses)

    return stacked_panels(draw, len(drawn), title=title + left_out, width_mm=width_mm)


torque_figure = partial(joint_figure, draw_torque_terms)
power_figure = partial(joint_figure, draw_power)
POSTURES = 14
MARGIN = 0.05  # of the larger side of the limb's surroundings
WIDE = 2.2  # times as wide as high: drawn over two columns
LEAST_MM, MOST = 34.0, 1.1  # height of the limb's panel: at least; at most this part of its width


def kinematics_figure(
    table: pa.Table,
    *,
    title: str,
    model: ChainModel,
    flexion_sign: Sequence[float],
    flexion_zero_rad: Sequence[float],
    width_mm: float = TWO_COLUMNS_MM,
) -> Figure:
    """Figure of a trial: flexion of all joints, their velocities and accelerations.

    Parameters
    ----------
    table : pyarrow.Table
        Kinematics table.
    title : str
        Title.
    model : ChainModel
        The chain.
    flexion_sign : sequence of float
        +1 for each joint at which counter-clockwise is flexion, -1 where it is extension.
    flexion_zero_rad : sequence of float
        Joint angles at zero flexion, rad.
    width_mm : float, optional
        Width, mm.

    Returns
    -------
    matplotlib.figure.Figure
        Panels of flexion in degrees, deg/s and deg/s^2, flexion positive.
    """
    time_s = table.column("time_s").to_numpy()
    kinds = (
        ("angle_rad", "flexion (deg)"),
        ("velocity_rad_s", "velocity (deg/s)"),
        ("acceleration_rad_s2", "acceleration (deg/s²)"),
    )

    def draw(axes: Axes, k: int) -> None:
        quantity, label = kinds[k]
        for joint, sign, zero, colour in zip(model.joints, flexion_sign, flexion_zero_rad, LINE_COLOURS, strict=False):
            values = table.column(f"{joint.name}_{quantity}").to_numpy() - (zero if k == 0 else 0.0)
            axes.plot(time_s, np.degrees(sign * values), color=colour, label=joint.name)
        axes.axhline(0.0, color="0.6", linewidth=0.6)
        mark_frames(axes, table, table.column("foreshortened").to_numpy() == 1)
        axes.set_ylabel(label)

    return stacked_panels(draw, len(kinds), title=title, width_mm=width_mm)


def draw_limb(axes: Axes, table: pa.Table, joints: Sequence[str], *, postures: int = POSTURES) -> None:
    """Draw the limb in the plane of motion at some times, with the external force.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    table : pyarrow.Table
        Kinematics table.
    joints : sequence of str
        Joints of the chain, proximal first.
    postures : int, optional
        Number of postures, evenly spaced in time over the frames in which the limb is in the plane.

    Notes
    -----
    From the lightest to the darkest with time. The arrows are the external force at its point of application, with the scale that the title
    gives: the longest is at most as long as the longest segment.
    """
    points = np.stack(
        [column_array(table, f"{p}_position_x_m", f"{p}_position_y_m") for p in (*joints, "endpoint")], axis=1
    )
    force = column_array(table, "external_force_x_n", "external_force_y_n")
    at = column_array(table, "external_point_x_m", "external_point_y_m")
    seen = np.flatnonzero(~np.isnan(points).any(axis=(1, 2)) & (table.column("foreshortened").to_numpy() == 0))
    if not len(seen):
        axes.text(0.5, 0.5, "no orientation in the plane", ha="center", transform=axes.transAxes)
        return
    chosen = seen[np.unique(np.linspace(0, len(seen) - 1, postures).round().astype(int))]
    axes.plot(points[seen, -1, 0], points[seen, -1, 1], color="0.75", linewidth=0.7, zorder=1)
    size = np.hypot(force[chosen, 0], force[chosen, 1])
    largest = float(np.nanmax(size, initial=0.0))
    newtons_per_m = _arrow_scale(largest, points[seen[0]])
    shades = mpl.colormaps["viridis_r"](np.linspace(0.1, 1.0, len(chosen)))
    for frame, colour, newtons in zip(chosen, shades, size, strict=True):
        axes.plot(points[frame, :, 0], points[frame, :, 1], "-o", color=colour, linewidth=1.1, markersize=1.8, zorder=2)
        if newtons > 0.02 * largest and np.isfinite(at[frame]).all():
            tip = at[frame] + force[frame] / newtons_per_m
            arrow = {"arrowstyle": "-|>", "color": TERM_COLOURS["external"], "lw": 0.9, "mutation_scale": 6}
            axes.annotate("", tip, at[frame], arrowprops={**arrow, "shrinkA": 0.0, "shrinkB": 0.0}, zorder=3)
            axes.update_datalim([at[frame], tip])
    sides_m = np.maximum([axes.dataLim.width, axes.dataLim.height], 1e-6)
    axes.margins(*(MARGIN * sides_m.max() / sides_m))
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel="x, forward (m)", ylabel="y (m)")
    scale_text = f"external force: 1 m = {newtons_per_m:g} N, up to {largest:.3g} N" if largest > 0.0 else ""
    axes.set_title(scale_text, loc="right", color="0.35")


def _arrow_scale(largest_n: float, posture_m: FloatArray) -> float:
    """Force, N, of an arrow of 1 m: 1, 2 or 5 times a power of ten."""
    longest_m = float(np.linalg.norm(np.diff(posture_m, axis=0), axis=1).max())
    if not largest_n > 0.0:
        return 1.0
    least = largest_n / longest_m
    power = 10.0 ** np.floor(np.log10(least))
    return float(power * next(step for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least * (1.0 - 1e-9)))


def limb_figure(
    table: pa.Table, *, title: str, model: ChainModel, width_mm: float | None = None, postures: int = POSTURES
) -> Figure:
    """Figure of a trial: the limb over time, in the plane of motion.

    Parameters
    ----------
    table : pyarrow.Table
        Kinematics table.
    title : str
        Title.
    model : ChainModel
        The chain.
    width_mm : float, optional
        Width, mm; when not given, that of two columns for a limb that travels, else of one.
    postures : int, optional
        Number of postures.

    Returns
    -------
    matplotlib.figure.Figure
        Stick figures from light (first) to dark (last), the endpoint's path, external forces; as high as they need at equal scales.
    """
    time_s = table.column("time_s").to_numpy()
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = NotebookFigure()
        axes, bar = figure.add_axes((0, 0, 1, 1)), figure.add_axes((0, 0, 1, 1))
        draw_limb(axes, table, [joint.name for joint in model.joints], postures=postures)
        across_m, up_m = np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())
        width_mm = width_mm or (TWO_COLUMNS_MM if across_m > WIDE * up_m else ONE_COLUMN_MM)
        lines = wrapped_heading(title, width_mm)
        top_mm = 1.5 + 3.6 * (lines.count("\n") + 1) + TITLE_MM
        wide_mm = width_mm - LEFT_MM - 20.5
        tall_mm = float(np.clip(wide_mm * up_m / across_m, LEAST_MM, MOST * wide_mm))
        height_mm = top_mm + tall_mm + BELOW_MM + 1.0
        figure.set_size_inches(width_mm * MM, height_mm * MM)
        place_axes(figure, axes, (LEFT_MM, top_mm, wide_mm, tall_mm))
        colours = mpl.cm.ScalarMappable(mpl.colors.Normalize(time_s[0], time_s[-1]), "viridis_r")
        figure.colorbar(colours, cax=bar, label="time (s)")
        place_axes(figure, bar, (LEFT_MM + wide_mm + 3.0, top_mm, 2.5, tall_mm))
        bar.yaxis.set_label_coords(1.0 + 10.5 / 2.5, 0.5)
        heading(figure, lines, y=1.0 - 1.5 / height_mm)
    return figure
