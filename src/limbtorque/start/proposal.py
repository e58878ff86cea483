"""What was seen in a folder of recordings -> trials, subjects and marker sets, each with what they rest on."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from limbtorque.settings import ARM, LEG, ChainModel, Plane
from limbtorque.start.known_sets import Fit, fits, likely_labels, needed_landmarks, template_of
from limbtorque.start.survey import Body, Clue, Seen, Unread, fingerprints, same_movement
from limbtorque.study import TO_DO

CHAINS: dict[str, ChainModel] = {"arm": ARM, "leg": LEG}
GRAVITY_M_S2 = 9.80665
MASS_PARAMETERS = ("PROCESSING:BODYMASS", "SUBJECT:WEIGHT")
HEIGHT_PARAMETERS = ("PROCESSING:HEIGHT", "SUBJECT:HEIGHT")
Confirm = Callable[[str], bool]


@dataclass(frozen=True)
class ProposedSet:
    """A marker set.

    Attributes
    ----------
    name : str
        Its name in the settings.
    rules : dict of str to tuple of str
        Landmark -> labels, with their side as {S}, {s} or {side}; ``("TODO",)`` where it has to be named.
    comments : dict of str to str
        Landmark -> what it is, or what might be it.
    substitutes : dict of str to (str, str)
        Landmark -> the one that stands for it, and why.
    about : tuple of str
        Sentences on the whole set.
    """

    name: str
    rules: Mapping[str, tuple[str, ...]]
    comments: Mapping[str, str]
    substitutes: Mapping[str, tuple[str, str]]
    about: tuple[str, ...]


@dataclass(frozen=True)
class ProposedTrial:
    """A row of the table of trials; `left_out` says why it is only a comment."""

    trial: str
    session: str
    subject: str
    file: str
    chain: str
    side: str
    condition: str
    marker_set: str
    prefix: str
    forward_axis: str
    note: str = ""
    left_out: str = ""


@dataclass(frozen=True)
class ProposedSubject:
    """A row of the table of subjects; `evidence` says where its numbers are from."""

    subject: str
    mass_kg: str
    height_m: str
    sex: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    """A study that was proposed.

    Attributes
    ----------
    title : str
        Name of the study.
    up_axis : str
        The axis that points up; empty where it is left to fill in.
    up_evidence : tuple of str
        What that rests on.
    sets : tuple of ProposedSet
        Marker sets.
    trials : tuple of ProposedTrial
        Rows, also those that are left out.
    subjects : tuple of ProposedSubject
        Rows.
    unread : tuple of Unread
        Files that could not be read.
    notes : tuple of str
        What was guessed of the folders' names, and what the recordings do not support.
    """

    title: str
    up_axis: str
    up_evidence: tuple[str, ...]
    sets: tuple[ProposedSet, ...]
    trials: tuple[ProposedTrial, ...]
    subjects: tuple[ProposedSubject, ...]
    unread: tuple[Unread, ...]
    notes: tuple[str, ...]

    @property
    def to_do(self) -> int:
        """How many places are left to fill in."""
        rows = [trial for trial in self.trials if not trial.left_out]
        cells = [text for row in rows for text in (row.chain, row.side, row.forward_axis, row.marker_set)]
        cells += [text for subject in self.subjects for text in (subject.mass_kg,)]
        cells += [label for chosen in self.sets for labels in chosen.rules.values() for label in labels]
        return sum(text.startswith(TO_DO) for text in cells) + (not self.up_axis)


@dataclass
class _Sets:
    """The marker sets proposed so far, by what is in them."""

    by_content: dict[tuple[object, ...], ProposedSet] = field(default_factory=dict)

    def name_of(self, found: ProposedSet) -> str:
        content = (tuple(sorted(found.rules.items())), tuple(sorted(found.substitutes)))
        if content not in self.by_content:
            taken = {chosen.name for chosen in self.by_content.values()}
            name, n = found.name, 2
            while name in taken:
                name, n = f"{found.name}_{n}", n + 1
            self.by_content[content] = replace(found, name=name)
        return self.by_content[content].name


def propose(
    looked: Sequence[Seen | Unread],
    *,
    title: str,
    relative_to: Path,
    chains: Sequence[str] = ("arm", "leg"),
    confirm: Confirm | None = None,
) -> Proposal:
    """Make a study of what was seen.

    Parameters
    ----------
    looked : sequence of Seen or Unread
        The recordings.
    title : str
        Name of the study.
    relative_to : Path
        The study's folder, from which the recordings are named.
    chains : sequence of str
        Which chains to look for.
    confirm : callable, optional
        Asks a person whether a likely label is right; without it such labels are only suggested in a comment.

    Returns
    -------
    Proposal
        What can be written down, and what is left to fill in.
    """
    seen = [one for one in looked if isinstance(one, Seen)]
    up_axis, up_evidence = judge_up(seen)
    subjects, conditions, notes = name_them(seen)
    known: dict[tuple[object, ...], list[Seen]] = {}
    said: list[tuple[str, str]] = []
    sets, trials = _Sets(), list[ProposedTrial]()
    of_subject: dict[str, list[Seen]] = {}
    for one in seen:
        if not one.bodies:
            said.append(("no markers; where it has the forces of a trial, name it in a column forces_file", one.name))
        for body in one.bodies:
            who = body.prefix or subjects[one.name]
            rows, about = _rows(one, body, _copy_of(one, body, known), sets, chains, confirm, up_axis)
            said += [(sentence, f"{one.name}{f' ({body.prefix})' if body.prefix else ''}") for sentence in about]
            if rows:
                of_subject.setdefault(who, []).append(one)
            file = _from(relative_to, one.path)
            trials += [
                replace(
                    row,
                    subject=_safe(who),
                    session=_safe(who),
                    condition=conditions[one.name],
                    file=file,
                )
                for row in rows
            ]
    return Proposal(
        title=title,
        up_axis=up_axis,
        up_evidence=up_evidence,
        sets=_pruned(sets.by_content.values(), trials),
        trials=_unique(trials),
        subjects=tuple(propose_subject(who, ones) for who, ones in of_subject.items()),
        unread=tuple(one for one in looked if isinstance(one, Unread)),
        notes=(*dict.fromkeys(notes), *_gathered(said)),
    )


def _copy_of(one: Seen, body: Body, known: dict[tuple[object, ...], list[Seen]]) -> str:
    """Name of a recording, among those seen before, that has the same movement of a body; empty where there is none."""
    prints = list(fingerprints(one, body.prefix))
    shared = Counter(id(other) for print_ in prints for other in known.get(print_, ()))
    likely = {id(other): other for print_ in prints for other in known.get(print_, ())}
    for print_ in prints:
        known.setdefault(print_, []).append(one)
    for key, _ in shared.most_common(3):
        if likely[key] is not one and same_movement(one, likely[key], body.prefix):
            return likely[key].name
    return ""


def _gathered(said: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences on recordings, each once with the names of those it is true of."""
    whose: dict[str, list[str]] = {}
    for sentence, name in said:
        whose.setdefault(sentence, []).append(name)
    return [f"{_some(names)}: {sentence}" for sentence, names in whose.items()]


def _from(folder: Path, path: Path) -> str:
    """Path of a file as seen from a folder: through links that lie inside of it, else by where it really is."""
    if path.absolute().is_relative_to(folder.absolute()):
        return path.absolute().relative_to(folder.absolute()).as_posix()
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def judge_up(seen: Sequence[Seen]) -> tuple[str, tuple[str, ...]]:
    """The axis that points up, where two kinds of evidence or more agree on it and none speaks against it.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.

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
    axes = {axis for kinds in by_kind.values() for axis in kinds}
    if len(axes) == 1 and len(by_kind) >= 2:
        return axes.pop(), tuple(sentences)
    why = "the evidence disagrees" if len(axes) > 1 else "one kind of evidence only" if axes else "nothing shows it"
    return "", (*sentences, why)


def name_them(seen: Sequence[Seen]) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Subjects and conditions of recordings by the names of their folders.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.

    Returns
    -------
    subjects, conditions : dict of str to str
        By the recordings' names. A subject prefix in the file goes before this.
    notes : list of str
        What was guessed.
    """
    subjects, conditions, notes = {}, {}, []
    seen = [one for one in seen if one.bodies]
    depths = Counter(len(Path(one.name).parts) - 1 for one in seen)
    depth = depths.most_common(1)[0][0] if depths else 0
    level = _subject_level([one for one in seen if len(Path(one.name).parts) - 1 == depth], depth)
    for one in seen:
        *folders, file = Path(one.name).parts
        stem = Path(file).stem
        said = [text for name, text in one.said if name == "SUBJECTS:NAMES"]
        if level is not None and len(folders) > level:
            subjects[one.name] = folders[level]
            others = [folder for k, folder in enumerate(folders) if k != level]
        else:
            subjects[one.name] = said[0] if len(said) == 1 else "S01"
            others = list(folders)
        conditions[one.name] = "_".join(others).lower() or re.sub(r"[\d_ -]+$", "", stem).lower() or stem
    if level is not None:
        notes.append(
            f"subjects are the names of the folders at level {level + 1}: {_some(subjects.values())} (a guess)"
        )
    elif seen and not all(body.prefix for one in seen for body in one.bodies):
        if any(text != "S01" for text in subjects.values()):
            notes.append(
                f"subjects are SUBJECTS:NAMES of the files: {_some(subjects.values())} (a guess; rename them, tell several apart)"
            )
        else:
            notes.append(
                "neither folders nor files name the subjects: S01 stands for all (a guess; tell several apart)"
            )
    if any(body.prefix for one in seen for body in one.bodies):
        notes.append("where labels have a subject prefix, it is taken for the subject's name")
    if conditions:
        source = "the other folders' names" if depth > (level is not None) else "the files' names without their numbers"
        notes.append(f"conditions are from {source}: {_some(conditions.values())} (a guess; what do you compare?)")
    return subjects, conditions, notes


def _subject_level(seen: Sequence[Seen], depth: int) -> int | None:
    """Which folder names the subject: the one that file names begin with, or else the first whose names all have a digit."""
    for level in range(depth):
        names = [(Path(one.name).parts[level], Path(one.name).name) for one in seen]
        if all(file.casefold().startswith(folder.casefold()) for folder, file in names):
            return level
    for level in range(depth):
        if all(re.search(r"\d", Path(one.name).parts[level]) for one in seen):
            return level
    return 0 if depth >= 2 else None


def _some(values: Iterable[str]) -> str:
    names = sorted(set(values))
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def propose_subject(name: str, ones: Sequence[Seen]) -> ProposedSubject:
    """Mass and height of a subject as its files say them, with their source; else to be filled in.

    Parameters
    ----------
    name : str
        The subject.
    ones : sequence of Seen
        Its recordings.
    """
    evidence = []
    alone = [one for one in ones if len(one.bodies) == 1]
    mass, said = _agreed(alone, MASS_PARAMETERS)
    evidence += said
    if mass is not None and not 1.0 <= mass <= 400.0:
        evidence.append(f"{mass:g} cannot be a body mass in kg")
        mass = None
    height, said = _agreed(alone, HEIGHT_PARAMETERS)
    evidence += said
    if height is not None:
        height, unit = (
            (height, "m") if height < 3.0 else (height / 100.0, "cm") if height < 300.0 else (height / 1000.0, "mm")
        )
        evidence.append(f"the height's unit is not in the file: taken as {unit}")
    evidence += [
        f"{one.name}, where nothing moves: {one.weight_n:.0f} N on the plates, {one.weight_n / GRAVITY_M_S2:.1f} kg"
        for one in ones
        if one.still and one.weight_n > 50.0
    ]
    sexes = {text.strip().lower()[:1] for one in alone for parameter, text in one.said if parameter == "SUBJECT:GENDER"}
    if mass is None:
        evidence.append("the mass has to be filled in: segment masses are shares of it")
    return ProposedSubject(
        subject=_safe(name),
        mass_kg=f"{mass:g}" if mass is not None else TO_DO,
        height_m=f"{height:g}" if height is not None and 0.3 <= height <= 2.8 else "",
        sex=sexes.pop() if len(sexes) == 1 and sexes <= {"f", "m"} else "",
        evidence=tuple(evidence),
    )


def _agreed(ones: Sequence[Seen], parameters: Sequence[str]) -> tuple[float | None, list[str]]:
    """A number that all files agree on, and a sentence on its source."""
    for parameter in parameters:
        texts = sorted({text for one in ones for name, text in one.said if name == parameter})
        numbers = [float(text) for text in texts if re.fullmatch(r"\d+(\.\d+)?", text) and float(text) > 0.0]
        if len(numbers) == 1:
            files = sum(any(name == parameter for name, _ in one.said) for one in ones)
            return numbers[0], [f"{parameter} is {numbers[0]:g} in {files} file{'s' * (files > 1)}"]
        if numbers:
            return None, [f"{parameter} differs between the files: {', '.join(texts)}"]
    return None, []


def _rows(
    one: Seen,
    body: Body,
    copy_of: str,
    sets: _Sets,
    chains: Sequence[str],
    confirm: Confirm | None,
    up_axis: str,
) -> tuple[list[ProposedTrial], list[str]]:
    """Rows of one body of one recording, and what is to be said of it."""
    stem = Path(one.name).stem
    prefix = body.prefix if len(one.bodies) > 1 else ""
    left_out = f"nothing moves by more than {one.moved_m:.3f} m: a static trial" if one.still else ""
    left_out = f"the same movement is in {copy_of}" if copy_of else left_out
    forward, note = _forward(body, up_axis)
    found = {chain: fits(body.labels, CHAINS[chain]) for chain in chains}
    complete = {chain: _best(chain_fits) for chain, chain_fits in found.items()}
    rows, notes = [], []
    for chain, chosen in complete.items():
        notes += [] if chosen or left_out else _lacks(chain, found[chain])
        for fit in chosen:
            name = sets.name_of(_set_of(fit, chosen))
            rows.append((chain, fit.side or TO_DO, name))
    if not rows:
        partly = min((f for fs in found.values() for f in fs), key=lambda fit: len(fit.missing), default=None)
        if partly is None and not _looks_like_a_body(body, chains):
            return [], [
                *notes,
                f"no chain is recognised in the labels {_some(body.labels)}; no row is made of it",
            ]
        chain, sides, built = _unknown_set(body, chains, found, confirm)
        rows = [(chain, side, sets.name_of(built)) for side in sides]
    both = len({chain for chain, *_ in rows}) > 1
    parts = ([body.prefix] if prefix else []) + [stem]
    proposed = [
        ProposedTrial(
            trial=_safe("_".join([*parts, *([side] if side in ("left", "right") else []), *([chain] if both else [])])),
            session="",
            subject="",
            file="",
            chain=chain,
            side=side,
            condition="",
            marker_set=name,
            prefix=prefix,
            forward_axis=forward,
            note=note,
            left_out=left_out,
        )
        for chain, side, name in rows
    ]
    return proposed, notes


def _best(chain_fits: Sequence[Fit]) -> list[Fit]:
    """Both sides of the first set that is complete."""
    done = [fit for fit in chain_fits if not fit.missing]
    return [fit for fit in done if fit.known is done[0].known]


def _lacks(chain: str, chain_fits: Sequence[Fit]) -> list[str]:
    """Why a recording does not support a chain that it nearly supports."""
    if not chain_fits:
        return []
    fit = chain_fits[0]
    hints = "; ".join(f"{name}: {fit.known.missing[name]}" for name in fit.missing if name in fit.known.missing)
    return [f"no {chain}: {', '.join(fit.missing)} missing among the {fit.known.title}{f' ({hints})' if hints else ''}"]


def _forward(body: Body, up_axis: str) -> tuple[str, str]:
    """Where the person goes or faces, and a note on it."""
    level = np.array([0.0 if axis == up_axis[1:] else 1.0 for axis in "xyz"])
    distance = float(np.linalg.norm(np.array(body.travel_m) * level))
    if distance >= 2.0 * Plane().min_travel_m:
        return "travel", ""
    seen = f"; {body.facing.sentence}" if body.facing else "; neither pelvis nor feet show it"
    return TO_DO, f"the markers travel {distance:.2f} m only{seen}"


def _set_of(fit: Fit, both: Sequence[Fit]) -> ProposedSet:
    """Marker set of a known one, with {S} where that serves both sides."""
    own = {name: tuple(template_of(label, fit.side) for label in labels) for name, labels in fit.rules.items()}
    other = next((mate for mate in both if mate.side != fit.side), None)
    named = fit.known.name
    if other is not None:
        theirs = {
            name: tuple(template_of(label, other.side) for label in labels) for name, labels in other.rules.items()
        }
        if theirs != own:
            named = f"{fit.known.name}_{fit.side}"
            own = dict(fit.rules)
    used = {name: pair for name, pair in fit.known.substitutes.items() if name not in own and pair[0] in own}
    return ProposedSet(
        name=named,
        rules=own,
        comments={name: fit.known.meaning[name] for name in own},
        substitutes=used,
        about=(f"{fit.known.title}; names from: {fit.known.source}",),
    )


def _looks_like_a_body(body: Body, chains: Sequence[str]) -> bool:
    """Whether at least two joints of a chain have labels that look like theirs."""
    return any(
        sum(bool(likely_labels(joint.landmark, body.labels)) for joint in CHAINS[chain].joints) >= 2 for chain in chains
    )


def _unknown_set(
    body: Body, chains: Sequence[str], found: Mapping[str, Sequence[Fit]], confirm: Confirm | None
) -> tuple[str, list[str], ProposedSet]:
    """Chain, sides and marker set of labels that no known set fits: likely labels are asked for, or left as comments."""
    counted = {
        chain: sum(bool(likely_labels(name, body.labels)) for name in needed_landmarks(CHAINS[chain]))
        / len(needed_landmarks(CHAINS[chain]))
        for chain in chains
    }
    chain = max(counted, key=lambda name: (len(found[name]) > 0, counted[name]))
    rules: dict[str, tuple[str, ...]] = {}
    comments: dict[str, str] = {}
    substitutes: dict[str, tuple[str, str]] = {}
    partly = found[chain][0] if found[chain] else None
    if partly is not None:
        rules = {
            name: tuple(template_of(label, partly.side) for label in labels) for name, labels in partly.rules.items()
        }
        comments = {name: partly.known.meaning[name] for name in rules}
        substitutes = {n: pair for n, pair in partly.known.substitutes.items() if n not in rules and pair[0] in rules}
    for name in needed_landmarks(CHAINS[chain]):
        if name in rules or name in substitutes:
            continue
        likely = likely_labels(name, body.labels, partly.side if partly else "")[:6]
        chosen = next(
            (
                label
                for label, _ in likely
                if confirm and confirm(f"{body.prefix or 'markers'}: is {label} the {name}?")
            ),
            None,
        )
        if chosen:
            rules[name] = (template_of(chosen, partly.side) if partly and partly.side else chosen,)
            comments[name] = "confirmed"
        else:
            hint = partly.known.missing.get(name, "") if partly else ""
            looks = (
                f"looks like it: {', '.join(f'{label} ({score:.2f})' for label, score in likely)}"
                if likely
                else "no label looks like it"
            )
            rules[name], comments[name] = (TO_DO,), "; ".join(filter(None, (looks, hint)))
    for name, pair in partly.known.substitutes.items() if partly else ():
        if rules.get(name) == (TO_DO,) and pair[0] in rules:  # one place to fill in serves both
            del rules[name]
            substitutes[name] = pair
    sides = [fit.side for fit in found[chain] if partly and fit.known is partly.known]
    about = (
        "no known set fits these labels; name the marker, or a list of markers, of each landmark",
        f"labels: {', '.join(body.labels)}",
    )
    return (
        chain,
        [side or TO_DO for side in sides] or [TO_DO],
        ProposedSet("my_markers", rules, comments, substitutes, about),
    )


def _pruned(sets: Iterable[ProposedSet], trials: Sequence[ProposedTrial]) -> tuple[ProposedSet, ...]:
    used = {trial.marker_set for trial in trials if not trial.left_out}
    return tuple(chosen for chosen in sets if chosen.name in used)


def _unique(trials: Sequence[ProposedTrial]) -> tuple[ProposedTrial, ...]:
    """Trials whose names differ by more than case: the folder's name goes before those that do not."""
    count: dict[str, int] = {}
    for trial in trials:
        count[trial.trial.lower()] = count.get(trial.trial.lower(), 0) + 1
    taken: set[str] = set()
    named = []
    for trial in trials:
        name = trial.trial
        if count[name.lower()] > 1:
            name = _safe(f"{Path(trial.file).parent.name}_{name}")
        base, n = name, 2
        while name.lower() in taken:
            name, n = f"{base}_{n}", n + 1
        taken.add(name.lower())
        named.append(replace(trial, trial=name))
    return tuple(named)


def _safe(name: str) -> str:
    """Name with letters, digits, '_', '.' and '-' only, as the names of files are."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")
    return plain[:90] or "unnamed"
