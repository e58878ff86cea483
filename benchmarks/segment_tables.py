"""Net torques with each table of body segment parameters, on the trials of a study.

    python benchmarks/segment_tables.py study [study ...]

A study is a folder with `config/config.yaml`. `docs/segments.md` quotes one run on the demo and on a proposed cohort. The
same motion is analysed with each table; landmarks that the study does not map are placed: the toe's tip at 1.35 of the way
from heel to metatarsal, the metacarpal's head at the knuckle.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import TrialError
from limbtorque.motion.chain_motion import ChainMotion, chain_motion
from limbtorque.recordings.read import read_recording
from limbtorque.study.settings import Settings
from limbtorque.study.study import load_study
from limbtorque.study.trials import Trial
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.workflow.stages.kinematics import limb_of

REFERENCE = ("dempster_winter", "")
OTHERS = (("de_leva", "f"), ("de_leva", "m"))
TOE_TIP = 1.35  # of the way from heel to head of metatarsal 2: 263 over 195 mm (Gordon et al. 2014)


def with_landmarks(settings: Settings, table: str) -> Settings:
    """Settings with a table, and rules for the landmarks that it needs beyond Winter's."""
    sets, stand_ins = {}, {}
    for name, rules in settings.marker_sets.items():
        own = dict(rules)
        if isinstance(rules.get("heel"), str) and isinstance(rules.get("head_of_metatarsal_2"), str):
            ends = [rules["heel"], rules["head_of_metatarsal_2"]]
            own["toe_tip"] = {"between": ends, "fraction": TOE_TIP}
        sets[name] = own
        stand_ins[name] = {**settings.substitutes.get(name, {}), "head_of_metacarpal_3": "knuckle_2_middle_finger"}
    raw = settings.model_dump()
    raw |= {"marker_sets": sets, "substitutes": stand_ins, "segments": {**raw["segments"], "table": table}}
    return Settings.model_validate(raw)


def net(trial: Trial, table: str, sex: str) -> tuple[ChainMotion, FloatArray]:
    """Motion and net torques of a trial with a table, N m."""
    recording = read_recording(trial.file)
    motion = chain_motion(recording, replace(limb_of(trial), sex=sex), with_landmarks(trial.settings, table))
    return motion, joint_torques(motion).terms.net


def compared(trial: Trial) -> Iterator[tuple[str, str, str, float, float]]:
    """Phase, joint, table, root mean square difference in N m and over the range."""
    motion, reference = net(trial, *REFERENCE)
    known = ~motion.edge & ~np.isnan(reference).any(axis=1)
    phases = {"all": known}
    if trial.settings.chain(trial.chain).ground_contact:
        phases = {"stance": known & (motion.load.status == 1), "swing": known & (motion.load.status == 0)}
    for table, sex in OTHERS:
        _, other = net(trial, table, sex)
        for phase, frames in phases.items():
            for k, joint in enumerate(motion.joints if frames.any() else ()):
                rms = float(np.sqrt(np.mean((other - reference)[frames, k] ** 2)))
                yield phase, joint, f"{table}, {sex}", rms, rms / float(np.ptp(reference[frames, k]))


def main() -> None:
    """Print one table for each study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", type=Path, nargs="+", help="folders of studies")
    for folder in parser.parse_args().studies:
        found: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
        for trial in load_study(folder).trials:
            try:
                for phase, joint, table, rms, share in compared(trial):
                    found[joint, phase, table].append((rms, share))
            except TrialError as error:
                print(f"{trial.name}: {error}")
        print(f"\n{folder.resolve().name}\n| joint | phase | table | trials | rms, N m | rms over range, % |")
        print("| --- | --- | --- | --- | --- | --- |")
        for (joint, phase, table), pairs in found.items():
            rms, share = np.array(pairs).T
            medians = f"{np.median(rms):.2f} | {100.0 * np.median(share):.1f}"
            print(f"| {joint} | {phase} | {table} | {len(pairs)} | {medians} |")


if __name__ == "__main__":
    main()
