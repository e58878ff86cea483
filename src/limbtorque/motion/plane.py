"""Plane of motion: axes in the laboratory, projection, and metrics of planarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from limbtorque.arrays import FloatArray, lengths, turned
from limbtorque.errors import SignalError
from limbtorque.study.options.motion import Plane, axis_vector

MIN_PROJECTION = 0.3  # projected over true length of a segment whose direction in the plane is used
MIN_TRAVEL_M = 0.5  # displacement that defines a direction of travel

View = Literal["sagittal", "horizontal", "oblique"]


@dataclass(frozen=True)
class PlaneFrame:
    """A right-handed frame of the plane of motion.

    Attributes
    ----------
    axes : ndarray of shape (3, 3)
        Rows: the plane's x axis (forward), its y axis (up, or to the left in a horizontal plane) and its normal, in
        laboratory coordinates. The normal of a sagittal plane points to the right of the body, for both sides of it.
    view : {"sagittal", "horizontal", "oblique"}
        Orientation of the plane to the body; determines the sense of flexion.
    """

    axes: FloatArray
    view: View

    @property
    def normal(self) -> FloatArray:
        """Unit normal; counter-clockwise rotations about it are positive."""
        normal: FloatArray = self.axes[2]
        return normal

    def project(self, vectors: FloatArray) -> FloatArray:
        """In-plane components of laboratory vectors, shape (..., 3) -> (..., 2)."""
        return turned(vectors, self.axes[:2].T)

    def gravity(self, magnitude_m_s2: float, up: FloatArray) -> FloatArray:
        """Gravity in the plane, shape (2,): g cos(phi) of a plane tilted by phi."""
        return self.project(-magnitude_m_s2 * up)


def find_plane(settings: Plane, joints_m: FloatArray, *, facing: FloatArray | None = None) -> PlaneFrame:
    """Find the plane of motion of a trial.

    Parameters
    ----------
    settings : Plane
        Kind of plane, up and forward axes.
    joints_m : ndarray of shape (n_frames, n_joints + 1, 3)
        Joint centres and the end of the chain in the laboratory frame, m, without missing samples.
    facing : ndarray of shape (3,), optional
        Horizontal unit vector in which pelvis or thorax face (`mean_facing`), where `settings` ask for it.

    Returns
    -------
    PlaneFrame
        Its axes.

    Raises
    ------
    SignalError
        The direction of travel or the best-fitting plane is not defined by the movement.

    Notes
    -----
    Sagittal: x forward, y up. Horizontal: x forward, y to the left, normal up. Best fit: the plane of the two largest
    principal components of the segments' directions; its normal points up where it is nearer to the vertical than 45
    degrees, else to the right of the body; x is the forward direction projected on it, or, where that is nearly the
    normal, the horizontal direction in it.
    """
    up = axis_vector(settings.up_axis)
    if facing is not None:
        forward = facing
    elif settings.forward_axis == "travel":
        displacement = joints_m[-1, 0] - joints_m[0, 0]
        displacement = displacement - (displacement @ up) * up
        distance = float(np.linalg.norm(displacement))
        if distance < MIN_TRAVEL_M:
            raise SignalError(
                f"the direction of travel is undefined: the proximal joint is displaced by {distance:.2f} m, expected at least "
                f"{MIN_TRAVEL_M:g} m; give plane.forward_axis"
            )
        forward = displacement / distance
    else:
        forward = axis_vector(settings.forward_axis)
    right = np.cross(forward, up)
    if settings.kind == "sagittal":
        return PlaneFrame(np.stack([forward, up, right]), "sagittal")
    if settings.kind == "horizontal":
        return PlaneFrame(np.stack([forward, np.cross(up, forward), up]), "horizontal")
    return _best_fit(np.diff(joints_m, axis=1).reshape(-1, 3), forward, up, right)


def mean_facing(right_m: FloatArray, up: FloatArray) -> tuple[FloatArray, float]:
    """Mean direction that a body faces, from the line between its sides.

    Parameters
    ----------
    right_m : ndarray of shape (n_frames, 3)
        From a landmark of the left side to that of the right side, of any length; NaN where missing.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    forward : ndarray of shape (3,)
        Horizontal unit vector, the mean over the frames of the directions that are up crossed with right; NaN without a frame.
    spread_deg : float
        Circular standard deviation of these directions, degrees (Mardia 1972): sqrt(-2 ln R), with R the length of
        their mean.

    Examples
    --------
    A pelvis with y to its left faces along x:

    >>> forward, spread = mean_facing(np.array([[0.0, -0.25, 0.0], [0.0, -0.25, 0.02]]), np.array([0.0, 0.0, 1.0]))
    >>> forward.round(9).tolist(), round(spread, 6) + 0.0
    ([1.0, 0.0, 0.0], 0.0)
    """
    ahead = np.cross(up, right_m)
    ahead = ahead[~np.isnan(ahead).any(axis=1)]
    length = lengths(ahead)
    mean = np.asarray((ahead[length > 0.0] / length[length > 0.0, None]).sum(axis=0)) / max(len(ahead), 1)
    share = float(lengths(mean))
    if share == 0.0:
        return np.full(3, np.nan), float("nan")
    return mean / share, float(np.degrees(np.sqrt(max(0.0, -2.0 * np.log(share)))))


def _best_fit(steps: FloatArray, forward: FloatArray, up: FloatArray, right: FloatArray) -> PlaneFrame:
    _, strengths, directions = np.linalg.svd(steps, full_matrices=False)
    if strengths[1] < 0.05 * strengths[0]:
        raise SignalError(
            "the best-fitting plane is undefined, all segments lie on one line: the second principal component is "
            f"{strengths[1] / strengths[0]:.3f} of the first; give plane.kind"
        )
    normal = directions[2]
    lying = abs(normal @ up) > np.sqrt(0.5)
    normal = normal * (np.sign(normal @ (up if lying else right)) or 1.0)
    lead = forward if abs(normal @ forward) < np.sqrt(0.5) else np.cross(up, normal)
    x_axis = lead - (lead @ normal) * normal
    x_axis = x_axis / np.linalg.norm(x_axis)
    upright = abs(normal @ right) > np.cos(np.radians(30.0))
    flat = abs(normal @ up) > np.cos(np.radians(30.0))
    view: View = "horizontal" if flat else "sagittal" if upright else "oblique"
    return PlaneFrame(np.stack([x_axis, np.cross(normal, x_axis), normal]), view)


@dataclass(frozen=True)
class Planarity:
    """Metrics of how planar a movement is.

    Attributes
    ----------
    out_of_plane_share : float
        Variance of the segments' out-of-plane components over their whole variance; NaN where nothing moves.
    tilt_deg : ndarray of shape (n_segments,)
        Mean inclination of each segment to the plane, degrees.
    length_m : ndarray of shape (n_segments,)
        Mean length in space, m.
    length_variation : ndarray of shape (n_segments,)
        Standard deviation of the length in space over its mean.
    """

    out_of_plane_share: float
    tilt_deg: FloatArray
    length_m: FloatArray
    length_variation: FloatArray


def planarity(frame: PlaneFrame, joints_m: FloatArray) -> Planarity:
    """Measure the planarity of a movement and the variation of its segments' lengths.

    Parameters
    ----------
    frame : PlaneFrame
        The plane.
    joints_m : ndarray of shape (n_frames, n_joints + 1, 3)
        Joint centres and the end of the chain, m.

    Returns
    -------
    Planarity
        Shares, inclinations and lengths.
    """
    segments = turned(np.diff(joints_m, axis=1), frame.axes.T)
    length, tilt = lengths_and_tilts(joints_m, frame)
    return segment_planarity(segments[..., :2], segments[..., 2], length, tilt)


def segment_planarity(
    in_plane_m: FloatArray, out_m: FloatArray, length_m: FloatArray, tilt_rad: FloatArray
) -> Planarity:
    """Planarity of segments, from their components in a plane and out of it.

    Parameters
    ----------
    in_plane_m : ndarray of shape (n_frames, n_segments, 2)
        Components in the plane, m.
    out_m, length_m, tilt_rad : ndarray of shape (n_frames, n_segments)
        Components along the normal, m, lengths in space, m, and inclinations to the plane.
    """
    out = float(out_m.var(axis=0).sum())
    total = float(in_plane_m.var(axis=0).sum()) + out
    mean_m = length_m.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        variation = length_m.std(axis=0) / mean_m
    return Planarity(
        out_of_plane_share=out / total if np.sqrt(total) > 0.005 else float("nan"),
        tilt_deg=np.degrees(np.abs(tilt_rad).mean(axis=0)),
        length_m=mean_m,
        length_variation=variation,
    )


def lengths_and_tilts(joints_m: FloatArray, plane: PlaneFrame) -> tuple[FloatArray, FloatArray]:
    """Lengths of segments in space, and their inclinations to the plane.

    Parameters
    ----------
    joints_m : ndarray of shape (n_frames, n_joints + 1, 3)
        Joint centres and endpoint in the laboratory frame, m.
    plane : PlaneFrame
        The plane.

    Returns
    -------
    length_m, tilt_rad : ndarray of shape (n_frames, n_segments)
        The inclination is positive towards the plane's normal.
    """
    segments_m = turned(np.diff(joints_m, axis=1), plane.axes.T)
    length = lengths(segments_m)
    share = np.divide(segments_m[..., 2], length, out=np.zeros_like(length), where=length > 0.0)
    return length, np.arcsin(np.clip(share, -1.0, 1.0))
