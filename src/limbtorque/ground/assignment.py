"""Assignment of a plate's load to a foot, by position and force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, beyond, runs, widened_after
from limbtorque.ground.foot import (
    EDGE_MARGIN_M,
    MAX_LEAD_S,
    MAX_SLOW_S,
    MIN_CONTACT_S,
    Foot,
    above,
    centre_of_pressure,
    distance_m,
    inside,
    standing,
)
from limbtorque.ground.plates import Reading
from limbtorque.recordings.recording import ForcePlate
from limbtorque.study.options.reading import Plates

MAX_DISTANCE_M = 0.10  # of the centre of pressure from the line of the foot

EDGE_SHARE = 0.1  # of the frames: a standing end of the foot may be beyond the plate's edge
LIMBS_SHARE = (
    0.5  # of the body's mass: all but the trunk (Winter 2009), whose speed changes as much as the hip's, not with it
)
IDLE_SHARE = 0.1  # of the frames: a plate below a foot that does not load it
BODY_SHARE = (0.9, 1.1)  # of the force that carries the body: mean over single support
MAX_DELAY_S = 0.5  # between the onset of the force and a strike of the markers: beyond it they are not of one step
PUSH_S = 0.12  # a foot still pushes while its heel and toes are fast: 0.1 s in a recorded walk
LATE_S = 0.04  # later than the strike of the markers: the foot landed beside the plate


@dataclass(frozen=True)
class Stretch:
    """Analysed frames of a recording.

    Attributes
    ----------
    frames : slice
        The frames, counted from 0.
    first_frame : int
        Number of the first of them in the original capture.
    rate_hz : float
        Frames per second.
    """

    frames: slice
    first_frame: int
    rate_hz: float

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return int(self.frames.stop - self.frames.start)

    def named(self, start: int, stop: int) -> str:
        """Return first and last frame numbers of the original capture."""
        return f"frames {self.first_frame + start}-{self.first_frame + stop - 1}"


@dataclass(frozen=True)
class Feet:
    """Both feet, and the force that supports the body.

    Attributes
    ----------
    own : Foot
        The foot in question.
    other : Foot or None
        The other foot, where it is mapped: without it, two feet on one plate are not seen.
    body_n : ndarray of shape (n_frames,) or None
        Body mass times the sum of gravity and the hip's upward acceleration, N; None where it is not known.
    weight_n : float or None
        Body mass times gravity, N.
    """

    own: Foot
    other: Foot | None = None
    body_n: FloatArray | None = None
    weight_n: float | None = None


@dataclass(frozen=True)
class Assignment:
    """Frames of a plate by use for one foot.

    Attributes
    ----------
    own : ndarray of bool, shape (n_frames,)
        The plate measures this foot alone.
    unusable : ndarray of bool, shape (n_frames,)
        This foot loads the plate, and its force is unknown.
    partly : ndarray of bool, shape (n_frames,)
        Of these, the foot is over the plate's edge: the plate measures a part of its force.
    other_unknown : ndarray of bool, shape (n_frames,)
        The plate is used while the other foot's position is unknown.
    beside : ndarray of bool, shape (n_frames,)
        Frames of the same step before or after `own` in which the foot may stand beside the plate.
    timely : ndarray of bool, shape (n_frames,)
        Frames just before and after `own`, where the force begins and ends as the markers show it: the foot is not loaded.
    after_file_s, after_oconnor_s, after_zeni_s : tuple of float
        Onset of the force less the strike of the file or of the markers, for each used stance, s; NaN without a strike.
    carried : tuple of float
        Vertical force on the foot over that of the body, mean over single support, for each used stance, as far as the limbs'
        movement does not explain it; NaN if unknown.
    notes : tuple of str
        Decisions, for the ledger.
    """

    own: BoolArray
    unusable: BoolArray
    partly: BoolArray
    other_unknown: BoolArray
    beside: BoolArray
    timely: BoolArray
    after_file_s: tuple[float, ...]
    after_oconnor_s: tuple[float, ...]
    after_zeni_s: tuple[float, ...]
    carried: tuple[float, ...]
    notes: tuple[str, ...]


def assign(
    reading: Reading, readings: Sequence[Reading], feet: Feet, *, stretch: Stretch, settings: Plates, up: FloatArray
) -> Assignment:
    """Find the frames in which a plate measures one foot alone.

    Parameters
    ----------
    reading : Reading
        The plate in question.
    readings : sequence of Reading
        All plates that may be used.
    feet : Feet
        Both feet, and the force that supports the body.
    stretch : Stretch
        The analysed frames.
    settings : Plates
        Thresholds and assignment.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    Assignment
        Frames by use, delays of the force and notes.

    Notes
    -----
    A loaded stretch is cut where both feet stand above the plate and may load it. Each piece belongs to the foot if the centre of pressure
    stays within `max_distance_m` of the line of the foot (median), nearer than to the other foot. A foot does not
    load the plate where it stays unloaded while that foot alone stands above it.

    The foot's standing ends have to be above loaded plates, for a foot on two plates above either: their forces add. A
    heel behind the edge is accepted where the plates carry the body: their mean force in single support is that of
    `Feet.body_n` (`BODY_SHARE`), and the force begins with the strike of the markers (`LATE_S`).
    """
    case = _Case(reading, tuple(readings), feet, stretch, settings, up)
    own, unusable, partly, other_unknown, beside, timely = (np.zeros(stretch.n_frames, dtype=bool) for _ in range(6))
    lead, lag = (round(longest_s * stretch.rate_hz) for longest_s in (MAX_LEAD_S, MAX_SLOW_S))
    both = np.zeros(stretch.n_frames, dtype=bool)
    if feet.other is not None:
        both = _loading(case, feet.own, feet.other) & _loading(case, feet.other, feet.own) & reading.loaded
    delays, notes = [], []
    for start, stop in runs(both):
        notes.append(case.note(start, stop, "both feet on the plate: the force under this foot is unknown"))
    for start, stop in runs(reading.loaded & ~both):
        part, timing = slice(start, stop), _timing(case, start, stop)
        owner, reason = _owner(case, part, timing)
        own[part], unusable[part], partly[part] = owner == "own", owner in ("unusable", "partly"), owner == "partly"
        if owner == "own":
            other_unknown[part] = True if feet.other is None else feet.other.unseen[part]
            share = np.nan  # of the body's force, while the other foot is in the air
            if feet.other is not None:
                pushed = widened_after(feet.other.contact, round(PUSH_S * stretch.rate_hz))
                share = _carried(case, part, ~pushed[part], _below(case, part))
                shown = LIMBS_SHARE * _swing_of_speed(feet, part, ~pushed[part])
                share = 1.0 + np.sign(share - 1.0) * beyond(share - 1.0, shown)
            delays.append((timing.after_file_s, timing.after_oconnor_s, timing.after_zeni_s, share))
            beside[timing.landing : start] = timing.late
            beside[stop : timing.leaving] = timing.early
            timely[max(start - lead, 0) : start] |= not timing.late
            timely[stop : stop + lag] |= not timing.early
            reason += timing.reason
        notes.append(case.note(start, stop, reason))
    file_s, oconnor_s, zeni_s, carried = zip(*delays, strict=True) if delays else ((), (), (), ())
    masks = (own, unusable | both, partly, other_unknown, beside & ~reading.loaded, timely)
    return Assignment(*masks, file_s, oconnor_s, zeni_s, carried, tuple(notes))


@dataclass(frozen=True)
class _Case:
    """A plate with the data needed for its assignment."""

    reading: Reading
    readings: tuple[Reading, ...]
    feet: Feet
    stretch: Stretch
    settings: Plates
    up: FloatArray

    @property
    def shortest(self) -> int:
        """Duration of the shortest contact, frames."""
        return max(round(MIN_CONTACT_S * self.stretch.rate_hz), 1)

    def note(self, start: int, stop: int, reason: str) -> str:
        """Note on these frames of the plate."""
        side = self.feet.own.side
        reason = reason.replace("this foot", f"this foot ({side})", 1) if side else reason
        return f"plate {self.reading.plate.number} {self.stretch.named(start, stop)}: {reason}"

    def over(self, foot: Foot, plate: ForcePlate, part: slice = slice(None)) -> BoolArray:
        """Mask of frames with an end of the foot above a plate."""
        return above([plate], foot.back_m[part], self.up) | above([plate], foot.front_m[part], self.up)

    def step(self, part: slice) -> slice:
        """Given frames, extended to all of this foot's contacts that overlap with them."""
        steps = [
            (start, stop) for start, stop in runs(self.feet.own.contact) if start < part.stop and stop > part.start
        ]
        return slice(min([part.start, *(a for a, _ in steps)]), max([part.stop, *(b for _, b in steps)]))


def _loading(case: _Case, foot: Foot, partner: Foot) -> BoolArray:
    """Frames in which a foot is above the plate and may load it."""
    shortest, result = case.shortest, np.zeros(case.stretch.n_frames, dtype=bool)
    over, others = case.over(foot, case.reading.plate), [each for each in case.readings if each is not case.reading]
    onsets = [(each.plate, first) for each in others for first, _ in each.stretches]
    for start, stop in runs(foot.contact & over):
        alone = ~partner.contact[start:stop]
        idle = alone.sum() >= shortest and case.reading.loaded[start:stop][alone].mean() < IDLE_SHARE
        off = not foot.contact[stop : stop + 1].any()  # the contact ends here; else the foot moves off the plate
        last = start + MAX_LEAD_S * case.stretch.rate_hz
        passes = any(  # over the plate, to land on another
            stop <= first <= last and case.over(foot, plate, slice(first, first + 1)).all() for plate, first in onsets
        )
        if not idle and (off or not passes):
            result[start : stop + shortest * off] = True
    return result


def _owner(case: _Case, part: slice, timing: _Timing) -> tuple[str, str]:
    """Return "own", "unusable", "partly" or "other" for loaded frames, and the reason."""
    reading, other, settings = case.reading, case.feet.other, case.settings
    level_m = float((reading.plate.corners_m @ case.up).mean())
    pressure = centre_of_pressure(reading.mean[part], up=case.up, level_m=level_m)
    given = settings.assignment != "auto"
    own = distance_m(pressure, case.feet.own, part, case.up)
    theirs = distance_m(pressure, other, part, case.up) if other is not None else np.inf
    if np.isnan(own):
        return "unusable", "this foot is not visible: not used"
    where = f"centre of pressure {own:.3f} m from this foot, {theirs:.3f} m from the other"
    if own > MAX_DISTANCE_M and not given:
        return "other", "other foot, " * (theirs <= MAX_DISTANCE_M) + where
    if theirs < own and not given:
        return "other", f"other foot, {where}"
    if reading.broken[max(part.start - 1, 0) : part.stop + 1].any():
        return "unusable", "samples of the plate are missing, not used"
    usable, edge = _edge(case, part, timing)
    if not usable:
        return "partly", f"this foot is across the edge of the plate in {edge}, not used"
    return "own", f"this foot{', as given' * given}{edge}, {where}"


def _edge(case: _Case, part: slice, timing: _Timing) -> tuple[bool, str]:
    """True where a plate is used with the foot across its edge, and the reason."""
    foot, plate, contact = case.feet.own, case.reading.plate, case.feet.own.contact[part]
    over = contact & ~inside([plate], foot, part, case.up)
    if over.mean() <= EDGE_SHARE:
        return True, ""
    share = f"{100 * over.mean():.0f} % of the frames"
    loaded = _below(case, part)
    carried = _carried(case, part, over, loaded)
    known = "" if np.isnan(carried) else f", {100 * carried:.0f} % of the body's force in single support"
    agrees = BODY_SHARE[0] <= carried <= BODY_SHARE[1]
    beside = contact & ~inside([each.plate for each in loaded], foot, part, case.up)
    if beside.mean() <= EDGE_SHARE:
        numbers = " and ".join(str(each.plate.number) for each in loaded)
        if agrees or np.isnan(carried):
            return True, f" on plates {numbers}, whose forces are added{known}"
        return False, f"{share}, on plates {numbers}{known}"
    front = contact & standing(foot.front_m[part], case.up)
    front &= ~above([plate], foot.front_m[part], case.up, margin_m=EDGE_MARGIN_M)
    if agrees and front.mean() <= EDGE_SHARE and not timing.late:
        return True, f" with the heel off the plate in {share}{known}"
    return False, share + known


def _below(case: _Case, part: slice) -> list[Reading]:
    """Loaded plates below this foot in one step."""
    foot, step = case.feet.own, case.step(part)
    found = [each for each in case.readings if each.loaded[step].any() and case.over(foot, each.plate, step).any()]
    return found if case.reading in found else [case.reading, *found]


def _carried(case: _Case, part: slice, over: BoolArray, loaded: Sequence[Reading]) -> float:
    """Plate force relative to body support, in single support; NaN if unknown."""
    other, body_n = case.feet.other, case.feet.body_n
    if other is None or body_n is None:
        return np.nan
    single = over & ~other.contact[part] & ~other.unseen[part]
    if single.sum() < case.shortest:
        return np.nan
    vertical = np.sum([each.vertical_n[part][single] for each in loaded], axis=0)
    return float(vertical.mean() / body_n[part][single].mean())


def _swing_of_speed(feet: Feet, part: slice, single: BoolArray) -> float:
    """Range of the hip's upward speed over the impulse that supports the body."""
    if feet.body_n is None or feet.weight_n is None or not single.any():
        return 0.0
    body_n = feet.body_n[part][single]
    return float(np.ptp(np.cumsum(body_n - feet.weight_n)) / max(abs(body_n.sum()), 1.0))


@dataclass(frozen=True)
class _Timing:
    """Timing of a step's force relative to strikes and offs of file and markers."""

    after_file_s: float
    after_oconnor_s: float
    after_zeni_s: float
    landing: int
    leaving: int
    late: bool
    early: bool
    reason: str


def _timing(case: _Case, start: int, stop: int) -> _Timing:
    """Times of loaded frames relative to the step seen by the markers."""
    foot, rate_hz = case.feet.own, case.stretch.rate_hz
    onset = next((at for (first, _), at in zip(case.reading.stretches, case.reading.onset, strict=True) if first == start), np.nan)  # fmt: skip
    sources = (foot.strikes.file, foot.strikes.oconnor.strike, foot.strikes.zeni.strike)
    file_s, oconnor_s, zeni_s = (_after(onset, frames, rate_hz) for frames in sources)
    step = case.step(slice(start, stop))
    slow_s = (onset - step.start) / rate_hz if np.isnan([file_s, oconnor_s, zeni_s]).all() else np.nan
    before, after = (_by_another_plate(case, frame) for frame in (start - 1, stop))
    late = not before and bool(file_s > LATE_S or oconnor_s > LATE_S or zeni_s > MAX_LEAD_S or slow_s > MAX_LEAD_S)
    off_s = -_after(stop, foot.strikes.zeni.off, rate_hz)
    off_s = (step.stop - stop) / rate_hz if np.isnan(off_s) else off_s
    early = not after and stop in [last for _, last in case.reading.stretches] and off_s > MAX_LEAD_S
    earliest_s = float(np.fmax.reduce([file_s, oconnor_s, zeni_s, slow_s]))
    landing = max(start - int(np.ceil(earliest_s * rate_hz)) - 1, 0) if late else start
    landing = min(landing, step.start) if start - step.start <= MAX_DELAY_S * rate_hz else landing
    reason = f", {earliest_s:.3f} s after the strike of the markers: it may have landed off the plate" if late else ""
    reason += f", {off_s:.3f} s before the foot leaves the ground: it may have left beside the plate" if early else ""
    delays_s = (np.nan,) * 3 if before else (file_s, oconnor_s, zeni_s)
    return _Timing(*delays_s, landing, step.stop, late, early, reason)


def _by_another_plate(case: _Case, frame: int) -> bool:
    """Return True where another plate below this foot is loaded in a frame."""
    return 0 <= frame < case.stretch.n_frames and any(
        each is not case.reading
        and each.loaded[frame]
        and case.over(case.feet.own, each.plate, slice(frame, frame + 1)).all()
        for each in case.readings
    )


def _after(frame: float, events: FloatArray, rate_hz: float) -> float:
    """Time of a frame after the nearest event, s; NaN without event in the same step."""
    after_s = (frame - events) / rate_hz
    near = after_s[np.abs(after_s) <= MAX_DELAY_S]
    return float(near[np.argmin(np.abs(near))]) if len(near) else np.nan
