"""Curves in a muscle set's file: entry models, and curves built from them.

The forms are one polynomial, a shape-preserving spline through knots, and samples on a grid; the same for a moment arm
(key ``arms_m``) and for a length (``lengths_m``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import AfterValidator, ConfigDict, ValidationError

from limbtorque.arrays import FloatArray
from limbtorque.errors import did_you_mean
from limbtorque.muscles.sets.moment_arm_curves import (
    Curve,
    Range,
    constant,
    evaluate,
    interpolating_spline,
    polynomial,
    shape_preserving_spline,
)
from limbtorque.study.faults import sentences
from limbtorque.study.options.base import Frozen, option

LEAST_RANGE_DEG = 2.0 * math.pi  # a shorter range is more likely in radians
CURVE_FORMS = ("polynomial", "spline", "sampled")
NEGLIGIBLE_M = 1e-4
LARGEST_DEPARTURE_M = 1e-3
LARGEST_PART = 0.05
HIGHEST_DEGREE = 4
MOST_KNOTS = 9


class EntryError(ValueError):
    """Faults of an entry, one sentence each."""

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@contextmanager
def at(place: str, faults: list[str] | None = None) -> Iterator[None]:
    """Begin the sentences of faults inside with their place; collect them in a list."""
    try:
        yield
    except EntryError as error:
        placed = [f"{place}{fault}" for fault in error.faults]
        if faults is None:
            raise EntryError(*placed) from None
        faults += placed


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a text")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]


class Entry(Frozen):
    """Entry of a muscle set's file; a number in quotes is a text."""

    model_config = ConfigDict(strict=True)

    @classmethod
    def own_values(cls, value: Any, name: str) -> Any:
        """Values that are no entries of their own, which are checked one by one."""
        if isinstance(value, dict) and cls.model_fields[name].annotation is Any:
            return ()
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else (value,)
        return [part for part in parts if not isinstance(part, dict)]


AnyEntry = TypeVar("AnyEntry", bound=Entry)


def valid(model: type[AnyEntry], entry: Any) -> AnyEntry:
    """Return an entry as its model, or raise `EntryError`."""
    try:
        return model.model_validate(entry)
    except ValidationError as error:
        raise EntryError(*(sentence for _, sentence in sentences(error, model, entry))) from None


class FormEntry(Entry):
    """Entry of a curve of some form."""

    form: str = option(..., "Form of the curve.")
    note: str = option("", "A remark.")


class PublishedEntry(Entry):
    """Range of the published moment arms, by flexion."""

    flexion_deg: list[float] = option(..., "Rising flexion.", "deg", min_length=2)
    lowest_m: list[float] = option(..., "Least published arm, the set's among them.", "m")
    highest_m: list[float] = option(..., "Largest published arm, the set's among them.", "m")
    other_sources: int = option(..., "Number of other published sources.", "1", ge=1)


class Fitted(FormEntry):
    """A curve, its departures from samples, and the range of published moment arms."""

    max_departure_m: float | None = option(None, "Largest departure from the samples.", "m")
    departs_at_deg: float | list[float] | None = option(None, "Flexion of each joint where it departs so.", "deg")
    rms_departure_m: float | None = option(None, "Root mean square of the departures from the samples.", "m")
    length_departure_m: float | None = option(None, "Largest departure of the integrated length.", "m")
    length_departs_at_deg: float | list[float] | None = option(None, "Flexion where the length departs so.", "deg")
    published: PublishedEntry | None = option(None, "Range of the published arms, by flexion.")


class Constant(Fitted):
    """The same moment arm at every flexion."""

    arm_m: float = option(..., "Moment arm.", "m")
    range_deg: Any = option(None, "Lowest and highest flexion.", "deg")


class Polynomial(Fitted):
    """Coefficients of rising powers of the flexion in radians."""

    joints: Any = option(None, "Joints it depends on.")
    coefficients: Any = option(..., "Coefficients, in as many nested lists as there are joints.")
    range_deg: Any = option(..., "Lowest and highest flexion.", "deg")


class Spline(Fitted):
    """Shape-preserving cubic spline through knots."""

    joints: Any = option(None, "Joint it depends on.")
    knots_deg: Any = option(..., "Flexion at the knots.", "deg")
    range_deg: Any = option(None, "Lowest and highest flexion, within the knots.", "deg")
    arms_m: Any = option(None, "Moment arms at the knots.", "m")
    lengths_m: Any = option(None, "Lengths at the knots.", "m")


class Sampled(Fitted):
    """Values on a grid: samples, or a fit to more samples, from which it then departs."""

    joints: Any = option(None, "Joints it depends on.")
    flexion_deg: Any = option(..., "Flexion at the samples, for each joint.", "deg")
    arms_m: Any = option(None, "Moment arms at the samples.", "m")
    lengths_m: Any = option(None, "Lengths at the samples.", "m")


FORMS: dict[str, type[FormEntry]] = {
    "zero": FormEntry,
    "not_sampled": FormEntry,
    "constant": Constant,
    "polynomial": Polynomial,
    "spline": Spline,
    "sampled": Sampled,
    "from_length": Fitted,
}


def form_of(entry: Any, forms: Sequence[str], what: str) -> str:
    """Return the form of an entry, which fits the form's model; raises `EntryError`."""
    form = entry.get("form") if isinstance(entry, dict) else None
    if not isinstance(form, str) or form not in forms:
        raise EntryError(f"{what} form is {form!r}, expected {', '.join(forms)}{did_you_mean(str(form), forms)}")
    valid(FORMS[form], entry)
    return form


def read_curve(entry: dict[str, Any], *, values_key: str, own_joint: str | None, known_joints: Sequence[str]) -> Curve:
    """Build the curve of a validated entry: one of `CURVE_FORMS`, or a constant.

    Parameters
    ----------
    entry : dict
        The entry.
    values_key : str
        Key of the values at knots or samples.
    own_joint : str or None
        Joint of an entry without ``joints``; None where they are required.
    known_joints : sequence of str
        Joints of the set.

    Returns
    -------
    Curve

    Raises
    ------
    EntryError
        The curve has a fault.
    """
    needed = [values_key] if entry["form"] in ("spline", "sampled") else []
    needed += [] if own_joint else ["joints"]
    if missing := [key for key in needed if key not in entry]:
        raise EntryError(*(f"{key} is missing" for key in missing))
    joints = entry.get("joints", [own_joint])
    if not (isinstance(joints, list) and joints and all(isinstance(joint, str) for joint in joints)):
        raise EntryError(f"joints is {joints!r}, expected a list of the joints it depends on")
    if unknown := [joint for joint in joints if joint not in known_joints]:
        raise EntryError(
            *(
                f"joints has '{joint}', which the set does not have{did_you_mean(joint, known_joints)}"
                for joint in unknown
            )
        )
    if len(set(joints)) < len(joints):
        raise EntryError(f"joints names a joint twice: {', '.join(joints)}")
    if entry["form"] == "sampled":
        return _read_samples(entry, values_key, joints)
    if entry["form"] == "spline":
        return _read_spline(entry, values_key, joints)
    return polynomial(
        _grid("coefficients", entry["coefficients"], joints),
        joints=joints,
        range_rad=_ranges(entry["range_deg"], joints),
    )


def _read_spline(entry: dict[str, Any], values_key: str, joints: list[str]) -> Curve:
    if len(joints) > 1:
        raise EntryError(f"a spline depends on one joint; for {', '.join(joints)} give a polynomial or samples")
    knots, values = _grid("knots_deg", entry["knots_deg"], joints), _grid(values_key, entry[values_key], joints)
    if len(knots) != len(values) or len(knots) < 2:
        raise EntryError(
            f"knots_deg has {len(knots)} numbers and {values_key} {len(values)}, expected the same, two at least"
        )
    _check_rising("knots_deg", knots)
    ((low, high),) = _ranges(entry.get("range_deg", [knots[0], knots[-1]]), joints)
    if low < math.radians(knots[0]) - 1e-9 or high > math.radians(knots[-1]) + 1e-9:
        raise EntryError(
            f"range_deg is {entry['range_deg']}, expected within the knots, {knots[0]:g} to {knots[-1]:g} deg"
        )
    return shape_preserving_spline(np.radians(knots), values, joint=joints[0], range_rad=(low, high))


def _read_samples(entry: dict[str, Any], values_key: str, joints: list[str]) -> Curve:
    """Curve through samples, or near those of a moment arm of one joint.

    Samples of a moment arm of one joint are fitted by the simplest form that follows them (`fit`). Otherwise a cubic
    spline with a smooth slope goes through every sample.
    """
    values = _grid(values_key, entry[values_key], joints)
    given = entry["flexion_deg"]
    nested = given if isinstance(given, list) and given and isinstance(given[0], list) else [given]
    if len(nested) != len(joints):
        raise EntryError(
            f"flexion_deg is {given!r}, expected a list of angles for each of its joints, {', '.join(joints)}"
        )
    lines = [_grid("flexion_deg", line, joints[:1]) for line in nested]
    for line in lines:
        _check_rising("flexion_deg", line)
    shape = tuple(len(line) for line in lines)
    if values.shape != shape or min(shape) < 2:
        grids = [" by ".join(str(n) for n in of) for of in (values.shape, shape)]
        raise EntryError(
            f"{values_key} is a grid of {grids[0]} samples and flexion_deg one of {grids[1]}; "
            "expected the same, with two angles at least for each joint"
        )
    _ranges([[float(line[0]), float(line[-1])] for line in lines], joints)
    if values_key == "arms_m" and len(joints) == 1:
        return fit(lines[0], values).curve(joints[0])
    return interpolating_spline([np.radians(line) for line in lines], values, joints=joints)


def _grid(key: str, values: Any, joints: Sequence[str]) -> FloatArray:
    """Array of nested lists, one level per joint; one number may stand for a list."""
    nested = values if isinstance(values, list) else [values]
    shape = _shape(nested)
    if shape is None or 0 in shape or len(shape) != len(joints):
        deep = "" if len(joints) == 1 else f" in {len(joints)} nested lists ({', '.join(joints)}), rows of equal length"
        raise EntryError(f"{key} is {values!r}, expected numbers{deep}")
    return np.array(nested, dtype=float)


def _shape(values: Any) -> tuple[int, ...] | None:
    """Shape of nested lists of finite numbers; None where ragged or of another type."""
    array = np.array(values, dtype=object)
    finite = (isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in array.flat)
    return array.shape if all(finite) else None


def _ranges(value: Any, joints: Sequence[str]) -> list[Range]:
    """Ranges of flexion in rad, for each joint."""
    pairs = value if len(joints) > 1 or _shape(value) == (1, 2) else [value]
    shape = _shape(pairs)
    if shape != (len(joints), 2) or not all(low < high for low, high in pairs):
        each = "" if len(joints) == 1 else f", one such pair for each of {', '.join(joints)}"
        raise EntryError(f"range_deg is {value!r}, expected [lowest, highest] flexion in degrees{each}")
    if any(high - low < LEAST_RANGE_DEG for low, high in pairs):
        raise EntryError(
            f"flexion from {pairs[0][0]:g} to {pairs[0][1]:g}, expected degrees over {LEAST_RANGE_DEG:g} at least; is it in "
            "radians?"
        )
    return [(math.radians(low), math.radians(high)) for low, high in pairs]


def _check_rising(key: str, values: FloatArray) -> None:
    if not (np.diff(values) > 0.0).all():
        raise EntryError(f"{key} is {values.tolist()}, expected rising numbers")


# --- fits of samples -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """Fit of a sampled moment arm, with the numbers of a muscle set's file.

    Parameters
    ----------
    form : str
        zero, polynomial or spline.
    range_deg : tuple of two floats
        Sampled range of flexion.
    coefficients : tuple of float
        Of rising powers of the flexion in radians; of a polynomial only.
    knots_deg, arms_m : tuple of float
        Knots and the arms there; of a spline only.
    max_departure_m, departs_at_deg : float
        Largest absolute departure from the samples, and its flexion.
    """

    form: str
    range_deg: tuple[float, float]
    coefficients: tuple[float, ...] = ()
    knots_deg: tuple[float, ...] = ()
    arms_m: tuple[float, ...] = ()
    max_departure_m: float = 0.0
    departs_at_deg: float = 0.0

    def curve(self, joint: str) -> Curve:
        """Build the curve."""
        if self.form == "zero":
            return constant(0.0, joint=joint)
        low, high = (math.radians(end) for end in self.range_deg)
        if self.form == "polynomial":
            return polynomial(self.coefficients, joints=[joint], range_rad=[(low, high)])
        return shape_preserving_spline(np.radians(self.knots_deg), self.arms_m, joint=joint, range_rad=(low, high))


def fit(flexion_deg: FloatArray, sampled_m: FloatArray) -> Fit:
    """Simplest form that follows a moment arm within 1 mm or 5 %.

    The limit is the smaller of 1 mm and 5 % of the largest arm.

    Parameters
    ----------
    flexion_deg : ndarray of shape (n_samples,)
        Flexion of the joint, rising; two samples at least.
    sampled_m : ndarray of shape (n_samples,)
        Moment arm.

    Returns
    -------
    Fit
        Zero where no arm is longer than 0.1 mm; else a polynomial of at most fourth degree (with two samples at least
        for each degree), or a shape-preserving spline with the fewest knots, 9 at most. Coefficients are rounded to 6
        decimals and arms to 0.01 mm.
    """
    ends, n_samples = (float(flexion_deg[0]), float(flexion_deg[-1])), len(flexion_deg)
    longest = float(np.abs(sampled_m).max())
    allowed = min(LARGEST_DEPARTURE_M, LARGEST_PART * longest)
    if longest < NEGLIGIBLE_M:
        return Fit("zero", ends)
    for degree in range(min(HIGHEST_DEGREE, n_samples // 2) + 1):
        powers = np.polynomial.Polynomial.fit(np.radians(flexion_deg), sampled_m, degree).convert()
        trial = Fit("polynomial", ends, coefficients=tuple(round(float(c), 6) for c in powers.coef))
        off = np.abs(evaluate(trial.curve("joint"), [np.radians(flexion_deg)]) - sampled_m)
        if off.max() <= allowed:
            break
    else:  # a spline, with a knot added at the largest error until it fits
        knots = [0, n_samples - 1]
        while True:
            arms_m = tuple(round(float(sampled_m[k]), 5) for k in knots)
            trial = Fit("spline", ends, knots_deg=tuple(float(flexion_deg[k]) for k in knots), arms_m=arms_m)
            off = np.abs(evaluate(trial.curve("joint"), [np.radians(flexion_deg)]) - sampled_m)
            if off.max() <= allowed or len(knots) >= min(MOST_KNOTS, n_samples):
                break
            knots = sorted({*knots, int(off.argmax())})
    return replace(trial, max_departure_m=round(float(off.max()), 5), departs_at_deg=float(flexion_deg[off.argmax()]))
