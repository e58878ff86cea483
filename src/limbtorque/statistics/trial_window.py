"""The window of a trial: the frames of its curves, metrics and summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.ground.events import OFF, STRIKE, FoundEvents
from limbtorque.ground.foot import kind_of
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.recordings.recording import Event
from limbtorque.signals.derivatives import first_derivative
from limbtorque.statistics.cycles import cycle_times
from limbtorque.statistics.time_normalisation import find_between, find_movement, named
from limbtorque.study.options.ensembles import Ensembles
from limbtorque.study.settings import Settings
from limbtorque.tables.trial_record import Window


def find_window(
    motion: ChainMotion, used: BoolArray, *, events: Sequence[Event], side: str, settings: Settings
) -> Window:
    """Window of a trial, by the section `ensembles` of its settings.

    Parameters
    ----------
    motion : ChainMotion
        The motion, with the foot events that its markers and plates give.
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
        chosen, source = chosen_events(events, motion.load.foot_events, side=side, options=options)
        found = find_between(
            chosen,
            start=options.start_event,
            end=options.end_event,
            side=side,
            time_s=motion.time_s,
            known=used,
            cycle=options.cycle,
        )
        return replace(found, events=source, note=_with_advice(found.note, source, motion.load.foot_events, side))
    if options.window == "cycles":
        return _cycle(motion, used, options)
    velocity = first_derivative(
        motion.joint_m[:, -1], rate_hz=motion.rate_hz, accuracy=settings.differentiation.accuracy
    )
    speed_m_s = np.hypot(velocity[:, 0], velocity[:, 1])
    found = find_movement(motion.time_s, speed_m_s, onset_share=options.onset_share, max_rest_s=options.max_rest_s)
    if found.note and not events:
        advice = "this recording has no events; to choose a part of it by hand, give its start_s and end_s in the table of trials, and ensembles.window: trial"
        return replace(found, note=f"{found.note}; {advice}")
    return found


def chosen_events(
    events: Sequence[Event], found: FoundEvents, *, side: str, options: Ensembles
) -> tuple[Sequence[Event], str]:
    """Events of a window and their source, by `ensembles.events`.

    Parameters
    ----------
    events : sequence of Event
        Events of the recording.
    found : mapping of str to tuple of Event
        Foot strikes and offs by each method.
    side : str
        Side of the limb.
    options : Ensembles
        The section `ensembles`.

    Returns
    -------
    events : sequence of Event
        Those of the file, with its foot strikes and offs of this side replaced where another source is used.
    source : str
        ``file`` or the name of the method.

    Notes
    -----
    With `auto` another source is used only for names of foot strikes and offs of which the file has none for this side. No event is ever
    mixed from two sources.
    """
    names = [name.replace("{side}", side) for name in (options.start_event, options.end_event)]
    if options.events == "file" or not all(kind_of(name, side) for name in names):
        return events, "file"
    if options.events == "auto" and any(named(event, name, side) for event in events for name in names):
        return events, "file"
    source = "plates_and_markers" if options.events == "auto" else options.events
    kinds = {"strike": STRIKE, "off": OFF}
    renamed = [
        Event(name, side.capitalize(), event.time_s)
        for name in dict.fromkeys(names)
        for event in found.get(source, ())
        if event.label == kinds[kind_of(name, side)]
    ]
    return (renamed, source) if renamed or options.events != "auto" else (events, "file")


def _with_advice(note: str, source: str, found: FoundEvents, side: str) -> str:
    """Reason for a missing window, with the source that has foot strikes."""
    if source != "file":
        return note.replace("the recording has", f"{source.replace('_', ' ')} give")
    there = [name for name, each in found.items() if sum(event.label == STRIKE for event in each) > 1]
    if not note or not there:
        return note
    return f"{note}; markers and plates give {side} foot strikes: ensembles.events {there[0]}"


def _cycle(motion: ChainMotion, used: BoolArray, options: Ensembles) -> Window:
    """Cycle of a movement back and forth."""
    path_m = np.where(motion.edge[:, None], np.nan, motion.joint_m[:, -1] - motion.joint_m[:, 0])
    times = cycle_times(motion.time_s, path_m, start=options.cycle_start)
    if len(times) < 2:
        return _missing(
            f"no cycle: the endpoint is {options.cycle_start} {len(times)} times between the ends of the trial, expected two or more; check "
            "ensembles.cycle_start, or set ensembles.window to movement"
        )
    turns = [Event("turn", "", time) for time in times.tolist()]
    return find_between(turns, start="turn", end="turn", side="", time_s=motion.time_s, known=used, cycle=options.cycle)


def _missing(note: str) -> Window:
    return Window(float("nan"), float("nan"), note)
