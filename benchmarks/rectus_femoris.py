"""Compare the predicted rectus femoris with its electromyogram in walking, leaving out one cause after the other.

Usage: python benchmarks/rectus_femoris.py STUDY ADULT

STUDY and ADULT as for ``criteria.py``. Prints r of the rectus femoris, and the median r of the other muscles, over whole cycles,
with one thing changed: its moment arms, the torque at the knee in stance (by one and two standard deviations of its limits, and
by quadriceps and hamstrings that pull together), the torque at the hip, its strength, and passive torques. Tendons and further
passive moments: ``walk_options.py``; criteria: ``criteria.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from criteria import Walk, crossed, walks

from limbtorque.muscles.objective import Problem, least_cost_forces
from limbtorque.study.options.muscles import Muscles

MUSCLE = "rect_fem"
HIP, KNEE = 0, 1
KNEE_SD_NM = 4.8  # of the children's knees in stance (docs/uncertainty.md)
Change = Callable[[Walk], Problem]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path, help="study of the children, made by `limbtorque init`")
    parser.add_argument("adult", type=Path, help="folder walk_emg_opensim")
    options = parser.parse_args()
    young, old = walks(options.study, options.adult)
    print("\n".join(lines(young, old)))


def lines(young: Sequence[Walk], old: Sequence[Walk]) -> Iterator[str]:
    """Lines of the table."""
    yield "| changed | children: r | range | others, median | adult: r | others, median |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, change in CHANGES.items():
        cells = [name]
        for group in (young, old):
            r = pd.DataFrame([{"subject": walk.subject, **agreement(walk, change(walk))} for walk in group])
            by_subject = r.groupby("subject").median()
            own, others = by_subject[MUSCLE].dropna(), by_subject.drop(columns=MUSCLE).median()
            spread = [f"{own.min():.2f} to {own.max():.2f}"] if group is young else []
            cells += [f"{own.median():.2f}", *spread, f"{others.median():.2f}"]
        yield f"| {' | '.join(cells)} |"


def agreement(walk: Walk, problem: Problem) -> dict[str, float]:
    """Correlation of each activation with its own envelope."""
    found = least_cost_forces(problem, Muscles(), envelope=None)
    names = walk.envelopes.muscles
    return dict(zip(names, np.diag(crossed(walk, [found] * len(names))), strict=True))


def arm_times(joint: int, factor: float) -> Change:
    """Moment arm of the rectus femoris at a joint times a factor."""

    def change(walk: Walk) -> Problem:
        arm = walk.problem.arm.copy()
        arm[:, joint, walk.problem.muscle_set.names.index(MUSCLE)] *= factor
        return replace(walk.problem, arm=arm)

    return change


def torque_plus(joint: int, added_nm: float, share: float = 0.0) -> Change:
    """Torque of a joint in stance plus a constant and a share of its peak, flexion positive; stance: the ankle extends."""

    def change(walk: Walk) -> Problem:
        torque = walk.problem.torque_nm.copy()
        stance = torque[:, 2] < 0.02 * np.nanmin(torque[walk.used, 2])
        torque[stance, joint] += added_nm + share * np.nanmax(np.abs(torque[walk.used, joint]))
        return replace(walk.problem, torque_nm=torque)

    return change


def strength_times(factor: float) -> Change:
    """Strength of the rectus femoris times a factor."""

    def change(walk: Walk) -> Problem:
        strength = np.array(walk.problem.strength_n, dtype=float, copy=True)
        strength[..., walk.problem.muscle_set.names.index(MUSCLE)] *= factor
        return replace(walk.problem, strength_n=strength)

    return change


def least_activation(least: float, *, free: bool = False, only: bool = False) -> Change:
    """No muscle below an activation, which others have to balance; or all but the rectus femoris, or it alone."""

    def change(walk: Walk) -> Problem:
        low, high = walk.problem.bounds
        own = np.array(walk.problem.muscle_set.names) == MUSCLE
        held = ~own if free else own if only else np.ones_like(own)
        return replace(walk.problem, bounds=(np.where(held, np.maximum(low, least), low), high))

    return change


CHANGES: dict[str, Change] = {
    "nothing": lambda walk: walk.problem,
    "moment arm at the hip, half": arm_times(HIP, 0.5),
    "moment arm at the hip, none": arm_times(HIP, 0.0),
    "moment arm at the hip, 1.5 times": arm_times(HIP, 1.5),
    "moment arm at the knee, 0.7 times": arm_times(KNEE, 0.7),
    "moment arm at the knee, 1.3 times": arm_times(KNEE, 1.3),
    "knee in stance, 1 sd to extension": torque_plus(KNEE, -KNEE_SD_NM),
    "knee in stance, 2 sd to extension": torque_plus(KNEE, -2.0 * KNEE_SD_NM),
    "knee in stance, 2 sd to flexion": torque_plus(KNEE, 2.0 * KNEE_SD_NM),
    "knee in stance, half its peak to extension": torque_plus(KNEE, 0.0, -0.5),
    "hip in stance, a quarter of its peak to extension": torque_plus(HIP, 0.0, -0.25),
    "hip in stance, a quarter of its peak to flexion": torque_plus(HIP, 0.0, 0.25),
    "strength, half": strength_times(0.5),
    "strength, a tenth": strength_times(0.1),
    "every muscle at 1 % or more": least_activation(0.01),
    "every muscle at 2 % or more": least_activation(0.02),
    "every muscle at 3 % or more": least_activation(0.03),
    "every muscle at 5 % or more": least_activation(0.05),
    "the others at 5 % or more": least_activation(0.05, free=True),
    "rectus femoris at 5 % or more": least_activation(0.05, only=True),
}


if __name__ == "__main__":
    main()
