"""Columns of the tables by frame: kinematics and torques."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.chain.model import pairs
from limbtorque.study.options.outputs import Convention, TorqueColumns
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.tables.column import (
    ANGLE_SIGN,
    EXTERNAL_STATUS,
    FRAME_COLUMNS,
    IN_PLANE,
    INTO_SEGMENTS,
    MECHANICAL,
    ON_DISTAL,
    SIZE,
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


def term_columns(joint: str, joints: Sequence[str]) -> list[Column]:
    """Columns of the terms of one joint's net torque, in order of summation.

    Parameters
    ----------
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain, proximal first.
    """
    terms = [
        (f"inertial_{j}", f"inertial: inertia M[{joint},{j}] times the angular acceleration of the {j}") for j in joints
    ]
    terms += [
        (
            f"centripetal_{j}",
            f"centripetal: proportional to the squared angular velocity of the {j}"
            + ("; always 0, as a joint's own centripetal force passes through it" if j == joint else ""),
        )
        for j in joints
    ]
    terms += [
        (
            f"coriolis_{joints[p]}_{joints[q]}",
            f"Coriolis: proportional to twice the product of the angular velocities of {joints[p]} and {joints[q]}",
        )
        for p, q in pairs(len(joints))
    ]
    terms += [
        ("gravity", "gravity: torque that supports the distal segments against gravity"),
        ("base", f"base motion: torque that accelerates the distal segments with the {joints[0]}"),
        ("external", "external: torque that balances the external load"),
    ]
    return [Column(f"{joint}_torque_{term}_nm", "N m", f"{joint}: {text}", MECHANICAL) for term, text in terms]


CONVENTION_PARTS = {
    "torque_equation": {
        "inertia": "M q'', the inertial terms of all joints",
        "velocity": "C, the centripetal and Coriolis terms",
        "gravity": "G, the gravity term",
        "base": "B, the base term",
        "external": "E, the external term",
    },
    "motion_equation": {
        "inertia": "M q'', the inertial terms of all joints",
        "velocity": "C, -(centripetal + Coriolis terms)",
        "gravity": "G, minus the gravity term",
        "base": "B, minus the base term",
        "applied": "Q, the net joint torque",
        "external": "E, minus the external term",
    },
    "interaction": {
        "net": "net torque: inertia of the distal segments times the joint's own angular acceleration",
        "muscle": "muscle torque: the net joint torque of inverse dynamics",
        "interaction": "interaction torque: -(inertial terms of the other joints + centripetal + Coriolis + base terms)",
        "gravity": "gravity torque: minus the gravity term",
        "external": "external torque: minus the external term",
    },
    "motion_dependent": {
        "net": "net torque: part proportional to the angular acceleration of the joint's distal segment",
        "muscle": "generalised muscle torque: the net joint torque of inverse dynamics",
        "gravity": "gravity torque: minus the gravity term",
        "motion": "motion-dependent torque: -(all inertial, centripetal, Coriolis and base terms) + the net torque of this row",
        "external": "external torque: minus the external term",
    },
}
CONVENTION_SUMS = {
    "torque_equation": "inertia + velocity + gravity + base + external = net joint torque (M q'' + C + G + B + E = tau)",
    "motion_equation": "inertia = velocity + gravity + base + applied + external (M q'' = C + G + B + Q + E)",
    "interaction": "net = muscle + interaction + gravity + external (Hollerbach and Flash 1982; Dounskaia 2005)",
    "motion_dependent": "net = muscle + gravity + motion + external (after Schneider and Zernicke 1990)",
}


def convention_columns(convention: Convention, joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    """Columns of a convention: another grouping of the torque terms.

    Parameters
    ----------
    convention : str
        Name, as in `torques.columns` of the settings.
    joints, segments : sequence of str
        Names, proximal first.
    """
    if convention == "segment_space":
        return _segment_space_columns(joints, segments)
    sign = MECHANICAL if convention == "torque_equation" else ON_DISTAL
    return [
        Column(f"{joint}_torque_{convention}_{part}_nm", "N m", f"{joint}: {text}; {CONVENTION_SUMS[convention]}", sign)
        for joint in joints
        for part, text in CONVENTION_PARTS[convention].items()
    ]


def _segment_space_columns(joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    rest = "together with the gravity, base and external terms they add up to the net joint torque"
    kinds = {"inertial": "angular acceleration", "centripetal": "squared angular velocity"}
    columns = [
        Column(
            f"{joint}_torque_segment_space_{kind}_{segment}_nm",
            "N m",
            f"{joint}: {kind}, proportional to the {quantity} of the {segment} relative to the laboratory; {rest}",
            MECHANICAL,
        )
        for joint in joints
        for kind, quantity in kinds.items()
        for segment in segments
    ]
    return columns + [
        Column(
            f"{segment}_torque_segment_space_nm",
            "N m",
            f"generalised torque of the {segment}: net torque at its proximal joint minus that at its distal joint",
            "counter-clockwise positive on the segment",
        )
        for segment in segments
    ]


def power_columns(joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    """Columns of the powers of all terms, segment energies, and their balance.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    """
    columns = []
    for joint in joints:
        for column in term_columns(joint, joints):
            term = column.name.removeprefix(f"{joint}_torque_").removesuffix("_nm")
            text = f"power of the term {column.name}: torque times angular velocity of the {joint}"
            columns.append(Column(f"{joint}_power_{term}_w", "W", text, INTO_SEGMENTS))
    kinds = {
        "translational": "translational kinetic energy of",
        "rotational": "rotational kinetic energy, about its centre of mass, of",
        "potential": "potential energy, zero at the plane's origin, of",
    }
    columns += [
        Column(f"{segment}_energy_{kind}_j", "J", f"{text} the {segment}, in the laboratory")
        for segment in segments
        for kind, text in kinds.items()
    ]
    return [
        *columns,
        Column(
            "chain_power_base_w",
            "W",
            f"power at the {joints[0]}, of the force that moves the chain with its base",
            INTO_SEGMENTS,
        ),
        Column(
            "chain_power_external_w",
            "W",
            "power of the external load through the rotation of the joints",
            INTO_SEGMENTS,
        ),
        Column("chain_energy_rate_w", "W", "rate of change of the energy of all segments, from their motion"),
        Column(
            "chain_power_closure_w",
            "W",
            "joint powers + power at the base + power of the external load - rate of change of the energy",
        ),
    ]


INDUCING = {
    "gravity": "gravity",
    "velocity": "the centripetal and Coriolis terms",
    "base": "the acceleration of the base",
    "external": "the external load; while the foot is on a plate, what the reactions to the other sources leave of it",
}


def inducing_sources(joints: Sequence[str]) -> dict[str, str]:
    """Names and texts of the sources of acceleration, net joint torques first."""
    return {**{f"{joint}_torque": f"the net {joint} torque" for joint in joints}, **INDUCING}


def induced_columns(joints: Sequence[str]) -> list[Column]:
    """Columns of the induced accelerations.

    Parameters
    ----------
    joints : sequence of str
        Names, proximal first.
    """
    sources = inducing_sources(joints)
    columns = [
        Column(
            f"{joint}_acceleration_from_{source}_rad_s2",
            "rad/s^2",
            f"angular acceleration of the {joint} induced by {text}; all sources add up to the acceleration",
            ANGLE_SIGN,
        )
        for joint in joints
        for source, text in sources.items()
    ]
    for source, text in sources.items():
        text = (
            f"acceleration of the endpoint induced by {text}; all sources add up to the acceleration of the chain's end"
        )
        columns += xy_columns(f"endpoint_acceleration_from_{source}", "m_s2", "m/s^2", text)
    return columns


def band_columns(joint: str, joints: Sequence[str]) -> list[Column]:
    """Columns of the uncertainty of one joint's net torque and terms.

    Parameters
    ----------
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain, proximal first.
    """
    columns = []
    for name in (f"{joint}_torque", *(column.name.removesuffix("_nm") for column in term_columns(joint, joints))):
        columns += [
            Column(
                f"{name}_sd_nm",
                "N m",
                f"standard deviation of {name}_nm by the errors of its inputs, to first order",
                SIZE,
            ),
            Column(f"{name}_low_nm", "N m", f"lower 95 % limit of {name}_nm", MECHANICAL),
            Column(f"{name}_high_nm", "N m", f"upper 95 % limit of {name}_nm", MECHANICAL),
        ]
    return columns + [
        Column(f"{joint}_torque_share_{source}", "1", f"share of the variance of {joint}_torque_nm by {source}")
        for source in SOURCES
    ]


def motion_band_columns(joint: str) -> list[Column]:
    """Columns of the uncertainty of one joint's motion.

    Parameters
    ----------
    joint : str
        The joint.
    """
    quantities = {"angle_sd_rad": "rad", "velocity_sd_rad_s": "rad/s", "acceleration_sd_rad_s2": "rad/s^2"}
    return [
        Column(
            f"{joint}_{name}",
            unit,
            f"standard deviation of the {joint}'s {name.split('_')[0]} by the errors of its inputs, to first order",
            SIZE,
        )
        for name, unit in quantities.items()
    ]


def torque_columns(joints: Sequence[str], segments: Sequence[str], options: TorqueColumns) -> list[Column]:
    """Columns of `results/torques`, the torque component table.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    options : TorqueColumns
        Section `torques` of the settings, which selects further columns.
    """
    columns = [*FRAME_COLUMNS, EXTERNAL_STATUS]
    for joint in joints:
        columns.append(Column(f"{joint}_torque_nm", "N m", f"net {joint} torque: the sum of its terms", MECHANICAL))
        columns += term_columns(joint, joints)
        columns.append(
            Column(
                f"{joint}_torque_closure_nm",
                "N m",
                "net torque of an independent recursive Newton-Euler pass over the same motion minus the sum of the terms",
                MECHANICAL,
            )
        )
    for joint in joints:
        text = f"joint reaction force at the {joint}; without the muscle forces that add to the force inside the joint"
        columns += xy_columns(
            f"{joint}_reaction", "n", "N", text, f"proximal segment acting on distal segment; {IN_PLANE}"
        )
    for joint in joints:
        text = f"power of the net {joint} torque: torque times angular velocity"
        columns.append(Column(f"{joint}_power_w", "W", text, INTO_SEGMENTS))
    for convention in options.conventions:
        columns += convention_columns(convention, joints, segments)
    columns += power_columns(joints, segments) if "power" in options.columns else []
    columns += induced_columns(joints) if "induced_accelerations" in options.columns else []
    for joint in joints if options.bands else ():
        columns += [*band_columns(joint, joints), *motion_band_columns(joint)]
    return columns
