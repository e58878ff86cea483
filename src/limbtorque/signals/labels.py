"""Marker faults: labels exchanged for some frames, spikes, jumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, lengths, runs

JUMP_M = 0.02
BETTER = 0.5  # largest ratio of the distances with and without an exchange of labels
LEANING = 0.75  # the same ratio of changes of distances
BESIDE = 50  # frames on each side, and
COMPANIONS = 4  # markers, that show if labels stay exchanged
SPIKE_M = 0.01
LONGEST_SPIKE = 3
AROUND = 25
TIMES_USUAL = 6.0
LISTED = 10
EXCESS_M_S2 = 500.0
LEAST_JUMP_M = 0.01
TIMES_FOURTH = 4.0  # the largest of a thousand frames of white noise is 2.8 times the median
LONGEST_JUMP_S = 0.1
EXCHANGED, SPIKES = "labels exchanged (markers, frames)", "spikes (marker, frames)"  # beginnings of notes


@dataclass(frozen=True)
class Swap:
    """Two markers whose labels are exchanged.

    Attributes
    ----------
    first, second : int
        Indices of the markers.
    start, stop : int
        First exchanged frame, and the first one after the exchange.
    """

    first: int
    second: int
    start: int
    stop: int


def find_swaps(markers_m: FloatArray, *, about: Sequence[int] | None = None) -> list[Swap]:
    """Find pairs of markers with exchanged labels.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where missing.
    about : sequence of int, optional
        Markers of which at least one is in every pair; the other may be any. All by default.

    Returns
    -------
    list of Swap
        By time. A lasting exchange is assigned to the shorter side of the recording: positions alone do not show which
        labels are right.

    Notes
    -----
    Between any two frames every marker is extrapolated to the middle by straight lines from its two frames before and its
    two frames after; on a smooth path the two points differ by the jerk only (half the third difference), not by the
    acceleration, so that a serve at 50 Hz passes. Two markers are exchanged there where both points differ by more than
    `JUMP_M` (2 cm: five times the noise of a marker with 1 mm in each coordinate), and where an exchange reduces the sum
    of the two distances to less than half.

    An exchange with one end only lasts until the end of the recording, or began at its start, unless the distances to the
    four steadiest markers beside the two, over 50 frames on each side, contradict it. Then the other end has further
    faults: the two are exchanged in the frames next to the known end in which an exchange brings these distances nearer
    to their medians. Exchanges with ends in gaps, and rings of three markers, are not detected.
    """
    if len(markers_m) < 4:
        return []
    wanted = np.arange(markers_m.shape[1]) if about is None else np.unique(np.asarray(about, dtype=int))
    leaving = lengths(np.diff(markers_m[:, wanted], 3, axis=0)) > 2.0 * JUMP_M  # between frames 1 and 2 is the first
    events: dict[tuple[int, int], list[int]] = {}
    for frame in np.flatnonzero(leaving.any(axis=1)) + 2:
        near = markers_m[frame - 2 : frame + 2]
        # positions at the middle of four frames predicted from the first and last two
        before, after = 1.5 * near[1] - 0.5 * near[0], 1.5 * near[2] - 0.5 * near[3]
        own = lengths(before - after)
        jumping = np.flatnonzero(own > JUMP_M)
        across = lengths(before[jumping, None] - after[jumping])
        better = across + across.T < BETTER * (own[jumping, None] + own[jumping])
        for i, j in zip(*np.nonzero(np.triu(better, 1)), strict=True):
            pair = int(jumping[i]), int(jumping[j])
            if about is None or not {*pair}.isdisjoint(about):
                events.setdefault(pair, []).append(int(frame))
    swaps = [Swap(*pair, *extent) for pair, at in events.items() for extent in _extents(at, pair, markers_m)]
    return sorted(swaps, key=lambda swap: (swap.start, swap.first))


def _extents(events: list[int], pair: tuple[int, int], markers_m: FloatArray) -> list[tuple[int, int]]:
    """Frames between the first and second event, the third and fourth, and so on."""
    found = list(zip(events[::2], events[1::2], strict=False))
    if len(events) % 2 == 0:
        return found
    last, n_frames = events[-1], len(markers_m)
    distances = _to_companions(pair, last, markers_m)
    before, after = (np.nanmedian(part, axis=1) for part in np.split(distances, [min(last, BESIDE)], axis=1))
    # the exchange lasts from here on, or the distances do not decide it
    if np.abs(after - before).sum() >= LEANING * np.abs(after[::-1] - before).sum():
        return [*found, (last, n_frames) if n_frames - last <= last or found else (0, last)]
    return [*found, *_by_distances(distances, last, min(last, BESIDE))]


def _to_companions(pair: tuple[int, int], frame: int, markers_m: FloatArray) -> FloatArray:
    """Distances of a pair to its steadiest neighbours: (2, n_frames, n_companions)."""
    around = markers_m[max(frame - BESIDE, 0) : frame + BESIDE]
    distances = np.stack([lengths(around - around[:, [marker]]) for marker in pair])
    seen = ~np.isnan(distances[0, :, pair[1]])
    others = np.flatnonzero(~np.isnan(distances[:, seen]).any(axis=(0, 1)))
    others = others[(others != pair[0]) & (others != pair[1])]
    before, after = distances[:, : min(frame, BESIDE), others], distances[:, min(frame, BESIDE) :, others]
    spread = np.nanstd(before, axis=1).sum(axis=0) + np.nanstd(after, axis=1).sum(axis=0)
    return np.asarray(distances[:, :, others[np.argsort(spread, kind="stable")[:COMPANIONS]]])


def _by_distances(distances: FloatArray, frame: int, middle: int) -> list[tuple[int, int]]:
    """Frames around the middle in which exchanged labels fit the distances better."""
    usual = np.nanmedian(distances, axis=1, keepdims=True)
    stay, across = (np.abs(found - usual).sum(axis=(0, 2)) for found in (distances, distances[::-1]))
    return [
        (frame + start - middle, frame + stop - middle)
        for start, stop in runs(across < stay)
        if start <= middle <= stop
    ]


def find_spikes(markers_m: FloatArray) -> BoolArray:
    """Find spikes of up to three frames in marker paths.

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
    A spike begins and ends with a jump: a change of velocity between frames of more than 1 cm a frame and of more than six
    times the median of the 25 frames around. It returns to the expected position, within half of the smaller jump, and to
    the expected velocity, within the smaller jump a frame; a foot that strikes the ground does not. Spikes within two
    frames of a gap or an end are not detected. Below 50 frames a second impacts look like spikes.
    """
    spikes = np.zeros(markers_m.shape[:2], dtype=bool)
    steps = np.diff(markers_m, axis=0)
    jumps = lengths(np.diff(steps, axis=0))
    high = jumps > SPIKE_M
    for length in range(1, LONGEST_SPIKE + 1):
        n_starts = len(markers_m) - length - 3  # the first one is frame 2
        if n_starts <= 0:
            break
        start, marker = np.nonzero(high[:n_starts] & high[length + 1 : length + 1 + n_starts])
        end = start + length + 1
        least = np.minimum(jumps[start, marker], jumps[end, marker])
        slowed = lengths(steps[end + 1, marker] - steps[start, marker]) > least
        velocity = 0.5 * (steps[start, marker] + steps[end + 1, marker])
        missed = markers_m[end + 1, marker] - markers_m[start + 1, marker] - (length + 1) * velocity
        for k in np.flatnonzero(~slowed & (lengths(missed) < 0.5 * least)):
            # the largest median of the 25 values around both ends
            near = [jumps[max(at - AROUND // 2, 0) : at + AROUND // 2 + 1, marker[k]] for at in (start[k], end[k])]
            if least[k] > TIMES_USUAL * max(np.median(np.nan_to_num(values)) for values in near):
                spikes[start[k] + 2 : end[k] + 1, marker[k]] = True
    return spikes


def spike_runs(spikes: BoolArray) -> list[tuple[int, int, int]]:
    """Marker, first frame and end of every spike, by marker and time."""
    return [(m, start, stop) for m in range(spikes.shape[1]) for start, stop in runs(spikes[:, m])]


@dataclass(frozen=True)
class LabelFaults:
    """Exchanges and spikes of a recording's markers.

    Attributes
    ----------
    swaps : tuple of Swap
        Exchanges, by time.
    swapped : ndarray of bool, shape (n_frames, n_markers)
        True where a marker is one of an exchanged pair.
    spikes : ndarray of bool, shape (n_frames, n_markers)
        True in the frames of a spike; a marker that is exchanged for a frame or two has none for it.
    """

    swaps: tuple[Swap, ...]
    swapped: BoolArray
    spikes: BoolArray


def find_faults(markers_m: FloatArray, *, about: Sequence[int] | None = None) -> LabelFaults:
    """Find exchanges and spikes.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where missing.
    about : sequence of int, optional
        Markers to be checked for spikes and for exchanges with any marker. All by default.

    Returns
    -------
    LabelFaults
        Exchanges and spikes.

    Examples
    --------
    >>> still = np.arange(20)[:, None, None] * np.ones((1, 2, 3)) * 0.001 + [[[0.0] * 3, [0.1] * 3]]
    >>> still[8:12] = still[8:12, ::-1]
    >>> found = find_faults(still)
    >>> found.swaps, int(found.spikes.sum())
    ((Swap(first=0, second=1, start=8, stop=12),), 0)
    """
    swaps = find_swaps(markers_m, about=about)
    wanted = np.arange(markers_m.shape[1]) if about is None else np.unique(np.asarray(about, dtype=int))
    spikes = np.zeros(markers_m.shape[:2], dtype=bool)
    spikes[:, wanted] = find_spikes(markers_m[:, wanted])
    swapped = np.zeros(markers_m.shape[:2], dtype=bool)
    for swap in swaps:
        swapped[swap.start : swap.stop, [swap.first, swap.second]] = True
    return LabelFaults(tuple(swaps), swapped, spikes & ~swapped)


def fault_notes(faults: LabelFaults, labels: Sequence[str], *, first_frame: int) -> list[str]:
    """Sentences on exchanges and spikes, at most ten of each.

    Parameters
    ----------
    faults : LabelFaults
        Exchanges and spikes.
    labels : sequence of str
        Names of the markers.
    first_frame : int
        Number of the first frame.

    Returns
    -------
    list of str
        One for the exchanges and one for the spikes, where there are any.
    """
    swaps = [f"{labels[s.first]} and {labels[s.second]} {_frames(s.start, s.stop, first_frame)}" for s in faults.swaps]
    spikes = [f"{labels[m]} {_frames(a, b, first_frame)}" for m, a, b in spike_runs(faults.spikes)]
    return [
        f"{title}: {', '.join(entries[:LISTED])}"
        + (f", and {len(entries) - LISTED} more" if len(entries) > LISTED else "")
        for title, entries in ((EXCHANGED, swaps), (SPIKES, spikes))
        if entries
    ]


def _frames(start: int, stop: int, first_frame: int) -> str:
    last = first_frame + stop - 1
    return f"{first_frame + start}-{last}" if stop - start > 1 else f"{last}"


# --- jumps -------------------------------------------------------------------------------------------------------------


def find_jumps(markers_m: FloatArray, *, rate_hz: float) -> BoolArray:
    """Find frames in which a marker has jumped away from its path.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where missing.
    rate_hz : float
        Frames a second.

    Returns
    -------
    ndarray of bool, shape (n_frames, n_markers)
        True between a jump and the jump back, at most 0.1 s later, and in the two frames of a jump without a way back.

    Notes
    -----
    The excess of an acceleration over the mean of its two neighbours is half the fourth difference of the positions times
    the rate squared. A jump has an excess of more than 500 m/s^2, fifty times gravity, where the position also differs
    by more than 1 cm (a sixth of the fourth difference) from the cubic through the two frames before and the two after:
    noise at high rates stays below the second limit, impacts below the first (at most 10 m/s^2 in walks at 100 frames a
    second, 170 with 1 mm of noise at 200). The fourth difference must also exceed four times its median over the recording, so that
    noise of centimetres is not taken for jumps. At 100 frames a second the smallest spike of one frame that is found is 1.7 cm, the
    smallest step 3.3 cm; at 250, 1 cm and 2 cm.

    Examples
    --------
    >>> still = np.zeros((30, 1, 3))
    >>> still[10:18, 0, 1] = 0.2
    >>> np.flatnonzero(find_jumps(still, rate_hz=100.0)[:, 0]).tolist()
    [10, 11, 12, 13, 14, 15, 16, 17]
    """
    found = np.zeros(markers_m.shape[:2], dtype=bool)
    if len(markers_m) < 5:
        return found
    fourth = np.zeros(found.shape)
    fourth[2:-2] = np.nan_to_num(lengths(np.diff(markers_m, 4, axis=0)))
    high = (0.5 * fourth * rate_hz**2 > EXCESS_M_S2) & (fourth / 6.0 > LEAST_JUMP_M)
    high &= fourth > TIMES_FOURTH * np.median(fourth, axis=0)
    for marker in np.flatnonzero(high.any(axis=0)):
        for start, stop in _together(high[:, marker], round(LONGEST_JUMP_S * rate_hz)):
            sizes = fourth[start:stop, marker]
            first, last = (start + np.flatnonzero(sizes > 0.5 * sizes.max())[[0, -1]]).tolist()
            found[first + 1 : last, marker] = True
            found[first : last + 1, marker] |= last <= first + 1
    return found


def _together(high: BoolArray, most: int) -> list[tuple[int, int]]:
    """Runs of frames; runs at most `apart` frames apart are merged."""
    found: list[tuple[int, int]] = []
    for start, stop in runs(high):
        if found and start - found[-1][1] <= most:
            found[-1] = found[-1][0], stop
        else:
            found.append((start, stop))
    return found
