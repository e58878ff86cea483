"""Who is who: the person of each body of each recording."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from limbtorque.cli.init.bodies import OTHER_BODY, unlike
from limbtorque.cli.init.names import CODE, NOBODY, safe_name, some_of
from limbtorque.cli.init.statements import (
    HEIGHT_PARAMETERS,
    MASS_PARAMETERS,
    height_of,
    mass_of,
    of_body,
    stated_name,
)
from limbtorque.cli.init.survey import Body, Seen

SAME_MARKERS = 0.5  # shared by folders of one person, of those of both
MOST_GROUPS = 200  # of folders by their markers: with more, a folder of new markers is a group of its own
SAME_HEIGHT_M = 0.03
LONGEST = 70  # letters of a name to which a number is added
OF_THE_READER = re.compile(r"person_\d+")  # prefixes that number the people of one file
NOT_PEOPLE = re.compile(  # folders that are no person, although their names have digits
    r"(?:ses(?:sion)?|day|visit|date|week|month|year|trials?|cond(?:ition)?s?|task|block|speed|set|run|walk\w*|gait|jump|squat|reach\w*|"
    r"test|sample|example|demo|part|batch|series|phase|export|kinematics|lab\w*|study|data|dataset|group|exp(?:eriment)?|v|ver(?:sion)?|rev|release|c3d|trc|csv|raw|processed|take|recordings?)?"
    r"[\W_]*[\d\W_]*(?:kmh|ms|hz|deg|kg)?",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\d{1,3}|(?!19|20)\d{4}")  # and no year


@dataclass(frozen=True)
class People:
    """Persons of the bodies of many recordings.

    Attributes
    ----------
    of : dict of (str, str) to str
        Name of a recording and subject prefix -> person.
    certain : set of str
        Persons of whom names say that their recordings are of one person; of the others, statements and static trials are
        not lent from file to file.
    level : int or None
        Level of the folders that name people.
    notes : tuple of str
        What was guessed.
    """

    of: Mapping[tuple[str, str], str]
    certain: Collection[str]
    level: int | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Member:
    """A body of a recording: its own statements, folders and names."""

    one: Seen
    body: Body
    own: Seen
    folders: tuple[str, ...]
    folder: str
    stated: str

    @property
    def key(self) -> tuple[str, str]:
        """Name of the recording and prefix."""
        return self.one.name, self.body.prefix

    @property
    def code(self) -> str:
        """Number of a subject at the beginning of the file's name."""
        match = CODE.fullmatch(Path(self.one.name).stem)
        return match[1] if match else ""

    @property
    def word(self) -> str:
        """First word of the file's name."""
        return re.split(r"[\W_\d]+", Path(self.one.name).stem, maxsplit=1)[0] or Path(self.one.name).stem


Way = Callable[[_Member], object]  # a property by which a group of recordings is split


@dataclass(frozen=True)
class _Group:
    """Recordings under one name; certain where the name is evidence."""

    name: str
    members: Sequence[_Member]
    certain: bool
    note: str = ""


def who_is_who(seen: Sequence[Seen]) -> People:
    """Tell the people of recordings apart.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.

    Returns
    -------
    People
        A folder with a subject's number names its recordings' person; else the subject prefix or ``SUBJECTS:NAMES``, else a number
        at the beginning of the file's name; else it is one person, unless folders differ in their markers.

    Notes
    -----
    Two names under one are two people. What only shares a name and is in several folders is one person as long as masses, heights, sexes
    and the lengths of segments agree; else each folder is a person of its own. All steps are linear in the number of files.
    """
    seen = [one for one in seen if one.bodies]
    level, certain = subject_level(seen)
    members = [_member(one, body, level if certain else None) for one in seen for body in one.bodies]
    groups = [*_in_folders(members), *_by_name(members), *_nobodies(members, None if certain else level)]
    of: dict[tuple[str, str], str] = {}
    sure, notes = set[str](), list[str]()
    names: Counter[str] = Counter()
    for group in groups:
        name = group.name
        while names[safe_name(name).casefold()]:
            names[safe_name(group.name).casefold()] += 1
            name = f"{safe_name(group.name)[:LONGEST]}_{names[safe_name(group.name).casefold()]}"
        names[safe_name(name).casefold()] += 1
        of |= {member.key: name for member in group.members}
        sure |= {name} if group.certain else set()
        notes += [group.note] if group.note else []
    return People(of, sure, level, tuple(dict.fromkeys(notes)))


def subject_level(seen: Sequence[Seen]) -> tuple[int | None, bool]:
    """Level of the folder that names the subject, and whether it certainly does.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    """
    depths = Counter(len(Path(one.name).parts) - 1 for one in seen)
    depth = depths.most_common(1)[0][0] if depths else 0
    paths = [Path(one.name).parts for one in seen if len(Path(one.name).parts) - 1 == depth]
    columns = [[path[level] for path in paths] for level in range(depth)]
    numbered = [
        level
        for level, names in enumerate(columns)
        if all(re.search(r"\d", n) and (NUMBER.fullmatch(n) or not NOT_PEOPLE.fullmatch(n)) for n in set(names))
    ]
    begin = [k for k in numbered if all(path[-1].casefold().startswith(path[k].casefold()) for path in paths)]
    several = [k for k in numbered if len(set(columns[k])) > 1]
    if found := [*begin, *several, *numbered]:
        return found[0], True
    begin = [k for k in range(depth) if all(path[-1].casefold().startswith(path[k].casefold()) for path in paths)]
    return (begin[0] if begin else 0 if depth >= 2 else None), False


def _member(one: Seen, body: Body, level: int | None) -> _Member:
    folders = Path(one.name).parts[:-1]
    folder = folders[level] if level is not None and len(folders) > level else ""
    own = of_body(one, body)
    return _Member(one, body, own, folders, folder, body.prefix or stated_name(own))


def _in_folders(members: Sequence[_Member]) -> Iterator[_Group]:
    """People of folders with a subject's number; several names in one are several."""
    by_folder = _grouped([one for one in members if one.folder], lambda one: one.folder.casefold())
    homes = Counter(name for some in by_folder for name in {one.stated.casefold() for one in some if one.stated})
    for some in by_folder:
        folder, names = some[0].folder, {one.stated.casefold(): one.stated for one in some if one.stated}
        if len(names) <= 1:
            prefix = next((one.body.prefix for one in some if one.body.prefix), "")
            alone = prefix and homes[prefix.casefold()] == 1 and not OF_THE_READER.fullmatch(prefix)
            other = unlike([one.body.segments_m for one in some])
            note = f"{folder}: {other}: another person, or other places of markers; nothing is lent between its files"
            yield _Group(prefix if alone else folder, some, certain=not other, note=note if other else "")
            continue
        for own in _grouped(some, lambda one: one.stated.casefold()):
            stated = own[0].stated
            alone = stated and own[0].body.prefix and homes[stated.casefold()] == 1
            name = stated if alone else f"{folder}_{stated}".rstrip("_")
            if OF_THE_READER.fullmatch(stated):  # numbers the people of one file
                for part in _grouped(own, lambda one: one.one.name):
                    yield _Group(f"{folder}_{Path(part[0].one.name).stem}_{stated}", part, certain=True)
            else:
                yield _Group(name, own, certain=bool(stated))


def _by_name(members: Sequence[_Member]) -> Iterator[_Group]:
    """People of stated names, and of numbers that begin the names of files."""
    left = [one for one in members if not one.folder]
    numbered = [one for one in left if OF_THE_READER.fullmatch(one.stated)]
    files = {one.one.name for one in numbered}
    for some in _grouped(numbered, lambda one: one.key):
        own = f"{Path(some[0].one.name).stem}_{some[0].stated}"
        yield _Group(own if len(files) > 1 else some[0].stated, some, certain=True)
    stated = [one for one in left if one.stated and not OF_THE_READER.fullmatch(one.stated)]
    for some in _grouped(stated, lambda one: one.stated.casefold()):
        codes = _grouped([one for one in some if one.code], lambda one: one.code.casefold())
        if len(codes) > 1:  # the name of a model, not of a person
            parts = _grouped(some, lambda one: one.code.casefold())
            yield from (_Group(part[0].code or part[0].stated, part, certain=bool(part[0].code)) for part in parts)
        else:
            yield from _of_name(some[0].stated, some)
    for some in _grouped([one for one in left if not one.stated and one.code], lambda one: one.code.casefold()):
        yield from _of_name(some[0].code, some)


def _of_name(name: str, members: Sequence[_Member]) -> Iterator[_Group]:
    """One person of a name, or one for each folder where they contradict each other."""
    folders = _grouped(members, lambda one: one.folders)
    where = some_of(["/".join(some[0].folders) or "the folder itself" for some in folders])
    if len(folders) == 1:
        yield _Group(name, members, certain=True)
        return
    why = _contradiction(members)
    if not why:
        note = f"{name} is a name in {len(folders)} folders ({where}): taken as one person (a guess)"
        yield _Group(name, members, certain=False, note=note)
        return
    note = (
        f"{name} is a name in {len(folders)} folders ({where}), and {why}: each folder is a person of its own (a guess)"
    )
    for some in folders:
        yield _Group("_".join((*some[0].folders, name)), some, certain=True, note=note)


def _nobodies(members: Sequence[_Member], level: int | None) -> Iterator[_Group]:
    """People whom nothing names: by markers, and where they contradict each other."""
    left = [one for one in members if not (one.folder or one.stated or one.code)]
    if level is not None:  # the folder's name is a guess
        for some in _grouped(left, lambda one: one.folders[level] if len(one.folders) > level else ""):
            name = some[0].folders[level] if len(some[0].folders) > level else NOBODY
            yield from _parted(name, some, _ways(some))
        return
    folders = _grouped(left, lambda one: one.folders[:1])
    groups = _by_markers(folders)
    for group in groups:
        name = NOBODY if len(groups) == 1 else (group[0].folders or (NOBODY,))[0]
        yield from _parted(name, group, _ways(group))


def _by_markers(folders: Sequence[Sequence[_Member]]) -> list[list[_Member]]:
    """Recordings of folders that have more than half of their markers in common."""
    groups: list[tuple[list[set[str]], list[_Member]]] = []
    known: dict[frozenset[str], int] = {}
    for some in folders:
        labels = {label for one in some for label in one.body.labels}
        key = frozenset(labels)
        if key not in known:
            mates = [
                k
                for k, (sets, _) in enumerate(groups[:MOST_GROUPS])
                if any(len(labels & other) > SAME_MARKERS * len(labels | other) for other in sets)
            ]
            known[key] = mates[0] if mates else len(groups)
            if mates:
                groups[mates[0]][0].append(labels)
            else:
                groups.append(([labels], []))
        groups[known[key]][1].extend(some)
    return [members for _, members in groups]


def _ways(members: Sequence[_Member]) -> list[Way]:
    """Properties that separate people, those that say most first."""
    depth = max((len(one.folders) for one in members), default=0)
    return [*(_folders_to(k + 1) for k in range(depth)), lambda one: (one.folders, one.word.casefold())]


def _folders_to(depth: int) -> Way:
    return lambda one: one.folders[:depth]


def _parted(name: str, members: Sequence[_Member], ways: Sequence[Way]) -> Iterator[_Group]:
    """People who are not certain, split while they contradict each other."""
    why = _contradiction(members)
    for k, way in enumerate(ways if why else ()):
        parts = _grouped(members, way)
        if len(parts) > 1 and any(_contradiction(part) != why for part in parts):
            note = f"{name}: {why}, so these are several people (a guess; rename them)"
            for part in parts:
                yield from _noted(_parted(_name_of(part, members), part, ways[k + 1 :]), note)
            return
    bodies = _by_length(members) if unlike([one.body.segments_m for one in members]) else []
    if len(bodies) > 1:
        note = f"{name}: {why}, so these are several people (a guess; rename them)"
        for part in bodies:
            yield _Group(safe_name(Path(part[0].one.name).stem), part, certain=False, note=note)
        return
    yield _Group(name, members, certain=False)


def _noted(groups: Iterator[_Group], note: str) -> Iterator[_Group]:
    for group in groups:
        yield group if group.note else _Group(group.name, group.members, group.certain, note)


def _name_of(part: Sequence[_Member], whole: Sequence[_Member]) -> str:
    """Name of a part: its folders, or the first word of its files."""
    if len({one.folders for one in whole}) > 1 and part[0].folders:
        shared = len({one.folders for one in part}) == 1
        return "_".join(part[0].folders if shared else part[0].folders[:1])
    return part[0].word


def _by_length(members: Sequence[_Member]) -> list[list[_Member]]:
    """Recordings with like lengths of the segment that most of them have."""
    counted = Counter(key for one in members for key in one.body.segments_m)
    key = max(counted, key=lambda name: (_spread(members, name) > OTHER_BODY, counted[name]))
    known = sorted((one for one in members if key in one.body.segments_m), key=lambda one: one.body.segments_m[key])
    parts: list[list[_Member]] = []
    for one in known:
        if not parts or one.body.segments_m[key] > OTHER_BODY * parts[-1][0].body.segments_m[key]:
            parts.append([])
        parts[-1].append(one)
    rest = [one for one in members if key not in one.body.segments_m]
    return [*parts, *([rest] if rest else [])]


def _spread(members: Sequence[_Member], key: str) -> float:
    found = [one.body.segments_m[key] for one in members if key in one.body.segments_m]
    return max(found) / min(found)


def _contradiction(members: Sequence[_Member]) -> str:
    """Sentence on what cannot be of one person; empty where all agree."""
    said = {(name, text) for one in members for name, text in one.own.said}
    masses = {v for name, text in said if name in MASS_PARAMETERS and (v := mass_of(text)[0]) is not None}
    if len(masses) > 1:
        return f"the body masses are {', '.join(f'{mass:g}' for mass in sorted(masses)[:6])} kg"
    heights = [v for name, text in said if name in HEIGHT_PARAMETERS and (v := height_of(text)[0]) is not None]
    if heights and max(heights) - min(heights) > SAME_HEIGHT_M:
        return f"the heights are {min(heights):.2f} to {max(heights):.2f} m"
    sexes = {text.strip().lower()[:1] for name, text in said if name == "SUBJECT:GENDER"} & {"f", "m"}
    if len(sexes) > 1:
        return "both sexes are stated"
    return unlike([one.body.segments_m for one in members])


def _grouped(members: Sequence[_Member], way: Way) -> list[list[_Member]]:
    found: dict[object, list[_Member]] = {}
    for one in members:
        found.setdefault(way(one), []).append(one)
    return list(found.values())


def about_people(seen: Sequence[Seen], people: People) -> Iterator[str]:
    """Sentences on where the names of the people are from.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings that are trials.
    people : People
        Who is who.
    """
    members = [_member(one, body, None) for one in seen for body in one.bodies]
    names = {people.of[one.key] for one in members}
    if people.level is not None:
        yield f"subjects are the names of the folders at level {people.level + 1}: {some_of(names)} (a guess)"
    elif members and not all(one.body.prefix for one in members):
        unnamed = {people.of[one.key] for one in members if not one.stated and not one.code}
        if unnamed - {NOBODY}:
            yield (
                f"neither folders nor files name the subjects; folders with other markers are other people: {some_of(names)} "
                "(a guess; rename them)"
            )
        elif any(one.stated and not one.body.prefix for one in members):
            yield f"subjects are SUBJECTS:NAMES of the files: {some_of(names)} (a guess; rename them if needed)"
        elif unnamed:
            yield f"neither folders nor files name the subjects: {NOBODY} is used for all (a guess; name them if there are several)"
        else:
            yield f"subjects are the beginnings of the files' names: {some_of(names)} (a guess; rename them if needed)"
    if any(one.body.prefix for one in members):
        yield "where labels have a subject prefix, it is used as the subject's name"
