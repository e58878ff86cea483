"""Synthetic recordings and studies for the benchmarks."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.recordings.recording import Recording
from limbtorque.simulation.reach import Arm, Reach, reach_recording

ROOT = Path(__file__).resolve().parents[1]
ARM = Arm(72.0, (0.31, 0.26, 0.085))


def recording(n_frames: int, *, n_markers: int = 40, rate_hz: float = 100.0, seed: int = 0) -> Recording:
    """Slow reach of `n_frames` frames with `n_markers` markers, gaps and noise."""
    rest_s = 0.5
    reach = Reach(
        (-80.0, 95.0, 10.0),
        (-25.0, 40.0, -10.0),
        ((n_frames - 1) / rate_hz - 3 * rest_s) / 2,
        (0.0, 1.4),
        rest_s=rest_s,
    )
    gaps = (("WRR", n_frames // 3, n_frames // 3 + 4), ("KNU", n_frames // 2, n_frames // 2 + 3))
    made = reach_recording(ARM, reach, horizontal=False, rate_hz=rate_hz, noise_m=2e-4, gaps=gaps, seed=seed)
    more = n_markers - len(made.labels)
    rng = np.random.default_rng(seed)  # the others rest, within the noise
    others = rng.normal(1.0, 0.2, size=(more, 3)) + rng.normal(0.0, 2e-4, size=(made.n_frames, more, 3))
    return replace(
        made,
        labels=(*made.labels, *(f"X{k:02d}" for k in range(more))),
        markers_m=np.concatenate([made.markers_m, others], axis=1),
    )


def study(folder: Path, *, n_trials: int, n_sessions: int, n_frames: int = 1000, figures: bool = False) -> None:
    """Write a study of equal trials; ten different recordings are made, the others are copies."""
    (folder / "config").mkdir(parents=True)
    (folder / "data").mkdir()
    originals = []
    for k in range(min(10, n_trials)):
        originals.append(folder / "data" / f"t{k:05d}.c3d")
        write_c3d(recording(n_frames, seed=k), originals[-1])
    rows = ["trial,session,subject,file,chain,side,condition"]
    for k in range(n_trials):
        path = folder / "data" / f"t{k:05d}.c3d"
        if not path.exists():
            shutil.copy(originals[k % len(originals)], path)
        rows.append(f"t{k:05d},s{k * n_sessions // n_trials:03d},S01,data/{path.name},arm,right,slow")
    (folder / "config" / "trials.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    shutil.copy(ROOT / "config" / "subjects.csv", folder / "config")
    text = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8")
    formats = "[png]" if figures else "[]"
    text = text.replace("formats: [png]", f"formats: {formats}")
    text = text.replace("max_rest_s: 1.0", "max_rest_s: 1.0e+6")  # the longer the trial, the slower the reach
    text = re.sub(r"torques:\n  bands: .*\n", "", text)  # as by default, and unknown to earlier versions
    text = text.partition("\ncontrasts:")[0] + "\n"  # what follows is of the demo's walks
    (folder / "config" / "config.yaml").write_text(text, encoding="utf-8")
