"""Standard deviations of torque terms, by source and over frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.study.options.uncertainty import Source
from limbtorque.uncertainty.directions import Direction

LEVEL = 0.95
RESOLUTION = 1e-4  # of a joint's largest net torque: smaller limits and errors are not judged
LIMITS = NormalDist().inv_cdf(0.5 + LEVEL / 2.0)  # in standard deviations


@dataclass(frozen=True)
class SumBands:
    """Uncertainty of a weighted sum over frames of every net torque and term.

    Attributes
    ----------
    change : ndarray of shape (n_joints, n_terms, n_directions)
        Change with each direction. Two sums, of one trial or of two, have as covariance the sum of their products over the
        directions that they share.
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
        Variance of each row of `regressor.term_rows` by source, N m squared; ``"marker_noise"`` is always there.
    bias_nm : ndarray of shape (n_joints, n_terms, n_frames)
        Amount by which the noise of the velocities makes a term too large on average, N m; the limits lie on both sides of
        the torque less this.
    rate_nm2_s2 : ndarray of shape (n_joints, n_terms, n_frames), or None
        Variances of the rate of change of the errors, (N m / s)^2, for `simultaneous.simultaneous_limits`; None where they
        were not asked for.
    sums : mapping of str to SumBands
        Sums over frames, by the names of their weights.
    """

    directions: tuple[Direction, ...]
    by_source: Mapping[Source, FloatArray]
    bias_nm: FloatArray
    rate_nm2_s2: FloatArray | None
    sums: Mapping[str, SumBands]

    @cached_property
    def variance_nm2(self) -> FloatArray:
        """Variances, shape (n_joints, n_terms, n_frames), N m squared."""
        return np.asarray(sum(self.by_source.values()))

    @cached_property
    def sd_nm(self) -> FloatArray:
        """Standard deviations, shape (n_joints, n_terms, n_frames), N m."""
        return np.sqrt(self.variance_nm2)


def sign_is_certain(torque_nm: FloatArray, sd_nm: FloatArray) -> FloatArray:
    """Return 1 where the 95 % limits of a torque have one sign, else 0; NaN unknown."""
    certain = (np.abs(torque_nm) > LIMITS * sd_nm).astype(float)
    return np.where(np.isnan(torque_nm + sd_nm), np.nan, certain)


def resolution_nm(net_nm: FloatArray) -> FloatArray:
    """Torque below which the limits of a joint's terms are not judged.

    Parameters
    ----------
    net_nm : ndarray of shape (n_joints, n_frames)
        Net torques.

    Returns
    -------
    ndarray of shape (n_joints,)
        `RESOLUTION` times the largest net torque of each joint, N m.
    """
    return np.asarray(RESOLUTION * np.nanmax(np.abs(net_nm), axis=1))
