"""Compare the built-in arms and strengths with published ones: print a table, draw joint strength curves.

Usage: python tools/draw_strength.py FOLDER [FIGURE]

FOLDER holds ``arm_moment_arms.csv`` and ``leg_moment_arms.csv`` of older models. The published moment arms are in
``tools/moment_arms/published.yaml``, the published strengths in ``tools/moment_arms/strengths.yaml``. The figure goes to
``docs/figures/muscles_strength.png`` when no other file is given; the same tables give the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from limbtorque.figures.style import paper_figure, paper_style, save_figure
from limbtorque.muscles.hill import active_force_length
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set
from limbtorque.study.yaml_file import read_yaml

ROOT = Path(__file__).resolve().parents[1]
TABLES = Path(__file__).parent / "moment_arms"
GRAVITY_M_S2 = 9.81
# Joint, its range and the flexion of the others, deg, in the order of the set.
CURVES: dict[str, list[tuple[str, tuple[float, float], tuple[float, float, float]]]] = {
    "arm": [("shoulder", (0, 105), (0, 30, 0)), ("elbow", (0, 130), (0, 0, 0)), ("wrist", (-60, 60), (0, 90, 0))],
    "leg": [("hip", (-20, 105), (0, 30, 0)), ("knee", (0, 100), (70, 0, 0)), ("ankle", (-30, 30), (0, 0, 0))],
}
SENSES = {"flexion": 1.0, "extension": -1.0}
OURS, OURS_FL, MEASURED = "#0b5d8a", "#c26a00", "#333333"


def arm_rows(folder: Path) -> list[tuple[str, ...]]:
    """Differences of the sets' arms from measured ones, and from those of the older model that they replace."""
    published = read_yaml(TABLES / "published.yaml")
    taken = {(entry["muscle"], entry["joint"]): entry["source"] for entry in published["polynomials"] if entry["used"]}
    rows = []
    for entry in published["polynomials"]:
        if not entry["used"]:
            flexion = np.arange(entry["range_deg"][0], entry["range_deg"][1] + 1.0, 1.0)
            other = np.polynomial.Polynomial(entry["coefficients_mm"])(np.radians(flexion))
            rows.append((*difference(entry["muscle"], entry["joint"], flexion, other, entry["source"]), "kept"))
    for entry in published["values"]:
        flexion, other = (np.array(entry[key], dtype=float) for key in ("flexion_deg", "arms_mm"))
        rows.append((*difference(entry["muscle"], entry["joint"], flexion, other, entry["source"]), "kept"))
    for chain, model in {"arm": "the model sampled before", "leg": "Gait10dof18musc, sampled before"}.items():
        table = pd.read_csv(folder / f"{chain}_moment_arms.csv")
        for (muscle, joint), part in table.groupby(["muscle", "joint"], sort=False):
            known = part.sort_values("joint_flexion_deg")
            flexion, other = known.joint_flexion_deg.to_numpy(dtype=float), 1e3 * known.moment_arm_m.to_numpy()
            done = taken.get((muscle, joint), "Rajagopal et al. (2016)" if chain == "leg" else "")
            if done and np.abs(other).max() > 1.0:
                rows.append((*difference(muscle, joint, flexion, other, model), f"replaced: {done}"))
    return rows


def difference(muscle: str, joint: str, flexion_deg: np.ndarray, other_mm: np.ndarray, source: str) -> tuple[str, ...]:
    """Rms and largest difference, ours less the other, over the part of the range that the set has."""
    muscles = set_with(joint)
    m = muscles.names.index(muscle)
    low, high = np.degrees(muscles.muscles[m].moment_arms[joint].curve.range_rad[0])
    inside = (flexion_deg >= low - 1e-6) & (flexion_deg <= high + 1e-6)
    flexion, other = flexion_deg[inside], other_mm[inside]
    found = musculotendon(muscles, np.radians(flexion)[:, None], joints=[joint])
    off = 1e3 * found.moment_arm_m[:, 0, m] - other
    top = int(np.abs(off).argmax())
    rms = np.sqrt(np.mean(off**2))
    span = f"{flexion.min():.0f} to {flexion.max():.0f}" if len(flexion) > 1 else f"{flexion[0]:.0f}"
    return muscle, joint, source, span, f"{rms:.1f}", f"{off[top]:+.1f} at {flexion[top]:.0f}"


def set_with(joint: str) -> MuscleSet:
    return load_muscle_set("leg" if joint in ("hip", "knee", "ankle") else "arm")


def strength(
    muscles: MuscleSet, joint: str, flexion_deg: np.ndarray, posture: tuple[float, float, float], sense: float
) -> tuple[np.ndarray, np.ndarray]:
    """Torque of all muscles of one sense at full activation: at constant strength, and by their fibres' lengths [N m]."""
    j = muscles.joints.index(joint)
    flexion = np.tile(posture, (len(flexion_deg), 1)).astype(float)
    flexion[:, j] = flexion_deg
    found = musculotendon(muscles, np.radians(flexion))
    torque = np.maximum(sense * found.moment_arm_m[:, j] * muscles.max_force_n, 0.0)
    part = np.ones_like(torque)
    for m, muscle in enumerate(muscles.muscles):
        if muscle.optimal_fibre_length_m is not None and muscle.length is not None:
            optimal, pennation = muscle.optimal_fibre_length_m, muscle.pennation_rad or 0.0
            along = found.length_m[:, m] - (muscle.tendon_slack_length_m or 0.0)
            fibre = np.hypot(along, optimal * np.sin(pennation))
            part[:, m] = active_force_length(fibre / optimal) * along / fibre
    return torque.sum(axis=1), (torque * np.clip(part, 0.0, 1.0)).sum(axis=1)


def measured(entry: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Flexion [deg], torque and its standard deviation [N m] of a published strength; a person of 75.3 kg and 1.70 m."""
    if "torque_nm" in entry:
        flexion = np.array(entry["flexion_deg"], dtype=float)
        return flexion, np.array(entry["torque_nm"], dtype=float), np.array(entry["sd_nm"], dtype=float)
    flexion = np.arange(entry["range_deg"][0], entry["range_deg"][1] + 1.0, 5.0)
    size, by, at = entry["c1"], entry["c2"], entry["c3"]
    scale = entry["mass_kg"] * entry["height_m"] * GRAVITY_M_S2
    shape = scale * np.maximum(np.cos(by * (np.radians(flexion) - at)), 0.0)
    return flexion, size * shape, entry["c1_sd"] * shape


def draw(path: Path) -> None:
    entries = read_yaml(TABLES / "strengths.yaml")
    with paper_style():
        figure = paper_figure(150.0)
        panels = figure.subplots(2, 3)
        for row, chain in zip(panels, CURVES, strict=True):
            muscles = load_muscle_set(chain)
            for panel, (joint, ends, posture) in zip(row, CURVES[chain], strict=True):
                draw_joint(panel, muscles, joint, ends, posture, [e for e in entries if e["joint"] == joint])
        panels[0, 0].set_ylabel("torque (N m), flexion upwards")
        panels[1, 0].set_ylabel("torque (N m), flexion upwards")
        handles, labels = panels[1, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        save_figure(figure, path)


def draw_joint(
    panel: Any,
    muscles: MuscleSet,
    joint: str,
    ends: tuple[float, float],
    posture: tuple[float, float, float],
    entries: list[dict[str, Any]],
) -> None:
    flexion = np.arange(ends[0], ends[1] + 1e-6, 2.5)
    panel.axhline(0.0, color="0.7", linewidth=0.5)
    for name, sense in SENSES.items():
        constant, by_length = strength(muscles, joint, flexion, posture, sense)
        first = name == "flexion"
        panel.plot(
            flexion,
            sense * constant,
            color=OURS,
            label="set, constant strength (the default)" if first else None,
        )
        panel.plot(flexion, sense * by_length, "--", color=OURS_FL, label="set, with force-length" if first else None)
        for entry in (e for e in entries if e["sense"] == name):
            at, torque, sd = measured(entry)
            if "torque_nm" in entry:
                panel.errorbar(at, sense * torque, sd, fmt="o", color=MEASURED, markersize=3, capsize=2, linewidth=0.8)
            else:
                panel.plot(
                    at, sense * torque, color=MEASURED, label="measured, mean and standard deviation" if first else None
                )
                panel.fill_between(
                    at, sense * (torque - sd), sense * (torque + sd), color=MEASURED, alpha=0.15, linewidth=0
                )
    errors = {
        sense: f"ratio {ratio}, rms {rms} N m" for at, sense, _, _, _, ratio, rms, *_ in strength_rows() if at == joint
    }
    lines = [f"{sense}: {errors.get(sense, 'no measurement')}" for sense in SENSES]
    panel.set_title("\n".join([joint, *lines]), loc="left", fontsize=7.0)
    panel.set_xlabel("flexion (deg)")


def strength_rows() -> list[tuple[str, ...]]:
    """Measured strengths beside those of the sets: ratio of the means over the angles, and rms difference."""
    rows = []
    for entry in read_yaml(TABLES / "strengths.yaml"):
        chain = "leg" if entry["joint"] in ("hip", "knee", "ankle") else "arm"
        _, ends, posture = next(curve for curve in CURVES[chain] if curve[0] == entry["joint"])
        at, torque, sd = measured(entry)
        inside = (at >= ends[0]) & (at <= ends[1])
        ours = strength(load_muscle_set(chain), entry["joint"], at[inside], posture, SENSES[entry["sense"]])
        known = torque[inside]
        error = [f"{np.sqrt(np.mean((o - known) ** 2)):.0f}" for o in ours]
        ratio = [f"{o.mean() / known.mean():.2f}" for o in ours]
        span = f"{at[inside].min():.0f} to {at[inside].max():.0f}"
        size = f"{known.mean():.0f} ± {sd[inside].mean():.0f}"
        rows.append(
            (entry["joint"], entry["sense"], entry["source"], span, size, ratio[0], error[0], ratio[1], error[1])
        )
    return rows


def print_table(heads: list[str], rows: list[tuple[str, ...]]) -> None:
    for cells in (heads, ["---"] * len(heads), *rows):
        print(f"| {' | '.join(cells)} |")
    print()


def main(folder: Path, figure: Path) -> None:
    print_table(
        ["muscle", "joint", "compared with", "range (deg)", "rms (mm)", "largest (mm, deg)", "done"], arm_rows(folder)
    )
    heads = ["joint", "sense", "measured by", "range (deg)", "mean ± sd (N m)", "ratio", "rms (N m)"]
    print_table([*heads, "ratio, force-length", "rms, force-length"], strength_rows())
    draw(figure)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    main(
        Path(sys.argv[1]),
        Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "figures" / "muscles_strength.png",
    )
