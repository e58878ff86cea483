"""Muscles in a set's file: entry models, cross-checks, and built muscles."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import field_validator

from limbtorque.arrays import FloatArray
from limbtorque.errors import did_you_mean
from limbtorque.muscles.sets.curve_entry import (
    CURVE_FORMS,
    Departing,
    Entry,
    FormEntry,
    Polynomial,
    Sampled,
    Spline,
    Text,
    departure_of,
    read_curve,
)
from limbtorque.muscles.sets.line_entries import build_lines
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
    MomentArm,
    Muscle,
    MusculotendonLength,
    PublishedRange,
    narrowest,
)
from limbtorque.study.faults import checked
from limbtorque.study.options.base import option

LARGEST_ARM_M = 0.15  # longer than any limb muscle's moment arm: probably in millimetres
LARGEST_LENGTH_M = 1.0
LARGEST_STRAIN = 0.2  # no tendon bears as much
LEAST_FORCE_N = 5.0
FIBRES = ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad")
AGREE_PART, AGREE_M = 0.2, 5e-3  # largest difference of an arm from -dL/dq of the muscle's length
SENSES = {"flexor": 1.0, "extensor": -1.0}


# --- entries -----------------------------------------------------------------------------------------------------


class PublishedEntry(Entry):
    """Range of the published moment arms, by flexion."""

    flexion_deg: list[float] = option(..., "Rising flexion.", "deg", min_length=2)
    lowest_m: list[float] = option(..., "Least published arm, the set's among them.", "m")
    highest_m: list[float] = option(..., "Largest published arm, the set's among them.", "m")
    other_sources: int = option(..., "Number of other published sources.", "1", ge=1)


class Sourced(Entry):
    """A moment arm with the range of all published ones."""

    published: PublishedEntry | None = option(None, "Range of the published arms, by flexion.")


class Arm(Departing, Sourced):
    """A moment arm with its own departure and that of the integrated length."""

    length_departure_m: float | None = option(None, "Largest departure of the integrated length.", "m")
    length_departs_at_deg: float | list[float] | None = option(None, "Flexion where the length departs so.", "deg")


class ConstantArm(Arm):
    """The same moment arm at every flexion."""

    arm_m: float = option(..., "Moment arm.", "m")
    range_deg: Any = option(None, "Lowest and highest flexion.", "deg")


class PolynomialArm(Polynomial, Arm):
    """A moment arm as a polynomial."""


class SplineArm(Spline, Arm):
    """A moment arm as a spline."""

    arms_m: Any = option(..., "Moment arms at the knots.", "m")


class SampledArm(Sampled, Sourced):
    """Samples of a moment arm."""

    arms_m: Any = option(..., "Moment arms at the samples.", "m")


class PolynomialLength(Polynomial):
    """A length as a polynomial."""

    joints: Any = option(..., "Joints it depends on.")


class SplineLength(Spline):
    """A length as a spline."""

    joints: Any = option(..., "Joint it depends on.")
    lengths_m: Any = option(..., "Lengths at the knots.", "m")


class SampledLength(Sampled):
    """Samples of a length."""

    joints: Any = option(..., "Joints it depends on.")
    lengths_m: Any = option(..., "Lengths at the samples.", "m")


ARM_FORMS: dict[str, type[FormEntry]] = {
    "zero": FormEntry,
    "not_sampled": FormEntry,
    "constant": ConstantArm,
    "polynomial": PolynomialArm,
    "spline": SplineArm,
    "sampled": SampledArm,
    "from_length": Arm,
}
LENGTH_FORMS: dict[str, type[FormEntry]] = {
    "polynomial": PolynomialLength,
    "spline": SplineLength,
    "sampled": SampledLength,
}


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
    before = len(faults)
    row = checked(MuscleEntry, entry, where=where, faults=faults)
    parts = {key: value for key, value in entry.items() if value is not None} if isinstance(entry, dict) else {}
    given = _build_length(parts, joints, where, faults)
    arms = _build_arms(parts.get("moment_arms"), joints, given, where, faults)
    _check_function(parts.get("function"), arms, joints, where, faults)
    lines = build_lines(parts.get("lines_of_action"), joints, arms, where, faults)
    if row is None:
        return None
    _check_together(row, where, faults)
    length = _complete_length(row, given, arms, where, faults) if len(faults) == before else None
    if len(faults) == before and length is not None:
        _check_slack(row, length, where, faults)
    if len(faults) > before:
        return None
    return Muscle(
        name=row.name,
        full_name=row.full_name or row.name,
        max_isometric_force_n=row.max_isometric_force_n,
        source={key: str(value) for key, value in row.source.items()},
        function=dict(row.function),
        moment_arms=arms,
        length=length,
        lines_of_action=lines,
        min_activation=row.min_activation,
        max_activation=row.max_activation,
        optimal_fibre_length_m=row.optimal_fibre_length_m,
        tendon_slack_length_m=row.tendon_slack_length_m,
        pennation_rad=row.pennation_rad,
        tendon_strain=row.tendon_strain,
        pcsa_cm2=row.pcsa_cm2,
    )


def _check_together(row: MuscleEntry, where: str, faults: list[str]) -> None:
    given = [key for key in FIBRES if getattr(row, key) is not None]
    if 0 < len(given) < len(FIBRES):
        faults.append(f"{where}: has {' and '.join(given)} only, expected all of {', '.join(FIBRES)} or none")
    if not row.min_activation < row.max_activation:
        faults.append(
            f"{where}: min_activation is {row.min_activation!r} and max_activation {row.max_activation!r}, expected "
            "0 <= least < largest <= 1"
        )


def _check_slack(row: MuscleEntry, length: MusculotendonLength, where: str, faults: list[str]) -> None:
    """Check that the muscle is longer than its tendon somewhere in its range."""
    slack = row.tendon_slack_length_m
    if slack is None:
        return
    longest = length.offset_m + sum(float(_over_range(curve).max()) for curve in length.curves)
    if longest <= slack:
        faults.append(
            f"{where}: tendon_slack_length_m is {slack:g} m, expected less than the greatest length of muscle and tendon, "
            f"{longest:.3f} m"
        )


# --- moment arms -------------------------------------------------------------------------------------------------


def _build_arms(
    entries: Any, joints: list[str], length: MusculotendonLength | None, where: str, faults: list[str]
) -> dict[str, MomentArm]:
    if not isinstance(entries, dict):  # reported for `MuscleEntry`
        return {}
    faults += [
        f"{where}: moment_arms has joint '{joint}', which the set does not have{did_you_mean(str(joint), joints)}"
        for joint in entries
        if joint not in joints
    ]
    arms = {}
    for joint in joints:
        if joint not in entries:
            faults.append(f"{where}: moment_arms lacks the {joint}; write 'form: zero' if the muscle does not cross it")
            continue
        arm = _build_arm(entries[joint], joint, joints, length, f"{where} at the {joint}", faults)
        if arm is not None:
            arms[joint] = arm
    return arms


def _build_arm(
    entry: Any, joint: str, joints: list[str], length: MusculotendonLength | None, where: str, faults: list[str]
) -> MomentArm | None:
    form = entry.get("form") if isinstance(entry, dict) else None
    if not isinstance(form, str) or form not in ARM_FORMS:
        near = did_you_mean(str(form), ARM_FORMS)
        faults.append(f"{where}: the moment arm's form is {form!r}, expected {', '.join(ARM_FORMS)}{near}")
        return None
    if checked(ARM_FORMS[form], entry, where=where, faults=faults) is None:
        return None
    if not _published_fits(entry.get("published"), where, faults):
        return None
    if form == "from_length":
        arm = _arm_from_length(entry, joint, length, where, faults)
    elif form in CURVE_FORMS or "range_deg" in entry:
        one = {"coefficients": entry["arm_m"]} if form == "constant" else {}
        read = read_curve(
            {**entry, **one}, values_key="arms_m", own_joint=joint, known_joints=joints, where=where, faults=faults
        )
        arm = _described_arm(entry, read.curve, read.max_departure_m, read.departs_at_deg) if read else None
    else:
        arm = _described_arm(entry, constant(entry.get("arm_m", 0.0), joint=joint))
    if arm is None:
        return None
    longest = float(np.abs(_over_range(arm.curve)).max())
    if longest > LARGEST_ARM_M:
        faults.append(
            f"{where}: the arm reaches {longest:.3g} m, expected {LARGEST_ARM_M} m at most; is it in millimetres?"
        )
        return None
    return arm


def _published_fits(entry: dict[str, Any] | None, where: str, faults: list[str]) -> bool:
    """Check the range of the published arms."""
    if entry is None:
        return True
    flexion, low, high = (np.array(entry[key], dtype=float) for key in ("flexion_deg", "lowest_m", "highest_m"))
    fits = len(flexion) == len(low) == len(high) and bool((np.diff(flexion) > 0).all() and (low <= high).all())
    if not fits:
        faults.append(
            f"{where}: published has {len(flexion)} angles, {len(low)} lowest and {len(high)} highest arms, expected as many of "
            "each, rising angles, and no lowest arm above the highest"
        )
    return fits


def _published(entry: dict[str, Any] | None) -> PublishedRange | None:
    if entry is None:
        return None
    flexion = tuple(math.radians(q) for q in entry["flexion_deg"])
    return PublishedRange(flexion, tuple(entry["lowest_m"]), tuple(entry["highest_m"]), entry["other_sources"])


def _described_arm(
    entry: dict[str, Any], curve: Curve, departure_m: float | None = None, departs_at_deg: tuple[float, ...] = ()
) -> MomentArm:
    at = entry.get("length_departs_at_deg", [])
    return MomentArm(
        entry["form"],
        curve,
        departure_m,
        departs_at_deg,
        entry.get("length_departure_m"),
        tuple(float(q) for q in (at if isinstance(at, list) else [at])),
        entry.get("note", ""),
        entry.get("rms_departure_m"),
        _published(entry.get("published")),
    )


def _arm_from_length(
    entry: dict[str, Any], joint: str, length: MusculotendonLength | None, where: str, faults: list[str]
) -> MomentArm | None:
    if length is None:
        faults.append(f"{where}: the moment arm is from_length, which needs a valid length of the muscle (length)")
        return None
    (curve,) = length.curves
    if joint not in curve.joints:
        faults.append(
            f"{where}: the moment arm is from_length, but the length depends on {', '.join(curve.joints)} only; "
            "write 'form: zero' if the muscle does not cross it"
        )
        return None
    held = replace(curve, range_rad=tuple(length.range_rad[name] for name in curve.joints))
    return _described_arm(entry, times(derivative(held, joint), -1.0), *departure_of(entry))


def _over_range(curve: Curve) -> FloatArray:
    """Values of a curve on a grid over its range."""
    return evaluate(curve, _grid_over([*curve.range_rad]))


def _grid_over(ranges: list[Range]) -> list[FloatArray]:
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
    for joint, sense in function.items():
        if joint not in joints:
            faults.append(
                f"{where}: function has joint '{joint}', which the set does not have{did_you_mean(str(joint), joints)}"
            )
        elif joint in arms and isinstance(sense, str) and sense in SENSES:
            _check_sign(arms[joint], joint, sense, where, faults)
    for joint, arm in arms.items():
        if not arm.is_zero and joint not in function:
            faults.append(f"{where} has a moment arm at the {joint}; add flexor or extensor for it to function")


def _check_sign(arm: MomentArm, joint: str, sense: str, where: str, faults: list[str]) -> None:
    named = f"{where} is named {'an' if sense == 'extensor' else 'a'} {sense} of the {joint}"
    at_zero = float(evaluate(arm.curve, [0.0] * len(arm.curve.joints)))
    if at_zero * SENSES[sense] <= 0:
        faults.append(f"{named}, but its moment arm at 0 flexion is {at_zero:+.4f} m; positive arms flex (r = -dL/dq)")
        return
    middle = [sum(ends) / 2 if math.isfinite(sum(ends)) else 0.0 for ends in arm.curve.range_rad]
    value = float(evaluate(arm.curve, middle))
    if value * SENSES[sense] <= 0 and not arm.note.strip():
        at = ", ".join(f"{math.degrees(q):.0f}" for q in middle)
        faults.append(
            f"{named}, but in the middle of its range ({at} deg) its moment arm is {value:+.4f} m; "
            "if its function changes there, add a note"
        )


# --- lengths -----------------------------------------------------------------------------------------------------


def _build_length(
    entry: dict[str, Any], joints: list[str], where: str, faults: list[str]
) -> MusculotendonLength | None:
    """Build the length curve of an entry; None where missing or invalid."""
    if "length" not in entry:
        return None
    where = f"{where}: length"
    given = entry["length"]
    if "length_at_zero_m" in entry:
        faults.append(f"{where} and length_at_zero_m are both present; remove one")
        return None
    form = given.get("form") if isinstance(given, dict) else None
    if not isinstance(form, str) or form not in CURVE_FORMS:
        near = did_you_mean(str(form), CURVE_FORMS)
        faults.append(f"{where}: its form is {form!r}, expected {', '.join(CURVE_FORMS)}{near}")
        return None
    if checked(LENGTH_FORMS[form], given, where=where, faults=faults) is None:
        return None
    read = read_curve(given, values_key="lengths_m", own_joint=None, known_joints=joints, where=where, faults=faults)
    if read is None:
        return None
    lengths = _over_range(read.curve)
    if not _length_fits(lengths, where, faults):
        return None
    ranges = dict(zip(read.curve.joints, read.curve.range_rad, strict=True))
    curve = extended(read.curve, linear=True) if len(ranges) == 1 else read.curve
    note = given.get("note", "")
    return MusculotendonLength(form, 0.0, (curve,), ranges, read.max_departure_m, read.departs_at_deg, note)


def _length_fits(lengths: FloatArray, where: str, faults: list[str]) -> bool:
    fits = lengths.min() > 0 and lengths.max() < LARGEST_LENGTH_M
    if not fits:
        faults.append(
            f"{where} is {lengths.min():.3g} to {lengths.max():.3g} m over its range, expected above 0 and "
            f"below {LARGEST_LENGTH_M:g} m; is it in millimetres?"
        )
    return bool(fits)


def _complete_length(
    row: MuscleEntry, given: MusculotendonLength | None, arms: dict[str, MomentArm], where: str, faults: list[str]
) -> MusculotendonLength | None:
    """Muscle length from its curve or its arms; None over joints without data."""
    gaps = {joint for joint, arm in arms.items() if arm.form == "not_sampled"}
    if given:
        _check_agreement(given, arms, where, faults)
        return None if gaps - set(given.range_rad) else given
    if row.length_at_zero_m is None:
        return None
    length = _length_from_arms(row.length_at_zero_m, arms, where, faults)
    return None if gaps else length


def _length_from_arms(
    at_zero_m: float, arms: dict[str, MomentArm], where: str, faults: list[str]
) -> MusculotendonLength | None:
    """L(q) = L(0) - sum over the joints of the integral of the arm from 0."""
    moving = {joint: arm.curve for joint, arm in arms.items() if not arm.is_zero}
    others = [joint for joint, curve in moving.items() if curve.joints != (joint,)]
    faults += [
        f"{where}: length_at_zero_m needs moment arms that depend on their own joint only; the one at the {joint} "
        f"depends on {', '.join(moving[joint].joints)}: give the length as a curve (length)"
        for joint in others
    ]
    if others:
        return None
    curves = tuple(times(integral(curve), -1.0) for curve in moving.values())
    shortest = at_zero_m + sum(
        float(evaluate(curve, _grid_over([*arm.range_rad])).min())
        for curve, arm in zip(curves, moving.values(), strict=True)
    )
    if shortest <= 0:
        faults.append(
            f"{where}: from length_at_zero_m {at_zero_m:g} m and the moment arms its length falls to {shortest:.3g} m "
            "within their range"
        )
    return MusculotendonLength("at_zero", float(at_zero_m), curves)


def _check_agreement(length: MusculotendonLength, arms: dict[str, MomentArm], where: str, faults: list[str]) -> None:
    """Check the arms of a muscle against minus the slopes of its length."""
    (curve,) = length.curves
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
            at = ", ".join(f"{name} {math.degrees(grid[name].flat[worst]):.0f} deg" for name in names)
            faults.append(
                f"{where} at the {joint}: the moment arm is {value.flat[worst]:+.4f} m and minus the slope of the "
                f"length {-slope.flat[worst]:+.4f} m at {at}; expected them within {1e3 * allowed:.1f} mm (r = -dL/dq)"
            )
