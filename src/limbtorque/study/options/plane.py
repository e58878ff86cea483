"""Options of the section `plane`: the plane of motion."""

from __future__ import annotations

from typing import Literal

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
    min_projection: float = option(
        0.3,
        "Smallest projected length of a segment, as a fraction of its length, that defines its orientation in the"
        " plane.",
        "1",
        gt=0.0,
        lt=1.0,
    )
    min_travel_m: float = option(0.5, "Smallest displacement that defines a direction of travel.", "m", gt=0.0)

    @model_validator(mode="after")
    def _not_parallel(self) -> Plane:
        if self.up_axis and self.forward_axis[1:] == self.up_axis[1:] and self.forward_axis[0] in "+-":
            raise ValueError(f"forward_axis {self.forward_axis} is parallel to up_axis {self.up_axis}")
        return self
