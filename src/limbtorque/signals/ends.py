"""Extension of a signal beyond its first and last sample."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray

Ends = Literal["reflect", "linear", "none"]


def extend(values: FloatArray, *, frames: int, ends: Ends, trend_frames: int = 2) -> FloatArray:
    """Signal with `frames` more samples before and after it.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal.
    frames : int
        Samples to put before and after; for a reflection at most n_frames - 1.
    ends : {"reflect", "linear", "none"}
        Point reflection about the first and last sample; a straight line through the outermost samples; or nothing.
    trend_frames : int, optional
        Outermost samples whose least-squares line is continued beyond an end (`linear`).

    Returns
    -------
    ndarray of shape (n_frames + 2 frames, ...)
        The longer signal; the same one for `none`.

    Notes
    -----
    A reflection preserves value and slope at the end and inverts the curvature, so that a second derivative tends to
    zero there (Smith 1989). A line preserves neither where the signal is curved.

    Examples
    --------
    >>> extend(np.array([1.0, 2.0, 4.0]), frames=1, ends="reflect").tolist()
    [0.0, 1.0, 2.0, 4.0, 6.0]
    """
    if ends == "none":
        return values
    if ends == "reflect":
        before, after = 2.0 * values[0] - values[frames:0:-1], 2.0 * values[-1] - values[-2 : -frames - 2 : -1]
    else:
        beyond = np.arange(1, frames + 1)
        before = _line(values[:trend_frames], -beyond[::-1])
        after = _line(values[-trend_frames:], min(trend_frames, len(values)) - 1 + beyond)
    return np.concatenate([before, values, after])


def _line(values: FloatArray, at: NDArray[np.int64]) -> FloatArray:
    """Least-squares line through samples 0, 1, ..., at other places."""
    middle = (len(values) - 1) / 2.0
    place = np.arange(len(values)) - middle
    slope = np.tensordot(place, values, axes=1) / (place @ place)
    distance = (at - middle).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(values.mean(axis=0) + distance * slope)
