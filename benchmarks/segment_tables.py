"""Net torques with each table of body segment parameters, on the demo and on a cohort as `limbtorque init` proposes it.

    python benchmarks/segment_tables.py folder
    python benchmarks/segment_tables.py folder --write

The folder is that of the recordings of the tests. `--write` puts the table into docs/segments.md. The
same motion is analysed with each table; landmarks that the study does not map are placed: the toe's tip at 1.35 of the way
from heel to metatarsal, the metacarpal's head at the knuckle.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from plug_in_gait import ROOT, write

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.reading import limb_of
from limbtorque.arrays import FloatArray
from limbtorque.cli.init.init import init_study
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.recordings.read import read_recording
from limbtorque.study.settings import Settings
from limbtorque.study.study import load_study
from limbtorque.study.trials import Trial
from limbtorque.torques.joint_torques import joint_torques

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


def measured(study: Path) -> dict[tuple[str, str, str], str]:
    """Medians over the trials of a study, by joint, phase and table: in N m, and in % of the range."""
    found: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for trial in load_study(study).trials:
        for phase, joint, table, rms, share in compared(trial):
            found[joint, phase, table].append((rms, share))
    medians = {key: np.median(pairs, axis=0) for key, pairs in found.items()}
    return {key: f"{rms:.2f} N m, {100.0 * share:.1f} %" for key, (rms, share) in medians.items()}


def table_of(studies: Mapping[str, Mapping[tuple[str, str, str], str]]) -> str:
    """Table of the page: a row for each joint and phase, a column for each study and sex."""
    names = [f"{table}, {sex}" for table, sex in OTHERS]
    head = [f"{study}, {sex}" for study in studies for _, sex in OTHERS]
    lines = [f"| joint | frames | {' | '.join(head)} |", f"| --- | --- |{' --- |' * len(head)}"]
    rows = dict.fromkeys((phase, joint) for found in studies.values() for joint, phase, _ in found)
    for phase, joint in sorted(rows, key=lambda row: ("stance", "swing", "all").index(row[0])):
        cells = [found.get((joint, phase, name), "none") for found in studies.values() for name in names]
        lines.append(f"| {joint} | {phase} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=Path, help="folder of the recordings of the tests")
    parser.add_argument("--write", action="store_true", help="write the table into docs/segments.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        cohort = Path(name) / "study"
        init_study(cohort, options.recordings.resolve() / "cohort", chains=("leg",))
        table = table_of({"demo": measured(ROOT), "cohort": measured(cohort)})
    print(table)
    if options.write:
        write(ROOT / "docs" / "segments.md", [table])


if __name__ == "__main__":
    main()
