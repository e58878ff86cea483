"""Planar chain of n rigid links on a moving base: kinematics, dynamics, energy.

In: arrays: angles, velocities, accelerations, loads; time is axis 0.
Out: arrays: torque terms, wrenches, energies, positions.
Not here: files, marker labels, settings, tables.

Everything here knows arrays only; time is axis 0 of every argument and result, but the last one in `regressor` and
`sensitivity`, which have many directions for each frame. Angles are joint-space (relative)
angles ``alpha``; the orientation of a link is ``theta = cumsum(alpha)``, from the plane's x axis, counter-clockwise.
Torques are what the proximal link does to the distal one, counter-clockwise positive.
"""

from limbtorque.chain.conventions import (
    InteractionTorques,
    MotionDependentTorques,
    SegmentTerms,
    interaction_torques,
    internal_angles,
    joint_angles,
    motion_dependent_torques,
    segment_angles,
    segment_terms,
    segment_torques,
)
from limbtorque.chain.dynamics import JointWrenches, TorqueTerms, inertia_matrix, newton_euler, torque_terms
from limbtorque.chain.energy import PowerBalance, SegmentEnergies, power_balance, segment_energies
from limbtorque.chain.forward import forward_dynamics
from limbtorque.chain.induced import InducedAccelerations, induced_accelerations
from limbtorque.chain.inverse import (
    JointMotion,
    RigidChainFit,
    TwoLinkAngles,
    fit_rigid_chain,
    joint_motion,
    two_link_angles,
)
from limbtorque.chain.kinematics import (
    AccelerationParts,
    acceleration_parts,
    jacobian,
    jacobian_rate,
    joint_positions,
    point_acceleration,
    point_jerk,
    point_position,
    point_velocity,
)
from limbtorque.chain.mobility import Ellipse, manipulability, null_space_projector, velocity_ellipse
from limbtorque.chain.model import Chain, Kinematics, Load, Point, pairs
from limbtorque.chain.prepared import PreparedChain

__all__ = [
    "AccelerationParts",
    "Chain",
    "Ellipse",
    "InducedAccelerations",
    "InteractionTorques",
    "JointMotion",
    "JointWrenches",
    "Kinematics",
    "Load",
    "MotionDependentTorques",
    "Point",
    "PowerBalance",
    "PreparedChain",
    "RigidChainFit",
    "SegmentEnergies",
    "SegmentTerms",
    "TorqueTerms",
    "TwoLinkAngles",
    "acceleration_parts",
    "fit_rigid_chain",
    "forward_dynamics",
    "induced_accelerations",
    "inertia_matrix",
    "interaction_torques",
    "internal_angles",
    "jacobian",
    "jacobian_rate",
    "joint_angles",
    "joint_motion",
    "joint_positions",
    "manipulability",
    "motion_dependent_torques",
    "newton_euler",
    "null_space_projector",
    "pairs",
    "point_acceleration",
    "point_jerk",
    "point_position",
    "point_velocity",
    "power_balance",
    "segment_angles",
    "segment_energies",
    "segment_terms",
    "segment_torques",
    "torque_terms",
    "two_link_angles",
    "velocity_ellipse",
]
