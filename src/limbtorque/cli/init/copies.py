"""Copies of one movement among recordings: raw, smoothed, at any rate."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from limbtorque.cli.init.survey import Seen

SAME_M, SAME_MEDIAN_M = 0.02, 0.005  # a smoothed copy differs by less: nearly everywhere, and in the median
SAME_SHARE = 0.05  # of the movement: the median may differ by so much
CELL_M = 0.02  # of the fingerprints


def same_movement(one: Seen, other: Seen, prefix: str = "") -> bool:
    """Return True if two recordings have one movement: raw, smoothed, at any rate.

    Parameters
    ----------
    one, other : Seen
        The recordings; static ones are never called the same.
    prefix : str
        Subject prefix of the body.
    """
    places = [{label: k for k, label in enumerate(seen.labels)} for seen in (one, other)]
    shared = [label for label in places[0] if label in places[1] and label.rpartition(":")[0] == prefix]
    times_s, *rows = np.intersect1d(one.sample_s, other.sample_s, return_indices=True)
    if one.still or other.still or len(shared) < 3 or len(times_s) < 5:
        return False
    mine, theirs = (
        seen.sample_m[row][:, [place[label] for label in shared]]
        for seen, place, row in zip((one, other), places, rows, strict=True)
    )
    apart = np.abs(mine - theirs).max(axis=2)
    known = ~np.isnan(apart)
    if known.mean() <= 0.2 or (apart[known] < SAME_M).mean() <= 0.95:
        return False
    return bool(np.median(apart[known]) < min(SAME_MEDIAN_M, SAME_SHARE * min(one.moved_m, other.moved_m)))


def fingerprints(seen: Seen, prefix: str) -> Iterator[tuple[object, ...]]:
    """Cells of some markers in some frames; smoothed copies share most of them.

    Parameters
    ----------
    seen : Seen
        The recording.
    prefix : str
        Subject prefix of the body.
    """
    own = sorted(label for label in seen.labels if label.rpartition(":")[0] == prefix)[:5]
    columns = [seen.labels.index(label) for label in own]
    cells = np.round(seen.sample_m[:, columns] / CELL_M)
    for time_s, frame in zip(seen.sample_s.tolist(), cells.tolist(), strict=True):
        for label, (x, y, z) in zip(own, frame, strict=True):
            if not math.isnan(x + y + z):
                yield (time_s, label, x, y, z)
