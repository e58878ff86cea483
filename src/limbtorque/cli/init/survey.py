"""Survey of a folder's recordings: a few numbers for each file."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, lengths
from limbtorque.cli.init.bodies import STILL_M, segment_lengths, still_limbs
from limbtorque.cli.init.known_sets import fold, sided
from limbtorque.cli.init.speeds import Spells, belt_m_s, end_speeds, moving_spells, speeds_of, stands_and_moves
from limbtorque.cli.init.traces import Trace, trace_of
from limbtorque.recordings.emg_channels import EmgChannel, emg_channels
from limbtorque.recordings.join import start_s
from limbtorque.recordings.keypoints.read import PICTURE
from limbtorque.recordings.recording import Recording
from limbtorque.study.options.motion import Plane
from limbtorque.tables.trial_record import SAME_TIME_S

AXES = ("+x", "+y", "+z", "-x", "-y", "-z")
MOST_SAMPLES = 60  # frames that are looked at again
MOST_DIFFERENCES = 20_000  # from which the noise is estimated
MOST_PLACES = 100  # of a marker, nearly, from which its movement is estimated
STORAGE = (".mot", ".sto")
SIDES = ("right", "left")
STRIKES = ("footstrike", "heelstrike", "initialcontact", "footcontact")  # names of events without their side, folded
LEVELS = (  # names of markers from head to foot, without their side
    ("fhd", "bhd", "tophead", "head", "hedo", "lfhd", "rfhd", "nose", "eye", "ear"),
    ("c7", "t1", "sho", "clav", "acromium", "acromion", "shoulder", "clo", "caj", "gh", "shoulderstudy", "uarm4x4"),
    (
        "asi",
        "asis",
        "psi",
        "psis",
        "sacr",
        "vsacral",
        "hjc",
        "fep",
        "ias",
        "ftc",
        "hip",
        "hjcstudy",
        "asisstudy",
        "thigh4x4",
    ),
    ("kne", "kneelat", "knee", "kjc", "feo", "fle", "lfc", "kneestudy", "shank4x4"),
    ("ank", "anklelat", "ankle", "ajc", "tio", "fal", "lmal", "anklestudy", "foot4x4"),
    ("hee", "heel", "toe", "toetip", "cal", "mt2", "fcc", "fm2", "bigtoe", "footindex", "calc", "calcstudy", "toes4x4"),
)
FEET = 4  # of LEVELS, and below: they stand on a floor
TRUNK = [1, 2]  # of LEVELS: a trunk alone shows which way is up, too
FRONT_AND_BACK = (
    ("asi", "psi"),
    ("asi", "sacr"),
    ("asis", "vsacral"),
    ("asis", "psis"),
    ("ias", "ips"),
    ("toe", "hee"),
    ("mt2", "cal"),
    ("toetip", "heel"),
    ("asisstudy", "psisstudy"),
    ("bigtoe", "heel"),
    ("footindex", "heel"),
    ("toes4x4", "foot4x4"),
)


@dataclass(frozen=True)
class Clue:
    """Something that points along an axis of the laboratory.

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
    """The markers of one subject prefix, or of none.

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
        Label -> speed when the marker was first and last seen, over its peak speed.
    belt_m_s : float
        Speed of a treadmill by the feet on it, m/s; 0 without one.
    steps : bool
        Both feet are lifted and stand in turn.
    noise_m : float
        Noise of the median marker, from third differences, m; near 0 in smoothed recordings.
    spells : dict of str to tuple of (float, float)
        Label -> movements of the marker between rests, s from the first frame.
    moved_m : float or None
        How far nine of ten of its markers moved at most, m; None where that of the recording holds.
    still_limbs : tuple of str
        ``"arm"``, ``"leg"``: limbs none of whose markers moves.
    segments_m : dict of str to float
        Lengths of its segments by their markers (`bodies.segment_lengths`), m.
    trace : Trace
        Distances between some of its markers over time.
    """

    prefix: str
    labels: tuple[str, ...]
    travel_m: tuple[float, float, float]
    facing: Clue | None
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    belt_m_s: float = 0.0
    steps: bool = False
    noise_m: float = 0.0
    spells: Mapping[str, Spells] = field(default_factory=dict)
    moved_m: float | None = None
    still_limbs: tuple[str, ...] = ()
    segments_m: Mapping[str, float] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)


@dataclass(frozen=True)
class Strikes:
    """Foot strikes of one side of a recording, by one name.

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
    moved_m : float
        How far nine of ten markers moved at most, m.
    weight_n : float
        Mean force on all plates, N; 0 without plates.
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
    other_events : tuple of str
        Names of its other events.
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
    moved_m: float
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
    other_events: tuple[str, ...] = ()
    emg: tuple[EmgChannel, ...] = ()
    answers: tuple[tuple[str, Any], ...] = ()

    @property
    def end_s(self) -> float:
        """Time of the last frame, s."""
        return self.begin_s + (self.n_frames - 1) / self.rate_hz

    @property
    def still(self) -> bool:
        """Return True if nothing moves: a static trial."""
        return self.moved_m < STILL_M

    def sampled(self, labels: Sequence[str], prefix: str, *, most: int = MOST_SAMPLES) -> FloatArray:
        """Positions of markers in some frames; NaN where one is missing.

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
        found = np.full((len(sample), len(labels), 3), np.nan)
        for column, label in enumerate(labels):
            name = f"{prefix}:{label}" if prefix else label
            if name in place:
                found[:, column] = sample[:, place[name]]
        return found


@dataclass(frozen=True)
class Unread:
    """A file that could not be read.

    Attributes
    ----------
    name : str
        Its path from the folder that was looked at.
    why : str
        The reader's sentence.
    """

    name: str
    why: str


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
    bodies = tuple(_body(recording, prefix, of_prefix[prefix], sampled) for prefix in prefixes)
    return Seen(
        path=path,
        name=name,
        n_frames=recording.n_frames,
        rate_hz=recording.rate_hz,
        first_frame=recording.first_frame,
        bodies=bodies,
        moved_m=max((body.moved_m or 0.0 for body in bodies), default=0.0),
        weight_n=sum(_mean_force_n(plate.force_n) for plate in recording.force_plates),
        n_plates=len(recording.force_plates),
        said=recording.person,
        up=(*_up(recording, kept), *_by_format(path, recording)),
        sample_s=np.round(before[sampled] / recording.rate_hz, 4),
        sample_m=recording.markers_m[sampled].astype(np.float32),
        labels=recording.labels,
        plate_rate_hz=recording.force_plates[0].rate_hz if recording.force_plates else 0.0,
        begin_s=start_s(recording),
        strikes=_strikes(recording),
        other_events=tuple(dict.fromkeys(name for name, known in _event_names(recording) if not known)),
        emg=tuple(replace(channel, index=0) for channel in emg_channels(recording)),
    )


def _known(markers_m: FloatArray) -> BoolArray:
    """Mask of the positions that are known, shape (n_frames, n_markers)."""
    x, y, z = np.moveaxis(markers_m, 2, 0)  # several times as fast as a reduction over three numbers
    return np.asarray(~np.isnan(x + y + z))


def _of_markers(markers_m: FloatArray, markers: Sequence[int]) -> FloatArray:
    """Positions of some markers; no copy where these are all."""
    return markers_m if len(markers) == markers_m.shape[1] else markers_m[:, list(markers)]


def _noise_m(markers_m: FloatArray) -> float:
    """Noise of the median marker, m, from third differences (sqrt(20) of white noise)."""
    n = max(0, len(markers_m) - 3)
    step = max(1, n * markers_m[0].size // MOST_DIFFERENCES)
    third = np.abs(np.diff(np.stack([markers_m[k : k + n : step] for k in range(4)]), n=3, axis=0))
    known = third[np.isfinite(third)]
    return float(np.median(known)) / np.sqrt(20.0) if known.size else 0.0


def _mean_force_n(force_n: FloatArray) -> float:
    """Size of the mean force of a plate, N; 0 where it has no sample."""
    known = force_n[np.isfinite(force_n).all(axis=1)]
    return float(np.linalg.norm(known.mean(axis=0))) if len(known) else 0.0


def _event_names(recording: Recording) -> Iterator[tuple[str, tuple[str, str] | None]]:
    """Name of each event, with its {side} template and side for a foot strike."""
    for event in recording.events:
        name = f"{event.label} {event.context}".strip()
        sides = re.findall("left|right", name, re.IGNORECASE)
        template = re.sub("left|right", "{side}", name, flags=re.IGNORECASE)
        known = len(sides) == 1 and fold(template.replace("{side}", "")) in STRIKES
        yield name, (template, sides[0].lower()) if known else None


def _strikes(recording: Recording) -> tuple[Strikes, ...]:
    last_s = (recording.n_frames - 1) / recording.rate_hz
    found: dict[tuple[str, str], list[float]] = {}
    for event, (_, known) in zip(recording.events, _event_names(recording), strict=True):
        if known and -SAME_TIME_S <= event.time_s <= last_s + SAME_TIME_S:
            found.setdefault(known, []).append(float(event.time_s))
    return tuple(Strikes(event, side, tuple(sorted(set(times)))) for (event, side), times in found.items())


def _ranges(markers_m: FloatArray) -> FloatArray:
    """Range of each marker, without its farthest hundredths, m."""
    markers_m = markers_m[:: max(1, len(markers_m) // MOST_PLACES)]
    n_known = _known(markers_m).sum(axis=0)
    ranks = [np.rint(part * np.maximum(n_known - 1, 0)).astype(int) for part in (0.02, 0.98)]
    ordered = np.partition(markers_m, np.unique(ranks), axis=0)  # what is missing comes last
    low, high = (ordered[rank, np.arange(len(rank))] for rank in ranks)
    return np.asarray(np.nan_to_num(lengths(high - low)))


def _body(recording: Recording, prefix: str, markers: list[int], sampled: BoolArray) -> Body:
    bare = tuple(recording.labels[k].rpartition(":")[2] for k in markers)
    own_m = _of_markers(recording.markers_m, markers)
    first, last = _ends(_known(own_m))
    each = np.arange(len(markers))
    x, y, z = np.median(own_m[last, each] - own_m[first, each], axis=0).tolist()
    by_stem = _by_stem(bare, tuple(markers))
    speeds = speeds_of(own_m, recording.rate_hz)
    ends = dict(zip(bare, end_speeds(speeds), strict=True))
    spells = dict(zip(bare, moving_spells(speeds), strict=True))
    feet = [k for stem in LEVELS[-1] for k in by_stem.get(stem, ())]
    travels = float(np.linalg.norm((x, y, z))) >= 2.0 * Plane().min_travel_m  # who travels is on no belt
    belt = 0.0 if travels else belt_m_s(recording.markers_m[:, feet], recording.rate_hz)
    label_of = dict(zip(markers, bare, strict=True))
    of_side = [[k for k in feet if any(one[0] == side for one in sided(label_of[k]))] for side in SIDES]
    steps = all(stands_and_moves(recording.markers_m[:, foot], recording.rate_hz) for foot in of_side)
    ranges_m = _ranges(own_m)
    return Body(
        prefix,
        bare,
        (x, y, z),
        _facing(recording.markers_m, by_stem),
        ends,
        belt,
        steps,
        _noise_m(own_m),
        spells,
        moved_m=float(np.percentile(ranges_m, 90.0)),
        still_limbs=still_limbs(bare, ranges_m),
        segments_m=segment_lengths(bare, own_m[sampled]),
        trace=trace_of(bare, own_m, recording.rate_hz, sampled),
    )


def _ends(known: BoolArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last row of each column in which something is known."""
    return known.argmax(axis=0), len(known) - 1 - known[::-1].argmax(axis=0)


@functools.lru_cache(maxsize=64)  # the recordings of a session have the same labels
def _by_stem(labels: tuple[str, ...], markers: tuple[int, ...]) -> Mapping[str, list[int]]:
    """Folded name without its side -> markers."""
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
    """Mean of those of some markers that are seen, frame by frame."""
    chosen = markers_m[:, list(markers)]
    known = _known(chosen)
    total = np.where(known[..., None], chosen, 0.0).sum(axis=1)
    count = known.sum(axis=1)[:, None]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _clue(kind: str, lines: FloatArray, what: str) -> Clue | None:
    """Axis along which most directions point, and its score; None without one."""
    length = np.linalg.norm(lines, axis=1)
    unit = lines[length > 0.0] / length[length > 0.0, None]
    if not len(unit):
        return None
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    best = int((unit.mean(axis=0) @ axes.T).argmax())
    near = float(((unit @ axes[best]) > np.sqrt(0.5)).mean())
    return (
        Clue(kind, AXES[best], f"{what}: along {AXES[best]} within 45 degrees in {100.0 * near:.0f} % of the frames")
        if near > 0.5
        else None
    )


def _up(recording: Recording, kept: list[int]) -> Iterator[Clue]:
    for finding in recording.audit.findings:
        if finding.item == "axes" and finding.interpretation.startswith(PICTURE):
            yield Clue("picture", "+y", "keypoints in a picture: y is turned upwards")
        screen = re.search(r"Y_SCREEN ([+-])([XYZ])", finding.stated) if finding.item == "axes" else None
        if screen:
            axis = f"{screen[1]}{screen[2].lower()}"
            yield Clue("screen", axis, f"POINT:Y_SCREEN of the file is {screen[1]}{screen[2]}: drawn upwards")
    force = sum((np.nansum(plate.force_n, axis=0) for plate in recording.force_plates), np.zeros(3))
    if np.linalg.norm(force) > 0.0 and max(p.force_n.max(initial=0.0) for p in recording.force_plates) > 50.0:
        clue = _clue("plates", force[None, :], "the forces on the feet")
        if clue and abs(force["xyz".index(clue.axis[1])]) > 0.9 * np.linalg.norm(force):
            yield Clue("plates", clue.axis, f"the mean force on the feet points along {clue.axis}")
    labels = tuple(recording.labels[k].rpartition(":")[2] for k in kept)
    by_stem = _by_stem(labels, tuple(kept))
    levels = [[k for stem in stems for k in by_stem.get(stem, ())] for stems in LEVELS]
    there = [n for n, markers in enumerate(levels) if markers]
    if there and (there[-1] - there[0] >= 2 or there == TRUNK):
        top, bottom = (_mean(recording.markers_m, levels[n]) for n in (there[0], there[-1]))
        line = (top - bottom)[~np.isnan(top - bottom).any(axis=1)]
        clue = _clue(
            "body",
            line,
            f"from {_names(labels, kept, levels[there[-1]])} to {_names(labels, kept, levels[there[0]])}",
        )
        if clue:
            yield clue
            if there[-1] >= FEET:
                yield from _floor(recording.markers_m[:, levels[there[-1]]], clue.axis)


def _by_format(path: Path, recording: Recording) -> Iterator[Clue]:
    """The axis of OpenSim's storage files, which a program wrote in its model's frame."""
    if path.suffix.lower() in STORAGE and recording.labels:
        yield Clue("format", "+y", f"{path.suffix.lower()} files of OpenSim have y up and x forward")


def _names(labels: Sequence[str], kept: Sequence[int], markers: Sequence[int]) -> str:
    names = dict(zip(kept, labels, strict=True))
    return "/".join(list(dict.fromkeys(names[k] for k in markers))[:2])


def _floor(lowest_m: FloatArray, axis: str) -> Iterator[Clue]:
    height = lowest_m[..., "xyz".index(axis[1])] * (1.0 if axis[0] == "+" else -1.0)
    least = float(np.nanpercentile(height, 1.0))
    if -0.05 <= least <= 0.2:
        yield Clue("floor", axis, f"the lowest markers come down to {least:.2f} m along {axis}, as on a floor at zero")
