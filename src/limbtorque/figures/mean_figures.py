"""Mean curves by condition, and mean torques with their terms."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from limbtorque.figures.palette import LINE_COLOURS, TERM_COLOURS
from limbtorque.figures.pictures import NotebookFigure
from limbtorque.figures.style import (
    CHARACTER_MM,
    MM,
    ONE_COLUMN_MM,
    STYLE,
    TWO_COLUMNS_MM,
    heading,
    shared_legend,
    wrapped,
    wrapped_heading,
)
from limbtorque.figures.terms import TERM_NAMES, kinds_of_terms
from limbtorque.statistics.wording import count_words, too_few
from limbtorque.tables.study_columns import BOTH
from limbtorque.uncertainty.bands import LIMITS

SIDE_LINES = {"right": "-", "left": (0, (4.0, 1.5))}
ERROR_WIDTH = 0.6  # of the limits of a mean by errors of the inputs
FEWER_WIDTH = 0.5  # of lines where fewer trials have a value
CURVES = {"flexion": "flexion_deg", "velocity": "velocity_deg_s", "torque": "torque_nm", "power": "power_w"}
ROWS = ("flexion", "torque", "power")


@dataclass(frozen=True)
class Counts:
    """Subjects and trials of the mean curves of a condition and side.

    Attributes
    ----------
    fewest, most : int
        Fewest and most trials along the curves.
    words : str
        Numbers of subjects, trials and rejected trials.
    """

    fewest: int
    most: int
    words: str


def mean_counts(ensembles: pd.DataFrame, quantities: Sequence[str]) -> dict[tuple[str, str], Counts]:
    """Count the subjects and trials along the mean curves of each condition and side.

    Parameters
    ----------
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain.
    quantities : sequence of str
        Quantities that count.

    Returns
    -------
    dict of tuple of str to Counts
        (condition, side) -> numbers where there is a mean.
    """
    rows = ensembles[ensembles["quantity"].isin(list(quantities)) & ensembles["mean"].notna()]
    found = {}
    for pair, group in _groups(rows):
        subjects, trials, rejected = (group[name].tolist() for name in ("n_subjects", "n_trials", "n_rejected"))
        words = count_words(group["spread_over"].iloc[0], subjects=subjects, trials=trials, rejected=rejected)
        found[pair] = Counts(min(trials), max(trials), words)
    return found


def missing_means(ensembles: pd.DataFrame, *, min_units: int) -> str:
    """Sentence on means with too few subjects or trials; empty if there are none.

    Parameters
    ----------
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain.
    min_units : int
        `ensembles.min_units`.
    """
    if ensembles.empty:
        return ""
    points = zip(*(ensembles[name] for name in ("condition", "side", "mean", "n_subjects", "n_trials")), strict=True)
    return too_few(points, spread_over=str(ensembles["spread_over"].iloc[0]), min_units=min_units)


def draw_ensemble(
    axes: Axes,
    ensembles: pd.DataFrame,
    quantity: str,
    *,
    counts: Mapping[tuple[str, str], Counts] | None = None,
) -> None:
    """Draw the mean of a quantity over 0 to 100 %, with its standard deviation.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain.
    quantity : str
        Which quantity, e.g. ``elbow_torque_nm``.
    counts : mapping of tuple of str to Counts, optional
        Result of `mean_counts` for all quantities of the figure; those of this quantity where it is not given.

    Notes
    -----
    The dotted lines are the 95 % limits of the mean by errors of the inputs, where they are known.

    Where fewer trials have a value than the most that any point has, the mean is of other trials and can step: line and
    band are thinner and lighter there.
    """
    rows = ensembles[ensembles["quantity"] == quantity]
    colours = condition_colours(ensembles)
    counts = mean_counts(ensembles, [quantity]) if counts is None else counts
    for (condition, side), curve in _groups(rows):
        if curve["mean"].isna().all():
            continue
        of = counts[condition, side]
        number = of.words if of.fewest == of.most else f"{of.words}; thin: fewer than {of.most} trials"
        percent, mean, sd = (curve[name].to_numpy(dtype=float) for name in ("percent", "mean", "sd"))
        whole = curve["n_trials"].to_numpy() == of.most
        look: dict[str, Any] = {"color": colours[condition], "linestyle": SIDE_LINES[side]}
        group = f"{condition or 'no condition'}, {side}" if condition or len(colours) > 1 else side
        axes.plot(percent, np.where(whole, mean, np.nan), label=f"{group} ({number})", **look)
        band: dict[str, Any] = {"color": colours[condition], "linewidth": 0.0}
        axes.fill_between(percent, mean - sd, mean + sd, where=whole, alpha=0.18, **band)
        if not whole.all():
            part = partly(whole)
            axes.plot(percent, np.where(part, mean, np.nan), linewidth=FEWER_WIDTH, label="_fewer", **look)
            axes.fill_between(percent, mean - sd, mean + sd, where=part, alpha=0.07, **band)
        error = LIMITS * curve["mean_error"].to_numpy(dtype=float)
        for limit in (mean - error, mean + error):
            axes.plot(percent, limit, color=colours[condition], linestyle=":", linewidth=ERROR_WIDTH, label="_error")
    axes.axhline(0.0, color="0.6", linewidth=0.6)
    axes.set_xlim(0.0, 100.0)


def partly(whole: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mask of points with missing trials, and their neighbours, so that lines join.

    Parameters
    ----------
    whole : ndarray of bool, shape (n_points,)
        Which points are whole.

    Examples
    --------
    >>> partly(np.array([True, True, True, False, True])).tolist()
    [False, False, True, True, True]
    """
    near = ~whole
    near[1:] |= ~whole[:-1]
    near[:-1] |= ~whole[1:]
    return near


def condition_colours(ensembles: pd.DataFrame) -> dict[str, str]:
    """Colour of each condition."""
    return dict(zip(ensembles["condition"].drop_duplicates(), LINE_COLOURS * 10, strict=False))


def drawn_quantities(
    ensembles: pd.DataFrame, joints: Sequence[str], rows: Sequence[str] = ROWS
) -> dict[tuple[str, str], str]:
    """Quantities of the figure of mean curves, by joint and row."""
    there = set(ensembles["quantity"])
    wanted = {(joint, row): f"{joint}_{CURVES[row]}" for joint in joints for row in rows}
    found = {key: next((q for q in (name, f"{name}_kg") if q in there), "") for key, name in wanted.items()}
    return {key: name for key, name in found.items() if name}


def ensemble_figure(
    ensembles: pd.DataFrame,
    *,
    joints: Sequence[str],
    title: str,
    width_mm: float = TWO_COLUMNS_MM,
    axis: str = "%",
    rows: Sequence[str] = ROWS,
) -> Figure:
    """Figure of a study: mean flexion, net torque and power by condition and side.

    Parameters
    ----------
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain; with or without torques per body mass.
    joints : sequence of str
        Joints that are drawn.
    title : str
        Title.
    width_mm : float, optional
        Width, mm.
    axis : str, optional
        Label of the axis of 0 to 100 %.
    rows : sequence of str, optional
        Quantities (`figures.rows`).

    Returns
    -------
    matplotlib.figure.Figure
        A column for each joint, a row for each quantity; in one column with three joints or more, the other way round. Flexion
        positive.
    """
    units = dict(zip(ensembles["quantity"], ensembles["unit"], strict=True))
    drawn = drawn_quantities(ensembles, joints, rows)
    turned = width_mm <= ONE_COLUMN_MM and len(joints) > 2
    down, across = (joints, rows) if turned else (rows, joints)
    counts = mean_counts(ensembles, list(drawn.values()))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = NotebookFigure(figsize=(width_mm * MM, (36.0 + 42.0 * len(down)) * MM), layout="constrained")
        grid = figure.subplots(len(down), len(across), sharex=True, squeeze=False)
        by_row = grid.T if turned else grid
        for of_row, row in zip(by_row, rows, strict=True):
            for axes, joint in zip(of_row, joints, strict=True):
                quantity = drawn.get((joint, row), "")
                draw_ensemble(axes, ensembles, quantity, counts=counts)
            for axes in of_row if turned else of_row[:1]:
                axes.set_ylabel(f"{'net ' * (row == 'torque')}{row} ({units.get(quantity, '')})")
        for axes, joint in zip(by_row[0], joints, strict=True):
            axes.set_title(joint, loc="left", fontweight="bold")
        for axes in grid[-1]:
            axes.set_xlabel(_lines(axis, room_mm=(width_mm - 15.0) / len(across)))
        shared_legend(figure, grid.ravel(), width_mm)
        heading(figure, wrapped_heading(title, width_mm))
    return figure


def draw_mean_terms(axes: Axes, curves: pd.DataFrame, joint: str, joints: Sequence[str]) -> None:
    """Draw the mean net torque of a joint and the means of its terms, by kind.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    curves : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain, condition and side.
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain.

    Notes
    -----
    The kinds add up to the net torque. Lines are thin where fewer trials have a torque than at the point with the most.
    """
    means = curves.pivot_table(index="percent", columns="quantity", values="mean", dropna=False)
    ending = "_kg" if f"{joint}_torque_nm_kg" in means else ""
    net = f"{joint}_torque_nm{ending}"
    if net not in means:
        return
    lines = {"net": means[net]}
    for kind, names in kinds_of_terms(joint, joints).items():
        lines[kind] = means[[f"{name}{ending}" for name in names]].sum(axis=1, skipna=False)
    counts = curves.loc[curves["quantity"] == net, "n_trials"].to_numpy()
    whole = counts == counts.max()
    for kind, line in lines.items():
        if kind != "net" and not (line.abs() > 0.0).any():
            continue
        look: dict[str, Any] = {"color": TERM_COLOURS.get(kind, "black"), "zorder": 3 if kind == "net" else 2}
        width = 1.3 if kind == "net" else 0.9
        axes.plot(line.index, line.where(whole), label=TERM_NAMES.get(kind, kind), linewidth=width, **look)
        axes.plot(line.index, line.where(partly(whole)), label="_fewer", linewidth=FEWER_WIDTH, **look)
    axes.axhline(0.0, color="0.6", linewidth=0.6)
    axes.set_xlim(0.0, 100.0)


def mean_terms_figure(
    ensembles: pd.DataFrame, *, joints: Sequence[str], title: str, width_mm: float = TWO_COLUMNS_MM, axis: str = "%"
) -> Figure:
    """Figure of a study: mean net torques and their terms by condition.

    Parameters
    ----------
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain.
    joints : sequence of str
        Joints that are drawn.
    title : str
        Title.
    width_mm : float, optional
        Width, mm.
    axis : str, optional
        Label of the axis of 0 to 100 %.

    Returns
    -------
    matplotlib.figure.Figure
        A column for each joint, a row for each condition with a mean, of both sides together where there are both; the axes
        of a joint are alike. Flexion positive.
    """
    torques = ensembles[ensembles["quantity"].str.contains("_torque_nm") & ensembles["mean"].notna()]
    averaged = set(torques.loc[torques["side"] == BOTH, "condition"])
    shown = [pair for pair, _ in _groups(torques) if pair[1] == BOTH or pair[0] not in averaged]
    chain = list(dict.fromkeys(q.split("_torque_nm")[0] for q in ensembles["quantity"] if "_torque_nm" in q))
    counts = mean_counts(torques, list(dict.fromkeys(torques["quantity"])))
    curves = dict(_groups(ensembles))
    names = [
        wrapped(_mean_name(*pair, counts[pair].words), most=int((width_mm - 18.0) / CHARACTER_MM)) for pair in shown
    ]
    lines = 1 + max((name.count("\n") for name in names), default=0)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        height_mm = 30.0 + min(35.0 + 3.5 * lines, 190.0 / max(len(shown), 1)) * max(len(shown), 1)
        figure = NotebookFigure(figsize=(width_mm * MM, height_mm * MM))
        figure.set_layout_engine("constrained", h_pad=(0.5 + 1.7 * lines) * MM)  # names are between the rows
        grid = figure.subplots(max(len(shown), 1), len(joints), sharex=True, sharey="col", squeeze=False)
        for row, pair, name in zip(grid, shown, names, strict=False):
            for axes, joint in zip(row, joints, strict=True):
                draw_mean_terms(axes, curves[pair], joint, chain)
            text = row[0].annotate(name, (0.0, 1.0), (0.0, 4.0), "axes fraction", "offset points", parse_math=False)
            text.set_in_layout(False)
        for axes, joint in zip(grid[0], joints, strict=True):
            axes.annotate(
                joint, (0.0, 1.0), (0.0, 5.0 + 10.0 * lines), "axes fraction", "offset points", fontweight="bold"
            )
        unit = next(iter(torques["unit"]), "N m")
        for axes in grid[:, 0]:
            axes.set_ylabel(f"torque ({unit})")
        for axes in grid[-1]:
            axes.set_xlabel(_lines(axis, room_mm=width_mm / len(joints) - 13.0))
        shared_legend(figure, grid.ravel(), width_mm)
        heading(figure, wrapped_heading(title, width_mm))
    return figure


def _lines(label: str, *, room_mm: float) -> str:
    """Label of an axis, in as many lines as its room needs."""
    room = room_mm / CHARACTER_MM
    return label if len(label) < room else textwrap.fill(label, max(int(room), 8))


def _mean_name(condition: str, side: str, words: str) -> str:
    """Condition, side and numbers of a mean."""
    return f"{', '.join(filter(None, (condition, 'sides averaged' if side == BOTH else side)))} ({words})"


def _groups(rows: pd.DataFrame) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    """Rows of each condition and side, in their order."""
    pairs = list(dict.fromkeys(zip(rows["condition"], rows["side"], strict=True)))
    return [(pair, rows[(rows["condition"] == pair[0]) & (rows["side"] == pair[1])]) for pair in pairs]
