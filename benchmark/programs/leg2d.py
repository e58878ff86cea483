"""Planar inverse dynamics of a leg after van den Bogert's leg2d.

Source: Moore, Hnat and van den Bogert (2015), An elaborate data set on human gait and the effect of mechanical perturbations, PeerJ 3,
e918; its authors publish the algorithm in GaitAnalysisToolKit under the licence Apache-2.0. This script is written from the paper's
description and copies none of their code: six markers of a leg in the sagittal plane, Winter's segment parameters (2005), a Butterworth
filter of 6 Hz for markers and forces, Newton-Euler equations from the foot upwards. The set has no marker on the trochanter: the hip
is predicted from the pelvis (Bell et al. 1990). X is the mean forward direction of the pelvis.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from programs.common import SIDES, FloatArray, Recorded, low_pass, recorded, without_gaps, write_results

CUTOFF_HZ, G = 6.0, 9.81
# proximal and distal marker, marker of the joint, mass, centre from the proximal marker, radius of gyration (shares of body mass and
# length), sign of flexion seen from the right: X forward, Y up
SEGMENTS = {
    "ankle": ("HEE", "MT5", "ANK", 0.0145, 0.5, 0.475, 1.0),
    "knee": ("KNE", "ANK", "KNE", 0.0465, 0.433, 0.302, -1.0),
    "hip": ("hip", "KNE", "hip", 0.1, 0.433, 0.323, 1.0),
}


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Angles and moments of both legs of every trial."""
    for trial in recorded(folder, trials[trials["chain"] == "leg"]):
        markers = {name: without_gaps(values) for name, values in trial.markers.items()}
        write_results(
            out, trial, {name: values for side in SIDES for name, values in leg(trial, markers, side).items()}
        )


def leg(trial: Recorded, markers: dict[str, FloatArray], side: str) -> dict[str, FloatArray]:
    """Angle and moment of each joint of a leg."""
    front, back = (0.5 * (markers[f"R{name}"] + markers[f"L{name}"]) for name in ("ASI", "PSI"))
    forward = np.mean(front - back, axis=0) * [1.0, 0.0, 1.0]
    plane = np.array([forward / np.linalg.norm(forward), [0.0, 1.0, 0.0]])

    def smooth(values: FloatArray) -> FloatArray:
        return low_pass(values, trial.rate_hz, CUTOFF_HZ)

    def rate(values: FloatArray) -> FloatArray:
        return np.asarray(np.gradient(values, 1.0 / trial.rate_hz, axis=0))

    places = {name: markers[side[0].upper() + name] for name in ("SHO", "KNE", "ANK", "HEE", "MT5")}
    places = {name: smooth(values @ plane.T) for name, values in (places | {"hip": _hip(markers, side)}).items()}
    force, point = (values @ plane.T for values in trial.loads[side][:2])
    pushed, about = smooth(force), smooth(cross(point, force))  # about the laboratory's origin
    directions = {joint: _direction(places[near], places[far]) for joint, (near, far, *_) in SEGMENTS.items()}
    angles = {
        "ankle": directions["ankle"] - directions["knee"] - 0.5 * np.pi,
        "knee": directions["knee"] - directions["hip"],
        "hip": directions["hip"] - _direction(places["SHO"], places["hip"]),
    }
    columns = {}
    for joint, (near, far, marker, share, centre, gyration, sign) in SEGMENTS.items():
        mass, along = share * trial.mass_kg, places[far] - places[near]
        middle, length = places[near] + centre * along, np.linalg.norm(along, axis=1).mean()
        needed = mass * (rate(rate(middle)) + np.array([0.0, G]))
        turning = mass * (gyration * length) ** 2 * rate(rate(directions[joint]))
        # force and moment about the origin that the part of the leg beyond the joint needs from the joint
        pushed, about = pushed - needed, about - cross(middle, needed) - turning
        columns[f"{side}_{joint}_flexion_rad"] = sign * angles[joint]
        columns[f"{side}_{joint}_flexion_nm"] = sign * (cross(places[marker], pushed) - about)
    return columns


def _hip(markers: dict[str, FloatArray], side: str) -> FloatArray:
    """Hip centre: 30 % of the pelvis' width below, 19 % behind, 14 % inside the anterior superior spine (Bell et al. 1990)."""
    right, left = markers["RASI"], markers["LASI"]
    lengths = np.linalg.norm(right - left, axis=1, keepdims=True)
    across = (right - left) / lengths
    forward = 0.5 * (right + left - markers["RPSI"] - markers["LPSI"])
    forward = forward - np.sum(forward * across, axis=1, keepdims=True) * across
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    spine, inside = (right, -across) if side == "right" else (left, across)
    return np.asarray(spine + lengths.mean() * (0.14 * inside - 0.19 * forward - 0.3 * np.cross(across, forward)))


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Moment of forces b at points a in the plane."""
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _direction(near: FloatArray, far: FloatArray) -> FloatArray:
    return np.unwrap(np.arctan2(*(far - near).T[::-1]))
