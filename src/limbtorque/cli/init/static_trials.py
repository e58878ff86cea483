"""Static trials: landmarks that only they hold, and the clusters that carry them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray, lengths
from limbtorque.cli.init.bodies import LIMBS, unlike
from limbtorque.cli.init.known_sets import (
    OPPOSITE,
    Fit,
    cluster_templates,
    fits,
    fold,
    needed_landmarks,
    template_of,
)
from limbtorque.cli.init.names import some_of
from limbtorque.cli.init.people import People
from limbtorque.cli.init.survey import Body, Seen
from limbtorque.errors import SignalError
from limbtorque.motion.predicted_centres import carry, cluster_shape
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.quality import Quality

NEAREST = 8  # markers that are tried, in threes and fours
CLUSTER_SIZES = (3, 4)
BEYOND_M = 0.02  # a marker farther towards the next joint is on the next segment
COMPUTED_M = 1e-4  # a point nearer to the middle of two markers was computed from them


@dataclass(frozen=True)
class Standing:
    """A body in a recording in which a limb of it is still."""

    one: Seen
    body: Body


@dataclass
class Statics:
    """Static trials by person, and the clusters found so far.

    Attributes
    ----------
    by_folder : dict of (str, tuple of str) to list of Standing
        Person and folder -> bodies with a still limb, in the folder and those below it.
    certain : collection of str
        People of whom names say that their recordings are of one person.
    notes : list of (str, str)
        Sentences on static trials that are not used, each with the moving trial.
    """

    by_folder: Mapping[tuple[str, tuple[str, ...]], Sequence[Standing]]
    certain: Collection[str]
    notes: list[tuple[str, str]] = field(default_factory=list)
    _found: dict[tuple[object, ...], list[Fit]] = field(default_factory=dict)

    def of_trial(self, one: Seen, body: Body, person: str, limb: str) -> Seen | None:
        """Static trial of a moving one: of the same person, in the nearest folder.

        Parameters
        ----------
        one, body : Seen, Body
            The moving trial, and whose markers.
        person : str
            Who it is.
        limb : str
            ``"arm"`` or ``"leg"``, which is still in the static trial.

        Returns
        -------
        Seen or None
            Of those with further markers the one whose name begins alike, then that with most markers; None where there is none,
            where it is another body by the lengths of its segments, or where it is not certain whose it is.
        """
        folders, other_body = Path(one.name).parts[:-1], ""
        for depth in range(len(folders), -1, -1):
            near = [
                other
                for other in self.by_folder.get((person, folders[:depth]), ())
                if limb in other.body.still_limbs
                and other.body.prefix == body.prefix
                and set(other.body.labels) - set(body.labels)
            ]
            like = [other for other in near if not unlike([body.segments_m, other.body.segments_m])]
            if like:
                return self._nearest(one, like, certain=person in self.certain)
            if near and not other_body:
                why = unlike([body.segments_m, near[0].body.segments_m])
                other_body = f"{near[0].one.name} is not its static trial, as {why}"
        self.notes += [(other_body, one.name)] if other_body else []
        return None

    def _nearest(self, one: Seen, others: Sequence[Standing], *, certain: bool) -> Seen | None:
        words = [_shared(_words(one), _words(other.one)) for other in others]
        chosen = [other for other, shared in zip(others, words, strict=True) if shared == max(words)]
        if len(chosen) > 1 and not certain:
            names = some_of([other.one.name for other in chosen])
            sentence = f"{names}: nothing says which is its static trial; name it in the column static_file"
            self.notes.append((sentence, one.name))
            return None
        return max(chosen, key=lambda other: len(other.body.labels)).one

    def complete(self, one: Seen, body: Body, person: str, limb: str) -> tuple[Seen | None, list[Fit]]:
        """Fits of a moving trial with its static trial, both sides of one known set.

        Parameters
        ----------
        one, body : Seen, Body
            The moving trial, and whose markers.
        person : str
            Who it is.
        limb : str
            ``"arm"`` or ``"leg"``.

        Returns
        -------
        static : Seen or None
            The static trial.
        fits : list of Fit
            Complete fits in which a landmark is carried, with more landmarks of their own than without the static trial; empty
            where there are none. Trials of a subject with the same markers have the same clusters, those of the first one.
        """
        static = None if limb in body.still_limbs else self.of_trial(one, body, person, limb)
        if static is None:
            return None, []
        standing = next(other for other in static.bodies if other.prefix == body.prefix)
        key = (static.name, body.prefix, frozenset(body.labels), limb)
        if key not in self._found:
            self._found[key] = _complete(Pair(one, static, body.prefix), body.labels, standing.labels, LIMBS[limb])
        return static, self._found[key]


def _words(one: Seen) -> list[str]:
    """Words and numbers of a file's name."""
    return re.findall(r"[^\W\d_]+|\d+", Path(one.name).stem.lower())


def _shared(some: Sequence[str], others: Sequence[str]) -> int:
    """Number of equal entries at the beginning of two sequences."""
    pairs = zip(some, others, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(some), len(others)))


@dataclass(frozen=True)
class Around:
    """Joints before and after a landmark in the static trial.

    Attributes
    ----------
    before, after : ndarray of shape (3,) or None
        Their places, m; None where they are not known.
    first : bool
        The landmark is at the first joint of the chain, whose segment is not in the chain.
    """

    before: FloatArray | None = None
    after: FloatArray | None = None
    first: bool = False

    def proximal(self, markers_m: FloatArray, landmark_m: FloatArray) -> NDArray[np.bool_]:
        """Markers on the landmark's own, proximal segment rather than on the next.

        Parameters
        ----------
        markers_m : ndarray of shape (n_markers, 3)
            Mean places in the static trial, m.
        landmark_m : ndarray of shape (3,)
            The landmark there, m.
        """
        if self.after is None or (self.before is None and not self.first):
            return np.ones(len(markers_m), dtype=bool)
        if self.before is None:
            ahead = self.after - landmark_m
            return np.asarray((markers_m - landmark_m) @ ahead / lengths(ahead) < BEYOND_M)
        own, following = (_from_line(markers_m, landmark_m, end) for end in (self.before, self.after))
        return np.asarray(own <= following)


def _from_line(points_m: FloatArray, start_m: FloatArray, end_m: FloatArray) -> FloatArray:
    """Distances of points from the line between two others."""
    line = end_m - start_m
    along = np.clip((points_m - start_m) @ line / (line @ line), 0.0, 1.0)
    return lengths(points_m - start_m - along[:, None] * line)


@dataclass(frozen=True)
class Pair:
    """A moving and a static trial, and the subject prefix of the labels."""

    moving: Seen
    static: Seen
    prefix: str

    def standing(self, labels: Sequence[str]) -> FloatArray:
        """Mean of some markers in the static trial, shape (n_samples, 3), m."""
        return np.asarray(self.static.sampled(labels, self.prefix).mean(axis=1))


def static_trials(seen: Sequence[Seen], people: People) -> Statics:
    """Find the static trials of each person: recordings in which a limb is still.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    people : People
        Who is who.
    """
    found: dict[tuple[str, tuple[str, ...]], list[Standing]] = {}
    for one in seen:
        folders = Path(one.name).parts[:-1]
        for body in one.bodies:
            for depth in range(len(folders) + 1) if body.still_limbs else ():
                key = people.of[one.name, body.prefix], folders[:depth]
                found.setdefault(key, []).append(Standing(one, body))
    return Statics(found, people.certain)


def _complete(pair: Pair, moving: Sequence[str], standing: Sequence[str], model: ChainModel) -> list[Fit]:
    """Best complete fits with clusters, if they have more landmarks than without."""
    needed = needed_landmarks(model)
    alone = max((len(set(needed) & set(fit.rules)) for fit in fits(moving, model) if not fit.missing), default=0)
    both = [fit for fit in fits([*dict.fromkeys((*moving, *standing))], model) if not fit.missing]
    for known in dict.fromkeys(fit.known.name for fit in both):
        done: list[Fit] = []
        for fit in (fit for fit in both if fit.known.name == known):
            found = _with_clusters(fit, pair, moving, model, done)
            if found and found.carried and len(set(needed) & set(found.rules)) > alone:
                done.append(found)
        if done:
            return done
    return []


def _with_clusters(fit: Fit, pair: Pair, moving: Sequence[str], model: ChainModel, others: Sequence[Fit]) -> Fit | None:
    """Fit with clusters for the landmarks that the moving trial lacks.

    None where a landmark that is needed has no cluster. The other side's clusters go first, and landmarks of the same markers have the same one.
    """
    needed = needed_landmarks(model)
    wanted = {*needed, *(pair[0] for name, pair in fit.known.substitutes.items() if name in needed)}
    lacking = [name for name, labels in fit.rules.items() if not set(labels) <= set(moving)]
    clusters: dict[str, tuple[str, ...]] = {}
    for name in sorted(wanted & set(lacking), key=lambda name: -len(fit.rules[name])):
        labels = fit.rules[name]
        alike = next((clusters[other] for other in clusters if set(labels) <= set(fit.rules[other])), ())
        mirrored = [mirrored_cluster(other.carried[name], other.side) for other in others if name in other.carried]
        around = _around(name, fit, pair, model)
        clusters[name] = (
            alike
            or best_cluster(labels, pair, moving, side=fit.side, first=mirrored, around=around)
            or best_cluster(labels, pair, moving, side=fit.side)  # a joint belongs to both of its segments
        )
        if not clusters[name]:
            return None
    rules = {name: labels for name, labels in fit.rules.items() if name in clusters or name not in lacking}
    return replace(fit, rules=rules, carried={name: clusters[name] for name in fit.rules if name in clusters})


def mirrored_cluster(cluster: Sequence[str], side: str) -> tuple[str, ...]:
    """Labels of a cluster on the other side; the same for a cluster of both sides.

    >>> mirrored_cluster(["RTH1", "RTH2"], "right"), mirrored_cluster(["RASI", "LASI"], "right")
    (('LTH1', 'LTH2'), ('RASI', 'LASI'))
    """
    other = OPPOSITE.get(side, "")
    letter = other[:1]
    return tuple(
        template.replace("{S}", letter.upper()).replace("{s}", letter).replace("{side}", other)
        for template in cluster_templates(cluster, side)
    )


def _around(name: str, fit: Fit, pair: Pair, model: ChainModel) -> Around:
    """Joints around a landmark in the static trial, by the joint nearest to it."""
    chain = [*(joint.landmark for joint in model.joints), model.end]
    places = {joint: pair.standing(fit.rules[joint]) for joint in chain if joint in fit.rules}
    here = pair.standing(fit.rules[name])
    places = {joint: place for joint, place in places.items() if np.isfinite(place - here).any()}
    away = {joint: float(np.nanmean(lengths(place - here))) for joint, place in places.items()}
    at = chain.index(min(away, key=away.__getitem__, default=chain[-1]))
    means = [np.nanmean(places[joint], axis=0) if joint in places else None for joint in chain]
    return Around(means[at - 1] if at else None, means[at + 1] if at + 1 < len(chain) else None, first=at == 0)


def best_cluster(
    labels: Sequence[str],
    pair: Pair,
    moving: Sequence[str],
    *,
    side: str = "",
    first: Sequence[tuple[str, ...]] = (),
    around: Around | None = None,
) -> tuple[str, ...]:
    """Markers that carry a landmark with the least expected error.

    Parameters
    ----------
    labels : sequence of str
        The landmark's markers in the static trial; it is their mean.
    pair : Pair
        The two recordings.
    moving : sequence of str
        Labels of the moving trial.
    side : str, optional
        Side of the landmark: clusters of the other side alone are left out.
    first : sequence of tuple of str
        Clusters that are taken if they are rigid, such as the other side's.
    around : Around, optional
        Joints around the landmark: markers of the next segment are left out.

    Returns
    -------
    tuple of str
        Three or four of the markers nearest to the landmark; empty where no such cluster keeps its shape within
        ``quality.cluster_residual_m``.
    """
    others = [label for label in moving if not any(fold(label).startswith(fold(own)) for own in labels)]
    standing, walking = (one.sampled(others, pair.prefix) for one in (pair.static, pair.moving))
    landmark = pair.standing(labels)
    usable = np.isfinite(walking).all(axis=(0, 2)) & np.isfinite(standing + landmark[:, None]).all(axis=2).any(axis=0)
    for some in (cluster for cluster in first if set(cluster) <= set(others)):
        if np.isfinite(_error([others.index(label) for label in some], standing, landmark, walking)[0]):
            return some
    usable &= ~_computed(others, standing)
    kept = np.flatnonzero(usable)
    places, here = np.nanmean(standing[:, kept], axis=0), np.nanmean(landmark, axis=0)
    if around is not None:
        own = around.proximal(places, here)
        kept, places = kept[own], places[own]
    near = kept[np.argsort(lengths(places - here), kind="stable")][:NEAREST].tolist()
    of_other = {k for k in near if side and template_of(others[k], OPPOSITE[side]) != others[k]}
    chosen = [list(some) for n in CLUSTER_SIZES for some in combinations(near, n) if not set(some) <= of_other]
    error, best = min((_error(some, standing, landmark, walking) for some in chosen), default=(np.inf, []))
    return tuple(others[k] for k in sorted(best)) if np.isfinite(error) else ()


def _computed(labels: Sequence[str], standing_m: FloatArray) -> NDArray[np.bool_]:
    """Points computed from other markers: virtual ones, and middles of two."""
    seen = np.isfinite(standing_m).all(axis=2).any(axis=0)
    mean = np.full(standing_m.shape[1:], np.nan)
    mean[seen] = np.nanmedian(standing_m[:, seen], axis=0)
    middles = (mean[:, None] + mean) / 2.0
    middles[np.diag_indices(len(mean))] = np.nan
    near = np.array([bool((lengths(middles - place) < COMPUTED_M).any()) for place in mean], dtype=bool)
    virtual = np.array([label[-1:] == "v" and label[:-1].isupper() for label in labels], dtype=bool)
    return np.asarray(near | virtual)


def _error(
    some: list[int], standing_m: FloatArray, landmark_m: FloatArray, walking_m: FloatArray
) -> tuple[float, list[int]]:
    """Expected error of a carried landmark; infinite without a rigid cluster."""
    try:
        found = carry(cluster_shape(standing_m[:, some], landmark_m), walking_m[:, some])
    except SignalError:
        return float("inf"), some
    rigid = found.residual_m <= Quality().cluster_residual_m
    return (found.expected_error_m if rigid else float("inf")), some
