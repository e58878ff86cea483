"""Proposed study: trials, subjects and marker sets, with their evidence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.marker_sets import ProposedSet, Sets, static_trials
from limbtorque.cli.init.pairs import BY_TIME, copies_of, pair_emg, pair_forces, unread_forces
from limbtorque.cli.init.people import People, about_people, conditions_of, who_is_who
from limbtorque.cli.init.scan import DESCRIBED, WHERE_NEEDED
from limbtorque.cli.init.study_settings import (
    ProposedWindow,
    emg_lines,
    judge_up_by_file,
    propose_window,
)
from limbtorque.cli.init.subjects import ProposedSubject, propose_subject
from limbtorque.cli.init.survey import Seen, Unread
from limbtorque.cli.init.trials import ProposedTrial, propose_trials, split_movements, with_unique_names
from limbtorque.study.chains import limb_of
from limbtorque.study.table_file import TO_DO

HIP = "hip_axis"
CELLS = {  # of a row, that may be left to fill in -> the column
    "chain": "chain",
    "side": "side",
    "forward_axis": "plane.forward_axis",
    "up_axis": "plane.up_axis",
    "belt_speed": "plates.belt_speed_m_s",
    "marker_set": "marker_set",
}


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
    emg : tuple of str
        Section `emg` of the settings: channels of electromyography and their muscles.
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
    emg: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()

    @property
    def to_do(self) -> int:
        """Number of places left to fill in."""
        rows = [trial for trial in self.trials if not trial.left_out]
        cells: list[str] = [getattr(row, cell) for row in rows for cell in CELLS]
        cells += [subject.mass_kg for subject in self.subjects]
        cells += [label for chosen in self.sets for labels in chosen.rules.values() for label in labels]
        return sum(text.startswith(TO_DO) for text in cells) + (not self.up_axis)


def propose(
    looked: Sequence[Seen | Unread],
    *,
    title: str,
    relative_to: Path,
    chains: Sequence[str] = ("arm", "leg"),
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
    up_axis : str, optional
        The axis that points up, where the user says it; it goes before the evidence.

    Returns
    -------
    Proposal
        What can be written down, and what is left to fill in.
    """
    seen = [one for one in looked if isinstance(one, Seen)]
    people = who_is_who(seen)
    copies = copies_of(seen)
    whose = {one.name: people.of[one.name, one.bodies[0].prefix] for one in seen if one.bodies}
    still = {one.name for one in seen if one.still}
    omitted = {one.name for one in seen if one.bodies and all(copies[one.name, body.prefix] for body in one.bodies)}
    omitted |= still if len(still) < len(seen) else set()
    up_axis, up_evidence, ups = judge_up_by_file(seen, whose, given=up_axis)
    conditions, about_conditions = conditions_of(seen, whose, people.level, omitted=omitted)
    statics = static_trials(seen, people)
    said: list[tuple[str, str]] = []
    sets, trials = Sets(), list[ProposedTrial]()
    of_subject: dict[str, list[Seen]] = {}
    unmapped: dict[str, list[Seen]] = {}
    kept: dict[str, Seen] = {}
    for one in seen:
        file, own_up = path_from(relative_to, one.path), ups.get(one.name, "")
        for body in one.bodies:
            who, copy = people.of[one.name, body.prefix], copies[one.name, body.prefix]
            carrying = {limb: statics.complete(one, body, who, limb) for limb in chains}
            carried = {limb: fits for limb, (_, fits) in carrying.items()}
            up = (own_up or up_axis).replace(TO_DO, "")
            rows, about = propose_trials(one, body, copy, sets, chains, up, carried)
            rows, parts = split_movements(rows, (one.n_frames - 1) / one.rate_hz)
            name = f"{one.name}{f' ({body.prefix})' if body.prefix else ''}"
            said += [(sentence, name) for sentence in (*about, *parts)]
            (of_subject if rows else unmapped).setdefault(who, []).append(one.alone(body))
            if any(row.can_be_taken for row in rows):
                kept[file] = one
            static_files = {limb: path_from(relative_to, found.path) for limb, (found, _) in carrying.items() if found}
            trials += _placed(rows, who, conditions[one.name], file, own_up, static_files)
    trials = _with_further_files(trials, kept, looked, relative_to, said)
    window, rows_with_windows = propose_window(with_unique_names(trials))
    emg_files = pair_emg(list(kept.values()), seen).values()
    used = {trial.marker_set for trial in trials if trial.can_be_taken}
    analysed = [one for one in seen if one.bodies and one.name not in omitted]
    about = [*([about_people(analysed, people)] if analysed else []), *people.notes, *about_conditions]
    return Proposal(
        title=title,
        up_axis=up_axis,
        up_evidence=up_evidence,
        sets=tuple(chosen for chosen in sets.by_content.values() if chosen.name in used),
        trials=rows_with_windows,
        subjects=tuple(_subjects(of_subject, unmapped, trials, sets, people)),
        unread=tuple(one for one in looked if isinstance(one, Unread)),
        notes=(*_gathered([*said, *statics.notes]), *about),
        window=window,
        emg=emg_lines([*kept.values(), *emg_files], {trial.chain for trial in trials if not trial.left_out}),
    )


def _placed(
    rows: Sequence[ProposedTrial],
    who: str,
    condition: str,
    file: str,
    up_axis: str,
    static_files: Mapping[str, str],
) -> list[ProposedTrial]:
    """Rows of a body in a recording with the cells that they share."""
    subject = safe_name(who)
    placed = []
    for row in rows:
        static = static_files[limb_of(row.chain)] if row.carried else ""
        whose = replace(row, subject=subject, session=subject, condition=condition, file=file)
        placed.append(replace(whose, up_axis=up_axis, static_file=static))
    return placed


def _subjects(
    of_subject: Mapping[str, Sequence[Seen]],
    unmapped: Mapping[str, Sequence[Seen]],
    trials: Sequence[ProposedTrial],
    sets: Sets,
    people: People,
) -> Iterator[ProposedSubject]:
    """Rows of subjects that are analysed, and of others whose files state a mass."""
    predicted = {chosen.name for chosen in sets.by_content.values() if "hip_centre" in chosen.computed.get(HIP, "")}
    analysed = {trial.subject for trial in trials if not trial.left_out}
    with_hip = {trial.subject for trial in trials if not trial.left_out and trial.marker_set in predicted}
    for who, recordings in of_subject.items():
        if (name := safe_name(who)) in analysed:
            yield propose_subject(who, recordings, certain=who in people.certain, predicted_hip=name in with_hip)
    for who, recordings in unmapped.items():
        if safe_name(who) not in analysed:
            subject = propose_subject(who, of_subject.get(who, recordings), certain=who in people.certain)
            if not subject.mass_kg.startswith(TO_DO):
                yield subject


def _with_further_files(
    trials: Sequence[ProposedTrial],
    kept: Mapping[str, Seen],
    looked: Sequence[Seen | Unread],
    relative_to: Path,
    said: list[tuple[str, str]],
) -> list[ProposedTrial]:
    """Rows with their files of forces and electromyography; notes on them are added."""
    seen = [one for one in looked if isinstance(one, Seen)]
    unread = [one for one in looked if isinstance(one, Unread)]
    forces, emg = pair_forces(list(kept.values()), seen), pair_emg(list(kept.values()), seen)
    said += [(sentence, name) for name, (_, sentence) in forces.items()]
    used = {file.name for file, _ in forces.values() if file} | {one.name for one in emg.values()}
    no_markers = "no markers; if it has the forces of a trial, name it in a column forces_file"
    said += [(no_markers, one.name) for one in seen if not one.bodies and one.name not in used]
    further: dict[str, tuple[str, str, str]] = {}  # forces, electromyography, note
    for file, one in kept.items():
        of_forces, sentence = forces.get(one.name, (None, ""))
        note = (
            f"forces: {of_forces.name}, by its {'time only' if sentence == BY_TIME else 'name and time'}"
            if of_forces
            else ""
        )
        if not one.n_plates and not of_forces:
            note = unread_forces(one, unread)
            said += [(note, one.name)] if note else []
        files = [path_from(relative_to, other.path) if other else "" for other in (of_forces, emg.get(one.name))]
        further[file] = files[0], files[1], note
    rows = []
    for row in trials:
        forces_file, emg_file, why = further.get(row.file, ("", "", ""))
        note = "; ".join(filter(None, (row.note, why)))
        rows.append(replace(row, forces_file=forces_file, emg_file=emg_file, note=note))
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


def settled(proposal: Proposal, seen: Sequence[Seen], study: Path) -> tuple[Proposal, dict[str, str]]:
    """Options of `reading` that hold for the whole study; others become columns.

    Parameters
    ----------
    proposal : Proposal
        The proposed study.
    seen : sequence of Seen
        The recordings, with the options that each needed.
    study : Path
        The study's folder.

    Returns
    -------
    proposal : Proposal
        With the columns.
    common : dict of str to str
        Option -> value, of those that every recording needed.
    """
    used = {path_from(study, one.path): dict(one.answers) for one in seen if one.bodies}
    common: dict[str, str] = {}
    trials = proposal.trials
    for name in (*WHERE_NEEDED, *DESCRIBED):
        values = {str(own.get(name, "")) for own in used.values()}
        if len(values) == 1 and "" not in values:
            common[f"reading.{name}"] = values.pop()
        elif len(values) > 1:
            cells: list[dict[str, Any]] = [{name: str(used[trial.file].get(name, ""))} for trial in trials]
            trials = tuple(replace(trial, **cell) for trial, cell in zip(trials, cells, strict=True))
    return replace(proposal, trials=trials), common


def with_forward_axis(proposal: Proposal, axis: str) -> Proposal:
    """Proposal whose trials have the forward axis that a person gave, if any.

    Parameters
    ----------
    proposal : Proposal
        The proposed study.
    axis : str
        The axis; empty where none was given.
    """
    if not axis:
        return proposal
    note = "forward axis by --set plane.forward_axis"
    rows = tuple(replace(row, forward_axis=axis, note=note) for row in proposal.trials)
    return replace(proposal, trials=rows)
