"""Pinocchio's recursive Newton-Euler algorithm on the given body, joint coordinates filtered at 6 Hz.

Every rotation of `body.json` is a revolute joint, so that a generalised force is the moment about that axis. Inverse kinematics is
Gauss-Newton on all markers, frame by frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pinocchio as pin
from programs.common import FloatArray, given, low_pass, without_gaps, write_joints

CUTOFF_HZ, ITERATIONS, CLOSE = 6.0, 30, 1e-7


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Angles and moments of every trial with a given body."""
    for trial, body in given(folder, trials):
        model, frames = model_of(body)
        places = np.stack([without_gaps(values) for values in trial.markers.values()], axis=1)
        q = low_pass(kinematics(model, [frames[label] for label in trial.markers], places), trial.rate_hz, CUTOFF_HZ)
        speed = np.gradient(q, 1.0 / trial.rate_hz, axis=0)
        acceleration = np.gradient(speed, 1.0 / trial.rate_hz, axis=0)
        data, moments = model.createData(), np.empty_like(q)
        for k in range(len(q)):
            pin.forwardKinematics(model, data, q[k])
            external = [pin.Force.Zero() for _ in range(model.njoints)]
            for side, (force, point, twist) in trial.loads.items():
                foot = model.getJointId(f"{side}_foot_2")
                external[foot] = data.oMi[foot].actInv(pin.Force(force[k], np.cross(point[k], force[k]) + twist[k]))
            moments[k] = pin.rnea(model, data, q[k], speed[k], acceleration[k], external)
        write_joints(out, trial, body, q, moments)


def model_of(body: Mapping[str, Any]) -> tuple[pin.Model, dict[str, int]]:
    """Model of a body, and frame of each marker."""
    model, frames = pin.Model(), {}
    model.gravity = pin.Motion(np.array([0.0, -9.80665, 0.0]), np.zeros(3))
    for name, segment in body.items():
        joint, place = 0, pin.SE3(np.eye(3), np.array(segment["centre_m"]))
        if segment["parent"]:
            joint = model.getJointId(f"{segment['parent']}_2")
        else:
            joint = model.addJoint(joint, pin.JointModelTranslation(), place, "place")
        for number, axis in enumerate(segment["axes"]):
            kind = pin.JointModelRevoluteUnaligned(np.array(axis))
            joint = model.addJoint(joint, kind, place, f"{name}_{number}")
            place = pin.SE3.Identity()
        parts = (np.array(segment[key]) for key in ("com_m", "inertia_kgm2"))
        model.appendBodyToJoint(joint, pin.Inertia(segment["mass_kg"], *parts), pin.SE3.Identity())
        for label, at in segment["markers_m"].items():
            frame = pin.Frame(label, joint, 0, pin.SE3(np.eye(3), np.array(at)), pin.FrameType.OP_FRAME)
            frames[label] = model.addFrame(frame)
    return model, frames


def kinematics(model: pin.Model, frames: list[int], places: FloatArray) -> FloatArray:
    """Coordinates that bring the markers nearest to the measured ones, shape (n_frames, n_coordinates)."""
    data, rows = model.createData(), []

    def apart(q: FloatArray, seen: FloatArray) -> FloatArray:
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        return np.concatenate([at - data.oMf[frame].translation for frame, at in zip(frames, seen, strict=True)])

    starts = np.zeros((72, model.nq))  # by the direction in which the person looks
    starts[:, :3], starts[:, 3] = places[0].mean(axis=0), 2.0 * np.pi * np.arange(72) / 72.0
    q = min(starts, key=lambda start: np.std(apart(start, places[0]).reshape(-1, 3), axis=0).sum())
    for seen in places:
        for _ in range(ITERATIONS):
            error = apart(q, seen)
            slopes = [pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3] for frame in frames]
            step = np.linalg.lstsq(np.vstack(slopes), error, rcond=1e-6)[0]
            q = q + step
            if np.abs(step).max() < CLOSE:
                break
        rows.append(q)
    return np.array(rows)
