"""Curves in a muscle set's file: entry models, and curves built from them.

A moment arm depends on its own joint: one polynomial, a shape-preserving spline through knots, samples that are fitted, or
minus the slope of the muscle's length, which is sampled on a grid over the joints that it crosses.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from limbtorque.arrays import FloatArray
from limbtorque.errors import did_you_mean
from limbtorque.muscles.sets.moment_arm_curves import (
    EVERYWHERE,
    Curve,
    Range,
    constant,
    evaluate,
    interpolating_spline,
    polynomial,
    shape_preserving_spline,
)
from limbtorque.study.options.base import Frozen, option

LEAST_RANGE_DEG = 2.0 * math.pi  # a shorter range is more likely in radians
NEGLIGIBLE_M = 1e-4
LARGEST_DEPARTURE_M = 1e-3
LARGEST_PART = 0.05
HIGHEST_DEGREE = 4
MOST_KNOTS = 9


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a text")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]


class Entry(Frozen):
    """Entry of a muscle set's file; a number in quotes is text."""

    model_config = ConfigDict(strict=True)


def check_joints(joints: Collection[str], info: ValidationInfo) -> None:
    """Check joint names against the set, the context of the validation."""
    for joint in joints:
        if joint not in (info.context or ()):
            raise ValueError(f"the set has no joint '{joint}'{did_you_mean(joint, info.context or ())}")


class PublishedRange(Entry):
    """Lowest and highest published moment arm of a muscle at a joint, by flexion."""

    flexion_deg: list[float] = option(..., "Rising flexion.", "deg", min_length=2)
    lowest_m: list[float] = option(..., "Smallest published moment arm, including that of the set.", "m")
    highest_m: list[float] = option(..., "Largest published moment arm, including that of the set.", "m")
    other_sources: int = option(..., "Number of other published sources.", "1", ge=1)

    @model_validator(mode="after")
    def _of_one_length(self) -> Self:
        flexion, low, high = (np.array(values) for values in (self.flexion_deg, self.lowest_m, self.highest_m))
        if not (len(flexion) == len(low) == len(high) and (np.diff(flexion) > 0).all() and (low <= high).all()):
            raise ValueError(
                f"{len(flexion)} angles, {len(low)} lowest and {len(high)} highest arms, expected as many of each, rising "
                "angles, and no lowest arm above the highest"
            )
        return self

    def at(self, flexion_rad: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest moment arm at any flexion, m; constant beyond the ends."""
        at, angles = np.asarray(flexion_rad, dtype=float), np.radians(self.flexion_deg)
        return np.interp(at, angles, self.lowest_m), np.interp(at, angles, self.highest_m)


class Absent(Entry):
    """No moment arm: the muscle does not cross the joint, or no data exist."""

    form: Literal["zero", "not_sampled"] = option(..., "Form of the moment arm.")
    note: str = option("", "A remark.")


class Fitted(Entry):
    """A curve, its deviations from samples, and the range of published moment arms."""

    note: str = option("", "A remark.")
    max_departure_m: float | None = option(None, "Largest deviation from the samples.", "m")
    departs_at_deg: float | list[float] | None = option(None, "Flexion at the largest deviation, by joint.", "deg")
    rms_departure_m: float | None = option(None, "Root mean square deviation from the samples.", "m")
    length_departure_m: float | None = option(None, "Largest deviation of the integrated length.", "m")
    length_departs_at_deg: float | list[float] | None = option(None, "Flexion at that length deviation.", "deg")
    published: PublishedRange | None = option(None, "Range of the published moment arms, by flexion.")


class FromLength(Fitted):
    """Minus the slope of the muscle's length."""

    form: Literal["from_length"] = option(..., "Form of the moment arm.")


class Constant(Fitted):
    """The same moment arm at every flexion."""

    form: Literal["constant"] = option(..., "Form of the moment arm.")
    arm_m: float = option(..., "Moment arm.", "m")
    range_deg: Any = option(None, "Lowest and highest flexion.", "deg")

    def curve(self, own_joint: str) -> Curve:
        """Build the curve of a joint; raises ValueError for a fault."""
        ends = EVERYWHERE if self.range_deg is None else _range(self.range_deg)
        return polynomial([self.arm_m], joints=[own_joint], range_rad=[ends])


class Polynomial(Fitted):
    """Coefficients of rising powers of the flexion in radians."""

    form: Literal["polynomial"] = option(..., "Form of the curve.")
    coefficients: Any = option(..., "Coefficients.")
    range_deg: Any = option(..., "Lowest and highest flexion.", "deg")

    def curve(self, own_joint: str) -> Curve:
        """Build the curve of a joint; raises ValueError for a fault."""
        powers = _numbers("coefficients", self.coefficients)
        return polynomial(powers, joints=[own_joint], range_rad=[_range(self.range_deg)])


class Spline(Fitted):
    """Shape-preserving cubic spline through knots."""

    form: Literal["spline"] = option(..., "Form of the curve.")
    knots_deg: Any = option(..., "Flexion at the knots.", "deg")
    arms_m: Any = option(..., "Moment arms at the knots.", "m")
    range_deg: Any = option(None, "Lowest and highest flexion, within the knots.", "deg")

    def curve(self, own_joint: str) -> Curve:
        """Build the curve of a joint; raises ValueError for a fault."""
        knots, values = _rising("knots_deg", self.knots_deg), _numbers("arms_m", self.arms_m)
        if len(knots) != len(values) or len(knots) < 2:
            raise ValueError(
                f"knots_deg has {len(knots)} numbers and arms_m {len(values)}, expected the same, two at least"
            )
        ends = [float(knots[0]), float(knots[-1])]
        low, high = _range(ends if self.range_deg is None else self.range_deg)
        if low < math.radians(ends[0]) - 1e-9 or high > math.radians(ends[1]) + 1e-9:
            raise ValueError(
                f"range_deg is {self.range_deg}, expected within the knots, {ends[0]:g} to {ends[1]:g} deg"
            )
        return shape_preserving_spline(np.radians(knots), values, joint=own_joint, range_rad=(low, high))


class SampledArm(Fitted):
    """Samples of a moment arm, fitted by the simplest form that follows them (`fit`)."""

    form: Literal["sampled"] = option(..., "Form of the curve.")
    flexion_deg: Any = option(..., "Flexion at the samples.", "deg")
    arms_m: Any = option(..., "Moment arms at the samples.", "m")

    def curve(self, own_joint: str) -> Curve:
        """Build the curve of a joint; raises ValueError for a fault."""
        values, line = _numbers("arms_m", self.arms_m), _rising("flexion_deg", self.flexion_deg)
        _check_grid("arms_m", values, [line])
        fitted = fit(line, values)
        return constant(0.0, joint=own_joint) if isinstance(fitted, Absent) else fitted.curve(own_joint)


class SampledLength(Fitted):
    """Lengths on a grid: a cubic spline with a smooth slope goes through every sample."""

    form: Literal["sampled"] = option(..., "Form of the curve.")
    joints: list[str] = option(..., "Joints it depends on.", min_length=1)
    flexion_deg: Any = option(..., "Flexion at the samples, for each joint.", "deg")
    lengths_m: Any = option(..., "Lengths at the samples.", "m")

    @field_validator("joints")
    @classmethod
    def _of_the_set(cls, joints: list[str], info: ValidationInfo) -> list[str]:
        check_joints(joints, info)
        if len(set(joints)) < len(joints):
            raise ValueError(f"names a joint twice: {', '.join(joints)}")
        return joints

    def curve(self) -> Curve:
        """Build the curve; raises ValueError for a fault."""
        angles, names = self.flexion_deg, ", ".join(self.joints)
        nested = angles if isinstance(angles, list) and angles and isinstance(angles[0], list) else [angles]
        if len(nested) != len(self.joints):
            raise ValueError(
                f"flexion_deg is {angles!r}, expected numbers: a list of angles for each of its joints, {names}"
            )
        lines = [_rising("flexion_deg", line) for line in nested]
        shape = _shape(self.lengths_m)
        if shape is None or 0 in shape or len(shape) != len(lines):
            deep = f" in {len(lines)} nested lists ({names}), rows of equal length" if lines[1:] else ""
            raise ValueError(f"lengths_m is {self.lengths_m!r}, expected numbers{deep}")
        values = np.array(self.lengths_m, dtype=float)
        _check_grid("lengths_m", values, lines)
        return interpolating_spline([np.radians(line) for line in lines], values, joints=self.joints)


ArmEntry: TypeAlias = Annotated[
    Absent | Constant | Polynomial | Spline | SampledArm | FromLength, Field(discriminator="form")
]


def _shape(values: Any) -> tuple[int, ...] | None:
    """Shape of nested lists of finite numbers; None where ragged or of another type."""
    array = np.array(values, dtype=object)
    finite = (isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in array.flat)
    return array.shape if all(finite) else None


def _numbers(key: str, values: Any) -> FloatArray:
    """Array of a list of numbers, one at least."""
    shape = _shape(values)
    if shape is None or 0 in shape or len(shape) != 1:
        raise ValueError(f"{key} is {values!r}, expected numbers")
    return np.array(values, dtype=float)


def _rising(key: str, values: Any) -> FloatArray:
    """Array of rising numbers."""
    numbers = _numbers(key, values)
    if not (np.diff(numbers) > 0.0).all():
        raise ValueError(f"{key} is {numbers.tolist()}, expected rising numbers")
    return numbers


def _range(value: Any) -> Range:
    """Range of flexion in rad."""
    if _shape(value) != (2,) or not value[0] < value[1]:
        raise ValueError(f"range_deg is {value!r}, expected [lowest, highest] flexion in degrees")
    low, high = value
    if high - low < LEAST_RANGE_DEG:
        raise ValueError(
            f"flexion from {low:g} to {high:g}, expected degrees over {LEAST_RANGE_DEG:g} at least; is it in radians?"
        )
    return math.radians(low), math.radians(high)


def _check_grid(key: str, values: FloatArray, lines: Sequence[FloatArray]) -> None:
    """Check that samples are on the grid of their angles, in degrees."""
    shape = tuple(len(line) for line in lines)
    if values.shape != shape or min(shape) < 2:
        grids = [" by ".join(str(n) for n in of) for of in (values.shape, shape)]
        raise ValueError(
            f"{key} is a grid of {grids[0]} samples and flexion_deg one of {grids[1]}; "
            "expected the same, with two angles at least for each joint"
        )
    for line in lines:
        _range([float(line[0]), float(line[-1])])


# --- fits of samples -------------------------------------------------------------------------------------------------


def fit(flexion_deg: FloatArray, sampled_m: FloatArray) -> Absent | Polynomial | Spline:
    """Simplest form that fits a moment arm within 1 mm or 5 %.

    The limit is the smaller of 1 mm and 5 % of the largest arm.

    Parameters
    ----------
    flexion_deg : ndarray of shape (n_samples,)
        Flexion of the joint, rising; two samples at least.
    sampled_m : ndarray of shape (n_samples,)
        Moment arm.

    Returns
    -------
    Absent, Polynomial or Spline
        With its largest departure from the samples: zero where no arm is longer than 0.1 mm; else a polynomial of at most fourth degree (with two samples at least
        for each degree), or a shape-preserving spline with the fewest knots, 9 at most. Coefficients are rounded to 6
        decimals and arms to 0.01 mm.
    """
    angles, longest = np.radians(flexion_deg), float(np.abs(sampled_m).max())
    if longest < NEGLIGIBLE_M:
        return Absent(form="zero")
    ends, n_samples = [float(flexion_deg[0]), float(flexion_deg[-1])], len(flexion_deg)
    allowed = min(LARGEST_DEPARTURE_M, LARGEST_PART * longest)

    def departure(entry: Polynomial | Spline) -> FloatArray:
        return np.abs(evaluate(entry.curve("joint"), [angles]) - sampled_m)

    trial: Polynomial | Spline
    for degree in range(min(HIGHEST_DEGREE, n_samples // 2) + 1):
        powers = np.polynomial.Polynomial.fit(angles, sampled_m, degree).convert().coef
        trial = Polynomial(form="polynomial", coefficients=[round(c, 6) for c in powers.tolist()], range_deg=ends)
        if (off := departure(trial)).max() <= allowed:
            break
    else:  # a spline, with a knot added at the largest error until it fits
        knots = [0, n_samples - 1]
        while True:
            arms_m = [round(arm_m, 5) for arm_m in sampled_m[knots].tolist()]
            trial = Spline(form="spline", knots_deg=flexion_deg[knots].tolist(), arms_m=arms_m, range_deg=ends)
            if (off := departure(trial)).max() <= allowed or len(knots) >= min(MOST_KNOTS, n_samples):
                break
            knots = sorted({*knots, int(off.argmax())})
    largest = {"max_departure_m": round(float(off.max()), 5), "departs_at_deg": float(flexion_deg[off.argmax()])}
    return trial.model_copy(update=largest)
