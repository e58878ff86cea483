"""Columns of `results/kinematics`."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.tables.column import (
    ANGLE_SIGN,
    EXTERNAL_STATUS,
    FRAME_COLUMNS,
    INTO_SEGMENTS,
    MECHANICAL,
    Column,
    xy_columns,
)

MARKER_FLAGS = (
    Column("filled", "1", "1 where a marker of the chain was filled", kind=int),
    Column("swapped", "1", "1 where a needed marker is exchanged with another", kind=int),
    Column("spike", "1", "1 where a needed marker has an unfilled spike or jump", kind=int),
)
CHAIN_FIT = Column(
    "chain_fit_m",
    "m",
    "root mean square distance of the fitted from the measured joints; empty with motion.angles segments",
)


def kinematics_columns(joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    """Columns of `results/kinematics`.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    """
    columns = [*FRAME_COLUMNS, *MARKER_FLAGS, CHAIN_FIT]
    for point in (*joints, "endpoint"):
        text = f"filtered position of the {point} in the plane; of the fitted chain with motion.angles rigid_chain"
        columns += xy_columns(f"{point}_position", "m", "m", text)
    for segment in segments:
        text = f"angle from the x axis to the {segment}, seen from its proximal joint"
        columns += [
            Column(f"{segment}_orientation_rad", "rad", text, ANGLE_SIGN),
            Column(f"{segment}_length_m", "m", f"length of the {segment} in space, not filtered"),
            Column(
                f"{segment}_tilt_rad",
                "rad",
                f"inclination of the {segment} to the plane, not filtered",
                "positive towards the plane's normal",
            ),
        ]
    for joint, segment, reference in zip(joints, segments, ("plane's x axis", *segments), strict=False):
        text = f"{joint} angle: angle of the {segment} relative to the {reference}"
        columns += [
            Column(f"{joint}_angle_rad", "rad", text, ANGLE_SIGN),
            Column(f"{joint}_velocity_rad_s", "rad/s", f"angular velocity of the {joint}", ANGLE_SIGN),
            Column(f"{joint}_acceleration_rad_s2", "rad/s^2", f"angular acceleration of the {joint}", ANGLE_SIGN),
        ]
    first, last = joints[0], segments[-1]
    return [
        *columns,
        *xy_columns("base_velocity", "m_s", "m/s", f"velocity of the {first} in the plane"),
        *xy_columns("base_acceleration", "m_s2", "m/s^2", f"acceleration of the {first} in the plane"),
        *xy_columns("external_force", "n", "N", f"external force on the {last}, in the plane"),
        *xy_columns("external_point", "m", "m", "reference point of the external force and couple"),
        Column(
            "external_couple_nm", "N m", f"external couple on the {last}", "counter-clockwise positive on the segment"
        ),
        *xy_columns(
            "external_pressure", "m", "m", "centre of pressure of the ground under the foot; empty without a load"
        ),
        EXTERNAL_STATUS,
    ]


def file_columns(joints: Sequence[str]) -> list[Column]:
    """Columns of another program's results, in tables of recordings that hold them.

    Parameters
    ----------
    joints : sequence of str
        Names, proximal first.
    """
    read = "of another program, as the recording holds it, not computed here; empty where it has none"
    columns = []
    for joint in joints:
        columns += [
            Column(f"{joint}_file_angle_rad", "rad", f"{joint} angle {read}", ANGLE_SIGN),
            Column(
                f"{joint}_file_torque_nm",
                "N m",
                f"{joint}: sagittal net joint moment {read}; times body mass where the file holds it per kilogram",
                MECHANICAL,
            ),
            Column(f"{joint}_file_power_w", "W", f"{joint}: power {read}, of all planes; as its moment", INTO_SEGMENTS),
        ]
    return columns
