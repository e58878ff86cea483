"""Pages on which the markers of a proposed study are given to landmarks by eye."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from limbtorque.cli.init.names import conditions_of, safe_name
from limbtorque.cli.init.people import who_is_who
from limbtorque.cli.init.proposal import Proposal, path_from
from limbtorque.cli.init.survey import Seen
from limbtorque.cli.map_recording import BUILT_IN, MapChoices, map_page
from limbtorque.errors import LimbtorqueError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.chains import BUILT_IN as CHAINS
from limbtorque.study.files import write_text
from limbtorque.study.options.reading import Reading
from limbtorque.study.table_file import TO_DO

FOLDER = "maps"
RUN_IN = "the study's folder"
CELLS = ("forces_file", "static_file", "plane_kind")
MOST = 5  # pages of a study; further ones by `limbtorque map`


@dataclass(frozen=True)
class _Wanted:
    """A page: its name, its recording, and what is chosen when it is opened."""

    name: str
    path: Path
    choices: MapChoices


def write_maps(study: Path, proposal: Proposal, seen: Sequence[Seen], *, reading: Reading | None = None) -> Proposal:
    """Write a page for each marker set or recording that a person has to map.

    Parameters
    ----------
    study : Path
        The study's folder.
    proposal : Proposal
        What was proposed.
    seen : sequence of Seen
        The recordings.
    reading : Reading, optional
        What the files do not state, and the limits of the reading process.

    Returns
    -------
    Proposal
        The same, with the paths of the pages: of marker sets with a TODO and of recordings whose labels nobody knows, five
        at most; where there is none, of the first marker set, to look at what was proposed.
    """
    wanted = [*_of_sets(study, proposal, to_do=True), *_of_unknown(study, proposal, seen)]
    wanted = (wanted or list(_of_sets(study, proposal, to_do=False))[:1])[:MOST]
    given, written = reading or Reading(), []
    answered = {one.path.resolve(): one for one in seen}
    with GuardedReader() as reader:
        for page in wanted:
            one = answered.get(page.path.resolve())
            limits = given.model_copy(update=dict(one.answers)) if one else given
            try:
                recording = reader.read(
                    page.path,
                    memory_limit_mb=limits.memory_limit_mb,
                    time_limit_s=limits.time_limit_s,
                    options=ReadOptions.of(limits),
                )
                text = map_page(recording, replace(page.choices, options=_options(limits)))
            except LimbtorqueError:  # it changed since it was surveyed; the study is proposed without the page
                continue
            name = f"{FOLDER}/{page.name}.html"
            write_text(study / name, text)
            written.append(name)
    return replace(proposal, maps=tuple(written))


def _options(used: Reading) -> dict[str, str]:
    """Options of `reading` that are not the default, by their dotted names."""
    default = Reading()
    return {
        f"reading.{name}": str(value)
        for name, value in used.model_dump(mode="json").items()
        if value != getattr(default, name) and value is not None
    }


def _of_sets(study: Path, proposal: Proposal, *, to_do: bool) -> Iterator[_Wanted]:
    """Pages of marker sets, each with its first trial."""
    kept = {row.marker_set for row in proposal.trials if not row.left_out}
    for chosen in sorted(proposal.sets, key=lambda chosen: chosen.name not in kept):
        rows = [row for row in proposal.trials if row.marker_set == chosen.name and row.can_be_taken]
        trial = min(rows, key=lambda row: bool(row.left_out), default=None)
        unknown = any(label.startswith(TO_DO) for labels in chosen.rules.values() for label in labels)
        if trial is None or unknown != to_do:
            continue
        choices = MapChoices(
            trial.file,
            BUILT_IN if trial.chain not in CHAINS else {trial.chain: CHAINS[trial.chain], **BUILT_IN},
            up_axis=proposal.up_axis,
            chain=trial.chain,
            side="" if trial.side.startswith(TO_DO) else trial.side,
            marker_set=chosen.name,
            subject=trial.subject,
            condition=trial.condition,
            given=chosen,
            cells={name: getattr(trial, name) for name in CELLS if getattr(trial, name)}
            | {"forward": trial.forward_axis},
            run_in=RUN_IN,
        )
        yield _Wanted(chosen.name, study / trial.file, choices)


def _of_unknown(study: Path, proposal: Proposal, seen: Sequence[Seen]) -> Iterator[_Wanted]:
    """Pages of recordings without a trial, one for each list of labels."""
    people = who_is_who(seen)
    subjects = {one.name: people.of[one.name, one.bodies[0].prefix] for one in seen if one.bodies}
    conditions, _ = conditions_of(seen, subjects, people.level)
    with_trial = {trial.file for trial in proposal.trials}
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
            run_in=RUN_IN,
        )
        yield _Wanted(name, one.path, choices)
