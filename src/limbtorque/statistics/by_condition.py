"""The summary of the trials, turned so that flexion is positive, in one row per condition, and as sheets of a workbook."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.statistics.time_normalisation import SAME_TIME_S
from limbtorque.statistics.wording import has_curve
from limbtorque.tables.column import TRIAL_COLUMNS, Column
from limbtorque.tables.dictionary import WORKBOOK_DICTIONARY_COLUMNS
from limbtorque.tables.ledger import LEDGER_COLUMNS
from limbtorque.tables.summary import FLEXION_SIGNED, STATISTICS, wide_columns
from limbtorque.tables.words import counted
from limbtorque.tables.workbook import Sheet

GROUP = ("chain", "condition", "side", "joint", "term")
EXTREMES = (("max_nm", "min_nm"), ("max_time_s", "min_time_s"))  # change places where the sense is turned
UNLIKE_SHARES = 0.05  # of a stance with known ground force: curves that differ by more do not compare
PEAK_OF = {"peak_nm": "peak_nm", "peak_time_s": "peak_nm", "peak_power_w": "peak_power_w"}


def included(torque_status: str, include: Literal["ok", "flagged"]) -> bool:
    """Whether a trial is averaged: failed ones never are.

    >>> [included(status, "flagged") for status in ("ok", "flagged", "failed")]
    [True, True, False]
    """
    return torque_status == "ok" or (torque_status == "flagged" and include == "flagged")


def flexion_positive(rows: Iterable[Mapping[str, Any]], signs: Mapping[str, float]) -> list[dict[str, Any]]:
    """Rows of a trial's summary with torques positive in flexion, so that sides and planes can be averaged.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of `results/summary.csv`, in the mechanical sign.
    signs : mapping of str to float
        Of each joint: +1 where counter-clockwise is flexion, -1 where it is extension.

    Examples
    --------
    The greatest value of one sense is the least of the other:

    >>> row = {"joint": "knee", "peak_nm": 3.0, "max_nm": 3.0, "min_nm": -2.0, "mean_nm": 1.0, "impulse_nms": 2.0}
    >>> flexion_positive([{**row, "max_time_s": 0.1, "min_time_s": 0.4}], {"knee": -1.0})[0] | {"joint": ""}
    {'joint': '', 'peak_nm': -3.0, 'max_nm': 2.0, 'min_nm': -3.0, 'mean_nm': -1.0, 'impulse_nms': -2.0, \
'max_time_s': 0.4, 'min_time_s': 0.1}
    """
    turned = []
    for row in rows:
        sign = signs[row["joint"]]
        flexion = {**row, **{name: sign * row[name] for name in FLEXION_SIGNED}}
        if sign < 0.0:
            for first, second in EXTREMES:
                flexion[first], flexion[second] = flexion[second], flexion[first]
        turned.append(flexion)
    return turned


class ConditionSummary:
    """Mean, spread and range of every statistic of the summary, by chain, condition and side.

    Rows come one lot after the other; their numbers are kept, they are not.

    Parameters
    ----------
    include : {"ok", "flagged"}
        Trials that count, as `ensembles.include`.
    spread_over : {"trials", "subjects"}
        Whether every trial counts alike, or the mean of every subject.

    Notes
    -----
    A peak is the value of largest magnitude, so it is in flexion in some trials and in extension in others where the
    two are about as large. Such peaks, and their times, have no mean, sd and median: these are NaN. Least and greatest
    value, which are then those of the trials, show that it is so. The greatest torque in flexion (`max_nm`) and in
    extension (`min_nm`) are statistics of their own and always have a mean.

    A leg whose stance was not measured has swing only, and its torques are a tenth of others': where some trials of a group
    have a known external load in some frame, those that have none are left out, and counted.
    """

    def __init__(self, *, include: Literal["ok", "flagged"], spread_over: Literal["trials", "subjects"]) -> None:
        self._include: Literal["ok", "flagged"] = include
        self._spread_over = spread_over
        self._groups: dict[tuple[str, ...], _Members] = {}

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take rows of `results/summary.csv`, flexion positive (`flexion_positive`)."""
        for row in rows:
            if included(row["torque_status"], self._include):
                self._groups.setdefault(tuple(row[name] for name in GROUP), _Members()).add(row)

    def rows(self) -> list[dict[str, Any]]:
        """Rows of `results/summary_by_condition.csv`."""
        found = []
        for group, members in self._groups.items():
            subjects, values = np.array(members.subjects, dtype=object), members.values()
            loaded = values["loaded_share"] > 0.0
            unloaded = np.count_nonzero(~loaded) if loaded.any() else 0
            if unloaded:
                subjects, values = subjects[loaded], {name: kept[loaded] for name, kept in values.items()}
            for statistic in STATISTICS:
                peaks = values[PEAK_OF[statistic.name]] if statistic.name in PEAK_OF else np.zeros(1)
                mixed = bool((peaks > 0.0).any() and (peaks < 0.0).any())
                figures = _figures(values[statistic.name], subjects, spread_over=self._spread_over, mixed=mixed)
                about = {"statistic": statistic.name, "unit": statistic.unit}
                used = values["used_share"][~np.isnan(values[statistic.name])]
                least, largest = (float(used.min()), float(used.max())) if used.size else (np.nan, np.nan)
                shares = {"min_used_share": least, "max_used_share": largest}
                row = {**dict(zip(GROUP, group, strict=True)), **about, **figures, **shares}
                found.append({**row, "n_unloaded": unloaded})
        return found


class _Members:
    """Subjects and numbers of the rows of one group."""

    NAMES = ("used_share", "loaded_share", *(statistic.name for statistic in STATISTICS))

    def __init__(self) -> None:
        self.subjects: list[str] = []
        self._flat = array("d")

    def add(self, row: Mapping[str, Any]) -> None:
        self.subjects.append(row["subject"])
        self._flat.extend(row[name] for name in self.NAMES)

    def values(self) -> dict[str, FloatArray]:
        matrix = np.array(self._flat).reshape(-1, len(self.NAMES))
        return dict(zip(self.NAMES, matrix.T, strict=True))


def known_stance_share(time_s: FloatArray, status: NDArray[Any], *, start_s: float, end_s: float, cycle: bool) -> float:
    """Share of the frames of a stance whose ground force is known.

    Parameters
    ----------
    time_s, status : ndarray of shape (n_frames,)
        Time, s, and `external_status` of the trial's table of kinematics: 0 no contact, 1 its force is known, 2 it is not.
    start_s, end_s : float
        The part of the trial that is 0 to 100 %, s.
    cycle : bool
        Whether it ends where the next cycle begins: contact that lasts to its end is the next one's then.

    Returns
    -------
    float
        Share, from 0 to 1; NaN without contact.

    Examples
    --------
    A stance of four frames of which three are known, and the beginning of the next one:

    >>> status = np.array([2, 1, 1, 1, 0, 0, 2])
    >>> known_stance_share(np.arange(7.0), status, start_s=0.0, end_s=6.0, cycle=True)
    0.75
    """
    inside = status[(time_s >= start_s - SAME_TIME_S) & (time_s <= end_s + SAME_TIME_S)]
    free = np.flatnonzero(inside == 0)
    if cycle and free.size:
        inside = inside[: free[-1] + 1]
    contact = inside[inside != 0]
    return float((contact == 1).mean()) if contact.size else float("nan")


def uneven_ground_forces(
    windows: Iterable[Mapping[str, str]], known_stance: Mapping[str, float]
) -> dict[str, list[str]]:
    """Sentences on mean curves whose stance has a known ground force in a part of the trials only, or in none, by chain.

    Parameters
    ----------
    windows : iterable of mapping
        Rows of `results/windows.csv`, as text.
    known_stance : mapping of str to float
        `known_stance_share` of the trials that meet the ground; NaN for one without contact.

    Returns
    -------
    dict of str to list of str
        A sentence for each condition and side in which these shares differ by more than 5 %, or are all zero.
    """
    groups: dict[tuple[str, str, str], list[float]] = {}
    for row in windows:
        share = known_stance.get(row["trial"], float("nan"))
        if has_curve(row) and not np.isnan(share):
            groups.setdefault((row["chain"], row["condition"], row["side"]), []).append(share)
    found: dict[str, list[str]] = {}
    for (chain, condition, side), shares in groups.items():
        of = f"In the mean of {', '.join(filter(None, (condition, side)))} ({counted(len(shares), 'trial')}), the ground force "
        if max(shares) == 0.0:
            said = "is not known in any frame of the stance, as the foot was not on a usable plate: there are no torques and powers there."
        elif max(shares) - min(shares) > UNLIKE_SHARES:
            said = (
                f"is known in {100.0 * min(shares):.0f} to {100.0 * max(shares):.0f} % of a trial's stance; elsewhere the foot was not on a usable "
                "plate, and the trial counts there with its angles only: torques and powers of this mean's stance are of different trials from "
                "point to point."
            )
        else:
            continue
        found.setdefault(chain, []).append(of + said)
    return found


def _figures(values: FloatArray, subjects: NDArray[Any], *, spread_over: str, mixed: bool) -> dict[str, Any]:
    known = ~np.isnan(values)
    values, subjects = values[known], subjects[known]
    names = list(dict.fromkeys(subjects.tolist()))
    count = {"n_trials": values.size, "n_subjects": len(names)}
    if not values.size:
        return {**dict.fromkeys(("mean", "sd", "median", "min", "max"), float("nan")), **count}
    if spread_over == "subjects" and not mixed:
        values = np.array([values[subjects == name].mean() for name in names])
    nothing = float("nan")
    return {
        "mean": nothing if mixed else float(values.mean()),
        "sd": nothing if mixed or values.size < 2 else float(values.std(ddof=1)),
        "median": nothing if mixed else float(np.median(values)),
        "min": float(values.min()),
        "max": float(values.max()),
        **count,
    }


def summary_sheets(
    chains: Sequence[Sequence[str]], rows: Sequence[Mapping[str, Any]], ledger: Sequence[Mapping[str, Any]]
) -> list[Sheet]:
    """Sheets of `results/summary.xlsx`: a row for every trial, what its columns are, and the ledger.

    Parameters
    ----------
    chains : sequence of sequence of str
        Joints of every chain of the study; a column of another chain is empty.
    rows : sequence of mapping
        Rows of `results/summary.csv`, flexion positive.
    ledger : sequence of mapping
        Rows of `results/ledger.csv`.
    """
    first = (*TRIAL_COLUMNS, *(column for column in LEDGER_COLUMNS if column.name == "torque_status"))
    columns: dict[str, Column] = {column.name: column for column in first}
    for joints in chains:
        columns |= {column.name: column for column in wide_columns(joints)}
    wide = {row["trial"]: {column.name: row[column.name] for column in first} for row in ledger}
    for row in rows:
        name = f"{row['joint']}_{row['term']}_"
        wide[row["trial"]] |= {name + statistic.name: row[statistic.name] for statistic in STATISTICS}
    about = [{"column": c.name, "unit": c.unit, "definition": c.definition, "sign": c.sign} for c in columns.values()]
    return [
        Sheet("summary", tuple(columns.values()), tuple(wide.values())),
        Sheet("columns", WORKBOOK_DICTIONARY_COLUMNS, tuple(about)),
        Sheet("ledger", LEDGER_COLUMNS, tuple(ledger)),
    ]
