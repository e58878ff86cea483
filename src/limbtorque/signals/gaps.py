"""Gap filling in time, from markers of the same segment, or from all markers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, missing_samples, runs
from limbtorque.signals.gaps_from_markers import principal_components, rigid_segment

GapMethod = Literal["cubic", "pchip", "rigid_segment", "principal_components"]

NEIGHBOURS = 30
PROBES = 5


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
    segments: Sequence[Sequence[int]] = (),
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
    method : {"cubic", "pchip", "rigid_segment", "principal_components"}, optional
        Interpolation in time through the samples of the marker: cubic spline, or the shape-preserving one. Or from other
        markers visible in the gap: at least three of the same rigid segment, or all by principal components; a gap that
        these cannot fill is filled by the cubic spline.
    segments : sequence of sequences of int, optional
        Markers of each rigid segment, for `rigid_segment`.
    wanted : sequence of int, optional
        Markers whose gaps are filled; the others only help. All by default.

    Returns
    -------
    Filled
        Positions, which samples were filled, the longest gap that was not, and every gap with its expected error.

    Notes
    -----
    The interpolation uses the `NEIGHBOURS` nearest samples on both sides; the influence of farther ones on a cubic
    spline, which falls by 2 - sqrt(3) with every sample, is below rounding. See `gaps_from_markers` for the others.
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
                gap, positions[start:stop, marker] = _fill(measured, missing, gap, method, segments)
                filled[start:stop, marker] = True
            gaps.append(gap)
    longest = max((gap.stop - gap.start for gap in gaps if not gap.method), default=0)
    return Filled(positions, filled, longest, tuple(gaps))


def _fill(
    measured: FloatArray, missing: BoolArray, gap: Gap, method: GapMethod, segments: Sequence[Sequence[int]]
) -> tuple[Gap, FloatArray]:
    """Fill one gap, and estimate the error from gaps of the same length cut beside it."""
    ways: list[tuple[str, Callable[[int, int], FloatArray | None]]] = []
    if method == "rigid_segment":
        others = sorted({m for segment in segments if gap.marker in segment for m in segment} - {gap.marker})
        ways.append((method, lambda a, b: rigid_segment(measured, missing, gap.marker, a, b, others=others)))
    elif method == "principal_components":
        ways.append((method, lambda a, b: principal_components(measured, missing, gap.marker, a, b)))
    kind = "pchip" if method == "pchip" else "cubic"
    ways.append((kind, lambda a, b: _in_time(measured[:, gap.marker], missing[:, gap.marker], a, b, kind)))
    for name, way in ways:
        found = way(gap.start, gap.stop)
        if found is not None:
            error = _expected_error(measured[:, gap.marker], missing[:, gap.marker], gap, way)
            return Gap(gap.marker, gap.start, gap.stop, name, error), found
    raise AssertionError("interpolation in time fills every gap between two samples")  # pragma: no cover


def _in_time(track: FloatArray, missing: BoolArray, start: int, stop: int, kind: str) -> FloatArray:
    """Interpolate frames start to stop, (n_frames, 3), from the samples on both sides."""
    from scipy import interpolate  # a slow import that most stages do not need

    known = np.flatnonzero(~missing)
    first, last = np.searchsorted(known, (start, stop))
    near = np.concatenate([known[max(first - NEIGHBOURS, 0) : first], known[last : last + NEIGHBOURS]])
    if kind == "cubic" and near.size > 3:  # not-a-knot, as CubicSpline in a third of its time
        return np.asarray(interpolate.make_interp_spline(near, track[near], k=3)(np.arange(start, stop)))
    return np.asarray(interpolate.PchipInterpolator(near, track[near], axis=0)(np.arange(start, stop)))


def _expected_error(
    track: FloatArray, missing: BoolArray, gap: Gap, way: Callable[[int, int], FloatArray | None]
) -> float:
    """Rms error of the method in complete stretches of the gap's length nearby."""
    length = gap.stop - gap.start
    squared = []
    for start in _probe_starts(missing, gap, length):
        found = way(start, start + length)
        if found is not None:
            squared.append(float(((found - track[start : start + length]) ** 2).sum(axis=1).mean()))
    return float(np.sqrt(np.mean(squared))) if squared else float("nan")


def _probe_starts(missing: BoolArray, gap: Gap, length: int) -> list[int]:
    """Starts of up to `PROBES` complete stretches of a length, nearest first.

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
