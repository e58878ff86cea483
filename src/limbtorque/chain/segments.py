"""Published tables of body segment parameters, with the landmarks of each length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from limbtorque.errors import SegmentError


@dataclass(frozen=True)
class Row:
    """Parameters of one segment as shares of body mass and of its length.

    Attributes
    ----------
    proximal, distal : str
        Landmarks between which the length is measured; no other length is accepted.
    mass : float
        Segment mass over body mass.
    com : float
        Distance of the centre of mass from the proximal landmark over length.
    gyration : float
        Radius of gyration about the centre of mass, for rotation in the sagittal plane, over length.
    com_from : {"joint", "landmark"}
        Where that distance begins: at the segment's proximal joint, for landmarks that stand for joints, or at the proximal
        landmark; the point on the line between the landmarks is then projected on the line between the joints.
    """

    proximal: str
    distal: str
    mass: float
    com: float
    gyration: float
    com_from: Literal["joint", "landmark"] = "joint"


# Dempster (1955), cited by Miller and Nelson (1973), as printed in Winter (2009), Biomechanics and Motor Control of
# Human Movement, 4th ed., Table 4.1. Dempster's own percentages of 1955 differ (arm 2.65, forearm 1.55, thigh 9.65 ...).
# Only the columns mass, proximal centre of mass and radius of gyration about it are used: the table's other columns
# do not all agree with these by the parallel-axis theorem.
DEMPSTER_WINTER = {
    "hand": Row("wrist_axis", "knuckle_2_middle_finger", 0.006, 0.506, 0.297),
    "forearm": Row("elbow_axis", "ulnar_styloid", 0.016, 0.430, 0.303),
    "upper_arm": Row("glenohumeral_axis", "elbow_axis", 0.028, 0.436, 0.322),
    "forearm_and_hand": Row("elbow_axis", "ulnar_styloid", 0.022, 0.682, 0.468),
    "total_arm": Row("glenohumeral_axis", "ulnar_styloid", 0.050, 0.530, 0.368),
    "foot": Row("lateral_malleolus", "head_of_metatarsal_2", 0.0145, 0.500, 0.475),
    "shank": Row("femoral_condyles", "medial_malleolus", 0.0465, 0.433, 0.302),
    "thigh": Row("greater_trochanter", "femoral_condyles", 0.100, 0.433, 0.323),
    "foot_and_shank": Row("femoral_condyles", "medial_malleolus", 0.061, 0.606, 0.416),
    "total_leg": Row("greater_trochanter", "medial_malleolus", 0.161, 0.447, 0.326),
}

# De Leva (1996), Journal of Biomechanics 29, 1223-1230, Table 4: joint centres (the rows to the ankle's, and to the third
# metacarpal's head, where the table has several). Radii of gyration are those about the transverse axis.
_DE_LEVA_ENDS = {
    "upper_arm": ("glenohumeral_axis", "elbow_axis"),
    "forearm": ("elbow_axis", "wrist_axis"),
    "hand": ("wrist_axis", "head_of_metacarpal_3"),
    "thigh": ("hip_axis", "knee_axis"),
    "shank": ("knee_axis", "ankle_axis"),
    "foot": ("heel", "toe_tip"),
}
_DE_LEVA = {
    "f": {
        "upper_arm": (0.0255, 0.5754, 0.260),
        "forearm": (0.0138, 0.4559, 0.257),
        "hand": (0.0056, 0.7474, 0.454),
        "thigh": (0.1478, 0.3612, 0.364),
        "shank": (0.0481, 0.4352, 0.263),
        "foot": (0.0129, 0.4014, 0.279),
    },
    "m": {
        "upper_arm": (0.0271, 0.5772, 0.269),
        "forearm": (0.0162, 0.4574, 0.265),
        "hand": (0.0061, 0.7900, 0.513),
        "thigh": (0.1416, 0.4095, 0.329),
        "shank": (0.0433, 0.4395, 0.246),
        "foot": (0.0137, 0.4415, 0.245),
    },
}
# Zatsiorsky, Seluyanov and Chugunova (1990), in Contemporary Problems of Biomechanics, CRC Press, 272-291; men also in
# Zatsiorsky (2002), Kinetics of Human Motion. Bony landmarks. The upper arm is left out: its radii of gyration are shares
# of a length between no two of the published landmarks.
_ZATSIORSKY_ENDS = {
    "forearm": ("radiale", "stylion"),
    "hand": ("stylion", "tip_of_middle_finger"),
    "thigh": ("anterior_superior_iliac_spine", "tibiale"),
    "shank": ("tibiale", "sphyrion"),
    "foot": ("heel", "toe_tip"),
}
_ZATSIORSKY = {
    "f": {
        "forearm": (0.0138, 0.4258, 0.275),
        "hand": (0.0056, 0.3502, 0.206),
        "thigh": (0.1478, 0.4608, 0.270),
        "shank": (0.0481, 0.4030, 0.293),
        "foot": (0.0129, 0.4014, 0.279),
    },
    "m": {
        "forearm": (0.0162, 0.4274, 0.284),
        "hand": (0.0061, 0.3691, 0.233),
        "thigh": (0.1416, 0.4549, 0.267),
        "shank": (0.0433, 0.4047, 0.275),
        "foot": (0.0137, 0.4415, 0.245),
    },
}


def _by_sex(
    ends: Mapping[str, tuple[str, str]], shares: Mapping[str, Mapping[str, tuple[float, float, float]]]
) -> dict[str, dict[str, Row]]:
    return {sex: {name: _row(*ends[name], *each) for name, each in rows.items()} for sex, rows in shares.items()}


def _row(proximal: str, distal: str, mass: float, com: float, gyration: float) -> Row:
    at_joint = proximal.endswith("_axis")  # landmarks that are joint centres
    return Row(proximal, distal, mass, com, gyration, "joint" if at_joint else "landmark")


DE_LEVA = _by_sex(_DE_LEVA_ENDS, _DE_LEVA)
ZATSIORSKY = _by_sex(_ZATSIORSKY_ENDS, _ZATSIORSKY)
TABLES: dict[str, dict[str, dict[str, Row]]] = {  # by name and sex; "" where the table does not tell the sexes apart
    "dempster_winter": {"": DEMPSTER_WINTER},
    "de_leva": DE_LEVA,
    "zatsiorsky": ZATSIORSKY,
}


def segment_table(table: str, sex: str = "") -> dict[str, Row]:
    """Rows of a published table.

    Parameters
    ----------
    table : {"dempster_winter", "de_leva", "zatsiorsky"}
        Name of the table.
    sex : {"f", "m", ""}, optional
        Sex of the subject, for the tables that depend on it.

    Raises
    ------
    SegmentError
        The table depends on the sex, which is not given.

    Examples
    --------
    >>> segment_table("de_leva", "f")["thigh"].mass
    0.1478
    """
    by_sex = TABLES[table]
    if "" not in by_sex and sex not in by_sex:
        raise SegmentError(
            f"the segment parameters of table {table} depend on the sex, which is not given; "
            "enter f or m in the column sex of subjects.csv, or set segments.table to dempster_winter"
        )
    return by_sex.get("") or by_sex[sex]


def table_row(rows: Mapping[str, Row], name: str) -> Row:
    """Row of a table.

    Parameters
    ----------
    rows : mapping of str to Row
        The table.
    name : str
        Name of the segment.

    Raises
    ------
    SegmentError
        There is no such row.
    """
    if name not in rows:
        raise SegmentError(
            f"the table of segment parameters has no segment {name!r}; it has {', '.join(rows)}; give its parameters in "
            "segments.rows, or choose another segments.table"
        )
    return rows[name]


LONGEST_M = 1.5
LARGEST_MASS = 0.5  # of body mass, for one segment

QUANTITIES = ("length_m", "mass_kg", "com_m", "inertia_kgm2")
MEASURED = tuple(f"{row}_{quantity}" for row in DEMPSTER_WINTER for quantity in QUANTITIES)
