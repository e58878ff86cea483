"""Texts of a proposed study: files, summary on screen, and next steps."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from limbtorque.cli.check_summary import lines_by_kind
from limbtorque.cli.init.marker_sets import ProposedSet, yaml_rule
from limbtorque.cli.init.proposal import OPTIONS_OF_FILES, Proposal
from limbtorque.cli.init.study_settings import MOVEMENT
from limbtorque.cli.init.survey import Unread
from limbtorque.cli.init.trials import ARMS_OF_A_WALK, NO_SET, ProposedTrial
from limbtorque.cli.terminal import quoted
from limbtorque.study.subjects import PELVIS_MEASURES
from limbtorque.study.table_file import TO_DO, table_text
from limbtorque.tables.column import counted

BOTH = ("arm", "leg")
NOTES = 4  # on the first screen; all are comments of config/trials.csv
INCLUDE_ARMS = "remove the # of their rows in config/trials.csv to include them"
NOT_STATED = {  # option of `reading` -> what a file does not state, and an example
    "length_unit": ("no unit of length: mm, cm or m", "mm"),
    "forces_length_unit": ("no unit of length of its forces and moments: mm, cm or m", "m"),
    "rate_hz": ("no frame rate", "HZ"),
}
COLUMNS = (  # of the table of trials, in their order
    *("trial", "session", "subject", "file", "forces_file", "emg_file", "static_file", "start_s", "end_s"),
    *("chain", "side", "condition", "marker_set", "prefix"),
    *(f"reading.{name}" for name in OPTIONS_OF_FILES),
    *("plane.up_axis", "plane.forward_axis", "plates.belt_speed_m_s"),
    *(f"ensembles.{name}" for name in ("window", "start_event", "end_event", "events")),
    "note",
)
NO_SIDE = "The labels of some recordings do not indicate a side: fill in left or right."
ALWAYS = (
    "trial",
    "session",
    "subject",
    "file",
    "chain",
    "side",
    "condition",
    "marker_set",
    "plane.forward_axis",
    "note",
)


SUBSTITUTES = "substitutes: # required landmark: the one used in its place; every use is noted in the ledger"


def config_text(proposal: Proposal, *, source: str, answers: Mapping[str, str] | None = None) -> str:
    """Text of config/config.yaml.

    Parameters
    ----------
    proposal : Proposal
        The study.
    source : str
        Folder of the recordings, for the comment.
    answers : mapping of str to str, optional
        Options that the user gave.

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
    options = {**(answers or {}), **proposal.reading}
    reading = [f"  {name[8:]}: {text}" for name, text in options.items() if name.startswith("reading.")]
    window = proposal.window
    both = "" if window.window == "events" else " # for trials with events in their column ensembles.window"
    events = [f"  {name}: {_quoted(window.event)}{both}" for name in ("start_event", "end_event") if window.event]
    substitutes = _by_set(
        "  ",
        {s.name: [f"{name}: {by} # {why}" for name, (by, why) in s.substitutes.items()] for s in proposal.sets},
    )
    errors = _by_set("    ", {s.name: [f"{name}: {error}" for name, error in s.errors.items()] for s in proposal.sets})
    sections = [
        [
            f"# Proposed by `limbtorque init` from the recordings in {source}. Fill in every TODO: the recordings do not contain it.",
            "# Every option, its default, range and unit: `limbtorque settings`. Options not listed here have their defaults.",
            *(f"# {line}" for credit in proposal.credits for line in _wrapped(credit)),
            f"title: {_quoted(proposal.title)}",
        ],
        ["reading: # properties that the files do not state, and marker names", *reading] * bool(reading),
        [
            "plane:",
            "  # Evidence for the axis that points up:",
            *(f"  #   {sentence}" for sentence in proposal.up_evidence),
            f"  up_axis: {up}",
            "  kind: sagittal # the default; or horizontal, or best_fit; for single trials use a column plane.kind in trials.csv",
        ],
        [
            "marker_sets: # landmark: marker, or markers (their mean); {S} is R or L, {side} is right or left, the trial's side"
            if proposal.sets
            else "marker_sets: {} # TODO: no landmark was recognised; docs/settings.md shows how to map markers",
            *(line for chosen in proposal.sets for line in _set_lines(chosen)),
        ],
        [SUBSTITUTES, *substitutes] * bool(substitutes),
        [
            "uncertainty: # on by default (docs/uncertainty.md)",
            "  sets: # errors of joint centres: a kind, or a standard deviation in m along each axis (docs/keypoints.md)",
            *errors,
        ]
        if errors
        else [],
        [
            "ensembles:",
            "  # Definition of 0 to 100 % of the curves, with the evidence:",
            *(f"  #   {line}" for sentence in window.evidence for line in _wrapped(sentence)),
            f"  window: {window.window}{' # the default' if window.window == MOVEMENT else ''}",
            *events,
        ]
        if window.evidence
        else [],
        list(proposal.emg),
        [
            "# Defaults worth checking: filter.cutoff_hz (chosen from each trial's data), muscles.enabled (true),",
            "# segments.table (dempster_winter), plates.assignment (auto).",
        ],
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _by_set(indent: str, entries_of: Mapping[str, Sequence[str]]) -> list[str]:
    """Lines of entries under marker set names; empty sets are left out."""
    lines = []
    for name, entries in entries_of.items():
        lines += [f"{indent}{name}:", *(f"{indent}  {entry}" for entry in entries)] if entries else []
    return lines


def _quoted(text: str) -> str:
    """Text quoted for YAML."""
    return json.dumps(text, ensure_ascii=False)


def _set_lines(chosen: ProposedSet) -> list[str]:
    lines = [*(f"  # {line}" for sentence in chosen.about for line in _wrapped(sentence)), f"  {chosen.name}:"]
    for landmark, labels in chosen.rules.items():
        rule = yaml_rule(labels, chosen.fractions.get(landmark))
        comment = chosen.comments.get(landmark, "")
        lines.append(f"    {landmark}: {rule}{f' # {comment}' if comment else ''}")
    lines += [f"    {landmark}: {rule} # {chosen.comments[landmark]}" for landmark, rule in chosen.computed.items()]
    return lines


def _wrapped(sentence: str, width: int = 116) -> list[str]:
    return textwrap.wrap(" ".join(sentence.split()), width, break_long_words=False, break_on_hyphens=False) or [""]


def trials_text(proposal: Proposal) -> str:
    """Text of config/trials.csv; omitted rows are comments with reasons."""
    spoken_of = any("forces_file" in note for note in proposal.notes)
    needed = {*ALWAYS, *(["forces_file"] if spoken_of else [])}
    columns = [name for name in COLUMNS if name in needed or any(row[name] for row in proposal.trials)]

    def lines(rows: Iterable[ProposedTrial]) -> str:
        return table_text([row[name] for name in columns] for row in rows)

    comments = [
        "Proposed by `limbtorque init`. Lines that begin with # are comments. Delete rows you do not need; fill in every TODO.",
        *proposal.notes,
        *([NO_SIDE] if any(row["side"].startswith(TO_DO) for row in proposal.rows) else []),
    ]
    text = _commented(comments) + table_text([columns]) + lines(proposal.rows)
    reasons: dict[str, list[ProposedTrial]] = {}
    for trial in proposal.trials:
        if trial.left_out == ARMS_OF_A_WALK:
            reasons.setdefault(f"Omitted: {ARMS_OF_A_WALK}", []).append(trial)
        elif trial.left_out:
            whose = f"{trial['prefix']} in " if trial["prefix"] else ""
            reasons.setdefault(f"{whose}{trial['file']}: omitted, {trial.left_out}", []).append(trial)
    for reason, rows in reasons.items():
        text += _commented([reason]) + "".join(f"#{line}\n" for line in lines(rows).splitlines())
    return text


def subjects_text(proposal: Proposal) -> str:
    """Text of config/subjects.csv, each row below a comment with its source."""
    comments = ["Proposed by `limbtorque init`: body mass in kg, height in m, sex f or m; the last two may be empty."]
    measures = [name for name in PELVIS_MEASURES if any(getattr(one, name) for one in proposal.subjects)]
    text = _commented(comments) + table_text([["subject", "mass_kg", "height_m", "sex", *measures, "note"]])
    for one in proposal.subjects:
        text += _commented([f"{one.subject}: {sentence}" for sentence in one.evidence])
        source = next((sentence.split(" is ")[0] for sentence in one.evidence if " is " in sentence), "")
        note = f"mass from {source}" if source and not one.mass_kg.startswith(TO_DO) else ""
        own = [getattr(one, name) for name in measures]
        text += table_text([[one.subject, one.mass_kg, one.height_m, one.sex, *own, note]])
    return text


def skipped_text(unread: Sequence[Unread]) -> str:
    """Text of config/skipped.csv: files that are not read, with reasons.

    Parameters
    ----------
    unread : sequence of Unread
        The files.
    """
    rows = sorted((file.name, " ".join(file.why.split())) for file in unread)
    return table_text([("file", "reason"), *rows]) if rows else ""


def _commented(sentences: Iterable[str]) -> str:
    return "".join(f"# {line}\n" for sentence in sentences for line in _wrapped(sentence))


def first_screen(proposal: Proposal) -> str:
    """Summary of a proposed study in about a dozen lines; the files have the rest.

    Parameters
    ----------
    proposal : Proposal
        The study.
    """
    limbs = ", ".join(sorted({f"{row['side']} {row['chain']}" for row in proposal.rows}))
    recordings = counted(len({row["file"] for row in proposal.rows}), "recording")
    ready = f"{counted(len(proposal.rows), 'trial')} of {recordings} ({limbs}), {counted(len(proposal.subjects), 'subject')}"
    omitted: dict[tuple[str, str], None] = {}
    for row in (row for row in proposal.trials if row.left_out):
        omitted[Path(row["file"]).name + (f" ({row['prefix']})" if row["prefix"] else ""), row.left_out] = None
    arms = sum(reason == ARMS_OF_A_WALK for _, reason in omitted)
    unread = [(one.name, short_reason(one)) for one in proposal.unread]
    lines = [
        f"ready: {ready if proposal.rows else 'no trial yet'}",
        *(f"missing: {phrase}" for _, phrase in proposal.missing),
        *(
            f"omitted: {line}"
            for line in lines_by_kind([one for one in omitted if one[1] != ARMS_OF_A_WALK], noun="recording")
        ),
        *([f"omitted: the arms of {counted(arms, 'walk')}; {INCLUDE_ARMS}"] if arms else []),
        *(f"not read: {line}" for line in lines_by_kind(unread, noun="file")),
    ]
    notes = sorted(proposal.notes, key=lambda note: NO_SET in note)[:NOTES]  # what nobody looked for comes last
    more = len(proposal.notes) - len(notes)
    further = [f"{counted(more, 'further note')} in config/trials.csv"] * bool(more)
    return "\n".join([*lines, *notes, *further, *proposal.credits])


def short_reason(one: Unread) -> str:
    """Reason why a file was not read, shortened for frequent reasons.

    Parameters
    ----------
    one : Unread
        The file.
    """
    why = " ".join(one.why.split()).removeprefix(f"{Path(one.name).name}: ")
    if "not a recording" in why:
        return "results of OpenSim, not recordings"
    if "of unknown format" in why:
        return "unknown format: export it again, or correct the suffix"
    return "no unit or rate; no recording needs this file" if one.if_answered else why


def next_steps(proposal: Proposal, study: Path) -> str:
    """Next steps: pages, entries to complete and commands."""
    config, check = study / "config", f"limbtorque check {quoted(study)}"
    page = study / proposal.maps[0] if proposal.maps else None
    if page and not proposal.rows:
        return f"next: open {page} in a browser, assign markers to landmarks, and copy its settings and row into {config}; then run\n{check}"
    lines = []
    if page:
        lines.append(f"open {page} in a browser to see the markers and assign them to landmarks")
    if proposal.to_do:
        check = f"fill in every TODO in {config} ({counted(proposal.to_do, 'place')}), then run\n{check}"
    return "\n".join([*lines, f"next: {check}"])


def init_command(study: Path, recordings: Path, *, chains: Sequence[str] = BOTH, answers: Mapping[str, str]) -> str:
    """Command line of `limbtorque init`.

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
    """Unused folder next to a study: its name with a number."""
    whole = study.absolute()
    number = next(n for n in range(2, 10**6) if not whole.with_name(f"{whole.name}_{n}").exists())
    return study.parent / f"{study.name or whole.name}_{number}" if study.name else Path(f"../{whole.name}_{number}")
