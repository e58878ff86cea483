"""Muscle forces of a trial, with their metrics and notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.hill import HillLimits
from limbtorque.muscles.joint_contact import ContactForce, ContactReasons, Tally, total
from limbtorque.muscles.moment_arms import Musculotendon
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.criteria import FAILED
from limbtorque.muscles.static_optimization.solve import StaticOptimization
from limbtorque.muscles.strength import SETTLED, TendonStretch
from limbtorque.study.options.muscles import Muscles

NEGLIGIBLE_NM = 1e-6


@dataclass(frozen=True)
class MuscleForces:
    """Muscle forces of a trial.

    Attributes
    ----------
    muscle_set : MuscleSet
        The muscles that cross a joint of the chain, scaled to the subject if set so.
    optimized : StaticOptimization
        Active forces, reserves (flexion positive) and optimality certificate of every frame; its activations are those
        of the muscles, unless tendons are compliant.
    activation : ndarray of shape (n_frames, n_muscles)
        Activation of each muscle.
    geometry : Musculotendon
        Moment arms, lengths and velocities.
    limits : HillLimits or None
        Strength and passive tension, where they depend on length and velocity.
    stretch : TendonStretch or None
        Compliant tendons.
    force_n : ndarray of shape (n_frames, n_muscles)
        Active and passive force, tension positive.
    least_n, greatest_n : ndarray of shape (n_frames, n_muscles)
        Least and greatest force of each muscle at the same joint torques; NaN unless `muscles.ranges`.
    torque_nm : ndarray of shape (n_frames, n_joints, n_muscles)
        Torque of each muscle at each joint, counter-clockwise positive, N m.
    passive_nm : ndarray of shape (n_frames, n_joints)
        Passive torque of ligaments and other structures, counter-clockwise positive, N m.
    reserve_nm : ndarray of shape (n_frames, n_joints)
        Reserve torque, which no muscle makes, counter-clockwise positive, N m.
    certificate : ndarray of shape (n_frames, n_joints)
        Direction in which all muscles together cannot make the torque, counter-clockwise positive.
    arm_known : ndarray of bool of shape (n_joints,)
        Joints of known moment arms; at the others the arms count as zero, and the torque is reserve.
    body_weight_n : float
        Body weight of the subject.
    contact : ContactForce or None
        Forces in the joints.
    out_of_range, fibres_out_of_range : ndarray of bool, shape (n_frames,)
        Frames in which a joint is outside the range of its moment arms, and a fibre outside that of its curves.
    beyond_range_rad : ndarray of shape (n_frames,)
        Largest distance of a joint of known moment arms from the range of their data, rad; 0 inside.
    report : ForceReport
        Metrics and notes.
    """

    muscle_set: MuscleSet
    optimized: StaticOptimization
    activation: FloatArray
    geometry: Musculotendon
    limits: HillLimits | None
    stretch: TendonStretch | None
    force_n: FloatArray
    least_n: FloatArray
    greatest_n: FloatArray
    torque_nm: FloatArray
    passive_nm: FloatArray
    reserve_nm: FloatArray
    certificate: FloatArray
    arm_known: BoolArray
    body_weight_n: float
    contact: ContactForce | None
    out_of_range: BoolArray
    fibres_out_of_range: BoolArray
    beyond_range_rad: FloatArray
    report: ForceReport

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics of reserves and ranges."""
        return self.report.metrics

    @property
    def notes(self) -> tuple[str, ...]:
        """Scaling, and unknown moment arms, fibres and forces."""
        return self.report.notes


def force_tally(
    net_nm: FloatArray,
    found: MuscleForces,
    strength: FloatArray,
    out_of_range: BoolArray,
    *,
    options: Muscles,
    frames: BoolArray | None = None,
) -> Tally:
    """Counts, sums and largest values of muscle forces over some frames.

    Parameters
    ----------
    net_nm : ndarray of shape (n_frames, n_joints)
        Net joint torques, N m.
    found : MuscleForces
        The muscle forces.
    strength : ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, N.
    out_of_range : ndarray of bool, shape (n_frames, n_joints)
        Frames outside the range of a moment arm, by joint.
    options : Muscles
        Section `muscles` of the settings.
    frames : ndarray of bool, shape (n_frames,), optional
        Judged frames, for the metrics with a threshold; all by default.
    """
    solved = ~np.isnan(net_nm).any(axis=1)
    valid = solved & (True if frames is None else frames)
    optimized, limits = found.optimized, found.limits
    sums = {
        "solved": solved.sum(),
        "valid": valid.sum(),
        "short": ((optimized.shortfall_nm > NEGLIGIBLE_NM) & valid).sum(),
        "out_of_range": found.out_of_range[valid].sum(),
        "failed": ((optimized.status == FAILED) & valid).sum(),
        "fibres_out": found.fibres_out_of_range[valid].sum(),
        "out_by_joint": out_of_range[solved].sum(axis=0),
        "out_by_muscle": np.zeros(len(found.muscle_set.names), dtype=int),
    }
    largest = {
        "beyond_range_rad": found.beyond_range_rad[valid].max(initial=0.0),
    }
    if limits is not None:
        sums["out_by_muscle"] = (~limits.possible[solved]).sum(axis=0)
        passive = np.nan_to_num(limits.passive_n[valid]) / found.muscle_set.max_force_n
        largest["passive_part"] = passive.max(initial=0.0)
    if found.stretch is not None:
        sums["unsettled"] = (found.stretch.change[solved] > SETTLED).sum()
        largest["tendon_change"] = found.stretch.change[solved].max(initial=0.0)
    if options.ranges:
        width = (found.greatest_n - found.least_n) / np.where(strength > 0, strength, np.nan)
        given = np.isfinite(width)
        sums |= {"width": width[given].sum(), "widths": given.sum()}
    return Tally(sums, largest)


@dataclass(frozen=True, eq=False)
class ForceReport:
    """Metrics and notes of muscle forces, from additive counts.

    Attributes
    ----------
    tally : Tally
        Counts, sums and largest values over the frames.
    muscle_set : MuscleSet
        The muscles.
    joints : tuple of str
        The joints.
    arm_known : ndarray of bool, shape (n_joints,)
        Joints of known moment arms.
    options : Muscles
        Section `muscles` of the settings.
    decisions : tuple of str
        Notes on the scaling and on unknown moment arms.
    modelled : ndarray of bool, shape (n_muscles,), or None
        Muscles of known fibres; None where strength is constant by the settings.
    contact : ContactReasons or None
        Reasons why contact forces are not known, where they are computed.
    """

    tally: Tally
    muscle_set: MuscleSet
    joints: tuple[str, ...]
    arm_known: BoolArray
    options: Muscles
    decisions: tuple[str, ...]
    modelled: BoolArray | None = None
    contact: ContactReasons | None = None

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics, by the names in `quality.checks`."""
        tally, options = self.tally, self.options
        count = max(int(tally["valid"]), 1)
        metrics = {
            "reserve_share": float(tally["short"]) / count,
            "arm_range_deg": float(np.degrees(tally["beyond_range_rad"])),
            "arm_range_share": float(tally["out_of_range"]) / count,
            "joints_without_moment_arms": float((~self.arm_known).sum()),
            "optimization_failed_share": float(tally["failed"]) / count,
        }
        if self.modelled is not None:
            metrics["fibre_range_share"] = float(tally["fibres_out"]) / count
            metrics["passive_part"] = float(tally["passive_part"])
        if options.ranges:
            metrics["force_range_share"] = float(tally["width"] / tally["widths"]) if tally["widths"] else math.nan
        return metrics

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on scaling, muscles, joints and contact forces."""
        n_frames = max(int(self.tally["solved"]), 1)
        notes = [
            f"{joint}: outside the range of a moment arm in {100 * count / n_frames:.0f} % of the frames"
            for joint, count in zip(self.joints, self.tally["out_by_joint"].tolist(), strict=True)
            if count > 0
        ]
        notes += [
            f"{muscle} crosses the {joint}, but its moment arm there is unknown and taken as zero"
            for muscle, joint in self.muscle_set.not_sampled
            if joint in self.joints
        ]
        if self.modelled is not None and not self.modelled.all():
            names = [name for name, has in zip(self.muscle_set.names, self.modelled, strict=True) if not has]
            notes.append(
                f"constant strength, as fibre parameters, length or a moment arm is unknown: {', '.join(names)}"
            )
        notes += [
            f"{name}: fibre outside the range of its curves in {100 * count / n_frames:.0f} % of the frames"
            for name, count in zip(self.muscle_set.names, self.tally["out_by_muscle"].tolist(), strict=True)
            if count > 0
        ]
        if self.options.tendon == "compliant" and self.tally["unsettled"] > 0:
            notes.append(
                f"stretch of the tendons: in {100 * self.tally['unsettled'] / n_frames:.0f} % of the frames an activation still "
                f"changed by up to {self.tally['tendon_change']:.1g} in the last optimization"
            )
        return (*self.decisions, *notes, *(self.contact.notes if self.contact else ()))


def whole_report(parts: Sequence[ForceReport]) -> ForceReport:
    """Report on a trial from the reports on its parts."""
    contacts = [part.contact for part in parts if part.contact]
    contact = replace(contacts[0], tally=total([each.tally for each in contacts])) if contacts else None
    return replace(parts[0], tally=total([part.tally for part in parts]), contact=contact)
