"""The simplest smooth form that follows a sampled moment arm of one joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.sets.moment_arm_curves import Curve, constant, evaluate, polynomial, shape_preserving_spline

NEGLIGIBLE_M = 1e-4
LARGEST_DEPARTURE_M = 1e-3
LARGEST_PART = 0.05
HIGHEST_DEGREE = 4
MOST_KNOTS = 9


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
    ends = (float(flexion_deg[0]), float(flexion_deg[-1]))
    if np.abs(sampled_m).max() < NEGLIGIBLE_M:
        return Fit("zero", ends)
    allowed = min(LARGEST_DEPARTURE_M, LARGEST_PART * float(np.abs(sampled_m).max()))
    for degree in range(min(HIGHEST_DEGREE, len(flexion_deg) // 2) + 1):
        powers = np.polynomial.Polynomial.fit(np.radians(flexion_deg), sampled_m, degree).convert()
        found = Fit("polynomial", ends, coefficients=tuple(round(float(c), 6) for c in powers.coef))
        off, where = departure(found, flexion_deg, sampled_m)
        if off <= allowed:
            return _described(found, off, where)
    return _fit_spline(flexion_deg, sampled_m, allowed, ends)


def _fit_spline(flexion_deg: FloatArray, sampled_m: FloatArray, allowed: float, ends: tuple[float, float]) -> Fit:
    """Shape-preserving spline with a knot added at the largest error until it fits."""
    knots = [0, len(flexion_deg) - 1]
    while True:
        knots_deg = tuple(float(flexion_deg[k]) for k in knots)
        arms_m = tuple(round(float(sampled_m[k]), 5) for k in knots)
        found = Fit("spline", ends, knots_deg=knots_deg, arms_m=arms_m)
        off, where = departure(found, flexion_deg, sampled_m)
        if off <= allowed or len(knots) >= min(MOST_KNOTS, len(flexion_deg)):
            return _described(found, off, where)
        knots = sorted({*knots, int(np.flatnonzero(flexion_deg == where)[0])})


def departure(found: Fit, flexion_deg: FloatArray, sampled_m: FloatArray) -> tuple[float, float]:
    """Largest absolute error of a fit [m], and its flexion [deg]."""
    off = np.abs(evaluate(found.curve("joint"), [np.radians(flexion_deg)]) - sampled_m)
    return float(off.max()), float(flexion_deg[off.argmax()])


def _described(found: Fit, off: float, where: float) -> Fit:
    return Fit(found.form, found.range_deg, found.coefficients, found.knots_deg, found.arms_m, round(off, 5), where)
