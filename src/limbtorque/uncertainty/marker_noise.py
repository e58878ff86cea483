"""Noise of the markers, through filter, fit and derivatives.

White noise of variance s^2 leaves a filter of gain g with variance ``s^2 mean(g^2)``; position, velocity and acceleration
have ``s^2 mean(w^k g^2)`` with k = 0, 2 and 4, and position and acceleration the covariance ``-s^2 mean(w^2 g^2)``.
"""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.chain.regressor import number_of_terms
from limbtorque.chain.sensitivity import MotionChange, change_of_load_torque, change_of_terms
from limbtorque.errors import LandmarkError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.motion.limb import Limb
from limbtorque.motion.smoothing import smoother_of
from limbtorque.signals.derivatives import second_derivative_gain
from limbtorque.signals.impacts import HIGHEST, impact_weight
from limbtorque.signals.smoothers import second_gains
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.directions import InputErrors
from limbtorque.uncertainty.fitted import fit_change
from limbtorque.uncertainty.joint_errors import impact_factor, loaded_s, loss_ratio
from limbtorque.uncertainty.landmark_errors import centre_landmarks

FREQUENCIES = 512
FRAMES_AT_A_TIME = 1024


def noise_variance(motion: ChainMotion, limb: Limb, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Variance of every torque term by the markers' noise.

    Parameters
    ----------
    motion : ChainMotion
        The motion, with the noise of its joint centres (``metrics["noise_m"]``).
    limb : Limb
        Its markers: the mean of several has less noise.
    settings : Settings
        Filter and factor of the noise.

    Returns
    -------
    variance, in_filter : ndarray of shape (n_joints, n_terms, n_frames)
        Rows as of `regressor.term_rows`, N m squared: the variance, and that of the same noise in the estimate of the filter's
        loss (`joint_errors.filter_errors`), by which this is too large.

    Notes
    -----
    The noise moves orientations and base of the fitted chain in every frame by themselves; its lengths average over all.
    Angle, velocity and acceleration of each independent part of that movement are three directions.
    """
    n, n_frames = motion.chain.n_links, len(motion.time_s)
    size_m = settings.uncertainty.marker_noise * joint_noise_m(motion, limb, settings)
    if not size_m.any():
        still = np.zeros((n, number_of_terms(n), n_frames))
        return still, still
    joints = np.zeros((n + 1, 2 * (n + 1), n_frames), dtype=complex)
    for k in range(n + 1):
        joints[k, 2 * k], joints[k, 2 * k + 1] = size_m[k], 1j * size_m[k]
    fit = fit_change(motion, settings, InputErrors.of_joints((), joints), lengths=False)
    moved = np.concatenate([np.stack([fit.joint_m[0].real, fit.joint_m[0].imag]), fit.orientation_rad])
    parts, moments = _independent(moved), _moments(motion, limb, settings)
    found = np.empty((2, n, number_of_terms(n), n_frames))
    for first in range(0, n_frames, FRAMES_AT_A_TIME):
        some = slice(first, min(first + FRAMES_AT_A_TIME, n_frames))
        squares = _squares(_rows(motion.part(some), parts[..., some]))
        for into, each in zip(found, moments, strict=True):
            np.maximum(np.einsum("kijt,kt->ijt", squares, each[:, some]), 0.0, out=into[..., some])
    return found[0], found[1]


def _squares(rows: FloatArray) -> FloatArray:
    """Sums over the parts of the noise for each moment, (4, n_joints, n_terms, n)."""
    position, velocity, acceleration = np.split(rows, 3, axis=2)
    pairs = (position, position), (velocity, velocity), (acceleration, acceleration), (position, 2.0 * acceleration)
    return np.stack([np.einsum("ijdt,ijdt->ijt", one, other) for one, other in pairs])


def joint_noise_m(motion: ChainMotion, limb: Limb, settings: Settings) -> FloatArray:
    """Noise of each joint centre and of the endpoint before the filter.

    Parameters
    ----------
    motion : ChainMotion
        The motion, with the mean noise of all joint centres.
    limb, settings
        Its markers.

    Returns
    -------
    ndarray of shape (n_joints + 1,)
        Standard deviation along each axis, m; 0 where it is not known. All markers have the same noise, and a mean of
        several has less.
    """
    mapping, found = limb.landmarks(settings), motion.metrics.get("noise_m", 0.0)
    landmarks = centre_landmarks(limb.model(settings))
    shares = np.array([_noise_share(mapping, name) for name in landmarks])
    return np.asarray(np.nan_to_num(found) * np.sqrt(shares / shares.mean()))


def _noise_share(mapping: LandmarkMap, landmark: str) -> float:
    """Variance of a landmark's noise over a marker's; 1 for one without markers."""
    try:
        return sum(weight**2 for weight in mapping.weights(landmark).values())
    except LandmarkError:
        return 1.0


def _independent(moved: FloatArray) -> FloatArray:
    """Independent parts with the same covariance, (k, any, n) to (k, k, n)."""
    covariance = np.einsum("adt,bdt->tab", moved, moved)
    unknown = np.isnan(covariance).any(axis=(1, 2))
    covariance[unknown] = 0.0
    size = np.trace(covariance, axis1=1, axis2=2)
    covariance += (1e-14 * size + np.finfo(float).tiny)[:, None, None] * np.eye(len(moved))
    parts = np.moveaxis(np.linalg.cholesky(covariance), 0, -1)
    parts[..., unknown] = np.nan
    return parts


def _rows(motion: ChainMotion, parts: FloatArray) -> FloatArray:
    """Change of every term with each part of the noise and its derivatives."""
    n, n_parts, n_frames = motion.chain.n_links, parts.shape[1], parts.shape[2]
    base, angle = parts[:2], np.diff(parts[2:], axis=0, prepend=0.0)
    spread = np.zeros((3, n + 2, 3 * n_parts, n_frames))  # [position, velocity, acceleration]
    for k in range(3):
        spread[k, :, k * n_parts : (k + 1) * n_parts] = np.concatenate([angle, base])
    change = MotionChange(spread[0, :n], spread[1, :n], spread[2, :n], spread[2, n:])
    rows = change_of_terms(motion.chain, motion.kinematics, change, gravity_m_s2=motion.gravity_m_s2)
    direction = unit_vectors(np.cumsum(motion.kinematics.angle_rad.T, axis=0))[:, None]
    steps = 1j * motion.chain.length_m[:, None, None] * direction * np.cumsum(spread[0, :n], axis=0)
    joints = np.cumsum(np.concatenate([(spread[0, n] + 1j * spread[0, n + 1])[None], steps[:-1]]), axis=0)
    still = np.zeros((2, 3 * n_parts, n_frames))
    external = change_of_load_torque(
        motion.joint_m,
        motion.load.force_n,
        joint_change_m=np.stack([joints.real, joints.imag]),
        force_change_n=still,
        moment_change_nm=still[0],
    )
    rows[:, -1] += external
    rows[:, 0] += external
    return rows


def _moments(motion: ChainMotion, limb: Limb, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Moments of white noise behind the filter and in its loss, (4, n_frames).

    Variances of position, velocity and acceleration, and covariance of the first and last.
    """
    rate_hz, accuracy, smoother = motion.rate_hz, settings.differentiation.accuracy, smoother_of(settings)
    frequency_hz = (np.arange(FREQUENCIES) + 0.5) / FREQUENCIES * rate_hz / 2.0
    n_frames = len(motion.time_s)
    if smoother is None or not motion.cutoff_hz:
        seconds = second_derivative_gain(frequency_hz / rate_hz, accuracy=accuracy)[None]
        found = _products(frequency_hz, np.ones((1, FREQUENCIES)), seconds)
        return np.tile(found[:, 0], n_frames), np.zeros((4, n_frames))
    cutoff_hz, factor = max(motion.cutoff_hz), impact_factor(settings)
    cutoffs_hz = [cutoff_hz, min(factor * cutoff_hz, HIGHEST * rate_hz)]
    gains, seconds = second_gains(frequency_hz, rate_hz=rate_hz, cutoffs_hz=cutoffs_hz, smoother=smoother)
    impacts_s = loaded_s(motion, limb, settings) if factor > 1.0 and cutoffs_hz[1] > cutoff_hz else []
    high = impact_weight(n_frames, rate_hz, np.array(impacts_s)) if impacts_s else np.zeros(n_frames)
    weight = np.stack([1.0 - high, high])
    size = settings.uncertainty.filter * loss_ratio(smoother, cutoff_hz, rate_hz) / np.sqrt(2.0)
    lost = size * (1.0 - gains) * np.hypot(1.0, frequency_hz / cutoff_hz)  # of both directions together
    own, in_filter = _products(frequency_hz, gains, seconds), _products(frequency_hz, lost * gains, lost * seconds)
    return tuple(np.einsum("ct,kcd,dt->kt", weight, each, weight) for each in (own, in_filter))


def _products(frequency_hz: FloatArray, gains: FloatArray, seconds: FloatArray) -> FloatArray:
    """Mean products of the gains of each two cut-offs, shape (4, n, n)."""
    square = (2.0 * np.pi * frequency_hz) ** 2
    pairs = (gains, gains, 1.0), (gains, gains, square), (seconds, seconds, square**2), (gains, seconds, -square)
    return np.stack([(a * size) @ b.T / FREQUENCIES for a, b, size in pairs])
