"""All metrics of a trial over the frames that it is judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limbtorque.motion.chain_motion import ChainMotion, frame_metrics, missing_shares
from limbtorque.signals.derivatives import first_derivative
from limbtorque.study.chains import ChainModel
from limbtorque.tables.trial_record import Window
from limbtorque.torques.joint_torques import Torques, fit_error_share, limit_metrics, torque_metrics, used_frames
from limbtorque.torques.spike_change import spike_change


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
