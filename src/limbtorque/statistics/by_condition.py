"""Means of the summary by condition, over subjects or trials, flexion positive."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.statistics.mean_and_spread import Unit
from limbtorque.tables.study_columns import STATISTICS
from limbtorque.uncertainty.bands import OWNERS, WITH_ERRORS, error_of_mean, errors_by_owner

GROUP = ("chain", "condition", "side", "window", "joint", "term")
PEAK_OF = {  # statistic -> the peak whose sign decides whether it has a mean
    "peak_nm": "peak_nm",
    "peak_nm_kg": "peak_nm",
    "peak_time_s": "peak_nm",
    "peak_time_percent": "peak_nm",
    "peak_power_w": "peak_power_w",
    "peak_power_w_kg": "peak_power_w",
}
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
        for statistic in STATISTICS:
            numbers = values[statistic.name]
            peaks = values[PEAK_OF[statistic.name]] if statistic.name in PEAK_OF else np.zeros(1)
            mixed = bool((peaks > 0.0).any() and (peaks < 0.0).any())
            used = values["used_share"][~np.isnan(numbers)]
            found = self._statistics(numbers, subjects, mixed=mixed)
            error = np.nan if np.isnan(found["mean"]) else self._error(statistic.name, values, subjects)
            yield {
                "statistic": statistic.name,
                "unit": statistic.unit,
                "spread_over": self._spread_over,
                **found,
                "mean_error": error,
                "min_used_share": float(used.min()) if used.size else np.nan,
                "max_used_share": float(used.max()) if used.size else np.nan,
                "n_unloaded": n_unloaded,
                "n_rejected": members.rejected,
            }

    def _statistics(self, values: FloatArray, subjects: NDArray[Any], *, mixed: bool) -> dict[str, Any]:
        """Mean, spread and range of known values; only the range for peaks of both signs."""
        known = ~np.isnan(values)
        values, subjects = values[known], subjects[known]
        names = list(dict.fromkeys(subjects.tolist()))
        count = {"n_subjects": len(names), "n_trials": values.size}
        if (len(names) if self._spread_over == "subjects" else values.size) < self._min_units or not values.size:
            return {**dict.fromkeys(("mean", "sd", "median", "min", "max"), np.nan), **count}
        if self._spread_over == "subjects" and not mixed:
            values = np.array([values[subjects == name].mean() for name in names])
        return {
            "mean": np.nan if mixed else float(values.mean()),
            "sd": np.nan if mixed or values.size < 2 else float(values.std(ddof=1)),
            "median": np.nan if mixed else float(np.median(values)),
            "min": float(values.min()),
            "max": float(values.max()),
            **count,
        }

    def _error(self, name: str, values: Mapping[str, FloatArray], subjects: NDArray[Any]) -> float:
        """Error of a mean due to input errors; NaN for statistics without errors."""
        known, whole = ~np.isnan(values[name]), name.removesuffix("_kg")
        if whole not in WITH_ERRORS or not known.any():
            return np.nan
        sizes = np.where(values[whole] == 0.0, 1.0, values[whole])
        sd = np.stack([values[own] for own in _of_owners(whole)], axis=1) * np.abs(values[name] / sizes)[:, None]
        subjects, sd = subjects[known], sd[known]
        weights = np.full(len(sd), 1.0 / len(sd))
        if self._spread_over == "subjects":
            names, place, count = np.unique(subjects.astype(str), return_inverse=True, return_counts=True)
            weights = 1.0 / (len(names) * count[place])
        return error_of_mean(sd, subjects, weights)


def _of_owners(name: str) -> list[str]:
    """Names of a statistic's standard deviations by owner of the errors."""
    return [f"{name} by {owner}" for owner in OWNERS]


class _Members:
    """Subjects and numbers of the rows of one group."""

    OF_ROW = ("used_share", "loaded_share", *(statistic.name for statistic in STATISTICS))
    NAMES = (*OF_ROW, *(own for name in WITH_ERRORS for own in _of_owners(name)))

    def __init__(self) -> None:
        self.subjects: list[str] = []
        self.rejected = 0
        self._flat = array("d")

    def add(self, row: Mapping[str, Any]) -> None:
        self.subjects.append(row["subject"])
        self._flat.extend(row[name] for name in self.OF_ROW)
        for name in WITH_ERRORS:
            self._flat.extend(errors_by_owner(row, name))

    def values(self) -> dict[str, FloatArray]:
        matrix = np.array(self._flat).reshape(-1, len(self.NAMES))
        return dict(zip(self.NAMES, matrix.T, strict=True))
