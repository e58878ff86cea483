"""Names of subjects and conditions, guessed from the names of folders and files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from limbtorque.cli.init.survey import Seen

SAME_MARKERS = 0.5  # shared by folders of one person, of those of both
NOBODY = "S01"  # where neither folders nor files name a subject


def name_them(
    seen: Sequence[Seen], *, omitted: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, str], list[str], set[str]]:
    """Subjects and conditions of recordings by the names of their folders.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    omitted : collection of str
        Names of those that are no trial, of which the notes say nothing.

    Returns
    -------
    subjects, conditions : dict of str to str
        By the recordings' names. A subject prefix in the file goes before this.
    notes : list of str
        What was guessed.
    unnamed : set of str
        Subjects that neither folders nor files name.
    """
    subjects, conditions, notes, unnamed = {}, {}, [], set()
    seen = [one for one in seen if one.bodies]
    depths = Counter(len(Path(one.name).parts) - 1 for one in seen)
    depth = depths.most_common(1)[0][0] if depths else 0
    level = _subject_level([one for one in seen if len(Path(one.name).parts) - 1 == depth], depth)
    nobody = _nobodies(seen)
    for one in seen:
        *folders, file = Path(one.name).parts
        stem = Path(file).stem
        said = [text for name, text in one.said if name == "SUBJECTS:NAMES"]
        if level is not None and len(folders) > level:
            subjects[one.name] = folders[level]
            others = [folder for k, folder in enumerate(folders) if k != level]
        else:
            subjects[one.name] = said[0] if len(said) == 1 else nobody[one.name]
            unnamed |= {nobody[one.name]} if len(said) != 1 else set()
            others = [folder for folder in folders if folder != subjects[one.name]]
        conditions[one.name] = "_".join(others).lower() or re.sub(r"[\d_ -]+$", "", stem).lower() or stem
    told = [one for one in seen if one.name not in omitted]
    people, kinds = ([names[one.name] for one in told] for names in (subjects, conditions))
    if level is not None:
        notes.append(f"subjects are the names of the folders at level {level + 1}: {some_of(people)} (a guess)")
    elif seen and not all(body.prefix for one in seen for body in one.bodies):
        if any(text in unnamed - {NOBODY} for text in people):
            notes.append(
                f"neither folders nor files name the subjects; folders with other markers are other people: {some_of(people)} "
                "(a guess; rename them)"
            )
        elif any(text != NOBODY for text in people):
            notes.append(
                f"subjects are SUBJECTS:NAMES of the files: {some_of(people)} (a guess; rename them if needed)"
            )
        else:
            notes.append(
                f"neither folders nor files name the subjects: {NOBODY} is used for all (a guess; name them if there are several)"
            )
    if any(body.prefix for one in seen for body in one.bodies):
        notes.append("where labels have a subject prefix, it is used as the subject's name")
    if conditions:
        source = "the other folders' names" if depth > (level is not None) else "the files' names without their numbers"
        notes.append(
            f"conditions are from {source}: {some_of(kinds)} (a guess; change them to the conditions you compare)"
        )
    return subjects, conditions, notes, unnamed


def _nobodies(seen: Sequence[Seen]) -> dict[str, str]:
    """Subject of each recording where nothing names it.

    It is one person, unless folders differ in their markers. Folders with mostly the same markers are of one person, as conditions are; where there are several such groups, each is
    named by its first folder.
    """
    markers: dict[str, set[str]] = {}
    for one in seen:
        folder = Path(one.name).parts[0] if len(Path(one.name).parts) > 1 else ""
        markers.setdefault(folder, set()).update(label for body in one.bodies for label in body.labels)
    groups: list[list[str]] = []
    for folder, labels in markers.items():
        mates = [
            g for g in groups if any(len(labels & markers[f]) > SAME_MARKERS * len(labels | markers[f]) for f in g)
        ]
        groups = [g for g in groups if g not in mates] + [[*(f for g in mates for f in g), folder]]
    named = {folder: NOBODY if len(groups) == 1 else group[0] or NOBODY for group in groups for folder in group}
    return {one.name: named[Path(one.name).parts[0] if len(Path(one.name).parts) > 1 else ""] for one in seen}


def _subject_level(seen: Sequence[Seen], depth: int) -> int | None:
    """Level of the folder that names the subject, as its files do, or by digits."""
    for level in range(depth):
        names = [(Path(one.name).parts[level], Path(one.name).name) for one in seen]
        if all(file.casefold().startswith(folder.casefold()) for folder, file in names):
            return level
    for level in range(depth):
        if all(re.search(r"\d", Path(one.name).parts[level]) for one in seen):
            return level
    return 0 if depth >= 2 else None


def some_of(values: Iterable[str], *, most: int = 6) -> str:
    """First names in alphabetical order, and the number of further ones."""
    names = sorted(set(values))
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def safe_name(name: str) -> str:
    """Name with letters, digits, '_', '.' and '-' only, as the names of files are."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")
    return plain[:90] or "unnamed"
