"""Sampled propagation: torque terms with errors drawn by quasi-random numbers.

The check of the linear bands, and the way to statistics that are not linear, such as the time of a peak. Joints, angles and
their derivatives change linearly with the errors, as in `limbtorque.uncertainty.propagation`; the torque terms are computed
anew from each sample's chain, motion and load, so that they add up to its net torque.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.inverse import ComplexArray
from limbtorque.chain.regressor import coupling_of, inertial_parameters, number_of_terms
from limbtorque.chain.sensitivity import MotionChange
from limbtorque.chain.stacked import Motions, stacked_terms
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.uncertainty.directions import InputErrors
from limbtorque.uncertainty.fitted import fit_change, motion_change
from limbtorque.uncertainty.joint_errors import filtered_again
from limbtorque.uncertainty.load_errors import moment_about_origin
from limbtorque.uncertainty.marker_noise import joint_noise_m
from limbtorque.uncertainty.propagation import TrialErrors, load_change
from limbtorque.uncertainty.random_numbers import Draw, direction_numbers
from limbtorque.uncertainty.segment_errors import length_shares

VALUES_AT_A_TIME = 1_500_000  # of all terms of some samples: 12 MB


@dataclass(frozen=True)
class SampledTorques:
    """Torques of some samples of a trial.

    Attributes
    ----------
    rows : ndarray of shape (n_joints, n_terms, n_samples, n_frames)
        Net torques and terms as of `regressor.term_rows`, N m; NaN where those of the trial are.
    motions : Motions
        Angles, velocities and accelerations.
    """

    rows: FloatArray
    motions: Motions


def sampled_torques(errors: TrialErrors, draw: Draw) -> Iterator[SampledTorques]:
    """Net torques and terms of every sample, some samples after the others.

    Parameters
    ----------
    errors : TrialErrors
        Errors of the inputs of a trial.
    draw : Draw
        Number of samples, seed, and the names by which trials share their errors.

    Yields
    ------
    SampledTorques
        Of as many samples as fit into `VALUES_AT_A_TIME`.

    Notes
    -----
    The markers' noise is drawn for every frame and filtered as the markers were; all other errors come from
    `random_numbers.direction_numbers`.
    """
    motion, n = errors.motion, errors.motion.chain.n_links
    size = max(VALUES_AT_A_TIME // (n * number_of_terms(n) * len(motion.time_s)), 1)
    numbers, noise = direction_numbers(errors.directions, draw), _Noise.of(errors, draw)
    for first in range(0, draw.n_samples, size):
        own = numbers[first : first + size]
        change = _Change.of(errors, own)
        if noise is not None:
            change = noise.added(change)
        yield _torques(errors, own, change)


@dataclass(frozen=True)
class _Change:
    """Change of motion and load in some samples."""

    motion: MotionChange
    joint_m: ComplexArray  # (n_joints, n_samples, n_frames)
    force_n: FloatArray  # (2, n_samples, n_frames)
    moment_nm: FloatArray
    length_m: FloatArray  # (n_samples, n_joints)

    @classmethod
    def of(cls, errors: TrialErrors, numbers: FloatArray) -> _Change:
        """Sums of the changes with the errors of each sample."""
        n, shape = errors.motion.chain.n_links, (len(numbers), len(errors.motion.time_s))
        angle, velocity, acceleration = np.zeros((3, n, *shape))
        moved = MotionChange(angle, velocity, acceleration, np.zeros((2, *shape)))
        found = cls(
            moved, np.zeros((n, *shape), dtype=complex), np.zeros((2, *shape)), np.zeros(shape), np.zeros((shape[0], n))
        )
        start = len(errors.parameters.directions)
        for each in errors.inputs:
            own = numbers[:, start : start + len(each.errors.directions)]
            start += own.shape[1]
            if each.motion is not None:
                for into, change in zip(vars(moved).values(), vars(each.motion).values(), strict=True):
                    _add(into, own, change)
                _add(found.joint_m, own, each.errors.joint_m[:n])
                found.length_m[...] += own @ each.length_m.T
            more_n, more_nm = load_change(errors.motion, errors.limb, errors.settings, each.errors)
            _add(found.force_n, own, more_n)
            _add(found.moment_nm[None], own, more_nm[None])
        return found


@dataclass(frozen=True)
class _Noise:
    """White noise of the markers, drawn sample by sample."""

    errors: TrialErrors
    size_m: FloatArray
    generator: np.random.Generator

    @classmethod
    def of(cls, errors: TrialErrors, draw: Draw) -> _Noise | None:
        """Noise of a trial; None where it is switched off or not known."""
        options = errors.settings.uncertainty
        size_m = options.sizes["marker_noise"] * joint_noise_m(errors.motion, errors.limb, errors.settings)
        if "marker_noise" in options.off or not size_m.any():
            return None
        return cls(errors, size_m, draw.generator("marker_noise", "trial"))

    def added(self, change: _Change) -> _Change:
        """Changes with the noise of as many samples."""
        motion, limb, settings = self.errors.motion, self.errors.limb, self.errors.settings
        n_samples, n_frames = change.moment_nm.shape
        drawn = self.generator.standard_normal((n_samples, 2, len(self.size_m), n_frames)) * self.size_m[:, None]
        filtered = filtered_again(motion, limb, settings, drawn.reshape(-1, n_frames).T).T.reshape(drawn.shape)
        joints = (filtered[:, 0] + 1j * filtered[:, 1]).swapaxes(0, 1)
        fit = fit_change(motion, settings, InputErrors.of_joints((), joints), lengths=False)
        moved = zip(vars(change.motion).values(), vars(motion_change(motion, settings, fit)).values(), strict=True)
        levers = joints if settings.motion.angles == "inertial_chain" else fit.joint_m
        return _Change(
            MotionChange(*(one + other for one, other in moved)),
            change.joint_m + levers[: len(change.joint_m)],
            change.force_n,
            change.moment_nm,
            change.length_m,
        )


def _torques(errors: TrialErrors, numbers: FloatArray, change: _Change) -> SampledTorques:
    """Torques and terms of some samples."""
    motion, of = errors.motion, errors.motion.kinematics
    base = np.broadcast_to(of.base_acceleration_m_s2, (len(motion.time_s), 2))
    whole = (of.angle_rad, of.velocity_rad_s, of.acceleration_rad_s2, base)
    motions = Motions(
        *(values.T[:, None] + more for values, more in zip(whole, vars(change.motion).values(), strict=True))
    )
    constants = _constants(errors, numbers[:, : len(errors.parameters.directions)], change.length_m)
    external = _external(motion, change)
    return SampledTorques(stacked_terms(*constants, motions, external, gravity_m_s2=motion.gravity_m_s2), motions)


def _external(motion: ChainMotion, change: _Change) -> FloatArray:
    """External torques of some samples, shape (n_joints, n_samples, n_frames)."""
    if not motion.load.status.any():
        return np.zeros(change.joint_m.shape)
    x, y = motion.joint_m[:, : len(change.joint_m)].T[:, :, None]
    force_x, force_y = motion.load.force_n.T[:, None] + change.force_n
    moment = moment_about_origin(motion.load) + change.moment_nm
    return np.asarray((x + change.joint_m.real) * force_y - (y + change.joint_m.imag) * force_x - moment)


def _constants(errors: TrialErrors, numbers: FloatArray, longer_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Constants A and b of each sample's chain."""
    chain, shares = errors.motion.chain, length_shares(errors.limb, errors.settings)
    mass, moment, turning = np.split(inertial_parameters(chain) + numbers @ errors.parameters.change, 3, axis=1)
    relative = 1.0 + longer_m / chain.length_m
    com, about_com = relative ** shares["com"], relative ** shares["inertia"]
    carried = moment * chain.com_m
    turning = (turning - carried) * about_com + carried * com**2
    return coupling_of(np.hstack([mass, moment * com, turning]), chain.length_m + longer_m)


def _add(into: FloatArray | ComplexArray, numbers: FloatArray, change: FloatArray | ComplexArray) -> None:
    """Add the sums over directions, (n, d) and (k, d, n_frames) to (k, n, n_frames)."""
    for own, each in zip(into, change, strict=True):
        own += numbers @ each
