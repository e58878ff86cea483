"""Misfits of a limb that the stated errors of its joint centres and skin give.

Errors of `uncertainty` move the joint centres of a chain. What the rigid chain cannot follow, how the lengths vary, and how the
sides differ follow from them to first order, in the same directions as the bands of the torques: a metric judges what is beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from limbtorque.arrays import ComplexArray, FloatArray
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.bands import InputErrors
from limbtorque.uncertainty.propagation import centre_errors, soft_tissue_errors

LEVEL = 0.95  # of trials with exactly the stated errors are below a limit
SIDES_LEVEL = 0.975  # below each of the two limits of the differences between the sides
FRAMES = 200  # from which means over time are taken, or up to twice as many
BODY_M = 0.005  # difference of the sides of a body: legs differ by 5 mm (standard deviation 4 mm; Knutson 2005)


@dataclass(frozen=True)
class Stated:
    """Misfits with exactly the stated errors.

    Attributes
    ----------
    misfit_m : float
        Limit of the root mean square distance of the fitted rigid chain from the joints, m.
    length_m : ndarray of shape (n_segments,)
        Limit of the standard deviation of each segment's length over time, m.
    sides_m2 : ndarray of shape (n_segments + 2, n_segments + 2)
        Covariance of the differences between left and right: of the segments' lengths, and of the place of the first joint
        upwards and along the way, m squared.
    centres_m : ndarray of shape (n_segments + 2, n_directions)
        The same differences with errors of one side's joint centres, two directions for each, m.
    """

    misfit_m: float
    length_m: FloatArray
    sides_m2: FloatArray
    centres_m: FloatArray


def stated_misfits(motion: ChainMotion, limb: Limb, settings: Settings) -> Stated:
    """Misfits of a limb's motion with exactly the stated errors.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    limb, settings
        Chain, side and marker set; sizes of the errors.

    Returns
    -------
    Stated
        Zero, but for the difference of bodies, where no source of such errors is switched on, or no frame has an orientation.

    Notes
    -----
    An error of the directions d is ``sum_d z_d e_d`` with independent normal numbers z of variance 1. A mean square over time is
    then ``z' G z`` with the Gram matrix G of the directions, of mean ``tr G`` and variance ``2 tr G^2``.
    """
    analysed = AnalysedLimb(motion.part(slice(None, None, max(len(motion.time_s) // FRAMES, 1))), limb, settings)
    angle = analysed.motion.kinematics.angle_rad
    known = ~np.isnan(angle).any(axis=1)
    n, body_m2 = motion.chain.n_links, BODY_M**2 * np.eye(motion.chain.n_links + 2)
    errors = InputErrors.together([centre_errors(analysed), soft_tissue_errors(analysed)])
    errors = errors.only([k for k, each in enumerate(errors.directions) if each.source not in settings.uncertainty.off])
    if not (known.any() and errors.directions):
        return Stated(0.0, np.zeros(n), body_m2, np.zeros((n + 2, 0)))
    joint_m, fitted_m = errors.joint_m[..., known], analysed.fit_change(errors.joint_m).joint_m[..., known]
    direction = unit_vectors(np.cumsum(angle[known], axis=1).T)
    longer = (np.diff(joint_m, axis=0) * np.conj(direction)[:, None]).real  # (n_links, n_directions, n_frames)
    varying = longer - longer.mean(axis=2, keepdims=True)
    first = joint_m[0].mean(axis=1)
    means = np.vstack([longer.mean(axis=2), first.imag, first.real])
    return Stated(
        misfit_m=np.sqrt(_limit(_gram(joint_m - fitted_m) / (n + 1))),
        length_m=np.sqrt([_limit(_gram(each[None])) for each in varying]),
        sides_m2=2.0 * means @ means.T + body_m2,
        centres_m=means[:, [each.source == "joint_centres" for each in errors.directions]],
    )


def _gram(errors: ComplexArray) -> FloatArray:
    """Gram matrix of directions, their mean products over time: (n, n_directions, n_frames) summed over n."""
    rows = errors.swapaxes(0, 1).reshape(errors.shape[1], -1)
    return np.asarray((rows @ np.conj(rows).T).real / errors.shape[2])


def _limit(gram: FloatArray) -> float:
    """Limit of a mean square from the Gram matrix of its directions."""
    mean, variance = float(np.trace(gram)), 2.0 * float((gram**2).sum())
    return mean * chi_square_over_mean(2.0 * mean**2 / variance) if variance else 0.0


def chi_square_over_mean(freedom: float, level: float = LEVEL) -> float:
    """Limit of a chi-square variable over its mean (Wilson and Hilferty 1931).

    Examples
    --------
    >>> round(5.0 * chi_square_over_mean(5.0), 1)  # tables: 11.07
    11.0
    """
    return (1.0 - 2.0 / (9.0 * freedom) + NormalDist().inv_cdf(level) * np.sqrt(2.0 / (9.0 * freedom))) ** 3


def sides_unlike_factor(difference_m: FloatArray, stated: Stated) -> float:
    """Difference between the sides over its limit with exactly the stated errors.

    Parameters
    ----------
    difference_m : ndarray of shape (n,)
        Differences, m, in the order of `Stated.sides_m2`; the last may be left out.
    stated : Stated
        Their covariance, and their parts by joint centre.

    Returns
    -------
    float
        The largest of these roots of a chi-square variable over its limit: all differences together, and the part that the error of
        one joint centre explains, of two degrees of freedom each.
    """
    n = len(difference_m)
    covariance, centres = stated.sides_m2[:n, :n], stated.centres_m[:n]
    weighed, explained = np.linalg.solve(covariance, np.column_stack([difference_m, centres])), [0.0]
    for k in range(0, centres.shape[1], 2):
        part = slice(k, k + 2)
        score = centres[:, part].T @ weighed[:, 0]
        explained.append(float(score @ np.linalg.pinv(centres[:, part].T @ weighed[:, 1:][:, part]) @ score))
    together = difference_m @ weighed[:, 0] / (n * chi_square_over_mean(n, SIDES_LEVEL))
    alone = max(explained) / (-2.0 * np.log((1.0 - SIDES_LEVEL) / max(centres.shape[1] // 2, 1)))
    return float(np.sqrt(max(together, alone)))
