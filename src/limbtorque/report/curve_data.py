"""Numbers of a page: some of the frames, with the digits that can be seen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import FloatArray, runs

MOST_FRAMES, FEWEST_FRAMES = 600, 60
BYTES, BYTES_A_NUMBER = 300_000, 5


def frame_step(n_frames: int, n_curves: int) -> int:
    """Step between the frames that are shown.

    Parameters
    ----------
    n_frames, n_curves : int
        Frames and curves of the trial.

    Returns
    -------
    int
        The least step with which there are at most 600 frames, and about 300 kB of numbers.

    Examples
    --------
    >>> [frame_step(n, 60) for n in (600, 601, 6000)]
    [1, 2, 10]
    """
    allowed = max(FEWEST_FRAMES, min(MOST_FRAMES, BYTES // (BYTES_A_NUMBER * max(n_curves, 1))))
    return max(1, math.ceil(n_frames / allowed))


def decimals_for(largest: float, digits: int) -> int:
    """Decimals with which a number has this many digits, 0 to 9.

    Examples
    --------
    >>> [decimals_for(number, 4) for number in (0.0123, 9.99, 10.0, 123456.0, 0.0)]
    [5, 3, 2, 0, 0]
    """
    if not largest > 0.0:
        return 0
    return int(np.clip(digits - 1 - math.floor(math.log10(largest)), 0, 9))


def largest_of(*arrays: ArrayLike) -> float:
    """Largest magnitude of numbers of which some may be missing; 0 where all are."""
    return max((float(np.nanmax(np.abs(array), initial=0.0)) for array in map(np.asarray, arrays)), default=0.0)


def fixed_point(values: FloatArray, decimals: int) -> dict[str, Any]:
    """Encode a curve for JSON: whole numbers of the last decimal, null where missing.

    Parameters
    ----------
    values : ndarray of shape (n_frames,)
        The curve.
    decimals : int
        Decimals.

    Examples
    --------
    >>> fixed_point(np.array([1.234, np.nan, -0.001]), 2)
    {'decimals': 2, 'values': [123, None, 0]}
    """
    known = np.isfinite(values)
    whole = np.rint(np.where(known, values, 0.0) * 10.0**decimals).astype(np.int64).tolist()
    shown = whole if known.all() else [v if k else None for v, k in zip(whole, known.tolist(), strict=True)]
    return {"decimals": decimals, "values": shown}


def spans(mask: NDArray[np.bool_], time_s: FloatArray) -> list[list[float]]:
    """Times at which a mask begins and ceases to hold, half a frame around its frames.

    Examples
    --------
    >>> spans(np.array([False, True, True, False]), np.array([0.0, 0.1, 0.2, 0.3]))
    [[0.05, 0.25]]
    """
    half = (time_s[1] - time_s[0]) / 2.0 if len(time_s) > 1 else 0.0
    return [[round(float(time_s[a] - half), 5), round(float(time_s[b - 1] + half), 5)] for a, b in runs(mask)]
