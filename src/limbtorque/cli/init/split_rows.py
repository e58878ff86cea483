"""Rows of the table of trials for each of several movements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from limbtorque.cli.init.proposed_trials import ProposedTrial

AT_END_S = 0.1  # a movement that begins or ends so near to an end of the recording is cut off
LONGEST_REST_S = 1.0  # that a row has before and after its movement
MOST_MOVEMENTS = 50  # of one limb of a recording: more are no rows


def split_movements(rows: Sequence[ProposedTrial], last_s: float) -> tuple[list[ProposedTrial], list[str]]:
    """Rows for each of several movements between rests, and a sentence on them.

    Parameters
    ----------
    rows : sequence of ProposedTrial
        Rows of one body of a recording.
    last_s : float
        Time of the last frame, s from the first.

    Returns
    -------
    rows : list of ProposedTrial
        A row with `start_s` and `end_s` in the middle of the rests, at most `LONGEST_REST_S` from the movement, where the end of the
        limb rests between movements; gait stays one row.
    sentences : list of str
        The limbs that were split.
    """
    found, said = [], []
    for row in rows:
        if not 2 <= len(row.movements) <= MOST_MOVEMENTS or row.gait or row.strikes or row.left_out:
            found.append(row)
            continue
        edges = [0.0, *(0.5 * (a[1] + b[0]) for a, b in pairwise(row.movements)), last_s]
        for number, ((start, stop), (early, late)) in enumerate(zip(row.movements, pairwise(edges), strict=True), 1):
            found.append(
                replace(
                    row,
                    trial=f"{row.trial}_{number}",
                    start_s=f"{max(early, start - LONGEST_REST_S):.2f}",
                    end_s=f"{min(late, stop + LONGEST_REST_S):.2f}",
                    at_rest=start > AT_END_S and stop < last_s - AT_END_S,
                )
            )
        said.append(
            f"{row.side} {row.chain}: {len(row.movements)} movements between rests, each a row with start_s and end_s"
        )
    return found, said
