"""Metrics and notes of the muscle forces of a trial, from its tally."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.muscles.hill import HillLimits
from limbtorque.muscles.joint_contact import ContactForce, ContactReasons
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.tally import Tally, total
from limbtorque.study.options.muscles import Muscles


@dataclass(frozen=True, eq=False)
class ForceReport:
    """Metrics and notes of muscle forces, from counts that add up.

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

    def about(self, tally: Tally, limits: HillLimits | None, contact: ContactForce | None) -> ForceReport:
        """Report with a tally, for these limits and contact forces."""
        modelled, reasons = limits.modelled if limits else None, contact.reasons if contact else None
        return replace(self, tally=tally, modelled=modelled, contact=reasons)

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
        if isinstance(options.reserve, float) and tally["valid"] > 0:
            peaks = tally["net_nm"]
            part = (tally["reserve_nm"] / np.where(peaks > 0, peaks, 1.0))[self.arm_known]
            metrics["reserve_part"] = float(part.max(initial=0.0))
        if self.modelled is not None:
            metrics["fibre_range_share"] = float(tally["fibres_out"]) / count
            metrics["passive_part"] = float(tally["passive_part"])
        if options.ranges:
            metrics["force_range_share"] = float(tally["width"] / tally["widths"]) if tally["widths"] else math.nan
        if options.co_contraction > 0.0:
            without = float(tally["cost_without"])
            metrics["co_contraction_cost_share"] = float(tally["added_cost"]) / without if without > 0 else math.nan
            metrics["co_contraction_reduced_share"] = float(tally["reduced"]) / max(int(tally["solved"]), 1)
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
            f"{muscle} crosses the {joint}, but its moment arm there is unknown and counts as zero"
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
    """Report on all frames of a trial from those on its stretches."""
    contacts = [part.contact for part in parts if part.contact]
    contact = replace(contacts[0], tally=total([each.tally for each in contacts])) if contacts else None
    return replace(parts[0], tally=total([part.tally for part in parts]), contact=contact)
