"""Errors of joint centres: placement, soft tissue, plane and filter."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, runs
from limbtorque.chain.inverse import ComplexArray
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.ground.reaction import meets_ground
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.motion.smoothing import smoother_of
from limbtorque.signals.smoothers import (
    HIGHEST,
    Smoother,
    impact_weight,
    smooth_values,
    smooth_with_impacts,
    smoother_gain,
)
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.directions import Direction, InputErrors
from limbtorque.uncertainty.load_errors import moment_about_origin

SLOPE = 8.0  # of a movement's power against frequency: without jumps of acceleration it falls at least as f^-8
SLOPES = np.arange(2.0, 8.1, 0.5)  # of a load, whose power has less noise than that of markers and tells its own
FREQUENCIES = 512
LOST_JOINTS = (Direction("filter", "loss of the joints"), Direction("filter", "rate of change of that of the joints"))
LOST_LOADS = (Direction("filter", "loss of the load"), Direction("filter", "rate of change of that of the load"))
AXES = ("along", "across")  # of the segment before the joint; of the plane for the first one


@dataclass(frozen=True)
class Cutoffs:
    """Cut-offs of a trial's filter over time.

    Attributes
    ----------
    hz : tuple of float
        Its cut-off, and the higher one around impacts.
    weight : ndarray of shape (n_cutoffs, n_frames)
        Weights of the cut-offs in each frame, which add up to 1.
    """

    hz: tuple[float, ...]
    weight: FloatArray

    @classmethod
    def of(cls, motion: ChainMotion, limb: Limb, settings: Settings) -> Cutoffs:
        """Cut-offs of a trial that was filtered."""
        cutoff_hz, factor, n_frames = max(motion.cutoff_hz), impact_factor(settings), len(motion.time_s)
        high_hz = min(factor * cutoff_hz, HIGHEST * motion.rate_hz)
        impacts_s = loaded_s(motion, limb, settings) if factor > 1.0 and high_hz > cutoff_hz else []
        if not impacts_s:
            return cls((cutoff_hz,), np.ones((1, n_frames)))
        high = np.clip(impact_weight(n_frames, motion.rate_hz, np.array(impacts_s)), 0.0, 1.0)  # rounding
        return cls((cutoff_hz, high_hz), np.stack([1.0 - high, high]))

    def over_time(self, values: ArrayLike) -> FloatArray:
        """Values for each cut-off, (n_cutoffs, ...), in each frame, (..., n_frames)."""
        return np.asarray(np.einsum("c...,ct->...t", np.asarray(values, dtype=float), self.weight))


def centre_errors(motion: ChainMotion, sizes_m: Sequence[float], landmarks: Sequence[str], side: str) -> InputErrors:
    """Errors of placed joint centres, which move with the segment before them.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    sizes_m : sequence of float
        Standard deviation of each joint centre and of the endpoint along each axis, m.
    landmarks : sequence of str
        Their landmarks.
    side : str
        Side of the body.

    Returns
    -------
    InputErrors
        Two directions for each joint centre: along the segment proximal of it, and across. The first joint's error keeps its
        direction in the plane, as the chain does not know how the trunk turns.
    """
    n_frames = len(motion.time_s)
    error = np.zeros((len(sizes_m), 2 * len(sizes_m), n_frames), dtype=complex)
    for k, (size_m, frame) in enumerate(zip(sizes_m, _frames(motion), strict=True)):
        error[k, 2 * k], error[k, 2 * k + 1] = size_m * frame, 1j * size_m * frame
    directions = [Direction("joint_centres", f"{side} {name} {axis}") for name in landmarks for axis in AXES]
    return _with_size(directions, error, np.repeat(sizes_m, 2))


def soft_tissue_errors(motion: ChainMotion, settings: Settings, landmarks: Sequence[str], side: str) -> InputErrors:
    """Movement of the joint centres with the skin, a random function of joint angle.

    Parameters
    ----------
    motion, landmarks, side
        As in `centre_errors`.
    settings : Settings
        Amplitude and range.

    Returns
    -------
    InputErrors
        Four directions for each joint centre, with the axes of `centre_errors`: amplitude s times ``cos(a/l)`` and
        ``sin(a/l)`` of the joint's angle a, the last joint's for the endpoint. Together a stationary random function of the
        angle with variance s^2 and covariance ``s^2 cos(d/l)``, so that it changes by s over the range ``l pi / 3``.
    """
    sizes = settings.uncertainty.sizes
    scale_rad = np.radians(sizes["soft_tissue_range_deg"]) / (np.pi / 3.0)
    flexion = motion.flexion.of(motion.kinematics.angle_rad).T
    n_joints, n_frames = flexion.shape
    error = np.zeros((n_joints + 1, 4 * (n_joints + 1), n_frames), dtype=complex)
    for k, frame in enumerate(_frames(motion)):
        phase = flexion[min(k, n_joints - 1)] / scale_rad
        for number, wave in enumerate((np.cos(phase), np.sin(phase))):
            moved = sizes["soft_tissue_m"] * wave * frame
            error[k, 4 * k + number], error[k, 4 * k + 2 + number] = moved, 1j * moved
    directions = [
        Direction("soft_tissue", f"{side} {name} {axis} {wave}")
        for name in landmarks
        for axis in AXES
        for wave in ("even", "odd")
    ]
    return _with_size(directions, error, np.full(len(directions), sizes["soft_tissue_m"]))


def gap_errors(motion: ChainMotion, limb: Limb, settings: Settings, landmarks: Sequence[str], side: str) -> InputErrors:
    """Errors of joint centres in frames with a filled marker.

    Parameters
    ----------
    motion, landmarks, side
        As in `centre_errors`; the motion has the largest expected error of a filled gap (``metrics["gap_error_m"]``).
    limb : Limb
        The limb.
    settings : Settings
        Size of the error, and the filter.

    Returns
    -------
    InputErrors
        Two directions for each joint centre, as of `centre_errors`: half a wave over each run of such frames, filtered as the
        joint centres were. Which marker was filled is not known here: all joint centres are taken to be wrong.
    """
    size_m = settings.uncertainty.sizes["gaps"] * float(np.nan_to_num(motion.metrics.get("gap_error_m", 0.0)))
    names = [Direction("gaps", f"{side} {name} {axis}") for name in landmarks for axis in AXES]
    error = np.zeros((len(landmarks), len(names), len(motion.time_s)), dtype=complex)
    if not (size_m and motion.filled.any()):
        return InputErrors.of_joints((), error[:, :0])
    wave = np.zeros(len(motion.time_s))
    for start, stop in runs(motion.filled):
        wave[start:stop] = np.sin(np.pi * np.arange(1, stop - start + 1) / (stop - start + 1))
    wave = size_m * filtered_again(motion, limb, settings, wave[:, None])[:, 0]
    for k, frame in enumerate(_frames(motion)):
        error[k, 2 * k], error[k, 2 * k + 1] = wave * frame, 1j * wave * frame
    return InputErrors.of_joints(names, error)


def plane_errors(motion: ChainMotion, limb: Limb, settings: Settings) -> InputErrors:
    """Error of the plane's direction: a turn about its y axis.

    Parameters
    ----------
    motion : ChainMotion
        The motion, with lengths and inclinations of the segments.
    limb : Limb
        The limb.
    settings : Settings
        Size of the error, and the filter.

    Returns
    -------
    InputErrors
        One direction: the turn moves each joint along x by its distance from the first one along the plane's normal. The
        part of the load along the normal is not known here, and left out.
    """
    out_m = np.cumsum(motion.segment_length_m * np.sin(motion.segment_tilt_rad), axis=1)
    out_m = np.hstack([np.zeros((len(out_m), 1)), out_m])
    turn = np.radians(settings.uncertainty.sizes["plane_deg"])
    moved = turn * filtered_again(motion, limb, settings, out_m).T[:, None] + 0j
    return _with_size([Direction("plane")], moved, np.array([turn]))


def filter_errors(motion: ChainMotion, limb: Limb, settings: Settings) -> InputErrors:
    """Part of the movement and of the load that the filter has removed.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    limb : Limb
        The limb.
    settings : Settings
        Filter, and size of the error.

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
    smoother = smoother_of(settings)
    if not motion.cutoff_hz or smoother is None or not settings.uncertainty.sizes["filter"]:
        return InputErrors.of_joints((), np.zeros((motion.joint_m.shape[1], 0, len(motion.time_s)), dtype=complex))
    cutoff_hz = max(motion.cutoff_hz)
    load = np.nan_to_num(np.column_stack([motion.load.force_n, moment_about_origin(motion.load)]))
    signal = np.hstack([motion.joint_m.reshape(len(load), -1), load])
    lost = signal - filtered_again(motion, limb, settings, signal)
    ratio = np.full(signal.shape[1], loss_ratio(smoother, cutoff_hz, motion.rate_hz))
    if load.any():
        third = filtered_again(motion, limb, settings, lost[:, -3:-1])
        ratio[-3:] = ratio_of_signal(lost[:, -3:-1], third, smoother, cutoff_hz, motion.rate_hz)
    lost *= settings.uncertainty.sizes["filter"] * ratio / np.sqrt(2.0)
    cutoffs = Cutoffs.of(motion, limb, settings)
    turned = np.gradient(lost, 1.0 / motion.rate_hz, axis=0) / (2.0 * np.pi * cutoffs.over_time(cutoffs.hz)[:, None])
    both = np.stack([lost, turned]).transpose(2, 0, 1)  # [signal, direction, frame]
    joints = InputErrors.of_joints(LOST_JOINTS, both[:-3:2] + 1j * both[1:-3:2])
    loads = InputErrors(LOST_LOADS, 0.0 * joints.joint_m, both[-3:-1], both[-1])
    return InputErrors.together([joints, loads] if both[-3:].any() else [joints])


@functools.lru_cache(maxsize=256)
def loss_ratio(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> float:
    """Acceleration that a filter removes, over what it removes when applied again.

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
    """Loss by a filter over that by the same filter again, of a noiseless signal.

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
    return np.asarray(np.sqrt(first[:3] / again[0]) / loss_ratio(smoother, cutoff_hz, rate_hz))


def lost_rate(motion: ChainMotion, limb: Limb, settings: Settings) -> FloatArray:
    """Rate of change of the lost acceleration over its size, root mean squares, 1/s.

    Shape (n_frames,); 0 without a filter.
    """
    smoother = smoother_of(settings)
    if smoother is None or not motion.cutoff_hz:
        return np.zeros(len(motion.time_s))
    cutoffs = Cutoffs.of(motion, limb, settings)
    powers = [_lost_powers(smoother, hz, motion.rate_hz)[0] for hz in cutoffs.hz]
    return cutoffs.over_time([np.sqrt(first[3] / first[2]) for first in powers])


def _lost_powers(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """Powers of position and its first three derivatives in the first and second loss."""
    frequency_hz, gain = _spectrum(smoother, cutoff_hz, rate_hz)
    orders = np.arange(4)[:, None]
    power = (2.0 * np.pi * frequency_hz) ** (2.0 * orders) * frequency_hz**-SLOPE * (1.0 - gain) ** 2
    return power.sum(axis=1), (power * gain**2).sum(axis=1)


def _spectrum(smoother: Smoother, cutoff_hz: float, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """Frequencies up to half the rate, and the filter's gain."""
    frequency_hz = (np.arange(FREQUENCIES) + 0.5) / FREQUENCIES * rate_hz / 2.0
    return frequency_hz, smoother_gain(frequency_hz, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)


def filtered_again(motion: ChainMotion, limb: Limb, settings: Settings, values: FloatArray) -> FloatArray:
    """Signal of all frames filtered as the joint centres were.

    Parameters
    ----------
    motion : ChainMotion
        Rate, cut-offs and load of the trial.
    limb : Limb
        The limb.
    settings : Settings
        Method, and the higher cut-off around impacts.
    values : ndarray of shape (n_frames, ...)
        The signal.
    """
    smoother = smoother_of(settings)
    if smoother is None or not motion.cutoff_hz:
        return values
    cutoff_hz = max(motion.cutoff_hz)
    factor = impact_factor(settings)
    if factor == 1.0:
        return smooth_values(values, rate_hz=motion.rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    return smooth_with_impacts(
        values,
        rate_hz=motion.rate_hz,
        cutoff_hz=cutoff_hz,
        smoother=smoother,
        impact_hz=factor * cutoff_hz,
        impacts_s=loaded_s(motion, limb, settings),
    )


def impact_factor(settings: Settings) -> float:
    """Cut-off around impacts over that elsewhere."""
    return 1.0 if isinstance(settings.filter.cutoff_hz, float) else settings.filter.impact_factor


def loaded_s(motion: ChainMotion, limb: Limb, settings: Settings) -> list[float]:
    """Times at which the ground begins to load the limb, from the first frame, s."""
    if limb.load or not meets_ground(limb, settings):
        return []
    pressed = np.nan_to_num(np.hypot(*motion.load.force_n.T)) > settings.plates.threshold_n
    return [start / motion.rate_hz for start, _ in runs(pressed) if start]


def _frames(motion: ChainMotion) -> list[ComplexArray]:
    """Direction of the segment before each joint and the endpoint; 1 for the first."""
    directions = unit_vectors(np.cumsum(motion.kinematics.angle_rad, axis=1)).T
    return [np.ones(directions.shape[1], dtype=complex), *directions]


def _with_size(directions: Sequence[Direction], error: ComplexArray, sizes: FloatArray) -> InputErrors:
    """Errors in the directions whose size is not 0."""
    some = np.flatnonzero(sizes).tolist()
    return InputErrors.of_joints([directions[k] for k in some], error[:, some])
