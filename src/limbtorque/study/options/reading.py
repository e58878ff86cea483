"""Sections `reading`, `loads` and `plates`: recordings, loads, ground contact."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from limbtorque.study.options.base import Frozen, Options, option


class Reading(Options):
    """Reading of recordings."""

    memory_limit_mb: int = option(2048, "Largest memory for reading one file.", "MB", ge=128, le=1_000_000)
    length_unit: Literal["mm", "cm", "m"] | None = None
    """Unit of positions, for files with a missing or wrong unit; overrides the file."""
    marker_names: Literal["labels", "descriptions"] = "labels"
    """Names of the markers of a C3D file: POINT:LABELS, or POINT:DESCRIPTIONS, which are longer than four letters in
    old files."""
    force_unit: Literal["N", "kN"] | None = option(None, "Unit of forces, for text files without one.")
    rate_hz: float | None = option(None, unit="Hz", gt=0.0)
    """Frames per second, for text files without times; other files have to agree with it."""
    text_encoding: str | None = None
    """Encoding of text that is not UTF-8, by Python's name, e.g. 'shift_jis'; null: Windows-1252 is assumed."""
    metres_per_pixel: float | None = option(None, unit="m", gt=0.0)
    """Scale of keypoints in pixels, of one camera that looks along the normal of the plane of movement."""
    known_length_m: float | None = option(None, unit="m", gt=0.0)
    """Length between the keypoints of known_length_between, which gives the scale of the pixels."""
    known_length_between: tuple[str, str] | None = None
    """Two keypoints that move in the plane and keep their distance, such as [RKnee, RAnkle]."""
    min_confidence: float = option(0.3, unit="1", ge=0.0)
    """Keypoints with a lower confidence are missing (0.3: as in Pose2Sim)."""
    keypoints: (
        Literal["body_25", "body_25b", "coco_17", "coco_18", "coco_133", "halpe_26", "halpe_136", "mediapipe_33"] | None
    ) = option(None, "Order of keypoints that have no names; null: by their number (25: body_25).")
    forces_length_unit: Literal["mm", "cm", "m"] | None = None
    """Unit of positions in the file of the column forces_file, to which length_unit does not apply."""
    forces_rate_hz: float | None = option(None, unit="Hz", gt=0.0)
    """Samples per second in the file of the column forces_file, for text files without times."""
    forces_offset_s: float | None = option(None, unit="s")
    """Time added to the times of forces_file, where its clock differs from the markers'."""
    strict: bool = option(False, "Refuse files that require assumptions; the error lists them.")
    second_reader: Literal["ezc3d", "c3d", "none"] | None = None
    """Library that reads every C3D file as well; differences are a quality flag. null: ezc3d in limbtorque check, none
    in a run."""

    @field_validator("known_length_between", mode="before", json_schema_input_type=str | tuple[str, str] | None)
    @classmethod
    def _names(cls, value: Any) -> Any:
        """Accept two names separated by a comma, as on a command line."""
        return tuple(name.strip() for name in value.split(",")) if isinstance(value, str) else value


Vector = tuple[float, float, float]
Assignment = Literal["auto", "none"] | tuple[int, ...]


class Load(Frozen):
    """Base of the loads, which differ by `type`."""

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
    fraction: float = option(1.0, unit="1")
    """Point of application, as a fraction of the last segment's length from its joint."""


class Spring(Load):
    """A linear spring between a fixed point and the last segment."""

    type: Literal["spring"] = option(..., "Kind of load.")
    stiffness_n_m: float = option(..., "Stiffness.", "N/m", gt=0.0)
    anchor_m: Vector = option(..., "Fixed end in the laboratory frame.", "m")
    rest_length_m: float = option(0.0, "Resting length; the spring is slack when shorter.", "m", ge=0.0)
    fraction: float = option(1.0, unit="1")
    """Point of application, as a fraction of the last segment's length from its joint."""


LoadModel = Annotated[Force | Spring, Field(discriminator="type")]


class Plates(Options):
    """Force plates and ground contact."""

    assignment: Assignment = "auto"
    """'auto' assigns plates to feet by geometry; a plate number, or a list such as [1, 2], sets them; 'none': no ground
    contact."""
    threshold_n: float = option(20.0, "Vertical force above which a plate counts as loaded.", "N", gt=0.0)
    belt_speed_m_s: float = option(0.0, "Speed of a treadmill's belt, opposite to the forward direction.", "m/s")
    remove_offset: bool = option(True, "Subtract the mean of each plate's unloaded samples over the whole recording.")

    @field_validator("assignment", mode="before", json_schema_input_type=Assignment | int)
    @classmethod
    def _one_plate(cls, value: Any) -> Any:
        """Accept one plate number, also as text, as a list of one."""
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value)
        return (value,) if isinstance(value, int) and not isinstance(value, bool) else value
