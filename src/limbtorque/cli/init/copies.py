"""Copies of one movement: raw, smoothed, at any rate, cut or turned."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.cli.init.survey import Body, Seen

SAME_M, SAME_MEDIAN_M = 0.02, 0.005  # a smoothed copy differs by less: nearly everywhere, and in the median
SAME_SHARE = 0.05  # of the movement: the median may differ by so much
CELL_M = 0.02  # of the fingerprints
CELL_S = 0.02  # between crossings of levels
MOVES_M, MOVES_SHARE = 0.03, 0.05  # what rests in both recordings is no evidence
NEAR_M, NEAR_MEDIAN_M, NOISES = 0.01, 0.001, 2.0  # of distances between markers, besides the noise of both
NEAR_SHARES = (0.005, 0.03)  # of the range of a distance: median and 95th percentile of the differences
FINE_S = 0.0006  # at 2 m/s a millimetre
LEAST_S = 0.5  # that copies have in common
WAY_M = 0.02  # in twice the time below: on its way, however far it goes
MOVES_S, FEWEST = 0.05, 10  # time before and after in which a distance changes; samples of such changes
CROWD = 50  # recordings that one cell of a fingerprint remembers: thousands of alike ones would take hours
Key = tuple[object, ...]
Turn = tuple[str, Key, tuple[int, int], float]  # pair of markers, levels, durations, time


@dataclass
class _Known:
    """Recordings that are kept, by cells of places and of crossed levels."""

    places: dict[Key, list[tuple[Seen, Body]]] = field(default_factory=dict)
    crossings: dict[Key, list[tuple[Seen, Body, float]]] = field(default_factory=dict)

    def add(self, one: Seen, body: Body, prints: Sequence[Key], turns: Sequence[Turn]) -> None:
        """Remember a recording: further copies are copies of it, too."""
        for key in prints:
            if len(there := self.places.setdefault(key, [])) < CROWD:
                there.append((one, body))
        for name, levels, lasting, time_s in turns:
            if len(found := self.crossings.setdefault((name, levels, *lasting), [])) < CROWD:
                found.append((one, body, time_s))

    def at_the_same_places(self, one: Seen, body: Body, prints: Sequence[Key]) -> Seen | None:
        """Recording with the same positions at the same times."""
        likely = {
            (other.name, mate.prefix): (other, mate) for key in prints for other, mate in self.places.get(key, ())
        }
        shared = Counter((other.name, mate.prefix) for key in prints for other, mate in self.places.get(key, ()))
        found = (likely[who] for who, _ in shared.most_common(3))
        return next((o for o, mate in found if o is not one and same_movement(one, o, body, mate)), None)

    def elsewhere(self, one: Seen, body: Body, turns: Sequence[Turn]) -> tuple[Seen, Body, float] | None:
        """Recording with the same distances at other times or places, and when."""
        votes: Counter[tuple[str, str, int]] = Counter()
        likely: dict[tuple[str, str, int], tuple[Seen, Body, float]] = {}
        for name, levels, (a, b), time_s in turns:
            for da, db in product((-1, 0, 1), repeat=2):
                for other, mate, at_s in self.crossings.get((name, levels, a + da, b + db), ()):
                    key = other.name, mate.prefix, round((at_s - time_s) / (5.0 * CELL_S))
                    votes[key] += 1
                    likely.setdefault(key, (other, mate, at_s - time_s))
        for key, _ in votes.most_common(3):
            other, mate, late_s = likely[key]
            if other is not one and (found := same_distances(body, mate, late_s)) is not None:
                return other, mate, found
        return None


def copies_of(
    seen: Sequence[Seen], person: Mapping[tuple[str, str], str]
) -> tuple[dict[tuple[str, str], str], list[tuple[str, str]]]:
    """Copy of each movement that is kept, by recording and prefix.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    person : mapping of (str, str) to str
        Person of each recording and prefix.

    Returns
    -------
    copies : dict of (str, str) to str
        Recording and prefix -> sentence on the copy that is kept; empty for that one. Those with force plates go first, then
        those of a higher rate, then the longer, then noisier ones: raw before smoothed.
    sentences : list of (str, str)
        Movements of one person that are another person's at other times or in other axes, which are kept.
    """
    known = _Known()
    copies: dict[tuple[str, str], str] = {}
    said: list[tuple[str, str]] = []
    pairs = [(one, body) for one in seen for body in one.bodies]
    for one, body in sorted(pairs, key=_rank):
        prints, turns = list(fingerprints(one, body)), list(_turns(body))
        copies[one.name, body.prefix] = ""
        if other := known.at_the_same_places(one, body, prints):
            copies[one.name, body.prefix] = f"the same movement is in {other.name}"
            continue
        if moved := known.elsewhere(one, body, turns):
            other, mate, late_s = moved
            where = f"from {late_s:.2f} s on" if abs(late_s) > 0.5 / one.rate_hz else "in other axes"
            sentence = f"the same movement is in {other.name}, {where}, by the distances of its markers"
            mine, theirs = person[one.name, body.prefix], person[other.name, mate.prefix]
            if mine == theirs:
                copies[one.name, body.prefix] = sentence
                continue
            said.append((f"{sentence}, as that of {theirs}, and not of {mine}: check whose it is", one.name))
        known.add(one, body, prints, turns)
    return copies, said


def _rank(pair: tuple[Seen, Body]) -> tuple[object, ...]:
    """Order in which copies are kept."""
    one, body = pair
    lasting = round(10.0 * one.n_frames / one.rate_hz)
    return not one.n_plates, -one.rate_hz, -lasting, -round(math.log2(body.noise_m + 1e-9))


def same_movement(one: Seen, other: Seen, body: Body, mate: Body) -> bool:
    """Return True if two recordings have one movement at the same times and places.

    Parameters
    ----------
    one, other : Seen
        The recordings.
    body, mate : Body
        The body in each; static ones are never called the same.
    """
    theirs_too = set(mate.labels)
    shared = [label for label in body.labels if label in theirs_too]
    times_s, *rows = np.intersect1d(one.sample_s, other.sample_s, return_indices=True)
    still = [(b.moved_m if b.moved_m is not None else s.moved_m) < MOVES_M for s, b in ((one, body), (other, mate))]
    if any(still) or one.still or other.still or len(shared) < 3 or len(times_s) < 5:
        return False
    mine, theirs = (
        seen.sampled(shared, whose.prefix, most=len(seen.sample_m))[row]
        for seen, whose, row in zip((one, other), (body, mate), rows, strict=True)
    )
    apart = np.abs(mine - theirs).max(axis=2)
    known = ~np.isnan(apart)
    moves = known & (_moves(mine) | _moves(theirs))
    if known.mean() <= 0.2 or not moves.any() or (apart[moves] < SAME_M).mean() <= 0.95:
        return False
    return bool(np.median(apart[moves]) < min(SAME_MEDIAN_M, SAME_SHARE * min(one.moved_m, other.moved_m)))


def _moves(places_m: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Frames and markers in which a marker is on its way, shape (n_frames, n_markers)."""
    low, high = np.fmin.reduce(places_m, axis=0), np.fmax.reduce(places_m, axis=0)
    range_m = np.nan_to_num(lengths(high - low))
    way_m = np.zeros(places_m.shape[:2])
    way_m[1:] = np.nan_to_num(lengths(np.diff(places_m, axis=0)))
    way_m[:-1] = np.maximum(way_m[:-1], way_m[1:])
    return np.asarray((range_m > MOVES_M) & (way_m > MOVES_SHARE * range_m))


def same_distances(body: Body, mate: Body, late_s: float) -> float | None:
    """Time of a body's first frame in another recording of the same movement.

    Parameters
    ----------
    body, mate : Body
        The bodies, each with its trace.
    late_s : float
        About that time, s.

    Returns
    -------
    float or None
        The time, s; None where the distances between their markers are not the same.
    """
    mine, theirs = body.trace, mate.trace
    shared = [name for name in mine.pairs if name in theirs.pairs]
    if len(shared) < 2:
        return None
    here, there = ([trace.pairs.index(name) for name in shared] for trace in (mine, theirs))
    own_m, other_m = mine.distance_m[:, here].astype(float), theirs.distance_m[:, there].astype(float)
    times_s, other_s = (np.arange(len(trace.distance_m)) / trace.rate_hz for trace in (mine, theirs))
    step = max(1, round(MOVES_S * mine.rate_hz))

    noise_m = NOISES * (body.noise_m + mate.noise_m)

    def unlike(shift_s: float) -> float:
        inside = (times_s + shift_s >= 0.0) & (times_s + shift_s <= other_s[-1])
        if inside.sum() < LEAST_S * mine.rate_hz:
            return math.inf
        at = times_s[inside] + shift_s
        there_m = np.column_stack([np.interp(at, other_s, one) for one in other_m.T])
        return _unlike(own_m[inside], there_m, step, noise_m)

    for within_s in (0.5 / max(mine.rate_hz, theirs.rate_hz), FINE_S):
        late_s = min((late_s + k * within_s for k in range(-4, 5)), key=unlike)
    return late_s if unlike(late_s) < 1.0 else None


def _unlike(here_m: FloatArray, there_m: FloatArray, step: int, noise_m: float) -> float:
    """Differences of distances while they change, over their limits: the worst pair's."""
    found = []
    for mine, theirs in zip(here_m.T, there_m.T, strict=True):
        known = np.isfinite(mine) & np.isfinite(theirs)
        if 2 * known.sum() < len(known):
            return math.inf
        range_m = float(np.ptp(np.percentile(mine[known], (5.0, 95.0))))
        way_m = np.abs(mine[2 * step :] - mine[: -2 * step])
        apart = np.abs(mine - theirs)[step:-step][way_m > min(2.0 * MOVES_SHARE * range_m, WAY_M)]
        apart = apart[np.isfinite(apart)]
        if range_m > MOVES_M and len(apart) >= FEWEST:
            limits = np.minimum((NEAR_MEDIAN_M, NEAR_M), np.array(NEAR_SHARES) * range_m) + noise_m
            found.append(float((np.percentile(apart, (50.0, 95.0)) / limits).max()))
    return max(found) if len(found) > 1 else math.inf


def fingerprints(seen: Seen, body: Body) -> Iterator[Key]:
    """Cells of some markers in some frames; smoothed copies share most of them.

    Parameters
    ----------
    seen, body : Seen, Body
        The recording, and whose markers.
    """
    own = sorted(body.labels)[:5]
    cells = np.round(seen.sampled(own, body.prefix, most=len(seen.sample_m) or 1) / CELL_M)
    for time_s, frame in zip(seen.sample_s.tolist(), cells.tolist(), strict=True):
        for label, (x, y, z) in zip(own, frame, strict=True):
            if not math.isnan(x + y + z):
                yield (time_s, label, x, y, z)


def _turns(body: Body) -> Iterator[Turn]:
    """Three levels that a distance crosses in turn: pair, levels, durations, time."""
    found = body.trace.crossings
    for (pair, a, first_s), (second, b, middle_s), (third, c, last_s) in zip(found, found[1:], found[2:], strict=False):
        if pair == second == third:
            lasting = round((middle_s - first_s) / CELL_S), round((last_s - middle_s) / CELL_S)
            yield body.trace.pairs[pair], (a, b, c), lasting, first_s
