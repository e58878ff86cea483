"""Muscle forces of a trial: static optimization of its net joint torques."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.muscles.force_result import ForceReport, MuscleForces, force_tally
from limbtorque.muscles.joint_contact import (
    STANDARD_GRAVITY_M_S2,
    ContactForce,
    Tally,
    contact_force,
    contact_range,
    within_effort,
)
from limbtorque.muscles.lines_of_action import along_and_across, lines_of_action, segment_axes
from limbtorque.muscles.moment_arms import Musculotendon, musculotendon
from limbtorque.muscles.objective import Envelopes, Problem, check_options
from limbtorque.muscles.passive_moments import passive_moments
from limbtorque.muscles.sets.muscle import narrowest
from limbtorque.muscles.sets.muscle_set import MuscleSet, scaled
from limbtorque.muscles.static_optimization.criteria import OK, RESERVE
from limbtorque.muscles.static_optimization.ranges import force_range
from limbtorque.muscles.static_optimization.solve import StaticOptimization
from limbtorque.muscles.strength import Strengths, optimize_with_strengths, strengths
from limbtorque.study.options.muscles import Muscles
from limbtorque.tables.muscle_columns import CONTACT_EFFORT, CONTACT_REST

FAR_RAD = np.radians(10.0)
"""Distance from the range of a joint's moment arms beyond which its contact force is unknown.

The arms are held at the end of their range; `moment_arm_status` marks these frames. Healthy knees extend up to 10 degrees
beyond straight (Beighton et al. 1973), where the built-in arms end.
"""


def muscle_forces(
    motion: ChainMotion,
    net_nm: FloatArray,
    muscle_set: MuscleSet,
    *,
    options: Muscles,
    body_mass_kg: float,
    reaction_n: FloatArray,
    frames: BoolArray | None = None,
    envelopes: Envelopes | None = None,
) -> MuscleForces:
    """Find the muscle forces of a trial by static optimization.

    Parameters
    ----------
    motion : ChainMotion
        Joint angles, and the sense of flexion.
    net_nm : ndarray of shape (n_frames, n_joints)
        Net joint torques, counter-clockwise positive, N m.
    muscle_set : MuscleSet
        Muscles, moment arms and largest forces.
    options : Muscles
        Section `muscles` of the settings.
    body_mass_kg : float
        Body mass of the subject.
    reaction_n : ndarray of shape (n_frames, n_joints, 2)
        Joint reaction forces, for the joint contact forces.
    frames : ndarray of bool, shape (n_frames,), optional
        Frames of the metrics; all by default.
    envelopes : Envelopes, optional
        Measured envelopes, for `muscles.emg_weight`.

    Returns
    -------
    MuscleForces
        At a joint of unknown moment arms in this plane, the arms count as zero and the torque is reserve.

    Raises
    ------
    SettingsError
        The set lacks data that the settings need.
    """
    check_options(muscle_set, options, motion.joints)
    limb = _limb(motion, muscle_set, options, body_mass_kg)
    sign, known, strong = motion.flexion.sign, limb.known, limb.strong
    passive_n = np.einsum("fjm,fm->fj", limb.arm_m, strong.passive_n)
    required = (net_nm * sign - limb.passive_nm - passive_n) * known
    problem = Problem(limb.arm_m, required, strong.active_n, limb.muscle_set, strong.bounds)
    found = optimize_with_strengths(problem, strong, options, envelopes)
    optimized = _with_unknown(found.optimized, net_nm * sign, known)
    least, greatest = np.full((2, *optimized.force_n.shape), np.nan)
    if options.ranges:
        low, high = strong.bounds
        least, greatest = force_range(
            limb.arm_m, optimized, max_force_n=strong.active_n, min_activation=low, max_activation=high
        )
    force = optimized.force_n + strong.passive_n
    contact = _contact(limb, motion, reaction_n, force, optimized, options)
    out_of_range = np.asarray(limb.geometry.out_of_range & known)
    limits, decisions = found.limits, (*limb.decisions, *found.notes)
    modelled, reasons = limits.modelled if limits else None, contact.reasons if contact else None
    fibres_out = np.zeros(len(force), dtype=bool) if limits is None else np.asarray(~limits.possible.all(axis=1))
    result = MuscleForces(
        muscle_set=limb.muscle_set,
        optimized=optimized,
        activation=found.activation,
        geometry=limb.geometry,
        limits=limits,
        stretch=found.stretch,
        force_n=force,
        least_n=least + strong.passive_n,
        greatest_n=greatest + strong.passive_n,
        torque_nm=limb.arm_m * force[:, None, :] * sign[:, None],
        passive_nm=limb.passive_nm * sign,
        reserve_nm=optimized.reserve_nm * sign,
        certificate=optimized.certificate * sign,
        arm_known=known,
        body_weight_n=body_mass_kg * STANDARD_GRAVITY_M_S2,
        contact=contact,
        out_of_range=np.asarray(out_of_range.any(axis=1)),
        fibres_out_of_range=fibres_out,
        beyond_range_rad=np.asarray(limb.beyond_rad[:, known].max(axis=1, initial=0.0)),
        report=ForceReport(Tally({}, {}), limb.muscle_set, motion.joints, known, options, decisions, modelled, reasons),
    )
    tally = force_tally(net_nm, result, strong.active_n, out_of_range, options=options, frames=frames)
    return replace(result, report=replace(result.report, tally=tally))


@dataclass(frozen=True, eq=False)
class _Limb:
    """Moment arms, strengths and passive moments of a limb over time.

    Attributes
    ----------
    muscle_set : MuscleSet
        The set, scaled to the subject.
    geometry : Musculotendon
        Arms, lengths and velocities.
    flexion_rad : ndarray of shape (n_frames, n_joints)
        Joint flexion.
    beyond_rad : ndarray of shape (n_frames, n_joints)
        Distance of each joint from the range of its moment arms.
    known : ndarray of bool, shape (n_joints,)
        Joints whose arms are known in this plane.
    arm_m : ndarray of shape (n_frames, n_joints, n_muscles)
        Moment arms; zero where unknown.
    strong : Strengths
        Strengths and passive tensions.
    passive_nm : ndarray of shape (n_frames, n_joints)
        Moments of passive structures, flexion positive.
    decisions : tuple of str
        Notes on scaling and on joints without arms or passive moments.
    """

    muscle_set: MuscleSet
    geometry: Musculotendon
    flexion_rad: FloatArray
    beyond_rad: FloatArray
    known: BoolArray
    arm_m: FloatArray
    strong: Strengths
    passive_nm: FloatArray
    decisions: tuple[str, ...]


def _limb(motion: ChainMotion, muscle_set: MuscleSet, options: Muscles, body_mass_kg: float) -> _Limb:
    """Muscles over the motion of a trial."""
    chosen, scaling = _to_subject(muscle_set.crossing(motion.joints), motion, options, body_mass_kg)
    flexion = motion.flexion.of(motion.kinematics.angle_rad)
    velocity = motion.flexion.sign * motion.kinematics.velocity_rad_s
    geometry = musculotendon(chosen, flexion, velocity_rad_s=velocity, joints=motion.joints)
    unknown = _unknown_arms(motion, chosen)
    ranges = narrowest(pair for muscle in chosen.muscles for pair in muscle.range_rad.items())
    low, high = np.array([ranges.get(joint, (-np.inf, np.inf)) for joint in motion.joints]).T
    known = np.array([joint not in unknown for joint in motion.joints], dtype=bool)
    passive_nm, without = passive_moments(options.passive_moments, flexion, motion.joints, known)
    notes = [
        f"{', '.join(without)}: no passive moment, as muscles.passive_moments: {options.passive_moments} has none for it"
    ]
    return _Limb(
        muscle_set=chosen,
        geometry=geometry,
        flexion_rad=flexion,
        beyond_rad=np.maximum(np.nan_to_num(np.maximum(low - flexion, flexion - high)), 0.0),
        known=known,
        arm_m=geometry.moment_arm_m * known[:, None],
        strong=strengths(geometry, chosen, options, unknown),
        passive_nm=passive_nm,
        decisions=(*scaling, *unknown.values(), *(notes if without else ())),
    )


def _unknown_arms(motion: ChainMotion, muscle_set: MuscleSet) -> dict[str, str]:
    """Joints with unknown moment arms, and the reasons."""
    unknown = {}
    for i, (joint, in_plane) in enumerate(zip(motion.joints, motion.flexion.moment_arms_known, strict=True)):
        arms = [muscle.moment_arms[joint] for muscle in muscle_set.muscles]
        if not in_plane:
            unknown[joint] = f"{joint}: moment arms unknown in this plane, its torque is produced by the reserve"
        elif all(arm.is_zero for arm in arms):
            unknown[joint] = (
                f"{joint}: no muscle of set '{muscle_set.name}' crosses it, the reserve produces its torque"
            )
        elif i == 0 and joint not in muscle_set.from_vertical and any(not arm.is_constant for arm in arms):
            unknown[joint] = (
                f"{joint}: the moment arms of set '{muscle_set.name}' need its flexion, but the chain begins here and has only the "
                f"angle of the {motion.segments[0]} in the laboratory; its torque is produced by the reserve"
            )
    return unknown


def _with_unknown(optimized: StaticOptimization, torque_nm: FloatArray, known: BoolArray) -> StaticOptimization:
    """Add the torques of joints with unknown moment arms to the reserve."""
    if known.all():
        return optimized
    reserve = np.where(known | np.isnan(optimized.reserve_nm), optimized.reserve_nm, torque_nm)
    status = np.where((optimized.status == OK) & (torque_nm[:, ~known] != 0).any(axis=1), RESERVE, optimized.status)
    return replace(optimized, reserve_nm=reserve, status=status.astype(np.int8))


def _to_subject(
    muscle_set: MuscleSet, motion: ChainMotion, options: Muscles, body_mass_kg: float
) -> tuple[MuscleSet, list[str]]:
    """Scale a set to the subject, if set so, with notes on the factors."""
    factors, notes, reference, strength = None, [], muscle_set.reference, 1.0
    if "moment_arms" in options.scale and reference is not None:
        lengths = zip(motion.joints, motion.chain.length_m.tolist(), strict=True)
        factors = {joint: length / reference.segment_length_m[joint] for joint, length in lengths}
        listed = ", ".join(f"{joint} {factor:.3f}" for joint, factor in factors.items())
        notes.append(f"moment arms and lengths scaled by {listed}")
    if "strength" in options.scale and reference is not None and reference.mass_kg is not None:
        strength = body_mass_kg / reference.mass_kg
        notes.append(f"strengths scaled by {strength:.3f}")
    if not notes:
        return muscle_set, notes
    return scaled(muscle_set, length_factor=factors, strength_factor=strength), notes


def _contact(
    limb: _Limb,
    motion: ChainMotion,
    reaction_n: FloatArray,
    force: FloatArray,
    optimized: StaticOptimization,
    options: Muscles,
) -> ContactForce | None:
    """Joint contact forces, with ranges if requested; NaN far outside moment-arm data."""
    if not options.contact_forces:
        return None
    far = (limb.beyond_rad > FAR_RAD) | ~limb.known
    lines = lines_of_action(limb.muscle_set.muscles, motion.joints)
    proximal, distal = segment_axes(motion.kinematics.angle_rad, motion.flexion.zero_rad)
    sign, bounds, activation = motion.flexion.sign, limb.strong.bounds, optimized.activation
    contact = contact_force(
        np.where(far[..., None], np.nan, reaction_n),
        force,
        limb.arm_m,
        lines,
        axes_rad=(proximal, distal),
        flexion_sign=sign,
        joints=motion.joints,
        muscles=limb.muscle_set.names,
        flexion_rad=limb.flexion_rad,
        reserve_nm=optimized.reserve_nm,
    )
    if not options.ranges:
        return contact
    parts = [
        along_and_across(contact.contact_n[:, j], distal[:, j], flexion_sign=float(sign[j])) for j in range(len(sign))
    ]
    active = np.broadcast_to(limb.strong.active_n, activation.shape)
    limits = within_effort(limb.arm_m, activation, active, bounds, CONTACT_EFFORT, CONTACT_REST)
    possible, limited = (
        contact_range(
            np.array(parts).transpose(2, 0, 1),
            lines,
            moment_arm_m=limb.arm_m,
            activation=activation,
            strength_n=active,
            limits=allowed,
            between_rad=sign * (distal - proximal),
            flexion_rad=limb.flexion_rad,
        )
        for allowed in (bounds, limits)
    )
    return replace(contact, possible=possible, limited=limited)
