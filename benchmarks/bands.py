"""Time linear and sampled bands of a trial of 1000 frames and three links, beside naive loops.

The loop of differences computes, for each direction in which an input may be wrong, the torque terms of the changed motion on
both sides; that of samples analyses the trial with changed markers from the beginning, as often as there are samples. Of the
sampled bands the largest memory beyond that of the trial is printed, too.

With --study the processor time of the stages of a study with and without bands, in turns: synthetic reaches of 1000 frames, each kind
of study in a process of its own with the processes that read the recordings. Figures, pages and the workflow's own time are left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from parts.coverage_cases import LEG_SET
from synthetic import study

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
from limbtorque.workflow.job import ONE_THREAD

N_FRAMES, RATE_HZ = 1000, 100.0
N_SAMPLES = 512
KINDS = {
    "without": "uncertainty: {enabled: false}\n",
    "linear": "uncertainty: {enabled: true}\n",
    "linear, in every torque table": "uncertainty: {enabled: true}\ntorques: {bands: true}\n",
}
SAMPLES = {"512 samples, with muscles": "uncertainty: {enabled: true, samples: 512}\n"}
STAGES = """
import csv, importlib, resource, sys
from pathlib import Path
from limbtorque.study.study import load_study
from limbtorque.workflow import keys
folder = Path(sys.argv[1])
study = load_study(folder)
(session,) = study.batches
def used_s():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)
names = ("kinematics", "torques", "muscles", "curves", "ensembles", "collect")
modules = {name: importlib.import_module("limbtorque.workflow.stages." + name) for name in names}
start = used_s()
for name, module in modules.items():
    own = {} if name in ("ensembles", "collect") else {"session": session}
    key = {"key": keys.session_key(name, study, session)} if own else {}
    module.run(folder=folder, **own, **key)
print(used_s() - start)
with (folder / "results" / "ledger.csv").open() as file:
    if failed := [row["message"] for row in csv.DictReader(file) if row["torque_status"] == "failed"]:
        sys.exit(failed[0])
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15, help="runs of a trial, of which the fastest counts")
    parser.add_argument("--study", action="store_true", help="time the stages of a study in place of a trial")
    parser.add_argument("--trials", type=int, default=100, help="trials of the study")
    parser.add_argument("--times", type=int, default=2, help="runs of each kind of study, of which the fastest counts")
    parser.add_argument("--samples", action="store_true", help="study also with samples")
    options = parser.parse_args()
    if options.study:
        of_study(options.trials, options.times, KINDS | (SAMPLES if options.samples else {}))
    else:
        of_trial(options.repeats)


def of_study(n_trials: int, times: int, kinds: dict[str, str]) -> None:
    """Print the processor time of the stages of each kind of study."""
    least = dict.fromkeys(kinds, float("inf"))
    for _ in range(times):
        for kind, more in kinds.items():
            least[kind] = min(least[kind], processor_s(n_trials, more))
    print(f"{n_trials} trials of 1000 frames, fastest of {times}\n")
    print("| uncertainty | processor time, s | ratio |\n| --- | ---: | ---: |")
    for kind, used_s in least.items():
        print(f"| {kind} | {used_s:.1f} | {used_s / least['without']:.2f} |")


def processor_s(n_trials: int, more: str) -> float:
    """Processor time of the stages of a study with these settings added, s."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "study"
        study(folder, n_trials=n_trials, n_sessions=1, n_frames=1000)
        with (folder / "config" / "config.yaml").open("a", encoding="utf-8") as file:
            file.write(more)
        words, environment = [sys.executable, "-c", STAGES, str(folder)], {**os.environ, **ONE_THREAD}
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout.split()[-1])


def of_trial(repeats: int) -> None:
    """Print the time of the bands of a trial, and the memory of the samples."""
    keep_freed_memory()  # as jobs do
    settings = make_settings({"marker_sets": {"sim": LEG_SET}, "plane": {"up_axis": "+z", "forward_axis": "+x"}})
    limb = Limb("leg", side="right", body_mass_kg=70.0)
    walkway = Walkway(((0.1, -0.2), (0.65, 0.2)), rate_hz=RATE_HZ, noise_m=0.0003)
    recording = walk_recording(Walker(), walkway, duration_s=(N_FRAMES - 1) / RATE_HZ, first_strike_s=0.35)
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
