"""The window of a trial: the frames of its curves, metrics and summaries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.errors import PART_OF_TRIAL
from limbtorque.ground.events import OFF, STRIKE, FoundEvents
from limbtorque.ground.foot import kind_of
from limbtorque.motion.chain_motion import MEASURED, NONE, ChainMotion, StatusArray
from limbtorque.motion.limb import Limb
from limbtorque.recordings.recording import Event
from limbtorque.signals.derivatives import first_derivative
from limbtorque.statistics.mean_and_spread import stance_frames
from limbtorque.statistics.wording import Percent
from limbtorque.study.options.outputs import Ensembles
from limbtorque.study.settings import Settings
from limbtorque.tables.study_columns import STANCE
from limbtorque.tables.trial_record import SAME_TIME_S, Window

_TIME = re.compile("_time(_low|_high)?_s$")


def _missing(note: str) -> Window:
    return Window(float("nan"), float("nan"), note)


def find_movement(time_s: ArrayLike, speed_m_s: ArrayLike, *, onset_share: float, max_rest_s: float = np.inf) -> Window:
    """Window of a movement, by a fraction of its peak speed.

    From the first rise above this fraction to the last fall below it.

    Parameters
    ----------
    time_s : array_like of shape (n_frames,)
        Time, s.
    speed_m_s : array_like of shape (n_frames,)
        Tangential speed of the endpoint, m/s.
    onset_share : float
        Share of the peak speed, between 0 and 1.
    max_rest_s : float, optional
        Longest time below that share between two parts of one movement, s.

    Returns
    -------
    Window
        Missing where the endpoint does not move, moves at the first or last frame, or rests in between (several movements).

    Notes
    -----
    Start and end are the times at which straight lines between frames cross the threshold.

    Examples
    --------
    >>> find_movement([0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 1.0, 0.0, 0.0], onset_share=0.25)
    Window(start_s=1.25, end_s=2.75, note='', cycle=1, n_cycles=1, events='')
    """
    time, speed = np.asarray(time_s, dtype=float), np.asarray(speed_m_s, dtype=float)
    known = ~np.isnan(speed)
    time, speed = time[known], speed[known]
    if not speed.size or speed.max() <= 0.0:
        return _missing("no movement: the endpoint does not move; check the endpoint's markers")
    threshold = onset_share * speed.max()
    above = np.flatnonzero(speed > threshold)
    first, last = int(above[0]), int(above[-1])
    for frame, at, what in ((first, 0, "first"), (last, speed.size - 1, "last")):
        if frame == at:
            share = f"{100.0 * speed[at] / speed.max():.0f} % of its peak speed"
            return _missing(
                f"no rest: at the {what} frame the endpoint has {share}, above ensembles.onset_share; for gait or other "
                "cycles set ensembles.window to events"
            )
    rests = [
        (_crossing(time, speed, int(a), threshold), _crossing(time, speed, int(b) - 1, threshold))
        for a, b in pairwise(above)
        if b - a > 1
    ]
    if longest := [rest for rest in rests if rest[1] - rest[0] > max_rest_s]:
        listed = ", ".join(f"{a:.2f} to {b:.2f} s" for a, b in longest[:5]) + (", ..." if len(longest) > 5 else "")
        return _missing(
            f"{len(longest) + 1} movements: the endpoint rests from {listed}, longer than ensembles.max_rest_s "
            f"({max_rest_s:g} s); select one movement with {PART_OF_TRIAL}, set ensembles.window to events (gait and other "
            "cycles), or raise ensembles.max_rest_s"
        )
    return Window(_crossing(time, speed, first - 1, threshold), _crossing(time, speed, last, threshold))


def _crossing(time: FloatArray, speed: FloatArray, frame: int, threshold: float) -> float:
    """Time at which the speed crosses the threshold between a frame and the next."""
    share = (threshold - speed[frame]) / (speed[frame + 1] - speed[frame])
    return float(time[frame] + share * (time[frame + 1] - time[frame]))


def find_between(
    events: Sequence[Event],
    *,
    start: str,
    end: str,
    side: Literal["left", "right"] | str,
    time_s: ArrayLike,
    known: ArrayLike,
    cycle: Literal["most_known", "first"] | int = "most_known",
) -> Window:
    """Window from a start event to the next end event.

    Parameters
    ----------
    events : sequence of Event
        Events of the recording.
    start, end : str
        Names: ``"Foot Strike Left"``, or ``"Foot Strike"`` for events that are not of the other side; ``{side}`` is
        replaced by the side. Case is ignored.
    side : {"left", "right"}
        Side of the limb.
    time_s : array_like of shape (n_frames,)
        Times of the analysed frames, s; events before the first and after the last one are ignored.
    known : array_like of bool, shape (n_frames,)
        Frames whose torques are known.
    cycle : {"most_known", "first"} or int
        Choice between several windows: the one with the largest share of known frames (the earlier of two equal ones),
        the first, or a number from 1.

    Returns
    -------
    Window
        Missing where either event is missing, or the end is after the last frame.

    Examples
    --------
    >>> strikes = [Event("Foot Strike", "Left", t) for t in (0.1, 1.2, 2.3)]
    >>> times = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    >>> on_plate = [False, False, True, True, True, True]
    >>> find_between(strikes, start="Foot Strike", end="Foot Strike", side="left", time_s=times, known=on_plate)
    Window(start_s=1.2, end_s=2.3, note='', cycle=2, n_cycles=2, events='')
    """
    start, end = (name.replace("{side}", side) for name in (start, end))
    times, seen = np.asarray(time_s, dtype=float), np.asarray(known, dtype=bool)
    first_s, last_s = float(times[0]), float(times[-1])
    starts = sorted(e.time_s for e in events if named(e, start, side) and e.time_s >= first_s - SAME_TIME_S)
    ends = sorted(e.time_s for e in events if named(e, end, side))
    there = ", ".join(dict.fromkeys(event.name for event in events)) or "none"
    if not starts:
        return _missing(
            f"no event {start!r} of this side at {first_s:g} s or later; the recording has {there}; check ensembles.start_event"
        )
    pairs = [(a, next((b for b in ends if b > a), np.inf)) for a in starts]
    inside = [(a, b) for a, b in pairs if b <= last_s + SAME_TIME_S]
    if not inside:
        if pairs[0][1] == np.inf:
            return _missing(
                f"no event {end!r} of this side after {starts[0]:g} s; the recording has {there}; check ensembles.end_event"
            )
        return _missing(
            f"the event {end!r} at {pairs[0][1]:g} s is after the last frame analysed, {last_s:g} s; "
            f"select another part of the trial with {PART_OF_TRIAL}"
        )
    if isinstance(cycle, int) and cycle > len(inside):
        return _missing(f"ensembles.cycle is {cycle}, but the trial has {len(inside)}; lower it")
    if cycle == "most_known":
        shares = [_share(seen[(times >= a - SAME_TIME_S) & (times <= b + SAME_TIME_S)]) for a, b in inside]
        number = int(np.argmax(shares))
    else:
        number = 0 if cycle == "first" else cycle - 1
    return Window(*inside[number], cycle=number + 1, n_cycles=len(inside))


def _share(known: BoolArray) -> float:
    return float(known.mean()) if known.size else 0.0


def named(event: Event, name: str, side: str) -> bool:
    """Return True if an event has this name, with no other side.

    Parameters
    ----------
    event : Event
        The event.
    name : str
        Name with its side, or without.
    side : {"left", "right"}
        Side of the limb.
    """
    wanted = " ".join(name.casefold().split())
    label, context = (" ".join(text.casefold().split()) for text in (event.label, event.context))
    other = "left" if side == "right" else "right"
    return wanted == f"{label} {context}".strip() or (wanted == label and context != other)


def resample(time_s: ArrayLike, values: ArrayLike, *, start_s: float, end_s: float, n_points: int = 101) -> FloatArray:
    """Values at evenly spaced points of a window.

    Parameters
    ----------
    time_s : array_like of shape (n_frames,)
        Time, s, rising.
    values : array_like of shape (n_frames, n_quantities)
        Values; NaN where missing.
    start_s, end_s : float
        Window, s: 0 and 100 %.
    n_points : int, optional
        Points, from 0 to 100 %.

    Returns
    -------
    ndarray of shape (n_points, n_quantities)
        Values; NaN beyond the frames and next to missing frames, but for the two ends of the window.

    Notes
    -----
    Cubic splines (not-a-knot) through every run of known frames. Their error inside is at most ``5/384 h^4 x''''``, that
    of straight lines ``1/8 h^2 x''``: 0.03 % and 1.8 % of a sine of 6 Hz at 100 frames per second. A run of two frames is a
    line. Nothing is smoothed: points farther apart than the frames are samples, not means. An event lies between two
    frames, and a load may be known up to it only: the first and the last point may be less than a frame beyond the known
    frames, where the spline is continued.
    """
    from scipy.interpolate import make_interp_spline  # a slow import that most stages do not need

    time, matrix = np.asarray(time_s, dtype=float), np.asarray(values, dtype=float)
    points = np.linspace(start_s, end_s, n_points)
    out = np.full((n_points, matrix.shape[1]), np.nan)
    beyond = np.full(n_points, SAME_TIME_S)
    beyond[[0, -1]] = max(float(np.diff(time).max(initial=0.0)) - SAME_TIME_S, SAME_TIME_S)
    alike: dict[bytes, list[int]] = {}  # one spline for all quantities known in the same frames
    for k, known_frames in enumerate(np.ascontiguousarray(~np.isnan(matrix).T)):
        alike.setdefault(known_frames.tobytes(), []).append(k)
    for pattern, columns in alike.items():
        for a, b in runs(np.frombuffer(pattern, dtype=bool)):
            inside = np.flatnonzero((points >= time[a] - beyond) & (points <= time[b - 1] + beyond))
            if not inside.size:
                continue
            at = points[inside]
            known = matrix[a:b, columns]
            degree = min(3, b - a - 1)
            out[np.ix_(inside, np.array(columns))] = (
                make_interp_spline(time[a:b], known, k=degree)(at) if degree else known
            )
    return out


Start = Literal["rearmost", "foremost", "highest", "lowest"]

PROMINENCE = 0.5  # of the range: an extreme stands out by so much on both sides
SIGNS: dict[str, tuple[int, float]] = {  # coordinate in the plane, and sign of its peaks
    "foremost": (0, 1.0),
    "rearmost": (0, -1.0),
    "highest": (1, 1.0),
    "lowest": (1, -1.0),
}


def cycle_times(time_s: FloatArray, path_m: FloatArray, *, start: Start) -> FloatArray:
    """Times at which the cycles of a movement begin.

    Parameters
    ----------
    time_s : ndarray of shape (n_frames,)
        Time, s.
    path_m : ndarray of shape (n_frames, 2)
        Endpoint relative to the first joint in the plane, x forward and y up, m; NaN where missing.
    start : {"rearmost", "foremost", "highest", "lowest"}
        Turning point at which a cycle begins.

    Returns
    -------
    ndarray of shape (n,)
        Times, s, between frames by a parabola through three of them; none at the ends of the recording or of a gap.

    Notes
    -----
    Peaks of that coordinate count that stand out by at least half of its range (2nd to 98th percentile) from the valleys on both sides: the
    topographic prominence of `scipy.signal.find_peaks`. Turning points of hand or foot are the usual marks of cycles: the rearmost hand
    before a push (Vanlandewijck et al. 2001, Sports Medicine 31, 339-367), the pedal's top dead centre.

    Examples
    --------
    >>> time_s = np.arange(0.0, 3.1, 0.01)
    >>> circle = 0.17 * np.column_stack([np.sin(2 * np.pi * time_s), np.cos(2 * np.pi * time_s)])
    >>> cycle_times(time_s, circle, start="rearmost").round(3).tolist()
    [0.75, 1.75, 2.75]
    """
    from scipy.signal import find_peaks  # a slow import that most stages do not need

    axis, sign = SIGNS[start]
    values = sign * path_m[:, axis]
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(0)
    least = PROMINENCE * float(np.subtract(*np.percentile(values[known], [98.0, 2.0])))
    found = []
    for first, stop in runs(known):
        peaks, _ = find_peaks(values[first:stop], prominence=least or None)
        found += [_top(time_s, values, first + int(peak)) for peak in peaks] if least > 0.0 else []
    return np.array(found)


def _top(time_s: FloatArray, values: FloatArray, peak: int) -> float:
    """Time of the vertex of the parabola through a peak and its neighbours."""
    before, at, after = values[peak - 1 : peak + 2]
    bend = before - 2.0 * at + after
    shift = 0.5 * (before - after) / bend if bend < 0.0 else 0.0
    return float(time_s[peak] + shift * (time_s[peak + 1] - time_s[peak]))


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
            return _missing("no frame free of edge effects")
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
        advice = f"this recording has no events; to select a part of it, give {PART_OF_TRIAL} in the table of trials, and ensembles.window: trial"
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
    """Reason for a missing window, with a source that has foot strikes."""
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


def summary_windows(motion: ChainMotion, window: Window | None, limb: Limb, settings: Settings) -> dict[str, BoolArray]:
    """Frames of each summary window of a trial, by name.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    window : Window or None
        The window of its curves; missing where it has none.
    limb, settings
        Chain and load; the section `ensembles`.

    Returns
    -------
    dict of str to ndarray of bool, shape (n_frames,)
        ``movement``, ``events`` or ``trial``, as `ensembles.window`; ``trial`` also where the window is missing: all frames
        from the first to the last one without edge effects. Then ``stance``: the frames of that window in which the limb
        meets the ground, whether or not its force is known; not there without any. Where plates measure the step, it begins
        and ends with the first and last sample above `plates.threshold_n` before any filter, which spreads a load over its ends.
    """
    options = settings.ensembles
    there = window is not None and not window.note
    inside = _without_ends(~motion.edge)
    if window is not None:
        inside = window.judged(motion.time_s, inside)
    found: dict[str, BoolArray] = {options.window if there else "trial": inside}
    if settings.chain(limb.chain).ground_contact and not limb.load:
        cycle = there and Percent(options.window, options.start_event, options.end_event).cycle
        stance = stance_frames(_contact(motion), inside, cycle=cycle)
        found |= {STANCE: stance} if stance.any() else {}
    return found


def known_cycle(motion: ChainMotion, known: BoolArray, *, side: str) -> BoolArray:
    """Frames of the foot's cycle with most known frames, by plates and markers.

    Parameters
    ----------
    motion : ChainMotion
        The motion, with the foot events that its markers and plates give.
    known : ndarray of bool, shape (n_frames,)
        Known frames.
    side : str
        Side of the limb.

    Returns
    -------
    ndarray of bool, shape (n_frames,)
        From foot strike to foot strike, or foot off to foot off; all False without two of either.
    """
    events, time_s = motion.load.foot_events.get("plates_and_markers", ()), motion.time_s
    cycles = [
        find_between(events, start=kind, end=kind, side=side, time_s=time_s, known=known) for kind in (STRIKE, OFF)
    ]
    frames = [cycle.judged(time_s, np.ones(len(time_s), dtype=bool)) for cycle in cycles if not cycle.note]
    return max(frames, key=lambda cycle: _share(known[cycle]), default=np.zeros(len(time_s), dtype=bool))


def _contact(motion: ChainMotion) -> StatusArray:
    """Status of the load by frame, 0 also outside the loaded samples of each step."""
    status, time_s = motion.load.status.copy(), motion.time_s
    events = motion.load.foot_events.get("plates", ())
    for start, stop in runs(status != NONE) if events else ():
        step, times = status[start:stop], time_s[start:stop]
        near = [event for event in events if times[0] - SAME_TIME_S <= event.time_s <= times[-1] + 1.0 / motion.rate_hz]
        begins = step[0] != MEASURED or start == 0  # before it, or with the foot beside the plate
        ends = step[-1] != MEASURED or stop == len(status)
        first = min(
            (event.time_s for event in near if event.label == STRIKE), default=-np.inf if begins or near else np.inf
        )
        last = max((event.time_s for event in near if event.label == OFF), default=np.inf)
        outside = (times < first - SAME_TIME_S) & (not begins) | (times > last + SAME_TIME_S) & (not ends)
        step[outside & (step == MEASURED)] = NONE
    return status


def window_spans(
    motion: ChainMotion, window: Window | None, windows: Mapping[str, BoolArray]
) -> dict[str, tuple[float, float]]:
    """Start and end of each window of a summary, s from the first frame.

    For the window of the curves its exact times, otherwise the times of first and last frame.
    """
    spans = {}
    for name, inside in windows.items():
        times = motion.time_s[inside]
        spans[name] = (float(times[0]), float(times[-1])) if times.size else (float("nan"), float("nan"))
        if window is not None and not window.note and name != STANCE:
            spans[name] = window.start_s, window.end_s
    return spans


def in_window(row: Mapping[str, Any], spans: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Summary row with times from the window's start, also in percent.

    A window of one frame has no percent.

    Parameters
    ----------
    row : mapping
        Row with its window, and times from the first frame of the recording.
    spans : mapping of str to (float, float)
        Result of `window_spans`.

    Examples
    --------
    >>> in_window({"window": "stance", "peak_time_s": 1.5}, {"stance": (1.0, 3.0)})
    {'window': 'stance', 'peak_time_s': 0.5, 'peak_time_percent': 25.0, 'window_start_s': 1.0}
    >>> in_window({"window": "trial", "peak_time_s": 1.5}, {"trial": (1.5, 1.5)})
    {'window': 'trial', 'peak_time_s': 0.0, 'peak_time_percent': nan, 'window_start_s': 1.5}
    """
    start_s, end_s = spans[row["window"]]
    length_s = end_s - start_s or float("nan")
    times = {name: row[name] - start_s for name in row if _TIME.search(name)}
    percent = {
        f"{name[:-2]}_percent": 100.0 * time_s / length_s for name, time_s in times.items() if name.endswith("_time_s")
    }
    return {**row, **times, **percent, "window_start_s": start_s}


def _without_ends(whole: BoolArray) -> BoolArray:
    """Mask of all frames from the first to the last in a mask.

    >>> _without_ends(np.array([False, True, False, True, False])).tolist()
    [False, True, True, True, False]
    """
    return np.asarray(np.maximum.accumulate(whole) & np.maximum.accumulate(whole[::-1])[::-1])
