"""Answers of a person for what files do not state (`limbtorque init --set`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from limbtorque.cli.init.names import some_of
from limbtorque.cli.init.proposal import Proposal, path_from
from limbtorque.cli.init.proposed_trials import ProposedTrial
from limbtorque.cli.init.survey import Seen
from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.study.options.reading import Reading
from limbtorque.study.settings import Settings, override

WHERE_NEEDED = ("length_unit", "force_unit", "rate_hz")  # of `reading`: used for files that do not state them
FOUND = (*WHERE_NEEDED, "marker_names")  # options that each file may need
UP, FORWARD = "plane.up_axis", "plane.forward_axis"


@dataclass(frozen=True)
class Answers:
    """Answers by folder.

    Attributes
    ----------
    settings : Settings
        Options of all files, but for `WHERE_NEEDED`.
    texts : mapping of str to str
        The same as they were given.
    by_folder : mapping of str to mapping
        Folder, or empty for all -> options of `reading` that are used for files that need them.
    """

    settings: Settings = field(default_factory=Settings)
    texts: Mapping[str, str] = field(default_factory=dict)
    by_folder: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of_file(self, name: str) -> dict[str, Any]:
        """Options for a file that needs them; those of the nearest folder hold.

        Parameters
        ----------
        name : str
            Path of the file from the folder of the recordings.
        """
        folders = [".", *reversed([parent.as_posix() for parent in PurePosixPath(name).parents[:-1]])]
        found: dict[str, Any] = {}
        for folder in folders:
            found |= self.by_folder.get("" if folder == "." else folder, {})
        return found


def answers_of(given: Mapping[str, str]) -> Answers:
    """Answers of a command line, checked.

    Parameters
    ----------
    given : mapping of str to str
        ``{"reading.length_unit": "mm"}``, or of one folder ``{"session1:reading.length_unit": "mm"}``.

    Raises
    ------
    SettingsError
        An answer is not an option, or its value is not allowed.
    """
    whole: dict[str, str] = {}
    by_folder: dict[str, dict[str, Any]] = {}
    for key, text in given.items():
        folder, _, name = key.rpartition(":")
        option = name.removeprefix("reading.")
        reading = name.startswith("reading.")
        if (name not in (UP, FORWARD) and not reading) or (folder and option not in WHERE_NEEDED):
            hint = f"; did you mean 'reading.{name}'?" if name in Reading.model_fields else ""
            raise SettingsError(
                f"--set {key} is no option of init{hint or ';'} init takes reading.*, plane.up_axis and plane.forward_axis, and for one folder (FOLDER:OPTION=VALUE) "
                f"{', '.join(f'reading.{one}' for one in WHERE_NEEDED)}; write other options into config.yaml"
            )
        value = override(Settings(), {name: text}, source="--set")
        if reading and option in WHERE_NEEDED:
            by_folder.setdefault(folder.strip("/"), {})[option] = getattr(value.reading, option)
        else:
            whole[name] = text
    settings = override(Settings(), whole, source="--set") if whole else Settings()
    return Answers(settings, whole, by_folder)


def refuse_unknown_folders(told: Answers, names: Iterable[str], recordings: Path) -> None:
    """Refuse answers for folders that have no recordings.

    Parameters
    ----------
    told : Answers
        The answers.
    names : iterable of str
        Paths of the recordings from the folder that was looked at.
    recordings : Path
        That folder.

    Raises
    ------
    SettingsError
        A folder of an answer is none of those with recordings.
    """
    known = sorted({parent.as_posix() for name in names for parent in PurePosixPath(name).parents} - {"."})
    has = (
        f"the folders in it are {some_of(known)}" if known else "it has no other folder; omit the folder and its colon"
    )
    faults = [
        f"--set {folder}:reading.{next(iter(options))}=...: {recordings} has no folder {folder!r} with recordings"
        f"{did_you_mean(folder, known)}; {has}"
        for folder, options in told.by_folder.items()
        if folder and folder not in known
    ]
    if faults:
        raise SettingsError("\n".join(faults), faults)


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
    for name in FOUND:
        values = {str(own.get(name, "")) for own in used.values()}
        if len(values) == 1 and "" not in values:
            common[f"reading.{name}"] = values.pop()
        elif len(values) > 1:
            trials = tuple(_with(trial, name, str(used[trial.file].get(name, ""))) for trial in trials)
    return replace(proposal, trials=trials), common


def unused_answers(told: Answers, seen: Sequence[Seen]) -> list[str]:
    """Sentences on answers that no file needed.

    Parameters
    ----------
    told : Answers
        The answers.
    seen : sequence of Seen
        The recordings, with the options that each needed.
    """
    said = []
    for folder, options in told.by_folder.items():
        inside = [one for one in seen if not folder or one.name.startswith(f"{folder}/")]
        used = {(name, value) for one in inside for name, value in one.answers}
        for name, value in options.items():
            if (name, value) not in used:
                where = f"{folder}:" if folder else ""
                said.append(
                    f"--set {where}reading.{name}={value}: not used, as no file {'of this folder ' if folder else ''}asks for it "
                    "(what a file states holds)"
                )
    return said


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
    rows = tuple(replace(row, forward_axis=axis, plane_kind="", note=note) for row in proposal.trials)
    return replace(proposal, trials=rows)


def _with(trial: ProposedTrial, name: str, text: str) -> ProposedTrial:
    changes: dict[str, Any] = {name: text}
    return replace(trial, **changes)
