"""Sections `segments` and `motion`: segment parameters, centres, angles."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

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


class BodySegments(Options):
    """Body segment parameters."""

    table: Literal["dempster_winter"] = option("dempster_winter", "Table of segment parameters.")
    added: dict[str, AddedMass] = Field(
        default_factory=dict,
        description="Point masses by the segments of a chain that they move with, such as {hand: {mass_kg: 2}}; they add to "
        "the segment's mass, centre of mass and moment of inertia, not to the body mass.",
    )


class Motion(Options):
    """Joint centres and angles."""

    angles: Literal["segments", "rigid_chain", "inertial_chain"] = option(
        "rigid_chain",
        "'rigid_chain': a chain of links of constant length, fitted to all joints and frames by least squares; "
        "'inertial_chain': that chain for angles and inertia, the measured joints for the moment arms of external "
        "loads; 'segments': direction of each segment, from joint to joint.",
    )
    min_functional_range_deg: float = option(
        20.0,
        "Smallest range of rotation between two segments from which a functional joint centre is computed.",
        "deg",
        gt=0.0,
        le=180.0,
    )
