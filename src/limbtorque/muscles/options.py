"""Options of the muscles: checked against a muscle set, and by muscle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.study.options.muscles import Muscles


def check_options(muscle_set: MuscleSet, options: Muscles, joints: Sequence[str]) -> None:
    """Check that a set has the data that the settings need.

    Parameters
    ----------
    muscle_set : MuscleSet
        The set.
    options : Muscles
        Section `muscles` of the settings.
    joints : sequence of str
        Joints of the chain.

    Raises
    ------
    SettingsError
        A joint or a muscle that the set does not have, bounds that contradict each other, no cross-sections or fibre
        lengths for the criterion, or no reference to scale from.
    """
    faults = [
        *_of_joints(muscle_set, joints),
        *_of_names(muscle_set, options),
        *_of_criterion(muscle_set, options),
        *_of_scaling(muscle_set, options, joints),
    ]
    if faults:
        raise SettingsError("\n".join(f"muscle set '{muscle_set.name}' {fault}" for fault in faults))


def _of_joints(muscle_set: MuscleSet, joints: Sequence[str]) -> Iterator[str]:
    """Fault of joints that a set does not have."""
    if lacking := [joint for joint in joints if joint not in muscle_set.joints]:
        yield (
            f"has no moment arms for {', '.join(lacking)}; add the joint to the set ('form: zero' for muscles that do not "
            "cross it), or choose another set for the chain (muscles.sets)"
        )


def _of_names(muscle_set: MuscleSet, options: Muscles) -> Iterator[str]:
    """Faults of options by muscle: unknown names, and contradicting bounds."""
    by_muscle: dict[str, Mapping[str, Any]] = {
        option: getattr(options, option) for option in ("weights", "activation_bounds", "tendon_strain")
    }
    by_muscle |= {f"strength_factors.{subject}": given for subject, given in options.strength_factors.items()}
    for option, given in by_muscle.items():
        for muscle in own_options(given, muscle_set):
            if muscle not in muscle_set.names:
                hint = did_you_mean(muscle, muscle_set.names) or f"; it has {', '.join(muscle_set.names)}"
                yield (
                    f"has no muscle '{muscle}' (muscles.{option}){hint}; in a study with several sets name the set, too: "
                    f"'leg.{muscle}'"
                )
    for m, low, high in zip(muscle_set.names, *activation_limits(muscle_set, options), strict=True):
        if low > high:
            yield f"has the bounds {low:g} to {high:g} for {m}; set muscles.min_activation below its largest activation"


def _of_criterion(muscle_set: MuscleSet, options: Muscles) -> Iterator[str]:
    """Fault of muscles without the data of the criterion."""
    needed = {"stress": "pcsa_cm2", "volume": "optimal_fibre_length_m"}.get(options.criterion)
    lacking = [muscle.name for muscle in muscle_set.muscles if needed and getattr(muscle, needed) is None]
    if lacking:
        yield (
            f"has no {needed} for {', '.join(lacking)}, which muscles.criterion: {options.criterion} needs; add it in a set of "
            "your own, or use criterion: activation"
        )


def _of_scaling(muscle_set: MuscleSet, options: Muscles, joints: Sequence[str]) -> Iterator[str]:
    """Faults of a set without the reference that scaling needs."""
    reference = muscle_set.reference
    if "strength" in options.scale and (reference is None or reference.mass_kg is None):
        yield (
            "has no body mass for its strengths (reference: mass_kg), which muscles.scale: strength "
            "needs; add it in a set of your own"
        )
    known = reference.segment_length_m if reference else {}
    if "moment_arms" in options.scale and (lacking := [j for j in joints if j not in known]):
        yield (
            f"has no segment lengths for its moment arms at {', '.join(lacking)} (reference: segment_length_m), which "
            "muscles.scale: moment_arms needs; add them in a set of your own"
        )


def own_options(given: Mapping[str, Any], muscle_set: MuscleSet) -> dict[str, Any]:
    """Options of a set's muscles: 'soleus' is of any set, 'leg.soleus' of leg only."""
    own = {}
    for name, value in given.items():
        of, _, muscle = name.rpartition(".")
        if of in ("", muscle_set.name):
            own[muscle] = value
    return own


def activation_limits(muscle_set: MuscleSet, options: Muscles) -> tuple[FloatArray, FloatArray]:
    """Least and largest activation of every muscle, shape (n_muscles,)."""
    given = own_options(options.activation_bounds, muscle_set)
    pairs = [given.get(m.name, (m.min_activation, m.max_activation)) for m in muscle_set.muscles]
    low, high = np.array(pairs, dtype=float).reshape(-1, 2).T
    return np.maximum(low, options.min_activation), high
