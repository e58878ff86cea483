"""Columns of the muscle tables, with electromyography."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from limbtorque.study.options.muscles import Muscles
from limbtorque.tables.column import (
    FRAME_COLUMNS,
    GROUP_COLUMNS,
    IN_PLANE,
    MECHANICAL,
    MUSCLE_STATUS,
    TRIAL_COLUMNS,
    Column,
    columns,
)
from limbtorque.tables.study_columns import WINDOW

TENSION = "tension positive"
NEVER_NEGATIVE = "magnitude: never negative"
COMPRESSION = "positive: compression of the joint"
FLEXOR_SIDE = "positive towards the flexor side"
PASSIVE_TEXT = {
    "riener_edrich": "ligaments, capsule and relaxed muscles (Riener and Edrich 1999)",
    "anderson": "ligaments (Anderson 1999)",
}
# second range of the contact forces: over the least largest activation that makes the torques
CONTACT_EFFORT = 1.25
CONTACT_REST = 0.05  # activation that this range always allows: muscles are seldom silent
Entries = dict[str, str | tuple[str, str]]


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
    entries = _optimization(joints, options)
    for muscle in muscles:
        entries |= _forces(muscle, options)
    for joint in joints:
        entries |= _torques(joint, [muscle.name for muscle in muscles if joint in muscle.joints], options)
    if options.contact_forces:
        entries |= _contact(joints, segments, options)
    return [*FRAME_COLUMNS, *columns(entries)]


def _optimization(joints: Sequence[str], options: Muscles) -> Entries:
    entries: Entries = {
        "optimization_status:count": "0 the muscles, within muscles.activation_bounds, can produce the whole torque; 1 they cannot, or the "
        "moment arms of a joint are unknown: see reserve and shortfall; 2 the torque is unknown; 3 no static optimization passed its "
        "optimality certificate",
        "moment_arm_status:count": "1 where a joint is outside the range of its moment-arm data (moment arms are held at the end of the "
        "range)",
    }
    if options.force_length_velocity:
        text = "1 where a fibre is outside the range of its curves (values are held at the end of the range)"
        entries["fibre_status:count"] = text
    if options.tendon == "compliant":
        change = "largest change of an activation in the last optimization; accuracy of the minimum"
        entries |= {
            "tendon_iterations:count": "number of optimizations, each with the tendon stretch of the previous one (docs/muscles.md)",
            "tendon_activation_change": (change, NEVER_NEGATIVE),
        }
    units = f"sum of {_weighted(options)}((force - passive force) / criterion unit)^p"
    cost = units if _has_units(options) else criterion_text(options)
    residual = "largest difference between the net torque and the sum of muscle torques and reserve"
    shortfall = "distance of the net torques from the nearest torques that the muscles can produce (root of the sum of squares over the joints)"
    entries |= {
        "optimization_iterations:count": "number of Newton iterations",
        "optimization_residual_nm": (residual, NEVER_NEGATIVE),
        "optimization_cost": cost,
        "optimization_duality_gap": "duality gap relative to the cost: upper bound of the excess of the cost over its minimum (zero but for "
        "rounding), for the muscles with a choice",
        "optimization_shortfall_nm": (shortfall, NEVER_NEGATIVE),
    }
    text = (
        "component of the direction in which the muscles, within muscles.activation_bounds, cannot produce the net "
        "torques; 0 where they can"
    )
    entries |= {f"{joint}_optimality_certificate": (text, MECHANICAL) for joint in joints}
    text = (
        "+1 where counter-clockwise is flexion (ankle: dorsiflexion), -1 where it is extension; converts torques of this table "
        "to the sign of the moment arms"
    )
    entries |= {f"{joint}_flexion_sign": text for joint in joints}
    for joint in joints:
        text = (
            f"derivative of the minimum cost with respect to the net {joint} torque; together with those of the other joints it "
            "proves that the cost is minimal (docs/muscles.md); with min_max, the direction that requires the largest ratio"
        )
        entries[f"{joint}_optimization_multiplier"] = (text, MECHANICAL)
    return entries


def _forces(muscle: MuscleEntry, options: Muscles) -> Entries:
    m = muscle.name
    hill = options.force_length_velocity and muscle.fibres
    stretched = hill and options.tendon == "compliant"
    strength = "its strength at the present fibre length and velocity" if hill else "its maximum isometric force"
    state = "its fibres are in equilibrium with the tendon" if stretched else f"active force relative to {strength}"
    entries: Entries = {
        f"{m}_force_n": (f"force of {m}{'; active and passive' if hill else ''}: {criterion_text(options)}", TENSION),
        f"{m}_activation": f"activation of {m}: {state}",
    }
    if options.ranges:
        text = f"possible force of {m} at the same torques, for any criterion"
        entries |= {f"{m}_{bound}_force_n": (f"{bound}imum {text}", TENSION) for bound in ("min", "max")}
    if muscle.length:
        entries[f"{m}_length_m"] = f"musculotendon length of {m}"
    if hill:
        full = (
            f"force of {m} at full activation, in equilibrium with its tendon, less its passive force"
            if stretched
            else f"active force of {m} at full activation, at the present fibre length and velocity"
        )
        at_rest = " at no activation, in equilibrium with its tendon" if stretched else ""
        velocity = f"fibre velocity of {m} relative to the maximum shortening velocity"
        entries |= {
            f"{m}_strength_n": full,
            f"{m}_passive_force_n": f"passive force of {m}{at_rest}",
            f"{m}_fibre_length": f"fibre length of {m} relative to the optimal one",
            f"{m}_fibre_velocity": (velocity, "lengthening positive"),
        }
    if stretched:
        text = f"length of the tendon of {m} relative to its slack length, less 1"
        entries[f"{m}_tendon_strain"] = (text, "lengthening positive")
        if _has_units(options):
            text = f"force of {m} above its passive force that counts as 1 in the criterion"
            entries[f"{m}_criterion_unit_n"] = text
    return entries


def _has_units(options: Muscles) -> bool:
    """Return True if every force has an individual unit in the criterion."""
    return options.tendon == "compliant" and options.criterion != "stress"


def _torques(joint: str, muscles: Sequence[str], options: Muscles) -> Entries:
    arms, flexes = f"{joint}_moment_arm_{{}}_m", "positive: tension flexes the joint"
    entries: Entries = {arms.format(m): (f"moment arm of {m} at the {joint}", flexes) for m in muscles}
    for m in muscles:
        entries[f"{joint}_torque_muscle_{m}_nm"] = (f"{joint} torque of {m}: moment arm times force", MECHANICAL)
    others = "the muscle torques"
    if options.passive_moments != "none":
        text = f"passive torque of the {joint}: {PASSIVE_TEXT[options.passive_moments]}; not scaled to the subject"
        entries[f"{joint}_torque_passive_nm"] = (text, MECHANICAL)
        others = "the muscle and passive torques"
    text = f"part of the net {joint} torque that no muscle of the set produces; with {others} it sums to the net torque"
    return {**entries, f"{joint}_torque_reserve_nm": (text, MECHANICAL)}


def _contact(joints: Sequence[str], segments: Sequence[str], options: Muscles) -> Entries:
    entries: Entries = {}
    limit = f"up to {CONTACT_EFFORT:g} times the least largest one, or {CONTACT_REST:g},"
    for j, joint in enumerate(joints):
        text = (
            f"contact force in the {joint} on the distal segment: joint reaction minus the force of all muscles that cross it; "
            "empty where a line of action is unknown"
        )
        entries[f"{joint}_contact_*_n"] = (text, f"proximal segment acting on distal segment; {IN_PLANE}")
        part = f"contact force in the {joint} on its distal segment, component"
        for segment in segments[max(j - 1, 0) : j + 1]:
            entries |= {
                f"{joint}_contact_along_{segment}_n": (f"{part} along the {segment}", COMPRESSION),
                f"{joint}_contact_across_{segment}_n": (f"{part} across the {segment}", FLEXOR_SIDE),
            }
        text = f"direction of the contact force in the {joint} against the axis of the {segments[j]}"
        entries |= {
            f"{joint}_contact_bw": (f"contact force in the {joint} relative to body weight", NEVER_NEGATIVE),
            f"{joint}_contact_direction_deg": (text, f"0 pure compression; {FLEXOR_SIDE}"),
        }
        kinds = {"": "any activations", "_effort": f"activations {limit}"} if options.ranges else {}
        for name, activations in kinds.items():
            same = f"with {activations} that produce the same torques, relative to body weight"
            for bound, word in (("min", "least"), ("max", "greatest")):
                size = f"{word} contact force in the {joint} {same}; bound (docs/muscles.md)"
                along = f"{word} component along the {segments[j]} of the contact force in the {joint} {same}"
                entries |= {
                    f"{joint}{name}_{bound}_contact_bw": (size, NEVER_NEGATIVE),
                    f"{joint}{name}_{bound}_contact_along_{segments[j]}_bw": (along, COMPRESSION),
                }
    return entries


def _weighted(options: Muscles) -> str:
    """Weights of a criterion in words, with a space; empty if there are none."""
    return ("weighted " if options.weights else "") + ("volume-weighted " if options.criterion == "volume" else "")


def criterion_text(options: Muscles) -> str:
    """Criterion of static optimization in words.

    Examples
    --------
    >>> criterion_text(Muscles())
    'minimum sum of (force / strength)^2'
    >>> criterion_text(Muscles(criterion="volume"))
    'minimum sum of volume-weighted (force / strength)^2'
    """
    strength = "present strength" if options.force_length_velocity else "strength"
    over = "cross-section in cm^2" if options.criterion == "stress" else strength
    ratio = f"{'active ' if options.force_length_velocity else ''}force / {over}"
    ratio = "activation" if _has_units(options) else ratio
    if options.exponent == "min_max":
        return f"minimum of the largest {ratio}, then of the next largest, and so on"
    emg = (
        f", plus {options.emg_weight:g} times that of its distance from the envelope"
        if options.emg_weight > 0.0
        else ""
    )
    return f"minimum sum of {_weighted(options)}({ratio})^{options.exponent:g}{emg}"


METHOD_TEXTS = {
    "hodges_bui": "threshold of Hodges and Bui (1996)",
    "bonato": "double threshold of Bonato et al. (1998)",
}
_LAG = "shift with the largest correlation; empty at the limit of the search (0.15 s)"
_AGREEMENT = columns(
    {
        "r": "correlation of activation and envelope at emg.delay_s; empty where they were not compared",
        "rms": "root mean square difference of activation and envelope",
        "scaled_rms": "root mean square difference of the activation and scale times the envelope",
        "lag_s": (_LAG, "positive: activation later than the delayed envelope"),
        "lag_r": "correlation at that shift",
        "neighbour_r": "largest correlation of the activation with another muscle's envelope",
    }
)
_SCALE, *_NEIGHBOUR = columns(
    {
        "scale": "factor of the envelope with the smallest difference, at least 0",
        "neighbour:text": "other muscle whose envelope correlates best with the activation",
    }
)
EMG_AGREEMENT = (*_AGREEMENT, _SCALE)  # empty where the muscle forces are rejected
_MUSCLE = columns({"muscle:text": "muscle"})


def envelope_columns(muscles: Sequence[str]) -> tuple[Column, ...]:
    """Columns of a trial's table, for the muscles of its channels."""
    entries = {}
    for muscle in muscles:
        text = f"normalised EMG envelope of {muscle}, delayed by emg.delay_s; empty without samples"
        entries[f"{muscle}_envelope"] = text
        for method, by in METHOD_TEXTS.items():
            text = f"1 where the electromyogram of {muscle} is active by the {by}, else 0; not delayed"
            entries[f"{muscle}_active_{method}"] = text
    return columns(entries)


def _burst_entries() -> dict[str, str]:
    entries: dict[str, str] = {}
    for method, by in METHOD_TEXTS.items():
        entries |= {
            f"onset_{method}_s": f"first active frame of the longest burst by the {by}",
            f"offset_{method}_s": "last active frame of that burst",
            f"active_share_{method}": f"share of the frames with activity by the {by}",
        }
    return entries


_EMG_WINDOW = replace(
    WINDOW,
    definition=f"{WINDOW.definition}; cycle, from foot strike to foot strike or foot off to foot off, where forces are known "
    "over it and in too few frames of the window",
)
EMG_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    MUSCLE_STATUS,
    _EMG_WINDOW,
    *_MUSCLE,
    *columns(
        {
            "channel:text": "channels of the muscle",
            "unit:text": "unit of the channels; empty where unknown",
            "faults:text": "faults of the channels: missing, dead, clipped, mains, artefact, negative, copy; no channel",
            "normalised_by:text": "reference of the normalisation: own peak, or maximal trial",
            "rms_uv": "root mean square of the band-passed signal over the recording; empty where the unit is unknown",
            "mean_envelope": "mean of the normalised envelope",
            "peak_envelope": "peak of the normalised envelope",
            **_burst_entries(),
            "used_share": "share of the window's frames with activation and envelope; 0 without an activation",
            "not_compared:text": "reason for an empty r: faults of the channels, no activation, used_share below "
            "ensembles.min_known_share, too few frames or a constant, rejected; empty where r is given",
        }
    ),
    *_AGREEMENT[:2],
    _SCALE,
    *_AGREEMENT[2:5],
    *_NEIGHBOUR,
    _AGREEMENT[5],
)
_OVER_SUBJECTS = "median over subjects of the median over trials: "
EMG_BY_MUSCLE_COLUMNS = (
    GROUP_COLUMNS[0],
    _EMG_WINDOW,
    *_MUSCLE,
    *columns(
        {
            "n_subjects:count": "number of subjects with a correlation",
            "n_trials:count": "number of trials with a correlation",
            "n_left_out:count": "number of trials without a correlation; not_compared in emg_summary gives the reason",
            **{column.name: (_OVER_SUBJECTS + column.definition, column.sign) for column in _AGREEMENT},
            "min_r": "smallest subject's r",
            "max_r": "largest subject's r",
            "own_best_share": "share of the trials in which r is above neighbour_r",
        }
    ),
)
_EMPTY = "empty for a channel with a fault, and for muscles normalised differently"
EMG_CO_CONTRACTION_COLUMNS = (
    *TRIAL_COLUMNS,
    _EMG_WINDOW,
    *columns(
        {
            "first:text": "muscle",
            "second:text": "its antagonist",
            "falconer_winter": f"co-contraction index of Falconer and Winter (1985), 0 to 1; {_EMPTY}",
            "rudolph": f"co-contraction index of Rudolph et al. (2000), 0 to 2; {_EMPTY}",
        }
    ),
)
