"""Checks of muscle forces."""

from __future__ import annotations

from limbtorque.quality.check import CONVENTION, NO_TOLERANCE, PROGRAM_DEFECT, Check

MUSCLE_CHECKS = (
    Check(
        "reserve_share",
        "share of frames in which the muscles cannot produce the torque of a joint with known moment arms",
        "check reserve torques, muscle strengths and muscles.activation_bounds",
        f"{CONVENTION}: single frames may be due to rounding or noise",
        affects="muscles",
    ),
    Check(
        "arm_range_deg",
        "largest distance of a joint angle from the range of its moment-arm data",
        "do not use muscle forces of frames with moment_arm_status 1",
        "the built-in knee's arms change by 9 % (median) in the last ten degrees before full extension, and healthy knees extend up to 10 degrees further (Beighton et al. 1973)",
        affects="muscles",
        threshold=10.0,
    ),
    Check(
        "passive_part",
        "largest passive force of a muscle over its maximum isometric force",
        "set muscles.scale, or muscles.tendon: compliant, or switch muscles.force_length_velocity off",
        CONVENTION,
        affects="muscles",
        threshold=0.5,
    ),
    Check(
        "fibre_range_share",
        "share of frames in which a muscle fibre is outside the range of its curves",
        "set muscles.scale, or leave out frames with fibre_status 1",
        CONVENTION,
        affects="muscles",
        threshold=0.01,
    ),
    Check(
        "joints_without_moment_arms",
        "joints without moment arms, whose torque is all reserve",
        "do not use forces of muscles that cross these joints",
        NO_TOLERANCE,
        affects="muscles",
        threshold=0.0,
    ),
    Check(
        "optimization_failed_share",
        "share of frames whose static optimization failed its optimality certificate; forces are empty",
        PROGRAM_DEFECT,
        NO_TOLERANCE,
        affects="muscles",
        threshold=0.0,
    ),
)
