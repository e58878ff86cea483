"""Mean curves by condition, and the terms at the peak of the mean torque."""

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
from limbtorque.uncertainty.bands import LIMITS

SIDE_LINES = {"right": "-", "left": (0, (4.0, 1.5))}
SMALL = 6.5 / 7.5  # letters of the names below the bars over those of a legend
ERROR_WIDTH = 0.6  # of the limits of a mean by errors of the inputs
FEWER_WIDTH = 0.5  # of lines where fewer trials have a value
WHOLE = 0.9  # share of a curve that is known; below, the figure shows it
DOUBTFUL = "0.9"  # ground below the bars of a peak that may not be the largest torque
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
            room = (width_mm - 15.0) / len(across) / CHARACTER_MM
            axes.set_xlabel(axis if len(axis) < room else textwrap.fill(axis, max(int(room), 8)))
        shared_legend(figure, grid.ravel(), width_mm)
        heading(figure, wrapped_heading(title, width_mm))
    return figure


def terms_at_peak(ensembles: pd.DataFrame, joint: str, joints: Sequence[str]) -> pd.DataFrame:
    """Terms of a joint's mean torque at the time of the largest mean net torque.

    Parameters
    ----------
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain.
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain.

    Returns
    -------
    pandas.DataFrame
        A row for each condition and side with a known torque: ``condition``, ``side``, ``percent`` (the moment), ``known_share`` (of the
        curve: a peak may lie where it is not known), ``trials`` and ``most`` (how many trials have a torque at that moment, and how many have
        a curve), ``border`` (the torque is not known before or after that moment), ``net`` and one column for each kind of term, in the
        unit of the ensembles; the kinds add up to the net torque.
    """
    found = []
    kinds = kinds_of_terms(joint, joints)
    for (condition, side), rows in _groups(ensembles):
        curves = rows.pivot_table(index="percent", columns="quantity", values="mean", dropna=False)
        ending = next((e for e in ("", "_kg") if f"{joint}_torque_nm{e}" in curves), None)
        if ending is None or curves[f"{joint}_torque_nm{ending}"].isna().all():
            continue
        net = curves[f"{joint}_torque_nm{ending}"]
        at = int(np.nanargmax(np.abs(net.to_numpy())))
        percent = float(curves.index[at])
        torque = rows["quantity"] == f"{joint}_torque_nm{ending}"
        trials = int(rows.loc[torque & (rows["percent"] == percent), "n_trials"].iloc[0])
        unknown = np.concatenate([[True], net.isna().to_numpy(), [True]])  # nothing is known before and after, either
        parts = {}
        for kind, names in kinds.items():
            columns = [f"{name}{ending}" for name in names if f"{name}{ending}" in curves]
            parts[kind] = float(curves.loc[percent, columns].to_numpy(dtype=float).sum())
        known = float(net.notna().mean())
        about = {"condition": condition, "side": side, "percent": percent, "known_share": known}
        about |= {"trials": trials, "most": int(rows["n_trials"].max()), "border": bool(unknown[at] or unknown[at + 2])}
        found.append({**about, "net": float(net[percent]), **parts})
    about_peak = ("condition", "side", "percent", "known_share", "trials", "most", "border")
    return pd.DataFrame(found, columns=[*about_peak, "net", *kinds])


def doubts(peak: Mapping[Any, Any]) -> list[str]:
    """Reasons why the peak of a mean curve may not be the largest torque.

    Parameters
    ----------
    peak : mapping
        A row of `terms_at_peak`.

    Examples
    --------
    >>> doubts({"known_share": 0.62, "trials": 2, "most": 4, "border": True})
    ['62 % known', '2 of 4 trials', 'next to unknown']
    >>> doubts({"known_share": 0.95, "trials": 4, "most": 4, "border": False})
    []
    """
    found = [f"{100.0 * peak['known_share']:.0f} % known"] if peak["known_share"] < WHOLE else []
    found += [f"{peak['trials']} of {peak['most']} trials"] if peak["trials"] < peak["most"] else []
    return [*found, *["next to unknown"] * bool(peak["border"])]


def draw_terms_at_peak(axes: Axes, peaks: pd.DataFrame, *, room_mm: float = TWO_COLUMNS_MM) -> float:
    """Draw terms as bars, a group for each condition and side, with the net torque.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    peaks : pandas.DataFrame
        Result of `terms_at_peak`.
    room_mm : float, optional
        Width of the axes, mm: names that do not fit side by side are turned.

    Returns
    -------
    float
        Height of the names below the axes, mm, about.
    """
    kinds = [kind for kind in TERM_COLOURS if kind in peaks and (peaks[kind].abs() > 0.0).any()]
    width = 0.8 / max(len(kinds), 1)
    at = np.arange(len(peaks))
    for k, kind in enumerate(kinds):
        axes.bar(at - 0.4 + (k + 0.5) * width, peaks[kind], width, color=TERM_COLOURS[kind], label=TERM_NAMES[kind])
    axes.hlines(peaks["net"], at - 0.42, at + 0.42, color="black", linewidth=1.2, label="net")
    axes.axhline(0.0, color="black", linewidth=0.5)
    names = []
    for place, peak in zip(at, peaks.to_dict("records"), strict=True):
        why = doubts(peak)
        if why:
            axes.axvspan(
                place - 0.47,
                place + 0.47,
                color=DOUBTFUL,
                linewidth=0.0,
                zorder=0,
                label="peak uncertain: reason below the bars",
            )
        lines = [f"{peak['side']}, at {peak['percent']:g} %", *(f"({text})" for text in why)]
        names.append("\n".join([wrapped(peak["condition"] or "-", most=26), *lines]))
    lines = [line for name in names for line in name.split("\n")]
    longest_mm = SMALL * CHARACTER_MM * max(map(len, lines), default=0)
    turned = longest_mm > room_mm / max(len(peaks), 1)
    axes.set_xticks(at, names, rotation=90 if turned else 0, fontsize=6.5, parse_math=False)
    return longest_mm if turned else 3.0 * max((name.count("\n") + 1 for name in names), default=1)


def peak_figure(
    ensembles: pd.DataFrame, *, joints: Sequence[str], title: str, width_mm: float = TWO_COLUMNS_MM, axis: str = "%"
) -> Figure:
    """Figure of a study: terms of each joint's torque at the time of its peak.

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
        Label of 0 to 100 %, for the title.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each joint; flexion positive.
    """
    unit = next((u for q, u in zip(ensembles["quantity"], ensembles["unit"], strict=True) if "_torque_nm" in q), "N m")
    chain = list(dict.fromkeys(q.split("_torque_nm")[0] for q in ensembles["quantity"] if "_torque_nm" in q))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = NotebookFigure(layout="constrained")
        panels = figure.subplots(len(joints), 1, sharex=False, squeeze=False)[:, 0]
        height_mm = 26.0
        for axes, joint in zip(panels, joints, strict=True):
            names_mm = draw_terms_at_peak(axes, terms_at_peak(ensembles, joint, chain), room_mm=width_mm - 15.0)
            height_mm += 46.0 + names_mm
            axes.set_title(joint, loc="left", fontweight="bold")
            axes.set_ylabel(f"torque ({unit})")
        figure.set_size_inches(width_mm * MM, height_mm * MM)
        shared_legend(figure, panels, width_mm)
        times = f"times in % of the {axis.removesuffix(' (%)')}" if axis != "%" else ""
        heading(figure, wrapped_heading(title, width_mm, times))
    return figure


def _groups(rows: pd.DataFrame) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    """Rows of each condition and side, in their order."""
    pairs = list(dict.fromkeys(zip(rows["condition"], rows["side"], strict=True)))
    return [(pair, rows[(rows["condition"] == pair[0]) & (rows["side"] == pair[1])]) for pair in pairs]
