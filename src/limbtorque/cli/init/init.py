"""`limbtorque init`: propose a study for a folder of recordings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from limbtorque.cli.check_summary import lines_by_kind
from limbtorque.cli.init.again import init_command, other_folder
from limbtorque.cli.init.answers import (
    FORWARD,
    answers_of,
    refuse_unknown_folders,
    settled,
    unused_answers,
    with_forward_axis,
)
from limbtorque.cli.init.first_screen import short_reason, unit_answer
from limbtorque.cli.init.folder import files_in
from limbtorque.cli.init.maps import FOLDER, write_maps
from limbtorque.cli.init.proposal import Proposal, propose
from limbtorque.cli.init.proposed_sets import Confirm
from limbtorque.cli.init.scan import survey
from limbtorque.cli.init.survey import Seen, Unread
from limbtorque.cli.init.text import config_text, skipped_text, subjects_text, trials_text
from limbtorque.errors import FolderError
from limbtorque.recordings.read import SUFFIXES
from limbtorque.study.files import write_text

FILES = ("config/config.yaml", "config/trials.csv", "config/subjects.csv")
SKIPPED = "config/skipped.csv"
OTHER_FOLDER = "give the folder of recordings of markers (C3D, TRC, TSV, CSV ...) after --from"
Watch = Callable[[Iterable[Seen | Unread], int], Iterator[Seen | Unread]]


def init_study(
    study: Path,
    recordings: Path,
    *,
    chains: Sequence[str] = ("arm", "leg"),
    confirm: Confirm | None = None,
    watch: Watch | None = None,
    answers: Mapping[str, str] | None = None,
) -> Proposal:
    """Propose a study for the recordings of a folder; write its files and a page.

    Parameters
    ----------
    study : Path
        The study's folder; made where it does not exist.
    recordings : Path
        Folder of the recordings, which stay where they are.
    chains : sequence of str
        Which chains to look for.
    confirm : callable, optional
        Asks the user whether a likely label is right.
    watch : callable, optional
        Follows the files as they are read, with their number: a progress bar.
    answers : mapping of str to str, optional
        Options of `reading` that the files do not state, ``{"reading.length_unit": "mm"}``, of one folder as
        ``{"session1:reading.length_unit": "mm"}``; they are written into the settings, or into the table of trials where
        only some files need them. ``plane.up_axis`` and ``plane.forward_axis`` go before the evidence.

    Returns
    -------
    Proposal
        What was written.

    Raises
    ------
    FolderError
        A file of the study exists, there is no folder of recordings, it has none, or none of them can be read. Nothing is
        written.
    SettingsError
        An answer is not an option, or its value is not allowed.
    """
    there = [name for name in (*FILES, SKIPPED, FOLDER) if (study / name).exists()]
    if there:
        again = init_command(other_folder(study), recordings, chains=chains, answers=answers or {})
        raise FolderError(
            "a study is proposed into a folder without one",
            [f"{study / name} exists and is not overwritten" for name in there],
            advice=f"propose it into another folder, {again}; or move these away first",
        )
    if not recordings.is_dir():
        what = "is not a folder" if recordings.exists() else "does not exist"
        raise FolderError("no recordings were looked at", [f"{recordings} {what}"], advice=OTHER_FOLDER)
    told = answers_of(answers or {})
    reading = told.settings.reading
    there_is = files_in(recordings, leave_out=[study / "config", study / "results"])
    paths = there_is.recordings
    if not paths:
        raise FolderError(
            f"{recordings} has no recordings ({', '.join(SUFFIXES)})", list(there_is.skipped), advice=OTHER_FOLDER
        )
    named = {path: there_is.name(path, recordings) for path in paths}
    refuse_unknown_folders(told, named.values(), recordings)
    looked = survey(named, reading=reading, answers=told.of_file)
    found = list(watch(looked, len(paths)) if watch else looked)
    if not any(isinstance(one, Seen) for one in found):
        answered = functools.partial(init_command, study, recordings, chains=chains)
        raise _nothing_read(recordings, [one for one in found if isinstance(one, Unread)], answers or {}, answered)
    proposal = propose(
        found,
        title=study.resolve().name,
        relative_to=study,
        chains=chains,
        confirm=confirm,
        up_axis=told.settings.plane.up_axis or "",
    )
    proposal = with_forward_axis(proposal, told.texts.get(FORWARD, ""))
    seen = [one for one in found if isinstance(one, Seen)]
    proposal, common = settled(
        replace(proposal, notes=(*unused_answers(told, seen), *proposal.notes, *there_is.skipped)), seen, study
    )
    texts = (
        config_text(proposal, source=str(recordings), answers={**told.texts, **common}),
        trials_text(proposal),
        subjects_text(proposal),
    )
    for name, text in zip(FILES, texts, strict=True):
        write_text(study / name, text)
    if lines := skipped_text([*there_is.others, *((one.name, one.why) for one in proposal.unread)]):
        write_text(study / SKIPPED, lines)
    return write_maps(study, proposal, seen, reading=reading)


def _nothing_read(
    recordings: Path, unread: Sequence[Unread], answers: Mapping[str, str], again: Callable[..., str]
) -> FolderError:
    """Error for a folder of which no file can be read, with its reasons."""
    lines = lines_by_kind([(one.name, short_reason(one)) for one in unread], noun="file")
    answer = unit_answer(unread)
    advice = f"give the unit, mm, cm or m: {again(answers={**answers, **answer})}" if answer else OTHER_FOLDER
    return FolderError(f"no file in {recordings} can be read as a recording", lines, advice=advice)
