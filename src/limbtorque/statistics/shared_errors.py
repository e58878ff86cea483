"""Input errors in contrasts: those of all subjects, and each subject's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray


@dataclass(frozen=True)
class ContrastErrors:
    """Variances of a contrast due to errors of the inputs, to first order.

    Attributes
    ----------
    shared_variance : float
        Of the estimate, by errors that all trials of the study share. They are not in the spread between subjects: the interval
        is widened by them.
    own_variance : ndarray of shape (n_subjects,)
        Of each subject's value, by all other errors. They are in the spread between subjects already.
    """

    shared_variance: float
    own_variance: FloatArray

    @property
    def own_sd(self) -> float:
        """Part of the standard deviation between subjects that is due to their own errors."""
        return float(np.sqrt(self.own_variance.mean()))


def contrast_errors(
    effects: FloatArray,
    owners: Sequence[str],
    *,
    subjects: NDArray[Any],
    sessions: NDArray[Any],
    weights: FloatArray,
    subject_weights: FloatArray,
) -> ContrastErrors:
    """Variances of a contrast due to errors of the inputs.

    Parameters
    ----------
    effects : ndarray of shape (n_trials, n_directions)
        Signed change of each trial's value with one standard deviation of each error; 0 where a trial does not have it, NaN where
        it is not known.
    owners : sequence of str
        Trials that have each direction in common: those of the ``"study"``, of a ``"subject"``, of a subject in a ``"session"``,
        or none (``"trial"``).
    subjects : ndarray of int, shape (n_trials,)
        Row of each trial's subject among `subject_weights`.
    sessions : ndarray of shape (n_trials,)
        Session of each trial.
    weights : ndarray of shape (n_trials,)
        Weight of each trial in the value of its subject: of a difference of means 1 over the number of the subject's trials in
        one condition, -1 over that in the other.
    subject_weights : ndarray of shape (n_subjects,)
        Weight of each subject in the estimate: 1 over their number in a mean; a row of the pseudo-inverse of a linear model.

    Returns
    -------
    ContrastErrors
        NaN where an effect is not known.

    Notes
    -----
    An error e of unit variance that trials share changes the contrast by the sum of their weighted effects times e, with their
    signs: what acts alike on both conditions cancels.

    Examples
    --------
    Four trials of two subjects, two of each condition, an error of all and one of each subject:

    >>> effects = np.array([[3.0, 1.0], [1.0, 2.0], [5.0, 1.0], [1.0, 1.0]])
    >>> errors = contrast_errors(
    ...     effects,
    ...     ["study", "subject"],
    ...     subjects=np.array([0, 0, 1, 1]),
    ...     sessions=np.zeros(4),
    ...     weights=np.array([1.0, -1.0, 1.0, -1.0]),
    ...     subject_weights=np.full(2, 0.5),
    ... )
    >>> errors.shared_variance, errors.own_variance.tolist()
    (9.0, [1.0, 0.0])
    """
    weighted, kinds = effects * weights[:, None], np.asarray(owners)
    sessions = np.unique(sessions, return_inverse=True)[1]
    groups = {  # trials with the same number have the direction in common
        "study": subjects,
        "subject": subjects,
        "session": subjects * (sessions.max(initial=0) + 1) + sessions,
        "trial": np.arange(len(subjects)),
    }
    shared, own = 0.0, np.zeros(len(subject_weights))
    for owner, members in groups.items():
        groups_of_trials, first, group = np.unique(members, return_index=True, return_inverse=True)
        sums = np.zeros((len(groups_of_trials), np.count_nonzero(kinds == owner)))
        np.add.at(sums, group, weighted[:, kinds == owner])
        if owner == "study":
            shared = float(np.square(subject_weights[subjects[first]] @ sums).sum())
        else:
            np.add.at(own, subjects[first], np.square(sums).sum(axis=1))
    return ContrastErrors(shared, own)
