"""Landmarks of both sides of the body, and checks of one side against the other."""

from __future__ import annotations

from collections.abc import Collection

from limbtorque.arrays import FloatArray
from limbtorque.errors import LandmarkError
from limbtorque.motion.landmarks import LandmarkMap, contact_landmarks, is_carried, locate, needed_markers
from limbtorque.motion.limb import Limb
from limbtorque.motion.markers import fill_needed
from limbtorque.recordings.recording import Recording
from limbtorque.study.options.motion import Gaps
from limbtorque.study.settings import Settings

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
