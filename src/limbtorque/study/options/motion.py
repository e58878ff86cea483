"""Options of the sections `segments` and `motion`: segment parameters, joint centres and angles."""

from __future__ import annotations

from typing import Literal

from limbtorque.study.options.base import Options, option


class BodySegments(Options):
    """Body segment parameters."""

    table: Literal["dempster_winter"] = option("dempster_winter", "Table of segment parameters.")


class Motion(Options):
    """Joint centres and angles."""

    angles: Literal["segments", "rigid_chain"] = option(
        "segments",
        "'segments': each segment's own direction, from joint to joint; 'rigid_chain': a chain of links of constant length, "
        "fitted to all joints of all frames by least squares.",
    )
    min_functional_range_deg: float = option(
        20.0,
        "A functional joint centre wants its segments to turn against each other by this much at least.",
        "deg",
        gt=0.0,
        le=180.0,
    )
