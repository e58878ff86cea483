"""Every column that leaves the program: its name, unit, definition and sign. Columns are named here only."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from limbtorque.chain.model import pairs
from limbtorque.recordings.writers.sto import write_sto
from limbtorque.study.settings import Convention, Joint, Muscles, TorqueColumns
from limbtorque.tables.checks import CHECKS, FIGURES
from limbtorque.tables.trial_record import TrialRecord

MECHANICAL = "counter-clockwise positive about the plane's normal, proximal segment acting on distal segment"
ON_DISTAL = "counter-clockwise positive about the plane's normal: what turns the distal segments that way"
ANGLE_SIGN = "counter-clockwise positive about the plane's normal; column positive_is of the summary says what that is to the body"
IN_PLANE = "x forward, y up (in a horizontal plane: x forward, y to the left)"
META_KEY = b"limbtorque"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Name; ends in the unit where there is one.
    unit : str
        Unit, ``"1"`` for a pure number, empty for text.
    definition : str
        What it is.
    sign : str
        What positive means.
    kind : type
        float, int or str.
    """

    name: str
    unit: str
    definition: str
    sign: str = ""
    kind: type = float


FRAME_COLUMNS = (
    Column("frame", "1", "frame number of the original capture, from 1", kind=int),
    Column("time_s", "s", "time from the first frame of the recording"),
    Column(
        "edge",
        "1",
        "1 where the frame is within reach of an end of the filter or the differences: less certain; left out of the summary",
        kind=int,
    ),
    Column(
        "foreshortened",
        "1",
        "1 where a segment points so far out of the plane that its orientation in it means nothing (torques are empty)",
        kind=int,
    ),
)
EXTERNAL_STATUS = Column(
    "external_status",
    "1",
    "0 no external load, 1 external load known, 2 the foot is on the ground, or within plates.min_contact_s of it, and the force is not known "
    "(torques are empty)",
    kind=int,
)


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


def term_columns(joint: str, joints: Sequence[str]) -> list[Column]:
    """Columns of the terms of one joint's net torque, in the order in which they are added up.

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
            + ("; always 0, a joint's own centripetal force passes through it" if j == joint else ""),
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
        ("gravity", "gravity: torque that holds the distal segments against gravity"),
        ("base", f"base motion: torque that accelerates the distal segments with the {joints[0]}"),
        ("external", "external: torque that withstands the external load"),
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
    """Columns of another grouping of the torque terms.

    Parameters
    ----------
    convention : str
        Name, as in `torques.conventions` of the settings.
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
    rest = "with gravity, base and external terms all of them add up to the net joint torque"
    kinds = {"inertial": "angular acceleration", "centripetal": "squared angular velocity"}
    columns = [
        Column(
            f"{joint}_torque_segment_space_{kind}_{segment}_nm",
            "N m",
            f"{joint}: {kind}, proportional to the {quantity} of the {segment} against the laboratory; {rest}",
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
    """Columns of the powers of all terms, of the energies of the segments, and of their balance.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    """
    into = "positive: energy into the segments"
    columns = []
    for joint in joints:
        for column in term_columns(joint, joints):
            term = column.name.removeprefix(f"{joint}_torque_").removesuffix("_nm")
            text = f"power of the term {column.name}: torque times angular velocity of the {joint}"
            columns.append(Column(f"{joint}_power_{term}_w", "W", text, into))
    kinds = {
        "translational": "kinetic energy of the centre of mass of",
        "rotational": "kinetic energy of the turning about its centre of mass of",
        "potential": "potential energy, 0 at the plane's origin, of",
    }
    columns += [
        Column(f"{segment}_energy_{kind}_j", "J", f"{text} the {segment}, in the laboratory")
        for segment in segments
        for kind, text in kinds.items()
    ]
    return [
        *columns,
        Column("chain_power_base_w", "W", f"power at the {joints[0]}: force that moves the chain with its base", into),
        Column("chain_power_external_w", "W", "power of the external load as the chain turns about its joints", into),
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
    "external": "the external load",
}


def inducing_sources(joints: Sequence[str]) -> dict[str, str]:
    """Name and text of everything that accelerates the chain: the net torque of each joint first."""
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
            f"part of the {joint}'s angular acceleration that {text} makes; the parts add up to the acceleration",
            ANGLE_SIGN,
        )
        for joint in joints
        for source, text in sources.items()
    ]
    return columns + [
        Column(
            f"endpoint_acceleration_from_{source}_{axis}_m_s2",
            "m/s^2",
            f"part of the endpoint's acceleration that {text} makes; the parts add up to the acceleration of the chain's end",
            IN_PLANE,
        )
        for source, text in sources.items()
        for axis in "xy"
    ]


def torque_columns(joints: Sequence[str], segments: Sequence[str], options: TorqueColumns) -> list[Column]:
    """Columns of `results/torques`, the torque component table.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    options : TorqueColumns
        Section `torques` of the settings: which further columns are wanted.
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
    columns += [
        Column(
            f"{joint}_reaction_{axis}_n",
            "N",
            f"joint reaction force at the {joint}; not the force in the joint, to which the pull of the muscles is added",
            f"proximal segment acting on distal segment; {IN_PLANE}",
        )
        for joint in joints
        for axis in "xy"
    ]
    columns += [
        Column(
            f"{joint}_power_w",
            "W",
            f"power of the net {joint} torque: torque times angular velocity",
            "positive: energy into the segments",
        )
        for joint in joints
    ]
    for convention in options.conventions:
        columns += convention_columns(convention, joints, segments)
    columns += power_columns(joints, segments) if options.power else []
    columns += induced_columns(joints) if options.induced_accelerations else []
    return columns


@dataclass(frozen=True)
class MuscleEntry:
    """What the table says of a muscle.

    Attributes
    ----------
    name : str
        Name of the muscle.
    joints : tuple of str
        Joints of the chain at which it has a moment arm.
    length : bool
        Whether its musculotendon length is known.
    fibres : bool
        Whether the parameters of its fibres are known, too.
    """

    name: str
    joints: tuple[str, ...]
    length: bool
    fibres: bool


def muscle_columns(
    joints: Sequence[str], segments: Sequence[str], muscles: Sequence[MuscleEntry], options: Muscles
) -> list[Column]:
    """Columns of `results/muscles`.

    Parameters
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    muscles : sequence of MuscleEntry
        The muscles that cross them.
    options : Muscles
        Section `muscles` of the settings.
    """
    if not muscles:
        return [*FRAME_COLUMNS]
    columns = [*FRAME_COLUMNS, *_sharing_columns(joints, options)]
    for muscle in muscles:
        columns += _force_columns(muscle, options)
    for joint in joints:
        for muscle in muscles:
            if joint in muscle.joints:
                columns.append(
                    Column(
                        f"{joint}_moment_arm_{muscle.name}_m",
                        "m",
                        f"moment arm of {muscle.name} at the {joint}",
                        "positive: tension flexes the joint",
                    )
                )
        columns += [
            Column(
                f"{joint}_torque_muscle_{muscle.name}_nm",
                "N m",
                f"share of the {joint} torque that {muscle.name} makes: moment arm times force",
                MECHANICAL,
            )
            for muscle in muscles
            if joint in muscle.joints
        ]
        columns.append(
            Column(
                f"{joint}_torque_reserve_nm",
                "N m",
                f"part of the {joint} torque that no muscle of the set makes; with the muscles' shares it adds up to the net torque",
                MECHANICAL,
            )
        )
    return columns + (_contact_columns(joints, segments) if options.contact_forces else [])


def _sharing_columns(joints: Sequence[str], options: Muscles) -> list[Column]:
    columns = [
        Column(
            "optimization_status",
            "1",
            "0 the muscles, within their bounds of activation, can give the whole torque; 1 they cannot, or a joint has no known "
            "moment arms: see reserve and shortfall; "
            "2 the torque is not known; 3 no sharing passed its certificate",
            kind=int,
        ),
        Column(
            "moment_arm_status",
            "1",
            "1 where a joint is outside the range in which its moment arms were sampled (they are held at the range's end)",
            kind=int,
        ),
    ]
    if options.force_length_velocity:
        text = "1 where a fibre is shorter, longer or faster than its curves hold for (they are held at their end)"
        columns.append(Column("fibre_status", "1", text, kind=int))
    columns += [
        Column("optimization_iterations", "1", "steps of Newton's method", kind=int),
        Column(
            "optimization_residual_nm",
            "N m",
            "largest difference of muscle torques + reserve from the net torque",
            "size: never negative",
        ),
        Column("optimization_cost", "1", f"{criterion_text(options)}, with the cost of a priced reserve"),
        Column(
            "optimization_duality_gap",
            "1",
            "duality gap over the cost: how far at most the cost is above the least possible one (nil but for rounding), of the "
            "muscles that have a choice",
        ),
        Column(
            "optimization_shortfall_nm",
            "N m",
            "distance of the net torques from those that all muscles together can make (root of the sum of squares over the joints)",
            "size: never negative",
        ),
        *(
            Column(
                f"{joint}_optimality_certificate",
                "1",
                "component of the direction in which even all muscles together, within their bounds of activation, fall short of the net torques; 0 where they do not",
                MECHANICAL,
            )
            for joint in joints
        ),
    ]
    columns += [
        Column(
            f"{joint}_flexion_sign",
            "1",
            "+1 where counter-clockwise is flexion (at the ankle: dorsiflexion), -1 where it is extension: turns torques of this "
            "table, counter-clockwise positive, into those that go with its moment arms",
        )
        for joint in joints
    ]
    columns += [
        Column(
            f"{joint}_optimization_multiplier",
            "1/(N m)",
            f"change of the least cost with the net {joint} torque: with the other joints' it proves the cost to be the least (docs/muscles.md); with min_max the direction that asks for the largest ratio",
            MECHANICAL,
        )
        for joint in joints
    ]
    if options.co_contraction > 0.0:
        columns += [
            Column("co_contraction_cost", "1", "part of optimization_cost that co-contraction adds"),
            Column(
                "co_contraction_part",
                "1",
                "1 where every muscle is held as asked for; less where more would put the torque out of reach; 0 where it is anyway",
            ),
        ]
    return columns


def _force_columns(muscle: MuscleEntry, options: Muscles) -> list[Column]:
    m = muscle.name
    hill = options.force_length_velocity and muscle.fibres
    strength = "the strength at its fibre length and velocity" if hill else "its largest isometric force"
    passive = "; active and passive" if hill else ""
    columns = [
        Column(f"{m}_force_n", "N", f"force of {m}{passive}: {criterion_text(options)}", "tension positive"),
        Column(f"{m}_activation", "1", f"activation of {m}: its active force over {strength}"),
    ]
    if options.co_contraction > 0.0:
        columns.append(Column(f"{m}_min_activation", "1", f"activation at which {m} was held at least"))
    if options.ranges:
        text = f"force of {m} with which all muscles together still make the same torques, whatever the criterion"
        columns += [
            Column(f"{m}_min_force_n", "N", f"least {text}", "tension positive"),
            Column(f"{m}_max_force_n", "N", f"greatest {text}", "tension positive"),
        ]
    if muscle.length:
        columns.append(Column(f"{m}_length_m", "m", f"musculotendon length of {m}"))
    if hill:
        columns += [
            Column(
                f"{m}_strength_n", "N", f"active force of {m} if it were fully active at its fibre length and velocity"
            ),
            Column(f"{m}_passive_force_n", "N", f"part of the force of {m} that it has without activation"),
            Column(f"{m}_fibre_length", "1", f"fibre length of {m} over the optimal one"),
            Column(
                f"{m}_fibre_velocity", "1", f"fibre velocity of {m} over the fastest shortening", "lengthening positive"
            ),
        ]
    return columns


def _contact_columns(joints: Sequence[str], segments: Sequence[str]) -> list[Column]:
    sign = "proximal segment acting on distal segment"
    columns = []
    for j, joint in enumerate(joints):
        text = (
            f"force in the {joint} on the distal segment: joint reaction minus the pull of all muscles across it; "
            "empty where a line of action is not known"
        )
        columns += [Column(f"{joint}_contact_{axis}_n", "N", text, f"{sign}; {IN_PLANE}") for axis in "xy"]
        for segment in segments[max(j - 1, 0) : j + 1]:
            columns += [
                Column(
                    f"{joint}_contact_along_{segment}_n",
                    "N",
                    f"part of the force in the {joint}, on its distal segment, along the {segment}",
                    "positive presses the segments together",
                ),
                Column(
                    f"{joint}_contact_across_{segment}_n",
                    "N",
                    f"part of the force in the {joint}, on its distal segment, across the {segment}",
                    "positive towards the flexor side",
                ),
            ]
    return columns


def criterion_text(options: Muscles) -> str:
    """What the sharing keeps as small as can be, in words."""
    strength = "present strength" if options.force_length_velocity else "strength"
    over = strength if options.criterion == "activation" else "cross-section in cm^2"
    ratio = f"{'active ' if options.force_length_velocity else ''}force / {over}"
    if options.exponent == "min_max":
        return f"least largest {ratio}, then the next largest, and so on"
    return f"least sum of {'weighted ' if options.weights else ''}({ratio})^{options.exponent:g}"


TRIAL_COLUMNS = (
    Column("trial", "", "name of the trial", kind=str),
    Column("session", "", "session of the trial", kind=str),
    Column("subject", "", "subject", kind=str),
    Column("condition", "", "condition", kind=str),
    Column("chain", "", "chain", kind=str),
    Column("side", "", "side of the body", kind=str),
)
SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    Column("torque_status", "", "ok or flagged: whether the ledger has a flag on the torques of this trial", kind=str),
    Column("joint", "", "joint", kind=str),
    Column("term", "", "net torque or one of its terms", kind=str),
    Column("positive_is", "", "what a positive torque does at this joint in this trial", kind=str),
    Column("n_frames", "1", "frames that were used: known torque, not at the ends", kind=int),
    Column("used_share", "1", "share of the analysed frames that were used"),
    Column(
        "loaded_share",
        "1",
        "share of the used frames with a known external load (external_status 1), such as a measured stance",
    ),
    Column("peak_nm", "N m", "value of largest magnitude", MECHANICAL),
    Column("peak_time_s", "s", "time of the peak from the first frame of the recording"),
    Column("peak_sense", "", "what the torque does at its peak", kind=str),
    Column(
        "peak_at_gap",
        "1",
        "1 where a frame next to the peak was not used: the peak is the largest value that is known, and there may be a larger one",
        kind=int,
    ),
    Column("max_nm", "N m", "greatest value", MECHANICAL),
    Column("max_time_s", "s", "time of the greatest value from the first frame of the recording"),
    Column("min_nm", "N m", "least value", MECHANICAL),
    Column("min_time_s", "s", "time of the least value from the first frame of the recording"),
    Column("mean_nm", "N m", "mean", MECHANICAL),
    Column("rms_nm", "N m", "root mean square"),
    Column("impulse_nms", "N m s", "integral over time of the frames used", MECHANICAL),
    Column("peak_power_w", "W", "power of largest magnitude of this torque", "positive: energy into the segments"),
    Column("max_power_w", "W", "greatest power of this torque: generation", "positive: energy into the segments"),
    Column("min_power_w", "W", "least power of this torque: absorption", "positive: energy into the segments"),
    Column("positive_work_j", "J", "integral of the positive power"),
    Column("negative_work_j", "J", "integral of the negative power"),
)
MUSCLE_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    Column(
        "muscle_status",
        "",
        "ok or flagged: whether the ledger has a flag on the torques or muscle forces of this trial",
        kind=str,
    ),
    Column("muscle_set", "", "muscle set", kind=str),
    Column("criterion", "", "what the sharing keeps as small as can be", kind=str),
    Column("muscle", "", "muscle", kind=str),
    Column("strength_n", "N", "largest isometric force, scaled to the subject where that was asked for"),
    Column(
        "n_frames",
        "1",
        "frames that were used: known force, not at the ends, inside the range of moment arms and fibres",
        kind=int,
    ),
    Column("used_share", "1", "share of the analysed frames that were used"),
    Column("peak_n", "N", "largest force", "tension positive"),
    Column("peak_time_s", "s", "time of the peak from the first frame of the recording"),
    Column("peak_activation", "1", "largest activation"),
    Column("mean_n", "N", "mean force", "tension positive"),
    Column("impulse_ns", "N s", "integral of the force over the time of the frames used"),
    Column("min_impulse_ns", "N s", "integral of the least possible force"),
    Column("max_impulse_ns", "N s", "integral of the greatest possible force"),
)
FLEXION = "flexion positive: what the chain's settings call flexion of the joint (flexion_name), on both sides and in every plane"
_PERCENT = Column("percent", "%", "point of the window, from 0 at its start to 100 at its end (results/windows.csv)")
_QUANTITY = (
    Column("quantity", "", "quantity; the dictionary's table 'curves.quantity' defines each", kind=str),
    Column("unit", "", "unit of the quantity", kind=str),
    _PERCENT,
)
_GROUP_COLUMNS = (TRIAL_COLUMNS[4], TRIAL_COLUMNS[3], TRIAL_COLUMNS[5])
OF_UNIT = "as column unit"
_CURVE_SIGN = f"angles, velocities, torques: {FLEXION}; powers: energy into the segments"
CURVE_COLUMNS = (
    *TRIAL_COLUMNS,
    *_QUANTITY,
    Column(
        "value",
        OF_UNIT,
        "value of the quantity, by cubic splines of time through the frames; missing where the frames around it have none, or are at the ends (column edge)",
        _CURVE_SIGN,
    ),
)
ENSEMBLE_COLUMNS = (
    *_GROUP_COLUMNS,
    *_QUANTITY,
    Column(
        "mean",
        OF_UNIT,
        "mean of the trials, or of the subjects' means where ensembles.spread_over is subjects",
        _CURVE_SIGN,
    ),
    Column("sd", OF_UNIT, "standard deviation (n - 1) of what the mean is of; empty for one"),
    Column("n_trials", "1", "trials with a value at this point", kind=int),
    Column("n_subjects", "1", "subjects with a value at this point", kind=int),
)
WINDOW_COLUMNS = (
    *TRIAL_COLUMNS,
    Column(
        "torque_status",
        "",
        "ok, flagged or failed: whether the ledger has a flag on the torques of this trial",
        kind=str,
    ),
    Column("window", "", "what is 0 to 100 %: movement, events or trial", kind=str),
    Column("start_s", "s", "start of the window, from the first frame of the recording"),
    Column("end_s", "s", "end of the window, from the first frame of the recording"),
    Column(
        "cycle",
        "1",
        "which of the windows between events was taken (ensembles.cycle), from 1; 0 where there is none",
        kind=int,
    ),
    Column("n_cycles", "1", "how many there are in the analysed frames", kind=int),
    Column("known_share", "1", "share of the points of the curve with a known torque"),
    Column("included", "1", "1 where the trial is in curves and ensembles", kind=int),
    Column("note", "", "why a trial was left out, or which part of its curve is missing", kind=str),
)
FLEXION_SIGNED = ("peak_nm", "max_nm", "min_nm", "mean_nm", "impulse_nms")
STATISTICS = tuple(column for column in SUMMARY_COLUMNS if column.name.endswith(("_nm", "_s", "_nms", "_w", "_j")))
_OF_STATISTIC = "over the trials, or over the subjects' means where ensembles.spread_over is subjects"
_MIXED = "; empty for peaks, and times of peaks, of which some are positive and some negative"
_STATISTIC_SIGN = (
    f"torques (peak_nm, max_nm, min_nm, mean_nm, impulse_nms): {FLEXION}; power and work: energy into the segments"
)
CONDITION_SUMMARY_COLUMNS = (
    *_GROUP_COLUMNS,
    Column("joint", "", "joint", kind=str),
    Column("term", "", "net torque or one of its terms", kind=str),
    Column("statistic", "", "column of the summary that this is of", kind=str),
    Column("unit", "", "unit of the statistic", kind=str),
    Column("mean", OF_UNIT, f"mean {_OF_STATISTIC}{_MIXED}", _STATISTIC_SIGN),
    Column("sd", OF_UNIT, f"standard deviation (n - 1) {_OF_STATISTIC}{_MIXED}; empty for one"),
    Column("median", OF_UNIT, f"median {_OF_STATISTIC}{_MIXED}", _STATISTIC_SIGN),
    Column("min", OF_UNIT, f"least value {_OF_STATISTIC}; of the trials where the mean is empty", _STATISTIC_SIGN),
    Column("max", OF_UNIT, f"greatest value {_OF_STATISTIC}; of the trials where the mean is empty", _STATISTIC_SIGN),
    Column("n_trials", "1", "trials with a value", kind=int),
    Column("n_subjects", "1", "subjects with a value", kind=int),
    Column(
        "min_used_share",
        "1",
        "least share of a trial's frames that its value is of: trials of unlike shares do not compare",
    ),
    Column("max_used_share", "1", "largest such share"),
    Column(
        "n_unloaded",
        "1",
        "further trials of the group, left out here, that have no known external load in any frame where others have one: their stance was not measured",
        kind=int,
    ),
)


def curve_columns(joints: Sequence[Joint], *, per_body_mass: bool) -> list[Column]:
    """Quantities of `results/curves` and `results/ensembles.csv`.

    Parameters
    ----------
    joints : sequence of Joint
        Joints of the chain, proximal first.
    per_body_mass : bool
        Torques and powers over body mass: their names and units end so.
    """
    names = [joint.name for joint in joints]
    over, ending = (" over body mass", "_kg") if per_body_mass else ("", "")
    columns = []
    for joint in joints:
        sign, name = f"{joint.flexion_name} positive", joint.name
        columns += [
            Column(f"{name}_flexion_deg", "deg", f"{joint.flexion_name} angle of the {name}", sign),
            Column(f"{name}_velocity_deg_s", "deg/s", f"angular velocity of the {name}", sign),
        ]
        net = Column(f"{name}_torque_nm", "N m", f"net {name} torque: the sum of its terms")
        columns += [
            Column(f"{c.name}{ending}", f"{c.unit}{ending.replace('_', '/')}", f"{c.definition}{over}", sign)
            for c in (net, *term_columns(name, names))
        ]
        text = f"power of the net {name} torque: torque times angular velocity{over}"
        unit = f"W{ending.replace('_', '/')}"
        columns.append(Column(f"{name}_power_w{ending}", unit, text, "positive: energy into the segments"))
    return columns


def wide_columns(joints: Sequence[str]) -> list[Column]:
    """Columns `<joint>_<term>_<statistic>` of the workbook's sheet of trials.

    Parameters
    ----------
    joints : sequence of str
        Joints of a chain, proximal first.
    """
    columns = []
    for joint in joints:
        prefix, terms = f"{joint}_torque_", {"net": f"{joint}: net torque"}
        terms |= {c.name.removeprefix(prefix).removesuffix("_nm"): c.definition for c in term_columns(joint, joints)}
        for term, text in terms.items():
            columns += [
                Column(
                    f"{joint}_{term}_{statistic.name}",
                    statistic.unit,
                    f"{statistic.definition}; {text}",
                    FLEXION if statistic.name in FLEXION_SIGNED else statistic.sign,
                )
                for statistic in STATISTICS
            ]
    return columns


LEDGER_COLUMNS = (
    *TRIAL_COLUMNS,
    Column("file", "", "recording, as in the table of trials", kind=str),
    Column("forces_file", "", "second file, with the force plates; empty where there is none", kind=str),
    Column("status", "", "ok, flagged or failed", kind=str),
    Column("torque_status", "", "status of the kinematics and torques alone", kind=str),
    Column(
        "muscle_status",
        "",
        "status of the muscle forces alone, which need the torques too; none where they were not asked for",
        kind=str,
    ),
    Column("reason", "", "kind of failure, or names of the flags", kind=str),
    Column("message", "", "what was found and what to do about it", kind=str),
    *(Column(name, unit, text) for name, unit, text in FIGURES),
    *(Column(check.name, check.unit, check.definition) for check in CHECKS),
    Column("plane", "", "plane of motion as the body sees it: sagittal, horizontal or oblique", kind=str),
    Column("input_sha256", "", "hash of the recording", kind=str),
    Column("forces_sha256", "", "hash of the second file", kind=str),
    Column("guesses", "", "what had to be guessed about the recording; reading.strict makes these errors", kind=str),
    Column("notes", "", "what was found and decided on the way", kind=str),
)
DICTIONARY_COLUMNS = (
    Column("table", "", "table the column belongs to", kind=str),
    Column("column", "", "name of the column", kind=str),
    Column("unit", "", "unit", kind=str),
    Column("definition", "", "what it is", kind=str),
    Column("sign", "", "what positive means", kind=str),
)
WORKBOOK_DICTIONARY_COLUMNS = DICTIONARY_COLUMNS[1:]
PIECE_ROWS = 2000  # of a table that is written piece by piece
_ARROW_TYPES = {float: pa.float64(), int: pa.int64(), str: pa.string()}


def make_table(columns: Sequence[Column], values: Mapping[str, Any]) -> pa.Table:
    """Table of exactly these columns, with their units and definitions in the metadata.

    Parameters
    ----------
    columns : sequence of Column
        Columns, in order.
    values : mapping of str to array_like
        Values of each column.

    Returns
    -------
    pyarrow.Table
        The table.

    Raises
    ------
    ValueError
        A column without values, or values without a column.
    """
    names = [column.name for column in columns]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice or set(names) != set(values):
        raise ValueError(f"columns that are there twice: {twice}; without values: {sorted(set(names) ^ set(values))}")
    return pa.Table.from_arrays([_array(values[c.name], c.kind) for c in columns], schema=_schema(tuple(columns)))


@functools.lru_cache(maxsize=64)
def _schema(columns: tuple[Column, ...]) -> pa.Schema:
    return pa.schema(
        pa.field(c.name, _ARROW_TYPES[c.kind], metadata={"unit": c.unit, "definition": c.definition, "sign": c.sign})
        for c in columns
    )


def _array(values: Any, kind: type) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    found = _values(values, kind)
    if kind is str:
        return pa.array(found, type=_ARROW_TYPES[kind])
    if found.ndim != 1:
        raise ValueError(f"a column has one dimension, not {found.ndim}")
    # the same as pa.array, which would import pandas for it: half the time that a job takes to start
    return pa.Array.from_buffers(_ARROW_TYPES[kind], len(found), [None, pa.py_buffer(np.ascontiguousarray(found))])


def _values(values: Any, kind: type) -> Any:
    """Values of a column in its type; a minus zero becomes a zero."""
    if kind is str:
        return list(values)
    array: np.ndarray[Any, Any] = np.asarray(values, dtype=kind)
    return array + 0.0 if kind is float else array


def empty_table(columns: Sequence[Column]) -> pa.Table:
    """Table without rows, for a trial that failed."""
    return make_table(columns, {column.name: [] for column in columns})


def write_table(table: pa.Table, path: Path, *, record: TrialRecord | None = None) -> None:
    """Write a table as its suffix says: .parquet, .csv or .sto; the same table gives the same bytes.

    Missing numbers are empty cells in CSV and NaN in Parquet and STO. A record is stored in Parquet only.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        text = "{}" if record is None else record.to_json()
        table = table.replace_schema_metadata({META_KEY: text.encode()})
        pyarrow.parquet.write_table(table, path, compression="snappy", use_dictionary=False)
        return
    if path.suffix == ".sto":
        write_sto(table, path)
        return
    with _csv_writer(path, table.schema) as writer:
        writer.write_table(_blank(table))


@contextmanager
def csv_pieces(path: Path, columns: Sequence[Column]) -> Iterator[Callable[[Sequence[Mapping[str, Any]]], None]]:
    """Write a CSV table piece by piece; the same bytes as of `write_table` of the whole.

    Parameters
    ----------
    path : Path
        File to write.
    columns : sequence of Column
        Its columns.

    Yields
    ------
    callable
        Writes rows, each a mapping with a value for every column.
    """
    path.parent.mkdir(parents=True, exist_ok=True)

    waiting: list[Mapping[str, Any]] = []

    def flush() -> None:
        if waiting:
            writer.write_table(_blank(table_of_rows(columns, waiting)))
            waiting.clear()

    def write(rows: Sequence[Mapping[str, Any]]) -> None:
        waiting.extend(rows)
        if len(waiting) >= PIECE_ROWS:
            flush()

    with _csv_writer(path, _schema(tuple(columns))) as writer:
        yield write
        flush()


def table_of_rows(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Table of rows, each a mapping with a value for every column."""
    return make_table(columns, {column.name: [row[column.name] for row in rows] for column in columns})


def _csv_writer(path: Path, schema: pa.Schema) -> pyarrow.csv.CSVWriter:
    options = pyarrow.csv.WriteOptions(quoting_style="needed")
    return pyarrow.csv.CSVWriter(path, schema.remove_metadata(), write_options=options)


def _blank(table: pa.Table) -> pa.Table:
    """Table whose missing numbers are null, which CSV leaves empty."""
    columns = [_nan_to_null(column) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema.remove_metadata())


def long_table_writer(path: Path, columns: Sequence[Column]) -> pyarrow.parquet.ParquetWriter:
    """Writer of a Parquet table that is written piece by piece; what repeats in it costs next to nothing.

    Parameters
    ----------
    path : Path
        File to write.
    columns : sequence of Column
        Its columns; `write_table` of the writer takes pieces that `make_table` made of them.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    repeated = [column.name for column in columns if column.name != "value"]
    schema = make_table(columns, {column.name: [] for column in columns}).schema
    return pyarrow.parquet.ParquetWriter(path, schema, compression="zstd", use_dictionary=repeated)


def _nan_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type):
        return column
    values = np.from_dlpack(column.combine_chunks())
    known = pa.py_buffer(np.packbits(~np.isnan(values), bitorder="little"))
    return pa.chunked_array(
        [pa.Array.from_buffers(column.type, len(values), [known, pa.py_buffer(np.ascontiguousarray(values))])]
    )


def read_table(
    path: Path, *, columns: Sequence[str] | Callable[[str], bool] | None = None
) -> tuple[pa.Table, TrialRecord]:
    """Read a Parquet table and the record of its trial.

    Parameters
    ----------
    path : Path
        A file that `write_table` wrote.
    columns : sequence of str or callable, optional
        Only these columns, or those for whose names it returns True.

    Returns
    -------
    table : pyarrow.Table
        The table.
    record : TrialRecord
        The record it was written with; an empty one in tables that are not of one trial.
    """
    with pyarrow.parquet.ParquetFile(path) as file:
        wanted = list(filter(columns, file.schema_arrow.names)) if callable(columns) else columns
        table = file.read(columns=wanted, use_threads=False)
    return table, _record(table.schema)


def read_record(path: Path) -> TrialRecord:
    """Read the record of a trial from its Parquet table, without the rows."""
    return _record(pyarrow.parquet.read_schema(path))


def _record(schema: pa.Schema) -> TrialRecord:
    return TrialRecord.from_json((schema.metadata or {}).get(META_KEY, b"{}"))


def column_array(table: pa.Table, *names: str) -> np.ndarray:
    """Columns of a table side by side as floats, shape (n_rows, n_names)."""
    return np.column_stack([column_values(table, name) for name in names]).astype(float)


def column_values(table: pa.Table, name: str) -> np.ndarray:
    """Numbers of a column, shape (n_rows,); the same as its `to_numpy`, which would import pandas for it."""
    return np.from_dlpack(table.column(name).combine_chunks())
