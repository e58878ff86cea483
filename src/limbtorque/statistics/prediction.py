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
ROUNDING = 1e-12  # of the squared values: a smaller variance is 0


@dataclass(frozen=True)
class Fits:
    """Regressions of the same curves, each with weights of the subjects of its own.

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

    def predicted(self, rows: FloatArray, fit: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean, and standard deviation of a new value about it, (n_rows, n_points).

        The latter contains that of the mean: s sqrt(1 + 1/n) without a covariate.
        """
        leverage = np.einsum("mj,mjk,mk->m", rows, self.inverse[fit], rows)
        mean = np.einsum("mj,mjp->mp", rows, self.coefficients[fit])
        return mean, np.sqrt(self.variance[fit] * (1.0 + leverage)[:, np.newaxis])


@dataclass(frozen=True)
class Group:
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
        of_subject = self.subject == np.arange(len(self.design))[:, np.newaxis]
        return np.asarray(of_subject / of_subject.sum(axis=1, keepdims=True))

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
    def left_out(self) -> Fits:
        """Regression of all subjects, then those without each of them."""
        n = len(self.design)
        return self.fits(np.vstack([np.ones(n), 1.0 - np.eye(n)]))


class CurveBand:
    """Half width of a band that holds a whole new curve, by bootstrap.

    Parameters
    ----------
    group : Group
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

    def __init__(self, group: Group, *, seed: int) -> None:
        n_subjects, n_columns = group.design.shape
        drawn = np.random.default_rng(seed).multinomial(n_subjects, np.full(n_subjects, 1.0 / n_subjects), size=SAMPLES)
        counts = drawn[(drawn > 0).sum(axis=1) > n_columns + 1]
        fits, rows = group.fits(counts.astype(float)), group.design[group.subject]
        scale = np.divide(1.0, np.sqrt(fits.variance), out=np.zeros(fits.variance.shape), where=fits.variance > 0.0)
        largest = np.empty((len(counts), len(rows)))
        single = [each.astype(np.float32) for each in (rows, fits.coefficients, group.values, scale[:, np.newaxis])]
        of_rows, coefficients, values, scales = single  # half the time of double precision
        for start in range(0, len(counts), BLOCK):
            block = slice(start, start + BLOCK)
            distance = of_rows @ coefficients[block]
            distance -= values
            np.abs(distance, out=distance)
            distance *= scales[block]
            largest[block] = distance.max(axis=2)
        largest /= np.sqrt(1.0 + np.einsum("cj,bjk,ck->bc", rows, fits.inverse, rows))
        self._order = np.argsort(-largest, axis=None)[: largest.size // 4]  # the largest: no limit is below them
        self._sizes = largest.ravel()[self._order]
        self._group, self._drawn = group, counts > 0

    def factor(self, fit: int) -> float:
        """Half width in standard deviations of a prediction, by a fit of `left_out`."""
        subject, drawn = self._group.subject, self._drawn
        weights = np.tile(self._group.weights.max(axis=0), (len(drawn), 1))
        if fit > 0:
            weights[drawn[:, fit - 1]] = 0.0
            weights[:, subject == fit - 1] = 0.0
        inside = drawn[:, subject]
        of_inside = (weights * inside).sum()
        weights *= np.where(inside, INSIDE / of_inside, (1.0 - INSIDE) / (weights.sum() - of_inside))
        above = np.cumsum(weights.ravel()[self._order])
        return float(self._sizes[np.searchsorted(above, 1.0 - LEVEL)])


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
    of_points = [count >= least for least in np.unique(count)]
    blocks = [(np.asarray(known[:, points].all(axis=1)), points) for points in of_points]
    return max(blocks, key=lambda block: int(block[0].sum() * block[1].sum()))
