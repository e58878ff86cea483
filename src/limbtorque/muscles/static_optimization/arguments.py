"""Validated arrays of matching shapes for static optimizations."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray

LARGEST_EXPONENT = 10.0


def arm_and_torque(moment_arm_m: ArrayLike, torque_nm: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Moment arms (n_frames, n_joints, n_muscles) and torques (n_frames, n_joints)."""
    arm, torque = np.asarray(moment_arm_m, dtype=float), np.asarray(torque_nm, dtype=float)
    if arm.ndim != 3 or torque.shape != arm.shape[:2]:
        raise ValueError(
            f"moment arms have shape {arm.shape}, torques shape {torque.shape}; expected "
            "(n_frames, n_joints, n_muscles) and (n_frames, n_joints)"
        )
    return arm, torque


def per_muscle(name: str, values: ArrayLike, n_frames: int, n_muscles: int) -> FloatArray:
    """Values of shape (1, n_muscles) or (n_frames, n_muscles)."""
    array = np.asarray(values, dtype=float)
    if array.shape not in {(n_muscles,), (n_frames, n_muscles)}:
        raise ValueError(
            f"{name} has shape {array.shape}, expected ({n_muscles},) or ({n_frames}, {n_muscles}): one for each muscle"
        )
    return np.atleast_2d(array)


def strengths(values: ArrayLike, n_frames: int, n_muscles: int) -> FloatArray:
    """Strengths as `per_muscle`, 0 or more."""
    strength = per_muscle("max_force_n", values, n_frames, n_muscles)
    if (strength < 0).any():
        raise ValueError(f"max_force_n has {np.nanmin(strength):g} N, expected strengths of 0 or more")
    return strength


def weights(name: str, values: ArrayLike, n_frames: int, n_muscles: int) -> FloatArray:
    """Weights as `per_muscle`, or one number for all, above 0."""
    weight = per_muscle(name, np.full(n_muscles, values) if np.ndim(values) == 0 else values, n_frames, n_muscles)
    if (weight <= 0).any():
        raise ValueError(f"{name} has {np.nanmin(weight):g}, expected numbers above 0")
    return weight


def activation_bounds(
    least: ArrayLike, largest: ArrayLike, n_frames: int, n_muscles: int
) -> tuple[FloatArray, FloatArray]:
    """Bounds as `per_muscle`, from 0, the lower not above the upper."""
    low, high = (
        per_muscle(name, np.full(n_muscles, value) if np.ndim(value) == 0 else value, n_frames, n_muscles)
        for name, value in (("min_activation", least), ("max_activation", largest))
    )
    if (low < 0).any():
        raise ValueError(f"min_activation has {np.nanmin(low):g}, expected 0 or more: a muscle cannot push")
    if (low > high).any():
        raise ValueError("min_activation is above max_activation; expected it at or below")
    return low, high


def positive(name: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """One number above 0, or an array of them of a shape."""
    array = np.asarray(value, dtype=float)
    if array.shape not in {(), shape} or not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(
            f"{name} is {value!r}, expected {'one number' if not shape else f'{shape[0]} numbers'} above 0"
        )
    return array


def reserve_of(reserve: str | float) -> tuple[Literal["least", "priced", "none"], float]:
    """Kind of reserve, and its price in N m (1 where it has none)."""
    if isinstance(reserve, str):
        if reserve not in ("least", "none"):
            raise ValueError(f"reserve is {reserve!r}, expected 'least', 'none' or a price in N m")
        return ("least" if reserve == "least" else "none"), 1.0
    return "priced", float(positive("reserve", reserve, ()))


def exponent_of(exponent: float | Literal["min_max"]) -> float:
    """Exponent from 1 to 10, or inf."""
    if isinstance(exponent, str):
        exponent = math.inf if exponent == "min_max" else math.nan
    if not (1.0 <= exponent <= LARGEST_EXPONENT or exponent == math.inf):
        raise ValueError(
            f"exponent is {exponent!r}, expected a number from 1 to {LARGEST_EXPONENT:g}, or min_max (inf), the limit of "
            "larger exponents"
        )
    return float(exponent)
