r"""Bands that hold a whole curve, by the Kac-Rice formula.

The error of a curve over its standard deviation leaves ``-c .. c`` with a probability of at most

.. math::

    2 \Phi(-c) + \frac{1}{\pi} e^{-c^2 / 2} \int \tau(t) \, dt

with the standard deviation tau of its rate of change: the first part at the first frame, the second the expected number of
crossings (Rice 1945; Liebl and Reimherr 2023, Journal of the Royal Statistical Society B 85, 842-868). Nothing is sampled.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.chain.model import pairs
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.signals.smoothers import smoother_gain
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.bands import LEVEL, LIMITS, TorqueBands
from limbtorque.uncertainty.filter_loss import FREQUENCIES, SLOPE, frequencies_hz
from limbtorque.uncertainty.marker_noise import (
    MarkerNoise,
    marker_noise,
    noise_rows,
    unit_products,
    without_velocity_noise,
)
from limbtorque.uncertainty.propagation import TrialErrors, trial_errors

HIGHEST = 40.0  # standard deviations
STEPS = 60  # halvings
MOST_LOSS = 0.25  # of the variance in a frame, by the filter


def simultaneous_limits(
    bands: TorqueBands, rate_nm2_s2: FloatArray, used: BoolArray, rate_hz: float, *, least_nm: FloatArray | None = None
) -> FloatArray:
    """Half-widths of simultaneous bands, in standard deviations.

    Parameters
    ----------
    bands : TorqueBands
        Bands of a trial.
    rate_nm2_s2 : ndarray of shape (n_joints, n_terms, n_frames)
        Variances of the rate of change of the errors, (N m / s)^2, from `rates_of_change`.
    used : ndarray of bool, shape (n_frames,)
        Frames of the curve.
    rate_hz : float
        Frames per second.
    least_nm : ndarray of shape (n_joints,), optional
        Torque below which limits are not judged.

    Returns
    -------
    ndarray of shape (n_joints, n_terms)
        Of every net torque and term: `bands.LIMITS` for an error that all frames share, more for one that changes; NaN
        where a frame has no band, and where the filter's loss has more than `MOST_LOSS` of the variance in a frame whose limits
        are judged.

    Notes
    -----
    Every run of frames begins anew, as if the runs before told nothing about it. The bound is close for a high level, and for
    normal errors. The filter's loss is not normal: where the jerk jumps it is a wave of known height, a frame or two wide,
    at an instant that is known less well. A standard deviation spreads its height over these frames, and a curve that
    is held in all others leaves its band there.
    """
    turned, n_runs = np.zeros(bands.variance_nm2.shape[:2]), 0
    for start, stop in runs(used):
        turned += _turned(bands.variance_nm2[..., start:stop], rate_nm2_s2[..., start:stop], rate_hz)
        n_runs += 1
    low, high = np.zeros_like(turned), np.full_like(turned, HIGHEST)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        outside = 2.0 * max(n_runs, 1) * ndtr(-middle) + turned / np.pi * np.exp(-(middle**2) / 2.0)
        low, high = np.where(outside > 1.0 - LEVEL, middle, low), np.where(outside > 1.0 - LEVEL, high, middle)
    return np.where(np.isnan(turned) | _mostly_loss(bands, used, least_nm), np.nan, high)


def _mostly_loss(bands: TorqueBands, used: BoolArray, least_nm: FloatArray | None) -> BoolArray:
    """Rows with a frame in which the filter's loss has most of the variance."""
    variance = bands.variance_nm2[..., used]
    if "filter" not in bands.by_source:
        return np.zeros(variance.shape[:2], dtype=bool)
    least = np.zeros(len(variance)) if least_nm is None else least_nm
    judged = variance > (least[:, None, None] / LIMITS) ** 2
    return np.asarray((judged & (bands.by_source["filter"][..., used] > MOST_LOSS * variance)).any(axis=-1))


def _turned(variance: FloatArray, rate: FloatArray, rate_hz: float) -> FloatArray:
    """Integral of tau over a run of frames.

    With the variance V of an error and that of its rate of change R, ``tau^2 = R / V - (V' / 2 V)^2``.
    """
    if variance.shape[-1] < 2:
        return np.zeros(variance.shape[:-1])
    own = np.maximum(variance, np.finfo(float).tiny)
    drift = np.gradient(np.log(own), 1.0 / rate_hz, axis=-1) / 2.0
    tau = np.sqrt(np.maximum(np.where(variance > 0.0, rate / own - drift**2, 0.0), 0.0))
    return np.asarray(np.trapezoid(np.where(np.isnan(variance), np.nan, tau), dx=1.0 / rate_hz, axis=-1))


def rates_of_change(motion: ChainMotion, limb: Limb, settings: Settings, bands: TorqueBands) -> FloatArray:
    """Variances of the rate of change of the errors of a trial's torques and terms.

    Parameters
    ----------
    motion, limb, settings
        As in `limbtorque.uncertainty.propagation.torque_bands`.
    bands : TorqueBands
        Its bands.

    Returns
    -------
    ndarray of shape (n_joints, n_terms, n_frames)
        (N m / s)^2: of all directions but the filter's by differences, of the filter's loss and of the noise by their spectra.
    """
    analysed = AnalysedLimb(motion, limb, settings)
    noise = marker_noise(analysed)
    errors, likely = trial_errors(motion, limb, settings, noise=noise), without_velocity_noise(motion, noise)
    rate = np.zeros_like(bands.variance_nm2)
    for start, rows in _changes(errors, likely):
        kept = [k for k in range(rows.shape[2]) if errors.directions[start + k].source != "filter"]
        steps = np.square(np.diff(rows[:, :, kept], axis=-1)).sum(axis=2) * motion.rate_hz**2
        steps = np.concatenate([steps, np.full_like(steps[..., :1], np.nan)], axis=-1)
        steps[..., 1:] = np.where(np.isnan(steps[..., 1:]), steps[..., :-1], steps[..., 1:])
        rate += steps
    if "filter" in bands.by_source:
        rate += bands.by_source["filter"] * _lost_rate(analysed) ** 2
    return rate if noise is None else rate + _rate_of_noise(likely, noise, motion, errors)


def _changes(errors: TrialErrors, likely: ChainMotion) -> list[tuple[int, FloatArray]]:
    """Change of every term with each direction, all frames together."""
    whole = slice(0, len(likely.time_s))
    found = [(start, rows) for _, start, rows in errors.changes(whole.stop)][:1] if errors.parameters.directions else []
    start = len(errors.parameters.directions)
    for each in errors.inputs:
        found.append((start, each.rows(replace(errors.analysed, motion=likely), whole)))
        start += len(each.errors.directions)
    return found


def _lost_rate(analysed: AnalysedLimb) -> FloatArray:
    """Rate of change of the lost acceleration over its size, root mean squares, 1/s; shape (n_frames,)."""
    cutoffs, smoother, rate_hz = analysed.cutoffs, analysed.smoother, analysed.motion.rate_hz
    frequency_hz, found = frequencies_hz(rate_hz), []
    for cutoff_hz in cutoffs.hz:
        gain = smoother_gain(frequency_hz, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
        power = (2.0 * np.pi * frequency_hz) ** 4 * frequency_hz**-SLOPE * (1.0 - gain) ** 2
        found.append(np.sqrt((power * (2.0 * np.pi * frequency_hz) ** 2).sum() / power.sum()))
    return cutoffs.over_time(found)


def _rate_of_noise(likely: ChainMotion, noise: MarkerNoise, motion: ChainMotion, errors: TrialErrors) -> FloatArray:
    """The same of the markers' noise, to first order and of products of velocities."""
    frequency_hz, weight, n = frequencies_hz(motion.rate_hz), noise.gains.weight, motion.chain.n_links
    square = (2.0 * np.pi * frequency_hz) ** 2
    first, second = noise.gains.of_derivatives(frequency_hz)
    products = (
        (first, first, square),
        (first, first, square**2),
        (second, second, square**3),
        (first, second, -(square**2)),
    )
    moments = np.stack(
        [np.einsum("ct,cd,dt->t", weight, (a * size) @ b.T / FREQUENCIES, weight) for a, b, size in products]
    )
    position, velocity, acceleration = np.split(noise_rows(likely, noise.parts), 3, axis=2)
    both = (position, position), (velocity, velocity), (acceleration, acceleration), (position, 2.0 * acceleration)
    rate = sum(np.einsum("ijdt,ijdt->ijt", a, b) * each for (a, b), each in zip(both, moments, strict=True))
    rate = np.maximum(np.asarray(rate), 0.0)
    # of a quadratic form e' H e, with covariance C of the errors and D of their rate of change: 4 tr(H C H D)
    covariance = noise.velocity + errors.velocity_covariance()
    faster = np.nan_to_num(np.einsum("apt,bpt->abt", noise.angle, noise.angle)) * moments[1]
    rows, form = unit_products(motion), np.zeros((n, n, n, len(motion.time_s)))
    for k, (p, q) in enumerate([*((k, k) for k in range(n)), *pairs(n)]):
        crossed = covariance[p, p] * faster[q, q] + covariance[q, q] * faster[p, p]
        rate[:, 1 + n + k] += rows[:, k] ** 2 * (crossed + 2.0 * covariance[p, q] * faster[p, q])
        form[:, p, q] = form[:, q, p] = rows[:, k] if p == q else rows[:, k] / 2.0
    turned, changing = (np.einsum("iabt,bct->iact", form, each) for each in (covariance, faster))
    rate[:, 0] += 4.0 * np.einsum("iabt,ibat->it", turned, changing)
    return rate
