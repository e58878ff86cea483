"""Read files within limits; other libraries in a separate process.

Our readers refuse, before they take memory, what the size of a file does not explain, or what is more than the limit
(`source.Source.refuse_larger`). A library in C++ can allocate without bound, loop, or abort the whole process: it reads file
after file in a child process; when that dies the read fails with a :class:`~limbtorque.errors.ReadError` and the next one gets
a new child. Requests and replies are pickles on the child's standard streams, whose own are discarded. Where the operating
system has no limit of memory (Windows), the child is limited by time alone.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from limbtorque.errors import ReadError
from limbtorque.recordings.compare_readers import compare_c3d
from limbtorque.recordings.differences import SecondReading
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.read import read_with_forces
from limbtorque.recordings.recording import Recording

Value = TypeVar("Value")
TIME_S = 120.0  # that the child may take for a file; the largest recordings take a few seconds
_STATM = Path("/proc/self/statm")


class GuardedReader(contextlib.AbstractContextManager["GuardedReader"]):
    """Read recordings within a limit of memory, and of time in the child.

    A context manager; a child process is started by the first call that needs it, is reused, and ends with the
    context. Not thread-safe.

    Examples
    --------
    >>> with GuardedReader() as reader:  # doctest: +ELLIPSIS
    ...     reader.read(Path("no such file.c3d"), options=ReadOptions(memory_limit_mb=512))
    Traceback (most recent call last):
    limbtorque.errors.ReadError: no such file.c3d: the file cannot be opened: No such file or directory; ...
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child; the next call that needs it starts a new one."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def read(
        self,
        path: Path,
        *,
        options: ReadOptions = NO_OPTIONS,
        forces: Path | None = None,
    ) -> Recording:
        """Read one file by our own reader, in this process.

        Parameters
        ----------
        path : Path
            A recording of any format that is read.
        options : ReadOptions, optional
            Options of the readers, with the memory that reading may take; a file that needs more is refused before it is read.
        forces : Path, optional
            A second file with the force plates, read within the same limits.

        Returns
        -------
        Recording
            As from :func:`limbtorque.recordings.read.read_with_forces`.

        Raises
        ------
        ReadError
            The file is not readable, or its reading would take too much memory.
        """
        with _one_file(path, options.memory_limit_mb):
            return read_with_forces(path, forces, options)

    def apply(self, function: Callable[[Recording], Value], path: Path, options: ReadOptions) -> Value:
        """Read one file and apply a function to the recording, in the child.

        Parameters are those of :meth:`read`, with the function: one of a module, or a partial of one. Only its value, which is
        returned, comes back from the child. So several threads can read on several processors.
        """
        return self._ask(partial(_applied, function, path.absolute(), options), path, options.memory_limit_mb)

    def compare(self, path: Path, library: str, options: ReadOptions) -> SecondReading | None:
        """Compare our reading of a C3D file with that of a library.

        Parameters are those of :meth:`read`, with the library; the answer is that of
        :func:`limbtorque.recordings.compare_readers.compare_c3d`. Crashes, hangs and lack of memory count as refusal by the library:
        no error is raised.
        """
        task = partial(compare_c3d, path.absolute(), library, options)
        try:
            answer = self._ask(task, path, options.memory_limit_mb)
        except ReadError as error:
            why = str(error).removeprefix(f"{path.name}: ").partition(";")[0]
            return SecondReading(path.name, library, refused=why)
        return answer

    def _ask(self, task: Callable[[], Value], path: Path, memory_limit_mb: float) -> Value:
        """Value of a task, from the child."""
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = _start()
        child, deadline = self._child, time.monotonic() + TIME_S
        watch = threading.Timer(TIME_S, child.kill)
        watch.start()
        try:
            if child.stdin is None or child.stdout is None:
                raise OSError("no pipe to the reading process")
            pickle.dump((task, path, memory_limit_mb), child.stdin)
            child.stdin.flush()
            done, answer, last = pickle.load(child.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):  # it is gone
            code = child.wait()
            self.close()
            if time.monotonic() >= deadline:
                raise ReadError(
                    f"{path.name}: reading was stopped after {TIME_S:g} s; the file is damaged, or its library hangs"
                ) from None
            how = f"ended with status {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
            raise ReadError(
                f"{path.name}: the reading process {how}; the file is damaged, or needs more memory than available "
                "(reading.memory_limit_mb); export it again"
            ) from None
        except BaseException:  # interrupted: a reply may still be on its way, and must not answer the next request
            self.close()
            raise
        finally:
            watch.cancel()
        if last:
            self.close()
        if not done:
            raise ReadError(answer)
        return cast(Value, answer)


def _applied(function: Callable[[Recording], Value], path: Path, options: ReadOptions) -> Value:
    return function(read_with_forces(path, None, options))


@contextlib.contextmanager
def _one_file(path: Path, memory_limit_mb: float) -> Iterator[None]:
    """Turn any error into an error about the file."""
    try:
        yield
    except ReadError:
        raise
    except MemoryError:
        raise ReadError(
            f"{path.name}: reading needs more than {memory_limit_mb:g} MB (reading.memory_limit_mb); "
            "the file is damaged, or the limit is too low"
        ) from None
    except Exception as error:
        raise ReadError(f"{path.name}: reading failed with {type(error).__name__}: {error}") from error


def _start() -> subprocess.Popen[bytes]:
    """Start the child: a new Python."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "limbtorque.recordings.sandbox"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # threads take address space
    )


def _serve() -> None:
    """Answer requests until the pipe is closed: the main loop of the child."""
    requests, replies = (os.fdopen(os.dup(number), mode) for number, mode in ((0, "rb"), (1, "wb")))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):  # what a library prints does not get among the replies
        os.dup2(nothing, number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    started_with = 0
    while True:
        try:
            task, path, memory_limit_mb = pickle.load(requests)
        except EOFError:
            return
        started_with = started_with or _address_space()  # with the module of the task, which its name imports
        _limit(started_with + int(memory_limit_mb) * 2**20)
        out_of_memory = False
        try:
            with _one_file(path, memory_limit_mb):
                try:
                    reply = (True, task())
                except MemoryError:  # what is left of the heap is not worth keeping
                    out_of_memory = True
                    raise
        except ReadError as error:
            reply = (False, str(error))
        _limit(0)
        pickle.dump((*reply, out_of_memory), replies)
        replies.flush()


def _address_space() -> int:
    """Bytes of address space of this process; 0 where the system does not say it."""
    if sys.platform == "win32" or not _STATM.exists():
        return 0
    return int(_STATM.read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _limit(n_bytes: int) -> None:
    """Limit address space, bytes, and time of this process; 0 for no limit."""
    if sys.platform == "win32" or resource is None or not _STATM.exists():
        return
    signal.alarm(int(TIME_S) + 5 if n_bytes else 0)  # ends it without its parent
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = n_bytes if n_bytes and (hard == resource.RLIM_INFINITY or n_bytes < hard) else hard
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _serve()
