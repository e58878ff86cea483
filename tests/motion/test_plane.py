"""The plane of motion: right-handed frames, what is forward and right, tilt, and how planar a movement was."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from limbtorque.motion.plane import PlaneFrame, find_plane, planarity
from limbtorque.study.options.motion import Plane, axis_vector

AXES = [sign + letter for sign in "+-" for letter in "xyz"]
UP_AND_FORWARD = [(u, f) for u, f in itertools.product(AXES, AXES) if u[1] != f[1]]


def right_handed(frame):
    np.testing.assert_allclose(frame.axes @ frame.axes.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.cross(frame.axes[0], frame.axes[1]), frame.axes[2], atol=1e-12)


def planar_limb(seed=0, n_frames=50, n_joints=4):
    """Joints that move in the plane's own x and y, shape (n_frames, n_joints, 2)."""
    rng = np.random.default_rng(seed)
    angle = np.cumsum(rng.uniform(-1, 1, (1, n_joints - 1)) + 0.6 * rng.normal(size=(n_frames, n_joints - 1)), axis=1)
    steps = rng.uniform(0.1, 0.4, n_joints - 1)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=2)
    return np.concatenate([np.zeros((n_frames, 1, 2)), np.cumsum(steps, axis=1)], axis=1)


@pytest.mark.parametrize(("up", "forward"), UP_AND_FORWARD)
def test_frames_of_every_laboratory_are_right_handed(up, forward):
    joints = np.zeros((5, 3, 3))
    u, f = axis_vector(up), axis_vector(forward)
    sagittal = find_plane(Plane(kind="sagittal", up_axis=up, forward_axis=forward), joints)
    right_handed(sagittal)
    np.testing.assert_array_equal(sagittal.axes[:2], [f, u])
    np.testing.assert_allclose(sagittal.normal, np.cross(f, u), atol=0)  # to the right of the body
    np.testing.assert_allclose(sagittal.gravity(9.81, u), [0.0, -9.81], atol=1e-15)
    horizontal = find_plane(Plane(kind="horizontal", up_axis=up, forward_axis=forward), joints)
    right_handed(horizontal)
    np.testing.assert_array_equal(horizontal.axes[[0, 2]], [f, u])
    np.testing.assert_allclose(horizontal.axes[1], np.cross(u, f), atol=0)  # to the left
    np.testing.assert_allclose(horizontal.gravity(9.81, u), [0.0, 0.0], atol=1e-15)


def test_a_left_limb_is_not_mirrored():
    """Both limbs seen from the right: the same swing forward turns both the same way, and x stays forward for both."""
    frame = find_plane(Plane(up_axis="+z", forward_axis="+y"), np.zeros((3, 2, 3)))
    swing = np.array([[0.0, 0.0, -1.0], [0.0, 0.5, -0.9]])  # hanging, then forward (+y)
    aside = np.array([0.3, 0.0, 0.0])
    angles = [np.arctan2(*frame.project(limb).T[::-1]) for limb in (swing + aside, swing - aside)]
    np.testing.assert_array_equal(angles[0], angles[1])
    assert angles[0][1] > angles[0][0]  # counter-clockwise
    assert frame.project(np.array([0.0, 1.0, 0.0])).tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(frame.normal, [1.0, 0.0, 0.0])  # forward y, up z: right is x


@pytest.mark.parametrize("heading", np.radians([0.0, 37.0, 90.0, 135.0, 180.0, 250.0]))
def test_direction_of_travel(heading):
    """The proximal joint's displacement without its rise; the plane turns with the heading."""
    t = np.linspace(0.0, 1.0, 40)
    forward = np.array([np.cos(heading), np.sin(heading), 0.0])
    side = np.array([-np.sin(heading), np.cos(heading), 0.0])
    hip = 2.0 * t[:, None] * forward + 0.05 * np.sin(2 * np.pi * t)[:, None] * side + 0.3 * t[:, None] * [0, 0, 1]
    frame = find_plane(Plane(up_axis="+z", forward_axis="travel"), hip[:, None] + np.zeros((1, 3, 1)))
    right_handed(frame)
    np.testing.assert_allclose(frame.axes, [forward, [0, 0, 1], -side], atol=1e-12)


@options(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 5))
def test_best_fit_finds_the_plane_of_any_orientation(turn_seed, limb_seed):
    rotation = Rotation.random(random_state=np.random.RandomState(turn_seed)).as_matrix()
    flat = planar_limb(limb_seed)
    joints = np.concatenate([flat, np.zeros((*flat.shape[:2], 1))], axis=2) @ rotation.T + [1.0, 2.0, 3.0]
    frame = find_plane(Plane(kind="best_fit", up_axis="+z", forward_axis="+y"), joints)
    right_handed(frame)
    assert abs(frame.normal @ rotation[:, 2]) == pytest.approx(1.0, abs=1e-10)
    found = planarity(frame, joints)
    assert found.out_of_plane_share < 1e-20
    np.testing.assert_allclose(found.tilt_deg, 0.0, atol=1e-6)
    lengths = np.linalg.norm(np.diff(frame.project(joints), axis=1), axis=2)
    np.testing.assert_allclose(lengths, np.linalg.norm(np.diff(flat, axis=1), axis=2), atol=1e-12)
    up, forward, right = np.array([0, 0, 1.0]), np.array([0, 1.0, 0]), np.array([1.0, 0, 0])
    lying = abs(frame.normal @ up) > np.sqrt(0.5)
    assert frame.normal @ (up if lying else right) >= 0.0
    tilt = np.degrees(np.arccos(np.clip(frame.normal @ up, -1, 1)))
    aside = np.degrees(np.arccos(np.clip(frame.normal @ right, -1, 1)))
    assert frame.view == ("horizontal" if min(tilt, 180 - tilt) < 30 else "sagittal" if aside < 30 else "oblique")
    if lying or abs(frame.normal @ forward) < np.sqrt(0.5):
        assert frame.axes[0] @ forward > 0.0
    gravity = frame.gravity(9.81, up)  # g times the sine of the angle between the plane's normal and the vertical
    assert np.hypot(*gravity) == pytest.approx(9.81 * np.sin(np.radians(tilt)), abs=1e-9)


@pytest.mark.parametrize("normal", [[0.7, 0.4, 0.5], [0.6, -0.5, 0.6], [0.3, 0.5, 0.9], [0.4, -0.6, -0.9]])
def test_x_of_a_slanting_plane_is_the_forward_direction_projected_on_it(normal):
    """Right x, forward y, up z: the normal slants to all sides, nearer to none of them than 45 degrees of the forward one."""
    n = np.array(normal) / np.linalg.norm(normal)
    flat = planar_limb()
    across = np.cross(n, [1.0, 2.0, 3.0])
    across /= np.linalg.norm(across)
    joints = flat[..., :1] * across + flat[..., 1:] * np.cross(n, across)
    frame = find_plane(Plane(kind="best_fit", up_axis="+z", forward_axis="+y"), joints)
    right_handed(frame)
    forward = np.array([0.0, 1.0, 0.0]) - n[1] * n
    np.testing.assert_allclose(frame.axes[0], forward / np.sqrt(1.0 - n[1] ** 2), atol=1e-9)


def test_x_of_a_frontal_plane_is_horizontal_and_to_the_left():
    """The normal is 20 degrees from forwards, and slants upwards; x is in the plane and horizontal."""
    n = np.array([0.2, 0.94, 0.28])
    n /= np.linalg.norm(n)
    flat = planar_limb()
    across = np.array([n[1], -n[0], 0.0]) / np.hypot(n[0], n[1])
    joints = flat[..., :1] * across + flat[..., 1:] * np.cross(n, across)
    frame = find_plane(Plane(kind="best_fit", up_axis="+z", forward_axis="+y"), joints)
    right_handed(frame)
    np.testing.assert_allclose(frame.axes[0], -across, atol=1e-9)


@pytest.mark.parametrize("phi", np.radians([0.0, 20.0, 45.0, 60.0, 89.0]))
def test_gravity_of_a_tilted_plane(phi):
    """A sagittal plane leaned over by phi about its x axis holds g cos(phi)."""
    axes = np.array([[1, 0, 0], [0, np.sin(phi), np.cos(phi)], [0, -np.cos(phi), np.sin(phi)]])
    frame = PlaneFrame(axes, "oblique")
    right_handed(frame)
    np.testing.assert_allclose(frame.gravity(9.81, np.array([0, 0, 1.0])), [0.0, -9.81 * np.cos(phi)], atol=1e-12)


def test_out_of_plane_share_tilt_and_lengths_by_hand():
    """One segment: in-plane component a sin(wt) about a mean, out of plane b cos(wt) about c, over whole periods.

    Variances a^2/2 and b^2/2: the share is b^2 / (a^2 + b^2). The inclination is the mean of each frame's.
    """
    t = np.arange(400) * 2 * np.pi / 100
    a, b, c = 0.08, 0.03, 0.1
    segment = np.stack([0.3 + a * np.sin(t), np.zeros(400), c + b * np.cos(t)], axis=1)
    base = np.random.default_rng(0).normal(size=(400, 3))
    joints = np.stack([base, base + segment], axis=1)
    frame = PlaneFrame(np.eye(3), "sagittal")
    found = planarity(frame, joints)
    assert found.out_of_plane_share == pytest.approx(b**2 / (a**2 + b**2), rel=1e-9)
    lengths = np.sqrt((0.3 + a * np.sin(t)) ** 2 + (c + b * np.cos(t)) ** 2)
    assert found.length_m[0] == pytest.approx(lengths.mean(), rel=1e-12)
    assert found.length_variation[0] == pytest.approx(lengths.std() / lengths.mean(), rel=1e-12)
    each = np.arctan2(c + b * np.cos(t), 0.3 + a * np.sin(t))
    assert found.tilt_deg[0] == pytest.approx(np.degrees(each.mean()), rel=1e-9)


def test_a_rigid_segment_turning_in_a_plane_off_by_phi():
    """A segment turning steadily in a plane whose normal is off by phi: share sin^2(phi)/2; inclined by up to phi."""
    t = np.arange(360) * 2 * np.pi / 360
    phi = np.radians(25.0)
    tilt = Rotation.from_euler("x", phi).as_matrix()
    segment = 0.4 * np.stack([np.cos(t), np.sin(t), 0 * t], axis=1) @ tilt.T
    found = planarity(PlaneFrame(np.eye(3), "sagittal"), np.stack([0 * segment, segment], axis=1))
    assert found.out_of_plane_share == pytest.approx(np.sin(phi) ** 2 / 2, rel=1e-12)
    assert found.tilt_deg[0] == pytest.approx(np.degrees(np.arcsin(np.abs(np.sin(t)) * np.sin(phi))).mean(), rel=1e-9)
    assert found.length_variation[0] < 1e-14


def test_nothing_moves_has_no_share():
    still = np.broadcast_to(np.array([[0, 0, 0], [0.3, 0, 0.1]], dtype=float), (30, 2, 3))
    found = planarity(PlaneFrame(np.eye(3), "sagittal"), still)
    assert np.isnan(found.out_of_plane_share)
    assert found.tilt_deg[0] == pytest.approx(np.degrees(np.arctan2(0.1, 0.3)))
