"""Muscle forces of a trial, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.force_report import ForceReport
from limbtorque.muscles.hill import HillLimits
from limbtorque.muscles.joint_contact import ContactForce
from limbtorque.muscles.moment_arms import Musculotendon
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.solve import StaticOptimization
from limbtorque.muscles.strength import TendonStretch


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
    co_contraction_cost, co_contraction_part : ndarray of shape (n_frames,)
        Cost added by co-contraction, and the part of the wanted one that the torque allows, 0 to 1.
    floor : ndarray of shape (n_frames, n_muscles)
        Lower bound of each activation.
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
    co_contraction_cost: FloatArray
    co_contraction_part: FloatArray
    floor: FloatArray
    arm_known: BoolArray
    body_weight_n: float
    contact: ContactForce | None
    out_of_range: BoolArray
    fibres_out_of_range: BoolArray
    beyond_range_rad: FloatArray
    report: ForceReport

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics of reserves, ranges and co-contraction."""
        return self.report.metrics

    @property
    def notes(self) -> tuple[str, ...]:
        """Scaling, and unknown moment arms, fibres and forces."""
        return self.report.notes
