"""Figures of a study: mean curves by condition, terms at the peak torque, and which flags were raised where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limbtorque.figures import LINE_COLOURS, MM, ONE_COLUMN_MM, STYLE, TWO_COLUMNS_MM, heading, shared_legend
from limbtorque.term_kinds import TERM_COLOURS, TERM_NAMES, kinds_of_terms

SIDE_LINES = {"right": "-", "left": (0, (4.0, 1.5))}
WHOLE = 0.9  # share of a curve that is known: below, the figure says how much is
MOST_ROWS = 60  # of single trials in a matrix of flags; more are told by condition
STATUS_COLOURS = {"ok": "#E8F1EC", "flagged": "#D9A441", "failed": "#A03050"}
CURVES = (("flexion_deg", "flexion (deg)"), ("torque_nm", "net torque (N m)"), ("power_w", "power (W)"))


def draw_ensemble(axes: Axes, ensembles: pd.DataFrame, quantity: str) -> None:
    """Draw the mean of a quantity over 0 to 100 %, with one standard deviation to each side.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain.
    quantity : str
        Which quantity, e.g. ``elbow_torque_nm``.
    """
    rows = ensembles[ensembles["quantity"] == quantity]
    colours = dict(zip(ensembles["condition"].drop_duplicates(), LINE_COLOURS * 10, strict=False))
    for (condition, side), curve in _groups(rows):
        n_trials = int(curve["n_trials"].max())
        if not n_trials:
            continue
        fewest = int(curve["n_trials"][curve["mean"].notna()].min())
        count = f"{n_trials}" if fewest == n_trials else f"{fewest} to {n_trials}"
        label = f"{condition or 'no condition'}, {side} (n = {count})"
        percent, mean, sd = (curve[name].to_numpy() for name in ("percent", "mean", "sd"))
        axes.plot(percent, mean, color=colours[condition], linestyle=SIDE_LINES[side], label=label)
        axes.fill_between(percent, mean - sd, mean + sd, color=colours[condition], alpha=0.15, linewidth=0.0)
    axes.axhline(0.0, color="0.6", linewidth=0.6)
    axes.set_xlim(0.0, 100.0)


def ensemble_figure(
    ensembles: pd.DataFrame, *, joints: Sequence[str], title: str, width_mm: float = TWO_COLUMNS_MM
) -> Figure:
    """Figure of a study: flexion, net torque and power of each joint, mean and spread by condition and side.

    Parameters
    ----------
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain; with or without torques per body mass.
    joints : sequence of str
        Joints of the chain.
    title : str
        Title.
    width_mm : float, optional
        Width, mm.

    Returns
    -------
    matplotlib.figure.Figure
        A column for each joint, a row for each quantity; flexion positive.
    """
    units = dict(zip(ensembles["quantity"], ensembles["unit"], strict=True))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(width_mm * MM, (36.0 + 42.0 * len(CURVES)) * MM), layout="constrained")
        grid = figure.subplots(len(CURVES), len(joints), sharex=True, squeeze=False)
        for row, (ending, label) in zip(grid, CURVES, strict=True):
            for axes, joint in zip(row, joints, strict=True):
                quantity = next((q for q in units if q in (f"{joint}_{ending}", f"{joint}_{ending}_kg")), "")
                draw_ensemble(axes, ensembles, quantity)
            unit = units.get(quantity, "")
            row[0].set_ylabel(f"{label.split(' (')[0]} ({unit})")
        for axes, joint in zip(grid[0], joints, strict=True):
            axes.set_title(joint, loc="left", fontweight="bold")
        for axes in grid[-1]:
            axes.set_xlabel("%")
        shared_legend(figure, grid.ravel(), 3 if width_mm > ONE_COLUMN_MM else 1)
        heading(figure, title, width_mm)
    return figure


def terms_at_peak(ensembles: pd.DataFrame, joint: str, joints: Sequence[str]) -> pd.DataFrame:
    """Terms of a joint's mean torque at the moment when the mean net torque is largest.

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
        A row for each condition and side with a known torque: ``condition``, ``side``, ``percent`` (the moment), ``known_share`` (of the curve: a peak may lie where it is not known), ``net`` and one column
        for each kind of term, in the unit of the ensembles; the kinds add up to the net torque.
    """
    found = []
    kinds = kinds_of_terms(joint, joints)
    for (condition, side), rows in _groups(ensembles):
        curves = rows.pivot_table(index="percent", columns="quantity", values="mean", dropna=False)
        ending = next((e for e in ("", "_kg") if f"{joint}_torque_nm{e}" in curves), None)
        if ending is None or curves[f"{joint}_torque_nm{ending}"].isna().all():
            continue
        net = curves[f"{joint}_torque_nm{ending}"]
        percent = int(curves.index[int(np.nanargmax(np.abs(net.to_numpy())))])
        parts = {}
        for kind, names in kinds.items():
            columns = [f"{name}{ending}" for name in names if f"{name}{ending}" in curves]
            parts[kind] = float(curves.loc[percent, columns].to_numpy(dtype=float).sum())
        known = float(net.notna().mean())
        about = {"condition": condition, "side": side, "percent": percent, "known_share": known}
        found.append({**about, "net": float(net[percent]), **parts})
    return pd.DataFrame(found, columns=["condition", "side", "percent", "known_share", "net", *kinds])


def draw_terms_at_peak(axes: Axes, peaks: pd.DataFrame) -> None:
    """Draw terms side by side, a group of bars for each condition and side, and the net torque as a line over them.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    peaks : pandas.DataFrame
        What `terms_at_peak` found.
    """
    kinds = [kind for kind in TERM_COLOURS if kind in peaks and (peaks[kind].abs() > 0.0).any()]
    width = 0.8 / max(len(kinds), 1)
    at = np.arange(len(peaks))
    for k, kind in enumerate(kinds):
        axes.bar(at - 0.4 + (k + 0.5) * width, peaks[kind], width, color=TERM_COLOURS[kind], label=TERM_NAMES[kind])
    axes.hlines(peaks["net"], at - 0.42, at + 0.42, color="black", linewidth=1.2, label="net")
    axes.axhline(0.0, color="black", linewidth=0.5)
    told = zip(*(peaks[name].astype(str) for name in ("condition", "side", "percent")), strict=True)
    partly = [f", {100.0 * share:.0f} % known" if share < WHOLE else "" for share in peaks["known_share"]]
    names = [
        f"{condition or '-'}\n{side}, at {percent} %{rest}"
        for (condition, side, percent), rest in zip(told, partly, strict=True)
    ]
    axes.set_xticks(at, names, rotation=90 if len(peaks) > 4 else 0, fontsize=6.5)


def peak_figure(
    ensembles: pd.DataFrame, *, joints: Sequence[str], title: str, width_mm: float = TWO_COLUMNS_MM
) -> Figure:
    """Figure of a study: the terms of each joint's torque at the moment of its peak, side by side.

    Parameters
    ----------
    ensembles : pandas.DataFrame
        Rows of `results/ensembles.csv` of one chain.
    joints : sequence of str
        Joints of the chain.
    title : str
        Title.
    width_mm : float, optional
        Width, mm.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each joint; flexion positive.
    """
    unit = next((u for q, u in zip(ensembles["quantity"], ensembles["unit"], strict=True) if "_torque_nm" in q), "N m")
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(width_mm * MM, (26.0 + 52.0 * len(joints)) * MM), layout="constrained")
        panels = figure.subplots(len(joints), 1, sharex=False, squeeze=False)[:, 0]
        for axes, joint in zip(panels, joints, strict=True):
            draw_terms_at_peak(axes, terms_at_peak(ensembles, joint, joints))
            axes.set_title(joint, loc="left", fontweight="bold")
            axes.set_ylabel(f"torque ({unit})")
        shared_legend(figure, panels, 7 if width_mm > ONE_COLUMN_MM else 3)
        heading(figure, title, width_mm)
    return figure


def flag_matrix(ledger: pd.DataFrame) -> pd.DataFrame:
    """Which flags were raised, by trial, or by condition where there are many trials.

    Parameters
    ----------
    ledger : pandas.DataFrame
        `results/ledger.csv`.

    Returns
    -------
    pandas.DataFrame
        Share of the trials of a row with each flag, 0 to 1; ``failed`` comes first. Columns without any are left out.
    """
    reasons = ledger["reason"].fillna("").str.split()
    failed = ledger["status"] == "failed"
    names = sorted({name for row in reasons[~failed] for name in row})
    raised = pd.DataFrame({"failed": failed.astype(float)}, index=ledger.index)
    for name in names:
        raised[name] = [float(name in row) if not bad else np.nan for row, bad in zip(reasons, failed, strict=True)]
    rows = ledger["trial"] if len(ledger) <= MOST_ROWS else ledger["condition"].fillna("").replace("", "no condition")
    matrix = raised.groupby(rows.to_numpy(), sort=False).mean()
    return matrix.loc[:, (matrix > 0.0).any()] if (matrix > 0.0).any(axis=None) else matrix[["failed"]]


def flag_figure(ledger: pd.DataFrame, *, title: str, width_mm: float = TWO_COLUMNS_MM) -> Figure:
    """Figure of a study: a matrix of quality flags.

    Parameters
    ----------
    ledger : pandas.DataFrame
        `results/ledger.csv`.
    title : str
        Title.
    width_mm : float, optional
        Width, mm.

    Returns
    -------
    matplotlib.figure.Figure
        A row for each trial (for each condition where there are more than 60), a column for each flag that was raised.
    """
    matrix = flag_matrix(ledger)
    single = len(ledger) <= MOST_ROWS
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(width_mm * MM, (62.0 + 4.2 * len(matrix)) * MM), layout="constrained")
        axes = figure.subplots()
        for column, name in enumerate(matrix):
            colour = STATUS_COLOURS["failed" if name == "failed" else "flagged"]
            for row, share in enumerate(matrix[name]):
                known = not np.isnan(share)
                face = colour if known and share > 0.0 else STATUS_COLOURS["ok"] if known else "white"
                alpha = 0.35 + 0.65 * share if known and share > 0.0 else 1.0
                axes.add_patch(mpl.patches.Rectangle((column, row), 0.94, 0.9, color=face, alpha=alpha, linewidth=0.0))
                if known and share > 0.0 and not single:
                    axes.text(
                        column + 0.47, row + 0.45, f"{100.0 * share:.0f} %", ha="center", va="center", fontsize=6.5
                    )
        axes.set(xlim=(0.0, max(len(matrix.columns), 6)), ylim=(len(matrix), 0.0))
        axes.set_xticks(
            np.arange(len(matrix.columns)) + 0.47, matrix.columns, rotation=60, ha="left", rotation_mode="anchor"
        )
        axes.xaxis.tick_top()
        axes.set_yticks(np.arange(len(matrix)) + 0.45, matrix.index)
        axes.tick_params(length=0.0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        heading(figure, title, width_mm)
    return figure


def _groups(rows: pd.DataFrame) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    """Rows of each condition and side, in their order."""
    pairs = list(dict.fromkeys(zip(rows["condition"], rows["side"], strict=True)))
    return [(pair, rows[(rows["condition"] == pair[0]) & (rows["side"] == pair[1])]) for pair in pairs]


def captions(model_joints: Mapping[str, Sequence[str]]) -> str:
    """Captions of all figures, in Markdown, with the definition of every term.

    Parameters
    ----------
    model_joints : mapping of str to sequence of str
        Joints of each chain of the study.

    Returns
    -------
    str
        A paragraph for each kind of figure.
    """
    chains = "; ".join(f"{chain}: {', '.join(joints)}" for chain, joints in model_joints.items())
    terms = (
        "Inertial: the inertia matrix's row times the joint accelerations. Centripetal and Coriolis: what squares and products of joint velocities "
        "need. Gravity: what holds the segments up. Base motion: what the acceleration of the first joint needs. External: what a load on the last "
        "segment needs. The terms add up to the net joint torque, which the proximal segment exerts on the distal one."
    )
    marks = "Grey: frames within reach of the filter's ends; reddish: torque not known."
    return (
        "\n\n".join(
            (
                "# Captions",
                f"Chains and joints: {chains}.",
                f"**torques** Net torque of each joint (black, N m) and its terms over time. {terms} {marks}",
                f"**contributions** The same terms piled up on both sides of zero, flexion upwards; their sum is the net torque (line). {terms} {marks}",
                "**kinematics** Flexion of each joint in degrees, its velocity and acceleration, flexion positive.",
                "**power** Net joint torque times joint velocity, W; positive where the torque gives energy to the segments.",
                "**limb** The limb in the plane of motion (m, x forward) at evenly spaced times, light to dark; arrows: external force; grey line: path of the endpoint.",
                "**muscles** Force of each muscle (line, N), the least it has to pull whatever the criterion (dark), and the greatest it could pull with the same torques (light).",
                "**cutoff** Above: root mean square difference between raw and filtered joint centres over the cut-off, mm. Below: what was made small.",
                "**ensembles** Mean (line) and one standard deviation to each side (band) over trials, 0 to 100 % of the movement or cycle; flexion positive; "
                "solid: right, dashed: left; n: trials.",
                f"**peak_terms** Terms of the mean torque at the moment (% of the window) when the mean net torque (line) is largest; flexion positive. {terms}",
                "**flags** Trials and the quality flags that were raised; docs/quality.md explains each.",
            )
        )
        + "\n"
    )
