"""`limbtorque init`: propose a study for a folder of recordings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from limbtorque.cli.check_summary import lines_by_kind
from limbtorque.cli.init.folder import files_in, safe_name
from limbtorque.cli.init.people import conditions_of, who_is_who
from limbtorque.cli.init.proposal import Proposal, path_from, propose
from limbtorque.cli.init.scan import answers_of, refuse_unknown_folders, survey, unused_answers
from limbtorque.cli.init.survey import Seen, Unread
from limbtorque.cli.init.text import (
    config_text,
    init_command,
    other_folder,
    short_reason,
    skipped_text,
    subjects_text,
    trials_text,
    unit_answer,
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
    """Propose a study for the recordings of a folder; write its files and a page.

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
    there = [name for name in (*FILES, SKIPPED, MAPS) if (study / name).exists()]
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
        up_axis=told.settings.plane.up_axis or "",
        forward_axis=told.texts.get(FORWARD, ""),
    )
    seen = [one for one in found if isinstance(one, Seen)]
    proposal = replace(proposal, notes=(*unused_answers(told, seen), *proposal.notes, *there_is.skipped))
    texts = (
        config_text(proposal, source=str(recordings), answers=told.texts),
        trials_text(proposal),
        subjects_text(proposal),
    )
    for name, text in zip(FILES, texts, strict=True):
        write_text(study / name, text)
    if lines := skipped_text([*there_is.others, *((one.name, one.why) for one in proposal.unread)]):
        write_text(study / SKIPPED, lines)
    return _with_maps(study, proposal, seen, reading)


def _nothing_read(
    recordings: Path, unread: Sequence[Unread], answers: Mapping[str, str], again: Callable[..., str]
) -> FolderError:
    """Error for a folder of which no file can be read, with its reasons."""
    lines = lines_by_kind([(one.name, short_reason(one)) for one in unread], noun="file")
    answer = unit_answer(unread)
    advice = f"give the unit, mm, cm or m: {again(answers={**answers, **answer})}" if answer else OTHER_FOLDER
    return FolderError(f"no file in {recordings} can be read as a recording", lines, advice=advice)


def _with_maps(study: Path, proposal: Proposal, seen: Sequence[Seen], reading: Reading) -> Proposal:
    """Write a page for each marker set or recording that a person has to map.

    Of marker sets with a TODO and of recordings whose labels nobody knows, five at most; where there is none, of the first marker set,
    to look at what was proposed.
    """
    wanted = [*_of_sets(study, proposal, to_do=True), *_of_unknown(study, proposal, seen)]
    wanted = (wanted or list(_of_sets(study, proposal, to_do=False))[:1])[:MOST]
    written = []
    answered = {recording.path.resolve(): dict(recording.answers) for recording in seen}
    default = Reading().model_dump(mode="json")
    with GuardedReader() as reader:
        for name, path, choices in wanted:
            limits = reading.model_copy(update=answered.get(path.resolve(), {}))
            used = limits.model_dump(mode="json").items()
            options = {f"reading.{n}": str(value) for n, value in used if value != default[n] and value is not None}
            try:
                recording = reader.read(
                    path,
                    memory_limit_mb=limits.memory_limit_mb,
                    time_limit_s=limits.time_limit_s,
                    options=ReadOptions.of(limits),
                )
                text = map_page(recording, replace(choices, options=options))
            except LimbtorqueError:  # it changed since it was surveyed; the study is proposed without the page
                continue
            written.append(f"{MAPS}/{name}.html")
            write_text(study / written[-1], text)
    return replace(proposal, maps=tuple(written))


def _of_sets(study: Path, proposal: Proposal, *, to_do: bool) -> Iterator[tuple[str, Path, MapChoices]]:
    """Pages of marker sets, each with its first trial."""
    kept = {row["marker_set"] for row in proposal.rows}
    for chosen in sorted(proposal.sets, key=lambda chosen: chosen.name not in kept):
        rows = [row for row in proposal.trials if row["marker_set"] == chosen.name and row.can_be_taken]
        trial = min(rows, key=lambda row: bool(row.left_out), default=None)
        if trial is None or bool(chosen.n_open) != to_do:
            continue
        chain = trial["chain"]
        choices = MapChoices(
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
        yield chosen.name, study / trial["file"], choices


def _of_unknown(study: Path, proposal: Proposal, seen: Sequence[Seen]) -> Iterator[tuple[str, Path, MapChoices]]:
    """Pages of recordings without a trial, one for each list of labels."""
    people = who_is_who(seen)
    subjects = {one.name: people.of[one.name, one.bodies[0].prefix] for one in seen if one.bodies}
    conditions, _ = conditions_of(seen, subjects, people.level)
    with_trial = {trial["file"] for trial in proposal.trials}
    known, names = set[tuple[str, ...]](), set[str]()
    for one in seen:
        file = path_from(study, one.path)
        if not one.bodies or file in with_trial or one.labels in known:
            continue
        known.add(one.labels)
        stem = safe_name(Path(one.name).with_suffix("").as_posix().replace("/", "_"))
        name = stem if stem.lower() not in names else f"{stem}_{len(names)}"
        names.add(name.lower())
        choices = MapChoices(
            file,
            BUILT_IN,
            up_axis=proposal.up_axis,
            subject=subjects[one.name],
            condition=conditions[one.name],
            run_in="the study's folder",
        )
        yield name, one.path, choices
