"""Foot strikes and foot offs of a trial, from plates and markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.ground.foot import MAX_LEAD_S, MAX_SLOW_S, Foot, FootEvents
from limbtorque.ground.plates import Reading
from limbtorque.recordings.recording import Event

STRIKE, OFF = "Foot Strike", "Foot Off"
SAME_STEP_S = 0.15  # between the event of the markers and the flank of the plate, of one step (docs/events.md)

FoundEvents = Mapping[str, tuple[Event, ...]]  # by method


def plate_events(
    readings: Sequence[Reading], own: Sequence[BoolArray], uncertain: BoolArray, *, threshold_n: float, up: FloatArray
) -> FootEvents:
    """Onset and end of force in the steps measured by plates.

    Parameters
    ----------
    readings : sequence of Reading
        Signals of the plates.
    own : sequence of ndarray of bool, shape (n_frames,)
        Frames in which each plate measures this foot alone.
    uncertain : ndarray of bool, shape (n_frames,)
        Frames in which the foot may stand elsewhere, or load a plate with an unknown force.
    threshold_n : float
        Vertical force of a loaded plate, N.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    FootEvents
        First and last loaded sample of each step, of all its plates together; none where the step begins or ends in an uncertain frame or at an end of the
        recording.
    """
    last = len(uncertain) - 1
    strikes, offs = [], []
    for start, stop in runs(np.any([*own, np.zeros(last + 1, dtype=bool)], axis=0)):
        loaded = [np.zeros(0)]  # samples of the step above the threshold, in frames
        for reading, mine in zip(readings, own, strict=True):
            if mine[start:stop].any():
                samples = slice(start * reading.per_frame, stop * reading.per_frame)
                above = reading.wrench[samples, :3] @ up > threshold_n
                loaded.append((samples.start + np.flatnonzero(above)) / reading.per_frame)
        step = np.concatenate(loaded)
        if len(step) and step.min() >= 1.0 and not uncertain[int(step.min()) - 1]:
            strikes.append(float(step.min()))
        if len(step) and step.max() < last and not uncertain[min(int(step.max()) + 1, last)]:
            offs.append(float(step.max()))
    return FootEvents(np.array(strikes), np.array(offs))


def foot_events(foot: Foot, plates: FootEvents, *, rate_hz: float, first: int) -> dict[str, tuple[Event, ...]]:
    """Events of one foot by each method.

    Parameters
    ----------
    foot : Foot
        The foot, with its contacts by speed and its strikes by the markers.
    plates : FootEvents
        Flanks of the force, from `plate_events`.
    rate_hz : float
        Frames per second.
    first : int
        First analysed frame, from the start of the recording.

    Returns
    -------
    dict of str to tuple of Event
        ``plates``; ``zeni_2008`` and ``oconnor_2007`` by the markers; ``plates_and_markers``: the flank of a plate where one
        measures the step, else the strike by O'Connor et al. (2007) and the off by Zeni et al. (2008), which have the
        smallest errors (docs/events.md).

    Notes
    -----
    Of the markers' events those count at which a landmark of the foot becomes slow or fast: a foot that sways or is lifted
    on the spot has extremes, too. Without the direction of walking there are none by Zeni; the off is then O'Connor's.
    """
    begins, ends = (np.array([run[k] for run in runs(foot.contact)], dtype=float) for k in (0, 1))
    zeni, oconnor = (
        FootEvents(
            _near(events.strike, begins[begins > 0], MAX_LEAD_S * rate_hz, MAX_SLOW_S * rate_hz),
            _near(events.off, ends[ends < len(foot.contact)], MAX_SLOW_S * rate_hz, MAX_SLOW_S * rate_hz),
        )
        for events in (foot.strikes.zeni, foot.strikes.oconnor)
    )
    off = zeni.off if len(zeni.off) else oconnor.off
    apart = SAME_STEP_S * rate_hz
    merged = FootEvents(_first_of(plates.strike, oconnor.strike, apart), _first_of(plates.off, off, apart))
    found = {"plates_and_markers": merged, "plates": plates, "zeni_2008": zeni, "oconnor_2007": oconnor}
    return {name: _named(events, foot.side, rate_hz, first) for name, events in found.items()}


def _near(events: FloatArray, edges: FloatArray, before: float, after: float) -> FloatArray:
    """Nearest event within given numbers of frames before and after each edge."""
    found = []
    for edge in edges:
        near = events[(events >= edge - before) & (events <= edge + after)]
        found += [float(near[np.argmin(np.abs(near - edge))])] if len(near) else []
    return np.unique(np.array(found, dtype=float))


def _first_of(better: FloatArray, others: FloatArray, apart: float) -> FloatArray:
    """Merge events of two methods, keeping the better method's where both have one."""
    alone = [event for event in others if not (np.abs(better - event) <= apart).any()]
    return np.sort(np.concatenate([better, np.array(alone, dtype=float)]))


def _named(events: FootEvents, side: str, rate_hz: float, first: int) -> tuple[Event, ...]:
    named = [
        Event(label, side.capitalize(), (float(frame) + first) / rate_hz)
        for label, frames in ((STRIKE, events.strike), (OFF, events.off))
        for frame in frames
    ]
    return tuple(sorted(named, key=lambda event: event.time_s))
