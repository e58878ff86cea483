"""Measured envelopes that activations stay near, in the amplitude of activations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.emg.recorded import Electromyography
from limbtorque.muscles.objective import Problem, least_cost_forces
from limbtorque.study.options.muscles import Muscles


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
        """Envelopes of some frames."""
        return replace(self, level=self.level[some])


def usable_envelopes(recorded: Electromyography) -> Envelopes:
    """Envelopes of the muscles with a channel without a fault."""
    maximal = np.array([facts["normalised_by"] == "maximal trial" for facts in recorded.facts], dtype=bool)
    used = recorded.usable
    names = tuple(name for name, use in zip(recorded.muscles, used, strict=True) if use)
    return Envelopes(names, recorded.envelope[:, used], maximal[used])


def measured_activation(
    problem: Problem, options: Muscles, envelopes: Envelopes | None
) -> tuple[FloatArray | None, tuple[str, ...]]:
    """Envelopes in the amplitude of activations, and notes on them.

    An envelope that is a part of that in a maximal trial is taken as it is. Any other says when a muscle works and not how
    much: it is scaled to the mean activation that the muscle has without electromyography.

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
        return None, ("muscles.emg_weight has no effect: no muscle of the set has a channel without a fault",)
    without = least_cost_forces(problem, options, problem.bounds[0]).activation
    measured, told = np.full(without.shape, np.nan), []
    for name in wanted:
        at, own = names.index(name), envelopes.muscles.index(name)
        factor = 1.0 if envelopes.maximal[own] else _factor(envelopes.level[:, own], without[:, at])
        measured[:, at] = factor * envelopes.level[:, own]
        told.append(name if envelopes.maximal[own] else f"{name} (scaled by {factor:.2g})")
    return measured, (_note(told, options),)


def _note(told: Sequence[str], options: Muscles) -> str:
    return f"activations near the envelopes (muscles.emg_weight {options.emg_weight:g}): {', '.join(told)}"


def _factor(envelope: FloatArray, activation: FloatArray) -> float:
    """Ratio of the means over the frames where both are known; 0 where there are none."""
    known = np.isfinite(envelope) & np.isfinite(activation)
    total = float(envelope[known].sum())
    return float(activation[known].sum()) / total if total > 0.0 else 0.0
