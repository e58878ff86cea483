"""A column: its name, unit, definition and sign; the columns and signs that several tables share."""

from __future__ import annotations

from dataclasses import dataclass

MECHANICAL = "counter-clockwise positive about the plane's normal, proximal segment acting on distal segment"
ON_DISTAL = "counter-clockwise positive about the plane's normal: what turns the distal segments that way"
ANGLE_SIGN = "counter-clockwise positive about the plane's normal; column positive_is of the summary says what that is to the body"
IN_PLANE = "x forward, y up (in a horizontal plane: x forward, y to the left)"


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
        What it is.
    sign : str
        What positive means.
    kind : type
        float, int or str.
    """

    name: str
    unit: str
    definition: str
    sign: str = ""
    kind: type = float


FRAME_COLUMNS = (
    Column("frame", "1", "frame number of the original capture, from 1", kind=int),
    Column("time_s", "s", "time from the first frame of the recording"),
    Column(
        "edge",
        "1",
        "1 where the frame is within reach of an end of the filter or the differences: less certain; left out of the summary",
        kind=int,
    ),
    Column(
        "foreshortened",
        "1",
        "1 where a segment points so far out of the plane that its orientation in it means nothing (torques are empty)",
        kind=int,
    ),
)
EXTERNAL_STATUS = Column(
    "external_status",
    "1",
    "0 no external load, 1 external load known, 2 the foot is on the ground, or within plates.min_contact_s of it, and the force is not known "
    "(torques are empty)",
    kind=int,
)
TRIAL_COLUMNS = (
    Column("trial", "", "name of the trial", kind=str),
    Column("session", "", "session of the trial", kind=str),
    Column("subject", "", "subject", kind=str),
    Column("condition", "", "condition", kind=str),
    Column("chain", "", "chain", kind=str),
    Column("side", "", "side of the body", kind=str),
)
FLEXION = "flexion positive: what the chain's settings call flexion of the joint (flexion_name), on both sides and in every plane"
GROUP_COLUMNS = (TRIAL_COLUMNS[4], TRIAL_COLUMNS[3], TRIAL_COLUMNS[5])
OF_UNIT = "as column unit"
