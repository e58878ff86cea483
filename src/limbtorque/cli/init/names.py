"""Names of conditions, guessed from folders and files, and names that are safe."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from limbtorque.cli.init.survey import Seen

NOBODY = "S01"  # where neither folders nor files name a subject
CODE = re.compile(  # number of a subject at the beginning of a file's name
    r"((?:s|p|pp|sub|subj|subject|participant|patient|pat|person|proband|vp|vpn|id)[-_ ]?\d+)[-_ .]+(.+)", re.IGNORECASE
)


def conditions_of(
    seen: Sequence[Seen], people: Mapping[str, str], level: int | None, *, omitted: Collection[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Conditions by the names of the folders that name no person, else of the files.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    people : mapping of str to str
        Name of a recording -> person.
    level : int or None
        Level of the folders that name people.
    omitted : collection of str
        Names of those that are no trial, of which the note says nothing.

    Returns
    -------
    conditions : dict of str to str
        By the recordings' names.
    notes : list of str
        Where they are from.
    """
    conditions, by_folder = dict[str, str](), False
    for one in (one for one in seen if one.bodies):
        *folders, file = Path(one.name).parts
        others = [
            f
            for k, f in enumerate(folders)
            if (k != level if level is not None and len(folders) > level else f != people[one.name])
        ]
        stem = CODE.sub(r"\2", Path(file).stem)
        conditions[one.name] = "_".join(others).lower() or re.sub(r"[\d_ -]+$", "", stem).lower() or stem
        by_folder = by_folder or bool(others)
    if not conditions:
        return {}, []
    source = "the other folders' names" if by_folder else "the files' names without their numbers"
    kinds = [condition for name, condition in conditions.items() if name not in omitted]
    return conditions, [
        f"conditions are from {source}: {some_of(kinds)} (a guess; change them to the conditions you compare)"
    ]


def some_of(values: Iterable[str], *, most: int = 6) -> str:
    """First names in alphabetical order, and the number of further ones."""
    names = sorted(set(values))
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def safe_name(name: str) -> str:
    """Name with letters, digits, '_', '.' and '-' only, as the names of files are."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")
    return plain[:90] or "unnamed"
