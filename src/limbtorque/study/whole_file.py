"""Write files whole or not at all: under another name, then renamed."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

_PART = re.compile(r"\..*\.[0-9]+\.part(\.[^.]*)?")


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Path to write to; at the end it takes the place of a file.

    Parameters
    ----------
    path : Path
        The file; its folder is created.

    Yields
    ------
    Path
        Another name in the same folder, hidden, with the same suffix. After an error it is removed, and the file is as before.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem[:100]}.{socket.gethostname()[:40]}.{os.getpid()}.part{path.suffix}")
    try:
        yield part
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8 with Unix line ends."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes."""
    with whole_file(path) as part:
        part.write_bytes(content)


def is_part(path: Path) -> bool:
    """Return True for the name of a file that is not written to its end."""
    return bool(_PART.fullmatch(path.name))
