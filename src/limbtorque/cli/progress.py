"""A progress bar on a terminal, and silence in logs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

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
