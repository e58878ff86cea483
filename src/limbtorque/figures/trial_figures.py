"""Figures of a trial beside its torques: what its terms contribute, how the limb moves, its power, the limb itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.figures.figures import MM, ONE_COLUMN_MM, STYLE, TWO_COLUMNS_MM, heading, shade, stacked_panels
from limbtorque.figures.palette import EDGE, GIVES, LINE_COLOURS, TAKES, TERM_COLOURS, UNKNOWN
from limbtorque.figures.term_kinds import TERM_NAMES, grouped_terms
from limbtorque.study.chains import ChainModel
from limbtorque.tables.tables import column_array

POSTURES = 14
ARROW_SHARE = 0.35  # of the limb's length: the longest arrow


def draw_contributions(
    axes: Axes, table: pa.Table, joint: str, joints: Sequence[str], *, sign: float, senses: tuple[str, str]
) -> None:
    """Draw what each kind of term contributes to a joint's net torque, piled up on both sides of zero.

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
        What a torque upwards and downwards does.

    Notes
    -----
    At every time the areas above zero minus those below it are the net torque, which is the line.
    """
    time_s = table.column("time_s").to_numpy()
    up, down = np.zeros(len(time_s)), np.zeros(len(time_s))
    for kind, values in grouped_terms(table, joint, joints).items():
        part = sign * values
        if not np.nanmax(np.abs(part), initial=0.0) > 0.0:
            continue
        for base, share, label in ((up, np.maximum(part, 0.0), TERM_NAMES[kind]), (down, np.minimum(part, 0.0), None)):
            axes.fill_between(time_s, base, base + share, color=TERM_COLOURS[kind], linewidth=0.0, label=label)
            base += share
    axes.plot(time_s, sign * table.column(f"{joint}_torque_nm").to_numpy(), color="black", linewidth=1.6, label="net")
    axes.axhline(0.0, color="black", linewidth=0.5)
    _marked(axes, table, time_s, np.isnan(table.column(f"{joint}_torque_nm").to_numpy()))
    axes.set_ylabel("torque (N m)")
    axes.set_title(joint, loc="left", fontweight="bold")
    axes.set_title(f"$+$ {senses[0]}   $-$ {senses[1]}", loc="right", color="0.35")


def contributions_figure(
    table: pa.Table, *, title: str, model: ChainModel, flexion_sign: Sequence[float], width_mm: float = TWO_COLUMNS_MM
) -> Figure:
    """Figure of a trial: the contributions of the torque terms, piled up, with the net torque.

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
        A panel for each joint; flexion upwards.
    """
    joints = [joint.name for joint in model.joints]

    def draw(axes: Axes, k: int) -> None:
        senses = (model.joints[k].flexion_name, model.joints[k].extension_name)
        draw_contributions(axes, table, joints[k], joints, sign=flexion_sign[k], senses=senses)

    return stacked_panels(draw, len(joints), title=title, width_mm=width_mm)


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
        _marked(axes, table, time_s, table.column("foreshortened").to_numpy() == 1)
        axes.set_ylabel(label)

    return stacked_panels(draw, len(kinds), title=title, width_mm=width_mm)


def power_figure(table: pa.Table, *, title: str, model: ChainModel, width_mm: float = TWO_COLUMNS_MM) -> Figure:
    """Figure of a trial: the power of each joint's net torque.

    Parameters
    ----------
    table : pyarrow.Table
        Torque component table.
    title : str
        Title.
    model : ChainModel
        The chain.
    width_mm : float, optional
        Width, mm.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each joint, W; positive where the joint's torque gives energy to the segments.
    """
    time_s = table.column("time_s").to_numpy()

    def draw(axes: Axes, k: int) -> None:
        power = table.column(f"{model.joints[k].name}_power_w").to_numpy()
        fill: dict[str, Any] = {"linewidth": 0.0, "alpha": 0.5}
        axes.fill_between(time_s, 0.0, np.maximum(power, 0.0), color=GIVES, label="gives energy", **fill)
        axes.fill_between(time_s, 0.0, np.minimum(power, 0.0), color=TAKES, label="takes energy", **fill)
        axes.plot(time_s, power, color="black", linewidth=0.9)
        axes.axhline(0.0, color="0.6", linewidth=0.6)
        _marked(axes, table, time_s, np.isnan(power))
        axes.set_ylabel("power (W)")
        axes.set_title(model.joints[k].name, loc="left", fontweight="bold")

    return stacked_panels(draw, len(model.joints), title=title, width_mm=width_mm)


def draw_limb(axes: Axes, table: pa.Table, joints: Sequence[str], *, postures: int = POSTURES) -> None:
    """Draw the limb in the plane of motion at some times, with the external force on it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    table : pyarrow.Table
        Kinematics table.
    joints : sequence of str
        Joints of the chain, proximal first.
    postures : int, optional
        How many postures, evenly spaced in time over the frames in which the limb is in the plane.

    Notes
    -----
    From the lightest to the darkest with time. The arrows are the external force at its point of application; the largest is a third of the limb long, and
    the scale says how much it is.
    """
    points = np.stack(
        [column_array(table, f"{p}_position_x_m", f"{p}_position_y_m") for p in (*joints, "endpoint")], axis=1
    )
    force = column_array(table, "external_force_x_n", "external_force_y_n")
    at = column_array(table, "external_point_x_m", "external_point_y_m")
    seen = np.flatnonzero(~np.isnan(points).any(axis=(1, 2)) & (table.column("foreshortened").to_numpy() == 0))
    if not len(seen):
        axes.text(0.5, 0.5, "no posture in the plane", ha="center", transform=axes.transAxes)
        return
    chosen = seen[np.unique(np.linspace(0, len(seen) - 1, postures).round().astype(int))]
    axes.plot(points[seen, -1, 0], points[seen, -1, 1], color="0.75", linewidth=0.7, zorder=1)
    size = np.hypot(force[chosen, 0], force[chosen, 1])
    largest = float(np.nanmax(size, initial=0.0))
    length = float(np.linalg.norm(np.diff(points[seen[0]], axis=0), axis=1).sum())
    shades = mpl.colormaps["viridis_r"](np.linspace(0.1, 1.0, len(chosen)))
    for frame, colour, newtons in zip(chosen, shades, size, strict=True):
        axes.plot(points[frame, :, 0], points[frame, :, 1], "-o", color=colour, linewidth=1.1, markersize=1.8, zorder=2)
        if largest > 0.0 and newtons > 0.02 * largest:
            scale = ARROW_SHARE * length / largest
            axes.annotate(
                "",
                at[frame] + scale * force[frame],
                at[frame],
                arrowprops={"arrowstyle": "-|>", "color": TERM_COLOURS["external"], "lw": 0.8, "mutation_scale": 6},
                zorder=3,
            )
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.set(xlabel="x, forward (m)", ylabel="y (m)")
    said = f"arrows: external force, up to {largest:.3g} N" if largest > 0.0 else ""
    axes.set_title(said, loc="right", color="0.35")


def limb_figure(
    table: pa.Table, *, title: str, model: ChainModel, width_mm: float = ONE_COLUMN_MM, postures: int = POSTURES
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
        Width, mm.
    postures : int, optional
        How many postures.

    Returns
    -------
    matplotlib.figure.Figure
        Stick figures from light (first) to dark (last), the endpoint's path, external forces.
    """
    time_s = table.column("time_s").to_numpy()
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(width_mm * MM, 0.95 * width_mm * MM), layout="constrained")
        axes = figure.subplots()
        draw_limb(axes, table, [joint.name for joint in model.joints], postures=postures)
        colours = mpl.cm.ScalarMappable(mpl.colors.Normalize(time_s[0], time_s[-1]), "viridis_r")
        figure.colorbar(colours, ax=axes, label="time (s)", fraction=0.04, pad=0.02)
        heading(figure, title, width_mm)
    return figure


def _marked(axes: Axes, table: pa.Table, time_s: FloatArray, unknown: NDArray[np.bool_]) -> None:
    shade(axes, time_s, table.column("edge").to_numpy() == 1, EDGE, "within reach of the ends")
    shade(axes, time_s, unknown, UNKNOWN, "not known")
    axes.set_xlim(time_s[0], time_s[-1])
