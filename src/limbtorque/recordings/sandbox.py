"""Read files in a separate process, under limits of memory and time.

A damaged file can make a C++ reader allocate without bound, loop, or abort the whole process. One child
process reads file after file; when it dies the read fails with a :class:`~limbtorque.errors.ReadError` and
the next read gets a new child. It is forked in the jobs of a run (`fork_readers`), and a new Python elsewhere. Requests and replies are pickles, their arrays after them, on pipes of their own,
so that nothing the library prints can get between them. Where the operating system has no fork, no limit of memory or no waiting for a pipe (Windows), the child is a new Python that is limited by time alone.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from limbtorque.errors import ReadError
from limbtorque.recordings import limits
from limbtorque.recordings.differences import SecondReading
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording

_LENGTH = struct.Struct("<Q")
_GRACE_S = 5.0
_POLL_S = 0.01
_AT_ONCE = 2**20  # bytes taken from a pipe that cannot be read into an array
_OPEN_FILES = Path("/proc/self/fd")
_POLLS = hasattr(select, "poll")
_forks = False


class _DiedError(Exception):
    """The other end of the pipe is gone."""


_NO_FORK = "this operating system cannot fork"


class _Forked:
    """Forked process with the methods of `subprocess.Popen` that are needed here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Exit code as of `subprocess.Popen`; None while the process runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Exit code, when there is one."""
        if sys.platform == "win32":
            raise OSError(_NO_FORK)
        end = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            pid, status = os.waitpid(self.pid, 0 if end is None else os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif end is not None and time.monotonic() >= end:
                raise subprocess.TimeoutExpired("reading", timeout or 0.0)
            else:
                time.sleep(_POLL_S)
        return self.returncode

    def kill(self) -> None:
        """End the process, if it runs."""
        if sys.platform != "win32" and self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


@dataclass
class _Child:
    """The reading process and the pipes to it."""

    process: subprocess.Popen[bytes] | _Forked
    requests: int
    replies: int
    stderr: IO[bytes]


class GuardedReader:
    """Read recordings in a child process under a memory limit and a time limit.

    A context manager; the child is started by the first read, lives on for the next ones and ends with the
    context. Not for use from several threads at once.

    Examples
    --------
    >>> with GuardedReader() as reader:  # doctest: +ELLIPSIS
    ...     reader.read(Path("no such file.c3d"), memory_limit_mb=512, time_limit_s=60.0)
    Traceback (most recent call last):
    limbtorque.errors.ReadError: no such file.c3d: the file cannot be opened: No such file or directory; ...
    """

    def __init__(self) -> None:
        self._child: _Child | None = None

    def __enter__(self) -> GuardedReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(
        self,
        path: Path,
        *,
        memory_limit_mb: int,
        time_limit_s: float,
        options: ReadOptions = NO_OPTIONS,
        forces: Path | None = None,
    ) -> Recording:
        """Read one file.

        Parameters
        ----------
        path : Path
            A recording of any format that is read.
        memory_limit_mb : int
            Memory the child may take for this file, MB (2**20 bytes) of address space on top of what it
            starts with.
        time_limit_s : float
            Time after which the child is stopped, s; the start of a new child counts.
        options : ReadOptions, optional
            Options of the readers.
        forces : Path, optional
            A second file with the force plates, read within the same limits.

        Returns
        -------
        Recording
            As from :func:`limbtorque.recordings.read.read_with_forces`.

        Raises
        ------
        ReadError
            The file is not readable, or its reading took too much memory or time, or ended the child.
        """
        answer = self._ask(None, path, memory_limit_mb, time_limit_s, options, forces)
        if not isinstance(answer, Recording):
            raise ReadError(f"{path.name}: the reading process answered with {type(answer).__name__}")
        return answer

    def apply(
        self,
        function: Callable[[Recording], object],
        path: Path,
        *,
        memory_limit_mb: int,
        time_limit_s: float,
        options: ReadOptions = NO_OPTIONS,
    ) -> object:
        """Read one file and apply a function to the recording, in the child.

        Parameters are those of :meth:`read`, with the function: one of a module, or a partial of one. Only its value, which is
        returned, comes back through the pipe.
        """
        return self._ask(function, path, memory_limit_mb, time_limit_s, options)

    def compare(
        self,
        path: Path,
        library: str,
        *,
        memory_limit_mb: int,
        time_limit_s: float,
        options: ReadOptions = NO_OPTIONS,
    ) -> SecondReading | None:
        """Compare our reading of a C3D file with that of a library.

        Parameters are those of :meth:`read`, with the library; the answer is that of
        :func:`limbtorque.recordings.compare_readers.compare_c3d`. A crash, a hang and a lack of memory end as the library's
        refusal: no error is raised.
        """
        try:
            answer = self._ask(library, path, memory_limit_mb, time_limit_s, options)
        except ReadError as error:
            why = str(error).removeprefix(f"{path.name}: ").partition(";")[0]
            return SecondReading(path.name, library, refused=why)
        return answer if isinstance(answer, SecondReading) else None

    def _ask(
        self,
        task: str | Callable[[Recording], object] | None,
        path: Path,
        memory_limit_mb: int,
        time_limit_s: float,
        options: ReadOptions,
        forces: Path | None = None,
    ) -> object:
        """Answer of the child: a recording, a function's value, or a comparison."""
        deadline = time.monotonic() + time_limit_s
        try:
            child = self._running()
            files = [None if file is None else str(Path(file).absolute()) for file in (path, forces)]
            with _ended_in_time(child, deadline):
                _send(child.requests, (task, files, memory_limit_mb, time_limit_s, options))
                done, answer, last = _receive(child.replies, deadline)
        except TimeoutError:
            self.close()
            raise ReadError(
                f"{path.name}: reading was stopped after {time_limit_s:g} s (reading.time_limit_s); "
                "the file is damaged, or the limit is too low"
            ) from None
        except _DiedError:
            raise ReadError(f"{path.name}: {self._post_mortem()}") from None
        except BaseException:  # interrupted: a reply may still be on its way, and must not answer the next request
            self.close()
            raise
        if last:
            self.close()
        if not done:
            raise ReadError(str(answer))
        return answer

    def close(self) -> None:
        """End the child; the next read starts a new one."""
        child, self._child = self._child, None
        if child is None:
            return
        os.close(child.requests)
        os.close(child.replies)
        child.process.kill()
        child.process.wait()
        child.stderr.close()

    def _running(self) -> _Child:
        if self._child is not None and self._child.process.poll() is not None:
            self.close()
        if self._child is None:
            self._child = _start()
        return self._child

    def _post_mortem(self) -> str:
        """Describe how the child ended, and clear it away."""
        child = self._child
        if child is None:
            return "the reading process did not start"
        try:
            code = child.process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            code = -9
        last = _last_line(child.stderr)
        self.close()
        how = f"ended with status {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
        said = f" ({last})" if last else ""
        return (
            f"the reading process {how}{said}; the file is damaged, or needs more memory than available "
            "(reading.memory_limit_mb); export it again"
        )


def fork_readers() -> None:
    """Fork children from now on, where possible, instead of starting Python anew.

    For processes that compute in one thread. The libraries of the child are imported once, here. Memory that its parent has free does not count against its limit.
    """
    global _forks
    from limbtorque.recordings import compare_readers, read  # noqa: F401 (for the children)

    _forks = hasattr(os, "fork") and _OPEN_FILES.is_dir()


def _start() -> _Child:
    """Start the child; its output is discarded, its errors go to a temporary file."""
    stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the child)
    try:
        return (_forked if _forks else _executed)(stderr)
    except OSError:
        stderr.close()
        raise


def _executed(stderr: IO[bytes]) -> _Child:
    """Start a new Python; its standard streams are the pipes."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "limbtorque.recordings.sandbox"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # threads take address space
    )
    if process.stdin is None or process.stdout is None:
        raise OSError("no pipe to the reading process")
    child = _Child(process, os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno()), stderr)
    process.stdin.close()
    process.stdout.close()
    return child


def _forked(stderr: IO[bytes]) -> _Child:
    """Fork a child, with two pipes to it."""
    requests_out, requests_in = os.pipe()
    replies_out, replies_in = os.pipe()
    try:
        process = _fork(requests_out, replies_in, stderr)
    except OSError:
        os.close(requests_in)
        os.close(replies_out)
        raise
    finally:
        os.close(requests_out)
        os.close(replies_in)
    return _Child(process, requests_in, replies_out, stderr)


def _fork(requests: int, replies: int, stderr: IO[bytes]) -> _Forked:
    if sys.platform == "win32":
        raise OSError(_NO_FORK)
    pid = os.fork()
    if pid:
        return _Forked(pid)
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _keep_open(requests, replies, stderr.fileno())
        with contextlib.suppress(_DiedError):
            _serve(requests, replies)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _keep_open(requests: int, replies: int, stderr: int) -> None:
    """Close all files of the parent but those for requests, replies and errors.

    Pipes end with it so.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, file in enumerate((nothing, nothing, stderr)):
        os.dup2(file, number)
    sys.stdout = sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    for number in [int(file.name) for file in _OPEN_FILES.iterdir()]:
        if number > 2 and number not in (requests, replies):
            with contextlib.suppress(OSError):
                os.close(number)


def _last_line(stderr: IO[bytes]) -> str:
    size = os.fstat(stderr.fileno()).st_size
    stderr.seek(max(0, size - 2000))
    lines = [line.strip() for line in stderr.read(2000).decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _send(handle: int, message: object) -> None:
    """Write one message; a pipe without a reader raises _DiedError.

    Arrays are sent from their own memory, after the pickle that names them: a copy of a long recording would be large.
    """
    arrays: list[pickle.PickleBuffer] = []
    body = pickle.dumps(message, protocol=5, buffer_callback=arrays.append)
    parts = [memoryview(body), *(array.raw() for array in arrays)]
    try:
        head = b"".join(_LENGTH.pack(number) for number in (len(parts), *map(len, parts)))
        for part in (memoryview(head), *parts):
            rest = part
            while rest:
                rest = rest[os.write(handle, rest) :]
    except OSError:
        raise _DiedError from None


def _receive(handle: int, deadline: float | None) -> Any:
    """Read one message; TimeoutError at the deadline, _DiedError at a closed pipe."""
    (n_parts,) = _LENGTH.unpack(_take(handle, _LENGTH.size, deadline))
    sizes = [_LENGTH.unpack(_take(handle, _LENGTH.size, deadline))[0] for _ in range(n_parts)]
    body, *arrays = (_take(handle, size, deadline) for size in sizes)
    return pickle.loads(body, buffers=arrays)


def _take(handle: int, n: int, deadline: float | None) -> bytearray:
    """Read exactly n bytes."""
    body = bytearray(n)
    rest = memoryview(body)
    wait = _waiting(handle, deadline)
    while rest:
        wait()
        got = _read_into(handle, rest)
        if got == 0:
            raise _DiedError
        rest = rest[got:]
    return body


def _waiting(handle: int, deadline: float | None) -> Callable[[], None]:
    """Return a function that waits for a pipe; TimeoutError at the deadline."""
    if sys.platform == "win32" or not _POLLS or deadline is None:
        return lambda: None
    poll = select.poll()
    poll.register(handle, select.POLLIN)

    def wait() -> None:
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000.0):
            raise TimeoutError

    return wait


def _read_into(handle: int, rest: memoryview) -> int:
    """Read bytes of a pipe into an array; returns their number."""
    if sys.platform != "win32" and hasattr(os, "readv"):
        return os.readv(handle, [rest])
    found = os.read(handle, min(len(rest), _AT_ONCE))
    rest[: len(found)] = found
    return len(found)


@contextlib.contextmanager
def _ended_in_time(child: _Child, deadline: float) -> Iterator[None]:
    """Kill a child at its deadline, where nothing waits for a pipe with one."""
    if _POLLS:
        yield
        return
    watch = threading.Timer(max(0.0, deadline - time.monotonic()), child.process.kill)
    watch.start()
    try:
        yield
    except _DiedError:
        if time.monotonic() >= deadline:
            raise TimeoutError from None
        raise
    finally:
        watch.cancel()


def _serve(requests: int, replies: int) -> None:
    """Answer requests until the pipe is closed: the main loop of the child."""
    from limbtorque.recordings.compare_readers import compare_c3d
    from limbtorque.recordings.read import read_with_forces

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    limits.leave_no_core()
    started_with: int | None = None
    while True:
        try:
            task, (path, forces), memory_limit_mb, time_limit_s, options = _receive(requests, None)
        except _DiedError:
            return
        if started_with is None:  # with the module of the task, which its name imports
            started_with = limits.address_space()
        limits.set_limits(started_with + memory_limit_mb * 2**20, time_limit_s + _GRACE_S)  # ends it without its parent
        out_of_memory = False
        reply: tuple[bool, object]
        try:
            file, second = Path(path), Path(forces) if forces else None
            if isinstance(task, str):
                reply = (True, compare_c3d(file, task, options, memory_mb=memory_limit_mb / 2))
            else:
                recording = read_with_forces(file, second, options)
                reply = (True, task(recording) if task else recording)
        except ReadError as error:
            reply = (False, str(error))
        except MemoryError:
            out_of_memory = True
            reply = (False, _too_large(Path(path), memory_limit_mb))
        except Exception as error:  # whatever it is, it concerns one file
            reply = (False, f"{Path(path).name}: reading failed with {type(error).__name__}: {error}")
        limits.lift_limits()
        _send(replies, (*reply, out_of_memory))
        if out_of_memory:
            return  # what is left of the heap is not worth keeping


def _too_large(path: Path, memory_limit_mb: int) -> str:
    return (
        f"{path.name}: reading needs more than {memory_limit_mb} MB (reading.memory_limit_mb); "
        "the file is damaged, or the limit is too low"
    )


def _own_pipes() -> tuple[int, int]:
    """Pipes that were the standard streams of a child, which become the null device."""
    pipes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return pipes


if __name__ == "__main__":
    with contextlib.suppress(_DiedError):
        _serve(*_own_pipes())
