"""Problem of each frame, and its solution before the optimality certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.dual import torques

OPTIMAL = 1e-9  # largest duality gap, as a part of the cost, that counts as optimal
OPTIMAL_LINEAR = 1e-6  # ... with p = 1


@dataclass(frozen=True)
class Criterion:
    """Cost of forces and reserves; `patient` adds slower methods for hard frames."""

    exponent: float
    reserve: Literal["least", "priced", "none"]
    reserve_nm: float | FloatArray  # reserve torque that costs 1, where it has a price
    patient: bool = False

    @property
    def largest_gap(self) -> float:
        """Duality gap that counts as optimal."""
        return OPTIMAL_LINEAR if self.exponent == 1.0 else OPTIMAL


@dataclass(frozen=True, eq=False)
class Frames:
    """Problem of valid frames, last axis: ``reach b = torque``, ``low <= b <= high``."""

    reach: FloatArray
    torque: FloatArray
    low: FloatArray
    high: FloatArray
    scale: FloatArray  # one over the capacity of all muscles at each joint with b = 1

    def without(self, held: BoolArray, share: FloatArray) -> Frames:
        """The frames without the held muscles and their torque."""
        left = self.torque - torques(self.reach, np.where(held, share, 0.0))
        return replace(self, reach=self.reach * ~held, torque=left)

    @property
    def scaled(self) -> tuple[FloatArray, FloatArray]:
        """Reach and torque over the capacity of each joint."""
        return self.reach * self.scale[:, None], self.torque * self.scale


@dataclass(frozen=True, eq=False)
class Answer:
    """Solution of a block, frames last, before its optimality certificate."""

    share: FloatArray
    multiplier: FloatArray
    reserve: FloatArray
    iterations: NDArray[np.int64]
