"""Sampled propagation: torque terms with errors drawn by quasi-random numbers.

The check of the linear bands, and the way to statistics that are not linear, such as the time of a peak. Joints, angles and
their derivatives change linearly with the errors, as in `limbtorque.uncertainty.propagation`; the torque terms are computed
anew from each sample's chain, motion and load, so that they add up to its net torque.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from limbtorque.arrays import FloatArray
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.model import Chain, Kinematics, Load
from limbtorque.chain.regressor import inertial_parameters, term_rows
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.uncertainty.load_errors import moment_about_origin
from limbtorque.uncertainty.propagation import TrialErrors, load_change
from limbtorque.uncertainty.segment_errors import length_shares

SAMPLES_AT_A_TIME = 32


def normal_samples(n_samples: int, n_directions: int, *, seed: int) -> FloatArray:
    """Independent standard normal numbers from a scrambled Sobol sequence.

    Parameters
    ----------
    n_samples : int
        Number of samples, a power of two.
    n_directions : int
        Number of directions.
    seed : int
        Seed of the scrambling; the same seed gives the same numbers.

    Returns
    -------
    ndarray of shape (n_samples, n_directions)
        Normal numbers of mean 0 and variance 1.

    Raises
    ------
    ValueError
        A number of samples that is not a power of two: the sequence is balanced at these only.
    """
    if n_samples < 2 or n_samples & (n_samples - 1):
        raise ValueError(f"n_samples is {n_samples}; expected a power of two, such as 512")
    uniform = qmc.Sobol(n_directions, rng=np.random.default_rng(seed)).random(n_samples)
    return np.asarray(ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12)))


def sampled_rows(errors: TrialErrors, numbers: FloatArray) -> FloatArray:
    """Net torques and terms of every sample, without the markers' noise.

    Parameters
    ----------
    errors : TrialErrors
        Errors of the inputs of a trial.
    numbers : ndarray of shape (n_samples, n_directions)
        Errors in units of their standard deviations, from `normal_samples`.

    Returns
    -------
    ndarray of shape (n_samples, n_joints, n_terms, n_frames)
        Rows as of `regressor.term_rows`, N m.

    Raises
    ------
    ValueError
        An error so large that a mass, a length or an inertia would be negative.
    """
    some = [_Moved.of(errors, part) for part in np.array_split(numbers, max(len(numbers) // SAMPLES_AT_A_TIME, 1))]
    return np.stack([row for moved in some for row in moved.rows(errors.motion)])


@dataclass(frozen=True)
class _Moved:
    """Chains, motions and loads of some samples."""

    chains: list[Chain]
    angle: FloatArray  # (3, n_samples, n_joints, n_frames): angle, velocity, acceleration
    base: FloatArray
    joints: FloatArray
    force: FloatArray
    moment: FloatArray

    @classmethod
    def of(cls, errors: TrialErrors, numbers: FloatArray) -> _Moved:
        """Sums of the changes with the errors of each sample."""
        motion, n = errors.motion, errors.motion.chain.n_links
        n_samples, n_frames = len(numbers), len(motion.time_s)
        angle, base = np.zeros((3, n_samples, n, n_frames)), np.zeros((n_samples, 2, n_frames))
        joints, force = np.zeros((n_samples, n, 2, n_frames)), np.zeros((n_samples, 2, n_frames))
        moment, longer = np.zeros((n_samples, n_frames)), np.zeros((n_samples, n))
        start = len(errors.parameters.directions)
        for each in errors.inputs:
            own = numbers[:, start : start + len(each.errors.directions)]
            start += own.shape[1]
            if each.motion is not None:
                angle += [_summed(own, part) for part in list(vars(each.motion).values())[:3]]
                base += _summed(own, each.motion.base_acceleration_m_s2)
                moved = _summed(own, each.errors.joint_m[:n])
                joints += np.stack([moved.real, moved.imag], axis=2)
                longer += own @ each.length_m.T
            more_n, more_nm = load_change(motion, errors.limb, errors.settings, each.errors)
            force += _summed(own, more_n)
            moment += own @ more_nm
        parameters = numbers[:, : len(errors.parameters.directions)] @ errors.parameters.change
        chains = [_chain(errors, *each) for each in zip(parameters, longer, strict=True)]
        return cls(chains, angle, base, joints, force, moment)

    def rows(self, motion: ChainMotion) -> list[FloatArray]:
        """Torques and terms of each sample."""
        about = moment_about_origin(motion.load)
        return [self._of_sample(motion, k, about) for k in range(len(self.chains))]

    def _of_sample(self, motion: ChainMotion, k: int, about: FloatArray) -> FloatArray:
        """Torques and terms of one sample."""
        of, load = motion.kinematics, motion.load
        kinematics = Kinematics(
            of.angle_rad + self.angle[0, k].T,
            of.velocity_rad_s + self.angle[1, k].T,
            of.acceleration_rad_s2 + self.angle[2, k].T,
            base_acceleration_m_s2=of.base_acceleration_m_s2 + self.base[k].T,
        )
        options: dict[str, Any] = {}
        if load.status.any():
            force = load.force_n + self.force[k].T
            turning = load.point_m[:, 0] * force[:, 1] - load.point_m[:, 1] * force[:, 0]
            n = motion.chain.n_links
            options["loads"] = [Load(n - 1, force, load.point_m, about + self.moment[k] - turning)]
            options["joint_m"] = motion.joint_m[:, :n] + np.moveaxis(self.joints[k], 2, 0)
        return term_rows(
            torque_terms(self.chains[k], kinematics, gravity_m_s2=motion.gravity_m_s2, missing=True, **options)
        )


def _summed(numbers: FloatArray, change: Any) -> Any:
    """Sums over directions, (n, d) and (k, d, n_frames) to (n, k, n_frames)."""
    return np.stack([numbers @ each for each in change], axis=1)


def _chain(errors: TrialErrors, change: FloatArray, longer_m: FloatArray) -> Chain:
    """Chain of one sample."""
    chain, shares = errors.motion.chain, length_shares(errors.limb, errors.settings)
    mass, moment, turning = np.split(inertial_parameters(chain) + change, 3)
    relative = 1.0 + longer_m / chain.length_m
    com = moment / mass
    inertia = (turning - moment * com) * relative ** shares["inertia"]
    return Chain(chain.length_m + longer_m, mass, com * relative ** shares["com"], inertia)
