"""What the clauses on the methods ask of a study, and how numbers and lists are written in them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from limbtorque.report.methods.references import CITED
from limbtorque.study.chains import ChainModel
from limbtorque.study.settings import Settings, flattened
from limbtorque.tables.words import counted

Row = Mapping[str, Any]


@dataclass
class MethodsStudy:
    """The study as the clauses ask for it; references are noted as they are cited."""

    settings: Settings
    provenance: Mapping[str, Any]
    ledger: Sequence[Row]
    windows: Sequence[Row] = ()
    cited: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whole = flattened(self.settings.model_dump(mode="json"))
        self.done = [row for row in self.ledger if row["status"] != "failed"]

    def cite(self, *names: str) -> str:
        """References in brackets; they are noted for the list of references."""
        self.cited |= dict.fromkeys(names)
        return f"({'; '.join(CITED[name] for name in names)})"

    def row(self, trial: str) -> Mapping[str, Any]:
        """What the table of trials says of a trial."""
        found: Mapping[str, Any] = self.provenance.get("trials", {}).get(trial, {}).get("row", {})
        return found

    def value(self, trial: Row, option: str) -> Any:
        """Option of a trial: its own, else that of the study."""
        return self.row(str(trial["trial"])).get("options", {}).get(option, self.whole[option])

    def options(self, *names: str, of: Iterable[Row] | None = None) -> Counter[tuple[Any, ...]]:
        """Values of some options together, and how many trials have them."""
        rows = self.done if of is None else list(of)
        return Counter(tuple(_hashable(self.value(row, name)) for name in names) for row in rows)

    def clauses(self, *names: str, say: Callable[..., str], of: Iterable[Row] | None = None) -> str:
        """A clause for every combination of values, with the number of its trials where there are several.

        Values of which there is nothing to say (an option that is off) have an empty clause, which is left out.
        """
        return self.tell(say(*values) for values, count in self.options(*names, of=of).items() for _ in range(count))

    def tell(self, said: Iterable[str]) -> str:
        """Clauses of all trials in one: each once, with the number of its trials where there are several or some are empty."""
        found = Counter(said)
        if len(found) == 1:
            return next(iter(found))
        return "; ".join(f"{clause} ({counted(count, 'trial')})" for clause, count in found.most_common() if clause)

    def entries(self, trial: Row, option: str) -> dict[str, Any]:
        """Entries of an option that is a mapping, such as `muscles.weights`, of a trial."""
        own = self.row(str(trial["trial"])).get("options", {})
        start = f"{option}."
        found = {name: value for name, value in {**self.whole, **own}.items() if name.startswith(start)}
        return {name.removeprefix(start): value for name, value in found.items() if value is not None}

    def chain(self, name: str) -> ChainModel:
        """Chain of a name."""
        return self.settings.chain(name)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def used_sets(study: MethodsStudy) -> dict[str, list[str]]:
    """Marker sets of the analysed trials, with their chains."""
    only = next(iter(study.settings.marker_sets), "")
    used: dict[str, list[str]] = {}
    for row in study.done:
        chains = used.setdefault(str(study.row(str(row["trial"])).get("marker_set") or only), [])
        if row["chain"] not in chains:
            chains.append(str(row["chain"]))
    return used


def needed_landmarks(study: MethodsStudy, chains: Sequence[str]) -> list[str]:
    """Landmarks that chains need, from the joints, the end and the table of segment parameters that was used."""
    table = study.provenance.get("segment_table", {})
    names: dict[str, None] = {}
    for chain in chains:
        model = study.chain(chain)
        names |= dict.fromkeys((*(joint.landmark for joint in model.joints), model.end))
        for segment in model.segments:
            row = table.get(segment.row, {})
            names |= dict.fromkeys(row[end] for end in ("proximal", "distal") if end in row)
    return list(names)


def known_numbers(rows: Iterable[Row], name: str) -> list[float]:
    """Numbers of a column that are there and finite."""
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


def plain(name: str) -> str:
    """Name of a landmark in a sentence."""
    return f"the {name.replace('_', ' ')}"
