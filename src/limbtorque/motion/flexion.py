"""Sense and zero of joint flexion, and metrics of joints bent the wrong way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.plane import PlaneFrame
from limbtorque.study.chains import ChainModel


@dataclass(frozen=True)
class Flexion:
    """Sense and zero of flexion of each joint in the plane.

    Attributes
    ----------
    sign : ndarray of shape (n_joints,)
        +1 where counter-clockwise is flexion, -1 where it is extension.
    zero_rad : ndarray of shape (n_joints,)
        Joint angle at zero flexion, rad.
    moment_arms_known : ndarray of bool, shape (n_joints,)
        True where sampled moment arms hold in this plane.
    """

    sign: FloatArray
    zero_rad: FloatArray
    moment_arms_known: BoolArray

    def of(self, angle_rad: FloatArray) -> FloatArray:
        """Return the flexion of joint angles of shape (n_frames, n_joints), rad."""
        return np.asarray(self.sign * (angle_rad - self.zero_rad))


def find_flexion(
    model: ChainModel, plane: PlaneFrame, side: str, landmarks: Mapping[str, FloatArray]
) -> tuple[Flexion, tuple[str, ...]]:
    """Find sense and zero of flexion of the joints of a limb.

    Parameters
    ----------
    model : ChainModel
        The chain.
    plane : PlaneFrame
        The plane of motion.
    side : {"left", "right"}
        Side of the limb: in the horizontal plane the two flex in opposite senses.
    landmarks : mapping of str to ndarray of shape (n_frames, 3)
        Landmarks; heel and toe define the sole.

    Returns
    -------
    flexion : Flexion
        Sense and zero.
    notes : tuple of str
        Assumptions, for the ledger.
    """
    known = np.array([joint.moment_arms_in_any_plane or plane.view == "sagittal" for joint in model.joints])
    if plane.view == "horizontal":
        mirror = 1.0 if side == "right" else -1.0
        sign = np.array([mirror * joint.flexion_right_horizontal for joint in model.joints])
        return Flexion(sign, np.zeros(len(model.joints)), known), ()
    notes = []
    if plane.view == "oblique":
        notes.append("the plane is neither sagittal nor horizontal: the sense of flexion is that of the sagittal plane")
    zero = np.radians([joint.flexion_zero_deg for joint in model.joints])
    for i, joint in enumerate(model.joints):
        if joint.sole is None:
            continue
        back, front = joint.sole
        if _seen_together(landmarks, back, front):
            distal = model.joints[i + 1].landmark if i + 1 < len(model.joints) else model.end
            slope = _between_deg(landmarks, (joint.landmark, distal), (back, front), plane)
            zero[i] = np.radians(90.0) + np.radians(slope)
            notes.append(
                f"{joint.name}: flexion is measured from the sole, {-slope:.0f} deg from the line to the {distal}"
            )
        else:
            notes.append(
                f"{joint.name}: {back} is not mapped or not visible, zero flexion is assumed at {joint.flexion_zero_deg:g} deg"
            )
    sign = np.array([float(joint.flexion_sagittal) for joint in model.joints])
    return Flexion(sign, zero, known), tuple(notes)


def _seen_together(landmarks: Mapping[str, FloatArray], first: str, second: str) -> bool:
    if first not in landmarks or second not in landmarks:
        return False
    return bool((~np.isnan(landmarks[first] - landmarks[second])).all(axis=1).any())


def _between_deg(
    landmarks: Mapping[str, FloatArray], line: tuple[str, str], other: tuple[str, str], plane: PlaneFrame
) -> float:
    """Median angle between two lines in the plane, degrees, -180 to 180."""
    first, second = (plane.project(landmarks[b] - landmarks[a]) for a, b in (line, other))
    known = ~np.isnan(first + second).any(axis=1)
    turned = (first[known] @ [1.0, 1j]) / (second[known] @ [1.0, 1j])
    return float(np.degrees(np.angle(np.median(turned.real) + 1j * np.median(turned.imag))))
