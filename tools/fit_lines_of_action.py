"""Fit directions of muscles across joints, sampled from OpenSim models.

Usage: python tools/fit_lines_of_action.py FOLDER

FOLDER holds ``arm26/arm26.osim``, ``running_opensim/Rajagopal2015_scaled.osim`` and
``walk_emg_opensim/subject_walk_scaled.osim``; the package `opensim` samples them. The straight piece of each path that crosses
a joint is projected on the sagittal plane; heads that are one muscle in a set are averaged, weighted by strength. The
direction of the pull on the distal segment is fitted as a polynomial of the flexion, which is measured between the axes
of the segments, as in the recordings. The entries replace those of the same muscle and joint in
``tools/lines_of_action.yaml``; ``tools/fit_moment_arms.py`` and ``tools/set_lines_of_action.py`` bring them into the sets.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import opensim

from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.study.yaml_file import read_yaml, yaml_text

TABLE = Path(__file__).parent / "lines_of_action.yaml"
HIGHEST_DEGREE = 4
LARGEST_DEPARTURE_DEG = 10.0  # a direction that a polynomial follows no better is left out
ENOUGH_DEG = 0.5  # a higher degree is taken only where it lowers the rms error by more
HEADER = "# Lines of action of the built-in sets (docs/muscles.md). Those with direction_deg: made by tools/fit_lines_of_action.py.\n"

LEG = {
    "hamstrings": ["bflh_r", "semimem_r", "semiten_r"],
    "bifemsh": ["bfsh_r"],
    "glut_max": ["glmax1_r", "glmax2_r", "glmax3_r"],
    "iliopsoas": ["iliacus_r", "psoas_r"],
    "rect_fem": ["recfem_r"],
    "vasti": ["vasint_r", "vaslat_r", "vasmed_r"],
    "gastroc": ["gaslat_r", "gasmed_r"],
    "soleus": ["soleus_r"],
    "tib_ant": ["tibant_r"],
    "glut_med": ["glmed1_r", "glmed2_r", "glmed3_r"],
    "glut_min": ["glmin1_r", "glmin2_r", "glmin3_r"],
    "add_mag": ["addmagDist_r", "addmagIsch_r", "addmagMid_r", "addmagProx_r"],
    "add_long": ["addlong_r"],
    "add_brev": ["addbrev_r"],
    "sartorius": ["sart_r"],
    "gracilis": ["grac_r"],
    "tfl": ["tfl_r"],
}
ARM = {name: [name] for name in ("TRIlong", "TRIlat", "TRImed", "BIClong", "BICshort", "BRA")}


@dataclass(frozen=True)
class Joint:
    """A joint of a model.

    Attributes
    ----------
    coordinate : str
        Coordinate of its flexion.
    sign : float
        +1 where the coordinate rises with flexion.
    distal : tuple of str
        Bodies distal to it.
    axes : pair of pairs
        Axis of the proximal and of the distal segment: two bodies, from the origin of the first to that of the second, or a body
        and one of its own axes.
    zero_deg : float
        Angle from the proximal to the distal axis at zero flexion, towards flexion.
    others : dict of str to list of float
        Coordinates of its neighbours, deg, at which it is sampled, too.
    range_deg : pair of float
        Range of its coordinate.
    """

    coordinate: str
    sign: float
    distal: tuple[str, ...]
    axes: tuple[tuple[str, Any], tuple[str, Any]]
    zero_deg: float
    others: dict[str, list[float]]
    range_deg: tuple[float, float]


DOWN, FORWARD = (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)
FOOT = ("talus_r", "calcn_r", "toes_r")
SHANK = ("tibia_r", *FOOT)
THIGH = ("femur_r", "patella_r", *SHANK)
LEG_JOINTS = {
    "hip": Joint(
        "hip_flexion_r",
        1.0,
        THIGH,
        (("pelvis", DOWN), ("femur_r", "tibia_r")),
        0.0,
        {"knee_angle_r": [0, 30, 60]},
        (-30, 100),
    ),
    "knee": Joint(
        "knee_angle_r",
        1.0,
        SHANK,
        (("femur_r", "tibia_r"), ("tibia_r", "talus_r")),
        0.0,
        {"hip_flexion_r": [0, 30], "ankle_angle_r": [0]},
        (0, 120),
    ),
    "ankle": Joint(
        "ankle_angle_r",
        1.0,
        FOOT,
        (("tibia_r", "talus_r"), ("calcn_r", FORWARD)),
        90.0,
        {"knee_angle_r": [0, 30]},
        (-40, 30),
    ),
}
HAND = ("r_ulna_radius_hand",)
ARM_JOINTS = {
    "elbow": Joint(
        "r_elbow_flex",
        1.0,
        HAND,
        (("r_humerus", DOWN), ("r_ulna_radius_hand", DOWN)),
        0.0,
        {"r_shoulder_elev": [0]},
        (0, 130),
    ),
    "shoulder": Joint(
        "r_shoulder_elev",
        1.0,
        ("r_humerus", *HAND),
        (("ground", DOWN), ("r_humerus", DOWN)),
        0.0,
        {"r_elbow_flex": [0, 60]},
        (-60, 120),
    ),
}
FLEXES_FORWARD = {
    "hip": 1.0,
    "knee": -1.0,
    "ankle": 1.0,
    "elbow": 1.0,
    "shoulder": 1.0,
}  # counter-clockwise, seen from the right


class Model:
    """An OpenSim model with its state."""

    def __init__(self, path: Path) -> None:
        self.model = opensim.Model(str(path))
        self.state = self.model.initSystem()
        for k in range(self.model.getCoordinateSet().getSize()):
            self.model.updCoordinateSet().get(k).setLocked(self.state, False)

    def pose(self, degrees: dict[str, float]) -> None:
        """Set coordinates, the others at 0."""
        coordinates = self.model.updCoordinateSet()
        for k in range(coordinates.getSize()):
            coordinate = coordinates.get(k)
            if coordinate.getMotionType() != opensim.Coordinate.Translational:
                coordinate.setValue(self.state, np.radians(degrees.get(coordinate.getName(), 0.0)), False)
        self.model.assemble(self.state)
        self.model.realizePosition(self.state)

    def frame(self, body: str) -> Any:
        """Body or ground."""
        return self.model.getGround() if body == "ground" else self.model.getBodySet().get(body)

    def origin(self, body: str) -> np.ndarray:
        """Origin of a body in the sagittal plane, m."""
        return plane(self.frame(body).getPositionInGround(self.state))

    def axis(self, which: tuple[str, Any]) -> np.ndarray:
        """Axis of a segment in the sagittal plane."""
        body, other = which
        if isinstance(other, str):
            return self.origin(other) - self.origin(body)
        return plane(self.frame(body).expressVectorInGround(self.state, opensim.Vec3(*other)))

    def piece(self, muscle: str, distal: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray] | None:
        """Ends of the straight piece across a joint: proximal and distal, m; None where it does not cross."""
        path = self.model.getMuscles().get(muscle).getGeometryPath().getCurrentPath(self.state)
        points = [path.get(k) for k in range(path.getSize())]
        is_distal = [p.getParentFrame().findBaseFrame().getName() in distal for p in points]
        at = [np.array([p.getLocationInGround(self.state).get(i) for i in range(3)]) for p in points]
        for k in range(len(points) - 1, 0, -1):
            if is_distal[k] != is_distal[k - 1]:
                return (at[k - 1], at[k]) if is_distal[k] else (at[k], at[k - 1])
        return None

    def strength(self, muscle: str) -> float:
        """Maximum isometric force, N."""
        return float(self.model.getMuscles().get(muscle).get_max_isometric_force())


def plane(vector: Any) -> np.ndarray:
    """Sagittal part: x forward, y up."""
    return np.array([vector.get(0), vector.get(1)])


def angle(vector: np.ndarray) -> float:
    """Angle of a vector with x, deg."""
    return float(np.degrees(np.arctan2(vector[1], vector[0])))


def turned(degrees: Any) -> Any:
    """Angle within -180 to 180 deg."""
    return (np.asarray(degrees) + 180.0) % 360.0 - 180.0


def sample(model: Model, joint: Joint, heads: list[str], ccw: float) -> np.ndarray:
    """Flexion [deg], direction [deg], part of the pull in the plane and arm [m] of a muscle in all postures."""
    rows = []
    steps = np.arange(joint.range_deg[0], joint.range_deg[1] + 1e-9, 5.0)
    for posture in itertools.product(steps, *joint.others.values()):
        model.pose(dict(zip([joint.coordinate, *joint.others], map(float, posture), strict=True)))
        proximal, distal = (angle(model.axis(which)) for which in joint.axes)
        flexion = float(turned(ccw * (distal - proximal) - joint.zero_deg))
        centre = model.origin(joint.axes[1][0] if joint.zero_deg == 0.0 else joint.axes[0][1])
        pull, moment, strength = np.zeros(2), 0.0, 0.0
        for head in heads:
            piece = model.piece(head, joint.distal)
            if piece is None:
                return np.zeros((0, 4))
            start, end = piece
            unit = (start - end)[:2] / np.linalg.norm(start - end)
            lever = end[:2] - centre
            force = model.strength(head)
            pull, strength = pull + force * unit, strength + force
            moment += force * ccw * (lever[0] * unit[1] - lever[1] * unit[0])
        direction = float(turned(-ccw * (angle(-pull) - distal)))
        rows.append([flexion, direction, float(np.linalg.norm(pull)) / strength, moment / strength])
    return np.array(rows)


def fitted(rows: np.ndarray) -> tuple[list[float], float]:
    """Coefficients of the direction [deg] in rising powers of the flexion [rad], and the largest departure [deg]."""
    x, y = np.radians(rows[:, 0]), middle(rows[:, 1])
    best = None
    for degree in range(HIGHEST_DEGREE + 1):
        found = np.polynomial.Polynomial.fit(x, y, degree).convert(domain=[-1, 1]).coef
        rms = float(np.sqrt(np.mean((np.polynomial.polynomial.polyval(x, found) - y) ** 2)))
        if best is None or rms < best[1] - ENOUGH_DEG:
            best = found, rms
    assert best is not None
    coefficients = [round(float(c), 2) for c in best[0]]
    return coefficients, float(np.abs(np.polynomial.polynomial.polyval(x, coefficients) - y).max())


def middle(degrees: np.ndarray) -> np.ndarray:
    """Angles within 180 deg of their mean direction."""
    mean = angle(np.array([np.cos(np.radians(degrees)).mean(), np.sin(np.radians(degrees)).mean()]))
    return np.asarray(mean + turned(degrees - mean))


def entry(rows: np.ndarray, other: np.ndarray, arm: Any, source: str) -> dict[str, Any]:
    """Entry of a line of action, with its errors."""
    coefficients, departure = fitted(rows)
    low, high = float(np.ceil(rows[:, 0].min())), float(np.floor(rows[:, 0].max()))
    made: dict[str, Any] = {
        "direction_deg": coefficients,
        "in_plane_part": round(float(rows[:, 2].mean()), 3),
        "range_deg": [low, high],
        "max_departure_deg": round(departure, 1),
    }
    if len(other):
        inside = other[(other[:, 0] >= low) & (other[:, 0] <= high)]
        off = turned(inside[:, 1] - np.polynomial.polynomial.polyval(np.radians(inside[:, 0]), coefficients))
        made["other_model_deg"] = round(float(np.sqrt(np.mean(off**2))), 1)
    if arm is not None:
        off_m = rows[:, 3] - arm(rows[:, 0])
        made["arm_difference_m"] = round(float(np.sqrt(np.nanmean(off_m**2))), 4)
    return {**made, "source": source}


def arm_of(name: str, muscle: str, joint: str) -> Any:
    """Moment arm of a built-in set as a function of the flexion [deg], NaN outside its range; None where it has no such muscle."""
    muscles = load_muscle_set(name)
    if muscle not in muscles.names:
        return None
    k, j = muscles.names.index(muscle), muscles.joints.index(joint)

    def arm(flexion_deg: np.ndarray) -> np.ndarray:
        flexion = np.zeros((len(flexion_deg), len(muscles.joints)))
        flexion[:, j] = np.radians(flexion_deg)
        found = musculotendon(muscles, flexion)
        return np.where(found.out_of_range[:, j], np.nan, found.moment_arm_m[:, j, k])

    return arm


def lines(
    name: str, models: list[Model], heads: dict[str, list[str]], joints: dict[str, Joint], source: str
) -> dict[str, dict[str, Any]]:
    """Entries of all muscles of a set, by muscle and joint."""
    found: dict[str, dict[str, Any]] = {}
    for muscle, own in heads.items():
        for joint, where in joints.items():
            rows = [sample(model, where, own, FLEXES_FORWARD[joint]) for model in models]
            if len(rows[0]):
                other = rows[1] if len(rows) > 1 else np.zeros((0, 4))
                line = entry(rows[0], other, arm_of(name, muscle, joint), source)
                print(name, muscle, joint, {k: v for k, v in line.items() if k != "source"}, flush=True)
                if line["max_departure_deg"] <= LARGEST_DEPARTURE_DEG:
                    found.setdefault(muscle, {})[joint] = line
    return found


def main(folder: Path) -> None:
    paths = ["running_opensim/Rajagopal2015_scaled.osim", "walk_emg_opensim/subject_walk_scaled.osim"]
    rajagopal = [Model(folder / path) for path in paths]
    source = (
        "Rajagopal et al. (2016) IEEE Trans Biomed Eng 63:2068-2079, CC-BY-4.0, a scaled model's path points, sampled with OpenSim "
        f"{opensim.GetVersion()}; the other model: with the paths of Uhlrich et al. (2022)"
    )
    table = read_yaml(TABLE)
    made = {"leg": lines("leg", rajagopal, LEG, LEG_JOINTS, source)}
    arm26 = f"OpenSim Arm26, path points, sampled with OpenSim {opensim.GetVersion()}; CC-BY-3.0"
    made["arm"] = lines("arm", [Model(folder / "arm26/arm26.osim")], ARM, ARM_JOINTS, arm26)
    for name, muscles in made.items():
        for muscle, entries in muscles.items():
            table[name].setdefault(muscle, {}).update(entries)
    TABLE.write_text(HEADER + yaml_text(table), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
