"""Breaks of a muscle's path: steps of its moment arm, jumps of its length.

In published models a path may slip off a wrapping surface, and its arm steps, even to the other sense: the range of the
muscle ends there. Or the length jumps while the arm goes on: the arm is followed, and the jump is stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.opensim_models.sampling import Samples

STEP_M = 8e-3  # of a moment arm between neighbours; arms that only bend step by 5 mm in Rajagopal et al. (2016)
STEEPEST_M = 0.1  # for a radian, where neighbours are more than 5 deg apart
JUMP_M = 5e-4


@dataclass(frozen=True)
class Break:
    """A break of a muscle's path between two neighbouring samples.

    Parameters
    ----------
    muscle, joint : str
        Muscle, and the joint along which it breaks.
    size_m : float
        Step of the moment arm, or jump of the length.
    between_deg : pair of float
        Flexion of the joint before and after.
    """

    muscle: str
    joint: str
    size_m: float
    between_deg: tuple[float, float]


def unbroken(samples: Samples) -> Iterator[tuple[Samples, tuple[Break, ...]]]:
    """Divide a group of muscles: those without breaks, and each other cut at its.

    Parameters
    ----------
    samples : Samples
        Muscles on a common grid.

    Yields
    ------
    samples : Samples
        Muscles on a common grid, which is smaller for one with a break: the part around flexion 0.
    breaks : tuple of Break
        Ends of its range that are breaks.
    """
    breaks = [_breaks(samples, m) for m in range(len(samples.muscles))]
    whole = [m for m, found in enumerate(breaks) if not found]
    if whole:
        yield _part(samples, whole, tuple(slice(None) for _ in samples.joints)), ()
    for m, found in enumerate(breaks):
        if found:
            yield _part(samples, [m], _inside(samples, found)), tuple(found)


def largest_jump(samples: Samples, m: int) -> Break | None:
    """Largest change of length between samples that the arms do not explain.

    Parameters
    ----------
    samples : Samples
        The samples.
    m : int
        Index of the muscle.

    Returns
    -------
    Break or None
        None where it is 0.5 mm or less.
    """
    largest: Break | None = None
    for j, (joint, line) in enumerate(zip(samples.joints, samples.flexion_deg, strict=True)):
        length, arm = np.moveaxis(samples.length_m[m], j, -1), np.moveaxis(samples.arm_m[m, j], j, -1)
        off = np.diff(length) + (arm[..., 1:] + arm[..., :-1]) / 2 * np.diff(np.radians(line))
        i, size = _worst(off)
        if size > max(JUMP_M, largest.size_m if largest else 0.0):
            largest = Break(samples.muscles[m], joint, size, (float(line[i]), float(line[i + 1])))
    return largest


def _worst(change: FloatArray) -> tuple[int, float]:
    """Index of the largest change along the last axis, and that change."""
    by_pair = np.abs(change).reshape(-1, change.shape[-1]).max(axis=0)
    return int(by_pair.argmax()), float(by_pair.max())


def _breaks(samples: Samples, m: int) -> list[Break]:
    """Cuts of a muscle's range until no arm steps, those that cost least first."""
    found: list[Break] = []
    while True:
        part = _part(samples, [m], _inside(samples, found))
        cuts = [cut for j in range(len(part.joints)) for cut in _cuts(part, j)]
        if not cuts:
            return found
        found.append(min(cuts, key=lambda cut: cut[0])[1])


def _cuts(part: Samples, j: int) -> list[tuple[float, Break]]:
    """Cuts along a joint, each with the part of the range that it costs."""
    line = part.flexion_deg[j]
    change = np.abs(np.diff(np.moveaxis(part.arm_m[0], j + 1, -1), axis=-1))
    step = change.reshape(-1, len(line) - 1).max(axis=0) if len(line) > 1 else np.zeros(0)
    steep = np.flatnonzero(~(step <= np.maximum(STEP_M, STEEPEST_M * np.diff(np.radians(line)))))
    zero = _zero(line)
    below, above = steep[steep < zero][-1:], steep[steep >= zero][:1]
    lost = [(i + 1) / len(line) for i in below] + [(len(line) - 1 - i) / len(line) for i in above]
    ends = [
        Break(part.muscles[0], part.joints[j], float(step[i]), (float(line[i]), float(line[i + 1])))
        for i in (*below, *above)
    ]
    return list(zip(lost, ends, strict=True))


def _zero(line: FloatArray) -> int:
    return int(np.abs(line).argmin())


def _inside(samples: Samples, breaks: list[Break]) -> tuple[slice, ...]:
    """Part of the grid between the breaks."""
    parts = []
    for joint, line in zip(samples.joints, samples.flexion_deg, strict=True):
        own = [one.between_deg for one in breaks if one.joint == joint]
        zero = float(line[_zero(line)])
        low = max((after for _, after in own if after <= zero), default=float(line[0]))
        high = min((before for before, _ in own if before >= zero), default=float(line[-1]))
        parts.append(slice(int(np.searchsorted(line, low)), int(np.searchsorted(line, high)) + 1))
    return tuple(parts)


def _part(samples: Samples, muscles: list[int], inside: tuple[slice, ...]) -> Samples:
    return Samples(
        tuple(samples.muscles[m] for m in muscles),
        samples.joints,
        tuple(line[part] for line, part in zip(samples.flexion_deg, inside, strict=True)),
        samples.length_m[muscles][(slice(None), *inside)],
        samples.arm_m[muscles][(slice(None), slice(None), *inside)],
    )
