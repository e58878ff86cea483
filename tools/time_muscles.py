"""Measure the processor time of muscle forces of a real step and a real reach, for docs/muscle_validation.md.

Usage: python tools/time_muscles.py FOLDER

FOLDER holds the recordings of the study in ``tests/recordings_study``. Median and least of `TURNS` turns on one core, over the
frames of the trial.
"""

from __future__ import annotations

import datetime
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from draw_muscles import STUDY, TITLES, analyse

from limbtorque.analysis.trial import TrialResult
from limbtorque.muscles.forces import muscle_forces
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.muscles.static_optimization.solve import share_torques
from limbtorque.study.study import load_study

TURNS = 15
SETS = {"walking2_right": "leg", "box_right": "arm"}
OPTIONS = {
    "muscle forces of the trial without ranges, with arms, metrics and notes": {},
    "the same with force-length-velocity on a rigid tendon": {"force_length_velocity": True},
    "the same on a compliant tendon": {"force_length_velocity": True, "tendon": "compliant"},
}


def main(recordings: Path) -> None:
    print("\n".join(lines(recordings)))


def lines(recordings: Path) -> Iterator[str]:
    """Lines of the table."""
    results = analysed(recordings)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    yield f"Measured on {today.day} {today:%B %Y}; us a frame, median of {TURNS} (least)."
    yield ""
    heads = [
        f"{name.split('_')[0]}, {len(result.motion.time_s)} frames, `{SETS[name]}`" for name, result in results.items()
    ]
    yield f"| | {' | '.join(heads)} |"
    yield f"| --- |{' --- |' * len(heads)}"
    yield f"| static optimization alone | {' | '.join(spent(result, alone(result)) for result in results.values())} |"
    for name, options in OPTIONS.items():
        yield f"| {name} | {' | '.join(spent(r, whole(r, SETS[trial], options)) for trial, r in results.items())} |"


def analysed(recordings: Path) -> dict[str, TrialResult]:
    """The two trials with their torques."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(STUDY, Path(folder) / "config")
        (Path(folder) / "recordings").symlink_to(recordings.resolve())
        trials = {trial.name: trial for trial in load_study(Path(folder)).trials if trial.name in TITLES}
        return {name: analyse(trials[name]) for name in SETS}


def alone(result: TrialResult) -> Callable[[], object]:
    """Static optimization of the trial, arms given."""
    found = result.muscles
    torque = result.torques.terms.net * result.motion.flexion.sign * found.arm_known
    arm = found.geometry.moment_arm_m * found.arm_known[:, None]
    return lambda: share_torques(arm, torque, max_force_n=found.muscle_set.max_force_n)


def whole(result: TrialResult, name: str, options: dict[str, object]) -> Callable[[], object]:
    """Muscle forces of the trial with some options changed."""
    chosen = result.settings.muscles.model_copy(update={"ranges": False, **options})
    muscles, net = load_muscle_set(name), result.torques.terms.net
    mass, reaction = result.limb.body_mass_kg, result.torques.wrenches.reaction_n
    return lambda: muscle_forces(result.motion, net, muscles, options=chosen, body_mass_kg=mass, reaction_n=reaction)


def spent(result: TrialResult, run: Callable[[], object]) -> str:
    """Processor time of a call over the frames of a trial."""
    run()
    times = []
    for _ in range(TURNS):
        start = time.process_time()
        run()
        times.append(1e6 * (time.process_time() - start) / len(result.motion.time_s))
    return f"{np.median(times):.1f} ({min(times):.1f})"


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
