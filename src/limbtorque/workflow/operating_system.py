"""Standard streams of a process, and the signals that end it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from types import TracebackType
from typing import Any, TextIO

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # but tabs and ends of lines


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


def visible(text: str) -> str:
    r"""Write out control characters, for terminals and comments.

    Examples
    --------
    >>> visible("KNEE\x1b[31m, ANKLE")
    'KNEE\\x1b[31m, ANKLE'
    """
    return _CONTROL.sub(lambda match: repr(match.group())[1:-1], text)


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a line on standard error or another stream, if writable."""
    stream = sys.stderr if stream is None else stream
    with contextlib.suppress(OSError):
        print(visible(text), file=stream)
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


# signals that end a process, beside Ctrl-C, where the operating system has them
ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def end_at_once() -> None:
    """Let SIGINT end this process during its imports, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


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
