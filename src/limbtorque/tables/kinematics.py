"""Columns of `results/kinematics`."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.tables.column import ANGLE_SIGN, EXTERNAL_STATUS, FRAME_COLUMNS, IN_PLANE, Column


def kinematics_columns(joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    """Columns of `results/kinematics`.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    """
    columns = [*FRAME_COLUMNS, Column("filled", "1", "1 where a marker of the chain was filled", kind=int)]
    for point in (*joints, "endpoint"):
        columns += [
            Column(
                f"{point}_position_{axis}_m",
                "m",
                f"position of the {point} in the plane: filtered, and of the fitted chain where motion.angles is rigid_chain",
                IN_PLANE,
            )
            for axis in "xy"
        ]
    columns += [
        Column(
            f"{segment}_orientation_rad",
            "rad",
            f"orientation of the {segment}, from its proximal joint, to the x axis",
            ANGLE_SIGN,
        )
        for segment in segments
    ]
    for i, joint in enumerate(joints):
        against = "the plane's x axis" if i == 0 else f"the {segments[i - 1]}"
        angle = f"angle of the {segments[i]} against {against}"
        columns += [
            Column(f"{joint}_angle_rad", "rad", f"{joint} angle: {angle}", ANGLE_SIGN),
            Column(f"{joint}_velocity_rad_s", "rad/s", f"angular velocity of the {joint}", ANGLE_SIGN),
            Column(f"{joint}_acceleration_rad_s2", "rad/s^2", f"angular acceleration of the {joint}", ANGLE_SIGN),
        ]
    columns += [
        Column(f"base_velocity_{axis}_m_s", "m/s", f"velocity of the {joints[0]} in the plane", IN_PLANE)
        for axis in "xy"
    ]
    columns += [
        Column(f"base_acceleration_{axis}_m_s2", "m/s^2", f"acceleration of the {joints[0]} in the plane", IN_PLANE)
        for axis in "xy"
    ]
    last = segments[-1]
    columns += [
        Column(f"external_force_{axis}_n", "N", f"external force on the {last}, in the plane", IN_PLANE)
        for axis in "xy"
    ]
    columns += [
        Column(f"external_point_{axis}_m", "m", "point at which external force and couple are given", IN_PLANE)
        for axis in "xy"
    ]
    columns.append(
        Column(
            "external_couple_nm", "N m", f"external couple on the {last}", "counter-clockwise positive on the segment"
        )
    )
    return [*columns, EXTERNAL_STATUS]
