"""Means of the summary by condition, over subjects or trials, flexion positive."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from math import nan
from typing import Any, Literal

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.statistics.mean_and_spread import Moments, Unit, ensemble
from limbtorque.tables.study_columns import STATISTICS
from limbtorque.uncertainty.bands import (
    OWNERS,
    WITH_ERRORS,
    added_errors,
    error_columns,
    error_of_mean_curve,
    errors_by_owner,
)

GROUP = ("chain", "condition", "side", "window", "joint", "term")
PEAK_OF = {  # statistic -> the peak whose sign decides whether it has a mean
    "peak_nm": "peak_nm",
    "peak_nm_kg": "peak_nm",
    "peak_time_s": "peak_nm",
    "peak_time_percent": "peak_nm",
    "peak_power_w": "peak_power_w",
    "peak_power_w_kg": "peak_power_w",
}
MEANS = ("mean", "sd", "mean_low", "mean_high", "sd_within")
_OVER_MASS = [column for column in STATISTICS if column.source]


def included(torque_status: str, include: Literal["ok", "caution"]) -> bool:
    """Return True where a joint of a trial enters the means.

    >>> [included(status, "caution") for status in ("ok", "caution", "rejected", "failed")]
    [True, True, False, False]
    """
    return torque_status == "ok" or (torque_status == "caution" and include == "caution")


def per_body_mass(rows: Iterable[Mapping[str, Any]], mass_kg: float) -> list[dict[str, Any]]:
    """Rows of a trial's summary, with values over body mass, too.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of the summary.
    mass_kg : float
        Body mass, kg.
    """
    return [{**row, **{column.name: column.of(row, mass_kg) for column in _OVER_MASS}} for row in rows]


class ConditionSummary:
    """Mean, spread and range of each statistic, by chain, condition and side.

    Rows are added trial by trial; only their numbers are stored.

    Parameters
    ----------
    include : {"ok", "caution"}
        Trials that count, as `ensembles.include`.
    spread_over : {"subjects", "trials"}
        Unit of the statistics: the means of the subjects, or all trials alike.
    min_units : int
        Least number of units with a value, `ensembles.min_units`.

    Notes
    -----
    A peak is the value of largest magnitude. Where flexion and extension are about equally large, it is in flexion in
    some trials and in extension in others. The mean, sd and median of such peaks and of their times are NaN; minimum and
    maximum are then those of the trials. The maximum in flexion (`max_nm`) and in extension (`min_nm`) are statistics of
    their own and always have a mean.

    The torques of a leg in swing are a tenth of those in stance. Where some trials of a group have a known external load,
    the trials without any (stance not measured) are left out and counted in `n_unloaded`.
    """

    def __init__(self, *, include: Literal["ok", "caution"], spread_over: Unit, min_units: int) -> None:
        self._include: Literal["ok", "caution"] = include
        self._spread_over: Unit = spread_over
        self._min_units = min_units
        self._groups: dict[tuple[str, ...], _Members] = {}

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows of `results/summary.csv` with those of `results/summary_bands.csv`."""
        for row in rows:
            rejected = row["torque_status"] == "rejected"
            if rejected or included(row["torque_status"], self._include):
                members = self._groups.setdefault(tuple(row[name] for name in GROUP), _Members())
                members.rejected += rejected
                if not rejected:
                    members.add(row)

    def rows(self) -> list[dict[str, Any]]:
        """Rows of `results/summary_by_condition.csv`."""
        return [
            {**dict(zip(GROUP, group, strict=True)), **row}
            for group, members in self._groups.items()
            for row in self._group_rows(members)
        ]

    def _group_rows(self, members: _Members) -> Iterator[dict[str, Any]]:
        """Rows of one group, one for each statistic."""
        subjects, values = np.array(members.subjects, dtype=object), members.values()
        loaded = values["loaded_share"] > 0.0
        n_unloaded = np.count_nonzero(~loaded) if loaded.any() else 0
        if n_unloaded:
            subjects, values = subjects[loaded], {name: column[loaded] for name, column in values.items()}
        names = [statistic.name for statistic in STATISTICS]
        numbers = np.column_stack([values[name] for name in names])
        known = ~np.isnan(numbers)
        peaks = np.column_stack([values[PEAK_OF[name]] if name in PEAK_OF else values["used_share"] for name in names])
        mixed = (peaks > 0.0).any(axis=0) & (peaks < 0.0).any(axis=0)
        of_subjects = [subjects == name for name in dict.fromkeys(subjects.tolist()) or ("",)]
        moments = [Moments.of(numbers[own]) for own in of_subjects]
        means = ensemble(moments, spread_over=self._spread_over, min_units=self._min_units)
        units = np.stack([own.known_mean for own in moments]) if self._spread_over == "subjects" else numbers
        few = np.count_nonzero(~np.isnan(units), axis=0) < self._min_units
        median = np.where(few | mixed, np.nan, _median(units))
        errors = [added_errors(np.zeros((3, 1, 1)), numbers[own], self._errors(values)[:, own]) for own in of_subjects]
        error = error_of_mean_curve(
            [own.sum(axis=1) for own in errors],
            [own.n for own in moments],
            over_subjects=self._spread_over == "subjects",
        )
        used = np.where(known, values["used_share"][:, None], np.nan)
        figures = {
            **{name: np.where(mixed, np.nan, getattr(means, name)) for name in MEANS},
            "median": median,
            **{
                name: np.where(few, np.nan, np.where(mixed, extreme(numbers), extreme(units)))
                for name, extreme in {"min": _least, "max": _greatest}.items()
            },
            "mean_error": np.where(mixed | np.isnan(means.mean), np.nan, error),
            "min_used_share": _least(used),
            "max_used_share": _greatest(used),
            "n_trials": means.n_trials,
            "n_subjects": means.n_subjects,
        }
        same = {"spread_over": self._spread_over, "n_unloaded": n_unloaded, "n_rejected": members.rejected}
        for k, statistic in enumerate(STATISTICS):
            own = {name: column[k] for name, column in figures.items()}
            yield {"statistic": statistic.name, "unit": statistic.unit, **same, **own}

    def _errors(self, values: Mapping[str, FloatArray]) -> FloatArray:
        """Standard deviations by owner, shape (3, n_trials, n_statistics)."""
        errors = np.full((len(OWNERS), len(values["used_share"]), len(STATISTICS)), np.nan)
        for k, name in enumerate(statistic.name for statistic in STATISTICS):
            if (whole := name.removesuffix("_kg")) in WITH_ERRORS:
                sizes = np.where(values[whole] == 0.0, 1.0, values[whole])
                errors[..., k] = [values[own] * np.abs(values[name] / sizes) for own in _of_owners(whole)]
        return errors


def _least(values: FloatArray) -> FloatArray:
    """Least known value along the first axis; NaN without any."""
    return np.asarray(np.fmin.reduce(values, initial=np.nan))


def _greatest(values: FloatArray) -> FloatArray:
    """Greatest known value along the first axis; NaN without any."""
    return np.asarray(np.fmax.reduce(values, initial=np.nan))


def _median(values: FloatArray) -> FloatArray:
    """Median along the first axis of the known values; NaN without any."""
    ordered, n = np.sort(np.pad(values, ((0, 1), (0, 0)), constant_values=np.nan), axis=0), (~np.isnan(values)).sum(0)
    middle = [np.take_along_axis(ordered, k[None], axis=0)[0] for k in (np.maximum(n - 1, 0) // 2, n // 2)]
    return np.asarray(np.mean(middle, axis=0))


def _of_owners(name: str) -> list[str]:
    """Names of a statistic's standard deviations by owner of the errors."""
    return [f"{name} by {owner}" for owner in OWNERS]


class _Members:
    """Subjects and numbers of the rows of one group."""

    OF_ROW = ("used_share", "loaded_share", *(statistic.name for statistic in STATISTICS))
    OF_ERRORS = tuple(name for statistic in WITH_ERRORS for name in error_columns(statistic))

    def __init__(self) -> None:
        self.subjects: list[str] = []
        self.rejected = 0
        self._flat = array("d")

    def add(self, row: Mapping[str, Any]) -> None:
        self.subjects.append(row["subject"])
        self._flat.extend([row[name] for name in self.OF_ROW])
        self._flat.extend([row.get(name, nan) for name in self.OF_ERRORS])

    def values(self) -> dict[str, FloatArray]:
        """Numbers of all rows, with standard deviations by owner of the errors."""
        names = (*self.OF_ROW, *self.OF_ERRORS)
        values = dict(zip(names, np.array(self._flat).reshape(-1, len(names)).T, strict=True))
        for name in WITH_ERRORS:
            of_owners = errors_by_owner(*(values[column] for column in error_columns(name)))
            values |= zip(_of_owners(name), of_owners, strict=True)
        return values
