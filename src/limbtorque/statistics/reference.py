"""Each person beside a reference group: curves, terms and numbers by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.statistics.prediction import LEVEL, CurveBand, Group, IntArray, complete_block, holm
from limbtorque.study.options.reference import LEAST_BAND
from limbtorque.tables.column import empty_row
from limbtorque.tables.reference_columns import REFERENCE_COLUMNS
from limbtorque.uncertainty.bands import LIMITS

CURVE = "curve"
OF_SIDE = ("chain", "condition", "subject", "side", "n_trials")  # columns that are attributes of a side
SEVERAL_M_S = 0.05  # standard deviation of a reference's walking speeds from which its mean is that at a person's speed


class Shown(NamedTuple):
    """A curve, or a number, that is compared: columns of the table."""

    joint: str
    quantity: str
    term: str
    statistic: str
    unit: str


@dataclass(frozen=True)
class Side:
    """Means over the trials of one side of a subject in a condition.

    Attributes
    ----------
    chain, condition, subject, side : str
        As in the table of trials.
    n_trials : int
        Number of trials.
    speed_m_s : float
        Walking speed; NaN where not known.
    means : dict of Shown to ndarray of shape (2, n_points)
        Values and their standard deviations by errors of the inputs, NaN where not known; a number is a curve of one point.
    """

    chain: str
    condition: str
    subject: str
    side: str
    n_trials: int
    speed_m_s: float
    means: Mapping[Shown, FloatArray]


@dataclass(frozen=True)
class Beside:
    """A curve, or a number, of one side of a person beside the reference.

    Attributes
    ----------
    shown : Shown
        The curve or number.
    row : dict
        Row of `results/compared_with_reference.csv`.
    value, error : ndarray of shape (n_points,)
        The person's, and its standard deviation by errors of the inputs.
    mean, half : ndarray of shape (n_points,)
        Mean of the reference, and half the width of the band of a whole new curve, or of the interval of a number; NaN where
        not known.
    """

    shown: Shown
    row: dict[str, Any]
    value: FloatArray
    error: FloatArray
    mean: FloatArray
    half: FloatArray


def beside_reference(
    persons: Sequence[Side], reference: Sequence[Side], *, members: Collection[str] = (), seed: int
) -> list[Beside]:
    """Each side of each person beside the reference, in every curve and number.

    Parameters
    ----------
    persons, reference : sequence of Side
        Their sides, in conditions of the same name.
    members : collection of str, optional
        Persons that are in the reference: they are compared with the others.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    list of Beside
        For conditions that the reference has. P values are adjusted for all numbers of a person.
    """
    compared: list[Beside] = []
    for key in dict.fromkeys((side.chain, side.condition) for side in persons):
        own, theirs = ([s for s in sides if (s.chain, s.condition) == key] for sides in (persons, reference))
        known = [s for s in own if not np.isnan(s.speed_m_s)]  # who has no speed changes nothing for the others
        for part in (known, [s for s in own if np.isnan(s.speed_m_s)]):
            compared += _of_condition(part, theirs, members, seed) if theirs and part else ()
    for subject in {each.row["subject"] for each in compared}:
        rows = [each.row for each in compared if each.row["subject"] == subject]
        for row, p in zip(rows, holm(np.array([row["p"] for row in rows])).tolist(), strict=True):
            row["p_adjusted"] = p
    return compared


def _of_condition(
    persons: Sequence[Side], reference: Sequence[Side], members: Collection[str], seed: int
) -> Iterator[Beside]:
    """Compare all curves and numbers of a condition."""
    speeds, own = _speeds(reference), _speeds(persons)
    centre, spread = (float(f([*speeds.values()])) for f in (np.mean, np.std))
    at_speed = spread >= SEVERAL_M_S and len(speeds) > LEAST_BAND and not np.isnan([*own.values()]).any()
    for shown in reference[0].means:
        values = np.stack([side.means[shown][0] for side in reference])
        kept, points = complete_block(values)
        if not values[kept][:, points].any():  # no value, or a load that is not there
            continue
        names = [side.subject for side, of_side in zip(reference, kept, strict=True) if of_side]
        number = {name: k for k, name in enumerate(dict.fromkeys(names))}
        n_columns = 1 + (at_speed and bool(shown.joint))  # walking speed itself, cadence and stride are not corrected
        design = np.array([[1.0, speeds[name] - centre][:n_columns] for name in number])
        rows = np.array([[1.0, own[side.subject] - centre][:n_columns] for side in persons])
        group = Group(values[kept][:, points], np.array([number[name] for name in names]), design)
        fit = np.array([1 + number.get(side.subject, -1) if side.subject in members else 0 for side in persons])
        for each in _compared(persons, shown, group, points=points, fit=fit, rows=rows, seed=seed):
            subject = each.row["subject"]
            others = [speed for name, speed in speeds.items() if name != subject or subject not in members]
            low, high = float(np.min(others)), float(np.max(others))
            each.row.update(reference_speed_low_m_s=low, reference_speed_high_m_s=high)
            each.row.update(walking_speed_m_s=own[subject], at_speed=n_columns - 1)
            yield each


def _speeds(sides: Sequence[Side]) -> dict[str, float]:
    """Walking speed of each subject, the mean of its sides."""
    names = dict.fromkeys(side.subject for side in sides)
    return {name: float(np.mean([side.speed_m_s for side in sides if side.subject == name])) for name in names}


def _compared(
    persons: Sequence[Side],
    shown: Shown,
    group: Group,
    *,
    points: BoolArray,
    fit: IntArray,
    rows: FloatArray,
    seed: int,
) -> Iterator[Beside]:
    """Compare a curve or number of persons with a group, each by its fit and row."""
    n_reference = len(group.design) - (fit > 0)
    freedom = n_reference - group.design.shape[1]
    mean, sd = group.left_out.predicted(rows, fit)
    factors = np.where(freedom > 0, special.stdtrit(np.maximum(freedom, 1), 0.5 + LEVEL / 2.0), np.nan)
    if shown.statistic == CURVE:
        band = CurveBand(group, seed=seed) if n_reference.max() >= LEAST_BAND else None
        by_fit = {k: band.factor(k) if band else np.nan for k in set(fit.tolist())}
        factors = np.where(n_reference >= LEAST_BAND, [by_fit[k] for k in fit.tolist()], np.nan)
    others = {k: _usual(group, k) for k in set(fit.tolist())} if shown.statistic == CURVE else {}
    for k, side in enumerate(persons):
        value, error = side.means[shown]
        if not n_reference[k] or np.isnan(value[points]).all():
            continue
        expected = np.full((2, len(points)), np.nan)
        expected[:, points] = mean[k], factors[k] * sd[k]
        row = empty_row(REFERENCE_COLUMNS) | {name: getattr(side, name) for name in OF_SIDE} | shown._asdict()
        row |= {"n_reference": int(n_reference[k]), "degrees_of_freedom": int(freedom[k])}
        each = Beside(shown, row, value, error, *expected)
        if shown.statistic == CURVE:
            row.update(_of_curve(each, others[int(fit[k])]))
        else:
            known = freedom[k] > 0 and sd[k, 0] > 0.0
            row.update(_of_number(each, float((value[0] - mean[k, 0]) / sd[k, 0]) if known else np.nan))
        yield each


def _usual(group: Group, fit: int) -> FloatArray:
    """Rms deviations in a group, each side beside the other subjects.

    Without the subject that a fit of `left_out` has not. Empty where a subject has no others.
    """
    counts, kept = 1.0 - np.eye(len(group.design)), group.subject != fit - 1
    if fit > 0:
        counts[:, fit - 1] = 0.0
    if len(counts) - (fit > 0) < 2:
        return np.zeros(0)
    inverse = np.linalg.pinv(np.einsum("bi,ij,ik->bjk", counts, group.design, group.design), hermitian=True)
    of_others = counts * np.einsum("bj,bjk,ik->bi", group.design, inverse, group.design)  # weights of each mean
    mean = (of_others @ group.weights) @ group.values
    return np.asarray(np.sqrt(np.mean((group.values - mean[group.subject]) ** 2, axis=1))[kept])


def _of_curve(each: Beside, others: FloatArray) -> dict[str, Any]:
    """Columns of a curve; `others` are the rms deviations in the reference."""
    deviation = np.abs(each.value - each.mean)
    rms = float(np.sqrt(np.nanmean(deviation**2)))
    error = (deviation * each.error)[~np.isnan(deviation * each.error)]  # of one sign along the curve
    return {
        "rms_deviation": rms,
        "rms_error": float(error.mean()) / rms if error.size and rms > 0.0 else np.nan,
        "reference_rms": float(np.median(others)) if len(others) else np.nan,
        "larger_share": float(np.mean(others >= rms)) if len(others) else np.nan,
        "outside": percents(deviation > each.half),
        "outside_certain": percents(deviation > each.half + LIMITS * each.error),
    }


def _of_number(each: Beside, t: float) -> dict[str, Any]:
    """Columns of a number: one against the group (Crawford and Howell 1998)."""
    value, mean, half = float(each.value[0]), float(each.mean[0]), float(each.half[0])
    p = float(2.0 * special.stdtr(each.row["degrees_of_freedom"], -abs(t)))
    return {"value": value, "reference_mean": mean, "low": mean - half, "high": mean + half, "t": t, "p": p}


def percents(points: BoolArray) -> str:
    """Runs of points in percent of the window.

    >>> percents(np.array([True, True, False, False, True]))
    '0 to 25 %, 100 %'
    """
    step = 100.0 / max(len(points) - 1, 1)
    return ", ".join(f"{' to '.join(dict.fromkeys(f'{step * k:.3g}' for k in (a, b - 1)))} %" for a, b in runs(points))
