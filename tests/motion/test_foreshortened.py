"""Segments that point out of the plane, and the part of a load that its filter removes: by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from limbtorque.ground.reaction import load_moment_lost
from limbtorque.motion.chain_motion import MEASURED, NONE
from limbtorque.motion.joint_centres import foreshortened_frames
from limbtorque.motion.plane import PlaneFrame

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


def load(force_n, couple_nm, factor, status=MEASURED, n=12):
    """A constant load at (0.1, 0) in all frames; the filter leaves a part of it in frame 5."""
    force, couple = np.tile(np.asarray(force_n, dtype=float), (n, 1)), np.full(n, couple_nm, dtype=float)
    filtered, left = force.copy(), couple.copy()
    filtered[5], left[5] = factor * force[5], factor * couple[5]
    return SimpleNamespace(
        status=np.full(n, status),
        point_m=np.tile([0.1, 0.0], (n, 1)),
        force_n=filtered,
        couple_nm=left,
        unfiltered_n=force,
        unfiltered_couple_nm=couple,
    )


JOINTS = np.tile([[0.0, 0.9], [0.3, 0.4], [0.1, 0.0], [0.2, 0.0]], (12, 1, 1))


def test_the_part_that_a_filter_removes_is_that_of_the_moment():
    """Of a load without a couple, that of the force at every joint but the one it acts at, which has no moment."""
    found = load_moment_lost(load((50.0, 700.0), 0.0, 0.8), JOINTS)
    np.testing.assert_allclose(found[:2], 0.2)
    assert np.isnan(found[2])
    np.testing.assert_allclose(load_moment_lost(load((50.0, 700.0), 10.0, 1.1), JOINTS), 0.1)
    np.testing.assert_allclose(load_moment_lost(load((50.0, 700.0), 10.0, 1.0), JOINTS), 0.0)


def test_the_largest_loss_and_the_largest_moment_may_be_in_different_frames():
    """About the first joint a force F up at (0.1, 0) has the moment 0.1 F: 10 of 100 N lost, and 200 N elsewhere, 0.05."""
    made = load((0.0, 100.0), 0.0, 0.9)
    made.unfiltered_n[8] = made.force_n[8] = [0.0, 200.0]
    np.testing.assert_allclose(load_moment_lost(made, JOINTS)[:2], 0.05)
    made.unfiltered_n[8] = made.force_n[8] = [200.0, 0.0]  # forward: 0.9 m below the first joint, 0.4 below the second
    expected = [0.1 * 10.0 / (0.9 * 200.0), 0.2 * 10.0 / (0.4 * 200.0)]
    np.testing.assert_allclose(load_moment_lost(made, JOINTS)[:2], expected)


def test_without_a_measured_load_nothing_is_known():
    assert np.isnan(load_moment_lost(load((50.0, 700.0), 0.0, 0.8, status=NONE), JOINTS)).all()
    none = load((50.0, 700.0), 0.0, 0.8)
    none.unfiltered_n = np.zeros((0, 2))
    found = load_moment_lost(none, JOINTS)
    assert found.shape == (3,)
    assert np.isnan(found).all()
