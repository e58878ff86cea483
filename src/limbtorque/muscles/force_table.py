"""Tables of the muscle and contact forces of a trial: every frame, and summaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.table import frame_values
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.muscles.joint_contact import ContactForce
from limbtorque.muscles.lines_of_action import along_and_across, segment_axes
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.study.options.muscles import Muscles
from limbtorque.tables.files import make_table
from limbtorque.tables.muscle_columns import MuscleEntry, criterion_text, muscle_columns
from limbtorque.tables.study_columns import CONTACT_STATISTICS, MUSCLE_STATISTICS

UNKNOWN = {column.name: math.nan for column in MUSCLE_STATISTICS}
UNKNOWN_CONTACT = {column.name: math.nan for column in CONTACT_STATISTICS}


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
    }
    if found.stretch is not None:
        values |= {"tendon_iterations": found.stretch.iterations, "tendon_activation_change": found.stretch.change}
    values |= {
        f"{entry.name}_{column}": numbers[:, k]
        for column, numbers in _of_muscles(found).items()
        for k, entry in enumerate(entries)
    }
    sign, shape = motion.flexion.sign, found.reserve_nm.shape
    by_joint = {
        "flexion_sign": np.broadcast_to(sign, shape),
        "optimality_certificate": found.certificate,
        "optimization_multiplier": optimized.multiplier * sign,
        "torque_passive_nm": found.passive_nm,
        "torque_reserve_nm": found.reserve_nm,
    }
    arm_m = np.where(found.arm_known[:, None], found.geometry.moment_arm_m, np.nan)
    for i, joint in enumerate(motion.joints):
        values |= {f"{joint}_{column}": numbers[:, i] for column, numbers in by_joint.items()}
        for k, entry in enumerate(entries):
            values[f"{joint}_moment_arm_{entry.name}_m"] = arm_m[:, i, k]
            values[f"{joint}_torque_muscle_{entry.name}_nm"] = found.torque_nm[:, i, k]
        if found.contact is not None:
            values |= _contact_values(joint, i, found.contact, axes[i], motion, found.body_weight_n)
    return make_table(columns, {column.name: values[column.name] for column in columns})


def _of_muscles(found: MuscleForces) -> dict[str, FloatArray]:
    """Columns of every muscle by name suffix, (n_frames, n_muscles)."""
    values = {
        "force_n": found.force_n,
        "activation": found.activation,
        "min_force_n": found.least_n,
        "max_force_n": found.greatest_n,
        "length_m": found.geometry.length_m,
    }
    if found.limits is not None:
        values |= {
            "strength_n": found.limits.strength_n,
            "passive_force_n": found.limits.passive_n,
            "fibre_length": found.limits.fibre_length,
            "fibre_velocity": found.limits.fibre_velocity,
        }
    if found.stretch is not None:
        values["tendon_strain"] = found.stretch.strain
        if found.stretch.unit_n is not None:
            values["criterion_unit_n"] = found.stretch.unit_n
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


@dataclass(frozen=True, eq=False)
class ForceSeries:
    """Muscle forces over time, for the summary.

    Attributes
    ----------
    force_n, activation, least_n, greatest_n : ndarray of shape (n_frames, n_muscles)
        As in `MuscleForces`.
    known : ndarray of bool, shape (n_frames,)
        Frames with forces, inside the range of all moment arms and fibres.
    """

    force_n: FloatArray
    activation: FloatArray
    least_n: FloatArray
    greatest_n: FloatArray
    known: BoolArray


def force_series(found: MuscleForces) -> ForceSeries:
    """Forces of all muscles over time."""
    outside = found.out_of_range | found.fibres_out_of_range
    known = np.asarray(~outside & np.isfinite(found.force_n).all(axis=1))
    return ForceSeries(found.force_n, found.activation, found.least_n, found.greatest_n, known)


def muscle_summary(
    motion: ChainMotion,
    found: ForceSeries,
    muscle_set: MuscleSet,
    options: Muscles,
    *,
    windows: Mapping[str, BoolArray],
    min_known_share: float,
) -> list[dict[str, Any]]:
    """Peak, mean and impulse of every muscle over every window.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : ForceSeries
        Its muscle forces.
    muscle_set : MuscleSet
        The muscles, as in `MuscleForces`.
    options : Muscles
        Section `muscles` of the settings.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    min_known_share : float
        Least share of a window's frames with known forces; with less, its statistics are NaN.

    Returns
    -------
    list of dict
        Rows of `results/muscle_summary.csv` without the trial's own columns.

    Notes
    -----
    Frames with edge effects, without forces, or outside the range of a moment arm or a fibre's curve are left out;
    integrals are trapezoids between neighbouring used frames.
    """

    def statistics(k: int, used: BoolArray) -> dict[str, float]:
        force, both = found.force_n[used, k], used[1:] & used[:-1]
        top = int(force.argmax())

        def impulse(values: FloatArray) -> float:
            return float(((values[1:, k] + values[:-1, k])[both] / 2.0).sum() / motion.rate_hz)

        return {
            "peak_n": force[top],
            "peak_time_s": motion.time_s[used][top] if force[top] > 0 else math.nan,
            "peak_activation": found.activation[used, k].max(),
            "mean_n": force.mean(),
            "impulse_ns": impulse(found.force_n),
            "min_impulse_ns": impulse(found.least_n),
            "max_impulse_ns": impulse(found.greatest_n),
        }

    of_set = {"muscle_set": muscle_set.name, "criterion": criterion_text(options)}
    about = [{**of_set, "muscle": m.name, "strength_n": m.max_isometric_force_n} for m in muscle_set.muscles]
    known = np.broadcast_to((found.known & ~motion.edge)[:, None], found.force_n.shape)
    return _rows(windows, about, known, statistics, UNKNOWN, min_known_share)


def _rows(
    windows: Mapping[str, BoolArray],
    about: Sequence[Mapping[str, Any]],
    known: BoolArray,
    statistics: Callable[[int, BoolArray], Mapping[str, float]],
    unknown: Mapping[str, float],
    min_known_share: float,
) -> list[dict[str, Any]]:
    """Rows for every item and window, with statistics of the known frames."""
    rows = []
    for window, inside in windows.items():
        for k, item in enumerate(about):
            used = inside & known[:, k]
            share = float(used.sum() / inside.sum()) if inside.any() else 0.0
            enough = bool(used.any()) and share >= min_known_share
            numbers = {name: float(n) for name, n in (statistics(k, used) if enough else unknown).items()}
            rows.append({"window": window, **item, "n_frames": int(used.sum()), "used_share": share, **numbers})
    return rows


@dataclass(frozen=True, eq=False)
class ContactSeries:
    """Contact forces over time, for the summary; NaN where unknown.

    Attributes
    ----------
    size, least, greatest, effort_least, effort_greatest : ndarray of shape (n_frames, n_joints)
        Size of the contact force, and the ends of its two ranges, over body weight.
    """

    size: FloatArray
    least: FloatArray
    greatest: FloatArray
    effort_least: FloatArray
    effort_greatest: FloatArray


def contact_series(found: MuscleForces) -> ContactSeries | None:
    """Contact forces of all joints over time; None if not requested."""
    if found.contact is None:
        return None
    size = np.linalg.norm(found.contact.contact_n, axis=2)
    ends: list[FloatArray] = []
    for limits in (found.contact.possible, found.contact.limited):
        ends += [limits.least_n, limits.greatest_n] if limits else [np.full_like(size, np.nan)] * 2
    return ContactSeries(*(values / found.body_weight_n for values in (size, *ends)))


def contact_summary(
    motion: ChainMotion, found: ContactSeries, *, windows: Mapping[str, BoolArray], min_known_share: float
) -> list[dict[str, Any]]:
    """Peak and mean of the contact force of every joint over every window.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : ContactSeries
        Its contact forces.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    min_known_share : float
        Least share of a window's frames with a known contact force; with less, the statistics are NaN.

    Returns
    -------
    list of dict
        Rows of `results/contact_summary.csv` without the trial's own columns. Frames with edge effects are left out.
    """

    def statistics(j: int, used: BoolArray) -> dict[str, float]:
        size = found.size[used, j]
        top = int(size.argmax())
        return {
            "peak_bw": size[top],
            "peak_time_s": motion.time_s[used][top],
            "min_peak_bw": found.least[used, j].max(),
            "max_peak_bw": found.greatest[used, j].max(),
            "effort_min_peak_bw": found.effort_least[used, j].max(),
            "effort_max_peak_bw": found.effort_greatest[used, j].max(),
            "mean_bw": size.mean(),
            "effort_range_bw": np.median(found.effort_greatest[used, j] - found.effort_least[used, j]),
        }

    known = np.isfinite(found.size) & ~motion.edge[:, None]
    about = [{"joint": joint} for joint in motion.joints]
    return _rows(windows, about, known, statistics, UNKNOWN_CONTACT, min_known_share)
