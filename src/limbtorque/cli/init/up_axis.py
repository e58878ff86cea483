"""Laboratory axis that points up, by the evidence in the recordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from limbtorque.cli.init.forces import stem_words
from limbtorque.cli.init.names import some_of
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


def judge_up_by_file(
    seen: Sequence[Seen], person: Mapping[str, str], *, given: str = ""
) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Axis that points up in a study, and in those of its files that differ.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    person : mapping of str to str
        Person of each recording with markers.
    given : str, optional
        The axis as the user says it, that of all files.

    Returns
    -------
    axis, evidence
        As from `judge_up`; where the files differ, the axis of most of them.
    others : dict of str to str
        Name of a recording -> its own axis, where that is another one, or ``TODO`` where it is not certain; empty where all
        have the same.

    Notes
    -----
    A file whose own evidence is not enough has the axis of the same person's files in the same format, unless its own evidence
    contradicts that. Another person's files say nothing on it: they may be of another laboratory.
    """
    with_markers = [one for one in seen if one.bodies]
    if given:
        axis, evidence = judge_up(seen, given=given)
        against = [one.name for one in with_markers if judge_up([one])[0] not in ("", given)]
        contradicting = [f"the evidence in {some_of(against)} contradicts it"] if against else []
        return axis, (*evidence, *contradicting), {}
    forces: dict[tuple[object, ...], list[Seen]] = {}
    for one in (one for one in seen if not one.bodies):
        forces.setdefault(_words(one), []).append(one)
    own = {one.name: judge_up([one, *forces.get(_words(one), ())])[0] for one in with_markers}
    groups: dict[tuple[str, str], list[Seen]] = {}
    for one in with_markers:
        groups.setdefault((person[one.name], one.path.suffix.lower()), []).append(one)
    for some in groups.values():
        shared = _shared(some, own)
        for one in some:
            if not own[one.name] and {clue.axis for clue in one.up} <= {shared}:
                own[one.name] = shared
    counted = Counter(found for found in own.values() if found).most_common()
    _, evidence = judge_up(seen)
    if not counted:
        return "", evidence, {}
    axis = counted[0][0]
    others = {name: found or TO_DO for name, found in own.items() if found != axis}
    if not others:
        return axis, evidence if judge_up(seen)[0] else evidence[:-1], {}
    several = ", ".join(f"{found} in {number}" for found, number in counted)
    unknown = sum(not found for found in own.values())
    counts = [f"the files differ: {several}" if len(counted) > 1 else f"{several} of {len(own)} files"]
    counts += [f"{unknown} do not show it (TODO; --set plane.up_axis={axis} if it is theirs)"] if unknown else []
    said = f"{', '.join(counts)}; those that differ from {axis} have it in the column plane.up_axis of trials.csv"
    return axis, (*(evidence if judge_up(seen)[0] else evidence[:-1]), said), others


def _words(one: Seen) -> tuple[object, ...]:
    """Folder and words of a file's name: a recording and its forces have the same."""
    return Path(one.name).parent, stem_words(one.name)


def _shared(some: Sequence[Seen], own: Mapping[str, str]) -> str:
    """Axis of one person's files in one format; empty where they differ."""
    certain = {own[one.name] for one in some} - {""}
    return certain.pop() if len(certain) == 1 else "" if certain else judge_up(some)[0]
