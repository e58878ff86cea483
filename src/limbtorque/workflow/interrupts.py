"""End a process that is interrupted during its imports without a traceback.

Python turns Ctrl-C (SIGINT) into an exception wherever it is, also within the imports of a process that has just begun, and
prints its traceback. So a process is started with its signals blocked (`held`); they wait until it has said how it ends.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import sys
from collections.abc import Callable, Iterator
from threading import current_thread, main_thread
from types import TracebackType
from typing import Any


def _there(*names: str) -> tuple[signal.Signals, ...]:
    """Signals that the operating system has."""
    return tuple(getattr(signal, name) for name in names if hasattr(signal, name))


ENDS = _there("SIGTERM", "SIGHUP")  # signals that end a process, beside Ctrl-C
_SIGNALS = (signal.SIGINT, *ENDS)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Hold back the signals of this thread and of processes that it starts.

    Those receive them by `let_in`.
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
    """Receive the signals that the starting process held back."""
    if sys.platform != "win32" and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def end_at_once() -> None:
    """Let SIGINT end this process without an exception during its imports.

    Where it is ignored, it stays so.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    let_in()


def end_in_order() -> None:
    """Let SIGINT raise `KeyboardInterrupt` again, after `end_at_once`.

    One that nobody catches is not printed.
    """
    hide_interrupts()
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def hide_interrupts() -> None:
    """Print no traceback of a `KeyboardInterrupt` that nobody catches.

    Hooks of other programs are kept.
    """
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _show_unraisable


def wait_for_jobs() -> None:
    """Let Snakemake start each job whole, and wait for all, before SIGINT ends it.

    An interrupt within `ThreadPoolExecutor.submit` leaves a thread that its pool does not know; a second one ends the wait
    for all threads. With jobs under way Snakemake ends with a traceback (no upstream issue).
    """
    from snakemake.executors.local import Executor

    for name in ("run_job", "cancel"):
        function = getattr(Executor, name)
        if not hasattr(function, "__wrapped__"):
            setattr(Executor, name, whole(function))


def whole(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function within which SIGINT raises nothing; it does so afterwards."""

    @functools.wraps(function)
    def call(*args: Any) -> None:
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or current_thread() is not main_thread():
            function(*args)
            return
        came: list[int] = []
        signal.signal(signal.SIGINT, lambda number, _: came.append(number))
        try:
            function(*args)
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if came:
            raise KeyboardInterrupt

    return call


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def _show_unraisable(found: Any) -> None:
    """End by an interrupt in a place where Python cannot raise it, as a destructor."""
    if issubclass(found.exc_type, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    sys.__unraisablehook__(found)
