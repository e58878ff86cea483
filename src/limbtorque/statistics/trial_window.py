"""The window of a trial: the frames of its curves, metrics and summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.recordings.recording import Event
from limbtorque.signals.derivatives import first_derivative
from limbtorque.statistics.time_normalisation import find_between, find_movement
from limbtorque.study.settings import Settings
from limbtorque.tables.trial_record import Window


def find_window(
    motion: ChainMotion, used: BoolArray, *, events: Sequence[Event], side: str, settings: Settings
) -> Window:
    """Window of a trial, by the section `ensembles` of its settings.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    used : ndarray of bool, shape (n_frames,)
        Frames of known torque without edge effects.
    events : sequence of Event
        Events of its recording.
    side : str
        Side of the limb.
    settings : Settings
        All options.

    Returns
    -------
    Window
        Missing, with the reason, where the recording has none or no curves are asked for.
    """
    options = settings.ensembles
    if not options.enabled:
        return _missing("no curves (ensembles.enabled)")
    if options.window == "trial":
        inside = motion.time_s[~motion.edge]
        if inside.size < 2:
            return _missing("no frame that is not at an end of the trial")
        return Window(float(inside[0]), float(inside[-1]))
    if options.window == "events":
        return find_between(
            events,
            start=options.start_event,
            end=options.end_event,
            side=side,
            time_s=motion.time_s,
            known=used,
            cycle=options.cycle,
        )
    velocity = first_derivative(
        motion.joint_m[:, -1], rate_hz=motion.rate_hz, accuracy=settings.differentiation.accuracy
    )
    speed_m_s = np.hypot(velocity[:, 0], velocity[:, 1])
    found = find_movement(motion.time_s, speed_m_s, onset_share=options.onset_share, max_rest_s=options.max_rest_s)
    if found.note and not events:
        advice = "this recording has no events: one cycle of it is start_s to end_s with window trial"
        return replace(found, note=f"{found.note}; {advice}")
    return found


def _missing(note: str) -> Window:
    return Window(float("nan"), float("nan"), note)
