"""A study as the methods describe it: options, trials, counts, references."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from limbtorque.figures.templates import prose
from limbtorque.report.methods.references import CITED
from limbtorque.study.chains import ChainModel
from limbtorque.study.settings import Settings, flattened
from limbtorque.tables.words import counted

Row = Mapping[str, Any]


@dataclass
class MethodsStudy:
    """Settings and tables of a study, and the references cited so far.

    Attributes
    ----------
    settings : Settings
        Settings of the study.
    provenance : mapping
        Content of ``provenance.json``.
    ledger, windows : sequence of mapping
        Rows of ``ledger.csv`` and ``windows.csv``.
    cited : dict of str to None
        Names of the references cited so far.
    """

    settings: Settings
    provenance: Mapping[str, Any]
    ledger: Sequence[Row]
    windows: Sequence[Row] = ()
    cited: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whole = flattened(self.settings.model_dump(mode="json"))
        self.done = [row for row in self.ledger if row["status"] != "failed"]

    def cite(self, *names: str) -> str:
        """Cite references in brackets, and add them to the list of references."""
        self.cited |= dict.fromkeys(names)
        return f"({'; '.join(CITED[name] for name in names)})"

    def row(self, trial: Row) -> Row:
        """Row of a trial in the table of trials."""
        found: Row = self.provenance.get("trials", {}).get(str(trial["trial"]), {}).get("row", {})
        return found

    def value(self, trial: Row, option: str) -> Any:
        """Option of a trial: its own, else that of the study."""
        return self.row(trial).get("options", {}).get(option, self.whole[option])

    def options(self, *names: str, of: Iterable[Row] | None = None) -> Counter[tuple[Any, ...]]:
        """Number of trials with each combination of values of some options."""
        rows = self.done if of is None else of
        return Counter(tuple(_hashable(self.value(row, name)) for name in names) for row in rows)

    def each(self, *names: str, of: Iterable[Row] | None = None, caller: Callable[..., str]) -> str:
        """Clause of each combination of values, with counts where the trials differ.

        Parameters
        ----------
        *names : str
            Options, such as `plane.kind`.
        of : iterable of mapping, optional
            Ledger rows of the trials; all analysed ones where not given.
        caller : callable
            Clause for the values of these options: the body of a `{% call %}` block of a template. A combination of which
            there is nothing to say (an option that is off) has an empty clause, which is left out.
        """
        clauses: Counter[str] = Counter()
        for values, count in self.options(*names, of=of).items():
            clauses[prose(caller(*values))] += count
        return with_counts(clauses)

    def chain(self, trial: Row) -> ChainModel:
        """Chain of a trial."""
        return self.settings.chain(str(trial["chain"]))


def with_counts(clauses: Counter[str]) -> str:
    """Join clauses, each with the number of its trials where the trials differ.

    Examples
    --------
    >>> with_counts(Counter({"filled": 2, "": 1})), with_counts(Counter({"filled": 3}))
    ('filled (2 trials)', 'filled')
    """
    if len(clauses) == 1:
        return next(iter(clauses))
    return "; ".join(f"{clause} ({counted(count, 'trial')})" for clause, count in clauses.most_common() if clause)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def known_numbers(rows: Iterable[Row], name: str) -> list[float]:
    """Finite numbers of a column; empty cells are left out."""
    found = []
    for row in rows:
        try:
            number = float(row.get(name, math.nan))
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            found.append(number)
    return found


def span(rows: Iterable[Row], name: str, unit: str) -> str:
    """Range and median of a column, with its unit."""
    numbers = known_numbers(rows, name)
    if not numbers:
        return "not known"
    if f"{min(numbers):.3g}" == f"{max(numbers):.3g}":
        return f"{numbers[0]:.3g} {unit}"
    return f"{min(numbers):.3g} to {max(numbers):.3g} {unit}, median {median(numbers):.3g} {unit}"
