"""Sections `segments` and `motion`: segment parameters, centres, angles."""

from __future__ import annotations

from typing import Literal

from limbtorque.study.options.base import Options, option


class BodySegments(Options):
    """Body segment parameters."""

    table: Literal["dempster_winter"] = option("dempster_winter", "Table of segment parameters.")


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
