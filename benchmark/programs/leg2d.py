"""Planar inverse dynamics of a leg after van den Bogert's leg2d (GaitAnalysisToolKit).

Own code from the description: six markers of a leg in the sagittal plane, Winter's segment parameters (2005), a Butterworth filter of
6 Hz for markers and forces, Newton-Euler equations from the foot upwards. The set has no marker on the trochanter: the hip is predicted
from the pelvis (Bell et al. 1990). X is the mean forward direction of the pelvis.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from common import SIDES, FloatArray, low_pass, read_forces, read_trc, run, without_gaps, write_results

CUTOFF_HZ, G = 6.0, 9.81
# proximal and distal marker, joint, mass, centre from the proximal marker, radius of gyration; shares of body mass and length
SEGMENTS = {
    "hip": ("hip", "KNE", 0.1, 0.433, 0.323),
    "knee": ("KNE", "ANK", 0.0465, 0.433, 0.302),
    "ankle": ("HEE", "MT5", 0.0145, 0.5, 0.475),
}
JOINTS = {"hip": "hip", "knee": "KNE", "ankle": "ANK"}
SIGNS = {"hip": 1.0, "knee": -1.0, "ankle": 1.0}  # of flexion, seen from the right: X forward, Y up


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Angles and moments of both legs of every trial."""
    for trial, about in trials[trials["chain"] == "leg"].iterrows():
        rate, markers = read_trc(folder / "recordings" / f"{trial}.trc")
        markers = {name: without_gaps(values) for name, values in markers.items()}
        loads = read_forces(folder / "recordings" / f"{trial}_forces.mot", rate, len(markers["RASI"]))
        columns: dict[str, FloatArray] = {}
        for side in SIDES:
            for joint, (angle, moment) in leg(markers, loads[side], side, rate, float(about["mass_kg"])).items():
                columns[f"{side}_{joint}_flexion_rad"], columns[f"{side}_{joint}_flexion_nm"] = angle, moment
        write_results(out / f"{trial}.csv", rate, columns)


def leg(
    markers: dict[str, FloatArray],
    load: tuple[FloatArray, FloatArray, FloatArray],
    side: str,
    rate_hz: float,
    mass_kg: float,
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Angle and moment of each joint of a leg."""
    front, back = (0.5 * (markers[f"R{name}"] + markers[f"L{name}"]) for name in ("ASI", "PSI"))
    forward = np.mean(front - back, axis=0) * [1.0, 0.0, 1.0]
    plane = np.array([forward / np.linalg.norm(forward), [0.0, 1.0, 0.0]])
    own = {name: markers[side[0].upper() + name] for name in ("SHO", "KNE", "ANK", "HEE", "MT5")}
    planar = {
        name: low_pass(values @ plane.T, rate_hz, CUTOFF_HZ)
        for name, values in (own | {"hip": _hip(markers, side)}).items()
    }
    force, point, _ = load
    about = cross(point @ plane.T, force @ plane.T)  # about the laboratory's origin
    pushed, about = low_pass(force @ plane.T, rate_hz, CUTOFF_HZ), low_pass(about, rate_hz, CUTOFF_HZ)
    directions = {joint: _direction(planar[near], planar[far]) for joint, (near, far, *_) in SEGMENTS.items()}
    angles = {
        "hip": directions["hip"] - _direction(planar["SHO"], planar["hip"]),
        "knee": directions["knee"] - directions["hip"],
        "ankle": directions["ankle"] - directions["knee"] - 0.5 * np.pi,
    }
    results = {}
    for joint in ("ankle", "knee", "hip"):
        near, far, share, centre, gyration = SEGMENTS[joint]
        mass, length = share * mass_kg, np.linalg.norm(planar[far] - planar[near], axis=1).mean()
        middle = planar[near] + centre * (planar[far] - planar[near])
        needed = mass * (_rate(_rate(middle, rate_hz), rate_hz) + np.array([0.0, G]))
        turning = mass * (gyration * length) ** 2 * _rate(_rate(directions[joint], rate_hz), rate_hz)
        # force and moment about the origin that the part of the leg beyond the joint needs from the joint
        pushed, about = pushed - needed, about - cross(middle, needed) - turning
        results[joint] = angles[joint] * SIGNS[joint], SIGNS[joint] * (cross(planar[JOINTS[joint]], pushed) - about)
    return results


def _hip(markers: dict[str, FloatArray], side: str) -> FloatArray:
    """Hip centre: 30 % of the pelvis' width below, 19 % behind, 14 % inside the anterior superior spine (Bell et al. 1990)."""
    right, left = markers["RASI"], markers["LASI"]
    width = np.linalg.norm(right - left, axis=1).mean()
    outwards = (right - left) / np.linalg.norm(right - left, axis=1, keepdims=True) * (1.0 if side == "right" else -1.0)
    forward = 0.5 * (right + left - markers["RPSI"] - markers["LPSI"])
    forward = forward - np.sum(forward * outwards, axis=1, keepdims=True) * outwards
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    up = np.cross(outwards, forward) * (1.0 if side == "right" else -1.0)
    return np.asarray((right if side == "right" else left) - width * (0.14 * outwards + 0.19 * forward + 0.3 * up))


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Moment of forces b at points a in the plane."""
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _direction(near: FloatArray, far: FloatArray) -> FloatArray:
    way = far - near
    return np.unwrap(np.arctan2(way[:, 1], way[:, 0]))


def _rate(values: FloatArray, rate_hz: float) -> FloatArray:
    return np.asarray(np.gradient(values, 1.0 / rate_hz, axis=0))


if __name__ == "__main__":
    run(__doc__, analyse)
