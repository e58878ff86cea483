"""Lines of action in a set's file: entry model, cross-checks, and built lines."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from limbtorque.errors import did_you_mean
from limbtorque.muscles.sets.curve_entry import Entry, Text
from limbtorque.muscles.sets.muscle import Direction, LineOfAction, MomentArm
from limbtorque.study.faults import checked
from limbtorque.study.options.base import option

LARGEST_LINE_M = 0.6
OF_DIRECTIONS = ("in_plane_part", "range_deg", "max_departure_deg", "other_model_deg", "arm_difference_m")


def _a_point(values: list[float]) -> list[float]:
    if len(values) != 2 or not all(abs(value) < LARGEST_LINE_M for value in values):
        raise ValueError(
            f"expected [distance along the segment, distance from its axis], each below {LARGEST_LINE_M:g} m"
        )
    return values


def _an_interval(values: list[float]) -> list[float]:
    if len(values) != 2 or not values[0] < values[1]:
        raise ValueError("expected [lowest, highest]")
    return values


Point = Annotated[list[float], AfterValidator(_a_point)]
Interval = Annotated[list[float], AfterValidator(_an_interval)]


class LineEntry(Entry):
    """Line of action of a muscle at a joint."""

    source: Text = option(..., "Where the line is from.")
    parallel_to: Literal["proximal", "distal"] | None = option(None, "Segment it is parallel to.")
    proximal_m: Point | None = option(None, "Point on the proximal segment: along it, and from its axis.", "m")
    distal_m: Point | None = option(None, "Point on the distal segment: along it, and from its axis.", "m")
    direction_deg: list[float] | None = option(
        None,
        "Angle of the pull on the distal segment, from the way back along its axis towards the flexor side: coefficients in "
        "rising powers of the flexion in radians.",
        "deg",
        min_length=1,
    )
    in_plane_part: float | None = option(None, "Part of the tension in the plane.", "1", gt=0.0, le=1.0)
    range_deg: Interval | None = option(None, "Lowest and highest flexion of direction_deg.", "deg")
    max_departure_deg: float | None = option(None, "Largest departure of the fit from its samples.", "deg", ge=0.0)
    other_model_deg: float | None = option(None, "Rms difference from the muscle of another model.", "deg", ge=0.0)
    arm_difference_m: float | None = option(None, "Rms difference of the line's arm from the moment arm.", "m", ge=0.0)
    note: Text | None = option(None, "A remark.")


def build_lines(
    entries: Any, joints: list[str], arms: dict[str, MomentArm], where: str, faults: list[str]
) -> dict[str, LineOfAction]:
    """Lines of action of a muscle by joint; adds faults of the entries to a list."""
    if not isinstance(entries, dict):  # none, or reported for `MuscleEntry`
        return {}
    lines = {}
    for joint, entry in entries.items():
        if joint not in joints:
            near = did_you_mean(str(joint), joints)
            faults.append(f"{where}: lines_of_action has joint '{joint}', which the set does not have{near}")
            continue
        if joint in arms and arms[joint].is_zero and arms[joint].form != "not_sampled":
            faults.append(f"{where}: lines_of_action has the {joint}, which the muscle does not cross")
        line = _build_line(entry, f"{where}: line of action at the {joint}", faults)
        if line:
            lines[joint] = line
    return lines


def _build_line(entry: Any, where: str, faults: list[str]) -> LineOfAction | None:
    row = checked(LineEntry, entry, where=where, faults=faults)
    if row is None:
        return None
    given = [key for key in ("parallel_to", "proximal_m", "distal_m", "direction_deg") if getattr(row, key) is not None]
    if given not in (["parallel_to"], ["proximal_m", "distal_m"], ["direction_deg"]):
        faults.append(f"{where}: expected one of parallel_to, direction_deg, or both proximal_m and distal_m")
        return None
    own = [key for key in OF_DIRECTIONS if getattr(row, key) is not None]
    if own and row.direction_deg is None:
        faults.append(f"{where}: {own[0]} belongs to direction_deg, which is not given")
        return None
    points = _pair(row.proximal_m), _pair(row.distal_m)
    return LineOfAction(row.parallel_to, *points, row.source, row.note or "", _direction(row))


def _direction(row: LineEntry) -> Direction | None:
    if row.direction_deg is None:
        return None
    low, high = (math.radians(end) for end in row.range_deg or (-math.inf, math.inf))
    return Direction(
        tuple(math.radians(value) for value in row.direction_deg),
        range_rad=(low, high),
        in_plane_part=1.0 if row.in_plane_part is None else row.in_plane_part,
        max_departure_rad=_radians(row.max_departure_deg),
        other_model_rad=_radians(row.other_model_deg),
        arm_difference_m=row.arm_difference_m,
    )


def _radians(degrees: float | None) -> float | None:
    return None if degrees is None else math.radians(degrees)


def _pair(point: list[float] | None) -> tuple[float, float] | None:
    return (point[0], point[1]) if point else None
