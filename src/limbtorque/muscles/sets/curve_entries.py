"""Curves in a muscle set's file: entry models, and curves built from them.

The forms are one polynomial, a shape-preserving spline through knots, and samples on a grid; the same for a moment arm
(key ``arms_m``) and for a length (``lengths_m``).
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


class CurveEntry(Fitted):
    """A curve over the flexion of one joint or several."""

    joints: list[str] | None = option(None, "Joints on whose flexion it depends.", min_length=1)

    @field_validator("joints")
    @classmethod
    def _of_the_set(cls, joints: list[str] | None, info: ValidationInfo) -> list[str] | None:
        check_joints(joints or (), info)
        if joints and len(set(joints)) < len(joints):
            raise ValueError(f"names a joint twice: {', '.join(joints)}")
        return joints

    def curve(self, own_joint: str | None = None) -> Curve:
        """Build the curve.

        Parameters
        ----------
        own_joint : str, optional
            Joint of a moment arm; None for a length, which has to name its joints.

        Raises
        ------
        ValueError
            The curve has a fault.
        """
        if not (joints := self.joints or ([own_joint] if own_joint else None)):
            raise ValueError("joints is missing")
        return self._over(joints, "arms_m" if own_joint else "lengths_m")

    def _over(self, joints: list[str], values_key: str) -> Curve:
        raise NotImplementedError

    def _grid(self, key: str, joints: Sequence[str]) -> FloatArray:
        """Array from nested lists, one level per joint."""
        values = getattr(self, key)
        if values is None:
            raise ValueError(f"{key} is missing")
        shape = _shape(values)
        if shape is None or 0 in shape or len(shape) != len(joints):
            deep = f" in {len(joints)} nested lists ({', '.join(joints)}), rows of equal length" if joints[1:] else ""
            raise ValueError(f"{key} is {values!r}, expected numbers{deep}")
        return np.array(values, dtype=float)


class Constant(Fitted):
    """The same moment arm at every flexion."""

    form: Literal["constant"] = option(..., "Form of the moment arm.")
    arm_m: float = option(..., "Moment arm.", "m")
    range_deg: Any = option(None, "Lowest and highest flexion.", "deg")

    def curve(self, own_joint: str) -> Curve:
        """Build the curve of a joint; raises ValueError, as in `CurveEntry`."""
        ranges = [EVERYWHERE] if self.range_deg is None else _ranges(self.range_deg, [own_joint])
        return polynomial([self.arm_m], joints=[own_joint], range_rad=ranges)


class Polynomial(CurveEntry):
    """Coefficients of rising powers of the flexion in radians."""

    form: Literal["polynomial"] = option(..., "Form of the curve.")
    coefficients: Any = option(..., "Coefficients, as nested lists with one level for each joint.")
    range_deg: Any = option(..., "Lowest and highest flexion.", "deg")

    def _over(self, joints: list[str], values_key: str) -> Curve:  # noqa: ARG002 (it has no values)
        ranges = _ranges(self.range_deg, joints)
        return polynomial(self._grid("coefficients", joints), joints=joints, range_rad=ranges)


class Spline(CurveEntry):
    """Shape-preserving cubic spline through knots."""

    form: Literal["spline"] = option(..., "Form of the curve.")
    knots_deg: Any = option(..., "Flexion at the knots.", "deg")
    arms_m: Any = option(None, "Moment arms at the knots.", "m")
    lengths_m: Any = option(None, "Lengths at the knots.", "m")
    range_deg: Any = option(None, "Lowest and highest flexion, within the knots.", "deg")

    def _over(self, joints: list[str], values_key: str) -> Curve:
        if len(joints) > 1:
            raise ValueError(f"a spline depends on one joint; for {', '.join(joints)} give a polynomial or samples")
        knots, values = self._grid("knots_deg", joints), self._grid(values_key, joints)
        if len(knots) != len(values) or len(knots) < 2:
            raise ValueError(
                f"knots_deg has {len(knots)} numbers and {values_key} {len(values)}, expected the same, two at least"
            )
        _check_rising("knots_deg", knots)
        ends = [float(knots[0]), float(knots[-1])]
        ((low, high),) = _ranges(ends if self.range_deg is None else self.range_deg, joints)
        if low < math.radians(ends[0]) - 1e-9 or high > math.radians(ends[1]) + 1e-9:
            raise ValueError(
                f"range_deg is {self.range_deg}, expected within the knots, {ends[0]:g} to {ends[1]:g} deg"
            )
        return shape_preserving_spline(np.radians(knots), values, joint=joints[0], range_rad=(low, high))


class Sampled(CurveEntry):
    """Values on a grid: samples, or a fit to more samples, with its deviations.

    Samples of a moment arm of one joint are fitted by the simplest adequate form (`fit`). Otherwise a cubic
    spline with a smooth slope goes through every sample.
    """

    form: Literal["sampled"] = option(..., "Form of the curve.")
    flexion_deg: Any = option(..., "Flexion at the samples, for each joint.", "deg")
    arms_m: Any = option(None, "Moment arms at the samples.", "m")
    lengths_m: Any = option(None, "Lengths at the samples.", "m")

    def _over(self, joints: list[str], values_key: str) -> Curve:
        values, angles = self._grid(values_key, joints), self.flexion_deg
        nested = angles if isinstance(angles, list) and angles and isinstance(angles[0], list) else [angles]
        if len(nested) != len(joints) or not all(len(_shape(line) or ()) == 1 and line for line in nested):
            raise ValueError(
                f"flexion_deg is {angles!r}, expected numbers: a list of angles for each of its joints, {', '.join(joints)}"
            )
        lines = [np.array(line, dtype=float) for line in nested]
        for line in lines:
            _check_rising("flexion_deg", line)
        shape = tuple(len(line) for line in lines)
        if values.shape != shape or min(shape) < 2:
            grids = [" by ".join(str(n) for n in of) for of in (values.shape, shape)]
            raise ValueError(
                f"{values_key} is a grid of {grids[0]} samples and flexion_deg one of {grids[1]}; "
                "expected the same, with two angles at least for each joint"
            )
        _ranges([[float(line[0]), float(line[-1])] for line in lines], joints)
        if values_key == "arms_m" and len(joints) == 1:
            fitted = fit(lines[0], values)
            return constant(0.0, joint=joints[0]) if isinstance(fitted, Absent) else fitted.curve(joints[0])
        return interpolating_spline([np.radians(line) for line in lines], values, joints=joints)


LengthEntry: TypeAlias = Annotated[Polynomial | Spline | Sampled, Field(discriminator="form")]
ArmEntry: TypeAlias = Annotated[
    Absent | Constant | Polynomial | Spline | Sampled | FromLength, Field(discriminator="form")
]


def _shape(values: Any) -> tuple[int, ...] | None:
    """Shape of nested lists of finite numbers; None where ragged or of another type."""
    array = np.array(values, dtype=object)
    finite = (isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in array.flat)
    return array.shape if all(finite) else None


def _ranges(value: Any, joints: Sequence[str]) -> list[Range]:
    """Ranges of flexion in rad, for each joint."""
    pairs = value if len(joints) > 1 or _shape(value) == (1, 2) else [value]
    if _shape(pairs) != (len(joints), 2) or not all(low < high for low, high in pairs):
        each = "" if len(joints) == 1 else f", one such pair for each of {', '.join(joints)}"
        raise ValueError(f"range_deg is {value!r}, expected [lowest, highest] flexion in degrees{each}")
    if any(high - low < LEAST_RANGE_DEG for low, high in pairs):
        raise ValueError(
            f"flexion from {pairs[0][0]:g} to {pairs[0][1]:g}, expected degrees over {LEAST_RANGE_DEG:g} at least; is the value in "
            "radians?"
        )
    return [(math.radians(low), math.radians(high)) for low, high in pairs]


def _check_rising(key: str, values: FloatArray) -> None:
    if not (np.diff(values) > 0.0).all():
        raise ValueError(f"{key} is {values.tolist()}, expected rising numbers")


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
