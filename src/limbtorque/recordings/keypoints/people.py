"""People in keypoints: who is who from frame to frame."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from limbtorque.errors import ReadError
from limbtorque.recordings.keypoints.document import Person

Track = dict[int, Person]
MAX_PEOPLE = 50  # in one frame
MAX_STEP = 0.5  # of a person's size from frame to frame
MIN_SHARE = 0.2  # of the frames of the person that is seen longest: fewer are false detections and people who pass by
_FAR = 1e12


def tracks(people: Mapping[int, list[Person]], name: str) -> tuple[list[Track], int, bool]:
    """Frames of each person.

    Parameters
    ----------
    people : mapping of int to list of Person
        People by the number of the frame.
    name : str
        Name of the file.

    Returns
    -------
    tracks : list of dict of int to Person
        In the order in which they appear; at least a fifth of the frames of the longest.
    n_left_out : int
        Number of shorter ones.
    by_place : bool
        True where people were followed by the nearest place, as no identities distinguish them.

    Raises
    ------
    ReadError
        There is nobody, or a frame has too many people.
    """
    most = max(map(len, people.values()), default=0)
    if not most:
        raise ReadError(f"{name}: nobody is in any of the {len(people)} frames; run the network again")
    if most > MAX_PEOPLE:
        raise ReadError(f"{name}: {most} people are in one frame, expected {MAX_PEOPLE} at most; keep those to analyse")
    named = most > 1 and all(_distinct(ones) for ones in people.values())
    found = _by_identity(people) if named else _by_place(people)
    longest = max(map(len, found))
    kept = [track for track in found if len(track) >= MIN_SHARE * longest]
    return kept, len(found) - len(kept), most > 1 and not named


def _distinct(ones: list[Person]) -> bool:
    names = [one.identity for one in ones]
    return all(names) and len(set(names)) == len(names)


def _by_identity(people: Mapping[int, list[Person]]) -> list[Track]:
    found: dict[str, Track] = {}
    for number, ones in sorted(people.items()):
        for one in ones:
            found.setdefault(one.identity, {})[number] = one
    return list(found.values())


def _by_place(people: Mapping[int, list[Person]]) -> list[Track]:
    """People followed from frame to frame: the least sum of their steps."""
    from scipy.optimize import linear_sum_assignment  # slow to import, and seldom needed

    found: list[Track] = []
    last: list[Person] = []
    for number, ones in sorted(people.items()):
        apart = np.array([[_apart(before, one) for one in ones] for before in last]).reshape(len(last), len(ones))
        rows, columns = linear_sum_assignment(apart)
        follows = {int(k): int(t) for t, k in zip(rows, columns, strict=True) if apart[t, k] <= MAX_STEP}
        if len(ones) == len(last) == 1:
            follows = {0: 0}  # one person, however fast
        for k, one in enumerate(ones):
            if k not in follows:
                found.append({})
                last.append(one)
            track = follows.get(k, len(found) - 1)
            found[track][number] = last[track] = one
    return found


def _apart(before: Person, one: Person) -> float:
    """Median distance of two people's keypoints, in sizes of the first."""
    if before.labels != one.labels:
        return _FAR
    step = np.linalg.norm(np.nan_to_num(one.points[:, :3] - before.points[:, :3]), axis=1)
    both = (before.points[:, 3] > 0) & (one.points[:, 3] > 0) & np.isfinite(one.points[:, 0] + before.points[:, 0])
    place = before.points[both, :3]
    size = float(np.nan_to_num(place.max(axis=0) - place.min(axis=0)).max()) if both.any() else 0.0
    return min(float(np.median(step[both])) / size, _FAR) if size > 0.0 else _FAR
