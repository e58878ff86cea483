"""Columns of `results/muscles`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbtorque.study.settings import Muscles
from limbtorque.tables.column import FRAME_COLUMNS, IN_PLANE, MECHANICAL, Column


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
