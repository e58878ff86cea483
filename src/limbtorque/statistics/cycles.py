"""Cycles of a movement back and forth: a wheelchair's push, pedalling, arm swing."""

from __future__ import annotations

from typing import Literal

import numpy as np

from limbtorque.arrays import FloatArray, runs

Start = Literal["rearmost", "foremost", "highest", "lowest"]

PROMINENCE = 0.5  # of the range: an extreme stands out by so much on both sides
SIGNS: dict[str, tuple[int, float]] = {  # coordinate in the plane, and sign of its peaks
    "foremost": (0, 1.0),
    "rearmost": (0, -1.0),
    "highest": (1, 1.0),
    "lowest": (1, -1.0),
}


def cycle_times(time_s: FloatArray, path_m: FloatArray, *, start: Start) -> FloatArray:
    """Times at which the cycles of a movement begin.

    Parameters
    ----------
    time_s : ndarray of shape (n_frames,)
        Time, s.
    path_m : ndarray of shape (n_frames, 2)
        Endpoint relative to the first joint in the plane, x forward and y up, m; NaN where missing.
    start : {"rearmost", "foremost", "highest", "lowest"}
        Turning point at which a cycle begins.

    Returns
    -------
    ndarray of shape (n,)
        Times, s, between frames by a parabola through three of them; none at the ends of the recording or of a gap.

    Notes
    -----
    Peaks of that coordinate count that stand out by at least half of its range (2nd to 98th percentile) from the valleys on both sides: the
    topographic prominence of `scipy.signal.find_peaks`. Turning points of hand or foot are the usual marks of cycles: the rearmost hand
    before a push (Vanlandewijck et al. 2001, Sports Medicine 31, 339-367), the pedal's top dead centre.

    Examples
    --------
    >>> time_s = np.arange(0.0, 3.1, 0.01)
    >>> circle = 0.17 * np.column_stack([np.sin(2 * np.pi * time_s), np.cos(2 * np.pi * time_s)])
    >>> cycle_times(time_s, circle, start="rearmost").round(3).tolist()
    [0.75, 1.75, 2.75]
    """
    from scipy.signal import find_peaks  # a slow import that most stages do not need

    axis, sign = SIGNS[start]
    values = sign * path_m[:, axis]
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(0)
    least = PROMINENCE * float(np.subtract(*np.percentile(values[known], [98.0, 2.0])))
    found = []
    for first, stop in runs(known):
        peaks, _ = find_peaks(values[first:stop], prominence=least or None)
        found += [_top(time_s, values, first + int(peak)) for peak in peaks] if least > 0.0 else []
    return np.array(found)


def _top(time_s: FloatArray, values: FloatArray, peak: int) -> float:
    """Time of the top of the parabola through a peak and its neighbours."""
    before, at, after = values[peak - 1 : peak + 2]
    bend = before - 2.0 * at + after
    shift = 0.5 * (before - after) / bend if bend < 0.0 else 0.0
    return float(time_s[peak] + shift * (time_s[peak + 1] - time_s[peak]))
