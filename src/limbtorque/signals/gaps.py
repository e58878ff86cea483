"""Gap filling in time, from markers of the same segment, or from all markers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, missing_samples, runs

GapMethod = Literal["cubic", "pchip", "rigid_segment", "principal_components"]

NEIGHBOURS = 30
PROBES = 5
REFERENCE_FRAMES = 50  # on both sides of a gap, for the shape of a segment
WIDTH_SHARE = 0.05  # of a segment's length: markers nearer to one line do not determine its rotation about the line
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
    spline, which falls by 2 - sqrt(3) with every sample, is below rounding. See `rigid_segment` and `principal_components` for the others.
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
    """Fill one gap; estimate the error from artificial gaps of equal length nearby."""
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
    raise AssertionError("interpolation in time fills all gaps with samples on both sides")  # pragma: no cover


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


# --- from other markers ------------------------------------------------------------------------------------------------


def rigid_segment(
    measured: FloatArray, missing: BoolArray, marker: int, start: int, stop: int, *, others: Sequence[int]
) -> FloatArray | None:
    """Positions in a gap from three or more other markers of the rigid segment.

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
    others : sequence of int
        Other markers of the segment.

    Returns
    -------
    ndarray of shape (stop - start, 3), or None
        Positions; None where fewer than three others are visible throughout the gap and on both sides of it, or they are
        nearly on one line.

    Notes
    -----
    The shape of the segment is the mean of aligned frames beside the gap; in each frame of the gap it is fitted to the
    visible markers by least squares (Soderkvist and Wedin 1993). The errors of the prediction at both sides of the gap
    are subtracted linearly in between.
    """
    seen = np.array([m for m in others if not missing[start:stop, m].any()], dtype=np.int64)
    if len(seen) < 3:
        return None
    beside = _beside(missing[:, np.append(seen, marker)], start, stop)
    if not _known_at_both_ends(beside, start, stop):
        return None
    frames = np.concatenate([beside, np.arange(start, stop)])
    shape = _mean_shape(measured[np.ix_(beside, np.append(seen, marker))], len(seen))
    spread = np.linalg.svd(shape[:-1] - shape[:-1].mean(axis=0), compute_uv=False)
    if spread[1] < WIDTH_SHARE * spread[0]:
        return None
    predicted = _lay_over(shape, measured[np.ix_(frames, seen)])[:, -1]
    return _without_steps(predicted, measured[beside, marker], beside, start, stop)


def principal_components(
    measured: FloatArray, missing: BoolArray, marker: int, start: int, stop: int
) -> FloatArray | None:
    """Positions in a gap from all other markers, by covariation in complete frames.

    Parameters
    ----------
    measured, missing, marker, start, stop
        As in `rigid_segment`.

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


def _beside(missing: BoolArray, start: int, stop: int) -> NDArray[np.int64]:
    """Nearest complete frames on both sides of a gap."""
    complete = np.flatnonzero(~missing.any(axis=1))
    before, after = complete[complete < start], complete[complete >= stop]
    return np.concatenate([before[-REFERENCE_FRAMES:], after[:REFERENCE_FRAMES]])


def _known_at_both_ends(frames: NDArray[np.int64], start: int, stop: int) -> bool:
    """Return True if complete frames are near both ends of a gap.

    Near: within one gap length.
    """
    before, after = frames[frames < start], frames[frames >= stop]
    return bool(before.size and after.size and start - before[-1] <= stop - start and after[0] - stop < stop - start)


def _mean_shape(positions: FloatArray, n_seen: int) -> FloatArray:
    """Mean shape of a segment, (n_markers, 3), aligned by its first `n_seen` markers."""
    shape: FloatArray = positions[0]
    for _ in range(2):
        rotation, middle = _rotations(shape[:n_seen], positions[:, :n_seen])
        back = np.einsum("fji,fmj->fmi", rotation, positions - middle[:, None])
        shape = np.asarray(back.mean(axis=0))
    return shape


def _lay_over(shape: FloatArray, positions: FloatArray) -> FloatArray:
    """Fit a shape to its first markers, seen in every frame: (n_frames, n_markers, 3)."""
    n_seen = positions.shape[1]
    rotation, middle = _rotations(shape[:n_seen], positions)
    centred = shape - shape[:n_seen].mean(axis=0)
    return np.asarray(np.einsum("fij,mj->fmi", rotation, centred) + middle[:, None])


def _rotations(shape: FloatArray, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotations from a shape to the frames, (n_frames, 3, 3), and the frames' means."""
    middle = positions.mean(axis=1)
    products = np.einsum("fmi,mj->fij", positions - middle[:, None], shape - shape.mean(axis=0))
    left, _, right = np.linalg.svd(products)
    left[..., 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    return left @ right, middle


def _without_steps(
    predicted: FloatArray, measured: FloatArray, frames: NDArray[np.int64], start: int, stop: int
) -> FloatArray:
    """Predicted gap without steps at its ends, by a linear correction in between."""
    off = measured - predicted[: len(frames)]
    last, first = np.flatnonzero(frames < start)[-1], np.flatnonzero(frames >= stop)[0]
    gap = np.arange(start, stop)
    share = ((gap - frames[last]) / (frames[first] - frames[last]))[:, None]
    return np.asarray(predicted[len(frames) :] + (1.0 - share) * off[last] + share * off[first])
