"""Compare muscle forces with those of OpenSim's own static optimization.

Usage: python benchmarks/opensim_forces.py RECORDINGS [--write]

RECORDINGS is the folder of the recordings that the tests use, with ``walk_emg_opensim`` and ``running_opensim``. Needs the
package ``opensim``. Three comparisons for the 40 muscles of the right leg, each by r and rms of every muscle's force:

* walk, same problem: OpenSim's static optimization is run with reserve actuators of 1 N m, which are dear, so that muscles
  make the torques; ours is given OpenSim's moment arms about all five coordinates of the leg, strengths, torques and price.
* walk, plane: ours with the set imported from that model and the torques of flexion alone, as a study has them.
* run: the file of results that came with the recording, whose reserve actuators make nearly all of the torque.

``--write`` puts the medians into ``docs/muscle_validation.md``.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from opensim_sets import PAGE, read_table

from limbtorque.arrays import FloatArray
from limbtorque.muscles.hill import hill_limits
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.opensim_models.import_set import ImportedSet, ImportOptions, import_muscle_set
from limbtorque.muscles.opensim_models.joints import JointChoice, chain_joints
from limbtorque.muscles.opensim_models.model import read_model
from limbtorque.muscles.static_optimization.criteria import OK, RESERVE
from limbtorque.muscles.static_optimization.solve import StaticOptimization, share_torques

BEGIN, END = "<!-- begin: printed by benchmarks/opensim_forces.py -->\n", "<!-- end: benchmarks/opensim_forces.py -->\n"
WALK_HZ = 100.0
LEAST_ACTIVATION = 0.01  # OpenSim's smallest control
RESERVE_NM = 1.0  # torque of a reserve actuator that costs as much as a fully active muscle
RESIDUAL = 100.0  # of the pelvis, which no muscle of a leg can replace
LEG = ("hip_flexion_r", "hip_adduction_r", "hip_rotation_r", "knee_angle_r", "ankle_angle_r")
FLEXION = {"hip": "hip_flexion_r", "knee": "knee_angle_r", "ankle": "ankle_angle_r"}
FEET = {"r": "calcn_r", "l": "calcn_l"}
ACTUATED = ("lumbar", "arm_", "elbow_flex", "pro_sup")  # coordinates whose actuators the model has


@dataclass(frozen=True, eq=False)
class Solution:
    """Forces of OpenSim's static optimization, and what it was given.

    Attributes
    ----------
    times_s : ndarray of shape (n_frames,)
        Times.
    force_n, strength_n : ndarray of shape (n_frames, n_muscles)
        Forces, and forces at full activation.
    arm_m : ndarray of shape (n_frames, 5, n_muscles)
        Moment arms about the coordinates `LEG`.
    reserve_nm : ndarray of shape (n_frames, 5)
        Torque of the reserve actuators.
    flexion_rad : ndarray of shape (n_frames, 5)
        The coordinates.
    """

    times_s: FloatArray
    force_n: FloatArray
    strength_n: FloatArray
    arm_m: FloatArray
    reserve_nm: FloatArray
    flexion_rad: FloatArray

    @property
    def muscle_torque_nm(self) -> FloatArray:
        """Torque of all muscles, shape (n_frames, 5)."""
        return np.asarray(np.einsum("fjm,fm->fj", self.arm_m, self.force_n))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = list(table(options.recordings))
    print("\n".join(lines))
    if options.write:
        text = "\n".join(line for line in lines if not re.match(r"\| \w+_r ", line))
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{text}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


def table(folder: Path) -> Iterator[str]:
    today = datetime.datetime.now(tz=datetime.UTC).date()
    walk_model = folder / "walk_emg_opensim" / "subject_walk_scaled.osim"
    walk, run = imported(walk_model), imported(folder / "running_opensim" / "Rajagopal2015_scaled.osim")
    names = tuple(one.name for one in walk.muscles)
    theirs = walked(folder / "walk_emg_opensim", walk_model, names)
    same, plane = same_problem(theirs), in_plane(theirs, walk, walk_model)
    ran, ours, part = of_the_run(folder / "running_opensim", run)
    whole = theirs.muscle_torque_nm + theirs.reserve_nm
    left = 100.0 * rms(theirs.reserve_nm) / rms(whole)
    cost = ((theirs.force_n / theirs.strength_n) ** 2).sum(axis=1) + ((theirs.reserve_nm / RESERVE_NM) ** 2).sum(axis=1)
    off = np.abs(same.force_n - theirs.force_n).max(axis=0)
    yield (
        f"Measured on {today.day} {today:%B %Y}. Walk: {len(theirs.times_s)} frames; OpenSim's reserves make "
        f"{', '.join(f'{p:.1f} %' for p in left)} of the torque (rms) about {', '.join(LEG)}. Largest difference of ours in the same "
        f"problem: {off.max():.1f} N ({names[int(off.argmax())]}); the cost of OpenSim's solution is higher in {(cost > same.cost).sum()} of "
        f"{len(cost)} frames, by {np.median(cost / same.cost - 1.0):.2%} in the median. Run: {len(ran)} frames; in OpenSim's file the muscles make "
        f"{', '.join(f'{p:.0%} at the {joint}' for p, joint in zip(part, FLEXION, strict=True))}, and reserves the rest; ours had to "
        "produce the muscles' part. Forces in N."
    )
    yield ""
    yield "| muscle | walk, OpenSim: largest | same problem: r | rms | plane: largest | r | rms | run, OpenSim: largest | plane: largest | r | rms |"
    yield "| --- |" + " --- |" * 10
    rs = []
    for m, name in enumerate(names):
        k = [one.name for one in run.muscles].index(name)
        a, b = theirs.force_n[:, m], ran[:, k]
        found = [compared(a, same.force_n[:, m]), compared(a, plane.force_n[:, m]), compared(b, ours.force_n[:, k])]
        rs.append([pair[0] for pair in found])
        cells = [f"{r:.2f} | {off:.0f}" for r, off in found]
        yield (
            f"| {name} | {a.max():.0f} | {cells[0]} | {np.nanmax(plane.force_n[:, m]):.0f} | {cells[1]} | "
            f"{b.max():.0f} | {np.nanmax(ours.force_n[:, k]):.0f} | {cells[2]} |"
        )
    middle = np.nanmedian(rs, axis=0)
    yield f"| median | | {middle[0]:.3f} | | | {middle[1]:.2f} | | | | {middle[2]:.2f} | |"


def imported(model: Path) -> ImportedSet:
    return import_muscle_set(model, ImportOptions("right", "leg", JointChoice({}, {}), {}))


def rms(values: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def compared(theirs: FloatArray, ours: FloatArray) -> tuple[float, float]:
    """Correlation and root mean square difference over the frames that ours has."""
    known = np.isfinite(ours)
    a, b = theirs[known], ours[known]
    r = float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else np.nan
    return r, float(rms(a - b))


def same_problem(theirs: Solution) -> StaticOptimization:
    """Ours with OpenSim's moment arms, strengths, torques and price of reserves."""
    return share_torques(
        theirs.arm_m,
        theirs.muscle_torque_nm + theirs.reserve_nm,
        max_force_n=theirs.strength_n,
        min_activation=LEAST_ACTIVATION,
        reserve=RESERVE_NM,
    )


def in_plane(theirs: Solution, given: ImportedSet, model: Path) -> StaticOptimization:
    """Ours with the imported set, and the torques of flexion alone."""
    joints = chain_joints(read_model(model), "leg", side="right", choice=JointChoice({}, {}))
    columns = [LEG.index(joint.coordinate) for joint in joints]
    sign = np.array([joint.sign for joint in joints])
    flexion = sign * theirs.flexion_rad[:, columns]
    torque = sign * (theirs.muscle_torque_nm + theirs.reserve_nm)[:, columns]
    return solved(given, theirs.times_s, flexion, torque)


def solved(given: ImportedSet, times_s: FloatArray, flexion: FloatArray, torque_nm: FloatArray) -> StaticOptimization:
    """Static optimization by a set with the force-length-velocity relation on a rigid tendon; NaN out of reach."""
    muscles = given.muscle_set
    velocity = np.gradient(flexion, times_s, axis=0)
    geometry = musculotendon(muscles, flexion, velocity_rad_s=velocity)
    lengths = geometry.length_m, geometry.velocity_m_s
    limits = hill_limits(*lengths, max_force_n=muscles.max_force_n, **muscles.fibres(), max_velocity_lopt_s=10.0)
    floor = np.full(len(muscles.names), LEAST_ACTIVATION)
    found = share_torques(geometry.moment_arm_m, torque_nm, max_force_n=limits.strength_n, min_activation=floor)
    found.force_n[~np.isin(found.status, (OK, RESERVE))] = np.nan
    return found


def of_the_run(folder: Path, given: ImportedSet) -> tuple[FloatArray, StaticOptimization, FloatArray]:
    """Forces of the file, ours at the torques that these make, and their part of the net torque."""
    torques, angles = read_table(folder / "inverse_dynamics.sto"), read_table(folder / "ik_output_run.mot")
    file = read_table(folder / "static_optimization_force.sto")
    times = file["time"].to_numpy()
    net = np.column_stack([np.interp(times, torques["time"], torques[f"{name}_moment"]) for name in FLEXION.values()])
    degrees = np.column_stack([np.interp(times, angles["time"], angles[name]) for name in FLEXION.values()])
    flexion = np.radians(degrees)
    force = np.column_stack([file[one.name] for one in given.muscles])
    arm = musculotendon(given.muscle_set, flexion).moment_arm_m
    made = np.einsum("fjm,fm->fj", arm, force)
    return force, solved(given, times, flexion, made), rms(made) / rms(net)


def walked(folder: Path, model_file: Path, names: Sequence[str]) -> Solution:
    """Run OpenSim's static optimization on the recorded walk, with small reserves."""
    import opensim

    opensim.Logger.setLevelString("Error")
    coordinates = read_table(folder / "coordinates.sto")
    some = coordinates.iloc[:: round(1.0 / (WALK_HZ * float(np.diff(coordinates["time"][:2])[0])))]
    some = some.drop(columns=[name for name in some if name.endswith("_beta")])
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        write_motion(work / "coordinates.mot", some)
        model = with_reserves(opensim, model_file)
        model.printToXML(str(work / "model.osim"))
        ground_forces(opensim, folder / "grf_walk.mot").printToXML(str(work / "loads.xml"))
        optimize(opensim, work, float(some["time"].iloc[0]), float(some["time"].iloc[-1]))
        force, activation = (
            read_table(work / f"walk_StaticOptimization_{kind}.sto") for kind in ("force", "activation")
        )
    times = force["time"].to_numpy()
    values = pd.DataFrame({c: np.interp(times, some["time"], some[c]) for c in some})
    forces = force[list(names)].to_numpy()
    return Solution(
        times,
        forces,
        forces / activation[list(names)].to_numpy(),
        leg_arms(opensim, model_file, values, names),
        force[[f"{name}_reserve" for name in LEG]].to_numpy(),
        values[list(LEG)].to_numpy(),
    )


def write_motion(path: Path, values: pd.DataFrame) -> None:
    """Write coordinates in radians as an OpenSim motion file."""
    heading = f"coordinates\nversion=1\nnRows={len(values)}\nnColumns={values.shape[1]}\ninDegrees=no\nendheader\n"
    path.write_text(heading + values.to_csv(sep="\t", index=False, float_format="%.10f"), encoding="utf-8")


def with_reserves(opensim: Any, path: Path) -> Any:
    """Model with a reserve actuator on every coordinate that has none, and residuals at the pelvis."""
    model = opensim.Model(str(path))
    model.initSystem()
    for i in range(model.getCoordinateSet().getSize()):
        name = model.getCoordinateSet().get(i).getName()
        if name.endswith("_beta") or name.startswith(ACTUATED):
            continue
        actuator = opensim.CoordinateActuator(name)
        actuator.setName(f"{name}_reserve")
        actuator.setOptimalForce(RESIDUAL if name.startswith("pelvis") else RESERVE_NM)
        actuator.setMinControl(-np.inf)
        actuator.setMaxControl(np.inf)
        model.addForce(actuator)
    model.finalizeConnections()
    return model


def ground_forces(opensim: Any, path: Path) -> Any:
    """Forces of the plates on both feet."""
    loads = opensim.ExternalLoads()
    loads.setDataFileName(str(path))
    for side, body in FEET.items():
        force = opensim.ExternalForce()
        force.setName(f"ground_{side}")
        force.set_applied_to_body(body)
        force.set_force_expressed_in_body("ground")
        force.set_point_expressed_in_body("ground")
        force.set_force_identifier(f"ground_force_{side}_v")
        force.set_point_identifier(f"ground_force_{side}_p")
        force.set_torque_identifier(f"ground_torque_{side}_")
        loads.cloneAndAppend(force)
    return loads


def optimize(opensim: Any, work: Path, start_s: float, stop_s: float) -> None:
    """Run the analysis; its two tables are written into `work`."""
    analysis = opensim.StaticOptimization()
    analysis.setName("StaticOptimization")
    analysis.setStartTime(start_s)
    analysis.setEndTime(stop_s)
    analysis.setUseModelForceSet(True)
    analysis.setUseMusclePhysiology(True)
    analysis.setActivationExponent(2.0)
    tool = opensim.AnalyzeTool()
    tool.setName("walk")
    tool.setModelFilename(str(work / "model.osim"))
    tool.setCoordinatesFileName(str(work / "coordinates.mot"))
    tool.setExternalLoadsFileName(str(work / "loads.xml"))
    tool.setInitialTime(start_s)
    tool.setFinalTime(stop_s)
    tool.setLowpassCutoffFrequency(-1.0)
    tool.setSolveForEquilibrium(False)
    tool.setResultsDir(str(work))
    tool.getAnalysisSet().cloneAndAppend(analysis)
    tool.printToXML(str(work / "setup.xml"))
    opensim.AnalyzeTool(str(work / "setup.xml")).run()


def leg_arms(opensim: Any, path: Path, values: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    """Moment arms about the coordinates `LEG` at every frame, with all coordinates as recorded."""
    model = opensim.Model(str(path))
    state = model.initSystem()
    coordinates, muscles = model.getCoordinateSet(), model.getMuscles()
    arms = np.empty((len(values), len(LEG), len(names)))
    for f, row in enumerate(values.drop(columns="time").to_dict("records")):
        for name, value in row.items():
            if not coordinates.get(name).getLocked(state):
                coordinates.get(name).setValue(state, value, False)
        model.assemble(state)
        for m, name in enumerate(names):
            arms[f, :, m] = [muscles.get(name).computeMomentArm(state, coordinates.get(c)) for c in LEG]
    return arms


if __name__ == "__main__":
    sys.exit(main())
