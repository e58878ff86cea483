"""All metrics of a trial over the frames that it is judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.errors import LoadError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.quality.motion_metrics import frame_metrics, missing_shares
from limbtorque.quality.spike_change import spike_change
from limbtorque.signals.derivatives import differentiation_reach, first_derivative
from limbtorque.study.chains import ChainModel
from limbtorque.tables.trial_record import Window
from limbtorque.torques.joint_torques import Torques, known_frames, used_frames


@dataclass(frozen=True)
class Judged:
    """Metrics of a trial over its judged frames.

    Attributes
    ----------
    metrics : dict of str to float
        Metrics of the trial.
    by_joint : dict of str to dict of str to float
        Those with a value for each joint, by metric and joint.
    notes : tuple of str
        Notes on the effect of spikes.
    """

    metrics: dict[str, float]
    by_joint: dict[str, dict[str, float]]
    notes: tuple[str, ...] = ()


def judged_metrics(
    motion: ChainMotion,
    torques: Torques,
    window: Window,
    *,
    model: ChainModel,
    body_mass_kg: float,
    filled: Callable[[], ChainMotion | None],
) -> Judged:
    """Metrics of motion and torques over the frames that the outputs use.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    window : Window
        The window of the trial, or why there is none.
    model : ChainModel
        The chain.
    body_mass_kg : float
        Body mass of the subject.
    filled : callable
        Returns the motion with spikes filled, or None where they cannot be; called only where there are spikes.

    Returns
    -------
    Judged
        They take the place of the metrics over all frames in `ChainMotion.metrics`.
    """
    used = used_frames(motion, torques)
    frames = window.judged(motion.time_s, used)
    metrics = {**frame_metrics(motion, frames, model), **torque_metrics(motion, torques, frames)}
    metrics |= shortest_period_share(motion)
    if window.note:
        unused = torque_metrics(motion, torques)["unused_share"]
        metrics |= {**missing_shares(motion, ~motion.edge), "unused_share": unused}
    by_joint = {
        **limit_metrics(motion, torques, frames, body_mass_kg=body_mass_kg),
        "fit_error_share": fit_error_share(motion, torques, frames),
    }
    if not motion.spike.any():
        return Judged(metrics, by_joint)
    shares, notes = spike_change(motion, torques, filled(), frames)
    return Judged(metrics, {**by_joint, "spike_change_share": shares}, notes)


def shortest_period_share(motion: ChainMotion) -> dict[str, float]:
    """Shortest period of the unfiltered joint centres over that of the movement.

    Parameters
    ----------
    motion : ChainMotion
        The motion.

    Returns
    -------
    dict of str to float
        `shortest_period_share`; empty where nothing moves or `shortest_period_s` is not known.

    Notes
    -----
    The period of the movement is 2 pi rms(v) / rms(a), with velocity and acceleration of all joints and of the end, less the mean
    velocity: that of its sine where it is one. A filter before the export that takes periods of a sixth of it takes part of the movement.
    """
    velocity = first_derivative(motion.joint_m, rate_hz=motion.rate_hz, accuracy=2)
    acceleration = first_derivative(velocity, rate_hz=motion.rate_hz, accuracy=2)
    counted = ~motion.edge & ~motion.foreshortened & ~np.isnan(acceleration).any(axis=(1, 2))
    shortest_s = motion.metrics.get("shortest_period_s", float("nan"))
    if not counted.any() or np.isnan(shortest_s):
        return {}
    speed, push = (
        np.sqrt((each[counted] ** 2).sum()) for each in (velocity - velocity[counted].mean(axis=0), acceleration)
    )
    return {"shortest_period_share": float(shortest_s * push / (2.0 * np.pi * speed))} if speed > 0.0 else {}


RESTING_W = 0.1  # below, the chain is at rest and the rate of its energy is noise


def torque_metrics(motion: ChainMotion, torques: Torques, frames: BoolArray | None = None) -> dict[str, float]:
    """Metrics of the torques.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    frames : ndarray of bool, shape (n_frames,), optional
        Judged frames; all by default.

    Returns
    -------
    dict of str to float
        Over the judged frames: largest closures of torque and power, relative difference of powers and rate of energy, and
        the share of frames that the summary leaves out.

    Raises
    ------
    LoadError
        No frame has a known torque.
    """
    known = known_frames(torques)
    if not known.any():
        raise LoadError(
            "no frame has a known torque: the foot is on the ground without a plate of its own, or a segment points out of "
            "the plane; see the notes, give plates.assignment, another plane, or start_s and end_s"
        )
    frames = np.ones(len(known), dtype=bool) if frames is None else frames
    used = used_frames(motion, torques)
    return {
        "closure_nm": float(np.abs(torques.closure_nm[known & frames]).max(initial=0.0)),
        "power_closure_w": float(np.abs(torques.powers.residual[known & frames]).max(initial=0.0)),
        "energy_rate_share": _energy_rate_share(motion, torques, used & frames),
        "unused_share": 1.0 - float(used[frames].mean()) if frames.any() else 1.0,
    }


def limit_metrics(
    motion: ChainMotion, torques: Torques, frames: BoolArray, *, body_mass_kg: float
) -> dict[str, dict[str, float]]:
    """Extremes of each joint that anatomy and strength limit.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    frames : ndarray of bool, shape (n_frames,)
        Judged frames; those with edge effects or unknown torque are left out.
    body_mass_kg : float
        Body mass of the subject.

    Returns
    -------
    dict of str to dict of str to float
        Largest net torque and power per body mass, N m/kg and W/kg, and largest flexion and extension, deg, by joint; empty
        without a frame.
    """
    used = used_frames(motion, torques) & frames
    if not used.any():
        return {}
    flexion = np.degrees(motion.flexion.of(motion.kinematics.angle_rad[used]))
    found = {
        "torque_nm_kg": np.abs(torques.terms.net[used]).max(axis=0) / body_mass_kg,
        "power_w_kg": np.abs(torques.powers.joint[used]).max(axis=0) / body_mass_kg,
        "flexion_deg": flexion.max(axis=0),
        "extension_deg": -flexion.min(axis=0),
    }
    return {name: dict(zip(motion.joints, values.tolist(), strict=True)) for name, values in found.items()}


def fit_error_share(motion: ChainMotion, torques: Torques, frames: BoolArray) -> dict[str, float]:
    """Torque that the misfit of the rigid chain is worth, relative to its range.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    frames : ndarray of bool, shape (n_frames,)
        Judged frames; those with edge effects or unknown torque are left out.

    Returns
    -------
    dict of str to float
        By joint; empty without a frame, a fitted chain or a torque that changes.

    Notes
    -----
    A joint centre that is off by a distance d changes the net torque by d times the part of the reaction force F across it. The
    share is rms(d) rms(F) / range of the net torque: 4 mm matter more to a leg that carries the body than to one that swings.
    """
    used = used_frames(motion, torques) & frames
    if not used.any() or np.isnan(motion.fit_m[used]).any():
        return {}
    off_m = np.sqrt((motion.fit_m[used] ** 2).mean())
    force_n = np.sqrt((torques.wrenches.reaction_n[used] ** 2).sum(axis=2).mean(axis=0))
    size_nm = np.ptp(torques.terms.net[used], axis=0)
    return {
        joint: float(off_m * force / size)
        for joint, force, size in zip(motion.joints, force_n, size_nm, strict=True)
        if size > 0.0
    }


def _energy_rate_share(motion: ChainMotion, torques: Torques, used: BoolArray) -> float:
    """Rms difference of powers and rate of energy, relative.

    The energy comes from angles and velocities, the powers from accelerations: the two agree where the derivatives are
    consistent. Loads and segment parameters do not matter.
    """
    energy = torques.energies.total
    if len(energy) <= 2 * differentiation_reach(8):
        return float("nan")
    rate = first_derivative(energy, rate_hz=motion.rate_hz, accuracy=8)  # energy has twice the motion's frequencies
    counted = used & ~np.isnan(rate)
    if not counted.any():
        return float("nan")
    off, size = (float(np.sqrt((values[counted] ** 2).mean())) for values in (torques.powers.total - rate, rate))
    return off / max(size, RESTING_W)
