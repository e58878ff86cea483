"""Jumps of a marker: accelerations that its neighbouring frames do not carry."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, lengths, runs

EXCESS_M_S2 = 500.0
LEAST_M = 0.01
TIMES_USUAL = 4.0  # the largest of a thousand frames of white noise is 2.8 times the median
LONGEST_S = 0.1


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
    high = (0.5 * fourth * rate_hz**2 > EXCESS_M_S2) & (fourth / 6.0 > LEAST_M)
    high &= fourth > TIMES_USUAL * np.median(fourth, axis=0)
    for marker in np.flatnonzero(high.any(axis=0)):
        for start, stop in _together(high[:, marker], round(LONGEST_S * rate_hz)):
            sizes = fourth[start:stop, marker]
            first, last = (start + np.flatnonzero(sizes > 0.5 * sizes.max())[[0, -1]]).tolist()
            found[first + 1 : last, marker] = True
            found[first : last + 1, marker] |= last <= first + 1
    return found


def _together(high: BoolArray, most: int) -> list[tuple[int, int]]:
    """Runs of frames, with those that are at most so many frames apart as one."""
    found: list[tuple[int, int]] = []
    for start, stop in runs(high):
        if found and start - found[-1][1] <= most:
            found[-1] = found[-1][0], stop
        else:
            found.append((start, stop))
    return found
