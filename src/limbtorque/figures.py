"""Figures. The only module that imports matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from limbtorque.settings import ChainModel
from limbtorque.signals import runs
from limbtorque.tables import column_array, term_columns

FloatArray = NDArray[np.float64]

MM = 1.0 / 25.4
TWO_COLUMNS_MM = 180.0
# Okabe and Ito (2008): told apart with every kind of colour vision. One colour means the same term in every figure.
TERM_COLOURS = {
    "inertial": "#0072B2",
    "centripetal": "#D55E00",
    "coriolis": "#CC79A7",
    "gravity": "#009E73",
    "base": "#E69F00",
    "external": "#56B4E9",
}
TERM_NAMES = {
    "inertial": "inertial",
    "centripetal": "centripetal",
    "coriolis": "Coriolis",
    "gravity": "gravity",
    "base": "base motion",
    "external": "external",
}
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


def grouped_terms(table: pa.Table, joint: str, joints: Sequence[str]) -> dict[str, FloatArray]:
    """Terms of a joint's torque, those of one kind added up.

    Parameters
    ----------
    table : pyarrow.Table
        Torque component table.
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain.

    Returns
    -------
    dict of str to ndarray of shape (n_frames,)
        Kind -> torque, N m.
    """
    kinds: dict[str, list[str]] = {kind: [] for kind in TERM_COLOURS}
    for column in term_columns(joint, joints):
        kinds[column.name.removeprefix(f"{joint}_torque_").split("_")[0]].append(column.name)
    return {kind: column_array(table, *names).sum(axis=1) for kind, names in kinds.items() if names}


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
    _shade(axes, time_s, table.column("edge").to_numpy() == 1, "0.92", "within reach of the ends")
    unknown = np.isnan(table.column(f"{joint}_torque_nm").to_numpy())
    _shade(axes, time_s, unknown, "#F6D5C3", "torque not known")
    axes.set_xlim(time_s[0], time_s[-1])
    axes.margins(y=0.08)
    axes.set_title(joint, loc="left", fontweight="bold")
    axes.set_ylabel("torque (N m)")
    axes.set_title(f"$+$ {senses[0]}   $-$ {senses[1]}", loc="right", color="0.35")


def _shade(axes: Axes, time_s: FloatArray, mask: NDArray[np.bool_], colour: str, label: str) -> None:
    step = time_s[1] - time_s[0] if len(time_s) > 1 else 0.0
    for number, (start, stop) in enumerate(runs(mask)):
        axes.axvspan(
            max(time_s[start] - step / 2, time_s[0]),
            min(time_s[stop - 1] + step / 2, time_s[-1]),
            color=colour,
            linewidth=0.0,
            zorder=0,
            label=label if number == 0 else None,
        )


def torque_figure(table: pa.Table, *, title: str, model: ChainModel, flexion_sign: Sequence[float]) -> Figure:
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

    Returns
    -------
    matplotlib.figure.Figure
        Two columns wide.
    """
    joints = [joint.name for joint in model.joints]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, (22.0 + 48.0 * len(joints)) * MM), layout="constrained")
        panels = figure.subplots(len(joints), 1, sharex=True, squeeze=False)[:, 0]
        for panel, joint, sign in zip(panels, model.joints, flexion_sign, strict=True):
            senses = (joint.flexion_name, joint.extension_name)
            draw_torque_terms(panel, table, joint.name, joints, senses=senses if sign > 0 else senses[::-1])
        panels[-1].set_xlabel("time (s)")
        shown: dict[str, Any] = {}
        for panel in panels:
            handles, labels = panel.get_legend_handles_labels()
            shown |= dict(zip(labels, handles, strict=True))
        figure.suptitle(title, fontsize=8.0, x=0.01, ha="left")
        figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def failure_figure(title: str, message: str) -> Figure:
    """Figure of a trial that failed: the reason."""
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, 40.0 * MM), layout="constrained")
        axes = figure.subplots()
        axes.axis("off")
        axes.text(0.0, 0.5, f"{title}\nnot analysed: {message}", va="center", wrap=True)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Save a figure as its suffix says; the same figure gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    undated: dict[str, dict[str, Any]] = {
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
        ".svg": {"Date": None},
    }
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure.savefig(path, dpi=200, metadata=undated[path.suffix])
