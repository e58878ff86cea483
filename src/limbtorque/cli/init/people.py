"""People and conditions, from the names of folders, files and labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.pairs import grouped
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
    """Subjects of the people in many recordings.

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
class _Body:
    """A person in a recording, with possible sources of the subject's name.

    `folder` names it certainly; `stated` is a prefix or ``SUBJECTS:NAMES``; `code` is a number that begins the file's name.
    """

    key: tuple[str, str]
    path: Path
    labels: tuple[str, ...]
    folder: str
    stated: str
    code: str

    @property
    def numbered(self) -> bool:
        """Return True if the prefix is a person's number within a file."""
        return bool(OF_THE_READER.fullmatch(self.stated))


_Person = tuple[str, Sequence[_Body], bool]  # name, bodies, and whether the name is evidence


def who_is_who(seen: Sequence[Seen]) -> People:
    """Name the subjects of recordings.

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
    bodies = [_body(recording, body, level if certain else None) for recording in seen for body in recording.bodies]
    of: dict[tuple[str, str], str] = {}
    sure, notes = set[str](), list[str]()
    names: Counter[str] = Counter()
    for given, members, named in (
        *_of_folders([body for body in bodies if body.folder]),
        *_of_names([body for body in bodies if not body.folder and (body.stated or body.code)], notes),
        *_unnamed([body for body in bodies if not (body.folder or body.stated or body.code)], level),
    ):
        name = given
        while names[safe_name(name).casefold()]:
            names[safe_name(given).casefold()] += 1
            name = f"{safe_name(given)[:LONGEST]}_{names[safe_name(given).casefold()]}"
        names[safe_name(name).casefold()] += 1
        of |= {body.key: name for body in members}
        sure |= {name} if named else set()
    return People(of, sure, level, tuple(notes))


def subject_level(seen: Sequence[Seen]) -> tuple[int | None, bool]:
    """Folder level that names the subject, and True if certain.

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


def _body(recording: Seen, body: Body, level: int | None) -> _Body:
    path = Path(recording.name)
    folder = path.parts[level] if level is not None and len(path.parts) - 1 > level else ""
    names = [text for parameter, text in recording.alone(body).said if parameter == NAMES]
    stated = body.prefix or (names[0] if len(names) == 1 else "")
    code = CODE.fullmatch(path.stem)
    return _Body((recording.name, body.prefix), path, body.labels, folder, stated, code[1] if code else "")


def _of_folders(bodies: Sequence[_Body]) -> Iterator[_Person]:
    """Subjects from numbered folders; several names in a folder are several subjects."""
    for in_folder in grouped(bodies, lambda body: body.folder.casefold()).values():
        folder = in_folder[0].folder
        if len({body.stated.casefold() for body in in_folder} - {""}) <= 1:
            yield folder, in_folder, True
            continue
        for alike in grouped(in_folder, lambda b: (b.stated.casefold(), b.numbered and b.path)).values():
            first = alike[0]
            which = f"{first.path.stem}_{first.stated}" if first.numbered else first.stated
            yield f"{folder}_{which}".rstrip("_"), alike, bool(first.stated)


def _of_names(bodies: Sequence[_Body], notes: list[str]) -> Iterator[_Person]:
    """Subjects from stated names, and from numbers at the start of file names."""
    numbered = [body for body in bodies if body.numbered]
    several = len({body.path for body in numbered}) > 1
    yield from ((f"{b.path.stem}_{b.stated}" if several else b.stated, [b], True) for b in numbered)
    others = [body for body in bodies if not body.numbered]
    for alike in grouped(others, lambda b: (not b.stated, (b.stated or b.code).casefold())).values():
        name = alike[0].stated or alike[0].code
        of_code = grouped(alike, lambda body: body.code.casefold())
        folders = {body.path.parent.as_posix() for body in alike}
        if len(of_code.keys() - {""}) > 1:  # the name of a model, not of a person
            yield from ((files[0].code or name, files, bool(files[0].code)) for files in of_code.values())
            continue
        if len(folders) > 1:
            notes.append(
                f"{name} is the name in {len(folders)} folders ({some_of(folders)}): taken as one person (a guess)"
            )
        yield name, alike, len(folders) == 1


def _unnamed(bodies: Sequence[_Body], level: int | None) -> Iterator[_Person]:
    """Subjects without a name: by a folder, or by folders with different markers."""
    if level is not None:  # the folder's name is a guess
        of_folder = grouped(bodies, lambda b: b.path.parts[level] if len(b.path.parts) - 1 > level else NOBODY)
        yield from ((str(folder), members, False) for folder, members in of_folder.items())
        return
    people: list[tuple[list[set[str]], list[_Body]]] = []  # lists of labels, and bodies
    for members in grouped(bodies, lambda body: body.path.parts[:-1][:1]).values():
        labels = {label for body in members for label in body.labels}
        for known, mates in people[:MOST_GROUPS]:
            if any(len(labels & other) > SAME_MARKERS * len(labels | other) for other in known):
                known += [labels] if labels not in known else []
                mates += members
                break
        else:
            people.append(([labels], list(members)))
    for _, members in people:
        folder = members[0].path.parts[:-1][:1] if len(people) > 1 else ()
        yield (*folder, NOBODY)[0], members, False


def about_people(seen: Sequence[Seen], people: People) -> list[str]:
    """Sentence on the source of the subjects' names; empty without recordings.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings that are trials.
    people : People
        Who is who.
    """
    names = some_of(people.of[recording.name, body.prefix] for recording in seen for body in recording.bodies)
    how = (
        "subjects are named by the labels' prefix, SUBJECTS:NAMES, or the beginning of the files' names; otherwise, folders with "
        f"different markers are different people: {names} (a guess; rename them)"
    )
    if people.level is not None:
        how = f"subjects are the names of the folders at level {people.level + 1}: {names} (a guess)"
    return [how] if names else []


def conditions_of(
    seen: Sequence[Seen], people: Mapping[str, str], level: int | None, *, omitted: Collection[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Conditions from folder names other than the subject's, or else from file names.

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
    kinds = {name: condition for name, condition in conditions.items() if name not in omitted}
    if all(condition == people[name].lower() for name, condition in kinds.items()):
        return dict.fromkeys(conditions, ""), [
            "no conditions: names of files and folders are those of the subjects; fill in the column condition to compare some"
        ]
    source = "the other folders' names" if by_folder else "the files' names without their numbers"
    return conditions, [
        f"conditions are from {source}: {some_of(kinds.values())} (a guess; change them to the conditions you compare)"
    ]
