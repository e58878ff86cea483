"""Gains through which white noise of joint centres reaches the torques."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.motion.smoothing import smoother_of
from limbtorque.signals.derivatives import second_derivative_gain
from limbtorque.signals.smoothers import Smoother, second_gains, smoother_gain, smoother_reach
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.joint_errors import Cutoffs, loss_factors, loss_ratio

FREQUENCIES = 512


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
        Factor of the estimate of the filter's loss (`joint_errors.filter_errors`).
    accuracy : {2, 4, 6, 8}
        Order of accuracy of the differences.
    factors : ndarray of shape (n_cutoffs, 3)
        Position, velocity and acceleration over the position in that estimate (`joint_errors.loss_factors`).
    """

    smoother: Smoother | None
    rate_hz: float
    cutoffs_hz: tuple[float, ...]
    weight: FloatArray
    loss: float
    accuracy: int
    factors: FloatArray

    @classmethod
    def of(cls, motion: ChainMotion, limb: Limb, settings: Settings) -> NoiseGains:
        """Gains of the filter of a trial."""
        rate_hz, accuracy, smoother = motion.rate_hz, settings.differentiation.accuracy, smoother_of(settings)
        n_frames = len(motion.time_s)
        if smoother is None or not motion.cutoff_hz:
            return cls(None, rate_hz, (rate_hz / 2.0,), np.ones((1, n_frames)), 0.0, accuracy, np.ones((1, 3)))
        cutoffs = Cutoffs.of(motion, limb, settings)
        loss = settings.uncertainty.sizes["filter"] * loss_ratio(smoother, cutoffs.hz[0], rate_hz) / np.sqrt(2.0)
        factors = np.array([loss_factors(smoother, hz, rate_hz) for hz in cutoffs.hz])
        return cls(smoother, rate_hz, cutoffs.hz, cutoffs.weight, loss, accuracy, factors)

    def moments(self) -> FloatArray:
        """Moments of unit noise, shape (3, 4, n_frames).

        Behind the filter; of its rate of change; and in the estimate of the loss, both directions together: variances of
        position, velocity and acceleration, and the covariance of the first and last.
        """
        frequency_hz = self.frequency_hz
        square = (2.0 * np.pi * frequency_hz) ** 2
        first, second = self._gains(frequency_hz)
        lost = self.loss * (1.0 - first) * np.hypot(1.0, frequency_hz / np.array(self.cutoffs_hz)[:, None])
        found = [_products(first, second, square, faster) for faster in (1.0, square)]
        position, velocity, acceleration = self.factors.T
        pairs = (position, position), (velocity, velocity), (acceleration, acceleration), (position, -acceleration)
        scale = np.array([np.multiply.outer(one, other) for one, other in pairs])
        found.append(scale * _products(lost * first, lost * second, square, 1.0)[0])
        return np.asarray(np.einsum("ct,akcd,dt->akt", self.weight, np.array(found), self.weight))

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

    @property
    def frequency_hz(self) -> FloatArray:
        """Frequencies of the means, Hz."""
        return np.asarray((np.arange(FREQUENCIES) + 0.5) / FREQUENCIES * self.rate_hz / 2.0)

    def _gains(self, frequency_hz: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gains of the signal and of its second derivative."""
        if self.smoother is None:
            second = second_derivative_gain(frequency_hz / self.rate_hz, accuracy=self.accuracy)
            return np.ones((1, len(frequency_hz))), second[None]
        return second_gains(frequency_hz, rate_hz=self.rate_hz, cutoffs_hz=self.cutoffs_hz, smoother=self.smoother)

    def left_in_velocity(self, kernel: FloatArray) -> float:
        """Variance of the velocities' noise that a symmetric mean over frames leaves."""
        frequency_hz = self.frequency_hz
        frames = np.arange(len(kernel)) - len(kernel) // 2
        power = (self.powers(frequency_hz)[0] * frequency_hz) ** 2
        passed = np.cos(2.0 * np.pi / self.rate_hz * np.multiply.outer(frequency_hz, frames)) @ kernel
        return float((power * passed**2).sum() / power.sum())

    def together_in_squares(self) -> float:
        """Frames over which squared velocities have the same noise."""
        frequency_hz = self.frequency_hz
        power = (self.powers(frequency_hz)[0] * frequency_hz) ** 2
        return float((power**2).mean() / power.mean() ** 2)

    @property
    def reach(self) -> int:
        """Frames to which the filter spreads the noise of one."""
        if self.smoother is None:
            return self.accuracy
        return smoother_reach(self.cutoffs_hz[0], rate_hz=self.rate_hz, smoother=self.smoother)


def _products(first: FloatArray, second: FloatArray, square: FloatArray, faster: FloatArray | float) -> FloatArray:
    """Mean products of the gains of each two cut-offs, (4, n, n)."""
    pairs = (first, first, 1.0), (first, first, square), (second, second, square**2), (first, second, -square)
    return np.stack([(a * size * faster) @ b.T / FREQUENCIES for a, b, size in pairs])
