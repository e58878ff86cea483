"""Sizes of the bands of the net torques, by joint and source, on simulated and recorded walks beside published ones.

Prints two tables in Markdown. The first has, of each kind of recording, the 95 % limits to each side of the net torques
and the standard deviation by each source of error, root mean squares over frames, medians over legs. The second has what
published studies varied, our bands with the same errors, and their result. With ``--figure`` it draws instead the curves of the
demo's walks beside those of the recorded children (``docs/figures/demo_cohort.png``).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bands_outside import JOINTS, PAGE, PHASES, RUN, WALK, without
from plug_in_gait import write

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.reading import limb_of
from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.cli.init.init import init_study
from limbtorque.figures.style import paper_figure, paper_style, save_figure
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording, read_with_forces
from limbtorque.recordings.recording import with_static
from limbtorque.statistics.windows import find_window, resample
from limbtorque.study.options.uncertainty import SOURCES, Uncertainty
from limbtorque.study.settings import Settings, make_settings
from limbtorque.study.study import load_study
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.uncertainty.bands import LIMITS
from limbtorque.uncertainty.propagation import torque_bands

ROOT = Path(__file__).resolve().parents[1]
FIVE_TO_95 = 2.0 * 1.6449  # standard deviations
PLACED = 0.02 / np.sqrt(3.0)  # standard deviation of an error that is even between -2 and 2 cm
MYERS = (
    "Myers et al. 2015: one examiner's markers, artefact, segments; mean width 5 to 95 %, smallest and largest joint"
)
UCHIDA = "Uchida and Seth 2022: markers off by up to 2 cm; peak moment of the ankle (ours: joint centres, 95 % width)"
GROUPS = {
    "joint centres": ("joint_centres",),
    "soft tissue": ("soft_tissue",),
    "filter": ("filter",),
    "segments": ("segment_mass", "segment_com", "segment_inertia", "body_mass"),
    "plates": ("plate_gain", "plate_offset", "pressure", "synchronisation"),
    "noise, gaps, plane": ("marker_noise", "gaps", "plane"),
}
TITLES = (
    *("hip flexion (\N{DEGREE SIGN})", "knee flexion (\N{DEGREE SIGN})", "ankle dorsiflexion (\N{DEGREE SIGN})"),
    *("hip flexor torque (N m/kg)", "knee flexor torque (N m/kg)", "ankle dorsiflexor torque (N m/kg)"),
    *("vertical force (body weights)", "forward force (body weights)", "ankle power (W/kg)"),
)
ALL_BUT_CENTRES = [source for source in SOURCES if source != "joint_centres"]


@dataclass(frozen=True)
class Leg:
    """A leg with what its bands are computed from.

    Attributes
    ----------
    name : str
        Kind of the recording.
    motion : ChainMotion
        Its motion.
    limb : Limb
        The limb.
    settings : Settings
        The settings.
    """

    name: str
    motion: ChainMotion
    limb: Limb
    settings: Settings

    def bands(self, **errors: Any) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Net torques and their variances by source, (n_frames, 3); NaN in frames that no summary uses."""
        own = Uncertainty(**{**self.settings.uncertainty.model_dump(), **errors})
        settings = self.settings.model_copy(update={"uncertainty": own})
        torques, found = joint_torques(self.motion), torque_bands(self.motion, self.limb, settings)
        used = used_frames(self.motion, torques)[:, None]
        parts = {source: np.where(used, each[:, 0].T, np.nan) for source, each in found.by_source.items()}
        return np.where(used, torques.terms.net, np.nan), parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path, help="folder with the recordings: cohort, walk_emg_opensim, ...")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/uncertainty.md")
    parser.add_argument("--figure", type=Path, help="file of the figure of the demo's walks; no table is made")
    options = parser.parse_args()
    folder = options.recordings.resolve()
    if options.figure:
        draw_walks(folder / "cohort", options.figure)
        return
    legs = [*simulated(), *recorded(folder)]
    tables = [by_source(legs), beside_literature(legs)]
    if options.write:
        write(PAGE, [without(table, "demo study", "adult, run") for table in tables], first=3)
    print("\n\n".join(tables))


def simulated() -> Iterator[Leg]:
    """Legs of the demo study."""
    for trial in load_study(ROOT).trials:
        if trial.chain == "leg":
            recording = read_recording(trial.file)
            motion = chain_motion(recording, limb_of(trial), trial.settings)
            yield Leg("demo study", motion, limb_of(trial), trial.settings)


def recorded(folder: Path) -> Iterator[Leg]:
    """Legs of the cohort's straight walks, of an adult's walk and of a run."""
    with tempfile.TemporaryDirectory() as name:
        init_study(Path(name) / "study", folder / "cohort", chains=("leg",))
        for trial in load_study(Path(name) / "study").trials:
            if trial.condition == "straight":
                motion = chain_motion(read_recording(trial.file), limb_of(trial), trial.settings)
                yield Leg("children, straight walk", motion, limb_of(trial), trial.settings)
    options = ReadOptions(forces_length_unit="m")
    walk, run = folder / "walk_emg_opensim", folder / "running_opensim"
    walking = read_with_forces(walk / "markers_walk.trc", walk / "grf_walk.mot", options)
    running = read_with_forces(run / "motion_capture_run.trc", run / "grf_run.mot", options)
    running = with_static(running, read_recording(run / "static_run.trc"))
    for kind, recording, rules, mass_kg in (("adult, walk", walking, WALK, 85.3), ("adult, run", running, RUN, 70.0)):
        settings = make_settings({"plane": {"up_axis": "+y"}, "marker_sets": {"own": rules}})
        for side in ("right", "left"):
            limb = Limb("leg", side=side, body_mass_kg=mass_kg)
            yield Leg(kind, chain_motion(recording, limb, settings), limb, settings)


def draw_walks(cohort: Path, path: Path) -> None:
    """Draw the curves of the demo's walks over those of the children's straight walks."""
    with tempfile.TemporaryDirectory() as name, paper_style():
        init_study(Path(name) / "study", cohort, chains=("leg",))
        figure = paper_figure(125.0)
        panels = figure.subplots(3, 3, sharex=True)
        kinds = (("straight", Path(name) / "study", "#8A8A8A", "recorded children"), ("walk", ROOT, "#882255", "demo"))
        for condition, study, colour, label in kinds:
            curves = np.stack([*strides(study, condition)])
            for axes, lines in zip(panels.T.flat, curves.transpose(2, 0, 1), strict=True):
                axes.plot(np.linspace(0.0, 100.0, curves.shape[1]), lines.T, color=colour, linewidth=0.7)
                axes.plot([], [], color=colour, label=f"{label} ({len(lines)} strides)")
        for axes, title in zip(panels.T.flat, TITLES, strict=True):
            axes.axhline(0.0, color="black", linewidth=0.4)
            axes.set(title=title, xlim=(0.0, 100.0))
        for axes in panels[-1]:
            axes.set_xlabel("gait cycle (%)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        save_figure(figure, path, palette=True)


def strides(study: Path, condition: str) -> Iterator[FloatArray]:
    """Angles, torques and ground reaction force of a study's strides by cycle, shape (101, 9); NaN where not used."""
    for trial in load_study(study).trials:
        if trial.chain != "leg" or not trial.condition.startswith(condition):
            continue
        recording, limb = read_recording(trial.file), limb_of(trial)
        motion = chain_motion(recording, limb, trial.settings)
        torques = joint_torques(motion)
        used = used_frames(motion, torques)
        window = find_window(motion, used, events=recording.events, side=limb.side, settings=trial.settings)
        if motion.metrics["spike_frames"] or not np.isfinite(window.start_s):
            continue
        degrees = np.degrees(motion.flexion.of(motion.kinematics.angle_rad))
        torque = np.where(used[:, None], motion.flexion.sign * torques.terms.net, np.nan) / limb.body_mass_kg
        force = np.where(used[:, None], motion.load.force_n, np.nan) / (limb.body_mass_kg * 9.80665)
        power = torque[:, 2] * motion.flexion.sign[2] * motion.kinematics.velocity_rad_s[:, 2]
        values = np.column_stack([degrees, torque, force[:, ::-1], power])
        yield resample(motion.time_s, values, start_s=window.start_s, end_s=window.end_s)


def by_source(legs: Sequence[Leg]) -> str:
    """Table of the limits and of the standard deviations by source, of each kind and joint in stance."""
    names = ["recording", "joint", "95 % limits, N m", *(f"{name}, N m" for name in GROUPS)]
    lines = [f"| {' | '.join(names)} |", "| --- | --- " + "| ---: " * (len(names) - 2) + "|"]
    for name in dict.fromkeys(leg.name for leg in legs):
        parts = [(leg.motion.load.status, leg.bands()[1]) for leg in legs if leg.name == name]
        for k, joint in enumerate(JOINTS):
            means = np.array([_means(of, on == PHASES["stance"], k) for on, of in parts])  # [leg, group]
            means = means[np.isfinite(means).all(axis=1)]
            sizes = [LIMITS * np.sqrt(np.median(means.sum(axis=1))), *np.sqrt(np.median(means, axis=0))]
            lines.append(f"| {' | '.join([name, joint, *map(_digits, sizes)])} |")
    return "\n".join(lines)


def _means(parts: Mapping[str, FloatArray], some: BoolArray, joint: int) -> list[float]:
    """Mean variance of a joint over the known ones of some frames by each of `GROUPS`, N m squared."""
    nothing = np.zeros(len(some))
    every = [sum(parts[each][:, joint] if each in parts else nothing for each in group) for group in GROUPS.values()]
    known = some & np.isfinite(every).all(axis=0)
    return [float(each[known].mean()) if known.any() else np.nan for each in every]


def _digits(value: float) -> str:
    """Two digits, without an exponent."""
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


def beside_literature(legs: Sequence[Leg]) -> str:
    """Table of published bands beside ours."""
    lines = ["| errors and result | published, N m | ours, N m |", "| --- | --- | --- |"]
    myers, uchida = [], []
    for name in ("children, straight walk", "adult, walk"):
        own_legs = [leg for leg in legs if leg.name == name]
        widths = [
            FIVE_TO_95 * np.nanmean(np.sqrt(np.sum(list(leg.bands()[1].values()), axis=0)), axis=0) for leg in own_legs
        ]
        means, peaks = np.mean(widths, axis=0), [2.0 * LIMITS * _peak_sd(leg) for leg in own_legs]
        myers.append(f"{_digits(means.min())} to {_digits(means.max())} ({name})")
        uchida.append(f"{_digits(min(peaks))} to {_digits(max(peaks))} ({name})")
    lines.append(f"| {MYERS} | 2.7 to 8.1 | {', '.join(myers)} |")
    lines.append(f"| {UCHIDA} | 26.6 | {', '.join(uchida)} |")
    return "\n".join(lines)


def _peak_sd(leg: Leg) -> float:
    """Standard deviation of the ankle's peak by joint centres that are off by `PLACED`."""
    placed = dict.fromkeys(("hip_axis", "knee_axis", "ankle_axis", "head_of_metatarsal_2"), PLACED)
    net, parts = leg.bands(landmarks=placed, off=ALL_BUT_CENTRES)
    frame = int(np.nanargmax(np.abs(net[:, 2])))
    return float(np.sqrt(parts["joint_centres"][frame, 2]))


if __name__ == "__main__":
    main()
