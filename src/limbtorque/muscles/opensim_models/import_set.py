"""Make a muscle set of an OpenSim model, with the errors of its fits."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.errors import ModelError, SettingsError, did_you_mean
from limbtorque.muscles.opensim_models.breaks import largest_jump, unbroken
from limbtorque.muscles.opensim_models.entries import ImportedMuscle, ImportOptions, muscle_entry, set_entries
from limbtorque.muscles.opensim_models.joints import RULES, UNRECOGNISED, ModelJoint, chain_joints
from limbtorque.muscles.opensim_models.length_fit import fit_lengths
from limbtorque.muscles.opensim_models.model import OpenSimModel, read_model
from limbtorque.muscles.opensim_models.path_lines import lines_of_action
from limbtorque.muscles.opensim_models.sampling import Samples, crossed_joints, sample
from limbtorque.muscles.sets.muscle_set import MuscleSet, muscle_set_from_mapping

LEAST_RANGE_DEG = 10.0
TILT_DEG = 10.0
OTHER_PLANE_M = 1e-3


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
    """Make a muscle set of one limb of an OpenSim model, for the sagittal plane.

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
    model = read_model(path, paths=options.paths, held=held)
    chain, joints, crossed = _limb(model, options)
    lines = lines_of_action(model, crossed, joints, chain)
    other = other_planes(model, crossed, joints)
    muscles, unresolved = [], []
    for group in sample(model, crossed):
        for part, breaks in unbroken(group):
            if min(line[-1] - line[0] for line in part.flexion_deg) < LEAST_RANGE_DEG or not _finite(part):
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
            f"{model.file}: the paths of all muscles break near flexion 0, or have no length; look at them in OpenSim, or narrow the range (--range)"
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
    return ImportedSet(content, built, tuple(muscles), _notes(model, joints, crossed, unresolved, options))


def _finite(part: Samples) -> bool:
    return bool(np.isfinite(part.length_m).all() and np.isfinite(part.arm_m).all() and (part.length_m > 0).all())


# --- limb --------------------------------------------------------------------------------------------------------


def _limb(
    model: OpenSimModel, options: ImportOptions
) -> tuple[str, tuple[ModelJoint, ...], dict[str, tuple[ModelJoint, ...]]]:
    """Chain, its joints, and the joints that each muscle crosses."""
    _check_held(model, options)
    found, faults = {}, []
    for chain in [options.chain] if options.chain else RULES:
        if not options.chain and not {*options.choice.coordinates, *options.choice.range_deg} <= set(RULES[chain]):
            continue
        try:
            joints = chain_joints(model, chain, side=options.side, choice=options.choice)
        except ModelError as error:
            faults.append(str(error))
            continue
        if crossed := crossed_joints(model, joints):
            found[chain] = joints, crossed
        else:
            names = ", ".join(joint.coordinate for joint in joints)
            faults.append(
                f"{model.file}: none of its {len(model.muscles)} muscles crosses the joints of the {options.side} {chain} "
                f"({names}); expected a model with muscles, and the side that has them (--side)"
            )
    if len(found) > 1:
        raise ModelError(f"{model.file}: has muscles of {' and '.join(found)}; choose one: --chain {next(iter(found))}")
    if not found:
        raise ModelError(faults[0] if len(faults) == 1 else _no_limb(model, options, faults))
    ((chain, (joints, crossed)),) = found.items()
    return chain, joints, crossed


def _no_limb(model: OpenSimModel, options: ImportOptions, faults: Sequence[str]) -> str:
    own = [fault for fault in faults if UNRECOGNISED not in fault]
    known = ", ".join(one.name for one in model.coordinates.values() if one.rotates)[:200]
    return "\n".join(own) or (
        f"{model.file}: no joint of a {options.side} leg or arm recognised; choose the other side (--side), or name coordinates, "
        f"--coordinate knee=NAME; its angles: {known or 'none'}"
    )


def _check_held(model: OpenSimModel, options: ImportOptions) -> None:
    for name in options.held_deg:
        if name not in model.coordinates:
            near = did_you_mean(name, model.coordinates) or f"; it has {', '.join(model.coordinates)[:300]}"
            raise ModelError(f"{model.file}: has no coordinate '{name}' to hold (--hold){near}")
        if not model.coordinates[name].rotates or model.coordinates[name].driven:
            raise ModelError(
                f"{model.file}: {name} is a distance or a function of another coordinate, expected a free angle to hold (--hold)"
            )


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
    crossed: Collection[str],
    unresolved: Sequence[str],
    options: ImportOptions,
) -> tuple[str, ...]:
    notes = []
    own = {joint.name for joint in joints}
    (chain,) = (of for of in RULES.values() if own <= set(of))
    if lacking := [name for name in chain if name not in own]:
        notes.append(
            f"{model.file} has no {' and no '.join(lacking)}: moment arms there are zero, and the torque is all reserve; if a "
            f"coordinate has another name, give it (--coordinate {lacking[0]}=NAME)"
        )
    locked = [joint.coordinate for joint in joints if model.coordinates[joint.coordinate].locked]
    if locked:
        notes.append(f"the model locks {', '.join(locked)}; moved nevertheless")
    notes += [
        f"the {joint.name}'s axis is {joint.tilt_deg:.0f} deg from the normal of the sagittal plane; arms are those about its own axis"
        for joint in joints
        if joint.tilt_deg > TILT_DEG
    ]
    for joint in joints:
        low, high = sorted(math.degrees(joint.sign * end) for end in model.coordinates[joint.coordinate].range_rad)
        if joint.range_deg[0] < low - 0.5 or joint.range_deg[1] > high + 0.5:
            notes.append(
                f"the {joint.name} was sampled beyond the model's own range, {low:.0f} to {high:.0f} deg of flexion, where its "
                "paths are not tested"
            )
    if unresolved:
        notes.append(
            f"left out, because length or moment arm breaks near flexion 0 or is no number: {', '.join(unresolved)}; "
            "look at their paths in OpenSim, or narrow the range (--range)"
        )
    if options.paths is not None:
        model.pose({})
        off, worst = max((abs(model.length(name) - model.path_length(name)), name) for name in crossed)
        notes.append(
            f"lengths and arms are those of the functions of {options.paths.name}; in the default posture a length differs by up "
            f"to {1e3 * off:.1f} mm ({worst}) from the model's path; lines of action are from its path points"
        )
    return tuple(notes)
