"""Options of the section `plane`: the plane of motion."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import model_validator

from limbtorque.study.options.base import Options, option

Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]


class Plane(Options):
    """The plane of motion."""

    kind: Literal["sagittal", "horizontal", "best_fit"] = option("sagittal", "Plane on which the motion is projected.")
    up_axis: Axis | None = option(None, "Laboratory axis that points up; required.")
    forward_axis: Axis | Literal["travel", "pelvis", "thorax"] = option(
        "travel",
        "Laboratory axis that points forward; 'travel', the direction of displacement of the proximal joint; 'pelvis' or"
        " 'thorax', the mean direction that they face, from a landmark of both sides (docs/joint_centres.md).",
    )
    min_projection: ClassVar[float] = (
        0.3  # projected over true length of a segment whose direction in the plane is used
    )
    min_travel_m: ClassVar[float] = 0.5  # displacement that defines a direction of travel

    @model_validator(mode="after")
    def _not_parallel(self) -> Plane:
        if self.up_axis and self.forward_axis[1:] == self.up_axis[1:] and self.forward_axis[0] in "+-":
            raise ValueError(f"forward_axis {self.forward_axis} is parallel to up_axis {self.up_axis}")
        return self
