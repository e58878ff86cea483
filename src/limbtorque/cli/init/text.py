"""Texts of a proposed study's three files, with evidence and TODO places."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from limbtorque.cli.init.proposal import Proposal
from limbtorque.cli.init.proposed_sets import ProposedSet, yaml_labels
from limbtorque.cli.init.proposed_trials import ARMS_OF_A_WALK, ProposedTrial
from limbtorque.cli.init.windows import MOVEMENT, ProposedWindow
from limbtorque.study.subjects import PELVIS_MEASURES

WHERE_NEEDED = (
    "forces_file",
    "emg_file",
    "static_file",
    "prefix",
    "length_unit",
    "force_unit",
    "rate_hz",
    "marker_names",
    "up_axis",
    "plane_kind",
    "belt_speed",
    "window",
    "start_event",
    "end_event",
    "events",
    "cycle_start",
    "start_s",
    "end_s",
)  # columns that may be left out
TRIAL_COLUMNS = {
    **{
        name: name
        for name in (
            "trial",
            "session",
            "subject",
            "file",
            "forces_file",
            "emg_file",
            "static_file",
            "start_s",
            "end_s",
            "chain",
            "side",
            "condition",
            "marker_set",
        )
    },
    "prefix": "prefix",
    "length_unit": "reading.length_unit",
    "force_unit": "reading.force_unit",
    "rate_hz": "reading.rate_hz",
    "marker_names": "reading.marker_names",
    "up_axis": "plane.up_axis",
    "forward_axis": "plane.forward_axis",
    "plane_kind": "plane.kind",
    "belt_speed": "plates.belt_speed_m_s",
    "window": "ensembles.window",
    "start_event": "ensembles.start_event",
    "end_event": "ensembles.end_event",
    "events": "ensembles.events",
    "cycle_start": "ensembles.cycle_start",
    "note": "note",
}


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
        *(f"  #   {line}" for sentence in proposal.up_evidence for line in [sentence]),
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
        lines += [
            "",
            "substitutes: # required landmark: the one used in its place; every use is noted in the ledger",
        ]
        for chosen in substitutes:
            lines.append(f"  {chosen.name}:")
            lines += [f"    {name}: {by} # {why}" for name, (by, why) in chosen.substitutes.items()]
    lines += [
        *_error_lines(proposal.sets),
        "",
        *_window_lines(proposal.window),
        *proposal.emg.lines(),
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
    import textwrap

    return textwrap.wrap(" ".join(sentence.split()), width, break_long_words=False, break_on_hyphens=False) or [""]


def trials_text(proposal: Proposal) -> str:
    """Text of config/trials.csv; omitted rows are comments with reasons."""
    kept = [trial for trial in proposal.trials if not trial.left_out]
    columns = [name for name in TRIAL_COLUMNS if name not in WHERE_NEEDED or _needed(name, proposal)]
    comments = [
        "Proposed by `limbtorque init`. Lines that begin with # are comments. Delete rows you do not need; fill in every TODO.",
        *proposal.notes,
        *_missing_side(kept),
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


def _missing_side(trials: Sequence[ProposedTrial]) -> list[str]:
    return (
        ["The labels of some recordings do not indicate a side: fill in left or right."]
        if any(t.side.startswith("TODO") for t in trials)
        else []
    )


def subjects_text(proposal: Proposal) -> str:
    """Text of config/subjects.csv, each row below a comment with its source."""
    comments = ["Proposed by `limbtorque init`: body mass in kg, height in m, sex f or m; the last two may be empty."]
    measures = [name for name in PELVIS_MEASURES if any(getattr(one, name) for one in proposal.subjects)]
    text = _commented(comments) + _csv([["subject", "mass_kg", "height_m", "sex", *measures, "note"]])
    for one in proposal.subjects:
        text += _commented([f"{one.subject}: {sentence}" for sentence in one.evidence])
        source = next((sentence.split(" is ")[0] for sentence in one.evidence if " is " in sentence), "")
        note = f"mass from {source}" if source and not one.mass_kg.startswith("TODO") else ""
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


def summary_text(proposal: Proposal) -> str:
    """Summary of the proposal in a few lines for the terminal."""
    kept = [trial for trial in proposal.trials if not trial.left_out]
    chains = sorted({f"{trial.side} {trial.chain}" for trial in kept})
    left_out = {_whose(t, kept): t.left_out for t in proposal.trials if not t.can_be_taken}
    arms = [trial for trial in proposal.trials if trial.left_out == ARMS_OF_A_WALK]
    of_arms = f"{len(arms)} trials of {len({trial.file for trial in arms})} recordings, comments in config/trials.csv: {ARMS_OF_A_WALK}"
    lines = [
        f"{len(kept)} trials of {len({trial.file for trial in kept})} recordings: {', '.join(chains) or 'none'}",
        f"subjects: {', '.join(f'{s.subject} ({s.mass_kg} kg)' for s in proposal.subjects) or 'none'}",
        f"marker sets: {', '.join(chosen.name for chosen in proposal.sets) or 'none'}",
        f"up axis: {proposal.up_axis or 'TODO'}; {'; '.join(proposal.up_evidence)}",
        *([f"omitted: {of_arms}, or use --chain arm"] if arms else []),
        *(f"omitted: {name}: {why}" for name, why in left_out.items()),
        *(f"not read: {' '.join(one.why.split())}" for one in proposal.unread),
        f"0 to 100 % of the curves: {proposal.window.window}",
        *(f"  {sentence}" for sentence in proposal.window.evidence),
        *proposal.notes,
    ]
    return "\n".join(lines)
