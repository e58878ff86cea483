"""Proposed study: trials, subjects and marker sets, with their evidence."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from limbtorque.cli.init.copies import copies_of
from limbtorque.cli.init.forces import pair_forces, unread_forces
from limbtorque.cli.init.names import conditions_of, safe_name, some_of
from limbtorque.cli.init.people import People, about_people, who_is_who
from limbtorque.cli.init.proposed_emg import ProposedEmg, pair_emg, propose_emg
from limbtorque.cli.init.proposed_sets import Confirm, ProposedSet, Sets
from limbtorque.cli.init.proposed_subjects import ProposedSubject, propose_subject
from limbtorque.cli.init.proposed_trials import ProposedTrial, propose_trials, with_unique_names
from limbtorque.cli.init.split_rows import split_movements
from limbtorque.cli.init.statements import of_body
from limbtorque.cli.init.static_trials import static_trials
from limbtorque.cli.init.survey import Seen, Unread
from limbtorque.cli.init.up_axis import judge_up_by_file
from limbtorque.cli.init.windows import ProposedWindow, propose_window
from limbtorque.study.chains import limb_of
from limbtorque.study.table_file import TO_DO

HIP = "hip_axis"


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
    emg : ProposedEmg
        Channels of electromyography and their muscles.
    maps : tuple of str
        Pages on which markers are given to landmarks by eye, from the study's folder.
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
    emg: ProposedEmg = field(default_factory=ProposedEmg)
    maps: tuple[str, ...] = ()

    @property
    def to_do(self) -> int:
        """Number of places left to fill in."""
        rows = [trial for trial in self.trials if not trial.left_out]
        cells = [text for row in rows for text in (row.chain, row.side, row.forward_axis, row.up_axis, row.marker_set)]
        cells += [text for subject in self.subjects for text in (subject.mass_kg,)]
        cells += [label for chosen in self.sets for labels in chosen.rules.values() for label in labels]
        return sum(text.startswith(TO_DO) for text in cells) + (not self.up_axis)


def propose(
    looked: Sequence[Seen | Unread],
    *,
    title: str,
    relative_to: Path,
    chains: Sequence[str] = ("arm", "leg"),
    confirm: Confirm | None = None,
    up_axis: str = "",
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
    confirm : callable, optional
        Asks the user whether a likely label is right; without it such labels are only suggested in a comment.
    up_axis : str, optional
        The axis that points up, where the user says it; it goes before the evidence.

    Returns
    -------
    Proposal
        What can be written down, and what is left to fill in.
    """
    seen = [one for one in looked if isinstance(one, Seen)]
    people = who_is_who(seen)
    copies, alike = copies_of(seen, people.of)
    copied = {one.name for one in seen if one.bodies and all(copies[one.name, b.prefix] for b in one.bodies)}
    moving = {one.name for one in seen if not one.still}
    omitted = copied | ({one.name for one in seen} - moving if moving else set())
    whose = {one.name: people.of[one.name, one.bodies[0].prefix] for one in seen if one.bodies}
    up_axis, up_evidence, ups = judge_up_by_file(seen, whose, given=up_axis)
    conditions, about_conditions = conditions_of(seen, whose, people.level, omitted=omitted)
    statics = static_trials(seen, people)
    said = list(alike)
    sets, trials = Sets(), list[ProposedTrial]()
    of_subject: dict[str, list[Seen]] = {}
    unmapped: dict[str, list[Seen]] = {}
    kept: dict[str, Seen] = {}
    for one in seen:
        for body in one.bodies:
            who, up = people.of[one.name, body.prefix], ups.get(one.name, up_axis).replace(TO_DO, "")
            carrying = {limb: statics.complete(one, body, who, limb) for limb in chains}
            carried = {limb: found for limb, (_, found) in carrying.items()}
            rows, about = propose_trials(one, body, copies[one.name, body.prefix], sets, chains, confirm, up, carried)
            rows, parts = split_movements(rows, (one.n_frames - 1) / one.rate_hz)
            about = [*about, *parts]
            said += [(sentence, f"{one.name}{f' ({body.prefix})' if body.prefix else ''}") for sentence in about]
            (of_subject if rows else unmapped).setdefault(who, []).append(of_body(one, body))
            file = path_from(relative_to, one.path)
            if any(row.can_be_taken for row in rows):
                kept[file] = one
            static = {limb: path_from(relative_to, found.path) for limb, (found, _) in carrying.items() if found}
            place = _Place(safe_name(who), conditions[one.name], file, ups.get(one.name, ""), static)
            trials += [place.row(row) for row in rows]
    notes = about_people([one for one in seen if one.name not in omitted], people)
    trials = _with_forces(trials, kept, looked, relative_to, said)
    emg_files = pair_emg(list(kept.values()), seen)
    trials = [_with_emg(trial, kept, emg_files, relative_to) for trial in trials]
    window, rows_with_windows = propose_window(with_unique_names(trials))
    return Proposal(
        title=title,
        up_axis=up_axis,
        up_evidence=up_evidence,
        sets=_used_sets(sets.by_content.values(), trials),
        trials=rows_with_windows,
        subjects=(
            *_subjects(of_subject, trials, sets, people),
            *_stated({**unmapped, **of_subject}, unmapped, trials, people),
        ),
        unread=tuple(one for one in looked if isinstance(one, Unread)),
        notes=(*_gathered([*said, *statics.notes]), *notes, *people.notes, *about_conditions),
        window=window,
        emg=propose_emg([*kept.values(), *emg_files.values()], {trial.chain for trial in trials if not trial.left_out}),
    )


def _subjects(
    of_subject: Mapping[str, Sequence[Seen]], trials: Sequence[ProposedTrial], sets: Sets, people: People
) -> tuple[ProposedSubject, ...]:
    """Rows of the subjects whose trials are analysed."""
    predicted = {chosen.name for chosen in sets.by_content.values() if "hip_centre" in chosen.computed.get(HIP, "")}
    analysed: dict[str, bool] = {}
    for trial in trials:
        if not trial.left_out:
            analysed[trial.subject] = analysed.get(trial.subject, False) or trial.marker_set in predicted
    return tuple(
        propose_subject(who, ones, certain=who in people.certain, predicted_hip=analysed[safe_name(who)])
        for who, ones in of_subject.items()
        if safe_name(who) in analysed
    )


def _stated(
    files: Mapping[str, Sequence[Seen]],
    unmapped: Collection[str],
    trials: Sequence[ProposedTrial],
    people: People,
) -> Iterator[ProposedSubject]:
    """Rows of subjects without a trial whose files state a mass."""
    analysed = {trial.subject for trial in trials if not trial.left_out}
    for who in unmapped:
        if safe_name(who) not in analysed:
            found = propose_subject(who, files[who], certain=who in people.certain)
            if not found.mass_kg.startswith(TO_DO):
                yield found


@dataclass(frozen=True)
class _Place:
    """Columns that the rows of a body in a recording share."""

    subject: str
    condition: str
    file: str
    up_axis: str
    static_files: Mapping[str, str]  # by limb

    def row(self, row: ProposedTrial) -> ProposedTrial:
        """Row with them; the static trial only where landmarks are carried from it."""
        static_file = self.static_files[limb_of(row.chain)] if row.carried else ""
        whose = replace(row, subject=self.subject, session=self.subject, condition=self.condition)
        return replace(whose, file=self.file, up_axis=self.up_axis, static_file=static_file)


def _with_emg(
    trial: ProposedTrial, kept: Mapping[str, Seen], emg_files: Mapping[str, Seen], relative_to: Path
) -> ProposedTrial:
    """Row with its file of electromyography."""
    one = kept.get(trial.file)
    if one is None or one.name not in emg_files:
        return trial
    return replace(trial, emg_file=path_from(relative_to, emg_files[one.name].path))


def _with_forces(
    trials: Sequence[ProposedTrial],
    kept: Mapping[str, Seen],
    looked: Sequence[Seen | Unread],
    relative_to: Path,
    said: list[tuple[str, str]],
) -> list[ProposedTrial]:
    """Rows with their force files; notes on them are added."""
    seen = [one for one in looked if isinstance(one, Seen)]
    unread = [one for one in looked if isinstance(one, Unread)]
    paired = pair_forces(list(kept.values()), seen)
    said += [(found.sentence, name) for name, found in paired.items()]
    used = {found.forces.name for found in paired.values() if found.forces}
    used |= {one.name for one in pair_emg(list(kept.values()), seen).values()}
    said += [
        ("no markers; if it has the forces of a trial, name it in a column forces_file", one.name)
        for one in seen
        if not one.bodies and one.name not in used
    ]
    lacking = {
        one.name: unread_forces(one, unread)
        for one in kept.values()
        if not one.n_plates and not (one.name in paired and paired[one.name].forces)
    }
    said += [(sentence, name) for name, sentence in lacking.items() if sentence]
    rows = []
    for trial in trials:
        found = paired.get(kept[trial.file].name) if trial.file in kept else None
        if found and found.forces:
            note = "; ".join(filter(None, (trial.note, found.note)))
            trial = replace(trial, forces_file=path_from(relative_to, found.forces.path), note=note)
        elif trial.file in kept and (sentence := lacking.get(kept[trial.file].name, "")):
            trial = replace(trial, note="; ".join(filter(None, (trial.note, sentence))))
        rows.append(trial)
    return rows


def _gathered(said: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences about recordings, each once with the names of its recordings."""
    whose: dict[str, list[str]] = {}
    for sentence, name in said:
        whose.setdefault(sentence, []).append(name)
    return [f"{some_of(names)}: {sentence}" for sentence, names in whose.items()]


def path_from(folder: Path, path: Path) -> str:
    """Path of a file relative to a folder; keeps links that lead to the file."""
    given = Path(os.path.relpath(path.absolute(), folder.absolute()))
    if (folder.resolve() / given).resolve() == path.resolve():
        return given.as_posix()
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _used_sets(sets: Iterable[ProposedSet], trials: Sequence[ProposedTrial]) -> tuple[ProposedSet, ...]:
    used = {trial.marker_set for trial in trials if trial.can_be_taken}
    return tuple(chosen for chosen in sets if chosen.name in used)
