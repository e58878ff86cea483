"""Share of a stance with known ground force, and its differences between trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.statistics.wording import has_curve
from limbtorque.tables.trial_record import SAME_TIME_S
from limbtorque.tables.words import counted

MAX_SHARE_DIFFERENCE = 0.05  # of a stance with known ground force, between trials that are averaged


def known_stance_share(time_s: FloatArray, status: NDArray[Any], *, start_s: float, end_s: float, cycle: bool) -> float:
    """Share of the frames of a stance with a known ground force.

    Parameters
    ----------
    time_s, status : ndarray of shape (n_frames,)
        Time, s, and `external_status` of the kinematics table: 0 no contact, 1 contact with known force, 2 with unknown force.
    start_s, end_s : float
        The window, s.
    cycle : bool
        The window ends where the next cycle begins: contact up to its end belongs to the next cycle.

    Returns
    -------
    float
        Share, from 0 to 1; NaN without contact.

    Examples
    --------
    A stance of four frames, three of them known, and the beginning of the next one:

    >>> status = np.array([2, 1, 1, 1, 0, 0, 2])
    >>> known_stance_share(np.arange(7.0), status, start_s=0.0, end_s=6.0, cycle=True)
    0.75
    """
    inside = status[(time_s >= start_s - SAME_TIME_S) & (time_s <= end_s + SAME_TIME_S)]
    free = np.flatnonzero(inside == 0)
    if cycle and free.size:
        inside = inside[: free[-1] + 1]
    contact = inside[inside != 0]
    return float((contact == 1).mean()) if contact.size else float("nan")


def uneven_ground_forces(
    windows: Iterable[Mapping[str, str]], known_stance: Mapping[str, float]
) -> dict[str, list[str]]:
    """Sentences on mean curves with unequal or unknown ground force, by chain.

    Parameters
    ----------
    windows : iterable of mapping
        Rows of `results/windows.csv`, as text.
    known_stance : mapping of str to float
        `known_stance_share` of the trials that meet the ground; NaN for one without contact.

    Returns
    -------
    dict of str to list of str
        A sentence for each condition and side with shares that differ by more than 5 %, or that are all zero.
    """
    groups: dict[tuple[str, str, str], list[float]] = {}
    for row in windows:
        share = known_stance.get(row["trial"], float("nan"))
        if has_curve(row) and not np.isnan(share):
            groups.setdefault((row["chain"], row["condition"], row["side"]), []).append(share)
    found: dict[str, list[str]] = {}
    for (chain, condition, side), shares in groups.items():
        of = f"In the mean of {', '.join(filter(None, (condition, side)))} ({counted(len(shares), 'trial')}), the ground force "
        if max(shares) == 0.0:
            text = "is not known in any frame of the stance, as the foot was not on a usable plate: torques and powers are missing there."
        elif max(shares) - min(shares) > MAX_SHARE_DIFFERENCE:
            text = (
                f"is known in {100.0 * min(shares):.0f} to {100.0 * max(shares):.0f} % of the stance, depending on the trial; elsewhere the "
                "foot was not on a usable plate, and only the trial's angles enter the mean: mean torques and powers of the stance "
                "include different trials from point to point."
            )
        else:
            continue
        found.setdefault(chain, []).append(of + text)
    return found
