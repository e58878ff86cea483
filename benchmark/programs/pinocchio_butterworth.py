"""Pinocchio's recursive Newton-Euler algorithm on the given body, joint coordinates filtered at 6 Hz.

Every rotation of `body.json` is a revolute joint, so that a generalised force is the moment about that axis. Inverse kinematics is
Gauss-Newton on all markers, frame by frame.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from common import (
    LIMBS,
    MOTIONS,
    SIDES,
    FloatArray,
    given,
    low_pass,
    read_body,
    read_forces,
    read_trc,
    run,
    without_gaps,
    write_results,
)

CUTOFF_HZ, ITERATIONS, CLOSE = 6.0, 30, 1e-7


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Angles and moments of every trial with a given body."""
    import pinocchio as pin

    for trial, about in given(trials).iterrows():
        body = read_body(folder, about["subject"])
        model, joints, frames = model_of(pin, body)
        rate, markers = read_trc(folder / "recordings" / f"{trial}.trc")
        places = {label: without_gaps(values) for label, values in markers.items() if label in frames}
        q = kinematics(pin, model, {frames[label]: values for label, values in places.items()})
        q = low_pass(q, rate, CUTOFF_HZ)
        speed = np.gradient(q, 1.0 / rate, axis=0)
        acceleration = np.gradient(speed, 1.0 / rate, axis=0)
        loads = read_forces(folder / "recordings" / f"{trial}_forces.mot", rate, len(q))
        data, moments = model.createData(), np.empty_like(q)
        for k in range(len(q)):
            pin.forwardKinematics(model, data, q[k])
            external = [pin.Force.Zero() for _ in range(model.njoints)]
            for side, (force, point, twist) in loads.items():
                foot = joints[f"{side}_foot"][-1]
                wrench = pin.Force(force[k], np.cross(point[k], force[k]) + twist[k])
                external[foot] = data.oMi[foot].actInv(wrench)
            moments[k] = pin.rnea(model, data, q[k], speed[k], acceleration[k], external)
        columns: dict[str, FloatArray] = {}
        for side in SIDES:
            for joint, part in LIMBS[about["chain"]].items():
                for number, motion in zip(joints.get(f"{side}_{part}", ()), MOTIONS, strict=False):
                    place = model.joints[number].idx_q
                    columns[f"{side}_{joint}_{motion}_rad"] = q[:, place]
                    columns[f"{side}_{joint}_{motion}_nm"] = moments[:, place]
        write_results(out / f"{trial}.csv", rate, columns)


def model_of(pin, body: dict[str, dict[str, object]]) -> tuple[object, dict[str, list[int]], dict[str, int]]:
    """Model of a body, joints of each segment, and frame of each marker."""
    model, joints, frames = pin.Model(), {}, {}
    last = {"ground": 0}
    for name, segment in body.items():
        parent, place = last[segment["parent"]], pin.SE3(np.eye(3), np.array(segment["joint_centre_in_parent_m"]))
        kinds = [pin.JointModelRevoluteUnaligned(np.array(axis)) for axis in segment["joint_axes"]]
        if segment["parent"] == "ground":
            kinds = [pin.JointModelTranslation(), *kinds]
        joints[name] = []
        for number, kind in enumerate(kinds):
            parent = model.addJoint(parent, kind, place, f"{name}_{number}")
            place = pin.SE3.Identity()
            joints[name].append(parent)
        last[name] = parent
        inertia = pin.Inertia(
            segment["mass_kg"], np.array(segment["centre_of_mass_m"]), np.array(segment["inertia_kgm2"])
        )
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        for label, at in segment["markers_m"].items():
            frame = pin.Frame(label, parent, 0, pin.SE3(np.eye(3), np.array(at)), pin.FrameType.OP_FRAME)
            frames[label] = model.addFrame(frame)
    model.gravity = pin.Motion(np.array([0.0, -9.80665, 0.0]), np.zeros(3))
    return model, joints, frames


def kinematics(pin, model, places: dict[int, FloatArray]) -> FloatArray:
    """Coordinates that bring the markers nearest to the measured ones, shape (n_frames, n_coordinates)."""
    data, n_frames = model.createData(), len(next(iter(places.values())))
    q = np.zeros((n_frames, model.nq))
    now = np.zeros(model.nq)
    now[:3] = np.mean([values[0] for values in places.values()], axis=0)
    now[3] = _heading(pin, model, places)
    for k in range(n_frames):
        for _ in range(ITERATIONS):
            pin.computeJointJacobians(model, data, now)
            pin.updateFramePlacements(model, data)
            error = np.concatenate([values[k] - data.oMf[frame].translation for frame, values in places.items()])
            slopes = [pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3] for frame in places]
            step = np.linalg.lstsq(np.vstack(slopes), error, rcond=1e-6)[0]
            now = now + step
            if np.abs(step).max() < CLOSE:
                break
        q[k] = now
    return q


def _heading(pin, model, places: dict[int, FloatArray]) -> float:
    """Turn of the first segment about the vertical that fits the first frame best."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.zeros(model.nq))
    own = np.array([data.oMf[frame].translation for frame in places])
    seen = np.array([values[0] for values in places.values()])
    own, seen = own - own.mean(axis=0), seen - seen.mean(axis=0)
    return float(
        np.arctan2((seen[:, 0] * own[:, 2] - seen[:, 2] * own[:, 0]).sum(), (seen[:, [0, 2]] * own[:, [0, 2]]).sum())
    )


if __name__ == "__main__":
    run(__doc__, analyse, "pin")
