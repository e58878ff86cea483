"""Mean and spread of curves over trials or subjects, in one pass. Arrays only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import FloatArray

IntArray = NDArray[np.int64]
Unit = Literal["subjects", "trials"]


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squares of many arrays of one shape, without the arrays.

    Attributes
    ----------
    n : ndarray of int
        Number of values.
    mean : ndarray
        Mean; 0 without values.
    squares : ndarray
        Sum of the squared differences from the mean.
    """

    n: IntArray
    mean: FloatArray
    squares: FloatArray

    @property
    def sd(self) -> FloatArray:
        """Standard deviation (n - 1); NaN for fewer than two values."""
        return np.where(self.n > 1, np.sqrt(self.squares / np.maximum(self.n - 1, 1)), np.nan)

    @property
    def known_mean(self) -> FloatArray:
        """Mean, NaN without values."""
        return np.where(self.n > 0, self.mean, np.nan)


def no_moments(shape: tuple[int, ...]) -> Moments:
    """Moments of no values."""
    return Moments(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape))


def add(moments: Moments, values: ArrayLike) -> Moments:
    """Moments with one more array (Welford 1962).

    Parameters
    ----------
    moments : Moments
        Moments so far.
    values : array_like
        One more; NaN where missing.

    Examples
    --------
    >>> found = add(add(no_moments((1,)), [1.0]), [4.0])
    >>> found.n.tolist(), found.mean.tolist(), found.sd.round(3).tolist()
    ([2], [2.5], [2.121])
    """
    array = np.asarray(values, dtype=float)
    known = ~np.isnan(array)
    return merge(moments, Moments(known.astype(np.int64), np.where(known, array, 0.0), np.zeros(array.shape)))


def merge(first: Moments, second: Moments) -> Moments:
    """Moments of two sets of arrays together (Chan, Golub and LeVeque 1983)."""
    n = first.n + second.n
    share = second.n / np.maximum(n, 1)
    step = np.where(second.n > 0, second.mean - first.mean, 0.0)
    return Moments(n, first.mean + step * share, first.squares + second.squares + step**2 * first.n * share)


@dataclass(frozen=True)
class Ensemble:
    """Mean and spread of curves.

    Attributes
    ----------
    mean, sd : ndarray
        Mean, and standard deviation (n - 1), over subjects or over trials; NaN with fewer units than wanted, and the
        standard deviation with fewer than two.
    n_trials, n_subjects : ndarray of int
        Numbers of trials and subjects with a value.
    """

    mean: FloatArray
    sd: FloatArray
    n_trials: IntArray
    n_subjects: IntArray


def unit_of_spread(spread_over: Unit, subjects: Iterable[str]) -> Unit:
    """Unit of mean and spread in a study: its trials where it has one subject.

    Parameters
    ----------
    spread_over : {"subjects", "trials"}
        `ensembles.spread_over`.
    subjects : iterable of str
        Subject of every trial of the study, analysed or not.

    Examples
    --------
    >>> unit_of_spread("subjects", ["S01", "S02", "S01"]), unit_of_spread("subjects", ["S01", "S01"])
    ('subjects', 'trials')
    """
    return spread_over if len(set(subjects)) > 1 else "trials"


def ensemble(subjects: Sequence[Moments], *, spread_over: Unit, min_units: int) -> Ensemble:
    """Mean and spread of the trials of some subjects.

    Parameters
    ----------
    subjects : sequence of Moments
        Moments over the trials of each subject; one at least.
    spread_over : {"subjects", "trials"}
        Unit of the statistics: the means of the subjects, or all trials alike.
    min_units : int
        Least number of units with a value, `ensembles.min_units`.

    Notes
    -----
    Trials of one subject resemble each other. Over trials, ``sd / sqrt(n)`` is therefore too small for a comparison of
    subjects: the units of a mean are those that were sampled (Lazic 2010, BMC Neuroscience 11:5).
    """
    over = none = no_moments(subjects[0].n.shape)
    n_trials, n_subjects = none.n, none.n
    for own in subjects:
        over = merge(over, own) if spread_over == "trials" else add(over, own.known_mean)
        n_trials, n_subjects = n_trials + own.n, n_subjects + (own.n > 0)
    mean, sd = (np.where(over.n >= min_units, values, np.nan) for values in (over.known_mean, over.sd))
    return Ensemble(mean, sd, n_trials, n_subjects)
