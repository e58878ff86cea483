"""Copies of one movement among recordings: raw, smoothed, at any rate."""

from __future__ import annotations

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
    times_s = sorted(set(one.sample) & set(other.sample))
    if one.still or other.still or len(shared) < 3 or len(times_s) < 5:
        return False
    mine, theirs = (
        np.stack([seen.sample[t] for t in times_s])[:, [place[label] for label in shared]]
        for seen, place in zip((one, other), places, strict=True)
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
    for time_s, positions in seen.sample.items():
        cells = np.round(positions[columns] / CELL_M)
        for label, cell in zip(own, cells.tolist(), strict=True):
            if not np.isnan(cell).any():
                yield (time_s, label, *cell)
