"""Part of a movement removed by the filter: size, directions, time course.

Filtered again, a signal loses a part with the time course of the first loss, smeared by the filter's response. A
movement whose jerk jumps at unknown instants loses an acceleration ``J h(t - t_0)`` at each of them, with the response h known
from the gain; the energy of the jumps follows from that of the second loss by deconvolution (Richardson 1972, Journal of
the Optical Society of America 62, 55-59; Lucy 1974, Astronomical Journal 79, 745-754), and that of the first follows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import ComplexArray, FloatArray
from limbtorque.chain.linear import number_of_terms
from limbtorque.chain.model import pairs
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.smoothing import smoother_of
from limbtorque.signals.smoothers import Smoother, smoother_gain
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.analysed_limb import AnalysedLimb, Cutoffs
from limbtorque.uncertainty.bands import Direction, InputErrors

SLOPE = 8.0  # of a movement's power against frequency: without jumps of acceleration it falls at least as f^-8
SLOPES = np.arange(2.0, 8.1, 0.5)  # of a load, whose power has less noise than that of markers and tells its own
FREQUENCIES = 512
LOST_JOINTS = (Direction("filter", "loss of the joints"), Direction("filter", "rate of change of that of the joints"))
LOST_LOADS = (Direction("filter", "loss of the load"), Direction("filter", "rate of change of that of the load"))
STEPS = 20  # of the deconvolution
PERIODS = 0.5  # of the cut-off, over which the energy is averaged before the noise is taken off
WIDE = 2.0  # periods of the cut-off, over which the joints share the loss alike
LEAST_SHARE = 0.05  # of an energy that is not noise: below, the estimate is nothing but noise
RESPONSE = 4096  # frames


def filter_errors(analysed: AnalysedLimb) -> InputErrors:
    """Part of the movement and of the load removed by the filter.

    Parameters
    ----------
    analysed : AnalysedLimb
        The motion with its filter and the size of the error.

    Returns
    -------
    InputErrors
        Two directions of the joints, and two of the load where there is one: the difference between the filtered signal and the same filtered once more, and its rate of change over
        that of a wave at the cut-off; both times `loss_ratio`, of the load `ratio_of_signal`, over the root of 2.

    Notes
    -----
    ``(1 - K) K x`` of the filter K and the movement x has the course of the loss ``(1 - K) x`` but less of its high
    frequencies (Tukey's twicing). Signal and rate of change together are the envelope of the loss, whose sign and phase
    at a frame are not known. A small change of a recursive filter's cut-off changes the signal in the same directions.
    """
    motion, smoother, size = analysed.motion, analysed.smoother, analysed.sizes["filter"]
    if smoother is None or not size:
        return InputErrors.of_joints((), np.zeros((motion.joint_m.shape[1], 0, len(motion.time_s)), dtype=complex))
    cutoff_hz = max(motion.cutoff_hz)
    load = np.nan_to_num(np.column_stack([motion.load.force_n, motion.load.moment_about_origin_nm]))
    signal = np.hstack([motion.joint_m.reshape(len(load), -1), load])
    lost = signal - analysed.filtered(signal)
    ratio = np.full(signal.shape[1], loss_ratio(smoother, cutoff_hz, motion.rate_hz))
    if load.any():
        third = analysed.filtered(lost[:, -3:-1])
        ratio[-3:] = ratio_of_signal(lost[:, -3:-1], third, smoother, cutoff_hz, motion.rate_hz)
    share = np.ones_like(signal)
    share[:, -3:] = analysed.load_share[:, None]  # the load has lost no more, and still holds the rest
    lost *= size * share * (1.0 + share * (ratio - 1.0)) / np.sqrt(2.0)
    cutoffs = analysed.cutoffs
    turned = np.gradient(lost, 1.0 / motion.rate_hz, axis=0) / (2.0 * np.pi * cutoffs.over_time(cutoffs.hz)[:, None])
    both = np.stack([lost, turned]).transpose(2, 0, 1)  # [signal, direction, frame]
    joints = InputErrors.of_joints(LOST_JOINTS, both[:-3:2] + 1j * both[1:-3:2])
    loads = InputErrors(LOST_LOADS, 0.0 * joints.joint_m, both[-3:-1], np.stack([both[-1]] * len(motion.joints)))
    return InputErrors.together([joints, loads] if both[-3:].any() else [joints])


@functools.lru_cache(maxsize=256)
def loss_ratio(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> float:
    """Acceleration removed by a filter, relative to that removed by a second pass.

    Parameters
    ----------
    smoother : Smoother
        The filter.
    cutoff_hz, rate_hz : float
        Its cut-off, and frames per second.

    Returns
    -------
    float
        Ratio of the root mean squares of ``(1 - K) x`` and ``(1 - K) K x`` for a movement x whose power falls with
        frequency as f^-`SLOPE`.
    """
    first, again = _lost_powers(smoother, cutoff_hz, rate_hz)
    return float(np.sqrt(first[2] / again[2]))


def ratio_of_signal(
    second: FloatArray, third: FloatArray, smoother: Smoother, cutoff_hz: float, rate_hz: float
) -> float:
    """Loss by a filter relative to that by a second pass, of a noiseless signal.

    Parameters
    ----------
    second, third : ndarray of shape (n_frames, ...)
        What is removed from the filtered signal by filtering again, and from the signal that was filtered twice.
    smoother, cutoff_hz, rate_hz
        As in `loss_ratio`.

    Returns
    -------
    float
        Ratio of root mean squares for a signal whose power falls with frequency by the power law that has the ratio of these
        two, f^-2 to f^-8.
    """
    squares = np.square(third).sum()
    again, first = _ratios_of_slopes(smoother, cutoff_hz, rate_hz)
    found = np.sqrt(np.square(second).sum() / squares) if squares else again[-1]
    return float(np.interp(found, again[::-1], first[::-1]))  # both fall with the slope


@functools.lru_cache(maxsize=256)
def _ratios_of_slopes(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """Ratios of second to third loss, and of first to second, for each of `SLOPES`."""
    frequency_hz, gain = _spectrum(smoother, cutoff_hz, rate_hz)
    power = frequency_hz ** -SLOPES[:, None] * (1.0 - gain) ** 2
    first, second, third = ((power * gain**order).sum(axis=1) for order in (0, 2, 4))
    return np.sqrt(second / third), np.sqrt(first / second)


@functools.lru_cache(maxsize=256)
def loss_factors(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> FloatArray:
    """Factors from the second loss of a position to three first losses.

    Shape (3,), of position, velocity and acceleration, in 1, 1/s and 1/s^2, over the lost position of `filter_errors`, for
    the same movement as `loss_ratio`. Positions have the least noise.
    """
    first, again = _lost_powers(smoother, cutoff_hz, rate_hz)
    return np.asarray(np.sqrt(first / again[0]) / loss_ratio(smoother, cutoff_hz, rate_hz))


def _lost_powers(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """Powers of position, velocity and acceleration in the first and second loss."""
    frequency_hz, gain = _spectrum(smoother, cutoff_hz, rate_hz)
    orders = np.arange(3)[:, None]
    power = (2.0 * np.pi * frequency_hz) ** (2.0 * orders) * frequency_hz**-SLOPE * (1.0 - gain) ** 2
    return power.sum(axis=1), (power * gain**2).sum(axis=1)


def frequencies_hz(rate_hz: float) -> FloatArray:
    """Frequencies of means over the spectrum, up to half the rate."""
    return np.asarray((np.arange(FREQUENCIES) + 0.5) / FREQUENCIES * rate_hz / 2.0)


def _spectrum(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """Frequencies up to half the rate, and the filter's gain."""
    frequency_hz = frequencies_hz(rate_hz)
    return frequency_hz, smoother_gain(frequency_hz, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)


@dataclass(frozen=True)
class FilterLoss:
    """Time course of the filter's loss in a trial, common to all joints.

    Attributes
    ----------
    amplitude : ndarray of shape (n_frames,)
        Factor of the lost position in each frame.
    around : ndarray of shape (n_frames,)
        The same for a mean over `WIDE` periods of the cut-off: about 1 where the movement is alike for long, more where its
        jerk jumps, less between such instants and where there is only noise.
    """

    amplitude: FloatArray
    around: FloatArray


def loss_course(
    motion: ChainMotion, settings: Settings, lost_m: ComplexArray, noise: FloatArray | float, cutoffs: Cutoffs
) -> FilterLoss:
    """Time course of the filter's loss, from that of the loss by filtering again.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    settings : Settings
        The filter.
    lost_m : complex ndarray of shape (n_joints + 1, 2, n_frames)
        Joints in the directions of `filter_errors`, m.
    noise : float or ndarray of shape (n_frames,)
        Part of the noise in the energy of the lost accelerations, which is taken off.
    cutoffs : Cutoffs
        Cut-offs of the filter: around impacts the same loss of a position is one of a larger acceleration.

    Returns
    -------
    FilterLoss
        1 throughout without a filter.
    """
    smoother = smoother_of(settings)
    if smoother is None or lost_m.shape[-1] < 3:
        return FilterLoss(*np.ones((2, lost_m.shape[-1])))
    energy = factors_over_time(smoother, cutoffs, motion.rate_hz)[2] ** 2 * (np.abs(lost_m) ** 2).sum(axis=(0, 1))
    of_signal = np.nan_to_num(energy) - noise
    wide, expected = _wide_window(motion), np.zeros_like(of_signal)
    for cutoff_hz, weight in zip(cutoffs.hz, cutoffs.weight, strict=True):
        expected += weight * _first_loss(weight * of_signal, smoother, cutoff_hz, motion.rate_hz)
    mean = np.maximum(_smeared(of_signal, wide), LEAST_SHARE * _smeared(energy, wide))
    tiny = np.finfo(float).tiny
    return FilterLoss(*(np.sqrt(expected / np.maximum(each, tiny)) for each in (np.nan_to_num(energy), mean)))


def factors_over_time(smoother: Smoother, cutoffs: Cutoffs, rate_hz: float) -> FloatArray:
    """`loss_factors` of each frame, shape (3, n_frames)."""
    return cutoffs.over_time([loss_factors(smoother, hz, rate_hz) for hz in cutoffs.hz])


def _first_loss(energy: FloatArray, smoother: Smoother, cutoff_hz: float, rate_hz: float) -> FloatArray:
    """Energy of the loss at one cut-off, from that of its estimate."""
    first, second = _responses(smoother, cutoff_hz, rate_hz)
    window = hann_window(PERIODS * rate_hz / cutoff_hz)
    jumps = _deconvolved(np.maximum(_smeared(energy, window), 0.0), _smeared(second, window))
    return np.maximum(_smeared(jumps, first), 0.0)


def variance_of_loss(variance: FloatArray, in_loss: FloatArray, loss: FilterLoss, motion: ChainMotion) -> FloatArray:
    """Variance due to the filter's loss, without noise in its estimate.

    Parameters
    ----------
    variance : ndarray of shape (n_joints, n_terms, n_frames)
        Of the directions of `filter_errors`, N m squared.
    in_loss : ndarray of shape (n_joints, n_terms, n_frames)
        Of noise alone in the same directions, for an amplitude of 1.
    loss : FilterLoss
        Course of the loss.
    motion : ChainMotion
        The motion at which the derivatives are taken.

    Returns
    -------
    ndarray of shape (n_joints, n_terms, n_frames)
        What is left of it (`without_noise`), averaged over `WIDE` periods of the cut-off: the joints share the loss as they do
        around.
        Terms with a velocity keep that of the frame: at rest it is 0, whatever the limb does soon. NaN where it is not known.
    """
    square, window = np.broadcast_to(loss.amplitude**2, variance.shape), _wide_window(motion)
    of_one = np.divide(variance, square, out=np.zeros_like(variance), where=square > 0.0)
    known, lever = ~np.isnan(variance), _levers(motion, variance.shape[1])
    around = averaged(known * lever, window)
    share = np.divide(lever, around, out=np.zeros_like(variance), where=known & (around > 0.0))
    left = without_noise(averaged(np.nan_to_num(of_one), window), averaged(np.nan_to_num(known * in_loss), window))
    return np.asarray(np.where(known, left * share * loss.around**2, np.nan))


def without_noise(energy: FloatArray, noise: FloatArray) -> FloatArray:
    """Energy of a signal with added noise of known mean energy.

    Parameters
    ----------
    energy : ndarray
        Energy of both.
    noise : ndarray
        Mean energy of the noise.

    Returns
    -------
    ndarray
        ``(E - N)^2 / E``, 0 below N: the energy that Wiener's filter ``1 - N / E`` leaves.

    Notes
    -----
    By chance noise has more energy than on average, over `WIDE` periods with a standard deviation of 0.82 of it. Where there is
    nothing else the positive part of ``E - N`` is 0.30 N on average, this one 0.17 N; a signal far above the noise
    loses 2 N.

    Examples
    --------
    >>> without_noise(np.array([0.5, 2.0, 100.0]), np.ones(3)).tolist()
    [0.0, 0.5, 98.01]
    """
    left = np.maximum(energy - noise, 0.0)
    return np.asarray(np.divide(left**2, energy, out=np.zeros_like(energy), where=energy > 0.0))


def _levers(motion: ChainMotion, n_terms: int) -> FloatArray:
    """Squared velocities in the velocity terms of a frame.

    1 for other rows; shape (n_terms, n_frames).
    """
    square = np.nan_to_num(motion.kinematics.velocity_rad_s.T) ** 2
    n, lever = len(square), np.ones((n_terms, len(motion.time_s)))
    both = [square[j] + square[k] for j, k in pairs(n)]
    lever[1 + n : 1 + 2 * n + len(both)] = [*square, *both]
    if n_terms > number_of_terms(n):  # with the sums of the terms of each kind
        lever[-2:] = square.sum(axis=0), np.sum(both, axis=0)
    return lever


def averaged(values: FloatArray, window: FloatArray) -> FloatArray:
    """Means over time, the last axis, with the weights of a window."""
    from scipy.ndimage import convolve1d  # a slow import that studies without bands do not need

    return np.asarray(convolve1d(values, window, axis=-1, mode="constant"))


def _wide_window(motion: ChainMotion) -> FloatArray:
    """Weights of frames for a mean energy over `WIDE` periods."""
    return hann_window(WIDE * motion.rate_hz / max(motion.cutoff_hz))


def hann_window(n_frames: float) -> FloatArray:
    """Hann window of about a given width, an odd number of frames, with sum 1."""
    window = np.hanning(2 * round(n_frames / 2.0) + 3)[1:-1]
    return np.asarray(window / window.sum())


@functools.lru_cache(maxsize=256)
def _responses(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """Energies of the lost acceleration after a jump of jerk, and of its estimate.

    Mean squares of the response and of its rate of change over that of a wave at the cut-off: the instant of a jump is known
    to a fraction of a period only. The whole energy of the loss is larger by that.
    """
    frequency_hz = np.fft.rfftfreq(RESPONSE, 1.0 / rate_hz)
    omega = 2.0 * np.pi * np.maximum(frequency_hz, frequency_hz[1])
    below = np.clip(frequency_hz, frequency_hz[1], 0.999 * rate_hz / 2.0)
    gain = smoother_gain(below, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    lost, half = (1.0 - gain) / omega**2, round(1.5 * rate_hz / cutoff_hz)
    again = loss_factors(smoother, cutoff_hz, rate_hz)[2] * loss_ratio(smoother, cutoff_hz, rate_hz) * lost * gain
    energies = []
    for response in (lost, again / omega**2):
        wave, turned = (np.fft.irfft(part, RESPONSE) for part in (response, 1j * response * frequency_hz / cutoff_hz))
        energies.append(np.roll((wave**2 + turned**2) / 2.0, half)[: 2 * half + 1])
    return energies[0], energies[1]


def _deconvolved(energy: FloatArray, response: FloatArray) -> FloatArray:
    """Positive energies whose responses sum to given energies, by Richardson and Lucy."""
    if not energy.any():
        return energy
    total = response.sum()
    jumps = energy / total
    for _ in range(STEPS):
        expected = np.maximum(_smeared(jumps, response), np.finfo(float).tiny)
        jumps = np.maximum(jumps * _smeared(energy / expected, response) / total, 0.0)
    return np.asarray(jumps)


def _smeared(values: FloatArray, kernel: FloatArray) -> FloatArray:
    """Convolution with a symmetric kernel of odd length, as long as the values."""
    from scipy.signal import convolve  # a slow import that studies without bands do not need

    return np.asarray(convolve(values, kernel, mode="same"))
