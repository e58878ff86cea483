"""Foot strikes and foot offs from markers, by two published methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray, runs
from limbtorque.recordings.recording import Event
from limbtorque.signals.derivatives import first_derivative
from limbtorque.signals.smoothers import Smoother, smooth_values

LOW_PASS = Smoother("butterworth", 2)
LOW_PASS_HZ = 7.0
LOW_HEEL_SHARE = 0.35  # of the heel's range: strikes are sought below it
MIN_STRIDE_S = 0.4  # shorter than a stride of walking or running
MIN_RANGE_SHARE = 1.0 / 3.0  # of the signal's range: prominence of a peak
STRIKE_LABELS = ("foot strike", "heel strike", "initial contact", "foot contact")
OFF_LABELS = ("foot off", "toe off", "foot lift")


@dataclass(frozen=True)
class FootEvents:
    """Times at which a foot strikes and leaves the ground.

    Attributes
    ----------
    strike, off : ndarray of shape (n,)
        Frames from the first one, in order, with fractions: a parabola through three frames gives each extreme.
    """

    strike: FloatArray
    off: FloatArray


NO_EVENTS = FootEvents(np.zeros(0), np.zeros(0))


def zeni_events(heel_ahead_m: FloatArray, toe_ahead_m: FloatArray, *, rate_hz: float) -> FootEvents:
    """Events from the foot's position ahead of the pelvis (Zeni et al. 2008).

    Parameters
    ----------
    heel_ahead_m, toe_ahead_m : ndarray of shape (n_frames,)
        Positions of heel and toe ahead of the pelvis, or of the hip, along the direction of walking, m; NaN where missing.
    rate_hz : float
        Frames per second.

    Returns
    -------
    FootEvents
        The heel is farthest ahead of the pelvis at the strike, the toe farthest behind it at the off.

    Notes
    -----
    Zeni, Richards and Higginson (2008), Gait & Posture 27, 710-714: the coordinate-based algorithm, also for treadmills.
    Extremes at the ends of the recording or of a gap are no events.
    """
    positions = np.stack([heel_ahead_m, -toe_ahead_m], axis=1)

    def found(part: FloatArray) -> FootEvents:
        smooth = _low_pass(part, rate_hz)
        return FootEvents(_peaks(smooth[:, 0], rate_hz), _peaks(smooth[:, 1], rate_hz))

    return _by_run(positions, found, rate_hz)


def oconnor_events(heel_m: FloatArray, toe_m: FloatArray, *, rate_hz: float) -> FootEvents:
    """Events from the foot's vertical velocity (O'Connor et al. 2007).

    Parameters
    ----------
    heel_m, toe_m : ndarray of shape (n_frames,)
        Heights of heel and toe, m; NaN where missing.
    rate_hz : float
        Frames per second.

    Returns
    -------
    FootEvents
        The middle of heel and toe falls fastest at the strike, among the extremes with a low heel, and rises fastest at
        the off.

    Notes
    -----
    O'Connor, Thorpe, O'Malley and Vaughan (2007), Gait & Posture 25, 469-474: heights are low-pass filtered at 7 Hz; a
    heel is low in the lowest 35 % of its range. Of several extremes while the heel stays low, the deepest is the strike.
    """
    from scipy.signal import find_peaks  # a slow import that most stages do not need

    heights = np.stack([heel_m, toe_m], axis=1)

    def found(part: FloatArray) -> FootEvents:
        smooth = _low_pass(part, rate_hz)
        velocity = first_derivative(smooth.mean(axis=1), rate_hz=rate_hz, accuracy=2)
        heel = smooth[:, 0]
        low = heel < heel.min() + LOW_HEEL_SHARE * np.ptp(heel)
        troughs, _ = find_peaks(-velocity)
        inside = [troughs[(troughs >= start) & (troughs < stop)] for start, stop in runs(low)]
        deepest = np.array([group[np.argmin(velocity[group])] for group in inside if len(group)], dtype=np.intp)
        return FootEvents(_between_frames(-velocity, deepest), _peaks(velocity, rate_hz))

    return _by_run(heights, found, rate_hz)


def file_strikes(events: Sequence[Event], side: str, *, rate_hz: float, first: int) -> FloatArray:
    """Foot strikes of one side that the file holds.

    Parameters
    ----------
    events : sequence of Event
        Events of the recording.
    side : {"left", "right"}
        Side of the foot.
    rate_hz : float
        Frames per second.
    first : int
        First analysed frame, from the start of the recording.

    Returns
    -------
    ndarray of shape (n,)
        Frames from the first analysed one, with fractions, in order.
    """
    times = [event.time_s for event in events if _is_strike(event, side)]
    return np.sort(np.array(times, dtype=float)) * rate_hz - first


def kind_of(name: str, side: str) -> str:
    """Foot strike or foot off that the name of an event of one side means.

    Examples
    --------
    >>> kind_of("Foot Strike", "left"), kind_of("Right Toe Off", "right"), kind_of("Foot Strike Left", "right")
    ('strike', 'off', '')
    """
    words = " ".join(name.casefold().replace("_", " ").split())
    for kind, labels in (("strike", STRIKE_LABELS), ("off", OFF_LABELS)):
        if any(words in (label, f"{side} {label}", f"{label} {side}") for label in labels):
            return kind
    return ""


def _is_strike(event: Event, side: str) -> bool:
    label, context = (" ".join(text.casefold().split()) for text in (event.label, event.context))
    return any(label in (f"{side} {name}", f"{name} {side}") or (label == name and context == side) for name in STRIKE_LABELS)  # fmt: skip


def _by_run(values: FloatArray, found: Callable[[FloatArray], FootEvents], rate_hz: float) -> FootEvents:
    """Events of every complete run of frames that is longer than a stride."""
    complete = ~np.isnan(values).any(axis=1)
    parts = [(start, found(values[start:stop])) for start, stop in runs(complete) if stop - start > MIN_STRIDE_S * rate_hz]  # fmt: skip
    if not parts:
        return NO_EVENTS
    strikes, offs = ([start + getattr(part, name) for start, part in parts] for name in ("strike", "off"))
    return FootEvents(np.concatenate(strikes), np.concatenate(offs))


def _low_pass(values: FloatArray, rate_hz: float) -> FloatArray:
    return smooth_values(values, rate_hz=rate_hz, cutoff_hz=LOW_PASS_HZ, smoother=LOW_PASS)


def _peaks(values: FloatArray, rate_hz: float) -> FloatArray:
    """Peaks that stand out, at least the shortest stride apart."""
    from scipy.signal import find_peaks

    spread = float(np.ptp(values))
    apart = max(round(MIN_STRIDE_S * rate_hz), 1)
    found, _ = find_peaks(values, distance=apart, prominence=MIN_RANGE_SHARE * spread or None)
    return _between_frames(values, found)


def _between_frames(values: FloatArray, peaks: np.ndarray) -> FloatArray:
    """Top of the parabola through each peak and its neighbours, in frames."""
    before, at, after = values[peaks - 1], values[peaks], values[peaks + 1]
    bend = before - 2.0 * at + after
    shift = np.divide(0.5 * (before - after), bend, where=bend < 0.0, out=np.zeros(len(peaks)))
    return np.asarray(peaks + shift)
