"""A process and the operating system: streams, temporary folders, signals.

Python turns Ctrl-C (SIGINT) into an exception anywhere, even during imports at start-up, and prints
a traceback. So processes start with signals blocked (`held`) until they have set their handlers.
A process holds a lock on its temporary folder, which the operating system releases: folders of killed processes are removed by
the next process. Where folders cannot be locked (Windows), they stay.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO


def ensure_streams() -> None:
    """Open the null device for closed standard streams.

    Otherwise the next opened file would get their numbers.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # gets the lowest free number
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (open until the process ends)


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a line on standard error or another stream, if writable."""
    stream = sys.stderr if stream is None else stream
    with contextlib.suppress(OSError):
        print(text, file=stream)
    flush_or_silence(stream)


def flush_or_silence(stream: TextIO) -> bool:
    """Flush a stream; on failure redirect it to the null device.

    Otherwise Python fails as it ends.

    Returns
    -------
    bool
        True where it could be written to.
    """
    try:
        stream.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        return False
    return True


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "limbtorque-"
_held: list[int] = []  # file descriptors of this process's folders, open until it ends


def temporary_folder() -> Path:
    """Create a folder for this process, after removing unused ones."""
    if sys.platform == "win32" or fcntl is None:
        return Path(tempfile.mkdtemp(prefix=_PREFIX))
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        _remove_if_free(folder)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with contextlib.suppress(FileNotFoundError):  # another process removed it before it was held
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(held, fcntl.LOCK_EX)
            if folder.exists():
                _held.append(held)
                return folder
            os.close(held)


def _remove_if_free(folder: Path) -> None:
    """Remove a folder of this user if no process holds it."""
    if sys.platform == "win32" or fcntl is None:
        return
    with contextlib.suppress(OSError):
        if folder.stat().st_uid != os.getuid():
            return
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(opened)


# signals that end a process, beside Ctrl-C, where the operating system has them
ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_SIGNALS = (signal.SIGINT, *ENDS)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Block the signals of this thread and of processes that it starts.

    Child processes receive them after `let_in`.
    """
    if sys.platform == "win32" or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_in() -> None:
    """Receive the signals blocked by the parent process."""
    if sys.platform != "win32" and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def end_at_once() -> None:
    """Let SIGINT end this process without an exception during imports.

    Ignored signals stay ignored.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    let_in()


def end_in_order() -> None:
    """Let SIGINT raise `KeyboardInterrupt` again, after `end_at_once`.

    An uncaught one is not printed.
    """
    hide_interrupts()
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def hide_interrupts() -> None:
    """Print no traceback of an uncaught `KeyboardInterrupt`.

    Hooks of other programs are kept.
    """
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _show_unraisable


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def _show_unraisable(found: Any) -> None:
    """End on an interrupt where Python cannot raise it, such as a destructor."""
    if issubclass(found.exc_type, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    sys.__unraisablehook__(found)
