"""Results of a run, read for a comparison."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from limbtorque.errors import LimbtorqueError
from limbtorque.tables.files import read_trials, unquoted

CURVES = "ensembles"
CONTRASTS = "contrasts"
KEYS = {  # columns that name a row
    CONTRASTS: ("contrast", "outcome", "joint", "term"),
    "ledger": ("trial",),
    "summary": ("trial", "window", "joint", "term"),
    "muscle_summary": ("trial", "window", "muscle"),
    "windows": ("trial",),
    "summary_by_condition": ("chain", "condition", "side", "statistic", "window", "joint", "term"),
    CURVES: ("chain", "condition", "side", "curve"),  # a row for each percent of a curve, in the file of a "quantity"
}
FURTHER_KEYS = {  # of the other tables, by the names of their files
    "results": ("trial", "joint"),
    "metrics": ("trial", "joint"),
    "contact_summary": ("trial", "window", "joint"),
    "compared_with_file": ("trial", "joint", "curve"),
    "contrast_curves": ("contrast", "outcome", "joint", "term", "percent"),
    "compared_with_reference": ("subject", "chain", "condition", "side", "joint", "curve", "term", "statistic"),
    "emg_summary": ("trial", "window", "muscle"),
    "emg_by_muscle": ("chain", "window", "muscle"),
    "emg_co_contraction": ("trial", "window", "first", "second"),
}
ALL_KEYS = {**KEYS, **FURTHER_KEYS}
OF_CURVES = ("windows", CURVES)  # not there where the curves were not asked for


@dataclass(frozen=True)
class Run:
    """Results of one run.

    Attributes
    ----------
    name : str
        Name of the run in a report.
    provenance : dict
        Its ``provenance.json``.
    tables : dict of str to pandas.DataFrame
        Tables of `KEYS`, or also of `FURTHER_KEYS`, as text, by name.
    """

    name: str
    provenance: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]


def read_run(folder: Path, *, every: bool = False) -> Run:
    """Read the results of a run.

    Parameters
    ----------
    folder : Path
        A folder ``results``, or the study it is in.
    every : bool, optional
        Read every table that the run has.

    Raises
    ------
    LimbtorqueError
        The folder has no results, or they are not readable.
    """
    place = folder if (folder / "provenance.json").is_file() else folder / "results"
    try:
        provenance = json.loads((place / "provenance.json").read_text(encoding="utf-8"))
        settings = provenance["settings"]
        absent = () if settings.get("ensembles", {}).get("enabled", True) else OF_CURVES
        absent = absent if settings.get(CONTRASTS, {}).get("declared") else (*absent, CONTRASTS)
        absent = (*absent, *(name for name in FURTHER_KEYS if not (place / f"{name}.csv").is_file()))
        frames = {
            name: pd.DataFrame(columns=[*key]) if name in absent else _table(place, name)
            for name, key in (ALL_KEYS if every else KEYS).items()
        }
        for name, frame in frames.items():
            frame[[*ALL_KEYS[name]]]  # raises where one is not there
    except FileNotFoundError as error:
        raise LimbtorqueError(
            f"{folder}: {Path(error.filename).name} does not exist; give the folder 'results' of a finished run, or its study"
        ) from None
    except (ValueError, KeyError) as error:
        raise LimbtorqueError(f"{folder}: the results are not readable ({error}); run the study again") from None
    return Run(str(folder), provenance, frames)


def _table(place: Path, name: str) -> pd.DataFrame:
    """Results table as text, joined with metrics, notes or bands."""
    if name == "ledger":
        return pd.DataFrame(read_trials(place))
    frame = pd.read_csv(place / f"{name}.csv", dtype=str, keep_default_na=False).map(unquoted)
    if name == "summary":
        frame = frame.merge(_table(place, "summary_bands"), on=[*KEYS[name]], how="left")
    return frame.rename(columns={"quantity": "curve"})


def short_number(text: str) -> str:
    """Number with few digits; other text unchanged, - if empty."""
    try:
        value = float(text)
    except ValueError:
        return text or "-"
    return f"{value:.4g}" if math.isfinite(value) else text
