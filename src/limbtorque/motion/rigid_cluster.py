"""Rigid cluster of markers: its pose in each frame, and a landmark carried by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError

NARROWEST_M = 0.01  # root mean square distance of the markers from the line that fits them best
FEWEST_MARKERS = 3
MIRRORED_SHARE = 0.5  # of the residual that is left by the cluster's mirror image


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
        """Error of the carried landmark over the noise of a marker, both in space.

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
    """Mean shape of a cluster, and place of a landmark in it, over a static trial.

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
        raise SignalError("no frame has the landmark and all markers of its cluster")
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
            "for an orientation; name a marker beside them"
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
            f"the markers fit the static trial as its mirror image (residual {1e3 * residual:.2g} mm as they are): two of them are "
            "exchanged in one of the files, or the axes of one file are left-handed; correct its labels or axes"
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
