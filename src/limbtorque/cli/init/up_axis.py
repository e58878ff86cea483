"""Laboratory axis that points up, by the evidence in the recordings."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.cli.init.survey import Clue, Seen


def judge_up(seen: Sequence[Seen], *, given: str = "") -> tuple[str, tuple[str, ...]]:
    """Axis that points up by two kinds of evidence or more, without contradiction.

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
    if len(axes) == 1 and len(by_kind) >= 2:
        return axes.pop(), tuple(sentences)
    why = "the evidence disagrees" if len(axes) > 1 else "only one kind of evidence" if axes else "no evidence"
    return "", (*sentences, why)
