"""Inertial constants of a chain from a table of body segment parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from limbtorque.chain.model import Chain
from limbtorque.chain.segments import LARGEST_MASS, LONGEST_M, Row, table_row
from limbtorque.errors import SegmentError


def segment_chain(
    rows: Sequence[str],
    *,
    table: Mapping[str, Row],
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
    table : mapping of str to Row
        Table of segment parameters, e.g. `DEMPSTER_WINTER` or ``segment_table("de_leva", "f")``.
    body_mass_kg : float
        Body mass, kg.
    link_length_m : sequence of float
        Distance between each link's joints, m.
    measured_between : mapping of str to (str, str, float)
        For each row the two landmarks its length was measured between, and that length in m.
    measured : mapping of str to float
        The subject's own values, e.g. ``{"forearm_mass_kg": 1.2}``; they replace the table's. A row with `com_from`
        ``"landmark"`` needs its ``com_m`` here: the distance from the joint depends on where the landmark is.

    Returns
    -------
    Chain
        Lengths, masses, centres of mass and moments of inertia.

    Raises
    ------
    SegmentError
        A length was measured between other landmarks than the table's, a number is not positive or larger than possible,
        or the shares of the segments add up to the whole body.

    Notes
    -----
    ``m = share * body mass``, ``d = com * length``, ``I = m (gyration * length)^2``, with the length between the
    table's landmarks, which need not be the distance between the chain's joints.

    Examples
    --------
    >>> from limbtorque.chain.segments import DEMPSTER_WINTER
    >>> chain = segment_chain(
    ...     ["forearm"], table=DEMPSTER_WINTER, body_mass_kg=70.0, link_length_m=[0.26],
    ...     measured_between={"forearm": ("elbow_axis", "ulnar_styloid", 0.25)}, measured={},
    ... )
    >>> round(float(chain.mass_kg[0]), 3), round(float(chain.com_m[0]), 4)
    (1.12, 0.1075)
    """
    if not 1.0 <= body_mass_kg <= 400.0:
        raise SegmentError(f"body mass is {body_mass_kg:g} kg, expected 1 to 400 kg")
    if (share := sum(table_row(table, row).mass for row in rows)) >= 1.0:
        raise SegmentError(
            f"segments {', '.join(rows)}: together {100.0 * share:.0f} % of the body mass, expected less than 100 %; "
            "check segments.rows"
        )
    values = [_parameters(table, row, body_mass_kg, measured_between[row], measured) for row in rows]
    masses, coms, inertias = (np.array(column) for column in zip(*values, strict=True))
    try:
        return Chain(length_m=np.asarray(link_length_m, dtype=float), mass_kg=masses, com_m=coms, inertia_kgm2=inertias)
    except ValueError as error:
        raise SegmentError(f"segments {', '.join(rows)}: {error}") from None


def _parameters(
    table: Mapping[str, Row],
    name: str,
    body_mass_kg: float,
    between: tuple[str, str, float],
    measured: Mapping[str, float],
) -> tuple[float, float, float]:
    row = table_row(table, name)
    proximal, distal, length = between
    if (proximal, distal) != (row.proximal, row.distal):
        raise SegmentError(
            f"segment {name}: length from {proximal} to {distal}, expected from {row.proximal} to {row.distal} "
            "by the table; map those landmarks, or define a substitute in 'substitutes'"
        )
    length = measured.get(f"{name}_length_m", length)
    if not length > 0.0:
        raise SegmentError(
            f"segment {name}: length from {proximal} to {distal} is {length} m, expected a positive number"
        )
    mass = measured.get(f"{name}_mass_kg", row.mass * body_mass_kg)
    com = measured.get(f"{name}_com_m", row.com * length if row.com_from == "joint" else np.nan)
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
                "check the landmarks, and measured parameters in subjects.csv"
            )
    return mass, com, inertia
