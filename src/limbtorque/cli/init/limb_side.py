"""Side of a limb, and direction of a body, by markers of both sides of the trunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import lengths
from limbtorque.cli.init.known_sets import fold
from limbtorque.cli.init.survey import AXES, Body, Seen
from limbtorque.motion.plane import axis_vector, mean_facing

TRUNK = ("asis", "asi", "ias", "psis", "psi", "ips", "hip", "shoulder", "sho", "acromion", "acromium", "acr", "caj")
SIDES = (("r", "right"), ("l", "left"))
BESIDE = 0.5  # of half the distance between the trunk's markers: a limb in the middle is of neither side


def trunk_pairs(body: Body) -> Iterator[tuple[str, str]]:
    """Labels of a landmark of the trunk on the right and on the left.

    Parameters
    ----------
    body : Body
        Whose markers.
    """
    folded = {fold(label): label for label in body.labels}
    for stem in TRUNK:
        names = [[name for word in words for name in (f"{word}{stem}", f"{stem}{word}")] for words in SIDES]
        right, left = (next((folded[name] for name in some if name in folded), "") for some in names)
        if right and left:
            yield right, left


def side_by_trunk(one: Seen, body: Body, limb: Sequence[str]) -> str:
    """Side of the trunk on which a limb begins.

    Parameters
    ----------
    one, body : Seen, Body
        The recording, and whose markers.
    limb : sequence of str
        Labels of the first joint of the limb.

    Returns
    -------
    str
        ``"right"``, ``"left"``, or empty where the markers do not show it.
    """
    for right, left in trunk_pairs(body):
        if {right, left} & set(limb):
            continue
        places = one.sampled([right, left], body.prefix)
        across = places[:, 0] - places[:, 1]
        away = one.sampled(limb, body.prefix).mean(axis=1) - places.mean(axis=1)
        share = 2.0 * (away * across).sum(axis=1) / lengths(across) ** 2
        found = float(np.nanmedian(share)) if np.isfinite(share).any() else 0.0
        if abs(found) > BESIDE:
            return "right" if found > 0.0 else "left"
    return ""


@dataclass(frozen=True)
class Facing:
    """Direction of a trunk: nearest axis, angle from it and spread, degrees."""

    axis: str
    off_deg: float
    spread_deg: float


def trunk_faces(one: Seen, body: Body, up_axis: str) -> Facing | None:
    """Horizontal axis nearest to the mean direction of a trunk.

    Parameters
    ----------
    one, body : Seen, Body
        The recording, and whose markers.
    up_axis : str
        The axis that points up.
    """
    for right, left in trunk_pairs(body):
        places = one.sampled([right, left], body.prefix)
        forward, spread_deg = mean_facing(places[:, 0] - places[:, 1], axis_vector(up_axis))
        if np.isfinite(spread_deg):
            along = {axis: float(forward @ axis_vector(axis)) for axis in AXES if axis[1] != up_axis[1]}
            nearest = max(along, key=along.__getitem__)
            return Facing(nearest, float(np.degrees(np.arccos(min(along[nearest], 1.0)))), spread_deg)
    return None
