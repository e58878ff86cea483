"""Table of subjects: one row for each person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationInfo, create_model, field_validator

from limbtorque.chain.segments import MEASURED
from limbtorque.errors import did_you_mean
from limbtorque.study.faults import alike, checked, limits_of, range_text, unit_of
from limbtorque.study.options.base import number_of, option
from limbtorque.study.table_file import Row, few, table_rows, unknown_column

REQUIRED_COLUMNS = ("subject", "mass_kg", "height_m", "sex")
OTHER_UNITS = (  # of numbers out of range: lowest and highest, and the unit they are probably in
    ("mass_kg", 1000.0, 400000.0, "grams"),
    ("height_m", 30.0, 280.0, "centimetres"),
    ("height_m", 300.0, 2800.0, "millimetres"),
    ("leg_length_m", 10.0, 160.0, "centimetres"),
    ("leg_length_m", 161.0, 1600.0, "millimetres"),
    ("pelvis_width_m", 5.0, 49.0, "centimetres"),
    ("pelvis_width_m", 50.0, 490.0, "millimetres"),
)
MASS_KG = (1.0, 400.0)  # least and largest body mass
MOST_COVARIATES = 100  # with more columns none is a covariate: another table
PELVIS_MEASURES = ("leg_length_m", "pelvis_width_m")  # for the hip's centre
UNITS = {"kg": "kg", "m": "m", "kgm2": "kg m^2"}  # of segment parameters, by the end of their names


@dataclass(frozen=True)
class Subject:
    """One subject.

    Attributes
    ----------
    name : str
        Name, as in the table of trials.
    mass_kg : float
        Body mass, kg.
    height_m : float
        Body height, m; NaN where not given.
    sex : str
        ``"f"``, ``"m"`` or empty.
    measured : dict of str to float
        Segment parameters of this subject, e.g. ``{"forearm_mass_kg": 1.2}``, which take the place of the table's, and
        `PELVIS_MEASURES`.
    note : str
        Remark, copied to the ledger.
    group : str
        Group for contrasts, or empty.
    affected_side, dominant_side : str
        ``"left"``, ``"right"`` or empty.
    covariates : dict of str to float
        Further columns of numbers; NaN where empty.
    """

    name: str
    mass_kg: float
    height_m: float
    sex: str
    measured: dict[str, float]
    note: str = ""
    group: str = ""
    affected_side: str = ""
    dominant_side: str = ""
    covariates: dict[str, float] = field(default_factory=dict)


class _Columns(Row):
    """Row of the table of subjects."""

    subject: str = option(..., allowed="a name", min_length=1)
    """Name of the subject, to which the table of trials refers."""
    mass_kg: float = option(..., "Body mass; segment masses are fractions of it.", "kg", ge=MASS_KG[0], le=MASS_KG[1])
    height_m: float | None = option(None, "Body height; may be empty.", "m", ge=0.3, le=2.8)
    sex: Literal["f", "m"] | None = option(None, "Sex: f, m or empty.", allowed="f, m or nothing")
    leg_length_m: float | None = option(None, unit="m", ge=0.1, le=1.6)
    """Leg length, from the anterior superior iliac spine to the medial malleolus; for hip_centre: davis_1991."""
    pelvis_width_m: float | None = option(None, unit="m", ge=0.05, le=0.49)
    """Measured distance between the anterior superior iliac spines; that of the markers where empty."""
    note: str = option("", "Remark, copied to the ledger.")
    group: str = option("", "Group of the subject, for contrasts between groups.")
    affected_side: Literal["left", "right"] | None = option(None, "Affected side.", allowed="left, right or nothing")
    dominant_side: Literal["left", "right"] | None = option(None, "Dominant side.", allowed="left, right or nothing")

    @field_validator("mass_kg", "height_m", *PELVIS_MEASURES, mode="before")
    @classmethod
    def _in_its_unit(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields[str(info.field_name)]
        for name, low, high, unit in OTHER_UNITS:
            if name == info.field_name and low <= number_of(value) <= high:
                raise ValueError(f"expected {range_text(limits_of(field), unit_of(field))}; that looks like {unit}")
        return value

    @field_validator("sex", mode="before")
    @classmethod
    def _in_small_letters(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value


def _measured(name: str) -> Any:
    unit = UNITS[name.rpartition("_")[2]]
    limit: dict[str, Any] = {"ge": 0.0} if name.endswith("_com_m") else {"gt": 0.0}
    return option(None, "Measured segment parameter; replaces that of the table.", unit, **limit)


SubjectRow = create_model(
    "SubjectRow", __base__=_Columns, **{name: (float | None, _measured(name)) for name in MEASURED}
)  # type: ignore[call-overload]


def read_subjects(path: Path, *, table: str, faults: list[str]) -> tuple[dict[str, Subject], set[str]]:
    """Read the table of subjects.

    Parameters
    ----------
    path : Path
        The table.
    table : str
        Its name in messages.
    faults : list of str
        A sentence for every fault is added here.

    Returns
    -------
    subjects : dict of str to Subject
        Subjects by name, of the rows without a fault.
    names : set of str
        Names in all rows; empty where a row could not be read, so that no trial is said to lack its subject.
    """
    n_faults = len(faults)
    rows = table_rows(path, REQUIRED_COLUMNS, faults, name=table)
    if not rows and len(faults) == n_faults:
        faults.append(f"{table}: the table has no subjects")
    unread = len(faults) > n_faults
    known = list(SubjectRow.model_fields)
    others = [column for column in (rows[0][1] if rows else ()) if column not in known]
    numbers = others if len(others) <= MOST_COVARIATES else []
    covariates = [column for column in numbers if _is_covariate(column, [cells[column] for _, cells in rows], known)]
    unknown = [column for column in others if column not in covariates]
    faults += few((unknown_column(table, column, known) for column in unknown), len(unknown), table)
    subjects: dict[str, Subject] = {}
    names: set[str] = set()
    for line, cells in rows:
        name = cells["subject"]
        where = f"{table} line {line}" + (f" (subject {name})" if name else "")
        row = checked(SubjectRow, SubjectRow.cells(cells), where=where, faults=faults)
        if name in names:
            faults.append(f"{where}: subject {name!r} occurs twice; use one row for each subject")
        elif row:
            stated = row.model_dump()
            measured = {key: stated[key] for key in (*MEASURED, *PELVIS_MEASURES) if stated[key] is not None}
            height_m = float("nan") if stated["height_m"] is None else stated["height_m"]
            subjects[name] = Subject(
                *(name, stated["mass_kg"], height_m, stated["sex"] or "", measured, stated["note"], stated["group"]),
                affected_side=stated["affected_side"] or "",
                dominant_side=stated["dominant_side"] or "",
                covariates={column: number_of(cells[column]) for column in covariates},
            )
        names.add(name)
    faults += alike("subject", (cells["subject"] for _, cells in rows), table)
    return subjects, set() if unread else names


def _is_covariate(column: str, cells: Sequence[str], known: Sequence[str]) -> bool:
    """Return True for numbers, or nothing, with a plain name unlike known ones."""
    numbers = all(math.isfinite(number_of(cell)) for cell in cells if cell)
    return numbers and column.isidentifier() and not did_you_mean(column, known)
