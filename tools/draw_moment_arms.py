"""Draw every moment arm of the sets `arm` and `leg` beside all published ones, and print their differences, for docs/muscle_validation.md.

Usage: python tools/draw_moment_arms.py FOLDER [FIGURES]

FOLDER holds ``arm_moment_arms.csv`` and ``leg_moment_arms.csv`` of older models; the published arms are those of
``published_arms.py``. The figures go to ``docs/figures`` when no other folder is given; the same tables give the same bytes.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from fit_moment_arms import older_arm
from matplotlib.axes import Axes
from published_arms import SMALL_MM, PublishedArm, published_arms

from limbtorque.arrays import FloatArray
from limbtorque.figures.style import paper_figure, paper_style, save_figure
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle import MomentArm
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set

ROOT = Path(__file__).resolve().parents[1]
FIGURES = {"arm": "moment_arms_arm.png", "leg": "moment_arms_leg.png"}
OLDER = {"arm": "the model sampled before", "leg": "Gait10dof18musc, sampled before"}
COLUMNS, TITLE_SIZE = 5, 6.0
ANGLES = {"ankle": "dorsiflexion (deg)"}  # its flexion
LIMITS_DEG = {"shoulder": (-60, 120), "elbow": (0, 130), "wrist": (-60, 60), "hip": (-30, 120), "knee": (0, 120)}
LIMITS_DEG["ankle"] = (-40, 30)
OURS, BAND, MODEL_BAND, BORROWED = "#8fbcd4", "#d9e8f0", "#f3e8d2", "0.9"
SET = "the set; dotted upright: its range ends"
SPREAD, MODELS = "range of all sources, measured ones among them", "range of models and estimates: nothing measured"
NO_SOURCE = "one source only: half and double, an assumption"
MEASURED, SECOND = (
    "measured: Kuechle et al. (1997), Ramsay et al. (2009)",
    "measured: Pigeon et al. (1996), Wood et al. (1989)",
)
SPECIMEN, DELP = "measured: specimen of Dostal and Andrews (1981)", "model: Delp et al. (1990)"
HOLZBAUR, GAIT10 = "model, one value: Holzbaur et al. (2005)", "model: Gait10dof18musc"
ESTIMATE, IN_VIVO = "estimate of the collection", "measured in vivo: single angles"
LABELS = (SET, SPREAD, MODELS, NO_SOURCE, MEASURED, SECOND, SPECIMEN, IN_VIVO, DELP, HOLZBAUR, GAIT10, ESTIMATE)
SOLID, DASHED, DOTTED, DASH_DOT = "-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5))
# First word of a source: its colour, its line (solid: measured; dashed: model; dotted: estimate) and name in the legend.
LOOKS: dict[str, tuple[str, Any, str]] = {
    **dict.fromkeys(("Kuechle", "Ramsay"), ("#c26a00", SOLID, MEASURED)),
    **dict.fromkeys(("Pigeon", "Wood"), ("#332288", SOLID, SECOND)),
    **dict.fromkeys(("effective", "Manal", "Wolfram", "Maganaris"), ("#333333", SOLID, IN_VIVO)),
    "Dostal": ("#c26a00", SOLID, SPECIMEN),
    "Delp": ("#882255", DASHED, DELP),
    "Holzbaur": ("#882255", DASHED, HOLZBAUR),
    "OpenSim": ("#7a7a1e", DASH_DOT, GAIT10),
    "an": ("#333333", DOTTED, ESTIMATE),
}


def set_with(joint: str) -> MuscleSet:
    return load_muscle_set("leg" if joint in ("hip", "knee", "ankle") else "arm")


def our_arm_mm(muscle: str, joint: str, flexion_deg: FloatArray) -> FloatArray:
    """Moment arm of a built-in set, NaN outside its range [mm]."""
    muscles = set_with(joint)
    found = musculotendon(muscles, np.radians(flexion_deg)[:, None], joints=[joint])
    m = muscles.names.index(muscle)
    return np.where(found.muscle_out_of_range[:, m], np.nan, 1e3 * found.moment_arm_m[:, 0, m])


def difference(muscle: str, joint: str, flexion_deg: FloatArray, other_mm: FloatArray) -> tuple[str, str, str]:
    """Range, rms and largest difference, ours less the other, over the part of the range that the set has."""
    off = our_arm_mm(muscle, joint, flexion_deg) - other_mm
    known = np.isfinite(off)
    flexion, off = flexion_deg[known], off[known]
    top = int(np.abs(off).argmax())
    span = f"{flexion.min():.0f} to {flexion.max():.0f}" if np.ptp(flexion) > 0 else f"{flexion[0]:.0f}"
    return span, f"{np.sqrt(np.mean(off**2)):.1f}", f"{off[top]:+.1f} at {flexion[top]:.0f}"


def short(source: str) -> str:
    """Authors and year of a source, or its first words."""
    found = re.match(r"[A-Z].*?\(\d{4}\)", source.split(";")[0])
    return found.group() if found else source.split(" (")[0].split(",")[0]


def name_year(source: str) -> str:
    """First author and year of a source, for titles of small panels."""
    return re.sub(r"(?: et al\.| and \w+)? \((\d{4})\)", r" \1", short(source))


def arm_rows(folder: Path) -> list[tuple[str, ...]]:
    """Every published arm beside the set's, and those of older models that were replaced; muscles of one row together."""
    rows: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for one in published_arms():
        apart = difference(one.muscle, one.joint, one.flexion_deg, one.arm_mm)
        repeats = f"the value of {short(one.repeats)}" if one.repeats else ""
        done = "; ".join(text for text in (one.reason or "comparison", one.opposed, repeats) if text)
        done = "used" if one.used else done
        rows[one.joint, short(one.source), *apart, done].append(one.muscle)
    for chain, model in OLDER.items():
        table = pd.read_csv(folder / f"{chain}_moment_arms.csv")
        for (muscle, joint), part in table.groupby(["muscle", "joint"], sort=False):
            known = part.sort_values("joint_flexion_deg")
            flexion, other = known.joint_flexion_deg.to_numpy(dtype=float), 1e3 * known.moment_arm_m.to_numpy()
            apart = difference(muscle, joint, flexion, other)
            if np.abs(other).max() > 1.0 and float(apart[1]) > 0.5:
                rows[joint, model, *apart, "replaced"].append(muscle)
    return [(", ".join(muscles), *cells) for cells, muscles in rows.items()]


def range_rows() -> list[tuple[str, ...]]:
    """Arm of the set and range of the published ones at both ends and in the middle of its range; angles of unsure sign."""
    rows = []
    for chain in FIGURES:
        for muscle in load_muscle_set(chain).muscles:
            for joint in muscle.function:
                arm = muscle.moment_arms[joint]
                low, high = np.degrees(arm.curve.range_rad[0])
                at = np.array([low + 1e-6, 15.0 * np.round((low + high) / 30.0), high - 1e-6])
                ours = our_arm_mm(muscle.name, joint, at)
                cells = [f"{mm:+.0f} at {q + 0.0:.0f}" for mm, q in zip(ours, at, strict=True)]
                if arm.published is None:
                    rows.append((muscle.name, joint, *cells, "none", ""))
                    continue
                ends = zip(*(1e3 * end for end in arm.published.at(np.radians(at))), strict=True)
                cells = [f"{cell}: {low:+.0f} to {high:+.0f}" for cell, (low, high) in zip(cells, ends, strict=True)]
                rows.append((muscle.name, joint, *cells, str(arm.published.other_sources), unsure(arm)))
    return rows


def unsure(arm: MomentArm) -> str:
    """Angles where the published arms have both signs, each by more than 5 mm [deg]."""
    flexion = np.arange(*np.degrees(arm.curve.range_rad[0]), 1.0)
    low, high = arm.published.at(np.radians(flexion)) if arm.published else (flexion, flexion)
    both = flexion[(1e3 * low < -SMALL_MM) & (1e3 * high > SMALL_MM)]
    return f"{both[0]:.0f} to {both[-1]:.0f}" if len(both) else ""


def panels_of(muscles: MuscleSet) -> list[tuple[list[str], str]]:
    """Muscles and joint of each panel: heads with the same arm and sources together."""
    panels: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for joint in muscles.joints:
        for muscle in muscles.muscles:
            if joint in muscle.function:
                arm = muscle.moment_arms[joint]
                curve = our_arm_mm(muscle.name, joint, np.arange(*LIMITS_DEG[joint], 5.0))
                panels[joint, curve.tobytes(), arm.published and tuple(arm.published.lowest_m)].append(muscle.name)
    return [(names, key[0]) for key, names in panels.items()]


def draw(chain: str, path: Path, older: pd.DataFrame) -> None:
    """Draw one set: a panel for each muscle and joint."""
    muscles = load_muscle_set(chain)
    panels = panels_of(muscles)
    count = -(-len(panels) // COLUMNS)
    published = published_arms()
    with paper_style():
        figure = paper_figure(33.0 * count + 16.0)
        figure.get_layout_engine().set(rect=(0.0, 0.0, 0.97, 1.0))  # room for the titles of the last column
        axes = figure.subplots(count, COLUMNS)
        shown: dict[str, Any] = {}
        for panel, (names, joint) in zip(axes.ravel(), panels, strict=False):
            found = [one for one in published if (one.muscle, one.joint) == (names[0], joint)]
            others = found + (older_arm(older, names[0], joint) if joint != "hip" else [])
            muscle = muscles.muscles[muscles.names.index(names[0])]
            draw_arm(panel, names[0], joint, muscle.moment_arms[joint], others)
            used = next((kind(one.source) for one in found if one.used), f"model: {name_year(muscle.source['model'])}")
            panel.set_title(f"{', '.join(names)}, {joint}\n{used}", loc="left", fontsize=TITLE_SIZE)
            handles, labels = panel.get_legend_handles_labels()
            shown |= dict(zip(labels, handles, strict=True))
        for panel in axes.ravel()[len(panels) :]:
            panel.axis("off")
        for panel in axes[:, 0]:
            panel.set_ylabel("arm (mm), + flexes")
        for k in range(len(panels) - COLUMNS, len(panels)):
            axes.ravel()[k].set_xlabel(ANGLES.get(panels[k][1], "flexion (deg)"))
        order = sorted(shown, key=lambda label: list(LABELS).index(label))
        figure.legend([shown[label] for label in order], order, loc="outside lower center", ncols=2, frameon=False)
        save_figure(figure, path)


def is_measured(source: str) -> bool:
    """Return True for a measurement, False for a model or an estimate."""
    return LOOKS[source.split()[0]][2].startswith("measured")


def kind(source: str) -> str:
    """Kind of a source and its authors, as the title of a panel has them."""
    return f"measured: {name_year(source)}" if is_measured(source) else short(source).removeprefix("an ")


def draw_arm(panel: Axes, muscle: str, joint: str, arm: MomentArm, sources: list[PublishedArm]) -> None:
    """One arm as a broad line with the range of its sources, and these as thin lines or points upon it."""
    limits = LIMITS_DEG[joint]
    flexion = np.arange(limits[0], limits[1] + 0.5)
    ours = our_arm_mm(muscle, joint, flexion)
    panel.axhline(0.0, color="0.7", linewidth=0.5)
    known = np.isfinite(ours)
    if arm.published is None:
        panel.fill_between(flexion, 0.5 * ours, 2.0 * ours, color=BORROWED, linewidth=0, label=NO_SOURCE)
    else:
        low, high = (1e3 * np.where(known, end, np.nan) for end in arm.published.at(np.radians(flexion)))
        colour, label = (BAND, SPREAD) if any(is_measured(one.source) for one in sources) else (MODEL_BAND, MODELS)
        panel.fill_between(flexion, low, high, color=colour, linewidth=0, label=label)
    panel.plot(flexion, ours, color=OURS, linewidth=2.8, solid_capstyle="butt", label=SET)
    for one in sources:
        colour, line, label = LOOKS[one.source.split()[0]]
        if len(one.flexion_deg) < 4:
            panel.plot(one.flexion_deg, one.arm_mm, "o", color=colour, markersize=2.5, label=label)
        else:
            panel.plot(one.flexion_deg, one.arm_mm, color=colour, linewidth=0.8, linestyle=line, label=label)
    end = flexion[np.isfinite(ours)][-1]
    if end < limits[1]:
        panel.axvline(end, color="0.4", linewidth=0.6, linestyle=":")
    panel.set_xlim(*limits)
    panel.set_xticks([tick for tick in range(-60, 121, 60 if limits[1] > 30 else 30) if limits[0] <= tick <= limits[1]])


def print_table(heads: list[str], rows: list[tuple[str, ...]]) -> None:
    for cells in (heads, ["---"] * len(heads), *rows):
        print(f"| {' | '.join(cells)} |")
    print()


def main(folder: Path, figures: Path) -> None:
    print_table(
        ["muscle", "joint", "source", "range (deg)", "rms (mm)", "largest (mm, at deg)", "done"], arm_rows(folder)
    )
    heads = [
        "muscle",
        "joint",
        "lowest angle (mm, deg)",
        "middle",
        "highest angle",
        "other sources",
        "sign unsure (deg)",
    ]
    print_table(heads, range_rows())
    for chain, name in FIGURES.items():
        draw(chain, figures / name, pd.read_csv(folder / "leg_moment_arms.csv"))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "figures")
