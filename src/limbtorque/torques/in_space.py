"""Net moments in space beside the planar torques, and what the plane costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray, lengths
from limbtorque.chain.in_space import net_moments
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.in_space import SpaceMotion
from limbtorque.motion.table import frame_values
from limbtorque.tables.files import make_table
from limbtorque.tables.frame_columns import space_columns
from limbtorque.torques.joint_torques import Torques


@dataclass(frozen=True)
class SpaceMoments:
    """Components of the net moments in space, each of shape (n_frames, n_joints), N m.

    Attributes
    ----------
    torque_about_normal : ndarray
        About the plane's normal, counter-clockwise positive.
    torque_about_flexion_axis : ndarray
        About the joint's own flexion axis, on the side of the normal; NaN where it is not known.
    moment_abduction, moment_rotation : ndarray
        About the axis across flexion axis and long axis, abduction positive, and about the part of the long axis across
        the flexion axis, internal rotation positive.
    notes : tuple of str
        Origin of the axes.
    """

    torque_about_normal: FloatArray
    torque_about_flexion_axis: FloatArray
    moment_abduction: FloatArray
    moment_rotation: FloatArray
    notes: tuple[str, ...]


def space_moments(space: SpaceMotion, motion: ChainMotion, side: str) -> SpaceMoments:
    """Net moments of a motion in space, about the axes of plane and joints.

    Parameters
    ----------
    space : SpaceMotion
        The motion in space.
    motion : ChainMotion
        The planar motion, for its plane.
    side : {"left", "right"}
        Side of the limb: abduction and internal rotation of the two are mirror images.
    """
    (force, couple), gravity = np.hsplit(space.wrench, 2), space.gravity_m_s2
    moments = net_moments(
        space.chain, space.joint_m, space.acceleration_m_s2, gravity_m_s2=gravity, force_n=force, couple_nm=couple
    )
    mirror = 1.0 if side == "left" else -1.0
    across = np.cross(space.right_axis, space.long_axis)
    across = mirror * across / lengths(across)[..., None]
    return SpaceMoments(
        torque_about_normal=moments @ motion.plane.normal,
        torque_about_flexion_axis=(moments * space.flexion_axis).sum(axis=2),
        moment_abduction=(moments * across).sum(axis=2),
        moment_rotation=(moments * np.cross(across, space.right_axis)).sum(axis=2),
        notes=space.notes,
    )


def space_table(moments: SpaceMoments, motion: ChainMotion, torques: Torques) -> pa.Table:
    """Table of `torques.in_space`."""
    values = {name: each for name, each in frame_values(motion).items() if name in ("frame", "time_s")}
    components = {**vars(moments), "torque_by_lengths": torques.terms.net - moments.torque_about_normal}
    for i, joint in enumerate(motion.joints):
        values |= {f"{joint}_{name}_nm": each[:, i] for name, each in components.items() if name != "notes"}
    return make_table(space_columns(motion.joints), values)
