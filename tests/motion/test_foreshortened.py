"""Segments that point out of the plane, by hand."""

import numpy as np
import pytest

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
