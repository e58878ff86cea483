"""Distances between the markers of a body over time: the same in any axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, lengths

MOST_PAIRS = 4  # of markers: those whose distance changes most
LEAST_CHANGE_M = 0.03
RATE_HZ = 100.0  # of the trace, at least, where the recording has it
LEVEL_M, BESIDE_M = 0.05, 0.01  # levels that a distance crosses; it has to leave a level by so much


@dataclass(frozen=True)
class Trace:
    """Distances between some pairs of markers of a body.

    Attributes
    ----------
    pairs : tuple of str
        Labels of each pair without their prefix.
    distance_m : ndarray of shape (n_samples, n_pairs)
        Distances, m; NaN where a marker is missing.
    rate_hz : float
        Samples per second.
    crossings : tuple of (int, int, float)
        Pair, level with its direction as a sign, and time from the first sample, s, of each level that is crossed.
    """

    pairs: tuple[str, ...] = ()
    distance_m: FloatArray = field(default_factory=lambda: np.zeros((0, 0)), compare=False)
    rate_hz: float = 1.0
    crossings: tuple[tuple[int, int, float], ...] = ()


def trace_of(labels: Sequence[str], markers_m: FloatArray, rate_hz: float, sampled: BoolArray) -> Trace:
    """Distances of those neighbours in the order of labels that change most.

    Parameters
    ----------
    labels : sequence of str
        Labels without their prefix.
    markers_m : ndarray of shape (n_frames, n_labels, 3)
        Positions, m.
    rate_hz : float
        Frames per second.
    sampled : ndarray of bool, shape (n_frames,)
        Frames by which the pairs are chosen.
    """
    if len(labels) < 3:
        return Trace()
    order = np.array(sorted(range(len(labels)), key=lambda k: labels[k]))
    first, second = order, np.roll(order, -1)
    few_m = markers_m[sampled]
    away_m = lengths(few_m[:, first] - few_m[:, second])
    n_known = np.isfinite(away_m).sum(axis=0)
    ordered = np.sort(away_m, axis=0)  # what is missing comes last
    low, high = (np.rint(part * np.maximum(n_known - 1, 0)).astype(int) for part in (0.1, 0.9))
    each = np.arange(len(order))
    change_m = np.where(2 * n_known > len(away_m), ordered[high, each] - ordered[low, each], 0.0)
    chosen = [k for k in np.argsort(-change_m, kind="stable")[:MOST_PAIRS].tolist() if change_m[k] > LEAST_CHANGE_M]
    if not chosen:
        return Trace()
    step = max(1, int(rate_hz // RATE_HZ))
    dense_m = markers_m[::step]
    distance_m = lengths(dense_m[:, first[chosen]] - dense_m[:, second[chosen]])
    pairs = tuple(f"{labels[first[k]]} {labels[second[k]]}" for k in chosen)
    own_hz = rate_hz / step
    found = tuple((n, *one) for n in range(len(chosen)) for one in _crossings(distance_m[:, n], own_hz))
    return Trace(pairs, distance_m.astype(np.float32), own_hz, found)


def _crossings(distance_m: FloatArray, rate_hz: float) -> list[tuple[int, float]]:
    """Levels that a distance crosses, with the sign of the direction, and when."""
    known = distance_m[np.isfinite(distance_m)]
    if len(known) < 3:
        return []
    levels = np.arange(np.ceil(known.min() / LEVEL_M), np.floor(known.max() / LEVEL_M) + 1)
    off = distance_m[:, None] - LEVEL_M * levels
    side = np.where(off > BESIDE_M, 1, np.where(off < -BESIDE_M, -1, 0))
    rows = np.maximum.accumulate(np.where(side != 0, np.arange(len(side))[:, None], 0), axis=0)
    held = np.take_along_axis(side, rows, axis=0)
    at, level = np.nonzero(held[1:] * held[:-1] < 0)
    found = []
    for row, column in zip(at.tolist(), level.tolist(), strict=True):
        before = int(rows[row, column])  # the last sample beyond the level on the other side
        a, b = off[before, column], off[row + 1, column]
        time_s = (before + (row + 1 - before) * a / (a - b)) / rate_hz
        found.append((int(levels[column]) * (1 if b > 0.0 else -1), time_s))
    return sorted(found, key=lambda one: one[1])
