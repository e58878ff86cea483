"""Prediction of a new subject's curve, or number, from those of a group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray

IntArray = NDArray[np.int64]
LEVEL = 0.95
SAMPLES, BLOCK = 400, 16  # of the bootstrap, and of these in memory at a time
INSIDE = 0.368  # share of the subjects of a sample (Efron 1983)
ALONE = 1e-9  # 1 - leverage of a subject that alone decides a coefficient
ROUNDING = 1e-12  # of the squared values: a smaller variance is 0


@dataclass(frozen=True)
class Fits:
    """Regressions of the same values, each with weights of the subjects of its own.

    Attributes
    ----------
    coefficients : ndarray of shape (n_fits, n_columns, n_points)
        Coefficients of the design.
    variance : ndarray of shape (n_fits, n_points)
        Variance of a curve of one side about the mean.
    inverse : ndarray of shape (n_fits, n_columns, n_columns)
        Inverse of the design's products.
    """

    coefficients: FloatArray
    variance: FloatArray
    inverse: FloatArray

    def predicted(self, row: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean, and standard deviation of a new value about it, (n_fits, n_points).

        The latter contains that of the mean: s sqrt(1 + 1/n) without a covariate.
        """
        leverage = np.einsum("j,bjk,k->b", row, self.inverse, row)
        sd = np.sqrt(self.variance * (1.0 + leverage)[:, None])
        return np.einsum("j,bjp->bp", row, self.coefficients), sd


@dataclass(frozen=True)
class GroupCurves:
    """Curves of the subjects of a group, one for each side that a subject has.

    Attributes
    ----------
    values : ndarray of shape (n_curves, n_points)
        The curves, without gaps; a number is a curve of one point.
    subject : ndarray of int, shape (n_curves,)
        Number of the subject of each.
    design : ndarray of shape (n_subjects, n_columns)
        Ones, and a covariate of each subject, if any.

    Notes
    -----
    A subject counts once, with the mean of its sides (`mean_and_spread.subject_value`). A person has one side, so that the
    variance is that of single sides about the mean, whose squares are averaged over the sides of a subject.
    """

    values: FloatArray
    subject: IntArray
    design: FloatArray

    @cached_property
    def weights(self) -> FloatArray:
        """Weight of each curve in its subject's value, (n_subjects, n_curves)."""
        of_subject = self.subject == np.arange(len(self.design))[:, None]
        return of_subject / of_subject.sum(axis=1, keepdims=True)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the variance."""
        n_subjects, n_columns = self.design.shape
        return n_subjects - n_columns

    def without(self, subject: int) -> GroupCurves:
        """Curves of the other subjects."""
        kept = self.subject != subject
        numbers = self.subject[kept]
        return GroupCurves(self.values[kept], numbers - (numbers > subject), np.delete(self.design, subject, axis=0))

    def fits(self, counts: FloatArray) -> Fits:
        """Regressions in which each subject counts several times, (n_fits, n_subjects)."""
        centre = self.values.mean(axis=0)
        centred = self.values - centre
        means, squares = self.weights @ centred, self.weights @ centred**2
        inverse = np.linalg.pinv(np.einsum("bi,ij,ik->bjk", counts, self.design, self.design), hermitian=True)
        products = np.stack([(counts * column) @ means for column in self.design.T], axis=1)
        coefficients = inverse @ products
        residual = counts @ squares - (coefficients * products).sum(axis=1)
        variance = residual / np.maximum(counts.sum(axis=1, keepdims=True) - self.design.shape[1], 1)
        coefficients[:, 0] += centre
        return Fits(coefficients, np.where(residual > ROUNDING * (counts @ squares), variance, 0.0), inverse)

    @cached_property
    def fit(self) -> Fits:
        """Regression in which each subject counts once."""
        return self.fits(np.ones((1, len(self.design))))

    @property
    def left_out(self) -> FloatArray:
        """Deviation of each curve from the mean of the other subjects."""
        means = self.weights @ self.values
        residuals = means - self.design @ self.fit.coefficients[0]
        leverage = np.einsum("ij,jk,ik->i", self.design, self.fit.inverse[0], self.design)
        of_subject = means - residuals / np.maximum(1.0 - leverage, ALONE)[:, None]
        return np.asarray(self.values - of_subject[self.subject])


class CurveBand:
    """Half width of a band that holds a whole new curve, by bootstrap.

    Parameters
    ----------
    curves : GroupCurves
        Curves of the group.
    seed : int
        Seed of the samples.

    Notes
    -----
    Subjects are drawn with replacement; in each sample the largest deviation of each curve of the group, in standard
    deviations of a prediction, is what a band would need to hold it (Lenhoff et al. 1999). Curves of subjects that a sample
    has are too near to it, those of the others too far: they count 0.368 and 0.632 (Efron 1983). Samples without a subject
    are those of the group without it.
    """

    def __init__(self, curves: GroupCurves, *, seed: int) -> None:
        n_subjects, n_columns = curves.design.shape
        drawn = np.random.default_rng(seed).multinomial(n_subjects, np.full(n_subjects, 1.0 / n_subjects), size=SAMPLES)
        counts = drawn[(drawn > 0).sum(axis=1) > n_columns + 1]
        fits, rows = curves.fits(counts.astype(float)), curves.design[curves.subject]
        known = (curves.fit.variance[0] > 0.0) & (fits.variance > 0.0)
        scale = np.divide(1.0, np.sqrt(fits.variance), out=np.zeros(known.shape), where=known)
        largest = np.empty((len(counts), len(rows)))
        for start in range(0, len(counts), BLOCK):
            block = slice(start, start + BLOCK)
            distance = rows @ fits.coefficients[block]
            distance -= curves.values
            np.abs(distance, out=distance)
            distance *= scale[block, np.newaxis]
            largest[block] = distance.max(axis=2)
        largest /= np.sqrt(1.0 + np.einsum("cj,bjk,ck->bc", rows, fits.inverse, rows))
        self._order = np.argsort(largest, axis=None)
        self._sizes = largest.ravel()[self._order]
        self._curves, self._drawn = curves, counts > 0

    def factor(self, without: int | None = None) -> float:
        """Half width in standard deviations of a prediction, also without a subject."""
        subject, drawn = self._curves.subject, self._drawn
        weights = np.tile(self._curves.weights.max(axis=0), (len(drawn), 1))
        if without is not None:
            weights[drawn[:, without]] = 0.0
            weights[:, subject == without] = 0.0
        inside = drawn[:, subject]
        of_inside = (weights * inside).sum()
        weights *= np.where(inside, INSIDE / of_inside, (1.0 - INSIDE) / (weights.sum() - of_inside))
        below = np.cumsum(weights.ravel()[self._order])
        return float(self._sizes[np.searchsorted(below, LEVEL * below[-1])])


def holm(p: FloatArray) -> FloatArray:
    """P values adjusted for their number (Holm 1979); NaN are not counted.

    >>> holm(np.array([0.01, np.nan, 0.04, 0.03])).tolist()
    [0.03, nan, 0.06, 0.06]
    """
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return adjusted


def complete_block(values: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Curves and points without gaps: those that are the most values together.

    Parameters
    ----------
    values : ndarray of shape (n_curves, n_points)
        Curves; NaN where missing.

    Examples
    --------
    >>> [part.tolist() for part in complete_block(np.array([[1.0, 1.0, 1.0], [1.0, np.nan, np.nan], [1.0, 1.0, np.nan]]))]
    [[True, False, True], [True, True, False]]
    """
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    blocks = [(count >= least, known[:, count >= least].all(axis=1)) for least in np.unique(count[count > 0])]
    if not blocks:
        return np.zeros(len(values), dtype=bool), np.zeros(values.shape[1], dtype=bool)
    points, curves = max(blocks, key=lambda block: int(block[0].sum() * block[1].sum()))
    return curves, points
