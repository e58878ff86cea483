"""Speeds of markers: at the ends of a recording, between rests, on a belt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, lengths
from limbtorque.study.options.outputs import Ensembles

SPEED_S = 0.04  # time between the two positions of a speed
FEWEST_SPEEDS, MOST_SPEEDS = 50, 600  # of markers of the feet, from which the speed of a belt is found
SAME_SPEED_M_S = 0.15
SLOWEST_BELT_M_S = 0.3
LEAST_ON_BELT = 0.2  # share of the speeds of the feet that are the belt's
STANDS_M_S, LIFTED_M_S = 0.1, 0.3  # speeds of a foot
LEAST_STANDING, LEAST_LIFTED = 0.2, 0.05  # shares of the time in steps on the spot
ONSET_SHARE, MAX_REST_S = Ensembles().onset_share, Ensembles().max_rest_s  # of the window `movement`
BRIEF_S = 0.1  # faster for a shorter time: noise at rest
LEAST_PEAK = 0.2  # of the largest speed: slower ones are no movement of their own
PEAK_SHARE = 0.99  # of the speeds are below the peak: a spike is no movement

Spells = tuple[tuple[float, float], ...]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Speeds:
    """Speeds of several markers.

    Attributes
    ----------
    speed_m_s : ndarray of shape (n_speeds, n_markers)
        Speed between two frames `SPEED_S` apart, m/s; NaN where one is missing.
    peak_m_s : ndarray of shape (n_markers,)
        Peak of each marker without its fastest hundredth, m/s; 0 where nothing is known.
    rate_hz : float
        Frames per second.
    """

    speed_m_s: FloatArray
    peak_m_s: FloatArray
    rate_hz: float


def steps_of(rate_hz: float) -> int:
    """Frames between the two positions of a speed."""
    return max(1, round(SPEED_S * rate_hz))


def speeds_of(markers_m: FloatArray, rate_hz: float) -> Speeds:
    """Speeds of markers, shape (n_frames, n_markers, 3), m."""
    step = steps_of(rate_hz)
    speed = lengths(markers_m[step:] - markers_m[:-step]) * (rate_hz / step)
    return Speeds(speed, _peaks(speed), rate_hz)


def _peaks(speed: FloatArray) -> FloatArray:
    """Percentile `PEAK_SHARE` of what is known in each column; 0 where nothing is."""
    if not len(speed):
        return np.zeros(speed.shape[1])
    n_known, column = (~np.isnan(speed)).sum(axis=0), np.arange(speed.shape[1])
    at = PEAK_SHARE * np.maximum(n_known - 1, 0)
    below = at.astype(int)
    above = np.minimum(below + 1, len(speed) - 1)
    ordered = np.partition(speed, np.unique([below, above]), axis=0)  # what is missing comes last
    low, high, part = ordered[below, column], ordered[above, column], at - below
    return np.asarray(np.nan_to_num(np.where(part > 0.0, low + part * (high - low), low)))


def end_speeds(speeds: Speeds) -> list[tuple[float, float]]:
    """Speeds in each marker's first and last 0.04 s, as fractions of the peak."""
    speed, peak = speeds.speed_m_s, speeds.peak_m_s
    if not len(speed):
        return [(0.0, 0.0)] * len(peak)
    known = ~np.isnan(speed)
    last = len(known) - 1 - known[::-1].argmax(axis=0)
    ends = (speed[row, np.arange(len(peak))] for row in (known.argmax(axis=0), last))
    return [(float(a / p), float(b / p)) if p > 0.0 else (0.0, 0.0) for a, b, p in zip(*ends, peak, strict=True)]


def moving_spells(speeds: Speeds) -> list[Spells]:
    """Movements of each marker between rests, by the rule of `find_movement`.

    Parameters
    ----------
    speeds : Speeds
        Speeds of the markers; a missing sample is no rest.

    Returns
    -------
    list of tuple of (float, float)
        For each marker beginning and end of its movements, s from the first frame.
    """
    speed, rate_hz = speeds.speed_m_s, speeds.rate_hz
    n, n_markers = speed.shape
    if not speed.size:
        return [()] * n_markers
    resting = _joined(_runs(speed <= ONSET_SHARE * speeds.peak_m_s), round(BRIEF_S * rate_hz))
    marker, begin, end = _between(resting[:, resting[2] - resting[1] >= round(MAX_REST_S * rate_hz)], n, n_markers)
    every = np.append(np.nan_to_num(speed.T).ravel(), 0.0)
    edges = np.column_stack([marker * n + begin, marker * n + end]).ravel()
    fastest = np.maximum.reduceat(every, edges)[::2] if len(edges) else np.zeros(0)
    kept = fastest > LEAST_PEAK * speeds.peak_m_s[marker]
    middle = 0.5 * steps_of(rate_hz)
    found: list[list[tuple[float, float]]] = [[] for _ in range(n_markers)]
    for k, first, stop in zip(*(places[kept].tolist() for places in (marker, begin, end)), strict=True):
        found[k].append(((first + middle) / rate_hz, (stop - 1 + middle) / rate_hz))
    return [tuple(spells) for spells in found]


def _runs(mask: BoolArray) -> Places:
    """Column, start and stop of every run of true values, shape (3, n_runs)."""
    n, n_columns = mask.shape
    padded = np.zeros((n_columns, n + 2), dtype=bool)
    padded[:, 1:-1] = mask.T
    column, place = divmod(np.flatnonzero(padded[:, 1:] != padded[:, :-1]), n + 1)
    return np.stack([column[::2], place[::2], place[1::2]])


def _joined(found: Places, gap: int) -> Places:
    """Runs, with those of a column joined that are less than a gap apart."""
    column, start, stop = found
    near = (column[1:] == column[:-1]) & (start[1:] - stop[:-1] < gap)
    first, last = np.append(True, ~near)[: len(start)], np.append(~near, True)[: len(start)]
    return np.stack([column[first], start[first], stop[last]])


def _between(found: Places, n: int, n_columns: int) -> Places:
    """Complement of the runs in their columns, the ends included."""
    every = np.arange(n_columns)
    ends = [np.stack([every, np.full(n_columns, at), np.full(n_columns, at)]) for at in (0, n)]
    column, start, stop = np.concatenate([found, *ends], axis=1)
    order = np.lexsort((stop, start, column))
    column, start, stop = column[order], start[order], stop[order]
    left = (column[1:] == column[:-1]) & (start[1:] > stop[:-1])
    return np.stack([column[1:][left], stop[:-1][left], start[1:][left]])


def stands_and_moves(foot_m: FloatArray, rate_hz: float) -> bool:
    """Return True if a foot stands for a part of the time and moves for another."""
    step = steps_of(rate_hz)
    speed = lengths(foot_m[step:] - foot_m[:-step]) * (rate_hz / step)
    speed = speed[~np.isnan(speed)]
    shares = ((speed < STANDS_M_S).mean(), (speed > LIFTED_M_S).mean()) if len(speed) else (0.0, 0.0)
    return bool(shares[0] >= LEAST_STANDING and shares[1] >= LEAST_LIFTED)


def belt_m_s(feet_m: FloatArray, rate_hz: float) -> float:
    """Speed of a belt under the feet, m/s; 0 without one.

    It is the velocity that the markers of the feet have most often, unless they rest. A foot on a belt keeps the belt's velocity
    for half of a stride and more when walking, for a third when running.
    """
    step = steps_of(rate_hz)
    velocity = ((feet_m[step:] - feet_m[:-step]) * (rate_hz / step)).reshape(-1, 3)
    velocity = velocity[~np.isnan(velocity).any(axis=1)]
    if len(velocity) < FEWEST_SPEEDS:
        return 0.0
    velocity = velocity[:: -(-len(velocity) // MOST_SPEEDS)]
    size = (velocity**2).sum(axis=1)  # |a - b|^2 = a^2 + b^2 - 2 a.b: a tenth of the time of the differences
    near = size[:, None] + size - 2.0 * (velocity @ velocity.T) < SAME_SPEED_M_S**2
    most = int(near.sum(axis=1).argmax())
    speed = float(np.linalg.norm(velocity[near[most]].mean(axis=0)))
    return round(speed, 2) if speed > SLOWEST_BELT_M_S and near[most].mean() >= LEAST_ON_BELT else 0.0
