"""Results of a run, read for a comparison."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from limbtorque.errors import LimbtorqueError
from limbtorque.tables.csv_rows import read_rows, unquoted_rows

KEYS = {  # columns that name a row
    "ledger": ("trial",),
    "summary": ("trial", "window", "joint", "term"),
    "muscle_summary": ("trial", "window", "muscle"),
    "windows": ("trial",),
    "summary_by_condition": ("chain", "condition", "side", "statistic", "window", "joint", "term"),
}
CURVES = "ensembles"
OF_CURVES = ("windows", CURVES)  # not there where the curves were not asked for
CURVE_KEY = ("chain", "condition", "side", "quantity")
GROUP = 3  # how many names of a condition's key identify its trials
Row = Mapping[str, str]


@dataclass(frozen=True)
class Curve:
    """Mean of a quantity over 0 to 100 %.

    Attributes
    ----------
    unit : str
        Its unit.
    mean : dict of str to float
        Mean by percent as printed; NaN where there is none.
    n_trials : int
        Most trials at any percent.
    """

    unit: str
    mean: Mapping[str, float]
    n_trials: int


@dataclass(frozen=True)
class Run:
    """Results of one run.

    Attributes
    ----------
    name : str
        Name of the run in a report.
    provenance : dict
        Its ``provenance.json``.
    tables : dict of str to list of dict
        Rows of the tables of `KEYS` as text, by name.
    curves : dict of tuple to Curve
        Mean curves of ``ensembles.csv`` by chain, condition, side and quantity.
    """

    name: str
    provenance: Mapping[str, Any]
    tables: Mapping[str, Sequence[Row]]
    curves: Mapping[tuple[str, ...], Curve] = field(default_factory=dict)


def read_run(folder: Path, *, tables: Sequence[str] = (*KEYS, CURVES)) -> Run:
    """Read the results of a run.

    Parameters
    ----------
    folder : Path
        A folder ``results``, or the study it is in.
    tables : sequence of str, optional
        Tables to read.

    Raises
    ------
    LimbtorqueError
        The folder has no results, or they are not readable.
    """
    place = folder if (folder / "provenance.json").is_file() else folder / "results"
    try:
        provenance = json.loads((place / "provenance.json").read_text(encoding="utf-8"))
        found: dict[str, Sequence[Row]] = {}
        curves: dict[tuple[str, ...], Curve] = {}
        no_curves = not provenance["settings"].get("ensembles", {}).get("enabled", True)
        for name in tables:
            if no_curves and name in OF_CURVES:
                found[name] = []
                continue
            path = place / f"{name}.csv"
            if name != CURVES:
                found[name] = read_rows(path)
                continue
            with path.open(encoding="utf-8", newline="") as file:
                curves = _curves(unquoted_rows(csv.DictReader(file)))
    except FileNotFoundError as error:
        raise LimbtorqueError(
            f"{folder}: {Path(error.filename).name} is not there; give a folder 'results' of a finished run, or its study"
        ) from None
    except (ValueError, KeyError, csv.Error) as error:
        raise LimbtorqueError(f"{folder}: the results are not readable ({error}); run the study again") from None
    return Run(str(folder), provenance, found, curves)


def _curves(rows: Iterable[Row]) -> dict[tuple[str, ...], Curve]:
    """Curves of the rows of ``ensembles.csv``, read one by one."""
    means: dict[tuple[str, ...], dict[str, float]] = {}
    about: dict[tuple[str, ...], tuple[str, int]] = {}
    for row in rows:
        key = tuple(row[name] for name in CURVE_KEY)
        mean = number(row["mean"])
        means.setdefault(key, {})[row["percent"]] = math.nan if mean is None else mean
        about[key] = (row["unit"], max(int(row["n_trials"]), about.get(key, ("", 0))[1]))
    return {key: Curve(about[key][0], mean, about[key][1]) for key, mean in means.items()}


def number(text: str) -> float | None:
    """Finite number of a cell; None where there is none."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def short_number(text: str) -> str:
    """A number with few digits; other text as it is, - for none."""
    return f"{value:.4g}" if (value := number(text)) is not None else text or "-"


def joined(names: Iterable[str]) -> str:
    """Names in one, without the empty ones."""
    return " ".join(name for name in names if name)
