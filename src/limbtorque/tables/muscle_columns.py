"""Columns of the tables of muscles, and of electromyography beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from limbtorque.study.options.muscles import Muscles
from limbtorque.tables.column import (
    FRAME_COLUMNS,
    IN_PLANE,
    MECHANICAL,
    MUSCLE_STATUS,
    TRIAL_COLUMNS,
    Column,
    xy_columns,
)
from limbtorque.tables.study_columns import WINDOW

TENSION = "tension positive"
NEVER_NEGATIVE = "magnitude: never negative"
PASSIVE_TEXT = {
    "riener_edrich": "ligaments, capsule and relaxed muscles (Riener and Edrich 1999)",
    "anderson": "ligaments (Anderson 1999)",
}


@dataclass(frozen=True)
class MuscleEntry:
    """A muscle of the table.

    Attributes
    ----------
    name : str
        Name of the muscle.
    joints : tuple of str
        Joints of the chain at which it has a moment arm.
    length : bool
        Its musculotendon length is known.
    fibres : bool
        The parameters of its fibres are known, too.
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
    columns = [*FRAME_COLUMNS, *_status_columns(options), *_optimization_columns(joints, options)]
    for muscle in muscles:
        columns += _force_columns(muscle, options)
    for joint in joints:
        columns += _joint_columns(joint, [muscle.name for muscle in muscles if joint in muscle.joints], options)
    return [*columns, *(_contact_columns(joints, segments, options) if options.contact_forces else ())]


def _status_columns(options: Muscles) -> Iterator[Column]:
    yield Column(
        "optimization_status",
        "1",
        "0 the muscles, within muscles.activation_bounds, can produce the whole torque; 1 they cannot, or the moment arms of a "
        "joint are unknown: see reserve and shortfall; 2 the torque is unknown; 3 no static optimization passed its optimality "
        "certificate",
        kind=int,
    )
    text = "1 where a joint is outside the range of its moment-arm data (moment arms are held at the end of the range)"
    yield Column("moment_arm_status", "1", text, kind=int)
    if options.force_length_velocity:
        text = "1 where a fibre is outside the range of its curves (values are held at the end of the range)"
        yield Column("fibre_status", "1", text, kind=int)
    if options.tendon == "compliant":
        text = "number of optimizations, each with the tendons' stretch of the one before (docs/muscles.md)"
        yield Column("tendon_iterations", "1", text, kind=int)
        text = "largest change of an activation in the last of them; the criterion is met to this"
        yield Column("tendon_activation_change", "1", text, NEVER_NEGATIVE)


def _optimization_columns(joints: Sequence[str], options: Muscles) -> Iterator[Column]:
    yield Column("optimization_iterations", "1", "number of Newton iterations", kind=int)
    text = "largest difference between the net torque and the sum of muscle torques and reserve"
    yield Column("optimization_residual_nm", "N m", text, NEVER_NEGATIVE)
    cost = "sum of ((force - passive force) / criterion unit)^p" if _has_units(options) else criterion_text(options)
    yield Column("optimization_cost", "1", f"{cost}, plus the cost of the reserve (muscles.reserve: a number)")
    yield Column(
        "optimization_duality_gap",
        "1",
        "duality gap relative to the cost: upper bound of the excess of the cost over its minimum (zero but for rounding), for the "
        "muscles with a choice",
    )
    text = "distance of the net torques from those that the muscles can produce (root of the sum of squares over the joints)"
    yield Column("optimization_shortfall_nm", "N m", text, NEVER_NEGATIVE)
    text = (
        "component of the direction in which all muscles together, within muscles.activation_bounds, fall short of the net "
        "torques; 0 where they do not"
    )
    yield from (Column(f"{joint}_optimality_certificate", "1", text, MECHANICAL) for joint in joints)
    text = (
        "+1 where counter-clockwise is flexion (ankle: dorsiflexion), -1 where it is extension; converts torques of this table "
        "to the sign of its moment arms"
    )
    yield from (Column(f"{joint}_flexion_sign", "1", text) for joint in joints)
    for joint in joints:
        text = (
            f"derivative of the minimum cost with respect to the net {joint} torque; together with those of the other joints it "
            "proves that the cost is minimal (docs/muscles.md); with min_max the direction that demands the largest ratio"
        )
        yield Column(f"{joint}_optimization_multiplier", "1/(N m)", text, MECHANICAL)
    if options.co_contraction > 0.0:
        yield Column("co_contraction_cost", "1", "part of optimization_cost added by muscles.co_contraction")
        text = (
            "1 where every muscle has the requested minimum activation; less where the full minimum would make the torque "
            "unreachable; 0 where it is unreachable without co-contraction, too"
        )
        yield Column("co_contraction_part", "1", text)


def _force_columns(muscle: MuscleEntry, options: Muscles) -> Iterator[Column]:
    m = muscle.name
    hill = options.force_length_velocity and muscle.fibres
    stretched = hill and options.tendon == "compliant"
    strength = "its strength at the present fibre length and velocity" if hill else "its maximum isometric force"
    both = "; active and passive" if hill else ""
    yield Column(f"{m}_force_n", "N", f"force of {m}{both}: {criterion_text(options)}", TENSION)
    text = "its fibres are in equilibrium with the tendon" if stretched else f"active force relative to {strength}"
    yield Column(f"{m}_activation", "1", f"activation of {m}: {text}")
    if options.co_contraction > 0.0:
        yield Column(f"{m}_min_activation", "1", f"minimum activation of {m} required by muscles.co_contraction")
    if options.ranges:
        text = f"possible force of {m} with which the muscles produce the same torques, for any criterion"
        yield Column(f"{m}_min_force_n", "N", f"minimum {text}", TENSION)
        yield Column(f"{m}_max_force_n", "N", f"maximum {text}", TENSION)
    if muscle.length:
        yield Column(f"{m}_length_m", "m", f"musculotendon length of {m}")
    if hill:
        if stretched:
            text = f"force of {m} at full activation, in equilibrium with its tendon, less its passive force"
        else:
            text = f"active force of {m} at full activation, at the present fibre length and velocity"
        yield Column(f"{m}_strength_n", "N", text)
        at_rest = " at no activation, in equilibrium with its tendon" if stretched else ""
        yield Column(f"{m}_passive_force_n", "N", f"passive force of {m}{at_rest}")
        yield Column(f"{m}_fibre_length", "1", f"fibre length of {m} relative to the optimal one")
        text = f"fibre velocity of {m} relative to the maximum shortening velocity"
        yield Column(f"{m}_fibre_velocity", "1", text, "lengthening positive")
    if stretched:
        text = f"length of the tendon of {m} relative to its slack length, less 1"
        yield Column(f"{m}_tendon_strain", "1", text, "lengthening positive")
        if _has_units(options):
            text = f"force of {m} beyond its passive one that counts as 1 in the criterion"
            yield Column(f"{m}_criterion_unit_n", "N", text)


def _has_units(options: Muscles) -> bool:
    """Return True where each force has its own unit in the criterion."""
    return options.tendon == "compliant" and options.criterion == "activation"


def _joint_columns(joint: str, muscles: Sequence[str], options: Muscles) -> Iterator[Column]:
    for m in muscles:
        text = f"moment arm of {m} at the {joint}"
        yield Column(f"{joint}_moment_arm_{m}_m", "m", text, "positive: tension flexes the joint")
    for m in muscles:
        text = f"{joint} torque of {m}: moment arm times force"
        yield Column(f"{joint}_torque_muscle_{m}_nm", "N m", text, MECHANICAL)
    others = "the muscle torques"
    if options.passive_moments != "none":
        text = f"passive torque of the {joint}: {PASSIVE_TEXT[options.passive_moments]}; not scaled to the subject"
        yield Column(f"{joint}_torque_passive_nm", "N m", text, MECHANICAL)
        others = "the muscle and passive torques"
    text = (
        f"part of the net {joint} torque that no muscle of the set produces; with {others} it adds up to the net torque"
    )
    yield Column(f"{joint}_torque_reserve_nm", "N m", text, MECHANICAL)


def _contact_columns(joints: Sequence[str], segments: Sequence[str], options: Muscles) -> Iterator[Column]:
    for j, joint in enumerate(joints):
        text = (
            f"contact force in the {joint} on the distal segment: joint reaction minus the force of all muscles that cross it; "
            "empty where a line of action is unknown"
        )
        sign = f"proximal segment acting on distal segment; {IN_PLANE}"
        yield from xy_columns(f"{joint}_contact", "n", "N", text, sign)
        part = f"contact force in the {joint} on its distal segment, component"
        for segment in segments[max(j - 1, 0) : j + 1]:
            name = f"{joint}_contact_{{}}_{segment}_n"
            yield Column(name.format("along"), "N", f"{part} along the {segment}", "positive: compression of the joint")
            text = f"{part} across the {segment}"
            yield Column(name.format("across"), "N", text, "positive towards the flexor side")
        yield Column(f"{joint}_contact_bw", "1", f"contact force in the {joint} over body weight", NEVER_NEGATIVE)
        text = f"direction of the contact force in the {joint} against the axis of the {segments[j]}"
        yield Column(
            f"{joint}_contact_direction_deg", "deg", text, "0 pure compression; positive towards the flexor side"
        )
        if options.ranges:
            yield from _contact_range_columns(joint, segments[j], options)


def _contact_range_columns(joint: str, segment: str, options: Muscles) -> Iterator[Column]:
    limit = f"up to {options.contact_effort:g} times the least largest one, or {options.contact_rest:g},"
    for name, activations in (("", "any activations"), ("_effort", f"activations {limit}")):
        same = f"with {activations} that make the same torques, over body weight"
        for bound, word in (("min", "least"), ("max", "greatest")):
            text = f"{word} contact force in the {joint} {same}; bound (docs/muscles.md)"
            yield Column(f"{joint}{name}_{bound}_contact_bw", "1", text, NEVER_NEGATIVE)
            text = f"{word} component along the {segment} of the contact force in the {joint} {same}"
            sign = "positive: compression of the joint"
            yield Column(f"{joint}{name}_{bound}_contact_along_{segment}_bw", "1", text, sign)


def criterion_text(options: Muscles) -> str:
    """Criterion of static optimization in words.

    Examples
    --------
    >>> criterion_text(Muscles())
    'minimum sum of (force / strength)^2'
    >>> criterion_text(Muscles(criterion="volume", change_time_s=0.05))
    'minimum sum of volume-weighted (force / strength)^2, plus that of 0.05 s times its rate'
    """
    strength = "present strength" if options.force_length_velocity else "strength"
    over = "cross-section in cm^2" if options.criterion == "stress" else strength
    ratio = f"{'active ' if options.force_length_velocity else ''}force / {over}"
    ratio = "activation" if _has_units(options) else ratio
    if options.exponent == "min_max":
        return f"minimum of the largest {ratio}, then of the next largest, and so on"
    weighted = "weighted " if options.weights else ""
    weighted += "volume-weighted " if options.criterion == "volume" else ""
    change = f", plus that of {options.change_time_s:g} s times its rate" if options.change_time_s > 0.0 else ""
    emg = (
        f", plus {options.emg_weight:g} times that of its distance from the envelope"
        if options.emg_weight > 0.0
        else ""
    )
    return f"minimum sum of {weighted}({ratio})^{options.exponent:g}{change}{emg}"


METHOD_TEXTS = {
    "hodges_bui": "threshold of Hodges and Bui (1996)",
    "bonato": "double threshold of Bonato et al. (1998)",
}
_MUSCLE = Column("muscle", "", "muscle", kind=str)
_AGREEMENT = (
    Column("r", "1", "correlation of activation and envelope at emg.delay_s; empty where they were not compared"),
    Column("rms", "1", "root mean square difference of activation and envelope"),
    Column("scaled_rms", "1", "root mean square difference of the activation and scale times the envelope"),
    Column(
        "lag_s",
        "s",
        "shift with the largest correlation; empty where it is the largest shift tried (0.15 s), which is no lag",
        "positive: activation after the delayed envelope",
    ),
    Column("lag_r", "1", "correlation at that shift"),
)
_SCALE = Column("scale", "1", "factor of the envelope with the smallest difference, at least 0")
_NEIGHBOUR_R = Column("neighbour_r", "1", "largest correlation of the activation with another muscle's envelope")
EMG_AGREEMENT = (*_AGREEMENT, _SCALE, _NEIGHBOUR_R)  # empty where the muscle forces are rejected


def envelope_columns(muscles: Sequence[str]) -> Iterator[Column]:
    """Columns of a trial's table, for the muscles of its channels."""
    for muscle in muscles:
        text = f"normalised envelope of the electromyogram of {muscle}, later by emg.delay_s; empty without samples"
        yield Column(f"{muscle}_envelope", "1", text)
        for method, by in METHOD_TEXTS.items():
            text = f"1 where the electromyogram of {muscle} is active by the {by}, 0 where not, without delay"
            yield Column(f"{muscle}_active_{method}", "1", text)


EMG_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    MUSCLE_STATUS,
    WINDOW,
    _MUSCLE,
    Column("channel", "", "channels of the muscle", kind=str),
    Column("unit", "", "unit of the channels; empty where unknown", kind=str),
    Column(
        "faults",
        "",
        "faults of the channels: missing, dead, clipped, mains, artefact, negative, copy; no channel",
        kind=str,
    ),
    Column("normalised_by", "", "origin of the envelope's 1: own peak, or maximal trial", kind=str),
    Column(
        "rms_uv", "uV", "root mean square of the band-passed signal over the recording; empty where the unit is unknown"
    ),
    Column("mean_envelope", "1", "mean of the normalised envelope"),
    Column("peak_envelope", "1", "peak of the normalised envelope"),
    *(
        column
        for method, by in METHOD_TEXTS.items()
        for column in (
            Column(f"onset_{method}_s", "s", f"first active frame of the longest burst by the {by}"),
            Column(f"offset_{method}_s", "s", "last active frame of that burst"),
            Column(f"active_share_{method}", "1", f"share of the frames that are active by the {by}"),
        )
    ),
    Column("used_share", "1", "share of the window's frames with activation and envelope; 0 without an activation"),
    Column(
        "not_compared",
        "",
        "reason for an empty r: faults of the channels, no activation, used_share below ensembles.min_known_share, too few "
        "frames or a constant, rejected; empty where r is given",
        kind=str,
    ),
    *_AGREEMENT[:2],
    _SCALE,
    *_AGREEMENT[2:],
    Column("neighbour", "", "other muscle whose envelope the activation follows most", kind=str),
    _NEIGHBOUR_R,
)
EMG_BY_MUSCLE_COLUMNS = (
    TRIAL_COLUMNS[4],
    WINDOW,
    _MUSCLE,
    Column("n_subjects", "1", "number of subjects with a correlation", kind=int),
    Column("n_trials", "1", "number of trials with a correlation", kind=int),
    Column("n_left_out", "1", "number of trials without; not_compared in emg_summary says why", kind=int),
    *(
        Column(
            column.name,
            column.unit,
            f"median over subjects of their median over trials: {column.definition}",
            column.sign,
        )
        for column in (*_AGREEMENT, _NEIGHBOUR_R)
    ),
    Column("min_r", "1", "smallest subject's r"),
    Column("max_r", "1", "largest subject's r"),
    Column("own_best_share", "1", "share of the trials in which r is above neighbour_r"),
)
EMG_CO_CONTRACTION_COLUMNS = (
    *TRIAL_COLUMNS,
    WINDOW,
    Column("first", "", "muscle", kind=str),
    Column("second", "", "its antagonist", kind=str),
    Column(
        "falconer_winter",
        "1",
        "co-contraction index of Falconer and Winter (1985), 0 to 1; empty for a channel with a fault, and for muscles normalised differently",
    ),
    Column(
        "rudolph",
        "1",
        "co-contraction index of Rudolph et al. (2000), 0 to 2; empty for a channel with a fault, and for muscles normalised differently",
    ),
)
