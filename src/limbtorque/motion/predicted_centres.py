"""Joint centres by regression from markers, or carried by a rigid cluster."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, lengths
from limbtorque.errors import SignalError
from limbtorque.study.chains import HipRegression

DAVIS_THETA, DAVIS_BETA = np.radians(28.4), np.radians(18.0)
RAB_OFFSET = 0.17  # of the distance between the acromia
NARROWEST_M = 0.01  # root mean square distance of the markers from the line that fits them best
FEWEST_MARKERS = 3
MIRRORED_SHARE = 0.5  # of the residual that is left by the cluster's mirror image


@dataclass(frozen=True)
class PublishedError:
    """Error of a rule, measured by imaging.

    Attributes
    ----------
    mean_m, sd_m : float
        Mean and standard deviation over persons of the distance from the imaged centre, m; NaN where not published.
    source : str
        Study and method.
    """

    mean_m: float
    sd_m: float
    source: str


ERRORS: Mapping[str, PublishedError] = {
    "harrington_2007": PublishedError(0.0123, 0.0059, "Mantovani et al. 2016, CT of 67 adults"),
    "davis_1991": PublishedError(0.0250, 0.0067, "Mantovani et al. 2016, CT of 67 adults"),
    "bell_1990": PublishedError(0.0216, float("nan"), "Hicks and Richards 2005, ultrasound of 9 adults"),
    "rab_2002": PublishedError(float("nan"), float("nan"), "no known imaging study"),
}


def _from_spines(
    rule: HipRegression, width_m: float, depth_m: float, leg_length_m: float, marker_radius_m: float
) -> tuple[float, float, float]:
    """Hip anterior, superior and lateral to the midpoint of the anterior spines, m."""
    if rule == "harrington_2007":
        return -0.24 * depth_m - 0.0099, -0.30 * width_m - 0.0109, 0.33 * width_m + 0.0073
    if rule == "bell_1990":
        return -0.19 * width_m, -0.30 * width_m, 0.36 * width_m
    reach, behind = 0.115 * leg_length_m - 0.0153, 0.1288 * leg_length_m - 0.04856 + marker_radius_m
    return (
        float(-behind * np.cos(DAVIS_BETA) + reach * np.cos(DAVIS_THETA) * np.sin(DAVIS_BETA)),
        float(-behind * np.sin(DAVIS_BETA) - reach * np.cos(DAVIS_THETA) * np.cos(DAVIS_BETA)),
        float(width_m / 2.0 - reach * np.sin(DAVIS_THETA)),
    )


def hip_centre(
    rule: HipRegression,
    own_m: FloatArray,
    other_m: FloatArray,
    back_m: FloatArray,
    *,
    side: str,
    leg_length_m: float = math.nan,
    width_m: float = math.nan,
    marker_radius_m: float = 0.007,
) -> FloatArray:
    """Hip joint centre by a regression on the pelvis.

    Parameters
    ----------
    rule : {"harrington_2007", "bell_1990", "davis_1991"}
        The regression.
    own_m, other_m : ndarray of shape (n_frames, 3)
        Anterior superior iliac spine of the hip's side and of the other one, m; NaN where missing.
    back_m : ndarray of shape (n_frames, 3)
        Middle of the posterior superior iliac spines, or sacrum, m.
    side : str
        ``"left"`` or ``"right"``.
    leg_length_m, marker_radius_m : float, optional
        From the anterior superior iliac spine to the medial malleolus, and radius of the markers on the anterior spines, m; used
        by ``davis_1991``.
    width_m : float, optional
        Measured distance between the anterior spines, m; that of the markers by default.

    Returns
    -------
    ndarray of shape (n_frames, 3)
        The centre, m; NaN where a landmark is missing.

    Raises
    ------
    SignalError
        The leg length is needed and not known, or the pelvis is never complete.

    Notes
    -----
    From the middle of the anterior spines, x forward in the plane of the spines, y up, z to the hip's side, with pelvic width
    w (between the anterior spines), depth d (from their middle to `back_m`) and leg length l, all in m; w and d of the markers
    are medians over time, so that the centre is fixed in the pelvis:

    Harrington et al. (2007), Journal of Biomechanics 40, 595-602, its equations of one variable for each axis:
    ``(-0.24 d - 0.0099, -0.30 w - 0.0109, 0.33 w + 0.0073)``.
    Bell et al. (1990), Journal of Biomechanics 23, 617-621: ``(-0.19 w, -0.30 w, 0.36 w)``.
    Davis et al. (1991), Human Movement Science 10, 575-587, with ``c = 0.115 l - 0.0153``, theta 28.4 and beta 18 degrees:
    ``(-a cos(beta) + c cos(theta) sin(beta), -a sin(beta) - c cos(theta) cos(beta), w / 2 - c sin(theta))``, where a is the depth
    of the hip behind the spine by Plug-in Gait, ``0.1288 l - 0.04856``, and the radius of the marker on it.
    """
    if rule == "davis_1991" and not leg_length_m > 0.0:
        raise SignalError(
            f"hip_centre {rule} needs the leg length (anterior superior iliac spine to medial malleolus); give leg_length_m in the "
            "table of subjects, or set hip_centre to harrington_2007, without leg length"
        )
    middle = (own_m + other_m) / 2.0
    across = (own_m - other_m) * (1.0 if side == "right" else -1.0)
    width, depth = lengths(across), lengths(middle - back_m)
    known = ~np.isnan(width + depth) & (width > 0.0)
    if not known.any():
        raise SignalError(f"hip_centre {rule}: no frame has the spines of both sides; check the pelvis markers")
    measured_m = width_m if width_m > 0.0 else float(np.median(width[known]))
    depth_m = float(np.median(depth[known]))
    ahead, above, aside = _from_spines(rule, measured_m, depth_m, leg_length_m, marker_radius_m)
    right = across / np.where(known, width, np.nan)[:, None]
    forward = middle - back_m
    forward = forward - np.sum(forward * right, axis=1, keepdims=True) * right
    forward = forward / lengths(forward)[:, None]
    up = np.cross(right, forward)
    return np.asarray(middle + ahead * forward + above * up + (aside if side == "right" else -aside) * right)


def shoulder_centre(own_m: FloatArray, other_m: FloatArray, down: FloatArray) -> FloatArray:
    """Shoulder joint centre below the acromion (``rab_2002``).

    Parameters
    ----------
    own_m, other_m : ndarray of shape (n_frames, 3)
        Acromion of the shoulder's side and of the other one, m; NaN where missing.
    down : ndarray of shape (3,) or (n_frames, 3)
        Direction down the trunk, of any length.

    Returns
    -------
    ndarray of shape (n_frames, 3)
        The centre, m.

    Notes
    -----
    Rab, Petuskey and Bagley (2002), Gait and Posture 15, 113-119: 17 % of the distance between the acromia (median over time),
    perpendicular to the line between them, down the trunk.

    Examples
    --------
    >>> shoulder_centre(np.array([[0, 0.2, 1.4]]), np.array([[0, -0.2, 1.4]]), np.array([0, 0.3, -1])).round(3)
    array([[0.   , 0.2  , 1.332]])
    """
    across = own_m - other_m
    width = lengths(across)
    line = across / width[:, None]
    below = down - np.sum(down * line, axis=1, keepdims=True) * line
    offset_m = RAB_OFFSET * float(np.nanmedian(width))
    return np.asarray(own_m + offset_m * below / lengths(below)[:, None])


@dataclass(frozen=True)
class ClusterShape:
    """Markers of a rigid cluster, and a landmark, in the cluster's own frame.

    Attributes
    ----------
    markers_m : ndarray of shape (n_markers, 3)
        Markers from their mean, m.
    landmark_m : ndarray of shape (3,)
        Landmark from the mean of the markers, m.
    """

    markers_m: FloatArray
    landmark_m: FloatArray

    @property
    def error_ratio(self) -> float:
        """Error of the carried landmark relative to marker noise, both in space.

        Notes
        -----
        Fitzpatrick, West and Maurer (1998), IEEE Transactions on Medical Imaging 17, 694-702, to first order: the square is
        ``(1 + sum_k d_k^2 / (3 f_k^2)) / n_markers``, with d_k the distance of the landmark, and f_k the root mean square
        distance of the markers, from the k-th principal axis of the cluster.
        """
        _, size, axes = np.linalg.svd(self.markers_m, full_matrices=False)
        spread = size**2 / len(self.markers_m)
        place = (axes @ self.landmark_m) ** 2
        ratio = (place.sum() - place) / (spread.sum() - spread)
        return float(np.sqrt((1.0 + ratio.sum() / 3.0) / len(self.markers_m)))


@dataclass(frozen=True)
class CarriedLandmark:
    """A landmark carried by a cluster, with the quality of the fit.

    Attributes
    ----------
    landmark_m : ndarray of shape (n_frames, 3)
        Position in the laboratory frame, m; NaN where a marker of the cluster is missing.
    residual_m : float
        Root mean square distance of the cluster's markers from its rigid shape, over markers and frames, m.
    expected_error_m : float
        Root mean square error of the landmark, a distance in space, m, for noise independent from marker to marker; a lower bound.
    """

    landmark_m: FloatArray
    residual_m: float
    expected_error_m: float


def cluster_shape(markers_m: ArrayLike, landmark_m: ArrayLike) -> ClusterShape:
    """Mean shape of a cluster, and position of a landmark in it, over a static trial.

    Parameters
    ----------
    markers_m : array_like of shape (n_frames, n_markers, 3)
        Three or more markers of one segment, m; NaN where missing.
    landmark_m : array_like of shape (n_frames, 3)
        The landmark, m; NaN where missing.

    Returns
    -------
    ClusterShape
        Mean over the frames with all markers and the landmark, in the axes of the first of them.

    Raises
    ------
    SignalError
        Fewer than three markers, no frame with all of them, or markers on one line.
    """
    markers, landmark = np.asarray(markers_m, dtype=float), np.asarray(landmark_m, dtype=float)
    if markers.shape[1] < FEWEST_MARKERS:
        raise SignalError(f"a cluster has {markers.shape[1]} markers, expected {FEWEST_MARKERS} or more for its pose")
    known = ~(np.isnan(markers).any(axis=(1, 2)) | np.isnan(landmark).any(axis=1))
    if not known.any():
        raise SignalError(
            "no frame has the landmark and all markers of its cluster; choose another static trial or cluster"
        )
    middle = markers[known].mean(axis=1)
    spread, beside = markers[known] - middle[:, None], landmark[known] - middle
    shape = spread[0]
    for _ in range(2):  # the second pass does not depend on the noise of the first frame
        turn = _rotations(shape, spread)
        shape = np.einsum("nji,nkj->ki", turn, spread) / len(spread)
    flat = float(np.linalg.svd(shape, compute_uv=False)[1] / np.sqrt(len(shape)))
    if flat < NARROWEST_M:
        raise SignalError(
            f"the markers of the cluster lie within {1e3 * flat:.2g} mm of one line, expected {1e3 * NARROWEST_M:g} mm at least "
            "for an orientation; name a marker off this line"
        )
    return ClusterShape(shape, np.einsum("nji,nj->i", turn, beside) / len(beside))


def carry(shape: ClusterShape, markers_m: ArrayLike) -> CarriedLandmark:
    """Carry a landmark by a cluster: the best-fitting rigid pose in each frame.

    Parameters
    ----------
    shape : ClusterShape
        The cluster in the static trial.
    markers_m : array_like of shape (n_frames, n_markers, 3)
        Its markers in the moving trial, in the same order, m; NaN where missing.

    Returns
    -------
    CarriedLandmark
        The landmark over time, residual and expected error; NaN without a frame with all markers.

    Raises
    ------
    SignalError
        The markers are the mirror image of the cluster.

    Notes
    -----
    Cappozzo, Catani, Della Croce and Leardini (1995), Clinical Biomechanics 10, 171-178 (anatomical landmark calibration);
    pose by least squares with a singular value decomposition: Soederkvist and Wedin (1993), Journal of Biomechanics 26,
    1473-1477. Noise of variance s^2 in each coordinate leaves a mean squared residual of ``3 s^2 (1 - 2 / n_markers)``
    (Sibson 1979), from which the noise, and with `ClusterShape.error_ratio` the error of the landmark follow. Not
    included: skin that moves as a whole leaves no residual.

    Examples
    --------
    A cluster turned by 90 degrees about z and moved by 1 m along x:

    >>> shape = cluster_shape([[[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0]]], [[0.0, 0.0, -0.4]])
    >>> found = carry(shape, [[[1, 0, 0], [1, 0.1, 0], [0.8, 0, 0]]])
    >>> (found.landmark_m.round(9) + 0.0).tolist(), round(found.residual_m, 9)
    ([[1.0, 0.0, -0.4]], 0.0)
    """
    markers = np.asarray(markers_m, dtype=float)
    known = ~np.isnan(markers).any(axis=(1, 2))
    landmark = np.full((len(markers), 3), np.nan)
    if not known.any():
        return CarriedLandmark(landmark, float("nan"), float("nan"))
    middle = markers[known].mean(axis=1)
    spread = markers[known] - middle[:, None]
    turn = _rotations(shape.markers_m, spread)
    landmark[known] = middle + turn @ shape.landmark_m
    residual = _residual(spread, shape.markers_m, turn)
    image = shape.markers_m * [1.0, 1.0, -1.0]
    if residual > NARROWEST_M and _residual(spread, image, _rotations(image, spread)) < MIRRORED_SHARE * residual:
        raise SignalError(
            f"the markers fit the mirror image of the static trial (residual {1e3 * residual:.2g} mm as they are): two markers are exchanged "
            "in one of the files, or the axes of one file are left-handed; correct its labels or axes"
        )
    noise = residual / (1.0 - 2.0 / len(shape.markers_m)) ** 0.5
    return CarriedLandmark(landmark, residual, noise * shape.error_ratio)


def _residual(spread: FloatArray, shape: FloatArray, turn: FloatArray) -> float:
    """Root mean square distance of markers from a turned shape, m."""
    apart = spread - np.einsum("nij,kj->nki", turn, shape)
    return float(np.sqrt((apart**2).sum(axis=2).mean()))


def _rotations(shape: FloatArray, spread: FloatArray) -> FloatArray:
    """Rotations, shape (n_frames, 3, 3), of a shape to the markers; no reflections."""
    left, _, right = np.linalg.svd(np.einsum("nki,kj->nij", spread, shape))
    left[..., 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    return np.asarray(left @ right)
