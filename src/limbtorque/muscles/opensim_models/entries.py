"""Entries of a muscle set's file for the muscles of an OpenSim model."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.opensim_models.breaks import Break
from limbtorque.muscles.opensim_models.joints import RULES, JointChoice, ModelJoint
from limbtorque.muscles.opensim_models.length_fit import LengthFit
from limbtorque.muscles.opensim_models.model import MuscleData, OpenSimModel
from limbtorque.muscles.sets.moment_arm_curves import derivative, evaluate, interpolating_spline
from limbtorque.muscles.sets.muscle_entries import LARGEST_STRAIN

WHOLE_BODY_KG = 30.0  # a lighter model has only a limb
SIDE = re.compile(r"^[rl]_|_[rl]$|_(right|left)$")
LICENCE = "not stated in the file; see the publication of the model"


@dataclass(frozen=True)
class ImportOptions:
    """Side, chain, paths and joints to take from a model.

    Parameters
    ----------
    side : str
        left or right.
    chain : str or None
        arm or leg; None for the one whose joints the model's muscles cross.
    paths : Path or None
        A FunctionBasedPathSet for lengths and arms.
    choice : JointChoice
        Coordinates and ranges in place of those recognised.
    held_deg : mapping of str to float
        Angles held at another value than their default.
    """

    side: str
    chain: str | None
    paths: Path | None
    choice: JointChoice
    held_deg: Mapping[str, float]


@dataclass(frozen=True)
class ImportedMuscle:
    """A muscle of an imported set, for people to judge.

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


def set_entries(
    model: OpenSimModel, joints: Sequence[ModelJoint], chain: str, options: ImportOptions
) -> dict[str, Any]:
    """Entries of the set that stand before its muscles.

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
    paths = f" Lengths and arms from the functions of {options.paths.name}." if options.paths else ""
    held = "".join(f" {name} held at {value:g} deg." for name, value in options.held_deg.items())
    flexion = {}
    for name, rule in RULES[chain].items():
        zero = f"0 where {by_name[name].coordinate} is 0" if name in by_name else "the model does not have this joint"
        flexion[name] = f"{rule.about}; {zero}."
    lengths = _segment_lengths(model, joints)
    reference = {
        **({"mass_kg": round(model.mass_kg, 3)} if model.mass_kg > WHOLE_BODY_KG else {}),
        "segment_length_m": lengths,
        "source": f"joint centres of {model.file} in the sagittal plane, all flexions 0; mass of all its bodies",
    }
    return {
        "description": f"Sagittal plane, {options.side} side, of OpenSim model {model.name} ({model.file}), other coordinates at "
        f"their defaults.{held}{paths} {model.publication}".strip(),
        "joints": [*RULES[chain]],
        "flexion": flexion,
        "from_vertical": [next(iter(RULES[chain]))],
        **({"reference": reference} if lengths else {}),
    }


def _segment_lengths(model: OpenSimModel, joints: Sequence[ModelJoint]) -> dict[str, float]:
    """Length in the plane of the segment distal to each joint but the last."""
    model.pose({joint.coordinate: 0.0 for joint in joints})
    centres = [model.joint_centre(joint.coordinate) for joint in joints]
    spans = [float(np.hypot(*(b - a)[:2])) for a, b in itertools.pairwise(centres)]
    return {joint.name: round(span, 4) for joint, span in zip(joints, spans, strict=False) if span > 0}


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
    breaks = {
        joint: " ".join(_break_note(broken) for broken in one.breaks if broken.joint == joint) for joint in fit.joints
    }
    arms = {joint: {"form": "zero"} for joint in RULES[chain]} | {
        joint: _arm_entry(fit, joint, f"{notes[joint]} {breaks[joint]}".strip()) for joint in fit.joints
    }
    jump = f"The model's length jumps by {1e3 * one.jump.size_m:.1f} mm {between(one.jump)}." if one.jump else ""
    return {
        "name": short_name(one.name, model.muscles),
        "full_name": one.name,
        "function": senses,
        "max_isometric_force_n": round(data.max_isometric_force_n, 2),
        **(_fibres(data) if data.has_fibres(float(lengths.max())) else {}),
        "source": _source(model, one),
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
    """Name of a muscle without its side, unless another muscle then has the same.

    >>> short_name("soleus_r", ["soleus_r", "soleus_l"]), short_name("r_biceps", ["r_biceps", "biceps"])
    ('soleus', 'r_biceps')
    """
    short = SIDE.sub("", name)
    side = name.replace(short, "*")
    same = [other for other in muscles if other == short or other.replace(short, "*") == side]
    return short if short and len(same) == 1 else name


def _fibres(data: MuscleData) -> dict[str, float]:
    strain = data.tendon_strain or 0.0
    return {
        "optimal_fibre_length_m": round(data.optimal_fibre_length_m, 5),
        "tendon_slack_length_m": round(data.tendon_slack_length_m, 5),
        "pennation_rad": round(data.pennation_rad, 5),
        **({"tendon_strain": round(strain, 4)} if 0.0 < strain <= LARGEST_STRAIN else {}),
    }


def _source(model: OpenSimModel, one: ImportedMuscle) -> dict[str, str]:
    other = ", ".join(f"{name} {1e3 * arm:+.0f} mm" for name, arm in one.other_planes_m.items())
    return {
        "model": f"OpenSim model {model.name} ({model.file})",
        "licence": LICENCE,
        **({"other_planes": f"moment arms at the default posture: {other}"} if other else {}),
    }


def _senses(fit: LengthFit, grid: list[list[float]], lengths: FloatArray) -> tuple[dict[str, str], dict[str, str]]:
    """Flexor or extensor at flexion 0, and a note where the sense changes."""
    curve = interpolating_spline([np.radians(line) for line in grid], lengths, joints=fit.joints)
    senses, notes = {}, {}
    for joint in fit.joints:
        slope = derivative(curve, joint)
        middle = [sum(ends) / 2 for ends in curve.range_rad]
        arms = [-float(evaluate(slope, place)) for place in ([0.0] * len(grid), middle)]
        senses[joint] = "flexor" if arms[0] > 0 else "extensor"
        notes[joint] = "" if arms[0] * arms[1] > 0 else "The sense changes within the range."
    return senses, notes


def _arm_entry(fit: LengthFit, joint: str, note: str) -> dict[str, Any]:
    return {
        "form": "from_length",
        "rms_departure_m": round(fit.arm_rms_m[joint], 5),
        "max_departure_m": round(fit.arm_max_m[joint], 5),
        "departs_at_deg": _degrees(fit.arm_max_at_deg[joint]),
        **({"note": note} if note else {}),
    }


def _break_note(broken: Break) -> str:
    return f"The model's arm steps by {1e3 * broken.size_m:.0f} mm {between(broken)}, where the range ends."


def between(broken: Break) -> str:
    """Place of a break in words."""
    low, high = broken.between_deg
    return f"between {low:.0f} and {high:.0f} deg at the {broken.joint}"


def _degrees(flexion_deg: Sequence[float]) -> list[float]:
    return [round(float(q), 1) for q in flexion_deg]
