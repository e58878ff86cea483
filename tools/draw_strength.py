"""Draw isometric joint strength curves of the built-in sets beside published ones, and print both, for docs/muscle_validation.md.

Usage: python tools/draw_strength.py [FIGURE]

The published strengths are in ``tools/moment_arms/strengths.yaml``. The figure goes to ``docs/figures/muscles_strength.png``
when no other file is given; the same tables give the same bytes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from draw_moment_arms import ANGLES, name_year, print_table, set_with

from limbtorque.arrays import FloatArray
from limbtorque.figures.style import paper_figure, paper_style, save_figure
from limbtorque.muscles.moment_arms import Musculotendon, musculotendon
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set
from limbtorque.muscles.strength import compliant_muscles
from limbtorque.muscles.strength_factors import Effort
from limbtorque.study.files import read_yaml
from limbtorque.study.options.muscles import Muscles

ROOT = Path(__file__).resolve().parents[1]
TABLES = Path(__file__).parent / "moment_arms"
GRAVITY_M_S2 = 9.81
TOLERANCE_SD = 2.0  # between persons: how far a set's mean strength may be from the measured mean
# Joint, its range and the flexion of the others, deg, in the order of the set.
CURVES: dict[str, list[tuple[str, tuple[float, float], tuple[float, float, float]]]] = {
    "arm": [("shoulder", (0, 105), (0, 30, 0)), ("elbow", (0, 130), (0, 0, 0)), ("wrist", (-60, 60), (0, 90, 0))],
    "leg": [("hip", (-20, 105), (0, 30, 0)), ("knee", (0, 100), (70, 0, 0)), ("ankle", (-30, 30), (0, 0, 0))],
}
SENSES = {"flexion": 1.0, "extension": -1.0}
TITLE_LINES = 5  # of every panel, so that all have the same height
OURS, OURS_FL, MEASURED = "#0b5d8a", "#c26a00", "#333333"


def strength(
    muscles: MuscleSet, joint: str, flexion_deg: FloatArray, posture: tuple[float, float, float], sense: float
) -> tuple[FloatArray, FloatArray]:
    """Torque of all muscles of one sense at full activation [N m].

    At constant strength, and with the force-length curve on compliant tendons, where the torque at rest is taken off.
    """
    arm, found = agonist_arms(muscles, joint, flexion_deg, posture, sense)
    return (arm * muscles.max_force_n).sum(axis=1), (arm * active_force(muscles, found)).sum(axis=1)


def agonist_arms(
    muscles: MuscleSet, joint: str, flexion_deg: FloatArray, posture: tuple[float, float, float], sense: float
) -> tuple[FloatArray, Musculotendon]:
    """Moment arms of the muscles of one sense, 0 for the others [m], shape (n_angles, n_muscles), and lengths at rest."""
    j = muscles.joints.index(joint)
    flexion = np.tile(posture, (len(flexion_deg), 1)).astype(float)
    flexion[:, j] = flexion_deg
    found = musculotendon(muscles, np.radians(flexion), velocity_rad_s=np.zeros(flexion.shape))
    return np.maximum(sense * found.moment_arm_m[:, j], 0.0), found


def published_efforts(source: str) -> list[Effort]:
    """Maximal efforts that a source measured over angles, mean over these, with what each muscle of the set makes there."""
    efforts = []
    for entry in read_yaml(TABLES / "strengths.yaml"):
        if not entry["source"].startswith(source):
            continue
        muscles = set_with(entry["joint"])
        _, ends, posture = next(curve for curve in CURVES[muscles.name] if curve[0] == entry["joint"])
        at, torque, _ = measured(entry)
        inside = (at >= ends[0]) & (at <= ends[1])
        arm, _ = agonist_arms(muscles, entry["joint"], at[inside], posture, SENSES[entry["sense"]])
        reach = arm.mean(axis=0) * muscles.max_force_n
        efforts.append(Effort(entry["joint"], entry["sense"], 0.0, float(torque[inside].mean()), reach))
    return efforts


def active_force(muscles: MuscleSet, found: Musculotendon) -> FloatArray:
    """Isometric force at full activation beyond that at none, on compliant tendons; the strength where no fibres are known [N]."""
    count = len(muscles.muscles)
    known = replace(found, velocity_m_s=np.nan_to_num(found.velocity_m_s))
    unit = compliant_muscles(known, muscles, Muscles())
    force = np.tile(muscles.max_force_n, (len(found.length_m), 1))
    if unit.known.any():
        full, none = (unit.force_n(np.full(count, activation)) for activation in (1.0, 0.0))
        force[:, unit.known] = np.maximum(full - none, 0.0)[:, unit.known]
    return force


def measured(entry: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Flexion [deg], torque and its standard deviation [N m] of a published strength; NaN where the angle is not given."""
    if "torque_nm" in entry:
        flexion = np.array(entry.get("flexion_deg", [np.nan]), dtype=float)
        return flexion, np.array(entry["torque_nm"], dtype=float), np.array(entry["sd_nm"], dtype=float)
    flexion = np.arange(entry["range_deg"][0], entry["range_deg"][1] + 1.0, 5.0)
    size, by, at = entry["c1"], entry["c2"], entry["c3"]
    scale = entry["mass_kg"] * entry["height_m"] * GRAVITY_M_S2
    shape = scale * np.maximum(np.cos(by * (np.radians(flexion) - at)), 0.0)
    return flexion, size * shape, entry["c1_sd"] * shape


def draw(path: Path) -> None:
    entries = read_yaml(TABLES / "strengths.yaml")
    with paper_style():
        figure = paper_figure(168.0)
        figure.get_layout_engine().set(rect=(0.0, 0.0, 0.975, 1.0))  # room for the titles of the last column
        panels = figure.subplots(2, 3)
        shown: dict[str, Any] = {}
        for row, chain in zip(panels, CURVES, strict=True):
            muscles = load_muscle_set(chain)
            for panel, (joint, ends, posture) in zip(row, CURVES[chain], strict=True):
                draw_joint(panel, muscles, joint, ends, posture, [e for e in entries if e["joint"] == joint])
                handles, labels = panel.get_legend_handles_labels()
                shown |= dict(zip(labels, handles, strict=True))
        for panel in panels[:, 0]:
            panel.set_ylabel("torque (N m), flexion upwards")
        for panel, (joint, *_) in zip(panels[1], CURVES["leg"], strict=True):
            panel.set_xlabel(ANGLES.get(joint, "flexion (deg)"))
        figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=3, frameon=False)
        save_figure(figure, path)


def draw_joint(
    panel: Any,
    muscles: MuscleSet,
    joint: str,
    ends: tuple[float, float],
    posture: tuple[float, float, float],
    entries: list[dict[str, Any]],
) -> None:
    """Curves of one joint, flexion upwards and extension downwards, with the measured ones."""
    flexion = np.arange(ends[0], ends[1] + 1e-6, 2.5)
    panel.axhline(0.0, color="0.7", linewidth=0.5)
    for name, sense in SENSES.items():
        constant, by_length = strength(muscles, joint, flexion, posture, sense)
        panel.plot(flexion, sense * constant, color=OURS, label="set, constant strength (the default)")
        panel.plot(flexion, sense * by_length, "--", color=OURS_FL, label="set, force-length, compliant tendon")
        for entry in (e for e in entries if e["sense"] == name):
            draw_measured(panel, entry, sense, ends)
    lines = [f"{joint}: ratio (rms in N m) to the measured", *ratio_lines(joint)]
    panel.set_title("\n".join(lines + [""] * (TITLE_LINES - len(lines))), loc="left", fontsize=6.0)


def ratio_lines(joint: str) -> list[str]:
    """Ratio and rms error of constant strength of one joint, with its source, one line for each measurement."""
    rows = [row for row in strength_rows() if row[0] == joint]
    lines = [
        f"{sense} {ratio} ({rms}), {name_year(source)}"
        for way in SENSES
        for _, sense, source, _, _, ratio, rms, *_ in rows
        if sense == way
    ]
    return lines + [f"{way}: not measured" for way in SENSES if way not in {row[1] for row in rows}]


def draw_measured(panel: Any, entry: dict[str, Any], sense: float, ends: tuple[float, float]) -> None:
    """One measured strength: a curve, points at angles, or a level where the angle is not known."""
    at, torque, sd = measured(entry)
    look = {"color": MEASURED, "linewidth": 0.8}
    if "torque_nm" not in entry:
        panel.plot(at, sense * torque, color=MEASURED, label="measured, mean and standard deviation")
        panel.fill_between(at, sense * (torque - sd), sense * (torque + sd), color=MEASURED, alpha=0.15, linewidth=0)
    elif np.isfinite(at).all():
        panel.errorbar(
            at, sense * torque, sd, fmt="o", markersize=3, capsize=2, **look, label="measured at single angles"
        )
    else:
        panel.plot(ends, 2 * [sense * torque[0]], ":", **look, label="measured, largest at any angle")


def strength_rows() -> list[tuple[str, ...]]:
    """Measured strengths beside those of the sets: ratio of the means over the angles, and rms difference."""
    rows = []
    for entry in read_yaml(TABLES / "strengths.yaml"):
        torque, sd, ours, span = compared(entry)
        error = [f"{np.sqrt(np.mean((o - torque) ** 2)):.0f}" for o in ours]
        ratio = [f"{o.mean() / torque.mean():.2f}" for o in ours]
        size = f"{torque.mean():.0f} ± {sd.mean():.0f}{' (assumed)' if entry.get('sd_assumed') else ''}"
        cells = (entry["source"], span, size, ratio[0], error[0], ratio[1], error[1])
        rows.append((entry["joint"], entry["sense"], *cells))
    return rows


def printed_rows() -> list[tuple[str, ...]]:
    """Rows of `strength_rows` without the rms differences, as the page has them."""
    return [(*row[:6], row[7]) for row in strength_rows()]


def compared(entry: dict[str, Any]) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray], str]:
    """Measured torque, its standard deviation, both torques of the set at the same angles [N m], and these angles."""
    muscles = set_with(entry["joint"])
    _, ends, posture = next(curve for curve in CURVES[muscles.name] if curve[0] == entry["joint"])
    at, torque, sd = measured(entry)
    sense = SENSES[entry["sense"]]
    if np.isnan(at).any():
        everywhere = strength(muscles, entry["joint"], np.arange(ends[0], ends[1] + 1e-6, 2.5), posture, sense)
        return torque, sd, (everywhere[0].max(keepdims=True), everywhere[1].max(keepdims=True)), "largest"
    inside = (at >= ends[0]) & (at <= ends[1])
    angles = f"{at[inside].min():.0f} to {at[inside].max():.0f}" if len(at) > 1 else f"{at[0]:.0f}"
    return torque[inside], sd[inside], strength(muscles, entry["joint"], at[inside], posture, sense), angles


def is_outside(entry: dict[str, Any]) -> bool:
    """Return True if the set's mean strength is more than `TOLERANCE_SD` from the measured mean."""
    torque, sd, (ours, _), _ = compared(entry)
    return bool(abs(ours.mean() - torque.mean()) > TOLERANCE_SD * sd.mean())


def main(figure: Path) -> None:
    heads = ["joint", "sense", "measured by", "angles (deg)", "mean ± sd (N m)", "ratio"]
    print_table([*heads, "ratio, force-length"], printed_rows())
    draw(figure)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "figures" / "muscles_strength.png")
