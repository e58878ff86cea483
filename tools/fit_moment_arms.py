"""Fit smooth moment arms to sampled ones and write the built-in muscle sets.

Usage: python tools/fit_moment_arms.py FOLDER

FOLDER holds ``arm_moment_arms.csv`` (muscle, joint, joint_flexion_deg, moment_arm_m, musculotendon_length_m, source) and
``muscle_parameters.csv``, and ``leg_moment_arms.csv`` of an older model, for comparison. What is newer stands in
``tools/moment_arms``: samples of MyoArm (``arm.csv``) and of the Rajagopal model (``leg.csv``; both made by
``sample_moment_arms.py``), strengths and fibres, and published arms (see ``published_arms.py``). A measured arm marked as used takes
the place of the sampled one; with all others it has a range of published arms. The sets go to ``src/limbtorque/muscles/sets``, each as
YAML for people and as JSON, which is loaded; the same tables give the same bytes. Each sampled arm takes the simplest form
that follows the table (`limbtorque.muscles.sets.curve_entries`). A muscle's length is that of the table with every joint at 0, and
the arms' integral from there; how far that departs from the table stands beside each sampled arm. The choices that were
made by looking at the curves stand in `LIMITS` and `NOTES`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from published_arms import PublishedArm, grid, published_arms, range_of

from limbtorque.arrays import FloatArray
from limbtorque.muscles.sets.curve_entries import Absent, Polynomial, Spline, fit
from limbtorque.muscles.sets.moment_arm_curves import Curve, evaluate, integral
from limbtorque.study.files import read_yaml, yaml_text

NEWER = Path(__file__).parent / "moment_arms"
USED = {
    (muscle, arm["joint"]): arm
    for arm in read_yaml(NEWER / "published.yaml")["polynomials"]
    for muscle in arm["muscles"]
    if arm["used"]
}
PUBLISHED = published_arms()
LINES = read_yaml(Path(__file__).parent / "lines_of_action.yaml")
SETS = Path(__file__).resolve().parents[1] / "src" / "limbtorque" / "muscles" / "sets"
SOURCES = {
    "arm26": {"model": "OpenSim Arm26, sampled with OpenSim 4.6", "licence": "CC-BY-3.0"},
    "myoarm": {"model": "MyoSuite MyoArm, sampled with MuJoCo", "licence": "Apache-2.0"},
    "rajagopal2016": {
        "model": "Rajagopal et al. (2016) IEEE Trans Biomed Eng 63, 2068-2079, at its published size, sampled with OpenSim 4.6",
        "licence": "CC-BY-4.0",
    },
    "holzbaur2005": {
        "model": "MyoSuite MyoArm, sampled with MuJoCo; strength and fibres: Holzbaur et al. (2005) Ann Biomed Eng 33, 829-840",
        "licence": "Apache-2.0",
    },
    "saul2015": {
        "model": "MyoSuite MyoArm, sampled with MuJoCo; strength and fibres: Saul et al. (2015) Comput Methods Biomech Biomed Engin 18, "
        "1445-1458, in its public model",
        "licence": "Apache-2.0",
    },
}
ACHILLES = {  # at the strength; other tendons have none here, and so the one of the published curve
    "tendon_strain": 0.1,
    "tendon_strain_source": "Arnold et al. (2013) J Exp Biol 216, 2150-2160, for the plantarflexors",
}
# The part of the table that is used, in degrees, where the model's path stops being a muscle's path.
LIMITS = {
    ("TRIlong", "shoulder"): (-60.0, 105.0),
    ("PECM1", "shoulder"): (0.0, 85.0),
    ("iliopsoas", "hip"): (-30.0, 105.0),
    ("rect_fem", "knee"): (0.0, 100.0),
    ("vasti", "knee"): (0.0, 100.0),
    ("tfl", "hip"): (-30.0, 100.0),
}
GROWS = (
    "Sampled to 120 deg; above 100 deg the arm of the model grows again by up to 10 mm, which no measured one does, so "
)
NOTES = {
    ("TRIlong", "shoulder"): "Sampled to 120 deg; above 105 deg a switching wrapping surface turns the extensor into a "
    "flexor by up to 11 mm in 5 deg, so the range ends there. The model's length jumps by 2.0 mm from 40 to 45 and by "
    "2.9 mm from 70 to 75 deg, and from 85 deg on it grows faster than its arm says: the arm is used, and the length "
    "is its integral.",
    (
        "PECM1",
        "shoulder",
    ): "Sampled to 120 deg; above 85 deg the model turns it into an extensor, against the measured flexor "
    "(Ackland et al. 2008), so the range ends there.",
    ("DELT2", "shoulder"): "A flexor, as measured (Ackland et al. 2008).",
    ("LAT", "shoulder"): "Three parts as one, weighted by cross-section.",
    (
        "iliopsoas",
        "hip",
    ): "Sampled to 120 deg; above 105 deg the paths of iliacus and psoas slip over the hip's centre and the arm "
    "falls by up to 10 mm in 5 deg, so the range ends there.",
    ("rect_fem", "knee"): GROWS + "the range ends there.",
    ("vasti", "knee"): GROWS + "the range ends there.",
    (
        "add_mag",
        "hip",
    ): "Four parts as one, weighted by strength: in extension the parts from the pubis flex, the ischial one extends.",
    (
        "gastroc",
        "knee",
    ): "Below 30 deg the model's arm departs from -dL/dq of its path by up to 17 mm (medial head), as a wrapping "
    "surface is left: the arm is used, and the length is its integral.",
    ("gracilis", "hip"): "It comes from the pubis: it flexes the straight hip, and above 15 deg of flexion it extends.",
    ("add_long", "hip"): "It flexes the straight hip, and above 75 deg of flexion it extends.",
    ("add_brev", "hip"): "It flexes the straight hip, and above 70 deg of flexion it extends.",
    (
        "glut_med",
        "hip",
    ): "Three parts as one: they extend the straight hip, and above 85 deg of flexion, on average, they flex.",
    (
        "glut_min",
        "hip",
    ): "Three parts as one: they extend the straight hip, and above 50 deg of flexion, on average, they flex.",
    (
        "tfl",
        "hip",
    ): "Sampled to 120 deg; above 100 deg the model's arm grows to 97 mm, where those of Dostal and Andrews (1981) "
    "and Delp et al. (1990) fall, to 50 and 84 mm, so the range ends there.",
    ("BRA", "elbow"): "The model's arm has a kink at 45 deg.",
}
# Joints that a muscle crosses, of which no arm was found.
NOT_SAMPLED = {("FCU", "elbow")}

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
        "mass_kg": 75.337,
        "segment_length_m": {"hip": 0.404, "knee": 0.4, "ankle": 0.137},
        "source": "Rajagopal et al. (2016), unscaled: hip to the origin of the tibia with the knee straight, knee to "
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
        "DELT2": ("deltoid, lateral part", {"shoulder": FLEXOR}),
        "DELT3": ("deltoid, posterior part", {"shoulder": EXTENSOR}),
        "PECM1": ("pectoralis major, clavicular part", {"shoulder": FLEXOR}),
        "TMAJ": ("teres major", {"shoulder": EXTENSOR}),
        "LAT": ("latissimus dorsi", {"shoulder": EXTENSOR}),
        "CORB": ("coracobrachialis", {"shoulder": FLEXOR}),
        "BRD": ("brachioradialis", {"elbow": FLEXOR}),
        "FCR": ("flexor carpi radialis", {"elbow": FLEXOR, "wrist": FLEXOR}),
        "FCU": ("flexor carpi ulnaris", {"wrist": FLEXOR}),
        "ECRL": ("extensor carpi radialis longus", {"elbow": EXTENSOR, "wrist": EXTENSOR}),
        "ECRB": ("extensor carpi radialis brevis", {"elbow": EXTENSOR, "wrist": EXTENSOR}),
        "ECU": ("extensor carpi ulnaris", {"elbow": EXTENSOR, "wrist": EXTENSOR}),
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
        "glut_med": ("gluteus medius", {"hip": EXTENSOR}),
        "glut_min": ("gluteus minimus", {"hip": EXTENSOR}),
        "add_mag": ("adductor magnus", {"hip": EXTENSOR}),
        "add_long": ("adductor longus", {"hip": FLEXOR}),
        "add_brev": ("adductor brevis", {"hip": FLEXOR}),
        "sartorius": ("sartorius", {"hip": FLEXOR, "knee": FLEXOR}),
        "gracilis": ("gracilis", {"hip": FLEXOR, "knee": FLEXOR}),
        "tfl": ("tensor fasciae latae", {"hip": FLEXOR, "knee": EXTENSOR}),
    },
}


def described(found: Absent | Polynomial | Spline) -> dict[str, Any]:
    """Lay out a fit as in the file."""
    entry = found.model_dump(exclude_defaults=True)
    keys = ("form", "coefficients", "knots_deg", "arms_m", "range_deg", "max_departure_m", "departs_at_deg")
    return {key: entry[key] for key in keys if key in entry}


def length_departure(arm: Curve, flexion_deg: np.ndarray, sampled_m: np.ndarray) -> dict[str, float]:
    """Largest departure of the arm's integral from the sampled change of length since flexion 0, and where."""
    change = sampled_m - sampled_m[flexion_deg == 0]
    off = np.abs(-evaluate(integral(arm), [np.radians(flexion_deg)]) - change)
    where = float(flexion_deg[off.argmax()])
    return {"length_departure_m": round(float(off.max()), 5), "length_departs_at_deg": where}


def measured_arm(muscle: str, joint: str) -> dict[str, Any]:
    """Lay out a published polynomial as in the file."""
    arm = USED[muscle, joint]
    coefficients = [round(1e-3 * c, 7) for c in np.trim_zeros(arm["coefficients_mm"], "b")]
    (source,) = (one.source for one in PUBLISHED if one.used and (one.muscle, one.joint) == (muscle, joint))
    note = f"{source.capitalize()}." if source.startswith("an estimate") else f"Measured: {source}."
    return {"form": "polynomial", "coefficients": coefficients, "range_deg": arm["range_deg"], "note": note}


def arms_over_range(table: pd.DataFrame, muscle: str, joint: str) -> tuple[FloatArray, FloatArray]:
    """Flexion [deg] and moment arm [m] over the range that is used, every 5 degrees, measured or sampled."""
    if (muscle, joint) not in USED:
        rows = used_rows(table, muscle, joint)
        return rows.joint_flexion_deg.to_numpy(dtype=float), rows.moment_arm_m.to_numpy()
    flexion = grid(*USED[muscle, joint]["range_deg"])
    return flexion, 1e-3 * np.polynomial.Polynomial(USED[muscle, joint]["coefficients_mm"])(np.radians(flexion))


def published_ranges(tables: dict[str, pd.DataFrame], older: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """Range of the published arms of each muscle and joint; empty where there is no other source."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for chain, table in tables.items():
        for name, (_, function) in MUSCLES[chain].items():
            for joint in function:
                others = [one for one in PUBLISHED if (one.muscle, one.joint) == (name, joint) and not one.used]
                if (
                    joint != "hip"
                ):  # there the older model has the paths of Delp et al. (1990), which are among the published
                    others += older_arm(older, name, joint)
                flexion, arm_m = arms_over_range(table, name, joint)
                found[name, joint] = range_of(flexion, 1e3 * arm_m, others)
    return found


def older_arm(older: pd.DataFrame, muscle: str, joint: str) -> list[PublishedArm]:
    """Arm of a leg muscle in the older model, if it has one there."""
    rows = older[(older.muscle == muscle) & (older.joint == joint)].sort_values("joint_flexion_deg")
    flexion, arm = rows.joint_flexion_deg.to_numpy(dtype=float), 1e3 * rows.moment_arm_m.to_numpy()
    crosses = len(arm) and np.abs(arm).max() > 1.0
    return [PublishedArm(muscle, joint, "OpenSim Gait10dof18musc", flexion, arm)] if crosses else []


def joint_arm(table: pd.DataFrame, muscle: str, joint: str) -> dict[str, Any]:
    """Moment arm of one muscle at one joint, with the note that goes with it."""
    if (muscle, joint) in USED:
        return measured_arm(muscle, joint)
    if (muscle, joint) in NOT_SAMPLED:
        return {
            "form": "not_sampled",
            "note": "Crosses the elbow; its moment arm was not measured there. Taken as zero.",
        }
    rows = used_rows(table, muscle, joint)
    if rows.empty:
        return {"form": "zero"}
    flexion = rows.joint_flexion_deg.to_numpy(dtype=float)
    found = fit(flexion, rows.moment_arm_m.to_numpy())
    if isinstance(found, Absent):
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


def muscle_set(
    chain: str, table: pd.DataFrame, parameters: pd.DataFrame, published: dict[tuple[str, str], dict[str, Any]]
) -> dict[str, Any]:
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
                **(ACHILLES if name in ("soleus", "gastroc") else {}),
                "source": SOURCES[row.source],
                "length_at_zero_m": length_at_zero(table, name),
                "moment_arms": {
                    joint: joint_arm(table, name, joint) | published.get((name, joint), {}) for joint in JOINTS[chain]
                },
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
    """All muscles with one function all over one joint's range as one: summed strength, strength-weighted mean arm."""
    every = {
        name: arms_over_range(table, name, joint)[1] for name, (_, act) in muscles.items() if act.get(joint) == function
    }
    names = [name for name, arm in every.items() if np.ptp(np.sign(arm)) == 0]  # the others flex here and extend there
    strength = parameters.loc[names].max_isometric_force_n.to_numpy()
    arms = [every[name].mean() for name in names]
    sources = sorted(set(parameters.loc[names].source))
    arm_m = round(float(np.average(arms, weights=strength)), 5)
    return {
        "name": f"{joint}_{function}",
        "full_name": f"all steady {function}s of the {joint} as one: {', '.join(names)}",
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
# published: lowest and highest of all published arms, this one among them, by flexion; left out where there is no other source.
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


def load_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Sampled arms and lengths of each chain; where both hold a muscle's joint, the newer table."""
    old, new = pd.read_csv(folder / "arm_moment_arms.csv"), pd.read_csv(NEWER / "arm.csv")
    keys = ["muscle", "joint"]
    again = old.set_index(keys).index.isin(new.set_index(keys).index)
    return {"arm": pd.concat([old[~again], new], ignore_index=True), "leg": pd.read_csv(NEWER / "leg.csv")}


def load_parameters(folder: Path) -> pd.DataFrame:
    """Strengths and fibres by muscle; the newer table's where it has the muscle."""
    old = pd.read_csv(folder / "muscle_parameters.csv").set_index("muscle").drop(columns="chain")
    new = pd.concat([pd.read_csv(NEWER / f"{chain}_parameters.csv") for chain in JOINTS]).set_index("muscle")
    return pd.concat([old[~old.index.isin(new.index)], new])


def main(folder: Path) -> None:
    SETS.mkdir(exist_ok=True)
    parameters, tables = load_parameters(folder), load_tables(folder)
    published = published_ranges(tables, pd.read_csv(folder / "leg_moment_arms.csv"))
    for chain, table in tables.items():
        whole = muscle_set(chain, table, parameters, published)
        write(chain, HEADERS["limb"], whole)
        report(whole["muscles"])
    pairs = pair_set(tables, parameters)
    write("pairs", HEADERS["pairs"], pairs)
    report(pairs["muscles"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
