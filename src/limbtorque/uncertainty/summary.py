"""Uncertainty of peaks, means and impulses, for the rows of the torque summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.tables.summary_columns import BANDS
from limbtorque.uncertainty.bands import LIMITS, SumBands, TorqueBands, sign_is_certain
from limbtorque.uncertainty.directions import SHARED_BY, SharedBy

AT_FRAMES = ("peak", "max", "min")
SHARED: tuple[SharedBy, ...] = ("study", "subject")  # owners of errors that several trials have in common


def with_bands(
    rows: Sequence[Mapping[str, Any]],
    bands: TorqueBands,
    motion: ChainMotion,
    *,
    windows: Mapping[str, BoolArray],
    used: BoolArray,
) -> list[dict[str, Any]]:
    """Rows of the torque summary with the columns of their uncertainty.

    Parameters
    ----------
    rows : sequence of dict
        From `torques.summary.torque_summary`: one for every window, joint and term.
    bands : TorqueBands
        Bands of the trial, with the sums of `window_weights`.
    motion : ChainMotion
        Its motion.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    used : ndarray of bool, shape (n_frames,)
        Frames that the summary uses.

    Returns
    -------
    list of dict
        The same rows with `tables.summary_columns.BANDS`; NaN, and an empty text, where a statistic is not known.

    Notes
    -----
    A peak has the uncertainty of its frame: to first order it does not matter that its time is uncertain, too.
    """
    found = []
    for name in dict.fromkeys(row["window"] for row in rows):
        of_window = _Window(bands, motion, name, bool((windows[name] & used).any()))
        mine = [row for row in rows if row["window"] == name]
        n_terms = len(mine) // len(motion.joints)
        for number, row in enumerate(mine):
            joint, term = divmod(number, n_terms)
            found.append({**row, **of_window.columns(row, joint, term)})
    return found


def without_bands(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the torque summary with empty columns of their uncertainty."""
    return [{**row, **_EMPTY} for row in rows]


def window_weights(motion: ChainMotion, windows: Mapping[str, BoolArray], used: BoolArray) -> dict[str, FloatArray]:
    """Weights of the frames in means and impulses, for `propagation.torque_bands`.

    Parameters
    ----------
    motion, windows, used
        As in `with_bands`.

    Returns
    -------
    dict of str to ndarray of shape (n_frames,)
        By window and statistic: ``"trial mean"``; an impulse by trapezoids between neighbouring used frames.
    """
    found = {}
    for name, inside in windows.items():
        some = inside & used
        between = 0.5 / motion.rate_hz * (some[1:] & some[:-1])
        found[f"{name} impulse"] = np.pad(between, (1, 0)) + np.pad(between, (0, 1))
        found[f"{name} mean"] = some / max(some.sum(), 1)
    return found


@dataclass(frozen=True)
class _Window:
    """Standard deviations over one window of a trial."""

    bands: TorqueBands
    motion: ChainMotion
    name: str
    any_used: bool

    def columns(self, row: Mapping[str, Any], joint: int, term: int) -> dict[str, Any]:
        """Columns of one joint and term."""
        values: dict[str, Any] = dict(_EMPTY)
        frames = {name: self._frame(row[f"{name}_time_s"]) for name in AT_FRAMES}
        known = {
            name: (self.bands.sd_nm[joint, term, k], self.bands.bias_nm[joint, term, k], self._at(joint, term, k))
            for name, k in frames.items()
            if k is not None
        }
        for name in ("mean", "impulse") if self.any_used else ():
            if not np.isnan(row[_value(name)]):
                over = self.bands.sums[f"{self.name} {name}"]
                known[name] = over.sd[joint, term], over.bias[joint, term], self._over(over, joint, term)
        for name, (sd, bias, shared) in known.items():
            centre, (start, unit) = row[_value(name)] - bias, _value(name).rsplit("_", 1)
            values[f"{start}_sd_{unit}"] = float(sd)
            values[f"{start}_low_{unit}"] = float(centre - LIMITS * sd)
            values[f"{start}_high_{unit}"] = float(centre + LIMITS * sd)
            values |= {f"{start}_shared_by_{owner}": part / sd**2 if sd else 0.0 for owner, part in shared.items()}
            if name in ("peak", "mean"):
                values[f"{name}_sign_certain"] = float(sign_is_certain(np.array(centre), np.array(sd)))
        if frames["peak"] is not None:
            values |= self._sources(joint, term, frames["peak"])
        return values

    def _frame(self, time_s: float) -> int | None:
        """Index of the frame at a time; None where there is none."""
        return None if np.isnan(time_s) else round((time_s - float(self.motion.time_s[0])) * self.motion.rate_hz)

    def _at(self, joint: int, term: int, frame: int) -> dict[SharedBy, float]:
        """Variance at a frame by errors that trials have in common, by owner."""
        parts = {source: float(each[joint, term, frame]) for source, each in self.bands.by_source.items()}
        return {owner: sum(part for name, part in parts.items() if SHARED_BY[name] == owner) for owner in SHARED}

    def _over(self, sums: SumBands, joint: int, term: int) -> dict[SharedBy, float]:
        """The same of a sum over frames."""
        square = sums.change[joint, term] ** 2
        return {owner: float(square[mine].sum()) for owner, mine in self._shared.items()}

    @cached_property
    def _shared(self) -> dict[SharedBy, BoolArray]:
        """Directions of errors that trials have in common, by owner."""
        owners = [each.shared_by for each in self.bands.directions]
        return {owner: np.array([each == owner for each in owners], dtype=bool) for owner in SHARED}

    def _sources(self, joint: int, term: int, frame: int) -> dict[str, Any]:
        """Shares of the variance by source at a frame, and the largest."""
        whole = float(self.bands.variance_nm2[joint, term, frame])
        if not whole > 0.0:
            return {}
        parts = {source: float(each[joint, term, frame]) / whole for source, each in self.bands.by_source.items()}
        shares = {f"peak_share_{source}": parts.get(source, 0.0) for source in SOURCES}
        return {**shares, "peak_main_source": max(parts, key=lambda source: parts[source])}


_EMPTY = {column.name: "" if column.kind is str else float("nan") for column in BANDS}


def _value(name: str) -> str:
    """Column of a statistic."""
    return "impulse_nms" if name == "impulse" else f"{name}_nm"
