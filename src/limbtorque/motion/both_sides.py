"""Landmarks of both sides of the body, and the direction that it faces."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import LandmarkError, SignalError
from limbtorque.motion.landmarks import (
    ACROMION,
    FRONT_OF_PELVIS,
    LandmarkMap,
    contact_landmarks,
    is_carried,
    locate,
    needed_markers,
)
from limbtorque.motion.limb import Limb
from limbtorque.motion.markers import fill_needed
from limbtorque.motion.plane import axis_vector, mean_facing
from limbtorque.recordings.recording import Recording
from limbtorque.study.options.motion import Gaps
from limbtorque.study.settings import Settings

Side = dict[str, FloatArray]
SIDED = {  # landmarks whose line from left to right is the body's, the most rigid first
    "pelvis": (FRONT_OF_PELVIS, "hip_axis", "greater_trochanter"),
    "thorax": (ACROMION, "glenohumeral_axis"),
}
WIDEST_DEG = 45.0  # a body that turns more has no single plane of motion


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


@dataclass(frozen=True)
class Facing:
    """Direction that a body faces.

    Attributes
    ----------
    forward : ndarray of shape (3,) or None
        Horizontal unit vector; None where `plane.forward_axis` is neither pelvis nor thorax.
    notes : tuple of str
        The landmark it follows from, for the ledger.
    """

    forward: FloatArray | None = None
    notes: tuple[str, ...] = ()


def body_faces(recording: Recording, mapping: LandmarkMap, settings: Settings, *, frames: slice) -> Facing:
    """Mean direction that pelvis or thorax face, by `plane.forward_axis`.

    Parameters
    ----------
    recording : Recording
        The markers.
    mapping : LandmarkMap
        Landmarks of the limb's side; those of the other side follow by the same rules.
    settings : Settings
        Plane, and options of gaps.
    frames : slice
        The analysed frames.

    Raises
    ------
    LandmarkError
        No landmark of pelvis or thorax is in the recording on both sides.
    SignalError
        The body turns by too much for one direction.
    """
    asked = settings.plane.forward_axis
    if asked not in SIDED:
        return Facing()
    for name in SIDED[asked]:
        ways = {side.side: side for side in (mapping.anatomical(), opposite(mapping))}
        if not mapping.has(name):
            continue
        ends = {
            side: side_landmarks(recording, own, {name}, gaps=settings.gaps, frames=frames)
            for side, own in ways.items()
        }
        if not all(ends.values()):
            continue
        up = axis_vector(settings.plane.up_axis)
        forward, spread_deg = mean_facing(ends["right"][name] - ends["left"][name], up)
        if np.isnan(forward).any():
            continue
        if spread_deg > WIDEST_DEG:
            raise SignalError(
                f"{recording.source}: the {asked} turns by {spread_deg:.0f} deg (circular standard deviation), expected at most "
                f"{WIDEST_DEG:g} deg for one plane of motion; give start_s and end_s, or plane.forward_axis as an axis or travel"
            )
        return Facing(
            forward, (f"forward is where the {asked} faces, by {name} of both sides, +- {spread_deg:.1f} deg",)
        )
    raise LandmarkError(
        f"{recording.source}: plane.forward_axis is {asked}, and none of {', '.join(SIDED[asked])} has markers on both sides; "
        "map one of them with {S} for the side, or give plane.forward_axis as an axis or travel"
    )
