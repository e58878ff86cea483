"""Cost of activations by the settings, and envelopes as their targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.emg.recorded import Electromyography
from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.solve import StaticOptimization, share_torques
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
    if faults := list(_faults(muscle_set, options, joints)):
        raise SettingsError("\n".join(f"muscle set '{muscle_set.name}' {fault}" for fault in faults))


def _faults(muscle_set: MuscleSet, options: Muscles, joints: Sequence[str]) -> Iterator[str]:
    """Faults: unknown names, contradicting bounds, no data for criterion or scaling."""
    if lacking := [joint for joint in joints if joint not in muscle_set.joints]:
        yield (
            f"has no moment arms for {', '.join(lacking)}; add the joint to the set ('form: zero' for muscles that do not "
            "cross it), or choose another set for the chain (muscles.sets)"
        )
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
    needed = {"stress": "pcsa_cm2", "volume": "optimal_fibre_length_m"}.get(options.criterion)
    incomplete = [muscle.name for muscle in muscle_set.muscles if needed and getattr(muscle, needed) is None]
    if incomplete:
        yield (
            f"has no {needed} for {', '.join(incomplete)}, which muscles.criterion: {options.criterion} needs; add it in a user-defined "
            "set, or use criterion: activation"
        )
    reference = muscle_set.reference
    if "strength" in options.scale and (reference is None or reference.mass_kg is None):
        yield (
            "has no body mass for its strengths (reference: mass_kg), which muscles.scale: strength "
            "needs; add it in a user-defined set"
        )
    known = reference.segment_length_m if reference else {}
    if "moment_arms" in options.scale and (unscaled := [j for j in joints if j not in known]):
        yield (
            f"has no segment lengths for its moment arms at {', '.join(unscaled)} (reference: segment_length_m), which "
            "muscles.scale: moment_arms needs; add them in a user-defined set"
        )


def own_options(given: Mapping[str, Any], muscle_set: MuscleSet) -> dict[str, Any]:
    """Options of a set's muscles: 'soleus' for any set, 'leg.soleus' for leg only."""
    parts = {name: name.rpartition(".") for name in given}
    return {muscle: given[name] for name, (of, _, muscle) in parts.items() if of in ("", muscle_set.name)}


def activation_limits(muscle_set: MuscleSet, options: Muscles) -> tuple[FloatArray, FloatArray]:
    """Least and largest activation of every muscle, shape (n_muscles,)."""
    given = own_options(options.activation_bounds, muscle_set)
    pairs = [given.get(m.name, (m.min_activation, m.max_activation)) for m in muscle_set.muscles]
    low, high = np.array(pairs, dtype=float).reshape(-1, 2).T
    return np.maximum(low, options.min_activation), high


@dataclass(frozen=True, eq=False)
class Problem:
    """Joint torques and the muscles that produce them.

    Attributes
    ----------
    arm : ndarray of shape (n_frames, n_joints, n_muscles)
        Moment arms, m, flexion positive.
    torque_nm : ndarray of shape (n_frames, n_joints)
        Torque required of the muscles, flexion positive, N m.
    strength_n : ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, N.
    muscle_set : MuscleSet
        The muscles.
    bounds : pair of ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Least and largest part of the strength of each muscle.
    unit_n : ndarray of shape (n_frames, n_muscles), optional
        Force that counts as 1 in the cost; the strength, or for stress the cross-section, by default.
    """

    arm: FloatArray
    torque_nm: FloatArray
    strength_n: FloatArray
    muscle_set: MuscleSet
    bounds: tuple[FloatArray, FloatArray]
    unit_n: FloatArray | None = None

    @classmethod
    def of_set(cls, arm: FloatArray, torque_nm: FloatArray, muscle_set: MuscleSet, options: Muscles) -> Problem:
        """Problem of muscles with the constant strengths of their set."""
        return cls(arm, torque_nm, muscle_set.max_force_n, muscle_set, activation_limits(muscle_set, options))


def volumes(muscle_set: MuscleSet) -> FloatArray:
    """Strength times optimal fibre length of each muscle, relative to the mean.

    Proportional to muscle volume if all strengths have the same specific tension. The sum of volumes times powers of the
    activations does not depend on the number of equal parts that represent a muscle.
    """
    lengths = np.array([muscle.optimal_fibre_length_m for muscle in muscle_set.muscles], dtype=float)
    products = muscle_set.max_force_n * lengths
    return np.asarray(products / products.mean()) if products.size else products


def muscle_weights(muscle_set: MuscleSet, options: Muscles) -> FloatArray:
    """Weight of each muscle in the cost, shape (n_muscles,)."""
    given = own_options(options.weights, muscle_set)
    weights = np.array([given.get(name, 1.0) for name in muscle_set.names])
    return weights * volumes(muscle_set) if options.criterion == "volume" else weights


def least_cost_forces(problem: Problem, options: Muscles, *, envelope: FloatArray | None = None) -> StaticOptimization:
    """Minimise the cost that the settings ask for.

    Parameters
    ----------
    problem : Problem
        Torques and muscles.
    options : Muscles
        Section `muscles` of the settings.
    envelope : ndarray of shape (n_frames, n_muscles), optional
        Measured activations; NaN where there are none.

    Returns
    -------
    StaticOptimization
        Its cost has every term, and the duality gap refers to the squares of the distances from their target.
    """
    weight, norm = muscle_weights(problem.muscle_set, options), problem.unit_n
    if options.criterion == "stress":
        norm = np.array([muscle.pcsa_cm2 for muscle in problem.muscle_set.muscles], dtype=float)
    # w a^2 + k w (a - e)^2 = w (1 + k) (a - k e / (1 + k))^2 + w k / (1 + k) e^2
    measured = np.full(len(weight), np.nan) if envelope is None else envelope
    tracking, level = options.emg_weight * np.isfinite(measured), np.nan_to_num(measured)
    optimized = share_torques(
        problem.arm,
        problem.torque_nm,
        problem.strength_n,
        exponent=options.exponent,
        weight=weight * (1.0 + tracking),
        norm_n=norm,
        target=tracking * level / (1.0 + tracking),
        min_activation=problem.bounds[0],
        max_activation=problem.bounds[1],
    )
    if envelope is None:
        return optimized
    ratio = 1.0 if norm is None else problem.strength_n / norm
    constant = (weight * ratio**2 * tracking / (1.0 + tracking) * level**2).sum(axis=1)
    return replace(optimized, cost=optimized.cost + constant)


@dataclass(frozen=True, eq=False)
class Envelopes:
    """Envelopes of muscles at the frames of a trial.

    Attributes
    ----------
    muscles : tuple of str
        The muscles.
    level : ndarray of shape (n_frames, n_muscles)
        Envelopes, later by the electromechanical delay; NaN where unknown.
    maximal : ndarray of bool, shape (n_muscles,)
        Envelopes that are parts of those in maximal trials; the others have an amplitude of their own.
    """

    muscles: tuple[str, ...]
    level: FloatArray
    maximal: BoolArray

    def part(self, some: slice) -> Envelopes:
        """Envelopes in selected frames."""
        return replace(self, level=self.level[some])


def usable_envelopes(recorded: Electromyography) -> Envelopes:
    """Envelopes of muscles with a channel without faults."""
    maximal = np.array([facts["normalised_by"] == "maximal trial" for facts in recorded.facts], dtype=bool)
    used = recorded.usable
    names = tuple(name for name, use in zip(recorded.muscles, used, strict=True) if use)
    return Envelopes(names, recorded.envelope[:, used], maximal[used])


def measured_activation(
    problem: Problem, options: Muscles, envelopes: Envelopes | None
) -> tuple[FloatArray | None, tuple[str, ...]]:
    """Envelopes scaled to activations, with notes.

    An envelope normalised by a maximal trial is used unchanged. Any other shows timing, not amplitude: it is
    scaled to the mean activation of the muscle without electromyography.

    Returns
    -------
    ndarray of shape (n_frames, n_muscles) or None
        NaN where nothing is measured; None where that is everywhere.
    notes : tuple of str
    """
    if options.emg_weight == 0.0:
        return None, ()
    if envelopes is None:
        return None, ("muscles.emg_weight has no effect: no electromyography was read",)
    names = problem.muscle_set.names
    wanted = [name for name in envelopes.muscles if name in names]
    if not wanted:
        return None, ("muscles.emg_weight has no effect: no muscle of the set has a channel without faults",)
    without = least_cost_forces(problem, options).activation
    measured, scaled = np.full(without.shape, np.nan), []
    for name in wanted:
        at, own = names.index(name), envelopes.muscles.index(name)
        level, factor = envelopes.level[:, own], 1.0
        if not envelopes.maximal[own]:  # ratio of the means over the frames where both are known
            known = np.isfinite(level) & np.isfinite(without[:, at])
            total = float(level[known].sum())
            factor = float(without[known, at].sum()) / total if total > 0.0 else 0.0
        measured[:, at] = factor * level
        scaled.append(name if envelopes.maximal[own] else f"{name} (scaled by {factor:.2g})")
    note = f"activations near the envelopes (muscles.emg_weight {options.emg_weight:g}): {', '.join(scaled)}"
    return measured, (note,)


def optimize_forces(
    problem: Problem, options: Muscles, envelopes: Envelopes | None = None
) -> tuple[StaticOptimization, tuple[str, ...]]:
    """Static optimization of a set's muscles, near their envelopes if set so.

    Parameters
    ----------
    problem : Problem
        Torques and muscles.
    options : Muscles
        Section `muscles` of the settings.
    envelopes : Envelopes, optional
        Measured envelopes, for `muscles.emg_weight`.

    Returns
    -------
    optimized : StaticOptimization
    notes : tuple of str
        Notes on the envelopes that the activations stay near.
    """
    envelope, notes = measured_activation(problem, options, envelopes)
    return least_cost_forces(problem, options, envelope=envelope), notes
