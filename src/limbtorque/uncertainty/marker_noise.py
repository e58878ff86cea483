"""Noise of the markers, through filter, fit and derivatives.

White noise of variance s^2 leaves a filter of gain g with variance ``s^2 mean(g^2)``; position, velocity and acceleration
have ``s^2 mean(w^k g^2)`` with k = 0, 2 and 4, and position and acceleration the covariance ``-s^2 mean(w^2 g^2)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.chain.regressor import number_of_terms
from limbtorque.chain.sensitivity import MotionChange, change_of_load_torque, change_of_terms
from limbtorque.errors import LandmarkError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.motion.limb import Limb
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.directions import InputErrors
from limbtorque.uncertainty.fitted import fit_change
from limbtorque.uncertainty.landmark_errors import centre_landmarks
from limbtorque.uncertainty.noise_gains import NoiseGains
from limbtorque.uncertainty.noise_sums import NoiseSum

FRAMES_AT_A_TIME = 1024


@dataclass(frozen=True)
class MarkerNoise:
    """Noise of a trial's chain by that of its markers.

    Attributes
    ----------
    parts : ndarray of shape (n_links + 2, n_links + 2, n_frames)
        Independent parts, second axis, of the noise of the base, x and y, m, and of the links' orientations, rad, before the
        filter. The noise moves the fitted chain in every frame by itself; its lengths average over all.
    joint_m2 : ndarray of shape (n_frames,)
        Sum of the variances of all coordinates of the fitted joints, before the filter, m squared.
    gains : NoiseGains
        The filter.
    """

    parts: FloatArray
    joint_m2: FloatArray
    gains: NoiseGains

    @cached_property
    def moments(self) -> FloatArray:
        """`NoiseGains.moments` of the trial."""
        return self.gains.moments()

    @cached_property
    def velocity(self) -> tuple[FloatArray, FloatArray]:
        """Covariances of the noise of joint velocities, and of its rate of change.

        Shape (n_links, n_links, n_frames), rad^2/s^2 and rad^2/s^4.
        """
        angle = np.diff(self.parts[2:], axis=0, prepend=0.0)
        covariance = np.nan_to_num(np.einsum("apt,bpt->abt", angle, angle))
        return covariance * self.moments[0, 1], covariance * self.moments[1, 1]


@dataclass(frozen=True)
class NoiseBands:
    """Variances of torque terms by the markers' noise.

    Attributes
    ----------
    variance : ndarray of shape (n_joints, n_terms, n_frames)
        Rows as of `regressor.term_rows`, N m squared.
    rate : ndarray of shape (n_joints, n_terms, n_frames)
        Of the rate of change, (N m / s)^2.
    in_loss : ndarray of shape (n_joints, n_terms, n_frames)
        Of the same noise in the estimate of the filter's loss (`joint_errors.filter_errors`), N m squared.
    sums : mapping of str to ndarray of shape (n_joints, n_terms)
        Of sums over frames.
    sums_in_loss : mapping of str to ndarray of shape (n_joints, n_terms)
        Of the same noise in the loss of these sums.
    """

    variance: FloatArray
    rate: FloatArray
    in_loss: FloatArray
    sums: Mapping[str, FloatArray]
    sums_in_loss: Mapping[str, FloatArray]


def marker_noise(motion: ChainMotion, limb: Limb, settings: Settings) -> MarkerNoise | None:
    """Noise of the fitted chain; None where there is none, or it is switched off.

    Parameters
    ----------
    motion : ChainMotion
        The motion, with the noise of its joint centres (``metrics["noise_m"]``).
    limb : Limb
        Its markers: the mean of several has less noise.
    settings : Settings
        Filter and factor of the noise.
    """
    size_m = settings.uncertainty.sizes["marker_noise"] * joint_noise_m(motion, limb, settings)
    if not size_m.any() or "marker_noise" in settings.uncertainty.off:
        return None
    n, n_frames = motion.chain.n_links, len(motion.time_s)
    joints = np.zeros((n + 1, 2 * (n + 1), n_frames), dtype=complex)
    for k in range(n + 1):
        joints[k, 2 * k], joints[k, 2 * k + 1] = size_m[k], 1j * size_m[k]
    fit = fit_change(motion, settings, InputErrors.of_joints((), joints), lengths=False)
    moved = np.concatenate([np.stack([fit.joint_m[0].real, fit.joint_m[0].imag]), fit.orientation_rad])
    joint_m2 = (np.abs(fit.joint_m) ** 2).sum(axis=(0, 1))
    return MarkerNoise(_independent(moved), joint_m2, NoiseGains.of(motion, limb, settings))


def noise_bands(
    motion: ChainMotion, noise: MarkerNoise | None, *, weights: Mapping[str, FloatArray] | None = None
) -> NoiseBands:
    """Variance of every torque term and of its sums by the markers' noise.

    Parameters
    ----------
    motion : ChainMotion
        The motion at which the derivatives are taken.
    noise : MarkerNoise or None
        From `marker_noise`.
    weights : mapping of str to ndarray of shape (n_frames,), optional
        As in `propagation.torque_bands`. Sums over the same frames have noise in proportion to the sums of their weights.

    Notes
    -----
    Angle, velocity and acceleration of each independent part of the noise are three directions.
    """
    n, n_frames, weights = motion.chain.n_links, len(motion.time_s), weights or {}
    shape = (n, number_of_terms(n))
    found = np.zeros((3, *shape, n_frames))
    if noise is None:
        nothing = {name: np.zeros(shape) for name in weights}
        return NoiseBands(found[0], found[1], found[2], nothing, nothing)
    kinds, which = _kinds_of_sums(weights)
    several = [NoiseSum.over(weight, noise.gains, shape, noise.parts.shape[1]) for weight in kinds]
    for first in range(0, n_frames, FRAMES_AT_A_TIME):
        some = slice(first, min(first + FRAMES_AT_A_TIME, n_frames))
        rows = _rows(motion.part(some), noise.parts[..., some])
        moments = noise.moments[..., some]
        found[..., some] = np.maximum(np.einsum("kijt,akt->aijt", _squares(rows), moments), 0.0)
        for each in several:
            each.add(rows, some)
    variances = [each.variances() for each in several]
    sums, in_loss = ({name: scale**2 * variances[k][place] for name, (k, scale) in which.items()} for place in (0, 1))
    return NoiseBands(found[0], found[1], found[2], sums, in_loss)


def _kinds_of_sums(
    weights: Mapping[str, FloatArray],
) -> tuple[list[FloatArray], dict[str, tuple[int, float]]]:
    """Weights over different frames, and place and factor of each name among them."""
    places: dict[bytes, int] = {}
    kinds: list[FloatArray] = []
    which = {}
    for name, weight in weights.items():
        place = places.setdefault((weight != 0.0).tobytes(), len(kinds))
        if place == len(kinds):
            kinds.append(weight)
        total = kinds[place].sum()
        which[name] = place, float(weight.sum() / total) if total else 1.0
    return kinds, which


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
