"""Lengths and moment arms, sampled over the joints that a muscle crosses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.opensim_models.joints import ModelJoint
from limbtorque.muscles.opensim_models.model import OpenSimModel

STEP_DEG = 5.0
LINE_STEP_DEG = 2.5  # over one joint
MOST_POSTURES = 1200
NEGLIGIBLE_M = 1e-4
N_TRIED = 7


class Posable(Protocol):
    """A model that takes a posture and measures muscles there; see `OpenSimModel`."""

    def pose(self, values: Mapping[str, float], /) -> None:
        """Set coordinates, rad."""

    def length(self, muscle: str, /) -> float:
        """Length in the posture, m."""

    def arm(self, muscle: str, coordinate: str, /) -> float:
        """Moment arm about a coordinate in the posture, m."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Muscles that cross the same joints, sampled on a grid over these joints.

    Parameters
    ----------
    muscles : tuple of str
        The muscles.
    joints : tuple of str
        Joints that they cross, proximal first; the chain's others are at flexion 0.
    flexion_deg : tuple of ndarray of shape (n,)
        For each joint, the flexion of the grid's lines, rising.
    length_m : ndarray of shape (n_muscles, n of the first joint, ...)
        Length of muscle and tendon.
    arm_m : ndarray of shape (n_muscles, n_joints, n of the first joint, ...)
        Moment arms, positive where the muscle flexes the joint.
    """

    muscles: tuple[str, ...]
    joints: tuple[str, ...]
    flexion_deg: tuple[FloatArray, ...]
    length_m: FloatArray
    arm_m: FloatArray


def crossed_joints(model: OpenSimModel, joints: Sequence[ModelJoint]) -> dict[str, tuple[ModelJoint, ...]]:
    """Joints that each muscle crosses, with an arm above 0.1 mm somewhere.

    Parameters
    ----------
    model : OpenSimModel
        The model.
    joints : sequence of ModelJoint
        Joints of the chain.

    Returns
    -------
    dict of str to tuple of ModelJoint
        Only of muscles that cross one at least.

    Notes
    -----
    A muscle crosses a joint whose coordinate moves bodies of its path against each other. Its moment arm alone does not
    tell: OpenSim's iteration over a wrapping surface may leave an arm of a millimetre at a joint far from the muscle.
    """
    pairs = [
        (muscle, joint)
        for joint in joints
        for muscle, data in model.muscles.items()
        if len(data.bodies) > 1 and _moves(model, joint, data.bodies)
    ]
    largest = dict.fromkeys(((muscle, joint.name) for muscle, joint in pairs), 0.0)
    for k in range(N_TRIED):
        part = [(k / (N_TRIED - 1) + j / 3.0) % 1.0 if k else 0.5 for j in range(len(joints))]
        flexion = [low + p * (high - low) for p, (low, high) in zip(part, (q.range_deg for q in joints), strict=True)]
        model.pose(_values(joints, flexion))
        for muscle, joint in pairs:
            arm = abs(model.arm(muscle, joint.coordinate))
            largest[muscle, joint.name] = max(largest[muscle, joint.name], arm if np.isfinite(arm) else 1.0)
    crossed = {
        muscle: tuple(joint for of, joint in pairs if of == muscle and largest[of, joint.name] > NEGLIGIBLE_M)
        for muscle in model.muscles
    }
    return {muscle: some for muscle, some in crossed.items() if some}


def _moves(model: OpenSimModel, joint: ModelJoint, bodies: Sequence[str]) -> bool:
    """Return True if a joint moves some of the bodies against others."""
    seen = []
    for flexion in (*joint.range_deg, sum(joint.range_deg) / 2):
        model.pose({joint.coordinate: joint.value_rad(flexion)})
        placed = [model.place(body) for body in bodies]
        turn, origin = placed[0]
        seen.append(np.array([np.column_stack([turn.T @ of, turn.T @ (at - origin)]) for of, at in placed]))
    return not all(np.allclose(seen[0], other, rtol=0.0, atol=1e-9) for other in seen[1:])


def sample(model: Posable, crossed: Mapping[str, tuple[ModelJoint, ...]]) -> Iterator[Samples]:
    """Sample muscles over the joints that they cross.

    Parameters
    ----------
    model : Posable
        The model.
    crossed : mapping of str to tuple of ModelJoint
        From `crossed_joints`.

    Yields
    ------
    Samples
        For each combination of joints.

    Notes
    -----
    The grid is passed line by line, back and forth, so that a posture follows a near one: a path over a wrapping surface
    may depend on the one before.
    """
    for joints in dict.fromkeys(crossed.values()):
        muscles = tuple(muscle for muscle, of in crossed.items() if of == joints)
        lines = grid_lines(joints)
        shape = tuple(len(line) for line in lines)
        length, arm = np.empty((len(muscles), *shape)), np.empty((len(muscles), len(joints), *shape))
        for index in back_and_forth(shape):
            model.pose(_values(joints, [line[i] for line, i in zip(lines, index, strict=True)]))
            for m, muscle in enumerate(muscles):
                length[(m, *index)] = model.length(muscle)
                for j, joint in enumerate(joints):
                    arm[(m, j, *index)] = joint.sign * model.arm(muscle, joint.coordinate)
        yield Samples(muscles, tuple(joint.name for joint in joints), lines, length, arm)


def _values(joints: Sequence[ModelJoint], flexion_deg: Sequence[float]) -> dict[str, float]:
    return {joint.coordinate: joint.value_rad(float(q)) for joint, q in zip(joints, flexion_deg, strict=True)}


def grid_lines(joints: Sequence[ModelJoint]) -> tuple[FloatArray, ...]:
    """Lines of a grid over joints, at most 1200 points for two joints or more."""
    step = LINE_STEP_DEG if len(joints) == 1 else STEP_DEG
    while True:
        counts = [int(np.ceil((joint.range_deg[1] - joint.range_deg[0]) / step)) + 1 for joint in joints]
        if len(joints) == 1 or np.prod(counts) <= MOST_POSTURES:
            return tuple(np.linspace(*joint.range_deg, n) for joint, n in zip(joints, counts, strict=True))
        step *= 1.1


def back_and_forth(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Indices of a grid, each a neighbour of the one before.

    >>> list(back_and_forth((2, 3)))
    [(0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0)]
    """
    for outer in itertools.product(*(range(n) for n in shape[:-1])):
        position = int(np.ravel_multi_index(outer, shape[:-1])) if outer else 0
        line = range(shape[-1])
        yield from ((*outer, i) for i in (line[::-1] if position % 2 else line))
