"""The point under the foot where the force acts without a couple, by statics."""

from types import SimpleNamespace

import numpy as np
import pytest

from limbtorque.ground.plates import pressure_in_plane

LEVEL_M, THRESHOLD_N = 0.02, 20.0
CORNERS_M = np.array([[0.0, 0.0, 0.0], [0.6, 0.0, 0.01], [0.6, 0.4, 0.03], [0.0, 0.4, 0.04]])  # mean height 2 cm


def found(force_n, point_m, ankle_m, *, view="sagittal", plates=1):
    """Point of a force given by where it acts: its couple about the ankle is r x F."""
    force, point, ankle = (np.atleast_2d(np.asarray(values, dtype=float)) for values in (force_n, point_m, ankle_m))
    arm = point - ankle
    couple = arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]
    frame = SimpleNamespace(view=view, project=lambda points: points[..., [0, 2]])
    return pressure_in_plane(
        force,
        couple,
        ankle,
        plates=[SimpleNamespace(corners_m=CORNERS_M)] * plates,
        frame=frame,
        threshold_n=THRESHOLD_N,
    )


@pytest.mark.parametrize("force_n", [(0.0, 700.0), (120.0, 700.0), (-80.0, 25.0)])
def test_a_force_that_acts_on_the_plate_is_put_there(force_n):
    np.testing.assert_allclose(found(force_n, (0.35, LEVEL_M), (0.25, 0.1)), [[0.35, LEVEL_M]])


def test_a_force_that_acts_elsewhere_is_followed_along_its_line():
    """At 10 cm above the plate, leaning forward by 1 in 7: it meets the plate 1/70 m behind."""
    np.testing.assert_allclose(
        found((100.0, 700.0), (0.35, LEVEL_M + 0.1), (0.25, 0.12)), [[0.35 - 0.1 / 7.0, LEVEL_M]]
    )


@pytest.mark.parametrize(("upward_n", "known"), [(20.0, False), (20.01, True), (0.0, False), (-700.0, False)])
def test_a_force_must_push_up_by_more_than_the_threshold(upward_n, known):
    assert np.isfinite(found((0.0, upward_n), (0.3, LEVEL_M), (0.2, 0.1))[0, 0]) == known


def test_the_level_is_the_mean_of_the_plates_and_there_is_none_without():
    np.testing.assert_allclose(found((0.0, 700.0), (0.3, LEVEL_M), (0.2, 0.1), plates=2), [[0.3, LEVEL_M]])
    assert np.isnan(found((0.0, 700.0), (0.3, LEVEL_M), (0.2, 0.1), plates=0)).all()
    assert np.isnan(found((0.0, 700.0), (0.3, LEVEL_M), (0.2, 0.1), view="horizontal")).all()
