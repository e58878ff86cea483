"""Muscles in a set's file: entry models, cross-checks, and built muscles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from pydantic import ValidationInfo, field_validator, model_validator

from limbtorque.arrays import FloatArray
from limbtorque.muscles.sets.curve_entries import (
    Absent,
    ArmEntry,
    Entry,
    FromLength,
    SampledLength,
    Text,
    check_joints,
)
from limbtorque.muscles.sets.moment_arm_curves import (
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
    LineOfAction,
    MomentArm,
    Muscle,
    MusculotendonLength,
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
SENSES = {"flexor": 1.0, "extensor": -1.0}


# --- entries -----------------------------------------------------------------------------------------------------


class MuscleEntry(Entry):
    """Entry of a muscle, with its arms, length and lines of action."""

    name: Text = option(..., "Name.")
    full_name: str | None = option(None, "Anatomical name.")
    max_isometric_force_n: float = option(..., "Strength.", "N", gt=0.0)
    source: dict[str, Any] = option(..., "The model or paper (model) and its licence (licence).")
    function: dict[str, Literal["flexor", "extensor"]] = option(..., "Flexor or extensor at each joint.")
    moment_arms: dict[str, ArmEntry] = option(..., "Moment arm at each joint of the set.")
    length: SampledLength | None = option(None, "Length of muscle and tendon as a curve.")
    length_at_zero_m: float | None = option(
        None, "Length of muscle and tendon with every joint at 0.", "m", gt=0.0, lt=LARGEST_LENGTH_M
    )
    lines_of_action: dict[str, LineOfAction] = option({}, "Lines of action at joints.")
    optimal_fibre_length_m: float | None = option(None, "Optimal fibre length.", "m", gt=0.0, lt=1.0)
    tendon_slack_length_m: float | None = option(None, "Tendon slack length.", "m", gt=0.0, lt=1.0)
    pennation_rad: float | None = option(None, "Pennation at optimal fibre length.", "rad", ge=0.0, lt=math.pi / 2)
    tendon_strain: float | None = option(
        None, "Tendon strain at maximum isometric force.", "1", gt=0.0, le=LARGEST_STRAIN
    )
    tendon_strain_source: Text | None = option(None, "Source of the tendon strain.")
    pcsa_cm2: float | None = option(None, "Physiological cross-sectional area.", "cm2", ge=0.1, lt=1000.0)
    min_activation: float = option(0.0, "Least activation.", "1", ge=0.0, le=1.0)
    max_activation: float = option(1.0, "Largest activation.", "1", ge=0.0, le=1.0)

    @field_validator("max_isometric_force_n")
    @classmethod
    def _newtons(cls, value: float) -> float:
        if value < LEAST_FORCE_N:
            raise ValueError(f"expected {LEAST_FORCE_N:g} N or more; is the value in kilonewtons?")
        return value

    @field_validator("source")
    @classmethod
    def _with_licence(cls, value: dict[str, Any]) -> dict[str, Any]:
        if not all(isinstance(value.get(key), str) and value[key].strip() for key in ("model", "licence")):
            raise ValueError("expected the model or paper (model) and its licence (licence)")
        return value

    @field_validator("function", "moment_arms", "lines_of_action")
    @classmethod
    def _at_joints_of_the_set(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        check_joints(value, info)
        lacking = [joint for joint in info.context or () if joint not in value]
        if lacking and info.field_name == "moment_arms":
            raise ValueError(f"lacks the {', '.join(lacking)}; write 'form: zero' if the muscle does not cross it")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        fibres = [key for key in FIBRES if getattr(self, key) is not None]
        if 0 < len(fibres) < len(FIBRES):
            raise ValueError(f"has {' and '.join(fibres)} only, expected all of {', '.join(FIBRES)} or none")
        if not self.min_activation < self.max_activation:
            raise ValueError(
                f"min_activation is {self.min_activation!r} and max_activation {self.max_activation!r}, expected "
                "0 <= least < largest <= 1"
            )
        if self.length and self.length_at_zero_m is not None:
            raise ValueError("length and length_at_zero_m are both present; remove one")
        crossed = [joint for joint, arm in self.moment_arms.items() if not isinstance(arm, Absent | FromLength)]
        if self.length and crossed:
            raise ValueError(
                f"has a length, so its arm at the {crossed[0]} is minus the slope of it; write 'form: from_length'"
            )
        return self


# --- muscles -----------------------------------------------------------------------------------------------------


@contextmanager
def _collected(place: str, faults: list[str]) -> Iterator[None]:
    """Collect an exception as a fault in a list, with its location."""
    try:
        yield
    except ValueError as error:
        faults.append(f"{place}: {error}")


def build_muscle(entry: MuscleEntry, joints: Sequence[str], faults: list[str]) -> Muscle | None:
    """Build a muscle from its entry; None, with messages in `faults`, if invalid.

    Parameters
    ----------
    entry : MuscleEntry
        Entry of the file.
    joints : sequence of str
        Joints of the set.
    faults : list of str
        Faults are added here.

    Returns
    -------
    Muscle or None
    """
    where, own_faults = f"muscle '{entry.name}'", list[str]()
    length, arms = None, {}
    with _collected(f"{where}: length", own_faults):
        length = _given_length(entry.length) if entry.length else None
    for joint in joints:
        with _collected(f"{where} at the {joint}", own_faults):
            arms[joint] = _moment_arm(entry.moment_arms[joint], joint, length)
    for joint, arm in arms.items():
        own_faults += [f"{where}{fault}" for fault in _function_faults(entry.function.get(joint), joint, arm)]
        if arm.form == "zero" and joint in entry.lines_of_action:
            own_faults.append(f"{where}: lines_of_action has the {joint}, which the muscle does not cross")
    if not own_faults:
        with _collected(where, own_faults):
            length = _complete_length(entry, length, arms)
    faults += own_faults
    if own_faults:
        return None
    return Muscle(
        **{key: getattr(entry, key) for key in SAME},
        full_name=entry.full_name or entry.name,
        source={key: str(value) for key, value in entry.source.items()},
        moment_arms=arms,
        length=length,
        lines_of_action=entry.lines_of_action,
    )


# --- moment arms -------------------------------------------------------------------------------------------------


def _moment_arm(entry: ArmEntry, joint: str, length: MusculotendonLength | None) -> MomentArm:
    """Moment arm of an entry; raises ValueError."""
    if isinstance(entry, Absent):
        return MomentArm(entry.form, constant(0.0, joint=joint), entry.note)
    curve = _curve_from_length(joint, length) if isinstance(entry, FromLength) else entry.curve(joint)
    longest = float(np.abs(_over_range(curve)).max())
    if longest > LARGEST_ARM_M:
        raise ValueError(
            f"the moment arm reaches {longest:.3g} m, expected {LARGEST_ARM_M} m at most; is the value in millimetres?"
        )
    return MomentArm(entry.form, curve, entry.note, entry.published)


def _curve_from_length(joint: str, length: MusculotendonLength | None) -> Curve:
    """Minus the slope of a muscle's length, as a curve."""
    if length is None:
        raise ValueError("the moment arm is from_length, which needs a valid length of the muscle (length)")
    (curve,) = length.curves
    if joint not in curve.joints:
        raise ValueError(
            f"the moment arm is from_length, but the length depends on {', '.join(curve.joints)} only; "
            "write 'form: zero' if the muscle does not cross it"
        )
    held = replace(curve, range_rad=tuple(length.range_rad[name] for name in curve.joints))
    return times(derivative(held, joint), -1.0)


def _over_range(curve: Curve) -> FloatArray:
    """Values of a curve on a grid over its range."""
    return evaluate(curve, _grid_over(curve.range_rad))


def _grid_over(ranges: Sequence[Range]) -> list[FloatArray]:
    """Grid of flexions over ranges; flexion 0 where a range is infinite."""
    n = {1: 200, 2: 41}.get(len(ranges), 13)
    lines = [np.linspace(*ends, n) if math.isfinite(sum(ends)) else np.zeros(1) for ends in ranges]
    return list(np.meshgrid(*lines, indexing="ij"))


def _function_faults(sense: str | None, joint: str, arm: MomentArm) -> Iterator[str]:
    """Faults of moment-arm signs at zero flexion and mid-range."""
    if sense is None:
        if not arm.is_zero:
            yield f" has a moment arm at the {joint}; add flexor or extensor for it to function"
        return
    named = f" is listed as {'an' if sense == 'extensor' else 'a'} {sense} of the {joint}, but"
    at_zero = float(evaluate(arm.curve, [0.0] * len(arm.curve.joints)))
    middle = [sum(ends) / 2 if math.isfinite(sum(ends)) else 0.0 for ends in arm.curve.range_rad]
    in_middle = float(evaluate(arm.curve, middle))
    if at_zero * SENSES[sense] <= 0:
        yield f"{named} its moment arm at 0 flexion is {at_zero:+.4f} m; positive arms flex (r = -dL/dq)"
    elif in_middle * SENSES[sense] <= 0 and not arm.note.strip():
        place = ", ".join(f"{math.degrees(q):.0f}" for q in middle)
        yield (
            f"{named} in the middle of its range ({place} deg) its moment arm is {in_middle:+.4f} m; "
            "if its function changes there, add a note"
        )


# --- lengths -----------------------------------------------------------------------------------------------------


def _given_length(entry: SampledLength) -> MusculotendonLength:
    """Length curve of an entry; raises ValueError."""
    curve = entry.curve()
    lengths = _over_range(curve)
    if not (lengths.min() > 0 and lengths.max() < LARGEST_LENGTH_M):
        raise ValueError(
            f"it is {lengths.min():.3g} to {lengths.max():.3g} m over its range, expected above 0 and "
            f"below {LARGEST_LENGTH_M:g} m; is the value in millimetres?"
        )
    ranges = dict(zip(curve.joints, curve.range_rad, strict=True))
    return MusculotendonLength(entry.form, 0.0, (extended(curve, linear=True) if len(ranges) == 1 else curve,), ranges)


def _complete_length(
    entry: MuscleEntry, given: MusculotendonLength | None, arms: dict[str, MomentArm]
) -> MusculotendonLength | None:
    """Length from its curve or moment arms; None if data are missing at a joint."""
    if given is None and entry.length_at_zero_m is not None:
        given = _length_from_arms(entry.length_at_zero_m, arms)
    if given is None or {joint for joint, arm in arms.items() if arm.form == "not_sampled"} - set(given.range_rad):
        return None
    longest = given.offset_m + sum(float(_over_range(curve).max()) for curve in given.curves)
    if entry.tendon_slack_length_m is not None and longest <= entry.tendon_slack_length_m:
        raise ValueError(
            f"tendon_slack_length_m is {entry.tendon_slack_length_m:g} m, expected less than the greatest length of muscle "
            f"and tendon, {longest:.3f} m"
        )
    return given


def _length_from_arms(at_zero_m: float, arms: dict[str, MomentArm]) -> MusculotendonLength:
    """L(q) = L(0) - sum over the joints of the integral of the arm from 0."""
    moving = {joint: arm.curve for joint, arm in arms.items() if not arm.is_zero}
    curves = tuple(times(integral(curve), -1.0) for curve in moving.values())
    over = (_grid_over(arm.range_rad) for arm in moving.values())
    shortest = at_zero_m + sum(float(evaluate(*of).min()) for of in zip(curves, over, strict=True))
    if shortest <= 0:
        raise ValueError(
            f"from length_at_zero_m {at_zero_m:g} m and the moment arms its length falls to {shortest:.3g} m "
            "within their range"
        )
    return MusculotendonLength("at_zero", float(at_zero_m), curves)
