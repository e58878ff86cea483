"""All metrics of a trial over the frames that it is judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from limbtorque.motion.chain_motion import ChainMotion, frame_metrics, missing_shares
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
