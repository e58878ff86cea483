"""Muscle forces of a trial: its net joint torques shared by moment arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from limbtorque.motion import ChainMotion
from limbtorque.motion_table import frame_values
from limbtorque.muscles.moment_arms import MuscleSet, moment_arm_matrix
from limbtorque.muscles.sharing import Sharing, share_torques
from limbtorque.tables import make_table, muscle_columns

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class MuscleForces:
    """Torques of a trial shared among muscles.

    Attributes
    ----------
    muscles : tuple of str
        Names.
    sharing : Sharing
        Forces, activations, reserves (flexion positive) and the status of every frame.
    torque_nm : ndarray of shape (n_frames, n_joints, n_muscles)
        What each muscle does at each joint, counter-clockwise positive, N m.
    reserve_nm : ndarray of shape (n_frames, n_joints)
        What no muscle does, counter-clockwise positive, N m.
    out_of_range : ndarray of bool, shape (n_frames,)
        Frames in which a joint is outside the range of its moment arms.
    quality : dict of str to float
        Shares of frames with reserve, out of range and without a solution.
    notes : tuple of str
        Which joints left the range of which moment arms, and what is not known of the set.
    """

    muscles: tuple[str, ...]
    sharing: Sharing
    torque_nm: FloatArray
    reserve_nm: FloatArray
    out_of_range: NDArray[np.bool_]
    quality: dict[str, float]
    notes: tuple[str, ...]


def muscle_forces(motion: ChainMotion, net_nm: FloatArray, muscle_set: MuscleSet) -> MuscleForces:
    """Share the net joint torques among muscles by the least sum of squared activations.

    Parameters
    ----------
    motion : ChainMotion
        Joint angles and what flexion is.
    net_nm : ndarray of shape (n_frames, n_joints)
        Net joint torques, counter-clockwise positive, N m.
    muscle_set : MuscleSet
        Muscles, moment arms and largest forces.

    Returns
    -------
    MuscleForces
        At a joint whose moment arms are not known in this plane, the arms count as zero and the torque is reserve.
    """
    sign = motion.flexion_sign
    flexion = sign * (motion.angle_rad - motion.flexion_zero_rad)
    arms = moment_arm_matrix(muscle_set, flexion, joints=motion.joints)
    known = motion.moment_arms_known
    arm = arms.moment_arm_m * known[:, None]
    sharing = share_torques(arm, net_nm * sign, max_force_n=muscle_set.max_force_n)
    out = np.asarray((arms.out_of_range & known).any(axis=1))
    invalid = np.asarray(np.isnan(net_nm).any(axis=1))
    lacking = np.abs(sharing.reserve_nm[:, known]).max(axis=1, initial=0.0) > 1e-6
    valid = max(int((~invalid).sum()), 1)
    quality = {
        "reserve_share": float((lacking & ~invalid).sum()) / valid,
        "arm_range_share": float(out[~invalid].sum()) / valid,
        "joints_without_moment_arms": float((~known).sum()),
        "sharing_failed_share": float((sharing.status == 3).sum()) / valid,
    }
    share_out = (arms.out_of_range & known)[~invalid].mean(axis=0) if (~invalid).any() else np.zeros(len(known))
    notes = (
        *(
            f"{joint}: outside the range of a moment arm in {100 * share:.0f} % of the frames"
            for joint, share in zip(motion.joints, share_out, strict=True)
            if share > 0.0
        ),
        *(
            f"{joint}: moment arms are not known in this plane, its torque is all reserve"
            for joint, is_known in zip(motion.joints, known, strict=True)
            if not is_known
        ),
        *(
            f"{muscle} crosses the {joint}, but its moment arm there is not known: it counts as zero"
            for muscle, joint in muscle_set.not_sampled
        ),
    )
    return MuscleForces(
        muscle_set.names,
        sharing,
        arm * sharing.force_n[:, None, :] * sign[:, None],
        sharing.reserve_nm * sign,
        out,
        quality,
        notes,
    )


def muscle_table(motion: ChainMotion, muscles: MuscleForces, *, meta: Mapping[str, Any] | None = None) -> pa.Table:
    """Table of `results/muscles`.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    muscles : MuscleForces
        Its muscle forces.
    meta : mapping, optional
        What to keep with the table.
    """
    values: dict[str, Any] = {
        **frame_values(motion),
        "sharing_status": muscles.sharing.status,
        "moment_arm_status": muscles.out_of_range,
    }
    for k, muscle in enumerate(muscles.muscles):
        values[f"{muscle}_force_n"] = muscles.sharing.force_n[:, k]
        values[f"{muscle}_activation"] = muscles.sharing.activation[:, k]
        for i, joint in enumerate(motion.joints):
            values[f"{joint}_torque_muscle_{muscle}_nm"] = muscles.torque_nm[:, i, k]
    for i, joint in enumerate(motion.joints):
        values[f"{joint}_torque_reserve_nm"] = muscles.reserve_nm[:, i]
    return make_table(muscle_columns(motion.joints, muscles.muscles), values, meta=meta)
