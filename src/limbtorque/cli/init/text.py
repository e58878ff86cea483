"""Texts of a proposed study: its files, the first screen, and what comes next."""

from __future__ import annotations

import csv
import io
import json
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from limbtorque.cli.check_summary import lines_by_kind
from limbtorque.cli.init.marker_sets import ProposedSet, yaml_labels
from limbtorque.cli.init.pairs import is_of_forces
from limbtorque.cli.init.proposal import CELLS, Proposal
from limbtorque.cli.init.study_settings import MOVEMENT, ProposedWindow
from limbtorque.cli.init.survey import STORAGE, Unread
from limbtorque.cli.init.trials import ARMS_OF_A_WALK, NO_SET, ProposedTrial
from limbtorque.cli.terminal import quoted
from limbtorque.study.subjects import PELVIS_MEASURES
from limbtorque.study.table_file import TO_DO
from limbtorque.tables.column import counted

BOTH = ("arm", "leg")
NOTES = 4  # on the first screen; all are comments of config/trials.csv
INCLUDE_ARMS = "remove the # of their rows in config/trials.csv to include them"
NO_UNIT = "no unit of length"
TRIAL_COLUMNS = {  # cell of a proposed trial -> column
    **{name: name for name in ("trial", "session", "subject", "file", "forces_file", "emg_file", "static_file")},
    **{name: name for name in ("start_s", "end_s", "chain", "side", "condition", "marker_set", "prefix")},
    **{name: f"reading.{name}" for name in ("length_unit", "force_unit", "rate_hz", "marker_names")},
    "up_axis": "plane.up_axis",
    "forward_axis": "plane.forward_axis",
    "belt_speed": "plates.belt_speed_m_s",
    **{name: f"ensembles.{name}" for name in ("window", "start_event", "end_event", "events")},
    "note": "note",
}
NO_SIDE = "The labels of some recordings do not indicate a side: fill in left or right."
ALWAYS = ("trial", "session", "subject", "file", "chain", "side", "condition", "marker_set", "forward_axis", "note")


def config_text(proposal: Proposal, *, source: str, answers: Mapping[str, str] | None = None) -> str:
    """Text of config/config.yaml.

    Parameters
    ----------
    proposal : Proposal
        The study.
    source : str
        Folder of the recordings, for the comment.
    answers : mapping of str to str, optional
        Options of `reading` that the user gave.

    Returns
    -------
    str
        YAML with comments.
    """
    up = (
        f'"{proposal.up_axis}"'
        if proposal.up_axis
        else 'null # TODO: the laboratory\'s axis that points up, such as "+z"'
    )
    lines = [
        f"# Proposed by `limbtorque init` from the recordings in {source}. Fill in every TODO: the recordings do not contain it.",
        "# Every option, its default, range and unit: `limbtorque settings`. Options not listed here have their defaults.",
        f"title: {json.dumps(proposal.title, ensure_ascii=False)}",
        "",
        *_reading_lines(answers or {}),
        "plane:",
        "  # Evidence for the axis that points up:",
        *(f"  #   {sentence}" for sentence in proposal.up_evidence),
        f"  up_axis: {up}",
        "  kind: sagittal # the default; or horizontal, or best_fit; for single trials use a column plane.kind in trials.csv",
        "",
        "marker_sets: # landmark: marker, or markers (their mean); {S} is R or L, {side} is right or left, the trial's side",
    ]
    for chosen in proposal.sets:
        lines += _set_lines(chosen)
    if not proposal.sets:
        lines[-1] = "marker_sets: {} # TODO: no landmark was recognised; see docs/settings.md for naming them"
    substitutes = [chosen for chosen in proposal.sets if chosen.substitutes]
    if substitutes:
        lines += ["", "substitutes: # required landmark: the one used in its place; every use is noted in the ledger"]
    for chosen in substitutes:
        lines.append(f"  {chosen.name}:")
        lines += [f"    {name}: {by} # {why}" for name, (by, why) in chosen.substitutes.items()]
    lines += [
        *_error_lines(proposal.sets),
        "",
        *_window_lines(proposal.window),
        *proposal.emg,
        "# Defaults worth checking: filter.cutoff_hz (chosen from each trial's data), muscles.enabled (true),",
        "# segments.table (dempster_winter), plates.assignment (auto).",
    ]
    return "\n".join(lines) + "\n"


def _reading_lines(answers: Mapping[str, str]) -> list[str]:
    given = {name.removeprefix("reading."): text for name, text in answers.items() if name.startswith("reading.")}
    if not given:
        return []
    return [
        "reading: # what the files do not state, or how their markers are named",
        *(f"  {n}: {t}" for n, t in given.items()),
        "",
    ]


def _error_lines(sets: Sequence[ProposedSet]) -> list[str]:
    """Lines on points whose distance from the joint is not that of a marker."""
    lines = []
    for chosen in sets:
        if chosen.errors:
            lines += [f"    {chosen.name}:", *(f"      {name}: {error}" for name, error in chosen.errors.items())]
    if not lines:
        return []
    return [
        "",
        "uncertainty: # on by default (docs/uncertainty.md)",
        "  sets: # errors of joint centres: a kind, or a standard deviation in m along each axis (docs/keypoints.md)",
        *lines,
    ]


def _window_lines(chosen: ProposedWindow) -> list[str]:
    if not chosen.evidence:
        return []
    default = " # the default" if chosen.window == MOVEMENT else ""
    lines = [
        "ensembles:",
        "  # Definition of 0 to 100 % of the curves, and the evidence for it:",
        *(f"  #   {line}" for sentence in chosen.evidence for line in _wrapped(sentence)),
        f"  window: {chosen.window}{default}",
    ]
    if chosen.event:
        event = json.dumps(chosen.event, ensure_ascii=False)
        both = "" if chosen.window == "events" else " # for trials with events in their column ensembles.window"
        lines += [f"  start_event: {event}{both}", f"  end_event: {event}{both}"]
    return [*lines, ""]


def _set_lines(chosen: ProposedSet) -> list[str]:
    lines = [*(f"  # {line}" for sentence in chosen.about for line in _wrapped(sentence)), f"  {chosen.name}:"]
    for landmark, labels in chosen.rules.items():
        line = {"between": list(labels), "fraction": chosen.fractions.get(landmark)}
        rule = json.dumps(line, ensure_ascii=False) if landmark in chosen.fractions else yaml_labels(labels)
        comment = chosen.comments.get(landmark, "")
        lines.append(f"    {landmark}: {rule}{f' # {comment}' if comment else ''}")
    lines += [f"    {landmark}: {rule} # {chosen.comments[landmark]}" for landmark, rule in chosen.computed.items()]
    return lines


def _wrapped(sentence: str, width: int = 116) -> list[str]:
    return textwrap.wrap(" ".join(sentence.split()), width, break_long_words=False, break_on_hyphens=False) or [""]


def trials_text(proposal: Proposal) -> str:
    """Text of config/trials.csv; omitted rows are comments with reasons."""
    kept = [trial for trial in proposal.trials if not trial.left_out]
    columns = [name for name in TRIAL_COLUMNS if name in ALWAYS or _needed(name, proposal)]
    comments = [
        "Proposed by `limbtorque init`. Lines that begin with # are comments. Delete rows you do not need; fill in every TODO.",
        *proposal.notes,
        *([NO_SIDE] if any(trial.side.startswith(TO_DO) for trial in kept) else []),
    ]
    text = _commented(comments) + _csv([[TRIAL_COLUMNS[name] for name in columns]])
    text += _csv([[getattr(trial, name) for name in columns] for trial in kept])
    reasons: dict[str, list[ProposedTrial]] = {}
    for trial in proposal.trials:
        if trial.left_out == ARMS_OF_A_WALK:
            reasons.setdefault(f"Omitted: {ARMS_OF_A_WALK}", []).append(trial)
        elif trial.left_out:
            reasons.setdefault(f"{_whose(trial, kept)}: omitted, {trial.left_out}", []).append(trial)
    for reason, rows in reasons.items():
        text += _commented([reason])
        text += "".join(
            f"#{line}\n" for line in _csv([[getattr(t, name) for name in columns] for t in rows]).splitlines()
        )
    text += _commented([f"{one.name}: not read: {' '.join(one.why.split())}" for one in proposal.unread])
    return text


def _whose(trial: ProposedTrial, kept: Sequence[ProposedTrial]) -> str:
    """File of a trial, with the subject where the file has several."""
    others = any(other.file == trial.file and other.prefix != trial.prefix for other in kept)
    return f"{trial.prefix} in {trial.file}" if others and trial.prefix else trial.file


def _needed(column: str, proposal: Proposal) -> bool:
    """Return True if a column has a cell that is not empty, or is one to fill in."""
    spoken_of = column == "forces_file" and any(column in note for note in proposal.notes)
    return spoken_of or any(getattr(trial, column) for trial in proposal.trials)


def subjects_text(proposal: Proposal) -> str:
    """Text of config/subjects.csv, each row below a comment with its source."""
    comments = ["Proposed by `limbtorque init`: body mass in kg, height in m, sex f or m; the last two may be empty."]
    measures = [name for name in PELVIS_MEASURES if any(getattr(one, name) for one in proposal.subjects)]
    text = _commented(comments) + _csv([["subject", "mass_kg", "height_m", "sex", *measures, "note"]])
    for one in proposal.subjects:
        text += _commented([f"{one.subject}: {sentence}" for sentence in one.evidence])
        source = next((sentence.split(" is ")[0] for sentence in one.evidence if " is " in sentence), "")
        note = f"mass from {source}" if source and not one.mass_kg.startswith(TO_DO) else ""
        own = [getattr(one, name) for name in measures]
        text += _csv([[one.subject, one.mass_kg, one.height_m, one.sex, *own, note]])
    return text


def skipped_text(skipped: Sequence[tuple[str, str]]) -> str:
    """Text of config/skipped.csv: files that are not read, with reasons.

    Parameters
    ----------
    skipped : sequence of (str, str)
        Name and reason of each.
    """
    rows = [(name, " ".join(why.split())) for name, why in sorted(skipped)]
    return _csv([("file", "reason"), *rows]) if rows else ""


def _commented(sentences: Iterable[str]) -> str:
    return "".join(f"# {line}\n" for sentence in sentences for line in _wrapped(sentence))


def _csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def first_screen(proposal: Proposal, *, verbose: bool = False) -> str:
    """Summary of a proposed study in about a dozen lines; the files have the rest.

    Parameters
    ----------
    proposal : Proposal
        The study.
    verbose : bool, optional
        With all notes and the evidence for the axis that points up and for the window.
    """
    kept = [trial for trial in proposal.trials if not trial.left_out]
    limbs = ", ".join(sorted({f"{trial.side} {trial.chain}" for trial in kept}))
    recordings = counted(len({trial.file for trial in kept}), "recording")
    ready = f"{counted(len(kept), 'trial')} of {recordings} ({limbs}), {counted(len(proposal.subjects), 'subject')}"
    left_out = [trial for trial in proposal.trials if trial.left_out]
    omitted = dict.fromkeys((_recording(trial), trial.left_out) for trial in left_out if not trial.can_be_taken)
    arms = len({_recording(trial) for trial in left_out if trial.can_be_taken})
    lines = [
        f"ready: {ready if kept else 'no trial yet'}",
        *(f"missing: {line}" for line in _missing(proposal)),
        *(f"missing: {line}" for line in lines_by_kind(_unread(proposal, no_unit=True), noun="file")),
        *(f"omitted: {line}" for line in lines_by_kind(omitted, noun="recording")),
        *([f"omitted: the arms of {counted(arms, 'walk')}; {INCLUDE_ARMS}"] if arms else []),
        *(f"not read: {line}" for line in lines_by_kind(_unread(proposal, no_unit=False), noun="file")),
    ]
    if verbose:
        evidence = [f"  {sentence}" for sentence in proposal.window.evidence]
        curves = f"0 to 100 % of the curves: {proposal.window.window}"
        up = f"up axis: {proposal.up_axis or TO_DO}; {'; '.join(proposal.up_evidence)}"
        return "\n".join([*lines, up, curves, *evidence, *proposal.notes])
    notes = sorted(proposal.notes, key=lambda note: NO_SET in note)[:NOTES]  # what nobody looked for comes last
    more = len(proposal.notes) - len(notes)
    return "\n".join([*lines, *notes, *([f"{counted(more, 'further note')} in config/trials.csv"] if more else [])])


def _recording(trial: ProposedTrial) -> str:
    """Name of a trial's file, with the subject where the file has several."""
    return f"{Path(trial.file).name}{f' ({trial.prefix})' if trial.prefix else ''}"


def _unread(proposal: Proposal, *, no_unit: bool) -> list[tuple[str, str]]:
    """Files that a unit of length would make readable; others with reasons."""
    reasons = [(one.name, short_reason(one)) for one in proposal.unread]
    return [(name, why) for name, why in reasons if why.startswith(NO_UNIT) == no_unit]


def short_reason(one: Unread) -> str:
    """Why a file was not read, in a few words where many files have that reason.

    Parameters
    ----------
    one : Unread
        The file.
    """
    why = " ".join(one.why.split()).removeprefix(f"{Path(one.name).name}: ")
    if "not a recording" in why:
        return "results of OpenSim, not recordings"
    if "no known format" in why:
        return "the content is of no known format: export it again, or rename it to what it is"
    if "reading.length_unit" in why and "not stated" in why:
        forces = "; of forces: reading.forces_length_unit=m" if Path(one.name).suffix.lower() in STORAGE else ""
        return f"{NO_UNIT}: init needs --set reading.length_unit=mm (or cm, m{forces})"
    return why


def unit_answer(unread: Sequence[Unread]) -> dict[str, str]:
    """Answer by which init reads files without a unit of length, if any.

    Parameters
    ----------
    unread : sequence of Unread
        The files that were not read.
    """
    lacking = [one for one in unread if short_reason(one).startswith(NO_UNIT)]
    of_forces = {is_of_forces(one.name) for one in lacking}
    answers = {False: ("reading.length_unit", "mm"), True: ("reading.forces_length_unit", "m")}
    return dict(answers[forces] for forces in sorted(of_forces))


def _missing(proposal: Proposal) -> Iterator[str]:
    """Places that a person has to fill in."""
    rows = [trial for trial in proposal.trials if not trial.left_out]
    places = [label for chosen in proposal.sets for labels in chosen.rules.values() for label in labels]
    landmarks = sum(label.startswith(TO_DO) for label in places)
    if landmarks:
        yield f"the markers of {counted(landmarks, 'landmark')} (marker_sets in config/config.yaml)"
    if not proposal.up_axis:
        yield "the axis that points up (plane.up_axis in config/config.yaml)"
    for cell, column in CELLS.items():
        open_rows = sum(getattr(row, cell).startswith(TO_DO) for row in rows)
        if open_rows:
            yield f"{column} of {counted(open_rows, 'trial')} (config/trials.csv)"
    masses = sum(subject.mass_kg.startswith(TO_DO) for subject in proposal.subjects)
    if masses:
        yield f"the body mass of {counted(masses, 'subject')} (config/subjects.csv)"


def next_steps(proposal: Proposal, study: Path, again: Callable[..., str]) -> str:
    """Pages, places and commands that come next."""
    answer = unit_answer(proposal.unread)
    unit = (
        [f"or read the files without a unit, too (mm, cm or m), into another study:\n{again(answer)}"] if answer else []
    )
    check = f"limbtorque check {quoted(study)}"
    page = study / proposal.maps[0] if proposal.maps else None
    if page and not any(not trial.left_out for trial in proposal.trials):
        return (
            f"next: open {page} in a browser, give the markers to landmarks, and copy its settings and row into "
            f"{study / 'config'}; then run\n{check}"
        )
    by_eye = [f"by eye: open {page} in a browser to see the markers, and to choose them by a click"] if page else []
    lines = [*unit, *by_eye]
    if not proposal.to_do:
        return "\n".join([*lines, f"next: {check}"])
    places = counted(proposal.to_do, "place")
    return "\n".join([*lines, f"next: fill in every TODO in {study / 'config'} ({places}), then run", check])


def init_command(study: Path, recordings: Path, *, chains: Sequence[str] = BOTH, answers: Mapping[str, str]) -> str:
    """Command line of an init.

    Parameters
    ----------
    study, recordings : Path
        The study's folder, and that of the recordings.
    chains : sequence of str
        Chains that are looked for.
    answers : mapping of str to str
        Its answers.
    """
    chain = ["--chain", chains[0]] if len(chains) == 1 else []
    given = [word for name, text in answers.items() for word in ("--set", shlex.quote(f"{name}={text}"))]
    return " ".join(["limbtorque init", quoted(study), "--from", quoted(recordings), *chain, *given])


def other_folder(study: Path) -> Path:
    """Folder beside a study that does not exist yet: its name with a number."""
    whole = study.absolute()
    number = next(n for n in range(2, 10**6) if not whole.with_name(f"{whole.name}_{n}").exists())
    return study.parent / f"{study.name or whole.name}_{number}" if study.name else Path(f"../{whole.name}_{number}")
