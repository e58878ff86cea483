"""Curves in a muscle set's file: entry models, and curves built from them.

The forms are one polynomial, a shape-preserving spline through knots, and samples on a grid; the same for a moment arm
(key ``arms_m``) and for a length (``lengths_m``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, ConfigDict

from limbtorque.arrays import FloatArray
from limbtorque.errors import did_you_mean
from limbtorque.muscles.sets.fitting import fit
from limbtorque.muscles.sets.moment_arm_curves import (
    Curve,
    Range,
    evaluate,
    interpolating_spline,
    polynomial,
    shape_preserving_spline,
)
from limbtorque.study.options.base import Frozen, option

LEAST_RANGE_DEG = 2.0 * math.pi  # a shorter range is more likely in radians
CURVE_FORMS = ("polynomial", "spline", "sampled")


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


class FormEntry(Entry):
    """Entry of a curve of some form."""

    form: str = option(..., "Form of the curve.")
    note: str = option("", "A remark.")


class Departing(FormEntry):
    """A curve fitted to samples, with its largest departure from them."""

    max_departure_m: float | None = option(None, "Largest departure from the samples.", "m")
    departs_at_deg: float | list[float] | None = option(None, "Flexion of each joint where it departs so.", "deg")
    rms_departure_m: float | None = option(None, "Root mean square of the departures from the samples.", "m")


class OfJoints(Departing):
    """A curve that may depend on other joints than its own."""

    joints: Any = option(None, "Joints it depends on.")


class Polynomial(OfJoints):
    """Coefficients of rising powers of the flexion in radians."""

    coefficients: Any = option(..., "Coefficients, in as many nested lists as there are joints.")
    range_deg: Any = option(..., "Lowest and highest flexion.", "deg")


class Spline(OfJoints):
    """Shape-preserving cubic spline through knots."""

    knots_deg: Any = option(..., "Flexion at the knots.", "deg")
    range_deg: Any = option(None, "Lowest and highest flexion, within the knots.", "deg")


class Sampled(Departing):
    """Values on a grid: samples, or a fit to more samples, from which it then departs."""

    joints: Any = option(None, "Joints it depends on.")
    flexion_deg: Any = option(..., "Flexion at the samples, for each joint.", "deg")


@dataclass(frozen=True, eq=False)
class CurveEntry:
    """Curve of an entry.

    Parameters
    ----------
    curve : Curve
        The curve.
    max_departure_m : float or None
        Largest absolute departure from the fitted samples; None where not given.
    departs_at_deg : tuple of float
        Flexion of each joint at that departure; empty where not given.
    """

    curve: Curve
    max_departure_m: float | None
    departs_at_deg: tuple[float, ...]


def read_curve(
    entry: dict[str, Any],
    *,
    values_key: str,
    own_joint: str | None,
    known_joints: Sequence[str],
    where: str,
    faults: list[str],
) -> CurveEntry | None:
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
    where : str
        Beginning of the message of a fault.
    faults : list of str
        Faults are added here.

    Returns
    -------
    CurveEntry or None
        None where there was a fault.
    """
    joints = _joints(entry, own_joint, known_joints, where, faults)
    if joints is None:
        return None
    if entry["form"] == "spline":
        return _read_spline(entry, values_key, joints, where, faults)
    if entry["form"] == "sampled":
        return _read_samples(entry, values_key, joints, where, faults)
    return _read_polynomial(entry, joints, where, faults)


def _joints(
    entry: dict[str, Any], own: str | None, known: Sequence[str], where: str, faults: list[str]
) -> tuple[str, ...] | None:
    joints = entry.get("joints", [own])
    if not (isinstance(joints, list) and joints and all(isinstance(joint, str) for joint in joints)):
        faults.append(f"{where}: joints is {joints!r}, expected a list of the joints it depends on")
        return None
    unknown = [joint for joint in joints if joint not in known]
    faults += [
        f"{where}: joints has '{joint}', which the set does not have{did_you_mean(joint, known)}" for joint in unknown
    ]
    if len(set(joints)) < len(joints):
        faults.append(f"{where}: joints names a joint twice: {', '.join(joints)}")
        return None
    return None if unknown else tuple(joints)


def _read_polynomial(
    entry: dict[str, Any], joints: tuple[str, ...], where: str, faults: list[str]
) -> CurveEntry | None:
    powers = _grid("coefficients", entry["coefficients"], joints, where, faults)
    ranges = _ranges(entry["range_deg"], joints, where, faults)
    if powers is None or ranges is None:
        return None
    return CurveEntry(polynomial(powers, joints=joints, range_rad=ranges), *departure_of(entry))


def _read_spline(
    entry: dict[str, Any], values_key: str, joints: tuple[str, ...], where: str, faults: list[str]
) -> CurveEntry | None:
    if len(joints) > 1:
        faults.append(f"{where}: a spline depends on one joint; for {', '.join(joints)} give a polynomial or samples")
        return None
    knots = _grid("knots_deg", entry["knots_deg"], joints, where, faults)
    values = _grid(values_key, entry[values_key], joints, where, faults)
    if knots is None or values is None:
        return None
    if len(knots) != len(values) or len(knots) < 2:
        faults.append(
            f"{where}: knots_deg has {len(knots)} numbers and {values_key} {len(values)}, expected the same, two at least"
        )
        return None
    if not _rises("knots_deg", knots, where, faults):
        return None
    ends = _ranges(entry.get("range_deg", [knots[0], knots[-1]]), joints, where, faults)
    if ends is None:
        return None
    if ends[0][0] < math.radians(knots[0]) - 1e-9 or ends[0][1] > math.radians(knots[-1]) + 1e-9:
        faults.append(
            f"{where}: range_deg is {entry['range_deg']}, expected within the knots, {knots[0]:g} to {knots[-1]:g} deg"
        )
        return None
    curve = shape_preserving_spline(np.radians(knots), values, joint=joints[0], range_rad=ends[0])
    return CurveEntry(curve, *departure_of(entry))


def _read_samples(
    entry: dict[str, Any], values_key: str, joints: tuple[str, ...], where: str, faults: list[str]
) -> CurveEntry | None:
    values = _grid(values_key, entry[values_key], joints, where, faults)
    given = entry["flexion_deg"]
    lines = given if isinstance(given, list) and given and isinstance(given[0], list) else [given]
    if not (isinstance(lines, list) and len(lines) == len(joints)):
        faults.append(
            f"{where}: flexion_deg is {given!r}, expected a list of angles for each of its joints, {', '.join(joints)}"
        )
        return None
    grid = [_grid("flexion_deg", line, joints[:1], where, faults) for line in lines]
    if values is None or not all(line is not None and _rises("flexion_deg", line, where, faults) for line in grid):
        return None
    flexion = [line for line in grid if line is not None]
    shape = tuple(len(line) for line in flexion)
    if values.shape != shape or min(shape) < 2:
        faults.append(
            f"{where}: {values_key} is a grid of {_by(values.shape)} samples and flexion_deg one of {_by(shape)}; "
            "expected the same, with two angles at least for each joint"
        )
        return None
    if _ranges([[float(line[0]), float(line[-1])] for line in flexion], joints, where, faults) is None:
        return None
    read = fitted_samples(flexion, values, joints=joints, follow_shape=values_key == "arms_m")
    return read if entry.get("max_departure_m") is None else CurveEntry(read.curve, *departure_of(entry))


def fitted_samples(
    flexion_deg: Sequence[FloatArray], values: FloatArray, *, joints: tuple[str, ...], follow_shape: bool
) -> CurveEntry:
    """Smooth curve through or near samples on a grid.

    Parameters
    ----------
    flexion_deg : sequence of ndarray of shape (n_samples,)
        For each joint, the flexion of the grid's lines.
    values : ndarray of shape (n_samples of the first joint, ...)
        Samples.
    joints : tuple of str
        The joints.
    follow_shape : bool
        Fit samples of one joint by the simplest form that follows them (`fitting.fit`), as moment arms are. Otherwise,
        and always for several joints, a cubic spline with a smooth slope goes through every sample.

    Returns
    -------
    CurveEntry
    """
    knots = [np.radians(line) for line in flexion_deg]
    if follow_shape and len(joints) == 1:
        curve = fit(flexion_deg[0], values).curve(joints[0])
    else:
        curve = interpolating_spline(knots, values, joints=joints)
    off = np.abs(evaluate(curve, np.meshgrid(*knots, indexing="ij")) - values)
    where = np.unravel_index(int(off.argmax()), off.shape)
    at = tuple(float(line[i]) for line, i in zip(flexion_deg, where, strict=True))
    return CurveEntry(curve, float(off.max()), at)


def departure_of(entry: dict[str, Any]) -> tuple[float | None, tuple[float, ...]]:
    """Largest departure from samples that an entry states, and its flexion."""
    at = entry.get("departs_at_deg", [])
    return entry.get("max_departure_m"), tuple(float(q) for q in (at if isinstance(at, list) else [at]))


def _grid(key: str, values: Any, joints: Sequence[str], where: str, faults: list[str]) -> FloatArray | None:
    """Array of nested lists, one level per joint; one number may stand for a list."""
    nested = values if isinstance(values, list) else [values]
    shape = _shape(nested)
    if shape is None or 0 in shape or len(shape) != len(joints):
        deep = "" if len(joints) == 1 else f" in {len(joints)} nested lists ({', '.join(joints)}), rows of equal length"
        faults.append(f"{where}: {key} is {values!r}, expected numbers{deep}")
        return None
    return np.array(nested, dtype=float)


def _shape(values: Any) -> tuple[int, ...] | None:
    """Shape of nested lists of numbers; None where ragged or of another type."""
    if _is_number(values):
        return ()
    if not isinstance(values, list):
        return None
    shapes = {_shape(value) for value in values}
    if len(shapes) != 1:
        return (0,) if not values else None
    inner = shapes.pop()
    return None if inner is None else (len(values), *inner)


def _ranges(value: Any, joints: Sequence[str], where: str, faults: list[str]) -> list[Range] | None:
    pairs = value if len(joints) > 1 or (isinstance(value, list) and _shape(value) == (1, 2)) else [value]
    if not (isinstance(pairs, list) and len(pairs) == len(joints) and all(_is_range(pair) for pair in pairs)):
        each = "" if len(joints) == 1 else f", one such pair for each of {', '.join(joints)}"
        faults.append(f"{where}: range_deg is {value!r}, expected [lowest, highest] flexion in degrees{each}")
        return None
    if any(high - low < LEAST_RANGE_DEG for low, high in pairs):
        faults.append(
            f"{where}: flexion from {pairs[0][0]:g} to {pairs[0][1]:g}, expected degrees over {LEAST_RANGE_DEG:g} at least; is it in "
            "radians?"
        )
        return None
    return [(math.radians(low), math.radians(high)) for low, high in pairs]


def _is_range(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(_is_number(end) for end in pair) and pair[0] < pair[1]


def _rises(key: str, values: FloatArray, where: str, faults: list[str]) -> bool:
    rises = all(a < b for a, b in itertools.pairwise(values))
    if not rises:
        faults.append(f"{where}: {key} is {values.tolist()}, expected rising numbers")
    return rises


def _by(shape: tuple[int, ...]) -> str:
    return " by ".join(str(n) for n in shape)


def _is_number(value: Any) -> bool:
    """Return True for a finite number; true and false are no numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
