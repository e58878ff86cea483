"""People and conditions, by the names of folders, files and labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.survey import NAMES, Body, Seen

NOBODY = "S01"  # where neither folders nor files name a subject
CODE = re.compile(  # number of a subject at the beginning of a file's name
    r"((?:s|p|pp|sub|subj|subject|participant|patient|pat|person|proband|vp|vpn|id)[-_ ]?\d+)[-_ .]+(.+)", re.IGNORECASE
)
SAME_MARKERS = 0.5  # shared by folders of one person, of those of both
MOST_GROUPS = 200  # of folders by their markers: with more, a folder of new markers is a group of its own
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
    """A body of a recording, with the folder and the statement that name its person."""

    recording: Seen
    body: Body
    folder: str
    stated: str

    @property
    def key(self) -> tuple[str, str]:
        """Name of the recording and prefix."""
        return self.recording.name, self.body.prefix

    @property
    def folders(self) -> tuple[str, ...]:
        """Folders of the recording."""
        return Path(self.recording.name).parts[:-1]

    @property
    def stem(self) -> str:
        """Name of the file without its suffix."""
        return Path(self.recording.name).stem

    @property
    def code(self) -> str:
        """Number of a subject at the beginning of the file's name."""
        match = CODE.fullmatch(self.stem)
        return match[1] if match else ""


@dataclass(frozen=True)
class _Group:
    """Recordings under one name; certain where the name is evidence."""

    name: str
    members: Sequence[_Member]
    certain: bool
    note: str = ""


def who_is_who(seen: Sequence[Seen]) -> People:
    """Name the people of recordings.

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
    Several names in one folder are several people. A name that several folders share is one person, of whom nothing is lent
    from file to file. All steps are linear in the number of files.
    """
    seen = [recording for recording in seen if recording.bodies]
    level, certain = subject_level(seen)
    members = [_member(recording, body, level if certain else None) for recording in seen for body in recording.bodies]
    groups = [*_in_folders(members), *_by_name(members), *_nobodies(members, None if certain else level)]
    of: dict[tuple[str, str], str] = {}
    sure = set[str]()
    names: Counter[str] = Counter()
    for group in groups:
        name = group.name
        while names[safe_name(name).casefold()]:
            names[safe_name(group.name).casefold()] += 1
            name = f"{safe_name(group.name)[:LONGEST]}_{names[safe_name(group.name).casefold()]}"
        names[safe_name(name).casefold()] += 1
        of |= {member.key: name for member in group.members}
        sure |= {name} if group.certain else set()
    return People(of, sure, level, tuple(dict.fromkeys(group.note for group in groups if group.note)))


def subject_level(seen: Sequence[Seen]) -> tuple[int | None, bool]:
    """Level of the folder that names the subject, and whether it certainly does.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    """
    depths = Counter(len(Path(recording.name).parts) - 1 for recording in seen)
    depth = depths.most_common(1)[0][0] if depths else 0
    paths = [Path(recording.name).parts for recording in seen if len(Path(recording.name).parts) - 1 == depth]
    columns = [[path[level] for path in paths] for level in range(depth)]
    numbered = [
        level
        for level, names in enumerate(columns)
        if all(re.search(r"\d", n) and (NUMBER.fullmatch(n) or not NOT_PEOPLE.fullmatch(n)) for n in set(names))
    ]
    named = [k for k in range(depth) if all(path[-1].casefold().startswith(path[k].casefold()) for path in paths)]
    begin = [k for k in numbered if k in named]
    several = [k for k in numbered if len(set(columns[k])) > 1]
    if found := [*begin, *several, *numbered]:
        return found[0], True
    return (named[0] if named else 0 if depth >= 2 else None), False


def _member(recording: Seen, body: Body, level: int | None) -> _Member:
    folders = Path(recording.name).parts[:-1]
    names = [text for parameter, text in recording.alone(body).said if parameter == NAMES]
    stated = body.prefix or (names[0] if len(names) == 1 else "")
    return _Member(recording, body, folders[level] if level is not None and len(folders) > level else "", stated)


def _in_folders(members: Sequence[_Member]) -> Iterator[_Group]:
    """People of folders with a subject's number; several names in one are several."""
    for of_folder in _grouped([member for member in members if member.folder], lambda m: m.folder.casefold()):
        folder = of_folder[0].folder
        of_names = _grouped(of_folder, lambda m: m.stated.casefold())
        if len({m.stated.casefold() for m in of_folder if m.stated}) <= 1:
            of_names = [of_folder]
        for of_name in of_names:
            stated = of_name[0].stated
            if len(of_names) == 1:
                yield _Group(folder, of_name, certain=True)
            elif OF_THE_READER.fullmatch(stated):  # numbers the people of one file
                for of_file in _grouped(of_name, lambda m: m.recording.name):
                    yield _Group(f"{folder}_{of_file[0].stem}_{stated}", of_file, certain=True)
            else:
                yield _Group(f"{folder}_{stated}".rstrip("_"), of_name, certain=bool(stated))


def _by_name(members: Sequence[_Member]) -> Iterator[_Group]:
    """People of stated names, and of numbers that begin the names of files."""
    left = [member for member in members if not member.folder and (member.stated or member.code)]
    numbered = [member for member in left if OF_THE_READER.fullmatch(member.stated)]
    several = len({member.recording.name for member in numbered}) > 1
    for member in numbered:
        yield _Group(f"{member.stem}_{member.stated}" if several else member.stated, [member], certain=True)
    stated = [member for member in left if member.stated and not OF_THE_READER.fullmatch(member.stated)]
    for of_name in _grouped(stated, lambda m: m.stated.casefold()):
        if (
            len({member.code.casefold() for member in of_name if member.code}) > 1
        ):  # the name of a model, not of a person
            for of_code in _grouped(of_name, lambda m: m.code.casefold()):
                yield _Group(of_code[0].code or of_code[0].stated, of_code, certain=bool(of_code[0].code))
        else:
            yield _of_name(of_name[0].stated, of_name)
    for of_code in _grouped([member for member in left if not member.stated], lambda m: m.code.casefold()):
        yield _of_name(of_code[0].code, of_code)


def _of_name(name: str, members: Sequence[_Member]) -> _Group:
    """Person of a name, who is certain in one folder."""
    folders = {"/".join(member.folders) or "the folder itself" for member in members}
    if len(folders) == 1:
        return _Group(name, members, certain=True)
    note = f"{name} is a name in {len(folders)} folders ({some_of(folders)}): taken as one person (a guess)"
    return _Group(name, members, certain=False, note=note)


def _nobodies(members: Sequence[_Member], level: int | None) -> Iterator[_Group]:
    """People whom nothing names: by a folder, or by folders with other markers."""
    left = [member for member in members if not (member.folder or member.stated or member.code)]
    if level is not None:  # the folder's name is a guess
        for of_folder in _grouped(left, lambda m: m.folders[level] if len(m.folders) > level else NOBODY):
            first = of_folder[0].folders
            yield _Group(first[level] if len(first) > level else NOBODY, of_folder, certain=False)
        return
    groups = _by_markers(_grouped(left, lambda m: m.folders[:1]))
    for group in groups:
        yield _Group(NOBODY if len(groups) == 1 else (*group[0].folders, NOBODY)[0], group, certain=False)


def _by_markers(folders: Sequence[Sequence[_Member]]) -> list[list[_Member]]:
    """Recordings of folders that have more than half of their markers in common."""
    groups: list[tuple[list[set[str]], list[_Member]]] = []
    for members in folders:
        labels = {label for member in members for label in member.body.labels}
        for sets, mates in groups[:MOST_GROUPS]:
            if any(len(labels & other) > SAME_MARKERS * len(labels | other) for other in sets):
                sets += [labels] if labels not in sets else []
                mates += members
                break
        else:
            groups.append(([labels], list(members)))
    return [members for _, members in groups]


def _grouped(members: Sequence[_Member], key: Callable[[_Member], object]) -> list[list[_Member]]:
    groups: dict[object, list[_Member]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return list(groups.values())


def about_people(seen: Sequence[Seen], people: People) -> Iterator[str]:
    """Sentences on where the names of the people are from.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings that are trials.
    people : People
        Who is who.
    """
    members = [_member(recording, body, None) for recording in seen for body in recording.bodies]
    names = {people.of[member.key] for member in members}
    if people.level is not None:
        yield f"subjects are the names of the folders at level {people.level + 1}: {some_of(names)} (a guess)"
    elif members and not all(member.body.prefix for member in members):
        unnamed = {people.of[member.key] for member in members if not member.stated and not member.code}
        if unnamed - {NOBODY}:
            yield (
                f"neither folders nor files name the subjects; folders with other markers are other people: {some_of(names)} "
                "(a guess; rename them)"
            )
        elif any(member.stated and not member.body.prefix for member in members):
            yield f"subjects are SUBJECTS:NAMES of the files: {some_of(names)} (a guess; rename them if needed)"
        elif unnamed:
            yield f"neither folders nor files name the subjects: {NOBODY} is used for all (a guess; name them if there are several)"
        else:
            yield f"subjects are the beginnings of the files' names: {some_of(names)} (a guess; rename them if needed)"
    if any(member.body.prefix for member in members):
        yield "where labels have a subject prefix, it is used as the subject's name"


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
    for recording in (recording for recording in seen if recording.bodies):
        *folders, file = Path(recording.name).parts
        by_level = level is not None and len(folders) > level
        others = [f for k, f in enumerate(folders) if (k != level if by_level else f != people[recording.name])]
        stem = CODE.sub(r"\2", Path(file).stem)
        conditions[recording.name] = "_".join(others).lower() or re.sub(r"[\d_ -]+$", "", stem).lower() or stem
        by_folder = by_folder or bool(others)
    if not conditions:
        return {}, []
    source = "the other folders' names" if by_folder else "the files' names without their numbers"
    kinds = [condition for name, condition in conditions.items() if name not in omitted]
    return conditions, [
        f"conditions are from {source}: {some_of(kinds)} (a guess; change them to the conditions you compare)"
    ]
