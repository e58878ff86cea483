"""Files that belong together: copies, forces and electromyography."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from limbtorque.cli.init.survey import STILL_M, Body, Seen, Unread
from limbtorque.recordings.join import RATIO

EQUAL_M = 1e-3  # equal samples, which a file may have in whole millimetres
CELL_M = 0.02  # of the fingerprints
LEAST_SHARED = 0.2  # of the samples at the same times
CROWD = 50  # recordings that one cell of a fingerprint remembers: thousands of alike ones would take hours
OF_FORCES = ("grf", "grfs", "force", "forces", "forceplate", "forceplates", "plates", "kinetics")
OF_A_KIND = (
    *("marker", "markers", "mkr", "trajectories", "kinematics", "trc"),
    *OF_FORCES,
    *("analog", "mot", "sto"),
)
FORCE_SUFFIXES = (".mot", ".sto", ".forces", ".tsv", ".txt", ".csv")
BY_NAME = "the forces come from a second file with the same name and times (column forces_file, a guess)"
BY_TIME = (
    "the forces come from the only file in the folder with the same start and end, although "
    "its name differs (column forces_file, a guess)"
)
FRAMES = 2  # how far begin and end of the two files may lie apart: the last sample of either may be missing
Cell = tuple[float, str, float, float, float]  # time, label and place
Item = TypeVar("Item")


def copies_of(seen: Sequence[Seen]) -> dict[tuple[str, str], str]:
    """Retained copy of each movement, by recording and prefix.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.

    Returns
    -------
    dict of (str, str) to str
        Recording and prefix -> sentence on the copy that is kept; empty for that one. Those with force plates go first, then
        those of a higher rate, then the longer.
    """
    kept: dict[Cell, list[tuple[Seen, Body]]] = {}
    copies: dict[tuple[str, str], str] = {}
    in_order = sorted(seen, key=lambda one: (not one.n_plates, -one.rate_hz, -one.n_frames))
    for recording, body in ((one, body) for one in in_order for body in one.bodies):
        cells = list(fingerprints(recording, body))
        likely = {(other.name, mate.prefix): (other, mate) for cell in cells for other, mate in kept.get(cell, ())}
        shared = Counter((other.name, mate.prefix) for cell in cells for other, mate in kept.get(cell, ()))
        others = [likely[key] for key, _ in shared.most_common(3) if key[0] != recording.name]
        copy = next((other.name for other, mate in others if same_movement(recording, other, body, mate)), "")
        copies[recording.name, body.prefix] = f"same movement as {copy}" if copy else ""
        for cell in cells if not copy else ():
            if len(kept.setdefault(cell, [])) < CROWD:
                kept[cell].append((recording, body))
    return copies


def fingerprints(seen: Seen, body: Body) -> Iterator[Cell]:
    """Cells of some markers in some frames, which copies share.

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
    """Return True if all samples of the same times and labels are equal.

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
    if min(body.moved_m, mate.moved_m) < STILL_M or len(shared) < 3 or len(times_s) < 5:
        return False
    here_m, there_m = (
        seen.sampled(shared, whose.prefix, most=len(seen.sample_m))[row]
        for seen, whose, row in zip((one, other), (body, mate), rows, strict=True)
    )
    apart_m = np.abs(here_m - there_m).max(axis=2)
    known = ~np.isnan(apart_m)
    return bool(known.mean() > LEAST_SHARED and (apart_m[known] < EQUAL_M).all())


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


def pair_forces(markers: Sequence[Seen], others: Sequence[Seen]) -> dict[str, tuple[Seen | None, str]]:
    """Find force files for recordings without forces.

    Parameters
    ----------
    markers : sequence of Seen
        Recordings with trials.
    others : sequence of Seen
        All recordings; those with force plates and without markers come into question.

    Returns
    -------
    dict of str to (Seen or None, str)
        Name of the recording -> its force file, None where that is not certain, and a sentence on it. A recording for which nothing comes
        into question is not in it.

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
    by_words = grouped([file for file in forces if stem_words(file.name)], lambda file: stem_words(file.name))
    by_name = {one.name: by_words.get(stem_words(one.name), []) for one in bare}
    with_name = {file.name for files in by_name.values() for file in files}
    by_folder = grouped([file for file in forces if file.name not in with_name], lambda file: file.path.parent)
    claims: dict[str, list[Seen]] = {}  # force file -> recordings that it fits
    nearest: dict[str, list[Seen]] = {}
    for one in bare:
        files = by_name[one.name]
        fitting = [f for f in files or by_folder.get(one.path.parent, []) if not _misfit(one, f, exactly=not files)]
        near = max((_shared_folders(one, f) for f in fitting), default=0)
        nearest[one.name] = [f for f in fitting if _shared_folders(one, f) == near]
        for file in fitting:
            claims.setdefault(file.name, []).append(one)
    paired: dict[str, tuple[Seen | None, str]] = {}
    for one in bare:
        if not (files := nearest[one.name]):
            if named := by_name[one.name]:
                why = f"{named[0].name} has the same name, but {_misfit(one, named[0])}"
                paired[one.name] = None, f"{why}: not used as its force file (column forces_file)"
            continue
        file, names = files[0], " and ".join(f.name for f in files)
        near = _shared_folders(one, file)
        rivals = [r.name for r in claims[file.name] if r is not one and _shared_folders(r, file) >= near]
        if len(files) > 1 or rivals or (by_name[one.name] and not _one_place(one, file)):
            also = f"; it also matches {', '.join(rivals)}" if rivals else ""
            paired[one.name] = None, f"{names} may have its forces{also}: name its file in the column forces_file"
        else:
            paired[one.name] = file, BY_NAME if by_name[one.name] else BY_TIME
    return paired


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> dict[Hashable, list[Item]]:
    """Items by a key, in their order."""
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def unread_forces(one: Seen, unread: Sequence[Unread]) -> str:
    """Sentence on likely force files that could not be read; empty if there are none.

    Parameters
    ----------
    one : Seen
        A recording with trials and without force plates.
    unread : sequence of Unread
        Files that could not be read.
    """
    sentences = []
    for file in unread:
        of_forces = is_of_forces(file.name) or Path(file.name).suffix.lower() in FORCE_SUFFIXES
        if (
            of_forces
            and not file.if_answered
            and stem_words(one.name)
            and stem_words(one.name) == stem_words(file.name)
        ):
            why = " ".join(file.why.split()).removeprefix(f"{Path(file.name).name}: ").rstrip(".")
            sentences.append(
                f"{file.name} has the same name but could not be read: {why}; if it has the forces of this recording, "
                "name it in forces_file"
            )
    return "; ".join(sentences)


def unanswered(looked: Sequence[Seen | Unread]) -> list[tuple[str, str]]:
    """Units and rates that needed files do not state: file and option of `reading`.

    Parameters
    ----------
    looked : sequence of Seen or Unread
        The recordings.

    Notes
    -----
    Not needed are copies of a recording in another format, and force files that fit no recording.
    """
    seen = [one for one in looked if isinstance(one, Seen)]
    copied = {Path(one.name).with_suffix("") for one in seen if one.bodies}
    lacking = [one.if_answered for one in looked if isinstance(one, Unread) and one.if_answered]
    markers = [one for one in lacking if one.bodies and Path(one.name).with_suffix("") not in copied]
    paired = pair_forces([one for one in (*seen, *markers) if one.bodies], lacking).values()
    forces = [one for one in lacking if any(one is file for file, _ in paired)]
    return [(one.name, name) for one in (*markers, *forces) for name, _ in one.answers]


def is_of_forces(name: str) -> bool:
    """Return True for a file with the suffix or name of a force file.

    Examples
    --------
    >>> is_of_forces("walk1_GRF.csv"), is_of_forces("walk1.mot"), is_of_forces("walk1.csv")
    (True, True, False)
    """
    words = re.findall(r"[^\W\d_]+", Path(name).stem.lower())
    return Path(name).suffix.lower() in (".mot", ".sto", ".forces") or any(word in OF_FORCES for word in words)


def _one_place(one: Seen, other: Seen) -> bool:
    """Return True for the same or nested folders, ignoring folders of a file type."""
    mine, theirs = (
        [words for part in Path(each.name).parts[:-1] if (words := stem_words(part))] for each in (one, other)
    )
    return all(a == b for a, b in zip(mine, theirs, strict=False))


def _shared_folders(one: Seen, other: Seen) -> int:
    """Number of common parent folders of two recordings, plus one for the same folder."""
    mine, theirs = (Path(each.name).parts[:-1] for each in (one, other))
    pairs = [a == b for a, b in zip(mine, theirs, strict=False)]
    return [*pairs, False].index(False) + (mine == theirs)


def _misfit(one: Seen, forces: Seen, *, exactly: bool = False) -> str:
    """Reason why forces do not fit a recording; empty if they fit.

    With `exactly` they also begin and end when the recording does.
    """
    late_s, early_s, most_s = forces.begin_s - one.begin_s, one.end_s - forces.end_s, FRAMES / one.rate_hz
    if max(late_s, early_s) > most_s or (exactly and min(late_s, early_s) < -most_s):
        return f"runs from {forces.begin_s:g} to {forces.end_s:g} s and the markers from {one.begin_s:g} to {one.end_s:g} s"
    ratio = forces.plate_rate_hz / one.rate_hz
    if round(ratio) >= 1 and abs(ratio - round(ratio)) <= RATIO:
        return ""
    return f"has {forces.plate_rate_hz:g} samples per second, not a whole multiple of {one.rate_hz:g} frames per second"


def pair_emg(trials_of: Sequence[Seen], seen: Sequence[Seen]) -> dict[str, Seen]:
    """Files of electromyography alone, by recordings without channels.

    Both are the only file of their kind in the same folder, and overlap in time.
    """
    emg_files = grouped(
        (one for one in seen if one.emg and not one.bodies and not one.n_plates), lambda one: one.path.parent
    )
    moving = grouped((one for one in trials_of if not one.still), lambda one: one.path.parent)
    paired = {}
    for one in (one for one in trials_of if not one.emg and len(moving.get(one.path.parent, [])) == 1):
        match emg_files.get(one.path.parent, []):
            case [file] if file.begin_s < one.end_s and file.end_s > one.begin_s:
                paired[one.name] = file
    return paired
