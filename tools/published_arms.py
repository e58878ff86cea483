"""Published moment arms of the muscles of the built-in sets, for the tools that fit, compare and draw arms.

They stand in ``tools/moment_arms``: polynomials and single values in ``published.yaml``, and in ``attachments.yaml`` the
points between which a muscle runs, from which its arm follows as ``r = -dL/d(flexion)``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from limbtorque.arrays import FloatArray
from limbtorque.study.files import read_yaml

TABLES = Path(__file__).parent / "moment_arms"
STEP_DEG = 5.0
RANGES_DEG = {"hip": (-30.0, 120.0), "knee": (0.0, 120.0)}  # of arms that follow from attachments
SMALL_MM = 5.0  # an arm below this has no certain sign
RANGE_STEP_DEG = 15.0


@dataclass(frozen=True, eq=False)
class PublishedArm:
    """Moment arm of a muscle at a joint from one source.

    Attributes
    ----------
    muscle, joint, source : str
        Muscle and joint of a built-in set, and the publication.
    flexion_deg, arm_mm : ndarray of shape (n_angles,)
        Moment arm at angles; + flexes.
    used : bool
        True if it is the arm of the set.
    reason : str
        Reason why it is not.
    opposed : str
        Reason why its sign may be the other one than the set's; empty where it may not.
    opposed_deg : pair of float
        Range where it may.
    repeats : str
        Source whose values these are; empty for a source of its own.
    """

    muscle: str
    joint: str
    source: str
    flexion_deg: FloatArray
    arm_mm: FloatArray
    used: bool = False
    reason: str = ""
    opposed: str = ""
    opposed_deg: tuple[float, float] = (-np.inf, np.inf)
    repeats: str = ""


def published_arms() -> list[PublishedArm]:
    """Every published arm of every muscle."""
    tables, paths = read_yaml(TABLES / "published.yaml"), read_yaml(TABLES / "attachments.yaml")
    found = []
    for row in tables["polynomials"]:
        flexion = grid(*row["range_deg"])
        arm = np.polynomial.Polynomial(row["coefficients_mm"])(np.radians(flexion))
        found += [_arm(row, tables["sources"], muscle, flexion, arm) for muscle in row["muscles"]]
    for row in tables["values"]:
        flexion, arm = (np.array(row[key], dtype=float) for key in ("flexion_deg", "arms_mm"))
        found += [_arm(row, tables["sources"], muscle, flexion, arm) for muscle in row["muscles"]]
    for row in paths["paths"]:
        flexion = grid(*row.get("range_deg", RANGES_DEG[row["joint"]]))
        found.append(_arm(row, paths["sources"], row["muscle"], flexion, arm_of_paths(row, flexion, paths["tibia"])))
    return found


def grid(low_deg: float, high_deg: float) -> FloatArray:
    """Angles in steps of 5 degrees, both ends included."""
    return np.arange(low_deg, high_deg + 1e-9, STEP_DEG)


def _arm(
    row: dict[str, Any], sources: dict[str, str], muscle: str, flexion_deg: FloatArray, arm_mm: FloatArray
) -> PublishedArm:
    rest = {key: row[key] for key in ("used", "reason", "opposed") if key in row}
    if "opposed_deg" in row:
        rest["opposed_deg"] = tuple(row["opposed_deg"])
    if "repeats" in row:
        rest["repeats"] = sources[row["repeats"]]
    return PublishedArm(muscle, row["joint"], sources[row["source"]], flexion_deg, arm_mm, **rest)


def arm_of_paths(row: dict[str, Any], flexion_deg: FloatArray, tibia: dict[str, Any]) -> FloatArray:
    """Mean moment arm of a muscle's parts by their weights, the other joint at 0 [mm]."""
    step = 1e-4
    arms = []
    for points in row["parts"]:
        lengths = []
        for q in (np.radians(flexion_deg) + step, np.radians(flexion_deg) - step):
            hip, knee = (q, 0.0 * q) if row["joint"] == "hip" else (0.0 * q, q)
            lengths.append(path_length(points, hip, knee, tibia))
        arms.append(-(lengths[0] - lengths[1]) / (2.0 * step))
    return np.average(arms, axis=0, weights=row.get("weights"))


def path_length(
    points: Iterable[list[Any]], hip_rad: FloatArray, knee_rad: FloatArray, tibia: dict[str, Any]
) -> FloatArray:
    """Length of the straight lines through points of pelvis, femur and tibia, by flexion of hip and knee [mm]."""
    moved = [CubicSpline(*np.transpose(tibia[axis]), bc_type="natural")(np.degrees(knee_rad)) for axis in "xy"]
    origin = moved[0] + 1j * moved[1]
    at = []
    for body, x, y, z in points:
        plane = np.full(hip_rad.shape, x + 1j * y)
        if body == "tibia":
            plane = origin + plane * np.exp(-1j * knee_rad)
        at.append((plane * np.exp(1j * hip_rad) if body != "pelvis" else plane, z))
    return np.sum([np.hypot(np.abs(b - a), z1 - z0) for (a, z0), (b, z1) in itertools.pairwise(at)], axis=0)


def range_of(flexion_deg: FloatArray, arm_mm: FloatArray, others: Iterable[PublishedArm]) -> dict[str, Any]:
    """Lowest and highest of an arm and of the published ones, every 15 degrees, as they stand in a set.

    A source of single angles counts over the whole range, by its ratio to the arm between them, held outside. One that repeats
    another is none. Empty without another source.
    """
    low, high = flexion_deg[0], flexion_deg[-1]
    at = np.unique(
        [low, *np.arange(np.ceil(low / RANGE_STEP_DEG), high / RANGE_STEP_DEG + 1e-9) * RANGE_STEP_DEG, high]
    )
    ours = np.interp(at, flexion_deg, arm_mm)
    arms = [ours]
    for other in (one for one in others if not one.repeats):
        angles, theirs = other.flexion_deg, other.arm_mm
        if len(angles) < 4:
            order = np.argsort(angles)
            ratio = (theirs / np.interp(angles, flexion_deg, arm_mm))[order]
            arms.append(ours * np.interp(at, angles[order], ratio))
        elif angles[0] <= high and angles[-1] >= low:
            arms.append(np.interp(at, angles, theirs, left=np.nan, right=np.nan))
    if len(arms) == 1:
        return {}
    lowest, highest = ([round(1e-3 * float(arm), 5) for arm in ends(arms, axis=0)] for ends in (np.nanmin, np.nanmax))
    angles_deg = [float(angle) for angle in at]
    return {
        "published": {
            "flexion_deg": angles_deg,
            "lowest_m": lowest,
            "highest_m": highest,
            "other_sources": len(arms) - 1,
        }
    }


def signs_differ(ours_mm: FloatArray, theirs_mm: FloatArray) -> np.ndarray:
    """Return True where two arms, both of some size, have different signs."""
    return (ours_mm * theirs_mm < 0) & (np.abs(ours_mm) > SMALL_MM) & (np.abs(theirs_mm) > SMALL_MM)
