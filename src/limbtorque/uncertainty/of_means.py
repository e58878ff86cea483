"""Uncertainty of means over trials, apart from the spread between subjects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.uncertainty.directions import SHARED_BY, SharedBy

OWNERS: tuple[SharedBy, ...] = get_args(SharedBy)
WITH_ERRORS = ("peak_nm", "max_nm", "min_nm", "mean_nm", "impulse_nms")


def errors_by_owner(row: Mapping[str, Any], name: str) -> list[float]:
    """Standard deviations of a statistic by the owners of the errors.

    In the order of `OWNERS`; NaN where unknown.

    Parameters
    ----------
    row : mapping
        Row of the summary, with the columns of its uncertainty.
    name : str
        One of `WITH_ERRORS`.
    """
    start, unit = name.rsplit("_", 1)
    sd = row.get(f"{start}_sd_{unit}", math.nan)
    if math.isnan(sd):
        return [math.nan] * len(OWNERS)
    study, subject = (row.get(f"{start}_shared_by_{owner}", math.nan) for owner in ("study", "subject"))
    return [float(sd * np.sqrt(max(share, 0.0))) for share in (study, subject, 1.0 - study - subject)]


def error_of_mean(sd: FloatArray, subjects: NDArray[Any], weights: FloatArray) -> float:
    """Standard deviation of a weighted mean of trials by the errors of their inputs.

    Parameters
    ----------
    sd : ndarray of shape (n_trials, 3)
        From `errors_by_owner`.
    subjects : ndarray of shape (n_trials,)
        Subject of each trial.
    weights : ndarray of shape (n_trials,)
        Weights, which add up to 1.

    Returns
    -------
    float
        NaN where a standard deviation is not known.

    Notes
    -----
    An error that trials share is taken to have the same sign in all of them, which is the most it can be: it does not
    average out. Errors of subjects, and those of trials, are independent.

    Examples
    --------
    Two trials of each of two subjects, with 3 N m of each kind of error:

    >>> four = np.full((4, 3), 3.0)
    >>> round(error_of_mean(four, np.array(["A", "A", "B", "B"]), np.full(4, 0.25)) ** 2 / 9.0, 4)
    1.75
    """
    study, subject, trial = (weights * each for each in sd.T)
    own = [subject[subjects == name].sum() for name in dict.fromkeys(subjects.tolist())]
    return float(np.sqrt(study.sum() ** 2 + np.square(own).sum() + np.square(trial).sum()))


def sd_by_owner(sd: FloatArray, shares: Mapping[str, FloatArray]) -> FloatArray:
    """Standard deviations by the owners of the errors, of every frame.

    Parameters
    ----------
    sd : ndarray of shape (n_frames,)
        Standard deviation by all errors.
    shares : mapping of str to ndarray of shape (n_frames,)
        Share of each source in its square.

    Returns
    -------
    ndarray of shape (3, n_frames)
        In the order of `OWNERS`.
    """
    of_owner = {owner: [shares[each] for each in SOURCES if SHARED_BY[each] == owner] for owner in OWNERS}
    return np.stack([sd * np.sqrt(np.sum(of_owner[owner], axis=0)) for owner in OWNERS])


def added_errors(so_far: FloatArray, values: FloatArray, sd: FloatArray) -> FloatArray:
    """Sums over a subject's trials of the errors of their curves.

    Parameters
    ----------
    so_far : ndarray of shape (3, ...)
        Sums of the trials before; zeros at first.
    values : ndarray of shape (...)
        Curves of a trial; NaN where they do not count.
    sd : ndarray of shape (3, ...)
        Their standard deviations, in the order of `OWNERS`.

    Returns
    -------
    ndarray of shape (3, ...)
        Sums of the first two, which the trials share, and of the squares of the third.
    """
    own = np.concatenate([sd[:2], sd[2:] ** 2])
    return so_far + np.where(np.isnan(values), 0.0, own)


def error_of_mean_curve(
    sums: Sequence[FloatArray], counts: Sequence[NDArray[Any]], *, over_subjects: bool
) -> FloatArray:
    """Standard deviation of mean curves by the errors of the inputs.

    Parameters
    ----------
    sums : sequence of ndarray of shape (3, ...)
        Of each subject, from `added_errors`.
    counts : sequence of ndarray of int, shape (...)
        Number of the subject's trials with a value.
    over_subjects : bool
        Mean over the means of the subjects; else over all trials.

    Returns
    -------
    ndarray of shape (...)
        As `error_of_mean`; NaN where a standard deviation is not known or no trial has a value.

    Examples
    --------
    The two trials of each of two subjects of `error_of_mean`:

    >>> own = added_errors(added_errors(np.zeros((3, 1)), np.ones(1), np.full((3, 1), 3.0)), np.ones(1), np.full((3, 1), 3.0))
    >>> found = error_of_mean_curve([own, own], [np.array([2]), np.array([2])], over_subjects=True)
    >>> round(float(found[0]) ** 2 / 9.0, 4)
    1.75
    """
    units = np.sum([count > 0 if over_subjects else count for count in counts], axis=0)
    study, others = np.zeros(units.shape), np.zeros(units.shape)
    for own, count in zip(sums, counts, strict=True):
        weight = 1.0 / np.maximum(units * (np.maximum(count, 1) if over_subjects else 1), 1)
        study += weight * own[0]
        others += (weight * own[1]) ** 2 + weight**2 * own[2]
    return np.where(units > 0, np.sqrt(study**2 + others), np.nan)
