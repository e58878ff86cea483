"""Survey of many files, in several reading processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from limbtorque.cli.init.survey import Seen, Unread, look_at
from limbtorque.errors import ReadError
from limbtorque.recordings.join import forces_options
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.options.reading import Reading

FILES_A_PROCESS = 20  # are read in the time that another process takes to start


def survey(
    named: Mapping[Path, str], *, reading: Reading | None = None, processes: int | None = None
) -> Iterator[Seen | Unread]:
    """Survey recordings in sandboxed processes, one for each processor.

    Parameters
    ----------
    named : mapping of Path to str
        The files and their names.
    reading : Reading, optional
        Options and limits of the reading processes.
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
                return _read(Surveyor(reader, name), path, limits)
            except ReadError as error:
                return Unread(name, str(error))
            finally:
                free.put(reader)

        threads = stack.enter_context(ThreadPoolExecutor(n))
        yield from threads.map(seen, named.keys(), named.values())


@dataclass(frozen=True)
class Surveyor:
    """Reader that gives what was seen of a recording, in place of the recording.

    The process that reads a recording looks at it, too, so that it does not go through a pipe.
    """

    reader: GuardedReader
    name: str

    def read(self, path: Path, *, memory_limit_mb: int, time_limit_s: float, options: ReadOptions) -> Seen:
        """Survey one file; parameters and errors as of `GuardedReader.read`."""
        look = partial(look_at, path=path, name=self.name)
        found = self.reader.apply(
            look, path, memory_limit_mb=memory_limit_mb, time_limit_s=time_limit_s, options=options
        )
        if not isinstance(found, Seen):
            raise ReadError(f"{path.name}: the reading process answered with {type(found).__name__}")
        return found


def _read(reader: Surveyor, path: Path, limits: Reading) -> Seen:
    """Read a file, with the options of a force file where it needs them."""
    given: dict[str, Any] = {"memory_limit_mb": limits.memory_limit_mb, "time_limit_s": limits.time_limit_s}
    options = ReadOptions.of(limits)
    try:
        return reader.read(path, **given, options=options)
    except ReadError as error:
        if limits.forces_length_unit is None or "reading.length_unit" not in str(error):
            raise
        found = reader.read(path, **given, options=forces_options(options))
        if found.labels:  # the unit was given for forces only
            raise
        return found
