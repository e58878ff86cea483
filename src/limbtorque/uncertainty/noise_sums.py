"""Noise of sums over frames.

A sum over frames is a weighted sum of the noise before the filter: its weights are differentiated and filtered in place of the
noise, and their squares add up to the variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.signals.derivatives import differentiate
from limbtorque.uncertainty.noise_gains import NoiseGains


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
        """An empty sum over the frames with a weight."""
        used, accuracy = np.flatnonzero(weight), gains.accuracy
        first, last = (used[0] - accuracy, used[-1] + accuracy) if used.size else (0, 0)
        return cls(weight, gains, int(first), np.zeros((*rows, n_parts, last - first + 1)))

    def add(self, rows: FloatArray, some: slice) -> None:
        """Add a stretch of frames: the differences of the noise are taken of its weights."""
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

        The estimate is that of `joint_errors.filter_errors` with its phase, times the root of 2.
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
