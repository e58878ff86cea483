"""Functional joint centres in the plane: the point fixed in both segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import SignalError
from limbtorque.motion.plane import PlaneFrame

ComplexArray = NDArray[np.complex128]

NARROWEST_M = 0.01
WIDEST_DEG = 180.0
FEWEST_FRAMES = 3


@dataclass(frozen=True)
class PlanarPose:
    """Pose of a rigid segment in the plane.

    Attributes
    ----------
    angle_rad : ndarray of shape (n_frames,)
        Orientation, rad, from -pi to pi, counter-clockwise positive, near zero in the first counted frame; NaN where a
        marker is missing.
    position_m : ndarray of shape (n_frames, 2)
        Mean of the markers, the segment's origin, m.
    shape_m : ndarray of shape (n_markers, 2)
        Mean places of the markers in the segment, m.
    """

    angle_rad: FloatArray
    position_m: FloatArray
    shape_m: FloatArray


def planar_pose(markers_m: ArrayLike, *, counted: ArrayLike | None = None) -> PlanarPose:
    """Orientation and position of a segment from two or more markers.

    Parameters
    ----------
    markers_m : array_like of shape (n_frames, n_markers, 2)
        Markers in the plane, m; NaN where missing.
    counted : array_like of bool, shape (n_frames,), optional
        Frames that determine the mean shape; all by default. The others have a pose, too.

    Returns
    -------
    PlanarPose
        Pose of every frame without missing markers.

    Raises
    ------
    SignalError
        Fewer than two markers, no counted frame with all of them, or markers within 1 cm of each other in the plane,
        which have no orientation.

    Notes
    -----
    With points of the plane as complex numbers, ``r[t, k]`` from the mean of the markers of a frame and ``s[k]`` the
    shape, the best-fitting rotation is ``exp(i angle[t]) = sum_k r[t, k] conj(s[k])``, normalised: least squares in closed
    form. The shape is the mean of the markers rotated back; the start is the principal component of all frames, which is
    the shape itself where the segment is rigid.

    Examples
    --------
    >>> pose = planar_pose([[[0.0, 0.0], [0.2, 0.0]], [[0.1, 0.0], [0.1, 0.2]]])
    >>> np.degrees(pose.angle_rad).round(6).tolist(), pose.position_m.tolist()
    ([0.0, 90.0], [[0.1, 0.0], [0.1, 0.1]])
    """
    planar = _complex(markers_m)
    if planar.shape[1] < 2:
        raise SignalError(
            f"a segment has {planar.shape[1]} marker, expected two or more for its orientation in the plane"
        )
    position = planar.mean(axis=1)
    spread = planar - position[:, None]
    used = np.flatnonzero(_counted(counted, len(planar)) & ~np.isnan(position))
    if not len(used):
        raise SignalError("no frame in use has all markers of a segment; check its labels")
    principal = np.linalg.eigh(spread[used].conj().T @ spread[used])[1][:, -1]
    turned = spread @ (principal / _unit(spread[used[0]] @ principal))
    shape = (spread[used] * _unit(turned[used]).conj()[:, None]).mean(axis=0)
    width = float(np.abs(shape[:, None] - shape).max())
    if width < NARROWEST_M:
        raise SignalError(
            f"the markers of a segment are within {1e3 * width:.2g} mm of each other in the plane, expected {1e3 * NARROWEST_M:g} mm "
            "at least to define an orientation; name markers farther apart along the segment"
        )
    angle = np.angle(spread @ shape.conj())
    return PlanarPose(angle, _real(position), _real(shape))


@dataclass(frozen=True)
class CentreOfRotation:
    """Centre of rotation of two segments, with its quality.

    Attributes
    ----------
    centre_m : ndarray of shape (n_frames, 2)
        Mean of the two segments' predictions, m; NaN where a marker of either is missing.
    in_first_m, in_second_m : ndarray of shape (2,)
        The centre in each segment's frame (`PlanarPose`), m.
    residual_m : float
        Root mean square distance between the two predictions, m.
    range_deg : float
        Smallest arc that holds all relative orientations, degrees.
    expected_error_m : float
        Root mean square error of the centre's place in the segments, m, for residuals independent from frame to frame;
        a lower bound.
    n_frames : int
        Number of used frames.
    """

    centre_m: FloatArray
    in_first_m: FloatArray
    in_second_m: FloatArray
    residual_m: float
    range_deg: float
    expected_error_m: float
    n_frames: int


def centre_of_rotation(
    first_m: ArrayLike, second_m: ArrayLike, *, counted: ArrayLike | None = None, min_range_deg: float = 0.0
) -> CentreOfRotation:
    """Symmetrical centre of rotation estimation (SCoRE) of two moving segments.

    Parameters
    ----------
    first_m, second_m : array_like of shape (n_frames, n_markers, 2)
        Two or more markers of each segment in the plane, m; NaN where missing.
    counted : array_like of bool, shape (n_frames,), optional
        Frames that determine the centre; all by default. The others have a centre, too.
    min_range_deg : float, optional
        Least range of relative rotation, degrees.

    Returns
    -------
    CentreOfRotation
        The centre over time, its residual and expected error.

    Raises
    ------
    SignalError
        Markers that have no orientation (`planar_pose`), fewer than three frames, or too little relative rotation.

    Notes
    -----
    Ehrig et al. (2006, Journal of Biomechanics 39, 2798-2809), in the plane. With points as complex numbers,
    ``a = exp(i angle)`` and ``p`` the pose of the first segment and ``b``, ``q`` that of the second, the places c and d of
    the centre in the two minimise ``sum_t |a c + p - b d - q|^2``. With m the mean of ``conj(a) b``, the singular values
    of that problem are the roots of ``n (1 - |m|)`` and ``n (1 + |m|)``: the first vanishes with the range of rotation.
    Noise independent from frame to frame, of variance s^2 = ``sum |residual|^2 / (n - 2)``, causes an error of
    ``s sqrt((1 + |m|^2) / (2 n (1 - |m|^2)))`` in the mean of both predictions.

    Not included: skin movement that depends on the joint angle, which leaves no residual; residuals correlated between
    frames; and the bias ``-(v c + w d) / (2 (1 - |m|))`` (for small ranges) towards the markers by noise of the
    orientations, of variances v and w, which cancels where the markers of both segments lie alike on either side of the
    joint.

    Examples
    --------
    A hinge at (1, 0), 0.3 m from the middle of either segment's markers; the first rests:

    >>> turn = np.exp(1j * np.radians([0.0, 30.0, 60.0]))
    >>> first = np.tile([[0.6, 0.0], [0.8, 0.0]], (3, 1, 1))
    >>> second = 1.0 + turn[:, None] * np.array([0.2, 0.4])
    >>> found = centre_of_rotation(first, np.stack([second.real, second.imag], axis=2))
    >>> found.centre_m.round(9).tolist(), round(found.range_deg, 9)
    ([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], 60.0)
    """
    poses = [planar_pose(markers, counted=counted) for markers in (first_m, second_m)]
    (a, p), (b, q) = ((np.exp(1j * pose.angle_rad), _complex(pose.position_m)) for pose in poses)
    used = _counted(counted, len(a)) & ~np.isnan(a + b)
    n_frames = int(used.sum())
    if n_frames < FEWEST_FRAMES:
        raise SignalError(
            f"both segments are visible in {n_frames} frames in use, expected {FEWEST_FRAMES} or more; check their labels"
        )
    relative = (a.conj() * b)[used]
    # the smallest arc that holds all directions; independent of order and whole turns
    directions = np.sort(np.angle(relative))
    gaps = np.diff(directions, append=directions[0] + 2.0 * np.pi)
    range_deg = float(np.degrees(2.0 * np.pi - gaps.max()))
    if range_deg < min_range_deg:
        raise SignalError(
            f"the segments rotate by {range_deg:.1f} deg relative to each other, expected at least {min_range_deg:g} deg; "
            "use a trial with more movement, or the anatomical centre"
        )
    (c, d), *_ = np.linalg.lstsq(np.stack([a, -b], axis=1)[used], (q - p)[used], rcond=None)
    from_first, from_second = a * c + p, b * d + q
    squares = float((np.abs(from_first - from_second)[used] ** 2).sum())
    agreement = float(np.abs(relative.mean())) ** 2
    left = n_frames * (n_frames - FEWEST_FRAMES + 1) * (1.0 - agreement)
    return CentreOfRotation(
        centre_m=_real(0.5 * (from_first + from_second)),
        in_first_m=_real(c),
        in_second_m=_real(d),
        residual_m=float(np.sqrt(squares / n_frames)),
        range_deg=range_deg,
        expected_error_m=float(np.sqrt(squares * (1.0 + agreement) / (2.0 * left))) if left > 0.0 else float("inf"),
        n_frames=n_frames,
    )


def functional_landmarks(
    anatomical: Mapping[str, FloatArray],
    *,
    functional: Mapping[str, tuple[str, Sequence[Sequence[str]]]],
    markers: Mapping[str, int],
    positions_m: FloatArray,
    plane: PlaneFrame,
    counted: BoolArray,
    min_range_deg: float,
) -> tuple[dict[str, FloatArray], dict[str, float], list[str]]:
    """Replace landmarks by functional centres of rotation where set so.

    Parameters
    ----------
    anatomical : mapping of str to ndarray of shape (n_frames, 3)
        Anatomical landmarks in the laboratory frame, m.
    functional : mapping of str to tuple of str and of the labels of two segments
        Name of the centre of each functional landmark, as several may have the same, and the segments that turn about it.
    markers : mapping of str to int
        Label -> index along axis 1 of `positions_m`.
    positions_m : ndarray of shape (n_frames, n_markers, 3)
        Positions of the markers, gaps filled but not filtered, m.
    plane : PlaneFrame
        The plane of motion.
    counted : ndarray of bool, shape (n_frames,)
        Frames that determine the centres.
    min_range_deg : float
        Least range of relative rotation, degrees.

    Returns
    -------
    landmarks : dict of str to ndarray of shape (n_frames, 3)
        All landmarks, m; functional ones with the centre's place in the plane and the anatomical coordinate along its normal.
    metrics : dict of str to float
        `functional_residual_m`, `functional_range_deg`, `functional_offset_m`; empty where no landmark is functional.
    notes : list of str
        Markers, frames and metrics of each functional centre.

    Raises
    ------
    LandmarkError
        A segment has fewer than two different markers, or shares one with the other segment.
    SignalError
        The markers or the movement do not define a centre.
    """
    landmarks = dict(anatomical)
    found: dict[str, CentreOfRotation] = {}
    offset_m: dict[str, float] = {}
    notes = []
    for landmark, (name, segments) in functional.items():
        place = anatomical[landmark]
        in_plane = place @ plane.axes.T
        if name not in found:
            first, second = (plane.project(positions_m[:, [markers[m] for m in labels]]) for labels in segments)
            try:
                found[name] = centre_of_rotation(first, second, counted=counted, min_range_deg=min_range_deg)
            except SignalError as error:
                raise SignalError(f"landmark {name!r}, functional: {error}") from None
            if found[name].range_deg > WIDEST_DEG:
                raise SignalError(
                    f"landmark {name!r}, functional: the segments turn by {found[name].range_deg:.0f} deg relative to each other, "
                    f"expected at most {WIDEST_DEG:g} deg; name markers that are farther apart in the plane"
                )
            distance = np.hypot(*(found[name].centre_m - in_plane[:, :2]).T)
            offset_m[name] = float(np.mean(distance[~np.isnan(distance)])) if (distance >= 0.0).any() else float("nan")
            against = " against ".join(", ".join(labels) for labels in segments)
            centre = found[name]
            notes.append(
                f"landmark {name}: functional centre of {against}, from {centre.n_frames} frames: "
                f"residual {1e3 * centre.residual_m:.2g} mm, {centre.range_deg:.0f} deg of rotation, expected error "
                f"{1e3 * centre.expected_error_m:.2g} mm or more, {1e3 * offset_m[name]:.0f} mm from the anatomical centre"
            )
        landmarks[landmark] = np.column_stack([found[name].centre_m, in_plane[:, 2]]) @ plane.axes
    if not found:
        return landmarks, {}, []
    metrics = {
        "functional_residual_m": max(centre.residual_m for centre in found.values()),
        "functional_range_deg": min(centre.range_deg for centre in found.values()),
        "functional_offset_m": float(np.fmax.reduce(list(offset_m.values()))),
    }
    return landmarks, metrics, sorted(notes)


def _counted(counted: ArrayLike | None, n_frames: int) -> BoolArray:
    return np.ones(n_frames, dtype=bool) if counted is None else np.asarray(counted, dtype=bool)


def _unit(values: ComplexArray) -> ComplexArray:
    """Complex numbers normalised to length 1; 0 becomes 1, no rotation."""
    size = np.abs(values)
    return np.where(size == 0.0, 1.0, values / np.where(size == 0.0, 1.0, size))


def _complex(points: ArrayLike) -> ComplexArray:
    values = np.asarray(points, dtype=float)
    return np.asarray(values[..., 0] + 1j * values[..., 1])


def _real(points: ComplexArray) -> FloatArray:
    return np.stack([points.real, points.imag], axis=-1)
