"""Net joint torques of a motion, term by term, with an independent check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import BoolArray, FloatArray, joined, stretches
from limbtorque.chain.conventions import (
    SegmentTerms,
    interaction_torques,
    motion_dependent_torques,
    segment_terms,
    segment_torques,
)
from limbtorque.chain.dynamics import JointWrenches, TorqueTerms, newton_euler, torque_terms
from limbtorque.chain.energy import PowerBalance, SegmentEnergies, power_balance, segment_energies
from limbtorque.chain.forward import induced_accelerations
from limbtorque.chain.model import Load, pairs
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.table import frame_values, put_xy
from limbtorque.study.options.outputs import Convention, TorqueColumns
from limbtorque.tables.files import make_table
from limbtorque.tables.frame_columns import inducing_sources, term_columns, torque_columns


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
    powers : PowerBalance
        Power of the net torques, of the base and of the load, and the rate of change of the energy.
    energies : SegmentEnergies
        Mechanical energy of the segments.
    """

    terms: TorqueTerms
    wrenches: JointWrenches
    closure_nm: FloatArray
    powers: PowerBalance
    energies: SegmentEnergies


def joint_torques(motion: ChainMotion) -> Torques:
    """Torque terms of a motion, and the torques of a recursive Newton-Euler pass.

    Parameters
    ----------
    motion : ChainMotion
        Motion of the chain and its load.

    Returns
    -------
    Torques
        NaN where the external load is not known.
    """
    loaded = bool(motion.load.status.any())
    return joined([_stretch_torques(motion.part(some), loaded) for some in stretches(len(motion.time_s))])


def _stretch_torques(motion: ChainMotion, loaded: bool) -> Torques:
    """Torques of a stretch of frames."""
    load = motion.load
    loads = [Load(motion.chain.n_links - 1, load.force_n, load.point_m, load.couple_nm)] if loaded else []
    chain, kinematics, gravity = motion.chain, motion.kinematics, motion.gravity_m_s2
    terms = torque_terms(chain, kinematics, gravity_m_s2=gravity, loads=loads, joint_m=motion.joint_m, missing=True)
    wrenches = newton_euler(chain, kinematics, gravity_m_s2=gravity, loads=loads, joint_m=motion.joint_m, missing=True)
    return Torques(
        terms=terms,
        wrenches=wrenches,
        closure_nm=wrenches.torque_nm - terms.net,
        powers=power_balance(chain, kinematics, terms=terms, gravity_m_s2=gravity, missing=True),
        energies=segment_energies(chain, kinematics, gravity_m_s2=gravity, missing=True),
    )


def used_frames(motion: ChainMotion, torques: Torques) -> BoolArray:
    """Frames that the summary uses: torque known and free of edge effects."""
    return ~motion.edge & known_frames(torques)


def beside_gap(used: BoolArray) -> BoolArray:
    """Frames whose neighbour before, and after, is not used, shape (2, n_frames).

    >>> beside_gap(np.array([True, True, False, True])).astype(int).tolist()
    [[1, 0, 0, 1], [0, 1, 0, 1]]
    """
    unused = ~np.pad(used, 1)
    return np.stack([unused[:-2], unused[2:]])


def known_frames(torques: Torques) -> BoolArray:
    """Frames whose torque is known, shape (n_frames,)."""
    return np.asarray(~np.isnan(torques.terms.net).any(axis=1))


def torque_table(
    motion: ChainMotion,
    torques: Torques,
    *,
    options: TorqueColumns | None = None,
    limits: Mapping[str, FloatArray] | None = None,
) -> pa.Table:
    """Table of `results/torques`, the torque component table.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    options : TorqueColumns, optional
        Further columns, as in the section `torques` of the settings.
    limits : mapping of str to ndarray of shape (n_frames,), optional
        Values of `tables.frame_columns.limit_columns` of every joint; the table has none without.
    """
    options = options or TorqueColumns()
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
        for kind in ("inertial", "centripetal", "coriolis"):
            values[f"{name}_{kind}_nm"] = getattr(terms, kind)[:, i].sum(axis=1)
        values[f"{name}_gravity_nm"] = terms.gravity[:, i]
        values[f"{name}_base_nm"] = terms.base[:, i]
        values[f"{name}_external_nm"] = terms.external[:, i]
        values[f"{name}_closure_nm"] = torques.closure_nm[:, i]
        put_xy(values, f"{joint}_reaction_{{}}_n", torques.wrenches.reaction_n[:, i])
        values[f"{joint}_power_w"] = torques.powers.joint[:, i]
    for convention in options.conventions:
        values |= _convention_values(convention, motion, torques)
    if "power" in options.columns:
        values |= _power_values(motion, torques, values)
    if "induced_accelerations" in options.columns:
        values |= _induced_values(motion, torques)
    values |= limits or {}
    return make_table(torque_columns(motion.joints, motion.segments, options, limits=bool(limits)), values)


def _convention_values(convention: Convention, motion: ChainMotion, torques: Torques) -> dict[str, FloatArray]:
    """Values of `tables.frame_columns.convention_columns`."""
    terms = torques.terms
    parts: dict[str, FloatArray] = {}
    if convention == "segment_space":
        by_segment = _by_segment(motion, torques)
        for k, segment in enumerate(motion.segments):
            parts[f"inertial_{segment}"] = by_segment.inertial[:, :, k]
            parts[f"centripetal_{segment}"] = by_segment.centripetal[:, :, k]
    elif convention == "motion_dependent":
        parts = {**vars(motion_dependent_torques(_by_segment(motion, torques)))}
        parts["motion"] = parts.pop("motion_dependent")
    elif convention == "interaction":
        parts = {**vars(interaction_torques(terms))}
    else:
        side = 1.0 if convention == "torque_equation" else -1.0
        velocity = terms.centripetal.sum(axis=2) + terms.coriolis.sum(axis=2)
        parts = {"inertia": terms.inertial.sum(axis=2), "velocity": side * velocity}
        parts |= {name: side * getattr(terms, name) for name in ("gravity", "base", "external")}
        parts |= {"applied": terms.net} if convention == "motion_equation" else {}
    values = {
        f"{joint}_torque_{convention}_{part}_nm": numbers[:, i]
        for part, numbers in parts.items()
        for i, joint in enumerate(motion.joints)
    }
    if convention == "segment_space":
        general = segment_torques(terms.net, missing=True)
        values |= {f"{segment}_torque_segment_space_nm": general[:, k] for k, segment in enumerate(motion.segments)}
    return values


def _by_segment(motion: ChainMotion, torques: Torques) -> SegmentTerms:
    return segment_terms(motion.chain, motion.kinematics, terms=torques.terms, missing=True)


def _power_values(motion: ChainMotion, torques: Torques, values: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Values of `tables.frame_columns.power_columns`, from those of the torques."""
    powers = {
        "chain_power_base_w": torques.powers.base,
        "chain_power_external_w": torques.powers.external,
        "chain_energy_rate_w": torques.powers.energy_rate,
        "chain_power_closure_w": torques.powers.residual,
    }
    for i, joint in enumerate(motion.joints):
        for column in term_columns(joint, motion.joints):
            name = column.name.replace("_torque_", "_power_", 1).removesuffix("_nm") + "_w"
            powers[name] = values[column.name] * motion.kinematics.velocity_rad_s[:, i]
    for k, segment in enumerate(motion.segments):
        for kind in ("translational", "rotational", "potential"):
            powers[f"{segment}_energy_{kind}_j"] = getattr(torques.energies, kind)[:, k]
    return powers


def _induced_values(motion: ChainMotion, torques: Torques) -> dict[str, FloatArray]:
    """Values of `tables.frame_columns.induced_columns`."""
    load, contact = motion.load, None
    if load.pressure_m is not None and not np.isnan(load.pressure_m).all():
        contact = Load(motion.chain.n_links - 1, load.force_n, load.pressure_m)
    found = induced_accelerations(
        motion.chain, motion.kinematics, terms=torques.terms, contact=contact, joint_m=motion.joint_m, missing=True
    )
    values: dict[str, Any] = {}
    for s, source in enumerate(inducing_sources(motion.joints)):
        for i, joint in enumerate(motion.joints):
            values[f"{joint}_acceleration_from_{source}_rad_s2"] = found.joint_rad_s2[:, i, s]
        put_xy(values, f"endpoint_acceleration_from_{source}_{{}}_m_s2", found.endpoint_m_s2[:, :, s])
    return values
