"""Faults of a capture's labels: two markers exchanged for some frames, and spikes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbtorque.signals.arrays import lengths, runs

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

JUMP_M = 0.02
SPIKE_M = 0.01
LONGEST_SPIKE = 3
TIMES_USUAL = 6.0


@dataclass(frozen=True)
class Swap:
    """Two markers whose labels are exchanged.

    Attributes
    ----------
    first, second : int
        Indices of the markers.
    start, stop : int
        First frame in which they are exchanged, and the first one in which they are not any more.
    """

    first: int
    second: int
    start: int
    stop: int


def find_swaps(markers_m: FloatArray) -> list[Swap]:
    """Find pairs of markers that take each other's place.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where missing.

    Returns
    -------
    list of Swap
        By time. An exchange that is never taken back is said of the shorter side of the recording: which labels are right
        cannot be known from positions alone.

    Notes
    -----
    Every marker is expected to go on as in its last two frames. Two are exchanged between two frames where both are more
    than `JUMP_M` (2 cm) from where they were expected, and where the sum of the two distances is less than half of that if they are
    taken for each other. Exchanges within a gap of one of the markers are not seen.
    """
    expected = 2.0 * markers_m[1:-1] - markers_m[:-2]
    found = markers_m[2:]
    own = lengths(found - expected)
    events: dict[tuple[int, int], list[int]] = {}
    for frame in np.flatnonzero((own > JUMP_M).sum(axis=1) >= 2):
        jumping = np.flatnonzero(own[frame] > JUMP_M)
        across = lengths(found[frame][jumping][:, None] - expected[frame][jumping][None])
        stay = own[frame, jumping]
        better = across + across.T < 0.5 * (stay[:, None] + stay)
        for i, j in zip(*np.nonzero(np.triu(better, 1)), strict=True):
            events.setdefault((int(jumping[i]), int(jumping[j])), []).append(int(frame) + 2)
    swaps = [
        Swap(*pair, start, stop)
        for pair, at in events.items()
        for start, stop in _between(_first_of(at), len(markers_m))
    ]
    return sorted(swaps, key=lambda swap: (swap.start, swap.first))


def _first_of(frames: list[int]) -> list[int]:
    """Frames of events without those that only follow from one: the frame after it is expected wrongly, too."""
    kept: list[int] = []
    for frame in frames:
        if not kept or frame - kept[-1] > 1:
            kept.append(frame)
    return kept


def _between(events: list[int], n_frames: int) -> list[tuple[int, int]]:
    pairs = list(zip(events[::2], events[1::2], strict=False))
    if len(events) % 2:
        last = events[-1]
        pairs.append((last, n_frames) if n_frames - last <= last or len(events) > 1 else (0, last))
    return pairs


def find_spikes(markers_m: FloatArray) -> BoolArray:
    """Find samples that leave the path of their marker for up to three frames and come back to it.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where missing.

    Returns
    -------
    ndarray of bool, shape (n_frames, n_markers)
        True in the frames of a spike.

    Notes
    -----
    A spike leaves by a jump and comes back by one: changes of velocity between frames of more than 1 cm a frame and of more
    than six times what is usual (the median) in the 25 frames around. And it comes back to where the marker would have been, to half of the
    smaller jump. Within two frames of a gap or an end nothing is found.
    """
    spikes = np.zeros(markers_m.shape[:2], dtype=bool)
    bends = np.diff(markers_m, 2, axis=0)
    jumps = lengths(bends)
    limit = np.maximum(TIMES_USUAL * _usual(np.nan_to_num(jumps)), SPIKE_M)
    for length in range(1, LONGEST_SPIKE + 1):
        n_starts = len(markers_m) - length - 3  # the first one is frame 2
        if n_starts <= 0:
            break
        out, back = jumps[:n_starts], jumps[length + 1 : length + 1 + n_starts]
        velocity = 0.5 * (np.diff(markers_m, axis=0)[:n_starts] + np.diff(markers_m, axis=0)[length + 2 :])
        missed = markers_m[length + 2 : length + 2 + n_starts] - markers_m[1 : 1 + n_starts] - (length + 1) * velocity
        least = np.minimum(out, back)
        usual = np.maximum(limit[:n_starts], limit[length + 1 : length + 1 + n_starts])
        found = (least > usual) & (lengths(missed) < 0.5 * least)
        for frame, marker in zip(*np.nonzero(found), strict=True):
            spikes[frame + 2 : frame + 2 + length, marker] = True
    return spikes


def _usual(values: FloatArray) -> FloatArray:
    """Median over the 25 frames around each, shape (n_frames, n_markers)."""
    from scipy import ndimage

    return np.asarray(ndimage.median_filter(values, size=(25, 1), mode="nearest"))


def spike_runs(spikes: BoolArray) -> list[tuple[int, int, int]]:
    """Marker, first frame and end of every spike that `find_spikes` found, by marker and time."""
    return [(m, start, stop) for m in range(spikes.shape[1]) for start, stop in runs(spikes[:, m])]
