"""Sections `segments` and `motion`: segment parameters, centres, angles."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from limbtorque.chain.segment_tables import TABLES, Row, segment_table
from limbtorque.study.options.base import Options, option


class AddedMass(Options):
    """A point mass that moves with a segment: a held object, a shoe, a prosthesis."""

    mass_kg: float = option(..., "Mass.", "kg", gt=0.0, le=200.0)
    fraction: float = option(
        1.0,
        "Place on the line from the segment's proximal joint (0) to its distal one, or the end of the chain (1).",
        "1",
        ge=-2.0,
        le=5.0,
    )


class OwnRow(Options):
    """Parameters of one segment by a laboratory, as shares of body mass and length."""

    proximal: str = option(..., "Landmark at which the length begins.", allowed="a landmark", min_length=1)
    distal: str = option(..., "Landmark at which the length ends.", allowed="a landmark", min_length=1)
    mass: float = option(..., "Mass over body mass.", "1", gt=0.0, lt=0.5)
    com: float = option(
        ..., "Distance of the centre of mass from the proximal landmark, over length.", "1", ge=0.0, lt=1.0
    )
    gyration: float = option(
        ...,
        "Radius of gyration about the centre of mass, for rotation in the plane of motion, over length.",
        "1",
        ge=0.05,
        le=0.8,
    )
    com_from: Literal["landmark", "joint"] = option(
        "landmark",
        "'landmark': the centre of mass is on the line between the landmarks, projected on that between the joints; "
        "'joint': its distance is laid off from the segment's proximal joint.",
    )

    @model_validator(mode="after")
    def _two_landmarks(self) -> OwnRow:
        if self.proximal == self.distal:
            raise ValueError(f"proximal and distal are both {self.proximal}, expected two landmarks")
        return self


class BodySegments(Options):
    """Body segment parameters."""

    table: Literal["dempster_winter", "de_leva", "zatsiorsky"] = option(
        "dempster_winter",
        "Table of segment parameters: 'dempster_winter', 'de_leva' and 'zatsiorsky', which need the subject's sex; each "
        "with its own landmarks (docs/segments.md).",
    )
    rows: dict[str, OwnRow] = Field(
        default_factory=dict,
        description="Parameters of the laboratory's own, by the rows of the table that they replace or add, such as "
        "{foot: {proximal: heel, distal: toe_tip, mass: 0.014, com: 0.44, gyration: 0.25}}.",
    )
    added: dict[str, AddedMass] = Field(
        default_factory=dict,
        description="Point masses by the segments of a chain that they move with, such as {hand: {mass_kg: 2}}; they add to "
        "the segment's mass, centre of mass and moment of inertia, not to the body mass.",
    )

    def parameters(self, sex: str) -> dict[str, Row]:
        """Rows of the chosen table, with those of the laboratory.

        Raises
        ------
        SegmentError
            The table depends on the sex, which is not given.
        """
        own = {name: Row(**row.model_dump()) for name, row in self.rows.items()}
        return {**segment_table(self.table, sex), **own}

    @property
    def for_any_sex(self) -> bool:
        """True where the table does not depend on the sex."""
        return "" in TABLES[self.table]

    @property
    def any_sex(self) -> dict[str, Row]:
        """Rows for their landmarks, which do not depend on the sex."""
        return self.parameters("f")


class Motion(Options):
    """Joint centres and angles."""

    angles: Literal["segments", "rigid_chain", "inertial_chain"] = option(
        "rigid_chain",
        "'rigid_chain': a chain of links of constant length, fitted to all joints and frames by least squares; "
        "'inertial_chain': that chain for angles and inertia, the measured joints for the moment arms of external "
        "loads; 'segments': direction of each segment, from joint to joint.",
    )
    min_functional_range_deg: ClassVar[float] = 20.0  # between two segments: Ehrig et al. 2006 (docs/signals.md)
