"""Effects of base motion and a rigid chain on the trials of `tests/recordings_study`."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.reading import TrialReader, limb_of
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.quality.metrics import torque_metrics
from limbtorque.quality.verdict import assess
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.study import load_study
from limbtorque.study.trials import Trial
from limbtorque.torques.joint_torques import joint_torques

STUDY = Path(__file__).resolve().parents[1] / "tests" / "recordings_study"


def main() -> None:
    parser = argparse.ArgumentParser(description=f"{__doc__} Prints a table in Markdown.")
    parser.add_argument("recordings", type=Path, help="folder of the recordings")
    options = parser.parse_args()
    print("| trial | cut-off, own | flags | without the base | largest net torque | rigid chain: distance, change |")
    print("| --- " * 6 + "|")
    with tempfile.TemporaryDirectory() as name, GuardedReader() as reader:
        folder = Path(name)
        shutil.copytree(STUDY / "config", folder / "config")
        (folder / "recordings").symlink_to(options.recordings.resolve())
        for trial in load_study(folder).trials:
            print(f"| {trial.name} | {' | '.join(_cells(trial, reader))} |")


def _cells(trial: Trial, reader: GuardedReader) -> tuple[str, ...]:
    recording = TrialReader(reader).recording(trial)
    motion = chain_motion(recording, limb_of(trial), trial.settings)
    torques = joint_torques(motion)
    net = torques.terms.net
    swing = (motion.load.status == 0) & ~motion.edge & ~motion.foreshortened
    still = joint_torques(
        replace(motion, kinematics=replace(motion.kinematics, base_acceleration_m_s2=np.zeros(2)))
    ).terms.net
    metrics = {**motion.metrics, **torque_metrics(motion, torques)}
    change, distance_mm = _rigid(trial, motion, net, recording)
    return (
        f"{metrics['cutoff_hz']:.1f} Hz",
        " ".join(flag.check.name for flag in assess(metrics, trial.settings.quality)) or "none",
        _largest(np.abs(still - net)[swing]),
        _largest(np.abs(net)[swing]),
        f"{distance_mm:.0f} mm, {100.0 * change:.0f} %",
    )


def _largest(values: np.ndarray) -> str:
    return ", ".join(f"{value:.2f}" for value in np.nanmax(values, axis=0)) + " N m" if len(values) else "no swing"


def _rigid(trial: Trial, motion: ChainMotion, net: np.ndarray, recording: object) -> tuple[float, float]:
    """Change of the proximal joint's largest torque, and distance of the chain from the joints, mm."""
    rigid = trial.settings.motion.model_copy(update={"angles": "rigid_chain"})
    fitted = chain_motion(recording, limb_of(trial), trial.settings.model_copy(update={"motion": rigid}))
    inner = ~motion.edge & ~fitted.edge
    before, after = (np.nanmax(np.abs(t[inner, 0])) for t in (net, joint_torques(fitted).terms.net))
    return abs(after / before - 1.0), 1e3 * fitted.metrics["chain_fit_m"]


if __name__ == "__main__":
    main()
