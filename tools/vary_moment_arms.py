"""Print how much the muscle forces of a real reach and a real step change with the moment arms, for docs/muscles.md.

Usage: python tools/vary_moment_arms.py FOLDER

FOLDER holds the recordings of the study in ``tests/recordings_study``. Every moment arm of every muscle is multiplied by a
factor of its own: of median 1, its logarithm with the standard deviation that the set has from the published arms (`spread`), and
-1 as often as they have the other sign (`opposed_part`), where they have it. 400 draws with one seed. Forces of p = 2 and the least force that
mechanics demands, at the frame of each muscle's largest force; strengths stay as they are. Draws that cannot make the torque
have no forces: their part is printed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from draw_muscles import FROM_S, STUDY, TITLES, analyse

from limbtorque.analysis import TrialResult
from limbtorque.arrays import FloatArray
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.ranges import force_range
from limbtorque.muscles.static_optimization.solve import share_torques
from limbtorque.study.study import load_study
from limbtorque.tables.files import column_array

DRAWS, SEED = 400, 48
SHOWN = 10


def main(recordings: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(STUDY, Path(folder) / "config")
        (Path(folder) / "recordings").symlink_to(recordings.resolve())
        for trial in (trial for trial in load_study(Path(folder)).trials if trial.name in TITLES):
            print(
                f"\n{trial.name}\n\n| muscle | time (s) | p = 2 (N) | 5 to 95 % | least (N) | 5 to 95 % | has to pull | out of reach |"
            )
            vary(analyse(trial), FROM_S[trial.name])


def vary(result: TrialResult, from_s: float) -> None:
    """Print one line for each of the strongest muscles."""
    table, muscles = result.muscle_table, result.muscles
    time = column_array(table, "time_s")[:, 0]
    status = column_array(table, "edge", "optimization_status")
    used = np.flatnonzero((status == 0).all(axis=1) & (time >= from_s))
    tops = used[muscles.force_n[used].argmax(axis=0)]
    flexion = result.motion.flexion.of(result.motion.kinematics.angle_rad)
    strongest = np.argsort(-muscles.force_n[tops, np.arange(len(tops))])[:SHOWN]
    for m in strongest:
        frame = int(tops[m])
        torque = column_array(table, *[f"{j}_flexion_sign" for j in result.motion.joints])[frame] * net(result, frame)
        arm = muscles.geometry.moment_arm_m[frame]
        factors = drawn_factors(muscles.muscle_set, result.motion.joints, flexion[frame])
        force, least = drawn(arm * factors, torque, muscles.muscle_set.max_force_n)
        names = muscles.muscle_set.names
        low, high = np.percentile(force[:, m], [5, 95])
        below, above = np.percentile(least[:, m], [5, 95])
        print(
            f"| {names[m]} | {time[frame]:.2f} | {muscles.force_n[frame, m]:.0f} | {low:.0f} to {high:.0f} | "
            f"{muscles.least_n[frame, m]:.0f} | {below:.0f} to {above:.0f} | {100 * (least[:, m] > 1.0).mean():.0f} % | "
            f"{100 * (1 - len(force) / DRAWS):.0f} % |"
        )


def net(result: TrialResult, frame: int) -> FloatArray:
    """Torque of all muscles and reserves of one frame, counter-clockwise [N m]."""
    return result.muscles.torque_nm[frame].sum(axis=-1) + result.muscles.reserve_nm[frame]


def drawn_factors(muscles: MuscleSet, joints: tuple[str, ...], flexion_rad: FloatArray) -> FloatArray:
    """Factors of the moment arms at a posture, shape (n_draws, n_joints, n_muscles)."""
    random = np.random.default_rng(SEED)
    spread, opposed = np.zeros((2, len(joints), len(muscles.muscles)))
    for j, joint in enumerate(joints):
        for m, muscle in enumerate(muscles.muscles):
            arm = muscle.moment_arms[joint]
            spread[j, m] = arm.spread or 0.0
            if arm.opposed_rad is not None and arm.opposed_rad[0] <= flexion_rad[j] <= arm.opposed_rad[1]:
                opposed[j, m] = arm.opposed_part
    shape = (DRAWS, *spread.shape)
    return np.exp(spread * random.normal(size=shape)) * np.where(random.random(shape) < opposed, -1.0, 1.0)


def drawn(arms_m: FloatArray, torque_nm: FloatArray, max_force_n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Forces of p = 2, and least forces, with the arms of each draw; draws that cannot make the torque are left out."""
    shared = share_torques(arms_m, np.tile(torque_nm, (len(arms_m), 1)), max_force_n)
    least, _ = force_range(arms_m, shared, max_force_n=max_force_n)
    made = shared.status == 0
    return shared.force_n[made], least[made]


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
