"""Proposed marker sets: known, carried from a static trial, or to be completed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, lengths
from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.known_sets import (
    LIMBS,
    OPPOSITE,
    Fit,
    cluster_templates,
    fits,
    fold,
    template_of,
    wanted_landmarks,
)
from limbtorque.cli.init.people import People
from limbtorque.cli.init.survey import Body, Seen
from limbtorque.errors import SignalError
from limbtorque.motion.landmarks import filled
from limbtorque.motion.predicted_centres import carry, cluster_shape
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.quality import Quality
from limbtorque.study.table_file import TO_DO

NEAREST = 8  # markers that are tried, in threes and fours
CLUSTER_SIZES = (3, 4)
BEYOND_M = 0.02  # a marker farther towards the next joint is on the next segment
LEAST_SEEN = 0.8  # of the frames in which the best marker is seen
COMPUTED_M = 1e-4  # a point nearer to the middle of two markers was computed from them
Around = tuple[FloatArray | None, FloatArray | None]


@dataclass(frozen=True)
class ProposedSet:
    """A marker set.

    Attributes
    ----------
    name : str
        Its name in the settings.
    rules : dict of str to tuple of str
        Landmark -> labels, with their side as {S}, {s} or {side}; ``("TODO",)`` where it has to be named.
    comments : dict of str to str
        Landmark -> what it is, or what might be it.
    substitutes : dict of str to (str, str)
        Landmark -> the one that stands for it, and why.
    about : tuple of str
        Sentences on the whole set.
    computed : dict of str to str
        Landmark -> rule in YAML, of those that are predicted, or carried from a static trial.
    fractions : dict of str to float
        Landmarks that lie between the two labels of their rule -> fraction of the way.
    errors : dict of str to str or float
        Landmark -> kind or size of its error, where it is not that of a marker.
    """

    name: str
    rules: Mapping[str, tuple[str, ...]]
    comments: Mapping[str, str]
    substitutes: Mapping[str, tuple[str, str]]
    about: tuple[str, ...]
    computed: Mapping[str, str] = field(default_factory=dict)
    fractions: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def n_open(self) -> int:
        """Number of landmarks left to map."""
        return sum(labels[0].startswith(TO_DO) for labels in self.rules.values())


@dataclass
class Sets:
    """Marker sets proposed so far, by content."""

    by_content: dict[str, ProposedSet] = field(default_factory=dict)

    def name_of(self, proposed: ProposedSet) -> str:
        """Name of the set with this content; a new set is added."""
        content = repr(replace(proposed, comments={}, about=()))
        if content not in self.by_content:
            names = {known.name for known in self.by_content.values()}
            numbered = (f"{proposed.name}_{n}" for n in range(2, len(names) + 3))
            name = next(name for name in (proposed.name, *numbered) if name not in names)
            self.by_content[content] = replace(proposed, name=name)
        return self.by_content[content].name


def set_of(fit: Fit, both: Sequence[Fit]) -> ProposedSet:
    """Marker set from a known set, with {S} where it fits both sides.

    Parameters
    ----------
    fit : Fit
        How the known set fits one side.
    both : sequence of Fit
        The fits of both sides.
    """
    own, carried = _templates(fit)
    other = next((mate for mate in both if mate.side != fit.side), None)
    named = fit.known.name
    if other is not None and (own, carried) != _templates(other):
        own, carried = _templates(fit, capital=True)  # r_knee and L_knee: labels are found in either case
        if (own, carried) != _templates(other, capital=True):
            named = f"{fit.known.name}_{fit.side}"
            own, carried = dict(fit.rules), dict(fit.carried)
    computed = _predicted(fit) | {
        name: f"{{static: {yaml_rule(own.pop(name), fit.known.fractions.get(name))}, cluster: {yaml_list(cluster)}}}"
        for name, cluster in carried.items()
    }
    given = {*own, *computed}
    used = {name: pair for name, pair in fit.known.substitutes.items() if name not in given and pair[0] in given}
    return ProposedSet(
        name=named,
        rules=own,
        comments={name: fit.known.meaning[name] for name in (*own, *computed)},
        substitutes=used,
        about=(f"{fit.known.title}; names from: {fit.known.source}",),
        computed=computed,
        fractions={name: part for name, part in fit.known.fractions.items() if name in own},
        errors=_errors(fit, {*own, *carried}, used),
    )


def _templates(fit: Fit, *, capital: bool = False) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Rules and clusters with {S}, {s} or {side} for the side."""

    def spelled(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(text.replace("{s}", "{S}") if capital else text for text in texts)

    rules = {name: [template_of(label, fit.side) for label in labels] for name, labels in fit.rules.items()}
    clusters = {name: cluster_templates(cluster, fit.side) for name, cluster in fit.carried.items()}
    return {n: spelled(texts) for n, texts in rules.items()}, {n: spelled(texts) for n, texts in clusters.items()}


def _predicted(fit: Fit) -> dict[str, str]:
    """Rules of predicted joint centres in YAML."""
    return {name: f"{{{kind}: {rule}}}" for name, (kind, rule) in fit.predicted.items()}


def yaml_rule(labels: Sequence[str], fraction: float | None) -> str:
    """Rule in YAML: labels, or a point at a fraction of the way between two."""
    return yaml_labels(labels) if fraction is None else f"{{between: {yaml_list(labels)}, fraction: {fraction:g}}}"


def yaml_list(labels: Sequence[str]) -> str:
    """Labels as a list in YAML."""
    return json.dumps(list(labels), ensure_ascii=False)


def yaml_labels(labels: Sequence[str]) -> str:
    """Labels of a rule in YAML: a text, or a list of them."""
    return json.dumps(labels[0] if len(labels) == 1 else list(labels), ensure_ascii=False)


def partial_set(fits_of: Mapping[str, Sequence[Fit]], labels: Sequence[str]) -> tuple[str, list[str], ProposedSet]:
    """Chain, sides and marker set where known sets fit only partly.

    Parameters
    ----------
    fits_of : dict of str to sequence of Fit
        Chain -> known sets that fit in part; at least one.
    labels : sequence of str
        Labels of the body.

    Returns
    -------
    chain, sides, proposed
        Of the chain that lacks fewest landmarks; these are to be filled in.
    """
    chain = min((name for name in fits_of if fits_of[name]), key=lambda name: len(fits_of[name][0].missing))
    partly = fits_of[chain][0]
    sides = [fit for fit in fits_of[chain] if fit.known.name == partly.known.name]
    begun = set_of(partly, sides)
    wanted, of_arm, of_leg = (wanted_landmarks(partly.known, LIMBS[limb]) for limb in (chain, "arm", "leg"))
    others = (of_arm | of_leg) - wanted
    rules = {name: labels for name, labels in begun.rules.items() if name not in others}
    computed = {name: rule for name, rule in begun.computed.items() if name not in others}
    substitutes = dict(begun.substitutes)
    rules |= dict.fromkeys(partly.missing, (TO_DO,))
    for name, pair in partly.known.substitutes.items():
        if rules.get(name) == (TO_DO,) and pair[0] in rules:  # one place to fill in serves both
            del rules[name]
            substitutes[name] = pair
    about = (
        "no known marker set fits these labels; name the marker, or a list of markers, for each landmark",
        f"labels: {', '.join(labels)}",
    )
    proposed = replace(
        begun,
        name="my_markers",
        rules=rules,
        comments={**begun.comments, **{name: partly.known.missing.get(name, "") for name in partly.missing}},
        substitutes=substitutes,
        about=about,
        computed=computed,
        errors=_errors(partly, rules, substitutes),
    )
    return chain, [fit.side or TO_DO for fit in sides], proposed


def _errors(fit: Fit, rules: Collection[str], substitutes: Mapping[str, tuple[str, str]]) -> dict[str, str | float]:
    """Errors of a set's landmarks, with their substitutes."""
    others = fit.known.errors_of_substitutes
    own = {name: error for name, error in fit.known.errors.items() if name in rules}
    return own | {by: others[name] for name, (by, _) in substitutes.items() if name in others}


@dataclass
class Statics:
    """Static trials by person, and their clusters so far.

    Attributes
    ----------
    by_folder : dict of (str, tuple of str) to list of (Seen, Body)
        Person and folder -> bodies with a still limb, in the folder and those below it.
    certain : collection of str
        People of whom names say that their recordings are of one person.
    notes : list of (str, str)
        Sentences on static trials that are not used, each with the moving trial.
    """

    by_folder: Mapping[tuple[str, tuple[str, ...]], Sequence[tuple[Seen, Body]]]
    certain: Collection[str]
    notes: list[tuple[str, str]] = field(default_factory=list)
    _known: dict[tuple[object, ...], list[Fit]] = field(default_factory=dict)

    def of_trial(self, moving: Seen, body: Body, person: str, limb: str) -> Seen | None:
        """Static trial for a moving trial: of the same person, in the nearest folder.

        Parameters
        ----------
        moving, body : Seen, Body
            The moving trial, and whose markers.
        person : str
            Who it is.
        limb : str
            ``"arm"`` or ``"leg"``, which is still in the static trial.

        Returns
        -------
        Seen or None
            Of those with further markers the one whose name begins alike, then that with most markers; None where there is none,
            or where it is not certain whose it is.
        """
        folders = Path(moving.name).parts[:-1]
        for depth in range(len(folders), -1, -1):
            near = [
                (static, other)
                for static, other in self.by_folder.get((person, folders[:depth]), ())
                if limb in other.still_limbs and other.prefix == body.prefix and set(other.labels) - set(body.labels)
            ]
            if near:
                words = [_shared_words(moving, static) for static, _ in near]
                alike = [pair for pair, shared in zip(near, words, strict=True) if shared == max(words)]
                if len(alike) > 1 and person not in self.certain:
                    names = some_of([static.name for static, _ in alike])
                    sentence = f"{names}: its static trial is not known; name it in the column static_file"
                    self.notes.append((sentence, moving.name))
                    return None
                return max(alike, key=lambda pair: len(pair[1].labels))[0]
        return None

    def complete(self, moving: Seen, body: Body, person: str, limb: str) -> tuple[Seen | None, list[Fit]]:
        """Fits of a moving trial with its static trial to one known set, both sides.

        Parameters
        ----------
        moving, body : Seen, Body
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
        static = None if limb in body.still_limbs else self.of_trial(moving, body, person, limb)
        if static is None:
            return None, []
        key = (static.name, body.prefix, frozenset(body.labels), limb)
        if key not in self._known:
            self._known[key] = _complete(Pair(moving, static, body.prefix), body.labels, LIMBS[limb])
        return static, self._known[key]


def _shared_words(one: Seen, other: Seen) -> int:
    """Number of equal words and numbers at the beginning of two files' names."""
    words = (re.findall(r"[^\W\d_]+|\d+", Path(each.name).stem.lower()) for each in (one, other))
    return [*(a == b for a, b in zip(*words, strict=False)), False].index(False)


@dataclass(frozen=True)
class Pair:
    """A moving trial with its static trial and subject prefix."""

    moving: Seen
    static: Seen
    prefix: str

    def standing(self, labels: Sequence[str]) -> FloatArray:
        """Mean position of given markers in the static trial, shape (3,), m."""
        places_m = self.static.sampled(labels, self.prefix).mean(axis=1)
        known_m = places_m[np.isfinite(places_m).all(axis=1)]
        return np.asarray(known_m.mean(axis=0)) if len(known_m) else np.full(3, np.nan)


def static_trials(seen: Sequence[Seen], people: People) -> Statics:
    """Find the static trials of each person: recordings in which a limb does not move.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    people : People
        Who is who.
    """
    by_folder: dict[tuple[str, tuple[str, ...]], list[tuple[Seen, Body]]] = {}
    for recording in seen:
        folders = Path(recording.name).parts[:-1]
        for body in (body for body in recording.bodies if body.still_limbs):
            for depth in range(len(folders) + 1):
                key = people.of[recording.name, body.prefix], folders[:depth]
                by_folder.setdefault(key, []).append((recording, body))
    return Statics(by_folder, people.certain)


def _complete(pair: Pair, moving: Sequence[str], model: ChainModel) -> list[Fit]:
    """Best complete fits with clusters, if they have more joint centres than without."""
    centres = {*(joint.landmark for joint in model.joints), model.end}
    standing = next(body.labels for body in pair.static.bodies if body.prefix == pair.prefix)
    alone = [fit for fit in fits(moving, model) if not fit.missing]
    both = [fit for fit in fits([*dict.fromkeys((*moving, *standing))], model) if not fit.missing]
    for known in dict.fromkeys(fit.known.name for fit in both):
        done: list[Fit] = []
        gained = False
        for fit in (fit for fit in both if fit.known.name == known):
            carried = _with_clusters(fit, pair, moving, model, done)
            without = [other for other in alone if other.side == fit.side]
            most = max((len(centres & set(other.rules)) for other in without), default=0)
            gained |= bool(carried and carried.carried and len(centres & set(carried.rules)) > most)
            done += [carried] if carried else [other for other in without if other.known.name == known]
        if gained:
            return done
    return []


def _with_clusters(fit: Fit, pair: Pair, moving: Sequence[str], model: ChainModel, others: Sequence[Fit]) -> Fit | None:
    """Fit with clusters for the landmarks that the moving trial lacks.

    None if a required landmark has no cluster. Clusters of the other side are tried first; landmarks with the same markers
    share a cluster.
    """
    wanted = wanted_landmarks(fit.known, model)
    lacking = [name for name, labels in fit.rules.items() if not set(labels) <= set(moving)]
    clusters: dict[str, tuple[str, ...]] = {}
    for name in sorted(wanted & set(lacking), key=lambda name: (-len(fit.rules[name]), name)):
        labels = fit.rules[name]
        alike = next((clusters[other] for other in clusters if set(labels) <= set(fit.rules[other])), ())
        mirrored = [mirrored_cluster(other.carried[name], other.side) for other in others if name in other.carried]
        clusters[name] = (
            alike
            or best_cluster(labels, pair, moving, side=fit.side, first=mirrored, around=_around(name, fit, pair, model))
            or best_cluster(labels, pair, moving, side=fit.side)  # a joint belongs to both of its segments
        )
        if not clusters[name]:
            return None
    rules = {name: labels for name, labels in fit.rules.items() if name in clusters or name not in lacking}
    return replace(fit, rules=rules, carried={name: clusters[name] for name in fit.rules if name in clusters})


def mirrored_cluster(cluster: Sequence[str], side: str) -> tuple[str, ...]:
    """Labels of a cluster on the other side; unchanged for clusters from both sides.

    >>> mirrored_cluster(["RTH1", "RTH2"], "right"), mirrored_cluster(["RASI", "LASI"], "right")
    (('LTH1', 'LTH2'), ('RASI', 'LASI'))
    """
    other = OPPOSITE.get(side, "")
    return tuple(filled(template, other) for template in cluster_templates(cluster, side))


def _around(name: str, fit: Fit, pair: Pair, model: ChainModel) -> Around:
    """Joints proximal and distal to that nearest to a landmark in the static trial."""
    chain = [*(joint.landmark for joint in model.joints), model.end]
    places = {joint: pair.standing(fit.rules[joint]) for joint in chain if joint in fit.rules}
    away = {joint: lengths(place - pair.standing(fit.rules[name])) for joint, place in places.items()}
    at = chain.index(min((j for j in away if np.isfinite(away[j])), key=lambda j: away[j], default=chain[-1]))
    near = [places.get(chain[k]) if 0 <= k < len(chain) else None for k in (at - 1, at + 1)]
    return near[0], near[1]


def _on_segment(markers_m: FloatArray, landmark_m: FloatArray, around: Around) -> BoolArray:
    """Mask of markers on the proximal segment, that of the landmark."""
    before_m, after_m = around
    if after_m is None:
        return np.ones(len(markers_m), dtype=bool)
    if before_m is None:
        ahead = after_m - landmark_m
        return np.asarray((markers_m - landmark_m) @ ahead / lengths(ahead) < BEYOND_M)
    from_line = []
    for end_m in (before_m, after_m):
        line = end_m - landmark_m
        along = np.clip((markers_m - landmark_m) @ line / (line @ line), 0.0, 1.0)
        from_line.append(lengths(markers_m - landmark_m - along[:, None] * line))
    return np.asarray(from_line[0] <= from_line[1])


def best_cluster(
    labels: Sequence[str],
    pair: Pair,
    moving: Sequence[str],
    *,
    side: str = "",
    first: Sequence[tuple[str, ...]] = (),
    around: Around = (None, None),
) -> tuple[str, ...]:
    """Cluster with the least expected error of a landmark.

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
    around : pair of ndarray of shape (3,) or None, optional
        Joints before and after the landmark in the static trial, m: markers of the next segment are left out.

    Returns
    -------
    tuple of str
        Three or four of the markers nearest to the landmark; empty where no such cluster keeps its shape within
        ``quality.cluster_residual_m``.
    """
    others = [label for label in moving if not any(fold(label).startswith(fold(own)) for own in labels)]
    standing_m, walking_m = (one.sampled(others, pair.prefix) for one in (pair.static, pair.moving))
    landmark_m = pair.static.sampled(labels, pair.prefix).mean(axis=1)
    seen = np.isfinite(walking_m).all(axis=2).mean(axis=0)
    stood = np.isfinite(standing_m + landmark_m[:, None]).all(axis=2).any(axis=0)
    for cluster in (cluster for cluster in first if set(cluster) <= set(others)):
        if np.isfinite(_error([others.index(label) for label in cluster], standing_m, landmark_m, walking_m)[0]):
            return cluster
    for least in (1.0, LEAST_SEEN * float(seen.max(initial=0.0))):  # markers with gaps where others do not suffice
        kept = np.flatnonzero(stood & (seen >= least))
        if cluster := _nearest_cluster(kept, others, standing_m, landmark_m, walking_m, side=side, around=around):
            return cluster if _carries(cluster, [label for label in labels if label in moving], pair) else ()
    return ()


def _carries(cluster: Sequence[str], shown: Sequence[str], pair: Pair) -> bool:
    """Return True if a cluster carries known markers of the moving trial rightly."""
    standing_m, walking_m = (one.sampled([*cluster, *shown], pair.prefix) for one in (pair.static, pair.moving))
    n = len(cluster)
    for k in range(n, n + len(shown)):
        carried = carry(cluster_shape(standing_m[:, :n], standing_m[:, k]), walking_m[:, :n])
        away_m = lengths(carried.landmark_m - walking_m[:, k])
        away_m = away_m[np.isfinite(away_m)]
        if away_m.size and np.sqrt(np.mean(away_m**2)) > Quality().cluster_residual_m:
            return False
    return True


def _nearest_cluster(
    kept: NDArray[np.int_],
    others: Sequence[str],
    standing_m: FloatArray,
    landmark_m: FloatArray,
    walking_m: FloatArray,
    *,
    side: str,
    around: Around,
) -> tuple[str, ...]:
    """Rigid cluster of some markers with the least error of a landmark, or none."""
    if not kept.size:
        return ()
    places_m, here_m = np.nanmean(standing_m[:, kept], axis=0), np.nanmean(landmark_m, axis=0)
    middles_m = (places_m[:, None] + places_m) / 2.0  # a point in the middle of two was computed from them
    middles_m[np.diag_indices(len(kept))] = np.nan
    measured = np.array([not (lengths(middles_m - place) < COMPUTED_M).any() for place in places_m], dtype=bool)
    own = measured & _on_segment(places_m, here_m, around)
    near = kept[own][np.argsort(lengths(places_m[own] - here_m), kind="stable")][:NEAREST].tolist()
    of_other = {k for k in near if side and template_of(others[k], OPPOSITE[side]) != others[k]}
    tried = [list(some) for n in CLUSTER_SIZES for some in combinations(near, n) if not set(some) <= of_other]
    error, best = min(
        (_error(some, standing_m, landmark_m, walking_m) for some in tried), default=(np.inf, list[int]())
    )
    return tuple(others[k] for k in sorted(best)) if np.isfinite(error) else ()


def _error(
    some: list[int], standing_m: FloatArray, landmark_m: FloatArray, walking_m: FloatArray
) -> tuple[float, list[int]]:
    """Expected error of a carried landmark; infinite without a rigid cluster."""
    try:
        carried = carry(cluster_shape(standing_m[:, some], landmark_m), walking_m[:, some])
    except SignalError:
        return float("inf"), some
    rigid = carried.residual_m <= Quality().cluster_residual_m
    return (carried.expected_error_m if rigid else float("inf")), some
