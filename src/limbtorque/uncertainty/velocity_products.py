"""Second order of the terms with a product of two joint velocities.

Near rest the product of two errors is all there is: the noise e of a velocity w adds ``2 w e + e^2`` to its square, with mean
``v`` and variance ``4 w^2 v + 2 v^2`` (of a product of two velocities: Goodman 1960, Journal of the American Statistical
Association 55, 708-713). With the measured velocity in place of w the variance would be too large by ``4 v^2``, as that
velocity has the noise itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.model import Chain, Kinematics, pairs
from limbtorque.chain.regressor import number_of_terms, terms_of_constants
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.uncertainty.marker_noise import MarkerNoise

PERIODS = 1.0  # of the cut-off, over which a velocity near rest is averaged
CERTAIN = 25.0  # times its variance: a squared velocity that is known well enough by itself


@dataclass(frozen=True)
class ProductNoise:
    """Part of the noise in the terms that is of second order in the velocities.

    Attributes
    ----------
    bias_nm, variance_nm2 : ndarray of shape (n_joints, n_terms, n_frames)
        Its mean and variance, rows as of `regressor.term_rows`; the variance is independent of that of first order.
    rate_nm2_s2 : ndarray of shape (n_joints, n_terms, n_frames)
        Variance of its rate of change.
    """

    bias_nm: FloatArray
    variance_nm2: FloatArray
    rate_nm2_s2: FloatArray


def product_noise(motion: ChainMotion, noise: MarkerNoise | None, others: FloatArray | None = None) -> ProductNoise:
    """Mean and variance of the products of two errors of velocities in every term.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    noise : MarkerNoise or None
        Its noise.
    others : ndarray of shape (n_links, n_links, n_frames), optional
        Covariance of the velocities' errors by all other sources, rad^2/s^2. They add to the variance alone: their part of
        the mean depends on what is fixed, the true velocity or the measured one.

    Notes
    -----
    Of a quadratic form ``e' H e`` in normal errors of covariance C the mean is ``tr(H C)`` and the variance
    ``2 tr(H C H C)``; of its rate of change, with covariance D of that of the errors, ``4 tr(H C H D)``.
    """
    n, n_frames = motion.chain.n_links, len(motion.time_s)
    found = np.zeros((3, n, number_of_terms(n), n_frames))
    own, rate = np.zeros((2, n, n, n_frames)) if noise is None else noise.velocity
    covariance = own if others is None else own + others
    products = [(k, k) for k in range(n)] + list(pairs(n))
    rows = _unit_products(motion.chain, motion.kinematics)
    form = np.zeros((n, n, n, n_frames))
    for k, (p, q) in enumerate(products):
        row, place = rows[:, k], 1 + n + k
        shared = covariance[p, p] * covariance[q, q] + covariance[p, q] ** 2
        faster = covariance[p, p] * rate[q, q] + covariance[q, q] * rate[p, p] + 2.0 * covariance[p, q] * rate[p, q]
        found[0, :, place] = row * own[p, q]
        found[1, :, place] = row**2 * shared
        found[2, :, place] = row**2 * faster
        form[:, p, q] = form[:, q, p] = row if p == q else row / 2.0
    turned, changing = (np.einsum("iabt,bct->iact", form, each) for each in (covariance, rate))
    found[0, :, 0] = np.einsum("iabt,bat->it", form, own)
    found[1, :, 0] = 2.0 * np.einsum("iabt,ibat->it", turned, turned)
    found[2, :, 0] = 4.0 * np.einsum("iabt,ibat->it", turned, changing)
    return ProductNoise(*found)


def without_velocity_noise(motion: ChainMotion, noise: MarkerNoise | None) -> ChainMotion:
    """Motion with the most likely velocities, at which derivatives are taken.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    noise : MarkerNoise or None
        Its noise.

    Returns
    -------
    ChainMotion
        The same motion where a velocity is far above its noise. Near rest its mean over `PERIODS` of the cut-off, less what
        noise alone would make of that, where it is smaller.
    """
    if noise is None or not motion.cutoff_hz:
        return motion
    from scipy.ndimage import convolve1d  # a slow import that most studies do not need

    own = np.einsum("aat->ta", noise.velocity[0])
    kernel = _window(motion.rate_hz * PERIODS / max(motion.cutoff_hz))
    velocity = motion.kinematics.velocity_rad_s
    known = ~np.isnan(velocity)
    weight = np.maximum(convolve1d(known.astype(float), kernel, axis=0, mode="constant"), np.finfo(float).tiny)
    mean = convolve1d(np.where(known, velocity, 0.0), kernel, axis=0, mode="constant") / weight
    rest = mean * np.sqrt(
        np.maximum(1.0 - noise.gains.left_in_velocity(kernel) * own / np.maximum(mean**2, 1e-300), 0.0)
    )
    rest = np.clip(rest, -np.abs(velocity), np.abs(velocity))  # before its onset a movement is in the mean alone
    near_rest = CERTAIN * own / np.maximum(CERTAIN * own + velocity**2, np.finfo(float).tiny)
    likely = velocity + near_rest * (rest - velocity)
    return replace(motion, kinematics=replace(motion.kinematics, velocity_rad_s=likely))


def _window(n_frames: float) -> FloatArray:
    """Hann window of about so many frames, an odd number, with sum 1."""
    window = np.hanning(2 * round(n_frames / 2.0) + 3)[1:-1]
    return np.asarray(window / window.sum())


def _unit_products(chain: Chain, kinematics: Kinematics) -> FloatArray:
    """Velocity terms for velocities of 1 rad/s, (n_joints, n_products, n_frames)."""
    n, still = chain.n_links, np.zeros_like(kinematics.angle_rad)
    unit = Kinematics(kinematics.angle_rad, still + 1.0, still)
    rows = terms_of_constants(chain.coupling[None], chain.first_moment[None], unit, gravity_m_s2=(0.0, 0.0))
    return rows[:, 1 + n : -3, 0]
