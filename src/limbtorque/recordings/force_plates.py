"""Force plates of any format: wrench, axes, and plausibility.

Force plates are rectangles; the smallest have edges of 0.15 m (AMTI HE6x6), belts of instrumented treadmills are 1.6 to 1.8 m
long (Aghamaleki Sarvestani et al. 2023, arXiv:2303.14482). They measure up to 20 kN across their surface (Kistler 9287C), with
the sensors some centimetres below it. A foot does not pull, and pushes less along the surface than across it: walking
uses a friction of about 0.2 (Redfern et al. 2001, Ergonomics 44:1138-1166). In 22 recorded files the
centre of pressure is outside the edges in at most 5 % of the loaded samples, and a marker is within 7 cm of it in 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.recording import ForcePlate

SHORTEST_EDGE_M, LONGEST_EDGE_M = 0.1, 3.0
DEEPEST_M = 0.5  # of sensors under the surface: plates less than 0.1 m, treadmills more
LARGEST_N = 20e3
LARGEST_NM = 10e3  # about the middle of the surface: half of the largest force at a distance of 1 m
LOADED_N = 50.0
RIGHT_ANGLE = 0.05  # distance of the diagonals' middles, and difference of their lengths, over the longest edge
HEAVY_SHARE = 0.3  # of the largest force: the samples in which the plate is judged
MOST = 0.5  # of those samples
OUTSIDE_M = 0.05
MAX_TWIST_M = 0.5  # free moment over the force across; at most 0.018 in 28 recorded files
SAME_HEIGHT_M = 0.05
SINGULAR = 1e4  # condition of a calibration matrix with rows and columns of length 1
LOWEST_M = 0.25  # markers this far above the lowest one may be of a foot
NEAR_M = 0.1  # from a force to such a marker; recorded walks and standing: 0.01 to 0.05 m; with two axes exchanged 0.15 to 1.0 m
FRAMES = 200  # that are looked at
_GRID = 20  # points along an edge


class UnusableError(Exception):
    """Reason why a plate is left out; reported as a note."""


class Wrench(NamedTuple):
    """Force of a plate on the foot, its point of action and the couple there.

    Attributes
    ----------
    force_n, point_m, couple_nm : ndarray of shape (n_samples, 3)
        In the laboratory frame, N, m and N m.
    """

    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray


def plate_of(wrench: Wrench, number: int, rate_hz: float, *, corners_m: FloatArray | None = None) -> ForcePlate:
    """Force plate of kind 0, which stores the wrench.

    Parameters
    ----------
    wrench : Wrench
        The wrench.
    number : int
        Number of the plate, from 1.
    rate_hz : float
        Samples per second.
    corners_m : ndarray of shape (4, 3), optional
        Corners of the surface, m; four times the mean point of action where they are not known.

    Returns
    -------
    ForcePlate
        With the moment about the origin of the laboratory, point x force + couple; NaN where a number is not finite.
    """
    force, point, couple = wrench
    loaded = (force != 0.0).any(axis=1)
    point = np.where(loaded[:, np.newaxis], point, 0.0)  # without force its point is often not a number
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is not known, and noted
        force_n, moment_nm = finite_wrench(force, np.cross(point, force) + couple)
    known = loaded & np.isfinite(force_n).all(axis=1)
    centre_m = point[known].mean(axis=0) if known.any() else np.zeros(3)
    return ForcePlate(
        number=number,
        kind=0,
        corners_m=np.tile(np.nan_to_num(centre_m, posinf=0.0, neginf=0.0), (4, 1)) if corners_m is None else corners_m,
        rate_hz=rate_hz,
        force_n=force_n,
        moment_nm=moment_nm,
    )


def pushing(wrench: Wrench, towards: FloatArray) -> tuple[Wrench, bool]:
    """Wrench of the plate on the foot, for either sign in the file.

    Parameters
    ----------
    wrench : Wrench
        The wrench.
    towards : ndarray of shape (3,)
        Direction from the plate to the body: a plate cannot pull.

    Returns
    -------
    wrench : Wrench
        With the opposite force and couple where the mean force of more than 50 N points away from the body.
    turned : bool
        True where it does.
    """
    size = np.linalg.norm(np.nan_to_num(wrench.force_n), axis=1)
    mean = np.nan_to_num(wrench.force_n[size > LOADED_N]).sum(axis=0)
    turned = bool(mean @ towards < 0.0)
    return (Wrench(-wrench.force_n, wrench.point_m, -wrench.couple_nm) if turned else wrench), turned


def finite_wrench(force_n: FloatArray, moment_nm: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Set force and moment to NaN in samples where either is not finite."""
    whole = np.isfinite(np.hstack([force_n, moment_nm])).all(axis=1, keepdims=True)
    return np.where(whole, force_n, np.nan), np.where(whole, moment_nm, np.nan)


def plate_axes(corners_m: FloatArray) -> FloatArray:
    """Unit axes of a plate's channels in the laboratory, as columns, from its corners.

    Parameters
    ----------
    corners_m : ndarray of shape (4, 3)
        Corners, m: x from corner 2 to corner 1, y from corner 4 to corner 1, z their cross product.

    Returns
    -------
    ndarray of shape (3, 3)
        Unit vectors x, y and z, one a column.
    """
    x = corners_m[0] - corners_m[1]
    z = np.cross(x, corners_m[0] - corners_m[3])
    if not np.isfinite(z).all() or math.sqrt(float(np.linalg.norm(z))) < 0.01:
        raise UnusableError("FORCE_PLATFORM:CORNERS do not span a surface; correct them in the file")
    y = np.cross(z, x)
    return np.stack([v / np.linalg.norm(v) for v in (x, y, z)], axis=1)


@dataclass(frozen=True)
class Load:
    """Loaded samples of a plate, in the plate's axes.

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
        """Fraction of samples with an implausible free moment (`MAX_TWIST_M`)."""
        return float(np.mean(np.abs(self.free_nm) > MAX_TWIST_M * np.abs(self.force_n[:, 2])))

    @property
    def outside_share(self) -> float:
        """Fraction of loaded samples with the centre of pressure 5 cm outside."""
        pressed = np.abs(self.force_n[:, 2]) > LOADED_N
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
    heavy = np.flatnonzero((size_n > LOADED_N) & (size_n > HEAVY_SHARE * size_n.max(initial=0.0)))
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


def check_surface(corners_m: FloatArray, where: str = "FORCE_PLATFORM:CORNERS") -> None:
    """Refuse corners that cannot be those of a force plate, with the reason.

    Parameters
    ----------
    corners_m : ndarray of shape (4, 3)
        Corners, m.
    where : str, optional
        Where the file has the corners, for the reason.
    """
    edges_m = np.linalg.norm(corners_m - np.roll(corners_m, -1, axis=0), axis=1)
    if edges_m.min() < SHORTEST_EDGE_M or edges_m.max() > LONGEST_EDGE_M:
        raise UnusableError(
            f"{where} give edges of {edges_m.min():.3g} to {edges_m.max():.3g} m, expected "
            f"{SHORTEST_EDGE_M:g} to {LONGEST_EDGE_M:g} m; correct them in the file"
        )
    one_m, other_m = corners_m[2] - corners_m[0], corners_m[3] - corners_m[1]
    middles_m = np.linalg.norm(corners_m[0] + corners_m[2] - corners_m[1] - corners_m[3]) / 2
    unequal_m = abs(np.linalg.norm(one_m) - np.linalg.norm(other_m))
    if max(middles_m, unequal_m) > RIGHT_ANGLE * edges_m.max():
        raise UnusableError(
            f"{where} are not those of a rectangle (edges {_listed(edges_m)} m); correct them in the file"
        )


def overlap_share(one: ForcePlate, other: ForcePlate) -> float:
    """Fraction of a plate's surface covered by another plate at the same height.

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


def check_origin(origin_m: FloatArray, corners_m: FloatArray, kind: int) -> None:
    """Refuse an impossible sensor position ``ORIGIN``, with the reason.

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
        raise UnusableError(
            f"FORCE_PLATFORM:ORIGIN is {_listed(origin_m)} m, expected sensors under the surface, at most "
            f"{DEEPEST_M:g} m deep; correct it in the file"
        )
    if kind == 3 and not origin_m[:2].all():
        raise UnusableError(
            f"FORCE_PLATFORM:ORIGIN is {_listed(origin_m)} m, a plate of type 3 has sensors away from its centre; correct it in the file"
        )


def check_calibration(matrix: FloatArray) -> None:
    """Refuse a calibration matrix (6, 6) that cannot be used, with the reason."""
    rows = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not rows.all() or not matrix.any(axis=0).all():
        raise UnusableError("FORCE_PLATFORM:CAL_MATRIX has a row or column of zeros; correct it in the file")
    balanced = matrix / rows
    balanced = balanced / np.linalg.norm(balanced, axis=0)
    if not np.linalg.cond(balanced) < SINGULAR:
        raise UnusableError("FORCE_PLATFORM:CAL_MATRIX is singular; correct it in the file")


def check_load(plate: ForcePlate, load: Load) -> None:
    """Refuse a plate whose values are impossible for a foot, with the reason.

    Parameters
    ----------
    plate : ForcePlate
        The plate.
    load : Load
        Its loaded samples.
    """
    about_nm = plate.moment_nm - np.cross(plate.corners_m.mean(axis=0), plate.force_n)
    largest_n, largest_nm = (float(np.nanmax(np.abs(values))) for values in (plate.force_n, about_nm))
    measure, scale = "more than force plates measure", "SCALE or UNITS of its channels"
    if largest_n > LARGEST_N:
        raise UnusableError(
            f"its force is up to {largest_n:.3g} N, {measure} ({LARGEST_N:g} N); correct ANALOG:{scale}"
        )
    if largest_nm > LARGEST_NM:
        moment = f"its moment about the centre of its surface is up to {largest_nm:.3g} N m"
        raise UnusableError(f"{moment}, {measure} ({LARGEST_NM:g} N m); correct ORIGIN, or {scale}")
    if load.outside_share > MOST:
        outside = f"its centre of pressure is outside its edges in {load.outside_share:.0%} of the loaded samples"
        raise UnusableError(f"{outside}; correct its CORNERS, its ORIGIN, or the order, {scale}")


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


def _listed(values_m: FloatArray) -> str:
    return ", ".join(f"{value:.3g}" for value in values_m)


def distance_m(markers_m: FloatArray, plates: Sequence[ForcePlate]) -> float:
    """Median distance of the forces' lines of action from the nearest low marker.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m.
    plates : sequence of ForcePlate
        Force plates with a whole number of samples for each frame, N and N m.

    Returns
    -------
    float
        Over at most 200 frames of each plate with more than 50 N, m. The lower end is where the mean force of the plate
        comes from: the markers no more than 0.25 m above the lowest one along it. NaN where there are no such frames.
    """
    apart: list[FloatArray] = []
    n_frames = len(markers_m)
    for plate in plates:
        per_frame = len(plate.force_n) // max(n_frames, 1)
        force, moment = plate.force_n[::per_frame][:n_frames], plate.moment_nm[::per_frame][:n_frames]
        with np.errstate(invalid="ignore", over="ignore"):
            size_n = np.linalg.norm(force, axis=1)
        loaded = np.flatnonzero(np.isfinite(size_n) & np.isfinite(moment).all(axis=1) & (size_n > LOADED_N))
        loaded = loaded[:: max(1, len(loaded) // FRAMES)]
        loaded = loaded[~np.isnan(markers_m[loaded]).all(axis=(1, 2))]
        if not len(loaded):
            continue
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            positions_m, force, moment = markers_m[loaded], force[loaded], moment[loaded]
            up = force.mean(axis=0) / np.linalg.norm(force.mean(axis=0))
            height = np.where(np.isnan(positions_m).any(axis=2), np.inf, positions_m @ up)
            low = height <= height.min(axis=1, keepdims=True) + LOWEST_M
            # distance of the line of action from a point: |F x (M - P x F)| / F^2
            about = moment[:, np.newaxis] - np.cross(positions_m, force[:, np.newaxis])
            lever = np.linalg.norm(np.cross(force[:, np.newaxis], about), axis=2) / size_n[loaded, np.newaxis] ** 2
            apart.append(np.where(low & np.isfinite(lever), lever, np.inf).min(axis=1))
    known = np.concatenate(apart) if apart else np.zeros(0)
    known = known[np.isfinite(known)]
    return float(np.median(known)) if known.size else math.nan
