"""Notes on contents of a recording that no laboratory writes on purpose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from limbtorque.recordings.recording import Recording

CONTEXTS = ("", "left", "right", "general")
SKEW_M = 0.005  # of the corners of a plate
STEP_EVENTS = re.compile("foot|heel|toe", re.IGNORECASE)
LEAP_N, LEAP_N_S2 = (
    100.0,
    1e8,
)  # of a sample from the middle of its neighbours, and times the squared rate; recorded jumps reach a quarter
LEAP_FACTOR = 10.0  # over the median of all


def doubts(recording: Recording) -> tuple[str, ...]:
    """Notes on names, events and forces that are probably damaged.

    Parameters
    ----------
    recording : Recording
        The recording.

    Returns
    -------
    tuple of str
        On control characters, channels with one name, events outside the trial, foot events without a side or at one time, corners of no
        rectangle, and single samples of a plate that leave their neighbours.
    """
    return (*_of_names(recording), *_of_events(recording), *_of_plates(recording))


def _of_names(recording: Recording) -> Iterator[str]:
    of_events = [text for event in recording.events for text in (event.label, event.context)]
    odd = [name for name in (*recording.labels, *recording.analog_labels, *of_events) if not name.isprintable()]
    if odd:
        yield f"names with control characters: {', '.join(map(ascii, odd))}; the file is damaged there"
    if len(recording.analog_labels) > 1 and len({*recording.analog_labels}) == 1:
        yield f"all {len(recording.analog_labels)} analog channels are named {recording.analog_labels[0]!r}"


def _of_events(recording: Recording) -> Iterator[str]:
    duration_s = recording.n_frames / recording.rate_hz
    if outside := [e for e in recording.events if not -0.5 / recording.rate_hz <= e.time_s <= duration_s]:
        listed = ", ".join(f"{event.label} at {event.time_s:.3f} s" for event in outside)
        yield f"{len(outside)} events lie outside the {duration_s:.3f} s of the trial: {listed}"
    steps = [event for event in recording.events if STEP_EVENTS.search(event.label)]
    odd = dict.fromkeys(event.context for event in steps if event.context.casefold() not in CONTEXTS)
    if odd:
        yield f"foot events of {', '.join(map(repr, odd))}, which is no side: write Left or Right into EVENT:CONTEXTS"
    for one, other in combinations(steps, 2):
        if one.context == other.context and abs(one.time_s - other.time_s) < 1.0 / recording.rate_hz:
            yield f"{one.label} and {other.label} {one.context} are both at {one.time_s:.3f} s; correct the events"
            return


def _of_plates(recording: Recording) -> Iterator[str]:
    for plate in recording.force_plates:
        force_n = np.nan_to_num(plate.force_n)
        first, second, third, fourth = plate.corners_m
        skew_m = max(
            np.linalg.norm(first + third - second - fourth) / 2.0,
            abs(np.linalg.norm(first - third) - np.linalg.norm(second - fourth)),
        )
        if skew_m > SKEW_M:
            yield f"plate {plate.number}: its corners are {1e3 * skew_m:.0f} mm from a rectangle; correct them in the file"
        away_n = np.linalg.norm(force_n[1:-1] - 0.5 * (force_n[:-2] + force_n[2:]), axis=1)
        if len(away_n) and away_n.max() > max(LEAP_N, LEAP_N_S2 / plate.rate_hz**2, LEAP_FACTOR * np.median(away_n)):
            at_s = (1 + int(away_n.argmax())) / plate.rate_hz
            yield f"plate {plate.number}: the force at {at_s:.3f} s is {away_n.max():.0f} N from its neighbours; the file is damaged there"
