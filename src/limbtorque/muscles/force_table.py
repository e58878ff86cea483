"""Muscle forces of a trial as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.table import frame_values
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.muscles.joint_contact import ContactForce
from limbtorque.muscles.lines_of_action import along_and_across, segment_axes
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.study.options.muscles import Muscles
from limbtorque.tables.files import make_table
from limbtorque.tables.muscle_columns import MuscleEntry, muscle_columns


def table_entries(muscle_set: MuscleSet | None, joints: Sequence[str]) -> list[MuscleEntry]:
    """Muscles of a set in the table of a chain with these joints; empty without a set."""
    if muscle_set is None:
        return []
    chosen = muscle_set.crossing(joints)
    return [
        MuscleEntry(
            muscle.name,
            tuple(joint for joint in joints if not muscle.moment_arms[joint].is_zero),
            muscle.length is not None,
            muscle.fibres_known,
        )
        for muscle in chosen.muscles
    ]


def muscle_table(motion: ChainMotion, found: MuscleForces, *, options: Muscles) -> pa.Table:
    """Table of `results/muscles`.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : MuscleForces
        Its muscle forces.
    options : Muscles
        Section `muscles` of the settings.
    """
    entries = table_entries(found.muscle_set, motion.joints)
    columns = muscle_columns(motion.joints, motion.segments, entries, options)
    proximal, distal = segment_axes(motion.kinematics.angle_rad, motion.flexion.zero_rad)
    axes = [{i: distal[:, i], **({i - 1: proximal[:, i]} if i else {})} for i in range(len(motion.joints))]
    optimized = found.optimized
    values: dict[str, Any] = {
        **frame_values(motion),
        "optimization_status": optimized.status,
        "moment_arm_status": found.out_of_range,
        "fibre_status": found.fibres_out_of_range,
        "optimization_iterations": optimized.iterations,
        "optimization_residual_nm": optimized.residual_nm,
        "optimization_cost": optimized.cost,
        "optimization_duality_gap": optimized.duality_gap,
        "optimization_shortfall_nm": optimized.shortfall_nm,
        "co_contraction_cost": found.co_contraction_cost,
        "co_contraction_part": found.co_contraction_part,
    }
    if found.stretch is not None:
        values |= {"tendon_iterations": found.stretch.iterations, "tendon_activation_change": found.stretch.change}
    for k, entry in enumerate(entries):
        values |= _muscle_values(entry.name, k, found)
    for i, joint in enumerate(motion.joints):
        values[f"{joint}_flexion_sign"] = np.full(len(found.force_n), motion.flexion.sign[i])
        values[f"{joint}_optimality_certificate"] = found.certificate[:, i]
        values[f"{joint}_optimization_multiplier"] = found.optimized.multiplier[:, i] * motion.flexion.sign[i]
        values[f"{joint}_torque_passive_nm"] = found.passive_nm[:, i]
        values[f"{joint}_torque_reserve_nm"] = found.reserve_nm[:, i]
        for k, entry in enumerate(entries):
            own_arm = found.geometry.moment_arm_m[:, i, k]
            values[f"{joint}_moment_arm_{entry.name}_m"] = (
                own_arm if found.arm_known[i] else np.full_like(own_arm, np.nan)
            )
            values[f"{joint}_torque_muscle_{entry.name}_nm"] = found.torque_nm[:, i, k]
        if found.contact is not None:
            values |= _contact_values(joint, i, found.contact, axes[i], motion, found.body_weight_n)
    return make_table(columns, {column.name: values[column.name] for column in columns})


def _muscle_values(name: str, k: int, found: MuscleForces) -> dict[str, FloatArray]:
    """Columns of one muscle."""
    values = {
        f"{name}_force_n": found.force_n[:, k],
        f"{name}_activation": found.activation[:, k],
        f"{name}_min_force_n": found.least_n[:, k],
        f"{name}_max_force_n": found.greatest_n[:, k],
        f"{name}_length_m": found.geometry.length_m[:, k],
        f"{name}_min_activation": found.floor[:, k],
    }
    if found.limits is not None:
        values |= {
            f"{name}_strength_n": found.limits.strength_n[:, k],
            f"{name}_passive_force_n": found.limits.passive_n[:, k],
            f"{name}_fibre_length": found.limits.fibre_length[:, k],
            f"{name}_fibre_velocity": found.limits.fibre_velocity[:, k],
        }
    if found.stretch is not None:
        values[f"{name}_tendon_strain"] = found.stretch.strain[:, k]
        if found.stretch.unit_n is not None:
            values[f"{name}_criterion_unit_n"] = found.stretch.unit_n[:, k]
    return values


def _contact_values(
    joint: str,
    i: int,
    contact: ContactForce,
    axes_rad: dict[int, FloatArray],
    motion: ChainMotion,
    body_weight_n: float,
) -> dict[str, FloatArray]:
    """Columns of the contact force of one joint."""
    force, sign = contact.contact_n[:, i], float(motion.flexion.sign[i])
    values = {f"{joint}_contact_{axis}_n": force[:, a] for a, axis in enumerate("xy")}
    values[f"{joint}_contact_bw"] = np.hypot(*force.T) / body_weight_n
    for k, axis_rad in axes_rad.items():
        along, across = along_and_across(force, axis_rad, flexion_sign=sign)
        values[f"{joint}_contact_along_{motion.segments[k]}_n"] = along
        values[f"{joint}_contact_across_{motion.segments[k]}_n"] = across
        if k == i:
            values[f"{joint}_contact_direction_deg"] = np.degrees(np.arctan2(across, along))
    for name, found in (("", contact.possible), ("_effort", contact.limited)):
        if found is not None:
            start, end = f"{joint}{name}", f"along_{motion.segments[i]}_bw"
            values |= {
                f"{start}_min_contact_bw": found.least_n[:, i] / body_weight_n,
                f"{start}_max_contact_bw": found.greatest_n[:, i] / body_weight_n,
                f"{start}_min_contact_{end}": found.least_along_n[:, i] / body_weight_n,
                f"{start}_max_contact_{end}": found.greatest_along_n[:, i] / body_weight_n,
            }
    return values
