"""Compare the methods of `motion.angles` on movements with known torques."""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
from parts.angle_cases import ERRORS, SEEDS, Case, cases

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.arrays import FloatArray
from limbtorque.torques.joint_torques import joint_torques, used_frames

METHODS = ("segments", "rigid_chain", "inertial_chain")
WORST = 1.2  # largest ratio of a joint's error to that of the best method at this joint
JOINTS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")

Scores = dict[tuple[str, str, str], list[float]]  # of a method, an error and a joint: one number for each case


def main() -> None:
    parser = argparse.ArgumentParser(description=f"{__doc__} Prints tables in Markdown.")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="seeds of each case")
    options = parser.parse_args()
    share, absolute, count = scores(SEEDS[: options.seeds])
    print(f"{count} recordings. Error, root mean square over range, mean over cases, %:\n")
    _overall(share)
    print("\nRoot mean square error, N m, mean over cases:\n")
    _overall(absolute, digits=3, factor=1.0)
    for error in ERRORS:
        print(f"\n{error.name}, %:\n")
        _overall({key: values for key, values in share.items() if key[1] == error.name})
    print(f"\nchosen: {chosen(share)}")


def scores(seeds: tuple[int, ...]) -> tuple[Scores, Scores, int]:
    """Errors of each method by case: as a share of the range, and in N m; number of cases."""
    share: Scores = defaultdict(list)
    absolute: Scores = defaultdict(list)
    count = 0
    for case in cases(seeds=seeds):
        count += 1
        found = {method: torques_of(case, method) for method in METHODS}
        counted = np.all([~np.isnan(net).any(axis=1) for net, _ in found.values()], axis=0)
        size = np.ptp(case.torque_nm[counted], axis=0)
        for method, (net, joints) in found.items():
            off = np.sqrt(((net - case.torque_nm)[counted] ** 2).mean(axis=0))
            for joint, error, whole in zip(joints, off.tolist(), size.tolist(), strict=True):
                share[method, case.errors, joint].append(error / whole)
                absolute[method, case.errors, joint].append(error)
    return share, absolute, count


def torques_of(case: Case, method: str) -> tuple[FloatArray, tuple[str, ...]]:
    """Net torques of the frames that the summary uses, NaN elsewhere; and the joints."""
    angles = case.settings.motion.model_copy(update={"angles": method})
    motion = chain_motion(case.recording, case.limb, case.settings.model_copy(update={"motion": angles}))
    torques = joint_torques(motion)
    net = np.where(used_frames(motion, torques)[:, None], torques.terms.net, np.nan)
    return net, motion.joints


def means(scored: Scores) -> dict[str, dict[str, float]]:
    """Mean over cases by method and joint."""
    found: dict[str, dict[str, float]] = {}
    for method in METHODS:
        by_joint = {
            joint: [value for key, values in scored.items() if key[0] == method and key[2] == joint for value in values]
            for joint in JOINTS
        }
        found[method] = {joint: float(np.mean(values)) for joint, values in by_joint.items() if values}
    return found


def chosen(share: Scores) -> str:
    """Method of the lowest mean over joints whose worst joint is at most 1.2 times the best method's."""
    table = means(share)
    best = {joint: min(row[joint] for row in table.values()) for joint in table[METHODS[0]]}
    allowed = [m for m, row in table.items() if all(row[joint] <= WORST * best[joint] for joint in best)]
    return min(allowed or METHODS, key=lambda method: float(np.mean(list(table[method].values()))))


def _overall(scored: Scores, *, digits: int = 2, factor: float = 100.0) -> None:
    table = means(scored)
    joints = list(table[METHODS[0]])
    print(f"| method | {' | '.join(joints)} | mean |\n| --- " + "| --- " * (len(joints) + 1) + "|")
    for method, row in table.items():
        numbers = [factor * value for value in (*row.values(), float(np.mean(list(row.values()))))]
        print(f"| {method} | {' | '.join(f'{number:.{digits}f}' for number in numbers)} |")


if __name__ == "__main__":
    main()
