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
    columns,
)

MARKER_FLAGS = columns(
    {
        "filled:count": "1 where a marker of the chain was filled",
        "swapped:count": "1 where a required marker is exchanged with another",
        "spike:count": "1 where a required marker has an unfilled spike or jump",
    }
)


ENDS = {"low": "lower", "high": "upper"}


def kinematics_columns(joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    """Columns of `results/kinematics`.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    """
    entries: dict[str, str | tuple[str, str]] = {
        "chain_fit_m": "root mean square distance of the fitted from the measured joints; empty with motion.angles segments"
    }
    for point in (*joints, "endpoint"):
        text = f"filtered position of the {point} in the plane (with motion.angles rigid_chain, of the fitted chain)"
        entries[f"{point}_position_*_m"] = text
    for segment in segments:
        tilt = f"inclination of the {segment} to the plane, not filtered"
        entries |= {
            f"{segment}_orientation_rad": (
                f"angle from the x axis to the {segment} at its proximal joint",
                ANGLE_SIGN,
            ),
            f"{segment}_length_m": f"length of the {segment} in space, not filtered",
            f"{segment}_tilt_rad": (tilt, "positive towards the plane's normal"),
        }
    for joint, segment, reference in zip(joints, segments, ("plane's x axis", *segments), strict=False):
        text = f"{joint} angle: angle of the {segment} relative to the {reference}"
        entries |= {
            f"{joint}_angle_rad": (text, ANGLE_SIGN),
            f"{joint}_velocity_rad_s": (f"angular velocity of the {joint}", ANGLE_SIGN),
            f"{joint}_acceleration_rad_s2": (f"angular acceleration of the {joint}", ANGLE_SIGN),
        }
    first, last = joints[0], segments[-1]
    entries |= {
        "base_velocity_*_m_s": f"velocity of the {first} in the plane",
        "base_acceleration_*_m_s2": f"acceleration of the {first} in the plane",
        "external_force_*_n": f"external force on the {last}, in the plane",
        "external_point_*_m": "reference point of the external force and couple",
        "external_couple_nm": (f"external couple on the {last}", "counter-clockwise positive on the segment"),
        "external_pressure_*_m": "centre of pressure of the ground under the foot; empty without a load",
    }
    return [*FRAME_COLUMNS, *MARKER_FLAGS, *columns(entries), EXTERNAL_STATUS]


def file_columns(joints: Sequence[str]) -> list[Column]:
    """Columns of results of another program stored in the recording.

    Parameters
    ----------
    joints : sequence of str
        Names, proximal first.
    """
    read = "result of another program, from the recording; empty where it has none"
    moment = f"sagittal net joint moment {read}; multiplied by body mass where the file gives it per kilogram"
    entries: dict[str, tuple[str, str]] = {}
    for joint in joints:
        entries |= {
            f"{joint}_file_angle_rad": (f"{joint} angle {read}", ANGLE_SIGN),
            f"{joint}_file_torque_nm": (f"{joint}: {moment}", MECHANICAL),
            f"{joint}_file_power_w": (
                f"{joint}: power {read}, of all planes; times body mass as its moment",
                INTO_SEGMENTS,
            ),
        }
    return list(columns(entries))


def _terms(joint: str, joints: Sequence[str]) -> dict[str, str]:
    """Names and texts of the terms of one joint's net torque, in order of summation."""
    own = "; always 0, as this centripetal force passes through the joint"
    return {
        **{
            f"inertial_{j}": f"inertial: inertia M[{joint},{j}] times the angular acceleration of the {j}"
            for j in joints
        },
        **{
            f"centripetal_{j}": f"centripetal: proportional to the squared angular velocity of the {j}{own if j == joint else ''}"
            for j in joints
        },
        **{
            f"coriolis_{joints[p]}_{joints[q]}": "Coriolis: proportional to twice the product of the angular velocities of "
            f"{joints[p]} and {joints[q]}"
            for p, q in pairs(len(joints))
        },
        "gravity": "gravity: torque that supports the distal segments against gravity",
        "base": f"base motion: torque that accelerates the distal segments with the {joints[0]}",
        "external": "external: torque that balances the external load",
    }


def term_columns(joint: str, joints: Sequence[str]) -> list[Column]:
    """Columns of the terms of one joint's net torque, in order of summation.

    Parameters
    ----------
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain, proximal first.
    """
    terms = _terms(joint, joints).items()
    return list(columns({f"{joint}_torque_{term}_nm": f"{joint}: {text}" for term, text in terms}, MECHANICAL))


def kind_columns(joint: str) -> list[Column]:
    """Columns of the sums of one joint's inertial, centripetal and Coriolis terms."""
    texts = {"inertial": "inertial", "centripetal": "centripetal", "coriolis": "Coriolis"}
    kinds = {f"{joint}_torque_{kind}_nm": f"{joint}: sum of its {text} terms" for kind, text in texts.items()}
    return list(columns(kinds, MECHANICAL))


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
    entries = {
        f"{joint}_torque_{convention}_{part}_nm": f"{joint}: {text}; {CONVENTION_SUMS[convention]}"
        for joint in joints
        for part, text in CONVENTION_PARTS[convention].items()
    }
    return list(columns(entries, MECHANICAL if convention == "torque_equation" else ON_DISTAL))


def _segment_space_columns(joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    text = (
        "{}: {}, proportional to the {} of the {} relative to the laboratory; together with the gravity, base and external terms they "
        "add up to the net joint torque"
    )
    entries = {
        f"{joint}_torque_segment_space_{kind}_{segment}_nm": (text.format(joint, kind, quantity, segment), MECHANICAL)
        for joint in joints
        for kind, quantity in {"inertial": "angular acceleration", "centripetal": "squared angular velocity"}.items()
        for segment in segments
    }
    whole = "generalised torque of the {}: net torque at its proximal joint minus that at its distal joint"
    sign = "counter-clockwise positive on the segment"
    entries |= {f"{segment}_torque_segment_space_nm": (whole.format(segment), sign) for segment in segments}
    return list(columns(entries))


ENERGIES = {
    "translational": "translational kinetic energy of",
    "rotational": "rotational kinetic energy, about its centre of mass, of",
    "potential": "potential energy, zero at the plane's origin, of",
}


def power_columns(joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    """Columns of the powers of all terms, segment energies, and their balance.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    """
    entries: dict[str, str | tuple[str, str]] = {}
    for joint in joints:
        for term in _terms(joint, joints):
            text = f"power of the term {joint}_torque_{term}_nm: torque times angular velocity of the {joint}"
            entries[f"{joint}_power_{term}_w"] = (text, INTO_SEGMENTS)
    for segment in segments:
        for kind, text in ENERGIES.items():
            entries[f"{segment}_energy_{kind}_j"] = f"{text} the {segment}, in the laboratory"
    at_base = f"power at the {joints[0]}, of the force that moves the chain with its base"
    entries |= {
        "chain_power_base_w": (at_base, INTO_SEGMENTS),
        "chain_power_external_w": ("power of the external load through the rotation of the joints", INTO_SEGMENTS),
        "chain_energy_rate_w": "rate of change of the energy of all segments, from their motion",
        "chain_power_closure_w": "joint powers + power at the base + power of the external load - rate of change of the energy",
    }
    return list(columns(entries))


INDUCING = {
    "gravity": "gravity",
    "velocity": "the centripetal and Coriolis terms",
    "base": "the acceleration of the base",
    "external": "the external load; while the foot is on a plate, less the reactions to the other sources",
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
    entries: dict[str, str | tuple[str, str]] = {}
    for joint in joints:
        for source, text in inducing_sources(joints).items():
            text = f"angular acceleration of the {joint} induced by {text}; all sources add up to the acceleration"
            entries[f"{joint}_acceleration_from_{source}_rad_s2"] = (text, ANGLE_SIGN)
    for source, text in inducing_sources(joints).items():
        text = (
            f"acceleration of the endpoint induced by {text}; all sources add up to the acceleration of the chain's end"
        )
        entries[f"endpoint_acceleration_from_{source}_*_m_s2"] = text
    return list(columns(entries))


def limit_columns(joint: str) -> list[Column]:
    """Columns of the 95 % limits of one joint's net torque."""
    name = f"{joint}_torque"
    texts = {f"{name}_{end}_nm": f"{which} 95 % limit of {name}_nm" for end, which in ENDS.items()}
    return list(columns(texts, MECHANICAL))


def band_columns(joints: Sequence[str]) -> list[Column]:
    """Columns of `torques.bands`: uncertainty of torques, their terms and the motion.

    Parameters
    ----------
    joints : sequence of str
        Names, proximal first.
    """
    entries: dict[str, str | tuple[str, str]] = {}
    for joint in joints:
        kinds = [column.name.removesuffix("_nm") for column in kind_columns(joint)]
        for name in (f"{joint}_torque", *(f"{joint}_torque_{term}" for term in _terms(joint, joints)), *kinds):
            text = f"standard deviation of {name}_nm due to errors of the inputs, to first order"
            entries[f"{name}_sd_nm"] = (text, SIZE)
            if name != f"{joint}_torque":
                limits = {f"{name}_{end}_nm": f"{which} 95 % limit of {name}_nm" for end, which in ENDS.items()}
                entries |= {limit: (text, MECHANICAL) for limit, text in limits.items()}
        for source in SOURCES:
            entries[f"{joint}_torque_share_{source}"] = f"share of the variance of {joint}_torque_nm by {source}"
        for what in ("angle_sd_rad", "velocity_sd_rad_s", "acceleration_sd_rad_s2"):
            text = (
                f"standard deviation of the {joint}'s {what.split('_')[0]} due to errors of the inputs, to first order"
            )
            entries[f"{joint}_{what}"] = (text, SIZE)
    return [*FRAME_COLUMNS[:2], *columns(entries)]


def space_columns(joints: Sequence[str]) -> list[Column]:
    """Columns of `torques.in_space`: net moments in space.

    Parameters
    ----------
    joints : sequence of str
        Names, proximal first.
    """
    own = "counter-clockwise positive about the axis, on the side of the plane's normal, proximal segment acting on distal segment"
    texts = {  # the first four are attributes of `torques.in_space.SpaceMoments`
        "torque_about_normal": ("net moment in space about the plane's normal", MECHANICAL),
        "torque_about_flexion_axis": (
            "net moment in space about the joint's own flexion axis; empty where it is not known",
            own,
        ),
        "moment_abduction": (
            "net moment in space about the axis across the flexion axis and the distal segment (ankle: the shank)",
            "abduction positive (ankle: eversion), proximal segment acting on distal segment",
        ),
        "moment_rotation": (
            "net moment in space about the distal segment's long axis (ankle: the shank's), its part across the flexion axis",
            "internal rotation positive, proximal segment acting on distal segment",
        ),
        "torque_by_lengths": (
            "planar net torque minus moment in space about the normal: fitted and projected lengths",
            MECHANICAL,
        ),
    }
    entries = {
        f"{joint}_{name}_nm": (f"{joint}: {text}", sign) for joint in joints for name, (text, sign) in texts.items()
    }
    return [*FRAME_COLUMNS[:2], *columns(entries)]


def torque_columns(
    joints: Sequence[str], segments: Sequence[str], options: TorqueColumns, *, limits: bool = True
) -> list[Column]:
    """Columns of `results/torques`, the torque component table.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    options : TorqueColumns
        Section `torques` of the settings, which selects further columns.
    limits : bool, optional
        With the 95 % limits of the net torques.
    """
    closure = "net torque from an independent recursive Newton-Euler computation minus the sum of the terms"
    table = [*FRAME_COLUMNS, EXTERNAL_STATUS]
    for joint in joints:
        table += columns({f"{joint}_torque_nm": f"net {joint} torque: the sum of its terms"}, MECHANICAL)
        table += limit_columns(joint) if limits else []
        table += [*term_columns(joint, joints), *kind_columns(joint)]
        table += columns({f"{joint}_torque_closure_nm": closure}, MECHANICAL)
    sign = f"proximal segment acting on distal segment; {IN_PLANE}"
    for joint in joints:
        text = f"joint reaction force at the {joint}; not the joint contact force, which includes the muscle forces"
        table += columns({f"{joint}_reaction_*_n": (text, sign)})
    for joint in joints:
        text = f"power of the net {joint} torque: torque times angular velocity"
        table += columns({f"{joint}_power_w": text}, INTO_SEGMENTS)
    for convention in options.conventions:
        table += convention_columns(convention, joints, segments)
    table += power_columns(joints, segments) if "power" in options.columns else []
    table += induced_columns(joints) if "induced_accelerations" in options.columns else []
    return table
