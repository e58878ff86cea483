"""Print contact forces of recorded walks, and their change when a line of action turns by 10 degrees.

Usage: python tools/measure_contact.py STUDY [CONDITION [ADULT]]

STUDY is a folder with settings and tables, e.g. made by `limbtorque init`, whose trials are of a leg; CONDITION is a part of
the condition of the trials that count. ADULT is the folder ``walk_emg_opensim``, an adult's walk in two text files: with it
``docs/figures/contact_walk.png`` (all joints) and ``contact_knee.png`` (the knee of each leg) are drawn. The numbers, of
the cycles that the settings define, stand in docs/muscle_validation.md.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.signal import find_peaks

from limbtorque.analysis.trial import TrialResult, analyse_recording
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

PUBLISHED = {  # mean peaks, body weights; at what part of the cycle is not known
    "hip": (2.38, "four implants, Bergmann et al. 2001"),
    "knee": (2.61, "five implants, Kutzner et al. 2010"),
    "ankle": (3.9, "a model, Procter and Paul 1982"),
}
OTHER_PEAKS = (2.2, 2.8)  # of the knee, six weeks and a year after the operation
LOADING, PUSH_OFF = slice(0, 31), slice(31, 66)  # parts of the cycle with a peak at the knee, %
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
    print_points(legs)
    changes = pd.DataFrame(turns).groupby(["joint", "muscle"])[["peak_bw", "largest_bw"]]
    print(changes.agg(["median", "max"]).round(2).to_string())
    if adult:
        draw(children_of(legs), FIGURES / "contact_walk.png")
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


def children_of(legs: Mapping[tuple[str, str], tuple[str, np.ndarray]]) -> np.ndarray:
    """Curves of the children's legs."""
    return np.array([curves for (name, _), (_, curves) in legs.items() if name != "adult"])


def print_points(legs: Mapping[tuple[str, str], tuple[str, np.ndarray]]) -> None:
    """Print both peaks of the knee and the valley between them, and the error of the children's peaks against published means."""
    rows = [{"leg": title, **points(curves[0, :, KNEE])} for title, curves in legs.values()]
    rows.append({"leg": "mean curve of the children", **points(np.nanmean(children_of(legs)[:, 0, :, KNEE], axis=0))})
    print(pd.DataFrame(rows).to_string(index=False))
    for j, (joint, (peak, _)) in enumerate(PUBLISHED.items()):
        apart = np.nanmax(children_of(legs)[:, 0, :, j], axis=1) - peak
        spread = (
            f"mean {apart.mean():+.2f}, {apart.min():+.2f} to {apart.max():+.2f}, rms {np.sqrt(np.mean(apart**2)):.2f}"
        )
        print(f"{joint}: peaks of the legs less {peak} body weights: {spread}")


def points(curve: np.ndarray) -> dict[str, str]:
    """Highest peak in loading and in push-off and the least force between them, each with its part of the cycle."""
    first, second = (highest_peak(curve, part) for part in (LOADING, PUSH_OFF))
    valley = first + int(np.nanargmin(curve[first : second + 1]))
    named = {"first peak": first, "valley": valley, "second peak": second}
    return {name: f"{curve[at]:.2f} at {at} %" for name, at in named.items()}


def highest_peak(curve: np.ndarray, part: slice) -> int:
    """Place of the highest local maximum inside a part of the cycle, or of its largest force where there is none, %."""
    inside = np.nan_to_num(curve[part], nan=-np.inf)
    found, _ = find_peaks(inside)
    return part.start + int(found[inside[found].argmax()] if len(found) else inside.argmax())


def draw(cycles: np.ndarray, path: Path) -> None:
    """Draw the contact forces of all legs over the cycle, with published peaks in the margin."""
    percent = np.arange(101)
    with paper_style():
        figure = paper_figure(62.0)
        axes = figure.subplots(1, 3, sharex=True, sharey=True)
        for j, (joint, (peak, source)) in enumerate(PUBLISHED.items()):
            panel, force = axes[j], cycles[:, 0, :, j]
            for leg, curve in enumerate(force):
                panel.plot(percent, curve, color="0.6", linewidth=0.6, label="one leg" if leg == 0 else None)
            panel.plot(percent, np.nanmean(force, axis=0), color="black", label="mean of the six legs")
            tops = np.nanargmax(force, axis=1)
            panel.plot(tops, force[range(len(force)), tops], "o", color="0.35", markersize=2.5, label="peak of a leg")
            margin_mark(panel, peak, "<", "published mean peak")
            panel.set_title(f"{joint}\n", loc="left", fontsize=NAME_SIZE)  # the line below it is that of the source
            panel.set_title(f"{peak:g}: {source}", loc="right", fontsize=6.5, color=LINE_COLOURS[2])
            panel.set(xlabel="gait cycle (%)", xlim=(0, 100), ylim=(0, 5))
        axes[0].set_ylabel("contact force (body weights)")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        save_figure(figure, path)


def margin_mark(panel: Axes, level: float, marker: str, label: str, *, at: float = 101.5) -> None:
    """Mark a level at the right end of the panel: a published peak has a size, but no time."""
    panel.plot(at, level, marker, color=LINE_COLOURS[2], markersize=5.0, linestyle="", clip_on=False, label=label)


def draw_knees(legs: Sequence[tuple[str, np.ndarray]], path: Path) -> None:
    """Draw the knee's contact force of every leg with its range and peaks, and published peaks in the margin."""
    with paper_style():
        figure = paper_figure(100.0)
        panels = figure.subplots(2, -(-len(legs) // 2), sharex=True, sharey=True)
        for panel, (title, curves) in zip(panels.ravel(), legs, strict=False):
            draw_knee(panel, title, curves[:, :, KNEE])
        for panel in panels.ravel()[len(legs) :]:
            panel.set_axis_off()
        for panel in panels.ravel()[max(len(legs) - panels.shape[1], 0) : len(legs)]:  # the lowest of each column
            panel.tick_params(labelbottom=True)
            panel.set_xlabel("gait cycle (%)")
        figure.supylabel("contact force of the knee (body weights)", fontsize=NAME_SIZE)
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        save_figure(figure, path)


def draw_knee(panel: Axes, title: str, curves: np.ndarray) -> None:
    """Draw one leg: contact force, both peaks, range of limited effort."""
    force, least, greatest = curves
    percent = np.arange(101)
    panel.fill_between(
        percent, least, greatest, color=(LINE_COLOURS[0], 0.2), linewidth=0.0, label="range of limited effort"
    )
    panel.plot(percent, force, color="black", label="contact force, exponent 2")
    peaks = [highest_peak(force, part) for part in (LOADING, PUSH_OFF)]
    panel.plot(peaks, force[peaks], "o", color="black", markersize=3.0, label="its peaks in loading and push-off")
    margin_mark(panel, PUBLISHED["knee"][0], "<", "mean peak of five implants, Kutzner et al. 2010")
    for level, label in zip(OTHER_PEAKS, ("mean peaks of one implant, D'Lima et al. 2006, 2005", None), strict=True):
        margin_mark(panel, level, "_", label or "_", at=108.0)
    first, second = (f"{force[at]:.1f}" for at in peaks)
    about = f"peaks {first} and {second}, range {np.nanmedian(greatest - least):.1f}"
    panel.set_title(f"{title}\n{about}", loc="left", fontsize=7.5)
    panel.set(xlim=(0, 100), ylim=(0, 8), xticks=(0, 25, 50, 75, 100))


def analyse(trial: Trial) -> TrialResult:
    """Analyse a trial with contact forces."""
    changes = {"muscles.contact_forces": "true", "muscles.ranges": "true"}
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
    first, *rest = line.direction_deg
    line = line.model_copy(update={"direction_deg": [first + np.degrees(turn_rad), *rest]})
    return replace(muscle, lines_of_action={**muscle.lines_of_action, joint: line})


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "", Path(sys.argv[3]) if len(sys.argv) > 3 else None)
