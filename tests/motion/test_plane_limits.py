"""The best-fitting plane and foreshortened segments at both sides of each angle that decides."""

import numpy as np
import pytest

from limbtorque.errors import SignalError
from limbtorque.motion.joint_centres import foreshortened_frames
from limbtorque.motion.plane import PlaneFrame, find_plane, planarity
from limbtorque.study.options.motion import Plane

FORWARD, LEFT, UP = np.eye(3)  # x forward, y left, z up
RIGHT = -LEFT


def options(**changes):
    return Plane(**({"kind": "best_fit", "up_axis": "+z", "forward_axis": "+x"} | changes))


def limb_in(first, second, *, narrow=1.0):
    """Two segments that turn in the plane of two directions."""
    angle = np.linspace(0.0, 2.0, 50)[:, None]
    thigh = 0.4 * (np.cos(angle) * first + narrow * np.sin(angle) * second)
    shank = 0.3 * (np.cos(1.7 * angle + 1.0) * first + narrow * np.sin(1.7 * angle + 1.0) * second)
    return np.stack([np.zeros((50, 3)), thigh, thigh + shank], axis=1)


def turned(vector, axis, degrees):
    angle = np.radians(degrees)
    return (
        np.cos(angle) * vector + np.sin(angle) * np.cross(axis, vector) + (1 - np.cos(angle)) * (axis @ vector) * axis
    )


def frame_of(tilt_deg, axis):
    """The sagittal plane turned about an axis of the laboratory."""
    first, second = (turned(vector, axis, tilt_deg) for vector in (FORWARD, UP))
    return find_plane(options(), limb_in(first, second)), turned(RIGHT, axis, tilt_deg)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(
    ("tilt_deg", "view"),
    [
        (0.0, "sagittal"),
        (29.0, "sagittal"),
        (31.0, "oblique"),
        (59.0, "oblique"),
        (61.0, "horizontal"),
        (90.0, "horizontal"),
    ],
)
def test_a_plane_that_leans_sideways(tilt_deg, view, side):
    """Turned about the forward axis, from upright to lying: 30 degrees from either bounds the view, 45 the normal's side."""
    found, normal = frame_of(side * tilt_deg, FORWARD)
    assert found.view == view
    lying = tilt_deg > 45.0
    expected = normal * (np.sign(normal @ UP) if lying else 1.0)
    np.testing.assert_allclose(found.normal, expected, atol=1e-9)
    np.testing.assert_allclose(found.axes[0], FORWARD, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(found.axes), 1.0)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("heading_deg", "view"), [(29.0, "sagittal"), (31.0, "oblique"), (44.0, "oblique"), (46.0, "oblique"), (80.0, "oblique")])  # fmt: skip
def test_an_upright_plane_that_looks_aside(heading_deg, view, side):
    """Turned about the vertical: beyond 45 degrees the forward direction is nearer to the normal, and x is horizontal in the plane."""
    found, normal = frame_of(side * heading_deg, UP)
    assert found.view == view
    np.testing.assert_allclose(found.normal, normal, atol=1e-9)
    along = FORWARD - (FORWARD @ normal) * normal if heading_deg < 45.0 else np.cross(UP, normal)
    np.testing.assert_allclose(found.axes[0], along / np.linalg.norm(along), atol=1e-9)
    np.testing.assert_allclose(found.axes[1], UP, atol=1e-9)


@pytest.mark.parametrize(("narrow", "refused"), [(0.03, True), (0.3, False)])
def test_segments_nearly_on_a_line_have_no_plane(narrow, refused):
    joints = limb_in(FORWARD, UP, narrow=narrow)
    strengths = np.linalg.svd(np.diff(joints, axis=1).reshape(-1, 3), compute_uv=False)
    if not refused:
        assert find_plane(options(), joints).view == "sagittal"
        return
    with pytest.raises(
        SignalError, match=f"the second principal component is {strengths[1] / strengths[0]:.3f} of the"
    ):
        find_plane(options(), joints)


@pytest.mark.parametrize(("distance_m", "refused"), [(0.49, True), (0.51, False)])
@pytest.mark.parametrize("kind", ["sagittal", "horizontal"])
def test_the_least_travel(distance_m, refused, kind):
    joints = limb_in(FORWARD, UP) + np.linspace(0.0, 1.0, 50)[:, None, None] * (distance_m * LEFT + 3.0 * UP)
    settings = options(kind=kind, forward_axis="travel")
    if refused:
        with pytest.raises(SignalError, match=r"displaced by 0\.49 m, expected at least 0\.5 m"):
            find_plane(settings, joints)
    else:
        found = find_plane(settings, joints)
        np.testing.assert_allclose(found.axes[0], LEFT, atol=1e-12)
        np.testing.assert_allclose(found.normal, FORWARD if kind == "sagittal" else UP, atol=1e-12)


@pytest.mark.parametrize(("swing_m", "known"), [(0.0101, True), (0.0099, False)])
def test_a_share_out_of_the_plane_needs_five_millimetres(swing_m, known):
    """A segment's end that goes to and fro by s has a standard deviation of s / 2, half of its variance out of the plane."""
    joints = np.zeros((40, 2, 3))
    joints[:, 1, 0] = 0.4
    joints[::2, 1, 2] += swing_m / np.sqrt(2.0)
    joints[::2, 1, 1] += swing_m / np.sqrt(2.0)
    found = planarity(PlaneFrame(np.array([FORWARD, UP, RIGHT]), "sagittal"), joints)
    assert found.out_of_plane_share == pytest.approx(0.5) if known else np.isnan(found.out_of_plane_share)


def test_a_segment_without_length_has_no_tilt():
    found = planarity(PlaneFrame(np.array([FORWARD, UP, RIGHT]), "sagittal"), np.zeros((5, 3, 3)))
    assert found.tilt_deg.tolist() == found.length_m.tolist() == [0.0, 0.0]
    assert np.isnan(found.length_variation).all()


# --- segments that point out of the plane, by hand ---


SAGITTAL = PlaneFrame(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), "sagittal")


def limb(out_deg, n=30):
    """Two segments; the second points out of the plane by these degrees in frames 10 and 11."""
    joints = np.zeros((n, 3, 3))
    joints[:, 1] = [0.4, 0.0, 0.0]
    joints[:, 2] = [0.7, 0.0, 0.0]
    angle = np.radians(out_deg)
    joints[10:12, 2] = [0.4 + 0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.0]
    return joints


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("out_deg", "reach", "frames"), [(59.0, 0, []), (61.0, 0, [10, 11]), (61.0, 3, range(7, 15)), (89.0, 12, range(24))])  # fmt: skip
def test_a_projection_of_less_than_a_half_is_60_degrees_out_of_the_plane(out_deg, reach, frames, side):
    found = foreshortened_frames(limb(side * out_deg), SAGITTAL, reach=reach, min_projection=0.5)
    assert np.flatnonzero(found).tolist() == list(frames)
