"""Time motion and torques of one trial of 1000 frames with two versions of the package, in turns."""

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
sys.path.insert(0, sys.argv[2])
from limbtorque.motion.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.settings import make_settings
from limbtorque.torques.joint_torques import joint_torques, torque_metrics, used_frames
try:
    from limbtorque.statistics.trial_window import find_window
    from limbtorque.torques.judged import judged_metrics
except ImportError:
    judged_metrics = None  # the version before trials were judged over a window
from damage_subjects import ARM, LEG, LEG_SUBSTITUTES
from synthetic import recording

raw = {
    "marker_sets": {"set": {**ARM, **LEG}},
    "substitutes": {"set": LEG_SUBSTITUTES},
    "plane": {"up_axis": "+z", "forward_axis": "+x", "kind": "sagittal"},
}
settings = make_settings(raw)
if sys.argv[1] == "reach":
    trial = recording(1000)
    limb = Limb("arm", side="right", body_mass_kg=72.0, marker_set="set")
else:
    walker = Walker(strike_m_s=0.1)
    plates = ((4.0 * walker.stride_m + 0.1, -0.25), (4.5 * walker.stride_m + 0.1, 0.25))
    walkway = Walkway(plates_m=plates, noise_m=5e-4, noise_n=1.0)
    trial = walk_recording(walker, walkway, duration_s=9.99, first_strike_s=0.35)
    limb = Limb("leg", side="right", body_mass_kg=70.0, marker_set="set")

def run():
    marks = [time.process_time()]
    motion = chain_motion(trial, limb, settings)
    marks.append(time.process_time())
    torques = joint_torques(motion)
    if judged_metrics is None:
        torque_metrics(motion, torques)
    else:
        used = used_frames(motion, torques)
        window = find_window(motion, used, events=trial.events, side=limb.side, settings=settings)
        model, mass = limb.model(settings), limb.body_mass_kg
        judged_metrics(motion, torques, window, model=model, body_mass_kg=mass, filled=lambda: None)
    marks.append(time.process_time())
    return 1e3 * (marks[1] - marks[0]), 1e3 * (marks[2] - marks[1])

for _ in range(5):
    run()
print("ready", flush=True)
for _ in sys.stdin:
    print(*run(), flush=True)
"""


def worker(case: str, source: Path) -> subprocess.Popen[str]:
    """Process that analyses the trial of a case once for each line that it gets."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORK, case, str(source.resolve())],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(source.resolve())},
    )
    answer(process)
    return process


def answer(process: subprocess.Popen[str]) -> list[float]:
    """Times of one turn, ms; empty for the first line."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise SystemExit("a version of the package failed; its message is above")
    return [] if line == "ready\n" else [float(word) for word in line.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="src folder of the version to compare with")
    parser.add_argument("--after", type=Path, default=HERE.parent / "src")
    parser.add_argument("--turns", type=int, default=41)
    options = parser.parse_args()
    print("case  version motion (ms) torques (ms) both (ms) ratio; medians of", options.turns, "turns, processor time")
    for case in ("reach", "walk"):
        workers = {"before": worker(case, options.before), "after": worker(case, options.after)}
        times: dict[str, list[list[float]]] = {name: [] for name in workers}
        for _ in range(options.turns):
            for name, process in workers.items():
                assert process.stdin is not None
                process.stdin.write("run\n")
                process.stdin.flush()
                times[name].append(answer(process))
        for process in workers.values():
            process.communicate()
        first = statistics.median(sum(turn) for turn in times["before"])
        for name, turns in times.items():
            motion, torques = (statistics.median(part) for part in zip(*turns, strict=True))
            both = statistics.median(map(sum, turns))
            print(f"{case} {name:7s} {motion:11.2f} {torques:12.2f} {both:9.2f} {both / first:5.2f}")


if __name__ == "__main__":
    main()
