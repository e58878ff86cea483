"""Directions of input errors, and the resulting bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import ComplexArray, FloatArray
from limbtorque.study.options.uncertainty import SOURCES, Source

LEVEL = 0.95
LIMITS = NormalDist().inv_cdf(0.5 + LEVEL / 2.0)  # in standard deviations
WITH_ERRORS = ("peak_nm", "max_nm", "min_nm", "mean_nm", "impulse_nms")

SharedBy = Literal["study", "subject", "trial"]
OWNERS: tuple[SharedBy, ...] = get_args(SharedBy)
# The error of a scale or a table is the same in all trials of a subject, that of a plate in all trials of a study; the same filter
# takes the same from all trials.
SHARED_BY: dict[Source, SharedBy] = {
    "segment_mass": "subject",
    "segment_com": "subject",
    "segment_inertia": "subject",
    "body_mass": "subject",
    "joint_centres": "subject",
    "soft_tissue": "subject",
    "marker_noise": "trial",
    "gaps": "trial",
    "filter": "study",
    "plane": "subject",
    "plate_gain": "study",
    "plate_offset": "study",
    "pressure": "study",
    "synchronisation": "study",
}


@dataclass(frozen=True)
class Direction:
    """A direction of input error, of one standard deviation.

    Attributes
    ----------
    source : str
        Source of the error, as in `uncertainty.off`.
    name : str
        What is wrong: a segment, a joint centre with its axis, or empty. The errors of two trials in directions of the
        same source and name are one random number where `shared_by` has them in common, else independent.
    """

    source: Source
    name: str = ""

    @property
    def shared_by(self) -> SharedBy:
        """Trials with this error in common: of a study, a subject, or none."""
        return SHARED_BY[self.source]


@dataclass(frozen=True)
class ParameterErrors:
    """Errors of inertial parameters.

    Attributes
    ----------
    directions : sequence of Direction
        The directions.
    change : ndarray of shape (n_directions, 3 n_links)
        Change of `linear.inertial_parameters` with one standard deviation of each.
    """

    directions: Sequence[Direction]
    change: FloatArray

    def only(self, kept: Sequence[int]) -> ParameterErrors:
        """Errors in selected directions."""
        return ParameterErrors([self.directions[k] for k in kept], self.change[kept])


@dataclass(frozen=True)
class InputErrors:
    """Errors of joint centres and external load.

    Attributes
    ----------
    directions : sequence of Direction
        The directions.
    joint_m : complex ndarray of shape (n_joints + 1, n_directions, n_frames)
        Change of joint centres and endpoint, x + iy, m, with one standard deviation of each.
    force_n : ndarray of shape (2, n_directions, n_frames)
        Change of the force on the last link, N.
    moment_nm : ndarray of shape (n_joints, n_directions, n_frames)
        Change of the load's moment about the plane's origin, as it acts on each joint, N m.
    """

    directions: Sequence[Direction]
    joint_m: ComplexArray
    force_n: FloatArray
    moment_nm: FloatArray

    def part(self, some: slice) -> InputErrors:
        """Errors in selected frames."""
        return replace(
            self, joint_m=self.joint_m[..., some], force_n=self.force_n[..., some], moment_nm=self.moment_nm[..., some]
        )

    def only(self, kept: Sequence[int]) -> InputErrors:
        """Errors in selected directions."""
        directions = [self.directions[k] for k in kept]
        return InputErrors(directions, self.joint_m[:, kept], self.force_n[:, kept], self.moment_nm[:, kept])

    @classmethod
    def together(cls, errors: Sequence[InputErrors]) -> InputErrors:
        """Join several errors in order."""
        return cls(
            [direction for each in errors for direction in each.directions],
            np.concatenate([each.joint_m for each in errors], axis=1),
            np.concatenate([each.force_n for each in errors], axis=1),
            np.concatenate([each.moment_nm for each in errors], axis=1),
        )

    @classmethod
    def of_joints(cls, directions: Sequence[Direction], joint_m: ComplexArray) -> InputErrors:
        """Errors of joint centres only."""
        still = np.zeros_like(joint_m[1:], dtype=float)
        return cls(directions, joint_m, np.zeros((2, *still.shape[1:])), still)


@dataclass(frozen=True)
class SumBands:
    """Uncertainty of a weighted sum over frames of every net torque, term and kind.

    Attributes
    ----------
    change : ndarray of shape (n_joints, n_terms, n_directions)
        Signed change with each direction. Two sums, of one trial or of two, have as covariance the sum of their products over
        the directions that they share.
    variance : ndarray of shape (n_joints, n_terms)
        Variance by all directions and the markers' noise.
    bias : ndarray of shape (n_joints, n_terms)
        Amount by which noise makes the sum too large, as of `TorqueBands`.
    """

    change: FloatArray
    variance: FloatArray
    bias: FloatArray

    @cached_property
    def sd(self) -> FloatArray:
        """Standard deviations, shape (n_joints, n_terms)."""
        return np.sqrt(self.variance)


@dataclass(frozen=True)
class TorqueBands:
    """Uncertainty of the net torques and terms of a trial.

    Attributes
    ----------
    directions : tuple of Direction
        Directions in which inputs may be wrong, each by an independent normal number of variance 1. The markers' noise is
        not among them: it has no memory beyond the filter's.
    by_source : mapping of str to ndarray of shape (n_joints, n_terms, n_frames)
        Variance of each row of `linear.with_kinds` by source, N m squared; ``"marker_noise"`` is always there.
    bias_nm : ndarray of shape (n_joints, n_terms, n_frames)
        Amount by which the noise of the velocities makes a term too large on average, N m; the limits lie on both sides of
        the torque less this.
    sums : mapping of str to SumBands
        Sums over frames, by the names of their weights.
    """

    directions: tuple[Direction, ...]
    by_source: Mapping[Source, FloatArray]
    bias_nm: FloatArray
    sums: Mapping[str, SumBands]

    @cached_property
    def variance_nm2(self) -> FloatArray:
        """Variances, shape (n_joints, n_terms, n_frames), N m squared."""
        return np.asarray(sum(self.by_source.values()))

    @cached_property
    def sd_nm(self) -> FloatArray:
        """Standard deviations, shape (n_joints, n_terms, n_frames), N m."""
        return np.sqrt(self.variance_nm2)


def error_columns(name: str) -> tuple[str, str, str]:
    """Columns of a statistic's error: standard deviation, shares of study and subject.

    >>> error_columns("max_nm")
    ('max_sd_nm', 'max_shared_by_study', 'max_shared_by_subject')
    """
    start, unit = name.rsplit("_", 1)
    return f"{start}_sd_{unit}", f"{start}_shared_by_study", f"{start}_shared_by_subject"


def errors_by_owner(sd: FloatArray, of_study: FloatArray, of_subject: FloatArray) -> FloatArray:
    """Standard deviations of statistics by the owners of the errors.

    Parameters
    ----------
    sd, of_study, of_subject : ndarray of shape (n_rows,)
        The `error_columns` of a statistic; NaN where unknown.

    Returns
    -------
    ndarray of shape (3, n_rows)
        In the order of `OWNERS`.
    """
    return sd * np.sqrt(np.maximum([of_study, of_subject, 1.0 - of_study - of_subject], 0.0))


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
    """Standard deviation of mean curves due to input errors.

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
        NaN where a standard deviation is not known or no trial has a value.

    Notes
    -----
    An error that trials share is taken to have the same sign in all of them, which is the most it can be: it does not
    average out. Errors of subjects, and those of trials, are independent.

    Examples
    --------
    Two trials of each of two subjects, with 3 N m of each kind of error:

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
