"""Fit directions of muscles across joints, sampled from OpenSim models.

Usage: python tools/fit_lines_of_action.py FOLDER
       python tools/fit_lines_of_action.py MYOARM.xml

FOLDER holds ``arm26/arm26.osim``, ``running_opensim/Rajagopal2015_scaled.osim`` and
``walk_emg_opensim/subject_walk_scaled.osim``; the package `opensim` samples them. MYOARM.xml is the MyoSuite MyoArm in one file, without its meshes, sampled with `mujoco`:
shoulder and forearm muscles. The straight piece of each path that crosses
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

from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.study.files import read_yaml, yaml_text

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
        import opensim

        self.vec3 = opensim.Vec3
        self.translational = opensim.Coordinate.Translational
        self.model = opensim.Model(str(path))
        self.state = self.model.initSystem()
        for k in range(self.model.getCoordinateSet().getSize()):
            self.model.updCoordinateSet().get(k).setLocked(self.state, False)

    def pose(self, degrees: dict[str, float]) -> None:
        """Set coordinates, the others at 0."""
        coordinates = self.model.updCoordinateSet()
        for k in range(coordinates.getSize()):
            coordinate = coordinates.get(k)
            if coordinate.getMotionType() != self.translational:
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
        return plane(self.frame(body).expressVectorInGround(self.state, self.vec3(*other)))

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
    low, high = float(np.ceil(rows[:, 0].min() - 1e-6)) + 0.0, float(np.floor(rows[:, 0].max() + 1e-6))
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
    """Moment arm of a built-in set as a function of the flexion [deg], NaN outside its range; None where it has none."""
    muscles = load_muscle_set(name)
    if (
        muscle not in muscles.names
        or muscles.muscles[muscles.names.index(muscle)].moment_arms[joint].form == "not_sampled"
    ):
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


FOREARM = ("FCR", "FCU", "ECRL", "ECRB", "ECU", "BRD")
SHOULDER = ("DELT1", "DELT2", "DELT3", "PECM1", "TMAJ", "CORB", "BIClong", "LAT")
LAT = ("LAT1", "LAT2", "LAT3")
MYOARM_JOINTS = {  # coordinate, lowest, highest, first distal body, its distal end, muscles
    "shoulder": ("shoulder_elv", 0, 120, "humerus", "ulna", SHOULDER),
    "elbow": ("elbow_flexion", 0, 130, "ulna", "lunate", FOREARM),
}


class MyoArm:
    """The MyoArm with its tendons' paths, the arm elevated in the sagittal plane."""

    def __init__(self, path: Path) -> None:
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)

    def pose(self, coordinate: str, angle_deg: float) -> None:
        """Set one coordinate; the girdle follows, as in the model."""
        model, data = self.model, self.data
        data.qpos[:] = 0.0
        for name, degrees in (("elv_angle", 90.0), (coordinate, angle_deg)):
            data.qpos[model.joint(name).qposadr[0]] = np.radians(degrees)
        for e in np.flatnonzero(model.eq_type == self.mujoco.mjtEq.mjEQ_JOINT):
            follows, leads = model.jnt_qposadr[model.eq_obj1id[e]], model.jnt_qposadr[model.eq_obj2id[e]]
            data.qpos[follows] = np.polyval(model.eq_data[e][:5][::-1], data.qpos[leads])
        self.mujoco.mj_fwdPosition(model, data)

    def origin(self, body: str) -> np.ndarray:
        """Origin of a body, m."""
        return np.array(self.data.body(body).xpos)

    def distal(self, body: str) -> set[int]:
        """Numbers of a body and of all that hang on it."""
        found = {self.model.body(body).id}
        for k in range(self.model.nbody):
            if self.model.body_parentid[k] in found:
                found.add(k)
        return found

    def piece(self, muscle: str, distal: set[int]) -> tuple[np.ndarray, np.ndarray] | None:
        """Ends of the straight piece across a joint: proximal and distal, m; None where it does not cross."""
        model, data, kinds = self.model, self.data, self.mujoco.mjtWrap
        tendon = model.tendon(f"{muscle}_tendon").id
        first, count = data.ten_wrapadr[tendon], data.ten_wrapnum[tendon]
        at = np.array(data.wrap_xpos).reshape(-1, 3)[first : first + count]
        touched = np.array(data.wrap_obj).reshape(-1)[first : first + count]
        bodies: list[int] = []
        for k in range(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon]):
            which = model.wrap_objid[k]
            if model.wrap_type[k] == kinds.mjWRAP_SITE:
                bodies.append(int(model.site_bodyid[which]))
            elif len(bodies) < count and touched[len(bodies)] == which:
                bodies += 2 * [int(model.geom_bodyid[which])]
        if len(bodies) != count:
            raise ValueError(f"{muscle}: {count} points of the path, {len(bodies)} bodies")
        for k in range(count - 1, 0, -1):
            if (bodies[k] in distal) != (bodies[k - 1] in distal):
                return (at[k - 1], at[k]) if bodies[k] in distal else (at[k], at[k - 1])
        return None


def sample_myoarm(arm: MyoArm, joint: str, heads: tuple[str, ...]) -> np.ndarray:
    """Rows as of `sample`; the plane is that in which the distal segment turns."""
    coordinate, low, high, body, end, _ = MYOARM_JOINTS[joint]
    arm.pose(coordinate, 0.0)
    straight = unit(arm.origin(end) - arm.origin(body))
    arm.pose(coordinate, 90.0)
    side = arm.origin(end) - arm.origin(body)
    side = unit(side - (side @ straight) * straight)  # to the flexor side of the straight segment
    distal, rows = arm.distal(body), []
    for angle_deg in np.arange(low, high + 1.0, 5.0):
        arm.pose(coordinate, angle_deg)
        centre = arm.origin(body)
        axis = arm.origin(end) - centre
        flexion = np.degrees(np.arctan2(axis @ side, axis @ straight))
        along = np.cos(np.radians(flexion)) * straight + np.sin(np.radians(flexion)) * side
        across = np.cos(np.radians(flexion)) * side - np.sin(np.radians(flexion)) * straight
        pull, moment = np.zeros(2), 0.0
        for head in heads:
            ends = arm.piece(head, distal)
            if ends is None:
                return np.zeros((0, 4))
            line, lever = unit(ends[0] - ends[1]), ends[1] - centre
            pull += np.array([line @ along, line @ across]) / len(heads)
            moment += ((lever @ along) * (line @ across) - (lever @ across) * (line @ along)) / len(heads)
        rows.append([flexion, np.degrees(np.arctan2(pull[1], -pull[0])), float(np.hypot(*pull)), moment])
    return np.array(rows)


def unit(vector: np.ndarray) -> np.ndarray:
    """Vector of length 1."""
    return np.asarray(vector / np.linalg.norm(vector))


def lines_of_myoarm(path: Path) -> dict[str, dict[str, Any]]:
    """Entries of the muscles of shoulder and forearm."""
    arm, found = MyoArm(path), {}
    source = "MyoSuite MyoArm, ends of the straight piece across the joint, sampled with MuJoCo; Apache-2.0"
    for joint, (*_, names) in MYOARM_JOINTS.items():
        for name in names:
            rows = sample_myoarm(arm, joint, LAT if name == "LAT" else (name,))
            if len(rows):
                line = entry(rows, np.zeros((0, 4)), arm_of("arm", name, joint), source)
                print(name, joint, {k: v for k, v in line.items() if k != "source"}, flush=True)
                if line["max_departure_deg"] <= LARGEST_DEPARTURE_DEG:
                    found.setdefault(name, {})[joint] = line
    return found


def main(folder: Path) -> None:
    if folder.suffix == ".xml":
        keep({"arm": lines_of_myoarm(folder)})
        return
    import opensim

    paths = ["running_opensim/Rajagopal2015_scaled.osim", "walk_emg_opensim/subject_walk_scaled.osim"]
    rajagopal = [Model(folder / path) for path in paths]
    source = (
        "Rajagopal et al. (2016) IEEE Trans Biomed Eng 63:2068-2079, CC-BY-4.0, a scaled model's path points, sampled with OpenSim "
        f"{opensim.GetVersion()}; the other model: with the paths of Uhlrich et al. (2022)"
    )
    made = {"leg": lines("leg", rajagopal, LEG, LEG_JOINTS, source)}
    arm26 = f"OpenSim Arm26, path points, sampled with OpenSim {opensim.GetVersion()}; CC-BY-3.0"
    made["arm"] = lines("arm", [Model(folder / "arm26/arm26.osim")], ARM, ARM_JOINTS, arm26)
    keep(made)


def keep(made: dict[str, dict[str, Any]]) -> None:
    """Write entries in place of those of the same muscle and joint."""
    table = read_yaml(TABLE)
    for name, muscles in made.items():
        for muscle, entries in muscles.items():
            table[name].setdefault(muscle, {}).update(entries)
    TABLE.write_text(HEADER + yaml_text(table), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
