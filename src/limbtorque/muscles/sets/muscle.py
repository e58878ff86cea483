"""A muscle: strength, moment arms, length, lines of action.

A moment arm is positive where the muscle flexes the joint. With L the musculotendon length and q the flexion,
r = -dL/dq: a muscle that shortens as the joint flexes is a flexor, and its tension makes a flexing torque (virtual
work; An et al. 1984, J Biomech Eng 106:280-282).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, model_validator

from limbtorque.muscles.sets.curve_entries import Entry, PublishedRange, Text
from limbtorque.muscles.sets.moment_arm_curves import EVERYWHERE, Curve, Range
from limbtorque.study.options.base import option

LARGEST_LINE_M = 0.6
OF_DIRECTIONS = ("in_plane_part", "range_deg", "max_departure_deg", "other_model_deg", "arm_difference_m")


@dataclass(frozen=True, eq=False)
class MomentArm:
    """Moment arm of one muscle at one joint.

    Parameters
    ----------
    form : str
        zero, not_sampled (the muscle crosses the joint, but its source gives no moment arm there: counts as zero),
        constant, polynomial, spline, sampled or from_length.
    curve : Curve
        The arm [m] as a function of the flexion of this joint, or of others too; positive flexes.
    note : str
        Decisions on this moment arm.
    published : PublishedRange or None
        Lowest and highest published arm; None where not given, or without another source.
    """

    form: str
    curve: Curve
    note: str = ""
    published: PublishedRange | None = None

    @property
    def is_zero(self) -> bool:
        """True if the arm is zero at every flexion."""
        return self.curve.is_zero

    @property
    def is_constant(self) -> bool:
        """True if the arm is the same at every flexion."""
        return self.form in ("zero", "not_sampled", "constant")


@dataclass(frozen=True, eq=False)
class MusculotendonLength:
    """Length of a muscle with its tendon: an offset plus curves.

    Parameters
    ----------
    form : str
        at_zero (known with every joint at flexion 0, the rest from the arms), polynomial, spline or sampled.
    offset_m : float
        Constant part.
    curves : tuple of Curve
        Their sum with the offset is the length [m]. Those of one joint are valid at every flexion; one of several joints
        continues linearly beyond its range.
    range_rad : dict of str to pair of float
        Range of flexion of the length, for each joint.
    """

    form: str
    offset_m: float
    curves: tuple[Curve, ...]
    range_rad: dict[str, Range] = field(default_factory=dict)


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


class LineOfAction(Entry):
    """Line of action of a muscle at a joint, in one of three forms.

    Parallel to a segment, between two points, or a direction by flexion, at the distance of the moment arm.
    """

    source: Text = option(..., "Source of the line of action.")
    parallel_to: Literal["proximal", "distal"] | None = option(None, "Segment it is parallel to.")
    proximal_m: Point | None = option(None, "Point on the proximal segment: along it, and from its axis.", "m")
    distal_m: Point | None = option(None, "Point on the distal segment: along it, and from its axis.", "m")
    direction_deg: list[float] | None = option(
        None,
        "Angle of the force on the distal segment, from the proximal direction of its axis towards the flexor side: coefficients in "
        "rising powers of the flexion in radians.",
        "deg",
        min_length=1,
    )
    in_plane_part: float | None = option(None, "Fraction of the tension in the plane.", "1", gt=0.0, le=1.0)
    range_deg: Interval | None = option(None, "Lowest and highest flexion of direction_deg.", "deg")
    max_departure_deg: float | None = option(None, "Largest deviation of the fit from its samples.", "deg", ge=0.0)
    other_model_deg: float | None = option(None, "Rms difference from the same muscle in another model.", "deg", ge=0.0)
    arm_difference_m: float | None = option(
        None, "Rms difference between the moment arm of the line and that in use.", "m", ge=0.0
    )
    note: Text | None = option(None, "A remark.")

    @model_validator(mode="after")
    def _of_one_form(self) -> Self:
        given = {key for key, value in self if value is not None}
        forms = ({"parallel_to"}, {"proximal_m", "distal_m"}, {"direction_deg"})
        if given & set().union(*forms) not in forms:
            raise ValueError("expected one of parallel_to, direction_deg, or both proximal_m and distal_m")
        if self.direction_deg is None and (stray := [key for key in OF_DIRECTIONS if key in given]):
            raise ValueError(f"{stray[0]} belongs to direction_deg, which is not given")
        return self


@dataclass(frozen=True, eq=False)
class Muscle:
    """A muscle, or several muscles lumped together.

    Parameters
    ----------
    name, full_name : str
        Short name, as in the tables, and the anatomical one.
    max_isometric_force_n : float
        Strength.
    optimal_fibre_length_m, tendon_slack_length_m, pennation_rad, pcsa_cm2, tendon_strain : float or None
        None where the source does not give it. The strain is that of the tendon at the muscle's strength.
    source : dict of str to str
        ``model`` and ``licence`` of the numbers.
    function : dict of str to str
        ``flexor`` or ``extensor`` for each joint that the muscle moves, in the anatomical position.
    moment_arms : dict of str to MomentArm
        For each joint of the set.
    length : MusculotendonLength or None
        None where the source does not give it, or where a joint that the muscle crosses was not sampled.
    min_activation, max_activation : float
        Bounds of its activation, from 0 to 1.
    lines_of_action : dict of str to LineOfAction
        Line for each joint with a known one.
    """

    name: str
    full_name: str
    max_isometric_force_n: float
    optimal_fibre_length_m: float | None
    tendon_slack_length_m: float | None
    pennation_rad: float | None
    source: dict[str, str]
    function: dict[str, str]
    moment_arms: dict[str, MomentArm]
    length: MusculotendonLength | None = None
    pcsa_cm2: float | None = None
    tendon_strain: float | None = None
    min_activation: float = 0.0
    max_activation: float = 1.0
    lines_of_action: dict[str, LineOfAction] = field(default_factory=dict)

    @property
    def crosses(self) -> tuple[str, ...]:
        """Joints that the muscle crosses, with known moment arm or not."""
        return tuple(joint for joint, arm in self.moment_arms.items() if not arm.is_zero or arm.form == "not_sampled")

    @property
    def velocity_known(self) -> bool:
        """True if the arm is known at every joint that the muscle crosses."""
        return all(arm.form != "not_sampled" for arm in self.moment_arms.values())

    @property
    def fibres_known(self) -> bool:
        """True if fibre parameters, length and velocity are known."""
        parameters = (self.optimal_fibre_length_m, self.tendon_slack_length_m, self.pennation_rad)
        return self.length is not None and self.velocity_known and None not in parameters

    @property
    def range_rad(self) -> dict[str, Range]:
        """Flexion range in which all curves are valid, by joint; only limited joints."""
        curves = [arm.curve for arm in self.moment_arms.values() if not arm.is_zero]
        ranges = [pair for curve in curves for pair in zip(curve.joints, curve.range_rad, strict=True)]
        return narrowest([*ranges, *(self.length.range_rad.items() if self.length else ())])


def narrowest(ranges: Iterable[tuple[str, Range]]) -> dict[str, Range]:
    """Intersect ranges, joint by joint, omitting infinite ranges."""
    found: dict[str, Range] = {}
    for joint, (low, high) in ranges:
        before = found.get(joint, EVERYWHERE)
        if (low, high) != EVERYWHERE:
            found[joint] = (max(low, before[0]), min(high, before[1]))
    return found
