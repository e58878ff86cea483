"""Marker noise propagated through filter, fit and derivatives.

White noise of variance s^2 leaves a filter of gain g with variance ``s^2 mean(g^2)``; position, velocity and acceleration
have ``s^2 mean(w^k g^2)`` with k = 0, 2 and 4, and position and acceleration the covariance ``-s^2 mean(w^2 g^2)``. A sum over
frames is a weighted sum of the noise before the filter: its weights are differentiated and filtered in place of the noise, and
their squares add up to the variance.

Near rest only the product of two velocity errors remains: the noise e of a velocity w adds ``2 w e + e^2`` to its
square, with mean ``v`` and variance ``4 w^2 v + 2 v^2`` (of a product of two velocities: Goodman 1960, Journal of the American
Statistical Association 55, 708-713). With the measured velocity in place of w the variance would be too large by ``4 v^2``, as
that velocity has the noise itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.chain.linear import (
    MotionChange,
    change_of_load_torque,
    change_of_terms,
    number_of_terms,
    shape_with_kinds,
    terms_of_constants,
    with_kinds,
)
from limbtorque.chain.model import Kinematics, pairs
from limbtorque.errors import LandmarkError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.signals.derivatives import differentiate, second_derivative_gain
from limbtorque.signals.smoothers import Smoother, second_gains, smoother_gain, smoother_reach
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.filter_loss import (
    FREQUENCIES,
    averaged,
    frequencies_hz,
    hann_window,
    loss_factors,
    loss_ratio,
)

FRAMES_AT_A_TIME = 1024
PERIODS = 1.0  # of the cut-off, over which a velocity near rest is averaged
CERTAIN = 25.0  # times its variance: a squared velocity that is known well enough by itself


@dataclass(frozen=True)
class NoiseGains:
    """Gains through which white noise of joint centres reaches the torques.

    Attributes
    ----------
    smoother : Smoother or None
        The filter; None without one.
    rate_hz : float
        Frames per second.
    cutoffs_hz : tuple of float
        Its cut-off, and the higher one around impacts.
    weight : ndarray of shape (n_cutoffs, n_frames)
        Weights of the cut-offs in each frame, which add up to 1.
    loss : float
        Factor of the estimate of the filter's loss (`filter_loss.filter_errors`).
    accuracy : {2, 4, 6, 8}
        Order of accuracy of the differences.
    factors : ndarray of shape (n_cutoffs, 3)
        Position, velocity and acceleration over the position in that estimate (`filter_loss.loss_factors`).
    """

    smoother: Smoother | None
    rate_hz: float
    cutoffs_hz: tuple[float, ...]
    weight: FloatArray
    loss: float
    accuracy: int
    factors: FloatArray

    @classmethod
    def of(cls, analysed: AnalysedLimb) -> NoiseGains:
        """Return the gains of a trial's filter."""
        rate_hz, accuracy = analysed.motion.rate_hz, analysed.settings.differentiation.accuracy
        smoother = analysed.smoother
        if smoother is None:
            weight = np.ones((1, len(analysed.motion.time_s)))
            return cls(None, rate_hz, (rate_hz / 2.0,), weight, 0.0, accuracy, np.ones((1, 3)))
        cutoffs = analysed.cutoffs
        loss = analysed.sizes["filter"] * loss_ratio(smoother, cutoffs.hz[0], rate_hz) / np.sqrt(2.0)
        factors = np.array([loss_factors(smoother, hz, rate_hz) for hz in cutoffs.hz])
        return cls(smoother, rate_hz, cutoffs.hz, cutoffs.weight, loss, accuracy, factors)

    def moments(self) -> FloatArray:
        """Moments of unit noise, shape (2, 4, n_frames).

        After the filter, and in the estimate of the loss, both directions together: variances of position, velocity and
        acceleration, and the covariance of the first and last.
        """
        frequency_hz = frequencies_hz(self.rate_hz)
        square = (2.0 * np.pi * frequency_hz) ** 2
        first, second = self.of_derivatives(frequency_hz)
        lost = self.loss * (1.0 - first) * np.hypot(1.0, frequency_hz / np.array(self.cutoffs_hz)[:, None]) * first
        # mean products of the gains of each two cut-offs, [moment, cut-off, cut-off]
        sizes = np.stack([np.ones_like(square), square, square**2, -square]) / FREQUENCIES
        products = (first, first), (first, first), (second, second), (first, second)
        behind = np.stack([(a * size) @ b.T for (a, b), size in zip(products, sizes, strict=True)])
        position, velocity, acceleration = self.factors.T
        scales = (position, position), (velocity, velocity), (acceleration, acceleration), (position, -acceleration)
        in_loss = np.stack([np.multiply.outer(a, b) for a, b in scales]) * (lost @ lost.T / FREQUENCIES)
        return np.asarray(np.einsum("ct,akcd,dt->akt", self.weight, np.stack([behind, in_loss]), self.weight))

    def powers(self, frequency_hz: FloatArray) -> FloatArray:
        """Gains of the signal, (n_cutoffs, n), also at 0 and at half the rate."""
        if self.smoother is None:
            return np.ones((1, len(frequency_hz)))
        below = np.minimum(frequency_hz, 0.999 * self.rate_hz / 2.0)
        return np.stack(
            [
                smoother_gain(below, rate_hz=self.rate_hz, cutoff_hz=cutoff_hz, smoother=self.smoother)
                for cutoff_hz in self.cutoffs_hz
            ]
        )

    def of_derivatives(self, frequency_hz: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gains of the signal and of its second derivative, each (n_cutoffs, n)."""
        if self.smoother is None:
            second = second_derivative_gain(frequency_hz / self.rate_hz, accuracy=self.accuracy)
            return np.ones((1, len(frequency_hz))), second[None]
        return second_gains(frequency_hz, rate_hz=self.rate_hz, cutoffs_hz=self.cutoffs_hz, smoother=self.smoother)

    def left_in_velocity(self, kernel: FloatArray) -> float:
        """Variance of velocity noise after a symmetric mean over frames."""
        frequency_hz = frequencies_hz(self.rate_hz)
        frames = np.arange(len(kernel)) - len(kernel) // 2
        power = (self.powers(frequency_hz)[0] * frequency_hz) ** 2
        passed = np.cos(2.0 * np.pi / self.rate_hz * np.multiply.outer(frequency_hz, frames)) @ kernel
        return float((power * passed**2).sum() / power.sum())

    def together_in_squares(self) -> float:
        """Number of frames over which squared velocities have the same noise."""
        frequency_hz = frequencies_hz(self.rate_hz)
        power = (self.powers(frequency_hz)[0] * frequency_hz) ** 2
        return float((power**2).mean() / power.mean() ** 2)

    @property
    def reach(self) -> int:
        """Number of frames to which the filter spreads noise of one frame."""
        if self.smoother is None:
            return self.accuracy
        return smoother_reach(self.cutoffs_hz[0], rate_hz=self.rate_hz, smoother=self.smoother)


@dataclass(frozen=True)
class MarkerNoise:
    """Noise of a trial's chain due to marker noise.

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
    def angle(self) -> FloatArray:
        """Independent parts of the noise of joint angles, before the filter, rad."""
        return np.diff(self.parts[2:], axis=0, prepend=0.0)

    @cached_property
    def velocity(self) -> FloatArray:
        """Covariance of velocity noise, (n_links, n_links, n_frames), rad^2/s^2."""
        return np.asarray(np.nan_to_num(np.einsum("apt,bpt->abt", self.angle, self.angle)) * self.moments[0, 1])


@dataclass(frozen=True)
class NoiseBands:
    """Variances of torque terms due to marker noise.

    Attributes
    ----------
    variance : ndarray of shape (n_joints, n_terms, n_frames)
        Rows as of `linear.with_kinds`, N m squared.
    in_loss : ndarray of shape (n_joints, n_terms, n_frames)
        Of the same noise in the estimate of the filter's loss (`filter_loss.filter_errors`), N m squared.
    sums : mapping of str to ndarray of shape (n_joints, n_terms)
        Of sums over frames.
    sums_in_loss : mapping of str to ndarray of shape (n_joints, n_terms)
        Of the same noise in the loss of these sums.
    """

    variance: FloatArray
    in_loss: FloatArray
    sums: Mapping[str, FloatArray]
    sums_in_loss: Mapping[str, FloatArray]


def marker_noise(analysed: AnalysedLimb) -> MarkerNoise | None:
    """Noise of the fitted chain; None if zero or switched off.

    Parameters
    ----------
    analysed : AnalysedLimb
        The motion, with the noise of its joint centres (``metrics["noise_m"]``); its markers, of which the mean of several
        has less noise; filter and factor of the noise.
    """
    size_m = joint_noise_m(analysed)
    if not size_m.any():
        return None
    n, n_frames = analysed.motion.chain.n_links, len(analysed.motion.time_s)
    joints = np.zeros((n + 1, 2 * (n + 1), n_frames), dtype=complex)
    for k in range(n + 1):
        joints[k, 2 * k], joints[k, 2 * k + 1] = size_m[k], 1j * size_m[k]
    fit = analysed.fit_change(joints, lengths=False)
    moved = np.concatenate([np.stack([fit.joint_m[0].real, fit.joint_m[0].imag]), fit.orientation_rad])
    joint_m2 = (np.abs(fit.joint_m) ** 2).sum(axis=(0, 1))
    return MarkerNoise(_independent(moved), joint_m2, NoiseGains.of(analysed))


def noise_bands(
    motion: ChainMotion,
    noise: MarkerNoise | None,
    *,
    weights: Mapping[str, FloatArray] | None = None,
) -> NoiseBands:
    """Variance of every torque term and its sums due to marker noise.

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
    shape = shape_with_kinds(n)
    variances = np.zeros((2, *shape, n_frames))
    if noise is None:
        nothing = {name: np.zeros(shape) for name in weights}
        return NoiseBands(variances[0], variances[1], nothing, nothing)
    alike, which = _kinds_of_sums(weights)
    sums = [NoiseSum.over(weight, noise.gains, shape, noise.parts.shape[1]) for weight in alike]
    for first in range(0, n_frames, FRAMES_AT_A_TIME):
        some = slice(first, min(first + FRAMES_AT_A_TIME, n_frames))
        rows = with_kinds(noise_rows(motion.part(some), noise.parts[..., some]))
        variances[..., some] = np.maximum(np.einsum("kijt,akt->aijt", _squares(rows), noise.moments[..., some]), 0.0)
        for each in sums:
            each.add(rows, some)
    of_sums = [each.variances() for each in sums]
    behind, in_loss = ({name: scale**2 * of_sums[k][place] for name, (k, scale) in which.items()} for place in (0, 1))
    return NoiseBands(variances[0], variances[1], behind, in_loss)


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
    products = (position, position), (velocity, velocity), (acceleration, acceleration), (position, 2.0 * acceleration)
    return np.stack([np.einsum("ijdt,ijdt->ijt", one, other) for one, other in products])


def joint_noise_m(analysed: AnalysedLimb) -> FloatArray:
    """Noise of each joint centre and of the endpoint before the filter.

    Parameters
    ----------
    analysed : AnalysedLimb
        The motion, with the mean noise of all joint centres; its markers and the factor of their noise.

    Returns
    -------
    ndarray of shape (n_joints + 1,)
        Standard deviation along each axis, m; 0 where it is not known or switched off. All markers have the same noise, and a mean of
        several has less.
    """
    mapping, off = analysed.limb.landmarks(analysed.settings), "marker_noise" in analysed.settings.uncertainty.off
    mean_m = 0.0 if off else analysed.sizes["marker_noise"] * np.nan_to_num(analysed.motion.metrics.get("noise_m", 0.0))
    shares = np.array([_noise_share(mapping, name) for name in analysed.landmarks])
    return np.asarray(mean_m * np.sqrt(shares / shares.mean()))


def _noise_share(mapping: LandmarkMap, landmark: str) -> float:
    """Noise variance of a landmark relative to a marker; 1 if it has no markers."""
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


def noise_rows(motion: ChainMotion, parts: FloatArray) -> FloatArray:
    """Change of every term with each part of the noise and its derivatives."""
    n, n_parts, n_frames = motion.chain.n_links, parts.shape[1], parts.shape[2]
    base, angle = parts[:2], np.diff(parts[2:], axis=0, prepend=0.0)
    spread = np.zeros((3, n + 2, 3 * n_parts, n_frames))  # [position, velocity, acceleration]
    for k in range(3):
        spread[k, :, k * n_parts : (k + 1) * n_parts] = np.concatenate([angle, base])
    change = MotionChange(spread[0, :n], spread[1, :n], spread[2, :n], spread[2, n:])
    constants = motion.chain.coupling[None], motion.chain.first_moment[None]
    rows = change_of_terms(*constants, motion.kinematics, change, gravity_m_s2=motion.gravity_m_s2)
    direction = unit_vectors(np.cumsum(motion.kinematics.angle_rad.T, axis=0))[:, None]
    steps = 1j * motion.chain.length_m[:, None, None] * direction * np.cumsum(spread[0, :n], axis=0)
    joints = np.cumsum(np.concatenate([(spread[0, n] + 1j * spread[0, n + 1])[None], steps[:-1]]), axis=0)
    still = np.zeros((2, *steps.shape[1:]))
    external = change_of_load_torque(
        motion.joint_m,
        motion.load.force_n,
        joint_change_m=joints,
        force_change_n=still,
        moment_change_nm=still[0],
    )
    rows[:, -1] += external
    rows[:, 0] += external
    return rows


@dataclass(frozen=True)
class NoiseSum:
    """Weights of the noise of every frame, before the filter, in a sum over frames.

    Attributes
    ----------
    weight : ndarray of shape (n_frames,)
        Weights of the frames in the sum.
    gains : NoiseGains
        Gains of the filter.
    first : int
        Frame of the first of `before`.
    before : ndarray of shape (n_joints, n_terms, n_parts, n_before)
        Weights of the filtered noise, which fill up as stretches of frames are added.
    """

    weight: FloatArray
    gains: NoiseGains
    first: int
    before: FloatArray

    @classmethod
    def over(cls, weight: FloatArray, gains: NoiseGains, rows: tuple[int, ...], n_parts: int) -> NoiseSum:
        """Return an empty sum over the frames with nonzero weight."""
        used = np.flatnonzero(weight)
        first, last = (used[0] - gains.accuracy, used[-1] + gains.accuracy) if used.size else (0, 0)
        return cls(weight, gains, int(first), np.zeros((*rows, n_parts, last - first + 1)))

    def add(self, rows: FloatArray, some: slice) -> None:
        """Add some frames; differences of noise become differences of its weights."""
        used = np.flatnonzero(self.weight[some])
        if not used.size:
            return
        inside = slice(int(used[0]), int(used[-1]) + 1)
        weight = self.weight[some][inside]
        weighted = np.where(weight != 0.0, weight * rows[..., inside], 0.0)
        position, velocity, acceleration = np.split(weighted, 3, axis=2)
        accuracy, n, start = self.gains.accuracy, len(weight), some.start + inside.start - self.first
        impulse = np.zeros(2 * accuracy + 1)
        impulse[accuracy] = 1.0
        once, twice = differentiate(impulse, rate_hz=self.gains.rate_hz, accuracy=accuracy)
        self.before[..., start : start + n] += position
        for k in range(-accuracy // 2, accuracy // 2 + 1):
            into = self.before[..., start + k : start + k + n]
            into += once[accuracy - k] * velocity + twice[accuracy - k] * acceleration

    def variances(self) -> tuple[FloatArray, FloatArray]:
        """Variance of the sum, and of the same noise in the estimate of the loss.

        The estimate is that of `filter_loss.filter_errors` with its phase, times the root of 2.
        """
        from scipy.fft import next_fast_len, rfft, rfftfreq  # a slow import that most studies do not need

        gains, n = self.gains, self.before.shape[-1]
        size = next_fast_len(n + 2 * gains.reach, real=True)
        frames = np.clip(self.first + np.arange(n), 0, gains.weight.shape[1] - 1)
        powers = gains.powers(rfftfreq(size, 1.0 / gains.rate_hz))
        parts = [rfft(self.before * weight[frames], size, axis=-1) for weight in gains.weight]
        both = np.full(size // 2 + 1, 2.0)
        both[0], both[-1] = 1.0, 2.0 - (size % 2 == 0)
        lost = np.sqrt(2.0) * gains.loss * (1.0 - powers) * powers
        first, second = (
            np.einsum("ijpf,f->ij", np.abs(sum(g * part for g, part in zip(each, parts, strict=True))) ** 2, both)
            / size
            for each in (powers, lost)
        )
        return first, second


@dataclass(frozen=True)
class ProductNoise:
    """Second-order part, in the velocities, of the noise in the terms.

    Attributes
    ----------
    bias_nm, variance_nm2 : ndarray of shape (n_joints, n_terms, n_frames)
        Its mean and variance, rows as of `linear.with_kinds`; the variance is independent of that of first order.
    """

    bias_nm: FloatArray
    variance_nm2: FloatArray


def product_noise(motion: ChainMotion, noise: MarkerNoise | None, others: FloatArray | None = None) -> ProductNoise:
    """Mean and variance of products of two velocity errors in every term.

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
    Of a quadratic form ``e' H e`` in normal errors of covariance C the mean is ``tr(H C)`` and the variance ``2 tr(H C H C)``.
    """
    n, n_frames = motion.chain.n_links, len(motion.time_s)
    bias, variance = np.zeros((2, n, number_of_terms(n), n_frames))
    by_noise = np.zeros((n, n, n_frames)) if noise is None else noise.velocity
    covariance = by_noise if others is None else by_noise + others
    form = np.zeros((n, n, n, n_frames))
    rows = unit_products(motion)
    for k, (p, q) in enumerate([*((k, k) for k in range(n)), *pairs(n)]):
        row, place = rows[:, k], 1 + n + k
        bias[:, place] = row * by_noise[p, q]
        variance[:, place] = row**2 * (covariance[p, p] * covariance[q, q] + covariance[p, q] ** 2)
        form[:, p, q] = form[:, q, p] = row if p == q else row / 2.0
    bias[:, 0], variance[:, 0] = _of_form(form, by_noise, covariance)
    bias, variance = with_kinds(bias), with_kinds(variance)  # an inertial term has no product of velocities
    own = np.eye(n)[:, :, None] * form
    for place, part in ((-2, own), (-1, form - own)):
        bias[:, place], variance[:, place] = _of_form(part, by_noise, covariance)
    return ProductNoise(bias, variance)


def _of_form(form: FloatArray, by_noise: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of a quadratic form of the velocities' errors for each joint."""
    turned = np.einsum("iabt,bct->iact", form, covariance)
    return np.einsum("iabt,bat->it", form, by_noise), 2.0 * np.einsum("iabt,ibat->it", turned, turned)


def without_velocity_noise(motion: ChainMotion, noise: MarkerNoise | None) -> ChainMotion:
    """Motion with the most likely velocities, for computing derivatives.

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
    variance = np.einsum("aat->at", noise.velocity)
    kernel = hann_window(motion.rate_hz * PERIODS / max(motion.cutoff_hz))
    velocity = motion.kinematics.velocity_rad_s.T
    known = ~np.isnan(velocity)
    weight = np.maximum(averaged(known.astype(float), kernel), np.finfo(float).tiny)
    mean = averaged(np.where(known, velocity, 0.0), kernel) / weight
    left = noise.gains.left_in_velocity(kernel) * variance
    rest = mean * np.sqrt(np.maximum(1.0 - left / np.maximum(mean**2, 1e-300), 0.0))
    rest = np.clip(rest, -np.abs(velocity), np.abs(velocity))  # before its onset a movement is in the mean alone
    near_rest = CERTAIN * variance / np.maximum(CERTAIN * variance + velocity**2, np.finfo(float).tiny)
    likely = velocity + near_rest * (rest - velocity)
    return replace(motion, kinematics=replace(motion.kinematics, velocity_rad_s=likely.T))


def unit_products(motion: ChainMotion) -> FloatArray:
    """Velocity terms for velocities of 1 rad/s, (n_joints, n_products, n_frames)."""
    chain, still = motion.chain, np.zeros_like(motion.kinematics.angle_rad)
    unit = Kinematics(motion.kinematics.angle_rad, still + 1.0, still)
    rows = terms_of_constants(chain.coupling[None], chain.first_moment[None], unit, gravity_m_s2=(0.0, 0.0))
    return rows[:, 1 + chain.n_links : -3, 0]
