"""OpenSim's inverse dynamics from the storage files we write gives our net torques.

OpenSim differentiates the angles with a quintic spline, we with central differences. That is what the tolerances are for.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from opensim_storage import read_storage

import limbtorque as lt
from limbtorque.recordings.writers import forces_table, write_sto
from limbtorque.tables.files import column_values

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def opensim():
    module = pytest.importorskip("opensim", reason="opensim is not installed (make peers)", exc_type=ImportError)
    module.Logger.setLevelString("Error")
    return module


def write_model(opensim, motion, path):
    """The chain in OpenSim: coordinates are named like the columns of `results/kinematics`, the base moves freely."""
    model = opensim.Model()
    model.setGravity(opensim.Vec3(*motion.gravity_m_s2, 0.0))
    parent, along_m = model.getGround(), 0.0
    for k, joint in enumerate(motion.joints):
        length, mass, com, inertia = (
            float(getattr(motion.chain, name)[k]) for name in ("length_m", "mass_kg", "com_m", "inertia_kgm2")
        )
        moments = opensim.Inertia(inertia, inertia, inertia, 0.0, 0.0, 0.0)
        body = opensim.Body(f"segment_{k + 1}", mass, opensim.Vec3(com, 0.0, 0.0), moments)
        model.addBody(body)
        kind, zero = (opensim.PinJoint if k else opensim.PlanarJoint), opensim.Vec3(0.0)
        made = kind(joint, parent, opensim.Vec3(along_m, 0.0, 0.0), zero, body, zero, zero)
        base = () if k else (f"{joint}_position_x_m", f"{joint}_position_y_m")
        for number, name in enumerate((f"{joint}_angle_rad", *base)):
            made.upd_coordinates(number).setName(name)
        model.addJoint(made)
        parent, along_m = body, length
    model.finalizeConnections()
    model.printToXML(str(path))


def inverse_dynamics(opensim, result, folder, forces=None):
    """Generalised forces by OpenSim, from the trial's storage file and one of forces on the last segment."""
    table = result.kinematics_table
    known = table.to_pandas().dropna(axis=1)  # OpenSim's tools take a missing number for the end of the file
    write_sto(pa.Table.from_pandas(known, preserve_index=False), folder / "motion.sto")
    write_model(opensim, result.motion, folder / "chain.osim")
    tool = opensim.InverseDynamicsTool()
    if forces is not None:
        write_sto(forces, folder / "forces.sto")
        load, loads = opensim.ExternalForce(), opensim.ExternalLoads()
        load.set_applied_to_body(f"segment_{len(result.motion.joints)}")
        load.set_force_identifier("ground_force_1_v")
        load.set_point_identifier("ground_force_1_p")
        load.set_torque_identifier("ground_torque_1_")
        loads.cloneAndAppend(load)
        loads.setDataFileName(str(folder / "forces.sto"))
        loads.printToXML(str(folder / "loads.xml"))
        tool.setExternalLoadsFileName(str(folder / "loads.xml"))
    tool.setModelFileName(str(folder / "chain.osim"))
    tool.setCoordinatesFileName(str(folder / "motion.sto"))
    tool.setResultsDir(str(folder))
    tool.setOutputGenForceFileName("torques.sto")
    tool.setLowpassCutoffFrequency(-1.0)
    tool.setStartTime(0.0)
    tool.setEndTime(float(column_values(table, "time_s")[-1]))
    assert tool.run()
    return read_storage(folder / "torques.sto")


def largest_difference(theirs, result, frames):
    """Largest difference of a net torque from OpenSim's, over its range."""
    found = []
    for joint in result.motion.joints:
        ours = column_values(result.torque_table, f"{joint}_torque_nm")[frames]
        found.append(np.abs(theirs[f"{joint}_angle_rad_moment"][frames] - ours).max() / np.ptp(ours))
    return max(found)


def test_an_arm_whose_base_moves(opensim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = lt.load_study(ROOT).analyse("S01_sagittal_fast")
    theirs = inverse_dynamics(opensim, result, tmp_path)
    inside = column_values(result.kinematics_table, "edge") == 0
    assert len(theirs["time"]) == len(inside) == 251
    assert inside.sum() > 200
    assert largest_difference(theirs, result, inside) < 1e-3
    for axis in "xy":  # force on the base: the reaction at the shoulder, proximal on distal
        ours = column_values(result.torque_table, f"shoulder_reaction_{axis}_n")[inside]
        np.testing.assert_allclose(theirs[f"shoulder_position_{axis}_m_force"][inside], ours, atol=1e-3 * np.ptp(ours))


def test_a_leg_on_a_force_plate(opensim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = lt.load_study(ROOT)
    result = study.analyse("S01_walk_slow_1_right")
    recording = lt.read_recording(ROOT / "data" / "demo" / "S01_walk_slow_1.c3d")
    axes = result.motion.plane.axes

    def in_plane(values):
        return lt.low_pass(values @ axes.T, rate_hz=500.0, cutoff_hz=40.0)

    turned = [
        replace(plate, force_n=in_plane(plate.force_n), moment_nm=in_plane(plate.moment_nm))
        for plate in recording.force_plates
    ]
    theirs = inverse_dynamics(opensim, result, tmp_path, forces_table(replace(recording, force_plates=tuple(turned))))
    stance = slice(50, 105)  # after the impact, which the filters change
    assert np.ptp(column_values(result.torque_table, "ankle_torque_nm")[stance]) > 80.0
    assert largest_difference(theirs, result, stance) < 1e-2
