"""Muscles in a set's file: entry models, cross-checks, and built muscles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, field_validator

from limbtorque.arrays import FloatArray
from limbtorque.errors import did_you_mean
from limbtorque.muscles.sets.curve_entries import (
    CURVE_FORMS,
    FORMS,
    Entry,
    EntryError,
    Text,
    at,
    form_of,
    read_curve,
    valid,
)
from limbtorque.muscles.sets.moment_arm_curves import (
    EVERYWHERE,
    Curve,
    Range,
    constant,
    derivative,
    evaluate,
    extended,
    integral,
    times,
)
from limbtorque.muscles.sets.muscle import (
    Direction,
    LineOfAction,
    MomentArm,
    Muscle,
    MusculotendonLength,
    PublishedRange,
    narrowest,
)
from limbtorque.study.options.base import option

LARGEST_ARM_M = 0.15  # longer than any limb muscle's moment arm: probably in millimetres
LARGEST_LENGTH_M = 1.0
LARGEST_STRAIN = 0.2  # no tendon bears as much
LEAST_FORCE_N = 5.0
FIBRES = ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad")
SAME = (
    *FIBRES,
    "name",
    "function",
    "max_isometric_force_n",
    "tendon_strain",
    "pcsa_cm2",
    "min_activation",
    "max_activation",
)
AGREE_PART, AGREE_M = 0.2, 5e-3  # largest difference of an arm from -dL/dq of the muscle's length
SENSES = {"flexor": 1.0, "extensor": -1.0}
LARGEST_LINE_M = 0.6
OF_DIRECTIONS = ("in_plane_part", "range_deg", "max_departure_deg", "other_model_deg", "arm_difference_m")


# --- entries -----------------------------------------------------------------------------------------------------


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


class MuscleEntry(Entry):
    """Entry of a muscle; arms, length and lines of action are validated by form."""

    name: Text = option(..., "Name.")
    full_name: str | None = option(None, "Anatomical name.")
    max_isometric_force_n: float = option(..., "Strength.", "N", gt=0.0)
    source: dict[str, Any] = option(..., "The model or paper (model) and its licence (licence).")
    function: dict[str, Literal["flexor", "extensor"]] = option(..., "Flexor or extensor of each joint it moves.")
    moment_arms: dict[str, Any] = option(..., "Moment arm at each joint of the set.")
    length: Any = option(None, "Length of muscle and tendon as a curve.")
    length_at_zero_m: float | None = option(
        None, "Length of muscle and tendon with every joint at 0.", "m", gt=0.0, lt=LARGEST_LENGTH_M
    )
    lines_of_action: dict[str, Any] = option({}, "Lines of action at joints.")
    optimal_fibre_length_m: float | None = option(None, "Optimal fibre length.", "m", gt=0.0, lt=1.0)
    tendon_slack_length_m: float | None = option(None, "Tendon slack length.", "m", gt=0.0, lt=1.0)
    pennation_rad: float | None = option(None, "Pennation at optimal fibre length.", "rad", ge=0.0, lt=math.pi / 2)
    tendon_strain: float | None = option(None, "Strain of the tendon at the strength.", "1", gt=0.0, le=LARGEST_STRAIN)
    tendon_strain_source: Text | None = option(None, "Source of that strain.")
    pcsa_cm2: float | None = option(None, "Physiological cross-sectional area.", "cm2", ge=0.1, lt=1000.0)
    min_activation: float = option(0.0, "Least activation.", "1", ge=0.0, le=1.0)
    max_activation: float = option(1.0, "Largest activation.", "1", ge=0.0, le=1.0)

    @field_validator("max_isometric_force_n")
    @classmethod
    def _newtons(cls, value: float) -> float:
        if value < LEAST_FORCE_N:
            raise ValueError(f"expected {LEAST_FORCE_N:g} N or more; is it in kilonewtons?")
        return value

    @field_validator("source")
    @classmethod
    def _with_licence(cls, value: dict[str, Any]) -> dict[str, Any]:
        if not all(isinstance(value.get(key), str) and value[key].strip() for key in ("model", "licence")):
            raise ValueError("expected the model or paper (model) and its licence (licence)")
        return value


# --- muscles -----------------------------------------------------------------------------------------------------


def build_muscle(entry: Any, index: int, joints: list[str], faults: list[str]) -> Muscle | None:
    """Build a muscle from its entry; None, with messages in `faults`, if invalid.

    Parameters
    ----------
    entry : Any
        Entry of the file.
    index : int
        Index in the list, from 0; for a muscle without a name.
    joints : list of str
        Joints of the set.
    faults : list of str
        Faults are added here.

    Returns
    -------
    Muscle or None
    """
    name = entry.get("name") if isinstance(entry, dict) else None
    where = f"muscle '{name}'" if isinstance(name, str) and name.strip() else f"muscle {index + 1}"
    n_before = len(faults)
    row = given = None
    with at(f"{where}: ", faults):
        row = valid(MuscleEntry, entry)
    parts = {key: value for key, value in entry.items() if value is not None} if isinstance(entry, dict) else {}
    with at(f"{where}: ", faults):
        given = _build_length(parts, joints)
    arms = _build_arms(parts.get("moment_arms"), joints, given, where, faults)
    _check_function(parts.get("function"), arms, joints, where, faults)
    lines = _build_lines(parts.get("lines_of_action"), joints, arms, where, faults)
    if row is None:
        return None
    fibres = [key for key in FIBRES if getattr(row, key) is not None]
    if 0 < len(fibres) < len(FIBRES):
        faults.append(f"{where}: has {' and '.join(fibres)} only, expected all of {', '.join(FIBRES)} or none")
    if not row.min_activation < row.max_activation:
        faults.append(
            f"{where}: min_activation is {row.min_activation!r} and max_activation {row.max_activation!r}, expected "
            "0 <= least < largest <= 1"
        )
    if len(faults) > n_before:
        return None
    length = None
    with at(where, faults):
        length = _complete_length(row, given, arms)
    if len(faults) > n_before:
        return None
    return Muscle(
        **{key: getattr(row, key) for key in SAME},
        full_name=row.full_name or row.name,
        source={key: str(value) for key, value in row.source.items()},
        moment_arms=arms,
        length=length,
        lines_of_action=lines,
    )


def _unknown_joints(key: str, given: dict[str, Any], joints: list[str], where: str) -> list[str]:
    return [
        f"{where}: {key} has joint '{joint}', which the set does not have{did_you_mean(str(joint), joints)}"
        for joint in given
        if joint not in joints
    ]


# --- moment arms -------------------------------------------------------------------------------------------------


def _build_arms(
    entries: Any, joints: list[str], length: MusculotendonLength | None, where: str, faults: list[str]
) -> dict[str, MomentArm]:
    """Moment arms of a muscle by joint, those without a fault."""
    if not isinstance(entries, dict):  # reported for `MuscleEntry`
        return {}
    faults += _unknown_joints("moment_arms", entries, joints, where)
    arms = {}
    for joint in joints:
        if joint not in entries:
            faults.append(f"{where}: moment_arms lacks the {joint}; write 'form: zero' if the muscle does not cross it")
            continue
        with at(f"{where} at the {joint}: ", faults):
            arms[joint] = _build_arm(entries[joint], joint, joints, length)
    return arms


def _build_arm(entry: Any, joint: str, joints: list[str], length: MusculotendonLength | None) -> MomentArm:
    """Moment arm of an entry; raises `EntryError`."""
    form = form_of(entry, list(FORMS), "the moment arm's")
    if form == "from_length":
        curve = _curve_from_length(joint, length)
    elif form in CURVE_FORMS or "range_deg" in entry:
        powers = {"coefficients": entry["arm_m"]} if form == "constant" else {}
        curve = read_curve({**entry, **powers}, values_key="arms_m", own_joint=joint, known_joints=joints)
    else:
        curve = constant(entry.get("arm_m", 0.0), joint=joint)
    longest = float(np.abs(_over_range(curve)).max())
    if longest > LARGEST_ARM_M:
        raise EntryError(f"the arm reaches {longest:.3g} m, expected {LARGEST_ARM_M} m at most; is it in millimetres?")
    return MomentArm(form, curve, entry.get("note", ""), _published(entry.get("published")))


def _curve_from_length(joint: str, length: MusculotendonLength | None) -> Curve:
    """Minus the slope of a muscle's length, as a curve."""
    if length is None:
        raise EntryError("the moment arm is from_length, which needs a valid length of the muscle (length)")
    (curve,) = length.curves
    if joint not in curve.joints:
        raise EntryError(
            f"the moment arm is from_length, but the length depends on {', '.join(curve.joints)} only; "
            "write 'form: zero' if the muscle does not cross it"
        )
    held = replace(curve, range_rad=tuple(length.range_rad[name] for name in curve.joints))
    return times(derivative(held, joint), -1.0)


def _published(entry: dict[str, Any] | None) -> PublishedRange | None:
    """Range of the published arms, checked."""
    if entry is None:
        return None
    flexion, low, high = (np.array(entry[key], dtype=float) for key in ("flexion_deg", "lowest_m", "highest_m"))
    if not (len(flexion) == len(low) == len(high) and (np.diff(flexion) > 0).all() and (low <= high).all()):
        raise EntryError(
            f"published has {len(flexion)} angles, {len(low)} lowest and {len(high)} highest arms, expected as many of "
            "each, rising angles, and no lowest arm above the highest"
        )
    angles = tuple(np.radians(flexion).tolist())
    return PublishedRange(angles, tuple(low.tolist()), tuple(high.tolist()), entry["other_sources"])


def _over_range(curve: Curve) -> FloatArray:
    """Values of a curve on a grid over its range."""
    return evaluate(curve, _grid_over(curve.range_rad))


def _grid_over(ranges: Sequence[Range]) -> list[FloatArray]:
    """Grid of flexions over ranges; flexion 0 where a range is infinite."""
    n = {1: 200, 2: 41}.get(len(ranges), 13)
    lines = [np.linspace(*ends, n) if math.isfinite(sum(ends)) else np.zeros(1) for ends in ranges]
    return list(np.meshgrid(*lines, indexing="ij"))


def _check_function(
    function: Any, arms: dict[str, MomentArm], joints: list[str], where: str, faults: list[str]
) -> None:
    """Check signs at flexion 0: a flexor flexes and an extensor extends."""
    if not isinstance(function, dict):  # reported for `MuscleEntry`
        return
    faults += _unknown_joints("function", function, joints, where)
    for joint, sense in function.items():
        if joint in arms and isinstance(sense, str) and sense in SENSES:
            with at(f"{where} is named {'an' if sense == 'extensor' else 'a'} {sense} of the {joint}, but ", faults):
                _check_sign(arms[joint], SENSES[sense])
    for joint, arm in arms.items():
        if not arm.is_zero and joint not in function:
            faults.append(f"{where} has a moment arm at the {joint}; add flexor or extensor for it to function")


def _check_sign(arm: MomentArm, sense: float) -> None:
    """Check the sign of a moment arm at flexion 0 and in the middle of its range."""
    at_zero = float(evaluate(arm.curve, [0.0] * len(arm.curve.joints)))
    if at_zero * sense <= 0:
        raise EntryError(f"its moment arm at 0 flexion is {at_zero:+.4f} m; positive arms flex (r = -dL/dq)")
    middle = [sum(ends) / 2 if math.isfinite(sum(ends)) else 0.0 for ends in arm.curve.range_rad]
    value = float(evaluate(arm.curve, middle))
    if value * sense <= 0 and not arm.note.strip():
        place = ", ".join(f"{math.degrees(q):.0f}" for q in middle)
        raise EntryError(
            f"in the middle of its range ({place} deg) its moment arm is {value:+.4f} m; "
            "if its function changes there, add a note"
        )


# --- lengths -----------------------------------------------------------------------------------------------------


def _build_length(entry: dict[str, Any], joints: list[str]) -> MusculotendonLength | None:
    """Build the length curve of an entry; None where missing."""
    if "length" not in entry:
        return None
    given = entry["length"]
    if "length_at_zero_m" in entry:
        raise EntryError("length and length_at_zero_m are both present; remove one")
    with at("length: "):
        form = form_of(given, CURVE_FORMS, "its")
        curve = read_curve(given, values_key="lengths_m", own_joint=None, known_joints=joints)
    lengths = _over_range(curve)
    if not (lengths.min() > 0 and lengths.max() < LARGEST_LENGTH_M):
        raise EntryError(
            f"length is {lengths.min():.3g} to {lengths.max():.3g} m over its range, expected above 0 and "
            f"below {LARGEST_LENGTH_M:g} m; is it in millimetres?"
        )
    ranges = dict(zip(curve.joints, curve.range_rad, strict=True))
    return MusculotendonLength(form, 0.0, (extended(curve, linear=True) if len(ranges) == 1 else curve,), ranges)


def _complete_length(
    row: MuscleEntry, given: MusculotendonLength | None, arms: dict[str, MomentArm]
) -> MusculotendonLength | None:
    """Muscle length from its curve or arms, checked; None over joints without data."""
    gaps = {joint for joint, arm in arms.items() if arm.form == "not_sampled"}
    if given:
        _check_agreement(given, arms)
        length = None if gaps - set(given.range_rad) else given
    else:
        length = _length_from_arms(row.length_at_zero_m, arms) if row.length_at_zero_m is not None else None
        length = None if gaps else length
    if length is None or row.tendon_slack_length_m is None:
        return length
    longest = length.offset_m + sum(float(_over_range(curve).max()) for curve in length.curves)
    if longest <= row.tendon_slack_length_m:
        raise EntryError(
            f": tendon_slack_length_m is {row.tendon_slack_length_m:g} m, expected less than the greatest length of muscle "
            f"and tendon, {longest:.3f} m"
        )
    return length


def _length_from_arms(at_zero_m: float, arms: dict[str, MomentArm]) -> MusculotendonLength:
    """L(q) = L(0) - sum over the joints of the integral of the arm from 0."""
    moving = {joint: arm.curve for joint, arm in arms.items() if not arm.is_zero}
    if others := [joint for joint, curve in moving.items() if curve.joints != (joint,)]:
        raise EntryError(
            *(
                ": length_at_zero_m needs moment arms that depend on their own joint only; the one at the "
                f"{joint} depends on {', '.join(moving[joint].joints)}: give the length as a curve (length)"
                for joint in others
            )
        )
    curves = tuple(times(integral(curve), -1.0) for curve in moving.values())
    shortest = at_zero_m + sum(
        float(evaluate(curve, _grid_over(arm.range_rad)).min())
        for curve, arm in zip(curves, moving.values(), strict=True)
    )
    if shortest <= 0:
        raise EntryError(
            f": from length_at_zero_m {at_zero_m:g} m and the moment arms its length falls to {shortest:.3g} m "
            "within their range"
        )
    return MusculotendonLength("at_zero", float(at_zero_m), curves)


def _check_agreement(length: MusculotendonLength, arms: dict[str, MomentArm]) -> None:
    """Check the arms of a muscle against minus the slopes of its length."""
    (curve,) = length.curves
    faults = []
    for joint, arm in arms.items():
        if arm.form in {"from_length", "not_sampled"} or (arm.is_zero and joint not in curve.joints):
            continue
        ranges = narrowest([*zip(arm.curve.joints, arm.curve.range_rad, strict=True), *length.range_rad.items()])
        names = list(dict.fromkeys([*arm.curve.joints, *curve.joints]))
        grid = dict(zip(names, _grid_over([ranges.get(name, EVERYWHERE) for name in names]), strict=True))
        value = evaluate(arm.curve, [grid[name] for name in arm.curve.joints])
        slope = evaluate(derivative(curve, joint), [grid[name] for name in curve.joints])
        off = np.abs(value + slope)
        allowed = max(AGREE_M, AGREE_PART * float(np.abs(value).max()))
        if off.max() > allowed:
            worst = int(off.argmax())
            place = ", ".join(f"{name} {math.degrees(grid[name].flat[worst]):.0f} deg" for name in names)
            faults.append(
                f" at the {joint}: the moment arm is {value.flat[worst]:+.4f} m and minus the slope of the "
                f"length {-slope.flat[worst]:+.4f} m at {place}; expected them within {1e3 * allowed:.1f} mm (r = -dL/dq)"
            )
    if faults:
        raise EntryError(*faults)


# --- lines of action ---------------------------------------------------------------------------------------------


def _build_lines(
    entries: Any, joints: list[str], arms: dict[str, MomentArm], where: str, faults: list[str]
) -> dict[str, LineOfAction]:
    """Lines of action of a muscle by joint; adds faults of the entries to a list."""
    lines: dict[str, LineOfAction] = {}
    if not isinstance(entries, dict):  # none, or reported for `MuscleEntry`
        return lines
    faults += _unknown_joints("lines_of_action", entries, joints, where)
    for joint in [joint for joint in entries if joint in joints]:
        if joint in arms and arms[joint].is_zero and arms[joint].form != "not_sampled":
            faults.append(f"{where}: lines_of_action has the {joint}, which the muscle does not cross")
        with at(f"{where}: line of action at the {joint}: ", faults):
            lines[joint] = _build_line(entries[joint])
    return lines


def _build_line(entry: Any) -> LineOfAction:
    row = valid(LineEntry, entry)
    given = [key for key in ("parallel_to", "proximal_m", "distal_m", "direction_deg") if getattr(row, key) is not None]
    if given not in (["parallel_to"], ["proximal_m", "distal_m"], ["direction_deg"]):
        raise EntryError("expected one of parallel_to, direction_deg, or both proximal_m and distal_m")
    of_direction = [key for key in OF_DIRECTIONS if getattr(row, key) is not None]
    if of_direction and row.direction_deg is None:
        raise EntryError(f"{of_direction[0]} belongs to direction_deg, which is not given")
    proximal_m, distal_m = ((point[0], point[1]) if point else None for point in (row.proximal_m, row.distal_m))
    direction = None
    if row.direction_deg is not None:
        low, high = row.range_deg or (-math.inf, math.inf)
        direction = Direction(
            tuple(map(math.radians, row.direction_deg)),
            range_rad=(math.radians(low), math.radians(high)),
            in_plane_part=1.0 if row.in_plane_part is None else row.in_plane_part,
        )
    return LineOfAction(row.parallel_to, proximal_m, distal_m, row.source, row.note or "", direction)
