"""Print contact forces of recorded walks, and their change when a line of action turns by 10 degrees.

Usage: python tools/measure_contact.py STUDY [CONDITION [ADULT]]

STUDY is a folder with settings and tables, e.g. made by `limbtorque init`, whose trials are of a leg; CONDITION is a part of
the condition of the trials that count. ADULT is the folder ``walk_emg_opensim``, an adult's walk in two text files: with it
``docs/figures/contact_walk.png`` (all joints) and ``contact_knee.png`` (the knee of each leg) are drawn. The numbers, of
the cycles that the settings define, stand in docs/muscles.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from limbtorque.analysis import TrialResult, analyse_recording
from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.figures.style import NAME_SIZE, paper_figure, paper_style, save_figure
from limbtorque.motion.limb import Limb
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.muscles.forces import muscle_forces
from limbtorque.muscles.sets.muscle import Muscle
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_with_forces
from limbtorque.study.settings import make_settings, override
from limbtorque.study.study import load_study
from limbtorque.study.trials import Trial

PUBLISHED = {
    "hip": (2.38, "Bergmann et al. 2001"),
    "knee": (2.61, "Kutzner et al. 2010"),
    "ankle": (3.9, "Procter, Paul 1982"),
}
OTHER_PEAKS = (2.2, 2.8)  # of the knee, six months and a year after the operation
TURN_RAD = np.radians(10.0)
FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
ADULT_KG = 85.3  # mass of the model that OpenSim's authors scaled to the adult
LOADED_N = 20.0
KNEE = 1


def main(study: Path, condition: str, adult: Path | None) -> None:
    peaks, turns, legs = [], [], {}
    for trial in load_study(study).trials:
        if condition not in trial.condition:
            continue
        result = analyse(trial)
        own = forces(result, load_muscle_set("leg"), ranges=True)
        title = f"child {len({name for name, _ in legs if name != trial.subject.name}) + 1}"
        ends = result.window.start_s, result.window.end_s
        legs[trial.subject.name, trial.side] = (f"{title}, {trial.side}", cycle(result, own, ends))
        peaks.append({"trial": trial.name, **peaks_of(result, own)})
        turns += [{"trial": trial.name, **row} for row in turned_rows(result, own)]
    if adult:
        result = adult_walk(adult)
        own = forces(result, load_muscle_set("leg"), ranges=True)
        legs["adult", "right"] = ("adult, right", cycle(result, own, strikes(adult / "grf_walk.mot")))
        peaks.append({"trial": "adult, right", **peaks_of(result, own)})
    pd.set_option("display.width", 200, "display.max_columns", 40)
    print(pd.DataFrame(peaks).round(2).to_string(index=False))
    changes = pd.DataFrame(turns).groupby(["joint", "muscle"])[["peak_bw", "largest_bw"]]
    print(changes.agg(["median", "max"]).round(2).to_string())
    if adult:
        children = [curves for (name, _), (_, curves) in legs.items() if name != "adult"]
        draw(np.array(children), FIGURES / "contact_walk.png")
        draw_knees(list(legs.values()), FIGURES / "contact_knee.png")


def adult_walk(folder: Path) -> TrialResult:
    """Analyse the right leg of the adult, whose cycle is complete, from markers and forces in text files."""
    rules = {
        "anterior_superior_iliac_spine": "{S}.ASIS",
        "posterior_superior_iliac_spine": "{S}.PSIS",
        "hip_axis": {"hip_centre": "harrington_2007"},
        "knee_axis": "{S}.Knee",
        "ankle_axis": "{S}.Ankle",
        "head_of_metatarsal_2": "{S}.Toe",
        "heel": "{S}.Heel",
    }
    one_marker = {
        "greater_trochanter": "hip_axis",
        "femoral_condyles": "knee_axis",
        "lateral_malleolus": "ankle_axis",
        "medial_malleolus": "ankle_axis",
    }
    settings = make_settings(
        {
            "plane": {"up_axis": "+y"},
            "marker_sets": {"walk": rules},
            "substitutes": {"walk": one_marker},
            "ensembles": {"window": "trial"},
            "muscles": {"contact_forces": True},
        }
    )
    options = ReadOptions(forces_length_unit="m")
    recording = read_with_forces(folder / "markers_walk.trc", folder / "grf_walk.mot", options)
    return analyse_recording(recording, Limb("leg", side="right", body_mass_kg=ADULT_KG), settings)


def strikes(path: Path) -> tuple[float, float]:
    """First two times at which the right foot meets the ground, s."""
    lines = path.read_text(encoding="utf-8").splitlines()
    first = lines.index("endheader") + 1
    ground = pd.DataFrame([line.split() for line in lines[first + 1 :]], columns=lines[first].split()).astype(float)
    loaded = ground["ground_force_r_vy"].to_numpy() > LOADED_N
    start, stop = ground["time"].to_numpy()[1:][loaded[1:] & ~loaded[:-1]][:2]
    return float(start), float(stop)


def cycle(result: TrialResult, found: MuscleForces, ends_s: tuple[float, float]) -> np.ndarray:
    """Contact force, and the ends of its range of limited effort, over 0 to 100 % of a cycle: (3, 101, n_joints)."""
    assert found.contact is not None
    limited = found.contact.limited
    assert limited is not None
    size = np.linalg.norm(contact_bw(result, found), axis=2)
    at_s = np.linspace(*ends_s, 101)
    curves = [size, limited.least_n / found.body_weight_n, limited.greatest_n / found.body_weight_n]
    return np.array([[np.interp(at_s, result.motion.time_s, c) for c in curve.T] for curve in curves]).transpose(
        0, 2, 1
    )


def draw(cycles: np.ndarray, path: Path) -> None:
    """Draw the contact forces of all legs over the cycle, with published peaks."""
    with paper_style():
        figure = paper_figure(60.0)
        axes = figure.subplots(1, 3, sharex=True)
        for j, (joint, (peak, text)) in enumerate(PUBLISHED.items()):
            percent, panel = np.arange(101), axes[j]
            ends = np.nanmean(cycles[:, 1:, :, j], axis=0)
            panel.fill_between(
                percent, *ends, color=(LINE_COLOURS[0], 0.15), linewidth=0.0, label="range of limited effort, mean"
            )
            panel.plot(percent, cycles[:, 0, :, j].T, color="0.6", linewidth=0.6)
            panel.plot(
                percent, np.nanmean(cycles[:, 0, :, j], axis=0), color="black", label="contact force, mean of the legs"
            )
            panel.axhline(peak, color=LINE_COLOURS[3], linestyle="--", linewidth=0.9, label="published mean peak")
            panel.set_title(f"{joint}; peak: {text}", loc="left", fontsize=NAME_SIZE)
            panel.set(
                xlabel="gait cycle (%)",
                ylabel="" if j else "contact force (body weights)",
                xlim=(0, 100),
                ylim=(0, 8),
            )
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
        save_figure(figure, path)


def draw_knees(legs: Sequence[tuple[str, np.ndarray]], path: Path) -> None:
    """Draw the knee's contact force of every leg with its range, and published peaks."""
    with paper_style():
        figure = paper_figure(95.0)
        panels = figure.subplots(2, -(-len(legs) // 2), sharex=True, sharey=True)
        percent, (peak, _) = np.arange(101), PUBLISHED["knee"]
        for panel, (title, curves) in zip(panels.ravel(), legs, strict=False):
            force, least, greatest = curves[:, :, KNEE]
            panel.fill_between(
                percent, least, greatest, color=(LINE_COLOURS[0], 0.2), linewidth=0.0, label="range of limited effort"
            )
            panel.plot(percent, force, color="black", label="contact force, exponent 2")
            panel.axhspan(
                *OTHER_PEAKS,
                color=(LINE_COLOURS[3], 0.15),
                linewidth=0.0,
                label="mean peaks of one implant, D'Lima et al. 2006, 2005",
            )
            panel.axhline(
                peak,
                color=LINE_COLOURS[3],
                linestyle="--",
                linewidth=0.9,
                label="mean peak of five implants, Kutzner et al. 2010",
            )
            width = np.nanmedian(greatest - least)
            panel.set_title(title, loc="left", fontsize=NAME_SIZE)
            about = f"peak {np.nanmax(force):.1f}, range {width:.1f} wide"
            panel.text(0.98, 0.98, about, ha="right", va="top", transform=panel.transAxes)
            panel.set(xlim=(0, 100), ylim=(0, 8))
        for panel in panels.ravel()[len(legs) :]:
            panel.set_axis_off()
        for panel in panels[-1]:
            panel.set_xlabel("gait cycle (%)")
        for panel in panels[:, 0]:
            panel.set_ylabel("knee force (body weights)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        save_figure(figure, path)


def analyse(trial: Trial) -> TrialResult:
    """Analyse a trial with contact forces."""
    changes = {"muscles.contact_forces": "true", "muscles.ranges": "true", "replay.enabled": "false"}
    limb = Limb(trial.chain, side=trial.side, body_mass_kg=trial.subject.mass_kg, marker_set=trial.marker_set)
    return analyse_recording(read_c3d(trial.file), limb, override(trial.settings, changes, source="measure_contact"))


def forces(result: TrialResult, muscle_set: MuscleSet, *, ranges: bool) -> MuscleForces:
    """Muscle and contact forces with a muscle set."""
    return muscle_forces(
        result.motion,
        result.torques.terms.net,
        muscle_set,
        options=result.settings.muscles.model_copy(update={"ranges": ranges}),
        body_mass_kg=result.limb.body_mass_kg,
        reaction_n=result.torques.wrenches.reaction_n,
    )


def contact_bw(result: TrialResult, found: MuscleForces) -> np.ndarray:
    """Contact forces over body weight, (n_frames, n_joints, 2); NaN at the edges."""
    assert found.contact is not None
    return np.where(result.motion.edge[:, None, None], np.nan, found.contact.contact_n / found.body_weight_n)


def peaks_of(result: TrialResult, found: MuscleForces) -> dict[str, float]:
    """Peaks, and median widths of the two ranges while the knee carries more than half a body weight, and in all frames."""
    size = np.linalg.norm(contact_bw(result, found), axis=2)
    row = {f"{joint}_peak": float(np.nanmax(size[:, j])) for j, joint in enumerate(result.motion.joints)}
    knee = result.motion.joints.index("knee")
    assert found.contact is not None
    for name, ends in (("all", found.contact.possible), ("effort", found.contact.limited)):
        assert ends is not None
        width = ((ends.greatest_n - ends.least_n) / found.body_weight_n)[:, knee]
        known = np.isfinite(size[:, knee])
        row[f"knee_width_{name}"] = float(np.median(width[known]))
        row[f"loaded_{name}"] = float(np.median(width[known & (size[:, knee] > 0.5)]))
    return row


def turned_rows(result: TrialResult, own: MuscleForces) -> list[dict[str, object]]:
    """Change of the peak, and largest change of the contact force, for every line turned either way."""
    force = contact_bw(result, own)
    rows: list[dict[str, object]] = []
    for muscle in own.muscle_set.muscles:
        for joint in muscle.lines_of_action:
            j = result.motion.joints.index(joint)
            for turn in (-TURN_RAD, TURN_RAD):
                some = replace(
                    own.muscle_set,
                    muscles=tuple(turned(m, joint, turn) if m is muscle else m for m in own.muscle_set.muscles),
                )
                other = contact_bw(result, forces(result, some, ranges=False))
                peak = np.nanmax(np.linalg.norm(other, axis=2)[:, j]) - np.nanmax(np.linalg.norm(force, axis=2)[:, j])
                largest = np.nanmax(np.linalg.norm(other - force, axis=2)[:, j])
                rows.append({"joint": joint, "muscle": muscle.name, "peak_bw": abs(peak), "largest_bw": largest})
    return rows


def turned(muscle: Muscle, joint: str, turn_rad: float) -> Muscle:
    """Muscle whose direction at a joint is turned."""
    line = muscle.lines_of_action[joint]
    assert line.direction is not None
    first, *rest = line.direction.coefficients_rad
    direction = replace(line.direction, coefficients_rad=(first + turn_rad, *rest))
    return replace(muscle, lines_of_action={**muscle.lines_of_action, joint: replace(line, direction=direction)})


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "", Path(sys.argv[3]) if len(sys.argv) > 3 else None)
