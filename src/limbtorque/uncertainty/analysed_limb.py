"""A limb's motion with its settings, and its change due to small errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import ComplexArray, FloatArray
from limbtorque.chain.inverse import FitChange, change_of_fit
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.chain.linear import MotionChange
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.motion.smoothing import smoother_of
from limbtorque.signals.derivatives import differentiate
from limbtorque.signals.smoothers import HIGHEST, Smoother, impact_share, impact_weight, smooth_with_impacts
from limbtorque.study.settings import Settings


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

    def over_time(self, values: ArrayLike) -> FloatArray:
        """Values for each cut-off, (n_cutoffs, ...), in each frame, (..., n_frames)."""
        return np.asarray(np.einsum("c...,ct->...t", np.asarray(values, dtype=float), self.weight))


@dataclass(frozen=True)
class AnalysedLimb:
    """Motion of a limb with the settings it was analysed with.

    Attributes
    ----------
    motion : ChainMotion
        The motion and its load.
    limb : Limb
        Chain, side, marker set and measured parameters.
    settings : Settings
        Errors of the inputs, and the settings of the analysis.
    """

    motion: ChainMotion
    limb: Limb
    settings: Settings

    @property
    def sizes(self) -> Mapping[str, float]:
        """Sizes of the errors, by their options."""
        return self.settings.uncertainty.sizes

    @cached_property
    def smoother(self) -> Smoother | None:
        """The filter; None if unfiltered."""
        return smoother_of(self.settings) if self.motion.cutoff_hz else None

    @cached_property
    def landmarks(self) -> list[str]:
        """Landmarks of the joint centres and of the endpoint, proximal first."""
        return self.limb.model(self.settings).landmarks

    @property
    def impact_hz(self) -> float:
        """Cut-off around impacts; unchanged if given in the settings."""
        options = self.settings.filter
        return (1.0 if isinstance(options.cutoff_hz, float) else options.impact_factor) * max(self.motion.cutoff_hz)

    @property
    def impacts_s(self) -> list[float]:
        """Times at which the ground begins to load the limb, from the first frame, s."""
        return [time_s for time_s, _ in self.motion.load.impacts]

    @property
    def load_share(self) -> FloatArray:
        """Share of the load's high frequencies that a filter has removed.

        Shape (n_frames,).
        """
        if self.settings.filter.force_cutoff_hz is not None:
            return np.ones(len(self.motion.time_s))
        return impact_share(len(self.motion.time_s), self.motion.rate_hz, self.motion.load.impacts)

    @cached_property
    def cutoffs(self) -> Cutoffs:
        """Cut-offs of a filtered trial."""
        cutoff_hz, rate_hz, n_frames = max(self.motion.cutoff_hz), self.motion.rate_hz, len(self.motion.time_s)
        high_hz = min(self.impact_hz, HIGHEST * rate_hz)
        if not self.impacts_s or high_hz <= cutoff_hz:
            return Cutoffs((cutoff_hz,), np.ones((1, n_frames)))
        high = np.clip(impact_weight(n_frames, rate_hz, np.array(self.impacts_s)), 0.0, 1.0)  # rounding
        return Cutoffs((cutoff_hz, high_hz), np.stack([1.0 - high, high]))

    def filtered(self, values: FloatArray) -> FloatArray:
        """Signal of all frames, shape (n_frames, ...), filtered like the joint centres."""
        if self.smoother is None:
            return values
        return smooth_with_impacts(
            values,
            rate_hz=self.motion.rate_hz,
            cutoff_hz=max(self.motion.cutoff_hz),
            smoother=self.smoother,
            impact_hz=self.impact_hz,
            impacts_s=self.impacts_s,
        )

    def fit_change(self, joint_m: ComplexArray, *, lengths: bool = True) -> FitChange:
        """Change of orientations, lengths and joints of the chain by `motion.angles`.

        Parameters
        ----------
        joint_m : complex ndarray of shape (n_joints + 1, n_directions, n_frames)
            Errors of the joints and the endpoint, x + iy, m.
        lengths : bool, optional
            False: the lengths stay.
        """
        motion = self.motion
        angle, length, counted = motion.kinematics.angle_rad, motion.chain.length_m, ~motion.foreshortened
        if self.settings.motion.angles != "segments":
            return change_of_fit(angle, length, joint_m, counted=counted, lengths=lengths)
        direction = unit_vectors(np.cumsum(angle.T, axis=0))[:, None]
        steps = np.diff(joint_m, axis=0) * np.conj(direction)
        measured = np.diff(motion.joint_m[..., 0] + 1j * motion.joint_m[..., 1], axis=1).T[:, None]
        known = counted & ~np.isnan(angle).any(axis=1)
        longer = steps[..., known].real.mean(axis=2) if lengths and known.any() else np.zeros(steps.shape[:2])
        return FitChange(steps.imag / np.abs(measured), longer, joint_m)

    def motion_change(self, fit: FitChange) -> MotionChange:
        """Change of joint angles, base, their derivatives and the chain."""
        n, n_directions, n_frames = fit.orientation_rad.shape
        angle = np.diff(fit.orientation_rad, axis=0, prepend=0.0)
        base = fit.joint_m[0]
        signal = np.concatenate([angle, np.stack([base.real, base.imag])]).reshape(-1, n_frames).T
        known, rate_hz, accuracy = np.nan_to_num(signal), self.motion.rate_hz, self.settings.differentiation.accuracy
        if self.smoother is None:
            derivatives = differentiate(known, rate_hz=rate_hz, accuracy=accuracy)
        else:
            derivatives = self.smoother.strategy.derivatives(known, rate_hz, accuracy)
        first, second = (each.T.reshape(n + 2, n_directions, n_frames) for each in derivatives)
        return MotionChange(angle, first[:n], second[:n], second[n:])
