"""Survey of many files, in several reading processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from limbtorque.cli.init.reading_files import read_with
from limbtorque.cli.init.survey import Seen, Unread, look_at
from limbtorque.errors import ReadError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.options.reading import Reading

FILES_A_PROCESS = 20  # are read in the time that another process takes to start


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
            try:
                return _seen(reader, path, name, limits, answers(name))
            except ReadError as error:
                return Unread(name, str(error))
            finally:
                free.put(reader)

        threads = stack.enter_context(ThreadPoolExecutor(n))
        yield from threads.map(seen, named.keys(), named.values())


def _seen(reader: GuardedReader, path: Path, name: str, limits: Reading, answers: Mapping[str, Any]) -> Seen:
    """Survey a file in the reading process; the recording goes through no pipe."""
    given: dict[str, Any] = {"memory_limit_mb": limits.memory_limit_mb, "time_limit_s": limits.time_limit_s}
    look = partial(look_at, path=path, name=name)

    def read(options: ReadOptions) -> Seen:
        found = reader.apply(look, path, **given, options=options)
        if not isinstance(found, Seen):
            raise ReadError(f"{path.name}: the reading process answered with {type(found).__name__}")
        return found

    seen, used = read_with(read, path, limits, answers)
    return replace(seen, answers=tuple(used.items()))
