"""Convert an OpenSim model into a muscle set, with fit errors."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ModelError, SettingsError
from limbtorque.muscles.opensim_models.joints import RULES, JointChoice, ModelJoint, chain_joints
from limbtorque.muscles.opensim_models.model import OpenSimModel, read_model
from limbtorque.muscles.opensim_models.path_lines import lines_of_action
from limbtorque.muscles.opensim_models.samples import (
    Break,
    LengthFit,
    crossed_joints,
    fit_lengths,
    largest_jump,
    sample,
    unbroken,
)
from limbtorque.muscles.sets.moment_arm_curves import derivative, evaluate, interpolating_spline
from limbtorque.muscles.sets.muscle_entries import LARGEST_STRAIN
from limbtorque.muscles.sets.muscle_set import MuscleSet, muscle_set_from_mapping

WHOLE_BODY_KG = 30.0  # a lighter model has only a limb
SIDE = re.compile(r"^[rl]_|_[rl]$|_(right|left)$")
LICENCE = "not stated in the file; see the model's publication"
LEAST_RANGE_DEG = 10.0
TILT_DEG = 10.0
OTHER_PLANE_M = 1e-3


@dataclass(frozen=True)
class ImportOptions:
    """Side, chain and joints to take from a model.

    Parameters
    ----------
    side : str
        left or right.
    chain : str
        arm or leg.
    choice : JointChoice
        Coordinates and ranges in place of those recognised.
    held_deg : mapping of str to float
        Angles held at another value than their default.
    """

    side: str
    chain: str
    choice: JointChoice
    held_deg: Mapping[str, float]


@dataclass(frozen=True)
class ImportedMuscle:
    """A muscle of an imported set, with its errors.

    Parameters
    ----------
    name : str
        Name in the set.
    fit : LengthFit
        Fitted length and arms, with their errors.
    breaks : tuple of Break
        Steps of the moment arm, at which its range ends.
    jump : Break or None
        Largest jump of the model's length within the range.
    other_planes_m : dict of str to float
        Moment arms at the model's other coordinates in the default posture, largest first, those above 1 mm.
    wrapped : bool
        True if the path wraps over a surface, or has points that move.
    """

    name: str
    fit: LengthFit
    breaks: tuple[Break, ...]
    jump: Break | None
    other_planes_m: dict[str, float]
    wrapped: bool


@dataclass(frozen=True)
class ImportedSet:
    """An imported set.

    Parameters
    ----------
    content : dict
        Content of the set's file.
    muscle_set : MuscleSet
        The same, checked and built.
    muscles : tuple of ImportedMuscle
        What is known about the muscles.
    notes : tuple of str
        What has to be known of the whole set, one sentence each.
    """

    content: dict[str, Any]
    muscle_set: MuscleSet
    muscles: tuple[ImportedMuscle, ...]
    notes: tuple[str, ...]


def import_muscle_set(path: Path, options: ImportOptions) -> ImportedSet:
    """Create a sagittal-plane muscle set for one limb of an OpenSim model.

    Parameters
    ----------
    path : Path
        The model (.osim).
    options : ImportOptions
        What to take from it.

    Returns
    -------
    ImportedSet

    Raises
    ------
    ModelError
        The file is no model, its joints do not fit the chain, no muscle crosses them, its numbers are none of muscles, or the
        package ``opensim`` is not installed.
    """
    held = {name: math.radians(value) for name, value in options.held_deg.items()}
    model = read_model(path, held=held)
    chain, (joints, crossed) = options.chain, _limb(model, options)
    lines = lines_of_action(model, crossed, joints, chain)
    other = other_planes(model, crossed, joints)
    muscles, unresolved = [], []
    for group in sample(model, crossed):
        for part, breaks in unbroken(group):
            finite = np.isfinite(part.length_m).all() and np.isfinite(part.arm_m).all() and (part.length_m > 0).all()
            if not finite or min(line[-1] - line[0] for line in part.flexion_deg) < LEAST_RANGE_DEG:
                unresolved += list(part.muscles)
                continue
            fits = fit_lengths(part)
            muscles += [
                ImportedMuscle(
                    name, fits[name], breaks, largest_jump(part, m), other[name], model.muscles[name].wrapped
                )
                for m, name in enumerate(part.muscles)
            ]
    muscles.sort(key=lambda one: list(crossed).index(one.name))
    if not muscles:
        raise ModelError(
            f"{model.file}: all muscle paths are discontinuous near flexion 0, or have no length; check them in OpenSim, or narrow the range (--range)"
        )
    content = {
        "name": f"{model.name}_{options.side}",
        **set_entries(model, joints, chain, options),
        "muscles": [muscle_entry(model, one, chain, lines[one.name]) for one in muscles],
    }
    try:
        built = muscle_set_from_mapping(content, name=str(content["name"]))
    except SettingsError as error:
        raise ModelError(f"{model.file}: {error}\ncorrect these numbers in the model") from None
    return ImportedSet(content, built, tuple(muscles), _notes(model, joints, unresolved, options))


# --- limb --------------------------------------------------------------------------------------------------------


def _limb(
    model: OpenSimModel, options: ImportOptions
) -> tuple[tuple[ModelJoint, ...], dict[str, tuple[ModelJoint, ...]]]:
    """Joints of the chain, and joints that each muscle crosses."""
    for name in options.held_deg:
        held = model.named(name, "to hold (--hold)")
        if not held.rotates or held.driven:
            raise ModelError(
                f"{model.file}: {name} is a distance or a function of another coordinate, expected a free angle to hold (--hold)"
            )
    joints = chain_joints(model, options.chain, side=options.side, choice=options.choice)
    limb = f"the {options.side} {options.chain}"
    if not joints:
        angles = ", ".join(one.name for one in model.coordinates.values() if one.rotates)[:300]
        raise ModelError(
            f"{model.file}: no joint of {limb} recognised; choose the other side (--side) or limb (--chain), or name "
            f"coordinates, --coordinate {next(iter(RULES[options.chain]))}=NAME; its angles: {angles or 'none'}"
        )
    if not (crossed := crossed_joints(model, joints)):
        names = ", ".join(joint.coordinate for joint in joints)
        raise ModelError(
            f"{model.file}: none of its {len(model.muscles)} muscles crosses the joints of {limb} "
            f"({names}); expected a model with muscles, and the side that has them (--side)"
        )
    return joints, crossed


def other_planes(
    model: OpenSimModel, muscles: Collection[str], joints: Sequence[ModelJoint]
) -> dict[str, dict[str, float]]:
    """Moment arms at the coordinates outside the chain, in the default posture.

    Parameters
    ----------
    model : OpenSimModel
        The model; it is left in its default posture.
    muscles : collection of str
        The muscles.
    joints : sequence of ModelJoint
        Joints of the chain.

    Returns
    -------
    dict of str to dict of str to float
        For each muscle, the arms above 1 mm in the sense of the coordinate, m, the largest first; of angles that are
        neither locked nor functions of others.
    """
    model.pose({})
    own = {joint.coordinate for joint in joints}
    others = [
        one.name
        for one in model.coordinates.values()
        if one.rotates and not (one.locked or one.driven or one.name in own)
    ]
    arms = {muscle: {name: model.arm(muscle, name) for name in others} for muscle in muscles}
    return {
        muscle: {
            name: arm for name, arm in sorted(of.items(), key=lambda pair: -abs(pair[1])) if abs(arm) > OTHER_PLANE_M
        }
        for muscle, of in arms.items()
    }


# --- notes -------------------------------------------------------------------------------------------------------


def _notes(
    model: OpenSimModel,
    joints: Sequence[ModelJoint],
    unresolved: Sequence[str],
    options: ImportOptions,
) -> tuple[str, ...]:
    notes = []
    own = {joint.name for joint in joints}
    if lacking := [name for name in RULES[options.chain] if name not in own]:
        notes.append(
            f"{model.file} has no {' and no '.join(lacking)}: moment arms there are zero, and the reserve produces the torque; if a "
            f"coordinate has another name, give it (--coordinate {lacking[0]}=NAME)"
        )
    locked = [joint.coordinate for joint in joints if model.coordinates[joint.coordinate].locked]
    if locked:
        notes.append(f"the model locks {', '.join(locked)}; they are moved anyway")
    notes += [
        f"the {joint.name}'s axis is {joint.tilt_deg:.0f} deg from the normal of the sagittal plane; moment arms refer to its own axis"
        for joint in joints
        if joint.tilt_deg > TILT_DEG
    ]
    for joint in joints:
        low, high = sorted(math.degrees(joint.sign * end) for end in model.coordinates[joint.coordinate].range_rad)
        if joint.range_deg[0] < low - 0.5 or joint.range_deg[1] > high + 0.5:
            notes.append(
                f"the {joint.name} was sampled beyond the model's own range, {low:.0f} to {high:.0f} deg of flexion, where its "
                "muscle paths are not tested"
            )
    if unresolved:
        notes.append(
            f"left out, because length or moment arm is discontinuous near flexion 0 or not a number: {', '.join(unresolved)}; "
            "check their paths in OpenSim, or narrow the range (--range)"
        )
    return tuple(notes)


# --- entries of the set ------------------------------------------------------------------------------------------------


def set_entries(
    model: OpenSimModel, joints: Sequence[ModelJoint], chain: str, options: ImportOptions
) -> dict[str, Any]:
    """Entries of the set before its muscles.

    Parameters
    ----------
    model : OpenSimModel
        The model.
    joints : sequence of ModelJoint
        Joints of the chain that it has.
    chain : str
        arm or leg.
    options : ImportOptions
        What was taken from it.

    Returns
    -------
    dict
    """
    by_name = {joint.name: joint for joint in joints}
    held = "".join(f" {name} held at {value:g} deg." for name, value in options.held_deg.items())
    flexion = {}
    for name, rule in RULES[chain].items():
        zero = f"0 where {by_name[name].coordinate} is 0" if name in by_name else "the model does not have this joint"
        flexion[name] = f"{rule.about}; {zero}."
    # length in the plane of the segment distal to each joint but the last
    model.pose({joint.coordinate: 0.0 for joint in joints})
    centres = [model.joint_centre(joint.coordinate) for joint in joints]
    spans = [float(np.hypot(*(b - a)[:2])) for a, b in itertools.pairwise(centres)]
    lengths = {joint.name: round(span, 4) for joint, span in zip(joints, spans, strict=False) if span > 0}
    reference = {
        **({"mass_kg": round(model.mass_kg, 3)} if model.mass_kg > WHOLE_BODY_KG else {}),
        "segment_length_m": lengths,
        "source": f"joint centres of {model.file} in the sagittal plane, all flexions 0; mass of all its bodies",
    }
    return {
        "description": f"Sagittal plane, {options.side} side, of OpenSim model {model.name} ({model.file}), other coordinates at "
        f"their defaults.{held} {model.publication}".strip(),
        "joints": [*RULES[chain]],
        "flexion": flexion,
        "from_vertical": [next(iter(RULES[chain]))],
        **({"reference": reference} if lengths else {}),
    }


def muscle_entry(model: OpenSimModel, one: ImportedMuscle, chain: str, lines: dict[str, Any]) -> dict[str, Any]:
    """Entry of a muscle.

    Parameters
    ----------
    model : OpenSimModel
        The model.
    one : ImportedMuscle
        The muscle.
    chain : str
        arm or leg.
    lines : dict
        Its lines of action.

    Returns
    -------
    dict
    """
    data, fit = model.muscles[one.name], one.fit
    several = len(fit.joints) > 1
    lengths = np.round(fit.lengths_m, 6)
    grid = [[round(float(q), 4) for q in line] for line in fit.flexion_deg]
    senses, notes = _senses(fit, grid, lengths)
    for broken in one.breaks:
        step = f"The model's arm steps by {1e3 * broken.size_m:.0f} mm {between(broken)}, where the range ends."
        notes[broken.joint] = f"{notes[broken.joint]} {step}".strip()
    arms = {joint: {"form": "zero"} for joint in RULES[chain]} | {
        joint: {
            "form": "from_length",
            "rms_departure_m": round(fit.arm_rms_m[joint], 5),
            "max_departure_m": round(fit.arm_max_m[joint], 5),
            "departs_at_deg": _degrees(fit.arm_max_at_deg[joint]),
            **({"note": notes[joint]} if notes[joint] else {}),
        }
        for joint in fit.joints
    }
    fibres = {}
    if data.has_fibres(float(lengths.max())):
        names = ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad")
        fibres = {name: round(getattr(data, name), 5) for name in names}
        if data.tendon_strain and 0.0 < data.tendon_strain <= LARGEST_STRAIN:
            fibres["tendon_strain"] = round(data.tendon_strain, 4)
    source = {"model": f"OpenSim model {model.name} ({model.file})", "licence": LICENCE}
    if one.other_planes_m:
        other = ", ".join(f"{name} {1e3 * arm:+.0f} mm" for name, arm in one.other_planes_m.items())
        source["other_planes"] = f"moment arms at the default posture: {other}"
    jump = f"The model's length jumps by {1e3 * one.jump.size_m:.1f} mm {between(one.jump)}." if one.jump else ""
    return {
        "name": short_name(one.name, model.muscles),
        "full_name": one.name,
        "function": senses,
        "max_isometric_force_n": round(data.max_isometric_force_n, 2),
        **fibres,
        "source": source,
        "length": {
            "form": "sampled",
            "joints": list(fit.joints),
            "flexion_deg": grid if several else grid[0],
            "lengths_m": lengths.tolist(),
            "max_departure_m": round(fit.length_max_m, 5),
            "departs_at_deg": _degrees(fit.length_max_at_deg),
            **({"note": jump} if jump else {}),
        },
        "moment_arms": arms,
        **({"lines_of_action": lines} if lines else {}),
    }


def short_name(name: str, muscles: Collection[str]) -> str:
    """Name of a muscle without its side, if still unique.

    >>> short_name("soleus_r", ["soleus_r", "soleus_l"]), short_name("r_biceps", ["r_biceps", "biceps"])
    ('soleus', 'r_biceps')
    """
    short = SIDE.sub("", name)
    side = name.replace(short, "*")
    same = [other for other in muscles if other == short or other.replace(short, "*") == side]
    return short if short and len(same) == 1 else name


def _senses(fit: LengthFit, grid: list[list[float]], lengths: FloatArray) -> tuple[dict[str, str], dict[str, str]]:
    """Flexor or extensor at flexion 0, and a note if the function changes."""
    curve = interpolating_spline([np.radians(line) for line in grid], lengths, joints=fit.joints)
    senses, notes = {}, {}
    for joint in fit.joints:
        slope = derivative(curve, joint)
        middle = [sum(ends) / 2 for ends in curve.range_rad]
        arms = [-float(evaluate(slope, place)) for place in ([0.0] * len(grid), middle)]
        senses[joint] = "flexor" if arms[0] > 0 else "extensor"
        notes[joint] = "" if arms[0] * arms[1] > 0 else "The function changes within the range."
    return senses, notes


def between(broken: Break) -> str:
    """Text for the location of a discontinuity."""
    low, high = broken.between_deg
    return f"between {low:.0f} and {high:.0f} deg at the {broken.joint}"


def _degrees(flexion_deg: Sequence[float]) -> list[float]:
    return [round(float(q), 1) for q in flexion_deg]
