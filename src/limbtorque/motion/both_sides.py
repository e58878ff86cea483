"""Landmarks of both sides of the body, and checks of one side against the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.errors import LandmarkError
from limbtorque.motion.landmarks import LandmarkMap, contact_landmarks, is_carried, locate, needed_markers
from limbtorque.motion.limb import Limb
from limbtorque.motion.markers import fill_needed
from limbtorque.recordings.recording import Recording
from limbtorque.study.options.signal import Gaps
from limbtorque.study.settings import Settings

LEAST_WAY_M = 0.5  # of the hips: nearer to one place, the pelvis may face anywhere

Side = dict[str, FloatArray]


def opposite(mapping: LandmarkMap) -> LandmarkMap:
    """Return the anatomical landmarks of the other side."""
    return mapping.anatomical().mirrored()


def sides_share_markers(mapping: LandmarkMap, names: Collection[str]) -> bool:
    """Return True where both sides share a marker: there is one side only.

    Landmarks that are predicted from both sides of pelvis or trunk do not count.
    """
    own, other = (
        {label for name in names for label in side.own_labels(name)} for side in (mapping, mapping.mirrored())
    )
    return bool(own & other)


def side_landmarks(
    recording: Recording, mapping: LandmarkMap, names: Collection[str], *, gaps: Gaps, frames: slice
) -> Side:
    """Landmarks of one side of the body.

    Parameters
    ----------
    recording : Recording
        The markers.
    mapping : LandmarkMap
        Markers of the side.
    names : collection of str
        The landmarks.
    gaps : Gaps
        Options of gaps.
    frames : slice
        The analysed frames.

    Returns
    -------
    dict of str to ndarray of shape (n_frames, 3)
        Positions by landmark, m; empty without the markers of both sides, or where the sides share one.
    """
    try:
        own, _ = (needed_markers(recording, side, names) for side in (mapping, opposite(mapping)))
    except LandmarkError:
        return {}
    both = (mapping, opposite(mapping))
    if sides_share_markers(mapping, names) or not all(is_carried(side, names, recording.static) for side in both):
        return {}
    positions = fill_needed(recording, list(own.values()), gaps).markers_m[frames]
    index, static = {label: i for i, label in enumerate(own)}, recording.static
    return {name: locate(name, mapping, markers=index, positions_m=positions, static=static) for name in sorted(names)}


def both_sides(recording: Recording, limb: Limb, settings: Settings, frames: slice) -> tuple[Side, Side] | None:
    """Landmarks of the limb and of the opposite one, where both are mapped.

    Parameters
    ----------
    recording : Recording
        The markers.
    limb : Limb
        The limb; functional centres are replaced by anatomical ones.
    settings : Settings
        Marker sets and options of gaps.
    frames : slice
        The analysed frames.

    Returns
    -------
    pair of dict, or None
        Positions of shape (n_frames, 3) by landmark, m; None where a marker of the other side is not in the recording.
    """
    model, mapping = limb.model(settings), limb.landmarks(settings).anatomical()
    names = {*(joint.landmark for joint in model.joints), model.end}
    names |= set(contact_landmarks(model, mapping, settings.plates))
    own, other = (
        side_landmarks(recording, side, names, gaps=settings.gaps, frames=frames)
        for side in (mapping, opposite(mapping))
    )
    return (own, other) if own else None  # without the markers of either side both are empty


def sides_reversed_share(left_m: FloatArray, right_m: FloatArray, *, forward: FloatArray, up: FloatArray) -> float:
    """Share of frames in which the left hip or shoulder is on the right.

    Parameters
    ----------
    left_m, right_m : ndarray of shape (n_frames, 3)
        First joints of the two sides, m; frames with a missing one are not counted.
    forward, up : ndarray of shape (3,)
        Unit vectors.

    Returns
    -------
    float
        From 0 to 1; NaN where no frame has both.

    Examples
    --------
    >>> left, right = np.array([[0.0, 0.1, 1.0]]), np.array([[0.0, -0.1, 1.0]])
    >>> sides_reversed_share(left, right, forward=np.array([1.0, 0, 0]), up=np.array([0, 0, 1.0]))
    0.0
    """
    across = (left_m - right_m) @ np.cross(up, forward)
    known = ~np.isnan(across)
    return float((across[known] < 0.0).mean()) if known.any() else float("nan")


def sides_unlike_m(sides: Sequence[Mapping[str, FloatArray]], names: Sequence[str], up: FloatArray) -> float:
    """Largest difference between the two sides of a walking body.

    Parameters
    ----------
    sides : sequence of dict
        Landmarks of both limbs, each of shape (n_frames, 3), m.
    names : sequence of str
        Joints and end of a limb, proximal first.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    float
        Largest median difference of a segment's length, or of the place of the first joint upwards or along the way, m: in walking
        the pelvis turns as far to one side as to the other. The way is from the first to the last place of the first
        joints; without one of `LEAST_WAY_M` it does not count. NaN where a landmark is never known.
    """
    points = [np.stack([side[name] for name in names], axis=1) for side in sides]
    known = ~np.isnan(points[0] + points[1]).any(axis=(1, 2))
    if not known.any():
        return float("nan")
    own, other = (each[known] for each in points)
    apart, middle = own[:, 0] - other[:, 0], (own[:, 0] + other[:, 0]) / 2.0
    way = middle[-1] - middle[0]
    way = way - (way @ up) * up
    distance = float(lengths(way))
    differences = [lengths(np.diff(own, axis=1)) - lengths(np.diff(other, axis=1)), (apart @ up)[:, None]]
    if distance > LEAST_WAY_M:
        differences.append((apart @ way / distance)[:, None])
    return float(np.abs(np.median(np.hstack(differences), axis=0)).max())


def foot_reversed_share(heel_m: FloatArray, ankle_m: FloatArray, front_m: FloatArray) -> float:
    """Share of frames with the ankle below the line from heel to front of the foot.

    Parameters
    ----------
    heel_m, ankle_m, front_m : ndarray of shape (n_frames, 2)
        Heel, ankle and front of the foot in the plane, x along the way, y up, m.

    Returns
    -------
    float
        From 0 to 1: 1 where the labels of ankle and heel are exchanged; NaN where no frame has all three.

    Examples
    --------
    >>> heel, ankle, front = np.array([[0.0, 0.04]]), np.array([[0.05, 0.08]]), np.array([[0.18, 0.04]])
    >>> foot_reversed_share(heel, ankle, front), foot_reversed_share(ankle, heel, front)
    (0.0, 1.0)
    """
    line, ankle = front_m - heel_m, ankle_m - heel_m
    above = line[:, 0] * ankle[:, 1] - line[:, 1] * ankle[:, 0]
    known = ~np.isnan(above)
    return float((above[known] < 0.0).mean()) if known.any() else float("nan")
