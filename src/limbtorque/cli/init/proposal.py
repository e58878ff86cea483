"""Proposed study: trials, subjects and marker sets, with their evidence."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.marker_sets import ProposedSet, Sets, static_trials
from limbtorque.cli.init.pairs import BY_TIME, copies_of, pair_emg, pair_forces, unread_forces
from limbtorque.cli.init.people import about_people, conditions_of, who_is_who
from limbtorque.cli.init.scan import DESCRIBED, WHERE_NEEDED
from limbtorque.cli.init.study_settings import ProposedWindow, emg_lines, judge_up_by_file, propose_window
from limbtorque.cli.init.subjects import ProposedSubject, propose_subject
from limbtorque.cli.init.survey import Body, Seen, Unread
from limbtorque.cli.init.trials import ARMS_OF_A_WALK, FORWARD, ProposedTrial, propose_trials, with_unique_names
from limbtorque.study.table_file import TO_DO
from limbtorque.tables.column import counted

HIP = "hip_axis"
OPTIONS_OF_FILES = (*WHERE_NEEDED, *DESCRIBED)  # of `reading`: columns of trials where files differ
NO_MARKERS = "no markers; if it holds the forces of a trial, name it in a column forces_file"


@dataclass(frozen=True)
class Proposal:
    """A proposed study.

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
        What the recordings do not support, then what was guessed of the folders' names.
    window : ProposedWindow
        What is 0 to 100 % of the curves.
    reading : dict of str to str
        Options of `reading` that every recording needs.
    unmapped : tuple of (Seen, dict)
        Recordings without a row, with the cells that one would have.
    emg : tuple of str
        Section `emg` of the settings: channels of electromyography and their muscles.
    maps : tuple of str
        Pages on which markers are given to landmarks by eye, from the study's folder.
    credits : tuple of str
        Licence and citation of recordings that are known by their hash.
    """

    title: str
    up_axis: str
    up_evidence: tuple[str, ...]
    sets: tuple[ProposedSet, ...]
    trials: tuple[ProposedTrial, ...]
    subjects: tuple[ProposedSubject, ...]
    unread: tuple[Unread, ...]
    notes: tuple[str, ...]
    window: ProposedWindow
    reading: Mapping[str, str]
    unmapped: tuple[tuple[Seen, Mapping[str, str]], ...]
    emg: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    credits: tuple[str, ...] = ()

    @property
    def rows(self) -> list[ProposedTrial]:
        """Rows to be analysed."""
        return [trial for trial in self.trials if not trial.left_out]

    @property
    def missing(self) -> list[tuple[int, str]]:
        """Entries left to complete: number of each kind, and a phrase on them."""
        landmarks = sum(chosen.n_open for chosen in self.sets)
        columns = Counter(name for row in self.rows for name, text in row.cells.items() if text.startswith(TO_DO))
        masses = sum(subject.mass_kg.startswith(TO_DO) for subject in self.subjects)
        kinds = [
            (landmarks, f"the markers of {counted(landmarks, 'landmark')} (marker_sets in config/config.yaml)"),
            (int(not self.up_axis), "the axis that points up (plane.up_axis in config/config.yaml)"),
            *((n, f"{column} of {counted(n, 'trial')} (config/trials.csv)") for column, n in columns.items()),
            (masses, f"the body mass of {counted(masses, 'subject')} (config/subjects.csv)"),
        ]
        return [kind for kind in kinds if kind[0]]

    @property
    def to_do(self) -> int:
        """Number of entries left to complete."""
        return sum(number for number, _ in self.missing)


@dataclass
class _Rows:
    """Rows of recordings, and sentences with the recording they refer to."""

    trials: list[ProposedTrial] = field(default_factory=list)
    sentences: list[tuple[str, str]] = field(default_factory=list)
    mapped: dict[str, list[Seen]] = field(default_factory=dict)  # subject -> recordings with rows
    unmapped: dict[str, list[Seen]] = field(default_factory=dict)
    taken: dict[str, Seen] = field(default_factory=dict)  # file -> recording with rows that can be taken
    recordings: dict[str, tuple[Seen, Mapping[str, str]]] = field(default_factory=dict)  # by file, with cells of a row

    def add(
        self,
        one: Seen,
        body: Body,
        rows: Sequence[ProposedTrial],
        about: Sequence[str],
        cells: Mapping[str, str],
        *,
        subject: str,
    ) -> None:
        """Add the rows of a person in a recording, and sentences on them."""
        name = f"{one.name}{f' ({body.prefix})' if body.prefix else ''}"
        self.sentences += [(sentence, name) for sentence in about]
        (self.mapped if rows else self.unmapped).setdefault(subject, []).append(one.alone(body))
        self.trials += rows
        if any(row.can_be_taken for row in rows):
            self.taken[cells["file"]] = one
        self.recordings.setdefault(cells["file"], (one, dict(cells)))


def propose(
    looked: Sequence[Seen | Unread],
    *,
    title: str,
    relative_to: Path,
    chains: Sequence[str] = ("arm", "leg"),
    up_axis: str = "",
    forward_axis: str = "",
) -> Proposal:
    """Propose a study for recordings.

    Parameters
    ----------
    looked : sequence of Seen or Unread
        The recordings.
    title : str
        Name of the study.
    relative_to : Path
        The study's folder, from which the recordings are named.
    chains : sequence of str
        Chains to look for.
    up_axis, forward_axis : str, optional
        The axes that point up and forward, where the user says them; they go before the evidence.

    Returns
    -------
    Proposal
        What can be written down, and what is left to fill in.
    """
    seen = [one for one in looked if isinstance(one, Seen)]
    people, copies = who_is_who(seen), copies_of(seen)
    statics = static_trials(seen, people)
    subject_of = {one.name: people.of[one.name, one.bodies[0].prefix] for one in seen if one.bodies}
    omitted = _omitted(seen, copies)
    up_axis, up_evidence, others_up = judge_up_by_file(seen, subject_of, given=up_axis)
    conditions, about_conditions = conditions_of(seen, subject_of, people.level, omitted=omitted)
    reading = _common_options(seen)
    sets, rows = Sets(), _Rows()
    for one in seen:
        options = {f"reading.{name}": str(value) for name, value in one.answers if f"reading.{name}" not in reading}
        shared = {"file": path_from(relative_to, one.path), "plane.up_axis": others_up.get(one.name, "")}
        shared |= {"condition": conditions.get(one.name, ""), FORWARD: forward_axis, **options}
        for body in one.bodies:
            subject = people.of[one.name, body.prefix]
            shared |= {"session": safe_name(subject), "subject": safe_name(subject)}
            of_limbs = {limb: statics.complete(one, body, subject, limb) for limb in chains}
            of_body, about = propose_trials(
                one,
                body,
                sets,
                {limb: (path_from(relative_to, s.path) if s else "", both) for limb, (s, both) in of_limbs.items()},
                shared=shared,
                up_axis=(shared["plane.up_axis"] or up_axis).replace(TO_DO, ""),
                copy_of=copies[one.name, body.prefix],
            )
            rows.add(one, body, of_body, about, shared, subject=subject)
    unread = [one for one in looked if isinstance(one, Unread)]
    emg = pair_emg(list(rows.taken.values()), seen)
    window, trials = propose_window(with_unique_names(_with_further_files(rows, emg, seen, unread, relative_to)))
    with_row = {trial["file"] for trial in trials if trial.left_out != ARMS_OF_A_WALK}
    about_names = about_people([one for one in seen if one.bodies and one.name not in omitted], people)
    with_trials = {trial["marker_set"] for trial in trials if trial.can_be_taken}
    return Proposal(
        title=title,
        up_axis=up_axis,
        up_evidence=up_evidence,
        sets=tuple(chosen for chosen in sets.by_content.values() if chosen.name in with_trials),
        trials=tuple(trials),
        subjects=tuple(_subjects(rows, trials, sets, people.certain)),
        unread=tuple(unread),
        notes=(*_gathered([*rows.sentences, *statics.notes]), *about_names, *people.notes, *about_conditions),
        window=window,
        reading=reading,
        unmapped=tuple(pair for file, pair in rows.recordings.items() if file not in with_row),
        emg=emg_lines(
            [*rows.taken.values(), *emg.values()], {trial["chain"] for trial in trials if not trial.left_out}
        ),
    )


def _omitted(seen: Sequence[Seen], copies: Mapping[tuple[str, str], str]) -> set[str]:
    """Names of copies, and of static trials if other trials move."""
    still = {one.name for one in seen if one.still}
    alike = {one.name for one in seen if one.bodies and all(copies[one.name, body.prefix] for body in one.bodies)}
    return alike | (still if len(still) < len(seen) else set())


def _with_further_files(
    rows: _Rows, emg: Mapping[str, Seen], seen: Sequence[Seen], unread: Sequence[Unread], relative_to: Path
) -> list[ProposedTrial]:
    """Rows with their force and electromyography files; adds sentences on them."""
    forces = pair_forces(list(rows.taken.values()), seen)
    used = {file.name for file, _ in forces.values() if file} | {file.name for file in emg.values()}
    rows.sentences += [(sentence, name) for name, (_, sentence) in forces.items()]
    rows.sentences += [(NO_MARKERS, one.name) for one in seen if not one.bodies and one.name not in used]
    further: dict[str, dict[str, str]] = {}  # file -> cells
    for file, one in rows.taken.items():
        force_file, sentence = forces.get(one.name, (None, ""))
        if force_file:
            note = f"forces: {force_file.name}, by its {'time only' if sentence == BY_TIME else 'name and time'}"
        else:
            note = "" if one.n_plates else unread_forces(one, unread)
            rows.sentences += [(note, one.name)] if note else []
        files = {"forces_file": force_file, "emg_file": emg.get(one.name)}
        further[file] = {name: path_from(relative_to, other.path) for name, other in files.items() if other}
        further[file]["note"] = note
    trials = []
    for row in rows.trials:
        cells = further.get(row["file"], {"note": ""})
        trials.append(row.with_cells({**cells, "note": "; ".join(filter(None, (row["note"], cells["note"])))}))
    return trials


def _subjects(
    rows: _Rows, trials: Sequence[ProposedTrial], sets: Sets, certain: Collection[str]
) -> Iterator[ProposedSubject]:
    """Rows of analysed subjects, and of others whose files state a mass."""
    predicted = {chosen.name for chosen in sets.by_content.values() if "hip_centre" in chosen.computed.get(HIP, "")}
    sets_of: dict[str, set[str]] = {}
    for trial in (trial for trial in trials if not trial.left_out):
        sets_of.setdefault(trial["subject"], set()).add(trial["marker_set"])
    for name in dict.fromkeys((*rows.mapped, *rows.unmapped)):
        marker_sets = sets_of.get(safe_name(name), set())
        recordings = rows.mapped.get(name) or rows.unmapped[name]
        subject = propose_subject(
            name, recordings, certain=name in certain, predicted_hip=bool(marker_sets & predicted)
        )
        if marker_sets or (name in rows.unmapped and not subject.mass_kg.startswith(TO_DO)):
            yield subject


def _common_options(seen: Sequence[Seen]) -> dict[str, str]:
    """Options of `reading` that have the same value for all recordings with markers."""
    common = {}
    for name in OPTIONS_OF_FILES:
        values = {str(dict(one.answers).get(name, "")) for one in seen if one.bodies}
        if len(values) == 1 and "" not in values:
            common[f"reading.{name}"] = values.pop()
    return common


def _gathered(sentences: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences about recordings, each once with the recordings' names."""
    names_of: dict[str, list[str]] = {}
    for sentence, name in sentences:
        names_of.setdefault(sentence, []).append(name)
    return [f"{some_of(names)}: {sentence}" for sentence, names in names_of.items()]


def path_from(folder: Path, path: Path) -> str:
    """Path of a file relative to a folder; keeps links that lead to the file."""
    given = Path(os.path.relpath(path.absolute(), folder.absolute()))
    if (folder.resolve() / given).resolve() == path.resolve():
        return given.as_posix()
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
