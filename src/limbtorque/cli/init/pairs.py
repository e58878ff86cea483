"""Files that belong together: copies, forces and electromyography."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, lengths
from limbtorque.cli.init.survey import Body, Seen, Unread
from limbtorque.recordings.join import RATIO

SAME_M, SAME_MEDIAN_M = 0.02, 0.005  # a smoothed copy differs by less: nearly everywhere, and in the median
SAME_SHARE = 0.05  # of the movement: the median may differ by so much
CELL_M = 0.02  # of the fingerprints
MOVES_M, MOVES_SHARE = 0.03, 0.05  # what rests in both recordings is no evidence
CROWD = 50  # recordings that one cell of a fingerprint remembers: thousands of alike ones would take hours
OF_FORCES = ("grf", "grfs", "force", "forces", "forceplate", "forceplates", "plates", "kinetics")
OF_A_KIND = (
    *("marker", "markers", "mkr", "trajectories", "kinematics", "trc"),
    *OF_FORCES,
    *("analog", "mot", "sto"),
)
FORCE_SUFFIXES = (".mot", ".sto", ".forces", ".tsv", ".txt", ".csv")
FRAMES = 2  # how far begin and end of the two files may lie apart: the last sample of either may be missing
Cell = tuple[float, str, float, float, float]  # time, label and place


def copies_of(seen: Sequence[Seen]) -> dict[tuple[str, str], str]:
    """Copy of each movement that is kept, by recording and prefix.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.

    Returns
    -------
    dict of (str, str) to str
        Recording and prefix -> sentence on the copy that is kept; empty for that one. Those with force plates go first, then
        those of a higher rate, then the longer, then noisier ones: raw before smoothed.
    """
    kept: dict[Cell, list[tuple[Seen, Body]]] = {}
    copies: dict[tuple[str, str], str] = {}
    for recording, body in sorted(((one, body) for one in seen for body in one.bodies), key=_rank):
        cells = list(fingerprints(recording, body))
        likely = {(other.name, mate.prefix): (other, mate) for cell in cells for other, mate in kept.get(cell, ())}
        shared = Counter((other.name, mate.prefix) for cell in cells for other, mate in kept.get(cell, ()))
        others = [likely[key] for key, _ in shared.most_common(3) if key[0] != recording.name]
        copy = next((other.name for other, mate in others if same_movement(recording, other, body, mate)), "")
        copies[recording.name, body.prefix] = f"the same movement is in {copy}" if copy else ""
        for cell in cells if not copy else ():
            if len(kept.setdefault(cell, [])) < CROWD:
                kept[cell].append((recording, body))
    return copies


def _rank(pair: tuple[Seen, Body]) -> tuple[object, ...]:
    """Order in which copies are kept."""
    recording, body = pair
    lasting = round(10.0 * recording.n_frames / recording.rate_hz)
    return not recording.n_plates, -recording.rate_hz, -lasting, -round(math.log2(body.noise_m + 1e-9))


def fingerprints(seen: Seen, body: Body) -> Iterator[Cell]:
    """Cells of some markers in some frames; smoothed copies share most of them.

    Parameters
    ----------
    seen, body : Seen, Body
        The recording, and whose markers.
    """
    labels = sorted(body.labels)[:5]
    cells = np.round(seen.sampled(labels, body.prefix, most=len(seen.sample_m) or 1) / CELL_M)
    for time_s, frame in zip(seen.sample_s.tolist(), cells.tolist(), strict=True):
        for label, (x, y, z) in zip(labels, frame, strict=True):
            if not math.isnan(x + y + z):
                yield (time_s, label, x, y, z)


def same_movement(one: Seen, other: Seen, body: Body, mate: Body) -> bool:
    """Return True if two recordings have one movement at the same times and places.

    Parameters
    ----------
    one, other : Seen
        The recordings.
    body, mate : Body
        The body in each; static ones are never called the same.
    """
    others = set(mate.labels)
    shared = [label for label in body.labels if label in others]
    times_s, *rows = np.intersect1d(one.sample_s, other.sample_s, return_indices=True)
    moved_m = [recording.alone(whose).moved_m for recording, whose in ((one, body), (other, mate))]
    if min(moved_m) < MOVES_M or one.still or other.still or len(shared) < 3 or len(times_s) < 5:
        return False
    here_m, there_m = (
        seen.sampled(shared, whose.prefix, most=len(seen.sample_m))[row]
        for seen, whose, row in zip((one, other), (body, mate), rows, strict=True)
    )
    apart = np.abs(here_m - there_m).max(axis=2)
    known = ~np.isnan(apart)
    moves = known & (_moves(here_m) | _moves(there_m))
    if known.mean() <= 0.2 or not moves.any() or (apart[moves] < SAME_M).mean() <= 0.95:
        return False
    return bool(np.median(apart[moves]) < min(SAME_MEDIAN_M, SAME_SHARE * min(one.moved_m, other.moved_m)))


def _moves(places_m: FloatArray) -> BoolArray:
    """Frames and markers in which a marker is on its way, shape (n_frames, n_markers)."""
    low, high = np.fmin.reduce(places_m, axis=0), np.fmax.reduce(places_m, axis=0)
    range_m = np.nan_to_num(lengths(high - low))
    way_m = np.zeros(places_m.shape[:2])
    way_m[1:] = np.nan_to_num(lengths(np.diff(places_m, axis=0)))
    way_m[:-1] = np.maximum(way_m[:-1], way_m[1:])
    return np.asarray((range_m > MOVES_M) & (way_m > MOVES_SHARE * range_m))


@dataclass(frozen=True)
class Paired:
    """Force file of a recording.

    Attributes
    ----------
    forces : Seen or None
        The recording of the forces; None where it is not certain which one it is.
    sentence : str
        What it rests on, or what is left to decide.
    note : str
        The same in a few words, for the row; empty where there are no forces.
    """

    forces: Seen | None
    sentence: str
    note: str = ""


@functools.lru_cache(maxsize=100_000)
def stem_words(name: str) -> tuple[str, ...]:
    """Words and numbers of a file name, without suffix and words for a kind of file.

    Examples
    --------
    >>> stem_words("S01/Walk_1_GRF.mot"), stem_words("S01/walk1.trc"), stem_words("forces.mot")
    (('walk', '1'), ('walk', '1'), ())
    """
    stem = re.sub(r"_[af]_\d+$|_6d$", "", Path(name).stem.lower())  # of Qualisys: forces, analog and 6D data
    return tuple(word for word in re.findall(r"[^\W\d_]+|\d+", stem) if word not in OF_A_KIND)


def pair_forces(markers: Sequence[Seen], others: Sequence[Seen]) -> dict[str, Paired]:
    """Find the forces of recordings that have none.

    Parameters
    ----------
    markers : sequence of Seen
        Recordings with trials.
    others : sequence of Seen
        All recordings; those with force plates and without markers come into question.

    Returns
    -------
    dict of str to Paired
        By the name of the recording; one for which nothing comes into question is not in it.

    Notes
    -----
    A file has the forces of a recording where its name is the same but for the words that say what kind of file it is,
    it covers the recording's time, it has a whole number of samples for each frame, and it is not in the folder of another
    subject or nearer to another recording of that name. Where no name agrees, it is the
    only file of the folder that begins and ends when the recording does, and of no other recording. Where several come
    into question, none is taken.
    """
    bare = [one for one in markers if one.bodies and not one.n_plates]
    forces = [one for one in others if one.n_plates and not one.bodies]
    forces_of, bare_of = _by_words(forces), _by_words(bare)
    named = {one.name: forces_of.get(stem_words(one.name), []) for one in bare}
    taken = {f.name for files in named.values() for f in files}
    in_folder: dict[Path, list[Seen]] = {}
    for one in forces:
        if one.name not in taken:
            in_folder.setdefault(Path(one.name).parent, []).append(one)
    unnamed = {
        one.name: [f for f in in_folder.get(Path(one.name).parent, ()) if _fits(one, f, both=True)]
        for one in bare
        if not named[one.name]
    }
    claims = Counter(f.name for files in unnamed.values() for f in files)
    paired = {}
    for one in bare:
        if named[one.name]:
            mates = [other for other in bare_of[stem_words(one.name)] if other.name != one.name]
            paired[one.name] = _by_name(one, named[one.name], mates)
        elif files := unnamed[one.name]:
            rivals = [name for name, own in unnamed.items() if name != one.name and files[0] in own]
            paired[one.name] = _one_of(files, rivals if claims[files[0].name] > 1 else []) or Paired(
                files[0],
                "the forces are taken from the only file of the folder that begins and ends at the same time, although "
                "the names differ (column forces_file, a guess)",
                f"forces: {files[0].name}, by its time only",
            )
    return paired


def _by_words(recordings: Sequence[Seen]) -> dict[tuple[str, ...], list[Seen]]:
    """Recordings by the words of their names; those without words are left out."""
    by_words: dict[tuple[str, ...], list[Seen]] = {}
    for one in recordings:
        if words := stem_words(one.name):
            by_words.setdefault(words, []).append(one)
    return by_words


def _by_name(one: Seen, files: Sequence[Seen], mates: Sequence[Seen]) -> Paired:
    """Nearest file of a recording's name that fits it, and no other recording."""
    fitting = [f for f in files if _fits(one, f)]
    near = max((_shared_folders(one, f) for f in fitting), default=0)
    nearest = [f for f in fitting if _shared_folders(one, f) == near]
    if nearest:
        rivals = [mate.name for mate in mates if _fits(mate, nearest[0]) and _shared_folders(mate, nearest[0]) >= near]
        if undecided := _one_of(nearest, rivals):
            return undecided
        chosen = nearest[0].name
        if not _one_place(one, nearest[0]):
            return Paired(
                None,
                f"{chosen} has the same name and time, but is in another folder, such as another subject's; name it "
                "in the column forces_file if it has the forces of this recording",
            )
        sentence = "the forces are in a second file of the same name and time (column forces_file, a guess)"
        return Paired(nearest[0], sentence, f"forces: {chosen}, by its name and time")
    first = files[0]
    why = (
        f"runs from {first.begin_s:g} to {first.end_s:g} s and the markers from {one.begin_s:g} to {one.end_s:g} s"
        if not _same_time(one, first)
        else f"has {first.plate_rate_hz:g} samples per second, not a whole multiple of {one.rate_hz:g} frames per second"
    )
    return Paired(None, f"{first.name} has the same name, but {why}: not used as its force file (column forces_file)")


def _one_of(files: Sequence[Seen], rivals: Sequence[str]) -> Paired | None:
    """Sentence where several files or recordings come into question; else None."""
    names = " and ".join(f.name for f in files)
    if len(files) > 1:
        sentence = f"{names} may have its forces, as they cover the same time; name one in the column forces_file"
        return Paired(None, sentence)
    if not rivals:
        return None
    matches = f"has the same time, but also matches {', '.join(rivals)}"
    return Paired(None, f"{names} {matches}; name the file with the forces in the column forces_file")


def unread_forces(one: Seen, unread: Sequence[Unread]) -> str:
    """Sentence on likely force files that could not be read; empty without any.

    Parameters
    ----------
    one : Seen
        A recording with trials and without force plates.
    unread : sequence of Unread
        Files that could not be read.
    """
    said = []
    for file in unread:
        lacks_unit = "length_unit" in file.why
        alike = stem_words(one.name) and stem_words(one.name) == stem_words(file.name)
        if (
            not alike
            or Path(file.name).suffix.lower() not in FORCE_SUFFIXES
            or (lacks_unit and not is_of_forces(file.name))
        ):
            continue
        why = " ".join(file.why.split()).removeprefix(f"{Path(file.name).name}: ")
        why = why.replace("reading.length_unit", "reading.forces_length_unit").rstrip(".")
        then = f"{'set reading.forces_length_unit and ' if lacks_unit else ''}name it in forces_file"
        said.append(
            f"{file.name} has the same name but could not be read: {why}; if it has the forces of this recording, {then}"
        )
    return "; ".join(said)


def is_of_forces(name: str) -> bool:
    """Return True for a file whose suffix or name is that of forces.

    Examples
    --------
    >>> is_of_forces("walk1_GRF.csv"), is_of_forces("walk1.mot"), is_of_forces("walk1.csv")
    (True, True, False)
    """
    words = re.findall(r"[^\W\d_]+", Path(name).stem.lower())
    return Path(name).suffix.lower() in (".mot", ".sto", ".forces") or any(word in OF_FORCES for word in words)


def _one_place(one: Seen, other: Seen) -> bool:
    """Return True for the same folder, or one inside the other, but for file kinds."""
    mine, theirs = (
        [words for part in Path(each.name).parts[:-1] if (words := stem_words(part))] for each in (one, other)
    )
    return all(a == b for a, b in zip(mine, theirs, strict=False))


def _shared_folders(one: Seen, other: Seen) -> int:
    """Number of common folders of two recordings; one more for the same folder."""
    mine, theirs = (Path(each.name).parts[:-1] for each in (one, other))
    pairs = [a == b for a, b in zip(mine, theirs, strict=False)]
    return [*pairs, False].index(False) + (mine == theirs)


def _same_time(one: Seen, forces: Seen, *, both: bool = False) -> bool:
    """Return True if forces cover a recording's time; with `both`, exactly that time."""
    late_s, early_s = forces.begin_s - one.begin_s, one.end_s - forces.end_s
    most_s = FRAMES / one.rate_hz
    return max(late_s, early_s) <= most_s and (not both or min(late_s, early_s) >= -most_s)


def _fits(one: Seen, forces: Seen, *, both: bool = False) -> bool:
    """Return True if forces cover the recording, with whole samples per frame."""
    ratio = forces.plate_rate_hz / one.rate_hz
    return _same_time(one, forces, both=both) and round(ratio) >= 1 and abs(ratio - round(ratio)) <= RATIO


def pair_emg(trials_of: Sequence[Seen], seen: Sequence[Seen]) -> dict[str, Seen]:
    """Files of electromyography alone, by recordings without channels.

    The two are in one folder, each the only one there of its kind, and overlap in time.
    """
    alone = _by_folder(one for one in seen if one.emg and not one.bodies and not one.n_plates)
    moving = _by_folder(one for one in trials_of if not one.still)
    paired = {}
    for one in (one for one in trials_of if not one.emg):
        near, folder = alone.get(one.path.parent, []), one.path.parent
        if (
            len(near) == len(moving.get(folder, [])) == 1
            and near[0].begin_s < one.end_s
            and near[0].end_s > one.begin_s
        ):
            paired[one.name] = near[0]
    return paired


def _by_folder(recordings: Iterable[Seen]) -> Mapping[Path, list[Seen]]:
    by_folder: dict[Path, list[Seen]] = {}
    for one in recordings:
        by_folder.setdefault(one.path.parent, []).append(one)
    return by_folder
