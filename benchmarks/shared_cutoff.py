"""Errors of net torques with a cut-off of each trial's own, and with one for all trials of a chain and condition.

python benchmarks/shared_cutoff.py

Simulated subjects with exact torques (`damage_subjects.py`), four undamaged trials each. The shared cut-off is that of a study
(`signals.cutoff.study_cutoff`): the median of the trials' own, for walks, sagittal and horizontal reaches.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from parts.damage_subjects import SHARES, Trial, make_trial, subjects

from limbtorque.analysis.trial import analyse_recording
from limbtorque.arrays import FloatArray
from limbtorque.signals.cutoff import study_cutoff
from limbtorque.study.settings import override

REPETITIONS = 4
QUICK = {"uncertainty.enabled": "false", "torques.bands": "false", "muscles.enabled": "false"}


def trials_of(task: str) -> list[Trial]:
    return [make_trial(task, who, repetition=k) for who in subjects(task) for k in range(REPETITIONS)]


def errors(trial: Trial, cutoff_hz: float | None) -> tuple[float, FloatArray]:
    """Cut-off of a trial, Hz, and the root mean square error of each joint over the range of its exact torque."""
    settings = override(trial.settings, QUICK, source="benchmark")
    result = analyse_recording(trial.recording, trial.limb, settings, cutoff_hz=cutoff_hz)
    motion, (start_s, end_s) = result.motion, trial.window_s
    exact_nm = trial.torque_nm[motion.frame - trial.recording.first_frame]
    net_nm = result.torques.terms.net * motion.flexion.sign
    used = (motion.time_s >= start_s) & (motion.time_s <= end_s) & ~motion.edge & ~np.isnan(net_nm).any(axis=1)
    share = np.sqrt(((net_nm - exact_nm)[used] ** 2).mean(axis=0)) / np.ptp(exact_nm[used], axis=0)
    return motion.cutoff_hz[0], share


def compared(task: str) -> str:
    """Row of the table for a task."""
    trials = trials_of(task)
    own_hz, own = zip(*(errors(trial, None) for trial in trials), strict=True)
    shared_hz = study_cutoff(own_hz)
    shared = [errors(trial, shared_hz)[1] for trial in trials]
    difference = np.mean(shared, axis=0) / np.mean(own, axis=0) - 1.0
    cells = [
        f"{np.min(own_hz):.1f} to {np.max(own_hz):.1f}, shared {shared_hz:g}",
        *(" / ".join(f"{100.0 * share:.2f}" for share in np.mean(each, axis=0)) for each in (own, shared)),
        " / ".join(f"{100.0 * share:+.0f}" for share in difference),
    ]
    return f"| {task} | {len(trials)} | {' | '.join(cells)} |"


def main() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    print("| movement | trials | cut-offs, Hz | own: error of each joint, % of range | shared | change, % |")
    print("| --- " * 6 + "|")
    with ProcessPoolExecutor(2) as pool:
        for row in pool.map(compared, SHARES):
            print(row)


if __name__ == "__main__":
    main()
