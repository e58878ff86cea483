"""`limbtorque init`: propose a study for a folder of recordings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from limbtorque.cli.check_summary import lines_by_kind
from limbtorque.cli.init.folder import files_in, safe_name
from limbtorque.cli.init.open_recordings import sources_of
from limbtorque.cli.init.pairs import unanswered
from limbtorque.cli.init.proposal import Proposal, propose
from limbtorque.cli.init.scan import answers_of, refuse_unknown_folders, survey, unused_answers
from limbtorque.cli.init.survey import Seen, Unread
from limbtorque.cli.init.text import (
    NOT_STATED,
    config_text,
    init_command,
    other_folder,
    short_reason,
    skipped_text,
    subjects_text,
    trials_text,
)
from limbtorque.cli.init.trials import FORWARD
from limbtorque.cli.map_recording import BUILT_IN, MapChoices, map_page
from limbtorque.errors import FolderError, LimbtorqueError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import SUFFIXES
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.chains import BUILT_IN as CHAINS
from limbtorque.study.files import write_text
from limbtorque.study.options.reading import Reading
from limbtorque.study.table_file import TO_DO
from limbtorque.workflow.operating_system import visible

FILES = ("config/config.yaml", "config/trials.csv", "config/subjects.csv")
SKIPPED = "config/skipped.csv"
MAPS = "maps"  # folder of the pages
MOST = 5  # pages of a study; further ones by `limbtorque map`
FURTHER = ("forces_file", "static_file")  # cells that a page keeps
OTHER_FOLDER = "give the folder of recordings of markers (C3D, TRC, TSV, CSV ...) after --from"
Watch = Callable[[Iterable[Seen | Unread], int], Iterator[Seen | Unread]]


def init_study(
    study: Path,
    recordings: Path,
    *,
    chains: Sequence[str] = ("arm", "leg"),
    watch: Watch | None = None,
    answers: Mapping[str, str] | None = None,
) -> Proposal:
    """Propose a study for a folder of recordings; write its files and marker pages.

    Parameters
    ----------
    study : Path
        The study's folder; made where it does not exist.
    recordings : Path
        Folder of the recordings, which stay where they are.
    chains : sequence of str
        Which chains to look for.
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
    again = functools.partial(init_command, recordings=recordings, chains=chains)
    if existing := [name for name in (*FILES, SKIPPED, MAPS) if (study / name).exists()]:
        other = again(other_folder(study), answers=answers or {})
        raise FolderError(
            "the folder already holds a study",
            [f"{study / name} exists and is not overwritten" for name in existing],
            advice=f"choose another folder, {other}; or move these files",
        )
    if not recordings.is_dir():
        what = "is not a folder" if recordings.exists() else "does not exist"
        raise FolderError("no recordings were read", [f"{recordings} {what}"], advice=OTHER_FOLDER)
    given = answers_of(answers or {})
    reading = given.settings.reading
    folder = files_in(recordings, leave_out=[study / "config", study / "results"])
    if not (named := folder.recordings):
        raise FolderError(
            f"{recordings} has no recordings ({', '.join(SUFFIXES)})",
            lines_by_kind(folder.others, noun="file"),
            advice=OTHER_FOLDER,
        )
    refuse_unknown_folders(given, named.values(), recordings)
    surveyed = survey(named, reading=reading, answers=given.of_file)
    looked = list(watch(surveyed, len(named)) if watch else surveyed)
    looked += [Unread(name, why) for name, why in folder.others]
    _refuse_unanswered(looked, recordings, lambda units: again(study, answers={**(answers or {}), **units}))
    seen = [one for one in looked if isinstance(one, Seen)]
    if not seen:
        unread = [(one.name, short_reason(one)) for one in looked if isinstance(one, Unread)]
        raise FolderError(
            f"no file in {recordings} can be read as a recording",
            lines_by_kind(unread, noun="file"),
            advice=OTHER_FOLDER,
        )
    proposal = propose(
        looked,
        title=study.resolve().name,
        relative_to=study,
        chains=chains,
        up_axis=given.settings.plane.up_axis or "",
        forward_axis=given.texts.get(FORWARD, ""),
    )
    proposal = replace(
        proposal,
        notes=(*unused_answers(given, seen), *proposal.notes),
        credits=tuple(source.credit for source in sources_of(named)),
    )
    texts = (
        visible(config_text(proposal, source=str(recordings), answers=given.texts)),
        trials_text(proposal),
        subjects_text(proposal),
    )
    for name, text in zip(FILES, texts, strict=True):
        write_text(study / name, text)
    if lines := skipped_text(proposal.unread):
        write_text(study / SKIPPED, lines)
    return _with_maps(study, proposal, reading, {one.path.resolve(): dict(one.answers) for one in seen})


def _refuse_unanswered(
    looked: Sequence[Seen | Unread], recordings: Path, again: Callable[[Mapping[str, str]], str]
) -> None:
    """Ask for all units and rates at once; `again` is the command with answers."""
    if asked := unanswered(looked):
        options = dict.fromkeys(option for _, option in asked)
        command = again({f"reading.{option}": NOT_STATED[option][1] for option in options})
        raise FolderError(
            f"{recordings} has files without a unit or rate",
            lines_by_kind(
                [(name, f"{NOT_STATED[option][0]} (reading.{option})") for name, option in asked], noun="file"
            ),
            advice=f"answer with {command}; of one folder: --set FOLDER:reading.length_unit=cm",
        )


def _with_maps(
    study: Path, proposal: Proposal, reading: Reading, answers: Mapping[Path, Mapping[str, Any]]
) -> Proposal:
    """Write a page for each marker set or recording to be mapped by the user.

    At most five, for marker sets with a TODO and recordings with unknown labels; if there are none, for the first marker
    set, to check the proposal.
    """
    pages = list(_pages(proposal))
    wanted = [page for page in pages if not page.given or page.given.n_open][:MOST] or pages[:1]
    written: dict[str, None] = {}
    default = Reading().model_dump(mode="json")
    with GuardedReader() as reader:
        for page in wanted:
            path = study / page.file
            limits = reading.model_copy(update=answers.get(path.resolve(), {}))
            used = limits.model_dump(mode="json").items()
            options = {f"reading.{n}": str(value) for n, value in used if value != default[n] and value is not None}
            try:
                recording = reader.read(path, options=ReadOptions.of(limits))
                text = map_page(recording, replace(page, options=options))
            except LimbtorqueError:  # it changed since it was surveyed; the study is proposed without the page
                continue
            stem = safe_name(page.given.name if page.given else path.stem)
            again = f"{MAPS}/{stem}.html".lower() in map(str.lower, written)
            name = f"{MAPS}/{stem}_{len(written)}.html" if again else f"{MAPS}/{stem}.html"
            written[name] = None
            write_text(study / name, text)
    return replace(proposal, maps=tuple(written))


def _pages(proposal: Proposal) -> Iterator[MapChoices]:
    """Page contents for each marker set, and each list of labels without a set."""
    kept = {row["marker_set"] for row in proposal.rows}
    for chosen in sorted(proposal.sets, key=lambda chosen: chosen.name not in kept):
        rows = [row for row in proposal.trials if row["marker_set"] == chosen.name and row.can_be_taken]
        trial = min(rows, key=lambda row: bool(row.left_out))
        chain = trial["chain"]
        yield MapChoices(
            trial["file"],
            BUILT_IN if chain not in CHAINS else {chain: CHAINS[chain], **BUILT_IN},
            up_axis=proposal.up_axis,
            chain=chain,
            side="" if trial["side"].startswith(TO_DO) else trial["side"],
            marker_set=chosen.name,
            subject=trial["subject"],
            condition=trial["condition"],
            given=chosen,
            cells={name: trial[name] for name in FURTHER if trial[name]} | {"forward": trial[FORWARD]},
            run_in="the study's folder",
        )
    of_labels = {one.labels: cells for one, cells in reversed(proposal.unmapped)}  # the first one of each
    for cells in reversed(of_labels.values()):
        yield MapChoices(
            cells["file"],
            BUILT_IN,
            up_axis=proposal.up_axis,
            subject=cells["subject"],
            condition=cells["condition"],
            run_in="the study's folder",
        )
