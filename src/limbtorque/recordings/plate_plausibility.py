"""Plausibility of force plates: sizes, forces and places that no force plate has.

Force plates are rectangles; the smallest have edges of 0.15 m (AMTI HE6x6), belts of instrumented treadmills are 1.6 to 1.8 m
long (Aghamaleki Sarvestani et al. 2023, arXiv:2303.14482). They measure up to 20 kN across their surface (Kistler 9287C), with
the sensors some centimetres below it. A foot does not pull, and pushes less along the surface than across it: walking
uses a friction of about 0.2 (Redfern et al. 2001, Ergonomics 44:1138-1166). In 22 recorded files the
centre of pressure is outside the edges in at most 5 % of the loaded samples, and a marker is within 7 cm of it in 95 %.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.recording import ForcePlate

SHORTEST_EDGE_M, LONGEST_EDGE_M = 0.1, 3.0
DEEPEST_M = 0.5  # of sensors under the surface: plates less than 0.1 m, treadmills more
LARGEST_N = 20e3
LARGEST_NM = 10e3  # about the middle of the surface: half of the largest force at a distance of 1 m
RIGHT_ANGLE = (
    0.05  # distance of the diagonals' middles, and difference of their lengths, as a fraction of the longest edge
)
MIN_FORCE_N = 50.0
IDLE_N = 1.0  # noise alone is more
HEAVY_SHARE = 0.3  # of the largest force: the samples in which the plate is judged
MOST = 0.5  # of those samples
SOME = 0.1
OUTSIDE_M = 0.05
MAX_TWIST_M = 0.5  # free moment over the force across; at most 0.018 in 28 recorded files
FAR_M = 1.0  # along the surface, from the centre of pressure to the nearest marker
SAME_HEIGHT_M = 0.05
_GRID = 20  # points along an edge
SINGULAR = 1e4  # condition of a calibration matrix with rows and columns of length 1
CHANNEL_AXES = {
    1: ("FX", "FY", "FZ"),
    2: ("FX", "FY", "FZ", "MX", "MY", "MZ"),
    3: ("FX",) * 2 + ("FY",) * 2 + ("FZ",) * 4,
}
CHANNEL_AXES[4] = CHANNEL_AXES[2]
_AXIS = re.compile(r"[FM]\d*[XYZ]")
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class Load:
    """Samples of a plate that is loaded, in the plate's own axes.

    Attributes
    ----------
    force_n : ndarray of shape (n, 3)
        Force; the third component is across the surface.
    pressure_m : ndarray of shape (n, 2)
        Centre of pressure from the middle of the surface.
    free_nm : ndarray of shape (n,)
        Free moment: about the normal through the centre of pressure.
    half_m : ndarray of shape (2,)
        Half of the edges.
    sample : ndarray of int, shape (n,)
        Numbers of the samples.
    """

    force_n: FloatArray
    pressure_m: FloatArray
    free_nm: FloatArray
    half_m: FloatArray
    sample: np.ndarray[tuple[int], np.dtype[np.intp]]

    @property
    def sideways_share(self) -> float:
        """Fraction of samples with more force along the surface than across it."""
        return float(np.mean(np.hypot(self.force_n[:, 0], self.force_n[:, 1]) > np.abs(self.force_n[:, 2])))

    @property
    def twisted_share(self) -> float:
        """Fraction of samples with a free moment that no foot has (`MAX_TWIST_M`)."""
        return float(np.mean(np.abs(self.free_nm) > MAX_TWIST_M * np.abs(self.force_n[:, 2])))

    @property
    def outside_share(self) -> float:
        """Fraction of pressed samples with the centre of pressure 5 cm outside."""
        pressed = np.abs(self.force_n[:, 2]) > MIN_FORCE_N
        outside = (np.abs(self.pressure_m[pressed]) > self.half_m + OUTSIDE_M).any(axis=1)
        return float(np.mean(outside)) if pressed.any() else 0.0


def heavy_load(plate: ForcePlate, axes: FloatArray) -> Load | None:
    """Return the samples with over 50 N and 30 % of the largest force, or None.

    Parameters
    ----------
    plate : ForcePlate
        The plate.
    axes : ndarray of shape (3, 3)
        Its axes in the laboratory, as columns.
    """
    middle_m = plate.corners_m.mean(axis=0)
    size_n = np.nan_to_num(np.linalg.norm(plate.force_n, axis=1))
    heavy = np.flatnonzero((size_n > MIN_FORCE_N) & (size_n > HEAVY_SHARE * size_n.max(initial=0.0)))
    if not heavy.size:
        return None
    force_n = plate.force_n[heavy] @ axes
    moment_nm = (plate.moment_nm[heavy] - np.cross(middle_m, plate.force_n[heavy])) @ axes
    with np.errstate(divide="ignore", invalid="ignore"):
        pressure_m = np.stack([-moment_nm[:, 1], moment_nm[:, 0]], axis=1) / force_n[:, 2:]
        free_nm = moment_nm[:, 2] - (pressure_m[:, 0] * force_n[:, 1] - pressure_m[:, 1] * force_n[:, 0])
    half_m = np.abs((plate.corners_m - middle_m) @ axes)[:, :2].max(axis=0)
    return Load(
        force_n,
        np.nan_to_num(pressure_m, nan=np.inf, posinf=np.inf, neginf=-np.inf),
        np.nan_to_num(free_nm),
        half_m,
        heavy,
    )


def implausible_surface(corners_m: FloatArray, where: str = "FORCE_PLATFORM:CORNERS") -> str:
    """Reason why four corners cannot be those of a force plate; empty where they can.

    Parameters
    ----------
    corners_m : ndarray of shape (4, 3)
        Corners, m.
    where : str, optional
        Where the file has the corners, for the reason.
    """
    edges_m = np.linalg.norm(corners_m - np.roll(corners_m, -1, axis=0), axis=1)
    if edges_m.min() < SHORTEST_EDGE_M or edges_m.max() > LONGEST_EDGE_M:
        return (
            f"{where} make edges of {edges_m.min():.3g} to {edges_m.max():.3g} m, expected "
            f"{SHORTEST_EDGE_M:g} to {LONGEST_EDGE_M:g} m; correct them in the file"
        )
    one_m, other_m = corners_m[2] - corners_m[0], corners_m[3] - corners_m[1]
    middles_m = np.linalg.norm(corners_m[0] + corners_m[2] - corners_m[1] - corners_m[3]) / 2
    unequal_m = abs(np.linalg.norm(one_m) - np.linalg.norm(other_m))
    if max(middles_m, unequal_m) > RIGHT_ANGLE * edges_m.max():
        return f"{where} are not those of a rectangle (edges {_listed(edges_m)} m); correct them in the file"
    return ""


def overlap_share(one: ForcePlate, other: ForcePlate) -> float:
    """Fraction of a plate's surface that another one at its height covers.

    Parameters
    ----------
    one, other : ForcePlate
        The plates; 0 where their heights differ by more than 5 cm.
    """
    x_m, y_m = (other.corners_m[k] - other.corners_m[0] for k in (1, 3))
    if abs(np.linalg.det([x_m, y_m, np.cross(x_m, y_m)])) == 0.0:
        return 0.0
    grid = (np.arange(_GRID) + 0.5) / _GRID
    u, v = (axis.ravel()[:, np.newaxis] for axis in np.meshgrid(grid, grid))
    points_m = one.corners_m[0] + u * (one.corners_m[1] - one.corners_m[0]) + v * (one.corners_m[3] - one.corners_m[0])
    normal = np.cross(x_m, y_m) / np.linalg.norm(np.cross(x_m, y_m))
    parts = np.linalg.solve(np.column_stack([x_m, y_m, normal]), (points_m - other.corners_m[0]).T)
    inside = (parts[:2] > 0.0).all(axis=0) & (parts[:2] < 1.0).all(axis=0) & (np.abs(parts[2]) < SAME_HEIGHT_M)
    return float(np.mean(inside))


def implausible_origin(origin_m: FloatArray, corners_m: FloatArray, kind: int) -> str:
    """Reason why the sensors cannot lie where ``ORIGIN`` says; empty where they can.

    Parameters
    ----------
    origin_m : ndarray of shape (3,)
        ``FORCE_PLATFORM:ORIGIN``, m.
    corners_m : ndarray of shape (4, 3)
        Corners, m.
    kind : int
        Type of the plate; type 1 does not use its origin.
    """
    edge_m = float(np.linalg.norm(corners_m[0] - corners_m[2]))
    beside = np.abs(origin_m[:2]).max() > edge_m / 2
    if kind != 1 and (abs(origin_m[2]) > DEEPEST_M or beside):
        return (
            f"FORCE_PLATFORM:ORIGIN is {_listed(origin_m)} m, expected sensors under the surface, at most "
            f"{DEEPEST_M:g} m deep; correct it in the file"
        )
    if kind == 3 and not origin_m[:2].all():
        return f"FORCE_PLATFORM:ORIGIN is {_listed(origin_m)} m, a plate of type 3 has sensors beside its middle; correct it in the file"
    return ""


def implausible_calibration(matrix: FloatArray) -> str:
    """Reason why a calibration matrix (6, 6) cannot be used; empty where it can."""
    rows = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not rows.all() or not matrix.any(axis=0).all():
        return "FORCE_PLATFORM:CAL_MATRIX has a row or column of zeros; correct it in the file"
    balanced = matrix / rows
    balanced = balanced / np.linalg.norm(balanced, axis=0)
    if not np.linalg.cond(balanced) < SINGULAR:
        return "FORCE_PLATFORM:CAL_MATRIX is singular; correct it in the file"
    return ""


def implausible_load(plate: ForcePlate, load: Load) -> str:
    """Reason why a plate cannot have measured a foot; empty where it can.

    Parameters
    ----------
    plate : ForcePlate
        The plate.
    load : Load
        Its loaded samples.
    """
    largest_n = float(np.nanmax(np.abs(plate.force_n)))
    if largest_n > LARGEST_N:
        return (
            f"its force is up to {largest_n:.3g} N, more than force plates measure ({LARGEST_N:g} N); "
            "correct ANALOG:SCALE or UNITS of its channels"
        )
    about_nm = plate.moment_nm - np.cross(plate.corners_m.mean(axis=0), plate.force_n)
    if (moment_nm := float(np.nanmax(np.abs(about_nm)))) > LARGEST_NM:
        return (
            f"its moment about the middle of its surface is up to {moment_nm:.3g} N m, more than force plates measure "
            f"({LARGEST_NM:g} N m); correct ORIGIN, or SCALE or UNITS of its channels"
        )
    if load.outside_share > MOST:
        return (
            f"its centre of pressure is outside its edges in {load.outside_share:.0%} of the loaded samples; "
            "correct its CORNERS, its ORIGIN, or the order, SCALE or UNITS of its channels"
        )
    return ""


def distance_from_markers_m(plate: ForcePlate, load: Load, axes: FloatArray, markers_m: FloatArray) -> float:
    """Median distance along the surface from the centre of pressure to a marker, m.

    Parameters
    ----------
    plate : ForcePlate
        The plate.
    load : Load
        Its loaded samples.
    axes : ndarray of shape (3, 3)
        Its axes in the laboratory, as columns.
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Markers over the same time, m.

    Returns
    -------
    float
        Distance to the nearest marker; 0 where no marker is seen.
    """
    some = slice(None, None, max(1, len(load.sample) // 50))
    frame = load.sample[some] * len(markers_m) // len(plate.force_n)
    beside_m = ((markers_m[frame] - plate.corners_m.mean(axis=0)) @ axes)[:, :, :2]
    apart_m = np.linalg.norm(beside_m - load.pressure_m[some, np.newaxis], axis=2)
    nearest_m = np.where(np.isfinite(apart_m), apart_m, np.inf).min(axis=1, initial=np.inf)
    seen = np.isfinite(nearest_m)
    return float(np.median(nearest_m[seen])) if seen.any() else 0.0


def misnamed_axes(labels: Sequence[str], kind: int) -> bool:
    """True where a plate's channels are named as its axes in another order.

    Parameters
    ----------
    labels : sequence of str
        Labels of the plate's channels, in its order.
    kind : int
        Type of the plate.

    Examples
    --------
    >>> misnamed_axes(["Fx1", "Fy1", "Fz1", "Mx1", "My1", "Mz1"], 2)
    False
    >>> misnamed_axes(["Force.Fz1", "Force.Fy1", "Force.Fx1", "Moment.Mx1", "Moment.My1", "Moment.Mz1"], 2)
    True
    """
    expected = CHANNEL_AXES[kind]
    found = tuple(axis_name(label) for label in labels[: len(expected)])
    return found != expected and sorted(found) == sorted(expected)


def axis_name(label: str) -> str:
    """Axis that a channel's label names, e.g. ``"FX"``; empty where it names none."""
    hit = _AXIS.search(label.upper())
    return hit[0][0] + hit[0][-1] if hit else ""


def plates_exchanged(labels: Mapping[int, Sequence[str]]) -> list[int]:
    """Plates whose channels carry the number of another plate.

    Parameters
    ----------
    labels : mapping of int to sequence of str
        Labels of the channels of each plate, by its number.

    Examples
    --------
    >>> plates_exchanged({1: ["Fx2", "Fy2"], 2: ["Fx1", "Fy1"]})
    [1, 2]
    """
    last = {number: {(_NUMBERS.findall(label) or [""])[-1] for label in names} for number, names in labels.items()}
    plain = {number: int(next(iter(found))) for number, found in last.items() if len(found) == 1 and "" not in found}
    whole = sorted(plain) == sorted(plain.values()) == sorted(labels)
    return sorted(number for number, other in plain.items() if number != other) if whole else []


def _listed(values_m: FloatArray) -> str:
    return ", ".join(f"{value:.3g}" for value in values_m)
