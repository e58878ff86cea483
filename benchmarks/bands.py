"""Time linear and sampled bands of a trial of 1000 frames and three links, beside naive loops.

The loop of differences computes, for each direction in which an input may be wrong, the torque terms of the changed motion on
both sides; that of samples analyses the trial with changed markers from the beginning, as often as there are samples. Of the
sampled bands the largest memory beyond that of the trial is printed, too.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from parts.coverage_cases import LEG_SET

from limbtorque.analysis.chain_motion import ChainMotion, chain_motion
from limbtorque.analysis.memory import keep_freed_memory
from limbtorque.arrays import FloatArray
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.model import Kinematics
from limbtorque.motion.limb import Limb
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.settings import Settings, make_settings
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.uncertainty.of_trial import window_weights
from limbtorque.uncertainty.propagation import torque_bands, trial_errors
from limbtorque.uncertainty.sampled import Draw, sampled_statistics
from limbtorque.uncertainty.sampled_forces import force_statistics

N_FRAMES, RATE_HZ = 1000, 100.0
N_SAMPLES = 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="runs, of which the fastest counts")
    repeats = parser.parse_args().repeats
    keep_freed_memory()  # as jobs do
    settings = make_settings({"marker_sets": {"sim": LEG_SET}, "plane": {"up_axis": "+z", "forward_axis": "+x"}})
    limb = Limb("leg", side="right", body_mass_kg=70.0)
    walkway = Walkway(((0.1, -0.2), (0.65, 0.2)), rate_hz=RATE_HZ, noise_m=0.0003)
    recording = walk_recording(Walker(rise_m=0.014), walkway, duration_s=(N_FRAMES - 1) / RATE_HZ, first_strike_s=0.35)
    motion = chain_motion(recording, limb, settings)
    errors = trial_errors(motion, limb, settings)
    n_directions = len(errors.directions)
    used = ~motion.edge
    window = {"windows": {"trial": used}, "used": used}
    weights = window_weights(motion, **window)
    draw = Draw(N_SAMPLES, 1)
    chosen = strong_muscles(settings)
    known = np.ones(len(motion.joints), dtype=bool)
    print(f"{len(motion.time_s)} frames, {n_directions} directions; processor time, fastest of {repeats}, ms\n")
    print("| | ms |\n| --- | --- |")
    for name, work in {
        "motion of the chain": lambda: chain_motion(recording, limb, settings),
        "torque terms, both methods": lambda: joint_torques(motion),
        "bands of all terms": lambda: torque_bands(motion, limb, settings),
        "a loop of differences": lambda: differences(motion, n_directions),
        f"statistics of {N_SAMPLES} samples": lambda: sampled_statistics(errors, draw, weights=weights, **window),
        f"{N_SAMPLES} samples of {len(chosen.names)} muscles' forces": lambda: force_statistics(
            errors, draw, chosen, settings.muscles, known=known, **window
        ),
    }.items():
        print(f"| {name} | {1e3 * fastest(work, repeats):.1f} |")
    again_s = fastest(lambda: joint_torques(chain_motion(recording, limb, settings)), repeats)
    print(f"| a loop of {N_SAMPLES} analyses (that of one, times {N_SAMPLES}) | {1e3 * N_SAMPLES * again_s:.1f} |")
    tracemalloc.start()
    sampled_statistics(errors, draw, weights=weights, **window)
    print(f"\nlargest memory of the samples: {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")


def strong_muscles(settings: Settings) -> MuscleSet:
    """Muscles of the leg."""
    return load_muscle_set(str(settings.muscle_set("leg", Path()))).crossing(("hip", "knee", "ankle"))


def differences(motion: ChainMotion, n_directions: int) -> list[FloatArray]:
    """Net torques on both sides of the motion along so many directions, one after the other."""
    found, of = [], motion.kinematics
    for k in range(n_directions):
        for step in (1e-3, -1e-3):
            moved = replace(of, angle_rad=of.angle_rad + step * np.eye(3)[k % 3])
            assert isinstance(moved, Kinematics)
            found.append(torque_terms(motion.chain, moved, gravity_m_s2=motion.gravity_m_s2, missing=True).net)
    return found


def fastest(work: Callable[[], object], repeats: int) -> float:
    """Least processor time of several runs, s."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
