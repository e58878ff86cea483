"""Course of the filter's loss over time.

Filtered once more, a signal loses something with the course of the first loss, but smeared by the filter's own response. A
movement whose jerk jumps at unknown instants loses an acceleration ``J h(t - t_0)`` at each of them, with the response h known
from the gain; the energy of the jumps is found from that of the second loss by deconvolution (Richardson 1972, Journal of
the Optical Society of America 62, 55-59; Lucy 1974, Astronomical Journal 79, 745-754), and that of the first follows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.inverse import ComplexArray
from limbtorque.chain.model import pairs
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.smoothing import smoother_of
from limbtorque.signals.smoothers import Smoother, smoother_gain
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.joint_errors import Cutoffs, loss_factors, loss_ratio
from limbtorque.uncertainty.marker_noise import MarkerNoise

STEPS = 20  # of the deconvolution
PERIODS = 0.5  # of the cut-off, over which the energy is averaged before the noise is taken off
WIDE = 2.0  # periods of the cut-off, over which the joints share the loss alike
LEAST_SHARE = 0.05  # of an energy that is not noise: below, the estimate is nothing but noise
RESPONSE = 4096  # frames


@dataclass(frozen=True)
class FilterLoss:
    """Course of the filter's loss of a trial; all joints have the same.

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
    motion: ChainMotion, settings: Settings, lost_m: ComplexArray, noise: MarkerNoise | None, cutoffs: Cutoffs
) -> FilterLoss:
    """Course of the filter's loss, from that of the estimate by filtering again.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    settings : Settings
        The filter.
    lost_m : complex ndarray of shape (n_joints + 1, 2, n_frames)
        Joints in the directions of `joint_errors.filter_errors`, m.
    noise : MarkerNoise or None
        Noise, whose part of the energy is taken off.
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
    by_noise = 0.0 if noise is None else np.nan_to_num(noise.joint_m2 * noise.moments[2, 2])
    own = np.nan_to_num(energy) - by_noise
    wide, expected = _window(motion, WIDE), np.zeros_like(own)
    for cutoff_hz, weight in zip(cutoffs.hz, cutoffs.weight, strict=True):
        expected += weight * _first_loss(weight * own, smoother, cutoff_hz, motion.rate_hz)
    mean, tiny = np.maximum(_same(own, wide), LEAST_SHARE * _same(energy, wide)), np.finfo(float).tiny
    return FilterLoss(*(np.sqrt(expected / np.maximum(each, tiny)) for each in (np.nan_to_num(energy), mean)))


def factors_over_time(smoother: Smoother, cutoffs: Cutoffs, rate_hz: float) -> FloatArray:
    """`joint_errors.loss_factors` of each frame, shape (3, n_frames)."""
    return cutoffs.over_time([loss_factors(smoother, hz, rate_hz) for hz in cutoffs.hz])


def _first_loss(energy: FloatArray, smoother: Smoother, cutoff_hz: float, rate_hz: float) -> FloatArray:
    """Energy of the loss by one cut-off, from that of its estimate."""
    first, second = _responses(smoother, cutoff_hz, rate_hz)
    window = _hann(PERIODS * rate_hz / cutoff_hz)
    jumps = _deconvolved(np.maximum(_same(energy, window), 0.0), _smeared(second, window))
    return np.maximum(_same(jumps, first), 0.0)


def variance_of_loss(variance: FloatArray, in_loss: FloatArray, loss: FilterLoss, motion: ChainMotion) -> FloatArray:
    """Variance by the filter's loss, without that of the noise in its estimate.

    Parameters
    ----------
    variance : ndarray of shape (n_joints, n_terms, n_frames)
        Of the directions of `joint_errors.filter_errors`, N m squared.
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
    square, window = np.broadcast_to(loss.amplitude**2, variance.shape), _window(motion, WIDE)
    of_one = np.divide(variance, square, out=np.zeros_like(variance), where=square > 0.0)
    known, lever = ~np.isnan(variance), _levers(motion, variance.shape[1])
    around = _averaged(known * lever, window)
    share = np.divide(lever, around, out=np.zeros_like(variance), where=known & (around > 0.0))
    own = (
        without_noise(_averaged(np.nan_to_num(of_one), window), _averaged(np.nan_to_num(known * in_loss), window))
        * share
    )
    return np.asarray(np.where(known, own * loss.around**2, np.nan))


def without_noise(energy: FloatArray, noise: FloatArray) -> FloatArray:
    """Energy of a signal that noise of known mean energy was added to.

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
    """Squared velocities that velocity terms take from the frame.

    1 of other rows; shape (n_terms, n_frames).
    """
    square = np.nan_to_num(motion.kinematics.velocity_rad_s.T) ** 2
    n, lever = len(square), np.ones((n_terms, len(motion.time_s)))
    both = [square[j] + square[k] for j, k in pairs(n)]
    lever[1 + n : 1 + 2 * n + len(both)] = np.stack([*square, *both])
    return lever


def _averaged(values: FloatArray, window: FloatArray) -> FloatArray:
    """Means over time, the last axis, with the weights of a window."""
    from scipy.ndimage import convolve1d  # a slow import that most studies do not need

    return np.asarray(convolve1d(values, window, axis=-1, mode="constant"))


def _window(motion: ChainMotion, periods: float) -> FloatArray:
    """Weights of the frames in the mean of an energy."""
    return _hann(periods * motion.rate_hz / max(motion.cutoff_hz))


def _hann(n_frames: float) -> FloatArray:
    """Hann window of about so many frames, an odd number, with sum 1."""
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
    found = []
    for each in (lost, again / omega**2):
        wave, turned = (np.fft.irfft(part, RESPONSE) for part in (each, 1j * each * frequency_hz / cutoff_hz))
        found.append(np.roll((wave**2 + turned**2) / 2.0, half)[: 2 * half + 1])
    return found[0], found[1]


def _deconvolved(energy: FloatArray, response: FloatArray) -> FloatArray:
    """Positive energies whose responses add up to these, by Richardson and Lucy."""
    if not energy.any():
        return energy
    total = response.sum()
    found = energy / total
    for _ in range(STEPS):
        expected = np.maximum(_same(found, response), np.finfo(float).tiny)
        found = np.maximum(found * _same(energy / expected, response) / total, 0.0)
    return np.asarray(found)


def _same(values: FloatArray, kernel: FloatArray) -> FloatArray:
    """Convolution with a symmetric kernel of odd length, as long as the values."""
    from scipy.signal import convolve

    half = len(kernel) // 2
    return np.asarray(convolve(values, kernel, mode="full")[half : half + len(values)])


def _smeared(response: FloatArray, window: FloatArray) -> FloatArray:
    """Response of an energy that is averaged."""
    from scipy.signal import convolve

    return np.asarray(convolve(response, window, mode="same"))
