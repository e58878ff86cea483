"""Landmarks of the body from the markers of a file, by the study's mapping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import LandmarkError, did_you_mean
from limbtorque.recordings.recording import Recording, find_marker
from limbtorque.study.chains import ChainModel
from limbtorque.study.marker_rules import Between, Functional, LandmarkRule, segments_fault
from limbtorque.study.options.loads import Plates


@dataclass(frozen=True)
class LandmarkMap:
    """Rules of the landmarks of one side.

    Attributes
    ----------
    rules : mapping of str to rule
        Landmark -> marker, markers, two markers and a fraction, or a functional joint centre with one of these as the
        anatomical one; labels may hold {S}, {s} and {side}.
    substitutes : mapping of str to str
        Needed landmark -> its substitute.
    side : str
        ``"left"`` or ``"right"``.
    prefix : str
        Subject prefix of the labels, or empty.
    """

    rules: Mapping[str, LandmarkRule]
    substitutes: Mapping[str, str]
    side: str
    prefix: str = ""

    def has(self, landmark: str) -> bool:
        """Return True where the landmark, or its substitute, is mapped."""
        return landmark in self.rules or self.substitutes.get(landmark) in self.rules

    def weights(self, landmark: str) -> dict[str, float]:
        """Labels and weights of a landmark's markers; anatomical for functional ones.

        Raises
        ------
        LandmarkError
            The landmark is not mapped.
        """
        rule = self.rules[self.resolve(landmark)]
        if isinstance(rule, Functional):
            rule = rule.anatomical
        if isinstance(rule, Between):
            parts = list(zip(rule.between, (1.0 - rule.fraction, rule.fraction), strict=True))
        else:
            labels = (rule,) if isinstance(rule, str) else rule
            parts = [(label, 1.0 / len(labels)) for label in labels]
        weights: dict[str, float] = {}
        for template, weight in parts:  # a marker may be named twice
            label = self._label(template)
            weights[label] = weights.get(label, 0.0) + weight
        return weights

    def resolve(self, landmark: str) -> str:
        """Name of the rule of a landmark: its own, or its substitute's.

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
        first, second = (tuple(map(self._label, labels)) for labels in rule.functional)
        if fault := segments_fault((first, second)):
            raise LandmarkError(f"landmark {name!r}, functional: {fault}")
        return first, second

    def labels(self, landmark: str) -> set[str]:
        """Labels of all markers of a landmark and of its functional segments."""
        segments = self.segments(landmark) or ()
        return set(self.weights(landmark)).union(*segments)

    def anatomical(self) -> LandmarkMap:
        """The same map with the anatomical rule in place of every functional one."""
        plain = {name: rule.anatomical if isinstance(rule, Functional) else rule for name, rule in self.rules.items()}
        return replace(self, rules=plain)

    def used_substitutes(self, landmarks: Iterable[str]) -> dict[str, str]:
        """Substitutes of the landmarks that have no rule."""
        return {
            name: self.substitutes[name] for name in landmarks if name not in self.rules and name in self.substitutes
        }

    def _label(self, label: str) -> str:
        letter = self.side[0]
        return label.replace("{S}", letter.upper()).replace("{s}", letter).replace("{side}", self.side)


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
    _check_prefix(recording, mapping.prefix)
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
        "add to 'marker_sets', or name a substitute in 'substitutes', e.g. "
        f"{names[0]}: {next(iter(mapping.rules))} (docs/settings.md)"
    )


def _check_prefix(recording: Recording, prefix: str) -> None:
    prefixes = sorted({label.rpartition(":")[0] for label in recording.labels})
    if prefix and prefix.rstrip(":") not in prefixes:
        found = ", ".join(repr(name) for name in prefixes if name) or "none"
        raise LandmarkError(
            f"{recording.source}: no label has the prefix {prefix!r}; expected one of the file's prefixes: {found}"
        )


def locate(landmark: str, mapping: LandmarkMap, *, markers: Mapping[str, int], positions_m: FloatArray) -> FloatArray:
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

    Returns
    -------
    ndarray of shape (n_frames, 3)
        Position in the laboratory frame, m; NaN where one of its markers is missing.
    """
    weighted = [weight * positions_m[:, markers[label]] for label, weight in mapping.weights(landmark).items()]
    return np.asarray(sum(weighted), dtype=float)
