"""Time the mathematics of one trial of 1000 frames, after reading."""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from synthetic import ROOT, recording

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import kinematics_table
from limbtorque.muscles.force_table import muscle_table
from limbtorque.muscles.forces import muscle_forces
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.study.settings import load_settings
from limbtorque.torques.joint_torques import joint_torques, torque_table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--frames", type=int, default=1000)
    options = parser.parse_args()
    settings = load_settings(Path(ROOT / "config" / "config.yaml"))
    trial = recording(options.frames)
    muscle_set = load_muscle_set("arm")
    times: dict[str, list[float]] = {"motion": [], "torques": [], "muscles": [], "tables": []}
    for _ in range(options.runs):
        marks = [time.perf_counter()]
        motion = chain_motion(trial, Limb("arm", side="right", body_mass_kg=72.0, marker_set="limb_markers"), settings)
        marks.append(time.perf_counter())
        torques = joint_torques(motion)
        marks.append(time.perf_counter())
        forces = muscle_forces(
            motion,
            torques.terms.net,
            muscle_set,
            options=settings.muscles,
            body_mass_kg=72.0,
            reaction_n=torques.wrenches.reaction_n,
        )
        marks.append(time.perf_counter())
        kinematics_table(motion), torque_table(motion, torques), muscle_table(motion, forces, options=settings.muscles)
        marks.append(time.perf_counter())
        for name, start, stop in zip(times, marks[:-1], marks[1:], strict=True):
            times[name].append(1e3 * (stop - start))
    print(f"one trial of {options.frames} frames, median of {options.runs} runs in a warm process")
    for name, values in times.items():
        print(f"  {name:8s} {statistics.median(values):7.2f} ms")
    whole = [sum(run) for run in zip(*times.values(), strict=True)]
    low, high = min(whole), max(whole)
    mathematics = statistics.median(
        sum(run) for run in zip(times["motion"], times["torques"], times["muscles"], strict=True)
    )
    print(f"  all      {statistics.median(whole):7.2f} ms (lowest {low:.2f}, highest {high:.2f})")
    print(f"  without tables, the mathematics: {mathematics:.2f} ms; aim: at most 15")


if __name__ == "__main__":
    main()
