"""Columns of tables: name, unit, definition and sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "trial"), counted(2, "trial")
    ('1 trial', '2 trials')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def capital(text: str) -> str:
    """Text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def was(number: int) -> str:
    """Verb for a count of things: "was" or "were"."""
    return "was" if number == 1 else "were"


def listed(texts: Sequence[str]) -> str:
    """Texts as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


MECHANICAL = "counter-clockwise positive about the plane's normal, proximal segment acting on distal segment"
ON_DISTAL = "counter-clockwise positive about the plane's normal, on the distal segments"
ANGLE_SIGN = (
    "counter-clockwise positive about the plane's normal; for the anatomical direction see positive_is in the summary"
)
IN_PLANE = "x forward, y up (in a horizontal plane: x forward, y to the left)"
FLEXION = "flexion positive (flexion_name of the joint in the chain's settings), on both sides and in every plane"
INTO_SEGMENTS = "positive: energy into the segments"
SIZE = "a size, never negative"
OF_UNIT = "as column unit"
FIRST_ORDER = "to first order, or of the samples (uncertainty.samples)"


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
    """

    name: str
    unit: str
    definition: str
    sign: str = ""
    kind: type = float


TRIAL_COLUMNS = (
    Column("trial", "", "name of the trial", kind=str),
    Column("session", "", "session of the trial", kind=str),
    Column("subject", "", "subject", kind=str),
    Column("condition", "", "condition", kind=str),
    Column("chain", "", "chain", kind=str),
    Column("side", "", "side of the body", kind=str),
)
GROUP_COLUMNS = (TRIAL_COLUMNS[4], TRIAL_COLUMNS[3], TRIAL_COLUMNS[5])
TORQUE_STATUS = Column(
    "torque_status",
    "",
    "ok, caution, rejected (do not use) or failed: status of kinematics and torques; of the joint where the row has one, else of "
    "the worst joint",
    kind=str,
)
MUSCLE_STATUS = Column(
    "muscle_status",
    "",
    "ok, caution, rejected (do not use; as any joint's torques) or failed: status of the muscle forces; none where muscles are not enabled",
    kind=str,
)
SPREAD_OVER = Column(
    "spread_over",
    "",
    "unit of mean and spread: subjects, each by the mean of its trials; or trials, all alike (ensembles.spread_over, and "
    "in a study of one subject)",
    kind=str,
)
TOO_FEW = "; empty where fewer than ensembles.min_units of these have a value"
N_REJECTED = Column("n_rejected", "1", "number of trials left out because their torques were rejected", kind=int)
FRAME_COLUMNS = (
    Column("frame", "1", "frame number of the original capture, from 1", kind=int),
    Column("time_s", "s", "time from the first frame of the recording"),
    Column(
        "edge",
        "1",
        "1 where edge effects of the filter or the differences make the frame less certain; left out of the summary",
        kind=int,
    ),
    Column(
        "foreshortened",
        "1",
        "1 where a segment points so far out of the plane that its orientation is undefined (torques are empty)",
        kind=int,
    ),
)
EXTERNAL_STATUS = Column(
    "external_status",
    "1",
    "0 no external load; 1 external load known; 2 ground contact, or up to 0.06 s after it, with unknown force "
    "(torques are empty)",
    kind=int,
)


def xy_columns(name: str, suffix: str, unit: str, definition: str, sign: str = IN_PLANE) -> list[Column]:
    """Columns `<name>_x_<suffix>` and `<name>_y_<suffix>` of a vector in the plane."""
    return [Column(f"{name}_{axis}_{suffix}", unit, definition, sign) for axis in "xy"]
