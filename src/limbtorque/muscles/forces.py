"""Muscle forces of a trial: its net joint torques shared by moment arms."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import SettingsError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.table import frame_values
from limbtorque.muscles.hill import HillLimits, hill_limits
from limbtorque.muscles.joint_contact import (
    ContactForce,
    along_and_across,
    contact_force,
    lines_of_action,
    segment_axes,
)
from limbtorque.muscles.moment_arms import Musculotendon, musculotendon
from limbtorque.muscles.sets.muscle_set import MuscleSet, scale_factors, scaled
from limbtorque.muscles.static_optimization.sharing import (
    FAILED,
    OK,
    RESERVE,
    Sharing,
    force_range,
    reachable_part,
    share_torques,
)
from limbtorque.study.settings import Muscles
from limbtorque.tables.tables import MuscleEntry, criterion_text, make_table, muscle_columns

NEGLIGIBLE_NM = 1e-6
SAFE = 1e-9  # part by which co-contraction stays short of what makes a torque unreachable


@dataclass(frozen=True)
class MuscleForces:
    """Torques of a trial shared among muscles.

    Attributes
    ----------
    muscle_set : MuscleSet
        The muscles that cross a joint of the chain, scaled to the subject where that was asked for.
    sharing : Sharing
        Active forces, activations, reserves (flexion positive) and certificates of every frame.
    geometry : Musculotendon
        Moment arms, lengths and velocities.
    limits : HillLimits or None
        Strength and passive tension, where they depend on length and velocity.
    force_n : ndarray of shape (n_frames, n_muscles)
        Active and passive force, tension positive.
    least_n, greatest_n : ndarray of shape (n_frames, n_muscles)
        Least and greatest force with which all muscles together make the same torques; NaN where not asked for.
    torque_nm : ndarray of shape (n_frames, n_joints, n_muscles)
        What each muscle does at each joint, counter-clockwise positive, N m.
    reserve_nm : ndarray of shape (n_frames, n_joints)
        What no muscle does, counter-clockwise positive, N m.
    proof : ndarray of shape (n_frames, n_joints)
        Direction in which all muscles together fall short, counter-clockwise positive.
    co_contraction_cost, co_contraction_part : ndarray of shape (n_frames,)
        What co-contraction adds to the cost, and how much of the wanted one the torque allows, 0 to 1.
    floor : ndarray of shape (n_frames, n_muscles)
        Least activation at which each muscle was held.
    arm_known : ndarray of bool of shape (n_joints,)
        Joints whose moment arms are known; at the others they count as zero, and the torque is reserve.
    contact : ContactForce or None
        Forces in the joints.
    out_of_range, fibres_out_of_range : ndarray of bool, shape (n_frames,)
        Frames in which a joint is outside the range of its moment arms, and a fibre outside that of its curves.
    quality : dict of str to float
        What was measured.
    notes : tuple of str
        What is not known, and where.
    """

    muscle_set: MuscleSet
    sharing: Sharing
    geometry: Musculotendon
    limits: HillLimits | None
    force_n: FloatArray
    least_n: FloatArray
    greatest_n: FloatArray
    torque_nm: FloatArray
    reserve_nm: FloatArray
    proof: FloatArray
    co_contraction_cost: FloatArray
    co_contraction_part: FloatArray
    floor: FloatArray
    arm_known: BoolArray
    contact: ContactForce | None
    out_of_range: BoolArray
    fibres_out_of_range: BoolArray
    quality: dict[str, float]
    notes: tuple[str, ...]


def check_options(muscle_set: MuscleSet, options: Muscles, joints: Sequence[str]) -> None:
    """Check that a set has what the settings ask for.

    Parameters
    ----------
    muscle_set : MuscleSet
        The set.
    options : Muscles
        Section `muscles` of the settings.
    joints : sequence of str
        Joints of the chain.

    Raises
    ------
    SettingsError
        A joint or a muscle that the set does not have, bounds that contradict each other, no cross-sections for the
        stress criterion, or no reference to scale from.
    """
    name = muscle_set.name
    faults = []
    if lacking := [joint for joint in joints if joint not in muscle_set.joints]:
        faults.append(
            f"has no moment arms for {', '.join(lacking)}; add the joint to the set ('form: zero' for muscles that do not "
            "cross it), or give the chain another set (muscles.sets)"
        )
    for option in ("weights", "activation_bounds"):
        for muscle in _own(getattr(options, option), muscle_set):
            if muscle not in muscle_set.names:
                near = difflib.get_close_matches(muscle, muscle_set.names, n=1)
                hint = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(muscle_set.names)}"
                faults.append(
                    f"has no muscle '{muscle}' (muscles.{option}){hint}; in a study with several sets name the set, too: "
                    f"'leg.{muscle}'"
                )
    faults += [
        f"cannot keep {m} between {low:g} and {high:g}: muscles.min_activation is above its largest activation"
        for m, low, high in zip(muscle_set.names, *_bounds(muscle_set, options), strict=True)
        if low > high
    ]
    lacking = [muscle.name for muscle in muscle_set.muscles if muscle.pcsa_cm2 is None]
    if options.criterion == "stress" and lacking:
        faults.append(
            f"gives no cross-section (pcsa_cm2) for {', '.join(lacking)}, which muscles.criterion: stress needs; give them in a "
            "set of your own, or use criterion: activation"
        )
    reference = muscle_set.reference
    if options.scale_strength == "mass" and (reference is None or reference.mass_kg is None):
        faults.append(
            "does not say which body mass its strengths belong to (reference: mass_kg), which muscles.scale_strength: mass "
            "needs; give it in a set of your own"
        )
    known = reference.segment_length_m if reference else {}
    if options.scale_moment_arms == "segment_length" and (lacking := [j for j in joints if j not in known]):
        faults.append(
            f"does not say which segment lengths its moment arms belong to at {', '.join(lacking)} (reference: "
            "segment_length_m), which muscles.scale_moment_arms: segment_length needs; give them in a set of your own"
        )
    if faults:
        raise SettingsError("\n".join(f"muscle set '{name}' {fault}" for fault in faults))


def muscle_forces(
    motion: ChainMotion,
    net_nm: FloatArray,
    muscle_set: MuscleSet,
    *,
    options: Muscles,
    body_mass_kg: float,
    reaction_n: FloatArray,
) -> MuscleForces:
    """Share the net joint torques among muscles.

    Parameters
    ----------
    motion : ChainMotion
        Joint angles and what flexion is.
    net_nm : ndarray of shape (n_frames, n_joints)
        Net joint torques, counter-clockwise positive, N m.
    muscle_set : MuscleSet
        Muscles, moment arms and largest forces.
    options : Muscles
        Section `muscles` of the settings.
    body_mass_kg : float
        Body mass of the subject.
    reaction_n : ndarray of shape (n_frames, n_joints, 2)
        Joint reaction forces, for the forces in the joints.

    Returns
    -------
    MuscleForces
        At a joint whose moment arms are not known in this plane, the arms count as zero and the torque is reserve.

    Raises
    ------
    SettingsError
        The set does not have what the settings ask for.
    """
    check_options(muscle_set, options, motion.joints)
    chosen, scaling = _to_subject(muscle_set.crossing(motion.joints), motion, options, body_mass_kg)
    sign = motion.flexion_sign
    flexion = sign * (motion.angle_rad - motion.flexion_zero_rad)
    geometry = musculotendon(chosen, flexion, velocity_rad_s=sign * motion.velocity_rad_s, joints=motion.joints)
    unknown = _unknown_arms(motion, chosen)
    known = np.array([joint not in unknown for joint in motion.joints], dtype=bool)
    arm = geometry.moment_arm_m * known[:, None]
    limits = None
    if options.force_length_velocity:  # muscles without known length or fibres keep their strength
        limits = hill_limits(
            geometry.length_m,
            geometry.velocity_m_s,
            max_force_n=chosen.max_force_n,
            max_velocity_lopt_s=options.max_fibre_velocity_lopt_s,
            **chosen.fibres(unknown),
        )
    strength = limits.strength_n if limits else chosen.max_force_n
    passive = limits.passive_n if limits else np.zeros_like(geometry.length_m)
    asked = (net_nm * sign - np.einsum("fjm,fm->fj", arm, passive)) * known
    shared = _shared(arm, asked, strength, chosen, options)
    sharing = _with_unknown(shared.sharing, net_nm * sign, known)
    least, greatest = np.full_like(passive, np.nan), np.full_like(passive, np.nan)
    low, high = _bounds(chosen, options)
    if options.ranges:
        least, greatest = force_range(arm, sharing, max_force_n=strength, min_activation=low, max_activation=high)
    force = sharing.force_n + passive
    contact = None
    if options.contact_forces:
        contact = _contact(motion, reaction_n, force, arm, sharing, geometry.out_of_range | ~known, chosen)
    fibres_out = np.zeros(len(force), dtype=bool) if limits is None else np.asarray(~limits.possible.all(axis=1))
    valid = np.asarray(~np.isnan(net_nm).any(axis=1))
    result = MuscleForces(
        muscle_set=chosen,
        sharing=sharing,
        geometry=geometry,
        limits=limits,
        force_n=force,
        least_n=least + passive,
        greatest_n=greatest + passive,
        torque_nm=arm * force[:, None, :] * sign[:, None],
        reserve_nm=sharing.reserve_nm * sign,
        proof=sharing.certificate * sign,
        co_contraction_cost=shared.added_cost,
        co_contraction_part=shared.part,
        floor=shared.floor,
        arm_known=known,
        contact=contact,
        out_of_range=np.asarray((geometry.out_of_range & known).any(axis=1)),
        fibres_out_of_range=fibres_out,
        quality={},
        notes=(*scaling, *unknown.values(), *_notes(motion, chosen, geometry, known, limits, contact, valid)),
    )
    result.quality.update(_quality(net_nm, result, np.broadcast_to(strength, force.shape), options))
    return result


def _unknown_arms(motion: ChainMotion, muscle_set: MuscleSet) -> dict[str, str]:
    """Joints whose moment arms are not known, with the reason."""
    unknown = {}
    for i, (joint, in_plane) in enumerate(zip(motion.joints, motion.moment_arms_known, strict=True)):
        arms = [muscle.moment_arms[joint] for muscle in muscle_set.muscles]
        if not in_plane:
            unknown[joint] = f"{joint}: moment arms are not known in this plane, its torque is all reserve"
        elif all(arm.is_zero for arm in arms):
            unknown[joint] = f"{joint}: no muscle of set '{muscle_set.name}' moves it, its torque is all reserve"
        elif i == 0 and joint not in muscle_set.from_vertical and any(not arm.is_constant for arm in arms):
            unknown[joint] = (
                f"{joint}: the chain begins here, so its angle is that of the {motion.segments[0]} in the laboratory; the "
                f"moment arms of set '{muscle_set.name}' need the flexion against a segment that is not in the chain, its torque "
                "is all reserve"
            )
    return unknown


def _with_unknown(sharing: Sharing, torque_nm: FloatArray, known: BoolArray) -> Sharing:
    """A sharing with the torques of joints whose moment arms are not known as reserve."""
    if known.all():
        return sharing
    reserve = np.where(known | np.isnan(sharing.reserve_nm), sharing.reserve_nm, torque_nm)
    status = np.where((sharing.status == OK) & (torque_nm[:, ~known] != 0).any(axis=1), RESERVE, sharing.status)
    return replace(sharing, reserve_nm=reserve, status=status.astype(np.int8))


def _to_subject(
    muscle_set: MuscleSet, motion: ChainMotion, options: Muscles, body_mass_kg: float
) -> tuple[MuscleSet, list[str]]:
    """Scale a set to the subject, where that was asked for; with sentences about the factors."""
    factors, notes, reference, strength = None, [], muscle_set.reference, 1.0
    if options.scale_moment_arms == "segment_length":
        factors = scale_factors(muscle_set, dict(zip(motion.joints, motion.chain.length_m.tolist(), strict=True)))
        told = ", ".join(f"{joint} {factor:.3f}" for joint, factor in factors.items())
        notes.append(f"moment arms and lengths scaled by {told}")
    if options.scale_strength == "mass" and reference is not None and reference.mass_kg is not None:
        strength = body_mass_kg / reference.mass_kg
        notes.append(f"strengths scaled by {strength:.3f}")
    if not notes:
        return muscle_set, notes
    return scaled(muscle_set, length_factor=factors, strength_factor=strength), notes


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _own(given: Mapping[str, Any], muscle_set: MuscleSet) -> dict[str, Any]:
    """Options for the muscles of a set: 'soleus' is of any set, 'leg.soleus' of the set leg only."""
    own = {}
    for name, value in given.items():
        of, _, muscle = name.rpartition(".")
        if of in ("", muscle_set.name):
            own[muscle] = value
    return own


def _bounds(muscle_set: MuscleSet, options: Muscles) -> tuple[FloatArray, FloatArray]:
    """Least and largest activation of every muscle, shape (n_muscles,)."""
    given = _own(options.activation_bounds, muscle_set)
    pairs = [given.get(m.name, (m.min_activation, m.max_activation)) for m in muscle_set.muscles]
    low, high = np.array(pairs, dtype=float).reshape(-1, 2).T
    return np.maximum(low, options.min_activation), high


@dataclass(frozen=True)
class _Shared:
    """Torques shared, with co-contraction where it was asked for."""

    sharing: Sharing
    floor: FloatArray
    part: FloatArray
    added_cost: FloatArray


def _shared(
    arm: FloatArray, asked: FloatArray, strength: FloatArray, muscle_set: MuscleSet, options: Muscles
) -> _Shared:
    """Share torques; with co-contraction once more, with every muscle held at its share of the first answer."""
    low, high = _bounds(muscle_set, options)
    weights = _own(options.weights, muscle_set)
    pcsa = [_number(muscle.pcsa_cm2) for muscle in muscle_set.muscles]
    reached: dict[str, Any] = {"max_force_n": strength, "max_activation": high}
    how: dict[str, Any] = {
        **reached,
        "exponent": options.exponent,
        "weight": np.array([weights.get(name, 1.0) for name in muscle_set.names]),
        "norm_n": np.array(pcsa) if options.criterion == "stress" else None,
        "reserve": options.reserve,
        "reserve_nm": options.reserve_nm,
    }
    first = share_torques(arm, asked, min_activation=low, **how)
    n_frames = len(asked)
    if options.co_contraction == 0.0:
        return _Shared(first, np.tile(low, (n_frames, 1)), np.ones(n_frames), np.zeros(n_frames))
    crosses = arm != 0
    most = np.where(crosses, first.activation[:, None, :], 0.0).max(axis=2, initial=0.0)  # of a joint
    wanted = options.co_contraction * np.where(crosses, most[:, :, None], 0.0).max(axis=1, initial=0.0)
    wanted = np.minimum(np.maximum(np.nan_to_num(wanted), low), high)
    held = first.success  # elsewhere there is nothing to add to
    part = reachable_part(arm, asked, min_activation=low, wanted_activation=wanted, **reached)
    part = np.where(held, np.where(part < 1.0, part * (1.0 - SAFE), 1.0), 0.0)
    floor = low + np.nan_to_num(part)[:, None] * (wanted - low)
    second = share_torques(arm, asked, min_activation=floor, **how)
    for name in Sharing.__dataclass_fields__:
        getattr(second, name)[~held] = getattr(first, name)[~held]
    return _Shared(second, floor, part, second.cost - first.cost)


def _contact(
    motion: ChainMotion,
    reaction_n: FloatArray,
    force: FloatArray,
    arm: FloatArray,
    sharing: Sharing,
    unknown: BoolArray,
    muscle_set: MuscleSet,
) -> ContactForce:
    """Forces in the joints; a joint outside the range of its moment arms, or without them, has none."""
    proximal, distal = segment_axes(motion.angle_rad, motion.flexion_zero_rad)
    return contact_force(
        np.where(unknown[..., None], np.nan, reaction_n),
        force,
        arm,
        lines_of_action(muscle_set.muscles, motion.joints),
        proximal_rad=proximal,
        distal_rad=distal,
        flexion_sign=motion.flexion_sign,
        joints=motion.joints,
        muscles=muscle_set.names,
        reserve_nm=sharing.reserve_nm,
    )


def _quality(net_nm: FloatArray, found: MuscleForces, strength: FloatArray, options: Muscles) -> dict[str, float]:
    valid = ~np.isnan(net_nm).any(axis=1)
    known = found.arm_known
    count = max(int(valid.sum()), 1)
    quality = {
        "reserve_share": float(((found.sharing.shortfall_nm > NEGLIGIBLE_NM) & valid).sum()) / count,
        "arm_range_share": float(found.out_of_range[valid].sum()) / count,
        "joints_without_moment_arms": float((~known).sum()),
        "optimization_failed_share": float((found.sharing.status == FAILED).sum()) / count,
    }
    if options.reserve == "priced" and valid.any():
        peaks = np.abs(net_nm[valid]).max(axis=0)
        reserves = np.nan_to_num(np.abs(found.reserve_nm[valid])).max(axis=0, initial=0.0)
        part = (reserves / np.where(peaks > 0, peaks, 1.0))[known]
        quality["reserve_part"] = float(part.max(initial=0.0))
    if found.limits is not None:
        quality["fibre_range_share"] = float(found.fibres_out_of_range[valid].sum()) / count
        passive = np.nan_to_num(found.limits.passive_n[valid]) / found.muscle_set.max_force_n
        quality["passive_part"] = float(passive.max(initial=0.0))
    if options.ranges:
        width = (found.greatest_n - found.least_n) / np.where(strength > 0, strength, np.nan)
        given = np.isfinite(width)
        quality["force_range_share"] = float(width[given].mean()) if given.any() else math.nan
    if options.co_contraction > 0.0:
        added, cost = found.co_contraction_cost, found.sharing.cost
        told = valid & np.isfinite(added) & np.isfinite(cost)
        without = float((cost - added)[told].sum())
        quality["co_contraction_cost_share"] = float(added[told].sum()) / without if without > 0 else math.nan
        quality["co_contraction_reduced_share"] = float((found.co_contraction_part[valid] < 1.0).sum()) / count
    return quality


def _notes(
    motion: ChainMotion,
    muscle_set: MuscleSet,
    geometry: Musculotendon,
    known: BoolArray,
    limits: HillLimits | None,
    contact: ContactForce | None,
    valid: BoolArray,
) -> list[str]:
    out = (geometry.out_of_range & known)[valid]
    shares = out.mean(axis=0) if len(out) else np.zeros(len(known))
    notes = [
        f"{joint}: outside the range of a moment arm in {100 * share:.0f} % of the frames"
        for joint, share in zip(motion.joints, shares, strict=True)
        if share > 0.0
    ]
    notes += [
        f"{muscle} crosses the {joint}, but its moment arm there is not known: it counts as zero"
        for muscle, joint in muscle_set.not_sampled
        if joint in motion.joints
    ]
    if limits is not None and not limits.modelled.all():
        names = [name for name, has in zip(muscle_set.names, limits.modelled, strict=True) if not has]
        notes.append(
            f"no fibre parameters, length, or moment arm at a joint they cross: {', '.join(names)} keep their largest isometric force"
        )
    if limits is not None:
        share_out = (~limits.possible[valid]).mean(axis=0) if valid.any() else np.zeros(len(muscle_set.names))
        notes += [
            f"{name}: fibre outside the range of its curves in {100 * share:.0f} % of the frames"
            for name, share in zip(muscle_set.names, share_out, strict=True)
            if share > 0.0
        ]
    return notes + (list(contact.notes) if contact else [])


def table_entries(muscle_set: MuscleSet | None, joints: Sequence[str]) -> list[MuscleEntry]:
    """What the table of a chain with these joints says of each muscle of a set; none without a set."""
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
    proximal, distal = segment_axes(motion.angle_rad, motion.flexion_zero_rad)
    axes = [{i: distal[:, i], **({i - 1: proximal[:, i]} if i else {})} for i in range(len(motion.joints))]
    shared = found.sharing
    values: dict[str, Any] = {
        **frame_values(motion),
        "optimization_status": shared.status,
        "moment_arm_status": found.out_of_range,
        "fibre_status": found.fibres_out_of_range,
        "optimization_iterations": shared.iterations,
        "optimization_residual_nm": shared.residual_nm,
        "optimization_cost": shared.cost,
        "optimization_duality_gap": shared.gap,
        "optimization_shortfall_nm": shared.shortfall_nm,
        "co_contraction_cost": found.co_contraction_cost,
        "co_contraction_part": found.co_contraction_part,
    }
    for k, entry in enumerate(entries):
        values |= _muscle_values(entry.name, k, found)
    for i, joint in enumerate(motion.joints):
        values[f"{joint}_flexion_sign"] = np.full(len(found.force_n), motion.flexion_sign[i])
        values[f"{joint}_optimality_certificate"] = found.proof[:, i]
        values[f"{joint}_optimization_multiplier"] = found.sharing.multiplier[:, i] * motion.flexion_sign[i]
        values[f"{joint}_torque_reserve_nm"] = found.reserve_nm[:, i]
        for k, entry in enumerate(entries):
            own_arm = found.geometry.moment_arm_m[:, i, k]
            values[f"{joint}_moment_arm_{entry.name}_m"] = (
                own_arm if found.arm_known[i] else np.full_like(own_arm, np.nan)
            )
            values[f"{joint}_torque_muscle_{entry.name}_nm"] = found.torque_nm[:, i, k]
        if found.contact is not None:
            contact = found.contact
            values |= {f"{joint}_contact_{axis}_n": contact.contact_n[:, i, a] for a, axis in enumerate("xy")}
            for k, axis_rad in axes[i].items():
                along, across = along_and_across(
                    contact.contact_n[:, i], axis_rad, flexion_sign=float(motion.flexion_sign[i])
                )
                values[f"{joint}_contact_along_{motion.segments[k]}_n"] = along
                values[f"{joint}_contact_across_{motion.segments[k]}_n"] = across
    return make_table(columns, {column.name: values[column.name] for column in columns})


def _muscle_values(name: str, k: int, found: MuscleForces) -> dict[str, FloatArray]:
    """Columns of one muscle."""
    values = {
        f"{name}_force_n": found.force_n[:, k],
        f"{name}_activation": found.sharing.activation[:, k],
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
    return values


def muscle_summary(motion: ChainMotion, found: MuscleForces, options: Muscles) -> list[dict[str, Any]]:
    """Peak, mean and impulse of every muscle.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : MuscleForces
        Its muscle forces.
    options : Muscles
        Section `muscles` of the settings.

    Returns
    -------
    list of dict
        Rows of `results/muscle_summary.csv` without the trial's own columns.

    Notes
    -----
    Frames at the ends, without forces, or outside the range of a moment arm or a fibre's curve are left out; integrals are trapezoids between neighbouring frames that
    are both used.
    """
    used = ~(motion.edge | found.out_of_range | found.fibres_out_of_range) & np.isfinite(found.force_n).all(axis=1)
    rows = []
    for k, name in enumerate(found.muscle_set.names):
        force = found.force_n[used, k]
        top = int(force.argmax()) if force.size else 0
        rows.append(
            {
                "muscle_set": found.muscle_set.name,
                "criterion": criterion_text(options),
                "muscle": name,
                "strength_n": found.muscle_set.muscles[k].max_isometric_force_n,
                "n_frames": int(force.size),
                "used_share": float(used.mean()) if used.size else 0.0,
                "peak_n": float(force[top]) if force.size else math.nan,
                "peak_time_s": float(motion.time_s[used][top]) if force.size and force[top] > 0 else math.nan,
                "peak_activation": float(found.sharing.activation[used, k].max()) if force.size else math.nan,
                "mean_n": float(force.mean()) if force.size else math.nan,
                **{
                    f"{which}impulse_ns": _impulse(values[:, k], used, motion.rate_hz)
                    for which, values in (
                        ("", found.force_n),
                        ("min_", found.least_n),
                        ("max_", found.greatest_n),
                    )
                },
            }
        )
    return rows


def _impulse(values: FloatArray, used: BoolArray, rate_hz: float) -> float:
    if not used.any():
        return math.nan
    both = used[1:] & used[:-1]
    return float(((values[1:] + values[:-1])[both] / 2.0).sum() / rate_hz)
