"""Least squares with the HC2 variance, and its statistic under flips of signs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.study.options.contrasts import LEAST_GROUP

IntArray = NDArray[np.int64]
LEAST_PAIRS = 3  # fewer have no test
ALONE = 1e-9  # 1 - leverage of a subject that alone decides a coefficient
SMALLEST = 1e-12  # variance relative to its constant part: rounding


@dataclass(frozen=True)
class RobustModel:
    """Least squares with the HC2 variance (MacKinnon and White 1985).

    For points known of the same subjects.
    """

    outcome: int
    matrix: FloatArray  # (n, n_coefficients) of these subjects
    values: FloatArray  # (n, n_points)
    subjects: IntArray
    points: IntArray

    @cached_property
    def solution(self) -> FloatArray:
        """Coefficients from values, (n_coefficients, n)."""
        return np.asarray(np.linalg.pinv(self.matrix), dtype=float)

    @cached_property
    def basis(self) -> FloatArray:
        """Orthonormal basis of the model, (n, n_coefficients)."""
        return np.linalg.qr(self.matrix)[0]

    @cached_property
    def weights(self) -> FloatArray:
        """Weight of each squared residual in the variance of coefficient 0."""
        return np.asarray(self.solution[0] ** 2 / (1.0 - (self.basis**2).sum(axis=1)))

    @cached_property
    def residuals(self) -> FloatArray:
        """Residuals of the full model, (n, n_points)."""
        return self.values - self.basis @ (self.basis.T @ self.values)

    @cached_property
    def null_residuals(self) -> FloatArray:
        """Residuals of the model without the tested effect."""
        others = self.matrix[:, 1:]
        return self.values - others @ (np.linalg.pinv(others) @ self.values) if others.size else self.values

    @cached_property
    def groups(self) -> tuple[BoolArray, ...]:
        """Subjects of both groups; none for pairs."""
        first = self.matrix[:, 0] == 1.0
        return () if first.all() else (first, ~first)

    @property
    def problem(self) -> str:
        """Why coefficient 0 has no interval; empty where it has."""
        n, n_coefficients = self.matrix.shape
        if n <= n_coefficients:
            return f"{n} subjects with a value, expected {n_coefficients + 1} or more"
        if np.linalg.matrix_rank(self.matrix) < n_coefficients:
            return "a group has no subject with a value, or a covariate is constant or follows from the others"
        if (1.0 - (self.basis**2).sum(axis=1)).min() < ALONE:
            return "one subject alone decides a coefficient"
        return ""

    @property
    def untested(self) -> str:
        """Why nothing is tested; empty where it is."""
        if self.problem:
            return self.problem
        if not self.groups and len(self.subjects) < LEAST_PAIRS:
            return f"not tested: {len(self.subjects)} subjects, expected {LEAST_PAIRS} or more"
        smaller = min((int(group.sum()) for group in self.groups), default=LEAST_GROUP)
        if smaller < LEAST_GROUP:
            return f"not tested: a group of {smaller} subjects, expected {LEAST_GROUP} or more"
        if not (self.variance > 0.0).any():
            return "not tested: all values are equal"
        return ""

    @property
    def estimate(self) -> FloatArray:
        """Coefficient 0 at each point."""
        return np.asarray(self.solution[0] @ self.values)

    @cached_property
    def variance(self) -> FloatArray:
        """HC2 variance of the estimate; 0 where only rounding is left."""
        variance = self.weights @ self.residuals**2
        return np.where(variance > SMALLEST * (self.weights @ self.values**2), variance, 0.0)

    @property
    def varying(self) -> RobustModel:
        """Model of the points with a variance; others are not tested."""
        of_point = self.variance > 0.0
        return replace(self, values=self.values[:, of_point], points=self.points[of_point])

    @cached_property
    def design_freedom(self) -> float:
        """Degrees of freedom of the variance (Bell and McCaffrey 2002).

        By the design, at equal spreads.
        """
        maker = np.eye(len(self.matrix)) - self.basis @ self.basis.T
        return float((self.weights @ np.diag(maker)) ** 2 / (self.weights @ maker**2 @ self.weights))

    @property
    def freedom(self) -> FloatArray:
        """Degrees of freedom of the interval: Welch's for two groups without covariates."""
        if not self.groups or self.matrix.shape[1] > 2:
            return np.full(len(self.points), self.design_freedom)
        parts = [self.weights[group] @ self.residuals[group] ** 2 for group in self.groups]
        below = sum(part**2 / (group.sum() - 1) for part, group in zip(parts, self.groups, strict=True))
        return np.where(self.variance > 0.0, self.variance**2 / np.where(below > 0.0, below, 1.0), np.nan)

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of the differences, or within groups."""
        parts = self.groups or (np.ones(len(self.values), dtype=bool),)
        squares = sum(((self.values[part] - self.values[part].mean(axis=0)) ** 2).sum(axis=0) for part in parts)
        return np.asarray(np.sqrt(squares / (len(self.values) - len(parts))))

    def flipped(self, residuals: FloatArray, signs: FloatArray) -> FloatArray:
        """Statistic t of residuals with flipped signs, refitted: (n_flips, n_points).

        With the basis Q and the weights W, the refitted residuals e of u have e'We = u'Wu - 2 (Q'u)'(Q'Wu) + (Q'u)'(Q'WQ)(Q'u).
        """
        own = signs[:, self.subjects]
        weighted = self.weights[:, None] * self.basis
        of_basis = [own @ (column[:, None] * residuals) for column in self.basis.T]
        of_weighted = [own @ (column[:, None] * residuals) for column in weighted.T]
        constant = self.weights @ residuals**2
        variance = np.tile(constant, (len(own), 1))
        for row, column, products in zip(of_basis, of_weighted, self.basis.T @ weighted, strict=True):
            variance += row * (sum(p * other for p, other in zip(products, of_basis, strict=True)) - 2.0 * column)
        np.maximum(variance, SMALLEST * constant, out=variance)
        top = own @ (self.solution[0][:, None] * residuals)
        return np.asarray(top / np.sqrt(np.where(variance > 0.0, variance, 1.0)))


class CommonScale:
    """Common scale of |t| of different degrees of freedom.

    The normal deviate of the same p.
    """

    _GRID = np.concatenate([np.linspace(0.0, 10.0, 4001), np.geomspace(10.0, 1e6, 2000)[1:]])

    def __init__(self, freedom: FloatArray) -> None:
        self.freedom = np.round(freedom, 9)  # patterns of as many subjects share a table
        self._normal = {each: self._deviates(each) for each in np.unique(self.freedom).tolist()}

    def of(self, t: FloatArray) -> FloatArray:
        """Values of |t|, (n, n_points), on the common scale."""
        size = np.abs(t)
        if len(self._normal) > 1:
            for freedom, normal in self._normal.items():
                points = self.freedom == freedom
                size[:, points] = np.interp(size[:, points], self._GRID, normal)
        return size

    def back(self, value: float) -> FloatArray:
        """|t| of each point for a value of the common scale."""
        limits = {freedom: float(np.interp(value, normal, self._GRID)) for freedom, normal in self._normal.items()}
        if len(limits) == 1:
            return np.full(len(self.freedom), value)
        return np.array([limits[freedom] for freedom in self.freedom.tolist()])

    @classmethod
    def _deviates(cls, freedom: float) -> FloatArray:
        """Normal deviates of the p of |t| at the grid."""
        p = special.stdtr(freedom, -cls._GRID)
        return np.asarray(-special.ndtri(np.maximum(p, 1e-300)))


def flip_signs(n_subjects: int, *, n_flips: int, seed: int) -> FloatArray:
    """Signs of the subjects in each flip; the first row is all 1.

    Parameters
    ----------
    n_subjects : int
        Number of subjects.
    n_flips : int
        Most flips. All where there are no more, otherwise random ones.
    seed : int
        Seed of random flips.

    Returns
    -------
    ndarray of shape (at most n_flips, n_subjects)
        1 or -1.

    Examples
    --------
    >>> flip_signs(2, n_flips=10, seed=1).tolist()
    [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    if n_subjects < 60 and 2**n_subjects <= n_flips:
        bits = np.arange(2**n_subjects)[:, None] >> np.arange(n_subjects) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (n_flips, n_subjects))
        bits[0] = 0
    return np.asarray(1.0 - 2.0 * bits)
