"""Misfits of a limb that the stated errors of its joint centres and skin give.

Errors of `uncertainty` move the joint centres of a chain. How the lengths of its segments vary and how the sides differ follow from
them to first order, in the same directions as the bands of the torques: a metric judges what they do not explain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.bands import InputErrors
from limbtorque.uncertainty.propagation import centre_errors, soft_tissue_errors

LEVEL = 0.96  # of trials are below the limit of the lengths' variation to first order; of simulated arms 95 %
SIDES_LEVEL = 0.975  # below each of the two limits of the differences between the sides
FRAMES = 200  # from which means over time are taken, or up to twice as many
FELT_M = 0.0005  # of the lengths, root mean square: smaller effects are not told from noise
BODY_M = 0.005  # difference of the sides of a body: legs differ by 5 mm (standard deviation 4 mm; Knutson 2005)


@dataclass(frozen=True)
class Stated:
    """Misfits with exactly the stated errors.

    Attributes
    ----------
    beyond : float
        Part of the lengths' variation that such errors do not explain, as a share of its root mean square.
    sides_m2 : ndarray of shape (n_segments + 2, n_segments + 2)
        Covariance of the differences between left and right: of the segments' lengths, and of the place of the first joint
        upwards and along the way, m squared.
    centres_m : ndarray of shape (n_segments + 2, n_directions)
        The same differences with errors of one side's joint centres, two directions for each, m.
    """

    beyond: float
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
        All is beyond where no source of such errors is switched on, or no frame has an orientation.

    Notes
    -----
    With errors of the directions d the lengths are ``sum_d z_d J_d`` with independent normal numbers z of variance 1. In the
    eigenvectors of the Gram matrix of J, least squares give z; the sum of squares of those with an effect above `FELT_M` is a
    chi-square variable. Below its limit the variation that they explain is not beyond, nor is that of noise, nor the mean of smaller
    effects; above it, all is.
    """
    analysed = AnalysedLimb(motion.part(slice(None, None, max(len(motion.time_s) // FRAMES, 1))), limb, settings)
    angle = analysed.motion.kinematics.angle_rad
    known = ~np.isnan(angle).any(axis=1)
    n, body_m2 = motion.chain.n_links, BODY_M**2 * np.eye(motion.chain.n_links + 2)
    errors = InputErrors.together([centre_errors(analysed), soft_tissue_errors(analysed)])
    errors = errors.only([k for k, each in enumerate(errors.directions) if each.source not in settings.uncertainty.off])
    if not (known.any() and errors.directions):
        return Stated(1.0, body_m2, np.zeros((n + 2, 0)))
    joint_m = errors.joint_m[..., known]
    direction = unit_vectors(np.cumsum(angle[known], axis=1).T)
    longer = (np.diff(joint_m, axis=0) * np.conj(direction)[:, None]).real  # (n_links, n_directions, n_frames)
    first = joint_m[0].mean(axis=1)
    means = np.vstack([longer.mean(axis=2), first.imag, first.real])
    return Stated(
        beyond=_beyond(longer, analysed.motion.segment_length_m[known].T, motion.metrics.get("noise_m", 0.0)),
        sides_m2=2.0 * means @ means.T + body_m2,
        centres_m=means[:, [each.source == "joint_centres" for each in errors.directions]],
    )


def _beyond(longer_m: FloatArray, length_m: FloatArray, noise_m: float) -> float:
    """Share of the lengths' variation that the directions do not explain.

    From the change of the lengths with each direction, (n_links, n_directions, n_frames), and the lengths, (n_links, n_frames).
    """
    size, n_directions = length_m.size, longer_m.shape[1]
    by_direction = (longer_m - longer_m.mean(axis=2, keepdims=True)).swapaxes(0, 1).reshape(n_directions, -1)
    varying = (length_m - length_m.mean(axis=1, keepdims=True)).ravel()
    effect_m2, vectors = np.linalg.eigh(by_direction @ by_direction.T / size)
    felt = effect_m2 > FELT_M**2
    square_m2 = float(varying @ varying / size)
    if not (felt.any() and square_m2):
        return 1.0
    unfelt_m2 = float(effect_m2[~felt].sum())  # their mean: each times the square of a normal number
    effect_m2, z = effect_m2[felt], vectors[:, felt].T @ (by_direction @ varying / size) / effect_m2[felt]
    explained_m2, n = float(effect_m2 @ z**2), int(felt.sum())
    explains = float(z @ z) < n * chi_square_over_mean(n)
    rest_m2 = max(square_m2 - explained_m2 - unfelt_m2 - 2.0 * float(np.nan_to_num(noise_m)) ** 2, 0.0)
    return float(np.sqrt(rest_m2 / square_m2)) if explains else 1.0


def chi_square_over_mean(freedom: float, level: float = LEVEL) -> float:
    """Limit of a chi-square variable over its mean (Wilson and Hilferty 1931).

    Examples
    --------
    >>> round(5.0 * chi_square_over_mean(5.0), 1)  # tables: 11.07 at 95 %
    11.0
    """
    return (1.0 - 2.0 / (9.0 * freedom) + NormalDist().inv_cdf(level) * math.sqrt(2.0 / (9.0 * freedom))) ** 3


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
