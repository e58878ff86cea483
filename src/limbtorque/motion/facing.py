"""Direction that pelvis or thorax face, for movements in which nobody travels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import LandmarkError, SignalError
from limbtorque.motion.both_sides import opposite, side_landmarks
from limbtorque.motion.landmarks import ACROMION, FRONT_OF_PELVIS, LandmarkMap
from limbtorque.motion.plane import axis_vector, mean_facing
from limbtorque.recordings.recording import Recording
from limbtorque.study.settings import Settings

SIDED = {  # landmarks whose line from left to right is the body's, the most rigid first
    "pelvis": (FRONT_OF_PELVIS, "hip_axis", "greater_trochanter"),
    "thorax": (ACROMION, "glenohumeral_axis"),
}
WIDEST_DEG = 45.0  # a body that turns more has no single plane of motion


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
