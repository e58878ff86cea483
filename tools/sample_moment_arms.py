"""Sample moment arms and lengths of published models in the sagittal plane, for `fit_moment_arms.py`.

Usage: python tools/sample_moment_arms.py rajagopal MODEL.osim TABLE.csv
       python tools/sample_moment_arms.py myoarm MODEL.xml TABLE.csv

MODEL.osim is a scaled Rajagopal model, whose meshes carry its scale factors: it is scaled back to its published size
first, which gives the published optimal fibre lengths again; strengths and fibres go to TABLE_parameters.csv. MODEL.xml is the MyoSuite MyoArm in one file, without its
meshes. Heads that are one muscle in the set are averaged, weighted by strength. One joint moves, the others are at 0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HAMSTRINGS = ("bflh_r", "semimem_r", "semiten_r")
LEG = {
    "hamstrings": HAMSTRINGS,
    "bifemsh": ("bfsh_r",),
    "glut_max": ("glmax1_r", "glmax2_r", "glmax3_r"),
    "iliopsoas": ("iliacus_r", "psoas_r"),
    "rect_fem": ("recfem_r",),
    "vasti": ("vasint_r", "vaslat_r", "vasmed_r"),
    "gastroc": ("gaslat_r", "gasmed_r"),
    "soleus": ("soleus_r",),
    "tib_ant": ("tibant_r",),
    "glut_med": ("glmed1_r", "glmed2_r", "glmed3_r"),
    "glut_min": ("glmin1_r", "glmin2_r", "glmin3_r"),
    "add_mag": ("addmagDist_r", "addmagIsch_r", "addmagMid_r", "addmagProx_r"),
    "add_long": ("addlong_r",),
    "add_brev": ("addbrev_r",),
    "sartorius": ("sart_r",),
    "gracilis": ("grac_r",),
    "tfl": ("tfl_r",),
}
LEG_JOINTS = {"hip": ("hip_flexion_r", -30, 120), "knee": ("knee_angle_r", 0, 120), "ankle": ("ankle_angle_r", -40, 30)}
ARM = {
    "DELT1": ("DELT1",),
    "DELT2": ("DELT2",),
    "DELT3": ("DELT3",),
    "LAT": ("LAT1", "LAT2", "LAT3"),
    "CORB": ("CORB",),
    "BRD": ("BRD",),
}
ARM_JOINTS = {"shoulder": ("shoulder_elv", 0, 120), "elbow": ("elbow_flexion", 0, 130)}
# Cross-sections, cm2, of Holzbaur et al. (2005): the weights of heads that MyoArm, with strengths of its own, is averaged by.
LAT_PCSA_CM2 = {"LAT1": 2.8, "LAT2": 2.8, "LAT3": 2.0}
STEP_DEG = 5
COLUMNS = ["muscle", "joint", "joint_flexion_deg", "moment_arm_m", "musculotendon_length_m", "source"]
PARAMETERS = [
    "muscle",
    "max_isometric_force_n",
    "optimal_fibre_length_m",
    "tendon_slack_length_m",
    "pennation_rad",
    "source",
]


def published_size(path: Path) -> tuple[Any, Any]:
    """Rajagopal model at its published size, and its state."""
    import opensim

    opensim.Logger.setLevelString("error")
    model = opensim.Model(str(path))
    state = model.initSystem()
    factors = opensim.ScaleSet()
    for i in range(model.getBodySet().getSize()):
        body = model.getBodySet().get(i)
        by = np.ones(3)
        if body.getPropertyByName("attached_geometry").size():
            by = opensim.Mesh.safeDownCast(body.get_attached_geometry(0)).get_scale_factors().to_numpy()
        scale = opensim.Scale()
        scale.setSegmentName(body.getName())
        scale.setScaleFactors(opensim.Vec3(*(1.0 / by)))
        scale.setApply(True)
        factors.cloneAndAppend(scale)
    model.scale(state, factors, True, 75.337)
    return model, model.initSystem()


def rajagopal(path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Arms and lengths of the leg, and its strengths and fibres; heads lumped."""
    model, state = published_size(path)
    coordinates = [model.getCoordinateSet().get(i) for i in range(model.getCoordinateSet().getSize())]
    muscles = {name: model.getMuscles().get(name) for heads in LEG.values() for name in heads}
    weights = {name: muscle.getMaxIsometricForce() for name, muscle in muscles.items()}

    def at(joint: str, flexion_deg: float) -> dict[str, tuple[float, float]]:
        for coordinate in coordinates:
            if not coordinate.isDependent(state):
                coordinate.setValue(state, 0.0, False)
        moved = model.getCoordinateSet().get(LEG_JOINTS[joint][0])
        moved.setValue(state, np.radians(flexion_deg), False)
        model.assemble(state)
        return {name: (m.computeMomentArm(state, moved), m.getLength(state)) for name, m in muscles.items()}

    return sampled(LEG, LEG_JOINTS, weights, at, "rajagopal2016"), parameters(muscles)


def parameters(muscles: dict[str, Any]) -> pd.DataFrame:
    """Summed strengths, and fibre lengths, slack lengths and pennations averaged by strength."""
    rows = []
    for name, heads in LEG.items():
        parts = [muscles[head] for head in heads]
        strength = np.array([m.getMaxIsometricForce() for m in parts])
        fibres = [
            (m.getOptimalFiberLength(), m.getTendonSlackLength(), m.getPennationAngleAtOptimalFiberLength())
            for m in parts
        ]
        rows.append(
            [name, strength.sum().round(2), *np.average(fibres, axis=0, weights=strength).round(6), "rajagopal2016"]
        )
    return pd.DataFrame(rows, columns=PARAMETERS)


def myoarm(path: Path) -> pd.DataFrame:
    """Arms, as -dL/dq over 2 degrees, and lengths of shoulder and elbow; the girdle follows the arm as in the model."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    place = {model.joint(i).name: model.jnt_qposadr[i] for i in range(model.njnt)}
    tendons = {head: model.tendon(f"{head}_tendon").id for heads in ARM.values() for head in heads}

    def lengths(coordinate: str, angle_deg: float) -> np.ndarray:
        data.qpos[:] = 0.0
        data.qpos[place["elv_angle"]] = np.radians(90.0)
        data.qpos[place[coordinate]] = np.radians(angle_deg)
        for e in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT):
            follows, leads = model.jnt_qposadr[model.eq_obj1id[e]], model.jnt_qposadr[model.eq_obj2id[e]]
            data.qpos[follows] = np.polyval(model.eq_data[e][:5][::-1], data.qpos[leads])
        mujoco.mj_fwdPosition(model, data)
        return data.ten_length.copy()

    def at(joint: str, flexion_deg: float) -> dict[str, tuple[float, float]]:
        coordinate, low, high = ARM_JOINTS[joint]
        before, after = max(flexion_deg - 1.0, low), min(flexion_deg + 1.0, high)
        slope = (lengths(coordinate, after) - lengths(coordinate, before)) / np.radians(after - before)
        length = lengths(coordinate, flexion_deg)
        return {head: (-slope[i], length[i]) for head, i in tendons.items()}

    weights = {head: LAT_PCSA_CM2.get(head, 1.0) for head in tendons}
    return sampled(ARM, ARM_JOINTS, weights, at, "myoarm")


def sampled(
    muscles: dict[str, tuple[str, ...]],
    joints: dict[str, tuple[str, int, int]],
    weights: dict[str, float],
    at: Callable[[str, float], dict[str, tuple[float, float]]],
    source: str,
) -> pd.DataFrame:
    """Table of all muscles at all joints; joints that a muscle does not cross are left out."""
    rows = []
    for joint, (_, low, high) in joints.items():
        for flexion in range(low, high + 1, STEP_DEG):
            heads = at(joint, float(flexion))
            for name, parts in muscles.items():
                both = np.average([heads[part] for part in parts], axis=0, weights=[weights[part] for part in parts])
                rows.append([name, joint, flexion, *both.round(6), source])
    table = pd.DataFrame(rows, columns=COLUMNS)
    crosses = table.groupby(["muscle", "joint"]).moment_arm_m.transform(lambda arm: arm.abs().max() > 1e-3)
    return table[crosses]


def main(model: str, path: Path, table: Path) -> None:
    if model == "myoarm":
        myoarm(path).to_csv(table, index=False)
        return
    arms, strengths = rajagopal(path)
    arms.to_csv(table, index=False)
    strengths.to_csv(table.with_name(f"{table.stem}_parameters.csv"), index=False)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("rajagopal", "myoarm"):
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
