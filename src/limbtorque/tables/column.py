"""Columns of tables: name, unit, definition and sign."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "trial"), counted(2, "trial")
    ('1 trial', '2 trials')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def capital(text: str) -> str:
    """Text with an initial capital."""
    return text[:1].upper() + text[1:]


def was(number: int) -> str:
    """Verb for a count: "was" or "were"."""
    return "was" if number == 1 else "were"


def listed(texts: Sequence[str]) -> str:
    """Texts as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def without_unit(name: str, unit: str) -> str:
    """Name of a quantity in words, without its unit.

    >>> without_unit("knee_torque_nm_kg", "N m/kg")
    'knee torque'
    """
    return name.removesuffix(f"_{unit.replace(' ', '').replace('/', '_').lower()}").replace("_", " ")


MECHANICAL = "counter-clockwise positive about the plane's normal, proximal segment acting on distal segment"
ON_DISTAL = "counter-clockwise positive about the plane's normal, on the distal segments"
ANGLE_SIGN = "counter-clockwise positive about the plane's normal; tables of the study are flexion positive"
IN_PLANE = "x forward, y up (in a horizontal plane: x forward, y to the left)"
FLEXION = "flexion positive (flexion_name of the joint in the chain's settings), on both sides and in every plane"
INTO_SEGMENTS = "positive: energy into the segments"
SIZE = "a size, never negative"
OF_UNIT = "as column unit"
FIRST_ORDER = "to first order, or from samples (uncertainty.samples)"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Name; ends in the unit where there is one.
    unit : str
        Unit, ``"1"`` for a pure number, empty for text.
    definition : str
        Definition of the quantity.
    sign : str
        Meaning of a positive value; empty where there is nothing to say.
    kind : type
        float, int or str.
    source : str
        Statistic that it is made of: over body mass where its own unit is; empty where the value comes with its name.
    attribute : str
        Attribute that is its value, of the object that a row describes (`row_of`); empty where the value comes with its name.
    """

    name: str
    unit: str
    definition: str
    sign: str = ""
    kind: type = float
    source: str = ""
    attribute: str = ""

    def of(self, statistics: Mapping[str, float], mass_kg: float) -> float:
        """Value of a column with a source; NaN where the statistic is not known."""
        return statistics.get(self.source, math.nan) / (mass_kg if self.unit.endswith("/kg") else 1.0)


UNITS = {  # by the end of a column's name; all others are pure numbers
    "m": "m",
    "m_s": "m/s",
    "m_s2": "m/s^2",
    "rad": "rad",
    "rad_s": "rad/s",
    "rad_s2": "rad/s^2",
    "deg": "deg",
    "deg_s": "deg/s",
    "s": "s",
    "kg": "kg",
    "nm_kg": "N m/kg",
    "w_kg": "W/kg",
    "hz": "Hz",
    "n": "N",
    "ns": "N s",
    "nm": "N m",
    "nms": "N m s",
    "w": "W",
    "j": "J",
    "uv": "uV",
    "percent": "%",
    "steps_min": "steps/min",
    "multiplier": "1/(N m)",
}
DECIMALS = {  # of numbers by frame, by unit; limits of torques are a hundredth of them or more
    "m": 7,
    "m/s": 6,
    "m/s^2": 6,
    "rad": 7,
    "rad/s": 6,
    "rad/s^2": 6,
    "s": 6,
    "N": 4,
    "N m": 5,
    "W": 5,
    "1": 8,
    "1/(N m)": 9,
}
KINDS = {"": (float, None), "count": (int, "1"), "text": (str, ""), "value": (float, OF_UNIT)}


@functools.lru_cache(maxsize=4096)
def unit_of(name: str) -> str:
    """Unit of a quantity from the end of its name; 1 for a pure number."""
    parts = name.split("_")
    return UNITS.get("_".join(parts[-2:])) or UNITS.get(parts[-1], "1")


def columns(entries: Mapping[str, str | tuple[str, str]], sign: str = "") -> tuple[Column, ...]:
    """Columns from their names and definitions; the unit follows from the name.

    Parameters
    ----------
    entries : mapping of str to str or (str, str)
        Name -> definition, or definition and sign. A ``*`` in a name stands for x and y of a vector in the plane. After the name stand
        ``:count`` for whole numbers, ``:text``, and ``:value`` for numbers whose unit is in the column unit.
    sign : str, optional
        Sign of the entries without one.

    Examples
    --------
    >>> [(column.name, column.unit) for column in columns({"knee_reaction_*_n": "force", "n_frames:count": "frames"})]
    [('knee_reaction_x_n', 'N'), ('knee_reaction_y_n', 'N'), ('n_frames', '1')]
    """
    made = []
    for key, entry in entries.items():
        pattern, _, word = key.partition(":")
        kind, unit = KINDS[word]
        axes = "xy" if "*" in pattern else " "
        definition, sense = entry if isinstance(entry, tuple) else (entry, IN_PLANE if axes == "xy" else sign)
        for name in (pattern.replace("*", axis) for axis in axes):
            made.append(Column(name, unit_of(name) if unit is None else unit, definition, sense, kind))
    return tuple(made)


def attribute_columns(entries: Mapping[str, tuple[str, str]]) -> tuple[Column, ...]:
    """Columns whose values are attributes, from their names.

    Parameters
    ----------
    entries : mapping of str to (str, str)
        Name, as for `columns` -> attribute and definition.
    """
    made = columns({name: definition for name, (_, definition) in entries.items()})
    attributes = [attribute for attribute, _ in entries.values()]
    return tuple(replace(column, attribute=name) for column, name in zip(made, attributes, strict=True))


def row_of(described: Iterable[Column], thing: object) -> dict[str, Any]:
    """Row of the columns that are attributes of an object.

    The texts of a tuple are separated by spaces.

    Parameters
    ----------
    described : iterable of Column
        The columns; those without an attribute are left out.
    thing : object
        The object.

    Examples
    --------
    >>> row_of(attribute_columns({"numerator_count:count": ("numerator", "upper number")}), 3)
    {'numerator_count': 3}
    """
    values = {column.name: attrgetter(column.attribute)(thing) for column in described if column.attribute}
    return {name: " ".join(value) if isinstance(value, tuple) else value for name, value in values.items()}


def empty_row(missing: Iterable[Column]) -> dict[str, Any]:
    """Row without values: NaN, and empty texts.

    >>> empty_row(columns({"peak_nm": "peak", "joint:text": "joint"}))
    {'peak_nm': nan, 'joint': ''}
    """
    return {column.name: "" if column.kind is str else math.nan for column in missing}


TRIAL_COLUMNS = attribute_columns(  # attributes of the trial
    {
        "trial:text": ("name", "name of the trial"),
        "session:text": ("session", "session of the trial"),
        "subject:text": ("subject.name", "subject"),
        "condition:text": ("condition", "condition"),
        "chain:text": ("chain", "chain"),
        "side:text": ("side", "side of the body"),
    }
)
GROUP_COLUMNS = (TRIAL_COLUMNS[4], TRIAL_COLUMNS[3], TRIAL_COLUMNS[5])
TORQUE_STATUS, MUSCLE_STATUS = attribute_columns(  # attributes of the verdict
    {
        "torque_status:text": (
            "torques",
            "ok, caution, rejected (do not use) or failed: status of kinematics and torques; of the row's joint, if any, or else of "
            "the worst joint",
        ),
        "muscle_status:text": (
            "muscles",
            "ok, caution, rejected (do not use; also where the torques of a joint are rejected) or failed: status of the muscle forces; none "
            "where muscles are not enabled",
        ),
    }
)
SPREAD_OVER, N_REJECTED, EXTERNAL_STATUS = columns(
    {
        "spread_over:text": "unit of mean and spread: subjects, each with the mean of its trials; or trials, all weighted equally "
        "(ensembles.spread_over, and in a study of one subject)",
        "n_rejected:count": "number of trials left out because their torques were rejected",
        "external_status:count": "0 no external load; 1 external load known; 2 ground contact, or up to 0.06 s after it, with unknown "
        "force (torques are empty)",
    }
)
TOO_FEW = "; empty where fewer than ensembles.min_units of these have a value"
FRAME_COLUMNS = columns(
    {
        "frame:count": "frame number of the original capture, from 1",
        "time_s": "time from the first frame of the recording",
        "edge:count": "1 where edge effects of the filter or the differences make the frame less certain; left out of the summary",
        "foreshortened:count": "1 where a segment points so far out of the plane that its orientation is undefined (torques are empty)",
    }
)
