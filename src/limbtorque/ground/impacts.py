"""Forces around impacts: the share of high frequencies that markers show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray, distal_sums, plane_cross
from limbtorque.chain.model import Chain
from limbtorque.motion.chain_motion import ChainMotion, Impact
from limbtorque.motion.smoothing import SmoothedJoints
from limbtorque.signals.derivatives import differentiate
from limbtorque.signals.smoothers import HIGHEST, Smoother, impact_share, impact_weight, smooth_values

WIDE = Smoother()  # the method for cut-offs above the markers': local polynomials have none so high
BAND = 1.5  # times the cut-off around impacts: higher, the acceleration of markers is noise


@dataclass(frozen=True)
class Impacts:
    """Impacts of a trial and what the markers' filter has removed around them.

    Attributes
    ----------
    smoothed : SmoothedJoints
        The markers' filter, its cut-offs and the times of the impacts.
    rate_hz : float
        Frames per second.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joints and endpoint in the plane, m.
    inertial_nm : ndarray of shape (n_frames, n_joints)
        Moments about the joints that accelerate the segments, between the cut-off and `BAND` times that of impacts, N m.
    """

    smoothed: SmoothedJoints
    rate_hz: float
    joint_m: FloatArray
    inertial_nm: FloatArray

    @classmethod
    def of(cls, motion: ChainMotion, smoothed: SmoothedJoints, measured_m: FloatArray) -> Impacts:
        """Impacts of a motion.

        Parameters
        ----------
        motion : ChainMotion
            The motion, for its chain and joints.
        smoothed : SmoothedJoints
            The smoothed joint centres.
        measured_m : ndarray of shape (n_frames, n_joints + 1, 2)
            The same in the plane before the filter, m.
        """
        band = _in_band(measured_m, smoothed, motion.rate_hz)
        lost_m = (band - smoothed.values[..., :2]).reshape(len(band), -1)
        acceleration = differentiate(lost_m, rate_hz=motion.rate_hz)[1].reshape(band.shape)
        inertial_nm = _inertial_moments(motion.chain, motion.joint_m, acceleration)
        return cls(smoothed, motion.rate_hz, motion.joint_m, inertial_nm)

    def filtered(self, load: FloatArray) -> tuple[FloatArray, tuple[Impact, ...]]:
        """Load with the share at each impact that passes the markers' filter.

        Parameters
        ----------
        load : ndarray of shape (n_frames, 3)
            Force in the plane, N, and moment about its origin, N m.

        Returns
        -------
        load : ndarray of shape (n_frames, 3)
            Filtered like the markers around impacts, as far as these show them.
        impacts : tuple of (float, float)
            Time of each impact, s, and that share.

        Notes
        -----
        Above the markers' cut-off the torques lack the moments of inertia I, and around an impact the moments L of the load
        are in part their opposite. The share c of L that is left out gives the least sum of ``(I - c L)^2`` over the joints
        and the frames around the impact, ``c = sum I L / sum L^2``, between 0 and 1. Noise of markers has no part in it on
        average, since it does not depend on the force.
        """
        like_markers = self.smoothed.smooth(load, self.rate_hz)
        band = _in_band(load, self.smoothed, self.rate_hz)
        lost_nm = _load_nm(band - like_markers, self.joint_m)
        both, square = (self.inertial_nm * lost_nm).sum(axis=1), (lost_nm**2).sum(axis=1)
        impacts = []
        for time_s in self.smoothed.impacts_s:
            weight = impact_weight(len(load), self.rate_hz, np.array([time_s]))
            size = float(weight @ square)
            impacts.append((time_s, float(np.clip(weight @ both / size, 0.0, 1.0)) if size else 0.0))
        return self.shared(load, like_markers, impacts), tuple(impacts)

    def shared(self, load: FloatArray, like_markers: FloatArray, impacts: Sequence[Impact]) -> FloatArray:
        """Load that is filtered like the markers by a share at each impact."""
        share = impact_share(len(load), self.rate_hz, impacts)
        return np.asarray(load + share[:, None] * (like_markers - load))


def _in_band(values: FloatArray, smoothed: SmoothedJoints, rate_hz: float) -> FloatArray:
    """Signal up to the frequency at which markers still show an impact."""
    cutoff_hz = min(BAND * smoothed.impact_hz, HIGHEST * rate_hz)
    return smooth_values(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=WIDE)


def _inertial_moments(chain: Chain, joint_m: FloatArray, acceleration_m_s2: FloatArray) -> FloatArray:
    """Moments about the joints that give these accelerations to the segments."""
    share, along = (chain.com_m / chain.length_m)[:, None], np.diff(joint_m, axis=1)
    turning = np.diff(acceleration_m_s2, axis=1)
    force = chain.mass_kg[:, None] * (acceleration_m_s2[:, :-1] + share * turning)
    moment = plane_cross(joint_m[:, :-1] + share * along, force)
    moment = moment + chain.inertia_kgm2 * plane_cross(along, turning) / chain.length_m**2
    return np.asarray(distal_sums(moment) - plane_cross(joint_m[:, :-1], distal_sums(force)))


def _load_nm(load: FloatArray, joint_m: FloatArray) -> FloatArray:
    """Moments of a load about the joints."""
    return np.asarray(load[:, 2, None] - plane_cross(joint_m[:, :-1], load[:, None, :2]))
