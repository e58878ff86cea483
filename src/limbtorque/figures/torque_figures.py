"""Torque terms of a trial as lines, and stacked on both sides of zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limbtorque.figures.palette import TERM_COLOURS
from limbtorque.figures.panels import stacked_panels
from limbtorque.figures.style import MINUS, NAME_SIZE, TWO_COLUMNS_MM, mark_frames
from limbtorque.figures.term_kinds import TERM_NAMES, grouped_terms
from limbtorque.study.chains import ChainModel

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
    _draw_net(axes, table, joint, sign, linewidth=1.8)
    axes.margins(y=0.08)
    _name_panel(axes, table, joint, senses)


def _draw_net(axes: Axes, table: pa.Table, joint: str, sign: float, *, linewidth: float) -> None:
    """Draw a net torque with its limits, where the table has them."""
    time_s = table.column("time_s").to_numpy()
    net = sign * table.column(f"{joint}_torque_nm").to_numpy()
    axes.plot(time_s, net, color="black", linewidth=linewidth, label="net")
    limits = [f"{joint}_torque_{end}_nm" for end in ("low", "high")]
    for name, label in zip(limits, (LIMITS_NAME, None), strict=True):
        if name in table.column_names:
            values = sign * table.column(name).to_numpy()
            axes.plot(time_s, values, color="black", linewidth=0.6, linestyle=(0, (3, 2)), label=label)


def _name_panel(axes: Axes, table: pa.Table, joint: str, senses: tuple[str, str]) -> None:
    """Name joint, axis and senses of a panel, and shade its frames."""
    unknown = np.isnan(table.column(f"{joint}_torque_nm").to_numpy())
    mark_frames(axes, table, unknown, label="torque not known")
    axes.set_ylabel("torque (N m)")
    axes.set_title(joint, loc="left", fontsize=NAME_SIZE)
    axes.set_title(f"+ {senses[0]}   {MINUS} {senses[1]}", loc="right", color="0.35")


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
        A panel for each joint; flexion upwards.
    """
    joints = [joint.name for joint in model.joints]

    def draw(axes: Axes, k: int) -> None:
        senses = (model.joints[k].flexion_name, model.joints[k].extension_name)
        draw_torque_terms(axes, table, joints[k], joints, sign=flexion_sign[k], senses=senses)

    return stacked_panels(draw, len(joints), title=title, width_mm=width_mm)


def draw_contributions(
    axes: Axes, table: pa.Table, joint: str, joints: Sequence[str], *, sign: float, senses: tuple[str, str]
) -> None:
    """Draw the contributions of the terms to a joint's net torque, stacked.

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
    _draw_net(axes, table, joint, sign, linewidth=1.6)
    axes.axhline(0.0, color="black", linewidth=0.5)
    _name_panel(axes, table, joint, senses)


def contributions_figure(
    table: pa.Table, *, title: str, model: ChainModel, flexion_sign: Sequence[float], width_mm: float = TWO_COLUMNS_MM
) -> Figure:
    """Figure of a trial: stacked contributions of the terms to the net torque.

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
