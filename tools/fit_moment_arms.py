"""Fit smooth moment arms to sampled ones and write the built-in muscle sets.

Usage: python tools/fit_moment_arms.py FOLDER

FOLDER holds ``arm_moment_arms.csv`` and ``leg_moment_arms.csv`` (muscle, joint, joint_flexion_deg, moment_arm_m,
musculotendon_length_m, source) and ``muscle_parameters.csv``. The sets go to ``src/limbtorque/muscles/sets``, each as
YAML for people and as JSON, which is loaded; the same tables give the same bytes. Each moment arm takes the simplest form that follows the table
(`limbtorque.muscles.sets.fitting`). A muscle's length is that of the table with every joint at 0, and the arms' integral
from there; how far that departs from the table stands beside each arm. The choices that were made by looking at the
curves stand in `LIMITS` and `NOTES`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from limbtorque.muscles.sets.fitting import Fit, fit
from limbtorque.muscles.sets.moment_arm_curves import Curve, evaluate, integral
from limbtorque.study.yaml_file import read_yaml, yaml_text

LINES = read_yaml(Path(__file__).parent / "lines_of_action.yaml")
SETS = Path(__file__).resolve().parents[1] / "src" / "limbtorque" / "muscles" / "sets"
SOURCES = {
    "arm26": {"model": "OpenSim Arm26, sampled with OpenSim 4.6", "licence": "CC-BY-3.0"},
    "myoarm": {"model": "MyoSuite MyoArm, sampled with MuJoCo", "licence": "Apache-2.0"},
    "gait10dof18musc": {"model": "OpenSim Gait10dof18musc, sampled with OpenSim 4.6", "licence": "CC-BY-3.0"},
}
# The part of the table that is used, in degrees, where the model's path stops being a muscle's path.
LIMITS = {("TRIlong", "shoulder"): (-60.0, 105.0), ("iliopsoas", "hip"): (-30.0, 85.0)}
NOTES = {
    ("TRIlong", "shoulder"): "Sampled to 120 deg; above 105 deg a switching wrapping surface turns the extensor into a "
    "flexor by up to 11 mm in 5 deg, so the range ends there. The model's length jumps by 2.0 mm from 40 to 45 and by "
    "2.9 mm from 70 to 75 deg, and from 85 deg on it grows faster than its arm says: the arm is used, and the length "
    "is its integral.",
    ("iliopsoas", "hip"): "Sampled to 100 deg; above 85 deg the model's path runs through the hip's centre and the arm "
    "falls by up to 17 mm in 5 deg to an extensor's, so the range ends there.",
    (
        "BIClong",
        "shoulder",
    ): "The model's wrapping switches between 30 and 35 deg: the arm steps by 2.6 mm, smoothed over, and the length "
    "jumps by 1.6 mm, which the arm's integral does not.",
    (
        "BICshort",
        "shoulder",
    ): "It flexes the hanging arm; the model's path passes behind the joint's centre near 10 deg, "
    "and above that it extends.",
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
PARALLEL = "A textbook simplification: the pull runs along one of the segments, at the distance of the moment arm."
# Lengths between the joints of the models that the arms were sampled from.
REFERENCES: dict[str, dict[str, Any]] = {
    "arm": {
        "segment_length_m": {"shoulder": 0.29, "elbow": 0.254, "wrist": 0.081},
        "source": "Shoulder to elbow: elbow joint in the humerus of OpenSim Arm26. Elbow to wrist (Arm26 has no wrist) "
        "and wrist to the knuckle of the middle finger: bodies radius, lunate, capitate, thirdmc and proxph3 of "
        "MyoSuite MyoArm, in the plane of flexion.",
    },
    "leg": {
        "mass_kg": 75.16,
        "segment_length_m": {"hip": 0.396, "knee": 0.43, "ankle": 0.137},
        "source": "OpenSim Gait10dof18musc, unscaled: hip to the origin of the tibia with the knee straight, knee to "
        "ankle, and ankle to metatarsophalangeal joint, in the sagittal plane; mass of all its bodies.",
    },
}
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


def described(found: Fit) -> dict[str, Any]:
    """Lay out a fit as in the file."""
    if found.form == "zero":
        return {"form": "zero"}
    numbers = (
        {"coefficients": list(found.coefficients)}
        if found.form == "polynomial"
        else {"knots_deg": list(found.knots_deg), "arms_m": list(found.arms_m)}
    )
    departure = {"max_departure_m": found.max_departure_m, "departs_at_deg": found.departs_at_deg}
    return {"form": found.form, **numbers, "range_deg": list(found.range_deg), **departure}


def length_departure(arm: Curve, flexion_deg: np.ndarray, sampled_m: np.ndarray) -> dict[str, float]:
    """Largest departure of the arm's integral from the sampled change of length since flexion 0, and where."""
    change = sampled_m - sampled_m[flexion_deg == 0]
    off = np.abs(-evaluate(integral(arm), [np.radians(flexion_deg)]) - change)
    where = float(flexion_deg[off.argmax()])
    return {"length_departure_m": round(float(off.max()), 5), "length_departs_at_deg": where}


def joint_arm(table: pd.DataFrame, muscle: str, joint: str) -> dict[str, Any]:
    """Moment arm of one muscle at one joint, with the note that goes with it."""
    if (muscle, joint) in NOT_SAMPLED:
        return {"form": "not_sampled", "note": "Crosses the elbow; the source has no moment arm there. Taken as zero."}
    rows = used_rows(table, muscle, joint)
    if rows.empty:
        return {"form": "zero"}
    flexion = rows.joint_flexion_deg.to_numpy(dtype=float)
    found = fit(flexion, rows.moment_arm_m.to_numpy())
    if found.form == "zero":
        return described(found)
    length = length_departure(found.curve(joint), flexion, rows.musculotendon_length_m.to_numpy())
    return described(found) | length | ({"note": NOTES[muscle, joint]} if (muscle, joint) in NOTES else {})


def length_at_zero(table: pd.DataFrame, muscle: str) -> float:
    """Length with every joint at 0; the tables of all joints say the same."""
    lengths = table[(table.muscle == muscle) & (table.joint_flexion_deg == 0)].musculotendon_length_m
    if np.ptp(lengths) > 1e-6:
        raise ValueError(f"{muscle}: its length at flexion 0 differs from joint to joint: {sorted(lengths)}")
    return round(float(lengths.iloc[0]), 6)


def parameter(value: float, places: int = 6) -> float | None:
    return None if pd.isna(value) else round(float(value), places)


def used_rows(table: pd.DataFrame, muscle: str, joint: str) -> pd.DataFrame:
    """Part of the table that is used for one muscle at one joint, by rising flexion."""
    rows = table[(table.muscle == muscle) & (table.joint == joint)].sort_values("joint_flexion_deg")
    low, high = LIMITS.get((muscle, joint), (-np.inf, np.inf))
    return rows[rows.joint_flexion_deg.between(low, high)]


def muscle_set(chain: str, table: pd.DataFrame, parameters: pd.DataFrame) -> dict[str, Any]:
    """One whole set as it stands in the file."""
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
                "length_at_zero_m": length_at_zero(table, name),
                "moment_arms": {joint: joint_arm(table, name, joint) for joint in JOINTS[chain]},
                **({"lines_of_action": LINES[chain][name]} if name in LINES[chain] else {}),
            }
        )
    joints = JOINTS[chain]
    return {
        "name": chain,
        "joints": list(joints),
        "flexion": joints,
        "from_vertical": list(joints)[:1],
        "reference": REFERENCES[chain],
        "muscles": muscles,
    }


def pair_set(tables: dict[str, pd.DataFrame], parameters: pd.DataFrame) -> dict[str, Any]:
    """One flexor and one extensor a joint, each lumped from the muscles of the arm and leg sets."""
    flexion = {joint: text for joints in JOINTS.values() for joint, text in joints.items()}
    muscles = [
        lumped(joint, function, list(flexion), table, MUSCLES[chain], parameters)
        for chain, table in tables.items()
        for joint in JOINTS[chain]
        for function in (FLEXOR, EXTENSOR)
    ]
    reference = {
        "segment_length_m": {j: m for known in REFERENCES.values() for j, m in known["segment_length_m"].items()},
        "source": " ".join(f"{chain}: {known['source']}" for chain, known in REFERENCES.items()),
    }
    return {
        "name": "pairs",
        "joints": list(flexion),
        "flexion": flexion,
        "reference": reference,
        "muscles": muscles,
    }


def lumped(
    joint: str,
    function: str,
    joints: list[str],
    table: pd.DataFrame,
    muscles: dict[str, tuple[str, dict[str, str]]],
    parameters: pd.DataFrame,
) -> dict[str, Any]:
    """All muscles with one function at one joint as one: summed strength, strength-weighted mean arm."""
    names = [name for name, (_, functions) in muscles.items() if functions.get(joint) == function]
    strength = parameters.loc[names].max_isometric_force_n.to_numpy()
    arms = [used_rows(table, name, joint).moment_arm_m.mean() for name in names]
    sources = sorted(set(parameters.loc[names].source))
    arm_m = round(float(np.average(arms, weights=strength)), 5)
    return {
        "name": f"{joint}_{function}",
        "full_name": f"all {function}s of the {joint} as one: {', '.join(names)}",
        "function": {joint: function},
        "max_isometric_force_n": round(float(strength.sum()), 2),
        "optimal_fibre_length_m": None,
        "tendon_slack_length_m": None,
        "pennation_rad": None,
        "source": {
            "model": "; ".join(SOURCES[source]["model"] for source in sources),
            "licence": " and ".join(dict.fromkeys(SOURCES[source]["licence"] for source in sources)),
        },
        "moment_arms": {
            other: {"form": "constant", "arm_m": arm_m} if other == joint else {"form": "zero"} for other in joints
        },
        "lines_of_action": {joint: {"parallel_to": "proximal" if joint == "ankle" else "distal", "source": PARALLEL}},
    }


HEADER = """\
# Made by tools/fit_moment_arms.py; change it there.
# Moment arms in metres, positive where the muscle flexes the joint, r = -dL/d(flexion).
"""
HEADERS = {
    "limb": """\
# One joint was moved at a time with the others at 0, so an arm here does not depend on the neighbouring joint.
# polynomial: coefficients of rising powers of the flexion in radians. spline: shape-preserving cubic (Fritsch and
# Carlson's slopes) through the knots. max_departure_m: from the sampled table, over range_deg, at departs_at_deg.
# length_at_zero_m: length of muscle and tendon with every joint at 0; elsewhere it is that less the arms' integrals.
# length_departure_m: of the change of length so found from the sampled one, over range_deg, at length_departs_at_deg.
""",
    "pairs": """\
# One flexor and one extensor a joint, as in the two-link system of Duarte M, Watanabe R (Notes on scientific computing
# for biomechanics and motor control). The strength is the sum over the muscles of the arm and leg sets that have this
# function at this joint; the arm is the mean of theirs over the flexion that was sampled, weighted by strength. A
# muscle of two joints so counts at both, and gives a pair of muscles that act apart.
""",
}


def write(name: str, header: str, whole: dict[str, Any]) -> None:
    (SETS / f"{name}.yaml").write_text(HEADER + header + yaml_text(whole), encoding="utf-8")
    (SETS / f"{name}.json").write_text(json.dumps(whole, separators=(",", ":")) + "\n", encoding="utf-8")


def report(muscles: list[dict[str, Any]]) -> None:
    for muscle in muscles:
        for joint, arm in muscle["moment_arms"].items():
            if "max_departure_m" in arm:
                size = len(arm.get("coefficients", arm.get("knots_deg")))
                off = f"{1e3 * arm['max_departure_m']:.2f} mm at {arm['departs_at_deg']:g} deg"
                length = f"{1e3 * arm['length_departure_m']:.2f} mm at {arm['length_departs_at_deg']:g} deg"
                print(f"{muscle['name']:11} {joint:9} {arm['form']:11} {size:2} numbers  {off:22} length {length}")
            elif arm["form"] == "constant":
                print(f"{muscle['name']:18} {muscle['max_isometric_force_n']:8.1f} N {1e3 * arm['arm_m']:+6.1f} mm")


def main(folder: Path) -> None:
    SETS.mkdir(exist_ok=True)
    parameters = pd.read_csv(folder / "muscle_parameters.csv").set_index("muscle")
    tables = {chain: pd.read_csv(folder / f"{chain}_moment_arms.csv") for chain in JOINTS}
    for chain, table in tables.items():
        whole = muscle_set(chain, table, parameters)
        write(chain, HEADERS["limb"], whole)
        report(whole["muscles"])
    pairs = pair_set(tables, parameters)
    write("pairs", HEADERS["pairs"], pairs)
    report(pairs["muscles"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
