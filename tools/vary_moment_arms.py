"""Print how much the muscle forces of a real reach and a real step change with the moment arms, for docs/muscle_validation.md.

Usage: python tools/vary_moment_arms.py FOLDER

FOLDER holds the recordings of the study in ``tests/recordings_study``. Every moment arm of every muscle lies
somewhere between its lowest and its highest published value: at the same part of that range in all frames, of a uniform
distribution of its own. An arm without another source is multiplied by a factor between 1/2 and 2. 200 draws with one seed.
Forces of p = 2 and the least force that mechanics demands, at the frame of each muscle's largest force, and the frames in which a
muscle has to pull, with the set's arms and with others; strengths stay as they are. Frames that cannot make the torque
have no forces: their part is printed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from draw_muscles import FROM_S, STUDY, TITLES, analyse, used_frames

from limbtorque.analysis.trial import TrialResult
from limbtorque.arrays import FloatArray
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.ranges import force_range
from limbtorque.muscles.static_optimization.solve import share_torques
from limbtorque.study.study import load_study
from limbtorque.tables.files import column_array

DRAWS, SEED = 200, 48
UNKNOWN_FACTOR = 2.0  # about the median of the shoulder, highest over the set's or the set's over lowest
SHOWN = 10


def main(recordings: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(STUDY, Path(folder) / "config")
        (Path(folder) / "recordings").symlink_to(recordings.resolve())
        for trial in (trial for trial in load_study(Path(folder)).trials if trial.name in TITLES):
            print(f"\n{trial.name}\n")
            vary(analyse(trial), FROM_S[trial.name])


def vary(result: TrialResult, from_s: float) -> None:
    """Print one line for each of the strongest muscles."""
    table, muscles = result.muscle_table, result.muscles
    time = column_array(table, "time_s")[:, 0]
    used = used_frames(table)
    used = used[time[used] >= from_s]
    sign = column_array(table, *[f"{joint}_flexion_sign" for joint in result.motion.joints])[used]
    torque = sign * (muscles.torque_nm[used].sum(axis=-1) + muscles.reserve_nm[used])
    flexion = result.motion.flexion.of(result.motion.kinematics.angle_rad)[used]
    arms = drawn_arms(muscles.muscle_set, muscles.geometry.moment_arm_m[used], result.motion.joints, flexion)
    force, least = drawn(arms, torque, muscles.muscle_set.max_force_n)
    print(f"out of reach: {100 * np.isnan(force[..., 0]).mean():.1f} % of frames and draws\n")
    print("| muscle | time (s) | p = 2 (N) | 5 to 95 % | least (N) | 5 to 95 % | has to pull, frames | 5 to 95 % |")
    tops = muscles.force_n[used].argmax(axis=0)
    for m in np.argsort(-muscles.force_n[used].max(axis=0))[:SHOWN]:
        top = tops[m]
        cells = [muscles.muscle_set.names[m], f"{time[used[top]]:.2f}"]
        cells += [f"{muscles.force_n[used[top], m]:.0f}", percentiles(force[:, top, m])]
        cells += [f"{muscles.least_n[used[top], m]:.0f}", percentiles(least[:, top, m])]
        pulls = 100 * np.nanmean(np.where(np.isnan(least[..., m]), np.nan, least[..., m] > 1.0), axis=1)
        cells += [f"{100 * (muscles.least_n[used, m] > 1.0).mean():.0f} %", f"{percentiles(pulls)} %"]
        print(f"| {' | '.join(cells)} |")


def percentiles(values: FloatArray) -> str:
    """5th to 95th percentile, as a text."""
    return "{:.0f} to {:.0f}".format(*np.nanpercentile(values, [5, 95]))


def drawn_arms(muscles: MuscleSet, arm_m: FloatArray, joints: tuple[str, ...], flexion_rad: FloatArray) -> FloatArray:
    """Moment arms, shape (n_draws, n_frames, n_joints, n_muscles)."""
    random = np.random.default_rng(SEED)
    arms = np.repeat(arm_m[None], DRAWS, axis=0)
    for j, joint in enumerate(joints):
        for m, muscle in enumerate(muscles.muscles):
            part = random.random((DRAWS, 1))
            published = muscle.moment_arms[joint].published
            if published is None:
                arms[:, :, j, m] *= UNKNOWN_FACTOR ** (2.0 * part - 1.0)
            else:
                low, high = published.at(flexion_rad[:, j])
                arms[:, :, j, m] = low + part * (high - low)
    return arms


def drawn(arms_m: FloatArray, torque_nm: FloatArray, max_force_n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Forces of p = 2, and least forces, with the arms of each draw; NaN where they cannot make the torque."""
    shape = (*arms_m.shape[:2], arms_m.shape[-1])
    arms = arms_m.reshape(-1, *arms_m.shape[2:])
    shared = share_torques(arms, np.tile(torque_nm, (shape[0], 1)), max_force_n)
    least, _ = force_range(arms, shared, max_force_n=max_force_n)
    made = (shared.status == 0)[:, None]
    return tuple(np.where(made, values, np.nan).reshape(shape) for values in (shared.force_n, least))


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
