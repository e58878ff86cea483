"""Landmarks carried by a rigid cluster: exact for rigid motion, errors as theory says for noise, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from limbtorque.errors import SignalError
from limbtorque.motion.predicted_centres import carry, cluster_shape

THIGH_M = np.array([[0.0, 0.0, 0.0], [0.1, 0.02, 0.03], [0.02, 0.12, -0.05], [0.08, 0.09, 0.04]])
KNEE_M = np.array([0.05, -0.03, -0.28])


def moved(points_m, rotation, shift_m):
    return rotation.apply(points_m) + shift_m


@given(seed=st.integers(0, 10**6), n_markers=st.integers(3, 4))
def test_rigid_motion_carries_exactly(seed, n_markers):
    """Any rotation, half turns included, and any place in the laboratory: rounding only."""
    rng = np.random.default_rng(seed)
    shape = cluster_shape(THIGH_M[None, :n_markers], KNEE_M[None])
    turns, shifts = Rotation.random(5, random_state=seed), rng.uniform(-3.0, 3.0, (5, 3))
    markers = np.stack([moved(THIGH_M[:n_markers], turn, shift) for turn, shift in zip(turns, shifts, strict=True)])
    knees = np.stack([moved(KNEE_M, turn, shift) for turn, shift in zip(turns, shifts, strict=True)])
    found = carry(shape, markers)
    np.testing.assert_allclose(found.landmark_m, knees, atol=1e-12)
    assert found.residual_m < 1e-12


@pytest.mark.parametrize("n_markers", [3, 4])
@pytest.mark.parametrize("noise_m", [0.0005, 0.003])
def test_noise_leaves_the_residual_and_the_error_of_theory(n_markers, noise_m):
    """Sibson (1979) for the residual, Fitzpatrick et al. (1998) for the landmark: 3 s^2 in each marker's distance.

    40,000 frames: the standard error of a mean square of 3 to 6 independent squares is below 1 %; 2 % for the terms of second order.
    """
    rng = np.random.default_rng(7)
    points = THIGH_M[:n_markers]
    shape = cluster_shape(points[None], KNEE_M[None])
    found = carry(shape, points + noise_m * rng.standard_normal((40_000, n_markers, 3)))
    assert found.residual_m == pytest.approx(noise_m * np.sqrt(3.0 * (1.0 - 2.0 / n_markers)), rel=0.02)
    error = np.sqrt(((found.landmark_m - KNEE_M) ** 2).sum(axis=1).mean())
    assert error == pytest.approx(found.expected_error_m, rel=0.03)
    assert error == pytest.approx(np.sqrt(3.0) * noise_m * shape.error_ratio, rel=0.03)


def test_the_error_ratio_by_hand():
    """Square of half-width a, landmark at height h above its middle: 1/4 (1 + h^2/(3 a^2) + h^2/(3 a^2)).

    The square's two axes in its plane have their markers at rms distance a; the third axis goes through the landmark.
    """
    a, h = 0.05, 0.3
    square = a * np.array([[1.0, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0]])
    shape = cluster_shape(square[None], np.array([[0.0, 0.0, h]]))
    assert shape.error_ratio == pytest.approx(np.sqrt((1.0 + 2.0 * h**2 / (3.0 * a**2)) / 4.0), rel=1e-12)


def test_the_static_trial_is_averaged():
    """A person who sways: noise of the shape falls with the root of the frames, and does not depend on the first one."""
    rng = np.random.default_rng(3)
    turns, shifts = Rotation.from_euler("xyz", 0.05 * rng.standard_normal((400, 3))), rng.normal(0.0, 0.02, (400, 3))
    points = np.vstack([THIGH_M, KNEE_M])
    standing = np.stack([moved(points, turn, shift) for turn, shift in zip(turns, shifts, strict=True)])
    standing += 0.002 * rng.standard_normal(standing.shape)
    standing[0] += 0.005 * rng.standard_normal(standing[0].shape)
    standing[5, 2] = np.nan
    shape = cluster_shape(standing[:, :4], standing[:, 4])
    found = carry(shape, THIGH_M[None])
    assert np.linalg.norm(found.landmark_m[0] - KNEE_M) < 4.0 * 0.002 * np.sqrt(3.0) * shape.error_ratio / np.sqrt(399)


def test_a_cluster_too_flat_to_tell_from_its_mirror_image_is_never_reflected():
    flat = THIGH_M * [1.0, 1.0, 0.1]
    shape = cluster_shape(flat[None], KNEE_M[None])
    found = carry(shape, (flat * [1.0, 1.0, -1.0])[None])
    assert 0.0005 < found.residual_m < 0.01
    assert np.linalg.norm(found.landmark_m[0] - KNEE_M * [1.0, 1.0, -1.0]) > 0.05


def test_missing_markers_leave_gaps():
    shape = cluster_shape(THIGH_M[None], KNEE_M[None])
    markers = np.tile(THIGH_M, (3, 1, 1))
    markers[1, 2, 0] = np.nan
    found = carry(shape, markers)
    assert np.isnan(found.landmark_m[1]).all()
    np.testing.assert_allclose(found.landmark_m[[0, 2]], [KNEE_M, KNEE_M], atol=1e-12)
    nothing = carry(shape, np.full((2, 4, 3), np.nan))
    assert np.isnan(nothing.landmark_m).all()
    assert np.isnan(nothing.residual_m)
    assert np.isnan(nothing.expected_error_m)


def test_clusters_without_a_pose_are_refused():
    line = np.outer([0.0, 0.1, 0.3], [0.0, 0.0, 1.0])
    with pytest.raises(SignalError, match=r"within 0 mm of one line, expected 10 mm at least"):
        cluster_shape(line[None], KNEE_M[None])
    with pytest.raises(SignalError, match="a cluster has 2 markers, expected 3 or more"):
        cluster_shape(THIGH_M[None, :2], KNEE_M[None])
    with pytest.raises(SignalError, match="no frame has the landmark and all markers"):
        cluster_shape(THIGH_M[None], np.full((1, 3), np.nan))


@pytest.mark.parametrize("how", ["left-handed axes", "exchanged markers"])
def test_the_mirror_image_of_a_cluster_is_refused(how):
    """No rotation brings it into place, and the landmark would be centimetres off."""
    rng = np.random.default_rng(3)
    square = np.array([[0.1, 0.0, 0.04], [-0.1, 0.0, 0.04], [0.0, 0.1, -0.04], [0.0, -0.1, -0.04]])
    shape = cluster_shape(square[None], KNEE_M[None])
    image = square * [1.0, 1.0, -1.0] if how == "left-handed axes" else square[[1, 0, 2, 3]]
    noisy = 0.003 * rng.standard_normal((50, 4, 3))
    with pytest.raises(SignalError, match="mirror image"):
        carry(shape, image + noisy)
    assert carry(shape, square + noisy).residual_m < 0.006


def test_a_large_residual_alone_is_no_mirror_image():
    """Skin that moves by 2 cm, and a marker that was moved by 8 cm after the static trial: judged by the residual."""
    shape = cluster_shape(THIGH_M[None], KNEE_M[None])
    slid = THIGH_M + 0.02 * np.random.default_rng(5).standard_normal((50, 4, 3))
    assert carry(shape, slid).residual_m > 0.015
    shifted = THIGH_M + np.outer([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.08])
    assert carry(shape, shifted[None]).residual_m > 0.01
