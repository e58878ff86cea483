"""Runs of frames, missing samples, lengths of vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def runs(mask: ArrayLike) -> list[tuple[int, int]]:
    """Start and end (exclusive) of every run of true values.

    >>> runs([False, True, True, False, True])
    [(1, 3), (4, 5)]
    """
    steps = np.diff(np.concatenate([[False], np.asarray(mask, dtype=bool), [False]]).astype(np.int8))
    return [(int(a), int(b)) for a, b in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)]


def missing_samples(positions_m: FloatArray) -> BoolArray:
    """Where any coordinate is missing, shape (..., 3) -> (...); adding is much faster than looking along a short axis."""
    return np.isnan(positions_m[..., 0] + positions_m[..., 1] + positions_m[..., 2])


def lengths(vectors: FloatArray) -> FloatArray:
    """Lengths of vectors along the last axis, shape (..., k) -> (...)."""
    return np.asarray(np.sqrt(np.einsum("...i,...i", vectors, vectors)))
