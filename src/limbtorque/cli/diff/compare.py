"""Two runs of a study side by side: changed inputs, and changed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from limbtorque.cli.diff.causes import Cause, causes
from limbtorque.cli.diff.changes import (
    MINOR,
    Change,
    curve_changes,
    is_rounding,
    rank,
    table_changes,
    window_changes,
)
from limbtorque.cli.diff.coverage import Frames, Lone, Size, lone_curves, lone_rows, other_frames, places, size
from limbtorque.cli.diff.runs import CURVES, KEYS, Run


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes
    ----------
    first, second : str
        Names of the runs.
    causes : tuple of Cause
        Changed settings, inputs, code and versions.
    only_first, only_second : tuple of str
        Trials that are in one run only.
    changes : tuple of Change
        Values that differ, the largest share first; times of peaks and words come last.
    n_compared : int
        Number of values compared.
    frames : tuple of Frames
        Trials of which different frames were summed.
    lone : tuple of Lone
        Rows that are in one run only, of trials that are in both.
    sizes : dict of str to Size
        Number of rows, or curves, of each table.
    """

    first: str
    second: str
    causes: tuple[Cause, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changes: tuple[Change, ...]
    n_compared: int
    frames: tuple[Frames, ...] = ()
    lone: tuple[Lone, ...] = ()
    sizes: Mapping[str, Size] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """All numbers are the same, and the trials, rows and frames too."""
        return not (self.changes or self.only_first or self.only_second or self.frames or self.lone)


def compare(first: Run, second: Run, *, tolerance: float = 0.0) -> Comparison:
    """Compare two runs.

    Parameters
    ----------
    first, second : Run
        The runs.
    tolerance : float, optional
        Numbers whose difference has a share of at most this count as the same.

    Returns
    -------
    Comparison
        Changed inputs and settings, and changed numbers.
    """
    trials = [[row["trial"] for row in run.tables["ledger"]] for run in (first, second)]
    both = set(trials[0]) & set(trials[1])
    changes, n_compared = _changes(first, second, tolerance)
    lone: list[Lone] = []
    sizes: dict[str, Size] = {}
    for table, key in KEYS.items():
        rows = first.tables.get(table, ()), second.tables.get(table, ())
        lone += lone_rows(table, key, *rows, both)
        sizes[table] = size(*(places(some, key) for some in rows))
    return Comparison(
        first=first.name,
        second=second.name,
        causes=tuple(causes(first.provenance, second.provenance)),
        only_first=tuple(name for name in trials[0] if name not in both),
        only_second=tuple(name for name in trials[1] if name not in both),
        changes=tuple(sorted(changes, key=lambda change: (change.quantity in MINOR, -rank(change)))),
        n_compared=n_compared,
        frames=tuple(other_frames(first, second)),
        lone=(*lone, *lone_curves(first.curves, second.curves)),
        sizes={**sizes, CURVES: size(first.curves, second.curves)},
    )


def _changes(first: Run, second: Run, tolerance: float) -> tuple[list[Change], int]:
    """Changes of all tables and curves, and how many values were compared."""
    changes, n_compared = curve_changes(first.curves, second.curves, tolerance)
    for table, key in KEYS.items():
        rows = first.tables.get(table, ()), second.tables.get(table, ())
        found, n = (
            window_changes(*rows, tolerance) if table == "windows" else table_changes(table, key, *rows, tolerance)
        )
        changes = [*changes, *found]
        n_compared += n
    thresholds = [run.provenance.get("settings", {}).get("quality", {}) for run in (first, second)]
    return [change for change in changes if not is_rounding(change, thresholds)], n_compared
