"""Net joint torques of a motion, term by term, checked by a second method, and what is said of them in a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from limbtorque.chain import JointWrenches, Load, TorqueTerms, newton_euler, pairs, torque_terms
from limbtorque.errors import LoadError
from limbtorque.motion import ChainMotion
from limbtorque.motion_table import frame_values, put_xy
from limbtorque.tables import make_table, torque_columns

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Torques:
    """Net joint torques of a trial, term by term, with their check.

    Attributes
    ----------
    terms : TorqueTerms
        The terms.
    wrenches : JointWrenches
        Net torque and reaction forces of the recursive Newton-Euler pass.
    closure_nm : ndarray of shape (n_frames, n_joints)
        Torque of that pass minus the sum of the terms, N m.
    power_w : ndarray of shape (n_frames, n_joints)
        Net torque times angular velocity, W.
    """

    terms: TorqueTerms
    wrenches: JointWrenches
    closure_nm: FloatArray
    power_w: FloatArray


def joint_torques(motion: ChainMotion) -> Torques:
    """Torque terms of a motion, and the same torques by the recursive Newton-Euler pass.

    Parameters
    ----------
    motion : ChainMotion
        Motion of the chain and its load.

    Returns
    -------
    Torques
        NaN where the external load is not known.
    """
    load = motion.load
    loads = [Load(motion.chain.n_links - 1, load.force_n, load.point_m, load.couple_nm)] if load.status.any() else []
    kinematics = (motion.angle_rad, motion.velocity_rad_s, motion.acceleration_rad_s2)
    surroundings: dict[str, Any] = {
        "gravity_m_s2": motion.gravity_m_s2,
        "base_acceleration_m_s2": motion.base_acceleration_m_s2,
        "loads": loads,
        "joint_m": motion.joint_m,
        "missing": True,
    }
    terms = torque_terms(motion.chain, *kinematics, **surroundings)
    wrenches = newton_euler(motion.chain, *kinematics, **surroundings)
    net = terms.net
    return Torques(terms, wrenches, wrenches.torque_nm - net, net * motion.velocity_rad_s)


def torque_quality(motion: ChainMotion, torques: Torques) -> dict[str, float]:
    """Quality figures of the torques.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.

    Returns
    -------
    dict of str to float
        The largest closure over all frames whose torque is known, and the share of frames the summary leaves out.

    Raises
    ------
    LoadError
        The torque is known in no frame.
    """
    known = _known(torques)
    if not known.any():
        raise LoadError(
            "the torque is known in no frame: the foot is on the ground and no plate measures it alone, or a segment points "
            "out of the plane; see the notes, give plates.assignment or another plane, or choose a part of the trial with "
            "start_s and end_s"
        )
    return {
        "closure_nm": float(np.abs(torques.closure_nm[known]).max()),
        "unused_share": 1.0 - float(used_frames(motion, torques).mean()),
    }


def used_frames(motion: ChainMotion, torques: Torques) -> BoolArray:
    """Frames that the summary uses, shape (n_frames,): torque known, and not within reach of the ends."""
    return ~motion.edge & _known(torques)


def _known(torques: Torques) -> BoolArray:
    return np.asarray(~np.isnan(torques.terms.net).any(axis=1))


def torque_table(motion: ChainMotion, torques: Torques, *, meta: Mapping[str, Any] | None = None) -> pa.Table:
    """Table of `results/torques`, the torque component table.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    meta : mapping, optional
        What to keep with the table.
    """
    values: dict[str, Any] = {**frame_values(motion), "external_status": motion.load.status}
    terms, net = torques.terms, torques.terms.net
    for i, joint in enumerate(motion.joints):
        name = f"{joint}_torque"
        values[f"{name}_nm"] = net[:, i]
        for j, source in enumerate(motion.joints):
            values[f"{name}_inertial_{source}_nm"] = terms.inertial[:, i, j]
            values[f"{name}_centripetal_{source}_nm"] = terms.centripetal[:, i, j]
        for k, (p, q) in enumerate(pairs(len(motion.joints))):
            values[f"{name}_coriolis_{motion.joints[p]}_{motion.joints[q]}_nm"] = terms.coriolis[:, i, k]
        values[f"{name}_gravity_nm"] = terms.gravity[:, i]
        values[f"{name}_base_nm"] = terms.base[:, i]
        values[f"{name}_external_nm"] = terms.external[:, i]
        values[f"{name}_closure_nm"] = torques.closure_nm[:, i]
        put_xy(values, f"{joint}_reaction_{{}}_n", torques.wrenches.reaction_n[:, i])
        values[f"{joint}_power_w"] = torques.power_w[:, i]
    return make_table(torque_columns(motion.joints), values, meta=meta)
