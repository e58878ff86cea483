"""Standard deviations of torque terms, by source and over frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from limbtorque.arrays import FloatArray
from limbtorque.study.options.uncertainty import Source
from limbtorque.uncertainty.directions import Direction

LEVEL = 0.95
LIMITS = float(ndtri(0.5 + LEVEL / 2.0))  # of a normal distribution, in standard deviations


@dataclass(frozen=True)
class TorqueBands:
    """Uncertainty of the net torques and terms of a trial, to first order.

    Attributes
    ----------
    directions : tuple of Direction
        Directions in which inputs may be wrong, each by an independent normal number of variance 1. The markers' noise is
        not among them: it has no memory beyond the filter's.
    by_source : mapping of str to ndarray of shape (n_joints, n_terms, n_frames)
        Variance of each row of `regressor.term_rows` by source, N m squared; ``"marker_noise"`` is always there.
    sums : mapping of str to ndarray of shape (n_joints, n_terms, n_directions)
        Change of sums over frames, by the names of their weights, with each direction. The sum of squares over the directions
        is the variance without noise; two sums, of one trial or of two, have as covariance the sum of their products over
        the directions that they share.
    """

    directions: tuple[Direction, ...]
    by_source: Mapping[Source, FloatArray]
    sums: Mapping[str, FloatArray]

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
