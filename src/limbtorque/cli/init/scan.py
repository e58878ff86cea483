"""Survey of many files in several processes, with the user's answers."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from queue import SimpleQueue
from typing import Any

from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.known_sets import LIMBS, fits
from limbtorque.cli.init.survey import Seen, Unread, look_at
from limbtorque.errors import ReadError, SettingsError, did_you_mean
from limbtorque.recordings.join import forces_options
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.options.reading import Reading
from limbtorque.study.settings import Settings, override

FILES_A_PROCESS = 20  # are read in the time that another process takes to start
DESCRIBED = {"marker_names": "descriptions"}
WHERE_NEEDED = ("length_unit", "force_unit", "rate_hz")  # of `reading`: used for files that do not state them
NOT_STATED = re.compile(r"not stated.*reading\.length_unit|give .*reading\.rate_hz", re.DOTALL)
METRES = ("m", "cm", "mm")
UP, FORWARD = "plane.up_axis", "plane.forward_axis"
Read = Callable[[ReadOptions], Seen]  # reads a file with options


@dataclass(frozen=True)
class Answers:
    """Answers to missing information, by folder.

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
        """Options for a file, from the nearest folder.

        Parameters
        ----------
        name : str
            Path of the file from the folder of the recordings.
        """
        options: dict[str, Any] = {}
        for folder in reversed(PurePosixPath(name).parents):
            options |= self.by_folder.get("" if folder == PurePosixPath() else folder.as_posix(), {})
        return options


def answers_of(given: Mapping[str, str]) -> Answers:
    """Checked answers from the command line.

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
        option = name.removeprefix("reading.") if name.startswith("reading.") else ""
        if (name not in (UP, FORWARD) and not option) or (folder and option not in WHERE_NEEDED):
            hint = f"; did you mean 'reading.{name}'?" if name in Reading.model_fields else ""
            raise SettingsError(
                f"--set {key} is not an option of init{hint or ';'} init takes reading.*, plane.up_axis and plane.forward_axis, and for one folder (FOLDER:OPTION=VALUE) "
                f"{', '.join(f'reading.{one}' for one in WHERE_NEEDED)}; write other options into config.yaml"
            )
        value = override(Settings(), {name: text}, source="--set")
        if option in WHERE_NEEDED:
            by_folder.setdefault(folder.strip("/"), {})[option] = getattr(value.reading, option)
        else:
            whole[name] = text
    return Answers(override(Settings(), whole, source="--set"), whole, by_folder)


def refuse_unknown_folders(given: Answers, names: Iterable[str], recordings: Path) -> None:
    """Refuse answers for folders without recordings.

    Parameters
    ----------
    given : Answers
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
    for folder in given.by_folder.keys() - {"", *known}:
        raise SettingsError(
            f"--set {folder}:...: {recordings} has no folder {folder!r} with recordings{did_you_mean(folder, known)}; "
            f"the folders in it are {some_of(known) or 'none: omit the folder and its colon'}"
        )


def unused_answers(given: Answers, seen: Sequence[Seen]) -> list[str]:
    """Sentences on answers that no file needed.

    Parameters
    ----------
    given : Answers
        The answers.
    seen : sequence of Seen
        The recordings, with the options that each needed.
    """
    sentences = []
    for folder, options in given.by_folder.items():
        where, of_folder = (f"{folder}:", "of this folder ") if folder else ("", "")
        used = {answer for one in seen if one.name.startswith(where.replace(":", "/")) for answer in one.answers}
        sentences += [
            f"--set {where}reading.{name}={value}: not used: every file {of_folder}states its own value"
            for name, value in options.items()
            if (name, value) not in used
        ]
    return sentences


def survey(
    named: Mapping[Path, str],
    *,
    reading: Reading | None = None,
    answers: Callable[[str], Mapping[str, Any]] = lambda _: {},
    processes: int | None = None,
) -> Iterator[Seen | Unread]:
    """Survey recordings in sandboxed processes, one for each processor.

    Parameters
    ----------
    named : mapping of Path to str
        The files and their names.
    reading : Reading, optional
        Limits of the reading processes, and options of all files.
    answers : callable, optional
        Name of a file -> options that are used if it does not state them.
    processes : int, optional
        Number of processes; by default as many as processors, with twenty files or more for each.

    Yields
    ------
    Seen or Unread
        What was seen of each, in the order of the files.
    """
    limits = reading or Reading()
    n = processes or min(os.cpu_count() or 1, 1 + len(named) // FILES_A_PROCESS)
    free: SimpleQueue[GuardedReader] = SimpleQueue()
    with contextlib.ExitStack() as stack:
        for _ in range(n):
            free.put(stack.enter_context(GuardedReader()))

        def seen(path: Path, name: str) -> Seen | Unread:
            reader = free.get()
            look = partial(_look, reader, path, name)
            try:
                return _read_with(look, path, limits, answers(name))
            except ReadError as error:
                return Unread(name, str(error), _if_answered(look, path, limits, answers(name), str(error)))
            finally:
                free.put(reader)

        threads = stack.enter_context(ThreadPoolExecutor(n))
        yield from threads.map(seen, named.keys(), named.values())


def _look(reader: GuardedReader, path: Path, name: str, options: ReadOptions) -> Seen:
    """Survey a file in the reading process, without passing on the recording."""
    return reader.apply(partial(look_at, path=path, name=name), path, options)


def _read_with(read: Read, path: Path, limits: Reading, answers: Mapping[str, Any]) -> Seen:
    """Read a file, with answers to the missing information.

    Points are named by their descriptions if only these complete a known marker set.
    """
    seen, used = _read(read, limits, answers)
    if path.suffix.lower() == ".c3d" and seen.labels and not _recognised(seen):
        described, _ = _read(read, limits.model_copy(update={**used, **DESCRIBED}), answers)
        if _recognised(described):
            seen, used = described, {**used, **DESCRIBED}
    return replace(seen, answers=tuple(used.items()))


def _if_answered(look: Read, path: Path, limits: Reading, answers: Mapping[str, Any], why: str) -> Seen | None:
    """Survey of a file with made-up values of what it does not state.

    None if it states all, or cannot be read even so.
    """
    if not NOT_STATED.search(why):
        return None
    for unit in METRES:
        made_up = limits.model_copy(update={"forces_length_unit": limits.forces_length_unit or unit})
        with contextlib.suppress(ReadError):
            seen = _read_with(look, path, made_up, {"length_unit": unit, "rate_hz": 100.0, **answers})
            known = {*answers, *DESCRIBED, *(["forces_length_unit"] if limits.forces_length_unit else [])}
            return replace(seen, answers=tuple(pair for pair in seen.answers if pair[0] not in known))
    return None


def _recognised(seen: Seen) -> bool:
    """Return True if a known marker set is complete for any limb."""
    bodies: dict[str, list[str]] = {}
    for prefix, _, bare in (label.rpartition(":") for label in seen.labels):
        bodies.setdefault(prefix, []).append(bare)
    return any(not fit.missing for labels in bodies.values() for model in LIMBS.values() for fit in fits(labels, model))


def _read(read: Read, limits: Reading, answers: Mapping[str, Any]) -> tuple[Seen, dict[str, Any]]:
    """Read a file, with the answers that its reader needs."""
    used: dict[str, Any] = {}
    seen, refused = None, ReadError("")
    while seen is None:
        try:
            seen = read(ReadOptions.of(limits.model_copy(update=used)))
        except ReadError as error:
            refused = error
            asked = {name: answers[name] for name in answers if name not in used and f"reading.{name}" in str(error)}
            used |= asked
            if asked:
                continue
            if "reading.length_unit" not in str(error) or limits.forces_length_unit is None:
                raise
            break
    if seen is not None and (seen.labels or "length_unit" not in used):
        return seen, used
    if limits.forces_length_unit is None:  # of forces, whose unit is another option
        raise ReadError(str(refused).replace("reading.length_unit", "reading.forces_length_unit"))
    seen = read(forces_options(ReadOptions.of(limits)))
    if seen.labels:  # the unit was given for forces only
        raise refused
    used["forces_length_unit"] = limits.forces_length_unit
    return seen, {name: value for name, value in used.items() if name != "length_unit"}
