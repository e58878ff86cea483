"""Sense and zero of joint flexion, and metrics of joints bent the wrong way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.plane import PlaneFrame
from limbtorque.study.chains import ChainModel

UNDECIDED_DEG = 10.0
RANGE_PERCENT = (5.0, 95.0)  # of the frames, so that a spike does not bend a straight limb
HYPERMOBILE_DEG = 10.0  # Beighton et al. (1973), of elbows and knees


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


def flexion_metrics(model: ChainModel, flexion: Flexion, angle: FloatArray) -> dict[str, float]:
    """Metrics of flexion: bent the wrong way, or too straight to decide."""
    return {
        "reversed_flexion_deg": reversed_flexion_deg(model, flexion, angle),
        "reversed_flexion_share": reversed_flexion_share(model, flexion, angle),
        "undecided_flexion": undecided_flexion(model, flexion, angle),
    }


def undecided_flexion(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Return 1 where the limb stays too straight for a mirrored one to be noticed."""
    one_way = [i for i, joint in enumerate(model.joints) if joint.one_way]
    bent_deg = np.degrees(flexion.of(angle))[:, one_way]
    bent_deg = bent_deg[~np.isnan(bent_deg).any(axis=1)]
    if not len(bent_deg):
        return 0.0
    ends = np.percentile(bent_deg, RANGE_PERCENT, axis=0)
    return float(np.abs(ends).max(initial=0.0) < UNDECIDED_DEG)


def reversed_flexion_share(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Largest share of frames with a joint bent the wrong way by over 10 degrees.

    Parameters
    ----------
    model : ChainModel
        The chain.
    flexion : Flexion
        Sense and zero of flexion.
    angle : ndarray of shape (n_frames, n_joints)
        Joint angles, rad.

    Examples
    --------
    >>> from limbtorque.study.chains import ARM
    >>> flexion = Flexion(np.ones(3), np.zeros(3), np.ones(3, dtype=bool))
    >>> angle = np.radians([[0.0, 90.0, 0.0], [0.0, 0.0, 0.0], [0.0, -30.0, 0.0], [0.0, -5.0, 0.0]])
    >>> reversed_flexion_share(ARM, flexion, angle)
    0.25
    """
    bent = np.degrees(flexion.of(angle))
    one_way = [i for i, joint in enumerate(model.joints) if joint.one_way]
    return max((float((bent[:, i] < -HYPERMOBILE_DEG).mean()) for i in one_way), default=0.0)


def reversed_flexion_deg(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Mean flexion of one-way joints to the wrong side, degrees; 0 without any."""
    bent = [
        -float(np.degrees(flexion.sign[i] * (np.nanmedian(angle[:, i]) - flexion.zero_rad[i])))
        for i, joint in enumerate(model.joints)
        if joint.one_way
    ]
    return max([0.0, *bent])
