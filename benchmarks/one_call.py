"""Time one state, one frame or one array a call with two versions of the package, in turns.

A version without prepared chains and muscles runs the functions for recordings. Processor time, medians of the turns; the
ratio's interval holds the middle half of the turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = """
import sys, time
import numpy as np
sys.path.insert(0, sys.argv[1])
from limbtorque.chain import Chain, Kinematics, forward_dynamics, torque_terms
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.muscles.static_optimization.solve import share_torques
from limbtorque.signals.smoothers import Smoother, smooth_values
from limbtorque.simulation import Musculature, State, muscle_drive, simulate
try:
    from limbtorque.chain import PreparedChain
    from limbtorque.muscles.static_optimization.prepared import PreparedMuscles
except ImportError:
    PreparedChain = None

DOWN, CALLS = (0.0, -9.81), 50
rng = np.random.default_rng(0)
chain = Chain([0.3, 0.27, 0.1], [2.0, 1.5, 0.5], [0.13, 0.11, 0.05], [0.02, 0.01, 0.002])
states = rng.normal(size=(CALLS, 3, 3))
arm = rng.normal(0.0, 0.03, (CALLS, 3, 8))
strength = rng.uniform(300.0, 2000.0, 8)
torque = np.einsum("fjm,fm->fj", arm, strength * rng.uniform(0.0, 0.3, (CALLS, 8)))
markers = rng.normal(size=(1000, 38, 3)).cumsum(axis=0)
time_s = np.linspace(0.0, 0.4, 81)
samples = np.sin(time_s[:, None] * [3.0, 5.0, 7.0])
muscles = load_muscle_set("arm")
n = len(muscles.muscles)
limb = Musculature(muscles, ("shoulder", "elbow"), np.ones(2), np.array([-np.pi / 2.0, 0.0]))
upper = Chain([0.31, 0.36], [2.1, 1.7], [0.135, 0.16], [0.0205, 0.021])
start, bent = State([-1.0, 1.0, 0.2], np.zeros(3)), State(np.radians([-60.0, 75.0]), np.zeros(2))

def terms(q, v, a):
    return torque_terms(chain, Kinematics(q[None], v[None], a[None]), gravity_m_s2=DOWN).net

def accelerations(q, v, a):
    return forward_dynamics(chain, Kinematics(q[None], v[None]), a[None], gravity_m_s2=DOWN)

def shared(a, t):
    return share_torques(a[None], t[None], strength)

one_chain = PreparedChain(chain, DOWN) if PreparedChain else None
one_muscles = PreparedMuscles(strength) if PreparedChain else None
one_terms = (lambda q, v, a: one_chain.torque_terms(q, v, a).net) if PreparedChain else terms
one_shared = one_muscles.share_torques if PreparedChain else shared
many = np.tile(states, (20, 1, 1)).swapaxes(0, 1)
JOBS = {
    "torque terms of a state, three links (us)": (lambda: [one_terms(*s) for s in states], CALLS),
    "accelerations of a state (us)": (
        lambda: [(one_chain.forward_dynamics if PreparedChain else accelerations)(*s) for s in states], CALLS
    ),
    "static optimization of a frame, eight muscles (us)": (lambda: [one_shared(*f) for f in zip(arm, torque)], CALLS),
    "1000 frames: torque_terms (us)": (lambda: torque_terms(chain, Kinematics(*many), gravity_m_s2=DOWN).net, 1),
    "1000 frames: share_torques (us)": (
        lambda: share_torques(np.tile(arm, (20, 1, 1)), np.tile(torque, (20, 1)), strength), 1
    ),
    "array filter, 1000 frames of 38 markers (us)": (
        lambda: smooth_values(markers, rate_hz=100.0, cutoff_hz=6.0, smoother=Smoother()), 1
    ),
    "forward simulation, three free links, 0.4 s (us)": (
        lambda: simulate(chain, time_s, start, None, gravity_m_s2=DOWN), 1
    ),
    "forward simulation, sampled torques, 0.4 s (us)": (
        lambda: simulate(chain, time_s, start, samples, gravity_m_s2=DOWN, load_nm=samples, base_acceleration_m_s2=samples[:, :2]), 1
    ),
    "forward simulation, fifteen muscles, 0.4 s (us)": (
        lambda: simulate(
            upper, time_s, bent, muscle_drive(limb, np.full(n, 0.03), activation=np.full(n, 0.02)), gravity_m_s2=DOWN
        ), 1
    ),
}
print("|".join(JOBS), flush=True)
for _ in sys.stdin:
    times = []
    for job, calls in JOBS.values():
        begun = time.process_time()
        job()  # warm, so that the job before does not matter
        again = 1 + int(0.03 / max(time.process_time() - begun, 1e-6))
        begun = time.process_time()
        for _ in range(again):
            job()
        times.append(1e6 * (time.process_time() - begun) / calls / again)
    print(*times, flush=True)
"""


def worker(source: Path) -> tuple[subprocess.Popen[str], list[str]]:
    """Process that does every job once for each line that it gets, and the names of the jobs."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORK, str(source.resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(source.resolve())},
    )
    return process, answer(process).split("|")


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise SystemExit("a version of the package failed; its message is above")
    return line.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="src folder of the version to compare with")
    parser.add_argument("--after", type=Path, default=HERE.parent / "src")
    parser.add_argument("--turns", type=int, default=21)
    options = parser.parse_args()
    workers = [worker(options.before), worker(options.after)]
    times: list[list[list[float]]] = [[], []]
    for _ in range(options.turns):
        for (process, _), turns in zip(workers, times, strict=True):
            assert process.stdin is not None
            process.stdin.write("run\n")
            process.stdin.flush()
            turns.append([float(word) for word in answer(process).split()])
    for process, _ in workers:
        process.communicate()
    print("| | before | after | ratio | middle half |\n| --- | --- | --- | --- | --- |")
    for name, before, after in zip(workers[1][1], *(zip(*turns, strict=True) for turns in times), strict=True):
        ratios = [b / a for a, b in zip(before, after, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(
            f"| {name} | {statistics.median(before):.1f} | {statistics.median(after):.1f} | {middle:.2f} |"
            f" {low:.2f} to {high:.2f} |"
        )


if __name__ == "__main__":
    main()
