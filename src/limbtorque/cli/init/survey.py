"""Survey of recordings: a few values for each file."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, lengths, runs
from limbtorque.cli.init.known_sets import LIMBS, WITHOUT_END, fits, fold, needed_landmarks, sided
from limbtorque.motion.plane import MIN_TRAVEL_M
from limbtorque.recordings.emg_channels import EmgChannel, emg_channels
from limbtorque.recordings.join import start_s
from limbtorque.recordings.keypoints.read import PICTURE
from limbtorque.recordings.recording import ForcePlate, Recording
from limbtorque.study.chains import BUILT_IN as CHAINS
from limbtorque.study.options.outputs import Ensembles
from limbtorque.tables.trial_record import SAME_TIME_S

AXES = ("+x", "+y", "+z", "-x", "-y", "-z")
MOST_SAMPLES = 60  # frames that are looked at again
MOST_PLACES = 100  # of a marker, nearly, from which its movement is estimated
NAMES = "SUBJECTS:NAMES"
STORAGE = (".mot", ".sto")
SIDES = ("right", "left")
STRIKES = ("footstrike", "heelstrike", "initialcontact", "footcontact")  # names of events without their side, folded
LEVELS = tuple(  # names of markers from head to foot, without their side
    names.split()
    for names in (
        "fhd bhd tophead head hedo lfhd rfhd nose eye ear",
        "c7 t1 sho clav acromium acromion shoulder clo caj gh shoulderstudy uarm4x4",
        "asi asis psi psis sacr vsacral hjc fep ias ftc hip hjcstudy asisstudy thigh4x4",
        "kne kneelat knee kjc feo fle lfc kneestudy shank4x4",
        "ank anklelat ankle ajc tio fal lmal anklestudy foot4x4",
        "hee heel toe toetip cal mt2 fcc fm2 bigtoe footindex calc calcstudy toes4x4",
    )
)
FEET = 4  # of LEVELS, and below: they stand on a floor
ON_PLATE_N = 20.0
STANCE_S = (0.35, 1.3)  # shortest and longest step on a plate, from running to slow walking
LEAST_FORCE_N = 50.0  # on the plates: somebody stands on them
TRUNK = [1, 2]  # of LEVELS: a trunk alone shows which way is up, too
PELVIS = (("asi", "psi"), ("asi", "sacr"), ("asis", "vsacral"), ("asis", "psis"), ("ias", "ips"))
FRONT_AND_BACK = (
    *(*PELVIS, ("toe", "hee"), ("mt2", "cal"), ("toetip", "heel"), ("asisstudy", "psisstudy")),
    *(("bigtoe", "heel"), ("footindex", "heel"), ("toes4x4", "foot4x4")),
)
STILL_M = 0.05  # nine of ten markers move less in a static trial: people sway, and breathe
SPEED_S = 0.04  # time between the two positions of a speed
ONSET_SHARE, MAX_REST_S = Ensembles().onset_share, Ensembles().max_rest_s  # of the window `movement`
BRIEF_S = 0.1  # faster for a shorter time: noise at rest
LEAST_PEAK = 0.2  # of the largest speed: slower ones are no movement of their own
STANDS_M_S, LIFTED_M_S = 0.1, 0.3  # speeds of a foot
LEAST_STANDING, LEAST_LIFTED = 0.2, 0.05  # shares of the time in steps on the spot
Spells = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Clue:
    """Evidence for the direction of a laboratory axis.

    Attributes
    ----------
    kind : str
        What it comes from.
    axis : str
        The axis, e.g. ``"+z"``.
    sentence : str
        What was seen.
    """

    kind: str
    axis: str
    sentence: str


@dataclass(frozen=True)
class Body:
    """Markers of one person: those with the same subject prefix, or without prefix.

    Attributes
    ----------
    prefix : str
        Subject prefix, without its colon.
    labels : tuple of str
        Labels without it.
    travel_m : tuple of float
        Displacement of the median marker from where it was first seen to where it was last, m.
    facing : Clue or None
        Which way pelvis or feet point.
    ends : dict of str to (float, float)
        Label of the end of a limb -> speed when the marker was first and last seen, over its peak speed.
    steps : bool
        Both feet are lifted and stand in turn: one moves while the other stands.
    never_stands : bool
        Both feet are lifted and one of them never stands, although nobody travels, as on a treadmill.
    spells : dict of str to tuple of (float, float)
        Label of the end of a limb -> movements of the marker between rests, s from the first frame.
    moved_m : float
        How far nine of ten of its markers moved at most, m.
    still_limbs : tuple of str
        ``"arm"``, ``"leg"``: limbs none of whose markers moves.
    """

    prefix: str
    labels: tuple[str, ...]
    travel_m: tuple[float, float, float]
    facing: Clue | None
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    steps: bool = False
    never_stands: bool = False
    spells: Mapping[str, Spells] = field(default_factory=dict)
    moved_m: float = 1.0
    still_limbs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Strikes:
    """Foot strikes of one side of a recording, with the same event name.

    Attributes
    ----------
    event : str
        Name of the event with {side} in place of the side, as `ensembles.start_event` understands it.
    side : str
        ``"left"`` or ``"right"``.
    times_s : tuple of float
        When, from the first frame, within the recording, s.
    """

    event: str
    side: str
    times_s: tuple[float, ...]


@dataclass(frozen=True)
class Seen:
    """One recording.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        Its path from the folder that was looked at.
    n_frames, rate_hz, first_frame : number
        As in `Recording`.
    bodies : tuple of Body
        Its markers, by subject prefix.
    weight_n : float
        Mean force on all plates, N; 0 without plates.
    walking_n : float
        Force that carries a person who walks over two plates, N (`carried_n`); 0 where none does.
    n_plates : int
        Number of plates.
    said : tuple of (str, str)
        What the file says of the person.
    up : tuple of Clue
        What points up.
    sample_s : ndarray of shape (n_samples,)
        Times of a few frames from frame 1 of the capture, s.
    sample_m : ndarray of shape (n_samples, n_labels, 3)
        Positions of all markers in these frames, m.
    labels : tuple of str
        Labels of the sample.
    plate_rate_hz : float
        Samples per second of the force plates; 0 without plates.
    begin_s : float
        Time of the first frame, by the file's times or the number of its first frame, s.
    strikes : tuple of Strikes
        Its foot strikes.
    emg : tuple of EmgChannel
        Its channels of electromyography, all at position 0.
    answers : tuple of (str, object)
        Options of `reading` that it does not state and a person gave.
    """

    path: Path
    name: str
    n_frames: int
    rate_hz: float
    first_frame: int
    bodies: tuple[Body, ...]
    weight_n: float
    n_plates: int
    said: tuple[tuple[str, str], ...]
    up: tuple[Clue, ...]
    sample_s: FloatArray
    sample_m: NDArray[np.float32]
    labels: tuple[str, ...]
    plate_rate_hz: float = 0.0
    begin_s: float = 0.0
    strikes: tuple[Strikes, ...] = ()
    emg: tuple[EmgChannel, ...] = ()
    answers: tuple[tuple[str, Any], ...] = ()
    walking_n: float = 0.0

    @property
    def end_s(self) -> float:
        """Time of the last frame, s."""
        return self.begin_s + (self.n_frames - 1) / self.rate_hz

    @property
    def moved_m(self) -> float:
        """Movement of the body that moved most, m."""
        return max((body.moved_m for body in self.bodies), default=0.0)

    @property
    def still(self) -> bool:
        """Return True for a static trial, in which nothing moves."""
        return self.moved_m < STILL_M

    def alone(self, body: Body) -> Seen:
        """Survey restricted to one person.

        Parameters
        ----------
        body : Body
            One of its bodies.

        Notes
        -----
        Where there are several, what the file states is on nobody in particular, and so is the weight on the plates.
        """
        alone = len(self.bodies) <= 1
        return self if alone else replace(self, bodies=(body,), said=(), weight_n=0.0, walking_n=0.0)

    def sampled(self, labels: Sequence[str], prefix: str, *, most: int = MOST_SAMPLES) -> FloatArray:
        """Positions of markers in sampled frames; NaN where missing.

        Parameters
        ----------
        labels : sequence of str
            Labels without their subject prefix.
        prefix : str
            Subject prefix of the labels, or empty.
        most : int, optional
            Largest number of frames.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, 3)
            Positions, m; every tenth frame, or fewer.
        """
        sample = self.sample_m[:: max(1, len(self.sample_m) // most)]
        place = {label: k for k, label in enumerate(self.labels)}
        columns = [place.get(f"{prefix}:{label}" if prefix else label) for label in labels]
        places_m = np.full((len(sample), len(labels), 3), np.nan)
        known = [k for k, column in enumerate(columns) if column is not None]
        places_m[:, known] = sample[:, [column for column in columns if column is not None]]
        return places_m


@dataclass(frozen=True)
class Unread:
    """A file that could not be read.

    Attributes
    ----------
    name : str
        Its path from the folder that was looked at.
    why : str
        The reader's sentence.
    if_answered : Seen, optional
        Survey with made-up values of the units and the rate that the file does not state, which are its ``answers``; None where it
        lacks none, or cannot be read with them either.
    """

    name: str
    why: str
    if_answered: Seen | None = None


def look_at(recording: Recording, *, path: Path, name: str) -> Seen:
    """Survey one recording.

    Parameters
    ----------
    recording : Recording
        The recording.
    path : Path
        Its file.
    name : str
        What to call it.
    """
    kept = np.flatnonzero(_known(recording.markers_m).any(axis=0)).tolist()
    prefixes = list(dict.fromkeys(recording.labels[k].rpartition(":")[0] for k in kept))
    of_prefix = {p: [k for k in kept if recording.labels[k].rpartition(":")[0] == p] for p in prefixes}
    step = 10 if recording.n_frames >= 20 else 1
    before = recording.first_frame - 1 + np.arange(recording.n_frames)
    sampled = before % step == 0
    bodies = tuple(_body(recording, prefix, of_prefix[prefix]) for prefix in prefixes)
    return Seen(
        path=path,
        name=name,
        n_frames=recording.n_frames,
        rate_hz=recording.rate_hz,
        first_frame=recording.first_frame,
        bodies=bodies,
        weight_n=sum(_mean_force_n(plate.force_n) for plate in recording.force_plates),
        walking_n=carried_n(recording.force_plates),
        n_plates=len(recording.force_plates),
        said=recording.person,
        up=tuple(_up(recording, kept, path.suffix.lower())),
        sample_s=np.round(before[sampled] / recording.rate_hz, 4),
        sample_m=recording.markers_m[sampled].astype(np.float32),
        labels=recording.labels,
        plate_rate_hz=recording.force_plates[0].rate_hz if recording.force_plates else 0.0,
        begin_s=start_s(recording),
        strikes=_strikes(recording),
        emg=tuple(replace(channel, index=0) for channel in emg_channels(recording)),
    )


def _known(markers_m: FloatArray) -> BoolArray:
    """Mask of known positions, shape (n_frames, n_markers)."""
    x, y, z = np.moveaxis(markers_m, 2, 0)  # several times as fast as a reduction over three numbers
    return np.asarray(~np.isnan(x + y + z))


def _mean_force_n(force_n: FloatArray) -> float:
    """Magnitude of a plate's mean force, N; 0 without samples."""
    known = force_n[np.isfinite(force_n).all(axis=1)]
    return float(np.linalg.norm(known.mean(axis=0))) if len(known) else 0.0


def carried_n(plates: Sequence[ForcePlate]) -> float:
    """Force that carries a person who walks over two plates.

    It is the mean from midstance on one plate to midstance on the next. Between the same instants of two steps the centre of mass gains no vertical speed, so that the mean force is the weight.

    Parameters
    ----------
    plates : sequence of ForcePlate
        The plates of a recording.

    Returns
    -------
    float
        Median over pairs of plates whose only stances of `STANCE_S` overlap, N; 0 where there are none.
    """
    forces_n = [np.linalg.norm(np.nan_to_num(plate.force_n), axis=1) for plate in plates]
    stances = [[(a, b) for a, b in runs(force > ON_PLATE_N) if b - a > 2] for force in forces_n]
    steps = []
    for force, plate, found in zip(forces_n, plates, stances, strict=True):
        if len(found) == 1 and STANCE_S[0] <= (found[0][1] - found[0][0]) / plate.rate_hz <= STANCE_S[1]:
            steps.append((*found[0], force, plate.rate_hz))
    steps.sort(key=lambda step: step[0])
    means = []
    for (start, stop, one, rate_hz), (next_start, next_stop, other, next_hz) in pairwise(steps):
        if rate_hz == next_hz and len(one) == len(other) and start < next_start < stop < next_stop:
            part = slice((start + stop) // 2, (next_start + next_stop) // 2)
            means.append(float((one + other)[part].mean()))
    return float(np.median(means)) if means else 0.0


def _strikes(recording: Recording) -> tuple[Strikes, ...]:
    """Foot strikes within a recording."""
    last_s = (recording.n_frames - 1) / recording.rate_hz
    times: dict[tuple[str, str], set[float]] = {}
    for event in recording.events:
        name = event.name
        sides = re.findall("left|right", name, re.IGNORECASE)
        template = re.sub("left|right", "{side}", name, flags=re.IGNORECASE)
        named = len(sides) == 1 and fold(template.replace("{side}", "")) in STRIKES
        if named and -SAME_TIME_S <= event.time_s <= last_s + SAME_TIME_S:
            times.setdefault((template, sides[0].lower()), set()).add(float(event.time_s))
    return tuple(Strikes(name, side, tuple(sorted(own))) for (name, side), own in times.items())


def _ranges(markers_m: FloatArray) -> FloatArray:
    """Range of each marker without its extreme hundredths, m."""
    markers_m = markers_m[:: max(1, len(markers_m) // MOST_PLACES)]
    n_known = _known(markers_m).sum(axis=0)
    ranks = [np.rint(part * np.maximum(n_known - 1, 0)).astype(int) for part in (0.02, 0.98)]
    ordered = np.partition(markers_m, np.unique(ranks), axis=0)  # what is missing comes last
    low, high = (ordered[rank, np.arange(len(rank))] for rank in ranks)
    return np.asarray(np.nan_to_num(lengths(high - low)))


def _body(recording: Recording, prefix: str, markers: list[int]) -> Body:
    labels = tuple(recording.labels[k].rpartition(":")[2] for k in markers)
    own_m = recording.markers_m[:, markers]
    known = _known(own_m)
    first, last = known.argmax(axis=0), len(known) - 1 - known[::-1].argmax(axis=0)
    each = np.arange(len(markers))
    x, y, z = np.median(own_m[last, each] - own_m[first, each], axis=0).tolist()
    by_stem = _by_stem(labels, tuple(markers))
    feet = [k for stem in LEVELS[-1] for k in by_stem.get(stem, ())]
    of_sides = [[k for k in feet if any(name[0] == side for name in sided(labels[markers.index(k)]))] for side in SIDES]
    speeds = [_speeds(recording.markers_m[:, of_side], recording.rate_hz)[0] for of_side in of_sides]
    n_known = [max(int((~np.isnan(speed)).sum()), 1) for speed in speeds]
    stands = [(speed < STANDS_M_S).sum() >= LEAST_STANDING * n for speed, n in zip(speeds, n_known, strict=True)]
    lifted = [(speed > LIFTED_M_S).sum() >= LEAST_LIFTED * n for speed, n in zip(speeds, n_known, strict=True)]
    slowest = np.stack([np.fmin.reduce(speed, axis=1, initial=np.nan) for speed in speeds])  # marker of each foot
    steps = ((slowest > LIFTED_M_S) & (slowest[::-1] < STANDS_M_S)).sum(axis=1)  # one foot moves, the other stands
    travels = float(np.linalg.norm((x, y, z))) >= 2.0 * MIN_TRAVEL_M
    ranges_m = _ranges(own_m)
    models = [CHAINS[name] for limb, shorter in WITHOUT_END.items() for name in (limb, shorter)]
    limb_ends = dict.fromkeys(label for m in models for fit in fits(labels, m) for label in fit.labels_of(m.end))
    paths = {label: marker_movements(own_m[:, labels.index(label)], recording.rate_hz) for label in limb_ends}
    return Body(
        prefix,
        labels,
        (x, y, z),
        _facing(recording.markers_m, by_stem),
        ends={label: ends for label, (ends, _) in paths.items()},
        steps=bool(all(lifted) and all(stands) and (steps >= LEAST_LIFTED * len(speeds[0])).all()),
        never_stands=bool(all(lifted) and not all(stands) and not travels),
        spells={label: spells for label, (_, spells) in paths.items()},
        moved_m=float(np.percentile(ranges_m, 90.0)),
        still_limbs=_still_limbs(labels, ranges_m),
    )


def _still_limbs(labels: Sequence[str], ranges_m: FloatArray) -> tuple[str, ...]:
    """Limbs without any moving marker, even if other limbs sway."""
    range_m = dict(zip(labels, ranges_m, strict=True))
    still = []
    for limb, model in LIMBS.items():
        needed = needed_landmarks(model)
        own = {label for fit in fits(labels, model) for name in needed for label in fit.labels_of(name)}
        if own and max(range_m[label] for label in own) < STILL_M:
            still.append(limb)
    return tuple(still)


def marker_movements(path_m: FloatArray, rate_hz: float) -> tuple[tuple[float, float], Spells]:
    """Speeds of a marker at first and last frame, and its movements between rests.

    Parameters
    ----------
    path_m : ndarray of shape (n_frames, 3)
        Its positions, m; NaN where it is missing, which is no rest.
    rate_hz : float
        Frames per second.

    Returns
    -------
    ends : tuple of (float, float)
        Speeds in the first and last 0.04 s in which it is seen, as fractions of the peak without the fastest hundredth.
    spells : tuple of (float, float)
        Beginning and end of its movements by the rule of `find_movement`, s from the first frame.
    """
    speed, step = _speeds(path_m, rate_hz)
    known = speed[np.isfinite(speed)]
    peak = float(np.percentile(known, 99.0)) if len(known) else 0.0  # a spike is no movement
    if peak <= 0.0:
        return (0.0, 0.0), ()
    rests: list[list[int]] = []
    turns = np.flatnonzero(np.diff(speed <= ONSET_SHARE * peak, prepend=False, append=False))
    for start, stop in turns.reshape(-1, 2).tolist():
        if rests and start - rests[-1][1] < round(BRIEF_S * rate_hz):
            rests[-1][1] = stop
        else:
            rests.append([start, stop])
    edges = [0, *(k for rest in rests if rest[1] - rest[0] >= round(MAX_REST_S * rate_hz) for k in rest), len(speed)]
    fast = np.nan_to_num(speed) > LEAST_PEAK * peak
    moving = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if fast[a:b].any()]
    spells = tuple(((a + 0.5 * step) / rate_hz, (b - 1 + 0.5 * step) / rate_hz) for a, b in moving)
    return (float(known[0] / peak), float(known[-1] / peak)), spells


def _speeds(path_m: FloatArray, rate_hz: float) -> tuple[FloatArray, int]:
    """Speeds over intervals of `SPEED_S`, m/s, and the interval in frames."""
    step = max(1, round(SPEED_S * rate_hz))
    return np.asarray(lengths(path_m[step:] - path_m[:-step]) * (rate_hz / step)), step


@functools.lru_cache(maxsize=64)  # the recordings of a session have the same labels
def _by_stem(labels: tuple[str, ...], markers: tuple[int, ...]) -> Mapping[str, list[int]]:
    """Markers by folded name without side."""
    found: dict[str, list[int]] = {}
    for label, k in zip(labels, markers, strict=True):
        short = re.fullmatch(r"([A-Z]{3,})[rl]", label)  # ASISr
        for stem in {fold(label), *(rest for _, rest, _ in sided(label)), *([fold(short[1])] if short else [])}:
            found.setdefault(stem, []).append(k)
    return found


def _facing(markers_m: FloatArray, by_stem: Mapping[str, list[int]]) -> Clue | None:
    for front, back in FRONT_AND_BACK:
        if front in by_stem and back in by_stem:
            line = _mean(markers_m, by_stem[front]) - _mean(markers_m, by_stem[back])
            line = line[~np.isnan(line).any(axis=1)]
            if len(line):
                what = "pelvis" if front.startswith(("asi", "ias")) else "feet"
                return _clue("facing", line, f"{what}, {front.upper()} seen from {back.upper()}")
    return None


def _mean(markers_m: FloatArray, markers: Sequence[int]) -> FloatArray:
    """Mean position of the visible markers in each frame."""
    chosen = markers_m[:, list(markers)]
    known = _known(chosen)
    total = np.where(known[..., None], chosen, 0.0).sum(axis=1)
    count = known.sum(axis=1)[:, None]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _clue(kind: str, lines: FloatArray, what: str) -> Clue | None:
    """Axis along which most directions point, and its score; None if there is none."""
    length = np.linalg.norm(lines, axis=1)
    unit = lines[length > 0.0] / length[length > 0.0, None]
    if not len(unit):
        return None
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    best = int((unit.mean(axis=0) @ axes.T).argmax())
    near = float(((unit @ axes[best]) > np.sqrt(0.5)).mean())
    sentence = f"{what}: along {AXES[best]} within 45 degrees in {100.0 * near:.0f} % of the frames"
    return Clue(kind, AXES[best], sentence) if near > 0.5 else None


def _up(recording: Recording, kept: list[int], suffix: str) -> Iterator[Clue]:
    """Evidence for the up axis: format, screen axes, forces, body, floor."""
    if suffix in STORAGE and recording.labels:  # written by OpenSim in its model's frame
        yield Clue("format", "+y", f"{suffix} files of OpenSim have y up and x forward")
    for finding in (finding for finding in recording.audit.findings if finding.item == "axes"):
        if finding.interpretation.startswith(PICTURE):
            yield Clue("picture", "+y", "keypoints in a picture: y is turned upwards")
        if screen := re.search(r"Y_SCREEN ([+-])([XYZ])", finding.stated):
            stated = screen[1] + screen[2]
            yield Clue("screen", stated.lower(), f"POINT:Y_SCREEN of the file is {stated}: drawn upwards")
    force_n = sum((np.nansum(plate.force_n, axis=0) for plate in recording.force_plates), np.zeros(3))
    largest_n = max((plate.force_n.max(initial=0.0) for plate in recording.force_plates), default=0.0)
    clue = _clue("plates", force_n[None, :], "") if largest_n > LEAST_FORCE_N else None
    if clue and abs(force_n["xyz".index(clue.axis[1])]) > 0.9 * np.linalg.norm(force_n):
        yield Clue("plates", clue.axis, f"the mean force on the feet points along {clue.axis}")
    labels = tuple(recording.labels[k].rpartition(":")[2] for k in kept)
    by_stem = _by_stem(labels, tuple(kept))
    levels = [[k for stem in stems for k in by_stem.get(stem, ())] for stems in LEVELS]
    there = [n for n, markers in enumerate(levels) if markers]
    if not there or (there[-1] - there[0] < 2 and there != TRUNK):
        return
    ends = levels[there[-1]], levels[there[0]]
    bottom, top = (_mean(recording.markers_m, markers) for markers in ends)
    low, high = ("/".join(list(dict.fromkeys(labels[kept.index(k)] for k in markers))[:2]) for markers in ends)
    clue = _clue("body", (top - bottom)[~np.isnan(top - bottom).any(axis=1)], f"from {low} to {high}")
    if clue:
        yield clue
    if clue and there[-1] >= FEET:
        sign = 1.0 if clue.axis[0] == "+" else -1.0
        least_m = float(np.nanpercentile(sign * recording.markers_m[:, ends[0], "xyz".index(clue.axis[1])], 1.0))
        if -0.05 <= least_m <= 0.2:
            floor = f"the lowest markers reach {least_m:.2f} m along {clue.axis}, as for a floor at zero"
            yield Clue("floor", clue.axis, floor)
