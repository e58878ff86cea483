"""Match force files to recordings without force plates, by name and time."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from limbtorque.cli.init.survey import Seen, Unread
from limbtorque.recordings.join import RATIO

OF_FORCES = ("grf", "grfs", "force", "forces", "forceplate", "forceplates", "plates", "kinetics")
OF_A_KIND = (
    *("marker", "markers", "mkr", "trajectories", "kinematics", "trc"),
    *OF_FORCES,
    *("analog", "mot", "sto"),
)
FORCE_SUFFIXES = (".mot", ".sto", ".forces", ".tsv", ".txt", ".csv")
FRAMES = 2  # how far begin and end of the two files may lie apart: the last sample of either may be missing


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
    words = re.findall(r"[^\W\d_]+|\d+", stem)
    return tuple(word for word in words if word not in OF_A_KIND)


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
    taken = {f.name for found in named.values() for f in found}
    unnamed = {
        one.name: [f for f in forces if f.name not in taken and _folder(f) == _folder(one) and _fits(one, f, both=True)]
        for one in bare
        if not named[one.name]
    }
    paired = {}
    for one in bare:
        if named[one.name]:
            paired[one.name] = _by_name(
                one, named[one.name], [other for other in bare_of[stem_words(one.name)] if other.name != one.name]
            )
        elif unnamed[one.name]:
            rivals = [
                name
                for name, found in unnamed.items()
                if name != one.name and set(_names(found)) & set(_names(unnamed[one.name]))
            ]
            paired[one.name] = _by_time(unnamed[one.name], rivals)
    return paired


def _by_words(recordings: Sequence[Seen]) -> dict[tuple[str, ...], list[Seen]]:
    """Recordings by the words of their names; those without words are left out."""
    found: dict[tuple[str, ...], list[Seen]] = {}
    for one in recordings:
        if words := stem_words(one.name):
            found.setdefault(words, []).append(one)
    return found


def unread_forces(one: Seen, unread: Sequence[Unread]) -> str:
    """Sentence on likely force files that could not be read; empty without any.

    Parameters
    ----------
    one : Seen
        A recording with trials and without force plates.
    unread : sequence of Unread
        Files that could not be read.
    """
    found = [
        u
        for u in unread
        if _same_name(one, u)
        and Path(u.name).suffix.lower() in FORCE_SUFFIXES
        and ("length_unit" not in u.why or is_of_forces(u.name))  # else its markers lack their unit
    ]
    said = []
    for u in found:
        why = " ".join(u.why.split()).removeprefix(f"{Path(u.name).name}: ")
        unit = "set reading.forces_length_unit and " if "length_unit" in why else ""
        why = why.replace("reading.length_unit", "reading.forces_length_unit").rstrip(".")
        said.append(
            f"{u.name} has the same name but could not be read: {why}; if it has the forces of this recording, {unit}name it in forces_file"
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


def _by_name(one: Seen, found: Sequence[Seen], others: Sequence[Seen]) -> Paired:
    fitting = [f for f in found if _fits(one, f)]
    near = max((_shared_folders(one, f) for f in fitting), default=0)
    nearest = [f for f in fitting if _shared_folders(one, f) == near]
    if len(nearest) == 1:
        chosen = nearest[0]
        rivals = [
            o.name for o in others if _same_name(o, chosen) and _fits(o, chosen) and _shared_folders(o, chosen) >= near
        ]
        if rivals:
            return _claimed(chosen, rivals)
        if not _one_place(one, chosen):
            return Paired(
                None,
                f"{chosen.name} has the same name and time, but is in another folder, such as another subject's; name it "
                "in the column forces_file if it has the forces of this recording",
            )
        return Paired(
            chosen,
            "the forces are in a second file of the same name and time (column forces_file, a guess)",
            f"forces: {chosen.name}, by its name and time",
        )
    if nearest:
        return _undecided(nearest)
    first = found[0]
    why = (
        f"runs from {first.begin_s:g} to {first.end_s:g} s and the markers from {one.begin_s:g} to {one.end_s:g} s"
        if not _same_time(one, first)
        else f"has {first.plate_rate_hz:g} samples per second, not a whole multiple of {one.rate_hz:g} frames per second"
    )
    return Paired(None, f"{first.name} has the same name, but {why}: not used as its force file (column forces_file)")


def _by_time(found: Sequence[Seen], rivals: Sequence[str]) -> Paired:
    if len(found) > 1:
        return _undecided(found)
    if rivals:
        return _claimed(found[0], rivals)
    return Paired(
        found[0],
        "the forces are taken from the only file of the folder that begins and ends at the same time, although the names "
        "differ (column forces_file, a guess)",
        f"forces: {found[0].name}, by its time only",
    )


def _claimed(forces: Seen, rivals: Sequence[str]) -> Paired:
    return Paired(
        None,
        f"{forces.name} has the same time, but also matches {', '.join(rivals)}; name the file with the "
        "forces in the column forces_file",
    )


def _undecided(found: Sequence[Seen]) -> Paired:
    return Paired(
        None,
        f"{' and '.join(_names(found))} may have its forces, as they cover the same time; name one in the column forces_file",
    )


def _names(found: Sequence[Seen]) -> list[str]:
    return [one.name for one in found]


def _folder(one: Seen) -> tuple[str, ...]:
    return Path(one.name).parts[:-1]


def _one_place(one: Seen, other: Seen) -> bool:
    """Return True for the same folder, or one inside the other, but for file kinds."""
    mine, theirs = ([words for part in _folder(each) if (words := stem_words(part))] for each in (one, other))
    return all(a == b for a, b in zip(mine, theirs, strict=False))


def _shared_folders(one: Seen, other: Seen) -> int:
    """Number of common folders of two recordings; one more for the same folder."""
    mine, theirs = _folder(one), _folder(other)
    shared = next(
        (k for k, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), min(len(mine), len(theirs))
    )
    return shared + (mine == theirs)


def _same_name(one: Seen, other: Seen | Unread) -> bool:
    return bool(stem_words(one.name)) and stem_words(one.name) == stem_words(other.name)


def _same_time(one: Seen, forces: Seen, *, both: bool = False) -> bool:
    """Return True if forces cover a recording's time; with `both`, exactly that time."""
    late_s, early_s = forces.begin_s - one.begin_s, one.end_s - forces.end_s
    most_s = FRAMES / one.rate_hz
    return max(late_s, early_s) <= most_s and (not both or min(late_s, early_s) >= -most_s)


def _fits(one: Seen, forces: Seen, *, both: bool = False) -> bool:
    """Return True if forces cover the recording, with whole samples per frame."""
    ratio = forces.plate_rate_hz / one.rate_hz
    return _same_time(one, forces, both=both) and round(ratio) >= 1 and abs(ratio - round(ratio)) <= RATIO
