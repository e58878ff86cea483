"""Gap filling in time, or from all other markers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, missing_samples, runs

GapMethod = Literal["cubic", "principal_components"]

NEIGHBOURS = 30
PROBES = 5
VARIANCE = 0.99  # share of the singular values covered by the components
DISTANCE_M = 0.2  # within which other markers count fully
TRAINING_FRAMES = 20
SEEN_SHARE = 0.5  # of the frames, for a marker to be used


@dataclass(frozen=True)
class Gap:
    """One gap between two samples of a marker.

    Attributes
    ----------
    marker : int
        Index of the marker.
    start, stop : int
        First missing frame, and the first one after the gap.
    method : str
        Method by which it was filled; empty where it was not.
    expected_error_m : float
        Root mean square error, m, with which the same method fills gaps of this length that are cut into the marker's
        own frames beside it; NaN where it was not filled or there is no room for such gaps.
    """

    marker: int
    start: int
    stop: int
    method: str
    expected_error_m: float


@dataclass(frozen=True)
class Filled:
    """Markers after short gaps were filled.

    Attributes
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; still NaN in longer gaps and before the first and after the last sample of a marker.
    filled : ndarray of shape (n_frames, n_markers)
        True where a sample was filled.
    longest_gap_frames : int
        Length of the longest gap between two samples of a marker that was **not** filled; 0 where there is none.
    gaps : tuple of Gap
        All gaps between two samples of a marker, by marker and time.
    """

    markers_m: FloatArray
    filled: BoolArray
    longest_gap_frames: int
    gaps: tuple[Gap, ...]


def fill_gaps(
    markers_m: FloatArray,
    *,
    rate_hz: float,
    max_gap_s: float,
    method: GapMethod = "cubic",
    wanted: Sequence[int] | None = None,
) -> Filled:
    """Fill short gaps that have samples on both sides; nothing is extrapolated.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where missing.
    rate_hz : float
        Frames per second.
    max_gap_s : float
        Longest gap that is filled, s: the missing frames over the rate.
    method : {"cubic", "principal_components"}, optional
        Interpolation in time through the samples of the marker by a cubic spline, or by the principal components of all
        markers visible in the gap; a gap that these cannot fill is filled by the cubic spline.
    wanted : sequence of int, optional
        Markers whose gaps are filled; the others only help. All by default.

    Returns
    -------
    Filled
        Positions, which samples were filled, the longest gap that was not, and every gap with its expected error.

    Notes
    -----
    The interpolation uses the `NEIGHBOURS` nearest samples on both sides; the influence of farther ones on a cubic
    spline, which falls by 2 - sqrt(3) with every sample, is below rounding. See `principal_components` for the other.
    Gaps are filled from measured samples only, never from filled ones.
    """
    measured = np.array(markers_m, dtype=float)
    missing = missing_samples(measured)
    positions, filled = measured.copy(), np.zeros_like(missing)
    limit = max_gap_s * rate_hz + 1e-9
    gaps = []
    holed = np.flatnonzero(missing.any(axis=0) & ~missing.all(axis=0))
    for marker in holed if wanted is None else [m for m in holed if m in set(wanted)]:
        for start, stop in runs(missing[:, marker]):
            if start == 0 or stop == len(measured):
                continue
            gap = Gap(int(marker), start, stop, "", float("nan"))
            if stop - start <= limit:
                gap, positions[start:stop, marker] = _fill(measured, missing, gap, method)
                filled[start:stop, marker] = True
            gaps.append(gap)
    longest = max((gap.stop - gap.start for gap in gaps if not gap.method), default=0)
    return Filled(positions, filled, longest, tuple(gaps))


def _fill(measured: FloatArray, missing: BoolArray, gap: Gap, method: GapMethod) -> tuple[Gap, FloatArray]:
    """Fill one gap, and estimate the error from gaps of the same length cut beside it."""
    track, unknown = measured[:, gap.marker], missing[:, gap.marker]

    def in_time(start: int, stop: int) -> FloatArray:
        return _in_time(track, unknown, start, stop)

    def by_others(start: int, stop: int) -> FloatArray | None:
        return principal_components(measured, missing, gap.marker, start, stop)

    values = by_others(gap.start, gap.stop) if method == "principal_components" else None
    if values is None:
        error = _expected_error(track, unknown, gap, in_time)
        return replace(gap, method="cubic", expected_error_m=error), in_time(gap.start, gap.stop)
    return replace(gap, method=method, expected_error_m=_expected_error(track, unknown, gap, by_others)), values


def _in_time(track: FloatArray, missing: BoolArray, start: int, stop: int) -> FloatArray:
    """Interpolate frames start to stop, (n_frames, 3), from the samples on both sides."""
    from scipy import interpolate  # a slow import that most stages do not need

    known = np.flatnonzero(~missing)
    first, last = np.searchsorted(known, (start, stop))
    near = np.concatenate([known[max(first - NEIGHBOURS, 0) : first], known[last : last + NEIGHBOURS]])
    if near.size > 3:  # not-a-knot, as CubicSpline in a third of its time
        return np.asarray(interpolate.make_interp_spline(near, track[near], k=3)(np.arange(start, stop)))
    return np.asarray(interpolate.PchipInterpolator(near, track[near], axis=0)(np.arange(start, stop)))


def _expected_error(
    track: FloatArray, missing: BoolArray, gap: Gap, way: Callable[[int, int], FloatArray | None]
) -> float:
    """Rms error of the method in nearby complete parts of the gap's length."""
    length = gap.stop - gap.start
    squared = []
    for start in _probe_starts(missing, gap, length):
        found = way(start, start + length)
        if found is not None:
            squared.append(float(((found - track[start : start + length]) ** 2).sum(axis=1).mean()))
    return float(np.sqrt(np.mean(squared))) if squared else float("nan")


def _probe_starts(missing: BoolArray, gap: Gap, length: int) -> list[int]:
    """Starts of up to `PROBES` complete parts of a given length, nearest first.

    Each has two samples on both sides.
    """
    margin = 2
    whole = np.convolve(~missing, np.ones(length + 2 * margin), mode="valid") > length + 2 * margin - 0.5
    starts = np.flatnonzero(whole) + margin
    starts = starts[np.argsort(np.abs(starts - gap.start), kind="stable")]
    taken: list[int] = []
    for start in starts:
        if all(abs(start - other) >= max(length // 2, 1) for other in taken):
            taken.append(int(start))
        if len(taken) == PROBES:
            break
    return taken


def principal_components(
    measured: FloatArray, missing: BoolArray, marker: int, start: int, stop: int
) -> FloatArray | None:
    """Positions in a gap from all other markers, by their covariation elsewhere.

    Parameters
    ----------
    measured : ndarray of shape (n_frames, n_markers, 3)
        Positions, m.
    missing : ndarray of shape (n_frames, n_markers)
        Missing samples; the gap itself may be present.
    marker : int
        The marker.
    start, stop : int
        The gap; the marker is known before and after it.

    Returns
    -------
    ndarray of shape (stop - start, 3), or None
        Positions; None where fewer than three other markers, or fewer than 20 frames, can be used.

    Notes
    -----
    After Gloersen and Federolf (2016): positions relative to the mean of the used markers, each coordinate over its
    standard deviation, each marker weighted by ``exp(-d^2 / 2 s^2)`` with d its mean distance from the missing one and
    s = 0.2 m; principal components of the complete frames up to 99 % of the sum of singular values. Here the scores in
    the gap fit the visible markers by least squares, and the errors of the prediction at both sides of the gap are
    subtracted linearly in between.
    """
    usable = np.asarray(~missing[start:stop].any(axis=0) & (missing.mean(axis=0) < SEEN_SHARE))
    usable[marker] = False
    used = np.flatnonzero(usable)
    if used.size < 3:
        return None
    complete = np.asarray(~missing[:, np.append(used, marker)].any(axis=1))
    complete[start:stop] = False
    training = np.flatnonzero(complete)
    if training.size < TRAINING_FRAMES or not _known_at_both_ends(training, start, stop):
        return None
    frames = np.concatenate([training, np.arange(start, stop)])
    middle = measured[np.ix_(frames, used)].mean(axis=1)
    known = (measured[np.ix_(frames, used)] - middle[:, None]).reshape(len(frames), -1)
    sought = measured[training, marker] - middle[: training.size]
    off = known.reshape(len(frames), -1, 3)[: training.size] - sought[:, None]
    weights = np.exp(-0.5 * (np.sqrt((off**2).sum(axis=2)).mean(axis=0) / DISTANCE_M) ** 2) + 1e-6
    predicted = _predict(known, sought, np.repeat(weights, 3)) + middle
    return _without_steps(predicted, measured[training, marker], training, start, stop)


def _predict(known: FloatArray, sought: FloatArray, weights: FloatArray) -> FloatArray:
    """Predicted coordinates in all frames; training frames come first."""
    n_training = len(sought)
    mean, sought_mean = known[:n_training].mean(axis=0), sought.mean(axis=0)
    scale = weights / np.maximum(known[:n_training].std(axis=0), 1e-9)
    scaled = (known - mean) * scale
    squares, components = np.linalg.eigh(scaled[:n_training].T @ scaled[:n_training])
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    n_components = min(int(np.searchsorted(np.cumsum(values), VARIANCE * values.sum())) + 1, n_training // 3)
    scores = scaled @ components[:, ::-1][:, :n_components]
    loadings = np.linalg.lstsq(scores[:n_training], sought - sought_mean, rcond=None)[0]
    return np.asarray(scores @ loadings + sought_mean)


def _known_at_both_ends(frames: NDArray[np.int64], start: int, stop: int) -> bool:
    """Return True if complete frames are near both ends of a gap.

    Near: within one gap length.
    """
    before, after = frames[frames < start], frames[frames >= stop]
    return bool(before.size and after.size and start - before[-1] <= stop - start and after[0] - stop < stop - start)


def _without_steps(
    predicted: FloatArray, measured: FloatArray, frames: NDArray[np.int64], start: int, stop: int
) -> FloatArray:
    """Predicted gap without steps at its ends, by a linear correction in between."""
    off = measured - predicted[: len(frames)]
    last, first = np.flatnonzero(frames < start)[-1], np.flatnonzero(frames >= stop)[0]
    gap = np.arange(start, stop)
    share = ((gap - frames[last]) / (frames[first] - frames[last]))[:, None]
    return np.asarray(predicted[len(frames) :] + (1.0 - share) * off[last] + share * off[first])
