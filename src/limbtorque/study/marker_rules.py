"""Rules of a marker set: how a landmark follows from the markers of a recording."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from limbtorque.study.options.base import Options, option

HipRegression = Literal["harrington_2007", "bell_1990", "davis_1991"]
ShoulderOffset = Literal["rab_2002"]


class Between(Options):
    """A point on the line between two markers."""

    between: tuple[str, str] = Field(description="Labels of the two markers.")
    fraction: float = option(
        0.5, "Distance from the first marker as a fraction of the way to the second.", "1", ge=-1.0, le=2.0
    )


class HipCentre(Options):
    """The hip's centre by a regression on the pelvis; see docs/joint_centres.md."""

    hip_centre: HipRegression = option(
        ...,
        "Regression of the hip's centre on the set's anterior_superior_iliac_spine of both sides and its sacrum, or "
        "posterior_superior_iliac_spine of both sides. davis_1991 needs leg_length_m of the subject.",
    )
    marker_radius_m: float = option(
        0.007, "Radius of the markers on the anterior spines, used by davis_1991.", "m", ge=0.0, le=0.03
    )


class ShoulderCentre(Options):
    """The shoulder's centre by an offset from the acromion; see docs/joint_centres.md."""

    shoulder_centre: ShoulderOffset = option(
        ..., "Offset of the shoulder's centre from the set's acromion, from the distance between the acromia."
    )


def _kind_of_rule(value: Any) -> str:
    """Kind of a landmark's rule, so that faults refer to this kind only."""
    for kind, keys in _KINDS.items():
        if type(value).__name__ == kind or (isinstance(value, dict) and keys & set(value)):
            return kind
    if isinstance(value, Between | dict):
        return "Between"
    return "markers" if isinstance(value, list | tuple) else "marker"


def _kind_of_place(value: Any) -> str:
    """Kind of a rule for a position, e.g. the anatomical one of a functional centre."""
    kind = _kind_of_rule(value)
    return "Between" if kind == "Functional" else kind


def _kind_of_marked_place(value: Any) -> str:
    """Kind of a rule by markers alone."""
    kind = _kind_of_rule(value)
    return "Between" if kind in _KINDS else kind


_KINDS = {  # kinds of rules by the keys that only they have
    "Functional": {"functional", "anatomical"},
    "Carried": {"static", "cluster"},
    "HipCentre": {"hip_centre"},
    "ShoulderCentre": {"shoulder_centre"},
}
Label = Annotated[str, Tag("marker")]
Labels = Annotated[tuple[str, ...], Tag("markers")]
Line = Annotated[Between, Tag("Between")]
MarkedRule = Annotated[Label | Labels | Line, Discriminator(_kind_of_marked_place)]


class Carried(Options):
    """A landmark of the static trial, carried by a cluster of markers."""

    static: MarkedRule = Field(description="Marker, markers or point between two in the static trial (static_file).")
    cluster: tuple[str, ...] = Field(
        description="Labels of three or more markers of the landmark's segment, in the static and in the moving trial."
    )

    @model_validator(mode="after")
    def _three_markers(self) -> Carried:
        if len(set(self.cluster)) < 3 or len(set(self.cluster)) < len(self.cluster):
            raise ValueError(
                f"cluster: {', '.join(self.cluster) or 'no label'}: expected three different markers or more, the pose of a "
                "segment needs them; name others of the same segment"
            )
        return self


PlaceRule = Annotated[
    Label
    | Labels
    | Line
    | Annotated[Carried, Tag("Carried")]
    | Annotated[HipCentre, Tag("HipCentre")]
    | Annotated[ShoulderCentre, Tag("ShoulderCentre")],
    Discriminator(_kind_of_place),
]


class Functional(Options):
    """The centre of rotation between two segments; see docs/signals.md."""

    functional: tuple[tuple[str, ...], tuple[str, ...]] = Field(
        description="Labels of two or more markers of each of the two segments."
    )
    anatomical: PlaceRule = Field(description="Any other rule: defines the plane, and the depth along its normal.")

    @model_validator(mode="after")
    def _two_segments(self) -> Functional:
        if fault := segments_fault(self.functional):
            raise ValueError(fault)
        return self


def segments_fault(segments: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    """Fault of the segment labels of a functional centre; empty without one.

    >>> segments_fault((("TH1", "TH2"), ("TB1", "TB2")))
    ''
    """
    for labels in segments:
        if len(set(labels)) < 2:
            return f"{', '.join(labels) or 'no label'}: a segment's orientation needs two different markers or more; name another one"
    if both := sorted(set(segments[0]) & set(segments[1])):
        return (
            f"{', '.join(both)}: named for both segments, and such a marker would be mistaken for their centre; "
            "give it to the segment it sits on"
        )
    return ""


LandmarkRule = Annotated[
    Label
    | Labels
    | Line
    | Annotated[Carried, Tag("Carried")]
    | Annotated[HipCentre, Tag("HipCentre")]
    | Annotated[ShoulderCentre, Tag("ShoulderCentre")]
    | Annotated[Functional, Tag("Functional")],
    Discriminator(_kind_of_rule),
]
