"""Positions smoothed with a given cut-off, or with one chosen from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray
from limbtorque.signals.cutoff import Criterion, CutoffChoice, choose_cutoff
from limbtorque.signals.smoothers import Smoother, smooth_at

Cutoff = float | Criterion
Scope = Literal["trial", "joint"]


@dataclass(frozen=True)
class SmoothedPositions:
    """Smoothed positions and their derivatives, from one model.

    Attributes
    ----------
    values, first, second : ndarray of shape (n_frames, n_points, n_coordinates)
        Positions and derivatives, per s and s^2.
    cutoff_hz : tuple of float
        Cut-off, Hz: one for all points, or one for each.
    choices : tuple of CutoffChoice
        Choices from the data, which may exceed `cutoff_hz`; empty where the cut-offs were given.
    reach : int
        Frames at each end affected by the extension beyond it; the largest of the points.
    """

    values: FloatArray
    first: FloatArray
    second: FloatArray
    cutoff_hz: tuple[float, ...]
    choices: tuple[CutoffChoice, ...]
    reach: int


def smooth_positions(
    positions_m: ArrayLike,
    *,
    rate_hz: float,
    smoother: Smoother,
    cutoff: Cutoff = "expected_error",
    scope: Scope = "trial",
    highest_hz: float = math.inf,
) -> SmoothedPositions:
    """Smooth the positions of points.

    Parameters
    ----------
    positions_m : array_like of shape (n_frames, n_points, n_coordinates)
        Positions without missing samples, m; or any signals of one unit.
    rate_hz : float
        Samples per second.
    smoother : Smoother
        The method.
    cutoff : float or {"residual", "autocorrelation", "gcv", "expected_error"}, optional
        Cut-off, Hz, or the criterion of its choice from the positions; see `cutoff.choose_cutoff`.
    scope : {"trial", "joint"}, optional
        One choice for all points, or one for each. For one cut-off of a whole study see `cutoff.study_cutoff`.
    highest_hz : float, optional
        Upper limit of a chosen cut-off, Hz.

    Returns
    -------
    SmoothedPositions
        Positions, derivatives, cut-offs and reach.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist, or fewer frames than the method or the choice needs.

    Examples
    --------
    >>> time_s = np.arange(300) / 100.0
    >>> noisy = np.sin(5.0 * time_s)[:, None, None] + 1e-3 * np.random.default_rng(0).normal(size=(300, 2, 3))
    >>> found = smooth_positions(noisy, rate_hz=100.0, smoother=Smoother("quintic_spline"))
    >>> bool(np.abs(found.second + 25.0 * np.sin(5.0 * time_s)[:, None, None])[50:-50].max() < 1.0)
    True
    """
    positions = np.asarray(positions_m, dtype=float)
    if isinstance(cutoff, int | float):
        return _with(positions, [float(cutoff)], (), rate_hz, smoother)
    parts = [positions] if scope == "trial" else [positions[:, k] for k in range(positions.shape[1])]
    choices = tuple(choose_cutoff(part, rate_hz=rate_hz, smoother=smoother, by=cutoff) for part in parts)
    return _with(positions, [min(choice.cutoff_hz, highest_hz) for choice in choices], choices, rate_hz, smoother)


def _with(
    positions: FloatArray,
    cutoffs_hz: list[float],
    choices: tuple[CutoffChoice, ...],
    rate_hz: float,
    smoother: Smoother,
) -> SmoothedPositions:
    if len(cutoffs_hz) == 1:
        found = [smooth_at(positions, rate_hz=rate_hz, cutoff_hz=cutoffs_hz[0], smoother=smoother)]
        values, first, second = found[0].values, found[0].first, found[0].second
    else:
        found = [
            smooth_at(positions[:, k], rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
            for k, cutoff_hz in enumerate(cutoffs_hz)
        ]
        values, first, second = (
            np.stack(arrays, axis=1) for arrays in zip(*((f.values, f.first, f.second) for f in found), strict=True)
        )
    return SmoothedPositions(values, first, second, tuple(cutoffs_hz), choices, max(part.reach for part in found))
