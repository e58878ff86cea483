"""Uncertainty of means over trials, apart from the spread between subjects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.uncertainty.directions import SharedBy

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
