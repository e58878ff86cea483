"""Sections `loads` and `plates`: external loads, plates, ground contact."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from limbtorque.study.options.base import Frozen, Options, option

Vector = tuple[float, float, float]
Assignment = Literal["auto", "none"] | tuple[int, ...]


class Load(Frozen):
    """Base of the loads; `type`, which tells them apart, allows no earlier validator."""

    @field_validator(
        "force_n", "fraction", "stiffness_n_m", "anchor_m", "rest_length_m", mode="before", check_fields=False
    )
    @classmethod
    def _plain_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        return cls.plain_number(value, info)


class Force(Load):
    """A constant force on the last segment."""

    type: Literal["constant_force"] = option(..., "Kind of load.")
    force_n: Vector = option(..., "Force on the segment in the laboratory frame.", "N")
    fraction: float = option(
        1.0, "Point of application, as a fraction of the last segment's length from its joint.", "1"
    )


class Spring(Load):
    """A linear spring between a fixed point and the last segment."""

    type: Literal["spring"] = option(..., "Kind of load.")
    stiffness_n_m: float = option(..., "Stiffness.", "N/m", gt=0.0)
    anchor_m: Vector = option(..., "Fixed end in the laboratory frame.", "m")
    rest_length_m: float = option(0.0, "Length without force; the spring is slack when shorter.", "m", ge=0.0)
    fraction: float = option(
        1.0, "Point of application, as a fraction of the last segment's length from its joint.", "1"
    )


LoadModel = Annotated[Force | Spring, Field(discriminator="type")]


class Plates(Options):
    """Force plates and ground contact."""

    assignment: Assignment = option(
        "auto",
        "'auto' assigns plates to feet by geometry; a plate number, or a list such as [1, 2], sets them; 'none': "
        "no ground contact.",
    )
    threshold_n: float = option(20.0, "Vertical force above which a plate counts as loaded.", "N", gt=0.0)
    max_distance_m: ClassVar[float] = 0.10  # of the centre of pressure from the line of the foot
    max_contact_speed_m_s: ClassVar[float] = 1.0  # of a contact landmark of a foot on the ground (docs/events.md)
    max_contact_height_m: ClassVar[float] = (
        0.04  # of an end of the foot above its lowest position on a plate, on the ground
    )
    edge_margin_m: ClassVar[float] = (
        0.04  # heel and toe markers project beyond the sole, and so beyond the edge of its plate
    )
    min_contact_s: ClassVar[float] = (
        0.06  # of a contact, and of an interruption; on the floor contact ends this long after the foot is fast
    )
    belt_speed_m_s: float = option(0.0, "Speed of a treadmill's belt, opposite to the forward direction.", "m/s")
    remove_offset: bool = option(True, "Subtract each plate's mean over the unloaded samples of the whole recording.")
    max_offset_n: ClassVar[float] = 40.0  # lowest vertical force of a plate that is unloaded at some time, from zero

    @field_validator("assignment", mode="before", json_schema_input_type=Assignment | int)
    @classmethod
    def _one_plate(cls, value: Any) -> Any:
        """Accept one plate number, also as text, as a list of one."""
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value)
        return (value,) if isinstance(value, int) and not isinstance(value, bool) else value
