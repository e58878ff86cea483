"""Tables of body segment parameters, with the landmarks of each segment's length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.chain.model import Chain
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
        Radius of gyration about the centre of mass over length.
    """

    proximal: str
    distal: str
    mass: float
    com: float
    gyration: float


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
TABLES: dict[str, dict[str, Row]] = {"dempster_winter": DEMPSTER_WINTER}

LONGEST_M = 1.5
LARGEST_MASS = 0.5  # of body mass, for one segment

QUANTITIES = ("length_m", "mass_kg", "com_m", "inertia_kgm2")
MEASURED = tuple(f"{row}_{quantity}" for row in DEMPSTER_WINTER for quantity in QUANTITIES)


def table_row(table: str, name: str) -> Row:
    """Row of a table.

    Parameters
    ----------
    table, name : str
        Names of the table and of the segment.

    Raises
    ------
    SegmentError
        There is no such row.
    """
    rows = TABLES[table]
    if name not in rows:
        raise SegmentError(f"table {table} has no segment {name!r}; it has {', '.join(rows)}")
    return rows[name]


def segment_chain(
    rows: Sequence[str],
    *,
    table: str,
    body_mass_kg: float,
    link_length_m: Sequence[float],
    measured_between: Mapping[str, tuple[str, str, float]],
    measured: Mapping[str, float],
) -> Chain:
    """Inertial constants of a chain from a table of segment parameters.

    Parameters
    ----------
    rows : sequence of str
        Row of the table for each link, proximal first.
    table : str
        Name of the table.
    body_mass_kg : float
        Body mass, kg.
    link_length_m : sequence of float
        Distance between each link's joints, m.
    measured_between : mapping of str to (str, str, float)
        For each row the two landmarks its length was measured between, and that length in m.
    measured : mapping of str to float
        The subject's own values, e.g. ``{"forearm_mass_kg": 1.2}``; they replace the table's.

    Returns
    -------
    Chain
        Lengths, masses, centres of mass and moments of inertia.

    Raises
    ------
    SegmentError
        A length was measured between other landmarks than the table's, or is not a positive number.

    Notes
    -----
    ``m = share * body mass``, ``d = com * length``, ``I = m (gyration * length)^2``, with the length between the
    table's landmarks, which need not be the distance between the chain's joints.

    Examples
    --------
    >>> chain = segment_chain(
    ...     ["forearm"], table="dempster_winter", body_mass_kg=70.0, link_length_m=[0.26],
    ...     measured_between={"forearm": ("elbow_axis", "ulnar_styloid", 0.25)}, measured={},
    ... )
    >>> round(float(chain.mass_kg[0]), 3), round(float(chain.com_m[0]), 4)
    (1.12, 0.1075)
    """
    if not 1.0 <= body_mass_kg <= 400.0:
        raise SegmentError(f"body mass is {body_mass_kg:g} kg, expected 1 to 400 kg")
    values = [_parameters(table, row, body_mass_kg, measured_between[row], measured) for row in rows]
    masses, coms, inertias = (np.array(column) for column in zip(*values, strict=True))
    try:
        return Chain(length_m=np.asarray(link_length_m, dtype=float), mass_kg=masses, com_m=coms, inertia_kgm2=inertias)
    except ValueError as error:
        raise SegmentError(f"segments {', '.join(rows)}: {error}") from None


def _parameters(
    table: str, name: str, body_mass_kg: float, between: tuple[str, str, float], measured: Mapping[str, float]
) -> tuple[float, float, float]:
    row = table_row(table, name)
    proximal, distal, length = between
    if (proximal, distal) != (row.proximal, row.distal):
        raise SegmentError(
            f"segment {name}: length from {proximal} to {distal}, expected from {row.proximal} to {row.distal} "
            f"(table {table}); map those landmarks, or name a substitute in 'substitutes'"
        )
    length = measured.get(f"{name}_length_m", length)
    if not length > 0.0:
        raise SegmentError(
            f"segment {name}: length from {proximal} to {distal} is {length} m, expected a positive number"
        )
    mass = measured.get(f"{name}_mass_kg", row.mass * body_mass_kg)
    com = measured.get(f"{name}_com_m", row.com * length)
    inertia = measured.get(f"{name}_inertia_kgm2", mass * (row.gyration * length) ** 2)
    for quantity, value, limit, unit in (
        ("length", length, LONGEST_M, "m"),
        ("mass", mass, LARGEST_MASS * body_mass_kg, "kg"),
        ("distance of the centre of mass", com, length, "m"),
        ("moment of inertia", inertia, mass * length**2, "kg m^2"),
    ):
        may_be_zero = value is com  # of a foot, the centre of mass may be taken to be at the ankle
        if not (0.0 < value <= limit or (may_be_zero and value == 0.0)):
            least = "0 or more" if may_be_zero else "more than 0"
            raise SegmentError(
                f"segment {name}: {quantity} is {value:.4g} {unit}, expected {least} and at most {limit:.4g} {unit}; "
                "check the measured parameters in subjects.csv"
            )
    return mass, com, inertia
