"""Lengths of the segments of a body, and its still limbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.cli.init.known_sets import fits, needed_landmarks
from limbtorque.study.chains import ARM, LEG

STILL_M = 0.05  # nine of ten markers move less in a static trial: people sway, and breathe
RIGID_M = 0.02  # half of the distances are within so much: a segment, and not two
OTHER_BODY = 1.1  # ratio of a segment's lengths: skin markers placed again are within a tenth of it
SEGMENTS = (("hip_axis", "knee_axis"), ("knee_axis", "ankle_axis"), ("elbow_axis", "wrist_axis"))
LIMBS = {"arm": ARM, "leg": LEG}


def segment_lengths(labels: Sequence[str], places_m: FloatArray) -> dict[str, float]:
    """Median lengths of the thighs, shanks and forearms of a body.

    Parameters
    ----------
    labels : sequence of str
        Labels without their subject prefix.
    places_m : ndarray of shape (n_samples, n_labels, 3)
        Their positions in some frames, m.

    Returns
    -------
    dict of str to float
        Markers of both ends, e.g. ``"RKNE - RANK"`` -> m. Only those of the same markers can be compared.
    """
    at = {label: k for k, label in enumerate(labels)}
    found: dict[str, float] = {}
    for fit in (fit for model in LIMBS.values() for fit in fits(labels, model)):
        for ends in SEGMENTS:
            rules = [fit.rules.get(name, ()) for name in ends]
            key = " - ".join("+".join(rule) for rule in rules)
            if not all(rules) or key in found:
                continue
            start_m, end_m = (places_m[:, [at[label] for label in rule]].mean(axis=1) for rule in rules)
            away_m = lengths(end_m - start_m)
            away_m = away_m[np.isfinite(away_m)]
            low, middle, high = np.percentile(away_m, (25.0, 50.0, 75.0)) if len(away_m) else (0.0, 0.0, 0.0)
            if middle > 0.0 and high - low < RIGID_M:
                found[key] = float(middle)
    return found


def still_limbs(labels: Sequence[str], ranges_m: FloatArray) -> tuple[str, ...]:
    """Limbs none of whose markers moves, even where others sway.

    Parameters
    ----------
    labels : sequence of str
        Labels without their subject prefix.
    ranges_m : ndarray of shape (n_labels,)
        How far each marker moved, m.
    """
    at = {label: k for k, label in enumerate(labels)}
    still = []
    for limb, model in LIMBS.items():
        needed = needed_landmarks(model)
        own = set[str]()
        for fit in fits(labels, model):
            stand_ins = {pair[0] for name, pair in fit.known.substitutes.items() if name in needed}
            own |= {label for name, rule in fit.rules.items() if name in {*needed, *stand_ins} for label in rule}
        if own and max(ranges_m[at[label]] for label in own) < STILL_M:
            still.append(limb)
    return tuple(still)


def unlike(bodies: Sequence[Mapping[str, float]]) -> str:
    """Sentence on a segment whose lengths are not of one body; empty without one.

    Parameters
    ----------
    bodies : sequence of mapping of str to float
        Lengths from `segment_lengths`.
    """
    by_key: dict[str, list[float]] = {}
    for body in bodies:
        for key, length_m in body.items():
            by_key.setdefault(key, []).append(length_m)
    for key, found in by_key.items():
        if max(found) > OTHER_BODY * min(found):
            return f"the distance {key} is {min(found):.3f} to {max(found):.3f} m"
    return ""
