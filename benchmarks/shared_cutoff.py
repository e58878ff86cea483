"""Errors of net torques by cut-off: each trial's own, one for all trials, and the best that one knowing the truth would choose.

python benchmarks/shared_cutoff.py

Simulated subjects with exact torques (`damage_subjects.py`), undamaged. First each trial's own cut-off beside one for all, the median
of their own to 0.5 Hz, for walks, sagittal and horizontal reaches; then reaches by noise and speed, with skin that stays.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
from parts.damage_subjects import SHARES, Trial, make_trial, net_torques, subjects

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.arrays import FloatArray
from limbtorque.simulation.reach import Arm, Reach, reach_motion, reach_recording
from limbtorque.study.settings import override
from limbtorque.torques.joint_torques import joint_torques

REPETITIONS = 4
NOISES_M, DURATIONS_S, SEEDS = (1e-4, 2e-4, 4e-4), (0.5, 0.75, 1.0), (1, 2, 3)
FACTORS = (0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5)  # of the chosen cut-off: the best of them
G = 9.80665


def trials_of(task: str) -> list[Trial]:
    return [make_trial(task, who, repetition=k) for who in subjects(task) for k in range(REPETITIONS)]


def errors(trial: Trial, cutoff_hz: float | None) -> tuple[float, FloatArray]:
    """Cut-off of a trial, Hz, and the root mean square error of each joint over the range of its exact torque."""
    limits = {"filter.min_cutoff_hz": cutoff_hz, "filter.max_cutoff_hz": cutoff_hz} if cutoff_hz else {}
    settings = override(trial.settings, {name: str(hz) for name, hz in limits.items()}, source="benchmark")
    motion, (start_s, end_s) = chain_motion(trial.recording, trial.limb, settings), trial.window_s
    exact_nm = trial.torque_nm[motion.frame - trial.recording.first_frame]
    net_nm = joint_torques(motion).terms.net * motion.flexion.sign
    used = (motion.time_s >= start_s) & (motion.time_s <= end_s) & ~motion.edge & ~np.isnan(net_nm).any(axis=1)
    share = np.sqrt(((net_nm - exact_nm)[used] ** 2).mean(axis=0)) / np.ptp(exact_nm[used], axis=0)
    return motion.cutoff_hz[0], share


def compared(task: str) -> str:
    """Row of the table for a task."""
    trials = trials_of(task)
    own_hz, own = zip(*(errors(trial, None) for trial in trials), strict=True)
    shared_hz = round(2.0 * float(np.median(own_hz))) / 2.0
    shared = [errors(trial, shared_hz)[1] for trial in trials]
    difference = np.mean(shared, axis=0) / np.mean(own, axis=0) - 1.0
    cells = [
        f"{np.min(own_hz):.1f} to {np.max(own_hz):.1f}, shared {shared_hz:g}",
        *(_percent(np.mean(each, axis=0)) for each in (own, shared)),
        " / ".join(f"{100.0 * share:+.0f}" for share in difference),
    ]
    return f"| {task} | {len(trials)} | {' | '.join(cells)} |"


def reached(sizes: tuple[float, float]) -> str:
    """Row of the table for reaches of one noise and speed: two arms, three seeds."""
    noise_m, duration_s = sizes
    trials = [_reach(noise_m, duration_s, number, seed) for number in (0, 1) for seed in SEEDS]
    found = [errors(trial, None) for trial in trials]
    tried = [[errors(trial, k * hz)[1] for trial, (hz, _) in zip(trials, found, strict=True)] for k in FACTORS]
    best = min((np.mean(each, axis=0) for each in tried), key=np.mean)
    own_hz, own = zip(*found, strict=True)
    cells = (f"{np.mean(own_hz):.1f}", _percent(np.mean(own, axis=0)), _percent(best))
    return f"| {1e3 * noise_m:g} | {duration_s:g} | {' | '.join(cells)} |"


def _reach(noise_m: float, duration_s: float, number: int, seed: int) -> Trial:
    """A sagittal reach with noise alone."""
    trial = make_trial("sagittal reach", f"S{number:02d}")
    arm = Arm(72.0, (0.31, 0.26, 0.085)) if number else Arm(58.5, (0.28, 0.235, 0.078))
    reach = Reach((-80.0, 95.0, 10.0), (-25.0, 40.0, -10.0), duration_s, (0.0, 1.4))
    made = reach_recording(arm, reach, horizontal=False, rate_hz=100.0, noise_m=noise_m, seed=seed)
    torque = net_torques(arm.chain, reach_motion(reach, rate_hz=100.0), gravity=(0.0, -G), loads=[])
    limb = replace(trial.limb, side="right", body_mass_kg=arm.body_mass_kg, load="")
    window_s = (reach.onsets_s[0], reach.onsets_s[1] + duration_s)
    return replace(trial, recording=made, limb=limb, torque_nm=torque, window_s=window_s)


def _percent(shares: FloatArray) -> str:
    return " / ".join(f"{100.0 * share:.2f}" for share in shares)


def main() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    print("| movement | trials | cut-offs, Hz | own: error of each joint, % of range | shared | change, % |")
    print("| --- " * 6 + "|")
    with ProcessPoolExecutor(2) as pool:
        for row in pool.map(compared, SHARES):
            print(row, flush=True)
        print("\n| noise, mm | reach, s | cut-off, Hz | shoulder / elbow / wrist, % of range | at the best cut-off |")
        print("| --- " * 5 + "|")
        for row in pool.map(reached, [(noise_m, s) for noise_m in NOISES_M for s in DURATIONS_S]):
            print(row, flush=True)


if __name__ == "__main__":
    main()
