"""Foot contact: ends of the foot, contacts, strikes and offs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, ignore_short, lengths, runs
from limbtorque.recordings.recording import Event, ForcePlate
from limbtorque.signals.derivatives import first_derivative
from limbtorque.signals.smoothers import Smoother, smooth_values

MAX_CONTACT_SPEED_M_S = 1.0  # of a contact landmark of a foot on the ground (docs/events.md)
MAX_CONTACT_HEIGHT_M = 0.04  # of an end of the foot above its lowest position on a plate, on the ground
EDGE_MARGIN_M = 0.04  # heel and toe markers project beyond the sole, and so beyond the edge of its plate
MIN_CONTACT_S = 0.06  # of a contact, and of an interruption; on the floor contact ends this long after the foot is fast

LOW_PASS = Smoother("butterworth", 2)
LOW_PASS_HZ = 7.0
LOW_HEEL_SHARE = 0.35  # of the heel's range: strikes are sought below it
MIN_STRIDE_S = 0.4  # shorter than a stride of walking or running
MIN_RANGE_SHARE = 1.0 / 3.0  # of the signal's range: prominence of a peak
STRIKE_LABELS = ("foot strike", "heel strike", "initial contact", "foot contact")
OFF_LABELS = ("foot off", "toe off", "foot lift")
# Errors of events in docs/events.md: markers against the rising flank of a plate's force
MAX_LEAD_S = 0.12  # a strike by Zeni et al. (2008) is at most this long before the foot lands
MAX_SLOW_S = 0.22  # a landmark is slow at most this long before and after the contact: in walking at 0.4 m/s
START_MARGIN_S = 0.01  # a foot may be loaded this long before a landmark is slow
SAME_FRAME = 1e-4  # of a frame: events at frames are rounded to a microsecond
AGREEMENT_S = 0.04  # an event of the file is at most this much later than the strike by O'Connor et al. (2007)


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
    """Foot strikes of one side stored in the file.

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
    times = []
    for event in events:
        label, context = (" ".join(text.casefold().split()) for text in (event.label, event.context))
        sided = {f"{side} {name}" for name in STRIKE_LABELS} | {f"{name} {side}" for name in STRIKE_LABELS}
        if label in sided or (label in STRIKE_LABELS and context == side):
            times.append(event.time_s)
    return np.sort(np.array(times, dtype=float)) * rate_hz - first


def kind_of(name: str, side: str) -> str:
    """Foot strike or foot off, from the name of an event.

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
    """Vertex of the parabola through each peak and its neighbours, in frames."""
    before, at, after = values[peaks - 1], values[peaks], values[peaks + 1]
    bend = before - 2.0 * at + after
    shift = np.divide(0.5 * (before - after), bend, where=bend < 0.0, out=np.zeros(len(peaks)))
    return np.asarray(peaks + shift)


@dataclass(frozen=True)
class Strikes:
    """Foot strikes and foot offs of one foot by source, in analysed frames.

    Attributes
    ----------
    file : ndarray of shape (n,)
        Strikes that the file holds.
    zeni, oconnor : FootEvents
        Strikes and offs by Zeni et al. (2008) and by O'Connor et al. (2007).
    """

    file: FloatArray = field(default_factory=lambda: np.zeros(0))
    zeni: FootEvents = NO_EVENTS
    oconnor: FootEvents = NO_EVENTS


@dataclass(frozen=True)
class Foot:
    """Foot positions over time, in the laboratory frame.

    Attributes
    ----------
    back_m, front_m : ndarray of shape (n_frames, 3)
        Ends of the line of the foot: heel (or ankle) and front, m.
    contact : ndarray of bool, shape (n_frames,)
        True where it may stand on the ground: by its speed (`find_foot`), from its landing on (`landed`).
    side : str
        Side of the body, for the notes.
    strikes : Strikes
        Foot strikes by source.
    landings : tuple of (int, str)
        First frame of each contact and the source of that frame, where contacts begin with the landing.
    """

    back_m: FloatArray
    front_m: FloatArray
    contact: BoolArray
    side: str = ""
    strikes: Strikes = Strikes()
    landings: tuple[tuple[int, str], ...] = ()

    @property
    def unseen(self) -> BoolArray:
        """Frames in which neither end of the foot is known."""
        return np.asarray(np.isnan(self.front_m).any(axis=1) & np.isnan(self.back_m).any(axis=1))


def slow_frames(
    positions_m: Iterable[FloatArray], *, rate_hz: float, belt_m_s: FloatArray, limit_m_s: float
) -> BoolArray:
    """Mask of frames with a slow landmark of the foot.

    Parameters
    ----------
    positions_m : iterable of ndarray of shape (n_frames, 3)
        Positions of the landmarks, m; a missing sample is not slow.
    rate_hz : float
        Frames per second.
    belt_m_s : ndarray of shape (3,)
        Velocity of the ground: zero, or that of a treadmill's belt, m/s.
    limit_m_s : float
        Speed relative to the ground below which a landmark is slow, m/s.
    """
    velocities = (first_derivative(each, rate_hz=rate_hz, accuracy=2) for each in positions_m)
    return np.asarray(np.any([lengths(velocity - belt_m_s) < limit_m_s for velocity in velocities], axis=0))


def find_foot(
    contact_m: Mapping[str, FloatArray],
    *,
    ends: tuple[FloatArray, FloatArray],
    rate_hz: float,
    belt_m_s: FloatArray,
    side: str = "",
) -> Foot:
    """Find frames of possible ground contact, in which a landmark of the foot is slow.

    Parameters
    ----------
    contact_m : mapping of str to ndarray of shape (n_frames, 3)
        Positions of the landmarks that show contact, m; a missing sample shows none.
    ends : pair of ndarray of shape (n_frames, 3)
        Back and front of the foot's line, m.
    rate_hz : float
        Frames per second.
    belt_m_s : ndarray of shape (3,)
        Velocity of the ground: zero, or that of a treadmill's belt, m/s.
    side : str, optional
        Side of the body, for the notes.

    Returns
    -------
    Foot
        The foot and its contacts.

    Notes
    -----
    Height is not used: stairs, kerbs and ramps differ in it. A foot held still in the air counts as standing, and its
    torques are left empty rather than computed without the ground; `plates.assignment: none` excludes the ground.
    """
    limit = MAX_CONTACT_SPEED_M_S
    contact = slow_frames(contact_m.values(), rate_hz=rate_hz, belt_m_s=belt_m_s, limit_m_s=limit)
    return Foot(ends[0], ends[1], ignore_short(contact, round(MIN_CONTACT_S * rate_hz)), side)


def landed(foot: Foot, *, rate_hz: float) -> Foot:
    """Begin each contact of a foot where it lands.

    Parameters
    ----------
    foot : Foot
        The foot, with its strikes.
    rate_hz : float
        Frames per second.

    Returns
    -------
    Foot
        The foot, its contacts from the landing on.

    Notes
    -----
    A landmark is slow before the foot lands. The file's event is the last moment without load, unless it is more than
    `AGREEMENT_S` later than the strike by O'Connor et al. (2007) or `MAX_LEAD_S` later than that by Zeni et al. (2008). Without an event the contact begins with
    the later of the slow landmark and the strike by Zeni et al. (2008), both early in all measured stances, less
    `START_MARGIN_S`.
    """
    contact, landings = np.zeros_like(foot.contact), []
    for start, stop in runs(foot.contact):
        first, source = _landing(start, stop, foot.strikes, rate_hz) if start else (start, "")
        contact[first:stop] = True
        landings.append((first, source))
    return replace(foot, contact=contact, landings=tuple(landings))


def _landing(start: int, stop: int, strikes: Strikes, rate_hz: float) -> tuple[int, str]:
    """First possibly loaded frame of a contact."""
    file, zeni, oconnor = (
        _nearest(frames, start, rate_hz) for frames in (strikes.file, strikes.zeni.strike, strikes.oconnor.strike)
    )
    latest = np.fmin(oconnor + AGREEMENT_S * rate_hz, np.fmax(start, zeni) + MAX_LEAD_S * rate_hz)
    if file < stop - 1 and file <= latest:
        return int(np.floor(file + SAME_FRAME)) + 1, "the event of the file"
    slow = np.fmax(start, zeni) if zeni < stop - 1 else start
    first = max(int(np.floor(slow - START_MARGIN_S * rate_hz + SAME_FRAME)), 0)
    if np.isnan(file):
        return first, "the markers"
    return first, f"the markers (the event of the file is {(file - slow) / rate_hz:.3f} s later, not used)"


def _nearest(frames: FloatArray, start: int, rate_hz: float) -> float:
    """Event nearest to the frame in which a landmark becomes slow; NaN if none."""
    near = frames[(frames >= start - MAX_LEAD_S * rate_hz) & (frames <= start + MAX_SLOW_S * rate_hz)]
    return float(near[np.argmin(np.abs(near - start))]) if len(near) else np.nan


def centre_of_pressure(wrench: FloatArray, *, up: FloatArray, level_m: float) -> FloatArray:
    """Point at the height `level_m` about which a wrench has no horizontal moment.

    Parameters
    ----------
    wrench : ndarray of shape (n, 6)
        Force in N and moment about the laboratory's origin in N m.
    up : ndarray of shape (3,)
        Unit vector upwards.
    level_m : float
        Height of the working surface along `up`, m.

    Returns
    -------
    ndarray of shape (n, 3)
        Centre of pressure, m; NaN without vertical force.
    """
    force, moment = wrench[:, :3], wrench[:, 3:]
    vertical = force @ up
    loaded = np.abs(vertical) > 1e-9
    per_newton = np.divide(1.0, vertical, where=loaded, out=np.full(len(vertical), np.nan))[:, None]
    horizontal = -(moment @ _cross_matrix(up)) * per_newton
    slope = (force - vertical[:, None] * up) * per_newton
    return np.asarray(horizontal + level_m * (up + slope))


def distance_m(pressure_m: FloatArray, foot: Foot, part: slice, up: FloatArray) -> float:
    """Median horizontal distance of the centre of pressure from the line of the foot."""
    flat = np.eye(3) - np.outer(up, up)
    back, front = foot.back_m[part] @ flat, foot.front_m[part] @ flat
    line, point = front - back, pressure_m @ flat - back
    along = np.clip((point * line).sum(axis=1) / np.maximum((line**2).sum(axis=1), 1e-12), 0.0, 1.0)
    distance = np.linalg.norm(point - along[:, None] * line, axis=1)
    known = distance[~np.isnan(distance)]
    return float(np.median(known)) if len(known) else np.nan


def inside(plates: Sequence[ForcePlate], foot: Foot, part: slice, up: FloatArray) -> BoolArray:
    """Return True where each standing end of the foot is above one of the plates.

    A lifted end (heel-off, toe-down) is ignored; it may be beyond the edge.
    """
    result = np.ones(len(foot.contact[part]), dtype=bool)
    for points in (foot.back_m[part], foot.front_m[part]):
        result &= ~standing(points, up) | above(plates, points, up, margin_m=EDGE_MARGIN_M)
    return result


def standing(points_m: FloatArray, up: FloatArray) -> BoolArray:
    """Return True where an end of the foot is low, near its lowest position."""
    height = points_m @ up
    lowest = np.nanmin(height) if not np.isnan(height).all() else np.nan
    return np.asarray(height < lowest + MAX_CONTACT_HEIGHT_M)


def above(plates: Sequence[ForcePlate], points_m: FloatArray, up: FloatArray, *, margin_m: float = 0.0) -> BoolArray:
    """Return True where points are above one of the plates, or within a margin of it."""
    result = np.zeros(len(points_m), dtype=bool)
    for plate in plates:
        outward, edges = _edges(tuple(plate.corners_m.ravel().tolist()), tuple(up.tolist()))
        result |= (points_m @ outward - edges < margin_m).all(axis=1)
    return result


@functools.lru_cache(maxsize=64)
def _edges(corners: tuple[float, ...], upwards: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
    """Outward normals of a plate's edges, (3, 4), and their offsets along them, m."""
    corners_m, up = np.array(corners).reshape(-1, 3), np.array(upwards)
    along = np.roll(corners_m, -1, axis=0) - corners_m
    outward = along @ _cross_matrix(up)
    outward *= np.sign(np.einsum("ij,ij->i", outward, corners_m - corners_m.mean(axis=0)))[:, None]
    outward /= np.maximum(lengths(outward), 1e-12)[:, None]
    return outward.T, np.einsum("ij,ij->i", corners_m, outward)


def _cross_matrix(up: FloatArray) -> FloatArray:
    """Matrix whose product with a row vector is its cross product with `up`."""
    x, y, z = up
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
