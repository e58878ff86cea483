"""Smooth functions of time with two derivatives, and poses made of them.

A function is an array whose first axis holds value, first and second derivative. In the ground plane a place is forward + i left.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]


def product(a: NDArray, b: NDArray) -> NDArray:
    """Product of two functions."""
    return np.stack([a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2]])


def heading(angle_rad: FloatArray) -> ComplexArray:
    """Direction in the ground plane of an angle, left positive."""
    value, rate, growth = angle_rad
    return np.stack([np.ones_like(value), 1j * rate, 1j * growth - rate**2]) * np.exp(1j * value)


def constant(value: complex, like: NDArray) -> NDArray:
    """A value that stays."""
    return np.stack([np.full(like.shape[-1], value), *np.zeros((2, like.shape[-1]))])


def rotating(coefficients: Mapping[int, complex], turns: FloatArray, turns_per_s: float) -> ComplexArray:
    """Sum of exponentials with complex amplitudes, by the number of revolutions in a turn."""
    speed = 2j * np.pi * turns_per_s * np.array(list(coefficients))
    terms = np.array(list(coefficients.values())) * np.exp(2j * np.pi * np.outer(turns, list(coefficients)))
    return np.stack([(terms * speed**order).sum(axis=1) for order in range(3)])


def waves(coefficients: Mapping[int, complex], turns: FloatArray, turns_per_s: float) -> FloatArray:
    """Real part of `rotating`."""
    return rotating(coefficients, turns, turns_per_s).real


def smooth(at: FloatArray, by_time: float) -> FloatArray:
    """From 0 to 1 where `at` goes from 0 to 1 at a rate of `by_time`, at rest at both ends."""
    x = np.clip(at, 0.0, 1.0)
    rise, bend = 30.0 * x**2 * (1.0 - x) ** 2, 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
    return np.stack([x**3 * (10.0 - 15.0 * x + 6.0 * x**2), rise * by_time, bend * by_time**2])


def in_space(ground: ComplexArray, height: FloatArray) -> FloatArray:
    """Place in space, x forward, y up, z right, of one in the ground plane and its height; shape (..., 3)."""
    return np.stack([ground.real, height, -ground.imag], axis=-1)
