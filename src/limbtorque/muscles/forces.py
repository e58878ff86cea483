"""Muscle forces of a trial: its net joint torques shared by moment arms."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from limbtorque.errors import SettingsError
from limbtorque.motion import ChainMotion
from limbtorque.motion_table import frame_values
from limbtorque.muscles.contact import ContactForce, along_and_across, contact_force, lines_of_action, segment_axes
from limbtorque.muscles.hill import HillLimits, hill_limits
from limbtorque.muscles.moment_arms import Musculotendon, musculotendon
from limbtorque.muscles.muscle_set import MuscleSet, scale_factors, scaled
from limbtorque.muscles.sharing import FAILED, Sharing, force_range, share_torques
from limbtorque.settings import Muscles
from limbtorque.tables import MuscleEntry, make_table, muscle_columns

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
NEGLIGIBLE_NM = 1e-6


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
        Moment arms (zero at joints whose arms are not known in this plane), lengths and velocities.
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
    co_contraction_cost : ndarray of shape (n_frames,)
        What co-contraction adds to the cost.
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
    contact: ContactForce | None
    out_of_range: BoolArray
    fibres_out_of_range: BoolArray
    quality: dict[str, float]
    notes: tuple[str, ...]


def check_options(muscle_set: MuscleSet, options: Muscles) -> None:
    """Check that a set has what the settings ask for.

    Parameters
    ----------
    muscle_set : MuscleSet
        The set.
    options : Muscles
        Section `muscles` of the settings.

    Raises
    ------
    SettingsError
        A muscle that the set does not have, no cross-sections for the stress criterion, or no reference to scale from.
    """
    for option in ("weights", "activation_bounds"):
        for name in getattr(options, option):
            if name not in muscle_set.names:
                near = difflib.get_close_matches(name, muscle_set.names, n=1)
                hint = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(muscle_set.names)}"
                raise SettingsError(f"muscles.{option}: muscle set '{muscle_set.name}' has no muscle '{name}'{hint}")
    lacking = [muscle.name for muscle in muscle_set.muscles if muscle.pcsa_cm2 is None]
    if options.criterion == "stress" and lacking:
        raise SettingsError(
            f"muscles.criterion is stress, but muscle set '{muscle_set.name}' gives no cross-section (pcsa_cm2) for "
            f"{', '.join(lacking)}; give them in a set of your own, or use criterion: activation"
        )
    reference = muscle_set.reference
    if options.scale_strength == "mass" and (reference is None or reference.mass_kg is None):
        raise SettingsError(
            f"muscles.scale_strength is mass, but muscle set '{muscle_set.name}' does not say which body mass its strengths "
            "belong to (reference: mass_kg); give it in a set of your own"
        )
    if options.scale_moment_arms == "segment_length" and reference is None:
        raise SettingsError(
            f"muscles.scale_moment_arms is segment_length, but muscle set '{muscle_set.name}' does not say which segment "
            "lengths its moment arms belong to (reference: segment_length_m); give them in a set of your own"
        )


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
    check_options(muscle_set, options)
    chosen = _to_subject(muscle_set.crossing(motion.joints), motion, options, body_mass_kg)
    sign = motion.flexion_sign
    flexion = sign * (motion.angle_rad - motion.flexion_zero_rad)
    geometry = musculotendon(chosen, flexion, velocity_rad_s=sign * motion.velocity_rad_s, joints=motion.joints)
    known = motion.moment_arms_known
    arm = geometry.moment_arm_m * known[:, None]
    limits = _limits(chosen, geometry, options) if options.force_length_velocity else None
    strength = limits.strength_n if limits else chosen.max_force_n
    passive = limits.passive_n if limits else np.zeros_like(geometry.length_m)
    asked = net_nm * sign - np.einsum("fjm,fm->fj", arm, passive)
    sharing, base = _shared(arm, asked, strength, chosen, options)
    added = sharing.cost - base.cost
    least, greatest = np.full_like(passive, np.nan), np.full_like(passive, np.nan)
    low, high = _bounds(chosen, options)
    if options.ranges:
        least, greatest = force_range(arm, sharing, max_force_n=strength, least_activation=low, largest_activation=high)
    force = sharing.force_n + passive
    contact = _contact(motion, reaction_n, force, arm, sharing, geometry, chosen) if options.contact_forces else None
    fibres_out = np.zeros(len(force), dtype=bool) if limits is None else np.asarray(~limits.possible.all(axis=1))
    out = np.asarray((geometry.out_of_range & known).any(axis=1))
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
        co_contraction_cost=added,
        contact=contact,
        out_of_range=out,
        fibres_out_of_range=fibres_out,
        quality={},
        notes=tuple(_notes(motion, chosen, geometry, limits, contact, np.asarray(~np.isnan(net_nm).any(axis=1)))),
    )
    result.quality.update(_quality(motion, net_nm, result, np.broadcast_to(strength, force.shape), options))
    return result


def _to_subject(muscle_set: MuscleSet, motion: ChainMotion, options: Muscles, body_mass_kg: float) -> MuscleSet:
    """Scale a set to the subject, where that was asked for."""
    factors = None
    if options.scale_moment_arms == "segment_length":
        factors = scale_factors(muscle_set, dict(zip(motion.joints, motion.chain.length_m.tolist(), strict=True)))
    reference = muscle_set.reference
    by_mass = options.scale_strength == "mass" and reference is not None and reference.mass_kg is not None
    strength = body_mass_kg / reference.mass_kg if by_mass and reference and reference.mass_kg else 1.0
    return scaled(muscle_set, length_factor=factors, strength_factor=strength) if factors or by_mass else muscle_set


def _limits(muscle_set: MuscleSet, geometry: Musculotendon, options: Muscles) -> HillLimits:
    """Strength and passive tension; muscles without known length or fibres keep their strength."""
    parameters = {
        name: np.array([_number(getattr(muscle, name)) for muscle in muscle_set.muscles])
        for name in ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad")
    }
    unknown = np.array([not _has_fibres(muscle_set, m) for m in range(len(muscle_set.muscles))], dtype=bool)
    parameters["optimal_fibre_length_m"][unknown] = np.nan
    return hill_limits(
        geometry.length_m,
        geometry.velocity_m_s,
        max_force_n=muscle_set.max_force_n,
        max_velocity_lopt_s=options.max_fibre_velocity_lopt_s,
        **parameters,
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _has_fibres(muscle_set: MuscleSet, index: int) -> bool:
    muscle = muscle_set.muscles[index]
    parameters = (muscle.optimal_fibre_length_m, muscle.tendon_slack_length_m, muscle.pennation_rad)
    return muscle.length is not None and muscle.velocity_known and None not in parameters


def _bounds(muscle_set: MuscleSet, options: Muscles) -> tuple[FloatArray, FloatArray]:
    """Least and largest activation of every muscle, shape (n_muscles,)."""
    given = options.activation_bounds
    pairs = [
        given.get(m.name, (max(m.least_activation, options.least_activation), m.largest_activation))
        for m in muscle_set.muscles
    ]
    low, high = np.array(pairs, dtype=float).reshape(-1, 2).T
    return low, np.maximum(low, high)


def _shared(
    arm: FloatArray, asked: FloatArray, strength: FloatArray, muscle_set: MuscleSet, options: Muscles
) -> tuple[Sharing, Sharing]:
    """Share torques; with co-contraction once more, with the antagonists held. Returns the last and the first."""
    low, high = _bounds(muscle_set, options)
    pcsa = [_number(muscle.pcsa_cm2) for muscle in muscle_set.muscles]
    how: dict[str, Any] = {
        "max_force_n": strength,
        "exponent": math.inf if options.exponent == "min_max" else options.exponent,
        "weight": np.array([options.weights.get(name, 1.0) for name in muscle_set.names]),
        "norm_n": np.array(pcsa) if options.criterion == "stress" else None,
        "largest_activation": high,
        "reserve": options.reserve,
        "reserve_nm": options.reserve_nm,
    }
    first = share_torques(arm, asked, least_activation=low, **how)
    if options.co_contraction == 0.0:
        return first, first
    crosses = arm != 0
    most = np.where(crosses, first.activation[:, None, :], 0.0).max(axis=2, initial=0.0)  # of a joint
    held = options.co_contraction * np.where(crosses, most[:, :, None], 0.0).max(axis=1, initial=0.0)
    held = np.minimum(np.maximum(np.nan_to_num(held), low), high)
    return share_torques(arm, asked, least_activation=held, **how), first


def _contact(
    motion: ChainMotion,
    reaction_n: FloatArray,
    force: FloatArray,
    arm: FloatArray,
    sharing: Sharing,
    geometry: Musculotendon,
    muscle_set: MuscleSet,
) -> ContactForce:
    """Forces in the joints; a joint outside the range of its moment arms, or without them, has none."""
    proximal, distal = segment_axes(motion.angle_rad, motion.flexion_zero_rad)
    unknown = geometry.out_of_range | ~motion.moment_arms_known
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


def _quality(
    motion: ChainMotion,
    net_nm: FloatArray,
    found: MuscleForces,
    strength: FloatArray,
    options: Muscles,
) -> dict[str, float]:
    valid = ~np.isnan(net_nm).any(axis=1)
    known = motion.moment_arms_known
    count = max(int(valid.sum()), 1)
    short = found.sharing.shortfall_nm > NEGLIGIBLE_NM
    if not known.all():  # their torque is reserve for another reason
        short = np.abs(found.sharing.certificate * found.sharing.shortfall_nm[:, None])[:, known].max(
            axis=1, initial=0.0
        ) > (NEGLIGIBLE_NM)
    quality = {
        "reserve_share": float((short & valid).sum()) / count,
        "arm_range_share": float(found.out_of_range[valid].sum()) / count,
        "joints_without_moment_arms": float((~known).sum()),
        "sharing_failed_share": float((found.sharing.status == FAILED).sum()) / count,
    }
    if options.reserve == "priced" and valid.any():
        peaks = np.abs(net_nm[valid]).max(axis=0)
        reserves = np.nanmax(np.abs(found.reserve_nm[valid]), axis=0, initial=0.0)
        part = (reserves / np.where(peaks > 0, peaks, 1.0))[known]
        quality["reserve_part"] = float(part.max(initial=0.0))
    if options.force_length_velocity:
        quality["fibre_range_share"] = float(found.fibres_out_of_range[valid].sum()) / count
        if found.limits is not None and valid.any():
            passive = np.nan_to_num(found.limits.passive_n[valid]) / found.muscle_set.max_force_n
            quality["passive_part"] = float(passive.max(initial=0.0))
    if options.ranges:
        width = (found.greatest_n - found.least_n) / np.where(strength > 0, strength, np.nan)
        given = np.isfinite(width)
        quality["force_range_share"] = float(width[given].mean()) if given.any() else math.nan
    if options.co_contraction > 0.0:
        cost = found.sharing.cost[valid]
        shares = found.co_contraction_cost[valid][cost > 0] / cost[cost > 0]
        quality["co_contraction_cost_share"] = float(shares.mean()) if shares.size else math.nan
    return quality


def _notes(
    motion: ChainMotion,
    muscle_set: MuscleSet,
    geometry: Musculotendon,
    limits: HillLimits | None,
    contact: ContactForce | None,
    valid: BoolArray,
) -> list[str]:
    known = motion.moment_arms_known
    out = (geometry.out_of_range & known)[valid]
    shares = out.mean(axis=0) if len(out) else np.zeros(len(known))
    notes = [
        f"{joint}: outside the range of a moment arm in {100 * share:.0f} % of the frames"
        for joint, share in zip(motion.joints, shares, strict=True)
        if share > 0.0
    ]
    notes += [
        f"{joint}: moment arms are not known in this plane, its torque is all reserve"
        for joint, is_known in zip(motion.joints, known, strict=True)
        if not is_known
    ]
    notes += [
        f"{muscle} crosses the {joint}, but its moment arm there is not known: it counts as zero"
        for muscle, joint in muscle_set.not_sampled
        if joint in motion.joints
    ]
    if limits is not None and not limits.modelled.all():
        names = [name for name, has in zip(muscle_set.names, limits.modelled, strict=True) if not has]
        notes.append(f"no fibre parameters or length: {', '.join(names)} keep their largest isometric force")
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
            _has_fibres(chosen, m),
        )
        for m, muscle in enumerate(chosen.muscles)
    ]


def muscle_table(
    motion: ChainMotion, found: MuscleForces, *, options: Muscles, meta: Mapping[str, Any] | None = None
) -> pa.Table:
    """Table of `results/muscles`.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : MuscleForces
        Its muscle forces.
    options : Muscles
        Section `muscles` of the settings.
    meta : mapping, optional
        What to keep with the table.
    """
    entries = table_entries(found.muscle_set, motion.joints)
    columns = muscle_columns(motion.joints, motion.segments, entries, options)
    proximal, distal = segment_axes(motion.angle_rad, motion.flexion_zero_rad)
    axes = [{i: distal[:, i], **({i - 1: proximal[:, i]} if i else {})} for i in range(len(motion.joints))]
    shared = found.sharing
    values: dict[str, Any] = {
        **frame_values(motion),
        "sharing_status": shared.status,
        "moment_arm_status": found.out_of_range,
        "fibre_status": found.fibres_out_of_range,
        "sharing_iterations": shared.iterations,
        "sharing_residual_nm": shared.residual_nm,
        "sharing_cost": shared.cost,
        "sharing_gap": shared.gap,
        "sharing_shortfall_nm": shared.shortfall_nm,
        "co_contraction_cost": found.co_contraction_cost,
    }
    for k, entry in enumerate(entries):
        values |= _muscle_values(entry.name, k, found)
    for i, joint in enumerate(motion.joints):
        values[f"{joint}_sharing_proof"] = found.proof[:, i]
        values[f"{joint}_sharing_multiplier"] = found.sharing.multiplier[:, i] * motion.flexion_sign[i]
        values[f"{joint}_torque_reserve_nm"] = found.reserve_nm[:, i]
        for k, entry in enumerate(entries):
            values[f"{joint}_moment_arm_{entry.name}_m"] = found.geometry.moment_arm_m[:, i, k]
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
    return make_table(columns, {column.name: values[column.name] for column in columns}, meta=meta)


def _muscle_values(name: str, k: int, found: MuscleForces) -> dict[str, FloatArray]:
    """Columns of one muscle."""
    values = {
        f"{name}_force_n": found.force_n[:, k],
        f"{name}_activation": found.sharing.activation[:, k],
        f"{name}_least_force_n": found.least_n[:, k],
        f"{name}_greatest_force_n": found.greatest_n[:, k],
        f"{name}_length_m": found.geometry.length_m[:, k],
    }
    if found.limits is not None:
        values |= {
            f"{name}_passive_force_n": found.limits.passive_n[:, k],
            f"{name}_fibre_length": found.limits.fibre_length[:, k],
            f"{name}_fibre_velocity": found.limits.fibre_velocity[:, k],
        }
    return values


def muscle_summary(motion: ChainMotion, found: MuscleForces) -> list[dict[str, Any]]:
    """Peak, mean and impulse of every muscle.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    found : MuscleForces
        Its muscle forces.

    Returns
    -------
    list of dict
        Rows of `results/muscle_summary.csv` without the trial's own columns.

    Notes
    -----
    Frames at the ends and frames without forces are left out; integrals are trapezoids between neighbouring frames that
    are both used.
    """
    used = ~motion.edge & np.isfinite(found.force_n).all(axis=1)
    rows = []
    for k, name in enumerate(found.muscle_set.names):
        force = found.force_n[used, k]
        top = int(force.argmax()) if force.size else 0
        rows.append(
            {
                "muscle": name,
                "n_frames": int(force.size),
                "used_share": float(used.mean()) if used.size else 0.0,
                "peak_n": float(force[top]) if force.size else math.nan,
                "peak_time_s": float(motion.time_s[used][top]) if force.size and force[top] > 0 else math.nan,
                "peak_activation": float(found.sharing.activation[used, k].max()) if force.size else math.nan,
                "mean_n": float(force.mean()) if force.size else math.nan,
                **{
                    f"impulse{which}_ns": _impulse(values[:, k], used, motion.rate_hz)
                    for which, values in (
                        ("", found.force_n),
                        ("_least", found.least_n),
                        ("_greatest", found.greatest_n),
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
