"""Fit smooth moment arms to sampled ones and write the built-in muscle sets.

Usage: python tools/fit_moment_arms.py FOLDER

FOLDER holds ``arm_moment_arms.csv`` and ``leg_moment_arms.csv`` (muscle, joint, joint_flexion_deg, moment_arm_m, ...,
source) and ``muscle_parameters.csv``. The sets go to ``src/limbtorque/muscles/sets``; the same tables give the same
bytes. Each moment arm takes the simplest form that follows the table within 1 mm, or within 5 % of the largest arm
where that is less: zero, a polynomial of at most fourth degree, or else a shape-preserving spline with as few knots
as that takes. The choices that were made by looking at the curves stand in `LIMITS` and `NOTES`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from limbtorque.muscles.moment_arms import MomentArm, evaluate_moment_arm, polynomial_arm, spline_arm

SETS = Path(__file__).resolve().parents[1] / "src" / "limbtorque" / "muscles" / "sets"
NEGLIGIBLE_M = 1e-4
LARGEST_DEPARTURE_M = 1e-3
LARGEST_PART = 0.05
HIGHEST_DEGREE = 4
MOST_KNOTS = 9

SOURCES = {
    "arm26": {"model": "OpenSim Arm26, sampled with OpenSim 4.6", "licence": "CC-BY-3.0"},
    "myoarm": {"model": "MyoSuite MyoArm, sampled with MuJoCo", "licence": "Apache-2.0"},
    "gait10dof18musc": {"model": "OpenSim Gait10dof18musc, sampled with OpenSim 4.6", "licence": "CC-BY-3.0"},
}
# The part of the table that is used, in degrees, where the model's path stops being a muscle's path.
LIMITS = {("TRIlong", "shoulder"): (-60.0, 105.0), ("iliopsoas", "hip"): (-30.0, 85.0)}
NOTES = {
    ("TRIlong", "shoulder"): "Sampled to 120 deg; above 105 deg a switching wrapping surface turns the extensor into a "
    "flexor by up to 11 mm in 5 deg, so the range ends there. The arm departs from -dL/dq by up to 18 mm near 40 "
    "and 70 deg, where the model's length jumps: the arm is used, not the length.",
    ("iliopsoas", "hip"): "Sampled to 100 deg; above 85 deg the model's path runs through the hip's centre and the arm "
    "falls by up to 17 mm in 5 deg to an extensor's, so the range ends there.",
    (
        "BIClong",
        "shoulder",
    ): "The model's wrapping switches between 30 and 35 deg, a step of 2.6 mm, where the arm departs "
    "from -dL/dq by 10 mm: smoothed over.",
    ("gastroc", "knee"): "The model's wrapping switches near 45 deg, where the arm departs from -dL/dq by 2 mm.",
    ("BRA", "elbow"): "The model's arm has a kink at 45 deg.",
}
# Joints that a muscle crosses but the source did not sample.
NOT_SAMPLED = {(muscle, "elbow") for muscle in ("FCR", "FCU", "ECRL", "ECRB", "ECU")}

JOINTS = {
    "arm": {
        "shoulder": "Elevation of the upper arm in the sagittal plane, forwards positive; 0 with the arm hanging.",
        "elbow": "Flexion of the forearm on the upper arm, positive; 0 with the arm straight.",
        "wrist": "Palmar flexion of the hand on the forearm, positive; 0 with the hand in line with the forearm.",
    },
    "leg": {
        "hip": "Flexion of the thigh on the pelvis, forwards positive; 0 standing upright.",
        "knee": "Flexion of the shank on the thigh, heel towards the buttock positive; 0 with the leg straight.",
        "ankle": "Dorsiflexion of the foot on the shank, toes upwards positive; 0 with the foot at a right angle.",
    },
}
FLEXOR, EXTENSOR = "flexor", "extensor"
MUSCLES: dict[str, dict[str, tuple[str, dict[str, str]]]] = {
    "arm": {
        "TRIlong": ("triceps brachii, long head", {"shoulder": EXTENSOR, "elbow": EXTENSOR}),
        "TRIlat": ("triceps brachii, lateral head", {"elbow": EXTENSOR}),
        "TRImed": ("triceps brachii, medial head", {"elbow": EXTENSOR}),
        "BIClong": ("biceps brachii, long head", {"shoulder": FLEXOR, "elbow": FLEXOR}),
        "BICshort": ("biceps brachii, short head", {"shoulder": FLEXOR, "elbow": FLEXOR}),
        "BRA": ("brachialis", {"elbow": FLEXOR}),
        "DELT1": ("deltoid, anterior part", {"shoulder": FLEXOR}),
        "DELT3": ("deltoid, posterior part", {"shoulder": EXTENSOR}),
        "PECM1": ("pectoralis major, clavicular part", {"shoulder": FLEXOR}),
        "TMAJ": ("teres major", {"shoulder": EXTENSOR}),
        "FCR": ("flexor carpi radialis", {"wrist": FLEXOR}),
        "FCU": ("flexor carpi ulnaris", {"wrist": FLEXOR}),
        "ECRL": ("extensor carpi radialis longus", {"wrist": EXTENSOR}),
        "ECRB": ("extensor carpi radialis brevis", {"wrist": EXTENSOR}),
        "ECU": ("extensor carpi ulnaris", {"wrist": EXTENSOR}),
    },
    "leg": {
        "hamstrings": ("hamstrings, biarticular part", {"hip": EXTENSOR, "knee": FLEXOR}),
        "bifemsh": ("biceps femoris, short head", {"knee": FLEXOR}),
        "glut_max": ("gluteus maximus", {"hip": EXTENSOR}),
        "iliopsoas": ("iliopsoas", {"hip": FLEXOR}),
        "rect_fem": ("rectus femoris", {"hip": FLEXOR, "knee": EXTENSOR}),
        "vasti": ("vasti", {"knee": EXTENSOR}),
        "gastroc": ("gastrocnemius", {"knee": FLEXOR, "ankle": EXTENSOR}),
        "soleus": ("soleus", {"ankle": EXTENSOR}),
        "tib_ant": ("tibialis anterior", {"ankle": FLEXOR}),
    },
}


def departure(arm: MomentArm, flexion_deg: np.ndarray, sampled_m: np.ndarray) -> tuple[float, float]:
    """Largest absolute departure [m] from the table, and where [deg]."""
    off = np.abs(evaluate_moment_arm(arm, np.radians(flexion_deg)) - sampled_m)
    return float(off.max()), float(flexion_deg[off.argmax()])


def fit(flexion_deg: np.ndarray, sampled_m: np.ndarray) -> dict[str, Any]:
    """Simplest form that follows one muscle's moment arm at one joint."""
    if np.abs(sampled_m).max() < NEGLIGIBLE_M:
        return {"form": "zero"}
    allowed = min(LARGEST_DEPARTURE_M, LARGEST_PART * float(np.abs(sampled_m).max()))
    ends = [float(flexion_deg[0]), float(flexion_deg[-1])]
    for degree in range(HIGHEST_DEGREE + 1):
        polynomial = np.polynomial.Polynomial.fit(np.radians(flexion_deg), sampled_m, degree).convert()
        coefficients = [round(float(c), 6) for c in polynomial.coef]
        off, where = departure(polynomial_arm(coefficients, ends), flexion_deg, sampled_m)
        if off <= allowed:
            return described("polynomial", {"coefficients": coefficients}, ends, off, where)
    return fit_spline(flexion_deg, sampled_m, allowed, ends)


def fit_spline(flexion_deg: np.ndarray, sampled_m: np.ndarray, allowed: float, ends: list[float]) -> dict[str, Any]:
    """Shape-preserving spline: a knot where the last one departs most, until it follows."""
    knots = [0, len(flexion_deg) - 1]
    while True:
        knots_deg = [float(flexion_deg[k]) for k in knots]
        arms_m = [round(float(sampled_m[k]), 5) for k in knots]
        arm = spline_arm(knots_deg, arms_m, ends)
        off, where = departure(arm, flexion_deg, sampled_m)
        if off <= allowed or len(knots) >= MOST_KNOTS:
            return described("spline", {"knots_deg": knots_deg, "arms_m": arms_m}, ends, off, where)
        knots = sorted({*knots, int(np.flatnonzero(flexion_deg == where)[0])})


def described(form: str, numbers: dict[str, Any], ends: list[float], off: float, where: float) -> dict[str, Any]:
    """Lay out a fit as in the file."""
    return {"form": form, **numbers, "range_deg": ends, "largest_departure_m": round(off, 5), "departs_at_deg": where}


def joint_arm(table: pd.DataFrame, muscle: str, joint: str) -> dict[str, Any]:
    """Moment arm of one muscle at one joint, with the note that goes with it."""
    if (muscle, joint) in NOT_SAMPLED:
        return {"form": "not_sampled", "note": "Crosses the elbow; the source has no moment arm there. Taken as zero."}
    rows = table[(table.muscle == muscle) & (table.joint == joint)].sort_values("joint_flexion_deg")
    if rows.empty:
        return {"form": "zero"}
    low, high = LIMITS.get((muscle, joint), (-np.inf, np.inf))
    rows = rows[rows.joint_flexion_deg.between(low, high)]
    fitted = fit(rows.joint_flexion_deg.to_numpy(dtype=float), rows.moment_arm_m.to_numpy())
    return fitted | ({"note": NOTES[muscle, joint]} if (muscle, joint) in NOTES else {})


def parameter(value: float, places: int = 6) -> float | None:
    return None if pd.isna(value) else round(float(value), places)


def muscle_set(chain: str, folder: Path) -> dict[str, Any]:
    """One whole set as it stands in the file."""
    table = pd.read_csv(folder / f"{chain}_moment_arms.csv")
    parameters = pd.read_csv(folder / "muscle_parameters.csv").query("chain == @chain").set_index("muscle")
    muscles = []
    for name, (full_name, function) in MUSCLES[chain].items():
        row = parameters.loc[name]
        muscles.append(
            {
                "name": name,
                "full_name": full_name,
                "function": function,
                "max_isometric_force_n": parameter(row.max_isometric_force_n),
                "optimal_fibre_length_m": parameter(row.optimal_fibre_length_m),
                "tendon_slack_length_m": parameter(row.tendon_slack_length_m),
                "pennation_rad": parameter(row.pennation_rad),
                "source": SOURCES[row.source],
                "moment_arms": {joint: joint_arm(table, name, joint) for joint in JOINTS[chain]},
            }
        )
    return {"name": chain, "joints": list(JOINTS[chain]), "flexion": JOINTS[chain], "muscles": muscles}


HEADER = """\
# Made by tools/fit_moment_arms.py; change it there.
# Moment arms in metres, positive where the muscle flexes the joint, r = -dL/d(flexion). One joint was moved at a time
# with the others at 0, so an arm here does not depend on the neighbouring joint.
# polynomial: coefficients of rising powers of the flexion in radians. spline: shape-preserving cubic (Fritsch and
# Carlson's slopes) through the knots. largest_departure_m: from the sampled table, over range_deg, at departs_at_deg.
"""


class Dumper(yaml.SafeDumper):
    """Lists of numbers on one line, no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (the name is the base class's)
        """Write a repeated source out again."""
        return True


def list_in_a_row(dumper: yaml.SafeDumper, values: list[Any]) -> yaml.Node:
    flow = not any(isinstance(value, dict) for value in values)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=flow)


Dumper.add_representer(list, list_in_a_row)


def main(folder: Path) -> None:
    SETS.mkdir(exist_ok=True)
    for chain in JOINTS:
        whole = muscle_set(chain, folder)
        text = yaml.dump(whole, Dumper=Dumper, sort_keys=False, width=110, allow_unicode=True)
        (SETS / f"{chain}.yaml").write_text(HEADER + text, encoding="utf-8")
        for muscle in whole["muscles"]:
            for joint, arm in muscle["moment_arms"].items():
                if "largest_departure_m" in arm:
                    size = len(arm.get("coefficients", arm.get("knots_deg")))
                    off = f"{1e3 * arm['largest_departure_m']:.2f} mm at {arm['departs_at_deg']:g} deg"
                    print(f"{muscle['name']:11} {joint:9} {arm['form']:11} {size:2} numbers  {off}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
