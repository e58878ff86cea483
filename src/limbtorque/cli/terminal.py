"""Checks of study folders, and progress bars on a terminal."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from limbtorque.errors import LimbtorqueError
from limbtorque.study.files import SETTINGS_FILE

Item = TypeVar("Item")


def followed(items: Iterable[Item], total: int, *, what: str) -> Iterator[Item]:
    """Yield items one by one, with a progress bar on terminals.

    Parameters
    ----------
    items : iterable
        What is worked on.
    total : int
        How many there are.
    what : str
        What is done to them.
    """
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    times = (TimeElapsedColumn(), TimeRemainingColumn())  # the first goes on during a long trial
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *times)
    on_terminal = sys.stdout.isatty()  # what is printed meanwhile then goes above the bar
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=on_terminal) as bar:
        yield from bar.track(items, total=total, description=what)


def require_study(folder: Path) -> None:
    """Check that a folder is a study: that it has a settings file.

    Parameters
    ----------
    folder : Path
        Folder given to a command.

    Raises
    ------
    LimbtorqueError
        It does not exist, is inside a study (as `results` is), or has no settings file.
    """
    name = str(folder) if str(folder).isprintable() else repr(str(folder))
    if os.path.isfile(folder / SETTINGS_FILE):  # noqa: PTH113 (false for loops of links, and names that no system takes)
        return
    if not os.path.exists(folder):  # noqa: PTH110
        found = f"{name} does not exist"
    elif ((inside := folder.resolve().parent) / SETTINGS_FILE).is_file():
        raise LimbtorqueError(f"{name} is a part of a study; give the study's folder: {inside}")
    else:
        found = f"{name} has no {SETTINGS_FILE}, so it is not a study"
    raise LimbtorqueError(
        f"{found}; give a study's folder, or create one: `limbtorque init {quoted(folder)} --from RECORDINGS`"
    )


def quoted(path: Path) -> str:
    """Path quoted for a command line, never read as an option."""
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))
