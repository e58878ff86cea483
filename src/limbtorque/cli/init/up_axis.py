"""Laboratory axis that points up, by the evidence in the recordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from limbtorque.cli.init.survey import Clue, Seen
from limbtorque.study.table_file import TO_DO


def judge_up(seen: Sequence[Seen], *, given: str = "") -> tuple[str, tuple[str, ...]]:
    """Axis that points up by two kinds of evidence, without contradiction.

    The frame that a file's format prescribes is enough alone.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    given : str, optional
        The axis as the user says it, which goes before the evidence.

    Returns
    -------
    axis : str
        E.g. ``"+z"``; empty where it is not certain.
    evidence : tuple of str
        What was seen, kind by kind.
    """
    by_kind: dict[str, dict[str, list[tuple[str, Clue]]]] = {}
    for one in seen:
        for clue in one.up:
            by_kind.setdefault(clue.kind, {}).setdefault(clue.axis, []).append((one.name, clue))
    sentences = [
        f"{clues[0][1].sentence} ({clues[0][0]}{f' and {len(clues) - 1} more' if len(clues) > 1 else ''})"
        for axes in by_kind.values()
        for clues in axes.values()
    ]
    if given:
        return given, (*sentences, "given by --set plane.up_axis")
    axes = {axis for kinds in by_kind.values() for axis in kinds}
    if len(axes) == 1 and (len(by_kind) >= 2 or "format" in by_kind):
        return axes.pop(), tuple(sentences)
    why = "the evidence disagrees" if len(axes) > 1 else "only one kind of evidence" if axes else "no evidence"
    return "", (*sentences, why)


def judge_up_by_file(seen: Sequence[Seen], *, given: str = "") -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Axis that points up in a study, and in those of its files that differ.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    given : str, optional
        The axis as the user says it, that of all files.

    Returns
    -------
    axis, evidence
        As from `judge_up`; where the files differ, the axis of most of them.
    others : dict of str to str
        Name of a recording -> its own axis, where that is another one, or ``TODO`` where it is not certain; empty where all
        have the same.
    """
    axis, evidence = judge_up(seen, given=given)
    own = {one.name: judge_up([one])[0] for one in seen if one.bodies}
    counted = Counter(found for found in own.values() if found).most_common()
    if axis or len(counted) < 2:
        return axis, evidence, {}
    axis = counted[0][0]
    several = ", ".join(f"{found} in {number}" for found, number in counted)
    said = (
        f"the files differ: {several}; those that differ from {axis} have it in the column plane.up_axis of trials.csv"
    )
    others = {name: found or TO_DO for name, found in own.items() if found != axis}
    return axis, (*evidence[:-1], said), others
