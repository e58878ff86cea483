"""Closed and full standard streams: an unread message ends no run."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO


def ensure_streams() -> None:
    """Open the null device in place of closed standard streams.

    The next file that is opened would get their numbers.
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
    """Print a line on standard error or another stream, where it can be written to."""
    stream = sys.stderr if stream is None else stream
    with contextlib.suppress(OSError):
        print(text, file=stream)
    flush_or_silence(stream)


def flush_or_silence(stream: TextIO) -> bool:
    """Flush a stream; send one that fails to the null device.

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
