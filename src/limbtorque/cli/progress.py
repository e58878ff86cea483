"""A progress bar on a terminal, and silence in logs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
LONG_TABLE = 5000  # rows, which take a few tenths of a second


def followed_rows(rows: list[Item]) -> Iterator[Item]:
    """Yield the rows of a table, with a progress bar where there are many."""
    return followed(rows, len(rows), what="reading the table") if len(rows) > LONG_TABLE else iter(rows)


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
