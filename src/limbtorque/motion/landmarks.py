"""Landmarks of the body from the markers of a file, by the study's marker sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import LandmarkError, SignalError, did_you_mean
from limbtorque.motion.predicted_centres import (
    CarriedLandmark,
    ClusterShape,
    carry,
    cluster_shape,
    hip_centre,
    shoulder_centre,
)
from limbtorque.recordings.recording import Recording, find_marker
from limbtorque.study.chains import (
    Between,
    Carried,
    ChainModel,
    Functional,
    HipCentre,
    LandmarkRule,
    PlaceRule,
    ShoulderCentre,
    segments_fault,
)
from limbtorque.study.options.motion import axis_vector
from limbtorque.study.options.reading import Plates

FRONT_OF_PELVIS, BACK_OF_PELVIS = "anterior_superior_iliac_spine", "posterior_superior_iliac_spine"
SACRUM, ACROMION = "sacrum", "acromion"


@dataclass(frozen=True)
class LandmarkMap:
    """Rules of the landmarks of one side.

    Attributes
    ----------
    rules : mapping of str to rule
        Landmark -> marker, markers, two markers and a fraction, a predicted joint centre, a landmark of the static trial, or
        a functional joint centre with one of these as the anatomical one; labels may hold {S}, {s} and {side}.
    substitutes : mapping of str to str
        Needed landmark -> its substitute.
    side : str
        ``"left"`` or ``"right"``.
    prefix : str
        Subject prefix of the labels, or empty.
    measured : mapping of str to float
        The subject's ``leg_length_m`` and ``pelvis_width_m``, where known.
    up_axis : str or None
        Laboratory axis that points up.
    """

    rules: Mapping[str, LandmarkRule]
    substitutes: Mapping[str, str]
    side: str
    prefix: str = ""
    measured: Mapping[str, float] = field(default_factory=dict)
    up_axis: str | None = None

    def has(self, landmark: str) -> bool:
        """Return True where the landmark, or its substitute, is mapped."""
        return landmark in self.rules or self.substitutes.get(landmark) in self.rules

    def rule(self, landmark: str) -> PlaceRule:
        """Rule of a landmark; for a functional centre the anatomical rule.

        Raises
        ------
        LandmarkError
            The landmark is not mapped.
        """
        rule = self.rules[self.resolve(landmark)]
        return rule.anatomical if isinstance(rule, Functional) else rule

    def kind(self, landmark: str) -> str:
        """Kind of a landmark's rule, on which its uncertainty depends.

        ``marker``, ``markers``, ``between``, ``functional``, ``carried``, or the name of a prediction.
        """
        rule = self.rules[self.resolve(landmark)]
        if isinstance(rule, HipCentre | ShoulderCentre):
            return rule.hip_centre if isinstance(rule, HipCentre) else rule.shoulder_centre
        if isinstance(rule, str | tuple | list):
            return "marker" if isinstance(rule, str) else "markers"
        return type(rule).__name__.lower()

    def weights(self, landmark: str) -> dict[str, float]:
        """Labels and weights of a landmark's markers, in the static trial if carried.

        Raises
        ------
        LandmarkError
            The landmark is not mapped, or predicted from other landmarks.
        """
        rule = self.rule(landmark)
        if isinstance(rule, Carried):
            rule = rule.static
        if isinstance(rule, HipCentre | ShoulderCentre):
            raise LandmarkError(f"landmark {landmark!r} is predicted from other landmarks, and has no markers")
        if isinstance(rule, Between):
            parts = list(zip(rule.between, (1.0 - rule.fraction, rule.fraction), strict=True))
        else:
            labels = (rule,) if isinstance(rule, str) else rule
            parts = [(label, 1.0 / len(labels)) for label in labels]
        weights: dict[str, float] = {}
        for template, weight in parts:  # a marker may be named twice
            label = filled(template, self.side)
            weights[label] = weights.get(label, 0.0) + weight
        return weights

    def cluster(self, landmark: str) -> tuple[str, ...]:
        """Labels of the cluster that carries a landmark; empty for others."""
        rule = self.rule(landmark)
        return tuple(filled(label, self.side) for label in rule.cluster) if isinstance(rule, Carried) else ()

    def parts(self, landmark: str) -> tuple[tuple[LandmarkMap, str], ...]:
        """Landmarks from which a landmark is predicted, each with the map of its side.

        Its own side comes first, then the other one; for the hip the back of the pelvis, for the shoulder the pelvis, where it
        is mapped. None for landmarks that are not predicted.
        """
        rule, other = self.rule(landmark), self.mirrored()
        if isinstance(rule, HipCentre):
            back = ((self, SACRUM),) if self.has(SACRUM) else ((self, BACK_OF_PELVIS), (other, BACK_OF_PELVIS))
            return (self, FRONT_OF_PELVIS), (other, FRONT_OF_PELVIS), *back
        if isinstance(rule, ShoulderCentre):
            pelvis = [(side, FRONT_OF_PELVIS) for side in (self, other) if self.has(FRONT_OF_PELVIS)]
            return (self, ACROMION), (other, ACROMION), *pelvis
        return ()

    def with_parts(self, landmarks: Iterable[str]) -> Iterator[tuple[LandmarkMap, str]]:
        """Landmarks and their parts, each with the map of its side."""
        for landmark in landmarks:
            yield self, landmark
            for side, part in self.parts(landmark):
                yield from side.with_parts([part])

    def mirrored(self) -> LandmarkMap:
        """Map of the other side."""
        return replace(self, side="left" if self.side == "right" else "right")

    def resolve(self, landmark: str) -> str:
        """Name of a landmark's rule, or of its substitute's.

        Raises
        ------
        LandmarkError
            The landmark is not mapped.
        """
        name = landmark if landmark in self.rules else self.substitutes.get(landmark, "")
        if name not in self.rules:
            raise LandmarkError(_unmapped([landmark], self))
        return name

    def segments(self, landmark: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Labels of both segments of a functional landmark; None for anatomical ones.

        Raises
        ------
        LandmarkError
            The landmark is not mapped, or the segments are not two of two markers each.
        """
        name = self.resolve(landmark)
        rule = self.rules[name]
        if not isinstance(rule, Functional):
            return None
        first, second = (tuple(filled(label, self.side) for label in labels) for labels in rule.functional)
        if fault := segments_fault((first, second)):
            raise LandmarkError(f"landmark {name!r}, functional: {fault}")
        return first, second

    def labels(self, landmark: str) -> set[str]:
        """Labels of all markers of a landmark and of its functional segments."""
        found = set().union(*(self.segments(landmark) or ()))
        if parts := self.parts(landmark):
            return found.union(*(side.labels(part) for side, part in parts))
        return found.union(self.cluster(landmark) or self.weights(landmark))

    def own_labels(self, landmark: str) -> set[str]:
        """Labels of the landmark itself, not of clusters, segments or parts."""
        return set() if self.parts(landmark) else set(self.weights(landmark))

    def anatomical(self) -> LandmarkMap:
        """Map with anatomical rules in place of functional rules."""
        plain = {name: rule.anatomical if isinstance(rule, Functional) else rule for name, rule in self.rules.items()}
        return replace(self, rules=plain)


def filled(template: str, side: str) -> str:
    """Label of a side, from one with {S}, {s} or {side} in its place."""
    return template.replace("{S}", side[:1].upper()).replace("{s}", side[:1]).replace("{side}", side)


def contact_landmarks(model: ChainModel, mapping: LandmarkMap, plates: Plates) -> list[str]:
    """Mapped landmarks of ground contact; empty for a chain off the ground."""
    if not model.ground_contact or plates.assignment == "none":
        return []
    return [name for name in model.contact_landmarks if mapping.has(name)]


def needed_markers(recording: Recording, mapping: LandmarkMap, landmarks: Iterable[str]) -> dict[str, int]:
    """Label -> index of all markers of the landmarks.

    Raises
    ------
    LandmarkError
        A landmark is not mapped, or a marker is missing or ambiguous; all such markers are listed.
    """
    landmarks = sorted(landmarks)
    unmapped = [name for name in landmarks if not mapping.has(name)]
    if unmapped:
        raise LandmarkError(_unmapped(unmapped, mapping))
    prefixes = sorted({label.rpartition(":")[0] for label in recording.labels})
    if mapping.prefix and mapping.prefix.rstrip(":") not in prefixes:
        raise LandmarkError(
            f"{recording.source}: no label has the prefix {mapping.prefix!r}; expected one of the file's prefixes: "
            f"{', '.join(repr(name) for name in prefixes if name) or 'none'}"
        )
    labels = {label for landmark in landmarks for label in mapping.labels(landmark)}
    found, faults = {}, []
    for label in sorted(labels):
        try:
            found[label] = find_marker(recording, label, prefix=mapping.prefix)
        except LandmarkError as error:
            faults.append(str(error))
    if faults:
        raise LandmarkError("; ".join(faults))
    return found


def _unmapped(names: list[str], mapping: LandmarkMap) -> str:
    verb = "is" if len(names) == 1 else "are"
    hint = "".join(did_you_mean(name, mapping.rules, cutoff=0.8) for name in names)
    return (
        f"landmark {', '.join(map(repr, names))} {verb} needed but not mapped; the marker set has {', '.join(mapping.rules)}{hint}; "
        "add to 'marker_sets', or define a substitute in 'substitutes', e.g. "
        f"{names[0]}: {next(iter(mapping.rules))} (docs/settings.md)"
    )


def locate(
    landmark: str,
    mapping: LandmarkMap,
    *,
    markers: Mapping[str, int],
    positions_m: FloatArray,
    static: Recording | None = None,
) -> FloatArray:
    """Position of a landmark over time; anatomical where it is functional.

    `limbtorque.motion.functional_centres` has the functional one.

    Parameters
    ----------
    landmark : str
        Name of the landmark.
    mapping : LandmarkMap
        The study's mapping.
    markers : mapping of str to int
        Label -> index along axis 1 of `positions_m`.
    positions_m : ndarray of shape (n_frames, n_markers, 3)
        Positions of the markers, m.
    static : Recording, optional
        The static trial, for landmarks that are carried from it.

    Returns
    -------
    ndarray of shape (n_frames, 3)
        Position in the laboratory frame, m; NaN where one of its markers is missing.

    Raises
    ------
    LandmarkError
        A carried landmark without a static trial, or without its markers in it.
    SignalError
        A cluster without a pose, or a prediction without the subject's leg length.
    """
    rule = mapping.rule(landmark)
    if isinstance(rule, Carried):
        return carried_landmark(landmark, mapping, markers=markers, positions_m=positions_m, static=static).landmark_m
    parts = [
        locate(part, side, markers=markers, positions_m=positions_m, static=static)
        for side, part in mapping.parts(landmark)
    ]
    if isinstance(rule, HipCentre):
        own, other, *back = parts
        return hip_centre(
            rule.hip_centre,
            own,
            other,
            np.asarray(sum(back)) / len(back),
            side=mapping.side,
            leg_length_m=mapping.measured.get("leg_length_m", math.nan),
            width_m=mapping.measured.get("pelvis_width_m", math.nan),
            marker_radius_m=rule.marker_radius_m,
        )
    if isinstance(rule, ShoulderCentre):  # from the acromia, down towards the pelvis where it is mapped
        own, other, *pelvis = parts
        down = np.asarray(sum(pelvis)) / len(pelvis) - (own + other) / 2.0 if pelvis else -axis_vector(mapping.up_axis)
        return shoulder_centre(own, other, down)
    weighted = [weight * positions_m[:, markers[label]] for label, weight in mapping.weights(landmark).items()]
    return np.asarray(sum(weighted), dtype=float)


def carried_landmark(
    landmark: str,
    mapping: LandmarkMap,
    *,
    markers: Mapping[str, int],
    positions_m: FloatArray,
    static: Recording | None,
) -> CarriedLandmark:
    """Carry a landmark of the static trial by its cluster, with its errors.

    Parameters
    ----------
    landmark, mapping, markers, positions_m, static
        As in `locate`.

    Raises
    ------
    LandmarkError
        No static trial, or a marker is missing in it.
    SignalError
        The cluster has no pose in the static trial, or is its mirror image.
    """
    shape, cluster = static_shape(landmark, mapping, static), mapping.cluster(landmark)
    try:
        return carry(shape, positions_m[:, [markers[label] for label in cluster]])
    except SignalError as error:
        raise SignalError(f"landmark {landmark!r}, carried by {', '.join(cluster)}: {error}") from None


def static_shape(landmark: str, mapping: LandmarkMap, static: Recording | None) -> ClusterShape:
    """Cluster of a carried landmark and its position in it, from the static trial.

    Parameters
    ----------
    landmark, mapping, static
        As in `locate`.

    Raises
    ------
    LandmarkError
        No static trial, or a marker is missing in it.
    SignalError
        The cluster has no pose in it.
    """
    if static is None:
        raise LandmarkError(
            f"landmark {landmark!r} needs a static trial, and none is given; name it in the column static_file, or map the "
            "landmark to markers of the moving trial"
        )
    cluster, own = mapping.cluster(landmark), mapping.weights(landmark)
    place = {label: find_marker(static, label, prefix=mapping.prefix) for label in {*cluster, *own}}
    standing_m = np.asarray(
        sum(weight * static.markers_m[:, place[label]] for label, weight in own.items()), dtype=float
    )
    try:
        return cluster_shape(static.markers_m[:, [place[label] for label in cluster]], standing_m)
    except SignalError as error:
        raise SignalError(f"{static.source}: landmark {landmark!r}, carried by {', '.join(cluster)}: {error}") from None


def is_carried(mapping: LandmarkMap, landmarks: Iterable[str], static: Recording | None) -> bool:
    """Return True if the static trial has all carried landmarks.

    Parameters
    ----------
    mapping : LandmarkMap
        The study's mapping.
    landmarks : iterable of str
        Landmarks; those that are not carried do not count.
    static : Recording or None
        The static trial.
    """
    try:
        for side, name in mapping.with_parts(landmarks):
            if side.cluster(name):
                static_shape(name, side, static)
    except (LandmarkError, SignalError):
        return False
    return True
