"""Motion of a limb in space: joint centres, load, flexion axes of the joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.chain.model import Chain
from limbtorque.errors import TrialError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.joint_centres import SIDED, Placement, left_to_right
from limbtorque.motion.landmarks import LandmarkMap, locate, needed_markers
from limbtorque.motion.limb import Limb
from limbtorque.motion.markers import fill_needed
from limbtorque.motion.smoothing import SmoothedJoints
from limbtorque.recordings.recording import Recording
from limbtorque.study.chains import Carried, Joint, LandmarkRule
from limbtorque.study.options.motion import axis_vector
from limbtorque.study.settings import Settings

SIDES_OF = {  # joint centre -> landmarks on its two sides, between which its flexion axis runs
    "knee_axis": ("medial_condyle", "lateral_condyle"),
    "ankle_axis": ("medial_malleolus", "lateral_malleolus"),
    "elbow_axis": ("medial_epicondyle", "lateral_epicondyle"),
}


@dataclass(frozen=True)
class SpaceMotion:
    """Motion of a limb in the laboratory, in the frames of its planar motion.

    Attributes
    ----------
    joint_m, acceleration_m_s2 : ndarray of shape (n_frames, n_joints + 1, 3)
        Joint centres and endpoint, filtered like those in the plane, and their accelerations.
    chain : Chain
        Lengths and inertial constants, not projected on the plane.
    gravity_m_s2 : ndarray of shape (3,)
        Acceleration of gravity.
    wrench : ndarray of shape (n_frames, 6)
        External force on the last segment, N, and its moment about the laboratory's origin, N m.
    flexion_axis : ndarray of shape (n_frames, n_joints, 3)
        Unit vectors, on the same side of the plane as its normal on average; NaN where not known.
    right_axis : ndarray of shape (n_frames, n_joints, 3)
        The same vectors towards the right of the body, with the limb straight down.
    long_axis : ndarray of shape (n_frames, n_joints, 3)
        Unit vectors along the segment beyond each joint, at the ankle along the shank.
    notes : tuple of str
        Origin of the axes.
    """

    joint_m: FloatArray
    acceleration_m_s2: FloatArray
    chain: Chain
    gravity_m_s2: FloatArray
    wrench: FloatArray
    flexion_axis: FloatArray
    right_axis: FloatArray
    long_axis: FloatArray
    notes: tuple[str, ...]


def motion_in_space(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
    placed: Placement,
    smoothed: SmoothedJoints,
    motion: ChainMotion,
    wrench: FloatArray,
) -> SpaceMotion:
    """Motion of a limb in space from the joint centres of its planar motion.

    Parameters
    ----------
    recording, limb, settings
        Markers, chain and side; all options.
    placed : Placement
        The joint centres, not filtered.
    smoothed : SmoothedJoints
        The filtered ones, with their component along the plane's normal.
    motion : ChainMotion
        The planar motion.
    wrench : ndarray of shape (n_frames, 6)
        The load in space, from `ground.reaction.load_in_space`.
    """
    joints, axes = limb.model(settings).joints, placed.plane.axes
    _, acceleration = smoothed.differentiate(smoothed.values.reshape(len(smoothed.values), -1), recording.rate_hz)
    joint_m = smoothed.values @ axes
    longer = placed.planarity.length_m / motion.chain.length_m  # inverse to the projection of `inertial_constants`
    own = motion.chain
    chain = Chain(own.length_m * longer, own.mass_kg, own.com_m * longer, own.inertia_kgm2 * longer**2)
    lines, notes = zip(*(_flexion_line(recording, limb, settings, placed, joint) for joint in joints), strict=True)
    flexion = np.stack([_smooth_axis(line, smoothed, recording.rate_hz) for line in lines], axis=1)
    flexion *= np.where(np.nan_to_num(flexion @ placed.plane.normal).sum(axis=0) < 0.0, -1.0, 1.0)[:, None]
    to_right = motion.flexion.sign * [joint.flexion_sagittal for joint in joints]
    along = np.diff(joint_m, axis=1)
    along = along / lengths(along)[..., None]
    return SpaceMotion(
        joint_m,
        acceleration.reshape(smoothed.values.shape) @ axes,
        chain,
        -settings.gravity_m_s2 * axis_vector(settings.plane.up_axis),
        wrench,
        flexion,
        flexion * to_right[:, None],
        along[:, [max(i - (joint.sole is not None), 0) for i, joint in enumerate(joints)]],
        tuple(f"{joint.name}: {note}" for joint, note in zip(joints, notes, strict=True)),
    )


def _smooth_axis(line_m: FloatArray, smoothed: SmoothedJoints, rate_hz: float) -> FloatArray:
    """Unit vectors along a line, filtered like the joint centres where it is complete."""
    line_m = smoothed.smooth(line_m, rate_hz) if np.isfinite(line_m).all() else line_m
    length_m = lengths(line_m)[:, None]
    return np.divide(line_m, length_m, out=np.full_like(line_m, np.nan), where=length_m > 0.0)


def _flexion_line(
    recording: Recording, limb: Limb, settings: Settings, placed: Placement, joint: Joint
) -> tuple[FloatArray, str]:
    """Line along the flexion axis of a joint, NaN where not known, and its origin."""
    mapping, frames = limb.landmarks(settings).anatomical(), placed.prepared.stretch
    unknown = np.full((len(placed.joints_m), 3), np.nan)
    if joint.landmark in SIDED["pelvis"]:
        for name, right_m in left_to_right(recording, mapping, "pelvis", settings, frames=frames):
            return right_m, f"flexion axis from left to right {name}"
        return unknown, "flexion axis unknown, no landmark of the pelvis has markers on both sides"
    ends = _ends(mapping, joint.landmark)
    if not ends:
        return unknown, "flexion axis unknown, no markers are mapped on two sides of the joint"
    carried = " (static trial)" * any(isinstance(rule, Carried) for rule in ends.values())
    try:
        line_m = _line(recording, replace(mapping, rules=ends), settings, frames)
        return line_m, f"flexion axis from {' to '.join(ends)}{carried}"
    except TrialError as error:
        return unknown, f"flexion axis unknown, {error}"


def _ends(mapping: LandmarkMap, centre: str) -> Mapping[str, LandmarkRule]:
    """Rules of two points on a joint's flexion axis; none where they are not mapped.

    The two markers whose mean is the joint's centre, else the landmarks on both sides of the joint, else one of them and the
    centre.
    """
    sides = {name: mapping.rules[name] for name in SIDES_OF.get(centre, ()) if name in mapping.rules}
    if centre not in SIDES_OF or not mapping.has(centre):
        return {}
    cluster, weights = mapping.cluster(centre), mapping.weights(centre)
    if [*weights.values()] == [0.5, 0.5]:
        return {label: Carried(static=label, cluster=cluster) if cluster else label for label in weights}
    if len(sides) == 1:
        sides = {centre: mapping.rule(centre), **sides}
    return sides if len({str(rule) for rule in sides.values()}) == 2 else {}


def _line(recording: Recording, mapping: LandmarkMap, settings: Settings, frames: slice) -> FloatArray:
    """Line between the two landmarks of a map, shape (n_frames, 3), m."""
    labels = needed_markers(recording, mapping, mapping.rules)
    positions = fill_needed(recording, list(labels.values()), settings.gaps).markers_m[frames]
    index, static = {label: i for i, label in enumerate(labels)}, recording.static
    first, second = (
        locate(name, mapping, markers=index, positions_m=positions, static=static) for name in mapping.rules
    )
    return second - first
