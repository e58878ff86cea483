"""Rules of a marker set: how a landmark follows from the markers of a recording."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, model_validator

from limbtorque.study.options.base import Options, option


class Between(Options):
    """A point on the line between two markers."""

    between: tuple[str, str] = Field(description="Labels of the two markers.")
    fraction: float = option(
        0.5, "Distance from the first marker as a fraction of the way to the second.", "1", ge=-1.0, le=2.0
    )


def _kind_of_rule(value: Any) -> str:
    """Kind of a landmark's rule, so that faults refer to this kind only."""
    if isinstance(value, Functional) or (isinstance(value, dict) and {"functional", "anatomical"} & set(value)):
        return "Functional"
    if isinstance(value, Between | dict):
        return "Between"
    return "markers" if isinstance(value, list | tuple) else "marker"


def _kind_of_place(value: Any) -> str:
    """Kind of a rule for a position, e.g. the anatomical one of a functional centre."""
    kind = _kind_of_rule(value)
    return "Between" if kind == "Functional" else kind


Label = Annotated[str, Tag("marker")]
Labels = Annotated[tuple[str, ...], Tag("markers")]
Line = Annotated[Between, Tag("Between")]
AnatomicalRule = Annotated[Label | Labels | Line, Discriminator(_kind_of_place)]


class Functional(Options):
    """The centre of rotation between two segments; see docs/signals.md."""

    functional: tuple[tuple[str, ...], tuple[str, ...]] = Field(
        description="Labels of two or more markers of each of the two segments."
    )
    anatomical: AnatomicalRule = Field(
        description="Marker, markers or point between two: defines the plane, and the depth along its normal."
    )

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


LandmarkRule = Annotated[Label | Labels | Line | Annotated[Functional, Tag("Functional")], Discriminator(_kind_of_rule)]
