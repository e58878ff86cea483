"""First screen of `limbtorque init`: ready, missing, and what comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from limbtorque.cli.check_summary import lines_by_kind
from limbtorque.cli.init.forces import is_of_forces
from limbtorque.cli.init.proposal import Proposal
from limbtorque.cli.init.proposed_trials import NO_SET, ProposedTrial
from limbtorque.cli.init.survey import STORAGE, Unread
from limbtorque.cli.terminal import quoted
from limbtorque.study.table_file import TO_DO
from limbtorque.tables.column import counted

NOTES = 4  # on the first screen; all are comments of config/trials.csv
NO_UNIT = "no unit of length"
CELLS = {
    "chain": "chain",
    "side": "side",
    "forward_axis": "plane.forward_axis",
    "up_axis": "plane.up_axis",
    "marker_set": "marker_set",
}


def first_screen(proposal: Proposal) -> str:
    """Summary of a proposed study in about a dozen lines; the files have the rest.

    Parameters
    ----------
    proposal : Proposal
        The study.
    """
    kept = [trial for trial in proposal.trials if not trial.left_out]
    limbs = ", ".join(sorted({f"{trial.side} {trial.chain}" for trial in kept}))
    recordings = counted(len({trial.file for trial in kept}), "recording")
    ready = f"{counted(len(kept), 'trial')} of {recordings} ({limbs}), {counted(len(proposal.subjects), 'subject')}"
    left_out = [trial for trial in proposal.trials if trial.left_out]
    omitted = dict.fromkeys((_recording(trial), trial.left_out) for trial in left_out if not trial.can_be_taken)
    arms = len({_recording(trial) for trial in left_out if trial.can_be_taken})
    notes = sorted(proposal.notes, key=lambda note: NO_SET in note)[:NOTES]  # what nobody looked for comes last
    more = len(proposal.notes) - len(notes)
    return "\n".join(
        [
            f"ready: {ready if kept else 'no trial yet'}",
            *(f"missing: {line}" for line in _missing(proposal)),
            *(f"missing: {line}" for line in lines_by_kind(_unread(proposal, no_unit=True), noun="file")),
            *(f"omitted: {line}" for line in lines_by_kind(omitted, noun="recording")),
            *(
                [
                    f"omitted: the arms of {counted(arms, 'walk')}; remove the # of their rows in config/trials.csv to include them"
                ]
                if arms
                else []
            ),
            *(f"not read: {line}" for line in lines_by_kind(_unread(proposal, no_unit=False), noun="file")),
            *notes,
            *([f"{counted(more, 'further note')} in config/trials.csv"] if more else []),
        ]
    )


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
